/* state.c - the state that the binding keeps for a lua_State: open graphs by number, and classes. Invariant: a graph is
 * in the table exactly while a handle is open; the number of a closed graph is reused only after all numbers were
 * used. */
#include "handle/support.h"

#include <string.h>

#define STATE_KEY "weir.core.state"

struct weirlua *weirlua_state(lua_State *L, struct weirlua *home)
{
    struct weirlua *s;

    if (lua_getfield(L, LUA_REGISTRYINDEX, STATE_KEY) == LUA_TUSERDATA) {
        s = lua_touserdata(L, -1);
        lua_pop(L, 1);
        return s;
    }
    lua_pop(L, 1);
    s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (struct weirlua){.home = home ? home : s, .readonly = home != NULL};
    lua_setfield(L, LUA_REGISTRYINDEX, STATE_KEY);
    return s;
}

struct weirlua *weirlua_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

struct weirlua_graph *weirlua_graph_search(struct weirlua *s, uint32_t number)
{
    struct weirlua *home = s->home;
    struct weirlua_graph *handle;

    for (handle = home->buckets[number % WEIRLUA_BUCKETS]; handle; handle = handle->next)
        if (handle->number == number) {
            home->recent = handle;
            return handle;
        }
    return NULL;
}

void weirlua_graph_register(lua_State *L, struct weirlua *s, struct weirlua_graph *handle)
{
    uint32_t tries = 0;
    struct weirlua_graph **bucket;

    do {
        if (tries++ == WEIRLUA_NUMBER_MAX)
            luaL_error(L, "too many graphs are open");
        s->last_number = s->last_number % WEIRLUA_NUMBER_MAX + 1;
    } while (weirlua_graph_find(s, s->last_number));
    handle->number = s->last_number;
    bucket = &s->buckets[handle->number % WEIRLUA_BUCKETS];
    handle->next = *bucket;
    *bucket = handle;
}

void weirlua_graph_forget(struct weirlua *s, struct weirlua_graph *handle)
{
    struct weirlua_graph **at = &s->buckets[handle->number % WEIRLUA_BUCKETS];

    while (*at && *at != handle)
        at = &(*at)->next;
    if (*at)
        *at = handle->next;
    if (s->recent == handle)
        s->recent = NULL;
}

/* The address distinguishes two live states, the counter two policies of a state. */
uint64_t weirlua_serial(struct weirlua *s)
{
    uint64_t serial = (uint64_t)(uintptr_t)s->home * UINT64_C(0x9e3779b97f4a7c15) + ++s->home->serials;
    return serial ? serial : weirlua_serial(s);
}

/* ---- counting reads ---- */

static const char reads_key = 0;

void weirlua_record(lua_State *L, const char *prefix, int arg)
{
    lua_Integer count;

    arg = lua_absindex(L, arg);
    if (lua_type(L, arg) != LUA_TSTRING)
        return;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &reads_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &reads_key);
    }
    lua_pushfstring(L, "%s%s", prefix, lua_tostring(L, arg));
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    count = lua_tointeger(L, -1);
    lua_pop(L, 1);
    lua_pushinteger(L, count + 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

void weirlua_push_reads(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &reads_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &reads_key);
}

/* (methods, name): raises for a method that a class does not have. Upvalue 1: the noun. */
static int no_method(lua_State *L)
{
    const char *noun = lua_tostring(L, lua_upvalueindex(1)), *name;

    if (lua_type(L, 2) != LUA_TSTRING) /* such as a probe by an iteration */
        return 0;
    name = weirlua_quote(L, lua_tostring(L, 2));
    return luaL_error(L, "%s %s has no method '%s'%s", strchr("aeiou", noun[0]) ? "an" : "a", noun, name,
                      weirlua_hint_of_keys(L, name, 1));
}

/* Pops the last part of a class's name ("engine" of "weir.engine"), and lets the table of methods below raise for a
 * missing key. */
static void guard_methods(lua_State *L)
{
    lua_pushcclosure(L, no_method, 1);
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

void weirlua_class(lua_State *L, struct weirlua *s, const char *name, const luaL_Reg *methods, const luaL_Reg *meta)
{
    luaL_newmetatable(L, name);
    weirlua_set_text(L, "__metatable", name);
    lua_newtable(L);
    if (methods) {
        lua_pushlightuserdata(L, s);
        luaL_setfuncs(L, methods, 1);
        lua_pushstring(L, strrchr(name, '.') ? strrchr(name, '.') + 1 : name);
        guard_methods(L);
    }
    lua_setfield(L, -2, "__index");
    lua_pushlightuserdata(L, s);
    luaL_setfuncs(L, meta, 1);
    lua_pop(L, 1);
}
