/* policy_state.c - the state that a policy keeps: plain data declared by the policy, such as state = {next = 0}, and
 * changed by the hooks `placed` and `finished` alone. The state is a JSON text in the extended data of the graph's
 * first root without a rank, under "weir.policy.NAME" or, for a policy with an origin, "weir.policy.NAME@HASH" with the
 * hash of the origin: so the state belongs to the graph, is saved and copied with the graph, and outlives the policy.
 * Invariant: the text is replaced as a whole, and by `placed` only together with the job for which it was called. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/policy.h"
#include "system/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_MAX  16384                  /* bytes of the text */
#define QUEUE_MAX  (SANDBOX_TEXT_MAX / 2) /* of that of a queue policy, which may keep a number for each user */
#define STATE_DEEP 16                     /* tables in one another */
#define KEY        "weir.policy."

/* ---- the text ---- */

uint64_t weirlua_policy_hash(const char *text, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The first root without a rank, as targets may leave the graph; else the first root. */
static weir_vertex root_of(const weir_graph *g)
{
    uint32_t at = 0;
    weir_vertex first = weir_graph_next_root(g, NULL, &at), v = first;

    while (v != WEIR_NONE && weir_vertex_rank(g, v) != WEIR_NO_RANK)
        v = weir_graph_next_root(g, NULL, &at);
    return v == WEIR_NONE ? first : v;
}

/* Returns the saved text; NULL for none. */
static const char *saved_text(const weir_graph *g, const struct policy_spec *spec)
{
    weir_vertex root = root_of(g);
    return root == WEIR_NONE ? NULL : weir_vertex_get(g, root, WEIR_EXTENDED, spec->state_key);
}

int weirlua_state_put(struct state_change *c, weir_graph *g, const struct policy_spec *spec, const char *text,
                      weir_err *err)
{
    int rc;

    *c = (struct state_change){.root = root_of(g), .key = spec->state_key, .before = saved_text(g, spec)};
    if (c->before && strcmp(c->before, text) == 0)
        return WEIR_OK;
    rc = weir_vertex_set(g, c->root, WEIR_EXTENDED, c->key, text, err);
    c->changed = !rc;
    return rc;
}

void weirlua_state_back(struct state_change *c, weir_graph *g)
{
    if (c->changed && c->before)
        weir_vertex_set(g, c->root, WEIR_EXTENDED, c->key, c->before, NULL); /* known texts: no memory is needed */
    else if (c->changed)
        weir_vertex_unset(g, c->root, WEIR_EXTENDED, c->key);
    c->changed = false;
}

/* ---- values ---- */

/* Removes the metatables that mark arrays from the table on top and all tables inside. */
static void make_plain(lua_State *S)
{
    luaL_checkstack(S, 4, "a state");
    lua_pushnil(S);
    lua_setmetatable(S, -2);
    for (lua_pushnil(S); lua_next(S, -2); lua_pop(S, 1))
        if (lua_istable(S, -1))
            make_plain(S);
}

/* Pushes the table of a JSON text; an empty table for anything else. */
static void push_table(lua_State *S, const char *text)
{
    int top = lua_gettop(S);

    if (text && weirlua_json_read(S, text, strlen(text)) == 1 && lua_istable(S, -1)) {
        make_plain(S);
        return;
    }
    lua_settop(S, top);
    lua_newtable(S);
}

/* ---- the last state, as a table ----
 *
 * A state is read once or twice a match, and a JSON text costs as much as the match: the last state that was read or
 * written is kept, in the registry, with the texts that the table was made of. Invariant: no code of a policy ever gets
 * a table of the cache, only copies. */

static const char cache_key = 0;
enum { CACHE_SAVED = 1, CACHE_DECLARED, CACHE_STATE, CACHE_FIRST }; /* two texts, and the tables */

static void push_cache(lua_State *S)
{
    if (lua_rawgetp(S, LUA_REGISTRYINDEX, &cache_key) == LUA_TTABLE)
        return;
    lua_pop(S, 1);
    lua_createtable(S, CACHE_FIRST, 0);
    lua_pushvalue(S, -1);
    lua_rawsetp(S, LUA_REGISTRYINDEX, &cache_key);
}

/* Whether entry i of the cache on top is a text equal to `text`. */
static bool is_cached(lua_State *S, int i, const char *text)
{
    bool same = lua_rawgeti(S, -1, i) == LUA_TSTRING && strcmp(lua_tostring(S, -1), text) == 0;

    lua_pop(S, 1);
    return same;
}

/* Pushes a copy of the table at idx, and of all tables inside. */
static void push_copy(lua_State *S, int idx)
{
    luaL_checkstack(S, 6, "a state");
    idx = lua_absindex(S, idx);
    lua_newtable(S);
    for (lua_pushnil(S); lua_next(S, idx); lua_pop(S, 1)) {
        lua_pushvalue(S, -2);
        if (lua_istable(S, -2))
            push_copy(S, -2);
        else
            lua_pushvalue(S, -2);
        lua_rawset(S, -5);
    }
}

/* Gives a state the declared fields that it lacks. */
static void complete(lua_State *S, int state, int declared)
{
    for (lua_pushnil(S); lua_next(S, declared); lua_pop(S, 1)) {
        int type;
        lua_pushvalue(S, -2);
        type = lua_rawget(S, state);
        lua_pop(S, 1);
        if (type != LUA_TNIL)
            continue;
        lua_pushvalue(S, -2);
        if (lua_istable(S, -2))
            push_copy(S, -2);
        else
            lua_pushvalue(S, -2);
        lua_rawset(S, state);
    }
}

/* Keeps a copy of the state at the top of the stack, made of a saved text. */
static void cache_state(lua_State *S, const struct policy_spec *spec, const char *saved)
{
    int state = lua_gettop(S);

    push_cache(S);
    lua_pushnil(S);
    lua_rawseti(S, -2, CACHE_SAVED); /* until all is there */
    if (!is_cached(S, CACHE_DECLARED, spec->state)) {
        push_table(S, spec->state);
        lua_rawseti(S, -2, CACHE_FIRST);
        lua_pushstring(S, spec->state);
        lua_rawseti(S, -2, CACHE_DECLARED);
    }
    push_copy(S, state);
    lua_rawseti(S, -2, CACHE_STATE);
    lua_pushstring(S, saved);
    lua_rawseti(S, -2, CACHE_SAVED);
    lua_settop(S, state);
}

/* Pushes the table of the state as declared, not to be changed. */
static void push_declared(lua_State *S, const struct policy_spec *spec)
{
    push_cache(S);
    if (is_cached(S, CACHE_DECLARED, spec->state))
        lua_rawgeti(S, -1, CACHE_FIRST);
    else
        push_table(S, spec->state);
    lua_remove(S, -2);
}

/* Pushes the state: the declared fields, with the saved values of the declared types. */
static void push_merged(lua_State *S, const char *text, const struct policy_spec *spec)
{
    int declared, saved;

    push_table(S, spec->state);
    declared = lua_gettop(S);
    push_table(S, text);
    saved = lua_gettop(S);
    for (lua_pushnil(S); lua_next(S, declared); lua_pop(S, 1)) {
        lua_pushvalue(S, -2);
        if (lua_rawget(S, saved) == lua_type(S, -2)) {
            lua_pushvalue(S, -3);
            lua_insert(S, -2);
            lua_rawset(S, declared); /* of an existing key: the loop continues */
        } else {
            lua_pop(S, 1);
        }
    }
    lua_settop(S, declared);
}

void weirlua_state_push(lua_State *S, const weir_graph *g, const struct policy_spec *spec)
{
    const char *saved = saved_text(g, spec);

    luaL_checkstack(S, 8, "a state");
    saved = saved ? saved : "";
    push_cache(S);
    if (is_cached(S, CACHE_SAVED, saved) && is_cached(S, CACHE_DECLARED, spec->state)) {
        lua_rawgeti(S, -1, CACHE_STATE);
        push_copy(S, -1);
        lua_replace(S, -3);
        lua_pop(S, 1);
        return;
    }
    lua_pop(S, 1);
    push_merged(S, saved, spec);
    cache_state(S, spec, saved);
}

/* ---- a state that can only be read ---- */

static int refuse_change(lua_State *S)
{
    return luaL_error(S, "a state can be changed by the hooks 'placed' and 'finished' only");
}

/* Replaces the table on top, and all tables inside, by tables through which the values can be read. */
static void freeze(lua_State *S)
{
    int data = lua_gettop(S);

    luaL_checkstack(S, 8, "a state");
    for (lua_pushnil(S); lua_next(S, data); lua_pop(S, 1))
        if (lua_istable(S, -1)) {
            freeze(S);
            lua_pushvalue(S, -2);
            lua_pushvalue(S, -2);
            lua_rawset(S, data);
        }
    weirlua_freeze(S, refuse_change, weirlua_state(S, NULL)->readonly ? FREEZE_SORTED : 0);
}

void weirlua_state_push_frozen(lua_State *S, const weir_graph *g, const struct policy_spec *spec)
{
    weirlua_state_push(S, g, spec);
    freeze(S);
}

/* ---- checks ---- */

/* Raises unless the value on top is plain data: `path` names the value. */
static void check_plain(lua_State *S, const char *path, int deep)
{
    int type = lua_type(S, -1);

    if (type == LUA_TBOOLEAN || type == LUA_TSTRING || type == LUA_TNUMBER)
        return; /* numbers and texts unknown to JSON are refused by the writer */
    if (type != LUA_TTABLE)
        luaL_error(S, "%s: a state has booleans, numbers, texts and tables of these, not a %s", path,
                   luaL_typename(S, -1));
    if (deep == 0)
        luaL_error(S, "%s: a state has at most %d tables in one another", path, STATE_DEEP);
    luaL_checkstack(S, 6, "a state");
    for (lua_pushnil(S); lua_next(S, -2); lua_pop(S, 1)) {
        if (lua_type(S, -2) != LUA_TSTRING && !lua_isinteger(S, -2))
            luaL_error(S, "%s: the keys of a state are texts, or the numbers of a list", path);
        if (lua_isinteger(S, -2) && (lua_tointeger(S, -2) < 1 || lua_tointeger(S, -2) > (lua_Integer)lua_rawlen(S, -3)))
            luaL_error(S, "%s: the key %I is a number, and the table is no list; tostring(%I) can be kept", path,
                       (LUAI_UACINT)lua_tointeger(S, -2), (LUAI_UACINT)lua_tointeger(S, -2));
        check_plain(S, path, deep - 1);
    }
}

/* Pushes the JSON text of the state at `state`, with the fields of the table at `declared` only, of at most `max`
 * bytes. */
static const char *push_text(lua_State *S, int state, int declared, int max)
{
    size_t len;
    const char *text;

    for (lua_pushnil(S); lua_next(S, state); lua_pop(S, 1)) {
        const char *key = lua_type(S, -2) == LUA_TSTRING ? lua_tostring(S, -2) : luaL_typename(S, -2);
        lua_pushvalue(S, -2);
        if (lua_rawget(S, declared) == LUA_TNIL)
            luaL_error(S, "the state has no field '%s'%s: fields are declared by the policy's `state`",
                       weirlua_quote(S, key), weirlua_hint_of_keys(S, key, declared));
        if (lua_type(S, -1) != lua_type(S, -2))
            luaL_error(S, "field '%s' of the state: %s expected, as declared, got %s", key, luaL_typename(S, -1),
                       luaL_typename(S, -2));
        lua_pop(S, 1);
        check_plain(S, key, STATE_DEEP);
    }
    weirlua_json_write(S, state, true, 0);
    text = lua_tolstring(S, -1, &len);
    if (len > (size_t)max)
        luaL_error(S, "the state has %d bytes as JSON; at most %d are possible", (int)len, max);
    return text;
}

static void check_declared(lua_State *S, int state)
{
    if (lua_type(S, state) != LUA_TTABLE)
        luaL_error(S, "table expected, got %s", luaL_typename(S, state));
    for (lua_pushnil(S); lua_next(S, state); lua_pop(S, 1))
        if (lua_type(S, -2) != LUA_TSTRING)
            luaL_error(S, "expected names of fields, such as {next = 0}");
}

const char *weirlua_state_declared(lua_State *S, int state)
{
    check_declared(S, state);
    return push_text(S, state, state, STATE_MAX);
}

int weirlua_state_encode(lua_State *S)
{
    lua_settop(S, 2);
    check_declared(S, 2);
    push_text(S, 1, 2, QUEUE_MAX);
    return 1;
}

int weirlua_state_decode(lua_State *S)
{
    const char *text = luaL_checkstring(S, 1);

    push_table(S, text);
    return 1;
}

const char *weirlua_state_push_key(lua_State *S, const char *name, const char *origin)
{
    char hash[24];

    if (!origin)
        return lua_pushfstring(S, "%s%s", KEY, name);
    snprintf(hash, sizeof hash, "@%016" PRIx64, weirlua_policy_hash(origin, strlen(origin)));
    return lua_pushfstring(S, "%s%s%s", KEY, name, hash);
}

/* ---- the hook ---- */

int weirlua_placed(lua_State *S)
{
    struct placing *p = lua_touserdata(S, 1);
    const char *text;
    int state;

    weirlua_state_push(S, p->handle->g, p->spec);
    state = lua_gettop(S);
    lua_pushvalue(S, 2);
    weirlua_job_of_requests(S, 3, 4, p->job);
    lua_pushvalue(S, state);
    lua_createtable(S, (int)p->a->npicks, 0);
    for (uint32_t i = 0; i < p->a->npicks; i++) {
        weirlua_push_vertex(S, p->handle, p->a->picks[i].vertex);
        lua_rawseti(S, -2, (lua_Integer)i + 1);
    }
    lua_pushvalue(S, 5);
    lua_call(S, 4, 0);
    push_declared(S, p->spec);
    text = push_text(S, state, lua_gettop(S), STATE_MAX);
    p->text = strdup(text);
    if (!p->text)
        return luaL_error(S, "out of memory");
    lua_settop(S, state);
    push_declared(S, p->spec);
    complete(S, state, state + 1);
    lua_settop(S, state);
    cache_state(S, p->spec, p->text);
    return 0;
}
