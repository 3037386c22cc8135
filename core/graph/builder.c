/* builder.c - see builder.h. Invariant: until a vertex has a list of children, `inner` of the vertex is the number of
 * places for children, and `nroots` likewise for roots. */
#include "graph/builder.h"

#include <string.h>

int weir_build_holes(const weir_graph *g, uint64_t holes, weir_err *err)
{
    if (holes <= BUILD_HOLES + (uint64_t)g->limit * BUILD_HOLES_EACH)
        return WEIR_OK;
    return weir_fail(err, WEIR_ELIMIT, "more than %u places among the children of vertices are empty", BUILD_HOLES);
}

/* Counts the places below each vertex; *inners is the number of vertices with children. */
static int count_places(weir_graph *g, uint32_t *inners, weir_err *err)
{
    uint64_t places;

    for (weir_vertex v = 0; v < g->limit; v++) {
        const struct vertex *x = vertex_at(g, v);
        uint32_t *n;
        if (!vertex_valid(g, v))
            continue;
        if (x->parent != WEIR_NONE && !vertex_valid(g, x->parent))
            return weir_fail(err, WEIR_EPARSE, "vertex %u: its parent %u is not there", v, x->parent);
        if (vertex_detached(g, v))
            continue;
        n = x->parent == WEIR_NONE ? &g->nroots : &vertex_at(g, x->parent)->inner;
        *n = x->pos < *n ? *n : x->pos + 1;
    }
    places = g->nroots;
    for (weir_vertex v = 0; v < g->limit; v++) {
        if (vertex_at(g, v)->inner > 0 && vertex_detached(g, v))
            return weir_fail(err, WEIR_EPARSE, "vertex %u is in no containment and has children", v);
        places += vertex_at(g, v)->inner;
        *inners += vertex_at(g, v)->inner > 0;
    }
    return weir_build_holes(g, places > g->live ? places - g->live : 0, err);
}

/* Makes lists of holes. */
static int make_lists(weir_graph *g, uint32_t inners)
{
    uint32_t roots = g->nroots;

    g->nroots = 0;
    if (weir_kids_reserve(g, WEIR_NONE, roots) || weir_inners_reserve(g, inners))
        return WEIR_ENOMEM;
    g->nroots = roots;
    if (roots > 0)
        memset(g->roots, 0xff, roots * sizeof *g->roots); /* WEIR_NONE */
    for (weir_vertex v = 0; v < g->limit; v++) {
        uint32_t places = vertex_at(g, v)->inner;
        struct inner *in;
        if (!vertex_valid(g, v))
            continue;
        vertex_at(g, v)->inner = WEIR_NONE;
        if (places == 0)
            continue;
        if (weir_kids_reserve(g, v, places))
            return WEIR_ENOMEM;
        in = inner_of(g, v);
        in->nkids = in->holes = places;
        memset(in->kids, 0xff, places * sizeof *in->kids);
    }
    return WEIR_OK;
}

/* Fills the holes. */
static int fill_lists(weir_graph *g, weir_err *err)
{
    for (weir_vertex v = 0; v < g->limit; v++) {
        const struct vertex *x = vertex_at(g, v);
        struct inner *in;
        weir_vertex *place;
        if (!vertex_valid(g, v) || vertex_detached(g, v))
            continue;
        in = x->parent == WEIR_NONE ? NULL : inner_of(g, x->parent);
        place = (in ? in->kids : g->roots) + x->pos;
        if (*place != WEIR_NONE)
            return weir_fail(err, WEIR_EPARSE, "vertex %u: another vertex is in its place below its parent", v);
        *place = v;
        if (in)
            in->holes--;
    }
    return WEIR_OK;
}

int weir_build_tree(weir_graph *g, weir_err *err)
{
    uint32_t inners = 0;
    int rc = count_places(g, &inners, err);

    if (rc == WEIR_OK && make_lists(g, inners))
        rc = weir_fail_nomem(err);
    return rc == WEIR_OK ? fill_lists(g, err) : rc;
}
