/* occupancy.c - the bits of the vertices of a type, and the records by bit: pages (occupancy_pages.c), earliest fits.
 * Invariant: each vertex of the type has one bit; pages and earliest fits hold the picks of all jobs.
 */
#include "time/occupancy_private.h"

#include <string.h>

#include "time/earliest_fit.h"
#include "aggregate/rows.h"
#include "graph/observer.h"

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

/* Marks the vertices of the type at and below v. The depth of the tree is bounded. */
static void touch_below(const weir_graph *g, struct occupancy *c, weir_vertex v)
{
    const struct inner *in;

    if (kind_of(g, v)->type == c->type) {
        touch(g, c, v);
        return;
    }
    in = inner_of(g, v);
    if (!in || !in->cells || !type_cell(schema_at(g, in->schema), c->type))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            touch_below(g, c, in->kids[i]);
}

/* Distance of prefetching, in vertices. */
#define AHEAD 8

void weir_occupancy_touch(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from)
{
    const struct job *j = &jobs_in(g)->list[job];

    for (uint32_t i = from; i < j->a.npicks; i++) {
        if (i + AHEAD < j->a.npicks)
            __builtin_prefetch(vertex_at(g, j->picks[i + AHEAD].vertex));
        if (j->picks[i].exclusive)
            touch_below(g, c, j->picks[i].vertex);
    }
}

void weir_occupancy_untouch(struct occupancy *c)
{
    while (c->ntouched > 0)
        c->mask[c->touched[--c->ntouched]] = 0;
}

/* ---- making occupancies ---- */

static void occupancy_free(struct occupancy *c)
{
    if (!c)
        return;
    weir_occupancy_close(c);
    weir_fits_free(c);
    WEIR_FREE(c->vertices, c->touched, c->mask, c);
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
    c->serial = weir_next_use(g);
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
    if (!c->vertices || sets_make(c))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            give_bits(g, c, g->roots[i]);
    return WEIR_OK;
}

struct occupancy *weir_occupancy_of(const weir_graph *g, weir_type t)
{
    return t < occupancies_in(g)->n ? occupancies_in(g)->by_type[t] : NULL;
}

int weir_occupancy_get(weir_graph *g, weir_type t, struct occupancy **out)
{
    struct occupancies *all;
    uint32_t had = occupancies_in(g)->n;
    int rc;

    *out = weir_occupancy_of(g, t);
    if (*out)
        return WEIR_OK;
    all = weir_record_make(g, RECORD_OCCUPANCIES, sizeof *all, &weir_occupancy_observer);
    if (!all || weir_array_reserve(&all->by_type, &all->n, (size_t)t + 1, sizeof *all->by_type))
        return WEIR_ENOMEM;
    for (uint32_t i = had; i < all->n; i++)
        all->by_type[i] = NULL;
    rc = occupancy_make(g, t, out);
    if (rc)
        occupancy_free(*out);
    else
        all->by_type[t] = *out;
    return rc;
}

static void occupancy_drop(weir_graph *g, weir_type t)
{
    occupancy_free(occupancies_in(g)->by_type[t]);
    occupancies_in(g)->by_type[t] = NULL;
}

/* ---- changes of jobs ---- */

/* The occupancy to update; NULL: none. An occupancy is dropped once vertices of the type are inside each other. */
static struct occupancy *to_update(weir_graph *g, weir_type t)
{
    struct occupancy *c = weir_occupancy_of(g, t);

    if (c && weir_type_above(g, t, t))
        occupancy_drop(g, t);
    return weir_occupancy_of(g, t);
}

void weir_occupancies_add(weir_graph *g, uint32_t job, uint32_t from)
{
    for (uint32_t t = 0; t < occupancies_in(g)->n; t++) {
        struct occupancy *c = to_update(g, (weir_type)t);
        if (!c)
            continue;
        weir_occupancy_touch(g, c, job, from);
        weir_occupancy_pages_add(g, c, job, from);
        weir_fits_add(g, c, job, from);
        weir_occupancy_untouch(c);
    }
}

void weir_occupancies_remove(weir_graph *g, uint32_t job)
{
    for (uint32_t t = 0; t < occupancies_in(g)->n; t++) {
        struct occupancy *c = to_update(g, (weir_type)t);
        if (!c)
            continue;
        weir_occupancy_touch(g, c, job, 0);
        weir_occupancy_pages_remove(g, c, job);
        weir_fits_remove(g, c, job);
        weir_occupancy_untouch(c);
    }
}

/* ---- changes of vertices ---- */

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
    c->serial = weir_next_use(g);
    c->gone[bit / 64] |= UINT64_C(1) << (bit % 64);
    c->live--;
}

void weir_occupancies_clear(weir_graph *g)
{
    for (uint32_t t = 0; t < occupancies_in(g)->n; t++)
        occupancy_free(occupancies_in(g)->by_type[t]);
    weir_mem_free(occupancies_in(g)->by_type);
    weir_record_drop(g, RECORD_OCCUPANCIES, &weir_occupancy_observer);
}

static size_t bytes(const weir_graph *g)
{
    size_t n = occupancies_in(g)->n * sizeof(struct occupancy *);

    for (uint32_t t = 0; t < occupancies_in(g)->n; t++) {
        const struct occupancy *c = occupancies_in(g)->by_type[t];
        n += c ? sizeof *c + c->bytes + weir_fits_bytes(c) + weir_host_usage_bytes(c, &c->parts) +
                     occupancy_bits(c) * sizeof *c->vertices
               : 0;
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
