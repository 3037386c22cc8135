/* usage_totals.h - units that all jobs together use over time, by type: an upper bound of the free units at a time,
 * to find starts of reservations. Made for each type that a reservation requests, and for each part of the machine that
 * reservations are for: the vertices that are up, in the nodes that a constraint allows. Other vertices, and what jobs
 * have of them, do not count. */
#ifndef WEIR_USAGE_TOTALS_H
#define WEIR_USAGE_TOTALS_H

#include "graph/graph.h"
#include "aggregate/schedule_record.h"
#include "time/job_table.h"
#include "time/timeline.h"

/* Parts of the machine; the least recently used part is dropped first, but for the part without a constraint. */
#define USAGE_PARTS 32

struct usage_part {
    weir_idset *allowed;            /* numbers of nodes in the node table; NULL: all nodes */
    struct weir_timeline **by_type; /* NULL for a type that no reservation requested */
    int64_t *lost;                  /* by type, where there is a timeline: units outside of the part */
    /* A bit for each vertex outside of the part, and for each vertex above one; NULL where the part is the machine. */
    uint64_t *outside, *above;
    weir_vertex limit;              /* number of bits */
    uint64_t serial, state_changes; /* of the graph, and numbers in the node table: for which the part was made */
    uint32_t nodes;
    uint64_t last_use;
};

struct usage_totals {
    struct usage_part parts[USAGE_PARTS]; /* the first is without a constraint */
    struct weir_timeline *ends[2];        /* of jobs: at even and at odd microseconds */
    uint32_t nparts, ntypes;
    uint32_t hidden; /* number of the hidden job + 1; 0: none */
};

/* The usage totals of a graph, NULL until weir_usage_build(). */
static inline struct usage_totals *usage_in(const weir_graph *g)
{
    return g->records[RECORD_USAGE];
}

/* The first end of a job after t, or WEIR_FOREVER. A job past the end of its interval counts as ending right after
 * the clock's time. */
int64_t weir_usage_next_end(const weir_graph *g, int64_t t);
/* Makes the usage totals, with timelines of ends of jobs and no timeline of a type yet. WEIR_ENOMEM */
int weir_usage_build(weir_graph *g) WEIR_CHECKED;
/* The part of the machine with the nodes of the node table in `allowed`, NULL: with all nodes; after
 * weir_usage_build(). The pointer is valid until the next call. WEIR_ENOMEM. O(1), and after changes of vertices or
 * states O(vertices outside of the part) */
int weir_usage_part(weir_graph *g, const weir_idset *allowed, struct usage_part **out) WEIR_CHECKED;
/* Units of one type in use in a part, and how many of the type are outside of the part. Built on first use, in O(picks
 * of all jobs). */
int weir_usage_of(weir_graph *g, struct usage_part *part, weir_type t, const weir_timeline **out,
                  int64_t *lost) WEIR_CHECKED;
/* Adds a job to usage totals and occupancies. On failure nothing has changed. O(picks * types + types * log jobs) */
int weir_usage_add(weir_graph *g, uint32_t job) WEIR_CHECKED;
/* weir_usage_add() where failure is not allowed: out of memory the totals are dropped, and built again later. */
void weir_usage_keep(weir_graph *g, uint32_t job);
/* Adds the picks of a job from number `from` on; earlier picks are counted already. */
void weir_usage_grow(weir_graph *g, uint32_t job, uint32_t from);
/* Removes a job from usage totals and occupancies. Cannot fail. */
void weir_usage_remove(weir_graph *g, uint32_t job);
/* Hides the units of a job from the totals for a moment, also from totals of types that are built meanwhile;
 * occupancies stay as they are. After weir_usage_build(). */
void weir_usage_hide(weir_graph *g, uint32_t job);
/* Shows the units of a job hidden before. */
void weir_usage_show(weir_graph *g, uint32_t job);
/* Units of type t that one pick uses. */
int64_t weir_usage_pick(const weir_graph *g, const weir_pick *p, weir_type t);
/* Frees the usage totals. */
void weir_usage_clear(weir_graph *g);
/* Drops and checks the totals of a graph. */
extern const struct weir_observer weir_usage_observer;

#endif
