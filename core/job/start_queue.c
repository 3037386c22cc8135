/* start_queue.c - see start_queue.h. */
#include "job/start_queue.h"

#include <string.h>

#include "base/bisect.h"
#include "base/heap.h"

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

static void sift(weir_graph *g, uint32_t from)
{
    uint32_t *queue = g->jobs->queue;
    struct job *jobs = g->jobs->list;

    WEIR_HEAP_UP_MOVED(queue, from, a, b, weir_start_queue_earlier(g, *a, *b), jobs[queue[at_]].queue_place = at_);
    WEIR_HEAP_DOWN_MOVED(queue, g->jobs->nqueue, from, a, b, weir_start_queue_earlier(g, *a, *b),
                         jobs[queue[at_]].queue_place = at_);
}

void weir_start_queue_add(weir_graph *g, uint32_t job)
{
    if (weir_start_queue_time(g, job) == WEIR_FOREVER)
        return;
    g->jobs->queue[g->jobs->nqueue] = job;
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
    g->jobs->queue[at] = g->jobs->queue[g->jobs->nqueue];
    sift(g, at);
}

uint32_t weir_start_queue_first(const weir_graph *g)
{
    return g->jobs && g->jobs->nqueue ? g->jobs->queue[0] : WEIR_NONE;
}

/* ---- displaced reservations ---- */

void weir_displaced_add(weir_graph *g, uint32_t job)
{
    uint32_t *list, lo;

    weir_start_queue_remove(g, job);
    g->jobs->list[job].displaced = true;
    list = g->jobs->queue + g->jobs->queue_cap - g->jobs->ndisplaced;
    WEIR_BISECT(lo, 0, g->jobs->ndisplaced, weir_start_queue_earlier(g, list[lo], job));
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
