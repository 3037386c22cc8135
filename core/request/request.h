/* request.h - the types shared by the files of request/: requests, documents, counts.
 *
 * Text is read into a document (a JSON value, and for YAML and shapes the line and column of each part); the document
 * is compiled into a request. Invariants of a request: siblings are adjacent in `pool`, order[i]->index == i, no slot
 * is below a slot, each slot has children, and all strings of the resources belong to `resources`.
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include "base/json_write.h"

#define WEIR_REQUEST_DEPTH     32                 /* levels of nested resources */
#define WEIR_REQUEST_RESOURCES 4096               /* resources of a request, or of an alternative */
#define WEIR_REQUEST_ALL       16384              /* resources of all alternatives of a request */
#define WEIR_DOCUMENT_DEPTH    256                /* levels of nested containers in a document */
#define WEIR_DOCUMENT_MARKS    (1u << 20)         /* values with a line and column */
#define WEIR_CONSTRAINT_DEPTH  64                 /* levels of nested operators */
#define WEIR_COUNT_MAX         (INT64_C(1) << 53) /* largest integer that is exact in JSON and Lua numbers */
#define WEIR_COUNT_VALUES      65536              /* values of a count given as a set */
#define WEIR_QUOTE             48                 /* size of a quoted string in an error message */

/* A demand for at least `amount` units of `type`. */
struct weir_need {
    const char *type;
    int64_t amount;
};

struct weir_need_span {
    uint32_t first, count; /* slice of weir_request.needs */
};

struct weir_request {
    json_t *root;                /* the whole jobspec */
    json_t *resources;           /* the resources that were compiled: those of root, or those without nested slots */
    weir_resource *pool;         /* all resources, siblings adjacent, the top level first */
    const weir_resource **order; /* the resources in preorder */
    uint32_t count, top;         /* number of resources: in all, at the top level */
    int64_t duration;            /* microseconds, or WEIR_FOREVER */
    weir_constraint *constraint; /* NULL: no constraint */
    const char *queue;           /* attributes.system.queue, which belongs to root; NULL: none */
    struct weir_need *needs;
    struct weir_need_span *spans; /* by preorder number; entry `count` is for the whole request */
    weir_request **alternatives;  /* of xor_slots; else NULL. The fields above are then those of the first, but root */
    uint32_t nalternatives;
};

/* The resource with preorder number `index`. */
const weir_resource *weir_request_resource(const weir_request *r, uint32_t index);
/* The constraint of a request; NULL if the request has none. */
const weir_constraint *weir_request_constraint(const weir_request *r);
/* The fewest units of each type that one instance of resource `index` needs strictly below the vertex taken for the
 * instance, *n of them. Lower bounds, used for pruning: a shared resource (not taken by the job) is counted once,
 * because several instances may share one vertex. The array belongs to the request. O(1) */
#define RESOURCE_NONE UINT32_MAX /* of a resource that is not in the request: no needs are known */
const struct weir_need *weir_resource_needs(const weir_request *r, uint32_t index, uint32_t *n);
/* Lower bounds of the units of each type that the whole request needs, *n of them, with the guarantees above. */
const struct weir_need *weir_request_needs(const weir_request *r, uint32_t *n);
/* Compute r->needs and r->spans, once all resources are filled. Returns WEIR_OK or WEIR_ENOMEM. */
int weir_request_compute_needs(weir_request *r) WEIR_CHECKED;

/* Convert a request's amounts to the units of a graph's pools, where both units are bytes with a prefix (B, kB, MB,
 * GiB, ...) and all pools of the type have one unit. *out is `r` itself if no amount needs conversion, else a new
 * request, valid while `r` and `g` stay unchanged.
 * Returns WEIR_OK or WEIR_ENOMEM. O(kinds of pools) for each resource with a unit. */
int weir_request_bind(const weir_request *r, const weir_graph *g, const weir_request **out) WEIR_CHECKED;
/* Copy a request, to change counts in the copy. Valid while `r` stays unchanged; to be freed with
 * weir_request_unbind(r, *out). The copy has no needs until a count is fixed, and shares the sets of counts with `r`.
 */
int weir_request_copy(const weir_request *r, weir_request **out) WEIR_CHECKED;
/* Fix the count of the resource with preorder number `index` in a copy, and compute the needs of the copy. O(resources)
 */
int weir_request_fix_count(weir_request *r, uint32_t index, int64_t n) WEIR_CHECKED;
/* Free `bound`, a result of weir_request_bind() or weir_request_copy() for `r`. A no-op if `bound` is `r` itself. */
void weir_request_unbind(const weir_request *r, const weir_request *bound);

/* ---- documents --------------------------------------------------------------------------------------------- */

enum weir_json_document_kind { WEIR_DOCUMENT_JSON, WEIR_DOCUMENT_YAML, WEIR_DOCUMENT_SHAPE };

/* The place of a value in the text of a document. */
struct weir_mark {
    const json_t *value;
    int line, column; /* 1-based */
};

/* A document. Zero-initialise except for `source`, and free with weir_json_document_free(). */
typedef struct weir_json_document {
    int kind; /* enum weir_json_document_kind */
    json_t *root;
    const char *source; /* names the text in errors; may be NULL */
    struct weir_mark *marks;
    uint32_t nmarks, cap;
    bool sorted; /* marks are sorted by value */
} weir_json_document;

/* Free root and marks, and zero the document. */
void weir_json_document_free(weir_json_document *d);
/* Record the place of a value. true, false and null are shared by jansson and get no mark. */
int weir_json_document_mark(weir_json_document *d, const json_t *value, int line, int column) WEIR_CHECKED;
/* Look up the place of a value; zeros if the place is unknown. */
void weir_json_document_find(weir_json_document *d, const json_t *value, int *line, int *column);

/* The places of copied values, which a document gets at the end, as each change of a document costs the next look a
 * sort. Zero-initialise; free `list` with weir_mem_free(). */
struct weir_mark_list {
    struct weir_mark *list;
    uint32_t n, cap;
};
/* Record the place of `value`, if known, as that of `copy`. */
int weir_mark_list_add(struct weir_mark_list *m, weir_json_document *d, const json_t *value,
                       const json_t *copy) WEIR_CHECKED;
/* Give the places to the document. */
int weir_mark_list_apply(const struct weir_mark_list *m, weir_json_document *d) WEIR_CHECKED;

/* Read YAML text into d->root, with marks. On failure the document is partly filled; call weir_json_document_free() in
 * either case. */
int weir_json_document_read_yaml(weir_json_document *d, const char *text, size_t len, weir_err *err) WEIR_CHECKED;
/* Read JSON text into d->root, without marks. Failure as above. */
int weir_json_document_read_json(weir_json_document *d, const char *text, size_t len, weir_err *err) WEIR_CHECKED;
/* Read a shape string into d->root, as the object {"resources": [...]}, with marks. Failure as above. */
int weir_json_document_read_shape(weir_json_document *d, const char *text, size_t len, weir_err *err) WEIR_CHECKED;

/* The lists of resources that the xor_slots of a document expand to, as a JSON array of lists in the order of
 * preference; NULL where the document has no xor_slot. Returns WEIR_OK, WEIR_ELIMIT or WEIR_ENOMEM. */
int weir_jobspec_expand(weir_json_document *d, json_t **lists, weir_err *err) WEIR_CHECKED;
/* Compile a document into a request, which takes over d->root. */
int weir_jobspec_compile(weir_json_document *d, weir_request **out, weir_err *err) WEIR_CHECKED;
/* The resources of a jobspec without slots within slots. */
struct weir_nested {
    weir_json_document *doc; /* in: copied resources get the places of the originals */
    json_t *list;            /* out: a new reference to the resolved list */
    json_t *labels;          /* in: the labels of inner slots are added, with true */
    const json_t *fault;     /* out, with WEIR_EINVAL: the resource that cannot be resolved */
    const char *what;        /* out, with WEIR_EINVAL: the reason */
};
/* Replace slots within slots by their contents, as many times as there are inner slots. Without such slots to->list is
 * `list` itself. Returns WEIR_OK, WEIR_EINVAL or WEIR_ENOMEM; on failure to->list is NULL. The depth of `list` is at
 * most WEIR_REQUEST_DEPTH. O(resources) */
int weir_jobspec_resolve_nested(json_t *list, struct weir_nested *to) WEIR_CHECKED;
/* Check the attributes of a jobspec, and read duration and constraint. *constraint is unchanged if the jobspec has
 * none. */
int weir_jobspec_read_attributes(weir_json_document *d, int64_t *duration, weir_constraint **constraint,
                                 weir_err *err) WEIR_CHECKED;
/* Check the tasks of a jobspec. The keys of `labels` are the labels in the document, with true for slots. `v1`: apply
 * RFC 25 where it does not refuse what RFC 14 allows: the slot must exist, a command may be a string. */
int weir_jobspec_check_tasks(weir_json_document *d, const json_t *tasks, const json_t *labels, bool v1,
                             weir_err *err) WEIR_CHECKED;
/* The tasks of a jobspec that has none: one task for each slot. NULL: out of memory. */
json_t *weir_jobspec_default_tasks(const weir_request *r);
/* Write a JSON value as a YAML document. */
int weir_jobspec_write_yaml(json_t *root, weir_buf *out, weir_err *err) WEIR_CHECKED;
/* Write the resources of a request as an RFC 46 shape string. Unless `resources_only` is set, fails with WEIR_EINVAL
 * if the jobspec has keys that a shape cannot express; the error names the keys. */
int weir_shape_write(const weir_request *r, bool resources_only, weir_buf *out, weir_err *err) WEIR_CHECKED;
/* The place of an error: `value`, or `around` if the place of `value` is unknown; `path` names the value. */
struct weir_spot {
    const json_t *value, *around;
    const char *path; /* "" for the whole document */
};
/* Report an error with source, line, column and path. Returns `code`. */
int weir_json_document_fail(weir_json_document *d, struct weir_spot at, weir_err *err, int code, const char *fmt, ...)
    WEIR_PRINTF(5, 6);

/* ---- counts and texts -------------------------------------------------------------------------------------- */

/* Read a count from a string, an RFC 22 idset or an RFC 45 range. On failure err->column is the column in `text`.
 * Release the count with weir_count_clear(). */
int weir_count_parse(const char *text, size_t len, weir_count *out, weir_err *err) WEIR_CHECKED;
/* Read a count from any JSON value that RFC 14 allows. Release the count with weir_count_clear(). */
int weir_count_from_json(const json_t *value, weir_count *out, weir_err *err) WEIR_CHECKED;
/* Free the set of a count, if any, and zero the count. */
void weir_count_clear(weir_count *c);
/* Write a count in its shortest form: "4", "2+", "2-8:2:*", "4,9,16". */
void weir_count_write(const weir_count *c, weir_buf *b);
/* A count as an integer, a dictionary or an idset string. NULL: out of memory. */
json_t *weir_count_to_json(const weir_count *c);

/* Compile a constraint from its JSON form. */
int weir_constraint_compile(const json_t *value, weir_constraint **out, weir_err *err) WEIR_CHECKED;

/* Whether resources of a type group what is in them: "slot", "or_slot", "xor_slot". */
bool weir_is_slot_type(const char *type);
/* Quote a string for an error message: one line, control characters replaced by '?', cut at WEIR_QUOTE. Returns
 * `buf`. */
const char *weir_quote(const char *s, char buf[WEIR_QUOTE]);
/* The kind of a JSON value with an article, for errors: "a string", "an integer", "missing" for NULL. */
const char *weir_json_kind(const json_t *value);
/* The first key of an object that is not in a list, which ends with NULL; NULL: there is none. */
const char *weir_json_unknown(const json_t *object, const char *const *known);
/* Whether jansson failed for lack of memory. jansson reports some allocation failures without a text, and those of
 * strings and numbers as syntax errors. */
bool weir_json_starved(const json_error_t *e);
/* Report the error `e` of jansson with line and column. Returns WEIR_EPARSE, WEIR_ELIMIT or WEIR_ENOMEM. */
int weir_json_fail(weir_err *err, const char *source, const json_error_t *e);

#endif
