/* test_treepool.c - RFC 49: the key `scheduling` for parts of its ranks, two keys merged, remapped ranks; and
 * reading and building with failing allocations.
 */
#include "check.h"

#include "idset/idset.h"
#include "rset/rack_table.h"

static json_t *read_json(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    CHECK(value != NULL, "%s is JSON", text);
    return value;
}

static void check_json(const json_t *got, const char *wanted, const char *what)
{
    json_t *want = read_json(wanted);
    char *text = got ? json_dumps(got, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    CHECK(json_equal(got, want), "%s:\n  got  %s\n  want %s", what, text, wanted);
    free(text);
    json_decref(want);
}

static weir_idset *ids(const char *text)
{
    weir_idset *s = NULL;

    CHECK(weir_idset_parse(text, strlen(text), &s, NULL) == WEIR_OK, "ids %s", text);
    return s;
}

#define ENTRY(ranks, cores) "{\"ranks\":\"" ranks "\",\"topo\":{\"numa\":[{\"cores\":\"" cores "\"}]}}"
#define KEY(entries)        "{\"writer\":\"TreePool\",\"extra\":1,\"children\":[" entries "]}"

static void test_cut(void)
{
    static const char *const rows[][3] = {
        /* key, ranks, remaining key */
        {KEY(ENTRY("0-3", "0-7") "," ENTRY("4-5,9", "0-3")), "2-4,7", KEY(ENTRY("2-3", "0-7") "," ENTRY("4", "0-3"))},
        {KEY(ENTRY("0-3", "0-7") "," ENTRY("4", "0-3")), "4", KEY(ENTRY("4", "0-3"))},
        {KEY(ENTRY("0-3", "0-7")), "9", KEY("")},
        {KEY("{\"ranks\":3}"), "9", KEY("{\"ranks\":3}")},
        {"{\"writer\":\"TreePool\"}", "9", "{\"writer\":\"TreePool\"}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *key = read_json(rows[i][0]), *out = NULL;
        weir_idset *ranks = ids(rows[i][1]);
        CHECK(weir_rack_table_cut(key, ranks, NULL, &out, NULL) == WEIR_OK, "cut");
        check_json(out, rows[i][2], "cut");
        check_json(key, rows[i][0], "what was cut is as it was");
        json_decref(out);
        json_decref(key);
        weir_idset_free(ranks);
    }
}

static void test_join(void)
{
    static const char *const rows[][3] = {
        {KEY(ENTRY("0-1", "0-7")), KEY(ENTRY("2,5", "0-7")), KEY(ENTRY("0-2,5", "0-7"))},
        {KEY(ENTRY("0-1", "0-7")), KEY(ENTRY("2", "0-3")), KEY(ENTRY("0-1", "0-7") "," ENTRY("2", "0-3"))},
        {"{\"writer\":\"TreePool\",\"extra\":1}", KEY(ENTRY("2", "0-3")), KEY(ENTRY("2", "0-3"))},
        {KEY(ENTRY("0", "0")), "{\"writer\":\"TreePool\"}", KEY(ENTRY("0", "0"))},
        /* entries of unknown ranks are kept side by side */
        {KEY("{\"ranks\":3,\"topo\":1}"), KEY("{\"ranks\":\"4\",\"topo\":1}"),
         KEY("{\"ranks\":3,\"topo\":1},{\"ranks\":\"4\",\"topo\":1}")},
        {KEY("{\"ranks\":\"4\",\"topo\":1}"), KEY("{\"ranks\":3,\"topo\":1}"),
         KEY("{\"ranks\":\"4\",\"topo\":1},{\"ranks\":3,\"topo\":1}")},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *a = read_json(rows[i][0]), *b = read_json(rows[i][1]), *out = NULL;
        CHECK(weir_rack_table_join(a, b, &out, NULL) == WEIR_OK, "join");
        check_json(out, rows[i][2], "join");
        json_decref(out);
        json_decref(a);
        json_decref(b);
    }
}

static void test_renumber(void)
{
    json_t *key = read_json(KEY(ENTRY("3,7-8", "0-7") "," ENTRY("20", "0-3"))), *out = NULL;
    weir_idset *ranks = ids("3,7-8,12,20");
    static const uint32_t to[] = {0, 1, 2, 3, 4};

    CHECK(weir_rack_table_cut(key, ranks, to, &out, NULL) == WEIR_OK, "renumber");
    check_json(out, KEY(ENTRY("0-2", "0-7") "," ENTRY("4", "0-3")), "renumber");
    json_decref(out);
    json_decref(key);
    weir_idset_free(ranks);
}

/* Parses an R. */
static int parse_once(void *text)
{
    weir_graph *g = NULL;
    int rc = weir_graph_parse(text, strlen(text), "x", "rv1", &g, NULL);

    weir_mem_fail_after(0);
    if (rc == WEIR_OK)
        CHECK(weir_check(g, NULL) == WEIR_OK, "sound");
    weir_graph_free(g);
    return rc;
}

struct change {
    json_t *a, *b;
    weir_idset *ranks;
};

static int change_once(void *data)
{
    struct change *c = data;
    static const uint32_t to[] = {5, 6};
    json_t *cut = NULL, *joined = NULL, *moved = NULL;
    int rc = weir_rack_table_cut(c->a, c->ranks, NULL, &cut, NULL);

    if (rc == WEIR_OK)
        rc = weir_rack_table_join(cut, c->b, &joined, NULL);
    if (rc == WEIR_OK)
        rc = weir_rack_table_cut(joined, c->ranks, to, &moved, NULL);
    json_decref(cut);
    json_decref(joined);
    json_decref(moved);
    return rc;
}

static void test_nomem(void)
{
    char r[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0-7\",\"gpu\":\"0\"}}]},"
        "\"scheduling\":{\"writer\":\"TreePool\",\"children\":[{\"ranks\":\"0-1\",\"topo\":{\"storage\":[{\"path\":\"/"
        "a\","
        "\"capacity\":2}],\"socket\":[{\"memory\":4,\"cores\":\"0-3\",\"gpus\":\"0\"},{\"cores\":\"4-5\"}]}}]}}";
    struct change c = {read_json(KEY(ENTRY("0-3", "0-7"))), read_json(KEY(ENTRY("4,6,8,10,12,14,16,18,20,22", "0-7"))),
                       ids("1,3")};

    check_nomem(parse_once, r, "read and build");
    json_set_alloc_funcs(weir_mem_alloc, weir_mem_free); /* the allocations of jansson fail in turn too */
    check_nomem(change_once, &c, "cut, join, renumber");
    json_decref(c.a);
    json_decref(c.b);
    weir_idset_free(c.ranks);
}

int main(void)
{
    test_cut();
    test_join();
    test_renumber();
    test_nomem();
    return check_report();
}
