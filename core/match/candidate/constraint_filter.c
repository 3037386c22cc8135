/* constraint_filter.c - all nodes allowed by the constraint of a request, computed at once, so that a search leaves out
 * rows without any. Most matches never need the filter: a refused node costs a test. From number FILTER_AFTER on the
 * filter pays off.
 *
 * Invariant: weir_constraint_match() would have refused every node that the filter excludes.
 */
#include "match/match.h"

#include "request/constraint.h"
#include "index/node_table.h"
#include "aggregate/schema.h"

int weir_filter_prepare(struct match *m)
{
    const weir_constraint *c = weir_request_constraint(m->ask.request);

    if (m->known.allowed || !c || m->ask.node_type == WEIR_NO_TYPE)
        return WEIR_OK;
    if (weir_node_table_get(m->g, m->ask.node_type, &m->known.node_table) ||
        weir_constraint_nodes(c, m->g, m->known.node_table, &m->known.allowed))
        return weir_fail_nomem(m->err);
    return WEIR_OK;
}

/* Whether vertices of a type are only found at or inside nodes. */
static bool is_in_nodes(const struct match *m, weir_type t)
{
    return t < m->known.node_table->ntypes && !m->known.node_table->outside[t];
}

bool weir_filter_matters(const struct search *s)
{
    bool inside = is_in_nodes(s->m, s->type);

    for (uint32_t i = 0; i < s->nneeds && !inside; i++)
        inside = is_in_nodes(s->m, s->needs[i].type);
    return inside;
}

bool weir_filter_excludes_row(const struct match *m, const struct inner *in, uint32_t row)
{
    struct node_table_span s = node_table_below(m->known.node_table, in, row);
    int64_t first = s.lo < s.hi ? weir_idset_next(m->known.allowed, (int64_t)s.lo - 1) : s.lo;

    return s.lo < s.hi && (first < 0 || first >= s.hi);
}

bool weir_filter_excludes(const struct match *m, weir_vertex v)
{
    const struct inner *in = inner_of(m->g, v);

    if (kind_of(m->g, v)->type == m->ask.node_type)
        return !weir_idset_test(m->known.allowed, weir_node_table_number(m->known.node_table, v));
    return in && in->cells && weir_filter_excludes_row(m, in, 0);
}

int weir_filter_allows_whole(struct match *m, weir_vertex v)
{
    const struct inner *in = inner_of(m->g, v);
    struct node_table_span below;
    int rc;

    if (!weir_request_constrained(m->ask.request) || m->ask.node_type == WEIR_NO_TYPE || !in || !in->cells ||
        !type_cell(aggregates_in(m->g)->schemas[in->schema], m->ask.node_type))
        return 1;
    rc = weir_filter_prepare(m);
    if (rc)
        return rc;
    below = node_table_below(m->known.node_table, in, 0);
    return weir_node_table_all_in(m->known.node_table, below, m->known.allowed);
}
