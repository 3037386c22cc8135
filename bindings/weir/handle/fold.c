/* fold.c - g:fold(list): equal subtrees of a graph are described once, for pictures and trees of large machines.
 * Vertices are numbered in preorder; the numbers of vertices, kinds and shapes count from 0. Two vertices have one
 * shape if the vertices below are equal in type, basename, unit, size, id and rank; names, states and jobs do not
 * count.
 *
 * Invariant: runs[base..n) are the runs of children of the vertex whose children are being read; the runs of the
 * vertices above come before. The runs are a userdata of Lua, so that an error frees them. */
#include "handle/vertex.h"

#include <stdio.h>
#include <string.h>

#define RUN_NUMBERS 6
#define OWN_VALUES  4

/* Neighbouring children of one kind and shape: ids ascend by `step`, ranks by 1. An id of -1 means none; a rank of -1
 * means none, or the rank of the parent. */
struct fold_run {
    lua_Integer kind, id, step, count, shape, rank;
};

struct fold {
    lua_State *L;
    const struct weirlua_graph *handle;
    const weir_graph *g;
    struct fold_run *runs;
    size_t n, cap;
    struct {
        const char *type, *basename, *unit;
        int64_t size;
    } last;            /* kind found last, with interned texts of the graph */
    lua_Integer kind;  /* number of the kind found last, or -1 */
    lua_Integer count; /* vertices read */
    lua_Integer kinds, shapes, own;
    struct {
        weir_vertex v;
        lua_Integer p, own;     /* number; place in the list of OWN, or -1 */
    } way[WEIR_PATH_DEPTH + 1]; /* the vertex being read, behind the vertices above */
    size_t depth, levels;       /* levels read: children of a vertex on the last level are left out */
};

/* Places on the stack. */
enum { TOPS = 2, LEVELS, RESULT, KINDS, SHAPES, OWN, KIND_NUMBERS, SHAPE_NUMBERS, RUNS };

/* Returns the number of the text at the top in the table `numbers`, and pops the text; -1 for a new text, to which
 * `next` is given. */
static lua_Integer intern(lua_State *L, int numbers, lua_Integer next)
{
    lua_Integer known;

    lua_pushvalue(L, -1);
    if (lua_rawget(L, numbers) == LUA_TNUMBER) {
        known = lua_tointeger(L, -1);
        lua_pop(L, 2);
        return known;
    }
    lua_pop(L, 1);
    lua_pushinteger(L, next);
    lua_rawset(L, numbers);
    return -1;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static void push_kind(struct fold *f)
{
    lua_createtable(f->L, 4, 0);
    lua_pushstring(f->L, f->last.type);
    lua_rawseti(f->L, -2, 1);
    lua_pushstring(f->L, f->last.basename);
    lua_rawseti(f->L, -2, 2);
    lua_pushinteger(f->L, f->last.size);
    lua_rawseti(f->L, -2, 3);
    lua_pushstring(f->L, f->last.unit);
    lua_rawseti(f->L, -2, 4);
    lua_rawseti(f->L, KINDS, f->kinds);
}

static lua_Integer kind_of(struct fold *f, weir_vertex v)
{
    const char *type = weir_vertex_type(f->g, v), *basename = weir_vertex_basename(f->g, v);
    const char *unit = weir_vertex_unit(f->g, v);
    int64_t size = weir_vertex_size(f->g, v);

    if (f->kind >= 0 && f->last.type == type && f->last.basename == basename && f->last.unit == unit &&
        f->last.size == size)
        return f->kind;
    memset(&f->last, 0, sizeof f->last);
    f->last.type = type;
    f->last.basename = basename;
    f->last.unit = unit;
    f->last.size = size;
    lua_pushlstring(f->L, (const char *)&f->last, sizeof f->last);
    f->kind = intern(f->L, KIND_NUMBERS, f->kinds);
    if (f->kind >= 0)
        return f->kind;
    f->kind = f->kinds++;
    push_kind(f);
    return f->kind;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void push_runs(lua_State *L, const struct fold_run *runs, size_t n)
{
    lua_createtable(L, (int)n * RUN_NUMBERS, 0);
    for (size_t i = 0; i < n; i++) {
        const lua_Integer x[RUN_NUMBERS] = {runs[i].kind,  runs[i].id,    runs[i].step,
                                            runs[i].count, runs[i].shape, runs[i].rank};
        for (int k = 0; k < RUN_NUMBERS; k++) {
            lua_pushinteger(L, x[k]);
            lua_rawseti(L, -2, (lua_Integer)i * RUN_NUMBERS + k + 1);
        }
    }
}

/* Takes the runs from `base` on as a shape. Returns the number of the shape. */
static lua_Integer shape_of(struct fold *f, size_t base)
{
    lua_Integer shape;

    lua_pushlstring(f->L, (const char *)(f->runs + base), (f->n - base) * sizeof *f->runs);
    shape = intern(f->L, SHAPE_NUMBERS, f->shapes);
    if (shape < 0) {
        push_runs(f->L, f->runs + base, f->n - base);
        shape = f->shapes++;
        lua_rawseti(f->L, SHAPES, shape + 1);
    }
    f->n = base;
    return shape;
}

static void reserve_run(struct fold *f)
{
    size_t cap = f->cap ? 2 * f->cap : 64;
    struct fold_run *runs;

    if (f->n < f->cap)
        return;
    runs = lua_newuserdatauv(f->L, cap * sizeof *runs, 0);
    if (f->n > 0)
        memcpy(runs, f->runs, f->n * sizeof *runs);
    f->runs = runs;
    f->cap = cap;
    lua_replace(f->L, RUNS);
}

static bool extends(const struct fold_run *last, const struct fold_run *child)
{
    lua_Integer far;

    if (last->kind != child->kind || last->shape != child->shape || child->id < 0 || last->id < 0)
        return false;
    far = child->id - last->id;
    if (child->rank < 0 ? last->rank >= 0 : last->rank < 0 || child->rank - last->rank != last->count)
        return false;
    return last->count == 1 || (last->step == 0 ? far == 0 : far % last->step == 0 && far / last->step == last->count);
}

/* Adds a child to the runs from `base` on, by extending the last run where possible. */
static void add_child(struct fold *f, size_t base, const struct fold_run *child)
{
    struct fold_run *last = f->n > base ? &f->runs[f->n - 1] : NULL;

    if (last && extends(last, child)) {
        last->step = last->count == 1 ? child->id - last->id : last->step;
        last->count++;
        return;
    }
    reserve_run(f);
    f->runs[f->n++] = *child;
}

/* ---- vertices of their own --------------------------------------------------------------------------------------- */

static bool has_usual_name(const weir_graph *g, weir_vertex v)
{
    char usual[128], name[128];
    int64_t id = weir_vertex_id(g, v);
    const char *basename = weir_vertex_basename(g, v);
    size_t most = strlen(basename) + 24;
    int n;

    if (id == WEIR_NO_ID || id < 0)
        return false;
    if (most > sizeof usual)
        return false;
    n = snprintf(usual, sizeof usual, "%s%lld", basename, (long long)id);
    return weir_vertex_name(g, v, name, sizeof name) == (size_t)n && strcmp(name, usual) == 0;
}

static bool has_edges(const weir_graph *g, weir_vertex v)
{
    weir_edge e;

    for (uint32_t i = 1; i < weir_subsystem_count(g); i++)
        if (weir_vertex_edge(g, v, weir_subsystem_name(g, i), true, 0, &e) ||
            weir_vertex_edge(g, v, weir_subsystem_name(g, i), false, 0, &e))
            return true;
    return false;
}

/* Returns whether a vertex has a name, a state, properties, tags, jobs or edges of its own. A usual name that is too
 * long for a quick comparison counts as a name. */
static bool stands_out(const weir_graph *g, weir_vertex v)
{
    weir_use use;

    return weir_vertex_state(g, v) != WEIR_UP || weir_vertex_count(g, v, WEIR_PROPERTIES) > 0 ||
           weir_vertex_count(g, v, WEIR_TAGS) > 0 || weir_vertex_use(g, v, 0, &use) || !has_usual_name(g, v) ||
           has_edges(g, v);
}

static void set_own(struct fold *f, lua_Integer at, lua_Integer value)
{
    lua_pushinteger(f->L, value);
    lua_rawseti(f->L, OWN, at);
}

/* Lists the vertices on the way that are not listed yet. */
static void list_way(struct fold *f)
{
    for (size_t i = 0; i < f->depth; i++) {
        if (f->way[i].own >= 0)
            continue;
        set_own(f, f->own + 1, f->way[i].p);
        weirlua_push_vertex(f->L, f->handle, f->way[i].v);
        lua_rawseti(f->L, OWN, f->own + 4);
        f->way[i].own = f->own;
        f->own += OWN_VALUES;
    }
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Adds a vertex to the runs from `base` on. `above`: the rank of the parent. */
static void add_vertex(struct fold *f, weir_vertex v, size_t base, int64_t above)
{
    uint32_t n = weir_vertex_children(f->g, v);
    int64_t rank = weir_vertex_rank(f->g, v), id = weir_vertex_id(f->g, v);
    struct fold_run child = {kind_of(f, v), id == WEIR_NO_ID || id < 0 ? -1 : id, 0, 1, 0, -1};
    size_t inner = f->n, level = f->depth++;

    if (rank != WEIR_NO_RANK && rank != above)
        child.rank = rank;
    f->way[level].v = v;
    f->way[level].p = f->count++;
    f->way[level].own = -1;
    if (stands_out(f->g, v) || (n > 0 && f->depth == f->levels))
        list_way(f);
    for (uint32_t i = 0; i < n && f->depth < f->levels; i++)
        add_vertex(f, weir_vertex_child(f->g, v, i), inner, rank);
    if (f->n > inner)
        child.shape = shape_of(f, inner);
    if (f->way[level].own >= 0) {
        set_own(f, f->way[level].own + 2, f->count);
        set_own(f, f->way[level].own + 3, child.shape);
    }
    f->depth = level;
    add_child(f, base, &child);
}

/* Adds each vertex of the list of vertices at TOPS. */
static void add_tops(struct fold *f)
{
    lua_Integer n = luaL_len(f->L, TOPS);

    for (lua_Integer i = 1; i <= n; i++) {
        weir_vertex v, parent;
        lua_rawgeti(f->L, TOPS, i);
        v = weirlua_check_vertex_of(f->L, weirlua_of(f->L), lua_gettop(f->L), f->handle);
        lua_pop(f->L, 1);
        parent = weir_vertex_parent(f->g, v);
        add_vertex(f, v, 0, parent == WEIR_NONE ? WEIR_NO_RANK : weir_vertex_rank(f->g, parent));
    }
}

/* fold(list, levels): describes the vertices of a list, none of them below another, with all vertices below, or down to
 * a number of levels. Returns a table of
 *   count   number of vertices
 *   kinds   list of {type, basename, size, unit}
 *   shapes  list of flat lists of runs; the first shape is empty. A run has six numbers: kind, id of the first vertex,
 *           step from id to id, count, shape of each vertex, rank of the first vertex
 *   roots   runs of the vertices of the list
 *   own     flat list of number, number behind the vertices below, shape, vertex, in order: each vertex that has, or
 *           has below, a name, state, properties, tags, jobs or edges of its own, or children that are left out
 * O(vertices described) */
int weirlua_graph_fold(lua_State *L)
{
    static const char *const fields[] = {"kinds", "shapes", "own"};
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    struct fold f = {.L = L, .handle = handle, .g = handle->g, .kind = -1, .shapes = 1};

    luaL_checktype(L, TOPS, LUA_TTABLE);
    lua_settop(L, LEVELS);
    f.levels = (size_t)luaL_optinteger(L, LEVELS, WEIR_PATH_DEPTH + 1);
    luaL_argcheck(L, f.levels > 0 && f.levels <= WEIR_PATH_DEPTH + 1, LEVELS, "a number of levels expected");
    luaL_checkstack(L, RUNS, "fold");
    for (int i = RESULT; i < RUNS; i++)
        lua_newtable(L);
    lua_pushnil(L);
    lua_newtable(L);
    lua_rawseti(L, SHAPES, 1);
    add_tops(&f);
    lua_pushinteger(L, f.count);
    lua_setfield(L, RESULT, "count");
    push_runs(L, f.runs, f.n);
    lua_setfield(L, RESULT, "roots");
    for (int i = 0; i < 3; i++) {
        lua_pushvalue(L, KINDS + i);
        lua_setfield(L, RESULT, fields[i]);
    }
    lua_settop(L, RESULT);
    return 1;
}
