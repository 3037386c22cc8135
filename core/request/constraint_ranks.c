/* constraint_ranks.c - evaluates an RFC 31 constraint over all execution ranks of an R at a time. Invariant: a rank
 * is in the result exactly if weir_constraint_match() would be true of a node with the rank's number, host and
 * properties.
 */
#include "request/constraint.h"

#include <string.h>

#define HOST_NAME 1024

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

/* Whether property `name` satisfies `p`: equal to the name sought, or that name with a suffix "@something". */
static bool is_wanted(const struct weir_wanted_property *p, const char *name)
{
    return strncmp(name, p->name, p->len) == 0 && (name[p->len] == '\0' || name[p->len] == '@');
}

/* Adds the rank whose host is named like the property: a host name counts as a property of the host's rank. */
static int add_namesakes(const struct weir_wanted_property *p, const struct weir_rank_facts *f, weir_idset *out)
{
    weir_hostlist *one;
    int rc;

    if (!f->hosts || weir_hostlist_find(f->hosts, p->name, p->len) < 0)
        return WEIR_OK;
    one = weir_hostlist_new();
    rc = one ? weir_hostlist_append_name(one, p->name, p->len, NULL) : WEIR_ENOMEM;
    rc = rc ? rc : weir_ranks_of_hosts(f, one, out);
    weir_hostlist_free(one);
    return rc;
}

static int having(const void *data, const struct weir_wanted_property *p, weir_idset *out)
{
    const struct weir_rank_facts *f = data;
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < f->nproperties; i++)
        if (is_wanted(p, f->properties[i].name))
            rc = weir_idset_add(out, f->properties[i].ranks);
    return rc == WEIR_OK ? add_namesakes(p, f, out) : rc;
}

static int named(const void *data, const weir_hostlist *hosts, weir_idset *out)
{
    return weir_ranks_of_hosts(data, hosts, out);
}

static int ranked(const void *data, const weir_idset *ranks, weir_idset *out)
{
    (void)data;
    return weir_idset_add(out, ranks);
}

int weir_constraint_select(const weir_constraint *c, const struct weir_rank_facts *f, weir_idset **out)
{
    const struct weir_subjects subjects = {f->ranks, f, named, having, ranked};

    return weir_constraint_solve(c, &subjects, out);
}
