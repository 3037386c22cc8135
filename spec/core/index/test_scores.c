/* test_scores.c - remembered scores by the C interface: answers equal to those of a policy that is asked each time, on
 * random histories; a policy asked no more than what changed; a policy that cannot be remembered; memory that runs
 * out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "placings.h"
#include "weir.h"

/* What the policies below are asked. */
static int asked;
static bool unfollowed;

static double score_of(const weir_graph *g, weir_vertex v)
{
    weir_vertex rack = weir_vertex_ancestor(g, v, "rack");
    const char *heat;
    weir_aggregate a;
    double score = 0;

    weir_read(g, v, WEIR_READ_BELOW);
    for (uint32_t i = 0; weir_graph_aggregate(g, v, i, &a); i++)
        score -= strcmp(a.type, "core") == 0 ? (double)a.free : 0;
    weir_read(g, rack, WEIR_READ_MAPS);
    heat = rack == WEIR_NONE ? NULL : weir_vertex_get(g, rack, WEIR_TAGS, "heat");
    return heat ? score - 10 * atof(heat) : score;
}

static int score_one(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score, bool *alike)
{
    (void)data;
    (void)r;
    (void)alike;
    asked++;
    *score = weir_vertex_id(g, v) == 2 ? (double)NAN : score_of(g, v);
    if (unfollowed)
        weir_read_other(g, "the weather");
    return 1;
}

static int score_all(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                     double *score)
{
    bool alike;

    for (size_t i = 0; i < n; i++)
        (void)!score_one(data, g, r, v[i], &score[i], &alike);
    return 0;
}

static size_t key(void *data, const weir_resource *r, char *text, size_t size)
{
    (void)data;
    return (size_t)snprintf(text, size, "%s", r->type);
}

static const char *const by_id[] = {"id"};
static const weir_policy remembered = {.name = "fullest",
                                       .order = by_id,
                                       .norder = 1,
                                       .serial = 7,
                                       .evaluate = score_all,
                                       .score = score_one,
                                       .score_key = key};
static const weir_policy called = {.name = "fullest", .order = by_id, .norder = 1, .evaluate = score_all};

/* The same score in two parts: what is read of the rack is shared by siblings. */
static int score_own(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score, bool *alike)
{
    weir_aggregate a;

    (void)data, (void)r, (void)alike;
    asked++;
    weir_read(g, v, WEIR_READ_BELOW);
    *score = weir_vertex_id(g, v) == 2 ? (double)NAN : 0;
    for (uint32_t i = 0; weir_graph_aggregate(g, v, i, &a); i++)
        *score -= strcmp(a.type, "core") == 0 ? (double)a.free : 0;
    return 1;
}

static int score_part(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *part)
{
    weir_vertex rack = weir_vertex_ancestor(g, v, "rack");
    const char *heat = rack == WEIR_NONE ? NULL : weir_vertex_get(g, rack, WEIR_TAGS, "heat");

    (void)data, (void)r;
    asked++;
    weir_read(g, rack, WEIR_READ_MAPS);
    *part = heat ? -10 * atof(heat) : 0;
    return 1;
}

static const weir_policy in_parts = {.name = "fullest",
                                     .order = by_id,
                                     .norder = 1,
                                     .serial = 8,
                                     .evaluate = score_all,
                                     .score = score_own,
                                     .score_siblings = score_part,
                                     .score_key = key};

/* A score of numbers only: of the free cores, of the free units and the state of the node, and of a limit. */
static int score_numbers(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score,
                         bool *alike)
{
    weir_aggregate a;

    (void)data, (void)r, (void)alike;
    asked++;
    weir_read_below(g, v, "core", &a);
    weir_read(g, v, WEIR_READ_FREE);
    weir_read(g, v, WEIR_READ_STATE);
    weir_read_limit(g, 1000);
    *score = -(double)a.free - 100 * (double)weir_vertex_free(g, v) + (weir_vertex_state(g, v) == WEIR_UP);
    return 1;
}

static int numbers_all(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                       double *score)
{
    bool alike;

    for (size_t i = 0; i < n; i++)
        (void)!score_numbers(data, g, r, v[i], &score[i], &alike);
    return 0;
}

static const weir_policy in_numbers = {.name = "fullest",
                                       .order = by_id,
                                       .norder = 1,
                                       .serial = 9,
                                       .evaluate = numbers_all,
                                       .score = score_numbers,
                                       .score_key = key};
static const weir_policy numbers_called = {.name = "fullest", .order = by_id, .norder = 1, .evaluate = numbers_all};

/* Leaves out nodes with two or three free cores, and racks with the tag "heat" of 3. */
static int judge(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, bool *keep)
{
    weir_aggregate a;
    const char *heat;

    (void)data, (void)r;
    asked++;
    weir_read_below(g, v, "core", &a);
    weir_read(g, v, WEIR_READ_MAPS);
    heat = weir_vertex_get(g, v, WEIR_TAGS, "heat");
    *keep = strcmp(weir_vertex_type(g, v), "node") != 0 || (a.free != 2 && a.free != 3);
    *keep = *keep && !(heat && strcmp(heat, "3") == 0);
    return 1;
}

static int prune(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r)
{
    bool keep;

    (void)!judge(data, g, r, v, &keep);
    return keep;
}

static const weir_policy pruning = {
    .name = "pruning", .order = by_id, .norder = 1, .serial = 10, .prune = prune, .judge = judge, .judge_key = key};
static const weir_policy prune_called = {.name = "pruning", .order = by_id, .norder = 1, .prune = prune};

static weir_request *request(const char *shape)
{
    weir_request *r = NULL;

    weir_err err = {0};

    CHECK(weir_request_parse(shape, strlen(shape), "test", &r, &err) == WEIR_OK, "%s: %s", shape, err.text);
    return r;
}

static weir_graph *machine(uint32_t racks, uint32_t nodes)
{
    char text[80];
    weir_graph *g = NULL;

    snprintf(text, sizeof text, "cluster:1 rack:%u node:%u core:4", racks, nodes);
    CHECK(weir_graph_parse(text, strlen(text), "test", "synthetic", &g, NULL) == WEIR_OK, "%s", text);
    return g;
}

static weir_vertex vertex(weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
    return v;
}

static weir_graph *duplicate(const weir_graph *g)
{
    weir_graph *copy = NULL;

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a copy");
    return copy;
}

/* ---- random histories ---- */

static void change(weir_graph *g, uint32_t what, uint32_t which)
{
    char text[40];
    weir_vertex v;

    snprintf(text, sizeof text, what < 2 ? "/cluster0/rack%u" : "/cluster0/rack%u/node%u", which % 3, which % 18);
    if (weir_graph_lookup(g, text, &v, NULL))
        return;
    snprintf(text, sizeof text, "%u", which % 4);
    if (what == 0)
        (void)!weir_vertex_set(g, v, WEIR_TAGS, "heat", text, NULL);
    else if (what == 1)
        (void)!weir_vertex_set_state(g, v, which % 3 ? WEIR_UP : WEIR_DOWN, NULL);
    else
        (void)!weir_vertex_set_state(g, v, which % 2 ? WEIR_UP : WEIR_DRAINING, NULL);
}

static void histories(const weir_policy *policy, const weir_policy *plain)
{
    weir_graph *g = machine(3, 6), *copy = duplicate(g);
    weir_request *r[] = {request("slot=1/node"), request("slot=2/core=2"), request("slot=3/node"),
                         request("slot=3/core")};
    uint32_t placed = 0;

    for (uint32_t i = 0; i < 600; i++) {
        uint32_t what = dice(9), which = dice(1000);
        weir_match_options o = {.mode = dice(4) ? WEIR_NOW : WEIR_PREVIEW, .policy = policy, .check_scores = i % 2};
        weir_match_options p = {.mode = o.mode, .policy = plain};
        const weir_allocation *a = NULL, *b = NULL;
        weir_err err = {0};
        int rc, other;
        change(g, what, which);
        change(copy, what, which);
        if (weir_job_count(g) && dice(2)) {
            int64_t job = weir_job_at(g, dice(weir_job_count(g)))->job;
            CHECK(weir_release(g, job, NULL) == weir_release(copy, job, NULL), "release");
        }
        rc = weir_match(g, r[which % 4], &o, &a, &err);
        other = weir_match(copy, r[which % 4], &p, &b, NULL);
        if (!CHECK(rc == other && (rc || same(a, b)), "step %u: %s", i, err.text))
            break;
        placed += rc == WEIR_OK;
        if (o.mode == WEIR_PREVIEW) {
            weir_allocation_free(a);
            weir_allocation_free(b);
        }
        CHECK(weir_check(g, &err) == WEIR_OK, "step %u: %s", i, err.text);
    }
    CHECK(placed > 200, "%u matches placed something", placed);
    for (int i = 0; i < 4; i++)
        weir_request_free(r[i]);
    weir_graph_free(g);
    weir_graph_free(copy);
}

/* ---- calls ---- */

static int calls_of(weir_graph *g, const weir_request *r, const weir_policy *p)
{
    weir_match_options o = {.mode = WEIR_PREVIEW, .policy = p};
    const weir_allocation *a = NULL;
    int before = asked;

    CHECK(weir_match(g, r, &o, &a, NULL) == WEIR_OK, "a node is free");
    weir_allocation_free(a);
    return asked - before;
}

/* A change of a rack makes one part stale, not the scores of all nodes. */
static void shared_part(void)
{
    weir_graph *g = machine(10, 20);
    weir_request *r = request("slot=1/node");
    weir_vertex rack = vertex(g, "/cluster0/rack3");

    CHECK(calls_of(g, r, &in_parts) == 200 + 10, "all nodes, and the part of each rack");
    CHECK(calls_of(g, r, &in_parts) == 0, "nothing has changed");
    CHECK(weir_vertex_set(g, rack, WEIR_TAGS, "heat", "7", NULL) == WEIR_OK, "a tag");
    CHECK(calls_of(g, r, &in_parts) == 1, "the part of one rack");
    CHECK(weir_check(g, NULL) == WEIR_OK, "the scores");
    weir_request_free(r);
    weir_graph_free(g);
}

/* Numbers that are as they were for one of the last versions of a score need no call. */
static void as_it_was(void)
{
    weir_graph *g = machine(10, 20);
    weir_request *r = request("slot=1/node");
    weir_vertex node = vertex(g, "/cluster0/rack3/node63");

    CHECK(calls_of(g, r, &in_numbers) == 200, "the first match asks for each node");
    for (int i = 0; i < 6; i++) {
        CHECK(weir_vertex_set_state(g, node, i % 2 ? WEIR_UP : WEIR_DRAINING, NULL) == WEIR_OK, "a state");
        CHECK(calls_of(g, r, &in_numbers) == (i == 0), "a state that was seen before, change %d", i);
    }
    for (int i = 0; i < 12; i++) { /* with the two states, 6 versions */
        weir_vertex core = weir_vertex_child(g, node, (uint32_t)i % 4);
        int rc = i / 4 % 2 ? weir_vertex_release(g, core, 5, 1, NULL)
                           : weir_vertex_allocate(g, core, 5, 1, 0, WEIR_FOREVER, NULL);
        CHECK(rc == WEIR_OK, "a core");
        CHECK(calls_of(g, r, &in_numbers) == (i < 4), "cores in use, change %d", i);
    }
    CHECK(weir_check(g, NULL) == WEIR_OK, "the versions");
    weir_request_free(r);
    weir_graph_free(g);
}

static void what_changed(void)
{
    weir_graph *g = machine(10, 20);
    weir_request *r = request("slot=1/node");
    weir_vertex node = vertex(g, "/cluster0/rack3/node63"), core = weir_vertex_child(g, node, 0);
    size_t bytes = weir_graph_bytes(g);

    CHECK(calls_of(g, r, &remembered) == 200, "the first match asks for each node");
    CHECK(calls_of(g, r, &remembered) == 0, "the second match asks for none");
    CHECK(weir_graph_bytes(g) > bytes + 200 * 24, "the scores count as memory of the graph");
    CHECK(weir_vertex_allocate(g, core, 5, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK, "a core is free");
    CHECK(calls_of(g, r, &remembered) == 1, "a core that is taken changes the score of its node");
    CHECK(weir_vertex_set(g, vertex(g, "/cluster0/rack1"), WEIR_TAGS, "heat", "1", NULL) == WEIR_OK, "a tag");
    CHECK(calls_of(g, r, &remembered) == 20, "a tag of a rack changes the scores of the nodes of the rack");
    CHECK(weir_vertex_set_state(g, vertex(g, "/cluster0/rack2"), WEIR_DOWN, NULL) == WEIR_OK, "a state");
    CHECK(calls_of(g, r, &remembered) == 20, "a rack that is down has no free units below");
    CHECK(weir_graph_unlink(g, vertex(g, "/cluster0/rack9"), NULL) == WEIR_OK, "a rack is idle");
    CHECK(calls_of(g, r, &remembered) == 159, "a change of the tree drops all scores; nodes that are down or used "
                                              "are no candidates");
    CHECK(calls_of(g, r, &remembered) == 21, "scores put in order are those of all nodes");
    CHECK(calls_of(g, r, &remembered) == 0, "then none is asked for");
    unfollowed = true;
    CHECK(calls_of(g, r,
                   &(weir_policy){
                       .name = "x", .serial = 9, .evaluate = score_all, .score = score_one, .score_key = key}) > 150,
          "what is not followed is asked for");
    unfollowed = false;
    weir_request_free(r);
    weir_graph_free(g);
}

/* ---- memory ---- */

static weir_request *two_nodes;
static const weir_policy *short_policy;

static int match_once(void *data)
{
    weir_graph *g = NULL;
    const weir_request *r = two_nodes;
    weir_match_options o = {.mode = WEIR_PREVIEW, .policy = short_policy};
    int rc = weir_graph_dup(data, &g, NULL);

    for (int i = 0; !rc && i < 3; i++) {
        const weir_allocation *a = NULL;
        rc = weir_match(g, r, &o, &a, NULL);
        CHECK(rc || (a->npicks == 2 && weir_vertex_id(g, a->picks[0].vertex) == 0), "the answer is whole");
        weir_allocation_free(a);
        CHECK(!rc || weir_check(g, NULL) == WEIR_OK, "the records are right after a failure");
    }
    weir_graph_free(g);
    return rc;
}

int main(void)
{
    weir_graph *g = machine(2, 3);

    histories(&remembered, &called);
    histories(&in_parts, &called);
    histories(&in_numbers, &numbers_called);
    histories(&pruning, &prune_called);
    as_it_was();
    shared_part();
    what_changed();
    two_nodes = request("slot=2/node");
    short_policy = &remembered;
    check_nomem(match_once, g, "matches with scores");
    short_policy = &in_parts;
    check_nomem(match_once, g, "matches with scores in two parts");
    short_policy = &in_numbers;
    check_nomem(match_once, g, "matches with scores of numbers");
    short_policy = &pruning;
    check_nomem(match_once, g, "matches with a prune that is remembered");
    weir_request_free(two_nodes);
    weir_graph_free(g);
    return check_report();
}
