/* score_reads.h - the facts that remembered scores depend on. */
#ifndef WEIR_SCORE_READS_H
#define WEIR_SCORE_READS_H

#include "index/score.h"

/* Facts that belong to no vertex, in place of a vertex. */
#define SCORE_SOURCE_NOW      (WEIR_NONE - 1)
#define SCORE_SOURCE_DURATION (WEIR_NONE - 2)

/* Adds the facts recorded last to those of score number i. WEIR_ENOMEM */
int weir_score_depend(const weir_graph *g, struct score_memory *x, uint32_t i) WEIR_CHECKED;
/* Marks the scores as stale that depend on some facts (bits 1 << enum weir_read) of a vertex. */
void weir_score_touch(struct score_memory *x, weir_vertex v, unsigned what);
/* Looks which vertices with children are down or held, unless known. WEIR_ENOMEM */
int weir_scores_look(weir_graph *g) WEIR_CHECKED;
/* score.c */
void weir_scores_drop_all(weir_graph *g);
size_t weir_score_bytes(const struct score_memory *x);

#endif
