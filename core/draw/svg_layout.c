/* svg_layout.c - sizes and positions of the boxes. In a block, the boxes of each type form a grid, row by row in the
 * order of containment; the grids lie below each other. Cells are as large as possible while the page is not too high.
 *
 * Main invariant: boxes of a type in a block have equal sizes, and each box lies inside its parent.
 */
#include "draw/svg.h"

#include <math.h>
#include <string.h>

#define UNIT_MAX 44 /* largest side of a cell */
#define UNIT_MIN 3
#define RUNS_MAX 12 /* limit for the grids of a block */

/* A grid: the boxes of a type in a block. */
struct run {
    weir_type type;
    uint32_t count, columns;
    int32_t w, h; /* of each box */
};

static int32_t gap_of(const struct svg *s, bool cells)
{
    int32_t gap = s->unit >= 14 ? 3 : s->unit >= 7 ? 2 : 1;
    return cells ? gap : gap + (s->unit >= 9 ? 5 : 2);
}

int32_t weir_svg_pad(const struct svg *s)
{
    return s->unit >= 14 ? 6 : s->unit >= 7 ? 4 : 2;
}

static bool holds_cells_only(const struct svg *s, const struct svg_box *box)
{
    for (uint32_t i = 0; i < box->count; i++)
        if (s->boxes[box->first + i].count)
            return false;
    return true;
}

int32_t weir_svg_head(const struct svg *s, const struct svg_box *box)
{
    if (box == s->boxes || box->count == 0)
        return 0;
    if (s->unit >= 16)
        return 16;
    if (!holds_cells_only(s, box))
        return 14;
    return s->unit >= 8 ? 12 : 0;
}

/* ---- sizes ---------------------------------------------------------------------------------------------------- */

static void size_cell(const struct svg *s, struct svg_box *box)
{
    bool wide = box->heat || (box->fine && kind_of(s->g, box->v)->type != s->primary);

    box->h = s->unit;
    box->w = wide ? 2 * s->unit + gap_of(s, true) : s->unit;
}

static weir_type type_of(const struct svg *s, const struct svg_box *box)
{
    return kind_of(s->g, box->v)->type;
}

/* Lists the grids of a block. If there are more types than RUNS_MAX, a single grid has all boxes. */
static uint32_t find_runs(const struct svg *s, const struct svg_box *block, struct run runs[RUNS_MAX])
{
    uint32_t n = 0, k;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct svg_box *box = &s->boxes[block->first + i];
        for (k = 0; k < n && runs[k].type != type_of(s, box); k++)
            ;
        if (k == RUNS_MAX) {
            runs[0].type = WEIR_NO_TYPE;
            return 1;
        }
        if (k == n)
            runs[n++] = (struct run){.type = type_of(s, box)};
    }
    return n;
}

static bool in_run(const struct svg *s, const struct run *run, const struct svg_box *box)
{
    return run->type == WEIR_NO_TYPE || run->type == type_of(s, box);
}

static void measure_run(struct svg *s, const struct svg_box *block, struct run *run)
{
    run->count = 0;
    run->w = run->h = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct svg_box *box = &s->boxes[block->first + i];
        if (!in_run(s, run, box))
            continue;
        run->count++;
        run->w = box->w > run->w ? box->w : run->w;
        run->h = box->h > run->h ? box->h : run->h;
    }
}

static int32_t span(uint32_t n, int32_t each, int32_t gap)
{
    return n ? (int32_t)n * (each + gap) - gap : 0;
}

/* Returns the distance of a grid from a good shape: wide, but not too wide, and without an empty corner. */
static double ugliness(const struct run *run, uint32_t columns, int32_t gap)
{
    uint32_t rows = (run->count + columns - 1) / columns;
    double shape = (double)span(columns, run->w, gap) / span(rows, run->h, gap);

    return fabs(log(shape / 1.5)) + 8.0 * (rows * columns - run->count) / run->count;
}

static uint32_t best_columns(const struct run *run, int32_t gap)
{
    uint32_t best = 1, most = run->count;

    if (most > 300)
        most = (uint32_t)(6 * sqrt(most)) + 8;
    for (uint32_t c = 2; c <= most; c++)
        if (ugliness(run, c, gap) < ugliness(run, best, gap))
            best = c;
    return best;
}

/* Returns how many columns fit into a width, reduced to the number needed for the rows. */
static uint32_t fitting_columns(const struct run *run, int32_t width, int32_t gap)
{
    int32_t fit = (width + gap) / (run->w + gap);
    uint32_t columns = fit < 1 ? 1 : (uint32_t)fit, rows;

    if (columns >= run->count)
        return run->count;
    rows = (run->count + columns - 1) / columns;
    return (run->count + rows - 1) / rows;
}

/* ---- placing -------------------------------------------------------------------------------------------------- */

/* Places the boxes of a grid below `top`, and returns the lower end of the grid. */
static int32_t place_run(struct svg *s, const struct svg_box *block, const struct run *run, int32_t top, int32_t gap)
{
    uint32_t placed = 0, columns = run->columns;
    int32_t left = block == s->boxes ? 0 : weir_svg_pad(s);

    for (uint32_t i = 0; i < block->count; i++) {
        struct svg_box *box = &s->boxes[block->first + i];
        if (!in_run(s, run, box))
            continue;
        box->x = left + (int32_t)(placed % columns) * (run->w + gap);
        box->y = top + (int32_t)(placed / columns) * (run->h + gap);
        box->w = run->w;
        box->h = run->h;
        if (placed >= columns && s->boxes[block->first + i - columns].x == box->x)
            box->over = block->first + i - columns;
        placed++;
    }
    return top + span((run->count + columns - 1) / columns, run->h, gap);
}

/* Returns the common width for the grids of a block: the width of the largest grid in the best shape. */
static int32_t inner_width(struct svg *s, const struct svg_box *block, struct run *runs, uint32_t n, int32_t gap)
{
    const struct run *largest = runs;
    int32_t width = 0;

    for (uint32_t k = 0; k < n; k++) {
        measure_run(s, block, &runs[k]);
        width = runs[k].w > width ? runs[k].w : width;
        if ((double)runs[k].count * runs[k].w * runs[k].h > (double)largest->count * largest->w * largest->h)
            largest = &runs[k];
    }
    if (block != s->boxes) {
        int32_t best = span(best_columns(largest, gap), largest->w, gap);
        if (weir_svg_head(s, block) && block->label > best)
            best = block->label;
        return best > width ? best : width;
    }
    return s->width > width ? s->width : width;
}

/* Places the child boxes of a block relative to the block, in a width (0: to be chosen). Returns the height of the
 * block; *used becomes the width in use. */
static int32_t fill_block(struct svg *s, struct svg_box *block, int32_t width, int32_t *used)
{
    struct run runs[RUNS_MAX];
    uint32_t n = find_runs(s, block, runs);
    int32_t pad = block == s->boxes ? 0 : weir_svg_pad(s), gap = gap_of(s, holds_cells_only(s, block));
    int32_t head = weir_svg_head(s, block), top = head ? head : pad;

    if (width == 0)
        width = inner_width(s, block, runs, n, gap);
    for (uint32_t k = 0; k < n; k++) {
        measure_run(s, block, &runs[k]);
        runs[k].columns = fitting_columns(&runs[k], width, gap);
        top = place_run(s, block, &runs[k], top, gap) + gap;
        if (span(runs[k].columns, runs[k].w, gap) > *used)
            *used = span(runs[k].columns, runs[k].w, gap);
    }
    return top - gap + pad;
}

/* Gives a block the size needed for its child boxes. */
static void arrange(struct svg *s, struct svg_box *block)
{
    int32_t pad = block == s->boxes ? 0 : weir_svg_pad(s), used = 0;

    block->h = fill_block(s, block, 0, &used);
    block->w = used + 2 * pad;
    if (weir_svg_head(s, block) && block->label > used)
        block->w = block->label + 2 * pad;
}

/* Computes sizes from the inside out, and then positions from the outside in: a block widened to the size of its
 * siblings uses the full width. */
static void place_all(struct svg *s, int32_t width)
{
    int32_t used = 0;

    s->width = width;
    for (uint32_t i = s->n; i-- > 0;)
        if (s->boxes[i].count)
            arrange(s, &s->boxes[i]);
        else if (s->boxes[i].v != WEIR_NONE)
            size_cell(s, &s->boxes[i]);
    s->width = s->boxes[0].w;
    s->height = s->boxes[0].h;
    s->boxes[0].x = s->boxes[0].y = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        struct svg_box *box = &s->boxes[i];
        if (box->count)
            (void)fill_block(s, box, box->w - 2 * weir_svg_pad(s), &used);
        box->x += s->boxes[box->parent].x;
        box->y += s->boxes[box->parent].y;
    }
}

/* Returns true if the page is not too high. The higher the cells, the lower the limit, so that small cells are not made
 * smaller still. */
static bool is_good(const struct svg *s, int32_t width)
{
    int32_t most = s->unit >= 12 ? width * 3 / 4 : s->unit >= 7 ? width * 5 / 4 : width * 3;
    return s->height <= most && s->width <= width;
}

void weir_svg_layout(struct svg *s, int32_t width)
{
    for (s->unit = UNIT_MAX;; s->unit -= s->unit > 20 ? 2 : 1) {
        place_all(s, width);
        if (is_good(s, width) || s->unit <= UNIT_MIN)
            return;
    }
}
