/* group_rule.h - the groups that a choice of a policy is about (weir_choice), read for a graph. Private to the core. */
#ifndef WEIR_GROUP_RULE_H
#define WEIR_GROUP_RULE_H

#include "graph/graph.h"

enum group_by { GROUP_BY_PARENT, GROUP_BY_TYPE, GROUP_BY_PROPERTY, GROUP_BY_SUBSYSTEM, GROUP_BY_HOOK };

struct group_rule {
    const weir_policy *policy;
    int kind; /* enum weir_choose */
    enum group_by by;
    bool typed;         /* the choice names a type, */
    weir_type type;     /* this type; WEIR_NO_TYPE: the graph has no such type */
    weir_name property; /* WEIR_NO_NAME: no vertex has the property */
    weir_name position; /* likewise; WEIR_NO_NAME also where the choice names none */
    uint32_t subsystem; /* WEIR_NONE: the graph has no such subsystem */
    weir_type node;     /* the type "node" */
};

/* The group of a vertex. */
struct group_key {
    uint8_t space;   /* groups of different spaces differ; GROUP_NONE: the vertex has no group */
    uint32_t number; /* of a vertex, a value, or of the hook */
};

enum { GROUP_OF_VERTEX, GROUP_OF_VALUE, GROUP_OF_HOOK, GROUP_NONE };

/* WEIR_EINVAL: the choice of a policy makes no sense. */
int weir_choice_check(const weir_policy *p, weir_err *err) WEIR_CHECKED;
/* Reads the choice of a policy, which must have one. */
void weir_group_rule_read(const weir_graph *g, const weir_policy *p, struct group_rule *r);
/* Finds the group of v. For runs a vertex without a group is in the group of the parent. WEIR_EPOLICY, WEIR_ENOMEM;
 * O(depth), in a subsystem O(vertices above) */
int weir_group_of(const weir_graph *g, const struct group_rule *r, weir_vertex v, struct group_key *out,
                  weir_err *err) WEIR_CHECKED;
/* The number that WEIR_CHOOSE_CLOSEST compares; HUGE_VAL: v has none. */
double weir_group_value(const weir_graph *g, const struct group_rule *r, weir_vertex v);
/* The position of v in a run. */
int64_t weir_group_position(const weir_graph *g, const struct group_rule *r, weir_vertex v);
/* Whether all vertices below `under` are in one group. */
bool weir_group_encloses(const weir_graph *g, const struct group_rule *r, weir_vertex under);
/* The vertex of the tree that is the group of v, by parent or by type, or WEIR_NONE. */
weir_vertex weir_group_vertex(const weir_graph *g, const struct group_rule *r, weir_vertex v);
/* The free units of the type of v in the group of v, where the group is a vertex of the tree; -1: v has no group. */
double weir_group_free(const weir_graph *g, const struct group_rule *r, weir_vertex v);
/* Whether the rule reads an entry of a map, or all entries change (WEIR_NO_NAME). */
bool weir_group_rule_reads(const struct group_rule *r, int map, weir_name key);

static inline bool group_same(struct group_key a, struct group_key b)
{
    return a.space == b.space && (a.number == b.number || a.space == GROUP_NONE);
}

/* Whether a choice is about runs. */
static inline bool choice_of_runs(int kind)
{
    return kind == WEIR_CHOOSE_LONGEST || kind == WEIR_CHOOSE_SHORTEST;
}

#endif
