/* test_rset_cut.c - RFC 20: the vertices of the JSON graph in the key `scheduling` that belong to a part of a set,
 * however the graph writes ranks, numbers and containment. */
#include "rsets.h"

#define HOST(id, data)      V(id, "\"type\":\"node\"" data)
#define CPU(id, data)       V(id, "\"type\":\"core\"" data)
#define NAME(name)          ",\"name\":\"" name "\""
#define RANK(n)             ",\"rank\":" n
#define ID(n)               ",\"id\":" n
#define PATH(path)          ",\"paths\":{\"containment\":\"" path "\"}"
#define IN(from, to)        E(from, to, META("\"subsystem\":\"containment\",\"relationship\":\"in\""))
#define OLD(from, to, name) E(from, to, META("\"name\":{" name "}"))
#define CONTAINS(from, to)  OLD(from, to, "\"containment\":\"contains\"")

/* Two nodes "a" and "c" with a core each, "b" and "d". */
#define TWO(of_a, of_c) HOST("a", of_a) "," CPU("b", ID("0")) "," HOST("c", of_c) "," CPU("d", ID("0"))
#define BELOW           E("a", "b", "") "," E("c", "d", "")

static const struct {
    const char *what, *nodes, *edges, *part, *left; /* left: vertices, then edges */
} rows[] = {
    {"by the names of hosts", TWO(NAME("n0"), NAME("n1")), BELOW, "rank1/core[0-3]", "c d|c>d"},
    {"by the ends of paths", TWO(PATH("/x/n0"), PATH("/x/n1")), BELOW, "rank1/core[0-3]", "c d|c>d"},
    {"by numbers where no host is known", TWO(RANK("0"), RANK("1")), BELOW, "rank1/core[0-3]", "c d|c>d"},
    {"by numbers where two have one name", TWO(NAME("n0") RANK("1"), NAME("n0") RANK("0")), BELOW, "rank1/core[0-3]",
     "a b|a>b"},
    {"nothing without ranks", TWO("", RANK("-1")), BELOW, "rank1/core[0-3]", "a b c d|a>b c>d"},
    {"edges from below", TWO(NAME("n0"), NAME("n1")), IN("b", "a") "," IN("d", "c"), "rank0/core[0-3]", "a b|b>a"},
    {"edges that paths give a direction",
     HOST("a", NAME("n0") PATH("/n0")) "," CPU("b", ID("0") PATH("/n0/core0")) "," HOST("c", NAME("n1")),
     E("b", "a", ""), "rank1/core[0-3]", "c|"},
    {"edges with a relationship for each subsystem", TWO(NAME("n0"), NAME("n1")),
     CONTAINS("a", "b") "," CONTAINS("c", "d") "," OLD("a", "d", "\"power\":\"feeds\""), "rank0/core[0-3]", "a b|a>b"},
    {"edges of other subsystems stay where both ends do", TWO(NAME("n0"), NAME("n1")),
     BELOW "," E("a", "b", META("\"subsystem\":\"power\"")) "," E("a", "d", META("\"subsystem\":\"power\"")),
     "rank0/core[0-3]", "a b|a>b a>b"},
    {"edges of vertices that are not there: no reader takes the graph, which is left as it is",
     TWO(NAME("n0"), NAME("n1")), BELOW "," E("a", "z", "") "," E("c", "z", ""), "rank0/core[0-3]",
     "a b c d|a>b c>d a>z c>z"},
    {"a loop of one: likewise", TWO(NAME("n0"), NAME("n1")), BELOW "," E("c", "c", ""), "rank1/core[0-3]",
     "a b c d|a>b c>d c>c"},
    {"a circle of two: likewise", TWO(NAME("n0"), NAME("n1")), BELOW "," E("d", "c", ""), "rank1/core[0-3]",
     "a b c d|a>b c>d d>c"},
    {"two parents: likewise", TWO(NAME("n0"), NAME("n1")), BELOW "," E("a", "d", ""), "rank1/core[0-3]",
     "a b c d|a>b c>d a>d"},
    {"a vertex without a type: likewise", HOST("a", NAME("n0")) "," V("b", "\"id\":0"), E("a", "b", ""),
     "rank1/core[0-3]", "a b|a>b"},
    {"edges without vertices: likewise", "", E("a", "b", ""), "rank1/core[0-3]", "|a>b"},
    {"vertices in any order",
     CPU("d", ID("0")) "," HOST("c", NAME("n1")) "," CPU("b", ID("0")) "," HOST("a", NAME("n0")),
     E("c", "d", "") "," E("a", "b", ""), "rank0/core[0-3]", "b a|a>b"},
    {"nothing of it", TWO(NAME("n0"), NAME("n1")), BELOW, "rank2/core0", "|"},
    {"numbers at the ends of names", HOST("a", NAME("n0")) "," CPU("b", NAME("core1")) "," CPU("c", NAME("core2")),
     E("a", "b", "") "," E("a", "c", ""), "rank0/core[0,2]", "a c|a>c"},
    {"a pool without a number stays", HOST("a", NAME("n0")) "," CPU("b", NAME("core")) "," CPU("c", ""),
     E("a", "b", "") "," E("a", "c", ""), "rank0/core0", "a b c|a>b a>c"},
    {"a node stays when nothing of it is left", HOST("a", NAME("n0")) "," CPU("b", ID("3")), E("a", "b", ""),
     "rank0/core0", "a|"},
    {"what had something in it goes with the last of it",
     HOST("a", NAME("n0")) "," V("s", "\"type\":\"socket\"") "," CPU("b", ID("3")), E("a", "s", "") "," E("s", "b", ""),
     "rank0/core0", "a|"},
    {"what is in a pool goes with it", HOST("a", NAME("n0")) "," CPU("b", ID("3")) "," V("p", "\"type\":\"pu\""),
     E("a", "b", "") "," E("b", "p", ""), "rank0/core0", "a|"},
    {"a rack without nodes goes", V("r", "\"type\":\"rack\"") "," TWO(NAME("n0"), NAME("n1")),
     BELOW "," E("r", "a", ""), "rank1/core[0-3]", "c d|c>d"},
    {"two of one id: it is left as it is", HOST("a", NAME("n0")) "," HOST("a", NAME("n1")), "", "rank0/core[0-3]",
     "a a|"},
    {"a vertex without data: likewise", "{\"id\":\"a\"}," HOST("b", NAME("n1")), "", "rank0/core[0-3]", "a b|"},
};

/* "a b|a>b": the vertices and edges of a key `scheduling`. */
static void list(const json_t *scheduling, weir_buf *b)
{
    const json_t *graph = json_object_get(scheduling, "graph"), *item;
    size_t i;

    json_array_foreach(json_object_get(graph, "nodes"), i, item)
        weir_buf_printf(b, "%s%s", i ? " " : "", json_string_value(json_object_get(item, "id")));
    weir_buf_puts(b, "|");
    json_array_foreach(json_object_get(graph, "edges"), i, item)
        weir_buf_printf(b, "%s%s>%s", i ? " " : "", json_string_value(json_object_get(item, "source")),
                        json_string_value(json_object_get(item, "target")));
}

static weir_rset *whole(const char *nodes, const char *edges)
{
    weir_buf b = {0};
    weir_rset *r;

    weir_buf_printf(
        &b,
        DOC(ENTRY("0-1", "\"core\":\"0-3\""), ",\"nodelist\":[\"n[0-1]\"]},") "\"scheduling\":" GRAPH("%s", "%s") "}",
        nodes, edges);
    r = must_read(b.data);
    weir_buf_free(&b);
    return r;
}

static weir_rset *part_of(const weir_rset *r, const char *rlist)
{
    weir_rset *other = from_rlist(rlist), *part = NULL;

    weir_rset_hosts_drop(other->hosts);
    other->hosts = NULL;
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, r, other, &part, NULL) == WEIR_OK, "part %s", rlist);
    weir_rset_free(other);
    return part;
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_rset *r = whole(rows[i].nodes, rows[i].edges), *part = part_of(r, rows[i].part);
        char *text = weir_rset_get(part, "scheduling", NULL);
        json_t *key = text ? json_loads(text, 0, NULL) : NULL;
        weir_buf left = {0};

        list(key, &left);
        CHECK(check_same(left.data, rows[i].left), "%s: %s left, %s wanted", rows[i].what, left.data, rows[i].left);
        weir_buf_free(&left);
        json_decref(key);
        weir_free(text);
        weir_rset_free(part);
        weir_rset_free(r);
    }
}

/* All bytes but the removed vertices and edges stay, wherever they stand; ranks of vertices are renumbered. */
static void test_bytes(void)
{
#define LAID(edges, nodes)                                                                                             \
    "{\"z\":[1.5],\"graph\":{\"edges\":[" edges "],\"w\":{},\"nodes\":[" nodes "],\"v\":\"\\\"\"},\"y\":[]}"
#define HOST_A       HOST("a", RANK("3") ",\"own\":[{}]")
#define HOST_C(rank) "{\"metadata\":{\"rank\":" rank ",\"type\":\"node\",\"name\":\"\"},\"own\":\"rank\",\"id\":\"c\"}"
    static const char all[] = LAID(E("a", "b", "") "," E("c", "d", ""), HOST_A
                                   "," CPU("b", ID("0") RANK("3")) "," HOST_C("7") "," CPU("d", ID("0") RANK("-1")));
    static const char cut[] = LAID(E("c", "d", ""), HOST_C("7") "," CPU("d", ID("0") RANK("-1")));
    static const char moved[] = LAID(E("c", "d", ""), HOST_C("0") "," CPU("d", ID("0") RANK("-1")));
    weir_buf b = {0};
    weir_rset *r, *part, *low = NULL;
    char *text;

    weir_buf_printf(&b, DOC(ENTRY("3,7", "\"core\":\"0\""), "},") "\"scheduling\":%s}", all);
    r = must_read(b.data);
    part = part_of(r, "rank7/core0");
    text = weir_rset_get(part, "scheduling", NULL);
    CHECK(check_same(text, cut), "%s", text);
    weir_free(text);
    CHECK(weir_rset_remap(part, NULL, false, &low, NULL) == WEIR_OK, "other ranks");
    text = weir_rset_get(low, "scheduling", NULL);
    CHECK(check_same(text, moved), "%s", text);
    weir_free(text);
    weir_rset_free(low);
    weir_rset_free(part);
    weir_rset_free(r);
    weir_buf_free(&b);
}

/* Blanks between tokens go when a document is read; those in texts stay, and so do all other bytes. */
static void test_blanks(void)
{
    static const char spread[] =
        "{ \"version\":1 ,\n\"scheduling\"\t: { \"x y\" : [ 1E2, \"a \\\" b\\\\\" , \"\\/\" ] ,\r\n"
        " \"graph\": { \"nodes\": [ " HOST("a", NAME("n 0")) " ,\n " CPU(
            "b", ID("0")) " ],"
                          " \"edges\" :[ " E("a", "b", "") " ] } }, \"execution\": {\"R_lite\":[" A_CORE
                                                           "]}, \"k\": null }";
    weir_rset *r = must_read(spread), *low = NULL;
    char *text = weir_rset_get(r, "scheduling", NULL);

    CHECK(check_same(text, "{\"x y\":[1E2,\"a \\\" b\\\\\",\"\\/\"],\"graph\":{\"nodes\":[" HOST(
                               "a", NAME("n 0")) "," CPU("b", ID("0")) "],\"edges\":[" E("a", "b", "") "]}}"),
          "%s", text);
    CHECK(weir_rset_remap(r, NULL, false, &low, NULL) == WEIR_OK, "remap");
    weir_free(text);
    weir_rset_free(low);
    weir_rset_free(r);
}

#define TO(from, to, name) E(from, to, META("\"subsystem\":\"" name "\",\"relationship\":\"to\""))
#define SIZE(n)            ",\"size\":" n

/* {what, nodes and edges of two graphs on the same ranks, nodes and edges of the union, the code of failure} */
static const struct {
    const char *what, *nodes[2], *edges[2], *both;
    int code;
} joins[] = {
    {"vertices of one id, edges of one key, and edges that differ in the subsystem or relationship",
     {HOST("a", "") "," CPU("b", ID("0")), HOST("a", "") "," CPU("b", ID("0"))},
     {E("a", "b", "") "," TO("b", "a", "net") "," E("a", "b", ""),
      TO("b", "a", "power") "," E("a", "b", "") "," TO("b", "a", "net")},
     "a b|b>a a>b b>a",
     0},
    {"numbers come in order, with their edges",
     {CPU("1", ID("0")) "," CPU("7", ID("1")), HOST("0", "") "," CPU("3", ID("2"))},
     {"", E("0", "3", "")},
     "0 1 3 7|0>3",
     0},
    {"an edge twice in the second graph counts once",
     {HOST("0", ""), HOST("0", "") "," CPU("1", ID("0"))},
     {"", E("0", "1", "") "," TO("0", "1", "net") "," TO("0", "1", "net")},
     "0 1|0>1 0>1",
     0},
    {"a graph that the reader refuses is left out, be it the second",
     {HOST("a", ""), HOST("b", "") "," HOST("b", "")},
     {"", ""},
     "a|",
     0},
    {"or the first", {HOST("b", "") "," HOST("b", ""), HOST("a", "")}, {"", ""}, "a|", 0},
    {"of two such graphs the first is kept",
     {HOST("b", "") "," HOST("b", ""), HOST("c", "") "," HOST("c", "")},
     {"", ""},
     "b b|",
     0},
    {"keys that say the same in another order",
     {HOST("a", RANK("1") SIZE("1")), HOST("a", SIZE("1") RANK("1"))},
     {"", ""},
     "a|",
     0},
    {"numbers that no JSON reader holds, in a key that no reader needs",
     {HOST("a", ",\"w\":99999999999999999999"), HOST("a", ",\"w\":1")},
     {"", ""},
     "a|",
     0},
    {"vertices of one id and two types", {HOST("a", ""), CPU("a", "")}, {"", ""}, NULL, WEIR_EEXIST},
    {"or two UUIDs",
     {HOST("a", ",\"uuid\":\"01234567-89ab-4def-8123-456789000001\""),
      HOST("a", ",\"uuid\":\"01234567-89ab-4def-8123-456789000002\"")},
     {"", ""},
     NULL,
     WEIR_EEXIST},
};

/* Makes the sets of a row, on rank 0 and rank 1. */
static void both_of(size_t i, weir_rset *sets[2])
{
    static const char *const ranks[] = {"0", "1"};

    for (int k = 0; k < 2; k++) {
        weir_buf b = {0};
        weir_buf_printf(&b,
                        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"%s\",\"children\":{\"core\":\"0-3\"}}]},"
                        "\"scheduling\":" GRAPH("%s", "%s") "}",
                        ranks[k], joins[i].nodes[k], joins[i].edges[k]);
        sets[k] = must_read(b.data);
        weir_buf_free(&b);
    }
}

static void test_joins(void)
{
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        weir_rset *sets[2], *r = NULL;
        weir_buf left = {0};
        char *text;
        json_t *key;
        int rc;
        both_of(i, sets);
        rc = weir_rset_combine(WEIR_RSET_UNION, sets[0], sets[1], &r, NULL);
        text = r ? weir_rset_get(r, "scheduling", NULL) : NULL;
        key = text ? json_loads(text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
        list(key, &left);
        CHECK(rc == joins[i].code && (rc < 0 || check_same(left.data, joins[i].both)), "%s: %d, %s", joins[i].what, rc,
              left.data);
        weir_buf_free(&left);
        json_decref(key);
        weir_free(text);
        weir_rset_free(r);
        weir_rset_free(sets[0]);
        weir_rset_free(sets[1]);
    }
}

/* Reads two texts and joins the sets. */
static int join_once(void *texts)
{
    weir_rset *sets[2] = {NULL, NULL}, *r = NULL;
    weir_err err = {0};
    int rc = WEIR_OK;

    for (int k = 0; rc == WEIR_OK && k < 2; k++)
        rc = weir_rset_parse(((char **)texts)[k], strlen(((char **)texts)[k]), "test", &sets[k], &err);
    if (rc == WEIR_OK)
        rc = weir_rset_combine(WEIR_RSET_UNION, sets[0], sets[1], &r, &err);
    CHECK((rc == WEIR_OK) == (r != NULL), "a set or a failure");
    weir_rset_free(r);
    weir_rset_free(sets[0]);
    weir_rset_free(sets[1]);
    return rc;
}

static void test_nomem_joins(void)
{
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        weir_rset *sets[2];
        char *texts[2];
        if (joins[i].code < 0)
            continue;
        both_of(i, sets);
        for (int k = 0; k < 2; k++) {
            texts[k] = weir_rset_format(sets[k], "rv1", NULL);
            weir_rset_free(sets[k]);
        }
        check_nomem(join_once, texts, joins[i].what);
        weir_free(texts[0]);
        weir_free(texts[1]);
    }
}

static int cut_once(void *part)
{
    weir_err err = {0};
    char *text = weir_rset_get(part, "scheduling", &err);

    weir_free(text);
    return text ? WEIR_OK : err.code;
}

static void test_nomem(void)
{
    weir_rset *r = whole(TWO(NAME("n0"), NAME("n1")), BELOW), *part = part_of(r, "rank1/core[0-1]");

    check_nomem(cut_once, part, "a part of a graph");
    weir_rset_free(part);
    weir_rset_free(r);
}

int main(void)
{
    json_set_alloc_funcs(weir_mem_alloc, weir_mem_free); /* the allocations of jansson fail in turn too */
    test_rows();
    test_bytes();
    test_blanks();
    test_joins();
    test_nomem();
    json_set_alloc_funcs(malloc, free); /* jansson takes a string that it has no memory for to be malformed */
    test_nomem_joins();
    return check_report();
}
