/* dup.h - a duplicate without a tree and without jobs. Private to the core. */
#ifndef WEIR_DUP_H
#define WEIR_DUP_H

#include "graph/graph.h"

/* Duplicate vertices, pools, edges, types and names, each under its number, without jobs. Every vertex keeps parent and
 * place, but there are no lists of children and no rows, as weir_build_tree() and weir_graph_end() expect. O(n) */
int weir_dup_vertices(const weir_graph *g, weir_graph **out, weir_err *err) WEIR_CHECKED;

#endif
