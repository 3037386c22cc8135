/* sandbox_order.c - removes differences between runs of a policy: fixes the order of pairs, hides addresses in texts,
 * and reseeds random numbers in each match. Invariant: no value visible to a policy depends on an address or on the
 * seed of Lua's hash tables. */
#include "handle/support.h"
#include "policy/charge.h"
#include "policy/policy.h"

#include <string.h>

/* ---- pairs ---- */

/* The sort key of a table's key: false before true, then numbers, texts, vertices by index. */
struct sort_key {
    int type;
    lua_Number number; /* booleans, numbers, vertices */
    const char *text;
    size_t len;
    lua_Integer at; /* position in the list of keys, from 1 */
};

static int by_key(const struct sort_key *x, const struct sort_key *y)
{
    size_t n = x->len < y->len ? x->len : y->len;
    int order;

    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->number < y->number || x->number > y->number)
        return x->number < y->number ? -1 : 1;
    order = n ? memcmp(x->text, y->text, n) : 0;
    if (order != 0 || x->len != y->len)
        return order != 0 ? order : x->len < y->len ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static struct sort_key read_key(lua_State *S, int idx, lua_Integer at)
{
    struct sort_key k = {.type = lua_type(S, idx), .text = "", .at = at};

    switch (k.type) {
    case LUA_TBOOLEAN: k.number = lua_toboolean(S, idx); break;
    case LUA_TNUMBER: k.number = lua_tonumber(S, idx); break;
    case LUA_TSTRING: k.text = lua_tolstring(S, idx, &k.len); break;
    case LUA_TLIGHTUSERDATA: k.number = (lua_Number)((uintptr_t)lua_touserdata(S, idx) & UINT32_MAX); break;
    default: luaL_error(S, "pairs: keys of type %s have no fixed order; use an array", luaL_typename(S, idx));
    }
    return k;
}

/* Merges [lo, mid) and [mid, hi). Charged in steps, since no count hook runs in C. */
static void merge(lua_State *S, const struct sort_key *from, struct sort_key *to, size_t lo, size_t mid, size_t hi)
{
    size_t i = lo, k = mid;

    for (size_t n = lo; n < hi; n++) {
        bool right = i == mid || (k < hi && by_key(&from[k], &from[i]) < 0);
        to[n] = right ? from[k++] : from[i++];
        if ((n - lo) % 256 == 255 || to[n].len > 256)
            weirlua_sandbox_spend(S, (int64_t)(to[n].len / 16) + 2048);
    }
    weirlua_sandbox_spend(S, (int64_t)(hi - lo) % 256 * 8);
}

/* Sorts n keys, using the n places behind. Returns the address of the sorted keys. */
static struct sort_key *sort(lua_State *S, struct sort_key *keys, size_t n)
{
    struct sort_key *from = keys, *to = keys + n;

    for (size_t width = 1; width < n; width *= 2) {
        struct sort_key *other = from;
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = n - lo < width ? n : lo + width, hi = n - mid < width ? n : mid + width;
            merge(S, from, to, lo, mid, hi);
        }
        from = to;
        to = other;
    }
    return from;
}

/* Pushes the keys of the table at 1 as a sorted list. */
static void push_sorted(lua_State *S)
{
    int list = lua_gettop(S) + 1;
    struct sort_key *keys;
    lua_Integer n = 0;
    int64_t begin = weirlua_clock();

    lua_newtable(S);
    for (lua_pushnil(S); lua_next(S, 1); lua_pop(S, 1)) {
        lua_pushvalue(S, -2);
        lua_rawseti(S, list, ++n);
    }
    weirlua_sandbox_spend(S, weirlua_clock() - begin); /* places of a table that were emptied take time too */
    keys = lua_newuserdatauv(S, 2 * (size_t)(n + 1) * sizeof *keys, 0);
    for (lua_Integer i = 0; i < n; i++, lua_pop(S, 1)) {
        lua_rawgeti(S, list, i + 1);
        keys[i] = read_key(S, -1, i + 1);
    }
    keys = sort(S, keys, (size_t)n);
    lua_createtable(S, (int)n, 0);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(S, list, keys[i].at);
        lua_rawseti(S, -2, i + 1);
    }
    lua_replace(S, list);
    lua_settop(S, list);
    weirlua_sandbox_spend(S, n * 16 + (lua_Integer)lua_rawlen(S, 1) / 4);
}

/* The iterator of pairs. Upvalues: the table, the sorted keys, the position. Skips keys set to nil during the loop. */
static int step(lua_State *S)
{
    lua_Integer i = lua_tointeger(S, lua_upvalueindex(3));

    for (;;) {
        lua_pushinteger(S, ++i);
        lua_copy(S, -1, lua_upvalueindex(3));
        lua_pop(S, 1);
        if (lua_rawgeti(S, lua_upvalueindex(2), i) == LUA_TNIL)
            return 1;
        lua_pushvalue(S, -1);
        if (lua_rawget(S, lua_upvalueindex(1)) != LUA_TNIL)
            return 2;
        lua_settop(S, 0);
    }
}

/* pairs(t): in the order of the keys. Upvalue 1: the original, for tables with __pairs. */
int weirlua_sandbox_pairs(lua_State *S)
{
    luaL_checkany(S, 1);
    if (luaL_getmetafield(S, 1, "__pairs") != LUA_TNIL) {
        lua_settop(S, 1);
        lua_pushvalue(S, lua_upvalueindex(1));
        lua_insert(S, 1);
        lua_call(S, 1, 3);
        return 3;
    }
    luaL_checktype(S, 1, LUA_TTABLE); /* the original would return the original `next`, with an undefined order */
    lua_settop(S, 1);
    push_sorted(S);
    lua_pushinteger(S, 0);
    lua_pushcclosure(S, step, 3);
    return 1;
}

/* next(t): the first key and the value; nil for an empty table. */
int weirlua_sandbox_next(lua_State *S)
{
    struct sort_key first = {0};
    lua_Integer n = 0;
    int64_t begin = weirlua_clock();

    if (!lua_isnoneornil(S, 2))
        return luaL_error(S, "next(t, key) has no fixed order here; use pairs(t)");
    lua_settop(S, 1);
    if (lua_type(S, 1) != LUA_TTABLE && luaL_getmetafield(S, 1, "__pairs") != LUA_TNIL) { /* properties of a vertex */
        lua_insert(S, 1);
        lua_call(S, 1, 3);
        lua_call(S, 2, 2);
        return 2;
    }
    luaL_checktype(S, 1, LUA_TTABLE);
    if (!weirlua_request_bare(S, 1))
        weirlua_frozen_bare(S, 1);
    lua_pushnil(S); /* the first key so far */
    for (lua_pushnil(S); lua_next(S, 1); lua_pop(S, 1)) {
        struct sort_key k = {0};
        n++;
        lua_pushvalue(S, -2);
        k = read_key(S, -1, n);
        if (n == 1 || by_key(&k, &first) < 0) {
            first = k;
            lua_copy(S, -1, 2);
        }
        lua_pop(S, 1);
    }
    weirlua_sandbox_spend(S, weirlua_clock() - begin);
    if (n == 0)
        return 1;
    lua_pushvalue(S, 2);
    lua_rawget(S, 1);
    return 2;
}

/* ---- texts ---- */

int weirlua_sandbox_tostring(lua_State *S)
{
    luaL_checkany(S, 1);
    weirlua_show(S, 1);
    return 1;
}

void weirlua_sandbox_hide(lua_State *S)
{
    size_t len;
    const char *at = luaL_checklstring(S, 1, &len), *end = at + len;

    while ((at = memchr(at, '%', (size_t)(end - at))) != NULL) {
        at++;
        at += strspn(at, "-+ #0123456789.");
        if (at < end && *at == 'p')
            luaL_error(S, "string.format: a policy has no addresses (%%p)");
        at += at < end;
    }
    for (int i = 2; i <= lua_gettop(S); i++)
        weirlua_hide_address(S, i);
}

/* ---- random numbers: equal in every match ---- */

/* random, seeded at the first call of a turn. Upvalues: the original, randomseed. */
int weirlua_sandbox_random(lua_State *S)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    sb->unfollowed = "math.random()";
    if (sb->seeded != sb->turn) {
        sb->seeded = sb->turn;
        lua_pushvalue(S, lua_upvalueindex(2));
        lua_pushinteger(S, 1);
        lua_call(S, 1, 0);
    }
    lua_pushvalue(S, lua_upvalueindex(1));
    lua_insert(S, 1);
    lua_call(S, lua_gettop(S) - 1, LUA_MULTRET);
    return lua_gettop(S);
}
