/* lua_host.c - a plain Lua interpreter built with the flags of the module, so that under sanitizers the module is
 * loaded by a host that has their runtime: lua_host SCRIPT [ARGS]. Scripts can make memory run out:
 *
 *   host.fail(n, times)      from now on the n-th allocation of Lua fails, and the next, `times` in all
 *   host.preload()           `require "weir.core"` gives the module linked into the host, within reach of fail_c()
 *   host.fail_c(n)           the n-th allocation of the core and the bindings linked into the host fails; once
 *   host.fail()              no allocation fails any more; returns how many allocations of Lua did
 *
 * Lua collects its garbage and retries before giving up, so that two failures are needed for one error. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int luaopen_weir_core(lua_State *L);

/* The linker gives the calls of the objects of the host, of the bindings and of the core to __wrap_NAME(). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

static lua_Integer left_c; /* allocations of C until the one that fails; 0: none fails */

static bool fails(void)
{
    return left_c > 0 && --left_c == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

static struct {
    lua_Integer left;   /* allocations until the first failure; 0: no failures */
    lua_Integer times;  /* failures still to come */
    lua_Integer failed; /* failures so far */
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
    return __real_realloc(p, size);
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

static int fail_c(lua_State *L)
{
    left_c = luaL_checkinteger(L, 1);
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
    static const luaL_Reg functions[] = {{"fail", fail}, {"fail_c", fail_c}, {"preload", preload}, {NULL, NULL}};

    luaL_newlib(L, functions);
    lua_setglobal(L, "host");
}

/* Keeps the editor's library loaded: memory that the library keeps for good would count as leaked after unloading. */
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
