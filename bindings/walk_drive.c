/* walk_drive.c - walks with one evaluating filter and at most one pruning filter: what a visit costs beside the calls is
 * kept low. The functions and the string of a type stand on the stack, fields are read once for both filters, and what has
 * nothing below it is visited once for both. Invariant: what a filter may have changed is looked at before the vertex is
 * read again. */
#include <string.h>

#include "walk.h"

/* A field, and what was read of it last. */
struct value {
    uint8_t code; /* enum weirlua_field */
    int64_t n;    /* of a number; WEIR_NO_ID: none */
};

struct drive {
    struct walk *walk;
    struct weirlua_graph *box;
    weir_accum *accum;
    int prune, evaluate, type; /* where they stand on the stack */
    const char *type_text;     /* the core's text of the type whose string stands there */
    const char *type_seen;     /* the core's text of the type that is to be evaluated, when it was met */
    weir_vertex v;
    void *value;               /* v in Lua */
    uint64_t revision;         /* of the graph when the fields were read */
    uint32_t n;
    struct value values[WEIRLUA_FIELDS];
};

/* ---- fields ---- */

/* Mostly the type is that of the vertex before. */
static void keep_type(lua_State *L, struct drive *d)
{
    const char *type = weir_vertex_type(d->box->g, d->v);

    if (type != d->type_text) {
        lua_pushstring(L, type);
        lua_replace(L, d->type);
        d->type_text = type;
    }
}

static int64_t rank_of(const weir_graph *g, weir_vertex v)
{
    int64_t rank = weir_vertex_rank(g, v);
    return rank == WEIR_NO_RANK ? WEIR_NO_ID : rank;
}

static void read_value(lua_State *L, struct drive *d, struct value *value)
{
    const weir_graph *g = d->box->g;

    switch (value->code) {
    case FIELD_ID: value->n = weir_vertex_id(g, d->v); break;
    case FIELD_RANK: value->n = rank_of(g, d->v); break;
    case FIELD_SIZE: value->n = weir_vertex_size(g, d->v); break;
    case FIELD_FREE: value->n = weir_vertex_free(g, d->v); break;
    case FIELD_INDEX: value->n = d->v; break;
    case FIELD_TYPE: keep_type(L, d); break;
    default: break; /* others are read when they are pushed */
    }
}

static void read_values(lua_State *L, struct drive *d)
{
    d->value = weirlua_vertex_value(d->box, d->v);
    d->revision = weir_graph_revision(d->box->g);
    for (uint32_t i = 0; i < d->n; i++)
        read_value(L, d, &d->values[i]);
}

static void push_value(lua_State *L, const struct drive *d, const struct value *value)
{
    switch (value->code) {
    case FIELD_TYPE: lua_pushvalue(L, d->type); break;
    case FIELD_NAME:
    case FIELD_STATE: weirlua_push_field(L, d->box, d->v, value->code); break;
    default:
        if (value->n == WEIR_NO_ID)
            lua_pushnil(L);
        else
            lua_pushinteger(L, value->n);
    }
}

/* ---- calls ---- */

/* Calls the function at `f` with the vertex and its values, and leaves what it returns. */
static void call(lua_State *L, const struct drive *d, int f)
{
    lua_pushvalue(L, f);
    lua_pushlightuserdata(L, d->value);
    for (uint32_t i = 0; i < d->n; i++)
        push_value(L, d, &d->values[i]);
    lua_call(L, 1 + (int)d->n, 1);
    if (!d->walk->open)
        luaL_error(L, "the walk was closed by its own filter");
    weirlua_walk_graph(L, d->walk);
}

/* W3 */
static void ask_prune(lua_State *L, struct drive *d)
{
    call(L, d, d->prune);
    if (!lua_toboolean(L, -1))
        weir_walk_prune(d->walk->w);
    if (weir_graph_revision(d->box->g) == d->revision)
        return;
    if (weir_graph_serial(d->box->g) != d->walk->serial)
        luaL_error(L, "the graph changed while it was walked");
    read_values(L, d);
}

/* W4: nil is no candidate, false the end: then false. */
static bool ask_evaluate(lua_State *L, struct drive *d)
{
    int rc;

    call(L, d, d->evaluate);
    switch (lua_type(L, -1)) {
    case LUA_TNIL: return true;
    case LUA_TNUMBER: break;
    default:
        if (lua_isboolean(L, -1) && !lua_toboolean(L, -1))
            return false;
        luaL_error(L, "evaluate must return a number, nil or false, not %s", luaL_typename(L, -1));
    }
    rc = weir_accum_add(d->accum, d->v, lua_tonumber(L, -1));
    if (rc)
        luaL_error(L, rc == WEIR_ENOMEM ? "out of memory" : "evaluate returned a score that is not a number");
    return true;
}

/* ---- visits ---- */

/* Texts of types stay where they are, so that equal ones are the same. */
static bool evaluated(struct drive *d)
{
    const char *type;

    if (!d->walk->type)
        return true;
    type = weir_vertex_type(d->box->g, d->v);
    if (type != d->type_seen && strcmp(type, d->walk->type) == 0)
        d->type_seen = type;
    return type == d->type_seen;
}

/* False: an evaluating filter ends the walk. */
static bool visit(lua_State *L, struct drive *d, int event, int top)
{
    bool prune = d->prune && (event & WEIR_PREORDER);
    bool evaluate = ((unsigned)event & d->walk->events) && evaluated(d), on = true;

    if (!prune && !evaluate)
        return true;
    read_values(L, d);
    if (prune)
        ask_prune(L, d);
    if (evaluate)
        on = ask_evaluate(L, d);
    lua_settop(L, top);
    return on;
}

bool weirlua_walk_drivable(const struct walk *walk)
{
    return !walk->compares && walk->nprune <= 1 && walk->nevaluate == 1;
}

void weirlua_walk_drive(lua_State *L, struct walk *walk, weir_accum *accum)
{
    int top = lua_gettop(L) + 3, event;
    struct drive d = {.walk = walk, .box = weirlua_walk_graph(L, walk), .accum = accum, .n = walk->fields.n};

    for (uint32_t i = 0; i < d.n; i++)
        d.values[i].code = walk->fields.codes[i];
    luaL_checkstack(L, 2 * WEIRLUA_FIELDS + LUA_MINSTACK, "walk");
    lua_getiuservalue(L, 3, WALK_EVALUATE);
    lua_getiuservalue(L, 3, WALK_PRUNE);
    lua_pushnil(L);
    d.evaluate = top - 2;
    d.prune = walk->nprune ? top - 1 : 0;
    d.type = top;
    do
        event = weir_walk_next(walk->w, &d.v, NULL);
    while (event > 0 && visit(L, &d, event, top));
    if (event < 0)
        luaL_error(L, event == WEIR_EINVAL ? "the graph changed while it was walked" : "out of memory");
    lua_settop(L, top - 3);
}
