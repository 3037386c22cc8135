/* request.h - what the files of the request layer share: the request object, the documents it is read from, counts.
 *
 * A text becomes a document (a JSON value and, for YAML and shapes, where each part stood), the document becomes a
 * request. Invariants of a request: siblings are adjacent in `pool`, order[i]->index == i, no slot is below a slot,
 * each slot has children, and all strings of its resources belong to `root`.
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include <jansson.h>

#include "base/base.h"

#define WEIR_REQUEST_DEPTH     32                 /* resources within resources */
#define WEIR_REQUEST_RESOURCES 4096               /* resources in all */
#define WEIR_DOCUMENT_DEPTH    256                /* anything within anything, in YAML and in shapes */
#define WEIR_DOCUMENT_MARKS    (1u << 20)         /* values whose place is kept for errors */
#define WEIR_CONSTRAINT_DEPTH  64                 /* operators within operators */
#define WEIR_COUNT_MAX         (INT64_C(1) << 53) /* beyond this JSON and Lua numbers are no longer exact */
#define WEIR_COUNT_VALUES      65536              /* values of a count that is a set */
#define WEIR_QUOTE             48                 /* size of a quoted string in an error */

/* At least `amount` units of `type`. */
struct weir_need {
    const char *type;
    int64_t amount;
};

struct weir_need_span {
    uint32_t first, count; /* in the array of needs of the request */
};

struct weir_request {
    json_t *root;                /* the whole jobspec */
    weir_resource *pool;         /* all resources, siblings adjacent, the top ones first */
    const weir_resource **order; /* the same in preorder */
    uint32_t count, top;         /* resources in all, and at the top */
    int64_t duration;            /* microseconds, or WEIR_FOREVER */
    weir_constraint *constraint; /* NULL: none */
    struct weir_need *needs;
    struct weir_need_span *spans; /* by preorder number; the last one is for the request as a whole */
};

/* The resource with that preorder number. */
const weir_resource *weir_request_resource(const weir_request *r, uint32_t index);
/* NULL: the request has none. */
const weir_constraint *weir_request_constraint(const weir_request *r);
/* The fewest units of each type that one instance of a resource must find strictly below it; that the request must find
 * in all. Never more than is really needed: what is shared (resources that the job does not take) is counted once, as
 * two instances may share it. They serve to prune. */
const struct weir_need *weir_resource_needs(const weir_request *r, uint32_t index, uint32_t *n);
const struct weir_need *weir_request_needs(const weir_request *r, uint32_t *n);
int weir_request_compute_needs(weir_request *r) WEIR_CHECKED;

/* A request with amounts in the units that the pools of a graph have, where both are bytes with a prefix (B, kB, MB, GiB, ...) and
 * all pools of the type have the same; *out is r where nothing differs. It lives no longer than r and g as they are, and is for
 * weir_request_unbind, which leaves r itself alone. WEIR_ENOMEM. O(kinds of pools) for each resource with a unit. */
int weir_request_bind(const weir_request *r, const weir_graph *g, const weir_request **out) WEIR_CHECKED;
void weir_request_unbind(const weir_request *r, const weir_request *bound);

/* ---- documents --------------------------------------------------------------------------------------------- */

enum weir_document_kind { WEIR_DOCUMENT_JSON, WEIR_DOCUMENT_YAML, WEIR_DOCUMENT_SHAPE };

struct weir_mark {
    const json_t *value;
    int line, column; /* 1-based */
};

typedef struct weir_document {
    int kind; /* enum weir_document_kind */
    json_t *root;
    const char *source;
    struct weir_mark *marks;
    uint32_t nmarks, cap;
    bool sorted;
} weir_document;

void weir_document_free(weir_document *d);
/* Notes where a value stood. true, false and null are shared and cannot be marked. */
int weir_document_mark(weir_document *d, const json_t *value, int line, int column) WEIR_CHECKED;
/* Where a value stood; zeros where that is not known. */
void weir_document_find(weir_document *d, const json_t *value, int *line, int *column);

/* Each fills d->root and the marks; on failure the document is still to be freed. */
int weir_document_read_yaml(weir_document *d, const char *text, size_t len, weir_err *err) WEIR_CHECKED;
int weir_document_read_json(weir_document *d, const char *text, size_t len, weir_err *err) WEIR_CHECKED;
/* Gives {"resources": [...]}. */
int weir_document_read_shape(weir_document *d, const char *text, size_t len, weir_err *err) WEIR_CHECKED;

/* Makes a request of a document, whose root goes over to it. */
int weir_jobspec_compile(weir_document *d, weir_request **out, weir_err *err) WEIR_CHECKED;
/* Checks the attributes, and reads the duration and the constraint (kept as it is where there is none). */
int weir_jobspec_read_attributes(weir_document *d, bool v1, int64_t *duration, weir_constraint **constraint,
                                 weir_err *err) WEIR_CHECKED;
/* Checks the list of tasks; `labels` is an object whose keys are the labels of the slots. `v1`: as RFC 25 wants it. */
int weir_jobspec_check_tasks(weir_document *d, const json_t *tasks, const json_t *labels, bool v1,
                             weir_err *err) WEIR_CHECKED;
/* One task for each slot, so that what is written is a jobspec. NULL: out of memory. */
json_t *weir_jobspec_default_tasks(const weir_request *r);
/* Writes a value as a YAML document. */
int weir_jobspec_write_yaml(json_t *root, weir_buf *out, weir_err *err) WEIR_CHECKED;
/* Writes the resources as a shape. WEIR_EINVAL: the jobspec says more than a shape can (asked only without
 * `resources_only`), and what. */
int weir_shape_write(const weir_request *r, bool resources_only, weir_buf *out, weir_err *err) WEIR_CHECKED;
/* Where something is wrong: at `value`, or `around` where the place of that is not known; `path` names it. */
struct weir_spot {
    const json_t *value, *around;
    const char *path; /* "" for the document as a whole */
};
int weir_document_fail(weir_document *d, struct weir_spot at, weir_err *err, int code, const char *fmt, ...)
    WEIR_PRINTF(5, 6);

/* ---- counts and texts -------------------------------------------------------------------------------------- */

/* A count from an RFC 22 idset or RFC 45 range string, or from any JSON value that RFC 14 allows. err->column is the
 * place in the text. On success the set, if there is one, is freed by weir_count_clear. */
int weir_count_parse(const char *text, size_t len, weir_count *out, weir_err *err) WEIR_CHECKED;
int weir_count_from_json(const json_t *value, weir_count *out, weir_err *err) WEIR_CHECKED;
void weir_count_clear(weir_count *c);
/* "4", "2+", "2-8:2:*", "4,9,16", as short as it gets. */
void weir_count_write(const weir_count *c, weir_buf *b);
/* An integer, a dictionary or an idset string. NULL: out of memory. */
json_t *weir_count_to_json(const weir_count *c);

/* Compiles the JSON form. */
int weir_constraint_compile(const json_t *value, weir_constraint **out, weir_err *err) WEIR_CHECKED;

/* A string for an error: in quotes, printable, on one line, cut where it is long. Returns buf. */
const char *weir_quote(const char *s, char buf[WEIR_QUOTE]);
/* "a string", "an integer", ... */
const char *weir_json_kind(const json_t *value);
/* Fills err from what jansson reported. Returns the code. */
/* Whether reading JSON failed for want of memory. jansson leaves some of that without a text; a string or a number that there was no
 * memory for it calls a fault of the text. */
bool weir_json_starved(const json_error_t *e);
int weir_json_fail(weir_err *err, const char *source, const json_error_t *e);

#endif
