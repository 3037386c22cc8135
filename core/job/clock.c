/* clock.c - the clock: starts, ends, and reservations put off because an overdue job has the vertices. Invariant:
 * events are processed in order of time; no step needs memory, so an advance is done as a whole or not begun. A
 * reservation put off passes over earlier reservations, and overlapped later reservations are put off after it. */
#include "job/job.h"

#include <inttypes.h>

#include "aggregate/rows.h"
#include "graph/journal.h"
#include "job/stage.h"
#include "job/start_queue.h"
#include "time/availability.h"
#include "time/occupancy.h"
#include "time/schedule.h"
#include "time/usage_totals.h"

enum weir_overrun weir_graph_overrun_rule(const weir_graph *g)
{
    return jobs_expire(g) ? WEIR_OVERRUN_EXPIRE : WEIR_OVERRUN_HOLD;
}

int weir_graph_overrun(weir_graph *g, enum weir_overrun rule, weir_err *err)
{
    bool expire = rule == WEIR_OVERRUN_EXPIRE;

    if (expire == jobs_expire(g))
        return WEIR_OK;
    if (weir_jobs_make(g))
        return weir_fail_nomem(err);
    for (uint32_t i = 0; i < live_jobs(g); i++) {
        uint32_t job = jobs_in(g)->order[i];
        if (jobs_in(g)->list[job].a.state != WEIR_ALLOCATED || jobs_in(g)->list[job].a.expires)
            continue;
        if (expire)
            weir_start_queue_add(g, job);
        else
            weir_start_queue_remove(g, job);
    }
    jobs_in(g)->expire = expire;
    return WEIR_OK;
}

const weir_clock_event *weir_graph_events(const weir_graph *g, uint32_t *n)
{
    *n = jobs_in(g) ? jobs_in(g)->nevents : 0;
    return jobs_in(g) ? jobs_in(g)->events : NULL;
}

/* Records an event of a job. Memory is reserved. */
static void add_event(weir_graph *g, uint32_t job, enum weir_clock_change kind)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;

    if (a->expires)
        return;
    jobs_in(g)->events[jobs_in(g)->nevents++] =
        (weir_clock_event){a->job, kind == WEIR_CLOCK_EXPIRE ? a->end : a->start, (int)kind};
}

/* ---- vertices in use ---- */

/* Whether active jobs have v, or anything below v. */
static bool in_use(const weir_graph *g, weir_vertex v)
{
    return !vertex_unused(g, v);
}

/* Whether active jobs prevent a pick. */
static bool is_blocked(const weir_graph *g, const weir_pick *p)
{
    const struct schedule *b = schedule_of(g, p->vertex);

    if (p->exclusive ? in_use(g, p->vertex)
                     : b && (b->held || schedule_used(g, b) > kind_of(g, p->vertex)->size - p->amount))
        return true;
    for (weir_vertex up = vertex_at(g, p->vertex)->parent; up != WEIR_NONE; up = vertex_at(g, up)->parent)
        if (schedule_of(g, up) && schedule_of(g, up)->held)
            return true;
    return false;
}

static bool job_blocked(const weir_graph *g, uint32_t job)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;

    for (uint32_t i = 0; i < a->npicks; i++)
        if (is_blocked(g, &a->picks[i]))
            return true;
    return false;
}

/* ---- conflicts: jobs with agreed times within an interval, and with spans excluding a pick of a job ---- */

struct conflicts {
    weir_graph *g;
    uint32_t job;
    int64_t t0, t1;
    void (*each)(struct conflicts *r, const struct span *s);
    int64_t first_end; /* pass_over(): the end of the earliest conflict that stays */
};

/* Whether `other` stays in place when `job` is put off. */
static bool stays(const weir_graph *g, uint32_t other, uint32_t job)
{
    const struct job *o = &jobs_in(g)->list[other];
    return o->a.state == WEIR_ALLOCATED || o->settled == jobs_in(g)->advances ||
           weir_start_queue_earlier(g, other, job);
}

static bool is_over(const struct conflicts *r, const struct span *s)
{
    return s->job != r->job && s->start < r->t1 && s->end > r->t0;
}

static void visit_schedule(struct conflicts *r, const struct schedule *b, bool exclusive_only)
{
    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span s = weir_schedule_span(r->g, b, i);
        if (is_over(r, &s) && (s.exclusive || !exclusive_only))
            r->each(r, &s);
    }
}

static void visit_below(struct conflicts *r, weir_vertex v)
{
    const struct inner *in = inner_of(r->g, v);

    if (!in || !in->cells || (in->cells[CELL_ACTIVE] == 0 && in->cells[CELL_SOON] == 0))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE) {
            visit_schedule(r, schedule_of(r->g, in->kids[i]), false);
            visit_below(r, in->kids[i]);
        }
}

/* The most units of a schedule in use at once in the interval: by jobs that stay, or by all jobs, `r->job` excepted. */
static int64_t most_units(const struct conflicts *r, const struct schedule *b, bool all)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        struct span s = weir_schedule_span(r->g, b, i);
        int64_t t = s.start > r->t0 ? s.start : r->t0, sum = 0;
        if (!is_over(r, &s) || !(all || stays(r->g, s.job, r->job)))
            continue;
        for (uint32_t k = 0; k < b->count; k++) {
            struct span x = weir_schedule_span(r->g, b, k);
            if (x.job != r->job && x.start <= t && t < x.end && (all || stays(r->g, x.job, r->job)))
                sum += x.amount;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* Visits all conflicts of a pick. Shared spans are conflicts where too few units are left. */
static void visit_pick(struct conflicts *r, const weir_pick *p, bool all)
{
    const struct schedule *b = schedule_of(r->g, p->vertex);
    int64_t left = kind_of(r->g, p->vertex)->size - p->amount;

    visit_schedule(r, b, !p->exclusive && (!b || most_units(r, b, all) <= left));
    if (p->exclusive)
        visit_below(r, p->vertex);
    for (weir_vertex up = vertex_at(r->g, p->vertex)->parent; up != WEIR_NONE; up = vertex_at(r->g, up)->parent)
        visit_schedule(r, schedule_of(r->g, up), true);
}

/* ---- putting off ---- */

/* Keeps the first end of a staying job. */
static void pass_over(struct conflicts *r, const struct span *s)
{
    if (stays(r->g, s->job, r->job) && s->end < r->first_end)
        r->first_end = s->end;
}

/* The first start from t on without a conflict that stays. */
static int64_t first_start(weir_graph *g, uint32_t job, int64_t t)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    struct conflicts r = {.g = g, .job = job, .t0 = t, .each = pass_over};
    uint32_t clear = 0;

    for (uint32_t i = 0; clear < a->npicks && r.t0 != WEIR_FOREVER; i = (i + 1) % a->npicks) {
        r.t1 = a->end == WEIR_FOREVER ? WEIR_FOREVER : time_add(r.t0, a->end - a->start);
        r.first_end = WEIR_FOREVER;
        visit_pick(&r, &a->picks[i], false);
        clear = r.first_end == WEIR_FOREVER ? clear + 1 : 0;
        r.t0 = r.first_end == WEIR_FOREVER ? r.t0 : r.first_end;
    }
    return r.t0;
}

/* Displaces an overlapped reservation later than the job. */
static void displace(struct conflicts *r, const struct span *s)
{
    if (stays(r->g, s->job, r->job) || jobs_in(r->g)->list[s->job].displaced)
        return;
    weir_usage_remove(r->g, s->job);
    weir_displaced_add(r->g, s->job);
}

/* Gives a job new times, in the schedules of all picks. */
static void move_spans(weir_graph *g, uint32_t job, int64_t start)
{
    struct job *j = &jobs_in(g)->list[job];
    int64_t end = j->a.end == WEIR_FOREVER ? WEIR_FOREVER : time_add(start, j->a.end - j->a.start);

    note_job(g, j->a.job);
    for (uint32_t i = 0; i < j->a.npicks; i++) {
        weir_vertex v = j->a.picks[i].vertex;
        int64_t next = schedule_of(g, v)->next;
        weir_schedule_move(g, v, job, start, end);
        weir_rows_soon(g, v, next);
    }
    j->a.start = jobs_in(g)->starts[job] = start;
    j->a.end = end;
}

/* Puts a reservation, in no queue and not in the usage totals, off to the first start from t on. */
static void put_off(weir_graph *g, uint32_t job, int64_t t)
{
    struct job *j = &jobs_in(g)->list[job];
    int64_t start = first_start(g, job, t);
    struct conflicts r = {.g = g, .job = job, .each = displace};

    start = start == WEIR_FOREVER ? WEIR_FOREVER - 1 : start;
    r.t0 = start;
    r.t1 = j->a.end == WEIR_FOREVER ? WEIR_FOREVER : time_add(start, j->a.end - j->a.start);
    for (uint32_t i = 0; i < j->a.npicks; i++)
        visit_pick(&r, &j->a.picks[i], true);
    if (start != j->a.start) {
        move_spans(g, job, start);
        if (!j->put_off)
            add_event(g, job, WEIR_CLOCK_HOLD);
        j->put_off = true;
    }
    j->settled = jobs_in(g)->advances;
    weir_usage_keep(g, job);
    weir_start_queue_add(g, job);
}

/* ---- events, in order of time ---- */

static void begin(weir_graph *g, uint32_t job)
{
    jobs_in(g)->list[job].a.state = WEIR_ALLOCATED;
    jobs_in(g)->list[job].put_off = false;
    add_event(g, job, WEIR_CLOCK_START);
    weir_spans_begin(g, job);
    if (jobs_in(g)->expire && !jobs_in(g)->list[job].a.expires)
        weir_start_queue_add(g, job);
}

/* Processes the event of a job. */
static void process(weir_graph *g, uint32_t job)
{
    weir_start_queue_remove(g, job);
    if (jobs_in(g)->list[job].a.state == WEIR_ALLOCATED) {
        add_event(g, job, WEIR_CLOCK_EXPIRE);
        weir_job_drop(g, job);
    } else if (job_blocked(g, job)) {
        weir_usage_remove(g, job);
        put_off(g, job, g->now + 1);
    } else {
        begin(g, job);
    }
}

/* Processes a displaced reservation: begins, or is put off in turn. */
static void process_displaced(weir_graph *g, uint32_t job)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    bool due = a->start <= g->now;

    weir_displaced_take(g);
    if (due && !job_blocked(g, job) && first_start(g, job, a->start) == a->start) {
        weir_usage_keep(g, job);
        begin(g, job);
    } else {
        put_off(g, job, due ? g->now + 1 : a->start);
    }
}

/* Reserves the events of an advance to `now`. */
static int reserve_events(weir_graph *g, int64_t now)
{
    uint32_t job = weir_start_queue_first(g);
    bool due = job != WEIR_NONE && weir_start_queue_time(g, job) <= now;
    size_t n = (due ? (size_t)jobs_in(g)->nqueue * 2 : 0) + weir_stages_due(g, now);

    return n > 0 && weir_array_reserve(&jobs_in(g)->events, &jobs_in(g)->events_cap, n, sizeof *jobs_in(g)->events)
               ? WEIR_ENOMEM
               : WEIR_OK;
}

int weir_graph_advance(weir_graph *g, int64_t now, weir_err *err)
{
    int rc = weir_graph_writable(g, err);
    uint32_t job, waiting;

    if (rc)
        return rc;
    if (now < g->now || now == WEIR_FOREVER)
        return weir_fail(err, WEIR_EINVAL, "the clock is at %" PRId64 " us and cannot be set to %" PRId64 " us", g->now,
                         now);
    if (reserve_events(g, now))
        return weir_fail_nomem(err);
    g->now = now;
    g->saves.revision++;
    if (!jobs_in(g))
        return WEIR_OK;
    jobs_in(g)->nevents = 0;
    jobs_in(g)->advances++;
    weir_stages_expire(g);
    for (;;) {
        job = weir_start_queue_first(g);
        waiting = weir_displaced_first(g);
        if (waiting != WEIR_NONE && (job == WEIR_NONE || weir_start_queue_earlier(g, waiting, job)))
            process_displaced(g, waiting);
        else if (job != WEIR_NONE && weir_start_queue_time(g, job) <= now)
            process(g, job);
        else if (waiting != WEIR_NONE)
            process_displaced(g, waiting);
        else
            return WEIR_OK;
    }
}

/* ---- setting the clock back ---- */

/* Moves the times of a job with the clock, which is set back from g->now by `back`. A job that began when the clock was
 * right keeps the start; a job that is overdue stays overdue. */
static void move_back(weir_graph *g, uint32_t job, int64_t back)
{
    struct job *j = &jobs_in(g)->list[job];
    int64_t start = j->a.start - back;

    if (j->a.start <= g->now - back)
        start = j->a.start;
    j->a.start = jobs_in(g)->starts[job] = start > 0 ? start : 0;
    if (j->a.expires && j->a.expires != WEIR_FOREVER)
        j->a.expires -= back;
    if (j->a.end != WEIR_FOREVER)
        j->a.end = j->a.end - back > j->a.start ? j->a.end - back : j->a.start + 1;
    note_job(g, j->a.job);
}

/* Moves all jobs. The order of the start queue stays, as all jobs in the queue move by `back`. */
static void move_jobs_back(weir_graph *g, int64_t back)
{
    for (uint32_t i = 0; i < live_jobs(g); i++)
        move_back(g, jobs_in(g)->order[i], back);
    weir_stages_retimed(g, back);
    weir_schedules_retimed(g);
    for (weir_vertex v = 0; v < g->limit; v++) {
        const struct schedule *b = vertex_valid(g, v) ? schedule_of(g, v) : NULL;
        if (b && b->next != WEIR_FOREVER)
            weir_rows_soon(g, v, b->next + back);
    }
}

int weir_graph_rewind(weir_graph *g, int64_t now, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (now < 0 || now > g->now)
        return weir_fail(err, WEIR_EINVAL, "the clock is at %" PRId64 " us and cannot be set back to %" PRId64 " us",
                         g->now, now);
    weir_occupancies_clear(g); /* starts found before may be after further starts now */
    weir_usage_clear(g);
    if (jobs_in(g))
        move_jobs_back(g, g->now - now);
    if (jobs_in(g)) {
        jobs_in(g)->nevents = 0;
        jobs_in(g)->advances++;
    }
    g->now = now;
    g->saves.revision++;
    g->state_changes++; /* records of jobs (weir_job_record) made before refer to the clock before */
    return WEIR_OK;
}
