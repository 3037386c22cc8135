/* engine_queue.c - questions that simulators of queues ask an engine often: numbers in, numbers out, no allocation
 * handle. Invariant: as in engine.c, the core is left before anything may raise.
 *
 * @class engine
 * @method place(request: string | table | parsed_request, job: integer, at: number, duration: number, later:
 *   boolean?, sums: boolean?, about: table?): number?, string?, string? -- Allocates or reserves a request that the
 *   machine could meet, as match does, and returns the start: at, or with `later` the earliest possible time from
 *   `at` on. With `sums` the search begins at the time given by `soonest`, and is saved where `soonest` rules every
 *   start out; only for a job without resources. Here and below `about` is a table with at least the fields that
 *   hooks may read; see match.
 * @method soonest(request: string | table | parsed_request, job: integer, at: number, duration: number, about:
 *   table?): number?, string?, string? -- A lower bound of the start, from the sums of the units that all jobs but
 *   `job` use, wherever reservations are; math.huge: no start is possible.
 * @method admitted(request: string | table | parsed_request, about: table?): parsed_request?, string?, string? -- The
 *   request to be matched for a given request: the given request, or the replacement made by the policy's admit; or
 *   nil, the reason, and a code.
 * @method placed(job: integer, request: string | table | parsed_request, about: table?): boolean?, string?, string?
 *   -- Calls the hook placed for a job that has resources from place or book; or nil, message, code, with the state
 *   of the policy as before.
 * @method personal(): boolean -- Whether a hook of the policy in use has read a field of a job that differs between
 *   jobs with equal requests, such as the user: then equal requests need not get equal answers.
 * @method free(type: string): integer, integer -- Units of a type that no job has now, in all; and those of vertices
 *   without any use in or below.
 * @method visits(): integer -- The number of vertices visited by place so far.
 * @method detach(job: integer | allocation): detached?, string?, string? -- Detaches a job: removes the job from the
 *   schedules, to be put back; or nil, message, code.
 * @method record(job: integer | allocation): string?, string?, string? -- The resources and times of a job as a text,
 *   for `book` in the parent of a forked process.
 * @method book(record: string, job: integer): boolean?, string?, string? -- Books the resources of a record under an
 *   id; busy: some resource of the record is in use, or vertices or states have changed since the fork.
 * @method attach(detached: detached, end_: number?): boolean?, string?, string? -- Attaches a detached job again,
 *   with the old end or a new end; busy: some resource of the job is in use. */
#include "handle/allocation.h"
#include "handle/engine.h"
#include "handle/request.h"
#include "handle/support.h"
#include "policy/policy.h"

#include <string.h>

#define DETACHED "weir.detached"

/* Reads the arguments 3 to 6 of place. */
static weir_match_options read_place(lua_State *L)
{
    weir_match_options o = {.assume_feasible = true, .queue = ""}; /* the caller knows the queues of its jobs */

    o.job = luaL_checkinteger(L, 3);
    o.at = weirlua_check_time(L, 4);
    o.duration = weirlua_check_duration(L, 5);
    o.mode = lua_toboolean(L, 6) ? WEIR_RESERVE : WEIR_NOW;
    luaL_argcheck(L, o.job > 0, 3, "a job number above 0 expected");
    luaL_argcheck(L, o.at != WEIR_FOREVER, 4, "expected a finite start");
    luaL_argcheck(L, o.duration > 0, 5, "expected a duration above 0");
    return o;
}

/* weir_soonest() in the hierarchy of the engine. */
static int soonest(struct hierarchy_choice *hierarchy, struct weirlua_graph *handle, const weir_request *request,
                   weir_match_options *o, int64_t *start, weir_err *err)
{
    int rc = weirlua_hierarchy_begin(hierarchy, handle, o, err);

    rc = rc ? rc : weir_soonest(hierarchy->own, request, o, start, err);
    weirlua_hierarchy_end(hierarchy);
    return rc;
}

/* Moves o->at to the first start that the sums allow. Returns WEIR_EBUSY where no start is possible, or in mode now
 * where the first start is later than o->at. */
static int ask_sums(struct hierarchy_choice *hierarchy, struct weirlua_graph *handle, const weir_request *request,
                    weir_match_options *o, weir_err *err)
{
    int64_t start;
    int rc = soonest(hierarchy, handle, request, o, &start, err);

    if (rc)
        return rc;
    if (start == WEIR_FOREVER || (o->mode == WEIR_NOW && start != o->at)) {
        snprintf(err->text, sizeof err->text, "too little is free");
        return WEIR_EBUSY;
    }
    o->at = start;
    return WEIR_OK;
}

#define PLACE_POLICY 10 /* stack index of the engine's policy in place */

/* Matches with the hooks of the policy, and sets *start. Returns a status. */
static int book(lua_State *L, struct weirlua_graph *handle, struct hierarchy_choice *hierarchy,
                const struct policy_job *job, weir_match_options *o, int64_t *start, weir_err *err)
{
    const weir_allocation *a = NULL;
    struct hooks hooks;
    int rc = weirlua_policy_init(L, PLACE_POLICY, handle, err);

    rc = rc ? rc : weirlua_hooks_begin(L, &hooks, PLACE_POLICY, handle, job, err);
    if (rc)
        return rc;
    weirlua_scores_use((enum scores_mode)weirlua_engine_scores(L), &hooks, o);
    o->policy = hooks.policy ? &hooks.given : NULL;
    hooks.given.placed = NULL; /* the host calls `placed` when the job starts */
    rc = weirlua_hierarchy_begin(hierarchy, handle, o, err);
    handle->matching = true;
    rc = rc ? rc : weir_match(hierarchy->own, job->request, o, &a, err);
    handle->matching = false;
    weirlua_hierarchy_end(hierarchy);
    weirlua_hooks_end(&hooks, err);
    *start = rc ? 0 : a->start;
    return rc;
}

/* place(request, job, at, duration[, later[, sums[, about]]]) -> start */
int weirlua_engine_place(lua_State *L)
{
    struct weirlua_graph *handle;
    weir_stats stats = {0};
    weir_match_options o;
    struct policy_job job = {.about = 8};
    struct hierarchy_choice hierarchy;
    weir_err err = {0};
    uint64_t *visits;
    int64_t start;
    int rc;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 8);
    o = read_place(L);
    o.stats = &stats;
    job.duration = o.duration;
    job.id = o.job;
    lua_getiuservalue(L, 1, 1); /* 9, 10: graph and policy stay alive during the hook */
    lua_getiuservalue(L, 1, 2);
    if (!weirlua_admitted(L, 2, PLACE_POLICY, handle, &job))
        return 3;
    visits = weirlua_engine_idle(L, &handle);
    weirlua_hierarchy_read(L, 0, PLACE_POLICY, &hierarchy);
    rc = lua_toboolean(L, 7) ? ask_sums(&hierarchy, handle, job.request, &o, &err) : WEIR_OK;
    rc = rc ? rc : book(L, handle, &hierarchy, &job, &o, &start, &err);
    *visits += stats.visited;
    if (rc)
        return weirlua_fail(L, &err, rc);
    weirlua_push_time(L, start);
    return 1;
}

/* soonest(request, job, at, duration[, about]) -> time */
int weirlua_engine_soonest(lua_State *L)
{
    struct weirlua_graph *handle;
    struct policy_job job = {.about = 6};
    struct hierarchy_choice hierarchy;
    weir_err err = {0};
    weir_match_options o = {0};
    int64_t start;
    int rc;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 6);
    job.id = o.job = luaL_checkinteger(L, 3);
    o.at = weirlua_check_time(L, 4);
    job.duration = o.duration = weirlua_check_duration(L, 5);
    lua_getiuservalue(L, 1, 1); /* 7, 8: graph and policy stay alive during admit */
    lua_getiuservalue(L, 1, 2);
    if (!weirlua_admitted(L, 2, 8, handle, &job))
        return 3;
    weirlua_engine_idle(L, &handle);
    weirlua_hierarchy_read(L, 0, 8, &hierarchy);
    rc = soonest(&hierarchy, handle, job.request, &o, &start, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    weirlua_push_time(L, start);
    return 1;
}

#define PLACED_POLICY 6 /* stack index of the engine's policy in placed */

/* placed(job, request[, about]) -> true */
int weirlua_engine_placed(lua_State *L)
{
    struct weirlua_graph *handle;
    const weir_allocation *a;
    struct policy_job job = {.about = 4};
    const struct policy *p;
    struct hooks hooks;
    weir_err err = {0};
    int rc;

    weirlua_engine_idle(L, &handle);
    a = weir_job_get(handle->g, weirlua_check_job(L, 2, handle));
    luaL_argcheck(L, a, 2, "there is no such job");
    lua_settop(L, 4);
    lua_getiuservalue(L, 1, 1); /* 5, 6: graph and policy stay alive during the hook */
    lua_getiuservalue(L, 1, 2);
    p = luaL_testudata(L, PLACED_POLICY, WEIRLUA_POLICY);
    lua_pushboolean(L, 1);
    if (!p || !p->spec.has[HOOK_PLACED])
        return 1;
    job.request = weirlua_request_at(L, weirlua_of(L), 3);
    if (!job.request)
        return 3;
    job.duration = a->end == WEIR_FOREVER ? WEIR_FOREVER : a->end - a->start;
    rc = weirlua_policy_init(L, PLACED_POLICY, handle, &err);
    rc = rc ? rc : weirlua_hooks_begin(L, &hooks, PLACED_POLICY, handle, &job, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    handle->matching = true;
    rc = hooks.given.placed(&hooks, handle->g, a);
    handle->matching = false;
    weirlua_hooks_end(&hooks, &err);
    return rc ? weirlua_fail(L, &err, rc) : 1;
}

/* admitted(request[, about]) -> request */
int weirlua_engine_admitted(lua_State *L)
{
    struct weirlua_graph *handle;
    struct policy_job job = {.about = 3};

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 3);
    lua_getiuservalue(L, 1, 2);
    return weirlua_admitted(L, 2, 4, handle, &job) ? 1 : 3;
}

/* free(type) -> units, idle units */
int weirlua_engine_free(lua_State *L)
{
    struct weirlua_graph *handle;
    const char *type = luaL_checkstring(L, 2);
    weir_aggregate a;

    weirlua_engine_idle(L, &handle);
    for (uint32_t i = 0; weir_graph_aggregate(handle->g, WEIR_NONE, i, &a); i++)
        if (strcmp(a.type, type) == 0) {
            lua_pushinteger(L, a.free);
            lua_pushinteger(L, a.idle);
            return 2;
        }
    lua_pushinteger(L, 0);
    lua_pushinteger(L, 0);
    return 2;
}

int weirlua_engine_visits(lua_State *L)
{
    struct weirlua_graph *handle;

    lua_pushinteger(L, (lua_Integer)*weirlua_engine_idle(L, &handle));
    return 1;
}

/* ---- detached jobs ---- */

struct detached {
    weir_detached *x;
    uint32_t number; /* of the graph */
};

static int detached_gc(lua_State *L)
{
    struct detached *own = luaL_checkudata(L, 1, DETACHED);
    weir_detached *x = own->x;

    own->x = NULL;
    weir_detached_free(x);
    return 0;
}

/* detach(job) -> detached */
int weirlua_engine_detach(lua_State *L)
{
    struct weirlua_graph *handle;
    struct detached *own;
    weir_err err = {0};
    int64_t job;
    int rc;

    weirlua_engine_idle(L, &handle);
    job = weirlua_check_job(L, 2, handle);
    lua_settop(L, 2);
    weirlua_ending_push(L, weir_job_get(handle->g, job));
    own = lua_newuserdatauv(L, sizeof *own, 1);
    *own = (struct detached){NULL, handle->number};
    luaL_setmetatable(L, DETACHED);
    lua_insert(L, 3);
    lua_setiuservalue(L, 3, 1);
    rc = weir_job_detach(handle->g, job, &own->x, &err);
    return rc ? weirlua_fail(L, &err, rc) : 1;
}

/* Returns the detached job at an index. Raises for one that was put back, and for one of another graph. */
static struct detached *check_detached(lua_State *L, int arg, const struct weirlua_graph *handle)
{
    struct detached *own = luaL_checkudata(L, arg, DETACHED);

    luaL_argcheck(L, own->x, arg, "it was put back already");
    luaL_argcheck(L, own->number == handle->number, arg, "it is of another graph");
    return own;
}

void weirlua_detached_ending(lua_State *L, int arg, const struct weirlua_graph *handle)
{
    check_detached(L, arg, handle);
    lua_getiuservalue(L, arg, 1);
}

/* attach(detached[, end]) */
int weirlua_engine_attach(lua_State *L)
{
    struct weirlua_graph *handle;
    struct detached *own;
    int64_t end = lua_isnoneornil(L, 3) ? 0 : weirlua_check_time(L, 3);
    weir_err err = {0};
    int rc;

    weirlua_engine_idle(L, &handle);
    own = check_detached(L, 2, handle);
    rc = weir_job_attach(handle->g, own->x, end, &err);
    if (!rc)
        own->x = NULL;
    return weirlua_status(L, rc, &err);
}

/* ---- jobs of another copy of the graph ---- */

/* record(job) -> text */
int weirlua_engine_record(lua_State *L)
{
    struct weirlua_graph *handle;
    struct weirlua_owner *text;
    weir_err err = {0};
    int64_t job;

    weirlua_engine_idle(L, &handle);
    job = weirlua_check_job(L, 2, handle);
    text = weirlua_owner_push(L, weir_free);
    return weirlua_text(L, text, weir_job_record(handle->g, job, &err), &err);
}

/* book(record, job) */
int weirlua_engine_book(lua_State *L)
{
    struct weirlua_graph *handle;
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len);
    lua_Integer job = luaL_checkinteger(L, 3);
    weir_err err = {0};

    weirlua_engine_idle(L, &handle);
    luaL_argcheck(L, job > 0, 3, "a job number above 0 expected");
    return weirlua_status(L, weir_job_book(handle->g, job, text, len, &err), &err);
}

void weirlua_detached_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"close", detached_gc}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", detached_gc}, {"__close", detached_gc}, {NULL, NULL}};

    weirlua_class(L, s, DETACHED, methods, meta);
}
