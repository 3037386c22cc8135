/* idset_private.h - the representation of a set of ids, for the files of idset/ only.
 *
 * Invariant: runs ascend, lo <= hi in each run, and at least one id is missing between two runs; `count` is the
 * number of ids in all runs.
 */
#ifndef WEIR_IDSET_PRIVATE_H
#define WEIR_IDSET_PRIVATE_H

#include "idset/idset.h"

struct id_range {
    uint32_t lo, hi; /* inclusive */
};

struct weir_idset {
    struct id_range *runs;
    uint32_t n, cap;
    uint64_t count;
};

static inline uint64_t run_length(struct id_range r)
{
    return (uint64_t)r.hi - r.lo + 1;
}

#endif
