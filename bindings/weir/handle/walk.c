/* walk.c - g:walk{...}. Invariant: the walk lives in a userdata that anchors the graph, and the graph is looked up
 * again after each call of Lua code, so that a filter may do anything, even close the graph. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "handle/walk.h"
#include "policy/charge.h"

#include <string.h>

#define WALK  "weir.walk"
#define VISIT 64 /* steps of one, and of a call of a filter that may be a function in C */

static int walk_gc(lua_State *L)
{
    struct walk *walk = luaL_checkudata(L, 1, WALK);
    weir_walk *w = walk->w;

    walk->w = NULL;
    walk->open = false;
    weir_walk_free(w);
    if (walk->charged)
        weirlua_sandbox_give(L, walk->charged);
    walk->charged = 0;
    return 0;
}

void weirlua_walk_charge_more(lua_State *L, struct walk *walk, int64_t visits)
{
    size_t bytes = walk->w ? weir_walk_bytes(walk->w) : 0;

    if (bytes > walk->charged) {
        weirlua_sandbox_take(L, bytes - walk->charged);
        walk->charged = bytes;
    }
    weirlua_sandbox_spend(L, visits * VISIT);
}

/* ---- visits ---- */

/* Pushes the fields of v and returns the number. Raises where an earlier filter has removed v. */
static int push_fields(lua_State *L, const struct walk *walk, const struct weirlua_graph *handle, weir_vertex v)
{
    if (walk->fields.n == 0)
        return 0;
    if (weir_graph_serial(handle->g) != walk->serial)
        luaL_error(L, "the graph changed while it was walked");
    return weirlua_fields_push(L, handle, v, &walk->fields);
}

/* Pushes the i-th of the n functions in a user value of the walk at index `at`. */
static void push_filter(lua_State *L, int at, int slot, uint32_t i, uint32_t n)
{
    lua_getiuservalue(L, at, slot);
    if (n > 1) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        lua_replace(L, -2);
    }
}

/* Calls the function on top of the stack with v and the fields, and leaves the result. Raises where the graph was
 * closed before or by the function. */
static void call_filter(lua_State *L, const struct walk *walk, const struct weirlua_graph *handle, weir_vertex v)
{
    weirlua_push_vertex(L, handle, v);
    lua_call(L, 1 + push_fields(L, walk, handle, v), 1);
    if (!walk->open)
        luaL_error(L, "the walk was closed by its own filter");
    weirlua_walk_graph(L, walk);
}

/* Calls the pruning filters on v: all must agree to continue; the first that refuses ends the descent at v. */
static void ask_prune(lua_State *L, int at, struct walk *walk, const struct weirlua_graph *handle, weir_vertex v)
{
    bool on = true;

    for (uint32_t i = 0; on && i < walk->nprune; i++) {
        push_filter(L, at, WALK_PRUNE, i, walk->nprune);
        call_filter(L, walk, handle, v);
        on = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    if (on)
        return;
    walk->unsorted = false;
    weir_walk_prune(walk->w);
}

/* Returns the next event of the core. Clears no weir_err, since clearing takes longer than a step. */
static int pull(lua_State *L, int at, struct walk *walk, weir_vertex *v)
{
    int64_t begin;
    int event;

    if (walk->unsorted) {
        walk->unsorted = false;
        weirlua_walk_sort(L, at, walk);
    }
    begin = walk->skips ? weirlua_timing(walk->state) : 0;
    event = weir_walk_next(walk->w, v, NULL);
    if (walk->skips)
        weirlua_spend_since(L, walk->state, begin);
    if (event < 0)
        luaL_error(L, event == WEIR_EINVAL ? "the graph changed while it was walked" : "out of memory");
    weirlua_walk_charge(L, walk, 1);
    walk->unsorted = walk->compares && event == WEIR_PREORDER;
    return event;
}

/* Returns the next event to report; 0 at the end. The graph is open before and after. */
static int next_visit(lua_State *L, int at, struct walk *walk, weir_vertex *v)
{
    struct weirlua_graph *handle = weirlua_walk_graph(L, walk);
    bool all = walk->nprune || walk->compares; /* the core does not filter types */
    int event;

    while ((event = pull(L, at, walk, v)) != WEIR_WALK_DONE) {
        if (walk->nprune && event == WEIR_PREORDER)
            ask_prune(L, at, walk, handle, *v);
        if ((unsigned)event & walk->events)
            if (!all || !walk->type || strcmp(weir_vertex_type(handle->g, *v), walk->type) == 0)
                return event;
    }
    return 0;
}

/* Pushes vertex, event, depth and fields. Returns the number of values. */
static int push_visit(lua_State *L, const struct walk *walk, weir_vertex v, int event)
{
    struct weirlua_graph *handle = weirlua_walk_graph(L, walk);

    weirlua_push_vertex(L, handle, v);
    lua_pushstring(L, event == WEIR_PREORDER ? "pre" : "post");
    lua_pushinteger(L, weir_walk_depth(walk->w));
    return 3 + push_fields(L, walk, handle, v);
}

/* The iterator of a for loop. Upvalue 2 is the walk; the arguments of the loop are ignored. */
static int walk_step(lua_State *L)
{
    struct walk *walk = lua_touserdata(L, lua_upvalueindex(2));
    weir_vertex v = WEIR_NONE;
    int event;

    if (!walk->open)
        return luaL_error(L, "the walk is closed");
    event = next_visit(L, lua_upvalueindex(2), walk, &v);
    return event ? push_visit(L, walk, v, event) : 0;
}

/* The form with a callback: returns true when the walk came to the end, false when the function at index 4 ended the
 * walk. */
static int tell_all(lua_State *L, struct walk *walk)
{
    weir_vertex v = WEIR_NONE;
    bool on = true;
    int event;

    while (on && (event = next_visit(L, 3, walk, &v)) != 0) {
        lua_pushvalue(L, 4);
        lua_call(L, push_visit(L, walk, v, event), 1);
        if (!walk->open)
            return luaL_error(L, "the walk was closed by its own filter");
        on = !lua_isboolean(L, -1) || lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    lua_pushboolean(L, on);
    return 1;
}

/* ---- the accumulator ---- */

static void free_accum(void *p)
{
    weir_accum_free(p);
}

enum walk_verdict { SCORED, NO_CANDIDATE, STOP };

/* Calls the evaluating filters on v and sums the scores. If a filter returns nil, v is no candidate; false ends
 * the walk. */
static enum walk_verdict ask_evaluate(lua_State *L, struct walk *walk, weir_vertex v, double *score)
{
    *score = 0;
    for (uint32_t i = 0; i < walk->nevaluate; i++) {
        push_filter(L, 3, WALK_EVALUATE, i, walk->nevaluate);
        call_filter(L, walk, weirlua_walk_graph(L, walk), v);
        if (lua_isnil(L, -1))
            return lua_pop(L, 1), NO_CANDIDATE;
        if (lua_isboolean(L, -1) && !lua_toboolean(L, -1))
            return lua_pop(L, 1), STOP;
        if (lua_type(L, -1) != LUA_TNUMBER)
            luaL_error(L, "evaluate must return a number, nil or false, not %s", luaL_typename(L, -1));
        *score += lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return SCORED;
}

/* Runs the walk at index 3 to the end and pushes vertices with scores, best first. */
static int collect(lua_State *L, struct walk *walk, int64_t best)
{
    struct weirlua_owner *handle = weirlua_owner_push(L, free_accum);
    weir_vertex v = WEIR_NONE;
    enum walk_verdict verdict = SCORED;
    double score;
    int rc;

    handle->p = weir_accum_new((size_t)best);
    if (!handle->p)
        return luaL_error(L, "out of memory");
    if (weirlua_walk_drivable(walk)) {
        weirlua_walk_drive(L, walk, handle->p);
        verdict = STOP;
    }
    while (verdict != STOP && next_visit(L, 3, walk, &v)) {
        verdict = ask_evaluate(L, walk, v, &score);
        rc = verdict == SCORED ? weir_accum_add(handle->p, v, score) : WEIR_OK;
        if (rc)
            return luaL_error(L,
                              rc == WEIR_ENOMEM ? "out of memory" : "evaluate returned a score that is not a number");
    }
    weirlua_push_scores(L, walk->number, handle->p);
    weirlua_owner_clear(handle);
    return 1;
}

/* ---- g:walk ---- */

static int64_t best_of(lua_State *L, bool evaluates)
{
    int64_t best = weirlua_field_integer(L, 2, "best", 0);

    if (best < 0 || (best > 0 && !evaluates))
        luaL_error(L, "field 'best': a count above 0, with evaluate, expected");
    return best;
}

/* Pushes the function `visit`, or nil. Returns whether there is a function. */
static bool push_callback(lua_State *L, bool evaluates)
{
    int type;

    lua_pushliteral(L, "visit");
    type = lua_rawget(L, 2);
    if (type != LUA_TNIL && (type != LUA_TFUNCTION || evaluates))
        luaL_error(L, "field 'visit': a function, without evaluate, expected");
    return type != LUA_TNIL;
}

static int push_iterator(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 3);
    lua_pushcclosure(L, walk_step, 2);
    lua_pushvalue(L, 3);
    lua_pushnil(L);
    lua_pushvalue(L, 3);
    return 4;
}

int weirlua_walk(lua_State *L)
{
    static const char *const known[] = {"start",    "subsystem", "order", "reverse",        "upward", "type", "prune",
                                        "evaluate", "best",      "visit", "order_children", "fields", NULL};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    struct walk *walk;
    int64_t best;

    lua_settop(L, 2);
    weirlua_options(L, 2, known);
    walk = lua_newuserdatauv(L, sizeof *walk, WALK_SLOTS);
    *walk = (struct walk){0};
    luaL_setmetatable(L, WALK);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 3, WALK_GRAPH);
    weirlua_walk_read(L, walk, handle);
    best = best_of(L, walk->nevaluate > 0);
    if (push_callback(L, walk->nevaluate > 0))
        return tell_all(L, walk);
    return walk->nevaluate ? collect(L, walk, best) : push_iterator(L);
}

void weirlua_walk_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__gc", walk_gc}, {"__close", walk_gc}, {NULL, NULL}};
    weirlua_class(L, s, WALK, NULL, meta);
}
