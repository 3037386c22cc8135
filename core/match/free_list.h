/* free_list.h - the vertices of a calendar that are not busy, one after the other in the order of an index. Private to the core.
 *
 * Where a job takes hundreds of vertices, waiting for memory is most of what it costs. So some are found ahead, and what will be
 * looked at is fetched meanwhile.
 */
#ifndef WEIR_LISTING_H
#define WEIR_LISTING_H

#include "time/occupancy.h"
#include "index/candidate_index.h"

#define LISTING_AHEAD 16 /* a power of two */

struct listing {
    const weir_graph *g;
    const struct occupancy *calendar; /* NULL: this is no listing */
    const struct index *index;
    uint32_t at;
    weir_vertex ahead[LISTING_AHEAD]; /* a ring: found, from number `out` to `in` */
    uint32_t in, out;
};

int weir_listing_begin(struct listing *l, const weir_graph *g, struct index *x, const struct occupancy *c) WEIR_CHECKED;
weir_vertex weir_listing_next(struct listing *l); /* WEIR_NONE: no more */

#endif
