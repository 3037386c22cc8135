/* hierarchy_link.c - makes the tree of a view. Invariant: a vertex is linked once, after its parent, so that the tree
 * has no cycles however the edges lead. */
#include "hierarchy/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "copy/dup.h"
#include "graph/builder.h"
#include "graph/tree_order.h"

enum { OUTSIDE, MEMBER, LINKED }; /* of a vertex: without edges of the subsystem; with; in the tree of the view */

struct linking {
    const weir_graph *g;
    uint32_t s;
    uint8_t *place;      /* by vertex */
    weir_vertex *parent; /* by vertex: in the view; WEIR_NONE: a root */
    weir_vertex *order;  /* the vertices linked, parents first */
    uint32_t n;
    const weir_vertex *choice; /* as in struct hierarchy */
    weir_err *err;
};

static bool is_member(const weir_graph *g, weir_vertex v, uint32_t s)
{
    return vertex_valid(g, v) && !vertex_detached(g, v) &&
           (weir_edge_first(g, v, s, true) != WEIR_NONE || weir_edge_first(g, v, s, false) != WEIR_NONE);
}

static bool begin(struct linking *k)
{
    size_t n = (size_t)k->g->limit + 1;

    k->place = weir_mem_zalloc(n, sizeof *k->place);
    k->parent = weir_mem_alloc(n * sizeof *k->parent);
    k->order = weir_mem_alloc(n * sizeof *k->order);
    for (weir_vertex v = 0; k->place && v < k->g->limit; v++)
        k->place[v] = is_member(k->g, v, k->s) ? MEMBER : OUTSIDE;
    return k->place && k->parent && k->order;
}

static void end(struct linking *k)
{
    WEIR_FREE(k->place, k->parent, k->order);
}

static void link(struct linking *k, weir_vertex v, weir_vertex parent)
{
    k->place[v] = LINKED;
    k->parent[v] = parent;
    k->order[k->n++] = v;
}

/* Whether no edge of the subsystem leads from another member to v. */
static bool is_source(const struct linking *k, weir_vertex v)
{
    struct weir_ends above = weir_ends(k->g, v, k->s, false);

    for (weir_vertex up; (up = weir_ends_next(&above)) != WEIR_NONE;)
        if (up != v && k->place[up] != OUTSIDE)
            return false;
    return true;
}

/* Links all that edges lead to from the vertices linked from number `from` on, and from there, breadth first. */
static void link_below(struct linking *k, uint32_t from)
{
    for (uint32_t i = from; i < k->n; i++) {
        struct weir_ends below = weir_ends(k->g, k->order[i], k->s, true);
        for (weir_vertex v; (v = weir_ends_next(&below)) != WEIR_NONE;)
            if (k->place[v] == MEMBER && (!k->choice || k->choice[v] == WEIR_NONE || k->choice[v] == k->order[i]))
                link(k, v, k->order[i]);
    }
}

/* Whether edges lead to v from several vertices of the tree. */
static bool is_shared(const struct linking *k, weir_vertex v)
{
    struct weir_ends above = weir_ends(k->g, v, k->s, false);
    weir_vertex first = WEIR_NONE;

    for (weir_vertex up; k->place[v] == LINKED && (up = weir_ends_next(&above)) != WEIR_NONE;) {
        if (up == v || k->place[up] != LINKED || up == first)
            continue;
        if (first != WEIR_NONE)
            return true;
        first = up;
    }
    return false;
}

/* Lists the shared vertices. */
static int list_shared(const struct linking *k, struct hierarchy *h)
{
    uint32_t cap = 0;

    for (uint32_t i = 0; i < k->n; i++) {
        if (!is_shared(k, k->order[i]))
            continue;
        if (WEIR_ARRAY_ADD(h->shared, h->nshared, cap, k->order[i]))
            return weir_fail_nomem(k->err);
    }
    return WEIR_OK;
}

static int by_tree(const void *a, const void *b, void *data)
{
    weir_vertex x = *(const weir_vertex *)a, y = *(const weir_vertex *)b;
    return x == y ? 0 : vertex_before(data, x, y) ? -1 : 1;
}

/* Links the members: below the sources, all sources first; then what only cycles lead to, below its first vertex. */
static void link_members(struct linking *k)
{
    for (weir_vertex v = 0; v < k->g->limit; v++)
        if (k->place[v] == MEMBER && is_source(k, v))
            link(k, v, WEIR_NONE);
    if (k->g->shuffled && k->n > 1)
        qsort_r(k->order, k->n, sizeof *k->order, by_tree, (void *)(uintptr_t)k->g);
    link_below(k, 0);
    for (weir_vertex v = 0; v < k->g->limit; v++)
        if (k->place[v] == MEMBER) {
            link(k, v, WEIR_NONE);
            link_below(k, k->n - 1);
        }
}

/* Links the children in containment of all vertices linked so far, and theirs. */
static void link_contents(struct linking *k)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const struct inner *in = inner_of(k->g, k->order[i]);
        for (uint32_t c = 0; in && c < in->nkids; c++)
            if (in->kids[c] != WEIR_NONE && k->place[in->kids[c]] == OUTSIDE)
                link(k, in->kids[c], k->order[i]);
    }
    for (uint32_t i = 0; i < k->g->nroots; i++) {
        weir_vertex v = k->g->roots[i];
        if (v != WEIR_NONE && k->place[v] == OUTSIDE && !inner_of(k->g, v) && in_other_subsystem(k->g, v))
            link(k, v, WEIR_NONE);
    }
}

/* Writes parents and places of the view. WEIR_ELIMIT: the tree is too deep. */
static int write_tree(const struct linking *k, weir_graph *view)
{
    uint32_t *kids = weir_mem_zalloc((size_t)k->g->limit + 1, 2 * sizeof *kids), *depth = kids + k->g->limit + 1;
    int rc = kids ? WEIR_OK : weir_fail_nomem(k->err);

    view->detached = 0;
    for (weir_vertex v = 0; !rc && v < view->limit; v++)
        if (vertex_valid(view, v) && k->place[v] != LINKED) {
            vertex_at(view, v)->parent = vertex_at(view, v)->pos = WEIR_NONE;
            view->detached++;
        }
    for (uint32_t i = 0; !rc && i < k->n; i++) {
        weir_vertex v = k->order[i], up = k->parent[v];
        vertex_at(view, v)->parent = up;
        vertex_at(view, v)->pos = kids[up == WEIR_NONE ? view->limit : up]++;
        depth[v] = up == WEIR_NONE ? 1 : depth[up] + 1;
        if (depth[v] > WEIR_PATH_DEPTH + 1)
            rc = weir_fail(k->err, WEIR_ELIMIT, "the hierarchy '%.100s' is deeper than %d levels",
                           weir_subsystem_name(k->g, k->s), WEIR_PATH_DEPTH);
    }
    weir_mem_free(kids);
    return rc;
}

/* Gives the two hierarchies each other's places among the subsystems. */
static int swap_edges(const weir_graph *g, uint32_t s, weir_graph *view, const uint8_t *flags)
{
    weir_name name = view->subsystems[0];

    for (uint32_t i = 0; i < view->nedges; i++)
        if (view->edges[i].source != WEIR_NONE && view->edges[i].subsystem == s)
            weir_edge_drop(view, i);
    view->subsystems[0] = view->subsystems[s];
    view->subsystems[s] = name;
    for (weir_vertex v = 0; v < g->limit; v++)
        if (vertex_valid(g, v) && vertex_at(g, v)->parent != WEIR_NONE &&
            ((flags[v] & VIEW_MOVED) || vertex_detached(view, v)) &&
            weir_edge_link(view, vertex_at(g, v)->parent, v, s, "contains", "in"))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

static void flag_above(const weir_graph *g, weir_vertex v, uint8_t *flags, uint8_t flag)
{
    for (v = vertex_at(g, v)->parent; v != WEIR_NONE && !(flags[v] & flag); v = vertex_at(g, v)->parent)
        flags[v] |= flag;
}

static void set_flags(const weir_graph *g, struct hierarchy *h)
{
    for (weir_vertex v = 0; v < g->limit; v++) {
        if (!vertex_valid(g, v) || vertex_detached(h->view, v) ||
            vertex_at(g, v)->parent == vertex_at(h->view, v)->parent)
            continue;
        h->flags[v] |= VIEW_MOVED;
        flag_above(g, v, h->flags, VIEW_OVER);
        flag_above(h->view, v, h->flags, VIEW_FEEDS);
    }
}

/* States from above in containment. The vertices of the view have no rows yet. */
static void set_states(const weir_graph *g, const struct hierarchy *h)
{
    for (weir_vertex v = 0; v < g->limit; v++) {
        struct vertex *x = vertex_at(h->view, v);
        int state = vertex_valid(g, v) ? weir_hierarchy_state(g, h, v) : x->state;
        if (state_available(x->state) && !state_available(state))
            h->view->unavailable++;
        x->state = (uint8_t)state;
    }
}

int weir_hierarchy_link(const weir_graph *g, uint32_t s, struct hierarchy *h, weir_err *err)
{
    struct linking k = {.g = g, .s = s, .err = err, .choice = h->choice};
    int rc = begin(&k) ? weir_dup_vertices(g, &h->view, err) : weir_fail_nomem(err);

    if (!rc) {
        link_members(&k);
        rc = list_shared(&k, h);
        link_contents(&k);
        rc = rc ? rc : write_tree(&k, h->view);
    }
    end(&k);
    rc = rc ? rc : weir_build_tree(h->view, err);
    h->flags = rc ? NULL : weir_mem_zalloc((size_t)g->limit + 1, sizeof *h->flags);
    if (!rc && !h->flags)
        rc = weir_fail_nomem(err);
    if (rc)
        return rc;
    set_flags(g, h);
    set_states(g, h);
    if (swap_edges(g, s, h->view, h->flags))
        return weir_fail_nomem(err);
    return weir_graph_end(h->view, err);
}
