/* dot.h - what a Graphviz picture shows of a machine. Private to the core.
 *
 * Siblings that are alike share a box. Leaves are alike when type, size, state, use and the subsystems they are in are the
 * same, and they have no name of their own; other vertices, where there is not room for all, when what is below them is alike, too. dot_fold.c finds the boxes,
 * dot_write.c writes them.
 */
#ifndef WEIR_DOT_H
#define WEIR_DOT_H

#include "format/output.h"

#define DOT_BOXES 400 /* more are not made where less detail makes fewer */

enum dot_use { DOT_FREE, DOT_PART, DOT_USED };

struct dot_box {
    weir_vertex v;  /* the first of those it stands for */
    uint32_t count; /* how many: siblings, below the v of the parent */
    uint32_t parent, first, last, next; /* boxes; WEIR_NONE: none */
    uint32_t sign;
    uint8_t use; /* enum dot_use */
    uint8_t out; /* the state of it or of what is above, where jobs cannot have it for that; else WEIR_UP */
    bool cut;    /* there is more below it */
    bool loose;  /* below a box of several: its ids are those of one of them, and are left out */
};

/* Four numbers known by one. */
struct dot_tuple {
    uint32_t key[4], next;
};
struct dot_tuples {
    struct dot_tuple *list;
    uint32_t n, cap;
    uint32_t *heads;
    uint32_t nheads;
};

struct dot_fold {
    const weir_graph *g;
    const weir_format_options *o;
    struct dot_box *boxes;
    uint32_t n, cap, first, last; /* first, last: of the roots */
    uint32_t *signs; /* by vertex: equal where vertices are alike; NULL: each has a box of its own */
    struct dot_tuples tuples;
    uint32_t *group, *stamp; /* by sign: its box among those made last */
    uint32_t rounds, limit; /* limit: when there are more boxes, no more are made */
    bool shapes; /* subtrees that are alike share their boxes; which jobs they are used by does not matter */
    bool failed;
};

/* The number of four numbers, the same for the same ones; WEIR_NONE: out of memory. */
uint32_t weir_dot_tuple(struct dot_tuples *t, uint32_t a, uint32_t b, uint32_t c, uint32_t d);
void weir_dot_tuples_free(struct dot_tuples *t);

/* Finds the boxes. f->failed: out of memory. */
void weir_dot_fold(struct dot_fold *f);
void weir_dot_fold_free(struct dot_fold *f);
/* The box of v, or that of the nearest vertex above that has one; WEIR_NONE: it is not in the picture.
 * O(d DOT_BOXES), where signs were made. */
uint32_t weir_dot_box_of(const struct dot_fold *f, weir_vertex v);

weir_writer weir_dot_write;

#endif
