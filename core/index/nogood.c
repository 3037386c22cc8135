/* nogood.c - see nogood.h. Invariant: where a valid bit is set, the search would find nothing before the stored
 * candidate. */
#include "index/nogood.h"

#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"

static void drop_all(weir_graph *g)
{
    struct nogoods *x = nogoods_in(g);

    for (uint32_t i = 0; x && i < x->n; i++) {
        weir_buf_free(&x->list[i].key);
        weir_mem_free(x->list[i].first);
    }
    if (x)
        weir_mem_free(x->rows);
    weir_record_drop(g, RECORD_NOGOODS, &weir_nogood_observer);
}

static size_t bytes(const weir_graph *g)
{
    const struct nogoods *x = nogoods_in(g);
    size_t n = x ? sizeof *x + (size_t)x->cap * sizeof *x->rows : 0;

    for (uint32_t i = 0; x && i < x->n; i++)
        n += x->list[i].key.cap + (size_t)x->cap * sizeof *x->list[i].first;
    return n;
}

static uint32_t place_of(const struct nogoods *x, const weir_buf *key)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->list[i].key.len == key->len && memcmp(x->list[i].key.data, key->data, key->len) == 0)
            return i;
    return WEIR_NONE;
}

struct nogood_bit weir_nogood_find(weir_graph *g, const weir_buf *key, int64_t end)
{
    struct nogoods *x = nogoods_in(g);
    uint32_t i = x ? place_of(x, key) : WEIR_NONE;

    if (i == WEIR_NONE)
        return (struct nogood_bit){0};
    x->list[i].last_use = weir_next_use(g);
    return (struct nogood_bit){end >= x->list[i].end ? x->list[i].born : 0, i};
}

static struct nogoods *make(weir_graph *g)
{
    struct nogoods *x = weir_record_make(g, RECORD_NOGOODS, sizeof *x, &weir_nogood_observer);

    if (!x)
        return NULL;
    x->cap = aggregates_in(g)->nrows + 1;
    x->rows = weir_mem_zalloc(x->cap, sizeof *x->rows);
    if (!x->rows) {
        drop_all(g);
        return NULL;
    }
    x->nrows = aggregates_in(g)->nrows;
    return x;
}

/* The number for a new search: the next, or the number of the least recently used search. */
static uint32_t take_slot(const struct nogoods *x)
{
    uint32_t oldest = 0;

    if (x->n < NOGOODS_MAX)
        return x->n;
    for (uint32_t i = 1; i < x->n; i++)
        if (x->list[i].last_use < x->list[oldest].last_use)
            oldest = i;
    return oldest;
}

/* The number of a search, new or not; WEIR_NONE: out of memory. */
static uint32_t place_for(struct nogoods *x, const weir_buf *key)
{
    uint32_t i = place_of(x, key);
    struct nogood made = {0};

    if (i != WEIR_NONE)
        return i;
    made.first = weir_mem_alloc((size_t)x->cap * sizeof *made.first);
    weir_buf_add(&made.key, key->data, key->len);
    if (!made.first || made.key.failed) {
        weir_mem_free(made.first);
        weir_buf_free(&made.key);
        return WEIR_NONE;
    }
    i = take_slot(x);
    weir_buf_free(&x->list[i].key);
    weir_mem_free(x->list[i].first);
    x->list[i] = made;
    x->n = i == x->n ? x->n + 1 : x->n;
    return i;
}

static void clear_all(struct nogoods *x, uint32_t bits)
{
    for (uint32_t r = 0; r < x->nrows; r++)
        x->rows[r] &= ~bits;
}

int weir_nogood_make(weir_graph *g, const weir_buf *key, bool lasting, bool mapped, struct nogood_bit *out)
{
    struct nogoods *x = nogoods_in(g) ? nogoods_in(g) : make(g);
    uint32_t i = x ? place_for(x, key) : WEIR_NONE, mask;

    if (i == WEIR_NONE)
        return WEIR_ENOMEM;
    mask = UINT32_C(1) << i;
    clear_all(x, mask);
    x->mapped = mapped ? x->mapped | mask : x->mapped & ~mask;
    x->passing = lasting ? x->passing & ~mask : x->passing | mask;
    x->list[i].end = INT64_MIN;
    x->list[i].born = x->list[i].last_use = weir_next_use(g);
    *out = (struct nogood_bit){x->list[i].born, i};
    return WEIR_OK;
}

/* ---- changes ---- */

static void described_many(weir_graph *g)
{
    if (nogoods_in(g)->mapped)
        clear_all(nogoods_in(g), nogoods_in(g)->mapped);
}

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    (void)v, (void)key;
    if (map != WEIR_EXTENDED)
        described_many(g);
}

static void clear(struct nogoods *x, uint32_t row, uint32_t bits)
{
    if (row < x->nrows)
        x->rows[row] &= ~bits;
}

/* Clears bits in the rows of v's parent over v; returns the parent. */
static weir_vertex clear_parent(const weir_graph *g, struct nogoods *x, weir_vertex v, uint32_t bits)
{
    weir_vertex p = vertex_at(g, v)->parent;
    const struct inner *in = p == WEIR_NONE ? NULL : inner_of(g, p);
    struct levels lv;

    if (!in)
        return p;
    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t l = 0; l <= lv.n; l++)
        clear(x, in->row + row_over(&lv, l, vertex_at(g, v)->pos), bits);
    return p;
}

static void spans_changed(weir_graph *g, weir_vertex v, bool above)
{
    const struct inner *in = inner_of(g, v);
    uint32_t passing = nogoods_in(g)->passing;

    if (in)
        clear(nogoods_in(g), in->row, passing);
    v = clear_parent(g, nogoods_in(g), v, passing);
    while (above && v != WEIR_NONE)
        v = clear_parent(g, nogoods_in(g), v, passing);
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    struct nogoods *x = nogoods_in(g);
    const struct inner *in = p == WEIR_NONE ? NULL : inner_of(g, p);
    struct levels lv;

    if (!in)
        return;
    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t l = 0; l <= lv.n; l++)
        for (uint32_t r = row_over(&lv, l, pos); r <= row_over(&lv, l, pos + count - 1); r++)
            clear(x, in->row + r, UINT32_MAX);
    while (p != WEIR_NONE)
        p = clear_parent(g, x, p, UINT32_MAX);
}

static void unlinked(weir_graph *g, weir_vertex v)
{
    linked(g, vertex_at(g, v)->parent, vertex_at(g, v)->pos, 1);
}

static int widen(struct nogoods *x, uint32_t rows)
{
    uint32_t cap = x->cap;

    if (rows <= cap)
        return WEIR_OK;
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t had = cap;
        if (weir_array_reserve(&x->list[i].first, &had, rows, sizeof *x->list[i].first))
            return WEIR_ENOMEM;
    }
    return weir_array_reserve(&x->rows, &x->cap, rows, sizeof *x->rows);
}

static void rows_given(weir_graph *g, uint32_t first, uint32_t count)
{
    struct nogoods *x = nogoods_in(g);

    if (widen(x, first + count)) {
        drop_all(g);
        return;
    }
    x->nrows = first + count > x->nrows ? first + count : x->nrows;
    memset(x->rows + first, 0, count * sizeof *x->rows);
}

const struct weir_observer weir_nogood_observer = {
    .linked = linked,
    .unlinked = unlinked,
    .described = described,
    .described_many = described_many,
    .rows_given = rows_given,
    .spans_changed = spans_changed,
    .reset = drop_all,
    .freed = drop_all,
    .bytes = bytes,
};
