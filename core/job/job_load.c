/* job_load.c - makes the jobs that a reader of a store or a document has read. Invariant: before any job is made, all
 * claims together are known to fit: at no time more than the size of a pool, and no claim at or below a vertex that a
 * different job holds as a whole. */
#include "job/job_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"

/* A pick of a job. */
struct loaded_span {
    weir_vertex vertex;
    uint32_t job; /* index among the jobs read */
    int64_t start, end;
    int64_t amount;
    bool whole;
};

struct loading {
    weir_graph *g;
    const struct weir_loaded_jobs *jobs;
    const char *what; /* begins errors */
    weir_err *err;
    struct loaded_span *claims, *ends; /* all claims, by vertex and start; by vertex and end */
    uint32_t whole;                    /* claims on whole vertices, which claims[] begins with in the end */
};

WEIR_COMPARE_BY3(by_start, struct loaded_span, vertex, start, job)
WEIR_COMPARE_BY2(by_end, struct loaded_span, vertex, end)

static int make_claims(struct loading *l)
{
    const struct weir_loaded_jobs *b = l->jobs;
    uint32_t n = 0;

    l->claims = weir_mem_alloc((size_t)b->npicks * sizeof *l->claims);
    l->ends = weir_mem_alloc((size_t)b->npicks * sizeof *l->ends);
    if (!l->claims || !l->ends)
        return weir_fail_nomem(l->err);
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->list[i].n; k++) {
            const weir_pick *p = &b->picks[b->list[i].first + k];
            l->claims[n++] =
                (struct loaded_span){p->vertex, i, b->list[i].start, b->list[i].end, p->amount, p->exclusive};
        }
    if (n == 0)
        return WEIR_OK;
    memcpy(l->ends, l->claims, n * sizeof *l->ends);
    qsort(l->claims, n, sizeof *l->claims, by_start);
    qsort(l->ends, n, sizeof *l->ends, by_end);
    return WEIR_OK;
}

static int conflict(const struct loading *l, weir_vertex v, const char *what)
{
    char path[200];

    weir_vertex_path(l->g, v, path, sizeof path);
    return weir_fail(l->err, WEIR_EPARSE, "%s, vertex %u (%s): %s", l->what, v, path, what);
}

/* Checks the claims on one vertex, [i, end) in both orders, by a sweep over time. */
static int sweep(const struct loading *l, uint32_t i, uint32_t end)
{
    weir_vertex v = l->claims[i].vertex;
    int64_t size = kind_of(l->g, v)->size, used = 0;
    uint32_t there = 0, whole = 0, gone = i;

    if (vertex_detached(l->g, v))
        return conflict(l, v, "a job has something of it, but it is out of containment");
    for (; i < end; i++) {
        const struct loaded_span *c = &l->claims[i];
        if (i + 1 < end && c[1].job == c->job)
            return conflict(l, v, "a job has it twice");
        for (; gone < i && l->ends[gone].end <= c->start; gone++) {
            there--;
            whole -= l->ends[gone].whole;
            used -= l->ends[gone].whole ? size : l->ends[gone].amount;
        }
        there++;
        whole += c->whole;
        if (whole && there > 1)
            return conflict(l, v, "a job has it as a whole, and another one something of it at the same time");
        if ((c->whole ? size : c->amount) > size - used)
            return conflict(l, v, "jobs have more of it at the same time than there is");
        used += c->whole ? size : c->amount;
    }
    return WEIR_OK;
}

/* Whether a claim on v as a whole overlaps [start, end). claims[] must begin with the claims on whole vertices, which
 * do not overlap. */
static bool held(const struct loading *l, weir_vertex v, int64_t start, int64_t end)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, l->whole, l->claims[lo].vertex < v || (l->claims[lo].vertex == v && l->claims[lo].start < end));
    return lo > 0 && l->claims[lo - 1].vertex == v && l->claims[lo - 1].end > start;
}

/* Fails if an ancestor of the claim's vertex is held as a whole in an overlapping interval. */
static int check_above(const struct loading *l, const struct loaded_span *c)
{
    for (weir_vertex v = vertex_at(l->g, c->vertex)->parent; v != WEIR_NONE; v = vertex_at(l->g, v)->parent)
        if (held(l, v, c->start, c->end))
            return conflict(l, c->vertex, "a job has something of it while one has all that is above it");
    return WEIR_OK;
}

static int check_claims(struct loading *l)
{
    uint32_t npicks = l->jobs->npicks;
    int rc = make_claims(l);

    for (uint32_t i = 0, end; !rc && i < npicks; i = end) {
        for (end = i + 1; end < npicks && l->claims[end].vertex == l->claims[i].vertex;)
            end++;
        rc = sweep(l, i, end);
    }
    for (uint32_t i = 0; !rc && i < npicks; i++)
        if (l->claims[i].whole)
            l->claims[l->whole++] = l->claims[i];
    for (uint32_t i = 0; !rc && i < npicks; i++)
        rc = check_above(l, &l->ends[i]);
    return rc;
}

static int make_jobs(const struct loading *l)
{
    const struct weir_loaded_jobs *b = l->jobs;
    uint32_t job;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < b->count; i++) {
        const struct weir_loaded_job *h = &b->list[i];
        weir_booking booking = {h->job, h->start, h->end, h->n ? b->picks + h->first : NULL, h->n};
        rc = weir_job_commit(l->g, &booking, &job, l->err);
        if (rc)
            break;
        jobs_in(l->g)->list[job].policy = h->policy;
        jobs_in(l->g)->list[job].a.nslots = h->nslots;
        jobs_in(l->g)->list[job].put_off = h->put_off;
    }
    return rc;
}

int weir_jobs_load(weir_graph *g, const struct weir_loaded_jobs *jobs, const char *what, weir_err *err)
{
    struct loading l = {.g = g, .jobs = jobs, .what = what, .err = err};
    int rc = check_claims(&l);

    rc = rc ? rc : make_jobs(&l);
    WEIR_FREE(l.claims, l.ends);
    return rc;
}

void weir_loaded_jobs_free(struct weir_loaded_jobs *jobs)
{
    WEIR_FREE(jobs->list, jobs->picks);
    *jobs = (struct weir_loaded_jobs){0};
}
