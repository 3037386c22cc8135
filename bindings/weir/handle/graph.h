/* graph.h - graphs as Lua values: the checks of a handle, and methods by the files that have them. */
#ifndef WEIRLUA_GRAPH_H
#define WEIRLUA_GRAPH_H

#include "handle/state.h"

#define WEIRLUA_GRAPH "weir.graph"
/* Returns the graph of the handle at `arg`: the registered handle, never the borrowed handle. Raises for a closed
 * graph. */
struct weirlua_graph *weirlua_check_graph(lua_State *L, struct weirlua *s, int arg);
/* Raises where the graph may not be changed: in a policy, while a match runs, and in a finalizer, since a finalizer may
 * run in the middle of any function of the binding. */
void weirlua_check_writable(lua_State *L, const struct weirlua *s, const struct weirlua_graph *handle);
/* Pushes the handle of an open graph. */
void weirlua_push_graph(lua_State *L, struct weirlua *s, struct weirlua_graph *handle);
/* Pushes the handle of an open graph, to keep the graph from being collected. Needed where a function was given only a
 * vertex and reads the graph after an allocation in Lua, since an allocation may collect garbage. */
#define weirlua_anchor weirlua_push_graph
/* Pushes {type = {total, free, idle}} of the subtree of v; of the whole graph for WEIR_NONE. Returns 1. */
int weirlua_push_aggregate(lua_State *L, const weir_graph *g, weir_vertex v, bool all);
/* Pushes the aggregates as above with a table of options: {all = with types of which nothing is free, subsystem = the
 * hierarchy}. Returns 1, or 3 for nil, message, code. */
int weirlua_push_sums(lua_State *L, struct weirlua_graph *handle, weir_vertex v, int options);
/* The view of the field `subsystem` of a table of options, for what is below a vertex (WEIR_NONE: all); the graph
 * itself without the field. Raises where the graph must not be changed; NULL: err says why. */
const weir_graph *weirlua_view_of(lua_State *L, int options, struct weirlua_graph *handle, weir_vertex below,
                                  weir_err *err);
void weirlua_graph_open(lua_State *L, struct weirlua *s);

/* The functions of the module, and the methods of other files. */
extern const luaL_Reg weirlua_graph_functions[];

void weirlua_draft_open(lua_State *L, struct weirlua *s);
int weirlua_graph_format(lua_State *L); /* g:format */
int weirlua_graph_fold(lua_State *L);   /* fold.c */
int weirlua_graph_write(lua_State *L);  /* g:write */
int weirlua_graph_resolve_flows(lua_State *L);
int weirlua_graph_resolve(lua_State *L); /* g:resolve */
int weirlua_graph_flow(lua_State *L);    /* g:flow */
extern const luaL_Reg weirlua_graph_meta[], weirlua_graph_owners[];
extern const luaL_Reg weirlua_graph_visitors[]; /* graph_class.c: walk and accumulator, which policies have, too */
void weirlua_graph_handles_open(lua_State *L);  /* makes the table of the handles by number */
extern const luaL_Reg weirlua_graph_readers[];  /* methods that only read: policies have them too */
extern const luaL_Reg weirlua_graph_writers[];  /* methods that change a graph */
extern const luaL_Reg weirlua_graph_copies[];   /* methods that make a graph from a graph */
extern const luaL_Reg weirlua_graph_finders[];
extern const luaL_Reg weirlua_graph_savers[];
extern const luaL_Reg weirlua_graph_differences[];
int weirlua_graph_pieces(lua_State *L); /* graph_pieces.c: g:pieces */
int weirlua_pieces_new(lua_State *L);   /* pieces() */
void weirlua_pieces_open(lua_State *L, struct weirlua *s);

void weirlua_map_open(lua_State *L, struct weirlua *s); /* the class of the maps between a graph and a coarse view */
/* _closed pushes a closed handle. A function of the core then fills handle->g. _finish opens the handle and returns 1,
 * or pushes nil, message, code. */
struct weirlua_graph *weirlua_graph_closed(lua_State *L);
int weirlua_graph_finish(lua_State *L, struct weirlua_graph *handle, int rc, const weir_err *err);

/* Implements unlink(v, {force = true}): unlinks v, and pushes the list of all units that jobs lost. The caller has
 * checked v. */
int weirlua_unlink_forced(lua_State *L, struct weirlua_graph *handle, weir_vertex v);
/* Returns whether a job has a vertex in the subtree of v, or a whole vertex above v. Pushes nil, message, code and the
 * list of jobs then. */
bool weirlua_unlink_refused(lua_State *L, const struct weirlua_graph *handle, weir_vertex v);

/* Returns the list of vertices at `arg`, all of the graph of `handle`, as an array of *n. A userdata pushed on the
 * stack owns the array. */
weir_vertex *weirlua_check_list(lua_State *L, int arg, const struct weirlua_graph *handle, uint32_t *n);
/* Pushes {source, target, subsystem, type, back} for an edge. */
void weirlua_push_edge(lua_State *L, const struct weirlua_graph *handle, const weir_edge *e);

int weirlua_document(lua_State *L);

#endif
