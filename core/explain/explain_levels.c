/* explain_levels.c - counts, for each type in a request, the causes of exclusion of the type's vertices. Invariant:
 * each vertex counts once, under the first cause in the order of enum weir_cause_kind: fixed properties, then
 * decisions of the site, then use by running jobs. The graph is only read.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain_parents.h"
#include "time/schedule.h"
#include "request/constraint.h"
#include "match/match.h"
#include "aggregate/schema.h"
#include "time/availability.h"

/* The causes that exclude a vertex together with all vertices below: bits 1 << enum weir_cause_kind. */
typedef uint8_t marks_t;
#define MARK(cause) ((marks_t)(1u << (cause)))

/* The count of the vertices of one type. */
struct census {
    struct match m; /* context for the matcher's tests of candidates: graph, request, policy, window */
    const weir_resource *r;
    weir_type type;
    bool *around;      /* by vertex: counts; NULL: all vertices count */
    weir_vertex where; /* the vertex in question; WEIR_NONE: none */
    marks_t *marks;    /* by vertex */
    struct parents parents;
    weir_level *level;
    weir_cause *causes; /* of the level */
    uint32_t ncauses, causes_cap;
};

/* Counts a vertex under a cause. */
static int count(struct census *c, int by, const char *type)
{
    for (uint32_t i = 0; i < c->ncauses; i++)
        if (c->causes[i].by == by && (!type || strcmp(c->causes[i].type, type) == 0)) {
            c->causes[i].count++;
            return WEIR_OK;
        }
    if (WEIR_ARRAY_ADD(c->causes, c->ncauses, c->causes_cap, (weir_cause){by, type, 1}))
        return weir_fail_nomem(c->m.err);
    c->level->causes = c->causes;
    c->level->ncauses = c->ncauses;
    return WEIR_OK;
}

static int64_t cell_of(const weir_graph *g, weir_vertex v, const char *type, uint32_t which)
{
    const struct inner *in = inner_of(g, v);
    weir_type t = weir_type_find(g, type);
    uint32_t cell = in && in->cells && t != WEIR_NO_TYPE ? type_cell(schema_at(g, in->schema), t) : 0;

    return cell ? in->cells[cell + which] : 0;
}

/* Whether what v reaches beyond the tree makes up for `missing` units, in all or free. */
static bool makes_up(struct census *c, weir_vertex v, const char *type, uint32_t which, int64_t missing)
{
    weir_type t = weir_type_find(c->m.g, type);

    return c->parents.shared && t != WEIR_NO_TYPE &&
           weir_parents_beyond(&c->parents, v, t, which == TYPE_FREE ? c->marks : NULL) >= missing;
}

/* The first type with too few units below v, in all (TYPE_TOTAL) or free (TYPE_FREE); NULL: every need is met. */
static const char *short_of(struct census *c, weir_vertex v, uint32_t which)
{
    uint32_t n;
    const struct weir_need *needs = weir_resource_needs(c->m.ask.request, c->r->index, &n);

    if (c->m.ask.links != WEIR_NONE) /* needs may be met across links */
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        int64_t missing = needs[i].amount - cell_of(c->m.g, v, needs[i].type, which);
        if (missing > 0 && weir_flow_find(c->m.g, needs[i].type) == WEIR_NONE &&
            !makes_up(c, v, needs[i].type, which, missing))
            return needs[i].type;
    }
    return NULL;
}

/* Whether jobs' use of v in [t0, t1) excludes the vertex and all vertices below. */
static bool subtree_in_use(const struct census *c, weir_vertex v, int64_t t1)
{
    const weir_graph *g = c->m.g;

    if (weir_candidate_whole(&c->m, v))
        return !weir_availability_unused(g, v, c->m.window.t0, t1);
    return schedule_of(g, v) && weir_schedule_touched(g, v, c->m.window.t0, t1, true);
}

/* Whether jobs' use of v in [t0, t1) excludes the vertex by itself. */
static bool in_use(struct census *c, weir_vertex v, int64_t t1)
{
    const weir_graph *g = c->m.g;

    if (weir_candidate_idle(&c->m, c->r) || (c->r->takes && weir_vertex_children(g, v) > 0))
        return !weir_availability_unused(g, v, c->m.window.t0, t1);
    if (weir_candidate_divisible(&c->m, v, c->r))
        return weir_availability_free(g, v, c->m.window.t0, t1) <= 0;
    return false;
}

/* Computes the causes that exclude v and all vertices below, including causes inherited from the parent where no
 * vertex has several parents. */
static int marks_of(struct census *c, weir_vertex v, marks_t *out)
{
    const weir_graph *g = c->m.g;
    weir_vertex up = vertex_at(g, v)->parent;
    marks_t m = up == WEIR_NONE || c->parents.shared ? 0 : c->marks[up];
    const weir_constraint *wanted = weir_request_constraint(c->m.ask.request);
    int go = 1;

    if (wanted && kind_of(g, v)->type == c->m.ask.node_type && !weir_constraint_match(wanted, g, v))
        m |= MARK(WEIR_CAUSE_CONSTRAINT);
    if (!state_available(vertex_at(g, v)->state))
        m |= MARK(WEIR_CAUSE_STATE);
    if (c->m.ask.policy->prune && !(m & MARK(WEIR_CAUSE_POLICY)))
        go = c->m.ask.policy->prune(c->m.ask.policy->data, g, v, c->r);
    if (go == 0)
        m |= MARK(WEIR_CAUSE_POLICY);
    if (subtree_in_use(c, v, c->m.window.t0 + 1))
        m |= MARK(WEIR_CAUSE_EXCLUSIVITY);
    else if (subtree_in_use(c, v, c->m.window.t1))
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
    if ((m & MARK(WEIR_CAUSE_EXCLUSIVITY)) || in_use(c, v, c->m.window.t0 + 1))
        return count(c, WEIR_CAUSE_EXCLUSIVITY, NULL);
    if ((m & MARK(WEIR_CAUSE_TIME)) || in_use(c, v, c->m.window.t1))
        return count(c, WEIR_CAUSE_TIME, NULL);
    if (c->m.window.t0 <= c->m.g->now && (type = short_of(c, v, TYPE_FREE)) != NULL)
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

/* Whether v is a pool outside of containment: a walk over containment does not meet it. */
static bool stands_alone(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->parent == WEIR_NONE && weir_vertex_children(g, v) == 0 && in_other_subsystem(g, v);
}

/* Whether v counts: it is around the vertex in question, if any, or outside of the tree of that vertex. */
static bool counts(const struct census *c, weir_vertex v)
{
    return !c->around || c->around[v] || (stands_alone(c->m.g, v) && !stands_alone(c->m.g, c->where));
}

/* Whether the causes at v are needed: v is counted, or passes causes on to vertices below. */
static bool matters(const struct census *c, weir_vertex v)
{
    return kind_of(c->m.g, v)->type == c->type || inner_of(c->m.g, v) || (c->parents.shared && c->parents.shared[v]);
}

/* Gathers the marks of v, counts v if it has the type c->type, or both. */
static int pass_vertex(struct census *c, weir_vertex v, bool gather, bool counting)
{
    int rc = gather && matters(c, v) ? marks_of(c, v, &c->marks[v]) : WEIR_OK;

    return !rc && counting && kind_of(c->m.g, v)->type == c->type && counts(c, v) ? classify(c, v) : rc;
}

/* Passes over the tree and the pools outside of containment: gathers the marks, counts the vertices of c->type, or
 * both. */
static int pass(struct census *c, bool gather, bool counting)
{
    weir_walk_options o = {.start = WEIR_NONE};
    weir_walk *w = weir_walk_new(c->m.g, &o, c->m.err);
    weir_vertex v;
    int rc = w ? WEIR_OK : WEIR_ENOMEM;

    while (!rc && (rc = weir_walk_next(w, &v, c->m.err)) > 0)
        rc = pass_vertex(c, v, gather, counting);
    weir_walk_free(w);
    for (uint32_t i = 0; !rc && i < c->m.g->nroots; i++) {
        v = c->m.g->roots[i];
        if (v != WEIR_NONE && stands_alone(c->m.g, v))
            rc = pass_vertex(c, v, gather, counting);
    }
    return rc;
}

/* Counts all vertices of c->type. */
static int count_level(struct census *c)
{
    bool several = c->parents.shared != NULL;
    int rc;

    if (several)
        memset(c->marks, 0, c->m.g->limit * sizeof *c->marks);
    rc = pass(c, true, !several);
    if (!rc && several)
        rc = weir_parents_inherit(&c->parents, c->marks) ? weir_fail_nomem(c->m.err) : pass(c, false, true);
    if (!rc && c->ncauses)
        qsort(c->causes, c->ncauses, sizeof *c->causes, by_count);
    return rc;
}

static int add_level(struct census *c, const weir_resource *r, weir_level *level)
{
    c->r = r;
    c->type = weir_type_find(c->m.g, r->type);
    c->level = level;
    c->causes = NULL;
    c->ncauses = c->causes_cap = 0;
    *level = (weir_level){.type = r->type, .unit = "", .resource = r->index, .need = r->count.min};
    if (c->type == WEIR_NO_TYPE)
        return WEIR_OK;
    level->unit = weir_type_unit(c->m.g, c->type);
    return count_level(c);
}

static int add_levels(struct census *c, weir_level *levels, uint32_t *n)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < c->m.ask.request->count && *n < WEIR_EXPLAIN_LEVELS; i++) {
        const weir_resource *r = c->m.ask.request->order[i];
        if (!r->slot && weir_flow_find(c->m.g, r->type) == WEIR_NONE)
            rc = add_level(c, r, &levels[(*n)++]);
    }
    return rc;
}

static int check(const weir_graph *g, const weir_match_options *o, weir_vertex where, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (o->at < g->now || o->at == WEIR_FOREVER)
        return weir_fail(err, WEIR_EINVAL, "the start %" PRId64 " us is before the clock, %" PRId64 " us", o->at,
                         g->now);
    if (where != WEIR_NONE && !vertex_valid(g, where))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", where);
    return WEIR_OK;
}

/* Allocates what the census needs. `where`: what counts is at, above or below it; WEIR_NONE: all counts. */
static int begin(struct census *c, weir_vertex where, weir_level **levels)
{
    weir_graph *g = c->m.g;

    c->marks = weir_mem_zalloc(g->limit + 1u, sizeof *c->marks);
    c->where = where;
    c->around = where == WEIR_NONE ? NULL : weir_mem_zalloc(g->limit + 1u, sizeof *c->around);
    *levels = weir_mem_zalloc(WEIR_EXPLAIN_LEVELS, sizeof **levels);
    if (!c->marks || !*levels || (where != WEIR_NONE && !c->around) || weir_parents_begin(&c->parents, g))
        return weir_fail_nomem(c->m.err);
    return c->around ? weir_graph_around(weir_graph_edges(g), weir_subsystem_name(g, 0), where, c->around, c->m.err)
                     : WEIR_OK;
}

int weir_explain_levels(weir_graph *g, const weir_request *r, const weir_match_options *o, weir_vertex where,
                        weir_level **levels, uint32_t *n, weir_err *err)
{
    static const weir_policy first_found = {.name = "first"};
    weir_err own = {0};
    struct census c = {.level = NULL};
    int rc = check(g, o, where, err);

    *levels = NULL;
    *n = 0;
    if (rc)
        return rc;
    c.m = (struct match){
        .g = g, .ask = {.request = r, .node_type = weir_type_find(g, "node"), .options = o}, .window = {.t0 = o->at}};
    c.m.ask.policy = o->policy ? o->policy : &first_found;
    c.m.window.t1 = time_add(o->at, o->duration ? o->duration : weir_request_duration(r));
    c.m.ask.links = o->follow ? weir_subsystem_find(g, o->follow) : WEIR_NONE;
    c.m.err = err ? err : &own;
    rc = begin(&c, where, levels);
    if (!rc)
        rc = weir_request_bind(r, g, &c.m.ask.request) ? weir_fail_nomem(err) : add_levels(&c, *levels, n);
    weir_request_unbind(r, c.m.ask.request);
    weir_mem_free(c.marks);
    weir_mem_free(c.around);
    weir_parents_end(&c.parents);
    if (!rc)
        return WEIR_OK;
    weir_levels_free(*levels);
    *levels = NULL;
    *n = 0;
    return rc;
}

void weir_levels_free(weir_level *levels)
{
    for (uint32_t i = 0; levels && i < WEIR_EXPLAIN_LEVELS; i++)
        weir_mem_free((void *)(uintptr_t)levels[i].causes);
    weir_mem_free(levels);
}
