/* constraint.h - the compiled form of an RFC 31 constraint, and its evaluation over a whole set of subjects at a
 * time. Private to the core.
 *
 * Subjects are integers: the nodes of a graph, numbered by the node table (index/node_table.h), or the execution
 * ranks of an R (rset/rset.h), with the hosts and properties that R lists.
 */
#ifndef WEIR_CONSTRAINT_H
#define WEIR_CONSTRAINT_H

#include "base/base.h"

struct node_table;

enum weir_operator { WEIR_ALL_OF, WEIR_ANY_OF, WEIR_NOT_ALL_OF, WEIR_HAS_PROPERTIES, WEIR_IN_HOSTLIST, WEIR_IN_RANKS };

/* An operand of "properties". */
struct weir_wanted_property {
    const char *name; /* NUL-terminated; points into weir_constraint.text */
    size_t len;
    bool negated; /* written with '^': the property must be absent */
};

struct weir_constraint {
    int op; /* enum weir_operator */
    uint32_t nargs;
    struct weir_constraint *args;            /* nargs operands of and, or, not */
    struct weir_wanted_property *properties; /* nargs properties to be had */
    char *text;
    weir_hostlist *hosts;
    weir_idset *ranks;
};

/* The set of subjects to evaluate a constraint over, with a function for each kind of operand. Each function adds to
 * `out` every subject that matches the operand, and may add integers outside `all`. Returns WEIR_OK or WEIR_ENOMEM. */
struct weir_subjects {
    const weir_idset *all; /* all subjects */
    const void *data;      /* first argument of the functions */
    /* Subjects with a host name in `hosts`. */
    int (*named)(const void *data, const weir_hostlist *hosts, weir_idset *out);
    /* Subjects with property `p`; p->negated is ignored. */
    int (*having)(const void *data, const struct weir_wanted_property *p, weir_idset *out);
    /* Subjects with a rank in `ranks`. */
    int (*ranked)(const void *data, const weir_idset *ranks, weir_idset *out);
};
/* Make the set of all subjects that match constraint `c`. Returns WEIR_OK or WEIR_ENOMEM. O(runs of the sets) for
 * each operator of the constraint, plus the cost of the functions in `s`. */
int weir_constraint_solve(const weir_constraint *c, const struct weir_subjects *s, weir_idset **out) WEIR_CHECKED;

/* Make the set of all nodes that match constraint `c`, by their numbers in the node table `r` of graph `g`. Returns
 * WEIR_OK or WEIR_ENOMEM. */
int weir_constraint_nodes(const weir_constraint *c, const weir_graph *g, struct node_table *r,
                          weir_idset **out) WEIR_CHECKED;

/* A property and the ranks with the property, as R lists them. */
struct weir_rank_property {
    char *name;
    weir_idset *ranks;
};

/* The ranks of an R, with hosts and properties. */
struct weir_rank_facts {
    const weir_idset *ranks;      /* all subjects */
    const weir_hostlist *hosts;   /* NULL: no hosts are known */
    const weir_idset *host_ranks; /* the i-th rank of host_ranks has the i-th host; contains all of `ranks` */
    const struct weir_rank_property *properties;
    uint32_t nproperties;
};

/* Make the set of all ranks that match constraint `c`. Host names of 1 KB or more match nothing. Returns WEIR_OK or
 * WEIR_ENOMEM. */
int weir_constraint_select(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **out) WEIR_CHECKED;
/* Add to `out` all ranks whose host is in the list. Returns WEIR_OK or WEIR_ENOMEM. O(ranks) lookups with
 * weir_hostlist_find(). */
int weir_ranks_of_hosts(const struct weir_rank_facts *f, const weir_hostlist *wanted, weir_idset *out) WEIR_CHECKED;

/* A cursor into a set of ranks that gives each rank's position in the set. Ranks must be looked up in ascending
 * order; all lookups together cost O(runs). */
struct weir_rank_place {
    const weir_idset *ranks;
    size_t run;
    uint64_t before; /* number of ranks in the runs before run number `run` */
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
