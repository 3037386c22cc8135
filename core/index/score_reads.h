/* score_reads.h - the facts that remembered scores depend on. */
#ifndef WEIR_SCORE_READS_H
#define WEIR_SCORE_READS_H

#include "index/score.h"

/* Facts that belong to no vertex, in place of a vertex. */
#define SCORE_SOURCE_NOW      (WEIR_NONE - 1)
#define SCORE_SOURCE_DURATION (WEIR_NONE - 2)
#define SCORE_NO_LIMIT        INT64_MIN /* of a fact that is the duration itself */

/* Adds the facts recorded last to those of score number i. WEIR_ENOMEM */
int weir_score_depend(const weir_graph *g, struct score_memory *x, uint32_t i) WEIR_CHECKED;
/* Marks the scores as stale that depend on some facts (bits 1 << enum weir_read) of a vertex. */
void weir_score_touch(struct score_memory *x, weir_vertex v, unsigned what);
/* Looks which vertices with children are down or held, unless known. WEIR_ENOMEM */
int weir_scores_look(weir_graph *g) WEIR_CHECKED;
/* score_versions.c: */

/* Whether two facts are the same question. */
static inline bool weir_score_fact_alike(const struct score_fact *a, const struct score_fact *b)
{
    return a->v == b->v && a->what == b->what && a->type == b->type && a->limit == b->limit;
}
/* Reads the numbers of a fact, as they are now. */
void weir_score_fact_read(const weir_graph *g, struct score_fact *f);
/* Adds a version to a score from the facts read last, unless there are too many. WEIR_ENOMEM */
int weir_score_version_add(const weir_graph *g, struct score_memory *x, uint32_t i, double value) WEIR_CHECKED;
/* Finds a version of a score with the present numbers of all facts; NULL: none. O(facts of the versions) */
const struct score_version *weir_score_version_find(const weir_graph *g, struct score_memory *x, struct score *s);
/* Drops all versions of a score. */
void weir_score_versions_drop(struct score_memory *x, struct score *s);
/* Whether the versions of all scores are well formed. */
bool weir_score_versions_check(const struct score_memory *x);
/* score.c */
void weir_scores_drop_all(weir_graph *g);
size_t weir_score_bytes(const struct score_memory *x);

#endif
