/* fuzz_engine.c - the engine's functions: the input is a list of operations on a small machine. After each
 * operation the graph passes weir_check; a failed operation has changed nothing; a match on a copy without indices
 * gives equal picks; and the units of all jobs, added by the plain check below, never exceed the machine.
 */
#include "fuzz.h"

#define LENGTH 60 /* operations; an input may hold more */

struct world {
    weir_graph *g;
    const uint8_t *at, *end;
};

static uint32_t next(struct world *w, uint32_t n)
{
    return w->at < w->end ? *w->at++ % n : 0;
}

static weir_vertex some_vertex(struct world *w)
{
    uint32_t n = weir_graph_limit(w->g), v = n ? next(w, 256) % n : 0;

    for (uint32_t i = 0; i < n; i++, v = (v + 1) % n)
        if (weir_vertex_live(w->g, v))
            return v;
    return WEIR_NONE;
}

static int64_t some_job(struct world *w)
{
    uint32_t n = weir_job_count(w->g), i = next(w, 16);

    return n ? weir_job_at(w->g, i % n)->job : 99;
}

/* the plain check: no two jobs have a unit at the same time */

static bool overlap(const weir_allocation *a, const weir_allocation *b)
{
    return a->start < b->end && b->start < a->end;
}

/* Checks that no job has as a whole a vertex that a second job uses or shares. */
static void check_pair(const weir_graph *g, const weir_allocation *a, const weir_allocation *b)
{
    for (uint32_t i = 0; i < a->npicks; i++)
        for (uint32_t k = 0; k < b->npicks; k++)
            if (a->picks[i].exclusive && weir_vertex_within(g, b->picks[k].vertex, a->picks[i].vertex))
                fuzz_fail("job %lld has vertex %u as a whole, job %lld uses %u in it", (long long)a->job,
                          a->picks[i].vertex, (long long)b->job, b->picks[k].vertex);
}

static int64_t used_at(const weir_graph *g, weir_vertex v, int64_t when)
{
    int64_t used = 0;

    for (uint32_t i = 0; i < weir_job_count(g); i++) {
        const weir_allocation *a = weir_job_at(g, i);
        for (uint32_t k = 0; a->start <= when && when < a->end && k < a->npicks; k++)
            if (a->picks[k].vertex == v)
                used += a->picks[k].amount;
    }
    return used;
}

static void check_jobs(const weir_graph *g)
{
    for (uint32_t i = 0; i < weir_job_count(g); i++) {
        const weir_allocation *a = weir_job_at(g, i);
        for (uint32_t k = 0; k < weir_job_count(g); k++)
            if (k != i && overlap(a, weir_job_at(g, k)))
                check_pair(g, a, weir_job_at(g, k));
        for (uint32_t k = 0; k < a->npicks; k++)
            if (used_at(g, a->picks[k].vertex, a->start) > weir_vertex_size(g, a->picks[k].vertex))
                fuzz_fail("vertex %u gives more than it has", a->picks[k].vertex);
    }
}

/* ---- operations; each gives a status ---- */

static int add(struct world *w, weir_err *err)
{
    static const char *const types[] = {"node", "core", "gpu", "memory", "rack", "socket"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;

    d.type = types[next(w, 6)];
    d.size = 1 + next(w, 9);
    d.id = next(w, 100);
    d.exclusive = next(w, 16) == 1;
    return weir_graph_add_many(w->g, next(w, 20) == 1 ? WEIR_NONE : some_vertex(w), &d, 1 + next(w, 40), next(w, 2), &v,
                               err);
}

static int book(struct world *w, weir_err *err)
{
    int64_t start = weir_graph_now(w->g) + next(w, 50), amount = next(w, 10) - 1;
    weir_vertex v = some_vertex(w);

    return weir_vertex_allocate(w->g, v, next(w, 8), amount, start, start - 1 + next(w, 60), err);
}

static int set(struct world *w, weir_err *err)
{
    weir_vertex v = some_vertex(w);
    char text[20];

    snprintf(text, sizeof text, "%u", next(w, 50));
    switch (next(w, 4)) {
    case 0: return weir_vertex_set_state(w->g, v, (int)next(w, 5), err);
    case 1: return weir_vertex_set(w->g, v, (int)next(w, 3), "speed", text, err);
    case 2: return weir_vertex_set_rank(w->g, v, (int64_t)next(w, 60) - 1, err);
    default: return weir_vertex_unset(w->g, v, (int)next(w, 3), "speed");
    }
}

static int link_or_not(struct world *w, weir_err *err)
{
    weir_vertex a = some_vertex(w), b = some_vertex(w);

    return next(w, 3) ? weir_edge_add(w->g, a, b, "power", "supplies", "draws", err)
                      : weir_edge_unlink(w->g, a, "power", err);
}

static int shrink(struct world *w, weir_err *err)
{
    weir_vertex list[3];
    int64_t job = some_job(w);
    uint32_t n = 1 + next(w, 3);

    for (uint32_t i = 0; i < n; i++)
        list[i] = some_vertex(w);
    return weir_job_shrink(w->g, job, list, n, err);
}

/* Whether a job is past its end: it may have vertices that a later job reserved. */
static bool overrun(const weir_graph *g)
{
    for (uint32_t i = 0; i < weir_job_count(g); i++)
        if (weir_job_at(g, i)->end <= weir_graph_now(g))
            return true;
    return false;
}

static int lift(struct world *w, weir_err *err)
{
    int64_t job = some_job(w), now = weir_graph_now(w->g), end = next(w, 2) ? now + next(w, 90) : 0;
    bool late = overrun(w->g); /* the detached job, or a different job */
    weir_detached *x = NULL;
    int rc = weir_job_detach(w->g, job, &x, err);

    if (rc != WEIR_OK || weir_job_attach(w->g, x, end, err) == WEIR_OK || weir_job_attach(w->g, x, 0, err) == WEIR_OK)
        return rc;
    if (!late)
        fuzz_fail("what was lifted cannot be put back: %s", err->text);
    weir_detached_free(x);
    return WEIR_OK;
}

/* ---- matches ---- */

static weir_request *some_request(struct world *w)
{
    static const char *const shapes[] = {"slot=%u/node",
                                         "slot=%u/node/core=2",
                                         "slot=%u/core",
                                         "rack/slot=%u/node",
                                         "slot=%u/node/[core;gpu]",
                                         "node=%u/slot/core",
                                         "slot=%u/rack",
                                         "slot=%u/memory=3",
                                         "node=%u",
                                         "core=%u",
                                         "slot=%u/socket/[core=2;memory=4]",
                                         "slot=%u-/node",
                                         "rack=%u/node=2/socket/slot/[core;gpu]",
                                         "slot=%u+/core",
                                         "node/power=%u",
                                         "slot=%u/[core;power=2]"};
    static const char constrained[] =
        "{\"resources\":[{\"type\":\"slot\",\"label\":\"s\",\"count\":%u,\"with\":[{\"type\":\"node\",\"count\":1}]}],"
        "\"attributes\":{\"system\":{\"constraints\":%s}}}";
    static const char *const constraints[] = {"{\"properties\":[\"speed\"]}", "{\"not\":[{\"ranks\":[\"0-3\"]}]}",
                                              "{\"hostlist\":[\"node[0-2,30]\"]}", "{\"properties\":[\"^speed\"]}"};
    uint32_t form = next(w, sizeof shapes / sizeof *shapes + 4), count = 1 + next(w, 33);
    weir_request *r = NULL;
    char text[300];

    if (form < 4)
        snprintf(text, sizeof text, constrained, count, constraints[form]);
    else
        snprintf(text, sizeof text, shapes[form - 4], count);
    if (weir_request_parse(text, strlen(text), "shape", &r, NULL) == WEIR_OK)
        (void)!weir_request_set_duration(r, 1 + next(w, 100), NULL);
    return r;
}

static void check_same(const weir_allocation *a, const weir_allocation *b)
{
    bool same = a->start == b->start && a->end == b->end && a->state == b->state && a->npicks == b->npicks;

    for (uint32_t i = 0; same && i < a->npicks; i++)
        same = a->picks[i].vertex == b->picks[i].vertex && a->picks[i].amount == b->picks[i].amount &&
               a->picks[i].exclusive == b->picks[i].exclusive;
    if (!same)
        fuzz_fail("job %lld is placed otherwise on a copy", (long long)a->job);
}

/* Matches on a copy made before, and compares. */
static void compare_match(weir_graph *copy, const weir_request *r, const weir_match_options *o, int rc,
                          const weir_allocation *a)
{
    const weir_allocation *other = NULL;
    weir_err err = {0};
    int again = weir_match(copy, r, o, &other, &err);

    if (again != rc || !a != !other)
        fuzz_fail("status %d, on a copy %d: %s", rc, again, err.text);
    if (a)
        check_same(a, other);
    if (o->mode == WEIR_PREVIEW)
        weir_allocation_free(other);
}

static int match(struct world *w, const weir_graph *before, weir_err *err)
{
    static const char *const orders[][1] = {{"id"}, {"-id"}, {"size"}, {"properties.speed"}, {"-rank"}, {"node.id"}};
    weir_policy p = {.name = "fuzz", .order = orders[next(w, 6)], .norder = next(w, 2), .serial = 1};
    weir_match_options o = {.mode = (int)next(w, 4), .at = weir_graph_now(w->g) + next(w, 30)};
    const weir_allocation *a = NULL;
    weir_request *r = some_request(w);
    weir_graph *copy = NULL;
    int rc;

    if (!r)
        return WEIR_OK;
    p.serial += (uint64_t)((const char *const(*)[1])p.order - orders);
    o.policy = p.norder ? &p : NULL;
    if (weir_graph_dup(before, &copy, err) != WEIR_OK)
        fuzz_fail("no copy: %s", err->text);
    rc = weir_match(w->g, r, &o, &a, err);
    compare_match(copy, r, &o, rc, a);
    if (o.mode == WEIR_PREVIEW)
        weir_allocation_free(a);
    weir_graph_free(copy);
    weir_request_free(r);
    return rc;
}

static int grow(struct world *w, weir_err *err)
{
    weir_match_options o = {.mode = WEIR_NOW, .at = weir_graph_now(w->g)};
    const weir_allocation *a;
    weir_request *r = some_request(w);
    int rc = r ? weir_job_grow(w->g, some_job(w), r, &o, &a, err) : WEIR_OK;

    weir_request_free(r);
    return rc;
}

/* Continues with a copy, which has to equal the graph, schedules included. */
static int copy(struct world *w, weir_err *err)
{
    weir_graph *again = NULL;
    int rc = weir_graph_dup(w->g, &again, err);

    if (rc != WEIR_OK || weir_graph_compare(w->g, again, true, err) != WEIR_OK)
        fuzz_fail("a copy differs: %s", err->text);
    weir_graph_free(w->g);
    w->g = again;
    return rc;
}

/* Merges the free resources, as a graph, into an empty graph; the machine itself is unchanged. */
static int merge(struct world *w, weir_err *err)
{
    weir_graph *part = NULL, *whole = NULL;
    weir_vertex v = some_vertex(w);
    int rc = weir_graph_copy(w->g, v, &part, err);

    rc = rc ? rc : weir_graph_copy(w->g, some_vertex(w), &whole, err);
    rc = rc ? rc : weir_graph_merge(whole, part, NULL, err);
    if ((part && weir_check(part, err) != WEIR_OK) || (whole && weir_check(whole, err) != WEIR_OK))
        fuzz_fail("%s", err->text);
    weir_graph_free(part);
    weir_graph_free(whole);
    return rc;
}

static int step(struct world *w, const weir_graph *before, weir_err *err)
{
    switch (next(w, 16)) {
    case 0: return add(w, err);
    case 1: return weir_graph_unlink(w->g, some_vertex(w), err);
    case 2: return book(w, err);
    case 3: return set(w, err);
    case 4: return link_or_not(w, err);
    case 5: return shrink(w, err);
    case 6: return lift(w, err);
    case 7: return weir_graph_advance(w->g, weir_graph_now(w->g) + next(w, 40), err);
    case 8: return weir_release(w->g, some_job(w), err);
    case 9: return weir_vertex_release(w->g, some_vertex(w), some_job(w), next(w, 4), err);
    case 10: return grow(w, err);
    case 11: return next(w, 2) ? copy(w, err) : merge(w, err);
    default: return match(w, before, err);
    }
}

static void check_step(const struct world *w, const weir_graph *before, int rc, const weir_err *told)
{
    weir_err err = {0};

    if (weir_check(w->g, &err) != WEIR_OK)
        fuzz_fail("%s", err.text);
    if (rc < 0 && weir_graph_compare(before, w->g, true, &err) != WEIR_OK)
        fuzz_fail("a failure (%s) changed something: %s", told->text, err.text);
    check_jobs(w->g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const machines[] = {"cluster:1 rack:2 node:2 socket:2 core:2 gpu:1 memory:1(size=8)",
                                           "cluster:1 node:40 core:2",
                                           "cluster:1 rack:3 node:3 core:4 memory:2(size=4)"};
    struct world w = {NULL, data, data + size};
    const char *text = machines[next(&w, 3)];

    if (weir_graph_parse(text, strlen(text), "machine", "synthetic", &w.g, NULL) != WEIR_OK)
        fuzz_fail("no machine");
    for (int i = 0; i < LENGTH && w.at < w.end; i++) {
        weir_graph *before = NULL;
        weir_err err = {0};
        int rc;

        if (weir_graph_dup(w.g, &before, &err) != WEIR_OK)
            fuzz_fail("no copy: %s", err.text);
        rc = step(&w, before, &err);
        check_step(&w, before, rc, &err);
        weir_graph_free(before);
    }
    weir_graph_free(w.g);
    return 0;
}
