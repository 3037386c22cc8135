/* node_table.h - the nodes of a graph, numbered 0, 1, ...: the nodes below each row, and the nodes with a property, a
 * rank or a name. Constraints are solved on numbers (constraint_nodes.c) and give the rows with allowed nodes
 * (constraint_filter.c).
 *
 * Made on first use, in O(nodes and ancestors), in preorder, so that the nodes below a vertex or a row are a span of
 * numbers. A new node gets the next number, a removed node leaves a number unused, O(d f) each; after many new nodes
 * all nodes are numbered anew. Memory: 8 bytes per row, 16 after a new node, about 32 per node, and sets of numbers: 8
 * bytes for each run of nodes with a property, or with ascending ranks. A changed property, or a changed rank of a
 * node, moves one node in one set; after a changed rank above nodes, or of data in names, ranks or names are read
 * again.
 */
#ifndef WEIR_NODE_TABLE_H
#define WEIR_NODE_TABLE_H

#include "graph/graph.h"

#define NODE_TABLE_NAME 1024 /* names of NODE_TABLE_NAME bytes or more match nothing */
/* New nodes before all nodes are numbered anew; plus an eighth of the nodes. */
#define NODE_TABLE_ADDED 64

/* Nodes lo to hi - 1. */
struct node_table_span {
    uint32_t lo, hi;
};

/* Bounds of the nodes below a row. */
struct node_table_row {
    struct node_table_span first; /* numbers in preorder: only nodes below the row, present or removed */
    struct node_table_span added; /* numbers of nodes added later: further nodes may be within */
};

struct node_table_property {
    weir_name key;
    weir_idset *nodes;
};

/* Ranks rank, rank + 1, ... of nodes node, node + 1, ... */
struct node_table_run {
    int64_t rank;
    uint32_t node, count;
};

struct node_table {
    weir_type type;            /* type of nodes */
    weir_vertex *nodes;        /* by number; WEIR_NONE: removed */
    uint32_t count, base, cap; /* numbers given out; numbers in preorder; capacity */
    weir_idset *live;          /* numbers of present nodes */
    struct weir_map32 numbers; /* by vertex */
    struct node_table_span *first, *added; /* by row number (struct node_table_row); added NULL: no node was added */
    uint32_t nrows, rows_cap;
    /* By type: some vertex of the type is, or once was, neither a node nor inside a node. */
    bool *outside;
    uint32_t ntypes;
    struct node_table_property *properties; /* by key, ascending as text */
    uint32_t nproperties, properties_cap;
    struct node_table_run *runs; /* ascending by rank */
    uint32_t nruns, runs_cap;
    bool ranks_known, names_known;
    bool templates; /* some name contains properties or ranks */
    struct weir_map32 named; /* the first node of a name, by hash of the name */
    uint32_t *next;          /* chains nodes of equal names: number + 1; 0 at the end */
};

/* The node table of a graph, made or updated; WEIR_ENOMEM. */
int weir_node_table_get(weir_graph *g, weir_type node_type, struct node_table **out) WEIR_CHECKED;
/* Updates the node table of a graph. */
extern const struct weir_observer weir_node_table_observer;

/* The number of a node; WEIR_NONE: not a node. */
uint32_t weir_node_table_number(const struct node_table *r, weir_vertex v);
/* Bounds of the nodes below a row of a vertex with children. */
static inline struct node_table_row node_table_below(const struct node_table *r, const struct inner *in, uint32_t row)
{
    uint32_t at = in->row + row;
    struct node_table_row x = {{0, 0}, {0, 0}};

    if (at < r->nrows)
        x.first = r->first[at];
    if (at < r->nrows && r->added)
        x.added = r->added[at];
    return x;
}

/* Adds the nodes with a property, or with "property@...", to a set. WEIR_ENOMEM */
int weir_node_table_add_property(const weir_graph *g, const struct node_table *r, const char *name, size_t len,
                                 weir_idset *out) WEIR_CHECKED;
/* Adds the nodes of a name to a set. WEIR_ENOMEM */
int weir_node_table_add_name(const weir_graph *g, const struct node_table *r, const char *name, size_t len,
                             weir_idset *out) WEIR_CHECKED;
/* Adds the nodes with a name in a list. WEIR_ENOMEM */
int weir_node_table_add_hosts(const weir_graph *g, const struct node_table *r, const weir_hostlist *hosts,
                              weir_idset *out) WEIR_CHECKED;
/* Adds the nodes with a rank in a set. WEIR_ENOMEM */
int weir_node_table_add_ranks(const struct node_table *r, const weir_idset *ranks, weir_idset *out) WEIR_CHECKED;

#endif
