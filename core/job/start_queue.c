/* start_queue.c - see start_queue.h. */
#include "job/start_queue.h"

#include <string.h>

#include "base/bisect.h"
#include "base/heap.h"

int weir_start_queue_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_reserve(&jobs_in(g)->queue, &jobs_in(g)->queue_cap, n, sizeof *jobs_in(g)->queue);
}

bool weir_start_queue_earlier(const weir_graph *g, uint32_t a, uint32_t b)
{
    const weir_allocation *x = &jobs_in(g)->list[a].a, *y = &jobs_in(g)->list[b].a;
    int64_t s = weir_start_queue_time(g, a), t = weir_start_queue_time(g, b);

    if (s == t && x->state != y->state)
        return x->state == WEIR_ALLOCATED;
    return s != t ? s < t : x->job < y->job;
}

static void sift(weir_graph *g, uint32_t from)
{
    uint32_t *queue = jobs_in(g)->queue;
    struct job *jobs = jobs_in(g)->list;

    WEIR_HEAP_UP_MOVED(queue, from, a, b, weir_start_queue_earlier(g, *a, *b), jobs[queue[at_]].queue_place = at_);
    WEIR_HEAP_DOWN_MOVED(queue, jobs_in(g)->nqueue, from, a, b, weir_start_queue_earlier(g, *a, *b),
                         jobs[queue[at_]].queue_place = at_);
}

void weir_start_queue_add(weir_graph *g, uint32_t job)
{
    if (weir_start_queue_time(g, job) == WEIR_FOREVER)
        return;
    jobs_in(g)->queue[jobs_in(g)->nqueue] = job;
    sift(g, jobs_in(g)->nqueue++);
}

void weir_start_queue_remove(weir_graph *g, uint32_t job)
{
    uint32_t at = jobs_in(g)->list[job].queue_place;

    if (at == WEIR_NONE)
        return;
    jobs_in(g)->list[job].queue_place = WEIR_NONE;
    if (at == --jobs_in(g)->nqueue)
        return;
    jobs_in(g)->queue[at] = jobs_in(g)->queue[jobs_in(g)->nqueue];
    sift(g, at);
}

uint32_t weir_start_queue_first(const weir_graph *g)
{
    return jobs_in(g) && jobs_in(g)->nqueue ? jobs_in(g)->queue[0] : WEIR_NONE;
}

/* ---- displaced reservations ---- */

void weir_displaced_add(weir_graph *g, uint32_t job)
{
    uint32_t *list, lo;

    weir_start_queue_remove(g, job);
    jobs_in(g)->list[job].displaced = true;
    list = jobs_in(g)->queue + jobs_in(g)->queue_cap - jobs_in(g)->ndisplaced;
    WEIR_BISECT(lo, 0, jobs_in(g)->ndisplaced, weir_start_queue_earlier(g, list[lo], job));
    memmove(list - 1, list, lo * sizeof *list);
    list[(int64_t)lo - 1] = job;
    jobs_in(g)->ndisplaced++;
}

uint32_t weir_displaced_first(const weir_graph *g)
{
    return jobs_in(g)->ndisplaced ? jobs_in(g)->queue[jobs_in(g)->queue_cap - jobs_in(g)->ndisplaced] : WEIR_NONE;
}

void weir_displaced_take(weir_graph *g)
{
    jobs_in(g)->list[weir_displaced_first(g)].displaced = false;
    jobs_in(g)->ndisplaced--;
}
