/* jgf_metadata.c - writes graph.metadata.weir of a document: all that a save keeps in addition to vertices and edges;
 * and the shares of units in an allocation (jgf_write.c).
 *
 *   version     1
 *   now         the clock, in microseconds like all times
 *   next_job    the next id of a job
 *   valid_from  when the resources may be used from on; left out where 0
 *   valid_until when the resources may no longer be used; left out where there is no such time
 *   expire      true: jobs are released at their ends (WEIR_OVERRUN_EXPIRE); left out otherwise
 *   subsystems  the names of all subsystems but containment, in the order in which they were added
 *   jobs        by ascending ids, a line each:
 *     id, start
 *     end       left out where the job has no end
 *     nslots    slots of the request; left out where unknown
 *     policy    label of the policy that placed the job; left out where empty
 *     queue     the queue of the job; left out where it has none
 *     held      true: the start was put off, as the resources were in use
 *     picks     arrays [vertex, amount, exclusive (0 or 1), number of the resource in the request (-1: unknown)]; an
 *               amount of 0 is shared use
 *     flows     arrays [vertex, unit, amount]: how many units of a further subsystem are taken for a vertex; left out
 *               where empty
 *
 * A vertex is named by its position in "nodes". A job is a reservation where its start is after the clock.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/output.h"
#include "job/job.h"

#define VERSION 1

static void write_number(weir_buf *b, const char *key, int64_t n)
{
    weir_buf_puts(b, key);
    weir_write_int(b, n);
}

static void write_pick(weir_buf *b, const weir_pick *p, const uint32_t *numbers)
{
    write_number(b, "[", numbers[p->vertex]);
    write_number(b, ",", p->amount);
    write_number(b, ",", p->exclusive);
    write_number(b, ",", p->resource == WEIR_NONE ? -1 : (int64_t)p->resource);
    WEIR_WRITE(b, "]");
}

static void write_flows(weir_buf *b, const weir_graph *g, const struct job *j, const uint32_t *numbers)
{
    bool any = false;

    for (uint32_t i = 0; i < j->nflows; i++) {
        const struct flow_use *f = &j->flows[i];
        if (!weir_job_pick(j, f->unit) || !vertex_valid(g, f->endpoint))
            continue; /* the job has given the units back */
        weir_buf_puts(b, any ? ",[" : ",\"flows\":[[");
        any = true;
        weir_write_int(b, numbers[f->endpoint]);
        write_number(b, ",", numbers[f->unit]);
        write_number(b, ",", f->amount);
        WEIR_WRITE(b, "]");
    }
    if (any)
        WEIR_WRITE(b, "]");
}

void weir_jgf_write_job(const weir_graph *g, const struct job *j, const uint32_t *numbers, weir_buf *b)
{
    const weir_allocation *a = &j->a;
    const char *policy = weir_strtab_text(&g->names, j->policy), *queue_end = strchr(policy, JOB_QUEUE_END);

    write_number(b, "{\"id\":", a->job);
    write_number(b, ",\"start\":", a->start);
    if (a->end != WEIR_FOREVER)
        write_number(b, ",\"end\":", a->end);
    if (a->nslots)
        write_number(b, ",\"nslots\":", a->nslots);
    if (queue_end ? queue_end[1] : *policy) {
        WEIR_WRITE(b, ",\"policy\":");
        weir_write_string(b, queue_end ? queue_end + 1 : policy);
    }
    if (queue_end) {
        WEIR_WRITE(b, ",\"queue\":\"");
        weir_write_escaped(b, policy, (size_t)(queue_end - policy));
        WEIR_WRITE(b, "\"");
    }
    if (j->put_off && a->state == WEIR_RESERVED)
        WEIR_WRITE(b, ",\"held\":true");
    WEIR_WRITE(b, ",\"picks\":[");
    for (uint32_t i = 0; i < a->npicks; i++) {
        weir_buf_puts(b, i > 0 ? "," : "");
        write_pick(b, &a->picks[i], numbers);
    }
    WEIR_WRITE(b, "]");
    write_flows(b, g, j, numbers);
    WEIR_WRITE(b, "}");
}

static int by_id(const void *a, const void *b)
{
    const struct job *const *x = a, *const *y = b;
    return ((*x)->a.job > (*y)->a.job) - ((*x)->a.job < (*y)->a.job);
}

const struct job **weir_jgf_jobs(const weir_graph *g)
{
    uint32_t n = weir_job_count(g);
    const struct job **list = weir_mem_alloc(((size_t)n + 1) * sizeof *list);

    for (uint32_t i = 0; list && i < n; i++)
        list[i] = &jobs_in(g)->list[jobs_in(g)->order[i]];
    if (list && n > 1)
        qsort(list, n, sizeof *list, by_id);
    return list;
}

/* Writes all jobs, a line each. */
static int write_jobs(const struct weir_written *w, const uint32_t *numbers, weir_buf *b, weir_err *err)
{
    const struct job **list = weir_jgf_jobs(w->g);
    int rc = list ? WEIR_OK : weir_fail_nomem(err);

    for (uint32_t i = 0; rc == WEIR_OK && i < weir_job_count(w->g); i++) {
        weir_buf_puts(b, i > 0 ? ",\n" : "\n");
        weir_jgf_write_job(w->g, list[i], numbers, b);
        rc = weir_write_flush(w, b, false, err);
    }
    weir_mem_free(list);
    return rc;
}

void weir_jgf_write_clock(const weir_graph *g, weir_buf *b)
{
    write_number(b, "\"version\":", VERSION);
    write_number(b, ",\"now\":", g->now);
    write_number(b, ",\"next_job\":", jobs_next_id(g));
    if (g->valid_from != 0)
        write_number(b, ",\"valid_from\":", g->valid_from);
    if (g->valid_until != WEIR_FOREVER)
        write_number(b, ",\"valid_until\":", g->valid_until);
    if (jobs_expire(g))
        WEIR_WRITE(b, ",\"expire\":true");
    WEIR_WRITE(b, ",\"subsystems\":[");
    for (uint32_t i = 1; i < g->nsubsystems; i++) {
        weir_buf_puts(b, i > 1 ? "," : "");
        weir_write_string(b, weir_subsystem_name(g, i));
    }
    WEIR_WRITE(b, "]");
}

int weir_jgf_write_metadata(const struct weir_written *w, const uint32_t *numbers, weir_buf *b, weir_err *err)
{
    int rc;

    WEIR_WRITE(b, ",\"weir\":{");
    weir_jgf_write_clock(w->g, b);
    WEIR_WRITE(b, ",\"jobs\":[");
    rc = write_jobs(w, numbers, b, err);
    WEIR_WRITE(b, "]}},\n");
    return rc;
}

/* ---- numbers of vertices ---------------------------------------------------------------------------------------- */

/* Numbers v and all vertices below in preorder. */
static void number_all(const weir_graph *g, weir_vertex v, uint32_t *numbers, uint32_t *count)
{
    uint32_t n;
    const weir_vertex *kids = kids_of(g, v, &n);

    numbers[v] = (*count)++;
    for (uint32_t i = 0; i < n; i++)
        if (kids[i] != WEIR_NONE)
            number_all(g, kids[i], numbers, count);
}

uint32_t *weir_jgf_numbers(const weir_graph *g)
{
    uint32_t *numbers = weir_mem_alloc(((size_t)g->limit + 1) * sizeof *numbers), count = 0;

    for (uint32_t i = 0; numbers && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            number_all(g, g->roots[i], numbers, &count);
    for (weir_vertex v = 0; numbers && g->detached > 0 && v < g->limit; v++)
        if (vertex_valid(g, v) && vertex_detached(g, v))
            numbers[v] = count++;
    return numbers;
}

/* ---- shares ---------------------------------------------------------------------------------------------------- */

void weir_jgf_write_shares(const struct weir_written *w, const struct weir_pick_entry *p, weir_buf *b)
{
    uint32_t job = weir_job_index(w->g, w->a->job), n = 0;
    const struct job *j = job == WEIR_NONE ? NULL : &jobs_in(w->g)->list[job];
    int64_t rest = p->amount;

    if (p->amount == kind_of(w->g, p->v)->size && (!j || !weir_job_has_flow(j, p->v)))
        return;
    WEIR_WRITE(b, ",\"shares\":{");
    for (uint32_t i = 0; j && i < j->nflows; i++) {
        const struct flow_use *f = &j->flows[i];
        if (f->unit != p->v || f->amount > rest)
            continue;
        weir_buf_printf(b, "%s\"%" PRId64 ":%" PRIu32 "\":%" PRId64, n++ > 0 ? "," : "", w->a->job, f->endpoint,
                        f->amount);
        rest -= f->amount;
    }
    if (rest > 0)
        weir_buf_printf(b, "%s\"%" PRId64 "\":%" PRId64, n > 0 ? "," : "", w->a->job, rest);
    WEIR_WRITE(b, "}");
}
