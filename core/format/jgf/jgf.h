/* jgf.h - what the readers of JSON Graph Format share. Private to the core.
 *
 * Reading is done in two steps. jgf_read.c takes the document as it comes and keeps an item for each vertex, whatever
 * the order of nodes and edges; what a vertex has of its own goes to the graph at once. Then jgf_build.c turns the
 * items into the vertices of the graph where they stand, or jgf_resolve.c looks for them in another one.
 *
 * Main invariant: what is kept grows with the graph and not with the text, and beside the graph there is little: an
 * item is as large as the vertex it becomes. Besides it there are, until the edges are read, two hashes of its path,
 * and its id (jgf_keys.h).
 */
#ifndef WEIR_JGF_H
#define WEIR_JGF_H

#include "format/input.h"
#include "graph/graph.h"
#include "format/jgf/jgf_keys.h"
#include "format/json_read.h"

#define JGF_ENTRIES_SHORT 64 /* entries of a node that are looked through; more have an index */

/* A vertex that is being read. weir_jgf_make() writes the vertex itself over it. */
struct jgf_item {
    int64_t id;
    uint32_t kind, pool; /* in the graph; pool: of what it has of its own, or WEIR_NONE */
    uint32_t rank;       /* where it has one */
    uint32_t at;         /* its place in "nodes"; of an item that only edges have named, the first of them in "edges" */
    uint32_t parent, next; /* items; the children of one are a ring, */
    uint32_t last;         /* which is entered at the last */
    uint8_t state;
    bool described : 1; /* it was in "nodes" */
    bool is_target : 1; /* if not: the end at which an edge named it */
    bool has_rank : 1;
    bool exclusive : 1;
    bool faulty : 1; /* some of its entries cannot be: in `faults` */
};

/* Hashes of the path of an item and of what it lies in; 0: it has none. */
struct jgf_path {
    uint64_t own, above;
};

/* A property, a tag or extended data. */
struct jgf_entry {
    weir_name key, value;
    uint8_t field; /* enum jgf_field */
    uint8_t fault; /* enum weir_entry_fault */
};

/* What is wrong with an entry is said when its vertex has its turn in the tree. */
struct jgf_fault {
    uint32_t at; /* place in "nodes" */
    uint8_t field, fault;
};

/* What an edge says of one subsystem. */
struct jgf_edge {
    uint32_t source, target;         /* items */
    uint32_t at;                     /* place in "edges" */
    weir_name subsystem, type, back; /* the last two may be WEIR_NO_NAME */
};

/* Edges that say the same, one after the other in the document. */
struct jgf_span {
    uint32_t first, at; /* of the first: in `ends`, and in "edges" */
    weir_name subsystem, type, back;
};

/* Edges that wait for the graph, or for their vertices. */
struct jgf_waiting {
    uint32_t (*ends)[2]; /* source and target */
    uint32_t count, cap;
    struct jgf_span *spans;
    uint32_t nspans, spans_cap;
};

/* The metadata of a vertex. */
enum jgf_field {
    JGF_TYPE,
    JGF_BASENAME,
    JGF_NAME,
    JGF_TEMPLATE,
    JGF_UNIT,
    JGF_UUID,
    JGF_STATE,
    JGF_PATH,  /* paths.containment */
    JGF_OTHER, /* "SUBSYSTEM:PATH" of another of the paths */
    JGF_TEXTS,
    JGF_ID = JGF_TEXTS,
    JGF_UNIQ_ID,
    JGF_RANK,
    JGF_STATUS,
    JGF_SIZE,
    JGF_NUMBERS_END,
    JGF_EXCLUSIVE = JGF_NUMBERS_END,
    JGF_WHOLE,
    JGF_NEGATIVE,
    JGF_BOOLS_END,
    JGF_PROPERTIES = JGF_BOOLS_END,
    JGF_TAGS,
    JGF_EPHEMERAL,
    JGF_EXTENDED,
    JGF_EXTENDED_TEXT,
    JGF_PATHS,
    JGF_FIELDS
};
extern const char *const weir_jgf_fields[JGF_FIELDS];

/* The vertex that is being read. */
struct jgf_node {
    uint32_t seen, given; /* fields, as bits; a null is not given */
    bool has_key, has_data;
    uint32_t key, text[JGF_TEXTS]; /* where in `texts` */
    int64_t number[JGF_BOOLS_END]; /* flags too */
    struct jgf_entry *entries;
    uint32_t nentries, entries_cap;
    struct weir_map64 places; /* of the entries, when they are many */
    weir_buf texts;
};

struct jgf {
    /* Set by the caller: */
    const char *source;
    weir_err *err;
    bool is_r;                                    /* an R: its other keys are kept too */
    int (*on_node)(struct jgf *r, uint32_t item); /* called for each vertex when it is read; NULL: nothing to do */

    weir_json *json;
    weir_graph *g;    /* that is made; until then it has names, kinds and what vertices have of their own */
    const char *path; /* of the graph in the document */
    struct jgf_item *items;
    uint32_t count, cap;
    struct jgf_keys keys;
    struct jgf_path *paths; /* by item, as far as one was given */
    uint32_t npaths, paths_cap;
    uint8_t (*uuids)[16]; /* by item, all 0 where not given */
    uint32_t nuuids, uuids_cap;
    struct jgf_fault *faults;
    uint32_t nfaults, faults_cap;
    struct jgf_waiting waiting;
    bool has_graph, has_nodes, has_edges;
    uint32_t nodes_seen, edges_seen; /* elements of the two arrays so far */
    struct jgf_node node;
    weir_buf value;         /* of an entry that is being read */
    struct jgf_edge *names; /* metadata.name of the edge that is being read */
    uint32_t nnames, names_cap;
    bool shorthand; /* the writer left out what lies below exclusive vertices */
    bool version_1;
    int execution; /* what its value is, an enum weir_json_type; WEIR_JSON_END: there is none */
    weir_buf execution_text;
    bool treepool; /* the writer is the one of RFC 49, whose `children` are: */
    weir_buf children_text;
};

/* Reads the whole document. weir_jgf_free() is needed also when it fails. */
int weir_jgf_document(struct jgf *r, const struct weir_input *in) WEIR_CHECKED;
void weir_jgf_free(struct jgf *r);
/* Makes the graph of what was read. */
int weir_jgf_make(struct jgf *r, weir_graph **out) WEIR_CHECKED;

/* Reads one element of "nodes", whose first event was given. */
int weir_jgf_node(struct jgf *r, int type) WEIR_CHECKED;
/* The item of a key, made if there is none; *found tells. */
int weir_jgf_item(struct jgf *r, const char *key, size_t len, uint32_t *item, bool *found) WEIR_CHECKED;
int weir_jgf_reach_uuids(struct jgf *r, uint32_t n) WEIR_CHECKED; /* makes `uuids` n items long */
/* Puts one vertex below another, as an edge of containment says. */
int weir_jgf_contain(struct jgf *r, const struct jgf_edge *e) WEIR_CHECKED;
/* The edge at place i of those that wait, in the span *span, which is 0 at first, or a later one. */
struct jgf_edge weir_jgf_waiting(const struct jgf *r, uint32_t i, uint32_t *span);
bool weir_jgf_contains(const struct jgf *r, const struct jgf_edge *e); /* it is one of containment */

/* Makes room for `need` elements, and for those that the rest of the text may bring: no memory is used before they come, and an
 * array that moves often would leave holes as large as itself. */
int weir_jgf_room(const struct jgf *r, void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;

/* Errors at "PATH.ARRAY[i]KEY", such as graph.nodes[3].metadata.size. */
int weir_jgf_bad(const struct jgf *r, int code, const char *array, uint32_t i, const char *key, const char *fmt, ...)
    WEIR_PRINTF(6, 7);
/* A value of the wrong type: "is an integer, a string is wanted". */
int weir_jgf_bad_type(const struct jgf *r, const char *array, uint32_t i, const char *key, int type,
                      const char *wanted);

static inline int64_t jgf_rank(const struct jgf_item *it)
{
    return it->has_rank ? (int64_t)it->rank : WEIR_NO_RANK;
}

static inline const char *jgf_text(const struct jgf *r, weir_name name)
{
    return weir_strtab_text(&r->g->names, name);
}

#endif
