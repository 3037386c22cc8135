/* earliest_start.c - the earliest start of a request. Invariant: no start is passed over at which the request would fit. What jobs take
 * over time, in all and of the vertices of one type (occupancy.h), tells where it cannot; a search tells where it does. */
#include "match/match.h"

#include "time/occupancy.h"
#include "index/node_table.h"
#include "aggregate/schema.h"
#include "time/usage_totals.h"
#include "time/availability.h"

#define START_TRIES 100000 /* start times tried for one reservation */

/* ---- the calendar that tells most ---- */

static int64_t need_of(const struct match *m, const char *type)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->request, &n);

    for (uint32_t i = 0; i < n; i++)
        if (weir_type_find(m->g, needs[i].type) == weir_type_find(m->g, type))
            return needs[i].amount;
    return 0;
}

/* Whether as many vertices of the type of r as the request needs units have to be free of those who take them whole. */
static bool is_counted(struct match *m, const weir_resource *r)
{
    weir_type t = r->slot ? WEIR_NO_TYPE : weir_match_type(m, r);

    return t != WEIR_NO_TYPE && !(m->g->types[t].flags & TYPE_POOLED) && !weir_type_above(m->g, t, t) &&
           weir_flow_find(m->g, r->type) == WEIR_NONE && need_of(m, r->type) > 0;
}

/* The type whose calendar is looked at: of vertices that are wanted whole, or else of the first that is taken. */
static weir_type occupancy_type(struct match *m)
{
    for (int whole = 1; whole >= 0; whole--)
        for (uint32_t i = 0; i < m->request->count; i++) {
            const weir_resource *r = weir_request_resource(m->request, i);
            if (is_counted(m, r) && (whole ? weir_candidate_idle(m, r) : r->takes))
                return weir_type_find(m->g, r->type);
        }
    return WEIR_NO_TYPE;
}

/* How many resources of a type there are in the request, or but those that need vertices which nobody uses. */
static uint32_t count_resources(struct match *m, weir_type t, bool idle_too)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->request->count; i++) {
        const weir_resource *r = weir_request_resource(m->request, i);
        n += !r->slot && weir_type_find(m->g, r->type) == t && (idle_too || !weir_candidate_idle(m, r));
    }
    return n;
}

/* Whether the constraint allows the node that v is inside. */
static bool is_allowed(const struct match *m, weir_vertex v)
{
    uint32_t node;

    while (v != WEIR_NONE && kind_of(m->g, v)->type != m->node_type)
        v = vertex_at(m->g, v)->parent;
    node = v == WEIR_NONE ? WEIR_NONE : weir_node_table_number(m->node_table, v);
    return node == WEIR_NONE || weir_idset_test(m->allowed, node);
}

/* Nodes that the constraint does not allow, and what is inside them, are no use at any time. */
static int refuse_constrained(struct match *m)
{
    bool inside = m->calendar->type != m->node_type;
    int rc;

    if ((inside && !m->has_fit_index) || !weir_request_constraint(m->request))
        return WEIR_OK;
    rc = weir_filter_prepare(m);
    for (uint32_t i = 0; !rc && !inside && i < m->node_table->count; i++)
        if (m->node_table->nodes[i] != WEIR_NONE && !weir_idset_test(m->allowed, i))
            weir_occupancy_refuse(m->g, m->calendar, m->node_table->nodes[i]);
    for (uint32_t i = 0; !rc && inside && i < m->calendar->count; i++)
        if (m->calendar->vertices[i] != WEIR_NONE && !is_allowed(m, m->calendar->vertices[i]))
            weir_occupancy_refuse(m->g, m->calendar, m->calendar->vertices[i]);
    return rc;
}

/* ---- parts of vertices that others have parts of, too ---- */

/* Whether vertices of a type are pools of one, none of which is inside another. */
static bool is_plain(const weir_graph *g, weir_type t)
{
    return t != WEIR_NO_TYPE && !(g->types[t].flags & TYPE_POOLED) && !weir_type_above(g, t, t);
}

/* The type of the vertices that have a part of what r asks for each: of nodes, or of what is passed through inside them;
 * WEIR_NO_TYPE: what r holds tells. */
static weir_type host_of(struct match *m, const weir_resource *r)
{
    weir_type t = r->slot ? weir_slot_host(m, WEIR_NONE, r) : r->nwith > 0 ? weir_match_type(m, r) : WEIR_NO_TYPE;

    if (t == m->node_type)
        return t;
    return !r->slot && is_plain(m->g, t) && weir_type_above(m->g, m->node_type, t) ? t : WEIR_NO_TYPE;
}

/* The resource or slot that has one host each, while nothing else is asked for; NULL: there is none. */
static const weir_resource *hosted(struct match *m, weir_type *host)
{
    struct fit_request *q = &m->room;
    uint32_t n;
    const weir_resource *r = weir_request_resources(m->request, &n);

    for (; n == 1; r = r->with) {
        if (r->any || (!r->slot && r->takes) || r->count.min < 1)
            return NULL;
        q->slots = saturating_mul(q->slots, r->count.min);
        *host = host_of(m, r);
        if (*host != WEIR_NO_TYPE)
            return r;
        n = r->nwith;
        if (!r->slot && is_plain(m->g, weir_match_type(m, r))) {
            q->outer = weir_match_type(m, r);
            q->outers = saturating_mul(q->outers, q->slots);
            q->slots = 1;
        }
    }
    return NULL;
}

/* What m->room is to look for; false: it cannot tell anything. */
static bool read_room(struct match *m, weir_type *host)
{
    const weir_resource *r;
    const struct weir_need *needs;
    uint32_t n;

    m->room = (struct fit_request){
        .duration = m->duration > 0 ? m->duration : 1, .slots = 1, .outers = 1, .outer = WEIR_NO_TYPE};
    if (!is_plain(m->g, m->node_type) || m->links != WEIR_NONE || reads(m, WEIR_WHOLE_POOLS) || reads(m, WEIR_SLOT_PARENT))
        return false;
    r = hosted(m, host);
    if (!r)
        return false;
    m->room.once = !r->slot;
    needs = weir_resource_needs(m->request, r->index, &n);
    for (uint32_t i = 0; i < n && m->room.n < FIT_NEEDS; i++) {
        weir_type t = weir_type_find(m->g, needs[i].type);
        if (needs[i].amount > 0 && t != WEIR_NO_TYPE && weir_flow_find(m->g, needs[i].type) == WEIR_NONE)
            m->room.needs[m->room.n++] = (struct fit_need){t, needs[i].amount};
    }
    return m->room.n > 0;
}

/* Looks at the calendar of hosts, and at the room on them. */
static int use_room(struct match *m, weir_type host, bool make)
{
    m->has_fit_index = false;
    m->calendar = m->g->occupancies.n || make ? weir_occupancy_of(m->g, host) : NULL;
    if (make && weir_occupancy_get(m->g, host, &m->calendar))
        return WEIR_ENOMEM;
    return m->calendar ? weir_fits_get(m->g, m->calendar, &m->room, make, &m->has_fit_index) : WEIR_OK;
}

/* Looks at a calendar from now on; at none where none is kept and none is to be made. */
static int use_calendar(struct match *m, bool make)
{
    weir_type t;

    m->has_fit_index = false;
    if ((make || m->g->occupancies.n > 0) && read_room(m, &t) && use_room(m, t, make))
        return weir_fail_nomem(m->err);
    if (m->has_fit_index) {
        m->single_resource = false;
        weir_occupancy_reset(m->calendar);
        return refuse_constrained(m);
    }
    t = !make && m->g->occupancies.n == 0 ? WEIR_NO_TYPE : occupancy_type(m);
    m->calendar = t == WEIR_NO_TYPE ? NULL : weir_occupancy_of(m->g, t);
    if (t != WEIR_NO_TYPE && make && weir_occupancy_get(m->g, t, &m->calendar))
        return weir_fail_nomem(m->err);
    if (!m->calendar)
        return WEIR_OK;
    if (count_resources(m, t, false) == 0 && weir_occupancy_used(m->g, m->calendar, make, &m->calendar))
        return weir_fail_nomem(m->err);
    m->wanted = (uint64_t)need_of(m, type_text(m->g, t));
    m->single_resource = count_resources(m, t, true) == 1;
    weir_occupancy_reset(m->calendar);
    return refuse_constrained(m);
}

static int find_room(struct match *m, int64_t from, int64_t latest, int64_t *start)
{
    int rc = weir_usage_build(m->g) ? WEIR_ENOMEM : weir_fits_find(m->g, m->calendar, &m->room, from, latest, start);

    if (rc == WEIR_EINTERRUPTED)
        return weir_fail(m->err, rc, "interrupted");
    return rc ? weir_fail_nomem(m->err) : WEIR_OK;
}

int weir_match_bound_ok(struct match *m, int64_t start)
{
    int64_t end = time_add(start, m->duration);
    int rc = use_calendar(m, false);

    if (rc || !m->calendar)
        return rc ? rc : 1;
    if (m->has_fit_index) {
        int64_t found = WEIR_FOREVER;
        rc = find_room(m, start, start, &found);
        m->has_busy_mask = found == start;
        return rc ? rc : m->has_busy_mask;
    }
    m->has_busy_mask = weir_occupancy_fits(m->calendar, start, end, m->wanted);
    return m->has_busy_mask;
}

/* ---- the earliest start ---- */

static int64_t total_of(const weir_graph *g, weir_type t)
{
    weir_aggregate a;
    return weir_graph_aggregate(g, WEIR_NONE, t, &a) ? a.total : 0;
}

/* Puts off *t until there is enough of one type that is needed. */
static int total_fits(const struct match *m, const struct weir_need *need, int64_t *t)
{
    weir_type type = weir_type_find(m->g, need->type);
    int64_t limit = type == WEIR_NO_TYPE ? -1 : total_of(m->g, type) - need->amount;
    const weir_timeline *plan;

    if (weir_flow_find(m->g, need->type) != WEIR_NONE || (m->calendar && m->calendar->type == type))
        return WEIR_OK;
    if (limit < 0) {
        *t = WEIR_FOREVER;
        return WEIR_OK;
    }
    if (weir_usage_of(m->g, type, &plan))
        return weir_fail_nomem(m->err);
    *t = weir_timeline_first_fit(plan, *t, m->duration, limit);
    return WEIR_OK;
}

/* The same for all types, and for the vertices of the calendar: until none puts it off any more. */
static int totals_fit(struct match *m, int64_t *t)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->request, &n);
    int64_t found;
    int rc = WEIR_OK;

    do {
        if (m->has_fit_index)
            rc = find_room(m, *t, WEIR_FOREVER, t);
        else if (m->calendar)
            *t = weir_occupancy_find(m->g, m->calendar, *t, m->duration, m->wanted);
        found = *t;
        for (uint32_t i = 0; !rc && i < n && *t != WEIR_FOREVER; i++)
            rc = total_fits(m, &needs[i], t);
    } while (!rc && *t != found && *t != WEIR_FOREVER);
    return rc;
}

int weir_match_soonest(struct match *m, int64_t t, int64_t *start)
{
    if (weir_usage_build(m->g))
        return weir_fail_nomem(m->err);
    m->calendar = NULL;
    m->has_fit_index = false;
    *start = t;
    return totals_fit(m, start);
}

/* The next start after *t that is worth a try. What is known of room is known from the clock's time on, so the first time it is
 * asked for that. */
static int next_start(struct match *m, bool first, int64_t *t)
{
    int64_t before = *t;
    int rc = first && m->has_fit_index ? totals_fit(m, t) : WEIR_OK;

    if (rc || *t > before)
        return rc;
    *t = weir_usage_next_end(m->g, before);
    return *t == WEIR_FOREVER ? WEIR_OK : totals_fit(m, t);
}

int weir_match_later(struct match *m, int64_t t, int64_t *start)
{
    int rc = weir_usage_build(m->g) ? weir_fail_nomem(m->err) : use_calendar(m, true);

    for (uint32_t tries = 0; !rc && tries < START_TRIES; tries++) {
        rc = next_start(m, tries == 0, &t);
        if (rc || t == WEIR_FOREVER)
            return rc;
        m->stats.starts++;
        m->has_busy_mask = m->calendar != NULL;
        rc = weir_match_attempt(m, VIEW_LATER, t);
        m->has_busy_mask = false;
        *start = rc ? t : *start;
        if (rc == 0 && tries == 0 && !m->options->met && (rc = weir_match_feasible(m, t)) == 1)
            rc = 0;
    }
    return rc ? rc
              : weir_fail(m->err, WEIR_ELIMIT, "no start was found among the first %d times tried; a later time to look from (at) goes on",
                          START_TRIES);
}
