/* placings.h - helpers of tests that match a request on a machine and on a copy, and compare the picks. */
#ifndef PLACINGS_H
#define PLACINGS_H

#include <stdlib.h>

#include "../../core/weir.h"

/* A policy's order: the fastest first, then by id. */
static inline int by_speed(void *data, const weir_graph *g, weir_vertex v, double *keys)
{
    const char *speed = weir_vertex_get(g, v, WEIR_PROPERTIES, "speed");

    (void)data;
    keys[0] = speed ? -atof(speed) : 0;
    keys[1] = (double)weir_vertex_id(g, v);
    return 2;
}

static inline bool same(const weir_allocation *a, const weir_allocation *b)
{
    if (a->start != b->start || a->npicks != b->npicks)
        return false;
    for (uint32_t i = 0; i < a->npicks; i++)
        if (a->picks[i].vertex != b->picks[i].vertex || a->picks[i].amount != b->picks[i].amount)
            return false;
    return true;
}

#endif
