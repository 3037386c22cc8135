/* tree_order.h - the order of vertices in the tree: parents before children, siblings as they were added. It does not
 * depend on vertex numbers, which differ once a graph has been saved and loaded. Private to the core.
 *
 * Invariant: unless g->shuffled is set, the order of the numbers is the order of the tree.
 */
#ifndef WEIR_TREE_ORDER_H
#define WEIR_TREE_ORDER_H

#include "graph/graph.h"

/* Whether a comes before b in the tree of the graph; of the view of a hierarchy, in the tree of the graph that it
 * shows. Vertices out of the tree come last, by number. O(d) */
bool weir_tree_precedes(const weir_graph *g, weir_vertex a, weir_vertex b);
/* Sets g->shuffled for a tree that was built. O(n) */
void weir_tree_order_built(weir_graph *g);
/* Follows the addition of `count` vertices from `first` on as the last children of p. O(d) */
void weir_tree_order_added(weir_graph *g, weir_vertex p, weir_vertex first, uint32_t count);

/* weir_tree_precedes(), mostly without a call. */
WEIR_INLINE bool vertex_before(const weir_graph *g, weir_vertex a, weir_vertex b)
{
    return g->shuffled ? weir_tree_precedes(g, a, b) : a < b;
}

#endif
