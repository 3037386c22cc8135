/* sqlite_jobs.c - loads jobs with their picks. job/job_load.c checks that all of them fit, before any job is made. */
#include <inttypes.h>
#include <string.h>

#include "job/job_load.h"
#include "store/sqlite.h"

/* The rows being read, with the position. */
struct schedule_rows {
    struct weir_loaded_jobs jobs; /* in the order of the file */
    uint32_t at;                  /* the job reached by the rows of picks or flows */
};

/* ---- reading ---- */

static int take_job(struct weir_db_reader *r)
{
    struct weir_loaded_jobs *b = &((struct schedule_rows *)r->data)->jobs;
    struct weir_loaded_job h = {.end = WEIR_FOREVER};
    const char *policy = weir_db_text(r, 4);

    h.job = weir_db_int(r, 0, 1, INT64_MAX);
    h.start = weir_db_int(r, 1, 0, WEIR_FOREVER - 1);
    if (!weir_db_null(r, 2))
        h.end = weir_db_int(r, 2, 0, WEIR_FOREVER - 1);
    if (!weir_db_null(r, 3))
        h.nslots = (uint32_t)weir_db_int(r, 3, 1, UINT32_MAX);
    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    if (h.start >= h.end)
        return weir_fail(&r->why, WEIR_EPARSE, "it ends at %" PRId64 ", not after its start at %" PRId64, h.end,
                         h.start);
    h.policy = weir_strtab_add(&r->g->names, policy, strlen(policy));
    if (h.policy == WEIR_NO_NAME || weir_array_reserve(&b->list, &b->cap, (size_t)b->count + 1, sizeof h))
        return WEIR_ENOMEM;
    b->list[b->count++] = h;
    return WEIR_OK;
}

/* Returns the job of a row of picks or flows. Rows and jobs are both sorted by job. NULL: no job has the id of the row;
 * r->wrong is set. */
static struct weir_loaded_job *holder_of(struct weir_db_reader *r)
{
    struct schedule_rows *b = r->data;
    struct weir_loaded_jobs *jobs = &b->jobs;
    int64_t job = weir_db_int(r, 0, 1, INT64_MAX);

    while (b->at < jobs->count && jobs->list[b->at].job < job)
        b->at++;
    if (b->at < jobs->count && jobs->list[b->at].job == job)
        return &jobs->list[b->at];
    r->wrong = 1;
    return NULL;
}

static int take_pick(struct weir_db_reader *r)
{
    struct weir_loaded_jobs *b = &((struct schedule_rows *)r->data)->jobs;
    struct weir_loaded_job *h = holder_of(r);
    weir_vertex v = weir_db_vertex(r, 2);
    weir_pick p = {v, WEIR_NONE, 0, false};

    if (!weir_db_null(r, 3))
        p.resource = (uint32_t)weir_db_int(r, 3, 0, UINT32_MAX - 1);
    p.amount = weir_db_int(r, 4, 0, WEIR_UNITS_MAX);
    p.exclusive = weir_db_int(r, 5, 0, 1);
    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    if (p.exclusive && p.amount != kind_of(r->g, v)->size)
        return weir_fail(&r->why, WEIR_EPARSE,
                         "%" PRId64 " units of vertex %u are not the whole of it, which is %" PRId64, p.amount, v,
                         kind_of(r->g, v)->size);
    if (weir_array_reserve(&b->picks, &b->picks_cap, (size_t)b->npicks + 1, sizeof p))
        return WEIR_ENOMEM;
    if (h->n == 0)
        h->first = b->npicks;
    h->n++;
    b->picks[b->npicks++] = p;
    return WEIR_OK;
}

static int take_feed(struct weir_db_reader *r)
{
    const struct weir_loaded_job *h = holder_of(r);
    struct flow_use f = {weir_db_vertex(r, 2), weir_db_vertex(r, 3), 0};
    uint32_t job;

    f.amount = weir_db_int(r, 4, 0, WEIR_UNITS_MAX);
    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    job = weir_job_index(r->g, h->job);
    if (!weir_job_pick(&jobs_in(r->g)->list[job], f.unit))
        return weir_fail(&r->why, WEIR_EPARSE, "the job has nothing of vertex %u", f.unit);
    return weir_job_flow(r->g, job, &f, 1);
}

int weir_db_read_jobs(struct weir_db_reader *r)
{
    struct schedule_rows b = {0};
    int rc;

    r->data = &b;
    rc = weir_db_each(r, DB_JOB, take_job);
    rc = rc ? rc : weir_db_each(r, DB_PICK, take_pick);
    rc = rc ? rc : weir_jobs_load(r->g, &b.jobs, "table pick", r->err);
    b.at = 0;
    rc = rc ? rc : weir_db_each(r, DB_FEED, take_feed);
    weir_loaded_jobs_free(&b.jobs);
    return rc;
}
