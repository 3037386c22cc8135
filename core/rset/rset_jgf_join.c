/* rset_jgf_join.c - joins two JSON graphs of one machine: common vertices and edges appear once in the result. If the
 * size of a common pool differs, the larger pool is kept.
 *
 * Order: common items keep their order; between common items, vertices of only one graph are merged by the number in
 * their ids, and edges by the index of the target. So the parts of a graph with ascending ids join to the original
 * graph.
 *
 * Main invariant: two vertices with equal ids are the same pool, or joining fails.
 */
#include "rset/rset.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct item {
    json_t *value;
    int64_t number; /* sort key; -1: none */
    uint32_t equal; /* index of the equal item in the second list; NONE */
};

/* The nodes or the edges of a graph. */
struct list {
    struct item *items;
    uint32_t count;
    json_t *index; /* index of the item, by key, in the order of the items */
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Writes the key of a node, its id, or of an edge: source, target, subsystem and relationship. */
static void write_key(const json_t *value, bool edge, weir_buf *b)
{
    const json_t *meta = json_object_get(value, "metadata");

    b->len = 0;
    weir_buf_puts(b, text_of(value, edge ? "source" : "id"));
    if (edge)
        weir_buf_printf(b, "\1%s\1%s\1%s", text_of(value, "target"), text_of(meta, "subsystem"),
                        text_of(meta, "relationship"));
}

/* Returns the number that a node has as id; -1: the id is no number. */
static int64_t node_number(const char *id)
{
    size_t n = strlen(id);
    return n > 0 && n <= 18 && strspn(id, "0123456789") == n ? strtoll(id, NULL, 10) : -1;
}

static int64_t find(const struct list *l, const char *key)
{
    const json_t *at = json_object_get(l->index, key);
    return at ? json_integer_value(at) : -1;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static void close_list(struct list *l)
{
    weir_mem_free(l->items);
    json_decref(l->index);
}

/* Reads an array of nodes (`nodes` is NULL) or of edges (`nodes` has the targets, and gives the sort keys). Duplicates
 * count once. The caller always calls close_list(). */
static int open_list(struct list *l, const json_t *array, const struct list *nodes)
{
    size_t n = json_array_size(array);
    weir_buf key = {0};
    int rc = WEIR_OK;

    *l = (struct list){weir_mem_zalloc(n + 1, sizeof *l->items), 0, json_object()};
    if (!l->items || !l->index || n >= NONE)
        return WEIR_ENOMEM;
    for (size_t i = 0; rc == WEIR_OK && i < n; i++) {
        json_t *value = json_array_get(array, i);
        write_key(value, nodes, &key);
        if (!key.failed && find(l, key.data) >= 0)
            continue;
        if (key.failed || json_object_set_new_nocheck(l->index, key.data, json_integer(l->count)) < 0)
            rc = WEIR_ENOMEM;
        else
            l->items[l->count++] =
                (struct item){value, nodes ? find(nodes, text_of(value, "target")) : node_number(key.data), NONE};
    }
    weir_buf_free(&key);
    return rc;
}

static void pair(struct list *a, struct list *b)
{
    const char *key;
    json_t *at;

    json_object_foreach(a->index, key, at)
    {
        int64_t i = json_integer_value(at), j = find(b, key);
        if (j < 0)
            continue;
        a->items[i].equal = (uint32_t)j;
        b->items[j].equal = (uint32_t)i;
    }
}

/* ---- one list of two -------------------------------------------------------------------------------------------- */

static bool differs(const json_t *a, const json_t *b, const char *key)
{
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    return x && y && !json_equal(x, y);
}

static int check_equal(const struct item *a, const struct item *b, weir_err *err)
{
    static const char *const same[] = {"type", "basename", "name", "id", "uuid", "paths"};
    const json_t *x = json_object_get(a->value, "metadata"), *y = json_object_get(b->value, "metadata");

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (differs(x, y, same[i]))
            return weir_fail(err, WEIR_EEXIST,
                             "scheduling.graph: vertex \"%.64s\" is something else in the other set, its %s differs: "
                             "graphs of one machine are wanted",
                             text_of(a->value, "id"), same[i]);
    return WEIR_OK;
}

static json_int_t size_of(const struct item *it)
{
    return json_integer_value(json_object_get(json_object_get(it->value, "metadata"), "size"));
}

/* Returns true if the next item of the result is a's: i and j are the next indices of a and b. */
static bool takes_a(const struct list *a, uint32_t i, const struct list *b, uint32_t j)
{
    const struct item *x, *y;

    if (i == a->count || j == b->count)
        return j == b->count;
    x = &a->items[i];
    y = &b->items[j];
    if (y->equal != NONE)
        return true; /* a's equal item is still to come: merge() skips y after a's item */
    if (x->equal != NONE && x->equal > j)
        return false;
    return x->number < 0 || y->number < 0 || x->number <= y->number;
}

/* Merges the items of both lists. Returns NULL if out of memory. */
static json_t *merge(const struct list *a, const struct list *b)
{
    json_t *out = json_array();
    uint32_t i = 0, j = 0;

    while (out && (i < a->count || j < b->count)) {
        const struct item *next;
        if (j < b->count && b->items[j].equal != NONE && b->items[j].equal < i) {
            j++;
            continue;
        }
        if (takes_a(a, i, b, j)) {
            next = &a->items[i++];
            if (next->equal != NONE && size_of(&b->items[next->equal]) > size_of(next))
                next = &b->items[next->equal];
        } else {
            next = &b->items[j++];
        }
        if (json_array_append(out, next->value) < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* Joins two arrays; `nodes` as in open_list(). */
static int join_arrays(const json_t *x, const json_t *y, const struct list *nodes, json_t **out, weir_err *err)
{
    struct list a = {0}, b = {0};
    int rc = open_list(&a, x, nodes) == WEIR_OK && open_list(&b, y, nodes) == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);

    if (rc == WEIR_OK)
        pair(&a, &b);
    for (uint32_t i = 0; rc == WEIR_OK && !nodes && i < a.count; i++)
        if (a.items[i].equal != NONE)
            rc = check_equal(&a.items[i], &b.items[a.items[i].equal], err);
    if (rc == WEIR_OK) {
        *out = merge(&a, &b);
        rc = *out ? WEIR_OK : weir_fail_nomem(err);
    }
    close_list(&a);
    close_list(&b);
    return rc;
}

/* Copies the scheduling `a` with new nodes and edges, still owned by the caller. */
static int put_graph(const json_t *a, json_t *nodes, json_t *edges, json_t **out, weir_err *err)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)a), *graph = json_copy(json_object_get(a, "graph"));

    if (copy && graph && json_object_set(graph, "nodes", nodes) == 0 && json_object_set(graph, "edges", edges) == 0 &&
        json_object_set(copy, "graph", graph) == 0) {
        *out = copy;
        copy = NULL;
    }
    json_decref(graph);
    json_decref(copy);
    return *out ? WEIR_OK : weir_fail_nomem(err);
}

int weir_rset_jgf_join(const json_t *a, const json_t *b, json_t **out, weir_err *err)
{
    const json_t *x = json_object_get(a, "graph"), *y = json_object_get(b, "graph");
    json_t *nodes = NULL, *edges = NULL;
    struct list order = {0};
    int rc;

    if (!x || !y) {
        *out = json_incref((json_t *)(uintptr_t)(x || !y ? a : b));
        return WEIR_OK;
    }
    rc = join_arrays(json_object_get(x, "nodes"), json_object_get(y, "nodes"), NULL, &nodes, err);
    if (rc == WEIR_OK && open_list(&order, nodes, NULL) < 0)
        rc = weir_fail_nomem(err);
    if (rc == WEIR_OK)
        rc = join_arrays(json_object_get(x, "edges"), json_object_get(y, "edges"), &order, &edges, err);
    if (rc == WEIR_OK)
        rc = put_graph(a, nodes, edges, out, err);
    close_list(&order);
    json_decref(nodes);
    json_decref(edges);
    return rc;
}
