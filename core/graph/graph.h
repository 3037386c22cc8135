/* graph.h - how a graph is laid out in memory. Private to the core.
 *
 *   vertices[]  40 bytes each: what traversal reads (P14). Everything else hangs off by index, WEIR_NONE = none:
 *   kinds[]     type, basename, unit, size, exclusive flag: shared by all pools alike
 *   inners[]    for a vertex with children: its kids, and its rows (aggregates, see rows.h)
 *   pools[]     for a pool with something of its own: name, uuid, rank, properties, tags, extended data, edges
 *   books[]     for a vertex that a job has, or will have: its spans (schedule.h)
 *   jobs[]      who has what (job.h)
 *   indexes[]   for each policy order in use and type: the best candidate below each row (candidate_index.h)
 *   roster      for constraints: the nodes by property, rank and name (node_table.h)
 *   refusals    for searches in vain: the rows below which there is nothing for them (nogood.h)
 *
 * Main invariant: between public calls, outside begin/end, every row equals what its kids contribute, every
 * index names the best candidate of its row, and every book agrees with the jobs. weir_check() verifies it.
 */
#ifndef WEIR_GRAPH_H
#define WEIR_GRAPH_H

#include "base/base.h"
#include "base/strtab.h"
#include "base/map64.h"

typedef uint16_t weir_type;
#define WEIR_NO_TYPE UINT16_MAX
#define WEIR_OBSERVERS 8
#define WEIR_EVENTS 16
#define WEIR_FAN 32 /* siblings under one row */

struct kind {
    int64_t size;
    weir_name basename, unit;
    weir_type type;
    bool exclusive;
    uint32_t count; /* live vertices of it */
};

enum { VERTEX_LIVE = 1 };
enum { TYPE_HAS_KIDS = 1, TYPE_POOLED = 2 }; /* some vertex of the type has, or once had, kids; a size other than 1 */

struct vertex {
    int64_t id; /* WEIR_NO_ID for none */
    uint32_t kind;
    weir_vertex parent;
    uint32_t pos;   /* among the parent's kids; among the roots for a root */
    uint32_t inner; /* WEIR_NONE for a leaf */
    uint32_t pool;
    uint32_t schedule;
    uint16_t generation;
    uint8_t state;
    uint8_t flags;
    uint32_t bit; /* in the calendar of its type, if that has it */
};

struct inner {
    weir_vertex vertex; /* whose; WEIR_NONE in a free record */
    uint32_t schema;    /* which types are below (schema.h); 0: none */
    uint32_t row_map;      /* how row 0 maps into the parent's rows; WEIR_NONE for a root */
    uint32_t nkids, kids_cap; /* nkids counts the holes that removed kids left (WEIR_NONE) */
    uint32_t holes;
    uint32_t seen, seen_pos; /* where weir_vertex_child() goes on: the kid at seen_pos, or the next one behind that hole, is number `seen` */
    uint32_t row; /* number of row 0; the rows of one inner are consecutive */
    uint32_t nrows, rows_cap;
    weir_vertex *kids;
    int64_t *cells; /* nrows times the schema's stride */
};

struct entry { /* of a map */
    weir_name key, value;
};

struct map {
    struct entry *entries;
    uint32_t count, cap;
};

/* Where the keys of one long map stand: that which was looked through last, twice running. */
struct map_index {
    struct weir_map64 places; /* by the number of the key; made at the second look */
    uint32_t pool;             /* WEIR_NONE: of none */
    int map;
};

struct pool {
    struct map maps[3]; /* by enum weir_map */
    int64_t rank;
    weir_name name; /* WEIR_NO_NAME: derived */
    uint32_t edges_out, edges_in; /* heads of chains in edges[] */
    uint32_t last_out, last_in;   /* their tails */
    bool used;
};

struct edge {
    weir_vertex source, target; /* source WEIR_NONE: free */
    uint64_t serial;            /* later edges have higher ones */
    weir_name type, back;       /* back WEIR_NO_NAME: none */
    uint32_t subsystem;
    uint32_t next_out, next_in;
    uint32_t prev_out, prev_in;
};

struct aggregates;     /* schema.h */
struct schedules;          /* schedule_record.h */
struct jobs;           /* job_table.h */
struct weir_timeline;      /* timeline.h */
struct weir_observer;  /* observer.h */
struct index;          /* candidate_index.h */
struct occupancy;       /* occupancy.h */
struct node_table;         /* node_table.h */
struct nogoods;       /* nogood.h */
struct weir_journal;   /* journal.h */
struct weir_text_save; /* journal.h */

struct weir_graph {
    weir_strtab names;
    weir_name *types; /* name of each type */
    uint8_t *type_flags;
    uint32_t ntypes, types_cap, type_flags_cap;
    uint16_t *type_of_name; /* by name, WEIR_NO_TYPE */
    uint32_t type_names_cap;
    struct kind *kinds;
    uint32_t nkinds, kinds_cap;
    uint32_t *kind_slots, nkind_slots;
    uint32_t last_kind;
    struct vertex *vertices;
    uint32_t limit, vertices_cap, live;
    uint32_t free_vertices; /* chain through `pos` */
    struct inner *inners;
    uint32_t ninners, inners_cap, free_inners; /* chain through `schema` */
    struct pool *pools;
    uint32_t npools, pools_cap, free_pools; /* chain through `edges_out` */
    struct map_index *map_index;            /* changes when a map is only read */
    struct edge *edges;
    uint32_t nedges, edges_cap, live_edges, free_edges; /* chain through `next_out` */
    weir_name *subsystems;
    uint32_t nsubsystems, subsystems_cap;
    weir_vertex *roots; /* of containment, and pools outside it */
    uint32_t nroots, roots_cap;
    struct aggregates *aggregates; /* schema.h; never NULL */
    struct schedules *schedules;           /* schedule_record.h; NULL: nobody ever had anything */
    struct jobs *jobs;             /* job_table.h; NULL: there never was a job */
    struct weir_timeline **usage;               /* by type: units that jobs take over time; NULL until a reservation is asked for */
    uint32_t nusage;
    struct occupancy **occupancies;  /* by type, or NULL: which vertices are held over time (occupancy.h) */
    uint32_t noccupancies;
    struct index **indexes;
    uint32_t nindexes, indexes_cap;
    struct node_table *node_table; /* NULL: nobody has asked which nodes there are */
    struct nogoods *nogoods; /* NULL: no search was in vain */
    bool expire; /* a job ends at its end (weir_graph_overrun) */
    int64_t now, next_job;
    uint64_t serial, uses; /* uses: a counter to tell the index used least recently */
    int64_t units;         /* all sizes together: so that no sum of them overflows */
    uint32_t unavailable;  /* vertices whose own state is not available */
    uint8_t (*uuids)[16]; /* by vertex, all zero where derived; NULL while nobody gave one */
    uint32_t uuids_cap, nuuids;
    uint32_t *uuid_slots, nuuid_slots; /* vertex + 1 by UUID; uuid.c */
    uint64_t edge_serial;             /* of the last edge added */
    uint64_t revision;                /* goes up with each change of what a save writes */
    struct weir_journal *journal;     /* since the last save to a database; NULL: there was none */
    struct weir_text_save *text_save; /* the last save as text, or NULL */
    const struct weir_observer *observers[WEIR_OBSERVERS]; /* observer.h */
    uint8_t told[WEIR_EVENTS]; /* by event: a bit for each of them */
    bool building, matching;
    bool whole_kinds; /* some kinds are only given as a whole (A5) */
};

static inline struct vertex *vertex_at(const weir_graph *g, weir_vertex v)
{
    return &g->vertices[v];
}

static inline const struct kind *kind_of(const weir_graph *g, weir_vertex v)
{
    return &g->kinds[g->vertices[v].kind];
}

static inline struct inner *inner_of(const weir_graph *g, weir_vertex v)
{
    uint32_t i = g->vertices[v].inner;
    return i == WEIR_NONE ? NULL : &g->inners[i];
}

/* Vertices from v up to its root, both counted; 0 for WEIR_NONE. O(d) */
static inline uint32_t vertex_depth(const weir_graph *g, weir_vertex v)
{
    uint32_t depth = 0;

    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        depth++;
    return depth;
}

/* Goes up from both to where their ways to the root part: to siblings, or two roots; to the one of them that is above the other. O(d) */
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

static inline struct pool *pool_of(const weir_graph *g, weir_vertex v)
{
    uint32_t i = g->vertices[v].pool;
    return i == WEIR_NONE ? NULL : &g->pools[i];
}

/* Whether v has edges of a subsystem other than containment. */
static inline bool in_other_subsystem(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && (p->edges_in != WEIR_NONE || p->edges_out != WEIR_NONE);
}

static inline int64_t own_rank(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p ? p->rank : WEIR_NO_RANK;
}

static inline bool state_available(int state)
{
    return state == WEIR_UP || state == WEIR_DEGRADED;
}

static inline bool vertex_valid(const weir_graph *g, weir_vertex v)
{
    return v < g->limit && (g->vertices[v].flags & VERTEX_LIVE);
}

/* The type number of a name, or WEIR_NO_TYPE. */
weir_type weir_type_find(const weir_graph *g, const char *name);
weir_type weir_type_add(weir_graph *g, const char *name, size_t len); /* WEIR_NO_TYPE: out of memory or numbers */
static inline const char *type_text(const weir_graph *g, weir_type t)
{
    return weir_strtab_text(&g->names, g->types[t]);
}

/* The number of the kind that a description makes, which is checked. */
int weir_kind_add(weir_graph *g, const weir_pool_desc *d, uint32_t *out, weir_err *err) WEIR_CHECKED;
int weir_inner_make(weir_graph *g, weir_vertex v) WEIR_CHECKED; /* harmless where there is one */
int weir_inners_reserve(weir_graph *g, uint32_t n) WEIR_CHECKED; /* room for n more, and for no others */
/* WEIR_ELIMIT: `count` pools of a size would be too much with all that is there. */
int weir_units_check(const weir_graph *g, int64_t size, uint32_t count, weir_err *err) WEIR_CHECKED;
/* Room for `more` kids behind those that p (WEIR_NONE: the graph, as roots) has. */
int weir_kids_reserve(weir_graph *g, weir_vertex p, uint32_t more) WEIR_CHECKED;
int weir_name_set(weir_graph *g, weir_vertex v, const char *name, weir_err *err) WEIR_CHECKED;
/* The pool record of v, made if there is none; NULL: out of memory. */
struct pool *weir_pool_get(weir_graph *g, weir_vertex v);
uint32_t weir_pool_new(weir_graph *g); /* a record that is nobody's yet: its number; WEIR_NONE: out of memory */
void weir_pool_drop(weir_graph *g, weir_vertex v);
int weir_uuid_set(weir_graph *g, weir_vertex v, const char *text, weir_err *err); /* WEIR_EEXIST: another pool has it */
int weir_uuid_put(weir_graph *g, weir_vertex v, const uint8_t uuid[16], weir_err *err);
bool weir_uuid_parse(const char *text, uint8_t out[16]); /* false: it is none, or all 0 */
/* Names over the vertices whose UUIDs are asked for one after the other, by how many levels. Zero-initialise; it is good as long
 * as the graph does not change. */
enum { WEIR_UUID_NAMES = 8 };
struct weir_uuid_names {
    struct weir_uuid_name {
        weir_vertex of; /* + 1 */
        char text[64];  /* as much of it as counts */
    } levels[WEIR_UUID_NAMES];
};
/* Given or derived; `above` may be NULL. */
void weir_uuid_get(const weir_graph *g, weir_vertex v, struct weir_uuid_names *above, uint8_t out[16]);
void weir_uuid_write(const weir_graph *g, weir_vertex v, struct weir_uuid_names *above, char out[37]);
void weir_uuid_drop(weir_graph *g, weir_vertex v);
void weir_map_clear(struct map *m);
int weir_map_reserve(struct map *m, uint32_t n) WEIR_CHECKED; /* room for n entries, and no more where there was none */
/* Sets an entry that has no fault. WEIR_ENOMEM; WEIR_ELIMIT: ENTRY_MANY */
int weir_map_set(weir_graph *g, struct pool *p, int map, weir_name key, weir_name value) WEIR_CHECKED;
enum weir_entry_fault { ENTRY_FINE, ENTRY_EMPTY, ENTRY_LONG, ENTRY_MANY };
int weir_entry_fault(int map, size_t key_len, size_t value_len);
int weir_entry_fail(int fault, weir_err *err); /* says so; WEIR_OK for ENTRY_FINE */
struct map_index *weir_map_index_new(void); /* NULL: out of memory */
void weir_map_index_free(struct map_index *x);
void weir_edge_drop(weir_graph *g, uint32_t i);
uint32_t weir_subsystem_find(const weir_graph *g, const char *name); /* WEIR_NONE: none of that name */
uint32_t weir_subsystem_add(weir_graph *g, const char *name);        /* or finds it; WEIR_NONE: out of memory */
/* The first edge that leaves (or enters) v in a subsystem other than containment, and the next one; WEIR_NONE: no more. */
uint32_t weir_edge_first(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool out);
uint32_t weir_edge_next(const weir_graph *g, uint32_t i, bool out);

/* Makes room for an unlink of v, which then fails only where something is in use. */
int weir_unlink_ready(weir_graph *g, weir_vertex v, weir_err *err) WEIR_CHECKED;
/* WEIR_EBUSY: an observer refuses that v goes. */
int weir_unlink_refused(const weir_graph *g, weir_vertex v, weir_err *err) WEIR_CHECKED;
/* Refuses changes while a match runs or outside what is live. */
int weir_graph_writable(const weir_graph *g, weir_err *err);

#endif
