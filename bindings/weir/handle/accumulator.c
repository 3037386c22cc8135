/* accumulator.c - g:accumulator(best): vertices with scores, best first (RFC 4), for filters that add vertices
 * in addition to the vertex of the call. Invariant: the vertices belong to the structure of the graph at the time when
 * the accumulator was made; after a change of structure the methods raise, as a number may mean a new vertex. */
#include "handle/accumulator.h"
#include "handle/vertex.h"
#include "policy/charge.h"

#define ACCUMULATOR "weir.accumulator"
#define ENTRY       64 /* bytes of an entry, with the spare capacity of the array */
#define ADD         12 /* steps of an addition */
#define SORT        24 /* steps of an entry that is sorted or listed */

/* User value 1 is the graph. */
struct accumulator {
    weir_accum *accum; /* NULL: closed */
    uint32_t number;   /* of the graph */
    uint64_t serial;   /* of the graph when the accumulator was made */
    size_t charged;    /* bytes that a script was charged */
    bool sorted;
};

/* Returns the accumulator at 1 and its graph. Raises where the accumulator or the graph is closed, or has changed. */
static struct accumulator *check(lua_State *L, struct weirlua_graph **handle)
{
    struct accumulator *own = luaL_checkudata(L, 1, ACCUMULATOR);

    luaL_argcheck(L, own->accum, 1, "the accumulator is closed");
    *handle = weirlua_graph_find(weirlua_of(L), own->number);
    if (!*handle)
        luaL_error(L, "the graph of the accumulator is closed");
    if (weir_graph_serial((*handle)->g) != own->serial)
        luaL_error(L, "the graph of the accumulator changed: vertices or edges were added or removed");
    return own;
}

static void charge(lua_State *L, struct accumulator *own)
{
    size_t bytes = (weir_accum_count(own->accum) + 1) * ENTRY;

    if (!weirlua_of(L)->readonly)
        return;
    weirlua_sandbox_spend(L, ADD);
    if (bytes <= own->charged)
        return;
    weirlua_sandbox_take(L, bytes - own->charged);
    own->charged = bytes;
}

static int add(lua_State *L)
{
    struct weirlua_graph *handle;
    struct accumulator *own = check(L, &handle);
    weir_vertex v = weirlua_check_vertex_of(L, weirlua_of(L), 2, handle);
    int rc = weir_accum_add(own->accum, v, luaL_checknumber(L, 3));

    luaL_argcheck(L, rc != WEIR_EINVAL, 3, "a score that is a number expected, got NaN");
    if (rc)
        return luaL_error(L, "out of memory");
    own->sorted = false;
    charge(L, own);
    lua_settop(L, 1);
    return 1;
}

/* Charges a script for the sort that follows additions, and for the entries listed. */
static void spend(lua_State *L, struct accumulator *own, bool all)
{
    if (!own->sorted || all)
        weirlua_spend(L, weirlua_of(L), (int64_t)weir_accum_count(own->accum) * SORT);
    own->sorted = true;
}

static int get(lua_State *L)
{
    struct weirlua_graph *handle;
    struct accumulator *own = check(L, &handle);
    lua_Integer i = luaL_checkinteger(L, 2);
    double score;
    weir_vertex v;

    spend(L, own, false);
    v = i < 1 ? WEIR_NONE : weir_accum_get(own->accum, (size_t)i - 1, &score);
    if (v == WEIR_NONE)
        return 0;
    weirlua_push_vertex(L, handle, v);
    lua_pushnumber(L, score);
    return 2;
}

static int list(lua_State *L)
{
    struct weirlua_graph *handle;
    struct accumulator *own = check(L, &handle);

    spend(L, own, true);
    weirlua_push_scores(L, own->number, own->accum);
    return 1;
}

static int len(lua_State *L)
{
    struct weirlua_graph *handle;

    lua_pushinteger(L, (lua_Integer)weir_accum_count(check(L, &handle)->accum));
    return 1;
}

static int accumulator_gc(lua_State *L)
{
    struct accumulator *own = luaL_checkudata(L, 1, ACCUMULATOR);

    weir_accum_free(own->accum);
    own->accum = NULL;
    if (own->charged)
        weirlua_sandbox_give(L, own->charged);
    own->charged = 0;
    return 0;
}

static int accumulator_tostring(lua_State *L)
{
    struct accumulator *own = luaL_checkudata(L, 1, ACCUMULATOR);

    if (own->accum)
        lua_pushfstring(L, "accumulator of %I vertices", (LUAI_UACINT)weir_accum_count(own->accum));
    else
        lua_pushliteral(L, "accumulator (closed)");
    return 1;
}

/* accumulator([best]) */
int weirlua_graph_accumulator(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    lua_Integer best = luaL_optinteger(L, 2, 0);
    struct accumulator *own;

    luaL_argcheck(L, best > 0 || lua_isnoneornil(L, 2), 2, "a count above 0 expected");
    own = lua_newuserdatauv(L, sizeof *own, 1);
    *own = (struct accumulator){.number = handle->number, .serial = weir_graph_serial(handle->g)};
    luaL_setmetatable(L, ACCUMULATOR);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    own->accum = weir_accum_new((size_t)best);
    if (!own->accum)
        return luaL_error(L, "out of memory");
    charge(L, own);
    return 1;
}

/* @class accumulator Vertices with scores, in descending order of scores; of equal scores the first one added comes
 * first. #a is their number. Of the graph as it is: when vertices or edges are added or removed the methods raise.
 * @method add(v: vertex, score: number): accumulator -- Adds a vertex, the same vertex perhaps again.
 * @method get(i: integer): vertex?, number? -- The vertex with the i-th highest score, and the score.
 * @method list(): table[] -- All: {vertex =, score =} each, as a walk with evaluate returns. */
void weirlua_accumulator_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"add", add}, {"get", get}, {"list", list}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__len", len},
                                    {"__gc", accumulator_gc},
                                    {"__close", accumulator_gc},
                                    {"__tostring", accumulator_tostring},
                                    {NULL, NULL}};

    weirlua_class(L, s, ACCUMULATOR, methods, meta);
}
