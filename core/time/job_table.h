/* job_table.h - the jobs of a graph: times and picks. Maintained by job/job.c. Private to the core. */
#ifndef WEIR_JOB_TABLE_H
#define WEIR_JOB_TABLE_H

#include "graph/graph.h"

/* Units of a flow, used by a job for one vertex. */
struct flow_use {
    weir_vertex endpoint, unit;
    int64_t amount;
};

struct claim;

#define JOB_QUEUE_END '\x1f' /* in no label, and in no name of a queue */

/* A job, or a stage with locks: a stage has a.expires, and minus its number as a.job. */
struct job {
    struct flow_use *flows;
    uint32_t nflows, flows_cap;
    weir_allocation a; /* a.picks belongs to the job */
    weir_pick *picks;  /* a.picks, not const */
    uint32_t cap;
    uint32_t queue_place; /* position in the start queue, or WEIR_NONE */
    uint32_t place;       /* position in `order` */
    /* Label of the policy that placed the job; "" for none. Where the job has a queue: its name, JOB_QUEUE_END, and the
     * label. */
    weir_name policy;
    int64_t takes; /* units of takes_type, a cache of usage_totals.c */
    weir_type takes_type;
    bool used, counted; /* counted: `takes` is valid */
    /* The start was put off, and the event was reported (clock.c). */
    bool put_off;
    bool displaced; /* among the reservations to put off */
    /* The advance of the clock that last put the job off, or found no need to. */
    uint64_t settled;
};

/* The jobs of a graph. */
struct jobs {
    struct job *list;
    uint32_t n, cap, live;
    uint32_t stages; /* of `live`: stages with locks */
    int64_t *starts; /* starts by job, contiguous: searches in schedules read the starts only */
    uint32_t starts_cap;
    /* The first `live` entries are in use, jobs first and stages behind them; the rest are free records. */
    uint32_t *order;
    uint32_t order_cap;
    struct weir_map32 ids; /* index in `list`, by hash of the id */
    /* The start queue: a heap of jobs by the time of the next event (start_queue.h). There is room for each record of
     * `list`, as any job may come to be queued later: queue_cap >= n. */
    uint32_t *queue;
    uint32_t nqueue, queue_cap;
    /* Entries at the end of the queue's array: reservations to put off, in order of starts. */
    uint32_t ndisplaced;
    struct weir_clock_event *events; /* of the last advance of the clock */
    uint32_t nevents, events_cap;
    uint64_t advances;
    struct claim *claims; /* stages without locks (job/stage.c) */
    uint32_t nclaims, claims_cap;
    int64_t next_id;      /* of the next job */
    bool expire;          /* a job ends at the end of its interval (weir_graph_overrun) */
    int64_t last_stage;   /* the number of the last stage */
    int64_t first_expiry; /* no stage expires before this time */
};

/* NULL until the first job. */
static inline struct jobs *jobs_in(const weir_graph *g)
{
    return g->records[RECORD_JOBS];
}

/* The next id of a job, if no job has it. */
static inline int64_t jobs_next_id(const weir_graph *g)
{
    return jobs_in(g) ? jobs_in(g)->next_id : 1;
}

/* Whether a job ends at the end of its interval. */
static inline bool jobs_expire(const weir_graph *g)
{
    return jobs_in(g) && jobs_in(g)->expire;
}

/* Number of job records, in use or free. */
static inline uint32_t job_records(const weir_graph *g)
{
    return jobs_in(g) ? jobs_in(g)->n : 0;
}

/* Number of jobs and stages with locks. */
static inline uint32_t live_jobs(const weir_graph *g)
{
    return jobs_in(g) ? jobs_in(g)->live : 0;
}

#endif
