/* editor.h - the line editor. */
#ifndef WEIRLUA_EDITOR_H
#define WEIRLUA_EDITOR_H

#include "handle/state.h"

int weirlua_editor_new(lua_State *L); /* editor{...} */
bool weirlua_editor_interrupted(void);
void weirlua_editor_open(lua_State *L, struct weirlua *s);

#endif
