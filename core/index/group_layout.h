/* group_layout.h - the making of group indexes (group_index.h). */
#ifndef WEIR_GROUP_LAYOUT_H
#define WEIR_GROUP_LAYOUT_H

#include "index/group_index.h"

#define PLACE_ABOVE (WEIR_NONE - 8) /* and the status of the vertex, below 8 less 1 */
enum { ABOVE_OPEN = 1, ABOVE_RESERVED = 2 };

/* Places all vertices of the type; without members. */
int weir_groups_place(weir_graph *g, struct group_index *x, weir_err *err) WEIR_CHECKED;
void weir_groups_free(struct group_index *x);
/* The status of a vertex above places. */
uint32_t weir_groups_status(const weir_graph *g, weir_vertex v);
size_t weir_groups_bytes(const struct group_index *x);

static inline size_t group_words(uint32_t n)
{
    return (size_t)n / 64 + 1;
}

#endif
