/* test_merge.c - merging graphs and unlinking pools from subsystems: added and kept vertices, refused merges, and
 * unchanged graphs after a failure. Requirements: M4, M5, G11, P2.
 */
#include "copies.h"

/* ---- merge ---- */

/* Adds a child below every vertex, and a root: in equal graphs the new vertices get equal numbers. */
static void extend(weir_graph *g)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    uint32_t n = weir_graph_limit(g);
    bool *there = calloc(n, sizeof *there);
    char uuid[37];

    d.type = "extra";
    d.uuid = uuid;
    for (weir_vertex v = 0; there && v < n; v++)
        there[v] = weir_vertex_live(g, v);
    for (weir_vertex v = 0; there && v < n; v++) {
        /* A merge that failed may have used up numbers, from which UUIDs are derived: so each is given one. */
        snprintf(uuid, sizeof uuid, "00000000-0000-4000-8000-%012x", v);
        if (there[v])
            (void)weir_graph_add(g, v, &d, NULL, NULL);
    }
    snprintf(uuid, sizeof uuid, "00000000-0000-4000-8000-ffffffffffff");
    (void)weir_graph_add(g, WEIR_NONE, &d, NULL, NULL);
    free(there);
}

/* Checks that c, after a merge that failed, equals g and continues as g would. */
static void unchanged(const weir_graph *g, weir_graph *c, const char *what)
{
    weir_graph *next = dup(g);

    same(g, c, true, what);
    sound(c, what);
    CHECK(weir_subsystem_count(c) == weir_subsystem_count(g), "%s: no subsystem is left over", what);
    extend(next);
    extend(c);
    same(next, c, true, what);
    weir_graph_free(next);
}

static void refused(const weir_graph *g, const weir_graph *other, const char *uri, int code, const char *text)
{
    weir_graph *c = dup(g);
    weir_err err = {0};
    int rc = weir_graph_merge(c, other, uri, &err);

    CHECK(rc == code && strstr(err.text, text), "%s: %s: %s", text, weir_status_name(rc), err.text);
    unchanged(g, c, text);
    weir_graph_free(c);
}

/* A cluster with one rack, and in the rack one node made from d. */
static weir_graph *small(const weir_pool_desc *d, const char *property)
{
    weir_graph *g = parse("cluster:1 rack:1", "synthetic");
    weir_vertex v;

    CHECK(weir_graph_add(g, at(g, "/cluster0/rack0"), d, &v, NULL) == WEIR_OK, "a node");
    if (property)
        (void)weir_vertex_set(g, v, WEIR_PROPERTIES, "gen", property, NULL);
    return g;
}

static void test_merge_refused(void)
{
    static const struct {
        weir_pool_desc d;
        const char *property, *text;
    } rows[] = {
        {{"node", NULL, NULL, NULL, NULL, 7, 5, 3, false}, "1", "the size is '2' against '5'"},
        {{"box", "node", NULL, NULL, NULL, 7, 2, 3, false}, "1", "the type is 'node' against 'box'"},
        {{"node", NULL, NULL, "W", NULL, 7, 2, 3, false}, "1", "the unit is '' against 'W'"},
        {{"node", NULL, NULL, NULL, NULL, 7, 2, 4, false}, "1", "its rank is another one"},
        {{"node", NULL, NULL, NULL, NULL, 7, 2, 3, true}, "1", "the exclusive flag"},
        {{"node", "no", "node7", NULL, NULL, 7, 2, 3, false}, "1", "the basename is 'node' against 'no'"},
        {{"node", NULL, NULL, NULL, NULL, 7, 2, 3, false}, "2", "property 'gen' is '1', not '2'"},
    };
    const weir_pool_desc plain = {"node", NULL, NULL, NULL, NULL, 7, 2, 3, false};
    weir_graph *g = small(&plain, "1"), *two = parse("cluster:1 rack:1", "synthetic"), *empty = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_graph *other = small(&rows[i].d, rows[i].property);
        refused(g, other, NULL, WEIR_EEXIST, "/cluster0/rack0/node7 is there already");
        refused(g, other, "containment:/cluster0", WEIR_EEXIST, rows[i].text);
        weir_graph_free(other);
    }
    refused(g, two, "/cluster0/rack9/node1", WEIR_ENOENT, "rack9");
    refused(g, two, "cluster0", WEIR_EINVAL, "is not a URI");
    refused(g, two, "power:/cluster0", WEIR_ENOENT, "there is no subsystem");
    refused(g, two, "/cluster0/rack0", WEIR_EINVAL, "of type rack; a root of type cluster");
    refused(g, empty, "/cluster0", WEIR_EINVAL, "has none");
    CHECK(weir_graph_merge(g, g, NULL, NULL) == WEIR_EINVAL, "not into itself");
    d.type = "cluster";
    CHECK(weir_graph_add(two, WEIR_NONE, &d, NULL, NULL) == WEIR_OK, "a second root");
    refused(g, two, "/cluster0", WEIR_EINVAL, "has several");
    weir_graph_begin(empty);
    CHECK(weir_graph_merge(empty, g, NULL, NULL) == WEIR_EINVAL && weir_graph_count(empty) == 0,
          "not between begin and end");
    weir_graph_free(empty);
    weir_graph_free(two);
    weir_graph_free(g);
}

/* The first half of a merge fits, then a leaf held by a job cannot get children: the added half is removed again. */
static void test_merge_rolls_back(void)
{
    weir_graph *g = parse("cluster:1 rack:2 node:2", "synthetic");
    weir_graph *other = parse("cluster:1 rack:3 node:2 core:2", "synthetic");

    (void)weir_vertex_set(other, at(other, "/cluster0"), WEIR_TAGS, "more", "", NULL);
    (void)weir_edge_add(other, at(other, "/cluster0/rack0"), at(other, "/cluster0/rack2"), "power", "supplies", NULL,
                        NULL);
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/rack1/node3"), 1, 1, 0, 10, NULL) == WEIR_OK, "a node is taken");
    refused(g, other, NULL, WEIR_EBUSY, "cannot get children while jobs hold units");
    CHECK(weir_release(g, 1, NULL) == WEIR_OK && weir_graph_merge(g, other, NULL, NULL) == WEIR_OK,
          "[M4] then it goes");
    same(g, other, false, "[M4] all is there");
    sound(g, "after the merge");
    weir_graph_free(g);
    weir_graph_free(other);
}

/* G11: one definition of a rack, merged at several places. M4: growing by the difference to a second graph. */
static void test_merge_at(void)
{
    weir_graph *g = parse("cluster:1 rack:2", "synthetic"), *rack = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, v;
    char a[37], b[37];
    weir_err err = {0};

    d.type = "rack";
    CHECK(weir_graph_add(rack, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a rack");
    d.type = "node";
    d.uuid = "01234567-89ab-cdef-0123-456789abcdef";
    d.id = 0;
    CHECK(weir_graph_add(rack, root, &d, &v, NULL) == WEIR_OK, "a node");
    (void)weir_vertex_set(rack, v, WEIR_PROPERTIES, "fast", "", NULL);
    CHECK(weir_graph_merge(g, rack, "containment:/cluster0/rack0", &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_merge(g, rack, "/cluster0/rack1", &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_count(g) == 5, "[G11] each rack has its node");
    v = at(g, "/cluster0/rack1/node0");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_PROPERTIES, "fast"), ""), "[G11] with its properties");
    weir_vertex_uuid(g, v, a);
    weir_vertex_uuid(g, at(g, "/cluster0/rack0/node0"), b);
    CHECK(strcmp(a, b) != 0, "[P2] UUIDs of two pools differ, be they made from one definition");
    sound(g, "composed");
    weir_graph_free(rack);
    weir_graph_free(g);
}

static void test_merge_own(void)
{
    weir_graph *g = parse("cluster:1 rack:2", "synthetic"), *other = dup(g);
    weir_vertex v = at(g, "/cluster0/rack1");

    (void)weir_vertex_set(g, v, WEIR_TAGS, "x", "mine", NULL);
    (void)weir_vertex_set_state(g, v, WEIR_DOWN, NULL);
    (void)weir_vertex_set(other, v, WEIR_TAGS, "x", "other", NULL);
    (void)weir_vertex_set(other, v, WEIR_TAGS, "y", "new", NULL);
    (void)weir_vertex_set(other, v, WEIR_PROPERTIES, "p", "1", NULL);
    (void)weir_vertex_set_rank(other, v, 4, NULL);
    (void)weir_edge_add(other, 0, v, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, 0, v, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(other, 0, v, "power", "supplies", NULL, NULL);
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK, "merged");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_TAGS, "x"), "mine"), "[M4] what is there stays");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_TAGS, "y"), "new"), "[M4] what is new comes");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_PROPERTIES, "p"), "1") && weir_vertex_rank(g, v) == 4, "so do these");
    CHECK(weir_vertex_state(g, v) == WEIR_DOWN, "the state stays");
    CHECK(weir_edge_count(g) == 2, "[M4] an edge that is there is not added again");
    weir_graph_free(g);
    weir_graph_free(other);
}

/* Siblings of one name are matched in their order. */
static void test_merge_twins(void)
{
    weir_graph *g = weir_graph_new(), *other = parse("cluster:1", "synthetic");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = "memory";
    for (d.size = 4; d.size < 7; d.size++)
        CHECK(weir_graph_add(other, 0, &d, NULL, NULL) == WEIR_OK, "a vertex alike");
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK && weir_graph_count(g) == 4, "all vertices alike come");
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK && weir_graph_count(g) == 4, "and only once");
    same(g, other, false, "vertices alike");
    CHECK(weir_graph_unlink(g, weir_vertex_child(g, 0, 2), NULL) == WEIR_OK, "one goes");
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK && weir_graph_count(g) == 4, "and comes back");
    weir_graph_free(other);
    weir_graph_free(g);
}

/* ---- unlink (M5) ---- */

static void test_edge_unlink(void)
{
    weir_graph *g = parse("cluster:1 rack:1 node:2", "synthetic");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex pdu, node = at(g, "/cluster0/rack0/node0"), next = at(g, "/cluster0/rack0/node1");
    weir_edge e;
    weir_err err = {0};

    d.type = "pdu";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    CHECK(weir_edge_unlink(g, pdu, "power", &err) == WEIR_ENOENT && strstr(err.text, "/pdu is not in"), "%s", err.text);
    (void)weir_edge_add(g, pdu, node, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, pdu, next, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, node, next, "network", "links", NULL, NULL);
    CHECK(weir_edge_unlink(g, node, "containment", NULL) == WEIR_EINVAL, "containment is another matter");
    CHECK(weir_edge_unlink(g, node, NULL, NULL) == WEIR_EINVAL, "expected a name");
    CHECK(weir_edge_unlink(g, 999, "power", NULL) == WEIR_ENOENT, "no such vertex");
    CHECK(weir_edge_unlink(g, node, "storage", NULL) == WEIR_ENOENT, "not in that one");
    CHECK(weir_edge_unlink(g, node, "power", NULL) == WEIR_OK && weir_edge_count(g) == 2, "[M5] its edges there go");
    CHECK(weir_vertex_live(g, node) && weir_vertex_edge(g, node, "network", true, 0, &e),
          "[M5] it stays in the others");
    CHECK(weir_vertex_live(g, pdu) && weir_vertex_edge(g, pdu, "power", true, 0, &e) && e.target == next,
          "so does the pdu");
    CHECK(weir_vertex_allocate(g, pdu, 1, 1, 0, 10, NULL) == WEIR_OK, "somebody has it");
    CHECK(weir_edge_unlink(g, pdu, "power", NULL) == WEIR_EBUSY && weir_edge_count(g) == 2,
          "[M5] not while it is used");
    CHECK(weir_release(g, 1, NULL) == WEIR_OK, "released");
    CHECK(weir_edge_unlink(g, pdu, "power", NULL) == WEIR_OK && !weir_vertex_live(g, pdu), "[M5] in none: reclaimed");
    CHECK(weir_edge_count(g) == 1 && weir_vertex_live(g, next), "nothing else goes");
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu in two subsystems");
    (void)weir_edge_add(g, pdu, node, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, next, pdu, "cooling", "cools", NULL, NULL);
    CHECK(weir_edge_unlink(g, pdu, "power", NULL) == WEIR_OK && weir_vertex_live(g, pdu),
          "[M5] it is still in the other");
    CHECK(weir_edge_unlink(g, pdu, "cooling", NULL) == WEIR_OK && !weir_vertex_live(g, pdu), "[M5] and now in none");
    (void)weir_edge_add(g, node, node, "network", "loops", NULL, NULL);
    CHECK(weir_edge_unlink(g, node, "network", NULL) == WEIR_OK && weir_edge_count(g) == 0, "a loop goes once");
    sound(g, "after unlinking");
    weir_graph_free(g);
}

/* ---- failing allocations ---- */

/* A merge with a failing allocation; the graph on which the merge failed must be unchanged. */
static void nomem_merge(const weir_graph *g, const weir_graph *other, const char *uri)
{
    weir_graph *all = dup(g);
    long failed = 0;

    CHECK(weir_graph_merge(all, other, uri, NULL) == WEIR_OK, "it can be merged");
    for (long n = 1, through = 0; n < 100000 && through < 3; n++) {
        weir_graph *c = dup(g);
        int rc;
        weir_mem_fail_after(n);
        rc = weir_graph_merge(c, other, uri, NULL);
        weir_mem_fail_after(0);
        through = rc == WEIR_OK ? through + 1 : 0;
        failed += rc != WEIR_OK;
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "merge: allocation %ld: %s", n, weir_status_name(rc));
        if (rc) {
            unchanged(g, c, "[M4] a merge that failed has changed nothing");
        } else {
            same(all, c, true, "[M4] a merge that went through");
            sound(c, "after a merge");
        }
        weir_graph_free(c);
    }
    weir_graph_free(all);
    CHECK(failed > 10, "merge: %ld failed allocations", failed);
}

/* Most merged vertices exist already; a new root and a new subsystem come last. */
static void nomem_merge_own(void)
{
    weir_graph *g = parse("cluster:1 rack:3", "synthetic"), *other = dup(g);
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex pdu;

    d.type = "pdu";
    for (weir_vertex v = 0; v < 4; v++) {
        (void)weir_vertex_set(other, v, WEIR_TAGS, "x", "1", NULL);
        (void)weir_vertex_set(other, v, WEIR_EXTENDED, "y", "[]", NULL);
        (void)weir_vertex_set_rank(other, v, v, NULL);
    }
    CHECK(weir_graph_add(other, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a new root");
    for (weir_vertex v = 0; v < 4; v++) {
        (void)weir_edge_add(other, 1, v, "power", "supplies", "draws", NULL);
        (void)weir_edge_add(other, pdu, v, "cooling", "cools", NULL, NULL);
    }
    nomem_merge(g, other, NULL);
    weir_graph_free(other);
    weir_graph_free(g);
}

/* A random graph with one root, so that the graph can be merged at a URI. */
static weir_graph *random_tree(uint64_t from, int steps)
{
    for (;; from++) {
        weir_graph *g = random_graph(from, steps);
        if (weir_graph_root(g, NULL, 1) == WEIR_NONE)
            return g;
        weir_graph_free(g);
    }
}

static void test_nomem(void)
{
    weir_graph *g, *most = NULL, *two = parse("cluster:1 rack:2 node:2", "synthetic");
    weir_vertex list[4];

    g = random_tree(77, 200);
    templates = true;
    for (int i = 0; i < 4; i++)
        list[i] = some_vertex(g);
    CHECK(weir_graph_extract(g, list, 4, &most, NULL) == WEIR_OK, "a part");
    nomem_merge(most, g, NULL);
    nomem_merge(two, g, "/cluster0");
    nomem_merge_own();
    weir_graph_free(two);
    weir_graph_free(most);
    weir_graph_free(g);
}

int main(void)
{
    test_merge_refused();
    test_merge_rolls_back();
    test_merge_at();
    test_merge_own();
    test_merge_twins();
    test_edge_unlink();
    test_nomem();
    return check_report();
}
