/* walk.c - walks over one subsystem, one visit per call. Invariant: `way` holds the path from the start to the last
 * visit (breadth-first: the queue), each frame with the ends of the edges; the structure has not changed since the
 * walk began. */
#include "graph/graph.h"

#include <string.h>

#include "aggregate/rows.h"

struct walk_frame {
    weir_vertex v;           /* WEIR_NONE: the frame of the starts, in an ordered walk */
    uint32_t cursor;         /* ends visited so far */
    uint32_t first, count;   /* range of `ends` */
    const weir_vertex *kids; /* children, in a tree, instead of `ends` */
    uint32_t depth;          /* breadth-first only */
};

struct weir_walk {
    const weir_graph *g;
    weir_walk_options o;
    uint32_t subsystem;
    bool tree; /* containment downward, not ordered: no vertex is met twice, and no list of ends is needed */
    weir_type type;
    uint64_t serial;
    struct walk_frame *way;
    uint32_t n, cap, head; /* head of the queue */
    weir_vertex *ends;
    uint32_t nends, ends_cap;
    uint32_t root;  /* where weir_graph_next_root() continues */
    uint8_t *seen;  /* bits by vertex, unless `tree` */
    uint32_t depth; /* of the last visit */
    bool prune;
    weir_vertex leaf; /* vertex of the last visit, if a leaf without a frame; or WEIR_NONE */
};

static weir_walk *fail(weir_walk *w, weir_err *err)
{
    weir_fail_nomem(err);
    weir_walk_free(w);
    return NULL;
}

static bool has_edge(const weir_graph *g, uint32_t subsystem)
{
    for (uint32_t i = 0; i < g->nedges; i++)
        if (g->edges[i].source != WEIR_NONE && g->edges[i].subsystem == subsystem)
            return true;
    return false;
}

static int list_starts(weir_walk *w);

weir_walk *weir_walk_new(const weir_graph *g, const weir_walk_options *o, weir_err *err)
{
    weir_walk *w;

    if (o->start != WEIR_NONE && !vertex_valid(g, o->start)) {
        weir_fail(err, WEIR_ENOENT, "there is no vertex %u to start from", o->start);
        return NULL;
    }
    w = weir_mem_zalloc(1, sizeof *w);
    if (!w)
        return fail(w, err);
    w->g = g;
    w->o = *o;
    w->o.subsystem = w->o.type = NULL; /* belong to the caller */
    w->serial = g->serial;
    w->leaf = WEIR_NONE;
    w->subsystem = o->subsystem ? weir_subsystem_find(g, o->subsystem) : 0;
    if (w->subsystem == WEIR_NONE) {
        weir_fail(err, WEIR_ENOENT, "there is no subsystem '%.100s'", o->subsystem);
        weir_walk_free(w);
        return NULL;
    }
    if (o->start == WEIR_NONE && w->subsystem != 0 && weir_graph_root(g, o->subsystem, 0) == WEIR_NONE &&
        has_edge(g, w->subsystem)) {
        weir_fail(err, WEIR_EINVAL, "the subsystem '%.100s' has no root, as all of it is on cycles: expected a start",
                  o->subsystem);
        weir_walk_free(w);
        return NULL;
    }
    w->tree = w->subsystem == 0 && !o->upward && !o->ordered;
    w->type = o->type ? weir_type_find(g, o->type) : WEIR_NO_TYPE;
    w->o.type = o->type ? "" : NULL; /* only says whether there is a type */
    if (w->o.events == 0 || w->o.breadth)
        w->o.events = WEIR_PREORDER;
    w->seen = w->tree ? NULL : weir_mem_zalloc(g->limit / 8 + 1, 1);
    return (w->tree || w->seen) && (!o->ordered || list_starts(w) == WEIR_OK) ? w : fail(w, err);
}

size_t weir_walk_bytes(const weir_walk *w)
{
    return sizeof *w + w->cap * sizeof *w->way + w->ends_cap * sizeof *w->ends + (w->seen ? w->g->limit / 8 + 1 : 0);
}

void weir_walk_free(weir_walk *w)
{
    if (w)
        WEIR_FREE(w->way, w->ends, w->seen, w);
}

static int add_end(weir_walk *w, weir_vertex v)
{
    return WEIR_ARRAY_ADD(w->ends, w->nends, w->ends_cap, v);
}

static int list_children(weir_walk *w, weir_vertex v)
{
    const struct inner *in = inner_of(w->g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && in && i < in->nkids; i++)
        rc = in->kids[i] == WEIR_NONE ? WEIR_OK : add_end(w, in->kids[i]);
    return rc;
}

/* Lists the ends of the edges of v, where a frame does not borrow the children. */
static int list_ends(weir_walk *w, weir_vertex v)
{
    struct weir_ends ends;

    if (w->subsystem == 0 && !w->o.upward)
        return list_children(w, v);
    if (w->subsystem == 0) {
        weir_vertex p = vertex_at(w->g, v)->parent;
        return p == WEIR_NONE ? WEIR_OK : add_end(w, p);
    }
    ends = weir_ends(w->g, v, w->subsystem, !w->o.upward);
    for (weir_vertex end; (end = weir_ends_next(&ends)) != WEIR_NONE;)
        if (add_end(w, end))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

static uint32_t depth_below(const weir_walk *w)
{
    return w->o.breadth && w->head > 0 ? w->way[w->head - 1].depth + 1 : 0;
}

static int push(weir_walk *w, weir_vertex v)
{
    struct walk_frame f = {v, 0, w->nends, 0, NULL, depth_below(w)};
    const struct inner *in = inner_of(w->g, v);

    if (w->n == w->cap && weir_array_reserve(&w->way, &w->cap, (size_t)w->n + 1, sizeof *w->way))
        return WEIR_ENOMEM;
    if (w->tree && in)
        f.count = in->nkids, f.kids = in->kids;
    else if (!w->tree && !w->o.breadth && list_ends(w, v))
        return WEIR_ENOMEM;
    if (!w->tree)
        f.count = w->nends - f.first;
    w->way[w->n++] = f;
    return WEIR_OK;
}

/* Marks v as met; false when v was met before. */
static bool meet(weir_walk *w, weir_vertex v)
{
    if (w->tree)
        return true;
    if (w->seen[v / 8] & (1u << v % 8))
        return false;
    w->seen[v / 8] = (uint8_t)(w->seen[v / 8] | 1u << v % 8);
    return true;
}

/* The next root not met yet, or the start. WEIR_NONE at the end. */
static weir_vertex next_root(weir_walk *w)
{
    weir_vertex v;

    if (w->o.start != WEIR_NONE)
        return w->root++ == 0 && meet(w, w->o.start) ? w->o.start : WEIR_NONE;
    do
        v = weir_graph_next_root(w->g, weir_subsystem_name(w->g, w->subsystem), &w->root);
    while (v != WEIR_NONE && !meet(w, v));
    return v;
}

/* Makes the starts of an ordered walk the ends of the first frame; they are met when the walk comes to them. */
static int list_starts(weir_walk *w)
{
    struct walk_frame f = {.v = WEIR_NONE};
    int rc = WEIR_OK;

    for (weir_vertex v; rc == WEIR_OK && (v = next_root(w)) != WEIR_NONE;)
        rc = add_end(w, v);
    memset(w->seen, 0, w->g->limit / 8 + 1);
    f.count = w->nends;
    return rc ? rc : WEIR_ARRAY_ADD(w->way, w->n, w->cap, f);
}

/* The next vertex below a frame not met yet. WEIR_NONE at the end. */
static weir_vertex next_end(weir_walk *w, struct walk_frame *f)
{
    while (f->cursor < f->count) {
        uint32_t i = w->o.reverse ? f->count - 1 - f->cursor : f->cursor;
        weir_vertex v = w->tree ? f->kids[i] : w->ends[f->first + i];
        f->cursor++;
        if (v != WEIR_NONE && meet(w, v))
            return v;
    }
    return WEIR_NONE;
}

/* The subset of `events` that the walk reports of v. */
static int reported(const weir_walk *w, weir_vertex v, unsigned events)
{
    return !w->o.type || kind_of(w->g, v)->type == w->type ? (int)(w->o.events & events) : 0;
}

/* Descends to v. Leaves of a tree are visited without a frame. */
static int descend(weir_walk *w, weir_vertex v, int *event)
{
    w->depth = w->n - w->o.ordered;
    if (w->tree && vertex_at(w->g, v)->inner == WEIR_NONE) {
        w->leaf = v;
        *event = reported(w, v, w->o.leaves ? WEIR_PREORDER | WEIR_POSTORDER : WEIR_PREORDER);
        return 1;
    }
    if (push(w, v))
        return WEIR_ENOMEM;
    *event = reported(w, v, WEIR_PREORDER);
    return 1;
}

/* One step of a depth-first walk: *event is the visit, or 0. Returns 1, 0 at the end, or negative. */
static int step(weir_walk *w, weir_vertex *v, int *event)
{
    bool prune = w->prune;
    weir_vertex next = w->leaf;

    w->prune = false;
    if (next != WEIR_NONE) {
        prune = false; /* nothing is below a leaf */
        w->leaf = WEIR_NONE;
        *v = next;
        *event = reported(w, next, WEIR_POSTORDER);
        if (!w->o.leaves)
            return 1;
    }
    if (w->n == 0) {
        next = next_root(w);
        *v = next;
        return next == WEIR_NONE ? 0 : descend(w, next, event);
    }
    next = prune ? WEIR_NONE : next_end(w, &w->way[w->n - 1]);
    if (next != WEIR_NONE) {
        *v = next;
        return descend(w, next, event);
    }
    *v = w->way[w->n - 1].v;
    if (*v == WEIR_NONE)
        return 0;
    *event = reported(w, *v, WEIR_POSTORDER);
    if (!w->tree)
        w->nends = w->way[w->n - 1].first;
    w->depth = --w->n - w->o.ordered;
    return 1;
}

/* Puts the ends of the last vertex visited into the queue. */
static int enqueue_ends(weir_walk *w)
{
    struct walk_frame *f = &w->way[w->head - 1];
    weir_vertex next;

    w->nends = 0;
    f->first = 0;
    if (!w->tree) {
        if (list_ends(w, f->v))
            return WEIR_ENOMEM;
        f->count = w->nends;
    }
    while ((next = next_end(w, &w->way[w->head - 1])) != WEIR_NONE)
        if (push(w, next))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* One step of a breadth-first walk. */
static int step_breadth(weir_walk *w, weir_vertex *v, int *event)
{
    weir_vertex next;

    if (w->head > 0 && !w->prune && enqueue_ends(w))
        return WEIR_ENOMEM;
    w->prune = false;
    if (w->head == w->n) {
        w->n = w->head = 0;
        next = next_root(w);
        if (next == WEIR_NONE)
            return 0;
        if (push(w, next))
            return WEIR_ENOMEM;
    }
    w->depth = w->way[w->head].depth;
    *v = w->way[w->head++].v;
    *event = reported(w, *v, WEIR_PREORDER);
    return 1;
}

int weir_walk_next(weir_walk *w, weir_vertex *v, weir_err *err)
{
    int event = 0;

    if (w->serial != w->g->serial)
        return weir_fail(err, WEIR_EINVAL, "the graph changed while it was walked");
    while (event == 0) {
        int rc = w->o.breadth ? step_breadth(w, v, &event) : step(w, v, &event);
        if (rc < 0)
            return weir_fail_nomem(err);
        if (rc == 0)
            return WEIR_WALK_DONE;
    }
    return event;
}

/* ---- several visits at once ---- */

static void fill(const weir_graph *g, weir_walk_visit *out, const struct vertex *x, int64_t free)
{
    const struct kind *kind = &g->kinds[x->kind];

    out->generation = x->generation;
    out->type = type_text(g, kind->type);
    out->id = x->id;
    out->size = kind->size;
    out->free = free;
}

void weir_walk_visit_read(const weir_graph *g, weir_walk_visit *visit)
{
    fill(g, visit, vertex_at(g, visit->vertex), weir_vertex_free(g, visit->vertex));
}

static bool is_leaf(const weir_graph *g, weir_vertex v)
{
    return v != WEIR_NONE && vertex_at(g, v)->inner == WEIR_NONE;
}

/* Reads siblings of the last visit that are leaves, as most vertices are; returns the number. */
static int read_leaves(weir_walk *w, weir_walk_visit *out, int max)
{
    const weir_graph *g = w->g;
    const weir_vertex *kid, *end;
    struct walk_frame *f;
    bool open;
    int n = 0;

    if (w->leaf == WEIR_NONE || !w->o.leaves || w->o.reverse || w->n == 0)
        return 0;
    f = &w->way[w->n - 1];
    kid = f->kids + f->cursor;
    end = f->kids + f->count;
    open = weir_vertex_reachable(g, f->v);
    for (; n < max && kid < end && is_leaf(g, *kid); kid++) {
        const struct vertex *x = vertex_at(g, *kid);
        out[n].vertex = w->leaf = *kid;
        out[n].event = reported(w, *kid, WEIR_PREORDER | WEIR_POSTORDER);
        fill(g, &out[n], x, open && state_available(x->state) ? vertex_unallocated(g, *kid) : 0);
        n += out[n].event != 0;
    }
    f->cursor = (uint32_t)(kid - f->kids);
    return n;
}

int weir_walk_read(weir_walk *w, weir_walk_visit *out, int max, weir_err *err)
{
    bool more = true;
    int n = 0;

    if (w->serial != w->g->serial)
        return weir_fail(err, WEIR_EINVAL, "the graph changed while it was walked");
    while (more && n < max) {
        n += read_leaves(w, out + n, max - n);
        if (n == max)
            break;
        out[n].event = weir_walk_next(w, &out[n].vertex, err);
        if (out[n].event <= 0)
            return out[n].event == WEIR_WALK_DONE ? n : out[n].event;
        weir_walk_visit_read(w->g, &out[n]);
        more = !(out[n].event & WEIR_PREORDER) || w->leaf == out[n].vertex;
        n++;
    }
    return n;
}

const weir_vertex *weir_walk_ends(const weir_walk *w, uint32_t *n)
{
    const struct walk_frame *f = w->o.ordered && w->n > 0 ? &w->way[w->n - 1] : NULL;

    *n = f && f->cursor == 0 ? f->count : 0;
    return *n > 0 ? w->ends + f->first : NULL;
}

int weir_walk_reorder(weir_walk *w, const weir_vertex *list, uint32_t n, weir_err *err)
{
    uint32_t wanted;
    const weir_vertex *ends = weir_walk_ends(w, &wanted);

    if (!ends || n != wanted)
        return weir_fail(err, WEIR_EINVAL, "the walk has gone on, or has another number of vertices here");
    memcpy(w->ends + (ends - w->ends), list, n * sizeof *list);
    return WEIR_OK;
}

void weir_walk_prune(weir_walk *w)
{
    w->prune = true;
}

uint32_t weir_walk_depth(const weir_walk *w)
{
    return w->depth;
}
