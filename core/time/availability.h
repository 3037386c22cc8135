/* availability.h - what is free of a vertex over an interval [t0, t1). Private to the core.
 *
 * What has begun and is not released counts as in use at the clock's time even past its end; later times trust the
 * ends. So an interval that starts now never gets what somebody still has. */
#ifndef WEIR_AVAILABILITY_H
#define WEIR_AVAILABILITY_H

#include "graph/graph.h"

/* No job has an ancestor of v as a whole. O(d) */
bool weir_availability_above(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* No job has anything on v or below it: v can be taken as a whole, if it is open above. O(busy vertices below) */
bool weir_availability_unused(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* The same, but for what this job has of it. */
bool weir_availability_alone(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1);
/* Units of v itself that are free. */
int64_t weir_availability_free(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);


/* t + d, saturating. */
static inline int64_t time_add(int64_t t, int64_t d)
{
    return d >= WEIR_FOREVER - (t > 0 ? t : 0) ? WEIR_FOREVER : t + d;
}

#endif
