/* json.c - the functions about JSON, and JSON as Lua values, with jansson; json_text.c has the way back. Invariant: a
 * userdata owns the tree under construction at all times. */
#include "handle/support.h"
#include "system/json.h"

#include <string.h>

#define ARRAY "weir.array" /* metatable that marks a table, even an empty table, as a JSON array */

static void free_tree(void *p)
{
    json_decref(p);
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
static struct weirlua_owner *push_reading(lua_State *L)
{
    static const char key = 0;
    struct weirlua_owner *owner;

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TNIL) {
        lua_pop(L, 1);
        weirlua_owner_push(L, free_tree);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
    }
    owner = lua_touserdata(L, -1);
    if (!owner->p)
        return owner;
    lua_pop(L, 1);
    return weirlua_owner_push(L, free_tree);
}

int weirlua_json_read_as(lua_State *L, const char *text, size_t len, bool keys)
{
    json_error_t e;
    weir_err err = {.code = WEIR_EPARSE};
    struct weirlua_owner *owner;
    json_t *tree;

    owner = push_reading(L);
    tree = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (!tree) {
        if (json_error_code(&e) == json_error_out_of_memory || e.text[0] == '\0')
            luaL_error(L, "out of memory");
        err.line = e.line;
        err.column = e.column;
        snprintf(err.text, sizeof err.text, "%s", e.text);
        return weirlua_fail(L, &err, WEIR_EPARSE);
    }
    owner->p = tree;
    push_json(L, tree, keys);
    weirlua_owner_clear(owner);
    lua_replace(L, -2);
    return 1;
}

/* ---- the functions ---- */

static int json_encode(lua_State *L)
{
    static const char *const known[] = {"indent", "sort", NULL};
    int64_t indent;

    luaL_checkany(L, 1);
    weirlua_options(L, 2, known);
    indent = weirlua_field_integer(L, 2, "indent", 0);
    luaL_argcheck(L, indent >= 0 && indent <= 31, 2, "field 'indent': 0 to 31 expected");
    weirlua_json_write(L, 1, weirlua_field_boolean(L, 2, "sort", true), (int)indent);
    return 1;
}

static int json_decode(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);

    return weirlua_json_read(L, text, len);
}

/* array([t]): marks a table as a JSON array and returns it. */
static int json_array_new(lua_State *L)
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

const luaL_Reg weirlua_json_functions[] = {
    {"json_encode", json_encode}, {"json_decode", json_decode}, {"array", json_array_new}, {NULL, NULL}};
