/* job.h - jobs and picks: no further folder changes schedules. Private to the core. */
#ifndef WEIR_JOB_H
#define WEIR_JOB_H

#include "time/job_table.h"

/* The next free id. There are more ids than jobs, so a search from 1 on ends. */
int64_t weir_job_next_id(weir_graph *g);
/* Sets the next id, of a graph without jobs. */
int weir_jobs_start_at(weir_graph *g, int64_t id) WEIR_CHECKED;
/* The next free id has been given to a job. */
void weir_job_id_given(weir_graph *g);
/* Makes a job with picks, as a whole or not at all. The caller has checked that the picks fit. *out is the index of the
 * job. */
int weir_job_commit(weir_graph *g, const weir_booking *b, uint32_t *out, weir_err *err);
void weir_job_drop(weir_graph *g, uint32_t job); /* cannot fail */
/* Makes a stage with locks, as weir_job_commit() makes a job; b->job is of no account. */
int weir_stage_book(weir_graph *g, int64_t expires, const weir_booking *b, uint32_t *out, weir_err *err) WEIR_CHECKED;
/* Makes a job of a stage with locks; the id is positive and unused. */
int weir_stage_rename(weir_graph *g, uint32_t stage, int64_t id) WEIR_CHECKED;
/* The index of a stage with locks; WEIR_NONE: no such stage. */
uint32_t weir_stage_index(const weir_graph *g, int64_t stage);
/* Makes the table of a graph without jobs, unless the graph has the table. */
int weir_jobs_make(weir_graph *g) WEIR_CHECKED;
/* Adds a single span, without usage totals (usage_totals.h): the caller updates the totals. */
int weir_span_add(weir_graph *g, uint32_t job, const weir_pick *p) WEIR_CHECKED;
/* Removes the span of a job on v, without usage totals. */
void weir_span_remove(weir_graph *g, uint32_t job, weir_vertex v);
/* Adds the spans of picks, all or none, in the order of the picks, without usage totals. WEIR_ENOMEM */
int weir_spans_add(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n) WEIR_CHECKED;
/* Removes the spans of picks, without usage totals. Cannot fail. */
void weir_spans_remove(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n);
/* Makes the spans of a begun reservation active. */
void weir_spans_begin(weir_graph *g, uint32_t job);
/* Changes the amount of a pick and of the span, without usage totals. */
int weir_pick_resize(weir_graph *g, uint32_t job, weir_pick *p, int64_t amount) WEIR_CHECKED;
weir_pick *weir_job_pick(const struct job *j, weir_vertex v); /* the pick of v itself, or NULL */
/* whether a job has a span on v; O(log spans of v) */
bool weir_job_has(const weir_graph *g, uint32_t job, weir_vertex v);
int weir_job_reserve(struct job *j, size_t n) WEIR_CHECKED; /* reserves n picks */
/* Adds picks to a job, as a whole or not at all; the picks fit. The pick of a vertex that the job has grows. */
int weir_job_extend(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, const struct flow_use *flows,
                    uint32_t nflows) WEIR_CHECKED;
/* Whether the job has units of a distribution unit for the flow to some vertex. */
bool weir_job_has_flow(const struct job *j, weir_vertex unit);
/* Gives back `amount` units of a distribution unit that the job has: first units without a flow, then units of flows,
 * along the whole path of each flow. WEIR_ENOMEM: nothing has changed. */
int weir_job_flow_release(weir_graph *g, uint32_t job, weir_vertex unit, int64_t amount) WEIR_CHECKED;
/* Records the purpose of units of a flow. */
int weir_job_flow(weir_graph *g, uint32_t job, const struct flow_use *flows, uint32_t n) WEIR_CHECKED;
uint32_t weir_job_index(const weir_graph *g, int64_t id); /* WEIR_NONE: no such job */
/* Compares jobs and schedules: for weir_check(). */
int weir_jobs_check(const weir_graph *g, weir_err *err);
/* Registers the observers of jobs and schedules, unless registered. */
void weir_jobs_observe(weir_graph *g);

#endif
