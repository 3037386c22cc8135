/* gather.c - units of a resource: candidates are taken in the order of the search, by score, or as the policy selects.
 * Invariant: on "does not fit" and on failure the picks are as they were.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/match.h"
#include "match/place/place.h"
#include "index/rank_order.h"
#include "base/heap.h"

/* Units that a vertex gave, and the number of picks afterwards. */
struct gain {
    weir_vertex v;
    uint32_t npicks;
    int64_t units;
};

/* The gains of a resource, in the order of taking. */
struct gains {
    uint32_t from; /* number of the first pick */
    struct gain *list;
    uint32_t n, cap;
    int64_t units;
};

static int gain_add(struct match *m, struct gains *gs, weir_vertex v, int64_t units)
{
    if (WEIR_ARRAY_ADD(gs->list, gs->n, gs->cap, (struct gain){v, m->scope.npicks, units}))
        return weir_fail_nomem(m->err);
    gs->units += units;
    return WEIR_OK;
}

/* ---- in the order of the search ---- */

static int gather_ordered(struct match *m, weir_vertex under, const weir_resource *r, int64_t want,
                          const struct order_scores *by, struct gains *gs)
{
    struct search s;
    weir_vertex v;
    int rc = weir_search_begin_by(&s, m, under, r, weir_candidate_idle(m, r), by);

    if (rc)
        return rc;
    while (gs->units < want && (rc = weir_search_next(&s, &v)) > 0) {
        if (weir_search_unscored(&s, v)) {
            count_event(m, WEIR_EVENT_POLICY, v, r);
            break;
        }
        int64_t units = weir_place_vertex(m, v, r, want - gs->units);
        if (units > 0)
            rc = gain_add(m, gs, v, units);
        else
            rc = units < 0 ? (int)units : weir_search_rejected(&s, v);
        if (rc)
            break;
    }
    weir_search_end(&s);
    return rc < 0 ? rc : WEIR_OK;
}

/* ---- by score ---- */

struct scored {
    weir_vertex v;
    double score;
    uint32_t order;
};

struct scores {
    struct scored *list;
    uint32_t n, cap;
    uint32_t chosen; /* the first so many vertices were selected, and suffice if all fit */
};

static int by_score(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Adds a vertex to the list if it fits, without taking anything. *fits is set to whether it does. */
static int add_fitting(struct match *m, weir_vertex v, const weir_resource *r, struct scores *sc, bool *fits)
{
    struct scope mark = scope_mark(m);
    int64_t units;

    m->scope.probing = true;
    units = weir_place_vertex(m, v, r, WEIR_FOREVER);
    scope_undo(m, &mark);
    *fits = units > 0;
    if (units <= 0)
        return (int)units;
    if (weir_array_reserve(&sc->list, &sc->cap, (size_t)sc->n + 1, sizeof *sc->list))
        return weir_fail_nomem(m->err);
    sc->list[sc->n] = (struct scored){v, 0, sc->n};
    sc->n++;
    return WEIR_OK;
}

/* Gives each vertex a score, and drops vertices without. */
static int score_list(struct match *m, const weir_resource *r, struct scores *sc)
{
    weir_vertex *v = weir_mem_alloc((size_t)sc->n * sizeof *v);
    double *score = weir_mem_alloc((size_t)sc->n * sizeof *score);
    uint32_t n = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; v && i < sc->n; i++)
        v[i] = sc->list[i].v;
    rc = v && score ? weir_match_scores(m, r, v, sc->n, score) : weir_fail_nomem(m->err);
    for (uint32_t i = 0; !rc && i < sc->n; i++)
        if (!isnan(score[i]))
            sc->list[n++] = (struct scored){v[i], score[i], i};
    sc->n = n;
    WEIR_FREE(v, score);
    return rc;
}

/* Whether scores decide: not while probing, where any candidates will do; but `evaluate` may refuse candidates. */
static bool is_scored(const struct match *m)
{
    return match_scored(m) && (!m->scope.probing || m->ask.policy->evaluate);
}

/* Lists the next vertices that fit, up to `most` in all; *more is set to whether further vertices may follow. */
static int score_next(struct match *m, struct search *s, const weir_resource *r, uint32_t most, struct scores *sc,
                      bool *more)
{
    weir_vertex v;
    int rc = WEIR_OK;

    *more = true;
    while (sc->n < most) {
        bool fits;
        rc = weir_search_next(s, &v);
        *more = rc > 0;
        if (rc <= 0)
            break;
        rc = add_fitting(m, v, r, sc, &fits);
        if (!rc && !fits)
            rc = weir_search_rejected(s, v);
        if (rc)
            break;
    }
    if (rc || sc->n == 0 || !is_scored(m))
        return rc;
    return score_list(m, r, sc);
}

static bool is_better(const struct scored *a, const struct scored *b)
{
    return by_score(a, b) < 0;
}

/* Makes the list a heap, as mostly few of many vertices are taken. */
static void make_heap(struct scores *sc)
{
    WEIR_HEAP_MAKE(sc->list, sc->n, a, b, is_better(a, b));
}

static weir_vertex pop_best(struct scores *sc)
{
    weir_vertex v = sc->list[0].v;

    sc->list[0] = sc->list[--sc->n];
    WEIR_HEAP_DOWN(sc->list, sc->n, 0, a, b, is_better(a, b));
    return v;
}

/* Puts the vertices chosen by the policy's select first. The rest follow, best first, in case the choice is too
 * small or does not fit together: the engine decides what fits. */
static int reorder_selected(struct match *m, struct scores *sc, const uint32_t *chosen, size_t count)
{
    struct scored *picked = weir_mem_alloc(sc->n * sizeof *picked);
    uint32_t n = 0;

    if (!picked)
        return weir_fail_nomem(m->err);
    for (size_t i = 0; i < count; i++) {
        if (chosen[i] >= sc->n || sc->list[chosen[i]].v == WEIR_NONE) {
            weir_mem_free(picked);
            return weir_match_policy_failed(m, "select (it chose what is no candidate, or the same twice)");
        }
        picked[n++] = sc->list[chosen[i]];
        sc->list[chosen[i]].v = WEIR_NONE;
    }
    for (uint32_t i = 0; i < sc->n; i++)
        if (sc->list[i].v != WEIR_NONE)
            picked[n++] = sc->list[i];
    memcpy(sc->list, picked, n * sizeof *picked);
    weir_mem_free(picked);
    return WEIR_OK;
}

/* Room for the candidates as hooks and choices see them. */
struct candidates {
    weir_vertex *v;
    double *score;
    uint32_t *chosen;
    size_t min, max;
};

static void list_candidates(const struct scores *sc, struct candidates *c)
{
    for (uint32_t i = 0; i < sc->n; i++) {
        c->v[i] = sc->list[i].v;
        c->score[i] = sc->list[i].score;
    }
}

/* Puts the candidates chosen by the policy's select first. */
static int call_select(struct match *m, const weir_resource *r, struct scores *sc, struct candidates *c)
{
    int64_t count;

    m->result.stats.callbacks++;
    list_candidates(sc, c);
    count = m->ask.policy->select(m->ask.policy->data, m->g, r, c->v, c->score, sc->n, c->min, c->max, c->chosen);
    if (count < 0 || count > (int64_t)sc->n)
        return weir_match_policy_failed(m, "select");
    if (count >= (int64_t)c->min)
        sc->chosen = (uint32_t)count;
    return reorder_selected(m, sc, c->chosen, (size_t)count);
}

/* Puts the candidates of the policy's choice first. */
static int make_choice(struct match *m, const weir_resource *r, struct scores *sc, struct candidates *c)
{
    int64_t count;

    list_candidates(sc, c);
    count = weir_choose_listed(m, r, c->v, sc->n, (uint32_t)c->min, (uint32_t)c->max, c->chosen);
    if (count < 0)
        return (int)count;
    sc->chosen = (uint32_t)count;
    return reorder_selected(m, sc, c->chosen, (size_t)count);
}

static int apply_select(struct match *m, const weir_resource *r, int64_t want, struct scores *sc)
{
    bool fixed = count_most(m, &r->count) == r->count.min;
    struct candidates c = {.max = want < (int64_t)sc->n ? (size_t)want : sc->n};
    int rc = WEIR_OK;

    if (sc->n == 0)
        return WEIR_OK;
    if (is_scored(m)) /* else the search has ordered the list */
        qsort(sc->list, sc->n, sizeof *sc->list, by_score);
    c.min = !fixed && r->count.min < (int64_t)c.max ? (size_t)r->count.min : c.max;
    c.v = weir_mem_alloc(sc->n * sizeof *c.v);
    c.score = weir_mem_alloc(sc->n * sizeof *c.score);
    c.chosen = weir_mem_alloc(sc->n * sizeof *c.chosen);
    if (!c.v || !c.score || !c.chosen)
        rc = weir_fail_nomem(m->err);
    if (!rc && m->ask.policy->select)
        rc = call_select(m, r, sc, &c);
    if (!rc && m->ask.policy->choice)
        rc = make_choice(m, r, sc, &c);
    WEIR_FREE(c.v, c.score, c.chosen);
    return rc;
}

/* Whether the policy chooses a set of `want` units; not while probing, where any set will do. */
static bool policy_selects(const struct match *m, weir_vertex under, const weir_resource *r, int64_t want)
{
    return match_chooses(m) && !m->scope.probing && weir_choice_matters(m, under, r, want);
}

/* Whether no other candidates may be taken than those of one choice. */
static bool is_strict(const struct match *m)
{
    return m->ask.policy->choice && m->ask.policy->choice->kind == WEIR_CHOOSE_ONE;
}

/* Candidates given to the policy at a time. */
static uint32_t round_size(const struct match *m, int64_t want)
{
    uint32_t n = match_scored(m) || is_strict(m) ? 0 : m->ask.policy->candidates;

    if (n == 0 || want >= UINT32_MAX / 2)
        return UINT32_MAX;
    return want * 2 > n ? (uint32_t)want * 2 : n;
}

/* Takes units from the next candidates. *more: further candidates are needed, and may exist. */
static int gather_round(struct match *m, struct search *s, weir_vertex under, const weir_resource *r, int64_t want,
                        struct gains *gs, bool *more)
{
    struct scores sc = {0};
    bool selects = policy_selects(m, under, r, want - gs->units), all_fit = true;
    int rc = score_next(m, s, r, round_size(m, want - gs->units), &sc, more);
    uint32_t n = sc.n;

    sc.chosen = n;
    if (!rc && selects)
        rc = apply_select(m, r, want - gs->units, &sc);
    else if (!rc)
        make_heap(&sc);
    if (selects && is_strict(m))
        n = sc.chosen;
    for (uint32_t i = 0; !rc && i < n && gs->units < want && (i < sc.chosen || !all_fit); i++) {
        weir_vertex v = selects ? sc.list[i].v : pop_best(&sc);
        int64_t units = weir_place_vertex(m, v, r, want - gs->units);
        rc = units < 0 ? (int)units : units > 0 ? gain_add(m, gs, v, units) : 0;
        all_fit &= units > 0;
    }
    *more = *more && gs->units < want && (n == sc.chosen || !all_fit); /* or the policy chose to take fewer */
    weir_mem_free(sc.list);
    return rc;
}

static int gather_scored(struct match *m, weir_vertex under, const weir_resource *r, int64_t want, struct gains *gs)
{
    struct search s;
    bool more = true;
    int rc = weir_search_begin(&s, m, under, r, weir_candidate_idle(m, r));

    if (rc)
        return rc;
    while (!rc && more)
        rc = gather_round(m, &s, under, r, want, gs, &more);
    weir_search_end(&s);
    return rc;
}

/* Takes the vertices that a choice over an index gives. Returns 1, 0 (no pick added: a list is needed) or negative. */
static int gather_chosen(struct match *m, weir_vertex under, const weir_resource *r, int64_t want, struct gains *gs)
{
    weir_vertex *chosen;
    uint32_t n;
    int rc = weir_choose_indexed(m, under, r, want, &chosen, &n);

    for (uint32_t i = 0; rc == 1 && i < n; i++) {
        int64_t units = weir_place_vertex(m, chosen[i], r, want - gs->units);
        rc = units <= 0 ? (int)units : gain_add(m, gs, chosen[i], units) ? WEIR_ENOMEM : 1;
    }
    weir_mem_free(chosen);
    if (rc != 1) {
        m->scope.npicks = gs->from;
        gs->n = 0;
        gs->units = 0;
    }
    return rc;
}

/* Gathers up to `want` units of r below `under`. */
static int gather(struct match *m, weir_vertex under, const weir_resource *r, int64_t want, struct gains *gs)
{
    bool selects = m->scope.view <= VIEW_RESERVED && policy_selects(m, under, r, want);
    bool scored = m->scope.view <= VIEW_RESERVED && (is_scored(m) || selects);
    struct order_scores by = {NULL, WEIR_NO_TYPE};
    int rc = selects ? gather_chosen(m, under, r, want, gs) : 0;

    if (rc)
        return rc < 0 ? rc : WEIR_OK;
    if (scored && !selects)
        rc = weir_match_rank(m, under, r, weir_match_type(m, r), &by);
    else if (!scored)
        rc = weir_match_rank_kept(m, under, r, weir_match_type(m, r), &by);
    if (rc)
        return rc;
    return scored && !by.memory ? gather_scored(m, under, r, want, gs) : gather_ordered(m, under, r, want, &by, gs);
}

/* ---- trimming to an allowed count ---- */

/* A gain with the range of its picks. */
struct gathered_share {
    struct gain gain;
    uint32_t from, n;
};

struct gather_ordering {
    const weir_graph *g;
    struct order order;
};

static int by_order(const void *a, const void *b, void *data)
{
    const struct gathered_share *x = a, *y = b;
    const struct gather_ordering *o = data;

    if (x->gain.v == y->gain.v)
        return 0;
    return weir_order_before(o->g, &o->order, x->gain.v, y->gain.v) ? -1 : 1;
}

static void list_shares(const struct gains *gs, struct gathered_share *shares)
{
    for (uint32_t i = 0, from = gs->from; i < gs->n; from = gs->list[i++].npicks)
        shares[i] = (struct gathered_share){gs->list[i], from, gs->list[i].npicks - from};
}

/* Writes the gains and picks in the order of the shares. */
static void rewrite(struct match *m, struct gains *gs, const struct gathered_share *shares, const weir_pick *picks,
                    const struct pick_detail *details)
{
    uint32_t at = gs->from;

    for (uint32_t i = 0; i < gs->n; i++) {
        uint32_t from = shares[i].from - gs->from, n = shares[i].n;
        memcpy(m->progress.picks + at, picks + from, n * sizeof *picks);
        memcpy(m->progress.details + at, details + from, n * sizeof *details);
        at += n;
        gs->list[i] = shares[i].gain;
        gs->list[i].npicks = at;
    }
}

/* Reorders the gains of a search that descends by the order of the policy. */
static int reorder_gains(struct match *m, struct gains *gs)
{
    size_t n = m->scope.npicks - gs->from;
    struct gathered_share *shares = weir_mem_alloc((size_t)gs->n * sizeof *shares + 1);
    weir_pick *picks = weir_mem_alloc(n * sizeof *picks + 1);
    struct pick_detail *details = weir_mem_alloc(n * sizeof *details + 1);
    struct gather_ordering o = {.g = m->g};
    int rc =
        shares && picks && details ? weir_order_read(m->g, m->ask.policy, &o.order, m->err) : weir_fail_nomem(m->err);

    if (!rc && gs->n > 0) {
        list_shares(gs, shares);
        memcpy(picks, m->progress.picks + gs->from, n * sizeof *picks);
        memcpy(details, m->progress.details + gs->from, n * sizeof *details);
        qsort_r(shares, gs->n, sizeof *shares, by_order, &o);
        rewrite(m, gs, shares, picks, details);
    }
    WEIR_FREE(shares, picks, details);
    return rc;
}

/* Gives back the units above `want`: whole vertices, last first; then units of the last pool, if divisible. */
static int trim(struct match *m, const weir_resource *r, struct gains *gs, int64_t want)
{
    weir_pick *last;
    int rc = WEIR_OK;

    if (gs->units > want && view_ordered(m) && m->ask.policy->ndescend && m->ask.policy->norder)
        rc = reorder_gains(m, gs);
    if (rc)
        return rc;
    while (gs->n > 0 && gs->units - gs->list[gs->n - 1].units >= want) {
        gs->units -= gs->list[--gs->n].units;
        m->scope.npicks = gs->n ? gs->list[gs->n - 1].npicks : gs->from;
    }
    last = gs->n ? &m->progress.picks[m->scope.npicks - 1] : NULL;
    if (last && gs->units > want && last->amount > gs->units - want && weir_candidate_divisible(m, last->vertex, r)) {
        last->amount -= gs->units - want;
        last->exclusive = false;
        gs->units = want;
    }
    return WEIR_OK;
}

int64_t weir_place_some(struct match *m, weir_vertex under, const weir_resource *r, int64_t want)
{
    struct scope mark = scope_mark(m);
    struct gains gs = {.from = mark.npicks};
    int rc = gather(m, under, r, want, &gs);

    weir_mem_free(gs.list);
    if (rc)
        scope_undo(m, &mark);
    return rc ? rc : gs.units;
}

int weir_place_resource(struct match *m, weir_vertex under, const weir_resource *r, int64_t times)
{
    int64_t smallest = saturating_mul(r->count.min, times), count;
    int64_t most = saturating_mul(count_most(m, &r->count), times);
    struct scope mark = scope_mark(m);
    struct gains gs = {.from = mark.npicks};
    int rc;

    if (!weir_search_bound_ok(m, under, r, smallest, weir_candidate_idle(m, r)))
        return smallest == 0;
    rc = smallest == most && !weir_direct_is(m, r) ? weir_bulk_take(m, under, r, most) : 0;
    if (rc)
        return rc;
    rc = gather(m, under, r, most, &gs);
    count = weir_count_floor(&r->count, gs.units / times);
    if (!rc && count >= 0)
        rc = trim(m, r, &gs, saturating_mul(count, times));
    weir_mem_free(gs.list);
    rc = rc ? rc : count >= 0;
    return scope_end(m, &mark, rc);
}
