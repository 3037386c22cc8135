/* rset.h - resource sets as Lua values. */
#ifndef WEIRLUA_RSET_H
#define WEIRLUA_RSET_H

#include "handle/state.h"

/* _push pushes a handle without a set and returns the place of the set, for a function of the core to fill. _finish
 * takes the status and returns 1, or pushes nil, message, code. */
weir_rset **weirlua_rset_push(lua_State *L);
int weirlua_rset_finish(lua_State *L, weir_rset *const *handle, int rc, const weir_err *err);
int weirlua_rset_new(lua_State *L);
int weirlua_check_R(lua_State *L);
int weirlua_graph_rset(lua_State *L);
void weirlua_rset_open(lua_State *L, struct weirlua *s);

#endif
