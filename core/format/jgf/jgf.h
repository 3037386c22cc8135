/* jgf.h - declarations shared by the readers of JSON Graph Format. Private to the core.
 *
 * Reading takes two steps. jgf_read.c reads the document in its order and keeps an item for each vertex, in any
 * order of nodes and edges; own names, properties and the like go to the graph at once. Then jgf_build.c turns the
 * items into vertices in place, or jgf_resolve.c finds the vertices of an existing graph.
 *
 * Main invariant: memory grows with the graph and not with the text, with little in addition to the graph: an item is
 * as large as the later vertex, and until the edges are read each item has two hashes of its path, and its id
 * (jgf_keys.h).
 */
#ifndef WEIR_JGF_H
#define WEIR_JGF_H

#include "format/input.h"
#include "graph/graph.h"
#include "format/jgf/jgf_keys.h"
#include "format/json_read.h"

#define JGF_ENTRIES_SHORT 64 /* entries of a node up to which a search is linear; more have an index */

/* A vertex while being read. weir_jgf_make() overwrites the item with the vertex. */
struct jgf_item {
    int64_t id;
    uint32_t kind, pool; /* kind and pool in the graph; pool WEIR_NONE: nothing of its own */
    uint32_t rank;       /* with `has_rank` */
    /* position in "nodes"; of an item not described yet, position of the first edge to the item in "edges" */
    uint32_t at;
    uint32_t parent, next; /* items; `next` links the children of an item to a ring */
    uint32_t last;         /* the last child */
    uint8_t state;
    bool described : 1; /* the vertex was in "nodes" */
    bool is_target : 1; /* not described yet: an edge named the vertex as its target */
    bool has_rank : 1;
    bool owns_rank : 1; /* the rank is kept although equal to an inherited rank */
    bool exclusive : 1;
    bool detached : 1; /* in no containment, though not only in other subsystems from the start */
    bool faulty : 1;   /* some entries are not allowed: see `faults` */
};

/* Hashes of the path of an item and of its parent's path; 0: no path. */
struct jgf_path {
    uint64_t own, above;
};

/* A property, a tag or extended data. */
struct jgf_entry {
    weir_name key, value;
    uint8_t field; /* enum jgf_field */
    uint8_t fault; /* enum weir_entry_fault */
};

/* A faulty entry, reported when the vertex is made, in the order of the tree. */
struct jgf_fault {
    uint32_t at; /* position in "nodes" */
    uint8_t field, fault;
};

/* An edge in one subsystem. */
struct jgf_edge {
    uint32_t source, target;         /* items */
    uint32_t at;                     /* position in "edges" */
    weir_name subsystem, type, back; /* type and back may be WEIR_NO_NAME */
};

/* Edges of equal subsystem and names, consecutive in the document. */
struct jgf_span {
    uint32_t first, at; /* position of the first edge in `ends`, and in "edges" */
    weir_name subsystem, type, back;
};

/* Edges kept until the graph, or the vertices, are complete. */
struct jgf_waiting {
    uint32_t (*ends)[2]; /* source and target */
    uint32_t count, cap;
    struct jgf_span *spans;
    uint32_t nspans, spans_cap;
};

/* A key of an edge or of the graph that weir does not know, until the vertices are there. See jgf_foreign.c. */
struct jgf_foreign {
    uint32_t ends[2];          /* items; WEIR_NONE: of the graph, or of the edge that is being read */
    weir_name subsystem, type; /* of the edge; type may be WEIR_NO_NAME */
    weir_name key, value;
};

/* The object of a document that has a foreign key. */
enum jgf_place { JGF_OF_VERTEX, JGF_OF_CHILD, JGF_OF_EDGE, JGF_OF_GRAPH, JGF_OF_METADATA };

/* The position of an element of "nodes" or "edges" in the text: from its first byte up to the byte behind. */
struct jgf_element {
    size_t from, to;
    uint32_t ends[2];   /* items at the ends of an edge */
    weir_name names[2]; /* the id of a vertex; the subsystem and the relationship (or WEIR_NO_NAME) of an edge */
    /* starts of values in the metadata of a vertex; 0: no such value */
    size_t rank, size; /* numbers */
    size_t shares;     /* an object */
};

struct jgf_array {
    struct jgf_element *elements;
    uint32_t count, cap;
    size_t from; /* the byte behind the bracket */
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
    JGF_OTHER, /* "SUBSYSTEM:PATH" of any path but the first */
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
    JGF_OWN_RANK,
    JGF_DETACHED,
    JGF_BOOLS_END,
    JGF_PROPERTIES = JGF_BOOLS_END,
    JGF_TAGS,
    JGF_EPHEMERAL,
    JGF_EXTENDED,
    JGF_EXTENDED_TEXT,
    JGF_PATHS,
    JGF_FIELDS,
    JGF_FOREIGN = JGF_FIELDS /* of an entry: any other key */
};
extern const char *const weir_jgf_fields[JGF_FIELDS];

/* The vertex that is being read: the values of its fields. */
struct jgf_node {
    uint32_t seen, given; /* sets of fields, as bits; null values are seen, but not given */
    bool has_key, has_data;
    uint32_t key, text[JGF_TEXTS]; /* offsets in `texts` */
    int64_t number[JGF_BOOLS_END]; /* flags, too */
    struct jgf_entry *entries;
    uint32_t nentries, entries_cap;
    struct weir_map32 places; /* index of the entries, when many */
    weir_buf texts;
};

struct jgf {
    /* Set by the caller */
    const char *source;
    weir_err *err;
    bool is_r;                                    /* the document is an R: its further keys are kept, too */
    bool is_scheduling;                           /* the document is the value of `scheduling` of an R */
    int (*on_node)(struct jgf *r, uint32_t item); /* called for each vertex read; NULL: nothing to do */
    /* Reads the value of graph.metadata.weir of a document, with its key as the current event; NULL: the value is
     * skipped. `data` is for the function. */
    int (*on_weir)(struct jgf *r);
    void *data;
    bool keep_shares;        /* keep the text of `shares` of each vertex, for on_node */
    struct jgf_array *marks; /* receives where nodes and edges are in the text, two arrays; NULL: not needed */
    uint32_t *positions;     /* receives, by vertex, the position in "nodes"; NULL: not needed */

    weir_json *json;
    weir_graph *g;    /* the graph to make; at first only names, kinds and pools */
    const char *path; /* path of the graph in the document */
    struct jgf_item *items;
    uint32_t count, cap;
    struct jgf_keys keys;
    struct jgf_path *paths; /* by item, as far as paths were given */
    uint32_t npaths, paths_cap;
    uint8_t (*uuids)[16]; /* by item, all 0 where not given */
    uint32_t nuuids, uuids_cap;
    struct jgf_fault *faults;
    uint32_t nfaults, faults_cap;
    struct jgf_waiting waiting;
    struct jgf_foreign *foreign;
    uint32_t nforeign, foreign_cap;
    weir_name down, up; /* words of the first edges of containment down and up, + 1; 0: none yet */
    bool undirected;    /* edges without direction: without `back`, they go both ways */
    bool has_graph, has_nodes, has_edges, has_weir;
    uint32_t nodes_seen, edges_seen; /* elements of "nodes" and "edges" so far */
    struct jgf_node node;
    weir_buf shares;         /* of the vertex that is being read; empty: none */
    struct jgf_element mark; /* ends, names and rank of the vertex or edge read last */
    weir_buf value;          /* value of the entry that is being read */
    struct jgf_edge *names;  /* metadata.name of the edge that is being read */
    uint32_t nnames, names_cap;
    bool shorthand; /* the writer left out the vertices below exclusive vertices */
    bool version_1;
    int execution; /* type of its value, an enum weir_json_type; WEIR_JSON_END: no such key */
    weir_buf execution_text;
    bool treepool; /* the writer is that of RFC 49, with `children` */
    weir_buf children_text;
};

/* Reads the whole document. weir_jgf_free() is needed even on failure. */
int weir_jgf_document(struct jgf *r, const struct weir_input *in) WEIR_CHECKED;
void weir_jgf_free(struct jgf *r);
/* Makes the graph of the items and edges read. */
int weir_jgf_make(struct jgf *r, weir_graph **out) WEIR_CHECKED;

/* Reads an element of "nodes" with `type` as its first event. */
int weir_jgf_node(struct jgf *r, int type) WEIR_CHECKED;
/* Sets *item to the item of a key, made where missing; *found is set to whether the item existed. */
int weir_jgf_item(struct jgf *r, const char *key, size_t len, uint32_t *item, bool *found) WEIR_CHECKED;
int weir_jgf_reach_uuids(struct jgf *r, uint32_t n) WEIR_CHECKED; /* extends `uuids` to n items */
bool weir_jgf_is_field(const char *key); /* whether a key is a field of the metadata of a vertex */
/* Takes a key that weir does not know, the current event, and its value: *key is the key of extended data for it, or
 * the key itself of JGF_OF_EDGE. Returns the type of the value. */
int weir_jgf_take_foreign(struct jgf *r, enum jgf_place place, weir_name *key, weir_name *value) WEIR_CHECKED;
/* Appends such a key of the graph or an edge to r->foreign. */
int weir_jgf_keep_foreign(struct jgf *r, enum jgf_place place) WEIR_CHECKED;
/* Informs the edge of `count` keys from `first` on. Called again for each further subsystem of the edge. */
int weir_jgf_place_foreign(struct jgf *r, uint32_t first, uint32_t count, const struct jgf_edge *e) WEIR_CHECKED;
int weir_jgf_set_foreign(struct jgf *r) WEIR_CHECKED; /* sets the kept keys in r->g, which is complete */
/* Puts a vertex below another, by an edge of containment. */
int weir_jgf_contain(struct jgf *r, const struct jgf_edge *e) WEIR_CHECKED;
/* The waiting edge number i; *span is 0 for the first call, and is kept between calls with ascending i. */
struct jgf_edge weir_jgf_waiting(const struct jgf *r, uint32_t i, uint32_t *span);
bool weir_jgf_contains(const struct jgf *r, const struct jgf_edge *e); /* whether the edge is in containment */

/* Reserves `need` elements, and as many as the rest of the text may bring: memory is only used once touched, and an
 * array that moves often would leave holes as large as itself. WEIR_ENOMEM. */
int weir_jgf_reserve(const struct jgf *r, void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;

/* Reports an error at "PATH.ARRAY[i]KEY", such as graph.nodes[3].metadata.size. Returns `code`. */
int weir_jgf_bad(const struct jgf *r, int code, const char *array, uint32_t i, const char *key, const char *fmt, ...)
    WEIR_PRINTF(6, 7);
/* Reports a value of the wrong type: "is an integer, expected a string". Returns a status. */
int weir_jgf_bad_type(const struct jgf *r, const char *array, uint32_t i, const char *key, int type,
                      const char *wanted);

/* The first root; WEIR_NONE: there is none. */
weir_vertex weir_jgf_first_root(const weir_graph *g);
/* Returns whether a key of extended data of v is a foreign key, which is written in another place. */
bool weir_jgf_is_foreign(const weir_graph *g, weir_vertex v, const char *key, const char *value);
/* Write the foreign keys of a place at v, each with a comma in front (of the graph: behind), and those of an edge that
 * is not of containment. */
void weir_jgf_write_foreign(const weir_graph *g, weir_vertex v, enum jgf_place place, weir_buf *b);
void weir_jgf_write_foreign_edge(const weir_graph *g, const weir_edge *e, weir_buf *b);

static inline int64_t jgf_rank(const struct jgf_item *it)
{
    return it->has_rank ? (int64_t)it->rank : WEIR_NO_RANK;
}

static inline const char *jgf_text(const struct jgf *r, weir_name name)
{
    return weir_strtab_text(&r->g->names, name);
}

#endif
