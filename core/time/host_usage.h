/* host_usage.h - what jobs use of the vertices of one type, the hosts, over time: a timeline for each host. Private to
 * the core. */
#ifndef WEIR_HOST_USAGE_H
#define WEIR_HOST_USAGE_H

#include "graph/graph.h"
#include "time/job_table.h"
#include "time/timeline.h"

struct occupancy;

struct host_usage {
    weir_type type; /* of the units that are counted below the hosts; WEIR_NO_TYPE: picks are counted */
    /* By bit of the host; NULL: no job had units so far. NULL as a whole before the first job. */
    weir_timeline **timelines;
};

/* Neighbouring picks of a job within one host: picks below the host, or of units of the host. */
struct host_picks {
    uint32_t bit, from, to;
};

/* Sets p to the next picks, from number p->to on, that are parts of a host with a bit in c. False: no more. */
bool weir_host_picks_next(const weir_graph *g, const struct occupancy *c, const weir_allocation *a,
                          struct host_picks *p);

/* Reserves the timelines of all hosts. */
int weir_host_usage_reserve(const struct occupancy *c, struct host_usage *u) WEIR_CHECKED;
/* Adds `amount` to the timeline of a host, or subtracts a negative amount. After weir_host_usage_reserve(). */
int weir_host_usage_add(struct host_usage *u, uint32_t bit, const weir_allocation *a, int64_t amount) WEIR_CHECKED;
/* Adds (sign 1) or subtracts (-1) the units or picks of a job, from pick number `from` on. After
 * weir_host_usage_reserve(). */
int weir_host_usage_change(const weir_graph *g, const struct occupancy *c, struct host_usage *u,
                           const weir_allocation *a, uint32_t from, int sign) WEIR_CHECKED;
/* Frees the timelines. */
void weir_host_usage_free(const struct occupancy *c, struct host_usage *u);
/* Memory of the timelines. */
size_t weir_host_usage_bytes(const struct occupancy *c, const struct host_usage *u);

#endif
