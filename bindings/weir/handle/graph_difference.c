/* graph_difference.c - g:diff(other) and g:apply(difference). Invariant: neither graph changes; the new handle is made
 * closed before the core is called, and opened after. */
#include "handle/graph.h"
#include "handle/support.h"

/* diff(other): the difference as a text; or nil, message, code. */
static int graph_diff(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *a = weirlua_check_graph(L, s, 1), *b = weirlua_check_graph(L, s, 2);
    struct weirlua_owner *text = weirlua_owner_push(L, weir_free);
    weir_err err = {0};

    return weirlua_text(L, text, weir_graph_diff(a->g, b->g, &err), &err);
}

/* apply(difference[, source]): a new graph; or nil, message, code. */
static int graph_apply(lua_State *L)
{
    struct weirlua_graph *from = weirlua_check_graph(L, weirlua_of(L), 1), *handle;
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len), *source = luaL_optstring(L, 3, NULL);
    weir_err err = {0};

    handle = weirlua_graph_closed(L);
    return weirlua_graph_finish(L, handle, weir_graph_apply(from->g, text, len, source, &handle->g, &err), &err);
}

const luaL_Reg weirlua_graph_differences[] = {{"diff", graph_diff}, {"apply", graph_apply}, {NULL, NULL}};
