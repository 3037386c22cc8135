/* support.c - owners of C memory, results, times and option tables. Invariant: an owner frees the memory exactly
 * once. */
#include "handle/support.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OWNER      "weir.owner"
#define TIME_LIMIT 9.2e12 /* seconds; int64_t microseconds end a little later */
#define PER_SECOND 1000000

/* ---- owners of C memory ---- */

struct weirlua_owner *weirlua_owner_push(lua_State *L, void (*release)(void *p))
{
    struct weirlua_owner *b = lua_newuserdatauv(L, sizeof *b, 0);

    *b = (struct weirlua_owner){NULL, release};
    luaL_setmetatable(L, OWNER);
    return b;
}

void weirlua_owner_clear(struct weirlua_owner *b)
{
    void *p = b->p;

    b->p = NULL;
    if (p)
        b->release(p);
}

static int owner_gc(lua_State *L)
{
    weirlua_owner_clear(luaL_checkudata(L, 1, OWNER));
    return 0;
}

void weirlua_owner_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__gc", owner_gc}, {"__close", owner_gc}, {NULL, NULL}};
    weirlua_class(L, s, OWNER, NULL, meta);
}

void weirlua_weigh(lua_State *L, size_t bytes)
{
    int kilobytes = bytes / 1024 < INT_MAX ? (int)(bytes / 1024) : INT_MAX;

    if (kilobytes > 0 && lua_gc(L, LUA_GCISRUNNING))
        lua_gc(L, LUA_GCSTEP, kilobytes);
}

/* ---- texts ---- */

void weirlua_hide_address(lua_State *L, int arg)
{
    int type = lua_type(L, arg);

    if (type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA && type != LUA_TTHREAD)
        return;
    if (luaL_getmetafield(L, arg, "__tostring") != LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    lua_pushstring(L, lua_typename(L, type));
    lua_replace(L, arg);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **weirlua_push_keys(lua_State *L, int idx, size_t *count)
{
    const char **keys;
    size_t n = 0;

    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1))
        n++;
    keys = lua_newuserdatauv(L, (n + 1) * sizeof *keys, 0);
    *count = n;
    n = 0;
    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1))
        keys[n++] = lua_tostring(L, -2);
    qsort(keys, n, sizeof *keys, compare_keys);
    return keys;
}

const char *weirlua_show(lua_State *L, int idx)
{
    lua_pushvalue(L, idx);
    weirlua_hide_address(L, lua_gettop(L));
    luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    return lua_tostring(L, -1);
}

#define QUOTE_MAX 100

const char *weirlua_quote(lua_State *L, const char *text)
{
    size_t n = strlen(text);

    if (n <= QUOTE_MAX)
        return lua_pushstring(L, text);
    for (n = QUOTE_MAX; n > QUOTE_MAX - 4 && ((unsigned char)text[n] & 0xc0) == 0x80; n--) /* a character stays whole */
        continue;
    lua_pushlstring(L, text, n);
    return lua_pushfstring(L, "%s...", lua_tostring(L, -1));
}

int weirlua_check_option(lua_State *L, int arg, const char *otherwise, const char *const list[])
{
    const char *text = luaL_optstring(L, arg, otherwise);
    int place = weirlua_word(list, text);

    if (place >= 0)
        return place;
    return luaL_argerror(
        L, arg, lua_pushfstring(L, "invalid option '%s'%s", weirlua_quote(L, text), weirlua_hint(L, text, list)));
}

/* ---- results ---- */

static void push_error_text(lua_State *L, const weir_err *err, int code)
{
    char text[1024];

    weir_err_format(err, text, sizeof text);
    lua_pushstring(L, text[0] ? text : code == WEIR_ENOMEM ? "out of memory" : weir_status_name(code));
}

int weirlua_fail(lua_State *L, const weir_err *err, int code)
{
    lua_pushnil(L);
    push_error_text(L, err, code);
    lua_pushstring(L, weir_status_name(code));
    return 3;
}

int weirlua_refuse(lua_State *L, const weir_err *err)
{
    lua_pushnil(L);
    lua_pushstring(L, err->text[0] ? err->text : weir_status_name(err->code));
    lua_pushstring(L, weir_status_name(err->code));
    return 3;
}

int weirlua_raise(lua_State *L, const weir_err *err)
{
    luaL_where(L, 1);
    push_error_text(L, err, err->code);
    lua_concat(L, 2);
    return lua_error(L);
}

int weirlua_status(lua_State *L, int rc, const weir_err *err)
{
    if (rc < 0)
        return weirlua_fail(L, err, rc);
    lua_pushboolean(L, 1);
    return 1;
}

int weirlua_text(lua_State *L, struct weirlua_owner *b, char *text, const weir_err *err)
{
    if (!text)
        return weirlua_fail(L, err, err->code ? err->code : WEIR_ENOMEM);
    b->p = text;
    lua_pushstring(L, text);
    weirlua_owner_clear(b);
    return 1;
}

/* ---- time ---- */

void weirlua_set_integer(lua_State *L, const char *key, lua_Integer value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void weirlua_set_number(lua_State *L, const char *key, lua_Number value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void weirlua_set_boolean(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void weirlua_set_text(lua_State *L, const char *key, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

void weirlua_push_time(lua_State *L, int64_t us)
{
    if (us == WEIR_FOREVER)
        lua_pushnumber(L, HUGE_VAL);
    else if (us % PER_SECOND == 0)
        lua_pushinteger(L, us / PER_SECOND);
    else
        lua_pushnumber(L, (double)us / PER_SECOND);
}

/* Converts seconds to microseconds; returns false for a number that is no time. */
static bool time_of(double seconds, int64_t *us)
{
    if (isnan(seconds) || seconds < -TIME_LIMIT)
        return false;
    *us = seconds > TIME_LIMIT ? WEIR_FOREVER : (int64_t)llround(seconds * PER_SECOND);
    return true;
}

int64_t weirlua_check_time(lua_State *L, int arg)
{
    int64_t us = 0;

    if (!time_of(luaL_checknumber(L, arg), &us))
        luaL_argerror(L, arg, "a time in seconds expected");
    return us;
}

/* Returns a positive duration as at least 1 microsecond, since 0 means no end. */
static int64_t positive_duration(double seconds, int64_t us)
{
    return seconds > 0 && us == 0 ? 1 : us;
}

int64_t weirlua_check_duration(lua_State *L, int arg)
{
    int64_t us = weirlua_check_time(L, arg);

    return positive_duration(lua_tonumber(L, arg), us);
}

/* ---- options ---- */

void weirlua_options(lua_State *L, int arg, const char *const *known)
{
    if (lua_isnoneornil(L, arg)) {
        lua_settop(L, arg > lua_gettop(L) ? arg : lua_gettop(L));
        lua_newtable(L);
        lua_replace(L, arg);
        return;
    }
    luaL_checktype(L, arg, LUA_TTABLE);
    luaL_checkstack(L, 4, "options");
    for (lua_pushnil(L); lua_next(L, arg); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (!key || weirlua_word(known, key) < 0) {
            const char *shown = weirlua_quote(L, weirlua_show(L, -2));
            luaL_error(L, "there is no option '%s' here%s", shown, key ? weirlua_hint(L, key, known) : "");
        }
    }
}

static bool absent(lua_State *L, int table, const char *key)
{
    bool none;

    lua_pushstring(L, key);
    none = lua_rawget(L, table) == LUA_TNIL; /* raw: no metamethod can run here */
    if (none)
        lua_pop(L, 1);
    return none;
}

static void wrong(lua_State *L, const char *key, const char *expected)
{
    luaL_error(L, "field '%s': %s expected, got %s", key, expected, luaL_typename(L, -1));
}

void weirlua_note_empty(lua_State *L, const char *what)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, WEIRLUA_EMPTIES) == LUA_TTABLE) {
        lua_pushvalue(L, -2);
        if (what)
            lua_pushstring(L, what);
        else
            lua_pushboolean(L, true);
        lua_rawset(L, -3);
    }
    lua_pop(L, 1);
}

const char *weirlua_field_string(lua_State *L, int table, const char *key, const char *otherwise)
{
    const char *s;
    size_t len;

    if (absent(L, table, key))
        return otherwise;
    if (lua_type(L, -1) != LUA_TSTRING)
        wrong(L, key, "string");
    s = lua_tolstring(L, -1, &len);
    if (strlen(s) != len)
        luaL_error(L, "field '%s' contains a zero byte", key);
    lua_pop(L, 1);
    return s;
}

int weirlua_word(const char *const *list, const char *word)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(list[i], word) == 0)
            return i;
    return -1;
}

int weirlua_field_choice(lua_State *L, int table, const char *key, int otherwise, const char *const *list)
{
    const char *text = weirlua_field_string(L, table, key, NULL);
    int place = text ? weirlua_word(list, text) : otherwise;
    const char *words;
    luaL_Buffer b;

    if (!text || place >= 0)
        return place;
    luaL_buffinit(L, &b);
    for (int i = 0; list[i]; i++) {
        luaL_addstring(&b, i == 0 ? "" : list[i + 1] ? ", " : " or ");
        luaL_addstring(&b, list[i]);
    }
    luaL_pushresult(&b);
    words = lua_tostring(L, -1); /* before weirlua_quote() pushes a text */
    return luaL_error(L, "field '%s': %s expected, got '%s'", key, words, weirlua_quote(L, text));
}

int64_t weirlua_field_integer(lua_State *L, int table, const char *key, int64_t otherwise)
{
    int exact;
    int64_t value;

    if (absent(L, table, key))
        return otherwise;
    value = lua_tointegerx(L, -1, &exact);
    if (!exact || lua_type(L, -1) != LUA_TNUMBER)
        wrong(L, key, "integer");
    lua_pop(L, 1);
    return value;
}

int64_t weirlua_field_time(lua_State *L, int table, const char *key, int64_t otherwise)
{
    int64_t us = 0;

    if (absent(L, table, key))
        return otherwise;
    if (lua_type(L, -1) != LUA_TNUMBER || !time_of(lua_tonumber(L, -1), &us))
        wrong(L, key, "time in seconds");
    lua_pop(L, 1);
    return us;
}

int64_t weirlua_field_duration(lua_State *L, int table, const char *key, int64_t otherwise)
{
    int64_t us = weirlua_field_time(L, table, key, otherwise);

    if (us != 0 || absent(L, table, key))
        return us;
    us = positive_duration(lua_tonumber(L, -1), us);
    lua_pop(L, 1);
    return us;
}

bool weirlua_field_boolean(lua_State *L, int table, const char *key, bool otherwise)
{
    bool value;

    if (absent(L, table, key))
        return otherwise;
    if (lua_type(L, -1) != LUA_TBOOLEAN)
        wrong(L, key, "boolean");
    value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

unsigned weirlua_field_strict(lua_State *L, int table)
{
    static const struct {
        const char *key;
        unsigned bit;
    } known[] = {{"strict_levels", WEIR_STRICT_LEVELS},
                 {"strict_pools", WEIR_STRICT_POOLS},
                 {"strict_slots", WEIR_STRICT_SLOTS}};
    unsigned strict = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        strict |= weirlua_field_boolean(L, table, known[i].key, false) ? known[i].bit : 0u;
    return strict;
}

int weirlua_to_file(void *data, const char *text, size_t len)
{
    return fwrite(text, 1, len, data) == len ? WEIR_OK : WEIR_EIO;
}

FILE *weirlua_check_file(lua_State *L, int arg)
{
    luaL_Stream *file = luaL_checkudata(L, arg, LUA_FILEHANDLE);

    luaL_argcheck(L, file->closef, arg, "the file is closed");
    return file->f;
}
