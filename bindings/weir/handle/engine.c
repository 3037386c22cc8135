/* engine.c - an engine: a graph, a policy, matches. Invariant: weir_match is entered with everything allocated and left
 * before anything may raise; during a match the graph is marked, so that no hook can change or close the graph. */
#include "handle/allocation.h"
#include "handle/engine.h"
#include "handle/graph.h"
#include "handle/request.h"
#include "handle/support.h"
#include "handle/trace.h"
#include "policy/policy.h"

#include <string.h>

#define ENGINE "weir.engine"

/* An engine. User values: 1 the graph, 2 the policy or nil. */
struct engine {
    uint32_t number; /* of the graph; 0: closed */
    bool plain;      /* see weirlua_engine_plain */
    enum scores_mode scores;
    weir_stats stats;
    uint64_t visits;                  /* sum over all calls of place */
    char granularity[HIERARCHY_SIZE]; /* where matches search, unless policy or options say so; "": containment */
};

/* Returns the graph of an engine. Raises unless both are open. */
static struct weirlua_graph *open_graph(lua_State *L, const struct engine *e)
{
    struct weirlua_graph *handle = e->number ? weirlua_graph_find(weirlua_of(L), e->number) : NULL;

    if (!handle)
        luaL_error(L, e->number ? "the graph of the engine is closed" : "the engine is closed");
    return handle;
}

/* Returns the graph of an engine. Raises where a match runs, and where the graph may not be changed. */
static struct weirlua_graph *idle_graph(lua_State *L, const struct engine *e)
{
    struct weirlua_graph *handle = open_graph(L, e);

    if (handle->matching)
        luaL_error(L, "the engine cannot be used by a hook of the policy while a match runs");
    weirlua_check_writable(L, weirlua_of(L), handle);
    return handle;
}

/* Returns the engine at index 1 and the graph. Raises unless both are open. */
static struct engine *check_engine(lua_State *L, struct weirlua_graph **handle)
{
    struct engine *e = luaL_checkudata(L, 1, ENGINE);

    *handle = open_graph(L, e);
    return e;
}

/* Returns the engine at index 1 and the graph, as idle_graph(). */
static struct engine *check_idle(lua_State *L, struct weirlua_graph **handle)
{
    struct engine *e = luaL_checkudata(L, 1, ENGINE);

    *handle = idle_graph(L, e);
    return e;
}

const char *weirlua_engine_granularity(lua_State *L, int engine)
{
    return ((const struct engine *)lua_touserdata(L, engine))->granularity;
}

int weirlua_engine_scores(lua_State *L)
{
    return (int)((struct engine *)luaL_checkudata(L, 1, ENGINE))->scores;
}

uint64_t *weirlua_engine_idle(lua_State *L, struct weirlua_graph **handle)
{
    return &check_idle(L, handle)->visits;
}

/* engine{resources = graph, policy = policy | table | nil, overrun = "hold" | "expire" | nil: unchanged,
 * scores = "remember" | "check" | "call", granularity = "HIERARCHY" | "HIERARCHY:TYPE" | nil,
 * match = the function that e:match calls with its arguments, unless the match is plain; nil: none} */
int weirlua_engine_new(lua_State *L)
{
    static const char *const known[] = {"resources", "policy", "overrun", "scores", "granularity", "match", NULL};
    static const char *const rules[] = {"hold", "expire", NULL}; /* enum weir_overrun */
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle;
    struct engine *e;
    weir_err err = {0};
    int rc, overrun;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    weirlua_options(L, 1, known);
    overrun = weirlua_field_choice(L, 1, "overrun", -1, rules);
    lua_pushliteral(L, "resources");
    lua_rawget(L, 1);
    if (!luaL_testudata(L, 2, WEIRLUA_GRAPH))
        return luaL_error(L, "field 'resources': graph expected, got %s", luaL_typename(L, 2));
    handle = weirlua_check_graph(L, s, 2);
    e = lua_newuserdatauv(L, sizeof *e, 3);
    *e = (struct engine){0};
    luaL_setmetatable(L, ENGINE);
    lua_pushliteral(L, "policy");
    lua_rawget(L, 1);
    if (!weirlua_policy_at(L, s, 4))
        return 3;
    lua_replace(L, 4);
    lua_settop(L, 4);
    weirlua_granularity_read(L, 1, e->granularity);
    rc = weirlua_policy_init(L, 4, handle, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    lua_settop(L, 4);
    lua_setiuservalue(L, 3, 2);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 3, 1);
    lua_getfield(L, 1, "match");
    if (!lua_isnil(L, -1))
        luaL_checktype(L, -1, LUA_TFUNCTION);
    lua_setiuservalue(L, 3, 3);
    e->scores = weirlua_scores_mode(L, 1);
    e->number = handle->number;
    lua_settop(L, 3);
    if (overrun >= 0 && weir_graph_overrun(handle->g, (enum weir_overrun)overrun, &err))
        return weirlua_fail(L, &err, WEIR_ENOMEM);
    return 1;
}

/* ---- match ---- */

/* `stage`: the lease in seconds. */
static void read_stage(lua_State *L, int arg, const struct weirlua_graph *handle, weir_match_options *o)
{
    int64_t lease = weirlua_field_duration(L, arg, "stage", 0), now = weir_graph_now(handle->g);
    bool lock = weirlua_field_boolean(L, arg, "lock", true);

    if (lease == 0 && !lock)
        luaL_error(L, "field 'lock': a stage expected");
    if (lease == 0)
        return;
    if (o->job != 0 || o->mode > WEIR_RESERVE)
        luaL_error(L, "a stage has a number of its own, and the mode now or reserve");
    o->stage = lease > WEIR_FOREVER - now ? WEIR_FOREVER : now + lease;
    o->unlocked = !lock;
}

static void read_options(lua_State *L, int arg, struct weirlua_graph *handle, weir_match_options *o, bool *stats)
{
    static const char *const known[] = {"mode",      "at",     "duration",      "job",          "about", "stats",
                                        "policy",    "trace",  "inside",        "brief",        "stage", "lock",
                                        "subsystem", "follow", WEIRLUA_CHANGES, WEIRLUA_STRICT, NULL};
    static const char *const modes[] = {"now", "reserve", "feasible", "preview", NULL}; /* enum weir_mode */

    *stats = true;
    o->at = weir_graph_now(handle->g);
    if (lua_isnil(L, arg))
        return;
    weirlua_options(L, arg, known);
    o->mode = weirlua_field_choice(L, arg, "mode", WEIR_NOW, modes);
    o->at = weirlua_field_time(L, arg, "at", o->at);
    o->duration = weirlua_field_duration(L, arg, "duration", 0);
    o->job = weirlua_field_integer(L, arg, "job", 0);
    *stats = weirlua_field_boolean(L, arg, "stats", true);
    o->strict = weirlua_field_strict(L, arg);
    if (o->job < 0)
        luaL_error(L, "field 'job': a job number above 0 expected, got %I", (LUAI_UACINT)o->job);
    read_stage(L, arg, handle, o);
    if (o->at == WEIR_FOREVER)
        luaL_error(L, "field 'at': a start of at most 9.2e12 seconds expected");
}

#define ABOUT 11 /* stack index, in `search`, of opts.about or nil */

/* The queue in the table at ABOUT, which holds the text; NULL: no queue there, or a number. */
static const char *queue_of(lua_State *L)
{
    const char *queue = NULL;

    if (lua_istable(L, ABOUT) && lua_getfield(L, ABOUT, "queue") == LUA_TSTRING)
        queue = lua_tostring(L, -1);
    lua_settop(L, ABOUT);
    return queue;
}

/* Details of a match that a caller can request in addition to the result, or (`brief`) the result left out. */
struct details {
    bool brief;
    struct weirlua_trace *trace;
    struct state_change *moved; /* of the policy's state, undone with the job */
    struct weirlua_owner *held; /* owns `inside` */
    weir_pick *inside;
    uint32_t ninside;
};

#define TRACE  6 /* stack index, in `search`, of the table of opts.trace */
#define INSIDE 8 /* stack index, in `search`, of the table of opts.inside */

/* Fills the tables at stack indices `trace` and `inside`. */
static void tell_details(lua_State *L, const struct weirlua_graph *handle, const struct details *d, int trace,
                         int inside)
{
    if (d->trace)
        weirlua_trace_fill(L, d->trace, handle, trace);
    for (uint32_t i = 0; i < d->ninside; i++) {
        weirlua_push_pick(L, handle, &d->inside[i]);
        lua_rawseti(L, inside, (lua_Integer)i + 1);
    }
}

/* The result of a match. */
struct match_result {
    const struct weirlua_graph *handle;
    const weir_allocation *a;
    const struct details *details; /* or NULL */
};

/* (match_result, table for the trace, table for the picks inside whole vertices). Runs under lua_pcall. */
static int copy_result(lua_State *L)
{
    const struct match_result *result = lua_touserdata(L, 1);

    if (result->details)
        tell_details(L, result->handle, result->details, 2, 3);
    weirlua_push_allocation(L, result->handle, result->a);
    return 1;
}

/* Pushes a copy of the result of a match. Raises without memory, after releasing a new job. `graph` is the stack index
 * of the graph's handle. */
static int give_allocation(lua_State *L, struct weirlua_graph *handle, int graph, const weir_allocation *a, bool grown,
                           const struct details *details)
{
    struct match_result result = {handle, a, details};
    weir_err err = {0};
    int64_t job = a->job;
    bool preview = a->state == WEIR_MATCHED;
    int rc, undone = WEIR_OK;

    lua_pushcfunction(L, copy_result);
    lua_pushlightuserdata(L, &result);
    lua_pushvalue(L, details ? TRACE : graph);
    lua_pushvalue(L, details ? INSIDE : graph);
    rc = lua_pcall(L, 3, 1, 0);
    if (preview)
        weir_allocation_free(a);
    else if (rc != LUA_OK && !grown)
        undone = job < 0 ? weir_stage_drop(handle->g, -job, &err) : weir_release(handle->g, job, &err);
    if (rc != LUA_OK && !grown && details && details->moved)
        weirlua_state_back(details->moved, handle->g);
    if (rc != LUA_OK)
        return undone ? weirlua_raise(L, &err) : lua_error(L);
    lua_pushvalue(L, graph);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* Pushes a field of the options, nil where absent. Returns the type. */
static int push_option(lua_State *L, int options, const char *name)
{
    if (!lua_isnil(L, options))
        return lua_getfield(L, options, name);
    lua_pushnil(L);
    return LUA_TNIL;
}

/* Pushes the policy of one match: the policy in the options, else the engine's. */
static void push_policy(lua_State *L, int options)
{
    if (push_option(L, options, "policy") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_getiuservalue(L, 1, 2);
    } else if (!luaL_testudata(L, -1, WEIRLUA_POLICY)) {
        luaL_error(L, "field 'policy': policy expected, got %s", luaL_typename(L, -1));
    }
}

/* Pushes a field that is a table to be filled, for the owner of its values to be pushed; or two nils. Returns whether
 * the field is there. */
static bool push_table(lua_State *L, int options, const char *name)
{
    if (push_option(L, options, name) == LUA_TNIL) {
        lua_pushnil(L);
        return false;
    }
    if (!lua_istable(L, -1))
        luaL_error(L, "field '%s': a table to be filled expected, got %s", name, luaL_typename(L, -1));
    return true;
}

/* Pushes the tables at TRACE and INSIDE, each with the owner above, and sets the options of the core. */
static void ask_details(lua_State *L, int options, struct details *d, weir_match_options *o)
{
    d->trace = push_table(L, options, "trace") ? weirlua_trace_push(L) : NULL;
    d->held = push_table(L, options, "inside") ? weirlua_owner_push(L, weir_free) : NULL;
    o->trace = d->trace ? weirlua_trace_event : NULL;
    o->trace_data = d->trace;
    d->brief = !lua_isnil(L, options) && weirlua_field_boolean(L, options, "brief", false);
    o->inside = lua_istable(L, INSIDE) ? &d->inside : NULL;
    o->ninside = &d->ninside;
}

/* Searches resources for a new job (grown is 0), or more resources for the job `grown`. Stack: the engine e, request,
 * options. */
static int search(lua_State *L, struct engine *e, int64_t grown)
{
    struct weirlua_graph *handle = idle_graph(L, e);
    weir_stats stats = {0};
    weir_match_options o = {.stats = &stats};
    const weir_allocation *a = NULL;
    struct details details = {0};
    struct policy_change change;
    struct policy_job job = {.about = ABOUT};
    struct hierarchy_choice hierarchy;
    struct hooks hooks;
    weir_err err = {0};
    bool keep;
    int rc;

    read_options(L, 3, handle, &o, &keep);
    job.duration = o.duration;
    job.id = grown ? grown : o.job;
    lua_getiuservalue(L, 1, 1);                 /* 4: graph and policy stay alive during the hook */
    push_policy(L, 3);                          /* 5 */
    ask_details(L, 3, &details, &o);            /* 6 to 9 */
    weirlua_change_read(L, 3, handle, &change); /* 10 */
    weirlua_push_about(L, 3);                   /* ABOUT */
    o.queue = queue_of(L);
    weirlua_hierarchy_read(L, 3, 5, &hierarchy);
    if (!weirlua_change_admitted(L, 2, 5, handle, &change, &job))
        return 3;
    handle = open_graph(L, e); /* admit may have closed the graph or the engine */
    rc = weirlua_policy_init(L, 5, handle, &err);
    rc = rc ? rc : weirlua_change_around(L, &change, handle, &hierarchy, &err);
    rc = rc ? rc : weirlua_hooks_begin(L, &hooks, 5, handle, &job, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    weirlua_scores_use(e->scores, &hooks, &o);
    o.policy = weirlua_change_apply(&change, &hooks);
    rc = weirlua_hierarchy_begin(&hierarchy, handle, &o, &err);
    handle->matching = true;
    if (!rc)
        rc = grown ? weir_job_grow(hierarchy.own, grown, job.request, &o, &a, &err)
                   : weir_match(hierarchy.own, job.request, &o, &a, &err);
    handle->matching = false;
    weirlua_hierarchy_end(&hierarchy);
    if (details.held)
        details.held->p = details.inside;
    weirlua_hooks_end(&hooks, &err);
    details.moved = &hooks.moved;
    if (rc < 0)
        weirlua_state_back(&hooks.moved, handle->g);
    if (keep)
        e->stats = stats;
    if (a && rc >= 0 && details.brief) {
        if (a->state == WEIR_MATCHED)
            weir_allocation_free(a);
        a = NULL;
    }
    if (a && rc >= 0)
        return give_allocation(L, handle, 4, a, grown != 0, &details);
    tell_details(L, handle, &details, TRACE, INSIDE);
    if (rc == WEIR_EINFEASIBLE && !details.brief)
        weirlua_tell_absent(L, handle->g, job.request, &err);
    if (rc < 0)
        return weirlua_fail(L, &err, rc);
    lua_pushboolean(L, 1);
    return 1;
}

/* (engine, request[, options]): the allocation; true for a feasible request in mode "feasible"; or nil, message,
 * code. */
int weirlua_match_once(lua_State *L)
{
    struct engine *e = luaL_checkudata(L, 1, ENGINE);

    luaL_checkany(L, 2);
    lua_settop(L, 3);
    return search(L, e, 0);
}

/* plain(engine, whether): a match of the engine is plain where the request has been read and the options name no
 * policy. */
int weirlua_engine_plain(lua_State *L)
{
    struct weirlua_graph *handle;

    check_engine(L, &handle)->plain = lua_toboolean(L, 2);
    return 0;
}

/* Returns the engine at index 1 where the match is plain, and leaves three values on the stack; else NULL. */
static struct engine *plain_engine(lua_State *L)
{
    struct engine *e = luaL_testudata(L, 1, ENGINE);
    bool named;

    if (!e || !e->plain || !weirlua_is_request(L, 2) || !(lua_isnoneornil(L, 3) || lua_istable(L, 3)))
        return NULL;
    named = lua_istable(L, 3) && lua_getfield(L, 3, "policy") != LUA_TNIL;
    lua_settop(L, 3);
    return named ? NULL : e;
}

/* match(request[, options]): see match_once. */
static int engine_match(lua_State *L)
{
    struct engine *plain = plain_engine(L);

    if (plain)
        return search(L, plain, 0);
    if (!luaL_testudata(L, 1, ENGINE))
        return luaL_error(L, "bad argument to 'match' (weir.engine expected, got %s)", luaL_typename(L, 1));
    if (lua_getiuservalue(L, 1, 3) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return weirlua_match_once(L);
    }
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* grow(job, request[, options]): the allocation of the job with the resources added; or nil, message, code. */
static int engine_grow(lua_State *L)
{
    static const char *const known[] = {"about", "subsystem", NULL};
    struct weirlua_graph *handle;
    struct engine *e = check_engine(L, &handle);
    int64_t job = weirlua_check_job(L, 2, handle);

    luaL_argcheck(L, job > 0, 2, "a job number above 0 expected");
    luaL_checkany(L, 3);
    lua_remove(L, 2);
    lua_settop(L, 3);
    if (!lua_isnil(L, 3))
        weirlua_options(L, 3, known);
    return search(L, e, job);
}

/* ---- jobs ---- */

static int engine_job(lua_State *L)
{
    struct weirlua_graph *handle;
    const weir_allocation *a;

    check_engine(L, &handle);
    a = weir_job_get(handle->g, weirlua_check_job(L, 2, handle));
    if (!a)
        return weirlua_fail(L, &(weir_err){.code = WEIR_ENOENT, .text = "there is no such job"}, WEIR_ENOENT);
    weirlua_push_job(L, handle, a);
    return 1;
}

static int engine_jobs(lua_State *L)
{
    struct weirlua_graph *handle;

    check_engine(L, &handle);
    lua_getiuservalue(L, 1, 1);
    lua_newtable(L);
    for (uint32_t i = 0; i < weir_job_count(handle->g); i++) {
        weirlua_push_job(L, handle, weir_job_at(handle->g, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    if (weir_job_count(handle->g) == 0)
        weirlua_note_empty(L, NULL);
    return 1;
}

static int engine_now(lua_State *L)
{
    struct weirlua_graph *handle;

    check_engine(L, &handle);
    weirlua_push_time(L, weir_graph_now(handle->g));
    return 1;
}

/* ---- the engine itself ---- */

/* use(policy): sets the policy for later matches. On failure the engine keeps the former policy. */
static int engine_use(lua_State *L)
{
    struct weirlua_graph *handle;
    weir_err err = {0};
    int rc;

    check_idle(L, &handle);
    lua_settop(L, 2);
    if (!weirlua_policy_at(L, weirlua_of(L), 2))
        return 3;
    lua_replace(L, 2);
    lua_settop(L, 2);
    rc = weirlua_policy_init(L, 2, handle, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    lua_setiuservalue(L, 1, 2);
    lua_pushboolean(L, 1);
    return 1;
}

/* Pushes the policy of the engine at index 1, or nil; returns the policy. */
static const struct policy *push_own_policy(lua_State *L, struct weirlua_graph **handle)
{
    check_engine(L, handle);
    lua_getiuservalue(L, 1, 2);
    return luaL_testudata(L, -1, WEIRLUA_POLICY);
}

/* state(): the state that the policy keeps, or nil. */
static int engine_state(lua_State *L)
{
    struct weirlua_graph *handle;
    const struct policy *p = push_own_policy(L, &handle);

    if (p && p->open && p->spec.state)
        weirlua_state_push(L, handle->g, &p->spec);
    else
        lua_pushnil(L);
    return 1;
}

/* personal(): whether the policy has read what differs between jobs with equal requests. */
static int engine_personal(lua_State *L)
{
    struct weirlua_graph *handle;
    const struct policy *p = push_own_policy(L, &handle);

    lua_pushboolean(L, p && p->personal);
    return 1;
}

/* policy(): the name of the policy, and the policy itself. */
static int engine_policy(lua_State *L)
{
    struct weirlua_graph *handle;
    const struct policy *p = push_own_policy(L, &handle);

    lua_pushstring(L, p && p->open ? p->spec.name : "first");
    lua_insert(L, -2);
    return 2;
}

static int engine_stats(lua_State *L)
{
    struct weirlua_graph *handle;
    const weir_stats *st = &check_engine(L, &handle)->stats;
    const struct {
        const char *name;
        uint64_t value;
    } list[] = {{"visited", st->visited},       {"pruned", st->pruned}, {"state", st->state},
                {"constraint", st->constraint}, {"busy", st->busy},     {"policy", st->policy},
                {"callbacks", st->callbacks},   {"starts", st->starts}};

    lua_createtable(L, 0, 8);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        weirlua_set_integer(L, list[i].name, (lua_Integer)list[i].value);
    return 1;
}

static int engine_resources(lua_State *L)
{
    struct weirlua_graph *handle;

    check_engine(L, &handle);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* close(): closes the engine. The graph stays open, since the engine does not own the graph. */
static int engine_close(lua_State *L)
{
    struct engine *e = luaL_checkudata(L, 1, ENGINE);
    struct weirlua_graph *handle = e->number ? weirlua_graph_find(weirlua_of(L), e->number) : NULL;

    if (handle && handle->matching)
        return luaL_error(L, "the engine cannot be closed while a match runs");
    e->number = 0;
    return 0;
}

static int engine_tostring(lua_State *L)
{
    struct engine *e = luaL_checkudata(L, 1, ENGINE);

    lua_pushfstring(L, "engine%s: %p", e->number ? "" : " (closed)", (void *)e);
    return 1;
}

/* @class engine A graph, a policy, and the matches.
 * @method match(request: string | table | parsed_request, options: table?): allocation?, string?, string? -- Finds
 *   resources: {mode = "now" | "reserve" | "feasible" | "preview", at = seconds, duration = seconds instead of the
 *   request's own, job = id, about = what the caller knows of the job and hooks may read as request.job: {user =,
 *   bank =, project =, queue =, qos =, urgency =, priority =, submit = seconds, name =}, policy = name, trace = table
 *   to be filled, inside = table to be filled with the resources that the request uses inside vertices taken as a
 *   whole, stats = false, brief = true for a result of true, within = vertex at, above or below which all vertices of
 *   its tree must be, without = list of the parts of the policy to be left out, of admit, prune, evaluate, exclusive
 *   and locality, subsystem = the hierarchy to search in, such as "power", or "containment:rack" for whole racks (see
 *   e:hierarchy), follow = a subsystem whose edges lead to resources that count as inside a vertex, too, strict_slots
 *   = true: the contents of a slot have one parent, strict_pools = true: pools are not divided, strict_levels = true:
 *   the request leaves out no level}. A request is a jobspec (text, file or table), a shape, or a value returned by
 *   weir.request. On failure: nil, the reason, and a code: busy, infeasible, rejected, policy, limit, ...
 * @method levels(request: string | table | parsed_request, options: table?): table[]?, string?, string? -- Why
 *   vertices cannot serve a request: for the type of each resource, {type =, unit =, resource = number in the
 *   jobspec, need =, visited = vertices of the type, left = vertices without a cause, causes = {{by =, type =, of =,
 *   count =}...}}, each vertex under one cause. Options: about, at, within, without, subsystem as for match.
 * @method grow(job: integer | allocation, request: string | table | parsed_request, options: table?): allocation?,
 *   string?, string? -- Gives a job more resources. Options: about, subsystem as for match.
 * @method hierarchy(policy: loaded_policy?): string? -- Where matches search: what the policy (of the engine, if not
 *   given) says, or else weir.engine{granularity =}: "power", "containment:rack", nil for containment. In
 *   "HIERARCHY:TYPE" jobs get whole vertices of the type only.
 * @method jobs(): allocation[] -- All jobs.
 * @method job(id: integer | allocation): allocation?, string?, string? -- One job, by number or allocation.
 * @method stages(): allocation[] -- All stages.
 * @method drop(stage: number | allocation): boolean?, string?, string? -- Drops a stage, given by number or as an
 *   allocation, and gives the resources back.
 * @method now(): number -- The clock, in seconds.
 * @method stats(): table -- Counts of the last match: visited, pruned, state, constraint, busy, policy, callbacks,
 *   starts.
 * @method policy(): string, loaded_policy -- The policy in use.
 * @method state(): table? -- The state that the policy in use keeps on this machine; nil for a policy without a state.
 *   The table is a copy: only the hooks placed and finished change the state.
 * @method resources(): graph -- The graph.
 * @method close() -- Closes the engine. The graph stays open. */
void weirlua_engine_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"match", engine_match},
                                       {"release", weirlua_engine_release},
                                       {"jobs", engine_jobs},
                                       {"job", engine_job},
                                       {"use", engine_use},
                                       {"policy", engine_policy},
                                       {"advance", weirlua_engine_advance},
                                       {"now", engine_now},
                                       {"stats", engine_stats},
                                       {"resources", engine_resources},
                                       {"grow", engine_grow},
                                       {"shrink", weirlua_engine_shrink},
                                       {"place", weirlua_engine_place},
                                       {"soonest", weirlua_engine_soonest},
                                       {"hierarchy", weirlua_engine_hierarchy},
                                       {"free", weirlua_engine_free},
                                       {"admitted", weirlua_engine_admitted},
                                       {"personal", engine_personal},
                                       {"placed", weirlua_engine_placed},
                                       {"finished", weirlua_engine_finished},
                                       {"state", engine_state},
                                       {"levels", weirlua_engine_levels},
                                       {"visits", weirlua_engine_visits},
                                       {"detach", weirlua_engine_detach},
                                       {"attach", weirlua_engine_attach},
                                       {"record", weirlua_engine_record},
                                       {"book", weirlua_engine_book},
                                       {"stages", weirlua_engine_stages},
                                       {"commit", weirlua_engine_commit},
                                       {"drop", weirlua_engine_drop},
                                       {"close", engine_close},
                                       {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__close", engine_close}, {"__tostring", engine_tostring}, {NULL, NULL}};

    weirlua_class(L, s, ENGINE, methods, meta);
}
