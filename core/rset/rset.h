/* rset.h - the struct behind weir_rset, a resource set (RFC 20, R version 1), and the functions that the files of rset/
 * share. Private to the core.
 *
 *   rset.c            making and querying sets, the canonical form
 *   rset_read.c       sets from JSON
 *   rset_write.c      sets to JSON
 *   rset_algebra.c    union, difference, intersection, parts
 *   rset_remap.c      sets with new ranks
 *   rset_scheduling.c the key `scheduling`: its writer, and the part of the key that belongs to a part of the set
 *   rset_jgf.c        scheduling as a JSON graph: parts of the graph, new ranks, by the reader of machines
 *   rset_jgf_join.c   scheduling as a JSON graph: two graphs joined
 *   rack_table.c      scheduling as RFC 49 has it: the topology of nodes (rack_table_ranks.c: parts, new ranks)
 *   rset_check.c      validation beyond the rules that reading enforces
 *   rset_collect.c    sets of a graph or an allocation
 *   rset_graph.c      graphs of a set
 *   rv1_read.c        the reader of machines for the format R
 *   rv1_write.c       the writers of machines and allocations for the format R
 *
 * Ranks with equal children form a class. Main invariant (canonical form): classes have disjoint, non-empty sets of
 * ranks, differ in their children, and ascend by their lowest ranks; the children of a class are ordered core, gpu,
 * then the rest by name, and none is empty; `ranks` is the union of the ranks of all classes. A rank may have no
 * children. Properties keep the order of the input; each has at least one rank, and only ranks of the set.
 */
#ifndef WEIR_RSET_H
#define WEIR_RSET_H

#include "base/json_write.h"

#include "request/constraint.h"

/* The ids of one type on each rank of a class. */
struct rset_child {
    char *type;
    weir_idset *ids;
};

/* Ranks with equal children. */
struct rset_class {
    weir_idset *ranks;
    struct rset_child *children;
    uint32_t count, cap;
};

struct rset_classes {
    struct rset_class *list;
    uint32_t count, cap;
};

/* Ranks lo to hi, both included, belong to the class with index `class`. */
struct rset_run {
    uint32_t lo, hi, class;
};

struct rset_runs {
    struct rset_run *list;
    uint32_t count, cap;
};

/* The hosts of a document, shared by all sets derived from the document: the i-th rank of `ranks` has the i-th host. */
struct rset_hosts {
    uint32_t refs;
    weir_idset *ranks;
    weir_hostlist *list;
};

/* The key `scheduling` of a document, unchanged, and the classes of the set in the document; shared by all sets derived
 * from the document. A part of the set keeps the full value: only writing cuts the value down to the part. */
struct rset_scheduling {
    uint32_t refs;
    char *text;   /* JSON without blanks between tokens */
    char *writer; /* NULL: the value names no writer */
    bool graph;   /* the value has the key `graph` */
    size_t bytes; /* of memory, without the reading */
    struct rset_classes whole;
    struct rset_reading *reading;                /* of a JSON graph; NULL: no part was needed yet (rset_jgf.c) */
    void (*drop_reading)(struct rset_reading *); /* set with `reading`: frees a reading */
};

struct weir_rset {
    struct rset_classes classes;
    weir_idset *ranks;
    struct rset_hosts *hosts; /* NULL: not known */
    struct weir_rank_property *props;
    uint32_t nprops, props_cap;
    int64_t start, end; /* microseconds; 0 means "unset", as RFC 20 says */
    bool has_start, has_end;
    uint32_t nslots; /* 0: not known */
    struct rset_scheduling *scheduling;
    json_t *execution, *document; /* unknown keys of `execution` and of the document, kept unchanged; NULL: none */
};

/* ---- rset.c ---- */

/* Inserts a child in order. The class must have no child of the type. Takes ownership of the ids, also on failure. */
int weir_rset_add_child(struct rset_class *c, const char *type, weir_idset *ids) WEIR_CHECKED;
/* Returns the ids of a type in a class, or NULL if the class is NULL or has no such type. */
const weir_idset *weir_rset_child(const struct rset_class *c, const char *type);
/* Returns true if two classes have equal children; ranks do not count. */
bool weir_rset_same_children(const struct rset_class *a, const struct rset_class *b);
/* Adds copies of the children of a class, but not of the ranks, to an empty class. */
int weir_rset_class_copy(const struct rset_class *from, struct rset_class *to) WEIR_CHECKED;
/* Free the content of one class, or of all classes of a list, and leave an empty struct behind. */
void weir_rset_class_clear(struct rset_class *c);
void weir_rset_classes_clear(struct rset_classes *c);
/* Appends a run; the caller keeps the runs ascending, or sorts at the end. */
int weir_rset_run_add(struct rset_runs *runs, uint32_t lo, uint32_t hi, uint32_t class) WEIR_CHECKED;
/* Appends the runs of a set of ranks; NULL: none. */
int weir_rset_runs_add(struct rset_runs *runs, const weir_idset *ranks, uint32_t class) WEIR_CHECKED;
/* Returns the run with a rank, of sorted runs without common ranks, or NULL. O(log runs) */
const struct rset_run *weir_rset_run_at(const struct rset_runs *runs, int64_t rank);
/* Sorts runs by rank. O(n) if the runs are already sorted. */
void weir_rset_sort_runs(struct rset_runs *runs);
/* Appends the runs of all classes, and sorts by rank. */
int weir_rset_runs_of(const struct rset_classes *c, struct rset_runs *out) WEIR_CHECKED;
/* Gives a new set its classes in canonical form: raw classes with equal children become one class. The runs, ascending
 * and disjoint, assign ranks to the raw classes, whose own `ranks` are ignored and whose children may move into the
 * set. Fails with WEIR_ELIMIT if there are more ranks than WEIR_RSET_RANKS. */
int weir_rset_settle(weir_rset *r, struct rset_classes *raw, const struct rset_runs *runs, weir_err *err) WEIR_CHECKED;
/* weir_rset_settle() with raw classes that have ranks, which are freed; rc is the status of their making. */
int weir_rset_settle_all(weir_rset *r, struct rset_classes *raw, int rc, weir_err *err) WEIR_CHECKED;

/* Make a shared record with one reference. The records own `ranks`, `list` and the text of the content, which are freed
 * on failure; the writer of the content, and `whole`, are copied. Return NULL if out of memory, or if the content has
 * no text. */
struct rset_hosts *weir_rset_hosts_new(weir_idset *ranks, weir_hostlist *list);
struct rset_scheduling *weir_rset_scheduling_new(const struct rset_scheduling *content,
                                                 const struct rset_classes *whole);
/* Sets *out to a new value of the text of a record. WEIR_EPARSE: a number out of range, or a key given twice. */
int weir_rset_scheduling_json(const struct rset_scheduling *s, const char *source, json_t **out,
                              weir_err *err) WEIR_CHECKED;
/* Add a reference to a shared record, which may be NULL, and return the record. */
struct rset_hosts *weir_rset_hosts_ref(struct rset_hosts *h);
struct rset_scheduling *weir_rset_scheduling_ref(struct rset_scheduling *s);
/* Remove a reference, and free the record with the last reference. NULL is allowed. */
void weir_rset_hosts_drop(struct rset_hosts *h);
void weir_rset_scheduling_drop(struct rset_scheduling *s);

/* Appends a property with a name that is new to the set. Takes ownership of the ranks, also on failure. */
int weir_rset_add_property(weir_rset *r, const char *name, weir_idset *ranks) WEIR_CHECKED;
/* Returns true if RFC 20 does not allow the name of a property, with the reason in `text`. */
bool weir_rset_name_fault(const char *name, char text[160]);
/* Fails with WEIR_EINVAL if the expiration is not after the start. */
int weir_rset_check_times(const weir_rset *r, const char *source, weir_err *err);
/* Returns the facts about ranks by which constraints are evaluated. The facts borrow from the set. */
struct weir_rank_facts weir_rset_facts(const weir_rset *r);

/* ---- rset_read.c ---- */

/* Reads a set from the value of `execution`. `source` names the document in errors. */
int weir_rset_from_execution(const json_t *execution, const char *source, weir_rset **out, weir_err *err) WEIR_CHECKED;

/* ---- rset_write.c ---- */

/* Writes {"version":1,"execution":{...}: the outermost object is left open for further keys. */
int weir_rset_write_head(const weir_rset *r, weir_buf *b, weir_err *err) WEIR_CHECKED;
/* Writes the array R_lite. */
int weir_rset_write_rlite(const weir_rset *r, weir_buf *b) WEIR_CHECKED;

/* ---- rset_algebra.c ---- */

/* Copies times, slots and the unknown keys of a set to the result of an operation, where the result has none so far. */
void weir_rset_inherit(weir_rset *result, const weir_rset *from);

/* ---- rset_remap.c ---- */

/* Makes the new numbers of some ranks: the i-th rank of `old` becomes to[i]. */
int weir_rset_map_ranks(const weir_idset *old, const uint32_t *to, const weir_idset *ranks,
                        weir_idset **out) WEIR_CHECKED;

/* ---- rset_scheduling.c ---- */

/* The operations on `scheduling` for the writers (RFC 20) of a scheme. Values of unknown writers are kept unchanged
 * and never cut.
 *   cut   writes the part that belongs to r; with `to`, the i-th rank of r becomes to[i]
 *   join  writes the parts that belong to a and b as one value */
struct rset_writer {
    const char *scheme;
    int (*cut)(const weir_rset *r, const uint32_t *to, weir_buf *out, weir_err *err);
    int (*join)(const weir_rset *a, const weir_rset *b, weir_buf *out, weir_err *err);
};

/* Returns the operations for the scheduling of a set, or NULL if the set has no scheduling or the writer is unknown. */
const struct rset_writer *weir_rset_known_writer(const weir_rset *r);
/* Return true if the scheduling of a set has a JSON graph, or the topology of RFC 49. */
bool weir_rset_has_graph(const weir_rset *r);
bool weir_rset_has_topology(const weir_rset *r);
/* Writes the part of the scheduling that belongs to the set: nothing if the set has no such part. With `to`, the i-th
 * rank of the set becomes to[i]. */
int weir_rset_write_scheduling(const weir_rset *r, const uint32_t *to, weir_buf *b, weir_err *err) WEIR_CHECKED;
/* Gives the union of a and b the scheduling of both. If the writers differ, the scheduling of a is kept, or else of
 * b. */
int weir_rset_scheduling_join(weir_rset *result, const weir_rset *a, const weir_rset *b, weir_err *err) WEIR_CHECKED;
/* Gives a set a text as scheduling, by the writer of a second set. Takes ownership of the text. WEIR_ENOMEM, also if
 * the text is NULL. */
int weir_rset_scheduling_give(weir_rset *r, const weir_rset *like, char *text, weir_err *err) WEIR_CHECKED;

/* ---- rset_jgf.c, rset_jgf_join.c: the operations of struct rset_writer for JSON graphs ---- */

struct jgf_element; /* format/jgf/jgf.h */
struct weir_strtab; /* base/strtab.h */

/* A vertex or an edge of a part of a JSON graph. */
struct rset_item {
    const char *text; /* that contains the element */
    const struct jgf_element *element;
    uint32_t at;    /* position in "nodes" or "edges" */
    uint32_t equal; /* index of the equal item in a second list; WEIR_NONE (rset_jgf_join.c) */
    int64_t number; /* sort key; -1: none (rset_jgf_join.c) */
};

struct rset_items {
    struct rset_item *list;
    uint32_t count;
    struct rset_rewritten *rewritten; /* texts of vertices that are not as in the document (rset_jgf_shares.c) */
};

/* A JSON graph as the reader of machines understands the text. */
struct rset_reading;

/* Returns the names of a reading: ids, subsystems, relationships. */
const struct weir_strtab *weir_rset_reading_names(const struct rset_reading *o);
/* Lists the vertices and the edges of the part that belongs to a set, for weir_rset_items_free(). Returns 1; 0 if the
 * reader of machines refuses the graph, or if there is no graph; or WEIR_ENOMEM. */
int weir_rset_jgf_items(const weir_rset *r, struct rset_items items[2]) WEIR_CHECKED;
/* Writes the scheduling of a set with the given vertices and edges instead of all; `to` as in struct rset_writer. */
void weir_rset_jgf_write(const weir_rset *r, const struct rset_items items[2], const uint32_t *to, weir_buf *out);

/* Frees lists of vertices and edges. */
void weir_rset_items_free(struct rset_items items[2]);
/* Sets *out to the shares of a vertex (format/jgf/jgf_write.c), to be released with json_decref(), or to NULL if the
 * vertex has none whose sum is the size. WEIR_ENOMEM. */
int weir_rset_shares(const struct rset_item *item, json_t **out) WEIR_CHECKED;
/* Makes a text for a vertex with other shares and their sum as the size; the text belongs to the list. WEIR_ENOMEM. */
int weir_rset_shares_give(struct rset_items *items, struct rset_item *item, const json_t *shares) WEIR_CHECKED;
/* Adds the shares of y to the vertex x of a list: equal shares count once. The vertex with more units is kept where one
 * has no shares. WEIR_ENOMEM. */
int weir_rset_shares_join(struct rset_items *items, struct rset_item *x, const struct rset_item *y) WEIR_CHECKED;

int weir_rset_jgf_cut(const weir_rset *r, const uint32_t *to, weir_buf *out, weir_err *err) WEIR_CHECKED;
/* Joins two JSON graphs; a graph that the reader refuses is left out. Fails with WEIR_EEXIST if an id names different
 * vertices in the two graphs. */
int weir_rset_jgf_join(const weir_rset *a, const weir_rset *b, weir_buf *out, weir_err *err) WEIR_CHECKED;

/* ---- rset_graph.c ---- */

/* Makes the graph of a set: the graph of its scheduling, fitted to R_lite, or else the graph of R_lite. `source` names
 * the document in errors. */
int weir_rset_build(const weir_rset *r, const char *source, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* Makes the graph of R_lite, with the topology of RFC 49 if `scheduling` has one, but without a JSON graph. */
int weir_rset_build_flat(const weir_rset *r, const char *source, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* Checks that the graph in scheduling can be read, and has all cores and gpus that R_lite names. */
int weir_rset_check_graph(const weir_rset *r, weir_err *err) WEIR_CHECKED;
/* Gives a graph the times of the set as its validity. Times before 1970 are read as the first microsecond of 1970. */
void weir_rset_give_validity(const weir_rset *r, weir_graph *g);
/* Gives the nodes of a graph the ranks of their hosts in the set, and removes the resources that the set lacks, where
 * set and graph number the resources identically (see rset_graph.c). On failure, the graph may be changed: the caller
 * frees it. */
int weir_rset_fit(const weir_rset *r, weir_graph *g, weir_err *err) WEIR_CHECKED;

/* Finds the vertices with the names of hosts: nodes[i] is the vertex of the i-th host, or WEIR_NONE. Returns 1, or 0,
 * with nothing found, if two vertices have the name of one host, or WEIR_ENOMEM. The call makes the index of `hosts`.
 */
int weir_rset_find_hosts(const weir_graph *g, weir_hostlist *hosts, weir_vertex *nodes, weir_err *err) WEIR_CHECKED;

/* ---- rset_collect.c ---- */

struct weir_input;   /* format/json_read.h */
struct weir_written; /* format/output.h */

/* Makes the set of a graph or an allocation, without scheduling. `what` is an enum weir_rset_what. If `names` is false,
 * the set has neither hosts nor properties. */
int weir_rset_collect(const struct weir_written *w, int what, bool names, weir_rset **out, weir_err *err) WEIR_CHECKED;

/* ---- rv1_read.c, rv1_write.c ---- */

/* The reader of machines (a weir_reader) and the writers (weir_writers) of R version 1 (RFC 20). */
int weir_rv1_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err);
int weir_rv1_write(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_rv1_write_shorthand(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_rv1_write_nosched(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_rlite_write(const struct weir_written *w, weir_buf *b, weir_err *err);

#endif
