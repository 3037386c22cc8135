/* accumulator.h - accumulators of the vertices with the best scores. */
#ifndef WEIRLUA_ACCUMULATOR_H
#define WEIRLUA_ACCUMULATOR_H

#include "handle/state.h"

int weirlua_graph_accumulator(lua_State *L); /* g:accumulator(best) */
void weirlua_accumulator_open(lua_State *L, struct weirlua *s);

#endif
