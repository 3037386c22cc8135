/* json_text.c - Lua values as JSON text. Invariant: the C stack or a userdata owns the text at all times. */
#include "handle/support.h"
#include "policy/charge.h"
#include "system/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200
#define VALUE     100  /* bytes charged for a value; a text is also charged by length */
#define SHORT     4096 /* bytes */

/* A text under construction. Short texts stay on the C stack and make no garbage. A table found in several places is
 * written several times, and 60 tables may describe 2^60 places: in a sandbox the bytes still allowed are counted
 * down. */
struct json_text {
    char *at;
    size_t len, cap;
    struct weirlua_owner *owner; /* the owner of a longer text, or NULL */
    int slot;                    /* index on the Lua stack for the owner */
    bool sort;                   /* keys in order of their bytes, else in any order */
    int indent;                  /* blanks a level; 0: all in one line */
    bool limited;
    size_t left; /* if limited */
    char first[SHORT];
};

static void put_value(lua_State *L, struct json_text *t, int idx, int depth);

/* Moves the text to an owner of `room` bytes. */
static void enlarge(lua_State *L, struct json_text *t, size_t cap)
{
    char *grown;

    if (!t->owner) {
        t->owner = weirlua_owner_push(L, free);
        lua_replace(L, t->slot);
    }
    grown = realloc(t->owner->p, cap);
    if (!grown)
        luaL_error(L, "cannot be written as JSON: out of memory");
    if (!t->owner->p)
        memcpy(grown, t->first, t->len);
    t->owner->p = t->at = grown;
    t->cap = cap;
}

/* Makes space for n more bytes, and returns the address. */
static char *more(lua_State *L, struct json_text *t, size_t n)
{
    size_t cap = t->cap;

    while (cap - t->len < n && cap < SIZE_MAX / 2)
        cap *= 2;
    if (cap != t->cap)
        enlarge(L, t, cap);
    return t->at + t->len;
}

static void put(lua_State *L, struct json_text *t, const char *s, size_t n)
{
    memcpy(more(L, t, n), s, n);
    t->len += n;
}

/* ---- strings ---- */

size_t weirlua_wide(const unsigned char *s, size_t left)
{
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    uint32_t c = s[0] & (0x7fu >> n);

    if (s[0] < 0xc2 || s[0] > 0xf4 || left < n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if ((n == 3 && c < 0x800) || (n == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    return n;
}

static void put_escape(lua_State *L, struct json_text *t, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;
    char *out = more(L, t, 8);

    if (at) {
        out[0] = '\\';
        out[1] = to[at - from];
        t->len += 2;
    } else {
        t->len += (size_t)snprintf(out, 8, "\\u%04X", c);
    }
}

/* Returns the number of bytes from s on that JSON contains unescaped. *bad is set when malformed UTF-8 follows. */
static size_t plain(const unsigned char *s, size_t len, bool *bad)
{
    size_t i = 0;

    while (i < len && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\') {
        size_t n = s[i] < 0x80 ? 1 : weirlua_wide(s + i, len - i);
        if (n == 0) {
            *bad = true;
            break;
        }
        i += n;
    }
    return i;
}

static void put_string(lua_State *L, struct json_text *t, int idx, const char *trouble)
{
    size_t len, n;
    const unsigned char *s = (const unsigned char *)lua_tolstring(L, idx, &len);
    bool bad = false;

    put(L, t, "\"", 1);
    for (; len > 0; s += n, len -= n) {
        n = plain(s, len, &bad);
        if (bad)
            luaL_error(L, "cannot be written as JSON: %s", trouble);
        put(L, t, (const char *)s, n);
        if (n < len)
            put_escape(L, t, s[n++]);
    }
    put(L, t, "\"", 1);
}

/* ---- numbers ---- */

static void put_number(lua_State *L, struct json_text *t, int idx)
{
    if (lua_isinteger(L, idx))
        t->len += (size_t)snprintf(more(L, t, 32), 32, "%lld", (long long)lua_tointeger(L, idx));
    else if (isfinite(lua_tonumber(L, idx)))
        t->len += (size_t)weir_number_write_json(more(L, t, WEIR_NUMBER_MAX), WEIR_NUMBER_MAX, lua_tonumber(L, idx));
    else
        luaL_error(L, "cannot be written as JSON: an infinite number, or none");
}

/* ---- lists and objects ---- */

static void charge(lua_State *L, struct json_text *t, size_t bytes)
{
    if (!t->limited)
        return;
    if (bytes > t->left)
        luaL_error(L, "cannot be written as JSON: it would take more memory than is left"
                      " (a table counts in each place where it is)");
    t->left -= bytes;
    weirlua_sandbox_spend(L, (int64_t)bytes);
}

/* Begins a line for an element, or for the end, of a list or an object, if the text has lines. */
static void put_line(lua_State *L, struct json_text *t, int depth)
{
    size_t n = (size_t)(depth * t->indent);

    if (t->indent == 0)
        return;
    put(L, t, "\n", 1);
    memset(more(L, t, n), ' ', n);
    t->len += n;
}

static void check_list(lua_State *L, int idx)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx), seen = 0;

    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1), seen++)
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > n)
            luaL_error(L, "cannot be written as JSON: a list with the key '%s'", weirlua_quote(L, weirlua_show(L, -2)));
    if (seen != n)
        luaL_error(L, "cannot be written as JSON: a list with holes");
}

static void put_array(lua_State *L, struct json_text *t, int idx, int depth)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx);

    check_list(L, idx);
    put(L, t, "[", 1);
    for (lua_Integer i = 1; i <= n; i++) {
        put(L, t, ",", i > 1);
        put_line(L, t, depth + 1);
        lua_rawgeti(L, idx, i);
        put_value(L, t, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    if (n > 0)
        put_line(L, t, depth);
    put(L, t, "]", 1);
}

static void check_key(lua_State *L, int idx)
{
    const char *key;
    size_t len;

    if (lua_type(L, idx) != LUA_TSTRING)
        luaL_error(L, "cannot be written as JSON: a table with the key '%s', which is no string",
                   weirlua_quote(L, weirlua_show(L, idx)));
    key = lua_tolstring(L, idx, &len);
    if (memchr(key, '\0', len))
        luaL_error(L, "cannot be written as JSON: a key with a zero byte");
}

/* Writes a member: the key and the value at the top of the stack. */
static void put_member(lua_State *L, struct json_text *t, bool first, int depth)
{
    put(L, t, ",", !first);
    put_line(L, t, depth);
    charge(L, t, (size_t)lua_rawlen(L, -2));
    put_string(L, t, -2, "a key is not UTF-8, or out of memory");
    put(L, t, ": ", t->indent ? 2 : 1);
    put_value(L, t, lua_gettop(L), depth);
}

/* Writes the members of the table at idx in the order of their keys. Returns the number of members. */
static size_t put_sorted(lua_State *L, struct json_text *t, int idx, int depth)
{
    const char **keys;
    size_t n;

    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1))
        check_key(L, -2);
    keys = weirlua_push_keys(L, idx, &n);
    for (size_t i = 0; i < n; i++) {
        lua_pushstring(L, keys[i]);
        lua_pushvalue(L, -1);
        lua_rawget(L, idx);
        put_member(L, t, i == 0, depth);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    return n;
}

static void put_object(lua_State *L, struct json_text *t, int idx, int depth)
{
    size_t n = 0;

    put(L, t, "{", 1);
    if (t->sort)
        n = put_sorted(L, t, idx, depth + 1);
    else
        for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
            check_key(L, -2);
            put_member(L, t, n++ == 0, depth + 1);
        }
    if (n > 0)
        put_line(L, t, depth);
    put(L, t, "}", 1);
}

static void put_value(lua_State *L, struct json_text *t, int idx, int depth)
{
    luaL_checkstack(L, 8, "JSON");
    charge(L, t, VALUE + (lua_type(L, idx) == LUA_TSTRING ? (size_t)lua_rawlen(L, idx) : 0));
    if (depth > DEPTH_MAX)
        luaL_error(L, "cannot be written as JSON: nested deeper than %d, or in a circle", DEPTH_MAX);
    switch (lua_type(L, idx)) {
    case LUA_TNIL: put(L, t, "null", 4); break;
    case LUA_TBOOLEAN: put(L, t, lua_toboolean(L, idx) ? "true" : "false", lua_toboolean(L, idx) ? 4 : 5); break;
    case LUA_TNUMBER: put_number(L, t, idx); break;
    case LUA_TSTRING: put_string(L, t, idx, "a string that is not UTF-8"); break;
    case LUA_TTABLE:
        if (weirlua_json_is_list(L, idx))
            put_array(L, t, idx, depth);
        else
            put_object(L, t, idx, depth);
        break;
    case LUA_TLIGHTUSERDATA:
        if (!lua_touserdata(L, idx)) {
            put(L, t, "null", 4);
            break;
        } /* fallthrough */
    default: luaL_error(L, "cannot be written as JSON: a value of type %s", luaL_typename(L, idx));
    }
}

/* Pushes the value at idx as text, followed by `end`. */
static int push_text(lua_State *L, struct json_text *t, int idx, const char *end)
{
    t->at = t->first;
    t->cap = sizeof t->first;
    lua_pushnil(L);
    t->slot = lua_gettop(L);
    put_value(L, t, idx, 0);
    put(L, t, end, strlen(end));
    lua_pushlstring(L, t->at, t->len);
    if (t->owner)
        weirlua_owner_clear(t->owner);
    lua_replace(L, t->slot);
    return 1;
}

void weirlua_json_write(lua_State *L, int idx, bool sort, int indent)
{
    struct json_text t;

    t.owner = NULL;
    t.len = 0;
    t.sort = sort;
    t.indent = indent;
    t.limited = weirlua_state(L, NULL)->readonly;
    t.left = t.limited ? weirlua_sandbox_left(L) : 0;
    push_text(L, &t, lua_absindex(L, idx), "");
}

/* json_line(value): the value as text of one line, keys in any order, line end included: the answers of a service. */
int weirlua_json_line(lua_State *L)
{
    struct json_text t;

    luaL_checkany(L, 1);
    t.owner = NULL;
    t.len = 0;
    t.sort = t.limited = false;
    t.indent = 0;
    return push_text(L, &t, 1, "\n");
}
