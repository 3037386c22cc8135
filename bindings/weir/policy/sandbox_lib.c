/* sandbox_lib.c - the functions that a policy may call: parts of base, string, table, math, utf8. Invariant: a script
 * reaches only the functions listed at the end of this file. A call that may take more than SANDBOX_STEPS_MAX steps
 * raises before starting; any other call is charged, and budget, clock and signals are checked at the end of the call.
 * No function reads files or loads code, and no function can catch the end of a budget.
 *
 * A function without wrapper takes no longer than a few instructions, or the time to read one string; the allocator
 * gives no string longer than SANDBOX_TEXT_MAX, and long strings make the count hook run more often. */
#include "handle/support.h"
#include "policy/charge.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_CHEAP 1e6 /* steps of a pattern; cheaper patterns are not timed */
#define CHEAP_SHARE                                                                                                    \
    1000                  /* steps of a cheap pattern charged as one step: most patterns take far fewer steps than the \
                           * bound */
#define COMPARED       32 /* bytes compared in the time of a step */
#define ZERO_BYTE      8  /* steps to compare a byte: strcoll is called again after each zero byte */
#define ELEMENT        8  /* steps for an element of a table */
#define DIRECTIVE      500 /* steps for a directive of string.format */
#define SORTED_AT_ONCE 512 /* elements sorted by the original without a check of the budget */

/* Calls the original function, upvalue 1, with all arguments. */
static int forward(lua_State *S)
{
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_insert(S, 1);
    lua_call(S, lua_gettop(S) - 1, LUA_MULTRET);
    return lua_gettop(S);
}

/* Calls the original function and charges the steps. */
static int spend_forward(lua_State *S, double steps)
{
    int n = forward(S);

    weirlua_sandbox_spend(S, (int64_t)steps);
    return n;
}

static double length_of(lua_State *S, int arg)
{
    return lua_type(S, arg) == LUA_TSTRING ? (double)lua_rawlen(S, arg) : 0;
}

static void check_steps(lua_State *S, double steps, const char *what)
{
    if (steps > SANDBOX_STEPS_MAX * fmin(1, weirlua_sandbox_of(S)->seconds))
        luaL_error(S, "%s may take too long (%I steps, %I are allowed)", what, (LUAI_UACINT)fmin(steps, 1e18),
                   (LUAI_UACINT)(SANDBOX_STEPS_MAX * fmin(1, weirlua_sandbox_of(S)->seconds)));
}

/* Raises for a text above the limit. The error ends the script, like a failed allocation. */
static void check_text(lua_State *S, double bytes)
{
    if (bytes <= SANDBOX_TEXT_MAX)
        return;
    weirlua_sandbox_of(S)->exhausted = true;
    luaL_error(S, "not enough memory (a string may have %d KB)", SANDBOX_TEXT_MAX >> 10);
}

/* ---- pcall ---- */

/* Handles a failed call: raises the error again where the script must not see the error (the end of a budget), else
 * returns. */
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

/* xpcall. The handler is called after unwinding: during a message handler of Lua no count hook would run. */
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

/* ---- metatables ---- */

/* Returns whether a script may replace the metatable of the table at 1: the table has no metatable, or a metatable set
 * by a script without __metatable. */
static bool may_change(lua_State *S)
{
    bool may = true;

    if (lua_getmetatable(S, 1)) {
        lua_pushliteral(S, "__metatable");
        lua_rawget(S, -2);
        lua_rawgeti(S, -2, 1);
        may = lua_rawequal(S, -1, -2);
    }
    lua_settop(S, 2);
    return may;
}

static void refuse_event(lua_State *S, const char *event, const char *why)
{
    lua_pushstring(S, event);
    if (lua_rawget(S, 2) != LUA_TNIL)
        luaL_error(S, "%s (%s)", why, event);
    lua_pop(S, 1);
}

/* setmetatable(t, m): gives t a private table with the present metamethods of m, hidden from scripts: getmetatable
 * returns m. So a script cannot make a table weak later; collecting a weak table could take time quadratic in the
 * entries. */
static int safe_setmetatable(lua_State *S)
{
    static const char *const events[] = {
        "__index", "__newindex", "__call", "__tostring", "__len",  "__eq",    "__lt",    "__le",       "__concat",
        "__unm",   "__add",      "__sub",  "__mul",      "__div",  "__idiv",  "__mod",   "__pow",      "__band",
        "__bor",   "__bxor",     "__shl",  "__shr",      "__bnot", "__close", "__pairs", "__metatable"};
    luaL_checktype(S, 1, LUA_TTABLE);
    luaL_argexpected(S, lua_isnoneornil(S, 2) ? lua_isnil(S, 2) : lua_istable(S, 2), 2, "nil or table");
    lua_settop(S, 2);
    if (!may_change(S))
        return luaL_error(S, "cannot change a protected metatable");
    if (lua_istable(S, 2)) {
        refuse_event(S, "__gc", "there are no finalizers here");
        refuse_event(S, "__mode", "there are no weak tables here");
        lua_createtable(S, 1, 4);
        lua_pushvalue(S, 2);
        lua_rawseti(S, 3, 1);
        lua_pushvalue(S, 2);
        lua_setfield(S, 3, "__metatable");
        for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
            lua_pushstring(S, events[i]);
            lua_pushvalue(S, -1);
            if (lua_rawget(S, 2) != LUA_TNIL)
                lua_rawset(S, 3);
            lua_settop(S, 3);
        }
    }
    lua_setmetatable(S, 1);
    lua_settop(S, 1);
    return 1;
}

/* ---- tables: without metamethods of elements, and with loops charged ---- */

/* Returns the length of a table. Raises for a metatable with methods that an access to elements would call. The mark
 * of an array of a jobspec, or a metatable for printing and arithmetic, is allowed. */
static double check_plain(lua_State *S, int arg)
{
    static const char *const events[] = {"__index", "__newindex", "__len"};

    if (lua_type(S, arg) != LUA_TTABLE)
        return 0;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (luaL_getmetafield(S, arg, events[i]) != LUA_TNIL)
            luaL_argerror(S, arg, lua_pushfstring(S, "a table without %s in the metatable expected", events[i]));
    return (double)lua_rawlen(S, arg);
}

/* insert(t, v), insert(t, at, v), remove(t), remove(t, at): charges the elements moved behind `at`. */
static int safe_shift(lua_State *S)
{
    double steps = check_plain(S, 1) * ELEMENT;

    if (lua_gettop(S) < 2 || (lua_gettop(S) == 2 && lua_toboolean(S, lua_upvalueindex(2))))
        return forward(S);
    check_steps(S, steps, "to move the elements of this table");
    return spend_forward(S, steps);
}

/* Returns the number of elements between the indices at arguments `first` and `last`, by default 1 and the length of
 * the table. */
static double range_of(lua_State *S, int first, int last, double length)
{
    double from = (double)luaL_optinteger(S, first, 1),
           to = lua_isnoneornil(S, last) ? length : (double)luaL_checkinteger(S, last);

    return to < from ? 0 : to - from + 1;
}

static int safe_unpack(lua_State *S)
{
    return spend_forward(S, fmin(range_of(S, 2, 3, check_plain(S, 1)), LUAI_MAXSTACK) * ELEMENT);
}

/* concat. Sums the bytes of all elements and separators first: the original would copy all before the text is
 * refused. */
static int safe_concat(lua_State *S)
{
    double n = range_of(S, 3, 4, check_plain(S, 1)), bytes = n > 1 ? (n - 1) * length_of(S, 2) : 0;
    lua_Integer first = luaL_optinteger(S, 3, 1);

    luaL_checktype(S, 1, LUA_TTABLE);
    for (lua_Integer i = 0; i < (lua_Integer)fmin(n, SANDBOX_TEXT_MAX) && bytes <= SANDBOX_TEXT_MAX; i++) {
        if (lua_rawgeti(S, 1, first + i) == LUA_TNIL)
            break; /* the original reports the element */
        bytes += length_of(S, -1);
        lua_pop(S, 1);
        if (i % 1024 == 0)
            weirlua_sandbox_spend(S, 1024);
    }
    lua_settop(S, lua_gettop(S) < 4 ? lua_gettop(S) : 4);
    check_text(S, bytes);
    check_steps(S, fmin(n, 1e15), n > SANDBOX_TEXT_MAX ? "to join so many elements" : "");
    return spend_forward(S, fmin(n, SANDBOX_TEXT_MAX) * ELEMENT + bytes);
}

static int safe_move(lua_State *S)
{
    double n = range_of(S, 2, 3, 0);

    luaL_checkinteger(S, 2);
    luaL_checkinteger(S, 3);
    check_plain(S, 1);
    check_plain(S, 5);
    luaL_argcheck(S, n * ELEMENT * 2 <= SANDBOX_STEPS_MAX, 3, "too many elements to move");
    return spend_forward(S, n * ELEMENT * 2);
}

/* ---- sorting ---- */

/* The comparison of safe_sort(): whether a comes before b; upvalue 1: the script's function, or nil. Charged, since no
 * count hook runs during a sort in C. */
static int before(lua_State *S)
{
    if (lua_isnil(S, lua_upvalueindex(1))) {
        weirlua_sandbox_spend(S, 32 + ZERO_BYTE * (int64_t)fmin(length_of(S, 1), length_of(S, 2)));
        lua_pushboolean(S, lua_compare(S, 1, 2, LUA_OPLT));
        return 1;
    }
    weirlua_sandbox_spend(S, 32);
    lua_settop(S, 2);
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_insert(S, 1);
    lua_call(S, 2, 1);
    return 1;
}

/* Returns the bytes of all texts in the list at 1 of length n. */
static double texts_in(lua_State *S, lua_Unsigned n)
{
    double bytes = 0;

    for (lua_Unsigned i = 1; i <= n; i++) {
        lua_rawgeti(S, 1, (lua_Integer)i);
        bytes += length_of(S, -1);
        lua_pop(S, 1);
    }
    return bytes;
}

/* sort. A short list is sorted by the original alone; for a long list the comparison checks the budget. */
static int safe_sort(lua_State *S)
{
    double n = check_plain(S, 1);

    if (lua_type(S, 1) == LUA_TTABLE && !lua_isnoneornil(S, 2))
        luaL_checktype(S, 2, LUA_TFUNCTION);
    if (lua_type(S, 1) == LUA_TTABLE && (lua_isnoneornil(S, 2) || lua_iscfunction(S, 2)) &&
        (n > SORTED_AT_ONCE || lua_iscfunction(S, 2) || texts_in(S, (lua_Unsigned)n) > SORTED_AT_ONCE * 64)) {
        lua_settop(S, 2);
        lua_pushcclosure(S, before, 1);
    }
    return spend_forward(S, n * ELEMENT);
}

/* ---- patterns: the time is bounded by a power of the string's length, the power being the number of repetitions
 * ---- */

/* %b searches for the closing byte, %1 compares with a capture. */
static double steps_of_escape(char what, size_t len)
{
    return what == 'b' ? (double)len + 1 : what >= '1' && what <= '9' ? (double)len / COMPARED + 1 : 1;
}

/* Returns a bound of the steps of a match. The start of a match and the ends of all repetitions are ascending positions
 * in the string: as many choices as k elements of len + k. For each choice, a set takes time proportional to the
 * pattern. */
static double steps_of(const char *pattern, size_t plen, size_t len, bool anchored)
{
    double steps = anchored ? 1 : (double)len + 1;
    int k = anchored ? 0 : 1;

    for (size_t i = 0; i < plen; i++) {
        if (pattern[i] == '%') {
            steps *= steps_of_escape(i + 1 < plen ? pattern[i + 1] : 0, len), i++;
        } else if (strchr("*+-", pattern[i])) {
            k++;
            steps *= ((double)len + k) / k;
        } else if (pattern[i] == '?') {
            steps *= 2;
        }
    }
    return steps * ((double)plen + 1);
}

/* Returns the bound of steps for a search of the pattern at 2 in the string at 1; raises for a bound above the
 * limit. */
static double check_pattern(lua_State *S, bool anchors)
{
    size_t len, plen;
    const char *pattern;
    double steps;

    luaL_checklstring(S, 1, &len);
    pattern = luaL_checklstring(S, 2, &plen);
    steps = steps_of(pattern, plen, len, anchors && plen && pattern[0] == '^');
    check_steps(S, steps, "this pattern on such a string");
    return steps;
}

/* Calls the original and charges the steps. Most patterns take far fewer steps than the bound, so expensive patterns
 * are charged by the clock. */
static int timed(lua_State *S, double steps)
{
    int64_t begin = steps < PATTERN_CHEAP ? 0 : weirlua_clock();
    int n = forward(S);

    weirlua_sandbox_spend(S, begin ? weirlua_clock() - begin : (int64_t)(steps / CHEAP_SHARE) + 64);
    return n;
}

static int safe_match(lua_State *S)
{
    return timed(S, check_pattern(S, true));
}

/* Returns the bytes copied by gsub: a replacement text is copied for each match, with each capture named, of at most
 * the match's length. */
static double steps_of_replacement(lua_State *S, double len)
{
    size_t rlen, names = 0;
    const char *text = lua_type(S, 3) == LUA_TSTRING ? lua_tolstring(S, 3, &rlen) : NULL;

    if (!text)
        return 0;
    for (size_t i = 0; i < rlen; i++)
        names += text[i] == '%';
    return fmin(len + 1, fmax((double)luaL_optinteger(S, 4, LUA_MAXINTEGER), 0)) * (double)(rlen + names) +
           (double)names * len;
}

static int safe_gsub(lua_State *S)
{
    double steps = check_pattern(S, true), copied = steps_of_replacement(S, length_of(S, 1));

    check_steps(S, copied, "this replacement on such a string");
    return timed(S, steps + copied);
}

/* find. A plain text may be compared at each position of the string. */
static int safe_find(lua_State *S)
{
    size_t len, plen;
    double steps;

    if (!lua_toboolean(S, 4))
        return safe_match(S);
    luaL_checklstring(S, 1, &len);
    luaL_checklstring(S, 2, &plen);
    steps = plen > len ? 1 : (double)(len - plen + 1) * ((double)plen / COMPARED + 1);
    if (steps > SANDBOX_STEPS_MAX * fmin(1, weirlua_sandbox_of(S)->seconds))
        return luaL_error(S, "to look for %d bytes may take too long on a string of %d bytes", (int)plen, (int)len);
    return timed(S, steps);
}

/* The iterator of gmatch. Upvalues: the original iterator, the steps of a call. */
static int next_match(lua_State *S)
{
    return timed(S, lua_tonumber(S, lua_upvalueindex(2)));
}

/* gmatch. A "^" is a plain character here, and no anchor. */
static int safe_gmatch(lua_State *S)
{
    double steps = check_pattern(S, false);

    forward(S);
    lua_settop(S, 1);
    lua_pushnumber(S, steps);
    lua_pushcclosure(S, next_match, 2);
    return 1;
}

/* ---- strings ---- */

/* Functions that take time proportional to the length of the strings passed. */
static int safe_string(lua_State *S)
{
    return spend_forward(S, length_of(S, 1) + length_of(S, 2));
}

/* tonumber: numbers and short texts without a base need no call of the original. */
static int safe_tonumber(lua_State *S)
{
    const char *text;
    size_t len;

    if (lua_gettop(S) == 1 && lua_type(S, 1) == LUA_TNUMBER)
        return 1;
    text = lua_gettop(S) == 1 && lua_type(S, 1) == LUA_TSTRING ? lua_tolstring(S, 1, &len) : NULL;
    if (!text || len > COMPARED)
        return safe_string(S);
    if (lua_stringtonumber(S, text) != len + 1)
        lua_pushnil(S);
    return 1;
}

static int safe_rep(lua_State *S)
{
    double n = (double)luaL_checkinteger(S, 2), bytes;
    size_t each, between;

    luaL_checklstring(S, 1, &each);
    luaL_optlstring(S, 3, "", &between);
    bytes = n > 0 ? n * (double)each + (n - 1) * (double)between : 0;
    if (bytes <= 0) { /* the original would loop */
        lua_pushliteral(S, "");
        return 1;
    }
    check_text(S, bytes);
    return spend_forward(S, bytes);
}

static int safe_format(lua_State *S)
{
    size_t len;
    const char *text = luaL_checklstring(S, 1, &len);
    double steps = (double)len, bytes = 0;

    weirlua_sandbox_hide(S);
    for (size_t i = 0; i < len; i++)
        steps += text[i] == '%' ? DIRECTIVE : 0;
    for (int i = 2; i <= lua_gettop(S); i++)
        bytes += length_of(S, i);
    check_steps(S, steps + bytes, "so long a format");
    return spend_forward(S, steps + bytes);
}

/* pack. In a format such as "c1000000" the numbers are bytes of the result. */
static int safe_pack(lua_State *S)
{
    size_t len;
    const char *format = luaL_checklstring(S, 1, &len), *end = format + len;
    double bytes = 0;

    for (const char *at = format; at < end; at++)
        if (*at >= '0' && *at <= '9') {
            char *rest;
            bytes += weir_number_read(at, &rest);
            at = rest > at ? rest - 1 : at;
        }
    check_text(S, bytes);
    for (int i = 2; i <= lua_gettop(S); i++)
        bytes += length_of(S, i);
    return spend_forward(S, bytes + (double)len * ELEMENT);
}

/* ---- print ---- */

static int printing = -1; /* whether print writes; -1: as the environment says */

static bool prints(void)
{
    const char *text = printing < 0 ? getenv("WEIR_POLICY_PRINT") : NULL;

    if (printing < 0)
        printing = text && *text && strcmp(text, "0") != 0;
    return printing;
}

/* policy_print([on]): sets whether print of a sandbox writes; returns the setting before the call. */
int weirlua_policy_print(lua_State *L)
{
    bool before = prints();

    if (!lua_isnoneornil(L, 1)) {
        luaL_checktype(L, 1, LUA_TBOOLEAN);
        printing = lua_toboolean(L, 1);
    }
    lua_pushboolean(L, before);
    return 1;
}

/* print(...): a line on stderr, with the place of the call in front. Writes nothing unless enabled. */
static int safe_print(lua_State *S)
{
    int n = lua_gettop(S);
    luaL_Buffer b;
    size_t len;
    const char *text;
    char place[PLACE_SIZE];

    if (!prints())
        return 0;
    weirlua_sandbox_of(S)->unfollowed = "print";
    weirlua_sandbox_place(S, place, sizeof place);
    luaL_buffinit(S, &b);
    luaL_addstring(&b, place);
    for (int i = 1; i <= n; i++) {
        weirlua_hide_address(S, i);
        if (i > 1)
            luaL_addchar(&b, '\t');
        luaL_tolstring(S, i, NULL);
        luaL_addvalue(&b);
    }
    luaL_addchar(&b, '\n');
    luaL_pushresult(&b);
    text = lua_tolstring(S, -1, &len);
    fwrite(text, 1, len, stderr);
    weirlua_sandbox_spend(S, (int64_t)len * ELEMENT + DIRECTIVE);
    return 0;
}

/* ---- globals of a policy ---- */

/* (_G, name, value): a global set by a policy is mostly a forgotten `local`. */
static int refuse_global(lua_State *S)
{
    const char *name;

    lua_settop(S, 2);
    weirlua_frozen_bare(S, 1);
    name = weirlua_quote(S, luaL_tolstring(S, 2, NULL));
    lua_pushvalue(S, 2);
    if (lua_rawget(S, 1) != LUA_TNIL)
        return luaL_error(S, "the global '%s' is set, which a policy needs as it is: write `local %s`", name, name);
    return luaL_error(S, "the global '%s' is set: write `local %s`", name, name);
}

/* (library, name, value) */
static int refuse_library(lua_State *S)
{
    return luaL_error(S, "the function '%s' of a library is set: the libraries of a policy cannot be changed",
                      weirlua_quote(S, luaL_tolstring(S, 2, NULL)));
}

/* (_G, name): a global that does not exist is mostly mistyped, or missing in the sandbox. */
static int unknown_global(lua_State *S)
{
    static const char *const missing[] = {"require",        "os",         "io",     "debug",    "package",
                                          "load",           "loadstring", "dofile", "loadfile", "coroutine",
                                          "collectgarbage", "warn",       NULL};
    const char *name = weirlua_quote(S, luaL_tolstring(S, 2, NULL));

    for (int i = 0; missing[i]; i++)
        if (strcmp(missing[i], name) == 0)
            luaL_error(S,
                       "there is no '%s' in the sandbox of a policy; it has string, table, math, utf8 and the basic "
                       "functions without files, loading and coroutines",
                       name);
    return luaL_error(S, "there is no global '%s'%s", name, weirlua_hint_of_keys(S, name, 1));
}

/* Freezes the libraries in the table of globals at `globals`, and what getmetatable gives for a text. */
static void freeze_libraries(lua_State *S, int globals)
{
    static const char *const names[] = {LUA_STRLIBNAME, LUA_TABLIBNAME, LUA_MATHLIBNAME, LUA_UTF8LIBNAME};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lua_getfield(S, globals, names[i]);
        weirlua_freeze(S, refuse_library, FREEZE_SORTED | FREEZE_LASTING);
        lua_setfield(S, globals, names[i]);
    }
    lua_pushliteral(S, "");
    lua_getmetatable(S, -1);
    lua_getfield(S, globals, LUA_STRLIBNAME);
    lua_setfield(S, -2, "__index");
    lua_pushvalue(S, -1);
    weirlua_freeze(S, refuse_library, FREEZE_SORTED | FREEZE_LASTING);
    lua_setfield(S, -2, "__metatable");
    lua_pop(S, 2);
}

void weirlua_sandbox_close_globals(lua_State *S)
{
    int globals;

    lua_pushglobaltable(S);
    globals = lua_gettop(S);
    freeze_libraries(S, globals);
    lua_createtable(S, 0, 3);
    lua_pushcfunction(S, refuse_global);
    lua_setfield(S, -2, "__newindex");
    lua_pushcfunction(S, unknown_global);
    lua_setfield(S, -2, "__index");
    lua_pushliteral(S, "globals");
    lua_setfield(S, -2, "__metatable");
    lua_setmetatable(S, globals);
    lua_pushvalue(S, globals);
    weirlua_freeze(S, refuse_global, FREEZE_SORTED | FREEZE_LASTING);
    lua_pushvalue(S, -1);
    lua_setfield(S, globals, LUA_GNAME);
    lua_rawseti(S, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS); /* the globals of texts that are compiled from now on */
    lua_settop(S, globals - 1);
}

/* ---- rawget and rawset ---- */

static int raw_get(lua_State *S)
{
    luaL_checktype(S, 1, LUA_TTABLE);
    luaL_checkany(S, 2);
    lua_settop(S, 2);
    if (!weirlua_request_bare(S, 1))
        weirlua_frozen_bare(S, 1);
    lua_rawget(S, 1);
    return 1;
}

static int raw_set(lua_State *S)
{
    luaL_checktype(S, 1, LUA_TTABLE);
    luaL_checkany(S, 2);
    luaL_checkany(S, 3);
    lua_settop(S, 3);
    weirlua_request_bare(S, 1);
    if (weirlua_frozen(S, 1))
        return luaL_error(S, "rawset: a table that can only be read, such as _G, a library or a state");
    lua_rawset(S, 1);
    lua_settop(S, 1);
    return 1;
}

/* ---- the whitelist ---- */

/* A function that scripts may call. */
struct allowed {
    const char *name;
    lua_CFunction wrapper; /* with the original as upvalue 1; NULL: the original itself */
    const char *beside;    /* upvalue 2: a function of the same library; NULL: false */
};

static const struct allowed base[] = {{"assert", NULL, NULL},
                                      {"error", NULL, NULL},
                                      {"getmetatable", NULL, NULL},
                                      {"ipairs", NULL, NULL},
                                      {"rawget", raw_get, NULL},
                                      {"rawlen", NULL, NULL},
                                      {"rawset", raw_set, NULL},
                                      {"select", NULL, NULL},
                                      {"type", NULL, NULL},
                                      {"next", weirlua_sandbox_next, NULL},
                                      {"pairs", weirlua_sandbox_pairs, NULL},
                                      {"pcall", safe_pcall, NULL},
                                      {"print", safe_print, NULL},
                                      {"rawequal", safe_string, NULL},
                                      {"setmetatable", safe_setmetatable, NULL},
                                      {"tonumber", safe_tonumber, NULL},
                                      {"tostring", weirlua_sandbox_tostring, NULL},
                                      {"xpcall", safe_xpcall, NULL},
                                      {NULL, NULL, NULL}};

static const struct allowed strings[] = {{"byte", safe_string, NULL},
                                         {"char", NULL, NULL},
                                         {"find", safe_find, NULL},
                                         {"format", safe_format, NULL},
                                         {"gmatch", safe_gmatch, NULL},
                                         {"gsub", safe_gsub, NULL},
                                         {"len", NULL, NULL},
                                         {"lower", safe_string, NULL},
                                         {"match", safe_match, NULL},
                                         {"pack", safe_pack, NULL},
                                         {"packsize", safe_pack, NULL},
                                         {"rep", safe_rep, NULL},
                                         {"reverse", safe_string, NULL},
                                         {"sub", NULL, NULL},
                                         {"unpack", safe_pack, NULL},
                                         {"upper", safe_string, NULL},
                                         {NULL, NULL, NULL}};

static const struct allowed tables[] = {{"concat", safe_concat, NULL}, {"insert", safe_shift, "insert"},
                                        {"move", safe_move, NULL},     {"pack", NULL, NULL},
                                        {"remove", safe_shift, NULL},  {"sort", safe_sort, NULL},
                                        {"unpack", safe_unpack, NULL}, {NULL, NULL, NULL}};

static const struct allowed numbers[] = {{"abs", NULL, NULL},
                                         {"acos", NULL, NULL},
                                         {"asin", NULL, NULL},
                                         {"atan", NULL, NULL},
                                         {"ceil", NULL, NULL},
                                         {"cos", NULL, NULL},
                                         {"deg", NULL, NULL},
                                         {"exp", NULL, NULL},
                                         {"floor", NULL, NULL},
                                         {"fmod", NULL, NULL},
                                         {"log", NULL, NULL},
                                         {"max", NULL, NULL},
                                         {"min", NULL, NULL},
                                         {"modf", NULL, NULL},
                                         {"rad", NULL, NULL},
                                         {"random", weirlua_sandbox_random, "randomseed"},
                                         {"sin", NULL, NULL},
                                         {"sqrt", NULL, NULL},
                                         {"tan", NULL, NULL},
                                         {"tointeger", safe_string, NULL},
                                         {"type", NULL, NULL},
                                         {"ult", NULL, NULL},
                                         /* where Lua has the functions of 5.2: */
                                         {"cosh", NULL, NULL},
                                         {"sinh", NULL, NULL},
                                         {"tanh", NULL, NULL},
                                         {"pow", NULL, NULL},
                                         {"frexp", NULL, NULL},
                                         {"ldexp", NULL, NULL},
                                         {"log10", NULL, NULL},
                                         {NULL, NULL, NULL}};

static const struct allowed utf8[] = {{"char", NULL, NULL},          {"codepoint", safe_string, NULL},
                                      {"codes", NULL, NULL},         {"len", safe_string, NULL},
                                      {"offset", safe_string, NULL}, {NULL, NULL, NULL}};

/* Removes all functions except the allowed functions from the table on top of the stack. */
static void drop_others(lua_State *S, const struct allowed *list)
{
    for (lua_pushnil(S); lua_next(S, -2); lua_pop(S, 1)) {
        const struct allowed *f = list;
        if (!lua_isfunction(S, -1))
            continue;
        while (f->name && strcmp(f->name, lua_tostring(S, -2)) != 0)
            f++;
        if (f->name)
            continue;
        lua_pushvalue(S, -2);
        lua_pushnil(S);
        lua_rawset(S, -5);
    }
}

static void allow(lua_State *S, const struct allowed *list)
{
    for (const struct allowed *f = list; f->name; f++) {
        if (!f->wrapper)
            continue;
        lua_getfield(S, -1, f->name);
        if (f->beside)
            lua_getfield(S, -2, f->beside);
        else
            lua_pushboolean(S, 0);
        lua_pushcclosure(S, f->wrapper, 2);
        lua_setfield(S, -2, f->name);
    }
    drop_others(S, list);
}

void weirlua_sandbox_libraries(lua_State *S)
{
    static const struct {
        const char *name;
        lua_CFunction open;
        const struct allowed *list;
    } libraries[] = {{LUA_STRLIBNAME, luaopen_string, strings},
                     {LUA_TABLIBNAME, luaopen_table, tables},
                     {LUA_MATHLIBNAME, luaopen_math, numbers},
                     {LUA_UTF8LIBNAME, luaopen_utf8, utf8},
                     {LUA_GNAME, luaopen_base, base}};

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(S, libraries[i].name, libraries[i].open, 1);
        allow(S, libraries[i].list);
        lua_pop(S, 1);
    }
}
