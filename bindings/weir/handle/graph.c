/* graph.c - the graph handle and the methods that read a graph. Invariant: a handle is made closed, opened once,
 * registered while open; all methods go through weirlua_check_graph, which raises for a closed handle. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/charge.h"

#include <string.h>

#define HANDLES "weir.core.handles" /* registry: number -> handle, weak */

/* ---- the handle ---- */

struct weirlua_graph *weirlua_graph_closed(lua_State *L)
{
    struct weirlua_graph *handle = lua_newuserdatauv(L, sizeof *handle, 0);

    *handle = (struct weirlua_graph){NULL, 0, false, false, NULL};
    luaL_setmetatable(L, WEIRLUA_GRAPH);
    return handle;
}

static void remember(lua_State *L, uint32_t number)
{
    lua_getfield(L, LUA_REGISTRYINDEX, HANDLES);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, number);
    lua_pop(L, 1);
}

/* Closes a graph. In a finalizer (last) the core's graph is freed later, with the handle: a function of the binding may
 * be reading the graph further down the stack. */
static void close_graph(lua_State *L, struct weirlua *s, struct weirlua_graph *handle, bool last)
{
    weir_graph *g = handle->g;

    if (handle->number)
        weirlua_graph_forget(s, handle);
    handle->number = 0;
    if (!last && lua_gc(L, LUA_GCISRUNNING) != 1)
        return;
    handle->g = NULL;
    weir_graph_free(g);
}

struct weirlua_graph *weirlua_check_graph(lua_State *L, struct weirlua *s, int arg)
{
    struct weirlua_graph *handle = luaL_checkudata(L, arg, WEIRLUA_GRAPH);

    if (handle->borrowed)
        handle = weirlua_graph_find(s, handle->number);
    if (!handle || handle->number == 0)
        luaL_argerror(L, arg, "the graph is closed");
    return handle;
}

void weirlua_check_writable(lua_State *L, const struct weirlua *s, const struct weirlua_graph *handle)
{
    if (s->readonly)
        luaL_error(L, "a policy may only read the graph");
    if (handle->matching)
        luaL_error(L, "the graph cannot be changed while a match runs on it");
    if (lua_gc(L, LUA_GCISRUNNING) < 0)
        luaL_error(L, "a finalizer may not change a graph");
}

void weirlua_push_graph(lua_State *L, struct weirlua *s, struct weirlua_graph *handle)
{
    uint32_t number = handle->number;

    luaL_checkstack(L, 8, "graph");
    lua_getfield(L, LUA_REGISTRYINDEX, HANDLES);
    if (lua_rawgeti(L, -1, number) == LUA_TNIL) {
        if (!s->readonly)
            luaL_error(L, "the graph is being collected");
        handle = weirlua_graph_closed(L);
        handle->borrowed = true;
        handle->number = number;
        remember(L, number);
        lua_replace(L, -2);
    }
    lua_replace(L, -2);
}

static int graph_close(lua_State *L)
{
    struct weirlua_graph *handle = luaL_checkudata(L, 1, WEIRLUA_GRAPH);

    if (handle->borrowed)
        return luaL_error(L, "a policy may only read the graph");
    if (handle->matching)
        return luaL_error(L, "the graph cannot be closed while a match runs on it");
    if (handle->number)
        close_graph(L, weirlua_of(L), handle, false);
    return 0;
}

static int graph_gc(lua_State *L)
{
    struct weirlua_graph *handle = luaL_checkudata(L, 1, WEIRLUA_GRAPH);

    if (!handle->borrowed && !handle->matching)
        close_graph(L, weirlua_of(L), handle, true);
    return 0;
}

static int graph_tostring(lua_State *L)
{
    struct weirlua_graph *handle = luaL_checkudata(L, 1, WEIRLUA_GRAPH), *own = handle;

    if (handle->borrowed)
        handle = weirlua_graph_find(weirlua_of(L), handle->number);
    if (handle && handle->number)
        lua_pushfstring(L, "graph of %I vertices", (LUAI_UACINT)weir_graph_count(handle->g));
    else
        lua_pushfstring(L, "graph (closed): %p", (void *)own);
    return 1;
}

/* ---- making ---- */

int weirlua_graph_finish(lua_State *L, struct weirlua_graph *handle, int rc, const weir_err *err)
{
    if (rc || !handle->g)
        return weirlua_fail(L, err, rc ? rc : WEIR_ENOMEM);
    weirlua_graph_register(L, weirlua_of(L), handle);
    remember(L, handle->number);
    return 1;
}

static int make_empty(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    handle->g = weir_graph_new();
    return weirlua_graph_finish(L, handle, WEIR_OK, &err);
}

static int make_loaded(lua_State *L)
{
    static const char *const known[] = {"format", NULL};
    const char *path = luaL_checkstring(L, 1), *format;
    struct weirlua_graph *handle;
    weir_err err = {0};

    weirlua_options(L, 2, known);
    format = weirlua_field_string(L, 2, "format", NULL);
    handle = weirlua_graph_closed(L);
    return weirlua_graph_finish(L, handle, weir_graph_load(path, format, &handle->g, &err), &err);
}

static int make_parsed(lua_State *L)
{
    static const char *const known[] = {"format", "source", NULL};
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len), *format, *source;
    struct weirlua_graph *handle;
    weir_err err = {0};

    weirlua_options(L, 2, known);
    format = weirlua_field_string(L, 2, "format", NULL);
    source = weirlua_field_string(L, 2, "source", "<string>");
    handle = weirlua_graph_closed(L);
    return weirlua_graph_finish(L, handle, weir_graph_parse(text, len, source, format, &handle->g, &err), &err);
}

/* guess(text): the name of the format that parse would choose for a text, or nil. */
static int guess_format(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);

    lua_pushstring(L, weir_format_guess(text, len));
    return 1;
}

static int make_synthetic(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, handle, weir_graph_parse(text, len, "<synthetic>", "synthetic", &handle->g, &err),
                                &err);
}

static int make_discovered(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_graph_closed(L);
    weir_err err = {0};

    return weirlua_graph_finish(L, handle, weir_graph_discover(&handle->g, &err), &err);
}

/* ---- reading ---- */

static int graph_root(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);

    weirlua_push_vertex(L, handle, weir_graph_root(handle->g, luaL_optstring(L, 2, NULL), 0));
    return 1;
}

static int graph_roots(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *subsystem = luaL_optstring(L, 2, NULL);
    lua_Integer n = 0;
    uint32_t at = 0;
    weir_vertex v;

    lua_newtable(L);
    while ((v = weir_graph_next_root(handle->g, subsystem, &at)) != WEIR_NONE) {
        weirlua_push_vertex(L, handle, v);
        lua_rawseti(L, -2, ++n);
    }
    return 1;
}

static int graph_vertex(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};
    const char *uri = luaL_checkstring(L, 2);
    int64_t begin = weirlua_timing(weirlua_of(L));
    int rc = weir_graph_named(handle->g, uri, &v, &err);

    weirlua_spend_since(L, weirlua_of(L), begin);
    if (rc)
        return weirlua_fail(L, &err, rc);
    weirlua_push_vertex(L, handle, v);
    return 1;
}

/* twin(v): the vertex of this graph with the index of a vertex of another graph. */
static int graph_twin(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = weirlua_check_graph(L, s, 1);
    weir_vertex v = weirlua_check_vertex(L, s, 2).v;

    weir_read_other(handle->g, "g:twin()");
    weirlua_push_vertex(L, handle, weir_vertex_live(handle->g, v) ? v : WEIR_NONE);
    return 1;
}

static int graph_count(lua_State *L)
{
    lua_pushinteger(L, weir_graph_count(weirlua_check_graph(L, weirlua_of(L), 1)->g));
    return 1;
}

static int graph_types(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    lua_Integer n = 0;
    weir_aggregate a;

    lua_newtable(L);
    for (uint32_t i = 0; weir_graph_aggregate(handle->g, WEIR_NONE, i, &a); i++) {
        lua_pushstring(L, a.type);
        lua_rawseti(L, -2, ++n);
    }
    return 1;
}

static int graph_subsystems(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);

    lua_newtable(L);
    for (uint32_t i = 0; i < weir_subsystem_count(handle->g); i++) {
        lua_pushstring(L, weir_subsystem_name(handle->g, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static bool check_all(lua_State *L, int arg)
{
    return weirlua_field_boolean(L, arg, "all", false);
}

const weir_graph *weirlua_view_of(lua_State *L, int options, struct weirlua_graph *handle, weir_vertex below,
                                  weir_err *err)
{
    const char *name = weirlua_field_string(L, options, "subsystem", NULL);
    weir_graph *view;

    if (!name)
        return handle->g;
    if (weirlua_of(L)->readonly)
        luaL_error(L, "field 'subsystem': policies see one hierarchy, that of the match");
    weirlua_check_writable(L, weirlua_of(L), handle);
    err->code = weir_graph_hierarchy_below(handle->g, name, below, &view, err);
    return err->code ? NULL : view;
}

int weirlua_push_sums(lua_State *L, struct weirlua_graph *handle, weir_vertex v, int options)
{
    static const char *const known[] = {"all", "subsystem", NULL};
    const weir_graph *view;
    weir_err err = {0};
    bool all;

    weirlua_options(L, options, known);
    all = check_all(L, options);
    view = weirlua_view_of(L, options, handle, v, &err);
    return view ? weirlua_push_aggregate(L, view, v, all) : weirlua_fail(L, &err, err.code);
}

int weirlua_push_aggregate(lua_State *L, const weir_graph *g, weir_vertex v, bool all)
{
    weir_aggregate a;

    lua_newtable(L);
    for (uint32_t i = 0; weir_graph_aggregate(g, v, i, &a); i++) {
        if (a.free == 0 && !all)
            continue;
        lua_pushstring(L, a.type);
        lua_createtable(L, 0, 3);
        weirlua_set_integer(L, "total", a.total);
        weirlua_set_integer(L, "free", a.free);
        weirlua_set_integer(L, "idle", a.idle);
        lua_rawset(L, -3);
    }
    return 1;
}

static int graph_aggregate(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *handle = weirlua_check_graph(L, s, 1);
    weir_vertex v = lua_isnoneornil(L, 2) ? WEIR_NONE : weirlua_check_vertex_of(L, s, 2, handle);

    weir_read(handle->g, v, WEIR_READ_BELOW);
    return weirlua_push_sums(L, handle, v, 3);
}

/* The iterator. Upvalues: state, graph, next index, number of edges left, serial of the graph, subsystem or nil. */
static int next_edge(lua_State *L)
{
    struct weirlua_graph *handle;
    uint32_t from, i = (uint32_t)lua_tointeger(L, lua_upvalueindex(3)),
                   left = (uint32_t)lua_tointeger(L, lua_upvalueindex(4));
    const char *subsystem = lua_tostring(L, lua_upvalueindex(6));
    bool contained = subsystem && strcmp(subsystem, "containment") == 0, found;
    weir_edge e;

    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(2));
    handle = weirlua_check_graph(L, weirlua_of(L), 1);
    if (weir_graph_serial(handle->g) != (uint64_t)lua_tointeger(L, lua_upvalueindex(5)))
        return luaL_error(L, "the graph changed while its edges were read");
    for (found = false, from = i; !found && (contained || left > 0);) {
        if (contained ? i >= weir_graph_limit(handle->g) : i == UINT32_MAX)
            return 0;
        if (contained)
            found = weir_vertex_live(handle->g, i) && weir_vertex_edge(handle->g, i, subsystem, false, 0, &e);
        else if (weir_edge_get(handle->g, i, &e)) {
            left--;
            found = !subsystem || strcmp(e.subsystem, subsystem) == 0;
        }
        i++;
    }
    if (!found)
        return 0;
    weirlua_spend(L, weirlua_of(L), i - from);
    lua_pushinteger(L, (lua_Integer)i);
    lua_replace(L, lua_upvalueindex(3));
    lua_pushinteger(L, (lua_Integer)left);
    lua_replace(L, lua_upvalueindex(4));
    weirlua_push_edge(L, handle, &e);
    return 1;
}

static int graph_edges(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *subsystem = luaL_optstring(L, 2, NULL);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushinteger(L, weir_edge_count(handle->g));
    lua_pushinteger(L, (lua_Integer)weir_graph_serial(handle->g));
    lua_pushstring(L, subsystem);
    lua_pushcclosure(L, next_edge, 6);
    return 1;
}

static int graph_check(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    weir_err err = {0};

    return weirlua_status(L, weir_check(handle->g, &err), &err);
}

static int graph_bytes(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)weir_graph_bytes(weirlua_check_graph(L, weirlua_of(L), 1)->g));
    return 1;
}

static int graph_now(lua_State *L)
{
    const weir_graph *g = weirlua_check_graph(L, weirlua_of(L), 1)->g;

    weir_read(g, WEIR_NONE, WEIR_READ_NOW);
    weirlua_push_time(L, weir_graph_now(g));
    return 1;
}

/* validity(): the start and the end of the time in which jobs may use the resources; nil: without a bound. */
static int graph_validity(lua_State *L)
{
    int64_t from, until;

    weir_graph_validity(weirlua_check_graph(L, weirlua_of(L), 1)->g, &from, &until);
    if (from > 0)
        weirlua_push_time(L, from);
    else
        lua_pushnil(L);
    if (until < WEIR_FOREVER)
        weirlua_push_time(L, until);
    else
        lua_pushnil(L);
    return 2;
}

/* @class graph A machine: vertices, edges, and the schedules of the vertices.
 * @method root(subsystem: string?, i: integer?): vertex? -- The (i-th) root of a subsystem; of containment if not
 *   given.
 * @method roots(subsystem: string?): vertex[] -- All roots of a subsystem.
 * @method vertex(uri: string): vertex?, string?, string? -- The vertex of a path or URI, or of a name that no other
 *   vertex has ("node3", "rack1/core0"; levels may be left out); also g(uri).
 * @method twin(v: vertex): vertex? -- The vertex of this graph for a vertex of a duplicate of it, or of the graph that
 *   it is a duplicate of (g:dup()); nil where there is none.
 * @method count(): integer -- The number of vertices.
 * @method types(): string[] -- The types of pools.
 * @method subsystems(): string[] -- The subsystems; the first is "containment".
 * @method edges(subsystem: string?): fun(): edge? -- Iterates over the edges of a subsystem ("containment" too), or of
 *   all but containment: {source, target, subsystem, type, back}.
 * @method aggregate(v: vertex?, options: table?): table<string, table> -- Units by type below a vertex, or in all:
 *   {core = {total, free, idle}}. Types without a free unit are left out, unless with {all = true}; with {subsystem =
 *   "power"} what is below in this hierarchy counts (not for policies, which see the hierarchy of the match).
 * @method now(): number -- The clock of the graph, in seconds.
 * @method validity(): number?, number? -- The start and the end, in seconds, of the time in which jobs may use the
 *   resources (starttime and expiration of R); nil: without a bound.
 * @method walk(options: table): fun(): vertex?, string -- Iterates: {start =, subsystem =, type =,
 *   order = "pre" | "post" | "both" | "breadth", upward =, reverse =, prune = function, evaluate = function, best = n,
 *   order_children = function, visit = function, fields = "type" | {"type", "id", "free"}}. The functions and the loop
 *   get the fields after all further arguments, at less than half the cost of reading the fields. With evaluate: the
 *   vertices with scores, best first.
 * @method accumulator(best: integer?): accumulator -- An empty accumulator of the `best` highest scores, or of all, for
 *   filters that add other vertices than the one they are called for, such as what a walk within a filter finds. */
const luaL_Reg weirlua_graph_readers[] = {{"root", graph_root},
                                          {"roots", graph_roots},
                                          {"vertex", graph_vertex},
                                          {"count", graph_count},
                                          {"twin", graph_twin},
                                          {"types", graph_types},
                                          {"subsystems", graph_subsystems},
                                          {"edges", graph_edges},
                                          {"aggregate", graph_aggregate},
                                          {"now", graph_now},
                                          {"validity", graph_validity},

                                          {NULL, NULL}};

/* @class script_graph Further methods for scripts; a policy can call none of these. What fails
 *   changes nothing and returns nil, a message and a code; a wrong argument raises.
 * @method add(parent: vertex?, pool: table, count: integer?, stride: integer?): vertex?, string?, string? -- Adds
 *   a pool below a vertex, or with nil as a root: {type =, basename =, name =, id =, size =, unit =, rank =,
 *   exclusive =, uuid =, properties =, tags =}. With count so many, whose ids and ranks go up by stride (1). Returns
 *   the first.
 * @method unlink(v: vertex, options: table | string | nil): boolean | table[] | nil, string?, string?, integer[]? --
 *   Takes a vertex with all below out of {subsystem =}, by default out of containment; the subsystem may be given in
 *   place of the table. What jobs have is refused (busy, with the list of the jobs), unless {force = true} takes it
 *   from them; then the list of {job =, path =, type =, vertex =, amount =} that they lost is returned.
 * @method attach(v: vertex, parent: vertex?): boolean?, string?, string? -- Gives a vertex that left containment,
 *   and that another subsystem holds, a place below a vertex, or among the roots.
 * @method add_edge(source: vertex, target: vertex, options: table): boolean?, string?, string? -- Adds an edge of
 *   another subsystem than containment: {subsystem =, type = "contains" if not given, back = the opposite type}.
 * @method remove_edge(source: vertex, target: vertex, options: table): boolean?, string?, string? -- Removes an
 *   edge: {subsystem =, type = any if not given}.
 * @method merge(other: graph, uri: string?, options: table?): boolean?, string?, string? -- Adds the vertices and
 *   edges that the other graph has and this one has not. Vertices of one path are one; uri is the vertex that the
 *   root of the other is, or a new path. {parts = true}: pools of one path are parts, whose units are added up.
 * @method split(v: vertex, units: integer): vertex?, string?, string? -- Takes units out of a pool for a new pool
 *   next to it, which is returned. Below a vertex that a job has as a whole, the job has both.
 * @method join(v: vertex, part: vertex): boolean?, string?, string? -- Adds the units of a sibling pool to v; the
 *   other pool is no more.
 * @method refine(v: vertex, n: integer): vertex[]?, string?, string? -- Splits a pool into n equal pools: the
 *   list, v first.
 * @method copy(v: vertex): graph?, string?, string? -- A new graph of what is available now at and below v, of all
 *   above, and of what serves it in other subsystems; sizes are what is free, and nothing is allocated.
 * @method extract(list: vertex[]): graph?, string?, string? -- A new graph of the vertices with all below and
 *   above, and of the edges between these.
 * @method dup(): graph?, string?, string? -- A new graph with everything: jobs, clock, UUIDs.
 * @method hierarchy(name: string): graph?, string?, string? -- A duplicate in which another subsystem is the tree.
 * @method coarsen(options: table): graph?, fun(v: vertex): vertex | vertex[] | nil, string? -- A coarse view that has
 *   the types {keep = {"rack"}} and those above as vertices, and all below as pools of counts; and the map: map(v) of
 *   a fine vertex is the vertex of the view, of a vertex of the view the list of the fine ones. {follow = true}: the
 *   view has jobs, states and clock of the fine graph, as of the last follow(), expand() or match of an engine on it.
 * @method follow(): boolean?, integer[] | string | nil, string? -- Of a view made to follow: brings it up to date.
 *   True, and the ids of jobs of the view that were not expanded and gave way; or nil, message, and code stale after
 *   vertices came or went.
 * @method expand(a: allocation, options: table?): allocation?, string?, string? -- Of a view: allocates on the
 *   fine graph what an allocation took on the view; {job =} is the id.
 * @method find(expression: string | query, options: table?): vertex[] | graph | nil, string?, string? -- The vertices
 *   that match an expression or a query, in preorder: {start = a vertex, subsystem =, as = "list" or "graph"}. A
 *   graph has them with all below and above.
 * @method flow(options: table): table?, string?, string? -- The greatest flow in {subsystem =} to {to = a vertex
 *   or a list}: {from = the source, if not any, units = requested by each, at =, duration =, capacity = true to leave
 *   out what jobs have}. The result has amount, all, served, shares and cut.
 * @method compare(other: graph, books: boolean?): boolean?, string?, string? -- Whether two graphs are equal, with
 *   books also their jobs; or nil and the first difference.
 * @method diff(other: graph): string?, string?, string? -- What leads from this graph to the other, as a text.
 * @method apply(difference: string, source: string?): graph?, string?, string? -- A new graph to which the
 *   difference leads; source is the name for errors.
 * @method save(path: string, options: table?): boolean?, string?, string? -- Writes a file: {format = by the
 *   suffix if not given, changed = true for what changed since the last save alone}.
 * @method changed(): vertex[] -- The vertices that changed since the last save.
 * @method format(format: string, options: table?): string?, string?, string? -- The text of a format: jgf,
 *   document, rv1, rv1_nosched, rlite, csv, dot, recipe, svg, tree; {start = a vertex: the part below} for csv and
 *   pictures.
 * @method write(file: file, format: string, options: table?): boolean?, string?, string? -- Writes such a text to
 *   an open file.
 * @method losses(format: string): string[] -- What a format cannot hold of this graph.
 * @method rset(options: table?): rset -- The R of the graph: {state = "all", "down" or "allocated", scheduling = true
 *   for the graph in it, of all only}.
 * @method resolve(text: string, options: table?): table[]?, string?, string? -- The picks {vertex =, amount =,
 *   exclusive =} of the JSON graph of an allocation; {source =} is the name for errors.
 * @method resolve_flows(job: integer, text: string, options: table?): boolean?, string?, string? -- Informs a job that
 *   was booked by such picks which units of switches and the like flow to which vertex, as the text says, so that they
 *   are given back with the vertex; {source =} is the name for errors.
 * @method pieces(stamp: string?): pieces?, string?, string? -- The graph as texts under keys, or what changed since a
 *   save.
 * @method fold(list: vertex[], levels: integer?): table -- Equal subtrees once, for pictures of large machines.
 * @method set_validity(start: number?, stop: number?): boolean?, string?, string? -- Sets the time in which jobs
 *   may use the resources.
 * @method advance(to: number): boolean?, string?, string? -- Moves the clock on; jobs begin and end.
 * @method rewind(to: number): boolean?, string?, string? -- Sets the clock back, and the times of jobs with it.
 * @method uuid(text: string?): string | boolean | nil, string?, string? -- The UUID of the graph, or gives the graph
 *   another one.
 * @method begin(): nil -- Begins many additions: sums are computed once, by finish.
 * @method finish(): boolean?, string?, string? -- Ends many additions.
 * @method check(): boolean?, string?, string? -- Checks the whole structure, for tests.
 * @method bytes(): integer -- The memory that the graph takes.
 * @method close(): nil -- Frees the graph; its vertices and engines raise from then on. */
const luaL_Reg weirlua_graph_meta[] = {{"__gc", graph_gc},
                                       {"__close", graph_close},
                                       {"__tostring", graph_tostring},
                                       {"__call", graph_vertex},
                                       {NULL, NULL}};
/* They may take long: not for policies. */
const luaL_Reg weirlua_graph_owners[] = {
    {"check", graph_check}, {"bytes", graph_bytes}, {"close", graph_close}, {NULL, NULL}};

void weirlua_graph_handles_open(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_setfield(L, LUA_REGISTRYINDEX, HANDLES);
}

const luaL_Reg weirlua_graph_functions[] = {{"new", make_empty},
                                            {"load", make_loaded},
                                            {"parse", make_parsed},
                                            {"guess", guess_format},
                                            {"synthetic", make_synthetic},
                                            {"discover", make_discovered},
                                            {NULL, NULL}};
