/* difference.h - differences of documents. Private to the core.
 *
 * A difference says how the document of a graph becomes that of a second graph:
 *   {"weir_difference":{"version":1,"from":HASH,"to":HASH,"uuid":UUID,
 *   "contains":WORD,    the relation from a parent to its children, and "in":WORD back, unless the usual ones
 *   "state":{...},      graph.metadata.weir of the second graph, without jobs
 *   "nodes":[...],      steps, which go through the vertices in preorder:
 *     {"keep":n}        the next n vertices stay
 *     {"drop":n}        the next n vertices go
 *     {"set":[...]}     the next vertices get other metadata: elements {"depth":d,"metadata":{...}}
 *     {"add":[...]}     further vertices, likewise
 *   "edges":[...],      steps through the edges of all subsystems but containment: keep, drop and add, whose elements
 *                       are {"source":n,"target":n,"subsystem":s,"relationship":s,"back":s}
 *   "foreign":[{"vertex":n,"data":{...}}],  keys of edges and of the graph that weir does not know, as texts, of the
 *                       vertices where they are kept (format/jgf/jgf_foreign.c) and are others than before; all of a
 *                       vertex. Left out where there are none
 *   "jobs":{"drop":[ids],"set":[{"id":n,"job":{...}}]}}}
 * A depth is the number of vertices above in containment; depths in preorder determine the tree. Numbers of vertices
 * are positions among the vertices of the second graph. Jobs are written as in a document (format/jgf/jgf_metadata.c).
 * Edges and jobs that stay follow their vertices to the new positions. Hashes are the documents' own, 32 hexadecimal
 * digits; the UUID is that of the second graph. A difference is for one graph, and what is made of it is the second
 * graph, byte for byte.
 */
#ifndef WEIR_DIFFERENCE_H
#define WEIR_DIFFERENCE_H

#include "format/output.h"

#define DIFFERENCE_VERSION 1
#define DIFFERENCE_HASH    33

/* The document of a graph, and its vertices and edges in the order of the document. */
struct document_view {
    const weir_graph *g;
    char *text;
    uint32_t *numbers;     /* position in the document by vertex */
    weir_vertex *vertices; /* by position */
    weir_vertex *tops;     /* vertices without a parent, in the order of the document */
    size_t *lines;         /* where the line of each vertex begins; one more for the end of the last */
    uint32_t *edges;       /* numbers of edges, in the order of adding */
    uint32_t count, ntops, nedges;
    char hash[DIFFERENCE_HASH];
};

int weir_document_view(const weir_graph *g, struct document_view *out, weir_err *err) WEIR_CHECKED;
void weir_document_view_free(struct document_view *d);
/* The element of a vertex from the metadata on, `"metadata":{...}}`; sets *len. */
const char *weir_document_metadata(const struct document_view *d, uint32_t i, size_t *len);
/* Foreign keys of a difference. */
struct foreign_entry {
    uint32_t at;       /* position of the vertex in the new document */
    size_t key, value; /* places of the texts */
    bool any;          /* false: the vertex has none */
};

struct foreign_list {
    struct foreign_entry *entries;
    uint32_t n, cap;
    weir_buf texts;
};

/* Writes the elements of "foreign" for the vertices of b, which pairs[] pairs with those of a by positions. */
int weir_foreign_write(const struct document_view *a, const struct document_view *b, const uint32_t *pairs,
                       weir_buf *out) WEIR_CHECKED;
/* Adds a key of the vertex at a position; without a key: the vertex has no more than were added. */
int weir_foreign_add(struct foreign_list *l, uint32_t at, const char *key, const char *value) WEIR_CHECKED;
/* Sets the keys of a list in g, and those of a in the vertices that the list does not name; moved[]: positions in g by
 * vertex of a, or WEIR_NONE. Keys that no vertex can hold are left out. */
int weir_foreign_set(const struct foreign_list *l, const struct document_view *a, const uint32_t *moved,
                     weir_graph *g) WEIR_CHECKED;
void weir_foreign_free(struct foreign_list *l);
/* Writes the hash of a document. */
void weir_document_hash(const char *text, size_t len, char out[DIFFERENCE_HASH]);

#endif
