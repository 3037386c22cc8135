/* walk.h - declarations shared by the files of g:walk. */
#ifndef WEIRLUA_WALK_H
#define WEIRLUA_WALK_H

#include "handle/vertex.h"

/* User values of the userdata of a walk. */
enum walk_slot {
    WALK_GRAPH = 1, /* the handle of the graph */
    WALK_PRUNE,     /* a function, or a list of functions */
    WALK_EVALUATE,  /* a function, or a list of functions */
    WALK_TYPE,      /* the string behind walk.type */
    WALK_COMPARE,   /* the function that orders children */
    WALK_SLOTS = WALK_COMPARE
};

struct walk {
    weir_walk *w;
    bool open;
    bool compares;                /* a Lua function orders what is below each vertex */
    bool unsorted;                /* what is below the last visit is not in that order yet */
    bool skips;                   /* the core passes over vertices of other types: a step may pass over the machine */
    uint32_t number;              /* of the graph */
    unsigned events;              /* to report; the core may report more */
    uint32_t nprune, nevaluate;   /* numbers of functions; for 1 the user value is the function itself */
    const char *type;             /* the only type to report, where the core does not filter types */
    struct weirlua *state;        /* the state with the graphs */
    struct weirlua_fields fields; /* passed to each function after all further arguments */
    uint64_t serial;              /* of the structure of the graph, when the walk began */
    size_t charged;               /* bytes of the core's walk charged to a sandbox so far */
};

/* Returns the graph of an open walk; raises where the graph was closed. */
static inline struct weirlua_graph *weirlua_walk_graph(lua_State *L, const struct walk *walk)
{
    struct weirlua_graph *handle = weirlua_graph_find(walk->state, walk->number);

    if (!handle)
        luaL_error(L, "the graph was closed while it was walked");
    return handle;
}

/* walk.c: charges visits, and the memory by which the core's walk has grown, to the sandbox. Raises where the sandbox
 * has no memory, budget or time left. */
void weirlua_walk_charge_more(lua_State *L, struct walk *walk, int64_t visits);
static inline void weirlua_walk_charge(lua_State *L, struct walk *walk, int64_t visits)
{
    if (walk->state->readonly)
        weirlua_walk_charge_more(L, walk, visits);
}

/* walk_drive.c: runs the walk at index 3 to the end and adds vertices with scores to the accumulator. Only for walks
 * accepted by weirlua_walk_drivable(): an order of the core, one `evaluate` filter, at most one `prune` filter. */
bool weirlua_walk_drivable(const struct walk *walk);
void weirlua_walk_drive(lua_State *L, struct walk *walk, weir_accum *accum);

/* walk_order.c: sorts what is below the last visit by the function. `at` is the stack index of the walk. */
void weirlua_walk_sort(lua_State *L, int at, struct walk *walk);

/* walk_open.c: reads the options at index 2 into the closed walk at index 3. Raises for wrong options. */
void weirlua_walk_read(lua_State *L, struct walk *walk, struct weirlua_graph *handle);

/* walk.c */
int weirlua_walk(lua_State *L); /* g:walk{...} */
void weirlua_walk_open(lua_State *L, struct weirlua *s);

#endif
