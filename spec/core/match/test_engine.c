/* test_engine.c - random operations on random machines; weir_check() verifies every invariant after each
 * operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "weir.h"

static const char *const types[] = {"cluster", "rack", "node", "socket", "core", "gpu", "memory"};

static int level_of(const weir_graph *g, weir_vertex v)
{
    for (int i = 0; i < 7; i++)
        if (strcmp(weir_vertex_type(g, v), types[i]) == 0)
            return i;
    return 7;
}

/* Adds children of fitting types below v; a level is sometimes left out. */
static int grow(weir_graph *g, weir_vertex v, weir_err *err)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    int level = level_of(g, v), kid = level + 1 + (int)dice(2);
    uint32_t count = 1 + dice(dice(20) == 0 ? 80 : 5);

    if (level >= 4)
        return WEIR_EINVAL;
    if (kid >= 4)
        kid = 4 + (int)dice(3);
    d.type = types[kid];
    d.id = dice(50);
    d.size = kid == 6 ? 4 + dice(12) : 1;
    return weir_graph_add_many(g, v, &d, count, 1, NULL, err);
}

static weir_graph *make_machine(bool batch)
{
    weir_graph *g = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root;

    d.type = "cluster";
    d.id = 0;
    if (batch)
        weir_graph_begin(g);
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a root is added");
    for (uint32_t i = 0, n = 5 + dice(30); i < n; i++)
        (void)grow(g, some_vertex(g), NULL);
    for (uint32_t i = 0, n = dice(3) ? 0 : dice(30); i < n; i++)
        (void)weir_edge_add(g, some_vertex(g), some_vertex(g), "links", "leads to", NULL, NULL);
    if (batch)
        CHECK(weir_graph_end(g, NULL) == WEIR_OK, "the machine is built");
    return g;
}

static const char *some_request(char *buf, size_t size)
{
    static const char *const shapes[] = {"slot=%u/node",
                                         "slot=%u/core",
                                         "slot=%u/[core=2;gpu]",
                                         "slot=%u/node/core=3",
                                         "node=%u/slot/core=2",
                                         "slot=%u/memory=5",
                                         "slot=1-%u/node",
                                         "slot=%u/socket/core",
                                         "rack/slot=%u/node",
                                         "slot=%u/[node;core=2]",
                                         "slot=%u/[memory=3;core]",
                                         "rack/gpu=%u",
                                         "node/memory=%u",
                                         "socket/core=%u",
                                         "[node/core=2;rack/slot=%u/gpu]",
                                         "[rack{x};node/gpu=%u]",
                                         "[slot=%u{a}/node/gpu;slot{b}/node]",
                                         "node{-x}/slot=%u/gpu",
                                         "memory=%u{-x}",
                                         "slot=%u/rack",
                                         "core=%u"};
    snprintf(buf, size, shapes[dice(sizeof shapes / sizeof *shapes)], 1 + dice(4));
    return buf;
}

/* Whether each pick of a list is inside a vertex that an allocation has as a whole. */
static bool lies_inside(const weir_graph *g, const weir_pick *list, uint32_t n, const weir_allocation *a)
{
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;
        for (uint32_t k = 0; a && k < a->npicks && !found; k++)
            found = a->picks[k].exclusive && weir_vertex_within(g, list[i].vertex, a->picks[k].vertex);
        if (!found)
            return false;
    }
    return true;
}

static int do_match(weir_graph *g, const weir_policy *p, weir_err *err)
{
    char text[80];
    weir_request *r;
    const weir_allocation *a;
    weir_match_options o = {
        .mode = (int)dice(4), .strict = dice(4) ? 0 : dice(8), .at = weir_graph_now(g), .policy = p};
    weir_pick *inside = NULL;
    uint32_t ninside = 0;
    int rc;

    some_request(text, sizeof text);
    if (weir_request_parse(text, strlen(text), "shape", &r, err))
        return WEIR_EPARSE;
    if (dice(4))
        (void)weir_request_set_duration(r, 1 + dice(100), NULL);
    if (dice(8) == 0)
        o.at += dice(50);
    o.inside = dice(2) ? &inside : NULL;
    o.ninside = &ninside;
    rc = weir_match(g, r, &o, &a, err);
    CHECK(lies_inside(g, inside, ninside, rc == WEIR_OK ? a : NULL), "what is told to be inside is");
    weir_free(inside);
    CHECK(rc == WEIR_OK || rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE || rc == WEIR_ELIMIT, "a match answers");
    if (rc == WEIR_OK && o.mode == WEIR_PREVIEW)
        weir_allocation_free(a);
    weir_request_free(r);
    return rc;
}

static void do_one(weir_graph *g, const weir_policy *p)
{
    weir_vertex v = some_vertex(g);
    weir_err err = {0};

    switch (dice(12)) {
    case 0: (void)weir_vertex_set_state(g, v, (int)dice(3), &err); break;
    case 1: (void)grow(g, v, &err); break;
    case 2:
        if (weir_vertex_parent(g, v) != WEIR_NONE && dice(3) == 0)
            (void)weir_graph_unlink(g, v, &err);
        break;
    case 3: (void)weir_graph_advance(g, weir_graph_now(g) + dice(20), &err); break;
    case 4:
        (void)weir_vertex_allocate(g, v, 1 + dice(500), 1 + dice(6), weir_graph_now(g) + dice(10),
                                   weir_graph_now(g) + 5 + dice(50), &err);
        break;
    case 5:
    case 6:
        if (weir_job_count(g))
            CHECK(weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, &err) == WEIR_OK, "a job is released");
        break;
    case 7: {
        weir_use use;
        if (weir_vertex_use(g, v, 0, &use))
            (void)weir_vertex_release(g, v, use.job, dice(3), &err);
        break;
    }
    default: (void)do_match(g, p, &err); break;
    }
}

static int run(uint64_t from, int steps)
{
    static const char *const up[] = {"id"}, *const down[] = {"-id", "node.id"};
    static const char *const spare[] = {"node", "core"}, *const whole[] = {"node"};
    weir_policy policies[4] = {
        {.name = "first"},
        {.name = "low", .order = up, .norder = 1},
        {.name = "high", .order = down, .norder = 2},
        {.name = "emptiest", .descend = spare, .ndescend = 2, .exclusive = whole, .nexclusive = 1}};
    weir_graph *g;
    weir_err err = {0};

    seed = from;
    g = make_machine(dice(2));
    for (int i = 0; i < steps; i++) {
        do_one(g, &policies[dice(4)]);
        if (weir_check(g, &err)) {
            printf("seed %llu step %d: %s\n", (unsigned long long)from, i, err.text);
            weir_graph_free(g);
            return 1;
        }
    }
    while (weir_job_count(g))
        CHECK(weir_release(g, weir_job_at(g, 0)->job, NULL) == WEIR_OK, "[A10] everything is given back");
    CHECK(weir_check(g, &err) == WEIR_OK, "schedules are exact when all is released");
    weir_graph_free(g);
    return 0;
}

int main(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int seeds = (int)(60 * (scale ? atof(scale) : 1)), bad = 0;

    for (int i = 1; i <= seeds; i++)
        bad += run((uint64_t)i, 300);
    CHECK(bad == 0, "[A1] [A2] [A3] [M9] every invariant holds after every step");
    return check_report();
}
