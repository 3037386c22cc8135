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

/* Makes a random network. Sources are units to which no edge is written; where there are none, units from which none
 * is written, if all edges to them go both ways. */
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
    CHECK(f->amount == expected, "network %d, %lld each: %lld, not %lld", round, (long long)units, (long long)f->amount,
          (long long)expected);
    for (uint32_t i = 0; i < f->ncut; i++)
        cut += f->cut[i].left;
    for (int i = 0; i < nserved; i++)
        sum += f->served[i];
    CHECK(f->all == (units > 0 && expected == units * nserved) && sum == f->amount, "network %d: in all", round);
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

/* ---- choices ---- */

/* Whether one flow serves `units` to each vertex of a set. */
static bool serves(unsigned set, int64_t units)
{
    int64_t room[NODES][NODES], got, sum = 0;
    bool met[NODES];

    memcpy(room, matrix, sizeof room);
    for (int i = 0; i < nserved; i++)
        room[2 * UNITS + i][SINK] = set >> i & 1 ? units : 0;
    do {
        memset(met, 0, sizeof met);
        got = push(room, met, SOURCE, WEIR_FOREVER / 4);
        sum += got;
    } while (got > 0);
    return sum == __builtin_popcount(set) * units;
}

/* The most vertices that one flow serves: all sets are tried. */
static int most_served(int64_t units)
{
    int most = 0;

    for (unsigned set = 0; set < 1u << nserved; set++)
        if (__builtin_popcount(set) > most && serves(set, units))
            most = __builtin_popcount(set);
    return most;
}

static int match(int n, int64_t units, const weir_allocation **a, weir_stats *stats)
{
    weir_match_options o = {.mode = WEIR_NOW, .duration = 50, .stats = stats};
    weir_request *r = NULL;
    char text[64];
    int rc;

    snprintf(text, sizeof text, "slot=%d/node/net=%lld", n, (long long)units);
    rc = weir_request_parse(text, strlen(text), "request", &r, NULL);
    rc = rc ? rc : weir_match(g, r, &o, a, NULL);
    weir_request_free(r);
    return rc;
}

/* Whether the vertices of a job are as many as asked for, and one flow serves them. */
static bool job_is_served(const weir_allocation *a, int n, int64_t units)
{
    unsigned set = 0;

    for (uint32_t i = 0; i < a->npicks; i++)
        for (int k = 0; k < nserved; k++)
            set |= a->picks[i].vertex == served[k] ? 1u << k : 0;
    return __builtin_popcount(set) == n && serves(set, units);
}

static void test_choices(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int rounds = (int)(200 * (scale ? atof(scale) : 1)) + 1;

    for (int round = 0; round < rounds; round++) {
        make();
        for (int64_t units = 1; units < 4; units++) {
            int most = most_served(units);
            for (int n = 1; n <= nserved; n++) {
                const weir_allocation *a = NULL;
                int rc = match(n, units, &a, NULL);
                CHECK((rc == WEIR_OK) == (n <= most), "network %d: %d nodes with %lld of %d: %s", round, n,
                      (long long)units, most, weir_status_name(rc));
                if (rc)
                    continue;
                CHECK(job_is_served(a, n, units) && weir_check(g, NULL) == WEIR_OK, "network %d: its vertices", round);
                CHECK(weir_release(g, a->job, NULL) == WEIR_OK && weir_check(g, NULL) == WEIR_OK, "all is given back");
            }
        }
        weir_graph_free(g);
    }
}

/* Each allocation of a match fails once, also while choices are tried. */
static void test_choices_nomem(void)
{
    for (int round = 0; round < 8; round++) {
        int most;
        make();
        most = most_served(2);
        for (long n = 1; most > 0; n++) {
            const weir_allocation *a = NULL;
            int rc;
            weir_mem_fail_after(n);
            rc = match(most, 2, &a, NULL);
            weir_mem_fail_after(0);
            CHECK(weir_check(g, NULL) == WEIR_OK, "the graph after allocation %ld", n);
            if (rc == WEIR_OK) {
                CHECK(job_is_served(a, most, 2), "after failures");
                break;
            }
            if (!CHECK(rc == WEIR_ENOMEM, "allocation %ld fails: %s", n, weir_status_name(rc)))
                break;
        }
        weir_graph_free(g);
    }
}

/* ---- less ---- */

static int64_t units_of(const weir_allocation *a, weir_vertex v)
{
    for (uint32_t i = 0; i < a->npicks; i++)
        if (a->picks[i].vertex == v)
            return a->picks[i].amount;
    return 0;
}

/* Whether as much leaves the sources as the switches in front of the nodes can pass on at most: no unit is left over on
 * a way that has been given back. */
static bool flows_are_whole(const weir_allocation *a, weir_vertex given)
{
    int64_t from_sources = 0, to_nodes = 0;

    for (int i = 0; i < nunits; i++)
        if (given == unit[i] && matrix[SOURCE][2 * i] > 0)
            return true; /* keeps what was not given back */

    for (int i = 0; i < nunits; i++) {
        bool feeds = false;
        for (int k = 0; k < nserved; k++)
            feeds |= matrix[2 * i + 1][2 * UNITS + k] > 0;
        from_sources += matrix[SOURCE][2 * i] > 0 ? units_of(a, unit[i]) : 0;
        to_nodes += feeds ? units_of(a, unit[i]) : 0;
    }
    return from_sources <= to_nodes;
}

/* A job gives back units of one switch: on all ways through it, and each allocation fails once. */
static void test_less(void)
{
    for (int round = 0; round < 60; round++) {
        const weir_allocation *a = NULL;
        make();
        for (int n = nserved; n > 0 && match(n, 2, &a, NULL) != WEIR_OK; n--)
            ;
        while (a && a->npicks > 0) {
            weir_pick p = a->picks[dice(a->npicks)];
            int64_t job = a->job, had = p.amount, less = 1 + (int64_t)dice((unsigned)had);
            int rc = WEIR_ENOMEM;
            for (long n = 1; rc == WEIR_ENOMEM; n++) {
                weir_mem_fail_after(round < 20 ? n : 0);
                rc = weir_vertex_release(g, p.vertex, job, less, NULL);
                weir_mem_fail_after(0);
                CHECK(weir_check(g, NULL) == WEIR_OK, "the graph, %s", weir_status_name(rc));
                a = weir_job_get(g, job);
                CHECK(rc == WEIR_OK || (a && units_of(a, p.vertex) == had), "nothing has changed");
            }
            CHECK(rc == WEIR_OK && (a ? units_of(a, p.vertex) : 0) == had - less, "network %d: %lld less", round,
                  (long long)less);
            CHECK(!a || flows_are_whole(a, p.vertex), "network %d: what is left is a flow", round);
        }
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
        weir_flow_options o = {.subsystem = wrong[i].subsystem,
                               .from = wrong[i].from,
                               .to = &wrong[i].to,
                               .nto = 1,
                               .units = wrong[i].units,
                               .at = wrong[i].at,
                               .duration = wrong[i].duration};
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
    CHECK(weir_flow_most(g, &o, &f, NULL) == WEIR_OK && f->all && f->nshares == 2, "[G4] all from the store");
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
    test_choices();
    test_choices_nomem();
    test_less();
    return check_report();
}
