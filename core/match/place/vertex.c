/* vertex.c - a vertex for a resource of a request: its own units, and below it what is nested in the resource.
 * Invariant: on "does not fit" and on failure the picks are as they were.
 */
#include "match/place/place.h"

/* Whether v, free as a whole, holds the nested resources. Returns 1 (with nested picks added where the caller requests
 * them), 0 or negative. */
static int holds_nested(struct match *m, weir_vertex v, const weir_resource *r, bool known)
{
    enum match_view view = m->scope.view;
    struct scope mark = scope_mark(m);
    bool wants_picks = m->ask.options->inside && view != VIEW_ALL;
    int rc;

    /* the search has compared the needs with the totals below v: where all vertices are up, the totals decide */
    if (!wants_picks && known)
        return 1;
    if (!wants_picks && weir_candidate_by_aggregates(m, r) &&
        (view == VIEW_NOW || view == VIEW_ALL || m->g->unavailable == 0))
        return 1;
    if (view < VIEW_CAPACITY)
        m->scope.view = VIEW_CAPACITY;
    m->scope.conflicts_from = WEIR_NONE;
    rc = weir_place_list(m, v, r->with, r->nwith, 1);
    if (wants_picks)
        return scope_end(m, &mark, rc);
    scope_undo(m, &mark);
    return rc;
}

static int64_t take_whole(struct match *m, weir_vertex v, const weir_resource *r, bool known)
{
    int64_t size = kind_of(m->g, v)->size;
    struct scope mark = scope_mark(m);
    int rc = weir_candidate_fits_whole(m, v, r);

    if (rc == 1)
        rc = holds_nested(m, v, r, known);
    if (rc <= 0)
        return rc;
    rc = weir_pick_add(m, v, r, size, true);
    if (rc || m->g->nsubsystems == 1 || m->scope.view == VIEW_CAPACITY)
        return rc ? rc : size;
    rc = weir_flows_allocate(m, v, r->with, r->nwith, 1);
    return scope_end(m, &mark, rc) <= 0 ? rc : size;
}

static int64_t take_within(struct match *m, weir_vertex v, const weir_resource *r)
{
    int rc = weir_candidate_enter(m, v, r) ? weir_place_list(m, v, r->with, r->nwith, 1) : 0;

    return rc <= 0 ? rc : kind_of(m->g, v)->size;
}

static int64_t place(struct match *m, weir_vertex v, const weir_resource *r, int64_t want, bool known)
{
    if (r->nwith == 0)
        return weir_candidate_take(m, v, r, want);
    return weir_candidate_passes(m, v, r) ? take_within(m, v, r) : take_whole(m, v, r, known);
}

int64_t weir_place_vertex(struct match *m, weir_vertex v, const weir_resource *r, int64_t want)
{
    return place(m, v, r, want, false);
}

int64_t weir_place_vertex_known(struct match *m, weir_vertex v, const weir_resource *r, int64_t want)
{
    return place(m, v, r, want, true);
}
