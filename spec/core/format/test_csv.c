/* test_csv.c - tables, and the options, the sinks and the failing allocations of writers of graphs. Texts written by
 * hand for machines of a few vertices.
 */
#include "check.h"
#include "machines.h"

#include "base/base.h"

/* ---- machines ------------------------------------------------------------------------------------------------- */

static weir_vertex add_named(weir_graph *g, weir_vertex parent, const char *type, const char *name)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    d.type = type;
    d.name = name;
    CHECK(weir_graph_add(g, parent, &d, &v, &err) == WEIR_OK, "a %s with a name is added: %s", type, err.text);
    return v;
}

static weir_graph *parse(const char *text)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), "test", "synthetic", &g, &err) == WEIR_OK, "%s: %s", text, err.text);
    return g;
}

static weir_vertex find(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, path, &v, &err) == WEIR_OK, "%s: %s", path, err.text);
    return v;
}

static void take(weir_graph *g, const char *path, int64_t job, int64_t amount, int64_t start, int64_t end)
{
    weir_vertex v = find(g, path);
    weir_err err = {0};

    CHECK(weir_vertex_allocate(g, v, job, amount ? amount : weir_vertex_size(g, v), start, end, &err) == WEIR_OK,
          "%s: %s", path, err.text);
}

/* Two racks, everything in some use, state or subsystem. */
static weir_graph *busy_machine(void)
{
    weir_graph *g = parse("cluster:1 rack:2 node:2 socket:2 core:3 gpu:1 memory:1(size=64,unit=GB)");
    weir_vertex pdu = add_pools(g, WEIR_NONE, "pdu", 0, 2);

    take(g, "/cluster0/rack0/node0", 1, 0, 0, WEIR_FOREVER);
    take(g, "/cluster0/rack0/node1/socket0/core1", 2, 0, 0, WEIR_FOREVER);
    take(g, "/cluster0/rack0/node1/socket0/memory0", 2, 24, 0, WEIR_FOREVER);
    take(g, "/cluster0/rack0/node1/socket0/memory0", 13, 8, 0, WEIR_FOREVER);
    take(g, "/cluster0/rack1/node2", 3, 0, 1000000, 2000000);
    CHECK(weir_vertex_set_state(g, find(g, "/cluster0/rack1/node3"), WEIR_DOWN, NULL) == WEIR_OK, "down");
    CHECK(weir_vertex_set_state(g, find(g, "/cluster0/rack1/node2/socket0"), WEIR_DEGRADED, NULL) == WEIR_OK,
          "degraded");
    CHECK(weir_vertex_set(g, find(g, "/cluster0/rack1"), WEIR_PROPERTIES, "row", "b", NULL) == WEIR_OK, "a property");
    for (uint32_t i = 0; i < 2; i++)
        CHECK(weir_edge_add(g, pdu + i, find(g, i ? "/cluster0/rack1/node2" : "/cluster0/rack0/node0"), "power",
                            "feeds", NULL, NULL) == WEIR_OK,
              "an edge");
    return g;
}

static char *format(const weir_graph *g, const char *name, const weir_format_options *o)
{
    weir_err err = {0};
    char *text = o ? weir_graph_format_with(g, name, o, &err) : weir_graph_format(g, name, &err);

    CHECK(text, "%s: %s", name, err.text);
    return text;
}

static void expect_text(const weir_graph *g, const char *name, const weir_format_options *o, const char *expected)
{
    char *text = format(g, name, o);

    CHECK(check_same(text, expected), "%s: got\n%s\nnot\n%s\n", name, text ? text : "nothing", expected);
    weir_free(text);
}

/* ---- tables --------------------------------------------------------------------------------------------------- */

#define HEADS "path,type,basename,id,name,size,unit,state,rank,free,allocated,jobs,properties,tags,exclusive,data\n"

static void test_csv(void)
{
    weir_graph *g = parse("node:2 core:2 memory:1(size=64,unit=GB)");
    weir_format_options o = WEIR_FORMAT_OPTIONS_INIT;
    weir_vertex node = find(g, "/cluster0/node0");

    take(g, "/cluster0/node0", 7, 0, 0, WEIR_FOREVER);
    take(g, "/cluster0/node1/memory0", 8, 24, 0, WEIR_FOREVER);
    take(g, "/cluster0/node1/memory0", 9, 8, 0, WEIR_FOREVER);
    take(g, "/cluster0/node1/core1", 4, 0, 5, 6);
    CHECK(weir_vertex_set_state(g, find(g, "/cluster0/node1/core0"), WEIR_DOWN, NULL) == WEIR_OK, "down");
    CHECK(weir_vertex_set(g, node, WEIR_PROPERTIES, "a;b", "1=2\\", NULL) == WEIR_OK, "a property");
    CHECK(weir_vertex_set(g, node, WEIR_PROPERTIES, "big", "", NULL) == WEIR_OK, "a property without a value");
    CHECK(weir_vertex_set(g, node, WEIR_TAGS, "who", "me, \"you\"\n", NULL) == WEIR_OK, "a tag");
    CHECK(weir_vertex_set(g, node, WEIR_EXTENDED, "x", "[1,2]", NULL) == WEIR_OK, "data");
    expect_text(g, "csv", NULL,
                HEADS "/cluster0,cluster,cluster,0,cluster0,1,,up,,1,0,\"4,7-9\",,,,\n"
                      "/cluster0/node0,node,node,0,node0,1,,up,0,0,1,7,a\\;b=1\\=2\\\\;big,\"who=me, \"\"you\"\"\n\",,"
                      "\"{\"\"x\"\":[1,2]}\"\n"
                      "/cluster0/node0/core0,core,core,0,core0,1,,up,0,0,1,7,,,,\n"
                      "/cluster0/node0/core1,core,core,1,core1,1,,up,0,0,1,7,,,,\n"
                      "/cluster0/node0/memory0,memory,memory,0,memory0,64,GB,up,0,0,64,7,,,,\n"
                      "/cluster0/node1,node,node,1,node1,1,,up,1,1,0,\"4,8-9\",,,,\n"
                      "/cluster0/node1/core0,core,core,0,core0,1,,down,1,0,0,,,,,\n"
                      "/cluster0/node1/core1,core,core,1,core1,1,,up,1,1,0,4,,,,\n"
                      "/cluster0/node1/memory0,memory,memory,0,memory0,64,GB,up,1,32,32,8-9,,,,\n");
    o.start = find(g, "/cluster0/node0/core1");
    expect_text(g, "csv", &o, HEADS "/cluster0/node0/core1,core,core,1,core1,1,,up,0,0,1,7,,,,\n");
    weir_graph_free(g);
}

/* ---- sinks ---------------------------------------------------------------------------------------------------- */

struct pieces {
    weir_buf all;
    size_t longest, n, fail_at;
};

static int take_piece(void *data, const char *text, size_t len)
{
    struct pieces *p = data;

    if (++p->n == p->fail_at)
        return WEIR_EIO;
    weir_buf_add(&p->all, text, len);
    p->longest = len > p->longest ? len : p->longest;
    return WEIR_OK;
}

static void test_sinks(void)
{
    static const char *const names[] = {"csv", "jgf"};
    weir_graph *g = parse("cluster:1 rack:20 node:50 core:10");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pieces p = {.fail_at = 0}, bad = {.fail_at = i == 0 ? 3 : 1};
        char *text = format(g, names[i], NULL);
        weir_err err = {0};
        CHECK(weir_graph_write(g, names[i], NULL, take_piece, &p, &err) == WEIR_OK, "%s: %s", names[i], err.text);
        CHECK(check_same(text, p.all.data), "%s in pieces is the same", names[i]);
        CHECK(i > 0 || (p.n > 5 && p.longest < 2 * 65536), "csv comes in %zu pieces, the longest %zu", p.n, p.longest);
        CHECK(weir_graph_write(g, names[i], NULL, take_piece, &bad, &err) == WEIR_EIO, "%s: the sink refuses",
              names[i]);
        CHECK(bad.n == bad.fail_at, "%s: nothing is given to a sink that refused", names[i]);
        weir_free(text);
        weir_buf_free(&p.all);
        weir_buf_free(&bad.all);
    }
    weir_graph_free(g);
}

/* a machine after many changes */

/* Removed roots and children, long names, many kinds, more jobs than a picture tells apart, a clock that moved on,
 * and a property with a different value on each node. */
static weir_graph *worn_machine(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex gone = add_pools(g, WEIR_NONE, "gone", 0, 1), top = add_pools(g, WEIR_NONE, "cluster", 0, 1), out, v;
    char name[400], type[16], path[64];

    memset(name, 'n', sizeof name);
    memcpy(name + 115, "\xe6\x9c\xba\xe5\x99\xa8\xe6\x9c\xba\xe5\x99\xa8", 12); /* at the cut */
    name[sizeof name - 1] = '\0';
    out = add_pools(g, top, "rack", 0, 1);
    for (int i = 0; i < 40; i++) {
        v = i ? add_pools(g, top, "node", i, 1) : add_named(g, top, "node", name);
        add_pools(g, v, "core", 0, 8);
        snprintf(path, sizeof path, "v%02d", i);
        CHECK(weir_vertex_set(g, v, WEIR_PROPERTIES, "place", path, NULL) == WEIR_OK, "a property");
    }
    add_named(g, v, "disk", name);
    for (int i = 0; i < 9; i++) {
        snprintf(type, sizeof type, "type%d", i);
        add_pools(g, v, type, INT64_C(5000000000) + i, 2);
        snprintf(path, sizeof path, "/cluster0/node39/%s500000000%d", type, i);
        take(g, path, 1000, 0, 0, WEIR_FOREVER);
    }
    for (int i = 1; i < 39; i++)
        for (int k = 0; k < 8; k++) {
            snprintf(path, sizeof path, "/cluster0/node%d/core%d", i, k);
            take(g, path, 1 + 8 * i + k, 0, 0, WEIR_FOREVER);
        }
    CHECK(weir_edge_add(g, top, v, "power", "feeds", NULL, NULL) == WEIR_OK, "an edge");
    CHECK(weir_vertex_set_state(g, v, WEIR_DRAINING, NULL) == WEIR_OK, "a state");
    CHECK(weir_graph_unlink(g, gone, NULL) == WEIR_OK && weir_graph_unlink(g, out, NULL) == WEIR_OK, "some go");
    CHECK(weir_graph_advance(g, 5000000, NULL) == WEIR_OK, "the clock goes on");
    return g;
}

static void test_worn(void)
{
    static const struct {
        const char *format, *part;
        bool below; /* only a node */
    } rows[] = {
        {"csv", "nnnn", false},
        {"csv", "/cluster0/node39/core7", true},
        {"csv", "/cluster0/node39/type85000000008,", false},
    };
    weir_graph *g = worn_machine();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_format_options o = WEIR_FORMAT_OPTIONS_INIT;
        char *text;
        o.start = rows[i].below ? find(g, "/cluster0/node39") : WEIR_NONE;
        text = format(g, rows[i].format, &o);
        CHECK(text && strstr(text, rows[i].part), "%s: %s is in it", rows[i].format, rows[i].part);
        CHECK(!text || !strstr(text, "gone0"), "%s: what went is not", rows[i].format);
        weir_free(text);
    }
    CHECK(weir_check(g, NULL) == WEIR_OK, "sound");
    weir_graph_free(g);
}

/* ---- options -------------------------------------------------------------------------------------------------- */

static void test_options(void)
{
    weir_graph *g = busy_machine();
    weir_vertex node = find(g, "/cluster0/rack0/node0");
    const struct {
        const char *format;
        weir_format_options o;
        int code;
        const char *part;
    } rows[] = {
        {"jgf", {node}, WEIR_EINVAL, "\"jgf\" is written without the option `start`"},
        {"csv", {4000}, WEIR_ENOENT, "there is no vertex 4000"},
        {"png", {WEIR_NONE}, WEIR_EINVAL, "rlite, csv"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_err err = {0};
        char *text = weir_graph_format_with(g, rows[i].format, &rows[i].o, &err);
        CHECK(!text && err.code == rows[i].code && strstr(err.text, rows[i].part), "%s: got %s, not %s", rows[i].format,
              err.text, rows[i].part);
        weir_free(text);
        CHECK(weir_graph_write(g, rows[i].format, &rows[i].o, take_piece, &(struct pieces){.fail_at = 1}, NULL) ==
                  rows[i].code,
              "%s: nothing is written", rows[i].format);
    }
    weir_graph_free(g);
}

/* ---- failing allocations -------------------------------------------------------------------------------------- */

struct attempt {
    const weir_graph *g;
    const char *format;
    weir_format_options o;
};

static int format_once(void *arg)
{
    const struct attempt *t = arg;
    weir_err err = {0};
    char *text = weir_graph_format_with(t->g, t->format, &t->o, &err);
    bool whole = text != NULL;

    weir_free(text);
    return whole ? WEIR_OK : err.code;
}

static void test_nomem(void)
{
    weir_graph *busy = busy_machine(), *worn = worn_machine();
    const struct attempt rows[] = {
        {busy, "csv", WEIR_FORMAT_OPTIONS_INIT},
        {worn, "csv", WEIR_FORMAT_OPTIONS_INIT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_nomem(format_once, (void *)&rows[i], rows[i].format);
    weir_graph_free(busy);
    weir_graph_free(worn);
}

int main(void)
{
    test_csv();
    test_sinks();
    test_worn();
    test_options();
    test_nomem();
    return check_report();
}
