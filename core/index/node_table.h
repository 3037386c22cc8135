/* node_table.h - the nodes of a graph, numbered in preorder: the nodes below each row, and the nodes with a property, a
 * rank or a name. Constraints are solved on numbers (constraint_nodes.c) and give the rows with allowed nodes
 * (constraint_filter.c).
 *
 * Made on first use, in O(nodes and ancestors), and kept up: a node added behind all nodes has the next number, the
 * number of a removed node stays unused, a changed property moves a node in one set. Dropped, and rebuilt on the next
 * use, where a node is added before others, where names are made of ranks or properties that change, and where half of
 * the numbers are unused. Ranks are read on first use after a change of ranks or nodes.
 * Memory: 8 bytes per row, about 40 per node, and sets of numbers: 8 bytes for each run of nodes with a property, 16
 * with ascending ranks.
 */
#ifndef WEIR_NODE_TABLE_H
#define WEIR_NODE_TABLE_H

#include "base/map32.h"
#include "graph/graph.h"

#define NODE_TABLE_NAME 1024 /* names of NODE_TABLE_NAME bytes or more match nothing */

/* Numbers lo to hi - 1: unused ones, and nodes below the row of the span. */
struct node_table_span {
    uint32_t lo, hi;
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
    weir_type type;      /* type of nodes */
    weir_vertex *nodes;  /* by number; WEIR_NONE: the number is unused */
    uint32_t count, cap; /* numbers given so far, unused ones included */
    uint32_t unused;
    weir_idset *all;              /* the numbers of nodes */
    struct weir_map32 numbers;    /* by vertex */
    struct node_table_span *rows; /* by row number: the nodes below the row */
    uint32_t nrows, rows_cap;
    bool *outside; /* by type: some vertex of the type is, or was, neither a node nor inside a node */
    uint32_t ntypes;
    struct node_table_property *properties; /* by key, ascending as text */
    uint32_t nproperties, properties_cap;
    struct node_table_run *runs; /* ascending by rank, where `ranked` */
    uint32_t nruns, runs_cap;
    bool ranked;
    bool templates;          /* some node has a name made of properties or ranks */
    struct weir_map32 names; /* by hash of a name: a node; `next` chains nodes of equal hashes */
    uint32_t *next;          /* by number; WEIR_NONE: the last */
    uint32_t next_cap;
};

/* NULL until a constraint needs nodes. */
static inline struct node_table *node_table_in(const weir_graph *g)
{
    return g->records[RECORD_NODES];
}

/* The node table of a graph, made where missing; WEIR_ENOMEM. */
int weir_node_table_get(weir_graph *g, weir_type node_type, struct node_table **out) WEIR_CHECKED;
void weir_node_table_free(struct node_table *r);
/* Makes a node table of a graph without recording the table in the graph; WEIR_ENOMEM. */
int weir_node_table_make(const weir_graph *g, weir_type node_type, struct node_table **out) WEIR_CHECKED;
/* Compares the node table of a graph with a new table, for weir_check(). */
int weir_node_table_check(const weir_graph *g, weir_err *err) WEIR_CHECKED;
/* Keeps up the node table of a graph. */
extern const struct weir_observer weir_node_table_observer;

/* The number of a node; WEIR_NONE: not a node. */
static inline uint32_t weir_node_table_number(const struct node_table *r, weir_vertex v)
{
    return weir_map32_get(&r->numbers, v);
}

/* The nodes below a row of a vertex with children. */
static inline struct node_table_span node_table_below(const struct node_table *r, const struct inner *in, uint32_t row)
{
    return in->row + row < r->nrows ? r->rows[in->row + row] : (struct node_table_span){0, 0};
}

/* Whether all nodes of a span are in a set of nodes. */
bool weir_node_table_all_in(const struct node_table *r, struct node_table_span s, const weir_idset *nodes);

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
int weir_node_table_add_ranks(const weir_graph *g, struct node_table *r, const weir_idset *ranks,
                              weir_idset *out) WEIR_CHECKED;

#endif
