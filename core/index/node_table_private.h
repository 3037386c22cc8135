/* node_table_private.h - what is known of nodes by their numbers: properties, ranks, names (node_facts.c). For roster*.c only. */
#ifndef WEIR_NODE_TABLE_PRIVATE_H
#define WEIR_NODE_TABLE_PRIVATE_H

#include "index/node_table.h"

/* A new roster, with properties; ranks and names are read when it is asked for. WEIR_ENOMEM. */
int weir_node_table_make(const weir_graph *g, weir_type node_type, struct node_table **out) WEIR_CHECKED;
void weir_node_table_free(struct node_table *r);

/* Makes everything anew and compares: for weir_check(). */
int weir_node_table_check(const weir_graph *g, weir_err *err) WEIR_CHECKED;

/* Each reads something of all nodes; WEIR_ENOMEM. */
int weir_node_table_read_properties(const weir_graph *g, struct node_table *r) WEIR_CHECKED;
int weir_node_table_read_ranks(const weir_graph *g, struct node_table *r) WEIR_CHECKED;
int weir_node_table_read_names(const weir_graph *g, struct node_table *r) WEIR_CHECKED;
/* The same of one node that is new; it is still there, but goes. WEIR_ENOMEM. */
int weir_node_table_learn(const weir_graph *g, struct node_table *r, uint32_t node) WEIR_CHECKED;
int weir_node_table_forget(const weir_graph *g, struct node_table *r, uint32_t node) WEIR_CHECKED;
/* Whether a node has a property now, and which rank it has, as far as that is known. WEIR_ENOMEM. */
int weir_node_table_move(const weir_graph *g, struct node_table *r, uint32_t node, weir_name key) WEIR_CHECKED;
int weir_node_table_rerank(const weir_graph *g, struct node_table *r, uint32_t node) WEIR_CHECKED;

/* Whether nodes stand below a vertex with children, as far as aggregates tell. */
bool weir_node_table_has_below(const weir_graph *g, const struct node_table *r, const struct inner *in);

#endif
