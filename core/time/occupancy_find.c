/* occupancy_find.c - queries of occupancies. Invariant: every vertex reported busy is busy, and no start with
 * enough free vertices is passed over. An interval is searched from the end: the latest obstacle moves the start
 * furthest. */
#include <string.h>

#include "time/occupancy_private.h"

void weir_occupancy_reset(struct occupancy *c)
{
    memcpy(c->refused, c->gone, c->words * sizeof *c->refused);
    c->nrefused = c->unheld = 0;
}

void weir_occupancy_refuse(const weir_graph *g, struct occupancy *c, weir_vertex v)
{
    uint64_t bit = UINT64_C(1) << (vertex_at(g, v)->bit % 64), *word = &c->refused[vertex_at(g, v)->bit / 64];

    if (!occupancy_knows(g, c, v) || (*word & bit))
        return;
    *word |= bit;
    c->nrefused++;
    if (c->parts.timelines && c->parts.timelines[vertex_at(g, v)->bit])
        return;
    while (v != WEIR_NONE && !schedule_of(g, v))
        v = vertex_at(g, v)->parent;
    c->unheld += v == WEIR_NONE;
}

/* Number of vertices of a set not busy yet. */
static uint32_t count_new(const struct occupancy *c, const uint64_t *set)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->words; i++) {
        uint64_t new = set[i] & ~c->busy[i];
        if (new)
            n += count_bits(new);
    }
    return n;
}

/* Makes a set of `count` vertices busy; returns how many were not busy before. *fresh: no live vertex is busy yet. */
static uint32_t make_busy(struct occupancy *c, const uint64_t *set, uint32_t count, bool *fresh)
{
    uint32_t n = *fresh ? count : 0;

    for (uint32_t i = 0; *fresh && i < c->words; i++)
        c->busy[i] |= set[i];
    for (uint32_t i = 0; !*fresh && i < c->words; i++) {
        uint64_t new = set[i] & ~c->busy[i];
        if (new) {
            n += count_bits(new);
            c->busy[i] |= new;
        }
    }
    *fresh = false;
    return n;
}

const uint64_t *weir_occupancy_any(const struct occupancy *c, struct page *p)
{
    uint64_t *any = set_of(c, p, SET_ANY);

    if (!p->stale)
        return any;
    p->stale = false;
    p->most = 0;
    memset(any, 0, c->words * sizeof *any);
    for (uint32_t i = 0; i < p->n; i++) {
        const uint64_t *set = slice_set(c, p, i);
        for (uint32_t k = 0; k < c->words; k++)
            any[k] |= set[k];
        if (p->held[i] > p->most)
            p->most = p->held[i];
    }
    return any;
}

/* The slices [*lo, *hi) of a page within an interval. */
static void slices_within(const struct occupancy *c, uint32_t page, struct slice_position first,
                          struct slice_position last, uint32_t *lo, uint32_t *hi)
{
    *lo = page == first.page ? first.slice : 0;
    *hi = page == last.page ? last.slice + 1 : c->pages[page]->n;
}

/* Finds the last slice of an interval with more than `limit` vertices held, as *last. */
static bool lacks_room(const struct occupancy *c, struct slice_position first, struct slice_position *last,
                       uint64_t limit)
{
    for (uint32_t page = last->page + 1; page-- > first.page;) {
        const struct page *p = c->pages[page];
        uint32_t lo, hi;
        slices_within(c, page, first, *last, &lo, &hi);
        if ((uint64_t)p->all + p->most <= limit)
            continue;
        for (; hi > lo; hi--)
            if ((uint64_t)p->all + p->held[hi - 1] > limit) {
                *last = (struct slice_position){page, hi - 1};
                return true;
            }
    }
    return false;
}

/* Makes busy all vertices held at any time in an interval, from the end on, at most *spare. False: *last is the
 * slice that exceeds *spare. */
static bool is_free(struct occupancy *c, struct slice_position first, struct slice_position *last, uint64_t spare)
{
    bool fresh = c->nrefused == 0;

    memcpy(c->busy, c->refused, c->words * sizeof *c->busy);
    for (uint32_t page = last->page + 1; page-- > first.page;) {
        struct page *p = c->pages[page];
        uint32_t lo, hi, n;
        slices_within(c, page, first, *last, &lo, &hi);
        n = p->all ? make_busy(c, set_of(c, p, SET_ALL), p->all, &fresh) : 0;
        if (n > spare) {
            *last = (struct slice_position){page, hi - 1};
            return false;
        }
        spare -= n;
        if (lo == 0 && hi == p->n && (n = count_new(c, weir_occupancy_any(c, p))) <= spare) {
            spare -= make_busy(c, weir_occupancy_any(c, p), n, &fresh);
            continue;
        }
        for (; hi > lo; hi--, spare -= n) {
            n = make_busy(c, slice_set(c, p, hi - 1), p->held[hi - 1], &fresh);
            if (n > spare) {
                *last = (struct slice_position){page, hi - 1};
                return false;
            }
        }
    }
    return true;
}

/* Pages looked at in turn before a binary search. */
#define NEAR_PAGES 4

/* The last slice that begins before t, not before `from`. */
static struct slice_position last_before(const struct occupancy *c, struct slice_position from, int64_t t)
{
    for (uint32_t i = 0; from.page + 1 < c->npages && c->pages[from.page + 1]->time[0] < t; i++)
        from.page = i < NEAR_PAGES ? from.page + 1 : page_at(c, t - 1);
    return (struct slice_position){from.page, slice_at(c->pages[from.page], t - 1)};
}

static bool next_slice(const struct occupancy *c, struct slice_position *s)
{
    if (++s->slice < c->pages[s->page]->n)
        return true;
    s->slice = 0;
    return ++s->page < c->npages;
}

/* ---- known starts ---- */

/* A lower bound of the start for n vertices: the latest start known of requests for no more, and no longer. */
static int64_t bound_of(const struct occupancy *c, int64_t from, int64_t duration, uint64_t n)
{
    int64_t start = from;

    for (uint32_t i = 0; i < c->nknown && c->known_from <= from; i++) {
        const struct known_start *x = &c->known[i];
        if (x->n <= n && x->duration <= duration && x->start > start)
            start = x->start;
    }
    return start;
}

/* Records a start, in place of one that says less, or else of the oldest. A search that began later than further
 * searches may is not recorded. */
static void note_start(const weir_graph *g, struct occupancy *c, int64_t from, int64_t duration, uint64_t n,
                       int64_t start)
{
    uint32_t at = 0;

    if (c->nrefused > 0 || (from > c->known_from && c->known_from > g->now))
        return;
    c->nknown = from < c->known_from ? 0 : c->nknown;
    c->known_from = from;
    for (; at < c->nknown; at++) {
        const struct known_start *x = &c->known[at];
        if (x->n >= n && x->duration >= duration && x->start <= start)
            break;
        if (x->n <= n && x->duration <= duration && x->start >= start)
            return;
    }
    if (at == OCCUPANCY_KNOWN)
        at = c->oldest++ % OCCUPANCY_KNOWN;
    c->nknown += at == c->nknown;
    c->known[at] = (struct known_start){n, duration, start};
}

void weir_occupancy_forget(struct occupancy *c, int64_t start)
{
    if (start < c->freed)
        c->freed = start;
}

/* Lowers the bounds after releases from c->freed on: an interval may begin earlier by at most the duration. */
static void settle_known(struct occupancy *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->nknown && c->freed > c->known_from; i++) {
        struct known_start x = c->known[i];
        int64_t smallest = x.duration < c->freed ? c->freed - x.duration : 0;
        x.start = smallest < x.start ? smallest : x.start;
        if (x.start > c->known_from)
            c->known[n++] = x;
    }
    c->nknown = n;
    c->freed = WEIR_FOREVER;
}

static int64_t find_from(struct occupancy *c, int64_t from, int64_t duration, uint64_t n)
{
    struct slice_position first = spot_at(c, from), last;
    int64_t start = from;

    for (;;) {
        int64_t end = duration > WEIR_FOREVER - (start > 0 ? start : 0) ? WEIR_FOREVER : start + duration;
        last = last_before(c, first, end);
        if (!lacks_room(c, first, &last, c->live - c->unheld - n) &&
            is_free(c, first, &last, c->live - c->nrefused - n))
            return start;
        if (!next_slice(c, &last))
            return WEIR_FOREVER;
        first = last;
        start = c->pages[first.page]->time[first.slice];
    }
}

int64_t weir_occupancy_find(const weir_graph *g, struct occupancy *c, int64_t from, int64_t duration, uint64_t n)
{
    int64_t start;

    if (n + c->nrefused > c->live)
        return WEIR_FOREVER;
    duration = duration > 0 ? duration : 1;
    if (c->freed != WEIR_FOREVER)
        settle_known(c);
    start = find_from(c, bound_of(c, from, duration, n), duration, n);
    note_start(g, c, from, duration, n, start);
    return start;
}

bool weir_occupancy_fits(struct occupancy *c, int64_t t0, int64_t t1, uint64_t n)
{
    struct slice_position first = spot_at(c, t0), last = last_before(c, first, t1);

    return n + c->nrefused <= c->live && !lacks_room(c, first, &last, c->live - c->unheld - n) &&
           is_free(c, first, &last, c->live - c->nrefused - n);
}
