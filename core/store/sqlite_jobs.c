/* sqlite_jobs.c - loads jobs with their picks. Invariant: before any job is committed, all claims together are
 * known to fit: at no time more than the size of a pool, and no claim at or below a vertex that a different job
 * holds as a whole.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "store/sqlite.h"
#include "base/bisect.h"

/* A job in the order of the file, with a slice of weir_pick records. */
struct holder {
    int64_t job, start, end;
    uint32_t first, n; /* slice of books.picks */
    uint32_t nslots;
    weir_name policy;
};

struct claim {
    weir_vertex vertex;
    uint32_t holder;
    int64_t start, end;
    int64_t amount;
    bool whole;
};

struct schedules {
    struct holder *holders;
    uint32_t nholders, holders_cap;
    weir_pick *picks; /* by holder */
    uint32_t npicks, picks_cap;
    uint32_t at;                 /* the holder reached by the rows of picks or flows */
    struct claim *claims, *ends; /* all claims, by vertex and start; by vertex and end */
};

/* ---- reading ---- */

static int take_job(struct weir_db_reader *r)
{
    struct schedules *b = r->data;
    struct holder h = {.end = WEIR_FOREVER};
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
    if (h.policy == WEIR_NO_NAME || weir_array_reserve(&b->holders, &b->holders_cap, (size_t)b->nholders + 1, sizeof h))
        return WEIR_ENOMEM;
    b->holders[b->nholders++] = h;
    return WEIR_OK;
}

/* The job of a row of picks or flows. Rows and jobs are both sorted by job. NULL: there is no such job; r->wrong is
 * set. */
static struct holder *holder_of(struct weir_db_reader *r)
{
    struct schedules *b = r->data;
    int64_t job = weir_db_int(r, 0, 1, INT64_MAX);

    while (b->at < b->nholders && b->holders[b->at].job < job)
        b->at++;
    if (b->at < b->nholders && b->holders[b->at].job == job)
        return &b->holders[b->at];
    r->wrong = 1;
    return NULL;
}

static int take_pick(struct weir_db_reader *r)
{
    struct schedules *b = r->data;
    struct holder *h = holder_of(r);
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
    const struct holder *h = holder_of(r);
    struct flow_use f = {weir_db_vertex(r, 2), weir_db_vertex(r, 3), 0};
    uint32_t job;

    f.amount = weir_db_int(r, 4, 0, WEIR_UNITS_MAX);
    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    job = weir_job_index(r->g, h->job);
    if (!weir_job_pick(&r->g->jobs->list[job], f.unit))
        return weir_fail(&r->why, WEIR_EPARSE, "the job has nothing of vertex %u", f.unit);
    return weir_job_flow(r->g, job, &f, 1);
}

/* ---- checking claims ---- */

static int by_number(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_start(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = by_number(x->vertex, y->vertex);

    order = order ? order : by_number(x->start, y->start);
    return order ? order : by_number(x->holder, y->holder);
}

static int by_end(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = by_number(x->vertex, y->vertex);

    return order ? order : by_number(x->end, y->end);
}

static int make_claims(struct schedules *b)
{
    uint32_t n = 0;

    b->claims = weir_mem_alloc((size_t)b->npicks * sizeof *b->claims);
    b->ends = weir_mem_alloc((size_t)b->npicks * sizeof *b->ends);
    if (!b->claims || !b->ends)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < b->nholders; i++)
        for (uint32_t k = 0; k < b->holders[i].n; k++) {
            const weir_pick *p = &b->picks[b->holders[i].first + k];
            b->claims[n++] =
                (struct claim){p->vertex, i, b->holders[i].start, b->holders[i].end, p->amount, p->exclusive};
        }
    if (n == 0)
        return WEIR_OK;
    memcpy(b->ends, b->claims, n * sizeof *b->ends);
    qsort(b->claims, n, sizeof *b->claims, by_start);
    qsort(b->ends, n, sizeof *b->ends, by_end);
    return WEIR_OK;
}

static int conflict(const struct weir_db_reader *r, weir_vertex v, const char *what)
{
    char path[200];

    weir_vertex_path(r->g, v, path, sizeof path);
    return weir_fail(r->err, WEIR_EPARSE, "table pick, vertex %u (%s): %s", v, path, what);
}

/* Checks the claims on one vertex, [i, end) in both orders, by a sweep over time. */
static int sweep(const struct weir_db_reader *r, const struct schedules *b, uint32_t i, uint32_t end)
{
    weir_vertex v = b->claims[i].vertex;
    int64_t size = kind_of(r->g, v)->size, used = 0;
    uint32_t there = 0, whole = 0, gone = i;

    for (; i < end; i++) {
        const struct claim *c = &b->claims[i];
        if (i + 1 < end && c[1].holder == c->holder)
            return conflict(r, v, "a job has it twice");
        for (; gone < i && b->ends[gone].end <= c->start; gone++) {
            there--;
            whole -= b->ends[gone].whole;
            used -= b->ends[gone].whole ? size : b->ends[gone].amount;
        }
        there++;
        whole += c->whole;
        if (whole && there > 1)
            return conflict(r, v, "a job has it as a whole, and another one something of it at the same time");
        if ((c->whole ? size : c->amount) > size - used)
            return conflict(r, v, "jobs have more of it at the same time than there is");
        used += c->whole ? size : c->amount;
    }
    return WEIR_OK;
}

/* Whether a claim on v as a whole overlaps [start, end). `claims` must have only claims on whole vertices, which do
 * not overlap. */
static bool held(const struct schedules *b, weir_vertex v, int64_t start, int64_t end)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, b->npicks,
                b->claims[lo].vertex < v || (b->claims[lo].vertex == v && b->claims[lo].start < end));
    return lo > 0 && b->claims[lo - 1].vertex == v && b->claims[lo - 1].end > start;
}

/* Fails if an ancestor of the claim's vertex is held as a whole in an overlapping interval. `claims` as for held(). */
static int check_above(const struct weir_db_reader *r, const struct schedules *b, const struct claim *c)
{
    for (weir_vertex v = vertex_at(r->g, c->vertex)->parent; v != WEIR_NONE; v = vertex_at(r->g, v)->parent)
        if (held(b, v, c->start, c->end))
            return conflict(r, c->vertex, "a job has something of it while one has all that is above it");
    return WEIR_OK;
}

static int check_claims(const struct weir_db_reader *r, struct schedules *b)
{
    uint32_t whole = 0, npicks = b->npicks;
    int rc = make_claims(b) ? weir_fail_nomem(r->err) : WEIR_OK;

    for (uint32_t i = 0, end; !rc && i < npicks; i = end) {
        for (end = i + 1; end < npicks && b->claims[end].vertex == b->claims[i].vertex;)
            end++;
        rc = sweep(r, b, i, end);
    }
    for (uint32_t i = 0; !rc && i < npicks; i++)
        if (b->claims[i].whole)
            b->claims[whole++] = b->claims[i];
    b->npicks = whole;
    for (uint32_t i = 0; !rc && i < npicks; i++)
        rc = check_above(r, b, &b->ends[i]);
    b->npicks = npicks;
    return rc;
}

/* ---- committing ---- */

static int commit(struct weir_db_reader *r, const struct schedules *b)
{
    uint32_t job;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < b->nholders; i++) {
        const struct holder *h = &b->holders[i];
        rc = weir_job_commit(r->g, h->job, h->start, h->end, h->n ? b->picks + h->first : NULL, h->n, &job, r->err);
        if (!rc) {
            r->g->jobs->list[job].policy = h->policy;
            r->g->jobs->list[job].a.nslots = h->nslots;
        }
    }
    return rc;
}

int weir_db_read_jobs(struct weir_db_reader *r)
{
    struct schedules b = {0};
    int rc;

    r->data = &b;
    rc = weir_db_each(r, DB_JOB, "SELECT * FROM job ORDER BY job", take_job);
    rc = rc ? rc : weir_db_each(r, DB_PICK, "SELECT * FROM pick ORDER BY job, place", take_pick);
    rc = rc ? rc : check_claims(r, &b);
    rc = rc ? rc : commit(r, &b);
    b.at = 0;
    rc = rc ? rc : weir_db_each(r, DB_FEED, "SELECT * FROM feed ORDER BY job, place", take_feed);
    weir_mem_free(b.holders);
    weir_mem_free(b.picks);
    weir_mem_free(b.claims);
    weir_mem_free(b.ends);
    return rc;
}
