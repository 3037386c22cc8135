/* graph_build.c - the methods that change a graph. Invariant: each method calls weirlua_check_writable first. */
#include "handle/support.h"
#include "handle/vertex.h"

#include <string.h>

static struct weirlua_graph *check_writable_graph(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = weirlua_check_graph(L, s, 1);

    weirlua_check_writable(L, s, handle);
    return handle;
}

static int graph_begin(lua_State *L)
{
    weir_graph_begin(check_writable_graph(L)->g);
    return 0;
}

static int graph_finish(lua_State *L)
{
    weir_err err = {0};

    return weirlua_status(L, weir_graph_end(check_writable_graph(L)->g, &err), &err);
}

/* Returns whether a string contains a zero byte, at which C would end the string. */
static bool has_zero(lua_State *L, int idx)
{
    size_t len;
    const char *s = lua_type(L, idx) == LUA_TSTRING ? lua_tolstring(L, idx, &len) : NULL;

    return s && strlen(s) != len;
}

/* A property, tag or datum of a new vertex: KEY = true | string | number. */
struct given_entry {
    int map;
    const char *key, *value;
};

/* Returns the number of entries of a field; raises for entries of a wrong type. */
static uint32_t check_entries(lua_State *L, int table, const char *field)
{
    uint32_t n = 0;

    lua_pushstring(L, field);
    if (lua_rawget(L, table) != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TTABLE)
            luaL_error(L, "field '%s': table expected, got %s", field, luaL_typename(L, -1));
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1), n++) {
            bool value = lua_isstring(L, -1) || (lua_isboolean(L, -1) && lua_toboolean(L, -1));
            if (lua_type(L, -2) != LUA_TSTRING || !value)
                luaL_error(L, "field '%s': names with true, a string or a number expected", field);
            if (has_zero(L, -2) || has_zero(L, -1))
                luaL_error(L, "field '%s' contains a zero byte", field);
        }
    }
    lua_pop(L, 1);
    return n;
}

/* Appends the entries of a field to `list`, which is long enough; the table at `texts` keeps the texts of numbers
 * alive. Returns the number of entries. */
static uint32_t list_entries(lua_State *L, int table, const char *field, int map, int texts, struct given_entry *list)
{
    uint32_t n = 0;

    lua_pushstring(L, field);
    if (lua_rawget(L, table) == LUA_TTABLE)
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
            list[n++] = (struct given_entry){map, lua_tostring(L, -2), lua_isboolean(L, -1) ? "" : lua_tostring(L, -1)};
            lua_pushvalue(L, -1);
            lua_rawseti(L, texts, (lua_Integer)lua_rawlen(L, texts) + 1);
        }
    lua_pop(L, 1);
    return n;
}

/* Returns the entries of the vertex description, and pushes a userdata that owns the list. After the call nothing can
 * raise, and the graph can be changed. */
static const struct given_entry *push_entries(lua_State *L, int table, uint32_t *n)
{
    uint32_t properties = check_entries(L, table, "properties"), tags = check_entries(L, table, "tags");
    struct given_entry *list;
    int texts;

    *n = 0;
    if (properties + tags == 0)
        return NULL;
    lua_newtable(L);
    texts = lua_gettop(L);
    list = lua_newuserdatauv(L, (properties + tags + (size_t)1) * sizeof *list, 0);
    *n = list_entries(L, table, "properties", WEIR_PROPERTIES, texts, list);
    *n += list_entries(L, table, "tags", WEIR_TAGS, texts, list + *n);
    return list;
}

static int set_entries(weir_graph *g, weir_vertex v, const struct given_entry *list, uint32_t n, weir_err *err)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < n; i++)
        rc = weir_vertex_set(g, v, list[i].map, list[i].key, list[i].value, err);
    return rc;
}

static void read_desc(lua_State *L, int table, weir_pool_desc *d)
{
    static const char *const known[] = {"type", "basename",  "name", "id",         "size", "unit",
                                        "rank", "exclusive", "uuid", "properties", "tags", NULL};

    luaL_checktype(L, table, LUA_TTABLE);
    weirlua_options(L, table, known);
    d->type = weirlua_field_string(L, table, "type", NULL);
    d->basename = weirlua_field_string(L, table, "basename", NULL);
    d->name = weirlua_field_string(L, table, "name", NULL);
    d->unit = weirlua_field_string(L, table, "unit", NULL);
    d->uuid = weirlua_field_string(L, table, "uuid", NULL);
    d->id = weirlua_field_integer(L, table, "id", WEIR_NO_ID);
    d->size = weirlua_field_integer(L, table, "size", 1);
    d->rank = weirlua_field_integer(L, table, "rank", WEIR_NO_RANK);
    d->exclusive = weirlua_field_boolean(L, table, "exclusive", false);
    if (!d->type)
        luaL_error(L, "field 'type': string expected, got nothing");
}

static void undo_add(weir_graph *g, weir_vertex first, uint32_t count)
{
    weir_err ignored = {0};
    bool left = false;

    for (uint32_t k = 0; k < count; k++)
        left |= weir_graph_unlink(g, first + k, &ignored) != WEIR_OK;
    (void)left; /* unlinking a vertex just added does not fail */
}

/* add(parent | nil, pool[, count[, stride]]): the vertex, or the first of `count` vertices. */
static int graph_add(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_vertex parent = lua_isnil(L, 2) ? WEIR_NONE : weirlua_check_vertex_of(L, s, 2, handle), v = WEIR_NONE;
    lua_Integer count = luaL_optinteger(L, 4, 1), stride = luaL_optinteger(L, 5, 1);
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    const struct given_entry *entries;
    uint32_t n;
    weir_err err = {0};
    int rc;

    luaL_argcheck(L, count >= 1 && count < UINT32_MAX, 4, "a count from 1 on expected");
    lua_settop(L, 3);
    read_desc(L, 3, &d);
    entries = push_entries(L, 3, &n);
    if (count == 1)
        rc = weir_graph_add(handle->g, parent, &d, &v, &err);
    else
        rc = weir_graph_add_many(handle->g, parent, &d, (uint32_t)count, stride, &v, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    for (uint32_t k = 0; !rc && k < (uint32_t)count; k++)
        rc = set_entries(handle->g, v + k, entries, n, &err);
    if (rc) {
        undo_add(handle->g, v, (uint32_t)count);
        return weirlua_fail(L, &err, rc);
    }
    weirlua_push_vertex(L, handle, v);
    return 1;
}

/* Returns the subsystem of unlink(v[, subsystem | {subsystem=, force=}]), NULL for containment. */
static const char *unlink_options(lua_State *L, bool *force)
{
    static const char *const known[] = {"subsystem", "force", NULL};
    const char *subsystem;

    *force = false;
    if (lua_type(L, 3) != LUA_TTABLE)
        return luaL_optstring(L, 3, "containment");
    weirlua_options(L, 3, known);
    subsystem = weirlua_field_string(L, 3, "subsystem", "containment");
    *force = weirlua_field_boolean(L, 3, "force", false);
    if (*force && strcmp(subsystem, "containment") != 0)
        luaL_error(L, "field 'force': only what leaves containment is lost to jobs");
    return subsystem;
}

/* unlink(...): true; with force the list of units that jobs lost; or nil, message, code, and the list of the jobs that
 * have units of v where jobs are the reason. */
static int graph_unlink(lua_State *L)
{
    struct weirlua_graph *handle = check_writable_graph(L);
    bool force;
    const char *subsystem = unlink_options(L, &force);
    weir_vertex v = weirlua_check_vertex_of(L, weirlua_of(L), 2, handle);
    weir_err err = {0};

    if (force)
        return weirlua_unlink_forced(L, handle, v);
    if (strcmp(subsystem, "containment") != 0)
        return weirlua_status(L, weir_edge_unlink(handle->g, v, subsystem, &err), &err);
    if (weirlua_unlink_refused(L, handle, v))
        return 4;
    return weirlua_status(L, weir_graph_unlink(handle->g, v, &err), &err);
}

/* uuid(): the UUID of the graph. uuid(text): gives the graph a new UUID, and new derived UUIDs to all pools without a
 * given UUID; true. */
static int graph_uuid(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *text = luaL_optstring(L, 2, NULL);
    weir_err err = {0};
    char uuid[37];

    if (text) {
        handle = check_writable_graph(L);
        return weirlua_status(L, weir_graph_set_uuid(handle->g, text, &err), &err);
    }
    weir_graph_uuid(handle->g, uuid);
    lua_pushstring(L, uuid);
    return 1;
}

/* attach(v[, parent]): true after a detached vertex got a place in containment again, as the last child of `parent`, or
 * as a root; or nil, message, code. */
static int graph_attach(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_vertex v = weirlua_check_vertex_of(L, s, 2, handle);
    weir_vertex parent = lua_isnoneornil(L, 3) ? WEIR_NONE : weirlua_check_vertex_of(L, s, 3, handle);
    weir_err err = {0};

    return weirlua_status(L, weir_graph_attach(handle->g, v, parent, &err), &err);
}

static int graph_add_edge(lua_State *L)
{
    static const char *const known[] = {"subsystem", "type", "back", NULL};
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_vertex source = weirlua_check_vertex_of(L, s, 2, handle), target = weirlua_check_vertex_of(L, s, 3, handle);
    const char *subsystem, *type, *back;
    weir_err err = {0};

    luaL_checktype(L, 4, LUA_TTABLE);
    weirlua_options(L, 4, known);
    subsystem = weirlua_field_string(L, 4, "subsystem", NULL);
    type = weirlua_field_string(L, 4, "type", "contains");
    back = weirlua_field_string(L, 4, "back", NULL);
    luaL_argcheck(L, subsystem, 4, "field 'subsystem': string expected, got nothing");
    return weirlua_status(L, weir_edge_add(handle->g, source, target, subsystem, type, back, &err), &err);
}

/* remove_edge(source, target, {subsystem=, type=}): true; or nil, message, code. */
static int graph_remove_edge(lua_State *L)
{
    static const char *const known[] = {"subsystem", "type", NULL};
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_vertex source = weirlua_check_vertex_of(L, s, 2, handle), target = weirlua_check_vertex_of(L, s, 3, handle);
    const char *subsystem, *type;
    weir_err err = {0};

    luaL_checktype(L, 4, LUA_TTABLE);
    weirlua_options(L, 4, known);
    subsystem = weirlua_field_string(L, 4, "subsystem", NULL);
    type = weirlua_field_string(L, 4, "type", NULL);
    luaL_argcheck(L, subsystem, 4, "field 'subsystem': string expected, got nothing");
    return weirlua_status(L, weir_edge_remove(handle->g, source, target, subsystem, type, &err), &err);
}

/* merge(g2[, uri]): adds the vertices and edges of g2 missing in the graph; uri names the vertex corresponding to the
 * root of g2. */
static int graph_merge(lua_State *L)
{
    static const char *const known[] = {"parts", NULL};
    struct weirlua_graph *handle = check_writable_graph(L), *other = weirlua_check_graph(L, weirlua_of(L), 2);
    const char *uri = luaL_optstring(L, 3, NULL);
    weir_err err = {0};
    bool parts;

    luaL_argcheck(L, handle != other, 2, "another graph expected");
    weirlua_options(L, 4, known);
    parts = weirlua_field_boolean(L, 4, "parts", false);
    return weirlua_status(L,
                          parts ? weir_graph_merge_parts(handle->g, other->g, uri, &err)
                                : weir_graph_merge(handle->g, other->g, uri, &err),
                          &err);
}

/* split(v, units): the new pool; or nil, message, code. */
static int graph_split(lua_State *L)
{
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_vertex v = weirlua_check_vertex_of(L, weirlua_of(L), 2, handle), out = WEIR_NONE;
    weir_err err = {0};
    int rc = weir_graph_split(handle->g, v, luaL_checkinteger(L, 3), &out, &err);

    if (rc)
        return weirlua_fail(L, &err, rc);
    weirlua_push_vertex(L, handle, out);
    return 1;
}

/* join(v, part): true; or nil, message, code. */
static int graph_join(lua_State *L)
{
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_vertex v = weirlua_check_vertex_of(L, weirlua_of(L), 2, handle);
    weir_vertex part = weirlua_check_vertex_of(L, weirlua_of(L), 3, handle);
    weir_err err = {0};

    return weirlua_status(L, weir_graph_join(handle->g, v, part, &err), &err);
}

static int graph_advance(lua_State *L)
{
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_err err = {0};

    return weirlua_status(L, weir_graph_advance(handle->g, weirlua_check_time(L, 2), &err), &err);
}

/* rewind(to): true after setting the clock of a graph back, and the times of jobs likewise; or nil, message, code. */
static int graph_rewind(lua_State *L)
{
    struct weirlua_graph *handle = check_writable_graph(L);
    weir_err err = {0};

    return weirlua_status(L, weir_graph_rewind(handle->g, weirlua_check_time(L, 2), &err), &err);
}

/* set_validity([start[, stop]]): true after setting the time in which jobs may use the resources; nil: without a bound;
 * or nil, message, code. */
static int graph_set_validity(lua_State *L)
{
    struct weirlua_graph *handle = check_writable_graph(L);
    int64_t from = lua_isnoneornil(L, 2) ? 0 : weirlua_check_time(L, 2);
    int64_t until = lua_isnoneornil(L, 3) ? WEIR_FOREVER : weirlua_check_time(L, 3);
    weir_err err = {0};

    return weirlua_status(L, weir_graph_set_validity(handle->g, from, until, &err), &err);
}

const luaL_Reg weirlua_graph_writers[] = {{"begin", graph_begin},
                                          {"finish", graph_finish},
                                          {"add", graph_add},
                                          {"unlink", graph_unlink},
                                          {"add_edge", graph_add_edge},
                                          {"advance", graph_advance},
                                          {"rewind", graph_rewind},
                                          {"merge", graph_merge},
                                          {"split", graph_split},
                                          {"join", graph_join},
                                          {"attach", graph_attach},
                                          {"uuid", graph_uuid},
                                          {"set_validity", graph_set_validity},
                                          {"remove_edge", graph_remove_edge},
                                          {NULL, NULL}};
