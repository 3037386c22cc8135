/* query.h - expressions and constraints as Lua values. */
#ifndef WEIRLUA_QUERY_H
#define WEIRLUA_QUERY_H

#include "handle/state.h"

int weirlua_query_new(lua_State *L);
int weirlua_constraint_new(lua_State *L);
const weir_constraint *weirlua_check_constraint(lua_State *L, int arg);
void weirlua_query_open(lua_State *L, struct weirlua *s);

#endif
