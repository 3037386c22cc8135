/* walk_order.c - the order of children from a Lua function: the core lists what is below a vertex, and gets the list
 * back in order before the walk continues. Invariant: a copy of the list is sorted, and what Lua code can have changed
 * is checked after each call. */
#include <string.h>

#include "handle/support.h"
#include "handle/vertex.h"
#include "handle/walk.h"
#include "policy/charge.h"

static struct weirlua_graph *check_same(lua_State *L, const struct walk *walk)
{
    struct weirlua_graph *handle = weirlua_walk_graph(L, walk);

    if (weir_graph_serial(handle->g) != walk->serial)
        luaL_error(L, "the graph changed while it was walked");
    return handle;
}

/* Calls the function: whether b comes before a. */
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

/* Sorts by the function. Stable, and within bounds for any results of the function. */
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

void weirlua_walk_sort(lua_State *L, int at, struct walk *walk)
{
    uint32_t n, now;
    const weir_vertex *ends;
    weir_vertex *list;
    weir_err err = {0};

    weir_walk_ends(walk->w, &n);
    weirlua_spend(L, walk->state, (int64_t)n * 16);
    if (n < 2)
        return;
    list = lua_newuserdatauv(L, n * sizeof *list, 0);
    ends = walk->open ? weir_walk_ends(walk->w, &now) : NULL;
    if (!ends || now != n)
        luaL_error(L, "the walk was closed by its own filter");
    memcpy(list, ends, n * sizeof *list);
    sort(L, at, walk, list, n);
    if (!walk->open)
        luaL_error(L, "the walk was closed by its own filter");
    if (weir_walk_reorder(walk->w, list, n, &err))
        weirlua_raise(L, &err);
    lua_pop(L, 1);
}
