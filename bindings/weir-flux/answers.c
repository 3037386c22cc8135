/* answers.c - the functions with which the service answers alloc requests, logs, and reads the clock. In the worker
 * each function makes an action; the action is done in the reactor's thread. */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

static const char serials_key = 0; /* id -> number of the request */

struct action {
    struct delivery item;
    void (*run)(struct sched *s, const struct action *a, const flux_msg_t *msg);
    const char *name;
    bool last;       /* the last answer to a request */
    uint64_t serial; /* 0: no answer to a request */
    flux_jobid_t id;
    int level;
    char *text;
};

/* ---- in the reactor's thread ---- */

static void check(struct sched *s, const struct action *a, int rc)
{
    if (rc < 0)
        sched_fail(s, a->name, strerror(errno));
}

static void run_annotate(struct sched *s, const struct action *a, const flux_msg_t *msg)
{
    json_t *annotations = json_loads(a->text, 0, NULL);

    check(s, a, schedutil_alloc_respond_annotate_pack(s->util, msg, "o", annotations ? annotations : json_object()));
}

static void run_deny(struct sched *s, const struct action *a, const flux_msg_t *msg)
{
    check(s, a, schedutil_alloc_respond_deny(s->util, msg, a->text));
}

static void run_raise(struct sched *s, const struct action *a, const flux_msg_t *msg)
{
    (void)msg;
    sched_raise(s, a->id, "cancel", a->text, true);
}

static void run_explain(struct sched *s, const struct action *a, const flux_msg_t *msg)
{
    (void)msg;
    sched_explain(s, a->id);
}

static void run_keep(struct sched *s, const struct action *a, const flux_msg_t *msg)
{
    (void)msg;
    sched_states_keep(s, a->text);
}

static void run_log(struct sched *s, const struct action *a, const flux_msg_t *msg)
{
    (void)msg;
    flux_log(s->h, a->level, "%s", a->text);
}

/* Does the action. A missing request was cancelled, and the worker knows by now, or will know. */
static void deliver(struct sched *s, struct delivery *item)
{
    struct action *a = (struct action *)item;
    const flux_msg_t *msg = s && a->serial ? sched_request(s, a->id, a->serial, a->last) : NULL;

    if (s && (msg || !a->serial)) {
        sched_mark(s, a->name);
        a->run(s, a, msg);
    }
    if (a->last)
        flux_msg_decref(msg);
    free(a->text);
    free(a);
}

/* ---- in the worker ---- */

static struct worker *worker_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* (id, serial or nil): runs under lua_pcall. */
static int put_number(lua_State *L)
{
    lua_settop(L, 2);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &serials_key);
    lua_insert(L, 1);
    lua_rawset(L, 1);
    return 0;
}

bool sched_number(lua_State *L, flux_jobid_t id, uint64_t serial)
{
    bool ok;

    lua_pushcfunction(L, put_number);
    lua_pushinteger(L, (lua_Integer)id);
    if (serial)
        lua_pushinteger(L, (lua_Integer)serial);
    else
        lua_pushnil(L);
    ok = lua_pcall(L, 2, 0, 0) == LUA_OK;
    lua_settop(L, 0);
    return ok;
}

/* Returns the number of the request for the id at index 1. With `last` the number is forgotten. */
static uint64_t serial(lua_State *L, bool last)
{
    lua_Integer n;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &serials_key);
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    n = lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (n == 0)
        luaL_error(L, "there is no request of job %I", (LUAI_UACINT)lua_tointeger(L, 1));
    if (last) {
        lua_pushvalue(L, 1);
        lua_pushnil(L);
        lua_rawset(L, -3);
    }
    lua_pop(L, 1);
    return (uint64_t)n;
}

/* Sends an action with a copy of the text. */
static int send(lua_State *L, struct action given, const char *text)
{
    struct action *a = malloc(sizeof *a);

    given.text = text ? strdup(text) : NULL;
    if (!a || (text && !given.text)) {
        free(a);
        free(given.text);
        return luaL_error(L, "out of memory");
    }
    *a = given;
    a->item.deliver = deliver;
    sched_send(worker_of(L), &a->item);
    return 0;
}

static flux_jobid_t id_of(lua_State *L)
{
    return (flux_jobid_t)luaL_checkinteger(L, 1);
}

/* alloc(id, R, annotations) */
static int alloc(lua_State *L)
{
    const char *R = luaL_checkstring(L, 2), *annotations = luaL_checkstring(L, 3);
    struct delivery *item = sched_alloc(id_of(L), serial(L, false), R, annotations);

    if (!item)
        return luaL_error(L, "out of memory");
    serial(L, true);
    sched_send(worker_of(L), item);
    return 0;
}

/* annotate(id, annotations) */
static int annotate(lua_State *L)
{
    struct action a = {.run = run_annotate, .name = "annotate", .id = id_of(L)};

    a.serial = serial(L, false);
    return send(L, a, luaL_checkstring(L, 2));
}

/* deny(id, note) */
static int deny(lua_State *L)
{
    struct action a = {.run = run_deny, .name = "deny", .id = id_of(L), .last = true};

    a.serial = serial(L, true);
    return send(L, a, luaL_optstring(L, 2, NULL));
}

/* raise(id, note): ends the job by an exception */
static int raise_exception(lua_State *L)
{
    return send(L, (struct action){.run = run_raise, .name = "raise", .id = id_of(L)}, luaL_checkstring(L, 2));
}

/* explain(id) */
static int explain(lua_State *L)
{
    return send(L, (struct action){.run = run_explain, .name = "explain", .id = id_of(L)}, NULL);
}

/* keep(states) */
static int keep(lua_State *L)
{
    return send(L, (struct action){.run = run_keep, .name = "keep"}, luaL_checkstring(L, 1));
}

/* log(level, text) */
static int write_log(lua_State *L)
{
    static const char *const names[] = {"err", "warning", "info", "debug", NULL};
    static const int levels[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};
    struct action a = {.run = run_log, .name = "log", .level = levels[luaL_checkoption(L, 1, "info", names)]};

    return send(L, a, luaL_checkstring(L, 2));
}

/* clock(): seconds since 1970 */
static int read_clock(lua_State *L)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
    return 1;
}

void sched_push_answers(lua_State *L, struct worker *w)
{
    static const luaL_Reg functions[] = {{"alloc", alloc},           {"annotate", annotate}, {"deny", deny},
                                         {"raise", raise_exception}, {"explain", explain},   {"keep", keep},
                                         {"log", write_log},         {"clock", read_clock},  {NULL, NULL}};
    char id[64] = "";

    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &serials_key);
    lua_newtable(L);
    lua_pushlightuserdata(L, w);
    luaL_setfuncs(L, functions, 1);
    flux_job_id_encode(1, "f58", id, sizeof id); /* in the form of the broker's locale */
    lua_pushstring(L, id[0] == 'f' ? "f" : "\u0192");
    lua_setfield(L, -2, "f58");
    lua_pushstring(L, w->states);
    lua_setfield(L, -2, "states");
    lua_pushboolean(L, w->starting);
    lua_setfield(L, -2, "starting");
}
