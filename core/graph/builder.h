/* builder.h - vertices in bulk, for readers that know the parent and the place of each vertex before any list of
 * children is made. Private to the core.
 *
 * Between weir_graph_begin() and weir_graph_end(), on an empty graph, a reader writes the vertices in any order by
 * weir_build_vertex(), and then weir_build_tree() makes all lists of children at once, each exactly as long as needed.
 * After a failure the graph can only be freed.
 */
#ifndef WEIR_BUILDER_H
#define WEIR_BUILDER_H

#include "graph/graph.h"

#define BUILD_HOLES      (1u << 20) /* holes among children that a whole graph may have, */
#define BUILD_HOLES_EACH 16         /* plus as many for each vertex number */

/* Writes vertex v, below the capacity of the array, and counts the vertex. Of `x`, id, kind, parent, pos, pool and
 * state matter; the kind is in the graph, and the caller has checked the units. */
static inline void weir_build_vertex(weir_graph *g, weir_vertex v, struct vertex x)
{
    x.inner = 0;
    x.schedule = WEIR_NONE;
    x.flags = VERTEX_LIVE;
    g->vertices[v] = x;
    g->kinds[x.kind].count++;
    g->units += g->kinds[x.kind].size;
    g->unavailable += !state_available(x.state);
    g->detached += vertex_detached(g, v);
    g->live++;
}

/* Lists the children of the vertices below `limit`. WEIR_EPARSE: a parent does not exist, or two vertices have one
 * place; WEIR_ELIMIT: too many places are empty; WEIR_ENOMEM. O(vertices + holes) */
int weir_build_tree(weir_graph *g, weir_err *err) WEIR_CHECKED;
/* Fails with WEIR_ELIMIT if a graph with so many holes among children would not be built again. */
int weir_build_holes(const weir_graph *g, uint64_t holes, weir_err *err) WEIR_CHECKED;

#endif
