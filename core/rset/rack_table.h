/* rack_table.h - RFC 49: the key `scheduling` of an R whose writer is "TreePool" tells how what a node has is grouped, in
 * sockets, NUMA domains or whatever a site calls them. Private to the core.
 *
 * R_lite stays what tells which cores and gpus there are. A domain of whose cores and gpus R_lite has none is not there.
 */
#ifndef WEIR_RACK_TABLE_H
#define WEIR_RACK_TABLE_H

#include <jansson.h>

#include "format/input.h"
#include "rset/rset.h"

#define WEIR_TREEPOOL_DEPTH    16         /* domains within domains */
#define WEIR_TREEPOOL_DOMAINS  65536      /* in all entries together */
#define WEIR_TREEPOOL_CAPACITY (INT64_C(1) << 53)

typedef struct weir_rack_table weir_rack_table;

/* Whether that writer wrote the key. */
bool weir_rack_table_is(const json_t *scheduling);
/* Reads the value of `scheduling`, which must live as long as what comes out. Errors name the place in the document. */
int weir_rack_table_read(const json_t *scheduling, const char *source, weir_rack_table **out, weir_err *err) WEIR_CHECKED;
void weir_rack_table_free(weir_rack_table *t);
/* The most pools that a node gets besides what R_lite has for it. */
uint32_t weir_rack_table_extra(const weir_rack_table *t);

/* Adds to a node all that R_lite has for it: cores and gpus in the domains of its rank (or in the node, where no domain names them),
 * with the memory and the storage that the topology tells; other types in the node. Without t: all of it in the node. */
int weir_rack_table_add(const weir_rack_table *t, weir_graph *g, weir_vertex node, uint32_t rank, const struct rset_class *has,
                      weir_err *err) WEIR_CHECKED;

/* The same key for a part of the ranks; *out is a new reference, NULL: nothing is left. */
int weir_rack_table_cut(const json_t *scheduling, const weir_idset *ranks, json_t **out, weir_err *err) WEIR_CHECKED;
/* Two keys as one; what is alike in both becomes one entry. */
int weir_rack_table_join(const json_t *a, const json_t *b, json_t **out, weir_err *err) WEIR_CHECKED;
/* The same with other ranks: the i-th of `ranks` becomes to[i]. */
int weir_rack_table_renumber(const json_t *scheduling, const weir_idset *ranks, const uint32_t *to, json_t **out,
                           weir_err *err) WEIR_CHECKED;

#endif
