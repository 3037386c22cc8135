/* engine_stage.c - stages, and jobs of listed resources. Invariant: as in engine.c. */
#include "handle/allocation.h"
#include "handle/engine.h"
#include "handle/support.h"
#include "handle/vertex.h"

#include <string.h>

void weirlua_push_job(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a)
{
    weirlua_push_allocation(L, handle, a);
    lua_getiuservalue(L, 1, 1);
    lua_setiuservalue(L, -2, 1);
}

/* Returns the number of the stage at `arg`, an integer or an allocation. */
static int64_t check_stage(lua_State *L, int arg, const struct weirlua_graph *handle)
{
    int64_t n = weirlua_check_job(L, arg, handle);

    if (lua_type(L, arg) == LUA_TUSERDATA)
        n = -n;
    luaL_argcheck(L, n > 0, arg, "a stage expected");
    return n;
}

/* stages(): a list of all stages. */
int weirlua_engine_stages(lua_State *L)
{
    struct weirlua_graph *handle;

    weirlua_engine_idle(L, &handle);
    lua_newtable(L);
    for (uint32_t i = 0; i < weir_stage_count(handle->g); i++) {
        weirlua_push_job(L, handle, weir_stage_at(handle->g, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* drop(stage): true; or nil, message, code. */
int weirlua_engine_drop(lua_State *L)
{
    struct weirlua_graph *handle;
    weir_err err = {0};

    weirlua_engine_idle(L, &handle);
    return weirlua_status(L, weir_stage_drop(handle->g, check_stage(L, 2, handle), &err), &err);
}

/* ---- losses ---- */

static void push_loss(lua_State *L, const struct weirlua_graph *handle, const weir_loss *x)
{
    lua_createtable(L, 0, 10);
    weirlua_set_integer(L, "pick", (lua_Integer)x->pick + 1);
    if (x->vertex != WEIR_NONE) {
        weirlua_set_vertex(L, "vertex", handle, x->vertex);
        weirlua_push_field(L, handle, x->vertex, FIELD_PATH);
        lua_setfield(L, -2, "path");
    }
    weirlua_set_text(L, "why", x->vertex == WEIR_NONE ? "gone" : x->job == 0 ? "unavailable" : "held");
    if (x->job == 0)
        return;
    weirlua_push_holder(L, x->job);
    weirlua_push_field(L, handle, x->at, FIELD_PATH);
    lua_setfield(L, -2, "at");
    weirlua_push_time(L, x->start);
    lua_setfield(L, -2, "start");
    weirlua_push_time(L, x->end);
    lua_setfield(L, -2, "end");
    weirlua_set_integer(L, "amount", x->amount);
    weirlua_set_boolean(L, "exclusive", x->exclusive);
}

/* The results of a call that failed: nil, message, code, and the list of losses, if any. */
static int give_losses(lua_State *L, const struct weirlua_graph *handle, const weir_err *err, int rc,
                       const weir_losses *lost)
{
    int results = weirlua_fail(L, err, rc);

    if (!lost->list)
        return results;
    lua_createtable(L, (int)lost->n, 0);
    for (uint32_t i = 0; i < lost->n; i++) {
        push_loss(L, handle, &lost->list[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return results + 1;
}

/* Pushes a copy of a new job. Without memory, releases the job and raises. */
static int copy_job(lua_State *L)
{
    weirlua_push_job(L, lua_touserdata(L, 2), lua_touserdata(L, 3));
    return 1;
}

static int give_job(lua_State *L, struct weirlua_graph *handle, const weir_allocation *a)
{
    int64_t job = a->job;
    weir_err err = {0};

    lua_pushcfunction(L, copy_job);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, handle);
    lua_pushlightuserdata(L, (void *)(uintptr_t)a);
    if (lua_pcall(L, 3, 1, 0) == LUA_OK)
        return 1;
    if (weir_release(handle->g, job, &err))
        return weirlua_raise(L, &err);
    return lua_error(L);
}

/* commit(stage[, {job =}]): the allocation of the job; or nil, message, code, losses. */
int weirlua_engine_commit(lua_State *L)
{
    static const char *const known[] = {"job", NULL};
    struct weirlua_graph *handle;
    struct weirlua_owner *owner;
    const weir_allocation *a;
    weir_losses lost = {0};
    weir_err err = {0};
    int64_t stage, job = 0;
    int rc;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 3);
    stage = check_stage(L, 2, handle);
    if (!lua_isnil(L, 3)) {
        weirlua_options(L, 3, known);
        job = weirlua_field_integer(L, 3, "job", 0);
    }
    luaL_argcheck(L, job >= 0, 3, "field 'job': a job number above 0 expected");
    owner = weirlua_owner_push(L, weir_free);
    rc = weir_stage_commit(handle->g, stage, job, &a, &lost, &err);
    owner->p = lost.list;
    return rc ? give_losses(L, handle, &err, rc, &lost) : give_job(L, handle, a);
}

/* Reads the amounts at `arg` into picks: integers, or false for a whole pool. */
static void read_amounts(lua_State *L, int arg, const weir_graph *g, const weir_vertex *list, uint32_t n,
                         weir_pick *picks)
{
    for (uint32_t i = 0; i < n; i++) {
        int exact = 1;
        int64_t amount = weir_vertex_size(g, list[i]);
        if (lua_istable(L, arg)) {
            if (lua_rawgeti(L, arg, (lua_Integer)i + 1) != LUA_TBOOLEAN)
                amount = lua_tointegerx(L, -1, &exact);
            lua_pop(L, 1);
        }
        luaL_argcheck(L, exact && amount >= 0, arg, "an amount is an integer that is not negative");
        picks[i] = (weir_pick){list[i], 0, amount, false};
    }
}

/* allocate(engine, vertices, amounts or nil, job or 0, start, duration): the allocation; or nil, message, code,
 * losses. */
int weirlua_engine_allocate(lua_State *L)
{
    struct weirlua_graph *handle;
    struct weirlua_owner *owner;
    const weir_allocation *a;
    weir_vertex *list;
    weir_pick *picks;
    weir_losses lost = {0};
    weir_err err = {0};
    uint32_t n = 0;
    int64_t job, start, duration;
    int rc;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 6);
    list = weirlua_check_list(L, 2, handle, &n);
    picks = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *picks, 0);
    job = luaL_checkinteger(L, 4);
    start = weirlua_check_time(L, 5);
    duration = weirlua_check_duration(L, 6);
    luaL_argcheck(L, job >= 0, 4, "a job number above 0 expected");
    read_amounts(L, 3, handle->g, list, n, picks);
    owner = weirlua_owner_push(L, weir_free);
    duration = duration > WEIR_FOREVER - start ? WEIR_FOREVER - start : duration;
    rc = weir_job_allocate(handle->g, &(weir_booking){job, start, start + duration, picks, n}, &a, &lost, &err);
    owner->p = lost.list;
    return rc ? give_losses(L, handle, &err, rc, &lost) : give_job(L, handle, a);
}
