/* totals.c - present totals of one vertex, or the whole graph, from rows. Invariant: reads only. */
#include "aggregate/rows.h"

bool weir_vertex_reachable(const weir_graph *g, weir_vertex v)
{
    while (v != WEIR_NONE && vertex_open(g, v))
        v = vertex_at(g, v)->parent;
    return v == WEIR_NONE;
}

static void add_row(const weir_graph *g, weir_vertex v, weir_type t, bool open, weir_aggregate *out)
{
    const struct inner *in = inner_of(g, v);
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;

    if (!cell)
        return;
    out->total += in->cells[cell + TYPE_TOTAL];
    out->free += open ? in->cells[cell + TYPE_FREE] : 0;
    out->idle += open ? in->cells[cell + TYPE_IDLE] : 0;
}

/* Totals of the i-th type over the whole graph: all roots and subtrees. */
static bool aggregate_all(const weir_graph *g, uint32_t i, weir_aggregate *out)
{
    if (i >= g->ntypes)
        return false;
    *out = (weir_aggregate){type_text(g, (weir_type)i), 0, 0, 0};
    for (uint32_t r = 0; r < g->nroots; r++) {
        weir_vertex v = g->roots[r];
        bool open = v != WEIR_NONE && vertex_open(g, v);
        if (v == WEIR_NONE)
            continue;
        add_row(g, v, (weir_type)i, open, out);
        if (kind_of(g, v)->type == i) {
            out->total += kind_of(g, v)->size;
            out->free += open ? vertex_unallocated(g, v) : 0;
            out->idle += open && vertex_unused(g, v) ? kind_of(g, v)->size : 0;
        }
    }
    return true;
}

int64_t weir_graph_total(const weir_graph *g, const char *type)
{
    weir_aggregate sum = {"", 0, 0, 0};
    weir_type t = weir_type_find(g, type);

    for (uint32_t r = 0; t != WEIR_NO_TYPE && r < g->nroots; r++) {
        weir_vertex v = g->roots[r];
        if (v == WEIR_NONE)
            continue;
        add_row(g, v, t, false, &sum);
        sum.total += kind_of(g, v)->type == t ? kind_of(g, v)->size : 0;
    }
    return sum.total;
}

bool weir_graph_aggregate(const weir_graph *g, weir_vertex v, uint32_t i, weir_aggregate *out)
{
    const struct inner *in;
    weir_type t;

    if (v == WEIR_NONE)
        return aggregate_all(g, i, out);
    in = inner_of(g, v);
    if (!in || i >= schema_at(g, in->schema)->ntypes)
        return false;
    t = (weir_type)schema_at(g, in->schema)->codes[i];
    *out = (weir_aggregate){type_text(g, t), 0, 0, 0};
    add_row(g, v, t, weir_vertex_reachable(g, v), out);
    return true;
}

void weir_units_below(const weir_graph *g, weir_vertex v, weir_type t, weir_aggregate *out)
{
    *out = (weir_aggregate){"", 0, 0, 0};
    if (t != WEIR_NO_TYPE)
        add_row(g, v, t, weir_vertex_reachable(g, v), out);
}

int64_t weir_vertex_free(const weir_graph *g, weir_vertex v)
{
    if (vertex_detached(g, v))
        return 0;
    if (g->unavailable == 0 && (!schedules_in(g) || schedules_in(g)->users == 0))
        return kind_of(g, v)->size;
    if (!state_available(vertex_at(g, v)->state))
        return 0;
    for (weir_vertex u = vertex_at(g, v)->parent; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        if (!vertex_open(g, u))
            return 0;
    return vertex_unallocated(g, v);
}
