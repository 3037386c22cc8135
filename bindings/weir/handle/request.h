/* request.h - requests as Lua values, and errors of requests for types that a machine does not have. */
#ifndef WEIRLUA_REQUEST_H
#define WEIRLUA_REQUEST_H

#include "handle/state.h"

/* Adds the nearest type that the machine has to the error of an infeasible request for a type that the machine has no
 * pool of. O(types of the request * types of the machine) */
void weirlua_tell_absent(lua_State *L, const weir_graph *g, const weir_request *r, weir_err *err);
int weirlua_nearest(lua_State *L);

void weirlua_set_filled(lua_State *L, const char *key, const char *value); /* unless the text is NULL or empty */

int weirlua_request_new(lua_State *L);
bool weirlua_is_request(lua_State *L, int arg);
/* The number of the handle of a request at `arg`, which no further handle has; 0: no such handle. */
uint64_t weirlua_request_serial(lua_State *L, int arg);
/* Replaces the value at `arg` (a request, a text, a table) by a request and returns the request. Returns NULL with nil,
 * message, code pushed. */
weir_request *weirlua_request_at(lua_State *L, struct weirlua *s, int arg);
void weirlua_request_open(lua_State *L, struct weirlua *s);

#endif
