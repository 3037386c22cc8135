/* constraint_nodes.c - evaluates an RFC 31 constraint over all nodes of a graph at a time. Invariant: a node is in
 * the result exactly if weir_constraint_match() is true of the node's vertex.
 */
#include "request/constraint.h"
#include "index/node_table.h"

struct machine {
    const weir_graph *g;
    struct node_table *r;
};

static int having(const void *data, const struct weir_wanted_property *p, weir_idset *out)
{
    const struct machine *m = data;
    int rc = weir_node_table_add_property(m->g, m->r, p->name, p->len, out);

    return rc == WEIR_OK ? weir_node_table_add_name(m->g, m->r, p->name, p->len, out) : rc;
}

static int named(const void *data, const weir_hostlist *hosts, weir_idset *out)
{
    const struct machine *m = data;
    return weir_node_table_add_hosts(m->g, m->r, hosts, out);
}

static int ranked(const void *data, const weir_idset *ranks, weir_idset *out)
{
    const struct machine *m = data;
    return weir_node_table_add_ranks(m->g, m->r, ranks, out);
}

int weir_constraint_nodes(const weir_constraint *c, const weir_graph *g, struct node_table *r, weir_idset **out)
{
    const struct machine m = {g, r};
    const struct weir_subjects subjects = {r->all, &m, named, having, ranked};

    return weir_constraint_solve(c, &subjects, out);
}
