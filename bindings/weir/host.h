/* host.h - a lua_State for programs that host weir. */
#ifndef WEIRLUA_HOST_H
#define WEIRLUA_HOST_H

#include "handle/state.h"

/* Pushes the real path of the first folder, relative to `dir`, that contains `probe`; nil where no folder does. */
void weirlua_push_folder(lua_State *L, const char *dir, const char *const *folders, const char *probe);
/* Prepares L to run weir: Lua files are searched in `folder` (NULL: on Lua's own path), and `core` opens weir.core.
 * Pushes the result of require(module). Raises. */
void weirlua_host(lua_State *L, const char *folder, lua_CFunction core, const char *module);

__attribute__((visibility("default"))) int luaopen_weir_core(lua_State *L); /* exported by the Lua module */

#endif
