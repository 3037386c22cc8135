/* test_nogood.c - nogoods against a search without nogoods: random jobs on machines where the parts of a request
 * are spread out but hardly ever together; each request is matched on the machine and on a copy. */
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
    d.id = 0;
    d.size = size;
    (void)!weir_graph_add_many(g, parent, &d, count, 1, &v, NULL);
    return v;
}

static void add_rack(weir_graph *g, weir_vertex root, uint32_t nodes)
{
    weir_vertex rack = add(g, root, "rack", 1, 1);

    for (uint32_t i = 0; i < nodes; i++) {
        weir_vertex node = add(g, rack, "node", 1, 1);
        for (uint32_t k = 0, n = 1 + dice(2); k < n; k++) {
            weir_vertex socket = add(g, node, "socket", 1, 1);
            add(g, socket, "core", 2 + dice(3), 1);
            if (dice(3))
                add(g, socket, "gpu", 1 + dice(2), 1);
            if (dice(3))
                add(g, socket, "memory", 1, 8);
        }
    }
}

static weir_graph *machine(uint32_t racks, uint32_t nodes)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 1, 1);

    for (uint32_t i = 0; i < racks; i++)
        add_rack(g, root, nodes);
    return g;
}

static void change(weir_graph *g)
{
    weir_vertex v = some_vertex(g);
    char text[20];

    switch (dice(40)) {
    case 0: add_rack(g, weir_graph_root(g, NULL, 0), 1 + dice(3)); break;
    case 1:
        if (v != weir_graph_root(g, NULL, 0))
            (void)!weir_graph_unlink(g, v, NULL);
        break;
    case 2:
    case 3:
    case 4: (void)!weir_vertex_set_state(g, v, dice(3) ? WEIR_UP : WEIR_DOWN, NULL); break;
    case 5:
    case 6:
        snprintf(text, sizeof text, "%u", dice(50));
        (void)!weir_vertex_set(g, v, WEIR_PROPERTIES, "speed", text, NULL);
        break;
    case 7:
    case 8:
    case 9: (void)!weir_graph_advance(g, weir_graph_now(g) + dice(20), NULL); break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        if (weir_job_count(g))
            (void)!weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL);
        break;
    default: break;
    }
}

/* Prefers the last vertices. */
static int64_t take_last(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v,
                         const double *score, size_t n, size_t min, size_t max, uint32_t *chosen)
{
    (void)data, (void)g, (void)r, (void)v, (void)score, (void)min;
    for (size_t i = 0; i < max; i++)
        chosen[i] = (uint32_t)(n - 1 - i);
    return (int64_t)max;
}

static const char *const fillers[] = {"slot=%u/core",   "slot=%u/gpu",  "slot=%u/memory=3",
                                      "slot=%u/socket", "slot=%u/node", "slot=%u/core=2"};
#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))
static const char *const shapes[] = {"socket/slot=%u/[core;gpu]",
                                     "node/slot/[core=%u;gpu]",
                                     "slot=%u/[core=2;gpu]",
                                     "node/socket/slot/[core=%u;gpu;memory=3]",
                                     "rack/node=%u/socket/slot/[core;gpu]",
                                     "slot=%u/node/[socket/core=3;gpu]",
                                     "rack/slot=%u/[core;gpu]",
                                     "slot=%u/socket/[core=3;gpu]",
                                     "slot=%u+/[core;memory=4]",
                                     "node=%u/[slot/[core;gpu]]",
                                     "slot=%u/node/socket=2/[core=3;gpu]",
                                     "socket=%u/slot/[core;memory=5]",
                                     "slot=%u/socket/[core=3;gpu=2;memory=8]"};

/* A request out of few, so that equal requests repeat. */
static weir_request *some_request(bool filler, uint32_t shape)
{
    char text[80];
    weir_request *r = NULL;

    if (filler)
        snprintf(text, sizeof text, fillers[dice(COUNT(fillers))], 1 + dice(30));
    else
        snprintf(text, sizeof text, shapes[(shape + dice(2)) % COUNT(shapes)], 1 + dice(dice(4) ? 1 : 3));
    CHECK(weir_request_parse(text, strlen(text), "shape", &r, NULL) == WEIR_OK, "%s is a request", text);
    if (dice(5))
        (void)!weir_request_set_duration(r, filler ? 1 + dice(60) : 10 + 40 * dice(2), NULL);
    return r;
}

/* Matches a request on both graphs; false: the answers differ. */
static bool compare(weir_graph *g, const weir_policy *p, bool filler, uint32_t shape)
{
    static const int modes[] = {WEIR_NOW, WEIR_PREVIEW, WEIR_PREVIEW, WEIR_FEASIBLE, WEIR_RESERVE};
    weir_request *r = some_request(filler, shape);
    weir_match_options o = {.mode = filler && dice(4) ? WEIR_RESERVE : modes[dice(COUNT(modes))],
                            .at = weir_graph_now(g),
                            .policy = p,
                            .strict = dice(6)   ? 0
                                      : dice(2) ? WEIR_STRICT_SLOTS
                                                : WEIR_STRICT_POOLS};
    const weir_allocation *a = NULL, *b = NULL;
    weir_err err = {0};
    weir_graph *copy;
    int rc, other;
    bool like;

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a machine is copied");
    other = weir_match(copy, r, &o, &b, NULL);
    rc = weir_match(g, r, &o, &a, &err);
    weir_request_free(r);
    like = rc == other && (rc || !a || same(a, b));
    CHECK(like, "%s, mode %d, strict %u: %s and %s", p->name, o.mode, o.strict, weir_status_name(rc),
          weir_status_name(other));
    if (o.mode == WEIR_PREVIEW) {
        weir_allocation_free(a);
        weir_allocation_free(b);
    }
    weir_graph_free(copy);
    return like;
}

static void run(uint64_t from, int steps)
{
    static const char *const up[] = {"id"}, *const down[] = {"-id", "-index"},
                             *const speed[] = {"-properties.speed", "node.id"}, *const socket[] = {"socket"},
                             *const free_most[] = {"core", "gpu"};
    static const weir_policy policies[] = {
        {.name = "first"},
        {.name = "low", .order = up, .norder = 1},
        {.name = "high", .order = down, .norder = 2},
        {.name = "speed", .order = speed, .norder = 2},
        {.name = "keys", .keys = by_speed, .serial = 7},
        {.name = "exclusive", .exclusive = socket, .nexclusive = 1},
        {.name = "local", .order = up, .norder = 1, .locality = socket, .nlocality = 1},
        {.name = "last", .order = up, .norder = 1, .select = take_last},
        {.name = "descend", .descend = free_most, .ndescend = 2}};
    weir_graph *g;
    weir_err err = {0};

    seed = from;
    g = machine(1 + dice(6), 8 + dice(60));
    for (int i = 0; i < steps; i++) {
        uint32_t p = dice(3) ? 1 + (uint32_t)from / 1000003 % 4 : dice(COUNT(policies));
        change(g);
        if (!compare(g, &policies[p], dice(4) == 0 || i < 8, (uint32_t)from / 1000003) ||
            (i % 16 == 0 && !CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text))) {
            printf("seed %llu step %d\n", (unsigned long long)from, i);
            break;
        }
    }
    weir_graph_free(g);
}

/* the purpose of nogoods */

static uint64_t visits(weir_graph *g, const char *shape, int want)
{
    static const char *const up[] = {"id"};
    static const weir_policy low = {.name = "low", .order = up, .norder = 1};
    weir_stats stats = {0};
    weir_match_options o = {.mode = WEIR_PREVIEW, .policy = &low, .stats = &stats};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;

    CHECK(weir_request_parse(shape, strlen(shape), "shape", &r, NULL) == WEIR_OK, "%s is a request", shape);
    CHECK(weir_match(g, r, &o, &a, NULL) == want, "%s: %s", shape, weir_status_name(want));
    weir_allocation_free(a);
    weir_request_free(r);
    return stats.visited;
}

/* All gpus of the first half in use, and all cores of the second; all cores 0 to 9 of the first, and all gpus of the
 * second. */
static weir_graph *split(uint32_t racks)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 1, 1);

    for (uint32_t i = 0; i < racks * 10; i++) {
        weir_vertex rack = i % 10 ? weir_vertex_child(g, root, i / 10) : add(g, root, "rack", 1, 1);
        weir_vertex node = add(g, rack, "node", 1, 1);
        for (int k = 0; k < 2; k++) {
            weir_vertex socket = add(g, node, "socket", 1, 1);
            weir_vertex core = add(g, socket, "core", 4, 1), gpu = add(g, socket, "gpu", 1, 1);
            for (uint32_t c = 0; c < 4 && k; c++)
                (void)!weir_vertex_allocate(g, core + c, 1 + i, 1, 0, WEIR_FOREVER, NULL);
            if (!k)
                (void)!weir_vertex_allocate(g, gpu, 1 + i, 1, 0, WEIR_FOREVER, NULL);
        }
    }
    return g;
}

static void test_visits(void)
{
    static const char *const list[] = {"socket/slot/[core;gpu]", "node/socket/slot/[core;gpu]",
                                       "rack/node/socket/slot/[core=2;gpu]", "node=2/socket/slot/[core;gpu]"};
    weir_graph *g = split(20);

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        uint64_t first = visits(g, list[i], WEIR_EBUSY);
        CHECK(first >= 200, "%s is looked for everywhere: %llu visits", list[i], (unsigned long long)first);
        CHECK(visits(g, list[i], WEIR_EBUSY) <= 20, "%s is known not to be there", list[i]);
    }
    CHECK(weir_release(g, 150, NULL) == WEIR_OK, "a node becomes free");
    for (size_t i = 0; i < 3; i++) {
        uint64_t now = visits(g, list[i], WEIR_OK), then = visits(g, list[i], WEIR_OK);
        CHECK(now <= 60, "%s: what has changed is looked at: %llu visits", list[i], (unsigned long long)now);
        CHECK(then <= 50, "%s is known to be there: %llu visits", list[i], (unsigned long long)then);
    }
    weir_graph_free(g);
}

/* Nodes of 12 sockets; the gpus of the first 10 of each are in use. */
static weir_graph *halves(uint32_t nodes)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 1, 1);

    for (uint32_t i = 0; i < nodes; i++) {
        weir_vertex node = add(g, root, "node", 1, 1);
        for (uint32_t k = 0; k < 12; k++) {
            weir_vertex socket = add(g, node, "socket", 1, 1), gpu;
            add(g, socket, "core", 2, 1);
            gpu = add(g, socket, "gpu", 1, 1);
            if (k < 10)
                (void)!weir_vertex_allocate(g, gpu, 1, 1, 0, WEIR_FOREVER, NULL);
        }
    }
    return g;
}

/* The node and the socket of the matched socket with a core and a gpu, as 100 * node + socket. */
static int taken_of(weir_graph *g)
{
    static const char *const speed[] = {"-properties.speed"};
    static const weir_policy fast = {.name = "fast", .order = speed, .norder = 1};
    weir_match_options o = {.mode = WEIR_PREVIEW, .policy = &fast, .duration = 100};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    weir_vertex socket = WEIR_NONE, root = weir_graph_root(g, NULL, 0);
    int at = -1;

    CHECK(weir_request_parse("socket/slot/[core;gpu]", 22, "shape", &r, NULL) == WEIR_OK, "a request");
    if (weir_match(g, r, &o, &a, NULL) == WEIR_OK)
        socket = weir_vertex_parent(g, a->picks[0].vertex);
    for (int i = 0; socket != WEIR_NONE && i < 24; i++)
        if (weir_vertex_child(g, weir_vertex_child(g, root, (uint32_t)i / 12), (uint32_t)i % 12) == socket)
            at = i / 12 * 100 + i % 12;
    weir_allocation_free(a);
    weir_request_free(r);
    return at;
}

static void set_speed(weir_graph *g, int at, const char *speed)
{
    weir_vertex node = weir_vertex_child(g, weir_graph_root(g, NULL, 0), (uint32_t)at / 100);
    CHECK(weir_vertex_set(g, weir_vertex_child(g, node, (uint32_t)at % 100), WEIR_PROPERTIES, "speed", speed, NULL) ==
              WEIR_OK,
          "set");
}

static void test_order(void)
{
    weir_graph *g = halves(2);

    for (int i = 0; i < 20; i++)
        set_speed(g, i / 10 * 100 + i % 10, "1000");
    set_speed(g, 10, "3");
    set_speed(g, 110, "2");
    CHECK(taken_of(g) == 10 && taken_of(g) == 10, "the faster one of those that are left");
    set_speed(g, 11, "99");
    set_speed(g, 110, "50");
    CHECK(taken_of(g) == 11, "the fastest, after they have changed: %d", taken_of(g));
    weir_graph_free(g);
}

/* A reservation stands against jobs of long duration, until the reservation is released. */
static void test_window(void)
{
    weir_graph *g = halves(2);
    weir_vertex root = weir_graph_root(g, NULL, 0);

    for (uint32_t i = 0; i < 4; i++) {
        weir_vertex socket = weir_vertex_child(g, weir_vertex_child(g, root, i / 2), 10 + i % 2);
        CHECK(weir_vertex_allocate(g, weir_vertex_child(g, socket, 2), 2, 1, 50, 60, NULL) == WEIR_OK,
              "a gpu is reserved");
    }
    CHECK(taken_of(g) == -1 && taken_of(g) == -1, "not for so long");
    CHECK(visits(g, "socket/slot/[core;gpu]", WEIR_EBUSY) >= 24 && visits(g, "socket/slot/[core;gpu]", WEIR_EBUSY) < 10,
          "it is known");
    CHECK(weir_release(g, 2, NULL) == WEIR_OK, "the reservation goes");
    CHECK(taken_of(g) == 10, "it fits: %d", taken_of(g));
    weir_graph_free(g);
}

/* ---- without memory ---- */

static int once(void *arg)
{
    weir_match_options o = {.mode = WEIR_PREVIEW};
    weir_err err = {0}, broken = {0};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    weir_graph *g = NULL;
    int rc = weir_graph_dup(arg, &g, &err);

    rc = rc ? rc : weir_request_parse("socket/slot/[core;gpu]", 22, "shape", &r, &err);
    for (int i = 0; i < 2 && !rc; i++) {
        rc = weir_match(g, r, &o, &a, &err);
        weir_allocation_free(a);
        rc = rc == WEIR_EBUSY ? WEIR_OK : rc;
        err = (weir_err){0};
    }
    if (g) {
        weir_mem_fail_after(0);
        CHECK(weir_check(g, &broken) == WEIR_OK, "after %s: %s", weir_status_name(rc), broken.text);
    }
    weir_request_free(r);
    weir_graph_free(g);
    return rc;
}

int main(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int runs = scale ? (int)(12 * atof(scale)) : 12;
    weir_graph *g = split(3);

    for (int i = 1; i <= (runs ? runs : 1); i++)
        run((uint64_t)i * 1000003, 250);
    test_visits();
    test_order();
    test_window();
    check_nomem(once, g, "a search in vain");
    weir_graph_free(g);
    return check_report();
}
