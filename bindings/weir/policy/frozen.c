/* frozen.c - tables that can only be read: an empty table is a proxy of the table with the values, which code of a
 * policy cannot reach. Invariant: the values behind a frozen table never change. */
#include "handle/support.h"
#include "policy/policy.h"

static const char behind_key = 0;  /* in the metatable of a frozen table: the table behind */
static const char lasting_key = 0; /* in the metatable: true where the table lasts as long as the lua_State */

/* Pushes the table behind the frozen table at `arg`, and returns true; else pushes nothing. */
static bool push_behind(lua_State *S, int arg)
{
    if (lua_type(S, arg) != LUA_TTABLE || !lua_getmetatable(S, arg))
        return false;
    if (lua_rawgetp(S, -1, &behind_key) == LUA_TTABLE) {
        lua_remove(S, -2);
        return true;
    }
    lua_pop(S, 2);
    return false;
}

int weirlua_lock(lua_State *S)
{
    luaL_checktype(S, 1, LUA_TTABLE);
    lua_settop(S, 1);
    if (!lua_getmetatable(S, 1))
        return luaL_error(S, "expected a table with a metatable");
    lua_newtable(S);
    lua_rawsetp(S, 2, &behind_key);
    weirlua_set_boolean(S, "__metatable", 0);
    lua_settop(S, 1);
    return 1;
}

bool weirlua_frozen(lua_State *S, int arg)
{
    bool frozen = push_behind(S, arg);

    if (frozen)
        lua_pop(S, 1);
    return frozen;
}

bool weirlua_frozen_lasting(lua_State *S, int arg)
{
    bool lasting;

    if (!lua_getmetatable(S, arg))
        return false;
    lasting = lua_rawgetp(S, -1, &lasting_key) == LUA_TBOOLEAN;
    lua_pop(S, 2);
    return lasting;
}

bool weirlua_frozen_bare(lua_State *S, int arg)
{
    if (!push_behind(S, arg))
        return false;
    lua_replace(S, arg);
    return true;
}

/* (frozen): the entries of the table behind, in upvalue 1; with upvalue 2 in the order of the keys. */
static int frozen_pairs(lua_State *S)
{
    if (lua_toboolean(S, lua_upvalueindex(2))) {
        lua_pushcfunction(S, weirlua_sandbox_pairs);
        lua_pushvalue(S, lua_upvalueindex(1));
        lua_call(S, 1, 1);
        return 1;
    }
    lua_getglobal(S, "next");
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_pushnil(S);
    return 3;
}

static int frozen_len(lua_State *S)
{
    lua_pushinteger(S, (lua_Integer)lua_rawlen(S, lua_upvalueindex(1)));
    return 1;
}

void weirlua_freeze(lua_State *S, lua_CFunction refuse, unsigned how)
{
    int data = lua_gettop(S);

    luaL_checkstack(S, 6, "a table");
    lua_newtable(S);
    lua_createtable(S, 1, 5);
    lua_pushvalue(S, data);
    lua_rawsetp(S, -2, &behind_key);
    if (how & FREEZE_LASTING) {
        lua_pushboolean(S, 1);
        lua_rawsetp(S, -2, &lasting_key);
    }
    lua_pushvalue(S, data);
    lua_setfield(S, -2, "__index");
    lua_pushcfunction(S, refuse);
    lua_setfield(S, -2, "__newindex");
    lua_pushvalue(S, data);
    lua_pushboolean(S, (how & FREEZE_SORTED) != 0);
    lua_pushcclosure(S, frozen_pairs, 2);
    lua_setfield(S, -2, "__pairs");
    lua_pushvalue(S, data);
    lua_pushcclosure(S, frozen_len, 1);
    lua_setfield(S, -2, "__len");
    weirlua_set_boolean(S, "__metatable", 0);
    lua_setmetatable(S, -2);
    lua_replace(S, data);
}
