/* test_choice.c - choices of the engine: from an index as from the list of all candidates, through changes of jobs,
 * states, properties and structure, and with each allocation failing. */
#include <stdio.h>

#include "graph/graph.h"
#include "check.h"
#include "dice.h"

static int by_id(void *data, const weir_graph *g, weir_vertex v, uint32_t *out)
{
    int64_t id = weir_vertex_id(g, v);

    (void)data;
    *out = (uint32_t)(id % 3);
    return id % 5 != 0;
}

/* A policy with a prune gets its choice from a list. */
static int keep_all(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r)
{
    (void)data, (void)g, (void)v, (void)r;
    return 1;
}

static const weir_choice choices[] = {
    {.kind = WEIR_CHOOSE_LONGEST},
    {.kind = WEIR_CHOOSE_SHORTEST},
    {.kind = WEIR_CHOOSE_SHORTEST, .property = "ring", .position = "place"},
    {.kind = WEIR_CHOOSE_SHORTEST, .group = by_id},
    {.kind = WEIR_CHOOSE_FEWEST},
    {.kind = WEIR_CHOOSE_FEWEST, .type = "rack"},
    {.kind = WEIR_CHOOSE_FEWEST, .property = "ring", .type = "node"},
    {.kind = WEIR_CHOOSE_FEWEST, .subsystem = "network", .type = "switch"},
    {.kind = WEIR_CHOOSE_FEWEST, .group = by_id},
    {.kind = WEIR_CHOOSE_EACH, .type = "rack"},
    {.kind = WEIR_CHOOSE_EACH, .emptiest = true},
    {.kind = WEIR_CHOOSE_EACH, .property = "ring", .type = "node"},
    {.kind = WEIR_CHOOSE_CLOSEST, .property = "place", .type = "node"},
    {.kind = WEIR_CHOOSE_ONE, .type = "rack"},
    {.kind = WEIR_CHOOSE_ONE, .property = "ring"},
    {.kind = WEIR_CHOOSE_BESIDE, .type = "numa+socket"},
};
#define CHOICES (sizeof choices / sizeof *choices)

static const char *const shapes[] = {"slot=1/node",        "slot=3/node",   "slot=7/node",
                                     "slot=2-6/node",      "slot=5/core",   "slot=3/node/[core=4;gpu]",
                                     "slot=2/node/core=3", "slot=2/core=2", "node=2/slot=2/core"};
#define SHAPES (sizeof shapes / sizeof *shapes)

static const char *const orders[] = {"-id", "node.id"};

static weir_request *request(const char *shape)
{
    weir_request *r = NULL;
    weir_err err = {0};

    CHECK(weir_request_parse(shape, strlen(shape), "test", &r, &err) == WEIR_OK, "%s: %s", shape, err.text);
    return r;
}

/* Previews a request; the text has the picks, or the status. */
static int chosen(weir_graph *g, const weir_request *r, weir_policy *p, char *text, size_t size)
{
    weir_match_options o = {.mode = WEIR_PREVIEW, .at = weir_graph_now(g), .duration = 50, .policy = p};
    const weir_allocation *a = NULL;
    int rc = weir_match(g, r, &o, &a, NULL);
    size_t at = (size_t)snprintf(text, size, "%s:", weir_status_name(rc));

    for (uint32_t i = 0; a && i < a->npicks && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, " %u", a->picks[i].vertex);
    weir_allocation_free(a);
    return rc;
}

static void compare(weir_graph *g, uint32_t step)
{
    char listed[2000], indexed[2000];

    for (size_t i = 0; i < CHOICES; i++) {
        weir_policy p = {.name = "p", .choice = &choices[i], .serial = 1, .order = &orders[i % 2], .norder = dice(2)};
        const char *shape = shapes[dice(SHAPES)];
        weir_request *r = request(shape);
        chosen(g, r, &p, indexed, sizeof indexed);
        p.prune = keep_all;
        chosen(g, r, &p, listed, sizeof listed);
        CHECK(strcmp(listed, indexed) == 0, "step %u: %s by choice %zu: %s, listed: %s", step, shape, i, indexed,
              listed);
        weir_request_free(r);
    }
}

static void describe(weir_graph *g, weir_vertex v)
{
    char text[16];

    if (v == WEIR_NONE)
        return;
    snprintf(text, sizeof text, "%u", dice(dice(2) ? 4 : 30));
    CHECK(weir_vertex_set(g, v, WEIR_PROPERTIES, dice(2) ? "ring" : "place", text, NULL) == WEIR_OK, "a property");
}

static void run_job(weir_graph *g)
{
    weir_policy p = {.name = "p", .choice = &choices[dice(CHOICES)], .serial = 1};
    weir_match_options o = {.mode = dice(3) ? WEIR_NOW : WEIR_RESERVE, .at = weir_graph_now(g), .policy = &p};
    weir_request *r = request(shapes[dice(SHAPES)]);
    const weir_allocation *a;
    int rc;

    o.duration = 20 + dice(100);
    rc = weir_match(g, r, &o, &a, NULL);
    CHECK(rc == WEIR_OK || rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE, "a job: %s", weir_status_name(rc));
    weir_request_free(r);
}

static void change(weir_graph *g)
{
    weir_vertex node = some_vertex_of(g, "node"), rack = some_vertex_of(g, "rack"), v = dice(4) ? node : rack;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = "node";
    d.id = 100 + (int64_t)dice(50);
    switch (dice(10)) {
    case 0: (void)!weir_graph_advance(g, weir_graph_now(g) + dice(30), NULL); break;
    case 1: v = dice(3) ? v : some_vertex_of(g, "core"); /* fall through */
    case 2: (void)!weir_vertex_set_state(g, v, weir_vertex_state(g, v) == WEIR_UP ? WEIR_DOWN : WEIR_UP, NULL); break;
    case 3:
        if (weir_job_count(g))
            (void)!weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL);
        break;
    case 4: describe(g, node); break;
    case 5: (void)!(dice(4) == 0 && rack != WEIR_NONE && weir_graph_add(g, rack, &d, &v, NULL)); break;
    case 6: (void)!(dice(6) == 0 && weir_graph_unlink(g, node, NULL)); break;
    default: run_job(g);
    }
}

static weir_graph *machine(void)
{
    static const char text[] =
        "cluster:1 [rack:2[node:5[socket:2[core:3 gpu:1]]] rack:3[node:4[socket:2[core:2 gpu:1]]]]";
    weir_graph *g = NULL;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex switches[3], nodes;

    CHECK(weir_graph_parse(text, strlen(text), "test", "synthetic", &g, NULL) == WEIR_OK, "a machine");
    nodes = weir_graph_limit(g);
    d.type = "switch";
    for (int i = 0; i < 3; i++)
        CHECK(weir_graph_add(g, WEIR_NONE, &d, &switches[i], NULL) == WEIR_OK, "a switch");
    CHECK(weir_edge_add(g, switches[0], switches[1], "network", "up", NULL, NULL) == WEIR_OK, "an edge");
    for (weir_vertex v = 0; v < nodes; v++)
        if (strcmp(weir_vertex_type(g, v), "node") == 0 && dice(6))
            CHECK(weir_edge_add(g, switches[dice(3)], v, "network", "up", NULL, NULL) == WEIR_OK, "an edge");
    for (int i = 0; i < 40; i++)
        describe(g, some_vertex_of(g, "node"));
    return g;
}

static void run(uint32_t steps)
{
    weir_graph *g = machine();
    weir_err err = {0};

    for (uint32_t step = 0; step < steps; step++) {
        compare(g, step);
        for (uint32_t i = dice(4); i > 0; i--)
            change(g);
        CHECK(weir_check(g, &err) == WEIR_OK, "step %u: %s", step, err.text);
    }
    weir_graph_free(g);
}

/* ---- memory ---- */

struct trial {
    const weir_graph *g;
    weir_request *r;
    weir_policy policy;
    char expected[2000];
};

static int once(void *data)
{
    struct trial *t = data;
    weir_graph *g = NULL;
    weir_err err = {0};
    char text[2000];
    int rc = weir_graph_dup(t->g, &g, NULL);

    if (rc)
        return rc;
    rc = chosen(g, t->r, &t->policy, text, sizeof text);
    weir_mem_fail_after(0);
    CHECK(rc || strcmp(text, t->expected) == 0, "%s, wanted %s", text, t->expected);
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
    return rc;
}

static void run_short_of_memory(void)
{
    struct trial t = {.g = machine()};

    for (size_t i = 0; i < CHOICES; i++) {
        weir_graph *g = NULL;
        t.r = request(choices[i].kind == WEIR_CHOOSE_BESIDE ? "slot=2/[core=2;gpu]"
                      : i % 2                               ? "slot=3/node/core=2"
                                                            : "slot=2/node");
        t.policy = (weir_policy){.name = "p", .choice = &choices[i], .serial = 1};
        CHECK(weir_graph_dup(t.g, &g, NULL) == WEIR_OK, "a copy");
        CHECK(chosen(g, t.r, &t.policy, t.expected, sizeof t.expected) == WEIR_OK, "choice %zu", i);
        check_nomem(once, &t, "a choice");
        weir_graph_free(g);
        weir_request_free(t.r);
    }
    weir_graph_free((weir_graph *)(uintptr_t)t.g);
}

/* ---- what makes no sense ---- */

static void check_refused(void)
{
    static const char *const field[] = {"id"};
    static const struct {
        weir_choice choice;
        const char *text;
    } cases[] = {
        {{.kind = 17}, "there is no choice 17"},
        {{.kind = -1}, "there is no choice -1"},
        {{.kind = WEIR_CHOOSE_BESIDE}, "adjacent resources needs a type"},
        {{.kind = WEIR_CHOOSE_CLOSEST}, "the choice of the closest candidates needs a property"},
        {{.kind = WEIR_CHOOSE_CLOSEST, .property = "p", .group = by_id}, "closest candidates needs a property"},
        {{.kind = WEIR_CHOOSE_FEWEST, .subsystem = "network"}, "groups by subsystem need the type"},
        {{.kind = WEIR_CHOOSE_FEWEST, .group = by_id}, "a group function needs a serial number"},
        {{.kind = WEIR_CHOOSE_FEWEST, .emptiest = true}, "the emptiest group first is for one from each group"},
        {{.kind = WEIR_CHOOSE_EACH, .emptiest = true, .property = "p"}, "the emptiest group first is for one"},
    };
    weir_graph *g = machine();
    weir_request *r = request("slot=1/node");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_policy p = {.name = "p", .choice = &cases[i].choice, .order = field, .norder = 1};
        weir_match_options o = {.mode = WEIR_PREVIEW, .policy = &p};
        const weir_allocation *a;
        weir_err err = {0};
        CHECK(weir_match(g, r, &o, &a, &err) == WEIR_EINVAL && strstr(err.text, cases[i].text), "%zu: %s", i, err.text);
    }
    weir_request_free(r);
    weir_graph_free(g);
}

int main(void)
{
    for (uint32_t i = 1; i <= 12; i++) {
        seed = i;
        run(40);
    }
    run_short_of_memory();
    check_refused();
    return check_report();
}
