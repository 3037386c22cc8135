/* charge.h - what C functions cost the script that calls them; only for the state of a script, where `readonly` is
 * true. */
#ifndef WEIRLUA_CHARGE_H
#define WEIRLUA_CHARGE_H

#include "handle/state.h"

/* Charges `steps` of a C function, of a nanosecond or two each, to the script. Raises where the budget of instructions
 * or the time is used up, or a signal came. */
void weirlua_sandbox_spend(lua_State *S, int64_t steps);
/* Steps of a function that scripts and others reach; only those of scripts are charged. */
static inline void weirlua_spend(lua_State *L, const struct weirlua *s, int64_t steps)
{
    if (s->readonly)
        weirlua_sandbox_spend(L, steps);
}
/* Charges a sandbox for a function that may visit many vertices in one call of the core: the clock before the call, and
 * the charge after the call. */
int64_t weirlua_timing(const struct weirlua *s);
void weirlua_spend_since(lua_State *L, const struct weirlua *s, int64_t begin);
/* Charge `bytes` of core memory to the script's state, or return the charge. _take raises where the limit would be
 * exceeded. */
void weirlua_sandbox_take(lua_State *S, size_t bytes);
void weirlua_sandbox_give(lua_State *S, size_t bytes);
/* Returns the bytes that the script may still allocate. */
size_t weirlua_sandbox_left(lua_State *S);

#endif
