/* vertex.c - a vertex in Lua: a light userdata of 64 bits, so that a value costs no memory and equal vertices compare
 * equal.
 *
 *      63 62   61 .. 52     51 .. 32       31 .. 0
 *      kind    generation   graph number   vertex index
 *
 * Invariant: a single function turns bits into a vertex, by finding the graph by number and comparing the generation; a
 * graph number is never 0, so that NULL is no vertex. */
#include "handle/support.h"
#include "handle/vertex.h"

#include <string.h>

#define VERTEX "weir.vertex"

static uint64_t bits_of(const struct weirlua_graph *handle, weir_vertex v, int kind)
{
    return (uint64_t)kind << 62 |
           (uintptr_t)weirlua_vertex_bits(handle->number, v, weir_vertex_generation(handle->g, v));
}

static void push_bits(lua_State *L, const struct weirlua_graph *handle, weir_vertex v, int kind)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)bits_of(handle, v, kind));
}

void *weirlua_vertex_value(const struct weirlua_graph *handle, weir_vertex v)
{
    return (void *)(uintptr_t)bits_of(handle, v, WEIRLUA_VERTEX);
}

void weirlua_push_vertex(lua_State *L, const struct weirlua_graph *handle, weir_vertex v)
{
    if (v == WEIR_NONE)
        lua_pushnil(L);
    else
        push_bits(L, handle, v, WEIRLUA_VERTEX);
}

/* Fills *h. Returns NULL, or the reason why the bits are no vertex. */
static inline const char *resolve(struct weirlua *s, uint64_t bits, struct weirlua_handle *h)
{
    uint32_t number = (uint32_t)(bits >> 32) & WEIRLUA_NUMBER_MAX;

    *h = (struct weirlua_handle){NULL, NULL, (weir_vertex)bits, (int)(bits >> 62)};
    if (number == 0)
        return "not a vertex: a light userdata of someone else";
    h->handle = weirlua_graph_find(s, number);
    if (!h->handle)
        return "the vertex is stale: its graph was closed";
    h->g = h->handle->g;
    if (!weir_vertex_is(h->g, h->v, bits >> 52 & 1023))
        return "the vertex is stale: it was removed from its graph";
    return NULL;
}

static void refuse(lua_State *L, int arg, const char *trouble)
{
    if (arg == 1)
        luaL_error(L, "%s", trouble);
    luaL_argerror(L, arg, trouble);
}

static inline struct weirlua_handle check_handle(lua_State *L, struct weirlua *s, int arg)
{
    struct weirlua_handle h;
    const char *trouble;

    if (lua_type(L, arg) != LUA_TLIGHTUSERDATA)
        luaL_argerror(L, arg, lua_pushfstring(L, "vertex expected, got %s", luaL_typename(L, arg)));
    trouble = resolve(s, (uintptr_t)lua_touserdata(L, arg), &h);
    if (trouble)
        refuse(L, arg, trouble);
    return h;
}

struct weirlua_handle weirlua_check_handle(lua_State *L, struct weirlua *s, int arg)
{
    return check_handle(L, s, arg);
}

struct weirlua_handle weirlua_check_vertex(lua_State *L, struct weirlua *s, int arg)
{
    struct weirlua_handle h = weirlua_check_handle(L, s, arg);

    if (h.kind != WEIRLUA_VERTEX)
        luaL_argerror(L, arg, lua_pushfstring(L, "vertex expected, got its %s", weirlua_view_name(h.kind)));
    return h;
}

weir_vertex weirlua_check_vertex_of(lua_State *L, struct weirlua *s, int arg, const struct weirlua_graph *handle)
{
    struct weirlua_handle h = weirlua_check_vertex(L, s, arg);

    if (h.handle != handle)
        luaL_argerror(L, arg, "the vertex belongs to another graph");
    return h.v;
}

weir_vertex weirlua_field_vertex(lua_State *L, int table, const char *key, const struct weirlua_graph *handle)
{
    weir_vertex v = WEIR_NONE;

    lua_pushstring(L, key);
    if (lua_rawget(L, table) != LUA_TNIL) {
        if (!lua_islightuserdata(L, -1))
            luaL_error(L, "field '%s': vertex expected, got %s", key, luaL_typename(L, -1));
        v = weirlua_check_vertex_of(L, weirlua_of(L), lua_gettop(L), handle);
    }
    lua_pop(L, 1);
    return v;
}

void weirlua_set_vertex(lua_State *L, const char *key, const struct weirlua_graph *handle, weir_vertex v)
{
    weirlua_push_vertex(L, handle, v);
    lua_setfield(L, -2, key);
}

void weirlua_push_vertices(lua_State *L, const struct weirlua_graph *handle, const weir_vertex *list, uint32_t n)
{
    lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
    if (handle->number == 0) /* the allocation may have run a finalizer */
        luaL_error(L, "the graph was closed");
    for (uint32_t i = 0; i < n; i++) {
        weirlua_push_vertex(L, handle, list[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void weirlua_push_scores(lua_State *L, uint32_t number, weir_accum *a)
{
    size_t n = weir_accum_count(a);

    lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
    for (size_t i = 0; i < n; i++) {
        double score = 0;
        weir_vertex v = weir_accum_get(a, i, &score);
        struct weirlua_graph *handle = weirlua_graph_find(weirlua_of(L), number);
        if (!handle || !weir_vertex_live(handle->g, v))
            luaL_error(L, "the graph %s while it was walked", handle ? "changed" : "was closed");
        lua_createtable(L, 0, 2);
        weirlua_set_vertex(L, "vertex", handle, v);
        weirlua_set_number(L, "score", score);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* ---- fields ---- */

static const struct {
    const char *name;
    int code;
} fields[] = {
    {"type", FIELD_TYPE},         {"basename", FIELD_BASENAME},
    {"name", FIELD_NAME},         {"id", FIELD_ID},
    {"size", FIELD_SIZE},         {"unit", FIELD_UNIT},
    {"state", FIELD_STATE},       {"rank", FIELD_RANK},
    {"path", FIELD_PATH},         {"uuid", FIELD_UUID},
    {"free", FIELD_FREE},         {"exclusive", FIELD_EXCLUSIVE},
    {"index", FIELD_INDEX},       {"tags", FIELD_TAGS},
    {"data", FIELD_DATA},         {"properties", FIELD_PROPERTIES},
    {"detached", FIELD_DETACHED}, {"allocated", FIELD_ALLOCATED},
};

int weirlua_field_code(const char *name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].code;
    return FIELD_NONE;
}

const char weirlua_fields_known[] = "type, id, size, free, rank, name, state and index";

bool weirlua_fields_add(struct weirlua_fields *list, const char *name)
{
    int code = weirlua_field_code(name);

    switch (code) {
    case FIELD_TYPE:
    case FIELD_NAME:
    case FIELD_STATE:
    case FIELD_ID:
    case FIELD_SIZE:
    case FIELD_FREE:
    case FIELD_RANK:
    case FIELD_INDEX: break;
    default: return false;
    }
    if (list->n == WEIRLUA_FIELDS)
        return false;
    list->codes[list->n++] = (uint8_t)code;
    return true;
}

/* Pushes a text written by `write`, computed for v and mostly short. */
static void push_computed(lua_State *L, const struct weirlua_graph *handle, weir_vertex v,
                          size_t (*write)(const weir_graph *, weir_vertex, char *, size_t))
{
    char text[256], *at;
    size_t len = write(handle->g, v, text, sizeof text);
    uint32_t number = handle->number;
    luaL_Buffer b;

    if (len < sizeof text) {
        lua_pushlstring(L, text, len);
        return;
    }
    at = luaL_buffinitsize(L, &b, len + 1);
    if (weirlua_graph_find(weirlua_state(L, NULL), number) != handle) /* the allocation may have collected the graph */
        luaL_error(L, "the graph was closed");
    write(handle->g, v, at, len + 1);
    luaL_pushresultsize(&b, len);
}

static void push_optional(lua_State *L, int64_t value, bool there)
{
    if (there)
        lua_pushinteger(L, value);
    else
        lua_pushnil(L);
}

static void push_uuid(lua_State *L, const weir_graph *g, weir_vertex v)
{
    char uuid[37];

    weir_vertex_uuid(g, v, uuid);
    lua_pushstring(L, uuid);
}

static inline void push_field(lua_State *L, const struct weirlua_graph *handle, weir_vertex v, int field)
{
    const weir_graph *g = handle->g;
    int64_t n;

    switch (field) {
    case FIELD_TYPE: lua_pushstring(L, weir_vertex_type(g, v)); break;
    case FIELD_BASENAME: lua_pushstring(L, weir_vertex_basename(g, v)); break;
    case FIELD_NAME: push_computed(L, handle, v, weir_vertex_name); break;
    case FIELD_ID: n = weir_vertex_id(g, v), push_optional(L, n, n != WEIR_NO_ID); break;
    case FIELD_SIZE: lua_pushinteger(L, weir_vertex_size(g, v)); break;
    case FIELD_UNIT: lua_pushstring(L, weir_vertex_unit(g, v)); break;
    case FIELD_STATE:
        weir_read(g, v, WEIR_READ_STATE);
        lua_pushstring(L, weir_state_name(weir_vertex_state(g, v)));
        break;
    case FIELD_RANK:
        weir_read(g, v, WEIR_READ_RANK);
        n = weir_vertex_rank(g, v), push_optional(L, n, n != WEIR_NO_RANK);
        break;
    case FIELD_PATH: push_computed(L, handle, v, weir_vertex_path); break;
    case FIELD_UUID: push_uuid(L, g, v); break;
    case FIELD_EXCLUSIVE: lua_pushboolean(L, weir_vertex_exclusive(g, v)); break;
    case FIELD_FREE:
        weir_read(g, v, WEIR_READ_FREE);
        lua_pushinteger(L, weir_vertex_free(g, v));
        break;
    case FIELD_ALLOCATED:
        weir_read(g, v, WEIR_READ_FREE);
        lua_pushinteger(L, weir_vertex_allocated(g, v));
        break;
    case FIELD_DETACHED: lua_pushboolean(L, weir_vertex_detached(g, v)); break;
    case FIELD_INDEX: lua_pushinteger(L, v); break;
    case FIELD_PROPERTIES: push_bits(L, handle, v, WEIRLUA_PROPERTIES); break;
    case FIELD_TAGS: push_bits(L, handle, v, WEIRLUA_TAGS); break;
    case FIELD_DATA: push_bits(L, handle, v, WEIRLUA_DATA); break;
    default: lua_pushnil(L);
    }
}

void weirlua_push_field(lua_State *L, const struct weirlua_graph *handle, weir_vertex v, int field)
{
    push_field(L, handle, v, field);
}

int weirlua_fields_push(lua_State *L, const struct weirlua_graph *handle, weir_vertex v,
                        const struct weirlua_fields *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        push_field(L, handle, v, list->codes[i]);
    return (int)list->n;
}

/* ---- the metatable of light userdata ---- */

/* Returns the code of the field with this name, where the string is one of open_names(). Lua interns short strings, so
 * that an equal name has an equal address. */
static int field_of(const struct weirlua *s, const char *name)
{
    for (size_t i = WEIRLUA_NAME_SLOT(name);; i = (i + 1) % WEIRLUA_NAMES)
        if (s->names[i].text == name)
            return s->names[i].code;
        else if (!s->names[i].text)
            return FIELD_NONE;
}

/* Whether a field, FIELD_NONE for a method, depends on jobs and states: the changes of these reach no kept result of
 * `order`, or of a group. */
static bool is_moving(int field, const char *name)
{
    static const char *const methods[] = {"shared", "below", "aggregate", "available", "uses", "jobs", NULL};

    switch (field) {
    case FIELD_FREE:
    case FIELD_ALLOCATED:
    case FIELD_STATE:
    case FIELD_DATA: return true;
    case FIELD_NONE: return weirlua_word(methods, name) >= 0;
    default: return false;
    }
}

/* Raises for a field or method that the function of a group may not read. */
static void check_group(lua_State *L, int field, const char *name)
{
    if (is_moving(field, name))
        luaL_error(L, "group may not read '%s', which changes without notice: the group of a vertex is kept", name);
}

/* Raises for a field or method that `order` may not read: an order follows changes of properties, tags and ranks of the
 * vertex and of the vertices above, and no other changes. */
static void check_order(lua_State *L, const struct weirlua *s, const struct weirlua_handle *h, int field,
                        const char *name)
{
    static const char *const elsewhere[] = {"graph", "edges", "children", "child", "nchildren", NULL};

    if (is_moving(field, name))
        luaL_error(L,
                   "order may not read '%s', which changes without notice: the result of order is kept; "
                   "`evaluate` or `descend` can prefer by it",
                   name);
    if (field == FIELD_NONE && weirlua_word(elsewhere, name) >= 0)
        luaL_error(L,
                   "order may not read '%s': the result of order is kept while other vertices change; "
                   "`init` can, and is called again when the structure has changed",
                   name);
    if ((field == FIELD_PROPERTIES || field == FIELD_TAGS || field == FIELD_RANK) &&
        !weir_vertex_within(h->g, s->ordered, h->v))
        luaL_error(L,
                   "order may read '%s' of the vertex and of the vertices above only: the result of order is "
                   "kept while other vertices change",
                   name);
}

/* __index. Upvalue 2 is the table from names to methods and codes of fields. */
static int vertex_index(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = check_handle(L, s, 1);
    int field;

    if (h.kind != WEIRLUA_VERTEX)
        return weirlua_view_index(L, &h);
    field = field_of(s, lua_tostring(L, 2));
    if (s->watching & WATCH_READS)
        weirlua_record(L, "", 2);
    if (s->watching & WATCH_GROUP && lua_type(L, 2) == LUA_TSTRING)
        check_group(L, field, lua_tostring(L, 2));
    if (s->watching & WATCH_ORDER && lua_type(L, 2) == LUA_TSTRING)
        check_order(L, s, &h, field, lua_tostring(L, 2));
    if (field != FIELD_NONE) {
        push_field(L, h.handle, h.v, field);
        return 1;
    }
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TFUNCTION)
        return luaL_error(L, "a vertex has no field or method '%s'%s", weirlua_quote(L, weirlua_show(L, 2)),
                          weirlua_hint_of_keys(L, luaL_tolstring(L, 2, NULL), lua_upvalueindex(2)));
    return 1;
}

static int set_state(lua_State *L, const struct weirlua_handle *h)
{
    const char *name = luaL_checkstring(L, 3);
    int state = weir_state_parse(name);
    weir_err err = {0};

    if (state < 0)
        return luaL_error(L, "there is no state '%s'", weirlua_quote(L, name));
    return weir_vertex_set_state(h->g, h->v, state, &err) ? weirlua_raise(L, &err) : 0;
}

static int set_rank(lua_State *L, const struct weirlua_handle *h)
{
    int64_t rank = lua_isnil(L, 3) ? WEIR_NO_RANK : luaL_checkinteger(L, 3);
    weir_err err = {0};

    return weir_vertex_set_rank(h->g, h->v, rank, &err) ? weirlua_raise(L, &err) : 0;
}

/* Sets a field of the kind of a pool: size, unit or exclusive. False: `key` is none of the three. */
static bool set_kind(lua_State *L, const struct weirlua_handle *h, const char *key)
{
    weir_err err = {0};
    int rc;

    if (strcmp(key, "size") == 0) {
        rc = weir_vertex_set_size(h->g, h->v, luaL_checkinteger(L, 3), &err);
    } else if (strcmp(key, "unit") == 0) {
        rc = weir_vertex_set_unit(h->g, h->v, luaL_checkstring(L, 3), &err);
    } else if (strcmp(key, "exclusive") == 0) {
        luaL_checktype(L, 3, LUA_TBOOLEAN);
        rc = weir_vertex_set_exclusive(h->g, h->v, lua_toboolean(L, 3), &err);
    } else {
        return false;
    }
    if (rc)
        weirlua_raise(L, &err);
    return true;
}

static int vertex_newindex(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_handle(L, s, 1);
    const char *key;

    weirlua_check_writable(L, s, h.handle);
    luaL_checkany(L, 3);
    weirlua_anchor(L, s, h.handle);
    if (h.kind != WEIRLUA_VERTEX)
        return weirlua_view_newindex(L, &h);
    key = luaL_checkstring(L, 2);
    if (strcmp(key, "state") == 0)
        return set_state(L, &h);
    if (strcmp(key, "rank") == 0)
        return set_rank(L, &h);
    if (set_kind(L, &h, key))
        return 0;
    return luaL_error(L,
                      "field '%s' of a vertex cannot be set; state, rank, size, unit, exclusive, properties.KEY, "
                      "tags.KEY and data.KEY can",
                      weirlua_quote(L, key));
}

/* __tostring. Never raises: error messages print stale vertices too. */
static int vertex_tostring(lua_State *L)
{
    struct weirlua_handle h;
    const char *trouble;

    if (lua_type(L, 1) != LUA_TLIGHTUSERDATA)
        return luaL_argerror(L, 1, "vertex expected");
    if (!lua_touserdata(L, 1)) {
        lua_pushliteral(L, "null");
        return 1;
    }
    trouble = resolve(weirlua_of(L), (uintptr_t)lua_touserdata(L, 1), &h);
    if (trouble)
        lua_pushfstring(L, "(%s)", trouble);
    else
        weirlua_push_field(L, h.handle, h.v, FIELD_PATH);
    if (!trouble && h.kind != WEIRLUA_VERTEX) {
        lua_pushfstring(L, " (%s)", weirlua_view_name(h.kind));
        lua_concat(L, 2);
    }
    return 1;
}

/* manual.lua (spec/tools) makes the manual from comments with @class, @field and @method.
 *
 * @class vertex A resource pool, as a value: a vertex compares and hashes by identity and costs no memory. Using a
 *   vertex that
 *   was removed raises an error.
 * @field type: string -- The type: node, core, gpu, ...
 * @field basename: string -- The name without the id.
 * @field name: string -- basename..id, unless the vertex was given a name.
 * @field id: integer? -- The number among vertices of equal basename.
 * @field index: integer -- The number of the vertex in its graph: always present, and a last tie breaker.
 * @field size: integer -- Units in all. Of a vertex without children it can be set, down to what jobs have.
 * @field free: integer -- Units that are up, reachable and given to no job now.
 * @field allocated: integer -- Units given to jobs now, by themselves or with a vertex above as a whole.
 * @field unit: string -- The unit of the size; "" for none. Of a vertex without children it can be set.
 * @field state: string -- up, down, degraded, failing, unknown, null or draining. Can be set.
 * @field rank: integer? -- The execution target of the vertex, or of the nearest vertex above. Can be set.
 * @field path: string -- The path in containment, such as "/cluster0/rack0/node3".
 * @field uuid: string -- The UUID, 36 characters.
 * @field exclusive: boolean -- Whether jobs get the vertex only as a whole.
 * @field detached: boolean -- Whether the vertex was taken out of containment while edges of other subsystems hold it:
 *   it is matched, counted and found no more, until g:attach(v, parent).
 * @field properties: table<string, string> -- Lasting facts about the vertex, by key; keys can be set. `#` counts,
 *   pairs lists.
 * @field tags: table<string, string> -- Marks for the time being, by key; keys can be set.
 * @field data: table<string, any> -- Values kept by users, by key; keys can be set. */
void weirlua_push_members(lua_State *L, struct weirlua *s)
{
    lua_newtable(L);
    lua_pushlightuserdata(L, s);
    luaL_setfuncs(L, weirlua_vertex_methods, 1);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        lua_pushinteger(L, fields[i].code);
        lua_setfield(L, -2, fields[i].name);
    }
}

/* Remembers the addresses of the names of fields; the table of members on top of the stack keeps the strings alive. */
static void open_names(lua_State *L, struct weirlua *s)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *name = lua_pushstring(L, fields[i].name);
        size_t at = WEIRLUA_NAME_SLOT(name);
        while (s->names[at].text)
            at = (at + 1) % WEIRLUA_NAMES;
        s->names[at].text = name;
        s->names[at].code = fields[i].code;
        lua_pop(L, 1);
    }
}

/* All light userdata of a lua_State share a metatable. Where a different library has set a metatable already, pointers
 * of that library and vertices would be mixed up, so loading fails. */
void weirlua_vertex_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{"__newindex", vertex_newindex},
                                    {"__tostring", vertex_tostring},
                                    {"__len", weirlua_view_len},
                                    {"__pairs", weirlua_view_pairs},
                                    {NULL, NULL}};

    lua_pushlightuserdata(L, NULL);
    if (lua_getmetatable(L, -1))
        luaL_error(L, "weir needs the metatable of light userdata, and another library has set it in this Lua state");
    weirlua_class(L, s, VERTEX, NULL, meta);
    luaL_getmetatable(L, VERTEX);
    lua_pushlightuserdata(L, s);
    weirlua_push_members(L, s);
    open_names(L, s);
    lua_pushcclosure(L, vertex_index, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
