/* state.c - the state that the binding keeps for a lua_State: open graphs by number, and classes. Invariant: a graph is
 * in the table exactly while a handle is open; the number of a closed graph is reused only after all numbers were
 * used. */
#include "handle/weirlua.h"

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

void weirlua_class(lua_State *L, struct weirlua *s, const char *name, const luaL_Reg *methods, const luaL_Reg *meta)
{
    luaL_newmetatable(L, name);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    if (methods) {
        lua_pushlightuserdata(L, s);
        luaL_setfuncs(L, methods, 1);
    }
    lua_setfield(L, -2, "__index");
    lua_pushlightuserdata(L, s);
    luaL_setfuncs(L, meta, 1);
    lua_pop(L, 1);
}
