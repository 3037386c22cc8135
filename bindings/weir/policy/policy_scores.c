/* policy_scores.c - scores that the core remembers for a policy in a sandbox: the call of evaluate that records what is
 * read, and the key that represents the rest: the fields of the request that evaluate has read, and the variables of
 * the policy. Invariant: no function here raises; a policy whose scores cannot be remembered is called as ever, and
 * `why` says why.
 *
 * evaluate may read variables outside of the function, such as those that init or admit has set. A digest of
 * all values that evaluate can reach represents these in the key. Where evaluate itself changes a value, scores depend
 * on the order of the calls, and are not remembered. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX 3 /* matches in which evaluate raises beyond today's candidates, before nothing is remembered */

static int forget(struct policy_memory *m, const char *fmt, const char *what)
{
    m->refused = true;
    snprintf(m->why, sizeof m->why, fmt, what);
    return 0;
}

/* ---- the values that evaluate can reach ---- */

#define FUNCTIONS MEMORY_FUNCTIONS

/* The functions behind a memory: scores are computed by evaluate and evaluate_siblings. */
static const int functions[MEMORIES][FUNCTIONS] = {
    [MEMORY_SCORES] = {HOOK_EVALUATE, HOOK_SIBLINGS}, [MEMORY_PRUNE] = {HOOK_PRUNE, HOOK_PRUNE}};

/* The functions of the memory m. */
static const int *functions_of(const struct hooks *h, const struct policy_memory *m)
{
    return functions[m - h->policy->memory];
}

/* Digests all values that the functions can reach. Returns false, with the reason in m->why, where some value cannot be
 * compared. */
static bool survey(const struct hooks *h, struct policy_memory *m, struct policy_survey q[FUNCTIONS])
{
    const int *list = functions_of(h, m);

    for (int i = 0; i < FUNCTIONS; i++)
        q[i] = (struct policy_survey){.S = h->L,
                                      .function = h->policy->spec.has[list[i]] ? h->base + list[i] : 0,
                                      .options = h->base + HOOKS,
                                      .graph = h->handle->number};
    if (weirlua_survey(q, FUNCTIONS))
        return true;
    m->refused = true;
    snprintf(m->why, sizeof m->why, "%s", q->why);
    return false;
}

static void verify(struct hooks *h, struct policy_memory *m)
{
    struct policy_survey now[FUNCTIONS];

    if (!m->scored || m->refused)
        return;
    m->scored = false;
    if (!survey(h, m, now))
        return;
    for (int i = 0; i < FUNCTIONS && !m->refused; i++) {
        int k = 0;
        if (digest_equal(now[i].state, m->reach[i].state))
            continue;
        while (k < MEMORY_PARTS - 1 && now[i].parts[k] == m->reach[i].parts[k])
            k++;
        lua_pushvalue(h->L, h->base + functions_of(h, m)[i]);
        forget(m, "it changes its variable '%s'", lua_getupvalue(h->L, -1, k + 1));
        lua_pop(h->L, 2);
        weirlua_policy_ran(h->policy);
    }
}

void weirlua_scores_verify(struct hooks *h)
{
    for (int i = 0; i < MEMORIES; i++)
        verify(h, &h->policy->memory[i]);
}

/* ---- the request ---- */

static const char request_key = 0; /* of the table of the request, in a handle of the request */
#define HANDLE  "weir.request"
#define HANDLES 16 /* handles have the numbers from -HANDLES down in the table of requests */

bool weirlua_request_behind(lua_State *S, int arg)
{
    bool handle;

    if (!lua_getmetatable(S, arg))
        return false;
    luaL_getmetatable(S, HANDLE);
    handle = lua_rawequal(S, -1, -2);
    lua_pop(S, 2);
    if (!handle)
        return false;
    lua_rawgetp(S, arg, &request_key);
    lua_replace(S, arg);
    return true;
}

bool weirlua_request_bare(lua_State *S, int arg)
{
    if (!weirlua_request_behind(S, arg))
        return false;
    weirlua_sandbox_of(S)->unfollowed = "the request as a whole";
    return true;
}

void weirlua_scores_note(lua_State *S, const char *prefix, const char *name)
{
    struct sandbox *sb = weirlua_sandbox_of(S);
    struct policy_memory *m = sb->memory;
    char text[sizeof m->fields[0]];
    int len;

    if (!sb->graph)
        return;
    if (strcmp(name, "duration") == 0) {
        weir_read(sb->graph, WEIR_NONE, WEIR_READ_DURATION);
        return;
    }
    if (strcmp(name, "state") == 0) {
        sb->unfollowed = "the state of the policy, which changes with each job";
        return;
    }
    len = snprintf(text, sizeof text, "%s%s", prefix, name);
    for (unsigned i = 0; i < m->nfields; i++)
        if (strcmp(m->fields[i], text) == 0)
            return;
    if (m->nfields == MEMORY_FIELDS || len >= (int)sizeof text)
        sb->unfollowed = "many fields of the request";
    else
        strcpy(m->fields[m->nfields++], text);
}

/* __index of the handle: the field of the table, noted. */
static int request_index(lua_State *S)
{
    const char *name = lua_type(S, 2) == LUA_TSTRING ? lua_tostring(S, 2) : NULL;

    /* The job records reads of its fields, and ends_within() the duration that was compared. */
    if (name && strcmp(name, "options") != 0 && strcmp(name, "job") != 0 && strcmp(name, "ends_within") != 0)
        weirlua_scores_note(S, "", name);
    lua_rawgetp(S, 1, &request_key);
    lua_pushvalue(S, 2);
    lua_gettable(S, -2);
    return 1;
}

static int request_newindex(lua_State *S)
{
    weirlua_request_bare(S, 1);
    lua_settable(S, 1);
    return 0;
}

static int request_pairs(lua_State *S)
{
    weirlua_request_bare(S, 1);
    lua_getglobal(S, "pairs");
    lua_insert(S, 1);
    lua_call(S, 1, 3);
    return 3;
}

/* (table): the handle. */
static int make_handle(lua_State *S)
{
    static const luaL_Reg meta[] = {
        {"__index", request_index}, {"__newindex", request_newindex}, {"__pairs", request_pairs}, {NULL, NULL}};

    lua_createtable(S, 0, 1);
    lua_pushvalue(S, 1);
    lua_rawsetp(S, -2, &request_key);
    if (luaL_newmetatable(S, HANDLE)) {
        luaL_setfuncs(S, meta, 0);
        weirlua_set_boolean(S, "__metatable", false);
    }
    lua_setmetatable(S, -2);
    return 1;
}

/* ---- the key ---- */

struct score_writer {
    char *at, *end;
    bool full; /* something did not fit, and nothing is written since */
};

static void put(struct score_writer *w, const void *p, size_t len)
{
    w->full = w->full || (size_t)(w->end - w->at) < len;
    if (w->full)
        return;
    memcpy(w->at, p, len);
    w->at += len;
}

static void put_text(struct score_writer *w, const char *text)
{
    put(w, text, strlen(text) + 1);
}

/* Writes the value on top of the stack; other values than texts as a digest. Returns false for a value that cannot be
 * compared. */
static bool put_value(lua_State *S, uint32_t graph, struct score_writer *w)
{
    struct digest digest;
    const char *text;
    size_t len;
    bool fine;

    if (lua_type(S, -1) == LUA_TSTRING) {
        text = lua_tolstring(S, -1, &len);
        put(w, &len, sizeof len);
        put(w, text, len);
        return true;
    }
    fine = weirlua_survey_value(S, graph, &digest);
    put(w, &digest, sizeof digest);
    return fine;
}

struct keying {
    struct hooks *h;
    struct policy_memory *m;
    const weir_resource *r;
    struct score_writer w;
};

/* (keying, table of the request): writes the fields of the request and of the job that evaluate has read. */
static int write_fields(lua_State *S)
{
    struct keying *k = lua_touserdata(S, 1);
    struct policy_memory *m = k->m;

    for (unsigned i = 0; i < m->nfields && !m->refused; i++) {
        const char *name = m->fields[i];
        lua_settop(S, 2);
        if (strncmp(name, "job.", 4) == 0) {
            lua_getfield(S, 2, "job");
            name += 4;
        }
        lua_getfield(S, -1, name);
        put_text(&k->w, m->fields[i]);
        if (!put_value(S, k->h->handle->number, &k->w))
            forget(m, "it reads the field '%s' of the request", m->fields[i]);
    }
    return 0;
}

/* Writes the fields that evaluate has read. */
static bool put_fields(struct keying *k)
{
    lua_State *S = k->h->L;

    if (k->m->nfields == 0)
        return true;
    lua_pushcfunction(S, write_fields);
    lua_pushlightuserdata(S, k);
    if (weirlua_hooks_request(k->h, k->r)) {
        lua_pop(S, 3);
        return false;
    }
    if (lua_pcall(S, 2, 0, 0) != LUA_OK) {
        lua_pop(S, 1);
        return false;
    }
    return !k->m->refused;
}

/* Digests the values that both functions can reach, unless the digests are known: code that may have changed a variable
 * has run since. Changes of a value by evaluate itself are detected before such code runs, and at the end of the match.
 * */
static bool take_state(struct hooks *h, struct policy_memory *m)
{
    struct policy_survey now[FUNCTIONS];

    if (m->fresh && m->graph == h->handle->number)
        return true;
    if (!survey(h, m, now))
        return false;
    for (int i = 0; i < FUNCTIONS; i++) {
        m->reach[i].state = now[i].state;
        memcpy(m->reach[i].parts, now[i].parts, sizeof now[i].parts);
    }
    m->fresh = true;
    m->graph = h->handle->number;
    m->keyed.resource = NULL;
    return true;
}

static size_t write_key(struct hooks *h, struct policy_memory *m, const weir_resource *r, char *key, size_t size)
{
    struct keying k = {h, m, r, {m->keyed.key, m->keyed.key + sizeof m->keyed.key, false}};

    if (h->failed || m->refused || h->unscored || !take_state(h, m))
        return 0;
    if (m->keyed.resource != r || m->keyed.number != r->number || m->keyed.nfields != m->nfields) {
        m->keyed.resource = NULL;
        put(&k.w, &h->handle->number, sizeof h->handle->number);
        for (int i = 0; i < FUNCTIONS; i++)
            put(&k.w, &m->reach[i].state, sizeof m->reach[i].state);
        if (!put_fields(&k) || k.w.full)
            return 0;
        m->keyed.resource = r;
        m->keyed.number = r->number;
        m->keyed.nfields = m->nfields;
        m->keyed.len = (size_t)(k.w.at - m->keyed.key);
    }
    if (m->keyed.len > size)
        return 0;
    memcpy(key, m->keyed.key, m->keyed.len);
    return m->keyed.len;
}

size_t weirlua_hook_score_key(void *data, const weir_resource *r, char *key, size_t size)
{
    return write_key(data, &((struct hooks *)data)->policy->memory[MEMORY_SCORES], r, key, size);
}

size_t weirlua_hook_judge_key(void *data, const weir_resource *r, char *key, size_t size)
{
    return write_key(data, &((struct hooks *)data)->policy->memory[MEMORY_PRUNE], r, key, size);
}

/* ---- the score ---- */

struct scoring {
    struct hooks *h;
    lua_Integer number; /* of the handle, in the table of requests */
    weir_vertex v;
    int hook;
    double *score;
    bool *alike; /* prune: whether to keep the vertex */
};

/* (scoring, function, handle of the request), or with the table of the request, and the table of requests, which gets
 * the handle: the handle serves the whole match. */
static int run_score(lua_State *S)
{
    struct scoring *x = lua_touserdata(S, 1);
    const struct hooks *h = x->h;
    int type, top;

    if (lua_gettop(S) > 3) {
        lua_pushcfunction(S, make_handle);
        lua_rotate(S, 3, 1);
        lua_insert(S, 3);
        lua_call(S, 1, 1);
        lua_pushvalue(S, -1);
        lua_rawseti(S, 3, x->number);
        lua_replace(S, 3);
    }
    lua_pushvalue(S, 2);
    weirlua_push_vertex(S, h->handle, x->v);
    lua_pushvalue(S, 3);
    top = lua_gettop(S) - 3; /* below the function */
    lua_call(S, 2 + weirlua_fields_push(S, h->handle, x->v, &h->policy->spec.fields),
             x->hook == HOOK_PRUNE ? LUA_MULTRET : 2);
    if (x->hook == HOOK_PRUNE) {
        if (lua_gettop(S) == top)
            luaL_error(S, "it must return true, or false to leave out a vertex");
        *x->alike = lua_toboolean(S, top + 1);
        return 0;
    }
    type = lua_type(S, -2);
    *x->score = type == LUA_TNUMBER ? lua_tonumber(S, -2) : (double)NAN;
    if (type != LUA_TNIL && isnan(*x->score))
        luaL_error(S, "it must return a number (the score) or nil (no candidate)");
    *x->alike = lua_isboolean(S, -1) && lua_toboolean(S, -1);
    return 0;
}

/* A call that raised: the match continues as usual, and raises where the vertex is a candidate; but the end of a
 * budget, of memory too, ends the match. */
static int raised(struct hooks *h, struct policy_memory *m, int hook, int rc)
{
    if (h->policy->sandbox.exhausted || rc == LUA_ERRMEM) {
        h->failed = weirlua_hook_names[hook == HOOK_PRUNE ? HOOK_PRUNE : HOOK_EVALUATE];
        return WEIR_EPOLICY;
    }
    h->unscored = true;
    if (++m->errors >= ERRORS_MAX) {
        char text[sizeof m->why - 32];
        weirlua_error_text(h->L, text, sizeof text);
        return forget(m, "it raises an error: %s", text);
    }
    lua_pop(h->L, 1);
    return 0;
}

/* Calls evaluate, evaluate_siblings or prune. Returns as the hooks of the core. */
static int call_score(struct hooks *h, int hook, const weir_graph *g, const weir_resource *r, weir_vertex v,
                      double *score, bool *alike)
{
    struct policy_memory *m = &h->policy->memory[hook == HOOK_PRUNE ? MEMORY_PRUNE : MEMORY_SCORES];
    struct sandbox *sb = &h->policy->sandbox;
    struct scoring x = {h, -HANDLES - (lua_Integer)r->number, v, hook, score, alike};
    int nargs = 3, rc;

    if (h->failed || m->refused || h->unscored)
        return 0;
    weirlua_sandbox_call(sb);
    lua_pushcfunction(h->L, run_score);
    lua_pushlightuserdata(h->L, &x);
    lua_pushvalue(h->L, h->base + hook);
    if (lua_rawgeti(h->L, weirlua_hooks_requests(h), x.number) != LUA_TTABLE) {
        lua_pop(h->L, 1);
        if (weirlua_hooks_request(h, r)) {
            lua_pop(h->L, 4);
            return 0;
        }
        lua_pushvalue(h->L, weirlua_hooks_requests(h));
        nargs = 4;
    }
    h->handle->g = (weir_graph *)(uintptr_t)g; /* as hooks that are not remembered (policy_hooks.c: see) */
    sb->graph = g;
    sb->memory = m;
    sb->unfollowed = NULL;
    m->scored = true;
    rc = weirlua_hooks_call(h, hook, nargs, 0);
    sb->graph = NULL;
    if (rc != LUA_OK)
        return raised(h, m, hook, rc);
    if (sb->unfollowed || weir_read_trouble(g)) {
        sb->seeded = sb->turn - 1; /* random numbers start again: this call must not affect the calls that count */
        return forget(m, "it reads %s", sb->unfollowed ? sb->unfollowed : weir_read_trouble(g));
    }
    return 1;
}

int weirlua_hook_score(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score,
                       bool *alike)
{
    return call_score(data, HOOK_EVALUATE, g, r, v, score, alike);
}

int weirlua_hook_score_siblings(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *part)
{
    bool alike;

    return call_score(data, HOOK_SIBLINGS, g, r, v, part, &alike);
}

int weirlua_hook_judge(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, bool *keep)
{
    return call_score(data, HOOK_PRUNE, g, r, v, NULL, keep);
}

/* ---- the mode ---- */

enum scores_mode weirlua_scores_mode(lua_State *L, int options)
{
    static const char *const modes[] = {"remember", "check", "call", NULL};
    const char *env = getenv("WEIR_SCORES");
    int mode = weirlua_field_choice(L, options, "scores", env && env[0] ? weirlua_word(modes, env) : 0, modes);

    if (mode < 0)
        luaL_error(L, "WEIR_SCORES: remember, check or call expected, got '%s'", weirlua_quote(L, env));
    return (enum scores_mode)mode;
}

void weirlua_scores_use(enum scores_mode mode, struct hooks *h, weir_match_options *o)
{
    o->check_scores = mode == SCORES_CHECKED;
    if (mode == SCORES_CALLED)
        h->given.score = NULL, h->given.judge = NULL;
}
