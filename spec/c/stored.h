/* stored.h - helpers of the tests of stores: whether a graph that was stored and loaded is equal and gives equal
 * answers, and changes that step() does not make. Included once, after check.h.
 */
#ifndef STORED_H
#define STORED_H

#include "copies.h"

#include "graph/journal.h"
#include "job/job.h"

static inline int64_t scaled(int n)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    double times = scale ? atof(scale) : 1;
    return (int64_t)(n * times) > 0 ? (int64_t)(n * times) : 1;
}

/* equal graphs */

static inline void same_numbers(const weir_graph *a, const weir_graph *b)
{
    for (weir_vertex v = 0; v < weir_graph_limit(a); v++) {
        char x[37], y[37];
        if (!CHECK(weir_vertex_live(a, v) == (v < weir_graph_limit(b) && weir_vertex_live(b, v)), "vertex %u", v))
            return;
        if (!weir_vertex_live(a, v))
            continue;
        weir_vertex_uuid(a, v, x);
        weir_vertex_uuid(b, v, y);
        if (!CHECK(vertex_at(a, v)->pos == vertex_at(b, v)->pos && strcmp(x, y) == 0, "place and UUID of %u", v))
            return;
    }
    CHECK(a->nkinds == b->nkinds && a->ntypes == b->ntypes && jobs_next_id(a) == jobs_next_id(b),
          "kinds, types, the next job");
}

static inline void same_subsystems(const weir_graph *a, const weir_graph *b)
{
    weir_edge x, y;

    CHECK(weir_subsystem_count(a) == weir_subsystem_count(b), "subsystems");
    for (uint32_t s = 0; s < weir_subsystem_count(a); s++)
        CHECK(strcmp(weir_subsystem_name(a, s), weir_subsystem_name(b, s)) == 0, "subsystem %u", s);
    for (weir_vertex v = 0; v < weir_graph_limit(a); v++)
        for (int out = 0; weir_vertex_live(a, v) && out < 2; out++)
            for (uint32_t i = 0; weir_vertex_edge(a, v, NULL, out, i, &x); i++)
                CHECK(weir_vertex_edge(b, v, NULL, out, i, &y) && x.source == y.source && x.target == y.target &&
                          strcmp(x.subsystem, y.subsystem) == 0,
                      "edge %u of vertex %u in its order", i, v);
}

/* Checks the properties of jobs that weir_graph_compare() does not look at. */
static inline void same_job(const weir_graph *a, const weir_graph *b, const weir_allocation *x,
                            const weir_allocation *y)
{
    CHECK(x->state == y->state && x->nslots == y->nslots, "state and slots of job %lld", (long long)x->job);
    CHECK(strcmp(weir_job_policy(a, x->job), weir_job_policy(b, x->job)) == 0, "policy of job %lld", (long long)x->job);
}

static inline void same_feeds(const weir_graph *a, const weir_graph *b)
{
    for (uint32_t i = 0; i < job_records(a); i++) {
        const struct job *x = &jobs_in(a)->list[i], *y = NULL;
        if (!x->used)
            continue;
        for (uint32_t k = 0; k < job_records(b); k++)
            if (jobs_in(b)->list[k].used && jobs_in(b)->list[k].a.job == x->a.job)
                y = &jobs_in(b)->list[k];
        if (!CHECK(y && x->nflows == y->nflows && x->a.npicks == y->a.npicks, "job %lld", (long long)x->a.job))
            continue;
        same_job(a, b, &x->a, &y->a);
        for (uint32_t k = 0; k < x->nflows; k++)
            CHECK(x->flows[k].endpoint == y->flows[k].endpoint && x->flows[k].unit == y->flows[k].unit &&
                      x->flows[k].amount == y->flows[k].amount,
                  "feed %u", k);
        for (uint32_t k = 0; k < x->a.npicks; k++)
            CHECK(x->picks[k].vertex == y->picks[k].vertex && x->picks[k].resource == y->picks[k].resource, "pick %u",
                  k);
    }
}

static inline void same_all(const weir_graph *a, const weir_graph *b)
{
    sound(b, "what was loaded");
    same(a, b, true, "what was saved and loaded");
    same_numbers(a, b);
    same_subsystems(a, b);
    same_feeds(a, b);
}

/* equal answers */

static inline int answer(weir_graph *g, const char *shape, const weir_policy *p, int mode, const weir_allocation **a)
{
    weir_request *r = NULL;
    weir_match_options o = {.mode = mode, .at = weir_graph_now(g), .policy = p};
    int rc;

    CHECK(weir_request_parse(shape, strlen(shape), "shape", &r, NULL) == WEIR_OK, "%s", shape);
    CHECK(weir_request_set_duration(r, 30, NULL) == WEIR_OK, "a duration");
    rc = weir_match(g, r, &o, a, NULL);
    weir_request_free(r);
    return rc;
}

/* Asks both graphs for equal requests, and both allocate. */
static inline void same_answers(weir_graph *a, weir_graph *b)
{
    static const char *const shapes[] = {"slot=1/core=2", "slot=1/node", "memory=3{-x}", "slot=1/memory=5",
                                         "slot=2/core"};
    static const char *const up[] = {"id"};
    weir_policy low = {.name = "low", .order = up, .norder = 1};

    for (int i = 0; i < 10; i++) {
        const weir_allocation *x, *y;
        const char *shape = shapes[dice(5)];
        const weir_policy *p = dice(2) ? &low : NULL;
        int mode = dice(3) ? WEIR_NOW : WEIR_RESERVE, rx = answer(a, shape, p, mode, &x),
            ry = answer(b, shape, p, mode, &y);
        if (!CHECK(rx == ry, "%s: %s against %s", shape, weir_status_name(rx), weir_status_name(ry)) || rx)
            continue;
        CHECK(x->job == y->job && x->start == y->start && x->npicks == y->npicks, "%s: the same job", shape);
        for (uint32_t k = 0; k < x->npicks && x->npicks == y->npicks; k++)
            CHECK(x->picks[k].vertex == y->picks[k].vertex && x->picks[k].amount == y->picks[k].amount, "pick %u", k);
    }
    same(a, b, true, "after ten matches");
}

/* ---- saves of changes ---- */

static uint32_t done[4]; /* shrunk, released in part, grown, merged */

/* Changes an existing job, without releasing. */
static inline void change_job(weir_graph *g)
{
    const weir_allocation *a = weir_job_count(g) ? weir_job_at(g, dice(weir_job_count(g))) : NULL, *out;
    weir_match_options o = {.at = weir_graph_now(g)};
    weir_request *r = NULL;
    weir_vertex v;

    if (!a || a->npicks == 0)
        return;
    v = a->picks[dice(a->npicks)].vertex;
    switch (dice(3)) {
    case 0: done[0] += weir_job_shrink(g, a->job, &v, 1, NULL) == WEIR_OK; break;
    case 1: done[1] += weir_vertex_release(g, v, a->job, dice(3), NULL) == WEIR_OK; break;
    default:
        CHECK(weir_request_parse("slot=1/core", 11, "shape", &r, NULL) == WEIR_OK, "a shape");
        done[2] += weir_job_grow(g, a->job, r, &o, &out, NULL) == WEIR_OK;
        weir_request_free(r);
    }
}

static inline void merge_more(weir_graph *g)
{
    char text[80];
    weir_graph *more;

    snprintf(text, sizeof text, "cluster:1 shelf:%u node:1 core:%u", 1 + dice(4), 1 + dice(9));
    more = parse(text, "synthetic");
    done[3] += weir_graph_merge(g, more, NULL, NULL) == WEIR_OK;
    weir_graph_free(more);
}

/* Makes a change that step() does not make. */
static inline void another_step(weir_graph *g)
{
    static const char *const keys[] = {"a", "b", "rack", "gen"};
    static const char *const up[] = {"id"};
    weir_policy low = {.name = "low", .label = dice(2) ? "low@1" : NULL, .order = up, .norder = 1};
    const weir_allocation *a;
    weir_vertex v = some_vertex(g);

    switch (dice(6)) {
    case 0: (void)!weir_vertex_set_rank(g, v, (int64_t)dice(500) - 1, NULL); break;
    case 1: (void)!weir_vertex_unset(g, v, (int)dice(3), keys[dice(4)]); break;
    case 2:
        if (dice(20) == 0)
            merge_more(g);
        break;
    case 3: (void)!answer(g, "slot=2/core", &low, WEIR_RESERVE, &a); break;
    default: change_job(g);
    }
}

#endif
