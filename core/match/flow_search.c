/* flow_search.c - chooses vertices for which one flow exists where the choice in the order of the policy has found too
 * few. Any other choice that serves the request serves one of the vertices chosen less: each in turn is capped at less
 * than it got, and those before it keep what they got at least; so every choice is met once, as many as
 * weir_flow_steps() allows. A network shows beforehand where no choice of the vertices seen can serve all,
 * and where any other choice is as good. Where the request has direct resources (flow_direct.c), these wait until the
 * flows are there, and the vertices below which they wait are capped likewise.
 *
 * Invariant: between attempts, the caps are those of the levels of the search.
 */
#include <inttypes.h>

#include "match/candidate/flow_state.h"
#include "match/place/place.h"

/* Of the steps that a match may take, an attempt with another choice counts as so many, and a visit. */
enum { STEPS_OF_TRY = WEIR_FLOW_STEPS_DEFAULT / 3000, STEPS_OF_VISIT = WEIR_FLOW_STEPS_DEFAULT / 300000 };

struct flow_search {
    struct match *m;
    enum match_view view;
    int64_t t0;
    struct flow_cap *kept; /* what keys keep at least, so that deeper levels do not cap them lower */
    uint32_t nkept, kept_cap;
    uint32_t tries;
    uint64_t visits; /* of the match when the search began */
};

/* Number of resources of the request that ask for units of a subsystem. */
static uint32_t askers(const struct match *m, const struct flow_net *f)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        n += !r->slot && weir_flow_find(m->g, r->type) == f->subsystem;
    }
    return n;
}

/* Whether all choices that cannot be added to are equally large: those of demands of one size in a network where the
 * capacity of each unit that matters is a multiple of that size, as then no demand has to be split (the choices are a
 * matroid). */
static bool all_choices_alike(struct match *m, struct flow_net *f)
{
    if (m->progress.flow->nets->next)
        return false;
    for (uint32_t i = 0; i < f->nstack; i++)
        if (!f->stack[i].stamp || m->progress.flow->demands[f->stack[i].stamp - 1].units != f->step)
            return false;
    return f->step == 1 || weir_flow_capacities_divide(f->w, f->step, weir_flow_needed(m, f));
}

/* Whether some choice may serve more than the demands found. Lets the vertices refused take what is left, each up to
 * one demand: together with the demands found this is the maximum flow to all vertices seen. Returns 1, 0 or
 * negative. */
static int may_differ(struct match *m, struct flow_net *f)
{
    int64_t sum = 0, got, most = 0;
    uint32_t demands = weir_flow_demands(f->w);

    if (f->group != WEIR_NO_TYPE) /* vertices of a group are not all seen, as a group that is full looks at no more */
        return f->crossed;
    if (f->nrefused == 0 || (demands == 0 && !f->hosted) || all_choices_alike(m, f))
        return 0;
    if (askers(m, f) > 1)
        return 1;
    for (uint32_t i = 0; i < f->nstack; i++) {
        const struct flow_demand *d = f->stack[i].stamp ? &m->progress.flow->demands[f->stack[i].stamp - 1] : NULL;
        sum += d ? d->units : 0;
        most = d && d->units > most ? d->units : most;
    }
    if (f->hosted)
        most = weir_flow_needed(m, f);
    for (uint32_t i = 0; i < f->nrefused && sum < weir_flow_needed(m, f); i++) {
        if (weir_flow_serve(f->w, f->refused[i], most, true, &got))
            return weir_fail_nomem(m->err);
        sum += got;
    }
    weir_flow_drop(f->w, demands);
    return sum >= weir_flow_needed(m, f);
}

static int flows_may_differ(struct match *m)
{
    int rc = m->progress.flow->unfit;

    for (struct flow_net *f = m->progress.flow->nets; f && rc == 0; f = f->next)
        rc = may_differ(m, f);
    return rc;
}

/* ---- what the attempt that failed has served ---- */

/* Keys with the units served or waiting. */
struct served {
    struct flow_cap *list;
    uint32_t n, cap;
};

static int add_served(struct served *s, uint32_t key, int64_t units)
{
    uint32_t i = 0;

    while (i < s->n && s->list[i].key != key)
        i++;
    if (i == s->n) {
        if (WEIR_ARRAY_ADD(s->list, s->n, s->cap, (struct flow_cap){.key = key}))
            return WEIR_ENOMEM;
    }
    s->list[i].most += units;
    return WEIR_OK;
}

/* What a key keeps at least. */
static int64_t kept_by(const struct flow_search *s, uint32_t key)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < s->nkept; i++)
        if (s->kept[i].key == key && s->kept[i].most > most)
            most = s->kept[i].most;
    return most;
}

/* Lists the vertices that got a flow in the attempt that failed, last first, and those below which units wait, without
 * those that keep as much. */
static int list_served(const struct flow_search *s, struct served *out)
{
    const struct flow_state *state = s->m->progress.flow;
    uint32_t left = 0;
    int rc = WEIR_OK;

    for (const struct flow_net *f = state->nets; !rc && f; f = f->next)
        for (uint32_t i = f->nstack; !rc && (f->nrefused > 0 || state->unfit) && i-- > 0;) {
            const struct flow_demand *d = f->stack[i].stamp ? &state->demands[f->stack[i].stamp - 1] : NULL;
            rc = d ? add_served(out, d->endpoint, d->units) : WEIR_OK;
        }
    for (uint32_t i = state->unfit ? state->nwaiting : 0; !rc && i-- > 0;)
        if (state->waiting[i].under != WEIR_NONE)
            rc = add_served(out, flow_waiting_key(state->waiting[i].under), flow_waiting_units(&state->waiting[i]));
    for (uint32_t i = 0; i < out->n; i++)
        if (out->list[i].most > kept_by(s, out->list[i].key))
            out->list[left++] = out->list[i];
    out->n = left;
    return rc;
}

/* ---- caps ---- */

int weir_flow_set_cap(struct flow_state *s, uint32_t key, int64_t most)
{
    uint32_t last = weir_map32_get(&s->cap_numbers, key);

    if (weir_array_reserve(&s->caps, &s->caps_cap, (size_t)s->ncaps + 1, sizeof *s->caps))
        return WEIR_ENOMEM;
    if (last != WEIR_NONE)
        weir_map32_remove(&s->cap_numbers, key, last);
    if (weir_map32_add(&s->cap_numbers, key, s->ncaps))
        return WEIR_ENOMEM;
    s->caps[s->ncaps++] = (struct flow_cap){key, last, most};
    return WEIR_OK;
}

static int uncap_last(struct flow_state *s)
{
    const struct flow_cap *c = &s->caps[--s->ncaps];

    weir_map32_remove(&s->cap_numbers, c->key, s->ncaps);
    return c->last == WEIR_NONE ? WEIR_OK : weir_map32_add(&s->cap_numbers, c->key, c->last);
}

int weir_flow_drop_caps(struct flow_state *s)
{
    int rc = WEIR_OK;

    while (!rc && s->ncaps > 0)
        rc = uncap_last(s);
    return rc;
}

static int keep(struct flow_search *s, const struct flow_cap *c)
{
    return WEIR_ARRAY_ADD(s->kept, s->nkept, s->kept_cap, *c);
}

/* ---- the search ---- */

static bool may_go_on(const struct flow_search *s)
{
    return s->tries < weir_flow_steps(0) / STEPS_OF_TRY &&
           s->m->result.stats.visited - s->visits < weir_flow_steps(0) / STEPS_OF_VISIT;
}

/* Whether a resource requests a varying number of units. */
static bool counts_vary(const struct match *m)
{
    for (uint32_t i = 0; i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        if (!r->slot && weir_flow_find(m->g, r->type) != WEIR_NONE && count_varies(&r->count))
            return true;
    }
    return false;
}

/* Tries again with less for each of the vertices served. Returns 1, 0 or negative. */
static int search_level(struct flow_search *s)
{
    struct match *m = s->m;
    struct served served = {0};
    uint32_t nkept = s->nkept;
    int rc = flows_may_differ(m);

    if (rc != 1)
        return rc;
    rc = list_served(s, &served) ? WEIR_ENOMEM : 0;
    for (uint32_t i = 0; rc == 0 && i < served.n && may_go_on(s); i++) {
        s->tries++;
        if (weir_flow_set_cap(m->progress.flow, served.list[i].key, served.list[i].most - 1)) {
            rc = WEIR_ENOMEM;
            break;
        }
        rc = weir_place_request(m, s->view, s->t0);
        rc = rc ? rc : search_level(s);
        if (uncap_last(m->progress.flow) || (rc == 0 && keep(s, &served.list[i])))
            rc = WEIR_ENOMEM;
    }
    s->nkept = nkept;
    weir_mem_free(served.list);
    return rc;
}

/* Searches with the listener, if any, switched off. Returns 1, 0 or negative. */
static int search(struct flow_search *s)
{
    struct match *m = s->m;
    const weir_match_options *options = m->ask.options;
    weir_match_options quiet = *options;
    int rc = 0;

    quiet.trace = NULL;
    m->ask.options = &quiet;
    m->progress.flow->search = true;
    m->progress.flow->waits = m->progress.flow->mixed;
    m->progress.flow->gave_up = false;
    m->progress.flow->tries = 0;
    if (m->progress.flow->mixed || counts_vary(m))
        rc = weir_place_request(m, s->view, s->t0);
    if (rc == 0 && (rc = flows_may_differ(m)) == 1) {
        rc = weir_flow_choice(m, s->view, s->t0);
        if (rc == WEIR_ENOENT) {
            rc = weir_place_request(m, s->view, s->t0);
            rc = rc ? rc : search_level(s);
        }
    }
    m->progress.flow->search = m->progress.flow->waits = false;
    m->ask.options = options;
    return rc;
}

int weir_flow_search(struct match *m, enum match_view view, int64_t t0)
{
    struct flow_search s = {.m = m, .view = view, .t0 = t0};
    bool contended;
    int rc;

    if (!m->progress.flow)
        return 0;
    s.visits = m->result.stats.visited;
    rc = search(&s);
    weir_mem_free(s.kept);
    contended = m->progress.flow->contended;
    m->progress.flow->contended = false;
    if (rc == 0 && (m->progress.flow->gave_up || !may_go_on(&s)))
        return weir_fail(m->err, WEIR_ELIMIT,
                         "undecided: no vertices were found that one flow can serve, in %" PRIu64 " steps%s",
                         weir_flow_steps(0), weir_flow_hint(m));
    if (rc == 0 && contended)
        return weir_fail(m->err, WEIR_ELIMIT,
                         "undecided: flows of several subsystems pass the same units, and not all of their ways were "
                         "tried");
    return rc == WEIR_ENOMEM ? weir_fail_nomem(m->err) : rc;
}
