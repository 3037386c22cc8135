/* fuzz_rdl.c - RDL files and recipes: the sandbox, the Lua code in the files, and the building of the graph.
 * Budgets are small, so that a loop ends in time; a graph that is made has to pass weir_check. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef WEIR_LUA
#define WEIR_LUA "build/lua" /* where the Lua files are */
#endif

int luaopen_weir_core(lua_State *L);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script[] = "local weir, script = require 'weir', require 'weir.machine.script'\n"
                             "local budget = {instructions = 300000, memory = 16 << 20}\n"
                             "return function(text)\n"
                             "  budget.format = script.guess(text)\n"
                             "  local g, why, code = weir.parse(text, budget)\n"
                             "  if not g then return assert(type(why) == 'string' and type(code) == 'string') end\n"
                             "  assert(g:check())\n"
                             "  g:close()\n"
                             "end";

static lua_State *open_state(void)
{
    lua_State *L = luaL_newstate();

    luaL_openlibs(L);
    luaL_requiref(L, "weir.core", luaopen_weir_core, 0);
    lua_getglobal(L, "package");
    lua_pushliteral(L, WEIR_LUA "/?.lua;" WEIR_LUA "/?/init.lua");
    lua_setfield(L, -2, "path");
    if (luaL_loadstring(L, script) != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        exit(1);
    }
    return L;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;

    if (!L)
        L = open_state();
    lua_pushvalue(L, -1);
    lua_pushlstring(L, (const char *)data, size);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        abort();
    }
    return 0;
}
