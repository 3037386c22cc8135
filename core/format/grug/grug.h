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

/* A <node> or an <edge>. */
struct part {
    char *id, *source, *target; /* the latter two of edges */
    char *text[FIELDS];
    int64_t number[FIELDS];
    int line;
    /* edges */
    uint32_t from, to, next; /* node numbers, and the next edge that leaves `from`; NONE: no more */
    enum method method;
    bool contains; /* makes pools in containment: MULTIPLY there */
    int64_t wrap;  /* pools of the source among which ids run on */
    /* nodes */
    uint32_t first_edge, last_edge;
    int64_t made; /* so far */
    bool seen, open, grown, listed, leaf;
    struct part *by;   /* the MULTIPLY edge that makes it */
    struct list pools; /* those it stands for, in order; kept when `listed` */
    struct weir_props props;
};
#define NONE UINT32_MAX

struct key {
    char *id;
    enum field field;
    char *fallback;
};

struct recipe {
    struct part *nodes, *edges;
    uint32_t nnodes, nodes_cap, nedges, edges_cap;
    struct key *keys;
    uint32_t nkeys, keys_cap;
    const char *source;
    weir_err *err;
    int rc;
    /* while reading */
    XML_Parser xml;
    struct part *part; /* the node or edge that is open */
    struct key *key;   /* the key that is open */
    uint32_t data;     /* the key of the <data> that is open, or NONE */
    bool graph, in_default;
    weir_buf chars;
    /* while growing */
    weir_graph *g;
    int64_t rank;
    uint64_t total;
};

/* Errors with the line of a part. */
#define FAIL(r, part, code, ...) weir_fail_at((r)->err, code, (r)->source, (part)->line, 0, __VA_ARGS__)

/* Reads a recipe and checks it; afterwards each node is reached from a root, by at most one MULTIPLY edge, no deeper
 * than WEIR_PATH_DEPTH, and `total` is what the MULTIPLY edges from the roots make. Free it in either case. */
int weir_recipe_read(struct recipe *r, const char *text, size_t len);
void weir_recipe_free(struct recipe *r);

#endif
