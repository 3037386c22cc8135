/* extract.h - carrying vertices with all their data from one graph over to another. Private to the core. */
#ifndef WEIR_COPY_H
#define WEIR_COPY_H

#include "graph/graph.h"

struct weir_carry {
    const weir_graph *from;
    weir_graph *to;
    weir_vertex *map; /* by vertex of `from`: the vertex of `to` that stands for it; WEIR_NONE */
    bool renew;       /* UUIDs stay behind: what is carried are other pools, at another place */
};

int weir_carry_begin(struct weir_carry *c, const weir_graph *from, weir_graph *to, weir_err *err) WEIR_CHECKED;
void weir_carry_end(struct weir_carry *c);
/* Adds v below `parent` (of `to`) with all it has of its own, but with another size, and puts it into the map. `same`
 * tells whether a UUID derived for `parent` is the one derived in `from`; it then tells so for v. On failure v may be
 * in the map, not complete: the caller takes it back. */
int weir_carry_vertex(struct weir_carry *c, weir_vertex v, weir_vertex parent, int64_t size, bool *same,
                      weir_err *err) WEIR_CHECKED;
/* Adds the edges between vertices that are in the map. O(edges of `from`) */
int weir_carry_edges(struct weir_carry *c, weir_err *err) WEIR_CHECKED;

/* Whether the names of two pools are the same text. */
bool weir_names_agree(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb);
/* What differs first between two pools, in words, in buf: type, size, unit, the exclusive flag, and with `named` what
 * the name is made of. False: nothing. */
bool weir_bases_differ(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb, bool named, char *buf,
                       size_t size);

#endif
