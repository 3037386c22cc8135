/* answers.c - the functions by which the service answers alloc requests, logs, and reads the clock. Invariant: a request is kept,
 * by the id of its job, from when it came until its last answer. */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <lauxlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#define REQUEST "sched-weir.request"

static const char requests_key = 0; /* id -> request */

static struct sched *sched_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* ---- the requests ---- */

static int request_gc(lua_State *L)
{
    const flux_msg_t **box = luaL_checkudata(L, 1, REQUEST);

    flux_msg_decref(*box);
    *box = NULL;
    return 0;
}

/* (id, msg) */
static int keep(lua_State *L)
{
    const flux_msg_t **box;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &requests_key);
    lua_pushvalue(L, 1);
    box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_setmetatable(L, REQUEST);
    *box = flux_msg_incref(lua_touserdata(L, 2));
    lua_rawset(L, 3);
    return 0;
}

int sched_keep(struct sched *s, flux_jobid_t id, const flux_msg_t *msg)
{
    int rc;

    lua_pushcfunction(s->L, keep);
    lua_pushinteger(s->L, (lua_Integer)id);
    lua_pushlightuserdata(s->L, (void *)(uintptr_t)msg);
    rc = lua_pcall(s->L, 2, 0, 0);
    lua_settop(s->L, 0);
    if (rc == LUA_OK)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* The request of the id at 1, which stays on the stack. `last`: it is not kept any longer. */
static const flux_msg_t *request(lua_State *L, bool last)
{
    const flux_msg_t **box;

    luaL_checkinteger(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &requests_key);
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    box = luaL_testudata(L, -1, REQUEST);
    if (!box)
        luaL_error(L, "there is no request of job %I", (LUAI_UACINT)lua_tointeger(L, 1));
    if (last) {
        lua_pushvalue(L, 1);
        lua_pushnil(L);
        lua_rawset(L, -4);
    }
    return *box;
}

/* ---- answers ---- */

static json_t *check_json(lua_State *L, int arg)
{
    json_t *o = json_loads(luaL_checkstring(L, arg), 0, NULL);

    if (!o)
        luaL_argerror(L, arg, "JSON expected");
    return o;
}

static int check(lua_State *L, int rc)
{
    if (rc < 0)
        return luaL_error(L, "cannot answer: %s", strerror(errno));
    return 0;
}

/* alloc(id, R, annotations) */
static int alloc(lua_State *L)
{
    const char *R = luaL_checkstring(L, 2);
    const flux_msg_t *msg;
    json_t *notes;
    int rc;

    lua_settop(L, 3);
    msg = request(L, true);
    notes = check_json(L, 3);
    rc = schedutil_alloc_respond_success_pack(sched_of(L)->util, msg, R, "O", notes);
    json_decref(notes);
    return check(L, rc);
}

/* annotate(id, annotations) */
static int annotate(lua_State *L)
{
    const flux_msg_t *msg = request(L, false);
    json_t *notes = check_json(L, 2);
    int rc = schedutil_alloc_respond_annotate_pack(sched_of(L)->util, msg, "O", notes);

    json_decref(notes);
    return check(L, rc);
}

/* deny(id, note) */
static int deny(lua_State *L)
{
    const char *note = luaL_optstring(L, 2, NULL);

    return check(L, schedutil_alloc_respond_deny(sched_of(L)->util, request(L, true), note));
}

/* cancel(id) */
static int cancel(lua_State *L)
{
    return check(L, schedutil_alloc_respond_cancel(sched_of(L)->util, request(L, true)));
}

/* ---- the rest ---- */

/* explain(id) */
static int explain(lua_State *L)
{
    sched_explain(sched_of(L), (flux_jobid_t)luaL_checkinteger(L, 1));
    return 0;
}

/* log(level, text) */
static int write_log(lua_State *L)
{
    static const char *const names[] = {"err", "warning", "info", "debug", NULL};
    static const int levels[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};

    flux_log(sched_of(L)->h, levels[luaL_checkoption(L, 1, "info", names)], "%s", luaL_checkstring(L, 2));
    return 0;
}

/* clock(): seconds since 1970 */
static int read_clock(lua_State *L)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
    return 1;
}

void sched_push_answers(lua_State *L, struct sched *s)
{
    static const luaL_Reg functions[] = {{"alloc", alloc},   {"annotate", annotate}, {"deny", deny}, {"cancel", cancel},
                                         {"log", write_log}, {"clock", read_clock},  {"explain", explain},   {NULL, NULL}};

    luaL_newmetatable(L, REQUEST);
    lua_pushcfunction(L, request_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &requests_key);
    lua_newtable(L);
    lua_pushlightuserdata(L, s);
    luaL_setfuncs(L, functions, 1);
}
