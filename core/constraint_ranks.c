/* constraint_ranks.c - RFC 31 constraints on execution ranks, all at once: the ranks for which one holds are a set, made
 * from those of its parts. Invariant: it gives a rank exactly when constraint.c would match a node with that rank, host
 * and properties.
 */
#include "constraint.h"

#include <string.h>

#define HOST_NAME 1024

/* Replaces *set by what both have. */
static int keep_common(weir_idset **set, const weir_idset *other)
{
    weir_idset *both = NULL;
    int rc = weir_idset_intersect(*set, other, &both);

    if (rc == WEIR_OK) {
        weir_idset_free(*set);
        *set = both;
    }
    return rc;
}

/* ---- hosts ------------------------------------------------------------------------------------------------------ */

int weir_ranks_of_hosts(const struct weir_rank_facts *f, const weir_hostlist *wanted, weir_idset *out)
{
    struct weir_rank_place place = {f->host_ranks, 0, 0};
    char name[HOST_NAME];
    uint32_t lo, hi;
    int rc = WEIR_OK;

    if (!f->hosts || weir_hostlist_count(wanted) == 0)
        return WEIR_OK;
    for (size_t k = 0; weir_idset_run(f->ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rc == WEIR_OK && rank <= hi; rank++) {
            size_t len = weir_hostlist_nth(f->hosts, weir_rank_place(&place, (uint32_t)rank), name, sizeof name);
            if (len > 0 && len < sizeof name && weir_hostlist_find(wanted, name, len) >= 0)
                rc = weir_idset_add_id(out, (uint32_t)rank);
        }
    return rc;
}

/* ---- properties ------------------------------------------------------------------------------------------------- */

/* Whether a rank with this property has the wanted one: itself, or with a suffix. */
static bool is_wanted(const struct weir_wanted_property *p, const char *name)
{
    return strncmp(name, p->name, p->len) == 0 && (name[p->len] == '\0' || name[p->len] == '@');
}

/* A host name is a property of its rank. */
static int add_namesakes(const struct weir_wanted_property *p, const struct weir_rank_facts *f, weir_idset *out)
{
    weir_hostlist *one;
    int rc;

    if (!f->hosts || weir_hostlist_find(f->hosts, p->name, p->len) < 0)
        return WEIR_OK;
    one = weir_hostlist_new();
    rc = one ? weir_hostlist_append_name(one, p->name, p->len, NULL) : WEIR_ENOMEM;
    if (rc == WEIR_OK)
        rc = weir_ranks_of_hosts(f, one, out);
    weir_hostlist_free(one);
    return rc;
}

static int restrict_to(const struct weir_wanted_property *p, const struct weir_rank_facts *f, weir_idset **set)
{
    weir_idset *have = weir_idset_new();
    int rc = have ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; rc == WEIR_OK && i < f->nproperties; i++)
        if (is_wanted(p, f->properties[i].name))
            rc = weir_idset_add(have, f->properties[i].ranks);
    if (rc == WEIR_OK)
        rc = add_namesakes(p, f, have);
    if (rc == WEIR_OK)
        rc = p->negated ? weir_idset_subtract(*set, have) : keep_common(set, have);
    weir_idset_free(have);
    return rc;
}

/* ---- operators -------------------------------------------------------------------------------------------------- */

static int select_all(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **out)
{
    weir_idset *set = NULL;
    int rc = weir_idset_copy(f->ranks, &set);

    for (uint32_t i = 0; rc == WEIR_OK && i < c->nargs; i++) {
        weir_idset *part = NULL;
        rc = weir_constraint_select(&c->args[i], f, &part);
        if (rc == WEIR_OK)
            rc = keep_common(&set, part);
        weir_idset_free(part);
    }
    if (rc == WEIR_OK)
        *out = set;
    else
        weir_idset_free(set);
    return rc;
}

static int select_any(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset *set)
{
    int rc = c->nargs == 0 ? weir_idset_add(set, f->ranks) : WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < c->nargs; i++) {
        weir_idset *part = NULL;
        rc = weir_constraint_select(&c->args[i], f, &part);
        if (rc == WEIR_OK)
            rc = weir_idset_add(set, part);
        weir_idset_free(part);
    }
    return rc;
}

static int select_none(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset *set)
{
    weir_idset *all = NULL;
    int rc = select_all(c, f, &all);

    if (rc == WEIR_OK)
        rc = weir_idset_add(set, f->ranks);
    if (rc == WEIR_OK)
        rc = weir_idset_subtract(set, all);
    weir_idset_free(all);
    return rc;
}

static int select_properties(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **set)
{
    int rc = weir_idset_add(*set, f->ranks);

    for (uint32_t i = 0; rc == WEIR_OK && i < c->nargs; i++)
        rc = restrict_to(&c->properties[i], f, set);
    return rc;
}

static int select_ranks(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **set)
{
    int rc = weir_idset_add(*set, f->ranks);
    return rc == WEIR_OK ? keep_common(set, c->ranks) : rc;
}

int weir_constraint_select(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **out)
{
    weir_idset *set;
    int rc;

    if (c->op == WEIR_ALL_OF)
        return select_all(c, f, out);
    set = weir_idset_new();
    if (!set)
        return WEIR_ENOMEM;
    switch (c->op) {
    case WEIR_ANY_OF: rc = select_any(c, f, set); break;
    case WEIR_NOT_ALL_OF: rc = select_none(c, f, set); break;
    case WEIR_HAS_PROPERTIES: rc = select_properties(c, f, &set); break;
    case WEIR_IN_HOSTLIST: rc = weir_ranks_of_hosts(f, c->hosts, set); break;
    default: rc = select_ranks(c, f, &set); break;
    }
    if (rc == WEIR_OK)
        *out = set;
    else
        weir_idset_free(set);
    return rc;
}
