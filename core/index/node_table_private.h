/* node_table_private.h - properties, ranks and names of nodes by number (node_facts.c). For node_table*.c and
 * node_facts.c only. */
#ifndef WEIR_NODE_TABLE_PRIVATE_H
#define WEIR_NODE_TABLE_PRIVATE_H

#include "index/node_table.h"

/* Makes a node table with properties; ranks and names are read on first use. WEIR_ENOMEM. */
int weir_node_table_make(const weir_graph *g, weir_type node_type, struct node_table **out) WEIR_CHECKED;
/* Frees a node table; r may be NULL. */
void weir_node_table_free(struct node_table *r);

/* Makes a table anew and compares: for weir_check(). */
int weir_node_table_check(const weir_graph *g, weir_err *err) WEIR_CHECKED;

/* Reads the properties of all nodes. WEIR_ENOMEM */
int weir_node_table_read_properties(const weir_graph *g, struct node_table *r) WEIR_CHECKED;
/* Reads the ranks of all nodes. WEIR_ENOMEM */
int weir_node_table_read_ranks(const weir_graph *g, struct node_table *r) WEIR_CHECKED;
/* Reads the names of all nodes. WEIR_ENOMEM */
int weir_node_table_read_names(const weir_graph *g, struct node_table *r) WEIR_CHECKED;
/* Adds properties, rank and name of a new node. WEIR_ENOMEM */
int weir_node_table_learn(const weir_graph *g, struct node_table *r, uint32_t node) WEIR_CHECKED;
/* Removes properties, rank and name of a node while the vertex still exists. WEIR_ENOMEM */
int weir_node_table_forget(const weir_graph *g, struct node_table *r, uint32_t node) WEIR_CHECKED;
/* Updates a property of a node. WEIR_ENOMEM */
int weir_node_table_move(const weir_graph *g, struct node_table *r, uint32_t node, weir_name key) WEIR_CHECKED;
/* Updates the rank of a node, if ranks are read. WEIR_ENOMEM */
int weir_node_table_rerank(const weir_graph *g, struct node_table *r, uint32_t node) WEIR_CHECKED;

/* Whether nodes are below a vertex with children, by the schema. */
bool weir_node_table_has_below(const weir_graph *g, const struct node_table *r, const struct inner *in);

#endif
