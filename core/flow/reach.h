/* reach.h - the most units of a subsystem that may get to a vertex now, and to the vertices below a row. Private to the
 * core.
 *
 * A unit passes on at most what it has free, and at most what its parents pass on together. In a tree that is exact; in
 * other networks the sum over several parents may be more than a flow can be. So a search need not open rows below
 * which no vertex can get what it needs, and never looks at nodes of a power unit that is used up.
 *
 * A reach belongs to a layout. A match brings it up to date; changes between matches cost nothing. */
#ifndef WEIR_REACH_H
#define WEIR_REACH_H

#include "flow/flow.h"

struct flow_reach {
    uint32_t *order;        /* units by distance from the sources */
    int64_t *passed;        /* by unit: the most units passed on */
    struct weir_map32 ends; /* number of an end by vertex: vertices of the tree that an edge of the subsystem enters */
    uint32_t nends, ends_cap;
    struct reach_end {
        weir_vertex v;
        int64_t most;
    } * list;       /* by number of the end */
    uint32_t nrows; /* rows of the graph */
    int64_t *below; /* by row: the most of an end in the entries of the row or below them; -1: there is none */
};

/* The reach of a layout, up to date; NULL: out of memory. O(units + arcs), and O(log fan-out) for each end below a unit
 * that has changed. */
const struct flow_reach *weir_flow_reach(weir_graph *g, struct flow_layout *l);
/* The most units that a vertex inside v, or v itself, may get from the edges that enter v or the nearest vertex above
 * v; 0: no edge does. O(depth) */
int64_t weir_flow_reach_above(const weir_graph *g, const struct flow_reach *x, weir_vertex v);
/* Whether v, or a vertex below v, may get `need` units. O(depth) */
bool weir_flow_reaches(const weir_graph *g, const struct flow_reach *x, weir_vertex v, int64_t need);
/* Whether an entry of row number `row` of the children of v, or a vertex below an entry, may get `need` units.
 * O(depth) */
bool weir_flow_reaches_row(const weir_graph *g, const struct flow_reach *x, weir_vertex v, uint32_t row, int64_t need);

void weir_flow_reach_free(struct flow_reach *x);
size_t weir_flow_reach_bytes(const struct flow_reach *x);
/* Whether rows agree with ends, and ends what units pass on. O(ends + rows) */
bool weir_flow_reach_right(const weir_graph *g, const struct flow_layout *l);

#endif
