/* dice.h - random numbers for C tests, equal on every machine: each `seed` gives a fixed sequence. */
#ifndef DICE_H
#define DICE_H

#include <string.h>

#include "../../core/weir.h"

static uint64_t seed = 1;

/* From 0 to n - 1. */
static inline uint32_t dice(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

/* A random vertex of a graph with vertices. */
static inline weir_vertex some_vertex(const weir_graph *g)
{
    for (;;) {
        weir_vertex v = dice(weir_graph_limit(g));
        if (weir_vertex_live(g, v))
            return v;
    }
}

/* Of a type; WEIR_NONE: a thousand throws met none. */
static inline weir_vertex some_vertex_of(const weir_graph *g, const char *type)
{
    for (int i = 0; i < 1000; i++) {
        weir_vertex v = dice(weir_graph_limit(g));
        if (weir_vertex_live(g, v) && strcmp(weir_vertex_type(g, v), type) == 0)
            return v;
    }
    return WEIR_NONE;
}

#endif
