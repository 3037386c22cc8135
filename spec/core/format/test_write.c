/* test_write.c - the writers: R, JSON graphs, trees. Machines of a few vertices against texts written by
 * hand, machines of the test data there and back, random picks against an obvious reckoning, failing allocations.
 */
#include "check.h"
#include "machines.h"

#include <jansson.h>

#include "idset/idset.h"

/* ---- machines ------------------------------------------------------------------------------------------------- */

/* A node of two sockets with 4 cores, a gpu and 64 GB each. */
static weir_vertex add_node(weir_graph *g, weir_vertex rack, int64_t id, int64_t rank)
{
    weir_vertex node = add_pools(g, rack, "node", id, 1);

    CHECK(weir_vertex_set_rank(g, node, rank, NULL) == WEIR_OK, "rank %lld", (long long)rank);
    for (int64_t s = 0; s < 2; s++) {
        weir_vertex socket = add_pools(g, node, "socket", s, 1);
        add_pools(g, socket, "core", 4 * s, 4);
        add_pools(g, socket, "gpu", s, 1);
        add_pools(g, socket, "memory", s, 1);
    }
    return node;
}

/* Two racks of two nodes. */
static weir_graph *machine(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex cluster = add_pools(g, WEIR_NONE, "cluster", 0, 1);

    for (int64_t r = 0; r < 2; r++) {
        weir_vertex rack = add_pools(g, cluster, "rack", r, 1);
        add_node(g, rack, 2 * r, 2 * r);
        add_node(g, rack, 2 * r + 1, 2 * r + 1);
    }
    return g;
}

static weir_vertex find(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, path, &v, &err) == WEIR_OK, "%s: %s", path, err.text);
    return v;
}

/* ---- allocations ---------------------------------------------------------------------------------------------- */

#define PICKS 8
#define ALL   (-1)

struct want {
    const char *path;
    int64_t amount; /* ALL: the whole vertex */
};

static weir_allocation allocation(const weir_graph *g, const struct want *want, weir_pick picks[PICKS])
{
    weir_allocation a = {1, 0, WEIR_FOREVER, WEIR_MATCHED, picks, 0, 0, 0};

    while (a.npicks < PICKS && want[a.npicks].path) {
        const struct want *w = &want[a.npicks];
        weir_vertex v = find(g, w->path);
        picks[a.npicks++] = (weir_pick){v, 0, w->amount == ALL ? weir_vertex_size(g, v) : w->amount, w->amount == ALL};
    }
    return a;
}

/* The text of an allocation in a format must be `expected`. */
static void expect_text(const weir_graph *g, const weir_allocation *a, const char *format, const char *expected,
                        const char *what)
{
    weir_err err = {0};
    char *text = a ? weir_allocation_format(g, a, format, &err) : weir_graph_format(g, format, &err);

    CHECK(check_same(text, expected), "%s, %s: got (%s)\n%s\nnot\n%s\n", what, format, err.text,
          text ? text : "nothing", expected);
    weir_free(text);
}

static const struct allocation_row {
    const char *what;
    struct want want[PICKS];
    const char *rlite, *nodelist;
} allocation_rows[] = {
    {"nothing", {{0}}, "[]", "[]"},
    {"a node",
     {{"/cluster0/rack0/node1", ALL}},
     "[{\"rank\":\"1\",\"children\":{\"core\":\"0-7\",\"gpu\":\"0-1\"}}]",
     "[\"node1\"]"},
    {"nodes in disorder, and a core of one of them",
     {{"/cluster0/rack1/node2", ALL},
      {"/cluster0/rack0/node1/socket1/core5", ALL},
      {"/cluster0/rack0/node1", ALL},
      {"/cluster0/rack0/node0", ALL}},
     "[{\"rank\":\"0-2\",\"children\":{\"core\":\"0-7\",\"gpu\":\"0-1\"}}]",
     "[\"node[0-2]\"]"},
    {"parts",
     {{"/cluster0/rack0/node1/socket0/core2", ALL},
      {"/cluster0/rack0/node1/socket0/core0", ALL},
      {"/cluster0/rack0/node1/socket0/core1", ALL},
      {"/cluster0/rack0/node1/socket0/memory0", 24},
      {"/cluster0/rack0/node0/socket1", ALL},
      {"/cluster0/rack1/node3", 0}},
     "[{\"rank\":\"0\",\"children\":{\"core\":\"4-7\",\"gpu\":\"1\"}},"
     "{\"rank\":\"1\",\"children\":{\"core\":\"0-2\"}},"
     "{\"rank\":\"3\",\"children\":{\"core\":\"\"}}]",
     "[\"node[0-1,3]\"]"},
    {"a part twice",
     {{"/cluster0/rack0/node0/socket0/memory0", 24}, {"/cluster0/rack0/node0/socket0/memory0", 8}},
     "[{\"rank\":\"0\",\"children\":{\"core\":\"\"}}]",
     "[\"node0\"]"},
    {"a rack",
     {{"/cluster0/rack1", ALL}},
     "[{\"rank\":\"2-3\",\"children\":{\"core\":\"0-7\",\"gpu\":\"0-1\"}}]",
     "[\"node[2-3]\"]"},
    {"everything",
     {{"/cluster0", ALL}},
     "[{\"rank\":\"0-3\",\"children\":{\"core\":\"0-7\",\"gpu\":\"0-1\"}}]",
     "[\"node[0-3]\"]"},
};

static void test_allocations(void)
{
    weir_graph *g = machine();

    for (size_t i = 0; i < sizeof allocation_rows / sizeof *allocation_rows; i++) {
        const struct allocation_row *row = &allocation_rows[i];
        weir_pick picks[PICKS];
        weir_allocation a = allocation(g, row->want, picks);
        char r[1024];
        snprintf(r, sizeof r,
                 "{\"version\":1,\"execution\":{\"R_lite\":%s,\"nodelist\":%s,\"starttime\":0,\"expiration\":0}}",
                 row->rlite, row->nodelist);
        expect_text(g, &a, "rlite", row->rlite, row->what);
        expect_text(g, &a, "rv1_nosched", r, row->what);
    }
    weir_graph_free(g);
}

static void expect_error(const weir_graph *g, const weir_allocation *a, const char *format, const char *part)
{
    weir_err err = {0};
    char *text = a ? weir_allocation_format(g, a, format, &err) : weir_graph_format(g, format, &err);

    CHECK(!text && err.code == WEIR_EINVAL && strstr(err.text, part), "%s: got %s (%s), not \"%s\"", format,
          text ? text : "nothing", err.text, part);
    weir_free(text);
}

/* ---- times ---------------------------------------------------------------------------------------------------- */

static void test_times(void)
{
    static const struct {
        int64_t start, end;
        const char *expected;
    } rows[] = {
        {0, WEIR_FOREVER, "\"starttime\":0,\"expiration\":0"},
        {1676560542000000, 1676562342000000, "\"starttime\":1676560542,\"expiration\":1676562342"},
        {1, 1500000, "\"starttime\":0.000001,\"expiration\":1.5"},
        {-1500000, 10000010, "\"starttime\":-1.5,\"expiration\":10.00001"},
        {WEIR_FOREVER - 1, WEIR_FOREVER, "\"starttime\":9223372036854.775806,\"expiration\":0"},
    };
    weir_graph *g = weir_graph_new();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_allocation a = {1, rows[i].start, rows[i].end, WEIR_MATCHED, NULL, 0, 0, 0};
        char text[256];
        snprintf(text, sizeof text, "{\"version\":1,\"execution\":{\"R_lite\":[],\"nodelist\":[],%s}}",
                 rows[i].expected);
        expect_text(g, &a, "rv1_nosched", text, "times");
    }
    weir_graph_free(g);
}

/* ---- ranks, ids, properties ----------------------------------------------------------------------------------- */

/* Ranks against the order of the nodes, a rank on sockets, nodes without a rank. */
static void test_ranks(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex a = add_pools(g, WEIR_NONE, "node", 7, 1), b = add_pools(g, WEIR_NONE, "node", 8, 1), s;
    weir_pick picks[3] = {{a, 0, 1, true}, {b, 0, 1, true}, {WEIR_NONE, 0, 1, true}};
    weir_allocation all = {1, 0, WEIR_FOREVER, WEIR_MATCHED, picks, 2, 0, 0};

    add_pools(g, a, "core", 0, 3);
    add_pools(g, b, "core", 0, 2);
    s = add_pools(g, b, "socket", 0, 1);
    add_pools(g, s, "core", 2, 1);
    expect_text(g, &all, "rv1_nosched",
                "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0-2\"}}],"
                "\"nodelist\":[\"node[7-8]\"],\"starttime\":0,\"expiration\":0}}",
                "no ranks: nodes are numbered");
    picks[0].vertex = b;
    all.npicks = 1;
    expect_text(g, &all, "rlite", "[{\"rank\":\"1\",\"children\":{\"core\":\"0-2\"}}]",
                "no ranks: in the order of the graph");
    picks[0].vertex = a;
    all.npicks = 2;
    CHECK(weir_vertex_set_rank(g, a, 9, NULL) == WEIR_OK, "rank 9");
    expect_error(g, &all, "rlite", "R wants a rank for every node: /node8 has none, and others have one");
    CHECK(weir_vertex_set_rank(g, b, 4, NULL) == WEIR_OK, "rank 4");
    expect_text(g, &all, "rv1_nosched",
                "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"4,9\",\"children\":{\"core\":\"0-2\"}}],"
                "\"nodelist\":[\"node[8,7]\"],\"starttime\":0,\"expiration\":0}}",
                "ranks against the order");
    CHECK(weir_vertex_set_rank(g, s, 5, NULL) == WEIR_OK, "rank 5");
    expect_text(g, &all, "rv1_nosched",
                "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"4\",\"children\":{\"core\":\"0-1\"}},"
                "{\"rank\":\"5\",\"children\":{\"core\":\"2\"}},{\"rank\":\"9\",\"children\":{\"core\":\"0-2\"}}],"
                "\"nodelist\":[\"node[8,8,7]\"],\"starttime\":0,\"expiration\":0}}",
                "a rank inside a rank");
    weir_graph_free(g);
}

static void test_properties(void)
{
    weir_graph *g = machine();
    weir_vertex node = find(g, "/cluster0/rack0/node0"), other = find(g, "/cluster0/rack1/node3");
    weir_pick picks[2] = {{node, 0, 1, true}, {other, 0, 1, true}};
    weir_allocation a = {1, 0, WEIR_FOREVER, WEIR_MATCHED, picks, 2, 0, 0};
    static const char *const keys[] = {"ssd", "+queue", "a|b", "fast@gpu", "perf_class"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        CHECK(weir_vertex_set(g, node, WEIR_PROPERTIES, keys[i], i == 4 ? "3" : "", NULL) == WEIR_OK, "%s", keys[i]);
        if (i % 2 == 0)
            CHECK(weir_vertex_set(g, other, WEIR_PROPERTIES, keys[i], "", NULL) == WEIR_OK, "%s", keys[i]);
    }
    expect_text(g, &a, "rv1_nosched",
                "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0,3\",\"children\":{\"core\":\"0-7\",\"gpu\":"
                "\"0-1\"}}],\"nodelist\":[\"node[0,3]\"],\"properties\":{\"fast@gpu\":\"0\",\"perf_class\":\"0,3\","
                "\"ssd\":\"0,3\"},\"starttime\":0,\"expiration\":0}}",
                "properties");
    weir_graph_free(g);
}

/* ---- errors --------------------------------------------------------------------------------------------------- */

static void test_errors(void)
{
    weir_graph *g = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex node, core;
    weir_pick pick = {0, 0, 1, true};
    weir_allocation a = {1, 0, WEIR_FOREVER, WEIR_MATCHED, &pick, 1, 0, 0};

    expect_error(g, &a, "rlite", "vertex 0, which is not in the graph");
    expect_error(g, NULL, "xml", "expected one of jgf, document, rv1, rv1_nosched, rlite, csv");
    expect_error(g, NULL, NULL, "expected one of jgf, document, rv1, rv1_nosched, rlite, csv");
    expect_error(g, &a, "dot", "one of jgf, jgf_shorthand, rv1, rv1_nosched, rv1_shorthand, rlite");
    d.type = "node";
    d.name = "no de";
    d.rank = 0;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &node, NULL) == WEIR_OK, "a node");
    pick.vertex = node;
    expect_text(g, &a, "rlite", "[{\"rank\":\"0\",\"children\":{\"core\":\"\"}}]", "a name with a blank");
    expect_error(g, &a, "rv1", "host name");
    core = add_pools(g, node, "core", INT64_C(1) << 32, 1);
    expect_error(g, &a, "rlite", "/no de/core4294967296 is outside");
    CHECK(weir_graph_unlink(g, core, NULL) == WEIR_OK, "the core goes");
    add_pools(g, node, "core", WEIR_NO_ID, 1);
    expect_error(g, &a, "rv1", "/no de/core is outside");
    weir_graph_free(g);
}

/* ---- JSON graphs ---------------------------------------------------------------------------------------------- */

#define UUID(n) "00000000-0000-4000-8000-00000000000" n

/* A machine whose vertices have every property. */
static weir_graph *rich_machine(void)
{
    weir_graph *g = weir_graph_new();
    weir_pool_desc top = {"cluster", NULL, "c\"\\\xff\xc3\xa9", NULL, UUID("1"), WEIR_NO_ID, 1, WEIR_NO_RANK, false};
    weir_pool_desc disk = {"ssd", "nvme", NULL, "GiB", UUID("2"), 3, 100, 5, true};
    weir_pool_desc pdu = {"pdu", NULL, NULL, NULL, UUID("3"), 0, 1, WEIR_NO_RANK, false};
    weir_vertex a, b, c;

    CHECK(weir_graph_add(g, WEIR_NONE, &top, &a, NULL) == WEIR_OK, "a cluster");
    CHECK(weir_graph_add(g, a, &disk, &b, NULL) == WEIR_OK, "a disk");
    CHECK(weir_graph_add(g, WEIR_NONE, &pdu, &c, NULL) == WEIR_OK, "a power unit");
    CHECK(weir_vertex_set_state(g, b, WEIR_DRAINING, NULL) == WEIR_OK, "draining");
    CHECK(weir_vertex_set_state(g, c, WEIR_DEGRADED, NULL) == WEIR_OK, "degraded");
    CHECK(weir_vertex_set(g, b, WEIR_PROPERTIES, "fast", "", NULL) == WEIR_OK, "a property");
    CHECK(weir_vertex_set(g, b, WEIR_PROPERTIES, "k", "v", NULL) == WEIR_OK, "a property");
    CHECK(weir_vertex_set(g, b, WEIR_TAGS, "t", "1", NULL) == WEIR_OK, "a tag");
    CHECK(weir_vertex_set(g, b, WEIR_EXTENDED, "json", "{\"a\":[1, 2]}", NULL) == WEIR_OK, "extended");
    CHECK(weir_vertex_set(g, b, WEIR_EXTENDED, "text", "1]", NULL) == WEIR_OK, "extended");
    CHECK(weir_edge_add(g, c, a, "power", "supplies", "drawn", NULL) == WEIR_OK, "an edge");
    CHECK(weir_edge_add(g, c, b, "power", "supplies", NULL, NULL) == WEIR_OK, "an edge");
    return g;
}

#define RICH_NAME "c\\\"\\\\\xef\xbf\xbd\xc3\xa9"
#define RICH_TOP                                                                                                       \
    "{\"id\":\"0\",\"metadata\":{\"type\":\"cluster\",\"uuid\":\"" UUID(                                               \
        "1") "\",\"basename\":\"cluster\",\"name\":"                                                                   \
             "\"" RICH_NAME                                                                                            \
             "\",\"id\":-1,\"properties\":{},\"size\":1,\"unit\":\"\",\"rank\":-1,\"paths\":{\"containment\":"         \
             "\"/" RICH_NAME "\",\"power\":\"/pdu0/" RICH_NAME "\"}}}"
#define RICH_DISK(size, own)                                                                                           \
    "{\"id\":\"1\",\"metadata\":{\"type\":\"ssd\",\"uuid\":\"" UUID(                                                   \
        "2") "\",\"basename\":\"nvme\",\"name\":\"nvme3\","                                                            \
             "\"id\":3,\"properties\":{\"fast\":\"\",\"k\":\"v\"},\"size\":" size ",\"unit\":\"GiB\",\"rank\":5," own  \
             "\"whole\":true,\"status\":1,\"state\":\"draining\",\"tags\":{\"t\":\"1\"},\"extended\":{\"json\":{"      \
             "\"a\":[1, 2]}},"                                                                                         \
             "\"extended_text\":{\"text\":\"1]\"},\"paths\":{\"containment\":\"/" RICH_NAME "/nvme3\","                \
             "\"power\":\"/pdu0/nvme3\"}}}"
#define RICH_EDGE                                                                                                      \
    "{\"source\":\"0\",\"target\":\"1\",\"metadata\":{\"subsystem\":\"containment\",\"relationship\":\"contains\"}}"

static void test_jgf(void)
{
    weir_graph *g = rich_machine();
    weir_pick pick = {1, 0, 40, false};
    weir_allocation a = {1, 0, WEIR_FOREVER, WEIR_MATCHED, &pick, 1, 0, 0};

    CHECK(weir_graph_set_uuid(g, UUID("9"), NULL) == WEIR_OK, "a UUID of the graph");
    expect_text(g, NULL, "jgf",
                "{\"graph\":{\"metadata\":{\"uuid\":\"" UUID("9") "\"},\"nodes\":[" RICH_TOP "," RICH_DISK(
                    "100", "") ","
                               "{\"id\":\"2\",\"metadata\":{\"type\":\"pdu\",\"uuid\":\"" UUID(
                                   "3") "\",\"basename\":\"pdu\",\"name\":"
                                        "\"pdu0\",\"id\":0,\"properties\":{},\"size\":1,\"unit\":\"\","
                                        "\"rank\":-1,\"state\":\"degraded\","
                                        "\"paths\":{\"power\":\"/pdu0\"}}}],\"edges\":[" RICH_EDGE ","
                                        "{\"source\":\"2\",\"target\":\"0\",\"metadata\":{\"subsystem\":"
                                        "\"power\",\"relationship\":\"supplies\","
                                        "\"back\":\"drawn\"}},"
                                        "{\"source\":\"2\",\"target\":\"1\",\"metadata\":{\"subsystem\":"
                                        "\"power\",\"relationship\":\"supplies\"}}"
                                        "]}}",
                "everything");
    expect_text(g, &a, "jgf",
                "{\"graph\":{\"nodes\":[" RICH_TOP
                "," RICH_DISK("40", "\"shares\":{\"1\":40},") "],\"edges\":[" RICH_EDGE "]}}",
                "a part");
    pick.exclusive = true;
    expect_text(g, &a, "jgf",
                "{\"graph\":{\"nodes\":[" RICH_TOP "," RICH_DISK("100", "\"exclusive\":true,") "],\"edges\":[" RICH_EDGE
                                                                                               "]}}",
                "a whole");
    expect_text(
        g, &a, "rv1",
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"5\",\"children\":{\"core\":\"\"}}],\"nodelist\":["
        "\"nvme3\"],\"properties\":{\"fast\":\"5\",\"k\":\"5\"},\"starttime\":0,\"expiration\":0},\"scheduling\":{"
        "\"graph\":"
        "{\"nodes\":[" RICH_TOP "," RICH_DISK("100", "\"exclusive\":true,") "],\"edges\":[" RICH_EDGE "]}}}",
        "R with its graph");
    weir_graph_free(g);
}

/* round trips */

static char *write_graph(const weir_graph *g, const char *format)
{
    weir_err err = {0};
    char *text = weir_graph_format(g, format, &err);
    json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

    CHECK(text, "%s: %s", format, err.text);
    if (strcmp(format, "jgf") == 0 || strcmp(format, "rv1") == 0)
        CHECK(json, "%s is JSON", format);
    json_decref(json);
    return text;
}

static weir_graph *read_graph(const char *text, const char *format, const char *what)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(text && weir_graph_parse(text, strlen(text), what, format, &g, &err) == WEIR_OK, "%s: %s", what, err.text);
    return g;
}

/* A graph written, read and written again: equal texts from the second time on, and equal tables always. */
static void round_trip(const weir_graph *g, const char *format, const char *what)
{
    char *first = write_graph(g, format), *second = NULL, *third = NULL, *table[2] = {NULL, NULL};
    weir_graph *copy = read_graph(first, format, what), *again = NULL;

    if (copy) {
        second = write_graph(copy, format);
        again = read_graph(second, format, what);
        table[0] = write_graph(g, "csv");
        table[1] = write_graph(copy, "csv");
        CHECK(check_same(table[0], table[1]), "%s, %s: the same machine", what, format);
        if (strcmp(format, "jgf") == 0) {
            weir_err err = {0};
            CHECK(weir_graph_compare(g, copy, false, &err) == WEIR_OK, "[M1] %s: %s", what, err.text);
        }
    }
    if (again) {
        third = write_graph(again, format);
        CHECK(check_same(second, third), "%s, %s: the same text", what, format);
    }
    weir_graph_free(copy);
    weir_graph_free(again);
    weir_free(first);
    weir_free(second);
    weir_free(third);
    weir_free(table[0]);
    weir_free(table[1]);
}

static void test_round_trips(void)
{
    static const char *const files[] = {"machines/jgf/tiny.json", "machines/jgf/4node.rank0123.nid0123.orig.json",
                                        "machines/jgf/hwloc_4core.json", "r/rfc/example1.json",
                                        "r/flux-sched-rv1exec/tiny_rv1exec.json"};
    weir_graph *g = machine();

    CHECK(weir_vertex_set_state(g, find(g, "/cluster0/rack0/node1"), WEIR_FAILING, NULL) == WEIR_OK, "failing");
    CHECK(weir_vertex_set(g, find(g, "/cluster0"), WEIR_TAGS, "owner", "us", NULL) == WEIR_OK, "a tag");
    round_trip(g, "jgf", "own machine");
    round_trip(g, "rv1", "own machine");
    weir_graph_free(g);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        weir_err err = {0};
        if (weir_graph_load(check_data(files[i], path, sizeof path), NULL, &g, &err) != WEIR_OK) {
            printf("skipped: %s (%s)\n", path, err.text);
            continue;
        }
        round_trip(g, "jgf", files[i]);
        weir_graph_free(g);
    }
}

/* R without its graph, read and written again, is an equal R. */
static void test_rlite_round_trip(void)
{
    weir_graph *g = machine(), *copy;
    weir_pick picks[PICKS];
    weir_allocation a =
        allocation(g, (struct want[]){{"/cluster0/rack0", ALL}, {"/cluster0/rack1/node3/socket1", ALL}, {0}}, picks);
    char *first = weir_allocation_format(g, &a, "rv1_nosched", NULL), *second = NULL;
    weir_pick all = {0, 0, 1, true};
    weir_allocation whole = {1, 0, WEIR_FOREVER, WEIR_MATCHED, &all, 1, 0, 0};

    copy = read_graph(first, NULL, "R");
    if (copy)
        second = weir_allocation_format(copy, &whole, "rv1_nosched", NULL);
    CHECK(check_same(first, second), "R of an R: %s, %s", first, second ? second : "nothing");
    weir_free(first);
    weir_free(second);
    weir_graph_free(copy);
    weir_graph_free(g);
}

/* ---- random picks against an obvious reckoning ----------------------------------------------------------------- */

/* Whether the allocation has v: picked itself, or below an exclusive pick. */
static bool taken(const weir_graph *g, const weir_allocation *a, weir_vertex v)
{
    for (uint32_t i = 0; i < a->npicks; i++)
        if (a->picks[i].vertex == v || (a->picks[i].exclusive && weir_vertex_within(g, v, a->picks[i].vertex)))
            return true;
    return false;
}

/* Whether R_lite gives a rank the core or gpu v. */
static bool in_rlite(const weir_graph *g, const json_t *rlite, weir_vertex v)
{
    for (size_t i = 0; i < json_array_size(rlite); i++) {
        const json_t *entry = json_array_get(rlite, i), *children = json_object_get(entry, "children");
        const char *ranks = json_string_value(json_object_get(entry, "rank"));
        const char *ids = json_string_value(json_object_get(children, weir_vertex_type(g, v)));
        weir_idset *r = NULL, *c = NULL;
        bool found = ranks && ids && weir_idset_parse(ranks, strlen(ranks), &r, NULL) == WEIR_OK &&
                     weir_idset_parse(ids, strlen(ids), &c, NULL) == WEIR_OK &&
                     weir_idset_test(r, (uint32_t)weir_vertex_rank(g, v)) &&
                     weir_idset_test(c, (uint32_t)weir_vertex_id(g, v));
        weir_idset_free(r);
        weir_idset_free(c);
        if (found)
            return true;
    }
    return false;
}

static bool in_jgf(const json_t *nodes, weir_vertex v)
{
    char id[16];

    snprintf(id, sizeof id, "%u", v);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (check_same(json_string_value(json_object_get(json_array_get(nodes, i), "id")), id))
            return true;
    return false;
}

/* Whether v is above a vertex of the allocation. */
static bool above_taken(const weir_graph *g, const weir_allocation *a, weir_vertex v)
{
    for (uint32_t i = 0; i < a->npicks; i++)
        if (weir_vertex_within(g, a->picks[i].vertex, v))
            return true;
    return false;
}

static void compare_random(const weir_graph *g, const weir_allocation *a)
{
    char *text = weir_allocation_format(g, a, "rv1", NULL);
    json_t *r = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *rlite = json_object_get(json_object_get(r, "execution"), "R_lite");
    const json_t *graph = json_object_get(json_object_get(r, "scheduling"), "graph");
    const json_t *nodes = json_object_get(graph, "nodes");
    size_t vertices = 0;

    CHECK(r, "R is JSON");
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++) {
        const char *type = weir_vertex_type(g, v);
        bool has = taken(g, a, v), listed = has || above_taken(g, a, v);
        vertices += listed;
        CHECK(in_jgf(nodes, v) == listed, "vertex %u in the graph: %s", v, text);
        if (strcmp(type, "core") == 0 || strcmp(type, "gpu") == 0)
            CHECK(in_rlite(g, rlite, v) == has, "vertex %u in R_lite: %s", v, text);
    }
    CHECK(json_array_size(nodes) == vertices, "each vertex once: %s", text);
    CHECK(json_array_size(json_object_get(graph, "edges")) + 1 == vertices, "a tree: %s", text);
    json_decref(r);
    weir_free(text);
}

static void test_random(void)
{
    weir_graph *g = machine();
    uint32_t state = 1;

    for (int n = 0; n < 200; n++) {
        weir_pick picks[PICKS];
        weir_allocation a = {1, 0, WEIR_FOREVER, WEIR_MATCHED, picks, 0, 0, 0};
        uint32_t count = 1 + (state >> 16) % PICKS;
        while (a.npicks < count) {
            state = state * 1664525u + 1013904223u;
            weir_vertex v = 1 + (state >> 12) % (weir_graph_limit(g) - 1);
            picks[a.npicks++] = (weir_pick){v, 0, 1, (state >> 28) % 2 == 0};
        }
        compare_random(g, &a);
    }
    weir_graph_free(g);
}

/* ---- large things --------------------------------------------------------------------------------------------- */

/* Many nodes with two sets of cores in turn, and a name longer than any buffer. */
static void test_many(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex cluster = add_pools(g, WEIR_NONE, "cluster", 0, 1);
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    static char name[10001];
    char *text;

    weir_graph_begin(g);
    for (int64_t i = 0; i < 3000; i++) {
        weir_vertex node = add_pools(g, cluster, "node", i, 1);
        CHECK(weir_vertex_set_rank(g, node, i, NULL) == WEIR_OK, "a rank");
        add_pools(g, node, "core", 0, i % 1000 == 0 ? 3 : 4);
    }
    CHECK(weir_graph_end(g, NULL) == WEIR_OK, "the end");
    text = weir_graph_format(g, "rv1", NULL);
    CHECK(text && strstr(text, "\"R_lite\":[{\"rank\":\"0,1000,2000\",\"children\":{\"core\":\"0-2\"}},{\"rank\":"
                               "\"1-999,1001-1999,2001-2999\",\"children\":{\"core\":\"0-3\"}}],\"nodelist\":["
                               "\"node[0-2999]\"],\"starttime\":0,\"expiration\":0}"),
          "two entries");
    weir_free(text);
    memset(name, 'x', sizeof name - 1);
    d.type = "core";
    d.name = name;
    CHECK(weir_graph_add(g, cluster, &d, NULL, NULL) == WEIR_OK, "a long name");
    for (size_t i = 0; i < 2; i++) {
        text = weir_graph_format(g, (const char *[]){"jgf", "csv"}[i], NULL);
        CHECK(text && strstr(text, name), "the long name is there");
        weir_free(text);
    }
    weir_graph_free(g);
}

/* ---- failing allocations -------------------------------------------------------------------------------------- */

struct attempt {
    const weir_graph *g;
    const weir_allocation *a;
    const char *format;
};

static int format_once(void *arg)
{
    const struct attempt *t = arg;
    weir_err err = {0};
    char *text = t->a ? weir_allocation_format(t->g, t->a, t->format, &err) : weir_graph_format(t->g, t->format, &err);
    bool whole = text != NULL;

    weir_free(text);
    return whole ? WEIR_OK : err.code;
}

static void test_nomem(void)
{
    static const char *const formats[] = {"rv1", "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand"};
    weir_graph *g = machine();
    weir_pick picks[PICKS];
    weir_allocation a = allocation(g,
                                   (struct want[]){{"/cluster0/rack1/node3", ALL},
                                                   {"/cluster0/rack0/node1/socket0/core1", ALL},
                                                   {"/cluster0/rack0/node0/socket0/memory0", 24},
                                                   {0}},
                                   picks);

    CHECK(weir_vertex_set(g, find(g, "/cluster0/rack1/node3"), WEIR_PROPERTIES, "p", "", NULL) == WEIR_OK, "property");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bool for_graphs = !strstr(formats[i], "shorthand");
        check_nomem(format_once, &(struct attempt){g, &a, formats[i]}, formats[i]);
        if (for_graphs)
            check_nomem(format_once, &(struct attempt){g, NULL, formats[i]}, formats[i]);
    }
    weir_graph_free(g);
}

int main(void)
{
    test_allocations();
    test_times();
    test_ranks();
    test_properties();
    test_errors();
    test_jgf();
    test_round_trips();
    test_rlite_round_trip();
    test_random();
    test_many();
    test_nomem();
    return check_report();
}
