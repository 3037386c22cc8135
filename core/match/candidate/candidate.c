/* candidate.c - the units of a vertex for a resource of a request, without the resources nested in it.
 * Invariant: nothing taken here overlaps a span within the window, or a pick of the match.
 */
#include <string.h>

#include "time/schedule.h"
#include "time/occupancy.h"
#include "match/match.h"
#include "aggregate/rows.h"
#include "time/availability.h"

/* How a vertex serves a resource. */
enum use {
    USE_WHOLE,  /* the vertex and all below it */
    USE_UNITS,  /* some of its units */
    USE_SHARED, /* without units, shared with others */
    USE_WITHIN  /* only resources nested in the request, below the vertex */
};

int weir_pick_add(struct match *m, weir_vertex v, const weir_resource *r, int64_t amount, bool exclusive)
{
    if (weir_array_reserve(&m->progress.picks, &m->progress.picks_cap, (size_t)m->scope.npicks + 1,
                           sizeof *m->progress.picks) ||
        weir_array_reserve(&m->progress.details, &m->progress.details_cap, (size_t)m->scope.npicks + 1,
                           sizeof *m->progress.details))
        return weir_fail_nomem(m->err);
    m->progress.details[m->scope.npicks] =
        (struct pick_detail){.endpoint = WEIR_NONE, .nested = m->scope.view == VIEW_CAPACITY};
    m->progress.picks[m->scope.npicks++] = (weir_pick){v, r->index, amount, exclusive};
    return WEIR_OK;
}

void weir_pick_slots(struct match *m, uint32_t from, int64_t n)
{
    uint32_t *slots = m->scope.npicks > from ? &m->progress.details[m->scope.npicks - 1].slots : NULL;

    if (slots)
        *slots = n < UINT32_MAX - *slots ? *slots + (uint32_t)n : UINT32_MAX;
}

/* Whether the policy makes vertices of a type exclusive; never for feasibility, which is not for the policy to
 * decide. */
static bool policy_whole(const struct match *m, const char *type)
{
    for (uint32_t i = 0; m->scope.view != VIEW_ALL && i < m->ask.policy->nexclusive; i++)
        if (strcmp(m->ask.policy->exclusive[i], type) == 0)
            return true;
    return false;
}

bool weir_candidate_whole(const struct match *m, weir_vertex v)
{
    if (!m->g->whole_kinds && m->ask.policy->nexclusive == 0)
        return false;
    return kind_of(m->g, v)->exclusive || (m->ask.policy->nexclusive && policy_whole(m, weir_vertex_type(m->g, v)));
}

static enum use use_of(const struct match *m, weir_vertex v, const weir_resource *r)
{
    bool leaf = !has_kids(m->g, v);
    const struct kind *k = kind_of(m->g, v);

    if (k->exclusive || r->exclusive == WEIR_EXCLUSIVE_YES || policy_whole(m, r->type))
        return USE_WHOLE;
    if (r->takes)
        return leaf && r->nwith == 0 && !strict(m, WEIR_STRICT_POOLS) ? USE_UNITS : USE_WHOLE;
    if (r->nwith > 0)
        return USE_WITHIN;
    return leaf && r->exclusive == WEIR_EXCLUSIVE_UNSET ? USE_UNITS : USE_SHARED;
}

bool weir_candidate_passes(const struct match *m, weir_vertex v, const weir_resource *r)
{
    return use_of(m, v, r) == USE_WITHIN;
}

bool weir_candidate_divisible(const struct match *m, weir_vertex v, const weir_resource *r)
{
    return use_of(m, v, r) == USE_UNITS;
}

bool weir_candidate_idle(struct match *m, const weir_resource *r)
{
    weir_type t = weir_match_type(m, r);
    uint8_t flags = t == WEIR_NO_TYPE ? 0 : m->g->types[t].flags;

    if (r->exclusive == WEIR_EXCLUSIVE_YES || policy_whole(m, r->type))
        return true;
    if (strict(m, WEIR_STRICT_POOLS))
        return r->takes;
    return r->takes && (flags & TYPE_HAS_KIDS) && !(flags & TYPE_POOLED);
}

/* ---- conflicting picks of the match ---- */

/* The use of a vertex by conflicting picks. */
struct conflict {
    int64_t used;
    bool shared; /* a pick without units */
};

/* Whether v, as a whole or not, overlaps a conflicting pick without sharing; otherwise *r is the use of v by
 * conflicting picks. Flows are no conflict: see weir_direct_spare() for what they leave. */
static bool conflicts(const struct match *m, weir_vertex v, bool whole, struct conflict *r)
{
    *r = (struct conflict){0, false};
    for (uint32_t i = m->scope.conflicts_from; i < m->scope.npicks; i++) {
        const weir_pick *p = &m->progress.picks[i];
        if (m->progress.details[i].endpoint != WEIR_NONE)
            continue;
        if (p->exclusive && weir_vertex_within(m->g, v, p->vertex))
            return true;
        if (whole && weir_vertex_within(m->g, p->vertex, v))
            return true;
        if (p->vertex == v) {
            r->used += p->amount;
            r->shared |= p->amount == 0;
        }
    }
    return false;
}

/* ---- taking ---- */

/* By an occupancy; with a fit index a vertex free in the mask may be in use. */
bool weir_candidate_unused(const struct match *m, weir_vertex v)
{
    const struct occupancy *c =
        m->known.masked && m->scope.view == VIEW_RESERVED && !match_has_fits(m) ? m->known.occupancy : NULL;
    const struct schedule *b = schedule_of(m->g, v);
    const struct inner *in = inner_of(m->g, v);

    if (m->scope.view >= VIEW_CAPACITY)
        return true;
    if (c && kind_of(m->g, v)->type == c->type && occupancy_knows(m->g, c, v))
        return !occupancy_busy(m->g, c, v);
    if (m->scope.view != VIEW_NOW)
        return weir_availability_unused(m->g, v, m->window.t0, m->window.t1);
    return !(b && (b->active > 0 || b->next < m->window.t1)) &&
           !(in && in->cells && (in->cells[CELL_ACTIVE] > 0 || WEIR_FOREVER - in->cells[CELL_SOON] < m->window.t1));
}

bool weir_candidate_unit(const struct match *m, weir_vertex v, const weir_resource *r)
{
    const char *unit = r->unit[0] ? weir_vertex_unit(m->g, v) : "";
    return !unit[0] || strcmp(r->unit, unit) == 0;
}

/* Whether aggregates decide if a vertex taken as a whole holds the nested resources: only counts, of types that do
 * not nest, anywhere below the vertex. */
static bool decided_by_aggregates(struct match *m, const weir_resource *r)
{
    if (m->ask.policy->prune || strict(m, WEIR_STRICT_LEVELS) || r->nwith > SEARCH_NEEDS || m->ask.links != WEIR_NONE ||
        weir_siblings_compete(m, r->with, r->nwith))
        return false;
    if (weir_request_constrained(m->ask.request) && m->ask.node_type != WEIR_NO_TYPE &&
        weir_type_above(m->g, weir_match_type(m, r), m->ask.node_type))
        return false;
    for (uint32_t i = 0; i < r->nwith; i++) {
        const weir_resource *w = &r->with[i];
        if (w->slot || w->nwith > 0 || w->unit[0] || w->count.op == 0 || w->exclusive == WEIR_EXCLUSIVE_NO)
            return false;
    }
    return true;
}

bool weir_candidate_by_aggregates(struct match *m, const weir_resource *r)
{
    struct resource_facts *facts = r->index < RESOURCE_CACHE ? &m->known.facts[r->index] : NULL;

    if (!facts)
        return decided_by_aggregates(m, r);
    if (facts->decided == NOT_ASKED)
        facts->decided = decided_by_aggregates(m, r) ? BY_AGGREGATES : BY_SEARCH;
    return facts->decided == BY_AGGREGATES;
}

int weir_candidate_fits_whole(struct match *m, weir_vertex v, const weir_resource *r)
{
    int64_t size = kind_of(m->g, v)->size, spare;
    struct conflict conflict;
    int rc;

    if (!weir_candidate_unit(m, v, r) || size == 0 || conflicts(m, v, true, &conflict))
        return 0;
    spare = m->progress.flow ? weir_direct_spare(m, v, size) : size;
    if (spare < 0)
        return (int)spare;
    if (spare < size || !weir_candidate_unused(m, v)) {
        count_event(m, WEIR_EVENT_BUSY, v, r);
        return 0;
    }
    rc = weir_filter_allows_whole(m, v);
    if (rc == 0)
        count_event(m, WEIR_EVENT_CONSTRAINT, v, r);
    return rc;
}

static int64_t take_whole(struct match *m, weir_vertex v, const weir_resource *r)
{
    int64_t size = kind_of(m->g, v)->size;
    int rc = weir_candidate_fits_whole(m, v, r);

    if (rc == 1 && weir_pick_add(m, v, r, size, true))
        return WEIR_ENOMEM;
    return rc == 1 ? size : rc;
}

/* Units of v already held by the growing job. */
static int64_t own_units(const struct match *m, weir_vertex v)
{
    const struct schedule *b = m->ask.growing && m->scope.view <= VIEW_RESERVED ? schedule_of(m->g, v) : NULL;
    uint32_t i = b ? weir_schedule_find(m->g, v, (uint32_t)(m->ask.growing - jobs_in(m->g)->list)) : WEIR_NONE;

    return i != WEIR_NONE ? weir_schedule_span(m->g, b, i).amount : 0;
}

/* Whether further jobs use v in the window. A growing job without units of v counts as a further job. */
static bool others_use(const struct match *m, weir_vertex v, int64_t own)
{
    return own > 0 ? weir_schedule_others(m->g, v, (uint32_t)(m->ask.growing - jobs_in(m->g)->list), m->window.t0,
                                          m->window.t1)
                   : !weir_candidate_unused(m, v);
}

/* Units left in v, at most `want`; negative: v is in conflict. */
static int64_t units_left(const struct match *m, weir_vertex v, int64_t want)
{
    int64_t size = kind_of(m->g, v)->size, left = size, own = own_units(m, v);
    struct conflict conflict;

    if (conflicts(m, v, false, &conflict))
        return -1;
    if (m->scope.view <= VIEW_RESERVED)
        left = weir_availability_free(m->g, v, m->window.t0, m->window.t1);
    left -= conflict.used;
    if (left > want)
        left = want;
    /* all units for a single job is exclusive: no further job may share the pool then */
    if (left + conflict.used + own == size && (conflict.shared || others_use(m, v, own)))
        left--;
    return left > 0 ? left : 0;
}

int64_t weir_candidate_units_left(const struct match *m, weir_vertex v)
{
    return units_left(m, v, WEIR_FOREVER);
}

static int64_t take_units(struct match *m, weir_vertex v, const weir_resource *r, int64_t want)
{
    int64_t size = kind_of(m->g, v)->size, left = units_left(m, v, want);
    int rc;

    if (left < 0)
        return 0;
    left = m->progress.flow ? weir_direct_spare(m, v, left) : left;
    if (left < 0)
        return left;
    if (left == 0) {
        count_event(m, WEIR_EVENT_BUSY, v, r);
        return 0;
    }
    rc = weir_pick_add(m, v, r, left, left == size);
    return rc ? rc : left;
}

static int64_t take_shared(struct match *m, weir_vertex v, const weir_resource *r, int64_t want)
{
    int64_t size = kind_of(m->g, v)->size;
    struct conflict conflict;
    int rc;

    if (size == 0 || conflicts(m, v, false, &conflict))
        return 0;
    if (conflict.used > 0 && conflict.used + own_units(m, v) == size) /* nothing is left to share */
        return 0;
    /* in a hierarchy, a vertex above parts that its job does not have is not marked as exclusive (hierarchy_picks.c) */
    if (m->g->viewed.graph && m->scope.view <= VIEW_RESERVED &&
        weir_schedule_whole(m->g, v, m->window.t0, m->window.t1)) {
        count_event(m, WEIR_EVENT_BUSY, v, r);
        return 0;
    }
    rc = weir_pick_add(m, v, r, 0, false);
    return rc ? rc : size < want ? size : want;
}

bool weir_candidate_enter(const struct match *m, weir_vertex v, const weir_resource *r)
{
    struct conflict conflict;
    return weir_candidate_unit(m, v, r) && !conflicts(m, v, false, &conflict);
}

int64_t weir_candidate_take(struct match *m, weir_vertex v, const weir_resource *r, int64_t want)
{
    if (!weir_candidate_unit(m, v, r))
        return 0;
    switch (use_of(m, v, r)) {
    case USE_WHOLE: return take_whole(m, v, r);
    case USE_UNITS: return take_units(m, v, r, want);
    case USE_SHARED: return take_shared(m, v, r, want);
    case USE_WITHIN: return weir_candidate_enter(m, v, r) ? kind_of(m->g, v)->size : 0;
    }
    return 0;
}
