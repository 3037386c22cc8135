/* index.c - the first candidate in order below each row. Invariant: best[row] is the first in order of what the
 * entries of the row offer; WEIR_NONE where none qualifies. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "refusal.h"
#include "roster.h"
#include "rows.h"

static void index_free(struct index *x)
{
    if (x) {
        weir_order_clear(&x->order);
        weir_mem_free(x->best);
        weir_mem_free(x->noted);
        weir_mem_free(x->list);
        weir_mem_free(x->bits);
        weir_mem_free(x);
    }
}

static void drop_at(weir_graph *g, uint32_t i)
{
    index_free(g->indexes[i]);
    g->indexes[i] = g->indexes[--g->nindexes];
}

void weir_indexes_drop(weir_graph *g)
{
    while (g->nindexes > 0)
        drop_at(g, g->nindexes - 1);
    weir_roster_drop(g);
    weir_refusals_drop(g);
}

void weir_indexes_drop_maps(weir_graph *g)
{
    for (uint32_t i = g->nindexes; i-- > 0;)
        if (g->indexes[i]->order.reads_maps)
            drop_at(g, i);
    weir_roster_drop(g);
    weir_refusals_reorder(g);
}

static int note(struct index *x, weir_vertex v, bool rows)
{
    const struct index_note *last = x->nnoted ? &x->noted[x->nnoted - 1] : NULL;

    if (last && last->vertex == v && last->rows == rows)
        return WEIR_OK;
    if (x->nnoted == INDEX_NOTES ||
        weir_array_reserve(&x->noted, &x->noted_cap, x->nnoted + 1, sizeof *x->noted))
        return WEIR_ELIMIT;
    x->noted[x->nnoted++] = (struct index_note){v, rows};
    return WEIR_OK;
}

void weir_indexes_note(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    for (uint32_t i = g->nindexes; i-- > 0;) {
        struct index *x = g->indexes[i];
        if (!weir_order_reads(&x->order, map, key))
            continue;
        x->reordered = true;
        if (note(x, v, false))
            drop_at(g, i);
    }
    weir_roster_note(g, v, map, key);
    if (map != WEIR_EXTENDED)
        weir_refusals_reorder(g);
}

static bool qualifies(const weir_graph *g, const struct index *x, weir_vertex v)
{
    if (kind_of(g, v)->type != x->type)
        return false;
    switch (x->mode) {
    case INDEX_ANY: return true;
    case INDEX_FREE: return vertex_open(g, v) && vertex_unallocated(g, v) > 0;
    case INDEX_IDLE: return vertex_open(g, v) && vertex_unused(g, v) && kind_of(g, v)->size > 0;
    }
    return false;
}

static weir_vertex first_of(const weir_graph *g, const struct index *x, weir_vertex a, weir_vertex b)
{
    if (a == WEIR_NONE || b == WEIR_NONE)
        return a == WEIR_NONE ? b : a;
    return weir_order_before(g, &x->order, b, a) ? b : a;
}

weir_vertex weir_index_offer(const weir_graph *g, const struct index *x, weir_vertex v)
{
    weir_vertex own = qualifies(g, x, v) ? v : WEIR_NONE, below = WEIR_NONE;
    const struct inner *in = inner_of(g, v);

    if (in && type_cell(g->schemas[in->schema], x->type) && (x->mode == INDEX_ANY || vertex_open(g, v)))
        below = x->best[in->row];
    return first_of(g, x, own, below);
}

/* The first of the entries of one row. */
static weir_vertex first_of_row(const weir_graph *g, const struct index *x, const struct inner *in,
                                const struct levels *lv, uint32_t l, uint32_t r)
{
    uint32_t begin, end;
    bool kids = weir_row_entries(in, lv, l, r, &begin, &end);
    weir_vertex best = WEIR_NONE;

    for (uint32_t i = begin; i < end; i++) {
        if (!kids)
            best = first_of(g, x, best, x->best[in->row + i]);
        else if (in->kids[i] != WEIR_NONE)
            best = first_of(g, x, best, weir_index_offer(g, x, in->kids[i]));
    }
    return best;
}

/* Computes the rows of one inner vertex. */
static void fill_rows(const weir_graph *g, struct index *x, const struct inner *in)
{
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t l = 1; l <= lv.n; l++)
        for (uint32_t r = 0; r < lv.count[l]; r++)
            x->best[in->row + lv.first[l] + r] = first_of_row(g, x, in, &lv, l, lv.first[l] + r);
    x->best[in->row] = first_of_row(g, x, in, &lv, 0, 0);
}

static bool has_rows(const weir_graph *g, const struct index *x, const struct inner *in)
{
    return in && in->cells && type_cell(g->schemas[in->schema], x->type);
}

/* ... after those below it. The depth of the tree is bounded. */
static void fill_below(const weir_graph *g, struct index *x, const struct inner *in)
{
    if (!has_rows(g, x, in))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            fill_below(g, x, inner_of(g, in->kids[i]));
    fill_rows(g, x, in);
}

static int compute_keys(const weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    if (x->order.serial == 0)
        return WEIR_OK;
    if (weir_order_reserve(g, &x->order))
        return weir_fail_nomem(err);
    for (weir_vertex v = 0; v < g->limit; v++) {
        int rc = vertex_valid(g, v) && kind_of(g, v)->type == x->type
                     ? weir_order_compute(g, p, &x->order, v, err)
                     : WEIR_OK;
        if (rc)
            return rc;
    }
    return WEIR_OK;
}

static int build(weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    int rc;

    x->rows = g->nrows;
    x->best = weir_mem_alloc(((size_t)x->rows + 1) * sizeof *x->best);
    if (!x->best)
        return weir_fail_nomem(err);
    for (uint32_t i = 0; i < x->rows; i++)
        x->best[i] = WEIR_NONE;
    rc = compute_keys(g, p, x, err);
    if (rc)
        return rc;
    x->rows_cap = x->rows + 1;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            fill_below(g, x, inner_of(g, g->roots[i]));
    return WEIR_OK;
}

/* ---- all in order ---- */

static int list_below(const weir_graph *g, struct index *x, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    if (kind_of(g, v)->type == x->type) {
        if (weir_array_reserve(&x->list, &x->list_cap, (size_t)x->nlist + 1, sizeof *x->list))
            return WEIR_ENOMEM;
        x->list[x->nlist++] = v;
    }
    if (!in || !in->cells || !type_cell(g->schemas[in->schema], x->type))
        return WEIR_OK;
    for (uint32_t i = 0; !rc && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = list_below(g, x, in->kids[i]);
    return rc;
}

struct ordering {
    const weir_graph *g;
    const struct order *order;
};

static int by_order(const void *a, const void *b, void *data)
{
    const struct ordering *o = data;
    weir_vertex x = *(const weir_vertex *)a, y = *(const weir_vertex *)b;
    return x == y ? 0 : weir_order_before(o->g, o->order, x, y) ? -1 : 1;
}

static void list_drop(struct index *x)
{
    weir_mem_free(x->list);
    weir_mem_free(x->bits);
    x->list = NULL;
    x->bits = NULL;
    x->nlist = x->list_cap = 0;
    x->bits_of = 0;
}

/* Whether the list, in preorder as it is, stands in order already (1), or backwards (-1). */
static int straightness(const weir_graph *g, const struct index *x)
{
    bool up = true, down = true;

    for (uint32_t i = 1; i < x->nlist && (up || down); i++) {
        bool before = weir_order_before(g, &x->order, x->list[i - 1], x->list[i]);
        up = up && before;
        down = down && !before;
    }
    return up ? 1 : down ? -1 : 0;
}

int weir_index_list(const weir_graph *g, struct index *x)
{
    struct ordering o = {g, &x->order};
    int rc = WEIR_OK;

    if (x->list)
        return WEIR_OK;
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = list_below(g, x, g->roots[i]);
    if (rc) {
        list_drop(x);
        return rc;
    }
    x->straight = straightness(g, x);
    if (x->nlist && x->straight <= 0)
        qsort_r(x->list, x->nlist, sizeof *x->list, by_order, &o);
    return WEIR_OK;
}

/* ---- what was noted ---- */

static int compute_below(const weir_graph *g, const weir_policy *p, struct index *x, weir_vertex v, weir_err *err)
{
    const struct inner *in = inner_of(g, v);
    int rc = kind_of(g, v)->type == x->type ? weir_order_compute(g, p, &x->order, v, err) : WEIR_OK;

    if (rc || !in || !type_cell(g->schemas[in->schema], x->type))
        return rc;
    for (uint32_t i = 0; i < in->nkids && !rc; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = compute_below(g, p, x, in->kids[i], err);
    return rc;
}

/* Computes every row that v is in, whatever stood there. */
static void fill_above(const weir_graph *g, struct index *x, weir_vertex v)
{
    for (weir_vertex p = vertex_at(g, v)->parent; p != WEIR_NONE; v = p, p = vertex_at(g, v)->parent) {
        const struct inner *in = inner_of(g, p);
        struct levels lv;
        if (!has_rows(g, x, in))
            return;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t step = 1; step <= lv.n + 1; step++) {
            uint32_t l = step <= lv.n ? step : 0, r = row_over(&lv, l, vertex_at(g, v)->pos);
            x->best[in->row + r] = first_of_row(g, x, in, &lv, l, r);
        }
    }
}

/* Where v stands in the list, or would. */
static uint32_t list_place(const weir_graph *g, const struct index *x, weir_vertex v)
{
    uint32_t lo = 0, hi = x->nlist;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (x->list[mid] != v && weir_order_before(g, &x->order, x->list[mid], v))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Whether a stands before b in the tree, neither being below the other. O(d) */
static bool tree_before(const weir_graph *g, weir_vertex a, weir_vertex b)
{
    uint32_t da = 0, db = 0;

    for (weir_vertex v = a; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        da++;
    for (weir_vertex v = b; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        db++;
    for (; da > db; da--)
        a = vertex_at(g, a)->parent;
    for (; db > da; db--)
        b = vertex_at(g, b)->parent;
    while (vertex_at(g, a)->parent != vertex_at(g, b)->parent) {
        a = vertex_at(g, a)->parent;
        b = vertex_at(g, b)->parent;
    }
    return vertex_at(g, a)->pos < vertex_at(g, b)->pos;
}

/* Whether the entry at `at` stands between its neighbours in the tree, too. */
static bool stands(const weir_graph *g, const struct index *x, uint32_t at)
{
    bool up = x->straight > 0;

    return (at == 0 || tree_before(g, x->list[at - 1], x->list[at]) == up) &&
           (at + 1 == x->nlist || tree_before(g, x->list[at], x->list[at + 1]) == up);
}

/* Puts a vertex into the list, or takes it out. WEIR_ENOMEM. */
static int list_change(const weir_graph *g, struct index *x, weir_vertex v, bool in)
{
    uint32_t at = list_place(g, x, v);
    bool there = at < x->nlist && x->list[at] == v;

    if (there == in)
        return WEIR_OK;
    if (in && weir_array_reserve(&x->list, &x->list_cap, (size_t)x->nlist + 1, sizeof *x->list))
        return WEIR_ENOMEM;
    if (in)
        memmove(x->list + at + 1, x->list + at, (x->nlist - at) * sizeof *x->list);
    else
        memmove(x->list + at, x->list + at + 1, (x->nlist - at - 1) * sizeof *x->list);
    x->nlist += in ? 1u : -1u;
    x->bits_of = 0;
    if (in) {
        x->list[at] = v;
        x->straight = x->straight && stands(g, x, at) ? x->straight : 0;
    }
    return WEIR_OK;
}

/* The same for all of the type at and below v. */
static void list_change_below(const weir_graph *g, struct index *x, weir_vertex v, bool in)
{
    const struct inner *inner = inner_of(g, v);

    if (kind_of(g, v)->type == x->type && x->list && list_change(g, x, v, in))
        list_drop(x);
    if (!x->list || !has_rows(g, x, inner))
        return;
    for (uint32_t i = 0; i < inner->nkids; i++)
        if (inner->kids[i] != WEIR_NONE)
            list_change_below(g, x, inner->kids[i], in);
}

/* Puts what was noted in order again. When a hook fails, all of it stays noted. */
static int catch_up(weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    for (uint32_t i = 0; i < x->nnoted && x->order.serial; i++) {
        int rc = x->noted[i].rows ? WEIR_OK : compute_below(g, p, x, x->noted[i].vertex, err);
        if (rc)
            return rc;
    }
    if (x->reordered)
        list_drop(x);
    for (uint32_t i = 0; i < x->nnoted; i++) {
        const struct inner *in = inner_of(g, x->noted[i].vertex);
        if (!x->noted[i].rows) {
            fill_below(g, x, in);
            list_change_below(g, x, x->noted[i].vertex, true);
        } else if (has_rows(g, x, in)) {
            fill_rows(g, x, in);
        }
    }
    for (uint32_t i = 0; i < x->nnoted; i++)
        fill_above(g, x, x->noted[i].vertex);
    x->nnoted = 0;
    x->reordered = false;
    return WEIR_OK;
}

/* ---- changes of the structure ---- */

static bool is_within(const weir_graph *g, weir_vertex v, weir_vertex top)
{
    while (v != WEIR_NONE && v != top)
        v = vertex_at(g, v)->parent;
    return v == top;
}

/* Notes new vertices; what is below one that was noted last goes with it. Many at once stand for their parent. */
static int note_new(const weir_graph *g, struct index *x, weir_vertex p, uint32_t pos, uint32_t count)
{
    const struct index_note *last = x->nnoted ? &x->noted[x->nnoted - 1] : NULL;
    int rc = weir_order_reserve(g, &x->order);

    if (rc || (p != WEIR_NONE && last && !last->rows && is_within(g, p, last->vertex)))
        return rc;
    if (p != WEIR_NONE && count > WEIR_FAN && count >= pos)
        return note(x, p, false);
    for (uint32_t i = pos; !rc && i < pos + count; i++)
        rc = note(x, p == WEIR_NONE ? g->roots[i] : inner_of(g, p)->kids[i], false);
    return rc;
}

void weir_indexes_link(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    for (uint32_t i = g->nindexes; i-- > 0;)
        if (note_new(g, g->indexes[i], p, pos, count))
            drop_at(g, i);
    weir_roster_link(g, p, pos, count);
    weir_refusals_restructure(g, p, pos, count);
}

static void forget_notes(const weir_graph *g, struct index *x, weir_vertex v)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < x->nnoted; i++)
        if (!is_within(g, x->noted[i].vertex, v))
            x->noted[kept++] = x->noted[i];
    x->nnoted = kept;
}

void weir_indexes_unlink(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < g->nindexes; i++) {
        struct index *x = g->indexes[i];
        if (x->reordered)
            list_drop(x);
        list_change_below(g, x, v, false);
        forget_notes(g, x, v);
        fill_above(g, x, v);
    }
    weir_roster_unlink(g, v);
    weir_refusals_restructure(g, vertex_at(g, v)->parent, vertex_at(g, v)->pos, 1);
}

void weir_indexes_promote(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = g->nindexes; i-- > 0;)
        if (weir_order_reserve(g, &g->indexes[i]->order))
            drop_at(g, i);
        else
            weir_order_promote(g, &g->indexes[i]->order, v);
}

void weir_indexes_rows(weir_graph *g, uint32_t first, uint32_t count)
{
    for (uint32_t i = g->nindexes; i-- > 0;) {
        struct index *x = g->indexes[i];
        if (weir_array_reserve(&x->best, &x->rows_cap, (size_t)first + count, sizeof *x->best)) {
            drop_at(g, i);
            continue;
        }
        for (uint32_t r = first; r < first + count; r++)
            x->best[r] = WEIR_NONE;
        x->rows = first + count > x->rows ? first + count : x->rows;
    }
    weir_roster_rows(g, first, count);
    weir_refusals_rows(g, first, count);
}

void weir_indexes_relay(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = g->nindexes; i-- > 0;)
        if (note(g->indexes[i], v, true))
            drop_at(g, i);
    weir_roster_relay(g, v);
}

/* ---- getting one ---- */

static struct index *find(weir_graph *g, const struct order *o, weir_type t, enum index_mode mode)
{
    for (uint32_t i = 0; i < g->nindexes; i++) {
        struct index *x = g->indexes[i];
        if (x->type == t && x->mode == mode && weir_order_same(&x->order, o))
            return x;
    }
    return NULL;
}

static void make_room(weir_graph *g)
{
    uint32_t oldest = 0;

    if (g->nindexes < INDEX_MAX)
        return;
    for (uint32_t i = 1; i < g->nindexes; i++)
        if (g->indexes[i]->last_use < g->indexes[oldest]->last_use)
            oldest = i;
    drop_at(g, oldest);
}

int weir_index_get(weir_graph *g, const weir_policy *p, weir_type t, enum index_mode mode, struct index **out,
                   weir_err *err)
{
    struct order o;
    struct index *x;
    int rc = weir_order_read(g, p, &o, err);

    if (rc)
        return rc;
    x = find(g, &o, t, mode);
    if (!x) {
        if (weir_array_reserve(&g->indexes, &g->indexes_cap, INDEX_MAX, sizeof *g->indexes))
            return weir_fail_nomem(err);
        x = weir_mem_zalloc(1, sizeof *x);
        if (!x)
            return weir_fail_nomem(err);
        x->order = o;
        x->type = t;
        x->mode = mode;
        rc = build(g, p, x, err);
        if (rc) {
            index_free(x);
            return rc;
        }
        make_room(g);
        g->indexes[g->nindexes++] = x;
    }
    x->last_use = ++g->uses;
    *out = x;
    return catch_up(g, p, x, err);
}

/* Whether w is v or below it, w being below v's parent. */
static bool comes_from(const weir_graph *g, weir_vertex w, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    while (w != v && vertex_at(g, w)->parent != p)
        w = vertex_at(g, w)->parent;
    return w == v;
}

static void touch_rows(weir_graph *g, struct index *x, weir_vertex v, const struct inner *in)
{
    weir_vertex offer = weir_index_offer(g, x, v);
    uint32_t pos = vertex_at(g, v)->pos;
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0, r = row_over(&lv, l, pos);
        weir_vertex *best = &x->best[in->row + r];
        if (*best == offer)
            continue;
        if (*best != WEIR_NONE && comes_from(g, *best, v) && (offer == WEIR_NONE || first_of(g, x, *best, offer) != offer))
            *best = first_of_row(g, x, in, &lv, l, r);
        else
            *best = first_of(g, x, *best, offer);
    }
}

/* Brings the rows of v's parent up to date; returns that, or WEIR_NONE. */
static weir_vertex touch_parent(weir_graph *g, struct index *x, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    const struct inner *in = p == WEIR_NONE ? NULL : inner_of(g, p);

    if (in && type_cell(g->schemas[in->schema], x->type))
        touch_rows(g, x, v, in);
    return p;
}

void weir_indexes_touch_one(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < g->nindexes; i++)
        if (g->indexes[i]->mode != INDEX_ANY)
            (void)touch_parent(g, g->indexes[i], v);
}

/* Whether nothing in a row qualifies, as its cells tell. */
static bool is_empty(const weir_graph *g, const struct index *x, const struct inner *in, uint32_t r)
{
    uint32_t cell = type_cell(g->schemas[in->schema], x->type);
    return row_cells(g, in, r)[cell + (x->mode == INDEX_IDLE ? TYPE_IDLE : TYPE_FREE)] == 0;
}

/* Kids of one group changed: the row over them is looked through, those above only where they had what is no more. */
static void touch_group(weir_graph *g, struct index *x, const struct inner *in, uint32_t pos)
{
    weir_vertex was = WEIR_NONE, now = WEIR_NONE;
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0, r = row_over(&lv, l, pos);
        weir_vertex *best = &x->best[in->row + r], old = *best;
        if (is_empty(g, x, in, r))
            *best = WEIR_NONE;
        else if (step == 1 || (was != WEIR_NONE && old == was))
            *best = first_of_row(g, x, in, &lv, l, r);
        else
            *best = first_of(g, x, old, now);
        if (*best == old)
            return;
        was = old;
        now = *best;
    }
}

void weir_indexes_touch_kids(weir_graph *g, weir_vertex v, uint32_t from, uint32_t to)
{
    const struct inner *in = inner_of(g, v);

    for (uint32_t i = 0; i < g->nindexes; i++) {
        struct index *x = g->indexes[i];
        for (uint32_t pos = from; x->mode != INDEX_ANY && has_rows(g, x, in) && pos <= to; pos = (pos / WEIR_FAN + 1) * WEIR_FAN)
            touch_group(g, x, in, pos);
    }
}

void weir_indexes_touch(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < g->nindexes; i++)
        if (g->indexes[i]->mode != INDEX_ANY)
            for (weir_vertex u = v; u != WEIR_NONE;)
                u = touch_parent(g, g->indexes[i], u);
    weir_refusals_touch(g, v);
}

bool weir_index_check(const weir_graph *g, const struct index *x)
{
    if (x->nnoted > 0) /* its rows are those of before */
        return true;
    for (uint32_t i = 0; i < g->ninners; i++) {
        const struct inner *in = &g->inners[i];
        struct levels lv;
        if (in->vertex == WEIR_NONE || !type_cell(g->schemas[in->schema], x->type))
            continue;
        weir_levels_of(in->rows_cap, &lv);
        if (x->best[in->row] != first_of_row(g, x, in, &lv, 0, 0))
            return false;
        for (uint32_t l = 1; l <= lv.n; l++)
            for (uint32_t r = lv.first[l]; r < lv.first[l] + lv.count[l]; r++)
                if (x->best[in->row + r] != first_of_row(g, x, in, &lv, l, r))
                    return false;
    }
    return true;
}
