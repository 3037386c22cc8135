/* policy_profile.c - the costs of a policy: calls and time of each hook, and samples of the lines executed. Invariant:
 * without a profile, a hook call costs one test of a pointer more. */
#include "handle/support.h"
#include "policy/policy.h"
#include "system/json.h"

#include <stdlib.h>
#include <string.h>

/* The sampler: counts the line being executed, but for lines of the library's own code in the sandbox. */
static void sample(void *sampler, const lua_Debug *ar)
{
    struct policy_profile *profile = sampler;
    uint32_t at = (uint32_t)ar->currentline % PROFILE_LINES;

    if (ar->currentline <= 0 || strcmp(ar->short_src, SANDBOX_PRELUDE) == 0)
        return;
    profile->samples++;
    for (uint32_t i = 0; i < PROFILE_LINES; i++, at = (at + 1) % PROFILE_LINES) {
        if (profile->lines[at].line == 0)
            profile->lines[at].line = ar->currentline;
        if (profile->lines[at].line == ar->currentline) {
            profile->lines[at].samples++;
            return;
        }
    }
    profile->lost++;
}

void weirlua_profile_set(lua_State *L, struct sandbox *sb, struct policy_profile **profile, bool on)
{
    sb->sample = NULL;
    free(*profile);
    *profile = on ? calloc(1, sizeof **profile) : NULL;
    if (on && !*profile)
        luaL_error(L, "out of memory");
    sb->sample = on ? sample : NULL;
    sb->sampler = *profile;
}

static void set(lua_State *L, struct policy *p, bool on)
{
    struct weirlua *s = p->sandbox.S ? weirlua_state(p->sandbox.S, NULL) : NULL;

    weirlua_profile_set(L, &p->sandbox, &p->profile, on);
    if (s)
        s->watching = on ? s->watching | WATCH_READS : s->watching & ~(unsigned)WATCH_READS;
}

static void push_hooks(lua_State *L, const struct policy *p)
{
    lua_createtable(L, 0, HOOKS);
    for (int i = 0; i < HOOKS; i++) {
        if (!p->spec.has[i])
            continue;
        lua_createtable(L, 0, 2);
        weirlua_set_integer(L, "calls", (lua_Integer)p->profile->calls[i]);
        weirlua_set_number(L, "seconds", (lua_Number)p->profile->ns[i] / 1e9);
        lua_setfield(L, -2, weirlua_hook_names[i]);
    }
}

void weirlua_profile_lines(lua_State *L, const struct policy_profile *profile)
{
    for (uint32_t i = 0; i < PROFILE_LINES; i++)
        if (profile->lines[i].line) {
            lua_pushinteger(L, (lua_Integer)profile->lines[i].samples);
            lua_rawseti(L, -2, profile->lines[i].line);
        }
}

/* Runs in the sandbox: returns the JSON text of the counted reads. */
static int write_reads(lua_State *S)
{
    weirlua_push_reads(S);
    weirlua_json_write(S, -1, false, 0);
    return 1;
}

/* Pushes {name = reads} for a sandboxed policy. */
static void push_reads(lua_State *L, struct policy *p)
{
    lua_State *S = p->sandbox.S;
    const char *text;

    weirlua_sandbox_begin(&p->sandbox);
    lua_pushcfunction(S, write_reads);
    text = lua_pcall(S, 0, 1, 0) == LUA_OK ? lua_tostring(S, -1) : "{}";
    weirlua_json_read(L, text, strlen(text));
    lua_pop(S, 1);
}

/* policy:profile(true) starts a new profile, policy:profile(false) ends; without an argument: {hooks = {evaluate =
 * {calls, seconds}}, lines = {[line] = samples}, samples = n, reads = {field = n}}, or nil unless started. A trusted
 * policy has no lines and no reads; each query resets the reads. */
int weirlua_policy_profile(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);

    luaL_argcheck(L, p->open, 1, "the policy is closed");
    if (!lua_isnoneornil(L, 2)) {
        luaL_checktype(L, 2, LUA_TBOOLEAN);
        set(L, p, lua_toboolean(L, 2));
        return 0;
    }
    if (!p->profile)
        return 0;
    lua_createtable(L, 0, 3);
    push_hooks(L, p);
    lua_setfield(L, -2, "hooks");
    lua_newtable(L);
    weirlua_profile_lines(L, p->profile);
    lua_setfield(L, -2, "lines");
    weirlua_set_integer(L, "samples", (lua_Integer)p->profile->samples);
    if (p->sandbox.S) {
        push_reads(L, p);
        lua_setfield(L, -2, "reads");
    }
    return 1;
}
