/* graph_resolve.c - g:resolve(text, {source = name}): the vertices of the graph named by the JSON graph of an
 * allocation, as a list like allocation:vertices(); and g:resolve_flows(job, text, {source = name}). */
#include "handle/support.h"
#include "handle/vertex.h"

static void push_pick(lua_State *L, const struct weirlua_graph *handle, const weir_pick *pick)
{
    lua_createtable(L, 0, 3);
    weirlua_set_vertex(L, "vertex", handle, pick->vertex);
    weirlua_set_integer(L, "amount", pick->amount);
    weirlua_set_boolean(L, "exclusive", pick->exclusive);
}

int weirlua_graph_resolve_flows(lua_State *L)
{
    static const char *const known[] = {"source", NULL};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    int64_t job = luaL_checkinteger(L, 2);
    size_t len;
    const char *text = luaL_checklstring(L, 3, &len), *source;
    weir_err err = {0};

    weirlua_check_writable(L, weirlua_of(L), handle);
    weirlua_options(L, 4, known);
    source = weirlua_field_string(L, 4, "source", "<string>");
    return weirlua_status(L, weir_job_resolve_flows(handle->g, job, text, len, source, &err), &err);
}

int weirlua_graph_resolve(lua_State *L)
{
    static const char *const known[] = {"source", NULL};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len), *source;
    struct weirlua_owner *list;
    weir_pick *picks = NULL;
    uint32_t n = 0;
    weir_err err = {0};
    int rc;

    weirlua_options(L, 3, known);
    source = weirlua_field_string(L, 3, "source", "<string>");
    list = weirlua_owner_push(L, weir_free);
    rc = weir_graph_resolve(handle->g, text, len, source, &picks, &n, &err);
    list->p = picks;
    if (rc < 0)
        return weirlua_fail(L, &err, rc);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        push_pick(L, handle, &picks[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}
