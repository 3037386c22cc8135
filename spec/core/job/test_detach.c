/* test_detach.c - jobs detached from the schedules and attached again unchanged, and lower bounds of starts. */
#include "check.h"

#include "../../core/weir.h"

#define SECOND 1000000

static weir_graph *machine(void)
{
    static const char text[] = "cluster:1 node:4 core:2 memory:1(size=16)";
    weir_graph *g = NULL;

    CHECK(weir_graph_parse(text, sizeof text - 1, NULL, "synthetic", &g, NULL) == WEIR_OK, "a machine");
    return g;
}

static weir_request *request(const char *shape)
{
    weir_request *r = NULL;

    CHECK(weir_request_parse(shape, strlen(shape), NULL, &r, NULL) == WEIR_OK, "%s", shape);
    return r;
}

/* Matches a shape for 10 seconds; the status. */
static int match(weir_graph *g, const char *shape, int64_t job, int mode, int64_t at)
{
    weir_match_options o = {
        .mode = mode, .at = at * SECOND, .duration = 10 * SECOND, .job = job, .assume_feasible = true};
    const weir_allocation *a;
    weir_request *r = request(shape);
    int rc = weir_match(g, r, &o, &a, NULL);

    weir_request_free(r);
    return rc;
}

static void test_round(void)
{
    weir_graph *g = machine(), *before = NULL;
    weir_detached *x = NULL;
    weir_err err = {0};

    CHECK(match(g, "slot=3/[core=1;memory=5]", 1, WEIR_NOW, 0) == WEIR_OK, "a job");
    CHECK(match(g, "slot=4/node", 2, WEIR_RESERVE, 0) == WEIR_OK, "a reservation");
    CHECK(weir_graph_dup(g, &before, NULL) == WEIR_OK, "a copy");
    for (int64_t job = 1; job <= 2; job++) {
        CHECK(weir_job_detach(g, job, &x, NULL) == WEIR_OK, "detaches %d", (int)job);
        CHECK(weir_job_get(g, job) == NULL, "it is gone");
        CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
        CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_OK, "puts it back");
        CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
        CHECK(weir_graph_compare(g, before, true, &err) == WEIR_OK, "%s", err.text);
    }
    CHECK(weir_job_get(g, 1)->nslots == 3, "its slots are known");
    weir_graph_free(before);
    weir_graph_free(g);
}

/* The flows of a job's nodes are detached and attached with the job. */
static void test_feeds(void)
{
    weir_graph *g = machine(), *before = NULL;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex pdu, v;
    weir_detached *x = NULL;
    weir_err err = {0};

    d.type = "pdu";
    d.size = 20;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    for (int i = 0; i < 4; i++) {
        char path[40];
        snprintf(path, sizeof path, "/cluster0/node%d", i);
        CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK &&
                  weir_edge_add(g, pdu, v, "power", "feeds", NULL, NULL) == WEIR_OK,
              "%s", path);
    }
    CHECK(match(g, "slot=2/node/[core=1;power=3]", 1, WEIR_NOW, 0) == WEIR_OK && weir_vertex_free(g, pdu) == 14,
          "a job");
    CHECK(weir_graph_dup(g, &before, NULL) == WEIR_OK, "a copy");
    CHECK(weir_job_detach(g, 1, &x, NULL) == WEIR_OK && weir_vertex_free(g, pdu) == 20, "detaches it");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_OK && weir_vertex_free(g, pdu) == 14, "puts it back");
    CHECK(weir_check(g, &err) == WEIR_OK && weir_graph_compare(g, before, true, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(before);
    weir_graph_free(g);
}

static void test_refusals(void)
{
    weir_graph *g = machine();
    weir_detached *x = NULL;
    weir_vertex v;

    CHECK(weir_job_detach(g, 7, &x, NULL) == WEIR_ENOENT && !x, "there is no such job");
    CHECK(match(g, "slot=4/node", 1, WEIR_NOW, 0) == WEIR_OK, "a job");
    CHECK(weir_job_detach(g, 1, &x, NULL) == WEIR_OK, "detaches it");
    CHECK(match(g, "slot=1/core=1", 2, WEIR_NOW, 0) == WEIR_OK, "another takes a core");
    CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_EBUSY, "a core of it is in use");
    CHECK(weir_job_count(g) == 1, "nothing was booked");
    CHECK(weir_release(g, 2, NULL) == WEIR_OK && match(g, "slot=1/core=1", 1, WEIR_NOW, 100) == WEIR_OK,
          "its id is taken");
    CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_EEXIST, "the id is in use");
    CHECK(weir_release(g, 1, NULL) == WEIR_OK, "it goes");
    CHECK(weir_job_attach(g, x, -1, NULL) == WEIR_EINVAL, "an end before the start");
    CHECK(weir_graph_lookup(g, "/cluster0/node3/core1", &v, NULL) == WEIR_OK &&
              weir_graph_unlink(g, v, NULL) == WEIR_OK,
          "a core is removed");
    CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_EINVAL, "vertices went");
    weir_detached_free(x);
    weir_detached_free(NULL);
    weir_graph_free(g);
}

/* A shared pick excludes whole use only. */
static void test_shared(void)
{
    weir_graph *g = machine();
    weir_detached *x = NULL;

    CHECK(match(g, "node{x:false}/slot=1/core=1", 1, WEIR_NOW, 0) == WEIR_OK, "shares a node");
    CHECK(weir_job_detach(g, 1, &x, NULL) == WEIR_OK, "detaches it");
    CHECK(match(g, "slot=7/core=1", 2, WEIR_NOW, 0) == WEIR_OK, "all other cores");
    CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_EBUSY, "its core is in use");
    CHECK(weir_release(g, 2, NULL) == WEIR_OK && match(g, "slot=1/node", 2, WEIR_NOW, 0) == WEIR_OK,
          "a node as a whole");
    CHECK(weir_job_attach(g, x, 0, NULL) == WEIR_EBUSY, "that is the one it shares");
    CHECK(weir_release(g, 2, NULL) == WEIR_OK && weir_job_attach(g, x, 0, NULL) == WEIR_OK, "it comes back");
    CHECK(weir_check(g, NULL) == WEIR_OK, "schedules are right");
    weir_graph_free(g);
}

static void test_longer(void)
{
    weir_graph *g = machine();
    weir_detached *x = NULL;

    CHECK(match(g, "slot=4/node", 1, WEIR_NOW, 0) == WEIR_OK, "a job");
    CHECK(weir_job_detach(g, 1, &x, NULL) == WEIR_OK && weir_job_attach(g, x, 30 * SECOND, NULL) == WEIR_OK,
          "it lasts longer");
    CHECK(match(g, "slot=1/core=1", 2, WEIR_RESERVE, 0) == WEIR_OK, "a reservation");
    CHECK(weir_job_get(g, 2)->start == 30 * SECOND, "behind it");
    weir_graph_free(g);
}

static void test_soonest(void)
{
    static const struct {
        const char *shape;
        int64_t job, at, start;
    } rows[] = {
        {"slot=1/core=1", 0, 0, 0},
        {"slot=3/core=1", 0, 0, 20},
        {"slot=3/core=1", 0, 12, 20},
        {"slot=8/core=1", 0, 0, 20},
        {"slot=8/core=1", 1, 0, 0},
        {"slot=8/core=1", 2, 0, 10},
        {"slot=3/core=1", 1, 0, 0},
        {"slot=9/core=1", 0, 0, WEIR_FOREVER},
        {"slot=1/memory=65", 0, 0, WEIR_FOREVER},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_graph *g = machine();
        weir_err err = {0};
        CHECK(match(g, "slot=3/node", 1, WEIR_NOW, 0) == WEIR_OK &&
                  match(g, "slot=4/node", 2, WEIR_RESERVE, 0) == WEIR_OK,
              "two jobs");
        weir_match_options o = {.at = rows[i].at * SECOND, .duration = 1 * SECOND, .job = rows[i].job};
        weir_request *r = request(rows[i].shape);
        int64_t start = -1, want = rows[i].start == WEIR_FOREVER ? WEIR_FOREVER : rows[i].start * SECOND;
        CHECK(weir_soonest(g, r, &o, &start, NULL) == WEIR_OK && start == want, "%s without %d: %lld", rows[i].shape,
              (int)rows[i].job, (long long)start);
        weir_request_free(r);
        CHECK(weir_check(g, &err) == WEIR_OK, "%s without %d: %s", rows[i].shape, (int)rows[i].job, err.text);
        weir_graph_free(g);
    }
}

static int detach_once(void *arg)
{
    weir_detached *x = NULL;
    int rc = weir_job_detach(arg, 1, &x, NULL), back;

    if (rc) {
        CHECK(weir_job_get(arg, 1) != NULL, "the job is there still");
        return rc;
    }
    do
        back = weir_job_attach(arg, x, 0, NULL);
    while (back == WEIR_ENOMEM && (rc = back));
    CHECK(back == WEIR_OK && weir_job_get(arg, 1) != NULL, "it is there again");
    return rc;
}

static void test_nomem(void)
{
    weir_graph *g = machine();
    weir_err err = {0};

    CHECK(match(g, "slot=3/[core=1;memory=5]", 1, WEIR_NOW, 0) == WEIR_OK, "a job");
    CHECK(match(g, "slot=4/node", 2, WEIR_RESERVE, 0) == WEIR_OK, "a reservation");
    check_nomem(detach_once, g, "detaching");
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

int main(void)
{
    test_round();
    test_feeds();
    test_refusals();
    test_shared();
    test_longer();
    test_soonest();
    test_nomem();
    return check_report();
}
