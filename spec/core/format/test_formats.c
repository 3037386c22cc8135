/* test_formats.c - the machine readers: counts of real files, and small inputs of every format.
 * Requirements: P1-P10, G2-G6, G9, L1, L2, R1-R4, R6.
 */
#include "formats.h"

/* Writes "node=2 core=8", types in the order of their first vertex. */
static const char *totals(const weir_graph *g, char *buf, size_t size)
{
    size_t n = 0;

    buf[0] = '\0';
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++) {
        const char *type = weir_vertex_type(g, v);
        uint32_t count = 0;
        bool seen = false;
        for (weir_vertex u = 0; u < v && !seen; u++)
            seen = strcmp(weir_vertex_type(g, u), type) == 0;
        for (weir_vertex u = v; u < weir_graph_limit(g) && !seen; u++)
            count += strcmp(weir_vertex_type(g, u), type) == 0;
        if (!seen && n < size)
            n += (size_t)snprintf(buf + n, size - n, "%s%s=%u", n ? " " : "", type, count);
    }
    return buf;
}

static void check_paths(const weir_graph *g, const char *const *paths, const char *what)
{
    char path[4096];
    uint32_t i = 0;

    for (; paths[i]; i++) {
        path[0] = '\0';
        if (i < weir_graph_limit(g))
            weir_vertex_path(g, i, path, sizeof path);
        CHECK(strcmp(path, paths[i]) == 0, "%s: vertex %u is %s, not %s", what, i, path, paths[i]);
    }
    CHECK(weir_graph_count(g) == i, "%s: %u vertices, not %u", what, weir_graph_count(g), i);
}

static weir_vertex at(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, path, &v, &err) == WEIR_OK, "%s: %s", path, err.text);
    return v;
}

/* ---- real files ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *file, *format, *totals;
} real[] = {
    {"machines/grug/tiny.graphml", "grug", "cluster=1 rack=1 node=2 socket=4 core=72 gpu=4 memory=16"},
    {"machines/grug/small.graphml", "grug", "cluster=1 rack=1 node=8 socket=16 core=288 memory=64"},
    {"machines/grug/medium.graphml", "grug", "cluster=1 rack=4 node=72 socket=144 core=2592 gpu=144 memory=576"},
    {"machines/grug/resv_test.graphml", "grug", "cluster=1 rack=6 node=108 socket=216 core=3888 gpu=216 memory=864"},
    {"machines/grug/coarse_iobw.graphml", "grug",
     "zone=1 cluster=1 rack=6 node=108 socket=216 core=3888 gpu=216 memory=864 pfs=1 bandwidth=16"},
    {"machines/grug/advanced_test.graphml", "grug",
     "cluster=1 rack=6 node=126 socket=252 core=4176 gpu=216 memory=900 bb=324 octrack=1"},
    {"machines/jgf/tiny.json", "jgf", "cluster=1 rack=1 node=2 socket=4 core=72 gpu=4 memory=16"},
    {"machines/jgf/4node.rank0123.nid0123.orig.json", "jgf", "cluster=1 rack=1 node=4 socket=8 core=144 gpu=8"},
    {"machines/jgf/dyn_explore.json", "jgf", "cluster=1 chassis=2 ssd=8 node=4 core=8"},
    {"machines/jgf/hwloc_4core.json", "jgf", "cluster=1 node=1 socket=1 core=4"},
    {"machines/jgf/elastic/node-1-partial-cancel.json", "jgf", "node=1 socket=2 core=36 gpu=2 memory=8"},
    {"machines/jgf/elastic/node-widget-test.json", "jgf", "cluster=1 rack=1 node=1 widget=1"},
    {"machines/jgf/elastic/add-remove-node-test.json", "rv1", "cluster=1 rack=1 node=1 socket=2 core=36"},
    {"r/rfc/example1.json", "rv1", "cluster=1 node=4 core=192 gpu=32"},
    {"r/flux-core-list/fluke.R", "rv1", "cluster=1 node=101 core=404"},
    {"r/flux-core-list/normal-new.R", "rv1", "cluster=1 node=5 core=20"},
    {"r/flux-core-list/null.R", "rv1", "cluster=1 node=4 core=16"},
    {"r/flux-sched-rv1exec/tiny_rv1exec.json", "rv1", "cluster=1 node=2 core=32 gpu=8"},
    {"r/flux-sched-rv1exec/tiny_rv1exec_2-1_split.json", "rv1", "cluster=1 node=2 core=16 gpu=4"},
    {"r/flux-sched-rv1exec/cancel/ranks_cancel_crossracks.json", "rv1", "cluster=1 node=3 core=108 gpu=6 memory=24"},
    {"machines/hwloc/sierra.xml", "hwloc", "cluster=1 node=1 socket=2 core=44 gpu=4 memory=2"},
    {"machines/hwloc/corona.xml", "hwloc", "cluster=1 node=1 socket=2 core=48 gpu=8 memory=2 storage=3"},
    {"machines/hwloc/001N_node_local_storage_lassen_0.xml", "hwloc",
     "cluster=1 node=1 socket=2 core=40 gpu=4 memory=2 storage=1"},
    {"machines/hwloc/001N_multi_gpu_types_chimera.xml", "hwloc",
     "cluster=1 node=1 socket=1 numanode=2 core=32 gpu=2 memory=2"},
    {"machines/hwloc/192em64t-24n8c2t.xml", "hwloc", "cluster=1 node=1 socket=24 core=192 memory=24"},
    {"machines/hwloc/32em64t-2n8c2t-pci-wholeio.xml", "hwloc", "cluster=1 node=1 socket=2 core=16 gpu=2 memory=2"},
    {"machines/hwloc/64intel64-fakeKNL-SNC4-hybrid.xml", "hwloc",
     "cluster=1 node=1 socket=1 numanode=8 core=16 memory=8"},
    {"machines/hwloc/sierra.xml", "hwloc:pu", "cluster=1 node=1 socket=2 core=44 pu=176 gpu=4 memory=2"},
    {"machines/hwloc/corona.xml", "hwloc:socket", "cluster=1 node=1 socket=2"},
    {"machines/hwloc/corona.xml", "hwloc:node,all", "cluster=1 node=1"},
    {"machines/hwloc/sierra.xml", "hwloc:node,core,gpu", "cluster=1 node=1 core=44 gpu=4"},
    {"machines/hwloc/sierra.xml", "hwloc:numanode,core", "cluster=1 node=1 numanode=2 core=44"},
    {"machines/hwloc/corona.xml", "hwloc:storage", "cluster=1 node=1 storage=3"},
    {"machines/hwloc/64intel64-fakeKNL-SNC4-hybrid.xml", "hwloc:node,socket,pu", "cluster=1 node=1 socket=1 pu=64"},
};

static bool data_there(void)
{
    char path[1024];
    FILE *f = fopen(check_data("INDEX.md", path, sizeof path), "rb");

    if (!f) {
        printf("skipped: the real machines, for %s is not there (set WEIR_DATA)\n", path);
        return false;
    }
    fclose(f);
    return true;
}

static void test_real(void)
{
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        const char *format = real[i].format;
        weir_err err = {0};
        weir_graph *g = NULL;
        char path[1024], buf[1024];
        size_t len;
        char *text = NULL;

        check_data(real[i].file, path, sizeof path);
        CHECK(weir_file_read(path, "a machine", WEIR_MACHINE_MAX, &text, &len, &err) == WEIR_OK, "%s: %s", path,
              err.text);
        if (text && !strchr(format, ':'))
            CHECK(check_same(weir_format_guess(text, len), format), "%s is guessed", path);
        weir_mem_free(text);
        if (!CHECK(weir_graph_load(path, strchr(format, ':') ? format : NULL, &g, &err) == WEIR_OK, "%s: %s", path,
                   err.text))
            continue;
        CHECK(strcmp(totals(g, buf, sizeof buf), real[i].totals) == 0, "%s: %s", path, buf);
        CHECK(weir_check(g, &err) == WEIR_OK, "%s: %s", path, err.text);
        weir_graph_free(g);
    }
}

/* Too large for totals(): the sums must do. */
static void test_large(void)
{
    char path[1024];
    weir_err err = {0};
    weir_graph *g = NULL;

    CHECK(weir_graph_load(check_data("machines/grug/sierra.graphml", path, sizeof path), NULL, &g, &err) == WEIR_OK,
          "%s", err.text);
    CHECK(g && weir_graph_count(g) == 350473, "sierra has 350473 vertices");
    weir_graph_free(g);
}

static void test_real_details(void)
{
    char path[1024];
    weir_err err = {0};
    weir_graph *g = NULL;
    weir_vertex v;

    CHECK(weir_graph_load(check_data("machines/hwloc/corona.xml", path, sizeof path), NULL, &g, &err) == WEIR_OK, "%s",
          err.text);
    if (!g)
        return;
    v = at(g, "/cluster0/corona263");
    CHECK(weir_vertex_rank(g, v) == 0 && strcmp(weir_vertex_basename(g, v), "corona") == 0, "the node is corona..263");
    at(g, "/cluster0/corona263/socket0/core0");
    at(g, "/cluster0/corona263/socket1/core47");
    at(g, "/cluster0/corona263/socket0/gpu3");
    at(g, "/cluster0/corona263/socket1/gpu4");
    v = at(g, "/cluster0/corona263/socket0/storage0");
    CHECK(weir_vertex_size(g, v) == 3750 && strcmp(weir_vertex_unit(g, v), "GB") == 0, "the disk has its size");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_PROPERTIES, "device"), "nvme0n1"), "and its name");
    v = at(g, "/cluster0/corona263/socket1/memory1");
    CHECK(weir_vertex_size(g, v) == 128973 && strcmp(weir_vertex_unit(g, v), "MB") == 0, "memory has its size");
    weir_graph_free(g);
}

/* ---- synthetic ------------------------------------------------------------------------------------------------ */

static void test_synthetic_tree(void)
{
    static const char *const paths[] = {"/cluster0",
                                        "/cluster0/rack0",
                                        "/cluster0/rack0/node0",
                                        "/cluster0/rack0/node0/socket0",
                                        "/cluster0/rack0/node0/socket0/core0",
                                        "/cluster0/rack0/node0/socket0/gpu0",
                                        "/cluster0/rack0/node0/socket1",
                                        "/cluster0/rack0/node0/socket1/core1",
                                        "/cluster0/rack0/node0/socket1/gpu1",
                                        "/cluster0/rack1",
                                        "/cluster0/rack1/node1",
                                        "/cluster0/rack1/node1/socket0",
                                        "/cluster0/rack1/node1/socket0/core0",
                                        "/cluster0/rack1/node1/socket0/gpu0",
                                        "/cluster0/rack1/node1/socket1",
                                        "/cluster0/rack1/node1/socket1/core1",
                                        "/cluster0/rack1/node1/socket1/gpu1",
                                        "/cluster0/storage0",
                                        NULL};
    weir_err err = {0};
    weir_graph *g = parse(NULL, "cluster:1 [rack:2 [node socket:2 core:1 gpu:1]\n storage:1(size=100, unit=TB)]", &err);

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    check_paths(g, paths, "brackets");
    CHECK(weir_vertex_rank(g, at(g, "/cluster0/rack1/node1/socket1/core1")) == 1, "the second node has rank 1");
    CHECK(weir_vertex_rank(g, 0) == WEIR_NO_RANK, "the cluster has no rank");
    CHECK(weir_vertex_size(g, 17) == 100 && strcmp(weir_vertex_unit(g, 17), "TB") == 0, "the storage has its size");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

static void test_synthetic_ids(void)
{
    static const char *const paths[] = {"/cluster0",          "/cluster0/n5",       "/cluster0/n5/core0",
                                        "/cluster0/n5/core1", "/cluster0/n5/core2", "/cluster0/n5/gpu8",
                                        "/cluster0/n6",       "/cluster0/n6/core0", "/cluster0/n6/core1",
                                        "/cluster0/n6/core2", "/cluster0/n6/gpu9",  NULL};
    weir_err err = {0};
    weir_graph *g =
        parse("synthetic",
              "node:2(basename=n,id=5,big,property=cpu=zen) core:2 core:1(exclusive) gpu(id=8,scope=global)", &err);

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    check_paths(g, paths, "ids");
    CHECK(check_same(weir_vertex_get(g, 6, WEIR_PROPERTIES, "big"), ""), "a property without a value");
    CHECK(check_same(weir_vertex_get(g, 6, WEIR_PROPERTIES, "cpu"), "zen"), "a property with one");
    CHECK(weir_vertex_exclusive(g, 9) && !weir_vertex_exclusive(g, 8), "the third core is exclusive");
    weir_graph_free(g);
}

static void test_synthetic_scopes(void)
{
    static const char *const paths[] = {"/cluster0",
                                        "/cluster0/node0",
                                        "/cluster0/node0/socket0",
                                        "/cluster0/node0/socket0/core0",
                                        "/cluster0/node0/socket1",
                                        "/cluster0/node0/socket1/core0",
                                        "/cluster0/node0/core0",
                                        "/cluster0/node0/core1",
                                        NULL};
    weir_err err = {0};
    weir_graph *g = parse(NULL, "cluster:1 node:1 [socket:2 [core:1(scope=local)] core:2]", &err);

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    check_paths(g, paths, "scopes");
    weir_graph_free(g);
}

/* ---- recipes -------------------------------------------------------------------------------------------------- */

static void test_recipe(void)
{
    static const char *const paths[] = {"/tiny0",
                                        "/tiny0/rack0",
                                        "/tiny0/rack0/node0",
                                        "/tiny0/rack0/node0/core4",
                                        "/tiny0/rack0/node0/core5",
                                        "/tiny0/rack0/node0/memory",
                                        "/tiny0/rack0/node1",
                                        "/tiny0/rack0/node1/core6",
                                        "/tiny0/rack0/node1/core7",
                                        "/tiny0/rack0/node1/memory",
                                        "/tiny0/rack1",
                                        "/tiny0/rack1/node2",
                                        "/tiny0/rack1/node2/core4",
                                        "/tiny0/rack1/node2/core5",
                                        "/tiny0/rack1/node2/memory",
                                        "/tiny0/rack1/node3",
                                        "/tiny0/rack1/node3/core6",
                                        "/tiny0/rack1/node3/core7",
                                        "/tiny0/rack1/node3/memory",
                                        NULL};
    weir_err err = {0};
    weir_graph *g = parse(NULL, small_recipe, &err);

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    check_paths(g, paths, "recipe");
    CHECK(weir_vertex_rank(g, 17) == 3, "nodes are ranked in preorder");
    CHECK(weir_vertex_size(g, 5) == 2 && strcmp(weir_vertex_unit(g, 5), "GB") == 0, "memory has its size");
    CHECK(check_same(weir_vertex_get(g, 15, WEIR_PROPERTIES, "gen"), "3"), "properties are set");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

static uint32_t count_out(const weir_graph *g, weir_vertex v, const char *subsystem)
{
    weir_edge e;
    uint32_t n = 0;

    while (weir_vertex_edge(g, v, subsystem, true, n, &e))
        n++;
    return n;
}

static void test_recipe_subsystems(void)
{
    weir_err err = {0};
    weir_graph *g = parse(NULL, power_recipe, &err);
    weir_edge e;
    char buf[256];

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    totals(g, buf, sizeof buf);
    CHECK(strcmp(buf, "cluster=1 rack=2 pdu=2 node=4 panel=1 watt=8") == 0, "%s", buf);
    CHECK(weir_edge_count(g) == 2 + 4 + 8, "%u edges in power", weir_edge_count(g));
    CHECK(count_out(g, weir_graph_root(g, "power", 0), "power") == 2, "the panel feeds two");
    CHECK(count_out(g, at(g, "/cluster0/rack1/pdu1"), "power") == 2, "a pdu feeds the nodes of its rack");
    CHECK(weir_vertex_edge(g, at(g, "/cluster0/rack1/node3"), "power", false, 0, &e) &&
              e.source == at(g, "/cluster0/rack1/pdu1") && strcmp(e.type, "supplies") == 0 &&
              check_same(e.back, "draws"),
          "a node is fed by the pdu of its rack");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

/* Nodes are tied to the nodes that their pdu feeds, but not to themselves; the attributes of the graph are left
 * alone. */
static void test_recipe_peers(void)
{
    static const char text[] = RECIPE(
        D("title", "x") NODE("cluster", D("root", "1")) NODE("pdu", "") NODE("node", "")
            EDGE("cluster", "pdu", D("n", "2")) EDGE("pdu", "node", POWER D("n", "3")) "<node id='peer'>" D(
                "type", "node") "</node>" EDGE("node", "peer",
                                               D("esub", "net") D("rel", "reaches") D("gen", "ASSOCIATE_BY_PATH_IN")
                                                   D("tsub", "power") D("tup", "1") D("sup", "1")));
    weir_err err = {0};
    weir_graph *g = parse(NULL, text, &err);
    char buf[256];
    weir_edge e;

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    totals(g, buf, sizeof buf);
    CHECK(strcmp(buf, "cluster=1 pdu=2 node=6") == 0, "%s", buf);
    CHECK(weir_edge_count(g) == 6 + 6 * 2, "%u edges", weir_edge_count(g));
    for (uint32_t i = 0; weir_edge_get(g, i, &e); i++) {
        weir_edge a, b;
        if (strcmp(e.subsystem, "net") != 0)
            continue;
        CHECK(e.source != e.target && weir_vertex_edge(g, e.source, "power", false, 0, &a) &&
                  weir_vertex_edge(g, e.target, "power", false, 0, &b) && a.source == b.source,
              "edge %u is between two that one pdu feeds", i);
    }
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

/* ---- JSON graphs ----------------------------------------------------------------------------------------------- */

static void test_graph(void)
{
    static const char *const paths[] = {
        "/top0", "/top0/host-07", "/top0/host-07/core0", "/top0/host-07/core1", "/top0/host-07/memory3", "/pdu5", NULL};
    weir_err err = {0};
    weir_graph *g = parse(NULL, small_graph, &err);
    weir_edge e;
    char uuid[37];

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    check_paths(g, paths, "graph");
    CHECK(weir_vertex_id(g, 1) == 7 && weir_vertex_rank(g, 3) == 7 && weir_vertex_rank(g, 0) == WEIR_NO_RANK, "ranks");
    CHECK(weir_vertex_state(g, 1) == WEIR_DOWN && weir_vertex_state(g, 5) == WEIR_DRAINING, "states");
    CHECK(weir_vertex_exclusive(g, 2) && !weir_vertex_exclusive(g, 3), "only \"whole\" makes a pool exclusive");
    CHECK(check_same(weir_vertex_get(g, 1, WEIR_PROPERTIES, "gen"), "3"), "properties");
    CHECK(check_same(weir_vertex_get(g, 2, WEIR_TAGS, "job"), "5"), "ephemeral data are tags");
    CHECK(check_same(weir_vertex_get(g, 5, WEIR_TAGS, "x"), ""), "tags");
    CHECK(check_same(weir_vertex_get(g, 5, WEIR_EXTENDED, "a"), "{\"b\":[1]}"), "extended data");
    weir_vertex_uuid(g, 0, uuid);
    CHECK(strcmp(uuid, "01234567-89ab-cdef-0123-456789abcdef") == 0, "%s", uuid);
    CHECK(weir_edge_count(g) == 1 && weir_vertex_edge(g, 5, "power", true, 0, &e) && e.target == 1 &&
              check_same(e.back, "draws"),
          "the power edge");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

/* A chain of n vertices, root first or last. */
static char *chain(int n, bool last)
{
    weir_buf b = {0};

    weir_buf_puts(&b, "{\"graph\":{\"nodes\":[");
    for (int i = 0; i < n; i++)
        weir_buf_printf(&b, "%s{\"id\":\"%d\",\"metadata\":{\"type\":\"t\",\"id\":%d}}", i ? "," : "",
                        last ? n - 1 - i : i, i);
    weir_buf_puts(&b, "],\"edges\":[");
    for (int i = 1; i < n; i++)
        weir_buf_printf(&b, "%s{\"source\":\"%d\",\"target\":\"%d\"}", i > 1 ? "," : "", i - 1, i);
    weir_buf_puts(&b, "]}}");
    return b.data;
}

static void test_depth(void)
{
    weir_err err = {0};
    char *text = chain(WEIR_PATH_DEPTH, true);
    weir_graph *g = parse("jgf", text, &err);

    CHECK(g != NULL, "a chain of %d: %s", WEIR_PATH_DEPTH, err.text);
    weir_graph_free(g);
    weir_mem_free(text);
    text = chain(50000, false);
    g = parse("jgf", text, &err);
    CHECK(g == NULL && err.code == WEIR_ELIMIT && strstr(err.text, "more than 200 levels deep"), "%s", err.text);
    weir_graph_free(g);
    weir_mem_free(text);
}

/* ---- R ----------------------------------------------------------------------------------------------------------- */

static void test_r(void)
{
    static const char *const paths[] = {
        "/cluster0",      "/cluster0/n8",         "/cluster0/n8/core0",   "/cluster0/n9",        "/cluster0/n9/core0",
        "/cluster0/m007", "/cluster0/m007/core2", "/cluster0/m007/core3", "/cluster0/m007/gpu1", NULL};
    weir_err err = {0};
    weir_graph *g = parse(NULL, small_r, &err);

    if (!CHECK(g != NULL, "%s", err.text))
        return;
    check_paths(g, paths, "R");
    CHECK(weir_vertex_rank(g, 2) == 0 && weir_vertex_rank(g, 4) == 2 && weir_vertex_rank(g, 8) == 3, "ranks");
    CHECK(weir_vertex_id(g, 5) == 7, "the id is in the name");
    CHECK(weir_vertex_get(g, 1, WEIR_PROPERTIES, "big") && !weir_vertex_get(g, 3, WEIR_PROPERTIES, "big"),
          "properties");
    CHECK(weir_vertex_get(g, 5, WEIR_PROPERTIES, "mi50@gpu") && weir_vertex_get(g, 8, WEIR_PROPERTIES, "mi50"),
          "suffix");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
    g = parse(NULL, R("\"R_lite\":[" ENTRY("1-2", "\"core\":\"0\"") "]"), &err);
    CHECK(g && weir_graph_count(g) == 5 && at(g, "/cluster0/node2") != WEIR_NONE, "no nodelist: %s", err.text);
    weir_graph_free(g);
}

/* ---- hwloc ------------------------------------------------------------------------------------------------------- */

static void test_hwloc(void)
{
    static const char *const paths[] = {"/cluster0", "/cluster0/box12", "/cluster0/box12/core0",
                                        "/cluster0/box12/memory0", NULL};
    static const char *const all[] = {"/cluster0",
                                      "/cluster0/box12",
                                      "/cluster0/box12/core0",
                                      "/cluster0/box12/core0/pu0",
                                      "/cluster0/box12/core1",
                                      "/cluster0/box12/core1/pu1",
                                      "/cluster0/box12/memory0",
                                      NULL};
    weir_err err = {0};
    weir_graph *g = parse(NULL, small_topology, &err);

    if (CHECK(g != NULL, "%s", err.text)) {
        check_paths(g, paths, "hwloc");
        CHECK(weir_vertex_size(g, 3) == 3, "3 MB of memory");
    }
    weir_graph_free(g);
    g = parse("hwloc:pu,all", small_topology, &err);
    if (CHECK(g != NULL, "%s", err.text))
        check_paths(g, all, "hwloc:pu,all");
    weir_graph_free(g);
}

static void test_discover(void)
{
    weir_err err = {0};
    weir_graph *g = NULL;
    uint32_t cores = 0;

    if (!CHECK(weir_graph_discover(&g, &err) == WEIR_OK, "%s", err.text))
        return;
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++)
        cores += strcmp(weir_vertex_type(g, v), "core") == 0;
    CHECK(cores > 0 && weir_vertex_rank(g, 1) == 0 && strcmp(weir_vertex_type(g, 1), "node") == 0, "a node with cores");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

/* ---- guesses ------------------------------------------------------------------------------------------------------
 */

static void test_guess(void)
{
    static const struct {
        const char *text, *format;
    } cases[] = {
        {"", NULL},
        {"  \n", NULL},
        {"node:4 core:8", "synthetic"},
        {"\xef\xbb\xbf  cluster:1", "synthetic"},
        {"node:-1", "synthetic"},
        {"node", NULL},
        {"version: 1", NULL},
        {"return { type = 'cluster' }", NULL},
        {"-- a recipe\nreturn {}", NULL},
        {"{\"graph\":{}}", "jgf"},
        {"{\"a\":{\"graph\":1},\"b\\\"\":\"execution\"}", NULL},
        {"{\"version\":1,\"execution\":{}}", "rv1"},
        {"{\"scheduling\":{\"graph\":{}}}", "rv1"},
        {"{\"a", NULL},
        {"[1]", NULL},
        {"<?xml version='1.0'?><!-- <graphml> --><topology>", "hwloc"},
        {"<graphml>", "grug"},
        {"<html>", NULL},
        {"<!-- <graphml>", NULL},
        {"<", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *format = weir_format_guess(cases[i].text, strlen(cases[i].text));
        CHECK(check_same(format, cases[i].format), "%s is %s", cases[i].text, format ? format : "nothing");
    }
    CHECK(weir_format_guess("\0\1\2\377", 4) == NULL, "junk");
}

int main(void)
{
    test_synthetic_tree();
    test_synthetic_ids();
    test_synthetic_scopes();
    test_recipe();
    test_recipe_subsystems();
    test_recipe_peers();
    test_graph();
    test_depth();
    test_r();
    test_hwloc();
    test_discover();
    test_guess();
    if (data_there()) {
        test_real();
        test_large();
        test_real_details();
    }
    return check_report();
}
