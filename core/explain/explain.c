/* explain.c - explains why a request does not fit: the verdict, the earliest start, the result. Invariant: every
 * answer comes from matches on the copy of the graph; the original graph is never touched.
 */
#include "explain/explain.h"

#include <inttypes.h>
#include <string.h>

/* ---- modes of a match other than a preview ---- */

struct match_call {
    struct explain *x;
    weir_match_options o;
    int64_t start; /* WEIR_RESERVE: the start found, for the picks in x->picks */
};

static int take_reservation(struct match_call *a, const weir_allocation *found)
{
    struct explain *x = a->x;
    weir_pick *picks = weir_mem_realloc(x->picks, (found->npicks + 1) * sizeof *picks);

    if (picks) {
        memcpy(picks, found->picks, found->npicks * sizeof *picks);
        x->picks = picks;
        x->npicks = found->npicks;
        a->start = found->start;
    }
    if (weir_release(x->g, found->job, x->err) || !picks)
        return weir_fail_nomem(x->err);
    return WEIR_OK;
}

/* Runs one match with the options in `data`. Returns 1 if the request fits, 0 if not, or a negative status. */
static int ask(void *data, const weir_policy *p)
{
    struct match_call *a = data;
    const weir_allocation *found = NULL;
    weir_err why = {0};
    int rc;

    weir_explain_spend(a->x);
    a->o.at = a->x->o->at;
    a->o.policy = p;
    a->o.reading = a->x->o->reading;
    rc = weir_match(a->x->g, a->x->request, &a->o, &found, &why);
    if (rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE)
        return 0;
    if (rc && a->x->err && a->x->err->code == 0)
        *a->x->err = why;
    if (!rc && found)
        rc = take_reservation(a, found);
    return rc ? rc : 1;
}

/* ---- parts of the result ---- */

static int give_picks(struct explain *x, int64_t start)
{
    x->out->start = start;
    x->out->picks = x->picks;
    x->out->npicks = x->npicks;
    x->picks = NULL;
    x->npicks = 0;
    return WEIR_OK;
}

/* Whether some way consists of jobs alone: the request fits once running jobs end. */
static bool jobs_suffice(const weir_explanation *out)
{
    for (uint32_t i = 0; i < out->nways; i++) {
        bool jobs = out->ways[i].n > 0;
        for (uint32_t k = 0; k < out->ways[i].n; k++)
            jobs = jobs && out->ways[i].list[k].kind == WEIR_BY_JOB;
        if (jobs)
            return true;
    }
    return false;
}

static int find_start(struct explain *x)
{
    struct match_call a = {.x = x, .o = {.mode = WEIR_RESERVE}};
    int rc = weir_explain_with_policy(x, false, ask, &a);

    if (rc == WEIR_ELIMIT) {
        if (x->err)
            weir_err_clear(x->err);
        return WEIR_OK;
    }
    if (rc <= 0)
        return rc;
    give_picks(x, a.start);
    return weir_explain_after(x, a.start, x->out->picks, x->out->npicks, &x->out->after);
}

static int find_verdict(struct explain *x)
{
    struct match_call a = {.x = x, .o = {.mode = WEIR_FEASIBLE}};
    int rc = weir_explain_with_policy(x, false, ask, &a);

    if (rc < 0)
        return rc;
    x->out->verdict = rc == 0 ? WEIR_INFEASIBLE : jobs_suffice(x->out) ? WEIR_BUSY : WEIR_BLOCKED;
    return WEIR_OK;
}

/* ---- one vertex ---- */

/* A list with one instance of the first resource of `type`, inside a slot if the resource was in a slot. NULL with
 * *rc 0: the request has no such resource. */
static json_t *only_resource(struct explain *x, const char *type, int *rc)
{
    struct part p, up;
    bool slot = false;
    json_t *one = NULL;

    for (uint32_t n = 0; !one && weir_part_at(x->resources, n, &p); n++)
        if (strcmp(weir_part_type(p.value), type) == 0)
            one = json_deep_copy(p.value);
    if (!one)
        return NULL;
    for (uint32_t n = 0; p.parent && !slot && weir_part_at(x->resources, n, &up); n++)
        if (up.value == p.parent) {
            slot = weir_part_is_slot(p.parent);
            p.parent = up.parent;
            n = UINT32_MAX;
        }
    if (json_object_set_new(one, "count", json_integer(1)) == 0 && slot)
        one = json_pack("{s:s, s:s, s:i, s:[o]}", "type", "slot", "label", "there", "count", 1, "with", one);
    one = one ? json_pack("[o]", one) : NULL;
    if (!one)
        *rc = weir_fail_nomem(x->err);
    return one;
}

/* Narrows the question to the vertex `where`: to the resource of the vertex's type, or of the nearest ancestor's
 * type that the request names. */
static int narrow(struct explain *x)
{
    int rc = WEIR_OK;
    json_t *one = NULL;

    x->only = x->o->where;
    for (weir_vertex v = x->only; !one && !rc && v != WEIR_NONE; v = vertex_at(x->g, v)->parent) {
        one = only_resource(x, weir_vertex_type(x->g, v), &rc);
        if (one)
            x->only = v;
    }
    if (rc || !one)
        return rc;
    json_decref(x->resources);
    x->resources = one;
    weir_explain_changed(x);
    return WEIR_OK;
}

/* ---- the whole ---- */

/* Converts the amounts of x->resources to the units of the graph's pools, for the texts of the result. */
static int use_units(struct explain *x)
{
    const weir_request *bound;
    int rc = weir_request_bind(x->asked, x->g, &bound) ? weir_fail_nomem(x->err) : WEIR_OK;
    struct part p;

    if (rc)
        return rc;
    for (uint32_t i = 0; !rc && bound != x->asked && i < bound->count; i++) {
        const weir_resource *r = bound->order[i];
        if (strcmp(r->unit, x->asked->order[i]->unit) == 0 || !weir_part_at(x->resources, i, &p))
            continue;
        if (json_object_set_new(p.value, "unit", json_string(r->unit)) ||
            json_object_set_new(p.value, "count", weir_count_to_json(&r->count)))
            rc = weir_fail_nomem(x->err);
    }
    weir_request_unbind(x->asked, bound);
    return rc;
}

#define NEXT_TRIES 500 /* matches reserved for the shortage, and as many for the earliest start */

static int explain(struct explain *x)
{
    int rc = use_units(x);

    if (!rc && x->o->where != WEIR_NONE)
        rc = narrow(x);
    x->out->where = x->only;
    rc = rc ? rc : weir_explain_collect(x);
    rc = rc ? rc : weir_explain_try(x, TRY_KEEP);
    x->out->stats = x->stats;
    if (rc < 0)
        return rc;
    if (rc == 1) {
        give_picks(x, x->o->at);
        return weir_explain_levels(x);
    }
    rc = weir_explain_levels(x);
    x->limit = WEIR_EXPLAIN_TRIES - 2 * NEXT_TRIES;
    rc = rc ? rc : weir_explain_ways(x);
    rc = rc ? rc : find_verdict(x);
    x->limit += NEXT_TRIES;
    rc = rc ? rc : weir_explain_shortage(x);
    x->limit += NEXT_TRIES;
    if (!rc && x->out->verdict == WEIR_BUSY)
        rc = find_start(x);
    return rc;
}

static int check(const weir_graph *g, const weir_explain_options *o, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (o->at < g->now || o->at == WEIR_FOREVER)
        return weir_fail(err, WEIR_EINVAL, "the start %" PRId64 " us lies before the clock, %" PRId64 " us", o->at,
                         g->now);
    if (o->where != WEIR_NONE && !vertex_valid(g, o->where))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", o->where);
    return WEIR_OK;
}

static void end(struct explain *x)
{
    weir_explain_forget(x);
    weir_request_free(x->request);
    json_decref(x->resources);
    weir_mem_free(x->picks);
}

int weir_explain(weir_graph *copy, const weir_request *r, const weir_explain_options *o, weir_explanation **out,
                 weir_err *err)
{
    weir_err own = {0};
    struct explain x = {.g = copy, .asked = r, .o = o, .only = WEIR_NONE, .err = err ? err : &own};
    int rc = check(copy, o, x.err);

    *out = NULL;
    if (rc)
        return rc;
    x.out = weir_mem_zalloc(1, sizeof *x.out);
    x.resources = json_deep_copy(json_object_get(r->root, "resources"));
    if (x.out)
        x.out->start = WEIR_FOREVER;
    rc = x.out && x.resources ? explain(&x) : weir_fail_nomem(x.err);
    if (x.out)
        x.out->tries = x.tries;
    end(&x);
    if (rc) {
        weir_explanation_free(x.out);
        return rc;
    }
    *out = x.out;
    return WEIR_OK;
}

/* ---- freeing ---- */

static void drop(const void *p)
{
    weir_mem_free((void *)(uintptr_t)p);
}

static void free_way(const weir_way *w)
{
    for (uint32_t i = 0; w->list && i < w->n; i++)
        if (w->list[i].kind == WEIR_BY_CONSTRAINT)
            drop(w->list[i].text);
    drop(w->list);
}

static void free_shortage(const weir_shortage *s)
{
    if (!s)
        return;
    drop(s->part);
    drop(s->type);
    drop(s->unit);
    drop(s->level);
    drop(s);
}

void weir_explanation_free(weir_explanation *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->nways; i++)
        free_way(&x->ways[i]);
    for (uint32_t i = 0; i < x->nlevels; i++) {
        for (uint32_t k = 0; k < x->levels[i].ncauses; k++)
            drop(x->levels[i].causes[k].type);
        drop(x->levels[i].causes);
        drop(x->levels[i].type);
    }
    free_way(&x->after);
    free_shortage(x->shortage);
    drop(x->picks);
    drop(x->ways);
    drop(x->levels);
    weir_mem_free(x);
}
