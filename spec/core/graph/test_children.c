/* test_children.c - the children of a vertex by number, while children come and go: weir_vertex_child() agrees
 * with a list, in any order of calls, and continues from the child of the last call. */
#include "check.h"
#include "dice.h"
#include "graph/graph.h"

#define KIDS 400

static weir_graph *g;
static weir_vertex root, list[2 * KIDS]; /* the children in order */
static uint32_t n;

static void add(uint32_t count)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = "node";
    d.id = (int64_t)weir_graph_limit(g);
    for (uint32_t i = 0; i < count; i++, d.id++)
        n += CHECK(weir_graph_add(g, root, &d, &list[n], NULL) == WEIR_OK, "child %u", n);
}

static void drop(uint32_t i)
{
    CHECK(weir_graph_unlink(g, list[i], NULL) == WEIR_OK, "child %u goes", i);
    memmove(&list[i], &list[i + 1], (--n - i) * sizeof *list);
}

/* Asks for child i, and checks that the noted place is the place of the child, as neighbours are found from there. */
static void ask(uint32_t i)
{
    weir_vertex v = weir_vertex_child(g, root, i);
    const struct inner *in = inner_of(g, root);

    CHECK(v == (i < n ? list[i] : WEIR_NONE), "child %u of %u", i, n);
    if (i < n && in->holes > 0)
        CHECK(in->seen == i && in->seen_pos == vertex_at(g, v)->pos, "child %u is noted", i);
}

static void ask_all(void)
{
    for (uint32_t i = 0; i <= n; i++)
        ask(i);
    for (uint32_t i = n; i-- > 0;)
        ask(i);
    CHECK(weir_check(g, NULL) == WEIR_OK, "%u children", n);
}

static void open_machine(void)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    g = weir_graph_new();
    n = 0;
    d.type = "cluster";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a cluster");
    add(KIDS);
}

static void test_any_order(void)
{
    open_machine();
    for (uint32_t step = 0; step < 3000; step++) {
        if (n > 1 && dice(3) > 0)
            drop(dice(n));
        else if (n < KIDS)
            add(1 + dice(3));
        for (uint32_t i = dice(6); i > 0; i--)
            ask(dice(n + 1));
        if (step % 50 == 0)
            ask_all();
    }
    ask_all();
    weir_graph_free(g);
}

/* Takes a machine apart by the first child, by the last child, or during a loop over the children. */
static void test_taken_apart(void)
{
    for (int way = 0; way < 3; way++) {
        open_machine();
        for (uint32_t i = 0; n > 0; i = way == 2 ? (i + 1) % n : 0) {
            uint32_t which = way == 1 ? n - 1 : i;
            ask(which);
            drop(which);
            CHECK(inner_of(g, root)->seen <= n, "way %d, %u are left", way, n);
            if (n == 0)
                break;
        }
        ask_all();
        add(5);
        ask_all();
        weir_graph_free(g);
    }
}

/* A copy has the holes of the original. */
static void test_copies(void)
{
    weir_graph *first, *copy = NULL;

    open_machine();
    for (uint32_t i = 0; i < n; i++)
        drop(i);
    ask(n / 2);
    first = g;
    if (CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "a copy")) {
        g = copy;
        ask_all();
        g = first;
    }
    ask_all();
    weir_graph_free(copy);
    weir_graph_free(g);
}

int main(void)
{
    test_any_order();
    test_taken_apart();
    test_copies();
    return check_report();
}
