/* sandbox_lib.c - what a policy may call: parts of base, string, table, math, utf8. Invariant: no function here runs
 * for long without being charged, none reads files or loads code, and none can catch the end of a budget. */
#include "policy/policy.h"

#include <math.h>
#include <string.h>

#define PATTERN_STEPS  1e8 /* a pattern that may take more is refused */
#define PATTERN_CHEAP  1e6 /* one that takes less is not timed */
#define COMPARED       32  /* bytes that are compared in the time of a step */
#define MOVE_MAX       10000000
#define LONG           4096 /* bytes of a string that are worth a look at the clock */
#define NS_INSTRUCTION 10 /* nanoseconds of a C function for one instruction */

/* Calls the original, upvalue 1, with all arguments. */
static int forward(lua_State *S)
{
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_insert(S, 1);
    lua_call(S, lua_gettop(S) - 1, LUA_MULTRET);
    return lua_gettop(S);
}

/* ---- pcall ---- */

/* A failed call: returns when the policy may see the error. */
static void rethrow(lua_State *S, int status)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    if (status == LUA_ERRMEM)
        sb->exhausted = true;
    if (sb->exhausted)
        lua_error(S);
}

static int safe_pcall(lua_State *S)
{
    int status;

    luaL_checkany(S, 1);
    lua_pushboolean(S, 1);
    lua_insert(S, 1);
    status = lua_pcall(S, lua_gettop(S) - 2, LUA_MULTRET, 0);
    if (status == LUA_OK)
        return lua_gettop(S);
    rethrow(S, status);
    lua_pushboolean(S, 0);
    lua_insert(S, -2);
    return 2;
}

/* The handler is called after the error has unwound: within it, no count hook would run. */
static int safe_xpcall(lua_State *S)
{
    int status;

    luaL_checktype(S, 2, LUA_TFUNCTION);
    lua_pushboolean(S, 1);
    lua_pushvalue(S, 1);
    lua_rotate(S, 3, 2); /* f, handler, true, f, arguments */
    status = lua_pcall(S, lua_gettop(S) - 4, LUA_MULTRET, 0);
    if (status == LUA_OK)
        return lua_gettop(S) - 2;
    rethrow(S, status);
    lua_pushboolean(S, 0);
    lua_insert(S, -2);
    lua_pushvalue(S, 2);
    lua_insert(S, -2);
    lua_call(S, 1, 1);
    return 2;
}

static int safe_setmetatable(lua_State *S)
{
    if (lua_type(S, 2) == LUA_TTABLE) {
        lua_pushliteral(S, "__gc");
        if (lua_rawget(S, 2) != LUA_TNIL)
            return luaL_error(S, "there are no finalizers (__gc) here");
        lua_pop(S, 1);
    }
    return forward(S);
}

/* ---- tables: no metatables, and loops are charged ---- */

static void check_plain(lua_State *S, int arg)
{
    if (lua_type(S, arg) == LUA_TTABLE && lua_getmetatable(S, arg))
        luaL_argerror(S, arg, "a table without a metatable expected");
}

static int safe_table(lua_State *S)
{
    weirlua_sandbox_look(S);
    check_plain(S, 1);
    if (lua_type(S, 1) == LUA_TTABLE && lua_gettop(S) > 1)
        weirlua_sandbox_charge(weirlua_sandbox_of(S), (int64_t)(lua_rawlen(S, 1) / 4));
    return forward(S);
}

static int safe_append(lua_State *S)
{
    check_plain(S, 1);
    if (lua_type(S, 1) == LUA_TTABLE && lua_gettop(S) > 2)
        weirlua_sandbox_charge(weirlua_sandbox_of(S), (int64_t)(lua_rawlen(S, 1) / 4));
    return forward(S);
}

static bool is_long(lua_State *S, int at)
{
    return lua_type(S, at) == LUA_TSTRING && lua_rawlen(S, at) > LONG;
}

/* a < b, where that may take long: no count hook runs within a sort that compares by itself. */
static int less(lua_State *S)
{
    weirlua_sandbox_watch(S);
    lua_pushboolean(S, lua_compare(S, 1, 2, LUA_OPLT));
    return 1;
}

static bool has_long(lua_State *S, int list)
{
    lua_Unsigned n = lua_rawlen(S, list);
    bool found = false;

    for (lua_Unsigned i = 1; i <= n && !found; i++) {
        lua_rawgeti(S, list, (lua_Integer)i);
        found = is_long(S, -1);
        lua_pop(S, 1);
    }
    return found;
}

static int safe_sort(lua_State *S)
{
    weirlua_sandbox_look(S);
    check_plain(S, 1);
    if (lua_type(S, 1) == LUA_TTABLE) {
        weirlua_sandbox_charge(weirlua_sandbox_of(S), (int64_t)lua_rawlen(S, 1) * 4);
        if (lua_isnoneornil(S, 2) && has_long(S, 1)) {
            lua_settop(S, 1);
            lua_pushcfunction(S, less);
        }
    }
    return forward(S);
}

static int safe_move(lua_State *S)
{
    lua_Integer f = luaL_checkinteger(S, 2), e = luaL_checkinteger(S, 3);

    weirlua_sandbox_look(S);
    check_plain(S, 1);
    check_plain(S, 5);
    luaL_argcheck(S, e < f || (uint64_t)e - (uint64_t)f < MOVE_MAX, 3, "too many elements");
    if (e >= f)
        weirlua_sandbox_charge(weirlua_sandbox_of(S), (e - f) / 4);
    return forward(S);
}

/* ---- patterns: how long one may take grows with the length of the string to the number of its repetitions ---- */

/* %b looks for its end, %1 compares with what was captured. */
static double steps_of_escape(char what, size_t len)
{
    return what == 'b' ? (double)len + 1 : what >= '1' && what <= '9' ? (double)len / COMPARED + 1 : 1;
}

static double steps_of(const char *pattern, size_t plen, size_t len)
{
    double steps = plen && pattern[0] == '^' ? 1 : (double)len + 1;

    for (size_t i = 0; i < plen; i++) {
        if (pattern[i] == '%')
            steps *= steps_of_escape(i + 1 < plen ? pattern[i + 1] : 0, len), i++;
        else if (strchr("*+-", pattern[i]))
            steps *= (double)len + 1;
        else if (pattern[i] == '?')
            steps *= 2;
    }
    return steps * ((double)plen + 1);
}

/* The steps that a call of find, match, gmatch or gsub may take. */
static double check_pattern(lua_State *S)
{
    size_t len, plen;
    const char *pattern;
    double steps;

    luaL_checklstring(S, 1, &len);
    pattern = luaL_checklstring(S, 2, &plen);
    steps = steps_of(pattern, plen, len);
    if (steps > PATTERN_STEPS * fmin(1, weirlua_sandbox_of(S)->seconds))
        luaL_error(S, "this pattern may take too long on a string of %d bytes", (int)len);
    return steps;
}

static int safe_pattern(lua_State *S)
{
    double steps = check_pattern(S);
    int64_t begin;
    int n;

    weirlua_sandbox_charge(weirlua_sandbox_of(S), (int64_t)fmin(steps, PATTERN_CHEAP) / 1000);
    if (steps < PATTERN_CHEAP) {
        n = forward(S);
        weirlua_sandbox_look(S);
        return n;
    }
    begin = weirlua_clock();
    n = forward(S);
    weirlua_sandbox_charge(weirlua_sandbox_of(S), (weirlua_clock() - begin) / NS_INSTRUCTION);
    weirlua_sandbox_look(S);
    return n;
}

/* What takes as long as the string is. */
static int safe_string(lua_State *S)
{
    weirlua_sandbox_look(S);
    return forward(S);
}

/* Nothing, however often, is nothing; the original would count. The rest is bounded by the memory there is, and charged after it. */
static int safe_rep(lua_State *S)
{
    lua_Integer n = luaL_checkinteger(S, 2);
    size_t each, between;
    int results;

    luaL_checklstring(S, 1, &each);
    luaL_optlstring(S, 3, "", &between);
    if (each + between == 0) {
        lua_pushliteral(S, "");
        return 1;
    }
    results = forward(S);
    weirlua_sandbox_charge(weirlua_sandbox_of(S), n > 0 ? n / NS_INSTRUCTION : 0);
    return results;
}

/* What takes as long as its first argument, where that is a long string. */
static int safe_long(lua_State *S)
{
    if (is_long(S, 1))
        weirlua_sandbox_watch(S);
    return forward(S);
}

/* A text that is looked for as it is may be compared at each place. */
static int safe_plain(lua_State *S)
{
    size_t len, plen;
    double steps;

    luaL_checklstring(S, 1, &len);
    luaL_checklstring(S, 2, &plen);
    steps = plen > len ? 1 : (double)(len - plen + 1) * ((double)plen / COMPARED + 1);
    if (steps > PATTERN_STEPS * fmin(1, weirlua_sandbox_of(S)->seconds))
        return luaL_error(S, "to look for %d bytes may take too long on a string of %d bytes", (int)plen, (int)len);
    weirlua_sandbox_charge(weirlua_sandbox_of(S), (int64_t)(steps / 64));
    weirlua_sandbox_look(S);
    return forward(S);
}

static int safe_find(lua_State *S)
{
    return lua_toboolean(S, 4) ? safe_plain(S) : safe_pattern(S);
}

static int safe_gmatch(lua_State *S)
{
    weirlua_sandbox_charge(weirlua_sandbox_of(S), (int64_t)(check_pattern(S) / 100));
    return forward(S);
}

/* ---- the whitelist ---- */

/* Wraps functions of the table on top of the stack. */
static void wrap(lua_State *S, const luaL_Reg *list)
{
    for (; list->name; list++) {
        lua_getfield(S, -1, list->name);
        lua_pushcclosure(S, list->func, 1);
        lua_setfield(S, -2, list->name);
    }
}

static void drop(lua_State *S, const char *const *names)
{
    for (; *names; names++) {
        lua_pushnil(S);
        lua_setfield(S, -2, *names);
    }
}

void weirlua_sandbox_libraries(lua_State *S)
{
    static const luaL_Reg libraries[] = {{LUA_STRLIBNAME, luaopen_string}, {LUA_TABLIBNAME, luaopen_table},
                                         {LUA_MATHLIBNAME, luaopen_math},  {LUA_UTF8LIBNAME, luaopen_utf8},
                                         {LUA_GNAME, luaopen_base},        {NULL, NULL}};
    static const char *const base[] = {"dofile", "loadfile", "load", "print", "warn", "collectgarbage", NULL};
    static const char *const strings[] = {"dump", NULL};
    static const luaL_Reg calls[] = {
        {"pcall", safe_pcall}, {"xpcall", safe_xpcall}, {"setmetatable", safe_setmetatable}, {"tonumber", safe_long},
        {"rawequal", safe_long}, {NULL, NULL}};
    static const luaL_Reg patterns[] = {
        {"find", safe_find}, {"match", safe_pattern}, {"gsub", safe_pattern}, {"gmatch", safe_gmatch}, {NULL, NULL}};
    static const luaL_Reg long_strings[] = {
        {"upper", safe_string}, {"lower", safe_string}, {"reverse", safe_string}, {"rep", safe_rep},
        {"packsize", safe_long}, {"pack", safe_long}, {"unpack", safe_long}, {NULL, NULL}};
    static const luaL_Reg utf8[] = {{"len", safe_string}, {"codepoint", safe_string}, {"offset", safe_string}, {NULL, NULL}};
    static const luaL_Reg tables[] = {{"concat", safe_table},
                                      {"unpack", safe_table},
                                      {"insert", safe_append},
                                      {"remove", safe_table},
                                      {"move", safe_move},
                                      {"sort", safe_sort},
                                      {NULL, NULL}};

    for (const luaL_Reg *lib = libraries; lib->name; lib++) {
        luaL_requiref(S, lib->name, lib->func, 1);
        if (lib->func == luaopen_string)
            drop(S, strings), wrap(S, patterns), wrap(S, long_strings);
        else if (lib->func == luaopen_utf8)
            wrap(S, utf8);
        else if (lib->func == luaopen_table)
            wrap(S, tables);
        else if (lib->func == luaopen_base)
            drop(S, base), wrap(S, calls);
        lua_pop(S, 1);
    }
    weirlua_sandbox_order(S);
}
