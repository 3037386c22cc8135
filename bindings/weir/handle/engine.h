/* engine.h - engines as Lua values, with the methods of the files engine_*.c and explain.c. */
#ifndef WEIRLUA_ENGINE_H
#define WEIRLUA_ENGINE_H

#include "handle/state.h"

int weirlua_engine_new(lua_State *L);
int weirlua_match_once(lua_State *L);
int weirlua_engine_plain(lua_State *L);
int weirlua_engine_levels(lua_State *L); /* explain.c: a method of engines */
void weirlua_engine_open(lua_State *L, struct weirlua *s);
/* Returns the count of visits of the open engine at index 1, and the engine's graph. Raises while a match runs, and
 * where the graph may not be changed. */
uint64_t *weirlua_engine_idle(lua_State *L, struct weirlua_graph **handle);
int weirlua_engine_scores(lua_State *L); /* enum scores_mode of the engine at index 1 */
/* engine_queue.c: methods of engines */
int weirlua_engine_place(lua_State *L);
/* engine_stage.c: methods of engines */
int weirlua_engine_stages(lua_State *L);
int weirlua_engine_commit(lua_State *L);
int weirlua_engine_drop(lua_State *L);
int weirlua_engine_allocate(lua_State *L); /* a function of the module */
/* Pushes a copy of an allocation of the engine at index 1. Raises without memory. */
void weirlua_push_job(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a);
int weirlua_engine_soonest(lua_State *L);
int weirlua_engine_hierarchy(lua_State *L); /* engine_hierarchy.c */
int weirlua_engine_admitted(lua_State *L);
int weirlua_engine_placed(lua_State *L);
/* engine_end.c: methods of engines */
int weirlua_engine_release(lua_State *L);
int weirlua_engine_shrink(lua_State *L);
int weirlua_engine_advance(lua_State *L);
int weirlua_engine_finished(lua_State *L);
/* Pushes a copy of what a job of the engine at index 1 has, for the hook `finished` of the policy; nil where `a` is
 * NULL or no hook asks. Raises without memory. */
void weirlua_ending_push(lua_State *L, const weir_allocation *a);
/* Pushes what the detached job at an index had, or nil, as above. Raises for a job that was put back, or of another
 * graph. */
void weirlua_detached_ending(lua_State *L, int arg, const struct weirlua_graph *handle);
int weirlua_engine_free(lua_State *L);
int weirlua_engine_visits(lua_State *L);
int weirlua_engine_detach(lua_State *L);
int weirlua_engine_attach(lua_State *L);
int weirlua_engine_record(lua_State *L);
int weirlua_engine_book(lua_State *L);
void weirlua_detached_open(lua_State *L, struct weirlua *s);

#endif
