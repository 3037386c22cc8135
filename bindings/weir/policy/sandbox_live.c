/* sandbox_live.c - a sandbox that stays open: sandbox_open(text, name, opts) runs a file, maybe a stranger's, in a
 * separate lua_State, and the functions of the file can be called while the handle lives. Only nil, booleans, numbers
 * and strings pass in and out. Invariant: outside of lua_pcall only functions that cannot raise are called on the
 * state.
 *
 *   sb = sandbox_open(text, name, {prelude =, bridge =, instructions =, memory =, seconds =})   or nil, message, code
 *   sb:call(f, ...)   true and the results of f; or nil, message, "policy". Each call has the whole budget.
 *   sb:slice(seconds[, on]) after so many seconds coroutines of the sandbox yield without values, anywhere; nil: no
 *                     yielding. on: the next call has what the last call left of the budget of instructions
 *   sb:profile(on)    true starts counting the lines that run, false ends it; without argument {[line] = samples}
 *   sb:traceback()    the functions of the file that ran at the last error, a line each; or nil
 *   sb:close()
 *
 * opts.prelude is a text with privileges: a function bridge(...), which calls opts.bridge(...) on the host; the
 * library of coroutines; a function place(f), which returns where a function begins, as "file:line: ";
 * nearest(word, words), see suggest.c; encode(state, declared) and decode(text), see policy_state.c; lock(t), see
 * frozen.c. The prelude may define globals, the file may not. The prelude returns a function; the function gets the
 * result of the main text, and returns the table of functions to be called. A function "place" of the table returns the
 * place that an error without a place is given. */
#include "handle/request.h"
#include "handle/support.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#define LIVE WEIRLUA_LIVE

struct live {
    struct sandbox sandbox;
    lua_State *host; /* the state at the far end of the bridge, during a call */
    int handle;      /* index of the handle on the host's stack */
    bool busy;
    bool on;                        /* the next call has what the last call left of the budget */
    struct policy_profile *profile; /* NULL: not profiled */
};

enum { BRIDGE = 1, USER_VALUES = BRIDGE };

#define QUERY 2000 /* instructions that a call of the bridge is charged as: a match takes about as long */

static char functions_key; /* key in the registry of the sandbox */

/* ---- values ---- */

const char *weirlua_copy_scalar(lua_State *to, lua_State *from, int idx)
{
    size_t len;
    const char *text;

    switch (lua_type(from, idx)) {
    case LUA_TNIL: lua_pushnil(to); return NULL;
    case LUA_TBOOLEAN: lua_pushboolean(to, lua_toboolean(from, idx)); return NULL;
    case LUA_TNUMBER:
        if (lua_isinteger(from, idx))
            lua_pushinteger(to, lua_tointeger(from, idx));
        else
            lua_pushnumber(to, lua_tonumber(from, idx));
        return NULL;
    case LUA_TSTRING:
        text = lua_tolstring(from, idx, &len);
        lua_pushlstring(to, text, len);
        return NULL;
    default: return luaL_typename(from, idx);
    }
}

/* (from, first, n): pushes the values. Runs under lua_pcall on the target. */
struct transfer {
    lua_State *from;
    int first, n;
};

static int receive(lua_State *to)
{
    const struct transfer *t = lua_touserdata(to, 1);

    luaL_checkstack(to, t->n + 2, "values");
    lua_settop(to, 0);
    for (int i = 0; i < t->n; i++) {
        const char *wrong = weirlua_copy_scalar(to, t->from, t->first + i);
        if (wrong)
            return luaL_error(to, "only nil, booleans, numbers and strings go in and out, not a %s", wrong);
    }
    return t->n;
}

/* Copies values that need no memory, without a lua_pcall, since most values are such. Returns false where a value needs
 * memory, or without room on the stack. */
static bool copy_plain(lua_State *to, lua_State *from, int first, int n)
{
    for (int i = 0; i < n; i++)
        if (lua_type(from, first + i) > LUA_TNUMBER || lua_type(from, first + i) == LUA_TLIGHTUSERDATA)
            return false;
    if (!lua_checkstack(to, n + 2))
        return false;
    for (int i = 0; i < n; i++)
        weirlua_copy_scalar(to, from, first + i);
    return true;
}

/* ---- the bridge ---- */

/* Runs on the host: (bridge, transfer). */
static int call_host(lua_State *L)
{
    struct transfer *t = lua_touserdata(L, 2);

    lua_pushcfunction(L, receive);
    lua_pushlightuserdata(L, t);
    lua_call(L, 1, LUA_MULTRET);
    lua_remove(L, 2);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* Returns the bridge's results: the values on the stack above `out`. */
static int answer(lua_State *S, int status, lua_KContext out)
{
    (void)status;
    return lua_gettop(S) - (int)out;
}

static int bridge(lua_State *S)
{
    struct live *live = (struct live *)weirlua_sandbox_of(S);
    struct transfer out = {S, 1, lua_gettop(S)}, back;
    lua_State *L = live->host;
    int top, rc;

    if (!L || !lua_checkstack(L, 8))
        return luaL_error(S, "nothing can be read now");
    live->sandbox.left -= QUERY;
    top = lua_gettop(L);
    lua_getiuservalue(L, live->handle, BRIDGE);
    if (copy_plain(L, S, 1, out.n)) {
        rc = lua_pcall(L, out.n, LUA_MULTRET, 0);
    } else {
        lua_pushcfunction(L, call_host);
        lua_insert(L, -2);
        lua_pushlightuserdata(L, &out);
        rc = lua_pcall(L, 2, LUA_MULTRET, 0);
    }
    back = (struct transfer){L, top + 1, lua_gettop(L) - top};
    if (rc != LUA_OK) {
        if (lua_type(L, -1) != LUA_TSTRING || weirlua_copy_scalar(S, L, -1))
            lua_pushliteral(S, "it failed");
        lua_settop(L, top);
        return lua_error(S);
    }
    if (!copy_plain(S, L, back.first, back.n)) {
        lua_pushcfunction(S, receive);
        lua_pushlightuserdata(S, &back);
        rc = lua_pcall(S, 1, LUA_MULTRET, 0);
    }
    lua_settop(L, top);
    if (rc != LUA_OK)
        return lua_error(S);
    if (weirlua_sandbox_due(&live->sandbox) && lua_isyieldable(S))
        return lua_yieldk(S, 0, out.n, answer);
    return answer(S, LUA_OK, out.n);
}

/* ---- opening ---- */

struct source {
    const char *text, *name, *prelude;
    size_t len, prelude_len;
};

/* resume(coroutine, ...): resumes, and informs the sandbox which coroutine runs. Upvalue 1: the original. */
static int resume(lua_State *S)
{
    struct sandbox *sb = weirlua_sandbox_of(S);
    lua_State *before = sb->thread;

    luaL_checktype(S, 1, LUA_TTHREAD);
    sb->thread = lua_tothread(S, 1);
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_insert(S, 1);
    lua_call(S, lua_gettop(S) - 1, LUA_MULTRET);
    sb->thread = before;
    return lua_gettop(S);
}

/* place(f) */
static int place(lua_State *S)
{
    char text[PLACE_SIZE] = "";

    luaL_checktype(S, 1, LUA_TFUNCTION);
    lua_settop(S, 1);
    weirlua_function_place(S, text, sizeof text);
    lua_pushstring(S, text);
    return 1;
}

static int build(lua_State *S)
{
    struct source source = *(struct source *)lua_touserdata(S, 1);

    weirlua_sandbox_libraries(S);
    lua_settop(S, 0);
    weirlua_compile(S, source.prelude, source.prelude_len, "prelude");
    lua_pushcfunction(S, bridge);
    lua_pushcfunction(S, luaopen_coroutine);
    lua_call(S, 0, 1);
    lua_getfield(S, -1, "resume");
    lua_pushcclosure(S, resume, 1);
    lua_setfield(S, -2, "resume");
    lua_pushcfunction(S, place);
    lua_pushcfunction(S, weirlua_nearest);
    lua_pushcfunction(S, weirlua_state_encode);
    lua_pushcfunction(S, weirlua_state_decode);
    lua_pushcfunction(S, weirlua_lock);
    lua_call(S, 7, 1);
    weirlua_sandbox_close_globals(S);
    weirlua_compile(S, source.text, source.len, source.name);
    lua_call(S, 0, 1);
    lua_call(S, 1, 1);
    luaL_checktype(S, -1, LUA_TTABLE);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &functions_key);
    return 0;
}

/* Calls the function "place" of the sandbox; nothing without such a function. */
static int ask_place(lua_State *S)
{
    lua_settop(S, 0);
    if (lua_rawgetp(S, LUA_REGISTRYINDEX, &functions_key) != LUA_TTABLE || lua_getfield(S, 1, "place") != LUA_TFUNCTION)
        return 0;
    lua_call(S, 0, 1);
    return 1;
}

/* Writes the text of the error on top of S, behind a place. */
static void error_text(struct live *live, char *buf, size_t size)
{
    lua_State *S = live->sandbox.S;
    char text[512];

    weirlua_sandbox_text(&live->sandbox, text, sizeof text);
    buf[0] = '\0';
    lua_pushcfunction(S, ask_place);
    if (!weirlua_has_place(text) && lua_pcall(S, 0, 1, 0) == LUA_OK && lua_type(S, -1) == LUA_TSTRING)
        snprintf(buf, size, "%.*s", (int)PLACE_SIZE, lua_tostring(S, -1));
    lua_pop(S, 1);
    snprintf(buf + strlen(buf), size - strlen(buf), "%s", text);
}

/* Moves the error on top of S to the host: pushes nil, message, code. */
static int fail(lua_State *L, struct live *live)
{
    char text[512 + PLACE_SIZE];

    error_text(live, text, sizeof text);
    lua_pushnil(L);
    lua_pushstring(L, text);
    lua_pushstring(L, weir_status_name(WEIR_EPOLICY));
    return 3;
}

static struct live *make(lua_State *L)
{
    struct sandbox_budget budget = {SANDBOX_INSTRUCTIONS, SANDBOX_BYTES, SANDBOX_SECONDS};
    struct live *live;

    weirlua_sandbox_budget(L, 3, &budget);
    luaL_argcheck(L, lua_getfield(L, 3, "bridge") == LUA_TFUNCTION, 3, "field 'bridge': function expected");
    live = lua_newuserdatauv(L, sizeof *live, USER_VALUES);
    *live = (struct live){0};
    luaL_setmetatable(L, LIVE);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, BRIDGE);
    if (!weirlua_sandbox_new(&live->sandbox, &budget))
        luaL_error(L, "out of memory");
    return live;
}

/* Runs a function of the sandbox with the arguments on the sandbox's stack. `handle` is the host's index of the
 * handle. */
static int run(lua_State *L, struct live *live, int handle, int nargs, int nresults)
{
    lua_State *S = live->sandbox.S;
    int rc, handler = lua_gettop(S) - nargs;
    int64_t left = live->sandbox.left;

    lua_pushcfunction(S, weirlua_sandbox_locate);
    lua_insert(S, handler);
    live->host = L;
    live->handle = handle;
    live->busy = true;
    weirlua_sandbox_begin(&live->sandbox);
    if (live->on)
        live->sandbox.left = left;
    live->on = false;
    rc = lua_pcall(S, nargs, nresults, handler);
    lua_remove(S, handler);
    live->busy = false;
    live->host = NULL;
    return rc;
}

int weirlua_sandbox_live(lua_State *L)
{
    static const char *const known[] = {"prelude", "bridge", "instructions", "memory", "seconds", NULL};
    struct source source;
    struct live *live;

    source.text = luaL_checklstring(L, 1, &source.len);
    source.name = luaL_checkstring(L, 2);
    weirlua_options(L, 3, known);
    lua_settop(L, 3);
    lua_getfield(L, 3, "prelude");
    source.prelude = luaL_checklstring(L, 4, &source.prelude_len);
    live = make(L);
    lua_pushcfunction(live->sandbox.S, build);
    lua_pushlightuserdata(live->sandbox.S, &source);
    if (run(L, live, lua_gettop(L), 1, 0) == LUA_OK)
        return 1;
    return fail(L, live);
}

/* ---- calling ---- */

/* (name, transfer): pushes the function and the arguments. */
static int call_function(lua_State *S)
{
    const char *name = lua_touserdata(S, 1);
    struct transfer *t = lua_touserdata(S, 2);

    lua_settop(S, 0);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &functions_key);
    if (lua_getfield(S, 1, name) != LUA_TFUNCTION)
        return luaL_error(S, "there is no function '%s'", name);
    lua_replace(S, 1);
    lua_pushcfunction(S, receive);
    lua_pushlightuserdata(S, t);
    lua_call(S, 1, LUA_MULTRET);
    lua_call(S, lua_gettop(S) - 1, LUA_MULTRET);
    return lua_gettop(S);
}

static struct live *check_live(lua_State *L)
{
    struct live *live = luaL_checkudata(L, 1, LIVE);

    luaL_argcheck(L, live->sandbox.S, 1, "the sandbox is closed");
    return live;
}

static int live_call(lua_State *L)
{
    struct live *live = check_live(L);
    const char *name = luaL_checkstring(L, 2);
    struct transfer in = {L, 3, lua_gettop(L) - 2}, out;
    lua_State *S = live->sandbox.S;
    int rc;

    luaL_argcheck(L, !live->busy, 1, "it is running");
    lua_settop(S, 0);
    lua_pushcfunction(S, call_function);
    lua_pushlightuserdata(S, (void *)(uintptr_t)name);
    lua_pushlightuserdata(S, &in);
    if (run(L, live, 1, 2, LUA_MULTRET) != LUA_OK)
        return fail(L, live);
    out = (struct transfer){S, 1, lua_gettop(S)};
    lua_pushboolean(L, 1);
    lua_pushcfunction(L, receive);
    lua_pushlightuserdata(L, &out);
    rc = lua_pcall(L, 1, LUA_MULTRET, 0);
    lua_settop(S, 0);
    if (rc == LUA_ERRMEM)
        return lua_error(L);
    if (rc != LUA_OK) { /* the results are not used */
        lua_pushnil(L);
        lua_insert(L, -2);
        lua_pushstring(L, weir_status_name(WEIR_EPOLICY));
        return 3;
    }
    return 1 + out.n;
}

bool weirlua_live_run(lua_State *L, int handle, lua_CFunction f, void *data, char *buf, size_t size)
{
    struct live *live = lua_touserdata(L, handle);
    lua_State *S = live->sandbox.S;

    buf[0] = '\0';
    if (!S || live->busy || !lua_checkstack(S, 8)) {
        snprintf(buf, size, "%s", S ? "it is running" : "it is closed");
        return false;
    }
    lua_settop(S, 0);
    lua_pushcfunction(S, f);
    lua_pushlightuserdata(S, data);
    if (run(L, live, handle, 1, 0) == LUA_OK)
        return true;
    error_text(live, buf, size);
    lua_settop(S, 0);
    return false;
}

lua_State *weirlua_live_state(lua_State *L, int handle)
{
    return ((struct live *)lua_touserdata(L, handle))->sandbox.S;
}

void weirlua_live_functions(lua_State *S)
{
    lua_rawgetp(S, LUA_REGISTRYINDEX, &functions_key);
}

/* slice(seconds[, on]) */
static int live_slice(lua_State *L)
{
    struct live *live = check_live(L);

    live->on = lua_toboolean(L, 3);
    live->sandbox.pause = lua_isnoneornil(L, 2) ? 0 : weirlua_clock() + (int64_t)(luaL_checknumber(L, 2) * 1e9);
    return 0;
}

/* profile([on]) */
static int live_profile(lua_State *L)
{
    struct live *live = check_live(L);

    if (lua_isnoneornil(L, 2)) {
        lua_newtable(L);
        if (live->profile)
            weirlua_profile_lines(L, live->profile);
        return 1;
    }
    luaL_checktype(L, 2, LUA_TBOOLEAN);
    weirlua_profile_set(L, &live->sandbox, &live->profile, lua_toboolean(L, 2));
    return 0;
}

static int live_traceback(lua_State *L)
{
    const struct live *live = check_live(L);

    lua_pushstring(L, live->sandbox.trace[0] ? live->sandbox.trace : NULL);
    return 1;
}

static int live_close(lua_State *L)
{
    struct live *live = luaL_checkudata(L, 1, LIVE);

    luaL_argcheck(L, !live->busy, 1, "it is running");
    weirlua_sandbox_close(&live->sandbox);
    free(live->profile);
    live->profile = NULL;
    return 0;
}

void weirlua_sandbox_live_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"call", live_call},           {"slice", live_slice}, {"profile", live_profile},
                                       {"traceback", live_traceback}, {"close", live_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", live_close}, {"__close", live_close}, {NULL, NULL}};

    weirlua_class(L, s, LIVE, methods, meta);
}
