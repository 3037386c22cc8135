/* weir.h - the one public header of libweir: a resource engine.
 *
 * A graph holds a machine as vertices (resource pools) and edges, its books (who has what, when), and answers
 * requests with allocations. It implements the Flux resource model (RFC 4) and its scheduling methods.
 *
 * Conventions, for every function here:
 *   status    `int` functions return WEIR_OK (0) or a negative enum weir_status; on failure nothing has changed
 *             and nothing was consumed. They fill `err`, which the caller owns and which may be NULL; the first
 *             writer wins, so clear it (weir_err_clear) before it is used again.
 *   strings   are UTF-8. `const char *` results belong to the graph and live until it next changes, unless said
 *             otherwise. Functions that fill a buffer work like snprintf: they return the length that the whole
 *             text has, and always terminate what they wrote.
 *   time      is int64_t microseconds, on a clock of the caller's choice. WEIR_FOREVER is "no end". Intervals are
 *             [start, end).
 *   amounts   are int64_t, in the unit of the pool. They are never negative.
 *   threads   one graph is used by one thread at a time; different graphs are independent. The one thing that
 *             all threads of a process share is the flag of weir_interrupt().
 *   costs     n: vertices of the graph; d: depth of the containment tree; f: log of the widest fan-out.
 *   free(NULL) is fine everywhere.
 */
#ifndef WEIR_H
#define WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Every function from here to the end of the header is exported from libweir.so; the library hides all others. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define WEIR_VERSION "0.1.0"

/* Types of the sections "sets of ids" and "lists of hosts", which earlier sections use. */
typedef struct weir_idset weir_idset;
typedef struct weir_hostlist weir_hostlist;

/* ---- status and errors ------------------------------------------------------------------------------------------- */

enum weir_status {
    WEIR_OK = 0,
    WEIR_ENOMEM = -1,      /* "nomem": out of memory */
    WEIR_EINVAL = -2,      /* "invalid": an argument or a value makes no sense */
    WEIR_EPARSE = -3,      /* "parse": malformed text; see line and column */
    WEIR_EIO = -4,         /* "io": a file cannot be read or written */
    WEIR_ENOENT = -5,      /* "unknown": no such vertex, job, type, subsystem */
    WEIR_EEXIST = -6,      /* "exists": the id or name is taken */
    WEIR_EBUSY = -7,       /* "busy": it would fit, but not now */
    WEIR_EINFEASIBLE = -8, /* "infeasible": it could never fit on this machine */
    WEIR_EPOLICY = -9,     /* "policy": a policy hook failed */
    WEIR_ELIMIT = -10,     /* "limit": a documented limit was reached */
    WEIR_EREJECTED = -11,  /* "rejected": a policy does not admit the job */
    WEIR_EINTERRUPTED = -12 /* "interrupted": weir_interrupt() was called */
};

/* Where and why something failed. Zero-initialise it. */
typedef struct weir_err {
    int code;         /* enum weir_status; 0 while unused */
    int line, column; /* 1-based; 0 where they mean nothing */
    char source[256]; /* file name, or "" */
    char text[512];   /* what was wrong, where, and what would be right */
} weir_err;

void weir_err_clear(weir_err *err);
/* From true to false, matches, walks, finds and the reading and writing of files fail with WEIR_EINTERRUPTED, and have changed
 * nothing. May be called from a signal handler; for the whole process. */
void weir_interrupt(bool on);
bool weir_interrupted(void);
/* "source:line:column: text", as much of it as is known. */
size_t weir_err_format(const weir_err *err, char *buf, size_t size);
/* The lower-case word of a status, as in the comments above; "error" for others. */
const char *weir_status_name(int code);

/* ---- memory, numbers and files ----------------------------------------------------------------------------------- */

void weir_free(void *p);
/* Bytes of a text that is read whole: of a policy, of a jobspec, and of a machine in any format, an R and a database included. A file
 * with a JSON graph, an R or a database is mostly read as it comes, without a limit. */
#define WEIR_POLICY_MAX  (1 << 20)
#define WEIR_JOBSPEC_MAX (1 << 26)
#define WEIR_MACHINE_MAX (1 << 30)
/* Reads a whole file ("-" is standard input) into *text, NUL-terminated, to be freed with weir_free(). Errors: WEIR_ELIMIT for more
 * than `max` bytes, where `what` ("a jobspec") says what it should have been; WEIR_EIO for a directory, a device that has no end,
 * and what cannot be opened or read. O(len) */
int weir_file_read(const char *path, const char *what, size_t max, char **text, size_t *len, weir_err *err);
/* Numbers as files have them, with a decimal point in every locale of the process: as strtod(), and as printf() with "%.17g". */
double weir_number_read(const char *text, char **end);
int weir_number_write(char *buf, size_t size, double value);
/* Puts a text into a file, whole or not at all: a draft beside it (PATH.new, or PATH.new1, ... where somebody has a file of such a
 * name) is brought to the disk and takes its place. A file keeps its mode. Links are followed, but a link that leads nowhere is
 * replaced; pipes and devices are written to as they are. With WEIR_WRITE_NO_LINK, for a writer that may do more than others who
 * have a say in the directory, a path that is a link, a pipe or a device is refused. WEIR_EIO */
#define WEIR_WRITE_NO_LINK 1u
int weir_file_write(const char *path, const char *text, size_t len, unsigned flags, weir_err *err);
/* Such a file piece by piece: begin, write as often as needed, end. weir_draft_end(d, rc, err) keeps what was written where rc, the
 * caller's own status, is WEIR_OK and no write failed; otherwise the draft goes, and the file that was there is what it was. Returns
 * rc, or what went wrong; frees the draft. */
typedef struct weir_draft weir_draft;
int weir_draft_begin(const char *path, unsigned flags, weir_draft **out, weir_err *err);
int weir_draft_write(weir_draft *d, const char *text, size_t len, weir_err *err);
int weir_draft_end(weir_draft *d, int rc, weir_err *err);

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

typedef struct weir_graph weir_graph;

/* A vertex by index. Indices of removed vertices are used again, with another generation, as long as there is one that was not
 * used: so a generation and an index name one vertex for good. */
#define WEIR_GENERATION_MAX 1023u
typedef uint32_t weir_vertex;
#define WEIR_NONE UINT32_MAX   /* no vertex */
#define WEIR_NO_ID INT64_MIN   /* a pool without a numeric id */
#define WEIR_NO_RANK (-1)
#define WEIR_FOREVER INT64_MAX
#define WEIR_PATH_DEPTH 200    /* the deepest containment tree */
#define WEIR_NAME_MAX 65536    /* bytes of a name, type, key or value */
#define WEIR_TYPES_MAX 4096    /* types of pools in one graph; memory grows with their square */
#define WEIR_ENTRIES_MAX (1 << 20) /* properties of one pool; tags; pieces of extended data */
#define WEIR_UNITS_MAX (INT64_MAX / 4) /* the sizes of all pools together */

weir_graph *weir_graph_new(void); /* NULL: out of memory */
void weir_graph_free(weir_graph *g); /* L9: gives all memory back. O(n) */

/* Brackets many additions: between begin and end the aggregates are not kept, end computes them once. O(n).
 * Without the brackets each addition costs O(d f). They do not nest, and nothing may be matched between them. */
void weir_graph_begin(weir_graph *g);
int weir_graph_end(weir_graph *g, weir_err *err);
/* Makes room for n vertices in all. */
int weir_graph_reserve(weir_graph *g, uint32_t n);

/* What a pool is made from (RFC 4, resource pool data). Zero-initialise, then set type. */
typedef struct weir_pool_desc {
    const char *type;     /* P1: any string */
    const char *basename; /* P3: NULL means the type */
    const char *name;     /* P4, P5: NULL means basename..id; may be a template "node-${rack}" */
    const char *unit;     /* P10: NULL means none */
    const char *uuid;     /* P2: 36 characters; NULL means derived */
    int64_t id;           /* P6: WEIR_NO_ID for none */
    int64_t size;         /* P9: 0 is a pool of nothing */
    int64_t rank;         /* execution target, WEIR_NO_RANK for none */
    bool exclusive;       /* A5: only ever allocated as a whole */
} weir_pool_desc;
#define WEIR_POOL_DESC_INIT {NULL, NULL, NULL, NULL, NULL, WEIR_NO_ID, 1, WEIR_NO_RANK, false}

/* Adds a vertex below `parent` in the containment hierarchy; WEIR_NONE makes a root, or a pool that belongs to
 * other subsystems only. */
int weir_graph_add(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, weir_vertex *out, weir_err *err);
/* Adds `count` pools alike, with ids d->id, d->id + stride, ...; *first is the first of consecutive indices. */
int weir_graph_add_many(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, uint32_t count, int64_t stride,
                        weir_vertex *first, weir_err *err);
/* M5: unlinks v and all below it from containment and reclaims the pools that are then in no subsystem. Refuses
 * with WEIR_EBUSY while a job holds or has reserved something there. O(removed + d f). */
int weir_graph_unlink(weir_graph *g, weir_vertex v, weir_err *err);
/* M5: takes v out of another subsystem: its edges there go. A pool that is then in no subsystem is reclaimed. */
int weir_edge_unlink(weir_graph *g, weir_vertex v, const char *subsystem, weir_err *err);

uint32_t weir_graph_count(const weir_graph *g);          /* live vertices */
uint32_t weir_graph_limit(const weir_graph *g);          /* indices are below this */
uint64_t weir_graph_serial(const weir_graph *g);         /* goes up with each change of structure */
uint64_t weir_graph_revision(const weir_graph *g);       /* goes up with each change of what a save writes: books and data too */
/* The memory of a graph: what its records, names, aggregates and books take, not the room that arrays have for more (at the end
 * of a load and of weir_graph_end() there is little) nor what the allocator needs. O(inner vertices and jobs' books) */
size_t weir_graph_bytes(const weir_graph *g);
bool weir_vertex_live(const weir_graph *g, weir_vertex v);
uint32_t weir_vertex_generation(const weir_graph *g, weir_vertex v); /* 10 bits */
bool weir_vertex_is(const weir_graph *g, weir_vertex v, uint32_t generation); /* live, and of these 10 bits */

/* Verifies every invariant of the graph, its aggregates, its indices and its books, from nothing but the vertices
 * and the jobs. For tests: O(n log n) and more. WEIR_EINVAL names the first that does not hold. */
int weir_check(const weir_graph *g, weir_err *err);

/* ---- pools: base data (P) ---------------------------------------------------------------------------------------- */

enum weir_state { WEIR_UP, WEIR_DOWN, WEIR_DEGRADED, WEIR_FAILING, WEIR_UNKNOWN, WEIR_NULL, WEIR_DRAINING, WEIR_STATES };
/* Only "up" and "degraded" vertices are given to jobs. A state counts for all that is below the vertex. */
const char *weir_state_name(int state);
int weir_state_parse(const char *name); /* a weir_state, or WEIR_ENOENT */

const char *weir_vertex_type(const weir_graph *g, weir_vertex v);
const char *weir_vertex_basename(const weir_graph *g, weir_vertex v);
const char *weir_vertex_unit(const weir_graph *g, weir_vertex v); /* "" for none */
int64_t weir_vertex_id(const weir_graph *g, weir_vertex v);       /* WEIR_NO_ID for none */
int64_t weir_vertex_size(const weir_graph *g, weir_vertex v);
bool weir_vertex_exclusive(const weir_graph *g, weir_vertex v);   /* the A5 flag */
/* The execution target of v or of its nearest ancestor that has one. O(d) */
int64_t weir_vertex_rank(const weir_graph *g, weir_vertex v);
size_t weir_vertex_name(const weir_graph *g, weir_vertex v, char *buf, size_t size);
size_t weir_vertex_path(const weir_graph *g, weir_vertex v, char *buf, size_t size); /* "/cluster0/rack0". O(d) */
void weir_vertex_uuid(const weir_graph *g, weir_vertex v, char out[37]);
int weir_vertex_state(const weir_graph *g, weir_vertex v);
int weir_vertex_set_state(weir_graph *g, weir_vertex v, int state, weir_err *err); /* O(d f) */
int weir_vertex_set_rank(weir_graph *g, weir_vertex v, int64_t rank, weir_err *err);

/* Key to value maps of a pool. A value is never NULL; "" stands for "no value". */
enum weir_map { WEIR_PROPERTIES /* P7 */, WEIR_TAGS /* P8 */, WEIR_EXTENDED /* P12: JSON text */ };
const char *weir_vertex_get(const weir_graph *g, weir_vertex v, int map, const char *key); /* NULL: not there */
int weir_vertex_set(weir_graph *g, weir_vertex v, int map, const char *key, const char *value, weir_err *err);
int weir_vertex_unset(weir_graph *g, weir_vertex v, int map, const char *key); /* WEIR_ENOENT: was not there */
uint32_t weir_vertex_count(const weir_graph *g, weir_vertex v, int map);
bool weir_vertex_entry(const weir_graph *g, weir_vertex v, int map, uint32_t i, const char **key, const char **value);

/* ---- structure: containment, edges, subsystems (G) --------------------------------------------------------------- */

weir_vertex weir_vertex_parent(const weir_graph *g, weir_vertex v);         /* WEIR_NONE for a root */
uint32_t weir_vertex_children(const weir_graph *g, weir_vertex v);          /* how many */
/* In the order they were added. A loop over all of them costs O(children), also where some were removed. */
weir_vertex weir_vertex_child(const weir_graph *g, weir_vertex v, uint32_t i);
/* The nearest of v and its ancestors with that type, or WEIR_NONE. O(d) */
weir_vertex weir_vertex_ancestor(const weir_graph *g, weir_vertex v, const char *type);
bool weir_vertex_within(const weir_graph *g, weir_vertex v, weir_vertex top); /* v is top or below it. O(d) */

/* Edges of subsystems other than containment (G4, G5). `type` names the relation from source to target, `back`
 * (NULL for none) the accompanying opposite one. */
int weir_edge_add(weir_graph *g, weir_vertex source, weir_vertex target, const char *subsystem, const char *type,
                  const char *back, weir_err *err);
typedef struct weir_edge {
    weir_vertex source, target;
    const char *subsystem, *type, *back; /* back may be NULL */
} weir_edge;
uint32_t weir_edge_count(const weir_graph *g);
bool weir_edge_get(const weir_graph *g, uint32_t i, weir_edge *out); /* false: i is not in use */
/* The i-th edge that leaves or enters v in `subsystem` (NULL: any), containment included; false: no more.
 * `out` selects those that leave v. O(edges of v) */
bool weir_vertex_edge(const weir_graph *g, weir_vertex v, const char *subsystem, bool out, uint32_t i, weir_edge *e);

uint32_t weir_subsystem_count(const weir_graph *g); /* number 0 is "containment" */
const char *weir_subsystem_name(const weir_graph *g, uint32_t i);
/* The i-th root of a subsystem: a vertex that edges leave but none enters. WEIR_NONE: no more. */
weir_vertex weir_graph_root(const weir_graph *g, const char *subsystem, uint32_t i);
/* G1: "containment:/cluster0/rack0/node3", or just the path. WEIR_ENOENT names the part that is missing.
 * O(children on the way) */
int weir_graph_lookup(const weir_graph *g, const char *uri, weir_vertex *out, weir_err *err);

/* ---- aggregates -------------------------------------------------------------------------------------------------- */

typedef struct weir_aggregate {
    const char *type;
    int64_t total; /* units in all */
    int64_t free;  /* units that are up, and that no job holds now */
    int64_t idle;  /* units of pools that are up and in or below which no job has anything now */
} weir_aggregate;
/* M9: what is below v (v itself not counted) and v == WEIR_NONE for the whole graph, a row a type, i = 0..;
 * false: no more. Exact after every change; O(1). */
bool weir_graph_aggregate(const weir_graph *g, weir_vertex v, uint32_t i, weir_aggregate *out);
/* Whether v and all above it are up and no job holds one of them as a whole. O(d) */
bool weir_vertex_reachable(const weir_graph *g, weir_vertex v);
/* M13, A12: units of v that are free over all of [t0, t1). O(d + spans of v) */
int64_t weir_vertex_available(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
int64_t weir_vertex_free(const weir_graph *g, weir_vertex v); /* the same now; O(depth) */

/* ---- walks (W) --------------------------------------------------------------------------------------------------- */

enum weir_visit { WEIR_WALK_DONE = 0, WEIR_PREORDER = 1, WEIR_POSTORDER = 2 };

/* A walk is pulled: each call of next returns one visit. It lives on the caller's side and holds no lock: if the
 * graph's structure changes under it, next returns WEIR_EINVAL, and only free may follow. */
typedef struct weir_walk weir_walk;
typedef struct weir_walk_options {
    weir_vertex start;       /* W1; WEIR_NONE: the roots of the subsystem */
    const char *subsystem;   /* NULL: containment */
    unsigned events;         /* WEIR_PREORDER | WEIR_POSTORDER; 0 means preorder */
    bool breadth;            /* breadth-first: preorder events only */
    bool reverse;            /* children last to first */
    bool upward;             /* follow edges against their direction */
    bool leaves;             /* in containment, downward: tell both events of a leaf in one visit, as their sum */
    const char *type;        /* report only vertices of this type; NULL: all */
} weir_walk_options;
weir_walk *weir_walk_new(const weir_graph *g, const weir_walk_options *o, weir_err *err);
/* WEIR_PREORDER, WEIR_POSTORDER (`leaves`: or both) with *v set, WEIR_WALK_DONE at the end, or negative. In a subsystem
 * that is not a tree each vertex is visited once (W2). */
int weir_walk_next(weir_walk *w, weir_vertex *v, weir_err *err);
/* A visit, with what filters read most. */
typedef struct weir_walk_visit {
    weir_vertex vertex;
    uint32_t generation;
    int event;               /* as weir_walk_next returns it */
    const char *type;        /* equal texts are the same one */
    int64_t id, size, free;  /* as weir_vertex_id, _size and _free have them */
} weir_walk_visit;
/* The next visits, at most `max` (1 or more), and none behind one below which the walk may still be told not to descend: so
 * it is the last of them that weir_walk_prune is about. Their number, 0 at the end, or negative. What was read holds while
 * weir_graph_revision stays the same. Cheaper than next for the leaves of a tree: O(depth) for those that stand side by side
 * and O(1) for each. */
int weir_walk_read(weir_walk *w, weir_walk_visit *out, int max, weir_err *err);
/* Reads the vertex of a visit anew; it is still there. O(depth) */
void weir_walk_visit_read(const weir_graph *g, weir_walk_visit *visit);
void weir_walk_prune(weir_walk *w); /* W3: do not descend below the vertex that next gave last (preorder) */
uint32_t weir_walk_depth(const weir_walk *w);
size_t weir_walk_bytes(const weir_walk *w); /* of memory that the walk has now. O(1) */
void weir_walk_free(weir_walk *w);

/* W5: keeps vertices in descending score; among equals the first one added comes first. best = 0: all. */
typedef struct weir_accum weir_accum;
weir_accum *weir_accum_new(size_t best);
int weir_accum_add(weir_accum *a, weir_vertex v, double score); /* WEIR_EINVAL: score is not a number. O(log k) */
size_t weir_accum_count(const weir_accum *a);
/* The i-th best. Sorts first if something was added since. */
weir_vertex weir_accum_get(weir_accum *a, size_t i, double *score);
void weir_accum_free(weir_accum *a);

/* ---- requests (RFC 14, 31, 46) ----------------------------------------------------------------------------------- */

typedef struct weir_request weir_request;

/* Counts of RFC 14 and RFC 45: an integer, a range {min,max,operator,operand}, or a set. */
typedef struct weir_count {
    int64_t min, max; /* max WEIR_FOREVER: no upper bound */
    char op;          /* '+', '*', '^'; 0: an explicit set of values */
    int64_t operand;
    const int64_t *set; /* with op 0: ascending */
    uint32_t nset;
} weir_count;
/* The largest allowed count that is not above n, or -1. */
int64_t weir_count_floor(const weir_count *c, int64_t n);

enum weir_exclusivity { WEIR_EXCLUSIVE_UNSET, WEIR_EXCLUSIVE_NO, WEIR_EXCLUSIVE_YES };

/* One resource of a request. A slot has type "slot" and only groups. Slots of type "or_slot", which RFC 14 does not have, stand
 * side by side with others of that type only, as alternatives: any mix of them serves, as many in all as the last one asks for. */
typedef struct weir_resource weir_resource;
struct weir_resource {
    const char *type, *unit, *label, *id; /* "" where not given */
    weir_count count;
    int exclusive;                        /* as written: enum weir_exclusivity */
    bool slot;                            /* type is "slot" or "or_slot" */
    bool any;                             /* type is "or_slot" */
    bool takes;                           /* is given to the job: in a slot and not exclusive: false, or exclusive: true */
    const weir_resource *with;            /* children */
    uint32_t nwith;
    const weir_resource *parent;          /* NULL at the top */
    uint32_t index;                       /* preorder number in the request */
};

/* Reads a jobspec (YAML or JSON, RFC 14 version 1 and the full grammar) or a shape string (RFC 46), told apart by
 * content. `source` names the text in errors. Limits: depth 32, 4096 resources. */
int weir_request_parse(const char *text, size_t len, const char *source, weir_request **out, weir_err *err);
int weir_request_load(const char *path, weir_request **out, weir_err *err);
void weir_request_free(weir_request *r);
const weir_resource *weir_request_resources(const weir_request *r, uint32_t *n);
uint32_t weir_request_count(const weir_request *r);                       /* resources in all */
int64_t weir_request_duration(const weir_request *r);                     /* microseconds; WEIR_FOREVER for none */
int weir_request_set_duration(weir_request *r, int64_t duration, weir_err *err);
bool weir_request_constrained(const weir_request *r);
/* A string of attributes.system, such as "queue"; NULL where it is not there or is no string. */
const char *weir_request_attribute(const weir_request *r, const char *key);
/* The request as text, to be freed with weir_free; NULL: err says why. What is written reads back as the same request.
 * Formats:
 *   "json"       the canonical jobspec (RFC 14), all of it: attributes and tasks as they were, also keys that weir does not
 *                know; counts in canonical form; one line, keys sorted. What a text without a version left out is filled in:
 *                version 9999, a task for each slot. NULL and "jobspec" are the same.
 *   "yaml"       the same for people
 *   "shape"      a shape string (RFC 46). WEIR_EINVAL where the jobspec says more than its resources, as a duration, and
 *                what that is
 *   "resources"  the shape of the resources, whatever the rest says
 * O(size of the text) */
char *weir_request_format(const weir_request *r, const char *format, weir_err *err);

/* RFC 31 constraint, compiled once. */
typedef struct weir_constraint weir_constraint;
int weir_constraint_parse(const char *json, size_t len, weir_constraint **out, weir_err *err);
bool weir_constraint_match(const weir_constraint *c, const weir_graph *g, weir_vertex v);
void weir_constraint_free(weir_constraint *c);

/* ---- policies ---------------------------------------------------------------------------------------------------- */

#define WEIR_ORDER_KEYS    4
#define WEIR_DESCEND_TYPES 4

/* A placement policy: what to prefer among what fits. Feasibility is the engine's: no hook can double-book, and only
 * `prune` can take candidates away. Hooks may read the graph; they must not change it. A negative return aborts the
 * match with WEIR_EPOLICY. Everything is optional; an all-zero policy takes what it finds first. */
typedef struct weir_policy {
    const char *name;
    const char *label; /* kept with each job, such as a name and a version; NULL: the name */
    void *data; /* given to every hook */
    /* Static preference, smallest keys first, ties by vertex index. `order` lists fields: "id", "index", "size", "rank",
     * "properties.KEY", "TYPE.FIELD" of the ancestor of that type, each with '-' in front for descending.
     * `keys` computes up to WEIR_ORDER_KEYS numbers instead and returns how many; it is called once for each vertex
     * of a requested type, and again after a change. `serial` tells its versions apart: never 0, unique per graph. */
    const char *const *order;
    uint32_t norder;
    int (*keys)(void *data, const weir_graph *g, weir_vertex v, double out[WEIR_ORDER_KEYS]);
    uint64_t serial;
    /* Types that are always taken whole (Fluxion's node-exclusive scheduling). */
    const char *const *exclusive;
    uint32_t nexclusive;
    /* Instead of `order`: depth first, at each level the children first that nobody uses or has reserved, then those with the
     * most free units below, of the first of these types that they have; the last one added among equals. Costs the children of
     * what is visited. At most WEIR_DESCEND_TYPES. "tags.KEY" instead of types: those without that tag first, then those with
     * the greatest number in it. Where there is an `order`, too, it tells what is kept of more than an allowed count. */
    const char *const *descend;
    uint32_t ndescend;
    /* Types, the smallest first, such as "numa", "socket": what one slot holds comes from one vertex of the first of these
     * types of which the node has one that could hold it, were it all free. */
    const char *const *locality;
    uint32_t nlocality;
    /* Preorder: 1 go on, 0 prune this vertex and all below it. */
    int (*prune)(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r);
    /* Postorder, for all candidates that fit at once: fills score[], higher is better, NAN: no candidate. How
     * many calls that took, 0 for n, or negative. */
    int (*evaluate)(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                    double *score);
    /* Chooses at least `min` and at most `max` of n candidates (best first): fills chosen[] with their positions and
     * returns how many. Where it chooses fewer than `min`, the others follow, best first. */
    int64_t (*select)(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, const double *score,
                      size_t n, size_t min, size_t max, uint32_t *chosen);
    /* Instead of `select`, at no calls: candidates under one parent whose ids follow each other are a run; the longest runs come
     * first. Where one is wanted it is the best one. */
    bool runs;
    /* How many candidates `select` and `runs` get at a time where there is no `evaluate`: the first in the order, or twice as many
     * as are wanted where that is more; the next ones only where these do not suffice. 0: all that fit. */
    uint32_t candidates;
} weir_policy;

/* ---- matching (A) ------------------------------------------------------------------------------------------------ */

enum weir_mode {
    WEIR_NOW,      /* allocate at `at`, or fail with WEIR_EBUSY or WEIR_EINFEASIBLE */
    WEIR_RESERVE,  /* now, or at the earliest later time at which it fits */
    WEIR_FEASIBLE, /* could it run on what is here, be it down or busy? nothing is taken */
    WEIR_PREVIEW   /* what WEIR_NOW would take, taking nothing */
};

typedef struct weir_stats {
    uint64_t visited;    /* vertices looked at, groups of siblings included */
    uint64_t pruned;     /* of these, cut by aggregates */
    uint64_t state;      /* ... by state */
    uint64_t constraint; /* ... by the constraint */
    uint64_t busy;       /* ... because a job has them in the window asked for */
    uint64_t policy;     /* ... by the policy's filters */
    uint64_t callbacks;  /* calls of policy hooks */
    uint64_t starts;     /* start times tried (WEIR_RESERVE) */
} weir_stats;

/* What a match looks at, as it happens. Not part of what it decides; costs nothing where nobody listens. */
enum weir_event {
    WEIR_EVENT_VISITED,    /* looked at: a vertex, or a group of siblings below it */
    WEIR_EVENT_PRUNED,     /* cut: what is below it, or it, cannot hold what is needed: type, need, have */
    WEIR_EVENT_STATE,      /* cut by its state */
    WEIR_EVENT_CONSTRAINT, /* cut by the constraint */
    WEIR_EVENT_BUSY,       /* cut because a job has it in the window asked for */
    WEIR_EVENT_POLICY,     /* cut by the policy's prune, or no candidate for its evaluate */
    WEIR_EVENT_SCORED,     /* fits, and evaluate gave a score */
    WEIR_EVENT_CHOSEN,     /* is part of the answer: have is the amount */
    WEIR_EVENTS
};
typedef struct weir_trace {
    int event;         /* enum weir_event */
    weir_vertex vertex; /* WEIR_NONE: the whole graph */
    uint32_t resource; /* preorder number in the request */
    const char *type;  /* WEIR_EVENT_PRUNED: what there is too little of; NULL where that is not known */
    int64_t need, have;
    double score;
} weir_trace;

/* One thing that a job has. An exclusive pick of a vertex implies all below it (A3). */
typedef struct weir_pick {
    weir_vertex vertex;
    uint32_t resource; /* preorder number of the resource in the request that it was taken for */
    int64_t amount;    /* units; 0: shared use */
    bool exclusive;    /* the whole pool and what is below it */
} weir_pick;

#define WEIR_NEXT_JOB_MAX ((INT64_C(1) << 53) - 1) /* the largest integer that all readers of JSON tell from the next one */

typedef struct weir_match_options {
    int mode;                  /* enum weir_mode */
    unsigned reading;          /* enum weir_reading, or-ed */
    int64_t at;                /* start; not before the graph's clock */
    int64_t duration;          /* 0: what the request says */
    bool met;                  /* the caller knows that the machine could meet the request: WEIR_EBUSY is said without making
                                * sure that it is not WEIR_EINFEASIBLE */
    int64_t job;               /* id to use, from 1 to INT64_MAX; 0: the next one that was never given so, nor is in use, at most
                                * WEIR_NEXT_JOB_MAX, after which they begin again with 1 */
    const weir_policy *policy; /* NULL: first found */
    weir_stats *stats;         /* NULL, or added to */
    void (*trace)(void *data, const weir_trace *t); /* NULL, or called for each event; it may not change the graph */
    void *trace_data;
    /* NULL, or set to what serves the request inside vertices that are taken as a whole, such as the cores that it asks for in
     * whole nodes, chosen in the order of the policy. Nothing of it is in a book. *inside is to be freed with weir_free. */
    weir_pick **inside;
    uint32_t *ninside;
} weir_match_options;

enum weir_job_state { WEIR_ALLOCATED, WEIR_RESERVED, WEIR_MATCHED /* a preview: not in the books */ };

/* What a match gave. Allocations of jobs belong to the graph and live until the job changes; a preview belongs to
 * the caller (weir_allocation_free). */
typedef struct weir_allocation {
    int64_t job;
    int64_t start, end;
    int state; /* enum weir_job_state */
    const weir_pick *picks;
    uint32_t npicks;
    uint32_t nslots; /* slots of the request that it serves; 0: not known, as for what was booked by hand */
} weir_allocation;

/* How a request is read:
 *   - A resource is looked for anywhere below the vertex of the resource it stands in; levels left out (racks) are searched
 *     through.
 *   - What is inside a slot, or exclusive, is given to the job: a vertex with others below it as a whole, a pool without in
 *     units, so many of its size (A1). A vertex taken as a whole must be unused, in it and below it; what the request asks
 *     for inside it says how large it has to be.
 *   - Outside of slots a vertex with resources asked for inside it is only passed through; a pool gives units; with
 *     `exclusive: false` or where nothing is asked for inside it, it is shared (A13).
 *   - The tasks of a slot run on one node: what a slot holds of things inside nodes comes from one node, for each slot.
 *   - A resource named like a subsystem (power=2) takes its units on every vertex on the way from where it stands up to the
 *     source of that subsystem (G8).
 *   - Constraints are about vertices of type "node" and "storage_node"; what is taken as a whole has no node in it that they
 *     exclude. After a few nodes that it refuses, a match asks for all that the constraint allows, and opens nothing else: O(runs
 *     of nodes with the properties and ranks that it names, and hosts), besides what is kept for it, made once for a structure in
 *     O(nodes). Not so where there are storage nodes.
 *   - Units of bytes (B, kB or KB, MB ... EB, KiB ... EiB) are converted where all pools of the type have one unit: 2 GB of pools
 *     in MB are 2000. Amounts are rounded up. Other units must be the same as the pool's, where both have one.
 *   - or_slots are placed below one vertex after the other, right below which all stands that one of them holds: the mix that
 *     leaves room for the most of them there, of the ones named first as many as that allows.
 *   - Of a count that may vary, the largest allowed that fits is taken.
 *
 * Finds resources for a request and, but for WEIR_FEASIBLE and WEIR_PREVIEW, books them under a job id, as a whole
 * or not at all (A6). *out is NULL for WEIR_FEASIBLE. A node with an exclusive pick costs its ancestors, never its
 * cores. Cost: O(k d f) for k picks where aggregates and order decide; with `evaluate`, each candidate that fits. Where the parts of
 * a request are there, but not together, the first match for it looks at all vertices of which each part by itself could be had, once
 * or twice each, and at what is above them (free cores here, free gpus there: all sockets, nodes and racks that have some of both); what it
 * refused is kept (4 bytes a row of the aggregates, and 4 for each such request, of which 32 are), so that later ones look at what
 * has changed since. */
int weir_match(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
               weir_err *err);
void weir_allocation_free(const weir_allocation *a); /* previews only */

/* A bound on WEIR_RESERVE, from what all jobs together have over time of each type: no start from o->at on before *start is
 * possible, wherever reservations stood; WEIR_FOREVER: none is. What o->job has, where there is such a job, counts as free; of the
 * other options only the duration matters. O(types log jobs + what that job has), and more where there are many starts that
 * do for one type and not for another. */
int weir_soonest(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start, weir_err *err);

/* ---- jobs (A) ---------------------------------------------------------------------------------------------------- */

/* A10: gives everything back. WEIR_ENOENT: no such job. O(picks d f) */
int weir_release(weir_graph *g, int64_t job, weir_err *err);
/* The job's allocation, or NULL. O(1) */
const weir_allocation *weir_job_get(const weir_graph *g, int64_t job);
/* The label of the policy that placed it (weir_policy); "" where none did; NULL: no such job. */
const char *weir_job_policy(const weir_graph *g, int64_t job);
uint32_t weir_job_count(const weir_graph *g);
const weir_allocation *weir_job_at(const weir_graph *g, uint32_t i); /* i < count, in no particular order */

/* What a job has, taken out of the books to see what could be without it, and put back as it was, times, units, label and all. The
 * job is gone meanwhile; the record is the caller's. O(picks d f)
 * WEIR_ENOENT: there is no such job. */
typedef struct weir_lifted weir_lifted;
int weir_job_lift(weir_graph *g, int64_t job, weir_lifted **out, weir_err *err);
/* Puts it back, ending at `end` (0: as it was), and frees the record; on failure it is the caller's still. WEIR_EBUSY: something is
 * in use by now; WEIR_EEXIST: so is the id. */
int weir_job_put(weir_graph *g, weir_lifted *x, int64_t end, weir_err *err);
void weir_lifted_free(weir_lifted *x);

/* A9: what a request finds more, for a job that is there, from now (or its start) to its end, as a whole or not at all. */
int weir_job_grow(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                  const weir_allocation **out, weir_err *err);
/* A9: gives back what the job has at and below the vertices of a list, as a whole or not at all. Where the job has an
 * ancestor of one of them as a whole, it keeps the rest of that. Units of other subsystems go with the vertex that they
 * were taken for, when nothing of that is left. A job that has nothing left is released.
 * WEIR_ENOENT names a vertex at and below which it has nothing. O(n picks d) for the picks of the job */
int weir_job_shrink(weir_graph *g, int64_t job, const weir_vertex *list, uint32_t n, weir_err *err);
/* M5: takes v away from those n jobs, which are all that have something at, below or above it, and out of the graph: all of
 * that, or nothing. O(what they have) */
int weir_graph_unlink_forced(weir_graph *g, weir_vertex v, const int64_t *jobs, uint32_t n, weir_err *err);

/* M14, M15, A8: books `amount` units of v for a job over [start, end) without a match; amount == size is exclusive.
 * An allocation of that job on v over the same time grows. */
int weir_vertex_allocate(weir_graph *g, weir_vertex v, int64_t job, int64_t amount, int64_t start, int64_t end,
                         weir_err *err);
/* Frees `amount` units (0: all) that the job has on v. */
int weir_vertex_release(weir_graph *g, weir_vertex v, int64_t job, int64_t amount, weir_err *err);
/* A11: the i-th job with something on v itself. False: no more. */
typedef struct weir_use {
    int64_t job, start, end, amount;
    bool exclusive;
} weir_use;
bool weir_vertex_use(const weir_graph *g, weir_vertex v, uint32_t i, weir_use *out);

/* A4: the jobs that have, or will have, something at or below v: what the shared list of an ancestor holds. Ascending ids,
 * to be freed with weir_free; NULL when there is none. O(vertices in use below) */
int weir_vertex_jobs(const weir_graph *g, weir_vertex v, int64_t **jobs, uint32_t *n, weir_err *err);

/* ---- the clock --------------------------------------------------------------------------------------------------- */

/* The clock: never goes back. Reservations whose start is reached become allocations, in the order of their starts and ids, as far
 * as no job past its end has what they need.
 *
 * WEIR_OVERRUN_HOLD, unless another rule is set: a job keeps what it has until it is released, also past its end. A reservation whose
 * start is reached while what it needs is in use is held back: it stays reserved, with the same vertices and for as long, and
 * starts a microsecond after the clock, as a new reservation would. Each advance holds it back again until what it needs is
 * released; the next advance beyond that microsecond begins it. Reservations behind it that it would overlap, on what cannot
 * be had by both, are put off likewise, each until those before it end by agreed times; the rest stay where they are.
 * WEIR_OVERRUN_EXPIRE: a job is released when the clock reaches its end, before what starts then begins.
 *
 * The rule is no part of what is saved. Of a jump of the clock all is done in the order of time. O(log jobs + what the jobs that begin
 * or end have); for those that are put off, besides, what others have of their vertices. On failure nothing has changed. */
enum weir_overrun { WEIR_OVERRUN_HOLD, WEIR_OVERRUN_EXPIRE };
int64_t weir_graph_now(const weir_graph *g);
int weir_graph_advance(weir_graph *g, int64_t now, weir_err *err);
void weir_graph_overrun(weir_graph *g, enum weir_overrun rule); /* O(jobs log jobs) where it is another one */
enum weir_overrun weir_graph_overrun_rule(const weir_graph *g);
/* What the last advance did, in order. A reservation that is put off is told the first time only. Valid until the next advance. */
enum weir_clock_change { WEIR_CLOCK_START, WEIR_CLOCK_HOLD, WEIR_CLOCK_EXPIRE };
typedef struct weir_clock_event {
    int64_t job;
    int64_t time; /* its start; for WEIR_CLOCK_EXPIRE its end */
    int kind;
} weir_clock_event;
const weir_clock_event *weir_graph_events(const weir_graph *g, uint32_t *n);
/* Sets the clock back, of a graph without jobs: for a clock that went by a wrong one. WEIR_EBUSY: there are jobs, whose times go by it. */
int weir_graph_rewind(weir_graph *g, int64_t now, weir_err *err);

/* ---- explanations ------------------------------------------------------------------------------------------------ */

/* Why a request does not fit, exactly: what is told was tried out by matches on a copy.
 *   infeasible  WEIR_FEASIBLE says so: not on this machine under this policy, be it all up and empty. Where it is the policy's
 *               prune that takes too much away, that is told as a way, WEIR_BY_POLICY
 *   busy        it fits once some jobs have ended
 *   blocked     WEIR_FEASIBLE says yes, but that jobs end is not enough: something is down, or the policy leaves out what is up,
 *               by its prune or by evaluate, which WEIR_FEASIBLE does not ask */
enum weir_verdict { WEIR_FITS, WEIR_BUSY, WEIR_BLOCKED, WEIR_INFEASIBLE, WEIR_VERDICTS };
enum weir_obstacle_kind { WEIR_BY_POLICY, WEIR_BY_CONSTRAINT, WEIR_BY_STATE, WEIR_BY_JOB, WEIR_OBSTACLES };

typedef struct weir_obstacle {
    int kind;           /* enum weir_obstacle_kind */
    int64_t job, end;   /* WEIR_BY_JOB */
    weir_vertex vertex; /* WEIR_BY_STATE: what is not up */
    const char *text;   /* WEIR_BY_CONSTRAINT: a part of the constraint, as JSON; WEIR_BY_POLICY: "prune", "evaluate",
                         * "exclusive", "locality" */
} weir_obstacle;

/* Obstacles that, all of them gone, let the request fit; without any single one of them it would not (unless `cut`). */
typedef struct weir_way {
    const weir_obstacle *list;
    uint32_t n;
    bool cut; /* WEIR_EXPLAIN_TRIES did not suffice: there may be more in it than is needed */
} weir_way;

/* Need against have, for the smallest part of the request that does not fit by itself (nothing of it can be left out, and no
 * level or number in it). */
typedef struct weir_shortage {
    const char *part;   /* the part: its resources, as JSON */
    const char *type;   /* what there is too little of; NULL: nothing by itself, no single vertex has all of the part */
    const char *unit;   /* "" for none */
    int64_t need;       /* units of `type`, or (slots) how often */
    int64_t have;       /* the most that fits, or (units of slots) that is free below the best vertex of `level` */
    int64_t total;      /* units of `type` below `best`, free or not; below all */
    int64_t slots, fits; /* slots of the part that are needed, and that fit; 0 where it has none, or just one */
    const char *level;  /* need and have are those of one vertex of this type; NULL: of all of the graph */
    weir_vertex best;   /* the one of them that has most; WEIR_NONE: none */
    bool ideal;         /* have counts everything, be it down or in use (infeasible); else what is up and free */
    bool constrained;   /* the constraint is part of it: only nodes that it admits count */
    bool policy;        /* ... or the policy's filters */
} weir_shortage;

enum weir_cause_kind { WEIR_CAUSE_CONSTRAINT, WEIR_CAUSE_SMALL /* type: it has too little in all */, WEIR_CAUSE_STATE,
                       WEIR_CAUSE_POLICY, WEIR_CAUSE_EXCLUSIVITY /* used by jobs */, WEIR_CAUSE_TIME /* ... later, before
                       the request would end */, WEIR_CAUSE_AGGREGATE /* type: too little is free */, WEIR_CAUSES };
typedef struct weir_cause {
    int by;           /* enum weir_cause_kind */
    const char *type; /* WEIR_CAUSE_SMALL, WEIR_CAUSE_AGGREGATE */
    uint64_t count;   /* vertices */
} weir_cause;

/* What became of all vertices of the type of one resource of the request: each counts once, under the first cause in the order
 * of weir_cause_kind, or may serve as far as state, books and aggregates tell. */
typedef struct weir_level {
    const char *type;
    uint32_t resource; /* preorder number in the request */
    int64_t need;      /* for each vertex (or slot) that it stands in */
    uint64_t visited, left; /* vertices of the type, and those without a cause */
    const weir_cause *causes; /* most first */
    uint32_t ncauses;
} weir_level;

typedef struct weir_explanation {
    int verdict;       /* enum weir_verdict */
    int64_t start;     /* the earliest one; WEIR_FOREVER: none in sight (always so, where not WEIR_FITS or WEIR_BUSY) */
    const weir_pick *picks; /* what it gets then */
    uint32_t npicks;
    weir_way after;    /* WEIR_BUSY: the jobs that must end before `start` */
    const weir_way *ways; /* what would have to go: one kind of obstacle if that will do, jobs last. None: only a larger machine */
    uint32_t nways;
    const weir_shortage *shortage; /* NULL: it fits, or no part is short by itself, or there are alternatives (or_slots) */
    const weir_level *levels;
    uint32_t nlevels;
    weir_vertex where; /* what it is about: that of the options, or the nearest one above it of a type that is asked for */
    weir_stats stats;  /* of the match that did not fit */
    uint32_t tries;    /* matches it took to tell all that */
} weir_explanation;

#define WEIR_EXPLAIN_TRIES  4000 /* matches for one explanation */
#define WEIR_EXPLAIN_LEVELS 32   /* resources of a request that are looked at level by level */

typedef struct weir_explain_options {
    int64_t at;                /* start; not before the graph's clock */
    const weir_policy *policy; /* NULL: first found */
    weir_vertex where;         /* only about this vertex: does it serve the resource of its type, or, for types that the request
                                * does not name, is there room for the request below it; WEIR_NONE: anywhere */
    /* NULL, or called around each match, where hooks need a frame: it calls use(use_data, policy) with the policy of this
     * match, and returns what that returned. */
    int (*frame)(void *data, const weir_request *r, int (*use)(void *use_data, const weir_policy *p), void *use_data,
                 weir_err *err);
    void *data;
    unsigned reading;          /* as for weir_match */
} weir_explain_options;
#define WEIR_EXPLAIN_OPTIONS_INIT {0, NULL, WEIR_NONE, NULL, NULL, 0}

/* Explains what WEIR_NOW would say of a request, and when it can start. `copy` is a duplicate made for this (weir_graph_dup): its
 * books and states change meanwhile; all that is left to do with it afterwards is weir_graph_free. Vertices are those of the
 * original. WEIR_ELIMIT: a match gave up. Cost: at most WEIR_EXPLAIN_TRIES matches, one pass over the vertices for each level,
 * and what weir_match costs for the earliest start; n memory. *out is to be freed with weir_explanation_free. */
int weir_explain(weir_graph *copy, const weir_request *r, const weir_explain_options *o, weir_explanation **out, weir_err *err);
void weir_explanation_free(weir_explanation *x);

/* ---- find (M10, M12) --------------------------------------------------------------------------------------------- */

/* A condition on pools, compiled once: "type=node and state=up and not tag=maintenance and size>=64 and
 * (property=bigmem or name=n[1-16])".
 *   fields     type name basename id uuid size unit state rank path free idle allocated exclusive leaf
 *              property=KEY tag=KEY data=KEY (is it there), property.KEY tag.KEY data.KEY (its value), job=ID
 *   operators  = != < <= > >=, and, or, not, parentheses
 *   values     words (type a,b; name n[1-16] or with * and ?; id and rank as idsets), numbers, "quoted" texts
 * Limits: 64 KB, 64 parentheses deep. An out of memory while matching reads as false. */
typedef struct weir_query weir_query;
int weir_query_parse(const char *text, size_t len, weir_query **out, weir_err *err);
bool weir_query_match(const weir_query *q, const weir_graph *g, weir_vertex v);
void weir_query_free(weir_query *q);
/* All matches at or below `start` (WEIR_NONE: anywhere), in preorder. *out is to be freed with weir_free, and may be
 * NULL when there is none. O(n), less where
 * a type or a path in the condition tells where not to look. */
int weir_find(const weir_graph *g, const weir_query *q, weir_vertex start, weir_vertex **out, uint32_t *n, weir_err *err);

/* ---- copies (M1 to M4, M12, G10) --------------------------------------------------------------------------------- */

/* M3: the whole graph, books included; vertices keep their indices. O(n) */
int weir_graph_dup(const weir_graph *g, weir_graph **out, weir_err *err);
/* M2: what is below v and available now, with v's ancestors; sizes become what is free, nothing is allocated. */
int weir_graph_copy(const weir_graph *g, weir_vertex v, weir_graph **out, weir_err *err);
/* M12, M1: the vertices of a list, all below them and all their ancestors, and the edges between these, as a graph of
 * their own without books. */
int weir_graph_extract(const weir_graph *g, const weir_vertex *list, uint32_t n, weir_graph **out, weir_err *err);
/* M4: adds what `other` has and g has not. `uri` names the vertex of g that the root of other is: it must be of the same
 * type; NULL: the vertex with the path of that root, or a new root. Vertices are the same when their paths are; where the
 * base data of such a pair differ, nothing is merged and WEIR_EEXIST says where. */
int weir_graph_merge(weir_graph *g, const weir_graph *other, const char *uri, weir_err *err);
/* Whether two graphs have the same vertices (base and extended data), order of children, edges, and, with `books`, jobs.
 * WEIR_EINVAL names the first difference. */
int weir_graph_compare(const weir_graph *a, const weir_graph *b, bool books, weir_err *err);
/* G10: a coarse view: the vertices of the types listed in `keep` (and the roots) stay; below each of them, everything else
 * becomes one pool a type and unit, whose size is the sum. *map, to be freed with weir_free, holds for each vertex of g the
 * vertex of the view that stands for it (WEIR_NONE: none). Books are not copied: what jobs have counts as not there. */
int weir_graph_coarsen(const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_graph **out, weir_vertex **map,
                       weir_err *err);

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* Reads a machine into a new graph. Formats: "grug" (GraphML recipes), "jgf" (JSON Graph Format), "rv1" (RFC 20),
 * "hwloc" (XML; "hwloc:TYPES" chooses what of it, such as "hwloc:node,socket,L3cache,core"), "synthetic" ("cluster:1
 * rack:4 node:16 ..."), "sqlite" (with the books); NULL: told by content.
 * Files with a JSON graph are read as they come, in memory for the graph and not for the text. */
int weir_graph_parse(const char *text, size_t len, const char *source, const char *format, weir_graph **out,
                     weir_err *err);
int weir_graph_load(const char *path, const char *format, weir_graph **out, weir_err *err);
/* L2: this machine, by hwloc. */
int weir_graph_discover(weir_graph **out, weir_err *err);
/* The format that weir_graph_parse would take the text for; NULL: none. */
const char *weir_format_guess(const char *text, size_t len);

/* Writers. The result is to be freed with weir_free; NULL: err says why.
 *   for allocations      "rv1", "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand", "tree"
 *   for graphs           "jgf", "rv1", "rv1_nosched", "rlite", "tree", "dot", "svg", "csv"
 * For programs: rv1 (RFC 20), jgf (JSON Graph Format; what weir_graph_parse makes of it is the same graph without its
 * books). In a shorthand, what lies below a vertex that is taken as a whole is left out, as Fluxion does it; "writer" then
 * says so. For people:
 *   tree  indented lines
 *   dot   Graphviz's language: a box for a vertex, or for siblings that are alike ("core[0-39] x40"); states and use as
 *         fills, other subsystems as coloured arrows. Where it would be more than about 400 boxes, siblings whose subtrees
 *         are alike share theirs too, and what lies deepest is summed up. `all` turns this off.
 *   svg   a picture of who has what now: blocks of cells in the order of containment. As much detail as some thousand cells
 *         show: single cores, whole nodes with the shares that jobs have, racks with the part in use. At most 2 MB.
 *   csv   a table (RFC 4180 quoting, lines end in LF), a row a vertex, in preorder: path,type,basename,id,name,size,unit,state,
 *         rank,free,allocated,jobs,properties,tags,exclusive,data. Empty: there is none. `state` is the vertex's own; `free`
 *         counts what is above, too. `jobs` has or will have something at, below, or all above ("1-3,7"). properties and tags
 *         are "key=value;key", with '\' in front of ';', '=' and '\' in them; data is a JSON object.
 * O(n) but for svg, which costs the vertices in use, and n where some are not up or colours stand for what vertices have. */
char *weir_allocation_format(const weir_graph *g, const weir_allocation *a, const char *format, weir_err *err);
char *weir_graph_format(const weir_graph *g, const char *format, weir_err *err);

/* What the JSON graph of an allocation (jgf, jgf_shorthand, or an R that has one), by weir or Fluxion, says of g: the
 * vertices that it names, found by their paths (and ranks, where both have them), and what it takes of each. An exclusive
 * one is a whole, and stands for all below it, whether that is in the text or not; a `size` below the pool's is so many
 * units; what only leads to others is left out; anything else is a pick of 0 units, shared. `resource` is 0. *picks, in the
 * order of the text, is to be freed with weir_free; weir_vertex_allocate books them. WEIR_ENOENT names a vertex that g has
 * not. O(n d) for n vertices in the text that come in the order of g; children of their parents besides for each that does
 * not. */
int weir_graph_resolve(const weir_graph *g, const char *text, size_t len, const char *source, weir_pick **picks,
                       uint32_t *n, weir_err *err);

/* What a graph is written with. WEIR_EINVAL: a format that cannot have an option gets it. */
typedef struct weir_format_options {
    weir_vertex start; /* dot, svg, csv: only what is at and below it; WEIR_NONE: everything */
    const char *by;    /* svg: what colours stand for: "job" (NULL means it), "state", "type", "property.KEY", "tag.KEY" */
    uint32_t width;    /* svg: pixels, WEIR_WIDTH_MIN to WEIR_WIDTH_MAX; 0: 1200 at most */
    bool all;          /* dot: a box for every vertex, however many there are */
} weir_format_options;
#define WEIR_FORMAT_OPTIONS_INIT {WEIR_NONE, NULL, 0, false}
#define WEIR_WIDTH_MIN 320
#define WEIR_WIDTH_MAX 8000
char *weir_graph_format_with(const weir_graph *g, const char *format, const weir_format_options *o, weir_err *err);

/* Takes the next piece of a text. Negative: stop; the writing then fails with WEIR_EIO. */
typedef int (*weir_sink)(void *data, const char *text, size_t len);
/* The same text in pieces; csv is made piece by piece, so that a large machine takes no memory. o may be NULL. */
int weir_graph_write(const weir_graph *g, const char *format, const weir_format_options *o, weir_sink sink, void *data,
                     weir_err *err);
/* weir_allocation_format() in pieces; a graph (jgf, rv1) is handed over as it is made. */
int weir_allocation_write(const weir_graph *g, const weir_allocation *a, const char *format, weir_sink sink, void *data,
                          weir_err *err);

/* What a text says as JSON, to be freed with weir_free; NULL: err says why. Formats: "yaml", "json"; "grug", a recipe as
 * {nodes, edges} with all their fields, edges having the positions `from` and `to` besides; "hwloc", the objects of an
 * XML as {type, index, name, size, device, infos, children}. Limits are those of the readers. */
char *weir_text_to_json(const char *text, size_t len, const char *source, const char *format, weir_err *err);

/* ---- stores ------------------------------------------------------------------------------------------------------ */

/* L6, L7: into a file. It is what it was before or what was saved, whatever happens on the way, a kill included. Formats:
 * "sqlite", and those of graphs above; NULL: "sqlite" where the name ends in .db, .sqlite or .sqlite3, else "jgf".
 *
 * sqlite: the whole graph with its books, in one transaction, in WAL mode; its schema is in each file, with comments
 * (`sqlite3 machine.db .schema`). Vertices keep their numbers, jobs their ids, times, slots and the label of their policy; a
 * graph that is loaded gives the same answers. For people there are the views vertex (a row a vertex), path, jobs (in
 * seconds), job_nodes and node_free, beside the tables property, tag, data, state and pick:
 *   SELECT name FROM node_free
 *   SELECT job, state, starts, policy, name FROM jobs JOIN job_nodes USING (job)
 *   SELECT path, value FROM tag JOIN path USING (vertex) WHERE key = 'owner'
 * Whatever graph the file held is replaced. WEIR_EEXIST: the file is something else, or has another schema. WEIR_EBUSY:
 * another process was writing to it for 5 seconds. WEIR_ELIMIT: removed vertices have left more than 2^20 empty places, and
 * 16 for each vertex, among the children of others.
 *
 * L8: with WEIR_SAVE_CHANGED only what changed since the last save of this graph, or since it was loaded; everything, where
 * that was another file. WEIR_EEXIST: another process has saved to this file since. After the first save to a database (or
 * load) changes are noted, at 8 bytes each, up to 65536 vertices, edges and jobs; with more of a sort all of it is
 * written again. A text has no parts that could be replaced: it is written whole, but not at all where nothing has changed
 * since the last save as text, to this file; weir_graph_changed() and weir_graph_extract() give the part that changed. */
#define WEIR_SAVE_CHANGED 1u
int weir_graph_save(weir_graph *g, const char *path, const char *format, unsigned flags, weir_err *err);
/* L8: the vertices added or changed (but in what jobs have) since the last save to a database, or load from one; all, where
 * there was none, or too many changed. Ascending; to be freed with weir_free. O(changes log changes) */
int weir_graph_changed(const weir_graph *g, weir_vertex **list, uint32_t *n, weir_err *err);

/* L3, L5, L8: a graph with its books as texts under keys, for stores that keep small values. Storing the pieces of a change over
 * those of the last one gives those of the whole graph.
 *   meta         the clock, the id of the next job, the stamp of the save, names of subsystems
 *   kinds/K/I    what pools that are alike have in common, from kind K on
 *   block/B/I    vertices 256 B to 256 B + 255: the tree, ids, ranks, names, UUIDs, states, properties, tags
 *   data/V/I     extended data of vertex V, a piece each
 *   edges/B/I    edges 256 B to 256 B + 255 of other subsystems
 *   jobs/J/I     job J: its times, and what it has
 *   jobs/J/R     the same as an R (RFC 20, no scheduling) for others to read, as it was when the job last changed; a job without
 *                ranks has none
 * I counts from 0; a text goes on in the next one from about 256 KB on. But for R a text is a JSON list of rows, ["table", value,
 * ...], of the tables that a database has (see weir_graph_save). A list may be used for one graph only. */
typedef struct weir_pieces weir_pieces;

/* What changed since the save with that stamp, or since the load of it; everything where the graph does not know what did (NULL,
 * or another stamp). O(changes), and the blocks that they are in; edges, where one changed. */
int weir_graph_pieces(const weir_graph *g, const char *stamp, weir_pieces **out, weir_err *err);
/* They are stored: changes of the graph are noted from here on. WEIR_EINVAL: it has changed since they were made. */
int weir_pieces_stored(weir_pieces *p, weir_graph *g, weir_err *err);
/* A list to be filled with what a store has, and the graph of it. What makes no sense is WEIR_EPARSE, with key and row. */
weir_pieces *weir_pieces_new(void); /* NULL: out of memory */
int weir_pieces_put(weir_pieces *p, const char *key, const char *text, size_t len, weir_err *err);
int weir_pieces_graph(const weir_pieces *p, weir_graph **out, weir_err *err);
void weir_pieces_free(weir_pieces *p);
/* The i-th piece; false: no more. *text is NULL for a key that ends in '/': of what is stored below it only what comes in this
 * list is still there. Both live as long as the list. */
bool weir_pieces_at(const weir_pieces *p, uint32_t i, const char **key, const char **text, size_t *len);
const char *weir_pieces_stamp(const weir_pieces *p); /* of the save that they make */

/* ---- resource sets (RFC 20) -------------------------------------------------------------------------------------- */

/* R version 1 as data: ranks, their hosts, the ids that each has of core, gpu and other types, properties, times, slots; and
 * what is kept as it came: scheduling, attributes, keys that RFC 20 does not know. Ranks with the same children cost the same
 * as one of them. Sets that were made from one another share memory: one thread at a time uses them.
 * Limits: WEIR_RSET_RANKS; WEIR_RSET_TYPES of children on a rank. r: ranges of ranks and ids of the sets. */
typedef struct weir_rset weir_rset;
#define WEIR_RSET_RANKS (1u << 22)
#define WEIR_RSET_TYPES 256

weir_rset *weir_rset_new(void); /* without ranks. NULL: out of memory */
void weir_rset_free(weir_rset *r);
int weir_rset_copy(const weir_rset *r, weir_rset **out, weir_err *err);
/* R1: reads an R. Where it has only `scheduling`, R_lite follows from the graph in it. Errors name the key; WEIR_EINVAL: among
 * others a rank that comes twice, hosts that are not as many as the ranks (R3), a property with a character that RFC 20
 * reserves, or on a rank that is not there (R4), an expiration that is not after the start (R5). O(len) */
int weir_rset_parse(const char *text, size_t len, const char *source, weir_rset **out, weir_err *err);
int weir_rset_load(const char *path, weir_rset **out, weir_err *err); /* "-": standard input */
/* Whether it is all that RFC 20 asks for, which reading does not: a nodelist, ranks, cores on each of them, a graph in
 * scheduling that can be read and has what R_lite names. WEIR_EINVAL names the key. */
int weir_rset_validate(const weir_rset *r, weir_err *err);
/* "rv1", "rv1_nosched" (without scheduling), "rlite" (the array R_lite), "rlist" ("rank[0-1]/core[0-3],gpu0", for people). One
 * order of keys, so equal sets are equal texts. To be freed with weir_free; NULL: err says why. */
char *weir_rset_format(const weir_rset *r, const char *format, weir_err *err);
/* The JSON text of something that is kept as it came: "scheduling" (what of it belongs to the set), "attributes" or another
 * key of the document, "execution.KEY". To be freed with weir_free. NULL: err says why; WEIR_ENOENT: it is not there. */
char *weir_rset_get(const weir_rset *r, const char *key, weir_err *err);
const char *weir_rset_writer(const weir_rset *r); /* who wrote its scheduling: "fluxion" where it does not say; NULL: none */

/* What belongs to the set lives as long as it does. */
const weir_idset *weir_rset_ranks(const weir_rset *r);
/* The hosts in the order of the ranks, a new list. WEIR_ENOENT: the set has no nodelist. *out is NULL without ranks. */
int weir_rset_hosts(const weir_rset *r, weir_hostlist **out, weir_err *err);
uint64_t weir_rset_count(const weir_rset *r, const char *type); /* ids of a type; NULL: ranks */
/* The ids of a type on a rank; NULL: none. O(entries log r) */
const weir_idset *weir_rset_children(const weir_rset *r, int64_t rank, const char *type);
/* The entries of R_lite: ranks with the same children, in the order of the lowest ranks; children are core, gpu, then others by
 * name. False: no more. */
bool weir_rset_entry(const weir_rset *r, uint32_t i, const weir_idset **ranks);
bool weir_rset_entry_child(const weir_rset *r, uint32_t i, uint32_t k, const char **type, const weir_idset **ids);
/* R4: the properties, in the order in which they came; "NAME@SUFFIX" is one as it stands. False: no more. */
bool weir_rset_property(const weir_rset *r, uint32_t i, const char **name, const weir_idset **ranks);
int weir_rset_set_property(weir_rset *r, const char *name, const weir_idset *ranks, weir_err *err);
/* R5: microseconds since 1970. 0 and WEIR_FOREVER: not set. */
int64_t weir_rset_start(const weir_rset *r);
int64_t weir_rset_end(const weir_rset *r);
int weir_rset_set_times(weir_rset *r, int64_t start, int64_t end, weir_err *err);
uint32_t weir_rset_nslots(const weir_rset *r); /* slots of the allocation that it is, or is a part of; 0: not known */
size_t weir_rset_bytes(const weir_rset *r); /* memory held, but for what is kept as it came */
/* The same ids on the same ranks, and the same hosts. */
bool weir_rset_equal(const weir_rset *a, const weir_rset *b);

/* R8. A set is its ids, rank by rank, so parts add up: (a - b) | (a & b) is a. Ranks of the two are the same hosts; WEIR_EINVAL
 * says where they are not. A rank goes with its last id; one that never had any counts as having one of its own. Everything
 * else comes from a: properties on the ranks that are left (those of b too in a union), times, slots, other keys (in a union,
 * b's where a has none). Of scheduling each part keeps what belongs to it, and gets it back in a union: a JSON graph is cut by
 * ranks and ids, what another writer wrote stays whole. WEIR_EEXIST: the graphs of two unlike machines; or, for
 * WEIR_RSET_APPEND, which is a union of sets that share nothing, an id that both have. O(r), and more where many ranks
 * differ. */
enum weir_rset_op { WEIR_RSET_UNION, WEIR_RSET_INTERSECT, WEIR_RSET_DIFF, WEIR_RSET_APPEND };
int weir_rset_combine(enum weir_rset_op op, const weir_rset *a, const weir_rset *b, weir_rset **out, weir_err *err);
/* The part of a set that is on some ranks, on some hosts, or where a constraint (RFC 31) holds; what the set does not have is
 * not missed. */
int weir_rset_select_ranks(const weir_rset *r, const weir_idset *ranks, weir_rset **out, weir_err *err);
int weir_rset_select_hosts(const weir_rset *r, const weir_hostlist *hosts, weir_rset **out, weir_err *err);
int weir_rset_select(const weir_rset *r, const weir_constraint *c, weir_rset **out, weir_err *err);
/* The set with other ranks, as a child instance gives them: 0, 1, ... in the order of the old ones, or of a list that has each
 * host once (WEIR_ENOENT, WEIR_EINVAL: it has not). With `ids`, ids of all types but gpu count from 0 on each rank; scheduling,
 * which knows the old ones, then goes. */
int weir_rset_remap(const weir_rset *r, const weir_hostlist *hosts, bool ids, weir_rset **out, weir_err *err);

/* R9: the machine that a set stands for, and nothing else: its graph, where it has one, without what R_lite does not name and
 * with the ranks that R_lite has for its hosts; else a cluster of nodes. */
int weir_rset_graph(const weir_rset *r, weir_graph **out, weir_err *err);
/* The set of an allocation; of a graph: all of it, what is down (and all that is below), what jobs have now. Cores and gpus are in it;
 * hosts are what has a rank. Where nothing has one, nodes are numbered from 0 in the graph's order; where only some nodes have
 * one, WEIR_EINVAL names another. With `scheduling` the set has the graph (of all of a graph only). */
enum weir_rset_what { WEIR_RSET_ALL, WEIR_RSET_DOWN, WEIR_RSET_ALLOCATED };
int weir_graph_rset(const weir_graph *g, enum weir_rset_what what, bool scheduling, weir_rset **out, weir_err *err);
int weir_allocation_rset(const weir_graph *g, const weir_allocation *a, bool scheduling, weir_rset **out, weir_err *err);

/* ---- sets of ids (RFC 22) ---------------------------------------------------------------------------------------- */

/* RFC 22: a set of ids from 0 to 4294967295, such as "0-3,7". It costs 8 bytes for each run of consecutive ids, whatever
 * the run's length. NULL is an empty set to functions that only read it. Functions that return an id return -1 for none.
 * Those without an err return WEIR_ENOMEM, and what is said of them. r: runs of the sets. */
#define WEIR_IDSET_MAX      UINT32_MAX
#define WEIR_IDSET_LIST_IDS (1u << 24) /* the most ids that are written one by one */
#define WEIR_IDSET_RANGES   1u         /* write "1-3", not "1,2,3" */
#define WEIR_IDSET_BRACKETS 2u         /* write "[1-3]" unless there is at most one id */

weir_idset *weir_idset_new(void); /* NULL: out of memory */
void weir_idset_free(weir_idset *s);
int weir_idset_copy(const weir_idset *s, weir_idset **out); /* WEIR_EINVAL: there is no set */
/* Ids and ranges in ascending order, none twice, no leading zeros, brackets around it all or not. WEIR_EPARSE: err has
 * line 1 and the column; WEIR_ELIMIT: an id is above WEIR_IDSET_MAX. O(len) */
int weir_idset_parse(const char *text, size_t len, weir_idset **out, weir_err *err);
/* The text, to be freed with weir_free; flags are WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS. NULL: err says why; WEIR_ELIMIT:
 * more than WEIR_IDSET_LIST_IDS ids would be written one by one. */
char *weir_idset_format(const weir_idset *s, unsigned flags, weir_err *err);

/* Both ends are inside; WEIR_EINVAL: lo is above hi. O(log r) to find the place and O(r) to make room in the middle;
 * O(1) for ids above the last one. */
int weir_idset_add_range(weir_idset *s, uint32_t lo, uint32_t hi);
int weir_idset_remove_range(weir_idset *s, uint32_t lo, uint32_t hi);
int weir_idset_add_id(weir_idset *s, uint32_t id);
int weir_idset_remove_id(weir_idset *s, uint32_t id);
/* n ids in any order, repeated or not; the array is sorted. O(r + n log n) */
int weir_idset_add_list(weir_idset *s, uint32_t *ids, size_t n);
/* Moves the n lowest ids (all, where there are fewer) to a new set. O(r) */
int weir_idset_take(weir_idset *s, uint64_t n, weir_idset **out);

bool weir_idset_test(const weir_idset *s, uint32_t id); /* O(log r) */
uint64_t weir_idset_count(const weir_idset *s);         /* O(1) */
int64_t weir_idset_first(const weir_idset *s);
int64_t weir_idset_last(const weir_idset *s);
int64_t weir_idset_next(const weir_idset *s, int64_t id); /* the lowest one above id. O(log r) */
int64_t weir_idset_prev(const weir_idset *s, int64_t id); /* the highest one below id. O(log r) */
/* The last id of the run of consecutive ones that id is in; -1: it is not in the set. O(log r) */
int64_t weir_idset_run_end(const weir_idset *s, int64_t id);
/* The i-th run of consecutive ids; false: no more. O(1) */
bool weir_idset_run(const weir_idset *s, size_t i, uint32_t *lo, uint32_t *hi);
size_t weir_idset_bytes(const weir_idset *s); /* memory held */

bool weir_idset_equal(const weir_idset *a, const weir_idset *b);
bool weir_idset_contains(const weir_idset *a, const weir_idset *b);         /* all of b is in a. O(r) */
bool weir_idset_has_intersection(const weir_idset *a, const weir_idset *b); /* O(r) */
/* Change a; b may be NULL, an empty set, or a itself. O(r) */
int weir_idset_add(weir_idset *a, const weir_idset *b);
int weir_idset_subtract(weir_idset *a, const weir_idset *b);
/* Make a new set. WEIR_EINVAL: a is NULL, or b is where both are needed. O(r) */
int weir_idset_union(const weir_idset *a, const weir_idset *b, weir_idset **out);
int weir_idset_difference(const weir_idset *a, const weir_idset *b, weir_idset **out);
int weir_idset_intersect(const weir_idset *a, const weir_idset *b, weir_idset **out);

/* ---- lists of hosts (RFC 29) ------------------------------------------------------------------------------------- */

/* RFC 29: a list of host names, such as "login,node[001-128,130]". Names keep their order and their leading zeros and may
 * come more than once. It costs 40 bytes for each range of the text, whatever the range's length. NULL is an empty list to
 * functions that only read it. s: ranges of the list. */
#define WEIR_HOSTLIST_DIGITS 18         /* digits of a number that counts; longer ones are part of the text before it */
#define WEIR_HOSTLIST_EXPAND (1u << 24) /* bytes of the names made out of ranges that have something behind the bracket */
#define WEIR_HOSTLIST_RUNS   (1u << 22) /* ranges that sorting or deleting may make out of repeated names */

weir_hostlist *weir_hostlist_new(void); /* NULL: out of memory */
void weir_hostlist_free(weir_hostlist *h);
int weir_hostlist_copy(const weir_hostlist *h, weir_hostlist **out); /* WEIR_EINVAL: there is no list */
/* Expressions prefix[ids]suffix between commas. WEIR_EPARSE: err has line 1 and the column. WEIR_ELIMIT: more than
 * WEIR_HOSTLIST_DIGITS digits of a number in brackets, WEIR_NAME_MAX bytes of a name, or INT64_MAX hosts. O(len) */
int weir_hostlist_parse(const char *text, size_t len, weir_hostlist **out, weir_err *err);
int weir_hostlist_append(weir_hostlist *h, const char *text, size_t len, weir_err *err);
/* Appends one name, taken as it is. WEIR_EINVAL: it has a character that a host name cannot have. O(len) */
int weir_hostlist_append_name(weir_hostlist *h, const char *name, size_t len, weir_err *err);
int weir_hostlist_append_list(weir_hostlist *h, const weir_hostlist *other, weir_err *err);
/* The compact text, to be freed with weir_free; consecutive names share brackets. NULL: err says why. As in Flux,
 * what stands behind brackets goes with each name, unless that would be more than WEIR_HOSTLIST_EXPAND bytes. */
char *weir_hostlist_format(const weir_hostlist *h, weir_err *err);

uint64_t weir_hostlist_count(const weir_hostlist *h); /* O(1) */
/* Writes the i-th name (from 0) and returns its length; 0: there is none. O(log s) */
size_t weir_hostlist_nth(const weir_hostlist *h, uint64_t i, char *buf, size_t size);
/* The first position of a name, or -1. O(s), or O(log s) after weir_hostlist_index() until the list changes. */
int64_t weir_hostlist_find(const weir_hostlist *h, const char *name, size_t len);
int weir_hostlist_index(weir_hostlist *h);
bool weir_hostlist_equal(const weir_hostlist *a, const weir_hostlist *b); /* the same names in the same order */
size_t weir_hostlist_bytes(const weir_hostlist *h);                      /* memory held */

/* Deletes, for each name of a list or text, its first occurrence, if there is one (a name given twice goes twice).
 * *deleted (may be NULL) is how many went. WEIR_ELIMIT: as for sort. O(s log s) */
int weir_hostlist_delete(weir_hostlist *h, const char *text, size_t len, uint64_t *deleted, weir_err *err);
int weir_hostlist_delete_list(weir_hostlist *h, const weir_hostlist *names, uint64_t *deleted, weir_err *err);
int weir_hostlist_delete_at(weir_hostlist *h, uint64_t i); /* WEIR_ENOENT: there is no i-th name. O(s) */
/* Sorts by the text before the number, then by the length of the number (so that 9 < 10 < 010), then by the number. What
 * stands behind a bracket makes names without that number, or with another one: "foo[1-2]-bar" is two names. O(s log s).
 * WEIR_ELIMIT: more than WEIR_HOSTLIST_RUNS ranges or WEIR_HOSTLIST_EXPAND bytes. */
int weir_hostlist_sort(weir_hostlist *h);
int weir_hostlist_uniq(weir_hostlist *h); /* sorts, and keeps each name once */

/* ---- readings of other schedulers -------------------------------------------------------------------------------- */

/* How a request may be read otherwise than is said below, for users of schedulers that read it so. */
enum weir_reading {
    WEIR_SLOT_PARENT = 1, /* what a slot holds stands right below one vertex, rather than anywhere in one node. Costs the
                           * children of what is visited. */
    WEIR_WHOLE_POOLS = 2, /* what is given to the job is given as whole pools, of which two slots share none: 3 of a pool of 4 take
                           * all 4, and two times 1 of pools of 2 take two of these */
    WEIR_STRICT_LEVELS = 4, /* levels are left out above the first resource only: what is asked for inside something stands right
                            * below it, but for a slot, which may stand below a child of it; and what is asked for beside
                            * something else is not inside that */
    WEIR_SLOT_SUMS = 8,    /* where the policy has an `order`, slots are taken in the order of sums: of each field over the things
                            * that the slot holds, those right in it; an ancestor's field counts for what is below it only. Costs
                            * each host that could hold one. */
    WEIR_LINKS = 16        /* what is asked for inside something that is passed through, but for slots, may also be what edges of the
                            * subsystem "links" lead to from there, as where a recipe gives vertices a second parent. Where there
                            * are such edges, aggregates do not tell what is inside a vertex, which costs more visits. */
};

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
