/* network.h - the records of a flow network. Private to core/flow. */
#ifndef WEIR_FLOW_NETWORK_H
#define WEIR_FLOW_NETWORK_H

#include "flow/flow.h"

struct flow_unit {
    int64_t capacity; /* in the window; -1: not needed yet */
    int64_t through;  /* units of flow that pass */
    int64_t bound;    /* vertices served by this unit alone get no more than so much; INT64_MAX: not known */
    uint32_t used;    /* chain of the arcs that leave the unit and have, or had, a flow */
};

struct flow_arc {
    int64_t flow;
    uint32_t next;     /* in the chain of the unit that the arc leaves, once `chained` */
    uint32_t from, to; /* of arcs that enter a vertex served: number of the unit, and the node */
    bool chained;
};

struct flow_end {
    weir_vertex v;
    uint32_t first, narcs; /* its arcs */
    int64_t got;
};

/* A step from a node up to a node that precedes it, and how much more may pass. `at` is an arc or a unit. */
struct flow_step {
    uint32_t node, at;
    enum { FLOW_ALONG, FLOW_BACK, FLOW_THROUGH, FLOW_OUT_OF } kind;
    int64_t residual;
};

struct flow_change {
    int what; /* FLOW_ARC to FLOW_LABEL */
    uint32_t at;
    int64_t value; /* the amount added; of a label the value before */
};
enum { FLOW_ARC, FLOW_UNIT, FLOW_END, FLOW_LABEL };

/* A demand served: its end and units, and the length of the log before. */
struct flow_mark {
    uint32_t nlog, end;
    int64_t units;
};

struct flow_network {
    const weir_graph *g;
    const struct flow_layout *l;
    uint32_t from; /* the unit that is the one source, if `one_source`; WEIR_NONE: that vertex is no unit */
    bool one_source;
    weir_flow_capacity *capacity_of;
    void *context;
    struct flow_unit *units;
    struct flow_arc *arcs; /* those of the layout, then those that enter vertices served */
    uint32_t arcs_n, arcs_cap;
    struct flow_end *ends;
    uint32_t nends, ends_cap;
    struct weir_map32 end_numbers; /* by vertex */
    uint32_t *labels, nodes_cap;   /* by node */
    uint32_t *counts, counts_cap;  /* nodes by label */
    struct flow_change *log;
    uint32_t nlog, log_cap;
    struct flow_mark *marks; /* by demand */
    uint32_t nmarks, marks_cap;
    struct flow_step *way;
    uint32_t nway, way_cap;
    uint32_t bounds_at; /* demands when the bounds were noted, if `bounded` */
    bool bounded;
    bool raised; /* a capacity has grown since the demands were served: labels may be too high */
    uint64_t visits;
};

/* Whether flows begin at a unit. */
bool weir_flow_begins(const struct flow_network *w, uint32_t unit);
/* Serves the demands again where a capacity has grown. Returns 1 or negative. */
int weir_flow_settle(struct flow_network *w);
/* The capacity of a unit. */
int64_t weir_flow_unit_capacity(struct flow_network *w, uint32_t unit);

#endif
