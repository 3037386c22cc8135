/* walk.c - walks over one subsystem, pulled one visit at a time. Invariant: the stack holds the way from the start to
 * the vertex visited last, with a cursor into the edges of each; the structure has not changed since the walk began. */
#include "graph.h"

#include <string.h>

struct frame {
    weir_vertex v;
    uint32_t cursor; /* edges taken so far */
    uint32_t edges;  /* how many there are */
};

struct weir_walk {
    const weir_graph *g;
    weir_walk_options o;
    char *subsystem;
    bool tree; /* containment downward: no vertex can be met twice */
    weir_type type;
    uint64_t serial;
    struct frame *stack;
    uint32_t depth, cap;
    uint32_t root;  /* the next root to start from */
    uint8_t *seen;  /* bits by vertex, where it is not a tree */
    bool prune, fresh; /* fresh: the top was pushed and not yet visited */
};

weir_walk *weir_walk_new(const weir_graph *g, const weir_walk_options *o, weir_err *err)
{
    weir_walk *w;
    const char *name = o->subsystem ? o->subsystem : "containment";

    if (o->start != WEIR_NONE && !vertex_valid(g, o->start)) {
        weir_fail(err, WEIR_ENOENT, "there is no vertex %u to start from", o->start);
        return NULL;
    }
    w = weir_mem_zalloc(1, sizeof *w);
    if (!w) {
        weir_fail_nomem(err);
        return NULL;
    }
    w->g = g;
    w->o = *o;
    w->serial = g->serial;
    w->tree = strcmp(name, "containment") == 0 && !o->upward;
    w->type = o->type ? weir_type_find(g, o->type) : WEIR_NO_TYPE;
    w->subsystem = weir_mem_strdup(name);
    w->seen = w->tree ? NULL : weir_mem_zalloc(g->limit / 8 + 1, 1);
    if (!w->subsystem || (!w->tree && !w->seen)) {
        weir_walk_free(w);
        weir_fail_nomem(err);
        return NULL;
    }
    w->o.subsystem = w->subsystem;
    if (w->o.events == 0)
        w->o.events = WEIR_PREORDER;
    return w;
}

void weir_walk_free(weir_walk *w)
{
    if (w) {
        weir_mem_free(w->subsystem);
        weir_mem_free(w->stack);
        weir_mem_free(w->seen);
        weir_mem_free(w);
    }
}

static uint32_t count_edges(const weir_walk *w, weir_vertex v)
{
    weir_edge e;
    uint32_t n = 0;

    if (w->tree)
        return inner_of(w->g, v) ? inner_of(w->g, v)->nkids : 0;
    while (weir_vertex_edge(w->g, v, w->subsystem, !w->o.upward, n, &e))
        n++;
    return n;
}

/* The vertex at the end of the i-th edge; WEIR_NONE for a hole. */
static weir_vertex end_of_edge(const weir_walk *w, weir_vertex v, uint32_t i)
{
    weir_edge e;

    if (w->tree)
        return inner_of(w->g, v)->kids[i];
    if (!weir_vertex_edge(w->g, v, w->subsystem, !w->o.upward, i, &e))
        return WEIR_NONE;
    return w->o.upward ? e.source : e.target;
}

/* Marks v as met; false when it was met before. */
static bool meet(weir_walk *w, weir_vertex v)
{
    if (w->tree)
        return true;
    if (w->seen[v / 8] & (1u << v % 8))
        return false;
    w->seen[v / 8] = (uint8_t)(w->seen[v / 8] | 1u << v % 8);
    return true;
}

static int push(weir_walk *w, weir_vertex v)
{
    if (weir_array_reserve(&w->stack, &w->cap, (size_t)w->depth + 1, sizeof *w->stack))
        return WEIR_ENOMEM;
    w->stack[w->depth++] = (struct frame){v, 0, count_edges(w, v)};
    w->fresh = true;
    return WEIR_OK;
}

/* Pushes the next root, or the start. 1, 0 at the end, or negative. */
static int push_root(weir_walk *w)
{
    weir_vertex v = w->o.start;
    int rc;

    if (v != WEIR_NONE)
        v = w->root++ == 0 ? v : WEIR_NONE;
    else
        v = weir_graph_root(w->g, w->subsystem, w->root++);
    if (v == WEIR_NONE)
        return 0;
    if (!meet(w, v))
        return push_root(w);
    rc = push(w, v);
    return rc ? rc : 1;
}

/* Pushes the next child of the top that was not met. 1, 0 when there is none, or negative. */
static int push_child(weir_walk *w)
{
    struct frame *f = &w->stack[w->depth - 1];

    while (f->cursor < f->edges) {
        uint32_t i = w->o.reverse ? f->edges - 1 - f->cursor : f->cursor;
        weir_vertex v = end_of_edge(w, f->v, i);
        f->cursor++;
        if (v != WEIR_NONE && meet(w, v)) {
            int rc = push(w, v);
            return rc ? rc : 1;
        }
    }
    return 0;
}

static bool reported(const weir_walk *w, weir_vertex v, unsigned event)
{
    return (w->o.events & event) && (!w->o.type || kind_of(w->g, v)->type == w->type);
}

/* One step: *event is set when a visit is to be told. */
static int step(weir_walk *w, weir_vertex *v, int *event)
{
    int rc;

    if (w->depth == 0)
        return push_root(w);
    *v = w->stack[w->depth - 1].v;
    if (w->fresh) {
        w->fresh = false;
        *event = reported(w, *v, WEIR_PREORDER) ? WEIR_PREORDER : 0;
        return 1;
    }
    rc = w->prune ? 0 : push_child(w);
    w->prune = false;
    if (rc == 0) {
        *event = reported(w, *v, WEIR_POSTORDER) ? WEIR_POSTORDER : 0;
        w->depth--;
        rc = 1;
    }
    return rc;
}

int weir_walk_next(weir_walk *w, weir_vertex *v, weir_err *err)
{
    int event = 0;

    if (w->serial != w->g->serial)
        return weir_fail(err, WEIR_EINVAL, "the graph changed while it was walked");
    while (event == 0) {
        int rc = step(w, v, &event);
        if (rc < 0)
            return weir_fail_nomem(err);
        if (rc == 0)
            return WEIR_WALK_DONE;
    }
    return event;
}

void weir_walk_prune(weir_walk *w)
{
    w->prune = true;
}

uint32_t weir_walk_depth(const weir_walk *w)
{
    return w->depth ? w->depth - 1 : 0;
}
