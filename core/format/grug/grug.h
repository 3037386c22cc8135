/* grug.h - a GRUG recipe between reading (grug_read.c) and growing (grug.c). Private to the two. */
#ifndef WEIR_GRUG_H
#define WEIR_GRUG_H

#include "format/input.h"

enum field {
    ROOT,
    TYPE,
    BASENAME,
    UNIT,
    SIZE,
    SUBSYSTEM,
    PROPERTIES,
    NODE_FIELDS,
    E_SUBSYSTEM = NODE_FIELDS,
    RELATION,
    RRELATION,
    GEN_METHOD,
    ID_SCOPE,
    ID_START,
    ID_STRIDE,
    MULTI_SCALE,
    AS_TGT_SUBSYSTEM,
    AS_TGT_UPLVL,
    AS_SRC_UPLVL,
    FIELDS
};

enum method { MULTIPLY, ASSOCIATE_IN, ASSOCIATE_BY_PATH_IN, METHODS };

struct list {
    weir_vertex *v;
    uint32_t count, cap;
};

/* A <node> or an <edge> of a recipe. */
struct grug_element {
    char *id, *source, *target; /* source and target: edges only */
    char *text[FIELDS];
    int64_t number[FIELDS];
    int line;
    /* edges */
    uint32_t from, to, next; /* node numbers, and the next edge with the same `from`; NONE: the last */
    enum method method;
    bool contains; /* method MULTIPLY in containment */
    int64_t wrap;  /* number of source pools with consecutive ids */
    /* nodes */
    uint32_t first_edge, last_edge;
    int64_t made; /* pools made so far */
    bool seen, open, grown, listed, leaf;
    struct grug_element *by; /* the MULTIPLY edge to this node */
    struct list pools;       /* the pools of this node, in order; kept when `listed` */
    struct weir_props props;
};
#define NONE UINT32_MAX

struct grug_key {
    char *id;
    enum field field;
    char *fallback;
};

struct recipe {
    struct grug_element *nodes, *edges;
    uint32_t nnodes, nodes_cap, nedges, edges_cap;
    struct grug_key *keys;
    uint32_t nkeys, keys_cap;
    const char *source;
    weir_err *err;
    int rc;
    /* while reading */
    XML_Parser xml;
    struct grug_element *element; /* the open node or edge */
    struct grug_key *key;         /* the open key */
    uint32_t data;                /* the key of the open <data>, or NONE */
    bool graph, in_default;
    weir_buf chars;
    /* while growing */
    weir_graph *g;
    int64_t rank;
    uint64_t total, entries;
};

/* Fails with the line of an element. */
#define FAIL(r, element, code, ...) weir_fail_at((r)->err, code, (r)->source, (element)->line, 0, __VA_ARGS__)

/* Reads and checks a recipe. On success each node is reached from a root, by at most one MULTIPLY edge, no deeper
 * than WEIR_PATH_DEPTH, and `total` is the number of pools of all MULTIPLY edges from the roots, `entries` that of
 * their properties. To be freed in either case. */
int weir_recipe_read(struct recipe *r, const char *text, size_t len);
void weir_recipe_free(struct recipe *r);

#endif
