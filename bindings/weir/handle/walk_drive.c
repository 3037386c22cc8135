/* walk_drive.c - walks with one evaluating filter and at most one pruning filter, at a low cost in addition to the
 * calls: visits are read from the core several at a time, before the calls; the functions and the strings of types stay
 * on the stack. Invariant: whatever a filter may have changed is read again before a vertex is reported. */
#include <stddef.h>
#include <string.h>

#include "handle/vertex.h"
#include "handle/walk.h"
#include "policy/charge.h"

#define AHEAD 32 /* visits read at once */
#define TYPES 8  /* types with a string kept on the stack */

enum how { PUSH_TYPE, PUSH_NUMBER, PUSH_ANY };

/* How to push a field. */
struct visit_field {
    uint8_t how;
    uint8_t at;   /* offset of a number in a visit */
    uint8_t code; /* enum weirlua_field */
};

struct drive {
    struct walk *walk;
    struct weirlua_graph *handle;
    const weir_graph *g;
    weir_accum *accum;
    int prune, evaluate, types; /* stack indices */
    int top, arguments;
    uint32_t number;          /* of the graph */
    int type;                 /* stack index of the string for the visit's type */
    uint32_t ntypes;          /* kept so far; seen again */
    const char *texts[TYPES]; /* the core's texts of the types kept on the stack */
    const char *type_text;    /* the core's text of the visit's type */
    const char *type_seen;    /* the core's text of walk.type, once met */
    uint64_t revision;        /* of the graph when the visits were read */
    struct visit_field fields[WEIRLUA_FIELDS], *fields_end;
    weir_walk_visit visits[AHEAD];
};

/* ---- calls ---- */

static inline void push_field(lua_State *L, const struct drive *d, const weir_walk_visit *x,
                              const struct visit_field *field)
{
    int64_t n;

    if (field->how == PUSH_TYPE) {
        lua_pushvalue(L, d->type);
    } else if (field->how == PUSH_ANY) {
        weirlua_push_field(L, d->handle, x->vertex, field->code);
    } else {
        memcpy(&n, (const char *)x + field->at, sizeof n);
        if (n == WEIR_NO_ID)
            lua_pushnil(L);
        else
            lua_pushinteger(L, n);
    }
}

static void gone(lua_State *L, const struct drive *d)
{
    if (!d->walk->open)
        luaL_error(L, "the walk was closed by its own filter");
    weirlua_walk_graph(L, d->walk);
}

/* Calls the function at stack index `f` with the vertex and the fields. The userdata of the walk keeps the graph's
 * handle; the handle has a number while the graph is open. */
static inline void call(lua_State *L, const struct drive *d, int f, const weir_walk_visit *x, int results)
{
    lua_pushvalue(L, f);
    lua_pushlightuserdata(L, weirlua_vertex_bits(d->number, x->vertex, x->generation));
    for (const struct visit_field *field = d->fields; field != d->fields_end; field++)
        push_field(L, d, x, field);
    lua_call(L, d->arguments, results);
    if (!d->walk->open || d->handle->number != d->number)
        gone(L, d);
}

/* Reads again the fields of a visit that a filter may have changed. */
static void read_again(lua_State *L, const struct drive *d, weir_walk_visit *x)
{
    if (weir_graph_serial(d->g) != d->walk->serial)
        luaL_error(L, "the graph changed while it was walked");
    weir_walk_visit_read(d->g, x);
}

/* Calls the pruning filter. Only the last visit read can have children that are not read yet. */
static void ask_prune(lua_State *L, struct drive *d, weir_walk_visit *x, uint64_t revision, bool last)
{
    call(L, d, d->prune, x, last);
    if (last && !lua_toboolean(L, -1))
        weir_walk_prune(d->walk->w);
    if (weir_graph_revision(d->g) != revision)
        read_again(L, d, x);
}

/* Calls the evaluating filter: after nil the vertex is no candidate. Returns false where the filter returns false,
 * to end the walk. */
static bool ask_evaluate(lua_State *L, struct drive *d, const weir_walk_visit *x)
{
    int type, rc;

    call(L, d, d->evaluate, x, 1);
    type = lua_type(L, -1);
    if (type == LUA_TNIL)
        return true;
    if (type == LUA_TBOOLEAN && !lua_toboolean(L, -1))
        return false;
    if (type != LUA_TNUMBER)
        luaL_error(L, "evaluate must return a number, nil or false, not %s", luaL_typename(L, -1));
    rc = weir_accum_add(d->accum, x->vertex, lua_tonumber(L, -1));
    if (rc)
        luaL_error(L, rc == WEIR_ENOMEM ? "out of memory" : "evaluate returned a score that is not a number");
    return true;
}

/* ---- visits ---- */

/* Sets d->type to the stack index of a type's string, made at the first use. */
static void keep_type(lua_State *L, struct drive *d, const char *type)
{
    uint32_t i = 0;

    while (i < TYPES && d->texts[i] != type)
        i++;
    if (i == TYPES) {
        i = d->ntypes++ % TYPES;
        lua_pushstring(L, type);
        lua_replace(L, d->types + (int)i);
        d->texts[i] = type;
    }
    d->type = d->types + (int)i;
    d->type_text = type;
}

/* Returns whether vertices of a type are evaluated. The core keeps each type's text at one address, so that comparing
 * addresses is enough once walk.type was met. */
static bool evaluated(struct drive *d, const char *type)
{
    if (d->walk->type && type != d->type_seen && strcmp(type, d->walk->type) == 0)
        d->type_seen = type;
    return !d->walk->type || type == d->type_seen;
}

/* Calls the filters for a visit. Returns false when the evaluating filter ends the walk. */
static bool visit(lua_State *L, struct drive *d, weir_walk_visit *x, bool last)
{
    bool prune = d->prune && (x->event & WEIR_PREORDER);
    bool evaluate = ((unsigned)x->event & d->walk->events) && evaluated(d, x->type);

    uint64_t revision;

    if (!prune && !evaluate)
        return true;
    revision = weir_graph_revision(d->g);
    if (revision != d->revision)
        read_again(L, d, x);
    if (x->type != d->type_text)
        keep_type(L, d, x->type);
    if (prune)
        ask_prune(L, d, x, revision, last);
    return !evaluate || ask_evaluate(L, d, x);
}

bool weirlua_walk_drivable(const struct walk *walk)
{
    return !walk->compares && walk->nprune <= 1 && walk->nevaluate == 1;
}

static struct visit_field field_of(const struct walk *walk, uint8_t code)
{
    switch (code) {
    case FIELD_TYPE: return (struct visit_field){PUSH_TYPE, 0, code};
    case FIELD_ID: return (struct visit_field){PUSH_NUMBER, offsetof(weir_walk_visit, id), code};
    case FIELD_SIZE: return (struct visit_field){PUSH_NUMBER, offsetof(weir_walk_visit, size), code};
    case FIELD_FREE:
        if (walk->state->readonly) /* a policy's reads are followed */
            return (struct visit_field){PUSH_ANY, 0, code};
        return (struct visit_field){PUSH_NUMBER, offsetof(weir_walk_visit, free), code};
    default: return (struct visit_field){PUSH_ANY, 0, code};
    }
}

/* Pushes the functions, and room for the strings of types. */
static void prepare(lua_State *L, struct drive *d)
{
    d->g = d->handle->g;
    d->number = d->walk->number;
    d->fields_end = d->fields + d->walk->fields.n;
    d->arguments = 1 + (int)d->walk->fields.n;
    for (uint32_t i = 0; i < d->walk->fields.n; i++)
        d->fields[i] = field_of(d->walk, d->walk->fields.codes[i]);
    luaL_checkstack(L, AHEAD + TYPES + 2 * WEIRLUA_FIELDS + LUA_MINSTACK, "walk");
    d->evaluate = lua_gettop(L) + 1;
    d->prune = d->walk->nprune ? d->evaluate + 1 : 0;
    d->types = d->type = d->evaluate + 2;
    d->top = d->types + TYPES - 1;
    lua_getiuservalue(L, 3, WALK_EVALUATE);
    lua_getiuservalue(L, 3, WALK_PRUNE);
    lua_settop(L, d->top);
}

void weirlua_walk_drive(lua_State *L, struct walk *walk, weir_accum *accum)
{
    struct drive d = {.walk = walk, .handle = weirlua_walk_graph(L, walk), .accum = accum};
    int64_t begin;
    bool on = true;
    int n;

    prepare(L, &d);
    do {
        begin = weirlua_timing(walk->state);
        n = weir_walk_read(walk->w, d.visits, AHEAD, NULL);
        weirlua_spend_since(L, walk->state, begin);
        d.revision = weir_graph_revision(d.g);
        weirlua_walk_charge(L, walk, n > 0 ? n : 0);
        for (int i = 0; on && i < n; i++)
            on = visit(L, &d, &d.visits[i], i + 1 == n);
        lua_settop(L, d.top);
    } while (on && n > 0);
    if (n < 0)
        luaL_error(L, n == WEIR_EINVAL ? "the graph changed while it was walked" : "out of memory");
    lua_settop(L, d.evaluate - 1);
}
