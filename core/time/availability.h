/* availability.h - free units of a vertex over an interval [t0, t1). Private to the core. A job past the agreed end,
 * and not released, counts as in use at the clock's time; later times trust the ends. So an interval from now on never
 * gets units of an overdue job. */
#ifndef WEIR_AVAILABILITY_H
#define WEIR_AVAILABILITY_H

#include "graph/graph.h"

/* Whether no job has an ancestor of v exclusively. O(d) */
bool weir_availability_above(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* Whether no job has anything on v or below v: then v can be taken exclusively, if open above. O(busy vertices
 * below) */
bool weir_availability_unused(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* Whether no job but `job` has anything on v or below v. */
bool weir_availability_only(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1);
/* Free units of v itself. */
int64_t weir_availability_free(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);

/* t + d, saturating at WEIR_FOREVER. */
static inline int64_t time_add(int64_t t, int64_t d)
{
    return d >= WEIR_FOREVER - (t > 0 ? t : 0) ? WEIR_FOREVER : t + d;
}

#endif
