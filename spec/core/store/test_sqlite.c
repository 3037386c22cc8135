/* test_sqlite.c - graphs in a database: round trips and saves of changes on random graphs with random jobs,
 * written rows and rows left alone, equal answers afterwards. Bad files: test_sqlite_bad.c; kills:
 * test_sqlite_kill.c. Requirements: L4, L7, L8, P2, P12.
 */
#include "stored.h"
#include "stores.h"

static void round_trips(void)
{
    for (int64_t i = 1; i <= scaled(60); i++) {
        weir_graph *g = random_graph((uint64_t)i, 120), *back;
        save(g, 0);
        back = load();
        same_all(g, back);
        same_answers(g, back);
        weir_graph_free(back);
        weir_graph_free(g);
    }
    stores_clear();
}

/* ---- saves of changes ---- */

/* Compares the visible rows with a whole save of the graph. */
static void same_rows(weir_graph *g)
{
    static const char *const tables[] = {"kind",   "name",      "uuid", "state",     "property", "tag",
                                         "data",   "subsystem", "edge", "job",       "pick",     "feed",
                                         "vertex", "path",      "jobs", "job_nodes", "node_free"};
    weir_graph *copy = dup(g);
    char whole[100], sql[500];

    snprintf(whole, sizeof whole, "%s.whole", file);
    CHECK(weir_graph_save(copy, whole, "sqlite", 0, NULL) == WEIR_OK, "a whole save");
    weir_graph_free(copy);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM (SELECT * FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM whole.%s)"
                 " UNION ALL SELECT * FROM (SELECT * FROM whole.%s EXCEPT SELECT * FROM main.%s))",
                 tables[i], tables[i], tables[i], tables[i]);
        CHECK(ask_with(whole, sql) == 0, "[L8] %s is as after a whole save", tables[i]);
    }
    remove(whole);
}

/* Continues with the loaded graph now and then. */
static void save_changes(void)
{
    for (int64_t i = 1; i <= scaled(30); i++) {
        weir_graph *g = random_graph((uint64_t)(1000 + i), 30), *back;
        for (int round = 0; round < 12; round++) {
            for (uint32_t k = dice(30); k-- > 0;) {
                step(g);
                another_step(g);
            }
            sound(g, "what is to be saved");
            save(g, dice(10) ? WEIR_SAVE_CHANGED : 0);
            back = load();
            if (!back)
                break;
            same_all(g, back);
            if (round % 6 == 5)
                same_rows(g);
            if (dice(2)) {
                weir_graph_free(g);
                g = back;
            } else {
                weir_graph_free(back);
            }
        }
        CHECK(ask("SELECT count(*) FROM vertex") == weir_graph_count(g), "all vertices are in the view");
        CHECK(ask("SELECT sum(count) FROM run") == weir_graph_limit(g), "all numbers are in runs");
        weir_graph_free(g);
        stores_clear();
    }
    for (int i = 0; i < 4; i++)
        CHECK(done[i] > 5, "%u of sort %d were done", done[i], i);
}

/* Unchanged rows are not written: a change made by hand stays. */
static void leaves_the_rest(void)
{
    weir_graph *g = parse("cluster:1 rack:2 node:3 core:4 memory:1(size=8)", "synthetic"), *back;
    weir_vertex node = at(g, "/cluster0/rack0/node0"), other = at(g, "/cluster0/rack1/node4");
    const weir_allocation *a;

    save(g, 0);
    by_hand("INSERT INTO state SELECT vertex, 'down' FROM vertex WHERE name = 'node4'");
    CHECK(answer(g, "slot=1/node", NULL, WEIR_NOW, &a) == WEIR_OK, "a match");
    CHECK(weir_vertex_set(g, node, WEIR_TAGS, "x", "1", NULL) == WEIR_OK, "a tag");
    save(g, WEIR_SAVE_CHANGED);
    back = load();
    CHECK(weir_vertex_state(back, other) == WEIR_DOWN, "[L8] a vertex that did not change is left alone");
    CHECK(weir_job_count(back) == 1 && weir_vertex_get(back, node, WEIR_TAGS, "x"), "[L8] what changed is there");
    weir_graph_free(back);
    save(g, 0);
    back = load();
    CHECK(weir_vertex_state(back, other) == WEIR_UP, "[L8] a save of everything writes everything");
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

static uint32_t count_changed(const weir_graph *g)
{
    weir_vertex *list = NULL;
    uint32_t n = 0;

    CHECK(weir_graph_changed(g, &list, &n, NULL) == WEIR_OK, "what changed");
    weir_free(list);
    return n;
}

/* More changes than the journal notes: all rows of that sort are written. */
static void overflow(void)
{
    weir_graph *g = parse("cluster:1 node:100 core:700", "synthetic"), *back;
    weir_vertex last = weir_graph_limit(g) - 1;

    CHECK(count_changed(g) == weir_graph_count(g), "[L8] before the first save everything is new");
    save(g, 0);
    CHECK(count_changed(g) == 0, "[L8] after a save nothing is");
    for (int round = 0; round < 3; round++)
        for (weir_vertex v = 10; v < 20010; v++)
            CHECK(weir_vertex_set_state(g, v, WEIR_DOWN + round, NULL) == WEIR_OK, "down");
    CHECK(!g->saves.journal->vertices.all && count_changed(g) == 20000,
          "the same vertices again do not fill the journal");
    save(g, WEIR_SAVE_CHANGED);
    for (weir_vertex v = 0; v <= last; v++)
        CHECK(weir_vertex_set(g, v, WEIR_TAGS, "t", "", NULL) == WEIR_OK, "a tag");
    CHECK(g->saves.journal->vertices.all && count_changed(g) == weir_graph_count(g), "too many are all");
    save(g, WEIR_SAVE_CHANGED);
    CHECK(count_changed(g) == 0, "and are forgotten by the save");
    back = load();
    same(g, back, true, "after too many changes");
    CHECK(weir_vertex_unset(g, last, WEIR_TAGS, "t") == WEIR_OK, "one tag less");
    save(g, WEIR_SAVE_CHANGED);
    weir_graph_free(back);
    back = load();
    same(g, back, true, "and after one change");
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

/* Kinds, edges and vertices that come and go between saves. */
static void structure(void)
{
    weir_graph *g = parse("cluster:1 node:4 core:2", "synthetic"), *back;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex node = at(g, "/cluster0/node1"), root = at(g, "/cluster0"), pdu, nic;
    weir_err err = {0};

    d.type = "pdu";
    d.id = 0;
    d.uuid = "01234567-89ab-4def-8123-456789abcdef";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_edge_add(g, pdu, node, "power", "supplies", "draws", &err) == WEIR_OK, "%s", err.text);
    save(g, 0);
    CHECK(weir_edge_add(g, pdu, root, "power", "supplies", NULL, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_unlink(g, node, &err) == WEIR_OK, "%s", err.text);
    d = (weir_pool_desc)WEIR_POOL_DESC_INIT;
    d.type = "nic";
    d.size = 100;
    d.unit = "Gb/s";
    CHECK(weir_graph_add(g, at(g, "/cluster0/node2"), &d, &nic, &err) == WEIR_OK, "%s", err.text);
    save(g, WEIR_SAVE_CHANGED);
    back = load();
    same_all(g, back);
    CHECK(weir_vertex_live(back, node) && weir_vertex_parent(back, node) == WEIR_NONE,
          "what left containment is kept by its other subsystem");
    CHECK(weir_edge_unlink(g, pdu, "power", &err) == WEIR_OK, "%s", err.text);
    save(g, WEIR_SAVE_CHANGED);
    weir_graph_free(back);
    back = load();
    same_all(g, back);
    CHECK(!weir_vertex_live(back, pdu) && ask("SELECT count(*) FROM uuid WHERE uuid LIKE '01234567-%'") == 0,
          "what is reclaimed leaves the file");
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

/* Units of a second subsystem remember their vertex, and are released with the vertex. */
static void channels(void)
{
    weir_graph *g = parse("cluster:1 node:4 core:2", "synthetic"), *back;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    const weir_allocation *a;
    weir_vertex pdu;
    int64_t job;
    char path[40];

    d.type = "pdu";
    d.size = 6;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/cluster0/node%d", i);
        CHECK(weir_edge_add(g, pdu, at(g, path), "power", "supplies", NULL, NULL) == WEIR_OK, "%s", path);
    }
    save(g, 0);
    CHECK(answer(g, "slot=2/node/[core=2;power=2]", NULL, WEIR_NOW, &a) == WEIR_OK, "two nodes of 2 kW");
    job = a->job;
    save(g, WEIR_SAVE_CHANGED);
    back = load();
    same_all(g, back);
    for (int i = 0; i < 2; i++) {
        weir_vertex node = at(g, i ? "/cluster0/node1" : "/cluster0/node0");
        CHECK(weir_job_shrink(g, job, &node, 1, NULL) == weir_job_shrink(back, job, &node, 1, NULL), "node %d", i);
        CHECK(weir_vertex_available(back, pdu, 0, 1) == 4 + 2 * i, "[G8] its power goes with a node");
        save(i ? g : back, 0);
        if (!i)
            same_all(g, back);
    }
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

/* The labels of a job: of its slots and of its policy. */
static void labels(void)
{
    weir_graph *g = parse("cluster:1 node:4 core:2", "synthetic"), *back;
    weir_policy p = {.name = "mine", .label = "mine@1f"};
    const weir_allocation *a;
    weir_vertex node = at(g, "/cluster0/node0");

    CHECK(answer(g, "slot=3/node", &p, WEIR_NOW, &a) == WEIR_OK, "three nodes");
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/node3"), 9, 1, 0, 50, NULL) == WEIR_OK, "one by hand");
    save(g, 0);
    back = load();
    CHECK(strcmp(weir_job_policy(back, 1), "mine@1f") == 0 && weir_job_get(back, 1)->nslots == 3, "policy and slots");
    CHECK(strcmp(weir_job_policy(back, 9), "") == 0 && weir_job_get(back, 9)->nslots == 0, "none by hand");
    weir_graph_free(back);
    CHECK(weir_job_shrink(g, 1, &node, 1, NULL) == WEIR_OK, "one node less");
    save(g, WEIR_SAVE_CHANGED);
    back = load();
    CHECK(weir_job_get(back, 1)->nslots == 2, "[L8] and a slot less");
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

/* Children out of the order of their numbers, with gaps between: places and UUIDs are kept. */
static void places(void)
{
    weir_graph *g = parse("cluster:1 node:40", "synthetic"), *back;
    weir_vertex root = at(g, "/cluster0");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    for (int i = 0; i < 40; i += 3) {
        char path[40];
        snprintf(path, sizeof path, "/cluster0/node%d", i);
        CHECK(weir_graph_unlink(g, at(g, path), NULL) == WEIR_OK, "%s goes", path);
    }
    d.type = "node";
    for (d.id = 100; d.id < 120; d.id++)
        CHECK(weir_graph_add(g, root, &d, NULL, NULL) == WEIR_OK, "another node");
    save(g, 0);
    back = load();
    same_all(g, back);
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

int main(void)
{
    stores_begin();
    round_trips();
    save_changes();
    leaves_the_rest();
    overflow();
    structure();
    channels();
    labels();
    places();
    stores_end();
    return check_report();
}
