/* test_job_nomem.c - jobs that grow, shrink, and lose vertices removed from the machine, while each allocation
 * fails in turn: a failed call has changed nothing, however many spans had been added by then. */
#include "check.h"

#include "../../core/weir.h"

#define SECOND 1000000
#define JOBS   3
#define CROWD  6

static weir_vertex at_path(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
    return v;
}

static weir_request *request(const char *text)
{
    weir_request *r = NULL;
    weir_err err = {0};

    CHECK(weir_request_parse(text, strlen(text), NULL, &r, &err) == WEIR_OK &&
              weir_request_set_duration(r, 10 * SECOND, &err) == WEIR_OK,
          "%s: %s", text, err.text);
    return r;
}

static void match(weir_graph *g, const char *text, int mode, int64_t job)
{
    weir_match_options o = {.mode = mode, .at = 0, .job = job};
    const weir_allocation *a = NULL;
    weir_request *r = request(text);
    weir_err err = {0};

    CHECK(weir_match(g, r, &o, &a, &err) == WEIR_OK, "%s: %s", text, err.text);
    weir_request_free(r);
}

/* ---- operations ---- */

static weir_request *more;

/* Adds units of a pool to a job with some units of the pool, and more spans than are allocated. */
static int grow(weir_graph *g)
{
    weir_match_options o = {.mode = WEIR_NOW, .at = 0};
    const weir_allocation *a = NULL;

    return weir_job_grow(g, 1, more, &o, &a, NULL);
}

/* Frees one core of a whole rack: the rest of the rack becomes separate spans. */
static int give_back(weir_graph *g)
{
    weir_vertex core = at_path(g, "/cluster0/rack0/node1/core37");

    return weir_job_shrink(g, 2, &core, 1, NULL);
}

/* Removes the core: two jobs with the whole rack in turn keep the rest. */
static int take_out(weir_graph *g)
{
    static const int64_t jobs[] = {2, 3};

    return weir_graph_unlink_forced(g, at_path(g, "/cluster0/rack0/node1/core37"), jobs, 2, NULL);
}

static const struct {
    const char *what;
    int (*run)(weir_graph *g);
    uint32_t picks[JOBS]; /* of each job afterwards */
} rows[] = {
    {"a job grows", grow, {40, 1, 1}},
    {"a job gives back", give_back, {1, 41, 1}},
    {"a vertex is taken out", take_out, {1, 41, 41}},
};

/* ---- before and after ---- */

/* Job 1 has units of memory; jobs 2 and 3 have a rack in turn. */
static weir_graph *machine(void)
{
    static const char text[] = "cluster:1 rack:2 node:2 core:40 memory:1(size=8,unit=GB)";
    weir_graph *g = NULL;

    CHECK(weir_graph_parse(text, strlen(text), NULL, "synthetic", &g, NULL) == WEIR_OK, "%s", text);
    match(g, "slot=1/rack", WEIR_NOW, 2);
    match(g, "slot=1/memory=2", WEIR_NOW, 1);
    match(g, "slot=1/rack", WEIR_RESERVE, 3);
    return g;
}

static void expect(const weir_graph *g, const uint32_t *picks, const char *what, long n)
{
    weir_err err = {0};

    CHECK(weir_check(g, &err) == WEIR_OK, "%s, allocation %ld: %s", what, n, err.text);
    for (int i = 0; i < JOBS; i++) {
        const weir_allocation *a = weir_job_get(g, i + 1);
        CHECK(a && a->npicks == picks[i], "%s, allocation %ld: job %d has %u, not %u", what, n, i + 1,
              a ? a->npicks : 0, picks[i]);
    }
}

/* So many jobs have the rack in turn that the spans of the last jobs need a larger array: the jobs before have
 * been changed by then, and must get their spans back. */
static void test_crowd(void)
{
    static const char text[] = "cluster:1 rack:1 core:40";
    int64_t jobs[CROWD];
    weir_err err = {0};
    int rc, quiet = 0;
    long n = 0;

    for (uint32_t i = 0; i < CROWD; i++)
        jobs[i] = 1 + i;
    while (quiet < 5 && n < 4000) { /* some may fail without harm */
        weir_vertex core;
        weir_graph *g = NULL;
        CHECK(weir_graph_parse(text, strlen(text), NULL, "synthetic", &g, NULL) == WEIR_OK, "%s", text);
        core = at_path(g, "/cluster0/rack0/core37");
        for (uint32_t i = 0; i < CROWD; i++)
            match(g, "slot=1/rack", WEIR_RESERVE, jobs[i]);
        weir_mem_fail_after(++n);
        rc = weir_graph_unlink_forced(g, core, jobs, CROWD, NULL);
        weir_mem_fail_after(0);
        quiet = rc == WEIR_OK ? quiet + 1 : 0;
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "a crowd, allocation %ld: %s", n, weir_status_name(rc));
        CHECK(weir_check(g, &err) == WEIR_OK, "a crowd, allocation %ld: %s", n, err.text);
        for (uint32_t i = 0; i < CROWD; i++)
            CHECK(weir_job_get(g, jobs[i])->npicks == (rc == WEIR_OK ? 39 : 1), "a crowd, allocation %ld: job %u", n,
                  i + 1);
        weir_graph_free(g);
    }
    CHECK(quiet == 5 && n > 40, "a crowd: it goes through in the end, after %ld", n);
}

int main(void)
{
    static const uint32_t before[JOBS] = {1, 1, 1};

    more = request("slot=1/[memory=2;core=39]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int rc = WEIR_ENOMEM;
        long n = 0;
        while (rc == WEIR_ENOMEM && n < 1000) {
            weir_graph *g = machine();
            weir_mem_fail_after(++n);
            rc = rows[i].run(g);
            weir_mem_fail_after(0);
            expect(g, rc == WEIR_OK ? rows[i].picks : before, rows[i].what, n);
            weir_graph_free(g);
        }
        CHECK(rc == WEIR_OK && n > 5, "%s: %s after %ld failures", rows[i].what, weir_status_name(rc), n - 1);
    }
    test_crowd();
    weir_request_free(more);
    return check_report();
}
