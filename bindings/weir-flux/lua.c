/* lua.c - the lua_State of the module, or of a shadow. weir.core is linked in; weir's Lua files are searched in the
 * tree of the build, in the folder of the installation, in a prefix common to module and files, and on Lua's path.
 * Invariant: no function that could raise is called outside of lua_pcall. */
#include "host.h"
#include "sched.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifndef SCHED_WEIR_LUA
#define SCHED_WEIR_LUA "/usr/local/share/lua/5.4"
#endif

static const char service_key = 0;

/* ---- opening ---- */

/* Pushes the folder of weir's Lua files, or nil. */
static void push_folder(lua_State *L)
{
    static const char *const folders[] = {"../lua", SCHED_WEIR_LUA, "../../../share/lua/5.4",
                                          "../../../../share/lua/5.4", NULL};
    char here[PATH_MAX];
    Dl_info info;

    /* relative names fail after a change of directory */
    if ((!dladdr(&service_key, &info) || !realpath(info.dli_fname, here)) && !realpath("/proc/self/exe", here)) {
        lua_pushnil(L);
        return;
    }
    *strrchr(here, '/') = '\0';
    weirlua_push_folder(L, here, folders, "weir/flux/service.lua");
}

/* Pushes the service, made by module.open(what o->push pushes). */
static int open_service(lua_State *L)
{
    const struct sched_opening *o = lua_touserdata(L, 1);
    int n;

    luaL_openlibs(L);
    push_folder(L);
    weirlua_host(L, lua_tostring(L, -1), luaopen_weir_core, o->module);
    lua_getfield(L, -1, "open");
    n = o->push(L, o->arg);
    lua_call(L, n, 2);
    if (lua_isnil(L, -2))
        lua_error(L);
    lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &service_key);
    return 0;
}

static const char *error_text(lua_State *L)
{
    return lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
}

lua_State *sched_lua_open(struct sched_opening *o, char **why)
{
    lua_State *L = luaL_newstate();

    if (!L)
        return NULL;
    lua_pushcfunction(L, open_service);
    lua_pushlightuserdata(L, o);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return L;
    *why = strdup(error_text(L));
    lua_close(L);
    return NULL;
}

/* ---- calling ---- */

struct calling {
    const char *method;
    const char *const *args;
    struct reply *reply;
};

static int errnum_of(const char *code)
{
    static const struct {
        const char *code;
        int errnum;
    } known[] = {{"infeasible", EOVERFLOW}, {"unknown", ENOENT},     {"busy", EAGAIN}, {"limit", E2BIG},
                 {"rejected", EPERM},       {"unsupported", ENOSYS}, {"taken", EBUSY}, {"unsatisfiable", ENODEV}};

    for (size_t i = 0; code && i < sizeof known / sizeof *known; i++)
        if (strcmp(code, known[i].code) == 0)
            return known[i].errnum;
    return EINVAL;
}

static void fill(lua_State *L, struct reply *r)
{
    int text = lua_type(L, 1) == LUA_TSTRING ? 1 : lua_type(L, 2) == LUA_TSTRING ? 2 : 0;

    r->ok = lua_toboolean(L, 1);
    r->number = lua_type(L, 1) == LUA_TNUMBER ? lua_tonumber(L, 1) : 0;
    r->errnum = r->ok ? 0 : errnum_of(lua_tostring(L, 3));
    if (!text)
        return;
    r->text = strdup(lua_tostring(L, text));
    if (!r->text)
        luaL_error(L, "out of memory");
}

static int call(lua_State *L)
{
    const struct calling *c = lua_touserdata(L, 1);

    lua_settop(L, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &service_key);
    lua_getfield(L, 1, c->method);
    lua_insert(L, 1);
    for (int i = 0; i < 3; i++)
        lua_pushstring(L, c->args[i]);
    lua_call(L, 4, 3);
    fill(L, c->reply);
    return 0;
}

static int traced(lua_State *L)
{
    luaL_traceback(L, L, lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "?", 1);
    return 1;
}

void sched_call(lua_State *L, const char *method, const char *const args[3], struct reply *r)
{
    struct calling c = {method, args, r};

    *r = (struct reply){0};
    lua_pushcfunction(L, traced);
    lua_pushcfunction(L, call);
    lua_pushlightuserdata(L, &c);
    if (lua_pcall(L, 1, 0, 1) != LUA_OK) {
        sched_reply_clear(r);
        *r = (struct reply){.failed = true, .errnum = EINVAL, .text = strdup(error_text(L))};
    }
    lua_settop(L, 0);
}

void sched_reply_clear(struct reply *r)
{
    free(r->text);
    r->text = NULL;
}
