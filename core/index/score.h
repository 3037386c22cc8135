/* score.h - scores that a policy gave to vertices, remembered until something that the policy read has changed.
 *
 * A score memory has the scores of the vertices of one type, for one policy, one state of the policy, and one content
 * of the request as far as the policy read the request (the key). While the policy computes a score, weir_read()
 * records which facts the policy reads, such as the free units below a rack. Each recorded fact leads from its vertex
 * to the scores that depend on the fact. An observer of the graph follows these paths and marks scores as stale; the
 * next match computes stale scores again. So a match costs what changed since the last match.
 *
 * A score is kept in up to SCORE_VERSIONS versions, each with the numbers that were read for it. A stale score with a
 * version whose numbers are what would be read now is that version's: a node that is emptied again needs no call of the
 * policy. A policy reads facts one after the other, and what it reads next follows from the numbers so far; so equal
 * numbers mean an equal score. Facts without numbers, such as tags, drop the versions when they change.
 *
 * A score may be shared by all siblings of a type (the policy says so), and may have a common score that all siblings
 * add to their own: the common score is remembered once, as a score of the parent. A change of the tree drops all
 * memories.
 */
#ifndef WEIR_SCORE_H
#define WEIR_SCORE_H

#include <math.h>

#include "graph/graph.h"
#include "base/map32.h"

#define SCORE_MEMORIES  16                  /* memories of a graph; the least recently used is dropped first */
#define SCORE_BYTES     ((size_t)256 << 20) /* of all memories of a graph but the memory in use */
#define SCORE_READS_MAX 256                 /* the most facts of a remembered score */
#define SCORE_FACTS     8                   /* facts of a version; of a score with more no version is kept */
#define SCORE_VERSIONS  8                   /* of a score; the least recently used is dropped first */
#define SCORE_LIMITS    3 /* of durations, that distinguish memories; a policy with more reads the duration */

struct score {
    double value;     /* NAN: no candidate */
    weir_vertex v;    /* the vertex that the score was computed for */
    uint32_t reads;   /* the first fact read, in `reads` of the memory; WEIR_NONE */
    uint32_t version; /* the version used last, in `versions` of the memory; WEIR_NONE */
    bool stale;       /* a fact has changed */
    bool queued;      /* in `stale` of the memory */
    bool shared;      /* of all siblings of the type */
    bool common;      /* the common part of the scores of all siblings of the type */
};

/* A fact that a score depends on. */
struct score_read {
    uint32_t score;     /* number of the score */
    uint32_t source;    /* number of the vertex in `sources` */
    uint32_t next, own; /* the next fact of the vertex; the next fact of the score; WEIR_NONE at the end */
    uint8_t what;       /* bits 1 << enum weir_read */
    uint8_t bare;       /* those of the bits that are read without the number */
};

/* A fact with the numbers read. */
struct score_fact {
    weir_vertex v;  /* or SCORE_SOURCE_NOW, SCORE_SOURCE_DURATION */
    weir_type type; /* of units below v; WEIR_NO_TYPE: the graph has no such type */
    uint8_t what;   /* enum weir_read */
    int64_t limit;  /* of a duration */
    int64_t n[3];   /* units: total, free, idle; of v itself: free, without a job, whether a job has
                     * a vertex above as a whole; else one number */
};

struct score_version {
    double value;
    uint32_t facts; /* the first of `nfacts`, in `facts` of the memory */
    uint32_t next;  /* the version used before; WEIR_NONE: none */
    uint8_t nfacts;
};

/* What is remembered: scores of `score` and `score_siblings`, or answers of `judge`: 0 to keep a vertex, NAN to leave
 * it out. */
enum score_kind { KIND_SCORES, KIND_PRUNE };

struct score_memory {
    uint64_t serial; /* of the policy */
    enum score_kind kind;
    uint8_t *key;
    size_t key_len;
    weir_type type;     /* of the vertices */
    uint64_t structure; /* serial of the graph */
    uint64_t match;     /* number of the match that made the memory */
    uint64_t last_use;
    int64_t now, duration; /* for which the scores hold that depend on the clock, or on the duration of the job */
    bool complete;         /* all vertices of the type have a score */
    bool indexed;          /* some index has the scores in its order */
    bool busy;             /* scores are being computed: the memory must not be dropped */
    struct score *list;
    uint32_t n, cap;
    /* Number of a score plus 1, 0: none; by vertex for leaves, by inner record for further vertices; and shared scores
     * by the inner record of the parent. */
    uint32_t *leaf, *inner, *shared;
    uint32_t own;     /* scores that are neither shared nor common */
    bool exact;       /* all scores are multiples of 2^-30 and small, so that sums are exact */
    uint32_t *common; /* the common scores of siblings, by the inner record of the parent; NULL: the policy has none */
    uint32_t leaf_cap, inner_cap;
    struct score_read *reads;
    uint32_t nreads, reads_cap;
    struct weir_map32 source_of; /* number of a source by vertex */
    struct {
        uint32_t reads; /* the first fact */
        uint8_t what;   /* bits of all facts: a change of others is no concern of any score */
    } * sources;
    uint32_t nsources, sources_cap;
    uint64_t types[4]; /* a bit for each type, modulo 256, of a vertex that some fact is about */
    uint32_t *stale;   /* scores to be computed again */
    uint32_t nstale, stale_cap;
    struct score_version *versions;
    uint32_t nversions, versions_cap, free_version; /* free_version: the first of a list of unused ones */
    struct score_fact *facts;                       /* in blocks, one a version */
    uint32_t nfacts, facts_cap;
    uint32_t free_facts[SCORE_FACTS + 1]; /* by size: the first of a list of unused blocks, by `v`; WEIR_NONE */
    /* The scores hold for durations that are at most limits[i].at or not, as limits[i].within says. */
    struct {
        int64_t at;
        bool within;
    } limits[SCORE_LIMITS];
    uint32_t nlimits;
};

/* The memories of a graph. */
struct score_memories {
    struct score_memory *list[SCORE_MEMORIES];
    uint32_t n;
    uint64_t match;            /* count of matches */
    bool recording;            /* reads are recorded */
    const char *trouble;       /* a fact that cannot be recorded; NULL: none */
    int64_t duration;          /* of the job, while recording */
    struct score_memory *into; /* the memory of the score, while recording */
    struct {
        weir_vertex v;
        uint8_t what, bare;
    } noted[SCORE_READS_MAX];
    uint32_t nnoted;
    struct score_fact facts[SCORE_FACTS]; /* read with their numbers, in sequence */
    uint32_t nfacts;
    bool many; /* there are more */
    /* By inner record: whether the vertex is down or held; nothing below is free then. NULL: not known. */
    bool *closed;
    uint32_t nclosed;
};

/* NULL until a policy gives scores. */
static inline struct score_memories *scores_in(const weir_graph *g)
{
    return g->records[RECORD_SCORES];
}

/* The question for scores. */
struct score_query {
    weir_graph *g;
    const weir_policy *policy;
    enum score_kind kind;
    const weir_resource *r;
    int64_t duration;
    bool check;      /* compare remembered scores with fresh scores */
    uint64_t *calls; /* counts the calls of the policy */
    weir_err *err;
};

/* Begins a match with a policy that can be remembered. Scores of memories made by earlier matches only may be put in
 * order (weir_scores_settle). */
int weir_scores_begin(weir_graph *g) WEIR_CHECKED;
/* Finds or makes the memory for the vertices of a type. Sets *out to NULL where the policy cannot be remembered. */
int weir_scores_of(const struct score_query *q, weir_type t, struct score_memory **out);
/* Gets the score of v, computed where absent or stale. Returns 1; 0: the policy cannot be remembered, and the memory
 * is gone; or negative. */
int weir_score_get(const struct score_query *q, struct score_memory *x, weir_vertex v, double *score);
/* Computes all absent and stale scores of the type. Returns as weir_score_get(). */
int weir_scores_settle(const struct score_query *q, struct score_memory *x);
/* The score of a vertex as known; NAN: none. O(1) */
static inline double score_known(const weir_graph *g, const struct score_memory *x, weir_vertex v)
{
    const struct vertex *at = vertex_at(g, v);
    uint32_t i = at->inner == WEIR_NONE ? (v < x->leaf_cap ? x->leaf[v] : 0)
                                        : (at->inner < x->inner_cap ? x->inner[at->inner] : 0);

    if (i == 0 && at->parent != WEIR_NONE && vertex_at(g, at->parent)->inner < x->inner_cap)
        i = x->shared[vertex_at(g, at->parent)->inner];
    if (i && x->common && at->parent != WEIR_NONE) {
        uint32_t inner = vertex_at(g, at->parent)->inner;
        uint32_t common = inner < x->inner_cap ? x->common[inner] : 0;
        return common ? x->list[i - 1].value + x->list[common - 1].value : (double)NAN;
    }
    return i ? x->list[i - 1].value : (double)NAN;
}

extern const struct weir_observer weir_scores_observer;

#endif
