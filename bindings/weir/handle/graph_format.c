/* graph_format.c - g:format(format, opts) and g:write(file, format, opts): a graph as a text. Invariant: no Lua runs
 * between reading the options and the end of the writing. */
#include "handle/support.h"
#include "handle/vertex.h"

#include <stdio.h>

/* Reads the vertex named by `start`: a vertex of the graph, or a URI. Returns false with nil, message, code pushed. */
static bool read_start(lua_State *L, const struct weirlua_graph *handle, int table, weir_vertex *out)
{
    const char *uri = NULL;
    weir_err err = {0};
    int rc;

    lua_pushliteral(L, "start");
    switch (lua_rawget(L, table)) {
    case LUA_TNIL: break;
    case LUA_TSTRING: uri = weirlua_field_string(L, table, "start", NULL); break;
    default: *out = weirlua_check_vertex_of(L, weirlua_of(L), lua_gettop(L), handle);
    }
    lua_pop(L, 1);
    if (!uri)
        return true;
    rc = weir_graph_named(handle->g, uri, out, &err);
    if (rc)
        weirlua_fail(L, &err, rc);
    return rc == WEIR_OK;
}

static bool read_options(lua_State *L, const struct weirlua_graph *handle, int table, weir_format_options *o)
{
    static const char *const known[] = {"start", NULL};

    weirlua_options(L, table, known);
    return read_start(L, handle, table, &o->start);
}

int weirlua_graph_format(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *format = luaL_checkstring(L, 2);
    weir_format_options o = WEIR_FORMAT_OPTIONS_INIT;
    struct weirlua_owner *text;
    weir_err err = {0};

    if (!read_options(L, handle, 3, &o))
        return 3;
    text = weirlua_owner_push(L, weir_free);
    return weirlua_text(L, text, weir_graph_format_with(handle->g, format, &o, &err), &err);
}

int weirlua_graph_write(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    FILE *file = weirlua_check_file(L, 2);
    const char *format = luaL_checkstring(L, 3);
    weir_format_options o = WEIR_FORMAT_OPTIONS_INIT;
    weir_err err = {0};

    if (!read_options(L, handle, 4, &o))
        return 3;
    return weirlua_status(L, weir_graph_write(handle->g, format, &o, weirlua_to_file, file, &err), &err);
}
