/* test_earliest_fit.c - starts of requests for parts of nodes: the earliest start, compared with trying all
 * starts, and the picks at that start. */
#include "check.h"
#include "dice.h"

#include "../../core/weir.h"

#define SECOND 1000000

static weir_graph *machine(const char *text)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), NULL, "synthetic", &g, &err) == WEIR_OK, "%s", err.text);
    return g;
}

static weir_vertex some(const weir_graph *g, const char *type)
{
    weir_vertex v = dice(weir_graph_limit(g));

    while (!weir_vertex_live(g, v) || strcmp(weir_vertex_type(g, v), type) != 0)
        v = (v + 1) % weir_graph_limit(g);
    return v;
}

static const char *const shapes[] = {"slot=1/core=%d",
                                     "node/slot=1/core=%d",
                                     "slot=2/core=%d",
                                     "node=2/slot/core=%d",
                                     "slot/[core=%d;gpu=1]",
                                     "slot/[core=%d;memory=5]",
                                     "rack/slot=2/core=%d",
                                     "socket=2/slot/[core=%d;memory=1]",
                                     "rack/node=2/slot/core=%d",
                                     "rack=2/slot=2/core=%d",
                                     "rack/socket=3/slot/core=%d",
                                     "slot=%d/node",
                                     "slot=%d/core",
                                     "slot/socket/core=%d",
                                     "node/socket/slot=1/core=%d",
                                     "slot=3/[core=%d;memory=2]"};

/* Whole vertices, alone or beside cores, and cores of nodes that jobs then share. */
static const char *const mixes[] = {"slot=%d/node",      "slot=%d/node",        "slot=1/core=%d",
                                    "slot=1/core=%d",    "slot=%d/socket",      "slot=2/[node;core=%d]",
                                    "rack/slot=%d/node", "slot=%d/node/core=6", "[slot=1{a}/node;slot=%d{b}/core]",
                                    "slot/rack",         "slot=2/core=%d",      "[node/slot{a}/core=%d;slot{b}/node]"};

enum { ALL, PARTS, MIXED, QUEUES }; /* the kinds of requests in a run */

static const char *some_shape(int queue)
{
    if (queue == MIXED)
        return mixes[dice(sizeof mixes / sizeof *mixes)];
    return shapes[dice(queue == PARTS ? 11 : sizeof shapes / sizeof *shapes)];
}

static weir_request *some_request(int queue)
{
    char text[100];
    weir_request *r = NULL;
    weir_err err = {0};

    snprintf(text, sizeof text, some_shape(queue), 1 + (int)dice(6));
    CHECK(weir_request_parse(text, strlen(text), NULL, &r, &err) == WEIR_OK, "%s: %s", text, err.text);
    weir_request_set_duration(r, (1 + dice(20)) * SECOND * (dice(3) ? 1 : 20), NULL);
    return r;
}

/* ---- the earliest start, by trying ---- */

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The clock's time, and the end of every job; a job past its end counts as ending right after now. */
static uint32_t list_times(const weir_graph *g, int64_t *times)
{
    uint32_t n = 0;

    times[n++] = weir_graph_now(g);
    for (uint32_t i = 0; i < weir_job_count(g); i++) {
        int64_t end = weir_job_at(g, i)->end;
        times[n++] = end > weir_graph_now(g) ? end : weir_graph_now(g) + 1;
    }
    qsort(times, n, sizeof *times, by_time);
    return n;
}

/* Allocates a request in a graph without caches, at the first time at which the request fits. */
static int by_trying(weir_graph *copy, const weir_request *r, const weir_allocation **a)
{
    int64_t *times = malloc((weir_job_count(copy) + 1) * sizeof *times);
    uint32_t n = list_times(copy, times);
    int rc = WEIR_EBUSY;

    for (uint32_t i = 0; rc == WEIR_EBUSY && i < n; i++) {
        weir_match_options o = {.mode = WEIR_NOW, .at = times[i], .assume_feasible = true};
        rc = weir_match(copy, r, &o, a, NULL);
    }
    free(times);
    return rc;
}

static bool same(const weir_allocation *a, const weir_allocation *b)
{
    if (a->start != b->start || a->end != b->end || a->npicks != b->npicks)
        return false;
    for (uint32_t i = 0; i < a->npicks; i++)
        if (a->picks[i].vertex != b->picks[i].vertex || a->picks[i].amount != b->picks[i].amount)
            return false;
    return true;
}

static bool reserve(weir_graph *g, int queue)
{
    weir_request *r = some_request(queue);
    char *shape = weir_request_format(r, "resources", NULL);
    weir_match_options o = {.mode = WEIR_RESERVE, .at = weir_graph_now(g), .assume_feasible = true};
    const weir_allocation *a = NULL, *b = NULL;
    weir_graph *copy = NULL;
    bool good;
    int rc, want;

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a copy");
    want = by_trying(copy, r, &b);
    rc = weir_match(g, r, &o, &a, NULL);
    good = CHECK(rc == want, "%s: %d, not %d", shape, rc, want) &&
           (rc || CHECK(same(a, b), "%s: at %lld and not %lld, %u picks", shape, (long long)a->start,
                        (long long)b->start, a->npicks));
    weir_free(shape);
    weir_graph_free(copy);
    weir_request_free(r);
    return good;
}

/* changes between the requests */

static void release(weir_graph *g)
{
    uint32_t n = weir_job_count(g);

    if (n > 0)
        weir_release(g, weir_job_at(g, dice(n))->job, NULL);
}

static void shrink(weir_graph *g)
{
    uint32_t n = weir_job_count(g);
    const weir_allocation *a = n ? weir_job_at(g, dice(n)) : NULL;

    if (a && a->npicks > 1)
        weir_job_shrink(g, a->job, &(weir_vertex){a->picks[dice(a->npicks)].vertex}, 1, NULL);
}

static void grow(weir_graph *g)
{
    uint32_t n = weir_job_count(g);
    weir_request *r = some_request(dice(2) ? ALL : MIXED);
    weir_match_options o = {.mode = WEIR_NOW};

    if (n > 0)
        weir_job_grow(g, weir_job_at(g, dice(n))->job, r, &o, NULL, NULL);
    weir_request_free(r);
}

static void change(weir_graph *g)
{
    static const char *const types[] = {"core", "gpu", "memory", "node", "socket", "rack"};
    weir_pool_desc core = WEIR_POOL_DESC_INIT;
    weir_vertex v;

    core.type = "core";
    core.id = 1000 + dice(1000);
    switch (dice(14)) {
    case 0: weir_vertex_set_state(g, some(g, types[dice(5)]), dice(2) ? WEIR_UP : WEIR_DOWN, NULL); break;
    case 1: weir_graph_advance(g, weir_graph_now(g) + dice(30) * SECOND, NULL); break;
    case 2: shrink(g); break;
    case 3: weir_graph_add(g, some(g, "socket"), &core, &v, NULL); break;
    case 4: weir_graph_unlink(g, some(g, "core"), NULL); break;
    case 5:
        v = some(g, types[dice(6)]);
        weir_vertex_allocate(g, v, 5000 + dice(100), 1 + dice(2), weir_graph_now(g) + dice(50) * SECOND,
                             weir_graph_now(g) + (50 + dice(50)) * SECOND, NULL);
        break;
    case 6:
    case 7: grow(g); break;
    default: release(g); break;
    }
}

static void run(uint64_t from, int steps, int queue)
{
    weir_graph *g = machine("cluster:1 rack:2 node:3 socket:2 core:3 gpu:1 memory:1(size=8)");
    weir_err err = {0};
    bool good = true;

    seed = from;
    for (int i = 0; good && i < steps; i++) {
        uint32_t most = 10 + dice(20);
        if (weir_job_count(g) < most)
            good = reserve(g, queue);
        else
            change(g);
        if (dice(4) == 0)
            change(g);
        good = good && CHECK(weir_check(g, &err) == WEIR_OK, "seed %d, step %d: %s", (int)from, i, err.text);
    }
    weir_graph_free(g);
}

/* ---- no memory ---- */

static int once(void *arg)
{
    weir_graph *g = arg;
    weir_match_options o = {.mode = WEIR_RESERVE, .assume_feasible = true};
    const weir_allocation *a;
    weir_request *r = NULL;
    weir_err err = {0};
    int rc;

    for (int k = 0; k < 4; k++) {
        static const char *const texts[] = {"slot/[core=2;gpu=1]", "slot=2/[core=2;gpu=1]", "slot=2/node",
                                            "slot/[core=2;gpu=1]"};
        rc = weir_request_parse(texts[k], strlen(texts[k]), NULL, &r, &err);
        if (rc)
            return rc;
        weir_request_set_duration(r, (5 + k) * SECOND, NULL);
        rc = weir_match(g, r, &o, &a, &err);
        weir_request_free(r);
        if (rc)
            return rc;
        rc = weir_release(g, a->job, &err);
    }
    return rc;
}

static int check_once(void *arg)
{
    weir_err err = {0};
    int rc = once(arg);

    weir_mem_fail_after(0);
    CHECK(weir_check(arg, &err) == WEIR_OK, "%s", err.text);
    return rc;
}

static void run_nomem(void)
{
    weir_graph *g = machine("cluster:1 node:2 core:4 gpu:2");
    weir_request *r = NULL;

    CHECK(weir_request_parse("slot=4/[core=2;gpu=1]", 21, NULL, &r, NULL) == WEIR_OK, "a request");
    for (int i = 0; i < 3; i++) {
        weir_match_options o = {.mode = WEIR_RESERVE, .duration = 10 * SECOND};
        const weir_allocation *a;
        CHECK(weir_match(g, r, &o, &a, NULL) == WEIR_OK, "a job");
    }
    weir_request_free(r);
    CHECK(check_nomem(check_once, g, "reserving parts of nodes") > 5, "many allocations");
    weir_graph_free(g);
}

int main(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int runs = (int)(12 * (scale ? atof(scale) : 1)) + 2;

    for (int i = 0; i < runs && !check_failed; i++)
        run(1 + (uint64_t)i, 150, i % QUEUES);
    run_nomem();
    return check_report();
}
