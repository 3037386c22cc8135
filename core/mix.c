/* mix.c - or_slots: slots side by side that are alternatives. Any mix of them serves, as many in all as the last one asks for.
 *
 * They are placed below one vertex after the other, each time the mix that leaves room for the most slots there; among such
 * mixes the one with the most of those named first. What one of them takes of a type counts as its least.
 * Invariant: on "does not fit" and on failure the picks are as they were. */
#include <string.h>

#include "match.h"

#define MIX_SLOTS 16      /* alternatives */
#define MIX_TYPES 32      /* types that they hold */
#define MIX_STEPS 1000000 /* mixes tried for one vertex */

struct mix {
    struct match *m;
    const weir_resource *list;
    uint32_t n, ntypes, steps;
    uint32_t from; /* picks before the first of these */
    const weir_resource *types[MIX_TYPES]; /* the first resource of each type */
    int64_t left[MIX_TYPES];
    int64_t take[MIX_SLOTS][MIX_TYPES];
    int64_t counts[MIX_SLOTS], best[MIX_SLOTS];
    int64_t most; /* slots of the best mix; -1: none yet */
};

/* ---- the mix for one vertex ---- */

static int note_type(struct mix *x, uint32_t slot, const weir_resource *r)
{
    uint32_t t = 0;

    while (t < x->ntypes && strcmp(x->types[t]->type, r->type) != 0)
        t++;
    if (t == MIX_TYPES)
        return weir_fail(x->m->err, WEIR_ELIMIT, "or_slots hold more than %d types", MIX_TYPES);
    if (t == x->ntypes)
        x->types[x->ntypes++] = r;
    x->take[slot][t] += r->count.min;
    return WEIR_OK;
}

static int begin_mix(struct mix *x, struct match *m, const weir_resource *list, uint32_t n)
{
    int rc = WEIR_OK;

    memset(x, 0, sizeof *x);
    x->m = m;
    x->list = list;
    x->n = n;
    if (n > MIX_SLOTS)
        return weir_fail(m->err, WEIR_ELIMIT, "more than %d or_slots side by side", MIX_SLOTS);
    for (uint32_t i = 0; !rc && i < n; i++)
        for (uint32_t k = 0; !rc && k < list[i].nwith; k++)
            rc = note_type(x, i, &list[i].with[k]);
    return rc;
}

/* What there is of each type below v. */
static int measure(struct mix *x, weir_vertex v)
{
    for (uint32_t t = 0; t < x->ntypes; t++) {
        uint32_t npicks = x->m->npicks;
        int64_t units = weir_place_some(x->m, v, x->types[t], WEIR_FOREVER);
        if (units < 0)
            return (int)units;
        x->m->npicks = npicks;
        x->left[t] = units;
    }
    return WEIR_OK;
}

/* How many of one of them fit into what is left. */
static int64_t fitting(const struct mix *x, uint32_t slot)
{
    int64_t n = WEIR_FOREVER;

    for (uint32_t t = 0; t < x->ntypes; t++)
        if (x->take[slot][t] && x->left[t] / x->take[slot][t] < n)
            n = x->left[t] / x->take[slot][t];
    return n == WEIR_FOREVER ? 0 : n;
}

static void use(struct mix *x, uint32_t slot, int64_t n)
{
    for (uint32_t t = 0; t < x->ntypes; t++)
        x->left[t] -= n * x->take[slot][t];
}

/* Tries all mixes from the i-th on, those with most of the first first. */
static int explore(struct mix *x, uint32_t i, int64_t sum)
{
    int64_t n = fitting(x, i);
    int rc = WEIR_OK;

    if (++x->steps > MIX_STEPS)
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

/* Places up to `want` slots right below v. Returns how many, or negative. */
static int64_t place_at(struct mix *x, weir_vertex v, int64_t want)
{
    struct match *m = x->m;
    uint32_t npicks = m->npicks;
    int64_t placed = 0;
    int rc = measure(x, v);

    x->most = -1;
    x->steps = 0;
    rc = rc ? rc : explore(x, 0, 0);
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

/* ---- all of it ---- */

static bool stands(const struct mix *x, weir_vertex v)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (weir_slot_stands(x->m, v, &x->list[i]))
            return true;
    return false;
}

/* Vertex after vertex, in the policy's order of the first thing that the first of them holds. */
static int64_t place_below(struct mix *x, weir_vertex under, int64_t want)
{
    struct search s;
    weir_vertex v;
    int64_t placed = 0;
    int rc = weir_search_hosts(&s, x->m, under, x->list, x->list->with, SEARCH_PARENT);

    if (rc)
        return rc;
    s.nslots = x->n;
    s.nneeds = 0; /* those of the first alternative only */
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

/* As many slots as may be, at most `want`. 1, 0 or negative. */
static int place_all(struct mix *x, weir_vertex under, int64_t want, int64_t times)
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

int weir_mix_place(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    uint32_t npicks = m->npicks, rivals = m->rivals;
    struct mix x;
    int rc = begin_mix(&x, m, list, n);

    if (rc)
        return rc;
    x.from = npicks;
    m->rivals = rivals == WEIR_NONE ? npicks : rivals; /* they may take parts of one pool */
    m->contested = true;
    rc = place_all(&x, under, saturating_mul(count_most(m, &list[n - 1].count), times), times);
    m->rivals = rivals;
    if (rc != 1)
        m->npicks = npicks;
    return rc;
}
