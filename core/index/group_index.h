/* group_index.h - for a choice of a policy (weir_choice) and a type: the candidates by group, and by run. Private to
 * the core.
 *
 * All vertices of the type have places: group by group, in the order of the policy, or for runs by position. A bit for
 * each place marks a member: an unused vertex, reachable, with the needs of a request. Groups, or runs, of
 * members are in a set by size, so that a choice costs the answer and the groups in the answer. Changed vertices are
 * noted, and looked at by the next query.
 *
 * Whether a reserved member is free throughout a window is for the caller to say: the doubtful members are listed.
 */
#ifndef WEIR_GROUP_INDEX_H
#define WEIR_GROUP_INDEX_H

#include "base/keyset.h"
#include "index/group_rule.h"
#include "index/rank_order.h"

#define GROUP_INDEXES 8 /* per graph; the least recently used is dropped first */
#define GROUP_NEEDS   4 /* types that a member must hold */

/* Units that a vertex must hold, free or not. */
struct group_need {
    weir_type type;
    int64_t amount;
};

struct group_question {
    const weir_policy *policy;
    weir_type type;
    struct group_need needs[GROUP_NEEDS];
    uint32_t nneeds;
};

struct group_index {
    /* The question */
    struct group_question asked; /* the policy is that of the last query */
    struct group_rule rule;
    struct order order; /* without keys */
    bool emptiest;
    uint64_t hook;   /* serial of the policy where the rule calls its hook; else 0 */
    uint64_t serial; /* of the structure */
    uint64_t last_use;

    /* Places */
    uint32_t n;
    weir_vertex *list; /* by place */
    uint32_t *ranks;   /* by place: number in the order of the policy */
    uint32_t *groups;  /* by place */
    uint32_t *places;  /* by vertex; PLACE_ABOVE and the status for a vertex above; else WEIR_NONE */
    uint32_t nplaces;
    uint32_t ngroups;
    uint32_t none;        /* number of the group of vertices without a group, the last; WEIR_NONE: all have groups,
                           * or runs are requested */
    uint32_t *begin;      /* by group: the first place; of ngroups: n */
    weir_type group_type; /* of the vertices that are the groups; WEIR_NO_TYPE: they have no common
                           * type, or some are inside others */
    double *values;       /* by group, for WEIR_CHOOSE_CLOSEST */
    uint64_t *starts;     /* bits: the place does not continue the run of the place before */
    bool uneven;          /* two vertices of a group have one position: no index of runs */

    /* Members */
    uint64_t *members;       /* bits by place */
    uint64_t *joins;         /* bits by place, for runs: a member that continues a run */
    uint32_t total, *counts; /* members, by group */
    struct weir_keyset set;  /* groups by size, or runs by size, with the number of the first place */
    /* All groups by free units, with or without members, where the emptiest groups come first. */
    struct weir_keyset emptiest_first;

    /* Changes */
    uint64_t *changed_bits, *doubt_bits, *stale_bits; /* by place, by place, by group: is in the list below */
    uint32_t *changed, nchanged;                      /* places to be looked at */
    uint32_t *doubts, ndoubts; /* members that have reservations, at or above or below, or parts that are down */
    uint32_t *stale, nstale;   /* groups that need a new key */
    weir_vertex *wide;         /* vertices above places, opened or closed */
    uint32_t nwide, wide_cap;
};

struct group_indexes {
    struct group_index **list;
    uint32_t n, cap;
    struct group_totals *totals; /* NULL until a choice has needs */
};

/* The group indexes of a graph. */
static inline const struct group_indexes *groups_in(const weir_graph *g)
{
    static const struct group_indexes none;

    return g->records[RECORD_GROUPS] ? g->records[RECORD_GROUPS] : &none;
}

/* Finds or makes an index. Members are as they were at the last query: call
 * weir_groups_settle(). WEIR_ENOMEM, WEIR_EPOLICY; O(n log n) where made */
int weir_groups_get(weir_graph *g, const struct group_question *q, struct group_index **out,
                    weir_err *err) WEIR_CHECKED;
/* Looks at the changed vertices, and drops doubts that are none any more. */
void weir_groups_settle(const weir_graph *g, struct group_index *x);
/* Says whether the member or former member at a place fits. */
void weir_groups_set(struct group_index *x, uint32_t place, bool fits);
/* Gives changed groups new keys, after the last weir_groups_set(). */
void weir_groups_rekey(const weir_graph *g, struct group_index *x);
/* The first place of a member from `place` on, below `end`; `end`: none. */
uint32_t weir_groups_next(const struct group_index *x, uint32_t place, uint32_t end);
/* Returns the smallest of the totals of type `need`, in vertices of type t, that suffice for an amount: requests that
 * the same vertices can serve then share an index. -1: no vertex suffices. O(vertices) once for each total */
int64_t weir_groups_total(weir_graph *g, weir_type t, weir_type need, int64_t amount);
/* Follows the changes of a graph. */
extern const struct weir_observer weir_group_observer;

/* The group, in numbers of the index, of a vertex of the type. */
static inline struct group_key group_known(const struct group_index *x, weir_vertex v)
{
    uint32_t group = x->groups[x->places[v]];
    return (struct group_key){group == x->none ? GROUP_NONE : GROUP_OF_VALUE, group};
}

static inline bool group_bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

/* A key of the set, by size and rank. */
static inline uint64_t group_sized(uint32_t size, uint32_t rank)
{
    return (uint64_t)size << 32 | rank;
}

#endif
