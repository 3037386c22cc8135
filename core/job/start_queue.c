/* start_queue.c - see start_queue.h. */
#include "job/start_queue.h"

int weir_pending_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_reserve(&g->pending, &g->pending_cap, n, sizeof *g->pending);
}

static bool earlier(const weir_graph *g, uint32_t a, uint32_t b)
{
    const weir_allocation *x = &g->jobs[a].a, *y = &g->jobs[b].a;
    return x->start != y->start ? x->start < y->start : x->job < y->job;
}

static void put(weir_graph *g, uint32_t at, uint32_t job)
{
    g->pending[at] = job;
    g->jobs[job].pending = at;
}

static void sift(weir_graph *g, uint32_t at)
{
    uint32_t job = g->pending[at];

    while (at > 0 && earlier(g, job, g->pending[(at - 1) / 2])) {
        put(g, at, g->pending[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint32_t kid = 2 * at + 1;
        if (kid + 1 < g->npending && earlier(g, g->pending[kid + 1], g->pending[kid]))
            kid++;
        if (kid >= g->npending || !earlier(g, g->pending[kid], job))
            break;
        put(g, at, g->pending[kid]);
        at = kid;
    }
    put(g, at, job);
}

void weir_pending_add(weir_graph *g, uint32_t job)
{
    put(g, g->npending, job);
    sift(g, g->npending++);
}

void weir_pending_remove(weir_graph *g, uint32_t job)
{
    uint32_t at = g->jobs[job].pending;

    if (at == WEIR_NONE)
        return;
    g->jobs[job].pending = WEIR_NONE;
    if (at == --g->npending)
        return;
    put(g, at, g->pending[g->npending]);
    sift(g, at);
}

uint32_t weir_pending_first(const weir_graph *g)
{
    return g->npending ? g->pending[0] : WEIR_NONE;
}
