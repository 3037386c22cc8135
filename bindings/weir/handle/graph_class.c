/* graph_class.c - the class of graphs, from the methods of all files that have some. */
#include "handle/accumulator.h"
#include "handle/graph.h"
#include "handle/rset.h"
#include "handle/walk.h"

const luaL_Reg weirlua_graph_visitors[] = {
    {"walk", weirlua_walk}, {"accumulator", weirlua_graph_accumulator}, {NULL, NULL}};

static void add(lua_State *L, struct weirlua *s, const luaL_Reg *methods)
{
    lua_pushlightuserdata(L, s);
    luaL_setfuncs(L, methods, 1);
}

void weirlua_graph_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg others[] = {{"format", weirlua_graph_format},
                                      {"write", weirlua_graph_write},
                                      {"fold", weirlua_graph_fold},
                                      {"resolve", weirlua_graph_resolve},
                                      {"resolve_flows", weirlua_graph_resolve_flows},
                                      {"flow", weirlua_graph_flow},
                                      {"rset", weirlua_graph_rset},
                                      {NULL, NULL}};
    const luaL_Reg *const lists[] = {others,
                                     weirlua_graph_owners,
                                     weirlua_graph_writers,
                                     weirlua_graph_copies,
                                     weirlua_graph_finders,
                                     weirlua_graph_savers,
                                     weirlua_graph_differences};

    weirlua_class(L, s, WEIRLUA_GRAPH, weirlua_graph_readers, weirlua_graph_meta);
    luaL_getmetatable(L, WEIRLUA_GRAPH);
    lua_getfield(L, -1, "__index");
    add(L, s, weirlua_graph_visitors);
    if (!s->readonly)
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            add(L, s, lists[i]);
    lua_pop(L, 2);
    weirlua_graph_handles_open(L);
}
