/* competing_units.c - divides units of pools among demands, each with a set of pools: below a vertex, with the right
 * unit. Serving demand by demand may exhaust a pool needed by a later demand. So units are moved between demands until
 * all demands are met or no move is left (a maximal flow, found by shortest augmenting paths).
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "match/candidate/competing.h"
#include "match/match.h"

/* The right of a demand to units of a pool, and the units taken so far. */
struct claim {
    weir_vertex v;
    uint32_t demand, pool;
    uint32_t next; /* next claim to the pool */
    int64_t units;
};

struct pool_left {
    weir_vertex v;
    int64_t left;
    uint32_t claims; /* the first claim */
    uint32_t seen;   /* round of the last visit */
};

/* A step of a path: a demand gives up units of claim `gives`, so that the previous demand gets units by claim
 * `takes`. */
struct augment_step {
    uint32_t gives, takes; /* claims */
    uint32_t seen;
};

struct assignment {
    struct competing *c;
    struct claim *claims; /* by demand, in the order of its pools */
    struct pool_left *pools;
    uint32_t nclaims, npools, round;
    uint32_t *first;  /* by demand: the first claim; an entry more at the end */
    int64_t *missing; /* by demand */
    struct augment_step *steps;
    uint32_t *queue;
};

static int64_t missing_of(const struct demand *d, bool open)
{
    int64_t smallest = demand_minimum(d);

    if (d->subsystem != WEIR_NONE || d->direct || (open && d->n > 0) || d->units >= smallest)
        return 0;
    return smallest - d->units;
}

static bool is_within(const struct competing *c, const struct demand *d, weir_vertex within)
{
    return within == WEIR_NONE || (d->under != WEIR_NONE && weir_vertex_within(c->m->g, d->under, within));
}

/* ---- claims and pools ---- */

WEIR_COMPARE_BY(by_vertex, struct pool_left, v)

static uint32_t find_pool(const struct assignment *s, weir_vertex v)
{
    struct pool_left key = {.v = v};
    const struct pool_left *at = bsearch(&key, s->pools, s->npools, sizeof *s->pools, by_vertex);
    return (uint32_t)(at - s->pools);
}

/* Units of a pool not taken by picks. O(d), and O(picks) where picks or demands are at the pool */
static int64_t units_left(const struct competing *c, weir_vertex v)
{
    struct match *m = c->m;
    const struct symmetry *own = weir_symmetry_find(&c->symmetries, v);
    struct scope mark = scope_mark(m);
    int64_t left;

    for (weir_vertex up = v; up != WEIR_NONE; up = vertex_at(m->g, up)->parent) {
        const struct symmetry *at = weir_symmetry_find(&c->symmetries, up);
        if (at && at->whole_uses)
            return 0;
    }
    if (!own || own->uses == 0)
        m->scope.conflicts_from = m->scope.npicks; /* no pick is at or below v */
    left = weir_candidate_units_left(m, v);
    scope_leave(m, &mark);
    return left;
}

/* Lists all claimed pools, each once, with the units left. */
static void list_pools(struct assignment *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->nclaims; i++)
        s->pools[i] = (struct pool_left){.v = s->claims[i].v, .claims = WEIR_NONE};
    qsort(s->pools, s->nclaims, sizeof *s->pools, by_vertex);
    for (uint32_t i = 0; i < s->nclaims; i++)
        if (i == 0 || s->pools[i].v != s->pools[kept - 1].v)
            s->pools[kept++] = s->pools[i];
    s->npools = kept;
    for (uint32_t i = 0; i < s->npools; i++)
        s->pools[i].left = units_left(s->c, s->pools[i].v);
    for (uint32_t i = s->nclaims; i-- > 0;) {
        struct claim *q = &s->claims[i];
        q->pool = find_pool(s, q->v);
        q->next = s->pools[q->pool].claims;
        s->pools[q->pool].claims = i;
    }
}

static void list_claims(struct assignment *s)
{
    for (uint32_t d = 0; d < s->c->n; d++) {
        const struct demand *demand = &s->c->demands[d];
        s->first[d] = s->nclaims;
        for (uint32_t k = 0; s->missing[d] && k < demand->npools; k++)
            s->claims[s->nclaims++] = (struct claim){.v = demand->pools[k], .demand = d};
    }
    s->first[s->c->n] = s->nclaims;
}

static void end_assignment(struct assignment *s)
{
    WEIR_FREE(s->claims, s->pools, s->first, s->missing, s->steps, s->queue);
}

/* Returns 1 if units are missing, 0 if all demands are met, or negative. */
static int begin_assignment(struct assignment *s, uint32_t open, weir_vertex within)
{
    struct competing *c = s->c;
    size_t n = 0;
    bool some = false;

    s->missing = weir_mem_zalloc((size_t)c->n + 1, sizeof *s->missing);
    for (uint32_t d = 0; s->missing && d < c->n; d++) {
        s->missing[d] = is_within(c, &c->demands[d], within) ? missing_of(&c->demands[d], d >= open) : 0;
        n += s->missing[d] ? c->demands[d].npools : 0;
        some |= s->missing[d] > 0;
    }
    if (s->missing && !some)
        return 0;
    s->claims = weir_mem_zalloc(n + 1, sizeof *s->claims);
    s->pools = weir_mem_zalloc(n + 1, sizeof *s->pools);
    s->first = weir_mem_zalloc((size_t)c->n + 1, sizeof *s->first);
    s->steps = weir_mem_zalloc((size_t)c->n + 1, sizeof *s->steps);
    s->queue = weir_mem_zalloc((size_t)c->n + 1, sizeof *s->queue);
    if (!s->missing || !s->claims || !s->pools || !s->first || !s->steps || !s->queue)
        return weir_fail_nomem(c->m->err);
    list_claims(s);
    list_pools(s);
    return 1;
}

/* ---- moving ---- */

/* Appends to the queue all demands with units of an exhausted pool, as each could give up some. */
static void queue_holders(struct assignment *s, uint32_t claim, uint32_t *end)
{
    for (uint32_t i = s->pools[s->claims[claim].pool].claims; i != WEIR_NONE; i = s->claims[i].next) {
        uint32_t other = s->claims[i].demand;
        if (s->claims[i].units == 0 || s->steps[other].seen == s->round)
            continue;
        s->steps[other] = (struct augment_step){i, claim, s->round};
        s->queue[(*end)++] = other;
    }
}

/* The last claim of a path from demand d to a pool with units left; WEIR_NONE: no path exists. */
static uint32_t find_path(struct assignment *s, uint32_t d)
{
    uint32_t end = 0;

    s->round++;
    s->steps[d] = (struct augment_step){WEIR_NONE, WEIR_NONE, s->round};
    s->queue[end++] = d;
    for (uint32_t at = 0; at < end; at++) {
        uint32_t i = s->first[s->queue[at]], last = s->first[s->queue[at] + 1];
        for (; i < last; i++) {
            struct pool_left *p = &s->pools[s->claims[i].pool];
            if (p->left > 0)
                return i;
            if (p->seen != s->round)
                queue_holders(s, i, &end);
            p->seen = s->round;
        }
    }
    return WEIR_NONE;
}

/* Moves as many units as possible along the path to a claim. */
static void move(struct assignment *s, uint32_t d, uint32_t claim)
{
    struct pool_left *p = &s->pools[s->claims[claim].pool];
    int64_t units = s->missing[d] < p->left ? s->missing[d] : p->left;

    for (uint32_t at = s->claims[claim].demand; at != d; at = s->claims[s->steps[at].takes].demand)
        if (s->claims[s->steps[at].gives].units < units)
            units = s->claims[s->steps[at].gives].units;
    p->left -= units;
    s->missing[d] -= units;
    s->claims[claim].units += units;
    for (uint32_t at = s->claims[claim].demand; at != d; at = s->claims[s->steps[at].takes].demand) {
        s->claims[s->steps[at].gives].units -= units;
        s->claims[s->steps[at].takes].units += units;
    }
}

/* Assigns units to all demands, deepest first, as deep demands have the least choice. False: some units stay
 * missing. */
static bool assign(struct assignment *s)
{
    const struct competing *c = s->c;
    uint32_t deepest = 0;

    for (uint32_t d = 0; d < c->n; d++)
        deepest = c->demands[d].depth > deepest ? c->demands[d].depth : deepest;
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (uint32_t d = 0; d < c->n; d++)
            while (c->demands[d].depth == depth && s->missing[d] > 0) {
                uint32_t claim = find_path(s, d);
                if (claim == WEIR_NONE)
                    return false;
                move(s, d, claim);
            }
    return true;
}

static int pick_all(struct assignment *s)
{
    struct match *m = s->c->m;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < s->nclaims; i++) {
        const struct claim *q = &s->claims[i];
        if (q->units > 0)
            rc = weir_pick_add(m, q->v, s->c->demands[q->demand].r, q->units, q->units == kind_of(m->g, q->v)->size);
    }
    return rc ? rc : 1;
}

static int assign_once(struct competing *c, uint32_t open, weir_vertex within, bool take)
{
    struct assignment s = {.c = c};
    int rc = begin_assignment(&s, open, within);

    c->tries += s.nclaims / 128; /* counts as work */
    if (rc == 1)
        rc = !assign(&s) ? 0 : take ? pick_all(&s) : 1;
    else if (rc == 0)
        rc = 1;
    end_assignment(&s);
    return rc;
}

int weir_competing_assign(struct competing *c, uint32_t open, weir_vertex within)
{
    return assign_once(c, open, within, false);
}

int weir_competing_assign_all(struct competing *c)
{
    return assign_once(c, c->n, WEIR_NONE, true);
}
