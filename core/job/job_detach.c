/* job_detach.c - jobs detached from the schedules for a while. Invariant: a detached job has no spans and no id; to
 * attach the job restores all spans or none. */
#include <inttypes.h>
#include <string.h>

#include "job/job.h"
#include "job/loss.h"

struct weir_detached {
    uint64_t serial; /* of the graph: vertices are unchanged since */
    weir_allocation a;
    weir_name policy;
    weir_pick *picks;
    struct flow_use *flows;
    uint32_t nflows;
};

void weir_detached_free(weir_detached *x)
{
    if (!x)
        return;
    WEIR_FREE(x->picks, x->flows, x);
}

static int keep(weir_detached *x, const struct job *j)
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

int weir_job_detach(weir_graph *g, int64_t job, weir_detached **out, weir_err *err)
{
    uint32_t i = weir_job_index(g, job);
    weir_detached *x;
    int rc = weir_graph_writable(g, err);

    *out = NULL;
    if (rc)
        return rc;
    if (i == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job);
    x = weir_mem_zalloc(1, sizeof *x);
    if (!x || keep(x, &jobs_in(g)->list[i])) {
        weir_detached_free(x);
        return weir_fail_nomem(err);
    }
    x->serial = weir_graph_serial(g);
    weir_job_drop(g, i);
    *out = x;
    return WEIR_OK;
}

/* Checks that a job can be attached. A job past the end of its interval is checked for the present instant. */
static int check(const weir_graph *g, const weir_detached *x, int64_t start, int64_t end, weir_err *err)
{
    int64_t from = start > g->now ? start : g->now, to = end > from ? end : from + 1;
    weir_vertex open = WEIR_NONE;
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
        if (!weir_pick_free(g, &x->picks[i], from, to, &open))
            return weir_fail(err, WEIR_EBUSY, "job %" PRId64 " cannot be put back: something that it had is in use",
                             x->a.job);
    return WEIR_OK;
}

int weir_job_attach(weir_graph *g, weir_detached *x, int64_t end, weir_err *err)
{
    uint32_t i;
    int rc;

    end = end ? end : x->a.end;
    rc = check(g, x, x->a.start, end, err);
    rc = rc ? rc : weir_job_commit(g, &(weir_booking){x->a.job, x->a.start, end, x->picks, x->a.npicks}, &i, err);
    if (rc)
        return rc;
    if (weir_job_flow(g, i, x->flows, x->nflows)) {
        weir_job_drop(g, i);
        return weir_fail_nomem(err);
    }
    jobs_in(g)->list[i].policy = x->policy;
    jobs_in(g)->list[i].a.nslots = x->a.nslots;
    weir_detached_free(x);
    return WEIR_OK;
}

/* ---- records as texts ---- */

char *weir_job_record(const weir_graph *g, int64_t job, weir_err *err)
{
    uint32_t index = weir_job_index(g, job);
    const struct job *j = index == WEIR_NONE ? NULL : &jobs_in(g)->list[index];
    weir_buf b = {0};

    if (!j) {
        weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job);
        return NULL;
    }
    weir_buf_printf(&b, "%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " ",
                    weir_graph_serial(g), g->state_changes, j->a.start, j->a.end, j->a.nslots, j->a.npicks, j->nflows);
    for (uint32_t i = 0; i < j->a.npicks; i++) {
        const weir_pick *p = &j->picks[i];
        weir_buf_printf(&b, "%" PRIu32 " %" PRIu32 " %" PRId64 " %d ", p->vertex, p->resource, p->amount, p->exclusive);
    }
    for (uint32_t i = 0; i < j->nflows; i++) {
        const struct flow_use *f = &j->flows[i];
        weir_buf_printf(&b, "%" PRIu32 " %" PRIu32 " %" PRId64 " ", f->endpoint, f->unit, f->amount);
    }
    weir_buf_puts(&b, weir_strtab_text(&g->names, j->policy));
    return weir_buf_result(&b, WEIR_OK, err);
}

struct record_text {
    const char *at, *end;
    bool wrong;
};

/* The next number, from 0 to `most`, and the space behind it. */
static int64_t number(struct record_text *t, int64_t most)
{
    int64_t n = 0;
    const char *begin = t->at;

    while (t->at < t->end && *t->at >= '0' && *t->at <= '9' && n <= (INT64_MAX - (*t->at - '0')) / 10)
        n = n * 10 + (*t->at++ - '0');
    if (t->at == begin || t->at == t->end || *t->at != ' ' || n > most) {
        t->wrong = true;
        return 0;
    }
    t->at++;
    return n;
}

static weir_vertex vertex_number(struct record_text *t, const weir_graph *g)
{
    weir_vertex v = (weir_vertex)number(t, UINT32_MAX - 1);

    t->wrong = t->wrong || !vertex_valid(g, v);
    return v;
}

static weir_pick pick_number(struct record_text *t, const weir_graph *g)
{
    weir_pick p = {.vertex = vertex_number(t, g)};
    int64_t size = t->wrong ? 0 : kind_of(g, p.vertex)->size;

    p.resource = (uint32_t)number(t, UINT32_MAX);
    p.amount = number(t, size);
    p.exclusive = number(t, 1) == 1;
    t->wrong = t->wrong || (p.exclusive && p.amount != size);
    return p;
}

static int read_lists(struct record_text *t, const weir_graph *g, weir_detached *x)
{
    size_t left = (size_t)(t->end - t->at);

    x->a.npicks = (uint32_t)number(t, (int64_t)left);
    x->nflows = (uint32_t)number(t, (int64_t)left);
    x->picks = weir_mem_alloc(((size_t)x->a.npicks + 1) * sizeof *x->picks);
    x->flows = weir_mem_alloc(((size_t)x->nflows + 1) * sizeof *x->flows);
    if (!x->picks || !x->flows)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < x->a.npicks && !t->wrong; i++)
        x->picks[i] = pick_number(t, g);
    for (uint32_t i = 0; i < x->nflows && !t->wrong; i++) {
        weir_vertex endpoint = vertex_number(t, g), unit = vertex_number(t, g);
        x->flows[i] = (struct flow_use){endpoint, unit, number(t, INT64_MAX - 1)};
    }
    x->a.picks = x->picks;
    return WEIR_OK;
}

static int read_record(struct record_text *t, weir_graph *g, weir_detached *x, weir_err *err)
{
    uint64_t states;

    x->serial = (uint64_t)number(t, INT64_MAX);
    states = (uint64_t)number(t, INT64_MAX);
    if (!t->wrong && (x->serial != weir_graph_serial(g) || states != g->state_changes))
        return weir_fail(err, WEIR_EBUSY,
                         "vertices were added, removed or got another state, or the clock was set back");
    x->a.start = number(t, INT64_MAX);
    x->a.end = number(t, INT64_MAX);
    x->a.nslots = (uint32_t)number(t, UINT32_MAX);
    if (read_lists(t, g, x))
        return weir_fail_nomem(err);
    if (t->wrong)
        return weir_fail(err, WEIR_EPARSE, "expected a record of a job of this graph");
    x->policy = weir_strtab_add(&g->names, t->at, (size_t)(t->end - t->at));
    return x->policy == WEIR_NO_NAME ? weir_fail_nomem(err) : WEIR_OK;
}

int weir_job_book(weir_graph *g, int64_t job, const char *text, size_t len, weir_err *err)
{
    struct record_text t = {text, text + len, false};
    weir_detached *x = weir_mem_zalloc(1, sizeof *x);
    int rc = x ? weir_graph_writable(g, err) : weir_fail_nomem(err);

    if (!rc) {
        x->a.job = job;
        rc = read_record(&t, g, x, err);
    }
    rc = rc ? rc : weir_job_attach(g, x, 0, err);
    if (rc)
        weir_detached_free(x);
    return rc;
}
