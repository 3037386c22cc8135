/* policy_admit.c - the hooks around matches: init, called for a graph before the first match, and admit, called for
 * each request. Invariant: both run under lua_pcall, with a full budget each, before the graph is marked as
 * matching. */
#include "handle/graph.h"
#include "handle/request.h"
#include "handle/support.h"
#include "policy/policy.h"
#include "system/json.h"

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

    for (int i = 0; i < MEMORIES; i++)
        p->memory[i].scored = false;
    weirlua_policy_ran(p);
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

void weirlua_policy_ran(struct policy *p)
{
    p->admit_known = false;
    for (int i = 0; i < MEMORIES; i++)
        p->memory[i].fresh = false;
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
    struct policy *p = lua_touserdata(L, policy);
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

enum admit_verdict { ADMITTED, REJECTED, AMENDED };

struct admission {
    const char *jobspec; /* JSON */
    struct policy_job job;
    enum admit_verdict verdict;
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
    char why[sizeof((weir_err *)0)->text];
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

/* ---- remembered answers ----
 *
 * An answer holds for one handle of a request, as long as the values that admit can reach are what they were. */

#define VALUES 4 /* user value of a policy */

/* Digests the values that admit can reach, unless known. Returns false where the answers of admit cannot be
 * remembered. */
static bool reach(struct policy *p, struct digest *state)
{
    lua_State *S = p->sandbox.S;
    struct policy_survey q = {.S = S};
    bool known;

    *state = p->admit_state;
    if (p->admit_known)
        return true;
    if (!S || p->admit_changes || !lua_checkstack(S, 8))
        return false;
    weirlua_sandbox_anchor(&p->sandbox);
    lua_rawgeti(S, -1, HOOK_ADMIT + 1);
    lua_rawgeti(S, -2, ANCHOR_OPTIONS);
    q.options = lua_gettop(S);
    q.function = q.options - 1;
    known = weirlua_survey(&q, 1);
    lua_pop(S, 3);
    *state = p->admit_state = q.state;
    p->admit_known = known;
    return known;
}

static struct admission_memory *recall(struct policy *p, uint64_t request, struct digest state)
{
    for (int i = 0; i < ADMISSIONS; i++)
        if (p->admitted[i].request == request && digest_equal(p->admitted[i].state, state)) {
            p->admitted[i].last_use = ++p->admissions;
            return &p->admitted[i];
        }
    return NULL;
}

/* Pushes the table of the values of remembered answers. */
static void push_values(lua_State *L, int policy)
{
    if (lua_getiuservalue(L, policy, VALUES) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_createtable(L, ADMISSIONS, 0);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, policy, VALUES);
}

/* Remembers an answer, with the value on top of the stack: the amended request, the reason of a rejection, or any for
 * a plain admission. Raises without memory. */
static void remember(lua_State *L, int policy, const struct admission_memory *answer)
{
    struct policy *p = lua_touserdata(L, policy);
    int oldest = 0;

    for (int i = 1; i < ADMISSIONS; i++)
        if (p->admitted[i].last_use < p->admitted[oldest].last_use)
            oldest = i;
    p->admitted[oldest].request = 0;
    push_values(L, policy);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, oldest + 1);
    lua_pop(L, 1);
    p->admitted[oldest] = *answer;
    p->admitted[oldest].last_use = ++p->admissions;
}

/* ---- admit, with what is remembered ---- */

/* Turns an answer into the request to be matched, which is pushed unless `asked`; NULL with nil, message and code
 * pushed. The value of the answer is on top of the stack. */
static const weir_request *give(lua_State *L, const struct policy *p, int verdict, const weir_request *asked)
{
    if (verdict == ADMITTED) {
        lua_pop(L, 1);
        return asked;
    }
    if (verdict == AMENDED)
        return weirlua_request_at(L, weirlua_of(L), lua_gettop(L));
    reject(L, p, lua_tostring(L, -1));
    return NULL;
}

/* Calls admit. Pushes the value of the answer, and returns true; or pushes nil, message and code. */
static bool call(lua_State *L, int policy, struct admission *a, const struct policy_job *job)
{
    struct policy *p = lua_touserdata(L, policy);
    struct weirlua_owner *jobspec = weirlua_owner_push(L, weir_free), *answer;
    lua_State *S = p->sandbox.S ? p->sandbox.S : L;
    weir_err err = {0};
    int rc;

    jobspec->p = weir_request_format(a->job.request, "jobspec", &err);
    a->jobspec = jobspec->p;
    if (!a->jobspec)
        return weirlua_fail(L, &err, WEIR_ENOMEM), false;
    answer = weirlua_owner_push(L, free);
    a->job.home = L;
    a->job.about = S == L ? 0 : job->about;
    a->job.policy = p;
    p->sandbox.unfollowed = NULL;
    p->sandbox.job_read = false;
    rc = run(L, policy, HOOK_ADMIT, call_admit, a, job->about, 1, &err);
    weirlua_job_leave(S, &a->job);
    if (rc)
        return weirlua_fail(L, &err, WEIR_EPOLICY), false;
    answer->p = lua_type(S, -1) == LUA_TSTRING ? strdup(lua_tostring(S, -1)) : NULL;
    lua_pop(S, 1); /* before a raise: S may be a different state */
    if (a->verdict != ADMITTED && !answer->p)
        return luaL_error(L, "out of memory"), false;
    if (a->verdict == AMENDED)
        return amended(L, policy, answer->p) != NULL;
    if (a->verdict == REJECTED)
        lua_pushstring(L, answer->p);
    else
        lua_pushboolean(L, 1);
    return true;
}

/* Calls admit of the policy at the stack index `policy` on the request. Returns the request to be matched. */
static const weir_request *ask_admit(lua_State *L, int request, int policy, struct weirlua_graph *handle,
                                     const struct policy_job *job)
{
    struct policy *p = lua_touserdata(L, policy);
    struct admission a = {.job = *job};
    struct admission_memory now = {.request = weirlua_request_serial(L, request)}, *known;
    struct digest after;
    weir_err err = {0};
    bool pure, fresh[MEMORIES];
    int rc;

    luaL_argcheck(L, p->open, policy, "the policy is closed");
    luaL_checkstack(L, 8, "admit");
    rc = weirlua_policy_init(L, policy, handle, &err); /* admit may read what init has set */
    if (rc)
        return weirlua_fail(L, &err, rc), NULL;
    pure = reach(p, &now.state);
    known = pure ? recall(p, now.request, now.state) : NULL;
    if (known) {
        push_values(L, policy);
        lua_rawgeti(L, -1, known - p->admitted + 1);
        return give(L, p, known->verdict, job->request);
    }
    for (int i = 0; i < MEMORIES; i++)
        fresh[i] = p->memory[i].fresh;
    if (!call(L, policy, &a, job))
        return NULL;
    now.verdict = (int)a.verdict;
    if (pure && reach(p, &after)) {
        bool same = digest_equal(after, now.state);
        for (int i = 0; i < MEMORIES; i++) /* no variable has changed that any function can reach */
            p->memory[i].fresh = fresh[i] && same;
        if (!p->sandbox.unfollowed && !p->sandbox.job_read) {
            p->admit_changes = !same;
            if (same)
                remember(L, policy, &now);
        }
    }
    return give(L, p, now.verdict, job->request);
}

bool weirlua_admitted(lua_State *L, int request, int policy, struct weirlua_graph *handle, struct policy_job *job)
{
    const weir_request *asked = weirlua_request_at(L, weirlua_of(L), request);
    const struct policy *p = lua_touserdata(L, policy);

    job->request = asked;
    if (asked && p && p->spec.has[HOOK_ADMIT])
        job->request = ask_admit(L, request, policy, handle, job);
    if (asked && job->request == asked)
        lua_pushvalue(L, request);
    return job->request != NULL;
}
