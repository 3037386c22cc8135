/* rset_jgf_join.c - two JSON graphs of one machine as one: a vertex or an edge that both have is there once. Of a pool that
 * the two have with different sizes the larger is kept.
 *
 * Order: what both have comes as it comes in both; between that, what only one of them has comes by the number in its id
 * (edges: by the place of their target), so that the parts of a graph whose ids ascend give that graph again.
 *
 * Main invariant: two vertices with one id are the same pool, or there is no result.
 */
#include "rset/rset.h"

#include <stdlib.h>
#include <string.h>

#include "base/strtab.h"

#define NONE UINT32_MAX

struct item {
    char *key;
    json_t *value;
    int64_t number; /* for the order; -1: none */
    uint32_t twin;  /* place in the other list; NONE */
};

/* The nodes or the edges of a graph. */
struct list {
    struct item *items;
    uint32_t count;
    uint32_t *slots, mask; /* by key: item + 1 */
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static uint32_t slot_of(const struct list *l, const char *key)
{
    uint32_t at = weir_strtab_hash(key, strlen(key)) & l->mask;

    while (l->slots[at] && strcmp(l->items[l->slots[at] - 1].key, key) != 0)
        at = (at + 1) & l->mask;
    return at;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static char *node_key(const json_t *node)
{
    return weir_mem_strdup(text_of(node, "id"));
}

static int64_t node_number(const char *key)
{
    size_t n = strlen(key);
    return n > 0 && n <= 18 && strspn(key, "0123456789") == n ? strtoll(key, NULL, 10) : -1;
}

/* An edge is told by its ends and what it says. */
static char *edge_key(const json_t *edge)
{
    const json_t *meta = json_object_get(edge, "metadata");
    weir_buf b = {0};

    weir_buf_puts(&b, text_of(edge, "source"));
    weir_buf_add(&b, "\1", 1);
    weir_buf_puts(&b, text_of(edge, "target"));
    weir_buf_add(&b, "\1", 1);
    weir_buf_puts(&b, text_of(meta, "subsystem"));
    weir_buf_add(&b, "\1", 1);
    weir_buf_puts(&b, text_of(meta, "relationship"));
    if (!b.failed)
        return b.data;
    weir_buf_free(&b);
    return NULL;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static void close_list(struct list *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        weir_mem_free(l->items[i].key);
    weir_mem_free(l->items);
    weir_mem_free(l->slots);
}

/* `nodes`: by which the edges are ordered; NULL: these are the nodes. What is there twice counts once. */
static int open_list(struct list *l, const json_t *array, const struct list *nodes)
{
    size_t n = json_array_size(array), size = 16;

    while (size < 2 * n)
        size *= 2;
    memset(l, 0, sizeof *l);
    l->items = weir_mem_zalloc(n + 1, sizeof *l->items);
    l->slots = weir_mem_zalloc(size, sizeof *l->slots);
    if (!l->items || !l->slots || n >= NONE / 2)
        return WEIR_ENOMEM;
    l->mask = (uint32_t)(size - 1);
    for (size_t i = 0; i < n; i++) {
        json_t *value = json_array_get(array, i);
        char *key = nodes ? edge_key(value) : node_key(value);
        uint32_t slot;
        if (!key)
            return WEIR_ENOMEM;
        slot = slot_of(l, key);
        if (l->slots[slot]) {
            weir_mem_free(key);
            continue;
        }
        l->items[l->count] = (struct item){key, value, node_number(key), NONE};
        if (nodes)
            l->items[l->count].number = (int64_t)nodes->slots[slot_of(nodes, text_of(value, "target"))] - 1;
        l->slots[slot] = ++l->count;
    }
    return WEIR_OK;
}

static void pair(struct list *a, struct list *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t at = b->slots[slot_of(b, a->items[i].key)];
        if (at) {
            a->items[i].twin = at - 1;
            b->items[at - 1].twin = i;
        }
    }
}

/* ---- one list of two -------------------------------------------------------------------------------------------- */

static bool differs(const json_t *a, const json_t *b, const char *key)
{
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    return x && y && !json_equal(x, y);
}

static int check_twins(const struct item *a, const struct item *b, weir_err *err)
{
    static const char *const same[] = {"type", "basename", "name", "id", "uuid", "paths"};
    const json_t *x = json_object_get(a->value, "metadata"), *y = json_object_get(b->value, "metadata");

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (differs(x, y, same[i]))
            return weir_fail(err, WEIR_EEXIST,
                             "scheduling.graph: vertex \"%.64s\" is something else in the other set, its %s differs: "
                             "graphs of one machine are wanted",
                             a->key, same[i]);
    return WEIR_OK;
}

static json_int_t size_of(const struct item *it)
{
    return json_integer_value(json_object_get(json_object_get(it->value, "metadata"), "size"));
}

/* Whether what comes next is of a: i and j are the next places of a and b. */
static bool takes_a(const struct list *a, uint32_t i, const struct list *b, uint32_t j)
{
    const struct item *x, *y;

    if (i == a->count || j == b->count)
        return j == b->count;
    x = &a->items[i];
    y = &b->items[j];
    if (y->twin != NONE)
        return true; /* a comes to it; where it has been there, y is skipped */
    if (x->twin != NONE && x->twin > j)
        return false;
    return x->number < 0 || y->number < 0 || x->number <= y->number;
}

/* The items of both; NULL: out of memory. */
static json_t *merge(const struct list *a, const struct list *b)
{
    json_t *out = json_array();
    uint32_t i = 0, j = 0;

    while (out && (i < a->count || j < b->count)) {
        const struct item *next;
        if (j < b->count && b->items[j].twin != NONE && b->items[j].twin < i) {
            j++;
            continue;
        }
        if (takes_a(a, i, b, j)) {
            next = &a->items[i++];
            if (next->twin != NONE && size_of(&b->items[next->twin]) > size_of(next))
                next = &b->items[next->twin];
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

/* Puts the joined array into *out; `nodes` as for open_list. */
static int join_arrays(const json_t *x, const json_t *y, const struct list *nodes, json_t **out, weir_err *err)
{
    struct list a = {0}, b = {0};
    int rc = open_list(&a, x, nodes) == WEIR_OK && open_list(&b, y, nodes) == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);

    if (rc == WEIR_OK)
        pair(&a, &b);
    for (uint32_t i = 0; rc == WEIR_OK && !nodes && i < a.count; i++)
        if (a.items[i].twin != NONE)
            rc = check_twins(&a.items[i], &b.items[a.items[i].twin], err);
    if (rc == WEIR_OK) {
        *out = merge(&a, &b);
        rc = *out ? WEIR_OK : weir_fail_nomem(err);
    }
    close_list(&a);
    close_list(&b);
    return rc;
}

/* `a` with other nodes and edges. */
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
