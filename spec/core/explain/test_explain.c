/* test_explain.c - weir_explain_levels: counts by cause, the hooks of a policy, one vertex, units, misuse, and what
 * happens without memory. What would have to change for a request to fit is tried out as the manual says. */
#include "check.h"
#include "weir.h"

static weir_graph *g;

static weir_request *request(const char *text)
{
    weir_request *r = NULL;
    weir_err err = {0};

    CHECK(weir_request_parse(text, strlen(text), NULL, &r, &err) == WEIR_OK, "%s: %s", text, err.text);
    return r;
}

static void load(const char *machine)
{
    weir_err err = {0};

    CHECK(weir_graph_parse(machine, strlen(machine), NULL, "synthetic", &g, &err) == WEIR_OK, "%s: %s", machine,
          err.text);
}

static void book(const char *shape, int64_t duration)
{
    weir_match_options o = {.mode = WEIR_NOW};
    const weir_allocation *a;
    weir_request *r = request(shape);

    CHECK(weir_request_set_duration(r, duration, NULL) == WEIR_OK, "duration");
    CHECK(weir_match(g, r, &o, &a, NULL) == WEIR_OK, "%s is booked", shape);
    weir_request_free(r);
}

static weir_vertex at(const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
    return v;
}

static weir_request *asked; /* by levels_of, whose levels have strings of the request */
static weir_level *counted;

static void forget(void)
{
    weir_levels_free(counted);
    weir_request_free(asked);
    counted = NULL;
    asked = NULL;
}

/* Sets *out to the levels of a request, valid until the next call or forget(). Returns the number of levels. */
static uint32_t levels_of(const char *shape, const weir_match_options *o, weir_vertex where, const weir_level **out)
{
    static const weir_match_options plain;
    uint32_t n = 0;
    weir_err err = {0};

    forget();
    asked = request(shape);
    CHECK(weir_explain_levels(g, asked, o ? o : &plain, where, &counted, &n, &err) == WEIR_OK, "%s: %s", shape,
          err.text);
    CHECK(weir_check(g, &err) == WEIR_OK, "the graph is in order: %s", err.text);
    *out = counted;
    return n;
}

static bool is_cause(const weir_cause *c, int by, const char *type, uint64_t count)
{
    return c->by == by && c->count == count && (type ? c->type && check_same(c->type, type) : !c->type);
}

static void test_causes(void)
{
    static const char *const exclusive[] = {"node"};
    weir_policy whole = {.name = "whole", .exclusive = exclusive, .nexclusive = 1};
    weir_match_options o = {.policy = &whole};
    const weir_level *level;

    load("cluster:1 rack:2 node:4 core:8");
    book("slot=3/node", 10);
    CHECK(weir_vertex_set_state(g, at("/cluster0/rack1/node7"), WEIR_DRAINING, NULL) == WEIR_OK, "draining");
    CHECK(levels_of("slot=5/node/core=8", NULL, WEIR_NONE, &level) == 2, "two levels");
    CHECK(check_same(level[0].type, "node") && level[0].resource == 1 && level[0].need == 1, "nodes");
    CHECK(level[0].visited == 8 && level[0].left == 4 && level[0].ncauses == 2, "all nodes");
    CHECK(is_cause(&level[0].causes[0], WEIR_CAUSE_EXCLUSIVITY, NULL, 3), "in use first");
    CHECK(is_cause(&level[0].causes[1], WEIR_CAUSE_STATE, NULL, 1), "then vertices that are not up");
    CHECK(check_same(level[1].type, "core") && level[1].visited == 64 && level[1].left == 32, "cores");
    CHECK(levels_of("slot=1/node/core=9", NULL, WEIR_NONE, &level) == 2, "a node too small");
    CHECK(level[0].ncauses == 1 && is_cause(&level[0].causes[0], WEIR_CAUSE_SMALL, "core", 8), "too few cores");
    CHECK(levels_of("slot=1/tpu", NULL, WEIR_NONE, &level) == 1, "a type that is not there");
    CHECK(check_same(level->type, "tpu") && check_same(level->unit, "") && level->visited == 0 && !level->causes,
          "none");

    o.at = 10;
    CHECK(levels_of("slot=5/node", &o, WEIR_NONE, &level) == 1 && level[0].left == 7, "after the end of the job");
    book("slot=1/core=1", 20);
    o.at = 0;
    CHECK(levels_of("slot=8/core", &o, WEIR_NONE, &level) == 1, "under a policy with whole nodes");
    CHECK(level[0].left == 24 && is_cause(&level[0].causes[0], WEIR_CAUSE_EXCLUSIVITY, NULL, 32),
          "with a node for a core");
    weir_graph_free(g);
}

static void test_where(void)
{
    const weir_level *level;

    load("cluster:1 rack:2 node:4 core:8");
    book("slot=1/node", 10);
    CHECK(levels_of("slot=3/node", NULL, at("/cluster0/rack0"), &level) == 1, "one rack");
    CHECK(level->visited == 4 && level->left == 3 && is_cause(level->causes, WEIR_CAUSE_EXCLUSIVITY, NULL, 1),
          "of four");
    CHECK(levels_of("rack=1/slot=3/node", NULL, at("/cluster0/rack0/node0"), &level) == 2, "one node");
    CHECK(level[0].visited == 1 && level[1].visited == 1 && level[1].left == 0, "and the rack around");
    weir_graph_free(g);
}

static void test_units(void)
{
    static const char tb[] =
        "{\"resources\": [{\"type\": \"slot\", \"count\": 1, \"label\": \"s\", \"with\": [{\"type\": "
        "\"storage\", \"count\": %s, \"unit\": \"TB\"}]}]}";
    static const struct {
        const char *count, *written;
    } rows[] = {
        {"2", "\"count\":2000,\"type\":\"storage\",\"unit\":\"GB\""},
        {"{\"min\": 1, \"max\": 4}", "\"min\":1000"},
        {"9007199254740992", "\"count\":9007199254740992,\"type\":\"storage\",\"unit\":\"TB\""},
    };
    const weir_level *level;
    char text[300], *json;
    weir_err err = {0};

    load("cluster:1 storage:2(size=1500,unit=GB)");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_request *r;
        snprintf(text, sizeof text, tb, rows[i].count);
        r = request(text);
        json = weir_request_format_for(r, g, &err);
        CHECK(json && strstr(json, rows[i].written), "%s TB: %s", rows[i].count, json ? json : err.text);
        weir_free(json);
        weir_request_free(r);
    }
    snprintf(text, sizeof text, tb, "2");
    CHECK(levels_of(text, NULL, WEIR_NONE, &level) == 1, "a level");
    CHECK(level->need == 2000 && check_same(level->unit, "GB"), "2000 GB: %lld %s", (long long)level->need,
          level->unit);
    weir_graph_free(g);
}

/* ---- policies ---- */

static int only_even(void *data, const weir_graph *graph, weir_vertex v, const weir_resource *r)
{
    (void)r;
    ++*(int *)data;
    return strcmp(weir_vertex_type(graph, v), "node") != 0 || weir_vertex_id(graph, v) % 2 == 0;
}

static int broken(void *data, const weir_graph *graph, weir_vertex v, const weir_resource *r)
{
    (void)data;
    (void)graph;
    (void)v;
    (void)r;
    return -1;
}

static void test_hooks(void)
{
    int calls = 0;
    weir_policy even = {.name = "even", .data = &calls, .prune = only_even}, bad = {.name = "bad", .prune = broken};
    weir_match_options o = {.policy = &even};
    const weir_level *level;
    weir_level *levels = NULL;
    weir_request *r;
    uint32_t n = 1;
    weir_err err = {0};

    load("cluster:1 rack:2 node:4 core:8");
    CHECK(levels_of("slot=5/node/core=1", &o, WEIR_NONE, &level) == 2 && calls > 0, "the hook was asked");
    CHECK(level[0].left == 4 && is_cause(level[0].causes, WEIR_CAUSE_POLICY, NULL, 4), "half of the nodes");
    CHECK(level[1].left == 32 && is_cause(level[1].causes, WEIR_CAUSE_POLICY, NULL, 32), "and of the cores");
    o.policy = &bad;
    r = request("slot=1/node");
    CHECK(weir_explain_levels(g, r, &o, WEIR_NONE, &levels, &n, &err) == WEIR_EPOLICY && !levels && n == 0,
          "a failing hook");
    weir_request_free(r);
    weir_graph_free(g);
}

/* ---- trying out ---- */

/* Whether a request fits on a graph. */
static bool fits(weir_graph *on, const char *shape)
{
    weir_match_options o = {.mode = WEIR_PREVIEW};
    weir_request *r = request(shape);
    const weir_allocation *a = NULL;
    int rc = weir_match(on, r, &o, &a, NULL);

    weir_allocation_free(a);
    weir_request_free(r);
    return rc == WEIR_OK;
}

/* Jobs detached and attached on a duplicate tell which job is in the way; the duplicate is afterwards as before. */
static void test_trying(void)
{
    weir_graph *copy = NULL;
    weir_detached *detached = NULL;
    weir_err err = {0};
    bool enough[3];

    load("cluster:1 rack:2 node:4 core:8");
    book("slot=1/core=3", 30);
    book("slot=3/node", 10);
    book("slot=2/node", 20);
    CHECK(!fits(g, "slot=5/node") && weir_graph_dup(g, &copy, NULL) == WEIR_OK, "busy");
    for (int job = 1; job <= 3; job++) {
        CHECK(weir_job_detach(copy, job, &detached, &err) == WEIR_OK, "job %d is detached: %s", job, err.text);
        enough[job - 1] = fits(copy, "slot=5/node");
        CHECK(weir_job_attach(copy, detached, 0, &err) == WEIR_OK, "job %d is attached: %s", job, err.text);
    }
    CHECK(!enough[0] && enough[1] && !enough[2], "job 2 alone is enough");
    CHECK(weir_check(copy, &err) == WEIR_OK && weir_graph_compare(g, copy, true, &err) == WEIR_OK, "as before: %s",
          err.text);
    weir_graph_free(copy);
    weir_graph_free(g);
}

/* ---- misuse, memory ---- */

static void test_misuse(void)
{
    weir_match_options o = {0};
    weir_level *levels = NULL;
    weir_request *r = request("slot=1/node");
    uint32_t n = 1;
    weir_err err = {0};

    load("cluster:1 node:2");
    CHECK(weir_explain_levels(g, r, &o, 1000, &levels, &n, &err) == WEIR_ENOENT && !levels && n == 0, "no such vertex");
    weir_err_clear(&err);
    CHECK(weir_graph_advance(g, 10, NULL) == WEIR_OK, "the clock");
    CHECK(weir_explain_levels(g, r, &o, WEIR_NONE, &levels, &n, &err) == WEIR_EINVAL && !levels, "before the clock");
    weir_levels_free(NULL);
    weir_request_free(r);
    weir_graph_free(g);
}

static int once(void *arg)
{
    weir_match_options o = {0};
    weir_level *levels = NULL;
    weir_request *r = NULL;
    uint32_t n;
    weir_err err = {0};
    int rc = weir_request_parse(arg, strlen(arg), NULL, &r, NULL);
    char *text = NULL;

    rc = rc ? rc : weir_explain_levels(g, r, &o, WEIR_NONE, &levels, &n, &err);
    if (!rc && !(text = weir_request_format_for(r, g, &err)))
        rc = err.code;
    CHECK(rc == WEIR_OK || err.code == rc || !r, "the error is told");
    weir_free(text);
    weir_levels_free(levels);
    weir_request_free(r);
    return rc;
}

static void test_nomem(void)
{
    static char worlds[][300] = {
        "slot=4/node",
        "rack=1/slot=5/node",
        "slot=1/node/core=9",
        "{\"resources\": [{\"type\": \"slot\", \"count\": 3, \"label\": \"s\", \"with\": [{\"type\": "
        "\"memory\", \"count\": 1, \"unit\": \"TB\"}]}], \"attributes\": {\"system\": {\"duration\": 5, "
        "\"constraints\": "
        "{\"and\": [{\"hostlist\": [\"node[1-2]\"]}, {\"properties\": [\"^a\"]}]}}}}",
    };

    load("cluster:1 rack:2 node:4 core:2 memory:1(size=4,unit=GB)");
    book("slot=1/core=2", 10);
    CHECK(weir_vertex_set_state(g, at("/cluster0/rack1/node7"), WEIR_DOWN, NULL) == WEIR_OK, "down");
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        check_nomem(once, worlds[i], worlds[i]);
    weir_graph_free(g);
}

int main(void)
{
    test_causes();
    test_where();
    test_units();
    test_hooks();
    test_trying();
    test_misuse();
    test_nomem();
    forget();
    return check_report();
}
