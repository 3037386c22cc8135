/* test_incremental.c - updated indices against new indices: random changes of a machine and its jobs; then a
 * request is matched on the machine, whose indices, lists and occupancies have seen all changes, and on a copy
 * without any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "placings.h"
#include "weir.h"

static weir_vertex add(weir_graph *g, weir_vertex parent, const char *type, uint32_t count, int64_t size)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = dice(100);
    d.size = size;
    (void)!weir_graph_add_many(g, parent, &d, count, 1, &v, NULL);
    return v;
}

/* Adds a node and its children, vertex by vertex. */
static void add_node(weir_graph *g, weir_vertex rack)
{
    weir_vertex node = add(g, rack, "node", 1, 1);

    for (uint32_t i = 0, n = dice(3); node != WEIR_NONE && i < n; i++) {
        weir_vertex socket = add(g, node, "socket", 1, 1);
        add(g, socket, "core", 1 + dice(4), 1);
        if (dice(2))
            add(g, socket, "gpu", 1, 1);
        if (dice(3) == 0)
            add(g, socket, "memory", 1, 8);
    }
}

static void add_rack(weir_graph *g, weir_vertex root)
{
    weir_vertex rack = add(g, root, "rack", 1, 1);

    for (uint32_t i = 0, n = dice(5); i < n; i++)
        add_node(g, rack);
}

static void change_structure(weir_graph *g)
{
    weir_vertex v = some_vertex(g), rack = some_vertex_of(g, "rack"), root = some_vertex_of(g, "cluster");

    switch (dice(5)) {
    case 0:
        if (dice(5) == 0)
            root = add(g, WEIR_NONE, "cluster", 1, 1);
        if (root != WEIR_NONE)
            add_rack(g, root);
        break;
    case 1:
        if (rack != WEIR_NONE)
            add_node(g, rack);
        break;
    case 2:
        if (rack != WEIR_NONE)
            add(g, rack, "node", 1 + dice(40), 1);
        break;
    default:
        if (v != WEIR_NONE && (strcmp(weir_vertex_type(g, v), "cluster") != 0 || dice(20) == 0))
            (void)!weir_graph_unlink(g, v, NULL);
    }
}

static void change_jobs(weir_graph *g)
{
    weir_vertex v = some_vertex(g);

    switch (dice(4)) {
    case 0:
        if (v != WEIR_NONE)
            (void)!weir_vertex_set_state(g, v, dice(3) ? WEIR_UP : WEIR_DOWN, NULL);
        break;
    case 1:
        if (v != WEIR_NONE) {
            char text[20];
            snprintf(text, sizeof text, "%u", dice(50));
            (void)!weir_vertex_set(g, v, WEIR_PROPERTIES, "speed", text, NULL);
        }
        break;
    case 2: (void)!weir_graph_advance(g, weir_graph_now(g) + dice(20), NULL); break;
    default:
        if (weir_job_count(g))
            (void)!weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL);
    }
}

static weir_request *some_request(void)
{
    static const char *const shapes[] = {"slot=%u/node",      "slot=%u/node/core=2",     "slot=%u/core",
                                         "rack/slot=%u/node", "slot=%u/node/[core;gpu]", "node=%u/slot/core",
                                         "slot=%u/rack",      "slot=%u/memory=3"};
    char text[60];
    weir_request *r = NULL;

    snprintf(text, sizeof text, shapes[dice(sizeof shapes / sizeof *shapes)], 1 + dice(dice(4) ? 4 : 30));
    CHECK(weir_request_parse(text, strlen(text), "shape", &r, NULL) == WEIR_OK, "%s is a request", text);
    if (dice(10))
        (void)!weir_request_set_duration(r, 1 + dice(60), NULL);
    return r;
}

/* Matches a request on both graphs; false: the answers differ. */
static bool compare(weir_graph *g, const weir_policy *p)
{
    weir_request *r = some_request();
    weir_match_options o = {.mode = dice(4) ? WEIR_RESERVE : WEIR_NOW, .at = weir_graph_now(g), .policy = p};
    const weir_allocation *a, *b;
    weir_err err = {0};
    weir_graph *copy;
    int rc, other;

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a machine is copied");
    other = weir_match(copy, r, &o, &b, NULL);
    rc = weir_match(g, r, &o, &a, &err);
    weir_request_free(r);
    if (!CHECK(rc == other && (rc || same(a, b)), "%s: %s and %s", p->name, weir_status_name(rc),
               weir_status_name(other)) ||
        !CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text)) {
        weir_graph_free(copy);
        return false;
    }
    weir_graph_free(copy);
    return true;
}

static void run(uint64_t from, int steps)
{
    static const char *const up[] = {"id"}, *const down[] = {"-id"}, *const speed[] = {"-properties.speed", "node.id"};
    static const weir_policy policies[] = {{.name = "first"},
                                           {.name = "low", .order = up, .norder = 1},
                                           {.name = "high", .order = down, .norder = 1},
                                           {.name = "speed", .order = speed, .norder = 2},
                                           {.name = "keys", .keys = by_speed, .serial = 7}};
    weir_graph *g = weir_graph_new();
    weir_vertex root;

    seed = from;
    root = add(g, WEIR_NONE, "cluster", 1, 1);
    for (int i = 0; i < 4; i++)
        add_rack(g, root);
    for (int i = 0; i < steps; i++) {
        if (dice(3) == 0)
            change_structure(g);
        if (dice(2))
            change_jobs(g);
        if (!compare(g, &policies[dice(5)])) {
            printf("seed %llu step %d\n", (unsigned long long)from, i);
            break;
        }
    }
    weir_graph_free(g);
}

/* A long queue of reservations, then all released in random order: exercises the pages of an occupancy. */
static void run_queue(uint64_t from, uint32_t jobs)
{
    static const char *const up[] = {"id"};
    weir_policy low = {.name = "low", .order = up, .norder = 1};
    weir_graph *g = weir_graph_new();
    weir_vertex root;
    weir_err err = {0};

    seed = from;
    root = add(g, WEIR_NONE, "cluster", 1, 1);
    for (int i = 0; i < 4; i++)
        add(g, add(g, root, "rack", 1, 1), "node", 20, 1);
    for (uint32_t i = 0; i < jobs * 2; i++) {
        if (i < jobs ? !compare(g, &low) : weir_job_count(g) == 0)
            break;
        if (weir_job_count(g) && (i >= jobs || dice(8) == 0))
            CHECK(weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL) == WEIR_OK, "a job is released");
        if (i % 8 == 0 &&
            !CHECK(weir_check(g, &err) == WEIR_OK, "seed %llu step %u: %s", (unsigned long long)from, i, err.text))
            break;
    }
    weir_graph_free(g);
}

/* Reserves, and adds to the machine, on a copy without indices and occupancies. */
static int once(void *arg)
{
    static const char *const up[] = {"id"};
    weir_policy low = {.name = "low", .order = up, .norder = 1};
    weir_match_options o = {.mode = WEIR_RESERVE, .at = 0, .policy = &low};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_request *r = NULL;
    const weir_allocation *a;
    weir_graph *g = NULL;
    weir_err err = {0}, broken = {0};
    int rc = weir_graph_dup(arg, &g, &err);

    d.type = "node";
    rc = rc ? rc : weir_request_parse("slot=30/node", 12, "shape", &r, &err);
    rc = rc ? rc : weir_request_set_duration(r, 10, &err);
    rc = rc ? rc : weir_match(g, r, &o, &a, &err);
    rc = rc ? rc : weir_graph_add(g, weir_graph_root(g, NULL, 0), &d, NULL, &err);
    rc = rc ? rc : weir_match(g, r, &o, &a, &err);
    rc = rc ? rc : weir_release(g, a->job, &err);
    if (g) {
        weir_mem_fail_after(0);
        CHECK(weir_check(g, &broken) == WEIR_OK, "after %s: %s", weir_status_name(rc), broken.text);
    }
    weir_request_free(r);
    weir_graph_free(g);
    return rc;
}

static void run_nomem(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root;

    seed = 5;
    root = add(g, WEIR_NONE, "cluster", 1, 1);
    for (int i = 0; i < 2; i++)
        add(g, add(g, root, "rack", 1, 1), "node", 20, 1);
    for (int i = 0; i < 3; i++)
        CHECK(once(g) == WEIR_OK, "a request is met");
    check_nomem(once, g, "a reservation, and a node more");
    weir_graph_free(g);
}

int main(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int runs = scale ? (int)(60 * atof(scale)) : 60;

    for (int i = 1; i <= (runs ? runs : 1); i++)
        run((uint64_t)i * 1000003, 120);
    for (int i = 1; i <= runs / 20 + 1; i++)
        run_queue((uint64_t)i * 7919, 250);
    run_nomem();
    return check_report();
}
