/* idset_private.h - how a set of ids is stored; for the files idset_*.c only.
 *
 * Invariant: runs ascend, lo <= hi in each, and at least one id is missing between two of them; count is the ids in
 * all runs.
 */
#ifndef WEIR_IDSET_PRIVATE_H
#define WEIR_IDSET_PRIVATE_H

#include "idset/idset.h"

struct run {
    uint32_t lo, hi; /* both inside */
};

struct weir_idset {
    struct run *runs;
    uint32_t n, cap;
    uint64_t count;
};

static inline uint64_t run_length(struct run r)
{
    return (uint64_t)r.hi - r.lo + 1;
}

#endif
