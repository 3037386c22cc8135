/* usage_totals.c - see usage_totals.h. Invariant: usage.by_type[t] is the sum over all jobs of the units of type t
 * in picks, units below an exclusive pick included, or NULL before the first query. Behind the types follow two
 * timelines of ends of jobs, one of even and one of odd microseconds, so that neighbours do not merge: each end is
 * one unit for a microsecond. */
#include "time/usage_totals.h"

#include "time/occupancy.h"
#include "aggregate/rows.h"
#include "graph/observer.h"

void weir_usage_clear(weir_graph *g)
{
    for (uint32_t t = 0; t < usage_in(g)->n; t++)
        weir_timeline_free(usage_in(g)->by_type[t]);
    for (uint32_t i = 0; i < job_records(g); i++)
        jobs_in(g)->list[i].counted = false;
    weir_mem_free(usage_in(g)->by_type);
    weir_record_drop(g, RECORD_USAGE, &weir_usage_observer);
}

int64_t weir_usage_pick(const weir_graph *g, const weir_pick *p, weir_type t)
{
    const struct inner *in = p->exclusive ? inner_of(g, p->vertex) : NULL;
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;
    int64_t own = kind_of(g, p->vertex)->type != t ? 0 : p->exclusive ? kind_of(g, p->vertex)->size : p->amount;

    return own + (cell ? in->cells[cell + TYPE_TOTAL] : 0);
}

#define END_TIMELINES 2

static bool is_end_timeline(const weir_graph *g, uint32_t t)
{
    return t + END_TIMELINES >= usage_in(g)->n;
}

/* Units of type t in the picks of a job from number `from` on. */
static int64_t job_takes(const weir_graph *g, const struct job *j, uint32_t from, weir_type t)
{
    int64_t sum = 0;
    for (uint32_t i = from; i < j->a.npicks; i++)
        sum += weir_usage_pick(g, &j->picks[i], t);
    return sum;
}

/* Units of type t in all picks of a job, cached: a job is often added and removed again. */
static int64_t job_count(struct job *j, const weir_graph *g, weir_type t)
{
    if (!j->counted || j->takes_type != t) {
        j->takes = job_takes(g, j, 0, t);
        j->takes_type = t;
        j->counted = true;
    }
    return j->takes;
}

/* Adds (sign 1) or subtracts (-1) a job in one timeline. */
static int change(weir_graph *g, uint32_t t, struct job *j, int sign)
{
    int64_t n;

    if (is_end_timeline(g, t)) {
        bool odd = t + 1 == usage_in(g)->n;
        if (j->a.end == WEIR_FOREVER || (j->a.end & 1) != odd)
            return WEIR_OK;
        return weir_timeline_add(usage_in(g)->by_type[t], j->a.end, j->a.end + 1, sign);
    }
    n = usage_in(g)->by_type[t] ? job_count(j, g, (weir_type)t) : 0;
    return n ? weir_timeline_add(usage_in(g)->by_type[t], j->a.start, j->a.end, sign * n) : WEIR_OK;
}

/* Subtracts a job in the first n timelines. */
static void take_back(weir_graph *g, struct job *j, uint32_t n)
{
    while (n-- > 0)
        if (change(g, n, j, -1)) {
            weir_usage_clear(g); /* built again on the next query */
            return;
        }
}

static int add_to_timelines(weir_graph *g, struct job *j)
{
    for (uint32_t t = 0; t < usage_in(g)->n; t++)
        if (change(g, t, j, 1)) {
            take_back(g, j, t);
            return WEIR_ENOMEM;
        }
    return WEIR_OK;
}

int weir_usage_add(weir_graph *g, uint32_t job)
{
    int rc = add_to_timelines(g, &jobs_in(g)->list[job]);

    if (!rc)
        weir_occupancies_add(g, job, 0);
    return rc;
}

void weir_usage_keep(weir_graph *g, uint32_t job)
{
    jobs_in(g)->list[job].counted = false;
    if (add_to_timelines(g, &jobs_in(g)->list[job]))
        weir_usage_clear(g);
    weir_occupancies_add(g, job, 0);
}

void weir_usage_grow(weir_graph *g, uint32_t job, uint32_t from)
{
    struct job *j = &jobs_in(g)->list[job];
    int rc = WEIR_OK;

    if (from < j->a.npicks)
        weir_occupancies_add(g, job, from);
    j->counted = false;
    for (uint32_t t = 0; !rc && t < usage_in(g)->n && !is_end_timeline(g, t); t++) {
        int64_t n = usage_in(g)->by_type[t] ? job_takes(g, j, from, (weir_type)t) : 0;
        rc = n ? weir_timeline_add(usage_in(g)->by_type[t], j->a.start, j->a.end, n) : WEIR_OK;
    }
    if (rc)
        weir_usage_clear(g);
}

void weir_usage_remove(weir_graph *g, uint32_t job)
{
    take_back(g, &jobs_in(g)->list[job], usage_in(g)->n);
    jobs_in(g)->list[job].counted = false; /* the picks mostly change now */
    weir_occupancies_remove(g, job);
}

void weir_usage_hide(weir_graph *g, uint32_t job)
{
    struct usage_totals *x = g->records[RECORD_USAGE];

    x->hidden = job + 1;
    take_back(g, &jobs_in(g)->list[job], x->n);
}

void weir_usage_show(weir_graph *g, uint32_t job)
{
    struct usage_totals *x = g->records[RECORD_USAGE];

    if (!x)
        return;
    x->hidden = 0;
    if (add_to_timelines(g, &jobs_in(g)->list[job]))
        weir_usage_clear(g);
}

int64_t weir_usage_next_end(const weir_graph *g, int64_t t)
{
    int64_t first = WEIR_FOREVER;

    for (uint32_t i = usage_in(g)->n - END_TIMELINES; i < usage_in(g)->n; i++) {
        int64_t at = t;
        if (t == g->now && weir_timeline_max(usage_in(g)->by_type[i], INT64_MIN / 2, t + 1) > 0)
            return t + 1;
        do
            at = weir_timeline_next_change(usage_in(g)->by_type[i], at);
        while (at != WEIR_FOREVER && weir_timeline_used_at(usage_in(g)->by_type[i], at) == 0);
        first = at < first ? at : first;
    }
    return first;
}

/* Builds a timeline from all jobs but a hidden one. */
static int build_timeline(weir_graph *g, uint32_t t)
{
    int rc = WEIR_OK;

    usage_in(g)->by_type[t] = weir_timeline_new();
    if (!usage_in(g)->by_type[t])
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < job_records(g); i++)
        if (jobs_in(g)->list[i].used && i + 1 != usage_in(g)->hidden)
            rc = change(g, t, &jobs_in(g)->list[i], 1);
    if (rc) {
        weir_timeline_free(usage_in(g)->by_type[t]);
        usage_in(g)->by_type[t] = NULL;
    }
    return rc;
}

int weir_usage_build(weir_graph *g)
{
    struct usage_totals *x;

    if (usage_in(g)->n == g->ntypes + END_TIMELINES)
        return WEIR_OK;
    weir_usage_clear(g);
    x = weir_record_make(g, RECORD_USAGE, sizeof *x, &weir_usage_observer);
    if (x)
        x->by_type = weir_mem_zalloc(g->ntypes + END_TIMELINES, sizeof *x->by_type);
    if (x && x->by_type)
        x->n = g->ntypes + END_TIMELINES;
    if (!x || !x->by_type || build_timeline(g, g->ntypes) || build_timeline(g, g->ntypes + 1)) {
        weir_usage_clear(g);
        return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

int weir_usage_of(weir_graph *g, weir_type t, const weir_timeline **out)
{
    int rc = usage_in(g)->by_type[t] ? WEIR_OK : build_timeline(g, t);

    *out = usage_in(g)->by_type[t];
    return rc;
}

/* Compares with sums over all jobs, at the start of each job. O(jobs^2) */
static int check(const weir_graph *g, weir_err *err)
{
    for (uint32_t t = 0; t + END_TIMELINES < usage_in(g)->n; t++)
        for (uint32_t i = 0; i < job_records(g); i++) {
            int64_t at = jobs_in(g)->list[i].a.start, sum = 0;
            if (!jobs_in(g)->list[i].used || !usage_in(g)->by_type[t])
                continue;
            for (uint32_t k = 0; k < job_records(g); k++)
                if (jobs_in(g)->list[k].used && jobs_in(g)->list[k].a.start <= at && at < jobs_in(g)->list[k].a.end)
                    sum += job_takes(g, &jobs_in(g)->list[k], 0, (weir_type)t);
            if (sum != weir_timeline_used_at(usage_in(g)->by_type[t], at))
                return weir_fail(err, WEIR_EINVAL, "weir_check: the units of %s taken over time are wrong",
                                 type_text(g, (weir_type)t));
        }
    return WEIR_OK;
}

/* Drops the totals where new vertices are below an exclusive pick: the job of the pick uses the vertices, too. */
static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    (void)pos, (void)count;
    for (; p != WEIR_NONE; p = vertex_at(g, p)->parent)
        if (schedule_of(g, p) && schedule_of(g, p)->count > schedule_of(g, p)->shared) {
            weir_usage_clear(g);
            return;
        }
}

const struct weir_observer weir_usage_observer = {
    .linked = linked,
    .reset = weir_usage_clear,
    .freed = weir_usage_clear,
    .check = check,
};
