/* flat_counter.c - a replay that counts free processors and knows nothing else, for the comparison of costs in
 * replay.lua: what a queue costs at least. Usage: flat_counter easy|fcfs|conservative PROCS < TRACE.swf. Conservative
 * backfilling is the naive one: a list of steps, and all reservations looked at again at each end.
 *
 * The event rule is "per-event" (doc of weir.sim): submissions before ends at a time, a call of the queue after each
 * event, and a job whose estimate is over at t is gone throughout t. Prints jobs, mean bounded slowdown, mean wait, and
 * the seconds of the processor that it took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct job {
    long submit, run, estimate, procs, start, reserved;
    long next; /* in the queue */
    int held;  /* procs are taken */
};

struct end {
    long time, number, job;
};

static struct job *jobs;
static long njobs, capacity, now, free_procs, queue_first = -1, queue_last = -1, nends, made, nheld, *held;
static struct end *ends; /* a heap */

static int before(const struct end *a, const struct end *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void push(struct end e)
{
    long i = ++nends;

    for (; i > 1 && before(&e, &ends[i / 2]); i /= 2)
        ends[i] = ends[i / 2];
    ends[i] = e;
}

static struct end pop(void)
{
    struct end top = ends[1], last = ends[nends--];
    long i = 1, kid;

    for (; (kid = 2 * i) <= nends; i = kid) {
        if (kid < nends && before(&ends[kid + 1], &ends[kid]))
            kid++;
        if (!before(&ends[kid], &last))
            break;
        ends[i] = ends[kid];
    }
    ends[i] = last;
    return top;
}

static long expected_end(long job)
{
    return jobs[job].start + jobs[job].estimate;
}

/* Running jobs, by the end that is expected. */
static void hold(long job)
{
    long i = nheld++;

    for (; i > 0 && expected_end(held[i - 1]) > expected_end(job); i--)
        held[i] = held[i - 1];
    held[i] = job;
    free_procs -= jobs[job].procs;
    jobs[job].held = 1;
}

static void let_go(long job)
{
    long i = 0;

    while (held[i] != job)
        i++;
    memmove(held + i, held + i + 1, (size_t)(--nheld - i) * sizeof *held);
    free_procs += jobs[job].procs;
    jobs[job].held = 0;
}

static void start(long job, long previous)
{
    struct job *j = &jobs[job];

    if (previous < 0)
        queue_first = j->next;
    else
        jobs[previous].next = j->next;
    if (queue_last == job)
        queue_last = previous;
    j->start = now;
    hold(job);
    push((struct end){now + j->run, made++, job});
}

/* Starts what fits beside the job at the head, which cannot start: what ends before its time, or leaves it enough. */
static void backfill(void)
{
    long head = queue_first, room = free_procs, time = now, spare;

    for (long i = 0; i < nheld && room < jobs[head].procs; i++) {
        room += jobs[held[i]].procs;
        time = expected_end(held[i]);
        while (i + 1 < nheld && expected_end(held[i + 1]) == time)
            room += jobs[held[++i]].procs;
    }
    spare = room - jobs[head].procs;
    for (long previous = head, job = jobs[head].next, next; job >= 0 && free_procs > 0; job = next) {
        next = jobs[job].next;
        if (jobs[job].procs <= free_procs && (now + jobs[job].estimate <= time || jobs[job].procs <= spare)) {
            if (now + jobs[job].estimate > time)
                spare -= jobs[job].procs;
            start(job, previous);
        } else {
            previous = job;
        }
    }
}

static void pass(int easy)
{
    while (queue_first >= 0 && jobs[queue_first].procs <= free_procs)
        start(queue_first, -1);
    if (easy && queue_first >= 0)
        backfill();
}

static void enter(long job)
{
    jobs[job].next = -1;
    if (queue_first < 0)
        queue_first = job;
    else
        jobs[queue_last].next = job;
    queue_last = job;
}

/* ---- conservative backfilling ---- */

struct step {
    long time, free; /* from then on */
};

static struct step *steps;
static long nsteps, steps_capacity, soonest = -1; /* the first reservation, or -1 */

/* Returns the step that begins at a time, made where missing. */
static long step_at(long time)
{
    long i = 0;

    while (i < nsteps && steps[i].time < time)
        i++;
    if (i < nsteps && steps[i].time == time)
        return i;
    if (nsteps == steps_capacity) {
        steps_capacity = 2 * steps_capacity + 100;
        steps = realloc(steps, (size_t)steps_capacity * sizeof *steps);
        if (!steps)
            exit(2);
    }
    memmove(steps + i + 1, steps + i, (size_t)(nsteps++ - i) * sizeof *steps);
    steps[i] = (struct step){time, steps[i - 1].free};
    return i;
}

static void take(long from, long to, long procs)
{
    long end;

    if (from >= to)
        return;
    step_at(from);
    end = step_at(to);
    for (long i = step_at(from); i < end; i++)
        steps[i].free -= procs;
}

/* Drops the steps that have passed, and those that change nothing. */
static void tidy(void)
{
    long n = 0;

    for (long i = 0; i < nsteps; i++) {
        if (i + 1 < nsteps && steps[i + 1].time <= now)
            continue;
        if (n == 0 || steps[n - 1].free != steps[i].free)
            steps[n++] = steps[i];
    }
    nsteps = n;
    steps[0].time = now;
}

static long earliest(const struct job *j)
{
    for (long i = 0; i < nsteps;) {
        long k = i;
        while (k < nsteps && (k == i || steps[k].time < steps[i].time + j->estimate) && steps[k].free >= j->procs)
            k++;
        if (k > i && (k == nsteps || steps[k].time >= steps[i].time + j->estimate))
            return steps[i].time;
        i = k + 1;
    }
    exit(3);
}

static void note_soonest(void)
{
    soonest = -1;
    for (long job = queue_first; job >= 0; job = jobs[job].next)
        if (soonest < 0 || jobs[job].reserved < soonest)
            soonest = jobs[job].reserved;
}

/* Starts waiting jobs whose reservation has come. */
static void start_reserved(void)
{
    for (long previous = -1, job = queue_first, next; job >= 0; job = next) {
        next = jobs[job].next;
        if (jobs[job].reserved == now)
            start(job, previous);
        else
            previous = job;
    }
    note_soonest();
}

static void reserve(long job, int has)
{
    struct job *j = &jobs[job];

    if (has)
        take(j->reserved, j->reserved + j->estimate, -j->procs);
    j->reserved = earliest(j);
    take(j->reserved, j->reserved + j->estimate, j->procs);
}

/* Looks at all reservations again, or at that of the last job only. */
static void renew(int all)
{
    tidy();
    if (!all && queue_last >= 0)
        reserve(queue_last, 0);
    for (long job = all ? queue_first : -1; job >= 0; job = jobs[job].next) {
        reserve(job, 1);
        tidy();
    }
    start_reserved();
}

static void simulate_conservative(long procs)
{
    long next = 0;

    steps = malloc(100 * sizeof *steps);
    if (!steps)
        exit(2);
    steps_capacity = 100;
    steps[nsteps++] = (struct step){-1, procs};
    while (next < njobs || nends > 0) {
        long stop = nends > 0 ? ends[1].time : -1;
        int submits;
        if (soonest >= 0 && (stop < 0 || soonest < stop))
            stop = soonest;
        submits = next < njobs && (stop < 0 || jobs[next].submit <= stop);
        now = submits ? jobs[next].submit : stop;
        if (soonest == now)
            start_reserved();
        if (submits) {
            enter(next++);
            renew(0);
        } else if (nends > 0 && ends[1].time == now) {
            struct end e = pop();
            let_go(e.job);
            tidy();
            take(now, expected_end(e.job), -jobs[e.job].procs);
            renew(1);
        }
    }
}

static void simulate(int easy)
{
    long next = 0;

    while (next < njobs || nends > 0) {
        int submits = next < njobs && (nends == 0 || jobs[next].submit <= ends[1].time);
        now = submits ? jobs[next].submit : ends[1].time;
        while (nheld > 0 && expected_end(held[0]) <= now)
            let_go(held[0]);
        if (submits) {
            enter(next++);
        } else {
            struct end e = pop();
            if (jobs[e.job].held)
                let_go(e.job);
        }
        pass(easy);
    }
}

static void read_jobs(long procs)
{
    char line[1000];

    while (fgets(line, sizeof line, stdin)) {
        struct job j = {0};
        long asked;
        if (sscanf(line, "%*d %ld %*d %ld %ld %*d %*d %ld %ld", &j.submit, &j.run, &j.procs, &asked, &j.estimate) != 5)
            continue;
        if (asked > 0)
            j.procs = asked;
        if (j.run < 0 || j.procs <= 0 || j.procs > procs)
            continue;
        if (j.estimate <= 0)
            j.estimate = j.run > 1 ? j.run : 1;
        if (j.run > j.estimate)
            j.run = j.estimate;
        if (njobs == capacity) {
            capacity = 2 * capacity + 1000;
            jobs = realloc(jobs, (size_t)capacity * sizeof *jobs);
        }
        if (!jobs)
            exit(2);
        jobs[njobs++] = j;
    }
}

int main(int argc, char **argv)
{
    double slowdown = 0, wait = 0;

    if (argc != 3)
        return 2;
    free_procs = atol(argv[2]);
    read_jobs(free_procs);
    ends = malloc((size_t)(njobs + 2) * sizeof *ends);
    held = malloc((size_t)(njobs + 2) * sizeof *held);
    if (!ends || !held)
        return 2;
    if (strcmp(argv[1], "conservative") == 0)
        simulate_conservative(free_procs);
    else
        simulate(strcmp(argv[1], "easy") == 0);
    for (long i = 0; i < njobs; i++) {
        double waited = (double)(jobs[i].start - jobs[i].submit), ran = (double)jobs[i].run;
        double x = (waited + ran) / (ran > 10 ? ran : 10);
        slowdown += x > 1 ? x : 1;
        wait += waited;
    }
    printf("%ld %.10f %.6f %.4f\n", njobs, slowdown / (double)njobs, wait / (double)njobs,
           (double)clock() / CLOCKS_PER_SEC);
    return 0;
}
