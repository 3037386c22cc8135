/* test_queue.c - the queue by counting (core/queue): the profile of free units against an array with an entry a second,
 * the waiting jobs against a sorted list, and whole simulations under policies in C, of which each start is checked:
 * never more units than there are, no reservation broken, every job ends. */
#include "check.h"
#include "queue/flat.h"

#define SECONDS 200 /* of the array */
#define S       FLAT_SECOND

static uint64_t seed = 1;

static uint32_t lot(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* ---- the profile ---- */

struct booking {
    int from, to, units;
};

static int least_free(const int *free_at, int from, int to)
{
    int least = free_at[from];

    for (int t = from; t < to; t++)
        least = free_at[t] < least ? free_at[t] : least;
    return least;
}

/* Books, gives back and asks for starts at random; the clock goes on. */
static void test_profile(int total)
{
    struct profile p = {.now = total};
    struct booking list[64];
    int free_at[2 * SECONDS], n = 0, now = 0;

    for (int t = 0; t < 2 * SECONDS; t++)
        free_at[t] = total;
    for (int step = 0; step < 400 && now < SECONDS - 80; step++) {
        int units = 1 + (int)lot((uint32_t)total), lasts = 1 + (int)lot(30), at = now;
        struct wanted w = {units, lasts * S, 0, 0};
        int64_t found = flat_profile_earliest(&p, &w, now * S, FLAT_NEVER);
        while (least_free(free_at, at, at + lasts) < units)
            at++;
        CHECK(found == at * S, "earliest start of %d units for %d s at %d", units, lasts, now);
        CHECK(flat_profile_earliest(&p, &w, now * S, at * S) == at * S, "no start before the limit");
        if (n < 64 && lot(3) > 0 && at + lasts < SECONDS + 60) {
            if (!flat_profile_reserve(&p))
                abort();
            flat_profile_take(&p, now * S, at * S, (at + lasts) * S, units);
            for (int t = at; t < at + lasts; t++)
                free_at[t] -= units;
            list[n++] = (struct booking){at, at + lasts, units};
        }
        if (n > 0 && lot(4) == 0) {
            uint32_t i = lot((uint32_t)n);
            int from = list[i].from > now ? list[i].from : now;
            if (list[i].to > now) {
                flat_profile_give(&p, now * S, from * S, list[i].to * S, list[i].units);
                for (int t = from; t < list[i].to; t++)
                    free_at[t] += list[i].units;
            }
            list[i] = list[--n];
        }
        if (lot(3) == 0)
            flat_profile_advance(&p, ++now * S);
        for (int t = now; t < now + 40; t += 7)
            CHECK(flat_profile_at(&p, t * S) == free_at[t], "free units at %d", t);
    }
    flat_profile_end(&p);
}

/* ---- simulations ---- */

enum rule { FCFS, EASY, CONSERVATIVE, RULES };

struct world {
    struct flat s;
    enum rule rule;
    int64_t promised[512]; /* by job made: the first reservation */
    uint32_t ended;
};

static void promise(struct world *w, const struct flat_job *j)
{
    if (j->waiting && j->reserved != FLAT_NEVER && j->reserved < w->promised[j->made])
        w->promised[j->made] = j->reserved;
}

static int32_t used_units(const struct flat *s)
{
    int32_t used = 0;

    for (uint32_t i = 0; i < s->nrunning; i++)
        used += s->jobs[s->running[i]].released ? 0 : s->jobs[s->running[i]].units;
    return used;
}

/* Checks a start. */
static void begun(const struct world *w, uint32_t job)
{
    const struct flat_job *j = &w->s.jobs[job];

    CHECK(used_units(&w->s) <= w->s.total, "%d units of %d in use", used_units(&w->s), w->s.total);
    CHECK(w->s.overrun || j->start <= w->promised[j->made], "job %u starts at its reservation at the latest", j->made);
    CHECK(j->start >= j->submit, "job %u does not start before it comes", j->made);
}

/* Tries a waiting job, with a reservation where it does not start. */
static bool try_job(struct world *w, uint32_t job, bool reserve)
{
    bool started = reserve ? flat_reserve(&w->s, job) : flat_start(&w->s, job);

    if (started)
        begun(w, job);
    else
        promise(w, &w->s.jobs[job]);
    return started;
}

static bool pass(struct flat *s)
{
    struct world *w = s->policy_data;
    struct queue *q = &s->queue;
    bool open = true;

    CHECK(used_units(s) == s->total - s->profile.now, "%d units in use, %d free", used_units(s), s->profile.now);
    for (size_t at = q->first; at < q->end && open; at++) {
        if (q->jobs[at] == FLAT_NONE)
            continue;
        open = try_job(w, q->jobs[at], w->rule != FCFS) || w->rule == CONSERVATIVE;
    }
    for (size_t at = q->first; w->rule == EASY && (at = flat_queue_next(q, at, s->profile.now)) < q->end; at++) {
        CHECK(s->jobs[q->jobs[at]].units <= s->profile.now && s->jobs[q->jobs[at]].reserved == FLAT_NEVER,
              "a candidate");
        try_job(w, q->jobs[at], false);
    }
    return true;
}

static bool started(struct flat *s, uint32_t job)
{
    begun(s->policy_data, job);
    return true;
}

static bool finished(struct flat *s, uint32_t job)
{
    struct world *w = s->policy_data;

    (void)job;
    w->ended++;
    return true;
}

static void open_world(struct world *w, enum rule rule, int32_t total)
{
    static const struct flat_policy functions = {pass, started, finished};
    struct flat *s = &w->s;

    *w = (struct world){.rule = rule};
    *s = (struct flat){.endless = FLAT_NONE,
                       .late = FLAT_NEVER,
                       .entering = FLAT_NONE,
                       .soonest = FLAT_NEVER,
                       .freed = true,
                       .early = true,
                       .total = total,
                       .queue = {.oldest = FLAT_NONE, .newest = FLAT_NONE},
                       .policy = &functions,
                       .policy_data = w,
                       .profile = {.now = total},
                       .measure = {.node = -1, .weight = 1}};
    s->jobs = calloc(1, sizeof *s->jobs);
    s->unused = calloc(1, sizeof *s->unused);
    s->measure.users = calloc(1, sizeof *s->measure.users);
    s->measure.nusers = s->measure.users_cap = 1;
    s->jobs_cap = 1;
    if (!s->jobs || !s->unused || !s->measure.users)
        abort();
    for (size_t i = 0; i < 512; i++)
        w->promised[i] = FLAT_NEVER;
}

static uint32_t new_job(struct flat *s, int64_t submit, int64_t estimate, int64_t runtime, int32_t units)
{
    uint32_t job = flat_job_new(s);
    struct flat_job *j;

    if (job == FLAT_NONE)
        abort();
    j = &s->jobs[job];
    *j = (struct flat_job){.submit = submit * S,
                           .estimate = estimate * S,
                           .runtime = runtime * S,
                           .units = units,
                           .reserved = FLAT_NEVER,
                           .made = s->made++};
    j->number.integer = j->made;
    return job;
}

/* overrun: jobs run on beyond their estimates, so that reservations are lost. */
static void test_simulation(enum rule rule, bool per_event, bool overrun)
{
    struct world w;
    int64_t at = 0;
    uint32_t n = 50 + lot(400), refused = 0;

    open_world(&w, rule, 16);
    w.s.per_event = per_event;
    w.s.overrun = overrun;
    for (uint32_t i = 0; i < n; i++) {
        int64_t estimate = 1 + lot(60), runtime = lot(3) == 0 ? estimate : lot((uint32_t)estimate + (overrun ? 90 : 9));
        uint32_t job;
        at += lot(12);
        job = new_job(&w.s, at, estimate, runtime, 1 + (int32_t)lot(lot(9) == 0 ? 18 : 6));
        if (!flat_submit(&w.s, job)) {
            refused++;
            flat_job_free(&w.s, job);
        }
    }
    while (flat_run(&w.s, FLAT_NEVER, 7))
        continue;
    CHECK(flat_ok(&w.s) && w.ended + refused == n, "%u of %u jobs have ended", w.ended + refused, n);
    CHECK(w.s.profile.now == 16 && w.s.nrunning == 0 && w.s.nreserved == 0, "all units are free again");
    w.s.policy_data = NULL;
    flat_close(&w.s);
}

/* ---- what a policy calls ---- */

static void test_decisions(void)
{
    struct world w;
    struct flat *s = &w.s;
    uint32_t jobs[4];

    open_world(&w, FCFS, 10);
    for (int i = 0; i < 4; i++) {
        static const int32_t units[] = {6, 8, 4, 4};
        static const int64_t lasts[] = {10, 10, 10, 11};
        jobs[i] = new_job(s, 0, lasts[i], lasts[i], units[i]);
        if (!flat_queue_add(s, jobs[i]))
            abort();
    }
    CHECK(flat_start(s, jobs[0]) && !flat_start(s, jobs[1]), "6 of 10 units start, 8 do not");
    CHECK(flat_earliest(s, jobs[1]) == 10 * S && s->nreserved == 0, "the earliest start, without a reservation");
    CHECK(!flat_reserve(s, jobs[1]) && s->jobs[jobs[1]].reserved == 10 * S, "a reservation at the end of the first");
    CHECK(!flat_start(s, jobs[3]) && flat_start(s, jobs[2]), "a job starts unless it delays the reservation");
    flat_preempt(s, jobs[2]);
    CHECK(s->jobs[jobs[2]].waiting && s->jobs[jobs[2]].preempted == 1 && s->profile.now == 4,
          "a preempted job waits again");
    flat_unreserve(s, jobs[1]);
    CHECK(s->nreserved == 0 && flat_start(s, jobs[3]), "without the reservation the longer job starts");
    CHECK(flat_start_over(s, jobs[1], (uint32_t[]){jobs[3], jobs[0]}, 2) == 2, "8 units in place of two jobs");
    CHECK(s->profile.now == 2 && s->nrunning == 1 && s->queue.n == 3, "the victims wait");
    CHECK(flat_start_over(s, jobs[0], (uint32_t[]){jobs[1]}, 0) == -1 && s->nrunning == 1,
          "without victims nothing changes");
    s->policy_data = NULL;
    flat_close(s);
}

int main(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int rounds = (int)(20 * (scale ? atof(scale) : 1)) + 1;

    for (int i = 0; i < rounds; i++) {
        seed = (uint64_t)i + 1;
        test_profile(1 + (int)lot(12));
        for (enum rule rule = FCFS; rule < RULES; rule++) {
            test_simulation(rule, i % 2 == 0, false);
            test_simulation(rule, i % 2 == 0, true);
        }
    }
    test_decisions();
    return check_report();
}
