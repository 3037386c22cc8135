/* schema.h - the types below a vertex, and so the columns of its rows.
 *
 * A row is a vector of int64_t cells, all zero for "nothing below":
 *   CELL_SOON    WEIR_FOREVER minus the start of the next reservation below (maximum, so 0: none)
 *   CELL_ACTIVE  active spans below (sum)
 *   then for each type t:   TOTAL, FREE, IDLE units (sums; weir_aggregate)
 *   then for each pair (T, t), t below T: the most FREE and the most TOTAL units of t in one vertex of type T (maxima).
 * Pairs answer at once that no single node has 40 cores left. A schema has pairs up to SCHEMA_PAIR_TYPES types; without
 * pairs a search is only less well informed.
 */
#ifndef WEIR_SCHEMA_H
#define WEIR_SCHEMA_H

#include "graph/graph.h"

enum { CELL_SOON, CELL_ACTIVE, CELL_TYPES };
enum { TYPE_TOTAL, TYPE_FREE, TYPE_IDLE, TYPE_CELLS };
enum { PAIR_FREE, PAIR_TOTAL, PAIR_CELLS };
#define SCHEMA_PAIR_TYPES 32
#define SCHEMA_KNOWN      8
#define DEFERRED_LEVELS   2 /* levels of rows that a batch defers */
#define SCRATCH_VECTORS   (4 + 2 * DEFERRED_LEVELS)

struct schema {
    uint32_t ntypes, npairs, width, ncols;
    uint32_t stride; /* cells from one row to the next; with many types more than `width`, the rest 0 */
    uint32_t *codes; /* ascending: types, then pairs as (T + 1) << 16 | t */
    uint16_t *cols;  /* by type: the first cell, 0 = not below */
    /* Cache of weir_schema_with(). */
    struct {
        /* made: number of the result plus 1, or 0 in an empty entry */
        uint32_t kid, made;
        weir_type type;
    } known[SCHEMA_KNOWN];
};

/* One cell of a row map. */
struct move {
    uint16_t from, to;
    bool max;   /* maximum, not sum */
    bool gated; /* counts only while the vertex is open (up, and not held exclusively) */
};

struct row_map {
    uint32_t parent, kid; /* schemas */
    weir_type kid_type;
    uint16_t own; /* the parent's cells of the vertex's own type */
    /* Gated moves come first: schedules and states change no further cells. */
    uint32_t nmoves, ngated;
    struct move *moves;
    /* By pair cell of the parent: the cells of the child that the maximum is over; 0: none. */
    uint16_t (*sources)[2];
};

/* Changes of children of a vertex, not yet carried into the rows of the vertex and of ancestors. */
struct deferred {
    weir_vertex vertex; /* WEIR_NONE: nothing deferred */
    /* The run of changed children, by position; earlier runs are in the rows already. */
    uint32_t from, to;
    bool changed;         /* more than the start of a reservation changed in the run */
    bool earlier_changed; /* or in an earlier run of the vertex */
    /* Maxima of pairs, and CELL_SOON, may be lower now than in the rows. */
    bool pairs_lowered, soon_lowered;
};

/* The aggregates of a graph. */
struct aggregates {
    struct schema **schemas;
    uint32_t nschemas, schemas_cap;
    struct row_map **row_maps;
    uint32_t nrow_maps, row_maps_cap;
    uint32_t nrows; /* row numbers given out */
    /* Released numbers of single rows. */
    uint32_t *spare_rows, nspare_rows, spare_rows_cap;
    int64_t *scratch; /* SCRATCH_VECTORS vectors of the widest schema (rows_deferred.h) */
    uint32_t scratch_width;
    /* The vertex of each level is the parent of the vertex of the level before. */
    struct deferred deferred[DEFERRED_LEVELS];
    bool batch; /* between weir_rows_batch(g, true) and weir_rows_batch(g, false) */
};

/* The aggregates of a graph; never NULL. */
static inline struct aggregates *aggregates_in(const weir_graph *g)
{
    return g->records[RECORD_AGGREGATES];
}

/* Gives a graph without aggregates the record, with schema 0. After a failure part of the record may exist. */
int weir_aggregates_make(weir_graph *g) WEIR_CHECKED;
void weir_aggregates_free(weir_graph *g); /* Frees the aggregates; harmless where there are none. */

/* Returns the union of a schema and the types added by one more child. WEIR_NONE: out of memory. */
uint32_t weir_schema_with(weir_graph *g, uint32_t schema, weir_type kid_type, uint32_t kid_schema);
/* The row map between two schemas; WEIR_NONE: out of memory. */
uint32_t weir_row_map_intern(weir_graph *g, uint32_t parent, uint32_t kid, weir_type kid_type);
/* Whether units of type t are below vertices of type `outer` (for t == outer: are, or once were). O(roots + inner
 * vertices with more than SCHEMA_PAIR_TYPES types below) */
bool weir_type_above(const weir_graph *g, weir_type outer, weir_type t);

/* The schema with number i. */
static inline const struct schema *schema_at(const weir_graph *g, uint32_t i)
{
    return aggregates_in(g)->schemas[i];
}

/* The first cell of a type, or 0 when not below. */
static inline uint32_t type_cell(const struct schema *s, weir_type t)
{
    return t < s->ncols ? s->cols[t] : 0;
}

/* The first cell of a pair, or 0. O(log pairs) */
uint32_t weir_pair_cell(const struct schema *s, weir_type outer, weir_type t);

/* Whether a cell is a maximum, not a sum. */
static inline bool cell_is_max(const struct schema *s, uint32_t cell)
{
    return cell == CELL_SOON || cell >= CELL_TYPES + TYPE_CELLS * s->ntypes;
}

#endif
