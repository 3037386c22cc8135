/* view.c - properties, tags and data of a vertex as tables: v.tags.KEY. Invariant: a view is a light userdata without
 * content; each access reads or writes the graph. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "system/json.h"

#include <string.h>

const char *weirlua_view_name(int kind)
{
    static const char *const names[] = {"vertex", "properties", "tags", "data"};
    return names[kind & 3];
}

static int map_of(int kind)
{
    return kind == WEIRLUA_PROPERTIES ? WEIR_PROPERTIES : kind == WEIRLUA_TAGS ? WEIR_TAGS : WEIR_EXTENDED;
}

/* Pushes a value: "" means "no value" and reads as true; data is decoded from JSON. */
static void push_value(lua_State *L, int kind, const char *value)
{
    if (kind == WEIRLUA_DATA) {
        int top = lua_gettop(L) + 1, n;
        lua_pushstring(L, value); /* a copy: the allocations below may free the text */
        n = weirlua_json_read(L, lua_tostring(L, top), lua_rawlen(L, top));
        lua_pushvalue(L, n == 1 ? -1 : top); /* the text itself where the text is not JSON */
        lua_replace(L, top);
        lua_settop(L, top);
    } else if (value[0]) {
        lua_pushstring(L, value);
    } else {
        lua_pushboolean(L, 1);
    }
}

int weirlua_view_index(lua_State *L, const struct weirlua_handle *h)
{
    const char *value;

    if (lua_type(L, 2) != LUA_TSTRING)
        return luaL_error(L, "the %s of a vertex have string keys, not %s", weirlua_view_name(h->kind),
                          luaL_typename(L, 2));
    if (weirlua_of(L)->watching & WATCH_READS)
        weirlua_record(L, lua_pushfstring(L, "%s.", weirlua_view_name(h->kind)), 2);
    weir_read(h->g, h->v, WEIR_READ_MAPS);
    value = weir_vertex_get(h->g, h->v, map_of(h->kind), lua_tostring(L, 2));
    if (value)
        push_value(L, h->kind, value);
    else
        lua_pushnil(L);
    return 1;
}

/* Returns the text to store for the value at index 3, which may be replaced by a text. */
static const char *text_to_store(lua_State *L, int kind)
{
    const char *text;
    size_t len;

    if (kind == WEIRLUA_DATA) {
        weirlua_json_write(L, 3, true, 0);
        return lua_tostring(L, -1);
    }
    if (lua_type(L, 3) == LUA_TBOOLEAN && lua_toboolean(L, 3))
        return "";
    if (lua_type(L, 3) != LUA_TSTRING && lua_type(L, 3) != LUA_TNUMBER)
        luaL_error(L, "%s are set to true, a string or a number, or nil to remove them; got %s",
                   weirlua_view_name(kind), lua_isboolean(L, 3) ? "false" : luaL_typename(L, 3));
    text = lua_tolstring(L, 3, &len);
    if (strlen(text) != len)
        luaL_error(L, "the value contains a zero byte");
    return text;
}

int weirlua_view_newindex(lua_State *L, const struct weirlua_handle *h)
{
    int map = map_of(h->kind);
    const char *key;
    size_t len;
    weir_err err = {0};

    if (lua_type(L, 2) != LUA_TSTRING)
        return luaL_error(L, "the %s of a vertex have string keys, not %s", weirlua_view_name(h->kind),
                          luaL_typename(L, 2));
    key = lua_tolstring(L, 2, &len);
    if (strlen(key) != len)
        return luaL_error(L, "the key contains a zero byte");
    if (lua_isnil(L, 3)) {
        int rc = weir_vertex_unset(h->g, h->v, map, key);
        return rc && rc != WEIR_ENOENT ? luaL_error(L, "%s", weir_status_name(rc)) : 0;
    }
    return weir_vertex_set(h->g, h->v, map, key, text_to_store(L, h->kind), &err) ? weirlua_raise(L, &err) : 0;
}

static struct weirlua_handle check_view(lua_State *L)
{
    struct weirlua_handle h = weirlua_check_handle(L, weirlua_of(L), 1);

    if (h.kind == WEIRLUA_VERTEX)
        luaL_argerror(L, 1, "a vertex is no table; its properties, tags and data are");
    return h;
}

int weirlua_view_len(lua_State *L)
{
    struct weirlua_handle h = check_view(L);

    weir_read(h.g, h.v, WEIR_READ_MAPS);
    lua_pushinteger(L, weir_vertex_count(h.g, h.v, map_of(h.kind)));
    return 1;
}

static int next_entry(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    return lua_next(L, 1) ? 2 : (lua_pushnil(L), 1);
}

/* __pairs iterates over a copy, so that a loop may set and remove entries. */
int weirlua_view_pairs(lua_State *L)
{
    struct weirlua_handle h = check_view(L);
    const char *key, *value;

    weir_read(h.g, h.v, WEIR_READ_MAPS);
    weirlua_anchor(L, weirlua_of(L), h.handle);
    lua_pushcfunction(L, next_entry);
    lua_newtable(L);
    for (uint32_t i = 0; weir_vertex_entry(h.g, h.v, map_of(h.kind), i, &key, &value); i++) {
        push_value(L, h.kind, value);
        lua_setfield(L, -2, key);
    }
    lua_pushnil(L);
    return 3;
}
