/* walk_order.c - walks whose order of children comes from a Lua function. Invariant: frame i is a list of vertices to
 * visit; frame 1 has the starts, each later frame the children of a vertex in the frame before. Whatever Lua code can
 * have changed is checked after each call. */
#include <string.h>

#include "handle/walk.h"

struct order_frame {
    weir_vertex v; /* the parent of the children in the frame; WEIR_NONE for starts */
    uint32_t n, next;
    weir_vertex kids[];
};

/* ---- lists of children ---- */

/* Returns the i-th neighbour of v in the walk's subsystem and direction, or WEIR_NONE. */
static weir_vertex end_at(lua_State *L, const weir_graph *g, const struct walk *walk, weir_vertex v, uint32_t i)
{
    weir_edge e;

    weirlua_spend(L, walk->state, 16);
    if (v == WEIR_NONE)
        return weir_graph_root(g, walk->subsystem, i);
    if (strcmp(walk->subsystem, "containment") != 0)
        weirlua_spend(L, walk->state, i); /* edges are a list */
    if (strcmp(walk->subsystem, "containment") != 0)
        return weir_vertex_edge(g, v, walk->subsystem, !walk->upward, i, &e) ? (walk->upward ? e.source : e.target)
                                                                             : WEIR_NONE;
    if (walk->upward)
        return i == 0 ? weir_vertex_parent(g, v) : WEIR_NONE;
    return i < weir_vertex_children(g, v) ? weir_vertex_child(g, v, i) : WEIR_NONE;
}

static uint32_t count_ends(lua_State *L, const weir_graph *g, const struct walk *walk, weir_vertex v)
{
    uint32_t n = 0;

    while (end_at(L, g, walk, v, n) != WEIR_NONE)
        n++;
    return n;
}

static struct weirlua_graph *check_same(lua_State *L, const struct walk *walk)
{
    struct weirlua_graph *handle = weirlua_walk_graph(L, walk);

    if (weir_graph_serial(handle->g) != walk->serial)
        luaL_error(L, "the graph changed while it was walked");
    return handle;
}

/* Asks the function whether b comes before a. */
static bool before(lua_State *L, int at, struct walk *walk, weir_vertex b, weir_vertex a)
{
    struct weirlua_graph *handle = check_same(L, walk);
    bool less;

    weirlua_walk_charge(L, walk, 1);
    lua_getiuservalue(L, at, WALK_COMPARE);
    weirlua_push_vertex(L, handle, b);
    weirlua_push_vertex(L, handle, a);
    lua_call(L, 2, 1);
    less = lua_toboolean(L, -1);
    lua_pop(L, 1);
    check_same(L, walk);
    return less;
}

/* Merges [lo, mid) and [mid, hi) of `from` into `to`; of equal vertices, those in [lo, mid) come first. */
static void merge(lua_State *L, int at, struct walk *walk, const weir_vertex *from, weir_vertex *to, uint32_t lo,
                  uint32_t mid, uint32_t hi)
{
    uint32_t i = lo, k = mid;

    for (uint32_t n = lo; n < hi; n++) {
        bool right = i == mid || (k < hi && before(L, at, walk, from[k], from[i]));
        to[n] = right ? from[k++] : from[i++];
    }
}

/* Sorts by the function. Stable, and within bounds whatever the function answers. */
static void sort(lua_State *L, int at, struct walk *walk, weir_vertex *list, uint32_t n)
{
    weir_vertex *spare = lua_newuserdatauv(L, (n + (size_t)1) * sizeof *spare, 0);

    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t lo = 0; lo < n; lo += 2 * width) {
            uint32_t mid = n - lo < width ? n : lo + width, hi = n - mid < width ? n : mid + width;
            merge(L, at, walk, list, spare, lo, mid, hi);
        }
        memcpy(list, spare, n * sizeof *list);
    }
    lua_pop(L, 1);
}

/* Descends: makes the sorted children of v (the starts for WEIR_NONE) the top frame. */
static void push_frame(lua_State *L, int at, struct walk *walk, weir_vertex v, weir_vertex start)
{
    struct weirlua_graph *handle = weirlua_walk_graph(L, walk);
    uint32_t n = start != WEIR_NONE ? 1 : count_ends(L, handle->g, walk, v);
    struct order_frame *f;

    luaL_checkstack(L, 8, "walk");
    f = lua_newuserdatauv(L, sizeof *f + n * sizeof f->kids[0], 0);
    f->v = v;
    f->n = f->next = 0;
    for (handle = check_same(L, walk); f->n < n; f->n++)
        f->kids[f->n] = start != WEIR_NONE ? start : end_at(L, handle->g, walk, v, f->n);
    sort(L, at, walk, f->kids, n);
    lua_getiuservalue(L, at, WALK_FRAMES);
    lua_insert(L, -2);
    lua_rawseti(L, -2, (lua_Integer)++walk->nframes);
    lua_pop(L, 1);
}

static void pop_frame(lua_State *L, int at, struct walk *walk)
{
    lua_getiuservalue(L, at, WALK_FRAMES);
    lua_pushnil(L);
    lua_rawseti(L, -2, (lua_Integer)walk->nframes--);
    lua_pop(L, 1);
}

/* Returns the top frame, which the list of frames keeps alive. */
static struct order_frame *top_frame(lua_State *L, int at, const struct walk *walk)
{
    struct order_frame *f;

    lua_getiuservalue(L, at, WALK_FRAMES);
    lua_rawgeti(L, -1, (lua_Integer)walk->nframes);
    f = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return f;
}

/* ---- steps ---- */

/* Marks v as visited. Returns false when v had been visited. */
static bool meet(lua_State *L, int at, weir_vertex v)
{
    uint8_t *seen, bit = (uint8_t)(1u << v % 8);
    bool first;

    lua_getiuservalue(L, at, WALK_SEEN);
    seen = lua_touserdata(L, -1);
    first = !(seen[v / 8] & bit);
    seen[v / 8] |= bit;
    lua_pop(L, 1);
    return first;
}

/* Returns the next unvisited vertex of a frame, or WEIR_NONE. */
static weir_vertex next_kid(lua_State *L, int at, const struct walk *walk, struct order_frame *f)
{
    while (f->next < f->n) {
        weir_vertex v = f->kids[walk->reverse ? f->n - 1 - f->next : f->next];
        f->next++;
        if (meet(L, at, v))
            return v;
    }
    return WEIR_NONE;
}

int weirlua_order_next(lua_State *L, int at, struct walk *walk, weir_vertex *v)
{
    struct order_frame *f;

    check_same(L, walk);
    *v = walk->pending;
    walk->pending = WEIR_NONE;
    if (*v != WEIR_NONE && walk->cut) {
        walk->cut = false;
        return WEIR_POSTORDER;
    }
    if (*v != WEIR_NONE)
        push_frame(L, at, walk, *v, WEIR_NONE);
    if (!walk->open)
        return luaL_error(L, "the walk was closed by its own filter");
    f = top_frame(L, at, walk);
    walk->pending = *v = next_kid(L, at, walk, f);
    walk->depth = walk->nframes - 1;
    if (*v != WEIR_NONE)
        return WEIR_PREORDER;
    *v = f->v;
    if (*v == WEIR_NONE)
        return 0;
    walk->depth = walk->nframes - 2;
    pop_frame(L, at, walk);
    return WEIR_POSTORDER;
}

void weirlua_order_begin(lua_State *L, int at, struct walk *walk, weir_vertex start)
{
    const weir_graph *g = weirlua_walk_graph(L, walk)->g;
    size_t bytes = weir_graph_limit(g) / 8 + 1;

    walk->pending = WEIR_NONE;
    walk->open = true;
    lua_newtable(L);
    lua_setiuservalue(L, at, WALK_FRAMES);
    memset(lua_newuserdatauv(L, bytes, 0), 0, bytes);
    lua_setiuservalue(L, at, WALK_SEEN);
    push_frame(L, at, walk, WEIR_NONE, start);
}
