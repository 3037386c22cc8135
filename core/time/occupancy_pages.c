/* occupancy_pages.c - the vertices in use over time, slice by slice. Invariant: while jobs have anything of a vertex
 * the bit is set in the set of the slice or in SET_ALL of the page, never in both; each slice but the first begins
 * where `edges` jobs start or end; the timeline of a vertex in `parts` is the number of picks of jobs at or below the
 * vertex, picks of the vertex as a whole excepted.
 */
#include "time/occupancy_private.h"

#include <string.h>

/* ---- pages ---- */

static void page_free(struct occupancy *c, struct page *p)
{
    if (!p)
        return;
    c->bytes -= sizeof *p + (size_t)(SET_SLICES + p->cap) * c->words * sizeof *p->sets;
    WEIR_FREE(p->sets, p);
}

/* Reserves `cap` slices. WEIR_ENOMEM, or WEIR_ELIMIT. */
static int page_reserve(struct occupancy *c, struct page *p, uint32_t cap)
{
    size_t more = (size_t)(cap - p->cap) * c->words * sizeof *p->sets;
    uint64_t *sets;

    if (c->bytes + more > OCCUPANCY_BYTES)
        return WEIR_ELIMIT;
    sets = weir_mem_realloc(p->sets, (size_t)(SET_SLICES + cap) * c->words * sizeof *sets);
    if (!sets)
        return WEIR_ENOMEM;
    p->sets = sets;
    for (uint32_t i = p->cap; i < cap; i++)
        p->place[i] = (uint8_t)i;
    p->cap = cap;
    c->bytes += more;
    return WEIR_OK;
}

/* Makes a page without slices, at position `at`. */
static int page_make(struct occupancy *c, uint32_t at, struct page **out)
{
    struct page *p = weir_mem_zalloc(1, sizeof *p);
    int rc = WEIR_ENOMEM;

    if (p && weir_array_reserve(&c->pages, &c->pages_cap, (size_t)c->npages + 1, sizeof *c->pages) == WEIR_OK) {
        c->bytes += sizeof *p + SET_SLICES * c->words * sizeof *p->sets;
        rc = page_reserve(c, p, OCCUPANCY_SLICES / 2);
        if (rc)
            page_free(c, p);
    } else {
        weir_mem_free(p);
    }
    if (rc)
        return rc;
    memset(p->sets, 0, SET_SLICES * c->words * sizeof *p->sets);
    memmove(c->pages + at + 1, c->pages + at, (c->npages - at) * sizeof(struct page *));
    c->pages[at] = p;
    c->npages++;
    *out = p;
    return WEIR_OK;
}

/* Moves the second half of a full page into a new page. */
static int page_split(struct occupancy *c, uint32_t at)
{
    struct page *p = c->pages[at], *q;
    uint32_t half = p->n / 2;
    int rc = page_make(c, at + 1, &q);

    if (rc)
        return rc;
    q->n = p->n - half;
    q->all = p->all;
    q->most = p->most;
    q->stale = p->stale = true;
    memcpy(q->time, p->time + half, q->n * sizeof *q->time);
    memcpy(q->held, p->held + half, q->n * sizeof *q->held);
    memcpy(q->edges, p->edges + half, q->n * sizeof *q->edges);
    memcpy(set_of(c, q, SET_ALL), set_of(c, p, SET_ALL), c->words * sizeof(uint64_t));
    for (uint32_t i = 0; i < q->n; i++)
        memcpy(slice_set(c, q, i), slice_set(c, p, half + i), c->words * sizeof(uint64_t));
    p->n = half;
    return WEIR_OK;
}

/* ---- slices ---- */

/* Inserts a slice that begins at t, at position i, with the vertices held in the slice before. */
static void slice_insert(struct occupancy *c, struct page *p, uint32_t i, int64_t t)
{
    uint32_t more = p->n - i;
    uint8_t place = p->place[p->n];

    memmove(p->time + i + 1, p->time + i, more * sizeof *p->time);
    memmove(p->held + i + 1, p->held + i, more * sizeof *p->held);
    memmove(p->edges + i + 1, p->edges + i, more * sizeof *p->edges);
    memmove(p->place + i + 1, p->place + i, more);
    p->time[i] = t;
    p->edges[i] = 0;
    p->held[i] = i ? p->held[i - 1] : 0;
    p->place[i] = place;
    if (i)
        memcpy(slice_set(c, p, i), slice_set(c, p, i - 1), c->words * sizeof(uint64_t));
    else
        memset(slice_set(c, p, i), 0, c->words * sizeof(uint64_t));
    p->n++;
}

static void slice_remove(struct occupancy *c, uint32_t at, uint32_t i)
{
    struct page *p = c->pages[at];
    uint32_t more = --p->n - i;
    uint8_t place = p->place[i];

    memmove(p->time + i, p->time + i + 1, more * sizeof *p->time);
    memmove(p->held + i, p->held + i + 1, more * sizeof *p->held);
    memmove(p->edges + i, p->edges + i + 1, more * sizeof *p->edges);
    memmove(p->place + i, p->place + i + 1, more);
    p->place[p->n] = place;
    p->stale |= i == 0;
    if (p->n > 0)
        return;
    page_free(c, p);
    c->npages--;
    memmove(c->pages + at, c->pages + at + 1, (c->npages - at) * sizeof(struct page *));
}

/* Adds a start or end of a job at t. WEIR_ENOMEM, WEIR_ELIMIT */
static int edge_add(struct occupancy *c, int64_t t)
{
    struct slice_position at = spot_at(c, t);
    int rc = WEIR_OK;

    if (c->pages[at.page]->time[at.slice] != t) {
        if (c->pages[at.page]->n == OCCUPANCY_SLICES) {
            rc = page_split(c, at.page);
            at = spot_at(c, t);
        }
        if (!rc && c->pages[at.page]->n == c->pages[at.page]->cap)
            rc = page_reserve(c, c->pages[at.page], OCCUPANCY_SLICES);
        if (rc)
            return rc;
        slice_insert(c, c->pages[at.page], ++at.slice, t);
    }
    c->pages[at.page]->edges[at.slice]++;
    return WEIR_OK;
}

/* Removes a start or end of a job at t, and the slice with the last. */
static void edge_remove(struct occupancy *c, int64_t t)
{
    struct slice_position at = spot_at(c, t);

    if (--c->pages[at.page]->edges[at.slice] == 0)
        slice_remove(c, at.page, at.slice);
}

/* ---- marks ---- */

/* A set of vertices: words of 64 bits that are not zero. */
struct marks {
    const uint32_t *words; /* numbers of the words */
    const uint64_t *mask;  /* the words from number `base` on */
    uint32_t n, base;
    uint32_t count; /* vertices */
};

/* Inverts the marked bits of a set. */
static void flip(const struct marks *m, uint64_t *set)
{
    for (uint32_t i = 0; i < m->n; i++)
        set[m->words[i]] ^= m->mask[m->words[i] - m->base];
}

/* Adds vertices to slices lo to hi - 1 of a page, or removes the vertices, which are held throughout the page.
 * Vertices no longer held throughout the page move from SET_ALL to slices. */
static void mark_page(const struct occupancy *c, struct page *p, const struct marks *m, uint32_t lo, uint32_t hi,
                      bool on)
{
    uint64_t *all = set_of(c, p, SET_ALL), *any = set_of(c, p, SET_ANY);
    bool whole = (all[m->words[0]] & m->mask[m->words[0] - m->base]) != 0, more = on || whole;

    if (whole || (on && lo == 0 && hi == p->n)) {
        flip(m, all);
        p->all += on ? m->count : 0 - m->count;
    }
    if (lo == 0 && hi == p->n && more)
        return;
    for (uint32_t i = whole ? 0 : lo; i < (whole ? p->n : hi); i++) {
        if (whole && i >= lo && i < hi)
            continue;
        flip(m, slice_set(c, p, i));
        p->held[i] += more ? m->count : 0 - m->count;
        p->most = p->held[i] > p->most ? p->held[i] : p->most;
    }
    for (uint32_t i = 0; more && i < m->n; i++)
        any[m->words[i]] |= m->mask[m->words[i] - m->base];
    p->stale |= !on;
}

/* Adds vertices to all slices of [start, end), or removes the vertices. */
static void mark_times(const struct occupancy *c, const struct marks *m, int64_t start, int64_t end, bool on)
{
    struct slice_position from = spot_at(c, start);

    for (; from.page < c->npages && c->pages[from.page]->time[from.slice] < end;
         from = (struct slice_position){from.page + 1, 0})
        mark_page(c, c->pages[from.page], m, from.slice, slices_before(c->pages[from.page], end), on);
}

/* Adds the vertices that a job has as a whole, marked in c->mask, to all slices of the job, or removes the vertices. */
static void mark_whole(const struct occupancy *c, const weir_allocation *a, bool on)
{
    struct marks m = {c->touched, c->mask, c->ntouched, 0, 0};

    for (uint32_t i = 0; i < m.n; i++)
        m.count += count_bits(m.mask[m.words[i]]);
    if (m.n > 0)
        mark_times(c, &m, a->start, a->end, on);
}

/* Adds a vertex to the slices of a job, or removes the vertex, where no further job has parts of the vertex. */
static void mark_alone(const struct occupancy *c, uint32_t bit, const weir_allocation *a, bool on)
{
    const weir_timeline *timeline = c->parts.timelines[bit];
    uint32_t word = bit / 64;
    uint64_t mask = UINT64_C(1) << (bit % 64);
    struct marks one = {&word, &mask, 1, word, 1};

    for (int64_t t = a->start, next = a->end; t < a->end; t = next, next = a->end) {
        int64_t change = timeline ? weir_timeline_next_change(timeline, t) : WEIR_FOREVER;
        next = change < next ? change : next;
        if (!timeline || weir_timeline_used_at(timeline, t) == 0)
            mark_times(c, &one, t, next, on);
    }
}

/* ---- jobs ---- */

/* Adds (sign 1) or subtracts (-1) picks of a job, from number `from` on, within vertices that the job does not have as
 * a whole; vertices had as a whole are marked. */
static int change_parts(const weir_graph *g, struct occupancy *c, const weir_allocation *a, uint32_t from, int sign)
{
    struct host_picks p = {.to = from};
    int rc = WEIR_OK;

    while (!rc && weir_host_picks_next(g, c, a, &p)) {
        if (c->mask[p.bit / 64] >> (p.bit % 64) & 1)
            continue;
        if (sign > 0)
            rc = weir_host_usage_reserve(c, &c->parts);
        if (!rc && sign > 0)
            mark_alone(c, p.bit, a, true);
        rc = rc ? rc : weir_host_usage_add(&c->parts, p.bit, a, sign * (int64_t)(p.to - p.from));
        if (!rc && sign < 0)
            mark_alone(c, p.bit, a, false);
    }
    return rc;
}

static int add_edges(struct occupancy *c, const weir_allocation *a)
{
    int rc = edge_add(c, a->start);

    return rc || a->end == WEIR_FOREVER ? rc : edge_add(c, a->end);
}

/* Adds a job with marked vertices, or picks from number `from` on. */
static int add_job(const weir_graph *g, struct occupancy *c, const weir_allocation *a, uint32_t from)
{
    int rc = from > 0 ? WEIR_OK : add_edges(c, a);

    if (!rc)
        mark_whole(c, a, true);
    return rc ? rc : change_parts(g, c, a, from, 1);
}

/* Drops the pages after a failure: made again on the next query, or, if too large, with half the jobs. */
static void keep(const weir_graph *g, struct occupancy *c, int rc)
{
    if (!rc)
        return;
    c->too_many = rc == WEIR_ELIMIT ? live_jobs(g) : c->too_many;
    weir_occupancy_close(c);
}

void weir_occupancy_pages_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from)
{
    if (c->npages > 0)
        keep(g, c, add_job(g, c, &jobs_in(g)->list[job].a, from));
}

void weir_occupancy_pages_remove(const weir_graph *g, struct occupancy *c, uint32_t job)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    int rc;

    if (c->npages == 0)
        return;
    mark_whole(c, a, false);
    rc = change_parts(g, c, a, 0, -1);
    weir_occupancy_forget(c, a->start);
    edge_remove(c, a->start);
    if (a->end != WEIR_FOREVER)
        edge_remove(c, a->end);
    keep(g, c, rc);
}

/* ---- the whole ---- */

void weir_occupancy_close(struct occupancy *c)
{
    while (c->npages > 0)
        page_free(c, c->pages[--c->npages]);
    weir_mem_free(c->pages);
    c->pages = NULL;
    c->pages_cap = 0;
    c->nknown = 0;
    weir_host_usage_free(c, &c->parts);
}

static int fill(const weir_graph *g, struct occupancy *c)
{
    struct page *first;
    int rc = page_make(c, 0, &first);

    if (rc)
        return rc;
    slice_insert(c, first, 0, INT64_MIN);
    first->edges[0] = 1;
    for (uint32_t i = 0; !rc && i < job_records(g); i++)
        if (jobs_in(g)->list[i].used) {
            weir_occupancy_touch(g, c, i, 0);
            rc = add_job(g, c, &jobs_in(g)->list[i].a, 0);
            weir_occupancy_untouch(c);
        }
    return rc;
}

int weir_occupancy_open(const weir_graph *g, struct occupancy *c, bool make, bool *open)
{
    int rc = WEIR_OK;

    if (c->npages == 0 && make && (c->too_many == 0 || live_jobs(g) <= c->too_many / 2)) {
        rc = fill(g, c);
        keep(g, c, rc);
    }
    *open = c->npages > 0;
    return rc == WEIR_ELIMIT ? WEIR_OK : rc;
}
