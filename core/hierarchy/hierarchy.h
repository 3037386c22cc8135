/* hierarchy.h - a graph as the tree of a subsystem other than containment, so that a match searches in this hierarchy
 * with rows, indices and schedules of its own. Private to the core.
 *
 * A view is a second graph with the vertices, the UUIDs and the numbers of the first, and a different tree:
 *   - a vertex with edges of the subsystem is below the vertex that its first edge comes from, nearest to a source of
 *     the subsystem; a source is a root;
 *   - a vertex without such edges stays below its parent in containment, where this parent is in the tree of the view;
 *   - every other vertex (the racks above nodes that hang on power units) is detached in the view;
 *   - a root without children and with edges of further subsystems stays a root.
 * A vertex whose edges come from several vertices is *shared*. A match that fails in this tree may be tried in a second
 * view, in which the shared vertices are below other parents (match/assign.c).
 *
 * In the view, subsystem number 0 has the name of the subsystem, and edges named "containment" lead to the vertices
 * that have a different parent in containment, or are detached in the view.
 *
 * A vertex has *moved* where the view has it below a different parent, or the parent in containment is outside of the
 * tree of the view. An exclusive pick in the graph includes the vertices below in containment, one in the view those
 * below in the view: picks are translated both ways (hierarchy_picks.c).
 *
 * Invariant: once brought up to date, the view has the states, maps and jobs of the graph, the jobs as picks that block
 * in the view exactly what they block in the graph.
 */
#ifndef WEIR_HIERARCHY_H
#define WEIR_HIERARCHY_H

#include "graph/journal.h"
#include "time/job_table.h"

enum {
    VIEW_MOVED = 1, /* the vertex has moved */
    VIEW_OVER = 2,  /* a vertex below in containment has moved */
    VIEW_FEEDS = 4  /* a vertex below in the view has moved */
};

struct hierarchy {
    char *name; /* of the subsystem */
    weir_graph *view;
    uint8_t *flags;  /* VIEW_ bits by vertex */
    uint64_t serial; /* of the graph when the view was made */
    struct weir_follower changes;
    weir_vertex *shared; /* the vertices of the tree with several parents */
    uint32_t nshared;
    weir_vertex *choice; /* of a second view: the parents chosen, by vertex; WEIR_NONE: the first. Else NULL */
    struct hierarchy *next;
};

struct hierarchies {
    struct hierarchy *first;
};

/* The views of a graph by other hierarchies; NULL: none. */
static inline struct hierarchies *hierarchies_in(const weir_graph *g)
{
    return g->records[RECORD_HIERARCHIES];
}

/* Picks, in an array that grows. */
struct pick_list {
    weir_pick *list;
    uint32_t n, cap;
};

/* Finds or makes the view of a subsystem, and brings it up to date. WEIR_ENOENT: no such subsystem, or containment;
 * WEIR_EINVAL, WEIR_ELIMIT: the subsystem is no hierarchy that can be searched. The view belongs to the graph.
 * O(changes since the last call), O(n) the first time and after changes of the tree or of edges. */
int weir_hierarchy_find(weir_graph *g, const char *name, struct hierarchy **out, weir_err *err) WEIR_CHECKED;
/* As weir_hierarchy_find(), for the second view, with the parents in choice[], by vertex. A parent in choice[] must not
 * be below its vertex. O(n) where choice[] is another than the last time. */
int weir_hierarchy_choose(weir_graph *g, const char *name, const weir_vertex *choice, struct hierarchy **out,
                          weir_err *err) WEIR_CHECKED;
/* Chooses for each shared vertex the first parent over which passes(data, vertex) is 1 for every vertex on the way to
 * a source; where that is the parent in the tree, or there is none, choice[] stays WEIR_NONE, as it has to be before.
 * passes() returns 1, 0 or negative, and may read choice[]. Returns 1: some parent was chosen; 0; or negative.
 * O(edges of shared vertices * depth) */
int weir_hierarchy_open(const weir_graph *g, const struct hierarchy *h, weir_vertex *choice,
                        int (*passes)(void *data, weir_vertex v), void *data) WEIR_CHECKED;
/* Whether v is in the tree of the view. */
bool weir_hierarchy_has(const struct hierarchy *h, weir_vertex v);
/* Makes the view of subsystem number s: h->view and h->flags. */
int weir_hierarchy_link(const weir_graph *g, uint32_t s, struct hierarchy *h, weir_err *err) WEIR_CHECKED;
/* Translates picks of a job of the graph to picks of the view. Free out->list. WEIR_ENOMEM */
int weir_hierarchy_project(const weir_graph *g, const struct hierarchy *h, const weir_pick *picks, uint32_t n,
                           struct pick_list *out) WEIR_CHECKED;
/* Translates picks found in the view to picks of the graph. Free out->list. WEIR_ENOMEM */
int weir_hierarchy_expand(const weir_graph *g, const struct hierarchy *h, const weir_pick *picks, uint32_t n,
                          struct pick_list *out) WEIR_CHECKED;
/* The state that v has in the view: its own, or that of a vertex above in containment that is not above in the view. */
int weir_hierarchy_state(const weir_graph *g, const struct hierarchy *h, weir_vertex v);

#endif
