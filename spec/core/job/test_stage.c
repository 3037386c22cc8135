/* test_stage.c - stages with and without locks, and jobs of listed resources: random histories in which the graph
 * checks out after every step, jobs past their ends included; and every call with each allocation failing. */
#include "check.h"
#include "dice.h"

#define SECOND 1000000

static const char *const SHAPES[] = {"slot=%u/node", "slot=%u/core", "slot=%u/memory=3", "slot=%u/rack",
                                     "slot=%u/node/[core=2;memory=2]"};

static weir_graph *machine(void)
{
    static const char text[] = "cluster:1 rack:2 node:3 core:4 memory:1(size=8,unit=GB)";
    weir_graph *g = NULL;

    CHECK(weir_graph_parse(text, strlen(text), NULL, "synthetic", &g, NULL) == WEIR_OK, "a machine");
    return g;
}

static int match(weir_graph *g, const char *text, weir_match_options o, const weir_allocation **a)
{
    weir_request *r = NULL;
    int rc = weir_request_parse(text, strlen(text), NULL, &r, NULL);

    rc = rc ? rc : weir_match(g, r, &o, a, NULL);
    weir_request_free(r);
    return rc;
}

/* ---- random histories ---- */

static void some_match(weir_graph *g)
{
    weir_match_options o = {
        .mode = dice(2) ? WEIR_RESERVE : WEIR_NOW, .at = weir_graph_now(g), .duration = (1 + dice(20)) * SECOND};
    const weir_allocation *a = NULL;
    char text[60];
    int rc;

    if (dice(2)) {
        o.stage = dice(8) ? o.at + (1 + dice(15)) * SECOND : WEIR_FOREVER;
        o.unlocked = dice(3) == 0;
    }
    snprintf(text, sizeof text, SHAPES[dice(sizeof SHAPES / sizeof *SHAPES)], 1 + dice(3));
    rc = match(g, text, o, &a);
    CHECK(rc == WEIR_OK || rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE, "%s: %s", text, weir_status_name(rc));
    if (!rc && o.stage)
        CHECK(a->job < 0 && a->expires > o.at && a->expires <= o.stage && a->expires <= a->end &&
                  weir_stage_get(g, -a->job) == a,
              "a stage with an expiry");
}

static void some_commit(weir_graph *g)
{
    const weir_allocation *s = weir_stage_at(g, dice(weir_stage_count(g))), *a;
    bool locked = s->state != WEIR_CLAIMED;
    uint32_t jobs = weir_job_count(g), stages = weir_stage_count(g);
    weir_losses lost;
    int rc = weir_stage_commit(g, -s->job, 0, &a, &lost, NULL);

    CHECK(rc == WEIR_OK || (rc == WEIR_EBUSY && !locked), "a commit: %s", weir_status_name(rc));
    CHECK((rc == WEIR_EBUSY) == (lost.n > 0), "losses, %u", lost.n);
    CHECK(weir_job_count(g) == jobs + (rc == WEIR_OK) && weir_stage_count(g) == stages - (rc == WEIR_OK), "counts");
    for (uint32_t i = 0; i < lost.n; i++)
        CHECK(lost.list[i].job > 0 ? weir_job_get(g, lost.list[i].job) != NULL
                                   : weir_stage_get(g, -lost.list[i].job) != NULL,
              "a holder");
    weir_free(lost.list);
}

static void some_list(weir_graph *g)
{
    weir_pick picks[3] = {{0}};
    int64_t now = weir_graph_now(g), start = now + dice(3) * SECOND;
    weir_booking b;
    int rc;

    for (int i = 0; i < 3; i++) {
        picks[i].vertex = some_vertex(g);
        picks[i].amount = 1 + dice((uint32_t)weir_vertex_size(g, picks[i].vertex));
    }
    b = (weir_booking){0, start, start + (1 + dice(9)) * SECOND, picks, 1 + dice(3)};
    rc = weir_job_allocate(g, &b, NULL, NULL, NULL);
    CHECK(rc == WEIR_OK || rc == WEIR_EBUSY || rc == WEIR_EINVAL, "a list: %s", weir_status_name(rc));
}

static void some_clock(weir_graph *g)
{
    int64_t now = weir_graph_now(g);
    weir_err err = {0};
    int rc = dice(12) ? weir_graph_advance(g, now + dice(9) * SECOND, &err)
                      : weir_graph_rewind(g, now > 2 * SECOND ? now - SECOND : now, &err);

    CHECK(rc == WEIR_OK, "the clock: %s", err.text);
    if (dice(10) == 0)
        weir_graph_overrun(g, dice(2) ? WEIR_OVERRUN_HOLD : WEIR_OVERRUN_EXPIRE, NULL);
}

static void some_end(weir_graph *g)
{
    if (dice(2) && weir_job_count(g))
        CHECK(weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL) == WEIR_OK, "a job ends");
    else if (weir_stage_count(g))
        CHECK(weir_stage_drop(g, -weir_stage_at(g, dice(weir_stage_count(g)))->job, NULL) == WEIR_OK, "a stage ends");
}

/* Returns a duplicate, equal to the graph, and frees the graph. */
static weir_graph *moved_to_copy(weir_graph *g)
{
    weir_graph *copy = NULL;
    weir_err err = {0};

    CHECK(weir_graph_dup(g, &copy, &err) == WEIR_OK && weir_check(copy, &err) == WEIR_OK &&
              weir_graph_compare(g, copy, true, &err) == WEIR_OK,
          "%s", err.text);
    weir_graph_free(g);
    return copy;
}

/* A history goes on in duplicates of the graph, which must have the same room for what comes later. */
static void test_random(void)
{
    weir_err err = {0};

    for (uint64_t run = 1; run <= 30; run++) {
        weir_graph *g = machine();
        seed = run;
        for (int i = 0; i < 80; i++) {
            switch (dice(9)) {
            case 0: some_clock(g); break;
            case 1: some_end(g); break;
            case 2: some_list(g); break;
            case 8: g = moved_to_copy(g); break;
            case 3:
            case 4:
                if (weir_stage_count(g))
                    some_commit(g);
                break;
            default: some_match(g);
            }
            for (uint32_t k = 0; k < weir_job_count(g); k++)
                CHECK(weir_job_at(g, k)->job > 0, "jobs only");
            if (!CHECK(weir_check(g, &err) == WEIR_OK, "run %d, step %d: %s", (int)run, i, err.text))
                return;
        }
        weir_graph_free(moved_to_copy(g));
    }
}

/* A stage is committed in a duplicate of n jobs: the job that the stage becomes is queued for its end. */
static void test_committed_in_copy(void)
{
    weir_match_options job = {.duration = 9 * SECOND}, held = {.stage = 5 * SECOND, .duration = 9 * SECOND};
    const weir_allocation *a = NULL;
    weir_err err = {0};

    for (int n = 0; n < 4; n++)
        for (int late = 0; late < 2; late++) {
            weir_graph *g = machine();
            if (!late)
                weir_graph_overrun(g, WEIR_OVERRUN_EXPIRE, NULL);
            for (int i = 0; i < n; i++)
                CHECK(match(g, "slot=1/core=1", job, &a) == WEIR_OK, "a job");
            CHECK(match(g, "slot=1/core=1", held, &a) == WEIR_OK, "a stage");
            g = moved_to_copy(g);
            weir_graph_overrun(g, WEIR_OVERRUN_EXPIRE, NULL);
            CHECK(weir_stage_commit(g, -weir_stage_at(g, 0)->job, 0, &a, NULL, &err) == WEIR_OK, "%s", err.text);
            CHECK(weir_check(g, &err) == WEIR_OK, "%d jobs: %s", n, err.text);
            weir_graph_free(g);
        }
}

/* ---- claims of removed vertices ---- */

static void test_gone(void)
{
    weir_graph *g = machine();
    weir_match_options o = {.stage = WEIR_FOREVER, .unlocked = true};
    const weir_allocation *a = NULL;
    weir_vertex node = WEIR_NONE;
    weir_losses lost;
    int64_t stage;

    CHECK(match(g, "slot=2/node", o, &a) == WEIR_OK && a->npicks == 2, "a claim");
    stage = -a->job;
    node = a->picks[1].vertex;
    CHECK(weir_graph_unlink(g, node, NULL) == WEIR_OK, "a claim does not keep a vertex");
    CHECK(weir_stage_commit(g, stage, 0, &a, &lost, NULL) == WEIR_EBUSY && lost.n == 1 &&
              lost.list[0].vertex == WEIR_NONE && lost.list[0].pick == 1 && lost.list[0].job == 0,
          "the vertex is lost");
    weir_free(lost.list);
    CHECK(weir_stage_drop(g, stage, NULL) == WEIR_OK && weir_stage_drop(g, stage, NULL) == WEIR_ENOENT,
          "is dropped once");
    weir_graph_free(g);
}

/* A pool that changes while a stage without locks claims all or a part of it, and the outcome of the commit. */
static void test_changed(void)
{
    static const struct {
        const char *shape;
        int64_t size; /* 0: the pool becomes exclusive */
        int rc;
    } rows[] = {
        {"slot=1/memory=8", 8, WEIR_OK},    {"slot=1/memory=8", 20, WEIR_EBUSY}, {"slot=1/memory=8", 3, WEIR_EBUSY},
        {"slot=1/memory=3", 20, WEIR_OK},   {"slot=1/memory=3", 4, WEIR_OK},     {"slot=1/memory=3", 3, WEIR_EBUSY},
        {"slot=1/memory=3", 2, WEIR_EBUSY}, {"slot=1/memory=3", 0, WEIR_EBUSY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_graph *g = machine();
        weir_match_options o = {.stage = WEIR_FOREVER, .unlocked = true};
        const weir_allocation *a = NULL;
        weir_losses lost;
        weir_err err = {0};
        int rc = match(g, rows[i].shape, o, &a);

        CHECK(rc == WEIR_OK && a->npicks == 1, "a claim");
        rc = rows[i].size ? weir_vertex_set_size(g, a->picks[0].vertex, rows[i].size, NULL)
                          : weir_vertex_set_exclusive(g, a->picks[0].vertex, true, NULL);
        CHECK(rc == WEIR_OK, "a claim does not keep a pool");
        rc = weir_stage_commit(g, -a->job, 0, &a, &lost, &err);
        CHECK(rc == rows[i].rc && lost.n == (rc != WEIR_OK) && (!lost.n || lost.list[0].job == 0), "%s of %d: %s",
              rows[i].shape, (int)rows[i].size, weir_status_name(rc));
        CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
        weir_free(lost.list);
        weir_graph_free(g);
    }
}

/* ---- memory ---- */

static bool without_locks;

static int stage_once(void *arg)
{
    weir_match_options o = {.stage = 5 * SECOND, .unlocked = without_locks, .duration = 9 * SECOND};
    const weir_allocation *a = NULL;
    uint32_t stages = weir_stage_count(arg);
    int rc = match(arg, "slot=2/[core=1;memory=3]", o, &a);

    CHECK(weir_stage_count(arg) == stages + (rc == WEIR_OK), "a stage, or nothing");
    return rc;
}

static int commit_once(void *arg)
{
    const weir_allocation *a;
    weir_losses lost;
    uint32_t jobs = weir_job_count(arg);
    int rc = weir_stage_commit(arg, -weir_stage_at(arg, 0)->job, 0, &a, &lost, NULL);

    CHECK(weir_job_count(arg) == jobs + (rc == WEIR_OK), "a job, or nothing");
    weir_free(lost.list);
    return rc;
}

static int list_once(void *arg)
{
    weir_graph *g = arg;
    weir_pick picks[2] = {{.amount = 1}, {.amount = 1}};
    uint32_t jobs = weir_job_count(g);
    int rc;

    for (int i = 0; i < 2; i++)
        do
            picks[i].vertex = some_vertex_of(g, "core");
        while (!weir_vertex_free(g, picks[i].vertex) || (i && picks[0].vertex == picks[1].vertex));
    rc = weir_job_allocate(g, &(weir_booking){0, 0, SECOND, picks, 2}, NULL, NULL, NULL);
    CHECK(weir_job_count(g) == jobs + (rc == WEIR_OK), "a job, or nothing");
    return rc;
}

static int advance_once(void *arg)
{
    uint32_t stages = weir_stage_count(arg);
    int rc = weir_graph_advance(arg, 5 * SECOND, NULL);

    CHECK(weir_stage_count(arg) == (rc ? stages : 0), "all stages expire, or none");
    return rc;
}

static void test_nomem(void)
{
    weir_err err = {0};

    for (int i = 0; i < 2; i++) {
        weir_graph *g = machine();
        without_locks = i == 1;
        check_nomem(stage_once, g, "staging");
        if (!without_locks)
            check_nomem(list_once, g, "a list");
        CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
        check_nomem(advance_once, g, "expiry");
        CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
        weir_graph_free(g);
    }
    weir_graph *g = machine();
    without_locks = true;
    for (int i = 0; i < 8; i++)
        CHECK(stage_once(g) == WEIR_OK, "a claim");
    for (long n = 1; n < 60; n++) {
        weir_mem_fail_after(n);
        int rc = commit_once(g);
        weir_mem_fail_after(0);
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM || rc == WEIR_EBUSY, "a commit: %s", weir_status_name(rc));
        CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
        if (rc == WEIR_OK)
            break;
    }
    CHECK(weir_job_count(g) == 1, "one claim wins");
    weir_graph_free(g);
}

int main(void)
{
    test_random();
    test_committed_in_copy();
    test_gone();
    test_changed();
    test_nomem();
    return check_report();
}
