/* node_table_private.h - what is known of nodes by their numbers: properties, ranks, names (node_facts.c). For roster*.c only. */
#ifndef WEIR_ROSTER_PRIVATE_H
#define WEIR_ROSTER_PRIVATE_H

#include "index/node_table.h"

/* A new roster, with properties; ranks and names are read when it is asked for. WEIR_ENOMEM. */
int weir_roster_make(const weir_graph *g, weir_type node_type, struct roster **out) WEIR_CHECKED;
void weir_roster_free(struct roster *r);

/* Makes everything anew and compares: for weir_check(). */
int weir_roster_check(const weir_graph *g, weir_err *err) WEIR_CHECKED;

/* Each reads something of all nodes; WEIR_ENOMEM. */
int weir_roster_read_properties(const weir_graph *g, struct roster *r) WEIR_CHECKED;
int weir_roster_read_ranks(const weir_graph *g, struct roster *r) WEIR_CHECKED;
int weir_roster_read_names(const weir_graph *g, struct roster *r) WEIR_CHECKED;
/* The same of one node that is new; it is still there, but goes. WEIR_ENOMEM. */
int weir_roster_learn(const weir_graph *g, struct roster *r, uint32_t node) WEIR_CHECKED;
int weir_roster_forget(const weir_graph *g, struct roster *r, uint32_t node) WEIR_CHECKED;
/* Whether a node has a property now, and which rank it has, as far as that is known. WEIR_ENOMEM. */
int weir_roster_move(const weir_graph *g, struct roster *r, uint32_t node, weir_name key) WEIR_CHECKED;
int weir_roster_rerank(const weir_graph *g, struct roster *r, uint32_t node) WEIR_CHECKED;

/* Whether nodes stand below a vertex with children, as far as aggregates tell. */
bool weir_roster_has_below(const weir_graph *g, const struct roster *r, const struct inner *in);

#endif
