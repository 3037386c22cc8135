/* roster.h - the nodes of a graph, numbered 0, 1, ... in preorder: how many of them stand below each row, and which have a
 * property, a rank or a name. Constraints are solved with it (constraint_nodes.c) and tell which rows hold nodes that they
 * allow (fence.c).
 *
 * Made when it is first asked for, in O(nodes and what is above them), and dropped when the structure changes. 8 bytes a row, 16
 * a node, and sets of numbers: 8 bytes for each run of nodes with a property, or with ranks in a row. A changed property moves one
 * node in one set; after a changed rank, or where names are made of what changed, those alone are read again.
 */
#ifndef WEIR_ROSTER_H
#define WEIR_ROSTER_H

#include "graph.h"

#define ROSTER_NAME 1024 /* names of so many bytes or more are nobody's */

struct roster_span { /* nodes lo to hi - 1 */
    uint32_t lo, hi;
};

struct roster_property {
    weir_name key;
    weir_idset *nodes;
};

struct roster_run { /* ranks rank, rank + 1, ... of nodes node, node + 1, ... */
    int64_t rank;
    uint32_t node, count;
};

struct roster {
    uint64_t serial; /* of the graph's structure that it belongs to */
    weir_type type;  /* of nodes */
    weir_vertex *nodes;
    uint32_t count, cap;
    struct roster_span *spans; /* by row number */
    uint32_t nrows;
    bool *outside; /* by type: one of its vertices is neither a node nor inside one */
    uint32_t ntypes;
    struct roster_property *properties; /* by the text of their keys, ascending */
    uint32_t nproperties, properties_cap;
    struct roster_run *runs; /* ascending ranks */
    uint32_t nruns, runs_cap;
    bool ranks_known, names_known;
    bool templates;                 /* names are made of properties or ranks */
    uint32_t *slots, nslots, *next; /* by hash of a name: node + 1, the first of those that have it; the next of them */
};

/* The roster of a graph as it is now; WEIR_ENOMEM. */
int weir_roster_get(weir_graph *g, weir_type node_type, struct roster **out) WEIR_CHECKED;
void weir_roster_drop(weir_graph *g);
/* An entry of a map of v changed, or, with WEIR_NO_NAME, its rank. */
void weir_roster_note(weir_graph *g, weir_vertex v, int map, weir_name key);
size_t weir_roster_bytes(const struct roster *r);
/* Makes everything anew and compares: for weir_check(). */
int weir_roster_check(const weir_graph *g, bool *same) WEIR_CHECKED;

/* How many nodes stand at or below v. */
uint32_t weir_roster_weight(const weir_graph *g, const struct roster *r, weir_vertex v);
/* The nodes below a vertex with children, or one of its rows. */
static inline struct roster_span roster_below(const struct roster *r, const struct inner *in, uint32_t row)
{
    return in->row + row < r->nrows ? r->spans[in->row + row] : (struct roster_span){0, 0};
}

/* Each adds nodes to a set; WEIR_ENOMEM. */
int weir_roster_add_property(const weir_graph *g, const struct roster *r, const char *name, size_t len, weir_idset *out)
    WEIR_CHECKED; /* that have it, or it with "@..." behind */
int weir_roster_add_name(const weir_graph *g, const struct roster *r, const char *name, size_t len, weir_idset *out) WEIR_CHECKED;
int weir_roster_add_hosts(const weir_graph *g, const struct roster *r, const weir_hostlist *hosts, weir_idset *out) WEIR_CHECKED;
int weir_roster_add_ranks(const struct roster *r, const weir_idset *ranks, weir_idset *out) WEIR_CHECKED;

#endif
