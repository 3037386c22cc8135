/* occupancy.c - maintains occupancies. Invariant: while a job holds a vertex the bit is set in the set of the slot
 * or in SET_ALL of the page, never in both; each slot but the first begins where `edges` jobs start or end. */
#include "time/occupancy_private.h"

#include <string.h>

#include "time/earliest_fit.h"
#include "aggregate/rows.h"
#include "graph/observer.h"

/* ---- pages ---- */

static void page_free(struct occupancy *c, struct page *p)
{
    if (!p)
        return;
    c->bytes -= sizeof *p + (size_t)(SET_SLOTS + p->cap) * c->words * sizeof *p->sets;
    weir_mem_free(p->sets);
    weir_mem_free(p);
}

/* Reserves `cap` slots. WEIR_ENOMEM, or WEIR_ELIMIT. */
static int page_reserve(struct occupancy *c, struct page *p, uint32_t cap)
{
    size_t more = (size_t)(cap - p->cap) * c->words * sizeof *p->sets;
    uint64_t *sets;

    if (c->bytes + more > OCCUPANCY_BYTES)
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

/* Makes a page without slots, at position `at`. */
static int page_make(struct occupancy *c, uint32_t at, struct page **out)
{
    struct page *p = weir_mem_zalloc(1, sizeof *p);
    int rc = WEIR_ENOMEM;

    if (p && weir_array_reserve(&c->pages, &c->pages_cap, (size_t)c->npages + 1, sizeof *c->pages) == WEIR_OK) {
        c->bytes += sizeof *p + SET_SLOTS * c->words * sizeof *p->sets;
        rc = page_reserve(c, p, OCCUPANCY_SLOTS / 2);
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
        memcpy(slot_set(c, q, i), slot_set(c, p, half + i), c->words * sizeof(uint64_t));
    p->n = half;
    return WEIR_OK;
}

/* ---- slots ---- */

/* Inserts a slot that begins at t, at position i, with the vertices held in the slot before. */
static void slot_insert(struct occupancy *c, struct page *p, uint32_t i, int64_t t)
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

static void slot_remove(struct occupancy *c, uint32_t at, uint32_t i)
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

int weir_occupancy_edge_add(struct occupancy *c, int64_t t)
{
    struct spot at = spot_at(c, t);
    int rc = WEIR_OK;

    if (c->pages[at.page]->time[at.slot] != t) {
        if (c->pages[at.page]->n == OCCUPANCY_SLOTS) {
            rc = page_split(c, at.page);
            at = spot_at(c, t);
        }
        if (!rc && c->pages[at.page]->n == c->pages[at.page]->cap)
            rc = page_reserve(c, c->pages[at.page], OCCUPANCY_SLOTS);
        if (rc)
            return rc;
        slot_insert(c, c->pages[at.page], ++at.slot, t);
    }
    c->pages[at.page]->edges[at.slot]++;
    return WEIR_OK;
}

void weir_occupancy_edge_remove(struct occupancy *c, int64_t t)
{
    struct spot at = spot_at(c, t);

    if (--c->pages[at.page]->edges[at.slot] == 0)
        slot_remove(c, at.page, at.slot);
}

/* ---- vertices held by a job ---- */

static void touch(const weir_graph *g, struct occupancy *c, weir_vertex v)
{
    uint32_t bit = vertex_at(g, v)->bit, word = bit / 64;

    if (!occupancy_knows(g, c, v))
        return;
    if (c->mask[word] == 0)
        c->touched[c->ntouched++] = word;
    c->mask[word] |= UINT64_C(1) << (bit % 64);
}

/* Whether vertices of the type may be below vertices of the type. */
static bool is_nested(const weir_graph *g, const struct occupancy *c)
{
    return weir_type_above(g, c->type, c->type);
}

/* Marks the vertices of the type at and below v. The depth of the tree is bounded. */
static void touch_below(const weir_graph *g, struct occupancy *c, weir_vertex v, bool nested)
{
    const struct inner *in;

    if (kind_of(g, v)->type == c->type) {
        touch(g, c, v);
        if (!nested)
            return;
    }
    in = inner_of(g, v);
    if (!in || !in->cells || !type_cell(schema_at(g, in->schema), c->type))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            touch_below(g, c, in->kids[i], nested);
}

/* Distance of prefetching, in vertices. */
#define AHEAD 8

void weir_occupancy_touch(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from)
{
    const struct job *j = &g->jobs->list[job];
    bool nested = is_nested(g, c);

    for (uint32_t i = from; i < j->a.npicks; i++) {
        if (i + AHEAD < j->a.npicks)
            __builtin_prefetch(vertex_at(g, j->picks[i + AHEAD].vertex));
        if (j->picks[i].exclusive)
            touch_below(g, c, j->picks[i].vertex, nested);
    }
}

/* Adds (sign 1) picks of a job, from number `from` on, to `parts`, or subtracts the picks (-1). */
static void count_parts(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from, int sign)
{
    const struct job *j = &g->jobs->list[job];
    bool nested = is_nested(g, c);

    for (uint32_t i = from; i < j->a.npicks; i++) {
        weir_vertex v = j->picks[i].vertex;
        if (j->picks[i].exclusive && kind_of(g, v)->type == c->type && !nested)
            continue;
        for (v = j->picks[i].exclusive ? vertex_at(g, v)->parent : v; v != WEIR_NONE; v = vertex_at(g, v)->parent)
            if (kind_of(g, v)->type == c->type && occupancy_knows(g, c, v)) {
                c->parts[vertex_at(g, v)->bit] += (uint32_t)sign;
                c->nparts += (uint64_t)sign;
            }
    }
}

void weir_occupancy_untouch(struct occupancy *c)
{
    while (c->ntouched > 0)
        c->mask[c->touched[--c->ntouched]] = 0;
}

/* Inverts the marked bits of a set. */
static void flip(const struct occupancy *c, uint64_t *set)
{
    for (uint32_t i = 0; i < c->ntouched; i++)
        set[c->touched[i]] ^= c->mask[c->touched[i]];
}

/* Adds the marked vertices to slots lo to hi - 1 of a page, or removes the vertices. */
static void mark_page(const struct occupancy *c, struct page *p, uint32_t lo, uint32_t hi, uint32_t count, bool on)
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

void weir_occupancy_mark(struct occupancy *c, int64_t start, int64_t end, bool on)
{
    struct spot from = spot_at(c, start);
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->ntouched; i++)
        count += count_bits(c->mask[c->touched[i]]);
    for (; from.page < c->npages && c->pages[from.page]->time[from.slot] < end;
         from = (struct spot){from.page + 1, 0}) {
        struct page *p = c->pages[from.page];
        mark_page(c, p, from.slot, slots_before(p, end), count, on);
    }
}

/* Whether a job holds vertices by the first n picks. */
static bool holds_by(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t n)
{
    const weir_pick *picks = g->jobs->list[job].picks;
    bool nested = is_nested(g, c), holds = false;

    for (uint32_t i = 0; i < n && !holds; i++) {
        if (picks[i].exclusive)
            touch_below(g, c, picks[i].vertex, nested);
        holds = c->ntouched > 0;
    }
    weir_occupancy_untouch(c);
    return holds;
}

static int add_edges(struct occupancy *c, const weir_allocation *a)
{
    int rc = weir_occupancy_edge_add(c, a->start);

    if (!rc && a->end != WEIR_FOREVER && (rc = weir_occupancy_edge_add(c, a->end)) != WEIR_OK)
        weir_occupancy_edge_remove(c, a->start);
    return rc;
}

static int occupancy_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from)
{
    const weir_allocation *a = &g->jobs->list[job].a;
    bool had = false; /* the edges of the job are there */
    int rc = WEIR_OK;

    weir_occupancy_touch(g, c, job, from);
    if (from > 0 && (c->ntouched > 0 || c->partial)) {
        weir_occupancy_untouch(c);
        had = holds_by(g, c, job, from);
        weir_occupancy_touch(g, c, job, from);
    }
    if (c->ntouched > 0) {
        rc = had ? WEIR_OK : add_edges(c, a);
        if (!rc)
            weir_occupancy_mark(c, a->start, a->end, true);
    }
    if (!rc) {
        count_parts(g, c, job, from, 1);
        weir_fits_add(g, c, job, from);
        weir_occupancy_partial_add(g, c, job, from, had);
    }
    weir_occupancy_untouch(c);
    return rc;
}

static void occupancy_remove(const weir_graph *g, struct occupancy *c, uint32_t job)
{
    const weir_allocation *a = &g->jobs->list[job].a;

    weir_occupancy_touch(g, c, job, 0);
    if (c->ntouched > 0) {
        weir_occupancy_mark(c, a->start, a->end, false);
        weir_occupancy_forget(c, a->start);
        weir_occupancy_edge_remove(c, a->start);
        if (a->end != WEIR_FOREVER)
            weir_occupancy_edge_remove(c, a->end);
    }
    count_parts(g, c, job, 0, -1);
    weir_fits_remove(g, c, job);
    weir_occupancy_partial_remove(g, c, job);
    weir_occupancy_untouch(c);
}

/* ---- making occupancies ---- */

void weir_occupancy_close(struct occupancy *c)
{
    while (c->npages > 0)
        page_free(c, c->pages[--c->npages]);
    weir_mem_free(c->pages);
    c->pages = NULL;
    c->pages_cap = 0;
}

/* Frees pages, earliest fits and the partial occupancy. */
static void occupancy_clear(struct occupancy *c)
{
    weir_occupancy_partial_free(c);
    weir_fits_free(c);
    weir_occupancy_close(c);
}

static void occupancy_free(struct occupancy *c)
{
    if (!c)
        return;
    occupancy_clear(c);
    weir_mem_free(c->vertices);
    weir_mem_free(c->parts);
    weir_mem_free(c->touched);
    weir_mem_free(c->mask);
    weir_mem_free(c);
}

/* Allocates four sets in one block. */
static int sets_make(struct occupancy *c)
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

static void give_bit(weir_graph *g, struct occupancy *c, weir_vertex v)
{
    uint32_t bit = c->count++;

    c->vertices[bit] = v;
    c->gone[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
    c->live++;
    c->serial = ++g->uses;
    vertex_at(g, v)->bit = bit;
}

/* Gives a bit to each vertex of the type at or below v, in preorder. The depth of the tree is bounded. */
static void give_bits(weir_graph *g, struct occupancy *c, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    if (kind_of(g, v)->type == c->type)
        give_bit(g, c, v);
    if (!in || !in->cells || !type_cell(schema_at(g, in->schema), c->type))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            give_bits(g, c, in->kids[i]);
}

/* Number of vertices of a type with size 1. */
static uint32_t count_of(const weir_graph *g, weir_type t)
{
    weir_aggregate a;
    return weir_graph_aggregate(g, WEIR_NONE, t, &a) ? (uint32_t)a.total : 0;
}

int weir_occupancy_open(struct occupancy *c)
{
    struct page *first;

    if (page_make(c, 0, &first))
        return WEIR_ENOMEM;
    slot_insert(c, first, 0, INT64_MIN);
    first->edges[0] = 1;
    return WEIR_OK;
}

static int occupancy_make(weir_graph *g, weir_type t, struct occupancy **out)
{
    struct occupancy *c = weir_mem_zalloc(1, sizeof *c);
    uint32_t n = count_of(g, t);

    *out = c;
    if (!c)
        return WEIR_ENOMEM;
    c->type = t;
    c->freed = WEIR_FOREVER;
    c->words = (n + n / 16) / 64 + 1; /* reserves some bits for new vertices */
    c->vertices = weir_mem_alloc((size_t)c->words * 64 * sizeof *c->vertices);
    c->parts = weir_mem_zalloc((size_t)c->words * 64, sizeof *c->parts);
    if (!c->vertices || !c->parts || sets_make(c))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            give_bits(g, c, g->roots[i]);
    return weir_occupancy_open(c);
}

static int occupancy_fill(const weir_graph *g, struct occupancy *c)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < job_records(g); i++)
        if (g->jobs->list[i].used)
            rc = occupancy_add(g, c, i, 0);
    return rc;
}

struct occupancy *weir_occupancy_of(const weir_graph *g, weir_type t)
{
    struct occupancy *c = t < g->occupancies.n ? g->occupancies.by_type[t] : NULL;
    return c && c->npages ? c : NULL;
}

/* Empties an occupancy that grew too large, and stores the number of jobs in `live`. */
static void give_up(const weir_graph *g, struct occupancy *c)
{
    occupancy_clear(c);
    c->count = 0;
    c->live = live_jobs(g);
}

/* Whether the occupancy grew too large with about as many jobs as now. */
static bool is_too_large(const weir_graph *g, weir_type t)
{
    const struct occupancy *c = g->occupancies.by_type[t];
    return c && c->npages == 0 && live_jobs(g) > c->live / 2;
}

int weir_occupancy_get(weir_graph *g, weir_type t, struct occupancy **out)
{
    uint32_t had = g->occupancies.n;
    struct occupancy *c;
    int rc;

    *out = weir_occupancy_of(g, t);
    if (*out)
        return WEIR_OK;
    if (weir_array_reserve(&g->occupancies.by_type, &g->occupancies.n, (size_t)t + 1, sizeof *g->occupancies.by_type))
        return WEIR_ENOMEM;
    for (uint32_t i = had; i < g->occupancies.n; i++)
        g->occupancies.by_type[i] = NULL;
    weir_observe(g, &weir_occupancy_observer);
    if (is_too_large(g, t))
        return WEIR_OK;
    rc = occupancy_make(g, t, &c);
    rc = rc ? rc : occupancy_fill(g, c);
    if (rc == WEIR_ELIMIT)
        give_up(g, c);
    else if (rc)
        occupancy_free(c);
    if (rc && rc != WEIR_ELIMIT)
        return rc;
    occupancy_free(g->occupancies.by_type[t]);
    g->occupancies.by_type[t] = c;
    *out = weir_occupancy_of(g, t);
    return WEIR_OK;
}

int weir_occupancies_add(weir_graph *g, uint32_t job, uint32_t from)
{
    for (uint32_t t = 0; t < g->occupancies.n; t++) {
        struct occupancy *c = weir_occupancy_of(g, (weir_type)t);
        int rc = c ? occupancy_add(g, c, job, from) : WEIR_OK;
        if (rc == WEIR_ELIMIT) {
            give_up(g, c);
        } else if (rc) {
            while (from == 0 && t-- > 0)
                if ((c = weir_occupancy_of(g, (weir_type)t)) != NULL)
                    occupancy_remove(g, c, job);
            return rc;
        }
    }
    return WEIR_OK;
}

void weir_occupancies_remove(weir_graph *g, uint32_t job)
{
    for (uint32_t t = 0; t < g->occupancies.n; t++) {
        struct occupancy *c = weir_occupancy_of(g, (weir_type)t);
        if (c)
            occupancy_remove(g, c, job);
    }
}

static void occupancy_drop(weir_graph *g, weir_type t)
{
    occupancy_free(g->occupancies.by_type[t]);
    g->occupancies.by_type[t] = NULL;
}

/* Adds a new vertex that no job has. */
static void join(weir_graph *g, weir_vertex v)
{
    weir_type t = kind_of(g, v)->type;
    struct occupancy *c = weir_occupancy_of(g, t);

    if (!c || occupancy_knows(g, c, v))
        return;
    if (c->count == c->words * 64) {
        occupancy_drop(g, t); /* made again, with more bits, on the next query */
        return;
    }
    give_bit(g, c, v);
    weir_occupancy_forget(c, INT64_MIN);
    weir_occupancy_partial_sync(c);
}

/* Whether a job has p, or an ancestor of p, exclusively. */
static bool is_held_above(const weir_graph *g, weir_vertex p)
{
    for (; p != WEIR_NONE; p = vertex_at(g, p)->parent)
        if (schedule_of(g, p) && schedule_of(g, p)->count > schedule_of(g, p)->shared)
            return true;
    return false;
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    const weir_vertex *kids = p == WEIR_NONE ? g->roots : inner_of(g, p)->kids;

    if (is_held_above(g, p)) {
        weir_occupancies_clear(g);
        return;
    }
    for (uint32_t i = pos; i < pos + count; i++)
        join(g, kids[i]);
}

static void reclaimed(weir_graph *g, weir_vertex v)
{
    struct occupancy *c = weir_occupancy_of(g, kind_of(g, v)->type);
    uint32_t bit = vertex_at(g, v)->bit;

    if (!c || !occupancy_knows(g, c, v))
        return;
    c->vertices[bit] = WEIR_NONE;
    c->serial = ++g->uses;
    c->gone[bit / 64] |= UINT64_C(1) << (bit % 64);
    c->live--;
    weir_occupancy_partial_sync(c);
}

void weir_occupancies_clear(weir_graph *g)
{
    for (uint32_t t = 0; t < g->occupancies.n; t++)
        occupancy_free(g->occupancies.by_type[t]);
    weir_mem_free(g->occupancies.by_type);
    g->occupancies.by_type = NULL;
    g->occupancies.n = 0;
    weir_observe_end(g, &weir_occupancy_observer);
}

static size_t bytes(const weir_graph *g)
{
    size_t n = g->occupancies.n * sizeof(struct occupancy *);

    for (uint32_t t = 0; t < g->occupancies.n; t++) {
        const struct occupancy *c = g->occupancies.by_type[t];
        n += c ? sizeof *c + c->bytes + weir_fits_bytes(c) +
                     (size_t)c->words * 64 * (sizeof *c->vertices + sizeof *c->parts)
               : 0;
        n += c ? weir_occupancy_partial_bytes(c) : 0;
    }
    return n;
}

const struct weir_observer weir_occupancy_observer = {
    .linked = linked,
    .reclaimed = reclaimed,
    .reset = weir_occupancies_clear,
    .freed = weir_occupancies_clear,
    .bytes = bytes,
    .check = weir_occupancies_check,
};
