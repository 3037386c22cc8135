/* weir.h - the public header and the manual of libweir, a resource engine.
 *
 * A graph describes a machine: vertices (resource pools) and edges, as in the resource model of RFC 4. The graph
 * also keeps a schedule: the jobs, the vertices of each job, and the times of each job. A match finds resources for a
 * request and enters the result into the schedule.
 *
 * The sections are in the order in which a reader needs them: status and errors; memory, numbers and files; graphs;
 * pools; structure; hierarchies; aggregates; walks; requests; policies; matching; flows; jobs; stages; the clock;
 * explanations; find; copies; formats; stores; resource sets; sets of ids; lists of hosts. The glossary in
 * doc/explanation/architecture.md explains words such as vertex, row, schedule and pick.
 *
 * Conventions of all functions:
 *   status    A function that returns `int` as a status returns WEIR_OK (0) or a negative enum weir_status. A function
 *             that fails has changed nothing and has consumed nothing. Results (`*out`) are meaningful after WEIR_OK
 *             only.
 *   errors    `err` belongs to the caller and may be NULL. A failing function fills `err` unless `err` is already
 *             filled: the first error wins. Callers clear `err` with weir_err_clear() before the next use.
 *   strings   Strings are UTF-8 and end in NUL. A `const char *` result belongs to the graph (or to the object queried)
 *             and is valid until the graph next changes, unless the function promises more. A function that fills a
 *             buffer works like snprintf(): the function returns the length of the whole text, writes at most `size`
 *             bytes, and terminates the text where `size` is not 0.
 *   freeing   Every weir_..._free() function and weir_free() accept NULL.
 *   time      Times are int64_t microseconds on a clock of the caller's choice. WEIR_FOREVER means "no end". An
 *             interval [start, end) contains its start and not its end.
 *   amounts   Amounts are int64_t in the unit of the pool, and never negative.
 *   threads   A graph is used by one thread at a time; different graphs are independent. The library has four
 *             variables for the whole process: the flag of weir_interrupt(), the limits of weir_vertices_limit() and
 *             weir_flow_steps(), and a switch that lets allocations fail in tests.
 *   costs     n: vertices of the graph. d: depth of the containment tree. f: logarithm of the widest fan-out. k:
 *             picks.
 *
 * Each section has an example. In the examples, g is a graph of a cluster with 2 racks of 2 nodes of 4 cores, v is its
 * vertex "/cluster0/rack0/node0", r is the request "slot=1/node", err is a zeroed weir_err, and rc is an int. A test
 * compiles and runs the examples; an assertion states a result that a reader may rely on.
 */
#ifndef WEIR_H
#define WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Every function from here to the end of the header is exported from libweir.so; the library hides all other
 * symbols. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define WEIR_VERSION "0.1.0"

/* Types of the sections "sets of ids" and "lists of hosts", which earlier sections use. */
typedef struct weir_idset weir_idset;
typedef struct weir_hostlist weir_hostlist;

/* ---- status and errors ------------------------------------------------------------------------------------------- */

/* Every status has a lower-case word, which the command line and the service print. A weir_err says where and
 * why a function failed.
 *
 * Example:
 *     char text[1024];
 *     rc = weir_graph_lookup(g, "/cluster0/rack9", &v, &err);
 *     weir_err_format(&err, text, sizeof text);
 *     assert(rc == WEIR_ENOENT && strcmp(weir_status_name(rc), "unknown") == 0 && strstr(text, "rack9"));
 *     weir_err_clear(&err);
 */
enum weir_status {
    WEIR_OK = 0,
    WEIR_ENOMEM = -1,        /* "nomem": memory is exhausted */
    WEIR_EINVAL = -2,        /* "invalid": an argument or a value makes no sense */
    WEIR_EPARSE = -3,        /* "parse": a text is malformed; weir_err has line and column where known */
    WEIR_EIO = -4,           /* "io": a file cannot be read or written */
    WEIR_ENOENT = -5,        /* "unknown": a vertex, job, key, type or subsystem does not exist */
    WEIR_EEXIST = -6,        /* "exists": the id or the name is in use */
    WEIR_EBUSY = -7,         /* "busy": the resources exist, but are not available now */
    WEIR_EINFEASIBLE = -8,   /* "infeasible": the machine could never satisfy the request */
    WEIR_EPOLICY = -9,       /* "policy": a hook of a policy failed */
    WEIR_ELIMIT = -10,       /* "limit": a size, a depth or a number of tries went over a limit; the text says which */
    WEIR_EREJECTED = -11,    /* "rejected": a policy does not admit the job (given by bindings and hooks) */
    WEIR_EINTERRUPTED = -12, /* "interrupted": weir_interrupt(true) was called */
    WEIR_EUNSURE = -13 /* "unsure": a save failed, and whether the file has the old or the new state is not known */
};

/* Where and why a function failed. Callers zero-initialise the structure before the first use. */
typedef struct weir_err {
    int code;         /* enum weir_status; 0 while unused */
    int line, column; /* 1-based; 0 where unknown */
    char source[256]; /* name of a file or a text; "" where none applies */
    char text[512];   /* what is wrong, where, and which value would be right */
} weir_err;

/* Empties `err` for the next use. */
void weir_err_clear(weir_err *err);
/* Writes "source:line:column: text" without the unknown parts, and returns the length of the whole text. */
size_t weir_err_format(const weir_err *err, char *buf, size_t size);
/* Returns the word of a status; "error" for a number that is no status. The text is static. */
const char *weir_status_name(int code);

/* Requests or ends an interruption. While the flag is set, matches, explanations, finds, the reading of files and the
 * writing of texts to files and sinks fail with WEIR_EINTERRUPTED and have changed nothing. Databases are read and
 * written to the end. A walk is a loop of the caller and continues. The flag counts for the whole process. The function
 * is safe in a signal handler and in any thread. */
void weir_interrupt(bool on);
/* Returns whether the flag of weir_interrupt() is set. */
bool weir_interrupted(void);

/* ---- memory, numbers and files ----------------------------------------------------------------------------------- */

/* Texts and arrays that the library returns are freed with weir_free(). Files are read whole or not at all, and
 * written so that a reader sees either the old content or the new content.
 *
 * Example:
 *     char *text = NULL;
 *     size_t len = 0;
 *     rc = weir_file_write("example.txt", "slot=1/node", 11, 0, &err);
 *     rc = rc ? rc : weir_file_read("example.txt", "a request", WEIR_JOBSPEC_MAX, &text, &len, &err);
 *     assert(rc == WEIR_OK && len == 11);
 *     weir_free(text);
 */
/* Frees memory that a function of this header returned "to be freed with weir_free". */
void weir_free(void *p);

/* The most bytes of a text that is read whole: a policy; a jobspec; a machine in any format, R and databases included.
 * Files with a JSON graph, an R or a database are mostly read in blocks, without a limit. */
#define WEIR_POLICY_MAX  (1 << 20)
#define WEIR_JOBSPEC_MAX (1 << 26)
#define WEIR_MACHINE_MAX (1 << 30)
/* Reads a whole file ("-" is standard input) into *text, NUL-terminated, to be freed with weir_free. WEIR_ELIMIT: the
 * file has more than `max` bytes; the error says that `what` (such as "a jobspec") may have `max` at most. WEIR_EIO:
 * the path is a directory or an endless device, or the file cannot be opened or read. O(len) */
int weir_file_read(const char *path, const char *what, size_t max, char **text, size_t *len, weir_err *err);

/* Reads a number like strtod(), with a decimal point in every locale of the process. */
double weir_number_read(const char *text, char **end);
/* Writes a number into WEIR_NUMBER_MAX bytes with as few digits as it needs to be read back equal, with a decimal point
 * in every locale of the process. Returns the length. The second function writes a finite number as JSON: with a point
 * or an exponent, which shows that it is a real, and no plus sign or zeros in front of an exponent: 3.0, 1e-9. */
#define WEIR_NUMBER_MAX 32
int weir_number_write(char *buf, size_t size, double value);
int weir_number_write_json(char *buf, size_t size, double value);

/* Replaces the content of a file by a text, whole or not at all. A draft next to the file (PATH.new, or PATH.new1, ...
 * where the name is in use) is brought to the disk and then takes the place of the file. A file keeps its mode.
 * Symbolic links are followed, but a dangling link is replaced; pipes and devices are written to directly. With
 * WEIR_WRITE_NO_LINK, for a writer with more rights than other users of the directory, a path that is a link, a pipe
 * or a device fails. WEIR_EIO: the file cannot be written. O(len) */
#define WEIR_WRITE_NO_LINK 1u
int weir_file_write(const char *path, const char *text, size_t len, unsigned flags, weir_err *err);

/* A file that is replaced as by weir_file_write(), but written piece by piece: weir_draft_begin(), any number of calls
 * of weir_draft_write(), weir_draft_end(). */
typedef struct weir_draft weir_draft;
/* Opens a draft for the file `path`; flags are those of weir_file_write(). */
int weir_draft_begin(const char *path, unsigned flags, weir_draft **out, weir_err *err);
/* Appends a piece to the draft. */
int weir_draft_write(weir_draft *d, const char *text, size_t len, weir_err *err);
/* Ends and frees the draft. The draft becomes the file where `rc`, the caller's own status, is WEIR_OK and every write
 * succeeded; otherwise the draft is removed and the file is unchanged. Returns `rc`, or the status of the failed
 * write. */
int weir_draft_end(weir_draft *d, int rc, weir_err *err);

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

/* A graph holds a machine and its schedule. Graphs are built vertex by vertex, as in the example, or read from a file
 * (section "formats").
 *
 * Example:
 *     weir_graph *m = weir_graph_new();
 *     weir_pool_desc cluster = WEIR_POOL_DESC_INIT, node = WEIR_POOL_DESC_INIT;
 *     weir_vertex top, first;
 *     cluster.type = "cluster";
 *     node.type = "node";
 *     node.id = 0;
 *     weir_graph_begin(m);
 *     rc = weir_graph_add(m, WEIR_NONE, &cluster, &top, &err);
 *     rc = rc ? rc : weir_graph_add_many(m, top, &node, 1000, 1, &first, &err);
 *     rc = rc ? rc : weir_graph_end(m, &err);
 *     assert(weir_graph_count(m) == 1001);
 *     weir_graph_free(m);
 */
typedef struct weir_graph weir_graph;

/* A vertex is named by its index. The index of a removed vertex is used again with the next generation, at most
 * WEIR_GENERATION_MAX times: an index and a generation together name one vertex for good. */
#define WEIR_GENERATION_MAX 1023u
typedef uint32_t weir_vertex;
#define WEIR_NONE        UINT32_MAX /* no vertex */
#define WEIR_NO_ID       INT64_MIN  /* the id of a pool without a numeric id */
#define WEIR_NO_RANK     (-1)       /* the rank of a pool without an execution target */
#define WEIR_FOREVER     INT64_MAX  /* the time without an end */
#define WEIR_PATH_DEPTH  200        /* levels of the deepest containment tree */
#define WEIR_NAME_MAX    65536      /* bytes of a name, type, key or value */
#define WEIR_TYPES_MAX   4096       /* types of pools in a graph; memory grows with their square */
#define WEIR_ENTRIES_MAX (1 << 20)  /* properties of a pool; the limit also counts for tags and for extended data */
#define WEIR_UNITS_MAX   (INT64_MAX / 4) /* the sum of the sizes of all pools */

/* Returns an empty graph whose clock is at 0; NULL: memory is exhausted. */
weir_graph *weir_graph_new(void);
/* Frees the graph and everything that belongs to the graph. O(n) */
void weir_graph_free(weir_graph *g);

/* weir_graph_begin() suspends the aggregates, weir_graph_end() computes them once, in O(n): for many additions. Each
 * addition outside of the brackets costs O(d f). The brackets do not nest. Matches between them fail with
 * WEIR_EINVAL. */
void weir_graph_begin(weir_graph *g);
int weir_graph_end(weir_graph *g, weir_err *err);
/* Reserves memory for n vertices in all. Returns WEIR_OK or WEIR_ENOMEM. */
int weir_graph_reserve(weir_graph *g, uint32_t n);
/* Sets the most vertices of a graph, for the whole process, unless `most` is 0, and returns the limit before the call:
 * a line of a description may describe more vertices than memory holds. Descriptions and additions beyond the limit
 * fail with WEIR_ELIMIT. */
#define WEIR_VERTICES_DEFAULT 10000000
uint32_t weir_vertices_limit(uint32_t most);
/* Sets the most steps in which a match decides whether vertices exist that one flow can serve, for the whole process,
 * unless `most` is 0, and returns the limit before the call. To choose such vertices is NP-hard in general: a match
 * that needs more steps fails with WEIR_ELIMIT. The default takes less than a second. */
#define WEIR_FLOW_STEPS_DEFAULT 40000000
uint64_t weir_flow_steps(uint64_t most);

/* The description of a new pool (RFC 4, resource pool data). Callers start from WEIR_POOL_DESC_INIT and set `type`. */
typedef struct weir_pool_desc {
    const char *type;     /* any string */
    const char *basename; /* NULL means the type */
    const char *name;     /* a text or a template such as "node-${rack}"; NULL means basename followed by id */
    const char *unit;     /* NULL means none */
    const char *uuid;     /* 36 characters, in use by no pool of the graph; NULL means an own UUID */
    int64_t id;           /* WEIR_NO_ID means none */
    int64_t size;         /* units of the pool; 0 is a pool of nothing */
    int64_t rank;         /* the execution target; WEIR_NO_RANK means none */
    bool exclusive;       /* the pool is only ever allocated as a whole */
} weir_pool_desc;
#define WEIR_POOL_DESC_INIT                                                                                            \
    {                                                                                                                  \
        NULL, NULL, NULL, NULL, NULL, WEIR_NO_ID, 1, WEIR_NO_RANK, false                                               \
    }

/* Adds a vertex as the last child of `parent` in the containment tree. With WEIR_NONE the vertex is a root, or belongs
 * to subsystems other than containment only. WEIR_EBUSY: jobs hold units of `parent`, which has no children yet.
 * WEIR_ELIMIT: one of the limits above. */
int weir_graph_add(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, weir_vertex *out, weir_err *err);
/* Adds `count` identical pools with the ids d->id, d->id + stride, ... as consecutive vertices; *first is the first
 * index. */
int weir_graph_add_many(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, uint32_t count, int64_t stride,
                        weir_vertex *first, weir_err *err);
/* Removes v and all vertices below v from containment. A pool without any subsystem left is reclaimed. A pool with
 * edges of another subsystem stays as a detached vertex: the pool keeps name, rank, UUID, properties and edges, is no
 * root and no child, and is neither matched, counted nor found until weir_graph_attach(). WEIR_EBUSY: a job has an
 * allocation or a reservation among them. WEIR_ENOENT: v is detached already. O(removed + d f) */
int weir_graph_unlink(weir_graph *g, weir_vertex v, weir_err *err);
/* Returns whether v is a detached vertex. O(1) */
bool weir_vertex_detached(const weir_graph *g, weir_vertex v);
/* Makes a detached vertex the last child of `parent`; WEIR_NONE: a root. WEIR_EEXIST: v is in containment; WEIR_EBUSY,
 * WEIR_ELIMIT: as weir_graph_add(). O(d f) */
int weir_graph_attach(weir_graph *g, weir_vertex v, weir_vertex parent, weir_err *err);
/* Removes the first edge of a subsystem other than containment from source to target, of a type, or of any type where
 * `type` is NULL. Both vertices stay. WEIR_ENOENT: there is no such edge. O(edges of source) */
int weir_edge_remove(weir_graph *g, weir_vertex source, weir_vertex target, const char *subsystem, const char *type,
                     weir_err *err);
/* Removes the edges of v in a subsystem other than containment. A pool without any subsystem left is reclaimed, and
 * so is a detached vertex without edges left.
 * WEIR_ENOENT: v is not in the subsystem. */
int weir_edge_unlink(weir_graph *g, weir_vertex v, const char *subsystem, weir_err *err);

/* Every graph has a UUID, and every pool of a graph. A pool that is given none gets one that is derived from the
 * UUID of the graph when the pool is added: the UUID costs no memory, and never changes. Stores, JSON graphs,
 * duplicates, extracts and merges keep the UUIDs. A new graph's UUID is random, or WEIR_UUID of the environment. */
/* Writes the UUID of the graph. */
void weir_graph_uuid(const weir_graph *g, char out[37]);
/* Gives the graph another UUID, and with it all pools that were given none: for machines that are described again
 * each time and need equal UUIDs each time. WEIR_EINVAL: malformed; WEIR_EEXIST: two pools would have one UUID.
 * O(given UUIDs) */
int weir_graph_set_uuid(weir_graph *g, const char *uuid, weir_err *err);
/* Returns the pool with a UUID; WEIR_NONE without. O(1), or O(given UUIDs) after a load */
weir_vertex weir_graph_find_uuid(const weir_graph *g, const char *uuid);

/* Returns the number of live vertices. O(1) */
uint32_t weir_graph_count(const weir_graph *g);
/* Returns the upper bound of indices: every vertex is below the bound, though not every index below is live. O(1) */
uint32_t weir_graph_limit(const weir_graph *g);
/* Returns a number that grows with each change of structure. O(1) */
uint64_t weir_graph_serial(const weir_graph *g);
/* Returns a number that grows with each change of anything that a save writes: structure, data, schedule, clock.
 * O(1) */
uint64_t weir_graph_revision(const weir_graph *g);
/* Sets the time [from, until), in microseconds (starttime and expiration of RFC 20), in which jobs may use the
 * resources; 0 and WEIR_FOREVER, the first values, mean no bound. A match starts no job before `from`, and finds no
 * place for a job that would end after `until`; a job without a duration ends at `until`. Jobs in the schedule, and
 * weir_vertex_allocate(), weir_job_attach() and weir_job_book(), are not judged by the bounds. Duplicates, copies,
 * extracts, coarse views, databases and R keep the bounds; JGF and recipes have no place for the bounds. WEIR_EINVAL:
 * `from` is negative, or `until` is not after `from`. O(1) */
int weir_graph_set_validity(weir_graph *g, int64_t from, int64_t until, weir_err *err);
/* Gives the bounds of weir_graph_set_validity(). O(1) */
void weir_graph_validity(const weir_graph *g, int64_t *from, int64_t *until);
/* Returns the bytes used by the records, names, aggregates and schedules of the graph. Spare capacity of arrays and
 * the allocator's own data are not included. O(inner vertices + spans of jobs) */
size_t weir_graph_bytes(const weir_graph *g);
/* Returns whether v is an index of a live vertex. O(1) */
bool weir_vertex_live(const weir_graph *g, weir_vertex v);
/* Returns the generation of the index v, from 0 to WEIR_GENERATION_MAX. O(1) */
uint32_t weir_vertex_generation(const weir_graph *g, weir_vertex v);
/* Returns whether v is live and of the given generation. O(1) */
bool weir_vertex_is(const weir_graph *g, weir_vertex v, uint32_t generation);

/* Verifies every invariant of the graph, the aggregates, the indices and the schedule, from the vertices and the jobs
 * alone. For tests: O(n log n) and more. WEIR_EINVAL: the error names the first violated invariant. */
int weir_check(const weir_graph *g, weir_err *err);

/* ---- pools: base data -------------------------------------------------------------------------------------------- */

/* A vertex is a pool of resources with the data of RFC 4: type, name, id, size, unit, state, rank, UUID, and three
 * maps from keys to values. The functions of this section and of the next require a live vertex unless a comment says
 * otherwise.
 *
 * Example:
 *     char name[64];
 *     weir_vertex_name(g, v, name, sizeof name);
 *     rc = weir_vertex_set(g, v, WEIR_TAGS, "owner", "physics", &err);
 *     assert(strcmp(name, "node0") == 0 && strcmp(weir_vertex_get(g, v, WEIR_TAGS, "owner"), "physics") == 0);
 */
/* The state of a vertex counts for all vertices below. Matches use vertices that are "up" or "degraded" only. */
enum weir_state {
    WEIR_UP,
    WEIR_DOWN,
    WEIR_DEGRADED,
    WEIR_FAILING,
    WEIR_UNKNOWN,
    WEIR_NULL,
    WEIR_DRAINING,
    WEIR_STATES
};
/* Returns the word of a state, such as "up"; "?" for a number that is no state. */
const char *weir_state_name(int state);
/* Returns the enum weir_state of a word, or WEIR_ENOENT. */
int weir_state_parse(const char *name);

const char *weir_vertex_type(const weir_graph *g, weir_vertex v);
const char *weir_vertex_basename(const weir_graph *g, weir_vertex v);
const char *weir_vertex_unit(const weir_graph *g, weir_vertex v); /* "" for none */
int64_t weir_vertex_id(const weir_graph *g, weir_vertex v);       /* WEIR_NO_ID for none */
int64_t weir_vertex_size(const weir_graph *g, weir_vertex v);
bool weir_vertex_exclusive(const weir_graph *g, weir_vertex v); /* as given in weir_pool_desc */
/* Returns the execution target of v or of the nearest ancestor with a rank; WEIR_NO_RANK for none. O(d) */
int64_t weir_vertex_rank(const weir_graph *g, weir_vertex v);
/* Sets the execution target of v; WEIR_NO_RANK removes the rank. */
int weir_vertex_set_rank(weir_graph *g, weir_vertex v, int64_t rank, weir_err *err);
/* Writes the name of v, with its template expanded. */
size_t weir_vertex_name(const weir_graph *g, weir_vertex v, char *buf, size_t size);
/* Writes the path of v in containment, such as "/cluster0/rack0". O(d) */
size_t weir_vertex_path(const weir_graph *g, weir_vertex v, char *buf, size_t size);
/* Writes the UUID of v as 36 characters and NUL. */
void weir_vertex_uuid(const weir_graph *g, weir_vertex v, char out[37]);
/* Returns the state of v alone, an enum weir_state; see also weir_vertex_reachable(). */
int weir_vertex_state(const weir_graph *g, weir_vertex v);
/* Returns the first vertex, by number, from `from` on whose own state lets no job in; WEIR_NONE: there is none. O(1)
 * where all vertices let jobs in, else O(limit) */
weir_vertex weir_vertex_unavailable(const weir_graph *g, weir_vertex from);
/* Sets the state of v. Jobs keep their vertices in every state. O(d f) */
int weir_vertex_set_state(weir_graph *g, weir_vertex v, int state, weir_err *err);

/* The maps of a pool. A value is never NULL; "" is a key without a value. Extended data are JSON texts. */
enum weir_map { WEIR_PROPERTIES, WEIR_TAGS, WEIR_EXTENDED };
/* Returns the value of a key; NULL: the pool has no such key. */
const char *weir_vertex_get(const weir_graph *g, weir_vertex v, int map, const char *key);
/* Adds a key or replaces its value. WEIR_ELIMIT: WEIR_NAME_MAX or WEIR_ENTRIES_MAX. */
int weir_vertex_set(weir_graph *g, weir_vertex v, int map, const char *key, const char *value, weir_err *err);
/* Removes a key. WEIR_ENOENT: the pool has no such key. */
int weir_vertex_unset(weir_graph *g, weir_vertex v, int map, const char *key);
/* Returns the number of keys. */
uint32_t weir_vertex_count(const weir_graph *g, weir_vertex v, int map);
/* Gives the i-th key and its value, from 0; false: no more. */
bool weir_vertex_entry(const weir_graph *g, weir_vertex v, int map, uint32_t i, const char **key, const char **value);

/* Change the size, the unit ("" for none), and whether jobs get the pool only as a whole. WEIR_EINVAL: v
 * has children, or the value makes no pool; WEIR_EBUSY: jobs have more units than the size, v as a whole, or, for
 * `exclusive`, a part of v. O(d f), and the cost of indices and other derived records that are recomputed */
int weir_vertex_set_size(weir_graph *g, weir_vertex v, int64_t size, weir_err *err);
int weir_vertex_set_unit(weir_graph *g, weir_vertex v, const char *unit, weir_err *err);
int weir_vertex_set_exclusive(weir_graph *g, weir_vertex v, bool exclusive, weir_err *err);
/* Splits `units` units off the pool v: *out is a new sibling of v with type, unit, state, properties, tags and data of
 * v, and the next id. v keeps its UUID, its edges, and all units that jobs have. WEIR_EINVAL: v has children, or
 * `units` is not from 1 to the size - 1; WEIR_EBUSY: jobs have too many units, or v as a whole. O(d f), and the
 * cost of indices and other derived records that are recomputed */
int weir_graph_split(weir_graph *g, weir_vertex v, int64_t units, weir_vertex *out, weir_err *err);
/* Joins a pool with v: `part`, a sibling of v with its type and unit, is removed, and its units become units of v.
 * WEIR_EBUSY: a job has some of `part`, or v as a whole. */
int weir_graph_join(weir_graph *g, weir_vertex v, weir_vertex part, weir_err *err);

/* ---- structure: containment, edges, subsystems ------------------------------------------------------------------- */

/* The subsystem "containment" is a tree (or several). All other subsystems, such as "power" or "network", are edges
 * between vertices of the graph.
 *
 * Example:
 *     weir_vertex rack;
 *     rc = weir_graph_lookup(g, "/cluster0/rack1", &rack, &err);
 *     rc = rc ? rc : weir_edge_add(g, rack, v, "power", "supplies", NULL, &err);
 *     assert(weir_vertex_children(g, rack) == 2 && !weir_vertex_within(g, v, rack));
 */
/* Returns the parent of v; WEIR_NONE for a root. O(1) */
weir_vertex weir_vertex_parent(const weir_graph *g, weir_vertex v);
/* Returns the number of children of v. O(1) */
uint32_t weir_vertex_children(const weir_graph *g, weir_vertex v);
/* Returns the i-th child of v in the order of additions. A loop over all children costs O(children), also after
 * removals. */
weir_vertex weir_vertex_child(const weir_graph *g, weir_vertex v, uint32_t i);
/* Returns the nearest vertex of a type among v and the ancestors of v; WEIR_NONE for none. O(d) */
weir_vertex weir_vertex_ancestor(const weir_graph *g, weir_vertex v, const char *type);
/* Returns whether v is `top` or is below `top`. O(d) */
bool weir_vertex_within(const weir_graph *g, weir_vertex v, weir_vertex top);

/* Adds an edge to a subsystem other than containment. `type` names the relation from source to target, `back`
 * (NULL for none) the opposite relation. An edge whose `back` equals `type` has both directions: walks and flows pass
 * it from either end. Another word for `back` only names the relation as seen from the target. */
int weir_edge_add(weir_graph *g, weir_vertex source, weir_vertex target, const char *subsystem, const char *type,
                  const char *back, weir_err *err);
typedef struct weir_edge {
    weir_vertex source, target;
    const char *subsystem, *type, *back; /* back may be NULL */
} weir_edge;
/* Returns the upper bound of edge numbers, containment not included. */
uint32_t weir_edge_count(const weir_graph *g);
/* Gives edge number i; false: the number is not in use. O(1) */
bool weir_edge_get(const weir_graph *g, uint32_t i, weir_edge *out);
/* Gives the i-th edge of v in `subsystem` (NULL: any), containment included; false: no more. `out` selects edges that
 * leave v rather than enter v. O(edges of v) */
bool weir_vertex_edge(const weir_graph *g, weir_vertex v, const char *subsystem, bool out, uint32_t i, weir_edge *e);

/* Returns the number of subsystems; number 0 is "containment". */
uint32_t weir_subsystem_count(const weir_graph *g);
/* Returns the name of subsystem i. */
const char *weir_subsystem_name(const weir_graph *g, uint32_t i);
/* Returns the next root of a subsystem (NULL: containment) and moves *at behind the root; *at begins at 0. A root is a
 * vertex left by edges and entered by none. WEIR_NONE: no more. All roots together cost O(roots) in containment and
 * O(vertices) in other subsystems. */
weir_vertex weir_graph_next_root(const weir_graph *g, const char *subsystem, uint32_t *at);
/* Returns the i-th root of a subsystem; WEIR_NONE: there are no more. Costs as much as i + 1 roots from the first. */
weir_vertex weir_graph_root(const weir_graph *g, const char *subsystem, uint32_t i);
/* Finds a vertex by a path ("/cluster0/rack0/node3") or by subsystem and path ("containment:/cluster0/rack0").
 * A step "NAME#N" is the N-th of several children of one name; without a number, the first is found. WEIR_ENOENT: the
 * error names the missing part. O(children on the way) */
int weir_graph_lookup(const weir_graph *g, const char *uri, weir_vertex *out, weir_err *err);
/* Finds a vertex as people name one: by a URI as for weir_graph_lookup(), by its name ("node3"), or by names of
 * vertices above and its own ("rack1/core0", where levels may be left out). WEIR_ENOENT: no vertex has the name.
 * WEIR_EINVAL: several have, and the error gives the paths of the first three. O(vertices) for names */
int weir_graph_named(const weir_graph *g, const char *name, weir_vertex *out, weir_err *err);
/* Returns the number of v among the siblings (or roots) of one name in a subsystem, from 1. O(siblings) */
uint32_t weir_vertex_twin(const weir_graph *g, weir_vertex v, const char *subsystem);

/* ---- hierarchies ------------------------------------------------------------------------------------------------- */

/* Any subsystem can be searched as containment is: weir_graph_hierarchy() gives the graph as a tree of the subsystem.
 * This view is a second graph with the same vertex numbers, names, data, states and jobs. A vertex with edges of the
 * subsystem is below the vertex that its edges come from: of several, below the one nearest to a source, and of these
 * the first. A match that fails there is tried with other parents (a node on two power units is below one of them in
 * each match): `prune` and `evaluate` decide in this view which vertices count for that, then see the other view.
 * Vertices without such edges stay below their parents in containment, where those are in the view; all others, such as
 * the racks above nodes that hang on power units, are detached in the view.
 * The edges of the view that are named "containment" lead to vertices that have a different parent there. A vertex
 * below one that is not up in containment is not up in the view either, and a job that has a vertex as a whole in the
 * view has all that is below in the view.
 *
 * weir_match(), weir_job_grow() and weir_soonest() search in a view by the option `subsystem`; the hooks of the policy
 * are called with the view then. Sums, rows and expressions of a view are those of its hierarchy. Units of flows
 * (weir_flow_most) take all edges of the graph, those of the subsystem of the view too.
 *
 * Example:
 *     weir_pool_desc pdu = WEIR_POOL_DESC_INIT;
 *     weir_vertex feed = WEIR_NONE;
 *     weir_graph *view;
 *     pdu.type = "pdu";
 *     rc = weir_graph_add(g, WEIR_NONE, &pdu, &feed, &err);
 *     rc = rc ? rc : weir_edge_add(g, feed, v, "power", "supplies", NULL, &err);
 *     rc = rc ? rc : weir_graph_hierarchy(g, "power", &view, &err);
 *     assert(rc == WEIR_OK && weir_vertex_parent(view, v) == feed);
 */
/* Gives the view of a subsystem, up to date; for "containment" the graph itself. The view belongs to the graph, must
 * not be changed, and is valid until the graph is freed or weir_graph_hierarchy() is called again. Memory: as the
 * graph.
 * O(vertices and jobs that changed since the last call), O(n) at first and after changes of the tree or of edges.
 * WEIR_ENOENT: no such subsystem; WEIR_ELIMIT: deeper than a tree may be. */
int weir_graph_hierarchy(weir_graph *g, const char *name, weir_graph **out, weir_err *err);
/* Gives a view in which everything that edges lead to from v is below v, also what has further parents: for sums and
 * searches below v. With WEIR_NONE, a vertex with several parents is below the first with a way to a source on which
 * all is up: for sums and searches of all. As weir_graph_hierarchy() where nothing below v has several parents. Valid
 * until the graph is freed or changed, or a view is requested again. O(vertices below v), O(n) where the tree is
 * another than that of the last call. WEIR_ENOENT: no such subsystem or vertex. */
int weir_graph_hierarchy_below(weir_graph *g, const char *name, weir_vertex v, weir_graph **out, weir_err *err);
/* Finds the vertices at, above and below v in a hierarchy, by each of the parents that a vertex has: out[u] for every
 * vertex number u below weir_graph_limit(g). O(n + edges); memory: 5 bytes a vertex until the return. WEIR_ENOENT: no
 * such subsystem or vertex; WEIR_ELIMIT: as weir_graph_hierarchy(). On failure out[] has not changed. */
int weir_graph_around(weir_graph *g, const char *name, weir_vertex v, bool *out, weir_err *err);

/* ---- aggregates -------------------------------------------------------------------------------------------------- */

/* For each vertex the graph keeps sums over all vertices below, by type. The sums are exact after every change.
 *
 * Example:
 *     weir_aggregate row;
 *     for (uint32_t i = 0; weir_graph_aggregate(g, v, i, &row); i++)
 *         if (strcmp(row.type, "core") == 0)
 *             assert(row.total == 4 && row.free == 4 && row.idle == 4);
 */
typedef struct weir_aggregate {
    const char *type;
    int64_t total; /* units in all */
    int64_t free;  /* units that are up and held by no job now */
    int64_t idle;  /* units of pools that are up, with no job in or below the pool now */
} weir_aggregate;
/* Gives the i-th type (from 0) below v, v itself not counted, or of the whole graph for WEIR_NONE; false: no more.
 * O(d), or O(roots) for the whole graph. */
bool weir_graph_aggregate(const weir_graph *g, weir_vertex v, uint32_t i, weir_aggregate *out);
/* Returns the units of a type in the whole graph, in any state and in use or not; 0: no pool has the type. O(roots) */
int64_t weir_graph_total(const weir_graph *g, const char *type);
/* Returns whether v and all ancestors are up, and no job holds v or an ancestor as a whole. O(d) */
bool weir_vertex_reachable(const weir_graph *g, weir_vertex v);
/* Returns the units of v that are free over all of [t0, t1). O(d + spans of v) */
int64_t weir_vertex_available(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1);
/* Returns the units of v that are free now. O(d) */
int64_t weir_vertex_free(const weir_graph *g, weir_vertex v);
/* Returns the units of v that jobs have now; all of them where a job has a vertex above as a whole. O(d) */
int64_t weir_vertex_allocated(const weir_graph *g, weir_vertex v);
/* Returns whether a job that has something at or below v now shares v: the job has no units of v, and no job has v
 * as a whole. O(d + spans of v) */
bool weir_vertex_shares(const weir_graph *g, weir_vertex v, int64_t job);

/* ---- walks (W) --------------------------------------------------------------------------------------------------- */

/* A walk visits vertices of a subsystem, depth first or breadth first. The caller pulls the visits. A walk belongs to
 * the caller and holds no lock: after a change of structure weir_walk_next() returns WEIR_EINVAL, and the walk can
 * only be freed.
 *
 * Example:
 *     weir_walk_options o = {.start = v, .type = "core"};
 *     weir_walk *w = weir_walk_new(g, &o, &err);
 *     weir_vertex core;
 *     int n = 0;
 *     while (w && weir_walk_next(w, &core, &err) > 0)
 *         n++;
 *     weir_walk_free(w);
 *     assert(n == 4);
 */
enum weir_visit { WEIR_WALK_DONE = 0, WEIR_PREORDER = 1, WEIR_POSTORDER = 2 };

typedef struct weir_walk weir_walk;
typedef struct weir_walk_options {
    weir_vertex start;     /* where the walk begins; WEIR_NONE: at the roots of the subsystem */
    const char *subsystem; /* NULL: containment */
    unsigned events;       /* WEIR_PREORDER | WEIR_POSTORDER; 0 means preorder */
    bool breadth;          /* breadth first: preorder events only */
    bool reverse;          /* from the last child to the first */
    bool upward;           /* follow edges against their direction */
    bool leaves;           /* containment, downward: both events of a leaf are given in one visit, as their sum */
    bool ordered;          /* depth first: the caller may order what is below each vertex, see weir_walk_reorder() */
    const char *type;      /* visit vertices of the type only; NULL: all */
} weir_walk_options;
/* Returns a new walk; NULL: err says why. The graph has to outlive the walk. */
weir_walk *weir_walk_new(const weir_graph *g, const weir_walk_options *o, weir_err *err);
/* Advances to the next visit and sets *v. Returns WEIR_PREORDER or WEIR_POSTORDER (or their sum, see `leaves`),
 * WEIR_WALK_DONE at the end, or a negative status. In a subsystem that is not a tree each vertex is visited once. */
int weir_walk_next(weir_walk *w, weir_vertex *v, weir_err *err);
/* A visit, with the data that filters read most. */
typedef struct weir_walk_visit {
    weir_vertex vertex;
    uint32_t generation;
    int event;              /* as weir_walk_next() returns */
    const char *type;       /* equal types are equal pointers */
    int64_t id, size, free; /* as weir_vertex_id(), weir_vertex_size() and weir_vertex_free() return */
} weir_walk_visit;
/* Gives the next visits, at most `max` (1 or more), and returns their number, 0 at the end, or a negative status. The
 * visits stop at a vertex below which weir_walk_prune() may still stop the walk: a call of weir_walk_prune() is about
 * the last visit given. The data are valid while weir_graph_revision() is unchanged. For sibling leaves the cost is
 * O(d) together and O(1) each, less than weir_walk_next(). */
int weir_walk_read(weir_walk *w, weir_walk_visit *out, int max, weir_err *err);
/* Reads the data of a visit again; the vertex has to be live. O(d) */
void weir_walk_visit_read(const weir_graph *g, weir_walk_visit *visit);
/* Keeps the walk from descending below the vertex of the last visit (preorder). */
void weir_walk_prune(weir_walk *w);
/* With `ordered`: returns the vertices that are next below the vertex of the last visit (preorder), or before the first
 * visit the starts, with their number in *n. They are valid until the walk continues. O(1) */
const weir_vertex *weir_walk_ends(const weir_walk *w, uint32_t *n);
/* Gives these vertices another order. WEIR_EINVAL: n is not their number, or the walk has gone on since. O(n) */
int weir_walk_reorder(weir_walk *w, const weir_vertex *list, uint32_t n, weir_err *err);
/* Returns the depth of the last visit, 0 for a start. */
uint32_t weir_walk_depth(const weir_walk *w);
/* Returns the bytes of memory that the walk uses now. O(1) */
size_t weir_walk_bytes(const weir_walk *w);
void weir_walk_free(weir_walk *w);

/* Collects vertices with scores, in descending order of scores; of equal scores the first addition comes first. */
typedef struct weir_accum weir_accum;
/* Returns an accumulator of the `best` highest scores, or of all scores for 0; NULL: memory is exhausted. */
weir_accum *weir_accum_new(size_t best);
/* Adds a vertex. WEIR_EINVAL: the score is not a number. O(log best) */
int weir_accum_add(weir_accum *a, weir_vertex v, double score);
/* Returns the number of vertices kept. */
size_t weir_accum_count(const weir_accum *a);
/* Returns the vertex of the i-th highest score (from 0) and sets *score unless `score` is NULL; WEIR_NONE: no more.
 * The first call after an addition sorts. */
weir_vertex weir_accum_get(weir_accum *a, size_t i, double *score);
void weir_accum_free(weir_accum *a);

/* ---- requests (RFC 14, 31, 46) ----------------------------------------------------------------------------------- */

/* A request says which resources a job needs: a jobspec (RFC 14) or a shape (RFC 46). A request is independent of
 * graphs and may be matched on any number of them.
 *
 * Example:
 *     const char *text = "slot=2/node/core=4";
 *     weir_request *shape = NULL;
 *     rc = weir_request_parse(text, strlen(text), "request", &shape, &err);
 *     assert(rc == WEIR_OK && weir_request_count(shape) == 3);
 *     weir_request_free(shape);
 */
typedef struct weir_request weir_request;

/* A count (RFC 14, RFC 45): an integer, a range {min, max, operator, operand}, or a set of values. */
typedef struct weir_count {
    int64_t min, max; /* max is WEIR_FOREVER for a range without an upper bound */
    char op;          /* '+', '*', '^'; 0: the values of `set` */
    int64_t operand;
    const int64_t *set; /* ascending, where op is 0 */
    uint32_t nset;
} weir_count;
/* Returns the largest allowed count that is not above n, or -1. */
int64_t weir_count_floor(const weir_count *c, int64_t n);

enum weir_exclusivity { WEIR_EXCLUSIVE_UNSET, WEIR_EXCLUSIVE_NO, WEIR_EXCLUSIVE_YES };

/* A resource of a request. A slot has type "slot" and groups its children. Resources of type "or_slot" (unknown to RFC
 * 14) have siblings of type "or_slot" only, as alternatives: any mix of the alternatives serves,
 * as many in all as the count of the last alternative. Of sibling resources of type "xor_slot" one alone
 * serves, with any their other siblings: a request with such slots has several alternatives, see
 * weir_request_alternative(), and none of the resources of an alternative has that type. */
typedef struct weir_resource weir_resource;
struct weir_resource {
    const char *type, *unit, *label, *id; /* "" where not given */
    weir_count count;
    int exclusive;             /* as written: enum weir_exclusivity */
    bool slot;                 /* the type is "slot" or "or_slot" */
    bool any;                  /* the type is "or_slot" */
    bool takes;                /* given to the job: in a slot and not `exclusive: false`, or exclusive */
    const weir_resource *with; /* the children */
    uint32_t nwith;
    const weir_resource *parent; /* NULL at the top */
    uint32_t index;              /* preorder number in the request, or in its alternative */
    uint32_t number;             /* preorder number among the resources of all alternatives */
};

/* Reads a jobspec (YAML or JSON, the full grammar of RFC 14 in each version) or a shape string (RFC 46), in which a
 * resource may state the duration of the job ("slot=2{duration:1h}/node": seconds, or a unit, ms, s, m, h or d). The
 * content decides. Slots within slots are read as their contents, as many times. Sibling slots that are
 * alternatives (or_slot, xor_slot) may share a label. `source` names the text in errors.
 * WEIR_ELIMIT: more than 32 levels, 4096 resources, 256 alternatives, 16384 resources in these, or
 * WEIR_JOBSPEC_MAX bytes. O(len) for each alternative */
int weir_request_parse(const char *text, size_t len, const char *source, weir_request **out, weir_err *err);
/* Reads the file `path` ("-" is standard input) as weir_request_parse() reads a text. */
int weir_request_load(const char *path, weir_request **out, weir_err *err);
void weir_request_free(weir_request *r);
/* Returns the resources at the top, *n of them, valid as long as the request; of several alternatives those of the
 * first. */
const weir_resource *weir_request_resources(const weir_request *r, uint32_t *n);
/* Returns the number of resources on all levels; of several alternatives that of the first. */
uint32_t weir_request_count(const weir_request *r);
/* Returns the number of alternatives of a request with xor_slots; 1 without xor_slots. */
uint32_t weir_request_alternatives(const weir_request *r);
/* Returns alternative i, from 0 on, in the order of preference: a request without xor_slots, which belongs to `r`; `r`
 * itself where there is one alternative. i is below weir_request_alternatives(). */
const weir_request *weir_request_alternative(const weir_request *r, uint32_t i);
/* Returns the duration in microseconds; WEIR_FOREVER where the request has none. */
int64_t weir_request_duration(const weir_request *r);
int weir_request_set_duration(weir_request *r, int64_t duration, weir_err *err);
/* Returns whether the request has a constraint (RFC 31). */
bool weir_request_constrained(const weir_request *r);
/* Returns a string of attributes.system, such as "queue"; NULL where the key is missing or is no string. */
const char *weir_request_attribute(const weir_request *r, const char *key);
/* Returns the request as a text, to be freed with weir_free; NULL: err says why. The text reads back as an equal
 * request. Formats:
 *   "json"       the canonical jobspec (RFC 14): attributes and tasks as they were, unknown keys included; counts in
 *                canonical form; a single line, keys sorted. A request without a version gets version 9999 and a task
 *                for each slot. NULL and "jobspec" mean "json".
 *   "yaml"       the canonical jobspec for people
 *   "shape"      a shape string (RFC 46). WEIR_EINVAL: the jobspec says more than resources and a duration; the error
 *                names the excess, such as a constraint.
 *   "resources"  the shape of the resources, without the rest of the jobspec
 * O(size of the text) */
char *weir_request_format(const weir_request *r, const char *format, weir_err *err);
/* Returns the request as weir_request_format() does in "json", with amounts of bytes, such as 2 TB, in the unit of the
 * graph's pools. An amount that would be larger than 2^53 remains as given. */
char *weir_request_format_for(const weir_request *r, const weir_graph *g, weir_err *err);

/* A constraint on nodes (RFC 31), compiled once. */
typedef struct weir_constraint weir_constraint;
/* Compiles a JSON text. WEIR_ELIMIT: more than 64 levels of operators. */
int weir_constraint_parse(const char *json, size_t len, weir_constraint **out, weir_err *err);
/* Returns whether the constraint holds for v. */
bool weir_constraint_match(const weir_constraint *c, const weir_graph *g, weir_vertex v);
void weir_constraint_free(weir_constraint *c);

/* ---- policies ---------------------------------------------------------------------------------------------------- */

/* A placement policy says which resources to prefer among those that fit. Whether a request fits is decided by the
 * engine: no hook can allocate a unit twice, and only `prune` and `evaluate` can take candidates away. A zeroed policy
 * takes the first resources that fit. Hooks may read the graph and must not change the graph. A negative result of a
 * hook ends the match with WEIR_EPOLICY; nothing has changed then.
 *
 * Example:
 *     const char *fields[] = {"-id"};
 *     weir_policy last = {.name = "last", .order = fields, .norder = 1};
 *     weir_match_options o = {.mode = WEIR_PREVIEW, .policy = &last};
 *     const weir_allocation *a;
 *     rc = weir_match(g, r, &o, &a, &err);
 *     assert(rc == WEIR_OK && weir_vertex_id(g, a->picks[0].vertex) == 3);
 *     weir_allocation_free(a);
 */
#define WEIR_ORDER_KEYS     4
#define WEIR_ORDER_SIBLINGS 64 /* added to the number of keys: siblings have the same */
#define WEIR_DESCEND_TYPES  4

/* Choices among the candidates for a resource. Where several groups, or runs, are equally good, the first candidate in
 * the order of the policy decides. */
enum weir_choose {
    WEIR_CHOOSE_LONGEST,  /* the longest runs first; a single requested vertex is the best candidate */
    WEIR_CHOOSE_SHORTEST, /* the shortest run that is long enough; without such a run, the longest runs first */
    /* Of the groups with enough candidates, the group with the fewest; without such a group, the largest groups first.
     * Vertices without a group come last. */
    WEIR_CHOOSE_FEWEST,
    WEIR_CHOOSE_EACH,    /* one candidate from each group in turn; the first groups have the best candidates */
    WEIR_CHOOSE_CLOSEST, /* candidates whose property differs least, and of equal sets the set with the least values */
    WEIR_CHOOSE_ONE,     /* as WEIR_CHOOSE_FEWEST, but of one group only, or the request does not fit */
    /* For sibling resources, such as the cores and gpus of a slot: as many candidates of each domain as the free
     * units of all these resources in the domain allow, then all others; both in order. Resources that the domain has
     * none of do not count, and a domain with one of the resources only is none. `type` names the domains. */
    WEIR_CHOOSE_BESIDE
};

typedef struct weir_choice {
    int kind; /* enum weir_choose */
    /* The group of a vertex v, by the first of these members that is set; without any, the parent of v.
     * `group` returns 1 with the number of the group in *out, 0 where v has no group, or a negative number. The engine
     * calls `group` once for each vertex of a requested type, and again after a change of the structure, of a property
     * or of a tag; `serial` of the policy identifies the version of `group`.
     * `subsystem`: the first vertex of type `type` on the way up, from the node at or above v.
     * `property`: the value of the property of v, or of the nearest vertex of type `type` at or above v. For
     * WEIR_CHOOSE_CLOSEST the value is a number.
     * `type`: the nearest vertex of the type at or above v. For WEIR_CHOOSE_BESIDE up to WEIR_NAME_MAX bytes of types
     * with '+' between them, "numanode+socket": the nearest vertex above of the first type that is above v, else the
     * node. */
    int (*group)(void *data, const weir_graph *g, weir_vertex v, uint32_t *out);
    const char *subsystem, *property, *type;
    /* Runs are candidates of one group with consecutive positions: whole numbers in a property of the vertex; without
     * the property, the id. A vertex without a group is in the group of the parent. */
    const char *position;
    /* WEIR_CHOOSE_EACH, by parent or by type: the groups with the most free units of the type of the candidates come
     * first, for slots also the hosts below these groups. Not with `evaluate`. */
    bool emptiest;
} weir_choice;

struct weir_allocation; /* below */
typedef struct weir_policy {
    const char *name;
    const char *label; /* kept with each job, such as a name and a version; NULL: the name */
    void *data;        /* given to every hook */
    /* Static preference: vertices with the smallest keys first, ties in the order of the tree: parents before
     * children, siblings as they were added. `order` lists up to WEIR_ORDER_KEYS fields: "id", "index" (the place in
     * the tree), "size", "rank", "properties.KEY", or "TYPE.FIELD" of the ancestor of a type, each with '-' in front
     * for descending. A vertex without the property, or without an ancestor of the type,
     * comes last in both directions. */
    const char *const *order;
    uint32_t norder;
    /* Instead of `order`: computes up to WEIR_ORDER_KEYS numbers for v and returns how many. The engine calls `keys`
     * once for each vertex of a requested type, and again after a change of the vertex. The count plus
     * WEIR_ORDER_SIBLINGS says that all siblings of the type of v have the same numbers: `keys` is not called for the
     * siblings that follow v. `serial` identifies the version of `keys`: never 0, and never used for two versions on a
     * graph. */
    int (*keys)(void *data, const weir_graph *g, weir_vertex v, double out[WEIR_ORDER_KEYS]);
    uint64_t serial;
    /* A turn, for an `order` of which the first field is id, index, TYPE.id or TYPE.index: vertices with a first key of
     * at least *turn come first, in order, then all others, in order. NULL: no turn. Not with `evaluate`, `select`,
     * `choice` and `descend`: WEIR_EINVAL. O(n) for the first match with an order and a type, then as `order`. */
    const double *turn;
    /* Types that are always allocated as a whole (node-exclusive scheduling). */
    const char *const *exclusive;
    uint32_t nexclusive;
    /* Instead of `order`: depth first, at each level unused and unreserved children first, then children with the most
     * free units below, counted for the first of up to WEIR_DESCEND_TYPES types that a child has; of equal children
     * the last addition. "tags.KEY" instead of types: children without the tag first, then by descending number in the
     * tag. Costs as `order`. With an `order` as well, `order` says which resources are kept
     * where more were found than an allowed count. */
    const char *const *descend;
    uint32_t ndescend;
    /* Types from the smallest to the largest, such as "numa", "socket". The content of a slot comes from a single
     * vertex of the first of the types for which the node has a vertex large enough, if all were free. */
    const char *const *locality;
    uint32_t nlocality;
    /* Called in preorder. Returns 1 to go on, 0 to leave out v and all vertices below v. */
    int (*prune)(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r);
    /* In addition to `prune`, for answers that are remembered as scores are: sets *keep, and calls weir_read() for each
     * fact that decides. The engine also calls it for vertices of the type of the candidates that `prune` would not be
     * called for, such as vertices below a vertex that is left out. Returns 1; 0: `prune` is to be called instead; or
     * negative. `serial` as with `keys`. */
    int (*judge)(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, bool *keep);
    /* With `judge`: as `score_key`. */
    size_t (*judge_key)(void *data, const weir_resource *r, char *key, size_t size);
    /* Called in postorder, once for all n candidates that fit. Fills score[], higher is better, NAN: not a candidate.
     * Returns the number of calls to count in weir_stats, 0 for n, or a negative number. */
    int (*evaluate)(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                    double *score);
    /* In addition to `evaluate`, for scores that are remembered: computes the score of v, and calls weir_read() for
     * each fact about the graph, the clock and the duration of the job that decides about the score. *alike: all
     * siblings of the type of v have an equal score. Returns 1; 0: `evaluate` is to be called instead; or negative.
     * `serial` as with `keys`. */
    int (*score)(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score, bool *alike);
    /* With `score`: computes a part of the score that all siblings of the type of v share, such as what the policy
     * reads of the parent; a score is the sum of the two, NAN (no candidate) where one is. So a change of the parent
     * makes one part stale instead of the scores of all siblings. `evaluate` must include this part. As `score`. */
    int (*score_siblings)(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *part);
    /* With `score`: writes up to `size` bytes that represent all further facts that scores depend on, of the policy and
     * of the request. Scores are remembered for equal bytes. Returns the number of bytes; 0: `evaluate` is to be
     * called instead. */
    size_t (*score_key)(void *data, const weir_resource *r, char *key, size_t size);
    /* Chooses at least `min` and at most `max` of n candidates (best first): fills chosen[] with positions and returns
     * how many. Where the hook chooses fewer than `min`, the remaining candidates follow, best first. */
    int64_t (*select)(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v,
                      const double *score, size_t n, size_t min, size_t max, uint32_t *chosen);
    /* Called in the modes WEIR_NOW and WEIR_RESERVE and in weir_job_grow(), once the resources are found, before the
     * job gets the resources: `a` has the id and the times of the job, and as picks the new resources. A negative
     * result ends the match with this status, and nothing has changed. Of the graph, only maps may be changed. */
    int (*placed)(void *data, const weir_graph *g, const struct weir_allocation *a);
    /* A choice that the engine makes without calls; NULL: none. With `select` as well, the choice is made from the
     * candidates in the order of `select`, followed by the candidates that `select` leaves out. */
    const weir_choice *choice;
    /* The number of candidates that `select` and `choice` get at a time where the policy has no `evaluate`: the first
     * in the order, or twice the requested number if larger; further candidates follow only if the first do not
     * suffice. 0: all. WEIR_CHOOSE_ONE gets all. */
    uint32_t candidates;
} weir_policy;

/* A fact that a policy reads while it computes a score to be remembered. */
enum weir_read {
    WEIR_READ_FREE,    /* free units of v */
    WEIR_READ_STATE,   /* the state of v */
    WEIR_READ_BELOW,   /* units below v; WEIR_NONE: of the graph */
    WEIR_READ_MAPS,    /* properties, tags and data of v */
    WEIR_READ_RANK,    /* the rank of v, which may be inherited */
    WEIR_READ_NOW,     /* the clock of the graph; no vertex */
    WEIR_READ_DURATION /* the duration of the job; no vertex */
};
/* Records a fact about v for the score that is being computed, if any. The tree, edges, types, names, ids and sizes
 * need no record: a change of these drops all scores. A score is kept with the numbers of up to 8 of its facts
 * (WEIR_READ_FREE, _STATE, _NOW, and those of the two functions below): where facts change, and are later as they were
 * for one of the last eight scores of the vertex, that score holds again, without a call of the policy.
 * O(facts of the score) */
void weir_read(const weir_graph *g, weir_vertex v, enum weir_read what);
/* Reads the units of a type below v, zeros where v has none, and records these numbers only, where
 * weir_read(g, v, WEIR_READ_BELOW) records all types. out->type is the given text. O(length of the type) */
void weir_read_below(const weir_graph *g, weir_vertex v, const char *type, weir_aggregate *out);
/* Records that the score depends on whether the duration of the job is at most `limit` microseconds: on this
 * comparison, and not on the duration. Up to 3 different limits of a policy cost nothing when durations change.
 * O(facts of the score) */
void weir_read_limit(const weir_graph *g, int64_t limit);
/* Records that the score depends on something whose changes are not followed, so that the score is not remembered. The
 * text, which must stay valid, says what. */
void weir_read_other(const weir_graph *g, const char *what);
/* Returns why the score computed last is not remembered; NULL: it is. */
const char *weir_read_trouble(const weir_graph *g);

/* ---- matching (A) ------------------------------------------------------------------------------------------------ */

/* A match finds resources for a request and gives them to a job, as a whole or not at all.
 *
 * Example:
 *     weir_match_options o = {.mode = WEIR_NOW, .duration = 3600 * INT64_C(1000000)};
 *     const weir_allocation *a;
 *     rc = weir_match(g, r, &o, &a, &err);
 *     assert(rc == WEIR_OK && a->npicks == 1 && a->picks[0].exclusive && a->end == o.duration);
 */
enum weir_mode {
    WEIR_NOW,      /* allocate at `at`, or fail with WEIR_EBUSY or WEIR_EINFEASIBLE */
    WEIR_RESERVE,  /* allocate at `at`, or reserve at the earliest later start that fits */
    WEIR_FEASIBLE, /* say whether the machine could satisfy the request, if all were up and free; take nothing */
    WEIR_PREVIEW   /* find the resources that WEIR_NOW would take, and take nothing */
};

/* Respects in which a match takes a request more strictly than usual (see weir_match). Each rules vertices out, and
 * none admits others.
 */
enum weir_strict {
    /* A slot has one parent: all that it holds is directly below one vertex, of any type, rather than anywhere in
     * a node. For tasks that must not span sockets or NUMA domains, on machines of any shape. Costs the children of
     * visited vertices. */
    WEIR_STRICT_SLOTS = 1,
    /* Pools are not divided: 3 units of a pool of 4 take all 4, and two slots never share a pool. For pools that can be
     * assigned to one job only, such as memory controllers and licenses of a site. */
    WEIR_STRICT_POOLS = 2,
    /* Levels are not skipped: a resource is directly below its parent of the request (levels above the first resource
     * may be left out), a slot below it or below one of its children; and resources side by side in the request are not
     * inside each other. For requests that mean "disks of the rack", not disks of the nodes in the rack. */
    WEIR_STRICT_LEVELS = 4
};

/* Counters of a match. */
typedef struct weir_stats {
    uint64_t visited;    /* vertices and groups of siblings visited */
    uint64_t pruned;     /* visits cut by aggregates */
    uint64_t state;      /* visits cut by the state */
    uint64_t constraint; /* visits cut by the constraint */
    uint64_t busy;       /* visits cut by jobs during the requested time */
    uint64_t policy;     /* visits cut by the hooks of the policy */
    uint64_t callbacks;  /* calls of hooks */
    uint64_t starts;     /* start times tried (WEIR_RESERVE) */
} weir_stats;

/* Events of a match, for a listener. Events do not influence the match, and cost nothing without a listener. */
enum weir_event {
    WEIR_EVENT_VISITED,    /* a vertex, or a group of siblings below the vertex, is visited */
    WEIR_EVENT_PRUNED,     /* cut by aggregates: type, need and have give the shortage */
    WEIR_EVENT_STATE,      /* cut by the state */
    WEIR_EVENT_CONSTRAINT, /* cut by the constraint */
    WEIR_EVENT_BUSY,       /* cut by a job during the requested time */
    WEIR_EVENT_POLICY,     /* cut by `prune`, or `evaluate` gave NAN */
    WEIR_EVENT_SCORED,     /* the vertex fits and got a score from `evaluate` */
    WEIR_EVENT_CHOSEN,     /* the vertex is a part of the result: have is the amount */
    WEIR_EVENTS
};
typedef struct weir_trace {
    int event;          /* enum weir_event */
    weir_vertex vertex; /* WEIR_NONE: the whole graph */
    uint32_t resource;  /* preorder number in the request */
    const char *type;   /* WEIR_EVENT_PRUNED: the type in short supply; NULL: unknown */
    int64_t need, have;
    double score;
} weir_trace;

/* A vertex, or units of a vertex, held by a job. An exclusive pick of a vertex includes all vertices below. */
typedef struct weir_pick {
    weir_vertex vertex;
    uint32_t resource; /* preorder number of the resource in the request */
    int64_t amount;    /* units; 0: shared use */
    bool exclusive;    /* the whole pool, and all vertices below */
} weir_pick;

#define WEIR_NEXT_JOB_MAX ((INT64_C(1) << 53) - 1) /* the largest integer that all readers of JSON keep exact */

/* Options of a match. A zeroed structure means WEIR_NOW at time 0, for the duration of the request, first found; `at`
 * has to be set where the clock has advanced. */
typedef struct weir_match_options {
    int mode;                  /* enum weir_mode */
    unsigned strict;           /* enum weir_strict, or-ed */
    int64_t at;                /* the start; not before the clock of the graph */
    int64_t duration;          /* 0: the duration of the request */
    bool assume_feasible;      /* the caller knows that the machine could satisfy the request: WEIR_EBUSY is returned
                                * without a test for WEIR_EINFEASIBLE */
    int64_t job;               /* the id to use, from 1 to INT64_MAX; 0: the next id that was never given for 0 and is
                                * not in use, at most WEIR_NEXT_JOB_MAX, after which ids begin again with 1 */
    const weir_policy *policy; /* NULL: first found */
    bool check_scores;         /* compare each remembered score with a fresh one; WEIR_EINVAL: different */
    weir_stats *stats;         /* NULL, or added to */
    void (*trace)(void *data, const weir_trace *t); /* NULL, or called for each event; must not change the graph */
    void *trace_data;
    /* A time after `at`; 0: none. The resources become a stage, which expires at this time, in place of a job;
     * `job` has to be 0, the mode WEIR_NOW or WEIR_RESERVE (see the section on stages). */
    int64_t stage;
    bool unlocked; /* with `stage`: the stage locks nothing */
    /* NULL, or set to the picks inside vertices that are taken as a whole, such as the cores requested in whole nodes,
     * in the order of the policy. The schedule does not contain these picks. *inside is to be freed with weir_free. */
    weir_pick **inside;
    uint32_t *ninside;
    /* The queue of the job, which the R of the job names (RFC 20, attributes); NULL: attributes.system.queue of the
     * request, if any; "": none. A stage has the queue, too. */
    const char *queue;
    /* The hierarchy in which the match searches (weir_graph_hierarchy); NULL: containment. */
    const char *subsystem;
    /* A type that jobs get as a whole only, such as "rack": a job that requests anything inside gets all of it.
     * NULL: none. The job gets what is up of each such vertex; no other job gets any part of it. */
    const char *whole;
    /* A subsystem whose edges are followed as well; NULL: none. A resource nested in the request in one that is passed
     * through, not counting slots, may then be the target of an edge of the subsystem from the vertex, such as a shelf
     * of disks that several stores share and that is inside a rack in containment. The totals of a vertex do not
     * include what edges lead to, so a match visits more vertices where the graph has the subsystem. */
    const char *follow;
} weir_match_options;

enum weir_job_state {
    WEIR_ALLOCATED,
    WEIR_RESERVED,
    WEIR_MATCHED, /* a preview: in no schedule, and belongs to the caller */
    WEIR_CLAIMED  /* a stage without locks: in no schedule */
};

/* The result of a match, and a job in the schedule. The allocation of a job belongs to the graph and is valid until
 * the graph next changes; a preview belongs to the caller (weir_allocation_free). */
typedef struct weir_allocation {
    int64_t job; /* of a stage: minus the number of the stage */
    int64_t start, end;
    int state; /* enum weir_job_state */
    const weir_pick *picks;
    uint32_t npicks;
    uint32_t nslots; /* slots of the request that the picks serve; 0: unknown, as after weir_vertex_allocate() */
    int64_t expires; /* of a stage: the time of expiry; 0: not a stage */
} weir_allocation;

/* Finds resources for a request. In the modes WEIR_NOW and WEIR_RESERVE the resources become a job in the schedule;
 * *out is the allocation, or NULL for WEIR_FEASIBLE. WEIR_EBUSY and WEIR_EINFEASIBLE: no resources; the
 * section on explanations describes how to find out why. WEIR_EEXIST: a job has the id of the options. WEIR_EINVAL: the
 * start is before the clock, or the mode, the duration or the policy makes no sense. WEIR_ELIMIT: resources side by
 * side compete in too many ways, or no start was found in 100000 tries.
 *
 * Meaning of a request:
 *   - A resource is searched for anywhere below the vertex found for its parent in the request; levels in between
 *     (racks) are searched through.
 *   - The job gets every resource that is inside a slot or exclusive: a vertex with children as a whole, a pool
 *     without children in units, as many as requested. A vertex taken as a whole must be unused, the vertices
 *     below included; resources requested inside say how large the vertex has to be.
 *   - Outside of slots, a vertex with resources requested inside is only passed through; a pool gives units; with
 *     `exclusive: false`, or without resources inside, a vertex is shared.
 *   - The tasks of a slot run on one node: all that a slot holds inside nodes comes from one node, for each slot;
 * resources outside nodes, such as storage of a rack, may come from anywhere. A slot that requests nodes, or resources
 * that contain nodes, takes the rest of its contents from any nodes.
 *   - A resource with the type of a subsystem (power=2) takes units on every vertex of the way from its place up to
 *     the source of the subsystem.
 *   - A constraint is about vertices of type "node" and "storage_node"; a vertex taken as a whole contains no node
 *     that the constraint excludes.
 *   - Units of bytes (B, kB or KB, MB ... EB, KiB ... EiB) are converted where all pools of the type have one unit: 2
 *     GB of pools in MB are 2000. Amounts are rounded up. Other units must equal the unit of the pool, where both are
 *     given.
 *   - or_slots are placed below vertex after vertex, the parent of everything that an or_slot holds: in the mix with
 *     the most or_slots there, with as many of the first alternatives as that allows.
 *   - Of the alternatives of xor_slots the first that fits serves, for all instances of a resource; in WEIR_RESERVE the
 *     first of those with the earliest start. WEIR_EINFEASIBLE: none can ever serve.
 *   - Of a varying count, each instance of the resource gets the same: the largest allowed count with which the request
 *     fits at its start, on places chosen for it. Of several varying counts the first in the request decides first.
 *     Within or_slots, and under a policy with `select` or `descend`, each place gets the largest count that fits
 *     there, or as few as `select` takes. Of units of a subsystem without an upper bound a job gets the least.
 *
 * Cost: O(k d f) where aggregates and the order decide; with `evaluate`, every candidate that fits is visited. A
 * request whose parts are free each, but nowhere together, is refused after visits to all vertices with some of each
 * part, once or twice each; the result is kept (4 bytes a row of aggregates, for up to 32 such requests), so that
 * later matches visit changed rows only. A constraint that refuses several nodes is solved for all nodes, in O(runs of
 * nodes with the named properties and ranks, and hosts) and one O(nodes) for a structure of the graph, unless the
 * graph has storage nodes. An exclusive node costs its ancestors, never its cores. */
int weir_match(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
               weir_err *err);
/* Frees a preview (WEIR_MATCHED); allocations of jobs belong to the graph and must not be freed. */
void weir_allocation_free(const weir_allocation *a);

/* Computes a lower bound of the start that WEIR_RESERVE would find, from the sums of all jobs over time, by type: no
 * start from o->at on before *start is possible, for any placement of the jobs. WEIR_FOREVER: no start is possible.
 * Vertices count that are up, in nodes with the properties of the constraint; other operands of constraints do not
 * matter, and in another hierarchy all vertices count. The resources of the job o->job, where such a job exists, count
 * as free; of the other options only the duration matters. O(types log jobs + picks of the job), and more where many
 * starts serve one type and not another; after a change of vertices or states, or for a new constraint, O(picks of all
 * jobs + vertices that do not count). */
int weir_soonest(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start, weir_err *err);

/* ---- flows ------------------------------------------------------------------------------------------------------- */

/* The pools of a subsystem other than containment are distribution units where edges leave them (RFC 4, channelled
 * pools): of what comes from the sources, each passes on as many units as its size, along its edges, to further units
 * and to the vertices served. Flows begin where edges are written from and none is written to; what a vertex gets may
 * come by several ways, and ways may have cycles. Where all edges go both ways and are written towards the source, the
 * source is a pool outside of containment from which no edge is written. A request for units of a subsystem
 * ("slot=4/node/network=2") gets vertices for which one flow serves all, and may request units of the distribution
 * units by their type in addition ("slot=3/[node/power=2;panel=1]"): a unit gives and passes no more than it has.
 *
 * Example:
 *     weir_pool_desc d = WEIR_POOL_DESC_INIT;
 *     weir_vertex pdu = WEIR_NONE;
 *     weir_flow *f = NULL;
 *     d.type = "pdu";
 *     d.size = 9;
 *     rc = weir_graph_add(g, WEIR_NONE, &d, &pdu, &err);
 *     rc = rc ? rc : weir_edge_add(g, pdu, v, "watts", "supplies", "drawn from", &err);
 *     weir_flow_options o = {.subsystem = "watts", .from = WEIR_NONE, .to = &v, .nto = 1, .units = 3};
 *     rc = rc ? rc : weir_flow_most(g, &o, &f, &err);
 *     assert(rc == WEIR_OK && f->all && f->amount == 3 && f->nshares == 1 && f->shares[0].unit == pdu);
 *     weir_flow_free(f);
 *     o.units = 0;
 *     rc = weir_flow_most(g, &o, &f, &err);
 *     assert(rc == WEIR_OK && f->amount == 9 && f->ncut == 1 && f->cut[0].unit == pdu && f->cut[0].left == 9);
 *     weir_flow_free(f);
 */
typedef struct weir_flow_options {
    const char *subsystem;
    weir_vertex from;      /* the one source; WEIR_NONE: the sources of the subsystem */
    const weir_vertex *to; /* vertices to be served */
    uint32_t nto;
    int64_t units;        /* needed by each; 0: as many as there are */
    int64_t at, duration; /* window, from the clock on; duration 0: without an end */
    bool capacity;        /* units in use, and pools that are not up, count as free */
} weir_flow_options;
/* Units that a distribution unit passes on for a vertex served. */
typedef struct weir_flow_share {
    weir_vertex vertex, unit;
    int64_t amount;
} weir_flow_share;
/* A unit of the minimum cut, and the units that were left of it before the flow. */
typedef struct weir_flow_limit {
    weir_vertex unit;
    int64_t left;
} weir_flow_limit;
typedef struct weir_flow {
    int64_t amount;        /* units in all: the maximum flow */
    bool all;              /* every vertex gets what it wants */
    const int64_t *served; /* by vertex of `to`: the earlier vertices get first what several could get */
    const weir_flow_share *shares;
    uint32_t nshares;
    const weir_flow_limit *cut; /* unless `all`: the sum of what is left of these units is the maximum flow */
    uint32_t ncut;
} weir_flow;
/* Finds the maximum flow to a set of vertices, all over a window; *out is to be freed with weir_flow_free. The graph
 * does not change. WEIR_ENOENT: no such subsystem or vertex; WEIR_EINVAL: the options make no sense. The units and
 * edges of the subsystem are listed once after each change of the graph, in O(edges of the graph); then
 * O(edges) for each way of the flow in the worst case, and the length of the way where the units are not full. */
int weir_flow_most(weir_graph *g, const weir_flow_options *o, weir_flow **out, weir_err *err);
void weir_flow_free(weir_flow *f);

/* ---- jobs (A) ---------------------------------------------------------------------------------------------------- */

/* A job holds its picks from start to end. A job whose start is not reached is a reservation. Jobs end by
 * weir_release(), or by the clock where WEIR_OVERRUN_EXPIRE is set.
 *
 * Example:
 *     weir_match_options o = {.mode = WEIR_NOW, .job = 7};
 *     const weir_allocation *a;
 *     rc = weir_match(g, r, &o, &a, &err);
 *     assert(rc == WEIR_OK && weir_job_get(g, 7)->state == WEIR_ALLOCATED);
 *     rc = weir_release(g, 7, &err);
 *     assert(weir_job_count(g) == 0);
 */
/* Returns the allocation of a job, or NULL. O(1) */
const weir_allocation *weir_job_get(const weir_graph *g, int64_t job);
/* Returns the label of the policy (weir_policy) that placed the job; "" for a job placed without a label, NULL: no
 * such job. */
const char *weir_job_policy(const weir_graph *g, int64_t job);
/* Returns the queue that the match of a job named, without a NUL behind its *len bytes; NULL: none, or no such job. */
const char *weir_job_queue(const weir_graph *g, int64_t job, size_t *len);
/* Returns the number of jobs. O(1) */
uint32_t weir_job_count(const weir_graph *g);
/* Returns the i-th job, for i below weir_job_count(), in no particular order. O(1) */
const weir_allocation *weir_job_at(const weir_graph *g, uint32_t i);

/* Gives back everything that the job holds. WEIR_ENOENT: no such job. O(k d f) */
int weir_release(weir_graph *g, int64_t job, weir_err *err);

/* A job that is detached from the schedule for a while, so that matches can be made as if the job did not exist. The
 * record belongs to the caller. */
typedef struct weir_detached weir_detached;
/* Detaches a job: afterwards the graph has no such job. WEIR_ENOENT: no such job. O(k d f) */
int weir_job_detach(weir_graph *g, int64_t job, weir_detached **out, weir_err *err);
/* Attaches a detached job as it was, with times, units and label, but with the end `end` unless `end` is 0, and frees
 * the record. WEIR_EBUSY: a pick is in use by now. WEIR_EEXIST: the id is in use by now. WEIR_EINVAL: vertices were
 * added or removed since, or the job would end before its start. On failure the record remains. O(k d f) */
int weir_job_attach(weir_graph *g, weir_detached *x, int64_t end, weir_err *err);
/* Frees the record of a detached job, which is thereby released. */
void weir_detached_free(weir_detached *x);
/* Returns the resources and times of a job as text for weir_job_book() in a copy of the graph, such as that of the
 * parent of a forked process, to be freed with weir_free. NULL: err says why. O(k d f) */
char *weir_job_record(const weir_graph *g, int64_t job, weir_err *err);
/* Books the resources of such a text, exactly, under the id `job`. WEIR_EBUSY: some resource of the text is in use, or
 * vertices or states have changed since the copies parted. WEIR_EPARSE: the text was made of another graph. O(k d f) */
int weir_job_book(weir_graph *g, int64_t job, const char *text, size_t len, weir_err *err);

/* Adds resources for a request to an existing job, from now (or the start of the job) to its end, as a whole or
 * not at all. `out` may be NULL. WEIR_EINVAL: the job has ended. Costs as weir_match(). */
int weir_job_grow(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                  const weir_allocation **out, weir_err *err);
/* Gives back everything that the job holds at and below the vertices of a list, as a whole or not at all. Where
 * the job holds an ancestor of a listed vertex as a whole, the job keeps the rest of the ancestor. Units of other
 * subsystems go with the last units of the vertex that they were taken for. A job without picks left is released.
 * WEIR_ENOENT: the error names a vertex at and below which the job holds nothing. O(n k d) */
int weir_job_shrink(weir_graph *g, int64_t job, const weir_vertex *list, uint32_t n, weir_err *err);
/* Takes v away from n jobs and removes v from the graph, as a whole or not at all. The jobs must be all jobs that
 * hold something at, below or above v. Stages that do so are dropped. O(picks of the jobs) */
int weir_graph_unlink_forced(weir_graph *g, weir_vertex v, const int64_t *jobs, uint32_t n, weir_err *err);

/* Gives `amount` units of v to a job over [start, end) without a match; the amount of the whole pool is
 * an exclusive pick. `job` is positive, and a new job or a job with the same times; units that the job holds on v
 * already remain. WEIR_EBUSY: the units are not free. WEIR_EINVAL: the job has other times, or `start` is before the
 * clock. */
int weir_vertex_allocate(weir_graph *g, weir_vertex v, int64_t job, int64_t amount, int64_t start, int64_t end,
                         weir_err *err);
/* A resource of a list that cannot be had, and who has it. */
typedef struct weir_loss {
    uint32_t pick;      /* position in the list of picks */
    weir_vertex vertex; /* of the pick; WEIR_NONE: removed from the graph */
    weir_vertex at;     /* the vertex held: the vertex of the pick, or an ancestor or a vertex below */
    int64_t job;        /* the holder; minus the number of a stage; 0: a vertex that is gone or not available */
    int64_t start, end, amount;
    bool exclusive;
} weir_loss;

/* The losses of a list, in the order of the picks, each with all holders in the way; to be freed with weir_free(list).
 */
typedef struct weir_losses {
    weir_loss *list; /* NULL: none */
    uint32_t n;
} weir_losses;
/* What a job is to hold over [start, end); job 0: under the next id. */
typedef struct weir_booking {
    int64_t job;
    int64_t start, end;
    const weir_pick *picks;
    uint32_t npicks;
} weir_booking;

/* Gives listed resources to a new job without a match, as a whole or not at all. In a pick `amount` counts; the amount
 * of the whole pool makes the pick exclusive, and 0 is shared use. Picks of a vertex are added up; a pick below a
 * vertex that is listed as a whole is a part of that vertex. WEIR_EBUSY: something is not free, or not available:
 * *lost, unless `lost` is NULL, has what cannot be had. WEIR_EINVAL: the list is empty, an amount makes no sense, or
 * `start` is before the clock. WEIR_EEXIST: a job has the id. O(n (log n + d)) */
int weir_job_allocate(weir_graph *g, const weir_booking *b, const weir_allocation **out, weir_losses *lost,
                      weir_err *err);
/* Gives back `amount` units (0: all) that a job holds on v. */
int weir_vertex_release(weir_graph *g, weir_vertex v, int64_t job, int64_t amount, weir_err *err);
/* Gives the i-th job or stage with a pick of v itself; false: no more. A use is not active while the job is
 * reserved. */
typedef struct weir_use {
    int64_t job; /* of a stage: minus the number of the stage */
    int64_t start, end, amount;
    bool exclusive, active;
} weir_use;
bool weir_vertex_use(const weir_graph *g, weir_vertex v, uint32_t i, weir_use *out);
/* Lists the jobs, stages left out, that hold or will hold something at or below v, by ascending ids (the shared
 * list of an ancestor). *jobs is to be freed with weir_free, and NULL for an empty list. O(vertices in use below v) */
int weir_vertex_jobs(const weir_graph *g, weir_vertex v, int64_t **jobs, uint32_t *n, weir_err *err);

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* A stage is a temporary lock on the resources found for a request, while a job is being considered (RFC 4: Staged).
 * weir_match() with `stage` of the options makes one. A stage holds resources as a job does: no match finds them, and
 * weir_vertex_use() shows them. Stages have numbers of their own. weir_stage_commit() turns the stage into a job with
 * the times of the stage, weir_stage_drop() gives the resources back, and the clock drops a stage that has expired.
 * The interval of the resources counts from the match. A stage is not a job: the functions for jobs do not list, find,
 * change or release stages, and stages are not saved.
 *
 * A stage without locks (`unlocked`) holds nothing: of several such stages of one resource, made by several schedulers,
 * the first commit wins, and the others hear what they lost, and to whom. weir_graph_dup() copies the stages with
 * locks.
 *
 * Example:
 *     weir_match_options o = {.mode = WEIR_NOW, .stage = 60 * INT64_C(1000000)};
 *     const weir_allocation *a;
 *     rc = weir_match(g, r, &o, &a, &err);
 *     assert(rc == WEIR_OK && a->expires == o.stage && weir_job_count(g) == 0 && weir_stage_count(g) == 1);
 *     rc = weir_stage_commit(g, -a->job, 7, &a, NULL, &err);
 *     assert(rc == WEIR_OK && a->job == 7 && weir_stage_count(g) == 0 && weir_job_count(g) == 1);
 */
/* Returns the number of stages with and without locks. O(1) */
uint32_t weir_stage_count(const weir_graph *g);
/* Returns the i-th stage, for i below weir_stage_count(), in no particular order. O(1) */
const weir_allocation *weir_stage_at(const weir_graph *g, uint32_t i);
/* Returns a stage by its number; NULL: no such stage, or it has expired. O(1), for a stage without locks O(stages) */
const weir_allocation *weir_stage_get(const weir_graph *g, int64_t stage);
/* Turns a stage into the job `job`; 0: the next id. A stage without locks books its resources, from now on where the
 * start has passed. WEIR_EBUSY: a vertex is not available any more or, of a stage without locks, not free or of another
 * size: *lost, unless `lost` is NULL, has the losses, and the stage remains. WEIR_ENOENT: no such
 * stage. WEIR_EEXIST: a job has the id. Locked: O(picks d) */
int weir_stage_commit(weir_graph *g, int64_t stage, int64_t job, const weir_allocation **out, weir_losses *lost,
                      weir_err *err);
/* Drops a stage. WEIR_ENOENT: no such stage. O(k d f) */
int weir_stage_drop(weir_graph *g, int64_t stage, weir_err *err);

/* ---- the clock --------------------------------------------------------------------------------------------------- */

/* A graph has a clock, which the caller advances. Reservations whose start is reached become allocations, in the order
 * of starts and ids, as far as no job past its end holds their resources.
 *
 * Example:
 *     weir_match_options o = {.mode = WEIR_RESERVE, .at = 500, .duration = 100, .job = 7};
 *     const weir_allocation *a;
 *     rc = weir_match(g, r, &o, &a, &err);
 *     assert(rc == WEIR_OK && a->state == WEIR_RESERVED);
 *     rc = weir_graph_advance(g, 500, &err);
 *     assert(rc == WEIR_OK && weir_job_get(g, 7)->state == WEIR_ALLOCATED);
 *
 * WEIR_OVERRUN_HOLD is the rule unless another rule is set: a job keeps its picks until the job is released, also past
 * the end. A reservation whose start is reached while its picks are in use is held back: the reservation keeps
 * vertices and duration, and starts a microsecond after the clock, as a new reservation would. Each advance holds the
 * reservation back again until the picks are released; the next advance beyond that microsecond begins the job. Later
 * reservations that the held reservation would overlap, and that cannot share its vertices, are held back likewise,
 * each until the earlier jobs end by their agreed times; all others keep their times.
 *
 * WEIR_OVERRUN_EXPIRE: a job is released when the clock reaches its end, before jobs that start at that time begin. */
enum weir_overrun { WEIR_OVERRUN_HOLD, WEIR_OVERRUN_EXPIRE };
/* Returns the time of the clock. */
int64_t weir_graph_now(const weir_graph *g);
/* Advances the clock to `now`; jobs begin, are held back and expire in the order of time. WEIR_EINVAL: `now` is
 * before the clock. O(log jobs + picks of jobs that begin or end); for reservations held back, in addition, the spans
 * of their vertices. */
int weir_graph_advance(weir_graph *g, int64_t now, weir_err *err);
/* Sets the rule for jobs past their end. Of all formats only a document keeps the rule. O(jobs log jobs) for a new
 * rule. WEIR_ENOMEM */
int weir_graph_overrun(weir_graph *g, enum weir_overrun rule, weir_err *err);
/* Returns the rule for jobs past their end. */
enum weir_overrun weir_graph_overrun_rule(const weir_graph *g);
/* Events of the last advance, in order; stages that expired come first. A reservation that is held back several times
 * is reported the first time only. */
enum weir_clock_change { WEIR_CLOCK_START, WEIR_CLOCK_HOLD, WEIR_CLOCK_EXPIRE, WEIR_CLOCK_UNSTAGE };
typedef struct weir_clock_event {
    int64_t job;  /* for WEIR_CLOCK_UNSTAGE minus the number of the stage */
    int64_t time; /* the start of the job; for WEIR_CLOCK_EXPIRE the end; for WEIR_CLOCK_UNSTAGE the expiry */
    int kind;     /* enum weir_clock_change */
} weir_clock_event;
/* Returns the events of the last advance, *n of them, valid until the next advance. */
const weir_clock_event *weir_graph_events(const weir_graph *g, uint32_t *n);
/* Sets the clock back to `now`, 0 or later, for a clock that followed a wrong clock. Jobs move with the clock: the time
 * until the start of a reservation, and until the end of a job, stays, and a job past the end stays past the end, or
 * ends 1 us after a start at `now`. A job that began at `now` or before keeps the start; later starts move by the
 * difference. No job may be detached meanwhile. O(vertices + picks) */
int weir_graph_rewind(weir_graph *g, int64_t now, weir_err *err);

/* ---- explanations ------------------------------------------------------------------------------------------------ */

/* Why a request does not fit is counted and tried out. weir_explain_levels() counts the vertices of each requested type
 * that cannot serve, by cause. weir_match() answers all other questions: WEIR_FEASIBLE says whether the machine could
 * satisfy the request if all were up and free; WEIR_RESERVE finds the earliest start; and WEIR_PREVIEW, on a duplicate
 * (weir_graph_dup) whose obstacles are removed one after the other, finds the obstacles that matter. An obstacle is a
 * job (weir_job_detach, weir_job_attach), a vertex that is not up (weir_vertex_set_state), a part of the constraint, or
 * a hook of the policy. `weir explain` and e:explain() of the Lua library do so, and name the smallest sets of
 * obstacles.
 *
 * Example:
 *     const char *text = "slot=4/node";
 *     weir_match_options now = {.mode = WEIR_NOW, .job = 7}, preview = {.mode = WEIR_PREVIEW};
 *     const weir_allocation *a;
 *     weir_request *four = NULL;
 *     weir_level *levels = NULL;
 *     weir_graph *copy = NULL;
 *     weir_detached *detached = NULL;
 *     uint32_t n = 0;
 *     rc = weir_request_parse(text, strlen(text), "request", &four, &err);
 *     rc = rc ? rc : weir_match(g, r, &now, &a, &err);
 *     rc = rc ? rc : weir_explain_levels(g, four, &preview, WEIR_NONE, &levels, &n, &err);
 *     assert(rc == WEIR_OK && n == 1 && levels[0].visited == 4 && levels[0].left == 3);
 *     assert(levels[0].causes[0].by == WEIR_CAUSE_EXCLUSIVITY && levels[0].causes[0].count == 1);
 *     rc = weir_graph_dup(g, &copy, &err);
 *     rc = rc ? rc : weir_job_detach(copy, 7, &detached, &err);
 *     rc = rc ? rc : weir_match(copy, four, &preview, &a, &err);
 *     assert(rc == WEIR_OK && a->npicks == 4);
 *     weir_allocation_free(a);
 *     weir_detached_free(detached);
 *     weir_graph_free(copy);
 *     weir_levels_free(levels);
 *     weir_request_free(four);
 */

/* Why vertices cannot serve: the first cause in the order of the enumeration counts. */
enum weir_cause_kind {
    WEIR_CAUSE_CONSTRAINT,
    WEIR_CAUSE_SMALL, /* too little of `type` in all */
    WEIR_CAUSE_STATE,
    WEIR_CAUSE_POLICY,
    WEIR_CAUSE_EXCLUSIVITY, /* jobs use the vertex */
    WEIR_CAUSE_TIME,        /* jobs will use the vertex before the request would end */
    WEIR_CAUSE_AGGREGATE,   /* too little of `type` is free */
    WEIR_CAUSES
};
typedef struct weir_cause {
    int by;           /* enum weir_cause_kind */
    const char *type; /* WEIR_CAUSE_SMALL, WEIR_CAUSE_AGGREGATE */
    uint64_t count;   /* vertices */
} weir_cause;

/* What became of all vertices of the type of a resource: each vertex is counted once, under its first cause, or may
 * serve as far as state, schedule and aggregates decide. Strings belong to the request and the graph. */
typedef struct weir_level {
    const char *type;
    const char *unit;         /* of all pools of the type; "": none, or several */
    uint32_t resource;        /* preorder number in the request */
    int64_t need;             /* in units of the pools, for each vertex or slot around the resource */
    uint64_t visited, left;   /* vertices of the type; vertices without a cause */
    const weir_cause *causes; /* most vertices first */
    uint32_t ncauses;
} weir_level;

#define WEIR_EXPLAIN_LEVELS 32 /* the most resources of a request with a weir_level */

/* Counts the vertices for the resources of a request, slots and units of other subsystems left out: *n levels, to be
 * freed with weir_levels_free(). Of the options, `at`, `duration`, `policy`, `strict` and `follow` count. `where`: only
 * vertices at, above or below this vertex; WEIR_NONE: all vertices. WEIR_EINVAL: the start is before the clock. A
 * pass over the vertices for each level. */
int weir_explain_levels(weir_graph *g, const weir_request *r, const weir_match_options *o, weir_vertex where,
                        weir_level **levels, uint32_t *n, weir_err *err);
void weir_levels_free(weir_level *levels);

/* ---- find -------------------------------------------------------------------------------------------------------- */

/* A query is a condition on vertices, compiled once: "type=node and state=up and not tag=maintenance and size>=64 and
 * (property=bigmem or name=n[1-16])".
 *   fields     type name basename id uuid size unit state rank path free idle allocated exclusive leaf
 *              staged (a stage has units of the vertex, or an ancestor as a whole); property=KEY, tag=KEY and
 *              data=KEY (the key exists); property.KEY, tag.KEY and data.KEY (the value); job=ID
 *   operators  = != < <= > >=, and, or, not, parentheses
 *   values     words (type a,b; name n[1-16] or with * and ?; id and rank as idsets), numbers, "quoted" texts
 *
 * Example:
 *     const char *text = "type=node and id<2";
 *     weir_query *q = NULL;
 *     weir_vertex *list = NULL;
 *     uint32_t n = 0;
 *     rc = weir_query_parse(text, strlen(text), &q, &err);
 *     rc = rc ? rc : weir_find(g, q, WEIR_NONE, &list, &n, &err);
 *     assert(rc == WEIR_OK && n == 2);
 *     weir_free(list);
 *     weir_query_free(q);
 */
typedef struct weir_query weir_query;
/* Compiles a condition. WEIR_ELIMIT: more than 64 KB, or 64 levels of parentheses. O(len) */
int weir_query_parse(const char *text, size_t len, weir_query **out, weir_err *err);
/* Returns whether the condition holds for v; false also where memory is exhausted. */
bool weir_query_match(const weir_query *q, const weir_graph *g, weir_vertex v);
void weir_query_free(weir_query *q);
/* Lists the vertices at and below `start` (WEIR_NONE: all vertices) for which the condition holds, in preorder. *out
 * is to be freed with weir_free, and may be NULL for an empty list. O(n), less where a type or a path in the condition
 * excludes subtrees. */
int weir_find(const weir_graph *g, const weir_query *q, weir_vertex start, weir_vertex **out, uint32_t *n,
              weir_err *err);

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Functions that make a graph from a graph, or compare graphs. The source is never changed; a new graph is independent
 * of the source and to be freed with weir_graph_free(). Only weir_graph_merge() and weir_graph_merge_parts() change a
 * graph, the first argument.
 *
 * Example:
 *     weir_graph *part = NULL;
 *     rc = weir_graph_extract(g, &v, 1, &part, &err);
 *     assert(rc == WEIR_OK && weir_graph_count(part) == 3 + 4);
 *     rc = weir_graph_merge(g, part, NULL, &err);
 *     assert(rc == WEIR_OK && weir_graph_count(g) == 1 + 2 + 4 + 16);
 *     weir_graph_free(part);
 */
/* Copies the whole graph with its schedule; vertices keep their indices. O(n) */
int weir_graph_dup(const weir_graph *g, weir_graph **out, weir_err *err);
/* Copies the ancestors of v and the pools at and below v that are available now, without a schedule; the size of a
 * pool becomes its free units. Pools of other subsystems that serve what is copied, such as switches and panels, come
 * along with their free units, and so do the edges. O(n), and O(edges) for each edge of the longest way to a source */
int weir_graph_copy(const weir_graph *g, weir_vertex v, weir_graph **out, weir_err *err);
/* Copies the listed vertices, all vertices below, all ancestors, and the edges between them, without a
 * schedule. O(n) */
int weir_graph_extract(const weir_graph *g, const weir_vertex *list, uint32_t n, weir_graph **out, weir_err *err);
/* Adds to g the vertices and edges of `other` that g does not have. `uri` names the vertex of g that corresponds
 * to the root of `other`, of the same type, or a new path in containment whose parent is there: then the root is added
 * with the last name of the path. NULL: the vertex with the path of the root, or a new root. Vertices with equal paths
 * correspond to each other. WEIR_EEXIST: base data of corresponding vertices differ; the error names the
 * vertex. */
int weir_graph_merge(weir_graph *g, const weir_graph *other, const char *uri, weir_err *err);
/* As weir_graph_merge(), but where both graphs have a pool without children, of one name, type and unit, with a size
 * other than 1 or with a unit, `other` has a further part of the pool: the units add up. WEIR_EBUSY: a job has such a
 * pool as a whole. */
int weir_graph_merge_parts(weir_graph *g, const weir_graph *other, const char *uri, weir_err *err);
/* Compares vertices (base and extended data), order of children, edges and, with `books`, jobs. WEIR_EINVAL: the
 * graphs differ; the error names the first difference. */
int weir_graph_compare(const weir_graph *a, const weir_graph *b, bool books, weir_err *err);
/* Returns the changes that turn a into b, with jobs and clock, as a JSON text, to be freed with weir_free; NULL: err
 * says why. The text has what differs; core/store/difference.h describes the text. WEIR_EINVAL: some text of a graph is
 * no UTF-8. O(n log n) */
char *weir_graph_diff(const weir_graph *a, const weir_graph *b, weir_err *err);
/* Makes of g and a text of weir_graph_diff() the graph that the text leads to: the documents (see the section on
 * formats) of that graph and of b are equal, byte for byte. `source` names the text in errors. WEIR_EINVAL: the text is
 * for a different graph, or for another state of g; or the text is no difference. O(n) */
int weir_graph_apply(const weir_graph *g, const char *text, size_t len, const char *source, weir_graph **out,
                     weir_err *err);
/* Makes a coarse view: the roots and the vertices of the types in `keep` remain; below each of them, all other
 * pools are summed to one pool for each type and unit. The view has no schedule; units held by jobs are left out.
 * *map, to be freed with weir_free, has for each vertex of g the vertex of the view, or WEIR_NONE. */
int weir_graph_coarsen(const weir_graph *g, const char *const *keep, uint32_t nkeep, weir_graph **out,
                       weir_vertex **map, weir_err *err);

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* Machines are read from descriptions in several formats, and written as texts for programs and for people.
 *
 * Example:
 *     weir_graph *again = NULL;
 *     char *text = weir_graph_format(g, "jgf", &err);
 *     rc = text ? weir_graph_parse(text, strlen(text), "a text", NULL, &again, &err) : err.code;
 *     assert(rc == WEIR_OK && weir_graph_compare(g, again, false, &err) == WEIR_OK);
 *     weir_graph_free(again);
 *     weir_free(text);
 *
 * Formats to read:
 *   "grug"       recipes in GraphML
 *   "jgf"        JSON Graph Format
 *   "rv1"        an R (RFC 20)
 *   "hwloc"      XML of hwloc; "hwloc:TYPES" selects types, as in "hwloc:node,socket,L3cache,core"
 *   "synthetic"  a line such as "cluster:1 rack:4 node:16"
 *   "sqlite"     a database, with the schedule
 *   "document"   a JSON graph with the schedule; "jgf" reads documents, too
 * Formats to write, for graphs "jgf", "document", "rv1", "rv1_nosched", "rlite", "csv"; for allocations "rv1",
 * "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand":
 *   jgf    JSON Graph Format: weir_graph_parse() makes the same graph of the text, without the schedule. A shorthand
 *          leaves out the vertices below a vertex that is taken as a whole, and says so in "writer".
 *   document  JSON Graph Format with all that a graph keeps: clock, jobs and reservations, the next id, the rule for
 *          jobs past their end, states, tags, data, UUIDs, subsystems. weir_graph_parse() makes the whole of it again;
 *          other readers of JSON graphs find the machine. Vertices are numbered in preorder and keys are sorted, so
 *          that equal states give equal bytes. WEIR_EINVAL: some text of the graph is no UTF-8.
 *   rv1    an R (RFC 20) with the graph in "scheduling"; rv1_nosched: without the graph; rlite: the array R_lite alone
 *   csv    a table (RFC 4180 quoting, lines end in LF) with a row for each vertex, in preorder, and the columns path,
 *          type, basename, id, name, size, unit, state, rank, free, allocated, jobs, properties, tags, exclusive,
 *          data. An empty field means none. `state` is the state of the vertex alone; `free` takes ancestors into
 *          account. `jobs` are the jobs ("1-3,7") that hold or will hold something at or below the vertex, or an
 *          ancestor as a whole. properties and tags are "key=value;key", with '\' before ';', '=' and '\'; data is a
 *          JSON object.
 * Trees for people and pictures (Graphviz, SVG, HTML) are made by the library in Lua, which draws the data of this
 * interface. Costs are O(n). */

/* Reads a machine from a text into a new graph. `source` names the text in errors; NULL for `format`: the content
 * decides the format. */
int weir_graph_parse(const char *text, size_t len, const char *source, const char *format, weir_graph **out,
                     weir_err *err);
/* Reads a machine from the file `path` ("-" is standard input). A JSON graph is read in blocks: memory is needed for
 * the graph, not for the text. */
int weir_graph_load(const char *path, const char *format, weir_graph **out, weir_err *err);
/* Makes a graph of the computer that runs the program, by hwloc. */
int weir_graph_discover(weir_graph **out, weir_err *err);
/* Returns the format that weir_graph_parse() would choose for a text; NULL: none. */
const char *weir_format_guess(const char *text, size_t len);

/* Options of the writers. WEIR_EINVAL: the format does not have the option. */
typedef struct weir_format_options {
    weir_vertex start; /* csv: only the vertices at and below; WEIR_NONE: all */
} weir_format_options;
#define WEIR_FORMAT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        WEIR_NONE                                                                                                      \
    }

/* Returns the text of a graph, to be freed with weir_free; NULL: err says why. */
char *weir_graph_format(const weir_graph *g, const char *format, weir_err *err);
/* Returns the text of a graph as weir_graph_format() does, with options. */
char *weir_graph_format_with(const weir_graph *g, const char *format, const weir_format_options *o, weir_err *err);
/* Returns the text of an allocation, to be freed with weir_free; NULL: err says why. */
char *weir_allocation_format(const weir_graph *g, const weir_allocation *a, const char *format, weir_err *err);

/* Takes the next piece of a text. A negative result stops the writer, which then fails with WEIR_EIO. */
typedef int (*weir_sink)(void *data, const char *text, size_t len);
/* Passes the text of a graph to `sink` in pieces; csv is made piece by piece, in little memory. `o` may be NULL. */
int weir_graph_write(const weir_graph *g, const char *format, const weir_format_options *o, weir_sink sink, void *data,
                     weir_err *err);
/* Passes the text of an allocation to `sink` in pieces; a graph in the text (jgf, rv1) is made piece by piece. */
int weir_allocation_write(const weir_graph *g, const weir_allocation *a, const char *format, weir_sink sink, void *data,
                          weir_err *err);

/* Finds the picks in g of an allocation written as a JSON graph (jgf, jgf_shorthand, or an R with a
 * graph). Vertices are found by their paths, and by ranks where both sides have ranks. An exclusive vertex is a pick
 * of the whole, whether the text has the vertices below or not; a `size` below the size of the pool is a pick of so
 * many units; vertices that only lead to picks are left out; any remaining vertex is a pick of 0 units, shared.
 * `resource` is 0. *picks, in the order of the text, is to be freed with weir_free; weir_vertex_allocate() enters the
 * picks into the schedule. WEIR_ENOENT: the error names a vertex that g does not have. O(n d) for n vertices in the
 * order of g; for each vertex out of order, in addition, the children of its parent. */
int weir_graph_resolve(const weir_graph *g, const char *text, size_t len, const char *source, weir_pick **picks,
                       uint32_t *n, weir_err *err);
/* Informs a job that was booked by such picks which of its units of switches and the like flow to which vertex, as the
 * `shares` in the text say: weir_job_shrink() gives these units back with the vertex. WEIR_ENOENT: no such job, or
 * no such vertex. WEIR_EEXIST: the job has flows. WEIR_EINVAL: the job has fewer units. Costs as
 * weir_graph_resolve(). */
int weir_job_resolve_flows(weir_graph *g, int64_t job, const char *text, size_t len, const char *source, weir_err *err);

/* Returns the content of a text as JSON, to be freed with weir_free; NULL: err says why. Formats: "yaml"; "json";
 * "grug", a recipe as {nodes, edges} with all fields, edges with the positions `from` and `to` in addition; "hwloc",
 * the objects of an XML as {type, index, name, size, device, infos, children}. The limits are those of the readers. */
char *weir_text_to_json(const char *text, size_t len, const char *source, const char *format, weir_err *err);

/* ---- stores ------------------------------------------------------------------------------------------------------ */

/* A graph is saved to a file, whole or in changes, or as pieces to a key-value store.
 *
 * Example:
 *     weir_graph *again = NULL;
 *     rc = weir_graph_save(g, "machine.db", NULL, 0, &err);
 *     rc = rc ? rc : weir_vertex_set_state(g, v, WEIR_DOWN, &err);
 *     rc = rc ? rc : weir_graph_save(g, "machine.db", NULL, WEIR_SAVE_CHANGED, &err);
 *     rc = rc ? rc : weir_graph_load("machine.db", NULL, &again, &err);
 *     assert(rc == WEIR_OK && weir_vertex_state(again, v) == WEIR_DOWN);
 *     weir_graph_free(again);
 */
/* Saves a graph to a file. At any moment, also after a kill, the file has the old content or the new content.
 * Formats: "sqlite", and the formats of weir_graph_format(); NULL: "sqlite" for names that end in .db, .sqlite or
 * .sqlite3, "jgf" for all others.
 *
 * "sqlite" saves the whole graph with its schedule in one transaction, in WAL mode. The schema is in each file, with
 * comments (`sqlite3 machine.db .schema`). Vertices keep their indices, jobs their ids, times, slots and the label of
 * their policy; a loaded graph gives the same answers. For people the database has the views vertex (a row a vertex),
 * path, jobs (in seconds), job_nodes and node_free, in addition to the tables property, tag, data, state and pick:
 *
 *   SELECT name FROM node_free
 *   SELECT job, state, starts, policy, name FROM jobs JOIN job_nodes USING (job)
 *   SELECT path, value FROM tag JOIN path USING (vertex) WHERE key = 'owner'
 *
 * A graph in the file is replaced. WEIR_EEXIST: the file is no database of weir, or has another schema. WEIR_EBUSY:
 * another process was writing to the file for 5 seconds. WEIR_EUNSURE: the disk failed during the commit, and reading
 * the file again failed, too; with every other failure the file has the old content. WEIR_ELIMIT: removed vertices have
 * left more than 2^20 empty places, and 16 for each vertex, among the children of others.
 *
 * With WEIR_SAVE_CHANGED a database gets the changes since the last save of the graph to the file, or since the
 * load from the file; everything, where the last save or load was of another file. WEIR_EEXIST: another process has
 * saved to the file since. After the first save to a database (or load from one) the graph notes changes, 8 bytes
 * each, for up to 65536 vertices, edges and jobs each; with more changes of a sort, all of the sort is written. A text
 * is written whole, but not at all where nothing has changed since the last save as a text to the file.
 * weir_graph_changed() and weir_graph_extract() give the changed part. */
#define WEIR_SAVE_CHANGED 1u
int weir_graph_save(weir_graph *g, const char *path, const char *format, unsigned flags, weir_err *err);
/* Lists the vertices added or changed (except allocations) since the last save to a database, or load from one, in
 * ascending order; all vertices, where no save or load was made, or where too many changed. *list is to be freed with
 * weir_free. O(changes log changes) */
int weir_graph_changed(const weir_graph *g, weir_vertex **list, uint32_t *n, weir_err *err);

/* A graph with its schedule as texts under keys, for stores of small values. The pieces of a change,
 * stored over the pieces of earlier saves, give the pieces of the whole graph.
 *
 *   meta       the clock, the id of the next job, the stamp of the save, names of subsystems
 *   kinds/K/I  data that pools share (type, basename, unit, size), from kind K on
 *   block/B/I  vertices 256 B to 256 B + 255: the tree, ids, ranks, names, UUIDs, states, properties, tags
 *   data/V/I   extended data of vertex V, each key a piece
 *   edges/B/I  edges 256 B to 256 B + 255 of subsystems other than containment
 *   jobs/J/I   job J: its times and its picks
 *   jobs/J/R   job J as an R (RFC 20, without scheduling) for other readers, as of the last change of the job; missing
 *              for a job without ranks
 *
 * I counts from 0; a text of more than about 256 KB continues in the next piece. Except for R, a text is a JSON list
 * of rows, ["table", value, ...], of the tables of a database (weir_graph_save). A list of pieces serves one graph
 * only. */
typedef struct weir_pieces weir_pieces;

/* Makes the pieces of the changes since the save with the stamp `stamp`, or since the load of such a save; of the
 * whole graph, where `stamp` is NULL or unknown to the graph. O(changes and the blocks of the changes); O(edges) where
 * an edge changed. */
int weir_graph_pieces(const weir_graph *g, const char *stamp, weir_pieces **out, weir_err *err);
/* Informs the graph that the pieces are stored: changes of the graph are noted from now on. WEIR_EINVAL: the graph has
 * changed since the pieces were made. */
int weir_pieces_stored(weir_pieces *p, weir_graph *g, weir_err *err);
/* Returns an empty list, to be filled from a store with weir_pieces_put(); NULL: memory is exhausted. */
weir_pieces *weir_pieces_new(void);
/* Adds a text under a key. */
int weir_pieces_put(weir_pieces *p, const char *key, const char *text, size_t len, weir_err *err);
/* Makes the graph of all texts. WEIR_EPARSE: the error names the key and the row of a value that makes no sense. */
int weir_pieces_graph(const weir_pieces *p, weir_graph **out, weir_err *err);
void weir_pieces_free(weir_pieces *p);
/* Gives the i-th piece, valid as long as the list; false: no more. *text is NULL for a key that ends in '/': of the
 * texts stored below such a key only those in this list remain, and a store deletes the rest. */
bool weir_pieces_at(const weir_pieces *p, uint32_t i, const char **key, const char **text, size_t *len);
/* Returns the stamp of the save that the pieces make. */
const char *weir_pieces_stamp(const weir_pieces *p);

/* ---- resource sets (RFC 20) -------------------------------------------------------------------------------------- */

/* A resource set is an R (version 1) as data: ranks with their hosts and the ids of their cores, gpus and other types;
 * properties, times, slots; and three parts that are kept as texts: scheduling, attributes, and keys unknown to RFC
 * 20. Ranks with equal children cost as much as a single rank. Sets made from each other share memory and are used by
 * one thread at a time. r: ranges of ranks and ids of the sets.
 *
 * Example:
 *     weir_rset *all = NULL, *some = NULL;
 *     weir_idset *ranks = NULL;
 *     rc = weir_graph_rset(g, WEIR_RSET_ALL, false, &all, &err);
 *     rc = rc ? rc : weir_idset_parse("0-1", 3, &ranks, &err);
 *     rc = rc ? rc : weir_rset_select_ranks(all, ranks, &some, &err);
 *     assert(rc == WEIR_OK && weir_rset_count(all, "core") == 16 && weir_rset_count(some, "core") == 8);
 *     weir_rset_free(some);
 *     weir_rset_free(all);
 *     weir_idset_free(ranks);
 */
typedef struct weir_rset weir_rset;
#define WEIR_RSET_RANKS (1u << 22) /* the most ranks of a set */
#define WEIR_RSET_TYPES 256        /* the most types of children on a rank */

/* Returns a set without ranks; NULL: memory is exhausted. */
weir_rset *weir_rset_new(void);
void weir_rset_free(weir_rset *r);
int weir_rset_copy(const weir_rset *r, weir_rset **out, weir_err *err);
/* Reads an R. Where the R has only `scheduling`, R_lite is derived from the graph in scheduling. Errors name the
 * key. WEIR_EINVAL: among other reasons a rank given twice, a number of hosts that differs from the number of ranks,
 * a property with a character reserved by RFC 20 or on a missing rank, an expiration before the start.
 * O(len) */
int weir_rset_parse(const char *text, size_t len, const char *source, weir_rset **out, weir_err *err);
/* Reads the file `path` ("-" is standard input) as weir_rset_parse() reads a text. */
int weir_rset_load(const char *path, weir_rset **out, weir_err *err);
/* Checks the rules of RFC 20 that reading does not enforce: a nodelist, ranks, cores on each rank, a readable graph in
 * scheduling with everything that R_lite names. WEIR_EINVAL: the error names the key. */
int weir_rset_validate(const weir_rset *r, weir_err *err);
/* A violation of RFC 20 in a text. */
typedef struct weir_fault {
    const char *place; /* the key, such as "execution.R_lite[0].rank"; "" for the document */
    const char *text;
} weir_fault;
typedef struct weir_faults weir_faults;
/* Checks a text against every SHALL and MUST of RFC 20, and collects all faults, at most `most`: what the reader
 * tolerates, such as a vertex without a uuid, is a fault here. Keys that RFC 20 reserves are none, except for keys
 * next to version, execution, scheduling and attributes. A time of 0 counts as not set, and an empty idset is an idset.
 * *out is to be freed with weir_faults_free(). WEIR_ENOMEM. O(len) */
int weir_rset_check(const char *text, size_t len, uint32_t most, weir_faults **out, weir_err *err);
/* Returns the faults, *n of them, in the order of the text's sections, valid as long as f. */
const weir_fault *weir_faults_list(const weir_faults *f, uint32_t *n);
void weir_faults_free(weir_faults *f);
/* Returns a text, to be freed with weir_free; NULL: err says why. Formats: "rv1"; "rv1_nosched" (without scheduling);
 * "rlite" (the array R_lite); "rlist" ("rank[0-1]/core[0-3],gpu0", for people). Keys have a fixed order: equal sets
 * give equal texts. */
char *weir_rset_format(const weir_rset *r, const char *format, weir_err *err);
/* Returns the JSON text of a part that is kept as a text, to be freed with weir_free; NULL: err says why. Keys:
 * "scheduling" (the part that belongs to the set), "attributes" or another key of the document, "execution.KEY".
 * WEIR_ENOENT: no such key. */
char *weir_rset_get(const weir_rset *r, const char *key, weir_err *err);
/* Returns the writer of scheduling, "fluxion" where scheduling does not name a writer; NULL: the set has no
 * scheduling. */
const char *weir_rset_writer(const weir_rset *r);

/* Returns the ranks, valid as long as the set. */
const weir_idset *weir_rset_ranks(const weir_rset *r);
/* Gives the hosts in the order of the ranks as a new list; *out is NULL for a set without ranks. WEIR_ENOENT: the set
 * has no nodelist. */
int weir_rset_hosts(const weir_rset *r, weir_hostlist **out, weir_err *err);
/* Returns the number of ids of a type on all ranks; NULL for `type`: the number of ranks. */
uint64_t weir_rset_count(const weir_rset *r, const char *type);
/* Returns the ids of a type on a rank, valid as long as the set; NULL: none. O(entries log r) */
const weir_idset *weir_rset_children(const weir_rset *r, int64_t rank, const char *type);
/* Gives the i-th entry of R_lite: ranks with equal children, in the order of lowest ranks; false: no more. */
bool weir_rset_entry(const weir_rset *r, uint32_t i, const weir_idset **ranks);
/* Gives the k-th type and its ids of entry i: core, gpu, then further types by name; false: no more. */
bool weir_rset_entry_child(const weir_rset *r, uint32_t i, uint32_t k, const char **type, const weir_idset **ids);
/* Gives the i-th property in the order of the text, with a suffix ("NAME@SUFFIX") where the text has a suffix;
 * false: no more. */
bool weir_rset_property(const weir_rset *r, uint32_t i, const char **name, const weir_idset **ranks);
/* Sets a property on ranks. */
int weir_rset_set_property(weir_rset *r, const char *name, const weir_idset *ranks, weir_err *err);
/* Returns the start in microseconds since 1970; 0: not set. */
int64_t weir_rset_start(const weir_rset *r);
/* Returns the expiration in microseconds since 1970; WEIR_FOREVER: not set. */
int64_t weir_rset_end(const weir_rset *r);
int weir_rset_set_times(weir_rset *r, int64_t start, int64_t end, weir_err *err);
/* Returns the number of slots of the allocation that the set is, or is a part of; 0: unknown. */
uint32_t weir_rset_nslots(const weir_rset *r);
/* Returns the bytes of memory of the set. What several sets share counts in each of them in equal parts. */
size_t weir_rset_bytes(const weir_rset *r);
/* Returns whether two sets have equal ids on equal ranks, and equal hosts. */
bool weir_rset_equal(const weir_rset *a, const weir_rset *b);

/* Makes a set of two sets. A set counts as its ids, rank by rank, so that parts add up: (a - b) | (a & b) is a. A
 * rank leaves with its last id; a rank that never had ids counts as having an id of its own. Everything else comes
 * from a: properties on the remaining ranks (in a union also those of b), times, slots, further keys (in a union also
 * keys that only b has). Each part keeps its share of scheduling and gets the share back in a union: a JSON graph is
 * cut by ranks and ids; a graph that no reader takes, and the text of an unknown writer, stay whole, and of two graphs
 * a union keeps the graph that a reader takes. The first part of a JSON graph costs O(text), further parts of sets from
 * the same document O(vertices). WEIR_EINVAL: a rank has different hosts in a and b. WEIR_EEXIST: the graphs are of two
 * different machines; or, for WEIR_RSET_APPEND (a union of sets that share nothing), both sets have an id. O(r), and
 * more where many ranks differ. */
enum weir_rset_op { WEIR_RSET_UNION, WEIR_RSET_INTERSECT, WEIR_RSET_DIFF, WEIR_RSET_APPEND };
int weir_rset_combine(enum weir_rset_op op, const weir_rset *a, const weir_rset *b, weir_rset **out, weir_err *err);
/* Makes the part of a set on the given ranks; ranks that the set does not have are ignored. */
int weir_rset_select_ranks(const weir_rset *r, const weir_idset *ranks, weir_rset **out, weir_err *err);
/* Makes the part of a set on the given hosts; hosts that the set does not have are ignored. */
int weir_rset_select_hosts(const weir_rset *r, const weir_hostlist *hosts, weir_rset **out, weir_err *err);
/* Makes the part of a set on the ranks for which a constraint (RFC 31) holds. */
int weir_rset_select(const weir_rset *r, const weir_constraint *c, weir_rset **out, weir_err *err);
/* Makes the set with new ranks, as a child instance numbers them: 0, 1, ... in the order of the old ranks, or in the
 * order of `hosts`, a list with each host once (WEIR_ENOENT, WEIR_EINVAL: not so). With `ids`, ids of all types except
 * gpu count from 0 on each rank, and scheduling, which has the old ids, is dropped. */
int weir_rset_remap(const weir_rset *r, const weir_hostlist *hosts, bool ids, weir_rset **out, weir_err *err);

/* Makes the machine of a set: the graph in scheduling, without the resources that R_lite does not name and with
 * the ranks that R_lite gives to the hosts; or, without scheduling, a cluster of nodes. */
int weir_rset_graph(const weir_rset *r, weir_graph **out, weir_err *err);
/* Makes a set of the cores and gpus of a graph: of all, of those at or below vertices that are down, or of those held
 * by jobs now. Hosts are the vertices with a rank. In a graph without ranks the nodes are numbered from 0 in the order
 * of the graph. WEIR_EINVAL: only some nodes have a rank; the error names a node without a rank. With `scheduling`,
 * which WEIR_RSET_ALL allows only, the set has the graph. */
enum weir_rset_what { WEIR_RSET_ALL, WEIR_RSET_DOWN, WEIR_RSET_ALLOCATED };
int weir_graph_rset(const weir_graph *g, enum weir_rset_what what, bool scheduling, weir_rset **out, weir_err *err);
/* Makes the set of an allocation, as weir_graph_rset() makes the set of a graph. */
int weir_allocation_rset(const weir_graph *g, const weir_allocation *a, bool scheduling, weir_rset **out,
                         weir_err *err);

/* ---- sets of ids (RFC 22) ---------------------------------------------------------------------------------------- */

/* A set of ids from 0 to 4294967295, such as "0-3,7". A set costs 8 bytes for each run of consecutive ids, of any
 * length. Functions that only read a set take NULL for the empty set. Functions that return an id return -1 for none.
 * A function with a status and without `err` returns WEIR_ENOMEM or a status of its comment. r: runs of the sets.
 *
 * Example:
 *     weir_idset *s = NULL;
 *     char *text;
 *     rc = weir_idset_parse("0-3,7", 5, &s, &err);
 *     rc = rc ? rc : weir_idset_add_range(s, 4, 6);
 *     text = weir_idset_format(s, WEIR_IDSET_RANGES, &err);
 *     assert(text && strcmp(text, "0-7") == 0 && weir_idset_count(s) == 8);
 *     weir_free(text);
 *     weir_idset_free(s);
 */
#define WEIR_IDSET_MAX      UINT32_MAX
#define WEIR_IDSET_LIST_IDS (1u << 24) /* the most ids that a text without ranges may have */
#define WEIR_IDSET_RANGES   1u         /* write "1-3", not "1,2,3" */
#define WEIR_IDSET_BRACKETS 2u         /* write "[1-3]" for sets of two ids or more */

/* Returns an empty set; NULL: memory is exhausted. */
weir_idset *weir_idset_new(void);
void weir_idset_free(weir_idset *s);
/* Copies a set. WEIR_EINVAL: s is NULL. */
int weir_idset_copy(const weir_idset *s, weir_idset **out);
/* Reads ids and ranges in ascending order, none twice, without leading zeros, with or without brackets around the
 * whole. WEIR_EPARSE: err has line 1 and the column. WEIR_ELIMIT: an id is above WEIR_IDSET_MAX. O(len) */
int weir_idset_parse(const char *text, size_t len, weir_idset **out, weir_err *err);
/* Returns the text, to be freed with weir_free; NULL: err says why. `flags`: WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS.
 * WEIR_ELIMIT: the text would list more than WEIR_IDSET_LIST_IDS ids without ranges. */
char *weir_idset_format(const weir_idset *s, unsigned flags, weir_err *err);

/* Adds all ids in [lo, hi], both ends included. WEIR_EINVAL: lo is above hi. O(1) for ids above the last id, otherwise
 * O(log r) to find the place and O(r) to move the runs behind. */
int weir_idset_add_range(weir_idset *s, uint32_t lo, uint32_t hi);
/* Removes all ids in [lo, hi], both ends included. WEIR_EINVAL: lo is above hi. O(r) */
int weir_idset_remove_range(weir_idset *s, uint32_t lo, uint32_t hi);
int weir_idset_add_id(weir_idset *s, uint32_t id);
int weir_idset_remove_id(weir_idset *s, uint32_t id);
/* Adds n ids in any order, repeated or not; the array is sorted in place. O(r + n log n) */
int weir_idset_add_list(weir_idset *s, uint32_t *ids, size_t n);
/* Moves the n lowest ids, or all ids of a smaller set, to a new set. O(r) */
int weir_idset_take(weir_idset *s, uint64_t n, weir_idset **out);

bool weir_idset_test(const weir_idset *s, uint32_t id); /* O(log r) */
uint64_t weir_idset_count(const weir_idset *s);         /* O(1) */
int64_t weir_idset_first(const weir_idset *s);          /* O(1) */
int64_t weir_idset_last(const weir_idset *s);           /* O(1) */
/* Returns the lowest id above `id`, which need not be in the set. O(log r) */
int64_t weir_idset_next(const weir_idset *s, int64_t id);
/* Returns the highest id below `id`, which need not be in the set. O(log r) */
int64_t weir_idset_prev(const weir_idset *s, int64_t id);
/* Returns the last id of the run of consecutive ids around `id`; -1: `id` is not in the set. O(log r) */
int64_t weir_idset_run_end(const weir_idset *s, int64_t id);
/* Gives the i-th run [lo, hi] of consecutive ids, from 0; false: no more. O(1) */
bool weir_idset_run(const weir_idset *s, size_t i, uint32_t *lo, uint32_t *hi);
/* Returns the bytes of memory of the set. */
size_t weir_idset_bytes(const weir_idset *s);

bool weir_idset_equal(const weir_idset *a, const weir_idset *b);            /* O(r) */
bool weir_idset_contains(const weir_idset *a, const weir_idset *b);         /* all of b is in a. O(r) */
bool weir_idset_has_intersection(const weir_idset *a, const weir_idset *b); /* a and b share an id. O(r) */
/* Add b to a, or remove b from a; b may be a itself. O(r) */
int weir_idset_add(weir_idset *a, const weir_idset *b);
int weir_idset_subtract(weir_idset *a, const weir_idset *b);
/* Make a new set of the ids in a or b, in a but not in b, in both. WEIR_EINVAL: a is NULL; for an intersection also b.
 * O(r) */
int weir_idset_union(const weir_idset *a, const weir_idset *b, weir_idset **out);
int weir_idset_difference(const weir_idset *a, const weir_idset *b, weir_idset **out);
int weir_idset_intersect(const weir_idset *a, const weir_idset *b, weir_idset **out);

/* ---- lists of hosts (RFC 29) ------------------------------------------------------------------------------------- */

/* A list of host names, such as "login,node[001-128,130]". Names keep their order and their leading zeros, and may be
 * repeated. A list costs 40 bytes for each range of the text, of any length. Functions that only read a list take NULL
 * for the empty list. s: ranges of the list.
 *
 * Example:
 *     weir_hostlist *h = NULL;
 *     char name[64];
 *     rc = weir_hostlist_parse("node[08-10]", 11, &h, &err);
 *     weir_hostlist_nth(h, 1, name, sizeof name);
 *     assert(rc == WEIR_OK && weir_hostlist_count(h) == 3 && strcmp(name, "node09") == 0);
 *     weir_hostlist_free(h);
 */
#define WEIR_HOSTLIST_DIGITS 18         /* digits of a number that counts; a longer number is part of the text before */
#define WEIR_HOSTLIST_EXPAND (1u << 24) /* the most bytes of names made of ranges with a text behind the bracket */
#define WEIR_HOSTLIST_RUNS   (1u << 22) /* the most ranges that sorting or deleting may make of repeated names */

/* Returns an empty list; NULL: memory is exhausted. */
weir_hostlist *weir_hostlist_new(void);
void weir_hostlist_free(weir_hostlist *h);
/* Copies a list. WEIR_EINVAL: h is NULL. */
int weir_hostlist_copy(const weir_hostlist *h, weir_hostlist **out);
/* Reads expressions prefix[ids]suffix between commas. WEIR_EPARSE: err has line 1 and the column. WEIR_ELIMIT: more
 * than WEIR_HOSTLIST_DIGITS digits of a number in brackets, WEIR_NAME_MAX bytes of a name, or INT64_MAX hosts.
 * O(len) */
int weir_hostlist_parse(const char *text, size_t len, weir_hostlist **out, weir_err *err);
/* Appends the hosts of a text, with the errors of weir_hostlist_parse(). O(len) */
int weir_hostlist_append(weir_hostlist *h, const char *text, size_t len, weir_err *err);
/* Appends a single name, without a meaning for brackets. WEIR_EINVAL: a character that a host name cannot have.
 * O(len) */
int weir_hostlist_append_name(weir_hostlist *h, const char *name, size_t len, weir_err *err);
/* Appends all names of another list. */
int weir_hostlist_append_list(weir_hostlist *h, const weir_hostlist *other, weir_err *err);
/* Returns the compact text, to be freed with weir_free; NULL: err says why. Consecutive names share brackets. A text
 * behind brackets is written with each name, unless the names would take more than WEIR_HOSTLIST_EXPAND bytes. */
char *weir_hostlist_format(const weir_hostlist *h, weir_err *err);

/* Returns the number of names. O(1) */
uint64_t weir_hostlist_count(const weir_hostlist *h);
/* Writes the i-th name (from 0) and returns its length; 0: no more. O(log s) */
size_t weir_hostlist_nth(const weir_hostlist *h, uint64_t i, char *buf, size_t size);
/* Returns the first position of a name, or -1. O(s); O(log s) after weir_hostlist_index(), until the list changes. */
int64_t weir_hostlist_find(const weir_hostlist *h, const char *name, size_t len);
/* Makes an index for weir_hostlist_find(). */
int weir_hostlist_index(weir_hostlist *h);
/* Returns whether two lists have equal names in equal order. */
bool weir_hostlist_equal(const weir_hostlist *a, const weir_hostlist *b);
/* Returns the bytes of memory of the list. */
size_t weir_hostlist_bytes(const weir_hostlist *h);

/* Delete, for each name of a text or a list, the first occurrence; a name given twice is deleted twice, a missing name
 * is ignored. *deleted (unless NULL) is the number of deleted names. WEIR_ELIMIT: as for weir_hostlist_sort(). O(s log
 * s) */
int weir_hostlist_delete(weir_hostlist *h, const char *text, size_t len, uint64_t *deleted, weir_err *err);
int weir_hostlist_delete_list(weir_hostlist *h, const weir_hostlist *names, uint64_t *deleted, weir_err *err);
/* Deletes the i-th name. WEIR_ENOENT: the list has no i-th name. O(s) */
int weir_hostlist_delete_at(weir_hostlist *h, uint64_t i);
/* Sorts by the text before the number, then by the length of the number (9 < 10 < 010), then by the number. With a
 * text behind the bracket the number does not count: "foo[1-2]-bar" is two names. WEIR_ELIMIT: more than
 * WEIR_HOSTLIST_RUNS ranges or WEIR_HOSTLIST_EXPAND bytes. O(s log s) */
int weir_hostlist_sort(weir_hostlist *h);
/* Sorts the list and keeps each name once. */
int weir_hostlist_uniq(weir_hostlist *h);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
