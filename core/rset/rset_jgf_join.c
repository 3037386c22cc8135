/* rset_jgf_join.c - joins two JSON graphs of one machine: common vertices and edges appear once in the result. Units of
 * a common pool add up by their shares (rset_jgf_shares.c); a pool without shares is as large as the larger one.
 *
 * Order: common items keep their order; between common items, vertices of only one graph are merged by the number in
 * their ids, and edges by the index of the target. So the parts of a graph with ascending ids join to the original
 * graph.
 *
 * The result is made of pieces of the two texts (rset_jgf.c).
 *
 * Main invariant: two vertices with equal ids are the same pool, or joining fails.
 */
#include "request/request.h"
#include "rset/rset.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strtab.h"
#include "format/jgf/jgf.h"

enum { NODES, EDGES };

/* The vertices or edges of a set, and the names of the set's graph. */
struct side {
    const weir_rset *r;
    struct rset_items items[2];
    uint32_t *place;  /* by position in "nodes": place in the joined list */
    weir_name *names; /* by name of the graph of b: name of the graph of a, or WEIR_NO_NAME */
};

struct joining {
    struct side a, b;
    weir_err *err;
};

static const char *name_of(const struct side *s, weir_name name)
{
    return weir_strtab_text(weir_rset_reading_names(s->r->scheduling->reading), name);
}

/* Returns the number that a node has as id; -1: the id is no number. */
static int64_t node_number(const char *id)
{
    size_t n = strlen(id);
    return n > 0 && n <= 18 && strspn(id, "0123456789") == n ? strtoll(id, NULL, 10) : -1;
}

/* ---- equal vertices --------------------------------------------------------------------------------------------- */

static bool same_bytes(const struct rset_item *x, const struct rset_item *y)
{
    size_t n = x->element->to - x->element->from;

    return n == y->element->to - y->element->from &&
           memcmp(x->text + x->element->from, y->text + y->element->from, n) == 0;
}

/* Sets *out to the metadata of a vertex, NULL where jansson refuses a value that no reader looks at. */
static int metadata_of(const struct rset_item *item, json_t **out)
{
    json_error_t what;
    json_t *value = json_loadb(item->text + item->element->from, item->element->to - item->element->from, 0, &what);

    *out = json_incref(json_object_get(value, "metadata"));
    json_decref(value);
    return !value && weir_json_starved(&what) ? WEIR_ENOMEM : WEIR_OK;
}

static bool differs(const json_t *a, const json_t *b, const char *key)
{
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    return x && y && !json_equal(x, y);
}

static int check_equal(const json_t *x, const json_t *y, const char *id, weir_err *err)
{
    static const char *const same[] = {"type", "basename", "name", "id", "uuid", "paths"};

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (differs(x, y, same[i]))
            return weir_fail(err, WEIR_EEXIST,
                             "scheduling.graph: vertex \"%.64s\" is something else in the other set, its %s differs: "
                             "expected graphs of one machine",
                             id, same[i]);
    return WEIR_OK;
}

/* Makes x the union of two equal vertices. */
static int join_vertices(struct rset_items *items, struct rset_item *x, const struct rset_item *y, const char *id,
                         weir_err *err)
{
    json_t *a = NULL, *b = NULL;
    int rc = WEIR_OK;

    if (same_bytes(x, y))
        return WEIR_OK;
    if (metadata_of(x, &a) < 0 || metadata_of(y, &b) < 0)
        rc = weir_fail_nomem(err);
    rc = rc ? rc : check_equal(a, b, id, err);
    if (rc == WEIR_OK && x->element->shares && y->element->shares)
        rc = weir_rset_shares_join(items, x, y) < 0 ? weir_fail_nomem(err) : WEIR_OK;
    else if (rc == WEIR_OK &&
             json_integer_value(json_object_get(b, "size")) > json_integer_value(json_object_get(a, "size"))) {
        x->text = y->text;
        x->element = y->element;
    }
    json_decref(a);
    json_decref(b);
    return rc;
}

/* Pairs the vertices with equal ids. */
static int pair_nodes(struct joining *j)
{
    struct rset_items *a = &j->a.items[NODES], *b = &j->b.items[NODES];
    struct weir_map32 by_id = {0};
    int rc = weir_map32_reserve(&by_id, a->count);

    for (uint32_t i = 0; rc == WEIR_OK && i < a->count; i++) {
        a->list[i].number = node_number(name_of(&j->a, a->list[i].element->names[0]));
        rc = weir_map32_add(&by_id, a->list[i].element->names[0], i);
    }
    if (rc < 0)
        rc = weir_fail_nomem(j->err);
    for (uint32_t i = 0; rc == WEIR_OK && i < b->count; i++) {
        struct rset_item *y = &b->list[i];
        const char *id = name_of(&j->b, y->element->names[0]);
        weir_name same = j->b.names[y->element->names[0]];
        y->number = node_number(id);
        y->equal = same == WEIR_NO_NAME ? WEIR_NONE : weir_map32_get(&by_id, same);
        if (y->equal == WEIR_NONE)
            continue;
        a->list[y->equal].equal = i;
        rc = join_vertices(a, &a->list[y->equal], y, id, j->err);
    }
    weir_map32_free(&by_id);
    return rc;
}

/* ---- equal edges ------------------------------------------------------------------------------------------------ */

/* Two edges with equal keys are one edge. */
struct edge_key {
    uint32_t ends[2];
    weir_name names[2];
};

/* Returns the key of an edge by places in the joined list of vertices and names of the graph of a. */
static struct edge_key key_of(const struct side *s, const struct jgf_element *e)
{
    struct edge_key k = {{s->place[e->ends[0]], s->place[e->ends[1]]}, {e->names[0], e->names[1]}};

    for (int i = 0; s->names && i < 2; i++)
        if (k.names[i] != WEIR_NO_NAME && s->names[k.names[i]] != WEIR_NO_NAME)
            k.names[i] = s->names[k.names[i]];
        else if (k.names[i] != WEIR_NO_NAME)
            k.names[i] = ~k.names[i]; /* a name that only b has */
    return k;
}

static uint32_t hash_of(const struct edge_key *k)
{
    return (uint32_t)hash_add(hash_add(k->ends[0] | (uint64_t)k->ends[1] << 32, k->names[0]), k->names[1]);
}

/* Keeps the edges of one side that differ; with the edges of the other side in `known`, pairs equal edges. */
static int sift_edges(const struct side *s, struct rset_items *edges, const struct rset_items *known,
                      struct weir_map32 *numbers, struct edge_key *keys)
{
    uint32_t n = edges->count, base = known ? known->count : 0;

    edges->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct rset_item item = edges->list[i];
        struct edge_key k = key_of(s, item.element);
        uint32_t hash = hash_of(&k);
        bool own = false;
        WEIR_MAP32_EACH (numbers, hash, at)
            if (memcmp(&keys[at], &k, sizeof k) == 0) {
                own |= at >= base || known->list[at].equal != WEIR_NONE;
                item.equal = at < base ? at : WEIR_NONE;
            }
        if (own)
            continue;
        item.number = k.ends[1];
        if (item.equal != WEIR_NONE)
            known->list[item.equal].equal = edges->count;
        else if (weir_map32_add(numbers, hash, base + edges->count))
            return WEIR_ENOMEM;
        keys[base + edges->count] = k;
        edges->list[edges->count++] = item;
    }
    return WEIR_OK;
}

static int pair_edges(struct joining *j)
{
    struct rset_items *a = &j->a.items[EDGES], *b = &j->b.items[EDGES];
    struct edge_key *keys = weir_mem_alloc(((size_t)a->count + b->count + 1) * sizeof *keys);
    struct weir_map32 numbers = {0};
    int rc = keys ? sift_edges(&j->a, a, NULL, &numbers, keys) : WEIR_ENOMEM;

    rc = rc ? rc : sift_edges(&j->b, b, a, &numbers, keys);
    weir_map32_free(&numbers);
    weir_mem_free(keys);
    return rc < 0 ? weir_fail_nomem(j->err) : WEIR_OK;
}

/* ---- one list of two -------------------------------------------------------------------------------------------- */

/* Returns true if the next item of the result is a's: i and j are the next indices of a and b. */
static bool takes_a(const struct rset_items *a, uint32_t i, const struct rset_items *b, uint32_t j)
{
    const struct rset_item *x, *y;

    if (i == a->count || j == b->count)
        return j == b->count;
    x = &a->list[i];
    y = &b->list[j];
    if (y->equal != WEIR_NONE)
        return true; /* a's equal item is still to come: merge() skips y after a's item */
    if (x->equal != WEIR_NONE && x->equal > j)
        return false;
    return x->number < 0 || y->number < 0 || x->number <= y->number;
}

/* Merges the vertices or edges of both sets. */
static int merge(struct joining *s, int which, struct rset_items *out)
{
    const struct rset_items *a = &s->a.items[which], *b = &s->b.items[which];
    uint32_t i = 0, j = 0;

    out->list = weir_mem_alloc(((size_t)a->count + b->count + 1) * sizeof *out->list);
    if (!out->list)
        return weir_fail_nomem(s->err);
    while (i < a->count || j < b->count) {
        if (j < b->count && b->list[j].equal != WEIR_NONE && b->list[j].equal < i) {
            j++;
            continue;
        }
        if (takes_a(a, i, b, j)) {
            const struct rset_item *x = &a->list[i++];
            if (which == NODES)
                s->a.place[x->at] = out->count;
            if (which == NODES && x->equal != WEIR_NONE)
                s->b.place[b->list[x->equal].at] = out->count;
            out->list[out->count++] = *x;
        } else {
            if (which == NODES)
                s->b.place[b->list[j].at] = out->count;
            out->list[out->count++] = b->list[j++];
        }
    }
    return WEIR_OK;
}

/* Finds the names of the graph of b in the graph of a, and makes room for places. */
static int open_sides(struct joining *j)
{
    const struct weir_strtab *a = weir_rset_reading_names(j->a.r->scheduling->reading),
                             *b = weir_rset_reading_names(j->b.r->scheduling->reading);
    struct side *sides[2] = {&j->a, &j->b};

    for (int i = 0; i < 2; i++) {
        const struct rset_items *nodes = &sides[i]->items[NODES];
        uint32_t last = nodes->count ? nodes->list[nodes->count - 1].at + 1 : 0;
        sides[i]->place = weir_mem_alloc(((size_t)last + 1) * sizeof *sides[i]->place);
        if (!sides[i]->place)
            return weir_fail_nomem(j->err);
    }
    j->b.names = weir_mem_alloc(((size_t)b->count + 1) * sizeof *j->b.names);
    if (!j->b.names)
        return weir_fail_nomem(j->err);
    for (weir_name n = 0; n < b->count; n++)
        j->b.names[n] = weir_strtab_find(a, weir_strtab_text(b, n), strlen(weir_strtab_text(b, n)));
    return WEIR_OK;
}

static int join_items(struct joining *j, weir_buf *out)
{
    struct rset_items both[2] = {{0}};
    int rc = open_sides(j);

    rc = rc ? rc : pair_nodes(j);
    rc = rc ? rc : merge(j, NODES, &both[NODES]);
    rc = rc ? rc : pair_edges(j);
    rc = rc ? rc : merge(j, EDGES, &both[EDGES]);
    if (rc == WEIR_OK)
        weir_rset_jgf_write(j->a.r, both, NULL, out);
    WEIR_FREE(both[NODES].list, both[EDGES].list);
    return rc;
}

static void close_side(struct side *s)
{
    weir_rset_items_free(s->items);
    WEIR_FREE(s->place, s->names);
}

int weir_rset_jgf_join(const weir_rset *a, const weir_rset *b, weir_buf *out, weir_err *err)
{
    struct joining j = {.a = {.r = a}, .b = {.r = b}, .err = err};
    int x = weir_rset_jgf_items(a, j.a.items), y = x < 0 ? x : weir_rset_jgf_items(b, j.b.items), rc;

    if (y < 0)
        rc = weir_fail_nomem(err);
    else if (x == 1 && y == 1)
        rc = join_items(&j, out);
    else if (x == 1 || (y == 0 && (a->scheduling->graph || !b->scheduling->graph)))
        rc = weir_rset_jgf_cut(a, NULL, out, err);
    else
        rc = weir_rset_jgf_cut(b, NULL, out, err);
    close_side(&j.a);
    close_side(&j.b);
    return rc;
}
