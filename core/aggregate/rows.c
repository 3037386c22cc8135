/* rows.c - aggregates by type, exact after every change. Invariant: each cell of a row is the sum (or the maximum)
 * of the contributions of the entries; row 0 is over all children. */
#include "aggregate/rows.h"

#include <string.h>

#include "aggregate/rows_deferred.h"
#include "aggregate/rows_max.h"
#include "graph/observer.h"

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

static void add_moves(int64_t *out, const int64_t *cells, const struct move *moves, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct move m = moves[i];
        out[m.to] = m.max ? max64(out[m.to], cells[m.from]) : out[m.to] + cells[m.from];
    }
}

void weir_rows_add(const weir_graph *g, weir_vertex v, const struct schema *s, int64_t n, int64_t *out)
{
    const struct kind *k = kind_of(g, v);
    const struct inner *in = inner_of(g, v);
    const struct schedule *b = schedule_of(g, v);
    bool open = vertex_open(g, v);
    uint32_t own = type_cell(s, k->type);

    out[CELL_SOON] = max64(out[CELL_SOON], schedule_soon(b));
    out[CELL_ACTIVE] += b ? n * b->active : 0;
    if (in && in->cells) {
        const struct row_map *l = aggregates_in(g)->row_maps[in->row_map];
        out[CELL_SOON] = max64(out[CELL_SOON], in->cells[CELL_SOON]);
        out[CELL_ACTIVE] += in->cells[CELL_ACTIVE];
        if (open)
            add_moves(out, in->cells, l->moves, l->ngated);
    }
    if (open) {
        out[own + TYPE_FREE] += n * vertex_unallocated(g, v);
        out[own + TYPE_IDLE] += vertex_unused(g, v) ? n * k->size : 0;
    }
}

/* Cells that schedules and states change; the rest of `out` is 0. */
static void contribute(const weir_graph *g, weir_vertex v, const struct schema *s, int64_t *out)
{
    memset(out, 0, s->width * sizeof *out);
    weir_rows_add(g, v, s, 1, out);
}

void weir_row_contribute(const weir_graph *g, weir_vertex v, uint32_t ps, int64_t *out)
{
    const struct schema *s = schema_at(g, ps);
    const struct inner *in = inner_of(g, v);
    const struct row_map *l = in && in->cells ? aggregates_in(g)->row_maps[in->row_map] : NULL;

    contribute(g, v, s, out);
    if (l)
        add_moves(out, in->cells, l->moves + l->ngated, l->nmoves - l->ngated);
    out[type_cell(s, kind_of(g, v)->type) + TYPE_TOTAL] += kind_of(g, v)->size;
}

/* Carries a change of the contribution of the child at pos into the rows of the parent. */
static void update_rows(const weir_graph *g, struct inner *in, uint32_t pos, const int64_t *old, const int64_t *new)
{
    uint32_t width = schema_at(g, in->schema)->width;
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0;
        int64_t *cells = row_cells(g, in, row_over(&lv, l, pos));
        struct row w = weir_row_at(g, in, &lv, l, pos);
        for (uint32_t c = CELL_ACTIVE; c < w.pairs; c++)
            cells[c] += new[c] - old[c];
        for (uint32_t c = CELL_SOON; c < width; c = row_next_max(c, w.pairs)) {
            if (new[c] >= cells[c])
                cells[c] = new[c];
            else if (old[c] == cells[c])
                cells[c] = weir_row_rescan(g, &w, c, old[c]);
        }
    }
}

/* The contribution of v to the parent: all cells, or cells that schedules and states change; nothing for a root. */
static void contribute_up(const weir_graph *g, weir_vertex v, bool all, int64_t *out)
{
    weir_vertex p = vertex_at(g, v)->parent;

    if (p != WEIR_NONE && all)
        weir_row_contribute(g, v, inner_of(g, p)->schema, out);
    else if (p != WEIR_NONE)
        contribute(g, v, schema_at(g, inner_of(g, p)->schema), out);
}

/* Carries a change of v, which contributed `old`, into the rows of the parent. Returns false where nothing changed. */
static bool propagate_one(weir_graph *g, weir_vertex v, bool all, const int64_t *old)
{
    struct inner *in = inner_of(g, vertex_at(g, v)->parent);
    int64_t *new = scratch(g, NEW);

    contribute_up(g, v, all, new);
    if (memcmp(old, new, schema_at(g, in->schema)->width * sizeof *old) == 0)
        return false;
    update_rows(g, in, vertex_at(g, v)->pos, old, new);
    return true;
}

/* Carries a change from v to the root: OLD holds the former contribution of v. */
static void propagate_up(weir_graph *g, weir_vertex v, bool all)
{
    int64_t *old = scratch(g, OLD), *old_up = scratch(g, OLD_UP);
    weir_vertex p;

    while ((p = vertex_at(g, v)->parent) != WEIR_NONE) {
        weir_vertex pp = vertex_at(g, p)->parent;
        contribute_up(g, p, all, old_up);
        if (!propagate_one(g, v, all, old))
            return;
        v = p;
        if (pp != WEIR_NONE)
            memcpy(old, old_up, schema_at(g, inner_of(g, pp)->schema)->width * sizeof *old);
    }
}

/* ---- growth ---- */

/* Number of children from `from` to `to` under row r of level l. */
static int64_t kids_under(const struct levels *lv, uint32_t l, uint32_t r, uint32_t from, uint32_t to)
{
    uint64_t lo = l == 0 ? 0 : (uint64_t)(r - lv->first[l]) << (5 * l),
             hi = l == 0 ? to : lo + (UINT64_C(1) << (5 * l));

    return (int64_t)((hi < to ? hi : to) - (lo > from ? lo : from));
}

/* Adds `count` equal new children from pos on, or the growth of one child, to the rows: `grown` once per child to
 * sums, and to maxima. */
static void add_to_rows(const weir_graph *g, struct inner *in, uint32_t pos, uint32_t count, const int64_t *grown)
{
    const struct schema *s = schema_at(g, in->schema);
    uint32_t pairs = CELL_TYPES + TYPE_CELLS * s->ntypes;
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t l = 0; l <= lv.n; l++)
        for (uint32_t r = row_over(&lv, l, pos); r <= row_over(&lv, l, pos + count - 1); r++) {
            int64_t *cells = row_cells(g, in, r), n = kids_under(&lv, l, r, pos, pos + count);
            cells[CELL_SOON] = max64(cells[CELL_SOON], grown[CELL_SOON]);
            for (uint32_t c = CELL_ACTIVE; c < pairs; c++)
                cells[c] += n * grown[c];
            for (uint32_t c = pairs; c < s->width; c++)
                cells[c] = max64(cells[c], grown[c]);
        }
}

/* Carries growth from v to the root: NEW has the growth of the rows of v; no job has any of the new units. */
static void propagate_growth(weir_graph *g, weir_vertex v)
{
    int64_t *grown = scratch(g, NEW), *up = scratch(g, OLD_UP), *last;

    for (weir_vertex p; (p = vertex_at(g, v)->parent) != WEIR_NONE; v = p) {
        struct inner *in = inner_of(g, p);
        const struct inner *from = inner_of(g, v);
        const struct row_map *l = aggregates_in(g)->row_maps[from->row_map];
        memset(up, 0, schema_at(g, in->schema)->width * sizeof *up);
        for (uint32_t i = vertex_open(g, v) ? 0 : l->ngated; i < l->nmoves; i++) {
            struct move m = l->moves[i];
            up[m.to] = m.max ? max64(up[m.to], from->cells[m.from]) : up[m.to] + grown[m.from];
        }
        add_to_rows(g, in, vertex_at(g, v)->pos, 1, up);
        last = grown;
        grown = up;
        up = last;
    }
}

/* ---- batches ---- */

/* Carries the deferred run of a level into the rows of the parent: RUN has differences of sums, and maxima. */
static void finish_run(weir_graph *g, uint32_t level)
{
    struct deferred *x = &aggregates_in(g)->deferred[level];
    const struct inner *in = inner_of(g, x->vertex);
    const int64_t *run = scratch(g, RUN + (int)level);
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0;
        int64_t *cells = row_cells(g, in, row_over(&lv, l, x->to));
        struct row w = weir_row_at(g, in, &lv, l, x->to);
        for (uint32_t c = CELL_ACTIVE; c < w.pairs; c++)
            cells[c] += run[c];
        for (uint32_t c = CELL_SOON; c < schema_at(g, in->schema)->width; c = row_next_max(c, w.pairs))
            if (run[c] >= cells[c])
                cells[c] = run[c];
            else if (c == CELL_SOON ? x->soon_lowered : x->pairs_lowered && (c - w.pairs) % PAIR_CELLS == PAIR_FREE)
                cells[c] = weir_row_rescan(g, &w, c, cells[c]);
    }
    if (x->changed)
        WEIR_TELL(g, used_run, g, x->vertex, x->from, x->to);
}

void weir_rows_defer(weir_graph *g, uint32_t level, weir_vertex p, uint32_t pos)
{
    struct deferred *x = &aggregates_in(g)->deferred[level];

    if (x->vertex == WEIR_NONE) {
        contribute_up(g, p, false, scratch(g, DEFERRED_OLD + (int)level));
    } else if (pos / WEIR_FAN == x->to / WEIR_FAN && (pos == x->to + 1 || pos + 1 == x->from)) {
        *(pos > x->to ? &x->to : &x->from) = pos;
        return;
    } else {
        finish_run(g, level);
    }
    *x = (struct deferred){.vertex = p,
                           .from = pos,
                           .to = pos,
                           .earlier_changed = x->vertex != WEIR_NONE && (x->earlier_changed || x->changed)};
    memset(scratch(g, RUN + (int)level), 0, aggregates_in(g)->scratch_width * sizeof(int64_t));
}

/* Adds a change of contribution from `old` to `new` to the deferred run. */
static void add_to_run(weir_graph *g, uint32_t level, const int64_t *old, const int64_t *new, bool changed)
{
    struct deferred *x = &aggregates_in(g)->deferred[level];
    const struct schema *s = schema_at(g, inner_of(g, x->vertex)->schema);
    int64_t *run = scratch(g, RUN + (int)level);

    x->changed |= changed;
    x->soon_lowered |= new[CELL_SOON] < old[CELL_SOON];
    run[CELL_SOON] = max64(run[CELL_SOON], new[CELL_SOON]);
    for (uint32_t c = CELL_ACTIVE; c < CELL_TYPES + TYPE_CELLS * s->ntypes; c++)
        run[c] += new[c] - old[c];
    for (uint32_t c = CELL_TYPES + TYPE_CELLS * s->ntypes; c < s->width; c++) {
        x->pairs_lowered |= new[c] < old[c];
        run[c] = max64(run[c], new[c]);
    }
}

/* Carries the deferred changes of a level up: to the next level, or from the last level to the root. */
static void propagate_deferred(weir_graph *g, uint32_t level)
{
    struct deferred was = aggregates_in(g)->deferred[level];
    weir_vertex v = was.vertex, p = v == WEIR_NONE ? WEIR_NONE : vertex_at(g, v)->parent;
    bool changed = was.changed || was.earlier_changed;
    int64_t *old = scratch(g, DEFERRED_OLD + (int)level);

    if (v == WEIR_NONE)
        return;
    finish_run(g, level);
    aggregates_in(g)->deferred[level].vertex = WEIR_NONE;
    if (p == WEIR_NONE)
        return;
    if (level + 1 < DEFERRED_LEVELS) {
        weir_rows_defer(g, level + 1, p, vertex_at(g, v)->pos);
        contribute_up(g, v, false, scratch(g, NEW));
        add_to_run(g, level + 1, old, scratch(g, NEW), changed);
        WEIR_TELL(g, spans_changed, g, v, false);
        return;
    }
    memcpy(scratch(g, OLD), old, aggregates_in(g)->scratch_width * sizeof *old);
    propagate_up(g, v, false);
    if (changed)
        WEIR_TELL(g, used, g, v);
    WEIR_TELL(g, spans_changed, g, v, true);
}

static void propagate_all_deferred(weir_graph *g)
{
    for (uint32_t level = 0; level < DEFERRED_LEVELS; level++)
        propagate_deferred(g, level);
}

void weir_rows_turn_deferred(weir_graph *g, weir_vertex p)
{
    if (p != WEIR_NONE && p == aggregates_in(g)->deferred[0].vertex)
        return;
    propagate_deferred(g, 0);
    if (p == WEIR_NONE || vertex_at(g, p)->parent != aggregates_in(g)->deferred[1].vertex)
        propagate_deferred(g, 1);
}

void weir_rows_batch(weir_graph *g, bool on)
{
    propagate_all_deferred(g);
    aggregates_in(g)->batch = on;
}

void weir_rows_before(weir_graph *g, weir_vertex v)
{
    if (g->building)
        return;
    weir_rows_turn_deferred(g, vertex_at(g, v)->parent);
    contribute_up(g, v, false, scratch(g, OLD));
}

void weir_rows_after(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;

    if (g->building)
        return;
    if (aggregates_in(g)->batch && p != WEIR_NONE) {
        weir_rows_defer(g, 0, p, vertex_at(g, v)->pos);
        contribute_up(g, v, false, scratch(g, NEW));
        add_to_run(g, 0, scratch(g, OLD), scratch(g, NEW), true);
        WEIR_TELL(g, spans_changed, g, v, false);
        return;
    }
    propagate_up(g, v, false);
    WEIR_TELL(g, used, g, v);
    WEIR_TELL(g, spans_changed, g, v, true);
}

void weir_rows_resize_before(weir_graph *g, weir_vertex v)
{
    weir_rows_turn_deferred(g, vertex_at(g, v)->parent);
    contribute_up(g, v, true, scratch(g, OLD));
}

void weir_rows_resize_after(weir_graph *g, weir_vertex v)
{
    propagate_up(g, v, true);
    WEIR_TELL(g, used, g, v);
    WEIR_TELL(g, spans_changed, g, v, true);
}

static void add_cells(const struct schema *s, int64_t *to, const int64_t *from)
{
    for (uint32_t c = 0; c < s->width; c++)
        to[c] = cell_is_max(s, c) ? max64(to[c], from[c]) : to[c] + from[c];
}

/* Computes all rows of an inner vertex from the contributions of the children. */
static void fill_rows(weir_graph *g, struct inner *in, int64_t *out)
{
    const struct schema *s = schema_at(g, in->schema);
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    memset(in->cells, 0, (size_t)lv.rows * s->stride * sizeof *in->cells);
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

/* Makes sure that a row map exists from every child with children to a schema. */
static int intern_row_maps(weir_graph *g, const struct inner *in, uint32_t schema)
{
    uint32_t last_schema = WEIR_NONE;
    weir_type last_type = WEIR_NO_TYPE;

    for (uint32_t i = 0; i < in->nkids; i++) {
        const struct inner *kid = in->kids[i] == WEIR_NONE ? NULL : inner_of(g, in->kids[i]);
        weir_type t = kid ? kind_of(g, kid->vertex)->type : WEIR_NO_TYPE;
        if (!kid || (kid->schema == last_schema && t == last_type))
            continue;
        if (weir_row_map_intern(g, schema, kid->schema, t) == WEIR_NONE)
            return WEIR_ENOMEM;
        last_schema = kid->schema;
        last_type = t;
    }
    return WEIR_OK;
}

/* Points every child with children at the child's row map, which exists. */
static void set_row_maps(weir_graph *g, const struct inner *in)
{
    uint32_t last_schema = WEIR_NONE, last = WEIR_NONE;
    weir_type last_type = WEIR_NO_TYPE;

    for (uint32_t i = 0; i < in->nkids; i++) {
        struct inner *kid = in->kids[i] == WEIR_NONE ? NULL : inner_of(g, in->kids[i]);
        weir_type t = kid ? kind_of(g, kid->vertex)->type : WEIR_NO_TYPE;
        if (!kid)
            continue;
        if (kid->schema != last_schema || t != last_type)
            last = weir_row_map_intern(g, in->schema, kid->schema, t);
        kid->row_map = last;
        last_schema = kid->schema;
        last_type = t;
    }
}

/* New layout for the rows of one inner vertex: all memory is allocated before any change. */
struct refit {
    uint32_t inner, schema, cap;
    int64_t *cells; /* NULL: the present rows suffice */
    /* Former contribution of the vertex of the refit before, a child; NULL in the first refit. */
    int64_t *was;
};

static void refits_free(struct refit *refits, uint32_t n)
{
    while (n-- > 0)
        WEIR_FREE(refits[n].cells, refits[n].was);
}

/* Whether the present rows suffice: the schema grows at the end of the codes, within the stride. */
static bool fits_behind(const weir_graph *g, const struct inner *in, const struct refit *f)
{
    const struct schema *s = schema_at(g, in->schema), *t = schema_at(g, f->schema);
    return in->cells && f->cap == in->rows_cap && s->stride == t->stride && s->npairs + t->npairs == 0 &&
           (s->ntypes == 0 || memcmp(s->codes, t->codes, s->ntypes * sizeof *s->codes) == 0);
}

static int refit_prepare(weir_graph *g, struct refit *f)
{
    const struct inner *in = &g->inners[f->inner];
    struct levels lv;

    weir_levels_of(f->cap, &lv);
    if (lv.rows > UINT32_MAX - aggregates_in(g)->nrows)
        return WEIR_ENOMEM;
    if (g->building || !fits_behind(g, in, f)) {
        f->cells = weir_mem_alloc((size_t)lv.rows * schema_at(g, f->schema)->stride * sizeof *f->cells);
        if (!f->cells)
            return WEIR_ENOMEM;
    }
    return intern_row_maps(g, in, f->schema);
}

/* Gives an inner vertex new row numbers. */
static void give_rows(weir_graph *g, struct inner *in, uint32_t rows)
{
    bool had = in->nrows > 0;

    weir_rows_spare(g, in);
    if (rows == 1 && aggregates_in(g)->nspare_rows > 0) {
        in->row = aggregates_in(g)->spare_rows[--aggregates_in(g)->nspare_rows];
    } else {
        in->row = aggregates_in(g)->nrows;
        aggregates_in(g)->nrows += rows;
    }
    in->nrows = rows;
    if (g->building)
        return;
    WEIR_TELL(g, rows_given, g, in->row, rows);
    if (had)
        WEIR_TELL(g, rows_moved, g, in->vertex);
}

void weir_rows_spare(weir_graph *g, const struct inner *in)
{
    struct aggregates *a = aggregates_in(g);

    if (in->nrows == 1 && weir_array_reserve(&a->spare_rows, &a->spare_rows_cap, (size_t)a->nspare_rows + 1,
                                             sizeof *a->spare_rows) == WEIR_OK)
        a->spare_rows[a->nspare_rows++] = in->row;
}

/* Copies a row of one schema into a zeroed row of a wider schema. Pairs are lost where the wider schema has none. */
static void move_cells(const struct schema *from, const struct schema *to, const int64_t *row, int64_t *out)
{
    uint32_t pairs = CELL_TYPES + TYPE_CELLS * from->ntypes, to_pairs = CELL_TYPES + TYPE_CELLS * to->ntypes;

    memcpy(out, row, CELL_TYPES * sizeof *out);
    for (uint32_t i = 0; i < from->ntypes; i++)
        memcpy(out + type_cell(to, (weir_type)from->codes[i]), row + CELL_TYPES + TYPE_CELLS * i,
               TYPE_CELLS * sizeof *out);
    for (uint32_t i = 0, k = 0; i < from->npairs && to->npairs > 0; i++) {
        while (to->codes[to->ntypes + k] != from->codes[from->ntypes + i])
            k++;
        memcpy(out + to_pairs + PAIR_CELLS * k, row + pairs + PAIR_CELLS * i, PAIR_CELLS * sizeof *out);
    }
}

/* Copies the rows into the new layout: rows over groups keep their position, and the first row of an added level
 * covers all former entries. */
static void move_rows(const weir_graph *g, const struct inner *in, const struct refit *f)
{
    const struct schema *from = schema_at(g, in->schema), *to = schema_at(g, f->schema);
    struct levels old, new;

    weir_levels_of(in->rows_cap, &old);
    weir_levels_of(f->cap, &new);
    memset(f->cells, 0, (size_t) new.rows * to->stride * sizeof *f->cells);
    if (!in->cells)
        return;
    move_cells(from, to, in->cells, f->cells);
    for (uint32_t l = 1; l <= new.n; l++)
        for (uint32_t r = 0; r < (l <= old.n ? old.count[l] : 1); r++)
            move_cells(from, to, row_cells(g, in, l <= old.n ? old.first[l] + r : 0),
                       f->cells + (size_t)(new.first[l] + r) * to->stride);
}

/* Installs the new layout. */
static void refit_place(weir_graph *g, const struct refit *f)
{
    struct inner *in = &g->inners[f->inner];
    struct levels lv;

    weir_levels_of(f->cap, &lv);
    if (f->cells) {
        weir_mem_free(in->cells);
        in->cells = f->cells;
    }
    in->schema = f->schema;
    in->rows_cap = f->cap;
    if (lv.rows > in->nrows)
        give_rows(g, in, lv.rows);
    else
        in->nrows = lv.rows;
    set_row_maps(g, in);
}

/* Moves the rows, and adds the last `count` children, or else the change of the contribution of `kid`. */
static void refit_commit(weir_graph *g, struct refit *f, weir_vertex kid, uint32_t count)
{
    struct inner *in = &g->inners[f->inner];
    const struct schema *from = schema_at(g, in->schema);
    int64_t *old = scratch(g, OLD_UP), *new = scratch(g, NEW);

    if (f->cells)
        move_rows(g, in, f);
    refit_place(g, f);
    f->cells = NULL;
    if (f->was) {
        memset(old, 0, aggregates_in(g)->scratch_width * sizeof *old);
        move_cells(from, schema_at(g, f->schema), f->was, old);
        weir_row_contribute(g, kid, in->schema, new);
        update_rows(g, in, vertex_at(g, kid)->pos, old, new);
        return;
    }
    weir_row_contribute(g, in->kids[in->nkids - count], in->schema, new);
    add_to_rows(g, in, in->nkids - count, count, new);
}

/* The schema of the present children of `in`. */
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

/* Capacity of the groups that `kids` children need. */
static uint32_t whole_rows(uint32_t kids)
{
    return kids > UINT32_MAX - WEIR_FAN ? kids : (kids + WEIR_FAN - 1) / WEIR_FAN * WEIR_FAN;
}

static int build_one(weir_graph *g, weir_vertex v)
{
    struct refit f = {vertex_at(g, v)->inner, 0, whole_rows(inner_of(g, v)->nkids), NULL, NULL};

    f.schema = schema_of_kids(g, inner_of(g, v));
    if (f.schema == WEIR_NONE || refit_prepare(g, &f)) {
        weir_mem_free(f.cells);
        return WEIR_ENOMEM;
    }
    refit_place(g, &f);
    fill_rows(g, inner_of(g, v), scratch(g, FILL));
    return WEIR_OK;
}

/* The next child with children from *cursor on, or WEIR_NONE. */
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
    return WEIR_OK;
}

/* Lists the inner vertices from p upward that need a new layout for children of a type and schema: refits[0..*n),
 * and *top, the vertex of the last refit, whose contribution to the parent changes as a whole. */
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
            return weir_row_map_intern(g, want, kid_schema, t) == WEIR_NONE ? WEIR_ENOMEM : WEIR_OK;
        }
        *f = (struct refit){vertex_at(g, p)->inner, want, wide ? whole_rows(in->kids_cap) : in->rows_cap, NULL, NULL};
        f->was = *n > 0 ? weir_mem_alloc(schema_at(g, in->schema)->width * sizeof *f->was) : NULL;
        ++*n;
        if ((*n > 1 && !f->was) || refit_prepare(g, f) || weir_row_map_intern(g, want, kid_schema, t) == WEIR_NONE)
            return WEIR_ENOMEM;
        *top = p;
        t = kind_of(g, p)->type;
        kid_schema = want;
    }
    return WEIR_OK;
}

/* Adds children that the rows have capacity for: leaves, or one vertex with a complete subtree. */
static void link_kids(weir_graph *g, struct inner *in, uint32_t count)
{
    weir_vertex kid = in->kids[in->nkids];
    struct inner *k = inner_of(g, kid);
    int64_t *new = scratch(g, NEW);

    if (k)
        k->row_map = weir_row_map_intern(g, in->schema, k->schema, kind_of(g, kid)->type);
    weir_row_contribute(g, kid, in->schema, new);
    in->nkids += count;
    add_to_rows(g, in, in->nkids - count, count, new);
    for (uint32_t c = CELL_ACTIVE; c < CELL_TYPES + TYPE_CELLS * schema_at(g, in->schema)->ntypes; c++)
        new[c] *= count;
    propagate_growth(g, in->vertex);
}

/* Carries the growth of v after a new layout of the rows of v; OLD has the former contribution. */
static void propagate_top(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    const int64_t *old = scratch(g, OLD);
    int64_t *new = scratch(g, NEW);

    contribute_up(g, v, true, new);
    for (uint32_t c = CELL_ACTIVE; c < CELL_TYPES + TYPE_CELLS * schema_at(g, inner_of(g, p)->schema)->ntypes; c++)
        new[c] -= old[c];
    add_to_rows(g, inner_of(g, p), vertex_at(g, v)->pos, 1, new);
    propagate_growth(g, p);
}

int weir_rows_link(weir_graph *g, weir_vertex p, uint32_t count)
{
    struct refit refits[WEIR_PATH_DEPTH + 1];
    struct inner *in = inner_of(g, p);
    weir_vertex kid = in->kids[in->nkids], top, above;
    const struct inner *k = inner_of(g, kid);
    uint32_t n;

    if (plan_refits(g, p, kind_of(g, kid)->type, k ? k->schema : 0, in->nkids + count, refits, &n, &top)) {
        refits_free(refits, n);
        return WEIR_ENOMEM;
    }
    if (n == 0) {
        link_kids(g, in, count);
        return WEIR_OK;
    }
    propagate_all_deferred(g);
    contribute_up(g, top, true, scratch(g, OLD));
    for (uint32_t i = 1; i < n; i++)
        weir_row_contribute(g, g->inners[refits[i - 1].inner].vertex, g->inners[refits[i].inner].schema, refits[i].was);
    in->nkids += count;
    for (uint32_t i = 0; i < n; i++)
        refit_commit(g, &refits[i], i ? g->inners[refits[i - 1].inner].vertex : WEIR_NONE, count);
    refits_free(refits, n);
    above = vertex_at(g, top)->parent;
    if (above != WEIR_NONE) {
        struct inner *t = inner_of(g, top);
        t->row_map = weir_row_map_intern(g, inner_of(g, above)->schema, t->schema, kind_of(g, top)->type);
        propagate_top(g, top);
    }
    return WEIR_OK;
}

void weir_rows_unlink(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    struct inner *in = inner_of(g, p);
    int64_t *old = scratch(g, OLD), *zero = scratch(g, NEW), *old_up = scratch(g, OLD_UP);
    weir_vertex pp = vertex_at(g, p)->parent;

    weir_row_contribute(g, v, in->schema, old);
    memset(zero, 0, aggregates_in(g)->scratch_width * sizeof *zero);
    contribute_up(g, p, true, old_up);
    in->kids[vertex_at(g, v)->pos] = WEIR_NONE;
    in->holes++;
    in->seen -= vertex_at(g, v)->pos < in->seen_pos;
    update_rows(g, in, vertex_at(g, v)->pos, old, zero);
    if (pp != WEIR_NONE) {
        memcpy(old, old_up, schema_at(g, inner_of(g, pp)->schema)->width * sizeof *old);
        propagate_up(g, p, true);
    }
}
