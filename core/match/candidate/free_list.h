/* free_list.h - iterator over the vertices of an occupancy that are not busy, in the order of an index. Private to the
 * core.
 *
 * A job that takes hundreds of vertices mostly waits for memory. So the iterator finds vertices before the caller needs
 * them, and prefetches the records that the caller will look at.
 */
#ifndef WEIR_FREE_LIST_H
#define WEIR_FREE_LIST_H

#include "time/occupancy.h"
#include "index/candidate_index.h"

#define FREE_LIST_AHEAD 16 /* a power of two */

struct free_list {
    const weir_graph *g;
    const struct occupancy *occupancy; /* NULL: the iterator is not in use */
    const struct index *index;
    /* position in the list of the index, or bit of the occupancy, to look at next */
    uint32_t at;
    weir_vertex ahead[FREE_LIST_AHEAD]; /* a ring of vertices found, numbers `out` to `in` */
    uint32_t in, out;
};

/* Begins an iteration; x and c must stay unchanged, but for bits set in c->busy, until the iteration ends.
 * WEIR_ENOMEM. */
int weir_free_list_begin(struct free_list *l, const weir_graph *g, struct index *x,
                         const struct occupancy *c) WEIR_CHECKED;
/* The next vertex; WEIR_NONE: no more. */
weir_vertex weir_free_list_next(struct free_list *l);

#endif
