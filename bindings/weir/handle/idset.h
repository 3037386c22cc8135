/* idset.h - sets of ids as Lua values. */
#ifndef WEIRLUA_IDSET_H
#define WEIRLUA_IDSET_H

#include "handle/state.h"

/* Replaces the value at `arg` (a set, an id, a list of ids, a text) by a set and returns the set. Returns NULL for a
 * wrong text, with the reason in err; the stack may have grown then. */
weir_idset *weirlua_idset_at(lua_State *L, int arg, weir_err *err);
/* _push pushes a handle without a set and returns the place of the set, for a function of the core to fill. _finish
 * takes the status of the core, raises on failure, and returns 1. */
weir_idset **weirlua_idset_push(lua_State *L);
int weirlua_idset_finish(lua_State *L, weir_idset *const *set, int rc);
int weirlua_idset_new(lua_State *L);
void weirlua_idset_open(lua_State *L, struct weirlua *s);

#endif
