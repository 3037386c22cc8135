/* hwloc_types.h - what is wanted of a topology. */
#ifndef WEIR_HWLOC_TYPES_H
#define WEIR_HWLOC_TYPES_H

#include "base/base.h"

enum weir_hwloc_type {
    WEIR_HWLOC_NODE = 1 << 0,
    WEIR_HWLOC_GROUP = 1 << 1,
    WEIR_HWLOC_SOCKET = 1 << 2,
    WEIR_HWLOC_NUMANODE = 1 << 3,
    WEIR_HWLOC_L3 = 1 << 4,
    WEIR_HWLOC_L2 = 1 << 5,
    WEIR_HWLOC_L1 = 1 << 6,
    WEIR_HWLOC_CORE = 1 << 7,
    WEIR_HWLOC_PU = 1 << 8,
    WEIR_HWLOC_GPU = 1 << 9,
    WEIR_HWLOC_MEMORY = 1 << 10,
    WEIR_HWLOC_STORAGE = 1 << 11,
    WEIR_HWLOC_ALL = 1 << 12,    /* processors too that are not allowed */
    WEIR_HWLOC_LISTED = 1 << 13  /* the types were listed one by one: numanodes, where there is one, count */
};

/* Takes apart what stands behind "hwloc:" in the name of a format. "": down to cores. One type: down to that level.
 * Several types, such as "node,socket,L3cache,core": these, and the node. "all" can stand among them. */
int weir_hwloc_types(const char *words, unsigned *what, weir_err *err) WEIR_CHECKED;

#endif
