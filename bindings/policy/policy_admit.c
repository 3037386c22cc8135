/* policy_admit.c - the hooks around matches: init, called for a graph before the first match, and admit, called for
 * each request. Invariant: both run under lua_pcall, with a full budget each, before the graph is marked as
 * matching. */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* Returns the state that runs the policy's hooks, with the anchor pushed. */
static lua_State *enter(lua_State *L, struct policy *p, int policy)
{
    if (!p->sandbox.S) {
        lua_getiuservalue(L, policy, 1);
        return L;
    }
    weirlua_sandbox_begin(&p->sandbox);
    weirlua_sandbox_anchor(&p->sandbox);
    return p->sandbox.S;
}

/* Writes the place of a trusted policy's hook. The stack index `policy` of L has the policy. */
static void place_of(lua_State *L, int policy, int hook, char *buf, size_t size)
{
    lua_getiuservalue(L, policy, 1);
    if (lua_istable(L, -1)) {
        lua_rawgeti(L, -1, hook + 1);
        weirlua_function_place(L, buf, size);
    }
    lua_pop(L, 1);
}

/* Sets err to a failure of a hook; without a text the error value on top of the policy's stack is moved. */
static void complain(lua_State *L, int policy, int hook, const char *text, weir_err *err)
{
    struct policy *p = lua_touserdata(L, policy);
    const char *name = weirlua_hook_names[hook];
    char buf[sizeof err->text], place[PLACE_SIZE] = "";

    if (p->sandbox.S && text) {
        weirlua_sandbox_complain(&p->sandbox, p->spec.name, name, text, err);
    } else if (p->sandbox.S) {
        weirlua_sandbox_error(&p->sandbox, p->spec.name, name, err);
    } else {
        if (!text)
            weirlua_error_text(L, buf, sizeof buf);
        place_of(L, policy, hook, place, sizeof place);
        weirlua_hook_error(p->spec.name, name, place, text ? text : buf, err);
    }
}

/* Runs f(anchor, data, about) in the policy's state, and counts the time. `about`: stack index of a value for a trusted
 * policy, 0 for nil. Returns a status; on success `results` values are on the policy's stack. */
static int run(lua_State *L, int policy, int hook, lua_CFunction f, void *data, int about, int results, weir_err *err)
{
    struct policy *p = lua_touserdata(L, policy);
    lua_State *S = enter(L, p, policy);
    int64_t begin = weirlua_clock();
    int rc;

    p->memory.fresh = p->memory.scored = false;
    lua_pushcfunction(S, weirlua_sandbox_locate);
    lua_insert(S, -2);
    lua_pushcfunction(S, f);
    lua_insert(S, -2);
    lua_pushlightuserdata(S, data);
    if (S == L && about)
        lua_pushvalue(L, about);
    else
        lua_pushnil(S);
    rc = lua_pcall(S, 3, results, p->sandbox.S ? lua_gettop(S) - 4 : 0);
    lua_remove(S, rc == LUA_OK ? -results - 1 : -2);
    if (p->sandbox.S)
        weirlua_sandbox_end(&p->sandbox);
    if (p->profile) {
        p->profile->calls[hook]++;
        p->profile->ns[hook] += weirlua_clock() - begin;
    }
    if (rc == LUA_OK)
        return WEIR_OK;
    complain(L, policy, hook, NULL, err);
    return WEIR_EPOLICY;
}

/* ---- init ---- */

/* (anchor, graph): calls init. */
static int call_init(lua_State *S)
{
    lua_rawgeti(S, 1, HOOK_INIT + 1);
    weirlua_push_graph(S, weirlua_state(S, NULL), lua_touserdata(S, 2));
    lua_rawgeti(S, 1, ANCHOR_OPTIONS);
    lua_call(S, 2, 0);
    return 0;
}

int weirlua_policy_init(lua_State *L, int policy, struct weirlua_graph *handle, weir_err *err)
{
    struct policy *p = luaL_testudata(L, policy, WEIRLUA_POLICY);
    uint64_t structure = weir_graph_serial(handle->g);
    int rc;

    if (!p || !p->spec.has[HOOK_INIT] || (p->number == handle->number && p->structure == structure))
        return WEIR_OK;
    luaL_argcheck(L, p->open, policy, "the policy is closed");
    handle->matching = true; /* init may only read the graph */
    rc = run(L, policy, HOOK_INIT, call_init, handle, 0, 0, err);
    handle->matching = false;
    if (rc)
        return rc;
    if (p->number && (p->spec.has[HOOK_ORDER] || p->spec.has[HOOK_GROUP]))
        p->serial = weirlua_serial(weirlua_of(L)); /* order may read upvalues that init has set: drop what is kept */
    p->number = handle->number;
    p->structure = structure;
    return WEIR_OK;
}

/* ---- admit ---- */

enum verdict { ADMITTED, REJECTED, AMENDED };

struct admission {
    const char *jobspec; /* JSON */
    struct policy_job job;
    enum verdict verdict;
};

/* (anchor, admission, about or nil): calls admit. Returns nil, the reason of a rejection, or the JSON text of a
 * replaced request. */
static int call_admit(lua_State *S)
{
    struct admission *a = lua_touserdata(S, 2);

    lua_rawgeti(S, 1, HOOK_ADMIT + 1);
    weirlua_json_read(S, a->jobspec, strlen(a->jobspec));
    lua_rawgeti(S, 1, ANCHOR_OPTIONS);
    weirlua_job_push(S, &a->job, 3);
    lua_call(S, 3, 2);
    if (lua_isnil(S, -2) || (lua_isboolean(S, -2) && lua_toboolean(S, -2))) {
        lua_pushnil(S);
    } else if (lua_istable(S, -2)) {
        a->verdict = AMENDED;
        weirlua_json_write(S, -2, false, 0);
    } else if (lua_isboolean(S, -2)) {
        a->verdict = REJECTED;
        if (lua_isnil(S, -1))
            lua_pushliteral(S, "it gave no reason");
        weirlua_show(S, -1);
    } else {
        return luaL_error(S, "it must return nothing, false and a reason, or the jobspec to be matched");
    }
    return 1;
}

static void reject(lua_State *L, const struct policy *p, const char *reason)
{
    lua_pushnil(L);
    lua_pushfstring(L, "policy %s rejects the job: %s", p->spec.name, reason);
    lua_pushstring(L, weir_status_name(WEIR_EREJECTED));
}

/* Pushes the request that admit returned instead. */
static const weir_request *amended(lua_State *L, int policy, const char *text)
{
    char why[sizeof ((weir_err *)0)->text];
    weir_err err = {0};
    weir_request *r;

    lua_pushstring(L, text);
    r = weirlua_request_at(L, weirlua_of(L), lua_gettop(L));
    if (r)
        return r;
    snprintf(why, sizeof why, "the jobspec that it wants instead: %s", lua_tostring(L, -2));
    complain(L, policy, HOOK_ADMIT, why, &err);
    weirlua_fail(L, &err, WEIR_EPOLICY);
    return NULL;
}

/* Asks admit about the request `asked`. Returns the request to be matched. */
static const weir_request *ask_admit(lua_State *L, int policy, const weir_request *asked, const struct policy_job *job)
{
    struct policy *p = luaL_testudata(L, policy, WEIRLUA_POLICY);
    struct weirlua_owner *jobspec, *answer;
    struct admission a = {.job = *job};
    weir_err err = {0};
    lua_State *S;
    int rc;

    if (!p || !p->spec.has[HOOK_ADMIT])
        return asked;
    luaL_argcheck(L, p->open, policy, "the policy is closed");
    jobspec = weirlua_owner_push(L, weir_free);
    jobspec->p = weir_request_format(asked, "jobspec", &err);
    a.jobspec = jobspec->p;
    if (!a.jobspec)
        return weirlua_fail(L, &err, WEIR_ENOMEM), NULL;
    answer = weirlua_owner_push(L, free);
    S = p->sandbox.S ? p->sandbox.S : L;
    a.job.home = L;
    a.job.about = S == L ? 0 : job->about;
    a.job.request = asked;
    a.job.policy = p;
    rc = run(L, policy, HOOK_ADMIT, call_admit, &a, job->about, 1, &err);
    weirlua_job_leave(S, &a.job);
    if (rc)
        return weirlua_fail(L, &err, WEIR_EPOLICY), NULL;
    answer->p = lua_type(S, -1) == LUA_TSTRING ? strdup(lua_tostring(S, -1)) : NULL;
    lua_pop(S, 1); /* before a raise: S may be a different state */
    if (a.verdict == ADMITTED)
        return asked;
    if (!answer->p)
        return luaL_error(L, "out of memory"), NULL;
    if (a.verdict == AMENDED)
        return amended(L, policy, answer->p);
    reject(L, p, answer->p);
    return NULL;
}

bool weirlua_admitted(lua_State *L, int request, int policy, struct policy_job *job)
{
    const weir_request *asked = weirlua_request_at(L, weirlua_of(L), request);

    job->request = asked ? ask_admit(L, policy, asked, job) : NULL;
    if (asked && job->request == asked)
        lua_pushvalue(L, request);
    return job->request != NULL;
}
