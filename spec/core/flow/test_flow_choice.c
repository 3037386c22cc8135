/* test_flow_choice.c - choices of vertices in whole demands (flow/choice.h) over random networks with rings and edges
 * that go both ways, with and without groups, against all choices tried one by one with a plain maximum flow. Each
 * allocation fails once. */
#include "check.h"
#include "dice.h"
#include "flow/choice.h"

enum { UNITS = 8, ENDS = 6, NODES = 2 * UNITS + ENDS + 2, SOURCE = NODES - 2, SINK = NODES - 1 };

static weir_graph *g;
static weir_vertex unit[UNITS], served[ENDS];
static int nunits, nserved;
static int64_t matrix[NODES][NODES];
static struct flow_choice_end ends[ENDS];

static weir_vertex add(weir_vertex parent, const char *type, int64_t id)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = id;
    CHECK(weir_graph_add(g, parent, &d, &v, NULL) == WEIR_OK, "%s%lld is added", type, (long long)id);
    return v;
}

static void join(int i, int k, bool both)
{
    weir_vertex to = k < UNITS ? unit[k] : served[k - UNITS];

    CHECK(weir_edge_add(g, unit[i], to, "net", "link", both ? "link" : NULL, NULL) == WEIR_OK, "an edge");
    matrix[2 * i + 1][k < UNITS ? 2 * k : 2 * UNITS + k - UNITS] = ENDS * 100;
    if (both)
        matrix[2 * k + 1][2 * i] = ENDS * 100;
}

/* Units in layers, of which the first are sources, and ends below one to three of them. */
static void make(void)
{
    weir_vertex top;
    int sources;

    g = weir_graph_new();
    memset(matrix, 0, sizeof matrix);
    nunits = 3 + (int)dice(UNITS - 2);
    nserved = 2 + (int)dice(ENDS - 1);
    sources = 1 + (int)dice(3);
    sources = sources < nunits ? sources : nunits - 1;
    top = add(WEIR_NONE, "cluster", 0);
    for (int i = 0; i < nunits; i++) {
        unit[i] = add(WEIR_NONE, "switch", i);
        matrix[2 * i][2 * i + 1] = dice(i < sources ? 16 : 8);
        if (i < sources)
            matrix[SOURCE][2 * i] = ENDS * 100;
    }
    for (int i = 0; i < nserved; i++)
        served[i] = add(top, "node", i);
    for (int i = sources; i < nunits; i++)
        for (int n = 1 + (int)dice(2); n > 0; n--) {
            int above = (int)dice((unsigned)i);
            if (above >= sources || !matrix[2 * above + 1][2 * i])
                join(above, i, above >= sources && dice(4) == 0);
        }
    for (int i = 0; i < nserved; i++)
        for (int n = 1 + (int)dice(3); n > 0; n--) {
            int above = (int)dice((unsigned)nunits);
            if (!matrix[2 * above + 1][2 * UNITS + i])
                join(above, UNITS + i, false);
        }
    for (int i = 0; i < sources; i++) /* a source that leads nowhere is no unit */
        if (!matrix[2 * i + 1][2 * UNITS])
            join(i, UNITS, false);
}

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

/* Whether one flow serves demands of `each` units, counts[i] at end i. */
static bool serves(const int64_t *counts, int64_t each)
{
    int64_t room[NODES][NODES], got, sum = 0, all = 0;
    bool met[NODES];

    memcpy(room, matrix, sizeof room);
    for (int i = 0; i < nserved; i++) {
        room[2 * UNITS + i][SINK] = counts[i] * each;
        all += counts[i] * each;
    }
    do {
        memset(met, 0, sizeof met);
        got = push(room, met, SOURCE, ENDS * 100);
        sum += got;
    } while (got > 0);
    return sum == all;
}

/* Whether counts are what a choice asks for, but for the flow. */
static bool allowed(const struct flow_choice *c, const int64_t *counts)
{
    int64_t groups[ENDS] = {0}, sum = 0;

    for (int i = 0; i < nserved; i++) {
        sum += counts[i];
        groups[ends[i].group] += counts[i];
        if (counts[i] < 0 || counts[i] > ends[i].most)
            return false;
    }
    for (uint32_t i = 0; c->by_group && i < c->ngroups; i++)
        if (groups[i] != 0 && groups[i] != c->by_group)
            return false;
    return sum == c->want;
}

static bool exists(const struct flow_choice *c, int64_t *counts, int i)
{
    if (i == nserved)
        return allowed(c, counts) && serves(counts, c->each);
    for (counts[i] = 0; counts[i] <= ends[i].most; counts[i]++)
        if (exists(c, counts, i + 1))
            return true;
    counts[i] = 0;
    return false;
}

static int64_t capacity(void *context, weir_vertex v)
{
    (void)context;
    for (int i = 0; i < nunits; i++)
        if (unit[i] == v)
            return matrix[2 * i][2 * i + 1];
    return 0;
}

static int choose(struct flow_choice *c)
{
    struct flow_layout *l = weir_flow_layout(g, weir_subsystem_find(g, "net"));
    int rc;

    c->w = l ? weir_flow_network_new(g, l, WEIR_NONE, capacity, NULL) : NULL;
    c->steps = 0;
    c->steps_most = 1000000000;
    rc = c->w ? weir_flow_choose(c) : WEIR_ENOMEM;
    weir_flow_network_free(c->w);
    return rc;
}

/* A random question about the network. */
static void ask(struct flow_choice *c)
{
    *c = (struct flow_choice){.each = 1 + dice(5), .ngroups = 3, .ends = ends, .n = (uint32_t)nserved};
    c->by_group = dice(3) ? 0 : 1 + dice(3);
    c->want = c->by_group ? c->by_group * (1 + dice(3)) : 1 + dice(8);
    for (int i = 0; i < nserved; i++)
        ends[i] = (struct flow_choice_end){.v = served[i], .group = dice(3), .most = 1 + dice(3)};
}

static int scaled(int rounds)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    return (int)(rounds * (scale ? atof(scale) : 1)) + 1;
}

static void test_random(void)
{
    int found = 0, none = 0, rounds = scaled(3000);

    for (int round = 0; round < rounds; round++) {
        make();
        for (int k = 0; k < 4; k++) {
            struct flow_choice c;
            int64_t counts[ENDS] = {0};
            int rc;
            ask(&c);
            rc = choose(&c);
            if (!CHECK(rc == exists(&c, counts, 0), "network %d, question %d: %d", round, k, rc) || rc != 1) {
                none++;
                continue;
            }
            found++;
            for (int i = 0; i < nserved; i++)
                counts[i] = ends[i].chosen;
            CHECK(allowed(&c, counts) && serves(counts, c.each), "network %d, question %d: the choice", round, k);
        }
        weir_graph_free(g);
    }
    CHECK(rounds < 100 || (found > rounds / 2 && none > rounds / 2), "%d choices, %d refusals", found, none);
}

static void test_nomem(void)
{
    for (int round = 0; round < 40; round++) {
        struct flow_choice c;
        int rc = WEIR_ENOMEM;
        make();
        ask(&c);
        for (long n = 1; rc == WEIR_ENOMEM; n++) {
            weir_mem_fail_after(n);
            rc = choose(&c);
            weir_mem_fail_after(0);
        }
        CHECK(rc == 0 || rc == 1, "network %d: %d", round, rc);
        weir_graph_free(g);
    }
}

int main(void)
{
    test_random();
    test_nomem();
    return check_report();
}
