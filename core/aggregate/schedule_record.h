/* schedule_record.h - spans of jobs on one vertex. Aggregates read the sums; time/schedule.c maintains the records.
 * Private to the core. */
#ifndef WEIR_SCHEDULE_RECORD_H
#define WEIR_SCHEDULE_RECORD_H

#include "graph/graph.h"

#define SCHEDULE_FEW 2 /* spans stored in the record itself */

/* Part of a schedule with shared spans, now or once. */
struct schedule_detail {
    int64_t *amounts; /* by span; SPAN_WHOLE: exclusive */
    uint32_t cap;
    int64_t used; /* sum of the amounts of active spans */
    /* Amounts over time; kept from SCHEDULE_TIMELINE spans on where some are shared. */
    struct weir_timeline *timeline;
};

/* The spans of a vertex. A span is a job, with the times of the job, and an amount, mostly the whole vertex: 4
 * bytes, or 12 where some amounts are shared. Vertices of one kind with equal short lists of exclusive spans may
 * share a schedule: jobs come and go on many such vertices at once. */
struct schedule {
    /* Vertices with the schedule; 0: a free record, chained by `count`. */
    uint32_t refs;
    uint32_t kind; /* of the vertices */
    uint32_t count, cap;
    uint32_t active; /* spans that have begun */
    uint32_t held;   /* exclusive spans that have begun */
    uint32_t shared; /* spans that are not exclusive; where 0, no two spans overlap */
    int64_t next;    /* start of the first span that has not begun, or WEIR_FOREVER */
    /* Times of the last span: most queries are about later times. */
    int64_t last_start, last_end;
    union {
        uint32_t *jobs;             /* indices of jobs, sorted by start */
        uint32_t few[SCHEDULE_FEW]; /* while cap is 0 */
    };
    struct schedule_detail *detail; /* NULL: all spans are exclusive */
};

/* The schedules of a graph. */
struct schedules {
    struct schedule *list;
    uint32_t n, cap, free; /* first free record, or WEIR_NONE */
    uint32_t users;        /* vertices with a schedule; `list` has a record reserved for each */
};

/* NULL until a vertex has a schedule. */
static inline struct schedules *schedules_in(const weir_graph *g)
{
    return g->records[RECORD_SCHEDULES];
}

/* The schedule of v; NULL: no spans. */
static inline struct schedule *schedule_of(const weir_graph *g, weir_vertex v)
{
    uint32_t i = g->vertices[v].schedule;
    return i == WEIR_NONE ? NULL : &schedules_in(g)->list[i];
}

/* Units in use now; more than the size where a job has stayed past the end of its interval. */
static inline int64_t schedule_used(const weir_graph *g, const struct schedule *b)
{
    return b->detail ? b->detail->used : b->held * g->kinds[b->kind].size;
}

#endif
