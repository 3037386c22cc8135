/* hwloc_types.h - the types of vertices to read from a topology. */
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
    WEIR_HWLOC_ALL = 1 << 12,   /* processors count even if the machine does not allow their use */
    WEIR_HWLOC_LISTED = 1 << 13 /* several types were listed: a single NUMA node of a package is a vertex, too */
};

/* Parses the part behind "hwloc:" in the name of a format. "": down to cores. A type: down to that level. Several
 * types, such as "node,socket,L3cache,core": exactly these, and the node. "all" may be among the types. */
int weir_hwloc_types(const char *words, unsigned *what, weir_err *err) WEIR_CHECKED;

#endif
