/* counts.c - counts that vary: every instance of a resource gets the same count, the largest allowed one with which the
 * request fits at the start that was found. Of several varying counts, the first of the request decides first.
 *
 * The search by itself gives each instance in turn as much as fits, which is that count where a single resource varies
 * at the top of the request; in all other cases the counts are fixed here, one after another, by doubling and
 * bisection.
 */
#include <string.h>

#include "match/match.h"
#include "match/place/place.h"

/* Units of a subsystem without an upper bound: a job gets the least, as more would serve nothing. */
static bool is_open_flow(const struct match *m, const weir_resource *r)
{
    return !r->slot && r->count.max >= WEIR_FOREVER / 2 && weir_flow_find(m->g, r->type) != WEIR_NONE;
}

/* Whether a count is fixed here. The alternatives of or_slots are mixed place by place. */
static bool varies(const struct match *m, const weir_resource *r)
{
    for (const weir_resource *up = r; up; up = up->parent)
        if (up->any)
            return false;
    return count_varies(&r->count) && !is_open_flow(m, r);
}

/* Whether the search by itself might give the instances of a resource different counts, or less than fits. */
static bool must_settle(const struct match *m)
{
    const weir_request *q = m->ask.request;

    if (m->ask.policy->select || m->ask.policy->ndescend > 0) /* it may take fewer; the best of what is found is kept */
        return false;
    for (uint32_t i = 0; i < q->count; i++) {
        const weir_resource *r = weir_request_resource(q, i);
        if ((r->parent || q->top > 1) && varies(m, r))
            return true;
    }
    return false;
}

/* Drops what is known about the resources of the request that was tried before. */
static void forget_request(struct match *m, const weir_request *next)
{
    memset(m->known.facts, 0, sizeof m->known.facts);
    weir_slots_undivide(m);
    weir_flow_end(m);
    m->ask.request = next;
}

/* The trials of the counts of a request. */
struct trials {
    struct match *m;
    enum match_view view;
    int64_t t0;
    weir_request *fixed; /* the request with the counts that are tried */
    bool last;           /* whether the picks are those of these counts */
};

/* Places the request with n instances of resource i. Returns 1, 0 (also where the search was cut off) or negative. */
static int try_count(struct trials *t, uint32_t i, int64_t n)
{
    struct match *m = t->m;
    int rc;

    forget_request(m, t->fixed);
    if (weir_request_fix_count(t->fixed, i, n))
        return weir_fail_nomem(m->err);
    rc = weir_match_place(m, t->view, t->t0);
    if (rc == WEIR_ELIMIT) {
        *m->err = (weir_err){0};
        rc = 0;
    }
    t->last = rc == 1;
    return rc;
}

/* Fixes the count of resource i to the largest with which the request fits. Returns 1 or negative. */
static int settle(struct trials *t, uint32_t i)
{
    const weir_count all = weir_request_resource(t->fixed, i)->count;
    int64_t best = all.min, low = best, high = count_limit(&all), reach = 1;
    int rc = 1;

    while (low < high && rc >= 0) {
        int64_t at = reach > 0 && reach < high - low ? low + reach : low + (high - low + 1) / 2;
        int64_t n = weir_count_floor(&all, at);
        rc = n > best ? try_count(t, i, n) : 1;
        low = rc == 1 ? at : low;
        best = rc == 1 ? n : best;
        high = rc == 1 ? high : n - 1;
        reach = rc == 1 ? reach * 2 : 0;
    }
    if (rc < 0)
        return rc;
    return t->last && weir_request_resource(t->fixed, i)->count.min == best ? 1 : try_count(t, i, best);
}

int weir_match_settle_counts(struct match *m, enum match_view view, int64_t t0)
{
    const weir_request *bound = m->ask.request;
    const weir_match_options *options = m->ask.options;
    weir_match_options quiet = *options;
    struct trials t = {.m = m, .view = view, .t0 = t0};
    int rc = 1;

    if (!must_settle(m))
        return 1;
    if (weir_request_copy(bound, &t.fixed))
        return weir_fail_nomem(m->err);
    quiet.trace = NULL; /* the first attempt has traced what was found */
    m->ask.options = &quiet;
    for (uint32_t i = 0; rc == 1 && i < bound->count; i++)
        if (varies(m, weir_request_resource(bound, i)))
            rc = settle(&t, i);
    m->ask.options = options;
    forget_request(m, bound);
    weir_request_unbind(bound, t.fixed);
    if (rc == 0) /* a search that was cut off with these counts had found them to fit before */
        rc = weir_match_place(m, view, t0);
    return rc;
}
