/* choice.h - chooses which vertices get demands of one size, so that one flow serves all of them. Private to the core.
 *
 * Each of some vertices may get up to a number of demands, each of `each` units; `want` demands are to be given in all.
 * The relaxation, in which parts of demands count, is a maximum flow; where it is too small, or rounds to too few
 * demands behind some cut, no choice exists. Otherwise parts are rounded, at last by branching. Whole demands make the
 * problem NP-hard (set packing), so branching ends after a number of steps.
 */
#ifndef WEIR_CHOICE_H
#define WEIR_CHOICE_H

#include "flow/flow.h"

struct flow_choice_end {
    weir_vertex v;  /* a vertex that edges of the subsystem enter */
    uint32_t group; /* number of its group, where there are groups */
    int64_t most;   /* demands that it may get */
    int64_t chosen; /* demands that it gets, in a choice that was found */
};

struct flow_choice {
    struct flow_network *w; /* without demands */
    int64_t each, want;
    uint32_t ngroups;
    int64_t by_group; /* demands of each group that gets any; 0: there are no groups */
    struct flow_choice_end *ends;
    uint32_t n;
    uint64_t steps_most, steps; /* arcs visited, at most and so far */
};

/* Chooses. Ends that come first are preferred. Returns 1 with `chosen` of all ends set; 0: there is no choice;
 * WEIR_ELIMIT: too many steps; or WEIR_ENOMEM. */
int weir_flow_choose(struct flow_choice *c) WEIR_CHECKED;

#endif
