/* coarsen.c - makes a coarse view of a machine: vertices of some types are kept, all others are merged into
 * pools. Invariant: a kept vertex is below the nearest kept ancestor; free units of every other vertex are in
 * exactly one merged pool, below the vertex's nearest kept ancestor.
 */
#include <stdio.h>
#include <string.h>

#include "copy/extract.h"
#include "time/availability.h"

/* A pool of the view, the sum of vertices with one type and unit below one kept vertex. */
struct merged_pool {
    weir_name type, unit; /* numbers in the original graph */
    int64_t size;
    weir_vertex pool; /* in the view; WEIR_NONE until added */
};

struct coarsen {
    struct weir_extract extract; /* map: the kept vertices */
    bool *keep;                  /* by type */
    uint32_t *merged_into;       /* by vertex: number of the merged pool; WEIR_NONE */
    struct merged_pool *merged;
    uint32_t nmerged, merged_cap;
    uint32_t first, last; /* first: the first merged pool below the current kept vertex; last: the pool found last */
    weir_err *err;
};

/* Units of v not used by a job now. */
static int64_t free_of(const weir_graph *g, weir_vertex v)
{
    return weir_availability_free(g, v, g->now, g->now + 1);
}

/* Whether a job holds all of v, and so all vertices below. */
static bool is_gone(const weir_graph *g, weir_vertex v)
{
    return kind_of(g, v)->size > 0 && free_of(g, v) <= 0;
}

/* ---- kept vertices ---- */

/* Adds kept vertex v below `parent`. `state` is the state of the vertices left out between the two; a state other
 * than up is passed on to v. */
static int keep_one(struct coarsen *c, weir_vertex v, weir_vertex parent, int state)
{
    int rc = weir_extract_vertex(&c->extract, v, parent, free_of(c->extract.from, v), c->err);

    if (rc || state_available(state))
        return rc;
    return weir_vertex_set_state(c->extract.to, c->extract.map[v], state, c->err);
}

static int keep_below(struct coarsen *c, weir_vertex v, weir_vertex parent, int state)
{
    const weir_graph *g = c->extract.from;
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE || is_gone(g, kid))
            continue;
        if (c->keep[kind_of(g, kid)->type]) {
            rc = keep_one(c, kid, parent, state);
            rc = rc ? rc : keep_below(c, kid, c->extract.map[kid], WEIR_UP);
        } else {
            rc = keep_below(c, kid, parent, state_available(state) ? vertex_at(g, kid)->state : state);
        }
    }
    return rc;
}

static int keep_roots(struct coarsen *c)
{
    const weir_graph *g = c->extract.from;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < g->nroots; i++) {
        weir_vertex v = g->roots[i];
        if (v == WEIR_NONE)
            continue;
        rc = keep_one(c, v, WEIR_NONE, WEIR_UP);
        if (!rc && !is_gone(g, v))
            rc = keep_below(c, v, c->extract.map[v], WEIR_UP);
    }
    return rc;
}

/* ---- merged pools ---- */

/* The merged pool for a type and unit below the current kept vertex, added if new; WEIR_NONE: out of memory. */
static uint32_t find_merged(struct coarsen *c, weir_name type, weir_name unit)
{
    if (c->last < c->nmerged && c->merged[c->last].type == type && c->merged[c->last].unit == unit)
        return c->last;
    for (c->last = c->first; c->last < c->nmerged; c->last++)
        if (c->merged[c->last].type == type && c->merged[c->last].unit == unit)
            return c->last;
    if (weir_array_reserve(&c->merged, &c->merged_cap, (size_t)c->nmerged + 1, sizeof *c->merged))
        return WEIR_NONE;
    c->merged[c->nmerged] = (struct merged_pool){type, unit, 0, WEIR_NONE};
    return c->nmerged++;
}

static int add_units(struct coarsen *c, weir_vertex v, int64_t units)
{
    const weir_graph *g = c->extract.from;
    const struct kind *k = kind_of(g, v);
    uint32_t i = find_merged(c, g->types[k->type].name, k->unit);

    if (i == WEIR_NONE)
        return weir_fail_nomem(c->err);
    c->merged[i].size += units; /* the sum is at most WEIR_UNITS_MAX */
    c->merged_into[v] = i;
    return WEIR_OK;
}

static int merge_below(struct coarsen *c, weir_vertex v)
{
    const weir_graph *g = c->extract.from;
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE || c->keep[kind_of(g, kid)->type] || !state_available(vertex_at(g, kid)->state) ||
            is_gone(g, kid))
            continue;
        if (kind_of(g, kid)->size > 0)
            rc = add_units(c, kid, free_of(g, kid));
        rc = rc ? rc : merge_below(c, kid);
    }
    return rc;
}

/* Adds a merged pool to the view. Siblings need different names: of pools with one type, all but the first are named
 * type-unit. */
static int add_pool(struct coarsen *c, uint32_t i, weir_vertex parent)
{
    const weir_strtab *names = &c->extract.from->names;
    struct merged_pool *h = &c->merged[i];
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_buf name = {0};
    bool alone = true;
    int rc = WEIR_OK;

    for (uint32_t k = c->first; k < i; k++)
        alone = alone && c->merged[k].type != h->type;
    d.type = weir_strtab_text(names, h->type);
    d.unit = weir_strtab_text(names, h->unit);
    d.size = h->size;
    if (!alone) {
        weir_buf_printf(&name, "%s-%s", d.type, d.unit);
        d.name = name.data;
        rc = name.failed ? weir_fail_nomem(c->err) : WEIR_OK;
    }
    rc = rc ? rc : weir_graph_add(c->extract.to, parent, &d, &h->pool, c->err);
    weir_buf_free(&name);
    return rc;
}

/* Whether v and all ancestors are up. */
static bool is_up(const weir_graph *g, weir_vertex v)
{
    while (v != WEIR_NONE && state_available(vertex_at(g, v)->state))
        v = vertex_at(g, v)->parent;
    return v == WEIR_NONE;
}

static int add_pools(struct coarsen *c)
{
    const weir_graph *g = c->extract.from;
    int rc = WEIR_OK;

    for (weir_vertex v = 0; !rc && v < g->limit; v++) {
        if (c->extract.map[v] == WEIR_NONE || is_gone(g, v) || !is_up(g, v))
            continue;
        c->first = c->last = c->nmerged;
        rc = merge_below(c, v);
        for (uint32_t i = c->first; !rc && i < c->nmerged; i++)
            rc = add_pool(c, i, c->extract.map[v]);
    }
    return rc;
}

/* ---- the view ---- */

static int check_keep(const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_err *err)
{
    for (uint32_t i = 0; i < nkeep; i++)
        if (weir_type_find(g, keep[i]) == WEIR_NO_TYPE)
            return weir_fail(err, WEIR_ENOENT, "there is no type '%.100s' to keep", keep[i]);
    return WEIR_OK;
}

static int coarsen_begin(struct coarsen *c, const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_err *err)
{
    weir_graph *to = weir_graph_new();
    int rc = weir_extract_begin(&c->extract, g, to, err);

    c->err = err;
    if (!rc) {
        c->keep = weir_mem_zalloc(g->ntypes, sizeof *c->keep);
        c->merged_into = weir_mem_alloc((size_t)g->limit * sizeof *c->merged_into);
    }
    if (!c->keep || !c->merged_into || weir_words_copy(to, g)) {
        weir_graph_free(to);
        return weir_fail_nomem(err);
    }
    memset(c->merged_into, 0xFF, (size_t)g->limit * sizeof *c->merged_into);
    for (uint32_t i = 0; i < nkeep; i++) {
        c->keep[weir_type_find(g, keep[i])] = true;
    }
    to->valid_from = g->valid_from;
    to->valid_until = g->valid_until;
    weir_graph_begin(to);
    return WEIR_OK;
}

/* Maps each merged vertex to the pool with its units. */
static void map_merged(struct coarsen *c)
{
    for (weir_vertex v = 0; v < c->extract.from->limit; v++)
        if (c->merged_into[v] != WEIR_NONE)
            c->extract.map[v] = c->merged[c->merged_into[v]].pool;
}

static void coarsen_end(struct coarsen *c)
{
    weir_extract_end(&c->extract);
    WEIR_FREE(c->keep, c->merged_into, c->merged);
}

int weir_graph_coarsen(const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_graph **out,
                       weir_vertex **map, weir_err *err)
{
    struct coarsen c = {0};
    int rc = check_keep(g, keep, nkeep, err);

    if (rc)
        return rc;
    rc = coarsen_begin(&c, g, keep, nkeep, err);

    if (!rc) {
        rc = keep_roots(&c);
        rc = rc ? rc : weir_extract_edges(&c.extract, err);
        rc = rc ? rc : add_pools(&c);
        rc = rc ? rc : weir_graph_end(c.extract.to, err);
        if (rc)
            weir_graph_free(c.extract.to);
    }
    if (!rc) {
        map_merged(&c);
        *out = c.extract.to;
        if (map) {
            *map = c.extract.map;
            c.extract.map = NULL;
        }
    }
    coarsen_end(&c);
    return rc;
}
