/* tree_order.c - see tree_order.h. */
#include "graph/tree_order.h"

bool weir_tree_precedes(const weir_graph *view, weir_vertex a, weir_vertex b)
{
    const weir_graph *g = weir_graph_edges(view);
    weir_vertex p = a, q = b;

    vertices_part(g, &p, &q);
    if (p == q)
        return p == a && a != b;
    if (vertex_at(g, p)->pos != vertex_at(g, q)->pos)
        return vertex_at(g, p)->pos < vertex_at(g, q)->pos;
    return p < q;
}

/* Returns one more than the last number at or below v, or WEIR_NONE unless these numbers ascend in the order of the
 * tree, from `next` on. The depth of the tree is bounded. */
static weir_vertex ascending(const weir_graph *g, weir_vertex v, weir_vertex next)
{
    const struct inner *in = inner_of(g, v);

    if (v < next)
        return WEIR_NONE;
    next = v + 1;
    for (uint32_t i = 0, n = in ? in->nkids : 0; i < n; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE)
            continue;
        if (kid < next)
            return WEIR_NONE;
        next = kid + 1;
        if (vertex_at(g, kid)->inner != WEIR_NONE && (next = ascending(g, kid, kid)) == WEIR_NONE)
            return WEIR_NONE;
    }
    return next;
}

void weir_tree_order_built(weir_graph *g)
{
    weir_vertex next = 0;

    for (uint32_t i = 0; i < g->nroots && next != WEIR_NONE; i++)
        if (g->roots[i] != WEIR_NONE)
            next = ascending(g, g->roots[i], next);
    g->shuffled = next == WEIR_NONE;
}

/* Whether v is the last child of its parent, or the last root. */
static bool is_last(const weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    return vertex_at(g, v)->pos + 1 == (p == WEIR_NONE ? g->nroots : inner_of(g, p)->nkids);
}

void weir_tree_order_added(weir_graph *g, weir_vertex first, uint32_t count)
{
    weir_vertex p = vertex_at(g, first)->parent;
    bool last = first + count == g->limit;

    for (; last && p != WEIR_NONE; p = vertex_at(g, p)->parent)
        last = is_last(g, p);
    for (uint32_t i = 0; !last && i < count; i++)
        if (!(vertex_at(g, first + i)->flags & VERTEX_SHUFFLED)) {
            vertex_at(g, first + i)->flags |= VERTEX_SHUFFLED;
            g->shuffled++;
        }
}
