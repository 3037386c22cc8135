/* job_table.h - the jobs of a graph, their times and what they have. Kept by job/job.c. Private to the core. */
#ifndef WEIR_JOB_TABLE_H
#define WEIR_JOB_TABLE_H

#include "graph/graph.h"

struct flow_use { /* units of a channel that a job takes for one vertex */
    weir_vertex endpoint, unit;
    int64_t amount;
};

struct job {
    struct flow_use *flows;
    uint32_t nflows, flows_cap;
    weir_allocation a; /* a.picks belongs to the job */
    weir_pick *picks;  /* the same, to change */
    uint32_t cap;
    uint32_t pending; /* place in the heap of pending jobs; WEIR_NONE */
    uint32_t place;   /* in the list of jobs that are there */
    weir_name policy; /* the label of the policy that placed it; "" for none */
    int64_t takes;      /* units of takes_type: usage_totals.c */
    weir_type takes_type;
    bool used, counted; /* counted: takes is known */
    bool late;          /* its start was put off, which was told (clock.c) */
    bool waits;         /* in the queue of those to put off */
    uint64_t settled;   /* the advance of the clock that put it off last, or looked whether it must */
};

/* The jobs of a graph. */
struct jobs {
    struct job *list;
    uint32_t n, cap, live;
    int64_t *starts; /* side by side: books are looked through by them */
    uint32_t starts_cap;
    uint32_t *order; /* the first `live` entries are the jobs that are there, the rest are free records */
    uint32_t order_cap;
    uint32_t *slots, nslots; /* by id: index + 1 */
    uint32_t *pending;       /* jobs that something happens to with time: a heap by that (start_queue.h) */
    uint32_t npending, pending_cap;
    uint32_t nwaiting;       /* entries at its end: reservations to put off, in the order of their starts */
    struct weir_clock_event *events; /* of the last advance of the clock */
    uint32_t nevents, events_cap;
    uint64_t advances;
};

/* Records of jobs, in use or free. */
static inline uint32_t job_records(const weir_graph *g)
{
    return g->jobs ? g->jobs->n : 0;
}

static inline uint32_t live_jobs(const weir_graph *g)
{
    return g->jobs ? g->jobs->live : 0;
}

#endif
