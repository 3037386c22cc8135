/* json.h - JSON. */
#ifndef WEIRLUA_JSON_H
#define WEIRLUA_JSON_H

#include "handle/state.h"

/* Returns the number of bytes of the UTF-8 character at s (whose first byte is 0x80 or more), 0 for a malformed
 * character. */
size_t weirlua_wide(const unsigned char *s, size_t left);

void weirlua_json_open(lua_State *L, struct weirlua *s);
/* Pushes the JSON text of the value at idx, with the keys of objects in order (`sort`) or in any order, in lines with
 * `indent` blanks a level, or, for 0, compact. */
void weirlua_json_write(lua_State *L, int idx, bool sort, int indent);
/* Pushes the value of a JSON text and returns 1, or pushes nil, message, code and returns 3. */
int weirlua_json_read(lua_State *L, const char *text, size_t len);
/* Like weirlua_json_read(); with `keys`, each object has the list of all keys, in the order of the text, as well. */
int weirlua_json_read_as(lua_State *L, const char *text, size_t len, bool keys);
int weirlua_json_line(lua_State *L);
/* Returns whether a table is written as a JSON array. */
bool weirlua_json_is_list(lua_State *L, int idx);
extern const luaL_Reg weirlua_json_functions[];

#endif
