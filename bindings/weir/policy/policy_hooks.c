/* policy_hooks.c - the calls from the matcher into Lua. Invariant: no function here raises: only pushes that cannot
 * fail, and lua_pcall. The first failure stays on the stack until the core has returned; after a failure no hook is
 * called. */
#include "handle/vertex.h"
#include "policy/policy.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above the base: the hooks by number, the options, the numbers of groups, the requests by index, a message handler,
 * for a trusted policy what the caller knows of the job, an error or results. */
#define SLOT_OPTIONS  HOOKS
#define SLOT_GROUPS   (HOOKS + 1)
#define SLOT_REQUESTS (HOOKS + 2)
#define SLOT_HANDLER  (HOOKS + 3) /* message handler for a sandbox */
#define SLOT_ABOUT    (HOOKS + 4)
#define SLOTS         (HOOKS + 5)
#define STACK         (SLOTS + WEIRLUA_FIELDS + 24)

static struct sandbox *sandbox_of(const struct hooks *h)
{
    return h->policy->sandbox.S ? &h->policy->sandbox : NULL;
}

static int fail(struct hooks *h, const char *hook, const char *complaint)
{
    h->failed = hook;
    h->complaint = complaint;
    return WEIR_EPOLICY;
}

int weirlua_hooks_requests(const struct hooks *h)
{
    return h->base + SLOT_REQUESTS;
}

int weirlua_hooks_request(struct hooks *h, const weir_resource *r)
{
    lua_State *L = h->L;

    if (lua_rawgeti(L, h->base + SLOT_REQUESTS, (lua_Integer)r->number + 1) == LUA_TTABLE)
        return WEIR_OK;
    lua_pop(L, 1);
    lua_pushcfunction(L, weirlua_request_view);
    lua_pushvalue(L, h->base + SLOT_REQUESTS);
    lua_pushlightuserdata(L, (void *)(uintptr_t)r);
    lua_pushlightuserdata(L, &h->job);
    lua_pushvalue(L, h->base + SLOT_OPTIONS);
    lua_pushvalue(L, h->base + SLOT_ABOUT);
    return lua_pcall(L, 5, 1, 0) == LUA_OK ? WEIR_OK : WEIR_EPOLICY;
}

/* ---- calls ---- */

static int call_hook(struct hooks *h, int hook, int nargs, int nresults)
{
    weirlua_scores_verify(h);
    weirlua_policy_ran(h->policy);
    return weirlua_hooks_call(h, hook, nargs, nresults);
}

int weirlua_hooks_call(struct hooks *h, int hook, int nargs, int nresults)
{
    struct policy_profile *profile = h->policy->profile;
    int handler = sandbox_of(h) ? h->base + SLOT_HANDLER : 0;
    int64_t begin;
    int rc;

    if (!profile)
        return lua_pcall(h->L, nargs, nresults, handler);
    begin = weirlua_clock();
    rc = lua_pcall(h->L, nargs, nresults, handler);
    profile->calls[hook]++;
    profile->ns[hook] += weirlua_clock() - begin;
    return rc;
}

/* ---- wrong results ---- */

/* Writes the result at idx, for messages. */
static void describe(lua_State *L, int idx, char *buf, size_t size)
{
    if (lua_type(L, idx) == LUA_TNUMBER && isnan(lua_tonumber(L, idx))) { /* snprintf may write a sign */
        snprintf(buf, size, "nan");
        return;
    }
    switch (lua_type(L, idx)) {
    case LUA_TNONE: snprintf(buf, size, "nothing"); break;
    case LUA_TSTRING: snprintf(buf, size, "\"%.40s\"", lua_tostring(L, idx)); break;
    case LUA_TNUMBER: weir_number_write(buf, size, lua_tonumber(L, idx)); break;
    case LUA_TNIL: snprintf(buf, size, "nil"); break;
    case LUA_TBOOLEAN: snprintf(buf, size, "%s", lua_toboolean(L, idx) ? "true" : "false"); break;
    default: snprintf(buf, size, "a %s", luaL_typename(L, idx));
    }
}

/* Writes: EXPECTED; it returned the value at idx for the vertex v. */
static const char *wrong_result(struct hooks *h, int idx, weir_vertex v, const char *expected)
{
    char value[64], path[160];

    describe(h->L, idx, value, sizeof value);
    weir_vertex_path(h->handle->g, v, path, sizeof path);
    snprintf(h->said, sizeof h->said, "it must return %s, and returned %s for %s", expected, value, path);
    return h->said;
}

/* ---- filters ---- */

/* Calls of one filter for several vertices, inside one lua_pcall. */
struct filtering {
    struct hooks *h;
    const weir_vertex *v;
    size_t n;
    double *score;  /* evaluate */
    uint32_t calls; /* number made */
    weir_vertex at; /* of the last call */
    bool go_on;     /* the result of prune for the only vertex */
};

/* Pushes the function, a vertex, the request and the fields, and calls the function. */
static void call_filter(lua_State *L, struct filtering *f, weir_vertex v, int nresults)
{
    const struct hooks *h = f->h;

    f->calls++;
    f->at = v;
    lua_pushvalue(L, 2);
    weirlua_push_vertex(L, h->handle, v);
    lua_pushvalue(L, 3);
    lua_call(L, 2 + weirlua_fields_push(L, h->handle, v, &h->policy->spec.fields), nresults);
}

/* Writes to the end of the traceback for which vertex a hook was called: "FILE:LINE: in evaluate, for /PATH" instead of
 * "FILE:LINE: in the hook". */
static void trace_vertex(const struct hooks *h, int hook, weir_vertex v)
{
    static const char end[] = "the hook";
    struct sandbox *sb = sandbox_of(h);
    size_t len = sb ? strlen(sb->trace) : 0;
    char path[160];

    if (len < sizeof end || v == WEIR_NONE || strcmp(sb->trace + len - (sizeof end - 1), end) != 0)
        return;
    weir_vertex_path(h->handle->g, v, path, sizeof path);
    len -= sizeof end - 1;
    snprintf(sb->trace + len, sizeof sb->trace - len, "%s, for %s", weirlua_hook_names[hook], path);
}

/* (filtering, function, request, unused) */
static int run_prune(lua_State *L)
{
    struct filtering *f = lua_touserdata(L, 1);

    int top = lua_gettop(L);

    call_filter(L, f, f->v[0], LUA_MULTRET);
    if (lua_gettop(L) == top)
        return luaL_error(L, "%s", wrong_result(f->h, top + 1, f->v[0], "true, or false to leave out a vertex"));
    f->go_on = lua_toboolean(L, top + 1);
    return 0;
}

/* Returns the score of a vertex. *alike: set when all siblings of the vertex have an equal score. */
static double ask_score(lua_State *L, struct filtering *f, weir_vertex v, bool *alike)
{
    int top = lua_gettop(L), type;
    double score;

    if (sandbox_of(f->h))
        weirlua_sandbox_call(sandbox_of(f->h));
    call_filter(L, f, v, LUA_MULTRET);
    type = lua_type(L, top + 1);
    score = type == LUA_TNUMBER ? lua_tonumber(L, top + 1) : NAN;
    if (type > LUA_TNIL && isnan(score)) /* LUA_TNONE is below: no candidate, too */
        luaL_error(L, "%s", wrong_result(f->h, top + 1, v, "a number (the score) or nil (no candidate)"));
    *alike = lua_isboolean(L, top + 2) && lua_toboolean(L, top + 2);
    lua_settop(L, top);
    return score;
}

/* Returns the part of the score that siblings of v share; the stack index 4 has the function. */
static double ask_part(lua_State *L, struct filtering *f, weir_vertex v)
{
    double part;
    bool alike;

    lua_pushvalue(L, 2);
    lua_pushvalue(L, 4);
    lua_replace(L, 2);
    part = ask_score(L, f, v, &alike);
    lua_replace(L, 2);
    return part;
}

/* (filtering, function, request, function for the part that siblings share or false) */
static int run_evaluate(lua_State *L)
{
    struct filtering *f = lua_touserdata(L, 1);
    weir_vertex family = WEIR_NONE; /* parent of vertices with the last score */
    weir_vertex shared = WEIR_NONE; /* parent of vertices with the last part */
    double part = 0;

    for (size_t i = 0; i < f->n; i++) {
        weir_vertex parent = weir_vertex_parent(f->h->handle->g, f->v[i]);
        bool alike;
        if (family != WEIR_NONE && parent == family) {
            f->score[i] = f->score[i - 1];
            continue;
        }
        f->score[i] = ask_score(L, f, f->v[i], &alike);
        if (lua_toboolean(L, 4) && (shared == WEIR_NONE || parent != shared)) {
            part = ask_part(L, f, f->v[i]);
            shared = parent;
        }
        f->score[i] += part;
        family = alike ? parent : WEIR_NONE;
    }
    return 0;
}

static int run_filter(struct hooks *h, int hook, lua_CFunction run, struct filtering *f, const weir_resource *r)
{
    lua_State *L = h->L;
    int rc;

    if (h->failed)
        return WEIR_EPOLICY;
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, f);
    lua_pushvalue(L, h->base + hook);
    if (weirlua_hooks_request(h, r))
        return fail(h, weirlua_hook_names[hook], NULL);
    lua_pushvalue(L, h->base + HOOK_SIBLINGS);
    rc = call_hook(h, hook, 4, 0);
    if (h->policy->profile)
        h->policy->profile->calls[hook] += f->calls - (uint64_t)1;
    if (rc != LUA_OK)
        trace_vertex(h, hook, f->at);
    return rc == LUA_OK ? WEIR_OK : fail(h, weirlua_hook_names[hook], NULL);
}

/* Lets a hook see g: views of a hierarchy may follow one another in a match, where vertices have several parents. The
 * handle gets its own graph back at the end of the match. */
static void see(struct hooks *h, const weir_graph *g)
{
    h->handle->g = (weir_graph *)(uintptr_t)g;
}

static int hook_prune(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r)
{
    struct hooks *h = data;
    struct filtering f = {.h = h, .v = &v, .n = 1, .at = WEIR_NONE};
    int rc;

    see(h, g);
    if (sandbox_of(h))
        weirlua_sandbox_call(sandbox_of(h));
    rc = run_filter(h, HOOK_PRUNE, run_prune, &f, r);
    return rc ? rc : f.go_on;
}

static int hook_evaluate(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                         double *score)
{
    struct filtering f = {.h = data, .v = v, .n = n, .score = score, .at = WEIR_NONE};
    int rc;

    see(data, g);
    rc = run_filter(data, HOOK_EVALUATE, run_evaluate, &f, r);
    return rc ? rc : (int)(f.calls < INT_MAX ? f.calls : INT_MAX);
}

/* The hook `order`: up to WEIR_ORDER_KEYS numbers, nil is sorted last; and true behind the numbers where the siblings
 * share them. */
static int hook_keys(void *data, const weir_graph *g, weir_vertex v, double out[WEIR_ORDER_KEYS])
{
    struct hooks *h = data;
    lua_State *L = h->L;
    struct sandbox *sb = sandbox_of(h);
    struct weirlua *s = h->state;
    unsigned watching = s->watching;
    int top = lua_gettop(L), n, rc, wrong;
    bool alike;

    see(h, g);
    if (h->failed)
        return WEIR_EPOLICY;
    if (sb)
        weirlua_sandbox_call(sb);
    lua_pushvalue(L, h->base + HOOK_ORDER);
    weirlua_push_vertex(L, h->handle, v);
    lua_pushvalue(L, h->base + SLOT_OPTIONS);
    s->watching |= WATCH_ORDER;
    s->ordered = v;
    rc = call_hook(h, HOOK_ORDER, 2, LUA_MULTRET);
    s->watching = watching;
    if (rc != LUA_OK)
        trace_vertex(h, HOOK_ORDER, v);
    if (rc != LUA_OK)
        return fail(h, "order", NULL);
    alike = lua_gettop(L) > top + 1 && lua_isboolean(L, -1) && lua_toboolean(L, -1);
    if (lua_gettop(L) > top + 1 && lua_isboolean(L, -1))
        lua_pop(L, 1);
    n = lua_gettop(L) - top;
    wrong = n == 0 || n > WEIR_ORDER_KEYS ? top + (n == 0 ? 1 : WEIR_ORDER_KEYS + 1) : 0;
    for (int i = 0; i < n && !wrong; i++) {
        int type = lua_type(L, top + 1 + i);
        out[i] = type == LUA_TNUMBER ? lua_tonumber(L, top + 1 + i) : HUGE_VAL;
        if ((type != LUA_TNUMBER && type != LUA_TNIL) || isnan(out[i]))
            wrong = top + 1 + i;
    }
    if (wrong)
        wrong_result(h, wrong, v, n > WEIR_ORDER_KEYS ? "up to 4 numbers, not more" : "up to 4 numbers");
    lua_settop(L, top);
    return wrong ? fail(h, "order", h->said) : n + (alike ? WEIR_ORDER_SIBLINGS : 0);
}

/* ---- select ---- */

struct selection {
    struct hooks *h;
    const weir_vertex *v;
    const double *score;
    size_t n, min, max;
    uint32_t *chosen;
    int64_t count;
};

/* Returns the position of a candidate given by position, or by vertex: the table from vertices to positions is made at
 * the first use. */
static lua_Integer position_of(lua_State *L, int candidates, int positions)
{
    lua_Integer at;

    if (lua_isinteger(L, -1))
        return lua_tointeger(L, -1);
    if (!lua_islightuserdata(L, -1))
        luaL_error(L, "it must return a list of candidates or of their positions, or nil");
    if (lua_isnil(L, positions)) {
        lua_newtable(L);
        for (lua_Integer i = 1; lua_rawgeti(L, candidates, i) != LUA_TNIL; i++) {
            lua_pushinteger(L, i);
            lua_rawset(L, -3);
        }
        lua_pop(L, 1);
        lua_replace(L, positions);
    }
    lua_pushvalue(L, -1);
    lua_rawget(L, positions);
    at = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return at;
}

static void read_choice(lua_State *L, struct selection *s, int result, int candidates, int positions)
{
    bool *seen = lua_newuserdatauv(L, s->n * sizeof *seen + 1, 0);

    memset(seen, 0, s->n * sizeof *seen);
    s->count = 0;
    while (lua_rawgeti(L, result, s->count + 1) != LUA_TNIL) {
        lua_Integer at = position_of(L, candidates, positions);
        if (at < 1 || (uint64_t)at > s->n)
            luaL_error(L, "it chose what is no candidate");
        if (seen[at - 1])
            luaL_error(L, "it chose a candidate twice");
        seen[at - 1] = true;
        s->chosen[s->count++] = (uint32_t)(at - 1);
        lua_pop(L, 1);
    }
}

/* (selection, function, request): calls select(candidates, request, min, max, scores). */
static int call_select(lua_State *L)
{
    struct selection *s = lua_touserdata(L, 1);
    int candidates, result;

    lua_createtable(L, (int)s->n, 0);
    candidates = lua_gettop(L);
    for (size_t i = 0; i < s->n; i++) {
        weirlua_push_vertex(L, s->h->handle, s->v[i]);
        lua_rawseti(L, candidates, (lua_Integer)i + 1);
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, candidates);
    lua_pushvalue(L, 3);
    lua_pushinteger(L, (lua_Integer)s->min);
    lua_pushinteger(L, (lua_Integer)s->max);
    lua_createtable(L, (int)s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        lua_pushnumber(L, s->score[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_call(L, 5, 1);
    result = lua_gettop(L);
    if (lua_isnil(L, result)) { /* no choice: the best candidates */
        for (s->count = 0; s->count < (int64_t)s->n; s->count++)
            s->chosen[s->count] = (uint32_t)s->count;
        return 0;
    }
    if (!lua_istable(L, result))
        return luaL_error(L, "it must return a list of candidates or of their positions, or nil");
    lua_pushnil(L);
    read_choice(L, s, result, candidates, result + 1);
    return 0;
}

static int64_t hook_select(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v,
                           const double *score, size_t n, size_t min, size_t max, uint32_t *chosen)
{
    struct hooks *h = data;
    struct selection s = {h, v, score, n, min, max, chosen, 0};
    struct sandbox *sb = sandbox_of(h);

    see(h, g);
    if (h->failed)
        return WEIR_EPOLICY;
    if (sb)
        weirlua_sandbox_call(sb);
    lua_pushcfunction(h->L, call_select);
    lua_pushlightuserdata(h->L, &s);
    lua_pushvalue(h->L, h->base + HOOK_SELECT);
    if (weirlua_hooks_request(h, r) || call_hook(h, HOOK_SELECT, 3, 0) != LUA_OK)
        return fail(h, "select", NULL);
    return s.count;
}

/* ---- group ---- */

/* (groups, function, vertex, options) -> number of the group that the function names, or nil. A new group gets the next
 * number; the entry of `false` is the number of groups. */
static int run_group(lua_State *L)
{
    lua_Integer n;
    int type;

    lua_call(L, 2, 1);
    type = lua_type(L, 2);
    if (type == LUA_TNIL)
        return 1;
    if ((type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TLIGHTUSERDATA) ||
        (type == LUA_TNUMBER && isnan(lua_tonumber(L, 2))))
        return luaL_error(L, "it must return a string, a number, a vertex or nil");
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 1) != LUA_TNIL)
        return 1;
    lua_pushboolean(L, 0);
    lua_rawget(L, 1);
    n = lua_tointeger(L, -1) + 1;
    lua_pushboolean(L, 0);
    lua_pushinteger(L, n);
    lua_rawset(L, 1);
    lua_pushvalue(L, 2);
    lua_pushinteger(L, n);
    lua_rawset(L, 1);
    lua_pushinteger(L, n);
    return 1;
}

static int hook_group(void *data, const weir_graph *g, weir_vertex v, uint32_t *out)
{
    struct hooks *h = data;
    lua_State *L = h->L;
    unsigned watching = h->state->watching;
    int rc;

    see(h, g);
    if (h->failed)
        return WEIR_EPOLICY;
    if (sandbox_of(h))
        weirlua_sandbox_call(sandbox_of(h));
    lua_pushcfunction(L, run_group);
    lua_pushvalue(L, h->base + SLOT_GROUPS);
    lua_pushvalue(L, h->base + HOOK_GROUP);
    weirlua_push_vertex(L, h->handle, v);
    lua_pushvalue(L, h->base + SLOT_OPTIONS);
    h->state->watching |= WATCH_GROUP;
    rc = call_hook(h, HOOK_GROUP, 4, 1);
    h->state->watching = watching;
    if (rc != LUA_OK)
        return fail(h, "group", NULL);
    rc = lua_isnil(L, -1) ? 0 : 1;
    *out = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return rc;
}

/* ---- placed and finished ---- */

/* Calls one of the two hooks, and keeps the state in the graph. */
static int call_with_state(struct hooks *h, int hook, const weir_graph *g, const weir_allocation *a)
{
    struct placing p = {&h->policy->spec, h->handle, a, &h->job, NULL};
    struct sandbox *sb = sandbox_of(h);
    weir_graph *seen = h->handle->g; /* in a search of another hierarchy: the view, which keeps no state */
    lua_State *L = h->L;
    weir_err err = {0};
    int rc;

    if (h->failed)
        return WEIR_EPOLICY;
    if (sb)
        weirlua_sandbox_call(sb);
    h->handle->g = (weir_graph *)(uintptr_t)g;
    h->job.id = a->job;
    lua_pushcfunction(L, weirlua_placed);
    lua_pushlightuserdata(L, &p);
    lua_pushvalue(L, h->base + hook);
    lua_pushvalue(L, h->base + SLOT_REQUESTS);
    lua_pushvalue(L, h->base + SLOT_ABOUT);
    lua_pushvalue(L, h->base + SLOT_OPTIONS);
    rc = weirlua_hooks_call(h, hook, 5, 0) == LUA_OK ? weirlua_state_put(&h->moved, h->handle->g, p.spec, p.text, &err)
                                                     : fail(h, weirlua_hook_names[hook], NULL);
    h->handle->g = seen;
    free(p.text);
    return rc;
}

static int hook_placed(void *data, const weir_graph *g, const weir_allocation *a)
{
    return call_with_state(data, HOOK_PLACED, g, a);
}

int weirlua_hook_finished(struct hooks *h, const weir_graph *g, const weir_allocation *a)
{
    return call_with_state(h, HOOK_FINISHED, g, a);
}

/* ---- around a match ---- */

/* (hooks): finds the state, reads the turn, and returns the table of requests. */
static int prepare(lua_State *L)
{
    struct hooks *h = lua_touserdata(L, 1);

    h->state = weirlua_state(L, NULL);
    if (h->policy->spec.rotate) {
        weirlua_state_push(L, h->handle->g, &h->policy->spec);
        lua_getfield(L, -1, h->policy->spec.rotate);
        h->turn = lua_tonumber(L, -1);
    }
    lua_newtable(L);
    return 1;
}

/* Whether what a hook gives may be remembered: code in the user's state may read anything. */
static bool remembers(const struct policy *p, int hook, int memory)
{
    return p->spec.has[hook] && p->sandbox.S && !p->memory[memory].refused;
}

static void give(struct hooks *h)
{
    const struct policy_spec *spec = &h->policy->spec;

    bool scores = remembers(h->policy, HOOK_EVALUATE, MEMORY_SCORES);
    bool judges = remembers(h->policy, HOOK_PRUNE, MEMORY_PRUNE);

    h->choice = spec->choice;
    h->choice.group = spec->has[HOOK_GROUP] ? hook_group : NULL;
    h->given = (weir_policy){.name = spec->name,
                             .label = h->policy->label,
                             .data = h,
                             .order = spec->order,
                             .norder = spec->norder,
                             .turn = spec->rotate ? &h->turn : NULL,
                             .serial = h->policy->serial,
                             .exclusive = spec->exclusive,
                             .nexclusive = spec->nexclusive,
                             .locality = spec->locality,
                             .nlocality = spec->nlocality,
                             .descend = spec->descend,
                             .ndescend = spec->ndescend,
                             .choice = spec->chooses ? &h->choice : NULL,
                             .candidates = spec->candidates,
                             .keys = spec->has[HOOK_ORDER] ? hook_keys : NULL,
                             .prune = spec->has[HOOK_PRUNE] ? hook_prune : NULL,
                             .judge = judges ? weirlua_hook_judge : NULL,
                             .judge_key = judges ? weirlua_hook_judge_key : NULL,
                             .evaluate = spec->has[HOOK_EVALUATE] ? hook_evaluate : NULL,
                             .score = scores ? weirlua_hook_score : NULL,
                             .score_siblings = spec->has[HOOK_SIBLINGS] ? weirlua_hook_score_siblings : NULL,
                             .score_key = scores ? weirlua_hook_score_key : NULL,
                             .select = spec->has[HOOK_SELECT] ? hook_select : NULL,
                             .placed = spec->has[HOOK_PLACED] ? hook_placed : NULL};
}

static bool calls_lua(const weir_policy *p)
{
    return p->keys || p->prune || p->evaluate || p->select || p->placed || (p->choice && p->choice->group);
}

/* Pushes the anchor in the state of the hooks, and starts the turn's budget. */
static void push_anchor(lua_State *L, struct policy *p, int policy)
{
    if (p->sandbox.S) {
        weirlua_sandbox_begin(&p->sandbox);
        weirlua_sandbox_anchor(&p->sandbox);
    } else {
        lua_getiuservalue(L, policy, 1);
    }
}

int weirlua_hooks_begin(lua_State *L, struct hooks *h, int policy, struct weirlua_graph *handle,
                        const struct policy_job *job, weir_err *err)
{
    struct sandbox *sb;
    int anchor;

    *h = (struct hooks){.L = L, .handle = handle, .job = *job};
    if (lua_isnil(L, policy))
        return WEIR_OK;
    h->policy = lua_touserdata(L, policy);
    if (!h->policy->open) { /* closed by a hook of an earlier match of the explanation */
        h->policy = NULL;
        weir_err_clear(err);
        err->code = WEIR_EPOLICY;
        snprintf(err->text, sizeof err->text, "the policy is closed");
        return WEIR_EPOLICY;
    }
    give(h);
    for (int i = 0; i < MEMORIES; i++)
        h->policy->memory[i].keyed.resource = NULL;
    h->base = lua_gettop(L) + 1;
    if (!calls_lua(&h->given))
        return WEIR_OK;
    sb = sandbox_of(h);
    h->L = sb ? sb->S : L;
    h->base = lua_gettop(h->L) + 1;
    if (!lua_checkstack(h->L, STACK)) {
        err->code = WEIR_ENOMEM;
        return WEIR_ENOMEM;
    }
    push_anchor(L, h->policy, policy);
    anchor = h->base;
    for (int i = 0; i <= SLOT_GROUPS; i++)
        lua_rawgeti(h->L, anchor, i + 1);
    lua_remove(h->L, anchor);
    lua_pushcfunction(h->L, prepare);
    lua_pushlightuserdata(h->L, h);
    if (lua_pcall(h->L, 1, 1, 0) != LUA_OK) {
        lua_settop(h->L, h->base - 1);
        err->code = WEIR_ENOMEM;
        return WEIR_ENOMEM;
    }
    lua_pushcfunction(h->L, weirlua_sandbox_locate);
    h->job.home = L;
    h->job.g = handle->g;
    h->job.policy = h->policy;
    if (!sb && job->about)
        lua_pushvalue(L, job->about);
    else
        lua_pushnil(h->L);
    if (!sb)
        h->job.about = 0;
    return WEIR_OK;
}

/* Moves the error of a trusted policy into err. */
static void trusted_error(const struct hooks *h, weir_err *err)
{
    char text[sizeof err->text], place[PLACE_SIZE] = "";

    if (h->complaint)
        snprintf(text, sizeof text, "%s", h->complaint);
    else
        weirlua_error_text(h->L, text, sizeof text);
    for (int i = 0; i < HOOKS; i++)
        if (strcmp(weirlua_hook_names[i], h->failed) == 0) {
            lua_pushvalue(h->L, h->base + i);
            weirlua_function_place(h->L, place, sizeof place);
        }
    weirlua_hook_error(h->policy->spec.name, h->failed, place, text, err);
}

void weirlua_hooks_end(struct hooks *h, weir_err *err)
{
    if (!h->policy)
        return;
    if (sandbox_of(h) && !h->failed)
        weirlua_scores_verify(h);
    else if (h->failed)
        weirlua_policy_ran(h->policy);
    weirlua_job_leave(h->L, &h->job);
    if (sandbox_of(h) && calls_lua(&h->given))
        weirlua_sandbox_end(sandbox_of(h));
    if (h->failed && h->complaint && sandbox_of(h))
        weirlua_sandbox_complain(sandbox_of(h), h->policy->spec.name, h->failed, h->complaint, err);
    else if (h->failed && sandbox_of(h))
        weirlua_sandbox_error(sandbox_of(h), h->policy->spec.name, h->failed, err);
    else if (h->failed)
        trusted_error(h, err);
    lua_settop(h->L, h->base - 1);
}
