/* start_queue.h - the jobs that something happens to when the clock reaches a time: a heap by that time, which is the start of a
 * reservation and, where jobs end at their ends (weir_graph_overrun), the end of an allocation. Of one time, ends come before
 * starts. Invariant: a job knows its place in the heap. */
#ifndef WEIR_START_QUEUE_H
#define WEIR_START_QUEUE_H

#include "time/job_table.h"

static inline int64_t weir_start_queue_time(const weir_graph *g, uint32_t job)
{
    const weir_allocation *a = &g->jobs->list[job].a;
    return a->state == WEIR_RESERVED ? a->start : a->end;
}

int weir_start_queue_reserve(weir_graph *g, uint32_t n) WEIR_CHECKED;
void weir_start_queue_add(weir_graph *g, uint32_t job);    /* room was reserved; harmless for a time that never comes */
void weir_start_queue_remove(weir_graph *g, uint32_t job); /* harmless where it is not there */
uint32_t weir_start_queue_first(const weir_graph *g);      /* WEIR_NONE: none */
bool weir_start_queue_earlier(const weir_graph *g, uint32_t a, uint32_t b); /* the order of the heap */

/* Reservations that an advance of the clock has to put off, in the order of the heap, out of which they are taken. They stand at
 * the end of its array, so they need no memory. */
void weir_waiting_add(weir_graph *g, uint32_t job);
uint32_t weir_waiting_first(const weir_graph *g); /* WEIR_NONE: none */
void weir_waiting_take(weir_graph *g);            /* the first one goes */

#endif
