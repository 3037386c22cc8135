/* flow_search.c - chooses vertices for which one flow exists where the choice in the order of the policy has found too
 * few. Whoever serves the request otherwise leaves out one of the vertices chosen: each in turn is barred, and those
 * before it stay; so every choice is met once, at most SEARCH_TRIES of them, and as many as
 * SEARCH_VISITS allows. A network tells beforehand where no
 * choice of the vertices seen can serve all, and where any other choice is as good.
 *
 * Invariant: between attempts, `barred` has the vertices barred by the levels of the search.
 */
#include "match/flow_state.h"

enum { SEARCH_TRIES = 3000, SEARCH_VISITS = 300000 };

struct flow_search {
    struct match *m;
    weir_match_once *once;
    enum match_view view;
    int64_t t0;
    struct weir_map32 kept; /* vertices that deeper levels do not bar */
    uint32_t tries;
    uint64_t visits; /* of the match when the search began */
};

/* Number of resources of the request that ask for units of a subsystem. */
static uint32_t askers(const struct match *m, const struct flow_net *f)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->request->count; i++) {
        const weir_resource *r = weir_request_resource(m->request, i);
        n += !r->slot && weir_flow_find(m->g, r->type) == f->subsystem;
    }
    return n;
}

/* Whether all choices that cannot be added to are equally large: those of demands of one size in a network where the
 * capacity of each unit that matters is a multiple of that size, as then no demand has to be split (the choices are a
 * matroid). */
static bool all_choices_alike(struct match *m, struct flow_net *f)
{
    if (m->flow->nets->next)
        return false;
    for (uint32_t i = 0; i < f->nstack; i++)
        if (m->flow->demands[f->stack[i].stamp - 1].units != f->step)
            return false;
    return f->step == 1 || weir_flow_capacities_divide(f->w, f->step, weir_flow_needed(m, f));
}

/* Whether some choice may serve more than the demands found. Lets the vertices refused take what is left, each up to
 * one demand: together with the demands found this is the maximum flow to all vertices seen. Returns 1, 0 or
 * negative. */
static int may_differ(struct match *m, struct flow_net *f)
{
    int64_t sum = 0, got, most = 0;
    uint32_t n = f->nstack;

    if (f->group != WEIR_NO_TYPE) /* vertices of a group are not all seen, as a group that is full looks at no more */
        return f->crossed;
    if (f->nrefused == 0 || n == 0 || all_choices_alike(m, f))
        return 0;
    if (askers(m, f) > 1)
        return 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct flow_demand *d = &m->flow->demands[f->stack[i].stamp - 1];
        sum += d->units;
        most = d->units > most ? d->units : most;
    }
    for (uint32_t i = 0; i < f->nrefused && sum < weir_flow_needed(m, f); i++) {
        if (weir_flow_serve(f->w, f->refused[i], most, true, &got))
            return weir_fail_nomem(m->err);
        sum += got;
    }
    weir_flow_drop(f->w, n);
    return sum >= weir_flow_needed(m, f);
}

static int flows_may_differ(struct match *m)
{
    int rc = 0;

    for (struct flow_net *f = m->flow ? m->flow->nets : NULL; f && rc == 0; f = f->next)
        rc = may_differ(m, f);
    return rc;
}

/* Lists the vertices that got a flow in the attempt that failed, last first, without those kept. */
static int list_served(const struct flow_search *s, weir_vertex **out, uint32_t *n)
{
    uint32_t cap = 0;

    *out = NULL;
    *n = 0;
    for (struct flow_net *f = s->m->flow->nets; f; f = f->next)
        for (uint32_t i = f->nstack; f->nrefused > 0 && i-- > 0;) {
            weir_vertex v = s->m->flow->demands[f->stack[i].stamp - 1].endpoint;
            bool known = weir_map32_get(&s->kept, v) != WEIR_NONE;
            for (uint32_t k = 0; !known && k < *n; k++)
                known = (*out)[k] == v;
            if (known)
                continue;
            if (weir_array_reserve(out, &cap, (size_t)*n + 1, sizeof **out))
                return WEIR_ENOMEM;
            (*out)[(*n)++] = v;
        }
    return WEIR_OK;
}

static bool may_go_on(const struct flow_search *s)
{
    return s->tries < SEARCH_TRIES && s->m->stats.visited - s->visits < SEARCH_VISITS;
}

/* Whether a resource asks for a varying number of units. */
static bool counts_vary(const struct match *m)
{
    for (uint32_t i = 0; i < m->request->count; i++) {
        const weir_resource *r = weir_request_resource(m->request, i);
        if (!r->slot && weir_flow_find(m->g, r->type) != WEIR_NONE && r->count.min != count_limit(&r->count))
            return true;
    }
    return false;
}

/* Tries again without each of the vertices served. Returns 1, 0 or negative. */
static int search_level(struct flow_search *s)
{
    struct match *m = s->m;
    weir_vertex *served;
    uint32_t n, nkept = 0;
    int rc = flows_may_differ(m);

    if (rc != 1)
        return rc;
    rc = list_served(s, &served, &n) ? WEIR_ENOMEM : 0;
    for (uint32_t i = 0; rc == 0 && i < n && may_go_on(s); i++) {
        s->tries++;
        if (weir_map32_add(&m->flow->barred, served[i], 0)) {
            rc = WEIR_ENOMEM;
            break;
        }
        rc = s->once(m, s->view, s->t0);
        rc = rc ? rc : search_level(s);
        weir_map32_remove(&m->flow->barred, served[i], 0);
        if (rc == 0 && weir_map32_add(&s->kept, served[i], 0))
            rc = WEIR_ENOMEM;
        nkept += rc == 0;
    }
    for (uint32_t i = 0; i < nkept; i++)
        weir_map32_remove(&s->kept, served[i], 0);
    weir_mem_free(served);
    return rc;
}

int weir_flow_search(struct match *m, weir_match_once *once, enum match_view view, int64_t t0)
{
    struct flow_search s = {.m = m, .once = once, .view = view, .t0 = t0};
    int rc = 0;

    if (!m->flow || m->options->trace)
        return 0;
    s.visits = m->stats.visited;
    m->flow->search = true;
    if (counts_vary(m))
        rc = once(m, view, t0);
    rc = rc ? rc : search_level(&s);
    m->flow->search = false;
    weir_map32_free(&s.kept);
    if (rc == 0 && view == VIEW_ALL && !may_go_on(&s))
        return weir_fail(m->err, WEIR_ELIMIT,
                         "%u choices of vertices did not tell whether one flow can serve the request", s.tries);
    return rc == WEIR_ENOMEM ? weir_fail_nomem(m->err) : rc;
}
