/* contest.c - placing siblings that compete for the same vertices: two kinds of nodes, or nodes and cores beside them.
 *
 * What one of them takes may be what another one needs, so this backtracks: vertices with children first, one by one in
 * the policy's order, then units. It is exact, but it can take long; after CONTEST_TRIES steps it gives up with
 * WEIR_ELIMIT rather than say something untrue.
 */
#include <string.h>

#include "match.h"
#include "schema.h"

#define CONTEST_TRIES 20000
#define CONTEST_DEMANDS 256

struct demand {
    const weir_resource *r;
    int64_t times, units, most;
    bool hosted; /* r is a slot, the candidates are nodes, the units slots */
    uint32_t subsystem; /* WEIR_NONE, or whose units these are (channel.c) */
    weir_vertex *candidates; /* NULL: units, placed last */
    uint32_t n, cap;
};

struct contest {
    struct match *m;
    weir_vertex under;
    struct demand *demands;
    uint32_t n, tries;
};

static bool types_compete(const weir_graph *g, const char *a, const char *b)
{
    weir_type x = weir_type_find(g, a), y = weir_type_find(g, b);

    if (x == WEIR_NO_TYPE || y == WEIR_NO_TYPE)
        return false;
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

bool weir_place_competes(const struct match *m, const weir_resource *list, uint32_t n)
{
    const weir_resource *flat[CONTEST_DEMANDS];
    uint32_t count;

    if (n == 1 && (!list->slot || list->nwith == 1))
        return false;
    count = flatten(list, n, flat, CONTEST_DEMANDS);
    if (count > CONTEST_DEMANDS)
        return true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (types_compete(m->g, flat[i]->type, flat[k]->type))
                return true;
    return false;
}

/* ---- units ---- */

/* Every demand for units gets its least, then what more it may have. */
static int place_units(struct contest *c)
{
    struct match *m = c->m;

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < c->n; i++) {
            struct demand *d = &c->demands[i];
            int64_t want = round ? d->most - d->units : saturating_mul(d->r->count.min, d->times), got, whole;
            uint32_t npicks = m->npicks;
            if (d->candidates || want <= 0)
                continue;
            if (d->subsystem != WEIR_NONE) {
                int rc = round ? 1 : weir_channel_place(m, c->under, d->subsystem, d->r, d->times);
                if (rc != 1)
                    return rc;
                continue;
            }
            got = weir_place_some(m, c->under, d->r, want);
            if (got < 0)
                return (int)got;
            whole = saturating_mul(weir_count_floor(&d->r->count, (d->units + got) / d->times), d->times);
            if (round == 0 && got < want)
                return 0;
            if (whole != d->units + got && round) { /* an amount between those allowed: ask for that much */
                m->npicks = npicks;
                got = whole > d->units ? weir_place_some(m, c->under, d->r, whole - d->units) : 0;
            }
            d->units += got;
        }
    return 1;
}

/* ---- vertices ---- */

static int solve(struct contest *c, uint32_t i);

static int solve_from(struct contest *c, uint32_t i, uint32_t from);

/* Takes `units` of a candidate and goes on. 1, 0 (and nothing taken) or negative. */
static int take_and_go_on(struct contest *c, uint32_t i, uint32_t k, int64_t units)
{
    struct demand *d = &c->demands[i];
    struct match *m = c->m;
    uint32_t npicks = m->npicks;
    int64_t had = d->units;
    int rc;

    if (++c->tries > CONTEST_TRIES)
        return weir_fail(m->err, WEIR_ELIMIT,
                         "the resources asked for side by side compete for the same vertices, and %d tries did not "
                         "tell whether they fit; ask for them one below the other, or in two jobs",
                         CONTEST_TRIES);
    if (d->hosted) {
        rc = weir_place(m, d->candidates[k], d->r->with, d->r->nwith, units);
        units = rc == 1 ? units : rc;
    } else {
        units = weir_candidate_take(m, d->candidates[k], d->r, units);
    }
    if (units <= 0)
        return (int)units;
    d->units += units;
    rc = solve_from(c, i, k + 1);
    if (rc == 0) {
        d->units = had;
        m->npicks = npicks;
    }
    return rc;
}

/* Goes on with the i-th demand, which may take its candidates from `from` on. 1, 0 or negative. */
static int solve_from(struct contest *c, uint32_t i, uint32_t from)
{
    struct demand *d = &c->demands[i];

    for (uint32_t k = from; d->units < d->most && k < d->n; k++) {
        int64_t want = d->most - d->units;
        int rc = 0;
        if (d->hosted)
            want = weir_slot_bound(c->m, d->candidates[k], d->r, want);
        if (want < 0)
            return (int)want;
        for (; rc == 0 && want > 0; want = d->hosted ? want - 1 : 0)
            rc = take_and_go_on(c, i, k, want);
        if (rc)
            return rc;
    }
    if (saturating_mul(weir_count_floor(&d->r->count, d->units / d->times), d->times) != d->units)
        return 0;
    return solve(c, i + 1);
}

static int solve(struct contest *c, uint32_t i)
{
    while (i < c->n && !c->demands[i].candidates)
        i++;
    if (i < c->n)
        return solve_from(c, i, 0);
    for (i = 0; i < c->n; i++)
        if (!c->demands[i].candidates)
            c->demands[i].units = 0;
    return place_units(c);
}

static int list_candidates(struct contest *c, struct demand *d)
{
    struct search s;
    weir_vertex v;
    int rc = d->hosted ? weir_search_hosts(&s, c->m, c->under, d->r, d->r->with, c->m->node_type)
                       : weir_search_begin(&s, c->m, c->under, d->r, weir_candidate_idle(c->m, d->r));

    if (rc)
        return rc;
    d->cap = 0;
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

static int add_demands(struct contest *c, const weir_resource *list, uint32_t n, int64_t times)
{
    for (uint32_t i = 0; i < n; i++) {
        struct demand *d = &c->demands[c->n];
        weir_type t = weir_type_find(c->m->g, list[i].type);
        int rc = WEIR_OK;
        d->hosted = list[i].slot && weir_slot_hosted(c->m, c->under, &list[i]);
        if (list[i].slot && !d->hosted) {
            rc = add_demands(c, list[i].with, list[i].nwith, saturating_mul(times, list[i].count.min));
        } else {
            d->r = &list[i];
            d->times = times;
            d->subsystem = weir_channel_find(c->m->g, list[i].type);
            d->most = saturating_mul(count_most(c->m, &list[i].count), times);
            c->n++;
            if (d->hosted || (t != WEIR_NO_TYPE && (c->m->g->type_flags[t] & TYPE_HAS_KIDS)))
                rc = list_candidates(c, d);
        }
        if (rc)
            return rc;
    }
    return WEIR_OK;
}

/* One try: 1, 0 or negative; the picks are as they were unless it is 1. */
static int contest_once(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    struct contest c = {m, under, NULL, 0, 0};
    uint32_t npicks = m->npicks;
    int rc;

    c.demands = weir_mem_zalloc(flatten(list, n, NULL, 0), sizeof *c.demands);
    if (!c.demands)
        return weir_fail_nomem(m->err);
    rc = add_demands(&c, list, n, times);
    rc = rc ? rc : solve(&c, 0);
    if (rc != 1)
        m->npicks = npicks;
    for (uint32_t i = 0; i < c.n; i++)
        weir_mem_free(c.demands[i].candidates);
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
