/* allocation.h - allocations as Lua values. */
#ifndef WEIRLUA_ALLOCATION_H
#define WEIRLUA_ALLOCATION_H

#include "handle/state.h"

/* Pushes a copy of an allocation. Raises without memory. */
void weirlua_push_allocation(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a);
/* Pushes {vertex =, amount =, exclusive =, resource =}. */
void weirlua_push_pick(lua_State *L, const struct weirlua_graph *handle, const weir_pick *p);
/* Returns the job at `arg`: an integer, or the job of an allocation in the graph of `handle`. */
int64_t weirlua_check_job(lua_State *L, int arg, const struct weirlua_graph *handle);
/* Sets `job`, or for a negative id `stage`, of the table on top of the stack. */
void weirlua_push_holder(lua_State *L, int64_t job);
extern const luaL_Reg weirlua_allocation_methods[];
void weirlua_allocation_open(lua_State *L, struct weirlua *s);

#endif
