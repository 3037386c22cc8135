/* test_candidate_index.c - all vertices of a type in order: after each change of a machine, the updated index
 * equals a new index. */
#include <stdio.h>

#include "index/candidate_index.h"
#include "check.h"
#include "dice.h"

#define POLICIES 3
#define TYPES    2

static const char *const orders[POLICIES][2] = {{"id", NULL}, {"-id", "-index"}, {"node.id", "id"}};
static const char *const types[TYPES] = {"node", "core"};

static weir_vertex add(weir_graph *g, weir_vertex parent, const char *type, int64_t id, uint32_t count)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = id;
    (void)!weir_graph_add_many(g, parent, &d, count, 1, &v, NULL);
    return v;
}

static void add_rack(weir_graph *g, weir_vertex root, int64_t id)
{
    weir_vertex rack = add(g, root, "rack", id, 1);

    for (int64_t i = 0; i < 6; i++) {
        weir_vertex node = add(g, rack, "node", dice(20) ? id * 6 + i : (int64_t)dice(200), 1);
        add(g, node, "core", 0, 1 + dice(5));
    }
}

static struct index *list_of(weir_graph *g, uint32_t policy, uint32_t type)
{
    weir_policy p = {.order = orders[policy], .norder = orders[policy][1] ? 2 : 1};
    struct index *x = NULL;

    if (weir_index_get(g, &p, NULL, NULL, weir_type_find(g, types[type]), INDEX_ANY, &x, NULL))
        return NULL;
    return x;
}

/* Makes all indices, or checks the existing ones; with `kept` all of them must still exist. */
static void check_lists(weir_graph *g, bool kept, uint32_t step)
{
    for (uint32_t i = 0; i < POLICIES * TYPES; i++) {
        struct index *x = list_of(g, i % POLICIES, i / POLICIES);
        if (!CHECK(x != NULL, "step %u, index %u", step, i))
            continue;
        CHECK(!kept || x->list, "step %u, list %u: it is changed, not made anew", step, i);
        CHECK(weir_index_list_check(g, x), "step %u, list %u: as one made anew", step, i);
        CHECK(weir_index_list(g, x) == WEIR_OK, "step %u, list %u", step, i);
    }
}

static void change(weir_graph *g, weir_vertex root, int64_t step)
{
    weir_vertex rack = some_vertex_of(g, "rack"), node = some_vertex_of(g, "node");

    switch (dice(5)) {
    case 0: add_rack(g, root, step); break;
    case 1: add_rack(g, root, (int64_t)dice(30)); break;
    case 2: (void)!weir_graph_unlink(g, rack, NULL); break;
    case 3: (void)!weir_graph_unlink(g, dice(3) ? node : some_vertex_of(g, "core"), NULL); break;
    default: (void)!(node != WEIR_NONE && add(g, node, "core", (int64_t)dice(9), 1)); break;
    }
}

/* `short_of`: an allocation fails in some changes; an index dropped by that is made anew. */
static void run(uint32_t steps, bool short_of)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 0, 1);

    for (int64_t i = 0; i < 8; i++)
        add_rack(g, root, i);
    check_lists(g, false, 0);
    for (uint32_t step = 1; step <= steps; step++) {
        if (short_of && dice(3) == 0)
            weir_mem_fail_after((long)dice(6) + 1);
        change(g, root, step + 30);
        weir_mem_fail_after(0);
        check_lists(g, !short_of, step);
        CHECK(weir_check(g, NULL) == WEIR_OK, "step %u", step);
    }
    weir_graph_free(g);
}

/* More types than there are indexes: the index of a search in progress stays while the resources of a slot need others.
 */
static void test_many_types(void)
{
    static const char *const up[] = {"id"};
    const weir_policy low = {.name = "low", .order = up, .norder = 1};
    weir_match_options o = {.mode = WEIR_NOW, .policy = &low};
    weir_graph *g = weir_graph_new();
    weir_vertex root = add(g, WEIR_NONE, "cluster", 0, 1);
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    weir_buf shape = {0};
    weir_err err = {0};
    char type[16];

    for (int64_t n = 0; n < 4; n++) {
        weir_vertex node = add(g, root, "node", n, 1);
        for (int i = 0; i < INDEX_MAX + 9; i++) {
            snprintf(type, sizeof type, "t%c%c", 'a' + i / 26, 'a' + i % 26);
            add(g, node, type, 0, 1);
            if (n == 0) {
                weir_buf_puts(&shape, i == 0 ? "slot=3/[" : ";");
                weir_buf_puts(&shape, type);
            }
        }
    }
    weir_buf_puts(&shape, "]");
    CHECK(weir_request_parse(shape.data, shape.len, "shape", &r, &err) == WEIR_OK, "%s", err.text);
    for (int i = 0; i < 2; i++) {
        CHECK(weir_match(g, r, &o, &a, &err) == WEIR_OK && a->npicks == 3 * (INDEX_MAX + 9), "a slot of many types: %s",
              err.text);
        CHECK(indexes_in(g)->n <= INDEX_MAX + 1, "%u indexes are left", indexes_in(g)->n);
        CHECK(weir_check(g, &err) == WEIR_OK && a && weir_release(g, a->job, &err) == WEIR_OK, "%s", err.text);
        for (uint32_t k = 0; k < indexes_in(g)->n; k++)
            CHECK(indexes_in(g)->list[k]->searches == 0, "index %u is in no search", k);
    }
    weir_buf_free(&shape);
    weir_request_free(r);
    weir_graph_free(g);
}

int main(void)
{
    run(400, false);
    run(400, true);
    test_many_types();
    return check_report();
}
