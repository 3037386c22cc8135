/* earliest_fit_slots.c - starts of several slots. Invariant: no start with enough free units on all hosts is passed
 * over.
 *
 * At each start tried a host is either asleep, with a lower bound of the first fit, or open, with the number of slots
 * found at the last look. An open host may have more slots when a job below ends, at `more`, and fewer at any time. So
 * hosts are looked at when the bound is reached, when `more` is reached, and when the sum of slots seems enough. Where
 * slots must be below one rack, say, or so many below each of several racks, slots are summed by the vertex of type
 * `outer`.
 */
#include <string.h>

#include "time/earliest_fit_private.h"
#include "aggregate/rows.h"
#include "aggregate/schema.h"
#include "base/heap.h"

/* ---- lower bound ---- */

/* Upper bound of the units of a type below one host. */
static int64_t most_below(const weir_graph *g, const struct occupancy *c, weir_type t)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < g->nroots; i++) {
        const struct inner *in = g->roots[i] == WEIR_NONE ? NULL : inner_of(g, g->roots[i]);
        const struct schema *sc = in && in->cells ? schema_at(g, in->schema) : NULL;
        bool host = sc && kind_of(g, g->roots[i])->type == c->type;
        uint32_t cell = !sc ? 0 : host ? type_cell(sc, t) : weir_pair_cell(sc, c->type, t);
        int64_t n = cell ? in->cells[cell + (host ? (uint32_t)TYPE_TOTAL : (uint32_t)PAIR_TOTAL)] : 0;
        if (!cell && !host && sc && type_cell(sc, c->type) && type_cell(sc, t))
            return WEIR_FOREVER;
        most = n > most ? n : most;
    }
    return most;
}

/* Upper bound of the slots on one host, even if empty. */
static int64_t most_slots(const struct fit_finder *f)
{
    int64_t most = f->q->once ? 1 : f->q->slots;

    for (uint32_t i = 0; i < f->q->n && most > 1; i++) {
        int64_t n = most_below(f->g, f->c, f->q->needs[i].type) / f->q->needs[i].amount;
        most = n < most ? n : most;
    }
    return most > 0 ? most : 1;
}

/* Replaces the maximum of a heap by t. */
static void replace_top(int64_t *heap, uint32_t n, int64_t t)
{
    heap[0] = t;
    WEIR_HEAP_DOWN(heap, n, 0, a, b, *a > *b);
}

/* The earliest time at which n hosts may each fit a slot. */
static int find_bound(const struct fit_finder *f, uint32_t n, int64_t *t)
{
    int64_t *heap = weir_mem_alloc(n * sizeof *heap);

    if (!heap)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        heap[i] = WEIR_FOREVER;
    for (uint32_t i = 0; i < occupancy_bits(f->c) / FIT_GROUP; i++)
        for (uint32_t bit = i * FIT_GROUP; f->table->first[i] < heap[0] && bit < i * FIT_GROUP + FIT_GROUP; bit++)
            if (f->table->times[bit] < heap[0] && weir_fit_usable(f->g, f->c, bit)) {
                int64_t time = weir_fit_raise(f, bit);
                if (time < heap[0])
                    replace_top(heap, n, time);
            }
    *t = heap[0];
    weir_mem_free(heap);
    return WEIR_OK;
}

/* ---- hosts asleep, and open hosts ---- */

struct open {
    uint32_t bit, outer;
    int64_t slots, seen, more;
};

struct fit_sweep {
    const struct fit_finder *f;
    struct fit_table asleep; /* `times` and `first` only */
    struct open *open;
    uint32_t nopen, open_cap;
    int64_t *sums;  /* by inner record of the outer vertex, or 0: slots of open hosts */
    int64_t enough; /* number of outer vertices with enough slots */
    int64_t latest;
};

/* The inner record of the ancestor of type `outer` of a host, 0 without such a type; WEIR_NONE: no such ancestor. */
static uint32_t outer_of(const struct fit_finder *f, uint32_t bit)
{
    weir_vertex v = f->c->vertices[bit];

    if (f->q->outer == WEIR_NO_TYPE)
        return 0;
    v = vertex_at_or_above(f->g, v, f->q->outer);
    return v == WEIR_NONE ? WEIR_NONE : vertex_at(f->g, v)->inner;
}

static void add_slots(struct fit_sweep *w, uint32_t outer, int64_t n)
{
    int64_t wanted = w->f->q->slots, was = w->sums[outer];

    w->sums[outer] += n;
    w->enough += (w->sums[outer] >= wanted) - (was >= wanted);
}

static bool is_enough(const struct fit_sweep *w)
{
    return w->enough >= w->f->q->outers;
}

/* Looks at a host at t: the host becomes open, or stays asleep. */
static int look(struct fit_sweep *w, uint32_t bit, int64_t t)
{
    const struct fit_finder *f = w->f;
    int64_t time = weir_fit_usable(f->g, f->c, bit) ? weir_fit_raise(f, bit) : WEIR_FOREVER;
    struct open o = {.bit = bit, .outer = outer_of(f, bit), .seen = t};

    time = o.outer == WEIR_NONE ? WEIR_FOREVER : time;
    if (time <= t)
        time = weir_fit_fits(f, bit, t, w->latest, &o.slots);
    weir_fit_set_time(&w->asleep, bit, time > t ? time : WEIR_FOREVER);
    if (time > t)
        return WEIR_OK;
    if (weir_array_reserve(&w->open, &w->open_cap, (size_t)w->nopen + 1, sizeof *w->open))
        return WEIR_ENOMEM;
    o.more = weir_fit_next_end(f->g, f->c->vertices[bit], t);
    add_slots(w, o.outer, o.slots);
    w->open[w->nopen++] = o;
    return WEIR_OK;
}

/* Looks again at open hosts that may have more slots by t, and with `all` at hosts that may have fewer. */
static int look_again(struct fit_sweep *w, int64_t t, bool all)
{
    int rc = WEIR_OK;

    for (uint32_t i = w->nopen; !rc && i-- > 0;) {
        struct open o = w->open[i];
        if (o.seen == t || (!all && o.more > t))
            continue;
        add_slots(w, o.outer, -o.slots);
        w->open[i] = w->open[--w->nopen];
        rc = look(w, o.bit, t);
    }
    return rc;
}

static int wake(struct fit_sweep *w, int64_t t)
{
    struct fit_table *x = &w->asleep;
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < occupancy_bits(w->f->c) / FIT_GROUP && !is_enough(w); i++)
        for (uint32_t bit = i * FIT_GROUP; x->first[i] <= t && bit < i * FIT_GROUP + FIT_GROUP; bit++)
            if (!rc && x->times[bit] <= t && !is_enough(w))
                rc = look(w, bit, t);
    return rc;
}

/* Whether all slots fit at t: 1, 0 or negative. */
static int fits_at(struct fit_sweep *w, int64_t t)
{
    int rc = look_again(w, t, false);

    rc = rc ? rc : wake(w, t);
    while (!rc && is_enough(w)) {
        rc = look_again(w, t, true);
        if (!rc && is_enough(w))
            return 1;
        rc = rc ? rc : wake(w, t);
    }
    return rc;
}

/* The next time at which more slots may fit. */
static int64_t next_chance(const struct fit_sweep *w)
{
    int64_t t = WEIR_FOREVER;

    for (uint32_t i = 0; i < occupancy_bits(w->f->c) / FIT_GROUP; i++)
        t = w->asleep.first[i] < t ? w->asleep.first[i] : t;
    for (uint32_t i = 0; i < w->nopen; i++)
        t = w->open[i].more < t ? w->open[i].more : t;
    return t;
}

/* Makes busy all hosts but open hosts under outer vertices with enough slots, and hosts asleep whose bound is
 * reached: the search ended before a look at the latter. */
static void mark_busy(struct fit_sweep *w, int64_t t)
{
    const struct fit_finder *f = w->f;

    memset(f->c->busy, 0xff, f->c->words * sizeof *f->c->busy);
    for (uint32_t bit = 0; bit < f->c->count; bit++) {
        bool may = w->asleep.times[bit] <= t && weir_fit_usable(f->g, f->c, bit);
        uint32_t outer = may ? outer_of(f, bit) : WEIR_NONE;
        if (outer == WEIR_NONE)
            continue;
        w->sums[outer] = f->q->slots;
        fit_free_bit(f->c, bit);
    }
    for (uint32_t i = 0; i < w->nopen; i++)
        if (w->sums[w->open[i].outer] >= f->q->slots)
            fit_free_bit(f->c, w->open[i].bit);
}

static int sweep(const struct fit_finder *f, int64_t t, int64_t latest, int64_t *start)
{
    size_t n = (size_t)occupancy_bits(f->c) + occupancy_bits(f->c) / FIT_GROUP;
    struct fit_sweep w = {.f = f, .latest = latest};
    int rc = 0;

    w.asleep.times = weir_mem_alloc(n * sizeof *w.asleep.times);
    w.sums = weir_mem_zalloc(f->q->outer == WEIR_NO_TYPE ? 1 : f->g->ninners, sizeof *w.sums);
    if (!w.asleep.times || !w.sums) {
        WEIR_FREE(w.asleep.times, w.sums);
        return WEIR_ENOMEM;
    }
    memcpy(w.asleep.times, f->table->times, n * sizeof *w.asleep.times);
    w.asleep.first = w.asleep.times + occupancy_bits(f->c);
    while (rc == 0 && t <= latest && t != WEIR_FOREVER && (rc = fits_at(&w, t)) == 0) {
        t = next_chance(&w);
        rc = weir_interrupted() ? WEIR_EINTERRUPTED : 0;
    }
    if (rc == 1)
        mark_busy(&w, t);
    *start = rc == 1 ? t : WEIR_FOREVER;
    WEIR_FREE(w.asleep.times, w.sums, w.open);
    return rc < 0 ? rc : WEIR_OK;
}

int weir_fit_many(const struct fit_finder *f, int64_t latest, int64_t *start)
{
    int64_t hosts = (f->q->slots - 1) / most_slots(f) + 1;

    hosts = f->q->outers > WEIR_FOREVER / hosts ? WEIR_FOREVER : hosts * f->q->outers;
    int rc;

    *start = WEIR_FOREVER;
    if (hosts > f->c->live)
        return WEIR_OK;
    rc = find_bound(f, (uint32_t)hosts, start);
    return rc ? rc : sweep(f, *start, latest, start);
}
