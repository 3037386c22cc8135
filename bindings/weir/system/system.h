/* system.h - functions of the module for processes and files. */
#ifndef WEIRLUA_SYSTEM_H
#define WEIRLUA_SYSTEM_H

#include "handle/state.h"

extern const luaL_Reg weirlua_process_functions[], weirlua_file_functions[];

#endif
