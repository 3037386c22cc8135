/* stage.h - stages: resources held, or claimed without locks, while a job is considered. Private to the core. */
#ifndef WEIR_STAGE_H
#define WEIR_STAGE_H

#include "time/job_table.h"

/* Make a stage with or without locks of what a match found: times, expiry, picks, flows, policy and slots of `found`
 * count, and are copied. */
int weir_stage_make(weir_graph *g, const struct job *found, const weir_allocation **out, weir_err *err) WEIR_CHECKED;
int weir_claim_make(weir_graph *g, const struct job *found, const weir_allocation **out, weir_err *err) WEIR_CHECKED;
/* The most stages that can have expired at `now`. */
uint32_t weir_stages_due(const weir_graph *g, int64_t now);
/* Drops expired stages, and reports an event for each; memory for the events is reserved. Cannot fail. */
void weir_stages_expire(weir_graph *g);
/* Drops the stages with locks at, below and above v. Cannot fail. */
void weir_stages_drop_at(weir_graph *g, weir_vertex v);
/* Moves expiries by `back`, and the times of stages without locks, for a clock set back. */
void weir_stages_retimed(weir_graph *g, int64_t back);
/* Observer: v is no vertex any more. */
void weir_stages_reclaimed(weir_graph *g, weir_vertex v);
/* Frees the stages without locks. */
void weir_stages_free(struct jobs *jobs);

#endif
