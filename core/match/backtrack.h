/* backtrack.h - what the files about siblings that compete share. Private to the matcher.
 *
 *   backtrack.c        the search over what the siblings take
 *   backtrack_conflicts.c whether they compete at all
 *   backtrack_assign.c  units of pools, divided among all that need some
 *   backtrack_bound.c  whether there can be enough of them at all
 *   backtrack_symmetry.c  what need not be tried: it is like what was refused
 */
#ifndef WEIR_BACKTRACK_H
#define WEIR_BACKTRACK_H

#include "graph/graph.h"
#include "match/match.h"
#include "request/request.h"

#define BACKTRACK_TRIES 20000
#define BACKTRACK_DEMANDS 256
#define BACKTRACK_TRIED 64 /* refused candidates that are kept for one choice */

/* So many units of a resource below a vertex, or so many slots in nodes. */
struct demand {
    const weir_resource *r;
    weir_vertex under;
    uint32_t depth; /* of `under` */
    int64_t times, units, most;
    int64_t last; /* units that the vertex taken last gave */
    weir_type host; /* r is a slot, the candidates are vertices of this type, the units slots; WEIR_NO_TYPE: it is none */
    int64_t slots; /* that this demand stands for, as the first resource of other slots */
    uint32_t subsystem; /* WEIR_NONE, or whose units these are (flow.c) */
    weir_vertex *candidates; /* in order; NULL: only units, placed last */
    uint32_t n, cap;
    bool whole;      /* all candidates are taken as a whole */
    bool sized;      /* some candidates stand for more than one */
    int64_t *behind; /* by candidate: units of it and of all behind it, as things stood when its turn came; one more at the end.
                        Not in order */
    weir_vertex *pools; /* that give some of their units, where all ways are tried */
    uint32_t npools, pools_cap;
};

/* A vertex, what can be taken of it, and what was taken or is asked for there. */
struct symmetry {
    weir_vertex v;
    uint32_t touched; /* picks and demands at or below it */
    uint32_t wholes;  /* picks of it as a whole */
    uint32_t round;   /* that `units` is about */
    int64_t units;    /* of the pools at or below it that are counted */
    uint64_t itself, kids, extra; /* what it is, sums of the looks of its kids and of what is taken or asked for at it */
    uint64_t look;    /* all of that; 0: not known yet */
};

struct symmetries {
    const struct match *m;
    bool known;        /* else no two are alike as far as we know */
    struct symmetry *list; /* a hash table by vertex */
    uint32_t n, size, round;
};

/* Candidates that were refused for one choice. */
struct tried {
    uint64_t *keys;
    uint32_t n, cap;
};

struct backtrack {
    struct match *m;
    struct demand *demands; /* those of the siblings, then those inside of what was chosen for them */
    uint32_t n, cap, tries, refusals;
    bool ordered;  /* the first way in the policy's order; else all ways, for the least of everything */
    bool gave_up;  /* ... which took too long */
    struct symmetries twins;
    uint64_t *states; /* that were refused: a hash table */
    uint32_t nstates, states_size;
};

static inline bool is_hosted(const struct demand *d)
{
    return d->host != WEIR_NO_TYPE;
}

/* The least that a demand has to get. */
static inline int64_t demand_least(const struct demand *d)
{
    return saturating_mul(d->r->count.min, d->times);
}

/* Whether something inside of the resources competes with what is beside it there. */
bool weir_backtrack_within(struct match *m, const weir_resource *list, uint32_t n);

/* Whether the units that are still missing can be divided among the pools as they are; the demands from `open` on that have
 * candidates left count nothing, nor do those that are not about what is at or below `within` (WEIR_NONE: all are). 1, 0 or
 * negative. O(demands x pools) for each way that units are moved. weir_backtrack_assign_all() picks them. */
int weir_backtrack_assign(struct backtrack *c, uint32_t open, weir_vertex within) WEIR_CHECKED;
int weir_backtrack_assign_all(struct backtrack *c) WEIR_CHECKED;

/* Units that a pool has beside all that was taken. O(d), more where it was touched itself */
int64_t weir_backtrack_room(const struct backtrack *c, weir_vertex v);
/* Whether there are as many units as are needed, whichever vertices are chosen for the demands from `open` on. 1, 0 or negative.
 * O(demands x (candidates + pools)) */
int weir_backtrack_enough(struct backtrack *c, uint32_t open) WEIR_CHECKED;

/* What is taken or asked for begins (1) or ends (-1); WEIR_ENOMEM. O(d) */
int weir_symmetry_pick(struct symmetries *t, const weir_pick *p, int by) WEIR_CHECKED;
int weir_symmetry_demand(struct symmetries *t, const struct demand *d, uint32_t i, int by) WEIR_CHECKED;
/* NULL: nothing is noted about v. Good until the next call. */
const struct symmetry *weir_symmetry_find(const struct symmetries *t, weir_vertex v);
/* Counts units of v, and of all above it, in this round. WEIR_ENOMEM. */
int weir_symmetry_count(struct symmetries *t, weir_vertex v, int64_t units) WEIR_CHECKED;
/* *key is the same for candidates that are alike: what one of them leads to the other one does. WEIR_ENOMEM. */
int weir_symmetry_key(struct symmetries *t, weir_vertex v, uint64_t *key) WEIR_CHECKED;
void weir_symmetry_begin(struct symmetries *t, const struct match *m);
void weir_symmetry_end(struct symmetries *t);

/* What all depends on once the demands before the i-th are met. WEIR_ENOMEM. */
int weir_backtrack_state(struct backtrack *c, uint32_t i, uint64_t *state) WEIR_CHECKED;
bool weir_backtrack_refused(const struct backtrack *c, uint64_t state);
int weir_backtrack_refuse(struct backtrack *c, uint64_t state) WEIR_CHECKED;

#endif
