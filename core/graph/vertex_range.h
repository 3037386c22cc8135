/* vertex_range.h - vertex ranges: siblings that are equal and consecutive, in the tree and in vertex numbers.
 * Stores with vertex numbers write and read a graph as ranges. Private to the core.
 */
#ifndef WEIR_VERTEX_RANGE_H
#define WEIR_VERTEX_RANGE_H

#include "graph/builder.h"

#define RANGE_MAX 256 /* vertices in one range */

struct weir_vertex_range {
    weir_vertex first; /* vertices first, first + 1, ... */
    uint32_t count;
    uint32_t kind; /* WEIR_NONE: the numbers are not in use, and only `first` and `count` matter */
    weir_vertex parent;
    uint32_t place;   /* of `first`, among the children of the parent */
    int64_t id, step; /* id of `first`, and the difference from each id to the next; WEIR_NO_ID: no ids */
    int64_t rank;     /* of `first`, then one more each; WEIR_NO_RANK: no ranks of their own */
};

/* The longest range that begins at v and ends before `end`. */
void weir_vertex_range_at(const weir_graph *g, weir_vertex v, weir_vertex end, struct weir_vertex_range *out);
/* WEIR_ELIMIT: the graph has more holes than a reader accepts. O(inner vertices + roots) */
int weir_vertex_range_holes(const weir_graph *g, weir_err *err) WEIR_CHECKED;

/* Restores the vertices of an empty graph between weir_graph_begin() and weir_graph_end(), from ranges in order of
 * vertex numbers, without gaps. Zero-initialise but for g and err. After a failure the graph can only be freed. */
struct weir_restore {
    weir_graph *g;
    weir_err *err;
    bool spare; /* some numbers are not in use */
};
/* Writes a range. WEIR_EPARSE: malformed; WEIR_ELIMIT, WEIR_ENOMEM */
int weir_restore_range(struct weir_restore *p, const struct weir_vertex_range *r) WEIR_CHECKED;
/* Links the vertices, and checks depth and holes. WEIR_EPARSE, WEIR_ELIMIT, WEIR_ENOMEM */
int weir_restore_end(struct weir_restore *p) WEIR_CHECKED;

#endif
