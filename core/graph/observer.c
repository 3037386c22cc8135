/* observer.c - see observer.h. */
#include "graph/observer.h"

#include <assert.h>
#include <string.h>

#define EVENTS (sizeof(struct weir_observer) / sizeof(void (*)(void)))

_Static_assert(EVENTS <= WEIR_EVENTS, "a graph has a place for the observers of each event");

static bool has_event(const struct weir_observer *o, size_t event)
{
    void (*function)(void);

    memcpy(&function, (const char *)o + event * sizeof function, sizeof function);
    return function != NULL;
}

/* Position of an observer, or of the first free entry for NULL; WEIR_OBSERVERS: none. */
static unsigned place_of(const weir_graph *g, const struct weir_observer *o)
{
    unsigned i = 0;

    while (i < WEIR_OBSERVERS && g->observers[i] != o)
        i++;
    return i;
}

void weir_observe(weir_graph *g, const struct weir_observer *o)
{
    unsigned i = place_of(g, NULL);

    if (place_of(g, o) < WEIR_OBSERVERS)
        return;
    assert(i < WEIR_OBSERVERS);
    g->observers[i] = o;
    for (size_t event = 0; event < EVENTS; event++)
        if (has_event(o, event))
            g->observed_by[event] |= (uint16_t)(1u << i);
}

void weir_observe_end(weir_graph *g, const struct weir_observer *o)
{
    unsigned i = place_of(g, o);

    if (i == WEIR_OBSERVERS)
        return;
    g->observers[i] = NULL;
    for (size_t event = 0; event < EVENTS; event++)
        g->observed_by[event] &= (uint16_t) ~(1u << i);
}

void *weir_record_make(weir_graph *g, enum weir_record which, size_t size, const struct weir_observer *o)
{
    if (!g->records[which])
        g->records[which] = weir_mem_zalloc(1, size);
    if (g->records[which] && o)
        weir_observe(g, o);
    return g->records[which];
}

void weir_record_drop(weir_graph *g, enum weir_record which, const struct weir_observer *o)
{
    weir_mem_free(g->records[which]);
    g->records[which] = NULL;
    if (o)
        weir_observe_end(g, o);
}

void weir_tree_changed(weir_graph *g)
{
    bool linked = weir_graph_edges(g) != g;

    g->serial++;
    if (!linked)
        return;
    g->shuffled++; /* the numbers are in the order of the graph behind, not in the order of this tree */
    WEIR_TELL(g, reset, g);
}
