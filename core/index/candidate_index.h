/* candidate_index.h - for one order and one type: the first vertex in that order below each row, among those that qualify.
 *
 * Kept while the policy is in use. A change of the books that brings a better one is carried up; one that takes the first of a row
 * marks it as not known, with all rows above it, and the next that asks looks for it. Where the order reads properties, tags
 * or ranks, a vertex whose own changed is noted, and it and what is below it are put in order again when the index is
 * next asked for: an order may look at a vertex and at those above it. So are new vertices; what goes is taken out at once.
 * Dropped when too much is noted, and built anew when it is next asked for, O(n).
 */
#ifndef WEIR_INDEX_H
#define WEIR_INDEX_H

#include "index/rank_order.h"
#include "aggregate/schema.h"

#define INDEX_MAX   32   /* kept per graph; the one used least recently makes room */
#define INDEX_NOTES 1024 /* vertices noted in one index; with more it is dropped */

enum index_mode {
    INDEX_ANY,  /* every vertex of the type: for times other than now */
    INDEX_FREE, /* reachable from the row, and with units that no job has now */
    INDEX_IDLE  /* ... and unused, in it and below it */
};

struct index {
    struct order order;
    weir_type type;
    enum index_mode mode;
    uint64_t last_use;
    weir_vertex *best; /* by row number */
    uint32_t rows, rows_cap;
    bool unknown; /* the best of some row is not known: candidate_index.c */
    struct order_notes notes; /* vertices whose rows are to be put in order again */
    bool reordered; /* one of them is no new vertex, but stands elsewhere in the order */
    weir_vertex *list; /* all vertices of the type in order; NULL until they are asked for */
    uint32_t nlist, list_cap;
    int straight;  /* the list is in preorder: 1; backwards: -1; neither: 0 */
    uint32_t *bits; /* by place in the list: the bit in a calendar, WEIR_NONE: it has none; NULL: they stand in the same order */
    uint64_t bits_of; /* the serial of that calendar; 0: of none */
};

/* Whether rows of the index stand at an inner vertex, which may be NULL. */
static inline bool index_has_rows(const weir_graph *g, const struct index *x, const struct inner *in)
{
    return in && in->cells && type_cell(schema_at(g, in->schema), x->type);
}

/* The index of a policy's order, built where there is none. */
int weir_index_get(weir_graph *g, const weir_policy *p, weir_type t, enum index_mode mode, struct index **out,
                   weir_err *err);
/* Before what is best below v, or (WEIR_NONE) anywhere, is read: looks for what is not known there. */
void weir_index_settle(const weir_graph *g, struct index *x, weir_vertex v);
/* Makes x->list, of an index of every vertex. O(n log n) where there is none. */
int weir_index_list(const weir_graph *g, struct index *x) WEIR_CHECKED;
void weir_index_list_drop(struct index *x);
/* v and what is below it is new, or about to go. O(k log n) for k of the type, and one move of the list. */
void weir_index_list_change(const weir_graph *g, struct index *x, weir_vertex v, bool in);
bool weir_index_list_check(const weir_graph *g, const struct index *x); /* makes one anew and compares */
/* The first in order of what v offers to its parent's rows: v itself, or what is below it. */
weir_vertex weir_index_offer(const weir_graph *g, const struct index *x, weir_vertex v);
/* Keeps the indices of a graph that has some. */
extern const struct weir_observer weir_index_observer;

#endif
