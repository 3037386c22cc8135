/* observer.h - callbacks for changes of a graph. Private to the core.
 *
 * Records that follow a graph (candidate indexes, node table, nogoods, occupancy, usage totals, reservations, jobs)
 * belong to folders above graph/. The code of each such folder is an observer: a table of functions, by event,
 * registered when the records are made and removed when the records are dropped. So no file calls upward, and a graph
 * without derived records pays nothing. Only `refuse` and `check` can fail: an observer short of memory drops the
 * records of its folder.
 *
 * Invariant: an observer is registered at most once, with its bit in the mask of each event that has a function. An
 * event follows the change of the tree, or of the rows.
 */
#ifndef WEIR_OBSERVER_H
#define WEIR_OBSERVER_H

#include <stddef.h>

#include "graph/graph.h"

struct weir_observer {
    /* Tree. p has `count` new children from number pos on; p WEIR_NONE: the graph has new roots. */
    void (*linked)(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count);
    /* v was removed from the children of the parent, or from the roots; records of v and below v are unchanged. */
    void (*unlinked)(weir_graph *g, weir_vertex v);
    /* v was reclaimed, so that the number of v may be reused, or was detached. */
    void (*reclaimed)(weir_graph *g, weir_vertex v);
    void (*promoted)(weir_graph *g, weir_vertex v);                   /* v, until now a leaf, has an inner record */
    int (*refuse)(const weir_graph *g, weir_vertex v, weir_err *err); /* WEIR_EBUSY: v must not be unlinked */

    /* Pools. An entry of a map of v changed, or, with WEIR_NO_NAME, the rank of v; maps and ranks of many vertices
     * changed. */
    void (*described)(weir_graph *g, weir_vertex v, int map, weir_name key);
    void (*described_many)(weir_graph *g);

    /* Rows. Numbers [first, first + count) are in use from now on; the rows of v have new numbers. */
    void (*rows_given)(weir_graph *g, uint32_t first, uint32_t count);
    void (*rows_moved)(weir_graph *g, weir_vertex v);
    /* The state of v, or the active spans of v, changed: rows up to the root may have changed. */
    void (*used)(weir_graph *g, weir_vertex v);
    /* Children of p from number `from` to `to` changed so, and the rows of p; events for rows above p follow. */
    void (*used_run)(weir_graph *g, weir_vertex p, uint32_t from, uint32_t to);
    /* A span of v or below v changed. `above`: no further event reports rows above the rows of v's parent. */
    void (*spans_changed)(weir_graph *g, weir_vertex v, bool above);

    /* Graph. Vertices are written without events until the next reset: all derived records are void. */
    void (*reset)(weir_graph *g);
    void (*freed)(weir_graph *g);                     /* the graph is being freed */
    size_t (*bytes)(const weir_graph *g);             /* memory of the observer's records */
    int (*check)(const weir_graph *g, weir_err *err); /* recomputes the records and compares, for weir_check() */
};

/* Makes a record of zeros, unless there is one, and registers the observer of the record; `o` may be NULL. Returns the
 * record, NULL where out of memory. */
void *weir_record_make(weir_graph *g, enum weir_record which, size_t size, const struct weir_observer *o);
/* Frees the record, whose contents are freed, if any, and removes the observer. */
void weir_record_drop(weir_graph *g, enum weir_record which, const struct weir_observer *o);
/* The next number of the clock of uses: caches drop the record with the least recent use. */
static inline uint64_t weir_next_use(weir_graph *g)
{
    return ++g->uses;
}
/* Registers an observer, unless registered. O(observers + events) */
void weir_observe(weir_graph *g, const struct weir_observer *o);
/* Removes an observer, if registered. Allowed within a callback. */
void weir_observe_end(weir_graph *g, const struct weir_observer *o);

#define WEIR_EVENT(event) (offsetof(struct weir_observer, event) / sizeof(void (*)(void)))

/* Loops over the observers with a function for `event`; `o` is a pointer variable. */
#define WEIR_EACH_OBSERVER(g, event, o)                                                                                \
    for (unsigned left_ = (g)->observed_by[WEIR_EVENT(event)]; left_ && ((o) = (g)->observers[__builtin_ctz(left_)]);  \
         left_ &= left_ - 1)

/* Counts a change of the tree or of the edges. The first change of a view of a hierarchy ends its link to the graph
 * behind (weir_graph_edges): from then on the view has its own edges and order, so that all derived records are void.
 */
void weir_tree_changed(weir_graph *g);

/* Calls the function of every observer for `event`. */
#define WEIR_TELL(g, event, ...)                                                                                       \
    do {                                                                                                               \
        const struct weir_observer *o_;                                                                                \
        WEIR_EACH_OBSERVER (g, event, o_)                                                                              \
            o_->event(__VA_ARGS__);                                                                                    \
    } while (0)

/* Whether an observer has a function for spans_changed. */
static inline bool spans_observed(const weir_graph *g)
{
    return g->observed_by[WEIR_EVENT(spans_changed)] != 0;
}

#endif
