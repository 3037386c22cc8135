/* handle.c - flat simulators for scripts of the library. Invariant: a simulator behind a handle that a script can reach
 * has jobs, users and names in C memory of its own. */
#include "handle/support.h"
#include "policy/policy.h"
#include "queue/contract.h"
#include "queue/handle.h"
#include "queue/placer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT   "weir.flat"
#define EVENTS 20000 /* handled by one call of run */

static struct flat *check_flat(lua_State *L)
{
    struct flat *s = luaL_checkudata(L, 1, FLAT);

    luaL_argcheck(L, s->jobs, 1, "the simulator is closed");
    return s;
}

/* ---- times ---- */

/* Returns the instant at `arg` in microseconds, as lua/weir/sim/instant.lua rounds. Raises behind the end of the clock.
 */
static int64_t check_instant(lua_State *L, int arg)
{
    double seconds = luaL_checknumber(L, arg);

    luaL_argcheck(L, seconds >= 0 && seconds <= (double)(FLAT_LAST / FLAT_SECOND), arg,
                  "a time from 0 to 9e12 expected");
    if (floor(seconds) == seconds)
        return (int64_t)seconds * FLAT_SECOND;
    if (seconds >= (double)(FLAT_COARSE / FLAT_SECOND))
        return (int64_t)floor(seconds + 0.5) * FLAT_SECOND;
    return (int64_t)floor(seconds * 1e6 + 0.5);
}

void weirlua_flat_push_time(lua_State *L, int64_t us)
{
    if (us % FLAT_SECOND == 0)
        lua_pushinteger(L, us / FLAT_SECOND);
    else
        lua_pushnumber(L, (lua_Number)us / 1e6);
}

/* Pushes a sum of seconds, as an integer where it is whole. */
static void push_sum(lua_State *L, double sum)
{
    if (floor(sum) == sum && fabs(sum) < 9e15)
        lua_pushinteger(L, (lua_Integer)sum);
    else
        lua_pushnumber(L, sum);
}

/* ---- errors ---- */

/* Raises where memory is short, or a function of the placer has failed. */
static void check_ok(lua_State *L, const struct flat *s)
{
    if (!s->failed)
        return;
    weirlua_placer_check(L);
    luaL_error(L, "out of memory");
}

/* As check_ok(), but returns the number of values pushed where the policy has failed, else 0. */
static int policy_failed(lua_State *L, const struct flat *s)
{
    return s->failed ? weirlua_contract_error(L, s) : 0;
}

/* Pushes the values of a call about the job that would end behind the end of the clock: nil, the job's number, the
 * time, its estimate and its run time. */
static int tell_late(lua_State *L, const struct flat *s)
{
    const struct flat_job *j = &s->jobs[s->endless];

    lua_pushnil(L);
    if (j->number.kind == FLAT_INTEGER)
        lua_pushinteger(L, j->number.integer);
    else
        lua_pushstring(L, j->number.text);
    weirlua_flat_push_time(L, s->now);
    weirlua_flat_push_time(L, j->estimate);
    weirlua_flat_push_time(L, j->runtime);
    return 5;
}

/* ---- making one ---- */

static void *allocate(lua_State *L, size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);

    if (!p)
        luaL_error(L, "out of memory");
    return p;
}

static uint32_t element(lua_State *L, int list, lua_Integer i)
{
    lua_Integer n;

    lua_rawgeti(L, list, i);
    n = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, n >= -1 && n < UINT32_MAX, 1, "a list of small numbers expected");
    return (uint32_t)n;
}

/* Reads a level of `n` vertices whose units are not consecutive: a list of the vertex of each unit, from 0 on. */
static void read_scattered(lua_State *L, struct flat *s, struct level *level, int list, int64_t n)
{
    luaL_argcheck(L, n < UINT32_MAX && lua_rawlen(L, list) == s->units.n, 1, "the vertex of each unit expected");
    level->n = (uint32_t)n;
    level->of = allocate(L, s->units.n, sizeof *level->of);
    level->held = allocate(L, (size_t)n, sizeof *level->held);
    for (uint32_t i = 0; i < s->units.n; i++) {
        level->of[i] = element(L, list, (lua_Integer)i + 1);
        luaL_argcheck(L, level->of[i] < level->n, 1, "the number of a vertex expected");
    }
}

/* Reads a level from the top of the stack: a list of the first unit of each vertex, or with a field `scattered`, the
 * number of vertices, a list of the vertex of each unit. */
static void read_level(lua_State *L, struct flat *s, struct level *level)
{
    int list = lua_gettop(L);
    uint32_t n = (uint32_t)lua_rawlen(L, list);
    int64_t scattered = weirlua_field_integer(L, list, "scattered", 0);

    if (scattered > 0) {
        read_scattered(L, s, level, list, scattered);
        return;
    }
    luaL_argcheck(L, n > 0, 1, "a level without vertices");
    level->first = allocate(L, n + 1, sizeof *level->first);
    level->held = allocate(L, n, sizeof *level->held);
    level->n = n;
    for (uint32_t i = 0; i < n; i++) {
        level->first[i] = element(L, list, (lua_Integer)i + 1);
        luaL_argcheck(L, i == 0 ? level->first[0] == 0 : level->first[i] > level->first[i - 1], 1,
                      "the vertices of a level in order expected");
    }
    level->first[n] = s->units.n;
    luaL_argcheck(L, level->first[n - 1] < s->units.n, 1, "a level within the units expected");
    level->width = level->first[1];
    for (uint32_t i = 1; i <= n; i++)
        if (level->first[i] != i * level->width)
            level->width = 0;
    level->width = level->first[n] == n * level->first[1] ? level->width : 0;
}

static void read_levels(lua_State *L, struct flat *s, int options)
{
    lua_Integer n;

    if (lua_getfield(L, options, "levels") == LUA_TTABLE) {
        n = (lua_Integer)lua_rawlen(L, -1);
        luaL_argcheck(L, n <= FLAT_LEVELS, 1, "fewer levels expected");
        s->units.levels = allocate(L, (size_t)n, sizeof *s->units.levels);
        for (lua_Integer i = 1; i <= n; i++) {
            lua_rawgeti(L, -1, i);
            luaL_checktype(L, -1, LUA_TTABLE);
            s->units.nlevels++;
            read_level(L, s, &s->units.levels[i - 1]);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

static char *copy_text(lua_State *L, int idx)
{
    size_t len;
    const char *text = luaL_checklstring(L, idx, &len);
    char *copy = allocate(L, len + 1, 1);

    return memcpy(copy, text, len);
}

/* Reads naming = {type = "core"} or {texts = {"core[0-3]", ...}}, with stretches = {first, rank, class, id, step, ...}.
 */
static void read_naming(lua_State *L, struct flat *s, int options)
{
    struct naming *n = &s->naming;
    int naming;

    if (lua_getfield(L, options, "naming") != LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    naming = lua_gettop(L);
    if (lua_getfield(L, naming, "texts") == LUA_TTABLE) {
        uint32_t count = (uint32_t)lua_rawlen(L, -1);
        n->nodes = true;
        n->texts = allocate(L, count, sizeof *n->texts);
        for (uint32_t i = 0; i < count; i++) {
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
            n->texts[i] = copy_text(L, -1);
            n->ntexts++;
            lua_pop(L, 1);
        }
    } else {
        lua_getfield(L, naming, "type");
        n->type = copy_text(L, -1);
    }
    lua_getfield(L, naming, "stretches");
    luaL_checktype(L, -1, LUA_TTABLE);
    n->n = (uint32_t)lua_rawlen(L, -1) / 5;
    luaL_argcheck(L, n->n > 0, 1, "a naming without stretches");
    n->stretches = allocate(L, n->n, sizeof *n->stretches);
    for (uint32_t i = 0; i < n->n; i++) {
        lua_Integer at = 5 * (lua_Integer)i;
        int list = lua_gettop(L);
        n->stretches[i] = (struct stretch){element(L, list, at + 1), element(L, list, at + 2), element(L, list, at + 3),
                                           element(L, list, at + 4), (int32_t)element(L, list, at + 5)};
        luaL_argcheck(L, !n->nodes || n->stretches[i].class < n->ntexts, 1, "a class with a text expected");
    }
    lua_settop(L, options);
}

static void read_queue(lua_State *L, struct flat *s, int options)
{
    s->per_event = weirlua_field_boolean(L, options, "per_event", false);
    s->overrun = weirlua_field_boolean(L, options, "overrun", false);
    lua_getfield(L, options, "start");
    s->now = lua_isnil(L, -1) ? 0 : check_instant(L, -1);
    lua_getfield(L, options, "queue");
    luaL_checkudata(L, -1, WEIRLUA_LIVE);
    lua_setiuservalue(L, 1, FLAT_POLICY);
    lua_getfield(L, options, "ask");
    lua_setiuservalue(L, 1, FLAT_ASK);
    lua_newtable(L);
    lua_setiuservalue(L, 1, FLAT_NUMBERS);
    lua_settop(L, options);
}

static void read_measure(lua_State *L, struct flat *s, int options)
{
    struct measure *m = &s->measure;
    int64_t points;

    lua_getfield(L, options, "tau");
    m->tau = luaL_optnumber(L, -1, 10);
    lua_getfield(L, options, "per_node");
    m->per_node = luaL_optnumber(L, -1, 0);
    m->weight = (int32_t)weirlua_field_integer(L, options, "weight", 1);
    luaL_argcheck(L, m->weight > 0 && m->weight <= 1 << 30, 1, "weight: a number from 1 to 2^30 expected");
    m->node = (int)weirlua_field_integer(L, options, "node", 0) - 1;
    luaL_argcheck(L, m->node < (int)s->units.nlevels, 1, "node: the number of a level expected");
    lua_getfield(L, options, "from");
    m->from = lua_isnil(L, -1) ? 0 : check_instant(L, -1);
    m->last_end = -1;
    points = weirlua_field_integer(L, options, "series", 0);
    luaL_argcheck(L, points >= 0 && points <= 1 << 24, 1, "series: a number of steps up to 2^24 expected");
    if (points > 0 && !flat_series_open(&m->series, (size_t)points))
        luaL_error(L, "out of memory");
    lua_settop(L, options);
}

/* flat{...}: a simulator of plain jobs. Fields: units, the number of units; queue, the sandbox of the queue policy;
 * ask(made, units, field), a function that returns the fields wants and attributes of a job as JSON; per_event, the
 * event rule; overrun, whether jobs run on beyond their estimates; start, of the clock (seconds); tau, from (seconds):
 * see weir.replay.metrics; series, its number of steps, 0 for none; levels, a list of lists, the first unit of each
 * vertex of a type above the units; node, which of the levels has the nodes, and per_node, the units of a node in the
 * mean; weight (1), what a unit counts in the measurement; naming, how units are written; lines and ended, what to keep
 * of jobs that have ended. Units are followed where there are levels or a naming; placer, a table of functions that
 * choose them, see weir.replay.placer. */
int weirlua_flat_new(lua_State *L)
{
    static const char *const known[] = {"units",  "queue",  "ask",   "per_event", "tau",    "from",
                                        "series", "levels", "node",  "per_node",  "naming", "lines",
                                        "ended",  "placer", "start", "overrun",   "weight", NULL};
    struct flat *s;
    int64_t units;

    weirlua_options(L, 1, known);
    lua_settop(L, 1);
    units = weirlua_field_integer(L, 1, "units", 0);
    luaL_argcheck(L, units > 0 && units < INT32_MAX, 1, "units: a number from 1 to 2^31-2 expected");
    s = lua_newuserdatauv(L, sizeof *s, FLAT_USER_VALUES);
    *s = (struct flat){.endless = FLAT_NONE,
                       .late = FLAT_NEVER,
                       .entering = FLAT_NONE,
                       .soonest = FLAT_NEVER,
                       .freed = true,
                       .early = true,
                       .total = (int32_t)units,
                       .queue = {.oldest = FLAT_NONE, .newest = FLAT_NONE}};
    luaL_setmetatable(L, FLAT);
    lua_insert(L, 1); /* the options are at 2 */
    s->units.n = (uint32_t)units;
    read_queue(L, s, 2);
    read_levels(L, s, 2);
    read_naming(L, s, 2);
    read_measure(L, s, 2);
    s->follow = s->units.nlevels > 0 || s->naming.n > 0;
    s->write_lines = weirlua_field_boolean(L, 2, "lines", false);
    s->keep_ended = weirlua_field_boolean(L, 2, "ended", false);
    luaL_argcheck(L, s->naming.n > 0 || !s->write_lines, 1, "lines need a naming");
    s->jobs = allocate(L, 1, sizeof *s->jobs);
    s->unused = allocate(L, 1, sizeof *s->unused);
    s->jobs_cap = 1;
    s->profile.now = s->total;
    if ((s->follow && !flat_units_open(&s->units, (uint32_t)units)) || !weirlua_placer_open(L, s, 2))
        return luaL_error(L, "out of memory");
    weirlua_contract_open(L, s, s->measure.weight);
    lua_settop(L, 1);
    return 1;
}

static int flat_gc(lua_State *L)
{
    struct flat *s = luaL_checkudata(L, 1, FLAT);

    lua_settop(L, 1);
    weirlua_contract_close(L, s);
    flat_close(s);
    return 0;
}

/* ---- methods ---- */

/* Sets the number of a job to the number or text at `arg`. */
static void read_number(lua_State *L, struct flat_job *j, int arg)
{
    if (lua_isinteger(L, arg)) {
        j->number = (struct number){FLAT_INTEGER, lua_tointeger(L, arg), 0, NULL};
        return;
    }
    luaL_tolstring(L, arg, NULL);
    j->number.text = copy_text(L, -1);
    j->number.kind = lua_type(L, arg) == LUA_TNUMBER ? FLAT_REAL : FLAT_TEXT;
    j->number.real = lua_tonumber(L, arg);
}

/* Makes room for the sums of a user. */
static void check_user(lua_State *L, struct flat *s, lua_Integer user)
{
    size_t before = s->measure.nusers;

    luaL_argcheck(L, user >= 1 && user < INT32_MAX, 7, "the number of a user expected");
    if ((size_t)user <= before)
        return;
    if ((size_t)user > s->measure.users_cap &&
        !flat_grow(&s->measure.users, &s->measure.users_cap, (size_t)user, sizeof *s->measure.users))
        luaL_error(L, "out of memory");
    memset(s->measure.users + before, 0, ((size_t)user - before) * sizeof *s->measure.users);
    s->measure.nusers = (size_t)user;
}

/* Reads the arguments of a new job: number, submit, estimate, runtime, units, user, rank, fields. Returns its entry. */
static uint32_t read_job(lua_State *L, struct flat *s)
{
    int64_t submit = check_instant(L, 3), estimate = check_instant(L, 4), runtime = check_instant(L, 5);
    lua_Integer units = luaL_checkinteger(L, 6), user = luaL_checkinteger(L, 7);
    double rank = luaL_optnumber(L, 8, 0);
    uint32_t job;
    struct flat_job *j;

    luaL_argcheck(L, units > 0, 6, "units from 1 on expected");
    luaL_argcheck(L, lua_type(L, 2) == LUA_TNUMBER || lua_type(L, 2) == LUA_TSTRING, 2, "a number or text expected");
    luaL_argcheck(L, !isnan(rank), 8, "a number expected");
    check_user(L, s, user);
    weirlua_placer_enter(L, s);
    weirlua_contract_enter(L, s);
    job = flat_job_new(s);
    if (job == FLAT_NONE)
        luaL_error(L, "out of memory");
    j = &s->jobs[job];
    j->submit = submit;
    j->estimate = estimate > 0 ? estimate : 1;
    j->runtime = runtime;
    j->reserved = FLAT_NEVER;
    j->made = s->made++;
    j->units = units <= s->total ? (int32_t)units : s->total + 1;
    j->user = (uint32_t)user - 1;
    j->keys[0] = -rank;
    read_number(L, j, 2);
    weirlua_contract_about(L, s, 9, j);
    return job;
}

/* Returns whether a job was entered, or what tell_late() says; the entry of a job that was not is unused. */
static int tell_entered(lua_State *L, struct flat *s, uint32_t job, bool entered)
{
    int failed = policy_failed(L, s);

    if (!entered)
        flat_job_free(s, job);
    if (failed)
        return failed;
    check_ok(L, s);
    if (s->endless != FLAT_NONE)
        return tell_late(L, s);
    lua_pushboolean(L, entered);
    return 1;
}

/* s:submit(number, submit, estimate, runtime, units, user[, rank[, fields]]): enters the next job, in the order of
 * submission; all that happens before is done. Times are seconds; the user is a number from 1 on; a job of a higher
 * rank comes first; fields is a table with further fields of the job. Returns false for a job that takes more than all
 * units, which is refused. After a failure of the queue policy: see weirlua_contract_error(). */
static int flat_method_submit(lua_State *L)
{
    struct flat *s = check_flat(L);
    int failed = policy_failed(L, s);
    uint32_t job;

    if (failed)
        return failed;
    check_ok(L, s);
    if (s->endless != FLAT_NONE)
        return tell_late(L, s);
    job = read_job(L, s);
    return tell_entered(L, s, job, flat_submit(s, job));
}

/* s:resume(number, submit, estimate, runtime, units, user, rank, fields, began): enters a job that began before the
 * clock and runs still; before all that are submitted. Returns false where too few units are left. */
static int flat_method_resume(lua_State *L)
{
    struct flat *s = check_flat(L);
    int64_t began = check_instant(L, 10);
    uint32_t job;

    check_ok(L, s);
    if (s->endless != FLAT_NONE)
        return tell_late(L, s);
    luaL_argcheck(L, !s->began && began <= s->now, 10, "a start before the clock expected");
    job = read_job(L, s);
    return tell_entered(L, s, job, flat_resume(s, job, began));
}

/* s:run([limit]): runs to the end, or until the clock is at `limit`, with a limit of work for one call. Returns
 * whether more is left; or what tell_late() says. */
static int flat_method_run(lua_State *L)
{
    struct flat *s = check_flat(L);
    int64_t limit = lua_isnoneornil(L, 2) ? FLAT_NEVER - 1 : check_instant(L, 2);
    int failed = policy_failed(L, s);
    bool more;

    if (failed)
        return failed;
    check_ok(L, s);
    weirlua_placer_enter(L, s);
    weirlua_contract_enter(L, s);
    more = flat_run(s, limit + 1, EVENTS);
    if (!more && limit < FLAT_LAST && limit > s->now && flat_ok(s))
        flat_advance(s, limit);
    failed = policy_failed(L, s);
    if (failed)
        return failed;
    check_ok(L, s);
    if (s->endless != FLAT_NONE)
        return tell_late(L, s);
    lua_pushboolean(L, more);
    return 1;
}

/* s:lines(): the lines of jobs that have ended since the last call. */
static int flat_method_lines(lua_State *L)
{
    struct flat *s = check_flat(L);

    lua_pushlstring(L, s->lines.data ? s->lines.data : "", s->lines.len);
    s->lines.len = 0;
    return 1;
}

/* s:pop(): removes the kept job that ended first, and returns its number in the order of submission, from 1 on, start
 * and end in seconds, units, whether the job was killed, whether the job was backfilled, and its resources as a text
 * (nil without naming); nothing where no job is kept. */
static int flat_method_pop(lua_State *L)
{
    struct flat *s = check_flat(L);
    uint32_t job;
    const struct flat_job *j;

    if (s->ended_first == s->nended) {
        s->ended_first = s->nended = 0;
        return 0;
    }
    job = s->ended[s->ended_first];
    j = &s->jobs[job];
    if (s->naming.n > 0 && !flat_lines_resources(s, j, &s->names))
        return luaL_error(L, "out of memory");
    lua_pushinteger(L, (lua_Integer)j->made + 1);
    weirlua_flat_push_time(L, j->start);
    weirlua_flat_push_time(L, j->finish);
    lua_pushinteger(L, (lua_Integer)j->units * s->measure.weight);
    lua_pushboolean(L, j->killed);
    lua_pushboolean(L, j->backfilled);
    if (s->naming.n > 0)
        lua_pushlstring(L, s->names.data, s->names.len);
    else
        lua_pushnil(L);
    s->ended_first++;
    flat_job_free(s, job);
    return 7;
}

/* s:waits(): the waits of the jobs that have ended since the last call, a list of seconds. */
static int flat_method_waits(lua_State *L)
{
    struct flat *s = check_flat(L);

    lua_createtable(L, (int)s->measure.nwaits, 0);
    for (size_t i = 0; i < s->measure.nwaits; i++) {
        push_sum(L, s->measure.waits[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    s->measure.nwaits = 0;
    return 1;
}

static void set_sum(lua_State *L, const char *name, double sum)
{
    push_sum(L, sum);
    lua_setfield(L, -2, name);
}

static void push_users(lua_State *L, const struct measure *m)
{
    lua_createtable(L, (int)m->nusers, 0);
    for (size_t i = 0; i < m->nusers; i++) {
        lua_createtable(L, 0, 4);
        set_sum(L, "jobs", (double)m->users[i].jobs);
        set_sum(L, "wait", m->users[i].wait);
        weirlua_set_number(L, "slowdown", m->users[i].slowdown);
        set_sum(L, "used", m->users[i].used);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void set_list(lua_State *L, const char *name, const double *list, size_t n)
{
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_pushnumber(L, list[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, name);
}

/* s:series(): the fields of a series, as weir.replay.series has them: start, width, n, used and queued. After
 * figures().
 */
static int flat_method_series(lua_State *L)
{
    const struct series *series = &check_flat(L)->measure.series;

    lua_createtable(L, 0, 5);
    if (series->began)
        set_sum(L, "start", series->start);
    set_sum(L, "width", series->width);
    set_sum(L, "n", (double)series->n);
    set_list(L, "used", series->used, series->n);
    set_list(L, "queued", series->queued, series->n);
    return 1;
}

/* s:figures(): ends the measurement, and returns the sums by the names of weir.replay.metrics; used, the sum over time
 * of the units in use; touched, a list of such sums of the vertices in use, by level; users, a list of {jobs, wait,
 * slowdown, used}; now, running, made, passes, decisions. */
static int flat_method_figures(lua_State *L)
{
    struct flat *s = check_flat(L);
    struct measure *m = &s->measure;

    flat_measure_stop(s);
    lua_createtable(L, 0, 34);
    if (m->began) {
        weirlua_flat_push_time(L, m->first);
        lua_setfield(L, -2, "first");
        weirlua_flat_push_time(L, m->last);
        lua_setfield(L, -2, "last");
    }
    if (m->last_end >= 0) {
        weirlua_flat_push_time(L, m->last_end);
        lua_setfield(L, -2, "last_end");
    }
    weirlua_flat_push_time(L, s->now);
    lua_setfield(L, -2, "now");
    const struct {
        const char *name;
        double value;
    } sums[] = {{"jobs", (double)m->jobs},
                {"backfilled", (double)m->backfilled},
                {"killed", (double)m->killed},
                {"preempted", (double)m->preempted},
                {"started", (double)s->nstarted},
                {"wait", m->wait},
                {"flow", m->flow},
                {"longest", m->longest},
                {"queued", m->queued},
                {"queue_most", m->most},
                {"queue_sum", m->queue_sum},
                {"idle_waiting", m->idle_waiting},
                {"waiting_time", m->waiting_time},
                {"fragmented", m->fragmented},
                {"free_sum", m->free_sum},
                {"used", m->used_sum},
                {"running", s->nrunning},
                {"made", s->made},
                {"passes", (double)s->passes},
                {"decisions", (double)s->decisions}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        set_sum(L, sums[i].name, sums[i].value);
    weirlua_set_number(L, "slowdown", m->slowdown);
    weirlua_set_number(L, "worst", m->worst);
    lua_createtable(L, (int)s->units.nlevels, 0);
    for (uint32_t i = 0; i < s->units.nlevels; i++) {
        push_sum(L, m->touched_sum[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "touched");
    push_users(L, m);
    lua_setfield(L, -2, "users");
    return 1;
}

void weirlua_flat_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {
        {"submit", flat_method_submit}, {"resume", flat_method_resume},   {"run", flat_method_run},
        {"lines", flat_method_lines},   {"pop", flat_method_pop},         {"waits", flat_method_waits},
        {"series", flat_method_series}, {"figures", flat_method_figures}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", flat_gc}, {NULL, NULL}};

    weirlua_class(L, s, FLAT, methods, meta);
}
