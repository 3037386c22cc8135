/* rows.h - the aggregates of vertices, exact after every change. An inner vertex has row 0 over all children. With
 * more than WEIR_FAN children, rows of level 1 cover groups of WEIR_FAN children each, rows of level 2 cover groups
 * of rows of level 1, and so on, and row 0 covers the last level: a change of one child costs depth * log(fan-out)
 * rows, however wide the machine is.
 */
#ifndef WEIR_ROWS_H
#define WEIR_ROWS_H

#include "aggregate/schedule_record.h"
#include "aggregate/schema.h"

#define ROW_LEVELS 7

/* Layout of the rows of an inner vertex with capacity for `cap` children: level l (1..n) has count[l] rows from
 * first[l] on. */
struct levels {
    uint32_t n;
    uint32_t first[ROW_LEVELS + 1], count[ROW_LEVELS + 1];
    uint32_t rows; /* total, row 0 included */
};

/* Computes the layout of rows for `cap` children. */
void weir_levels_of(uint32_t cap, struct levels *lv);

/* The row of level l over the child at pos; l 0 is row 0. */
static inline uint32_t row_over(const struct levels *lv, uint32_t l, uint32_t pos)
{
    return l == 0 ? 0 : lv->first[l] + (pos >> (5 * l));
}

/* The entries [*begin, *end) of row r of level l: children (returns true) or rows. Level 0 covers level n. */
bool weir_row_entries(const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r, uint32_t *begin,
                      uint32_t *end);

/* The cells of row r of an inner record with rows. */
static inline int64_t *row_cells(const weir_graph *g, const struct inner *in, uint32_t r)
{
    return in->cells + (size_t)r * schema_at(g, in->schema)->stride;
}

/* Whether v is up and no job has v exclusively now. Units below a vertex that is not open count as neither free nor
 * idle. */
static inline bool vertex_open(const weir_graph *g, weir_vertex v)
{
    const struct schedule *b = schedule_of(g, v);
    return state_available(vertex_at(g, v)->state) && !(b && b->held);
}

/* Whether no job has anything in v or below v now. */
static inline bool vertex_unused(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    const struct schedule *b = schedule_of(g, v);
    return !(b && b->active) && !(in && in->cells && in->cells[CELL_ACTIVE]);
}

/* Units of v itself without a job now, regardless of ancestors. */
static inline int64_t vertex_unallocated(const weir_graph *g, weir_vertex v)
{
    const struct schedule *b = schedule_of(g, v);
    int64_t size = kind_of(g, v)->size;
    if (!b)
        return size;
    return b->held || schedule_used(g, b) >= size ? 0 : size - schedule_used(g, b);
}

/* The contribution of v to each cell of the parent's rows (schema `ps`). O(width) */
void weir_row_contribute(const weir_graph *g, weir_vertex v, uint32_t ps, int64_t *out);

/* The units of a type below v; zeros with WEIR_NO_TYPE. out->type is not set. O(d) */
void weir_units_below(const weir_graph *g, weir_vertex v, weir_type t, weir_aggregate *out);

/* Begins a change of v (state or schedule): stores the contribution of v in scratch memory until weir_rows_after().
 * Cannot fail. */
void weir_rows_before(weir_graph *g, weir_vertex v);
/* Ends a change of v: carries the difference to the root, or into the batch, and calls observers. Cannot fail. O(d
 * f) */
void weir_rows_after(weir_graph *g, weir_vertex v);

/* The two calls around a change of the size of v, outside of a batch and of begin/end: totals change as well. */
void weir_rows_resize_before(weir_graph *g, weir_vertex v);
void weir_rows_resize_after(weir_graph *g, weir_vertex v);

/* Follows a change of the schedule of v that moved at most the start of the first reservation, `next` until then:
 * no other cell depends on reservations. O(1) where the start is unchanged, else O(d f) */
void weir_rows_soon(weir_graph *g, weir_vertex v, int64_t next);

/* Brackets many changes: changes of neighbouring siblings are carried up from the parent together. */
void weir_rows_batch(weir_graph *g, bool on);
/* Length of the run at the start of n picks, of neighbouring siblings, whose changes a batch can bracket together:
 * 1 to WEIR_FAN. */
uint32_t weir_rows_run(const weir_graph *g, const weir_pick *picks, uint32_t n);
/* Begins a change of a run: weir_rows_before() for every pick of a run of at least 2. */
void weir_rows_run_before(weir_graph *g, const weir_pick *picks, uint32_t n);
/* Ends a change of a run: weir_rows_after() for every pick. */
void weir_rows_run_after(weir_graph *g, const weir_pick *picks, uint32_t n);
/* weir_rows_soon() for every pick of a run of at least 2, with the former starts in `next`. */
void weir_rows_run_soon(weir_graph *g, const weir_pick *picks, uint32_t n, const int64_t *next);

/* Recomputes schema and rows of every inner vertex. O(n). After a failure the graph cannot be matched on. */
int weir_rows_build(weir_graph *g);
/* Adds `count` equal children, written behind the nkids children of p, to the rows, and raises nkids. On failure
 * nothing has changed. */
int weir_rows_link(weir_graph *g, weir_vertex p, uint32_t count);
/* Releases the row number of an inner record with a single row, for reuse. */
void weir_rows_spare(weir_graph *g, const struct inner *in);
/* Removes v, which has a parent, from the children and the rows of the parent. */
void weir_rows_unlink(weir_graph *g, weir_vertex v);

#endif
