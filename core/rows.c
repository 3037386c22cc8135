/* rows.c - aggregates by type, kept exact. Invariant: each row is the sum (or the maximum, for the cells that are
 * maxima) of what its entries contribute; row 0 is that over all kids. */
#include "rows.h"

#include <string.h>

#include "index.h"

void weir_levels_of(uint32_t cap, struct levels *lv)
{
    uint32_t n = cap;

    lv->n = 0;
    lv->rows = 1;
    while (n > WEIR_FAN) {
        n = (n + WEIR_FAN - 1) / WEIR_FAN;
        lv->n++;
        lv->first[lv->n] = lv->rows;
        lv->count[lv->n] = n;
        lv->rows += n;
    }
}

bool weir_row_entries(const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r, uint32_t *begin,
                      uint32_t *end)
{
    uint32_t below = l == 0 ? lv->n : l - 1; /* the level of the entries; 0: kids */
    uint32_t count = below == 0 ? in->nkids : lv->count[below];

    if (l == 0) {
        *begin = 0;
        *end = count;
    } else {
        *begin = (r - lv->first[l]) * WEIR_FAN;
        *end = *begin + WEIR_FAN < count ? *begin + WEIR_FAN : count;
        if (*begin > *end)
            *begin = *end;
    }
    if (below == 0)
        return true;
    *begin += lv->first[below];
    *end += lv->first[below];
    return false;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t book_soon(const struct book *b)
{
    return b ? WEIR_FOREVER - b->next : 0;
}

void weir_row_contribute(const weir_graph *g, weir_vertex v, uint32_t ps, int64_t *out)
{
    const struct schema *s = g->schemas[ps];
    const struct kind *k = kind_of(g, v);
    const struct inner *in = inner_of(g, v);
    const struct book *b = book_of(g, v);
    bool open = vertex_open(g, v);
    uint32_t own = type_cell(s, k->type);

    memset(out, 0, s->width * sizeof *out);
    out[CELL_SOON] = book_soon(b);
    out[CELL_ACTIVE] = b ? b->active : 0;
    out[own + TYPE_TOTAL] = k->size;
    if (in && in->cells) {
        const struct lift *l = g->lifts[in->lift];
        out[CELL_SOON] = max64(out[CELL_SOON], in->cells[CELL_SOON]);
        out[CELL_ACTIVE] += in->cells[CELL_ACTIVE];
        for (uint32_t i = 0; i < l->nmoves; i++) {
            struct move m = l->moves[i];
            int64_t value = m.gated && !open ? 0 : in->cells[m.from];
            out[m.to] = m.max ? max64(out[m.to], value) : out[m.to] + value;
        }
    }
    if (open) {
        out[own + TYPE_FREE] += vertex_unallocated(g, v);
        out[own + TYPE_IDLE] += vertex_unused(g, v) ? k->size : 0;
    }
}

/* One maximum cell of what v contributes; `pairs` is the first cell of the pairs. */
static int64_t contribute_max(const weir_graph *g, weir_vertex v, uint32_t cell, uint32_t pairs)
{
    const struct inner *in = inner_of(g, v);
    const uint16_t *from;
    int64_t best;

    if (cell == CELL_SOON) {
        best = book_soon(book_of(g, v));
        return in && in->cells ? max64(best, in->cells[CELL_SOON]) : best;
    }
    if (!in || !in->cells || ((cell - pairs) % PAIR_CELLS == PAIR_FREE && !vertex_open(g, v)))
        return 0;
    from = g->lifts[in->lift]->sources[cell - pairs];
    best = from[0] ? in->cells[from[0]] : 0;
    return from[1] ? max64(best, in->cells[from[1]]) : best;
}

/* The maximum of one cell over the entries of a row; it cannot be above `bound`. */
static int64_t rescan(const weir_graph *g, const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r,
                      uint32_t cell, int64_t bound)
{
    uint32_t begin, end;
    bool kids = weir_row_entries(in, lv, l, r, &begin, &end);
    uint32_t pairs = CELL_TYPES + TYPE_CELLS * g->schemas[in->schema]->ntypes;
    int64_t best = 0;

    for (uint32_t i = begin; i < end && best < bound; i++) {
        if (!kids)
            best = max64(best, row_cells(g, in, i)[cell]);
        else if (in->kids[i] != WEIR_NONE)
            best = max64(best, contribute_max(g, in->kids[i], cell, pairs));
    }
    return best;
}

/* Carries a change of what the kid at pos contributes into the rows of its parent. */
static void update_rows(weir_graph *g, struct inner *in, uint32_t pos, const int64_t *old, const int64_t *new)
{
    const struct schema *s = g->schemas[in->schema];
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0, r = row_over(&lv, l, pos);
        int64_t *cells = row_cells(g, in, r);
        uint32_t sums_end = CELL_TYPES + TYPE_CELLS * s->ntypes;
        for (uint32_t c = CELL_ACTIVE; c < sums_end; c++)
            cells[c] += new[c] - old[c];
        for (uint32_t c = 0; c < s->width; c = c == CELL_SOON ? sums_end : c + 1) {
            if (new[c] >= cells[c])
                cells[c] = new[c];
            else if (old[c] == cells[c])
                cells[c] = rescan(g, in, &lv, l, r, c, old[c]);
        }
    }
}

enum { OLD, NEW, OLD_UP, FILL, LATE };

static int64_t *scratch(const weir_graph *g, int which)
{
    return g->scratch + (size_t)which * g->scratch_width;
}

/* What v contributes to its parent; nothing for a root. */
static void contribute_up(const weir_graph *g, weir_vertex v, int64_t *out)
{
    weir_vertex p = vertex_at(g, v)->parent;
    if (p != WEIR_NONE)
        weir_row_contribute(g, v, inner_of(g, p)->schema, out);
}

/* One step of a change of v, which contributed `old`, up into the rows of its parent. False: nothing changed. */
static bool carry_one(weir_graph *g, weir_vertex v, const int64_t *old)
{
    struct inner *in = inner_of(g, vertex_at(g, v)->parent);
    int64_t *new = scratch(g, NEW);

    weir_row_contribute(g, v, in->schema, new);
    if (memcmp(old, new, g->schemas[in->schema]->width * sizeof *old) == 0)
        return false;
    update_rows(g, in, vertex_at(g, v)->pos, old, new);
    return true;
}

/* Carries a difference from v to the root: OLD holds what v contributed before. */
static void carry_up(weir_graph *g, weir_vertex v)
{
    int64_t *old = scratch(g, OLD), *old_up = scratch(g, OLD_UP);
    weir_vertex p;

    while ((p = vertex_at(g, v)->parent) != WEIR_NONE) {
        weir_vertex pp = vertex_at(g, p)->parent;
        contribute_up(g, p, old_up);
        if (!carry_one(g, v, old))
            return;
        v = p;
        if (pp != WEIR_NONE)
            memcpy(old, old_up, g->schemas[inner_of(g, pp)->schema]->width * sizeof *old);
    }
}

/* Carries what a batch has held back at g->late. */
static void carry_late(weir_graph *g)
{
    weir_vertex v = g->late;

    if (v == WEIR_NONE)
        return;
    g->late = WEIR_NONE;
    if (vertex_at(g, v)->parent == WEIR_NONE)
        return;
    memcpy(scratch(g, OLD), scratch(g, LATE), g->scratch_width * sizeof(int64_t));
    carry_up(g, v);
    weir_indexes_touch(g, v);
}

void weir_rows_batch(weir_graph *g, bool on)
{
    carry_late(g);
    g->batch = on;
}

void weir_rows_before(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;

    if (g->building)
        return;
    if (p != g->late)
        carry_late(g);
    contribute_up(g, v, scratch(g, OLD));
}

void weir_rows_after(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;

    if (g->building)
        return;
    if (g->batch && p != WEIR_NONE) {
        if (g->late == WEIR_NONE)
            contribute_up(g, p, scratch(g, LATE));
        g->late = p;
        carry_one(g, v, scratch(g, OLD));
        weir_indexes_touch_one(g, v);
        return;
    }
    carry_up(g, v);
    weir_indexes_touch(g, v);
}

/* Carries what the kid at pos says about reservations into the rows of its parent. */
static void update_soon(weir_graph *g, struct inner *in, uint32_t pos, int64_t old, int64_t new)
{
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0, r = row_over(&lv, l, pos);
        int64_t *cell = row_cells(g, in, r) + CELL_SOON;
        if (new >= *cell)
            *cell = new;
        else if (old == *cell)
            *cell = rescan(g, in, &lv, l, r, CELL_SOON, old);
    }
}

static int64_t soon_below(const struct inner *in)
{
    return in && in->cells ? in->cells[CELL_SOON] : 0;
}

void weir_rows_soon(weir_graph *g, weir_vertex v, int64_t next)
{
    int64_t below = soon_below(inner_of(g, v));
    int64_t old = max64(WEIR_FOREVER - next, below), new = max64(book_soon(book_of(g, v)), below);
    weir_vertex p = vertex_at(g, v)->parent;

    if (old != new)
        carry_late(g);
    for (; old != new && p != WEIR_NONE && !g->building; v = p, p = vertex_at(g, v)->parent) {
        struct inner *in = inner_of(g, p);
        int64_t own = book_soon(book_of(g, p)), was = max64(own, in->cells[CELL_SOON]);
        update_soon(g, in, vertex_at(g, v)->pos, old, new);
        old = was;
        new = max64(own, in->cells[CELL_SOON]);
    }
}

static void add_cells(const struct schema *s, int64_t *to, const int64_t *from)
{
    for (uint32_t c = 0; c < s->width; c++)
        to[c] = cell_is_max(s, c) ? max64(to[c], from[c]) : to[c] + from[c];
}

/* Fills the rows in `cells`, laid out for `cap` kids, from the kids. */
static void fill_rows(weir_graph *g, struct inner *in, int64_t *out)
{
    const struct schema *s = g->schemas[in->schema];
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    memset(in->cells, 0, (size_t)lv.rows * s->width * sizeof *in->cells);
    for (uint32_t i = 0; i < in->nkids; i++) {
        if (in->kids[i] == WEIR_NONE)
            continue;
        weir_row_contribute(g, in->kids[i], in->schema, out);
        add_cells(s, row_cells(g, in, row_over(&lv, lv.n ? 1 : 0, i)), out);
    }
    for (uint32_t l = 1; l <= lv.n; l++)
        for (uint32_t r = 0; r < lv.count[l]; r++) {
            uint32_t up = l < lv.n ? lv.first[l + 1] + r / WEIR_FAN : 0;
            add_cells(s, row_cells(g, in, up), row_cells(g, in, lv.first[l] + r));
        }
}

/* Makes sure that a lift exists from every kid with children to a schema of `in`. */
static int intern_lifts(weir_graph *g, const struct inner *in, uint32_t schema)
{
    uint32_t last_schema = WEIR_NONE;
    weir_type last_type = WEIR_NO_TYPE;

    for (uint32_t i = 0; i < in->nkids; i++) {
        const struct inner *kid = in->kids[i] == WEIR_NONE ? NULL : inner_of(g, in->kids[i]);
        weir_type t = kid ? kind_of(g, kid->vertex)->type : WEIR_NO_TYPE;
        if (!kid || (kid->schema == last_schema && t == last_type))
            continue;
        if (weir_lift_intern(g, schema, kid->schema, t) == WEIR_NONE)
            return WEIR_ENOMEM;
        last_schema = kid->schema;
        last_type = t;
    }
    return WEIR_OK;
}

/* Points every kid with children at its lift, which exists. */
static void set_lifts(weir_graph *g, const struct inner *in)
{
    uint32_t last_schema = WEIR_NONE, last = WEIR_NONE;
    weir_type last_type = WEIR_NO_TYPE;

    for (uint32_t i = 0; i < in->nkids; i++) {
        struct inner *kid = in->kids[i] == WEIR_NONE ? NULL : inner_of(g, in->kids[i]);
        weir_type t = kid ? kind_of(g, kid->vertex)->type : WEIR_NO_TYPE;
        if (!kid)
            continue;
        if (kid->schema != last_schema || t != last_type)
            last = weir_lift_intern(g, in->schema, kid->schema, t);
        kid->lift = last;
        last_schema = kid->schema;
        last_type = t;
    }
}

/* Room for the rows of one inner vertex, got before anything is changed. */
struct refit {
    uint32_t inner, schema, cap;
    int64_t *cells;
};

static int refit_prepare(weir_graph *g, struct refit *f)
{
    const struct inner *in = &g->inners[f->inner];
    struct levels lv;

    weir_levels_of(f->cap, &lv);
    if (lv.rows > UINT32_MAX - g->nrows)
        return WEIR_ENOMEM;
    f->cells = weir_mem_alloc((size_t)lv.rows * g->schemas[f->schema]->width * sizeof *f->cells);
    if (!f->cells)
        return WEIR_ENOMEM;
    return intern_lifts(g, in, f->schema);
}

/* New row numbers. */
static void give_rows(weir_graph *g, struct inner *in, uint32_t rows)
{
    bool had = in->nrows > 0;

    weir_rows_spare(g, in);
    if (rows == 1 && g->nspare_rows > 0) {
        in->row = g->spare_rows[--g->nspare_rows];
    } else {
        in->row = g->nrows;
        g->nrows += rows;
    }
    in->nrows = rows;
    if (g->building)
        return;
    weir_indexes_rows(g, in->row, rows);
    if (had)
        weir_indexes_relay(g, in->vertex);
}

void weir_rows_spare(weir_graph *g, const struct inner *in)
{
    if (in->nrows == 1 && weir_array_reserve(&g->spare_rows, &g->spare_rows_cap, (size_t)g->nspare_rows + 1,
                                             sizeof *g->spare_rows) == WEIR_OK)
        g->spare_rows[g->nspare_rows++] = in->row;
}

static void refit_commit(weir_graph *g, const struct refit *f)
{
    struct inner *in = &g->inners[f->inner];
    struct levels lv;

    weir_levels_of(f->cap, &lv);
    weir_mem_free(in->cells);
    in->cells = f->cells;
    in->schema = f->schema;
    if (lv.rows > in->nrows)
        give_rows(g, in, lv.rows);
    else
        in->nrows = lv.rows;
    in->rows_cap = f->cap;
    set_lifts(g, in);
    fill_rows(g, in, scratch(g, FILL));
}

/* The schema of what the kids of `in` are. */
static uint32_t schema_of_kids(weir_graph *g, const struct inner *in)
{
    uint32_t schema = 0, last_schema = WEIR_NONE;
    weir_type last_type = WEIR_NO_TYPE;

    for (uint32_t i = 0; i < in->nkids && schema != WEIR_NONE; i++) {
        const struct inner *kid;
        uint32_t below;
        weir_type t;
        if (in->kids[i] == WEIR_NONE)
            continue;
        kid = inner_of(g, in->kids[i]);
        below = kid ? kid->schema : 0;
        t = kind_of(g, in->kids[i])->type;
        if (t == last_type && below == last_schema)
            continue;
        schema = weir_schema_with(g, schema, t, below);
        last_type = t;
        last_schema = below;
    }
    return schema;
}

/* As many kids as have rows anyway. */
static uint32_t whole_rows(uint32_t kids)
{
    return kids > UINT32_MAX - WEIR_FAN ? kids : (kids + WEIR_FAN - 1) / WEIR_FAN * WEIR_FAN;
}

static int build_one(weir_graph *g, weir_vertex v)
{
    struct refit f = {vertex_at(g, v)->inner, 0, whole_rows(inner_of(g, v)->nkids), NULL};

    f.schema = schema_of_kids(g, inner_of(g, v));
    if (f.schema == WEIR_NONE || refit_prepare(g, &f)) {
        weir_mem_free(f.cells);
        return WEIR_ENOMEM;
    }
    refit_commit(g, &f);
    return WEIR_OK;
}

/* The next kid with children from *cursor on, or WEIR_NONE. */
static weir_vertex next_inner_kid(const weir_graph *g, const struct inner *in, uint32_t *cursor)
{
    while (*cursor < in->nkids) {
        weir_vertex kid = in->kids[(*cursor)++];
        if (kid != WEIR_NONE && inner_of(g, kid))
            return kid;
    }
    return WEIR_NONE;
}

/* Postorder over the inner vertices below a root. */
static int build_below(weir_graph *g, weir_vertex root)
{
    uint32_t cursor[WEIR_PATH_DEPTH + 2] = {0};
    uint32_t depth = 0;
    weir_vertex v = root;

    for (;;) {
        weir_vertex kid = next_inner_kid(g, inner_of(g, v), &cursor[depth]);
        if (kid != WEIR_NONE) {
            v = kid;
            cursor[++depth] = 0;
            continue;
        }
        if (build_one(g, v))
            return WEIR_ENOMEM;
        if (depth-- == 0)
            return WEIR_OK;
        v = vertex_at(g, v)->parent;
    }
}

int weir_rows_build(weir_graph *g)
{
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE && inner_of(g, g->roots[i]) && build_below(g, g->roots[i]))
            return WEIR_ENOMEM;
    weir_indexes_drop(g);
    return WEIR_OK;
}

/* Which inner vertices from p upward need other rows for kids of that type and schema: refits[0..*n), and *top, the
 * last of them, whose contribution to its parent then changes as a whole. */
static int plan_refits(weir_graph *g, weir_vertex p, weir_type t, uint32_t kid_schema, uint32_t nkids,
                       struct refit *refits, uint32_t *n, weir_vertex *top)
{
    *n = 0;
    *top = WEIR_NONE;
    for (; p != WEIR_NONE; p = vertex_at(g, p)->parent) {
        const struct inner *in = inner_of(g, p);
        uint32_t want = weir_schema_with(g, in->schema, t, kid_schema);
        bool wide = *n == 0 && nkids > in->rows_cap;
        struct refit *f = &refits[*n];
        if (want == WEIR_NONE)
            return WEIR_ENOMEM;
        if (want == in->schema && !wide && in->cells) {
            return weir_lift_intern(g, want, kid_schema, t) == WEIR_NONE ? WEIR_ENOMEM : WEIR_OK;
        }
        *f = (struct refit){vertex_at(g, p)->inner, want, wide ? whole_rows(in->kids_cap) : in->rows_cap, NULL};
        ++*n;
        if (refit_prepare(g, f) || weir_lift_intern(g, want, kid_schema, t) == WEIR_NONE)
            return WEIR_ENOMEM;
        *top = p;
        t = kind_of(g, p)->type;
        kid_schema = want;
    }
    return WEIR_OK;
}

/* Adds kids that the rows have room for, one by one. */
static void link_each(weir_graph *g, struct inner *in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        weir_vertex kid = in->kids[in->nkids++];
        struct inner *k = inner_of(g, kid);
        if (k)
            k->lift = weir_lift_intern(g, in->schema, k->schema, kind_of(g, kid)->type);
        memset(scratch(g, OLD), 0, g->scratch_width * sizeof(int64_t));
        carry_up(g, kid);
    }
}

int weir_rows_link(weir_graph *g, weir_vertex p, uint32_t count)
{
    struct refit refits[WEIR_PATH_DEPTH + 1];
    struct inner *in = inner_of(g, p);
    weir_vertex kid = in->kids[in->nkids], top, above;
    const struct inner *k = inner_of(g, kid);
    uint32_t n;

    if (plan_refits(g, p, kind_of(g, kid)->type, k ? k->schema : 0, in->nkids + count, refits, &n, &top)) {
        while (n-- > 0)
            weir_mem_free(refits[n].cells);
        return WEIR_ENOMEM;
    }
    if (n == 0) {
        link_each(g, in, count);
        weir_indexes_link(g, p, in->nkids - count, count);
        return WEIR_OK;
    }
    weir_rows_before(g, top);
    in->nkids += count;
    for (uint32_t i = 0; i < n; i++)
        refit_commit(g, &refits[i]);
    above = vertex_at(g, top)->parent;
    if (above != WEIR_NONE) {
        struct inner *t = inner_of(g, top);
        t->lift = weir_lift_intern(g, inner_of(g, above)->schema, t->schema, kind_of(g, top)->type);
        carry_up(g, top);
    }
    weir_indexes_link(g, p, in->nkids - count, count);
    return WEIR_OK;
}

void weir_rows_unlink(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    struct inner *in = inner_of(g, p);
    int64_t *old = scratch(g, OLD), *zero = scratch(g, NEW), *old_up = scratch(g, OLD_UP);
    weir_vertex pp = vertex_at(g, p)->parent;

    weir_row_contribute(g, v, in->schema, old);
    memset(zero, 0, g->scratch_width * sizeof *zero);
    contribute_up(g, p, old_up);
    in->kids[vertex_at(g, v)->pos] = WEIR_NONE;
    in->holes++;
    update_rows(g, in, vertex_at(g, v)->pos, old, zero);
    if (pp != WEIR_NONE) {
        memcpy(old, old_up, g->schemas[inner_of(g, pp)->schema]->width * sizeof *old);
        carry_up(g, p);
    }
}
