/* sandbox.c - the lua_State of a policy that was loaded from a file, or of a file that describes something: budgets of
 * memory and instructions. Invariant: code of the policy runs under lua_pcall only, with the count hook set; outside of
 * it nothing is called on S that can raise.
 *
 * A match may spend the budget of instructions, and SHARE more for each call of a hook, so that large machines do not
 * exhaust an honest policy. What C functions do for it is charged too: memory by the allocator, loops by sandbox_lib.c.
 * As the last resort, a match may not take longer than the budget of seconds. */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#define COUNT        1000  /* instructions between two looks at the budget, */
#define SAMPLE       100   /* ... and while lines are sampled */
#define HASTE        20    /* ... and where there are few seconds */
#define SHARE        10000 /* instructions that each call of a hook adds */
#define BYTES        8     /* of allocated memory cost one instruction */
#define LARGE        65536 /* bytes that are not given once the budget is used up: the count hook may be far away */
#define TEXT_MAX     (1 << 18) /* bytes of a string: what looks at all of one takes no longer between two looks at the clock */

static const char anchor_key = 0;

struct sandbox *weirlua_sandbox_of(lua_State *S)
{
    return *(struct sandbox **)lua_getextraspace(S);
}

static void *allocate(void *ud, void *p, size_t old, size_t size)
{
    struct sandbox *sb = ud;
    bool text = !p && old == LUA_TSTRING; /* for something new, Lua tells what it is */
    void *q;

    old = p ? old : 0;
    if (size == 0) {
        free(p);
        sb->used -= old;
        return NULL;
    }
    if (text && size > TEXT_MAX) {
        sb->long_text = true;
        return NULL;
    }
    if (size > old && (size - old > sb->limit - sb->used || (sb->left < 0 && size > LARGE)))
        return NULL;
    q = realloc(p, size);
    if (q) {
        sb->used = sb->used - old + size;
        sb->left -= (int64_t)(size / BYTES);
    }
    return q;
}

/* ---- budgets ---- */

int64_t weirlua_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether the match takes too long. Its clock starts at the first look. */
static bool overtime(struct sandbox *sb)
{
    int64_t now = weirlua_clock();

    sb->since = sb->since ? sb->since : now;
    return (double)(now - sb->since) > sb->seconds * 1e9;
}

bool weirlua_sandbox_due(const struct sandbox *sb)
{
    return sb->pause && weirlua_clock() >= sb->pause;
}

static int interval(const struct sandbox *sb)
{
    return sb->sample ? SAMPLE : sb->seconds < SANDBOX_QUICK ? HASTE : COUNT;
}

static void look(lua_State *S, lua_Debug *ar)
{
    struct sandbox *sb = weirlua_sandbox_of(S);
    bool late = overtime(sb);

    sb->left -= interval(sb);
    if (sb->sample) {
        lua_getinfo(S, "Sl", ar);
        sb->sample(sb->sampler, ar);
    }
    if (sb->left >= 0 && !late && !sb->exhausted && !weir_interrupted()) {
        if (weirlua_sandbox_due(sb) && lua_isyieldable(S))
            lua_yield(S, 0);
        return;
    }
    sb->exhausted = true;
    lua_sethook(S, look, LUA_MASKCOUNT, 1); /* handlers of the policy get no further either */
    lua_getinfo(S, "Sl", ar);
    if (weir_interrupted())
        luaL_error(S, "interrupted");
    if (late)
        luaL_error(S, "%s:%d: it took more than its %f seconds", ar->short_src, ar->currentline, sb->seconds);
    luaL_error(S, "%s:%d: it used up its budget of %I instructions", ar->short_src, ar->currentline,
               (LUAI_UACINT)weirlua_sandbox_of(S)->budget);
}

void weirlua_sandbox_begin(struct sandbox *sb)
{
    sb->left = sb->budget;
    sb->exhausted = false;
    sb->turn++;
    sb->since = 0;
    sb->long_text = false;
    lua_sethook(sb->S, look, LUA_MASKCOUNT, interval(sb));
}

void weirlua_sandbox_call(struct sandbox *sb)
{
    sb->left += sb->left < sb->budget ? SHARE : 0;
}

void weirlua_sandbox_charge(struct sandbox *sb, int64_t instructions)
{
    sb->left -= instructions;
}

void weirlua_sandbox_watch(lua_State *S)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    if (!overtime(sb))
        return;
    sb->exhausted = true;
    luaL_error(S, "it took more than its %f seconds", sb->seconds);
}

void weirlua_sandbox_look(lua_State *S)
{
    if (weirlua_sandbox_of(S)->seconds < SANDBOX_QUICK)
        weirlua_sandbox_watch(S);
}

/* ---- opening ---- */

struct job {
    struct weirlua *home;
    const struct policy_source *source;
    struct policy_spec *spec;
    int code; /* of the failure */
};

static void load_chunk(lua_State *S, struct job *job)
{
    const struct policy_source *from = job->source;

    job->code = WEIR_EPOLICY;
    lua_pushfstring(S, "@%s", from->chunk);
    if (luaL_loadbufferx(S, from->text, from->len, lua_tostring(S, -1), "t") != LUA_OK)
        lua_error(S);
    lua_remove(S, -2);
}

/* (text, chunk name, options): the part {policy = what the text returns, options = values}. */
static void load_part(lua_State *S, int part)
{
    size_t len;
    const char *text;

    lua_getfield(S, part, "text");
    lua_getfield(S, part, "name");
    text = luaL_checklstring(S, -2, &len);
    if (luaL_loadbufferx(S, text, len, lua_pushfstring(S, "@%s", luaL_checkstring(S, -1)), "t") != LUA_OK)
        lua_error(S);
    lua_call(S, 0, 1);
    lua_createtable(S, 0, 2);
    lua_insert(S, -2);
    lua_setfield(S, -2, "policy");
    lua_getfield(S, part, "options");
    if (lua_isnil(S, -1)) {
        lua_pop(S, 1);
        lua_newtable(S);
    }
    lua_setfield(S, -2, "options");
    lua_replace(S, part);
    lua_settop(S, part);
}

/* Pushes the parts of a policy made of several; returns how many. */
static int load_parts(lua_State *S, const char *parts)
{
    int list = lua_gettop(S) + 1, n = 0;

    if (!parts)
        return 0;
    weirlua_json_read(S, parts, strlen(parts));
    while (luaL_checkstack(S, 8, "parts"), lua_rawgeti(S, list, n + 1) == LUA_TTABLE) {
        load_part(S, lua_gettop(S));
        n++;
    }
    lua_pop(S, 1);
    lua_remove(S, list);
    return n;
}

static int build(lua_State *S)
{
    struct job *job = lua_touserdata(S, 1);
    struct weirlua *s;

    weirlua_sandbox_libraries(S);
    s = weirlua_state(S, job->home);
    weirlua_box_open(S, s);
    weirlua_json_open(S, s);
    weirlua_graph_open(S, s);
    weirlua_walk_open(S, s);
    weirlua_vertex_open(S, s);
    lua_pushcfunction(S, weirlua_policy_read);
    load_chunk(S, job);
    lua_call(S, load_parts(S, job->source->parts), 1);
    lua_pushlightuserdata(S, job->spec);
    lua_pushstring(S, job->source->name);
    lua_pushnil(S);
    if (job->source->options) {
        lua_pop(S, 1);
        weirlua_json_read(S, job->source->options, strlen(job->source->options));
    }
    lua_call(S, 4, 1);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &anchor_key);
    return 0;
}

bool weirlua_sandbox_new(struct sandbox *sb, int64_t instructions, size_t bytes)
{
    *sb = (struct sandbox){.limit = bytes, .budget = instructions, .left = instructions, .seconds = SANDBOX_SECONDS};
    sb->S = lua_newstate(allocate, sb);
    if (!sb->S)
        return false;
    *(struct sandbox **)lua_getextraspace(sb->S) = sb;
    weirlua_sandbox_begin(sb);
    return true;
}

int weirlua_sandbox_open(struct sandbox *sb, struct weirlua *home, const struct policy_source *source,
                         struct policy_spec *spec, weir_err *err)
{
    struct job job = {home, source, spec, WEIR_ENOMEM};

    if (!weirlua_sandbox_new(sb, source->instructions, source->bytes)) {
        err->code = WEIR_ENOMEM;
        return WEIR_ENOMEM;
    }
    sb->seconds = source->seconds;
    lua_sethook(sb->S, look, LUA_MASKCOUNT, interval(sb));
    lua_pushcfunction(sb->S, build);
    lua_pushlightuserdata(sb->S, &job);
    if (lua_pcall(sb->S, 1, 0, 0) == LUA_OK)
        return WEIR_OK;
    weirlua_sandbox_error(sb, source->name, NULL, err);
    err->code = job.code;
    weirlua_sandbox_close(sb);
    return job.code;
}

void weirlua_sandbox_close(struct sandbox *sb)
{
    lua_State *S = sb->S;

    sb->S = NULL;
    if (S)
        lua_close(S);
}

/* ---- use ---- */

void weirlua_sandbox_anchor(struct sandbox *sb)
{
    lua_rawgetp(sb->S, LUA_REGISTRYINDEX, &anchor_key);
}

static int to_text(lua_State *S)
{
    luaL_tolstring(S, 1, NULL);
    return 1;
}

void weirlua_sandbox_text(struct sandbox *sb, char *buf, size_t size)
{
    const char *text;
    bool spent = sb->left < 0, long_text = sb->long_text;

    weirlua_sandbox_begin(sb);
    lua_pushcfunction(sb->S, to_text);
    lua_insert(sb->S, -2);
    lua_pcall(sb->S, 1, 1, 0);
    text = lua_type(sb->S, -1) == LUA_TSTRING ? lua_tostring(sb->S, -1) : "an error that cannot be shown";
    if (strcmp(text, "not enough memory") != 0)
        snprintf(buf, size, "%s", text);
    else if (long_text)
        snprintf(buf, size, "not enough memory (a string may have %d KB)", TEXT_MAX >> 10);
    else if (spent)
        snprintf(buf, size, "not enough memory (it used up its instructions)");
    else
        snprintf(buf, size, "not enough memory (it may have %zu MB)", sb->limit >> 20);
    for (char *at = buf; (at = strpbrk(at, "\r\n\t")) != NULL; at++)
        *at = ' ';
    lua_pop(sb->S, 1);
}

void weirlua_sandbox_error(struct sandbox *sb, const char *name, const char *hook, weir_err *err)
{
    char text[sizeof err->text];

    weirlua_sandbox_text(sb, text, sizeof text);
    weir_err_clear(err);
    err->code = WEIR_EPOLICY;
    if (!hook && strncmp(text, "policy ", 7) == 0)
        snprintf(err->text, sizeof err->text, "%s", text);
    else
        snprintf(err->text, sizeof err->text, "policy %.64s: %s%s%.400s", name, hook ? hook : "", hook ? ": " : "", text);
}
