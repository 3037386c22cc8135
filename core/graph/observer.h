/* observer.h - who is told what happens to a graph. Private to the core.
 *
 * Records that follow a graph (candidate indices, node table, nogoods, occupancy, usage totals, reservations, jobs) stand in rooms
 * above it. Each has a table of events, and is an observer of a graph from the time when it is made there until it is dropped: so a
 * graph of which nobody has asked anything tells nobody, and no file calls upward. No event can fail but `refuse` and `check`: where
 * memory is short an observer drops its records.
 *
 * Invariant: a graph has each observer at most once, and a bit of it for each event that it has a function for. An event comes after the change of the tree, or of the rows, that it tells.
 */
#ifndef WEIR_OBSERVER_H
#define WEIR_OBSERVER_H

#include <stddef.h>

#include "graph/graph.h"

struct weir_observer {
    /* The tree. `count` kids of p from number pos on, or roots (p WEIR_NONE), are new. */
    void (*linked)(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count);
    /* v has left its place below its parent, or among the roots; its records and all below it are as before. */
    void (*unlinked)(weir_graph *g, weir_vertex v);
    void (*reclaimed)(weir_graph *g, weir_vertex v); /* The number of v may be given out again. */
    void (*promoted)(weir_graph *g, weir_vertex v);  /* v, a leaf until now, has an inner record. */
    int (*refuse)(const weir_graph *g, weir_vertex v, weir_err *err); /* WEIR_EBUSY: v must not be unlinked. */

    /* Pools. An entry of a map of v, or, with WEIR_NO_NAME, its rank, has changed; maps and ranks of many vertices have. */
    void (*described)(weir_graph *g, weir_vertex v, int map, weir_name key);
    void (*described_many)(weir_graph *g);

    /* Rows. Numbers [first, first + count) are given out; the rows of v have other numbers than before. */
    void (*rows_given)(weir_graph *g, uint32_t first, uint32_t count);
    void (*rows_moved)(weir_graph *g, weir_vertex v);
    /* The state of v, or its active spans, have changed: rows up to the root may have. */
    void (*used)(weir_graph *g, weir_vertex v);
    /* Kids of p from number `from` to `to` have, and the rows of p; rows above p are told of later. */
    void (*used_run)(weir_graph *g, weir_vertex p, uint32_t from, uint32_t to);
    /* Some span of v, or below it, has changed; `above`: rows above those of v's parent are not told of otherwise. */
    void (*spans_changed)(weir_graph *g, weir_vertex v, bool above);

    /* The whole. Vertices are written without further events until the next reset: what was derived from them is void. */
    void (*reset)(weir_graph *g);
    void (*freed)(weir_graph *g);                         /* The graph goes. */
    size_t (*bytes)(const weir_graph *g);                 /* Memory held for it. */
    int (*check)(const weir_graph *g, weir_err *err);     /* Computes the records anew and compares: for weir_check(). */
};

/* Harmless where the graph has the observer already. O(observers + events) */
void weir_observe(weir_graph *g, const struct weir_observer *o);
/* Harmless where the graph has not. An observer may leave while it is told of something. */
void weir_observe_end(weir_graph *g, const struct weir_observer *o);

#define WEIR_EVENT(event) (offsetof(struct weir_observer, event) / sizeof(void (*)(void)))

/* Each observer that has a function for an event; `o` is a pointer to one. */
#define WEIR_EACH_OBSERVER(g, event, o)                         \
    for (unsigned told_ = (g)->told[WEIR_EVENT(event)];         \
         told_ && ((o) = (g)->observers[__builtin_ctz(told_)]); told_ &= told_ - 1)

/* Tells all of them. */
#define WEIR_TELL(g, event, ...)                   \
    do {                                           \
        const struct weir_observer *o_;            \
        WEIR_EACH_OBSERVER (g, event, o_)          \
            o_->event(__VA_ARGS__);                \
    } while (0)

/* Whether anybody is to be told of changed spans. */
static inline bool spans_observed(const weir_graph *g)
{
    return g->told[WEIR_EVENT(spans_changed)] != 0;
}

#endif
