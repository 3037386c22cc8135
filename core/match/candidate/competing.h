/* competing.h - declarations shared by the files about siblings that compete. Private to the matcher.
 *
 *   place/competing.c   the search over the vertices of the siblings
 *   competing_types.c   whether siblings compete at all
 *   competing_units.c   units of pools, divided among all demands
 *   competing_states.c  candidates and states equivalent to refused candidates and states
 */
#ifndef WEIR_COMPETING_H
#define WEIR_COMPETING_H

#include "graph/graph.h"
#include "match/match.h"
#include "request/request.h"

#define COMPETING_TRIES   40000 /* steps before the search gives up */
#define COMPETING_DEMANDS 256   /* demands at the same time */
#define COMPETING_TRIED   64    /* refused candidates kept for a choice */

/* A demand for units of a resource below a vertex, or for slots in nodes. */
struct demand {
    /* The question */
    const weir_resource *r;
    weir_vertex under;
    uint32_t depth;    /* of `under` */
    int64_t times;     /* the number of times that the count of r is requested */
    int64_t max_units; /* most units that the demand may take */
    /* r is a slot, units are slots, candidates are vertices of this type; WEIR_NO_TYPE: r is no slot */
    weir_type host;
    int64_t slots;      /* slots that the demand accounts for, as the first resource of slots without a host */
    uint32_t subsystem; /* the subsystem of the units (flow.c); WEIR_NONE: containment */
    bool direct;        /* r takes its units behind all others (flow_direct.c) */

    /* The choices */
    weir_vertex *candidates; /* in order; NULL: only units, placed last */
    uint32_t n, cap;
    /* by candidate: units of the candidate and all later candidates; one entry more at the end. Only where all ways
     * are tried */
    int64_t *remaining;
    weir_vertex *pools; /* pools that give some of their units. Only where all ways are tried */
    uint32_t npools, pools_cap;

    /* Progress */
    int64_t units;      /* taken so far */
    int64_t last_units; /* units of the vertex taken last */
};

/* The uses of a vertex, and a signature of all resources that can still be taken at or below the vertex. */
struct symmetry {
    weir_vertex v;
    uint32_t uses;       /* picks and demands at or below v */
    uint32_t whole_uses; /* picks of v as a whole */
    uint64_t own_hash;   /* hash of the vertex without children and uses */
    uint64_t kids_hash;  /* sum of the signatures of the children */
    uint64_t use_hash;   /* sum of the hashes of picks and demands at v */
    uint64_t signature;  /* of the three hashes; 0: not known yet */
};

struct symmetries {
    const struct match *m;
    bool known;   /* false: no two vertices are known to be interchangeable */
    uint64_t key; /* of the hashes of this search */
    struct symmetry *list;
    struct weir_map32 numbers; /* in `list`, by vertex */
    uint32_t n, cap;
};

/* Keys of candidates refused for a choice. */
struct tried {
    uint64_t *keys;
    uint32_t n, cap;
};

struct competing {
    struct match *m;
    bool ordered; /* only the first way in the order of the policy; false: all ways, with minimal counts */

    struct demand *demands; /* the demands of the siblings, then the demands nested in chosen vertices */
    uint32_t n, cap;
    struct symmetries symmetries;
    uint64_t *states; /* refused states */
    uint32_t nstates, states_cap;
    struct weir_map32 state_numbers; /* in `states`, by the low half of a state */

    uint32_t tries;    /* steps so far, against COMPETING_TRIES */
    uint32_t refusals; /* candidates refused so far */
    bool gave_up;      /* the ordered search took too long */
};

static inline bool is_hosted(const struct demand *d)
{
    return d->host != WEIR_NO_TYPE;
}

/* Fewest units that satisfy a demand. */
static inline int64_t demand_minimum(const struct demand *d)
{
    return saturating_mul(d->r->count.min, d->times);
}

/* Whether resources nested in the resources of a list compete among each other, at any level. */
bool weir_competing_within(struct match *m, const weir_resource *list, uint32_t n);

/* Whether the missing units can be divided among the pools as they are. Demands from number `open` on that have
 * candidates left count nothing, nor do demands outside of `within` (WEIR_NONE: all demands count). Returns 1, 0 or
 * negative. O(demands x pools) for each way by which units are moved. */
int weir_competing_assign(struct competing *c, uint32_t open, weir_vertex within) WEIR_CHECKED;
/* Divides the missing units of all demands among the pools, and adds the picks. Returns 1, 0 or negative. */
int weir_competing_assign_all(struct competing *c) WEIR_CHECKED;

/* Adds (by 1) or removes (by -1) a pick from the uses of its vertex and all vertices above. WEIR_ENOMEM. O(d) */
int weir_symmetry_pick(struct symmetries *t, const weir_pick *p, int by) WEIR_CHECKED;
/* Adds (by 1) or removes (by -1) demand i from the uses of its vertex and all vertices above. WEIR_ENOMEM. O(d) */
int weir_symmetry_demand(struct symmetries *t, const struct demand *d, uint32_t i, int by) WEIR_CHECKED;
/* The record of v, valid until a record is added; NULL: v has no record. */
const struct symmetry *weir_symmetry_find(const struct symmetries *t, weir_vertex v);
/* Sets *key, equal for candidates that are interchangeable: choosing either leads to the same result. WEIR_ENOMEM. */
int weir_symmetry_key(struct symmetries *t, weir_vertex v, uint64_t *key) WEIR_CHECKED;
void weir_symmetry_begin(struct symmetries *t, const struct match *m);
void weir_symmetry_end(struct symmetries *t);

/* Sets *state, a hash of everything relevant to the search once all demands before number i are met. WEIR_ENOMEM. */
int weir_competing_state(struct competing *c, uint32_t i, uint64_t *state) WEIR_CHECKED;
/* Whether a state was refused before. */
bool weir_competing_refused(const struct competing *c, uint64_t state);
/* Records a refused state. WEIR_ENOMEM. */
int weir_competing_refuse(struct competing *c, uint64_t state) WEIR_CHECKED;

#endif
