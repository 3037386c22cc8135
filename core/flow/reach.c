/* reach.c - see reach.h. Invariant: each end has the sum of what the units above it passed on when it was looked at
 * last, and each row the greatest of its entries. */
#include "flow/reach.h"

#include <string.h>

#include "aggregate/rows.h"
#include "time/availability.h"

void weir_flow_reach_free(struct flow_reach *x)
{
    if (x) {
        weir_map32_free(&x->ends);
        WEIR_FREE(x->order, x->passed, x->list, x->below, x);
    }
}

size_t weir_flow_reach_bytes(const struct flow_reach *x)
{
    return x ? sizeof *x + x->ends_cap * sizeof *x->list + x->nrows * sizeof *x->below +
                   x->ends.wide * sizeof *x->ends.slots
             : 0;
}

/* ---- ends and rows ---- */

/* The most of v itself, as an end, or of the ends below v; -1: there is none. */
static int64_t most_at(const weir_graph *g, const struct flow_reach *x, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    uint32_t end = weir_map32_get(&x->ends, v);
    int64_t most = end == WEIR_NONE ? -1 : x->list[end].most;

    return in && in->nrows && x->below[in->row] > most ? x->below[in->row] : most;
}

/* The greatest of the entries of row r of level l. */
static int64_t most_of_row(const weir_graph *g, const struct flow_reach *x, const struct inner *in,
                           const struct levels *lv, uint32_t l, uint32_t r)
{
    uint32_t begin, end;
    bool kids = weir_row_entries(in, lv, l, r, &begin, &end);
    int64_t most = -1;

    for (uint32_t i = begin; i < end; i++) {
        int64_t entry = !kids ? x->below[in->row + i] : in->kids[i] == WEIR_NONE ? -1 : most_at(g, x, in->kids[i]);
        most = entry > most ? entry : most;
    }
    return most;
}

/* Sets a row whose entry has changed from `had` to `most`. Returns whether the row has changed. */
static bool set_row(const weir_graph *g, struct flow_reach *x, const struct inner *in, const struct levels *lv,
                    uint32_t l, uint32_t r, int64_t had, int64_t most)
{
    int64_t *row = &x->below[in->row + r], old = *row;

    if (most < old && had < old)
        return false;
    *row = most >= old ? most : most_of_row(g, x, in, lv, l, r);
    return *row != old;
}

/* Carries the most of v, which was `had`, up to the root. */
static void propagate(const weir_graph *g, struct flow_reach *x, weir_vertex v, int64_t had)
{
    for (weir_vertex p; (p = vertex_at(g, v)->parent) != WEIR_NONE; v = p) {
        const struct inner *in = inner_of(g, p);
        int64_t most = most_at(g, x, v), before = most_at(g, x, p);
        struct levels lv;
        bool changed = most != had;
        if (!in->nrows)
            return;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t i = 1; changed && i <= lv.n + 1; i++) {
            uint32_t l = i <= lv.n ? i : 0, r = row_over(&lv, l, vertex_at(g, v)->pos);
            int64_t old = x->below[in->row + r];
            changed = set_row(g, x, in, &lv, l, r, had, most);
            had = old;
            most = x->below[in->row + r];
        }
        if (!changed)
            return;
        had = before;
    }
}

/* ---- units ---- */

/* Units that a unit has free at the time of the clock. */
static int64_t free_now(const weir_graph *g, weir_vertex v)
{
    int64_t units;

    if (!vertex_valid(g, v) || !state_available(vertex_at(g, v)->state) ||
        !weir_availability_above(g, v, g->now, g->now + 1))
        return 0;
    units = weir_availability_free(g, v, g->now, g->now + 1);
    return units > 0 ? units : 0;
}

/* The sum, at most INT64_MAX. */
static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* What the units above unit i pass on together. */
static int64_t passed_to(const struct flow_reach *x, const struct flow_layout *l, uint32_t i)
{
    int64_t sum = 0;

    for (uint32_t a = l->entering[i]; a < l->entering[i + 1]; a++)
        sum = add(sum, x->passed[l->from[a]]);
    return sum;
}

/* The most that the edges that enter v bring. */
static int64_t brought_to(const weir_graph *g, const struct flow_reach *x, const struct flow_layout *l, weir_vertex v)
{
    struct weir_ends above = weir_ends(g, v, l->subsystem, false);
    int64_t sum = 0;

    for (weir_vertex u; (u = weir_ends_next(&above)) != WEIR_NONE;)
        sum = add(sum, x->passed[weir_map32_get(&l->numbers, u)]);
    return sum;
}

/* Brings the ends below a unit up to date. */
static void renew_ends(const weir_graph *g, struct flow_reach *x, const struct flow_layout *l, weir_vertex unit)
{
    struct weir_ends below = weir_ends(g, unit, l->subsystem, true);

    for (weir_vertex v; (v = weir_ends_next(&below)) != WEIR_NONE;) {
        uint32_t end = weir_map32_get(&x->ends, v);
        int64_t had = end == WEIR_NONE ? -1 : most_at(g, x, v);
        if (end == WEIR_NONE)
            continue;
        x->list[end].most = brought_to(g, x, l, v);
        propagate(g, x, v, had);
    }
}

/* Brings units, ends and rows up to date. */
static void renew(const weir_graph *g, struct flow_reach *x, const struct flow_layout *l, int64_t *before)
{
    memcpy(before, x->passed, l->n * sizeof *before);
    for (uint32_t i = 0; i < l->n; i++)
        x->passed[i] = free_now(g, l->units[i]);
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t unit = x->order[i];
        int64_t sum = l->source[unit] ? INT64_MAX : passed_to(x, l, unit);
        if (sum < x->passed[unit])
            x->passed[unit] = sum;
    }
    for (uint32_t i = 0; i < l->n; i++)
        if (x->passed[i] != before[i])
            renew_ends(g, x, l, l->units[i]);
}

/* ---- making ---- */

/* Sorts the units by distance: those that are not reached last. */
static int sort_units(const struct flow_layout *l, uint32_t *order)
{
    uint32_t *first = weir_mem_zalloc((size_t)l->n + 3, sizeof *first);

    if (!first)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < l->n; i++)
        first[(l->labels[2 * i] / 2 < l->n ? l->labels[2 * i] / 2 : l->n) + 1]++;
    for (uint32_t i = 1; i < l->n + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < l->n; i++)
        order[first[l->labels[2 * i] / 2 < l->n ? l->labels[2 * i] / 2 : l->n]++] = i;
    weir_mem_free(first);
    return WEIR_OK;
}

static bool is_in_tree(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->parent != WEIR_NONE || inner_of(g, v);
}

static int list_ends(const weir_graph *g, const struct flow_layout *l, struct flow_reach *x)
{
    for (uint32_t i = 0; i < l->n; i++) {
        struct weir_ends below = weir_ends(g, l->units[i], l->subsystem, true);
        for (weir_vertex v; (v = weir_ends_next(&below)) != WEIR_NONE;) {
            if (!is_in_tree(g, v) || weir_map32_get(&x->ends, v) != WEIR_NONE)
                continue;
            if (weir_array_reserve(&x->list, &x->ends_cap, (size_t)x->nends + 1, sizeof *x->list) ||
                weir_map32_add(&x->ends, v, x->nends))
                return WEIR_ENOMEM;
            x->list[x->nends++] = (struct reach_end){v, 0};
        }
    }
    return WEIR_OK;
}

static struct flow_reach *make(const weir_graph *g, const struct flow_layout *l)
{
    struct flow_reach *x = weir_mem_zalloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->nrows = aggregates_in(g)->nrows;
    x->order = weir_mem_alloc(((size_t)l->n + 1) * sizeof *x->order);
    x->passed = weir_mem_zalloc((size_t)l->n + 1, sizeof *x->passed);
    x->below = weir_mem_alloc(((size_t)x->nrows + 1) * sizeof *x->below);
    if (!x->order || !x->passed || !x->below || sort_units(l, x->order) || list_ends(g, l, x)) {
        weir_flow_reach_free(x);
        return NULL;
    }
    for (uint32_t i = 0; i < x->nrows; i++)
        x->below[i] = -1;
    for (uint32_t i = 0; i < x->nends; i++)
        propagate(g, x, x->list[i].v, -1);
    return x;
}

const struct flow_reach *weir_flow_reach(weir_graph *g, struct flow_layout *l)
{
    int64_t *before = weir_mem_alloc(((size_t)l->n + 1) * sizeof *before);

    if (before && !l->reach)
        l->reach = make(g, l);
    if (before && l->reach)
        renew(g, l->reach, l, before);
    weir_mem_free(before);
    return before ? l->reach : NULL;
}

/* ---- answers ---- */

int64_t weir_flow_reach_above(const weir_graph *g, const struct flow_reach *x, weir_vertex v)
{
    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent) {
        uint32_t end = weir_map32_get(&x->ends, v);
        if (end != WEIR_NONE)
            return x->list[end].most;
    }
    return 0;
}

bool weir_flow_reaches(const weir_graph *g, const struct flow_reach *x, weir_vertex v, int64_t need)
{
    return most_at(g, x, v) >= need || weir_flow_reach_above(g, x, v) >= need;
}

bool weir_flow_reaches_row(const weir_graph *g, const struct flow_reach *x, weir_vertex v, uint32_t row, int64_t need)
{
    return x->below[row] >= need || weir_flow_reach_above(g, x, v) >= need;
}

/* ---- checks ---- */

bool weir_flow_reach_right(const weir_graph *g, const struct flow_layout *l)
{
    const struct flow_reach *x = l->reach;

    for (uint32_t i = 0; i < x->nends; i++)
        if (x->list[i].most != brought_to(g, x, l, x->list[i].v))
            return false;
    for (uint32_t k = 0; k < g->ninners; k++) {
        const struct inner *in = &g->inners[k];
        struct levels lv;
        if (in->vertex == WEIR_NONE || !in->nrows)
            continue;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t l2 = 0; l2 <= lv.n; l2++)
            for (uint32_t r = 0; r < (l2 ? lv.count[l2] : 1); r++)
                if (x->below[in->row + (l2 ? lv.first[l2] + r : 0)] !=
                    most_of_row(g, x, in, &lv, l2, l2 ? lv.first[l2] + r : 0))
                    return false;
    }
    return true;
}
