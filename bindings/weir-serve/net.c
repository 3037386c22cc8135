/* net.c - luaopen_weir_serve_net: the module "weir.serve.net", TLS and HTTP for the service and its clients. Invariant:
 * the module has handles and classes of its own, and none of graphs. */
#include "handle/state.h"
#include "net.h"

__attribute__((visibility("default"))) int luaopen_weir_serve_net(lua_State *L);

int luaopen_weir_serve_net(lua_State *L)
{
    static const luaL_Reg *const lists[] = {weirlua_http_functions, weirlua_tls_functions};
    struct weirlua *s;

    luaL_checkversion(L);
    s = weirlua_state(L, NULL);
    weirlua_http_open(L, s);
    weirlua_tls_open(L, s);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lua_pushlightuserdata(L, s);
        luaL_setfuncs(L, lists[i], 1);
    }
    return 1;
}
