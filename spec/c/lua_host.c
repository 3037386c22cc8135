/* lua_host.c - a plain Lua interpreter built like everything else here, so that under sanitizers the module is loaded by a
 * host that has their runtime: lua_host SCRIPT [ARGS]. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    lua_State *L = luaL_newstate();
    int rc;

    if (!L || argc < 2)
        return 2;
    luaL_openlibs(L);
    lua_createtable(L, argc, 1);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - 1);
    }
    lua_setglobal(L, "arg");
    rc = luaL_dofile(L, argv[1]);
    if (rc != LUA_OK)
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_close(L);
    return rc == LUA_OK ? 0 : 1;
}
