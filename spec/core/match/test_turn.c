/* test_turn.c - the turn of a policy: the order begins with the first vertex whose number is large enough. Compared
 * with an order whose keys say the same, through changes of jobs, states and structure, and with each allocation
 * failing. */
#include <math.h>
#include <stdio.h>

#include "graph/graph.h"
#include "check.h"
#include "dice.h"

/* The field of an order that turns: of the node around a vertex, or of the vertex. */
struct by {
    const char *fields[2];
    bool node, index;
};

static const struct by orders[] = {
    {{"node.index", "index"}, true, true},
    {{"node.id", "index"}, true, false},
    {{"index", "id"}, false, true},
    {{"id", "index"}, false, false},
};
#define ORDERS (sizeof orders / sizeof *orders)

static const char *const shapes[] = {"slot=1/node",   "slot=3/node",        "slot=20/node",
                                     "slot=2-6/node", "slot=5/core",        "slot=2/node/core=2",
                                     "slot=2/core=2", "node=2/slot=2/core", "core=7"};
#define SHAPES (sizeof shapes / sizeof *shapes)
#define FLAT   4 /* the first shapes have no hosts, whose parts may have numbers on both sides of the turn */

static struct {
    const struct by *by;
    double turn;
} now;

/* The place of each vertex in the tree: parents before children, siblings as they were added. */
static uint32_t places[4096], nplaces;

static void find_places(const weir_graph *g, weir_vertex v)
{
    places[v] = nplaces++;
    for (uint32_t i = 0; i < weir_vertex_children(g, v); i++)
        find_places(g, weir_vertex_child(g, v, i));
}

/* Two numbers of a vertex, the first of these behind all others before the turn; then the order. */
static int keys(void *data, const weir_graph *g, weir_vertex v, double out[WEIR_ORDER_KEYS])
{
    weir_vertex of = v;

    (void)data;
    while (now.by->node && of != WEIR_NONE && strcmp(weir_vertex_type(g, of), "node") != 0)
        of = weir_vertex_parent(g, of);
    out[1] = of == WEIR_NONE ? HUGE_VAL : now.by->index ? (double)places[of] : (double)weir_vertex_id(g, of);
    out[0] = of == WEIR_NONE ? false : (now.by->index ? (double)of : out[1]) < now.turn;
    out[2] = strcmp(now.by->fields[1], "id") == 0 ? (double)weir_vertex_id(g, v) : (double)places[v];
    return 3;
}

static weir_request *request(const char *shape)
{
    weir_request *r = NULL;
    weir_err err = {0};

    CHECK(weir_request_parse(shape, strlen(shape), "test", &r, &err) == WEIR_OK, "%s: %s", shape, err.text);
    return r;
}

/* Matches without taking anything; the text has the picks, or the status. */
static int chosen(weir_graph *g, const weir_request *r, const weir_policy *p, char *text, size_t size)
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
    static uint64_t serial;
    char turned[2000], sorted[2000];

    CHECK(weir_graph_limit(g) <= sizeof places / sizeof *places, "room for the places");
    nplaces = 0;
    find_places(g, weir_graph_root(g, NULL, 0));
    for (size_t i = 0; i < ORDERS; i++) {
        double turn = dice(8) ? dice(weir_graph_limit(g)) % (i % 2 ? 12 : UINT32_MAX) : dice(2) * 1e9;
        weir_policy p = {.name = "turn", .order = orders[i].fields, .norder = 2, .turn = &turn};
        weir_policy q = {.name = "keys", .keys = keys, .serial = ++serial};
        const char *shape = shapes[dice(orders[i].node ? SHAPES : FLAT)];
        weir_request *r = request(shape);
        now.by = &orders[i];
        now.turn = turn;
        chosen(g, r, &p, turned, sizeof turned);
        chosen(g, r, &q, sorted, sizeof sorted);
        CHECK(strcmp(turned, sorted) == 0, "step %u: %s by %s from %g: %s, sorted: %s", step, shape,
              orders[i].fields[0], turn, turned, sorted);
        weir_request_free(r);
    }
}

static void run_job(weir_graph *g)
{
    double turn = dice(200);
    weir_policy p = {.name = "p", .order = orders[dice(ORDERS)].fields, .norder = 2, .turn = &turn};
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
    d.id = dice(50);
    switch (dice(9)) {
    case 0: (void)!weir_graph_advance(g, weir_graph_now(g) + dice(30), NULL); break;
    case 1: v = dice(3) ? v : some_vertex_of(g, "core"); /* fall through */
    case 2:
        if (v != WEIR_NONE)
            (void)!weir_vertex_set_state(g, v, weir_vertex_state(g, v) == WEIR_UP ? WEIR_DOWN : WEIR_UP, NULL);
        break;
    case 3:
        if (weir_job_count(g))
            (void)!weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL);
        break;
    case 4:
        if (rack != WEIR_NONE && weir_graph_add(g, rack, &d, &v, NULL) == WEIR_OK) {
            d.type = "core";
            (void)!weir_graph_add(g, v, &d, &v, NULL);
        }
        break;
    case 5: (void)!(dice(4) == 0 && node != WEIR_NONE && weir_graph_unlink(g, node, NULL)); break;
    default: run_job(g);
    }
}

static weir_graph *machine(void)
{
    static const char text[] = "cluster:1 [rack:2[node:40[core:3]] rack:3[node:4[socket:2[core:2]]]]";
    weir_graph *g = NULL;

    CHECK(weir_graph_parse(text, strlen(text), "test", "synthetic", &g, NULL) == WEIR_OK, "a machine");
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
    double turn = 70;
    struct trial t = {.g = machine(), .r = request("slot=3/core=2")};
    weir_graph *g = NULL;

    t.policy = (weir_policy){.name = "p", .order = orders[0].fields, .norder = 2, .turn = &turn};
    CHECK(weir_graph_dup(t.g, &g, NULL) == WEIR_OK, "a copy");
    CHECK(chosen(g, t.r, &t.policy, t.expected, sizeof t.expected) == WEIR_OK, "a turn");
    check_nomem(once, &t, "a turn");
    weir_graph_free(g);
    weir_request_free(t.r);
    weir_graph_free((weir_graph *)(uintptr_t)t.g);
}

/* ---- what makes no sense ---- */

static int64_t select_none(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v,
                           const double *score, size_t n, size_t min, size_t max, uint32_t *chosen_at)
{
    (void)data, (void)g, (void)r, (void)v, (void)score, (void)n, (void)min, (void)max, (void)chosen_at;
    return 0;
}

static void check_refused(void)
{
    static const char *const fields[][1] = {{"-id"}, {"size"}, {"rank"}, {"properties.k"}, {"node.properties.k"},
                                            {"id"}};
    static const char *const down[] = {"core"};
    double turn = 1;
    weir_graph *g = machine();
    weir_request *r = request("slot=1/node");
    weir_match_options o = {.mode = WEIR_PREVIEW};
    const weir_allocation *a;
    weir_err err;

    for (size_t i = 0; i < 9; i++) {
        weir_policy p = {
            .name = "p", .turn = &turn, .order = fields[i < 5 ? i : 5], .norder = i == 5 ? 0 : 1, .serial = 9};
        static const weir_choice choice = {.kind = WEIR_CHOOSE_FEWEST};
        p.keys = i == 6 ? keys : NULL;
        p.choice = i == 7 ? &choice : NULL;
        p.select = i == 8 ? select_none : NULL;
        now.by = &orders[0];
        o.policy = &p;
        err = (weir_err){0};
        CHECK(weir_match(g, r, &o, &a, &err) == WEIR_EINVAL && strstr(err.text, "policy p: a turn needs an order"),
              "case %zu: %s", i, err.text);
        p = (weir_policy){.name = "p", .descend = down, .ndescend = 1, .turn = &turn, .order = fields[5], .norder = 1};
        CHECK(weir_match(g, r, &o, &a, &err) == WEIR_EINVAL, "beside descend");
    }
    weir_request_free(r);
    weir_graph_free(g);
}

int main(void)
{
    for (uint32_t i = 1; i <= 4; i++) {
        seed = i * 77;
        run(150);
    }
    run_short_of_memory();
    check_refused();
    return check_report();
}
