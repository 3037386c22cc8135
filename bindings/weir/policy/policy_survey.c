/* policy_survey.c - a digest of all values that a function of a policy can reach: the variables outside of the
 * function, what these hold, and the options. The digest has 128 bits and a random key, so that equal digests mean
 * equal values, and an answer of the function may be remembered. Invariant: no function here raises, or changes the
 * stack. */
#include "handle/graph.h"
#include "policy/policy.h"

#include <string.h>

#define VALUES_MAX 2000 /* values outside of the function that are compared; with more, nothing is remembered */
#define DEPTH_MAX  32   /* nesting of tables and functions */

/* Tables and functions that were met: */
#define SEEN_FEW   32   /* of these are kept in a list, before a table is made */
#define SEEN_SLOTS 1024 /* of the table */

struct survey {
    lua_State *S;
    uint32_t graph;      /* number of the graph of the match */
    const char *trouble; /* a value that cannot be compared; NULL: none */
    struct siphash digest;
    unsigned values, nfew, nmany;
    const void *few[SEEN_FEW];
    const void *many[SEEN_SLOTS]; /* filled with NULL once the list is full */
};

static void add(struct survey *x, uint64_t word)
{
    siphash_add(&x->digest, word);
}

static void add_string(struct survey *x, const char *s, size_t len)
{
    uint64_t word;

    add(x, len);
    for (; len >= sizeof word; s += sizeof word, len -= sizeof word) {
        memcpy(&word, s, sizeof word);
        add(x, word);
    }
    word = 0;
    memcpy(&word, s, len);
    add(x, word);
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

/* The tag in front of a value in the digest, as a kind of the value. */
enum {
    KIND_NIL = 1,
    KIND_FALSE,
    KIND_TRUE,
    KIND_INTEGER,
    KIND_FLOAT,
    KIND_STRING,
    KIND_VERTEX,
    KIND_GRAPH,
    KIND_MET,
    KIND_TABLE,
    KIND_META,
    KIND_FUNCTION,
    KIND_LIBRARY,
    KIND_FROZEN,
    KIND_OBJECT,
    KIND_END
};

static void add_value(struct survey *x, int depth);

/* Adds the table on top of the stack to the digest: the entries in the table's own order. A table that was changed and
 * changed back may have a new order, and then counts as changed. */
static void add_table(struct survey *x, int depth)
{
    lua_State *S = x->S;

    add(x, KIND_TABLE);
    for (lua_pushnil(S); lua_next(S, -2) && !x->trouble; lua_pop(S, 1)) {
        lua_pushvalue(S, -2);
        if (lua_type(S, -1) == LUA_TTABLE || lua_type(S, -1) == LUA_TFUNCTION) {
            add(x, KIND_OBJECT);
            add(x, (uintptr_t)lua_topointer(S, -1));
        } else {
            add_value(x, depth + 1);
        }
        lua_pop(S, 1);
        add_value(x, depth + 1);
    }
    if (x->trouble)
        return;
    add(x, KIND_END);
    if (lua_getmetatable(S, -1)) {
        add(x, KIND_META);
        add_value(x, depth + 1);
        lua_pop(S, 1);
    }
}

/* Adds the function of the library on top of the stack: behind it are constants, or the position of an iterator. */
static void add_library(struct survey *x, int depth)
{
    lua_State *S = x->S;

    add(x, KIND_LIBRARY);
    add(x, (uintptr_t)lua_topointer(S, -1));
    for (int i = 1; lua_getupvalue(S, -1, i); i++, lua_pop(S, 1))
        if (lua_type(S, -1) == LUA_TNUMBER)
            add_value(x, depth + 1);
        else
            add(x, (uintptr_t)lua_topointer(S, -1));
    add(x, KIND_END);
}

/* Adds the function on top of the stack. */
static void add_function(struct survey *x, int depth)
{
    lua_State *S = x->S;
    lua_Debug ar;

    lua_pushvalue(S, -1);
    lua_getinfo(S, ">S", &ar);
    add(x, KIND_FUNCTION);
    add(x, (uintptr_t)lua_topointer(S, -1));
    add(x, (uint64_t)ar.linedefined << 32 | (unsigned)ar.lastlinedefined);
    for (int i = 1; !x->trouble && lua_getupvalue(S, -1, i); i++, lua_pop(S, 1))
        add_value(x, depth + 1);
    add(x, KIND_END);
}

static void add_number(struct survey *x)
{
    lua_Number n = lua_tonumber(x->S, -1);
    uint64_t bits;

    memcpy(&bits, &n, sizeof bits);
    add(x, lua_isinteger(x->S, -1) ? KIND_INTEGER : KIND_FLOAT);
    add(x, lua_isinteger(x->S, -1) ? (uint64_t)lua_tointeger(x->S, -1) : bits);
}

/* Adds a vertex: content of other graphs is not followed. */
static void add_vertex(struct survey *x)
{
    uint64_t bits = (uintptr_t)lua_touserdata(x->S, -1);

    if (bits >> 32 && (bits >> 32 & WEIRLUA_NUMBER_MAX) != x->graph)
        x->trouble = "a vertex of another graph";
    add(x, KIND_VERTEX);
    add(x, bits);
}

/* Adds a userdata: only the graph of the match is plain data. */
static void add_userdata(struct survey *x)
{
    const struct weirlua_graph *graph = luaL_testudata(x->S, -1, WEIRLUA_GRAPH);

    if (!graph || graph->number != x->graph)
        x->trouble = "a value that is no plain data";
    add(x, KIND_GRAPH);
}

/* Adds a table or a function to the digest; a table or function met before counts as the number of the first meeting.
 * */
static void add_object(struct survey *x, int depth)
{
    lua_State *S = x->S;
    unsigned before;

    if (lua_iscfunction(S, -1)) {
        add_library(x, depth);
        return;
    }
    if (lua_istable(S, -1) && weirlua_frozen_lasting(S, -1)) { /* globals and libraries */
        add(x, KIND_FROZEN);
        add(x, (uintptr_t)lua_topointer(S, -1));
        return;
    }
    before = met(x, lua_topointer(S, -1));
    if (before) {
        add(x, KIND_MET);
        add(x, before);
    } else if (lua_istable(S, -1)) {
        add_table(x, depth);
    } else {
        add_function(x, depth);
    }
}

/* Adds the value on top of the stack. */
static void add_value(struct survey *x, int depth)
{
    lua_State *S = x->S;
    const char *text;
    size_t len;

    if (++x->values > VALUES_MAX)
        x->trouble = "more than 2000 values outside of the function";
    if (depth > DEPTH_MAX || !lua_checkstack(S, 8))
        x->trouble = "tables in tables, deeper than 32";
    if (x->trouble)
        return;
    switch (lua_type(S, -1)) {
    case LUA_TNIL: add(x, KIND_NIL); break;
    case LUA_TBOOLEAN: add(x, lua_toboolean(S, -1) ? KIND_TRUE : KIND_FALSE); break;
    case LUA_TNUMBER: add_number(x); break;
    case LUA_TSTRING:
        text = lua_tolstring(S, -1, &len);
        add(x, KIND_STRING);
        add_string(x, text, len);
        break;
    case LUA_TLIGHTUSERDATA: add_vertex(x); break;
    case LUA_TUSERDATA: add_userdata(x); break;
    case LUA_TTABLE:
    case LUA_TFUNCTION: add_object(x, depth); break;
    default: x->trouble = "a coroutine";
    }
}

/* Prepares a survey; the table of objects is filled when needed. */
static void begin(struct survey *x, lua_State *S, uint32_t graph)
{
    x->S = S;
    x->graph = graph;
    x->trouble = NULL;
    x->values = x->nfew = x->nmany = 0;
    siphash_begin(&x->digest, weirlua_sandbox_of(S)->digests);
}

static bool survey_function(struct survey *x, struct policy_survey *q)
{
    lua_State *S = q->S;
    int top = lua_gettop(S);
    const char *name;

    memset(q->parts, 0, sizeof q->parts);
    for (int i = 1; !x->trouble && (name = lua_getupvalue(S, q->function, i)); i++, lua_pop(S, 1)) {
        add_value(x, 0);
        if (i <= MEMORY_PARTS)
            q->parts[i - 1] = siphash_end(&x->digest).a;
        if (x->trouble)
            snprintf(q->why, sizeof q->why, "its variable '%s' holds %s", name, x->trouble);
    }
    if (!x->trouble) {
        lua_pushvalue(S, q->options);
        add_value(x, 0);
    }
    q->state = siphash_end(&x->digest);
    lua_settop(S, top); /* after trouble, keys and values of tables are left */
    return !x->trouble;
}

bool weirlua_survey(struct policy_survey *q, int n)
{
    struct survey x;

    begin(&x, q->S, q->graph);
    for (int i = 0; i < n; i++) {
        q[i].state = siphash_end(&x.digest);
        if (q[i].function && !survey_function(&x, &q[i])) {
            if (i > 0)
                memcpy(q->why, q[i].why, sizeof q->why);
            return false;
        }
    }
    return true;
}

bool weirlua_survey_value(lua_State *S, uint32_t graph, struct digest *out)
{
    struct survey x;
    int top = lua_gettop(S);

    begin(&x, S, graph);
    add_value(&x, 0);
    *out = siphash_end(&x.digest);
    lua_settop(S, top);
    return !x.trouble;
}
