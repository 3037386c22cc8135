/* placer.c - units that a table of Lua functions chooses for the jobs of a flat simulator (weir.replay.placer),
 * where the placement policy is more than an order. Invariant: the functions run under lua_pcall(); the first error is
 * kept in user value 2 of the simulator until the method that runs has left the simulator. */
#include "queue/placer.h"

#include <stdlib.h>

struct lua_placer {
    lua_State *L; /* of the method that runs, with the simulator at index 1; NULL: none */
};

/* Calls a function of the table with the number of a job in the order of submission, from 1 on, and a time. Returns
 * false after an error; else its result is on the stack. */
static bool call(struct flat *s, const char *name, lua_Integer made, int64_t time)
{
    lua_State *L = ((struct lua_placer *)s->placer_data)->L;

    if (!lua_checkstack(L, 10))
        return false;
    lua_getiuservalue(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
    lua_pushinteger(L, made);
    weirlua_flat_push_time(L, time);
    if (lua_pcall(L, 2, 1, 0) == LUA_OK)
        return true;
    lua_setiuservalue(L, 1, 2);
    return false;
}

static lua_Integer number_of(const struct flat *s, uint32_t job)
{
    return (lua_Integer)s->jobs[job].made + 1;
}

static bool call_and_forget(struct flat *s, const char *name, lua_Integer made, int64_t time)
{
    if (!call(s, name, made, time))
        return false;
    lua_pop(((struct lua_placer *)s->placer_data)->L, 1);
    return true;
}

static bool book(struct flat *s, uint32_t job, int64_t at)
{
    return call_and_forget(s, "book", number_of(s, job), at);
}

static bool finish(struct flat *s, uint32_t job)
{
    return call_and_forget(s, "finish", number_of(s, job), s->now);
}

static bool drop(struct flat *s, uint32_t job)
{
    return call_and_forget(s, "drop", number_of(s, job), s->now);
}

static bool extend(struct flat *s, uint32_t job, int64_t due)
{
    return call_and_forget(s, "extend", number_of(s, job), due);
}

static bool advance(struct flat *s)
{
    return call_and_forget(s, "advance", 0, s->now);
}

enum runs_read { RUNS_OK, RUNS_WRONG, RUNS_NO_MEMORY };

/* Sets the units of a job to the runs in a list on top of the stack: first unit, number of units, and so on. */
static enum runs_read read_runs(lua_State *L, struct flat *s, struct flat_job *j)
{
    uint32_t n = (uint32_t)(lua_istable(L, -1) ? lua_rawlen(L, -1) / 2 : 0), units = 0;
    struct unit_run *runs = malloc((n > 0 ? n : 1) * sizeof *runs);

    if (!runs)
        return RUNS_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        lua_Integer from, count;
        lua_rawgeti(L, -1, 2 * (lua_Integer)i + 1);
        lua_rawgeti(L, -2, 2 * (lua_Integer)i + 2);
        from = lua_tointeger(L, -2);
        count = lua_tointeger(L, -1);
        lua_pop(L, 2);
        if (from < 0 || count <= 0 || from > s->total || count > s->total - from)
            break;
        runs[i] = (struct unit_run){(uint32_t)from, (uint32_t)(from + count)};
        units += (uint32_t)count;
    }
    if (units != (uint32_t)j->units) {
        free(runs);
        return RUNS_WRONG;
    }
    flat_units_drop(j);
    j->runs = runs;
    j->nruns = n;
    return RUNS_OK;
}

static bool begin(struct flat *s, uint32_t job)
{
    lua_State *L = ((struct lua_placer *)s->placer_data)->L;
    enum runs_read read;

    if (!call(s, "begin", number_of(s, job), s->now))
        return false;
    read = read_runs(L, s, &s->jobs[job]);
    lua_pop(L, 1);
    if (read != RUNS_WRONG)
        return read == RUNS_OK;
    lua_pushfstring(L, "job %I has other units than requested", (LUAI_UACINT)number_of(s, job));
    lua_setiuservalue(L, 1, 2);
    return false;
}

bool weirlua_placer_open(lua_State *L, struct flat *s, int options)
{
    static const struct placer functions = {book, begin, finish, drop, extend, advance};

    if (lua_getfield(L, options, "placer") == LUA_TNIL) {
        lua_pop(L, 1);
        return true;
    }
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_setiuservalue(L, 1, 1);
    s->placer_data = calloc(1, sizeof(struct lua_placer));
    s->placer = s->placer_data ? &functions : NULL;
    return s->placer != NULL;
}

void weirlua_placer_enter(lua_State *L, struct flat *s)
{
    if (s->placer)
        ((struct lua_placer *)s->placer_data)->L = L;
}

void weirlua_placer_check(lua_State *L)
{
    if (lua_getiuservalue(L, 1, 2) != LUA_TNIL)
        lua_error(L);
    lua_pop(L, 1);
}
