/* start_queue.c - see start_queue.h. */
#include "job/start_queue.h"

#include <string.h>

int weir_start_queue_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_reserve(&g->jobs->pending, &g->jobs->pending_cap, n, sizeof *g->jobs->pending);
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
    g->jobs->pending[at] = job;
    g->jobs->list[job].pending = at;
}

static void sift(weir_graph *g, uint32_t at)
{
    uint32_t job = g->jobs->pending[at];

    while (at > 0 && weir_start_queue_earlier(g, job, g->jobs->pending[(at - 1) / 2])) {
        put(g, at, g->jobs->pending[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint32_t kid = 2 * at + 1;
        if (kid + 1 < g->jobs->npending && weir_start_queue_earlier(g, g->jobs->pending[kid + 1], g->jobs->pending[kid]))
            kid++;
        if (kid >= g->jobs->npending || !weir_start_queue_earlier(g, g->jobs->pending[kid], job))
            break;
        put(g, at, g->jobs->pending[kid]);
        at = kid;
    }
    put(g, at, job);
}

void weir_start_queue_add(weir_graph *g, uint32_t job)
{
    if (weir_start_queue_time(g, job) == WEIR_FOREVER)
        return;
    put(g, g->jobs->npending, job);
    sift(g, g->jobs->npending++);
}

void weir_start_queue_remove(weir_graph *g, uint32_t job)
{
    uint32_t at = g->jobs->list[job].pending;

    if (at == WEIR_NONE)
        return;
    g->jobs->list[job].pending = WEIR_NONE;
    if (at == --g->jobs->npending)
        return;
    put(g, at, g->jobs->pending[g->jobs->npending]);
    sift(g, at);
}

uint32_t weir_start_queue_first(const weir_graph *g)
{
    return g->jobs && g->jobs->npending ? g->jobs->pending[0] : WEIR_NONE;
}

/* ---- reservations to put off ---- */

void weir_waiting_add(weir_graph *g, uint32_t job)
{
    uint32_t *list, lo = 0, hi = g->jobs->nwaiting;

    weir_start_queue_remove(g, job);
    g->jobs->list[job].waits = true;
    list = g->jobs->pending + g->jobs->pending_cap - g->jobs->nwaiting;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (weir_start_queue_earlier(g, list[mid], job))
            lo = mid + 1;
        else
            hi = mid;
    }
    memmove(list - 1, list, lo * sizeof *list);
    list[(int64_t)lo - 1] = job;
    g->jobs->nwaiting++;
}

uint32_t weir_waiting_first(const weir_graph *g)
{
    return g->jobs->nwaiting ? g->jobs->pending[g->jobs->pending_cap - g->jobs->nwaiting] : WEIR_NONE;
}

void weir_waiting_take(weir_graph *g)
{
    g->jobs->list[weir_waiting_first(g)].waits = false;
    g->jobs->nwaiting--;
}
