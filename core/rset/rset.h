/* rset.h - how a resource set (RFC 20, R version 1) is kept, and what its files share. Private to the core.
 *
 *   rset.c            making, asking, the canonical form
 *   rset_read.c       from JSON
 *   rset_write.c      to JSON
 *   rset_algebra.c    union, difference, parts
 *   rset_remap.c      other ranks
 *   rset_scheduling.c the key `scheduling`: who wrote it, and which part of it belongs to a part of the set
 *   rset_jgf.c        ... where it is a JSON graph (rset_jgf_join.c: two of them as one)
 *   rset_check.c      what RFC 20 asks for beyond what can be read
 *   rset_collect.c    from a graph or an allocation
 *   rset_graph.c      the machine that a set stands for
 *
 * Ranks with the same children are one class. Main invariant (canonical form): classes have disjoint, non-empty sets of
 * ranks and differ in their children; they are in the order of their lowest ranks; the children of a class are in the
 * order core, gpu, others by name, and none is empty; `ranks` is the union of all classes. A rank may have no children.
 * Properties are in the order in which they came; each is on some rank of the set, and on none that is not.
 */
#ifndef WEIR_RSET_H
#define WEIR_RSET_H

#include <jansson.h>

#include "request/constraint.h"

struct rset_child {
    char *type;
    weir_idset *ids;
};

struct rset_class {
    weir_idset *ranks;
    struct rset_child *children;
    uint32_t count, cap;
};

struct rset_classes {
    struct rset_class *list;
    uint32_t count, cap;
};

/* Ranks lo to hi belong to a class, by number. */
struct rset_run {
    uint32_t lo, hi, class;
};

struct rset_runs {
    struct rset_run *list;
    uint32_t count, cap;
};

/* The hosts of a document, shared by all sets that were made from it: the i-th of `ranks` has the i-th host. */
struct rset_hosts {
    uint32_t refs;
    weir_idset *ranks;
    weir_hostlist *list;
};

/* The key `scheduling` of a document as it came, and what the set had to which it belongs; shared likewise. A part of that
 * set keeps the whole of it: what is cut is only what is written. */
struct rset_scheduling {
    uint32_t refs;
    json_t *value;
    struct rset_classes whole;
};

struct weir_rset {
    struct rset_classes classes;
    weir_idset *ranks;
    struct rset_hosts *hosts; /* NULL: not known */
    struct weir_rank_property *props;
    uint32_t nprops, props_cap;
    int64_t start, end; /* microseconds; 0 stands for "unset", as RFC 20 says */
    bool has_start, has_end;
    uint32_t nslots;    /* 0: not known */
    struct rset_scheduling *scheduling;
    json_t *execution, *document; /* the other keys of `execution`, and of the document; NULL: none */
};

/* ---- rset.c ---- */

/* How the children of a class are ordered. */
int weir_rset_compare_types(const char *a, const char *b);
/* Adds a child, at its place; takes the ids over, also when it fails. There is no child of that type yet. */
int weir_rset_add_child(struct rset_class *c, const char *type, weir_idset *ids) WEIR_CHECKED;
const weir_idset *weir_rset_child(const struct rset_class *c, const char *type); /* NULL: none */
bool weir_rset_same_children(const struct rset_class *a, const struct rset_class *b);
int weir_rset_class_copy(const struct rset_class *from, struct rset_class *to) WEIR_CHECKED; /* children only */
void weir_rset_class_clear(struct rset_class *c);
void weir_rset_classes_clear(struct rset_classes *c);
/* The class of a rank, or NULL. */
const struct rset_class *weir_rset_class_of(const struct rset_classes *c, int64_t rank);
int weir_rset_run_add(struct rset_runs *runs, uint32_t lo, uint32_t hi, uint32_t class) WEIR_CHECKED;
void weir_rset_sort_runs(struct rset_runs *runs);
/* The runs of all classes, ascending. */
int weir_rset_runs_of(const struct rset_classes *c, struct rset_runs *out) WEIR_CHECKED;
/* Gives a new set its classes: `raw` (whose ranks are not looked at, and whose children go over) with the runs that say
 * which ranks they have, ascending and disjoint. WEIR_ELIMIT: too many ranks. */
int weir_rset_settle(weir_rset *r, struct rset_classes *raw, const struct rset_runs *runs, weir_err *err) WEIR_CHECKED;

/* Makes the shared pieces; what they hold is taken over, also on failure. NULL: out of memory. */
struct rset_hosts *weir_rset_hosts_new(weir_idset *ranks, weir_hostlist *list);
struct rset_scheduling *weir_rset_scheduling_new(json_t *value, const struct rset_classes *whole);
struct rset_hosts *weir_rset_hosts_ref(struct rset_hosts *h);
struct rset_scheduling *weir_rset_scheduling_ref(struct rset_scheduling *s);
void weir_rset_hosts_drop(struct rset_hosts *h);
void weir_rset_scheduling_drop(struct rset_scheduling *s);

/* A property that the set has not yet; takes the ranks over, also when it fails. */
int weir_rset_add_property(weir_rset *r, const char *name, weir_idset *ranks) WEIR_CHECKED;
/* Gives a property to ranks of the set, besides those that have it. O(properties) */
int weir_rset_give(weir_rset *r, const char *name, const weir_idset *ranks) WEIR_CHECKED;
/* Whether something is wrong with the name of a property, and what. */
bool weir_rset_name_fault(const char *name, char text[160]);
/* WEIR_EINVAL: the expiration is not after the start. */
int weir_rset_check_times(const weir_rset *r, const char *source, weir_err *err);
struct weir_rank_facts weir_rset_facts(const weir_rset *r);

/* ---- rset_read.c ---- */

/* Reads the value of `execution`. */
int weir_rset_from_execution(const json_t *execution, const char *source, weir_rset **out, weir_err *err) WEIR_CHECKED;

/* ---- rset_write.c ---- */

/* {"version":1,"execution":{...} without the end of the outermost object; R_lite alone. */
int weir_rset_write_head(const weir_rset *r, weir_buf *b, weir_err *err) WEIR_CHECKED;
int weir_rset_write_rlite(const weir_rset *r, weir_buf *b) WEIR_CHECKED;

/* ---- rset_algebra.c ---- */

/* Gives a set what no operation is about (times, slots, keys kept as they came), as far as it has not got it yet. */
void weir_rset_inherit(weir_rset *result, const weir_rset *from);

/* ---- rset_scheduling.c ---- */

/* Who knows what the other keys of `scheduling` mean, by the scheme of its `writer` (RFC 20). A writer that is not in the
 * table is kept as it came and never cut. Each may be NULL, and takes what is the value of `scheduling`.
 *   build     the machine; *out stays NULL: R_lite tells
 *   cut       the part that belongs to r; *out is a new reference, as below
 *   join      two parts as one
 *   renumber  the same with other ranks: the i-th of `ranks` becomes to[i] */
struct rset_writer {
    const char *scheme;
    int (*build)(const json_t *scheduling, const char *source, weir_graph **out, weir_err *err);
    int (*cut)(const weir_rset *r, json_t **out, weir_err *err);
    int (*join)(const json_t *a, const json_t *b, json_t **out, weir_err *err);
    int (*renumber)(const json_t *scheduling, const weir_idset *ranks, const uint32_t *to, json_t **out, weir_err *err);
};

/* Who wrote the scheduling of a set; NULL: nobody that is known, or there is none. */
const struct rset_writer *weir_rset_known_writer(const weir_rset *r);
/* What belongs to the set of its scheduling, a new reference; *out NULL: nothing. */
int weir_rset_scheduling_part(const weir_rset *r, json_t **out, weir_err *err) WEIR_CHECKED;
/* Gives a union the scheduling of both. */
int weir_rset_scheduling_join(weir_rset *result, const weir_rset *a, const weir_rset *b, weir_err *err) WEIR_CHECKED;

/* ---- rset_jgf.c ---- */

int weir_rset_jgf_cut(const weir_rset *r, json_t **out, weir_err *err) WEIR_CHECKED;
int weir_rset_jgf_renumber(const json_t *scheduling, const weir_idset *ranks, const uint32_t *to, json_t **out,
                           weir_err *err) WEIR_CHECKED;
/* The machine as the key `scheduling` has it; *out NULL: it has none. */
int weir_rset_jgf_build(const json_t *scheduling, const char *source, weir_graph **out, weir_err *err) WEIR_CHECKED;

/* ---- rset_jgf_join.c ---- */

int weir_rset_jgf_join(const json_t *a, const json_t *b, json_t **out, weir_err *err) WEIR_CHECKED;

/* ---- rset_graph.c ---- */

/* The machine that a set stands for; `source` names it in errors. */
int weir_rset_build(const weir_rset *r, const char *source, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* The same by R_lite alone. */
int weir_rset_build_flat(const weir_rset *r, const char *source, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* Gives the nodes of a graph the ranks that the set has for their hosts, and takes away what the set does not have,
 * wherever the two go by the same numbers. */
int weir_rset_fit(const weir_rset *r, weir_graph *g, weir_err *err) WEIR_CHECKED;

/* ---- rset_collect.c ---- */

struct weir_input;   /* format/json_read.h */
struct weir_written; /* format/output.h */

/* The set of an allocation or graph, without scheduling; `what` is an enum weir_rset_what. Without `names`, it has neither
 * hosts nor properties. */
int weir_rset_collect(const struct weir_written *w, int what, bool names, weir_rset **out, weir_err *err) WEIR_CHECKED;

/* R version 1 (RFC 20): the reader of machines (a weir_reader), and the writers (weir_writers). */
int weir_rv1_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err);
int weir_rv1_write(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_rv1_write_shorthand(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_rv1_write_nosched(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_rlite_write(const struct weir_written *w, weir_buf *b, weir_err *err);

#endif
