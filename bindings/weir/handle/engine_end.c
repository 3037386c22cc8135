/* engine_end.c - jobs that end: release, shrink, the clock, and the hook `finished` of the policy. Invariant: as in
 * engine.c, the core is left before anything may raise.
 *
 * @class engine
 * @method release(job: integer | allocation, request: string | table | parsed_request | false | nil, about: table?):
 *   boolean?, string?, string? -- Releases all resources of a job (id or allocation), after a call of the hook
 *   finished of the policy; where the hook fails, neither the job nor the state has changed. request and about: of
 *   the job, as for placed. false as request: without the call, as for a job that has not started.
 * @method shrink(job: integer | allocation, part: vertex | table | string | rset): allocation | boolean | nil,
 *   string?, string? -- Releases some of the resources of a job. true: nothing is left, and the job has ended; with a
 *   message and "policy" where the hook finished has failed.
 * @method finished(detached: detached, request: string | table | parsed_request | nil, about: table?): boolean?,
 *   string?, string? -- Calls the hook finished for a detached job that is not attached again: true; where the hook
 *   fails with a message and "policy".
 * @method advance(to: number): boolean?, table[] | string | nil, string? -- Moves the clock: true, and a list of
 *   the changes, in order: {job = id, event = "start" (a reservation began), "hold" (the start was put off for the
 *   first time, since resources of the job are in use past the end of an earlier job) or "expire" (a job was
 *   released at the end; error = the message of the hook finished, where it failed), time = the start or the end}.
 *   A stage that expired is {stage = number, event = "unstage", time = the expiry}; these come first. */
#include "handle/allocation.h"
#include "handle/engine.h"
#include "handle/request.h"
#include "handle/support.h"
#include "policy/policy.h"

#include <string.h>

/* What a job had. */
struct ending {
    weir_allocation a;
    weir_pick picks[];
};

/* Whether the policy of the engine at index 1 has the hook. */
static bool has_finished(lua_State *L)
{
    const struct policy *p;

    lua_getiuservalue(L, 1, 2);
    p = luaL_testudata(L, -1, WEIRLUA_POLICY);
    lua_pop(L, 1);
    return p && p->open && p->spec.has[HOOK_FINISHED];
}

void weirlua_ending_push(lua_State *L, const weir_allocation *a)
{
    struct ending *own;

    if (!a || !has_finished(L)) {
        lua_pushnil(L);
        return;
    }
    own = lua_newuserdatauv(L, sizeof *own + a->npicks * sizeof *own->picks, 0);
    own->a = *a;
    memcpy(own->picks, a->picks, a->npicks * sizeof *own->picks);
    own->a.picks = own->picks;
}

/* Calls the hook for a job that has ended; `ending`: the index of what it had, or of nil; request and about: indices of
 * a request, or nil, and of a table, or nil; 0: not known. Returns a status. */
static int call_finished(lua_State *L, struct weirlua_graph *handle, int ending, int request, int about, weir_err *err)
{
    const struct ending *own = lua_touserdata(L, ending);
    struct policy_job job = {0};
    struct hooks hooks;
    int rc, top = lua_gettop(L);

    if (!own)
        return WEIR_OK;
    lua_pushnil(L);
    lua_getiuservalue(L, 1, 1); /* graph and policy stay alive, whatever the hook does to the engine */
    lua_getiuservalue(L, 1, 2);
    job.about = about ? about : top + 1;
    job.request = request && !lua_isnil(L, request) ? weirlua_request_at(L, weirlua_of(L), request) : NULL;
    job.duration = own->a.end == WEIR_FOREVER ? WEIR_FOREVER : own->a.end - own->a.start;
    rc = weirlua_policy_init(L, top + 3, handle, err);
    rc = rc ? rc : weirlua_hooks_begin(L, &hooks, top + 3, handle, &job, err);
    if (!rc) {
        handle->matching = true;
        rc = weirlua_hook_finished(&hooks, handle->g, &own->a);
        handle->matching = false;
        weirlua_hooks_end(&hooks, err);
    }
    lua_settop(L, top);
    return rc;
}

/* (engine, a value for the caller, request, about, ending): calls the hook, and returns nothing, or message, code. */
static int run_finished(lua_State *L)
{
    struct weirlua_graph *handle;
    weir_err err = {0};
    int rc;

    weirlua_engine_idle(L, &handle);
    rc = call_finished(L, handle, 5, 3, 4, &err);
    return rc ? weirlua_fail(L, &err, rc) - 1 : 0;
}

/* Readies the stack, which has the arguments of run_finished(), for tell_finished(). Raises without memory. */
static void ready_finished(lua_State *L)
{
    luaL_checkstack(L, 8, "the hook finished");
    lua_pushboolean(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1)); /* of methods, see weirlua_of() */
    lua_pushcclosure(L, run_finished, 1);
    lua_rotate(L, 1, 2);
}

/* Calls the hook, and returns true, or true, message, code. Never raises, as the job is gone: without memory the
 * message has no code. */
static int tell_finished(lua_State *L)
{
    lua_pcall(L, 5, LUA_MULTRET, 0);
    return lua_gettop(L);
}

/* release(job[, request[, about]]) */
int weirlua_engine_release(lua_State *L)
{
    struct weirlua_graph *handle;
    weir_err err = {0};
    int64_t job;
    int rc;

    weirlua_engine_idle(L, &handle);
    job = weirlua_check_job(L, 2, handle);
    lua_settop(L, 4);
    weirlua_ending_push(L, lua_isboolean(L, 3) ? NULL : weir_job_get(handle->g, job));
    if (!lua_isnil(L, 5) && !lua_isnil(L, 3) && !weirlua_request_at(L, weirlua_of(L), 3))
        return 3;
    rc = call_finished(L, handle, 5, 3, 4, &err);
    rc = rc ? rc : weir_release(handle->g, job, &err);
    return weirlua_status(L, rc, &err);
}

/* shrink(job, vertex | list of vertices): the allocation of the job with less, or true when nothing is left. */
int weirlua_engine_shrink(lua_State *L)
{
    struct weirlua_graph *handle;
    const weir_allocation *a;
    const weir_vertex *list;
    weir_err err = {0};
    int64_t job;
    uint32_t n;
    int rc;

    weirlua_engine_idle(L, &handle);
    job = weirlua_check_job(L, 2, handle);
    lua_settop(L, 3);
    if (lua_type(L, 3) != LUA_TTABLE) {
        lua_createtable(L, 1, 0);
        lua_pushvalue(L, 3);
        lua_rawseti(L, -2, 1);
        lua_replace(L, 3);
    }
    list = weirlua_check_list(L, 3, handle, &n);
    lua_replace(L, 2); /* where the list stays alive */
    lua_settop(L, 2);
    lua_pushnil(L);
    lua_pushnil(L);
    weirlua_ending_push(L, weir_job_get(handle->g, job));
    ready_finished(L);
    rc = weir_job_shrink(handle->g, job, list, n, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    a = weir_job_get(handle->g, job);
    if (!a)
        return tell_finished(L);
    lua_remove(L, 2); /* the engine is at index 1 again */
    lua_remove(L, 1);
    weirlua_push_job(L, handle, a);
    return 1;
}

/* finished(detached[, request[, about]]) */
int weirlua_engine_finished(lua_State *L)
{
    struct weirlua_graph *handle;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 4);
    weirlua_detached_ending(L, 2, handle);
    ready_finished(L);
    return tell_finished(L);
}

/* ---- the clock ---- */

/* Pushes a table by job of what jobs have that may expire until `to`; nil where nobody asks. */
static void push_expiring(lua_State *L, struct weirlua_graph *handle, int64_t to)
{
    if (!has_finished(L) || weir_graph_overrun_rule(handle->g) != WEIR_OVERRUN_EXPIRE) {
        lua_pushnil(L);
        return;
    }
    lua_newtable(L);
    for (uint32_t i = 0; i < weir_job_count(handle->g); i++) {
        const weir_allocation *a = weir_job_at(handle->g, i);
        if (a->end > to)
            continue;
        weirlua_ending_push(L, a);
        lua_rawseti(L, -2, a->job);
    }
}

/* Calls the hook for a job that has expired, and sets the field error of its event, a table on top. */
static void tell_expired(lua_State *L, struct weirlua_graph *handle, int expiring, int64_t job)
{
    weir_err err = {0};
    int rc;

    if (!lua_istable(L, expiring))
        return;
    lua_rawgeti(L, expiring, job);
    rc = call_finished(L, handle, lua_gettop(L), 0, 0, &err);
    lua_pop(L, 1);
    if (rc)
        weirlua_set_text(L, "error", err.text[0] ? err.text : weir_status_name(rc));
}

/* Pushes the list of the changes made by the last advance. */
static void push_clock_events(lua_State *L, struct weirlua_graph *handle, int expiring)
{
    /* enum weir_clock_change has the order of the words */
    static const char *const words[] = {"start", "hold", "expire", "unstage"};
    uint32_t n;
    const weir_clock_event *events = weir_graph_events(handle->g, &n);

    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_createtable(L, 0, 3);
        weirlua_push_holder(L, events[i].job);
        weirlua_set_text(L, "event", words[events[i].kind]);
        weirlua_push_time(L, events[i].time);
        lua_setfield(L, -2, "time");
        if (events[i].kind == WEIR_CLOCK_EXPIRE)
            tell_expired(L, handle, expiring, events[i].job);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* advance(to) */
int weirlua_engine_advance(lua_State *L)
{
    struct weirlua_graph *handle;
    weir_err err = {0};
    int64_t to;
    int rc;

    weirlua_engine_idle(L, &handle);
    to = weirlua_check_time(L, 2);
    lua_settop(L, 2);
    push_expiring(L, handle, to);
    rc = weir_graph_advance(handle->g, to, &err);
    if (rc)
        return weirlua_status(L, rc, &err);
    lua_pushboolean(L, true);
    push_clock_events(L, handle, 3);
    return 2;
}
