/* test_constraint.c - RFC 31 constraints, with the rows of codec/constraint_match.json where available; and the
 * node table with which constraints are solved.
 */
#include "check.h"

#include "request/constraint.h"
#include "graph/observer.h"
#include "request/request.h"
#include "index/node_table.h"

static json_t *data_table(const char *file, const char *table, json_t **root)
{
    char path[512];

    *root = json_load_file(check_data(file, path, sizeof path), 0, NULL);
    if (!*root)
        printf("skipped: no %s\n", path);
    return json_object_get(json_object_get(*root, "tables"), table);
}

struct constraint_row {
    const char *json;
    int code;
    bool match; /* node foo0 of rank 7, with properties xx, yy, zz@gpu */
    const char *error;
};

static const struct constraint_row constraints[] = {
    {"{}", 0, true, NULL},
    {"{\"and\":[]}", 0, true, NULL},
    {"{\"or\":[]}", 0, true, NULL},
    {"{\"not\":[]}", 0, false, NULL},
    {"{\"properties\":[]}", 0, true, NULL},
    {"{\"hostlist\":[]}", 0, false, NULL},
    {"{\"ranks\":[]}", 0, false, NULL},
    {"{\"properties\":[\"xx\",\"yy\"]}", 0, true, NULL},
    {"{\"properties\":[\"^xx\"]}", 0, false, NULL},
    {"{\"properties\":[\"x\"]}", 0, false, NULL},
    {"{\"properties\":[\"foo0\"]}", 0, true, NULL},
    {"{\"properties\":[\"^foo0\"]}", 0, false, NULL},
    {"{\"properties\":[\"zz\"]}", 0, true, NULL},
    {"{\"properties\":[\"zz@gpu\"]}", 0, true, NULL},
    {"{\"properties\":[\"zz@core\"]}", 0, false, NULL},
    {"{\"properties\":[\"^zz\"]}", 0, false, NULL},
    {"{\"hostlist\":[\"foo[1-3],foo0\"]}", 0, true, NULL},
    {"{\"hostlist\":[\"foo[1-3]\",\"bar\"]}", 0, false, NULL},
    {"{\"hostlist\":[\"foo[0-999999999]\"]}", 0, true, NULL},
    {"{\"hostlist\":[\"foo[00-10]\"]}", 0, false, NULL},
    {"{\"ranks\":[\"0-6\",\"8\"]}", 0, false, NULL},
    {"{\"ranks\":[\"0-6\",\"7\"]}", 0, true, NULL},
    {"{\"not\":[{\"properties\":[\"xx\"]},{\"properties\":[\"qq\"]}]}", 0, true, NULL},
    {"{\"not\":[{\"or\":[{\"ranks\":[\"7\"]}]}]}", 0, false, NULL},
    {"{\"properties\":[\"xx\"],\"ranks\":[\"1\"]}", 0, false, NULL},
    {"[]", WEIR_EINVAL, false, "constraint must be JSON object, such as {\"properties\": [\"ssd\"]}, not a list"},
    {"{\"xor\":[]}", WEIR_EINVAL, false,
     "unknown constraint operator \"xor\"; known: and, or, not, properties, hostlist, ranks"},
    {"{\"or\":3}", WEIR_EINVAL, false, "or operator value must be an array, not an integer"},
    {"{\"ranks\":\"3\"}", WEIR_EINVAL, false, "ranks value must be an array, not a string"},
    {"{\"ranks\":[3]}", WEIR_EINVAL, false, "ranks value must be a list of strings; element 0 is an integer"},
    {"{\"properties\":[\"a\",\"b|c\"]}", WEIR_EINVAL, false, "invalid character '|' in property \"b|c\""},
    {"{\"properties\":[\"^\"]}", WEIR_EINVAL, false, "a property must have 1 to 65536 bytes, not 0"},
    {"{\"and\":[{\"or\":[7]}]}", WEIR_EINVAL, false,
     "constraint must be JSON object, such as {\"properties\": [\"ssd\"]}, not an integer"},
    {"{\"and\":[", WEIR_EPARSE, false, "not valid JSON: ']' expected near end of file"},
};

static weir_graph *constraint_graph(weir_vertex *node)
{
    weir_pool_desc cluster = WEIR_POOL_DESC_INIT, desc = WEIR_POOL_DESC_INIT;
    weir_graph *g = weir_graph_new();
    weir_vertex root;
    bool good;

    cluster.type = "cluster";
    desc.type = "node";
    desc.name = "foo0";
    desc.id = 0;
    desc.rank = 7;
    good = g && weir_graph_add(g, WEIR_NONE, &cluster, &root, NULL) == WEIR_OK &&
           weir_graph_add(g, root, &desc, node, NULL) == WEIR_OK &&
           weir_vertex_set(g, *node, WEIR_PROPERTIES, "xx", "", NULL) == WEIR_OK &&
           weir_vertex_set(g, *node, WEIR_PROPERTIES, "yy", "1", NULL) == WEIR_OK;
    CHECK(good, "[C1] a graph to match against");
    return g;
}

static void check_constraint(const weir_graph *g, weir_vertex v, const struct constraint_row *t, bool whole_text)
{
    weir_constraint *c = NULL;
    weir_err err = {0};
    int rc = weir_constraint_parse(t->json, strlen(t->json), &c, &err);

    CHECK(rc == t->code && (rc == WEIR_OK) == (c != NULL), "[C1] %s: %s", t->json, err.text);
    if (rc == WEIR_OK)
        CHECK(weir_constraint_match(c, g, v) == t->match, "[C1] %s matches: %d", t->json, t->match);
    else
        CHECK(whole_text ? check_same(err.text, t->error) : !t->error || strstr(err.text, t->error),
              "[C1] %s:\n  got  %s\n  want %s", t->json, err.text, t->error ? t->error : "any");
    weir_constraint_free(c);
}

/* Checks the rows of codec/constraint_match.json, with rank 0 for the node. */
static void check_constraint_data(const weir_graph *g, weir_vertex v)
{
    json_t *root, *row, *rows = data_table("codec/constraint_match.json", "match_tests", &root);
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *json = json_string_value(json_array_get(row, 1));
        struct constraint_row t = {json, WEIR_OK, json_is_true(json_array_get(row, 2)), NULL};
        if (json)
            check_constraint(g, v, &t, false);
    }
    rows = json_object_get(json_object_get(root, "tables"), "validate_tests");
    json_array_foreach(rows, i, row)
    {
        const char *json = json_string_value(json_array_get(row, 1));
        const char *error = json_string_value(json_array_get(row, 3));
        weir_constraint *c = NULL;
        weir_err err = {0};
        int rc = weir_constraint_parse(json, strlen(json), &c, &err);
        CHECK((rc == WEIR_OK) == json_is_true(json_array_get(row, 2)), "[C1] %s: %s", json, err.text);
        CHECK(!error || strstr(err.text, error), "[C1] %s:\n  got  %s\n  want %s", json, err.text, error);
        weir_constraint_free(c);
    }
    json_decref(root);
}

static int constraint_once(void *text)
{
    weir_constraint *c = NULL;
    int rc = weir_constraint_parse(text, strlen(text), &c, NULL);

    weir_constraint_free(c);
    return rc;
}

static void test_constraints(void)
{
    weir_vertex node = 0;
    weir_graph *g = constraint_graph(&node);
    weir_buf deep = {0};
    char constraint[] =
        "{\"not\":[{\"properties\":[\"a\",\"^b\"]},{\"hostlist\":[\"a[1-2],b7-x\"]},{\"ranks\":[\"1\"]}]}";
    weir_constraint *c = NULL;

    CHECK(weir_vertex_set_rank(g, node, 0, NULL) == WEIR_OK, "[C1] rank 0");
    check_constraint_data(g, node);
    CHECK(weir_vertex_set_rank(g, node, 7, NULL) == WEIR_OK, "[C1] rank 7");
    CHECK(weir_vertex_set(g, node, WEIR_PROPERTIES, "zz@gpu", "", NULL) == WEIR_OK, "[C1] a suffix");
    for (size_t i = 0; i < sizeof constraints / sizeof *constraints; i++)
        check_constraint(g, node, &constraints[i], true);
    for (int i = 0; i < 65; i++)
        weir_buf_puts(&deep, "{\"not\":[");
    weir_buf_puts(&deep, "{}");
    for (int i = 0; i < 65; i++)
        weir_buf_puts(&deep, "]}");
    CHECK(weir_constraint_parse(deep.data, deep.len, &c, NULL) == WEIR_ELIMIT, "[C1] nested too deep");
    weir_buf_free(&deep);
    weir_graph_free(g);
    check_nomem(constraint_once, constraint, "[C1] constraint");
}

/* ---- the nodes of a machine ------------------------------------------------------------------------------------ */

#define NODES 40 /* right below the cluster, for rows over groups of nodes */

static weir_graph *fleet(weir_vertex *first)
{
    weir_pool_desc cluster = WEIR_POOL_DESC_INIT, desc = WEIR_POOL_DESC_INIT;
    weir_graph *g = weir_graph_new();
    weir_vertex root;
    bool good;

    cluster.type = "cluster";
    desc.type = "node";
    desc.id = 0;
    good = g && weir_graph_add(g, WEIR_NONE, &cluster, &root, NULL) == WEIR_OK &&
           weir_graph_add_many(g, root, &desc, NODES, 1, first, NULL) == WEIR_OK;
    for (uint32_t i = 0; good && i < NODES; i++)
        good = weir_vertex_set_rank(g, *first + i, i < 20 ? 100 + i : 300 - i, NULL) == WEIR_OK &&
               weir_vertex_set(g, *first + i, WEIR_PROPERTIES, i % 2 ? "odd" : "even@core", "", NULL) == WEIR_OK;
    CHECK(good, "[C3] a fleet");
    return g;
}

/* The ids of nodes instead of numbers. */
static weir_idset *by_id(const weir_graph *g, const struct node_table *r, weir_idset *nodes)
{
    weir_idset *ids = weir_idset_new();

    for (int64_t i = weir_idset_first(nodes); i >= 0; i = weir_idset_next(nodes, i))
        CHECK(weir_idset_add_id(ids, (uint32_t)weir_vertex_id(g, r->nodes[i])) == WEIR_OK, "[C3] an id");
    weir_idset_free(nodes);
    return ids;
}

static void check_allowed(weir_graph *g, const char *json, const char *wanted)
{
    struct node_table *r = NULL;
    weir_constraint *c = NULL;
    weir_idset *nodes = NULL;
    char *text;

    CHECK(weir_node_table_get(g, weir_type_find(g, "node"), &r) == WEIR_OK, "[C3] a node table");
    CHECK(weir_constraint_parse(json, strlen(json), &c, NULL) == WEIR_OK, "[C3] %s", json);
    CHECK(weir_constraint_nodes(c, g, r, &nodes) == WEIR_OK, "[C3] %s is solved", json);
    nodes = by_id(g, r, nodes);
    text = weir_idset_format(nodes, WEIR_IDSET_RANGES, NULL);
    CHECK(check_same(text, wanted), "[C3] %s:\n  got  %s\n  want %s", json, text, wanted);
    CHECK(weir_check(g, NULL) == WEIR_OK, "[C3] sound");
    weir_free(text);
    weir_idset_free(nodes);
    weir_constraint_free(c);
}

static void test_node_table(void)
{
    weir_vertex first = 0;
    weir_graph *g = fleet(&first);

    check_allowed(g, "{}", "0-39");
    check_allowed(g, "{\"ranks\":[\"105-110,270-275\",\"4294967295\"]}", "5-10,25-30");
    check_allowed(g, "{\"hostlist\":[\"node[7-9,39-50]\",\"node007\"]}", "7-9,39");
    check_allowed(g, "{\"hostlist\":[\"node[38-9999]\"]}", "38-39");
    check_allowed(g, "{\"properties\":[\"even\",\"^node4\"],\"ranks\":[\"0-107\"]}", "0,2,6");
    check_allowed(g, "{\"not\":[{\"or\":[{\"properties\":[\"odd\"]},{\"ranks\":[\"200-300\"]}]}]}",
                  "0,2,4,6,8,10,12,14,16,18");
    CHECK(weir_vertex_set(g, first + 33, WEIR_PROPERTIES, "even", "", NULL) == WEIR_OK &&
              weir_vertex_unset(g, first + 34, WEIR_PROPERTIES, "even@core") == WEIR_OK,
          "[C4] changes");
    check_allowed(g, "{\"properties\":[\"even\"],\"hostlist\":[\"node[30-39]\"]}", "30,32-33,36,38");
    CHECK(weir_vertex_set_rank(g, first + 3, WEIR_NO_RANK, NULL) == WEIR_OK, "[C4] a rank goes");
    check_allowed(g, "{\"ranks\":[\"100-105\"]}", "0-2,4-5");
    CHECK(weir_graph_unlink(g, first, NULL) == WEIR_OK, "[C4] a node goes");
    check_allowed(g, "{\"ranks\":[\"100-105\"]}", "1-2,4-5");
    weir_graph_free(g);
}

static int match_once(void *data)
{
    static const char text[] = "{\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"s\",\"with\":[{\"type\":"
                               "\"node\",\"count\":1}]}],\"attributes\":{\"system\":{\"constraints\":{\"hostlist\":"
                               "[\"node39\"],\"properties\":[\"odd\"]}}}}";
    weir_match_options o = {.mode = WEIR_PREVIEW};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    int rc = weir_request_parse(text, sizeof text - 1, NULL, &r, NULL);

    WEIR_TELL((weir_graph *)data, reset, data);
    if (rc == WEIR_OK)
        rc = weir_match(data, r, &o, &a, NULL);
    weir_mem_fail_after(0);
    CHECK(rc != WEIR_OK || (a->npicks == 1 && weir_check(data, NULL) == WEIR_OK), "[C3] one node");
    weir_allocation_free(a);
    weir_request_free(r);
    return rc;
}

/* A change needs no memory for the node table: the table is dropped. */
static void test_changes_without_memory(weir_graph *g, weir_vertex v)
{
    static const char *const keys[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};

    for (long n = 1; n <= 8; n++) {
        struct node_table *r;
        const char *key = keys[n - 1];
        char json[64];
        int rc;
        CHECK(weir_node_table_get(g, weir_type_find(g, "node"), &r) == WEIR_OK, "[C4] a node table");
        weir_mem_fail_after(n);
        rc = weir_vertex_set(g, v, WEIR_PROPERTIES, key, "", NULL);
        weir_mem_fail_after(0);
        snprintf(json, sizeof json, "{\"properties\":[\"%s\"]}", key);
        check_allowed(g, json, rc == WEIR_OK ? "5" : "");
    }
}

static void test_nomem(void)
{
    weir_vertex first = 0;
    weir_graph *g = fleet(&first);

    check_nomem(match_once, g, "[C3] a match that asks the node table");
    test_changes_without_memory(g, first + 5);
    weir_graph_free(g);
}

int main(void)
{
    test_constraints();
    test_node_table();
    test_nomem();
    return check_report();
}
