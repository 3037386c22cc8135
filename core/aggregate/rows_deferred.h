/* rows_deferred.h - what a batch holds back of changes of rows (rows.c, rows_batch.c). Private to the core. */
#ifndef WEIR_ROWS_DEFERRED_H
#define WEIR_ROWS_DEFERRED_H

#include "aggregate/rows.h"

enum { OLD, NEW, OLD_UP, FILL, LATE, RUN = LATE + DEFERRED_LEVELS }; /* the last two: one each for each level of a batch */

static inline int64_t *scratch(const weir_graph *g, int which)
{
    return g->aggregates->scratch + (size_t)which * g->aggregates->scratch_width;
}

/* Adds to `out` what v, and others like it where it is a leaf, `n` in all, contribute to rows of a schema, of all that books and
 * states change. */
void weir_rows_add(const weir_graph *g, weir_vertex v, const struct schema *s, int64_t n, int64_t *out);
/* A kid of p is to change: what is held back is of p and its parent, or carried on. */
void weir_rows_turn_deferred(weir_graph *g, weir_vertex p);
/* Notes that the kid of p at pos changed; those of a run stand side by side, in one group. */
void weir_rows_defer(weir_graph *g, uint32_t level, weir_vertex p, uint32_t pos);

#endif
