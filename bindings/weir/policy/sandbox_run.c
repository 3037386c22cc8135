/* sandbox_run.c - sandbox_run(text, name[, opts]): runs a file that describes data (a recipe, an RDL file) in a
 * separate lua_State, and returns the result as plain data. Invariant: a userdata owns the state, so that every error
 * closes the state; outside of lua_pcall only functions that cannot raise are called on the state.
 *
 * opts.prelude is a text that runs first, and makes globals. The prelude gets source(name) and limit(message), and
 * may return a function that converts the result of the main text. source(name) compiles, in the sandbox, the text
 * returned by the host's opts.source(name): a text and a name, or nil and a message. opts.instructions, memory (bytes)
 * and seconds are budgets. */
#include "handle/support.h"
#include "policy/policy.h"

#include <string.h>

#define RUN       "weir.sandbox.run"
#define DEPTH_MAX 450 /* nesting of tables in the result */
#define PAUSE                                                                                                          \
    1000 /* percent: most data of a description stays alive; at the limit of memory all garbage is                     \
          * collected anyway */

/* Stack of the host: 1 text, 2 name, 3 opts, then: */
enum { SOURCE = 4, PRELUDE, HANDLE, MEMO, TOP = MEMO };

struct runner {
    struct sandbox sandbox;
    lua_State *host;
    const char *text, *name, *prelude;
    size_t len, prelude_len;
    int code; /* of a failure */
};

static int run_gc(lua_State *L)
{
    weirlua_sandbox_close(&((struct runner *)luaL_checkudata(L, 1, RUN))->sandbox);
    return 0;
}

/* ---- in the sandbox ---- */

/* Compiles a text; the code of a failure says that the text cannot be read. */
static void compile(lua_State *S, const char *text, size_t len, const char *name, struct runner *run)
{
    int code = run->code;

    run->code = WEIR_EPARSE;
    weirlua_compile(S, text, len, name);
    run->code = code;
}

/* Runs on the host: calls opts.source with a name. */
static int ask(lua_State *L)
{
    lua_pushstring(L, lua_touserdata(L, 2));
    lua_remove(L, 2);
    lua_call(L, 1, 2);
    if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) != LUA_TSTRING)
        return luaL_error(L, "%s", luaL_tolstring(L, 2, NULL));
    return 2;
}

/* source(name): a function */
static int source(lua_State *S)
{
    struct runner *run = lua_touserdata(S, lua_upvalueindex(1));
    lua_State *L = run->host;
    const char *name = luaL_checkstring(S, 1), *text;
    size_t len;

    if (lua_type(L, SOURCE) != LUA_TFUNCTION || !lua_checkstack(L, 8))
        return luaL_error(S, "there are no sources");
    lua_pushcfunction(L, ask);
    lua_pushvalue(L, SOURCE);
    lua_pushlightuserdata(L, (void *)(uintptr_t)name);
    if (lua_pcall(L, 2, 2, 0) != LUA_OK) {
        lua_pushstring(S, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?");
        lua_settop(L, TOP);
        return lua_error(S);
    }
    text = lua_tolstring(L, -2, &len);
    compile(S, text, len, lua_tostring(L, -1), run); /* a raise leaves values on the host's stack, removed later */
    lua_settop(L, TOP);
    return 1;
}

/* limit(message): raises for a text that requests too much. The error ends the script, like the end of a budget. */
static int limit(lua_State *S)
{
    luaL_checkstring(S, 1);
    lua_settop(S, 1);
    weirlua_sandbox_of(S)->exhausted = true;
    return lua_error(S);
}

/* Message handler: puts the place in the main text before a message with a different place or no place; a place in the
 * prelude is left out. */
static int locate(lua_State *S)
{
    const struct runner *run = (struct runner *)weirlua_sandbox_of(S);
    const char *message = lua_tostring(S, 1), *place;
    lua_Debug ar;

    if (lua_type(S, 1) != LUA_TSTRING)
        return 1;
    for (int level = 1; lua_getstack(S, level, &ar); level++) {
        lua_getinfo(S, "Sl", &ar);
        if (ar.currentline < 0 || ar.source[0] != '@' || strcmp(ar.source + 1, run->name) != 0)
            continue;
        place = lua_pushfstring(S, "%s:%d: ", ar.short_src, ar.currentline);
        if (strncmp(message, place, strlen(place)) == 0)
            break;
        lua_pushstring(S, weirlua_behind_prelude(message));
        lua_concat(S, 2);
        return 1;
    }
    lua_settop(S, 1);
    return 1;
}

static int run_all(lua_State *S)
{
    struct runner *run = lua_touserdata(S, 1);

    weirlua_sandbox_libraries(S);
    lua_gc(S, LUA_GCINC, PAUSE, 0, 0);
    lua_settop(S, 0);
    lua_pushnil(S);
    if (run->prelude) {
        compile(S, run->prelude, run->prelude_len, "prelude", run);
        lua_pushlightuserdata(S, run);
        lua_pushcclosure(S, source, 1);
        lua_pushcfunction(S, limit);
        lua_call(S, 2, 1);
        lua_replace(S, 1);
    }
    compile(S, run->text, run->len, run->name, run);
    lua_call(S, 0, 1);
    if (lua_isnil(S, 1))
        return 1;
    lua_call(S, 1, 1);
    return 1;
}

/* ---- to the host ---- */

static void copy_value(lua_State *L, lua_State *S, int idx, int depth);

static void copy_key(lua_State *L, lua_State *S, int idx)
{
    if (lua_type(S, idx) != LUA_TSTRING && lua_type(S, idx) != LUA_TNUMBER)
        luaL_error(L, "a table with a key of type %s is no data", luaL_typename(S, idx));
    copy_value(L, S, idx, 0);
}

/* Copies a table. A table found in several places is copied once: 100 tables may describe 2^100 places. */
static void copy_table(lua_State *L, lua_State *S, int idx, int depth)
{
    luaL_checkstack(L, 8, "data");
    if (depth > DEPTH_MAX || !lua_checkstack(S, 8))
        luaL_error(L, "more than %d tables inside each other", DEPTH_MAX);
    if (lua_rawgetp(L, MEMO, lua_topointer(S, idx)) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_createtable(L, (int)(lua_rawlen(S, idx) & 0xffffff), 0);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, MEMO, lua_topointer(S, idx));
    for (lua_pushnil(S); lua_next(S, idx); lua_pop(S, 1)) {
        int top = lua_gettop(S);
        copy_key(L, S, top - 1);
        copy_value(L, S, top, depth + 1);
        lua_rawset(L, -3);
    }
}

static void copy_value(lua_State *L, lua_State *S, int idx, int depth)
{
    const char *wrong = NULL;

    if (lua_istable(S, idx))
        copy_table(L, S, idx, depth);
    else
        wrong = weirlua_copy_scalar(L, S, idx);
    if (wrong)
        luaL_error(L, "a value of type %s is no data", wrong);
}

/* handle, memo -> data. Stack indices are those of weirlua_sandbox_run. */
static int copy_result(lua_State *L)
{
    struct runner *run = lua_touserdata(L, HANDLE);

    copy_value(L, run->sandbox.S, 1, 1);
    return 1;
}

/* ---- the function ---- */

/* Returns the end of the main text's name at the start of a message, or NULL for a message without the name. Lua
 * shortens a long name at the front. */
static const char *behind_name(const char *text, const char *name)
{
    size_t len = strlen(name), shown = LUA_IDSIZE - sizeof "...";

    if (strncmp(text, name, len) == 0 && text[len] == ':')
        return text + len;
    if (len <= shown || strncmp(text, "...", 3) != 0 || strncmp(text + 3, name + len - shown, shown) != 0)
        return NULL;
    return text[3 + shown] == ':' ? text + 3 + shown : NULL;
}

static int fail(lua_State *L, const struct runner *run, const char *text)
{
    const char *rest = behind_name(text, run->name);

    lua_pushnil(L);
    if (rest)
        lua_pushfstring(L, "%s%s", run->name, rest);
    else
        lua_pushfstring(L, "%s: %s", run->name, text);
    lua_pushstring(L, weir_status_name(run->code));
    return 3;
}

/* Runs the texts and leaves the result at index 1 of S. Returns false with the error in buf. */
static bool run_sandbox(struct runner *run, char *buf, size_t size)
{
    lua_State *S = run->sandbox.S;
    int status;

    lua_pushcfunction(S, locate);
    lua_pushcfunction(S, run_all);
    lua_pushlightuserdata(S, run);
    status = lua_pcall(S, 1, 1, 1);
    lua_remove(S, 1);
    if (status == LUA_OK)
        return true;
    if (status == LUA_ERRMEM || run->sandbox.exhausted || run->sandbox.left < 0)
        run->code = WEIR_ELIMIT;
    weirlua_sandbox_text(&run->sandbox, buf, size);
    return false;
}

static struct runner *make_run(lua_State *L)
{
    struct runner *run = lua_newuserdatauv(L, sizeof *run, 0);

    *run = (struct runner){.host = L, .code = WEIR_EINVAL};
    luaL_setmetatable(L, RUN);
    run->text = lua_tolstring(L, 1, &run->len);
    run->name = lua_tostring(L, 2);
    run->prelude = lua_tolstring(L, PRELUDE, &run->prelude_len);
    return run;
}

/* Opens the state with the budgets in opts. Returns false where even an empty state exceeds the memory. */
static bool open_sandbox(lua_State *L, struct runner *run)
{
    struct sandbox_budget budget = {SANDBOX_RUN_INSTRUCTIONS, SANDBOX_RUN_BYTES, SANDBOX_SECONDS};

    weirlua_sandbox_budget(L, 3, &budget);
    return weirlua_sandbox_new(&run->sandbox, &budget);
}

int weirlua_sandbox_run(lua_State *L)
{
    static const char *const known[] = {"prelude", "source", "instructions", "memory", "seconds", NULL};
    char text[512];
    struct runner *run;
    int status;

    luaL_checkstring(L, 1);
    luaL_checkstring(L, 2);
    weirlua_options(L, 3, known);
    lua_settop(L, 3);
    lua_getfield(L, 3, "source");
    lua_getfield(L, 3, "prelude");
    run = make_run(L);
    lua_newtable(L);
    if (!open_sandbox(L, run)) {
        run->code = WEIR_ELIMIT;
        return fail(L, run, "not enough memory");
    }
    if (!run_sandbox(run, text, sizeof text)) {
        lua_settop(L, TOP);
        return fail(L, run, text);
    }
    lua_settop(L, TOP);
    lua_pushcfunction(L, copy_result);
    for (int i = 1; i <= TOP; i++)
        lua_pushvalue(L, i);
    status = lua_pcall(L, TOP, 1, 0);
    if (status != LUA_OK) {
        run->code = status == LUA_ERRMEM ? WEIR_ENOMEM : WEIR_EINVAL;
        snprintf(text, sizeof text, "%s", lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?");
        return fail(L, run, text);
    }
    weirlua_sandbox_close(&run->sandbox);
    return 1;
}

void weirlua_sandbox_run_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__gc", run_gc}, {"__close", run_gc}, {NULL, NULL}};

    weirlua_class(L, s, RUN, NULL, meta);
}
