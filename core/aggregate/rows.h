/* rows.h - the aggregates of a vertex, kept exact after every change.
 *
 * An inner vertex has row 0 over all its kids. With more than WEIR_FAN kids, rows of level 1 stand over groups of
 * WEIR_FAN kids each, rows of level 2 over groups of level 1 rows, and so on, and row 0 over the last level: a
 * change of one kid costs depth * log(fan-out) rows, however wide the machine is.
 */
#ifndef WEIR_ROWS_H
#define WEIR_ROWS_H

#include "aggregate/schedule_record.h"
#include "aggregate/schema.h"

#define ROW_LEVELS 7

/* Where the rows of an inner vertex with room for `cap` kids are: level l (1..n) has count[l] rows from first[l] on. */
struct levels {
    uint32_t n;
    uint32_t first[ROW_LEVELS + 1], count[ROW_LEVELS + 1];
    uint32_t rows; /* in all, row 0 included */
};

void weir_levels_of(uint32_t cap, struct levels *lv);

/* The row of level l over the kid at pos; l 0 is row 0. */
static inline uint32_t row_over(const struct levels *lv, uint32_t l, uint32_t pos)
{
    return l == 0 ? 0 : lv->first[l] + (pos >> (5 * l));
}

/* The entries of row r of level l: kids (returns true) or rows, [*begin, *end). Level 0 stands over level n. */
bool weir_row_entries(const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r, uint32_t *begin,
                      uint32_t *end);

static inline int64_t *row_cells(const weir_graph *g, const struct inner *in, uint32_t r)
{
    return in->cells + (size_t)r * schema_at(g, in->schema)->stride;
}

/* Up, and no job holds it as a whole now. What is below a vertex that is not open counts as neither free nor idle. */
static inline bool vertex_open(const weir_graph *g, weir_vertex v)
{
    const struct schedule *b = schedule_of(g, v);
    return state_available(vertex_at(g, v)->state) && !(b && b->held);
}

/* No job has anything in v or below it now. */
static inline bool vertex_unused(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    const struct schedule *b = schedule_of(g, v);
    return !(b && b->active) && !(in && in->cells && in->cells[CELL_ACTIVE]);
}

/* Units of v itself that no job has now, whatever holds above it. */
static inline int64_t vertex_unallocated(const weir_graph *g, weir_vertex v)
{
    const struct schedule *b = schedule_of(g, v);
    int64_t size = kind_of(g, v)->size;
    if (!b)
        return size;
    return b->held || schedule_used(g, b) >= size ? 0 : size - schedule_used(g, b);
}

/* What v contributes to each cell of its parent's rows (schema `ps`). O(width) */
void weir_row_contribute(const weir_graph *g, weir_vertex v, uint32_t ps, int64_t *out);

/* Brackets a change of v (its state, its book): before() remembers what v contributed, after() carries the difference
 * up to the root and tells observers. Nothing can fail. O(d f) */
void weir_rows_before(weir_graph *g, weir_vertex v);
void weir_rows_after(weir_graph *g, weir_vertex v);

/* After a change of the book of v that moved no more than the start of its first reservation, which was `next` before: what
 * nobody has yet counts nowhere else. O(1) where it is the same, else O(d f) */
void weir_rows_soon(weir_graph *g, weir_vertex v, int64_t next);

/* Brackets many such changes: those of siblings in a row are carried up from their parent together. */
void weir_rows_batch(weir_graph *g, bool on);
/* How many of n picks, from the first on, are siblings in a row whose changes can be bracketed together, in a batch: at least 1, at
 * most WEIR_FAN. */
uint32_t weir_rows_run(const weir_graph *g, const weir_pick *picks, uint32_t n);
/* The same as weir_rows_before, _after and _soon for a run of at least 2. */
void weir_rows_run_before(weir_graph *g, const weir_pick *picks, uint32_t n);
void weir_rows_run_after(weir_graph *g, const weir_pick *picks, uint32_t n);
void weir_rows_run_soon(weir_graph *g, const weir_pick *picks, uint32_t n, const int64_t *next);

/* Computes schema and rows of every inner vertex anew. O(n). On failure the graph cannot be matched on. */
int weir_rows_build(weir_graph *g);
/* Counts in `count` kids alike that stand in p's kids behind nkids, and raises nkids. On failure nothing has changed. */
int weir_rows_link(weir_graph *g, weir_vertex p, uint32_t count);
/* The inner record goes: its row, if it has but one, may be given out again. */
void weir_rows_spare(weir_graph *g, const struct inner *in);
/* Takes v, which has a parent, out of its parent's kids and rows. */
void weir_rows_unlink(weir_graph *g, weir_vertex v);

#endif
