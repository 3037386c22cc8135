/* policy_survey.c - a hash over all values that a function of a policy can reach: the variables outside of the
 * function, what these hold, and the options. Equal hashes mean equal values, so that an answer of the function may be
 * remembered. Invariant: no function here raises, or changes the stack. */
#include "policy/policy.h"

#include <string.h>

#define VALUES_MAX 2000 /* values outside of the function that are compared; with more, nothing is remembered */
#define DEPTH_MAX  32   /* of tables and functions in one another */

/* Tables and functions that were met: */
#define SEEN_FEW   32   /* of these are kept in a list, before a table is made */
#define SEEN_SLOTS 1024 /* of the table */

struct survey {
    lua_State *S;
    uint32_t graph;      /* number of the graph of the match */
    const char *trouble; /* a value that cannot be compared; NULL: none */
    unsigned values, nfew, nmany;
    const void *few[SEEN_FEW];
    const void *many[SEEN_SLOTS]; /* filled with NULL once the list is full */
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

static unsigned met_many(struct survey *x, const void *p)
{
    size_t at = (size_t)((uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SEEN_SLOTS;

    if (x->nmany == 0)
        memset(x->many, 0, sizeof x->many);
    for (; x->many[at]; at = (at + 1) % SEEN_SLOTS)
        if (x->many[at] == p)
            return SEEN_FEW + (unsigned)at + 1;
    if (++x->nmany > SEEN_SLOTS / 2)
        x->trouble = "too many tables and functions outside of the function";
    else
        x->many[at] = p;
    return 0;
}

/* Returns the number of an object that was met before, from 1 on; 0: the object is new, and noted. */
static unsigned met(struct survey *x, const void *p)
{
    for (unsigned i = 0; i < x->nfew; i++)
        if (x->few[i] == p)
            return i + 1;
    if (x->nfew == SEEN_FEW)
        return met_many(x, p);
    x->few[x->nfew++] = p;
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

/* Prepares a survey; the table of objects is filled when needed. */
static void begin(struct survey *x, lua_State *S, uint32_t graph)
{
    x->S = S;
    x->graph = graph;
    x->trouble = NULL;
    x->values = x->nfew = x->nmany = 0;
}

static bool survey_function(struct survey *x, struct policy_survey *q)
{
    lua_State *S = q->S;
    int top = lua_gettop(S);
    const char *name;

    q->state = 0;
    memset(q->parts, 0, sizeof q->parts);
    for (int i = 1; !x->trouble && (name = lua_getupvalue(S, q->function, i)); i++, lua_pop(S, 1)) {
        uint64_t hash = hash_value(x, 0);
        q->state = mix(q->state, hash);
        if (i <= MEMORY_PARTS)
            q->parts[i - 1] = hash;
        if (x->trouble)
            snprintf(q->why, sizeof q->why, "its variable '%s' holds %s", name, x->trouble);
    }
    if (!x->trouble) {
        lua_pushvalue(S, q->options);
        q->state = mix(q->state, hash_value(x, 0));
    }
    lua_settop(S, top); /* after trouble, keys and values of tables are left */
    return !x->trouble;
}

bool weirlua_survey(struct policy_survey *q, int n)
{
    struct survey x;

    begin(&x, q->S, q->graph);
    for (int i = 0; i < n; i++)
        if (q[i].function && !survey_function(&x, &q[i])) {
            if (i > 0)
                memcpy(q->why, q[i].why, sizeof q->why);
            return false;
        }
    return true;
}

bool weirlua_survey_value(lua_State *S, uint32_t graph, uint64_t *hash)
{
    struct survey x;
    int top = lua_gettop(S);

    begin(&x, S, graph);
    *hash = hash_value(&x, 0);
    lua_settop(S, top);
    return !x.trouble;
}
