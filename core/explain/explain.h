/* explain.h - what the files of explanations share. Private to the core.
 *
 *   explain.c         verdict, earliest start, the result
 *   explain_try.c     one question: does the request as it is now fit into the copy as it is now?
 *   explain_ways.c    which obstacles would have to go
 *   explain_need.c    need against have
 *   explain_parts.c   ... smaller requests for that
 *   explain_levels.c  what became of all vertices of each type
 *
 * An explanation asks many times whether a request fits: each time with some obstacles lifted (jobs released, vertices up,
 * parts of the constraint or the policy left out) or with less of the request. Invariant: between the questions of one file
 * all obstacles are back.
 */
#ifndef WEIR_EXPLAIN_H
#define WEIR_EXPLAIN_H

#include <jansson.h>

#include "graph/graph.h"
#include "request/request.h"

enum { PART_PRUNE = 1, PART_EVALUATE = 2, PART_EXCLUSIVE = 4, PART_LOCALITY = 8 }; /* of a policy */

struct obstacle {
    int kind; /* enum weir_obstacle_kind */
    bool lifted;
    union {
        struct {
            int64_t id, start, end;
            weir_pick *picks; /* while it is lifted */
            uint32_t npicks;
        } job;
        struct {
            weir_vertex v;
            int state;
        } vertex;
        const json_t *atom; /* of the constraint: borrowed from `atoms` */
        unsigned part;
    };
};

struct explain {
    weir_graph *g; /* the copy */
    const weir_request *asked;
    const weir_explain_options *o;
    weir_explanation *out;
    weir_err *err;
    weir_vertex only;   /* what is neither at nor above nor below it does not count; WEIR_NONE: everything counts */
    json_t *resources;  /* what is asked for now */
    json_t *atoms;      /* an array: what the constraint is made of */
    weir_request *request; /* of all that; NULL: to be made when it is next needed */
    struct obstacle *list; /* by kind: those of a kind are list[first[kind]] up to list[first[kind + 1]] */
    uint32_t n, cap, first[WEIR_OBSTACLES + 1];
    uint32_t *weight, *own; /* by vertex: jobs and states at or below it; at it */
    weir_pick *picks;   /* of the last question that asked for them */
    uint32_t npicks;
    uint32_t tries, limit; /* limit: of the tries, for what is found out now */
    weir_stats stats;   /* of the last question */
};

/* ---- explain_try.c ---- */

enum try_how { TRY_PLAIN, TRY_KEEP /* the picks */, TRY_LEAST /* where there are fewest obstacles; keeps the picks */ };
/* 1: it fits, 0: it does not, or negative. */
int weir_explain_try(struct explain *x, enum try_how how) WEIR_CHECKED;
/* Calls run(data, policy) with the policy as it is now. */
int weir_explain_with_policy(struct explain *x, bool least, int (*run)(void *data, const weir_policy *p), void *data) WEIR_CHECKED;
/* The request as it is now, with what is lifted left out; a status. */
int weir_explain_request(struct explain *x) WEIR_CHECKED;
void weir_explain_changed(struct explain *x); /* its resources or its constraint are others */
bool weir_explain_exhausted(const struct explain *x);

/* ---- explain_ways.c ---- */

int weir_explain_collect(struct explain *x) WEIR_CHECKED; /* all obstacles that there are */
void weir_explain_forget(struct explain *x);
int weir_explain_lift(struct explain *x, struct obstacle *ob, bool on) WEIR_CHECKED;
/* All of some kinds (bits 1 << kind), or of none. */
int weir_explain_lift_kinds(struct explain *x, unsigned kinds) WEIR_CHECKED;
/* Fills out->ways. The request does not fit. */
int weir_explain_ways(struct explain *x) WEIR_CHECKED;
/* Of the jobs that end at `start` or before, and have something of these picks: those that have to. */
int weir_explain_after(struct explain *x, int64_t start, const weir_pick *picks, uint32_t n, weir_way *out) WEIR_CHECKED;

/* ---- explain_parts.c ---- */

/* The smallest part of x->resources that does not fit; 0: all of it fits, after all. */
int weir_explain_part(struct explain *x) WEIR_CHECKED;
/* The n-th resource in preorder; NULL: no more. *holder, *at: where it stands; *parent: what it stands in, or NULL. */
struct part {
    json_t *value, *holder, *parent;
    size_t at;
};
bool weir_part_at(json_t *list, uint32_t n, struct part *out);
const char *weir_part_type(const json_t *resource);
int64_t weir_part_count(const json_t *resource); /* the least that will do */
bool weir_part_is_slot(const json_t *resource);

/* ---- explain_need.c ---- */

int weir_explain_shortage(struct explain *x) WEIR_CHECKED;

/* ---- explain_levels.c ---- */

int weir_explain_levels(struct explain *x) WEIR_CHECKED;

#endif
