/* contest.c - placing siblings that compete for the same vertices: two kinds of nodes, or nodes and cores beside them.
 *
 * What one of them takes may be what another one needs, so this backtracks: vertices with children first, one by one in
 * the policy's order, with what is asked for inside them, then units. It is exact, but it can take long; after CONTEST_TRIES
 * steps it gives up with WEIR_ELIMIT rather than say something untrue.
 */
#include <string.h>

#include "match.h"
#include "schema.h"

#define CONTEST_TRIES 20000
#define CONTEST_DEMANDS 256

/* So many units of a resource below a vertex, or so many slots in nodes. */
struct demand {
    const weir_resource *r;
    weir_vertex under;
    uint32_t depth; /* of `under` */
    int64_t times, units, most;
    int64_t last; /* units that the vertex taken last gave */
    weir_type host; /* r is a slot, the candidates are vertices of this type, the units slots; WEIR_NO_TYPE: it is none */
    int64_t slots; /* that this demand stands for, as the first resource of other slots */
    uint32_t subsystem; /* WEIR_NONE, or whose units these are (channel.c) */
    weir_vertex *candidates; /* NULL: units, placed last */
    uint32_t n, cap;
};

struct contest {
    struct match *m;
    struct demand *demands; /* those of the siblings, then those inside of what was chosen for them */
    uint32_t n, cap, tries;
};

static bool types_compete(const struct match *m, const char *a, const char *b)
{
    const weir_graph *g = m->g;
    weir_type x = weir_type_find(g, a), y = weir_type_find(g, b);

    if (x == WEIR_NO_TYPE || y == WEIR_NO_TYPE)
        return false;
    if (reads(m, WEIR_STRICT_LEVELS)) /* one is not looked for inside the other */
        return x == y;
    return x == y || weir_type_above(g, x, y) || weir_type_above(g, y, x);
}

/* The resources of a list with those that slots hold in their place; at most `max` are written. */
static uint32_t flatten(const weir_resource *list, uint32_t n, const weir_resource **out, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        const weir_resource *in = list[i].slot ? list[i].with : &list[i];
        uint32_t k = list[i].slot ? list[i].nwith : 1;
        for (uint32_t j = 0; j < k; j++, count++)
            if (count < max)
                out[count] = &in[j];
    }
    return count;
}

/* Whether r may take what b, or something inside that, asks for. */
static bool tree_meets(const struct match *m, const weir_resource *r, const weir_resource *b)
{
    weir_type x = r->slot ? WEIR_NO_TYPE : weir_type_find(m->g, r->type);
    weir_type y = b->slot ? WEIR_NO_TYPE : weir_type_find(m->g, b->type);

    if (x != WEIR_NO_TYPE && y != WEIR_NO_TYPE &&
        (x == y || (weir_candidate_idle(m, r) && weir_type_above(m->g, x, y)) ||
         (weir_candidate_idle(m, b) && weir_type_above(m->g, y, x))))
        return true;
    for (uint32_t i = 0; i < b->nwith; i++)
        if (tree_meets(m, r, &b->with[i]))
            return true;
    return false;
}

/* Where edges are followed, one vertex may be inside several others. */
static bool trees_meet(const struct match *m, const weir_resource *a, const weir_resource *b)
{
    if (tree_meets(m, a, b))
        return true;
    for (uint32_t i = 0; i < a->nwith; i++)
        if (trees_meet(m, &a->with[i], b))
            return true;
    return false;
}

static bool some_meet(const struct match *m, const weir_resource *list, uint32_t n)
{
    for (uint32_t i = 0; m->links != WEIR_NONE && i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (trees_meet(m, &list[i], &list[k]))
                return true;
    return false;
}

bool weir_place_competes(const struct match *m, const weir_resource *list, uint32_t n)
{
    const weir_resource *flat[CONTEST_DEMANDS];
    uint32_t count;

    if (some_meet(m, list, n))
        return true;
    if (n == 1 && (!list->slot || list->nwith == 1))
        return false;
    count = flatten(list, n, flat, CONTEST_DEMANDS);
    if (count > CONTEST_DEMANDS)
        return true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (types_compete(m, flat[i]->type, flat[k]->type))
                return true;
    return false;
}

/* ---- demands ---- */

static void drop_demands(struct contest *c, uint32_t n)
{
    while (c->n > n)
        weir_mem_free(c->demands[--c->n].candidates);
}

static bool is_hosted(const struct demand *d)
{
    return d->host != WEIR_NO_TYPE;
}

static int list_candidates(struct contest *c, struct demand *d)
{
    struct search s;
    weir_vertex v;
    int rc = is_hosted(d) ? weir_search_hosts(&s, c->m, d->under, d->r, d->r->with, d->host)
                          : weir_search_begin(&s, c->m, d->under, d->r, weir_candidate_idle(c->m, d->r));

    if (rc)
        return rc;
    if (weir_array_reserve(&d->candidates, &d->cap, 8, sizeof *d->candidates))
        rc = weir_fail_nomem(c->m->err);
    while (!rc && (rc = weir_search_next(&s, &v)) > 0) {
        rc = weir_array_reserve(&d->candidates, &d->cap, (size_t)d->n + 1, sizeof *d->candidates)
                 ? weir_fail_nomem(c->m->err)
                 : WEIR_OK;
        if (!rc)
            d->candidates[d->n++] = v;
    }
    weir_search_end(&s);
    return rc;
}

static uint32_t depth_of(const weir_graph *g, weir_vertex v)
{
    uint32_t depth = 0;
    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        depth++;
    return depth;
}

/* Whether some vertices of a type are only given as a whole: then it matters which of them units come from. */
static bool some_whole(const weir_graph *g, weir_type t)
{
    for (uint32_t i = 0; g->whole_kinds && t != WEIR_NO_TYPE && i < g->nkinds; i++)
        if (g->kinds[i].type == t && g->kinds[i].exclusive)
            return true;
    return false;
}

static int add_demand(struct contest *c, weir_vertex under, const weir_resource *r, int64_t times, weir_type host)
{
    weir_type t = weir_type_find(c->m->g, r->type);
    struct demand *d;

    if (c->n >= CONTEST_DEMANDS)
        return weir_fail(c->m->err, WEIR_ELIMIT, "more than %d resources compete with each other", CONTEST_DEMANDS);
    if (weir_array_reserve(&c->demands, &c->cap, (size_t)c->n + 1, sizeof *c->demands))
        return weir_fail_nomem(c->m->err);
    d = &c->demands[c->n++];
    *d = (struct demand){.r = r, .under = under, .depth = depth_of(c->m->g, under), .times = times, .host = host};
    d->most = saturating_mul(count_most(c->m, &r->count), times);
    d->subsystem = weir_channel_find(c->m->g, r->type);
    if (is_hosted(d) || weir_candidate_idle(c->m, r) || r->exclusive == WEIR_EXCLUSIVE_NO || some_whole(c->m->g, t) ||
        (t != WEIR_NO_TYPE && (c->m->g->type_flags[t] & TYPE_HAS_KIDS)))
        return list_candidates(c, d);
    return WEIR_OK;
}

static int add_demands(struct contest *c, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

/* What so many slots hold: together, or each for itself where they cannot share pools. `counted`: these demands stand for the
 * slots. */
static int add_slots(struct contest *c, weir_vertex under, const weir_resource *slot, int64_t slots, bool counted)
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

static int add_demands(struct contest *c, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
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
static int place_units_of(struct contest *c, struct demand *d, int round)
{
    struct match *m = c->m;
    int64_t want = round ? d->most - d->units : saturating_mul(d->r->count.min, d->times), got;
    uint32_t npicks = m->npicks;

    if (d->candidates || want <= 0)
        return 1;
    if (d->subsystem != WEIR_NONE)
        return round || m->view == VIEW_CAPACITY ? 1 : weir_channel_place(m, d->under, d->subsystem, d->r, d->times);
    got = weir_place_some(m, d->under, d->r, want);
    if (got < 0 || (round == 0 && got < want))
        return got < 0 ? (int)got : 0;
    if (round && got != allowed_more(d, got)) { /* between two allowed amounts: ask for the lower one */
        m->npicks = npicks;
        got = allowed_more(d, got);
        got = got ? weir_place_some(m, d->under, d->r, got) : 0;
    }
    d->units += got > 0 ? got : 0;
    return got < 0 ? (int)got : 1;
}

/* Units last, where there is least choice first: what is deeper can only come from there. Every demand gets its least,
 * then what more it may have. */
static int place_units(struct contest *c)
{
    int rc = 1;

    for (uint32_t i = 0; i < c->n; i++)
        if (!c->demands[i].candidates)
            c->demands[i].units = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t depth = WEIR_PATH_DEPTH + 1; depth-- > 0;)
            for (uint32_t i = 0; rc == 1 && i < c->n; i++)
                if (c->demands[i].depth == depth)
                    rc = place_units_of(c, &c->demands[i], round);
    return rc;
}

/* ---- vertices ---- */

static int solve(struct contest *c, uint32_t i);
static int solve_from(struct contest *c, uint32_t i, uint32_t from);

/* Takes a candidate for `want` units: 1 with *units set and its picks or the demands inside it added, 0 or negative. */
static int take(struct contest *c, uint32_t i, weir_vertex v, int64_t want, int64_t *units)
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
    *units = weir_candidate_take(m, v, d.r, want);
    return *units < 0 ? (int)*units : *units > 0;
}

/* Takes a candidate and goes on. 1, 0 (and nothing taken) or negative. */
static int take_and_go_on(struct contest *c, uint32_t i, uint32_t k, int64_t want)
{
    struct match *m = c->m;
    uint32_t npicks = m->npicks, n = c->n;
    int64_t had = c->demands[i].units, last = c->demands[i].last, units;
    int rc;

    if (++c->tries > CONTEST_TRIES)
        return weir_fail(m->err, WEIR_ELIMIT,
                         "the resources asked for side by side compete for the same vertices, and %d tries did not "
                         "tell whether they fit; ask for them one below the other, or in two jobs",
                         CONTEST_TRIES);
    rc = take(c, i, c->demands[i].candidates[k], want, &units);
    if (rc == 1) {
        c->demands[i].units += units;
        c->demands[i].last = units;
        rc = solve_from(c, i, k + 1);
    }
    if (rc == 0) {
        c->demands[i].units = had;
        c->demands[i].last = last;
        m->npicks = npicks;
        drop_demands(c, n);
    }
    return rc;
}

/* Whether what a demand has is an allowed amount, but for what its last vertex gave beyond that. */
static bool is_allowed(const struct demand *d)
{
    int64_t count = weir_count_floor(&d->r->count, d->units / d->times);
    return count >= 0 && (count * d->times == d->units || d->units - d->last < count * d->times);
}

/* Goes on with the i-th demand, which may take its candidates from `from` on. 1, 0 or negative. */
static int solve_from(struct contest *c, uint32_t i, uint32_t from)
{
    for (uint32_t k = from; c->demands[i].units < c->demands[i].most && k < c->demands[i].n; k++) {
        weir_vertex v = c->demands[i].candidates[k];
        int64_t want = c->demands[i].most - c->demands[i].units, size = kind_of(c->m->g, v)->size;
        bool hosted = is_hosted(&c->demands[i]), fewer = hosted || weir_candidate_divisible(c->m, v, c->demands[i].r);
        int rc = 0;
        if (hosted)
            want = weir_slot_bound(c->m, v, c->demands[i].r, want);
        else if (fewer && want > size)
            want = size;
        if (want < 0)
            return (int)want;
        for (; rc == 0 && want > 0; want = fewer ? want - 1 : 0)
            rc = take_and_go_on(c, i, k, want);
        if (rc)
            return rc;
    }
    return is_allowed(&c->demands[i]) ? solve(c, i + 1) : 0;
}

static int solve(struct contest *c, uint32_t i)
{
    while (i < c->n && !c->demands[i].candidates)
        i++;
    return i < c->n ? solve_from(c, i, 0) : place_units(c);
}

/* One try: 1, 0 or negative; the picks are as they were unless it is 1. */
static int contest_once(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    struct contest c = {.m = m};
    uint32_t npicks = m->npicks;
    int rc = add_demands(&c, under, list, n, times);

    rc = rc ? rc : solve(&c, 0);
    if (rc != 1)
        m->npicks = npicks;
    for (uint32_t i = 0; rc == 1 && i < c.n; i++)
        weir_pick_slots(m, npicks, is_hosted(&c.demands[i]) ? c.demands[i].units : c.demands[i].slots);
    drop_demands(&c, 0);
    weir_mem_free(c.demands);
    return rc;
}

int weir_place_rivals(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    bool least = m->least;
    int rc;

    m->rivals = m->npicks;
    m->contested = true;
    rc = contest_once(m, under, list, n, times);
    if (rc == 0 && !least) { /* what may vary may have taken too much from the others */
        m->least = true;
        rc = contest_once(m, under, list, n, times);
        m->least = least;
    }
    m->rivals = WEIR_NONE;
    return rc;
}
