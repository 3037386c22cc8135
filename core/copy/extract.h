/* extract.h - copies vertices with all data from one graph to another, and compares pools. Private to the core.
 *
 * All copying functions keep a map from the vertices of the original to the vertices of the copy.
 */
#ifndef WEIR_EXTRACT_H
#define WEIR_EXTRACT_H

#include "graph/graph.h"

/* The state of copying from one graph to another. */
struct weir_extract {
    const weir_graph *from;
    weir_graph *to;
    bool fresh;       /* a copy gets a new UUID where a pool of `to` has its UUID, given or derived */
    weir_vertex *map; /* by vertex of `from`: the copy in `to`; WEIR_NONE: not copied */
};

/* Begin copying, with an empty map; WEIR_ENOMEM if `to` is NULL or memory runs out. End with weir_extract_end(). */
int weir_extract_begin(struct weir_extract *c, const weir_graph *from, weir_graph *to, weir_err *err) WEIR_CHECKED;
/* Free the map. The graph `to` is kept. */
void weir_extract_end(struct weir_extract *c);
/* Add a copy of v with a different size below `parent` (a vertex of `to`), with name, state, maps and UUID, and record
 * the copy in the map. WEIR_EEXIST: a pool of `to` has v's given UUID. After a failure the map may have an incomplete
 * copy, which the caller must remove. */
int weir_extract_vertex(struct weir_extract *c, weir_vertex v, weir_vertex parent, int64_t size,
                        weir_err *err) WEIR_CHECKED;
/* Add a copy of a detached vertex, which is detached too; the edges are for the caller to add. */
int weir_extract_detached(struct weir_extract *c, weir_vertex v, weir_err *err) WEIR_CHECKED;
/* Add the edges between all vertices in the map. O(edges of `from`) */
int weir_extract_edges(struct weir_extract *c, weir_err *err) WEIR_CHECKED;

/* Whether two pools have equal names. False if memory runs out for names of 256 bytes or more. */
bool weir_strtab_agree(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb);
/* Whether two pools differ in type, size, unit or exclusive flag, or, with `named`, in basename, id or name. The first
 * difference is described in buf. */
bool weir_bases_differ(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb, bool named, char *buf,
                       size_t size);

#endif
