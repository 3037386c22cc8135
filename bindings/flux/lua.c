/* lua.c - the lua_State of the module: weir.core is linked in; weir's Lua files are found in the tree where the module was built, where
 * they were going to be installed, in a prefix that both share, or where Lua looks.
 * Invariant: outside of lua_pcall nothing is called on the state that could raise. */
#include "sched.h"

#include <dlfcn.h>
#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SCHED_WEIR_LUA
#define SCHED_WEIR_LUA "/usr/local/share/lua/5.4"
#endif

int luaopen_weir_core(lua_State *L);

static const char service_key = 0;

/* ---- where things are ---- */

/* The first folder, absolute or seen from this module's, that has weir's Lua files. */
static bool find(char out[PATH_MAX])
{
    static const char *const folders[] = {"../lua", SCHED_WEIR_LUA, "../../../share/lua/5.4", "../../../../share/lua/5.4", NULL};
    char here[PATH_MAX], path[PATH_MAX + 64];
    Dl_info info;

    if (!dladdr(&service_key, &info) || !realpath(info.dli_fname, here))
        return false;
    *strrchr(here, '/') = '\0';
    for (int i = 0; folders[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i][0] == '/' ? "" : here, folders[i]);
        if (!realpath(path, out))
            continue;
        snprintf(path, sizeof path, "%.*s/weir/flux/service.lua", PATH_MAX, out);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static void set_path(lua_State *L)
{
    char folder[PATH_MAX];

    if (!find(folder))
        return;
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "path");
    lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", folder, folder, lua_tostring(L, -1));
    lua_setfield(L, -3, "path");
    lua_pop(L, 2);
}

/* ---- opening ---- */

struct opening {
    struct sched *sched;
    int argc;
    char **argv;
    const char *config;
};

/* The service, of service.open(arguments, config, answers). */
static int open_service(lua_State *L)
{
    const struct opening *o = lua_touserdata(L, 1);

    luaL_openlibs(L);
    set_path(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_weir_core);
    lua_setfield(L, -2, "weir.core");
    lua_getglobal(L, "require");
    lua_pushliteral(L, "weir.flux.service");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "open");
    lua_createtable(L, o->argc, 0);
    for (int i = 0; i < o->argc; i++) {
        lua_pushstring(L, o->argv[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushstring(L, o->config);
    sched_push_answers(L, o->sched);
    lua_call(L, 3, 2);
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

int sched_lua_open(struct sched *s, int argc, char **argv, const char *config)
{
    struct opening o = {s, argc, argv, config};

    s->L = luaL_newstate();
    if (!s->L) {
        errno = ENOMEM;
        return -1;
    }
    lua_pushcfunction(s->L, open_service);
    lua_pushlightuserdata(s->L, &o);
    if (lua_pcall(s->L, 1, 0, 0) == LUA_OK)
        return 0;
    flux_log(s->h, LOG_ERR, "%s", error_text(s->L));
    lua_settop(s->L, 0);
    errno = EINVAL;
    return -1;
}

void sched_lua_close(struct sched *s)
{
    if (s->L)
        lua_close(s->L);
    s->L = NULL;
}

/* ---- calling ---- */

struct call {
    const char *method, *a, *b;
    struct reply *reply;
};

static int errnum_of(const char *code)
{
    static const struct {
        const char *code;
        int errnum;
    } known[] = {{"infeasible", EOVERFLOW}, {"unknown", ENOENT}, {"busy", EAGAIN}, {"limit", E2BIG}, {"rejected", EPERM}};

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
    const struct call *c = lua_touserdata(L, 1);

    lua_settop(L, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &service_key);
    lua_getfield(L, 1, c->method);
    lua_insert(L, 1);
    lua_pushstring(L, c->a);
    lua_pushstring(L, c->b);
    lua_call(L, 3, 3);
    fill(L, c->reply);
    return 0;
}

static int traced(lua_State *L)
{
    luaL_traceback(L, L, lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "?", 1);
    return 1;
}

bool sched_call(struct sched *s, const char *method, const char *a, const char *b, struct reply *r)
{
    struct call c = {method, a, b, r};
    bool ok;

    *r = (struct reply){0};
    lua_pushcfunction(s->L, traced);
    lua_pushcfunction(s->L, call);
    lua_pushlightuserdata(s->L, &c);
    ok = lua_pcall(s->L, 1, 0, 1) == LUA_OK;
    if (!ok) {
        flux_log(s->h, LOG_CRIT, "%s: %s", method, error_text(s->L));
        flux_reactor_stop_error(flux_get_reactor(s->h));
    }
    lua_settop(s->L, 0);
    return ok;
}

void sched_reply_clear(struct reply *r)
{
    free(r->text);
    *r = (struct reply){0};
}
