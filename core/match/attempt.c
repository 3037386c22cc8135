/* attempt.c - an attempt to place a request for one start: with the first choice of vertices, then with other choices
 * for which one flow exists (flow_search.c).
 */
#include "match/match.h"
#include "match/place/place.h"

/* Whether the request needs a type that the graph has never had. */
static bool lacks_type(struct match *m)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->ask.request, &n);

    for (uint32_t i = 0; i < n; i++)
        if (needs[i].amount > 0 && weir_match_type_named(m, needs[i].type) == WEIR_NO_TYPE &&
            weir_flow_find(m->g, needs[i].type) == WEIR_NONE)
            return true;
    return false;
}

int weir_match_place(struct match *m, enum match_view view, int64_t t0)
{
    int rc = weir_place_request(m, view, t0);
    return rc == 0 ? weir_flow_search(m, view, t0) : rc;
}

int weir_match_attempt(struct match *m, enum match_view view, int64_t t0)
{
    int rc;

    if (lacks_type(m))
        return 0;
    rc = weir_match_place(m, view, t0);
    return rc == 1 && view <= VIEW_RESERVED ? weir_match_settle_counts(m, view, t0) : rc;
}

/* The first type that the request needs and of which the graph has no unit; NULL: all are there. */
static const char *absent_type(struct match *m)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->ask.request, &n);
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
