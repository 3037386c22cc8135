/* walk_open.c - the options of g:walk. Invariant: a walk is opened only after all options were read and accepted. */
#include <string.h>

#include "handle/support.h"
#include "handle/vertex.h"
#include "handle/walk.h"

static void wrong_filter(lua_State *L, const char *key)
{
    luaL_error(L, "field '%s': function or list of functions expected, got %s", key, luaL_typename(L, -1));
}

/* Replaces the list of functions on top of the stack by a copy. Returns the number of functions. */
static uint32_t copy_functions(lua_State *L, const char *key)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, -1);

    lua_createtable(L, (int)n, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        if (lua_rawgeti(L, -2, i) != LUA_TFUNCTION)
            luaL_error(L, "field '%s': number %I in the list is no function but a %s", key, (LUAI_UACINT)i,
                       luaL_typename(L, -1));
        lua_rawseti(L, -2, i);
    }
    lua_replace(L, -2);
    return (uint32_t)n;
}

/* Keeps the filters of an option in a user value of the walk at index 3 and returns the number. A single function is
 * kept without a list. */
static uint32_t take_filters(lua_State *L, const char *key, int slot)
{
    uint32_t n = 0;

    lua_pushstring(L, key);
    switch (lua_rawget(L, 2)) {
    case LUA_TNIL: break;
    case LUA_TFUNCTION: n = 1; break;
    case LUA_TTABLE: n = copy_functions(L, key); break;
    default: wrong_filter(L, key);
    }
    if (n == 1 && lua_istable(L, -1)) {
        lua_rawgeti(L, -1, 1);
        lua_replace(L, -2);
    }
    lua_setiuservalue(L, 3, slot);
    return n;
}

static void take_field(lua_State *L, struct walk *walk)
{
    if (lua_type(L, -1) != LUA_TSTRING || !weirlua_fields_add(&walk->fields, lua_tostring(L, -1)))
        luaL_error(L, "field 'fields': at most %d of %s expected, got %s", WEIRLUA_FIELDS, weirlua_fields_known,
                   weirlua_quote(L, weirlua_show(L, -1)));
    lua_pop(L, 1);
}

/* Reads `fields`: a name, or a list of names. */
static void take_fields(lua_State *L, struct walk *walk)
{
    lua_pushliteral(L, "fields");
    switch (lua_rawget(L, 2)) {
    case LUA_TNIL: break;
    case LUA_TTABLE:
        for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++)
            take_field(L, walk);
        break;
    default: take_field(L, walk);
    }
    lua_settop(L, 3);
}

static bool take_compare(lua_State *L)
{
    int type;

    lua_pushliteral(L, "order_children");
    type = lua_rawget(L, 2);
    if (type != LUA_TNIL && type != LUA_TFUNCTION)
        luaL_error(L, "field 'order_children': function expected, got %s", luaL_typename(L, -1));
    lua_setiuservalue(L, 3, WALK_COMPARE);
    return type == LUA_TFUNCTION;
}

static unsigned events_of(lua_State *L, const struct walk *walk, bool *breadth)
{
    bool evaluates = walk->nevaluate > 0;
    const char *order = weirlua_field_string(L, 2, "order", evaluates ? "post" : "pre");

    *breadth = strcmp(order, "breadth") == 0;
    if (*breadth && walk->compares)
        luaL_error(L, "field 'order_children': there is no such order for a walk in breadth; reverse there is");
    if (*breadth || strcmp(order, "pre") == 0)
        return WEIR_PREORDER;
    if (strcmp(order, "post") == 0)
        return WEIR_POSTORDER;
    if (strcmp(order, "both") != 0 || evaluates)
        luaL_error(L, "field 'order': pre, post, %s expected, got '%s'", evaluates ? "breadth" : "both or breadth",
                   weirlua_quote(L, order));
    return WEIR_PREORDER | WEIR_POSTORDER;
}

/* Returns the core's own text for the name of a subsystem. The text lives as long as the graph. */
static const char *subsystem_of(lua_State *L, const weir_graph *g, const char *name)
{
    if (!name)
        return "containment";
    for (uint32_t i = 0; i < weir_subsystem_count(g); i++)
        if (strcmp(weir_subsystem_name(g, i), name) == 0)
            return weir_subsystem_name(g, i);
    luaL_error(L, "there is no subsystem '%s'", weirlua_quote(L, name));
    return NULL;
}

static void open_core(lua_State *L, struct walk *walk, struct weirlua_graph *handle, weir_walk_options *o)
{
    weir_err err = {0};
    bool all = walk->nprune || walk->compares; /* each vertex is looked at on the way down */

    o->events = all ? walk->events | WEIR_PREORDER : walk->events;
    o->leaves = weirlua_walk_drivable(walk);
    o->ordered = walk->unsorted = walk->compares;
    o->type = all ? NULL : walk->type;
    walk->skips = o->type != NULL;
    walk->w = weir_walk_new(handle->g, o, &err);
    if (!walk->w)
        weirlua_raise(L, &err);
    walk->open = true;
    weirlua_walk_charge(L, walk, 1);
}

void weirlua_walk_read(lua_State *L, struct walk *walk, struct weirlua_graph *handle)
{
    weir_walk_options o = {.start = weirlua_field_vertex(L, 2, "start", handle)};

    walk->state = weirlua_of(L);
    walk->number = handle->number;
    walk->serial = weir_graph_serial(handle->g);
    walk->nprune = take_filters(L, "prune", WALK_PRUNE);
    walk->nevaluate = take_filters(L, "evaluate", WALK_EVALUATE);
    take_fields(L, walk);
    walk->compares = take_compare(L);
    walk->type = weirlua_field_string(L, 2, "type", NULL);
    lua_pushliteral(L, "type");
    lua_rawget(L, 2);
    lua_setiuservalue(L, 3, WALK_TYPE);
    walk->events = events_of(L, walk, &o.breadth);
    o.reverse = weirlua_field_boolean(L, 2, "reverse", false);
    o.upward = weirlua_field_boolean(L, 2, "upward", false);
    o.subsystem = subsystem_of(L, handle->g, weirlua_field_string(L, 2, "subsystem", NULL));
    open_core(L, walk, handle, &o);
}
