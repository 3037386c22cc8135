/* job.h - jobs and what they have: the only place where books change. Private to the core. */
#ifndef WEIR_JOB_H
#define WEIR_JOB_H

#include "time/job_table.h"

/* Books picks for a job, as a whole or not at all. The caller has seen that they fit. Job 0: the next id that was never given so.
 * *out is the index of the job. */
int weir_job_commit(weir_graph *g, int64_t id, int64_t start, int64_t end, const weir_pick *picks, uint32_t n,
                    uint32_t *out, weir_err *err);
void weir_job_drop(weir_graph *g, uint32_t job); /* cannot fail */
/* Single spans and picks of a job, without the units taken over time (usage_totals.h), which the caller keeps. */
int weir_span_add(weir_graph *g, uint32_t job, const weir_pick *p) WEIR_CHECKED;
void weir_span_remove(weir_graph *g, uint32_t job, weir_vertex v);
/* The same for many, all or none, in the order of the picks; a reservation whose time has come. */
int weir_spans_add(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n) WEIR_CHECKED;
void weir_spans_remove(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n);
void weir_spans_begin(weir_graph *g, uint32_t job);
int weir_pick_resize(weir_graph *g, uint32_t job, weir_pick *p, int64_t amount) WEIR_CHECKED;
weir_pick *weir_job_pick(const struct job *j, weir_vertex v); /* what a job has of v itself, or NULL */
bool weir_job_has(const weir_graph *g, uint32_t job, weir_vertex v); /* the same, whether; O(log spans of v) */
int weir_job_reserve(struct job *j, size_t n) WEIR_CHECKED; /* room for n picks */
/* Books more picks for a job, as a whole or not at all; they fit. A vertex it has units of grows. */
int weir_job_extend(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, const struct flow_use *feeds,
                    uint32_t nflows) WEIR_CHECKED;
/* Notes what some of its units are taken for. */
int weir_job_flow(weir_graph *g, uint32_t job, const struct flow_use *feeds, uint32_t n) WEIR_CHECKED;
uint32_t weir_job_index(const weir_graph *g, int64_t id); /* WEIR_NONE: no such job */
/* Whether jobs and books agree: for weir_check(). */
int weir_jobs_check(const weir_graph *g, weir_err *err);
/* A graph has got jobs, and is to free them in the end. Harmless where it had some. */
void weir_jobs_observe(weir_graph *g);

#endif
