/* job_detach.c - jobs detached from the schedules for a while. Invariant: a detached job has no spans and no id; to
 * attach the job restores all spans or none. */
#include <inttypes.h>
#include <string.h>

#include "time/schedule.h"
#include "job/job.h"
#include "time/availability.h"

struct weir_lifted {
    uint64_t serial; /* of the graph: vertices are unchanged since */
    weir_allocation a;
    weir_name policy;
    weir_pick *picks;
    struct flow_use *flows;
    uint32_t nflows;
};

void weir_lifted_free(weir_lifted *x)
{
    if (!x)
        return;
    weir_mem_free(x->picks);
    weir_mem_free(x->flows);
    weir_mem_free(x);
}

static int keep(weir_lifted *x, const struct job *j)
{
    x->a = j->a;
    x->policy = j->policy;
    x->nflows = j->nflows;
    x->picks = weir_mem_alloc(((size_t)j->a.npicks + 1) * sizeof *x->picks);
    x->flows = weir_mem_alloc(((size_t)j->nflows + 1) * sizeof *x->flows);
    if (!x->picks || !x->flows)
        return WEIR_ENOMEM;
    if (j->a.npicks)
        memcpy(x->picks, j->picks, j->a.npicks * sizeof *x->picks);
    if (j->nflows)
        memcpy(x->flows, j->flows, j->nflows * sizeof *x->flows);
    x->a.picks = x->picks;
    return WEIR_OK;
}

int weir_job_lift(weir_graph *g, int64_t job, weir_lifted **out, weir_err *err)
{
    uint32_t i = weir_job_index(g, job);
    weir_lifted *x;
    int rc = weir_graph_writable(g, err);

    *out = NULL;
    if (rc)
        return rc;
    if (i == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job);
    x = weir_mem_zalloc(1, sizeof *x);
    if (!x || keep(x, &g->jobs->list[i])) {
        weir_lifted_free(x);
        return weir_fail_nomem(err);
    }
    x->serial = weir_graph_serial(g);
    weir_job_drop(g, i);
    *out = x;
    return WEIR_OK;
}

/* Whether the units of a pick are free over [t0, t1). */
static bool is_free(const weir_graph *g, const weir_pick *p, int64_t t0, int64_t t1)
{
    if (!weir_availability_above(g, p->vertex, t0, t1) || p->amount > weir_availability_free(g, p->vertex, t0, t1))
        return false;
    if (p->exclusive)
        return weir_availability_unused(g, p->vertex, t0, t1);
    return !(schedule_of(g, p->vertex) && weir_schedule_touched(g, p->vertex, t0, t1, true));
}

/* Checks that a job can be attached. A job past the end of its interval is checked for the present instant. */
static int check(const weir_graph *g, const weir_lifted *x, int64_t start, int64_t end, weir_err *err)
{
    int64_t from = start > g->now ? start : g->now, to = end > from ? end : from + 1;
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (x->serial != weir_graph_serial(g))
        return weir_fail(err, WEIR_EINVAL, "job %" PRId64 " cannot be put back: vertices were added or removed",
                         x->a.job);
    if (end <= start)
        return weir_fail(err, WEIR_EINVAL, "job %" PRId64 " cannot be put back: it would end before it starts",
                         x->a.job);
    for (uint32_t i = 0; i < x->a.npicks; i++)
        if (!is_free(g, &x->picks[i], from, to))
            return weir_fail(err, WEIR_EBUSY, "job %" PRId64 " cannot be put back: something that it had is in use",
                             x->a.job);
    return WEIR_OK;
}

int weir_job_put(weir_graph *g, weir_lifted *x, int64_t end, weir_err *err)
{
    uint32_t i;
    int rc;

    end = end ? end : x->a.end;
    rc = check(g, x, x->a.start, end, err);
    rc = rc ? rc : weir_job_commit(g, x->a.job, x->a.start, end, x->picks, x->a.npicks, &i, err);
    if (rc)
        return rc;
    if (weir_job_flow(g, i, x->flows, x->nflows)) {
        weir_job_drop(g, i);
        return weir_fail_nomem(err);
    }
    g->jobs->list[i].policy = x->policy;
    g->jobs->list[i].a.nslots = x->a.nslots;
    weir_lifted_free(x);
    return WEIR_OK;
}
