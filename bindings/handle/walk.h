/* walk.h - what the files of g:walk share. */
#ifndef WEIRLUA_WALK_H
#define WEIRLUA_WALK_H

#include "handle/weirlua.h"

/* User values of a walk. */
enum walk_slot {
    WALK_GRAPH = 1, /* keeps the graph */
    WALK_PRUNE,     /* a function, or a list of several */
    WALK_EVALUATE,  /* the same */
    WALK_TYPE,      /* keeps the text of `type` */
    WALK_COMPARE,   /* the order of the children; the rest only with it: */
    WALK_FRAMES,    /* a list of struct frame, the way down */
    WALK_SEEN,      /* bits by vertex */
    WALK_SLOTS = WALK_SEEN
};

/* Either the core walks (w), or the children are put in an order by a Lua function (compares). */
struct walk {
    weir_walk *w;
    bool open, compares;
    uint32_t number;            /* of the graph */
    unsigned events;            /* to tell; the core may be asked for more */
    uint32_t nprune, nevaluate; /* functions; 1: the slot is the function itself */
    const char *type;           /* only these, where the core does not sort them out */
    struct weirlua *state;      /* where graphs are found */
    struct weirlua_fields fields; /* that each function gets after its other arguments */
    uint64_t serial;              /* of the graph's structure */

    /* With a Lua order only. */
    uint32_t nframes;
    uint32_t depth;
    weir_vertex pending; /* told in preorder, and not yet descended into */
    bool cut, upward, reverse;
    const char *subsystem; /* it belongs to the core */
    size_t charged;        /* bytes of the walk of the core, in a sandbox */
};

/* The graph of an open walk; raises when it was closed. */
static inline struct weirlua_graph *weirlua_walk_graph(lua_State *L, const struct walk *walk)
{
    struct weirlua_graph *box = weirlua_graph_find(walk->state, walk->number);

    if (!box)
        luaL_error(L, "the graph was closed while it was walked");
    return box;
}

/* walk.c: charges what the walk of the core has more by now to the sandbox it runs in. Raises. */
void weirlua_walk_charge_more(lua_State *L, struct walk *walk);
static inline void weirlua_walk_charge(lua_State *L, struct walk *walk)
{
    if (walk->state->readonly)
        weirlua_walk_charge_more(L, walk);
}

/* walk_drive.c: the walk at index 3 to its end, into the accumulator; for those that can be. */
bool weirlua_walk_drivable(const struct walk *walk);
void weirlua_walk_drive(lua_State *L, struct walk *walk, weir_accum *accum);

/* walk_order.c: begins at `start`, or at the roots; gives the next event, 0 at the end. `at` is the walk's index. */
void weirlua_order_begin(lua_State *L, int at, struct walk *walk, weir_vertex start);
int weirlua_order_next(lua_State *L, int at, struct walk *walk, weir_vertex *v);

/* walk_open.c: reads the options at index 2 into the closed walk at index 3. */
void weirlua_walk_read(lua_State *L, struct walk *walk, struct weirlua_graph *box);

#endif
