/* counting.c - a Lua module for the benchmarks under callgrind, started with --collect-atstart=no: pause() ends a part
 * of the profile and writes its file, resume() begins the next part. Instructions between the two are in no part. */
#include <lauxlib.h>
#include <lua.h>
#include <valgrind/callgrind.h>

static int resume(lua_State *L)
{
    (void)L;
    CALLGRIND_TOGGLE_COLLECT;
    return 0;
}

static int pause(lua_State *L)
{
    (void)L;
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS;
    return 0;
}

int luaopen_counting(lua_State *L)
{
    static const luaL_Reg functions[] = {{"pause", pause}, {"resume", resume}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
