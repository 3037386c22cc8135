/* schema.h - which types a vertex has below it, and so which columns its rows have.
 *
 * A row is a vector of int64_t cells, all zero for "nothing below":
 *   CELL_SOON    WEIR_FOREVER minus the start of the next reservation below (maximum, so 0: none)
 *   CELL_ACTIVE  spans below that have begun (sum)
 *   then for each type t:   TOTAL, FREE, IDLE units (sums; weir_aggregate)
 *   then for each pair (T, t), t below T: the most FREE and the most TOTAL units of t in one vertex of type T (maxima).
 * Pairs let one look tell that no single node has 40 cores left. They are kept while a vertex has at most
 * SCHEMA_PAIR_TYPES types below; without them a search is only less well informed.
 */
#ifndef WEIR_SCHEMA_H
#define WEIR_SCHEMA_H

#include "graph/graph.h"

enum { CELL_SOON, CELL_ACTIVE, CELL_TYPES };
enum { TYPE_TOTAL, TYPE_FREE, TYPE_IDLE, TYPE_CELLS };
enum { PAIR_FREE, PAIR_TOTAL, PAIR_CELLS };
#define SCHEMA_PAIR_TYPES 32
#define SCHEMA_KNOWN      8
#define DEFERRED_LEVELS 2 /* of rows that a batch holds back */
#define SCRATCH_VECTORS (4 + 2 * DEFERRED_LEVELS)

struct schema {
    uint32_t ntypes, npairs, width, ncols;
    uint32_t stride; /* cells from one row to the next: where there are many types, some more, which are 0 */
    uint32_t *codes; /* ascending: types, then pairs as (T + 1) << 16 | t */
    uint16_t *cols;  /* by type: its first cell, 0 = not below */
    struct {         /* what it becomes with some kids: weir_schema_with() */
        uint32_t kid, made; /* made: 1 more than the number, 0: nothing is known */
        weir_type type;
    } known[SCHEMA_KNOWN];
};

/* How row 0 of a vertex of kid_type maps into the rows of its parent. */
struct move {
    uint16_t from, to;
    bool max;   /* else sum */
    bool gated; /* counts only while the vertex is open (up, and not held) */
};

struct row_map {
    uint32_t parent, kid; /* schemas */
    weir_type kid_type;
    uint16_t own; /* the parent's cells of the vertex's own type */
    uint32_t nmoves, ngated; /* those that are gated come first: books and states change nothing else */
    struct move *moves;
    uint16_t (*sources)[2]; /* by pair cell of the parent: the cells it is the maximum of; 0: none */
};

/* A vertex whose kids' changes have yet to be carried into its rows, and on. */
struct deferred {
    weir_vertex vertex; /* WEIR_NONE */
    uint32_t from, to;  /* the kids that changed, by place: a run; those before it stand in the rows */
    bool booked;        /* more of them changed than the start of a reservation */
    bool carried;       /* ... of one of those before it */
    bool lowered, later; /* maxima in its rows may be lower than they stand there, of pairs, and of starts */
};

/* What a graph keeps for its rows. */
struct aggregates {
    struct schema **schemas;
    uint32_t nschemas, schemas_cap;
    struct row_map **row_maps;
    uint32_t nrow_maps, row_maps_cap;
    uint32_t nrows; /* row numbers given out */
    uint32_t *spare_rows, nspare_rows, spare_rows_cap; /* single ones that nobody has any more */
    int64_t *scratch; /* SCRATCH_VECTORS vectors of the widest schema: rows.c */
    uint32_t scratch_width;
    struct deferred deferred[DEFERRED_LEVELS]; /* the vertex of each is the parent of that before it: rows.c */
    bool batch;                    /* several changes of the books in a row */
};

/* Gives a graph that has none its record of aggregates, with schema 0. On failure it may have a part of them. */
int weir_aggregates_make(weir_graph *g) WEIR_CHECKED;
void weir_aggregates_free(weir_graph *g); /* harmless where there are none */

/* The schema whose codes are these n ascending ones; WEIR_NONE: out of memory. */
uint32_t weir_schema_intern(weir_graph *g, const uint32_t *codes, uint32_t n);
/* The union of a schema with what one more kid brings. */
uint32_t weir_schema_with(weir_graph *g, uint32_t schema, weir_type kid_type, uint32_t kid_schema);
/* The lift between two schemas; WEIR_NONE: out of memory. */
uint32_t weir_row_map_intern(weir_graph *g, uint32_t parent, uint32_t kid, weir_type kid_type);
/* Whether units of type t stand below vertices of type `outer` (or once did, if that is t). O(roots), and what has more than
 * SCHEMA_PAIR_TYPES types below. */
bool weir_type_above(const weir_graph *g, weir_type outer, weir_type t);

static inline const struct schema *schema_at(const weir_graph *g, uint32_t i)
{
    return g->aggregates->schemas[i];
}

/* The first cell of a type, or 0 when it is not below. */
static inline uint32_t type_cell(const struct schema *s, weir_type t)
{
    return t < s->ncols ? s->cols[t] : 0;
}

/* The first cell of a pair, or 0. O(log pairs) */
uint32_t weir_pair_cell(const struct schema *s, weir_type outer, weir_type t);

static inline bool cell_is_max(const struct schema *s, uint32_t cell)
{
    return cell == CELL_SOON || cell >= CELL_TYPES + TYPE_CELLS * s->ntypes;
}

#endif
