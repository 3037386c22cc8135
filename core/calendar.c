/* calendar.c - keeping calendars. Invariant: a bit is set in the set of a slot, or in the set of its page for all slots, while
 * a job holds the vertex, in one of the two only; each slot but the first begins where `edges` jobs start or end. */
#include "calendar.h"

#include <string.h>

#include "rows.h"

enum { SET_ALL, SET_ANY, SET_SLOTS };

static uint64_t *set_of(const struct calendar *c, const struct page *p, uint32_t set)
{
    return p->sets + (size_t)set * c->words;
}

static uint64_t *slot_set(const struct calendar *c, const struct page *p, uint32_t slot)
{
    return set_of(c, p, SET_SLOTS + p->place[slot]);
}

static uint32_t count_bits(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}

/* ---- finding slots ---- */

struct spot {
    uint32_t page, slot;
};

/* The last page that begins at t or before. */
static uint32_t page_at(const struct calendar *c, int64_t t)
{
    uint32_t lo = 0, n = c->npages;

    while (n > 1) {
        uint32_t half = n / 2;
        if (c->pages[lo + half]->time[0] <= t)
            lo += half;
        n -= half;
    }
    return lo;
}

/* The last slot of a page that begins at t or before; the first one where none does. */
static uint32_t slot_at(const struct page *p, int64_t t)
{
    uint32_t lo = 0, n = p->n;

    while (n > 1) {
        uint32_t half = n / 2;
        if (p->time[lo + half] <= t)
            lo += half;
        n -= half;
    }
    return lo;
}

static struct spot spot_at(const struct calendar *c, int64_t t)
{
    uint32_t page = page_at(c, t);
    return (struct spot){page, slot_at(c->pages[page], t)};
}

/* ---- pages ---- */

static void page_free(struct calendar *c, struct page *p)
{
    if (!p)
        return;
    c->bytes -= sizeof *p + (size_t)(SET_SLOTS + p->cap) * c->words * sizeof *p->sets;
    weir_mem_free(p->sets);
    weir_mem_free(p);
}

/* Room for so many slots. WEIR_ENOMEM, or WEIR_ELIMIT. */
static int page_reserve(struct calendar *c, struct page *p, uint32_t cap)
{
    size_t more = (size_t)(cap - p->cap) * c->words * sizeof *p->sets;
    uint64_t *sets;

    if (c->bytes + more > CALENDAR_BYTES)
        return WEIR_ELIMIT;
    sets = weir_mem_realloc(p->sets, (size_t)(SET_SLOTS + cap) * c->words * sizeof *sets);
    if (!sets)
        return WEIR_ENOMEM;
    p->sets = sets;
    for (uint32_t i = p->cap; i < cap; i++)
        p->place[i] = (uint8_t)i;
    p->cap = cap;
    c->bytes += more;
    return WEIR_OK;
}

/* A page without slots, at place `at` among the pages. */
static int page_make(struct calendar *c, uint32_t at, struct page **out)
{
    struct page *p = weir_mem_zalloc(1, sizeof *p);
    int rc = WEIR_ENOMEM;

    if (p && weir_array_reserve(&c->pages, &c->pages_cap, (size_t)c->npages + 1, sizeof *c->pages) == WEIR_OK) {
        c->bytes += sizeof *p + SET_SLOTS * c->words * sizeof *p->sets;
        rc = page_reserve(c, p, CALENDAR_SLOTS / 2);
        if (rc)
            page_free(c, p);
    } else {
        weir_mem_free(p);
    }
    if (rc)
        return rc;
    memset(p->sets, 0, SET_SLOTS * c->words * sizeof *p->sets);
    memmove(c->pages + at + 1, c->pages + at, (c->npages - at) * sizeof(struct page *));
    c->pages[at] = p;
    c->npages++;
    *out = p;
    return WEIR_OK;
}

/* The second half of a full page becomes one of its own. */
static int page_split(struct calendar *c, uint32_t at)
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
        memcpy(slot_set(c, q, i), slot_set(c, p, half + i), c->words * sizeof(uint64_t));
    p->n = half;
    return WEIR_OK;
}

/* ---- slots ---- */

/* A slot that begins at t, as number i; what is held there is what is held in the one before. */
static void slot_insert(struct calendar *c, struct page *p, uint32_t i, int64_t t)
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
        memcpy(slot_set(c, p, i), slot_set(c, p, i - 1), c->words * sizeof(uint64_t));
    else
        memset(slot_set(c, p, i), 0, c->words * sizeof(uint64_t));
    p->n++;
}

static void slot_remove(struct calendar *c, uint32_t at, uint32_t i)
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

/* A job starts or ends at t. */
static int edge_add(struct calendar *c, int64_t t)
{
    struct spot at = spot_at(c, t);
    int rc = WEIR_OK;

    if (c->pages[at.page]->time[at.slot] != t) {
        if (c->pages[at.page]->n == CALENDAR_SLOTS) {
            rc = page_split(c, at.page);
            at = spot_at(c, t);
        }
        if (!rc && c->pages[at.page]->n == c->pages[at.page]->cap)
            rc = page_reserve(c, c->pages[at.page], CALENDAR_SLOTS);
        if (rc)
            return rc;
        slot_insert(c, c->pages[at.page], ++at.slot, t);
    }
    c->pages[at.page]->edges[at.slot]++;
    return WEIR_OK;
}

static void edge_remove(struct calendar *c, int64_t t)
{
    struct spot at = spot_at(c, t);

    if (--c->pages[at.page]->edges[at.slot] == 0)
        slot_remove(c, at.page, at.slot);
}

/* ---- what a job holds ---- */

static void touch(const weir_graph *g, struct calendar *c, weir_vertex v)
{
    uint32_t bit = vertex_at(g, v)->bit, word = bit / 64;

    if (!calendar_knows(g, c, v))
        return;
    if (c->mask[word] == 0)
        c->touched[c->ntouched++] = word;
    c->mask[word] |= UINT64_C(1) << (bit % 64);
}

/* Vertices of the type at and below v. The depth of the tree is bounded. */
static void touch_below(const weir_graph *g, struct calendar *c, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    if (kind_of(g, v)->type == c->type)
        touch(g, c, v);
    if (!in || !in->cells || !type_cell(g->schemas[in->schema], c->type))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            touch_below(g, c, in->kids[i]);
}

static void touch_job(const weir_graph *g, struct calendar *c, uint32_t job)
{
    const struct job *j = &g->jobs[job];

    for (uint32_t i = 0; i < j->a.npicks; i++)
        if (j->picks[i].exclusive)
            touch_below(g, c, j->picks[i].vertex);
}

static void untouch(struct calendar *c)
{
    while (c->ntouched > 0)
        c->mask[c->touched[--c->ntouched]] = 0;
}

/* What was not set is set, and the other way round. */
static void flip(const struct calendar *c, uint64_t *set)
{
    for (uint32_t i = 0; i < c->ntouched; i++)
        set[c->touched[i]] ^= c->mask[c->touched[i]];
}

/* Notes the touched in slots lo to hi - 1 of a page, or takes them out. */
static void mark_page(const struct calendar *c, struct page *p, uint32_t lo, uint32_t hi, uint32_t count, bool on)
{
    uint64_t *all = set_of(c, p, SET_ALL), *any = set_of(c, p, SET_ANY);
    uint32_t word = c->touched[0], change = on ? count : 0 - count;

    if (on ? lo == 0 && hi == p->n : (all[word] & c->mask[word]) != 0) {
        flip(c, all);
        p->all += change;
        return;
    }
    for (uint32_t i = lo; i < hi; i++) {
        flip(c, slot_set(c, p, i));
        p->held[i] += change;
        if (p->held[i] > p->most)
            p->most = p->held[i];
    }
    p->stale |= !on;
    for (uint32_t i = 0; on && i < c->ntouched; i++)
        any[c->touched[i]] |= c->mask[c->touched[i]];
}

/* The same in all slots of [start, end), both of which are edges. */
static void mark(struct calendar *c, int64_t start, int64_t end, bool on)
{
    struct spot from = spot_at(c, start);
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->ntouched; i++)
        count += count_bits(c->mask[c->touched[i]]);
    for (; from.page < c->npages && c->pages[from.page]->time[from.slot] < end; from = (struct spot){from.page + 1, 0}) {
        struct page *p = c->pages[from.page];
        uint32_t hi = p->time[p->n - 1] < end ? p->n : slot_at(p, end);
        mark_page(c, p, from.slot, hi, count, on);
    }
}

static int calendar_add(const weir_graph *g, struct calendar *c, uint32_t job)
{
    const weir_allocation *a = &g->jobs[job].a;
    int rc = WEIR_OK;

    touch_job(g, c, job);
    if (c->ntouched > 0) {
        rc = edge_add(c, a->start);
        if (!rc && a->end != WEIR_FOREVER && (rc = edge_add(c, a->end)) != WEIR_OK)
            edge_remove(c, a->start);
        if (!rc)
            mark(c, a->start, a->end, true);
    }
    untouch(c);
    return rc;
}

static void calendar_remove(const weir_graph *g, struct calendar *c, uint32_t job)
{
    const weir_allocation *a = &g->jobs[job].a;

    touch_job(g, c, job);
    if (c->ntouched > 0) {
        mark(c, a->start, a->end, false);
        edge_remove(c, a->start);
        if (a->end != WEIR_FOREVER)
            edge_remove(c, a->end);
    }
    untouch(c);
}

/* ---- making them ---- */

static void pages_free(struct calendar *c)
{
    while (c->npages > 0)
        page_free(c, c->pages[--c->npages]);
    weir_mem_free(c->pages);
    c->pages = NULL;
    c->pages_cap = 0;
}

static void calendar_free(struct calendar *c)
{
    if (!c)
        return;
    pages_free(c);
    weir_mem_free(c->vertices);
    weir_mem_free(c->touched);
    weir_mem_free(c->mask);
    weir_mem_free(c);
}

/* Four sets in one block. */
static int sets_make(struct calendar *c)
{
    c->mask = weir_mem_zalloc((size_t)c->words * 4, sizeof *c->mask);
    c->touched = weir_mem_alloc(c->words * sizeof *c->touched);
    if (!c->mask || !c->touched)
        return WEIR_ENOMEM;
    c->gone = c->mask + c->words;
    c->busy = c->gone + c->words;
    c->refused = c->busy + c->words;
    memset(c->gone, 0xff, c->words * sizeof *c->gone);
    c->bytes += c->words * (4 * sizeof *c->mask + sizeof *c->touched);
    return WEIR_OK;
}

static void give_bit(weir_graph *g, struct calendar *c, weir_vertex v)
{
    uint32_t bit = c->count++;

    c->vertices[bit] = v;
    c->gone[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
    c->live++;
    c->serial = ++g->uses;
    vertex_at(g, v)->bit = bit;
}

/* Gives a bit to each vertex of the type at or below v, in preorder. The depth of the tree is bounded. */
static void give_bits(weir_graph *g, struct calendar *c, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    if (kind_of(g, v)->type == c->type)
        give_bit(g, c, v);
    if (!in || !in->cells || !type_cell(g->schemas[in->schema], c->type))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            give_bits(g, c, in->kids[i]);
}

/* Vertices of a type whose size is 1. */
static uint32_t count_of(const weir_graph *g, weir_type t)
{
    weir_aggregate a;
    return weir_graph_aggregate(g, WEIR_NONE, t, &a) ? (uint32_t)a.total : 0;
}

static int calendar_make(weir_graph *g, weir_type t, struct calendar **out)
{
    struct calendar *c = weir_mem_zalloc(1, sizeof *c);
    uint32_t n = count_of(g, t);
    struct page *first;

    *out = c;
    if (!c)
        return WEIR_ENOMEM;
    c->type = t;
    c->words = (n + n / 16) / 64 + 1; /* some more may join */
    c->vertices = weir_mem_alloc((size_t)c->words * 64 * sizeof *c->vertices);
    if (!c->vertices || sets_make(c))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            give_bits(g, c, g->roots[i]);
    if (page_make(c, 0, &first))
        return WEIR_ENOMEM;
    slot_insert(c, first, 0, INT64_MIN);
    first->edges[0] = 1;
    return WEIR_OK;
}

static int calendar_fill(const weir_graph *g, struct calendar *c)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < g->njobs; i++)
        if (g->jobs[i].used)
            rc = calendar_add(g, c, i);
    return rc;
}

struct calendar *weir_calendar_of(const weir_graph *g, weir_type t)
{
    struct calendar *c = t < g->ncalendars ? g->calendars[t] : NULL;
    return c && c->npages ? c : NULL;
}

/* Forgets a calendar that grew too large, but for a note of how many jobs that were. */
static void give_up(const weir_graph *g, struct calendar *c)
{
    pages_free(c);
    c->count = 0;
    c->live = g->live_jobs;
}

/* Whether it grew too large not long ago. */
static bool is_too_large(const weir_graph *g, weir_type t)
{
    const struct calendar *c = g->calendars[t];
    return c && c->npages == 0 && g->live_jobs > c->live / 2;
}

int weir_calendar_get(weir_graph *g, weir_type t, struct calendar **out)
{
    uint32_t had = g->ncalendars;
    struct calendar *c;
    int rc;

    *out = weir_calendar_of(g, t);
    if (*out)
        return WEIR_OK;
    if (weir_array_reserve(&g->calendars, &g->ncalendars, (size_t)t + 1, sizeof *g->calendars))
        return WEIR_ENOMEM;
    for (uint32_t i = had; i < g->ncalendars; i++)
        g->calendars[i] = NULL;
    if (is_too_large(g, t))
        return WEIR_OK;
    rc = calendar_make(g, t, &c);
    rc = rc ? rc : calendar_fill(g, c);
    if (rc == WEIR_ELIMIT)
        give_up(g, c);
    else if (rc)
        calendar_free(c);
    if (rc && rc != WEIR_ELIMIT)
        return rc;
    calendar_free(g->calendars[t]);
    g->calendars[t] = c;
    *out = weir_calendar_of(g, t);
    return WEIR_OK;
}

int weir_calendars_add(weir_graph *g, uint32_t job)
{
    for (uint32_t t = 0; t < g->ncalendars; t++) {
        struct calendar *c = weir_calendar_of(g, (weir_type)t);
        int rc = c ? calendar_add(g, c, job) : WEIR_OK;
        if (rc == WEIR_ELIMIT) {
            give_up(g, c);
        } else if (rc) {
            while (t-- > 0)
                if ((c = weir_calendar_of(g, (weir_type)t)) != NULL)
                    calendar_remove(g, c, job);
            return rc;
        }
    }
    return WEIR_OK;
}

void weir_calendars_remove(weir_graph *g, uint32_t job)
{
    for (uint32_t t = 0; t < g->ncalendars; t++) {
        struct calendar *c = weir_calendar_of(g, (weir_type)t);
        if (c)
            calendar_remove(g, c, job);
    }
}

static void calendar_drop(weir_graph *g, weir_type t)
{
    calendar_free(g->calendars[t]);
    g->calendars[t] = NULL;
}

void weir_calendars_join(weir_graph *g, weir_vertex v)
{
    weir_type t = kind_of(g, v)->type;
    struct calendar *c = weir_calendar_of(g, t);

    if (c && c->count == c->words * 64)
        calendar_drop(g, t); /* made anew, with more room, when it is next asked for */
    else if (c)
        give_bit(g, c, v);
}

void weir_calendars_leave(weir_graph *g, weir_vertex v)
{
    struct calendar *c = weir_calendar_of(g, kind_of(g, v)->type);
    uint32_t bit = vertex_at(g, v)->bit;

    if (!c || !calendar_knows(g, c, v))
        return;
    c->vertices[bit] = WEIR_NONE;
    c->serial = ++g->uses;
    c->gone[bit / 64] |= UINT64_C(1) << (bit % 64);
    c->live--;
}

void weir_calendars_clear(weir_graph *g)
{
    for (uint32_t t = 0; t < g->ncalendars; t++)
        calendar_free(g->calendars[t]);
    weir_mem_free(g->calendars);
    g->calendars = NULL;
    g->ncalendars = 0;
}

size_t weir_calendars_bytes(const weir_graph *g)
{
    size_t n = g->ncalendars * sizeof(struct calendar *);

    for (uint32_t t = 0; t < g->ncalendars; t++) {
        const struct calendar *c = g->calendars[t];
        n += c ? sizeof *c + c->bytes + (size_t)c->words * 64 * sizeof *c->vertices : 0;
    }
    return n;
}

/* ---- asking ---- */

void weir_calendar_reset(struct calendar *c)
{
    memcpy(c->refused, c->gone, c->words * sizeof *c->refused);
    c->nrefused = c->unheld = 0;
}

void weir_calendar_refuse(const weir_graph *g, struct calendar *c, weir_vertex v)
{
    uint64_t bit = UINT64_C(1) << (vertex_at(g, v)->bit % 64), *word = &c->refused[vertex_at(g, v)->bit / 64];

    if (!calendar_knows(g, c, v) || (*word & bit))
        return;
    *word |= bit;
    c->nrefused++;
    while (v != WEIR_NONE && !book_of(g, v))
        v = vertex_at(g, v)->parent;
    c->unheld += v == WEIR_NONE;
}

/* How many of a set are not busy yet. */
static uint32_t count_new(const struct calendar *c, const uint64_t *set)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->words; i++) {
        uint64_t new = set[i] & ~c->busy[i];
        if (new)
            n += count_bits(new);
    }
    return n;
}

/* Makes a set busy; returns how many of it were not. */
static uint32_t make_busy(struct calendar *c, const uint64_t *set)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->words; i++) {
        uint64_t new = set[i] & ~c->busy[i];
        if (new) {
            n += count_bits(new);
            c->busy[i] |= new;
        }
    }
    return n;
}

static const uint64_t *any_of(const struct calendar *c, struct page *p)
{
    uint64_t *any = set_of(c, p, SET_ANY);

    if (!p->stale)
        return any;
    p->stale = false;
    p->most = 0;
    memset(any, 0, c->words * sizeof *any);
    for (uint32_t i = 0; i < p->n; i++) {
        const uint64_t *set = slot_set(c, p, i);
        for (uint32_t k = 0; k < c->words; k++)
            any[k] |= set[k];
        if (p->held[i] > p->most)
            p->most = p->held[i];
    }
    return any;
}

/* The slots of one page in a window. */
static void part_of(const struct calendar *c, uint32_t page, struct spot first, struct spot last, uint32_t *lo, uint32_t *hi)
{
    *lo = page == first.page ? first.slot : 0;
    *hi = page == last.page ? last.slot + 1 : c->pages[page]->n;
}

/* The last slot of a window in which more than `limit` are held, as *last. */
static bool is_crowded(const struct calendar *c, struct spot first, struct spot *last, uint64_t limit)
{
    for (uint32_t page = last->page + 1; page-- > first.page;) {
        const struct page *p = c->pages[page];
        uint32_t lo, hi;
        part_of(c, page, first, *last, &lo, &hi);
        if ((uint64_t)p->all + p->most <= limit)
            continue;
        for (; hi > lo; hi--)
            if ((uint64_t)p->all + p->held[hi - 1] > limit) {
                *last = (struct spot){page, hi - 1};
                return true;
            }
    }
    return false;
}

/* Makes busy what is held at any time in a window, from its end on, while *spare more may be. False: the slot that was too
 * much is *last. */
static bool is_free(struct calendar *c, struct spot first, struct spot *last, uint64_t spare)
{
    memcpy(c->busy, c->refused, c->words * sizeof *c->busy);
    for (uint32_t page = last->page + 1; page-- > first.page;) {
        struct page *p = c->pages[page];
        uint32_t lo, hi, n;
        part_of(c, page, first, *last, &lo, &hi);
        n = p->all ? make_busy(c, set_of(c, p, SET_ALL)) : 0;
        if (n > spare) {
            *last = (struct spot){page, hi - 1};
            return false;
        }
        spare -= n;
        if (lo == 0 && hi == p->n && count_new(c, any_of(c, p)) <= spare) {
            spare -= make_busy(c, any_of(c, p));
            continue;
        }
        for (; hi > lo; hi--, spare -= n) {
            n = make_busy(c, slot_set(c, p, hi - 1));
            if (n > spare) {
                *last = (struct spot){page, hi - 1};
                return false;
            }
        }
    }
    return true;
}

/* The last slot that begins before t, not before `from`. */
static struct spot last_before(const struct calendar *c, struct spot from, int64_t t)
{
    if (from.page + 1 < c->npages && c->pages[from.page + 1]->time[0] < t)
        from.page = page_at(c, t - 1);
    return (struct spot){from.page, slot_at(c->pages[from.page], t - 1)};
}

static bool next_slot(const struct calendar *c, struct spot *s)
{
    if (++s->slot < c->pages[s->page]->n)
        return true;
    s->slot = 0;
    return ++s->page < c->npages;
}

int64_t weir_calendar_find(struct calendar *c, int64_t from, int64_t duration, uint64_t n)
{
    struct spot first = spot_at(c, from), last;
    int64_t start = from;

    if (n + c->nrefused > c->live)
        return WEIR_FOREVER;
    for (;;) {
        int64_t end = duration > WEIR_FOREVER - (start > 0 ? start : 0) ? WEIR_FOREVER : start + duration;
        last = last_before(c, first, end);
        if (!is_crowded(c, first, &last, c->live - c->unheld - n) && is_free(c, first, &last, c->live - c->nrefused - n))
            return start;
        if (!next_slot(c, &last))
            return WEIR_FOREVER;
        first = last;
        start = c->pages[first.page]->time[first.slot];
    }
}

bool weir_calendar_fits(struct calendar *c, int64_t t0, int64_t t1, uint64_t n)
{
    struct spot first = spot_at(c, t0), last = last_before(c, first, t1);

    return n + c->nrefused <= c->live && !is_crowded(c, first, &last, c->live - c->unheld - n) &&
           is_free(c, first, &last, c->live - c->nrefused - n);
}

/* ---- checking ---- */

static int broken(weir_err *err, const weir_graph *g, const struct calendar *c, const char *what)
{
    return weir_fail(err, WEIR_EINVAL, "weir_check: the calendar of %s: %s", type_text(g, c->type), what);
}

/* Whether a job that lasts over the time t holds v. */
static bool is_held(const weir_graph *g, weir_vertex v, int64_t t)
{
    for (uint32_t i = 0; i < g->njobs; i++) {
        const struct job *j = &g->jobs[i];
        if (!j->used || t < j->a.start || t >= j->a.end)
            continue;
        for (uint32_t k = 0; k < j->a.npicks; k++)
            if (j->picks[k].exclusive && weir_vertex_within(g, v, j->picks[k].vertex))
                return true;
    }
    return false;
}

static int check_slot(const weir_graph *g, struct calendar *c, struct page *p, uint32_t i, weir_err *err)
{
    const uint64_t *all = set_of(c, p, SET_ALL), *own = slot_set(c, p, i), *any = any_of(c, p);
    uint32_t nall = 0, nown = 0;

    for (uint32_t bit = 0; bit < c->words * 64; bit++) {
        uint64_t one = UINT64_C(1) << (bit % 64);
        bool in_all = all[bit / 64] & one, in_own = own[bit / 64] & one;
        bool live = bit < c->count && c->vertices[bit] != WEIR_NONE;
        if ((in_all || in_own) != (live && is_held(g, c->vertices[bit], p->time[i])) || (in_all && in_own))
            return broken(err, g, c, "a vertex is held when it is not, or the other way round");
        if (in_own && !(any[bit / 64] & one))
            return broken(err, g, c, "a page forgets what is held in a slot");
        nall += in_all;
        nown += in_own;
    }
    return nall == p->all && nown == p->held[i] && nown <= p->most ? WEIR_OK : broken(err, g, c, "the held are miscounted");
}

static int check_calendar(const weir_graph *g, struct calendar *c, weir_err *err)
{
    int64_t before = INT64_MIN;
    int rc = WEIR_OK;

    for (uint32_t at = 0; !rc && at < c->npages; at++)
        for (uint32_t i = 0; !rc && i < c->pages[at]->n; i++) {
            struct page *p = c->pages[at];
            if ((at || i) && p->time[i] <= before)
                return broken(err, g, c, "slots are out of order");
            before = p->time[i];
            rc = check_slot(g, c, p, i, err);
        }
    return rc;
}

int weir_calendars_check(const weir_graph *g, weir_err *err)
{
    int rc = WEIR_OK;

    for (uint32_t t = 0; !rc && t < g->ncalendars; t++)
        if (weir_calendar_of(g, (weir_type)t))
            rc = check_calendar(g, g->calendars[t], err);
    return rc;
}
