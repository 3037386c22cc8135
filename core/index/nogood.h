/* nogood.h - what searches have found out in vain: below which rows there is nothing that serves a request, though its parts,
 * each by itself, are there ("a gpu here, a core there").
 *
 * Aggregates cannot tell that. A search that many candidates have disappointed (nogood_learn.c) gets a bit here; it is set for each row
 * of which is known before which candidate, in the order of the policy, nothing below it serves; and cleared on the way from each
 * vertex that changes to the root. So the next search for the same opens what has changed since, and what there is, and nothing
 * else.
 *
 * What is refused now stays so as time goes by: until a reservation begins or goes, which clears bits, it is in the way of every
 * window that starts later and ends no sooner. `end` is for that. Where vertices are added or go, all bits are cleared on the way from
 * there to the root.
 */
#ifndef WEIR_NOGOOD_H
#define WEIR_NOGOOD_H

#include "graph/graph.h"

#define NOGOODS_MAX   32 /* searches; the one not used for longest makes room */
#define NOGOODS_AFTER 16 /* candidates that one search refuses before it gets a bit */

struct nogood {
    weir_buf key;       /* what is searched for, and how */
    weir_vertex *first; /* by row number, where the bit is set: no candidate before this one serves; WEIR_NONE: none at all */
    int64_t end;        /* the bits count for windows that do not end before this */
    uint64_t last_use, born; /* born: tells it from another one that had its place before */
};

struct nogoods {
    uint32_t *rows; /* by row number: a bit for each search below */
    uint32_t nrows, cap; /* rows there are, and room for: here and for each search */
    uint32_t passing; /* the bits that a change of books and states clears */
    uint32_t mapped;  /* ... that changed properties, tags and ranks do: the order reads them */
    struct nogood list[NOGOODS_MAX];
    uint32_t n;
};

/* Which bit is that of a search, until another one needs its place. */
struct nogood_bit {
    uint64_t born; /* 0: it has none */
    uint32_t at;
};

/* The bit of a search for windows that end at `end`, where it has one that counts. */
struct nogood_bit weir_nogood_find(weir_graph *g, const weir_buf *key, int64_t end);
/* Gives a search a bit, set nowhere. `lasting`: books and states do not matter to it; `mapped`: see above. On failure nothing
 * has changed. O(rows) */
int weir_nogood_make(weir_graph *g, const weir_buf *key, bool lasting, bool mapped, struct nogood_bit *out) WEIR_CHECKED;
/* Keeps the bits of a graph that has some. */
extern const struct weir_observer weir_nogood_observer;

static inline bool nogood_counts(const weir_graph *g, struct nogood_bit b)
{
    return b.born != 0 && g->nogoods && g->nogoods->list[b.at].born == b.born;
}

/* Whether something is known of a row; what, is then *first. */
static inline bool nogood_at(const weir_graph *g, struct nogood_bit b, uint32_t row, weir_vertex *first)
{
    if (!nogood_counts(g, b) || !(g->nogoods->rows[row] >> b.at & 1))
        return false;
    *first = g->nogoods->list[b.at].first[row];
    return true;
}

/* `end`: of the window that was searched, where a reservation before it may be what was in the way; else INT64_MIN. */
static inline void nogood_set(weir_graph *g, struct nogood_bit b, uint32_t row, weir_vertex first, int64_t end)
{
    struct nogood *x;

    if (!nogood_counts(g, b))
        return;
    x = &g->nogoods->list[b.at];
    g->nogoods->rows[row] |= UINT32_C(1) << b.at;
    x->first[row] = first;
    x->end = x->end > end ? x->end : end;
}

#endif
