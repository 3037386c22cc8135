/* book.h - who has what of one vertex, and when. Private to the core. */
#ifndef WEIR_BOOK_H
#define WEIR_BOOK_H

#include "graph.h"

#define BOOK_PLAN 8 /* spans from which on a plan is kept */

/* Adds a span for a job, or changes the one it has. The caller brackets these with weir_rows_before/after and has
 * seen that it fits. */
int weir_book_add(weir_graph *g, weir_vertex v, const struct span *s) WEIR_CHECKED;
void weir_book_remove(weir_graph *g, weir_vertex v, uint32_t job);
/* The span of a job on v, or NULL. */
struct span *weir_book_find(const weir_graph *g, weir_vertex v, uint32_t job);
/* A reservation has begun. */
void weir_book_begin(weir_graph *g, weir_vertex v, uint32_t job);
/* Changes an amount; `exclusive` with it. */
int weir_book_resize(weir_graph *g, weir_vertex v, uint32_t job, int64_t amount, bool exclusive) WEIR_CHECKED;
void weir_books_clear(weir_graph *g);

/* The most units in use on v itself at any time in [t0, t1); its whole size where a span is exclusive. What has begun
 * and is not released counts as in use at `now` even past its end. */
int64_t weir_book_used(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* Whether any span at all, or any exclusive one, touches [t0, t1). */
bool weir_book_touched(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1, bool exclusive_only);
/* Whether a span of any job but this one touches [t0, t1). */
bool weir_book_others(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1);

#endif
