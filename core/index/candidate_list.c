/* candidate_list.c - all vertices of a type in the order of an index: made on first use; new vertices are inserted
 * and removed vertices deleted, all of one change at once. Invariant: the list equals a new list, except for
 * noted vertices; out of memory there is no list. */
#include "index/candidate_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

struct vertices {
    weir_vertex *list;
    uint32_t n, cap;
};

/* Adds the vertices of the type at and below v, in preorder. */
static int add_below(const weir_graph *g, const struct index *x, weir_vertex v, struct vertices *out)
{
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    if (kind_of(g, v)->type == x->type) {
        if (WEIR_ARRAY_ADD(out->list, out->n, out->cap, v))
            return WEIR_ENOMEM;
    }
    if (!index_has_rows(g, x, in))
        return WEIR_OK;
    for (uint32_t i = 0; !rc && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = add_below(g, x, in->kids[i], out);
    return rc;
}

struct list_ordering {
    const weir_graph *g;
    const struct order *order;
};

static int by_order(const void *a, const void *b, void *data)
{
    const struct list_ordering *o = data;
    weir_vertex x = *(const weir_vertex *)a, y = *(const weir_vertex *)b;
    return x == y ? 0 : order_before(o->g, o->order, x, y) ? -1 : 1;
}

void weir_index_list_drop(struct index *x)
{
    WEIR_FREE(x->list, x->bits);
    x->list = NULL;
    x->bits = NULL;
    x->nlist = x->list_cap = 0;
    x->bits_of = 0;
}

/* Whether vertices in preorder are in order (1), or in reverse order (-1). */
static int straightness(const weir_graph *g, const struct index *x, const struct vertices *all)
{
    bool up = true, down = true;

    for (uint32_t i = 1; i < all->n && (up || down); i++) {
        bool before = order_before(g, &x->order, all->list[i - 1], all->list[i]);
        up = up && before;
        down = down && !before;
    }
    return up ? 1 : down ? -1 : 0;
}

/* Sorts vertices in preorder; returns the straightness before. */
static int put_in_order(const weir_graph *g, const struct index *x, struct vertices *all)
{
    struct list_ordering o = {g, &x->order};
    int straight = straightness(g, x, all);

    if (all->n && straight <= 0)
        qsort_r(all->list, all->n, sizeof *all->list, by_order, &o);
    return straight;
}

int weir_index_list(const weir_graph *g, struct index *x)
{
    struct vertices all = {0};
    int rc = WEIR_OK;

    if (x->list)
        return WEIR_OK;
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = add_below(g, x, g->roots[i], &all);
    if (rc) {
        weir_mem_free(all.list);
        return rc;
    }
    x->straight = put_in_order(g, x, &all);
    x->list = all.list;
    x->nlist = all.n;
    x->list_cap = all.cap;
    return WEIR_OK;
}

/* ---- changes ---- */

/* Position of v in the list, or the position to insert v, from `lo` on. */
static uint32_t place_of(const weir_graph *g, const struct index *x, weir_vertex v, uint32_t lo)
{
    uint32_t at;

    WEIR_BISECT(at, lo, x->nlist, x->list[at] != v && order_before(g, &x->order, x->list[at], v));
    return at;
}

/* Whether a is before b in the tree; neither is an ancestor. O(d) */
static bool tree_before(const weir_graph *g, weir_vertex a, weir_vertex b)
{
    vertices_part(g, &a, &b);
    return vertex_at(g, a)->pos < vertex_at(g, b)->pos;
}

/* Whether the entry at `at` is between its neighbours in the tree, too. */
static bool stands(const weir_graph *g, const struct index *x, uint32_t at)
{
    bool up = x->straight > 0;

    return (at == 0 || tree_before(g, x->list[at - 1], x->list[at]) == up) &&
           (at + 1 == x->nlist || tree_before(g, x->list[at], x->list[at + 1]) == up);
}

/* Finds the position of each vertex; leaves out vertices already inserted, or deleted. */
static void find_places(const weir_graph *g, const struct index *x, struct vertices *some, uint32_t *places, bool in)
{
    uint32_t n = 0, at = 0;

    for (uint32_t i = 0; i < some->n; i++) {
        at = place_of(g, x, some->list[i], at);
        if ((at < x->nlist && x->list[at] == some->list[i]) == in)
            continue;
        some->list[n] = some->list[i];
        places[n++] = at;
    }
    some->n = n;
}

/* Inserts all vertices at once: each entry of the list moves once. Memory is reserved. */
static void insert_all(const weir_graph *g, struct index *x, const struct vertices *some, const uint32_t *places)
{
    uint32_t end = x->nlist;

    for (uint32_t i = some->n; i-- > 0; end = places[i]) {
        memmove(x->list + places[i] + i + 1, x->list + places[i], (end - places[i]) * sizeof *x->list);
        x->list[places[i] + i] = some->list[i];
    }
    x->nlist += some->n;
    for (uint32_t i = 0; i < some->n; i++)
        x->straight = x->straight && stands(g, x, places[i] + i) ? x->straight : 0;
}

static void take_out_all(struct index *x, const uint32_t *places, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = places[i] + 1, end = i + 1 < n ? places[i + 1] : x->nlist;
        memmove(x->list + places[i] - i, x->list + from, (end - from) * sizeof *x->list);
    }
    x->nlist -= n;
}

void weir_index_list_change(const weir_graph *g, struct index *x, weir_vertex v, bool in)
{
    struct vertices some = {0};
    uint32_t *places = NULL;
    bool failed;

    if (!x->list)
        return;
    failed = add_below(g, x, v, &some) || !(places = weir_mem_alloc(((size_t)some.n + 1) * sizeof *places)) ||
             (in && weir_array_reserve(&x->list, &x->list_cap, (size_t)x->nlist + some.n, sizeof *x->list));
    if (!failed) {
        put_in_order(g, x, &some);
        find_places(g, x, &some, places, in);
        if (in)
            insert_all(g, x, &some, places);
        else
            take_out_all(x, places, some.n);
        x->bits_of = some.n ? 0 : x->bits_of;
    } else {
        weir_index_list_drop(x);
    }
    WEIR_FREE(some.list, places);
}

bool weir_index_list_check(const weir_graph *g, const struct index *x)
{
    struct index anew = {.order = x->order, .type = x->type};
    bool right;

    if (!x->list || weir_index_list(g, &anew))
        return true;
    right = anew.nlist == x->nlist && (x->nlist == 0 || memcmp(anew.list, x->list, x->nlist * sizeof *x->list) == 0) &&
            (x->straight == 0 || x->nlist < 2 || x->straight == anew.straight);
    weir_index_list_drop(&anew);
    return right;
}
