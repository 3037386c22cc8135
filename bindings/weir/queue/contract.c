/* contract.c - the contract of queue policies (lua/weir/sim/queue_runtime.lua) over the queue in C: its methods, and
 * the jobs that they return. A policy is called to decide; going through the queue happens here. Invariant: the
 * functions of a policy run under lua_pcall() of the sandbox, or inside one; where one fails, the simulator has failed,
 * too.
 *
 * A job is a userdata in the sandbox, made when the policy first sees the job, and the same until the job ends; after
 * that it keeps a copy of the job. Fields that a policy adds to a job are in a table of the userdata. */
#include "queue/contract.h"

#include "policy/charge.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE     640
#define MOST_TURNS  100000 /* calls of queue:again and queue:preempt while nothing happens */
#define STEP        16     /* instructions that a method is charged as */
#define AFTER_QUEUE 64     /* jobs passed over in the time of one step of the budget */

struct contract {
    struct flat *s; /* NULL: the simulator is closed */
    lua_State *L;   /* of the method of the simulator that runs */
    lua_State *S;
    int32_t weight;
    uint32_t about;   /* the job that the policy is called for; FLAT_NONE: none */
    uint32_t showing; /* the job whose start is shown although it waits again; FLAT_NONE: none */
    bool has_started, has_finished;
    bool failed, limit; /* limit: the message is the name of a limit, turns or seconds */
    char message[MESSAGE];
    uint32_t nvalues;
    double spent; /* seconds of passes between which nothing happened */
};

struct handle {
    struct contract *c;
    uint32_t job;
    bool gone, own; /* gone: `past` is the job; own: there are fields of the policy */
    struct flat_job past;
};

/* Upvalues of the functions of a policy: the contract, the handles by job, the metatable of handles. */
enum { CONTRACT = 1, HANDLES, META, POSITION };
#define UP(i) lua_upvalueindex(i)

static const char handles_key = 0, meta_key = 0, values_key = 0, calls_key = 0, contract_key = 0;

/* ---- times ---- */

static void push_time(lua_State *S, int64_t us)
{
    if (us % FLAT_SECOND == 0)
        lua_pushinteger(S, us / FLAT_SECOND);
    else
        lua_pushnumber(S, (lua_Number)us / 1e6);
}

/* ---- jobs ---- */

static struct contract *contract_of(lua_State *S)
{
    struct contract *c = lua_touserdata(S, UP(CONTRACT));

    if (!c->s)
        luaL_error(S, "the queue is closed");
    return c;
}

/* Pushes the handle of a job; the handles and their metatable are at the indices. */
static void push_job(lua_State *S, struct contract *c, uint32_t job, int handles, int meta)
{
    struct handle *h;

    if (c->s->jobs[job].seen) {
        lua_rawgeti(S, handles, (lua_Integer)job + 1);
        return;
    }
    h = lua_newuserdatauv(S, sizeof *h, 1);
    h->c = c;
    h->job = job;
    h->gone = h->own = false;
    lua_pushvalue(S, meta);
    lua_setmetatable(S, -2);
    lua_pushvalue(S, -1);
    lua_rawseti(S, handles, (lua_Integer)job + 1);
    c->s->jobs[job].seen = true;
}

/* Pushes the handle of a job, outside of the methods. */
static void find_job(lua_State *S, struct contract *c, uint32_t job)
{
    lua_rawgetp(S, LUA_REGISTRYINDEX, &handles_key);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &meta_key);
    push_job(S, c, job, lua_gettop(S) - 1, lua_gettop(S));
    lua_insert(S, -3);
    lua_pop(S, 2);
}

/* The job at an index, or FLAT_NONE for anything else. */
static uint32_t job_at(lua_State *S, int arg)
{
    const struct handle *h = lua_touserdata(S, arg);
    bool is = h && lua_getmetatable(S, arg);

    if (is) {
        is = lua_rawequal(S, -1, UP(META)) && !h->gone;
        lua_pop(S, 1);
    }
    return is ? h->job : FLAT_NONE;
}

static uint32_t check_job(lua_State *S, int arg)
{
    uint32_t job = job_at(S, arg);

    if (job == FLAT_NONE)
        luaL_error(S, "a job of the queue is expected");
    return job;
}

enum field {
    ID = 1,
    NUMBER,
    SUBMIT,
    DURATION,
    UNITS,
    MACHINE,
    RESERVED,
    START,
    WAITS,
    PREEMPTED,
    WANTS,
    ATTRIBUTES,
    ABOUT /* the fields of flat_job.about, from here on */
};

static const char *const about_names[] = {FLAT_ABOUT_NAMES};

static void push_number(lua_State *S, const struct number *n)
{
    if (n->kind == FLAT_INTEGER)
        lua_pushinteger(S, n->integer);
    else if (n->kind == FLAT_REAL)
        lua_pushnumber(S, n->real);
    else
        lua_pushstring(S, n->text);
}

/* Sets a field of the table that a handle has for fields of the policy's own; the value is on top of the stack. */
static void set_own(lua_State *S, struct handle *h, int handle, int key)
{
    if (!h->own) {
        lua_newtable(S);
        lua_pushvalue(S, -1);
        lua_setiuservalue(S, handle, 1);
        h->own = true;
    } else {
        lua_getiuservalue(S, handle, 1);
    }
    lua_pushvalue(S, key);
    lua_pushvalue(S, -3);
    lua_rawset(S, -3);
    lua_pop(S, 2);
}

/* Pushes what the host says of a job, decoded: its requests and attributes, as texts. Kept with the handle. */
static void ask_host(lua_State *S, struct contract *c, struct handle *h)
{
    lua_State *L = c->L;
    int top;
    const char *text = NULL;

    if (h->gone || !L || !lua_checkstack(L, 8)) {
        lua_newtable(S);
        return;
    }
    top = lua_gettop(L);
    lua_pushcfunction(S, weirlua_state_decode);
    lua_getiuservalue(L, 1, FLAT_ASK);
    lua_pushinteger(L, (lua_Integer)c->s->jobs[h->job].made + 1);
    lua_pushinteger(L, (lua_Integer)c->s->jobs[h->job].units);
    lua_pushstring(L, lua_tostring(S, 2));
    if (lua_isfunction(L, top + 1) && lua_pcall(L, 3, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
        text = lua_tostring(L, -1);
    lua_pushstring(S, text ? text : "");
    lua_settop(L, top);
    lua_call(S, 1, 1);
    lua_pushvalue(S, -1);
    set_own(S, h, 1, 2);
}

static void push_value(lua_State *S, uint32_t value)
{
    if (value == 0) {
        lua_pushnil(S);
        return;
    }
    lua_rawgetp(S, LUA_REGISTRYINDEX, &values_key);
    lua_rawgeti(S, -1, value);
    lua_remove(S, -2);
}

/* __index of jobs. Upvalue 1: the numbers of fields by name; 2: the function for other names. */
static int job_index(lua_State *S)
{
    struct handle *h = lua_touserdata(S, 1);
    struct contract *c = h->c;
    const struct flat_job *j = h->gone ? &h->past : c->s ? &c->s->jobs[h->job] : NULL;
    lua_Integer field;

    if (h->own) {
        lua_getiuservalue(S, 1, 1);
        lua_pushvalue(S, 2);
        if (lua_rawget(S, -2) != LUA_TNIL)
            return 1;
        lua_settop(S, 2);
    }
    lua_pushvalue(S, 2);
    lua_rawget(S, UP(1));
    field = lua_tointeger(S, -1);
    if (!j)
        return luaL_error(S, "the queue is closed");
    if (field >= ABOUT) {
        push_value(S, j->about[field - ABOUT]);
        return 1;
    }
    switch ((enum field)field) {
    case ID: lua_pushinteger(S, (lua_Integer)j->made + 1); return 1;
    case NUMBER: push_number(S, &j->number); return 1;
    case SUBMIT: push_time(S, j->submit); return 1;
    case DURATION: push_time(S, j->estimate); return 1;
    case UNITS: lua_pushinteger(S, (lua_Integer)j->units * c->weight); return 1;
    case MACHINE: lua_pushinteger(S, c->s ? (lua_Integer)c->s->total * c->weight : 0); return 1;
    case RESERVED:
        if (j->waiting && j->reserved != FLAT_NEVER)
            push_time(S, j->reserved);
        else
            lua_pushnil(S);
        return 1;
    case START:
        if (!j->waiting || c->showing == h->job)
            push_time(S, j->start);
        else
            lua_pushnil(S);
        return 1;
    case WAITS: lua_pushboolean(S, j->waiting); return 1;
    case PREEMPTED:
        if (j->preempted > 0)
            lua_pushinteger(S, j->preempted);
        else
            lua_pushnil(S);
        return 1;
    case WANTS:
    case ATTRIBUTES: ask_host(S, c, h); return 1;
    default: break;
    }
    lua_pushvalue(S, UP(2));
    lua_insert(S, 1);
    lua_settop(S, 3);
    lua_call(S, 2, 1);
    return 1;
}

/* __newindex of jobs: fields of the policy's own, which hide those of the job from the policy alone. */
static int job_newindex(lua_State *S)
{
    lua_settop(S, 3);
    luaL_argcheck(S, !lua_isnil(S, 2), 2, "index is nil");
    set_own(S, lua_touserdata(S, 1), 1, 2);
    return 0;
}

/* ---- what methods do ---- */

/* Raises, for good, where the simulator has failed in a method of the policy. */
static void check_queue(lua_State *S, const struct contract *c)
{
    if (flat_ok(c->s))
        return;
    weirlua_sandbox_of(S)->exhausted = true;
    luaL_error(S, "the queue has failed");
}

/* Ends the simulation at a limit: a policy cannot catch this error. */
static int stop(lua_State *S, struct contract *c, const char *text)
{
    memcpy(c->message, text, strlen(text) + 1);
    c->failed = c->limit = c->s->failed = true;
    weirlua_sandbox_of(S)->exhausted = true;
    return luaL_error(S, "%s", text);
}

static void turn(lua_State *S, struct contract *c)
{
    if (++c->s->turns > MOST_TURNS)
        stop(S, c, "turns");
}

static void charge(lua_State *S, size_t jobs)
{
    weirlua_sandbox_of(S)->left -= STEP;
    if (jobs > AFTER_QUEUE)
        weirlua_sandbox_spend(S, (int64_t)jobs);
}

/* Calls a function of the library with a job and the time. */
static void call_hook(lua_State *S, struct contract *c, const char *name, uint32_t job)
{
    lua_rawgetp(S, LUA_REGISTRYINDEX, &calls_key);
    lua_getfield(S, -1, name);
    lua_remove(S, -2);
    find_job(S, c, job);
    push_time(S, c->s->now);
    lua_call(S, 2, 0);
}

/* A job has started by a method. */
static int begun(lua_State *S, struct contract *c, uint32_t job)
{
    if (c->has_started)
        call_hook(S, c, "started", job);
    lua_pushboolean(S, 1);
    return 1;
}

static void stopped(lua_State *S, struct contract *c, uint32_t job)
{
    uint32_t before = c->showing;

    if (!c->has_finished)
        return;
    c->showing = job;
    call_hook(S, c, "finished", job);
    c->showing = before;
}

/* ---- iterators ---- */

static int next_pending(lua_State *S)
{
    struct contract *c = contract_of(S);
    const struct queue *q = &c->s->queue;
    size_t at = (size_t)lua_tointeger(S, UP(POSITION)), from = at;

    while (at < q->end && q->jobs[at] == FLAT_NONE)
        at++;
    charge(S, at - from);
    lua_pushinteger(S, (lua_Integer)at + 1);
    lua_replace(S, UP(POSITION));
    if (at >= q->end)
        return 0;
    push_job(S, c, q->jobs[at], UP(HANDLES), UP(META));
    return 1;
}

static int next_candidate(lua_State *S)
{
    struct contract *c = contract_of(S);
    struct queue *q = &c->s->queue;
    size_t from = (size_t)lua_tointeger(S, UP(POSITION)), at = flat_queue_next(q, from, c->s->profile.now);

    charge(S, at > from ? (at - from) / QUEUE_BLOCK : 0);
    lua_pushinteger(S, (lua_Integer)at + 1);
    lua_replace(S, UP(POSITION));
    if (at >= q->end)
        return 0;
    push_job(S, c, q->jobs[at], UP(HANDLES), UP(META));
    return 1;
}

static int iterate(lua_State *S, lua_CFunction f, size_t from)
{
    charge(S, 0);
    lua_pushvalue(S, UP(CONTRACT));
    lua_pushvalue(S, UP(HANDLES));
    lua_pushvalue(S, UP(META));
    lua_pushinteger(S, (lua_Integer)from);
    lua_pushcclosure(S, f, POSITION);
    return 1;
}

static size_t news_from(const struct flat *s)
{
    return s->freed || s->ordered ? s->queue.first : s->queue.fresh;
}

static int queue_pending(lua_State *S)
{
    return iterate(S, next_pending, contract_of(S)->s->queue.first);
}

static int queue_news(lua_State *S)
{
    return iterate(S, next_pending, news_from(contract_of(S)->s));
}

static int queue_candidates(lua_State *S)
{
    return iterate(S, next_candidate, news_from(contract_of(S)->s));
}

/* ---- methods ---- */

static int queue_first(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = flat_queue_head(&c->s->queue);

    charge(S, 0);
    if (job == FLAT_NONE)
        return 0;
    push_job(S, c, job, UP(HANDLES), UP(META));
    return 1;
}

static int queue_running(lua_State *S)
{
    struct contract *c = contract_of(S);

    charge(S, c->s->nrunning);
    lua_createtable(S, (int)c->s->nrunning, 0);
    for (uint32_t i = 0; i < c->s->nrunning; i++) {
        push_job(S, c, c->s->running[i], UP(HANDLES), UP(META));
        lua_rawseti(S, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int queue_freed(lua_State *S)
{
    lua_pushboolean(S, contract_of(S)->s->freed);
    return 1;
}

static int queue_fits(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = check_job(S, 2);

    lua_pushboolean(S, c->s->jobs[job].units <= c->s->profile.now);
    return 1;
}

/* Reads the list of running jobs at an index into memory of the sandbox, pushed. */
static uint32_t *read_victims(lua_State *S, struct contract *c, int list, size_t n)
{
    uint32_t *victims;

    luaL_argcheck(S, n <= c->s->nrunning, 3, "a list of running jobs is expected, each once");
    victims = lua_newuserdatauv(S, (n > 0 ? n : 1) * sizeof *victims, 0);
    lua_newtable(S);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(S, list, (lua_Integer)i + 1);
        victims[i] = check_job(S, -1);
        if (c->s->jobs[victims[i]].waiting || lua_rawgeti(S, -2, victims[i]) != LUA_TNIL)
            luaL_error(S, "a list of running jobs is expected, each once");
        lua_pop(S, 2);
        lua_pushboolean(S, 1);
        lua_rawseti(S, -2, victims[i]);
    }
    charge(S, 8 * n);
    return victims;
}

static int start_over(lua_State *S, struct contract *c, uint32_t job, size_t n)
{
    const uint32_t *victims = read_victims(S, c, 3, n);
    int64_t stopped_jobs = flat_start_over(c->s, job, NULL, 0);

    check_queue(S, c);
    if (stopped_jobs < 0) {
        turn(S, c);
        stopped_jobs = flat_start_over(c->s, job, victims, n);
    }
    check_queue(S, c);
    for (int64_t i = 0; i < stopped_jobs; i++)
        stopped(S, c, victims[i]);
    if (stopped_jobs >= 0)
        return begun(S, c, job);
    lua_pushboolean(S, 0);
    return 1;
}

static int queue_start(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = check_job(S, 2);
    bool started = false;

    charge(S, c->s->nreserved);
    if (c->s->jobs[job].waiting) {
        if (!lua_isnoneornil(S, 3) && !lua_istable(S, 3))
            return luaL_error(S, "a list of running jobs is expected");
        if (lua_istable(S, 3) && lua_rawlen(S, 3) > 0)
            return start_over(S, c, job, lua_rawlen(S, 3));
        started = flat_start(c->s, job);
        check_queue(S, c);
        if (started)
            return begun(S, c, job);
    }
    lua_pushboolean(S, started);
    return 1;
}

static int queue_reserve(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = check_job(S, 2);
    bool started = c->s->jobs[job].waiting && flat_reserve(c->s, job);

    charge(S, c->s->profile.end - c->s->profile.first);
    check_queue(S, c);
    if (started)
        return begun(S, c, job);
    lua_pushboolean(S, 0);
    return 1;
}

static int queue_unreserve(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = check_job(S, 2);

    charge(S, 0);
    if (c->s->jobs[job].waiting)
        flat_unreserve(c->s, job);
    check_queue(S, c);
    return 0;
}

static int queue_earliest(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = check_job(S, 2);
    int64_t at = c->s->jobs[job].waiting ? flat_earliest(c->s, job) : FLAT_NEVER;

    charge(S, c->s->profile.end - c->s->profile.first);
    if (at == FLAT_NEVER)
        return 0;
    push_time(S, at);
    return 1;
}

static int queue_preempt(lua_State *S)
{
    struct contract *c = contract_of(S);
    uint32_t job = check_job(S, 2);
    bool runs = c->s->jobs[job].running;

    if (runs) {
        turn(S, c);
        charge(S, c->s->nevents);
        flat_preempt(c->s, job);
        check_queue(S, c);
        stopped(S, c, job);
    }
    lua_pushboolean(S, runs);
    return 1;
}

/* again(time): an instant after now, checked by the library. */
static int queue_again(lua_State *S)
{
    struct contract *c = contract_of(S);
    double seconds = luaL_checknumber(S, 1);
    bool made;

    charge(S, 0);
    if (!flat_again(c->s, (int64_t)floor(seconds * 1e6 + 0.5), &made))
        c->s->failed = true;
    check_queue(S, c);
    if (made)
        turn(S, c);
    return 0;
}

/* Reads one key of a job from the results of `order`; the function at UP(POSITION) raises for anything else. */
static double check_key(lua_State *S, int at)
{
    double x = lua_tonumber(S, at);

    if (lua_type(S, at) == LUA_TNUMBER && !isnan(x))
        return x;
    if (!lua_toboolean(S, at))
        return 0;
    lua_pushvalue(S, UP(POSITION));
    if (lua_type(S, at) == LUA_TNUMBER)
        lua_pushliteral(S, "nan");
    else
        lua_pushfstring(S, "a %s", luaL_typename(S, at));
    lua_call(S, 1, 0);
    return 0;
}

/* sort(order, now, options, state): orders the waiting jobs by the numbers that order(job, now, options, state)
 * returns of each. */
static int queue_sort(lua_State *S)
{
    struct contract *c = contract_of(S);
    struct queue *q = &c->s->queue;

    lua_settop(S, 4);
    for (size_t i = q->first; i < q->end; i++) {
        struct flat_job *j;
        int n;
        if (q->jobs[i] == FLAT_NONE)
            continue;
        for (int k = 1; k <= 4; k++) {
            lua_pushvalue(S, k);
            if (k == 1)
                push_job(S, c, q->jobs[i], UP(HANDLES), UP(META));
        }
        lua_call(S, 4, LUA_MULTRET);
        n = lua_gettop(S) - 4;
        if (n > FLAT_KEYS) {
            lua_pushvalue(S, UP(POSITION));
            lua_pushliteral(S, "more");
            lua_call(S, 1, 0);
        }
        j = &c->s->jobs[q->jobs[i]];
        for (int k = 0; k < FLAT_KEYS; k++)
            j->keys[k] = k < n ? check_key(S, 5 + k) : 0;
        lua_settop(S, 4);
    }
    charge(S, q->n);
    if (!flat_queue_sort(c->s))
        c->s->failed = true;
    check_queue(S, c);
    return 0;
}

/* ---- opening ---- */

/* Pushes a function of the contract, with `n` further upvalues from the top of the stack. */
static void push_function(lua_State *S, struct contract *c, lua_CFunction f, int n)
{
    lua_pushlightuserdata(S, c);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &handles_key);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &meta_key);
    lua_rotate(S, -3 - n, 3);
    lua_pushcclosure(S, f, 3 + n);
}

static void make_meta(lua_State *S)
{
    static const struct {
        const char *name;
        enum field field;
    } fields[] = {{"id", ID},
                  {"number", NUMBER},
                  {"submit", SUBMIT},
                  {"duration", DURATION},
                  {"estimate", DURATION},
                  {"units", UNITS},
                  {"least", UNITS},
                  {"machine", MACHINE},
                  {"reserved", RESERVED},
                  {"start", START},
                  {"waits", WAITS},
                  {"preempted", PREEMPTED},
                  {"wants", WANTS},
                  {"attributes", ATTRIBUTES}};

    lua_createtable(S, 0, 4);
    lua_createtable(S, 0, 32);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        lua_pushinteger(S, fields[i].field);
        lua_setfield(S, -2, fields[i].name);
    }
    for (int i = 0; i < FLAT_ABOUT_FIELDS; i++) {
        lua_pushinteger(S, ABOUT + i);
        lua_setfield(S, -2, about_names[i]);
    }
    lua_rawgetp(S, LUA_REGISTRYINDEX, &calls_key);
    lua_getfield(S, -1, "missing");
    lua_remove(S, -2);
    lua_pushcclosure(S, job_index, 2);
    lua_setfield(S, -2, "__index");
    lua_pushcfunction(S, job_newindex);
    lua_setfield(S, -2, "__newindex");
    lua_pushliteral(S, "job");
    lua_setfield(S, -2, "__name");
    lua_pushboolean(S, 0);
    lua_setfield(S, -2, "__metatable");
    lua_rawsetp(S, LUA_REGISTRYINDEX, &meta_key);
}

struct opening {
    lua_State *L;
    struct flat *s;
    int32_t weight;
};

static int attach(lua_State *S)
{
    static const luaL_Reg methods[] = {
        {"pending", queue_pending},   {"news", queue_news},       {"candidates", queue_candidates},
        {"first", queue_first},       {"running", queue_running}, {"freed", queue_freed},
        {"start", queue_start},       {"reserve", queue_reserve}, {"unreserve", queue_unreserve},
        {"earliest", queue_earliest}, {"fits", queue_fits},       {"preempt", queue_preempt}};
    struct opening *o = lua_touserdata(S, 1);
    struct contract *c = lua_newuserdatauv(S, sizeof *c, 0);

    *c = (struct contract){.s = o->s, .L = o->L, .S = S, .weight = o->weight, .about = FLAT_NONE, .showing = FLAT_NONE};
    o->s->policy_data = c;
    lua_rawsetp(S, LUA_REGISTRYINDEX, &contract_key);
    weirlua_live_functions(S);
    lua_getfield(S, -1, "calls");
    lua_call(S, 0, 1);
    lua_getfield(S, -1, "started");
    c->has_started = lua_toboolean(S, -1);
    lua_getfield(S, -2, "finished");
    c->has_finished = lua_toboolean(S, -1);
    lua_getfield(S, -3, "order");
    c->s->ordered = lua_toboolean(S, -1);
    lua_pop(S, 3);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &calls_key);
    lua_newtable(S);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &handles_key);
    lua_newtable(S);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &values_key);
    make_meta(S);
    lua_getfield(S, -1, "attach");
    lua_newtable(S);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        push_function(S, c, methods[i].func, 0);
        lua_setfield(S, -2, methods[i].name);
    }
    push_function(S, c, queue_again, 0);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &calls_key);
    lua_getfield(S, -1, "wrong_keys");
    lua_remove(S, -2);
    push_function(S, c, queue_sort, 1);
    lua_pushinteger(S, (lua_Integer)c->s->total * c->weight);
    lua_call(S, 4, 0);
    return 0;
}

static struct contract *own(const struct flat *s)
{
    return s->policy_data;
}

/* Runs a function in the sandbox. Returns false where it fails; the message is kept. */
static bool run(struct flat *s, lua_CFunction f)
{
    struct contract *c = own(s);
    char text[MESSAGE];

    if (c->failed || !lua_checkstack(c->L, 4))
        return false;
    lua_getiuservalue(c->L, 1, FLAT_POLICY);
    if (!weirlua_live_run(c->L, lua_gettop(c->L), f, c, text, sizeof text)) {
        lua_pop(c->L, 1);
        if (c->failed || !flat_ok(s)) /* the queue has failed, and with it the policy */
            return false;
        memcpy(c->message, text, sizeof text);
        c->failed = true;
        return false;
    }
    lua_pop(c->L, 1);
    return !c->failed;
}

static int pass_in_sandbox(lua_State *S)
{
    struct contract *c = lua_touserdata(S, 1);

    c->S = S;
    lua_rawgetp(S, LUA_REGISTRYINDEX, &calls_key);
    lua_getfield(S, -1, "pass");
    push_time(S, c->s->now);
    lua_call(S, 1, 0);
    return 0;
}

static bool pass(struct flat *s)
{
    struct contract *c = own(s);
    bool again = s->turns > 0;
    int64_t begin = again ? weirlua_clock() : 0;

    c->about = FLAT_NONE;
    if (!run(s, pass_in_sandbox))
        return false;
    if (!again || s->turns == 0) {
        c->spent = 0;
        return true;
    }
    c->spent += (double)(weirlua_clock() - begin) / 1e9;
    if (c->spent <= weirlua_sandbox_of(c->S)->seconds)
        return true;
    memcpy(c->message, "seconds", sizeof "seconds");
    c->failed = c->limit = true;
    return false;
}

static int started_in_sandbox(lua_State *S)
{
    struct contract *c = lua_touserdata(S, 1);

    call_hook(S, c, "started", c->about);
    return 0;
}

static int finished_in_sandbox(lua_State *S)
{
    struct contract *c = lua_touserdata(S, 1);

    call_hook(S, c, "finished", c->about);
    return 0;
}

static bool started(struct flat *s, uint32_t job)
{
    struct contract *c = own(s);

    c->about = job;
    return !c->has_started || run(s, started_in_sandbox);
}

/* Keeps the number of a job, a text, with its handle. */
static int keep_number(lua_State *S)
{
    struct contract *c = lua_touserdata(S, 1);

    lua_settop(S, 0);
    find_job(S, c, c->about);
    lua_pushliteral(S, "number");
    lua_pushstring(S, c->s->jobs[c->about].number.text);
    set_own(S, lua_touserdata(S, 1), 1, 2);
    return 0;
}

/* The handle of a job that has ended keeps a copy of the job. Needs no memory. */
static bool leave(struct flat *s, struct contract *c, uint32_t job)
{
    struct flat_job *j = &s->jobs[job];
    struct handle *h;
    lua_State *S = c->S;

    if (j->number.kind == FLAT_TEXT && !run(s, keep_number))
        return false;
    if (!lua_checkstack(S, 4))
        return false;
    lua_rawgetp(S, LUA_REGISTRYINDEX, &handles_key);
    lua_rawgeti(S, -1, (lua_Integer)job + 1);
    h = lua_touserdata(S, -1);
    h->past = *j;
    h->gone = true;
    lua_pushnil(S);
    lua_rawseti(S, -3, (lua_Integer)job + 1);
    lua_pop(S, 2);
    j->seen = false;
    return true;
}

static bool finished(struct flat *s, uint32_t job)
{
    struct contract *c = own(s);

    c->about = job;
    if (c->has_finished && !run(s, finished_in_sandbox))
        return false;
    return !s->jobs[job].seen || leave(s, c, job);
}

void weirlua_contract_open(lua_State *L, struct flat *s, int32_t weight)
{
    static const struct flat_policy functions = {pass, started, finished};
    struct opening o = {L, s, weight};
    char text[MESSAGE];

    s->policy = &functions;
    lua_getiuservalue(L, 1, FLAT_POLICY);
    if (!weirlua_live_run(L, lua_gettop(L), attach, &o, text, sizeof text)) {
        s->policy_data = NULL;
        luaL_error(L, "%s", text);
    }
    lua_pop(L, 1);
}

/* Returns the contract of the simulator at index 1, or NULL where there is none, or its sandbox is closed. */
static struct contract *live_contract(lua_State *L, struct flat *s)
{
    bool live =
        s->policy_data && lua_getiuservalue(L, 1, FLAT_POLICY) == LUA_TUSERDATA && weirlua_live_state(L, -1) != NULL;

    if (s->policy_data)
        lua_pop(L, 1);
    return live ? own(s) : NULL;
}

void weirlua_contract_close(lua_State *L, struct flat *s)
{
    struct contract *c = live_contract(L, s);

    if (c)
        c->s = NULL;
    s->policy_data = NULL;
}

void weirlua_contract_enter(lua_State *L, struct flat *s)
{
    struct contract *c = live_contract(L, s);

    if (!c)
        luaL_error(L, "the queue policy is closed");
    c->L = L;
}

/* Notes the value on top of the host's stack under the next number. */
static int add_value(lua_State *S)
{
    struct contract *c = lua_touserdata(S, 1);

    lua_settop(S, 0);
    lua_rawgetp(S, LUA_REGISTRYINDEX, &values_key);
    if (weirlua_copy_scalar(S, c->L, -2))
        lua_pushboolean(S, 0);
    lua_rawseti(S, 1, (lua_Integer)c->nvalues + 1);
    c->nvalues++;
    return 0;
}

/* Returns the number of the value on top of the stack, which is removed; 0 for nil and what cannot pass. The numbers
 * are in the table at `numbers`. */
static uint32_t number_of(lua_State *L, struct flat *s, int numbers)
{
    struct contract *c = own(s);
    int type = lua_type(L, -1);
    uint32_t n;

    if ((type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN) ||
        (type == LUA_TNUMBER && isnan(lua_tonumber(L, -1)))) {
        lua_pop(L, 1);
        return 0;
    }
    lua_pushvalue(L, -1);
    if (lua_rawget(L, numbers) == LUA_TNUMBER) {
        n = (uint32_t)lua_tointeger(L, -1);
        lua_pop(L, 2);
        return n;
    }
    lua_pop(L, 1);
    if (!run(s, add_value))
        luaL_error(L, "%s", c->message);
    lua_pushinteger(L, c->nvalues);
    lua_rawset(L, numbers);
    return c->nvalues;
}

void weirlua_contract_about(lua_State *L, struct flat *s, int arg, struct flat_job *j)
{
    int numbers;

    if (!lua_istable(L, arg))
        return;
    lua_getiuservalue(L, 1, FLAT_NUMBERS);
    numbers = lua_gettop(L);
    for (int i = 0; i < FLAT_ABOUT_FIELDS; i++) {
        lua_getfield(L, arg, about_names[i]);
        j->about[i] = number_of(L, s, numbers);
    }
    lua_settop(L, numbers - 1);
}

int weirlua_contract_error(lua_State *L, const struct flat *s)
{
    const struct contract *c = own(s);

    if (!c || !c->failed)
        return 0;
    lua_pushnil(L);
    lua_pushboolean(L, 0);
    lua_pushstring(L, c->message);
    if (c->about == FLAT_NONE)
        lua_pushnil(L);
    else
        push_number(L, &s->jobs[c->about].number);
    lua_pushboolean(L, c->limit);
    return 5;
}
