/* constraint.h - how a compiled constraint looks, and for whom of many it holds, all at once. Private to the core.
 *
 * They are numbers: the nodes of a graph, by its roster (node_table.h), or execution ranks, of which R knows the hosts and the
 * properties (rset.h).
 */
#ifndef WEIR_CONSTRAINT_H
#define WEIR_CONSTRAINT_H

#include "base/base.h"

struct roster;

enum weir_operator { WEIR_ALL_OF, WEIR_ANY_OF, WEIR_NOT_ALL_OF, WEIR_HAS_PROPERTIES, WEIR_IN_HOSTLIST, WEIR_IN_RANKS };

struct weir_wanted_property {
    const char *name; /* in the text of the constraint */
    size_t len;
    bool negated;
};

struct weir_constraint {
    int op; /* enum weir_operator */
    uint32_t nargs;
    struct weir_constraint *args;            /* of and, or, not */
    struct weir_wanted_property *properties; /* nargs of them, and their text */
    char *text;
    weir_hostlist *hosts;
    weir_idset *ranks;
};

/* Who is asked about, and what is known of them. Each function adds those for whom its part holds, and may add others that
 * are not asked about; WEIR_ENOMEM. */
struct weir_subjects {
    const weir_idset *all; /* those that are asked about */
    const void *data;
    int (*named)(const void *data, const weir_hostlist *hosts, weir_idset *out);
    int (*having)(const void *data, const struct weir_wanted_property *p, weir_idset *out); /* whether it is negated or not */
    int (*ranked)(const void *data, const weir_idset *ranks, weir_idset *out);
};
/* Those for whom a constraint holds, as a new set; WEIR_ENOMEM. O(runs) for each part of it, and what the functions cost. */
int weir_constraint_solve(const weir_constraint *c, const struct weir_subjects *s, weir_idset **out) WEIR_CHECKED;

/* The nodes of a graph for which a constraint holds, by their numbers in its roster; WEIR_ENOMEM. */
int weir_constraint_nodes(const weir_constraint *c, const weir_graph *g, const struct roster *r, weir_idset **out) WEIR_CHECKED;

/* A property and the ranks that have it. */
struct weir_rank_property {
    char *name;
    weir_idset *ranks;
};

struct weir_rank_facts {
    const weir_idset *ranks;      /* those that are asked about */
    const weir_hostlist *hosts;   /* NULL: not known */
    const weir_idset *host_ranks; /* the i-th of them has the i-th host; all of `ranks` are in it */
    const struct weir_rank_property *properties;
    uint32_t nproperties;
};

/* The ranks for which a constraint holds, as a new set; WEIR_ENOMEM. Host names of 1 KB or more match nothing. */
int weir_constraint_select(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **out) WEIR_CHECKED;
/* Adds the ranks whose host is in a list, indexed or not; WEIR_ENOMEM. */
int weir_ranks_of_hosts(const struct weir_rank_facts *f, const weir_hostlist *wanted, weir_idset *out) WEIR_CHECKED;

/* Where a rank stands in a set of ranks, for ranks that are asked for in ascending order. */
struct weir_rank_place {
    const weir_idset *ranks;
    size_t run;
    uint64_t before; /* ranks in the runs before this one */
};

static inline uint64_t weir_rank_place(struct weir_rank_place *p, uint32_t rank)
{
    uint32_t lo = 0, hi = 0;

    while (weir_idset_run(p->ranks, p->run, &lo, &hi) && hi < rank) {
        p->before += (uint64_t)hi - lo + 1;
        p->run++;
    }
    return p->before + (rank > lo ? rank - lo : 0);
}

#endif
