/* hierarchy_picks.c - translates picks between a graph and a view of a hierarchy. Invariant: a translated list names
 * each vertex once, and none below a vertex that it has as a whole. */
#include "hierarchy/hierarchy.h"

#include <stdlib.h>

#include "base/compare.h"

struct translation {
    const weir_graph *g;
    const struct hierarchy *h;
    struct pick_list *out;
    uint32_t resource; /* of the pick that is translated */
};

static int add(struct translation *t, weir_vertex v, int64_t amount, bool exclusive)
{
    struct pick_list *l = t->out;

    return WEIR_ARRAY_ADD(l->list, l->n, l->cap, (weir_pick){v, t->resource, amount, exclusive});
}

WEIR_COMPARE_BY(by_vertex, weir_pick, vertex)

/* Joins the picks of one vertex: the strongest counts. */
static void join(struct pick_list *l)
{
    uint32_t kept = 0;

    if (l->n > 1)
        qsort(l->list, l->n, sizeof *l->list, by_vertex);
    for (uint32_t i = 1; i < l->n; i++) {
        weir_pick *last = &l->list[kept];
        const weir_pick *p = &l->list[i];
        if (p->vertex != last->vertex) {
            l->list[++kept] = *p;
            continue;
        }
        last->exclusive |= p->exclusive;
        last->amount = p->amount > last->amount ? p->amount : last->amount;
        last->resource = p->resource < last->resource ? p->resource : last->resource;
    }
    l->n = l->n ? kept + 1 : 0;
}

static const weir_pick *find(const struct pick_list *l, weir_vertex v)
{
    weir_pick key = {.vertex = v};
    return l->n ? bsearch(&key, l->list, l->n, sizeof *l->list, by_vertex) : NULL;
}

/* Removes picks below vertices of `tree` that the list has as a whole. */
static void drop_below(const weir_graph *tree, struct pick_list *l)
{
    uint32_t kept = 0;
    bool whole = false;

    for (uint32_t i = 0; i < l->n; i++)
        whole = whole || l->list[i].exclusive;
    for (uint32_t i = 0; whole && i < l->n; i++) { /* the list stays searchable: a pick to be dropped gets amount -1 */
        for (weir_vertex up = vertex_at(tree, l->list[i].vertex)->parent; up != WEIR_NONE;
             up = vertex_at(tree, up)->parent) {
            const weir_pick *above = find(l, up);
            if (above && above->exclusive) {
                l->list[i].amount = -1;
                break;
            }
        }
    }
    for (uint32_t i = 0; i < l->n; i++)
        if (l->list[i].amount >= 0)
            l->list[kept++] = l->list[i];
    l->n = kept;
}

/* ---- from the graph to the view ---- */

/* Holds v in the view with all that was not moved there: the vertices that have moved below v are not v's. */
static int hold(struct translation *t, weir_vertex v)
{
    const struct inner *in = inner_of(t->h->view, v);
    bool feeds = t->h->flags[v] & VIEW_FEEDS;
    int rc = add(t, v, kind_of(t->g, v)->size, !feeds);

    for (uint32_t i = 0; !rc && feeds && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && !(t->h->flags[in->kids[i]] & VIEW_MOVED))
            rc = hold(t, in->kids[i]);
    return rc;
}

/* Holds what has moved away from below v. */
static int hold_moved(struct translation *t, weir_vertex v)
{
    const struct inner *in = t->h->flags[v] & VIEW_OVER ? inner_of(t->g, v) : NULL;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE)
            continue;
        rc = t->h->flags[kid] & VIEW_MOVED ? hold(t, kid) : WEIR_OK;
        rc = rc ? rc : hold_moved(t, kid);
    }
    return rc;
}

/* Marks the vertices above v in containment that are not above v in the view: no job can have them as a whole. */
static int mark_above(struct translation *t, weir_vertex v)
{
    bool moved = t->h->flags[v] & VIEW_MOVED;
    int rc = WEIR_OK;

    for (weir_vertex up = vertex_at(t->g, v)->parent; !rc && up != WEIR_NONE; up = vertex_at(t->g, up)->parent) {
        if (moved && weir_hierarchy_has(t->h, up) && !weir_vertex_within(t->h->view, v, up))
            rc = add(t, up, 0, false);
        moved = moved || (t->h->flags[up] & VIEW_MOVED);
    }
    return rc;
}

int weir_hierarchy_project(const weir_graph *g, const struct hierarchy *h, const weir_pick *picks, uint32_t n,
                           struct pick_list *out)
{
    struct translation t = {g, h, out, WEIR_NONE};
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < n; i++) {
        const weir_pick *p = &picks[i];
        t.resource = p->resource;
        if (weir_hierarchy_has(h, p->vertex))
            rc = p->exclusive ? hold(&t, p->vertex) : add(&t, p->vertex, p->amount, false);
        if (!rc && p->exclusive)
            rc = hold_moved(&t, p->vertex);
        rc = rc ? rc : mark_above(&t, p->vertex);
    }
    join(out);
    drop_below(h->view, out);
    return rc;
}

/* ---- from the view to the graph ---- */

/* Adds what is below v in the view and not in containment. */
static int add_fed(struct translation *t, weir_vertex v)
{
    const struct inner *in = t->h->flags[v] & VIEW_FEEDS ? inner_of(t->h->view, v) : NULL;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE)
            continue;
        rc = t->h->flags[kid] & VIEW_MOVED ? add(t, kid, kind_of(t->g, kid)->size, true) : WEIR_OK;
        rc = rc ? rc : add_fed(t, kid);
    }
    return rc;
}

int weir_hierarchy_expand(const weir_graph *g, const struct hierarchy *h, const weir_pick *picks, uint32_t n,
                          struct pick_list *out)
{
    struct translation t = {g, h, out, WEIR_NONE};
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < n; i++) {
        t.resource = picks[i].resource;
        /* All units of a vertex without children are the vertex as a whole. */
        rc = add(&t, picks[i].vertex, picks[i].amount,
                 picks[i].exclusive || (picks[i].amount == kind_of(g, picks[i].vertex)->size && picks[i].amount > 0 &&
                                        !inner_of(g, picks[i].vertex)));
        if (!rc && picks[i].exclusive)
            rc = add_fed(&t, picks[i].vertex);
    }
    join(out);
    drop_below(g, out);
    return rc;
}
