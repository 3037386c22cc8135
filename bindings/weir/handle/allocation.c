/* allocation.c - the result of a match, as a copy that outlives the job. Invariant: each pick keeps the generation of
 * the vertex at the time of the match, so that a vertex removed since is recognized as stale. */
#include "handle/allocation.h"
#include "handle/rset.h"
#include "handle/support.h"
#include "handle/vertex.h"

#include <string.h>

#define ALLOCATION "weir.allocation"

/* An allocation. User value 1 is the graph, 2 the label of the policy or nil. */
struct allocation {
    weir_allocation a; /* a.picks is NULL; the picks follow the struct */
    uint32_t number;
    struct taken {
        weir_pick pick;
        uint64_t handle; /* the light userdata of the vertex */
    } taken[];
};

void weirlua_push_allocation(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a)
{
    struct allocation *own = lua_newuserdatauv(L, sizeof *own + a->npicks * sizeof own->taken[0], 2);
    uint32_t n = 0;

    own->a = *a;
    own->a.picks = NULL;
    own->number = handle->number;
    for (uint32_t i = 0; i < a->npicks; i++) {
        if (a->picks[i].vertex == WEIR_NONE) /* of a stage: removed from the graph */
            continue;
        own->taken[n].pick = a->picks[i];
        own->taken[n++].handle = (uint64_t)(uintptr_t)weirlua_vertex_value(handle, a->picks[i].vertex);
    }
    own->a.npicks = n;
    luaL_setmetatable(L, ALLOCATION);
    lua_pushstring(L, weir_job_policy(handle->g, a->job)); /* nil for a preview */
    lua_setiuservalue(L, -2, 2);
}

void weirlua_push_holder(lua_State *L, int64_t job)
{
    lua_pushinteger(L, job < 0 ? -job : job);
    lua_setfield(L, -2, job < 0 ? "stage" : "job");
}

int64_t weirlua_check_job(lua_State *L, int arg, const struct weirlua_graph *handle)
{
    struct allocation *own = luaL_testudata(L, arg, ALLOCATION);

    if (!own)
        return luaL_checkinteger(L, arg);
    luaL_argcheck(L, own->number == handle->number, arg, "the allocation is one of another graph");
    return own->a.job;
}

/* Replaces the vertex on top of the stack by {vertex =, amount =, exclusive =, resource =}. */
static void wrap_pick(lua_State *L, const weir_pick *p)
{
    lua_createtable(L, 0, 4);
    lua_insert(L, -2);
    lua_setfield(L, -2, "vertex");
    weirlua_set_integer(L, "amount", p->amount);
    weirlua_set_boolean(L, "exclusive", p->exclusive);
    weirlua_set_integer(L, "resource", p->resource);
}

void weirlua_push_pick(lua_State *L, const struct weirlua_graph *handle, const weir_pick *p)
{
    weirlua_push_vertex(L, handle, p->vertex);
    wrap_pick(L, p);
}

static int allocation_vertices(lua_State *L)
{
    struct allocation *own = luaL_checkudata(L, 1, ALLOCATION);

    lua_createtable(L, (int)own->a.npicks, 0);
    for (uint32_t i = 0; i < own->a.npicks; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)own->taken[i].handle);
        wrap_pick(L, &own->taken[i].pick);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* Raises unless all vertices of the allocation still exist. */
static void check_alive(lua_State *L, const struct weirlua_graph *handle, const struct allocation *own)
{
    for (uint32_t i = 0; i < own->a.npicks; i++) {
        weir_vertex v = own->taken[i].pick.vertex;
        uint64_t generation = own->taken[i].handle >> 52 & 1023;
        if (v >= weir_graph_limit(handle->g) || !weir_vertex_live(handle->g, v) ||
            (weir_vertex_generation(handle->g, v) & 1023) != generation)
            luaL_error(L, "the allocation is stale: a vertex of it was removed from the graph");
    }
}

/* Returns the allocation in the form of the core, and the graph in *handle. Pushes the owner of the picks. */
static weir_allocation as_it_is(lua_State *L, const struct allocation *own, struct weirlua_graph **handle)
{
    weir_pick *picks = lua_newuserdatauv(L, (own->a.npicks + 1) * sizeof *picks, 0);
    weir_allocation a = own->a;

    *handle = weirlua_graph_find(weirlua_of(L), own->number);
    if (!*handle)
        luaL_error(L, "the graph of the allocation is closed");
    check_alive(L, *handle, own);
    for (uint32_t i = 0; i < a.npicks; i++)
        picks[i] = own->taken[i].pick;
    a.picks = picks;
    return a;
}

static int allocation_format(lua_State *L)
{
    struct allocation *own = luaL_checkudata(L, 1, ALLOCATION);
    const char *format = luaL_checkstring(L, 2);
    struct weirlua_owner *text = weirlua_owner_push(L, weir_free);
    struct weirlua_graph *handle;
    weir_allocation a = as_it_is(L, own, &handle);
    weir_err err = {0};

    return weirlua_text(L, text, weir_allocation_format(handle->g, &a, format, &err), &err);
}

static int allocation_write(lua_State *L)
{
    struct allocation *own = luaL_checkudata(L, 1, ALLOCATION);
    FILE *file = weirlua_check_file(L, 2);
    const char *format = luaL_checkstring(L, 3);
    struct weirlua_graph *handle;
    weir_allocation a = as_it_is(L, own, &handle);
    weir_err err = {0};

    return weirlua_status(L, weir_allocation_write(handle->g, &a, format, weirlua_to_file, file, &err), &err);
}

/* rset([{scheduling = false}]): the resource set of the allocation; without scheduling the set has no graph. */
static int allocation_rset(lua_State *L)
{
    static const char *const known[] = {"scheduling", NULL};
    struct allocation *own = luaL_checkudata(L, 1, ALLOCATION);
    struct weirlua_graph *handle;
    weir_allocation a;
    weir_rset **out;
    weir_err err = {0};
    bool scheduling;

    weirlua_options(L, 2, known);
    scheduling = weirlua_field_boolean(L, 2, "scheduling", true);
    a = as_it_is(L, own, &handle);
    out = weirlua_rset_push(L);
    return weirlua_rset_finish(L, out, weir_allocation_rset(handle->g, &a, scheduling, out, &err), &err);
}

static const char *state_name(const weir_allocation *a)
{
    if (a->expires)
        return a->state == WEIR_CLAIMED ? "claimed" : "staged";
    return a->state == WEIR_ALLOCATED ? "allocated" : a->state == WEIR_RESERVED ? "reserved" : "matched";
}

static int64_t duration_of(const weir_allocation *a)
{
    return a->end == WEIR_FOREVER ? WEIR_FOREVER : a->end - a->start;
}

static const char *hint_of_key(lua_State *L, const char *key)
{
    static const char *const known[] = {"id",     "at",    "end_",   "duration", "stage", "state",
                                        "nslots", "count", "policy", "expires",  NULL};
    const char *hint = weirlua_hint_of_keys(L, key, lua_upvalueindex(2));

    return *hint ? hint : weirlua_hint(L, key, known);
}

/* __index. Upvalue 2: the methods. */
static int allocation_index(lua_State *L)
{
    struct allocation *own = luaL_checkudata(L, 1, ALLOCATION);
    const char *key;

    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
        return 1;
    key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(key, "id") == 0)
        lua_pushinteger(L, own->a.job > 0 ? own->a.job : 0);
    else if (strcmp(key, "stage") == 0 && own->a.expires)
        lua_pushinteger(L, -own->a.job);
    else if (strcmp(key, "expires") == 0 && own->a.expires)
        weirlua_push_time(L, own->a.expires);
    else if (strcmp(key, "stage") == 0 || strcmp(key, "expires") == 0)
        lua_pushnil(L);
    else if (strcmp(key, "at") == 0)
        weirlua_push_time(L, own->a.start);
    else if (strcmp(key, "end_") == 0)
        weirlua_push_time(L, own->a.end);
    else if (strcmp(key, "duration") == 0)
        weirlua_push_time(L, duration_of(&own->a));
    else if (strcmp(key, "state") == 0)
        lua_pushstring(L, state_name(&own->a));
    else if (strcmp(key, "nslots") == 0)
        lua_pushinteger(L, own->a.nslots);
    else if (strcmp(key, "count") == 0)
        lua_pushinteger(L, own->a.npicks);
    else if (strcmp(key, "policy") == 0)
        lua_getiuservalue(L, 1, 2);
    else
        return luaL_error(L, "an allocation has no field or method '%s'%s", weirlua_quote(L, key), hint_of_key(L, key));
    return 1;
}

static int allocation_tostring(lua_State *L)
{
    struct allocation *own = luaL_checkudata(L, 1, ALLOCATION);

    lua_pushfstring(L, "%s %I: %s, %I picks", own->a.expires ? "stage" : "job",
                    (LUAI_UACINT)(own->a.expires ? -own->a.job : own->a.job), state_name(&own->a),
                    (LUAI_UACINT)own->a.npicks);
    return 1;
}

/* @class allocation The result of a match, as a copy that outlives the job.
 * @field id: integer -- The job; 0 for a preview and for a stage.
 * @field at: number -- The start, in seconds.
 * @field end_: number -- The end, in seconds; math.huge for no end.
 * @field duration: number -- The time from start to end, in seconds.
 * @field state: string -- allocated, reserved, matched (a preview), staged, or claimed (a stage without locks).
 * @field stage: integer? -- The number of a stage; nil for a job and for a preview.
 * @field expires: number? -- The time at which a stage expires, in seconds; math.huge for a stage that does not.
 * @field policy: string? -- name@hash of the policy that chose the vertices.
 * @method vertices(): table[] -- The picks: {vertex =, amount =, exclusive =, resource =} each.
 * @method format(format: string): string?, string?, string? -- As text: rv1, rv1_nosched, rlite, jgf, ...
 *   Outside of the sandbox also tree.
 * @method write(file: file, format: string): boolean?, string?, string? -- Writes the text of a format to an open file,
 *   piece by piece.
 * @method rset(): rset -- The R of the allocation as a value. */
const luaL_Reg weirlua_allocation_methods[] = {{"vertices", allocation_vertices},
                                               {"format", allocation_format},
                                               {"write", allocation_write},
                                               {"rset", allocation_rset},
                                               {NULL, NULL}};

void weirlua_allocation_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__tostring", allocation_tostring}, {NULL, NULL}};

    weirlua_class(L, s, ALLOCATION, weirlua_allocation_methods, meta);
    luaL_getmetatable(L, ALLOCATION);
    lua_pushlightuserdata(L, s);
    lua_getfield(L, -2, "__index");
    lua_pushcclosure(L, allocation_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
