/* free_list.h - the vertices of a calendar that are not busy, one after the other in the order of an index. Private to the core.
 *
 * Where a job takes hundreds of vertices, waiting for memory is most of what it costs. So some are found ahead, and what will be
 * looked at is fetched meanwhile.
 */
#ifndef WEIR_FREE_LIST_H
#define WEIR_FREE_LIST_H

#include "time/occupancy.h"
#include "index/candidate_index.h"

#define FREE_LIST_AHEAD 16 /* a power of two */

struct free_list {
    const weir_graph *g;
    const struct occupancy *calendar; /* NULL: this is no listing */
    const struct index *index;
    uint32_t at;
    weir_vertex ahead[FREE_LIST_AHEAD]; /* a ring: found, from number `out` to `in` */
    uint32_t in, out;
};

int weir_free_list_begin(struct free_list *l, const weir_graph *g, struct index *x, const struct occupancy *c) WEIR_CHECKED;
weir_vertex weir_free_list_next(struct free_list *l); /* WEIR_NONE: no more */

#endif
