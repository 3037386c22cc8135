/* test_rset_graph.c - resource sets and machines: parts of a graph that add up, the machine of a set, the set of a
 * machine, validation.
 */
#include "rsets.h"

/* [R8] Cuts a into the part b and the rest: together they are a again, to the last byte. `texts`: written and read
 * between. */
static void add_up(const weir_rset *a, const weir_rset *b, bool texts)
{
    weir_rset *rest = NULL, *part = NULL, *sum = NULL;
    weir_err err = {0};
    char *whole = weir_rset_format(a, "rv1", NULL), *text;

    CHECK(weir_rset_combine(WEIR_RSET_DIFF, a, b, &rest, NULL) == WEIR_OK, "the rest");
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, a, b, &part, NULL) == WEIR_OK, "the part");
    for (int i = 0; texts && i < 2; i++) {
        weir_rset **r = i ? &rest : &part;
        text = weir_rset_format(*r, "rv1", NULL);
        weir_rset_free(*r);
        *r = must_read(text);
        weir_free(text);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(weir_rset_combine(WEIR_RSET_UNION, i ? rest : part, i ? part : rest, &sum, &err) == WEIR_OK, "%s",
              err.text);
        expect_format(sum, "rv1", whole, texts ? "parts as texts" : "parts");
        weir_rset_free(sum);
        sum = NULL;
    }
    weir_rset_free(rest);
    weir_rset_free(part);
    weir_free(whole);
}

static void test_parts(void)
{
    static const char *const parts[] = {"rank0/core[0-3],gpu[0-1]",     "rank[1-2]/core[0-3],gpu[0-1]",
                                        "rank[0-3]/core[0-1]",          "rank3/core[1,3],gpu1",
                                        "rank[0-3]/core[0-3],gpu[0-1]", "",
                                        "rank0/core0 rank2/gpu0"};
    weir_graph *g = machine();
    weir_rset *r = set_of(g);

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        weir_rset *b = from_rlist(parts[i]), *named = NULL;
        char text[4096], *rlite = weir_rset_format(b, "rlite", NULL);
        snprintf(text, sizeof text, "{\"version\":1,\"execution\":{\"R_lite\":%s}}", rlite);
        named = must_read(text);
        add_up(r, named, false);
        add_up(r, named, true);
        weir_rset_free(named);
        weir_rset_free(b);
        weir_free(rlite);
    }
    weir_rset_free(r);
    weir_graph_free(g);
}

static int64_t total(const weir_graph *g, const char *type)
{
    weir_aggregate a = {.total = 0};
    int64_t found = 0;

    for (uint32_t i = 0; weir_graph_aggregate(g, WEIR_NONE, i, &a); i++)
        if (strcmp(a.type, type) == 0)
            found = a.total;
    CHECK(weir_graph_total(g, type) == found, "the total of %s alone is that among all types", type);
    return found;
}

static void expect_machine(const weir_rset *r, const char *expected, const char *what)
{
    static const char *const types[] = {"cluster", "rack", "node", "socket", "core", "gpu", "memory"};
    weir_graph *g = NULL;
    weir_err err = {0};
    char text[256] = "";

    CHECK(weir_rset_graph(r, &g, &err) == WEIR_OK, "%s: %s", what, err.text);
    for (size_t i = 0; g && i < sizeof types / sizeof *types; i++)
        if (total(g, types[i]))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%d", *text ? " " : "", types[i],
                     (int)total(g, types[i]));
    CHECK(strcmp(text, expected) == 0, "%s: %s, not %s", what, text, expected);
    CHECK(!g || weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

/* A part of a set with a graph: as a set, as a document, and as an R with the graph of the whole set. */
static void test_cut(void)
{
    static const char *const cases[][2] = {
        {"rank[0-3]/core[0-3],gpu[0-1]", "cluster=1 rack=2 node=4 socket=8 core=16 gpu=8 memory=64"},
        {"rank1/core[0-3],gpu[0-1]", "cluster=1 rack=1 node=1 socket=2 core=4 gpu=2 memory=16"},
        {"rank[0,2]/core[0-3],gpu[0-1]", "cluster=1 rack=2 node=2 socket=4 core=8 gpu=4 memory=32"},
        {"rank0/core1", "cluster=1 rack=1 node=1 socket=2 core=1 memory=16"},
    };
    weir_graph *g = machine();
    weir_rset *r = set_of(g);
    json_t *doc = NULL;
    char *text = weir_rset_format(r, "rv1", NULL), *other;

    doc = json_loads(text, 0, NULL);
    weir_free(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_rset *b = from_rlist(cases[i][0]), *part = NULL, *again;
        json_t *rlite;
        weir_rset_hosts_drop(b->hosts);
        b->hosts = NULL;
        CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, r, b, &part, NULL) == WEIR_OK, "part");
        expect_machine(part, cases[i][1], cases[i][0]);
        text = weir_rset_format(part, "rv1", NULL);
        again = must_read(text);
        expect_machine(again, cases[i][1], "as a document");
        CHECK(weir_rset_validate(again, NULL) == WEIR_OK, "a part is valid");
        weir_rset_free(again);
        weir_free(text);
        other = weir_rset_format(part, "rv1_nosched", NULL);
        rlite = json_loads(other, 0, NULL);
        json_object_set(doc, "execution", json_object_get(rlite, "execution"));
        weir_free(other);
        other = json_dumps(doc, 0);
        again = must_read(other);
        expect_machine(again, cases[i][1], "riding on the graph of the whole");
        weir_rset_free(again);
        free(other);
        json_decref(rlite);
        weir_rset_free(part);
        weir_rset_free(b);
    }
    json_decref(doc);
    weir_rset_free(r);
    weir_graph_free(g);
}

/* A child instance renumbers its ranks; the graph is matched by hosts then. */
static void test_reranked(void)
{
    weir_graph *g = machine(), *child = NULL;
    weir_rset *r = set_of(g), *part = NULL, *low = NULL;
    weir_idset *ranks = NULL;
    weir_vertex v;

    CHECK(weir_idset_parse("2-3", 3, &ranks, NULL) == WEIR_OK &&
              weir_rset_select_ranks(r, ranks, &part, NULL) == WEIR_OK &&
              weir_rset_remap(part, NULL, false, &low, NULL) == WEIR_OK,
          "a part with other ranks");
    CHECK(weir_rset_graph(low, &child, NULL) == WEIR_OK, "its machine");
    CHECK(child && weir_graph_lookup(child, "/cluster0/rack1/node3", &v, NULL) == WEIR_OK &&
              weir_vertex_rank(child, v) == 1 && total(child, "node") == 2,
          "node3 has rank 1");
    CHECK(weir_rset_validate(low, NULL) == WEIR_OK, "valid");
    weir_graph_free(child);
    weir_rset_free(low);
    CHECK(weir_rset_remap(part, NULL, true, &low, NULL) == WEIR_OK && !weir_rset_writer(low), "new ids, no graph");
    weir_rset_free(low);
    weir_idset_free(ranks);
    weir_rset_free(part);
    weir_rset_free(r);
    weir_graph_free(g);
}

/* Graphs of different machines are not joined; a key of an unknown writer is kept. */
static void test_other_graphs(void)
{
    weir_rset *a = must_read(HOSTED("0", "a", "0") ",\"scheduling\":{\"writer\":\"fancy\",\"x\":1}}");
    weir_rset *b = must_read(HOSTED("1", "b", "0") ",\"scheduling\":{\"writer\":\"fancy\",\"x\":2}}"), *r = NULL;

    expect_refusal(WEIR_RSET_UNION, HOSTED("0", "a", "0") ONE("a"), HOSTED("1", "b", "0") ONE("b"), WEIR_EEXIST,
                   "vertex \"0\" is something else in the other set, its name differs");
    CHECK(weir_rset_combine(WEIR_RSET_UNION, a, b, &r, NULL) == WEIR_OK, "union");
    expect_format(r, "rv1",
                  "{\"version\":1,\"execution\":{\"R_lite\":[" ENTRY(
                      "0-1", "\"core\":\"0\"") "],\"nodelist\":[\"a,b\"]},"
                                               "\"scheduling\":{\"writer\":\"fancy\",\"x\":1}}",
                  "another writer");
    expect_machine(r, "cluster=1 node=2 core=2", "R_lite tells");
    weir_rset_free(r);
    weir_rset_free(a);
    weir_rset_free(b);
    a = must_read("{\"version\":1" ONE("n7"));
    expect_format(a, "rlist", "rank0/core0", "only scheduling");
    weir_rset_free(a);
}

/* A node and its memory of the given size; `more` vertices. */
#define MEMORY(size, more)                                                                                             \
    ",\"scheduling\":" GRAPH(V("0", "\"type\":\"node\",\"name\":\"a\"") "," V("1", A_CORE_VERTEX) "," V(               \
                                 "2", "\"type\":\"memory\",\"id\":0,\"size\":" size) more,                             \
                             E("0", "1", "") "," E("0", "2", "")) "}"

static void expect_union(const char *a, const char *b, const char *expected)
{
    weir_rset *x = must_read(a), *y = must_read(b), *r = NULL;
    weir_err err = {0};

    CHECK(weir_rset_combine(WEIR_RSET_UNION, x, y, &r, &err) == WEIR_OK, "union: %s", err.text);
    expect_format(r, "rv1", expected, "union");
    weir_rset_free(r);
    weir_rset_free(x);
    weir_rset_free(y);
}

/* Vertices of any type in R_lite belong to a rank; vertices of types not in R_lite do not. */
static void test_other_types(void)
{
    weir_rset *r = must_read(DOC(ENTRY("0", "\"core\":\"0\",\"fpga\":\"1\""), ",\"nodelist\":[\"a\"]},\"scheduling\":")
                                 GRAPH(V("0", "\"type\":\"node\",\"name\":\"a\"") "," V("1", A_CORE_VERTEX) "," V(
                                           "2", "\"type\":\"fpga\",\"id\":0") "," V("3", "\"type\":\"fpga\",\"id\":1"),
                                       E("0", "1", "") "," E("0", "2", "") "," E("0", "3", "")) "}");

    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_rset_graph(r, &g, &err) == WEIR_OK && total(g, "fpga") == 1 && total(g, "core") == 1,
          "the fpga that R_lite names: %s", err.text);
    weir_graph_free(g);
    weir_rset_free(r);
}

/* Of a vertex in two graphs the larger amount is kept; a set without a graph adds nothing to a graph. */
static void test_unlike_parts(void)
{
    weir_rset *a = must_read(HOSTED("0", "a", "0") ONE("a")), *b = must_read(HOSTED("1", "b", "0") ONE("b")),
              *none = NULL, *r = NULL;

    expect_union(HOSTED("0", "a", "0") MEMORY("2", ""), HOSTED("0", "a", "0") MEMORY("5", ""),
                 HOSTED("0", "a", "0") MEMORY("5", ""));
    expect_union(HOSTED("0", "a", "0") MEMORY("5", ""), HOSTED("0", "a", "0") MEMORY("2", ""),
                 HOSTED("0", "a", "0") MEMORY("5", ""));
    expect_union(HOSTED("0", "a", "0") MEMORY("2", "," V("2", "\"type\":\"memory\",\"id\":0,\"size\":3")),
                 HOSTED("0", "a", "0") MEMORY("2", ""), HOSTED("0", "a", "0") MEMORY("2", ""));
    expect_union(HOSTED("0", "a", "0") ",\"scheduling\":{\"x\":1}}", HOSTED("0", "a", "0") ONE("a"),
                 HOSTED("0", "a", "0") ONE("a"));
    expect_union(HOSTED("0", "a", "0") ONE("a"), HOSTED("0", "a", "0") ",\"scheduling\":{\"x\":1}}",
                 HOSTED("0", "a", "0") ONE("a"));
    CHECK(weir_rset_combine(WEIR_RSET_DIFF, a, a, &none, NULL) == WEIR_OK, "nothing is left");
    CHECK(weir_rset_combine(WEIR_RSET_UNION, none, b, &r, NULL) == WEIR_OK, "nothing and something");
    expect_format(r, "rv1", HOSTED("1", "b", "0") ONE("b"), "something");
    weir_rset_free(r);
    weir_rset_free(none);
    weir_rset_free(a);
    weir_rset_free(b);
}

#define RANKED(a, b)                                                                                                   \
    DOC(ENTRY("1-2", "\"core\":\"0\""), "},\"scheduling\":")                                                           \
    GRAPH(V("0", "\"type\":\"node\",\"rank\":" a) "," V("1", A_CORE_VERTEX) "," V(                                     \
              "2", "\"type\":\"node\",\"rank\":" b) "," V("3", A_CORE_VERTEX) "," V("4", "\"type\":\"gpu\",\"id\":0"), \
          E("0", "1", "") "," E("2", "3", "") "," E("2", "4", ""))                                                     \
    "}"

/* Without a nodelist the ranks in a graph tell the vertices of the set, if the graph has each rank once; else the
 * graph stays whole. */
static void test_ranks(void)
{
    static const char *const rows[][2] = {
        {RANKED("1", "2"), "node=2 core=2"}, /* the gpu goes: R_lite has none */
        {RANKED("1", "1"), "node=2 core=2 gpu=1"},
        {RANKED("1", "7"), "node=2 core=2 gpu=1"},
        {RANKED("-1", "2"), "node=2 core=2 gpu=1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_rset *r = must_read(rows[i][0]);
        expect_machine(r, rows[i][1], rows[i][0]);
        weir_rset_free(r);
    }
}

static void expect_invalid(const char *text, const char *part)
{
    weir_rset *r = must_read(text);
    weir_err err = {0};
    int rc = r ? weir_rset_validate(r, &err) : WEIR_OK;

    CHECK(part ? rc == WEIR_EINVAL && strstr(err.text, part) : rc == WEIR_OK, "%s: %s", text, err.text);
    weir_rset_free(r);
}

static void test_validate(void)
{
    expect_invalid(DOC("", "}}"), "execution.R_lite: is empty");
    expect_invalid(DOC(A_CORE, "}}"), "execution.nodelist: is missing");
    expect_invalid(DOC(A_CORE "," ENTRY("1-2", "\"gpu\":\"0\""), ",\"nodelist\":[\"n[0-2]\"]}}"), "rank 1 has no core");
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":[]}", "attributes: expected an object");
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":{\"system\":1}}", "attributes.system: expected an object");
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":{\"system\":{\"scheduler\":1}}}",
                   "attributes.system.scheduler");
    expect_invalid(HOSTED("0", "a", "0") ",\"scheduling\":{\"graph\":{}}}", "scheduling.graph");
    expect_invalid(HOSTED("0", "a", "0-1") ONE("a"), "scheduling.graph: rank 0 has no core 1, which R_lite names");
    expect_invalid(HOSTED("0-1", "a,b", "0") ONE("a"), "scheduling.graph: has no rank 1, which R_lite names");
    expect_invalid(HOSTED("0", "a", "0") ONE("a"), NULL);
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":{\"system\":{\"scheduler\":{}}}}", NULL);
}

/* Vertices that are down, and vertices of jobs. */
static void test_states(void)
{
    weir_graph *g = machine();
    weir_vertex v = WEIR_NONE, core = WEIR_NONE;
    weir_rset *r = NULL;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, "/cluster0/rack1/node2", &v, NULL) == WEIR_OK &&
              weir_vertex_set_state(g, v, WEIR_DOWN, NULL) == WEIR_OK,
          "a node is down");
    CHECK(weir_graph_lookup(g, "/cluster0/rack0/node0/socket1/core3", &core, NULL) == WEIR_OK &&
              weir_vertex_set_state(g, core, WEIR_FAILING, NULL) == WEIR_OK,
          "so is a core");
    CHECK(weir_graph_rset(g, WEIR_RSET_DOWN, false, &r, NULL) == WEIR_OK, "down");
    expect_format(r, "rlist", "rank0/core3 rank2/core[0-3],gpu[0-1]", "down");
    weir_rset_free(r);
    CHECK(weir_graph_lookup(g, "/cluster0/rack0/node1", &v, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, v, 1, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "a node is taken");
    CHECK(weir_graph_lookup(g, "/cluster0/rack0/node0/socket0/core1", &core, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, core, 2, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "so is a core");
    CHECK(weir_graph_lookup(g, "/cluster0/rack1/node3/socket0/memory0", &v, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, v, 3, 4, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "and some memory");
    CHECK(weir_graph_lookup(g, "/cluster0/rack1/node2/socket0/core0", &v, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, v, 4, 1, 10, 20, NULL) == WEIR_OK,
          "and a core later");
    CHECK(weir_graph_rset(g, WEIR_RSET_ALLOCATED, false, &r, NULL) == WEIR_OK, "allocated");
    expect_format(r, "rlite",
                  "[" ENTRY("0", "\"core\":\"1\"") "," ENTRY("1", "\"core\":\"0-3\",\"gpu\":\"0-1\"") "," ENTRY(
                      "3", "\"core\":\"\"") "]",
                  "allocated");
    weir_rset_free(r);
    r = NULL;
    CHECK(weir_graph_rset(g, WEIR_RSET_DOWN, true, &r, &err) == WEIR_EINVAL && !r, "%s", err.text);
    weir_graph_free(g);
}

/* Cores outside of nodes; two vertices with one rank. */
static void test_odd_machines(void)
{
    weir_err err = {0};
    weir_graph *g = parse(NULL, "core:4", &err);
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v, w;
    weir_rset *r = NULL;

    CHECK(g && weir_graph_rset(g, WEIR_RSET_ALL, false, &r, &err) == WEIR_OK, "%s", err.text);
    expect_format(
        r, "rv1",
        DOC(ENTRY("0", "\"core\":\"0-3\""), ",\"nodelist\":[\"cluster0\"],\"starttime\":0,\"expiration\":0}}"),
        "the root is the host");
    weir_rset_free(r);
    weir_graph_free(g);
    g = weir_graph_new();
    d.type = "node";
    d.id = 5;
    d.rank = 1;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &v, NULL) == WEIR_OK, "a node");
    d.id = 6;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &w, NULL) == WEIR_OK, "another of the same rank");
    d = (weir_pool_desc)WEIR_POOL_DESC_INIT;
    d.type = "core";
    d.id = 0;
    CHECK(weir_graph_add(g, v, &d, &v, NULL) == WEIR_OK, "a core");
    d.id = 3;
    CHECK(weir_graph_add(g, w, &d, &w, NULL) == WEIR_OK, "a core");
    CHECK(weir_graph_rset(g, WEIR_RSET_ALL, false, &r, &err) == WEIR_OK, "%s", err.text);
    expect_format(r, "rv1",
                  DOC(ENTRY("1", "\"core\":\"0,3\""), ",\"nodelist\":[\"node5\"],\"starttime\":0,\"expiration\":0}}"),
                  "one rank is one host");
    weir_rset_free(r);
    weir_graph_free(g);
    g = parse(NULL, "node:2 memory:1", &err);
    CHECK(g && weir_graph_rset(g, WEIR_RSET_ALL, false, &r, &err) == WEIR_OK, "%s", err.text);
    expect_format(r, "rlite", "[" ENTRY("0-1", "\"core\":\"\"") "]", "nodes without cores");
    weir_rset_free(r);
    weir_graph_free(g);
}

int main(void)
{
    json_set_alloc_funcs(weir_mem_alloc, weir_mem_free); /* the allocations of jansson fail in turn too */
    test_parts();
    test_cut();
    test_reranked();
    test_other_graphs();
    test_other_types();
    test_unlike_parts();
    test_ranks();
    test_validate();
    test_states();
    test_odd_machines();
    return check_report();
}
