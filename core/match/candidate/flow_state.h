/* flow_state.h - the flows of a match. Private to flow*.c, and to the files of the recursion that add to a survey what
 * the flows cannot list. */
#ifndef WEIR_FLOW_STATE_H
#define WEIR_FLOW_STATE_H

#include "flow/flow.h"
#include "match/match.h"

/* The network of a subsystem, for resources with one unit. */
struct flow_net {
    struct flow_net *next;
    const struct match *m;
    uint32_t subsystem;
    const weir_resource *r;
    int64_t *reserved; /* by unit: what flows of other networks take of it; NULL: none has the same units */
    int64_t step;      /* divides the units of every demand; 0: no demand has units */
    const struct flow_layout *layout;
    struct flow_network *w;
    /* What the network has, in order: demands, each with the pick of the time when the demand was served; and units
     * that picks take otherwise, which have the stamp 0. */
    struct flow_applied {
        uint32_t pick, stamp;
        uint32_t demands; /* demands before this entry */
        weir_vertex unit; /* with the stamp 0 */
        int64_t amount;
    } * stack;
    uint32_t nstack, stack_cap;
    weir_vertex *refused; /* vertices without a flow, in order, perhaps more than once */
    uint32_t nrefused, refused_cap;
    /* The type of the vertices with a demand each for vertices inside (of the racks, for 2 racks with 3 nodes that need
     * units); WEIR_NO_TYPE: one group only. */
    weir_type group;
    bool hosted;  /* a vertex may have several demands, or a larger one */
    bool crossed; /* a vertex got no flow while a vertex of another group had one */
};

struct flow_demand {
    struct flow_net *net;
    weir_vertex endpoint;
    int64_t units;
};

/* A direct resource that waits for its units. */
struct flow_waiting {
    uint32_t pick; /* the pick that represents it */
    const weir_resource *r;
    weir_vertex under;
    int64_t times;
};

/* The most units that a vertex may be served. */
struct flow_cap {
    uint32_t key;  /* the vertex; of units that wait below a vertex, flow_waiting_key() */
    uint32_t last; /* number of the cap that the key had before; WEIR_NONE: none */
    int64_t most;
};

/* A vertex that requests units, in a survey (flow_survey.c). */
struct flow_candidate {
    weir_vertex under; /* the vertex */
    weir_vertex entry; /* the vertex at or above it that the flow enters */
    int64_t most;      /* demands that it has room for */
};

struct flow_survey {
    struct flow_candidate *list;
    uint32_t n, cap;
    struct weir_map32 numbers; /* by `under` */
    int64_t each;              /* units of a demand; 0: none was seen */
    bool odd;                  /* demands differ in size, or candidates could not be listed */
};

struct flow_state {
    struct flow_net *nets;
    struct flow_demand *demands; /* by stamp - 1, of this attempt */
    uint32_t ndemands, demands_cap;
    bool *direct;   /* by resource of the request: it requests units that flows of the request pass through */
    bool mixed;     /* some resource does */
    bool shared;    /* units pass flows of several subsystems of the request */
    bool contended; /* a flow was refused that fits but for those of other networks, which might take other ways */
    bool placing;   /* the networks of the match are being released and no longer change */
    bool search;    /* counts with a range take their minimum */
    bool still;     /* units taken directly leave the flows where they are */
    bool waits;     /* direct resources wait for their units until all flows are there */
    bool unfit;     /* in the last attempt all flows were there, but not the units of the direct resources */
    bool gave_up;   /* not all ways to take units directly were tried */
    uint32_t tries; /* units taken directly on trial in this search */
    struct flow_waiting *waiting;
    uint32_t nwaiting, waiting_cap;
    struct flow_cap *caps;
    uint32_t ncaps, caps_cap;
    struct weir_map32 cap_numbers; /* in `caps`, by key */
    bool chosen;                   /* a vertex without a cap gets nothing */
    struct flow_survey *survey;    /* NULL: flows are made */
};

static inline int64_t flow_waiting_units(const struct flow_waiting *w)
{
    return saturating_mul(w->r->count.min, w->times);
}

static inline uint32_t flow_waiting_key(weir_vertex under)
{
    return under | UINT32_C(1) << 31;
}

/* The most units that the vertex of a key may be served, beyond `had`; WEIR_FOREVER: any. */
int64_t weir_flow_cap(const struct match *m, uint32_t key, int64_t had);
/* Caps a key, until weir_flow_drop_caps() (flow_search.c). */
int weir_flow_set_cap(struct flow_state *s, uint32_t key, int64_t most);
int weir_flow_drop_caps(struct flow_state *s);
/* Makes the network have what the picks have: entries of dropped picks go, moved ones come back. Returns 1, 0 or
 * negative. */
int weir_flow_follow(struct match *m, struct flow_net *f);
/* The network of a subsystem in this attempt, for resources with the unit of r; made where missing. NULL: out of
 * memory. */
struct flow_net *weir_flow_net(struct match *m, uint32_t subsystem, const weir_resource *r);
/* The vertex that a flow for resources below `under` enters, or WEIR_NONE. */
weir_vertex weir_flow_entry(const struct match *m, weir_vertex under, uint32_t subsystem);
/* The resource that requests units, if a survey can list the candidates of the request; or NULL. */
const weir_resource *weir_survey_asker(const struct match *m);
/* Notes that `under` has room for `most` demands of `units` units. Returns 0 (refused) or negative. */
int weir_survey_note(struct match *m, weir_vertex under, weir_vertex entry, int64_t units, int64_t most);
/* Likewise for `most` slots below `under`. */
int weir_survey_slots(struct match *m, weir_vertex under, const weir_resource *slot, int64_t most);
void weir_survey_end(struct flow_survey *s);
/* Whether the match only lists candidates. */
static inline bool flow_surveys(const struct match *m)
{
    return m->progress.flow && m->progress.flow->survey && m->scope.view != VIEW_CAPACITY;
}
/* Notes that a survey cannot list all candidates. Returns 0 (refused). */
static inline int flow_survey_odd(struct match *m)
{
    m->progress.flow->survey->odd = true;
    return 0;
}
/* The fewest units of the subsystem that serve the request. */
int64_t weir_flow_needed(const struct match *m, const struct flow_net *f);

#endif
