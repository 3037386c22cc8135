/* nogood.h - failed searches: rows without a candidate for a request below, though each part of the request alone is
 * present ("a gpu here, a core there").
 *
 * Aggregates cannot show a failed combination. A search with many failed candidates (nogood_learn.c) gets a bit; the
 * bit is set for a row with the candidate, in the order of the policy, before which nothing below the row serves, and
 * cleared on the path from every changed vertex to the root. So the next equal search opens only changed rows, and rows
 * that serve.
 *
 * A failure now remains a failure later: until a reservation begins or is removed, and bits are cleared, the
 * reservation is in the way of every interval with a later start and no earlier end; hence `end`. New and removed
 * vertices clear all bits on the path to the root.
 */
#ifndef WEIR_NOGOOD_H
#define WEIR_NOGOOD_H

#include "graph/graph.h"

#define NOGOODS_MAX   32 /* searches; the least recently used is dropped first */
#define NOGOODS_AFTER 16 /* failed candidates of a search before the search gets a bit */

struct nogood {
    weir_buf key; /* request and mode of the search */
    /* By row number, where the bit is set: no earlier candidate serves; WEIR_NONE: none serves. */
    weir_vertex *first;
    int64_t end; /* bits hold for intervals that end at `end` or later */
    /* born: identifies the search among successive searches with the same number. */
    uint64_t last_use, born;
};

struct nogoods {
    uint32_t *rows; /* by row number: a bit for each search */
    /* Rows, and capacity: of `rows` and of each `first`. */
    uint32_t nrows, cap;
    uint32_t passing; /* bits that a change of schedules and states clears */
    uint32_t mapped;  /* bits that a change of properties, tags and ranks clears */
    struct nogood list[NOGOODS_MAX];
    uint32_t n;
};

/* NULL until a search fails. */
static inline struct nogoods *nogoods_in(const weir_graph *g)
{
    return g->records[RECORD_NOGOODS];
}

/* Reference to the bit of a search, valid while `born` matches. */
struct nogood_bit {
    uint64_t born; /* 0: no bit */
    uint32_t at;
};

/* The bit of a search for intervals that end at `end`, or a bit with born 0. */
struct nogood_bit weir_nogood_find(weir_graph *g, const weir_buf *key, int64_t end);
/* Gives a search a bit, set nowhere. `lasting`: independent of schedules and states; `mapped`: dependent on
 * properties, tags or ranks. On failure nothing has changed. O(rows) */
int weir_nogood_make(weir_graph *g, const weir_buf *key, bool lasting, bool mapped,
                     struct nogood_bit *out) WEIR_CHECKED;
/* Clears the bits of a graph on changes. */
extern const struct weir_observer weir_nogood_observer;

/* Whether the bit still belongs to the search. */
static inline bool nogood_counts(const weir_graph *g, struct nogood_bit b)
{
    return b.born != 0 && nogoods_in(g) && nogoods_in(g)->list[b.at].born == b.born;
}

/* Whether the bit is set for a row; then *first is the candidate before which nothing serves. */
static inline bool nogood_at(const weir_graph *g, struct nogood_bit b, uint32_t row, weir_vertex *first)
{
    if (!nogood_counts(g, b) || !(nogoods_in(g)->rows[row] >> b.at & 1))
        return false;
    *first = nogoods_in(g)->list[b.at].first[row];
    return true;
}

/* Sets the bit for a row. `end`: of the interval searched, where a reservation before `end` may have been in the
 * way; else INT64_MIN. */
static inline void nogood_set(weir_graph *g, struct nogood_bit b, uint32_t row, weir_vertex first, int64_t end)
{
    struct nogood *x;

    if (!nogood_counts(g, b))
        return;
    x = &nogoods_in(g)->list[b.at];
    nogoods_in(g)->rows[row] |= UINT32_C(1) << b.at;
    x->first[row] = first;
    x->end = x->end > end ? x->end : end;
}

#endif
