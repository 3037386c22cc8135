/* hostlist_sweep.h - visits the runs of one or two lists in the order of their names, for the files of hostlist/ only.
 *
 * Runs of equal prefix, digits and suffix form a group. A sweep divides the numbers of a group into stretches:
 * maximal intervals [lo, hi] covered by a constant set of runs. A callback handles each stretch as a whole, so the
 * cost does not depend on the lengths of the runs. n runs cost O(n log n), however they overlap.
 */
#ifndef WEIR_HOSTLIST_SWEEP_H
#define WEIR_HOSTLIST_SWEEP_H

#include "hostlist/hostlist_private.h"

/* A run in a sweep. */
struct sweep_item {
    const char *prefix;
    struct host_range run;
    uint32_t at; /* index of the run in its list */
    bool remove; /* the run is from the second list */
};

struct hostlist_sweep {
    struct sweep_item *items; /* sorted by group, then by run.lo */
    uint32_t n;
    struct sweep_item **ends;  /* the items of the current group by run.hi */
    struct sweep_item **first; /* heap by `at`: items of the first list with lo reached, some of them ended */
    uint32_t nfirst;
    uint32_t own, removing; /* runs that cover the stretch: in the first list, in the second */
    int (*stretch)(struct hostlist_sweep *s, uint64_t lo, uint64_t hi); /* called for each stretch; returns a status */
    void *result;                                                       /* for use by `stretch` */
};

/* Begin a sweep over h and `second` (NULL: none), with groups in the order of their prefixes' texts. Neither list may
 * have suffixes. Returns WEIR_OK or WEIR_ENOMEM; end with weir_sweep_end(). */
int weir_sweep_by_text(struct hostlist_sweep *s, const weir_hostlist *h, const weir_hostlist *second) WEIR_CHECKED;
/* Begin a sweep over h, with groups in the order of the texts' numbers. */
int weir_sweep_by_number(struct hostlist_sweep *s, const weir_hostlist *h) WEIR_CHECKED;
/* Free the memory of a sweep. */
void weir_sweep_end(struct hostlist_sweep *s);
/* Call `kind` for the items [i, end) of each group. Returns the first status that is not WEIR_OK. */
int weir_sweep_each(struct hostlist_sweep *s,
                    int (*kind)(struct hostlist_sweep *s, uint32_t i, uint32_t end)) WEIR_CHECKED;
/* Call s->stretch for each stretch of the group [i, end). */
int weir_sweep_kind(struct hostlist_sweep *s, uint32_t i, uint32_t end) WEIR_CHECKED;
/* In a stretch that begins at lo: pop the covering run that is first in the first list; NULL if none is left. */
struct sweep_item *weir_sweep_pop(struct hostlist_sweep *s, uint64_t lo);
/* Put an item back on the heap. */
void weir_sweep_push(struct hostlist_sweep *s, struct sweep_item *item);

#endif
