/* job_spans.c - changes of many spans: neighbouring siblings change the rows of the parent together. Invariant: as
 * in job.c; spans are added as a whole or not at all. */
#include "job/job.h"

#include "time/schedule.h"
#include "aggregate/rows.h"

/* A change of many picks. */
struct changing {
    uint32_t job;
    enum schedule_change what;
    const weir_pick *picks;
    uint32_t n, done;
    struct schedule_memo memo;
};

#define AHEAD 8

/* Prefetches the memory of the changes after pick i: with hundreds of picks, most of the time is waiting for
 * memory. */
static void fetch_ahead(const weir_graph *g, const struct changing *c, uint32_t i)
{
    const struct schedule *b;

    if (c->n - i <= AHEAD)
        return;
    __builtin_prefetch(vertex_at(g, c->picks[i + AHEAD].vertex));
    b = schedule_of(g, c->picks[i + AHEAD / 2].vertex);
    if (b) {
        __builtin_prefetch(b);
        __builtin_prefetch(&b->detail);
    }
    b = schedule_of(g, c->picks[i + AHEAD / 4].vertex);
    if (b)
        weir_schedule_fetch(b, jobs_in(g)->starts[c->job]);
}

/* Number of picks, from the first on, with equal changes: exclusive, of one kind and schedule. */
static uint32_t alike(const weir_graph *g, const weir_pick *picks, uint32_t n)
{
    const struct vertex *first = vertex_at(g, picks->vertex);
    uint32_t i = 1;

    for (; i < n && picks->exclusive; i++) {
        const struct vertex *x = vertex_at(g, picks[i].vertex);
        if (x->schedule != first->schedule || x->kind != first->kind || !picks[i].exclusive)
            break;
    }
    return i;
}

/* Changes the schedules of the next n picks; undone on failure. */
static int change_schedules(weir_graph *g, struct changing *c, uint32_t n)
{
    const weir_pick *picks = c->picks + c->done;
    uint32_t done = 0, more;
    int rc = WEIR_OK;

    while (!rc && done < n) {
        fetch_ahead(g, c, c->done + done);
        rc = weir_schedule_change(g, c->job, picks + done, alike(g, picks + done, n - done), c->what, &c->memo, &more);
        done += more;
    }
    while (rc && done-- > 0)
        weir_schedule_remove(g, picks[done].vertex, c->job);
    return rc;
}

/* Changes a run of at least two neighbouring siblings. */
static int change_run(weir_graph *g, struct changing *c, uint32_t n)
{
    const weir_pick *picks = c->picks + c->done;
    bool active = jobs_in(g)->list[c->job].a.start <= g->now;
    int64_t next[WEIR_FAN];
    int rc;

    if (active)
        weir_rows_run_before(g, picks, n);
    for (uint32_t i = 0; !active && i < n; i++)
        next[i] = schedule_of(g, picks[i].vertex) ? schedule_of(g, picks[i].vertex)->next : WEIR_FOREVER;
    rc = change_schedules(g, c, n);
    if (!rc && active)
        weir_rows_run_after(g, picks, n);
    else if (!rc)
        weir_rows_run_soon(g, picks, n, next);
    return rc;
}

static int change_one(weir_graph *g, const struct changing *c)
{
    const weir_pick *p = &c->picks[c->done];

    switch (c->what) {
    case SCHEDULE_ADD: return weir_span_add(g, c->job, p);
    case SCHEDULE_REMOVE: weir_span_remove(g, c->job, p->vertex); break;
    case SCHEDULE_BEGIN:
        weir_rows_before(g, p->vertex);
        weir_schedule_begin(g, p->vertex, c->job);
        weir_rows_after(g, p->vertex);
    }
    return WEIR_OK;
}

/* Changes run after run; c->done counts changed picks. */
static int change_all(weir_graph *g, struct changing *c)
{
    int rc = WEIR_OK;

    weir_rows_batch(g, true);
    while (!rc && c->done < c->n) {
        uint32_t run = weir_rows_run(g, c->picks + c->done, c->n - c->done);
        rc = run > 1 ? change_run(g, c, run) : change_one(g, c);
        c->done += rc ? 0 : run;
    }
    weir_rows_batch(g, false);
    return rc;
}

int weir_spans_add(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n)
{
    struct changing c = {.job = job, .what = SCHEDULE_ADD, .picks = picks, .n = n};
    int rc = change_all(g, &c);

    if (rc)
        weir_spans_remove(g, job, picks, c.done);
    return rc;
}

void weir_spans_remove(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n)
{
    struct changing c = {.job = job, .what = SCHEDULE_REMOVE, .picks = picks, .n = n};
    int rc = change_all(g, &c);
    (void)rc;
}

void weir_spans_begin(weir_graph *g, uint32_t job)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    struct changing c = {.job = job, .what = SCHEDULE_BEGIN, .picks = a->picks, .n = a->npicks};
    int rc = change_all(g, &c);
    (void)rc;
}
