/* pool_size.h - the size of a pool in a graph with jobs. Private to the core. */
#ifndef WEIR_POOL_SIZE_H
#define WEIR_POOL_SIZE_H

#include "graph/graph.h"

/* The description of a pool of `size` units of the type, basename and unit of v, exclusive as v is. */
weir_pool_desc weir_pool_describe(const weir_graph *g, weir_vertex v, int64_t size);
/* Whether the size, the unit or the exclusiveness of v can change. `change` says in the message what v was to be:
 * "split", "given another size". WEIR_EINVAL: v has vertices below or is not in containment, or the graph is being
 * built. WEIR_EBUSY: a job has v as a whole. WEIR_ENOENT */
int weir_pool_check(const weir_graph *g, weir_vertex v, const char *change, weir_err *err) WEIR_CHECKED;
/* Prepares a size of v: *kind is for weir_pool_resize(). WEIR_ELIMIT, WEIR_ENOMEM */
int weir_pool_ready(weir_graph *g, weir_vertex v, int64_t size, uint32_t *kind, weir_err *err) WEIR_CHECKED;
/* Gives v a kind that differs in size, unit or exclusiveness only. Cannot fail. O(d f), and all derived records are
 * void */
void weir_pool_resize(weir_graph *g, weir_vertex v, uint32_t kind);

#endif
