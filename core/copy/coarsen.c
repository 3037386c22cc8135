/* coarsen.c - a coarse view of a machine (G10). Invariant: a vertex that stays stands below the nearest one above it
 * that stays; what is free of everything else is in exactly one pool, below that same vertex. */
#include <stdio.h>
#include <string.h>

#include "copy/extract.h"
#include "time/availability.h"

/* One pool of the view, in the making. */
struct heap {
    weir_name type, unit; /* of the fine graph */
    int64_t size;
    weir_vertex pool; /* of the view, once it is there */
};

struct coarsen {
    struct weir_carry carry; /* its map: of what stays */
    bool *keep;              /* by type */
    uint32_t *heap_of;       /* by vertex: the heap that it is part of; WEIR_NONE */
    struct heap *heaps;
    uint32_t nheaps, heaps_cap;
    uint32_t first, last; /* the heaps below the vertex in hand begin here; the one used last */
    weir_err *err;
};

/* Units of v that no job has now. */
static int64_t free_of(const weir_graph *g, weir_vertex v)
{
    return weir_window_free(g, v, g->now, g->now + 1);
}

/* A job has it all, and what is below it. */
static bool is_gone(const weir_graph *g, weir_vertex v)
{
    return kind_of(g, v)->size > 0 && free_of(g, v) <= 0;
}

/* ---- what stays ---- */

/* `state` is that of the vertices between v and its parent in the view, which go: it must not be lost. */
static int keep_one(struct coarsen *c, weir_vertex v, weir_vertex parent, int state)
{
    bool same = false;
    int rc = weir_carry_vertex(&c->carry, v, parent, free_of(c->carry.from, v), &same, c->err);

    if (rc || state_available(state))
        return rc;
    return weir_vertex_set_state(c->carry.to, c->carry.map[v], state, c->err);
}

static int keep_below(struct coarsen *c, weir_vertex v, weir_vertex parent, int state)
{
    const weir_graph *g = c->carry.from;
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE || is_gone(g, kid))
            continue;
        if (c->keep[kind_of(g, kid)->type]) {
            rc = keep_one(c, kid, parent, state);
            rc = rc ? rc : keep_below(c, kid, c->carry.map[kid], WEIR_UP);
        } else {
            rc = keep_below(c, kid, parent, state_available(state) ? vertex_at(g, kid)->state : state);
        }
    }
    return rc;
}

static int keep_roots(struct coarsen *c)
{
    const weir_graph *g = c->carry.from;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < g->nroots; i++) {
        weir_vertex v = g->roots[i];
        if (v == WEIR_NONE)
            continue;
        rc = keep_one(c, v, WEIR_NONE, WEIR_UP);
        if (!rc && !is_gone(g, v))
            rc = keep_below(c, v, c->carry.map[v], WEIR_UP);
    }
    return rc;
}

/* ---- what becomes pools ---- */

/* The heap for a kind of pool below the vertex in hand, made if there is none; WEIR_NONE: out of memory. */
static uint32_t find_heap(struct coarsen *c, weir_name type, weir_name unit)
{
    if (c->last < c->nheaps && c->heaps[c->last].type == type && c->heaps[c->last].unit == unit)
        return c->last;
    for (c->last = c->first; c->last < c->nheaps; c->last++)
        if (c->heaps[c->last].type == type && c->heaps[c->last].unit == unit)
            return c->last;
    if (weir_array_reserve(&c->heaps, &c->heaps_cap, (size_t)c->nheaps + 1, sizeof *c->heaps))
        return WEIR_NONE;
    c->heaps[c->nheaps] = (struct heap){type, unit, 0, WEIR_NONE};
    return c->nheaps++;
}

static int add_to_heap(struct coarsen *c, weir_vertex v, int64_t units)
{
    const weir_graph *g = c->carry.from;
    const struct kind *k = kind_of(g, v);
    uint32_t i = find_heap(c, g->types[k->type], k->unit);

    if (i == WEIR_NONE)
        return weir_fail_nomem(c->err);
    c->heaps[i].size += units; /* no more than WEIR_UNITS_MAX */
    c->heap_of[v] = i;
    return WEIR_OK;
}

static int heap_below(struct coarsen *c, weir_vertex v)
{
    const weir_graph *g = c->carry.from;
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE || c->keep[kind_of(g, kid)->type] || !state_available(vertex_at(g, kid)->state) ||
            is_gone(g, kid))
            continue;
        if (kind_of(g, kid)->size > 0)
            rc = add_to_heap(c, kid, free_of(g, kid));
        rc = rc ? rc : heap_below(c, kid);
    }
    return rc;
}

/* Pools of one type, told apart by their units only, need different names: all but the first get the unit's. */
static int add_pool(struct coarsen *c, uint32_t i, weir_vertex parent)
{
    const weir_names *names = &c->carry.from->names;
    struct heap *h = &c->heaps[i];
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_buf name = {0};
    bool alone = true;
    int rc = WEIR_OK;

    for (uint32_t k = c->first; k < i; k++)
        alone = alone && c->heaps[k].type != h->type;
    d.type = weir_names_text(names, h->type);
    d.unit = weir_names_text(names, h->unit);
    d.size = h->size;
    if (!alone) {
        weir_buf_printf(&name, "%s-%s", d.type, d.unit);
        d.name = name.data;
        rc = name.failed ? weir_fail_nomem(c->err) : WEIR_OK;
    }
    rc = rc ? rc : weir_graph_add(c->carry.to, parent, &d, &h->pool, c->err);
    weir_buf_free(&name);
    return rc;
}

/* v and all above it are up. */
static bool is_up(const weir_graph *g, weir_vertex v)
{
    while (v != WEIR_NONE && state_available(vertex_at(g, v)->state))
        v = vertex_at(g, v)->parent;
    return v == WEIR_NONE;
}

static int add_pools(struct coarsen *c)
{
    const weir_graph *g = c->carry.from;
    int rc = WEIR_OK;

    for (weir_vertex v = 0; !rc && v < g->limit; v++) {
        if (c->carry.map[v] == WEIR_NONE || is_gone(g, v) || !is_up(g, v))
            continue;
        c->first = c->last = c->nheaps;
        rc = heap_below(c, v);
        for (uint32_t i = c->first; !rc && i < c->nheaps; i++)
            rc = add_pool(c, i, c->carry.map[v]);
    }
    return rc;
}

/* ---- the view ---- */

static int coarsen_begin(struct coarsen *c, const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_err *err)
{
    weir_graph *to = weir_graph_new();
    int rc = weir_carry_begin(&c->carry, g, to, err);

    c->err = err;
    if (!rc) {
        c->keep = weir_mem_zalloc(g->ntypes, sizeof *c->keep);
        c->heap_of = weir_mem_alloc((size_t)g->limit * sizeof *c->heap_of);
    }
    if (!c->keep || !c->heap_of) {
        weir_graph_free(to);
        return weir_fail_nomem(err);
    }
    memset(c->heap_of, 0xFF, (size_t)g->limit * sizeof *c->heap_of);
    for (uint32_t i = 0; i < nkeep; i++) {
        weir_type t = weir_type_find(g, keep[i]);
        if (t != WEIR_NO_TYPE)
            c->keep[t] = true;
    }
    weir_graph_begin(to);
    return WEIR_OK;
}

/* What became part of a pool is stood for by that. */
static void map_heaps(struct coarsen *c)
{
    for (weir_vertex v = 0; v < c->carry.from->limit; v++)
        if (c->heap_of[v] != WEIR_NONE)
            c->carry.map[v] = c->heaps[c->heap_of[v]].pool;
}

static void coarsen_end(struct coarsen *c)
{
    weir_carry_end(&c->carry);
    weir_mem_free(c->keep);
    weir_mem_free(c->heap_of);
    weir_mem_free(c->heaps);
}

int weir_graph_coarsen(const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_graph **out,
                       weir_vertex **map, weir_err *err)
{
    struct coarsen c = {0};
    int rc = coarsen_begin(&c, g, keep, nkeep, err);

    if (!rc) {
        rc = keep_roots(&c);
        rc = rc ? rc : weir_carry_edges(&c.carry, err);
        rc = rc ? rc : add_pools(&c);
        rc = rc ? rc : weir_graph_end(c.carry.to, err);
        if (rc)
            weir_graph_free(c.carry.to);
    }
    if (!rc) {
        map_heaps(&c);
        *out = c.carry.to;
        if (map) {
            *map = c.carry.map;
            c.carry.map = NULL;
        }
    }
    coarsen_end(&c);
    return rc;
}
