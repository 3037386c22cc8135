/* backtrack.c - placing siblings that compete for the same vertices: two kinds of nodes, or nodes and cores beside them.
 *
 * What one of them takes may be what another one needs, so this backtracks: vertices with children first, one by one in
 * the policy's order, with what is asked for inside them, then units. First as much as may be of everything, all in the
 * policy's order. If nothing is found there soon, the least of everything in all ways: the choice of vertices by backtracking,
 * units divided exactly among all that need some, what is like something refused left out. That is exact, but it can take long;
 * after BACKTRACK_TRIES steps it gives up with WEIR_ELIMIT rather than say something untrue.
 */
#include <math.h>
#include <string.h>

#include "match/backtrack.h"
#include "match/match.h"
#include "aggregate/schema.h"

#define ORDERED_REFUSALS 1000

/* ---- demands ---- */

static void drop_demands(struct backtrack *c, uint32_t n)
{
    while (c->n > n) {
        struct demand *d = &c->demands[--c->n];
        weir_mem_free(d->candidates);
        weir_mem_free(d->behind);
        weir_mem_free(d->pools);
    }
}

/* Whether v would do if nothing else were asked for: what it cannot give then it can never give. 1, 0 or negative. */
static int would_do(struct backtrack *c, const struct demand *d, weir_vertex v)
{
    struct match *m = c->m;
    uint32_t npicks = m->npicks, rivals = m->rivals;
    bool trying = m->probing;
    int64_t units;

    m->rivals = WEIR_NONE;
    m->probing = true;
    units = is_hosted(d) ? weir_slots_fill(m, v, d->r, 1) : weir_candidate_take(m, v, d->r, kind_of(m->g, v)->size);
    m->probing = trying;
    m->rivals = rivals;
    m->npicks = npicks;
    return units < 0 ? (int)units : units > 0;
}

/* Lists what the search found, if it is of use. */
static int add_candidate(struct backtrack *c, struct demand *d, weir_vertex v)
{
    bool pool = !c->ordered && !is_hosted(d) && weir_candidate_divisible(c->m, v, d->r);
    int rc = c->ordered ? 1 : pool ? weir_candidate_unit(c->m, v, d->r) : would_do(c, d, v);

    if (rc <= 0)
        return rc;
    if (pool) {
        if (weir_array_reserve(&d->pools, &d->pools_cap, (size_t)d->npools + 1, sizeof *d->pools))
            return weir_fail_nomem(c->m->err);
        d->pools[d->npools++] = v;
        return WEIR_OK;
    }
    if (weir_array_reserve(&d->candidates, &d->cap, (size_t)d->n + 1, sizeof *d->candidates))
        return weir_fail_nomem(c->m->err);
    d->candidates[d->n++] = v;
    return WEIR_OK;
}

/* What all candidates are like. */
static int describe(struct backtrack *c, struct demand *d)
{
    d->whole = !is_hosted(d);
    for (uint32_t k = 0; k < d->n && !is_hosted(d); k++) {
        d->whole &= weir_candidate_all(c->m, d->candidates[k], d->r);
        d->sized |= kind_of(c->m->g, d->candidates[k])->size != 1;
    }
    d->behind = weir_mem_zalloc((size_t)d->n + 1, sizeof *d->behind);
    return d->behind ? WEIR_OK : weir_fail_nomem(c->m->err);
}

/* What the policy gives no score is none. */
static int leave_unwanted(struct backtrack *c, struct demand *d)
{
    struct match *m = c->m;
    double *score = weir_mem_alloc((size_t)d->npools * sizeof *score + 1);
    int rc = score ? weir_allocate_evaluate(m, d->r, d->pools, d->npools, score) : weir_fail_nomem(m->err);
    uint32_t kept = 0;

    for (uint32_t i = 0; !rc && i < d->npools; i++)
        if (!isnan(score[i]))
            d->pools[kept++] = d->pools[i];
    d->npools = rc ? d->npools : kept;
    weir_mem_free(score);
    return rc;
}

static int list_candidates(struct backtrack *c, struct demand *d)
{
    struct match *m = c->m;
    struct search s;
    weir_vertex v;
    weir_type t = weir_match_type(m, d->r);
    bool nested = !is_hosted(d) && t != WEIR_NO_TYPE && weir_type_above(m->g, t, t);
    int rc = is_hosted(d) ? weir_search_hosts(&s, m, d->under, d->r, d->r->with, d->host)
                          : weir_search_begin(&s, m, d->under, d->r, weir_candidate_idle(m, d->r));

    if (rc)
        return rc;
    if (weir_array_reserve(&d->candidates, &d->cap, 8, sizeof *d->candidates))
        rc = weir_fail_nomem(m->err);
    while (!rc && (rc = weir_search_next(&s, &v)) > 0) {
        rc = add_candidate(c, d, v);
        if (!rc && nested)
            rc = weir_search_rejected(&s, v); /* what is inside of it is one, too */
    }
    weir_search_end(&s);
    if (!rc && !c->ordered)
        rc = describe(c, d);
    if (!rc && d->npools && m->view <= VIEW_LATER && m->policy->evaluate)
        rc = leave_unwanted(c, d);
    return rc;
}

/* Whether some vertices of a type are only given as a whole: then it matters which of them units come from. */
static bool some_whole(const weir_graph *g, weir_type t)
{
    for (uint32_t i = 0; g->whole_kinds && t != WEIR_NO_TYPE && i < g->nkinds; i++)
        if (g->kinds[i].type == t && g->kinds[i].exclusive)
            return true;
    return false;
}

static int add_demand(struct backtrack *c, weir_vertex under, const weir_resource *r, int64_t times, weir_type host)
{
    weir_type t = weir_type_find(c->m->g, r->type);
    struct demand *d;

    if (c->n >= BACKTRACK_DEMANDS)
        return weir_fail(c->m->err, WEIR_ELIMIT, "more than %d resources compete with each other", BACKTRACK_DEMANDS);
    if (weir_array_reserve(&c->demands, &c->cap, (size_t)c->n + 1, sizeof *c->demands))
        return weir_fail_nomem(c->m->err);
    d = &c->demands[c->n++];
    *d = (struct demand){.r = r, .under = under, .depth = vertex_depth(c->m->g, under), .times = times, .host = host};
    d->most = saturating_mul(count_most(c->m, &r->count), times);
    d->subsystem = weir_flow_find(c->m->g, r->type);
    if (!c->ordered)
        return d->subsystem == WEIR_NONE ? list_candidates(c, d) : WEIR_OK;
    if (is_hosted(d) || weir_candidate_idle(c->m, r) || r->exclusive == WEIR_EXCLUSIVE_NO || some_whole(c->m->g, t) ||
        (t != WEIR_NO_TYPE && (c->m->g->types[t].flags & TYPE_HAS_KIDS)))
        return list_candidates(c, d);
    return WEIR_OK;
}

static int add_demands(struct backtrack *c, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

/* What so many slots hold: together, or each for itself where they cannot share pools. `counted`: these demands stand for the
 * slots. */
static int add_slots(struct backtrack *c, weir_vertex under, const weir_resource *slot, int64_t slots, bool counted)
{
    int64_t step = weir_slot_apart(c->m, slot) ? 1 : slots;
    int rc = WEIR_OK;

    for (int64_t left = slots; !rc && left > 0; left -= step) {
        uint32_t first = c->n;
        rc = add_demands(c, under, slot->with, slot->nwith, step);
        if (!rc && counted && c->n > first)
            c->demands[first].slots = step;
    }
    return rc;
}

static int add_demands(struct backtrack *c, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    int rc = n > 0 && list->any ? weir_fail(c->m->err, WEIR_ELIMIT, "or_slots inside of resources that compete with others")
                                : WEIR_OK;

    for (uint32_t i = 0; !rc && i < n; i++) {
        const weir_resource *r = &list[i];
        weir_type host = r->slot ? weir_slot_host(c->m, under, r) : WEIR_NO_TYPE;
        if (r->slot && host == WEIR_NO_TYPE)
            rc = add_slots(c, under, r, saturating_mul(times, r->count.min), true);
        else
            rc = add_demand(c, under, r, times, host);
    }
    return rc;
}

/* ---- units ---- */

/* The allowed number of units nearest below what a demand could get, `got` more than it has. */
static int64_t allowed_more(const struct demand *d, int64_t got)
{
    int64_t count = weir_count_floor(&d->r->count, (d->units + got) / d->times);
    return count >= 0 && count * d->times > d->units ? count * d->times - d->units : 0;
}

/* Gives a demand its least (the first round), or what more it may have. 1, 0 or negative. */
static int place_units_of(struct backtrack *c, struct demand *d, int round)
{
    struct match *m = c->m;
    int64_t want = round ? d->most - d->units : demand_least(d), got;
    uint32_t npicks = m->npicks;

    if (d->candidates || want <= 0)
        return 1;
    if (d->subsystem != WEIR_NONE)
        return round || m->view == VIEW_CAPACITY ? 1 : weir_flow_allocate(m, d->under, d->subsystem, d->r, d->times);
    got = weir_allocate_some(m, d->under, d->r, want);
    if (got < 0 || (round == 0 && got < want))
        return got < 0 ? (int)got : 0;
    if (round && got != allowed_more(d, got)) { /* between two allowed amounts: ask for the lower one */
        m->npicks = npicks;
        got = allowed_more(d, got);
        got = got ? weir_allocate_some(m, d->under, d->r, got) : 0;
    }
    d->units += got > 0 ? got : 0;
    return got < 0 ? (int)got : 1;
}

/* Units last, where there is least choice first: what is deeper can only come from there. Every demand gets its least,
 * then what more it may have. */
static int place_units(struct backtrack *c)
{
    uint32_t npicks = c->m->npicks;
    int rc = 1;

    for (uint32_t i = 0; i < c->n; i++)
        if (!c->demands[i].candidates)
            c->demands[i].units = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t depth = WEIR_PATH_DEPTH + 1; depth-- > 0;)
            for (uint32_t i = 0; rc == 1 && i < c->n; i++)
                if (c->demands[i].depth == depth)
                    rc = place_units_of(c, &c->demands[i], round);
    c->refusals += rc == 0 ? (c->m->npicks - npicks) / 8 : 0; /* it is as much work */
    return rc;
}

/* ---- vertices ---- */

static int solve(struct backtrack *c, uint32_t i);
static int solve_from(struct backtrack *c, uint32_t i, uint32_t from);

/* Takes a candidate for `want` units: 1 with *units set and its picks or the demands inside it added, 0 or negative. */
static int take(struct backtrack *c, uint32_t i, weir_vertex v, int64_t want, int64_t *units)
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
    m->needs_known_met = !c->ordered;
    *units = weir_candidate_take(m, v, d.r, want);
    m->needs_known_met = false;
    return *units < 0 ? (int)*units : *units > 0;
}

/* What was picked and asked for since: begins or ends. */
static int touch(struct backtrack *c, uint32_t npicks, uint32_t n, int by)
{
    int rc = WEIR_OK;

    for (uint32_t i = npicks; !c->ordered && !rc && i < c->m->npicks; i++)
        rc = weir_symmetry_pick(&c->twins, &c->m->picks[i], by);
    for (uint32_t i = n; !c->ordered && !rc && i < c->n; i++)
        rc = weir_symmetry_demand(&c->twins, &c->demands[i], i, by);
    return rc ? weir_fail_nomem(c->m->err) : WEIR_OK;
}

static int set_units(struct backtrack *c, uint32_t i, int64_t units, int64_t last)
{
    struct demand *d = &c->demands[i];
    int rc = c->ordered ? WEIR_OK : weir_symmetry_demand(&c->twins, d, i, -1);

    d->units = units;
    d->last = last;
    if (!rc && !c->ordered)
        rc = weir_symmetry_demand(&c->twins, d, i, 1);
    return rc ? weir_fail_nomem(c->m->err) : WEIR_OK;
}

/* Whether units that are asked for right where v is can still be had. 1, 0 or negative. */
static int leaves_units(struct backtrack *c, uint32_t i, weir_vertex v)
{
    weir_vertex within = v;

    if (c->ordered)
        return 1;
    for (uint32_t k = 0; k < c->n; k++) {
        const struct demand *d = &c->demands[k];
        if (d->npools > 0 && d->n == 0 && d->under != WEIR_NONE && weir_vertex_within(c->m->g, within, d->under))
            within = d->under;
    }
    return weir_backtrack_assign(c, i, within);
}

static int too_many_tries(struct backtrack *c)
{
    c->gave_up = c->ordered;
    return c->ordered ? 0
                      : weir_fail(c->m->err, WEIR_ELIMIT,
                                  "the resources asked for side by side compete for the same vertices, and %d tries did not "
                                  "tell whether they fit; ask for them one below the other, or in two jobs",
                                  BACKTRACK_TRIES);
}

/* Takes a candidate and goes on. 1, 0 (and nothing taken) or negative. */
static int take_and_go_on(struct backtrack *c, uint32_t i, uint32_t k, int64_t want)
{
    struct match *m = c->m;
    uint32_t npicks = m->npicks, n = c->n;
    weir_vertex v = c->demands[i].candidates[k];
    int64_t had = c->demands[i].units, last = c->demands[i].last, units;
    int rc;

    if (++c->tries > BACKTRACK_TRIES)
        return too_many_tries(c);
    rc = take(c, i, v, want, &units);
    if (rc >= 0 && touch(c, npicks, n, 1))
        return WEIR_ENOMEM;
    if (rc == 1) {
        rc = set_units(c, i, had + units, units);
        rc = rc ? rc : leaves_units(c, i, v);
        rc = rc == 1 ? solve_from(c, i, k + 1) : rc;
    }
    if (rc == 0) {
        c->refusals++;
        if (touch(c, npicks, n, -1) || set_units(c, i, had, last))
            return WEIR_ENOMEM;
        m->npicks = npicks;
        drop_demands(c, n);
    }
    return rc;
}

/* Whether what a demand has is an allowed amount, but for what its last vertex gave beyond that; or units may make it one. */
static bool is_allowed(const struct demand *d)
{
    int64_t count = weir_count_floor(&d->r->count, d->units / d->times);

    if (d->npools > 0)
        return true;
    return count >= 0 && (count * d->times == d->units || d->units - d->last < count * d->times);
}

/* So many slots at most may lie in v, beside what was taken; or negative. */
static int64_t host_bound(struct backtrack *c, weir_vertex v, const weir_resource *slot, int64_t most)
{
    const weir_graph *g = c->m->g;
    const struct inner *in = inner_of(g, v);

    if (!weir_backtrack_within(c->m, slot->with, slot->nwith))
        return weir_slot_bound(c->m, v, slot, most);
    for (uint32_t i = 0; i < slot->nwith; i++) { /* how they fit beside each other is for later: so many there are */
        const weir_resource *r = &slot->with[i];
        weir_type t = weir_match_type(c->m, r);
        uint32_t cell = t == WEIR_NO_TYPE || !in || !in->cells ? 0 : type_cell(schema_at(g, in->schema), t);
        int64_t total = cell ? in->cells[cell + TYPE_TOTAL] : 0;
        if (r->count.min > 0 && weir_flow_find(g, r->type) == WEIR_NONE && total / r->count.min < most)
            most = total / r->count.min;
    }
    return most;
}

/* Tries the k-th candidate of a demand, for as many units as it can give and, where it can be, for fewer. 1, 0 or negative. */
static int try_candidate(struct backtrack *c, uint32_t i, uint32_t k)
{
    const struct demand *d = &c->demands[i];
    weir_vertex v = d->candidates[k];
    int64_t want = d->most - d->units, size = kind_of(c->m->g, v)->size;
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

/* Whether the k-th candidate is of no use, or one that is like it was refused; *key is for note_tried(). 1, 0 or negative. */
static int was_tried(struct backtrack *c, const struct tried *t, const struct demand *d, uint32_t k, uint64_t *key)
{
    if (c->ordered)
        return 0;
    if (d->behind[k] == d->behind[k + 1])
        return 1;
    if (weir_symmetry_key(&c->twins, d->candidates[k], key))
        return weir_fail_nomem(c->m->err);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->keys[i] == *key)
            return 1;
    return 0;
}

static int note_tried(struct backtrack *c, struct tried *t, uint64_t key)
{
    if (c->ordered || t->n == BACKTRACK_TRIED)
        return WEIR_OK;
    if (weir_array_reserve(&t->keys, &t->cap, (size_t)t->n + 1, sizeof *t->keys))
        return weir_fail_nomem(c->m->err);
    t->keys[t->n++] = key;
    return WEIR_OK;
}

/* Whether a demand is to look at its k-th candidate. */
static bool looks_at(const struct backtrack *c, const struct demand *d, uint32_t k)
{
    if (c->gave_up || k >= d->n || d->units >= d->most)
        return false;
    return c->ordered || d->npools > 0 || d->units + d->behind[k] >= demand_least(d);
}

/* Goes on with the i-th demand, which may take its candidates from `from` on. 1, 0 or negative. */
static int solve_from(struct backtrack *c, uint32_t i, uint32_t from)
{
    struct tried tried = {0};
    int rc = 0;

    for (uint32_t k = from; rc == 0 && looks_at(c, &c->demands[i], k); k++) {
        uint64_t key = 0;
        rc = was_tried(c, &tried, &c->demands[i], k, &key);
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

/* All vertices are chosen: units, and those of channels. 1, 0 or negative. */
static int share_units(struct backtrack *c)
{
    struct match *m = c->m;
    uint32_t npicks = m->npicks;
    int rc = weir_backtrack_assign_all(c);

    for (uint32_t i = 0; rc == 1 && i < c->n; i++) {
        const struct demand *d = &c->demands[i];
        if (d->subsystem != WEIR_NONE && m->view != VIEW_CAPACITY && demand_least(d) > 0)
            rc = weir_flow_allocate(m, d->under, d->subsystem, d->r, d->times);
    }
    if (rc == 0)
        m->npicks = npicks;
    return rc;
}

/* The units that the k-th candidate may give as things stand; negative: failed. */
static int64_t usable(struct backtrack *c, uint32_t i, uint32_t k)
{
    const struct demand d = c->demands[i];
    weir_vertex v = d.candidates[k];
    int64_t size = kind_of(c->m->g, v)->size, units;
    uint32_t npicks = c->m->npicks, n = c->n;
    int rc = take(c, i, v, is_hosted(&d) ? 1 : size, &units);

    if (rc == 1 && touch(c, npicks, n, 1))
        return WEIR_ENOMEM;
    if (rc == 1) {
        rc = leaves_units(c, i, v);
        if (touch(c, npicks, n, -1))
            return WEIR_ENOMEM;
    }
    c->m->npicks = npicks;
    drop_demands(c, n);
    if (rc <= 0)
        return rc;
    return is_hosted(&d) ? host_bound(c, v, d.r, d.most - d.units) : size;
}

/* Counts what may serve a demand, now that those before it are met. 1: it may be enough; 0: it is not; negative: failed. */
static int count_usable(struct backtrack *c, uint32_t i)
{
    int64_t sum = 0;

    for (uint32_t k = c->demands[i].n; k-- > 0;) {
        int64_t units = usable(c, i, k);
        if (units < 0)
            return (int)units;
        sum += units;
        c->demands[i].behind[k] = sum;
    }
    c->tries += c->demands[i].n / 16; /* it is as much work */
    return c->demands[i].npools > 0 || sum >= demand_least(&c->demands[i]);
}

/* The same, for what has vertices to choose from the i-th demand on. */
static int solve_all_ways(struct backtrack *c, uint32_t i)
{
    uint64_t state;
    int rc = weir_backtrack_state(c, i, &state) ? weir_fail_nomem(c->m->err) : 1;

    if (rc == 1)
        rc = weir_backtrack_refused(c, state) ? 0 : weir_backtrack_enough(c, i);
    if (rc == 1)
        rc = weir_backtrack_assign(c, i, WEIR_NONE);
    if (rc == 1)
        rc = count_usable(c, i);
    if (rc == 1)
        rc = solve_from(c, i, 0);
    if (rc == 0 && weir_backtrack_refuse(c, state))
        return WEIR_ENOMEM;
    return rc;
}

static int solve(struct backtrack *c, uint32_t i)
{
    while (i < c->n && (c->ordered ? !c->demands[i].candidates : c->demands[i].n == 0))
        i++;
    if (i == c->n)
        return c->ordered ? place_units(c) : share_units(c);
    return c->ordered ? solve_from(c, i, 0) : solve_all_ways(c, i);
}

static void end_contest(struct backtrack *c)
{
    drop_demands(c, 0);
    weir_mem_free(c->demands);
    weir_mem_free(c->states);
    weir_symmetry_end(&c->twins);
}

/* One time through: 1, 0 or negative; the picks are as they were unless it is 1. */
static int contest_once(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times, bool ordered)
{
    struct backtrack c = {.m = m, .ordered = ordered};
    uint32_t npicks = m->npicks;
    int rc;

    weir_symmetry_begin(&c.twins, m);
    rc = add_demands(&c, under, list, n, times);
    rc = rc ? rc : touch(&c, npicks, 0, 1);
    rc = rc ? rc : solve(&c, 0);
    if (rc != 1)
        m->npicks = npicks;
    for (uint32_t i = 0; rc == 1 && i < c.n; i++)
        weir_pick_slots(m, npicks, is_hosted(&c.demands[i]) ? c.demands[i].units : c.demands[i].slots);
    end_contest(&c);
    return rc;
}

int weir_allocate_backtracking(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    bool least = m->take_minimum;
    int rc;

    m->rivals = m->npicks;
    m->backtracked = true;
    rc = contest_once(m, under, list, n, times, true);
    if (rc == 0) { /* what may vary may have taken too much from the others, one what another one needs */
        m->rivals = m->npicks;
        m->take_minimum = true;
        rc = contest_once(m, under, list, n, times, false);
        m->take_minimum = least;
    }
    m->rivals = WEIR_NONE;
    return rc;
}
