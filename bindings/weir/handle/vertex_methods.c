/* vertex_methods.c - methods of vertices. Invariant: the graph is anchored on the stack wherever the graph is read
 * after an allocation; arguments that may be converted to strings are converted before the vertex is looked up. */
#include "handle/allocation.h"
#include "handle/engine.h"
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/charge.h"

#include <string.h>

static weir_vertex parent_in(const weir_graph *g, weir_vertex v, const char *subsystem)
{
    weir_edge e;
    return weir_vertex_edge(g, v, subsystem, false, 0, &e) ? e.source : WEIR_NONE;
}

static bool part_of(const weir_graph *g, weir_vertex v, const char *subsystem)
{
    weir_edge e;
    return weir_vertex_edge(g, v, subsystem, false, 0, &e) || weir_vertex_edge(g, v, subsystem, true, 0, &e);
}

/* Raises unless the optional argument is a subsystem of the graph. Returns the name; NULL: containment. */
static const char *check_subsystem(lua_State *L, const weir_graph *g, int arg)
{
    const char *name = luaL_optstring(L, arg, NULL), *known;

    if (!name || strcmp(name, "containment") == 0)
        return NULL;
    for (uint32_t i = 0; (known = weir_subsystem_name(g, i)); i++)
        if (strcmp(known, name) == 0)
            return name;
    luaL_argerror(L, arg, lua_pushfstring(L, "there is no subsystem '%s'", weirlua_quote(L, name)));
    return NULL;
}

/* Pushes "/NAME", with "#N" behind the name of the N-th sibling of that name. */
static void push_step(lua_State *L, const struct weirlua_handle *h, weir_vertex v, const char *subsystem)
{
    uint32_t twin = weir_vertex_twin(h->g, v, subsystem);

    lua_pushliteral(L, "/");
    weirlua_push_field(L, h->handle, v, FIELD_NAME);
    if (twin > 1)
        lua_pushfstring(L, "#%I", (LUAI_UACINT)twin);
    lua_concat(L, twin > 1 ? 3 : 2);
}

/* Pushes a URI such as "power:/feed0/pdu1/node3": the path up along the first edge that enters each vertex. */
static int push_uri(lua_State *L, const struct weirlua_handle *h, const char *subsystem)
{
    weir_vertex v = h->v;

    lua_pushliteral(L, "");
    for (int depth = 0; v != WEIR_NONE && depth < WEIR_PATH_DEPTH; depth++) {
        push_step(L, h, v, subsystem);
        lua_insert(L, -2);
        lua_concat(L, 2);
        v = parent_in(h->g, v, subsystem);
    }
    lua_pushfstring(L, "%s:%s", subsystem, lua_tostring(L, -1));
    return 1;
}

/* The first subsystem of a vertex that is not in containment; NULL: the vertex is. */
static const char *other_subsystem(const weir_graph *g, weir_vertex v)
{
    const char *name;

    if (!weir_vertex_detached(g, v) && (weir_vertex_parent(g, v) != WEIR_NONE || weir_vertex_children(g, v) > 0))
        return NULL;
    for (uint32_t i = 1; (name = weir_subsystem_name(g, i)); i++)
        if (part_of(g, v, name))
            return name;
    return NULL;
}

static int vertex_uri(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    const char *wanted = luaL_optstring(L, 2, NULL), *subsystem = wanted;
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);

    weirlua_anchor(L, s, h.handle);
    if (!subsystem)
        subsystem = other_subsystem(h.g, h.v);
    if (!subsystem)
        subsystem = "containment";
    if (strcmp(subsystem, "containment") == 0 ? wanted && other_subsystem(h.g, h.v) : !part_of(h.g, h.v, subsystem))
        return weirlua_fail(L, &(weir_err){.code = WEIR_ENOENT, .text = "the vertex is not in that subsystem"},
                            WEIR_ENOENT);
    return push_uri(L, &h, subsystem);
}

static int vertex_parent(lua_State *L)
{
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);
    const char *subsystem = check_subsystem(L, h.g, 2);

    weirlua_push_vertex(L, h.handle, subsystem ? parent_in(h.g, h.v, subsystem) : weir_vertex_parent(h.g, h.v));
    return 1;
}

static int vertex_child(lua_State *L)
{
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);
    lua_Integer i = luaL_checkinteger(L, 2);

    weirlua_push_vertex(L, h.handle,
                        i < 1 || i > UINT32_MAX ? WEIR_NONE : weir_vertex_child(h.g, h.v, (uint32_t)(i - 1)));
    return 1;
}

static int vertex_nchildren(lua_State *L)
{
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);

    lua_pushinteger(L, weir_vertex_children(h.g, h.v));
    return 1;
}

static weir_vertex child_in(const weir_graph *g, weir_vertex v, const char *subsystem, uint32_t i)
{
    weir_edge e;

    if (!subsystem)
        return weir_vertex_child(g, v, i);
    return weir_vertex_edge(g, v, subsystem, true, i, &e) ? e.target : WEIR_NONE;
}

/* The iterator. Upvalues: state, vertex, number of children returned, subsystem or nil. */
static int next_child(lua_State *L)
{
    struct weirlua_handle h;
    uint32_t i = (uint32_t)lua_tointeger(L, lua_upvalueindex(3));
    const char *subsystem = lua_tostring(L, lua_upvalueindex(4));

    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(2));
    h = weirlua_check_vertex(L, weirlua_of(L), 1);
    if (subsystem)
        weirlua_spend(L, weirlua_of(L), i); /* edges are a list */
    weirlua_push_vertex(L, h.handle, child_in(h.g, h.v, subsystem, i));
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_replace(L, lua_upvalueindex(3));
    return 1;
}

static int vertex_children(lua_State *L)
{
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);
    const char *subsystem = check_subsystem(L, h.g, 2);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushstring(L, subsystem);
    lua_pushcclosure(L, next_child, 4);
    return 1;
}

void weirlua_push_edge(lua_State *L, const struct weirlua_graph *handle, const weir_edge *e)
{
    lua_createtable(L, 0, 5);
    weirlua_set_vertex(L, "source", handle, e->source);
    weirlua_set_vertex(L, "target", handle, e->target);
    weirlua_set_text(L, "subsystem", e->subsystem);
    weirlua_set_text(L, "type", e->type);
    weirlua_set_text(L, "back", e->back);
}

static int vertex_edges(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    const char *subsystem = luaL_optstring(L, 2, NULL);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);
    lua_Integer n = 0;
    weir_edge e;

    weirlua_anchor(L, s, h.handle);
    lua_newtable(L);
    for (int out = 0; out <= 1; out++)
        for (uint32_t i = 0; weir_vertex_edge(h.g, h.v, subsystem, out, i, &e); i++) {
            weirlua_push_edge(L, h.handle, &e);
            lua_rawseti(L, -2, ++n);
            weirlua_spend(L, s, i + 64); /* edges are a list */
        }
    return 1;
}

static int vertex_ancestor(lua_State *L)
{
    const char *type = luaL_checkstring(L, 2);
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);

    weirlua_push_vertex(L, h.handle, weir_vertex_ancestor(h.g, h.v, type));
    return 1;
}

static int vertex_within(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);

    lua_pushboolean(L, weir_vertex_within(h.g, h.v, weirlua_check_vertex_of(L, s, 2, h.handle)));
    return 1;
}

static int vertex_available(lua_State *L)
{
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);
    int64_t t0 = lua_isnoneornil(L, 2) ? weir_graph_now(h.g) : weirlua_check_time(L, 2);
    int64_t t1 = lua_isnoneornil(L, 3) ? t0 + (t0 < WEIR_FOREVER) : weirlua_check_time(L, 3), begin;

    weir_read_other(h.g, "v:available()");
    luaL_argcheck(L, t0 < t1, 3, "the end must be after the start");
    begin = weirlua_timing(weirlua_of(L));
    lua_pushinteger(L, weir_vertex_available(h.g, h.v, t0, t1));
    weirlua_spend_since(L, weirlua_of(L), begin);
    return 1;
}

static int vertex_uses(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);
    weir_use u;

    weir_read_other(h.g, "v:uses()");
    weirlua_anchor(L, s, h.handle);
    lua_newtable(L);
    for (uint32_t i = 0; weir_vertex_use(h.g, h.v, i, &u); i++) {
        lua_createtable(L, 0, 6);
        weirlua_push_holder(L, u.job);
        if (u.job < 0)
            weirlua_set_integer(L, "job", u.job);
        weirlua_push_time(L, u.start);
        lua_setfield(L, -2, "start");
        weirlua_push_time(L, u.end);
        lua_setfield(L, -2, "end");
        weirlua_set_integer(L, "amount", u.amount);
        weirlua_set_boolean(L, "exclusive", u.exclusive);
        weirlua_set_boolean(L, "active", u.active);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
        weirlua_spend(L, s, 64);
    }
    return 1;
}

/* shared(): the jobs that share the vertex now, without units of the vertex. */
static int vertex_shared(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);
    lua_Integer n = 0, jobs;

    weir_read_other(h.g, "v:shared()");
    weirlua_anchor(L, s, h.handle);
    lua_settop(L, 1);
    weirlua_vertex_jobs(L);
    jobs = (lua_Integer)lua_rawlen(L, -1);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= jobs; i++) {
        lua_rawgeti(L, -2, i);
        if (weir_vertex_shares(h.g, h.v, lua_tointeger(L, -1)))
            lua_rawseti(L, -2, ++n);
        else
            lua_pop(L, 1);
    }
    return 1;
}

static int64_t end_of(int64_t start, int64_t duration)
{
    return duration > WEIR_FOREVER - start ? WEIR_FOREVER : start + duration;
}

static int vertex_allocate(lua_State *L)
{
    static const char *const known[] = {"job", "amount", "start", "duration", NULL};
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);
    int64_t job, amount, start, duration;
    weir_err err = {0};

    luaL_checktype(L, 2, LUA_TTABLE);
    weirlua_check_writable(L, s, h.handle);
    weirlua_anchor(L, s, h.handle);
    weirlua_options(L, 2, known);
    job = weirlua_field_integer(L, 2, "job", 0);
    amount = weirlua_field_integer(L, 2, "amount", weir_vertex_size(h.g, h.v));
    start = weirlua_field_time(L, 2, "start", weir_graph_now(h.g));
    duration = weirlua_field_duration(L, 2, "duration", WEIR_FOREVER);
    luaL_argcheck(L, job > 0, 2, "field 'job': a job number above 0 expected");
    luaL_argcheck(L, amount >= 0, 2, "field 'amount': an amount that is not negative expected");
    luaL_argcheck(L, start >= 0 && duration > 0, 2, "a start from 0 on and a duration above 0 expected");
    return weirlua_status(L, weir_vertex_allocate(h.g, h.v, job, amount, start, end_of(start, duration), &err), &err);
}

static int vertex_release(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);
    int64_t job = weirlua_check_job(L, 2, h.handle), amount = luaL_optinteger(L, 3, 0);
    weir_err err = {0};

    luaL_argcheck(L, amount >= 0, 3, "an amount that is not negative expected");
    weirlua_check_writable(L, s, h.handle);
    return weirlua_status(L, weir_vertex_release(h.g, h.v, job, amount, &err), &err);
}

static int vertex_aggregate(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);

    weir_read(h.g, h.v, WEIR_READ_BELOW);
    lua_settop(L, 2);
    weirlua_anchor(L, s, h.handle);
    return weirlua_push_sums(L, h.handle, h.v, 2);
}

/* below(type): total, free, idle units of a type below v. Makes no table. */
static int vertex_below(lua_State *L)
{
    const char *type = luaL_checkstring(L, 2);
    struct weirlua_handle h = weirlua_check_vertex(L, weirlua_of(L), 1);
    weir_aggregate found;

    weir_read_below(h.g, h.v, type, &found);
    lua_pushinteger(L, found.total);
    lua_pushinteger(L, found.free);
    lua_pushinteger(L, found.idle);
    return 3;
}

static int vertex_graph(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);

    weirlua_push_graph(L, s, weirlua_check_vertex(L, s, 1).handle);
    return 1;
}

/* @class vertex
 * @method uri(subsystem: string?): string?, string?, string? -- The URI, such as "power:/feed0/pdu1/node3"; in
 *   containment if not given, or, for a vertex outside of containment, in its first subsystem. The second of two
 *   siblings of one name is "node3#2".
 * @method parent(subsystem: string?): vertex? -- The vertex above, in containment if not given: the source of the first
 *   edge; nil for a root.
 * @method children(subsystem: string?): fun(): vertex? -- Iterates over the children, in containment if not given, in
 *   the order of the description.
 * @method child(i: integer): vertex? -- The i-th child, from 1 on.
 * @method nchildren(): integer -- The number of children.
 * @method edges(subsystem: string?): edge[] -- Edges that leave or enter the vertex: {source, target, subsystem, type,
 *   back}.
 * @method ancestor(type: string): vertex? -- The nearest vertex of a type among the vertex and all vertices above.
 * @method within(top: vertex): boolean -- Whether the vertex is `top` or below `top`.
 * @method below(type: string): integer, integer, integer -- Units of a type below the vertex: in all, free, idle. Costs
 *   no search.
 * @method aggregate(options: table?): table<string, table> -- Units below the vertex by type: {core = {total, free,
 *   idle}}. Types without a free unit are left out, unless with {all = true}; subsystem as for g:aggregate.
 * @method available(from: number?, to: number?): integer -- Units free during all of [from, to), in seconds; now if not
 *   given.
 * @method uses(): table[] -- The jobs that have units of the vertex, each with the fields job, start, end, amount,
 *   exclusive and active (false while the job is reserved). A stage has the field stage, its
 *   number, and as job minus its number.
 * @method shared(): integer[] -- Jobs that share the vertex now: they have something below it, or use it without units.
 *   Empty where a job has the vertex as a whole.
 * @method jobs(): integer[] -- Jobs that have units of the vertex or of a vertex below.
 * @method allocate(options: table): boolean?, string?, string? -- Allocates {job =, amount =, start =, duration =}
 *   without a match; all units, from now on and without an end if not given. Not for policies.
 * @method release(job: integer | allocation, amount: integer?): boolean?, string?, string? -- Frees the units that a
 *   job has of the vertex, or an amount of them. Not for policies.
 * @method graph(): graph -- The graph of the vertex. */
const luaL_Reg weirlua_vertex_methods[] = {{"uri", vertex_uri},
                                           {"parent", vertex_parent},
                                           {"children", vertex_children},
                                           {"child", vertex_child},
                                           {"nchildren", vertex_nchildren},
                                           {"edges", vertex_edges},
                                           {"ancestor", vertex_ancestor},
                                           {"within", vertex_within},
                                           {"available", vertex_available},
                                           {"uses", vertex_uses},
                                           {"jobs", weirlua_vertex_jobs},
                                           {"shared", vertex_shared},
                                           {"allocate", vertex_allocate},
                                           {"release", vertex_release},
                                           {"below", vertex_below},
                                           {"aggregate", vertex_aggregate},
                                           {"graph", vertex_graph},
                                           {NULL, NULL}};
