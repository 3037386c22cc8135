/* query.c - conditions on vertices, parsed once: queries (the language of find) and constraints (RFC 31). Invariant: an
 * object that a script can reach holds a condition, and the condition never changes. */
#include "handle/query.h"
#include "handle/support.h"
#include "handle/vertex.h"
#include "system/json.h"

#include <string.h>

#define QUERY      "weir.query"
#define CONSTRAINT "weir.constraint"

/* A parsed query. User value 1: the text. */
struct query {
    weir_query *q;
};

struct constraint {
    weir_constraint *c;
};

static weir_query *check_query(lua_State *L, int arg)
{
    struct query *handle = luaL_checkudata(L, arg, QUERY);

    luaL_argcheck(L, handle->q, arg, "the query is closed");
    return handle->q;
}

/* Pushes nil, message, code. An expression comes from no file, so the message itself gives the position. */
static int fail_at(lua_State *L, const weir_err *err, int code)
{
    weirlua_fail(L, err, code);
    if (err->column > 0 && err->line > 1)
        lua_pushfstring(L, "line %d, column %d: %s", err->line, err->column, err->text);
    else if (err->column > 0)
        lua_pushfstring(L, "column %d: %s", err->column, err->text);
    else
        return 3;
    lua_replace(L, -3);
    return 3;
}

/* Replaces the text or query at `arg` by a query. Returns NULL with nil, message, code pushed. */
static weir_query *query_at(lua_State *L, int arg)
{
    struct query *handle;
    const char *text;
    size_t len;
    weir_err err = {0};
    int rc;

    if (luaL_testudata(L, arg, QUERY))
        return check_query(L, arg);
    if (lua_type(L, arg) != LUA_TSTRING)
        luaL_argerror(L, arg, lua_pushfstring(L, "expression or query expected, got %s", luaL_typename(L, arg)));
    text = lua_tolstring(L, arg, &len);
    handle = lua_newuserdatauv(L, sizeof *handle, 1);
    handle->q = NULL;
    luaL_setmetatable(L, QUERY);
    lua_pushvalue(L, arg);
    lua_setiuservalue(L, -2, 1);
    rc = weir_query_parse(text, len, &handle->q, &err);
    if (rc) {
        handle->q = NULL;
        fail_at(L, &err, rc);
        return NULL;
    }
    lua_replace(L, arg);
    return handle->q;
}

int weirlua_query_new(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    return query_at(L, 1) ? 1 : 3;
}

static int query_match(lua_State *L)
{
    const weir_query *q = check_query(L, 1);
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 2);

    lua_pushboolean(L, weir_query_match(q, h.g, h.v));
    return 1;
}

static int query_gc(lua_State *L)
{
    struct query *handle = luaL_checkudata(L, 1, QUERY);
    weir_query *q = handle->q;

    handle->q = NULL;
    weir_query_free(q);
    return 0;
}

static int query_tostring(lua_State *L)
{
    luaL_checkudata(L, 1, QUERY);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* ---- constraints ---- */

/* constraint(table | JSON text): a constraint. */
int weirlua_constraint_new(lua_State *L)
{
    struct constraint *handle;
    const char *text;
    size_t len;
    weir_err err = {0};
    int rc;

    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TTABLE) {
        weirlua_json_write(L, 1, false, 0);
        lua_replace(L, 1);
    }
    if (lua_type(L, 1) != LUA_TSTRING)
        luaL_argerror(L, 1, lua_pushfstring(L, "table or JSON text expected, got %s", luaL_typename(L, 1)));
    text = lua_tolstring(L, 1, &len);
    handle = lua_newuserdatauv(L, sizeof *handle, 0);
    handle->c = NULL;
    luaL_setmetatable(L, CONSTRAINT);
    rc = weir_constraint_parse(text, len, &handle->c, &err);
    if (rc) {
        handle->c = NULL;
        return weirlua_fail(L, &err, rc);
    }
    return 1;
}

const weir_constraint *weirlua_check_constraint(lua_State *L, int arg)
{
    struct constraint *handle = luaL_checkudata(L, arg, CONSTRAINT);

    luaL_argcheck(L, handle->c, arg, "the constraint is closed");
    return handle->c;
}

static int constraint_match(lua_State *L)
{
    const weir_constraint *c = weirlua_check_constraint(L, 1);
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 2);

    lua_pushboolean(L, weir_constraint_match(c, h.g, h.v));
    return 1;
}

static int constraint_gc(lua_State *L)
{
    struct constraint *handle = luaL_checkudata(L, 1, CONSTRAINT);
    weir_constraint *c = handle->c;

    handle->c = NULL;
    weir_constraint_free(c);
    return 0;
}

static int constraint_tostring(lua_State *L)
{
    lua_pushfstring(L, "constraint: %p", luaL_checkudata(L, 1, CONSTRAINT));
    return 1;
}

void weirlua_query_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg query[] = {{"match", query_match}, {NULL, NULL}};
    static const luaL_Reg query_meta[] = {{"__gc", query_gc}, {"__tostring", query_tostring}, {NULL, NULL}};
    static const luaL_Reg constraint[] = {{"match", constraint_match}, {NULL, NULL}};
    static const luaL_Reg constraint_meta[] = {
        {"__gc", constraint_gc}, {"__tostring", constraint_tostring}, {NULL, NULL}};

    weirlua_class(L, s, QUERY, query, query_meta);
    weirlua_class(L, s, CONSTRAINT, constraint, constraint_meta);
}

/* ---- find ---- */

static int push_list(lua_State *L, const struct weirlua_graph *handle, struct weirlua_owner *found, uint32_t n)
{
    weirlua_push_vertices(L, handle, found->p, n);
    weirlua_owner_clear(found);
    if (n == 0)
        weirlua_note_empty(L, lua_type(L, 4) == LUA_TSTRING ? lua_tostring(L, 4) : "the query");
    return 1;
}

static int push_extract(lua_State *L, const struct weirlua_graph *handle, const weir_vertex *list, uint32_t n)
{
    struct weirlua_graph *out = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, out, weir_graph_extract(handle->g, list, n, &out->g, &err), &err);
}

/* find(expression | query[, {start=, as="list"|"graph", subsystem=}]): the matching vertices in preorder; as "graph" a
 * graph of the matching vertices and of all vertices below and above. With a subsystem, order, start, parents and
 * what is below are those of the hierarchy. */
static int graph_find(lua_State *L)
{
    static const char *const known[] = {"start", "as", "subsystem", NULL}, *const results[] = {"list", "graph", NULL};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const weir_graph *view;
    struct weirlua_owner *found;
    weir_vertex start, *list = NULL;
    const weir_query *q;
    uint32_t n = 0;
    bool graph;
    weir_err err = {0};
    int rc;

    luaL_checkany(L, 2);
    lua_settop(L, 3);
    lua_pushvalue(L, 2); /* the expression, which query_at replaces by its query */
    weirlua_options(L, 3, known);
    start = weirlua_field_vertex(L, 3, "start", handle);
    graph = weirlua_field_choice(L, 3, "as", 0, results) == 1;
    q = query_at(L, 2);
    if (!q)
        return 3;
    view = weirlua_view_of(L, 3, handle, start, &err);
    if (!view)
        return weirlua_fail(L, &err, err.code);
    found = weirlua_owner_push(L, weir_free);
    rc = weir_find(view, q, start, &list, &n, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    found->p = list;
    return graph ? push_extract(L, handle, list, n) : push_list(L, handle, found, n);
}

const luaL_Reg weirlua_graph_finders[] = {{"find", graph_find}, {NULL, NULL}};
