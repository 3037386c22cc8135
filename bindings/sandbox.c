/* sandbox.c - the lua_State of a policy that was loaded from a file: budgets of memory and instructions. Invariant:
 * code of the policy runs under lua_pcall only, with the count hook set; outside of it nothing is called on S that can
 * raise.
 *
 * A match may spend SANDBOX_INSTRUCTIONS, and SHARE more for each call of a hook, so that large machines do not exhaust
 * an honest policy. What C functions do for it is charged too: memory by the allocator, loops by sandbox_lib.c. As the
 * last resort, one call may not run for more than CALL_SECONDS. */
#include "policy.h"

#include <stdlib.h>
#include <string.h>

#define COUNT        1000  /* instructions between two looks at the budget */
#define SHARE        10000 /* instructions that each call of a hook adds */
#define BYTES        8     /* of allocated memory cost one instruction */
#define LARGE        65536 /* bytes that are not given once the budget is used up: the count hook may be far away */
#define CALL_SECONDS 5

static const char anchor_key = 0;

struct sandbox *weirlua_sandbox_of(lua_State *S)
{
    return *(struct sandbox **)lua_getextraspace(S);
}

static void *allocate(void *ud, void *p, size_t old, size_t size)
{
    struct sandbox *sb = ud;
    void *q;

    old = p ? old : 0;
    if (size == 0) {
        free(p);
        sb->used -= old;
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

/* Whether the call that runs does so for too long. The clock is read from the first look at it on. */
static bool overtime(struct sandbox *sb)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (sb->timed != sb->call) {
        sb->timed = sb->call;
        sb->since = now;
    }
    return now.tv_sec - sb->since.tv_sec > CALL_SECONDS;
}

static void look(lua_State *S, lua_Debug *ar)
{
    struct sandbox *sb = weirlua_sandbox_of(S);
    bool late = overtime(sb);

    sb->left -= COUNT;
    if (sb->left >= 0 && !late && !sb->exhausted)
        return;
    sb->exhausted = true;
    lua_sethook(S, look, LUA_MASKCOUNT, 1); /* handlers of the policy get no further either */
    lua_getinfo(S, "Sl", ar);
    if (late)
        luaL_error(S, "%s:%d: it ran for more than %d seconds", ar->short_src, ar->currentline, CALL_SECONDS);
    luaL_error(S, "%s:%d: it used up its budget of %I instructions", ar->short_src, ar->currentline,
               (LUAI_UACINT)SANDBOX_INSTRUCTIONS);
}

void weirlua_sandbox_begin(struct sandbox *sb)
{
    sb->left = SANDBOX_INSTRUCTIONS;
    sb->exhausted = false;
    sb->call++;
    lua_sethook(sb->S, look, LUA_MASKCOUNT, COUNT);
}

void weirlua_sandbox_call(struct sandbox *sb)
{
    sb->left += sb->left < SANDBOX_INSTRUCTIONS ? SHARE : 0;
    sb->call++;
}

void weirlua_sandbox_charge(struct sandbox *sb, int64_t instructions)
{
    sb->left -= instructions;
}

/* ---- opening ---- */

struct job {
    struct sandbox *sb;
    struct weirlua *home;
    const char *path, *text, *name;
    size_t len;
    struct policy_spec *spec;
    int code; /* of the failure */
};

static void load_chunk(lua_State *S, struct job *job)
{
    int rc;

    job->code = WEIR_EPOLICY;
    if (job->text) {
        lua_pushfstring(S, "@%s", job->name);
        rc = luaL_loadbufferx(S, job->text, job->len, lua_tostring(S, -1), "t");
        lua_remove(S, -2);
    } else {
        rc = luaL_loadfilex(S, job->path, "t");
    }
    if (rc == LUA_ERRFILE)
        job->code = WEIR_EIO;
    if (rc != LUA_OK)
        lua_error(S);
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
    lua_call(S, 0, 1);
    lua_pushlightuserdata(S, job->spec);
    lua_pushstring(S, job->name);
    lua_call(S, 3, 1);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &anchor_key);
    return 0;
}

int weirlua_sandbox_open(struct sandbox *sb, struct weirlua *home, const char *path, const char *text, size_t len,
                         const char *name, struct policy_spec *spec, weir_err *err)
{
    struct job job = {sb, home, path, text, name, len, spec, WEIR_ENOMEM};

    *sb = (struct sandbox){.limit = SANDBOX_BYTES, .left = SANDBOX_INSTRUCTIONS};
    sb->S = lua_newstate(allocate, sb);
    if (!sb->S) {
        err->code = WEIR_ENOMEM;
        return WEIR_ENOMEM;
    }
    *(struct sandbox **)lua_getextraspace(sb->S) = sb;
    weirlua_sandbox_begin(sb);
    lua_pushcfunction(sb->S, build);
    lua_pushlightuserdata(sb->S, &job);
    if (lua_pcall(sb->S, 1, 0, 0) == LUA_OK)
        return WEIR_OK;
    weirlua_sandbox_error(sb, name, NULL, err);
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

void weirlua_sandbox_error(struct sandbox *sb, const char *name, const char *hook, weir_err *err)
{
    const char *text, *budget = sb->left < 0 ? " (it used up its instructions)" : " (it may have 64 MB)";

    weirlua_sandbox_begin(sb);
    lua_pushcfunction(sb->S, to_text);
    lua_insert(sb->S, -2);
    lua_pcall(sb->S, 1, 1, 0);
    text = lua_type(sb->S, -1) == LUA_TSTRING ? lua_tostring(sb->S, -1) : "an error that cannot be shown";
    if (strcmp(text, "not enough memory") != 0)
        budget = "";
    weir_err_clear(err);
    err->code = WEIR_EPOLICY;
    if (!hook && strncmp(text, "policy ", 7) == 0)
        snprintf(err->text, sizeof err->text, "%s", text);
    else
        snprintf(err->text, sizeof err->text, "policy %s: %s%s%s%s", name, hook ? hook : "", hook ? ": " : "", text,
                 budget);
    for (char *at = err->text; (at = strpbrk(at, "\r\n\t")) != NULL; at++)
        *at = ' ';
    lua_pop(sb->S, 1);
}
