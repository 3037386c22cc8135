/* placer.h - units of a flat simulator that Lua functions choose; see placer.c. */
#ifndef WEIRLUA_PLACER_H
#define WEIRLUA_PLACER_H

#include "handle/state.h"
#include "queue/flat.h"

/* Reads the field placer of the options at `options`, a table of functions book, begin, finish, drop, extend and
 * advance, into the simulator at index 1. Returns false without memory. */
bool weirlua_placer_open(lua_State *L, struct flat *s, int options);
/* A method of the simulator at index 1 begins, and may call the functions. */
void weirlua_placer_enter(lua_State *L, struct flat *s);
/* Raises the error of a function, if one has failed. */
void weirlua_placer_check(lua_State *L);
/* Pushes an instant as seconds. */
void weirlua_flat_push_time(lua_State *L, int64_t us);

#endif
