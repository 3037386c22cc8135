/* graph_copy.c - graphs made from graphs: duplicates, copies, extracts, coarse views. Invariant: the new handle is made
 * closed before the core is called, and opened after. */
#include "handle/support.h"
#include "handle/vertex.h"

#include <string.h>

#define MAP "weir.map"

/* dup(): the whole graph, with the schedules. */
static int graph_dup(lua_State *L)
{
    struct weirlua_graph *from = weirlua_check_graph(L, weirlua_of(L), 1);
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, handle, weir_graph_dup(from->g, &handle->g, &err), &err);
}

/* hierarchy(name): a duplicate of the graph as a tree of another hierarchy, with the schedules. */
static int graph_hierarchy(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *from = weirlua_check_graph(L, s, 1), *handle;
    const char *name = luaL_checkstring(L, 2);
    weir_graph *view;
    weir_err err = {0};
    int rc;

    weirlua_check_writable(L, s, from);
    handle = weirlua_graph_closed(L);
    rc = weir_graph_hierarchy(from->g, name, &view, &err);
    rc = rc ? rc : weir_graph_dup(view, &handle->g, &err);
    return weirlua_graph_finish(L, handle, rc, &err);
}

/* copy(v): a graph of the pools at and below v that are available now, with the distribution units of other subsystems
 * that serve these pools. */
static int graph_copy(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *from = weirlua_check_graph(L, s, 1);
    weir_vertex v = weirlua_check_vertex_of(L, s, 2, from);
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, handle, weir_graph_copy(from->g, v, &handle->g, &err), &err);
}

weir_vertex *weirlua_check_list(lua_State *L, int arg, const struct weirlua_graph *handle, uint32_t *n)
{
    size_t count = (luaL_checktype(L, arg, LUA_TTABLE), lua_rawlen(L, arg));
    weir_vertex *list;

    luaL_argcheck(L, count < UINT32_MAX, arg, "too many vertices");
    list = lua_newuserdatauv(L, (count + 1) * sizeof *list, 0);
    for (size_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, arg, (lua_Integer)i + 1) != LUA_TLIGHTUSERDATA)
            luaL_argerror(L, arg,
                          lua_pushfstring(L, "list of vertices expected, number %I in it is a %s", (LUAI_UACINT)i + 1,
                                          luaL_typename(L, -1)));
        list[i] = weirlua_check_vertex_of(L, weirlua_of(L), lua_gettop(L), handle);
        lua_pop(L, 1);
    }
    *n = (uint32_t)count;
    return list;
}

/* extract(list): the vertices, with all vertices below and above. */
static int graph_extract(lua_State *L)
{
    struct weirlua_graph *from = weirlua_check_graph(L, weirlua_of(L), 1), *handle;
    uint32_t n;
    const weir_vertex *list = weirlua_check_list(L, 2, from, &n);
    weir_err err = {0};

    handle = weirlua_graph_closed(L);
    return weirlua_graph_finish(L, handle, weir_graph_extract(from->g, list, n, &handle->g, &err), &err);
}

/* compare(other[, books]): true; or nil, the first difference, code. With `books` schedules are compared too. */
static int graph_compare(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *a = weirlua_check_graph(L, s, 1), *b = weirlua_check_graph(L, s, 2);
    weir_err err = {0};

    return weirlua_status(L, weir_graph_compare(a->g, b->g, lua_toboolean(L, 3), &err), &err);
}

/* ---- coarse views ---- */

/* The map between a graph and a coarse view. User values: 1 the fine graph, 2 the view. */
struct copy_map {
    weir_vertex *coarse; /* by vertex of the fine graph */
    uint32_t limit;
    uint32_t fine_number, view_number;
    uint64_t fine_serial, view_serial;
};

static int map_gc(lua_State *L)
{
    struct copy_map *m = luaL_checkudata(L, 1, MAP);
    weir_vertex *coarse = m->coarse;

    m->coarse = NULL;
    weir_free(coarse);
    return 0;
}

/* Returns the names of the types to keep as an array of *n. Array and strings stay on the stack or in the table at
 * index 2. */
static const char **read_keep(lua_State *L, uint32_t *n)
{
    static const char *const known[] = {"keep", NULL};
    const char **keep;

    luaL_checktype(L, 2, LUA_TTABLE);
    weirlua_options(L, 2, known);
    lua_pushliteral(L, "keep");
    if (lua_rawget(L, 2) != LUA_TTABLE)
        luaL_error(L, "field 'keep': list of types expected, got %s", luaL_typename(L, -1));
    *n = (uint32_t)lua_rawlen(L, -1);
    keep = lua_newuserdatauv(L, (*n + (size_t)1) * sizeof *keep, 0);
    for (uint32_t i = 0; i < *n; i++) {
        if (lua_rawgeti(L, -2, (lua_Integer)i + 1) != LUA_TSTRING)
            luaL_error(L, "field 'keep': list of types expected, number %d in it is a %s", (int)i + 1,
                       luaL_typename(L, -1));
        keep[i] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return keep;
}

/* coarsen{keep = {"rack", "node"}}: the view, and the map between graph and view. */
static int graph_coarsen(lua_State *L)
{
    struct weirlua_graph *from = weirlua_check_graph(L, weirlua_of(L), 1), *view;
    uint32_t n;
    const char **keep = read_keep(L, &n);
    struct copy_map *m = lua_newuserdatauv(L, sizeof *m, 2);
    weir_err err = {0};
    int rc;

    *m = (struct copy_map){0};
    luaL_setmetatable(L, MAP);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    view = weirlua_graph_closed(L);
    rc = weir_graph_coarsen(from->g, keep, n, &view->g, &m->coarse, &err);
    m->limit = weir_graph_limit(from->g);
    m->fine_number = from->number;
    m->fine_serial = weir_graph_serial(from->g);
    if (weirlua_graph_finish(L, view, rc, &err) != 1)
        return 3;
    m->view_number = view->number;
    m->view_serial = weir_graph_serial(view->g);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, -3, 2);
    lua_insert(L, -2);
    return 2;
}

static int push_fine(lua_State *L, const struct copy_map *m, weir_vertex v)
{
    struct weirlua_graph *fine;
    lua_Integer n = 0;

    lua_newtable(L);
    fine = weirlua_graph_find(weirlua_of(L), m->fine_number);
    for (weir_vertex i = 0; fine && i < m->limit; i++)
        if (m->coarse[i] == v) {
            weirlua_push_vertex(L, fine, i);
            lua_rawseti(L, -2, ++n);
        }
    return 1;
}

/* map(v): for a vertex of the fine graph, the vertex of the view that represents v, or nil; for a vertex of the view,
 * the list of the vertices represented. */
static int map_call(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct copy_map *m = luaL_checkudata(L, 1, MAP);
    struct weirlua_graph *fine = weirlua_graph_find(s, m->fine_number), *view = weirlua_graph_find(s, m->view_number);
    struct weirlua_handle h;

    luaL_argcheck(L, m->coarse && fine && view, 1, "one of the two graphs is closed");
    h = weirlua_check_vertex(L, s, 2);
    if (weir_graph_serial(fine->g) != m->fine_serial || weir_graph_serial(view->g) != m->view_serial)
        return luaL_error(L, "one of the two graphs changed since the view was made");
    luaL_argcheck(L, h.handle == fine || h.handle == view, 2, "the vertex belongs to another graph");
    if (h.handle == view)
        return push_fine(L, m, h.v);
    weirlua_push_vertex(L, view, m->coarse[h.v]);
    return 1;
}

/* map:graph(): the fine graph. */
static int map_graph(lua_State *L)
{
    luaL_checkudata(L, 1, MAP);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

void weirlua_map_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"graph", map_graph}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", map_gc}, {"__call", map_call}, {NULL, NULL}};

    weirlua_class(L, s, MAP, methods, meta);
}

const luaL_Reg weirlua_graph_copies[] = {{"dup", graph_dup},
                                         {"copy", graph_copy},
                                         {"extract", graph_extract},
                                         {"compare", graph_compare},
                                         {"coarsen", graph_coarsen},
                                         {"hierarchy", graph_hierarchy},
                                         {NULL, NULL}};
