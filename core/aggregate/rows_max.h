/* rows_max.h - maxima over the entries of a row. Private to the core. */
#ifndef WEIR_ROWS_MAX_H
#define WEIR_ROWS_MAX_H

#include "aggregate/rows.h"

/* A row, for a search of maxima. */
struct row {
    const struct inner *in;
    uint32_t begin, end; /* entries */
    bool kids;           /* entries are children, not rows */
    uint32_t near;       /* entry to start from: the last maximum, or the neighbour of a change */
    uint32_t pairs;      /* first cell of the pairs */
};

/* The row of level l over the child at pos, to be searched outward from the child. */
struct row weir_row_at(const weir_graph *g, const struct inner *in, const struct levels *lv, uint32_t l, uint32_t pos);
/* The maximum of one cell over the entries of a row, at most `bound`. Searches outward from `near` and stops at
 * `bound`: an idle neighbour of a busy entry mostly has the maximum. */
int64_t weir_row_rescan(const weir_graph *g, struct row *w, uint32_t cell, int64_t bound);

/* The successor of a cell among the cells that are maxima; CELL_SOON is the first. */
static inline uint32_t row_next_max(uint32_t cell, uint32_t pairs)
{
    return cell == CELL_SOON ? pairs : cell + 1;
}

/* The greater of two numbers. */
static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The contribution of a schedule to CELL_SOON. */
static inline int64_t schedule_soon(const struct schedule *b)
{
    return b ? WEIR_FOREVER - b->next : 0;
}

#endif
