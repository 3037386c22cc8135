/* copies.h - helpers of the tests of copies and merges: short forms, and random graphs with random jobs. */
#ifndef COPIES_H
#define COPIES_H

#include "check.h"
#include "dice.h"

#include "graph/graph.h"

static inline weir_graph *parse(const char *text, const char *format)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), "test", format, &g, &err) == WEIR_OK, "%.60s: %s", text, err.text);
    return g;
}

static inline weir_vertex at(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, path, &v, &err) == WEIR_OK, "%s: %s", path, err.text);
    return v;
}

static inline bool is_there(const weir_graph *g, const char *path)
{
    weir_vertex v;
    return weir_graph_lookup(g, path, &v, NULL) == WEIR_OK;
}

static inline void sound(const weir_graph *g, const char *what)
{
    weir_err err = {0};
    CHECK(weir_check(g, &err) == WEIR_OK, "%s: %s", what, err.text);
}

static inline void same(const weir_graph *a, const weir_graph *b, bool schedules, const char *what)
{
    weir_err err = {0};
    CHECK(weir_graph_compare(a, b, schedules, &err) == WEIR_OK, "%s: %s", what, err.text);
}

static inline void differ(const weir_graph *a, const weir_graph *b, const char *text)
{
    weir_err err = {0};

    CHECK(weir_graph_compare(a, b, true, &err) == WEIR_EINVAL && strstr(err.text, text), "%s: %s", text, err.text);
    CHECK(weir_graph_compare(b, a, true, NULL) == WEIR_EINVAL, "the other way round too: %s", text);
}

static inline weir_graph *dup(const weir_graph *g)
{
    weir_graph *c = NULL;
    weir_err err = {0};

    CHECK(weir_graph_dup(g, &c, &err) == WEIR_OK, "%s", err.text);
    return c;
}

/* Whoever has no parent, pools outside containment included. */
static inline uint32_t all_roots(const weir_graph *g, weir_vertex *list, uint32_t room)
{
    uint32_t n = 0;

    for (weir_vertex v = 0; v < weir_graph_limit(g) && n < room; v++)
        if (weir_vertex_live(g, v) && weir_vertex_parent(g, v) == WEIR_NONE)
            list[n++] = v;
    return n;
}

/* ---- random graphs ---- */

static int64_t next_id;
static bool templates = true;

/* Adds kids below v; ids are unique in the whole machine. */
static inline void grow(weir_graph *g, weir_vertex v)
{
    static const char *const types[] = {"cluster", "rack", "node", "socket", "core", "memory"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    uint32_t level = 0;

    while (level < 6 && strcmp(types[level], weir_vertex_type(g, v)) != 0)
        level++;
    if (level >= 4)
        return;
    level += 1 + dice(2);
    d.type = types[level];
    d.id = next_id += 100;
    d.size = level == 5 ? 4 + dice(12) : 1;
    d.unit = level == 5 && dice(2) ? "GB" : NULL;
    d.exclusive = dice(10) == 0;
    if (dice(6) == 0) {
        d.name = dice(2) && templates ? "n-${id}-${rack}-${size}" : NULL;
        d.rank = dice(2) ? (int64_t)dice(100) : WEIR_NO_RANK;
        (void)weir_graph_add(g, v, &d, NULL, NULL);
    } else {
        (void)weir_graph_add_many(g, v, &d, 1 + dice(dice(20) == 0 ? 70 : 5), 1, NULL, NULL);
    }
}

static inline void decorate(weir_graph *g)
{
    static const char *const keys[] = {"a", "b", "rack", "gen"}, *const values[] = {"\"\"", "7", "[1,{}]", "\"x y\""};
    weir_vertex v = some_vertex(g), w = some_vertex(g);

    (void)weir_vertex_set(g, v, (int)dice(3), keys[dice(4)], values[dice(4)], NULL);
    if (dice(2))
        (void)weir_edge_add(g, v, w, dice(2) ? "power" : "network", dice(2) ? "supplies" : "feeds",
                            dice(2) ? "draws" : NULL, NULL);
    if (dice(4) == 0)
        (void)weir_edge_unlink(g, w, "power", NULL);
}

static inline void use(weir_graph *g)
{
    static const char *const shapes[] = {"slot=1/core=2", "slot=2/node", "memory=3{-x}", "slot=1/memory=5"};
    weir_request *r = NULL;
    const weir_allocation *a;
    const char *text = shapes[dice(4)];
    weir_match_options o = {.mode = dice(2) ? WEIR_NOW : WEIR_RESERVE, .at = weir_graph_now(g)};

    if (dice(3) == 0) {
        (void)weir_vertex_allocate(g, some_vertex(g), 1 + dice(50), 1 + dice(4), weir_graph_now(g) + dice(10),
                                   weir_graph_now(g) + 11 + dice(40), NULL);
        return;
    }
    CHECK(weir_request_parse(text, strlen(text), "shape", &r, NULL) == WEIR_OK, "%s", text);
    (void)weir_request_set_duration(r, 1 + dice(60), NULL);
    (void)weir_match(g, r, &o, &a, NULL);
    weir_request_free(r);
}

static inline void step(weir_graph *g)
{
    weir_vertex v = some_vertex(g);

    switch (dice(12)) {
    case 0: (void)weir_vertex_set_state(g, v, dice(2) ? WEIR_UP : (int)dice(WEIR_STATES), NULL); break;
    case 1: grow(g, v); break;
    case 2:
        if (weir_vertex_parent(g, v) != WEIR_NONE && dice(3) == 0)
            (void)weir_graph_unlink(g, v, NULL);
        break;
    case 3: (void)weir_graph_advance(g, weir_graph_now(g) + dice(12), NULL); break;
    case 4:
        if (weir_job_count(g))
            (void)weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL);
        break;
    case 5:
    case 6: decorate(g); break;
    default: use(g); break;
    }
}

static inline weir_graph *random_graph(uint64_t from, int steps)
{
    weir_graph *g = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, other;

    seed = from;
    d.type = "cluster";
    d.id = 0;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a root");
    d.type = "panel";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &other, NULL) == WEIR_OK, "a pool of another subsystem");
    for (uint32_t i = 0, n = 5 + dice(20); i < n; i++)
        grow(g, some_vertex(g));
    (void)weir_edge_add(g, other, root, "power", "supplies", "draws", NULL);
    for (int i = 0; i < steps; i++)
        step(g);
    sound(g, "a random graph");
    return g;
}

#endif
