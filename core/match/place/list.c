/* list.c - a list of resources below a vertex, and the whole request as the first list. Each resource of a list is
 * placed by the file for its kind; direct resources come last (flow_direct.c). Invariant: on "does not fit" and on
 * failure the picks are as they were.
 */
#include "match/candidate/flow_state.h"
#include "match/place/place.h"
#include "time/availability.h"

/* Places slots with a part outside nodes: what is inside comes from one node per slot, the rest from anywhere. */
static int place_divided(struct match *m, weir_vertex under, const struct divided_slot *d)
{
    const weir_count *count = &d->slot->count;
    weir_resource inside = d->inside;
    struct scope mark = scope_mark(m);
    int64_t n = weir_slot_bound(m, under, &d->outside, count_most(m, count));
    int rc = n < 0 ? (int)n : 0;

    if (n >= 0)
        n = weir_slot_bound(m, under, &inside, n);
    rc = n < 0 ? (int)n : 0;
    for (n = rc ? -1 : weir_count_floor(count, n); rc == 0 && n >= 0; n = weir_count_floor(count, n - 1)) {
        inside.count.min = inside.count.max = n;
        rc = weir_place_slots(m, under, &inside, weir_slot_host(m, under, &inside));
        rc = rc == 1 ? weir_place_slots_in(m, under, &d->outside, n) : rc;
        scope_end(m, &mark, rc);
    }
    return rc;
}

static int place_slot(struct match *m, weir_vertex under, const weir_resource *slot, int64_t times)
{
    int64_t most = count_most(m, &slot->count), n = most;
    weir_type host = times == 1 ? weir_slot_host(m, under, slot) : WEIR_NO_TYPE;
    uint32_t from = m->scope.npicks;
    const struct divided_slot *divided = NULL;

    if (host != WEIR_NO_TYPE)
        return weir_place_slots(m, under, slot, host);
    if (times == 1 && weir_slot_divide(m, under, slot, &divided))
        return WEIR_ENOMEM;
    if (divided)
        return flow_surveys(m) ? flow_survey_odd(m) : place_divided(m, under, divided);
    if (slot->count.min != most) {
        n = weir_slot_bound(m, under, slot, most);
        if (n < 0)
            return (int)n;
        n = weir_count_floor(&slot->count, n);
    }
    for (; n >= 0; n = weir_count_floor(&slot->count, n - 1)) {
        int64_t slots = saturating_mul(n, times);
        int rc = weir_place_slots_in(m, under, slot, slots);
        if (rc == 1)
            weir_pick_slots(m, from, slots);
        if (rc)
            return rc;
    }
    return 0;
}

int weir_place_direct(struct match *m, weir_vertex under, const weir_resource *r, int64_t times)
{
    int rc = 0;

    if (m->progress.flow->waits && m->scope.view != VIEW_CAPACITY)
        return weir_direct_wait(m, under, r, times);
    m->progress.shared = true; /* units of a flow may pass where units are taken */
    m->progress.flow->still = count_most(m, &r->count) == r->count.min;
    if (m->progress.flow->still)
        rc = weir_place_resource(m, under, r, times);
    m->progress.flow->still = false;
    return rc ? rc : weir_place_resource(m, under, r, times);
}

static int place_one(struct match *m, weir_vertex under, const weir_resource *r, int64_t times)
{
    uint32_t subsystem = r->slot ? WEIR_NONE : weir_flow_find(m->g, r->type);

    if (r->slot)
        return place_slot(m, under, r, times);
    if (subsystem == WEIR_NONE)
        return weir_direct_is(m, r) ? weir_place_direct(m, under, r, times) : weir_place_resource(m, under, r, times);
    return m->scope.view == VIEW_CAPACITY ? 1 : weir_flow_allocate(m, under, subsystem, r, times);
}

/* Whether a resource of a list is placed when the others are: a direct one; in a survey, one that requests units. */
static bool comes_last(const struct match *m, const weir_resource *r)
{
    return weir_direct_is(m, r) || (flow_surveys(m) && !r->slot && weir_flow_find(m->g, r->type) != WEIR_NONE);
}

int weir_place_list(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    struct scope mark = scope_mark(m);
    int rc = 1;

    if (times == 0)
        return 1;
    if (n > 0 && list->any)
        return weir_place_or_slots(m, under, list, n, times);
    if (m->scope.conflicts_from == WEIR_NONE && weir_siblings_compete(m, list, n))
        return weir_place_competing(m, under, list, n, times);
    for (int last = 0; last < 2; last++)
        for (uint32_t i = 0; rc == 1 && i < n; i++)
            if (comes_last(m, &list[i]) == last)
                rc = place_one(m, under, &list[i], times);
    scope_end(m, &mark, rc);
    if (rc == 0 && m->scope.conflicts_from == WEIR_NONE && weir_siblings_nest(m, list, n, times))
        return weir_place_competing(m, under, list, n, times);
    return rc;
}

int weir_place_request(struct match *m, enum match_view view, int64_t t0)
{
    uint32_t n;
    const weir_resource *list = weir_request_resources(m->ask.request, &n);
    int rc;

    m->scope = (struct scope){.view = view, .conflicts_from = WEIR_NONE};
    m->scope.minimum = flow_surveys(m);
    m->window.t0 = t0;
    m->window.t1 = m->window.end != WEIR_NO_END ? m->window.end : time_add(t0, m->window.duration);
    m->progress.shared = false;
    weir_flow_reset(m);
    if (weir_direct_prepare(m))
        return WEIR_ENOMEM;
    m->g->matching = true;
    rc = weir_flow_enough(m);
    rc = rc == 1 ? weir_place_list(m, WEIR_NONE, list, n, 1) : rc;
    rc = rc == 1 ? weir_direct_place(m) : rc;
    m->g->matching = false;
    return rc == 1 ? weir_flow_place(m) : rc;
}
