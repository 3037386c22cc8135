/* or_slot.c - or_slots: slots side by side that are alternatives. Any mix of them serves, as many in all as the last one asks for.
 *
 * They are placed below one vertex after the other, each time the mix that leaves room for the most slots there; among such
 * mixes the one with the most of those named first. What one of them takes of a type counts as its least. Where the order of
 * sums decides, all mixes are placed, and of their slots those are kept that come first.
 * Invariant: on "does not fit" and on failure the picks are as they were. */
#include <stdlib.h>
#include <string.h>

#include "match/match.h"

#define OR_SLOT_SLOTS 16      /* alternatives */
#define OR_SLOT_TYPES 32      /* types that they hold */
#define OR_SLOT_STEPS 1000000 /* mixes tried for one vertex */

/* A slot that was placed, and where it stands in the order of sums. */
struct turn {
    uint32_t from, n; /* its picks */
    double sums[WEIR_ORDER_KEYS];
};

struct or_slots {
    struct match *m;
    const weir_resource *list;
    uint32_t n, ntypes, steps;
    uint32_t from; /* picks before the first of these */
    const weir_resource *types[OR_SLOT_TYPES]; /* the first resource of each type */
    int64_t left[OR_SLOT_TYPES];
    int64_t take[OR_SLOT_SLOTS][OR_SLOT_TYPES];
    int64_t counts[OR_SLOT_SLOTS], best[OR_SLOT_SLOTS];
    int64_t most; /* slots of the best mix; -1: none yet */
    struct order order;
    struct turn *turns;
    uint32_t nturns, turns_cap;
};

/* ---- the mix for one vertex ---- */

static int note_type(struct or_slots *x, uint32_t slot, const weir_resource *r)
{
    uint32_t t = 0;

    while (t < x->ntypes && strcmp(x->types[t]->type, r->type) != 0)
        t++;
    if (t == OR_SLOT_TYPES)
        return weir_fail(x->m->err, WEIR_ELIMIT, "or_slots hold more than %d types", OR_SLOT_TYPES);
    if (t == x->ntypes)
        x->types[x->ntypes++] = r;
    x->take[slot][t] += r->count.min;
    return WEIR_OK;
}

static int begin_mix(struct or_slots *x, struct match *m, const weir_resource *list, uint32_t n)
{
    int rc = WEIR_OK;

    memset(x, 0, sizeof *x);
    x->m = m;
    x->list = list;
    x->n = n;
    if (n > OR_SLOT_SLOTS)
        return weir_fail(m->err, WEIR_ELIMIT, "more than %d or_slots side by side", OR_SLOT_SLOTS);
    for (uint32_t i = 0; !rc && i < n; i++)
        for (uint32_t k = 0; !rc && k < list[i].nwith; k++)
            rc = note_type(x, i, &list[i].with[k]);
    return rc;
}

/* What there is of each type below v. */
static int measure(struct or_slots *x, weir_vertex v)
{
    for (uint32_t t = 0; t < x->ntypes; t++) {
        uint32_t npicks = x->m->npicks;
        int64_t units = weir_allocate_some(x->m, v, x->types[t], WEIR_FOREVER);
        if (units < 0)
            return (int)units;
        x->m->npicks = npicks;
        x->left[t] = units;
    }
    return WEIR_OK;
}

/* How many of one of them fit into what is left. */
static int64_t fitting(const struct or_slots *x, uint32_t slot)
{
    int64_t n = WEIR_FOREVER;

    for (uint32_t t = 0; t < x->ntypes; t++)
        if (x->take[slot][t] && x->left[t] / x->take[slot][t] < n)
            n = x->left[t] / x->take[slot][t];
    return n == WEIR_FOREVER ? 0 : n;
}

static void use(struct or_slots *x, uint32_t slot, int64_t n)
{
    for (uint32_t t = 0; t < x->ntypes; t++)
        x->left[t] -= n * x->take[slot][t];
}

/* Tries all mixes from the i-th on, those with most of the first first. */
static int explore(struct or_slots *x, uint32_t i, int64_t sum)
{
    int64_t n = fitting(x, i);
    int rc = WEIR_OK;

    if (++x->steps > OR_SLOT_STEPS)
        return weir_fail(x->m->err, WEIR_ELIMIT, "or_slots: there are too many mixes to try; ask for larger ones");
    if (i + 1 < x->n) {
        for (; !rc && n >= 0; n--) {
            x->counts[i] = n;
            use(x, i, n);
            rc = explore(x, i + 1, sum + n);
            use(x, i, -n);
        }
        return rc;
    }
    x->counts[i] = n;
    if (sum + n > x->most) {
        x->most = sum + n;
        memcpy(x->best, x->counts, sizeof x->best);
    }
    return WEIR_OK;
}

/* Finds the best mix below v. */
static int find_mix(struct or_slots *x, weir_vertex v)
{
    int rc = measure(x, v);

    x->most = -1;
    x->steps = 0;
    return rc ? rc : explore(x, 0, 0);
}

/* Places up to `want` slots right below v. Returns how many, or negative. */
static int64_t place_at(struct or_slots *x, weir_vertex v, int64_t want)
{
    struct match *m = x->m;
    uint32_t npicks = m->npicks;
    int64_t placed = 0;
    int rc = find_mix(x, v);

    if (rc)
        return rc;
    rc = 1;
    for (uint32_t i = 0; rc == 1 && i < x->n && placed < want; i++) {
        int64_t n = x->best[i] < want - placed ? x->best[i] : want - placed;
        uint32_t from = m->npicks;
        if (n == 0)
            continue;
        rc = weir_slots_fill(m, v, &x->list[i], n);
        weir_pick_slots(m, from, n);
        placed += n;
    }
    if (rc != 1)
        m->npicks = npicks;
    return rc == 1 ? placed : rc;
}

/* ---- in the order of sums ---- */

static int place_turn(struct or_slots *x, weir_vertex v, const weir_resource *slot)
{
    struct match *m = x->m;
    uint32_t from = m->npicks;
    int rc = weir_slots_fill(m, v, slot, 1);

    if (rc != 1)
        return rc;
    if (weir_array_reserve(&x->turns, &x->turns_cap, (size_t)x->nturns + 1, sizeof *x->turns))
        return weir_fail_nomem(m->err);
    weir_pick_slots(m, from, 1);
    x->turns[x->nturns] = (struct turn){from, m->npicks - from, {0}};
    weir_slot_sum(m, slot, &x->order, from, x->turns[x->nturns++].sums);
    return 1;
}

/* Places the whole mix for v, slot by slot. What stands below others is no rival to it. */
static int place_turns(struct or_slots *x, weir_vertex v)
{
    uint32_t rivals = x->m->rivals;
    int rc;

    x->m->rivals = rivals == x->from ? x->m->npicks : rivals;
    rc = find_mix(x, v);
    for (uint32_t i = 0; rc >= 0 && i < x->n; i++)
        for (int64_t k = 0; rc >= 0 && k < x->best[i]; k++)
            rc = place_turn(x, v, &x->list[i]);
    x->m->rivals = rivals;
    return rc < 0 ? rc : WEIR_OK;
}

static int by_sums(const void *a, const void *b)
{
    const struct turn *s = a, *t = b;
    int sums = weir_order_compare(s->sums, t->sums);
    return sums ? sums : s->from < t->from ? -1 : s->from > t->from;
}

static int by_place(const void *a, const void *b)
{
    const struct turn *s = a, *t = b;
    return s->from < t->from ? -1 : s->from > t->from;
}

/* Keeps the picks of so many slots. */
static void keep_turns(struct or_slots *x, uint32_t n)
{
    struct match *m = x->m;
    uint32_t at = x->from;

    if (n == 0) {
        m->npicks = at;
        return;
    }
    qsort(x->turns, x->nturns, sizeof *x->turns, by_sums);
    qsort(x->turns, n, sizeof *x->turns, by_place);
    for (uint32_t i = 0; i < n; i++) {
        const struct turn *t = &x->turns[i];
        memmove(m->picks + at, m->picks + t->from, t->n * sizeof *m->picks);
        memmove(m->notes + at, m->notes + t->from, t->n * sizeof *m->notes);
        at += t->n;
    }
    m->npicks = at;
}

/* ---- all of it ---- */

static bool stands(const struct or_slots *x, weir_vertex v)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (weir_slot_stands(x->m, v, &x->list[i]))
            return true;
    return false;
}

static int begin_hosts(struct or_slots *x, struct search *s, weir_vertex under)
{
    int rc = weir_search_hosts(s, x->m, under, x->list, x->list->with, SEARCH_PARENT);

    s->nslots = x->n;
    s->nneeds = 0; /* those of the first alternative only */
    return rc;
}

/* Vertex after vertex, in the policy's order of the first thing that the first of them holds. */
static int64_t place_below(struct or_slots *x, weir_vertex under, int64_t want)
{
    struct search s;
    weir_vertex v;
    int64_t placed = 0;
    int rc = begin_hosts(x, &s, under);

    if (rc)
        return rc;
    while (placed < want && (rc = weir_search_next(&s, &v)) > 0) {
        int64_t n = place_at(x, v, want - placed);
        placed += n > 0 ? n : 0;
        rc = n < 0 ? (int)n : 0;
        if (rc)
            break;
    }
    weir_search_end(&s);
    return rc < 0 ? rc : placed;
}

/* The same in the order of sums. 1, 0 or negative. */
static int place_summed(struct or_slots *x, weir_vertex under, int64_t want, int64_t times)
{
    struct search s;
    weir_vertex v;
    int64_t n;
    int rc = weir_order_read(x->m->g, x->m->policy, &x->order, x->m->err);

    if (!rc && under != WEIR_NONE && stands(x, under)) {
        rc = place_turns(x, under);
    } else if (!rc) {
        rc = begin_hosts(x, &s, under);
        if (rc)
            return rc;
        while ((rc = weir_search_next(&s, &v)) > 0)
            if ((rc = place_turns(x, v)) < 0)
                break;
        weir_search_end(&s);
    }
    if (rc)
        return rc;
    n = weir_count_floor(&x->list[x->n - 1].count, (x->nturns < want ? x->nturns : want) / times);
    if (n >= 0)
        keep_turns(x, (uint32_t)(n * times));
    return n >= 0;
}

/* As many slots as may be, at most `want`. 1, 0 or negative. */
static int place_all(struct or_slots *x, weir_vertex under, int64_t want, int64_t times)
{
    const weir_count *count = &x->list[x->n - 1].count;
    bool here = under != WEIR_NONE && stands(x, under);

    for (;;) {
        int64_t placed = here ? place_at(x, under, want) : place_below(x, under, want), n;
        if (placed < 0)
            return (int)placed;
        n = weir_count_floor(count, placed / times);
        if (n < 0 || n * times == placed)
            return n >= 0;
        want = n * times; /* between two allowed counts: the lower one */
        x->m->npicks = x->from;
    }
}

int weir_or_slot_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    uint32_t npicks = m->npicks, rivals = m->rivals;
    struct or_slots x;
    int64_t want;
    int rc = begin_mix(&x, m, list, n);

    if (rc)
        return rc;
    x.from = npicks;
    m->rivals = rivals == WEIR_NONE ? npicks : rivals; /* they may take parts of one pool */
    m->backtracked = true;
    want = saturating_mul(count_most(m, &list[n - 1].count), times);
    rc = weir_slot_summed(m) ? place_summed(&x, under, want, times) : place_all(&x, under, want, times);
    weir_mem_free(x.turns);
    m->rivals = rivals;
    if (rc != 1)
        m->npicks = npicks;
    return rc;
}
