/* node_table.h - the nodes of a graph, numbered 0, 1, ...: which of them stand below each row, and which have a property, a rank or a
 * name. Constraints are solved with it (constraint_nodes.c) and tell which rows hold nodes that they allow (constraint_filter.c).
 *
 * Made when it is first asked for, in O(nodes and what is above them), in preorder, so that what stands below a vertex or a row is
 * a span of numbers. It follows the structure: nodes that are added have the next numbers, those that go leave theirs unused,
 * O(d f) each; after so many that it pays, all are numbered anew. 8 bytes a row, 16 once something was added, about 32 a node, and
 * sets of numbers: 8 bytes for each run of nodes with a property, or with ranks in a row. A changed property moves one node in one set, as does its own rank;
 * after a changed rank above nodes, or where names are made of what changed, those alone are read again.
 */
#ifndef WEIR_NODE_TABLE_H
#define WEIR_NODE_TABLE_H

#include "graph/graph.h"

#define NODE_TABLE_NAME 1024 /* names of so many bytes or more are nobody's */
#define NODE_TABLE_LATER 64  /* nodes that may be added before all are numbered anew, and an eighth of those that were there */

struct node_table_span { /* nodes lo to hi - 1 */
    uint32_t lo, hi;
};

/* What stands below a row is within these. */
struct node_table_row {
    struct node_table_span first; /* of those that were numbered in preorder: only what stands there, or stood there */
    struct node_table_span later; /* of those that were added: others may be among them */
};

struct node_table_property {
    weir_name key;
    weir_idset *nodes;
};

struct node_table_run { /* ranks rank, rank + 1, ... of nodes node, node + 1, ... */
    int64_t rank;
    uint32_t node, count;
};

struct node_table {
    weir_type type;            /* of nodes */
    weir_vertex *nodes;        /* by number; WEIR_NONE: it is gone */
    uint32_t count, base, cap; /* numbers given out, and those of them in preorder; room */
    weir_idset *live;          /* numbers of nodes that are there */
    uint32_t *slots, nslots;   /* by hash of the vertex: its number + 1; as wide as it ever needs to be */
    struct node_table_span *first, *later; /* by row number: see above; later NULL: no node was added */
    uint32_t nrows, rows_cap;
    bool *outside; /* by type: one of its vertices is, or once was, neither a node nor inside one */
    uint32_t ntypes;
    struct node_table_property *properties; /* by the text of their keys, ascending */
    uint32_t nproperties, properties_cap;
    struct node_table_run *runs; /* ascending ranks */
    uint32_t nruns, runs_cap;
    bool ranks_known, names_known;
    bool templates;                           /* names are made of properties or ranks */
    uint32_t *name_slots, nname_slots, *next; /* by hash of a name: the first that has it, its number + 1; the next of them */
};

/* The roster of a graph as it is now; WEIR_ENOMEM. */
int weir_node_table_get(weir_graph *g, weir_type node_type, struct node_table **out) WEIR_CHECKED;
/* Keeps the node table of a graph that has one. */
extern const struct weir_observer weir_node_table_observer;

/* The number of a node; WEIR_NONE: it is none. */
uint32_t weir_node_table_number(const struct node_table *r, weir_vertex v);
/* What is known of a row of a vertex with children. */
static inline struct node_table_row node_table_below(const struct node_table *r, const struct inner *in, uint32_t row)
{
    uint32_t at = in->row + row;
    struct node_table_row x = {{0, 0}, {0, 0}};

    if (at < r->nrows)
        x.first = r->first[at];
    if (at < r->nrows && r->later)
        x.later = r->later[at];
    return x;
}

/* Each adds nodes to a set; WEIR_ENOMEM. */
int weir_node_table_add_property(const weir_graph *g, const struct node_table *r, const char *name, size_t len, weir_idset *out)
    WEIR_CHECKED; /* that have it, or it with "@..." behind */
int weir_node_table_add_name(const weir_graph *g, const struct node_table *r, const char *name, size_t len, weir_idset *out) WEIR_CHECKED;
int weir_node_table_add_hosts(const weir_graph *g, const struct node_table *r, const weir_hostlist *hosts, weir_idset *out) WEIR_CHECKED;
int weir_node_table_add_ranks(const struct node_table *r, const weir_idset *ranks, weir_idset *out) WEIR_CHECKED;

#endif
