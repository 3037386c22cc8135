/* rank_order.h - static preference among vertices: up to WEIR_ORDER_KEYS numbers, smallest first, ties by vertex index. */
#ifndef WEIR_ORDER_H
#define WEIR_ORDER_H

#include "graph/graph.h"

enum order_what { ORDER_ID, ORDER_INDEX, ORDER_SIZE, ORDER_RANK, ORDER_PROPERTY };

struct order_field {
    enum order_what what;
    weir_type of;       /* of the ancestor of this type; WEIR_NO_TYPE: of the vertex itself */
    weir_name property; /* WEIR_NO_NAME: no pool has it */
    bool descending;
};

/* Vertices that are new, or whose place in an order and that of the vertices below them may have changed. */
struct order_notes {
    weir_vertex *list;
    uint32_t n, cap;
};

/* The numbers that a policy's `keys` gave for the vertices of a type, shared by the indices of that order and type. */
struct order_keys {
    uint32_t refs;
    double *leaf;  /* nkeys numbers a vertex that is a leaf, */
    double *inner; /* ... and a vertex with children, by inner record */
    uint32_t leaf_cap, inner_cap; /* room in them */
    struct order_notes notes;     /* vertices that `keys` is to be asked about again */
};

struct order {
    uint64_t serial; /* of the policy whose `keys` computes the order; 0: fields */
    struct order_field fields[WEIR_ORDER_KEYS];
    uint32_t nkeys;
    bool by_id;        /* the fields are "id", or that and "index": the common case, compared without arithmetic */
    bool reads_maps;   /* depends on properties, tags or ranks */
    struct order_keys *keys; /* with serial, in the order of an index; else NULL */
};

/* Reads the fields of a policy. WEIR_EPOLICY names the one that is wrong. */
int weir_order_read(weir_graph *g, const weir_policy *p, struct order *o, weir_err *err);
/* Whether a changed entry of a map, or a rank (WEIR_NO_NAME), may matter to the order. */
bool weir_order_reads(const struct order *o, int map, weir_name key);
bool weir_order_same(const struct order *a, const struct order *b);
/* Gives an order its keys: those of `other`, the same order of another index, or (NULL) new ones, about which nothing was asked yet. */
int weir_order_keys(struct order *o, const struct order *other) WEIR_CHECKED;
size_t weir_order_bytes(const struct order *o); /* of the keys, which others may share */
/* Calls the policy's `keys` for v and keeps what it says. */
int weir_order_compute(const weir_graph *g, const weir_policy *p, struct order *o, weir_vertex v, weir_err *err);
/* Room for the keys of all vertices that there are by now. */
int weir_order_reserve(const weir_graph *g, struct order *o) WEIR_CHECKED;
/* v has got its inner record: its keys move there. There is room. */
void weir_order_promote(const weir_graph *g, struct order *o, weir_vertex v);
void weir_order_clear(struct order *o);
/* Adds the fields of v, those by which a policy orders, to sums. An ancestor's count nothing for itself, nor where there is none.
 * Not for computed orders. */
void weir_order_sum(const weir_graph *g, const struct order *o, weir_vertex v, double sums[WEIR_ORDER_KEYS]);
/* Which of two sums comes first: below 0, 0 or above. */
int weir_order_compare(const double a[WEIR_ORDER_KEYS], const double b[WEIR_ORDER_KEYS]);
/* Whether a comes before b. */
bool weir_order_before(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b);

#endif
