/* net.h - the parts of the module "weir.serve.net". Each _open makes the classes of its handles. */
#ifndef WEIR_SERVE_NET_H
#define WEIR_SERVE_NET_H

#include "handle/state.h"

/* ---- http.c ---- */

extern const luaL_Reg weirlua_http_functions[];
void weirlua_http_open(lua_State *L, struct weirlua *s);

/* ---- tls.c ---- */

extern const luaL_Reg weirlua_tls_functions[];
void weirlua_tls_open(lua_State *L, struct weirlua *s);

#endif
