/* rows_deferred.h - row updates that a batch defers (rows.c, rows_batch.c). Private to the core. */
#ifndef WEIR_ROWS_DEFERRED_H
#define WEIR_ROWS_DEFERRED_H

#include "aggregate/rows.h"

/* Scratch vectors. DEFERRED_OLD and RUN have a vector for each level of a batch. */
enum { OLD, NEW, OLD_UP, FILL, DEFERRED_OLD, RUN = DEFERRED_OLD + DEFERRED_LEVELS };

/* A scratch vector; valid until the next new schema. */
static inline int64_t *scratch(const weir_graph *g, int which)
{
    return aggregates_in(g)->scratch + (size_t)which * aggregates_in(g)->scratch_width;
}

/* Adds to `out` the contribution of v to rows of a schema, without cells that depend on neither schedules nor
 * states; n times for a leaf v with n - 1 equal siblings. */
void weir_rows_add(const weir_graph *g, weir_vertex v, const struct schema *s, int64_t n, int64_t *out);
/* Prepares a change of a child of p: deferred updates of vertices other than p and p's parent are carried up. */
void weir_rows_turn_deferred(weir_graph *g, weir_vertex p);
/* Adds the child at pos to the deferred run of p. A run consists of neighbours within one group of WEIR_FAN. */
void weir_rows_defer(weir_graph *g, uint32_t level, weir_vertex p, uint32_t pos);

#endif
