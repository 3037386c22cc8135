/* flow.c - flows (RFC 4): a resource of a request that names a subsystem, such as power=2 or pfs1=4, takes units of
 * every distribution unit on the way from the vertex above the resource up to the source of the subsystem, or the
 * vertex does not fit. Of several ways up, the first with enough units is taken.
 *
 * Invariant: units of a distribution unit already taken by the match count as used.
 */
#include <string.h>

#include "match/match.h"
#include "aggregate/schema.h"
#include "time/availability.h"

static bool contained(const weir_graph *g, weir_type t)
{
    for (uint32_t i = 0; i < g->nroots; i++) {
        weir_vertex v = g->roots[i];
        const struct inner *in = v == WEIR_NONE ? NULL : inner_of(g, v);
        if (in && (kind_of(g, v)->type == t || type_cell(schema_at(g, in->schema), t)))
            return true;
    }
    return false;
}

uint32_t weir_flow_find(const weir_graph *g, const char *name)
{
    uint32_t s = g->nsubsystems > 1 ? weir_subsystem_find(g, name) : WEIR_NONE;
    weir_type t = s == WEIR_NONE || s == 0 ? WEIR_NO_TYPE : weir_type_find(g, name);

    if (s == WEIR_NONE || s == 0 || (t != WEIR_NO_TYPE && contained(g, t)))
        return WEIR_NONE;
    return s;
}

/* Units of a distribution unit left to the match. */
static int64_t left_of(const struct match *m, weir_vertex v)
{
    int64_t left = kind_of(m->g, v)->size;

    if (m->view != VIEW_ALL && !state_available(vertex_at(m->g, v)->state))
        return 0;
    if (m->view <= VIEW_RESERVED)
        left = weir_availability_free(m->g, v, m->t0, m->t1);
    for (uint32_t i = 0; i < m->npicks; i++)
        if (m->picks[i].vertex == v)
            left -= m->picks[i].amount;
    return left;
}

/* The units of a resource on the way up, and the vertex to be served. */
struct flow {
    weir_vertex endpoint;
    uint32_t subsystem;
    const weir_resource *r;
    int64_t units;
    struct weir_map32 met; /* vertices that the climb has looked at: none is looked at twice */
};

/* Whether the subsystem begins at v: edges leave v, and none enters v as written. */
static bool is_source(const weir_graph *g, weir_vertex v, uint32_t subsystem)
{
    return weir_edge_first(g, v, subsystem, false) == WEIR_NONE && weir_edge_first(g, v, subsystem, true) != WEIR_NONE;
}

/* Takes units of all vertices on a way up from v. Returns 1, 0 (no pick added) when no way up fits, or negative. A
 * vertex from which no way up was found is not tried again: what lies above is the same on every way. */
static int climb(struct match *m, weir_vertex v, struct flow *f, uint32_t depth)
{
    uint32_t npicks = m->npicks;
    struct weir_ends ends = weir_ends(m->g, v, f->subsystem, false);
    weir_vertex up;

    if (depth > 0 && is_source(m->g, v, f->subsystem))
        return 1;
    if (depth >= WEIR_PATH_DEPTH)
        return 0;
    while ((up = weir_ends_next(&ends)) != WEIR_NONE) {
        int rc;
        if (weir_map32_get(&f->met, up) != WEIR_NONE)
            continue;
        if (weir_map32_add(&f->met, up, 0))
            return weir_fail_nomem(m->err);
        count_event(m, WEIR_EVENT_VISITED, up, f->r);
        if (!weir_candidate_unit(m, up, f->r) || left_of(m, up) < f->units) {
            count_event(m, WEIR_EVENT_BUSY, up, f->r);
            continue;
        }
        rc = weir_pick_add(m, up, f->r, f->units, f->units == kind_of(m->g, up)->size);
        if (rc)
            return rc;
        m->notes[m->npicks - 1].endpoint = f->endpoint;
        rc = climb(m, up, f, depth + 1);
        if (rc)
            return rc;
        m->npicks = npicks;
    }
    return 0;
}

/* One climb from the vertex to be served. Returns 1, 0 or negative. */
static int serve(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t units)
{
    struct flow f = {under, subsystem, r, units, {0}};
    int rc = weir_map32_add(&f.met, under, 0) ? weir_fail_nomem(m->err) : climb(m, under, &f, 0);

    weir_map32_free(&f.met);
    return rc;
}

/* Whether an edge of the subsystem leads to v. */
static bool is_served(const weir_graph *g, weir_vertex v, uint32_t subsystem)
{
    struct weir_ends ends = weir_ends(g, v, subsystem, false);
    return weir_ends_next(&ends) != WEIR_NONE;
}

int weir_flow_allocate(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t times)
{
    int64_t most = count_most(m, &r->count);

    if (most > r->count.min && most >= WEIR_FOREVER / 2)
        most = r->count.min; /* "at least": no more than the minimum */
    /* resources inside a node draw from the way up from the node */
    while (under != WEIR_NONE && !is_served(m->g, under, subsystem))
        under = vertex_at(m->g, under)->parent;
    if (under == WEIR_NONE)
        return 0;
    m->backtracked = true; /* a distribution unit may have several picks */
    for (int64_t n = most; n >= r->count.min && n >= 0; n = weir_count_floor(&r->count, n - 1)) {
        int rc = serve(m, under, subsystem, r, saturating_mul(n, times));
        if (rc)
            return rc;
    }
    return 0;
}

int weir_flows_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    int rc = 1;

    for (uint32_t i = 0; rc == 1 && i < n; i++) {
        uint32_t s = list[i].slot ? WEIR_NONE : weir_flow_find(m->g, list[i].type);
        if (list[i].slot)
            rc = weir_flows_allocate(m, under, list[i].with, list[i].nwith, saturating_mul(times, list[i].count.min));
        else if (s != WEIR_NONE)
            rc = weir_flow_allocate(m, under, s, &list[i], times);
    }
    return rc;
}
