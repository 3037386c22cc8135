/* competing.c - placing siblings that compete for the same vertices: two kinds of nodes, or nodes and cores next to the
 * nodes.
 *
 * A vertex taken by a sibling may be needed by another sibling, so the search backtracks: first vertices with children,
 * one by one in the order of the policy, with the resources nested in each; then units. The first run takes as many
 * units as the counts allow, in the order of the policy only. If that finds nothing soon, the second run takes minimal
 * counts and tries all ways: vertices by backtracking, units by an exact assignment, symmetric choices once. The second
 * run is exact, but may take long; after COMPETING_TRIES steps it gives up with WEIR_ELIMIT rather than report
 * something untrue.
 */
#include <math.h>
#include <string.h>

#include "match/candidate/competing.h"
#include "match/candidate/flow_state.h"
#include "match/place/place.h"
#include "aggregate/schema.h"

#define ORDERED_REFUSALS 1000

/* ---- demands ---- */

static void drop_demands(struct competing *c, uint32_t n)
{
    while (c->n > n) {
        struct demand *d = &c->demands[--c->n];
        WEIR_FREE(d->candidates, d->remaining, d->pools);
    }
}

/* Whether v fits without regard to the other siblings; a vertex that does not is no candidate. Returns 1, 0 or
 * negative. */
static int fits_alone(struct competing *c, const struct demand *d, weir_vertex v)
{
    struct match *m = c->m;
    struct scope mark = scope_mark(m);
    int64_t units;

    m->scope.conflicts_from = WEIR_NONE;
    m->scope.probing = true;
    units = is_hosted(d) ? weir_place_slots_in(m, v, d->r, 1) : weir_place_vertex(m, v, d->r, kind_of(m->g, v)->size);
    scope_undo(m, &mark);
    return units < 0 ? (int)units : units > 0;
}

/* Adds a vertex found by the search to the candidates, or the pools, of a demand, if of use. */
static int add_candidate(struct competing *c, struct demand *d, weir_vertex v)
{
    bool pool = !c->ordered && !is_hosted(d) && weir_candidate_divisible(c->m, v, d->r);
    int rc = c->ordered ? 1 : pool ? weir_candidate_unit(c->m, v, d->r) : fits_alone(c, d, v);

    if (rc <= 0)
        return rc;
    if (pool)
        return WEIR_ARRAY_ADD(d->pools, d->npools, d->pools_cap, v) ? weir_fail_nomem(c->m->err) : WEIR_OK;
    return WEIR_ARRAY_ADD(d->candidates, d->n, d->cap, v) ? weir_fail_nomem(c->m->err) : WEIR_OK;
}

/* Sets `remaining` of a demand. */
static int count_remaining(struct competing *c, struct demand *d)
{
    d->remaining = weir_mem_zalloc((size_t)d->n + 1, sizeof *d->remaining);
    for (uint32_t k = d->n; d->remaining && k-- > 0;) {
        int64_t units = is_hosted(d) ? d->max_units : kind_of(c->m->g, d->candidates[k])->size;
        d->remaining[k] = units < WEIR_FOREVER - d->remaining[k + 1] ? d->remaining[k + 1] + units : WEIR_FOREVER;
    }
    return d->remaining ? WEIR_OK : weir_fail_nomem(c->m->err);
}

/* Drops the pools without a score of the policy. */
static int drop_unscored(struct competing *c, struct demand *d)
{
    struct match *m = c->m;
    double *score = weir_mem_alloc((size_t)d->npools * sizeof *score + 1);
    int rc = score ? weir_match_scores(m, d->r, d->pools, d->npools, score) : weir_fail_nomem(m->err);
    uint32_t kept = 0;

    for (uint32_t i = 0; !rc && i < d->npools; i++)
        if (!isnan(score[i]))
            d->pools[kept++] = d->pools[i];
    d->npools = rc ? d->npools : kept;
    weir_mem_free(score);
    return rc;
}

static int list_candidates(struct competing *c, struct demand *d)
{
    struct match *m = c->m;
    struct search s;
    weir_vertex v;
    weir_type t = weir_match_type(m, d->r);
    bool nested = !is_hosted(d) && t != WEIR_NO_TYPE && weir_type_above(m->g, t, t);
    int rc = is_hosted(d) ? weir_search_hosts(&s, m, d->under, d->r, weir_slot_first(m, d->r), d->host)
                          : weir_search_begin(&s, m, d->under, d->r, weir_candidate_idle(m, d->r));

    if (rc)
        return rc;
    if (weir_array_reserve(&d->candidates, &d->cap, 8, sizeof *d->candidates))
        rc = weir_fail_nomem(m->err);
    while (!rc && (rc = weir_search_next(&s, &v)) > 0) {
        rc = add_candidate(c, d, v);
        if (!rc && nested)
            rc = weir_search_rejected(&s, v); /* vertices of the type inside v are candidates, too */
    }
    weir_search_end(&s);
    if (!rc && !c->ordered)
        rc = count_remaining(c, d);
    if (!rc && d->npools && m->scope.view <= VIEW_RESERVED && m->ask.policy->evaluate)
        rc = drop_unscored(c, d);
    return rc;
}

/* Whether some vertices of a type are only given as a whole: then it matters which vertices units come from. */
static bool some_whole(const weir_graph *g, weir_type t)
{
    for (uint32_t i = 0; g->whole_kinds && t != WEIR_NO_TYPE && i < g->nkinds; i++)
        if (g->kinds[i].type == t && g->kinds[i].exclusive)
            return true;
    return false;
}

static int add_demand(struct competing *c, weir_vertex under, const weir_resource *r, int64_t times, weir_type host)
{
    weir_type t = weir_match_type(c->m, r);
    struct demand *d;

    if (c->n >= COMPETING_DEMANDS)
        return weir_fail(c->m->err, WEIR_ELIMIT, "more than %d resources compete with each other", COMPETING_DEMANDS);
    if (weir_array_reserve(&c->demands, &c->cap, (size_t)c->n + 1, sizeof *c->demands))
        return weir_fail_nomem(c->m->err);
    d = &c->demands[c->n++];
    *d = (struct demand){.r = r, .under = under, .depth = vertex_depth(c->m->g, under), .times = times, .host = host};
    d->max_units = saturating_mul(count_most(c->m, &r->count), times);
    d->subsystem = weir_flow_find(c->m->g, r->type);
    d->direct = weir_direct_is(c->m, r) && !(t != WEIR_NO_TYPE && (c->m->g->types[t].flags & TYPE_HAS_KIDS));
    if (d->direct)
        return WEIR_OK;
    if (!c->ordered)
        return d->subsystem == WEIR_NONE ? list_candidates(c, d) : WEIR_OK;
    if (is_hosted(d) || weir_candidate_idle(c->m, r) || r->exclusive == WEIR_EXCLUSIVE_NO || some_whole(c->m->g, t) ||
        (t != WEIR_NO_TYPE && (c->m->g->types[t].flags & TYPE_HAS_KIDS)))
        return list_candidates(c, d);
    return WEIR_OK;
}

static int add_demands(struct competing *c, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

/* Adds demands for the resources of slots: together, or slot by slot where slots cannot share pools. `counted`: the
 * demands account for the slots. */
static int add_slots(struct competing *c, weir_vertex under, const weir_resource *slot, int64_t slots, bool counted)
{
    int64_t step = weir_slot_whole_pools(c->m, slot) ? 1 : slots;
    int rc = WEIR_OK;

    for (int64_t left = slots; !rc && left > 0; left -= step) {
        uint32_t first = c->n;
        rc = add_demands(c, under, slot->with, slot->nwith, step);
        if (!rc && counted && c->n > first)
            c->demands[first].slots = step;
    }
    return rc;
}

static int add_demands(struct competing *c, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    int rc = n > 0 && list->any
                 ? weir_fail(c->m->err, WEIR_ELIMIT, "or_slots inside of resources that compete with others")
                 : WEIR_OK;

    for (uint32_t i = 0; !rc && i < n; i++) {
        const weir_resource *r = &list[i];
        weir_type host = r->slot ? weir_slot_host(c->m, under, r) : WEIR_NO_TYPE;
        const struct divided_slot *d = NULL;
        if (r->slot && host == WEIR_NO_TYPE && times == 1)
            rc = weir_slot_divide(c->m, under, r, &d);
        if (!rc && d) {
            rc = add_demand(c, under, &d->inside, 1, weir_slot_host(c->m, under, &d->inside));
            rc = rc ? rc : add_slots(c, under, &d->outside, r->count.min, false);
            continue;
        }
        if (rc)
            continue;
        if (r->slot && host == WEIR_NO_TYPE)
            rc = add_slots(c, under, r, saturating_mul(times, r->count.min), true);
        else
            rc = add_demand(c, under, r, times, host);
    }
    return rc;
}

/* ---- units ---- */

/* Units above those taken so far that make the largest allowed count, if the demand got `got` units more. */
static int64_t allowed_more(const struct demand *d, int64_t got)
{
    int64_t count = weir_count_floor(&d->r->count, (d->units + got) / d->times);
    return count >= 0 && count * d->times > d->units ? count * d->times - d->units : 0;
}

/* Places the minimum of a demand (round 0), or as many more units as allowed (round 1). Returns 1, 0 or negative. */
static int place_units_of(struct competing *c, struct demand *d, int round)
{
    struct match *m = c->m;
    int64_t want = round ? d->max_units - d->units : demand_minimum(d), got;
    struct scope mark = scope_mark(m);

    if (d->candidates || want <= 0)
        return 1;
    if (d->subsystem != WEIR_NONE)
        return round || m->scope.view == VIEW_CAPACITY ? 1
                                                       : weir_flow_allocate(m, d->under, d->subsystem, d->r, d->times);
    got = weir_place_some(m, d->under, d->r, want);
    if (got < 0 || (round == 0 && got < want))
        return got < 0 ? (int)got : 0;
    if (round && got != allowed_more(d, got)) { /* between two allowed amounts: place the lower */
        scope_undo(m, &mark);
        got = allowed_more(d, got);
        got = got ? weir_place_some(m, d->under, d->r, got) : 0;
    }
    d->units += got > 0 ? got : 0;
    return got < 0 ? (int)got : 1;
}

/* Places units, deepest demands first, as deep demands have the least choice. Every demand gets its minimum before
 * any gets more. */
static int place_units(struct competing *c)
{
    uint32_t npicks = c->m->scope.npicks;
    int rc = 1;

    for (uint32_t i = 0; i < c->n; i++)
        if (!c->demands[i].candidates)
            c->demands[i].units = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t depth = WEIR_PATH_DEPTH + 1; depth-- > 0;)
            for (uint32_t i = 0; rc == 1 && i < c->n; i++)
                if (c->demands[i].depth == depth && !c->demands[i].direct)
                    rc = place_units_of(c, &c->demands[i], round);
    for (uint32_t i = 0; rc == 1 && i < c->n; i++)
        if (c->demands[i].direct)
            rc = weir_place_direct(c->m, c->demands[i].under, c->demands[i].r, c->demands[i].times);
    c->refusals += rc == 0 ? (c->m->scope.npicks - npicks) / 8 : 0; /* counts as work */
    return rc;
}

/* ---- vertices ---- */

static int solve(struct competing *c, uint32_t i);
static int solve_from(struct competing *c, uint32_t i, uint32_t from);

/* Takes a candidate for `want` units. Returns 1 with *units set and either picks or nested demands added, 0 or
 * negative. */
static int take(struct competing *c, uint32_t i, weir_vertex v, int64_t want, int64_t *units)
{
    const struct demand d = c->demands[i];
    struct match *m = c->m;
    bool passes = !is_hosted(&d) && weir_candidate_passes(m, v, d.r);
    int rc;

    *units = want;
    if (is_hosted(&d) || passes) {
        if (passes && !weir_candidate_enter(m, v, d.r))
            return 0;
        if (passes)
            *units = kind_of(m->g, v)->size;
        rc = passes ? add_demands(c, v, d.r->with, d.r->nwith, 1) : add_slots(c, v, d.r, want, false);
        return rc ? rc : 1;
    }
    *units = c->ordered ? weir_place_vertex(m, v, d.r, want) : weir_place_vertex_known(m, v, d.r, want);
    return *units < 0 ? (int)*units : *units > 0;
}

/* Adds (by 1) or removes (by -1) the picks from number `npicks` on, and the demands from number n on, to the
 * symmetries. */
static int record_uses(struct competing *c, uint32_t npicks, uint32_t n, int by)
{
    int rc = WEIR_OK;

    for (uint32_t i = npicks; !c->ordered && !rc && i < c->m->scope.npicks; i++)
        rc = weir_symmetry_pick(&c->symmetries, &c->m->progress.picks[i], by);
    for (uint32_t i = n; !c->ordered && !rc && i < c->n; i++)
        rc = weir_symmetry_demand(&c->symmetries, &c->demands[i], i, by);
    return rc ? weir_fail_nomem(c->m->err) : WEIR_OK;
}

static int set_units(struct competing *c, uint32_t i, int64_t units, int64_t last)
{
    struct demand *d = &c->demands[i];
    int rc = c->ordered ? WEIR_OK : weir_symmetry_demand(&c->symmetries, d, i, -1);

    d->units = units;
    d->last_units = last;
    if (!rc && !c->ordered)
        rc = weir_symmetry_demand(&c->symmetries, d, i, 1);
    return rc ? weir_fail_nomem(c->m->err) : WEIR_OK;
}

/* Whether the missing units around v can still be had. Returns 1, 0 or negative. */
static int leaves_units(struct competing *c, uint32_t i, weir_vertex v)
{
    weir_vertex within = v;

    if (c->ordered)
        return 1;
    for (uint32_t k = 0; k < c->n; k++) {
        const struct demand *d = &c->demands[k];
        if (d->npools > 0 && d->n == 0 && d->under != WEIR_NONE && weir_vertex_within(c->m->g, within, d->under))
            within = d->under;
    }
    return weir_competing_assign(c, i, within);
}

static int too_many_tries(struct competing *c)
{
    c->gave_up = c->ordered;
    return c->ordered ? 0
                      : weir_fail(c->m->err, WEIR_ELIMIT,
                                  "the resources requested side by side compete for the same vertices, and %d tries "
                                  "did not show whether they fit; request one below the other, or use two jobs",
                                  COMPETING_TRIES);
}

/* Takes candidate k of demand i, and solves the rest. Returns 1, 0 (nothing taken) or negative. */
static int take_and_go_on(struct competing *c, uint32_t i, uint32_t k, int64_t want)
{
    struct match *m = c->m;
    struct scope mark = scope_mark(m);
    uint32_t n = c->n;
    weir_vertex v = c->demands[i].candidates[k];
    int64_t had = c->demands[i].units, last = c->demands[i].last_units, units;
    int rc;

    if (++c->tries > COMPETING_TRIES)
        return too_many_tries(c);
    rc = take(c, i, v, want, &units);
    if (rc >= 0 && record_uses(c, mark.npicks, n, 1))
        return WEIR_ENOMEM;
    if (rc == 1) {
        rc = set_units(c, i, had + units, units);
        rc = rc ? rc : leaves_units(c, i, v);
        rc = rc == 1 ? solve_from(c, i, k + 1) : rc;
    }
    if (rc == 0) {
        c->refusals++;
        if (record_uses(c, mark.npicks, n, -1) || set_units(c, i, had, last))
            return WEIR_ENOMEM;
        scope_undo(m, &mark);
        drop_demands(c, n);
    }
    return rc;
}

/* Whether the units of a demand are an allowed amount, except for the excess of the vertex taken last; or pools may
 * complete them. */
static bool is_allowed(const struct demand *d)
{
    int64_t count = weir_count_floor(&d->r->count, d->units / d->times);

    if (d->npools > 0)
        return true;
    return count >= 0 && (count * d->times == d->units || d->units - d->last_units < count * d->times);
}

/* Most slots that fit in v in addition to the picks so far; or negative. */
static int64_t host_bound(struct competing *c, weir_vertex v, const weir_resource *slot, int64_t most)
{
    const weir_graph *g = c->m->g;
    const struct inner *in = inner_of(g, v);

    if (!weir_competing_within(c->m, slot->with, slot->nwith))
        return weir_slot_bound(c->m, v, slot, most);
    /* whether the resources fit together is tested later: totals are the bound */
    for (uint32_t i = 0; i < slot->nwith; i++) {
        const weir_resource *r = &slot->with[i];
        weir_type t = weir_match_type(c->m, r);
        uint32_t cell = t == WEIR_NO_TYPE || !in || !in->cells ? 0 : type_cell(schema_at(g, in->schema), t);
        int64_t total = cell ? in->cells[cell + TYPE_TOTAL] : 0;
        if (r->count.min > 0 && weir_flow_find(g, r->type) == WEIR_NONE && total / r->count.min < most)
            most = total / r->count.min;
    }
    return most;
}

/* Tries candidate k of demand i for as many units as v can give and, where v is divisible, for fewer. Returns 1, 0
 * or negative. */
static int try_candidate(struct competing *c, uint32_t i, uint32_t k)
{
    const struct demand *d = &c->demands[i];
    weir_vertex v = d->candidates[k];
    int64_t want = d->max_units - d->units, size = kind_of(c->m->g, v)->size;
    bool hosted = is_hosted(d), fewer = hosted || weir_candidate_divisible(c->m, v, d->r);
    int rc = 0;

    if (hosted)
        want = host_bound(c, v, d->r, want);
    else if (fewer && want > size)
        want = size;
    if (want < 0)
        return (int)want;
    for (; rc == 0 && want > 0 && !c->gave_up; want = fewer ? want - 1 : 0)
        rc = take_and_go_on(c, i, k, want);
    c->gave_up |= c->ordered && c->refusals > ORDERED_REFUSALS;
    return rc;
}

/* Whether candidate v is symmetric to a refused candidate; *key is for note_tried(). Returns 1, 0 or negative. */
static int was_tried(struct competing *c, const struct tried *t, weir_vertex v, uint64_t *key)
{
    if (c->ordered)
        return 0;
    if (weir_symmetry_key(&c->symmetries, v, key))
        return weir_fail_nomem(c->m->err);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->keys[i] == *key)
            return 1;
    return 0;
}

static int note_tried(struct competing *c, struct tried *t, uint64_t key)
{
    if (c->ordered || t->n == COMPETING_TRIED)
        return WEIR_OK;
    return WEIR_ARRAY_ADD(t->keys, t->n, t->cap, key) ? weir_fail_nomem(c->m->err) : WEIR_OK;
}

/* Whether a demand has to try candidate k. */
static bool may_try(const struct competing *c, const struct demand *d, uint32_t k)
{
    if (c->gave_up || k >= d->n || d->units >= d->max_units)
        return false;
    return c->ordered || d->npools > 0 || d->remaining[k] >= demand_minimum(d) - d->units;
}

/* Solves demand i with the candidates from number `from` on, and then the demands behind. Returns 1, 0 or negative. */
static int solve_from(struct competing *c, uint32_t i, uint32_t from)
{
    struct tried tried = {0};
    int rc = 0;

    for (uint32_t k = from; rc == 0 && may_try(c, &c->demands[i], k); k++) {
        uint64_t key = 0;
        rc = was_tried(c, &tried, c->demands[i].candidates[k], &key);
        if (rc == 1) {
            rc = 0;
            continue;
        }
        rc = rc ? rc : try_candidate(c, i, k);
        rc = rc ? rc : note_tried(c, &tried, key);
    }
    weir_mem_free(tried.keys);
    if (rc || c->gave_up)
        return rc;
    return is_allowed(&c->demands[i]) ? solve(c, i + 1) : 0;
}

/* Assigns units and flows, now that all vertices are chosen. Returns 1, 0 or negative. */
static int assign_units(struct competing *c)
{
    struct match *m = c->m;
    struct scope mark = scope_mark(m);
    int rc = weir_competing_assign_all(c);

    for (uint32_t i = 0; rc == 1 && i < c->n; i++) {
        const struct demand *d = &c->demands[i];
        if (d->subsystem != WEIR_NONE && m->scope.view != VIEW_CAPACITY && demand_minimum(d) > 0)
            rc = weir_flow_allocate(m, d->under, d->subsystem, d->r, d->times);
    }
    for (uint32_t i = 0; rc == 1 && i < c->n; i++)
        if (c->demands[i].direct)
            rc = weir_place_direct(m, c->demands[i].under, c->demands[i].r, c->demands[i].times);
    return scope_end(m, &mark, rc);
}

/* Solves from demand i on, a demand with candidates, in all ways. Returns 1, 0 or negative. */
static int solve_all_ways(struct competing *c, uint32_t i)
{
    uint64_t state;
    int rc = weir_competing_state(c, i, &state) ? weir_fail_nomem(c->m->err) : 1;

    if (rc == 1)
        rc = weir_competing_refused(c, state) ? 0 : weir_competing_assign(c, i, WEIR_NONE);
    if (rc == 1)
        rc = solve_from(c, i, 0);
    if (rc == 0 && weir_competing_refuse(c, state))
        return WEIR_ENOMEM;
    return rc;
}

static int solve(struct competing *c, uint32_t i)
{
    while (i < c->n && (c->ordered ? !c->demands[i].candidates : c->demands[i].n == 0))
        i++;
    if (i == c->n)
        return c->ordered ? place_units(c) : assign_units(c);
    return c->ordered ? solve_from(c, i, 0) : solve_all_ways(c, i);
}

static void end_competing(struct competing *c)
{
    drop_demands(c, 0);
    WEIR_FREE(c->demands, c->states);
    weir_map32_free(&c->state_numbers);
    weir_symmetry_end(&c->symmetries);
}

/* Runs the search once. Returns 1, 0 or negative. */
static int run_once(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times,
                    bool ordered)
{
    struct competing c = {.m = m, .ordered = ordered};
    uint32_t from = m->scope.npicks;
    int rc;

    m->scope.conflicts_from = from;
    m->scope.minimum |= !ordered;
    weir_symmetry_begin(&c.symmetries, m);
    rc = add_demands(&c, under, list, n, times);
    rc = rc ? rc : record_uses(&c, from, 0, 1);
    rc = rc ? rc : solve(&c, 0);
    for (uint32_t i = 0; rc == 1 && i < c.n; i++)
        weir_pick_slots(m, from, is_hosted(&c.demands[i]) ? c.demands[i].units : c.demands[i].slots);
    end_competing(&c);
    return rc;
}

int weir_place_competing(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    struct scope mark = scope_mark(m);
    int rc;

    if (flow_surveys(m))
        return flow_survey_odd(m);
    m->progress.shared = true;
    rc = scope_end(m, &mark, run_once(m, under, list, n, times, true));
    if (rc == 0) /* counts with a range may have taken too much, or a vertex that another sibling needs */
        rc = scope_end(m, &mark, run_once(m, under, list, n, times, false));
    return rc;
}
