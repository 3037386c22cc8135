/* explain_try.c - runs one match of an explanation: a preview on the copy, without the lifted parts of constraint
 * and policy. Invariant: no schedule changes.
 */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

/* ---- the request as it is now ---- */

void weir_explain_changed(struct explain *x)
{
    weir_request_free(x->request);
    x->request = NULL;
}

/* The number of values in a JSON text. */
static uint64_t size_of(const json_t *value)
{
    uint64_t n = 1;
    const char *key;
    json_t *kid;

    json_object_foreach((json_t *)(uintptr_t)value, key, kid)
        n += size_of(kid);
    for (size_t i = 0; i < json_array_size(value); i++)
        n += size_of(json_array_get(value, i));
    return n;
}

/* The constraint without lifted parts, as {"and": [...]}. NULL: no part is left (*any is false), or out of memory. */
static json_t *constraint_now(struct explain *x, bool *any)
{
    json_t *list = json_array(), *value;

    *any = false;
    x->size = 0;
    for (uint32_t i = x->first[WEIR_BY_CONSTRAINT]; list && i < x->first[WEIR_BY_CONSTRAINT + 1]; i++)
        if (!x->list[i].lifted) {
            *any = true;
            x->size += size_of(x->list[i].atom);
            if (json_array_append_new(list, json_deep_copy(x->list[i].atom)))
                break;
        }
    value = list && *any ? json_object() : NULL;
    if (value && json_object_set_new(value, "and", list) == 0)
        return value;
    if (value)
        json_decref(value);
    else
        json_decref(list);
    return NULL;
}

/* attributes.system as asked, with the current constraint. NULL: out of memory. */
static json_t *system_now(struct explain *x)
{
    json_t *asked = json_object_get(json_object_get(x->asked->root, "attributes"), "system");
    json_t *system = asked ? json_copy(asked) : json_object(); /* members are shared: compiling changes nothing */
    bool any;
    json_t *constraint = constraint_now(x, &any);

    if (system && constraint && json_object_set(system, "constraints", constraint) == 0) {
        json_decref(constraint);
        return system;
    }
    json_decref(constraint);
    if (system && !any) {
        json_object_del(system, "constraints");
        return system;
    }
    json_decref(system);
    return NULL;
}

int weir_explain_request(struct explain *x)
{
    weir_json_document d = {.kind = WEIR_DOCUMENT_JSON, .source = "<part>"};
    json_t *system;
    int rc;

    if (x->request)
        return WEIR_OK;
    system = system_now(x);
    d.root = system ? json_pack("{s:o, s:{s:o}}", "resources", json_deep_copy(x->resources), "attributes", "system",
                                system)
                    : NULL;
    rc = d.root ? weir_jobspec_compile(&d, &x->request, x->err) : weir_fail_nomem(x->err);
    weir_json_document_free(&d);
    return rc;
}

/* ---- the policy as it is now ---- */

/* A policy between the matcher and the hooks of the policy in question, which drops lifted hooks. */
struct screen {
    struct explain *x;
    const weir_policy *inner;
    bool least;
    int (*run)(void *data, const weir_policy *p);
    void *data;
};

static int screen_keys(void *data, const weir_graph *g, weir_vertex v, double out[WEIR_ORDER_KEYS])
{
    const weir_policy *p = ((struct screen *)data)->inner;
    return p->keys(p->data, g, v, out);
}

static int screen_prune(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r)
{
    const struct screen *s = data;
    weir_vertex only = s->x->only;

    if (only != WEIR_NONE && !weir_vertex_within(g, v, only) && !weir_vertex_within(g, only, v))
        return 0;
    if (!s->inner->prune || s->x->list == NULL)
        return 1;
    for (uint32_t i = s->x->first[WEIR_BY_POLICY]; i < s->x->first[WEIR_BY_POLICY + 1]; i++)
        if (s->x->list[i].part == PART_PRUNE && s->x->list[i].lifted)
            return 1;
    return s->inner->prune(s->inner->data, g, v, r);
}

static int screen_evaluate(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                           double *score)
{
    const weir_policy *p = ((struct screen *)data)->inner;
    return p->evaluate(p->data, g, r, v, n, score);
}

static int64_t screen_select(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v,
                             const double *score, size_t n, size_t min, size_t max, uint32_t *chosen)
{
    const weir_policy *p = ((struct screen *)data)->inner;
    return p->select(p->data, g, r, v, score, n, min, max, chosen);
}

/* Scores candidates by the number of obstacles at, below and above the vertex, fewest first. */
static int score_obstacles(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                           double *score)
{
    const struct explain *x = ((struct screen *)data)->x;

    (void)r;
    for (size_t i = 0; i < n; i++) {
        score[i] = -(double)x->weight[v[i]];
        for (weir_vertex up = vertex_at(g, v[i])->parent; up != WEIR_NONE; up = vertex_at(g, up)->parent)
            score[i] -= x->own[up];
    }
    return 0;
}

static unsigned parts_lifted(const struct explain *x)
{
    unsigned parts = 0;

    for (uint32_t i = x->first[WEIR_BY_POLICY]; x->list && i < x->first[WEIR_BY_POLICY + 1]; i++)
        parts |= x->list[i].lifted ? x->list[i].part : 0;
    return parts;
}

static int use_policy(void *data, const weir_policy *inner)
{
    static const weir_policy first_found = {.name = "first"};
    struct screen *s = data;
    unsigned lifted = parts_lifted(s->x);
    weir_policy p;

    s->inner = inner ? inner : &first_found;
    p = *s->inner;
    p.data = s;
    p.keys = p.keys ? screen_keys : NULL;
    p.prune = s->x->only != WEIR_NONE || (p.prune && !(lifted & PART_PRUNE)) ? screen_prune : NULL;
    p.evaluate = p.evaluate && !(lifted & PART_EVALUATE) ? screen_evaluate : NULL;
    p.select = p.select ? screen_select : NULL;
    if (s->least) {
        p.evaluate = score_obstacles;
        p.select = NULL;
        p.runs = false;
    }
    p.nexclusive = lifted & PART_EXCLUSIVE ? 0 : p.nexclusive;
    p.nlocality = lifted & PART_LOCALITY ? 0 : p.nlocality;
    return s->run(s->data, &p);
}

int weir_explain_with_policy(struct explain *x, bool least, int (*run)(void *data, const weir_policy *p), void *data)
{
    struct screen s = {.x = x, .least = least, .run = run, .data = data};
    int rc = weir_explain_request(x);

    if (rc)
        return rc;
    if (!x->o->frame)
        return use_policy(&s, x->o->policy);
    return x->o->frame(x->o->data, x->request, use_policy, &s, x->err);
}

/* ---- asking ---- */

bool weir_explain_exhausted(struct explain *x)
{
    if (x->spent < x->limit)
        return false;
    x->out->cut = true;
    return true;
}

void weir_explain_spend(struct explain *x)
{
    x->tries++;
    x->spent += 1 + x->size / TRY_VALUES;
}

struct question {
    struct explain *x;
    enum try_how how;
};

static int keep_picks(struct explain *x, const weir_allocation *a)
{
    weir_pick *picks = weir_mem_realloc(x->picks, (a->npicks + 1) * sizeof *picks);

    if (!picks)
        return weir_fail_nomem(x->err);
    memcpy(picks, a->picks, a->npicks * sizeof *picks);
    x->picks = picks;
    x->npicks = a->npicks;
    return WEIR_OK;
}

static int preview(void *data, const weir_policy *p)
{
    const struct question *q = data;
    struct explain *x = q->x;
    weir_match_options o = {
        .mode = WEIR_PREVIEW, .at = x->o->at, .policy = p, .stats = &x->stats, .reading = x->o->reading};
    const weir_allocation *a = NULL;
    weir_err why = {0};
    int rc;

    memset(&x->stats, 0, sizeof x->stats);
    rc = weir_match(x->g, x->request, &o, &a, &why);
    if (rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE)
        return 0;
    if (rc) {
        if (x->err && x->err->code == 0)
            *x->err = why;
        return rc;
    }
    rc = q->how == TRY_PLAIN ? WEIR_OK : keep_picks(x, a);
    weir_allocation_free(a);
    return rc ? rc : 1;
}

int weir_explain_try(struct explain *x, enum try_how how)
{
    struct question q = {x, how};
    int rc = weir_explain_with_policy(x, how == TRY_LEAST, preview, &q);

    weir_explain_spend(x);
    return rc;
}
