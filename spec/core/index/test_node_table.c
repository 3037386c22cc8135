/* test_node_table.c - the node table follows random changes of a machine: a table still present is compared with a new
 * table, and a request with a constraint is matched on the machine and on a copy without a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/node_table.h"
#include "check.h"
#include "dice.h"

static weir_vertex add(weir_graph *g, weir_vertex parent, const char *type, uint32_t count)
{
    static const char *const names[] = {"alpha", "beta", "n-${rank}", "${k1}"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = dice(60);
    d.name = count == 1 && dice(8) == 0 ? names[dice(dice(4) ? 2 : 4)] : NULL;
    d.rank = count == 1 && dice(2) ? (int64_t)dice(40) : WEIR_NO_RANK;
    (void)!weir_graph_add_many(g, parent, &d, count, 1, &v, NULL);
    return v;
}

static void mark(weir_graph *g, weir_vertex v)
{
    static const char *const keys[] = {"k0", "k1", "k2@core", "k3"};
    const char *key = keys[dice(4)];

    if (dice(3))
        (void)!weir_vertex_set(g, v, WEIR_PROPERTIES, key, "x", NULL);
    else
        (void)!weir_vertex_unset(g, v, WEIR_PROPERTIES, key);
}

static void add_rack(weir_graph *g, weir_vertex root)
{
    weir_vertex rack = add(g, root, "rack", 1);

    for (uint32_t i = 0, n = dice(6); i < n; i++) {
        weir_vertex node = add(g, rack, "node", 1);
        add(g, node, "core", 1 + dice(2));
        mark(g, node);
    }
}

static void change(weir_graph *g)
{
    weir_vertex node = some_vertex_of(g, "node"), v = dice(3) || node == WEIR_NONE ? some_vertex(g) : node;
    weir_vertex rack = some_vertex_of(g, "rack"), root = some_vertex_of(g, "cluster");

    switch (dice(9)) {
    case 0: add_rack(g, dice(8) ? root : add(g, WEIR_NONE, "cluster", 1)); break;
    case 1: add(g, rack, "node", 1 + dice(dice(4) ? 3 : 40)); break;
    case 2: add(g, v, dice(3) ? "core" : "node", 1); break;
    case 3: add(g, dice(2) ? root : rack, dice(2) ? "gpu" : "disk", 1); break;
    case 4: (void)!weir_vertex_set_rank(g, v, dice(4) ? (int64_t)dice(40) : WEIR_NO_RANK, NULL); break;
    case 5:
    case 6: mark(g, v); break;
    default:
        if (strcmp(weir_vertex_type(g, v), "cluster") != 0 || dice(30) == 0)
            (void)!weir_graph_unlink(g, v, NULL);
    }
    if (weir_graph_root(g, NULL, 0) == WEIR_NONE)
        add_rack(g, add(g, WEIR_NONE, "cluster", 1));
}

static weir_request *some_request(void)
{
    static const char *const constraints[] = {"{\"properties\":[\"k0\"]}",
                                              "{\"properties\":[\"^k2\",\"k1\"]}",
                                              "{\"ranks\":[\"3-9,20\"]}",
                                              "{\"hostlist\":[\"node[10-40]\",\"alpha\",\"n-7\"]}",
                                              "{\"not\":[{\"properties\":[\"k3\"]}]}",
                                              "{\"properties\":[\"k0\",\"k1\",\"k2\"]}"};
    static const char *const types[] = {"node", "core", "rack", "gpu"};
    char text[400];
    weir_request *r = NULL;
    weir_err err = {0};

    snprintf(
        text, sizeof text,
        "{\"resources\":[{\"type\":\"slot\",\"count\":%u,\"label\":\"s\",\"with\":[{\"type\":\"%s\",\"count\":1%s}]}],"
        "\"attributes\":{\"system\":{\"duration\":0,\"constraints\":%s}}}",
        1 + dice(3), types[dice(4)], dice(2) ? "" : ",\"exclusive\":true", constraints[dice(6)]);
    CHECK(weir_request_parse(text, strlen(text), NULL, &r, &err) == WEIR_OK, "%s: %s", text, err.text);
    return r;
}

static bool same(const weir_allocation *a, const weir_allocation *b)
{
    if (a->npicks != b->npicks)
        return false;
    for (uint32_t i = 0; i < a->npicks; i++)
        if (a->picks[i].vertex != b->picks[i].vertex)
            return false;
    return true;
}

static bool compare(weir_graph *g, const weir_policy *p)
{
    weir_match_options o = {.mode = WEIR_PREVIEW, .policy = p};
    const weir_allocation *a = NULL, *b = NULL;
    weir_request *r = some_request();
    weir_err err = {0};
    weir_graph *copy;
    bool good;
    int rc, other;

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a machine is copied");
    other = weir_match(copy, r, &o, &b, NULL);
    rc = weir_match(g, r, &o, &a, &err);
    good = CHECK(rc == other && (rc || same(a, b)), "%s: %s and %s", p->name, weir_status_name(rc),
                 weir_status_name(other)) &&
           CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_allocation_free(a);
    weir_allocation_free(b);
    weir_request_free(r);
    weir_graph_free(copy);
    return good;
}

static void run(uint64_t from, int steps)
{
    static const char *const up[] = {"id"}, *const down[] = {"-id"};
    static const weir_policy policies[] = {
        {.name = "first"}, {.name = "low", .order = up, .norder = 1}, {.name = "high", .order = down, .norder = 1}};
    weir_graph *g = weir_graph_new();
    uint32_t kept = 0;

    seed = from;
    add_rack(g, add(g, WEIR_NONE, "cluster", 1));
    for (int i = 0; i < steps; i++) {
        const struct node_table *before;
        struct node_table *r = NULL;
        CHECK(weir_node_table_get(g, weir_type_find(g, "node"), &r) == WEIR_OK, "a node table");
        before = r;
        change(g);
        kept += node_table_in(g) == before;
        if (!compare(g, &policies[dice(3)])) {
            printf("seed %llu step %d\n", (unsigned long long)from, i);
            break;
        }
    }
    CHECK(kept > (uint32_t)steps / 5, "most changes leave the table: %u of %d", kept, steps);
    weir_graph_free(g);
}

/* Nodes with equal ranks. */
static void test_shared_ranks(void)
{
    static const int64_t ranks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 6};
    static const struct {
        uint32_t lo, hi;
        uint64_t nodes;
    } rows[] = {{0, 8, 13}, {5, 5, 2}, {6, 6, 3}, {5, 6, 5}, {7, 90, 3}, {9, 9, 0}};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_graph *g = weir_graph_new();
    weir_vertex root = WEIR_NONE, v;
    struct node_table *r;

    d.type = "cluster";
    CHECK(weir_graph_add_many(g, WEIR_NONE, &d, 1, 1, &root, NULL) == WEIR_OK, "a cluster");
    d.type = "node";
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        d.rank = ranks[i];
        CHECK(weir_graph_add_many(g, root, &d, 1, 1, &v, NULL) == WEIR_OK, "a node");
    }
    CHECK(weir_node_table_get(g, weir_type_find(g, "node"), &r) == WEIR_OK, "a node table");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_idset *want = weir_idset_new(), *out = weir_idset_new();
        CHECK(weir_idset_add_range(want, rows[i].lo, rows[i].hi) == WEIR_OK &&
                  weir_node_table_add_ranks(g, r, want, out) == WEIR_OK && weir_idset_count(out) == rows[i].nodes,
              "ranks %u to %u: %llu nodes", rows[i].lo, rows[i].hi, (unsigned long long)weir_idset_count(out));
        weir_idset_free(want);
        weir_idset_free(out);
    }
    weir_graph_free(g);
}

/* A change for which the node table has no memory drops the table. */
static void run_nomem(void)
{
    for (long n = 1; n < 400; n++) {
        weir_graph *g = weir_graph_new();
        struct node_table *r;
        weir_err err = {0};
        seed = 11;
        for (int i = 0; i < 3; i++)
            add_rack(g, i ? weir_graph_root(g, NULL, 0) : add(g, WEIR_NONE, "cluster", 1));
        CHECK(weir_node_table_get(g, weir_type_find(g, "node"), &r) == WEIR_OK, "a node table");
        weir_mem_fail_after(n);
        for (int i = 0; i < 10; i++)
            change(g);
        weir_mem_fail_after(0);
        if (!CHECK(weir_check(g, &err) == WEIR_OK, "allocation %ld: %s", n, err.text))
            n = 400;
        weir_graph_free(g);
    }
}

int main(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int runs = scale ? (int)(60 * atof(scale)) : 60;

    for (int i = 1; i <= (runs ? runs : 1); i++)
        run((uint64_t)i * 1000003, 150);
    test_shared_ranks();
    run_nomem();
    return check_report();
}
