/* start_queue.c - see start_queue.h. */
#include "job/start_queue.h"

#include <string.h>

int weir_start_queue_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_reserve(&g->jobs->queue, &g->jobs->queue_cap, n, sizeof *g->jobs->queue);
}

bool weir_start_queue_earlier(const weir_graph *g, uint32_t a, uint32_t b)
{
    const weir_allocation *x = &g->jobs->list[a].a, *y = &g->jobs->list[b].a;
    int64_t s = weir_start_queue_time(g, a), t = weir_start_queue_time(g, b);

    if (s == t && x->state != y->state)
        return x->state == WEIR_ALLOCATED;
    return s != t ? s < t : x->job < y->job;
}

static void put(weir_graph *g, uint32_t at, uint32_t job)
{
    g->jobs->queue[at] = job;
    g->jobs->list[job].queue_place = at;
}

static void sift(weir_graph *g, uint32_t at)
{
    uint32_t job = g->jobs->queue[at];

    while (at > 0 && weir_start_queue_earlier(g, job, g->jobs->queue[(at - 1) / 2])) {
        put(g, at, g->jobs->queue[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint32_t kid = 2 * at + 1;
        if (kid + 1 < g->jobs->nqueue && weir_start_queue_earlier(g, g->jobs->queue[kid + 1], g->jobs->queue[kid]))
            kid++;
        if (kid >= g->jobs->nqueue || !weir_start_queue_earlier(g, g->jobs->queue[kid], job))
            break;
        put(g, at, g->jobs->queue[kid]);
        at = kid;
    }
    put(g, at, job);
}

void weir_start_queue_add(weir_graph *g, uint32_t job)
{
    if (weir_start_queue_time(g, job) == WEIR_FOREVER)
        return;
    put(g, g->jobs->nqueue, job);
    sift(g, g->jobs->nqueue++);
}

void weir_start_queue_remove(weir_graph *g, uint32_t job)
{
    uint32_t at = g->jobs->list[job].queue_place;

    if (at == WEIR_NONE)
        return;
    g->jobs->list[job].queue_place = WEIR_NONE;
    if (at == --g->jobs->nqueue)
        return;
    put(g, at, g->jobs->queue[g->jobs->nqueue]);
    sift(g, at);
}

uint32_t weir_start_queue_first(const weir_graph *g)
{
    return g->jobs && g->jobs->nqueue ? g->jobs->queue[0] : WEIR_NONE;
}

/* ---- displaced reservations ---- */

void weir_displaced_add(weir_graph *g, uint32_t job)
{
    uint32_t *list, lo = 0, hi = g->jobs->ndisplaced;

    weir_start_queue_remove(g, job);
    g->jobs->list[job].displaced = true;
    list = g->jobs->queue + g->jobs->queue_cap - g->jobs->ndisplaced;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (weir_start_queue_earlier(g, list[mid], job))
            lo = mid + 1;
        else
            hi = mid;
    }
    memmove(list - 1, list, lo * sizeof *list);
    list[(int64_t)lo - 1] = job;
    g->jobs->ndisplaced++;
}

uint32_t weir_displaced_first(const weir_graph *g)
{
    return g->jobs->ndisplaced ? g->jobs->queue[g->jobs->queue_cap - g->jobs->ndisplaced] : WEIR_NONE;
}

void weir_displaced_take(weir_graph *g)
{
    g->jobs->list[weir_displaced_first(g)].displaced = false;
    g->jobs->ndisplaced--;
}
