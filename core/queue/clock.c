/* clock.c - events and the clock of a flat simulator, by the event rule of lua/weir/sim: submissions before ends at a
 * time, and a job whose estimate is over at a time has released its units when the policy is called at that time.
 * Invariant: events[1] is the first event, by time, then by creation. */
#include "queue/flat.h"

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
    free(s->agains);
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
    if ((a->job >= FLAT_AGAIN) != (b->job >= FLAT_AGAIN))
        return b->job >= FLAT_AGAIN;
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

/* Fills the place `i`, whose event has gone, with the last event. */
static void refill(struct flat *s, size_t i)
{
    struct flat_event last = s->events[s->nevents--];
    size_t kid;

    if (i > s->nevents)
        return;
    for (; i > 1 && before(&last, &s->events[i / 2]); i /= 2)
        s->events[i] = s->events[i / 2];
    for (; (kid = 2 * i) <= s->nevents; i = kid) {
        if (kid < s->nevents && before(&s->events[kid + 1], &s->events[kid]))
            kid++;
        if (!before(&s->events[kid], &last))
            break;
        s->events[i] = s->events[kid];
    }
    s->events[i] = last;
}

static struct flat_event pop(struct flat *s)
{
    struct flat_event top = s->events[1];

    refill(s, 1);
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
    uint64_t turns = s->turns;
    int64_t end;

    if (!ends_in_time(s, job))
        return;
    s->turns = 0;
    if (j->preempted == 0)
        s->nstarted++;
    else
        s->turns = turns;
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
    j->running = true;
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
        if (flat_ok(s) && !s->policy->started(s, first))
            s->failed = true;
    }
}

/* ---- the clock ---- */

/* Frees the units of a running job; `ended`: it does not wait again. Returns false where the placer fails. */
static bool free_units(struct flat *s, uint32_t job, bool ended)
{
    flat_units_end(&s->units, &s->jobs[job]);
    if (!ended)
        flat_units_drop(&s->jobs[job]);
    return !s->placer || (ended ? s->placer->end(s, job) : s->placer->drop(s, job));
}

/* Drops all reservations: the end of a running job is unknown. */
static void drop_reservations(struct flat *s)
{
    while (s->nreserved > 0) {
        flat_unreserve(s, s->reserved[0]);
    }
}

/* Extends the jobs due at `time` that run on: before the clock advances, only the ends known to the policy. */
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
    j = s->events[i].job >= FLAT_AGAIN ? NULL : &s->jobs[s->events[i].job];
    if (j && j->on_time) {
        j->released = s->dirty = s->freed = true;
        if (s->follow && !free_units(s, s->events[i].job, true))
            s->failed = true;
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

/* Removes a job from the list of running jobs. */
static void stop_running(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    uint32_t last = s->running[--s->nrunning];

    s->running[j->place] = last;
    s->jobs[last].place = j->place;
    j->running = false;
}

void flat_preempt(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    size_t i = 1;

    while (i <= s->nevents && s->events[i].job != job)
        i++;
    if (i <= s->nevents)
        refill(s, i);
    stop_running(s, job);
    if (!j->released && j->due > s->now)
        flat_return(s, job);
    if (!j->released && s->follow && !free_units(s, job, false))
        s->failed = true;
    j->released = j->killed = j->late = j->on_time = false;
    j->preempted++;
    flat_measure_preempt(s, j);
    s->unsorted = s->freed = s->early = true;
    if (!flat_queue_add(s, job))
        s->failed = true;
}

bool flat_again(struct flat *s, int64_t time, bool *made)
{
    size_t low = 0, high = s->nagains;

    *made = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->agains[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (time <= s->now || (low < s->nagains && s->agains[low] == time))
        return true;
    if (!flat_grow(&s->agains, &s->agains_cap, s->nagains + 1, sizeof *s->agains) || !push(s, time, FLAT_AGAIN))
        return false;
    memmove(s->agains + low + 1, s->agains + low, (s->nagains++ - low) * sizeof *s->agains);
    s->agains[low] = time;
    return *made = true;
}

static void finish(struct flat *s, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    bool early = !j->released;

    stop_running(s, job);
    s->turns = 0;
    j->finish = s->now;
    if (early && j->due > s->now)
        flat_return(s, job);
    if (early && s->follow && !free_units(s, job, true))
        s->failed = true;
    if (flat_ok(s) && !s->policy->finished(s, job)) {
        s->failed = true;
        return;
    }
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

/* Handles the next event. Stops of the clock at one time are one event. */
static void handle_next(struct flat *s)
{
    struct flat_event e = pop(s);

    if (e.job < FLAT_AGAIN) {
        finish(s, e.job);
    } else if (e.job == FLAT_AGAIN) {
        s->dirty = true;
        memmove(s->agains, s->agains + 1, --s->nagains * sizeof *s->agains);
    }
    if (e.job >= FLAT_AGAIN && s->nevents > 0 && s->events[1].time == e.time)
        handle_next(s);
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
            handle_next(s);
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
    s->turns = 0;
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
