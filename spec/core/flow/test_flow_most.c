/* test_flow_most.c - maximum flows over random networks, with cycles, edges that go both ways, units in use and down,
 * against a plain Ford-Fulkerson on a matrix; the cut, and the shares of each vertex served. Each allocation fails
 * once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "weir.h"

enum { UNITS = 9, SERVED = 5, NODES = 2 * UNITS + SERVED + 2, SOURCE = NODES - 2, SINK = NODES - 1 };

static weir_graph *g;
static weir_vertex unit[UNITS], served[SERVED];
static int nunits, nserved;
static int64_t matrix[NODES][NODES];

static weir_vertex add(weir_vertex parent, const char *type, int64_t id, int64_t size)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = id;
    d.size = size;
    CHECK(weir_graph_add(g, parent, &d, &v, NULL) == WEIR_OK, "%s%lld is added", type, (long long)id);
    return v;
}

/* An edge from unit i to unit or vertex number k (UNITS + j: served[j]). */
static void join(int i, int k, bool both)
{
    weir_vertex to = k < UNITS ? unit[k] : served[k - UNITS];
    int node = k < UNITS ? 2 * k : 2 * UNITS + k - UNITS;

    CHECK(weir_edge_add(g, unit[i], to, "net", "link", both ? "link" : NULL, NULL) == WEIR_OK, "an edge");
    matrix[2 * i + 1][node] = WEIR_FOREVER / 4;
    if (both)
        matrix[2 * k + 1][2 * i] = WEIR_FOREVER / 4;
}

/* Makes a random network. Sources are units to which no edge is written; where there are none, units from which none is
 * written, if all edges to them go both ways. */
static void make(void)
{
    bool entered[UNITS] = {false}, leaves[UNITS] = {false}, one_way[UNITS] = {false}, any = false;
    weir_vertex top;

    g = weir_graph_new();
    memset(matrix, 0, sizeof matrix);
    nunits = 2 + (int)dice(UNITS - 1);
    nserved = 1 + (int)dice(SERVED);
    top = add(WEIR_NONE, "cluster", 0, 1);
    for (int i = 0; i < nunits; i++) {
        int64_t size = 1 + (int64_t)dice(9), taken = dice(3) ? 0 : 1 + (int64_t)dice((unsigned)size);
        unit[i] = add(WEIR_NONE, "switch", i, size);
        if (dice(9) == 0) {
            CHECK(weir_vertex_set_state(g, unit[i], WEIR_DOWN, NULL) == WEIR_OK, "a switch is down");
            taken = size;
        } else if (taken) {
            CHECK(weir_vertex_allocate(g, unit[i], i + 1, taken, 0, 100, NULL) == WEIR_OK, "units in use");
        }
        matrix[2 * i][2 * i + 1] = size - taken;
    }
    for (int i = 0; i < nserved; i++)
        served[i] = add(top, "node", i, 1);
    for (int n = (int)dice(3 * UNITS); n > 0; n--) {
        int i = (int)dice((unsigned)nunits), k = 1 + (int)dice((unsigned)nunits - 1);
        bool both = dice(3) == 0;
        if (i == k)
            continue;
        join(i, k, both);
        entered[k] = leaves[i] = true;
        one_way[k] |= !both;
    }
    for (int n = 1 + (int)dice(2 * SERVED); n > 0; n--) {
        int i = (int)dice((unsigned)nunits);
        join(i, UNITS + (int)dice((unsigned)nserved), false);
        leaves[i] = true;
    }
    for (int turned = 0; !any && turned < 2; turned++)
        for (int i = 0; i < nunits; i++)
            if (turned ? entered[i] && !leaves[i] && !one_way[i] : !entered[i] && leaves[i]) {
                matrix[SOURCE][2 * i] = WEIR_FOREVER / 4;
                any = true;
            }
}

/* One way with room from a node to the sink: depth first, as plain as can be. */
static int64_t push(int64_t room[NODES][NODES], bool *met, int node, int64_t amount)
{
    if (node == SINK)
        return amount;
    met[node] = true;
    for (int next = 0; next < NODES; next++) {
        int64_t got;
        if (met[next] || room[node][next] == 0)
            continue;
        got = push(room, met, next, amount < room[node][next] ? amount : room[node][next]);
        if (got == 0)
            continue;
        room[node][next] -= got;
        room[next][node] += got;
        return got;
    }
    return 0;
}

/* The maximum flow with `units` for each vertex served, by Ford and Fulkerson. */
static int64_t plain(int64_t units)
{
    int64_t room[NODES][NODES], got, sum = 0;
    bool met[NODES];

    memcpy(room, matrix, sizeof room);
    for (int i = 0; i < nserved; i++)
        room[2 * UNITS + i][SINK] = units ? units : WEIR_FOREVER / 4;
    do {
        memset(met, 0, sizeof met);
        got = push(room, met, SOURCE, WEIR_FOREVER / 4);
        sum += got;
    } while (got > 0);
    return sum;
}

/* Whether the shares stay within what units have left, and enough reaches each vertex. */
static bool shares_fit(const weir_flow *f)
{
    int64_t passed[UNITS] = {0};

    for (uint32_t i = 0; i < f->nshares; i++)
        for (int k = 0; k < nunits; k++)
            passed[k] += f->shares[i].unit == unit[k] ? f->shares[i].amount : 0;
    for (int k = 0; k < nunits; k++)
        if (passed[k] > matrix[2 * k][2 * k + 1])
            return false;
    for (int i = 0; i < nserved; i++) {
        int64_t last = 0; /* what the units with an edge to the vertex pass on for it */
        for (uint32_t s = 0; s < f->nshares; s++)
            for (int k = 0; k < nunits; k++)
                if (f->shares[s].vertex == served[i] && f->shares[s].unit == unit[k] &&
                    matrix[2 * k + 1][2 * UNITS + i])
                    last += f->shares[s].amount;
        if (last < f->served[i])
            return false;
    }
    return true;
}

static void compare(int64_t units, int round)
{
    weir_flow_options o = {.subsystem = "net", .from = WEIR_NONE, .to = served, .nto = (uint32_t)nserved};
    int64_t expected = plain(units), cut = 0, sum = 0;
    weir_flow *f = NULL;

    o.units = units;
    o.duration = dice(2) ? 0 : 50;
    if (!CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK, "a flow of network %d", round))
        return;
    CHECK(f->amount == expected, "network %d, %lld each: %lld, not %lld", round, (long long)units,
          (long long)f->amount, (long long)expected);
    for (uint32_t i = 0; i < f->ncut; i++)
        cut += f->cut[i].left;
    for (int i = 0; i < nserved; i++)
        sum += f->served[i];
    CHECK(f->all == (units > 0 && expected == units * nserved) && sum == f->amount, "network %d: what is served", round);
    if (units == 0)
        CHECK(cut == f->amount, "network %d: the cut has %lld, the flow %lld", round, (long long)cut,
              (long long)f->amount);
    CHECK(shares_fit(f), "network %d: the shares", round);
    weir_flow_free(f);
}

static void test_random(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int rounds = (int)(400 * (scale ? atof(scale) : 1)) + 1;

    for (int round = 0; round < rounds; round++) {
        make();
        for (int64_t units = 0; units < 4; units++)
            compare(units, round);
        weir_graph_free(g);
    }
}

static void test_wrong(void)
{
    static const struct {
        const char *subsystem;
        weir_vertex from, to;
        int64_t units, at, duration;
        int code;
    } wrong[] = {{NULL, WEIR_NONE, 0, 1, 0, 0, WEIR_EINVAL},   {"none", WEIR_NONE, 0, 1, 0, 0, WEIR_ENOENT},
                 {"net", 9999, 0, 1, 0, 0, WEIR_ENOENT},       {"net", WEIR_NONE, 9999, 1, 0, 0, WEIR_ENOENT},
                 {"net", WEIR_NONE, 0, -1, 0, 0, WEIR_EINVAL}, {"net", WEIR_NONE, 0, 1, -1, 0, WEIR_EINVAL},
                 {"net", WEIR_NONE, 0, 1, 0, -1, WEIR_EINVAL}, {"containment", WEIR_NONE, 0, 1, 0, 0, WEIR_EINVAL}};
    weir_flow *f;

    make();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weir_flow_options o = {.subsystem = wrong[i].subsystem, .from = wrong[i].from, .to = &wrong[i].to, .nto = 1,
                               .units = wrong[i].units, .at = wrong[i].at, .duration = wrong[i].duration};
        weir_err err = {0};
        CHECK(weir_flow_most(g, &o, &f, &err) == wrong[i].code && !f && err.text[0], "wrong options %zu", i);
    }
    weir_flow_free(NULL);
    weir_graph_free(g);
}

/* A source of 9, two ways of 5 to one node, one of which leads through a ring. */
static void test_from(void)
{
    weir_flow_options o = {.subsystem = "net", .units = 8, .nto = 1, .to = served};
    weir_flow *f = NULL;

    g = weir_graph_new();
    memset(matrix, 0, sizeof matrix);
    served[0] = add(WEIR_NONE, "node", 0, 1);
    for (int i = 0; i < 6; i++)
        unit[i] = add(WEIR_NONE, "switch", i, i ? 5 : 9);
    for (int i = 2; i < 6; i++)
        join(i, i == 5 ? 2 : i + 1, true);
    join(0, 1, false);
    join(0, 2, false);
    join(1, UNITS, false);
    join(4, UNITS, false);
    o.from = WEIR_NONE;
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->all, "two ways make 8");
    weir_flow_free(f);
    o.from = unit[2];
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->amount == 5 && f->ncut == 1 && f->cut[0].left == 5,
          "one switch as the source");
    weir_flow_free(f);
    o.from = served[0];
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->amount == 0 && f->nshares == 0, "nothing comes from a node");
    weir_flow_free(f);
    CHECK(weir_vertex_set_state(g, unit[0], WEIR_DOWN, NULL) == WEIR_OK, "the source is down");
    o.from = WEIR_NONE;
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->amount == 0 && f->cut[0].unit == unit[0], "nothing flows");
    weir_flow_free(f);
    o.capacity = true;
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->all, "it could");
    weir_flow_free(f);
    weir_graph_free(g);
}

/* All edges go both ways, written towards the source. */
static void test_turned(void)
{
    weir_flow_options o = {.subsystem = "net", .units = 3, .nto = 1, .from = WEIR_NONE};
    weir_vertex top, node, hub, store;
    weir_flow *f;

    g = weir_graph_new();
    top = add(WEIR_NONE, "cluster", 0, 1);
    node = add(top, "node", 0, 1);
    hub = add(WEIR_NONE, "switch", 0, 5);
    store = add(WEIR_NONE, "store", 0, 4);
    CHECK(weir_edge_add(g, node, hub, "net", "link", "link", NULL) == WEIR_OK &&
              weir_edge_add(g, hub, store, "net", "link", "link", NULL) == WEIR_OK,
          "two edges");
    o.to = &node;
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->all && f->nshares == 2, "[G4] the flow comes from the store");
    weir_flow_free(f);
    weir_graph_free(g);
}

static void test_nomem(void)
{
    weir_flow_options o = {.subsystem = "net", .from = WEIR_NONE, .to = served};

    for (int round = 0; round < 12; round++) {
        int64_t expected;
        make();
        o.nto = (uint32_t)nserved;
        expected = plain(0);
        for (int n = 1;; n++) {
            weir_flow *f = NULL;
            int rc;
            weir_mem_fail_after(n);
            rc = weir_flow_most(g, &o, &f, NULL);
            weir_mem_fail_after(0);
            if (rc == WEIR_OK) {
                CHECK(f->amount == expected, "after failures: %lld", (long long)f->amount);
                weir_flow_free(f);
                break;
            }
            if (!CHECK(rc == WEIR_ENOMEM && !f, "allocation %d fails: %d", n, rc))
                break;
        }
        weir_graph_free(g);
    }
}

int main(void)
{
    test_random();
    test_from();
    test_turned();
    test_wrong();
    test_nomem();
    return check_report();
}
