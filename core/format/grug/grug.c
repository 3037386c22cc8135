/* grug.c - grows machines from GRUG recipes: GraphML in which each node describes a kind of pool, and each edge for
 * the number of target pools for every source pool. See grug.h, input.h.
 *
 * Pools of MULTIPLY edges in containment are grown first, in preorder and with children in the order of the recipe's
 * edges; then all other edges are followed from the roots, edge by edge, over lists of the pools of each recipe node.
 * An association in containment would give a pool a second parent; so such associations become edges of the subsystem
 * "links".
 *
 * Main invariant: a recipe node is `grown` from the moment its pools exist, and its list is complete before an edge in
 * need of the list is followed.
 */
#include "format/grug/grug.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"

static int list_add(struct recipe *r, struct list *l, weir_vertex first, uint32_t count)
{
    if (weir_array_reserve(&l->v, &l->cap, (size_t)l->count + count, sizeof *l->v) < 0)
        return weir_fail_nomem(r->err);
    for (uint32_t i = 0; i < count; i++)
        l->v[l->count++] = first + i;
    return WEIR_OK;
}

/* Id of the first pool made by edge e for source pool number j, with *stride set to the step between ids. */
static int64_t first_id(const struct grug_element *e, int64_t j, int64_t *stride)
{
    int64_t scale = e->number[MULTI_SCALE], start = e->number[ID_START];

    *stride = 0;
    if (e->number[ID_SCOPE] < 0)
        return WEIR_NO_ID;
    *stride = e->number[ID_SCOPE] == 0 ? 1 : e->number[ID_STRIDE];
    return e->number[ID_SCOPE] == 0 ? start : start + j % e->wrap * scale * *stride;
}

/* Adds `count` pools of recipe node `to`, and appends the pools to the list of the node, if kept. */
static int make(struct recipe *r, struct grug_element *to, weir_vertex parent, int64_t id, uint32_t count,
                int64_t stride, weir_vertex *first)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    int rc;

    d.type = to->text[TYPE];
    d.basename = to->text[BASENAME];
    d.unit = *to->text[UNIT] ? to->text[UNIT] : NULL;
    d.size = to->number[SIZE];
    d.id = id;
    rc = weir_siblings_add(r->g, parent, &d, &to->props, count, stride, &r->rank, first, r->err);
    if (rc == WEIR_OK && to->listed)
        rc = list_add(r, &to->pools, *first, count);
    return rc;
}

/* Makes the pools below v, pool number j of recipe node `from`, in containment. */
static int grow(struct recipe *r, struct grug_element *from, weir_vertex v, int64_t j)
{
    int rc = WEIR_OK;

    for (uint32_t i = from->first_edge; rc == WEIR_OK && i != NONE; i = r->edges[i].next) {
        struct grug_element *e = &r->edges[i], *to = &r->nodes[e->to];
        uint32_t scale = (uint32_t)e->number[MULTI_SCALE];
        int64_t stride, id = first_id(e, j, &stride);
        weir_vertex w;

        if (!e->contains)
            continue;
        to->grown = true;
        if (to->leaf) {
            rc = make(r, to, v, id, scale, stride, &w);
            continue;
        }
        for (uint32_t k = 0; rc == WEIR_OK && k < scale; k++) {
            rc = make(r, to, v, id == WEIR_NO_ID ? id : id + k * stride, 1, 0, &w);
            rc = rc ? rc : grow(r, to, w, to->made++);
        }
    }
    return rc;
}

/* Follows a MULTIPLY edge outside of containment, or below a pool outside of containment. */
static int multiply(struct recipe *r, struct grug_element *e)
{
    const struct list *sources = &r->nodes[e->from].pools;
    struct grug_element *to = &r->nodes[e->to];
    uint32_t scale = (uint32_t)e->number[MULTI_SCALE];
    int rc = WEIR_OK;

    to->listed = true;
    r->total += (uint64_t)sources->count * scale;
    if (r->total > weir_vertices_allowed())
        return FAIL(r, e, WEIR_ELIMIT, WEIR_VERTICES_MANY ", with %u times %u of \"%.200s\"", weir_vertices_allowed(),
                    sources->count, scale, to->id);
    r->entries += (uint64_t)sources->count * scale * to->props.count;
    if (r->entries > weir_vertices_allowed())
        return FAIL(r, e, WEIR_ELIMIT, WEIR_ENTRIES_MANY ", with %u of \"%.200s\"", weir_vertices_allowed(),
                    to->props.count, to->id);
    for (uint32_t j = 0; rc == WEIR_OK && j < sources->count; j++) {
        int64_t stride, id = first_id(e, j, &stride);
        weir_vertex w = WEIR_NONE;
        rc = make(r, to, e->contains ? sources->v[j] : WEIR_NONE, id, scale, stride, &w);
        for (uint32_t k = 0; rc == WEIR_OK && !e->contains && k < scale; k++)
            rc = weir_edge_add(r->g, sources->v[j], w + k, e->text[E_SUBSYSTEM], e->text[RELATION], e->text[RRELATION],
                               r->err);
    }
    return rc;
}

/* The pool `levels` above v in a subsystem; WEIR_NONE: above the root. */
static weir_vertex ancestor(const weir_graph *g, weir_vertex v, const char *subsystem, int64_t levels)
{
    bool containment = strcmp(subsystem, "containment") == 0;

    for (; levels > 0 && v != WEIR_NONE; levels--) {
        weir_edge up;
        if (containment)
            v = weir_vertex_parent(g, v);
        else
            v = weir_vertex_edge(g, v, subsystem, false, 0, &up) ? up.source : WEIR_NONE;
    }
    return v;
}

/* A possible target of an association, with the ancestor to be shared with the source as key. */
struct mate {
    weir_vertex key, v;
};

WEIR_COMPARE_BY2(compare_mates, struct mate, key, v)

/* The pools of a type, sorted by key, to be freed with weir_mem_free(); *n may be 0. */
static struct mate *find_mates(struct recipe *r, const struct grug_element *e, uint32_t *n)
{
    const char *type = r->nodes[e->to].text[TYPE];
    uint32_t limit = weir_graph_limit(r->g), count = 0;
    struct mate *mates;

    for (weir_vertex v = 0; v < limit; v++)
        count += strcmp(weir_vertex_type(r->g, v), type) == 0;
    mates = weir_mem_zalloc(count, sizeof *mates);
    *n = 0;
    if (!mates)
        return NULL;
    for (weir_vertex v = 0; v < limit; v++)
        if (strcmp(weir_vertex_type(r->g, v), type) == 0) {
            mates[*n].v = v;
            if (e->method == ASSOCIATE_BY_PATH_IN)
                mates[*n].key = ancestor(r->g, v, e->text[AS_TGT_SUBSYSTEM], e->number[AS_TGT_UPLVL]);
            ++*n;
        }
    qsort(mates, *n, sizeof *mates, compare_mates);
    return mates;
}

/* Number of the first of n mates with a key of at least `key`. */
static uint32_t first_mate(const struct mate *mates, uint32_t n, weir_vertex key)
{
    uint32_t at;

    WEIR_BISECT(at, 0, n, mates[at].key < key);
    return at;
}

/* The key that a source pool shares with its targets. */
static weir_vertex key_of(const struct recipe *r, const struct grug_element *e, weir_vertex v)
{
    return e->method == ASSOCIATE_BY_PATH_IN ? ancestor(r->g, v, e->text[AS_TGT_SUBSYSTEM], e->number[AS_SRC_UPLVL])
                                             : 0;
}

/* Checks the number of edges, which may be the product of two numbers of pools. */
static int check_edges(struct recipe *r, struct grug_element *e, const struct mate *mates, uint32_t n)
{
    const struct list *sources = &r->nodes[e->from].pools;
    uint64_t edges = weir_edge_count(r->g);

    for (uint32_t j = 0; j < sources->count; j++) {
        weir_vertex key = key_of(r, e, sources->v[j]);
        edges += (key == WEIR_NONE ? n : first_mate(mates, n, key + 1)) - first_mate(mates, n, key);
    }
    if (edges <= weir_vertices_allowed())
        return WEIR_OK;
    return FAIL(r, e, WEIR_ELIMIT,
                "more than %u edges (WEIR_VERTICES=N in the environment allows more): \"%.200s\" ties %u pools to %u",
                weir_vertices_allowed(), e->id, sources->count, n);
}

/* Adds edges from each source pool to all pools of the target's type, or to the pools below the same ancestor. The
 * list of the target gets these pools unless filled before. */
static int associate(struct recipe *r, struct grug_element *e)
{
    struct grug_element *from = &r->nodes[e->from], *to = &r->nodes[e->to];
    const char *subsystem = strcmp(e->text[E_SUBSYSTEM], "containment") == 0 ? "links" : e->text[E_SUBSYSTEM];
    bool fill = !to->grown;
    uint32_t n;
    struct mate *mates = find_mates(r, e, &n);
    int rc = mates ? check_edges(r, e, mates, n) : weir_fail_nomem(r->err);

    for (uint32_t j = 0; rc == WEIR_OK && j < from->pools.count; j++) {
        weir_vertex v = from->pools.v[j], key = key_of(r, e, v);
        for (uint32_t i = first_mate(mates, n, key); rc == WEIR_OK && i < n && mates[i].key == key; i++) {
            if (mates[i].v == v)
                continue;
            rc = weir_edge_add(r->g, v, mates[i].v, subsystem, e->text[RELATION], e->text[RRELATION], r->err);
            if (rc == WEIR_OK && fill && to->listed)
                rc = list_add(r, &to->pools, mates[i].v, 1);
        }
    }
    weir_mem_free(mates);
    to->grown = true;
    return rc;
}

/* Follows all edges from a recipe node with existing pools, except those done by grow(). */
static int spread(struct recipe *r, struct grug_element *from)
{
    int rc = WEIR_OK;

    from->seen = true;
    for (uint32_t i = from->first_edge; rc == WEIR_OK && i != NONE; i = r->edges[i].next) {
        struct grug_element *e = &r->edges[i], *to = &r->nodes[e->to];
        if (e->method != MULTIPLY)
            rc = associate(r, e);
        else if (!e->contains || !to->grown)
            rc = multiply(r, e);
        to->grown = true;
        if (rc == WEIR_OK && !to->seen)
            rc = spread(r, to);
    }
    return rc;
}

/* Makes the roots, and all pools below in containment. */
static int grow_roots(struct recipe *r)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < r->nnodes; i++) {
        struct grug_element *p = &r->nodes[i];
        weir_vertex v;
        p->seen = false;
        if (!p->number[ROOT])
            continue;
        p->grown = true;
        rc = make(r, p, WEIR_NONE, 0, 1, 0, &v);
        rc = rc ? rc : grow(r, p, v, 0);
    }
    return rc;
}

static int build(struct recipe *r)
{
    int rc;

    weir_graph_begin(r->g);
    rc = weir_graph_reserve(r->g, (uint32_t)r->total);
    if (rc < 0)
        return weir_fail(r->err, rc, "no memory for %llu pools", (unsigned long long)r->total);
    r->total = 0;
    rc = grow_roots(r);
    r->total = weir_graph_limit(r->g);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nnodes; i++)
        if (r->nodes[i].number[ROOT])
            rc = spread(r, &r->nodes[i]);
    return rc < 0 ? rc : weir_graph_end(r->g, r->err);
}

int weir_grug_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err)
{
    struct recipe r = {.source = source, .err = err, .data = NONE};
    int rc = weir_recipe_read(&r, in->text, in->len);

    if (rc == WEIR_OK) {
        r.g = weir_graph_new();
        rc = r.g ? build(&r) : weir_fail_nomem(err);
    }
    weir_recipe_free(&r);
    if (rc < 0)
        weir_graph_free(r.g);
    else
        *out = r.g;
    return rc;
}
