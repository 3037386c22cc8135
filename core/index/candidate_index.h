/* candidate_index.h - for one order and one type: the first candidate in order below each row.
 *
 * An index exists while the policy is in use. A change of schedules that makes a better candidate is carried up; a
 * change that takes the first candidate of a row marks the row and all rows above as unknown, and the next query
 * recomputes them. Where the order reads properties, tags or ranks, a vertex with a change of these is marked as dirty,
 * and the next query puts the vertex and its subtree in order again: an order may look at a vertex and at ancestors.
 * New vertices are dirty too; removed vertices leave at once. With too many dirty vertices the index is dropped, and
 * the next query rebuilds the index, O(n).
 */
#ifndef WEIR_INDEX_H
#define WEIR_INDEX_H

#include "index/rank_order.h"
#include "aggregate/schema.h"

#define INDEX_MAX   32   /* indexes per graph, but for those in use; the least recently used is dropped first */
#define INDEX_DIRTY 1024 /* dirty vertices in one index; with more the index is dropped */

enum index_mode {
    INDEX_ANY, /* every vertex of the type: for times other than now */
    /* Reachable from the row, with units that no job has now. */
    INDEX_FREE,
    /* Also unused, in the vertex and below. */
    INDEX_IDLE
};

struct index {
    struct order order;
    weir_type type;
    enum index_mode mode;
    uint64_t last_use;
    uint32_t searches; /* searches in progress; an index in use is never dropped to make room */
    weir_vertex *best; /* by row number */
    uint32_t rows, rows_cap;
    bool unknown; /* the candidate of some row is UNKNOWN (candidate_index.c) */
    /* By row number: the greatest first key of all vertices of the type, candidates or not, while the structure is that
     * of `last_of`; NULL until needed. */
    double *last;
    uint64_t last_of;
    struct dirty_vertices dirty; /* vertices with rows to be put in order again */
    bool reordered;              /* a dirty vertex is not new, but has moved in the order */
    /* All vertices of the type in order; NULL until needed. */
    weir_vertex *list;
    uint32_t nlist, list_cap;
    int straight; /* the list is in preorder: 1; in reverse preorder: -1; neither: 0 */
    /* By position in the list: the bit in an occupancy, WEIR_NONE: none; NULL: bits are in the order of the list. */
    uint32_t *bits;
    uint64_t bits_of; /* serial of the occupancy; 0: none */
};

struct indexes {
    struct index **list;
    uint32_t n, cap;
};

/* The candidate indexes of a graph. */
static inline const struct indexes *indexes_in(const weir_graph *g)
{
    static const struct indexes none;

    return g->records[RECORD_INDEXES] ? g->records[RECORD_INDEXES] : &none;
}

/* Whether the index has rows at an inner vertex (or NULL). */
static inline bool index_has_rows(const weir_graph *g, const struct index *x, const struct inner *in)
{
    return in && in->cells && type_cell(schema_at(g, in->schema), x->type);
}

/* Finds or builds the index of a policy's order, or of its descent; scores may decide before the order. `read`: the
 * order of the policy as weir_order_of() reads the order, so that a match with several indexes reads it once; NULL: not
 * read yet. O(n) where built */
int weir_index_get(weir_graph *g, const weir_policy *p, const struct order *read, const struct order_scores *by,
                   weir_type t, enum index_mode mode, struct index **out, weir_err *err);
/* The vertices with a new score: v; all siblings of v of the type; or these siblings in unchanged
 * order. */
enum rescored { RESCORED_VERTEX, RESCORED_SIBLINGS, RESCORED_ALIKE };
/* Follows a new score of v or of the siblings of v: rows above are put in order again. */
void weir_index_rescored(weir_graph *g, const struct score_memory *x, weir_vertex v, enum rescored what);
/* Marks the rows over v as unknown, up to the root. */
void weir_index_forget(const weir_graph *g, struct index *x, weir_vertex v);
/* Drops all indexes with these scores. */
void weir_index_drop_scored(weir_graph *g, const struct score_memory *x);
/* Whether a search uses an index with these scores. */
bool weir_index_scored_in_use(const weir_graph *g, const struct score_memory *x);
/* Recomputes unknown rows of v, or with WEIR_NONE of all roots, before a query. */
void weir_index_settle(const weir_graph *g, struct index *x, weir_vertex v);
/* Makes x->last, for an order with a turn. O(n depth) where the structure has changed */
int weir_index_last(const weir_graph *g, struct index *x) WEIR_CHECKED;
/* Makes x->list, in an index of mode INDEX_ANY. O(n log n) where there is none */
int weir_index_list(const weir_graph *g, struct index *x) WEIR_CHECKED;
/* Frees x->list. */
void weir_index_list_drop(struct index *x);
/* Adds v and the subtree of v to the list, or removes them before an unlink. O(k log n) for k vertices of the type,
 * and one move of the list. */
void weir_index_list_change(const weir_graph *g, struct index *x, weir_vertex v, bool in);
bool weir_index_list_check(const weir_graph *g, const struct index *x); /* compares with a new list */
/* The candidate that v offers to rows of the parent: v itself, or the first below v. */
weir_vertex weir_index_offer(const weir_graph *g, const struct index *x, weir_vertex v);
/* Updates the indexes of a graph. */
extern const struct weir_observer weir_index_observer;

#endif
