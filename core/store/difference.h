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
 *   "jobs":{"drop":[ids],"set":[{"id":n,"job":{...}}]}}}
 * A depth is the number of vertices above in containment; depths in preorder tell the tree. Numbers of vertices are
 * positions among the vertices of the second graph. Jobs are written as in a document (format/jgf/jgf_metadata.c).
 * Edges and jobs that stay follow their vertices to the new positions. Hashes are the documents' own, 32 hexadecimal
 * digits; the UUID is that of the second graph. A difference is for one graph, and what is made of it is the second
 * graph, byte for byte. Not carried are foreign keys of edges and of the graph (format/jgf/jgf_foreign.c): a difference
 * of graphs that have such keys is made, and refused because of its hash when it is applied.
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
/* Writes the hash of a document. */
void weir_document_hash(const char *text, size_t len, char out[DIFFERENCE_HASH]);

#endif
