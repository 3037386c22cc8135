/* test_misuse.c - senseless calls: each is refused with a code and a text, and has changed nothing. Among the
 * calls are changes while a match runs on the graph, and absent objects.
 */
#include "check.h"

#include <math.h>

#include "weir.h"

#define MACHINE "cluster:1 rack:2 node:2 core:2"

static weir_graph *g;
static weir_vertex root, rack, node, freed;
static weir_request *request;

static weir_vertex at(const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s is there", path);
    return v;
}

/* Job 1 has a core of the first node; `freed` was a vertex once. */
static void open_machine(void)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    const weir_allocation *a;
    weir_match_options o = {.duration = 1000, .job = 1};

    CHECK(weir_graph_parse(MACHINE, strlen(MACHINE), "t", NULL, &g, NULL) == WEIR_OK, "a machine");
    CHECK(weir_request_parse("slot/core", 9, "t", &request, NULL) == WEIR_OK, "a request");
    root = weir_graph_root(g, NULL, 0);
    rack = at("/cluster0/rack0");
    node = at("/cluster0/rack0/node0");
    d.type = "thing";
    CHECK(weir_graph_add(g, root, &d, &freed, NULL) == WEIR_OK && weir_graph_unlink(g, freed, NULL) == WEIR_OK,
          "added, and gone");
    CHECK(weir_edge_add(g, rack, node, "power", "feeds", NULL, NULL) == WEIR_OK, "an edge");
    CHECK(weir_graph_advance(g, 100, NULL) == WEIR_OK, "the clock");
    o.at = 100;
    CHECK(weir_match(g, request, &o, &a, NULL) == WEIR_OK, "a job");
}

static void close_machine(void)
{
    weir_graph_free(g);
    weir_request_free(request);
}

/* ---- wrong arguments ------------------------------------------------------------------------------------------- */

static int add(weir_vertex parent, const char *type, int64_t size, weir_err *err)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;

    d.type = type;
    d.size = size;
    return weir_graph_add(g, parent, &d, &v, err);
}

static int add_none(weir_err *err)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;

    d.type = "node";
    return weir_graph_add_many(g, rack, &d, 0, 1, &v, err);
}

static int match(weir_match_options o, weir_err *err)
{
    const weir_allocation *a = NULL;
    int rc = weir_match(g, request, &o, &a, err);

    CHECK(rc == WEIR_OK || !a, "nothing comes out");
    return rc;
}

static int numbers(void *data, const weir_graph *graph, weir_vertex v, double out[WEIR_ORDER_KEYS])
{
    (void)data, (void)graph, (void)v;
    out[0] = 0;
    return 1;
}

static int no_number(void *data, const weir_graph *graph, weir_vertex v, double out[WEIR_ORDER_KEYS])
{
    (void)data, (void)graph, (void)v;
    out[0] = NAN;
    return 1;
}

static int detach(int64_t job, weir_err *err)
{
    weir_detached *x = NULL;
    int rc = weir_job_detach(g, job, &x, err);

    CHECK(rc != WEIR_OK && !x, "nothing comes out");
    weir_detached_free(x);
    return rc;
}

static int book(weir_pick pick, int64_t job, int64_t end, weir_err *err)
{
    const weir_allocation *a = NULL;
    weir_losses lost = {0};
    int rc = weir_job_allocate(g, &(weir_booking){job, 100, end, &pick, 1}, &a, &lost, err);

    CHECK(rc != WEIR_OK && !a && !lost.list, "nothing comes out");
    return rc;
}

static int commit(int64_t stage, int64_t job, weir_err *err)
{
    const weir_allocation *a = NULL;

    return weir_stage_commit(g, stage, job, &a, NULL, err);
}

/* Commits a stage under the id of a job, and drops the stage. */
static int commit_as(int64_t job, weir_err *err)
{
    const weir_allocation *a = NULL;
    weir_match_options o = {.at = 100, .duration = 50, .stage = 120};
    int rc, dropped;

    CHECK(weir_match(g, request, &o, &a, NULL) == WEIR_OK && a->job < 0, "a stage");
    rc = commit(-a->job, job, err);
    dropped = weir_stage_drop(g, -a->job, NULL);
    CHECK(dropped == WEIR_OK && !weir_stage_at(g, 0), "the stage is there as before");
    return rc;
}

static int split(weir_vertex v, weir_err *err)
{
    weir_vertex part = WEIR_NONE;

    return weir_graph_split(g, v, 1, &part, err);
}

/* Chooses the first candidate twice, or one behind the last. */
static int64_t select_wrong(void *data, const weir_graph *graph, const weir_resource *r, const weir_vertex *v,
                            const double *score, size_t n, size_t min, size_t max, uint32_t *chosen)
{
    (void)graph, (void)r, (void)v, (void)score, (void)min, (void)max;
    chosen[0] = data ? (uint32_t)n : 0;
    if (!data)
        chosen[1] = 0;
    return data ? 1 : 2;
}

static int match_two(weir_policy p, weir_err *err)
{
    weir_match_options o = {.at = 100, .duration = 1, .policy = &p};
    const weir_allocation *a = NULL;
    weir_request *two = NULL;
    int rc;

    CHECK(weir_request_parse("slot=2/core", 11, "t", &two, NULL) == WEIR_OK, "a request");
    rc = weir_match(g, two, &o, &a, err);
    weir_request_free(two);
    return rc;
}

static int match_by(weir_policy p, weir_err *err)
{
    return match((weir_match_options){.at = 100, .duration = 1, .policy = &p}, err);
}

static int explain(int64_t start, weir_vertex where, weir_err *err)
{
    weir_match_options o = {.at = start};
    weir_level *levels = NULL;
    uint32_t n;
    int rc = weir_explain_levels(g, request, &o, where, &levels, &n, err);

    CHECK(rc == WEIR_OK || !levels, "nothing comes out");
    weir_levels_free(levels);
    return rc;
}

static int walk(weir_vertex start, const char *subsystem, weir_err *err)
{
    weir_walk_options o = {.start = start, .subsystem = subsystem};
    weir_walk *w = weir_walk_new(g, &o, err);

    CHECK(w || err->code, "a walk or why not");
    weir_walk_free(w);
    return err->code;
}

static int jobs_of(weir_vertex v, weir_err *err)
{
    int64_t *list = NULL;
    uint32_t n;
    int rc = weir_vertex_jobs(g, v, &list, &n, err);

    weir_free(list);
    return rc;
}

static int lookup(const char *uri, weir_err *err)
{
    weir_vertex v;
    return weir_graph_lookup(g, uri, &v, err);
}

static int put_piece(weir_err *err)
{
    size_t len = (1 << 24) + 1;
    weir_pieces *p = weir_pieces_new();
    char *text = calloc(1, len);
    int rc = weir_pieces_put(p, "meta", text, len, err);

    CHECK(!weir_pieces_at(p, 0, NULL, NULL, NULL), "it is not in the list");
    weir_pieces_free(p);
    free(text);
    return rc;
}

/* The calls of `wanted`, in order. */
static int call(int row, weir_err *err)
{
    switch (row) {
    case 0: return add(freed, "node", 1, err);
    case 1: return add(rack, "", 1, err);
    case 2: return add(rack, "node", -1, err);
    case 3: return add(rack, "node", WEIR_UNITS_MAX, err);
    case 4: return add_none(err);
    case 5: return weir_graph_unlink(g, freed, err);
    case 6: return weir_edge_add(g, root, freed, "power", "feeds", NULL, err);
    case 7: return weir_edge_add(g, root, rack, "", "feeds", NULL, err);
    case 8: return weir_edge_add(g, root, rack, "containment", "contains", NULL, err);
    case 9: return weir_edge_unlink(g, freed, "power", err);
    case 10: return weir_edge_unlink(g, rack, NULL, err);
    case 11: return weir_edge_unlink(g, root, "power", err);
    case 12: return weir_vertex_set_state(g, freed, WEIR_DOWN, err);
    case 13: return weir_vertex_set_state(g, node, WEIR_STATES, err);
    case 14: return weir_vertex_set_rank(g, freed, 1, err);
    case 15: return weir_vertex_set_rank(g, node, -2, err);
    case 16: return weir_vertex_set(g, freed, WEIR_TAGS, "a", "b", err);
    case 17: return weir_vertex_set(g, node, 3, "a", "b", err);
    case 18: return weir_vertex_set(g, node, WEIR_TAGS, "", "b", err);
    case 19: return match((weir_match_options){.mode = 9, .at = 100, .duration = 1}, err);
    case 20: return match((weir_match_options){.at = 99, .duration = 1}, err);
    case 21: return match((weir_match_options){.at = 100, .duration = -1}, err);
    case 22: return match_by((weir_policy){.name = "x", .keys = numbers}, err);
    case 23: return match((weir_match_options){.at = 100, .duration = 1, .job = 1}, err);
    case 24: return explain(99, WEIR_NONE, err);
    case 25: return explain(100, freed, err);
    case 26: return walk(freed, NULL, err);
    case 27: return walk(root, "water", err);
    case 28: return jobs_of(freed, err);
    case 29: return lookup("water:/rack0", err);
    case 30: return lookup("rack0", err);
    case 31: return lookup("power:/rack7", err);
    case 32: return lookup("/cluster0/rack0/node9/core0", err);
    case 33: return weir_graph_advance(g, 99, err);
    case 34: return weir_release(g, 7, err);
    case 35: return weir_vertex_allocate(g, freed, 9, 1, 100, 200, err);
    case 36: return weir_vertex_release(g, node, 9, 0, err);
    case 37: return weir_job_shrink(g, 1, &freed, 1, err);
    case 38: return weir_graph_save(g, "/nonexistent/x", "sqlite", 8, err);
    case 39: return put_piece(err);
    case 40: return match((weir_match_options){.at = 100, .duration = 1, .job = -1}, err);
    case 41: return weir_vertex_allocate(g, node, 0, 1, 100, 200, err);
    case 42:
        return match_by(
            (weir_policy){.name = "x", .order = (const char *const[]){"id", "id", "id", "id", "id"}, .norder = 5}, err);
    case 43: return match_by((weir_policy){.name = "x", .keys = no_number, .serial = 1}, err);
    case 44: return weir_job_shrink(g, 77, &node, 1, err);
    case 45: return detach(77, err);
    case 46:
        return match_by((weir_policy){.name = "x", .order = (const char *const[]){"id", "colour"}, .norder = 2}, err);
    case 47: return match_by((weir_policy){.order = (const char *const[]){"properties."}, .norder = 1}, err);
    case 48: return match((weir_match_options){.at = 100, .duration = 1, .whole = "blob"}, err);
    case 49: return match((weir_match_options){.at = 100, .duration = 1, .stage = 100}, err);
    case 50: return match((weir_match_options){.at = 100, .duration = 1, .stage = 150, .job = 3}, err);
    case 51: return match((weir_match_options){.at = 100, .duration = 1, .stage = 150, .mode = WEIR_PREVIEW}, err);
    case 52: return book((weir_pick){.vertex = freed}, 9, 200, err);
    case 53: return book((weir_pick){.vertex = node, .amount = 2}, 9, 200, err);
    case 54: return book((weir_pick){.vertex = node}, -9, 200, err);
    case 55: return book((weir_pick){.vertex = node}, 9, 100, err);
    case 56: return commit(5, 9, err);
    case 57: return commit_as(-9, err);
    case 58: return split(freed, err);
    case 59: return weir_vertex_set_unit(g, freed, "GB", err);
    case 60: return weir_graph_attach(g, freed, root, err);
    case 61: return weir_edge_remove(g, root, freed, "power", "feeds", err);
    case 62: return weir_job_allocate(g, &(weir_booking){.job = 9, .start = 100, .end = 200}, NULL, NULL, err);
    case 63: return match_two((weir_policy){.name = "x", .select = select_wrong}, err);
    case 64: return match_two((weir_policy){.name = "x", .select = select_wrong, .data = err}, err);
    default: return WEIR_OK;
    }
}

static const struct {
    int code;
    const char *text;
} wanted[] = {
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "type"},
    {WEIR_EINVAL, "size"},
    {WEIR_ELIMIT, "the sizes of all pools add up to more than 2305843009213693951"},
    {WEIR_EINVAL, "0 vertices cannot be added"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "an edge joins two vertices that are there"},
    {WEIR_EINVAL, "an edge needs a subsystem and a type"},
    {WEIR_EINVAL, "containment"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "subsystem"},
    {WEIR_ENOENT, "power"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "there is no state 7"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "rank -2 is out of range"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "there is no map 3"},
    {WEIR_EINVAL, "a key must not be empty"},
    {WEIR_EINVAL, "there is no match mode 9"},
    {WEIR_EINVAL, "the start 99 us is before the clock, 100 us"},
    {WEIR_EINVAL, "a duration of -1 us"},
    {WEIR_EINVAL, "a policy with an order function needs a serial number"},
    {WEIR_EEXIST, "1"},
    {WEIR_EINVAL, "the start 99 us is before the clock, 100 us"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "to start from"},
    {WEIR_ENOENT, "there is no subsystem 'water'"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "there is no subsystem 'water'"},
    {WEIR_EINVAL, "'rack0' is not a URI: subsystem:/path/to/resource or /path/to/resource"},
    {WEIR_ENOENT, "there is no 'rack7' at the top; there is 'rack0'"},
    {WEIR_ENOENT, "there is no 'node9' below /cluster0/rack0"},
    {WEIR_EINVAL, "clock"},
    {WEIR_ENOENT, "7"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "9"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "there is no such flag for saving: 8"},
    {WEIR_ELIMIT, "16777216 bytes of a piece"},
    {WEIR_EINVAL, "job id -1 is negative"},
    {WEIR_EINVAL, "a job id is a positive number, not 0"},
    {WEIR_EPOLICY, "policy x: order has 5 fields, at most 4 are possible"},
    {WEIR_EPOLICY, "policy x: order gave a key that is not a number"},
    {WEIR_ENOENT, "there is no job 77"},
    {WEIR_ENOENT, "there is no job 77"},
    {WEIR_EPOLICY, "policy x: order field 'colour' is not known"},
    {WEIR_EPOLICY, "policy ?: order field 'properties.' is not known"},
    {WEIR_ENOENT, "there is no type 'blob' to be given as a whole"},
    {WEIR_EINVAL, "a stage expires after the clock, 100 us"},
    {WEIR_EINVAL, "a stage has a number of its own, and the mode now or reserve"},
    {WEIR_EINVAL, "a stage has a number of its own, and the mode now or reserve"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_EINVAL, "2 units of a pool of 1 cannot be allocated"},
    {WEIR_EINVAL, "job id -9 is negative"},
    {WEIR_EINVAL, "the allocation ends at 100 us, not after its start at 100 us"},
    {WEIR_ENOENT, "there is no stage 5"},
    {WEIR_EINVAL, "job id -9 is negative"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "there is no vertex"},
    {WEIR_ENOENT, "an edge joins two vertices that are there"},
    {WEIR_EINVAL, ""},
    {WEIR_EPOLICY, "select (it chose what is no candidate, or the same twice)"},
    {WEIR_EPOLICY, "select (it chose what is no candidate, or the same twice)"},
};

static void test_arguments(void)
{
    weir_graph *before = NULL;

    CHECK(weir_graph_dup(g, &before, NULL) == WEIR_OK, "a copy");
    for (int i = 0; i < (int)(sizeof wanted / sizeof *wanted); i++) {
        weir_err err = {0};
        int rc = call(i, &err);
        CHECK(rc == wanted[i].code && err.code == rc, "row %d: %s, %s", i, weir_status_name(rc), err.text);
        CHECK(strstr(err.text, wanted[i].text), "row %d: %s, not %s", i, err.text, wanted[i].text);
        CHECK(weir_graph_compare(g, before, true, NULL) == WEIR_OK, "row %d changes nothing", i);
    }
    CHECK(weir_graph_compare(g, before, true, NULL) == WEIR_OK && weir_check(g, NULL) == WEIR_OK, "all is as it was");
    weir_graph_free(before);
}

/* ---- while a match runs ---------------------------------------------------------------------------------------- */

/* Calls for changes to the graph. */
static int change(int row, weir_err *err)
{
    switch (row) {
    case 0: return add(rack, "node", 1, err);
    case 1: return add(WEIR_NONE, "node", 1, err);
    case 2: return weir_graph_unlink(g, node, err);
    case 3: return weir_edge_add(g, root, node, "power", "feeds", NULL, err);
    case 4: return weir_edge_unlink(g, node, "power", err);
    case 5: return weir_vertex_set_state(g, node, WEIR_DOWN, err);
    case 6: return weir_vertex_set_rank(g, node, 5, err);
    case 7: return weir_release(g, 1, err);
    case 8: return weir_graph_advance(g, 200, err);
    case 9: return match((weir_match_options){.at = 100, .duration = 1}, err);
    case 10: return explain(100, WEIR_NONE, err);
    case 11: return weir_vertex_allocate(g, node, 9, 1, 100, 200, err);
    case 12: return detach(1, err);
    case 13: return weir_job_shrink(g, 1, &node, 1, err);
    case 14: return weir_vertex_release(g, node, 1, 0, err);
    case 15: return weir_vertex_set(g, node, WEIR_TAGS, "a", "b", err);
    case 16: return weir_graph_merge(g, g, NULL, err);
    case 17: return weir_graph_set_uuid(g, "5eed5eed-0000-4000-8000-000000000002", err);
    case 18: return weir_graph_set_validity(g, 0, 1000, err);
    case 19: return weir_graph_rewind(g, 50, err);
    case 20: return split(node, err);
    case 21: return weir_vertex_set_unit(g, node, "GB", err);
    case 22: return commit(1, 9, err);
    case 23: return weir_stage_drop(g, 1, err);
    case 24: return weir_graph_attach(g, node, root, err);
    case 25: return weir_edge_remove(g, rack, node, "power", "feeds", err);
    case 26: return match((weir_match_options){.at = 100, .duration = 1, .subsystem = "power"}, err);
    default: return WEIR_OK;
    }
}
#define CHANGES 27

static int meddle(void *data, const weir_graph *graph, weir_vertex v, const weir_resource *r)
{
    int *tried = data;

    (void)graph, (void)v, (void)r;
    for (int i = 0; i < CHANGES && *tried < CHANGES; i++, ++*tried) {
        weir_err err = {0};
        int rc = change(i, &err);
        CHECK(rc == WEIR_EINVAL && strstr(err.text, "while a match runs"), "change %d: %s, %s", i, weir_status_name(rc),
              err.text);
    }
    return 1;
}

static void test_matching(void)
{
    weir_graph *before = NULL;
    int tried = 0;
    weir_policy p = {.name = "meddler", .prune = meddle, .data = &tried};
    const weir_allocation *a = NULL;
    weir_match_options o = {.mode = WEIR_PREVIEW, .at = 100, .duration = 5, .policy = &p};

    CHECK(weir_graph_dup(g, &before, NULL) == WEIR_OK, "a copy");
    CHECK(weir_match(g, request, &o, &a, NULL) == WEIR_OK && a->npicks == 1, "the match goes on");
    CHECK(tried == CHANGES, "%d were tried", tried);
    weir_allocation_free(a);
    CHECK(weir_graph_compare(g, before, true, NULL) == WEIR_OK && weir_check(g, NULL) == WEIR_OK, "all is as it was");
    weir_graph_free(before);
}

static void test_building(void)
{
    weir_err err = {0};
    weir_graph *n = weir_graph_new();
    const weir_allocation *a = NULL;
    weir_match_options o = {.duration = 1};

    weir_graph_begin(n);
    CHECK(weir_match(n, request, &o, &a, &err) == WEIR_EINVAL && strstr(err.text, "still being built"), "%s", err.text);
    weir_err_clear(&err);
    CHECK(weir_graph_save(n, "/nonexistent/x", "sqlite", 0, &err) == WEIR_EINVAL &&
              strstr(err.text, "still being built"),
          "%s", err.text);
    CHECK(weir_graph_end(n, NULL) == WEIR_OK && weir_match(n, request, &o, &a, NULL) == WEIR_EINFEASIBLE,
          "then it is matched");
    weir_err_clear(&err);
    CHECK(weir_graph_lookup(n, "/cluster0", &root, &err) == WEIR_ENOENT && strstr(err.text, "is empty"), "%s",
          err.text);
    weir_err_clear(&err);
    CHECK(weir_graph_lookup(n, "/", &root, &err) == WEIR_ENOENT && strstr(err.text, "is empty"), "%s", err.text);
    weir_graph_free(n);
}

/* absent objects */

static void test_ends(void)
{
    weir_vertex v, end = at("/cluster0/rack0/node0/");
    weir_edge e;

    CHECK(end == node && at("/") == root && at("//cluster0//rack0") == rack, "slashes at the end and twice");
    CHECK(!weir_vertex_edge(g, rack, "water", true, 0, &e) && !weir_vertex_edge(g, rack, "power", true, 1, &e),
          "no such edge");
    CHECK(!weir_vertex_edge(g, root, "containment", false, 0, &e) && !weir_vertex_edge(g, root, NULL, false, 1, &e),
          "none to a root");
    CHECK(weir_vertex_edge(g, rack, NULL, false, 0, &e) && e.source == root && strcmp(e.back, "in") == 0,
          "one to a rack");
    for (uint32_t i = 0; (v = weir_vertex_child(g, root, i)) != WEIR_NONE; i++)
        CHECK(weir_vertex_parent(g, v) == root && i < weir_vertex_children(g, root), "child %u", i);
    CHECK(strcmp(weir_status_name(-99), "error") == 0, "a status that is none");
}

/* Notes for the next save need memory, too. */
static void test_bytes(void)
{
    weir_pieces *p = NULL;
    size_t before = weir_graph_bytes(g);

    CHECK(weir_graph_pieces(g, NULL, &p, NULL) == WEIR_OK && weir_pieces_stored(p, g, NULL) == WEIR_OK, "pieces");
    CHECK(weir_vertex_set(g, node, WEIR_TAGS, "a", "b", NULL) == WEIR_OK && weir_graph_bytes(g) > before, "bytes");
    weir_pieces_free(p);
}

/* A NULL hostlist reads as empty, and cannot be changed. */
static void test_no_hostlist(void)
{
    weir_hostlist *out = NULL;
    weir_err err = {0};
    char buf[8];

    CHECK(weir_hostlist_count(NULL) == 0 && weir_hostlist_bytes(NULL) == 0 &&
              weir_hostlist_nth(NULL, 0, buf, sizeof buf) == 0 && weir_hostlist_find(NULL, "a", 1) == -1 &&
              weir_hostlist_equal(NULL, NULL),
          "NULL reads as empty");
    CHECK(weir_hostlist_copy(NULL, &out) == WEIR_EINVAL && !out && weir_hostlist_index(NULL) == WEIR_EINVAL,
          "nothing to copy");
    CHECK(weir_hostlist_delete_at(NULL, 0) == WEIR_ENOENT, "nothing to delete");
    CHECK(!weir_hostlist_format(NULL, &err) && err.code == WEIR_EINVAL && strstr(err.text, "there is no list"), "%s",
          err.text);
}

/* Items added after a look-up in the list are found, too. */
static void test_accum(void)
{
    weir_accum *a = weir_accum_new(3);
    static const struct {
        double score;
        weir_vertex best[3];
    } steps[] = {
        {1, {0, WEIR_NONE, WEIR_NONE}},
        {3, {1, 0, WEIR_NONE}},
        {2, {1, 2, 0}},
        {2, {1, 2, 3}},
        {0, {1, 2, 3}},
        {9, {5, 1, 2}},
        {3, {5, 1, 6}},
        {9, {5, 7, 1}},
    };

    for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double score = -1;
        CHECK(weir_accum_add(a, i, steps[i].score) == WEIR_OK, "added");
        for (size_t k = 0; k < 4; k++)
            CHECK(weir_accum_get(a, k, &score) == (k < 3 ? steps[i].best[k] : WEIR_NONE), "after %u, place %zu: %u", i,
                  k, weir_accum_get(a, k, NULL));
    }
    CHECK(weir_accum_add(a, 8, NAN) == WEIR_EINVAL && weir_accum_count(a) == 3, "no number");
    weir_accum_free(a);
}

int main(void)
{
    open_machine();
    test_arguments();
    test_matching();
    test_ends();
    test_bytes();
    test_building();
    test_no_hostlist();
    test_accum();
    close_machine();
    return check_report();
}
