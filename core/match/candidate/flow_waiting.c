/* flow_waiting.c - direct resources (flow_direct.c) that wait for their units. A list of resources is placed with its
 * direct resources last. Where that fails, the search for other vertices (flow_search.c) lets all direct
 * resources wait: a pick without units represents each until all flows of the request are there. The units are then
 * taken in all ways, as many as weir_flow_steps() allows, until one serves all.
 *
 * Invariant: a resource that waits is an entry of m->progress.flow->waiting whose pick is among the picks.
 */
#include <math.h>
#include <stdlib.h>

#include "match/candidate/flow_state.h"

enum {
    STEPS_OF_TAKE = WEIR_FLOW_STEPS_DEFAULT / 20000, /* of those that a match may take */
    DIRECT_MOST = 4000 /* candidates of all resources that wait, as each is a level of a recursion */
};

/* ---- waiting ---- */

static bool stands(const struct match *m, uint32_t i)
{
    uint32_t pick = m->progress.flow->waiting[i].pick;
    return pick < m->scope.npicks && m->progress.details[pick].waiting == i + 1;
}

/* Drops the entries whose picks were dropped. */
static void follow(struct match *m)
{
    while (m->progress.flow->nwaiting && !stands(m, m->progress.flow->nwaiting - 1))
        m->progress.flow->nwaiting--;
}

/* Units that wait below `under`. */
static int64_t waiting_below(const struct match *m, weir_vertex under)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < m->progress.flow->nwaiting; i++)
        if (m->progress.flow->waiting[i].under == under)
            sum += flow_waiting_units(&m->progress.flow->waiting[i]);
    return sum;
}

/* Adds a pick that represents the units. Its vertex is `under`, or a root. */
int weir_direct_wait(struct match *m, weir_vertex under, const weir_resource *r, int64_t times)
{
    struct flow_waiting w = {m->scope.npicks, r, under, times};
    struct flow_state *s = m->progress.flow;
    uint32_t root = 0;

    if (flow_waiting_units(&w) == 0)
        return 1;
    follow(m);
    if (under != WEIR_NONE &&
        flow_waiting_units(&w) > weir_flow_cap(m, flow_waiting_key(under), waiting_below(m, under)))
        return 0;
    while (under == WEIR_NONE && m->g->roots[root] == WEIR_NONE)
        root++;
    if (weir_array_reserve(&s->waiting, &s->waiting_cap, (size_t)s->nwaiting + 1, sizeof *s->waiting) ||
        weir_pick_add(m, under == WEIR_NONE ? m->g->roots[root] : under, r, 0, false))
        return weir_fail_nomem(m->err);
    m->progress.shared = true;
    s->waiting[s->nwaiting++] = w;
    m->progress.details[w.pick].waiting = s->nwaiting;
    m->progress.details[w.pick].endpoint = m->progress.picks[w.pick].vertex;
    return 1;
}

/* ---- taking in all ways ---- */

/* The candidates of a resource that waits. */
struct supply {
    weir_vertex *list;
    uint32_t n, cap;
};

struct taking {
    struct match *m;
    struct flow_waiting *waiting; /* in the order of taking */
    struct supply *supplies;
    uint32_t n;
    bool refused; /* some units were refused: from here on bounds pay */
};

/* Drops the candidates that the policy does not want. */
static int drop_unwanted(struct match *m, const weir_resource *r, struct supply *x)
{
    double *score = weir_mem_alloc((size_t)x->n * sizeof *score + 1);
    int rc = score ? weir_match_scores(m, r, x->list, x->n, score) : weir_fail_nomem(m->err);
    uint32_t kept = 0;

    for (uint32_t i = 0; !rc && i < x->n; i++)
        if (!isnan(score[i]))
            x->list[kept++] = x->list[i];
    x->n = rc ? x->n : kept;
    weir_mem_free(score);
    return rc;
}

/* Lists the first `most` candidates. Returns 1; 0: there are more; or negative. */
static int list_supply(struct match *m, const struct flow_waiting *w, uint32_t most, struct supply *out)
{
    struct search s;
    weir_vertex v;
    int rc = weir_search_begin(&s, m, w->under, w->r, weir_candidate_idle(m, w->r));

    if (rc)
        return rc;
    while ((rc = weir_search_next(&s, &v)) > 0 && out->n < most) {
        if (weir_array_reserve(&out->list, &out->cap, (size_t)out->n + 1, sizeof *out->list)) {
            rc = weir_fail_nomem(m->err);
            break;
        }
        out->list[out->n++] = v;
        rc = weir_search_rejected(&s, v);
        if (rc)
            break;
    }
    weir_search_end(&s);
    if (rc >= 0 && m->scope.view <= VIEW_RESERVED && m->ask.policy->evaluate && drop_unwanted(m, w->r, out))
        return m->err->code;
    return rc < 0 ? rc : rc == 0;
}

/* The most that the candidates from number k on could give, one by one, up to `want`. */
static int64_t most_of(struct taking *t, uint32_t i, uint32_t k, int64_t want)
{
    struct match *m = t->m;
    int64_t sum = 0;

    for (; k < t->supplies[i].n && sum < want; k++) {
        struct scope mark = scope_mark(m);
        int64_t units = weir_candidate_take(m, t->supplies[i].list[k], t->waiting[i].r, want - sum);
        scope_undo(m, &mark);
        if (units < 0)
            return units;
        sum += units;
    }
    return sum;
}

static bool may_take(const struct match *m)
{
    return m->progress.flow->tries < weir_flow_steps(0) / STEPS_OF_TAKE;
}

static int take_all(struct taking *t, uint32_t i, uint32_t k, int64_t want);

/* Takes units of candidate k of the i-th resource, the most first, and the rest of other candidates. */
static int take_from(struct taking *t, uint32_t i, uint32_t k, int64_t want)
{
    struct match *m = t->m;
    weir_vertex v = t->supplies[i].list[k];
    bool fewer = weir_candidate_divisible(m, v, t->waiting[i].r);
    struct scope mark = scope_mark(m);
    int64_t units;
    int rc = 0;

    for (int64_t most = want; rc == 0 && most > 0 && may_take(m); most = fewer ? units - 1 : 0) {
        m->progress.flow->tries++;
        units = weir_candidate_take(m, v, t->waiting[i].r, most);
        if (units <= 0)
            return (int)units;
        rc = take_all(t, i, k + 1, want - units);
        scope_end(m, &mark, rc);
    }
    return rc;
}

/* Takes `want` units for the i-th resource from candidate k on, and all units of those behind. Returns 1, 0 or
 * negative. */
static int take_all(struct taking *t, uint32_t i, uint32_t k, int64_t want)
{
    int64_t most;
    int rc;

    if (want <= 0) {
        if (i + 1 == t->n)
            return 1;
        return take_all(t, i + 1, 0, flow_waiting_units(&t->waiting[i + 1]));
    }
    t->refused |= k == t->supplies[i].n;
    if (k == t->supplies[i].n || !may_take(t->m))
        return 0;
    most = t->refused ? most_of(t, i, k, want) : want;
    if (most < want)
        return most < 0 ? (int)most : 0;
    rc = take_from(t, i, k, want);
    return rc ? rc : take_all(t, i, k + 1, want);
}

static int by_depth(const void *a, const void *b, void *data)
{
    const struct flow_waiting *x = a, *y = b;
    const weir_graph *g = data;
    uint32_t i = vertex_depth(g, x->under), k = vertex_depth(g, y->under);

    if (i != k)
        return i > k ? -1 : 1;
    return x->pick < y->pick ? -1 : x->pick > y->pick;
}

/* Drops the picks that stood for resources. Slots that were complete with such a pick are complete with the next. */
static void drop_waiting(struct match *m)
{
    uint32_t kept = 0, slots = 0;

    for (uint32_t i = 0; i < m->scope.npicks; i++) {
        if (m->progress.details[i].waiting) {
            slots += m->progress.details[i].slots;
            continue;
        }
        m->progress.details[kept] = m->progress.details[i];
        m->progress.picks[kept] = m->progress.picks[i];
        if (!m->progress.details[kept].nested) {
            m->progress.details[kept].slots += slots;
            slots = 0;
        }
        kept++;
    }
    m->scope.npicks = kept;
    m->progress.flow->nwaiting = 0;
}

/* Whether each pick that represents a resource is where its entry says. */
static bool all_known(const struct match *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->scope.npicks; i++)
        n += m->progress.details[i].waiting != 0;
    for (uint32_t i = 0; i < m->progress.flow->nwaiting; i++)
        n -= stands(m, i);
    return n == 0;
}

int weir_direct_place(struct match *m)
{
    struct taking t = {.m = m, .n = m->progress.flow ? m->progress.flow->nwaiting : 0};
    struct scope mark = scope_mark(m);
    bool all;
    int rc = 1;

    if (m->progress.flow)
        m->progress.flow->unfit = false;
    if (t.n == 0)
        return 1;
    follow(m);
    t.n = m->progress.flow->nwaiting;
    if (!all_known(m) || t.n > DIRECT_MOST) {
        m->progress.flow->gave_up = true;
        return 0;
    }
    t.waiting = m->progress.flow->waiting;
    t.supplies = weir_mem_zalloc((size_t)t.n + 1, sizeof *t.supplies);
    if (!t.supplies)
        return weir_fail_nomem(m->err);
    qsort_r(t.waiting, t.n, sizeof *t.waiting, by_depth, m->g);
    for (uint32_t i = 0; rc >= 0 && i < t.n; i++) {
        int listed = list_supply(m, &t.waiting[i], DIRECT_MOST / t.n, &t.supplies[i]);
        rc = listed < 0 ? listed : rc && listed;
    }
    all = rc == 1;
    m->scope.conflicts_from = 0;
    if (rc >= 0 && t.n)
        rc = take_all(&t, 0, 0, flow_waiting_units(&t.waiting[0]));
    scope_end(m, &mark, rc);
    m->progress.flow->gave_up |= rc == 0 && (!all || !may_take(m));
    m->progress.flow->unfit = rc == 0;
    if (rc == 1)
        drop_waiting(m);
    for (uint32_t i = 0; i < t.n; i++)
        weir_mem_free(t.supplies[i].list);
    weir_mem_free(t.supplies);
    return rc;
}
