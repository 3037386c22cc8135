/* job_check.c - compares jobs and schedules, recomputed from the jobs. For tests. */
#include <inttypes.h>

#include "job/job.h"
#include "job/start_queue.h"
#include "time/schedule.h"
#include "time/timeline.h"

static int broken(weir_err *err, const char *what, uint32_t v)
{
    return weir_fail(err, WEIR_EINVAL, "weir_check: %s (vertex or record %u)", what, v);
}

/* ---- schedules ---- */

static int check_schedule_sums(const weir_graph *g, weir_vertex v, const struct schedule *b, weir_err *err)
{
    struct span s = {0}, last = {.start = INT64_MIN};
    uint32_t active = 0, held = 0, shared = 0;
    int64_t used = 0, next = WEIR_FOREVER;

    for (uint32_t i = 0; i < b->count; i++, last = s) {
        if (span_job(b, i) >= jobs_in(g)->n || !jobs_in(g)->list[span_job(b, i)].used)
            return broken(err, "a span is of no job", v);
        s = weir_schedule_span(g, b, i);
        if (s.start < last.start)
            return broken(err, "spans are not sorted", v);
        if (s.active != (s.start <= g->now))
            return broken(err, "a span has begun too early or too late", v);
        active += s.active;
        shared += !s.exclusive;
        held += s.active && s.exclusive;
        used += s.active ? s.amount : 0;
        if (!s.active && s.start < next)
            next = s.start;
    }
    if (active != b->active || held != b->held || shared != b->shared || used != schedule_used(g, b) ||
        next != b->next || b->count == 0 || (shared > 0 && !b->detail))
        return broken(err, "the sums of a schedule are wrong", v);
    if (b->last_start != last.start || b->last_end != last.end)
        return broken(err, "a schedule does not know its last span", v);
    return b->detail && b->detail->timeline ? weir_timeline_check(b->detail->timeline, err) : WEIR_OK;
}

/* Whether two spans are active, and so overlap now, regardless of agreed times. */
static bool both_now(const struct span *s, const struct span *x)
{
    return s->active && x->active;
}

/* Checks amounts against the size, at any instant including the clock's time, and exclusive spans against overlaps. */
static int check_overlaps(const weir_graph *g, weir_vertex v, const struct schedule *b, weir_err *err)
{
    int64_t size = kind_of(g, v)->size;

    for (uint32_t i = 0; i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        int64_t sum = 0, now = 0;
        for (uint32_t k = 0; k < b->count; k++) {
            struct span other = weir_schedule_span(g, b, k);
            bool then = other.start <= s.start && other.end > s.start;
            now += both_now(&s, &other) ? other.amount : 0;
            if (!then && !both_now(&s, &other))
                continue;
            sum += then ? other.amount : 0;
            if (k != i && (other.exclusive || s.exclusive))
                return broken(err, "two jobs at once where one is exclusive", v);
        }
        if (sum > size || now > size)
            return broken(err, "more is allocated than there is", v);
    }
    return WEIR_OK;
}

/* Checks that no job has anything below an exclusive span of a second job. */
static int check_ancestors(const weir_graph *g, weir_vertex v, const struct schedule *b, weir_err *err)
{
    for (weir_vertex u = vertex_at(g, v)->parent; u != WEIR_NONE; u = vertex_at(g, u)->parent) {
        const struct schedule *up = schedule_of(g, u);
        for (uint32_t i = 0; up && i < b->count; i++)
            for (uint32_t k = 0; k < up->count; k++) {
                struct span s = weir_schedule_span(g, b, i), x = weir_schedule_span(g, up, k);
                if (x.exclusive && ((x.start < s.end && s.start < x.end) || both_now(&s, &x)))
                    return broken(err, "something below a vertex that is held as a whole", v);
            }
    }
    return WEIR_OK;
}

static bool has_span(const weir_graph *g, uint32_t job, const weir_pick *p)
{
    uint32_t at = weir_schedule_find(g, p->vertex, job);
    struct span s = at == WEIR_NONE ? (struct span){0} : weir_schedule_span(g, schedule_of(g, p->vertex), at);

    return at != WEIR_NONE && s.amount == p->amount && s.exclusive == p->exclusive;
}

/* Checks the schedule of one vertex. */
static int check_schedule(const weir_graph *g, weir_vertex v, const struct schedule *b, weir_err *err)
{
    int rc = b->kind == vertex_at(g, v)->kind ? check_schedule_sums(g, v, b, err)
                                              : broken(err, "a schedule is of another kind", v);

    if (!rc && b->refs > 1 && (b->cap > 0 || b->detail))
        rc = broken(err, "a shared schedule is too large", v);
    rc = rc ? rc : check_overlaps(g, v, b, err);
    return rc ? rc : check_ancestors(g, v, b, err);
}

/* Compares the number of vertices of each schedule. */
static int check_refs(const weir_graph *g, weir_err *err)
{
    uint32_t *refs = weir_mem_zalloc((size_t)(schedules_in(g) ? schedules_in(g)->n : 0) + 1, sizeof *refs), users = 0;
    int rc = refs ? WEIR_OK : weir_fail_nomem(err);

    for (weir_vertex v = 0; !rc && v < g->limit; v++)
        if (vertex_valid(g, v) && vertex_at(g, v)->schedule != WEIR_NONE) {
            refs[vertex_at(g, v)->schedule]++;
            users++;
        }
    for (uint32_t i = 0; !rc && schedules_in(g) && i < schedules_in(g)->n; i++)
        if (refs[i] != schedules_in(g)->list[i].refs)
            rc = broken(err, "a schedule is of more or fewer vertices than it says", i);
    if (!rc && schedules_in(g) && (users != schedules_in(g)->users || schedules_in(g)->users > schedules_in(g)->cap))
        rc = broken(err, "the vertices with schedules are miscounted", users);
    weir_mem_free(refs);
    return rc;
}

static int check_schedules(const weir_graph *g, weir_err *err)
{
    uint64_t spans = 0, picks = 0;
    int rc = check_refs(g, err);

    for (weir_vertex v = 0; !rc && v < g->limit; v++) {
        const struct schedule *b = vertex_valid(g, v) ? schedule_of(g, v) : NULL;
        spans += b ? b->count : 0;
        rc = b ? check_schedule(g, v, b, err) : WEIR_OK;
    }
    if (rc)
        return rc;
    for (uint32_t i = 0; i < jobs_in(g)->n; i++)
        for (uint32_t k = 0; jobs_in(g)->list[i].used && k < jobs_in(g)->list[i].a.npicks; k++, picks++)
            if (!has_span(g, i, &jobs_in(g)->list[i].picks[k]))
                return broken(err, "a pick is in no schedule", jobs_in(g)->list[i].picks[k].vertex);
    return spans == picks ? WEIR_OK : broken(err, "spans and picks differ in number", (uint32_t)spans);
}

/* ---- jobs ---- */

/* Checks that the arrays that later steps fill without a reservation have room: each job may be queued (clock.c,
 * stage.c), and fewer picks and flows are written over those that a job has (job_resize.c). */
static int check_room(const weir_graph *g, weir_err *err)
{
    const struct jobs *all = jobs_in(g);

    if (all->queue_cap < all->n || all->starts_cap < all->n || all->order_cap < all->n)
        return broken(err, "there is no room for an event of each job", all->queue_cap);
    if (all->nevents > all->events_cap || all->nclaims > all->claims_cap || all->n > all->cap)
        return broken(err, "there is no room for the events, stages or jobs", all->n);
    for (uint32_t i = 0; i < all->n; i++)
        if (all->list[i].used &&
            (all->list[i].cap < all->list[i].a.npicks || all->list[i].flows_cap < all->list[i].nflows ||
             all->list[i].a.picks != all->list[i].picks))
            return broken(err, "there is no room for the picks or flows of a job", i);
    return WEIR_OK;
}

static int check_records(const weir_graph *g, weir_err *err)
{
    uint32_t live = 0, pending = 0;

    if (check_room(g, err))
        return WEIR_EINVAL;
    for (uint32_t i = 0; i < jobs_in(g)->n; i++) {
        const struct job *j = &jobs_in(g)->list[i];
        if (!j->used)
            continue;
        live++;
        if (jobs_in(g)->starts[i] != j->a.start)
            return broken(err, "a job does not start when it says", i);
        if (j->place >= jobs_in(g)->live || jobs_in(g)->order[j->place] != i)
            return broken(err, "a job is not at its place in the list", i);
        if ((j->a.expires ? weir_stage_index(g, -j->a.job) : weir_job_index(g, j->a.job)) != i)
            return broken(err, "a job is not found by its id", i);
        if ((j->a.state == WEIR_RESERVED) != (j->a.start > g->now) || j->displaced)
            return broken(err, "a job is reserved that has begun, or the other way round", i);
        if ((j->a.expires != 0) != (j->place >= jobs_in(g)->live - jobs_in(g)->stages))
            return broken(err, "a stage is among the jobs, or the other way round", i);
        if (j->a.expires && (j->a.expires < jobs_in(g)->first_expiry || j->a.expires <= g->now))
            return broken(err, "a stage has expired, or the first expiry is wrong", i);
        if ((j->queue_place != WEIR_NONE) !=
            (j->a.state == WEIR_RESERVED || (jobs_expire(g) && j->a.end != WEIR_FOREVER && !j->a.expires)))
            return broken(err, "a job is queued without an event, or the other way round", i);
        if (j->queue_place != WEIR_NONE &&
            (j->queue_place >= jobs_in(g)->nqueue || jobs_in(g)->queue[j->queue_place] != i))
            return broken(err, "a job is not at its place in the heap", i);
        pending += j->queue_place != WEIR_NONE;
    }
    for (uint32_t i = 1; i < jobs_in(g)->nqueue; i++)
        if (weir_start_queue_earlier(g, jobs_in(g)->queue[i], jobs_in(g)->queue[(i - 1) / 2]))
            return broken(err, "the start queue is out of order", i);
    return live == jobs_in(g)->live && pending == jobs_in(g)->nqueue ? WEIR_OK
                                                                     : broken(err, "jobs are miscounted", live);
}

int weir_jobs_check(const weir_graph *g, weir_err *err)
{
    int rc = check_schedules(g, err);
    return rc ? rc : check_records(g, err);
}
