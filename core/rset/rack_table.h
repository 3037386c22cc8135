/* rack_table.h - the key `scheduling` of an R whose writer is "TreePool" (RFC 49): the topology of nodes, with sockets,
 * NUMA domains or domains of a site's own types. Private to the core.
 *
 * R_lite decides which cores and gpus exist. A domain with cores or gpus, none of them in R_lite, is left out of the
 * graph.
 */
#ifndef WEIR_RACK_TABLE_H
#define WEIR_RACK_TABLE_H

#include <jansson.h>

#include "format/input.h"
#include "rset/rset.h"

#define WEIR_TREEPOOL_DEPTH    16    /* levels of nested domains */
#define WEIR_TREEPOOL_DOMAINS  65536 /* domains of all entries together */
#define WEIR_TREEPOOL_CAPACITY (INT64_C(1) << 53)

typedef struct weir_rack_table weir_rack_table;

/* Reads the value of `scheduling`, and keeps a reference. Errors name the place in the document. */
int weir_rack_table_read(json_t *scheduling, const char *source, weir_rack_table **out, weir_err *err) WEIR_CHECKED;
void weir_rack_table_free(weir_rack_table *t);
/* Returns an upper bound for the pools added by weir_rack_table_add() to a node in addition to the resources of R_lite.
 */
uint32_t weir_rack_table_extra(const weir_rack_table *t);

/* Adds the resources of R_lite to a node: cores and gpus inside the domains of the rank, or directly below the node if
 * no domain names them; memory and storage as the topology says; resources of any further type below the node. If t is
 * NULL, all resources go directly below the node. */
int weir_rack_table_add(const weir_rack_table *t, weir_graph *g, weir_vertex node, uint32_t rank,
                        const struct rset_class *has, weir_err *err) WEIR_CHECKED;

/* Makes the value of `scheduling` for a part of the ranks; with `to`, the i-th of `ranks` becomes to[i]. *out is a new
 * reference. */
int weir_rack_table_cut(const json_t *scheduling, const weir_idset *ranks, const uint32_t *to, json_t **out,
                        weir_err *err) WEIR_CHECKED;
/* Joins two values of `scheduling`. Entries with different ranks and equal content become one entry. */
int weir_rack_table_join(const json_t *a, const json_t *b, json_t **out, weir_err *err) WEIR_CHECKED;

#endif
