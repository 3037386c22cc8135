/* backtrack_bound.c - an upper bound: whether there can be enough units for demands that compete, whichever vertices
 * are chosen. A candidate taken as a whole uses up the units inside; the candidates with the fewest are counted. A
 * candidate passed through uses up at least the units asked for inside.
 */
#include <stdlib.h>
#include <string.h>

#include "match/backtrack.h"
#include "match/match.h"

int64_t weir_backtrack_room(const struct backtrack *c, weir_vertex v)
{
    struct match *m = c->m;
    const struct symmetry *own = weir_symmetry_find(&c->symmetries, v);
    uint32_t conflicts_from = m->conflicts_from;
    int64_t room;

    for (weir_vertex up = v; up != WEIR_NONE; up = vertex_at(m->g, up)->parent) {
        const struct symmetry *at = weir_symmetry_find(&c->symmetries, up);
        if (at && at->whole_uses)
            return 0;
    }
    if (!own || own->uses == 0)
        m->conflicts_from = m->npicks; /* no pick is at or below v */
    room = weir_candidate_room(m, v);
    m->conflicts_from = conflicts_from;
    return room;
}

/* Whether all vertices that serve r below `under` are among the pools of a demand. */
static bool is_among(const struct backtrack *c, const struct demand *d, const weir_resource *r, weir_vertex under)
{
    return strcmp(d->r->type, r->type) == 0 && (!d->r->unit[0] || strcmp(d->r->unit, r->unit) == 0) &&
           (d->under == WEIR_NONE || (under != WEIR_NONE && weir_vertex_within(c->m->g, under, d->under)));
}

/* Fewest units of the pools of d that resources below `under` take, each `times` times. */
static int64_t least_units(const struct backtrack *c, const struct demand *d, weir_vertex under,
                           const weir_resource *list, uint32_t n, int64_t times)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        const weir_resource *r = &list[i];
        int64_t all = saturating_mul(r->count.min, times);
        if (r->slot || (r->nwith > 0 && !r->takes))
            sum += least_units(c, d, under, r->with, r->nwith, r->slot ? all : times);
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

/* Fewest counted units in as many candidates as a demand still needs; or negative. */
static int64_t least_within(struct backtrack *c, const struct demand *d)
{
    int64_t *units = weir_mem_alloc((size_t)d->n * sizeof *units + 1);
    int64_t sum = 0, missing = demand_least(d) - d->units;

    if (!units)
        return weir_fail_nomem(c->m->err);
    for (uint32_t k = 0; k < d->n; k++) {
        const struct symmetry *at = weir_symmetry_find(&c->symmetries, d->candidates[k]);
        units[k] = at && at->round == c->symmetries.round ? at->units : 0;
    }
    qsort(units, d->n, sizeof *units, by_amount);
    for (uint32_t k = 0; k < d->n && (int64_t)k < missing; k++)
        sum += units[k];
    weir_mem_free(units);
    return sum;
}

/* Fewest units that demand d takes of the pools of a demand, which may be d; or negative. */
static int64_t units_taken(struct backtrack *c, const struct demand *d, const struct demand *pools, bool open)
{
    int64_t missing = demand_least(d) - d->units;

    if (missing <= 0 || d->subsystem != WEIR_NONE)
        return 0;
    if (d->n == 0 || !open)
        return is_among(c, pools, d->r, d->under) && !is_hosted(d) ? missing : 0;
    if (d->npools > 0 || d->multi_unit) /* the number of vertices taken by d is not known */
        return 0;
    if (d->all_whole)
        return least_within(c, d);
    return least_units(c, pools, d->under, d->r->with, d->r->nwith, missing);
}

/* Whether the pools of a demand have enough units for all demands. Returns 1, 0 or negative. */
static int enough_for(struct backtrack *c, const struct demand *d, uint32_t open)
{
    int64_t have = 0, need = 0;

    c->symmetries.round++;
    for (uint32_t k = 0; k < d->npools; k++) {
        int64_t room = weir_backtrack_room(c, d->pools[k]);
        have += room;
        if (room > 0 && weir_symmetry_count(&c->symmetries, d->pools[k], room))
            return weir_fail_nomem(c->m->err);
    }
    for (uint32_t i = 0; i < c->n && need <= have; i++) {
        int64_t more = units_taken(c, &c->demands[i], d, i >= open);
        if (more < 0)
            return (int)more;
        need += more;
    }
    c->tries += d->npools / 128;
    return need <= have;
}

/* Whether all demands for the type of d take units of pools, if anything. */
static bool only_pools(const struct match *m, const struct demand *d)
{
    weir_type t = weir_type_find(m->g, d->r->type);
    return d->npools > 0 && d->n == 0 && t != WEIR_NO_TYPE && !(m->g->types[t].flags & TYPE_HAS_KIDS);
}

int weir_backtrack_enough(struct backtrack *c, uint32_t open)
{
    const struct match *m = c->m;
    int rc = 1;

    if (m->policy->prune || m->policy->evaluate) /* the set of pools depends on the demand */
        return 1;
    for (uint32_t i = 0; rc == 1 && i < c->n; i++)
        if (only_pools(m, &c->demands[i]))
            rc = enough_for(c, &c->demands[i], open);
    return rc;
}
