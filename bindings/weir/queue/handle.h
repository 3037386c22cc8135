/* handle.h - flat simulations as Lua values. */
#ifndef WEIRLUA_QUEUE_HANDLE_H
#define WEIRLUA_QUEUE_HANDLE_H

#include "handle/state.h"

int weirlua_flat_new(lua_State *L); /* flat{...} */
void weirlua_flat_open(lua_State *L, struct weirlua *s);

#endif
