/* usage_totals.h - units that all jobs together take over time, by type: an upper bound on what can be free at some time,
 * which tells where to look for the start of a reservation. Not kept until the first reservation is asked for, and for the types
 * that one needed. */
#ifndef WEIR_USAGE_TOTALS_H
#define WEIR_USAGE_TOTALS_H

#include "graph/graph.h"
#include "aggregate/schedule_record.h"
#include "time/job_table.h"
#include "time/timeline.h"

/* The next time after t at which a job ends; WEIR_FOREVER: none does. A job past its end counts as ending right after the
 * clock's time. */
int64_t weir_usage_next_end(const weir_graph *g, int64_t t);
int weir_usage_build(weir_graph *g) WEIR_CHECKED;
/* The units of one type that jobs take, after weir_usage_build(). Made where they are not kept yet, O(what all jobs have). */
int weir_usage_of(weir_graph *g, weir_type t, const weir_timeline **out) WEIR_CHECKED;
/* These keep the calendars as well. O(picks * types + types * log jobs) */
int weir_usage_add(weir_graph *g, uint32_t job) WEIR_CHECKED; /* nothing changed when it fails */
/* The same where there is no way back: what cannot be added is built anew when it is next needed. */
void weir_usage_keep(weir_graph *g, uint32_t job);
/* ... for the picks of a job from one on: those before are there already. */
void weir_usage_grow(weir_graph *g, uint32_t job, uint32_t from);
void weir_usage_remove(weir_graph *g, uint32_t job);
/* What a job takes is left out for a moment, and is there again; calendars stay as they are. */
void weir_usage_hide(weir_graph *g, uint32_t job);
void weir_usage_show(weir_graph *g, uint32_t job);
/* Units of type t that one pick takes. */
int64_t weir_usage_pick(const weir_graph *g, const weir_pick *p, weir_type t);
void weir_usage_clear(weir_graph *g);
/* Keeps the totals of a graph that has some. */
extern const struct weir_observer weir_usage_observer;

#endif
