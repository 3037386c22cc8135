/* test_jgf.c - JSON graphs: round trips of content that only C can give to a graph, documents cut in two at every
 * byte, and failing allocations. See spec/core/format/jgf/jgf_spec.lua for the rest. */
#include "check.h"

#include <unistd.h>

#include "format/json_read.h"

static weir_graph *read_text(const char *text, const char *what)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), what, "jgf", &g, &err) == WEIR_OK, "%s: %s", what, err.text);
    return g;
}

/* Saved and loaded, a graph stays equal; saved again, so does the text. */
static void round_trip(const weir_graph *g, const char *what)
{
    weir_err err = {0};
    char *first = weir_graph_format(g, "jgf", &err), *second;
    weir_graph *again = first ? read_text(first, what) : NULL;

    CHECK(first, "%s: %s", what, err.text);
    if (again) {
        CHECK(weir_graph_compare(g, again, false, &err) == WEIR_OK, "[M1] %s: %s", what, err.text);
        second = weir_graph_format(again, "jgf", &err);
        CHECK(check_same(first, second), "[M1] %s: %s is not %s", what, second, first);
        weir_free(second);
    }
    weir_graph_free(again);
    weir_free(first);
}

static weir_graph *one_vertex(weir_vertex *v)
{
    weir_graph *g = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = "node";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, v, NULL) == WEIR_OK, "a vertex");
    return g;
}

/* Values of extended data, JSON or not, unchanged byte for byte after a round trip. */
static void test_extended(void)
{
    static const char *const values[] = {
        "{\"a\": [1, 2.50,\n null]}",
        "[]",
        "true",
        "null",
        "1e400",
        "-0",
        "12345678901234567890",
        "\"\\u00e9\\ud83d\\ude00\"",
        "\"\\/\"",
        "{\"a\":1,\"a\":2}",
        "no JSON",
        "",
        " 1",
        "1\n",
        "{\"a\":1",
        "[1] 2",
        "\"\\u0000\"",
        "\xef\xbb\xbf\x31",
        "nul",
        "/* 1 */ 1",
        "\"a\tb\"",
        "\"",
        "{",
        "01",
        "\x01",
    };
    weir_err err = {0};
    weir_vertex v;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        weir_graph *g = one_vertex(&v), *again;
        char *text;
        CHECK(weir_vertex_set(g, v, WEIR_EXTENDED, "before", "1", NULL) == WEIR_OK, "set");
        CHECK(weir_vertex_set(g, v, WEIR_EXTENDED, "key", values[i], NULL) == WEIR_OK, "set");
        round_trip(g, values[i]);
        text = weir_graph_format(g, "jgf", &err);
        again = read_text(text, values[i]);
        CHECK(again && check_same(weir_vertex_get(again, 0, WEIR_EXTENDED, "key"), values[i]), "[P12] %s", values[i]);
        weir_graph_free(again);
        weir_free(text);
        weir_graph_free(g);
    }
}

/* JSON at the greatest depth of extended data, and deeper, kept as a text. */
static void test_deep(void)
{
    static const int depths[] = {100, WEIR_JSON_DEPTH - 9, WEIR_JSON_DEPTH - 8, WEIR_JSON_DEPTH, 3 * WEIR_JSON_DEPTH};

    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        size_t n = (size_t)depths[i];
        char *deep = malloc(2 * n + 1);
        weir_vertex v;
        weir_graph *g = one_vertex(&v);
        memset(deep, '[', n);
        memset(deep + n, ']', n);
        deep[2 * n] = '\0';
        CHECK(weir_vertex_set(g, v, WEIR_EXTENDED, "deep", deep, NULL) == WEIR_OK, "set");
        round_trip(g, "deep");
        weir_graph_free(g);
        free(deep);
    }
}

/* The longest allowed names. */
static void test_long(void)
{
    static char name[WEIR_NAME_MAX + 1];
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_graph *g = weir_graph_new();
    weir_vertex v, w;

    memset(name, 'x', WEIR_NAME_MAX);
    d.type = d.basename = d.name = d.unit = name;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &v, NULL) == WEIR_OK, "a vertex");
    CHECK(weir_graph_add(g, v, &d, &w, NULL) == WEIR_OK, "another");
    CHECK(weir_vertex_set(g, v, WEIR_TAGS, name, name, NULL) == WEIR_OK, "a tag");
    CHECK(weir_edge_add(g, v, w, name, name, name, NULL) == WEIR_OK, "an edge");
    round_trip(g, "long names");
    weir_graph_free(g);
}

static const char document[] =
    "{\"x\":[1,{\"y\":\"z\"}],\n\"graph\":{\"nodes\":[{\"id\":\"a\",\"metadata\":{\"type\":\"n\\u00f6de\",\"id\":-12,"
    "\"size\":1234567890123,\"whole\":true,\"properties\":{\"k\":null,\"l\":\"m\"},\"tags\":[\"t\",\"t\"],"
    "\"ephemeral\":{\"e\":\"1\"},"
    "\"extended\":{\"e\" : {\"f\": [1.50,\"\xc3\xa9\\n\"]},\"g\":12},\"extended_text\":{\"h\":\"[\"},\"uuid\":"
    "\"01234567-89ab-cdef-0123-456789abcdef\","
    "\"paths\":{\"power\":\"/p\",\"containment\":\"/"
    "a\"}}},{\"id\":\"b\",\"metadata\":{\"type\":\"core\",\"state\":\"down\","
    "\"name_template\":\"c-${k}\"}}],\"edges\":[{\"source\":\"a\",\"target\":\"b\"},{\"source\":\"b\",\"target\":\"a\","
    "\"metadata\":{\"name\":{\"power\":\"feeds\",\"net\":\"to\"}}}]}}";

/* A file whose first block has any length gives an equal graph as the text does. */
static void test_kv_image(void)
{
    weir_graph *whole = read_text(document, "document");
    size_t n = sizeof document - 1;

    for (size_t cut = 0; cut <= n; cut++) {
        FILE *f = fmemopen((void *)(uintptr_t)(document + cut), n - cut ? n - cut : 1, "r");
        struct weir_input in = {.text = document, .len = cut, .rest = f};
        weir_err err = {0};
        weir_json *j = weir_json_open(&in, "test", &err);
        weir_buf raw = {0};
        int type = WEIR_JSON_NULL, events = 0;
        if (cut == n)
            fgetc(f);
        for (; type > WEIR_JSON_END; events++) {
            type = weir_json_next(j);
            if (type == WEIR_JSON_KEY && strcmp(weir_json_text(j, NULL), "extended") == 0)
                type = weir_json_capture(j, &raw);
        }
        CHECK(type == WEIR_JSON_END, "cut at %zu: %s", cut, err.text);
        CHECK(check_same(raw.data, "{\"e\" : {\"f\": [1.50,\"\xc3\xa9\\n\"]},\"g\":12}"), "cut at %zu: %s", cut,
              raw.data ? raw.data : "nothing");
        weir_buf_free(&raw);
        weir_json_close(j);
        fclose(f);
    }
    round_trip(whole, "document");
    weir_graph_free(whole);
}

/* Every proper prefix of the document is refused without a leak. */
static void test_beginnings(void)
{
    for (size_t n = 0; n < sizeof document - 1; n++) {
        weir_graph *g = NULL;
        weir_err err = {0};
        int rc = weir_graph_parse(document, n, "test", "jgf", &g, &err);
        CHECK(rc < 0 && err.code == rc && err.text[0] && !g, "%zu bytes", n);
    }
}

/* ---- ids and order -------------------------------------------------------------------------------------------- */

#define MANY 200 /* vertices: vertex i > 0 lies in i / 4 */

static void id_plain(uint32_t i, char *id)
{
    sprintf(id, "%u", i);
}

static void id_gaps(uint32_t i, char *id)
{
    sprintf(id, "%u", i * 3 + i % 5 + 7);
}

static void id_down(uint32_t i, char *id)
{
    sprintf(id, "%u", 1000 - i);
}

static void id_mixed(uint32_t i, char *id)
{
    sprintf(id, i % 3 ? "%u" : "v%u", i);
}

static void id_zeros(uint32_t i, char *id)
{
    sprintf(id, "%0*u", (int)(i % 4), i);
}

static void id_large(uint32_t i, char *id)
{
    sprintf(id, "%llu", 4294967200ull + i);
}

static void id_empty(uint32_t i, char *id)
{
    sprintf(id, "%.*u", i == 5 ? 0 : 1, i == 5 ? 0 : i);
}

static const struct id_style {
    const char *what;
    void (*write)(uint32_t i, char *id);
} styles[] = {{"ids 0, 1, 2", id_plain}, {"gaps", id_gaps},           {"descending", id_down},
              {"some texts", id_mixed},  {"leading zeros", id_zeros}, {"around 2^32", id_large},
              {"an empty id", id_empty}};

/* The vertex written at position i: in preorder, from the end, or mixed. */
static uint32_t place(uint32_t order, uint32_t i)
{
    return order == 0 ? i : order == 1 ? MANY - 1 - i : i * 77 % MANY;
}

static void write_node(weir_buf *b, const struct id_style *style, uint32_t i)
{
    char id[24];

    style->write(i, id);
    weir_buf_printf(b, "{\"id\":\"%s\",\"metadata\":{\"type\":\"t%u\",\"id\":%u,\"rank\":%d,\"size\":%u,", id, i % 3, i,
                    (int)(i % 7 / 3) - 1, 1 + i % 2);
    if (i % 5 == 0)
        weir_buf_printf(b, "\"name\":\"own%u\",\"tags\":[\"a\",\"b\"],\"ephemeral\":{\"b\":\"%u\"},", i, i);
    weir_buf_printf(b, "\"uuid\":\"%08x-0000-4000-8000-000000000000\"}}", i + 1);
}

static void write_nodes(weir_buf *b, const struct id_style *style, uint32_t order)
{
    weir_buf_puts(b, "\"nodes\":[");
    for (uint32_t k = 0; k < MANY; k++) {
        weir_buf_puts(b, k ? "," : "");
        write_node(b, style, place(order, k));
    }
    weir_buf_puts(b, "]");
}

/* Writes the edges of containment, and a second subsystem for every tenth. */
static void write_edges(weir_buf *b, const struct id_style *style)
{
    char above[24], below[24];

    weir_buf_puts(b, "\"edges\":[");
    for (uint32_t i = 1; i < MANY; i++) {
        style->write(i / 4, above);
        style->write(i, below);
        weir_buf_printf(b, "%s{\"source\":\"%s\",\"target\":\"%s\"", i > 1 ? "," : "", above, below);
        weir_buf_puts(b, i % 10 ? "}" : ",\"metadata\":{\"name\":{\"containment\":\"contains\",\"net\":\"to\"}}}");
    }
    weir_buf_puts(b, "]");
}

static char *write_document(const struct id_style *style, uint32_t order, bool edges_first)
{
    weir_buf b = {0};

    weir_buf_puts(&b, "{\"graph\":{");
    if (edges_first)
        write_edges(&b, style);
    else
        write_nodes(&b, style, order);
    weir_buf_puts(&b, ",");
    if (edges_first)
        write_nodes(&b, style, order);
    else
        write_edges(&b, style);
    weir_buf_puts(&b, "}}");
    return b.data;
}

/* Whatever the ids and the order of vertices, the edges give a single graph. */
static void test_orders(void)
{
    char *text = write_document(&styles[0], 0, false), what[80];
    weir_graph *want = read_text(text, "in order"), *g;
    weir_err err = {0};

    free(text);
    CHECK(weir_graph_count(want) == MANY, "%u vertices", weir_graph_count(want));
    CHECK(weir_vertex_parent(want, 1) == 0, "in preorder");
    for (size_t i = 0; i < sizeof styles / sizeof *styles * 6; i++) {
        const struct id_style *style = &styles[i / 6];
        snprintf(what, sizeof what, "%s, order %zu%s", style->what, i % 3, i % 6 < 3 ? "" : ", edges first");
        text = write_document(style, (uint32_t)(i % 3), i % 6 >= 3);
        g = read_text(text, what);
        memset(&err, 0, sizeof err);
        CHECK(g && weir_graph_compare(want, g, false, &err) == WEIR_OK && weir_check(g, &err) == WEIR_OK, "%s: %s",
              what, err.text);
        for (weir_vertex v = 1; g && v < MANY; v++)
            CHECK(weir_vertex_id(g, v) == weir_vertex_id(want, v), "%s: vertex %u", what, v);
        weir_graph_free(g);
        free(text);
    }
    weir_graph_free(want);
}

/* Errors name a vertex by id. */
static void test_names_of_ids(void)
{
    char text[400], ids[3][24], want[200];

    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        weir_graph *g = NULL;
        weir_err err = {0};
        for (uint32_t k = 0; k < 3; k++)
            styles[i].write(k + 4, ids[k]);
        snprintf(
            text, sizeof text,
            "{\"graph\":{\"nodes\":[{\"id\":\"%s\",\"metadata\":{\"type\":\"a\"}},{\"id\":\"%s\",\"metadata\":{"
            "\"type\":"
            "\"b\"}},{\"id\":\"%s\",\"metadata\":{\"type\":\"c\"}}],\"edges\":[{\"source\":\"%s\",\"target\":\"%s\"},"
            "{\"source\":\"%s\",\"target\":\"%s\"}]}}",
            ids[0], ids[1], ids[2], ids[0], ids[2], ids[1], ids[2]);
        snprintf(want, sizeof want, "graph.edges[1]: vertex \"%s\" has two parents, \"%s\" and \"%s\"", ids[2], ids[0],
                 ids[1]);
        CHECK(weir_graph_parse(text, strlen(text), "test", "jgf", &g, &err) == WEIR_EINVAL &&
                  check_same(err.text, want),
              "%s: %s is not %s", styles[i].what, err.text, want);
    }
}

/* ---- UUIDs after a load ---------------------------------------------------------------------------------------- */

#define GIVEN(n) "01234567-89ab-4def-8123-45678900000" n

static const char with_uuids[] =
    "{\"graph\":{\"nodes\":[{\"id\":\"0\",\"metadata\":{\"type\":\"cluster\",\"id\":0}},"
    "{\"id\":\"1\",\"metadata\":{\"type\":\"node\",\"id\":0,\"uuid\":\"" GIVEN(
        "1") "\"}},"
             "{\"id\":\"2\",\"metadata\":{\"type\":\"node\",\"id\":1,\"uuid\":\"" GIVEN(
                 "2") "\"}}],"
                      "\"edges\":[{\"source\":\"0\",\"target\":\"1\"},{\"source\":\"0\",\"target\":\"2\"}]}}";

/* Adds a node with a UUID below the cluster. */
static int add_uuid(weir_graph *g, const char *uuid, weir_vertex *out)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_err err = {0};

    d.type = "node";
    d.uuid = uuid;
    return weir_graph_add(g, 0, &d, out, &err);
}

static int copy_and_add(void *g)
{
    weir_graph *copy = NULL;
    weir_vertex v;
    weir_err err = {0};
    int rc = weir_graph_dup(g, &copy, &err);

    if (rc == WEIR_OK) {
        uint32_t before = weir_graph_count(copy);
        rc = add_uuid(copy, GIVEN("3"), &v);
        CHECK(weir_graph_count(copy) == before + (rc == WEIR_OK), "%u vertices", weir_graph_count(copy));
        CHECK(rc < 0 || add_uuid(copy, GIVEN("1"), &v) == WEIR_EEXIST, "the UUID is another's");
    }
    weir_graph_free(copy);
    return rc;
}

/* A UUID of a loaded machine is not given again, until its vertex is gone. */
static void test_uuids(void)
{
    weir_graph *g = read_text(with_uuids, "UUIDs"), *copy = NULL;
    weir_vertex v;
    char uuid[37];

    check_nomem(copy_and_add, g, "a UUID after a load");
    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a copy");
    for (int i = 0; i < 2; i++) {
        weir_graph *of = i ? copy : g;
        CHECK(weir_graph_unlink(of, 1, NULL) == WEIR_OK, "the first node goes");
        CHECK(add_uuid(of, GIVEN("2"), &v) == WEIR_EEXIST, "the second has its UUID still");
        CHECK(add_uuid(of, GIVEN("1"), &v) == WEIR_OK, "that of the first is free");
        weir_vertex_uuid(of, v, uuid);
        CHECK(check_same(uuid, GIVEN("1")), "%s", uuid);
        CHECK(add_uuid(of, GIVEN("1"), &v) == WEIR_EEXIST, "and given again");
        CHECK(weir_graph_unlink(of, 2, NULL) == WEIR_OK && add_uuid(of, GIVEN("2"), &v) == WEIR_OK, "once more");
        weir_graph_free(of);
    }
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static int parse_once(void *arg)
{
    weir_graph *g = NULL;
    weir_err err = {0};
    int rc = weir_graph_parse(arg, strlen(arg), "test", "jgf", &g, &err);

    weir_graph_free(g);
    return rc;
}

static int load_once(void *arg)
{
    weir_graph *g = NULL;
    weir_err err = {0};
    int rc = weir_graph_load(arg, NULL, &g, &err);

    weir_graph_free(g);
    return rc;
}

static int format_once(void *arg)
{
    weir_err err = {0};
    char *text = weir_graph_format(arg, "jgf", &err);
    bool written = text != NULL;

    weir_free(text);
    return written ? WEIR_OK : err.code;
}

static const weir_graph *machine;

static int resolve_once(void *arg)
{
    weir_pick *picks = NULL;
    uint32_t n;
    weir_err err = {0};
    int rc = weir_graph_resolve(machine, arg, strlen(arg), "test", &picks, &n, &err);

    CHECK(rc == WEIR_OK || !picks, "nothing is handed over");
    weir_free(picks);
    return rc;
}

/* A document with a string over several slices, so that YAJL buffers parts of the string. */
static char *long_document(void)
{
    size_t n = 70000;
    char *text = malloc(n + 200), *at = text;

    at += sprintf(at, "{\"graph\":{\"nodes\":[{\"id\":\"a\",\"metadata\":{\"type\":\"core\",\"tags\":{\"t\":\"\\n");
    memset(at, 'x', n / 2);
    sprintf(at + n / 2, "\"}}}],\"edges\":[]}}");
    return text;
}

/* A graph with a document of mostly edges of a subsystem. */
static weir_graph *feed_all(void)
{
    static const char recipe[] = "cluster:1 node:30 pdu:1";
    weir_vertex from, to;
    weir_graph *g = NULL;
    char path[40];

    CHECK(weir_graph_parse(recipe, strlen(recipe), "test", "synthetic", &g, NULL) == WEIR_OK, "%s", recipe);
    for (int i = 0; i < 900; i++) {
        snprintf(path, sizeof path, "/cluster0/node%d/pdu0", i / 30);
        CHECK(weir_graph_lookup(g, path, &from, NULL) == WEIR_OK, "%s", path);
        snprintf(path, sizeof path, "/cluster0/node%d", i % 30);
        CHECK(weir_graph_lookup(g, path, &to, NULL) == WEIR_OK, "%s", path);
        CHECK(weir_edge_add(g, from, to, "power", "feeds", NULL, NULL) == WEIR_OK, "edge %d", i);
    }
    return g;
}

static void test_nomem(void)
{
    char path[] = "/tmp/weir-jgf-XXXXXX", *text;
    int fd = mkstemp(path);
    weir_graph *g = read_text(document, "document"), *fed;

    CHECK(fd >= 0 && write(fd, document, sizeof document - 1) == (ssize_t)sizeof document - 1, "a file");
    close(fd);
    check_nomem(parse_once, (void *)(uintptr_t)document, "parse");
    check_nomem(load_once, path, "load");
    check_nomem(format_once, g, "format");
    unlink(path);
    text = long_document();
    check_nomem(parse_once, text, "a long text");
    free(text);
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        text = write_document(&styles[i], (uint32_t)(i % 3), i % 2);
        check_nomem(parse_once, text, styles[i].what);
        free(text);
    }
    fed = feed_all();
    check_nomem(format_once, fed, "format what is fed");
    weir_graph_free(fed);
    machine = g;
    text = weir_graph_format(g, "jgf", NULL);
    check_nomem(resolve_once, text, "resolve");
    weir_free(text);
    weir_graph_free(g);
}

/* Fills an array of 12 bytes an element, to just above the size from which the array has pages of its own. */
static int fill_scratch(void *arg)
{
    uint32_t(*list)[3] = NULL, cap = 0, n = 0, wrong = 0, wanted = *(uint32_t *)arg;

    while (n < wanted && weir_scratch_grow(&list, &cap, (size_t)n + 1, sizeof *list) == WEIR_OK) {
        memcpy(list[n], &(uint32_t[3]){n, ~n, n * 7919}, sizeof *list);
        n++;
    }
    for (uint32_t i = 0; i < n; i++)
        wrong += list[i][0] != i || list[i][1] != ~i || list[i][2] != i * 7919;
    CHECK(wrong == 0 && cap >= n, "%u elements of %u are what they were", n, cap);
    weir_scratch_free(&list, &cap, sizeof *list);
    CHECK(!list && cap == 0, "nothing is left");
    return n == wanted ? WEIR_OK : WEIR_ENOMEM;
}

static void test_scratch(void)
{
    static uint32_t lengths[] = {1, 8, 5461, 5462, 8192, 300000};
    uint32_t *list = NULL, cap = 0;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check_nomem(fill_scratch, &lengths[i], "scratch");
    CHECK(weir_scratch_grow(&list, &cap, (size_t)UINT32_MAX + 1, sizeof *list) == WEIR_ENOMEM && !list, "too long");
    weir_scratch_free(&list, &cap, sizeof *list);
}

int main(void)
{
    test_scratch();
    test_extended();
    test_deep();
    test_long();
    test_kv_image();
    test_beginnings();
    test_orders();
    test_names_of_ids();
    test_uuids();
    test_nomem();
    return check_report();
}
