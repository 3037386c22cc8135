/* explain_parents.h - vertices with several parents in the view of a hierarchy, as explanations count them: such a
 * vertex is excluded only where each of its parents is, and counts below each. Private to the core. */
#ifndef WEIR_EXPLAIN_PARENTS_H
#define WEIR_EXPLAIN_PARENTS_H

#include "graph/graph.h"

struct parents {
    const weir_graph *view, *g; /* g: the graph whose edges lead to the parents */
    uint32_t s;                 /* the subsystem of these edges in g */
    bool *shared;               /* by vertex: has several parents; NULL: none has */
    uint32_t *seen;             /* by vertex: number of the last sum */
    uint32_t sums;
    weir_vertex *list;
};

/* Looks for vertices with several parents in g, which may be the view of a hierarchy. Pair with weir_parents_end(). O(n
 * + edges). WEIR_ENOMEM */
int weir_parents_begin(struct parents *p, const weir_graph *g) WEIR_CHECKED;
void weir_parents_end(struct parents *p);
/* Turns the marks that each vertex has by itself to marks with those of the vertices above: none where the way over
 * some parent has none, else those over the first parent. O(n + edges) times the ways that change. WEIR_ENOMEM */
int weir_parents_inherit(const struct parents *p, uint8_t *marks) WEIR_CHECKED;
/* Units of type t that edges lead to from v and that are not below v in the tree: in all, or (marks: as above) those
 * that are free now, of vertices without marks. O(vertices below v) */
int64_t weir_parents_beyond(struct parents *p, weir_vertex v, weir_type t, const uint8_t *marks);

#endif
