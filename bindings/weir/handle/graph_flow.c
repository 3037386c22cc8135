/* graph_flow.c - g:flow{subsystem =, to = vertex | vertex[], from = the one source?, units = requested by each?, at =,
 * duration =, capacity =}: the maximum flow to vertices: {amount =, all = whether each gets what it wants, served =
 * amounts, shares = {{vertex =, unit =, amount =}...}, cut = {{unit =, left =, size =}...}}. Not for policies. */
#include "handle/support.h"
#include "handle/vertex.h"

static void free_flow(void *p)
{
    weir_flow_free(p);
}

/* Pushes a list of {vertex =, amount =}: units passed on by each distribution unit. */
static void push_units(lua_State *L, const struct weirlua_graph *handle, const weir_flow *f)
{
    lua_createtable(L, (int)f->nshares, 0);
    for (uint32_t i = 0; i < f->nshares; i++) {
        lua_createtable(L, 0, 3);
        weirlua_set_vertex(L, "vertex", handle, f->shares[i].vertex);
        weirlua_set_vertex(L, "unit", handle, f->shares[i].unit);
        weirlua_set_integer(L, "amount", f->shares[i].amount);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "shares");
}

static void push_cut(lua_State *L, const struct weirlua_graph *handle, const weir_flow *f)
{
    lua_createtable(L, (int)f->ncut, 0);
    for (uint32_t i = 0; i < f->ncut; i++) {
        lua_createtable(L, 0, 3);
        weirlua_set_vertex(L, "unit", handle, f->cut[i].unit);
        weirlua_set_integer(L, "left", f->cut[i].left);
        weirlua_set_integer(L, "size", weir_vertex_size(handle->g, f->cut[i].unit));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "cut");
}

static void push_flow(lua_State *L, const struct weirlua_graph *handle, const weir_flow *f, uint32_t n)
{
    lua_createtable(L, 0, 5);
    weirlua_set_integer(L, "amount", f->amount);
    weirlua_set_boolean(L, "all", f->all);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_pushinteger(L, f->served[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "served");
    push_units(L, handle, f);
    push_cut(L, handle, f);
}

/* Reads the fields `to` (a vertex, or a list) and `from`. */
static const weir_vertex *read_ends(lua_State *L, const struct weirlua_graph *handle, weir_flow_options *o)
{
    weir_vertex *one;

    o->from = weirlua_field_vertex(L, 2, "from", handle);
    if (lua_getfield(L, 2, "to") == LUA_TTABLE)
        return weirlua_check_list(L, lua_gettop(L), handle, &o->nto);
    luaL_argcheck(L, !lua_isnil(L, -1), 2, "field 'to': a vertex or a list of vertices expected, got nothing");
    one = lua_newuserdatauv(L, sizeof *one, 0);
    *one = weirlua_check_vertex_of(L, weirlua_of(L), lua_gettop(L) - 1, handle);
    o->nto = 1;
    return one;
}

int weirlua_graph_flow(lua_State *L)
{
    static const char *const known[] = {"subsystem", "from", "to", "units", "at", "duration", "capacity", NULL};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    weir_flow_options o = {.from = WEIR_NONE};
    struct weirlua_owner *owner;
    weir_flow *f = NULL;
    weir_err err = {0};
    int rc;

    luaL_checktype(L, 2, LUA_TTABLE);
    weirlua_options(L, 2, known);
    o.subsystem = weirlua_field_string(L, 2, "subsystem", NULL);
    luaL_argcheck(L, o.subsystem, 2, "field 'subsystem': string expected, got nothing");
    o.units = weirlua_field_integer(L, 2, "units", 0);
    o.at = weirlua_field_time(L, 2, "at", weir_graph_now(handle->g));
    o.duration = weirlua_field_duration(L, 2, "duration", 0);
    o.capacity = weirlua_field_boolean(L, 2, "capacity", false);
    o.to = read_ends(L, handle, &o);
    owner = weirlua_owner_push(L, free_flow);
    rc = weir_flow_most(handle->g, &o, &f, &err);
    owner->p = f;
    if (rc < 0)
        return weirlua_fail(L, &err, rc);
    push_flow(L, handle, f, o.nto);
    weirlua_owner_clear(owner);
    return 1;
}
