/* host.c - prepares a lua_State for weir; used by weir(1) and by programs that embed weir. */
#include "host.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

void weirlua_push_folder(lua_State *L, const char *dir, const char *const *folders, const char *probe)
{
    char real[PATH_MAX];
    const char *found;

    for (; *folders; folders++) {
        found = realpath(**folders == '/' ? *folders : lua_pushfstring(L, "%s/%s", dir, *folders), real);
        if (**folders != '/')
            lua_pop(L, 1);
        if (!found)
            continue;
        lua_pushstring(L, real);
        if (access(lua_pushfstring(L, "%s/%s", real, probe), R_OK) == 0) {
            lua_pop(L, 1);
            return;
        }
        lua_pop(L, 2);
    }
    lua_pushnil(L);
}

void weirlua_host(lua_State *L, const char *folder, lua_CFunction core, const char *module)
{
    if (folder) {
        lua_getglobal(L, "package");
        lua_getfield(L, -1, "path");
        lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", folder, folder, lua_tostring(L, -1));
        lua_setfield(L, -3, "path");
        lua_pop(L, 2);
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, core);
    lua_setfield(L, -2, "weir.core");
    lua_pop(L, 1);
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    lua_call(L, 1, 1);
}
