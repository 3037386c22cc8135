/* snapshot.h - functions in a forked copy of the process. */
#ifndef WEIRLUA_SNAPSHOT_H
#define WEIRLUA_SNAPSHOT_H

#include "handle/state.h"

void weirlua_snapshot_open(lua_State *L, struct weirlua *s);
extern const luaL_Reg weirlua_snapshot_functions[];

#endif
