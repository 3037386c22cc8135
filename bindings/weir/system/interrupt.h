/* interrupt.h - signals that stop a script. */
#ifndef WEIRLUA_INTERRUPT_H
#define WEIRLUA_INTERRUPT_H

#include "handle/state.h"

/* Let Ctrl-C, SIGTERM and SIGHUP stop the code that runs in L, until weirlua_interrupts_end(). For programs that host
 * Lua. */
void weirlua_interrupts_begin(lua_State *L);
void weirlua_interrupts_end(void);
int weirlua_interrupts_last(void); /* the last signal of the three, or 0 */
bool weirlua_ending(void);         /* SIGTERM or SIGHUP came: begin no new work */
void weirlua_interrupts_clear(void);
extern const luaL_Reg weirlua_interrupt_functions[];

#endif
