/* test_walk.c - several visits read at once equal the visits read singly, over random machines, options and
 * prunings; the fields read with visits equal the fields of the vertices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"

#define MOST 33 /* visits at once */

/* ---- machines ---- */

static weir_vertex add(weir_graph *g, weir_vertex parent, const char *type, uint32_t count)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = dice(5) ? (int64_t)dice(9) : WEIR_NO_ID;
    d.size = 1 + dice(3);
    /* refused below a vertex held as a whole */
    (void)!weir_graph_add_many(g, parent, &d, count, 1, &v, NULL);
    return v;
}

static void change(weir_graph *g)
{
    static const char *const types[] = {"node", "core", "gpu", "socket"};
    weir_vertex v = some_vertex(g), other = some_vertex(g);

    switch (dice(8)) {
    case 0:
    case 1: add(g, v, types[dice(4)], 1); break;
    case 2: add(g, v, types[dice(4)], 1 + dice(70)); break;
    case 3: (void)!weir_vertex_set_state(g, v, dice(3) ? WEIR_UP : WEIR_DOWN, NULL); break;
    case 4: (void)!weir_vertex_allocate(g, v, 1 + dice(1000), 1, 0, WEIR_FOREVER, NULL); break;
    case 5: (void)!weir_edge_add(g, v, other, "power", "supplies", NULL, NULL); break;
    case 6: add(g, WEIR_NONE, "cluster", 1); break;
    default:
        if (weir_vertex_parent(g, v) != WEIR_NONE && weir_vertex_children(g, v) < 4)
            (void)!weir_graph_unlink(g, v, NULL);
    }
}

static weir_graph *machine(uint32_t changes)
{
    weir_graph *g = weir_graph_new();

    add(g, WEIR_NONE, "cluster", 1);
    for (uint32_t i = 0; i < changes; i++)
        change(g);
    return g;
}

/* singly, and several at once */

static weir_walk_options options(const weir_graph *g)
{
    weir_walk_options o = {.start = dice(3) ? WEIR_NONE : some_vertex(g), .events = dice(4)};

    o.leaves = dice(2);
    o.reverse = dice(4) == 0;
    o.breadth = dice(6) == 0;
    o.type = dice(4) ? NULL : "core";
    o.upward = o.start != WEIR_NONE && dice(4) == 0;
    o.subsystem = dice(5) || weir_subsystem_count(g) < 2 ? NULL : "power";
    return o;
}

/* Whether a walk is not to descend below v. */
static bool pruned(weir_vertex v, uint32_t salt)
{
    return salt && (v * 2654435761u ^ salt) % 5 == 0;
}

static void check_fields(const weir_graph *g, const weir_walk_visit *x)
{
    weir_vertex v = x->vertex;

    CHECK(x->type == weir_vertex_type(g, v) && x->id == weir_vertex_id(g, v) && x->size == weir_vertex_size(g, v) &&
              x->generation == weir_vertex_generation(g, v) && weir_vertex_is(g, v, x->generation & 1023),
          "vertex %u: type %s, id %lld", v, x->type, (long long)x->id);
    CHECK(x->free == weir_vertex_free(g, v), "vertex %u: free %lld", v, (long long)x->free);
}

/* Walks g both ways; false: the visits differ. */
static bool same_walks(const weir_graph *g, const weir_walk_options *o, uint32_t salt, int most)
{
    weir_walk *one = weir_walk_new(g, o, NULL), *many = weir_walk_new(g, o, NULL);
    weir_walk_visit list[MOST];
    weir_vertex v = WEIR_NONE;
    bool same = true;
    int n, event;

    if (!one || !many) /* a subsystem that is all cycles has no root to start from */
        return CHECK(!one && !many, "both walks or none");
    while (same && (n = weir_walk_read(many, list, most, NULL)) > 0) {
        for (int i = 0; same && i < n; i++) {
            event = weir_walk_next(one, &v, NULL);
            same = CHECK(event == list[i].event && v == list[i].vertex, "vertex %u, and not %u", v, list[i].vertex);
            check_fields(g, &list[i]);
            if (event == WEIR_POSTORDER || !pruned(v, salt))
                continue;
            weir_walk_prune(one);
            if (i + 1 == n)
                weir_walk_prune(many);
        }
        same &= CHECK(n <= most, "at most %d", most);
    }
    same &= CHECK(!same || weir_walk_next(one, &v, NULL) == WEIR_WALK_DONE, "ends with the other");
    CHECK(!same || weir_walk_read(many, list, most, NULL) == 0, "stays at its end");
    weir_walk_free(one);
    weir_walk_free(many);
    return same;
}

static void test_random(void)
{
    for (int round = 0; round < 40; round++) {
        weir_graph *g = machine(10 + dice(120));
        for (int i = 0; i < 60; i++) {
            weir_walk_options o = options(g);
            if (!same_walks(g, &o, dice(3) ? dice(1000) : 0, 1 + (int)dice(MOST)))
                printf("    round %d, walk %d\n", round, i);
        }
        weir_graph_free(g);
    }
}

/* ---- changes on the way ---- */

static void test_change(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 1), core = add(g, root, "core", 8);
    weir_walk_options o = {.start = WEIR_NONE, .leaves = true};
    weir_walk *w = weir_walk_new(g, &o, NULL);
    weir_walk_visit list[4] = {{0}};
    weir_err err = {0};
    uint64_t revision;

    CHECK(weir_walk_read(w, list, 4, NULL) == 1 && list[0].vertex == root, "what may be pruned comes last");
    CHECK(weir_walk_read(w, list, 4, NULL) == 4 && list[3].vertex == core + 3, "leaves come together");
    revision = weir_graph_revision(g);
    CHECK(weir_vertex_unavailable(g, 0) == WEIR_NONE, "all vertices are available");
    CHECK(weir_vertex_set_state(g, core + 3, WEIR_DOWN, NULL) == WEIR_OK && weir_graph_revision(g) != revision,
          "a change shows");
    CHECK(weir_vertex_unavailable(g, 0) == core + 3 && weir_vertex_unavailable(g, core + 3) == core + 3, "one is down");
    CHECK(weir_vertex_unavailable(g, core + 4) == WEIR_NONE, "none behind it");
    CHECK(list[3].free > 0 && (weir_walk_visit_read(g, &list[3]), list[3].free == 0), "and is read");
    CHECK(weir_walk_read(w, list, 4, NULL) == 4 && list[0].vertex == core + 4, "data may change");
    CHECK(weir_graph_unlink(g, core, NULL) == WEIR_OK, "unlink");
    CHECK(weir_walk_read(w, list, 4, &err) == WEIR_EINVAL, "the structure may not: %s", err.text);
    weir_walk_free(w);
    CHECK(!weir_vertex_is(g, core, 0) && !weir_vertex_is(g, weir_graph_limit(g), 0), "what went, and what never was");
    weir_graph_free(g);
}

/* ---- an order of the caller ---- */

/* Turns the vertices that come next the other way round. Returns how many there are. */
static uint32_t turn(weir_walk *w)
{
    uint32_t n;
    const weir_vertex *ends = weir_walk_ends(w, &n);
    weir_vertex list[200];

    CHECK(n < 200, "%u vertices below one", n);
    for (uint32_t i = 0; i < n && n < 200; i++)
        list[i] = ends[n - 1 - i];
    CHECK(n == 0 || n >= 200 || weir_walk_reorder(w, list, n, NULL) == WEIR_OK, "another order");
    return n;
}

/* An ordered walk in which each list is turned visits what a walk in reverse visits; of trees, where the order of roots
 * and children decides alone. */
static void test_ordered(void)
{
    for (int i = 0; i < 30; i++) {
        weir_graph *g = machine(20 + dice(60));
        weir_walk_options o = {.start = dice(3) ? WEIR_NONE : some_vertex(g), .events = 3, .ordered = true}, r = o;
        weir_walk *ordered, *plain;
        weir_vertex v = WEIR_NONE, u = WEIR_NONE;
        int event, wanted;

        r.ordered = false;
        if (o.start == WEIR_NONE && weir_graph_root(g, NULL, 1) != WEIR_NONE)
            o.start = r.start = weir_graph_root(g, NULL, 1); /* roots have no reverse order */
        r.reverse = true;
        ordered = weir_walk_new(g, &o, NULL);
        plain = weir_walk_new(g, &r, NULL);
        do {
            turn(ordered);
            event = weir_walk_next(ordered, &v, NULL);
            wanted = weir_walk_next(plain, &u, NULL);
            CHECK(event == wanted, "event %d, wanted is %d", event, wanted);
            CHECK(event <= 0 || (v == u && weir_walk_depth(ordered) == weir_walk_depth(plain)),
                  "event %d of vertex %u, wanted are %d and %u", event, v, wanted, u);
        } while (event > 0 && wanted > 0);
        weir_walk_free(ordered);
        weir_walk_free(plain);
        weir_graph_free(g);
    }
}

static void test_reorder(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 1), node = add(g, root, "node", 3), v;
    weir_vertex list[] = {node, node + 2, node + 1};
    weir_walk_options o = {.start = WEIR_NONE, .ordered = true};
    weir_walk *w = weir_walk_new(g, &o, NULL), *plain;
    weir_err err = {0};
    uint32_t n;

    CHECK(weir_walk_ends(w, &n) && n == 1, "one start");
    CHECK(weir_walk_next(w, &v, NULL) == WEIR_PREORDER && v == root, "the root");
    CHECK(weir_walk_ends(w, &n)[1] == node + 1 && n == 3, "three nodes");
    CHECK(weir_walk_reorder(w, list, 2, &err) == WEIR_EINVAL && strstr(err.text, "another number"), "%s", err.text);
    CHECK(weir_walk_reorder(w, list, 3, NULL) == WEIR_OK, "another order");
    for (int i = 0; i < 3; i++)
        CHECK(weir_walk_next(w, &v, NULL) == WEIR_PREORDER && v == list[i], "node %d is vertex %u", i, v);
    CHECK(!weir_walk_ends(w, &n) && n == 0, "nothing is below a node");
    CHECK(weir_walk_next(w, &v, NULL) == WEIR_WALK_DONE && weir_walk_next(w, &v, NULL) == WEIR_WALK_DONE, "the end");
    weir_walk_free(w);
    o.ordered = false;
    plain = weir_walk_new(g, &o, NULL);
    CHECK(!weir_walk_ends(plain, &n) && weir_walk_reorder(plain, list, 3, NULL) == WEIR_EINVAL, "not of a plain walk");
    weir_walk_free(plain);
    weir_graph_free(g);
}

/* ---- memory ---- */

static bool ordered;

static int walk_all(void *graph)
{
    weir_walk_options o = {.start = WEIR_NONE, .leaves = true, .ordered = ordered};
    weir_walk *w = weir_walk_new(graph, &o, NULL);
    weir_walk_visit list[MOST];
    int n = w ? 1 : WEIR_ENOMEM;

    while (n > 0)
        n = weir_walk_read(w, list, MOST, NULL);
    weir_walk_free(w);
    return n;
}

int main(void)
{
    weir_graph *g;

    seed = 7;
    test_random();
    test_change();
    test_ordered();
    test_reorder();
    g = machine(100);
    check_nomem(walk_all, g, "a walk");
    ordered = true;
    check_nomem(walk_all, g, "an ordered walk");
    weir_graph_free(g);
    return check_report();
}
