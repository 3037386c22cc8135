/* dot.h - the boxes of a Graphviz picture of a machine. Private to the core.
 *
 * Alike siblings share a box. Leaves are alike if type, size, state, use and subsystems are equal, and no leaf has a
 * name of its own. If the boxes are too many, vertices with children are alike, too, if their subtrees are alike.
 * dot_fold.c makes the boxes, and dot_write.c writes the boxes as text.
 */
#ifndef WEIR_DOT_H
#define WEIR_DOT_H

#include "format/output.h"

#define DOT_BOXES 400 /* limit for the boxes of a picture, as far as folding and cutting can reach the limit */

enum dot_use { DOT_FREE, DOT_PART, DOT_USED };

struct dot_box {
    weir_vertex v;                      /* the first vertex of the box */
    uint32_t count;                     /* number of vertices in the box: siblings of v */
    uint32_t parent, first, last, next; /* indices of boxes; WEIR_NONE: none */
    uint32_t sign;
    uint8_t use; /* enum dot_use */
    uint8_t out; /* state of v or of an ancestor that keeps jobs away; else WEIR_UP */
    bool cut;    /* children of v are not in the picture */
    bool loose;  /* below a box of several vertices: ids differ by vertex, and are left out */
};

/* Distinct tuples of four numbers. */
struct dot_tuples {
    uint32_t (*list)[4];
    uint32_t n, cap;
    struct weir_map32 numbers; /* by hash */
};

struct dot_fold {
    const weir_graph *g;
    const weir_format_options *o;
    struct dot_box *boxes;
    uint32_t n, cap, first, last; /* first, last: boxes of the roots */
    uint32_t *signs;              /* by vertex: equal for alike vertices; NULL: one box per vertex */
    struct dot_tuples tuples;
    uint32_t *group, *stamp; /* by sign: a box, valid if the stamp is the current round */
    uint32_t rounds, limit;  /* limit: number of boxes at which making boxes stops */
    bool shapes;             /* alike subtrees share boxes, whichever jobs use the subtrees */
    bool failed;             /* out of memory */
};

/* Returns the index of a tuple, added if missing, or WEIR_NONE if out of memory. */
uint32_t weir_dot_tuple(struct dot_tuples *t, uint32_t a, uint32_t b, uint32_t c, uint32_t d);
void weir_dot_tuples_free(struct dot_tuples *t);

/* Makes the boxes with as much detail as DOT_BOXES boxes can show: first leaves are folded, then subtrees, then the
 * deepest levels are cut. Sets f->failed if out of memory. */
void weir_dot_fold(struct dot_fold *f);
void weir_dot_fold_free(struct dot_fold *f);
/* Returns the box of v, or of the nearest ancestor with a box, or WEIR_NONE if v is outside of the picture. O(depth *
 * DOT_BOXES) if boxes were folded. */
uint32_t weir_dot_box_of(const struct dot_fold *f, weir_vertex v);

weir_writer weir_dot_write;

#endif
