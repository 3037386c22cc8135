/* explain.h - the types shared by the files of explain/. Private to the core.
 *
 * explain.c         verdict, earliest start, the result
 * explain_try.c     one match: does the current request fit into the current copy?
 * explain_ways.c    the obstacles to be removed for a request to fit
 * explain_need.c    need compared with supply
 * explain_parts.c   the smallest part of a request that does not fit
 * explain_levels.c  why the vertices of each type are excluded
 *
 * An explanation runs many matches on a copy of the graph, each with a different set of obstacles lifted (jobs
 * released, vertices set up, parts of the constraint or the policy dropped) or with a smaller request. Invariant:
 * when a function declared here returns, all obstacles are restored, except those that the function itself was
 * called to lift.
 */
#ifndef WEIR_EXPLAIN_H
#define WEIR_EXPLAIN_H

#include <jansson.h>

#include "graph/graph.h"
#include "request/request.h"

/* The parts of a policy that can be lifted, as bits. */
enum { PART_PRUNE = 1, PART_EVALUATE = 2, PART_EXCLUSIVE = 4, PART_LOCALITY = 8 };

/* An obstacle: a job, a vertex that is not up, a conjunct of the constraint, or a part of the policy. A lifted
 * obstacle is out of effect: the job is released, the vertex is up, the conjunct or the part is dropped. */
struct obstacle {
    int kind; /* enum weir_obstacle_kind */
    bool lifted;
    union {
        struct {
            int64_t id, start, end;
            weir_pick *picks; /* of the lifted job; NULL: not lifted */
            uint32_t npicks;
        } job;
        struct {
            weir_vertex v;
            int state; /* the original state */
        } vertex;
        const json_t *atom; /* the conjunct, an element of explain.atoms */
        unsigned part;      /* a PART_ bit */
    };
};

/* The state of an explanation. */
struct explain {
    weir_graph *g; /* the copy */
    const weir_request *asked;
    const weir_explain_options *o;
    weir_explanation *out;
    weir_err *err;
    weir_vertex only;   /* matches use only vertices at, above or below this vertex; WEIR_NONE: all vertices */
    json_t *resources;  /* the current resources, all of the request or a part */
    json_t *atoms;      /* array of the conjuncts of the constraint */
    weir_request *request; /* compiled from resources and atoms; NULL: compiled by the next match */
    struct obstacle *list; /* sorted by kind; obstacles of a kind are list[first[kind]] up to list[first[kind + 1]] */
    uint32_t n, cap, first[WEIR_OBSTACLES + 1];
    uint32_t *weight, *own; /* by vertex, the number of obstacles: at or below the vertex; at the vertex */
    weir_pick *picks;   /* of the last match with TRY_KEEP or TRY_LEAST */
    uint32_t npicks;
    uint32_t tries;     /* matches so far */
    uint64_t spent, limit; /* the cost of the matches so far, in tries, and the limit for the current stage */
    uint64_t size;      /* values in the current constraint */
    weir_stats stats;   /* of the last match */
};

/* ---- explain_try.c ---- */

/* TRY_KEEP keeps the picks in x->picks. TRY_LEAST does so too, and prefers vertices with few obstacles over the
 * policy's choice. */
enum try_how { TRY_PLAIN, TRY_KEEP, TRY_LEAST };
/* Match the current request against the current copy, as a preview. Returns 1: fits, 0: does not fit, or a negative
 * status. */
int weir_explain_try(struct explain *x, enum try_how how) WEIR_CHECKED;
/* Call run(data, policy) with the current policy: the policy in question, without its lifted parts. Returns the
 * result of run(), or a negative status. */
int weir_explain_with_policy(struct explain *x, bool least, int (*run)(void *data, const weir_policy *p), void *data)
    WEIR_CHECKED;
/* Compile x->request from the current resources and the constraint's conjuncts not lifted. Returns a status. */
int weir_explain_request(struct explain *x) WEIR_CHECKED;
/* Drop x->request after a change of resources or constraint. */
void weir_explain_changed(struct explain *x);
/* Count a match. A match costs one try, and a further try for each TRY_VALUES values of the current constraint, as
 * compiling and testing a constraint take time by its size. */
#define TRY_VALUES 256
void weir_explain_spend(struct explain *x);
/* Whether the limit of tries for the current stage is reached; if so, the explanation is marked as cut. */
bool weir_explain_exhausted(struct explain *x);

/* ---- explain_ways.c ---- */

/* Fill x->list with all obstacles: parts of the policy and the constraint, vertices not up, jobs. O(vertices + jobs) */
int weir_explain_collect(struct explain *x) WEIR_CHECKED;
/* Free the obstacles. */
void weir_explain_forget(struct explain *x);
/* Lift an obstacle (`on`) or restore the obstacle. A no-op if already done. */
int weir_explain_lift(struct explain *x, struct obstacle *ob, bool on) WEIR_CHECKED;
/* Lift all obstacles whose kinds are in `kinds` (bits 1 << kind), and restore all others. */
int weir_explain_lift_kinds(struct explain *x, unsigned kinds) WEIR_CHECKED;
/* Fill out->ways for a request that does not fit. */
int weir_explain_ways(struct explain *x) WEIR_CHECKED;
/* Fill `out` with the jobs that must end before `picks` are free at `start`: a minimal set among the jobs ending by
 * then. */
int weir_explain_after(struct explain *x, int64_t start, const weir_pick *picks, uint32_t n,
                       weir_way *out) WEIR_CHECKED;

/* ---- explain_parts.c ---- */

/* Reduce x->resources to the smallest part that does not fit. Returns 1; 0: the resources fit; or a negative status. */
int weir_explain_part(struct explain *x) WEIR_CHECKED;
/* A resource in a list of resources, as JSON: element `at` of `holder`, inside `parent` (NULL at the top). */
struct part {
    json_t *value, *holder, *parent;
    size_t at;
};
/* Find resource number n in preorder. Returns false if the list has fewer resources. */
bool weir_part_at(json_t *list, uint32_t n, struct part *out);
/* The type of a resource; "" if malformed. */
const char *weir_part_type(const json_t *resource);
/* The minimum of a resource's count. */
int64_t weir_part_count(const json_t *resource);
/* Whether the resource is a slot or an or_slot. */
bool weir_part_is_slot(const json_t *resource);

/* ---- explain_need.c ---- */

/* Fill out->shortage for a request that does not fit; out->verdict must be known. */
int weir_explain_shortage(struct explain *x) WEIR_CHECKED;

/* ---- explain_levels.c ---- */

/* Fill out->levels: for each type of the request, the causes that exclude vertices. O(vertices) for each level. */
int weir_explain_levels(struct explain *x) WEIR_CHECKED;

#endif
