/* graph_pieces.c - g:pieces(stamp) and pieces(): the key-value image of a graph: texts under keys, for stores such as
 * etcd. */
#include "handle/graph.h"
#include "handle/support.h"

#define PIECES "weir.pieces"

static weir_pieces **push(lua_State *L)
{
    weir_pieces **p = lua_newuserdatauv(L, sizeof(weir_pieces *), 0);

    *p = NULL;
    luaL_setmetatable(L, PIECES);
    return p;
}

static weir_pieces *check(lua_State *L)
{
    weir_pieces **p = luaL_checkudata(L, 1, PIECES);

    if (!*p)
        luaL_error(L, "these pieces are closed");
    return *p;
}

/* pieces([stamp]): the changes since the save with that stamp, else the whole graph; or nil, message, code. */
int weirlua_graph_pieces(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *stamp = luaL_optstring(L, 2, NULL);
    weir_pieces **p = push(L);
    weir_err err = {0};
    int rc = weir_graph_pieces(handle->g, stamp, p, &err);

    return rc ? weirlua_fail(L, &err, rc) : 1;
}

/* pieces(): an empty image, to be filled with put. */
int weirlua_pieces_new(lua_State *L)
{
    weir_pieces **p = push(L);

    *p = weir_pieces_new();
    return *p ? 1 : luaL_error(L, "out of memory");
}

/* put(key, text): true; or nil, message, code. */
static int put(lua_State *L)
{
    weir_pieces *p = check(L);
    size_t len;
    const char *key = luaL_checkstring(L, 2), *text = luaL_checklstring(L, 3, &len);
    weir_err err = {0};

    return weirlua_status(L, weir_pieces_put(p, key, text, len, &err), &err);
}

/* at(i): key and text; key and nil for a key to delete, with all keys below; nothing after the last piece. */
static int at(lua_State *L)
{
    const weir_pieces *p = check(L);
    lua_Integer i = luaL_checkinteger(L, 2);
    const char *key, *text;
    size_t len;

    if (i < 1 || i > UINT32_MAX || !weir_pieces_at(p, (uint32_t)(i - 1), &key, &text, &len))
        return 0;
    lua_pushstring(L, key);
    if (text)
        lua_pushlstring(L, text, len);
    else
        lua_pushnil(L);
    return 2;
}

/* stamp(): the stamp of the save made by storing the pieces. */
static int stamp(lua_State *L)
{
    lua_pushstring(L, weir_pieces_stamp(check(L)));
    return 1;
}

/* stored(graph): true, once the caller has stored the pieces; the journal of the graph starts again; or nil, message,
 * code. */
static int stored(lua_State *L)
{
    weir_pieces *p = check(L);
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 2);
    weir_err err = {0};

    return weirlua_status(L, weir_pieces_stored(p, handle->g, &err), &err);
}

/* graph(): the graph of the pieces; or nil, message, code. */
static int graph(lua_State *L)
{
    const weir_pieces *p = check(L);
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, handle, weir_pieces_graph(p, &handle->g, &err), &err);
}

static int pieces_gc(lua_State *L)
{
    weir_pieces **p = luaL_checkudata(L, 1, PIECES);

    weir_pieces_free(*p);
    *p = NULL;
    return 0;
}

void weirlua_pieces_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"put", put},       {"at", at},       {"stamp", stamp},
                                       {"stored", stored}, {"graph", graph}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", pieces_gc}, {"__close", pieces_gc}, {NULL, NULL}};

    weirlua_class(L, s, PIECES, methods, meta);
}
