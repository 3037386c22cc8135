/* rows_max.h - the largest among the entries of a row. Private to the core. */
#ifndef WEIR_ROWS_MAX_H
#define WEIR_ROWS_MAX_H

#include "aggregate/rows.h"

/* One row, whose maxima are looked for. */
struct row {
    const struct inner *in;
    uint32_t begin, end; /* its entries */
    bool kids;           /* that is what they are */
    uint32_t near;       /* the one that was the largest last, or stands beside what changed */
    uint32_t pairs;      /* the first cell of the pairs */
};

/* The row of level l over the kid at pos, to be looked through from there on. */
struct row weir_row_at(const weir_graph *g, const struct inner *in, const struct levels *lv, uint32_t l, uint32_t pos);
/* The maximum of one cell over the entries of a row; it cannot be above `bound`. Looked for outward from one of them: what stands
 * beside something in use is mostly free, on one of its sides, and has the most of all types. */
int64_t weir_row_rescan(const weir_graph *g, struct row *w, uint32_t cell, int64_t bound);

/* The next cell that is a maximum; CELL_SOON is the first. */
static inline uint32_t row_next_max(uint32_t cell, uint32_t pairs)
{
    return cell == CELL_SOON ? pairs : cell + 1;
}

static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the book of a vertex contributes to CELL_SOON. */
static inline int64_t schedule_soon(const struct schedule *b)
{
    return b ? WEIR_FOREVER - b->next : 0;
}

#endif
