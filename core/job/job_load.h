/* job_load.h - jobs of a store or a document, before they are made. Private to the core. */
#ifndef WEIR_JOB_LOAD_H
#define WEIR_JOB_LOAD_H

#include "job/job.h"

/* A job with the slice [first, first + n) of the picks of all. */
struct weir_loaded_job {
    int64_t job, start, end;
    uint32_t first, n;
    uint32_t nslots;
    weir_name policy;
    bool put_off; /* the start was put off, and the event was reported */
};

/* Zero-initialise. The picks come in the order of the jobs. */
struct weir_loaded_jobs {
    struct weir_loaded_job *list;
    uint32_t count, cap;
    weir_pick *picks;
    uint32_t npicks, picks_cap;
};

/* Makes the jobs in a graph without jobs, if all of them fit. The amount of an exclusive pick is the size of its pool.
 * `what` begins errors: "WHAT, vertex 3 (/node3): ...". WEIR_EPARSE: the jobs do not fit. On failure the caller drops
 * the graph. O(picks (d log picks)) */
int weir_jobs_load(weir_graph *g, const struct weir_loaded_jobs *jobs, const char *what, weir_err *err) WEIR_CHECKED;
void weir_loaded_jobs_free(struct weir_loaded_jobs *jobs);

#endif
