/* decide.c - whether and when jobs start, by counting free units: the queries of a queue policy. Invariant: the profile
 * has the bookings of all running jobs and reservations, so that a start or a reservation delays no reservation. */
#include "queue/flat.h"

#include <stdlib.h>

#define LEVELLED 8 /* reservations; with more, the free units at their starts are not kept */

static void fail(struct flat *s)
{
    s->failed = true;
}

/* Adds units to the levels of the reservations of others that begin in [from, to). */
static void change_levels(struct flat *s, uint32_t job, int64_t from, int64_t to, int32_t units)
{
    if (!s->levelled)
        return;
    for (uint32_t i = 0; i < s->nreserved; i++) {
        struct flat_job *other = &s->jobs[s->reserved[i]];
        if (s->reserved[i] != job && other->reserved >= from && other->reserved < to)
            other->level += units;
    }
}

/* Books the units of a job in the profile from `from` to `to`, and gives them back. */
static void take(struct flat *s, uint32_t job, int64_t from, int64_t to)
{
    flat_profile_take(&s->profile, s->now, from, to, s->jobs[job].units);
    change_levels(s, job, from, to, -s->jobs[job].units);
}

static void give(struct flat *s, uint32_t job, int64_t from, int64_t to)
{
    flat_profile_give(&s->profile, s->now, from, to, s->jobs[job].units);
    change_levels(s, job, from, to, s->jobs[job].units);
}

void flat_return(struct flat *s, uint32_t job)
{
    give(s, job, s->now, s->jobs[job].due);
}

/* Books the units of a job from `at` on. Returns false without memory. */
static bool book(struct flat *s, uint32_t job, int64_t at)
{
    s->decisions++;
    if (!flat_profile_reserve(&s->profile) ||
        (s->follow && !(s->placer ? s->placer->book : flat_units_book)(s, job, at))) {
        fail(s);
        return false;
    }
    take(s, job, at, flat_after(at, s->jobs[job].estimate));
    return true;
}

/* The booking to look for, as if the job had no reservation. */
static struct wanted wanted_by(const struct flat_job *j)
{
    bool had = j->reserved != FLAT_NEVER;

    return (struct wanted){j->units, j->estimate, had ? j->reserved : 0,
                           had ? flat_after(j->reserved, j->estimate) : 0};
}

/* Whether a job without a reservation that starts now delays no reservation. The free units are fewest now and where
 * reservations begin, so with few reservations their levels say it. */
static bool fits_now(struct flat *s, const struct flat_job *j)
{
    int64_t stop = flat_after(s->now, j->estimate);

    if (j->units > s->profile.now)
        return false;
    for (uint32_t i = 0; !s->levelled && i < s->nreserved; i++)
        s->jobs[s->reserved[i]].level = flat_profile_at(&s->profile, s->jobs[s->reserved[i]].reserved);
    s->levelled = true;
    for (uint32_t i = 0; i < s->nreserved; i++) {
        const struct flat_job *other = &s->jobs[s->reserved[i]];
        if (other->reserved < stop && other->level < j->units)
            return false;
    }
    return true;
}

/* Whether a job can start now, in place of its reservation if it has one. */
static bool can_start(struct flat *s, const struct flat_job *j)
{
    struct wanted w = wanted_by(j);

    if (j->reserved == FLAT_NEVER && s->nreserved <= LEVELLED)
        return fits_now(s, j);
    return flat_profile_earliest(&s->profile, &w, s->now, s->now + 1) == s->now;
}

/* Gives back the units of a reservation that is about to change. */
static void leave_reservation(struct flat *s, uint32_t job)
{
    const struct flat_job *j = &s->jobs[job];

    if (j->reserved == FLAT_NEVER)
        return;
    give(s, job, j->reserved, flat_after(j->reserved, j->estimate));
    s->moved = true;
}

static bool start_now(struct flat *s, uint32_t job)
{
    if (!can_start(s, &s->jobs[job]))
        return false;
    leave_reservation(s, job);
    if (!book(s, job, s->now))
        return false;
    flat_begin(s, job);
    return true;
}

bool flat_start(struct flat *s, uint32_t job)
{
    return (s->jobs[job].reserved == FLAT_NEVER || s->early) && start_now(s, job);
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
    s->levelled = s->levelled && s->nreserved <= LEVELLED;
    if (s->levelled)
        j->level = flat_profile_at(&s->profile, at);
    if (s->nreserved == 1 || at < s->soonest)
        s->soonest = at;
    flat_queue_offer(&s->queue, j, false);
}

bool flat_reserve(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    struct wanted w = wanted_by(j);
    bool had = j->reserved != FLAT_NEVER;
    int64_t at;

    if (had && !s->early)
        return false;
    if (!had && s->nreserved <= LEVELLED && fits_now(s, j))
        at = s->now; /* without a look at the steps */
    else
        at = flat_profile_earliest(&s->profile, &w, s->now, j->reserved);
    if (at >= j->reserved)
        return false;
    leave_reservation(s, job);
    if (!book(s, job, at))
        return false;
    if (at > s->now) {
        note(s, job, at);
        return false;
    }
    flat_begin(s, job);
    return true;
}

void flat_unreserve(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];

    if (j->reserved == FLAT_NEVER)
        return;
    give(s, job, j->reserved, flat_after(j->reserved, j->estimate));
    flat_forget(s, job);
    flat_queue_offer(&s->queue, j, true);
    flat_units_drop(j);
    if (s->follow && s->placer && !s->placer->drop(s, job))
        fail(s);
    s->freed = s->early = true;
}

int64_t flat_earliest(struct flat *s, uint32_t job)
{
    const struct flat_job *j = &s->jobs[job];
    struct wanted w = wanted_by(j);

    if (j->reserved != FLAT_NEVER && !s->early)
        return j->reserved;
    return flat_profile_earliest(&s->profile, &w, s->now, FLAT_NEVER);
}

int64_t flat_start_over(struct flat *s, uint32_t job, const uint32_t *victims, size_t n)
{
    size_t given = 0;
    bool fits = false, moved = s->moved;

    if (start_now(s, job)) {
        s->moved = moved;
        return 0;
    }
    for (; given < n && !fits; given++) {
        const struct flat_job *victim = &s->jobs[victims[given]];
        if (!victim->released)
            flat_return(s, victims[given]);
        fits = can_start(s, &s->jobs[job]);
    }
    for (size_t i = given; i-- > 0;) /* the steps that were there have room */
        if (!s->jobs[victims[i]].released)
            take(s, victims[i], s->now, s->jobs[victims[i]].due);
    if (!fits)
        return -1;
    for (size_t i = 0; i < given && !s->failed; i++)
        flat_preempt(s, victims[i]);
    fits = start_now(s, job);
    s->moved = moved;
    return fits ? (int64_t)given : -1;
}

void flat_pass(struct flat *s)
{
    if (s->unsorted && !flat_queue_sort(s)) {
        fail(s);
        return;
    }
    s->moved = s->moved && !s->early;
    s->passing = true;
    if (!s->policy->pass(s) && s->endless == FLAT_NONE)
        fail(s);
    s->passing = false;
    s->freed = s->early = false;
    flat_queue_tidy(s);
}
