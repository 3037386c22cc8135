/* earliest_start.c - the earliest start of a request. Invariant: no start at which the request would fit is passed
 * over. The usage totals of all jobs, and the occupancy of a type, exclude starts; a search decides about the rest.
 */
#include "match/match.h"

#include "time/occupancy.h"
#include "index/node_table.h"
#include "aggregate/schema.h"
#include "time/usage_totals.h"
#include "time/availability.h"
#include "request/constraint.h"

#define START_TRIES    100000 /* start times tried for one reservation */
#define UNDECIDED_MOST 16     /* starts whose searches may be cut off before the reservation fails */

/* ---- the occupancy to use ---- */

static int64_t need_of(struct match *m, const char *type)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->ask.request, &n);

    for (uint32_t i = 0; i < n; i++)
        if (weir_match_type_named(m, needs[i].type) == weir_match_type_named(m, type))
            return needs[i].amount;
    return 0;
}

/* Whether the request needs a number of vertices of the type of r. */
static bool is_counted(struct match *m, const weir_resource *r)
{
    weir_type t = r->slot ? WEIR_NO_TYPE : weir_match_type(m, r);

    return t != WEIR_NO_TYPE && !(m->g->types[t].flags & TYPE_POOLED) && !weir_type_above(m->g, t, t) &&
           weir_flow_find(m->g, r->type) == WEIR_NONE && need_of(m, r->type) > 0;
}

/* Number of resources of a type in the request; `shared`: of those that do not take vertices of size 1 as a whole. */
static uint32_t count_resources(struct match *m, weir_type t, bool shared)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        n += !r->slot && weir_match_type(m, r) == t && !(shared && (r->takes || weir_candidate_idle(m, r)));
    }
    return n;
}

/* The type of the occupancy to use, a type of which the request takes unused vertices only: of the first vertices with
 * children, else of the first vertices. */
static weir_type occupancy_type(struct match *m)
{
    for (int idle = 1; idle >= 0; idle--)
        for (uint32_t i = 0; i < m->ask.request->count; i++) {
            const weir_resource *r = weir_request_resource(m->ask.request, i);
            if (is_counted(m, r) && (!idle || weir_candidate_idle(m, r)) &&
                count_resources(m, weir_match_type(m, r), true) == 0)
                return weir_match_type(m, r);
        }
    return WEIR_NO_TYPE;
}

/* Whether the constraint allows the node of v. */
static bool is_allowed(const struct match *m, weir_vertex v)
{
    uint32_t node;

    v = vertex_at_or_above(m->g, v, m->ask.node_type);
    node = v == WEIR_NONE ? WEIR_NONE : weir_node_table_number(m->known.node_table, v);
    return node == WEIR_NONE || weir_idset_test(m->known.allowed, node);
}

/* Refuses the vertices of the occupancy at or inside nodes that the constraint does not allow. */
static int refuse_constrained(struct match *m)
{
    bool inside = m->known.occupancy->type != m->ask.node_type;
    int rc;

    if ((inside && !match_has_fits(m)) || !weir_request_constraint(m->ask.request))
        return WEIR_OK;
    rc = weir_filter_prepare(m);
    for (uint32_t i = 0; !rc && !inside && i < m->known.node_table->count; i++)
        if (m->known.node_table->nodes[i] != WEIR_NONE && !weir_idset_test(m->known.allowed, i))
            weir_occupancy_refuse(m->g, m->known.occupancy, m->known.node_table->nodes[i]);
    for (uint32_t i = 0; !rc && inside && i < m->known.occupancy->count; i++)
        if (m->known.occupancy->vertices[i] != WEIR_NONE && !is_allowed(m, m->known.occupancy->vertices[i]))
            weir_occupancy_refuse(m->g, m->known.occupancy, m->known.occupancy->vertices[i]);
    return rc;
}

/* ---- parts of vertices shared with other jobs ---- */

static int64_t total_of(const weir_graph *g, weir_type t)
{
    weir_aggregate a;
    return weir_graph_aggregate(g, WEIR_NONE, t, &a) ? a.total : 0;
}

/* Whether vertices of a type are pools of size 1, none inside another. */
static bool is_plain(const weir_graph *g, weir_type t)
{
    return t != WEIR_NO_TYPE && !(g->types[t].flags & TYPE_POOLED) && !weir_type_above(g, t, t);
}

/* The type of the hosts of r: nodes, or the vertices passed through inside nodes; WEIR_NO_TYPE: the resources of r
 * decide. */
static weir_type host_of(struct match *m, const weir_resource *r)
{
    weir_type t = r->slot ? weir_slot_host(m, WEIR_NONE, r) : r->nwith > 0 ? weir_match_type(m, r) : WEIR_NO_TYPE;

    if (t == m->ask.node_type)
        return t;
    return !r->slot && is_plain(m->g, t) && weir_type_above(m->g, m->ask.node_type, t) ? t : WEIR_NO_TYPE;
}

/* Whether unused vertices, each a host for itself, serve r: where the vertices must be below one of several outer
 * vertices. An occupancy is faster for vertices that may be anywhere. */
static bool is_own_host(struct match *m, const weir_resource *r)
{
    const struct fit_request *q = &m->known.fits;

    return q->outer != WEIR_NO_TYPE && total_of(m->g, q->outer) > 1 && is_plain(m->g, weir_match_type(m, r)) &&
           weir_candidate_idle(m, r);
}

/* The only resource or slot of the request with a host for each, with *host set; NULL: the request has another form. */
static const weir_resource *hosted_resource(struct match *m, weir_type *host)
{
    struct fit_request *q = &m->known.fits;
    uint32_t n;
    const weir_resource *r = weir_request_resources(m->ask.request, &n);

    for (; n == 1; r = r->with) {
        bool taken = !r->slot && r->takes;
        if (r->any || r->count.min < 1 || (taken && !is_own_host(m, r)))
            return NULL;
        q->slots = saturating_mul(q->slots, r->count.min);
        *host = taken ? weir_match_type(m, r) : host_of(m, r);
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

/* Fills m->known.fits. False: the fit index cannot decide the request. */
static bool read_fit_request(struct match *m, weir_type *host)
{
    const weir_resource *r;
    const struct weir_need *needs;
    uint32_t n;

    m->known.fits = (struct fit_request){
        .duration = m->window.duration > 0 ? m->window.duration : 1, .slots = 1, .outers = 1, .outer = WEIR_NO_TYPE};
    if (!is_plain(m->g, m->ask.node_type) || m->ask.links != WEIR_NONE || strict(m, WEIR_STRICT_POOLS) ||
        strict(m, WEIR_STRICT_SLOTS))
        return false;
    r = hosted_resource(m, host);
    if (!r)
        return false;
    m->known.fits.once = !r->slot;
    if (!r->slot && r->takes)
        m->known.fits.needs[m->known.fits.n++] = (struct fit_need){WEIR_NO_TYPE, 1};
    needs = weir_resource_needs(m->ask.request, r->index, &n);
    for (uint32_t i = 0; i < n && m->known.fits.n < FIT_NEEDS; i++) {
        weir_type t = weir_match_type_named(m, needs[i].type);
        if (needs[i].amount > 0 && t != WEIR_NO_TYPE && weir_flow_find(m->g, needs[i].type) == WEIR_NONE)
            m->known.fits.needs[m->known.fits.n++] = (struct fit_need){t, needs[i].amount};
    }
    return m->known.fits.n > 0;
}

/* Sets m->known.occupancy to the occupancy of the hosts; `make`: makes it and the fit index where missing. Without fit
 * index known.fits is void afterwards. WEIR_ENOMEM. */
static int use_fit_index(struct match *m, weir_type host, bool make)
{
    bool made = false;
    int rc = WEIR_OK;

    m->known.occupancy = occupancies_in(m->g)->n || make ? weir_occupancy_of(m->g, host) : NULL;
    if (make && weir_occupancy_get(m->g, host, &m->known.occupancy))
        return WEIR_ENOMEM;
    if (m->known.occupancy)
        rc = weir_fits_get(m->g, m->known.occupancy, &m->known.fits, make, &made);
    m->known.fits.n = made ? m->known.fits.n : 0;
    return rc;
}

/* Chooses m->known.occupancy; NULL where none is kept and none is to be made. */
static int use_occupancy(struct match *m, bool make)
{
    bool open = false;
    weir_type t;

    m->known.fits.n = 0;
    if ((make || occupancies_in(m->g)->n > 0) && read_fit_request(m, &t) && use_fit_index(m, t, make))
        return weir_fail_nomem(m->err);
    if (match_has_fits(m)) {
        m->known.occupancy_askers = 0;
        weir_occupancy_reset(m->known.occupancy);
        return refuse_constrained(m);
    }
    t = !make && occupancies_in(m->g)->n == 0 ? WEIR_NO_TYPE : occupancy_type(m);
    m->known.occupancy = t == WEIR_NO_TYPE ? NULL : weir_occupancy_of(m->g, t);
    if ((t != WEIR_NO_TYPE && make && weir_occupancy_get(m->g, t, &m->known.occupancy)) ||
        (m->known.occupancy && weir_occupancy_open(m->g, m->known.occupancy, make, &open)))
        return weir_fail_nomem(m->err);
    m->known.occupancy = open ? m->known.occupancy : NULL;
    if (!m->known.occupancy)
        return WEIR_OK;
    m->known.occupancy_need = (uint64_t)need_of(m, type_text(m->g, t));
    m->known.occupancy_askers = count_resources(m, t, false);
    weir_occupancy_reset(m->known.occupancy);
    return refuse_constrained(m);
}

static int find_fit(struct match *m, int64_t from, int64_t latest, int64_t *start)
{
    int rc = weir_usage_build(m->g) ? WEIR_ENOMEM
                                    : weir_fits_find(m->g, m->known.occupancy, &m->known.fits, from, latest, start);

    if (rc == WEIR_EINTERRUPTED)
        return weir_fail(m->err, rc, "interrupted");
    return rc ? weir_fail_nomem(m->err) : WEIR_OK;
}

int weir_match_bound_ok(struct match *m, int64_t start)
{
    int64_t end = time_add(start, m->window.duration);
    int rc = use_occupancy(m, false);

    if (rc || !m->known.occupancy)
        return rc ? rc : 1;
    if (match_has_fits(m)) {
        int64_t found = WEIR_FOREVER;
        rc = find_fit(m, start, start, &found);
        m->known.masked = found == start;
        return rc ? rc : m->known.masked;
    }
    m->known.masked = weir_occupancy_fits(m->known.occupancy, start, end, m->known.occupancy_need);
    return m->known.masked;
}

/* ---- the earliest start ---- */

/* Whether a constraint names properties alone, as those of queues do. Constraints by name or rank differ from job to
 * job, so that their totals would be made for a single use. */
static bool names_properties(const weir_constraint *c)
{
    bool only = c->op != WEIR_IN_HOSTLIST && c->op != WEIR_IN_RANKS;

    for (uint32_t i = 0; only && c->op != WEIR_HAS_PROPERTIES && i < c->nargs; i++)
        only = names_properties(&c->args[i]);
    return only;
}

/* The usage of the vertices that serve the request: those that are up, in the nodes that the constraint allows. */
static int find_part(struct match *m, struct usage_part **out)
{
    const weir_constraint *c = weir_request_constraint(m->ask.request);
    bool named = c && names_properties(c);
    int rc = named ? weir_filter_prepare(m) : WEIR_OK;

    if (!rc && weir_usage_part(m->g, named ? m->known.allowed : NULL, out))
        rc = weir_fail_nomem(m->err);
    return rc;
}

/* Delays *t until usage totals leave enough of a needed type; WEIR_FOREVER: never. */
static int delay_for_type(struct match *m, struct usage_part *part, const struct weir_need *need, int64_t *t)
{
    weir_type type = weir_match_type_named(m, need->type);
    const weir_timeline *timeline;
    int64_t limit, lost;

    if (weir_flow_find(m->g, need->type) != WEIR_NONE || (m->known.occupancy && m->known.occupancy->type == type))
        return WEIR_OK;
    if (type == WEIR_NO_TYPE) {
        *t = WEIR_FOREVER;
        return WEIR_OK;
    }
    if (weir_usage_of(m->g, part, type, &timeline, &lost))
        return weir_fail_nomem(m->err);
    limit = total_of(m->g, type) - lost - need->amount;
    *t = limit < 0 ? WEIR_FOREVER : weir_timeline_first_fit(timeline, *t, m->window.duration, limit);
    return WEIR_OK;
}

/* Delays *t until usage totals leave enough of all needed types, and the occupancy enough vertices. */
static int delay_for_totals(struct match *m, int64_t *t)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->ask.request, &n);
    struct usage_part *part;
    int64_t found;
    int rc = find_part(m, &part);

    if (rc)
        return rc;
    do {
        if (match_has_fits(m))
            rc = find_fit(m, *t, WEIR_FOREVER, t);
        else if (m->known.occupancy)
            *t = weir_occupancy_find(m->g, m->known.occupancy, *t, m->window.duration, m->known.occupancy_need);
        found = *t;
        for (uint32_t i = 0; !rc && i < n && *t != WEIR_FOREVER; i++)
            rc = delay_for_type(m, part, &needs[i], t);
    } while (!rc && *t != found && *t != WEIR_FOREVER);
    return rc;
}

int64_t weir_match_latest(const struct match *m)
{
    int64_t until = m->g->valid_until;

    if (until == WEIR_FOREVER)
        return WEIR_FOREVER;
    return m->window.duration == WEIR_FOREVER ? until - 1 : until - m->window.duration;
}

int weir_match_start_bound(struct match *m, int64_t t, int64_t *start)
{
    if (weir_usage_build(m->g))
        return weir_fail_nomem(m->err);
    m->known.occupancy = NULL;
    m->known.fits.n = 0;
    *start = t;
    return delay_for_totals(m, start);
}

/* Sets *t to the next start after *t worth a try. The fit index knows hosts from the time of the clock on; so the
 * first call queries the index for *t, too. */
static int next_start(struct match *m, bool first, int64_t *t)
{
    int64_t before = *t;
    int rc = first && match_has_fits(m) ? delay_for_totals(m, t) : WEIR_OK;

    if (rc || *t > before)
        return rc;
    *t = weir_usage_next_end(m->g, before);
    return *t == WEIR_FOREVER ? WEIR_OK : delay_for_totals(m, t);
}

static double seconds(int64_t t)
{
    return (double)t / 1e6;
}

int weir_match_undecided(struct match *m, int rc, int64_t start)
{
    if (rc != WEIR_ELIMIT || m->window.undecided + 1 >= UNDECIDED_MOST)
        return rc;
    *m->err = (weir_err){0};
    m->window.undecided_at = m->window.undecided++ ? m->window.undecided_at : start;
    return 0;
}

/* Fails where a start was found behind starts that are undecided: it may not be the earliest. Returns 1 or negative. */
static int certain(struct match *m, int64_t start)
{
    if (m->window.undecided == 0)
        return 1;
    return weir_fail(m->err, WEIR_ELIMIT,
                     "the request fits at %.15g s, but the search for a choice of vertices was cut off at %u earlier "
                     "start%s, the first at %.15g s; to look from %.15g s on (at) takes the later start%s",
                     seconds(start), m->window.undecided, m->window.undecided == 1 ? "" : "s",
                     seconds(m->window.undecided_at), seconds(start), weir_flow_hint(m));
}

int weir_match_reserve(struct match *m, int64_t t, int64_t *start)
{
    int rc = weir_usage_build(m->g) ? weir_fail_nomem(m->err) : use_occupancy(m, true);

    for (uint32_t tries = 0; !rc && tries < START_TRIES; tries++) {
        rc = next_start(m, tries == 0, &t);
        m->window.tried = t;
        if (rc || t == WEIR_FOREVER || t > m->window.latest)
            return rc;
        m->result.stats.starts++;
        m->known.masked = m->known.occupancy != NULL;
        rc = weir_match_attempt(m, VIEW_RESERVED, t);
        m->known.masked = false;
        *start = rc ? t : *start;
        rc = rc == 1 ? certain(m, t) : weir_match_undecided(m, rc, t);
        if (rc == 0 && tries == 0 && !m->ask.options->assume_feasible && (rc = weir_match_feasible(m, t)) == 1)
            rc = 0;
    }
    return rc ? rc
              : weir_fail(m->err, WEIR_ELIMIT,
                          "no start was found among the first %d times tried; search again from a later time (at)",
                          START_TRIES);
}
