/* job.c - the jobs of a graph. Invariant: every pick of every job has one span in the schedule of the vertex, with
 * the times of the job, and no schedule has further spans; job ids are unique. */
#include "job/job.h"

#include <inttypes.h>
#include <string.h>

#include "time/schedule.h"
#include "graph/journal.h"
#include "graph/observer.h"
#include "job/job_annotation.h"
#include "job/stage.h"
#include "job/start_queue.h"
#include "aggregate/rows.h"
#include "time/usage_totals.h"
#include "time/availability.h"

/* ---- ids ---- */

static uint32_t id_hash(const weir_graph *g, int64_t id)
{
    return (uint32_t)hash_add(g->names.seed, (uint64_t)id);
}

static uint32_t find(const weir_graph *g, int64_t id)
{
    if (jobs_in(g))
        WEIR_MAP32_EACH (&jobs_in(g)->ids, id_hash(g, id), i)
            if (jobs_in(g)->list[i].a.job == id)
                return i;
    return WEIR_NONE;
}

uint32_t weir_job_index(const weir_graph *g, int64_t id)
{
    return id > 0 ? find(g, id) : WEIR_NONE;
}

uint32_t weir_stage_index(const weir_graph *g, int64_t stage)
{
    return stage > 0 ? find(g, -stage) : WEIR_NONE;
}

/* ---- records ---- */

static void clear_all(weir_graph *g)
{
    struct jobs *jobs = jobs_in(g);

    for (uint32_t i = 0; jobs && i < jobs->n; i++)
        WEIR_FREE(jobs->list[i].picks, jobs->list[i].flows);
    if (jobs) {
        weir_stages_free(jobs);
        WEIR_FREE(jobs->list, jobs->starts, jobs->order);
        weir_map32_free(&jobs->ids);
        WEIR_FREE(jobs->queue, jobs->events);
    }
    weir_record_drop(g, RECORD_JOBS, NULL);
}

static const struct weir_observer job_observer = {
    .refuse = weir_refuse_used,
    .reclaimed = weir_stages_reclaimed,
    .freed = clear_all,
    .check = weir_jobs_check,
};

void weir_jobs_observe(weir_graph *g)
{
    weir_observe(g, &job_observer);
    weir_observe(g, &weir_schedule_observer);
}

int weir_jobs_make(weir_graph *g)
{
    struct jobs *all;

    if (jobs_in(g))
        return WEIR_OK;
    all = weir_record_make(g, RECORD_JOBS, sizeof *all, &job_observer);
    if (!all)
        return WEIR_ENOMEM;
    all->first_expiry = WEIR_FOREVER;
    all->next_id = 1;
    weir_jobs_observe(g);
    return WEIR_OK;
}

/* Reserves one more job. */
static int table_reserve(weir_graph *g)
{
    struct jobs *all = jobs_in(g);

    return weir_map32_reserve(&all->ids, (size_t)all->live + 1) ||
                   weir_array_reserve(&all->list, &all->cap, all->n + 1, sizeof *all->list) ||
                   weir_array_reserve(&all->starts, &all->starts_cap, all->n + 1, sizeof *all->starts) ||
                   weir_array_reserve(&all->order, &all->order_cap, all->n + 1, sizeof *all->order) ||
                   weir_start_queue_reserve(g, all->n + 1)
               ? WEIR_ENOMEM
               : WEIR_OK;
}

static int64_t id_after(int64_t id)
{
    return id < WEIR_NEXT_JOB_MAX ? id + 1 : 1;
}

int64_t weir_job_next_id(weir_graph *g)
{
    struct jobs *all = jobs_in(g);

    while (all && weir_job_index(g, all->next_id) != WEIR_NONE)
        all->next_id = id_after(all->next_id);
    return jobs_next_id(g);
}

int weir_jobs_start_at(weir_graph *g, int64_t id)
{
    int rc = id == 1 ? WEIR_OK : weir_jobs_make(g);

    if (!rc && jobs_in(g))
        jobs_in(g)->next_id = id;
    return rc;
}

void weir_job_id_given(weir_graph *g)
{
    jobs_in(g)->next_id = id_after(jobs_in(g)->next_id);
}

static void put_in_order(struct jobs *all, uint32_t job, uint32_t place)
{
    all->order[place] = job;
    all->list[job].place = place;
}

/* Exchanges a job behind the stages with the first stage. */
static void move_among_jobs(struct jobs *all, uint32_t job)
{
    uint32_t at = all->list[job].place, first = all->live - all->stages - 1;

    if (at == first)
        return;
    put_in_order(all, all->order[first], at);
    put_in_order(all, job, first);
}

/* Makes a record without picks. `expires`: of a stage, 0 for a job. */
static int record_make(weir_graph *g, int64_t id, int64_t expires, uint32_t *out, weir_err *err)
{
    struct jobs *all;
    uint32_t i;

    if (weir_jobs_make(g) || table_reserve(g))
        return weir_fail_nomem(err);
    all = jobs_in(g);
    i = all->live < all->n ? all->order[all->live] : all->n;
    if (weir_map32_add(&all->ids, id_hash(g, id), i))
        return weir_fail_nomem(err);
    if (i == all->n)
        all->order[all->n++] = i;
    all->list[i] = (struct job){.a.job = id, .a.expires = expires, .queue_place = WEIR_NONE, .used = true};
    put_in_order(all, i, all->live++);
    if (expires)
        all->stages++;
    else
        move_among_jobs(all, i);
    note_job(g, id);
    *out = i;
    return WEIR_OK;
}

static int job_make(weir_graph *g, int64_t id, uint32_t *out, weir_err *err)
{
    if (id < 0)
        return weir_fail(err, WEIR_EINVAL, "job id %" PRId64 " is negative", id);
    id = id ? id : weir_job_next_id(g);
    if (weir_job_index(g, id) != WEIR_NONE)
        return weir_fail(err, WEIR_EEXIST, "job %" PRId64 " is there already", id);
    return record_make(g, id, 0, out, err);
}

/* Takes a record out of the order: the last record takes the place, of a job the last job and then the last stage. */
static void leave_order(struct jobs *all, uint32_t i)
{
    uint32_t hole = all->list[i].place, last_job = all->live - all->stages - 1;

    if (all->list[i].a.expires) {
        all->stages--;
    } else {
        if (hole != last_job)
            put_in_order(all, all->order[last_job], hole);
        hole = last_job;
    }
    if (hole != all->live - 1)
        put_in_order(all, all->order[all->live - 1], hole);
    all->order[--all->live] = i;
}

/* Removes the record of a job without spans. */
static void job_forget(weir_graph *g, uint32_t i)
{
    struct jobs *all = jobs_in(g);
    struct job *j = &all->list[i];

    leave_order(all, i);
    weir_start_queue_remove(g, i);
    weir_map32_remove(&all->ids, id_hash(g, j->a.job), i);
    note_job(g, j->a.job);
    WEIR_FREE(j->picks, j->flows);
    memset(j, 0, sizeof *j);
}

/* Exactly n the first time: most jobs do not grow. */
int weir_job_reserve(struct job *j, size_t n)
{
    if (!j->picks && n > 0 && n <= UINT32_MAX) {
        j->picks = weir_mem_alloc(n * sizeof *j->picks);
        j->cap = j->picks ? (uint32_t)n : 0;
    }
    if (weir_array_reserve(&j->picks, &j->cap, n, sizeof *j->picks))
        return WEIR_ENOMEM;
    j->a.picks = j->picks;
    return WEIR_OK;
}

int weir_job_flow(weir_graph *g, uint32_t job, const struct flow_use *flows, uint32_t n)
{
    struct job *j = &jobs_in(g)->list[job];

    if (n == 0)
        return WEIR_OK;
    if (weir_array_reserve(&j->flows, &j->flows_cap, (size_t)j->nflows + n, sizeof *flows))
        return WEIR_ENOMEM;
    note_job(g, j->a.job);
    memcpy(j->flows + j->nflows, flows, n * sizeof *flows);
    j->nflows += n;
    return WEIR_OK;
}

/* ---- spans ---- */

/* Start of the first reservation of v. */
static int64_t next_of(const weir_graph *g, weir_vertex v)
{
    return schedule_of(g, v) ? schedule_of(g, v)->next : WEIR_FOREVER;
}

int weir_span_add(weir_graph *g, uint32_t job, const weir_pick *p)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    bool active = a->start <= g->now;
    int64_t next = next_of(g, p->vertex);
    int rc;

    note_job(g, a->job);
    if (active)
        weir_rows_before(g, p->vertex);
    rc = weir_schedule_add(g, job, p);
    if (!rc && active)
        weir_rows_after(g, p->vertex);
    else if (!rc)
        weir_rows_soon(g, p->vertex, next);
    return rc;
}

void weir_span_remove(weir_graph *g, uint32_t job, weir_vertex v)
{
    bool active = jobs_in(g)->list[job].a.start <= g->now;
    int64_t next = next_of(g, v);

    note_job(g, jobs_in(g)->list[job].a.job);
    if (active)
        weir_rows_before(g, v);
    weir_schedule_remove(g, v, job);
    if (active)
        weir_rows_after(g, v);
    else
        weir_rows_soon(g, v, next);
}

int weir_pick_resize(weir_graph *g, uint32_t job, weir_pick *p, int64_t amount)
{
    bool whole = amount == kind_of(g, p->vertex)->size;
    int rc;

    note_job(g, jobs_in(g)->list[job].a.job);
    weir_rows_before(g, p->vertex);
    rc = weir_schedule_resize(g, p->vertex, job, amount, whole);
    weir_rows_after(g, p->vertex);
    if (!rc) {
        p->amount = amount;
        p->exclusive = whole;
    }
    return rc;
}

/* Gives an empty record times and picks. On failure the record is removed. */
static int record_fill(weir_graph *g, uint32_t i, const weir_booking *b, weir_err *err)
{
    struct job *j = &jobs_in(g)->list[i];
    int rc;

    j->a.start = jobs_in(g)->starts[i] = b->start;
    j->a.end = b->end;
    j->a.state = b->start <= g->now ? WEIR_ALLOCATED : WEIR_RESERVED;
    note_job(g, j->a.job);
    rc = weir_job_reserve(j, b->npicks);
    rc = rc ? rc : weir_spans_add(g, i, b->picks, b->npicks);
    if (!rc) {
        if (b->npicks)
            memcpy(j->picks, b->picks, b->npicks * sizeof *b->picks);
        j->a.npicks = b->npicks;
        rc = weir_usage_add(g, i);
        if (rc)
            weir_spans_remove(g, i, b->picks, b->npicks);
    }
    if (rc) {
        job_forget(g, i);
        return weir_fail_nomem(err);
    }
    if (b->start > g->now || (jobs_expire(g) && !j->a.expires))
        weir_start_queue_add(g, i);
    return WEIR_OK;
}

int weir_job_commit(weir_graph *g, const weir_booking *b, uint32_t *out, weir_err *err)
{
    uint32_t i = 0;
    int rc = job_make(g, b->job, &i, err);

    rc = rc ? rc : record_fill(g, i, b, err);
    if (rc)
        return rc;
    if (b->job == 0)
        weir_job_id_given(g);
    *out = i;
    return WEIR_OK;
}

int weir_stage_book(weir_graph *g, int64_t expires, const weir_booking *b, uint32_t *out, weir_err *err)
{
    int64_t number = (jobs_in(g) ? jobs_in(g)->last_stage : 0) + 1;
    uint32_t i = 0;
    int rc = record_make(g, -number, expires, &i, err);

    rc = rc ? rc : record_fill(g, i, b, err);
    if (rc)
        return rc;
    jobs_in(g)->last_stage = number;
    *out = i;
    return WEIR_OK;
}

int weir_stage_rename(weir_graph *g, uint32_t stage, int64_t id)
{
    struct jobs *all = jobs_in(g);
    struct job *j = &all->list[stage];
    bool queued = j->queue_place != WEIR_NONE;

    if (weir_map32_reserve(&all->ids, (size_t)all->live + 1) || weir_map32_add(&all->ids, id_hash(g, id), stage))
        return WEIR_ENOMEM;
    weir_map32_remove(&all->ids, id_hash(g, j->a.job), stage);
    note_job(g, j->a.job);             /* the views of hierarchies have the stage */
    weir_start_queue_remove(g, stage); /* the id is a part of the order */
    j->a.job = id;
    j->a.expires = 0;
    all->stages--;
    move_among_jobs(all, stage);
    if (queued || jobs_expire(g))
        weir_start_queue_add(g, stage);
    note_job(g, id);
    return WEIR_OK;
}

void weir_job_drop(weir_graph *g, uint32_t job)
{
    struct job *j = &jobs_in(g)->list[job];

    weir_usage_remove(g, job);
    note_job(g, j->a.job);
    weir_spans_remove(g, job, j->picks, j->a.npicks);
    job_forget(g, job);
}

int weir_release(weir_graph *g, int64_t job, weir_err *err)
{
    uint32_t i = weir_job_index(g, job);
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (i == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job);
    weir_job_drop(g, i);
    return WEIR_OK;
}

const weir_allocation *weir_job_get(const weir_graph *g, int64_t job)
{
    uint32_t i = weir_job_index(g, job);
    return i == WEIR_NONE ? NULL : &jobs_in(g)->list[i].a;
}

const char *weir_job_policy(const weir_graph *g, int64_t job)
{
    uint32_t i = weir_job_index(g, job);
    const char *text = i == WEIR_NONE ? NULL : weir_strtab_text(&g->names, jobs_in(g)->list[i].policy);
    const char *end = text ? strchr(text, JOB_QUEUE_END) : NULL;

    return end ? end + 1 : text;
}

const char *weir_job_queue(const weir_graph *g, int64_t job, size_t *len)
{
    uint32_t i = weir_job_index(g, job);
    const char *text = i == WEIR_NONE ? NULL : weir_strtab_text(&g->names, jobs_in(g)->list[i].policy);
    const char *end = text ? strchr(text, JOB_QUEUE_END) : NULL;

    *len = end ? (size_t)(end - text) : 0;
    return end ? text : NULL;
}

uint32_t weir_job_count(const weir_graph *g)
{
    return jobs_in(g) ? jobs_in(g)->live - jobs_in(g)->stages : 0;
}

const weir_allocation *weir_job_at(const weir_graph *g, uint32_t i)
{
    return i < weir_job_count(g) ? &jobs_in(g)->list[jobs_in(g)->order[i]].a : NULL;
}

/* ---- single vertices ---- */

bool weir_vertex_shares(const weir_graph *g, weir_vertex v, int64_t job)
{
    const weir_allocation *a = weir_job_get(g, job);
    weir_use u;

    if (!a || a->state != WEIR_ALLOCATED || !weir_availability_above(g, v, g->now, g->now + 1))
        return false;
    for (uint32_t i = 0; weir_vertex_use(g, v, i, &u); i++)
        if (u.active && (u.exclusive || (u.job == job && u.amount > 0)))
            return false;
    return true;
}

bool weir_job_has(const weir_graph *g, uint32_t job, weir_vertex v)
{
    return schedule_of(g, v) && weir_schedule_find(g, v, job) != WEIR_NONE;
}

weir_pick *weir_job_pick(const struct job *j, weir_vertex v)
{
    for (uint32_t i = 0; i < j->a.npicks; i++)
        if (j->picks[i].vertex == v)
            return &j->picks[i];
    return NULL;
}

static int check_window(const weir_graph *g, const struct job *j, int64_t start, int64_t end, weir_err *err)
{
    if (start >= end)
        return weir_fail(err, WEIR_EINVAL,
                         "the allocation ends at %" PRId64 " us, not after its start at %" PRId64 " us", end, start);
    if (start < g->now)
        return weir_fail(err, WEIR_EINVAL, "the allocation starts at %" PRId64 " us, before the clock (%" PRId64 " us)",
                         start, g->now);
    if (j && (j->a.end != end || (j->a.start != start && (j->a.start > g->now || start > g->now))))
        return weir_fail(err, WEIR_EINVAL, "job %" PRId64 " has other times, [%" PRId64 ", %" PRId64 ") us", j->a.job,
                         j->a.start, j->a.end);
    return WEIR_OK;
}

static bool has_below(const weir_graph *g, weir_vertex v, uint32_t job)
{
    const weir_allocation *a = job == WEIR_NONE ? NULL : &jobs_in(g)->list[job].a;

    for (uint32_t i = 0; a && i < a->npicks; i++)
        if (a->picks[i].vertex != v && weir_vertex_within(g, a->picks[i].vertex, v))
            return true;
    return false;
}

/* Fails as a job has a vertex above v as a whole in the interval. */
static int fail_held(const weir_graph *g, weir_vertex v, int64_t start, int64_t end, weir_err *err)
{
    char path[200] = "";
    weir_use u;

    for (weir_vertex up = vertex_at(g, v)->parent; up != WEIR_NONE; up = vertex_at(g, up)->parent)
        for (uint32_t i = 0; weir_vertex_use(g, up, i, &u); i++)
            if (u.exclusive && u.start < end && (u.end > start || u.active)) {
                weir_vertex_path(g, up, path, sizeof path);
                return weir_fail(err, WEIR_EBUSY, "%s %" PRId64 " has %s as a whole, and so all that is below",
                                 u.job < 0 ? "stage" : "job", u.job < 0 ? -u.job : u.job, path);
            }
    return weir_fail(err, WEIR_EBUSY, "a job has an ancestor of the vertex as a whole");
}

/* Whether `amount` more units of v fit; `had` are the units of v that the job has already. */
static int check_fits(const weir_graph *g, weir_vertex v, uint32_t job, int64_t amount, int64_t had, int64_t start,
                      int64_t end, weir_err *err)
{
    int64_t size = kind_of(g, v)->size, free_units = weir_availability_free(g, v, start, end);
    bool whole = had + amount == size;

    if (amount <= 0)
        return weir_fail(err, WEIR_EINVAL, "%" PRId64 " units cannot be allocated", amount);
    if (kind_of(g, v)->exclusive && !whole)
        return weir_fail(err, WEIR_EINVAL, "this pool is exclusive: all %" PRId64 " units or none", size);
    if (!weir_availability_above(g, v, start, end))
        return fail_held(g, v, start, end, err);
    if (amount > free_units)
        return weir_fail(err, WEIR_EBUSY, "%" PRId64 " units requested, %" PRId64 " of %" PRId64 " are free", amount,
                         free_units, size);
    if (whole && !weir_availability_only(g, v, job, start, end))
        return weir_fail(err, WEIR_EBUSY,
                         "all units are exclusive, and another job shares the vertex or has something below");
    if (whole && has_below(g, v, job))
        return weir_fail(err, WEIR_EBUSY,
                         "all units are exclusive, and the job has something below already: release that first");
    for (weir_vertex up = vertex_at(g, v)->parent; up != WEIR_NONE; up = vertex_at(g, up)->parent)
        if (kind_of(g, up)->exclusive && !weir_availability_only(g, up, job, start, end))
            return weir_fail(err, WEIR_EBUSY,
                             "an ancestor of the vertex is exclusive, and another job has a part of it");
    return WEIR_OK;
}

/* Changes the units of a pick. On failure nothing has changed. */
static int resize_units(weir_graph *g, uint32_t job, weir_pick *p, int64_t amount)
{
    int rc;

    weir_usage_remove(g, job);
    rc = weir_pick_resize(g, job, p, amount);
    weir_usage_keep(g, job);
    return rc;
}

/* Adds a pick to a job. */
static int pick_add(weir_graph *g, uint32_t job, const weir_pick *p)
{
    struct job *j = &jobs_in(g)->list[job];

    if (weir_job_reserve(j, (size_t)j->a.npicks + 1) || weir_span_add(g, job, p))
        return WEIR_ENOMEM;
    j->picks[j->a.npicks++] = *p;
    weir_usage_grow(g, job, j->a.npicks - 1);
    return WEIR_OK;
}

int weir_vertex_allocate(weir_graph *g, weir_vertex v, int64_t job, int64_t amount, int64_t start, int64_t end,
                         weir_err *err)
{
    uint32_t i = weir_job_index(g, job);
    struct job *j = i == WEIR_NONE ? NULL : &jobs_in(g)->list[i];
    weir_pick *had = j && vertex_valid(g, v) && weir_job_has(g, i, v) ? weir_job_pick(j, v) : NULL;
    weir_pick p = {v, WEIR_NONE, amount, false};
    int rc = weir_graph_writable(g, err);

    if (!rc && !vertex_valid(g, v))
        rc = weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (!rc && job <= 0)
        rc = weir_fail(err, WEIR_EINVAL, "a job id is a positive number, not %" PRId64, job);
    if (!rc && vertex_detached(g, v))
        rc = weir_fail(err, WEIR_EBUSY, "vertex %u was taken out of containment", v);
    rc = rc ? rc : check_window(g, j, start, end, err);
    rc = rc ? rc : check_fits(g, v, i, amount, had ? had->amount : 0, start, end, err);
    if (rc)
        return rc;
    p.exclusive = amount == kind_of(g, v)->size;
    if (had)
        rc = resize_units(g, i, had, had->amount + amount);
    else if (j)
        rc = pick_add(g, i, &p);
    else
        return weir_job_commit(g, &(weir_booking){job, start, end, &p, 1}, &i, err);
    return rc ? weir_fail_nomem(err) : WEIR_OK;
}

int weir_vertex_release(weir_graph *g, weir_vertex v, int64_t job, int64_t amount, weir_err *err)
{
    uint32_t i = weir_job_index(g, job);
    weir_pick *p = i == WEIR_NONE ? NULL : weir_job_pick(&jobs_in(g)->list[i], v);
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (!p)
        return weir_fail(err, WEIR_ENOENT, "job %" PRId64 " has nothing of vertex %u", job, v);
    if (amount < 0 || amount > p->amount)
        return weir_fail(err, WEIR_EINVAL, "%" PRId64 " units cannot be freed: job %" PRId64 " has %" PRId64, amount,
                         job, p->amount);
    if (weir_job_has_flow(&jobs_in(g)->list[i], v))
        return weir_job_flow_release(g, i, v, amount ? amount : p->amount) ? weir_fail_nomem(err) : WEIR_OK;
    if (amount > 0 && amount < p->amount)
        return resize_units(g, i, p, p->amount - amount) ? weir_fail_nomem(err) : WEIR_OK;
    weir_usage_remove(g, i);
    weir_span_remove(g, i, v);
    memmove(p, p + 1, (size_t)(jobs_in(g)->list[i].picks + jobs_in(g)->list[i].a.npicks - p - 1) * sizeof *p);
    if (--jobs_in(g)->list[i].a.npicks == 0)
        job_forget(g, i);
    else
        weir_usage_keep(g, i);
    return WEIR_OK;
}
