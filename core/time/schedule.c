/* schedule.c - the spans of one vertex. Invariant: spans are sorted by start, so active spans come first; `active`,
 * `held`, `shared`, `used` and `next` sum up the spans; the timeline, if any, holds the amounts of all spans. A
 * span is active from the time when the job begins. */
#include "time/schedule.h"

#include "graph/observer.h"
#include "time/timeline.h"

#include <string.h>

#include "base/bisect.h"

static void detail_free(struct schedule_detail *p)
{
    if (!p)
        return;
    weir_mem_free(p->amounts);
    weir_timeline_free(p->timeline);
    weir_mem_free(p);
}

static void free_contents(struct schedule *b)
{
    if (b->cap)
        weir_mem_free(b->jobs);
    detail_free(b->detail);
}

/* ---- records ---- */

/* Takes a record without vertices. */
static struct schedule *record_take(weir_graph *g)
{
    uint32_t i = schedules_in(g)->free;

    if (i == WEIR_NONE)
        return &schedules_in(g)->list[schedules_in(g)->n++];
    schedules_in(g)->free = schedules_in(g)->list[i].count;
    return &schedules_in(g)->list[i];
}

static void record_drop(weir_graph *g, struct schedule *b)
{
    free_contents(b);
    memset(b, 0, sizeof *b);
    b->count = schedules_in(g)->free;
    schedules_in(g)->free = (uint32_t)(b - schedules_in(g)->list);
}

int weir_schedules_make(weir_graph *g)
{
    struct schedules *all = weir_record_make(g, RECORD_SCHEDULES, sizeof *all, NULL);

    if (!all)
        return WEIR_ENOMEM;
    all->free = WEIR_NONE;
    return WEIR_OK;
}

/* Reserves the records of n more vertices. */
static int reserve_records(weir_graph *g, uint32_t n)
{
    if (!schedules_in(g) && weir_schedules_make(g))
        return WEIR_ENOMEM;
    return weir_array_reserve(&schedules_in(g)->list, &schedules_in(g)->cap, (size_t)schedules_in(g)->users + n,
                              sizeof *schedules_in(g)->list);
}

static struct schedule *schedule_make(weir_graph *g, weir_vertex v)
{
    struct schedule *b;

    if (reserve_records(g, 1))
        return NULL;
    b = record_take(g);
    *b = (struct schedule){.refs = 1, .kind = vertex_at(g, v)->kind, .next = WEIR_FOREVER};
    vertex_at(g, v)->schedule = (uint32_t)(b - schedules_in(g)->list);
    schedules_in(g)->users++;
    return b;
}

/* Removes v from the vertices of the schedule of v. */
static void schedule_leave(weir_graph *g, weir_vertex v)
{
    uint32_t *at = &vertex_at(g, v)->schedule;

    schedules_in(g)->users--;
    if (--schedules_in(g)->list[*at].refs == 0)
        record_drop(g, &schedules_in(g)->list[*at]);
    *at = WEIR_NONE;
}

/* Makes the schedule of v exclusive to v. Cannot fail: a shared schedule leaves a reserved record for each vertex. */
static struct schedule *schedule_own(weir_graph *g, weir_vertex v)
{
    struct schedule *b = schedule_of(g, v), *own;

    if (b->refs == 1)
        return b;
    own = record_take(g);
    *own = *b;
    own->refs = 1;
    b->refs--;
    vertex_at(g, v)->schedule = (uint32_t)(own - schedules_in(g)->list);
    return own;
}

static const uint32_t *jobs_of(const struct schedule *b)
{
    return b->cap ? b->jobs : b->few;
}

static int64_t start_of(const weir_graph *g, const struct schedule *b, uint32_t i)
{
    return jobs_in(g)->starts[jobs_of(b)[i]];
}

static bool is_active(const weir_graph *g, uint32_t job)
{
    return jobs_in(g)->list[job].a.state == WEIR_ALLOCATED;
}

static bool is_whole(const struct schedule *b, uint32_t i)
{
    return !b->detail || b->detail->amounts[i] == SPAN_WHOLE;
}

struct span weir_schedule_span(const weir_graph *g, const struct schedule *b, uint32_t i)
{
    uint32_t job = jobs_of(b)[i];
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    bool whole = is_whole(b, i);
    int64_t amount = whole ? g->kinds[b->kind].size : b->detail->amounts[i];

    return (struct span){a->start, a->end, amount, job, whole, is_active(g, job)};
}

/* Adds (sign 1) an active span to the sums or subtracts (-1) the span. */
static void count_active(struct schedule *b, const struct span *s, int sign)
{
    b->active += (uint32_t)sign;
    b->held += (uint32_t)(sign * s->exclusive);
    if (b->detail)
        b->detail->used += sign * s->amount;
}

/* Adds a span to the sums or subtracts the span. */
static void count_span(struct schedule *b, const struct span *s, int sign)
{
    b->shared += (uint32_t)(sign * !s->exclusive);
    if (s->active)
        count_active(b, s, sign);
}

/* ---- memory ---- */

/* Reserves the amounts of n spans; without amounts so far, all spans are exclusive. */
static int reserve_detail(const weir_graph *g, struct schedule *b, size_t n)
{
    struct schedule_detail *p = b->detail ? b->detail : weir_mem_zalloc(1, sizeof *p);

    if (!p)
        return WEIR_ENOMEM;
    if (weir_array_reserve(&p->amounts, &p->cap, n, sizeof *p->amounts)) {
        if (!b->detail)
            weir_mem_free(p);
        return WEIR_ENOMEM;
    }
    if (!b->detail) {
        p->used = schedule_used(g, b);
        for (uint32_t i = 0; i < b->count; i++)
            p->amounts[i] = SPAN_WHOLE;
        b->detail = p;
    }
    return WEIR_OK;
}

#define FIRST_JOBS 6

/* Reserves one more span; the first SCHEDULE_FEW need no memory. */
static int reserve_jobs(struct schedule *b)
{
    uint32_t *many;

    if (b->cap)
        return weir_array_reserve(&b->jobs, &b->cap, (size_t)b->count + 1, sizeof *b->jobs);
    if (b->count < SCHEDULE_FEW)
        return WEIR_OK;
    many = weir_mem_alloc(FIRST_JOBS * sizeof *many);
    if (!many)
        return WEIR_ENOMEM;
    memcpy(many, b->few, sizeof b->few);
    b->jobs = many;
    b->cap = FIRST_JOBS;
    return WEIR_OK;
}

static int make_timeline(const weir_graph *g, struct schedule *b)
{
    weir_timeline *timeline = weir_timeline_new();

    for (uint32_t i = 0; timeline && i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        if (s.amount && weir_timeline_add(timeline, s.start, s.end, s.amount)) {
            weir_timeline_free(timeline);
            return WEIR_ENOMEM;
        }
    }
    b->detail->timeline = timeline;
    return timeline ? WEIR_OK : WEIR_ENOMEM;
}

/* Does all of an addition that can fail. A timeline pays where amounts add up. */
static int prepare(const weir_graph *g, struct schedule *b, const struct span *s)
{
    if (reserve_jobs(b) || ((b->detail || !s->exclusive) && reserve_detail(g, b, (size_t)b->count + 1)))
        return WEIR_ENOMEM;
    if (b->count + 1 >= SCHEDULE_TIMELINE && b->shared + !s->exclusive > 0 && !b->detail->timeline &&
        make_timeline(g, b))
        return WEIR_ENOMEM;
    return b->detail && b->detail->timeline && s->amount
               ? weir_timeline_add(b->detail->timeline, s->start, s->end, s->amount)
               : WEIR_OK;
}

/* ---- positions ---- */

/* Likely position of a span that starts at `start`, by interpolation: starts are about evenly spread. b is not
 * empty. */
static uint32_t guess_of(const struct schedule *b, int64_t start)
{
    double from = (double)b->next, all = (double)b->last_start - from;

    if (start >= b->last_start)
        return b->count - 1;
    if (start <= b->next || b->active >= b->count)
        return b->active < b->count ? b->active : b->count - 1;
    return b->active + (uint32_t)((b->count - 1 - b->active) * (((double)start - from) / all));
}

void weir_schedule_fetch(const struct schedule *b, int64_t start)
{
    if (b->cap)
        __builtin_prefetch(&b->jobs[guess_of(b, start)]);
}

/* Number of spans that start at or before `start`, searched outward from position `at`. */
static uint32_t position_near(const weir_graph *g, const struct schedule *b, int64_t start, uint32_t at)
{
    uint32_t lo = 0, hi = b->count, step = 1;

    if (start_of(g, b, at) <= start) {
        for (lo = at + 1; hi - lo > step && start_of(g, b, lo + step) <= start; step *= 2)
            lo += step + 1;
        hi = hi - lo > step ? lo + step : hi;
    } else {
        for (hi = at; hi > step && start_of(g, b, hi - step) > start; step *= 2)
            hi -= step;
        lo = hi > step ? hi - step + 1 : 0;
    }
    WEIR_BISECT(at, lo, hi, start_of(g, b, at) <= start);
    return at;
}

/* Number of spans that start at or before `start`. O(log spans), faster for evenly spread starts. */
static uint32_t position_of(const weir_graph *g, const struct schedule *b, int64_t start)
{
    if (b->count == 0 || b->last_start <= start)
        return b->count;
    return position_near(g, b, start, guess_of(b, start));
}

static void set_last(const weir_graph *g, struct schedule *b)
{
    const weir_allocation *last = &jobs_in(g)->list[jobs_of(b)[b->count - 1]].a;

    b->last_start = last->start;
    b->last_end = last->end;
}

/* Sets `next` to the start of the first span from position `at` on that has not begun. */
static void set_next(const weir_graph *g, struct schedule *b, uint32_t at)
{
    while (at < b->count && is_active(g, jobs_of(b)[at]))
        at++;
    b->next = at < b->count ? start_of(g, b, at) : WEIR_FOREVER;
}

static void insert(struct schedule *b, uint32_t at, const struct span *s)
{
    uint32_t *jobs = b->cap ? b->jobs : b->few, more = b->count - at;

    memmove(jobs + at + 1, jobs + at, more * sizeof *jobs);
    jobs[at] = s->job;
    if (b->detail) {
        int64_t *amounts = b->detail->amounts;
        memmove(amounts + at + 1, amounts + at, more * sizeof *amounts);
        amounts[at] = s->exclusive ? SPAN_WHOLE : s->amount;
    }
    b->count++;
}

static void remove_at(struct schedule *b, uint32_t at)
{
    uint32_t *jobs = b->cap ? b->jobs : b->few, more = --b->count - at;

    memmove(jobs + at, jobs + at + 1, more * sizeof *jobs);
    if (b->detail)
        memmove(b->detail->amounts + at, b->detail->amounts + at + 1, more * sizeof *b->detail->amounts);
}

/* ---- changes ---- */

/* Adds the first span of a vertex, an exclusive span. */
static int add_first(weir_graph *g, uint32_t job, weir_vertex v)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    bool active = is_active(g, job);
    struct schedule *b = schedule_make(g, v);

    if (!b)
        return WEIR_ENOMEM;
    b->count = 1;
    b->few[0] = job;
    b->active = b->held = active;
    b->last_start = a->start;
    b->last_end = a->end;
    b->next = active ? WEIR_FOREVER : a->start;
    return WEIR_OK;
}

int weir_schedule_add(weir_graph *g, uint32_t job, const weir_pick *p)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    struct span s = {a->start, a->end, p->amount, job, p->exclusive, is_active(g, job)};
    struct schedule *b = schedule_of(g, p->vertex);

    if (!b && p->exclusive)
        return add_first(g, job, p->vertex);
    b = b ? schedule_own(g, p->vertex) : schedule_make(g, p->vertex);
    if (!b)
        return WEIR_ENOMEM;
    if (prepare(g, b, &s)) {
        if (b->count == 0)
            schedule_leave(g, p->vertex);
        return WEIR_ENOMEM;
    }
    insert(b, position_of(g, b, s.start), &s);
    if (b->count == 1 || s.start >= b->last_start) {
        b->last_start = s.start;
        b->last_end = s.end;
    }
    count_span(b, &s, 1);
    if (!s.active && s.start < b->next)
        b->next = s.start;
    return WEIR_OK;
}

uint32_t weir_schedule_find(const weir_graph *g, weir_vertex v, uint32_t job)
{
    const struct schedule *b = schedule_of(g, v);
    int64_t start = jobs_in(g)->starts[job];

    for (uint32_t at = b ? position_of(g, b, start) : 0; at-- > 0 && start_of(g, b, at) == start;)
        if (jobs_of(b)[at] == job)
            return at;
    return WEIR_NONE;
}

/* Changes a timeline where failure is not allowed: out of memory the timeline is dropped, and made again later. */
static void timeline_change(struct schedule *b, const struct span *s, int64_t amount)
{
    if (b->detail && b->detail->timeline && amount &&
        weir_timeline_add(b->detail->timeline, s->start, s->end, amount)) {
        weir_timeline_free(b->detail->timeline);
        b->detail->timeline = NULL;
    }
}

void weir_schedule_remove(weir_graph *g, weir_vertex v, uint32_t job)
{
    struct schedule *b = schedule_of(g, v);
    uint32_t at = WEIR_NONE;
    struct span s;

    if (b && b->count == 1 && jobs_of(b)[0] == job) {
        schedule_leave(g, v);
        return;
    }
    at = weir_schedule_find(g, v, job);
    if (at == WEIR_NONE)
        return;
    b = schedule_own(g, v);
    s = weir_schedule_span(g, b, at);
    timeline_change(b, &s, -s.amount);
    count_span(b, &s, -1);
    remove_at(b, at);
    if (at == b->count)
        set_last(g, b);
    if (!s.active && s.start == b->next)
        set_next(g, b, b->active);
}

void weir_schedule_move(weir_graph *g, weir_vertex v, uint32_t job, int64_t start, int64_t end)
{
    weir_allocation *a = &jobs_in(g)->list[job].a;
    uint32_t at = weir_schedule_find(g, v, job);
    struct schedule *b = schedule_own(g, v);
    struct span s = weir_schedule_span(g, b, at), was = s;

    timeline_change(b, &s, -s.amount);
    remove_at(b, at);
    if (b->count > 0) {
        set_last(g, b);
        set_next(g, b, 0);
    }
    s.start = a->start = jobs_in(g)->starts[job] = start;
    s.end = a->end = end;
    insert(b, position_of(g, b, start), &s);
    set_last(g, b);
    set_next(g, b, 0);
    timeline_change(b, &s, s.amount);
    a->start = jobs_in(g)->starts[job] = was.start;
    a->end = was.end;
}

void weir_schedule_begin(weir_graph *g, weir_vertex v, uint32_t job)
{
    struct schedule *b;
    uint32_t at = weir_schedule_find(g, v, job);
    struct span s;

    if (at == WEIR_NONE)
        return;
    b = schedule_own(g, v);
    s = weir_schedule_span(g, b, at);
    count_active(b, &s, 1);
    set_next(g, b, position_of(g, b, s.start - 1)); /* further spans with the same start may begin later */
}

static int change_one(weir_graph *g, uint32_t job, const weir_pick *p, enum schedule_change what)
{
    switch (what) {
    case SCHEDULE_ADD: return weir_schedule_add(g, job, p);
    case SCHEDULE_REMOVE: weir_schedule_remove(g, p->vertex, job); break;
    case SCHEDULE_BEGIN: weir_schedule_begin(g, p->vertex, job); break;
    }
    return WEIR_OK;
}

/* Moves n vertices that share a schedule, or have none, to schedule `to`, or to none. The records are reserved. */
static void move_many(weir_graph *g, const weir_pick *picks, uint32_t n, uint32_t to)
{
    uint32_t from = vertex_at(g, picks->vertex)->schedule;

    for (uint32_t i = 0; i < n; i++)
        vertex_at(g, picks[i].vertex)->schedule = to;
    schedules_in(g)->users += n * (uint32_t)(from == WEIR_NONE) - n * (uint32_t)(to == WEIR_NONE);
    if (to != WEIR_NONE)
        schedules_in(g)->list[to].refs += n;
    if (from != WEIR_NONE && (schedules_in(g)->list[from].refs -= n) == 0)
        record_drop(g, &schedules_in(g)->list[from]);
}

int weir_schedule_change(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, enum schedule_change what,
                         struct schedule_memo *memo, uint32_t *done)
{
    uint32_t from = vertex_at(g, picks->vertex)->schedule;
    const struct schedule *b = schedule_of(g, picks->vertex);
    bool small =
        picks->exclusive && (!b || (b->cap == 0 && !b->detail && (what != SCHEDULE_ADD || b->count < SCHEDULE_FEW)));
    bool known = memo->known && memo->from == from &&
                 (from != WEIR_NONE || schedules_in(g)->list[memo->to].kind == vertex_at(g, picks->vertex)->kind);
    int rc = WEIR_OK;

    *done = 0;
    if (small && from == WEIR_NONE && reserve_records(g, n))
        return WEIR_ENOMEM;
    while (!rc && *done < (small ? !known : n)) {
        rc = change_one(g, job, &picks[*done], what);
        *done += rc == WEIR_OK;
    }
    if (rc || !small)
        return rc;
    if (!known)
        *memo = (struct schedule_memo){from, vertex_at(g, picks->vertex)->schedule, true};
    if (*done < n)
        move_many(g, picks + *done, n - *done, memo->to);
    *done = n;
    return WEIR_OK;
}

int weir_schedule_resize(weir_graph *g, weir_vertex v, uint32_t job, int64_t amount, bool exclusive)
{
    struct schedule *b = schedule_own(g, v);
    uint32_t at = weir_schedule_find(g, v, job);
    struct span s = weir_schedule_span(g, b, at), was = s;

    s.amount = amount;
    s.exclusive = exclusive;
    if (!exclusive && reserve_detail(g, b, b->count))
        return WEIR_ENOMEM;
    if (amount > was.amount && b->detail && b->detail->timeline &&
        weir_timeline_add(b->detail->timeline, s.start, s.end, amount - was.amount))
        return WEIR_ENOMEM;
    if (amount < was.amount)
        timeline_change(b, &s, amount - was.amount);
    count_span(b, &was, -1);
    if (b->detail)
        b->detail->amounts[at] = exclusive ? SPAN_WHOLE : amount;
    count_span(b, &s, 1);
    return WEIR_OK;
}

int weir_schedule_ready(weir_graph *g, weir_vertex v)
{
    struct schedule *b = schedule_own(g, v);
    return reserve_detail(g, b, b->count);
}

/* Sorts the active spans by start. */
static void sort_active(const weir_graph *g, struct schedule *b)
{
    uint32_t *jobs = b->cap ? b->jobs : b->few;

    for (uint32_t i = 1; i < b->active; i++)
        for (uint32_t k = i; k > 0 && start_of(g, b, k) < start_of(g, b, k - 1); k--) {
            uint32_t job = jobs[k];
            int64_t amount = b->detail ? b->detail->amounts[k] : 0;
            jobs[k] = jobs[k - 1];
            jobs[k - 1] = job;
            if (b->detail) {
                b->detail->amounts[k] = b->detail->amounts[k - 1];
                b->detail->amounts[k - 1] = amount;
            }
        }
}

void weir_schedules_retimed(weir_graph *g)
{
    for (uint32_t i = 0; schedules_in(g) && i < schedules_in(g)->n; i++) {
        struct schedule *b = &schedules_in(g)->list[i];
        if (b->refs == 0)
            continue;
        if (b->detail) {
            weir_timeline_free(b->detail->timeline); /* made again by a later span */
            b->detail->timeline = NULL;
        }
        sort_active(g, b);
        set_last(g, b);
        set_next(g, b, b->active);
    }
}

/* ---- queries ---- */

/* Whether a span overlaps [t0, t1). */
static bool touches(const weir_graph *g, const struct span *s, int64_t t0, int64_t t1)
{
    return s->start < t1 && (s->end > t0 || (s->active && t0 <= g->now));
}

/* Whether a span overlaps [t0, t1), where no two spans overlap: only the last span that starts before t1 can, or an
 * active span. */
static bool touched_alone(const weir_graph *g, const struct schedule *b, int64_t t0, int64_t t1)
{
    uint32_t before;

    if (b->active && t0 <= g->now && start_of(g, b, 0) < t1)
        return true;
    if (b->last_start < t1)
        return b->last_end > t0;
    before = position_of(g, b, t1 - 1);
    return before > 0 && jobs_in(g)->list[jobs_of(b)[before - 1]].a.end > t0;
}

bool weir_schedule_touched(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1, bool exclusive_only)
{
    const struct schedule *b = schedule_of(g, v);

    if (b && b->shared == 0)
        return touched_alone(g, b, t0, t1);
    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        if (s.start >= t1)
            break;
        if (touches(g, &s, t0, t1) && (s.exclusive || !exclusive_only))
            return true;
    }
    return false;
}

bool weir_schedule_others(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1)
{
    const struct schedule *b = schedule_of(g, v);

    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        if (s.job != job && touches(g, &s, t0, t1))
            return true;
    }
    return false;
}

bool weir_schedule_whole(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    const struct schedule *b = schedule_of(g, v);

    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        if (s.amount > 0 && s.amount == kind_of(g, v)->size && touches(g, &s, t0, t1))
            return true;
    }
    return false;
}

int64_t weir_schedule_gap(const weir_graph *g, weir_vertex v, int64_t t, int64_t duration)
{
    const struct schedule *b = schedule_of(g, v);
    uint32_t i = b->shared == 0 ? position_of(g, b, t) : 0;

    for (i = i > 0 ? i - 1 : 0; i < b->count; i++) {
        const weir_allocation *a = &jobs_in(g)->list[jobs_of(b)[i]].a;
        if (a->start > t && a->start - t >= duration)
            break;
        if (is_whole(b, i) && a->end > t)
            t = a->end;
        if (t == WEIR_FOREVER)
            break;
    }
    return t;
}

int64_t weir_schedule_next_end(const weir_graph *g, weir_vertex v, int64_t t)
{
    const struct schedule *b = schedule_of(g, v);
    uint32_t i = b->shared == 0 ? position_of(g, b, t) : 0;
    int64_t next = WEIR_FOREVER;

    for (i = i > 0 ? i - 1 : 0; i < b->count; i++) {
        int64_t end = jobs_in(g)->list[jobs_of(b)[i]].a.end;
        if (end > t && end < next)
            next = end;
        if (b->shared == 0 && end > t)
            break;
    }
    return next;
}

/* The maximum of overlapping amounts, over the starts of spans in [t0, t1), and t0. */
static int64_t most_overlap(const weir_graph *g, const struct schedule *b, int64_t t0, int64_t t1)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        int64_t t = s.start > t0 ? s.start : t0, sum = 0;
        if (!touches(g, &s, t0, t1))
            continue;
        for (uint32_t k = 0; k < b->count; k++) {
            struct span other = weir_schedule_span(g, b, k);
            sum += touches(g, &other, t, t + 1) ? other.amount : 0;
        }
        if (sum > most)
            most = sum;
    }
    return most;
}

int64_t weir_schedule_used(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    const struct schedule *b = schedule_of(g, v);
    int64_t size = kind_of(g, v)->size, used;

    if (!b)
        return 0;
    if (b->shared == 0)
        return touched_alone(g, b, t0, t1) ? size : 0;
    if (b->detail->timeline) {
        used = weir_timeline_max(b->detail->timeline, t0, t1);
        if (t0 <= g->now && b->detail->used > used)
            used = b->detail->used;
    } else {
        used = most_overlap(g, b, t0, t1);
    }
    return used < size ? used : size;
}

bool weir_vertex_use(const weir_graph *g, weir_vertex v, uint32_t i, weir_use *out)
{
    const struct schedule *b = schedule_of(g, v);
    struct span s;

    if (!b || i >= b->count)
        return false;
    s = weir_schedule_span(g, b, i);
    *out = (weir_use){jobs_in(g)->list[s.job].a.job, s.start, s.end, s.amount, s.exclusive, s.active};
    return true;
}

/* ---- the whole ---- */

static void clear_all(weir_graph *g)
{
    if (!schedules_in(g))
        return;
    for (uint32_t i = 0; i < schedules_in(g)->n; i++)
        free_contents(&schedules_in(g)->list[i]);
    weir_mem_free(schedules_in(g)->list);
    weir_record_drop(g, RECORD_SCHEDULES, NULL);
}

static size_t bytes(const weir_graph *g)
{
    size_t n =
        schedules_in(g) ? sizeof *schedules_in(g) + (size_t)schedules_in(g)->cap * sizeof *schedules_in(g)->list : 0;

    for (uint32_t i = 0; schedules_in(g) && i < schedules_in(g)->n; i++) {
        const struct schedule_detail *p = schedules_in(g)->list[i].detail;
        n += (size_t)schedules_in(g)->list[i].cap * sizeof *schedules_in(g)->list[i].jobs;
        n += p ? sizeof *p + p->cap * sizeof *p->amounts + (p->timeline ? weir_timeline_bytes(p->timeline) : 0) : 0;
    }
    return n;
}

const struct weir_observer weir_schedule_observer = {.freed = clear_all, .bytes = bytes};
