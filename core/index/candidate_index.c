/* candidate_index.c - the first candidate in order below each row. Invariant: best[row] is the first in order of
 * the candidates that the entries offer; WEIR_NONE where none qualifies; UNKNOWN since the first candidate went,
 * and then all rows above are UNKNOWN, too. So an unused index costs next to nothing, and a row is recomputed once
 * per query, however many changes came before. */
#include "index/candidate_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"
#include "index/score.h"

#define UNKNOWN (WEIR_NONE - 1) /* no vertex has the number */

static void index_free(struct index *x)
{
    if (x) {
        weir_order_clear(&x->order);
        WEIR_FREE(x->best, x->last, x->dirty.list);
        weir_index_list_drop(x);
        weir_mem_free(x);
    }
}

static void drop_at(weir_graph *g, uint32_t i)
{
    struct indexes *all = g->records[RECORD_INDEXES];

    index_free(all->list[i]);
    all->list[i] = all->list[--all->n];
}

static void drop_all(weir_graph *g)
{
    while (indexes_in(g)->n > 0)
        drop_at(g, indexes_in(g)->n - 1);
    weir_mem_free(indexes_in(g)->list);
    weir_record_drop(g, RECORD_INDEXES, &weir_index_observer);
}

/* ---- properties, tags and ranks ---- */

static void described_many(weir_graph *g)
{
    for (uint32_t i = indexes_in(g)->n; i-- > 0;)
        if (indexes_in(g)->list[i]->order.reads_maps)
            drop_at(g, i);
}

static int mark_dirty(struct dirty_vertices *dirty, weir_vertex v)
{
    if (dirty->n && dirty->list[dirty->n - 1] == v)
        return WEIR_OK;
    if (dirty->n == INDEX_DIRTY || weir_array_reserve(&dirty->list, &dirty->cap, dirty->n + 1, sizeof *dirty->list))
        return WEIR_ELIMIT;
    dirty->list[dirty->n++] = v;
    return WEIR_OK;
}

/* Returns the dirty vertices of the keys of index i, where no later index shares the keys; else NULL. So a loop from
 * the last index down meets each list of dirty vertices once. */
static struct dirty_vertices *dirty_keys(const weir_graph *g, uint32_t i)
{
    struct order_keys *keys = indexes_in(g)->list[i]->order.keys;

    for (uint32_t k = i + 1; keys && k < indexes_in(g)->n; k++)
        if (indexes_in(g)->list[k]->order.keys == keys)
            return NULL;
    return keys ? &keys->dirty : NULL;
}

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    for (uint32_t i = indexes_in(g)->n; i-- > 0;) {
        struct index *x = indexes_in(g)->list[i];
        struct dirty_vertices *keys = dirty_keys(g, i);
        if (!weir_order_reads(&x->order, map, key))
            continue;
        x->reordered = true;
        if (mark_dirty(&x->dirty, v) || (keys && mark_dirty(keys, v)))
            drop_at(g, i);
    }
}

/* Marks the row over the child of p at pos and all rows above as unknown. `all`: after a change of the tree, not
 * only up to the first unknown row: a vertex with the type below from now on has rows unknown to the index. */
static void forget(const weir_graph *g, struct index *x, weir_vertex p, uint32_t pos, bool all)
{
    x->unknown = true;
    for (; p != WEIR_NONE; pos = vertex_at(g, p)->pos, p = vertex_at(g, p)->parent) {
        const struct inner *in = inner_of(g, p);
        struct levels lv;
        if (!index_has_rows(g, x, in))
            continue;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t step = 1; step <= lv.n + 1; step++) {
            weir_vertex *best = &x->best[in->row + row_over(&lv, step <= lv.n ? step : 0, pos)];
            if (*best == UNKNOWN && !all)
                return;
            *best = UNKNOWN;
        }
    }
}

/* Whether v, which is open unless the index has all vertices of the type, is a candidate. */
WEIR_INLINE bool qualifies(const weir_graph *g, const struct index *x, weir_vertex v)
{
    if (kind_of(g, v)->type != x->type)
        return false;
    switch (x->mode) {
    case INDEX_ANY: return true;
    case INDEX_FREE: return vertex_unallocated(g, v) > 0;
    case INDEX_IDLE: return vertex_unused(g, v) && kind_of(g, v)->size > 0;
    }
    return false;
}

WEIR_INLINE weir_vertex first_of(const weir_graph *g, const struct index *x, weir_vertex a, weir_vertex b)
{
    if (a == WEIR_NONE || b == WEIR_NONE)
        return a == WEIR_NONE ? b : a;
    return order_before(g, &x->order, b, a) ? b : a;
}

static inline weir_vertex offer_of(const weir_graph *g, const struct index *x, weir_vertex v)
{
    const struct inner *in;
    weir_vertex own;

    if (x->mode != INDEX_ANY && !vertex_open(g, v))
        return WEIR_NONE;
    own = qualifies(g, x, v) ? v : WEIR_NONE;
    in = inner_of(g, v);
    if (!in || !type_cell(schema_at(g, in->schema), x->type))
        return own;
    return first_of(g, x, own, x->best[in->row]);
}

weir_vertex weir_index_offer(const weir_graph *g, const struct index *x, weir_vertex v)
{
    return offer_of(g, x, v);
}

/* The first candidate of the entries of one row. */
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
            best = first_of(g, x, best, offer_of(g, x, in->kids[i]));
    }
    return best;
}

static void settle_rows(const weir_graph *g, struct index *x, const struct inner *in);

/* Recomputes the unknown rows of v and below. Returns what v offers. The depth of the tree is bounded. */
WEIR_INLINE weir_vertex settled_offer(const weir_graph *g, struct index *x, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    weir_vertex own = WEIR_NONE;
    bool open = x->mode == INDEX_ANY || vertex_open(g, v), rows = index_has_rows(g, x, in);

    if (rows && x->best[in->row] == UNKNOWN)
        settle_rows(g, x, in);
    if (!open)
        return WEIR_NONE;
    own = qualifies(g, x, v) ? v : WEIR_NONE;
    return rows ? first_of(g, x, own, x->best[in->row]) : own;
}

/* Recomputes a row, if unknown. The depth of the tree is bounded. */
static void settle(const weir_graph *g, struct index *x, const struct inner *in, const struct levels *lv, uint32_t l,
                   uint32_t r)
{
    uint32_t begin, end;
    weir_vertex best = WEIR_NONE;
    bool kids;

    if (x->best[in->row + r] != UNKNOWN)
        return;
    kids = weir_row_entries(in, lv, l, r, &begin, &end);
    for (uint32_t i = begin; i < end; i++)
        if (!kids) {
            settle(g, x, in, lv, l == 0 ? lv->n : l - 1, i);
            best = first_of(g, x, best, x->best[in->row + i]);
        } else if (in->kids[i] != WEIR_NONE) {
            best = first_of(g, x, best, settled_offer(g, x, in->kids[i]));
        }
    x->best[in->row + r] = best;
}

static void settle_rows(const weir_graph *g, struct index *x, const struct inner *in)
{
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    settle(g, x, in, &lv, 0, 0);
}

void weir_index_settle(const weir_graph *g, struct index *x, weir_vertex v)
{
    if (!x->unknown)
        return;
    if (v != WEIR_NONE) {
        (void)settled_offer(g, x, v);
        return;
    }
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            (void)settled_offer(g, x, g->roots[i]);
    x->unknown = false;
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

/* Computes the rows of an inner vertex after all rows below. The depth of the tree is bounded. */
static void fill_below(const weir_graph *g, struct index *x, const struct inner *in)
{
    if (!index_has_rows(g, x, in))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            fill_below(g, x, inner_of(g, in->kids[i]));
    fill_rows(g, x, in);
}

/* Calls the policy's `keys` for all vertices of the type. */
static int compute_all(const weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    struct order_family family = {WEIR_NONE};

    if (weir_order_reserve(g, &x->order))
        return weir_fail_nomem(err);
    for (weir_vertex v = 0; v < g->limit; v++) {
        bool wanted = vertex_valid(g, v) && !vertex_detached(g, v) && kind_of(g, v)->type == x->type;
        int rc = wanted ? weir_order_compute(g, p, &x->order, v, &family, err) : WEIR_OK;
        if (rc)
            return rc;
    }
    return WEIR_OK;
}

static int compute_below(const weir_graph *g, const weir_policy *p, struct index *x, weir_vertex v,
                         struct order_family *family, weir_err *err)
{
    const struct inner *in = inner_of(g, v);
    int rc = kind_of(g, v)->type == x->type ? weir_order_compute(g, p, &x->order, v, family, err) : WEIR_OK;

    if (rc || !in || !type_cell(schema_at(g, in->schema), x->type))
        return rc;
    for (uint32_t i = 0; i < in->nkids && !rc; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = compute_below(g, p, x, in->kids[i], family, err);
    return rc;
}

/* Calls the policy's `keys` for dirty vertices, once for all indexes that share the keys. After a failure of the
 * hook all vertices stay dirty. */
static int compute_dirty(const weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    struct dirty_vertices *dirty = x->order.keys ? &x->order.keys->dirty : NULL;

    for (uint32_t i = 0; dirty && i < dirty->n; i++) {
        struct order_family family = {WEIR_NONE};
        int rc = compute_below(g, p, x, dirty->list[i], &family, err);
        if (rc)
            return rc;
    }
    if (dirty)
        dirty->n = 0;
    return WEIR_OK;
}

/* The keys of a new index: shared with an index of equal order and type, after an update, or new. */
static int take_keys(weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    const struct order *other = NULL;

    if (x->order.serial == 0)
        return WEIR_OK;
    for (uint32_t i = 0; i < indexes_in(g)->n && !other; i++)
        if (indexes_in(g)->list[i]->type == x->type && weir_order_same(&indexes_in(g)->list[i]->order, &x->order))
            other = &indexes_in(g)->list[i]->order;
    if (weir_order_keys(&x->order, other))
        return weir_fail_nomem(err);
    return other ? compute_dirty(g, p, x, err) : compute_all(g, p, x, err);
}

static int build(weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    int rc;

    x->rows = aggregates_in(g)->nrows;
    x->best = weir_mem_alloc(((size_t)x->rows + 1) * sizeof *x->best);
    if (!x->best)
        return weir_fail_nomem(err);
    for (uint32_t i = 0; i < x->rows; i++)
        x->best[i] = WEIR_NONE;
    rc = take_keys(g, p, x, err);
    if (rc)
        return rc;
    x->rows_cap = x->rows + 1;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            fill_below(g, x, inner_of(g, g->roots[i]));
    return WEIR_OK;
}

/* ---- dirty vertices ---- */

/* Puts dirty vertices in order again. After a failure of the hook all vertices stay dirty. */
static int catch_up(weir_graph *g, const weir_policy *p, struct index *x, weir_err *err)
{
    const weir_vertex *marked = x->dirty.list;
    int rc = compute_dirty(g, p, x, err);

    if (rc)
        return rc;
    if (x->reordered)
        weir_index_list_drop(x);
    for (uint32_t i = 0; i < x->dirty.n; i++) {
        fill_below(g, x, inner_of(g, marked[i]));
        weir_index_list_change(g, x, marked[i], true);
    }
    for (uint32_t i = 0; i < x->dirty.n; i++)
        forget(g, x, vertex_at(g, marked[i])->parent, vertex_at(g, marked[i])->pos, true);
    x->dirty.n = 0;
    x->reordered = false;
    return WEIR_OK;
}

/* ---- changes of the structure ---- */

/* Children that a vertex, or the graph, has from now on. */
struct new_kids {
    weir_vertex parent; /* WEIR_NONE: new roots */
    uint32_t pos, count;
    weir_vertex around; /* a vertex known to be the parent, or above it; WEIR_NONE: none yet */
};

/* Whether the last dirty vertex is known to be the parent of new vertices, or above the parent. */
static inline bool is_marked(const struct dirty_vertices *dirty, const struct new_kids *kids)
{
    return kids->around != WEIR_NONE && dirty->n > 0 && dirty->list[dirty->n - 1] == kids->around;
}

/* Marks new vertices as dirty, but for those below the last dirty vertex. Many siblings at once are marked as the
 * parent. */
static int mark_new(const weir_graph *g, struct dirty_vertices *dirty, struct new_kids *kids)
{
    weir_vertex p = kids->parent, last = dirty->n ? dirty->list[dirty->n - 1] : WEIR_NONE;
    uint32_t pos = kids->pos, count = kids->count;
    int rc = WEIR_OK;

    if (p != WEIR_NONE && last != WEIR_NONE && weir_vertex_within(g, p, last)) {
        kids->around = last;
        return WEIR_OK;
    }
    if (p != WEIR_NONE && count > WEIR_FAN && count >= pos)
        return mark_dirty(dirty, p);
    for (uint32_t i = pos; !rc && i < pos + count; i++)
        rc = mark_dirty(dirty, p == WEIR_NONE ? g->roots[i] : inner_of(g, p)->kids[i]);
    return rc;
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    struct new_kids kids = {p, pos, count, WEIR_NONE};

    for (uint32_t i = indexes_in(g)->n; i-- > 0;) {
        struct index *x = indexes_in(g)->list[i];
        struct dirty_vertices *keys = x->order.keys ? dirty_keys(g, i) : NULL;
        if (weir_order_reserve(g, &x->order) || (!is_marked(&x->dirty, &kids) && mark_new(g, &x->dirty, &kids)) ||
            (keys && !is_marked(keys, &kids) && mark_new(g, keys, &kids)))
            drop_at(g, i);
    }
}

static void clean_below(const weir_graph *g, struct dirty_vertices *dirty, weir_vertex v)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < dirty->n; i++)
        if (!weir_vertex_within(g, dirty->list[i], v))
            dirty->list[kept++] = dirty->list[i];
    dirty->n = kept;
}

static void unlinked(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++) {
        struct index *x = indexes_in(g)->list[i];
        if (x->reordered)
            weir_index_list_drop(x);
        weir_index_list_change(g, x, v, false);
        clean_below(g, &x->dirty, v);
        if (x->order.keys)
            clean_below(g, &x->order.keys->dirty, v);
        forget(g, x, vertex_at(g, v)->parent, vertex_at(g, v)->pos, true);
    }
}

static void promoted(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = indexes_in(g)->n; i-- > 0;)
        if (weir_order_reserve(g, &indexes_in(g)->list[i]->order))
            drop_at(g, i);
        else
            weir_order_promote(g, &indexes_in(g)->list[i]->order, v);
}

static void rows_given(weir_graph *g, uint32_t first, uint32_t count)
{
    for (uint32_t i = indexes_in(g)->n; i-- > 0;) {
        struct index *x = indexes_in(g)->list[i];
        if (weir_array_reserve(&x->best, &x->rows_cap, (size_t)first + count, sizeof *x->best)) {
            drop_at(g, i);
            continue;
        }
        for (uint32_t r = first; r < first + count; r++)
            x->best[r] = WEIR_NONE;
        x->rows = first + count > x->rows ? first + count : x->rows;
    }
}

/* Marks all rows of p, and the rows above, as unknown. */
static void forget_rows(const weir_graph *g, struct index *x, weir_vertex p)
{
    const struct inner *in = inner_of(g, p);

    for (uint32_t r = 0; index_has_rows(g, x, in) && r < in->nrows; r++)
        x->best[in->row + r] = UNKNOWN;
    forget(g, x, vertex_at(g, p)->parent, vertex_at(g, p)->pos, true);
}

static void rows_moved(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        forget_rows(g, indexes_in(g)->list[i], v);
}

/* ---- finding and making an index ---- */

static struct index *find(weir_graph *g, const struct order *o, weir_type t, enum index_mode mode)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++) {
        struct index *x = indexes_in(g)->list[i];
        if (x->type == t && x->mode == mode && weir_order_same(&x->order, o))
            return x;
    }
    return NULL;
}

/* Drops the least recently used index, where there are enough and no search uses it. */
static void drop_oldest(weir_graph *g)
{
    uint32_t oldest = WEIR_NONE;

    for (uint32_t i = 0; indexes_in(g)->n >= INDEX_MAX && i < indexes_in(g)->n; i++)
        if (indexes_in(g)->list[i]->searches == 0 &&
            (oldest == WEIR_NONE || indexes_in(g)->list[i]->last_use < indexes_in(g)->list[oldest]->last_use))
            oldest = i;
    if (oldest != WEIR_NONE)
        drop_at(g, oldest);
}

int weir_index_get(weir_graph *g, const weir_policy *p, const struct order *read, const struct order_scores *by,
                   weir_type t, enum index_mode mode, struct index **out, weir_err *err)
{
    struct order o;
    struct index *x;
    int rc = read ? WEIR_OK : weir_order_of(g, p, &o, err);

    if (rc)
        return rc;
    if (read)
        o = *read;
    if (p->ndescend)
        weir_observe(g, &weir_descent_observer);
    if (by)
        weir_order_score(&o, by);
    weir_order_of_type(&o, t);
    x = find(g, &o, t, mode);
    if (!x) {
        struct indexes *all = weir_record_make(g, RECORD_INDEXES, sizeof *all, &weir_index_observer);
        if (!all || weir_array_reserve(&all->list, &all->cap, all->n + 1, sizeof *all->list))
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
        drop_oldest(g);
        all->list[all->n++] = x;
    }
    x->last_use = weir_next_use(g);
    *out = x;
    return catch_up(g, p, x, err);
}

/* Raises the last keys of the rows over v to `key`; where a row has such a key, all rows above have. */
static void raise_last(const weir_graph *g, struct index *x, weir_vertex v, double key)
{
    weir_vertex p;

    for (; (p = vertex_at(g, v)->parent) != WEIR_NONE; v = p) {
        const struct inner *in = inner_of(g, p);
        struct levels lv;
        if (!index_has_rows(g, x, in))
            continue;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t step = 1; step <= lv.n + 1; step++) {
            double *last = &x->last[in->row + row_over(&lv, step <= lv.n ? step : 0, vertex_at(g, v)->pos)];
            if (*last >= key)
                return;
            *last = key;
        }
    }
}

int weir_index_last(const weir_graph *g, struct index *x)
{
    if (x->last && x->last_of == g->serial)
        return WEIR_OK;
    weir_mem_free(x->last);
    x->last = weir_mem_alloc(((size_t)x->rows + 1) * sizeof *x->last);
    if (!x->last)
        return WEIR_ENOMEM;
    for (uint32_t r = 0; r < x->rows; r++)
        x->last[r] = -HUGE_VAL;
    for (weir_vertex v = 0; v < g->limit; v++)
        if (vertex_valid(g, v) && kind_of(g, v)->type == x->type)
            raise_last(g, x, v, weir_order_first(g, &x->order, v));
    x->last_of = g->serial;
    return WEIR_OK;
}

/* Whether w, below the parent of v, is v or below v. */
static bool comes_from(const weir_graph *g, weir_vertex w, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    while (w != v && vertex_at(g, w)->parent != p)
        w = vertex_at(g, w)->parent;
    return w == v;
}

/* Updates the rows of v's parent. Returns whether rows above may change, too. */
static bool touch_rows(weir_graph *g, struct index *x, weir_vertex v, const struct inner *in)
{
    uint32_t pos = vertex_at(g, v)->pos;
    struct levels lv;
    weir_vertex offer;

    weir_levels_of(in->rows_cap, &lv);
    if (x->best[in->row + row_over(&lv, lv.n ? 1 : 0, pos)] == UNKNOWN)
        return false;
    offer = offer_of(g, x, v);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        weir_vertex *best = &x->best[in->row + row_over(&lv, step <= lv.n ? step : 0, pos)];
        if (*best == UNKNOWN)
            return false;
        if (*best != offer && offer != WEIR_NONE && first_of(g, x, *best, offer) == offer) {
            *best = offer;
        } else if (*best != offer && *best != WEIR_NONE && comes_from(g, *best, v)) {
            forget(g, x, vertex_at(g, v)->parent, pos, false);
            return false;
        } else {
            /* The first candidate is unchanged: so are rows above, except where ancestors must be idle. */
            return x->mode == INDEX_IDLE;
        }
    }
    return true;
}

/* Updates the rows of v's parent. Returns the parent where rows above may change, else WEIR_NONE. */
static weir_vertex touch_parent(weir_graph *g, struct index *x, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    const struct inner *in = p == WEIR_NONE ? NULL : inner_of(g, p);

    return !index_has_rows(g, x, in) || touch_rows(g, x, v, in) ? p : WEIR_NONE;
}

/* Updates the rows of the parent after a change of v, without rows above. */
static void touch_kid(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        if (indexes_in(g)->list[i]->mode != INDEX_ANY)
            (void)touch_parent(g, indexes_in(g)->list[i], v);
}

/* Changed children from which on the rows are marked as unknown. */
#define MANY_KIDS 4

static void used_run(weir_graph *g, weir_vertex p, uint32_t from, uint32_t to)
{
    const struct inner *in = inner_of(g, p);

    for (uint32_t i = from; to - from + 1 < MANY_KIDS && i <= to; i++)
        touch_kid(g, in->kids[i]);
    for (uint32_t i = 0; to - from + 1 >= MANY_KIDS && i < indexes_in(g)->n; i++) {
        struct index *x = indexes_in(g)->list[i];
        for (uint32_t pos = from; x->mode != INDEX_ANY && index_has_rows(g, x, in) && pos <= to;
             pos = (pos / WEIR_FAN + 1) * WEIR_FAN)
            forget(g, x, p, pos, false);
    }
}

static void used(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        if (indexes_in(g)->list[i]->mode != INDEX_ANY)
            for (weir_vertex u = v; u != WEIR_NONE;)
                u = touch_parent(g, indexes_in(g)->list[i], u);
}

void weir_index_forget(const weir_graph *g, struct index *x, weir_vertex v)
{
    forget(g, x, vertex_at(g, v)->parent, vertex_at(g, v)->pos, false);
}

/* ---- scores ---- */

/* Whether vertices of type t below p are children of p only. */
static bool children_only(const weir_graph *g, weir_vertex p, weir_type t)
{
    const struct schema *sc = schema_at(g, inner_of(g, p)->schema);

    for (uint32_t i = 0; i < sc->ntypes; i++)
        if (weir_type_above(g, (weir_type)sc->codes[i], t))
            return false;
    return true;
}

void weir_index_rescored(weir_graph *g, const struct score_memory *memory, weir_vertex v, enum rescored what)
{
    weir_vertex p = vertex_at(g, v)->parent;

    if (p != WEIR_NONE && what == RESCORED_ALIKE && !children_only(g, p, memory->type))
        what = RESCORED_SIBLINGS;
    for (uint32_t i = 0; i < indexes_in(g)->n; i++) {
        struct index *x = indexes_in(g)->list[i];
        if (x->order.scores != memory)
            continue;
        weir_index_list_drop(x);
        x->unknown = true;
        if (p == WEIR_NONE || what == RESCORED_VERTEX)
            forget(g, x, p, vertex_at(g, v)->pos, true);
        else if (what == RESCORED_ALIKE)
            forget(g, x, vertex_at(g, p)->parent, vertex_at(g, p)->pos, true);
        else
            forget_rows(g, x, p);
    }
}

void weir_index_drop_scored(weir_graph *g, const struct score_memory *memory)
{
    for (uint32_t i = indexes_in(g)->n; i-- > 0;)
        if (indexes_in(g)->list[i]->order.scores == memory)
            drop_at(g, i);
}

bool weir_index_scored_in_use(const weir_graph *g, const struct score_memory *memory)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        if (indexes_in(g)->list[i]->order.scores == memory && indexes_in(g)->list[i]->searches > 0)
            return true;
    return false;
}

/* ---- checks ---- */

/* Whether all entries of a row are known. */
static bool entries_known(const weir_graph *g, const struct index *x, const struct inner *in, const struct levels *lv,
                          uint32_t l, uint32_t r)
{
    uint32_t begin, end;
    bool kids = weir_row_entries(in, lv, l, r, &begin, &end), known = true;

    for (uint32_t i = begin; i < end && known; i++) {
        const struct inner *kid = kids && in->kids[i] != WEIR_NONE ? inner_of(g, in->kids[i]) : NULL;
        if (!kids)
            known = x->best[in->row + i] != UNKNOWN;
        else if (index_has_rows(g, x, kid))
            known = x->best[kid->row] != UNKNOWN;
    }
    return known;
}

/* Whether a row has the first candidate, or is unknown. */
static bool row_right(const weir_graph *g, const struct index *x, const struct inner *in, const struct levels *lv,
                      uint32_t l, uint32_t r)
{
    weir_vertex best = x->best[in->row + r];

    if (best == UNKNOWN)
        return x->unknown;
    return entries_known(g, x, in, lv, l, r) && best == first_of_row(g, x, in, lv, l, r);
}

static bool index_right(const weir_graph *g, const struct index *x)
{
    if (x->dirty.n > 0) /* rows are outdated until the dirty vertices are in order */
        return true;
    for (uint32_t i = 0; i < g->ninners; i++) {
        const struct inner *in = &g->inners[i];
        struct levels lv;
        if (in->vertex == WEIR_NONE || !index_has_rows(g, x, in))
            continue;
        weir_levels_of(in->rows_cap, &lv);
        if (!row_right(g, x, in, &lv, 0, 0))
            return false;
        for (uint32_t l = 1; l <= lv.n; l++)
            for (uint32_t r = lv.first[l]; r < lv.first[l] + lv.count[l]; r++)
                if (!row_right(g, x, in, &lv, l, r))
                    return false;
    }
    return weir_index_list_check(g, x);
}

static int check(const weir_graph *g, weir_err *err)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        if (!weir_order_room(g, &indexes_in(g)->list[i]->order))
            return weir_fail(err, WEIR_EINVAL, "weir_check: index %u has no room for the keys of each vertex", i);
        else if (!index_right(g, indexes_in(g)->list[i]))
            return weir_fail(err, WEIR_EINVAL, "weir_check: index %u does not name the best", i);
    return WEIR_OK;
}

static size_t bytes(const weir_graph *g)
{
    size_t n = 0;

    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        n += (size_t)indexes_in(g)->list[i]->rows *
                 (sizeof(weir_vertex) + (indexes_in(g)->list[i]->last ? sizeof(double) : 0)) +
             (dirty_keys(g, i) ? weir_order_bytes(&indexes_in(g)->list[i]->order) : 0);
    return n;
}

const struct weir_observer weir_index_observer = {
    .linked = linked,
    .unlinked = unlinked,
    .promoted = promoted,
    .described = described,
    .described_many = described_many,
    .rows_given = rows_given,
    .rows_moved = rows_moved,
    .used = used,
    .used_run = used_run,
    .reset = drop_all,
    .freed = drop_all,
    .bytes = bytes,
    .check = check,
};
