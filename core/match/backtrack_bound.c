/* backtrack_bound.c - whether there can be enough units for demands that compete, whichever vertices they choose. What is taken as a
 * whole has units in it, the fewest of which are counted; what is passed through takes at least what is asked for inside it.
 */
#include <stdlib.h>
#include <string.h>

#include "match/backtrack.h"
#include "match/match.h"

int64_t weir_backtrack_room(const struct backtrack *c, weir_vertex v)
{
    struct match *m = c->m;
    const struct symmetry *own = weir_symmetry_find(&c->twins, v);
    uint32_t rivals = m->rivals;
    int64_t room;

    for (weir_vertex up = v; up != WEIR_NONE; up = vertex_at(m->g, up)->parent) {
        const struct symmetry *at = weir_symmetry_find(&c->twins, up);
        if (at && at->wholes)
            return 0;
    }
    if (!own || own->touched == 0)
        m->rivals = m->npicks; /* none of them is about v */
    room = weir_candidate_room(m, v);
    m->rivals = rivals;
    return room;
}

/* Whether all that serves r below `under` is among the pools of a demand. */
static bool is_among(const struct backtrack *c, const struct demand *d, const weir_resource *r, weir_vertex under)
{
    return strcmp(d->r->type, r->type) == 0 && (!d->r->unit[0] || strcmp(d->r->unit, r->unit) == 0) &&
           (d->under == WEIR_NONE || (under != WEIR_NONE && weir_vertex_within(c->m->g, under, d->under)));
}

/* Units of these pools that resources below `under` take at least, each so many times. */
static int64_t taken_by(const struct backtrack *c, const struct demand *d, weir_vertex under, const weir_resource *list, uint32_t n,
                        int64_t times)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        const weir_resource *r = &list[i];
        int64_t all = saturating_mul(r->count.min, times);
        if (r->slot || (r->nwith > 0 && !r->takes))
            sum += taken_by(c, d, under, r->with, r->nwith, r->slot ? all : times);
        else if (r->nwith == 0 && r->exclusive != WEIR_EXCLUSIVE_NO && is_among(c, d, r, under))
            sum += all;
        if (sum >= WEIR_FOREVER / 2)
            return WEIR_FOREVER / 2;
    }
    return sum;
}

static int by_amount(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The fewest units that were counted in as many candidates of a demand as it needs; or negative. */
static int64_t within_least(struct backtrack *c, const struct demand *d)
{
    int64_t *units = weir_mem_alloc((size_t)d->n * sizeof *units + 1);
    int64_t sum = 0, missing = demand_least(d) - d->units;

    if (!units)
        return weir_fail_nomem(c->m->err);
    for (uint32_t k = 0; k < d->n; k++) {
        const struct symmetry *at = weir_symmetry_find(&c->twins, d->candidates[k]);
        units[k] = at && at->round == c->twins.round ? at->units : 0;
    }
    qsort(units, d->n, sizeof *units, by_amount);
    for (uint32_t k = 0; k < d->n && (int64_t)k < missing; k++)
        sum += units[k];
    weir_mem_free(units);
    return sum;
}

/* What a demand takes at least of the pools of another one (or of its own), or negative. */
static int64_t takes(struct backtrack *c, const struct demand *d, const struct demand *pools, bool open)
{
    int64_t missing = demand_least(d) - d->units;

    if (missing <= 0 || d->subsystem != WEIR_NONE)
        return 0;
    if (d->n == 0 || !open)
        return is_among(c, pools, d->r, d->under) && !is_hosted(d) ? missing : 0;
    if (d->npools > 0 || d->sized) /* how many vertices it takes is not known */
        return 0;
    if (d->whole)
        return within_least(c, d);
    return taken_by(c, pools, d->under, d->r->with, d->r->nwith, missing);
}

/* 1, 0 or negative. */
static int enough_for(struct backtrack *c, const struct demand *d, uint32_t open)
{
    int64_t have = 0, need = 0;

    c->twins.round++;
    for (uint32_t k = 0; k < d->npools; k++) {
        int64_t room = weir_backtrack_room(c, d->pools[k]);
        have += room;
        if (room > 0 && weir_symmetry_count(&c->twins, d->pools[k], room))
            return weir_fail_nomem(c->m->err);
    }
    for (uint32_t i = 0; i < c->n && need <= have; i++) {
        int64_t more = takes(c, &c->demands[i], d, i >= open);
        if (more < 0)
            return (int)more;
        need += more;
    }
    c->tries += d->npools / 128;
    return need <= have;
}

/* Whether all that asks for the type of a demand takes units of pools, if it takes anything. */
static bool only_pools(const struct match *m, const struct demand *d)
{
    weir_type t = weir_type_find(m->g, d->r->type);
    return d->npools > 0 && d->n == 0 && t != WEIR_NO_TYPE && !(m->g->types[t].flags & TYPE_HAS_KIDS);
}

int weir_backtrack_enough(struct backtrack *c, uint32_t open)
{
    const struct match *m = c->m;
    int rc = 1;

    if (m->policy->prune || m->policy->evaluate) /* what pools there are depends on who asks */
        return 1;
    for (uint32_t i = 0; rc == 1 && i < c->n; i++)
        if (only_pools(m, &c->demands[i]))
            rc = enough_for(c, &c->demands[i], open);
    return rc;
}
