/* edge_unlink.c - removes a pool from a subsystem. Invariant: nothing changes before success is certain. Only
 * the named pool is reclaimed, and no pool at the far end of an edge: a node on the move between two power units needs
 * both units. */
#include "graph/graph.h"

#include <string.h>

static int check_unlink(const weir_graph *g, weir_vertex v, const char *subsystem, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (!subsystem || !subsystem[0])
        return weir_fail(err, WEIR_EINVAL, "expected the name of a subsystem");
    if (strcmp(subsystem, "containment") == 0)
        return weir_fail(err, WEIR_EINVAL, "a vertex leaves containment with all below it, not by its edges");
    return WEIR_OK;
}

/* Whether v has edges of a subsystem, or (`others`) of a different subsystem but containment. */
static bool has_edges(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool others)
{
    const struct pool *p = pool_of(g, v);

    if (!p || subsystem == WEIR_NONE)
        return false;
    if (!others)
        return weir_edge_first(g, v, subsystem, true) != WEIR_NONE ||
               weir_edge_first(g, v, subsystem, false) != WEIR_NONE;
    for (uint32_t i = p->edges_out; i != WEIR_NONE; i = g->edges[i].next_out)
        if (g->edges[i].subsystem != subsystem)
            return true;
    for (uint32_t i = p->edges_in; i != WEIR_NONE; i = g->edges[i].next_in)
        if (g->edges[i].subsystem != subsystem)
            return true;
    return false;
}

static void drop_edges(weir_graph *g, weir_vertex v, uint32_t subsystem, bool out)
{
    for (uint32_t i = weir_edge_first(g, v, subsystem, out), next; i != WEIR_NONE; i = next) {
        next = weir_edge_next(g, i, out);
        weir_edge_drop(g, i);
    }
}

int weir_edge_unlink(weir_graph *g, weir_vertex v, const char *subsystem, weir_err *err)
{
    char path[256];
    bool last;
    uint32_t s;
    int rc = check_unlink(g, v, subsystem, err);

    if (rc)
        return rc;
    s = weir_subsystem_find(g, subsystem);
    if (!has_edges(g, v, s, false)) {
        weir_vertex_path(g, v, path, sizeof path);
        return weir_fail(err, WEIR_ENOENT, "%s is not in the subsystem '%.100s'", path, subsystem);
    }
    /* A pool without parent and children belongs to no containment while the pool has edges: the last edges are
     * going. */
    last = vertex_at(g, v)->parent == WEIR_NONE && weir_vertex_children(g, v) == 0 && !has_edges(g, v, s, true);
    rc = last ? weir_unlink_refused(g, v, err) : WEIR_OK;
    if (rc)
        return rc;
    drop_edges(g, v, s, true);
    drop_edges(g, v, s, false);
    return last ? weir_graph_unlink(g, v, err) : WEIR_OK;
}
