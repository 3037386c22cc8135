/* schedule.h - who has what of one vertex, and when. Private to the core. */
#ifndef WEIR_RESERVATION_H
#define WEIR_RESERVATION_H

#include "aggregate/schedule_record.h"
#include "time/job_table.h"

#define SCHEDULE_PLAN 8 /* spans from which on a plan is kept */
#define SPAN_WHOLE (-1)

struct span {
    int64_t start, end;
    int64_t amount; /* 0: shared */
    uint32_t job;   /* index into jobs[] */
    bool exclusive, active;
};

/* The i-th span, i below b->count, in the order of their starts. */
struct span weir_schedule_span(const weir_graph *g, const struct schedule *b, uint32_t i);
static inline uint32_t span_job(const struct schedule *b, uint32_t i)
{
    return b->cap ? b->jobs[i] : b->few[i];
}

/* Adds a span for a job that has none there. The caller brackets these with weir_rows_before/after and has
 * seen that it fits. */
int weir_schedule_add(weir_graph *g, uint32_t job, const weir_pick *p) WEIR_CHECKED;
void weir_schedule_remove(weir_graph *g, weir_vertex v, uint32_t job);
/* Which span of v is that of a job; WEIR_NONE: none. O(log spans) */
uint32_t weir_schedule_find(const weir_graph *g, weir_vertex v, uint32_t job);
/* Fetches from memory what a look for a span that starts then will look at first. */
void weir_schedule_fetch(const struct schedule *b, int64_t start);
/* The span of a reservation gets other times, while the job has the old ones until its picks are done. */
void weir_schedule_move(weir_graph *g, weir_vertex v, uint32_t job, int64_t start, int64_t end);
/* A reservation has begun. */
void weir_schedule_begin(weir_graph *g, weir_vertex v, uint32_t job);
/* One of these three for one pick, or for n exclusive ones in a row, of vertices that have one book, or none, and are of one kind:
 * they have one book afterwards, where it is a small one. So have those of the next call, if they had the same one: give it the same memo, {0} at first.
 * Only adding can fail; it has then added to the first ones, *done. */
enum schedule_change { SCHEDULE_ADD, SCHEDULE_REMOVE, SCHEDULE_BEGIN };
struct schedule_memo {
    uint32_t from, to; /* the number of a book before such a change, and after it */
    bool known;
};
int weir_schedule_change(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, enum schedule_change what,
                     struct schedule_memo *memo, uint32_t *done) WEIR_CHECKED;
/* Changes an amount; `exclusive` with it. */
int weir_schedule_resize(weir_graph *g, weir_vertex v, uint32_t job, int64_t amount, bool exclusive) WEIR_CHECKED;
int weir_books_make(weir_graph *g) WEIR_CHECKED; /* the record of a graph that has none */
/* Frees the books of a graph that has jobs. */
extern const struct weir_observer weir_reservation_observer;

/* The most units in use on v itself at any time in [t0, t1); its whole size where a span is exclusive. What has begun
 * and is not released counts as in use at `now` even past its end. */
int64_t weir_schedule_used(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* Whether any span at all, or any exclusive one, touches [t0, t1). */
bool weir_schedule_touched(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1, bool exclusive_only);
/* The earliest start from t on of an interval of that length in which nobody has v as a whole, by agreed times. O(log spans + those
 * that are passed over) */
int64_t weir_schedule_gap(const weir_graph *g, weir_vertex v, int64_t t, int64_t duration);
/* The first time after t at which a span ends, by agreed times; WEIR_FOREVER: none does. O(log spans) where none are shared */
int64_t weir_schedule_next_end(const weir_graph *g, weir_vertex v, int64_t t);
/* Whether a span of any job but this one touches [t0, t1). */
bool weir_schedule_others(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1);

#endif
