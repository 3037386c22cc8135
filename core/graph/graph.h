/* graph.h - how a graph is laid out in memory. Private to the core.
 *
 *   struct weir_graph
 *   |- vertices[]     40 bytes each: all that a traversal reads. Further records by number, WEIR_NONE = none:
 *   |    |- kind      kinds[]: type, basename, unit, size and exclusive flag, shared by all equal pools
 *   |    |- inner     inners[]: for a vertex with children, children and rows of aggregates (aggregate/rows.h)
 *   |    |- pool      pools[]: for a pool with a name, rank, properties, tags, extended data or edges of its own
 *   |    `- schedule  schedules->list[]: for a vertex with spans of jobs (aggregate/schedule_record.h)
 *   |- edges[]        edges of subsystems other than containment, chained by source and by target
 *   |- uuids          given UUIDs by vertex (uuid.c); all other UUIDs are derived
 *   |- aggregates     schemas and row maps (aggregate/schema.h)
 *   |- jobs           allocations and reservations (time/job_table.h)
 *   |- usage          by type, units in use over time (time/usage_totals.h)
 *   |- occupancies    by type, vertices in use over time (time/occupancy.h)
 *   |- indexes        by order of a policy and type, the first candidate below each row (index/candidate_index.h)
 *   |- groups         by choice of a policy and type, the candidates by group (index/group_index.h)
 *   |- node_table     nodes by property, rank and name, for constraints (index/node_table.h)
 *   |- scores         scores that policies gave to vertices (index/score.h)
 *   |- flows          distribution units of the subsystems (flow/flow.h)
 *   |- nogoods        rows below which a search is known to fail (index/nogood.h)
 *   |- rank_numbers   the ranks of hosts in a graph without ranks (rset/rank_numbers.h)
 *   |- journal        changes since the last save (journal.h)
 *   |- hierarchies    the graph as trees of other subsystems (hierarchy/hierarchy.h)
 *   `- observers      folders above graph/ that follow changes (observer.h)
 *
 * Main invariant: between public calls, outside begin/end, every row equals the contributions of its children, every
 * index names the first candidate of each row, and every schedule agrees with the jobs. weir_check() verifies the
 * invariant.
 */
#ifndef WEIR_GRAPH_H
#define WEIR_GRAPH_H

#include "base/base.h"
#include "base/strtab.h"

typedef uint16_t weir_type;
#define WEIR_NO_TYPE   UINT16_MAX
#define WEIR_OBSERVERS 16
#define WEIR_EVENTS    16
#define WEIR_FAN       32 /* siblings under one row */

struct type {
    weir_name name;
    uint8_t flags; /* TYPE_HAS_KIDS, TYPE_POOLED */
};

struct kind {
    int64_t size;
    weir_name basename, unit;
    weir_type type;
    bool exclusive;
    uint32_t count; /* live vertices of the kind */
};

/* VERTEX_SHUFFLED: the number is not in the order of the tree (tree_order.h). */
enum { VERTEX_LIVE = 1, VERTEX_SHUFFLED = 2 };
/* A vertex of the type has or once had children; a vertex of the type has or once had a size other than 1. */
enum { TYPE_HAS_KIDS = 1, TYPE_POOLED = 2 };

struct vertex {
    int64_t id; /* WEIR_NO_ID: no id */
    uint32_t kind;
    weir_vertex parent;
    uint32_t pos;   /* number among the parent's children, or among the roots; WEIR_NONE: detached */
    uint32_t inner; /* WEIR_NONE for a leaf */
    uint32_t pool;
    uint32_t schedule;
    uint16_t generation;
    uint8_t state;
    uint8_t flags;
    uint32_t bit; /* number in the occupancy of the vertex's type, where the type has an occupancy */
};

struct inner {
    weir_vertex vertex;       /* owner; WEIR_NONE in a free record */
    uint32_t schema;          /* types below the vertex (schema.h); 0: none */
    uint32_t row_map;         /* how row 0 maps into rows of the parent; WEIR_NONE for a root */
    uint32_t nkids, kids_cap; /* nkids includes the holes that removed children left (WEIR_NONE) */
    uint32_t holes;
    /* Cursor of weir_vertex_child(): the child at seen_pos, or the first child behind a hole at seen_pos, is number
     * `seen`. */
    uint32_t seen, seen_pos;
    uint32_t row; /* number of row 0; the rows of an inner record are consecutive */
    uint32_t nrows, rows_cap;
    weir_vertex *kids;
    int64_t *cells; /* nrows times the stride of the schema */
};

struct entry { /* element of a map */
    weir_name key, value;
};

struct map {
    struct entry *entries;
    uint32_t count, cap;
};

/* Hash index over the keys of one long map: the last map that was searched twice in a row. */
struct map_index {
    struct weir_map32 places; /* position by number of the key; made at the second search */
    uint32_t pool;            /* WEIR_NONE: no map is indexed */
    int map;
};

struct pool {
    struct map maps[3]; /* by enum weir_map */
    int64_t rank;
    weir_name name;               /* WEIR_NO_NAME: derived */
    uint32_t edges_out, edges_in; /* heads of chains in edges[] */
    uint32_t last_out, last_in;   /* tails of the chains */
    bool used;
};

struct edge {
    weir_vertex source, target; /* source WEIR_NONE: free record */
    uint64_t serial;            /* ascending in the order of addition */
    weir_name type, back;       /* back WEIR_NO_NAME: no reverse type */
    uint32_t subsystem;
    uint32_t next_out, next_in;
    uint32_t prev_out, prev_in;
};

struct aggregates;
struct schedules;
struct jobs;
struct weir_timeline;
struct weir_observer;
struct index;
struct group_index;
struct group_totals;
struct occupancy;
struct node_table;
struct nogoods;
struct weir_rank_numbers;
struct flow_layouts;
struct score_memories;
struct weir_journal;
struct weir_text_save;
struct weir_follower;
struct hierarchies;

/* The type of a name. */
struct type_names {
    uint16_t *type; /* by name; WEIR_NO_TYPE for a name of no type */
    uint32_t n;
};

/* The kind of a description. */
struct kind_index {
    struct weir_map32 numbers; /* by hash of the kind */
    uint32_t last;             /* the kind found last, or WEIR_NONE */
};

/* The words of the relation from parent to child, and from child to parent, + 1; 0: "contains", "in". */
struct containment_words {
    weir_name down, up;
};

/* Allocated elements of each array of a graph. */
struct array_sizes {
    uint32_t types, kinds, vertices, inners, pools, edges, subsystems, roots;
};

/* The first free record of each array, or WEIR_NONE. */
struct free_records {
    uint32_t vertices; /* chained through `pos` */
    uint32_t inners;   /* chained through `schema` */
    uint32_t pools;    /* chained through `edges_out` */
    uint32_t edges;    /* chained through `next_out` */
};

/* UUIDs of vertices (uuid.c): given, or derived from the number of the vertex, the generation, and the graph's UUID. */
struct uuids {
    uint8_t (*list)[16];        /* by vertex, all zero for a derived UUID; NULL before the first given UUID */
    uint32_t cap;               /* elements of `list` */
    struct weir_map32 vertices; /* by hash of the UUID, where given, unless packed */
    bool packed;                /* the table is empty, until a UUID is given */
    bool own;                   /* a given UUID may equal the UUID derived for a later vertex */
    uint8_t graph[16];          /* of the graph: the key of derived UUIDs */
    uint16_t generations;       /* the highest generation of a vertex number that was given back */
};

/* What saves of the graph need (journal.h). */
struct saves {
    struct weir_journal *journal;     /* changes since the last save to a database; NULL before the first */
    struct weir_text_save *text_save; /* the last save as text, or NULL */
    struct weir_follower *followers;  /* further lists of what changed */
    uint64_t revision;                /* count of changes of anything that a save writes */
};

/* Of a view of a hierarchy: the graph that it shows, with equal numbers of vertices as long as the serial of the view
 * is `serial`. A duplicate of a view owns a duplicate of the graph. */
struct viewed {
    weir_graph *graph; /* NULL: the graph is no view */
    uint64_t serial;
    bool owned;
};

/* Records of a graph that folders above graph/ define and keep. The header of a record has a function that returns it
 * ("jobs_in"). */
enum weir_record {
    RECORD_AGGREGATES,
    RECORD_SCHEDULES,
    RECORD_JOBS,
    RECORD_USAGE,
    RECORD_OCCUPANCIES,
    RECORD_INDEXES,
    RECORD_GROUPS,
    RECORD_NODES,
    RECORD_FLOWS,
    RECORD_NOGOODS,
    RECORD_SCORES,
    RECORD_RANKS,
    RECORD_HIERARCHIES,
    WEIR_RECORDS
};

struct weir_graph {
    weir_strtab names;
    struct type *types;
    uint32_t ntypes;
    struct type_names type_by_name;
    struct kind *kinds;
    uint32_t nkinds;
    struct kind_index kind_index;
    struct vertex *vertices;
    uint32_t limit, live; /* vertex numbers given out; live vertices */
    struct inner *inners;
    uint32_t ninners;
    struct pool *pools;
    uint32_t npools;
    struct map_index *map_index; /* never NULL; lookups in a constant graph change the index */
    struct edge *edges;
    uint32_t nedges, live_edges;
    uint64_t edge_serial;  /* serial of the last edge added */
    weir_name *subsystems; /* number 0 is containment */
    uint32_t nsubsystems;
    struct containment_words words;
    weir_vertex *roots; /* roots of containment, and pools added outside of containment; WEIR_NONE in holes */
    uint32_t nroots;
    struct array_sizes cap;
    struct free_records free;
    struct uuids uuids;
    void *records[WEIR_RECORDS]; /* by enum weir_record; NULL: none */
    /* Clock of uses: indexes, nogoods and occupancies drop the record with the least recent use. */
    uint64_t uses;
    int64_t now;                     /* time of the clock */
    int64_t valid_from, valid_until; /* when jobs may use the resources: [valid_from, valid_until) */
    uint64_t serial;                 /* count of changes of the tree and the edges */
    uint64_t state_changes;          /* count of changes of the state of a vertex */
    int64_t units;        /* sum of the sizes of all pools, at most WEIR_UNITS_MAX: no sum of sizes overflows */
    uint32_t unavailable; /* vertices whose own state lets no job in */
    uint32_t detached;    /* vertices taken out of containment (vertex_detached) */
    uint32_t shuffled;    /* vertices with VERTEX_SHUFFLED; 1 more where the tree was built in another order */
    struct saves saves;
    struct viewed viewed;
    const struct weir_observer *observers[WEIR_OBSERVERS];
    uint16_t observed_by[WEIR_EVENTS]; /* by event: bit i is for observers[i] */
    bool building, matching;           /* between begin and end; during a match */
    bool whole_kinds;                  /* some kinds are allocated as a whole only */
};

/* The record of v. O(1) */
static inline struct vertex *vertex_at(const weir_graph *g, weir_vertex v)
{
    return &g->vertices[v];
}

/* The kind of v. O(1) */
static inline const struct kind *kind_of(const weir_graph *g, weir_vertex v)
{
    return &g->kinds[g->vertices[v].kind];
}

/* The nearest vertex of type t at or above v, or WEIR_NONE. O(d) */
static inline weir_vertex vertex_at_or_above(const weir_graph *g, weir_vertex v, weir_type t)
{
    const struct kind *kinds = g->kinds;

    for (const struct vertex *x; v != WEIR_NONE && kinds[(x = vertex_at(g, v))->kind].type != t;)
        v = x->parent;
    return v;
}

/* The inner record of v; NULL for a leaf. */
static inline struct inner *inner_of(const weir_graph *g, weir_vertex v)
{
    uint32_t i = g->vertices[v].inner;
    return i == WEIR_NONE ? NULL : &g->inners[i];
}

/* Whether v was taken out of containment while edges of other subsystems held it: v is no root and no child, and is
 * neither matched nor counted. O(1) */
static inline bool vertex_detached(const weir_graph *g, weir_vertex v)
{
    return g->vertices[v].parent == WEIR_NONE && g->vertices[v].pos == WEIR_NONE;
}

/* Number of vertices on the path from v to the root, both included; 0 for WEIR_NONE. O(d) */
static inline uint32_t vertex_depth(const weir_graph *g, weir_vertex v)
{
    uint32_t depth = 0;

    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        depth++;
    return depth;
}

/* Replaces *a and *b by ancestors of a and b: by siblings, or two roots, or, where one vertex is an ancestor of the
 * second, by two equal vertices. O(d) */
static inline void vertices_part(const weir_graph *g, weir_vertex *a, weir_vertex *b)
{
    uint32_t da = vertex_depth(g, *a), db = vertex_depth(g, *b);

    for (; da > db; da--)
        *a = vertex_at(g, *a)->parent;
    for (; db > da; db--)
        *b = vertex_at(g, *b)->parent;
    while (vertex_at(g, *a)->parent != vertex_at(g, *b)->parent) {
        *a = vertex_at(g, *a)->parent;
        *b = vertex_at(g, *b)->parent;
    }
}

/* The number of siblings before v; of a detached vertex no meaningful number. O(1) when called sibling by
 * sibling. */
uint32_t weir_vertex_place(const weir_graph *g, weir_vertex v);

/* The pool record of v, or NULL. */
static inline struct pool *pool_of(const weir_graph *g, weir_vertex v)
{
    uint32_t i = g->vertices[v].pool;
    return i == WEIR_NONE ? NULL : &g->pools[i];
}

/* Whether v has an edge of a subsystem other than containment. */
static inline bool in_other_subsystem(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && (p->edges_in != WEIR_NONE || p->edges_out != WEIR_NONE);
}

/* The rank of v itself, or WEIR_NO_RANK; weir_vertex_rank() inherits. */
static inline int64_t own_rank(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p ? p->rank : WEIR_NO_RANK;
}

/* Whether a state (enum weir_state) lets jobs in. */
static inline bool state_available(int state)
{
    return state == WEIR_UP || state == WEIR_DEGRADED;
}

/* Whether v is the number of a live vertex. */
/* Returns the graph with the edges of flows: for the view of a hierarchy the graph behind the view, else g. */
static inline weir_graph *weir_graph_edges(const weir_graph *g)
{
    return g->viewed.graph && g->serial == g->viewed.serial ? g->viewed.graph : (weir_graph *)(uintptr_t)g;
}

static inline bool vertex_valid(const weir_graph *g, weir_vertex v)
{
    return v < g->limit && (g->vertices[v].flags & VERTEX_LIVE);
}

/* Number of the type of a name, or WEIR_NO_TYPE. */
weir_type weir_type_find(const weir_graph *g, const char *name);
/* Finds or adds a type. WEIR_NO_TYPE: out of memory, or WEIR_TYPES_MAX types. */
weir_type weir_type_add(weir_graph *g, const char *name, size_t len);
/* The unit of all pools of a type, owned by the graph; "" where pools have several units or none. O(kinds) */
const char *weir_type_unit(const weir_graph *g, weir_type t);
/* The name of a type, owned by the graph. */
static inline const char *type_text(const weir_graph *g, weir_type t)
{
    return weir_strtab_text(&g->names, g->types[t].name);
}

/* Checks a description, and finds or adds the kind of pools of the description. WEIR_EINVAL, WEIR_ELIMIT,
 * WEIR_ENOMEM */
int weir_kind_add(weir_graph *g, const weir_pool_desc *d, uint32_t *out, weir_err *err) WEIR_CHECKED;
/* Reserves exactly n more inner records. */
int weir_inners_reserve(weir_graph *g, uint32_t n) WEIR_CHECKED;
/* WEIR_ELIMIT: `count` more pools of the size would exceed WEIR_UNITS_MAX. */
int weir_units_check(const weir_graph *g, int64_t size, uint32_t count, weir_err *err) WEIR_CHECKED;
/* Reserves `more` children at the end of p's list, or of the roots where p is WEIR_NONE. */
int weir_kids_reserve(weir_graph *g, weir_vertex p, uint32_t more) WEIR_CHECKED;
/* Gives v a name instead of the derived name. WEIR_EINVAL, WEIR_ELIMIT, WEIR_ENOMEM */
int weir_name_set(weir_graph *g, weir_vertex v, const char *name, weir_err *err) WEIR_CHECKED;
/* Finds or makes the pool record of v. NULL: out of memory. */
struct pool *weir_pool_get(weir_graph *g, weir_vertex v);
/* Takes a free pool record. Returns the number, WEIR_NONE where out of memory. */
uint32_t weir_pool_new(weir_graph *g);
/* Frees the pool record of v, if any. v has no edges any more. */
void weir_pool_drop(weir_graph *g, weir_vertex v);
/* Gives v a UUID. WEIR_EINVAL: malformed or zero; WEIR_EEXIST: another pool has the UUID. */
int weir_uuid_set(weir_graph *g, weir_vertex v, const char *text, weir_err *err);
/* As weir_uuid_set(), for a reader, which may change the generation of v instead, if the UUID is derived from that.
 * The reader calls weir_uuid_check() when it has all: until then others may derive the UUID. */
int weir_uuid_restore(weir_graph *g, weir_vertex v, const char *text, weir_err *err);
/* Gives v a UUID in binary form. WEIR_EEXIST, WEIR_ENOMEM */
int weir_uuid_put(weir_graph *g, weir_vertex v, const uint8_t uuid[16], weir_err *err);
/* False where text is malformed or the UUID is zero. */
bool weir_uuid_parse(const char *text, uint8_t out[16]);
/* Whether v was given a UUID, instead of the derived one. */
bool weir_uuid_given(const weir_graph *g, weir_vertex v);
/* The UUID of v, given or derived. */
void weir_uuid_get(const weir_graph *g, weir_vertex v, uint8_t out[16]);
/* The UUID of v as text. */
void weir_uuid_write(const weir_graph *g, weir_vertex v, char out[37]);
/* The vertex with a UUID; WEIR_NONE: none. O(1), O(limit) after a load */
weir_vertex weir_uuid_find(const weir_graph *g, const uint8_t uuid[16]);
/* Makes the table of given UUIDs, which a load leaves out, so that weir_uuid_find() takes O(1). */
int weir_uuid_index(weir_graph *g) WEIR_CHECKED;
/* Gives a new graph its UUID: WEIR_UUID of the environment, or else a random UUID. */
void weir_uuid_begin(weir_graph *g);
/* Changes the generation of a new vertex, not in use yet, until no given UUID equals the derived one. */
void weir_uuid_fresh(weir_graph *g, weir_vertex v);
/* WEIR_EEXIST: a given UUID equals a derived one. For readers, once the vertices are written. O(given UUIDs) */
int weir_uuid_check(weir_graph *g, weir_err *err) WEIR_CHECKED;
/* Drops the table of given UUIDs at the end of a load: the next given UUID makes the table. */
void weir_uuid_pack(weir_graph *g);
/* Removes the given UUID of v, if any. */
void weir_uuid_drop(weir_graph *g, weir_vertex v);
/* Frees the entries of a map. */
void weir_map_clear(struct map *m);
/* Reserves n entries, exactly n where the map has none. */
int weir_map_reserve(struct map *m, uint32_t n) WEIR_CHECKED;
/* Sets an entry without fault. WEIR_ENOMEM; WEIR_ELIMIT: ENTRY_MANY */
int weir_map_set(weir_graph *g, struct pool *p, int map, weir_name key, weir_name value) WEIR_CHECKED;
enum weir_entry_fault { ENTRY_FINE, ENTRY_EMPTY, ENTRY_LONG, ENTRY_MANY };
/* The fault of an entry by the lengths of key and value (enum weir_entry_fault). */
int weir_entry_fault(int map, size_t key_len, size_t value_len);
/* Sets err to the message of a fault and returns the code; WEIR_OK for ENTRY_FINE. */
int weir_entry_fail(int fault, weir_err *err);
struct map_index *weir_map_index_new(void); /* NULL: out of memory */
void weir_map_index_free(struct map_index *x);
/* Adds an edge between two vertices, of a subsystem other than number 0; `back` may be NULL. The caller has checked the
 * arguments. */
int weir_edge_link(weir_graph *g, weir_vertex source, weir_vertex target, uint32_t subsystem, const char *type,
                   const char *back) WEIR_CHECKED;
/* Removes edge i from both chains; the record becomes free. */
void weir_edge_drop(weir_graph *g, uint32_t i);
uint32_t weir_subsystem_find(const weir_graph *g, const char *name); /* WEIR_NONE: unknown */
uint32_t weir_subsystem_add(weir_graph *g, const char *name);        /* finds or adds; WEIR_NONE: out of memory */
/* Gives g the words of containment of another graph. WEIR_ENOMEM: nothing has changed. */
int weir_words_copy(weir_graph *g, const weir_graph *from) WEIR_CHECKED;
/* The word of the relation from a parent to its children. */
const char *weir_word_down(const weir_graph *g);
/* The first edge of a subsystem other than containment that leaves (or enters) v; WEIR_NONE: none. */
uint32_t weir_edge_first(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool out);
/* The edge of the subsystem of edge i after i in the chain that leaves (or enters) the vertex; WEIR_NONE at the
 * end. */
uint32_t weir_edge_next(const weir_graph *g, uint32_t i, bool out);
/* Whether an edge leads both ways: the relation is the same in the opposite direction. An opposite type of its own
 * ("contains", "in") names the same relation, seen from the target, and gives no second direction. */
static inline bool edge_both_ways(const struct edge *e)
{
    return e->back == e->type;
}
/* A loop over the vertices that edges of a subsystem other than containment lead to from v (`out`), or to v from. Edges
 * that go both ways count in either direction. Begun by weir_ends(). */
struct weir_ends {
    const weir_graph *g;
    weir_vertex v;
    uint32_t subsystem, i;
    bool out, turned; /* turned: the chain of edges of the opposite direction is read */
};
struct weir_ends weir_ends(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool out);
/* The next vertex; WEIR_NONE at the end. */
weir_vertex weir_ends_next(struct weir_ends *e);

/* Whether v can be unlinked, jobs not considered: a valid vertex of a graph that can be written. */
int weir_unlink_ready(weir_graph *g, weir_vertex v, weir_err *err) WEIR_CHECKED;
/* Detaches v, which has no children, without a check and without a call of `refuse`; v remains a vertex even without
 * edges. Undoes weir_graph_attach(). */
void weir_vertex_detach(weir_graph *g, weir_vertex v);
/* WEIR_EBUSY: an observer refuses the removal of v. */
int weir_unlink_refused(const weir_graph *g, weir_vertex v, weir_err *err) WEIR_CHECKED;
/* WEIR_EINVAL during a match. */
int weir_graph_writable(const weir_graph *g, weir_err *err);

#endif
