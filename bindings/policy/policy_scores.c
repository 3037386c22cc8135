/* policy_scores.c - scores that the core remembers for a policy in a sandbox: the call of evaluate that tells what is
 * read, and the key that stands for the rest: the fields of the request that evaluate has read, and the variables of
 * the policy. Invariant: no function here raises; a policy whose scores cannot be remembered is called as ever, and
 * `why` says why.
 *
 * evaluate may read variables outside of the function, such as those that init or admit has set. A hash over all
 * values that evaluate can reach stands for these in the key. Where evaluate itself changes a value, scores depend on
 * the order of the calls, and are not remembered. */
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 2000 /* values outside of evaluate that are compared; with more, nothing is remembered */
#define SEEN_SLOTS 1024 /* tables and functions among these */
#define DEPTH_MAX  32   /* of tables and functions in one another */
#define ERRORS_MAX 3    /* matches in which evaluate raises beyond today's candidates, before nothing is remembered */

static int forget(struct policy_memory *m, const char *fmt, const char *what)
{
    m->refused = true;
    snprintf(m->why, sizeof m->why, fmt, what);
    return 0;
}

/* ---- the values that evaluate can reach ---- */

struct survey {
    lua_State *S;
    uint32_t graph;      /* number of the graph of the match */
    const char *trouble; /* a value that cannot be compared; NULL: none */
    unsigned values, nseen;
    const void *seen[SEEN_SLOTS];
};

static uint64_t mix(uint64_t hash, uint64_t n)
{
    hash ^= n + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 27;
}

static uint64_t hash_string(const char *s, size_t len)
{
    uint64_t hash = len, word;

    for (; len >= sizeof word; s += sizeof word, len -= sizeof word) {
        memcpy(&word, s, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, s, len);
    return mix(hash, word);
}

/* Returns the number of an object that was met before, from 1 on; 0: the object is new, and noted. */
static unsigned met(struct survey *x, const void *p)
{
    size_t at = (size_t)((uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SEEN_SLOTS;

    for (; x->seen[at]; at = (at + 1) % SEEN_SLOTS)
        if (x->seen[at] == p)
            return (unsigned)at + 1;
    if (++x->nseen > SEEN_SLOTS / 2)
        x->trouble = "too many tables and functions outside of the function";
    else
        x->seen[at] = p;
    return 0;
}

static uint64_t hash_value(struct survey *x, int depth);

/* Hashes the table on top of the stack: the entries in any order. */
static uint64_t hash_table(struct survey *x, int depth)
{
    lua_State *S = x->S;
    uint64_t hash = 1;

    for (lua_pushnil(S); lua_next(S, -2) && !x->trouble; lua_pop(S, 1)) {
        uint64_t value = hash_value(x, depth + 1), key;
        lua_pushvalue(S, -2);
        key = lua_type(S, -1) == LUA_TTABLE || lua_type(S, -1) == LUA_TFUNCTION
                  ? mix(3, (uintptr_t)lua_topointer(S, -1))
                  : hash_value(x, depth + 1);
        lua_pop(S, 1);
        hash += mix(key, value);
    }
    if (x->trouble)
        return 0;
    if (lua_getmetatable(S, -1)) {
        hash = mix(hash, hash_value(x, depth + 1));
        lua_pop(S, 1);
    }
    return hash;
}

/* Hashes the function of the library on top of the stack: behind it are constants, or the position of an iterator. */
static uint64_t hash_library(struct survey *x, int depth)
{
    lua_State *S = x->S;
    uint64_t hash = mix(8, (uintptr_t)lua_topointer(S, -1));

    for (int i = 1; lua_getupvalue(S, -1, i); i++, lua_pop(S, 1))
        hash = mix(hash, lua_type(S, -1) == LUA_TNUMBER ? hash_value(x, depth + 1) : (uintptr_t)lua_topointer(S, -1));
    return hash;
}

/* Hashes the function on top of the stack. */
static uint64_t hash_function(struct survey *x, int depth)
{
    lua_State *S = x->S;
    uint64_t hash = mix(7, (uintptr_t)lua_topointer(S, -1));
    lua_Debug ar;

    lua_pushvalue(S, -1);
    lua_getinfo(S, ">S", &ar);
    hash = mix(hash, (uint64_t)ar.linedefined << 32 | (unsigned)ar.lastlinedefined);
    for (int i = 1; !x->trouble && lua_getupvalue(S, -1, i); i++, lua_pop(S, 1))
        hash = mix(hash, hash_value(x, depth + 1));
    return hash;
}

static uint64_t hash_number(lua_State *S)
{
    lua_Number n = lua_tonumber(S, -1);
    uint64_t bits;

    if (lua_isinteger(S, -1))
        return mix(4, (uint64_t)lua_tointeger(S, -1));
    memcpy(&bits, &n, sizeof bits);
    return mix(5, bits);
}

/* Hashes a vertex: content of other graphs is not followed. */
static uint64_t hash_vertex(struct survey *x)
{
    uint64_t bits = (uintptr_t)lua_touserdata(x->S, -1);

    if (bits >> 32 && (bits >> 32 & WEIRLUA_NUMBER_MAX) != x->graph)
        x->trouble = "a vertex of another graph";
    return mix(6, bits);
}

/* Hashes the value on top of the stack. */
static uint64_t hash_value(struct survey *x, int depth)
{
    lua_State *S = x->S;
    int type = lua_type(S, -1);
    unsigned before;
    const struct weirlua_graph *graph;
    size_t len;
    const char *text;

    if (++x->values > VALUES_MAX)
        x->trouble = "more than 2000 values outside of the function";
    if (depth > DEPTH_MAX || !lua_checkstack(S, 8))
        x->trouble = "tables in tables, deeper than 32";
    if (x->trouble)
        return 0;
    switch (type) {
    case LUA_TNIL: return 11;
    case LUA_TBOOLEAN: return 12 + (unsigned)lua_toboolean(S, -1);
    case LUA_TNUMBER: return hash_number(S);
    case LUA_TSTRING: text = lua_tolstring(S, -1, &len); return mix(2, hash_string(text, len));
    case LUA_TLIGHTUSERDATA: return hash_vertex(x);
    case LUA_TTABLE: break;
    case LUA_TFUNCTION:
        if (lua_iscfunction(S, -1))
            return hash_library(x, depth);
        break;
    case LUA_TUSERDATA:
        graph = luaL_testudata(S, -1, WEIRLUA_GRAPH);
        if (!graph || graph->number != x->graph)
            x->trouble = "a value that is no plain data";
        return 9;
    default: x->trouble = "a coroutine"; return 0;
    }
    before = met(x, lua_topointer(S, -1));
    if (before)
        return mix(10, before);
    return type == LUA_TTABLE ? hash_table(x, depth) : hash_function(x, depth);
}

/* Hashes all values that evaluate can reach, and those of each variable by itself. Returns false, with the reason in
 * m->why, where some value cannot be compared. */
static bool survey(const struct hooks *h, struct policy_memory *m, uint64_t *state, uint64_t parts[MEMORY_PARTS])
{
    struct survey x = {.S = h->L, .graph = h->handle->number};
    const char *name;

    *state = 0;
    memset(parts, 0, MEMORY_PARTS * sizeof *parts);
    lua_pushvalue(x.S, h->base + HOOK_EVALUATE);
    for (int i = 1; !x.trouble && (name = lua_getupvalue(x.S, -1, i)); i++, lua_pop(x.S, 1)) {
        uint64_t hash = hash_value(&x, 0);
        *state = mix(*state, hash);
        if (i <= MEMORY_PARTS)
            parts[i - 1] = hash;
        if (x.trouble)
            snprintf(m->why, sizeof m->why, "its variable '%s' holds %s", name, x.trouble);
    }
    lua_pushvalue(x.S, h->base + HOOKS); /* the options */
    if (!x.trouble)
        *state = mix(*state, hash_value(&x, 0));
    lua_pop(x.S, x.trouble ? 3 : 2);
    m->refused = m->refused || x.trouble;
    return !x.trouble;
}

void weirlua_scores_verify(struct hooks *h)
{
    struct policy_memory *m = &h->policy->memory;
    uint64_t state, parts[MEMORY_PARTS];
    int i = 0;

    if (!m->scored || m->refused)
        return;
    m->scored = false;
    if (!survey(h, m, &state, parts) || state == m->state)
        return;
    while (i < MEMORY_PARTS - 1 && parts[i] == m->parts[i])
        i++;
    lua_pushvalue(h->L, h->base + HOOK_EVALUATE);
    forget(m, "it changes its variable '%s'", lua_getupvalue(h->L, -1, i + 1));
    lua_pop(h->L, 2);
}

/* ---- the request ---- */

static const char request_key = 0; /* of the table of the request, in a handle of the request */
#define HANDLE "weir.request"

bool weirlua_request_bare(lua_State *S, int arg)
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

    if (name && strcmp(name, "options") != 0 && strcmp(name, "job") != 0) /* a job notes what is read of it */
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
    static const luaL_Reg meta[] = {{"__index", request_index},
                                    {"__newindex", request_newindex},
                                    {"__pairs", request_pairs},
                                    {NULL, NULL}};

    lua_createtable(S, 0, 1);
    lua_pushvalue(S, 1);
    lua_rawsetp(S, -2, &request_key);
    if (luaL_newmetatable(S, HANDLE)) {
        luaL_setfuncs(S, meta, 0);
        lua_pushboolean(S, false);
        lua_setfield(S, -2, "__metatable");
    }
    lua_setmetatable(S, -2);
    return 1;
}

/* ---- the key ---- */

struct writer {
    char *at, *end; /* at > end: too long */
};

static void put(struct writer *w, const void *p, size_t len)
{
    if ((size_t)(w->end - w->at) >= len)
        memcpy(w->at, p, len);
    else
        w->end = w->at; /* no more fits */
    w->at += len;
}

static void put_text(struct writer *w, const char *text)
{
    put(w, text, strlen(text) + 1);
}

/* Writes the value on top of the stack; a table as a hash. Returns false for a value that cannot be compared. */
static bool put_value(struct survey *x, struct writer *w)
{
    uint64_t hash;
    const char *text;
    size_t len;

    if (lua_type(x->S, -1) == LUA_TSTRING) {
        text = lua_tolstring(x->S, -1, &len);
        put(w, &len, sizeof len);
        put(w, text, len);
        return true;
    }
    hash = hash_value(x, 0);
    put(w, &hash, sizeof hash);
    return !x->trouble;
}

struct keying {
    struct hooks *h;
    const weir_resource *r;
    struct writer w;
};

/* (keying, table of the request): writes the fields of the request and of the job that evaluate has read. */
static int write_fields(lua_State *S)
{
    struct keying *k = lua_touserdata(S, 1);
    struct policy_memory *m = &k->h->policy->memory;

    for (unsigned i = 0; i < m->nfields && !m->refused; i++) {
        struct survey x = {.S = S, .graph = k->h->handle->number};
        const char *name = m->fields[i];
        lua_settop(S, 2);
        if (strncmp(name, "job.", 4) == 0) {
            lua_getfield(S, 2, "job");
            name += 4;
        }
        lua_getfield(S, -1, name);
        put_text(&k->w, m->fields[i]);
        if (!put_value(&x, &k->w))
            forget(m, "it reads the field '%s' of the request", m->fields[i]);
    }
    return 0;
}

/* Writes the fields that evaluate has read. */
static bool put_fields(struct keying *k)
{
    lua_State *S = k->h->L;

    if (k->h->policy->memory.nfields == 0)
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
    return !k->h->policy->memory.refused;
}

size_t weirlua_hook_score_key(void *data, const weir_resource *r, char *key, size_t size)
{
    struct hooks *h = data;
    struct policy_memory *m = &h->policy->memory;
    struct keying k = {h, r, {key, key + size}};

    weirlua_scores_verify(h);
    if (h->failed || m->refused || h->unscored)
        return 0;
    if (!m->fresh && !survey(h, m, &m->state, m->parts))
        return 0;
    m->fresh = true;
    put(&k.w, &h->handle->number, sizeof h->handle->number);
    put(&k.w, &m->state, sizeof m->state);
    return put_fields(&k) && k.w.at <= k.w.end ? (size_t)(k.w.at - key) : 0;
}

/* ---- the score ---- */

/* (scoring, function, table of the request) */
struct scoring {
    struct hooks *h;
    weir_vertex v;
    double *score;
    bool *alike;
};

static int run_score(lua_State *S)
{
    struct scoring *x = lua_touserdata(S, 1);
    const struct hooks *h = x->h;
    int type;

    lua_pushcfunction(S, make_handle);
    lua_insert(S, 3);
    lua_call(S, 1, 1);
    lua_pushvalue(S, 2);
    weirlua_push_vertex(S, h->handle, x->v);
    lua_pushvalue(S, 3);
    lua_call(S, 2 + weirlua_fields_push(S, h->handle, x->v, &h->policy->spec.fields), 2);
    type = lua_type(S, -2);
    *x->score = type == LUA_TNUMBER ? lua_tonumber(S, -2) : (double)NAN;
    if (type != LUA_TNIL && isnan(*x->score))
        luaL_error(S, "it must return a number (the score) or nil (no candidate)");
    *x->alike = lua_isboolean(S, -1) && lua_toboolean(S, -1);
    return 0;
}

/* A call that raised: the match goes on as ever, and raises where the vertex is a candidate; but the end of a budget,
 * of memory too, ends the match. */
static int raised(struct hooks *h, int rc)
{
    struct policy_memory *m = &h->policy->memory;

    if (h->policy->sandbox.exhausted || rc == LUA_ERRMEM) {
        h->failed = weirlua_hook_names[HOOK_EVALUATE];
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

int weirlua_hook_score(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score,
                       bool *alike)
{
    struct hooks *h = data;
    struct policy_memory *m = &h->policy->memory;
    struct sandbox *sb = &h->policy->sandbox;
    struct scoring x = {h, v, score, alike};
    int rc;

    if (h->failed || m->refused || h->unscored)
        return 0;
    weirlua_sandbox_call(sb);
    lua_pushcfunction(h->L, run_score);
    lua_pushlightuserdata(h->L, &x);
    lua_pushvalue(h->L, h->base + HOOK_EVALUATE);
    if (weirlua_hooks_request(h, r)) {
        lua_pop(h->L, 4);
        return 0;
    }
    sb->graph = g;
    sb->memory = m;
    sb->unfollowed = NULL;
    m->scored = true;
    rc = weirlua_hooks_call(h, HOOK_EVALUATE, 3, 0);
    sb->graph = NULL;
    if (rc != LUA_OK)
        return raised(h, rc);
    if (sb->unfollowed || weir_read_trouble(g))
        return forget(m, "it reads %s", sb->unfollowed ? sb->unfollowed : weir_read_trouble(g));
    return 1;
}

/* ---- the mode ---- */

enum scores_mode weirlua_scores_mode(lua_State *L, int options)
{
    static const char *const modes[] = {"remember", "check", "call"};
    const char *env = getenv("WEIR_SCORES"),
               *mode = weirlua_field_string(L, options, "scores", env && env[0] ? env : "remember");

    for (int i = 0; i < 3; i++)
        if (strcmp(mode, modes[i]) == 0)
            return (enum scores_mode)i;
    luaL_error(L, "field 'scores': remember, check or call expected, got '%s'", weirlua_quote(L, mode));
    return SCORES_REMEMBERED;
}

void weirlua_scores_use(enum scores_mode mode, struct hooks *h, weir_match_options *o)
{
    o->check_scores = mode == SCORES_CHECKED;
    if (mode == SCORES_CALLED)
        h->given.score = NULL;
}
