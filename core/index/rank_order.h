/* rank_order.h - static preference among vertices: up to WEIR_ORDER_KEYS numbers, smallest first, ties in the
 * order of the tree. */
#ifndef WEIR_ORDER_H
#define WEIR_ORDER_H

#include "graph/tree_order.h"

struct score_memory;

enum order_what { ORDER_ID, ORDER_INDEX, ORDER_SIZE, ORDER_RANK, ORDER_PROPERTY };

struct order_field {
    enum order_what what;
    weir_type of;       /* of the nearest ancestor of the type; WEIR_NO_TYPE: of the vertex itself */
    weir_name property; /* WEIR_NO_NAME: no pool has the property */
    bool descending;
};

/* Vertices that are new, or may have moved in an order together with the subtree. */
struct dirty_vertices {
    weir_vertex *list;
    uint32_t n, cap;
};

/* The numbers that a policy's `keys` gave for the vertices of a type, shared by the indexes of the order and type. */
struct order_keys {
    uint32_t refs;
    double *leaf;                 /* nkeys numbers for each leaf, by vertex, */
    double *inner;                /* and for each vertex with children, by inner record */
    uint32_t leaf_cap, inner_cap; /* capacity in vertices, and in inner records */
    struct dirty_vertices dirty;  /* vertices to call `keys` for again */
};

/* An order by levels: two vertices compare as their ancestors that are siblings, by the free units of
 * the first of the types that exists below these ancestors, most first, or by a tag. The order changes with jobs and
 * states. */
struct descent {
    weir_type types[WEIR_DESCEND_TYPES];
    uint32_t n;    /* 0: none */
    bool by_tag;   /* by the number in a tag instead, greatest first */
    weir_name tag; /* WEIR_NO_NAME: no vertex has the tag */
};

struct order {
    uint64_t serial; /* of the policy whose `keys` computes the order; 0: the order is by fields */
    struct order_field fields[WEIR_ORDER_KEYS];
    uint32_t nkeys;
    /* The common case, compared without arithmetic: `nabove` fields that are "TYPE.id" or "TYPE.index" of one type
     * `above`, then "id", then "index" or nothing. */
    bool by_id;
    uint32_t nabove;
    weir_type above;
    /* The first thing that distinguishes two vertices of a type, where weir_order_of_type() has set the type; equal ids
     * distinguish nothing. */
    enum {
        FIRST_FIELDS,      /* always the fields, keys and scores */
        FIRST_SIBLING_IDS, /* between siblings the ids, in direction ids_descending; else the fields */
        FIRST_IDS,         /* the ids */
        FIRST_NUMBERS      /* the order of the tree: the order has no fields */
    } first;
    bool ids_descending;
    bool numbers;            /* serial, scores or descent: numbers by vertex decide, at least first */
    struct descent descent;  /* instead of all else */
    bool reads_maps;         /* depends on properties, tags or ranks */
    struct order_keys *keys; /* with serial, in the order of an index; else NULL */
    /* Scores decide first, greatest first, vertices without a score last; then the order above. NULL: no scores. */
    const struct score_memory *scores;
    weir_type scored; /* the scores are those of the ancestor of the type; WEIR_NO_TYPE: of the vertex itself */
};

/* The siblings that share the numbers of `keys`. */
struct order_family {
    weir_vertex member; /* the last vertex with numbers; WEIR_NONE: siblings share none */
};

/* The scores that decide first in an order. */
struct order_scores {
    const struct score_memory *memory; /* NULL: none */
    weir_type of;                      /* as `scored` in struct order */
};

/* The first number that a vertex is compared by, in an order of fields. O(depth) */
double weir_order_first(const weir_graph *g, const struct order *o, weir_vertex v);
/* WEIR_EINVAL: the turn of a policy makes no sense. The numbers of the first field must change with the structure
 * only. */
int weir_turn_check(const weir_policy *p, weir_err *err) WEIR_CHECKED;
/* Reads the fields of a policy's order. WEIR_EPOLICY names a wrong field. */
int weir_order_read(weir_graph *g, const weir_policy *p, struct order *o, weir_err *err);
/* descent.c: reads the descent of a policy. Returns WEIR_OK. An index in this order is kept by
 * weir_descent_observer. */
int weir_order_descend(const weir_graph *g, const weir_policy *p, struct order *o);
/* Reads the order by which candidates are searched: the descent of a policy, or else the fields. */
int weir_order_of(weir_graph *g, const weir_policy *p, struct order *o, weir_err *err);
/* Whether a comes before b by a descent. O(d) */
bool weir_descent_before(const weir_graph *g, const struct descent *d, weir_vertex a, weir_vertex b);
extern const struct weir_observer weir_descent_observer;
/* Prepares an order for comparisons of vertices of type t only. */
void weir_order_of_type(struct order *o, weir_type t);
/* Lets scores decide before the order. */
void weir_order_score(struct order *o, const struct order_scores *by);
/* The score of v in an order with scores; NAN: none. */
double weir_order_score_of(const weir_graph *g, const struct order *o, weir_vertex v);
/* Whether a changed entry of a map, or a rank (WEIR_NO_NAME), may change the order. */
bool weir_order_reads(const struct order *o, int map, weir_name key);
/* Whether two orders are equal. */
bool weir_order_same(const struct order *a, const struct order *b);
/* Gives an order keys: shared with an equal order `other`, or (NULL) new keys without values. */
int weir_order_keys(struct order *o, const struct order *other) WEIR_CHECKED;
size_t weir_order_bytes(const struct order *o); /* of the keys, shared or not */
/* Calls the policy's `keys` for v and stores the result; or stores the numbers of the family, which begins with member
 * WEIR_NONE, and serves vertices of one type. */
int weir_order_compute(const weir_graph *g, const weir_policy *p, struct order *o, weir_vertex v,
                       struct order_family *family, weir_err *err);
/* Reserves the keys of all vertices of the graph. */
int weir_order_reserve(const weir_graph *g, struct order *o) WEIR_CHECKED;
/* Whether there is room for the keys of all vertices of the graph, as weir_order_promote() requires. For tests. */
bool weir_order_room(const weir_graph *g, const struct order *o);
/* Moves the keys of v, a leaf until now, to the inner record. Memory is reserved. */
void weir_order_promote(const weir_graph *g, struct order *o, weir_vertex v);
/* Releases the keys of an order. */
void weir_order_clear(struct order *o);
/* Whether a comes before b. */
bool weir_order_before(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b);
/* weir_order_before(), for an order with FIRST_SIBLING_IDS. */
bool weir_order_before_inside(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b);

/* An id as orders compare it. */
static inline int64_t order_id(const struct vertex *v)
{
    return v->id == WEIR_NO_ID ? -1 : v->id;
}

/* weir_order_before(), without a call where ids or vertex numbers decide. */
WEIR_INLINE bool order_before(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    const struct vertex *x = vertex_at(g, a), *y = vertex_at(g, b);

    if (o->first == FIRST_NUMBERS)
        return vertex_before(g, a, b);
    if (o->first == FIRST_IDS || (o->first == FIRST_SIBLING_IDS && x->parent == y->parent)) {
        int64_t i = order_id(x), j = order_id(y);
        if (i != j)
            return (i < j) != o->ids_descending;
    }
    if (o->first == FIRST_SIBLING_IDS)
        return weir_order_before_inside(g, o, a, b);
    return weir_order_before(g, o, a, b);
}

#endif
