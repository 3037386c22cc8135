/* occupancy_partial.c - the second occupancy of a type: a vertex is also held while jobs have anything below.
 * Shares the bits of the first. Invariant: the timeline of a vertex is the number of picks of jobs below the
 * vertex, and the vertex is held where the number is not 0 or a job has the vertex exclusively; each job counted
 * here has an edge at start and end. */
#include "time/occupancy_private.h"

#include <string.h>

/* ---- one vertex ---- */

/* Adds a vertex to slots lo to hi - 1 of a page, or removes the vertex. A vertex no longer held throughout the page
 * moves from SET_ALL to slots. */
static void mark_page(const struct occupancy *c, struct page *p, uint32_t bit, uint32_t lo, uint32_t hi, bool on)
{
    uint64_t one = UINT64_C(1) << (bit % 64), *all = set_of(c, p, SET_ALL) + bit / 64;
    bool whole = *all & one, more = on || whole;

    if (whole || (on && lo == 0 && hi == p->n)) {
        *all ^= one;
        p->all += on ? 1 : UINT32_MAX;
    }
    if (lo == 0 && hi == p->n && more)
        return;
    for (uint32_t i = whole ? 0 : lo; i < (whole ? p->n : hi); i++) {
        if (whole && i >= lo && i < hi)
            continue;
        slot_set(c, p, i)[bit / 64] ^= one;
        p->held[i] += more ? 1 : UINT32_MAX;
        p->most = p->held[i] > p->most ? p->held[i] : p->most;
    }
    if (more)
        set_of(c, p, SET_ANY)[bit / 64] |= one;
    p->stale |= !on;
}

static void mark_times(const struct occupancy *c, uint32_t bit, int64_t start, int64_t end, bool on)
{
    struct spot from = spot_at(c, start);

    for (; from.page < c->npages && c->pages[from.page]->time[from.slot] < end; from = (struct spot){from.page + 1, 0})
        mark_page(c, c->pages[from.page], bit, from.slot, slots_before(c->pages[from.page], end), on);
}

/* Adds a vertex to the slots of a job, or removes the vertex, where no further job has anything below. */
static void mark_alone(const struct occupancy *c, uint32_t bit, const weir_allocation *a, bool on)
{
    const weir_timeline *timeline = c->below[bit];

    for (int64_t t = a->start, next = a->end; t < a->end; t = next, next = a->end) {
        int64_t change = timeline ? weir_timeline_next_change(timeline, t) : WEIR_FOREVER;
        next = change < next ? change : next;
        if (!timeline || weir_timeline_used_at(timeline, t) == 0)
            mark_times(c, bit, t, next, on);
    }
}

/* Adds (on) or subtracts n picks of a job below a vertex. */
static int change_below(struct occupancy *c, uint32_t bit, const weir_allocation *a, int64_t n, bool on)
{
    int rc;

    if (!c->below[bit])
        c->below[bit] = weir_timeline_new();
    if (!c->below[bit])
        return WEIR_ENOMEM;
    if (on)
        mark_alone(c, bit, a, true);
    rc = weir_timeline_add(c->below[bit], a->start, a->end, on ? n : -n);
    if (!rc && !on)
        mark_alone(c, bit, a, false);
    return rc;
}

/* ---- a job ---- */

/* The next ancestor of v of the type that the job does not have exclusively; WEIR_NONE at the end. */
static weir_vertex next_above(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    while ((v = vertex_at(g, v)->parent) != WEIR_NONE) {
        uint32_t bit = vertex_at(g, v)->bit;
        if (kind_of(g, v)->type == c->type && occupancy_knows(g, c, v) && !(c->mask[bit / 64] >> (bit % 64) & 1))
            break;
    }
    return v;
}

/* Adds or subtracts picks of a job, from number `from` on, by ancestor: neighbouring picks mostly share an
 * ancestor. */
static int change_job(const weir_graph *g, struct occupancy *c, const weir_allocation *a, uint32_t from, bool on)
{
    uint32_t last = WEIR_NONE;
    int64_t n = 0;
    int rc = WEIR_OK;

    for (uint32_t i = from; !rc && i < a->npicks; i++)
        for (weir_vertex v = next_above(g, c, a->picks[i].vertex); !rc && v != WEIR_NONE; v = next_above(g, c, v)) {
            uint32_t bit = vertex_at(g, v)->bit;
            if (bit != last && n > 0)
                rc = change_below(c, last, a, n, on);
            n = bit == last ? n + 1 : 1;
            last = bit;
        }
    return rc || n == 0 ? rc : change_below(c, last, a, n, on);
}

/* Whether some of n picks are below vertices of the type. */
static bool is_below(const weir_graph *g, const struct occupancy *c, const weir_pick *picks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (next_above(g, c, picks[i].vertex) != WEIR_NONE)
            return true;
    return false;
}

/* Adds a job with exclusive vertices marked. `had`: earlier picks were added before, with edges. */
static int add_job(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from, bool had)
{
    const weir_allocation *a = &g->jobs->list[job].a;
    int rc = WEIR_OK;

    if (c->ntouched == 0 && !is_below(g, c, a->picks + from, a->npicks - from))
        return WEIR_OK;
    if (!had)
        rc = weir_occupancy_edge_add(c, a->start);
    if (!rc && !had && a->end != WEIR_FOREVER)
        rc = weir_occupancy_edge_add(c, a->end);
    if (!rc && c->ntouched > 0)
        weir_occupancy_mark(c, a->start, a->end, true);
    return rc ? rc : change_job(g, c, a, from, true);
}

static int remove_job(const weir_graph *g, struct occupancy *c, uint32_t job)
{
    const weir_allocation *a = &g->jobs->list[job].a;
    int rc;

    if (c->ntouched == 0 && !is_below(g, c, a->picks, a->npicks))
        return WEIR_OK;
    if (c->ntouched > 0)
        weir_occupancy_mark(c, a->start, a->end, false);
    rc = change_job(g, c, a, 0, false);
    weir_occupancy_forget(c, a->start);
    weir_occupancy_edge_remove(c, a->start);
    if (a->end != WEIR_FOREVER)
        weir_occupancy_edge_remove(c, a->end);
    return rc;
}

/* ---- beside the first occupancy ---- */

void weir_occupancy_partial_free(struct occupancy *c)
{
    struct occupancy *u = c->partial;

    if (!u)
        return;
    weir_occupancy_close(u);
    for (uint32_t i = 0; u->below && i < u->words * 64; i++)
        weir_timeline_free(u->below[i]);
    weir_mem_free(u->below);
    weir_mem_free(u->busy);
    weir_mem_free(u);
    c->partial = NULL;
}

size_t weir_occupancy_partial_bytes(const struct occupancy *c)
{
    const struct occupancy *u = c->partial;
    size_t n = u ? sizeof *u + u->bytes : 0;

    for (uint32_t i = 0; u && i < u->words * 64; i++)
        n += u->below[i] ? weir_timeline_bytes(u->below[i]) : 0;
    return n;
}

/* Drops the partial occupancy after a failure: made again on the next query, or, if too large, with half the jobs. */
static void keep(const weir_graph *g, struct occupancy *c, int rc)
{
    if (!rc)
        return;
    if (rc == WEIR_ELIMIT)
        c->too_many = live_jobs(g);
    weir_occupancy_partial_free(c);
}

void weir_occupancy_partial_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from, bool held)
{
    if (!c->partial)
        return;
    c->partial->ntouched = c->ntouched;
    keep(g, c, add_job(g, c->partial, job, from, held || is_below(g, c->partial, g->jobs->list[job].picks, from)));
}

void weir_occupancy_partial_remove(const weir_graph *g, struct occupancy *c, uint32_t job)
{
    if (!c->partial)
        return;
    c->partial->ntouched = c->ntouched;
    keep(g, c, remove_job(g, c->partial, job));
}

void weir_occupancy_partial_sync(struct occupancy *c)
{
    struct occupancy *u = c->partial;

    if (!u)
        return;
    u->count = c->count;
    u->live = c->live;
    u->serial = c->serial;
    weir_occupancy_forget(u, INT64_MIN);
}

/* Makes a partial occupancy without jobs. */
static int make(struct occupancy *c)
{
    struct occupancy *u = weir_mem_zalloc(1, sizeof *u);

    c->partial = u;
    if (!u)
        return WEIR_ENOMEM;
    u->type = c->type;
    u->words = c->words;
    u->vertices = c->vertices;
    u->parts = c->parts;
    u->touched = c->touched;
    u->mask = c->mask;
    u->gone = c->gone;
    u->busy = weir_mem_zalloc((size_t)c->words * 2, sizeof *u->busy);
    u->below = weir_mem_zalloc((size_t)c->words * 64, sizeof *u->below);
    if (!u->busy || !u->below)
        return WEIR_ENOMEM;
    u->refused = u->busy + c->words;
    u->bytes = c->words * (2 * sizeof *u->busy + 64 * sizeof *u->below);
    weir_occupancy_partial_sync(c);
    u->freed = WEIR_FOREVER;
    return weir_occupancy_open(u);
}

int weir_occupancy_used(const weir_graph *g, struct occupancy *c, bool may_make, struct occupancy **out)
{
    int rc = WEIR_OK;

    if (!c->partial && may_make && c->nparts > 0 && (c->too_many == 0 || live_jobs(g) <= c->too_many / 2)) {
        rc = make(c);
        for (uint32_t i = 0; !rc && i < job_records(g); i++) {
            if (!g->jobs->list[i].used)
                continue;
            weir_occupancy_touch(g, c, i, 0);
            c->partial->ntouched = c->ntouched;
            rc = add_job(g, c->partial, i, 0, false);
            weir_occupancy_untouch(c);
        }
        keep(g, c, rc);
    }
    *out = c->partial ? c->partial : c;
    return rc == WEIR_ELIMIT ? WEIR_OK : rc;
}
