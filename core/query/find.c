/* find.c - lists all vertices that a query holds for. Invariant: a subtree is skipped only if no vertex of the
 * subtree can match. To find such subtrees, the query is evaluated once for each type and for each path prefix with
 * all other facts unknown.
 */
#include "query/query.h"

#include <string.h>

#include "aggregate/schema.h"

/* Limit of the work to evaluate the query for each type: types times tests and pattern pieces. Above the limit every
 * type counts as possible. */
#define WORK_MAX (1u << 22)

struct finder {
    const weir_graph *g;
    const weir_query *q;
    struct query_subject subject;
    uint32_t *bound; /* by test, from weir_query_bind() */
    uint8_t *reach;  /* by test, scratch for weir_query_results() */
    uint8_t *types;  /* by type: the possible results, RESULT_NO | RESULT_YES */
    /* by schema: nonzero if a match is possible below; NULL while the graph is built and schemas are out of date */
    uint8_t *enter;
    weir_vertex *list;
    uint32_t n, cap;
};

static void evaluate_types(struct finder *s)
{
    const weir_graph *g = s->g;
    bool pays = (uint64_t)g->ntypes * (s->q->ntests + s->q->npieces) <= WORK_MAX;

    for (uint32_t t = 0; t < g->ntypes; t++) {
        struct query_facts o = {type_text(g, (weir_type)t), NULL, 0};
        s->types[t] = pays ? (uint8_t)weir_query_results(s->q, &o, s->reach) : RESULT_NO | RESULT_YES;
    }
    for (uint32_t i = 0; s->enter && i < aggregates_in(g)->nschemas; i++) {
        const struct schema *schema = schema_at(g, i);
        for (uint32_t k = 0; k < schema->ntypes; k++)
            s->enter[i] |= s->types[schema->codes[k]] & RESULT_YES;
    }
}

static void search_clear(struct finder *s)
{
    weir_query_subject_clear(&s->subject);
    WEIR_FREE(s->bound, s->reach, s->types, s->enter);
}

static int search_begin(struct finder *s, const weir_graph *g, const weir_query *q)
{
    memset(s, 0, sizeof *s);
    s->g = s->subject.g = g;
    s->q = q;
    s->bound = weir_mem_alloc(q->ntests * sizeof *s->bound);
    s->reach = weir_mem_alloc(q->ntests);
    s->types = weir_mem_zalloc(g->ntypes, 1);
    s->enter = weir_mem_zalloc(aggregates_in(g)->nschemas, 1);
    if (!s->bound || !s->reach || !s->types || !s->enter)
        return WEIR_ENOMEM;
    if (g->building) {
        weir_mem_free(s->enter);
        s->enter = NULL;
    }
    weir_query_bind(q, g, s->bound);
    s->subject.bound = s->bound;
    evaluate_types(s);
    return WEIR_OK;
}

static bool out_of_memory(const struct finder *s)
{
    return s->subject.path.failed || s->subject.name_text.failed;
}

static int visit(struct finder *s, weir_vertex v)
{
    uint8_t may = s->types[kind_of(s->g, v)->type];
    bool holds = may == RESULT_YES;

    if (!(may & RESULT_YES))
        return WEIR_OK;
    if (!holds) {
        weir_query_move(&s->subject, v);
        holds = weir_query_holds(s->q, &s->subject);
        if (out_of_memory(s))
            return WEIR_ENOMEM;
    }
    if (!holds)
        return WEIR_OK;
    if (s->n == s->cap && weir_array_reserve(&s->list, &s->cap, (size_t)s->n + 1, sizeof *s->list))
        return WEIR_ENOMEM;
    s->list[s->n++] = v;
    return WEIR_OK;
}

/* Whether a match is possible below v. */
static bool may_match_below(struct finder *s, weir_vertex v, const struct inner *in)
{
    struct query_facts o = {NULL, NULL, 0};

    if (s->enter && !s->enter[in->schema])
        return false;
    if (!s->q->paths)
        return true;
    weir_query_move(&s->subject, v);
    return !weir_query_path(&s->subject, &o.below, &o.below_len) ||
           (weir_query_results(s->q, &o, s->reach) & RESULT_YES);
}

static weir_vertex kid_from(const struct inner *in, uint32_t pos)
{
    while (pos < in->nkids && in->kids[pos] == WEIR_NONE)
        pos++;
    return pos < in->nkids ? in->kids[pos] : WEIR_NONE;
}

/* The next vertex after v in preorder at or below `top`; WEIR_NONE at the end. */
static weir_vertex next_vertex(struct finder *s, weir_vertex v, weir_vertex top)
{
    const struct inner *in = inner_of(s->g, v);
    weir_vertex found = in && may_match_below(s, v, in) ? kid_from(in, 0) : WEIR_NONE;

    while (found == WEIR_NONE && v != top) {
        weir_vertex parent = vertex_at(s->g, v)->parent;
        found = kid_from(inner_of(s->g, parent), vertex_at(s->g, v)->pos + 1);
        v = parent;
    }
    return found;
}

static int find_below(struct finder *s, weir_vertex top)
{
    for (weir_vertex v = top; v != WEIR_NONE; v = next_vertex(s, v, top)) {
        int rc = weir_interrupted() ? WEIR_EINTERRUPTED : visit(s, v);
        if (rc)
            return rc;
    }
    return out_of_memory(s) ? WEIR_ENOMEM : WEIR_OK;
}

static int find_all(struct finder *s)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < s->g->nroots; i++)
        if (s->g->roots[i] != WEIR_NONE)
            rc = find_below(s, s->g->roots[i]);
    return rc;
}

/* Whether the query needs test `one`: fails for every vertex that fails the test. */
static bool needs_test(const struct finder *s, uint32_t one)
{
    const weir_query *q = s->q;
    bool holds = false;

    memset(s->reach, 0, q->ntests);
    s->reach[0] = 1;
    for (uint32_t i = 0; i < q->ntests; i++) {
        const uint32_t exits[] = {q->tests[i].no, i == one ? QUERY_NO : q->tests[i].yes};
        for (int k = 0; s->reach[i] && k < 2; k++) {
            holds = holds || exits[k] == QUERY_YES;
            if (exits[k] < q->ntests)
                s->reach[exits[k]] = 1;
        }
    }
    return !holds;
}

/* Looks a vertex up where the query needs a UUID: *rc is the status then. Returns false where it does not. */
static bool find_uuid(struct finder *s, weir_vertex start, int *rc)
{
    for (uint32_t i = 0; i < s->q->ntests; i++) {
        const struct query_test *t = &s->q->tests[i];
        uint8_t uuid[16];
        weir_vertex v;
        if (t->field != QUERY_UUID || t->op != QUERY_EQ || !needs_test(s, i))
            continue;
        v = weir_uuid_parse(t->text, uuid) ? weir_uuid_find(s->g, uuid) : WEIR_NONE;
        *rc = WEIR_OK;
        if (v != WEIR_NONE && !vertex_detached(s->g, v) && (start == WEIR_NONE || weir_vertex_within(s->g, v, start)))
            *rc = visit(s, v);
        if (out_of_memory(s))
            *rc = WEIR_ENOMEM;
        return true;
    }
    return false;
}

int weir_find(const weir_graph *g, const weir_query *q, weir_vertex start, weir_vertex **out, uint32_t *n,
              weir_err *err)
{
    struct finder s;
    int rc;

    if (start != WEIR_NONE && !vertex_valid(g, start))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u to start from", start);
    rc = search_begin(&s, g, q);
    if (!rc && !find_uuid(&s, start, &rc))
        rc = start == WEIR_NONE ? find_all(&s) : find_below(&s, start);
    search_clear(&s);
    if (rc) {
        weir_mem_free(s.list);
        return rc == WEIR_EINTERRUPTED ? weir_fail(err, rc, "interrupted") : weir_fail_nomem(err);
    }
    *out = s.list;
    *n = s.n;
    return WEIR_OK;
}
