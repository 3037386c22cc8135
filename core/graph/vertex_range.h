/* vertex_range.h - runs: siblings that are alike and stand in a row, in the tree and among the vertex numbers. What a store with
 * vertex numbers writes and reads. Private to the core.
 */
#ifndef WEIR_VERTEX_RANGE_H
#define WEIR_VERTEX_RANGE_H

#include "graph/graph.h"

#define RUN_MAX        256        /* vertices in one */
#define RUN_HOLES      (1u << 20) /* places among children that stand empty, in a whole graph, and ... */
#define RUN_HOLES_EACH 16         /* ... so many more for each vertex number */

struct weir_vertex_range {
    weir_vertex first; /* then first + 1, ... */
    uint32_t count;
    uint32_t kind; /* WEIR_NONE: these numbers are not in use, and nothing else here counts */
    weir_vertex parent;
    uint32_t place;   /* of the first among the children of its parent */
    int64_t id, step; /* of the first, and to the next; WEIR_NO_ID: none has one */
    int64_t rank;     /* of the first, then one more each; WEIR_NO_RANK: none has one of its own */
};

/* The longest run that begins at v and ends before `end`. */
void weir_vertex_range_at(const weir_graph *g, weir_vertex v, weir_vertex end, struct weir_vertex_range *out);
/* WEIR_ELIMIT: the graph has more empty places than a reader takes. O(inner vertices + roots) */
int weir_vertex_range_holes(const weir_graph *g, weir_err *err) WEIR_CHECKED;

/* Puts the vertices of an empty graph back, between weir_graph_begin() and weir_graph_end(), run after run in order of
 * their numbers, none left out. On failure the graph is to be dropped. */
struct weir_placing {
    weir_graph *g;
    weir_err *err;
    struct weir_vertex_range *late; /* whose place is behind others that are still to come */
    uint32_t nlate, late_cap;
    uint64_t holes;
    bool spare; /* some numbers are not in use */
};
int weir_allocate_run(struct weir_placing *p, const struct weir_vertex_range *r) WEIR_CHECKED;
int weir_allocate_end(struct weir_placing *p) WEIR_CHECKED;
void weir_placing_free(struct weir_placing *p);

#endif
