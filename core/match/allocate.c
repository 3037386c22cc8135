/* allocate.c - the recursion of a match: resources of a request are placed below a vertex, sibling by sibling.
 *
 * weir_match_attempt() enters with the whole request. Each resource goes to the file for its kind: gather.c, slot.c,
 * or_slot.c, flow.c, flow_waiting.c, or backtrack.c where siblings compete. For nested resources, these files call
 * m->allocate() to enter once more below a vertex; no file below allocate.c calls allocate.c by name.
 *
 * Invariant: on "does not fit" and on failure the picks are as they were.
 */
#include "match/match.h"
#include "time/availability.h"

/* Places slots with a part outside nodes: what lies inside comes from one node a slot, the rest from anywhere. */
static int place_divided(struct match *m, weir_vertex under, const struct divided_slot *d)
{
    const weir_count *count = &d->slot->count;
    weir_resource inside = d->inside;
    uint32_t npicks = m->npicks;
    int64_t n = weir_slot_bound(m, under, &d->outside, count_most(m, count));
    int rc = n < 0 ? (int)n : 0;

    if (n >= 0)
        n = weir_slot_bound(m, under, &inside, n);
    rc = n < 0 ? (int)n : 0;
    for (n = rc ? -1 : weir_count_floor(count, n); rc == 0 && n >= 0; n = weir_count_floor(count, n - 1)) {
        inside.count.min = inside.count.max = n;
        rc = weir_slot_allocate(m, under, &inside, weir_slot_host(m, under, &inside));
        rc = rc == 1 ? weir_slots_fill(m, under, &d->outside, n) : rc;
        if (rc == 0)
            m->npicks = npicks;
    }
    return rc;
}

static int place_slot(struct match *m, weir_vertex under, const weir_resource *slot, int64_t times)
{
    int64_t most = count_most(m, &slot->count), n = most;
    weir_type host = times == 1 ? weir_slot_host(m, under, slot) : WEIR_NO_TYPE;
    uint32_t npicks = m->npicks;
    const struct divided_slot *divided = NULL;

    if (host != WEIR_NO_TYPE)
        return weir_slot_allocate(m, under, slot, host);
    if (times == 1 && weir_slot_divide(m, under, slot, &divided))
        return WEIR_ENOMEM;
    if (divided)
        return place_divided(m, under, divided);
    if (slot->count.min != most) {
        n = weir_slot_bound(m, under, slot, most);
        if (n < 0)
            return (int)n;
        n = weir_count_floor(&slot->count, n);
    }
    for (; n >= 0; n = weir_count_floor(&slot->count, n - 1)) {
        int64_t slots = saturating_mul(n, times);
        int rc = weir_slots_fill(m, under, slot, slots);
        if (rc == 1)
            weir_pick_slots(m, npicks, slots);
        if (rc)
            return rc;
    }
    return 0;
}

static int place_one(struct match *m, weir_vertex under, const weir_resource *r, int64_t times)
{
    uint32_t subsystem = r->slot ? WEIR_NONE : weir_flow_find(m->g, r->type);

    if (r->slot)
        return place_slot(m, under, r, times);
    if (subsystem == WEIR_NONE)
        return weir_direct_is(m, r) ? weir_direct_allocate(m, under, r, times)
                                    : weir_allocate_resource(m, under, r, times);
    return m->view == VIEW_CAPACITY ? 1 : weir_flow_allocate(m, under, subsystem, r, times);
}

static int place_list(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    uint32_t npicks = m->npicks;
    int rc = 1;

    if (times == 0)
        return 1;
    if (n > 0 && list->any)
        return weir_or_slot_allocate(m, under, list, n, times);
    if (m->conflicts_from == WEIR_NONE && weir_allocate_competes(m, list, n))
        return weir_allocate_backtracking(m, under, list, n, times);
    for (int direct = 0; direct < 2; direct++)
        for (uint32_t i = 0; rc == 1 && i < n; i++)
            if (weir_direct_is(m, &list[i]) == direct)
                rc = place_one(m, under, &list[i], times);
    if (rc != 1)
        m->npicks = npicks;
    if (rc == 0 && m->conflicts_from == WEIR_NONE && weir_allocate_nests(m, list, n, times))
        return weir_allocate_backtracking(m, under, list, n, times);
    return rc;
}

/* One attempt, with the first choice of vertices. */
static int attempt(struct match *m, enum match_view view, int64_t t0)
{
    uint32_t n;
    const weir_resource *list = weir_request_resources(m->request, &n);
    int rc;

    m->view = view;
    m->t0 = t0;
    m->t1 = m->end != WEIR_NO_END ? m->end : time_add(t0, m->duration);
    m->npicks = 0;
    m->conflicts_from = WEIR_NONE;
    m->backtracked = false;
    m->allocate = place_list;
    weir_flow_reset(m);
    if (weir_direct_prepare(m))
        return WEIR_ENOMEM;
    m->g->matching = true;
    rc = weir_flow_enough(m);
    rc = rc == 1 ? place_list(m, WEIR_NONE, list, n, 1) : rc;
    rc = rc == 1 ? weir_direct_place(m) : rc;
    m->g->matching = false;
    return rc == 1 ? weir_flow_place(m) : rc;
}

/* Whether the request needs a type that the graph has never had. */
static bool lacks_type(struct match *m)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->request, &n);

    for (uint32_t i = 0; i < n; i++)
        if (needs[i].amount > 0 && weir_match_type_named(m, needs[i].type) == WEIR_NO_TYPE &&
            weir_flow_find(m->g, needs[i].type) == WEIR_NONE)
            return true;
    return false;
}

int weir_match_attempt(struct match *m, enum match_view view, int64_t t0)
{
    int rc;

    if (lacks_type(m))
        return 0;
    rc = attempt(m, view, t0);
    return rc == 0 ? weir_flow_search(m, attempt, view, t0) : rc;
}

/* The first type that the request needs and of which the graph has no unit; NULL: all are there. */
static const char *absent_type(struct match *m)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->request, &n);
    weir_aggregate a;

    for (uint32_t i = 0; i < n; i++) {
        weir_type t = weir_match_type_named(m, needs[i].type);
        if (needs[i].amount > 0 && weir_flow_find(m->g, needs[i].type) == WEIR_NONE &&
            (t == WEIR_NO_TYPE || !weir_graph_aggregate(m->g, WEIR_NONE, t, &a) || a.total == 0))
            return needs[i].type;
    }
    return NULL;
}

int weir_match_feasible(struct match *m, int64_t at)
{
    int rc = weir_match_attempt(m, VIEW_ALL, at);
    const char *type = rc == 0 ? absent_type(m) : NULL;

    if (type)
        return weir_fail(m->err, WEIR_EINFEASIBLE,
                         "the request can never be met on these resources: there is no \"%.100s\" here", type);
    return rc == 0 ? weir_fail(m->err, WEIR_EINFEASIBLE, "the request can never be met on these resources") : rc;
}
