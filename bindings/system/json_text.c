/* json_text.c - Lua values as compact JSON text, keys in any order: the answers of a service. Accepts and rejects the
 * values that json.c does, with equal messages, but makes no tree. Invariant: the C stack or a userdata owns the text
 * at all times. */
#include "handle/weirlua.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200
#define SHORT     4096 /* bytes */

/* A text under construction. Short texts stay on the C stack and make no garbage. */
struct text {
    char *at;
    size_t len, room;
    struct weirlua_box *box; /* the owner of a longer text, or NULL */
    char first[SHORT];
};

static void put_value(lua_State *L, struct text *t, int idx, int depth);

/* Moves the text to an owner of `room` bytes, at index 2. */
static void enlarge(lua_State *L, struct text *t, size_t room)
{
    char *grown;

    if (!t->box) {
        t->box = weirlua_box_push(L, free);
        lua_replace(L, 2);
    }
    grown = realloc(t->box->p, room);
    if (!grown)
        luaL_error(L, "cannot be written as JSON: out of memory");
    if (!t->box->p)
        memcpy(grown, t->first, t->len);
    t->box->p = t->at = grown;
    t->room = room;
}

/* Makes space for n more bytes, and returns the address. */
static char *more(lua_State *L, struct text *t, size_t n)
{
    size_t room = t->room;

    while (room - t->len < n && room < SIZE_MAX / 2)
        room *= 2;
    if (room != t->room)
        enlarge(L, t, room);
    return t->at + t->len;
}

static void put(lua_State *L, struct text *t, const char *s, size_t n)
{
    memcpy(more(L, t, n), s, n);
    t->len += n;
}

/* ---- strings ---- */

/* Returns the number of bytes of the UTF-8 character at s (whose first byte is 0x80 or more), 0 for a malformed
 * character. */
static size_t wide(const unsigned char *s, size_t left)
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

static void put_escape(lua_State *L, struct text *t, unsigned char c)
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
        size_t n = s[i] < 0x80 ? 1 : wide(s + i, len - i);
        if (n == 0) {
            *bad = true;
            break;
        }
        i += n;
    }
    return i;
}

static void put_string(lua_State *L, struct text *t, int idx, const char *trouble)
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

/* Writes a number with a decimal point or an exponent, so that readers see a real number. */
static void put_real(lua_State *L, struct text *t, double x)
{
    char *out = more(L, t, 40);
    int n = weir_number_write(out, 32, x);

    if (!strpbrk(out, ".e"))
        n += snprintf(out + n, 8, ".0");
    t->len += (size_t)n;
}

static void put_number(lua_State *L, struct text *t, int idx)
{
    if (lua_isinteger(L, idx))
        t->len += (size_t)snprintf(more(L, t, 32), 32, "%lld", (long long)lua_tointeger(L, idx));
    else if (isfinite(lua_tonumber(L, idx)))
        put_real(L, t, lua_tonumber(L, idx));
    else
        luaL_error(L, "cannot be written as JSON: an infinite number, or none");
}

/* ---- lists and objects ---- */

static void put_array(lua_State *L, struct text *t, int idx, int depth)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx);

    weirlua_json_check_list(L, idx);
    put(L, t, "[", 1);
    for (lua_Integer i = 1; i <= n; i++) {
        if (i > 1)
            put(L, t, ",", 1);
        lua_rawgeti(L, idx, i);
        put_value(L, t, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    put(L, t, "]", 1);
}

static void put_object(lua_State *L, struct text *t, int idx, int depth)
{
    bool first = true;

    put(L, t, "{", 1);
    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1), first = false) {
        weirlua_json_check_key(L, -2);
        if (!first)
            put(L, t, ",", 1);
        put_string(L, t, -2, "a key is not UTF-8, or out of memory");
        put(L, t, ":", 1);
        put_value(L, t, lua_gettop(L), depth + 1);
    }
    put(L, t, "}", 1);
}

static void put_value(lua_State *L, struct text *t, int idx, int depth)
{
    luaL_checkstack(L, 8, "JSON");
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

/* json_line(value): the value as text of one line, line end included. */
int weirlua_json_line(lua_State *L)
{
    struct text t;

    luaL_checkany(L, 1);
    lua_settop(L, 2);
    t.box = NULL;
    t.at = t.first;
    t.len = 0;
    t.room = sizeof t.first;
    put_value(L, &t, 1, 0);
    put(L, &t, "\n", 1);
    lua_pushlstring(L, t.at, t.len);
    if (t.box)
        weirlua_box_clear(t.box);
    return 1;
}
