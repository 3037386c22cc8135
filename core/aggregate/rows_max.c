/* rows_max.c - see rows_max.h. Invariant: reads only; a result equals the maximum over all entries. */
#include "aggregate/rows_max.h"

/* The contribution of v to a maximum cell; `pairs` is the first cell of the pairs. */
static int64_t contribute_max(const weir_graph *g, weir_vertex v, uint32_t cell, uint32_t pairs)
{
    const struct inner *in = inner_of(g, v);
    const uint16_t *from;
    int64_t best;

    if (cell == CELL_SOON) {
        best = schedule_soon(schedule_of(g, v));
        return in && in->cells ? max64(best, in->cells[CELL_SOON]) : best;
    }
    if (!in || !in->cells || ((cell - pairs) % PAIR_CELLS == PAIR_FREE && !vertex_open(g, v)))
        return 0;
    from = aggregates_in(g)->row_maps[in->row_map]->sources[cell - pairs];
    best = from[0] ? in->cells[from[0]] : 0;
    return from[1] ? max64(best, in->cells[from[1]]) : best;
}

bool weir_row_entries(const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r, uint32_t *begin,
                      uint32_t *end)
{
    uint32_t below = l == 0 ? lv->n : l - 1; /* level of the entries; 0: children */
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

struct row weir_row_at(const weir_graph *g, const struct inner *in, const struct levels *lv, uint32_t l, uint32_t pos)
{
    struct row w = {.in = in, .pairs = CELL_TYPES + TYPE_CELLS * schema_at(g, in->schema)->ntypes};

    w.kids = weir_row_entries(in, lv, l, row_over(lv, l, pos), &w.begin, &w.end);
    w.near = w.kids ? pos : row_over(lv, l == 0 ? lv->n : l - 1, pos);
    return w;
}

static int64_t entry_of(const weir_graph *g, const struct row *w, uint32_t i, uint32_t cell)
{
    if (!w->kids)
        return row_cells(g, w->in, i)[cell];
    return w->in->kids[i] == WEIR_NONE ? 0 : contribute_max(g, w->in->kids[i], cell, w->pairs);
}

int64_t weir_row_rescan(const weir_graph *g, struct row *w, uint32_t cell, int64_t bound)
{
    uint32_t from = w->near;
    int64_t best = -1;

    for (uint32_t d = 0; best < bound && (d <= from - w->begin || d < w->end - from); d++)
        for (int side = 0; side < 2 && best < bound; side++) {
            int64_t value;
            if (side ? d == 0 || d > from - w->begin : d >= w->end - from)
                continue;
            value = entry_of(g, w, side ? from - d : from + d, cell);
            w->near = value > best ? (side ? from - d : from + d) : w->near;
            best = max64(best, value);
        }
    return best > 0 ? best : 0;
}
