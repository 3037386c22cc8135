/* walk.c - g:walk{...}. Invariant: the walk lives in a userdata that anchors its graph, and the graph is looked up
 * again after each call of Lua code, so that a filter may do anything, closing the graph included. */
#include "weirlua.h"

#include <string.h>

#define WALK "weir.walk"

/* User values: 1 the graph, 2 the prune function or nil, 3 the evaluate function or nil. */
struct walk {
    weir_walk *w;
    uint32_t number;
    unsigned events; /* to tell; the core may be asked for more */
    bool prunes;
    const char *type; /* only these, checked here when there is a prune function; it belongs to the options, kept as
                         user value 4 */
};

static int walk_gc(lua_State *L)
{
    struct walk *walk = luaL_checkudata(L, 1, WALK);
    weir_walk *w = walk->w;

    walk->w = NULL;
    weir_walk_free(w);
    return 0;
}

static struct weirlua_graph *graph_of(lua_State *L, const struct walk *walk)
{
    struct weirlua_graph *box = weirlua_graph_find(weirlua_of(L), walk->number);

    if (!box)
        luaL_error(L, "the graph was closed while it was walked");
    return box;
}

/* Asks the prune function of the walk at index `at`. */
static void ask_prune(lua_State *L, int at, struct walk *walk, weir_vertex v)
{
    lua_getiuservalue(L, at, 2);
    weirlua_push_vertex(L, graph_of(L, walk), v);
    lua_call(L, 1, 1);
    graph_of(L, walk);
    if (!walk->w)
        luaL_error(L, "the walk was closed by its own filter");
    if (!lua_toboolean(L, -1))
        weir_walk_prune(walk->w);
    lua_pop(L, 1);
}

/* The next visit to tell; 0 at the end. */
static int next_visit(lua_State *L, int at, struct walk *walk, weir_vertex *v)
{
    weir_err err = {0};
    int event;

    for (;;) {
        struct weirlua_graph *box = graph_of(L, walk);
        event = weir_walk_next(walk->w, v, &err);
        if (event < 0)
            return weirlua_raise(L, &err);
        if (event == WEIR_WALK_DONE)
            return 0;
        if (walk->prunes && event == WEIR_PREORDER)
            ask_prune(L, at, walk, *v);
        if ((unsigned)event & walk->events)
            if (!walk->prunes || !walk->type || strcmp(weir_vertex_type(box->g, *v), walk->type) == 0)
                return event;
    }
}

/* Upvalue 2 is the walk; what is passed does not matter. */
static int walk_step(lua_State *L)
{
    struct walk *walk = lua_touserdata(L, lua_upvalueindex(2));
    weir_vertex v = WEIR_NONE;
    int event;

    if (!walk->w)
        return luaL_error(L, "the walk is closed");
    event = next_visit(L, lua_upvalueindex(2), walk, &v);
    if (!event)
        return 0;
    weirlua_push_vertex(L, graph_of(L, walk), v);
    lua_pushstring(L, event == WEIR_PREORDER ? "pre" : "post");
    return 2;
}

/* ---- the accumulator ---- */

static void free_accum(void *p)
{
    weir_accum_free(p);
}

static int push_best(lua_State *L, const struct walk *walk, weir_accum *a)
{
    size_t n = weir_accum_count(a);

    lua_newtable(L);
    for (size_t i = 0; i < n; i++) {
        double score = 0;
        weir_vertex v = weir_accum_get(a, i, &score);
        struct weirlua_graph *box = graph_of(L, walk);
        if (!weir_vertex_live(box->g, v))
            return luaL_error(L, "the graph changed while it was walked");
        lua_createtable(L, 0, 2);
        weirlua_push_vertex(L, box, v);
        lua_setfield(L, -2, "vertex");
        lua_pushnumber(L, score);
        lua_setfield(L, -2, "score");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* Runs the walk at index `at` to its end. */
static int collect(lua_State *L, int at, struct walk *walk, lua_Integer best)
{
    struct weirlua_box *box = weirlua_box_push(L, free_accum);
    weir_vertex v = WEIR_NONE;

    box->p = weir_accum_new((size_t)best);
    if (!box->p)
        return luaL_error(L, "out of memory");
    while (next_visit(L, at, walk, &v)) {
        lua_getiuservalue(L, at, 3);
        weirlua_push_vertex(L, graph_of(L, walk), v);
        lua_call(L, 1, 1);
        if (!walk->w)
            return luaL_error(L, "the walk was closed by its own filter");
        if (!lua_isnil(L, -1)) {
            if (lua_type(L, -1) != LUA_TNUMBER)
                return luaL_error(L, "evaluate must return a number or nil, not %s", luaL_typename(L, -1));
            if (weir_accum_add(box->p, v, lua_tonumber(L, -1)))
                return luaL_error(L, "evaluate returned a score that is not a number");
        }
        lua_pop(L, 1);
    }
    return push_best(L, walk, box->p);
}

/* ---- options ---- */

static bool take_function(lua_State *L, int table, const char *key, int walk, int slot)
{
    int type;

    lua_pushstring(L, key);
    type = lua_rawget(L, table);
    if (type != LUA_TNIL && type != LUA_TFUNCTION)
        luaL_error(L, "field '%s': function expected, got %s", key, luaL_typename(L, -1));
    lua_setiuservalue(L, walk, slot);
    return type == LUA_TFUNCTION;
}

static unsigned events_of(lua_State *L, int table, bool evaluates)
{
    const char *order = weirlua_field_string(L, table, "order", evaluates ? "post" : "pre");

    if (strcmp(order, "pre") == 0)
        return WEIR_PREORDER;
    if (strcmp(order, "post") == 0)
        return WEIR_POSTORDER;
    if (strcmp(order, "both") != 0 || evaluates)
        luaL_error(L, "field 'order': pre, post%s expected, got '%s'", evaluates ? "" : " or both", order);
    return WEIR_PREORDER | WEIR_POSTORDER;
}

static weir_vertex start_of(lua_State *L, int table, const struct weirlua_graph *box)
{
    weir_vertex v = WEIR_NONE;

    lua_pushliteral(L, "start");
    if (lua_rawget(L, table) != LUA_TNIL) {
        if (!lua_islightuserdata(L, -1))
            luaL_error(L, "field 'start': vertex expected, got %s", luaL_typename(L, -1));
        v = weirlua_check_vertex_of(L, weirlua_of(L), lua_gettop(L), box);
    }
    lua_pop(L, 1);
    return v;
}

static int64_t best_of(lua_State *L, int table, bool evaluates)
{
    int64_t best = weirlua_field_integer(L, table, "best", 0);

    if (best < 0 || (best > 0 && !evaluates))
        luaL_error(L, "field 'best': a count above 0, beside evaluate, expected");
    return best;
}

/* Opens the closed walk at index 3 by the options at index 2. */
static void open_walk(lua_State *L, struct walk *walk, struct weirlua_graph *box, bool evaluates)
{
    weir_walk_options o = {.start = start_of(L, 2, box)};
    weir_err err = {0};

    o.subsystem = weirlua_field_string(L, 2, "subsystem", NULL);
    o.reverse = weirlua_field_boolean(L, 2, "reverse", false);
    o.upward = weirlua_field_boolean(L, 2, "upward", false);
    walk->type = weirlua_field_string(L, 2, "type", NULL);
    walk->events = events_of(L, 2, evaluates);
    walk->number = box->number;
    o.events = walk->prunes ? walk->events | WEIR_PREORDER : walk->events;
    o.type = walk->prunes ? NULL : walk->type;
    walk->w = weir_walk_new(box->g, &o, &err);
    if (!walk->w)
        weirlua_raise(L, &err);
}

int weirlua_walk(lua_State *L)
{
    static const char *const known[] = {"start", "subsystem", "order",    "reverse", "upward",
                                        "type",  "prune",     "evaluate", "best",    NULL};
    struct weirlua_graph *box = weirlua_check_graph(L, weirlua_of(L), 1);
    struct walk *walk;
    bool evaluates;
    int64_t best;

    lua_settop(L, 2);
    weirlua_options(L, 2, known);
    walk = lua_newuserdatauv(L, sizeof *walk, 4);
    *walk = (struct walk){0};
    luaL_setmetatable(L, WALK);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 3, 1);
    lua_pushliteral(L, "type");
    lua_rawget(L, 2);
    lua_setiuservalue(L, 3, 4);
    walk->prunes = take_function(L, 2, "prune", 3, 2);
    evaluates = take_function(L, 2, "evaluate", 3, 3);
    best = best_of(L, 2, evaluates);
    open_walk(L, walk, box, evaluates);
    if (evaluates)
        return collect(L, 3, walk, best);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 3);
    lua_pushcclosure(L, walk_step, 2);
    lua_pushvalue(L, 3);
    lua_pushnil(L);
    lua_pushvalue(L, 3);
    return 4;
}

void weirlua_walk_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__gc", walk_gc}, {"__close", walk_gc}, {NULL, NULL}};
    weirlua_class(L, s, WALK, NULL, meta);
}
