/* test_explain.c - explanations from C: verdicts and numbers, hooks of a policy, a surrounding frame, limits, and
 * failing allocations. */
#include "check.h"
#include "weir.h"

#define QUIET 60 /* successful explanations in a row: the last allocation has failed by then */

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

    CHECK(weir_graph_parse(machine, strlen(machine), NULL, "synthetic", &g, &err) == WEIR_OK, "%s: %s", machine, err.text);
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

static weir_explanation *explain(const char *shape, const weir_explain_options *o)
{
    static const weir_explain_options plain = WEIR_EXPLAIN_OPTIONS_INIT;
    weir_request *r = request(shape);
    weir_explanation *x = NULL;
    weir_graph *copy = NULL;
    weir_err err = {0};

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "dup");
    CHECK(weir_explain(copy, r, o ? o : &plain, &x, &err) == WEIR_OK, "%s is explained: %s", shape, err.text);
    CHECK(weir_check(copy, &err) == WEIR_OK, "the copy is in order: %s", err.text);
    CHECK(weir_graph_compare(g, copy, true, &err) == WEIR_OK, "the copy is as before: %s", err.text);
    weir_graph_free(copy);
    weir_request_free(r);
    return x;
}

static weir_vertex at(const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
    return v;
}

static void test_verdicts(void)
{
    weir_explanation *x;

    load("cluster:1 rack:2 node:4 core:8");
    x = explain("slot=8/node", NULL);
    CHECK(x->verdict == WEIR_FITS && x->start == 0 && x->npicks == 8 && !x->shortage && x->nways == 0, "it fits");
    weir_explanation_free(x);

    book("slot=3/node", 10);
    book("slot=2/node", 20);
    x = explain("slot=7/node", NULL);
    CHECK(x->verdict == WEIR_BUSY && x->start == 20, "busy until %lld", (long long)x->start);
    CHECK(x->nways == 1 && x->ways[0].n == 2 && !x->ways[0].cut && x->ways[0].list[0].kind == WEIR_BY_JOB, "both jobs");
    CHECK(x->after.n == 2 && x->after.list[0].job == 1 && x->after.list[1].job == 2, "in the order of their ends");
    CHECK(x->shortage->need == 7 && x->shortage->have == 3 && x->shortage->total == 8, "3 of 8");
    CHECK(check_same(x->shortage->type, "node") && !x->shortage->level && !x->shortage->ideal, "nodes, free ones");
    weir_explanation_free(x);

    x = explain("slot=5/node", NULL);
    CHECK(x->start == 10 && x->after.n == 1 && x->after.list[0].job == 1, "one of them is enough");
    CHECK(x->ways[0].n == 1, "a way of one");
    weir_explanation_free(x);

    x = explain("slot=9/node", NULL);
    CHECK(x->verdict == WEIR_INFEASIBLE && x->nways == 0 && x->start == WEIR_FOREVER, "infeasible");
    CHECK(x->shortage->have == 8 && x->shortage->ideal, "of all there is");
    weir_explanation_free(x);

    CHECK(weir_vertex_set_state(g, at("/cluster0/rack1"), WEIR_DOWN, NULL) == WEIR_OK, "down");
    x = explain("slot=6/node", NULL);
    CHECK(x->verdict == WEIR_BLOCKED && x->start == WEIR_FOREVER, "blocked: %d", x->verdict);
    CHECK(x->nways == 1 && x->ways[0].n >= 2 && x->ways[0].list[0].kind == WEIR_BY_JOB, "a job and a state");
    weir_explanation_free(x);
    weir_graph_free(g);
}

/* Explains a request with n members in the constraint, fulfilled by no node. */
static weir_explanation *explain_members(unsigned n, const char *begin, const char *member, const char *end)
{
    size_t size = 1000 + n * 60u, used = 0;
    char *text = malloc(size);
    weir_explanation *x;

    used += (size_t)snprintf(text, size, "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"label\":\"s\",\"count\":1,"
                             "\"with\":[{\"type\":\"node\",\"count\":1}]}],\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\","
                             "\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{\"duration\":9,\"constraints\":%s", begin);
    for (unsigned i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s", i ? "," : "");
        used += (size_t)snprintf(text + used, size - used, member, i);
    }
    snprintf(text + used, size - used, "%s}}}", end);
    x = explain(text, NULL);
    free(text);
    return x;
}

/* Matches of a request with a large constraint are fewer, and the explanation says so. */
static void test_cost(void)
{
    static const struct { const char *begin, *member, *end; } rows[] = {
        {"{\"properties\":[", "\"p%u\"", "]}"},
        {"{\"and\":[", "{\"properties\":[\"p%u\"]}", "]}"},
        {"{\"and\":[", "{\"or\":[{\"hostlist\":[\"h%u\"]}]}", "]}"},
    };

    load("cluster:1 node:4 core:2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_explanation *x = explain_members(3, rows[i].begin, rows[i].member, rows[i].end);
        CHECK(!x->cut && x->nways == 1 && x->ways[0].n == 3 && !x->ways[0].cut && x->shortage, "%zu: all is told", i);
        weir_explanation_free(x);
        x = explain_members(20000, rows[i].begin, rows[i].member, rows[i].end);
        CHECK(x->cut && x->nways == 1 && x->ways[0].cut && x->ways[0].n > 0, "%zu: what is found is told as cut", i);
        CHECK(x->tries < 2500, "%zu: %u matches", i, x->tries);
        weir_explanation_free(x);
    }
    weir_graph_free(g);
}

static void test_levels(void)
{
    weir_explanation *x;

    load("cluster:1 rack:2 node:4 core:8");
    book("slot=3/node", 10);
    CHECK(weir_vertex_set_state(g, at("/cluster0/rack1/node7"), WEIR_DRAINING, NULL) == WEIR_OK, "draining");
    x = explain("slot=5/node/core=8", NULL);
    CHECK(x->nlevels == 2 && check_same(x->levels[0].type, "node") && check_same(x->levels[1].type, "core"), "two levels");
    CHECK(x->levels[0].visited == 8 && x->levels[0].left == 4 && x->levels[0].ncauses == 2, "nodes");
    CHECK(x->levels[0].causes[0].by == WEIR_CAUSE_EXCLUSIVITY && x->levels[0].causes[0].count == 3, "in use first");
    CHECK(x->levels[0].causes[1].by == WEIR_CAUSE_STATE && x->levels[0].causes[1].count == 1, "then what is not up");
    CHECK(x->levels[1].visited == 64 && x->levels[1].left == 32, "cores");
    weir_explanation_free(x);
    x = explain("slot=1/node/core=9", NULL);
    CHECK(x->levels[0].ncauses == 1 && x->levels[0].causes[0].by == WEIR_CAUSE_SMALL &&
              check_same(x->levels[0].causes[0].type, "core") && x->levels[0].causes[0].count == 8,
          "all nodes are too small");
    weir_explanation_free(x);
    weir_graph_free(g);
}

static void test_where(void)
{
    weir_explain_options o = WEIR_EXPLAIN_OPTIONS_INIT;
    weir_explanation *x;

    load("cluster:1 rack:2 node:4 core:8");
    book("slot=1/node", 10);
    o.where = at("/cluster0/rack0/node0/core3");
    x = explain("slot=3/node", &o);
    CHECK(x->where == at("/cluster0/rack0/node0"), "about the node that the core is in");
    CHECK(x->verdict == WEIR_BUSY && x->start == 10 && x->after.n == 1 && x->npicks == 1, "busy for 10");
    weir_explanation_free(x);
    o.where = at("/cluster0/rack0");
    x = explain("slot=3/node", &o);
    CHECK(x->verdict == WEIR_FITS && x->npicks == 3, "room in the rack");
    weir_explanation_free(x);
    x = explain("slot=5/node", &o);
    CHECK(x->verdict == WEIR_INFEASIBLE && x->shortage->have == 4 && x->shortage->best == o.where, "four in the rack");
    weir_explanation_free(x);
    weir_graph_free(g);
}

/* ---- policies ---- */

static int only_even(void *data, const weir_graph *graph, weir_vertex v, const weir_resource *r)
{
    (void)r;
    ++*(int *)data;
    return strcmp(weir_vertex_type(graph, v), "node") != 0 || weir_vertex_id(graph, v) % 2 == 0;
}

static int frames;

static int framed(void *data, const weir_request *r, int (*use)(void *use_data, const weir_policy *p), void *use_data,
                  weir_err *err)
{
    int rc;

    (void)r;
    (void)err;
    CHECK(frames == 0, "frames do not nest");
    frames++;
    rc = use(use_data, data);
    frames--;
    return rc;
}

static int broken(void *data, const weir_graph *graph, weir_vertex v, const weir_resource *r)
{
    (void)data;
    (void)graph;
    (void)v;
    (void)r;
    return -1;
}

static void test_policies(void)
{
    static const char *const exclusive[] = {"rack"};
    int calls = 0;
    weir_policy even = {.name = "even", .data = &calls, .prune = only_even};
    weir_policy whole = {.name = "whole", .exclusive = exclusive, .nexclusive = 1};
    weir_policy bad = {.name = "bad", .prune = broken};
    weir_explain_options o = WEIR_EXPLAIN_OPTIONS_INIT;
    weir_explanation *x = NULL;
    weir_graph *copy = NULL;
    weir_request *r;
    weir_err err = {0};

    load("cluster:1 rack:2 node:4 core:8");
    o.policy = &even;
    x = explain("slot=5/node", &o);
    CHECK(x->verdict == WEIR_INFEASIBLE && x->nways == 1 && x->ways[0].list[0].kind == WEIR_BY_POLICY, "prune");
    CHECK(check_same(x->ways[0].list[0].text, "prune") && x->shortage->policy && x->shortage->have == 4, "by its name");
    CHECK(calls > 0, "the hook was asked");
    weir_explanation_free(x);

    o.policy = NULL;
    o.frame = framed;
    o.data = &even;
    x = explain("slot=5/node", &o);
    CHECK(x->nways == 1 && frames == 0, "the same in frames");
    weir_explanation_free(x);

    book("slot=1/core", 50);
    o = (weir_explain_options)WEIR_EXPLAIN_OPTIONS_INIT;
    o.policy = &whole;
    x = explain("rack=2/node=1", &o);
    CHECK(x->verdict == WEIR_BUSY && x->start == 50, "a rack is given as a whole");
    CHECK(x->nways == 2 && check_same(x->ways[0].list[0].text, "exclusive") && x->ways[1].list[0].job == 1, "two ways");
    weir_explanation_free(x);

    o.policy = &bad;
    r = request("slot=1/node");
    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "dup");
    CHECK(weir_explain(copy, r, &o, &x, &err) == WEIR_EPOLICY && !x, "a hook that fails is told");
    weir_request_free(r);
    weir_graph_free(copy);
    weir_graph_free(g);
}

/* ---- misuse, memory ---- */

static void test_misuse(void)
{
    weir_explain_options o = WEIR_EXPLAIN_OPTIONS_INIT;
    weir_explanation *x = NULL;
    weir_request *r = request("slot=1/node");
    weir_err err = {0};

    load("cluster:1 node:2");
    o.where = 1000;
    CHECK(weir_explain(g, r, &o, &x, &err) == WEIR_ENOENT && !x, "no such vertex");
    weir_err_clear(&err);
    o = (weir_explain_options)WEIR_EXPLAIN_OPTIONS_INIT;
    CHECK(weir_graph_advance(g, 10, NULL) == WEIR_OK, "the clock");
    CHECK(weir_explain(g, r, &o, &x, &err) == WEIR_EINVAL && !x, "a start before the clock");
    weir_explanation_free(NULL);
    weir_request_free(r);
    weir_graph_free(g);
}

struct world {
    const char *shape;
};

static int once(void *arg)
{
    const struct world *w = arg;
    weir_explain_options o = WEIR_EXPLAIN_OPTIONS_INIT;
    weir_explanation *x = NULL;
    weir_graph *copy = NULL;
    weir_request *r = NULL;
    int rc = weir_request_parse(w->shape, strlen(w->shape), NULL, &r, NULL);

    rc = rc ? rc : weir_graph_dup(g, &copy, NULL);
    rc = rc ? rc : weir_explain(copy, r, &o, &x, NULL);
    weir_explanation_free(x);
    weir_request_free(r);
    weir_graph_free(copy);
    return rc;
}

static void test_nomem(void)
{
    static struct world worlds[] = {
        {"slot=4/node"}, {"rack=1/slot=5/node"}, {"slot=1/node/core=9"}, {"slot=1/node"},
        {"{\"resources\": [{\"type\": \"slot\", \"count\": 3, \"label\": \"s\", \"with\": [{\"type\": "
         "\"node\", \"count\": 1}]}], \"attributes\": {\"system\": {\"duration\": 5, \"constraints\": "
         "{\"and\": [{\"hostlist\": [\"node[1-2]\"]}, {\"properties\": [\"^a\"]}]}}}}"},
    };

    load("cluster:1 rack:2 node:4 core:2");
    for (int i = 0; i < 6; i++)
        book("slot=1/core=2", 10 + i);
    CHECK(weir_vertex_set_state(g, at("/cluster0/rack1/node7"), WEIR_DOWN, NULL) == WEIR_OK, "down");
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        check_nomem(once, &worlds[i], worlds[i].shape);
    weir_graph_free(g);
}

/* Every failing allocation of consequence is reported, however many harmless ones lie between. */
static void test_nomem_told(void)
{
    static const char shape[] = "slot=8/node/core=2";
    weir_explain_options o = WEIR_EXPLAIN_OPTIONS_INIT;
    weir_request *r = request(shape);
    int quiet = 0;

    load("cluster:1 rack:2 node:4 core:2");
    book("slot=1/core=2", 10);
    for (long n = 1; quiet < QUIET && n < 20000; n++) {
        weir_explanation *x = NULL;
        weir_graph *copy = NULL;
        weir_err err = {0};
        int rc;

        CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK, "dup");
        weir_mem_fail_after(n);
        rc = weir_explain(copy, r, &o, &x, &err);
        weir_mem_fail_after(0);
        quiet = rc == WEIR_OK ? quiet + 1 : 0;
        CHECK(rc == WEIR_OK || (rc == WEIR_ENOMEM && err.code == WEIR_ENOMEM && !x), "allocation %ld: %s, %s", n, weir_status_name(rc),
              err.text);
        weir_err_clear(&err);
        CHECK(weir_check(copy, &err) == WEIR_OK, "allocation %ld: %s", n, err.text);
        weir_explanation_free(x);
        weir_graph_free(copy);
    }
    CHECK(quiet == QUIET, "it goes through in the end");
    weir_request_free(r);
    weir_graph_free(g);
}

int main(void)
{
    test_verdicts();
    test_cost();
    test_levels();
    test_where();
    test_policies();
    test_misuse();
    test_nomem();
    test_nomem_told();
    return check_report();
}
