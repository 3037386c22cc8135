/* flow_direct.c - direct resources: distribution units that a request names by type, while flows of the same
 * request pass through such units (1 kW of a panel and nodes that need power). Units taken directly and units that
 * flows pass never add up to more than there is: a direct pick takes what flows, moved where they must be, leave over
 * (weir_direct_spare), and flows pass what direct picks leave over (weir_flow_follow).
 *
 * Invariant: no answer depends on the picks but that of weir_direct_spare().
 */
#include "match/candidate/flow_state.h"

/* ---- which resources ---- */

/* Whether a distribution unit of a subsystem has a type. Returns 1, 0 or negative. */
static int has_units(const struct match *m, uint32_t subsystem, weir_type t)
{
    const struct flow_layout *l = weir_flow_layout(weir_graph_edges(m->g), subsystem);

    for (uint32_t i = 0; l && i < l->n; i++)
        if (vertex_valid(m->g, l->units[i]) && kind_of(m->g, l->units[i])->type == t)
            return 1;
    return l ? 0 : WEIR_ENOMEM;
}

static bool is_first_asker(const struct match *m, uint32_t i, uint32_t subsystem)
{
    for (uint32_t k = 0; k < i; k++) {
        const weir_resource *r = weir_request_resource(m->ask.request, k);
        if (!r->slot && weir_flow_find(m->g, r->type) == subsystem)
            return false;
    }
    return true;
}

/* Whether a unit of one subsystem is a unit of another. Returns 1, 0 or negative. */
static int share_units(const struct match *m, uint32_t a, uint32_t b)
{
    const struct flow_layout *x = weir_flow_layout(weir_graph_edges(m->g), a);
    const struct flow_layout *y = x ? weir_flow_layout(weir_graph_edges(m->g), b) : NULL;

    for (uint32_t i = 0; y && i < x->n; i++)
        if (weir_map32_get(&y->numbers, x->units[i]) != WEIR_NONE)
            return 1;
    return y ? 0 : WEIR_ENOMEM;
}

/* Whether the subsystem of the units that resource i requests shares units with that of an earlier resource.
 * Returns 1, 0 or negative. */
static int shares_with_earlier(const struct match *m, uint32_t i, uint32_t subsystem)
{
    int rc = 0;

    for (uint32_t k = 0; rc == 0 && k < i; k++) {
        const weir_resource *r = weir_request_resource(m->ask.request, k);
        uint32_t s = r->slot ? WEIR_NONE : weir_flow_find(m->g, r->type);
        rc = s == WEIR_NONE ? 0 : share_units(m, subsystem, s);
    }
    return rc;
}

int weir_direct_prepare(struct match *m)
{
    uint32_t n = m->ask.request->count;

    if (m->g->nsubsystems == 1 || (m->progress.flow && m->progress.flow->direct))
        return WEIR_OK;
    for (uint32_t i = 0; i < n; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        uint32_t s = r->slot ? WEIR_NONE : weir_flow_find(m->g, r->type);
        int rc;
        if (s == WEIR_NONE || !is_first_asker(m, i, s))
            continue;
        if (!m->progress.flow)
            m->progress.flow = weir_mem_zalloc(1, sizeof *m->progress.flow);
        if (m->progress.flow && !m->progress.flow->direct)
            m->progress.flow->direct = weir_mem_zalloc((size_t)n + 1, sizeof *m->progress.flow->direct);
        if (!m->progress.flow || !m->progress.flow->direct)
            return weir_fail_nomem(m->err);
        rc = shares_with_earlier(m, i, s);
        if (rc < 0)
            return weir_fail_nomem(m->err);
        m->progress.flow->shared |= rc == 1;
        for (uint32_t k = 0; k < n; k++) {
            const weir_resource *other = weir_request_resource(m->ask.request, k);
            bool flow = other->slot || weir_flow_find(m->g, other->type) != WEIR_NONE;
            weir_type t = flow ? WEIR_NO_TYPE : weir_match_type(m, other);
            rc = t == WEIR_NO_TYPE || m->progress.flow->direct[k] ? 0 : has_units(m, s, t);
            if (rc < 0)
                return weir_fail_nomem(m->err);
            m->progress.flow->direct[k] |= rc == 1;
            m->progress.flow->mixed |= rc == 1;
        }
    }
    return WEIR_OK;
}

bool weir_direct_listed(const struct match *m, const weir_resource *r)
{
    return m->progress.flow->mixed && !r->slot && m->progress.flow->direct[r->index] && r->nwith == 0;
}

bool weir_direct_within(const struct match *m, const weir_resource *r)
{
    if (!m->progress.flow || !m->progress.flow->mixed)
        return false;
    if (weir_direct_is(m, r))
        return true;
    for (uint32_t i = 0; i < r->nwith; i++)
        if (weir_direct_within(m, &r->with[i]))
            return true;
    return false;
}

/* ---- units ---- */

int64_t weir_direct_spare(struct match *m, weir_vertex v, int64_t want)
{
    struct flow_net *f =
        m->progress.flow && m->progress.flow->mixed && m->scope.view != VIEW_CAPACITY ? m->progress.flow->nets : NULL;

    for (; f && want > 0; f = f->next) {
        uint64_t visits = weir_flow_visits(f->w);
        int rc;
        if (weir_map32_get(&f->layout->numbers, v) == WEIR_NONE || !weir_candidate_unit(m, v, f->r))
            continue;
        rc = weir_flow_follow(m, f);
        if (rc == 1 && weir_flow_spare(f->w, v, want, !m->progress.flow->still, &want))
            return weir_fail_nomem(m->err);
        m->result.stats.visited += (weir_flow_visits(f->w) - visits) / 2;
        if (rc <= 0)
            return rc;
    }
    return want;
}

int64_t weir_direct_needed(struct match *m, weir_type t)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->ask.request, &n);
    int64_t needed = 0;

    for (uint32_t i = 0; i < n; i++)
        if (weir_match_type_named(m, needs[i].type) == t)
            needed = needs[i].amount;
    for (uint32_t i = 0; i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        bool leaf = !(m->g->types[t].flags & TYPE_HAS_KIDS);
        if (r->slot || weir_match_type(m, r) != t)
            continue;
        if (!weir_direct_is(m, r) || r->exclusive == WEIR_EXCLUSIVE_NO || !(r->takes || leaf))
            return 0; /* it may do without units of its own */
    }
    return needed;
}
