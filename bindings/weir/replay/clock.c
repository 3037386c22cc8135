/* clock.c - events and the clock of a flat simulator, by the event rule of lua/weir/sim: submissions before ends at a
 * time, and a job whose estimate is over at a time has released its units when the policy is called at that time.
 * Invariant: events[1] is the first event, by time, then by creation. */
#include "replay/flat.h"

#include <stdlib.h>
#include <string.h>

bool flat_grow(void *array, size_t *cap, size_t want, size_t size)
{
    size_t more = *cap + *cap / 2 + 64;
    void *old, *grown;

    if (want <= *cap)
        return true;
    memcpy(&old, array, sizeof old);
    more = more > want ? more : want;
    grown = realloc(old, more * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *cap = more;
    return true;
}

bool flat_grow32(void *array, uint32_t *cap, uint32_t want, size_t size)
{
    size_t grown = *cap;

    if (!flat_grow(array, &grown, want, size))
        return false;
    *cap = (uint32_t)grown;
    return true;
}

bool flat_ok(const struct flat *s)
{
    return !s->failed && s->endless == FLAT_NONE;
}

/* ---- jobs ---- */

uint32_t flat_job_new(struct flat *s)
{
    if (s->nunused > 0)
        return s->unused[--s->nunused];
    if (s->njobs == s->jobs_cap) {
        size_t cap = s->jobs_cap;
        uint32_t *unused;
        if (!flat_grow(&s->jobs, &cap, s->njobs + 1, sizeof *s->jobs))
            return FLAT_NONE;
        unused = realloc(s->unused, cap * sizeof *unused);
        if (!unused)
            return FLAT_NONE;
        s->unused = unused;
        s->jobs_cap = cap;
    }
    s->jobs[s->njobs] = (struct flat_job){0};
    return (uint32_t)s->njobs++;
}

void flat_job_free(struct flat *s, uint32_t job)
{
    free(s->jobs[job].number.text);
    flat_units_drop(&s->jobs[job]);
    s->jobs[job] = (struct flat_job){0};
    s->unused[s->nunused++] = job;
}

void flat_close(struct flat *s)
{
    for (size_t i = 0; i < s->njobs; i++) {
        free(s->jobs[i].number.text);
        flat_units_drop(&s->jobs[i]);
    }
    flat_profile_end(&s->profile);
    flat_queue_free(&s->queue);
    flat_units_close(&s->units);
    flat_naming_close(&s->naming);
    free(s->jobs);
    free(s->unused);
    free(s->events);
    free(s->running);
    free(s->reserved);
    free(s->sorted);
    free(s->ended);
    free(s->measure.users);
    free(s->measure.waits);
    flat_series_close(&s->measure.series);
    free(s->lines.data);
    free(s->names.data);
    free(s->placer_data);
    *s = (struct flat){0};
}

/* ---- events ---- */

static bool before(const struct flat_event *a, const struct flat_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if ((a->job == FLAT_NONE) != (b->job == FLAT_NONE))
        return b->job == FLAT_NONE;
    return a->made < b->made;
}

static bool push(struct flat *s, int64_t time, uint32_t job)
{
    struct flat_event e = {time, s->events_made++, job};
    size_t i = ++s->nevents;

    if (!flat_grow(&s->events, &s->events_cap, s->nevents + 1, sizeof *s->events)) {
        s->nevents--;
        return false;
    }
    for (; i > 1 && before(&e, &s->events[i / 2]); i /= 2)
        s->events[i] = s->events[i / 2];
    s->events[i] = e;
    return true;
}

static struct flat_event pop(struct flat *s)
{
    struct flat_event top = s->events[1], last = s->events[s->nevents--];
    size_t i = 1, kid;

    for (; (kid = 2 * i) <= s->nevents; i = kid) {
        if (kid < s->nevents && before(&s->events[kid + 1], &s->events[kid]))
            kid++;
        if (!before(&s->events[kid], &last))
            break;
        s->events[i] = s->events[kid];
    }
    s->events[i] = last;
    return top;
}

static int64_t next_time(const struct flat *s)
{
    int64_t t = s->nevents > 0 ? s->events[1].time : FLAT_NEVER;

    return s->nreserved > 0 && s->soonest < t ? s->soonest : t;
}

/* ---- starting ---- */

/* Whether a job that begins now ends by the end of the clock; otherwise the simulator stops. */
static bool ends_in_time(struct flat *s, uint32_t job)
{
    const struct flat_job *j = &s->jobs[job];

    if (s->now <= FLAT_LAST && j->estimate <= FLAT_LAST - s->now && j->runtime <= FLAT_LAST - s->now)
        return true;
    s->endless = job;
    return false;
}

void flat_forget(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    uint32_t last;

    if (j->reserved == FLAT_NEVER)
        return;
    j->reserved = FLAT_NEVER;
    last = s->reserved[--s->nreserved];
    s->reserved[j->reservation] = last;
    s->jobs[last].reservation = j->reservation;
}

int64_t flat_later(const struct flat_job *job, int64_t time)
{
    int64_t ran = time - job->start;

    return flat_after(time, ran > 60 * FLAT_SECOND ? ran : 60 * FLAT_SECOND);
}

/* Notes when a job that runs since `began` is due, and how the job ends. Returns the end. */
static int64_t end_of(struct flat *s, struct flat_job *j, int64_t began)
{
    int64_t end = flat_after(began, j->runtime);

    j->start = began;
    j->due = flat_after(began, j->estimate);
    while (began < s->now && j->due <= s->now)
        j->due = flat_later(j, j->due);
    if (j->runtime > j->estimate && !s->overrun) {
        end = flat_after(began, j->estimate);
        j->killed = true;
    }
    j->on_time = j->runtime >= j->estimate && end == j->due;
    j->late = j->runtime >= j->estimate && end > j->due;
    return end;
}

/* Moves a waiting job with booked units to the running jobs. */
static void run(struct flat *s, uint32_t job, int64_t began)
{
    struct flat_job *j = &s->jobs[job];
    int64_t end;

    if (!ends_in_time(s, job))
        return;
    flat_forget(s, job);
    flat_measure_start(s, j);
    flat_queue_remove(s, job);
    end = end_of(s, j, began);
    if (s->follow && s->placer && !s->placer->begin(s, job))
        s->failed = true;
    if (s->follow)
        flat_units_begin(&s->units, j);
    if (!flat_grow32(&s->running, &s->running_cap, s->nrunning + 1, sizeof *s->running) || !push(s, end, job) ||
        (j->late && !push(s, j->due, FLAT_NONE))) {
        s->failed = true;
        return;
    }
    if (j->late && j->due < s->late)
        s->late = j->due;
    j->place = s->nrunning;
    s->running[s->nrunning++] = job;
}

void flat_begin(struct flat *s, uint32_t job)
{
    run(s, job, s->now);
}

/* Orders two begun reservations. */
static bool sooner(const struct flat *s, uint32_t a, uint32_t b)
{
    const struct flat_job *x = &s->jobs[a], *y = &s->jobs[b];

    return x->reserved != y->reserved ? x->reserved < y->reserved : x->made < y->made;
}

/* Starts the jobs of begun reservations, in the order of the starts. */
static void begin_reserved(struct flat *s)
{
    for (;;) {
        uint32_t first = FLAT_NONE;
        s->soonest = FLAT_NEVER;
        for (uint32_t i = 0; i < s->nreserved; i++) {
            uint32_t job = s->reserved[i];
            if (s->jobs[job].reserved < s->soonest)
                s->soonest = s->jobs[job].reserved;
            if (first == FLAT_NONE || sooner(s, job, first))
                first = job;
        }
        if (first == FLAT_NONE || s->jobs[first].reserved > s->now || !flat_ok(s))
            return;
        flat_begin(s, first); /* the units are booked from now on */
    }
}

/* ---- the clock ---- */

static void free_units(struct flat *s, uint32_t job)
{
    flat_units_end(&s->units, &s->jobs[job]);
    if (s->placer && !s->placer->end(s, job))
        s->failed = true;
}

/* Drops all reservations: the end of a running job is unknown. */
static void drop_reservations(struct flat *s)
{
    while (s->nreserved > 0) {
        uint32_t job = s->reserved[0];
        struct flat_job *j = &s->jobs[job];
        flat_profile_give(&s->profile, s->now, j->reserved, flat_after(j->reserved, j->estimate), j->units);
        flat_forget(s, job);
        flat_queue_offer(&s->queue, j, true);
        flat_units_drop(j);
        if (s->follow && s->placer && !s->placer->drop(s, job))
            s->failed = true;
    }
    s->freed = s->early = true;
}

/* Extends the jobs due at `time` that run on: before the clock goes on, only the ends known to the policy. */
static void announce_late(struct flat *s, int64_t time)
{
    bool any = false;

    for (uint32_t i = 0; i < s->nrunning; i++) {
        struct flat_job *j = &s->jobs[s->running[i]];
        if (!j->late || j->due > time)
            continue;
        if (!any)
            drop_reservations(s);
        any = true;
        if (s->follow && s->placer && !s->placer->extend(s, s->running[i], flat_later(j, time)))
            s->failed = true;
    }
    s->dirty = s->dirty || any;
}

/* Books the units of the extended jobs for longer, after the clock has gone on. */
static void extend_late(struct flat *s)
{
    s->late = FLAT_NEVER;
    for (uint32_t i = 0; i < s->nrunning; i++) {
        struct flat_job *j = &s->jobs[s->running[i]];
        if (!j->late)
            continue;
        if (j->due <= s->now) {
            j->due = flat_later(j, s->now);
            if (!flat_profile_reserve(&s->profile) || !push(s, j->due, FLAT_NONE)) {
                s->failed = true;
                return;
            }
            flat_profile_take(&s->profile, s->now, s->now, j->due, j->units);
        }
        s->late = j->due < s->late ? j->due : s->late;
    }
}

/* Releases the units of jobs with estimates up to `time`: the events of the jobs are at the top of the heap. */
static void let_go(struct flat *s, size_t i, int64_t time)
{
    struct flat_job *j;

    if (i > s->nevents || s->events[i].time > time)
        return;
    j = s->events[i].job == FLAT_NONE ? NULL : &s->jobs[s->events[i].job];
    if (j && j->on_time) {
        j->released = s->dirty = s->freed = true;
        if (s->follow)
            free_units(s, s->events[i].job);
    }
    let_go(s, 2 * i, time);
    let_go(s, 2 * i + 1, time);
}

void flat_advance(struct flat *s, int64_t time)
{
    if (time <= s->now && s->began)
        return;
    flat_measure_look(s);
    let_go(s, 1, time);
    if (s->late <= time)
        announce_late(s, time);
    s->now = time;
    s->began = true;
    flat_profile_advance(&s->profile, time);
    if (s->follow && s->placer && !s->placer->advance(s))
        s->failed = true;
    if (s->late <= time)
        extend_late(s);
    if (s->nreserved > 0 && time >= s->soonest)
        begin_reserved(s);
}

void flat_settle(struct flat *s, int64_t next)
{
    if (!s->dirty || (!s->per_event && next <= s->now) || !flat_ok(s))
        return;
    s->dirty = false;
    if (s->queue.n == 0)
        return;
    s->passes++;
    flat_pass(s);
}

static void finish(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    bool early = !j->released;
    uint32_t last = s->running[--s->nrunning];

    s->running[j->place] = last;
    s->jobs[last].place = j->place;
    j->finish = s->now;
    if (early && j->due > s->now)
        flat_return(s, j);
    if (early && s->follow)
        free_units(s, job);
    s->freed = s->dirty = true;
    s->early = s->early || early || s->moved;
    if (!flat_measure_finish(s, j) || (s->write_lines && !flat_lines_job(s, j)))
        s->failed = true;
    if (s->keep_ended && flat_grow(&s->ended, &s->ended_cap, s->nended + 1, sizeof *s->ended)) {
        s->ended[s->nended++] = job;
        return;
    }
    s->failed = s->failed || s->keep_ended;
    flat_job_free(s, job);
}

static void handle(struct flat *s, struct flat_event e)
{
    if (e.job != FLAT_NONE)
        finish(s, e.job);
}

bool flat_run(struct flat *s, int64_t until, uint64_t most)
{
    int64_t time;

    while (flat_ok(s)) {
        time = next_time(s);
        flat_settle(s, time < until ? time : until);
        time = next_time(s); /* the policy may have started jobs */
        if (time >= until || !flat_ok(s))
            return false;
        if (most-- == 0)
            return true;
        flat_advance(s, time);
        if (flat_ok(s) && s->nevents > 0 && s->events[1].time == time)
            handle(s, pop(s));
        if (s->per_event)
            flat_settle(s, time);
    }
    return false;
}

bool flat_submit(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    int64_t at = j->submit > s->now ? j->submit : s->now;

    flat_run(s, at, UINT64_MAX);
    if (!flat_ok(s))
        return true;
    flat_advance(s, at);
    if (j->units > s->total)
        return false;
    if (!flat_queue_add(s, job)) {
        s->failed = true;
        return true;
    }
    s->dirty = true;
    flat_measure_submit(s, j);
    if (s->per_event)
        flat_settle(s, s->now);
    return true;
}

bool flat_resume(struct flat *s, uint32_t job, int64_t began)
{
    struct flat_job *j = &s->jobs[job];

    if (j->units > s->profile.now)
        return false;
    if (!flat_queue_add(s, job) || !flat_profile_reserve(&s->profile) ||
        (s->follow && !(s->placer ? s->placer->book : flat_units_book)(s, job, s->now))) {
        s->failed = true;
        return true;
    }
    flat_measure_submit(s, j);
    run(s, job, began);
    flat_profile_take(&s->profile, s->now, s->now, j->due, j->units);
    s->dirty = true;
    return true;
}
