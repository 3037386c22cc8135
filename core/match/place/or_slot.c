/* or_slot.c - or_slots: sibling slots that are alternatives. Any mix of alternatives serves, with a total of as many
 * slots as the last alternative requests.
 *
 * Slots are placed vertex by vertex, each time the mix with the most slots below the vertex; among several such mixes,
 * the mix with the most slots of the first alternatives. The need of an alternative is the minimum of its counts.
 * Invariant: on "does not fit" and on failure the picks are as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "match/match.h"
#include "match/place/place.h"

#define OR_SLOT_SLOTS 16      /* alternatives */
#define OR_SLOT_TYPES 32      /* types of all alternatives */
#define OR_SLOT_STEPS 1000000 /* mixes tried for a vertex */

struct or_slots {
    struct match *m;
    const weir_resource *list;
    uint32_t n, ntypes, steps;
    uint32_t from;                             /* number of the first pick */
    const weir_resource *types[OR_SLOT_TYPES]; /* the first resource of each type */
    int64_t left[OR_SLOT_TYPES];
    int64_t needs[OR_SLOT_SLOTS][OR_SLOT_TYPES];
    int64_t counts[OR_SLOT_SLOTS], best[OR_SLOT_SLOTS];
    int64_t most; /* slots of the best mix; -1: no mix yet */
};

/* ---- the mix for a vertex ---- */

static int note_type(struct or_slots *x, uint32_t slot, const weir_resource *r)
{
    uint32_t t = 0;

    while (t < x->ntypes && strcmp(x->types[t]->type, r->type) != 0)
        t++;
    if (t == OR_SLOT_TYPES)
        return weir_fail(x->m->err, WEIR_ELIMIT, "or_slots hold more than %d types", OR_SLOT_TYPES);
    if (t == x->ntypes)
        x->types[x->ntypes++] = r;
    x->needs[slot][t] += r->count.min;
    return WEIR_OK;
}

static int begin_or_slots(struct or_slots *x, struct match *m, const weir_resource *list, uint32_t n)
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

/* Measures the units of each type, or subsystem, to be had below v. */
static int measure(struct or_slots *x, weir_vertex v)
{
    for (uint32_t t = 0; t < x->ntypes; t++) {
        struct scope mark = scope_mark(x->m);
        uint32_t subsystem = weir_flow_find(x->m->g, x->types[t]->type);
        int64_t units = subsystem != WEIR_NONE ? weir_flow_units(x->m, v, subsystem, x->types[t])
                                               : weir_place_some(x->m, v, x->types[t], WEIR_FOREVER);
        if (units < 0)
            return (int)units;
        scope_undo(x->m, &mark);
        x->left[t] = units;
    }
    return WEIR_OK;
}

/* Slots of an alternative that fit into the units left. */
static int64_t fitting(const struct or_slots *x, uint32_t slot)
{
    int64_t n = WEIR_FOREVER;

    for (uint32_t t = 0; t < x->ntypes; t++)
        if (x->needs[slot][t] && x->left[t] / x->needs[slot][t] < n)
            n = x->left[t] / x->needs[slot][t];
    return n == WEIR_FOREVER ? 0 : n;
}

static void use(struct or_slots *x, uint32_t slot, int64_t n)
{
    for (uint32_t t = 0; t < x->ntypes; t++)
        x->left[t] -= n * x->needs[slot][t];
}

/* Tries all mixes of the alternatives from number i on, the most of each alternative first. */
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
static int find_or_slots(struct or_slots *x, weir_vertex v)
{
    int rc = measure(x, v);

    x->most = -1;
    x->steps = 0;
    return rc ? rc : explore(x, 0, 0);
}

/* Places as many of n slots of an alternative below v as fit in addition to the slots before: units of a flow, and
 * those taken directly where flows pass, are not added up by type. Returns the number of slots, or negative. */
static int64_t place_most(struct or_slots *x, weir_vertex v, const weir_resource *slot, int64_t n)
{
    uint32_t from = x->m->scope.npicks;
    int rc = 0;

    while (n > 0 && (rc = weir_place_slots_in(x->m, v, slot, n)) == 0)
        n--;
    if (rc == 1)
        weir_pick_slots(x->m, from, n);
    return rc < 0 ? rc : n;
}

/* Places up to `want` slots right below v. Returns the number of slots, or negative. */
static int64_t place_at(struct or_slots *x, weir_vertex v, int64_t want)
{
    struct match *m = x->m;
    struct scope mark = scope_mark(m);
    int64_t placed = 0;
    int rc = find_or_slots(x, v);

    if (rc)
        return rc;
    for (uint32_t i = 0; i < x->n && placed < want; i++) {
        int64_t n = x->best[i] < want - placed ? x->best[i] : want - placed;
        n = place_most(x, v, &x->list[i], n);
        if (n < 0) {
            scope_undo(m, &mark);
            return n;
        }
        placed += n;
    }
    return placed;
}

/* ---- vertex by vertex ---- */

static bool has_slot_at(const struct or_slots *x, weir_vertex v)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (weir_slot_is_parent(x->m, v, &x->list[i]))
            return true;
    return false;
}

/* Begins a search of the hosts of an alternative. */
static int begin_hosts(struct or_slots *x, struct search *s, weir_vertex under, const weir_resource *slot)
{
    int rc = weir_search_hosts(s, x->m, under, slot, weir_slot_first(x->m, slot), SEARCH_PARENT);

    s->nslots = x->n;
    s->nneeds = 0; /* the needs are those of one alternative only */
    return rc;
}

/* Places slots on the hosts of an alternative, vertex by vertex in the order of its first type. Returns the number of
 * slots, or negative. */
static int64_t place_on_hosts(struct or_slots *x, weir_vertex under, const weir_resource *slot, int64_t want)
{
    struct search s;
    weir_vertex v;
    int64_t placed = 0;
    int rc = begin_hosts(x, &s, under, slot);

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

/* Places slots on the hosts of the first alternative, then on those that have only the types of a further alternative.
 * Returns the number of slots, or negative. */
static int64_t place_below(struct or_slots *x, weir_vertex under, int64_t want)
{
    int64_t placed = 0;

    for (uint32_t i = 0; i < x->n && placed < want; i++) {
        int64_t n = place_on_hosts(x, under, &x->list[i], want - placed);
        if (n < 0)
            return n;
        placed += n;
    }
    return placed;
}

/* Places as many slots as allowed, at most `want`. Returns 1, 0 or negative. */
static int place_all(struct or_slots *x, weir_vertex under, int64_t want, int64_t times)
{
    const weir_count *count = &x->list[x->n - 1].count;
    bool here = under != WEIR_NONE && has_slot_at(x, under);

    for (;;) {
        int64_t placed = here ? place_at(x, under, want) : place_below(x, under, want), n;
        if (placed < 0)
            return (int)placed;
        n = weir_count_floor(count, placed / times);
        if (n < 0 || n * times == placed)
            return n >= 0;
        want = n * times; /* between two allowed counts: place the lower */
        x->m->scope.npicks = x->from;
    }
}

int weir_place_or_slots(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    struct scope mark = scope_mark(m);
    struct or_slots x;
    int64_t want;
    int rc = begin_or_slots(&x, m, list, n);

    if (rc)
        return rc;
    x.from = mark.npicks;
    /* slots may take parts of a common pool */
    scope_conflict(m);
    m->progress.shared = true;
    want = saturating_mul(count_most(m, &list[n - 1].count), times);
    return scope_end(m, &mark, place_all(&x, under, want, times));
}
