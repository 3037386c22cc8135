/* explain_parents.c - see explain_parents.h. */
#include "explain/explain_parents.h"

#include <string.h>

#include "time/availability.h"

/* The next parent of v by edges, in the tree of the view. */
static weir_vertex next_parent(const struct parents *p, struct weir_ends *ends, weir_vertex v)
{
    weir_vertex up;

    while ((up = weir_ends_next(ends)) != WEIR_NONE)
        if (up != v && !vertex_detached(p->view, up))
            return up;
    return WEIR_NONE;
}

static bool has_several(const struct parents *p, weir_vertex v)
{
    struct weir_ends ends = weir_ends(p->g, v, p->s, false);
    weir_vertex first = next_parent(p, &ends, v), up;

    while (first != WEIR_NONE && (up = next_parent(p, &ends, v)) != WEIR_NONE)
        if (up != first)
            return true;
    return false;
}

int weir_parents_begin(struct parents *p, const weir_graph *g)
{
    size_t n = (size_t)g->limit + 1;
    bool any = false;

    *p = (struct parents){.view = g, .g = weir_graph_edges(g)};
    p->s = weir_subsystem_find(p->g, weir_subsystem_name(g, 0));
    if (p->g == g || p->s == WEIR_NONE || p->s == 0)
        return WEIR_OK;
    p->shared = weir_mem_zalloc(n, sizeof *p->shared);
    p->seen = weir_mem_zalloc(n, sizeof *p->seen);
    p->list = weir_mem_alloc(n * sizeof *p->list);
    if (!p->shared || !p->seen || !p->list) {
        weir_parents_end(p);
        return WEIR_ENOMEM;
    }
    for (weir_vertex v = 0; v < g->limit; v++)
        if (vertex_valid(g, v) && !vertex_detached(g, v) && has_several(p, v))
            any = p->shared[v] = true;
    if (!any)
        weir_parents_end(p);
    return WEIR_OK;
}

void weir_parents_end(struct parents *p)
{
    weir_mem_free(p->shared);
    weir_mem_free(p->seen);
    weir_mem_free(p->list);
    p->shared = NULL;
    p->seen = NULL;
    p->list = NULL;
}

/* ---- marks ---- */

/* The marks that v inherits, of all vertices as known so far. */
static uint8_t inherited(const struct parents *p, weir_vertex v, const uint8_t *marks)
{
    weir_vertex first = vertex_at(p->view, v)->parent, up;
    struct weir_ends ends;

    if (first == WEIR_NONE || marks[first] == 0 || !p->shared[v])
        return first == WEIR_NONE ? 0 : marks[first];
    ends = weir_ends(p->g, v, p->s, false);
    while ((up = next_parent(p, &ends, v)) != WEIR_NONE)
        if (marks[up] == 0)
            return 0;
    return marks[first];
}

/* Brings the marks of all vertices up to date, parents first. Returns whether a mark has changed. */
static bool hand_down(const struct parents *p, const weir_vertex *order, uint32_t n, const uint8_t *own, uint8_t *marks)
{
    bool changed = false;

    for (uint32_t i = 0; i < n; i++) {
        weir_vertex v = order[i];
        uint8_t now = own[v] | inherited(p, v, marks);
        changed |= now != marks[v];
        marks[v] = now;
    }
    return changed;
}

/* Lists the vertices of the tree, parents before children. */
static uint32_t list_tree(const weir_graph *view, weir_vertex *list)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->nroots; i++)
        if (view->roots[i] != WEIR_NONE)
            list[n++] = view->roots[i];
    for (uint32_t i = 0; i < n; i++) {
        const struct inner *in = inner_of(view, list[i]);
        for (uint32_t k = 0; in && k < in->nkids; k++)
            if (in->kids[k] != WEIR_NONE)
                list[n++] = in->kids[k];
    }
    return n;
}

int weir_parents_inherit(const struct parents *p, uint8_t *marks)
{
    size_t limit = (size_t)p->view->limit + 1;
    uint8_t *own = weir_mem_alloc(limit);
    uint32_t n;

    if (!own)
        return WEIR_ENOMEM;
    memcpy(own, marks, limit);
    n = list_tree(p->view, p->list);
    /* At first every vertex is excluded that is below an excluded first parent; then ways over other parents open. An
     * opened way never closes again, so this ends. */
    for (uint32_t i = 0; i < n; i++) {
        weir_vertex v = p->list[i], up = vertex_at(p->view, v)->parent;
        marks[v] |= up == WEIR_NONE ? 0 : marks[up];
    }
    while (hand_down(p, p->list, n, own, marks))
        ;
    weir_mem_free(own);
    return WEIR_OK;
}

/* ---- sums ---- */

static void reach(struct parents *p, weir_vertex v, uint32_t *n)
{
    if (v == WEIR_NONE || p->seen[v] == p->sums || vertex_detached(p->view, v))
        return;
    p->seen[v] = p->sums;
    p->list[(*n)++] = v;
}

int64_t weir_parents_beyond(struct parents *p, weir_vertex v, weir_type t, const uint8_t *marks)
{
    int64_t now = p->view->now, sum = 0;
    uint32_t n = 0;

    p->sums++;
    reach(p, v, &n);
    for (uint32_t i = 0; i < n; i++) {
        weir_vertex u = p->list[i];
        struct weir_ends ends = weir_ends(p->g, u, p->s, true);
        const struct inner *in = inner_of(p->view, u);
        for (weir_vertex w; (w = weir_ends_next(&ends)) != WEIR_NONE;)
            reach(p, w, &n);
        for (uint32_t k = 0; in && k < in->nkids; k++)
            reach(p, in->kids[k], &n);
        if (kind_of(p->view, u)->type != t || weir_vertex_within(p->view, u, v))
            continue;
        if (!marks)
            sum += kind_of(p->view, u)->size;
        else if (marks[u] == 0)
            sum += weir_availability_free(p->view, u, now, now + 1);
    }
    return sum;
}
