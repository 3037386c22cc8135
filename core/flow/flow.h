/* flow.h - flows through the distribution units of a subsystem (RFC 4, channelled pools). Private to the core.
 *
 * A layout has the units of one subsystem and the edges between the units; it is kept with the graph until the graph
 * changes. A network is a layout with capacities of one window and with a flow: the sum of the demands served so far.
 * A new demand may move units of earlier demands to other ways, so that a demand is refused only where no flow serves
 * all demands.
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include "graph/graph.h"

/* A unit is a vertex that an edge of the subsystem leads away from. An arc is a direction of an edge between units; the
 * arcs that enter unit i are numbers entering[i] to entering[i + 1] - 1, in the order of the edges of the unit. */
struct flow_layout {
    uint32_t subsystem;
    uint64_t serial; /* of the graph for which the layout was made */
    uint32_t n, narcs;
    weir_vertex *units;
    struct weir_map32 numbers; /* unit by vertex */
    bool *source;              /* by unit: flows begin here */
    uint32_t *entering;
    uint32_t *from, *to; /* by arc, numbers of units */
    /* Each way to a vertex that may be served leads through units of all distances from a source, 0 to `depth`. */
    uint32_t depth;
    uint32_t *labels;         /* by node (network.c), the arcs from the nearest source; FLOW_UNREACHED: none */
    struct flow_reach *reach; /* NULL: not needed yet (reach.h) */
};

#define FLOW_UNREACHED (UINT32_MAX / 4)

/* The layouts of a graph, by subsystem. */
struct flow_layouts {
    struct flow_layout **list;
    uint32_t n, cap;
};

/* NULL until a request has a flow. */
static inline struct flow_layouts *flows_in(const weir_graph *g)
{
    return g->records[RECORD_FLOWS];
}

/* The layout of a subsystem, made where missing or outdated. NULL: out of memory. */
struct flow_layout *weir_flow_layout(weir_graph *g, uint32_t subsystem);

/* Units that a vertex can pass on, 0 or more. */
typedef int64_t weir_flow_capacity(void *context, weir_vertex v);

struct flow_network;
/* Makes a network without demands. `from`: the one source; WEIR_NONE: the sources of the layout. NULL: out of
 * memory. */
struct flow_network *weir_flow_network_new(const weir_graph *g, const struct flow_layout *l, weir_vertex from,
                                           weir_flow_capacity *capacity, void *context);
void weir_flow_network_free(struct flow_network *w);
/* Adds the demand of `want` units at v. *got becomes `want`; or fewer, where the network cannot give v so much in
 * addition to the demands so far, which then remain alone: at least the most that it can give. With `part` *got units,
 * that most, are the demand. WEIR_ENOMEM: the network is of no use any more. O(arcs) for a demand that needs no more
 * than one search, and less where a refusal is known. */
int weir_flow_serve(struct flow_network *w, weir_vertex v, int64_t want, bool part, int64_t *got) WEIR_CHECKED;
/* Number of demands. */
uint32_t weir_flow_demands(const struct flow_network *w);
/* Drops the demands from number n on. */
void weir_flow_drop(struct flow_network *w, uint32_t n);
/* Takes `amount` units of a unit of the network for another use than flows: demands move to other ways where they
 * must. *fits is set to whether all demands can still be served; if not, nothing changes. WEIR_ENOMEM. O(arcs) for
 * each demand where some must move, else O(1) */
int weir_flow_reserve(struct flow_network *w, weir_vertex v, int64_t amount, bool *fits) WEIR_CHECKED;
/* Gives units back that weir_flow_reserve() has taken. O(1); the demands are served again by the next call that reads
 * the flow. */
void weir_flow_give_back(struct flow_network *w, weir_vertex v, int64_t amount);
/* Sets *got to the most units, up to `want`, that weir_flow_reserve() could take of a unit of the network; unless
 * `move`, of those that no flow passes. WEIR_ENOMEM. O(log want) times as much as weir_flow_reserve() where flows have
 * to move, else O(1) */
int weir_flow_spare(struct flow_network *w, weir_vertex v, int64_t want, bool move, int64_t *got) WEIR_CHECKED;
/* Units of flow that pass v; 0 for what is no unit of the network. WEIR_ENOMEM */
int64_t weir_flow_through(struct flow_network *w, weir_vertex v);
/* Number of looks at units since the network was made. */
uint64_t weir_flow_visits(const struct flow_network *w);
/* Whether the capacity of each unit is a multiple of `step`, or `most` and more. O(units) */
bool weir_flow_capacities_divide(struct flow_network *w, int64_t step, int64_t most);
/* Whether a flow enters v, by an edge of the subsystem. */
bool weir_flow_enters(const weir_graph *g, weir_vertex v, uint32_t subsystem);

/* Units passed on by one distribution unit for one vertex served. */
struct flow_share {
    weir_vertex endpoint, unit;
    int64_t amount;
};
/* Decomposes the flow: for each vertex served, the units of each distribution unit on its ways. *out is to be freed
 * with weir_mem_free; the network has no flow any more. WEIR_ENOMEM */
int weir_flow_shares(struct flow_network *w, struct flow_share **out, uint32_t *n) WEIR_CHECKED;
/* The minimum cut nearest to the sources: the units, full, that keep more from the vertices that ask for more. *out is
 * to be freed with weir_mem_free. WEIR_ENOMEM */
int weir_flow_cut(struct flow_network *w, weir_vertex **out, uint32_t *n) WEIR_CHECKED;

#endif
