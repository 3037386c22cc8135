/* graph_save.c - g:save(path, opts) writes a graph to a file; g:changed() lists the vertices that the next save would
 * write. */
#include "handle/support.h"
#include "handle/vertex.h"

/* save(path[, {format=, changed=}]): true; or nil, message, code. */
static int graph_save(lua_State *L)
{
    static const char *const known[] = {"format", "changed", NULL};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *path = luaL_checkstring(L, 2), *format;
    unsigned flags;
    weir_err err = {0};

    weirlua_options(L, 3, known);
    format = weirlua_field_string(L, 3, "format", NULL);
    flags = weirlua_field_boolean(L, 3, "changed", false) ? WEIR_SAVE_CHANGED : 0;
    return weirlua_status(L, weir_graph_save(handle->g, path, format, flags, &err), &err);
}

/* changed(): the list of vertices changed since the last save. */
static int graph_changed(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    struct weirlua_owner *list = weirlua_owner_push(L, weir_free);
    weir_vertex *v = NULL;
    uint32_t n = 0;
    weir_err err = {0};
    int rc = weir_graph_changed(handle->g, &v, &n, &err);

    if (rc)
        return weirlua_fail(L, &err, rc);
    list->p = v;
    weirlua_push_vertices(L, handle, v, n);
    weirlua_owner_clear(list);
    return 1;
}

const luaL_Reg weirlua_graph_savers[] = {
    {"save", graph_save}, {"changed", graph_changed}, {"pieces", weirlua_graph_pieces}, {NULL, NULL}};
