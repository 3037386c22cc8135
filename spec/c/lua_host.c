/* lua_host.c - a plain Lua interpreter built like everything else here, so that under sanitizers the module is loaded by a
 * host that has their runtime: lua_host SCRIPT [ARGS]. Memory can be made to run out in it:
 *
 *   host.fail(n, times)      of the Lua allocations from now on the n-th fails, and the next, `times` in all
 *   host.preload()           `require "weir.core"` gives the module linked into the host, whose core fail_core() reaches
 *   host.fail_core(n)        the n-th allocation of the core linked into the host fails; once
 *   host.fail()              none fails any more: how many did, of Lua's
 *
 * Lua collects its garbage and asks again before it gives up, so that it takes two failures to fail once. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

int luaopen_weir_core(lua_State *L);

static struct {
    lua_Integer left;   /* allocations until they fail; 0: they do not */
    lua_Integer times;  /* that they still fail */
    lua_Integer failed; /* that did */
} plan;

static void *allocate(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    if (size == 0) {
        free(p);
        return NULL;
    }
    if (plan.left > 1 && (!p || size > old))
        plan.left--;
    else if (plan.left == 1 && plan.times > 0 && (!p || size > old)) {
        plan.times--;
        plan.failed++;
        return NULL;
    }
    return realloc(p, size);
}

static int fail(lua_State *L)
{
    lua_Integer n = luaL_optinteger(L, 1, 0), times = luaL_optinteger(L, 2, INT64_MAX), failed = plan.failed;

    plan.left = n;
    plan.times = times;
    plan.failed = 0;
    lua_pushinteger(L, failed);
    return 1;
}

static int fail_core(lua_State *L)
{
    weir_mem_fail_after((long)luaL_checkinteger(L, 1));
    return 0;
}

static int preload(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_weir_core);
    lua_setfield(L, -2, "weir.core");
    return 0;
}

static void open_host(lua_State *L)
{
    static const luaL_Reg functions[] = {{"fail", fail}, {"fail_core", fail_core}, {"preload", preload}, {NULL, NULL}};

    luaL_newlib(L, functions);
    lua_setglobal(L, "host");
}

/* What the library of the editor keeps for good would look lost once it was unloaded with the module. */
static void keep_loaded(void)
{
    if (!dlopen("libedit.so.2", RTLD_NOW | RTLD_NODELETE))
        fprintf(stderr, "%s\n", dlerror());
}

int main(int argc, char **argv)
{
    lua_State *L = lua_newstate(allocate, NULL);
    int rc;

    if (!L || argc < 2)
        return 2;
    keep_loaded();
    luaL_openlibs(L);
    open_host(L);
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
