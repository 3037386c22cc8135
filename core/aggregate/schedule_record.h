/* schedule_record.h - what jobs have of one vertex. Aggregates read the sums; time/schedule.c keeps all of it. Private to the core. */
#ifndef WEIR_SCHEDULE_H
#define WEIR_SCHEDULE_H

#include "graph/graph.h"

#define SCHEDULE_FEW 2 /* spans that take no memory of their own */

struct schedule_detail { /* of a vertex that is, or was, not only had as a whole */
    int64_t *amounts; /* by span; SPAN_WHOLE: exclusive */
    uint32_t cap;
    int64_t used;    /* sum of the amounts of the spans that have begun */
    struct weir_timeline *timeline; /* kept from SCHEDULE_PLAN spans on where some are shared: amounts over time */
};

/* A span is a job, whose times it has, and an amount: mostly all of the vertex. So it costs 4 bytes, and 12 where not. Vertices of
 * one kind with the same few spans, all exclusive, may have one book together: jobs come to many of them at once, and go. */
struct schedule {
    uint32_t refs; /* vertices that have it; 0: a free record, whose `count` then chains to the next */
    uint32_t kind; /* of these */
    uint32_t count, cap;
    uint32_t active; /* spans that have begun */
    uint32_t held;   /* of these, exclusive ones */
    uint32_t shared; /* spans that are not exclusive; without any, no two touch */
    int64_t next;    /* start of the first that has not begun; WEIR_FOREVER */
    int64_t last_start, last_end; /* of the last span: mostly what is asked about is later than all of them */
    union {
        uint32_t *jobs;         /* indices, sorted by start */
        uint32_t few[SCHEDULE_FEW]; /* while cap is 0 */
    };
    struct schedule_detail *parts; /* NULL: all spans are exclusive */
};

/* The books of a graph. */
struct schedules {
    struct schedule *list;
    uint32_t n, cap, free; /* free: the first free record, or WEIR_NONE */
    uint32_t booked;       /* vertices that have a book: there is room for one each */
};

static inline struct schedule *schedule_of(const weir_graph *g, weir_vertex v)
{
    uint32_t i = g->vertices[v].schedule;
    return i == WEIR_NONE ? NULL : &g->schedules->list[i];
}

/* Units in use now; more than there are where a job has not gone at its end. */
static inline int64_t schedule_used(const weir_graph *g, const struct schedule *b)
{
    return b->parts ? b->parts->used : b->held * g->kinds[b->kind].size;
}

#endif
