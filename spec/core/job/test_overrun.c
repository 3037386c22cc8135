/* test_overrun.c - jobs past their ends: random histories of delayed reservations, in which no two jobs have a
 * vertex at a time; and advances of the clock with each allocation failing. */
#include "check.h"
#include "dice.h"

#define SECOND 1000000

static const char *const SHAPES[] = {"slot=%u/node", "slot=%u/core",        "slot=%u/memory=3",
                                     "slot=%u/rack", "node=%u/slot/core=2", "slot=%u/node/[core=2;memory=2]"};

static weir_graph *machine(void)
{
    static const char text[] = "cluster:1 rack:2 node:3 core:4 memory:1(size=8,unit=GB)";
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), NULL, "synthetic", &g, &err) == WEIR_OK, "%s", err.text);
    return g;
}

static int match(weir_graph *g, const char *text, int mode, int64_t duration)
{
    weir_match_options o = {.mode = mode, .at = weir_graph_now(g), .duration = duration};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    weir_err err = {0};
    int rc;

    CHECK(weir_request_parse(text, strlen(text), "shape", &r, &err) == WEIR_OK, "%s: %s", text, err.text);
    rc = weir_match(g, r, &o, &a, &err);
    weir_request_free(r);
    return rc;
}

static void some_match(weir_graph *g)
{
    char text[60];

    snprintf(text, sizeof text, SHAPES[dice(sizeof SHAPES / sizeof *SHAPES)], 1 + dice(3));
    (void)match(g, text, dice(4) ? WEIR_RESERVE : WEIR_NOW, (1 + dice(20)) * SECOND);
}

/* Checks events: each names a job in the state told by the event. */
static void look_at_events(const weir_graph *g, uint32_t *kinds)
{
    uint32_t n;
    const weir_clock_event *e = weir_graph_events(g, &n);

    for (uint32_t i = 0; i < n; i++) {
        const weir_allocation *a = weir_job_get(g, e[i].job);
        kinds[e[i].kind]++;
        switch (e[i].kind) {
        case WEIR_CLOCK_START: CHECK(!a || a->start == e[i].time, "a job that began starts when it was told"); break;
        case WEIR_CLOCK_HOLD:
            CHECK(a && a->state == WEIR_RESERVED && a->start > weir_graph_now(g),
                  "a job that is held back is reserved");
            break;
        default: CHECK(!a && e[i].time <= weir_graph_now(g), "a job that ended is gone");
        }
    }
}

static void history(uint64_t from, enum weir_overrun rule, uint32_t *kinds)
{
    weir_graph *g = machine();
    weir_err err = {0};

    seed = from;
    weir_graph_overrun(g, rule, NULL);
    for (int i = 0; i < 120; i++) {
        switch (dice(6)) {
        case 0:
        case 1:
            CHECK(weir_graph_advance(g, weir_graph_now(g) + dice(15 * SECOND), &err) == WEIR_OK, "%s", err.text);
            look_at_events(g, kinds);
            break;
        case 2:
            if (weir_job_count(g))
                CHECK(weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, &err) == WEIR_OK, "%s", err.text);
            break;
        default: some_match(g);
        }
        if (!CHECK(weir_check(g, &err) == WEIR_OK, "history %llu, step %d: %s", (unsigned long long)from, i, err.text))
            break;
    }
    weir_graph_free(g);
}

/* After a change of the rule all jobs are as if the rule had never been different. */
static void test_change(void)
{
    weir_graph *g = machine();
    weir_err err = {0};

    CHECK(match(g, "slot=6/node", WEIR_NOW, 10 * SECOND) == WEIR_OK &&
              match(g, "slot=6/node", WEIR_RESERVE, 10 * SECOND) == WEIR_OK,
          "two jobs");
    CHECK(weir_graph_overrun_rule(g) == WEIR_OVERRUN_HOLD, "jobs are held back unless something else was said");
    CHECK(weir_graph_advance(g, 12 * SECOND, &err) == WEIR_OK && weir_job_get(g, 2)->state == WEIR_RESERVED,
          "the second waits");
    weir_graph_overrun(g, WEIR_OVERRUN_EXPIRE, NULL);
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_advance(g, 12 * SECOND + 1, &err) == WEIR_OK && !weir_job_get(g, 1), "the first is gone");
    CHECK(weir_job_get(g, 2)->state == WEIR_ALLOCATED && weir_job_get(g, 2)->start == 12 * SECOND + 1,
          "the second has begun");
    CHECK(weir_job_get(g, 2)->end == 22 * SECOND + 1, "and lasts as long as it was to");
    weir_graph_overrun(g, WEIR_OVERRUN_HOLD, NULL);
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_advance(g, 40 * SECOND, &err) == WEIR_OK && weir_job_get(g, 2), "the second stays");
    weir_graph_free(g);
}

/* Shared memory with many spans, for a timeline of the pool, and a queue of whole nodes. */
static weir_graph *crowd(void)
{
    weir_graph *g = machine();

    for (int i = 0; i < 6; i++)
        CHECK(match(g, "slot=6/memory=2", i ? WEIR_RESERVE : WEIR_NOW, 10 * SECOND) == WEIR_OK, "memory %d", i);
    for (int i = 0; i < 12; i++)
        CHECK(match(g, i % 3 ? "slot=3/node" : "slot=6/memory=5", WEIR_RESERVE, 10 * SECOND) == WEIR_OK, "a job %d", i);
    return g;
}

/* Whatever fails, the clock has advanced as a whole or not at all, and the schedules are right. */
static void test_nomem(void)
{
    int quiet = 0;
    long n = 0, failed = 0;

    while (quiet < 3 && n < 2000) {
        weir_graph *g = crowd(), *whole = crowd();
        weir_err err = {0};
        int rc;
        weir_mem_fail_after(++n);
        rc = weir_graph_advance(g, 45 * SECOND, NULL);
        weir_mem_fail_after(0);
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "allocation %ld: %s", n, weir_status_name(rc));
        CHECK(weir_check(g, &err) == WEIR_OK, "allocation %ld: %s", n, err.text);
        CHECK(weir_graph_now(g) == (rc ? 0 : 45 * SECOND), "allocation %ld: the clock", n);
        failed += rc != WEIR_OK;
        quiet = rc == WEIR_OK ? quiet + 1 : 0;
        if (rc)
            CHECK(weir_graph_advance(g, 45 * SECOND, &err) == WEIR_OK, "again: %s", err.text);
        CHECK(weir_graph_advance(whole, 45 * SECOND, &err) == WEIR_OK, "%s", err.text);
        for (int64_t job = 1; job <= 18; job++)
            CHECK(weir_job_get(g, job)->start == weir_job_get(whole, job)->start, "allocation %ld: job %d", n,
                  (int)job);
        weir_graph_free(g);
        weir_graph_free(whole);
    }
    CHECK(quiet == 3 && failed > 0, "it goes through in the end, after %ld", n);
}

/* The id of a released job is not given again by the engine. */
static void test_ids(void)
{
    weir_graph *g = machine();
    weir_err err = {0};

    for (int64_t i = 1; i <= 5; i++) {
        CHECK(match(g, "slot=1/node", WEIR_NOW, SECOND) == WEIR_OK && weir_job_get(g, i), "job %d", (int)i);
        CHECK(weir_release(g, i, &err) == WEIR_OK, "%s", err.text);
    }
    weir_graph_free(g);
}

int main(void)
{
    uint32_t held[3] = {0}, expired[3] = {0};

    for (uint64_t from = 1; from <= 60; from++) {
        history(from, WEIR_OVERRUN_HOLD, held);
        history(from, WEIR_OVERRUN_EXPIRE, expired);
    }
    CHECK(held[WEIR_CLOCK_HOLD] > 100 && held[WEIR_CLOCK_START] > 100 && held[WEIR_CLOCK_EXPIRE] == 0,
          "%u held, %u began", held[WEIR_CLOCK_HOLD], held[WEIR_CLOCK_START]);
    CHECK(expired[WEIR_CLOCK_EXPIRE] > 100 && expired[WEIR_CLOCK_HOLD] == 0, "%u ended", expired[WEIR_CLOCK_EXPIRE]);
    test_change();
    test_nomem();
    test_ids();
    return check_report();
}
