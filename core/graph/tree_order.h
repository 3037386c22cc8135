/* tree_order.h - the order of vertices in the tree: parents before children, siblings as they were added. It does not
 * depend on vertex numbers, which differ once a graph has been saved and loaded. Private to the core.
 *
 * Invariant: without the vertices that have VERTEX_SHUFFLED, the order of the numbers is the order of the tree, unless
 * the tree was built in another order. So the two orders are one where g->shuffled is 0.
 */
#ifndef WEIR_TREE_ORDER_H
#define WEIR_TREE_ORDER_H

#include "graph/graph.h"

/* Whether a comes before b in the tree of the graph; of the view of a hierarchy, in the tree of the graph that it
 * shows. Vertices out of the tree come last, by number. O(d) */
bool weir_tree_precedes(const weir_graph *g, weir_vertex a, weir_vertex b);
/* Sets g->shuffled for a tree that was built. O(n) */
void weir_tree_order_built(weir_graph *g);
/* Marks `count` vertices from `first` on, added as the last children of their parent, where needed. O(d + count) */
void weir_tree_order_added(weir_graph *g, weir_vertex first, uint32_t count);

/* weir_tree_precedes(), mostly without a call. */
WEIR_INLINE bool vertex_before(const weir_graph *g, weir_vertex a, weir_vertex b)
{
    return g->shuffled ? weir_tree_precedes(g, a, b) : a < b;
}

#endif
