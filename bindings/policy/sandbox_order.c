/* sandbox_order.c - what would make a policy answer differently from run to run, put right: the order of pairs, addresses
 * in texts, random numbers that remember earlier matches. Invariant: nothing that a policy can see depends on an address
 * or on the seed of Lua's hash tables. */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* ---- pairs ---- */

/* A key as what it is sorted by: false before true, numbers, texts, vertices by index. */
struct key {
    int type;
    lua_Number number; /* booleans, numbers, vertices */
    const char *text;
    size_t len;
    lua_Integer at; /* in the list of keys, 1.. */
};

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order;

    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->number < y->number || x->number > y->number)
        return x->number < y->number ? -1 : 1;
    order = n ? memcmp(x->text, y->text, n) : 0;
    if (order != 0 || x->len != y->len)
        return order != 0 ? order : x->len < y->len ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static struct key read_key(lua_State *S, int idx, lua_Integer at)
{
    struct key k = {.type = lua_type(S, idx), .text = "", .at = at};

    switch (k.type) {
    case LUA_TBOOLEAN: k.number = lua_toboolean(S, idx); break;
    case LUA_TNUMBER: k.number = lua_tonumber(S, idx); break;
    case LUA_TSTRING: k.text = lua_tolstring(S, idx, &k.len); break;
    case LUA_TLIGHTUSERDATA: k.number = (lua_Number)((uintptr_t)lua_touserdata(S, idx) & UINT32_MAX); break;
    default: luaL_error(S, "pairs: keys of type %s have no fixed order; use an array", luaL_typename(S, idx));
    }
    return k;
}

/* Pushes the keys of the table at 1 as a sorted list; returns how many. */
static lua_Integer push_sorted(lua_State *S)
{
    int list = lua_gettop(S) + 1;
    struct key *keys;
    lua_Integer n = 0;

    lua_newtable(S);
    for (lua_pushnil(S); lua_next(S, 1); lua_pop(S, 1)) {
        lua_pushvalue(S, -2);
        lua_rawseti(S, list, ++n);
    }
    weirlua_sandbox_charge(weirlua_sandbox_of(S), n * 4);
    keys = lua_newuserdatauv(S, (size_t)(n + 1) * sizeof *keys, 0);
    for (lua_Integer i = 0; i < n; i++, lua_pop(S, 1)) {
        lua_rawgeti(S, list, i + 1);
        keys[i] = read_key(S, -1, i + 1);
    }
    qsort(keys, (size_t)n, sizeof *keys, by_key);
    lua_createtable(S, (int)n, 0);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(S, list, keys[i].at);
        lua_rawseti(S, -2, i + 1);
    }
    lua_replace(S, list);
    lua_settop(S, list);
    return n;
}

/* Upvalues: the table, its keys, the position. What was set to nil meanwhile is passed over. */
static int step(lua_State *S)
{
    lua_Integer i = lua_tointeger(S, lua_upvalueindex(3));

    for (;;) {
        lua_pushinteger(S, ++i);
        lua_copy(S, -1, lua_upvalueindex(3));
        lua_pop(S, 1);
        if (lua_rawgeti(S, lua_upvalueindex(2), i) == LUA_TNIL)
            return 1;
        lua_pushvalue(S, -1);
        if (lua_rawget(S, lua_upvalueindex(1)) != LUA_TNIL)
            return 2;
        lua_settop(S, 0);
    }
}

/* pairs(t): in the order of the keys. Upvalue 1: the original, for what has __pairs. */
static int safe_pairs(lua_State *S)
{
    luaL_checkany(S, 1);
    if (luaL_getmetafield(S, 1, "__pairs") != LUA_TNIL) {
        lua_settop(S, 1);
        lua_pushvalue(S, lua_upvalueindex(1));
        lua_insert(S, 1);
        lua_call(S, 1, 3);
        return 3;
    }
    luaL_checktype(S, 1, LUA_TTABLE); /* the original would hand out its `next`, which has no fixed order */
    lua_settop(S, 1);
    push_sorted(S);
    lua_pushinteger(S, 0);
    lua_pushcclosure(S, step, 3);
    return 1;
}

/* next(t): the first key and its value; nil where t is empty. */
static int safe_next(lua_State *S)
{
    luaL_checktype(S, 1, LUA_TTABLE);
    if (!lua_isnoneornil(S, 2))
        return luaL_error(S, "next(t, key) has no fixed order here; use pairs(t)");
    lua_settop(S, 1);
    lua_pushnil(S);
    if (lua_next(S, 1) == 0) { /* the common use: is it empty? */
        lua_pushnil(S);
        return 1;
    }
    lua_settop(S, 1);
    push_sorted(S);
    lua_rawgeti(S, 2, 1);
    lua_pushvalue(S, -1);
    lua_rawget(S, 1);
    return 2;
}

/* ---- texts ---- */

/* Puts the name of its type in the place of a value whose text would be an address. */
static void hide_address(lua_State *S, int arg)
{
    int type = lua_type(S, arg);

    if (type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA && type != LUA_TTHREAD)
        return;
    if (luaL_getmetafield(S, arg, "__tostring") != LUA_TNIL) {
        lua_pop(S, 1);
        return;
    }
    lua_pushstring(S, lua_typename(S, type));
    lua_replace(S, arg);
}

static int call_original(lua_State *S)
{
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_insert(S, 1);
    lua_call(S, lua_gettop(S) - 1, LUA_MULTRET);
    return lua_gettop(S);
}

static int safe_tostring(lua_State *S)
{
    luaL_checkany(S, 1);
    hide_address(S, 1);
    return call_original(S);
}

static int safe_format(lua_State *S)
{
    const char *at = luaL_checkstring(S, 1);

    for (; (at = strchr(at, '%')) != NULL; at++) {
        at++;
        if (*at == '%')
            continue;
        at += strspn(at, "-+ #0123456789.");
        if (*at == 'p')
            return luaL_error(S, "string.format: a policy has no addresses (%%p)");
        if (!*at)
            break;
    }
    for (int i = 2; i <= lua_gettop(S); i++)
        hide_address(S, i);
    return call_original(S);
}

/* ---- random numbers: the same in every match ---- */

/* Upvalues: the original, randomseed. */
static int safe_random(lua_State *S)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    if (sb->seeded != sb->turn) {
        sb->seeded = sb->turn;
        lua_pushvalue(S, lua_upvalueindex(2));
        lua_pushinteger(S, 1);
        lua_call(S, 1, 0);
    }
    return call_original(S);
}

void weirlua_sandbox_order(lua_State *S)
{
    static const luaL_Reg base[] = {
        {"pairs", safe_pairs}, {"next", safe_next}, {"tostring", safe_tostring}, {NULL, NULL}};

    lua_pushglobaltable(S);
    for (const luaL_Reg *f = base; f->name; f++) {
        lua_getfield(S, -1, f->name);
        lua_pushcclosure(S, f->func, 1);
        lua_setfield(S, -2, f->name);
    }
    lua_getfield(S, -1, LUA_STRLIBNAME);
    lua_getfield(S, -1, "format");
    lua_pushcclosure(S, safe_format, 1);
    lua_setfield(S, -2, "format");
    lua_getfield(S, -2, LUA_MATHLIBNAME);
    lua_getfield(S, -1, "random");
    lua_getfield(S, -2, "randomseed");
    lua_pushcclosure(S, safe_random, 2);
    lua_setfield(S, -2, "random");
    lua_pushnil(S);
    lua_setfield(S, -2, "randomseed");
    lua_pop(S, 3);
}
