/* hostlist_sweep.h - going over the runs of one list or two in order of their names, for the files hostlist_*.c only.
 *
 * A sweep cuts the numbers behind one prefix into stretches [lo, hi] that the same runs cover, and calls a function for
 * each. So no operation costs more for a longer run. n runs cost O(n log n), however they overlap.
 */
#ifndef WEIR_HOSTLIST_SWEEP_H
#define WEIR_HOSTLIST_SWEEP_H

#include "hostlist/hostlist_private.h"

/* A run that takes part. */
struct item {
    const char *prefix;
    struct run run;
    uint32_t at; /* number of the run in its list */
    bool remove; /* it comes from the second list */
};

struct sweep {
    struct item *items; /* sorted: what differs in nothing but the numbers stands together, by where it begins */
    uint32_t n;
    struct item **ends;  /* those that stand together, by where they end */
    struct item **first; /* a heap of the list's own that have begun (some have ended), the first in the list on top */
    uint32_t nfirst;
    uint32_t own, removing; /* how many cover the stretch: of the list, of the second one */
    int (*stretch)(struct sweep *s, uint64_t lo, uint64_t hi);
    void *result; /* of stretch */
};

/* Sorts by the text of the prefixes, or by their numbers (of one list). `second` may be NULL. */
int weir_sweep_by_text(struct sweep *s, const weir_hostlist *h, const weir_hostlist *second) WEIR_CHECKED;
int weir_sweep_by_number(struct sweep *s, const weir_hostlist *h) WEIR_CHECKED;
void weir_sweep_end(struct sweep *s);
/* Calls `kind` for all items [i, end) that differ in nothing but their numbers. */
int weir_sweep_each(struct sweep *s, int (*kind)(struct sweep *s, uint32_t i, uint32_t end)) WEIR_CHECKED;
/* Calls s->stretch for the stretches of such items. */
int weir_sweep_kind(struct sweep *s, uint32_t i, uint32_t end) WEIR_CHECKED;
/* Within a stretch that begins at lo: the own run that is first in the list, taken off the heap; NULL: no more. */
struct item *weir_sweep_pop(struct sweep *s, uint64_t lo);
void weir_sweep_push(struct sweep *s, struct item *item);

#endif
