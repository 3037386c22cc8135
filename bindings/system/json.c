/* json.c - Lua values as JSON and back, with jansson. Invariant: a userdata owns the tree under construction at all
 * times. */
#include "handle/weirlua.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY     "weir.array" /* metatable that marks a table, even an empty table, as a JSON array */
#define DEPTH_MAX 200
#define VALUE     100 /* bytes charged for a value; a text is charged by length besides */

static void free_tree(void *p)
{
    json_decref(p);
}

/* ---- from Lua ---- */

/* The place of a value: a parent, or the owner of the tree for the top. A table found in several places is written
 * several times, and 60 tables may describe 2^60 places: in a sandbox the bytes still allowed are counted down. */
struct place {
    struct weirlua_box *box;
    size_t *left; /* NULL: no limit */
    json_t *parent;
    const char *key;
    size_t len;
    int depth;
};

static void put_value(lua_State *L, struct place at, int idx);

/* Puts `value` in its place, which then owns the value. Raises `trouble` where `value` is NULL. */
static json_t *attach(lua_State *L, struct place at, json_t *value, const char *trouble)
{
    int rc = 0;

    if (!value)
        luaL_error(L, "cannot be written as JSON: %s", trouble);
    if (!at.parent)
        at.box->p = value;
    else if (json_is_array(at.parent))
        rc = json_array_append_new(at.parent, value);
    else
        rc = json_object_setn_new(at.parent, at.key, at.len, value);
    if (rc)
        luaL_error(L, "cannot be written as JSON: a key is not UTF-8, or out of memory");
    return value;
}

bool weirlua_json_is_list(lua_State *L, int idx)
{
    bool marked = false;

    if (lua_getmetatable(L, idx)) {
        luaL_getmetatable(L, ARRAY);
        marked = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    return marked || lua_rawlen(L, idx) > 0;
}

void weirlua_json_check_list(lua_State *L, int idx)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx), seen = 0;

    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1), seen++)
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > n)
            luaL_error(L, "cannot be written as JSON: a list with the key '%s'",
                       weirlua_quote(L, weirlua_show(L, -2)));
    if (seen != n)
        luaL_error(L, "cannot be written as JSON: a list with holes");
}

void weirlua_json_check_key(lua_State *L, int idx)
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

static void put_array(lua_State *L, struct place at, int idx)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx);
    struct place in = {at.box, at.left, attach(L, at, json_array(), "out of memory"), NULL, 0, at.depth + 1};

    weirlua_json_check_list(L, idx);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, idx, i);
        put_value(L, in, lua_gettop(L));
        lua_pop(L, 1);
    }
}

static void put_object(lua_State *L, struct place at, int idx)
{
    struct place in = {at.box, at.left, attach(L, at, json_object(), "out of memory"), NULL, 0, at.depth + 1};

    for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
        weirlua_json_check_key(L, -2);
        in.key = lua_tolstring(L, -2, &in.len);
        put_value(L, in, lua_gettop(L));
    }
}

static void put_string(lua_State *L, struct place at, int idx)
{
    size_t len;
    const char *s = lua_tolstring(L, idx, &len);
    attach(L, at, json_stringn(s, len), "a string that is not UTF-8");
}

static void put_number(lua_State *L, struct place at, int idx)
{
    if (lua_isinteger(L, idx))
        attach(L, at, json_integer(lua_tointeger(L, idx)), "out of memory");
    else if (isfinite(lua_tonumber(L, idx)))
        attach(L, at, json_real(lua_tonumber(L, idx)), "out of memory");
    else
        luaL_error(L, "cannot be written as JSON: an infinite number, or none");
}

static void count_value(lua_State *L, struct place at, int idx)
{
    size_t bytes = VALUE + at.len + (lua_type(L, idx) == LUA_TSTRING ? (size_t)lua_rawlen(L, idx) : 0);

    if (bytes > *at.left)
        luaL_error(L, "cannot be written as JSON: it would take more memory than is left"
                      " (a table counts in each place where it is)");
    *at.left -= bytes;
    weirlua_sandbox_spend(L, (int64_t)bytes);
}

static void put_value(lua_State *L, struct place at, int idx)
{
    luaL_checkstack(L, 8, "JSON");
    if (at.left)
        count_value(L, at, idx);
    if (at.depth > DEPTH_MAX)
        luaL_error(L, "cannot be written as JSON: nested deeper than %d, or in a circle", DEPTH_MAX);
    switch (lua_type(L, idx)) {
    case LUA_TNIL: attach(L, at, json_null(), ""); break;
    case LUA_TBOOLEAN: attach(L, at, json_boolean(lua_toboolean(L, idx)), ""); break;
    case LUA_TNUMBER: put_number(L, at, idx); break;
    case LUA_TSTRING: put_string(L, at, idx); break;
    case LUA_TTABLE:
        if (weirlua_json_is_list(L, idx))
            put_array(L, at, idx);
        else
            put_object(L, at, idx);
        break;
    case LUA_TLIGHTUSERDATA:
        if (!lua_touserdata(L, idx)) {
            attach(L, at, json_null(), "");
            break;
        } /* fallthrough */
    default: luaL_error(L, "cannot be written as JSON: a value of type %s", luaL_typename(L, idx));
    }
}

void weirlua_json_write(lua_State *L, int idx, size_t flags)
{
    struct weirlua_box *box, *text;
    struct place top = {0};
    size_t left;

    idx = lua_absindex(L, idx);
    if (weirlua_state(L, NULL)->readonly) {
        left = weirlua_sandbox_left(L);
        top.left = &left;
    }
    text = weirlua_box_push(L, free);
    box = weirlua_box_push(L, free_tree);
    top.box = box;
    put_value(L, top, idx);
    text->p = json_dumps(box->p, flags);
    if (!text->p)
        luaL_error(L, "cannot be written as JSON: out of memory");
    lua_pushstring(L, text->p);
    weirlua_box_clear(box);
    weirlua_box_clear(text);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* ---- to Lua ---- */

static void push_json(lua_State *L, const json_t *value, bool keys);

static void push_array(lua_State *L, const json_t *value, bool keys)
{
    size_t n = json_array_size(value);

    lua_createtable(L, n < 1000000 ? (int)n : 0, 0);
    luaL_setmetatable(L, ARRAY);
    for (size_t i = 0; i < n; i++) {
        push_json(L, json_array_get(value, i), keys);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_object(lua_State *L, const json_t *value, bool keys)
{
    const char *key;
    json_t *entry;
    lua_Integer n = 0;

    lua_newtable(L);
    json_object_foreach((json_t *)(uintptr_t)value, key, entry)
    {
        lua_pushstring(L, key);
        if (keys) {
            lua_pushvalue(L, -1);
            lua_rawseti(L, -3, ++n);
        }
        push_json(L, entry, keys);
        lua_rawset(L, -3);
    }
}

static void push_json(lua_State *L, const json_t *value, bool keys)
{
    luaL_checkstack(L, 8, "JSON");
    switch (json_typeof(value)) {
    case JSON_OBJECT: push_object(L, value, keys); break;
    case JSON_ARRAY: push_array(L, value, keys); break;
    case JSON_STRING: lua_pushlstring(L, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: lua_pushinteger(L, json_integer_value(value)); break;
    case JSON_REAL: lua_pushnumber(L, json_real_value(value)); break;
    case JSON_TRUE: lua_pushboolean(L, 1); break;
    case JSON_FALSE: lua_pushboolean(L, 0); break;
    case JSON_NULL: lua_pushlightuserdata(L, NULL); break;
    }
}

int weirlua_json_read(lua_State *L, const char *text, size_t len)
{
    return weirlua_json_read_as(L, text, len, false);
}

/* Pushes an owner for the tree being read. Each state keeps one owner for all trees, since an owner for each text would
 * mean a finalizer for each text; a second owner is made while the first is in use. */
static struct weirlua_box *push_reading(lua_State *L)
{
    static const char key = 0;
    struct weirlua_box *box;

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TNIL) {
        lua_pop(L, 1);
        weirlua_box_push(L, free_tree);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
    }
    box = lua_touserdata(L, -1);
    if (!box->p)
        return box;
    lua_pop(L, 1);
    return weirlua_box_push(L, free_tree);
}

int weirlua_json_read_as(lua_State *L, const char *text, size_t len, bool keys)
{
    json_error_t e;
    weir_err err = {.code = WEIR_EPARSE};
    struct weirlua_box *box;
    json_t *tree;

    box = push_reading(L);
    tree = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (!tree) {
        if (json_error_code(&e) == json_error_out_of_memory || e.text[0] == '\0')
            luaL_error(L, "out of memory");
        err.line = e.line;
        err.column = e.column;
        snprintf(err.text, sizeof err.text, "%s", e.text);
        return weirlua_fail(L, &err, WEIR_EPARSE);
    }
    box->p = tree;
    push_json(L, tree, keys);
    weirlua_box_clear(box);
    lua_replace(L, -2);
    return 1;
}

/* ---- the functions ---- */

int weirlua_json_encode(lua_State *L)
{
    static const char *const known[] = {"indent", "sort", NULL};
    int64_t indent;
    size_t flags = JSON_ENCODE_ANY;

    luaL_checkany(L, 1);
    weirlua_options(L, 2, known);
    indent = weirlua_field_integer(L, 2, "indent", 0);
    luaL_argcheck(L, indent >= 0 && indent <= 31, 2, "field 'indent': 0 to 31 expected");
    flags |= indent ? JSON_INDENT((size_t)indent) : JSON_COMPACT;
    if (weirlua_field_boolean(L, 2, "sort", true))
        flags |= JSON_SORT_KEYS;
    weirlua_json_write(L, 1, flags);
    return 1;
}

int weirlua_json_decode(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);

    return weirlua_json_read(L, text, len);
}

/* array([t]): marks a table as a JSON array and returns it. */
int weirlua_json_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (lua_getmetatable(L, 1)) {
        luaL_getmetatable(L, ARRAY);
        luaL_argcheck(L, lua_rawequal(L, -1, -2), 1, "a table without a metatable expected");
        lua_settop(L, 1);
    }
    luaL_setmetatable(L, ARRAY);
    return 1;
}

void weirlua_json_open(lua_State *L, struct weirlua *s)
{
    (void)s;
    luaL_newmetatable(L, ARRAY);
    lua_pushliteral(L, ARRAY);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
