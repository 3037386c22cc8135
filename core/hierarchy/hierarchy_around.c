/* hierarchy_around.c - the ways of shared vertices to the sources: what is above and below one vertex by every parent,
 * and which parents can be gone over. */
#include "hierarchy/hierarchy.h"

#include <string.h>

/* A search over the edges of a subsystem and the tree of the view. */
struct around {
    const weir_graph *g, *view;
    uint32_t s;
    bool *found;       /* by vertex */
    weir_vertex *list; /* the vertices found, to be gone on from */
    uint32_t n;
};

static void find(struct around *a, weir_vertex v)
{
    if (v == WEIR_NONE || a->found[v] || vertex_detached(a->view, v))
        return;
    a->found[v] = true;
    a->list[a->n++] = v;
}

/* Finds v and all that is above or (`down`) below. */
static void search(struct around *a, weir_vertex v, bool down, bool *found)
{
    a->found = found;
    a->list[0] = v;
    a->n = 1;
    found[v] = true;
    for (uint32_t i = 0; i < a->n; i++) {
        weir_vertex u = a->list[i];
        struct weir_ends ends = weir_ends(a->g, u, a->s, down);
        const struct inner *in = down ? inner_of(a->view, u) : NULL;
        for (weir_vertex w; a->s != 0 && (w = weir_ends_next(&ends)) != WEIR_NONE;)
            find(a, w);
        for (uint32_t k = 0; in && k < in->nkids; k++)
            find(a, in->kids[k]);
        if (!down)
            find(a, vertex_at(a->view, u)->parent);
    }
}

int weir_graph_around(weir_graph *g, const char *name, weir_vertex v, bool *out, weir_err *err)
{
    struct around a = {.g = g, .s = weir_subsystem_find(g, name)};
    weir_graph *view;
    bool *above;
    int rc = weir_graph_hierarchy(g, name, &view, err);

    if (rc)
        return rc;
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    a.view = view;
    a.list = weir_mem_alloc(((size_t)g->limit + 1) * sizeof *a.list);
    above = weir_mem_zalloc((size_t)g->limit + 1, sizeof *above);
    rc = a.list && above ? WEIR_OK : weir_fail_nomem(err);
    if (!rc) {
        memset(out, 0, g->limit * sizeof *out);
        search(&a, v, true, out);
        search(&a, v, false, above);
        for (uint32_t i = 0; i < a.n; i++)
            out[a.list[i]] = true;
    }
    WEIR_FREE(a.list, above);
    return rc;
}

/* ---- ways that are open ---- */

/* Whether the way from v over `up` passes at each vertex and does not lead back to v. Returns 1, 0 or negative. */
static int way_passes(const struct hierarchy *h, const weir_vertex *choice, weir_vertex v, weir_vertex up,
                      int (*passes)(void *data, weir_vertex v), void *data)
{
    int rc = 1;

    for (uint32_t steps = 0; rc == 1 && up != WEIR_NONE; steps++) {
        if (up == v || vertex_detached(h->view, up) || steps > WEIR_PATH_DEPTH)
            return 0;
        rc = passes(data, up);
        up = choice[up] != WEIR_NONE ? choice[up] : vertex_at(h->view, up)->parent;
    }
    return rc;
}

int weir_hierarchy_open(const weir_graph *g, const struct hierarchy *h, weir_vertex *choice,
                        int (*passes)(void *data, weir_vertex v), void *data)
{
    uint32_t s = weir_subsystem_find(g, h->name);
    int chosen = 0;

    for (uint32_t i = 0; i < h->nshared; i++) { /* parents come first */
        weir_vertex v = h->shared[i];
        struct weir_ends parents = weir_ends(g, v, s, false);
        int rc = way_passes(h, choice, v, vertex_at(h->view, v)->parent, passes, data);
        for (weir_vertex up; rc == 0 && (up = weir_ends_next(&parents)) != WEIR_NONE;) {
            rc = way_passes(h, choice, v, up, passes, data);
            choice[v] = rc == 1 ? up : WEIR_NONE;
            chosen = rc == 1 ? 1 : chosen;
        }
        if (rc < 0)
            return rc;
    }
    return chosen;
}
