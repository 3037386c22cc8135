/* module.c - luaopen_weir_core: the module "weir.core". Invariant: a second load in a lua_State gives the classes and
 * handles of the first. */
#include "handle/accumulator.h"
#include "handle/allocation.h"
#include "handle/engine.h"
#include "handle/hostlist.h"
#include "handle/idset.h"
#include "handle/numbers.h"
#include "handle/query.h"
#include "handle/request.h"
#include "handle/rset.h"
#include "handle/support.h"
#include "handle/vertex.h"
#include "handle/walk.h"
#include "host.h"
#include "policy/policy.h"
#include "queue/handle.h"
#include "system/editor.h"
#include "system/interrupt.h"
#include "system/json.h"
#include "system/snapshot.h"
#include "system/system.h"

#include <sched.h>
#include <stdlib.h>

/* clock(): seconds of a monotonic clock. */
static int seconds(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)weirlua_clock() / 1e9);
    return 1;
}

/* processors(): the number of processors that the process may run on. */
static int processors(lua_State *L)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    lua_pushinteger(L, n > 0 ? n : 1);
    return 1;
}

/* calls(f, n, ...): calls f n times with the further arguments, for benchmarks of calls from C. */
static int calls(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 2);
    int top = lua_gettop(L);

    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_checkstack(L, top, "arguments");
    while (n-- > 0) {
        lua_pushvalue(L, 1);
        for (int i = 3; i <= top; i++)
            lua_pushvalue(L, i);
        lua_call(L, top - 2, 0);
    }
    return 0;
}

/* vertices_limit([most]): sets the greatest number of vertices of a graph; returns the former limit. */
static int vertices_limit(lua_State *L)
{
    lua_Integer most = luaL_optinteger(L, 1, 0);

    luaL_argcheck(L, most >= 0 && most <= UINT32_MAX, 1, "a number of vertices expected");
    lua_pushinteger(L, weir_vertices_limit((uint32_t)most));
    return 1;
}

/* The number in an environment variable; 0: it is not set, or no number. */
static unsigned long environment_number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    unsigned long n = text ? strtoul(text, &end, 10) : 0;

    return text && *text >= '0' && *text <= '9' && *end == '\0' ? n : 0;
}

/* Sets the limits that the environment names. */
static void read_environment(void)
{
    unsigned long most = environment_number("WEIR_VERTICES");

    if (most <= UINT32_MAX)
        weir_vertices_limit((uint32_t)most);
    weir_flow_steps(environment_number("WEIR_FLOW_STEPS"));
}

/* Adds the names of a list to the table on top of the stack. */
static void add_names(lua_State *L, const luaL_Reg *list)
{
    for (; list->name; list++) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, list->name);
    }
}

/* members(): the names that a policy can use, compared with the manual: {vertex, graph, allocation = {name = ...},
 * policy = {names}}. */
static int members(lua_State *L)
{
    lua_settop(L, 0);
    lua_createtable(L, 0, 4);
    weirlua_push_members(L, weirlua_of(L));
    lua_setfield(L, 1, "vertex");
    lua_newtable(L);
    add_names(L, weirlua_graph_readers);
    add_names(L, weirlua_graph_visitors);
    lua_setfield(L, 1, "graph");
    lua_newtable(L);
    add_names(L, weirlua_allocation_methods);
    lua_setfield(L, 1, "allocation");
    lua_newtable(L);
    for (int i = 0; weirlua_policy_fields[i]; i++) {
        lua_pushstring(L, weirlua_policy_fields[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, 1, "policy");
    return 1;
}

/* methods(class): the table of methods of a class of handles, to be extended in Lua. A class with fields has a function
 * as __index, with the table as the upvalue 2. */
static int methods(lua_State *L)
{
    lua_pushfstring(L, "weir.%s", luaL_checkstring(L, 1));
    if (lua_rawget(L, LUA_REGISTRYINDEX) != LUA_TTABLE)
        return luaL_error(L, "there is no class '%s'", weirlua_quote(L, lua_tostring(L, 1)));
    lua_getfield(L, -1, "__index");
    if (lua_iscfunction(L, -1))
        lua_getupvalue(L, -1, 2);
    luaL_checktype(L, -1, LUA_TTABLE);
    return 1;
}

static const luaL_Reg functions[] = {{"request", weirlua_request_new},
                                     {"nearest", weirlua_nearest},
                                     {"engine", weirlua_engine_new},
                                     {"match_once", weirlua_match_once},
                                     {"plain", weirlua_engine_plain},
                                     {"allocate", weirlua_engine_allocate},
                                     {"obstacles", weirlua_obstacles},
                                     {"query", weirlua_query_new},
                                     {"constraint", weirlua_constraint_new},
                                     {"policy_load", weirlua_policy_load},
                                     {"policy_origin", weirlua_policy_origin},
                                     {"policy_print", weirlua_policy_print},
                                     {"policy_source", weirlua_policy_source},
                                     {"policy_table", weirlua_policy_table},
                                     {"policy_stamp", weirlua_policy_stamp},
                                     {"filter_limit", weirlua_filter_limit},
                                     {"filter_walk", weirlua_filter_walk},
                                     {"methods", methods},
                                     {"members", members},
                                     {"pieces", weirlua_pieces_new},
                                     {"numbers", weirlua_numbers},
                                     {"flat", weirlua_flat_new},
                                     {"clock", seconds},
                                     {"calls", calls},
                                     {"vertices_limit", vertices_limit},
                                     {"processors", processors},
                                     {"editor", weirlua_editor_new},
                                     {"sandbox_open", weirlua_sandbox_live},
                                     {"sandbox_run", weirlua_sandbox_run},
                                     {"json_line", weirlua_json_line},
                                     {"document", weirlua_document},
                                     {"idset", weirlua_idset_new},
                                     {"hostlist", weirlua_hostlist_new},
                                     {"rset", weirlua_rset_new},
                                     {"check_R", weirlua_check_R},
                                     {NULL, NULL}};

static const luaL_Reg *const lists[] = {functions,
                                        weirlua_process_functions,
                                        weirlua_graph_functions,
                                        weirlua_file_functions,
                                        weirlua_interrupt_functions,
                                        weirlua_snapshot_functions,
                                        weirlua_json_functions};

static void open_classes(lua_State *L, struct weirlua *s)
{
    if (luaL_getmetatable(L, WEIRLUA_GRAPH) == LUA_TNIL) {
        weirlua_vertex_open(L, s); /* first, as loading may fail here */
        weirlua_owner_open(L, s);
        weirlua_draft_open(L, s);
        weirlua_json_open(L, s);
        weirlua_idset_open(L, s);
        weirlua_hostlist_open(L, s);
        weirlua_rset_open(L, s);
        weirlua_pieces_open(L, s);
        weirlua_request_open(L, s);
        weirlua_allocation_open(L, s);
        weirlua_walk_open(L, s);
        weirlua_accumulator_open(L, s);
        weirlua_query_open(L, s);
        weirlua_map_open(L, s);
        weirlua_policy_open(L, s);
        weirlua_change_open(L, s);
        weirlua_sandbox_run_open(L, s);
        weirlua_sandbox_live_open(L, s);
        weirlua_engine_open(L, s);
        weirlua_detached_open(L, s);
        weirlua_editor_open(L, s);
        weirlua_snapshot_open(L, s);
        weirlua_flat_open(L, s);
        weirlua_graph_open(L, s);
    }
    lua_pop(L, 1);
}

static void push_states(lua_State *L)
{
    lua_createtable(L, WEIR_STATES, 0);
    for (int i = 0; i < WEIR_STATES; i++) {
        lua_pushstring(L, weir_state_name(i));
        lua_rawseti(L, -2, i + 1);
    }
}

/* Pushes the limits of texts read whole, in bytes. */
static void push_limits(lua_State *L)
{
    static const struct {
        const char *name;
        lua_Integer max;
    } limits[] = {{"policy", WEIR_POLICY_MAX}, {"jobspec", WEIR_JOBSPEC_MAX}, {"machine", WEIR_MACHINE_MAX}};

    lua_createtable(L, 0, (int)(sizeof limits / sizeof *limits));
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        lua_pushinteger(L, limits[i].max);
        lua_setfield(L, -2, limits[i].name);
    }
}

int luaopen_weir_core(lua_State *L)
{
    struct weirlua *s;

    read_environment();
    luaL_checkversion(L);
    s = weirlua_state(L, NULL);
    open_classes(L, s);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lua_pushlightuserdata(L, s);
        luaL_setfuncs(L, lists[i], 1);
    }
    lua_pushliteral(L, WEIR_VERSION);
    lua_setfield(L, -2, "version");
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    push_states(L);
    lua_setfield(L, -2, "states");
    push_limits(L);
    lua_setfield(L, -2, "limits");
    return 1;
}
