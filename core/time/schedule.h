/* schedule.h - the spans of jobs on a vertex. Private to the core. */
#ifndef WEIR_SCHEDULE_H
#define WEIR_SCHEDULE_H

#include "aggregate/schedule_record.h"
#include "time/job_table.h"

#define SCHEDULE_TIMELINE 8 /* spans from which on a timeline is kept */
#define SPAN_WHOLE        (-1)

struct span {
    int64_t start, end;
    int64_t amount; /* 0: shared */
    uint32_t job;   /* index into jobs->list */
    bool exclusive, active;
};

/* The i-th span, i below b->count, in order of starts. */
struct span weir_schedule_span(const weir_graph *g, const struct schedule *b, uint32_t i);
/* The job of the i-th span. */
static inline uint32_t span_job(const struct schedule *b, uint32_t i)
{
    return b->cap ? b->jobs[i] : b->few[i];
}

/* Adds a span for a job without a span on the vertex. The caller has checked that the span fits, and brackets
 * additions and removals with weir_rows_before/after. */
int weir_schedule_add(weir_graph *g, uint32_t job, const weir_pick *p) WEIR_CHECKED;
/* Removes the span of a job, if any. Cannot fail. */
void weir_schedule_remove(weir_graph *g, weir_vertex v, uint32_t job);
/* Number of the span of a job on v; WEIR_NONE: none. O(log spans) */
uint32_t weir_schedule_find(const weir_graph *g, weir_vertex v, uint32_t job);
/* Prefetches the memory that a search for a span starting at `start` reads first. */
void weir_schedule_fetch(const struct schedule *b, int64_t start);
/* Gives the span of a reservation new times. The job keeps the old times until all picks are moved. */
void weir_schedule_move(weir_graph *g, weir_vertex v, uint32_t job, int64_t start, int64_t end);
/* Marks the span of a begun reservation as active. */
void weir_schedule_begin(weir_graph *g, weir_vertex v, uint32_t job);
/* Applies a change to a pick, or to n exclusive picks of vertices of one kind with a shared schedule, or none.
 * Afterwards the n vertices share a schedule, if a short one; so do the vertices of a later call with the same memo
 * (zeroed before the first call) with a shared schedule at first. Only SCHEDULE_ADD can fail, after the first *done
 * picks. */
enum schedule_change { SCHEDULE_ADD, SCHEDULE_REMOVE, SCHEDULE_BEGIN };
struct schedule_memo {
    uint32_t from, to; /* numbers of a schedule before and after the change */
    bool known;
};
int weir_schedule_change(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, enum schedule_change what,
                         struct schedule_memo *memo, uint32_t *done) WEIR_CHECKED;
/* Brings all schedules up to date after the times of jobs have changed: all reservations by the same amount, and none
 * to a start before an active job. Cannot fail. */
void weir_schedules_retimed(weir_graph *g);
/* Reserves what a span of v with fewer units takes: a change of a span to fewer units cannot fail then. v has spans. */
int weir_schedule_ready(weir_graph *g, weir_vertex v) WEIR_CHECKED;
/* Changes the amount of a span, and `exclusive`. */
int weir_schedule_resize(weir_graph *g, weir_vertex v, uint32_t job, int64_t amount, bool exclusive) WEIR_CHECKED;
/* Makes the record of a graph without schedules. */
int weir_schedules_make(weir_graph *g) WEIR_CHECKED;
/* Frees the schedules of a graph. */
extern const struct weir_observer weir_schedule_observer;

/* The most units in use on v itself at any time in [t0, t1); the whole size where a span is exclusive. An active
 * span counts as in use at `now` even past the end. */
int64_t weir_schedule_used(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* Whether a span, or an exclusive span, overlaps [t0, t1). */
bool weir_schedule_touched(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1, bool exclusive_only);
/* The earliest start at or after t of an interval without exclusive spans on v, by agreed times. O(log spans +
 * spans passed over) */
int64_t weir_schedule_gap(const weir_graph *g, weir_vertex v, int64_t t, int64_t duration);
/* The first end of a span after t, by agreed times, or WEIR_FOREVER. O(log spans) where no span is shared */
int64_t weir_schedule_next_end(const weir_graph *g, weir_vertex v, int64_t t);
/* Whether a span of a job, `job` excepted, overlaps [t0, t1). */
bool weir_schedule_others(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1);
/* Whether one job has all units of v at a time in [t0, t1), exclusively or not. */
bool weir_schedule_whole(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);

#endif
