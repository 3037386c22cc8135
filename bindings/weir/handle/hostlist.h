/* hostlist.h - lists of hosts as Lua values. */
#ifndef WEIRLUA_HOSTLIST_H
#define WEIRLUA_HOSTLIST_H

#include "handle/state.h"

/* Like the functions of idset.h. A list, a text or a list of texts is accepted. */
weir_hostlist *weirlua_hostlist_at(lua_State *L, int arg, weir_err *err);
weir_hostlist **weirlua_hostlist_push(lua_State *L);
int weirlua_hostlist_finish(lua_State *L, weir_hostlist *const *h, int rc);
int weirlua_hostlist_new(lua_State *L);
void weirlua_hostlist_open(lua_State *L, struct weirlua *s);

#endif
