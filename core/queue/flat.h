/* flat.h - a queue by counting: each job takes a number of interchangeable units. The general simulator
 * (lua/weir/sim) calls the engine for each start; this one computes the same starts from the number of free units over
 * time (profile.c), and where the units themselves are needed, the same units (units.c). The queue policy is called by
 * struct flat_policy, and decides by the functions of decide.c. Times are whole microseconds. Invariant: a job is in
 * the queue of waiting jobs or in the list of running jobs; its entry is reused once the job has ended and was taken by
 * the caller.
 *
 *   waiting.c    the waiting jobs, in the order of the queue
 *   clock.c      events and the clock     profile.c  free units over time
 *   decide.c     starts and reservations  units.c    which units a job has
 *   measure.c    sums for the metrics     levels.c   vertices above the units: how many are in use
 *   series.c     usage over time
 *   lines.c      a line of CSV a job */
#ifndef WEIRLUA_FLAT_H
#define WEIRLUA_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAT_NONE   UINT32_MAX
#define FLAT_AGAIN  (UINT32_MAX - 1)
#define FLAT_NEVER  INT64_MAX
#define FLAT_SECOND INT64_C(1000000)
#define FLAT_LAST   (9000000000000 * FLAT_SECOND) /* no job ends later */
#define FLAT_COARSE (4000000000 * FLAT_SECOND)    /* instants are whole seconds from here on (sim/instant.lua) */

/* The instant `duration` after another; FLAT_NEVER behind the end of the clock. */
static inline int64_t flat_after(int64_t instant, int64_t duration)
{
    int64_t t;

    if (duration > FLAT_LAST - instant)
        return FLAT_NEVER;
    t = instant + duration;
    return t < FLAT_COARSE ? t : (t + FLAT_SECOND / 2) / FLAT_SECOND * FLAT_SECOND;
}

/* ---- profile.c: the number of free units over time ---- */

/* At `time` there are `change` more units free than before. A step is there as long as some booking begins or ends at
 * its time: `ends` of them. */
struct step_change {
    int64_t time;
    int32_t change;
    uint32_t ends;
};

/* The steps behind the present, from `first` up to `end`, by time; now: the units free until the first of them. */
struct profile {
    struct step_change *steps;
    size_t first, end, cap;
    int32_t now;
};

void flat_profile_end(struct profile *p);
/* Makes room for two further steps, so that the next flat_profile_take() cannot fail. Returns false without memory. */
bool flat_profile_reserve(struct profile *p);
/* Take units from `from`, the present or later, until `to`, or give them back. O(steps) of memory moved */
void flat_profile_take(struct profile *p, int64_t now, int64_t from, int64_t to, int32_t units);
void flat_profile_give(struct profile *p, int64_t now, int64_t from, int64_t to, int32_t units);
void flat_profile_advance(struct profile *p, int64_t now);
/* Returns the units free at a time. O(steps until then) */
int32_t flat_profile_at(const struct profile *p, int64_t time);

/* A booking to be looked for: `units` for `duration`, as if [from, to) had these units back. */
struct wanted {
    int32_t units;
    int64_t duration, from, to;
};

/* Returns the earliest start from `now` on, or `limit` where no start is earlier. O(steps until then) */
int64_t flat_profile_earliest(const struct profile *p, const struct wanted *w, int64_t now, int64_t limit);

/* ---- jobs ---- */

#define FLAT_KEYS         4
#define FLAT_ABOUT_FIELDS 9

enum flat_number { FLAT_INTEGER, FLAT_REAL, FLAT_TEXT };

/* The number of a job in the trace: orders jobs of one time, and is written to files. */
struct number {
    enum flat_number kind;
    int64_t integer;
    double real;
    char *text; /* owned; of a text, and of a real number as Lua writes it */
};

/* Units from `from` up to, and without, `to`, in the order of the placement policy. */
struct unit_run {
    uint32_t from, to;
};

struct flat_job {
    int64_t submit, estimate, runtime;
    int64_t reserved; /* start of the reservation; FLAT_NEVER: none */
    int32_t level;    /* units that are free when the reservation begins, next to it; see `levelled` */
    int64_t start, due, finish;
    struct number number;
    uint32_t made; /* the order of submission */
    int32_t units;
    uint32_t user;
    uint32_t place;         /* in the queue; later, in the list of running jobs */
    uint32_t reservation;   /* place in the list of reservations */
    uint32_t older, newer;  /* the waiting jobs in the order of submission */
    double keys[FLAT_KEYS]; /* jobs of smaller keys come first in the queue */
    bool backfilled, killed;
    bool waiting, running;
    bool seen;                         /* the policy has a handle of the job */
    uint32_t preempted;                /* how often */
    uint32_t about[FLAT_ABOUT_FIELDS]; /* numbers of values that the caller keeps; 0: none */
    bool late;                         /* runs on when its estimate is over */
    bool on_time;                      /* ends with its estimate, so that its units are free throughout */
    bool released;                     /* its units are free already */
    uint32_t nruns;
    struct unit_run *runs; /* the units; NULL where units are not followed, or none are chosen yet */
};

struct flat;

/* ---- queue.c: the waiting jobs ---- */

#define QUEUE_BLOCK 64

/* Places first..end-1 have jobs, by rank, submission and number, or FLAT_NONE for a job that has gone. The arrays are
 * parallel. units[i] is INT32_MAX where the job is not to be backfilled, as it has gone or has a reservation;
 * smallest[b] is a lower bound of units[] in the block b, so that blocks without a candidate are passed over. */
struct queue {
    uint32_t *jobs;
    int32_t *units;
    int64_t *estimates;
    int32_t *smallest;
    size_t first, end, cap, n;
    size_t fresh;            /* jobs from this place on came since the last pass */
    uint32_t oldest, newest; /* in the order of submission; FLAT_NONE: no job waits */
};

/* Adds a job, at its place. O(1) for a job that comes last, else O(jobs up to the next hole). Returns false without
 * memory. */
bool flat_queue_add(struct flat *s, uint32_t job);
/* Orders all waiting jobs by their keys, submission and number. Returns false without memory. O(n log n) */
bool flat_queue_sort(struct flat *s);
void flat_queue_remove(struct flat *s, uint32_t job);
/* Says whether a waiting job may be backfilled. */
void flat_queue_offer(struct queue *q, const struct flat_job *job, bool offered);
/* The first place from `at` on whose job takes at most `units`; q->end: none. */
size_t flat_queue_next(struct queue *q, size_t at, int32_t units);
/* The first waiting job, or FLAT_NONE. */
uint32_t flat_queue_head(struct queue *q);
void flat_queue_tidy(struct flat *s);
void flat_queue_free(struct queue *q);
/* Compares the numbers of jobs: below 0, 0 or above 0. Numbers come before texts. */
int flat_number_compare(const struct number *a, const struct number *b);

/* ---- levels.c: the vertices above the units ---- */

/* The vertices of one type. Mostly the units of a vertex are consecutive: vertex i has those from first[i] up to
 * first[i + 1]. Otherwise unit i belongs to vertex of[i], and a job costs its units. */
struct level {
    uint32_t n, width; /* width: the units of each vertex; 0: they differ */
    uint32_t *first;   /* n + 1 places */
    uint32_t *of;      /* NULL: units are consecutive */
    uint32_t *held;    /* units in use. Where one run has all units of a vertex, 0 may mean all. */
    uint32_t used;     /* vertices with a unit in use */
};

void flat_level_take(struct level *level, const struct unit_run *run);
void flat_level_give(struct level *level, const struct unit_run *run);

/* ---- units.c: which units a job has ---- */

struct units {
    uint32_t n;             /* all units */
    size_t words, low;      /* no unit below word `low` is idle */
    uint64_t *idle;         /* a bit for each unit that no running job has */
    uint64_t *mask;         /* scratch */
    struct unit_run *found; /* scratch */
    size_t found_cap;
    uint32_t nlevels;
    struct level *levels;
};

/* Choose units for a job at a time. Reservations of further jobs in the way move to free units where the job needs
 * their units. Return false without memory. */
bool flat_units_book(struct flat *s, uint32_t job, int64_t at);
/* Units chosen begin to be in use, or end. */
void flat_units_begin(struct units *u, const struct flat_job *job);
void flat_units_end(struct units *u, struct flat_job *job);
void flat_units_drop(struct flat_job *job);
bool flat_units_open(struct units *u, uint32_t n);
void flat_units_close(struct units *u);

/* An external chooser of the units of jobs, as units.c does for a policy that is an order. Each function returns
 * false where that failed. The number of units suffices whenever book() is called. */
struct placer {
    /* Gives units to a job from `at` on, and takes back the units of the job's reservation, if any. */
    bool (*book)(struct flat *s, uint32_t job, int64_t at);
    bool (*begin)(struct flat *s, uint32_t job); /* the job begins now: sets its runs */
    bool (*end)(struct flat *s, uint32_t job);   /* the units of a running job are free */
    bool (*drop)(struct flat *s, uint32_t job);  /* the job has neither units nor a reservation any more */
    bool (*extend)(struct flat *s, uint32_t job, int64_t due); /* a running job keeps its units until `due` */
    bool (*advance)(struct flat *s);                           /* the clock has gone on */
};

/* ---- measure.c ---- */

#define FLAT_LEVELS 8

struct user {
    uint64_t jobs;
    double wait, slowdown, used;
};

/* Usage and queue length over time, as weir.replay.series gathers them: sums over at most `most` steps of equal
 * length, which doubles when there would be more. */
struct series {
    bool began;
    size_t n, most; /* most 0: there is no series */
    double start, width;
    double *used, *queued;
};

/* Sums, as weir.replay.metrics defines them. */
struct measure {
    bool began, stale, moved;
    double tau;
    int64_t from; /* jobs that were submitted earlier do not count */
    int64_t first, last, last_end;
    uint32_t queued, seen, most; /* waiting; when looked at last; at most */
    int32_t weight;              /* the weight of a unit in the sums, such as the cores of a node */
    int64_t busy, used;          /* units in use; when looked at last */
    uint32_t touched[FLAT_LEVELS];
    int node; /* the level of the nodes, for fragments; -1: none */
    double per_node;
    double used_sum, queue_sum, idle_waiting, waiting_time, fragmented, free_sum, touched_sum[FLAT_LEVELS];
    uint64_t jobs, backfilled, killed, preempted;
    double wait, flow, slowdown, worst, longest;
    struct user *users;
    size_t nusers, users_cap;
    double *waits; /* since taken last */
    size_t nwaits, waits_cap;
    struct series series;
};

/* Returns false without memory. */
bool flat_series_open(struct series *series, size_t most);
void flat_series_add(struct series *series, double t, double dt, double used, double queued);
void flat_series_close(struct series *series);
void flat_measure_look(struct flat *s); /* before the clock moves on */
void flat_measure_submit(struct flat *s, const struct flat_job *job);
void flat_measure_start(struct flat *s, struct flat_job *job);
void flat_measure_preempt(struct flat *s, const struct flat_job *job);
bool flat_measure_finish(struct flat *s, const struct flat_job *job);
/* Ends the measurement, when the clock stops. */
void flat_measure_stop(struct flat *s);

/* ---- lines.c ---- */

struct flat_text {
    char *data;
    size_t len, cap;
    bool failed;
};

/* Consecutive units that are named in sequence. Cores: those of one rank, with the ids id, id + step, ... Whole nodes:
 * nodes of one class, with the ranks rank, rank + step, ... */
struct stretch {
    uint32_t first;       /* unit */
    uint32_t rank, class; /* class: of the texts; cores have none */
    uint32_t id;          /* of cores */
    int32_t step;         /* 1 or -1 */
};

struct piece {
    uint32_t group;    /* the rank of cores, the class of nodes */
    uint32_t from, to; /* the ids of cores, the ranks of nodes */
};

/* How resources are written. */
struct naming {
    struct stretch *stretches;
    uint32_t n;
    bool nodes;   /* units are whole nodes */
    char *type;   /* of the units, otherwise */
    char **texts; /* by class: "core[0-3],gpu[0-1]", or "" for nodes without any */
    uint32_t ntexts;
    struct piece *pieces; /* scratch */
    size_t pieces_cap;
    struct rank_ids *ranks; /* scratch */
    size_t ranks_cap;
};

bool flat_lines_job(struct flat *s, const struct flat_job *job);
/* Writes the resources of a job in short form. Returns false without memory. */
bool flat_lines_resources(struct flat *s, const struct flat_job *job, struct flat_text *out);
void flat_naming_close(struct naming *n);

/* ---- the simulator ---- */

struct flat_event {
    int64_t time;
    uint64_t made;
    uint32_t job; /* that ends; FLAT_NONE: the clock stops, as a job with `late` is due; FLAT_AGAIN: the policy is
                   * called. These two come last at a time */
};

/* The queue policy. Each function returns false where the policy failed; the caller knows why. */
struct flat_policy {
    bool (*pass)(struct flat *s);                  /* decides, by the functions of decide.c */
    bool (*started)(struct flat *s, uint32_t job); /* a reservation has begun */
    bool (*finished)(struct flat *s, uint32_t job);
};

struct flat {
    const struct flat_policy *policy;
    void *policy_data;
    bool per_event;   /* the event rule */
    bool overrun;     /* jobs run on when their estimate is over, instead of being killed */
    int64_t late;     /* no job with `late` has an earlier due; FLAT_NEVER: there is none */
    bool failed;      /* without memory: the simulator is of no use any more */
    uint32_t endless; /* the job that would end behind the end of the clock; FLAT_NONE: none */
    int32_t total;
    int64_t now;
    bool began, dirty;
    /* freed: units became free since the last pass; early: an earlier start may exist for a reservation; moved: a
     * reservation was given up for an earlier start when the reservations were looked at last, so that jobs looked at
     * before may fit into the hole, and are looked at again at the next end */
    bool freed, early, moved;
    bool passing;   /* the policy runs: places of waiting jobs do not change */
    bool unsorted;  /* the waiting jobs are to be ordered before the next pass */
    bool ordered;   /* the policy gives keys at each pass: jobs come last until then */
    bool levelled;  /* the levels of all reservations are kept */
    uint64_t turns; /* calls of queue:again and queue:preempt since a job came, started for the first time or ended */
    uint64_t nstarted;
    int64_t *agains; /* times at which the policy is called, ascending */
    size_t nagains, agains_cap;
    struct profile profile;
    struct queue queue;
    struct flat_job *jobs;
    size_t njobs, jobs_cap;
    uint32_t *unused, nunused; /* entries of jobs that have ended */
    struct flat_event *events; /* a heap, from 1 on */
    size_t nevents, events_cap;
    uint64_t events_made;
    uint32_t *running, nrunning, running_cap;
    uint32_t *reserved, nreserved, reserved_cap;
    int64_t soonest;  /* no reservation begins earlier */
    uint32_t *sorted; /* scratch: jobs being sorted */
    size_t sorted_cap;
    uint32_t entering; /* the job that reservations make room for, and when; FLAT_NONE: none */
    int64_t entering_at;
    uint32_t made;
    uint64_t passes, decisions;
    bool follow; /* units are followed */
    struct units units;
    const struct placer *placer; /* chooses the units that are followed; NULL: units.c does */
    void *placer_data;
    struct measure measure;
    bool write_lines, keep_ended;
    struct naming naming;
    struct flat_text lines, names;
    uint32_t *ended; /* jobs that have ended and are kept for the caller */
    size_t ended_first, nended, ended_cap;
};

/* Grows an array to hold at least `want` elements. Returns false without memory. */
bool flat_grow(void *array, size_t *cap, size_t want, size_t size);
bool flat_grow32(void *array, uint32_t *cap, uint32_t want, size_t size);
/* ---- decide.c: the queries of a queue policy ---- */

/* Start a waiting job now: return whether it has started. _reserve: otherwise the job gets a reservation for its
 * earliest start, or keeps the one it has. A job with a reservation is only looked at where an earlier start may exist.
 */
bool flat_start(struct flat *s, uint32_t job);
bool flat_reserve(struct flat *s, uint32_t job);
/* Starts a waiting job in place of the first of the running jobs `victims`, as few as needed, which wait again. Returns
 * their number, or -1 where nothing has changed. */
int64_t flat_start_over(struct flat *s, uint32_t job, const uint32_t *victims, size_t n);
void flat_unreserve(struct flat *s, uint32_t job);
int64_t flat_earliest(struct flat *s, uint32_t job);
/* Calls the queue policy. */
void flat_pass(struct flat *s);
/* Gives back the units of a running job up to the end of its estimate. */
void flat_return(struct flat *s, uint32_t job);

/* ---- clock.c ---- */

/* Enters a new job, submitted not before the job entered last, or waiting already when the clock begins. All earlier
 * events happen first. Returns false for a job with more than all units: the job is refused, and its entry stays
 * unused. */
bool flat_submit(struct flat *s, uint32_t job);
/* Enters a job that began at `began`, before the clock, and runs still; before any job is submitted. Returns false
 * where too few units are left: then its entry is unused. */
bool flat_resume(struct flat *s, uint32_t job, int64_t began);
/* When a running job is taken to end that has reached its expected end at `time`: the end is unknown. */
int64_t flat_later(const struct flat_job *job, int64_t time);
/* Handles up to `most` events that come before `before`. Returns whether more are left. */
bool flat_run(struct flat *s, int64_t before, uint64_t most);
/* Calls the queue policy if it is due, when the next event comes at `next`. */
void flat_settle(struct flat *s, int64_t next);
void flat_advance(struct flat *s, int64_t time);
/* Puts a running job back among the waiting jobs, behind all others until the next pass. */
void flat_preempt(struct flat *s, uint32_t job);
/* Has the policy called at a time. Returns false without memory; *made: whether it was not to be called then already.
 */
bool flat_again(struct flat *s, int64_t time, bool *made);
/* Starts a waiting job whose units are booked. */
void flat_begin(struct flat *s, uint32_t job);
/* Forgets a reservation; the booking is left to the caller. */
void flat_forget(struct flat *s, uint32_t job);
uint32_t flat_job_new(struct flat *s); /* FLAT_NONE: no memory */
void flat_job_free(struct flat *s, uint32_t job);
bool flat_ok(const struct flat *s); /* may go on */
void flat_close(struct flat *s);

#endif
