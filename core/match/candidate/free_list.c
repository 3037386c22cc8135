/* free_list.c - iterator over free vertices (free_list.h). Invariant: exactly the vertices set in c->busy are left out;
 * the order is that of the index.
 */
#include "match/candidate/free_list.h"

#include <string.h>

/* Records the bit of each vertex in the list of the index, so that busy vertices need not be read; no record is
 * needed where list and occupancy have the same order. WEIR_ENOMEM. */
static int find_bits(const weir_graph *g, struct index *x, const struct occupancy *c)
{
    bool alike =
        x->nlist == c->count && (x->nlist == 0 || memcmp(x->list, c->vertices, x->nlist * sizeof *x->list) == 0);

    weir_mem_free(x->bits);
    x->bits_of = 0;
    x->bits = alike ? NULL : weir_mem_alloc(x->nlist * sizeof *x->bits + 1);
    if (!alike && !x->bits)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !alike && i < x->nlist; i++)
        x->bits[i] = occupancy_knows(g, c, x->list[i]) ? vertex_at(g, x->list[i])->bit : WEIR_NONE;
    x->bits_of = c->serial;
    return WEIR_OK;
}

int weir_free_list_begin(struct free_list *l, const weir_graph *g, struct index *x, const struct occupancy *c)
{
    *l = (struct free_list){.g = g, .occupancy = c, .index = x};
    if (weir_index_list(g, x) || (x->bits_of != c->serial && find_bits(g, x, c)))
        return WEIR_ENOMEM;
    return WEIR_OK;
}

/* The first bit from `at` on that is not set; beyond the last vertex all bits count as set. */
static uint32_t next_clear(const struct occupancy *c, uint32_t at)
{
    uint32_t word = at / 64;
    uint64_t clear = word < c->words ? ~c->busy[word] & (UINT64_MAX << (at % 64)) : 0;

    while (!clear && ++word < c->words)
        clear = ~c->busy[word];
    return clear ? word * 64 + (uint32_t)__builtin_ctzll(clear) : c->words * 64;
}

static weir_vertex find(struct free_list *l)
{
    const struct index *x = l->index;

    if (!x->bits) {
        l->at = next_clear(l->occupancy, l->at) + 1;
        return l->at <= x->nlist ? x->list[l->at - 1] : WEIR_NONE;
    }
    while (l->at < x->nlist) {
        uint32_t bit = x->bits[l->at++];
        if (bit == WEIR_NONE || !(l->occupancy->busy[bit / 64] >> (bit % 64) & 1))
            return x->list[l->at - 1];
    }
    return WEIR_NONE;
}

/* Prefetches the schedule and the inner record of vertex number i of the ring, which is in the cache by now. */
static void fetch_records(const struct free_list *l, uint32_t i)
{
    const struct vertex *x = vertex_at(l->g, l->ahead[i % FREE_LIST_AHEAD]);

    if (x->schedule != WEIR_NONE)
        __builtin_prefetch(&schedules_in(l->g)->list[x->schedule]);
    if (x->inner != WEIR_NONE)
        __builtin_prefetch(&l->g->inners[x->inner]);
}

/* Prefetches the next free span of the schedule, behind the last span, and the cells of the inner record of vertex
 * number i. */
static void fetch_details(const struct free_list *l, uint32_t i)
{
    weir_vertex v = l->ahead[i % FREE_LIST_AHEAD];
    const struct schedule *b = schedule_of(l->g, v);
    const struct inner *in = inner_of(l->g, v);

    if (b && b->cap)
        __builtin_prefetch(&b->jobs[b->count]);
    if (in && in->cells)
        __builtin_prefetch(in->cells);
}

weir_vertex weir_free_list_next(struct free_list *l)
{
    while (l->in - l->out < FREE_LIST_AHEAD) {
        weir_vertex v = find(l);
        if (v == WEIR_NONE)
            break;
        __builtin_prefetch(vertex_at(l->g, v));
        l->ahead[l->in++ % FREE_LIST_AHEAD] = v;
    }
    if (l->in == l->out)
        return WEIR_NONE;
    if (l->in - l->out > FREE_LIST_AHEAD * 5 / 8)
        fetch_records(l, l->out + FREE_LIST_AHEAD * 5 / 8);
    if (l->in - l->out > FREE_LIST_AHEAD / 4)
        fetch_details(l, l->out + FREE_LIST_AHEAD / 4);
    return l->ahead[l->out++ % FREE_LIST_AHEAD];
}
