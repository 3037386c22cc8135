/* numbers.h - numbers in a line of text. */
#ifndef WEIRLUA_NUMBERS_H
#define WEIRLUA_NUMBERS_H

#include "handle/state.h"

int weirlua_numbers(lua_State *L); /* numbers.c: numbers(line) */

#endif
