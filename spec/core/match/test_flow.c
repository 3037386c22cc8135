/* test_flow.c - channelled pools: the RFC's file system PFS1 behind core and edge switches, and power, beside one
 * containment hierarchy; then growing and shrinking of jobs. */
#include "check.h"
#include "weir.h"

static weir_graph *g;
static weir_vertex cluster, nodes[8], pfs1, core_switch[2], edge_switch[4], panel, pdu[2];

static weir_vertex add(weir_vertex parent, const char *type, int64_t id, int64_t size, const char *unit)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = id;
    d.size = size;
    d.unit = unit;
    CHECK(weir_graph_add(g, parent, &d, &v, NULL) == WEIR_OK, "%s%lld is added", type, (long long)id);
    return v;
}

static void edge(weir_vertex from, weir_vertex to, const char *subsystem, const char *type)
{
    CHECK(weir_edge_add(g, from, to, subsystem, type, NULL, NULL) == WEIR_OK, "an edge of %s", subsystem);
}

/* Two core switches of 8 GB/s behind a file system of 16, four edge switches of 4, two nodes behind each; a panel of
 * 10 kW, two pdus of 6, four nodes behind each. */
static void make(void)
{
    g = weir_graph_new();
    cluster = add(WEIR_NONE, "cluster", 0, 1, NULL);
    pfs1 = add(WEIR_NONE, "filesystem", 1, 16, "GB/s");
    panel = add(WEIR_NONE, "panel", 0, 10, "kW");
    for (int i = 0; i < 2; i++) {
        core_switch[i] = add(WEIR_NONE, "core_switch", i, 8, "GB/s");
        pdu[i] = add(WEIR_NONE, "pdu", i, 6, "kW");
        edge(pfs1, core_switch[i], "pfs1", "conduit_of");
        edge(panel, pdu[i], "power", "supplies");
    }
    for (int i = 0; i < 4; i++) {
        edge_switch[i] = add(WEIR_NONE, "edge_switch", i, 4, "GB/s");
        edge(core_switch[i / 2], edge_switch[i], "pfs1", "conduit_of");
    }
    for (int i = 0; i < 8; i++) {
        weir_pool_desc core = WEIR_POOL_DESC_INIT;
        core.type = "core";
        core.id = 0;
        nodes[i] = add(cluster, "node", i, 1, NULL);
        CHECK(weir_graph_add_many(g, nodes[i], &core, 4, 1, NULL, NULL) == WEIR_OK, "cores");
        edge(edge_switch[i / 2], nodes[i], "pfs1", "conduit_of");
        edge(pdu[i / 4], nodes[i], "power", "supplies");
    }
}

static int64_t left(weir_vertex v)
{
    return weir_vertex_available(g, v, 0, WEIR_FOREVER);
}

static int match(const char *shape, int mode, int64_t *job)
{
    static const char *const order[] = {"id"};
    weir_policy low = {.name = "low", .order = order, .norder = 1};
    weir_match_options o = {.mode = mode, .policy = &low};
    const weir_allocation *a = NULL;
    weir_request *r;
    int rc;

    if (!CHECK(weir_request_parse(shape, strlen(shape), "shape", &r, NULL) == WEIR_OK, "%s is a shape", shape))
        return WEIR_EPARSE;
    rc = weir_match(g, r, &o, &a, NULL);
    if (rc == WEIR_OK && job)
        *job = a->job;
    weir_request_free(r);
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are exact after %s", shape);
    return rc;
}

static void test_path(void)
{
    int64_t job;

    CHECK(match("slot/node/[core=2;pfs1=3;power=2]", WEIR_NOW, &job) == WEIR_OK,
          "[G8] one node with bandwidth and power");
    CHECK(left(nodes[0]) == 0 && left(nodes[1]) == 1, "the first node is taken");
    CHECK(left(edge_switch[0]) == 1 && left(core_switch[0]) == 5 && left(pfs1) == 13,
          "[G8] each distribution unit on the way to the source gives its part");
    CHECK(left(pdu[0]) == 4 && left(panel) == 8, "[G9] both subsystems at once");
    CHECK(weir_release(g, job, NULL) == WEIR_OK && left(pfs1) == 16 && left(panel) == 10, "release gives it all back");
}

static void test_other_way(void)
{
    int64_t job;

    CHECK(match("slot=3/node/pfs1=3", WEIR_NOW, &job) == WEIR_OK, "three nodes with 3 GB/s each");
    CHECK(left(nodes[0]) == 0 && left(nodes[1]) == 1 && left(nodes[2]) == 0 && left(nodes[4]) == 0,
          "a node whose edge switch is full is passed over");
    CHECK(left(core_switch[0]) == 2 && left(core_switch[1]) == 5 && left(pfs1) == 7, "sums on what they share");
    CHECK(match("slot=2/node/pfs1=4", WEIR_NOW, NULL) == WEIR_EBUSY, "[G8] it fails as a whole");
    CHECK(left(pfs1) == 7 && left(nodes[6]) == 1, "... and leaves no trace");
    CHECK(weir_release(g, job, NULL) == WEIR_OK, "release");
    CHECK(match("slot=5/node/pfs1=4", WEIR_NOW, NULL) == WEIR_EINFEASIBLE, "16 GB/s are never 20");
    CHECK(match("slot/node/power=7", WEIR_FEASIBLE, NULL) == WEIR_EINFEASIBLE, "no pdu gives 7 kW");
    CHECK(match("slot=4/node/power=2", WEIR_FEASIBLE, NULL) == WEIR_OK, "but four times 2 kW");
    CHECK(match("node/slot=2/[core;power=1]", WEIR_NOW, &job) == WEIR_OK && left(pdu[0]) == 4,
          "per slot inside a node");
    CHECK(weir_release(g, job, NULL) == WEIR_OK, "release");
}

static void test_walks(void)
{
    weir_walk_options o = {.start = nodes[5], .subsystem = "pfs1", .upward = true};
    weir_walk *w = weir_walk_new(g, &o, NULL);
    weir_vertex v, way[8];
    int n = 0;

    while (weir_walk_next(w, &v, NULL) == WEIR_PREORDER && n < 8)
        way[n++] = v;
    CHECK(n == 4 && way[1] == edge_switch[2] && way[2] == core_switch[1] && way[3] == pfs1,
          "[G3] [W1] upward from a node to the file system");
    weir_walk_free(w);
    o = (weir_walk_options){.start = WEIR_NONE, .subsystem = "pfs1", .breadth = true, .type = "edge_switch"};
    w = weir_walk_new(g, &o, NULL);
    for (n = 0; weir_walk_next(w, &v, NULL) == WEIR_PREORDER; n++)
        CHECK(v == edge_switch[n] && weir_walk_depth(w) == 2, "[W2] breadth first: edge switch %d", n);
    CHECK(n == 4, "four edge switches");
    weir_walk_free(w);
    CHECK(weir_graph_lookup(g, "pfs1:/filesystem1/core_switch1/edge_switch3/node7", &v, NULL) == WEIR_OK &&
              v == nodes[7],
          "[G1] a path in another subsystem");
}

static void test_grow_and_shrink(void)
{
    weir_match_options o = {0};
    weir_request *r;
    int64_t job;
    const weir_allocation *a;

    CHECK(match("slot/node", WEIR_NOW, &job) == WEIR_OK, "a job of one node");
    CHECK(weir_request_parse("slot=2/node", 11, "shape", &r, NULL) == WEIR_OK, "two more");
    CHECK(weir_job_grow(g, job, r, &o, &a, NULL) == WEIR_OK && a->npicks == 3, "[A9] the job grows by two nodes");
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are exact");
    weir_request_free(r);
    CHECK(weir_job_shrink(g, job, &nodes[1], 1, NULL) == WEIR_OK && left(nodes[1]) == 1, "[A9] and gives one back");
    weir_vertex core = weir_vertex_child(g, nodes[0], 2);
    CHECK(weir_job_shrink(g, job, &core, 1, NULL) == WEIR_OK && left(core) == 1, "[A9] [R8] one core of a whole node");
    CHECK(left(weir_vertex_child(g, nodes[0], 1)) == 0, "the other cores stay with the job");
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are exact");
    CHECK(weir_job_shrink(g, job, &core, 1, NULL) == WEIR_ENOENT, "nothing is given back twice");
    CHECK(weir_job_shrink(g, job, &cluster, 1, NULL) == WEIR_OK && weir_job_get(g, job) == NULL, "all of it: released");
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are exact");
}

/* Two nodes of a job behind a shared edge switch: releasing a node releases the bandwidth of that node only. */
static void test_units_go_with_their_vertex(void)
{
    int64_t job;
    weir_vertex core = weir_vertex_child(g, nodes[1], 0);

    CHECK(match("slot=2/node/[pfs1=2;power=1]", WEIR_NOW, &job) == WEIR_OK && left(edge_switch[0]) == 0, "two nodes");
    CHECK(weir_job_shrink(g, job, &nodes[0], 1, NULL) == WEIR_OK, "[A9] one of them goes");
    CHECK(left(edge_switch[0]) == 2 && left(pfs1) == 14 && left(pdu[0]) == 5, "[G8] and what it took on the way up");
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are exact");
    CHECK(weir_job_shrink(g, job, &core, 1, NULL) == WEIR_OK && left(edge_switch[0]) == 2,
          "part of a node keeps its units");
    CHECK(weir_job_shrink(g, job, &nodes[1], 1, NULL) == WEIR_OK && left(edge_switch[0]) == 4, "the rest: all is free");
    CHECK(weir_job_get(g, job) == NULL && left(panel) == 10, "and the job is gone");
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are exact");
}

int main(void)
{
    make();
    test_path();
    test_other_way();
    test_walks();
    test_grow_and_shrink();
    test_units_go_with_their_vertex();
    weir_graph_free(g);
    return check_report();
}
