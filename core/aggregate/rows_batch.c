/* rows_batch.c - changes of the schedules of neighbouring siblings, in a batch: contributions are added up, and
 * carried into the rows of the parent with the rest of the batch. */
#include "aggregate/rows_deferred.h"

#include <string.h>

#include "aggregate/rows_max.h"
#include "graph/observer.h"

uint32_t weir_rows_run(const weir_graph *g, const weir_pick *picks, uint32_t n)
{
    const struct vertex *first = vertex_at(g, picks->vertex);
    bool down = n > 1 && vertex_at(g, picks[1].vertex)->pos < first->pos;
    uint32_t most = down ? first->pos % WEIR_FAN + 1 : WEIR_FAN - first->pos % WEIR_FAN, i = 1;

    if (first->parent == WEIR_NONE || g->building || !aggregates_in(g)->batch)
        return 1;
    for (most = most < n ? most : n; i < most; i++) {
        const struct vertex *next = vertex_at(g, picks[i].vertex);
        if (next->parent != first->parent || next->pos != (down ? first->pos - i : first->pos + i))
            break;
    }
    return i;
}

/* ---- starts of reservations, one by one ---- */

/* Carries a change of CELL_SOON of the child at pos into the rows of the parent. */
static void update_soon(weir_graph *g, struct inner *in, uint32_t pos, int64_t old, int64_t new)
{
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t step = 1; step <= lv.n + 1; step++) {
        uint32_t l = step <= lv.n ? step : 0;
        int64_t *cell = row_cells(g, in, row_over(&lv, l, pos)) + CELL_SOON;
        struct row w = weir_row_at(g, in, &lv, l, pos);
        if (new >= *cell)
            *cell = new;
        else if (old == *cell)
            *cell = weir_row_rescan(g, &w, CELL_SOON, old);
    }
}

static int64_t soon_below(const struct inner *in)
{
    return in && in->cells ? in->cells[CELL_SOON] : 0;
}

/* Adds a change of CELL_SOON to the deferred run. */
static void note_soon(weir_graph *g, weir_vertex v, int64_t old, int64_t new)
{
    int64_t *cell = &scratch(g, RUN)[CELL_SOON];

    weir_rows_defer(g, 0, vertex_at(g, v)->parent, vertex_at(g, v)->pos);
    aggregates_in(g)->deferred[0].soon_lowered |= new < old;
    *cell = max64(*cell, new);
    WEIR_TELL(g, spans_changed, g, v, false);
}

void weir_rows_soon(weir_graph *g, weir_vertex v, int64_t next)
{
    int64_t own_soon = schedule_soon(schedule_of(g, v)), below, old, new;
    weir_vertex p = vertex_at(g, v)->parent;

    if (own_soon == WEIR_FOREVER - next || !aggregates_in(g)->batch || p == WEIR_NONE || g->building)
        WEIR_TELL(g, spans_changed, g, v, true);
    if (own_soon == WEIR_FOREVER - next)
        return;
    weir_rows_turn_deferred(g, p);
    below = soon_below(inner_of(g, v));
    old = max64(WEIR_FOREVER - next, below);
    new = max64(own_soon, below);
    if (aggregates_in(g)->batch && p != WEIR_NONE && !g->building) {
        note_soon(g, v, old, new);
        return;
    }
    for (; old != new &&p != WEIR_NONE && !g->building; v = p, p = vertex_at(g, v)->parent) {
        struct inner *in = inner_of(g, p);
        int64_t own = schedule_soon(schedule_of(g, p)), was = max64(own, in->cells[CELL_SOON]);
        update_soon(g, in, vertex_at(g, v)->pos, old, new);
        old = was;
        new = max64(own, in->cells[CELL_SOON]);
    }
}

/* ---- runs ---- */

/* Number of equal leaves at the start of n picks: of one kind, state and schedule. */
static uint32_t alike(const weir_graph *g, const weir_pick *picks, uint32_t n)
{
    const struct vertex *first = vertex_at(g, picks->vertex);
    uint32_t i = 1;

    for (; i < n && first->inner == WEIR_NONE; i++) {
        const struct vertex *x = vertex_at(g, picks[i].vertex);
        if (x->schedule != first->schedule || x->kind != first->kind || x->inner != WEIR_NONE ||
            x->state != first->state)
            break;
    }
    return i;
}

/* The contribution of n picks together: sums, and maxima. */
static void add_up(const weir_graph *g, const struct schema *s, const weir_pick *picks, uint32_t n, int64_t *out)
{
    memset(out, 0, s->width * sizeof *out);
    for (uint32_t i = 0, same; i < n; i += same) {
        same = alike(g, picks + i, n - i);
        weir_rows_add(g, picks[i].vertex, s, same, out);
    }
}

static void tell_spans(weir_graph *g, const weir_pick *picks, uint32_t n)
{
    bool observed = spans_observed(g);

    for (uint32_t i = 0; observed && i < n; i++)
        WEIR_TELL(g, spans_changed, g, picks[i].vertex, false);
}

/* Adds picks to the deferred run of the parent. */
static void note_run(weir_graph *g, const weir_pick *picks, uint32_t n)
{
    const struct vertex *first = vertex_at(g, picks->vertex);
    uint32_t last = vertex_at(g, picks[n - 1].vertex)->pos;
    struct deferred *x = &aggregates_in(g)->deferred[0];

    weir_rows_defer(g, 0, first->parent, first->pos);
    x->from = last < x->from ? last : x->from;
    x->to = last > x->to ? last : x->to;
}

void weir_rows_run_before(weir_graph *g, const weir_pick *picks, uint32_t n)
{
    weir_vertex p = vertex_at(g, picks->vertex)->parent;

    weir_rows_turn_deferred(g, p);
    add_up(g, schema_at(g, inner_of(g, p)->schema), picks, n, scratch(g, OLD));
}

void weir_rows_run_after(weir_graph *g, const weir_pick *picks, uint32_t n)
{
    weir_vertex p = vertex_at(g, picks->vertex)->parent;
    const struct schema *s = schema_at(g, inner_of(g, p)->schema);
    uint32_t pairs = CELL_TYPES + TYPE_CELLS * s->ntypes;
    const int64_t *old = scratch(g, OLD);
    int64_t *new = scratch(g, NEW), *run = scratch(g, RUN);
    struct deferred *x = &aggregates_in(g)->deferred[0];

    add_up(g, s, picks, n, new);
    note_run(g, picks, n);
    x->changed = true;
    x->soon_lowered |= new[CELL_SOON] < old[CELL_SOON];
    run[CELL_SOON] = max64(run[CELL_SOON], new[CELL_SOON]);
    for (uint32_t c = CELL_ACTIVE; c < pairs; c++)
        run[c] += new[c] - old[c];
    for (uint32_t c = pairs; c < s->width; c++) {
        x->pairs_lowered |= new[c] < old[c];
        run[c] = max64(run[c], new[c]);
    }
    tell_spans(g, picks, n);
}

/* CELL_SOON of v and below, where the first reservation of v itself starts at `next`. */
static int64_t soon_with(const weir_graph *g, weir_vertex v, int64_t next)
{
    const struct inner *in = inner_of(g, v);
    return max64(WEIR_FOREVER - next, in && in->cells ? in->cells[CELL_SOON] : 0);
}

void weir_rows_run_soon(weir_graph *g, const weir_pick *picks, uint32_t n, const int64_t *next)
{
    weir_vertex p = vertex_at(g, picks->vertex)->parent;
    int64_t old = 0, new = 0;
    bool changed = false, observed = spans_observed(g);

    weir_rows_turn_deferred(g, p);
    for (uint32_t i = 0; i < n; i++) {
        weir_vertex v = picks[i].vertex;
        const struct schedule *b = schedule_of(g, v);
        int64_t now = b ? b->next : WEIR_FOREVER;
        if (i > 0 && next[i] == next[i - 1] && !observed && alike(g, picks + i - 1, 2) == 2)
            continue;
        if (now == next[i]) {
            WEIR_TELL(g, spans_changed, g, v, true);
            continue;
        }
        changed = true;
        old = max64(old, soon_with(g, v, next[i]));
        new = max64(new, soon_with(g, v, now));
    }
    if (!changed)
        return;
    note_run(g, picks, n);
    aggregates_in(g)->deferred[0].soon_lowered |= new < old;
    scratch(g, RUN)[CELL_SOON] = max64(scratch(g, RUN)[CELL_SOON], new);
    tell_spans(g, picks, n);
}
