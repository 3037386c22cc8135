/* start_queue.h - the jobs whose start is still to come: a heap by start. Invariant: a job knows its place in it. */
#ifndef WEIR_PENDING_H
#define WEIR_PENDING_H

#include "graph/graph.h"

int weir_pending_reserve(weir_graph *g, uint32_t n) WEIR_CHECKED;
void weir_pending_add(weir_graph *g, uint32_t job);    /* room was reserved */
void weir_pending_remove(weir_graph *g, uint32_t job); /* harmless where it is not there */
uint32_t weir_pending_first(const weir_graph *g);      /* WEIR_NONE: none */

#endif
