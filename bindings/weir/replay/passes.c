/* passes.c - the bundled queue policies, fcfs, easy, sjbf, hybrid and conservative, as policies/queue and
 * lua/weir/sim/queue_runtime.lua have them. Invariant: the profile has the bookings of all running jobs and
 * reservations, so that a start or a reservation delays no reservation. */
#include "replay/flat.h"

#include <stdlib.h>

static void fail(struct flat *s)
{
    s->failed = true;
}

/* Adds units to the levels of the reservations of others that begin in [from, to). */
static void change_levels(struct flat *s, uint32_t job, int64_t from, int64_t to, int32_t units)
{
    if (s->policy == FLAT_CONSERVATIVE)
        return;
    for (uint32_t i = 0; i < s->nreserved; i++) {
        struct flat_job *other = &s->jobs[s->reserved[i]];
        if (s->reserved[i] != job && other->reserved >= from && other->reserved < to)
            other->level += units;
    }
}

void flat_return(struct flat *s, const struct flat_job *job)
{
    flat_profile_give(&s->profile, s->now, s->now, job->due, job->units);
    change_levels(s, FLAT_NONE, s->now, job->due, job->units);
}

/* Books the units of a job from `at` on. Returns false without memory. */
static bool book(struct flat *s, uint32_t job, int64_t at)
{
    struct flat_job *j = &s->jobs[job];
    int64_t stop = flat_after(at, j->estimate);

    s->decisions++;
    if (!flat_profile_reserve(&s->profile) ||
        (s->follow && !(s->placer ? s->placer->book : flat_units_book)(s, job, at))) {
        fail(s);
        return false;
    }
    flat_profile_take(&s->profile, s->now, at, stop, j->units);
    change_levels(s, job, at, stop, -j->units);
    return true;
}

/* Whether a job that starts now delays no reservation: the free units are fewest now and where reservations begin. */
static bool beside(const struct flat *s, int32_t units, int64_t stop)
{
    for (uint32_t i = 0; i < s->nreserved; i++) {
        const struct flat_job *other = &s->jobs[s->reserved[i]];
        if (other->reserved < stop && other->level < units)
            return false;
    }
    return true;
}

/* Starts a job without a reservation now, if it can. */
static bool start(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];

    if (j->units > s->profile.now || !beside(s, j->units, flat_after(s->now, j->estimate)) || !book(s, job, s->now))
        return false;
    flat_begin(s, job);
    return true;
}

/* Notes that a job has a reservation from `at` on. */
static void note(struct flat *s, uint32_t job, int64_t at)
{
    struct flat_job *j = &s->jobs[job];

    if (j->reserved == FLAT_NEVER) {
        if (!flat_grow32(&s->reserved, &s->reserved_cap, s->nreserved + 1, sizeof *s->reserved)) {
            fail(s);
            return;
        }
        j->reservation = s->nreserved;
        s->reserved[s->nreserved++] = job;
    }
    j->reserved = at;
    if (s->policy != FLAT_CONSERVATIVE)
        j->level = flat_profile_at(&s->profile, at);
    if (s->nreserved == 1 || at < s->soonest)
        s->soonest = at;
    flat_queue_offer(&s->queue, j, false);
}

/* Starts a job now (true), or gives it a reservation for its earliest start; a reservation only becomes an earlier
 * one. */
static bool reserve(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    bool had = j->reserved != FLAT_NEVER;
    struct wanted w = {j->units, j->estimate, had ? j->reserved : 0, had ? flat_after(j->reserved, j->estimate) : 0};
    int64_t at;

    if (had && !s->early)
        return false;
    if (!had && s->policy != FLAT_CONSERVATIVE && j->units <= s->profile.now &&
        beside(s, j->units, flat_after(s->now, j->estimate)))
        at = s->now; /* without a look at the steps */
    else
        at = flat_profile_earliest(&s->profile, &w, s->now, j->reserved);
    if (at >= j->reserved)
        return false;
    if (had) {
        flat_profile_give(&s->profile, s->now, w.from, w.to, j->units);
        change_levels(s, job, w.from, w.to, j->units);
        s->moved = true;
    }
    if (!book(s, job, at))
        return false;
    if (at > s->now) {
        note(s, job, at);
        return false;
    }
    flat_begin(s, job);
    return true;
}

/* ---- the policies ---- */

static void fcfs(struct flat *s)
{
    uint32_t job;

    while ((job = flat_queue_head(&s->queue)) != FLAT_NONE && flat_ok(s))
        if (!start(s, job))
            return;
}

/* Starts or reserves the first job, until it cannot start. */
static void serve_head(struct flat *s)
{
    uint32_t job;

    while ((job = flat_queue_head(&s->queue)) != FLAT_NONE && flat_ok(s))
        if (!reserve(s, job))
            return;
}

static size_t news(const struct flat *s)
{
    return s->freed ? s->queue.first : s->queue.fresh;
}

static void backfill(struct flat *s)
{
    struct queue *q = &s->queue;

    for (size_t i = flat_queue_next(q, news(s), s->profile.now); i < q->end && flat_ok(s);
         i = flat_queue_next(q, i + 1, s->profile.now))
        start(s, q->jobs[i]);
}

static int by_estimate(const void *a, const void *b, void *data)
{
    const struct flat *s = data;
    const struct flat_job *x = &s->jobs[*(const uint32_t *)a], *y = &s->jobs[*(const uint32_t *)b];

    if (x->estimate != y->estimate)
        return x->estimate < y->estimate ? -1 : 1;
    return flat_number_compare(&x->number, &y->number);
}

static void backfill_shortest(struct flat *s)
{
    struct queue *q = &s->queue;
    int32_t idle = s->profile.now;
    size_t n = 0;

    for (size_t i = flat_queue_next(q, news(s), idle); i < q->end; i = flat_queue_next(q, i + 1, idle)) {
        if (!flat_grow(&s->sorted, &s->sorted_cap, n + 1, sizeof *s->sorted)) {
            fail(s);
            return;
        }
        s->sorted[n++] = q->jobs[i];
    }
    if (n > 1)
        qsort_r(s->sorted, n, sizeof *s->sorted, by_estimate, s);
    s->sorted_used = n;
    for (size_t i = 0; i < n && flat_ok(s); i++)
        start(s, s->sorted[i]);
    s->sorted_used = 0;
}

/* Gives the first k waiting jobs reservations. */
static void serve_some(struct flat *s)
{
    struct queue *q = &s->queue;
    int64_t reserved = 0;

    for (size_t i = q->first; i < q->end && reserved < s->k && flat_ok(s); i++)
        if (q->jobs[i] != FLAT_NONE && !reserve(s, q->jobs[i]))
            reserved++;
}

static void conservative(struct flat *s)
{
    struct queue *q = &s->queue;

    for (size_t i = news(s); i < q->end && flat_ok(s); i++)
        if (q->jobs[i] != FLAT_NONE)
            reserve(s, q->jobs[i]);
}

void flat_pass(struct flat *s)
{
    s->moved = s->moved && !s->early;
    if (s->policy == FLAT_FCFS)
        fcfs(s);
    else if (s->policy == FLAT_CONSERVATIVE)
        conservative(s);
    else if (s->policy == FLAT_HYBRID)
        serve_some(s);
    else
        serve_head(s);
    if (s->policy == FLAT_SJBF)
        backfill_shortest(s);
    else if (s->policy == FLAT_EASY || s->policy == FLAT_HYBRID)
        backfill(s);
    s->freed = s->early = false;
    flat_queue_tidy(&s->queue);
}
