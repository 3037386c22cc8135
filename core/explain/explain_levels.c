/* explain_levels.c - counts, for each type in a request, the causes of exclusion of the type's vertices. Invariant:
 * each vertex counts once, under the first cause in the order of enum weir_cause_kind: fixed properties, then
 * decisions of the site, then use by running jobs.
 */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "time/schedule.h"
#include "request/constraint.h"
#include "match/match.h"
#include "aggregate/schema.h"
#include "time/availability.h"

/* The causes that exclude a vertex together with all vertices below: bits 1 << enum weir_cause_kind. */
typedef uint8_t marks_t;
#define MARK(cause) ((marks_t)(1u << (cause)))

struct census {
    struct explain *x;
    const weir_request *request; /* the request as asked */
    const weir_resource *r;
    weir_type type, node_type;
    const weir_policy *policy;
    int64_t t0, t1;
    marks_t *marks; /* by vertex */
    weir_level *level;
    weir_cause *causes;
    uint32_t ncauses, causes_cap;
    struct match m; /* context for the matcher's tests of candidates */
};

/* Counts a vertex under a cause. `type` is a string of the request until keep_types() copies the causes' types. */
static int count(struct census *c, int by, const char *type)
{
    for (uint32_t i = 0; i < c->ncauses; i++)
        if (c->causes[i].by == by && (!type || strcmp(c->causes[i].type, type) == 0)) {
            c->causes[i].count++;
            return WEIR_OK;
        }
    if (weir_array_reserve(&c->causes, &c->causes_cap, (size_t)c->ncauses + 1, sizeof *c->causes))
        return weir_fail_nomem(c->x->err);
    c->causes[c->ncauses++] = (weir_cause){by, type, 1};
    return WEIR_OK;
}

static int64_t cell_of(const weir_graph *g, weir_vertex v, const char *type, uint32_t which)
{
    const struct inner *in = inner_of(g, v);
    weir_type t = weir_type_find(g, type);
    uint32_t cell = in && in->cells && t != WEIR_NO_TYPE ? type_cell(schema_at(g, in->schema), t) : 0;

    return cell ? in->cells[cell + which] : 0;
}

/* The first type with too few units below v, in all (TYPE_TOTAL) or free (TYPE_FREE); NULL: every need is met. */
static const char *short_of(const struct census *c, weir_vertex v, uint32_t which)
{
    uint32_t n;
    const struct weir_need *needs = weir_resource_needs(c->request, c->r->index, &n);

    if (c->m.links != WEIR_NONE) /* needs may be met across links */
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (weir_flow_find(c->x->g, needs[i].type) == WEIR_NONE &&
            cell_of(c->x->g, v, needs[i].type, which) < needs[i].amount)
            return needs[i].type;
    return NULL;
}

/* Whether jobs' use of v in [t0, t1) excludes the vertex and all vertices below. */
static bool subtree_in_use(const struct census *c, weir_vertex v, int64_t t1)
{
    const weir_graph *g = c->x->g;

    if (weir_candidate_whole(&c->m, v))
        return !weir_availability_unused(g, v, c->t0, t1);
    return schedule_of(g, v) && weir_schedule_touched(g, v, c->t0, t1, true);
}

/* Whether jobs' use of v in [t0, t1) excludes the vertex by itself. */
static bool in_use(struct census *c, weir_vertex v, int64_t t1)
{
    const weir_graph *g = c->x->g;

    if (weir_candidate_idle(&c->m, c->r) || (c->r->takes && weir_vertex_children(g, v) > 0))
        return !weir_availability_unused(g, v, c->t0, t1);
    if (weir_candidate_divisible(&c->m, v, c->r))
        return weir_availability_free(g, v, c->t0, t1) <= 0;
    return false;
}

/* Computes the causes that exclude v and all vertices below, including causes inherited from the parent. */
static int marks_of(struct census *c, weir_vertex v, marks_t *out)
{
    const weir_graph *g = c->x->g;
    weir_vertex up = vertex_at(g, v)->parent;
    marks_t m = up == WEIR_NONE ? 0 : c->marks[up];
    const weir_constraint *wanted = weir_request_constraint(c->request);
    int go = 1;

    if (wanted && kind_of(g, v)->type == c->node_type && !weir_constraint_match(wanted, g, v))
        m |= MARK(WEIR_CAUSE_CONSTRAINT);
    if (!state_available(vertex_at(g, v)->state))
        m |= MARK(WEIR_CAUSE_STATE);
    if (c->policy && c->policy->prune && !(m & MARK(WEIR_CAUSE_POLICY)))
        go = c->policy->prune(c->policy->data, g, v, c->r);
    if (go == 0)
        m |= MARK(WEIR_CAUSE_POLICY);
    if (subtree_in_use(c, v, c->t0 + 1))
        m |= MARK(WEIR_CAUSE_EXCLUSIVITY);
    else if (subtree_in_use(c, v, c->t1))
        m |= MARK(WEIR_CAUSE_TIME);
    *out = m;
    return go < 0 ? WEIR_EPOLICY : WEIR_OK;
}

static int classify(struct census *c, weir_vertex v)
{
    marks_t m = c->marks[v];
    const char *type;

    c->level->visited++;
    if (m & MARK(WEIR_CAUSE_CONSTRAINT))
        return count(c, WEIR_CAUSE_CONSTRAINT, NULL);
    if ((type = short_of(c, v, TYPE_TOTAL)) != NULL)
        return count(c, WEIR_CAUSE_SMALL, type);
    for (int by = WEIR_CAUSE_STATE; by <= WEIR_CAUSE_POLICY; by++)
        if (m & MARK(by))
            return count(c, by, NULL);
    if ((m & MARK(WEIR_CAUSE_EXCLUSIVITY)) || in_use(c, v, c->t0 + 1))
        return count(c, WEIR_CAUSE_EXCLUSIVITY, NULL);
    if ((m & MARK(WEIR_CAUSE_TIME)) || in_use(c, v, c->t1))
        return count(c, WEIR_CAUSE_TIME, NULL);
    if (c->t0 <= c->x->g->now && (type = short_of(c, v, TYPE_FREE)) != NULL)
        return count(c, WEIR_CAUSE_AGGREGATE, type);
    c->level->left++;
    return WEIR_OK;
}

static int by_count(const void *a, const void *b)
{
    const weir_cause *p = a, *q = b;

    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    return p->by != q->by ? p->by - q->by : p->type && q->type ? strcmp(p->type, q->type) : 0;
}

/* Hands the causes over to the level, with copies of the types, because the request is freed earlier. */
static int keep_types(struct census *c)
{
    c->level->causes = c->causes;
    for (uint32_t i = 0; i < c->ncauses; i++) {
        if (c->causes[i].type) {
            c->causes[i].type = weir_mem_strdup(c->causes[i].type);
            if (!c->causes[i].type)
                return weir_fail_nomem(c->x->err);
        }
        c->level->ncauses++;
    }
    if (c->ncauses)
        qsort(c->causes, c->ncauses, sizeof *c->causes, by_count);
    return WEIR_OK;
}

/* Whether v is at, above or below x->only, if set. */
static bool counts(const struct explain *x, weir_vertex v)
{
    return x->only == WEIR_NONE || weir_vertex_within(x->g, v, x->only) || weir_vertex_within(x->g, x->only, v);
}

static int walk(struct census *c)
{
    weir_walk_options o = {.start = WEIR_NONE};
    weir_walk *w = weir_walk_new(c->x->g, &o, c->x->err);
    weir_vertex v;
    int rc = w ? WEIR_OK : WEIR_ENOMEM;

    while (!rc && (rc = weir_walk_next(w, &v, c->x->err)) > 0) {
        rc = marks_of(c, v, &c->marks[v]);
        if (!rc && kind_of(c->x->g, v)->type == c->type && counts(c->x, v))
            rc = classify(c, v);
    }
    weir_walk_free(w);
    return rc;
}

static int count_level(void *data, const weir_policy *p)
{
    struct census *c = data;
    static const weir_policy first_found = {.name = "first"};
    int rc;

    c->policy = p;
    c->m.policy = p ? p : &first_found;
    rc = c->type == WEIR_NO_TYPE ? WEIR_OK : walk(c);
    if (rc) {
        weir_mem_free(c->causes);
        return rc;
    }
    return keep_types(c);
}

static int add_level(struct explain *x, const weir_resource *r, marks_t *marks)
{
    weir_level *level = (weir_level *)(uintptr_t)&x->out->levels[x->out->nlevels];
    weir_match_options options = {.at = x->o->at, .reading = x->o->reading};
    struct census c = {.x = x, .request = x->request, .r = r, .marks = marks, .level = level, .t0 = x->o->at};

    c.type = weir_type_find(x->g, r->type);
    c.node_type = weir_type_find(x->g, "node");
    c.t1 = time_add(c.t0, weir_request_duration(x->request));
    c.m = (struct match){.g = x->g, .request = x->request, .node_type = c.node_type, .options = &options};
    c.m.links = x->o->reading & WEIR_LINKS ? weir_subsystem_find(x->g, "links") : WEIR_NONE;
    *level = (weir_level){.type = weir_mem_strdup(r->type), .resource = r->index, .need = r->count.min};
    if (!level->type)
        return weir_fail_nomem(x->err);
    x->out->nlevels++;
    return weir_explain_with_policy(x, false, count_level, &c);
}

int weir_explain_levels(struct explain *x)
{
    marks_t *marks = weir_mem_zalloc(x->g->limit + 1u, sizeof *marks);
    int rc = marks ? weir_explain_request(x) : weir_fail_nomem(x->err);
    uint32_t n = rc ? 0 : weir_request_count(x->request);

    x->out->levels = rc ? NULL : weir_mem_zalloc(n + 1u, sizeof *x->out->levels);
    if (!rc && !x->out->levels)
        rc = weir_fail_nomem(x->err);
    for (uint32_t i = 0; !rc && i < n && x->out->nlevels < WEIR_EXPLAIN_LEVELS; i++) {
        const weir_resource *r = weir_request_resource(x->request, i);
        if (!r->slot && weir_flow_find(x->g, r->type) == WEIR_NONE)
            rc = add_level(x, r, marks);
    }
    weir_mem_free(marks);
    return rc;
}
