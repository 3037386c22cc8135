/* rank_numbers.h - the ranks of the hosts of a graph without ranks. Private to the core.
 *
 * R names resources by rank. In a graph in which no vertex has a rank, the nodes are hosts, numbered from 0 in the
 * order of the graph; cores and gpus outside of nodes belong to their root, which is then a host, too.
 */
#ifndef WEIR_RANK_NUMBERS_H
#define WEIR_RANK_NUMBERS_H

#include "base/map32.h"
#include "graph/graph.h"

struct weir_rank_numbers {
    bool ranked;             /* some vertex has a rank; then nothing is numbered */
    struct weir_map32 ranks; /* by host */
};

/* NULL until an R is made of a graph without ranks. */
static inline struct weir_rank_numbers *rank_numbers_in(const weir_graph *g)
{
    return g->records[RECORD_RANKS];
}

/* The numbers, owned by the graph, and kept until a vertex is added or removed or a rank changes. NULL: out of memory.
 * O(graph) for the first call after such a change, O(1) otherwise. */
const struct weir_rank_numbers *weir_rank_numbers(const weir_graph *g);

#endif
