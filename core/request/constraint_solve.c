/* constraint_solve.c - evaluates a constraint over a set of subjects: a set for each operator, combined by and, or
 * and not. Invariant: the result is a subset of weir_subjects.all.
 */
#include "request/constraint.h"

/* Replaces *set by the intersection of *set and `b`. */
static int keep_common(weir_idset **set, const weir_idset *b)
{
    weir_idset *both = NULL;
    int rc = weir_idset_intersect(*set, b, &both);

    if (rc == WEIR_OK) {
        weir_idset_free(*set);
        *set = both;
    }
    return rc;
}

static int solve_all(const weir_constraint *c, const struct weir_subjects *s, weir_idset **out)
{
    weir_idset *set = NULL;
    int rc = weir_idset_copy(s->all, &set);

    for (uint32_t i = 0; rc == WEIR_OK && i < c->nargs && weir_idset_count(set) > 0; i++) {
        weir_idset *operand = NULL;
        rc = weir_constraint_solve(&c->args[i], s, &operand);
        rc = rc ? rc : keep_common(&set, operand);
        weir_idset_free(operand);
    }
    if (rc == WEIR_OK)
        *out = set;
    else
        weir_idset_free(set);
    return rc;
}

static int add_any(const weir_constraint *c, const struct weir_subjects *s, weir_idset *set)
{
    int rc = c->nargs == 0 ? weir_idset_add(set, s->all) : WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < c->nargs; i++) {
        weir_idset *operand = NULL;
        rc = weir_constraint_solve(&c->args[i], s, &operand);
        rc = rc ? rc : weir_idset_add(set, operand);
        weir_idset_free(operand);
    }
    return rc;
}

static int add_others(const weir_constraint *c, const struct weir_subjects *s, weir_idset *set)
{
    weir_idset *all = NULL;
    int rc = solve_all(c, s, &all);

    rc = rc ? rc : weir_idset_add(set, s->all);
    rc = rc ? rc : weir_idset_subtract(set, all);
    weir_idset_free(all);
    return rc;
}

static int keep_property(const struct weir_wanted_property *p, const struct weir_subjects *s, weir_idset **set)
{
    weir_idset *have = weir_idset_new();
    int rc = have ? s->having(s->data, p, have) : WEIR_ENOMEM;

    if (rc == WEIR_OK)
        rc = p->negated ? weir_idset_subtract(*set, have) : keep_common(set, have);
    weir_idset_free(have);
    return rc;
}

static int add_having(const weir_constraint *c, const struct weir_subjects *s, weir_idset **set)
{
    int rc = weir_idset_add(*set, s->all);

    for (uint32_t i = 0; rc == WEIR_OK && i < c->nargs; i++)
        rc = keep_property(&c->properties[i], s, set);
    return rc;
}

static int solve_leaf(const weir_constraint *c, const struct weir_subjects *s, weir_idset **set)
{
    int rc;

    if (c->op == WEIR_HAS_PROPERTIES)
        return add_having(c, s, set);
    rc = c->op == WEIR_IN_HOSTLIST ? s->named(s->data, c->hosts, *set) : s->ranked(s->data, c->ranks, *set);
    return rc == WEIR_OK ? keep_common(set, s->all) : rc;
}

int weir_constraint_solve(const weir_constraint *c, const struct weir_subjects *s, weir_idset **out)
{
    weir_idset *set;
    int rc;

    if (c->op == WEIR_ALL_OF)
        return solve_all(c, s, out);
    set = weir_idset_new();
    if (!set)
        return WEIR_ENOMEM;
    switch (c->op) {
    case WEIR_ANY_OF: rc = add_any(c, s, set); break;
    case WEIR_NOT_ALL_OF: rc = add_others(c, s, set); break;
    default: rc = solve_leaf(c, s, &set); break;
    }
    if (rc == WEIR_OK)
        *out = set;
    else
        weir_idset_free(set);
    return rc;
}
