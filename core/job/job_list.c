/* job_list.c - jobs made of listed resources, without a match. Invariant: all resources of a list or none. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "job/job.h"
#include "job/loss.h"

WEIR_COMPARE_BY2(by_vertex, weir_pick, vertex, resource)

static int check_pick(const weir_graph *g, const weir_pick *p, weir_err *err)
{
    int64_t size;

    if (!vertex_valid(g, p->vertex))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", p->vertex);
    size = kind_of(g, p->vertex)->size;
    if (p->amount < 0 || p->amount > size)
        return weir_fail(err, WEIR_EINVAL, "%" PRId64 " units of a pool of %" PRId64 " cannot be allocated", p->amount,
                         size);
    return WEIR_OK;
}

/* Adds up the picks of each vertex. Returns the number of vertices. */
static uint32_t add_up(weir_pick *picks, uint32_t n)
{
    uint32_t kept = 0;

    qsort(picks, n, sizeof *picks, by_vertex);
    for (uint32_t i = 1; i < n; i++) {
        if (picks[i].vertex != picks[kept].vertex)
            picks[++kept] = picks[i];
        else if (picks[i].amount > WEIR_FOREVER - picks[kept].amount)
            picks[kept].amount = WEIR_FOREVER;
        else
            picks[kept].amount += picks[i].amount;
    }
    return kept + 1;
}

static const weir_pick *find(const weir_pick *picks, uint32_t n, weir_vertex v)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, n, picks[lo].vertex < v);
    return lo < n && picks[lo].vertex == v ? &picks[lo] : NULL;
}

/* Whether an ancestor of v is listed as a whole. */
static bool is_inside(const weir_graph *g, const weir_pick *picks, uint32_t n, weir_vertex v)
{
    while ((v = vertex_at(g, v)->parent) != WEIR_NONE) {
        const weir_pick *p = find(picks, n, v);
        if (p && p->exclusive)
            return true;
    }
    return false;
}

/* Adds up *n picks, marks whole pools, and copies the picks that are in no further pick to `kept`: *n picks. */
static int normalize(const weir_graph *g, weir_pick *picks, weir_pick *kept, uint32_t *n, weir_err *err)
{
    uint32_t count = add_up(picks, *n), out = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t size = kind_of(g, picks[i].vertex)->size;
        picks[i].exclusive = picks[i].amount == size && size > 0;
        if (check_pick(g, &picks[i], err))
            return WEIR_EINVAL;
        if (kind_of(g, picks[i].vertex)->exclusive && !picks[i].exclusive)
            return weir_fail(err, WEIR_EINVAL, "a pool is exclusive: all %" PRId64 " units or none", size);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!is_inside(g, picks, count, picks[i].vertex))
            kept[out++] = picks[i];
    *n = out;
    return WEIR_OK;
}

/* Books picks, each with the position in the caller's list as `resource`. *i is the index of the job. */
static int book(weir_graph *g, const weir_booking *b, weir_pick *picks, uint32_t *i, weir_losses *lost, weir_err *err)
{
    int rc = weir_booking_check(g, b, false, lost, err);

    for (uint32_t k = 0; rc == WEIR_EBUSY && lost && k < lost->n; k++)
        lost->list[k].pick = picks[lost->list[k].pick].resource;
    for (uint32_t k = 0; k < b->npicks; k++)
        picks[k].resource = WEIR_NONE;
    return rc ? rc : weir_job_commit(g, b, i, err);
}

static int check_call(const weir_graph *g, const weir_booking *b, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (!rc && b->npicks == 0)
        rc = weir_fail(err, WEIR_EINVAL, "no resources are listed");
    if (!rc && b->end <= b->start)
        rc = weir_fail(err, WEIR_EINVAL, "the allocation ends at %" PRId64 " us, not after its start at %" PRId64 " us",
                       b->end, b->start);
    if (!rc && b->start < g->now)
        rc = weir_fail(err, WEIR_EINVAL, "the allocation starts at %" PRId64 " us, before the clock (%" PRId64 " us)",
                       b->start, g->now);
    if (!rc && b->job < 0)
        rc = weir_fail(err, WEIR_EINVAL, "job id %" PRId64 " is negative", b->job);
    if (!rc && weir_job_index(g, b->job) != WEIR_NONE)
        rc = weir_fail(err, WEIR_EEXIST, "job %" PRId64 " is there already", b->job);
    for (uint32_t i = 0; !rc && i < b->npicks; i++)
        rc = check_pick(g, &b->picks[i], err);
    return rc;
}

int weir_job_allocate(weir_graph *g, const weir_booking *b, const weir_allocation **out, weir_losses *lost,
                      weir_err *err)
{
    int rc = check_call(g, b, err);
    uint32_t i = WEIR_NONE, n = b->npicks;
    weir_pick *all = rc ? NULL : weir_mem_alloc((size_t)n * 2 * sizeof *all), *kept = all ? all + n : NULL;

    if (out)
        *out = NULL;
    if (lost)
        *lost = (weir_losses){0};
    if (!rc && !all)
        rc = weir_fail_nomem(err);
    for (uint32_t k = 0; !rc && k < n; k++)
        all[k] = (weir_pick){b->picks[k].vertex, k, b->picks[k].amount, false};
    rc = rc ? rc : normalize(g, all, kept, &n, err);
    rc = rc ? rc : book(g, &(weir_booking){b->job, b->start, b->end, kept, n}, kept, &i, lost, err);
    weir_mem_free(all);
    if (!rc && out)
        *out = &jobs_in(g)->list[i].a;
    return rc;
}
