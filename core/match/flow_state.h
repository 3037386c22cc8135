/* flow_state.h - the flows of a match. Private to flow.c and flow_search.c. */
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
    int64_t step; /* divides the units of every demand; 0: no demand has units */
    const struct flow_layout *layout;
    struct flow_network *w;
    weir_pick *taken; /* distribution units picked otherwise before the network was made */
    uint32_t ntaken;
    /* The demands served by the network, in order, each with the pick of the time when the demand was served. */
    struct flow_applied {
        uint32_t pick, stamp;
    } *stack;
    uint32_t nstack, stack_cap;
    weir_vertex *refused; /* vertices without a flow, in order, perhaps more than once */
    uint32_t nrefused, refused_cap;
    /* The type of the vertices with a demand each for vertices inside (of the racks, for 2 racks with 3 nodes that need
     * units); WEIR_NO_TYPE: one group only. */
    weir_type group;
    bool crossed; /* a vertex got no flow while a vertex of another group had one */
};

struct flow_demand {
    struct flow_net *net;
    weir_vertex endpoint;
    int64_t units;
};

struct flow_state {
    struct flow_net *nets;
    struct flow_demand *demands; /* by stamp - 1, of this attempt */
    uint32_t ndemands, demands_cap;
    bool search;              /* counts with a range take their minimum */
    struct weir_map32 barred; /* vertices that must get no flow in this attempt */
};

/* The fewest units of the subsystem that serve the request. */
int64_t weir_flow_needed(const struct match *m, const struct flow_net *f);

#endif
