/* machines.h - pools added one by one, for the C tests that build machines by hand. */
#ifndef MACHINES_H
#define MACHINES_H

#include "check.h"

static inline weir_pool_desc pool(const char *type, int64_t id, int64_t size)
{
    return (weir_pool_desc){.type = type, .id = id, .size = size, .rank = WEIR_NO_RANK};
}

static inline weir_vertex add_pool(weir_graph *g, weir_vertex parent, weir_pool_desc d)
{
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    CHECK(weir_graph_add(g, parent, &d, &v, &err) == WEIR_OK, "a %s is added: %s", d.type, err.text);
    return v;
}

/* Adds `count` pools with ids from `id` on; memory has 64 GB each. Returns the first. */
static inline weir_vertex add_pools(weir_graph *g, weir_vertex parent, const char *type, int64_t id, uint32_t count)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v = WEIR_NONE;

    d.type = type;
    d.id = id;
    if (strcmp(type, "memory") == 0) {
        d.size = 64;
        d.unit = "GB";
    }
    CHECK(weir_graph_add_many(g, parent, &d, count, 1, &v, NULL) == WEIR_OK, "%s is added", type);
    return v;
}

#endif
