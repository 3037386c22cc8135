/* policy_job.c - the request and the job as hooks see them. All reads of the job go through the functions here: a field
 * is found when a hook reads the field, so that a policy pays for no field that the policy does not read.
 *
 * What only the caller of a match knows of a job (the user, ...) comes from the caller's table `about`, which stays in
 * the caller's lua_State. A table of requests is made for each match, and is the current table of the lua_State of the
 * hooks while the match runs: requests by number of the resource + 1, and also T_OUTER, T_JOB and T_ABOUT.
 * Invariant: T_JOB is read only from tables that are current or outer of a current table. */
#include "handle/request.h"
#include "handle/support.h"
#include "policy/policy.h"
#include "system/json.h"

#include <math.h>
#include <string.h>

#define REQUEST "policy request" /* of plain tables, so no class */
#define JOB     "weir.job"

#define T_OUTER 0    /* the table that was current before, or nil */
#define T_JOB   (-1) /* light userdata: struct policy_job */
#define T_ABOUT (-2) /* the table `about`, where the policy lives in the caller's lua_State */

static const char current_key = 0;

/* ---- the current table ---- */

static void enter(lua_State *S, int requests, int about, struct policy_job *job)
{
    lua_rawgetp(S, LUA_REGISTRYINDEX, &current_key);
    lua_rawseti(S, requests, T_OUTER);
    lua_pushlightuserdata(S, job);
    lua_rawseti(S, requests, T_JOB);
    lua_pushvalue(S, about);
    lua_rawseti(S, requests, T_ABOUT);
    lua_pushvalue(S, requests);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &current_key);
    job->entered = true;
}

void weirlua_job_leave(lua_State *S, struct policy_job *job)
{
    if (!job->entered)
        return;
    job->entered = false;
    lua_rawgetp(S, LUA_REGISTRYINDEX, &current_key);
    lua_rawgeti(S, -1, T_OUTER);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &current_key); /* the key exists: no memory is needed */
    lua_pop(S, 1);
}

/* Returns the job of the table of requests on top, and leaves the table; raises for a table of an earlier match. */
static struct policy_job *job_of(lua_State *S)
{
    int requests = lua_gettop(S);
    struct policy_job *job;

    for (lua_rawgetp(S, LUA_REGISTRYINDEX, &current_key); !lua_rawequal(S, -1, requests); lua_remove(S, -2)) {
        if (!lua_istable(S, -1))
            luaL_error(S, "the job of an earlier match cannot be read");
        lua_rawgeti(S, -1, T_OUTER);
    }
    lua_rawgeti(S, requests, T_JOB);
    job = lua_touserdata(S, -1);
    lua_settop(S, requests);
    return job;
}

/* ---- facts from the caller ---- */

/* A field of `about`: a text, which the table keeps alive, or a number. */
struct answer {
    const char *key;
    int type; /* LUA_TSTRING, LUA_TNUMBER; LUA_TNIL where there is none */
    const char *text;
    size_t len;
    bool integer;
    lua_Integer i;
    lua_Number n;
};

/* (about, answer): fills answer. */
static int look_up(lua_State *L)
{
    struct answer *answer = lua_touserdata(L, 2);

    lua_pushstring(L, answer->key);
    answer->type = lua_istable(L, 1) ? lua_rawget(L, 1) : LUA_TNIL;
    if (answer->type == LUA_TSTRING)
        answer->text = lua_tolstring(L, -1, &answer->len);
    answer->integer = lua_isinteger(L, -1);
    answer->i = lua_tointeger(L, -1);
    answer->n = lua_tonumber(L, -1);
    return 0;
}

/* Pushes a field given by the caller of the match, nil where the caller has given none; returns the type. The field
 * makes the answer of the policy personal: an equal request of a different job may get a different answer. `requests`
 * is the index of the table of requests. */
static int push_answer(lua_State *S, int requests, const struct policy_job *job, const char *key)
{
    struct answer answer = {.key = key, .type = LUA_TNIL};
    lua_State *L = job->about ? job->home : S;

    job->policy->personal = true;
    luaL_checkstack(L, 4, "a field of a job");
    lua_pushcfunction(L, look_up);
    if (job->about)
        lua_pushvalue(L, job->about);
    else
        lua_rawgeti(S, requests, T_ABOUT);
    lua_pushlightuserdata(L, &answer);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        lua_pop(L, 1);
        luaL_error(S, "out of memory");
    }
    if (answer.type == LUA_TSTRING)
        lua_pushlstring(S, answer.text, answer.len);
    else if (answer.type == LUA_TNUMBER && answer.integer)
        lua_pushinteger(S, answer.i);
    else if (answer.type == LUA_TNUMBER)
        lua_pushnumber(S, answer.n);
    else
        lua_pushnil(S);
    return lua_type(S, -1);
}

/* ---- resources ---- */

/* Pushes a table that describes a resource. */
static void push_resource(lua_State *S, const weir_resource *r)
{
    lua_createtable(S, 0, 11);
    weirlua_set_filled(S, "type", r->type);
    weirlua_set_filled(S, "unit", r->unit);
    weirlua_set_filled(S, "label", r->label);
    weirlua_set_integer(S, "index", r->number);
    weirlua_set_integer(S, "count", r->count.min);
    weirlua_set_integer(S, "min", r->count.min);
    if (r->count.max == WEIR_FOREVER)
        weirlua_set_number(S, "max", HUGE_VAL);
    else
        weirlua_set_integer(S, "max", r->count.max);
    weirlua_set_boolean(S, "exclusive", r->exclusive == WEIR_EXCLUSIVE_YES);
}

static void push_resources(lua_State *S, const weir_resource *list, uint32_t n)
{
    luaL_checkstack(S, 6, "resources");
    lua_createtable(S, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        push_resource(S, &list[i]);
        if (list[i].nwith) {
            push_resources(S, list[i].with, list[i].nwith);
            lua_setfield(S, -2, "with");
        }
        lua_rawseti(S, -2, (lua_Integer)i + 1);
    }
}

/* Adds to the table on top, by type, the least numbers of the resources of a list, each times `times`; saturates. */
static void add_wants(lua_State *S, const weir_resource *list, uint32_t n, int64_t times)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t own, sum;
        if (__builtin_mul_overflow(times, list[i].count.min, &own))
            own = INT64_MAX;
        lua_getfield(S, -1, list[i].type);
        if (__builtin_add_overflow(lua_tointeger(S, -1), own, &sum))
            sum = INT64_MAX;
        lua_pop(S, 1);
        weirlua_set_integer(S, list[i].type, sum);
        add_wants(S, list[i].with, list[i].nwith, own);
    }
}

static const weir_resource *find_below(const weir_resource *list, uint32_t n, lua_Integer number)
{
    const weir_resource *found = NULL;

    for (uint32_t i = 0; i < n && list[i].number <= number; i++)
        found = &list[i];
    return !found || found->number == number ? found : find_below(found->with, found->nwith, number);
}

/* Returns the resource with a number among those of all alternatives. */
static const weir_resource *find_resource(const weir_request *r, lua_Integer number)
{
    const weir_resource *list, *found = NULL;
    uint32_t n;

    for (uint32_t i = 0; !found && i < weir_request_alternatives(r); i++) {
        list = weir_request_resources(weir_request_alternative(r, i), &n);
        found = number < list->number + weir_request_count(weir_request_alternative(r, i)) ? find_below(list, n, number)
                                                                                           : NULL;
    }
    return found;
}

/* ---- the job ----
 *
 * @class job The job of a match, as prune, evaluate and select (request.job), admit (third argument), placed and
 * finished (first argument) see the job: a field costs only where a hook reads the field, and none can be set. User,
 * urgency, priority and the time of submission come from the host only (a scheduler, the service, the option `about` of
 *   e:match), never from the jobspec, so that a policy may trust them. Name, bank, project, queue and QOS come from the
 *   host, else from the jobspec. Nodes for root alone: `prune = function(v, request) return not v.tags.reserved or
 *   request.job.user == "root" end`. At most 4 nodes for a job of a bank: `admit = function(jobspec, options, job) if
 *   job.bank == "guests" and (job.wants.node or 0) > 4 then return false, "guests may have 4 nodes" end end`.
 * @field id: integer? -- The id of the job; nil where the engine has still to choose one.
 * @field name: string? -- The name: attributes.system.job.name.
 * @field user: string | integer | nil -- The user by name or number, as the host knows users: in traces and under a
 * resource manager a number (0 is root), in the service the name of the client, nil for an administrator.
 * @field bank: string | integer | nil -- The bank; in traces the group.
 * @field project: string? -- The project.
 * @field queue: string | integer | nil -- The queue.
 * @field qos: string | number | nil -- The quality of service.
 * @field urgency: number? -- The urgency, where the host knows one.
 * @field priority: number? -- The priority at the time of the match.
 * @field submit: number? -- The time of submission, in seconds.
 * @field duration: number -- The duration, in seconds: the estimate of a queue, else of the jobspec; math.huge for no
 *   end.
 * @field attributes: table<string, any> -- The attributes of the jobspec: {system = {...}, user = {...}}.
 * @field resources: job_resource[] -- All resources that the job wants; of several alternatives (xor_slot) the first,
 *   here and in wants.
 * @field wants: table<string, integer> -- The least number of each type that the job wants in all, slots included:
 *   {slot = 2, core = 8} for slot=2/core=4.
 *
 * @class job_resource A resource of a jobspec: a plain table.
 * @field type: string -- The type; "slot" for a slot.
 * @field unit: string? -- The unit of the count.
 * @field label: string? -- The label of a slot.
 * @field index: integer -- The number of the resource in the jobspec, in preorder; of several alternatives (xor_slot)
 *   those of the first are numbered first.
 * @field count: integer -- The minimum number; equal to min.
 * @field min: integer -- The minimum number.
 * @field max: number -- The maximum number; math.huge for no limit.
 * @field exclusive: boolean -- Whether the jobspec says exclusive: true.
 * @field with: job_resource[]? -- The resources inside. */

enum { VALUE_REQUESTS = 1, VALUE_ATTRIBUTES, VALUE_RESOURCES, VALUE_WANTS }; /* user values of a job */

static void push_job(lua_State *S, int requests)
{
    lua_newuserdatauv(S, 0, VALUE_WANTS);
    luaL_setmetatable(S, JOB);
    lua_pushvalue(S, requests);
    lua_setiuservalue(S, -2, VALUE_REQUESTS);
}

static void push_duration(lua_State *S, const struct policy_job *job)
{
    int64_t own = job->request ? weir_request_duration(job->request) : 0;

    if (job->duration && job->duration != own)
        job->policy->personal = true;
    weirlua_push_time(S, job->duration ? job->duration : own);
}

/* Pushes the attributes of the jobspec: a text from the caller where jobs with different attributes share a request.
 * Index 3 has the requests. */
static void push_attributes(lua_State *S, const struct policy_job *job)
{
    struct weirlua_owner *text;
    bool personal = job->policy->personal;

    if (push_answer(S, 3, job, "attributes") == LUA_TSTRING) {
        if (job->policy->sandbox.S)
            job->policy->sandbox.job_read = true;
        if (weirlua_json_read(S, lua_tostring(S, -1), lua_rawlen(S, -1)) == 1 && lua_istable(S, -1))
            return;
        luaL_error(S, "field 'about': attributes: the JSON text of an object expected");
    }
    job->policy->personal = personal;
    if (!job->request) {
        lua_newtable(S);
        return;
    }
    text = weirlua_owner_push(S, weir_free);
    text->p = weir_request_format(job->request, "jobspec", NULL);
    if (!text->p)
        luaL_error(S, "out of memory");
    weirlua_json_read(S, text->p, strlen(text->p));
    weirlua_owner_clear(text);
    lua_getfield(S, -1, "attributes"); /* written of every request */
}

/* Pushes a table made at the first reading. Index 1 has the job. */
static void push_kept(lua_State *S, const struct policy_job *job, int value)
{
    uint32_t n = 0;
    const weir_resource *list = job->request ? weir_request_resources(job->request, &n) : NULL;

    if (lua_getiuservalue(S, 1, value) == LUA_TTABLE)
        return;
    lua_pop(S, 1);
    if (value == VALUE_ATTRIBUTES) {
        push_attributes(S, job);
    } else if (value == VALUE_RESOURCES) {
        push_resources(S, list, n);
    } else {
        lua_newtable(S);
        add_wants(S, list, n, 1);
    }
    lua_pushvalue(S, -1);
    lua_setiuservalue(S, 1, value);
}

/* Pushes the name that the jobspec gives, or nil. */
static void push_own_name(lua_State *S, const struct policy_job *job)
{
    static const char *const way[] = {"system", "job", "name"};

    push_kept(S, job, VALUE_ATTRIBUTES);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        if (lua_istable(S, -1))
            lua_getfield(S, -1, way[i]);
        else
            lua_pushnil(S);
    }
    if (lua_type(S, -1) != LUA_TSTRING)
        lua_pushnil(S);
}

static const char *const about_fields[] = {"user",  "urgency", "priority", "submit",     "bank", "project",
                                           "queue", "qos",     "name",     "attributes", NULL};
#define ABOUT_TRUSTED 4 /* the first fields are never read from the jobspec */
#define ABOUT_NUMBERS 3 /* of these, the last are numbers */

void weirlua_push_about(lua_State *L, int options)
{
    if (lua_isnil(L, options)) {
        lua_pushnil(L);
        return;
    }
    if (lua_getfield(L, options, "about") == LUA_TNIL)
        return;
    if (!lua_istable(L, -1))
        luaL_error(L, "field 'about': a table expected, got %s", luaL_typename(L, -1));
    weirlua_options(L, lua_gettop(L), about_fields);
    for (int i = 0; about_fields[i]; i++) {
        bool number = i < ABOUT_TRUSTED && i >= ABOUT_TRUSTED - ABOUT_NUMBERS;
        int type = lua_getfield(L, -1, about_fields[i]);
        if (type != LUA_TNIL && type != LUA_TNUMBER && (number || type != LUA_TSTRING))
            luaL_error(L, "field 'about': %s: %s expected, got %s", about_fields[i],
                       number ? "number" : "text or number", luaL_typename(L, -1));
        lua_pop(L, 1);
    }
}

/* Pushes a field that the caller may have given. Returns false for an unknown field. */
static bool push_about(lua_State *S, const struct policy_job *job, const char *key)
{
    int i = weirlua_word(about_fields, key);

    if (i < 0)
        return false; /* attributes: see push_attributes() */
    if (push_answer(S, 3, job, key) != LUA_TNIL || i < ABOUT_TRUSTED)
        return true;
    if (strcmp(key, "name") == 0)
        push_own_name(S, job);
    else
        lua_pushstring(S, job->request ? weir_request_attribute(job->request, key) : NULL);
    return true;
}

static const char *const job_fields[] = {"id",       "name",       "user",      "bank",     "project",
                                         "queue",    "qos",        "urgency",   "priority", "submit",
                                         "duration", "attributes", "resources", "wants",    NULL};

/* (job, key) */
static int job_index(lua_State *S)
{
    const char *key = luaL_checkstring(S, 2);
    const struct policy_job *job;

    luaL_checkudata(S, 1, JOB);
    lua_settop(S, 2);
    lua_getiuservalue(S, 1, VALUE_REQUESTS);
    job = job_of(S);
    if (job->policy->sandbox.S) {
        weirlua_scores_note(S, "job.", key);
        job->policy->sandbox.job_read |=
            strcmp(key, "wants") != 0 && strcmp(key, "resources") != 0 && strcmp(key, "attributes") != 0;
    }
    if (strcmp(key, "id") == 0) {
        job->policy->personal = true;
        if (job->id)
            lua_pushinteger(S, job->id);
        else
            lua_pushnil(S);
    } else if (strcmp(key, "duration") == 0) {
        push_duration(S, job);
    } else if (strcmp(key, "attributes") == 0) {
        push_kept(S, job, VALUE_ATTRIBUTES);
    } else if (strcmp(key, "resources") == 0) {
        push_kept(S, job, VALUE_RESOURCES);
    } else if (strcmp(key, "wants") == 0) {
        push_kept(S, job, VALUE_WANTS);
    } else if (!push_about(S, job, key)) {
        return luaL_error(S,
                          "a job has no field '%s'%s; it has id, name, user, bank, project, queue, qos, urgency, "
                          "priority, submit, duration, attributes, resources, wants",
                          weirlua_quote(S, key), weirlua_hint(S, key, job_fields));
    }
    return 1;
}

static int job_newindex(lua_State *S)
{
    return luaL_error(S, "a job can only be read");
}

/* ---- the request ----
 *
 * @class request One resource of a jobspec, as prune, evaluate and select get the resource: a table, new with each
 *   match.
 * @field type: string -- The requested type; "slot" for the node of a slot.
 * @field unit: string? -- The unit of the count.
 * @field label: string? -- The label of a slot.
 * @field index: integer -- The number of the resource in the jobspec, in preorder; of several alternatives (xor_slot)
 *   those of the first are numbered first.
 * @field count: integer -- The minimum number; equal to min.
 * @field min: integer -- The minimum number.
 * @field max: number -- The maximum number; math.huge for no limit.
 * @field exclusive: boolean -- Whether the jobspec says exclusive: true.
 * @field below: string? -- The innermost type requested inside the resource: "core" of node/core.
 * @field options: table<string, any> -- The values of the policy's options.
 * @field duration: number -- The duration of the job, in seconds; math.huge for no end.
 * @method ends_within(seconds: number): boolean -- Whether the job ends within this time: request.duration <= seconds,
 *   to the microsecond. A score that is remembered then depends on this comparison, and not on the duration: up to 3
 *   different limits cost no call for jobs of new durations.
 * @field slot: table<string, integer>? -- The least number of each type in one slot, of the slot around the resource:
 *   {core = 4, gpu = 1} of slot=2/[core=4;gpu=1]; nil outside of slots.
 * @field job: job -- The job.
 * @field state: table? -- The state that the policy keeps, to be read; nil for a policy without a state. */

static const char *leaf_type(const weir_resource *r)
{
    while (r->nwith > 0)
        r = &r->with[0];
    return r->type;
}

/* Pushes the contents of the slot at or above a resource, or nil. */
static void push_slot(lua_State *S, const weir_resource *r)
{
    while (r && !r->slot)
        r = r->parent;
    if (!r) {
        lua_pushnil(S);
        return;
    }
    lua_newtable(S);
    add_wants(S, r->with, r->nwith, 1);
}

/* Pushes the table of requests in which the request at index 1 has its number; raises for a request of an earlier
 * match. */
static lua_Integer push_requests(lua_State *S)
{
    lua_Integer index;

    lua_pushliteral(S, "index");
    lua_rawget(S, 1);
    index = lua_tointeger(S, -1);
    lua_pop(S, 1);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &current_key);
    while (lua_istable(S, -1)) {
        lua_rawgeti(S, -1, index + 1);
        if (lua_rawequal(S, -1, 1)) {
            lua_pop(S, 1);
            return index;
        }
        lua_pop(S, 1);
        lua_rawgeti(S, -1, T_OUTER);
        lua_remove(S, -2);
    }
    return luaL_error(S, "the request of an earlier match cannot be read");
}

/* Returns no value for a field that a request may lack; raises for any other text. */
static int unknown_field(lua_State *S, const char *key)
{
    static const char *const fields[] = {"type", "unit",      "label",       "index",   "count",    "min",
                                         "max",  "exclusive", "below",       "options", "duration", "slot",
                                         "job",  "state",     "ends_within", NULL};
    static const char *const of_job[] = {"id",  "name",    "user",   "bank",     "project",    "queue",
                                         "qos", "urgency", "submit", "priority", "attributes", NULL};

    if (weirlua_word(fields, key) >= 0 || lua_type(S, 2) != LUA_TSTRING)
        return 0;
    if (weirlua_word(of_job, key) >= 0)
        return luaL_error(S, "a request has no field '%s': it is request.job.%s", key, key);
    key = weirlua_quote(S, key);
    return luaL_error(S, "a request has no field '%s'%s", key, weirlua_hint(S, key, fields));
}

/* (request, seconds) */
static int ends_within(lua_State *S)
{
    lua_Number seconds = luaL_checknumber(S, 2), limit = round(seconds * 1e6);
    const struct policy_job *job;
    int64_t own, duration, most;

    luaL_argcheck(S, !isnan(seconds), 2, "a number of seconds expected, got nan");
    lua_settop(S, 1);
    weirlua_request_behind(S, 1);
    luaL_checktype(S, 1, LUA_TTABLE);
    push_requests(S);
    job = job_of(S);
    own = weir_request_duration(job->request);
    duration = job->duration ? job->duration : own;
    if (duration != own)
        job->policy->personal = true;
    most = limit < 0 ? -1 : limit < 0x1p63 ? (int64_t)limit : INT64_MAX;
    if (job->policy->sandbox.S && job->policy->sandbox.graph)
        weir_read_limit(job->policy->sandbox.graph, most);
    lua_pushboolean(S, duration <= most);
    return 1;
}

/* (request, key): a field that is found at the first reading, and kept in the table of the request. */
static int request_index(lua_State *S)
{
    const char *key = lua_type(S, 2) == LUA_TSTRING ? lua_tostring(S, 2) : "";
    bool slot = strcmp(key, "slot") == 0, duration = strcmp(key, "duration") == 0, state = strcmp(key, "state") == 0;
    const struct policy_job *job;
    lua_Integer index;

    if (strcmp(key, "ends_within") == 0) {
        lua_pushcfunction(S, ends_within);
        return 1;
    }
    if (!slot && !duration && !state && strcmp(key, "job") != 0)
        return unknown_field(S, key);
    lua_settop(S, 2);
    index = push_requests(S);
    job = job_of(S);
    if (slot)
        push_slot(S, find_resource(job->request, index));
    else if (duration)
        push_duration(S, job);
    else if (!state)
        push_job(S, 3);
    else if (!job->g || !job->policy->spec.state)
        return 0;
    else
        weirlua_state_push_frozen(S, job->g, &job->policy->spec);
    lua_pushvalue(S, 2);
    lua_pushvalue(S, -2);
    lua_rawset(S, 1);
    return 1;
}

int weirlua_request_view(lua_State *S)
{
    const weir_resource *r = lua_touserdata(S, 2);
    struct policy_job *job = lua_touserdata(S, 3);

    if (!job->entered)
        enter(S, 1, 5, job);
    push_resource(S, r);
    if (r->nwith)
        weirlua_set_filled(S, "below", leaf_type(r));
    lua_pushvalue(S, 4);
    lua_setfield(S, -2, "options");
    luaL_setmetatable(S, REQUEST);
    lua_pushvalue(S, -1);
    lua_rawseti(S, 1, (lua_Integer)r->number + 1);
    return 1;
}

void weirlua_job_of_requests(lua_State *S, int requests, int about, struct policy_job *job)
{
    if (!job->entered)
        enter(S, requests, about, job);
    push_job(S, requests);
}

void weirlua_job_push(lua_State *S, struct policy_job *job, int about)
{
    int requests;

    about = lua_absindex(S, about);
    lua_newtable(S);
    requests = lua_gettop(S);
    enter(S, requests, about, job);
    push_job(S, requests);
    lua_remove(S, requests);
}

/* ---- the classes ---- */

static void make_class(lua_State *S, const char *name, lua_CFunction index, lua_CFunction newindex)
{
    luaL_newmetatable(S, name);
    lua_pushcfunction(S, index);
    lua_setfield(S, -2, "__index");
    if (newindex) {
        lua_pushcfunction(S, newindex);
        lua_setfield(S, -2, "__newindex");
    }
    weirlua_set_boolean(S, "__metatable", 0);
    lua_pop(S, 1);
}

void weirlua_job_open(lua_State *S)
{
    make_class(S, REQUEST, request_index, NULL);
    make_class(S, JOB, job_index, job_newindex);
}
