/* start_queue.h - the jobs with an event when the clock reaches a time: a heap by the time of the event, the start
 * of a reservation and, under weir_graph_overrun's rule of expiry, the end of an allocation. At equal times ends
 * come before starts. Invariant: a job has its position in the heap. */
#ifndef WEIR_START_QUEUE_H
#define WEIR_START_QUEUE_H

#include "time/job_table.h"

/* The time of the next event of a job. */
static inline int64_t weir_start_queue_time(const weir_graph *g, uint32_t job)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    return a->state == WEIR_RESERVED ? a->start : a->end;
}

/* Reserves a queue of n jobs. */
int weir_start_queue_reserve(weir_graph *g, uint32_t n) WEIR_CHECKED;
void weir_start_queue_add(weir_graph *g, uint32_t job);    /* reserved before; no effect for WEIR_FOREVER */
void weir_start_queue_remove(weir_graph *g, uint32_t job); /* no effect where not queued */
uint32_t weir_start_queue_first(const weir_graph *g);      /* WEIR_NONE: empty */
bool weir_start_queue_earlier(const weir_graph *g, uint32_t a, uint32_t b); /* order of the heap */

/* Displaced reservations: reservations that an advance of the clock has yet to put off, removed from the heap, in
 * the order of the heap. Kept at the end of the heap's array, so without memory. */
void weir_displaced_add(weir_graph *g, uint32_t job);
uint32_t weir_displaced_first(const weir_graph *g); /* WEIR_NONE: none */
void weir_displaced_take(weir_graph *g);            /* removes the first */

#endif
