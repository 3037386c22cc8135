/* jobspec.c - compiles a document into a request, by the full grammar of RFC 14 in every version.
 *
 * Invariant: the array of resources has its final size before the first resource is filled, so pointers into the
 * array stay valid. A resource is filled before its children, and all siblings before the first child.
 *
 * Decisions where the RFCs leave room: versions 999 (used by examples of RFC 14) and 9999 (common in test data) select
 * the full grammar. "version: 1" has the full grammar too, beyond RFC 25: plugins of a job manager rewrite the
 * resources of submitted jobs (chassis, nodes and ssds next to each other) and leave the version. What RFC 25 alone
 * allows is read in version 1 only: a gpu with count 0, which is dropped from the request, and a command that is a
 * string. Without a version only `resources` is required, and a single slot gets the label "default". `exclusive` on a
 * slot has no effect on the slot's contents.
 */
#include "request/request.h"

#include <stdio.h>
#include <string.h>

struct compiler {
    weir_json_document *doc;
    weir_err *err;
    weir_request *req;
    json_t *labels; /* label -> true if a slot has the label, false if a resource has the label */
    bool v1;
    bool lenient;  /* the document is a shape, or a jobspec without a version */
    uint32_t used; /* resources of the pool already filled */
    uint32_t next; /* the next preorder number */
    char path[1024];
    size_t path_len;
};

/* FAIL reports an error at `value`, or at `around` if the place of `value` is unknown, and names the current path. */
#define FAIL(c, value, around, ...) fail_code(c, value, around, WEIR_EINVAL, __VA_ARGS__)
#define fail_code(c, value, around, code, ...)                                                                         \
    weir_json_document_fail((c)->doc, (struct weir_spot){value, around, (c)->path}, (c)->err, code, __VA_ARGS__)

static size_t path_push(struct compiler *c, const char *name, size_t index)
{
    size_t before = c->path_len;
    int n = snprintf(c->path + before, sizeof c->path - before, "%s%s[%zu]", before ? "." : "", name, index);

    if (n > 0 && before + (size_t)n < sizeof c->path)
        c->path_len += (size_t)n;
    return before;
}

static void path_pop(struct compiler *c, size_t before)
{
    c->path_len = before;
    c->path[before] = '\0';
}

/* ---- one resource ------------------------------------------------------------------------------------------ */

static int check_keys(struct compiler *c, const json_t *vertex)
{
    static const char *const known[] = {"type", "count", "unit", "exclusive", "with", "label", "id", NULL};
    const char *key = weir_json_unknown(vertex, known);
    char quoted[WEIR_QUOTE];

    if (!key)
        return WEIR_OK;
    return FAIL(c, json_object_get(vertex, key), vertex,
                "unknown key %s; known: type, count, unit, exclusive, with, label, id", weir_quote(key, quoted));
}

/* Sets *out to the string under `key`, or to "" if the key is absent. */
static int get_string(struct compiler *c, const json_t *vertex, const char *key, const char **out)
{
    const json_t *value = json_object_get(vertex, key);

    *out = "";
    if (!value)
        return WEIR_OK;
    if (!json_is_string(value))
        return FAIL(c, value, vertex, "%s must be a string, not %s; put it in quotes", key, weir_json_kind(value));
    if (json_string_length(value) > WEIR_NAME_MAX)
        return FAIL(c, value, vertex, "%s must have at most %d bytes, not %zu", key, WEIR_NAME_MAX,
                    json_string_length(value));
    *out = json_string_value(value);
    return WEIR_OK;
}

static int get_exclusive(struct compiler *c, const json_t *vertex, weir_resource *r)
{
    const json_t *value = json_object_get(vertex, "exclusive");

    if (!value)
        return WEIR_OK;
    if (!json_is_boolean(value))
        return FAIL(c, value, vertex, "exclusive must be true or false, not %s", weir_json_kind(value));
    r->exclusive = json_is_true(value) ? WEIR_EXCLUSIVE_YES : WEIR_EXCLUSIVE_NO;
    return WEIR_OK;
}

static int get_count(struct compiler *c, const json_t *vertex, weir_resource *r)
{
    const json_t *value = json_object_get(vertex, "count");
    weir_err why = {0};
    int rc;

    if (!value)
        return FAIL(c, vertex, NULL, "count is missing");
    rc = weir_count_from_json(value, &r->count, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(c->err);
    return rc == WEIR_OK ? rc : fail_code(c, value, vertex, rc, "%s", why.text);
}

/* Whether r is an or_slot with the label of a sibling or_slot: one task runs in either. */
static bool shares_label(const struct compiler *c, const weir_resource *r)
{
    for (const weir_resource *s = r; r->any && s > c->req->pool && s[-1].parent == r->parent && s[-1].any; s--)
        if (strcmp(s[-1].label, r->label) == 0)
            return true;
    return false;
}

static int check_label(struct compiler *c, const json_t *vertex, const weir_resource *r)
{
    const json_t *value = json_object_get(vertex, "label");
    char quoted[WEIR_QUOTE];

    if (r->slot && !value && c->lenient)
        return FAIL(c, vertex, NULL, "a slot without a label; only a slot that is the only one may do without");
    if (r->slot && !value)
        return FAIL(c, vertex, NULL, "a slot must have a label");
    if (!value)
        return WEIR_OK;
    if (json_object_get(c->labels, r->label) && !shares_label(c, r))
        return FAIL(c, value, vertex, "label %s is there twice", weir_quote(r->label, quoted));
    if (json_object_set_new(c->labels, r->label, json_boolean(r->slot)) != 0)
        return weir_fail_nomem(c->err);
    return WEIR_OK;
}

static bool in_slot(const weir_resource *r)
{
    for (r = r->parent; r; r = r->parent)
        if (r->slot)
            return true;
    return false;
}

static int check_place(struct compiler *c, const json_t *vertex, const weir_resource *r)
{
    const json_t *with = json_object_get(vertex, "with");

    if (r->slot && in_slot(r))
        return FAIL(c, vertex, NULL, "a slot within a slot; slots do not nest");
    if (with && !json_is_array(with))
        return FAIL(c, with, vertex, "with must be a list of resources, not %s", weir_json_kind(with));
    if (with && json_array_size(with) == 0)
        return FAIL(c, with, vertex, "with is an empty list; it must have a resource");
    if (r->slot && !with)
        return FAIL(c, vertex, NULL, "a slot must have resources in it (with)");
    return WEIR_OK;
}

static int fill_resource(struct compiler *c, const json_t *vertex, weir_resource *r)
{
    int rc;

    if (!json_is_object(vertex))
        return FAIL(c, vertex, NULL, "a resource must be a dictionary with type and count, not %s",
                    weir_json_kind(vertex));
    if (!json_object_get(vertex, "type"))
        return FAIL(c, vertex, NULL, "type is missing");
    rc = check_keys(c, vertex);
    rc = rc ? rc : get_string(c, vertex, "type", &r->type);
    rc = rc ? rc : get_string(c, vertex, "unit", &r->unit);
    rc = rc ? rc : get_string(c, vertex, "label", &r->label);
    rc = rc ? rc : get_string(c, vertex, "id", &r->id);
    if (rc != WEIR_OK)
        return rc;
    if (!*r->type)
        return FAIL(c, json_object_get(vertex, "type"), vertex, "type must not be empty");
    r->any = strcmp(r->type, "or_slot") == 0;
    r->slot = r->any || strcmp(r->type, "slot") == 0;
    rc = check_place(c, vertex, r);
    rc = rc ? rc : get_count(c, vertex, r);
    rc = rc ? rc : get_exclusive(c, vertex, r);
    rc = rc ? rc : check_label(c, vertex, r);
    r->takes = !r->slot && (r->exclusive == WEIR_EXCLUSIVE_YES || (r->exclusive == WEIR_EXCLUSIVE_UNSET && in_slot(r)));
    return rc;
}

/* Fails if an or_slot has a sibling of another type: alternatives have no other siblings. */
static int check_alternatives(struct compiler *c, const json_t *list, const weir_resource *first, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (first[i].any != first[0].any)
            return FAIL(c, json_array_get(list, i), NULL, "an or_slot can only have other or_slots as siblings");
    return WEIR_OK;
}

/* ---- lists of resources ------------------------------------------------------------------------------------ */

static int compile_list(struct compiler *c, const char *name, json_t *list, weir_resource *parent);

/* Compiles the children of siblings that are already filled, and assigns preorder numbers. */
static int descend(struct compiler *c, const char *name, const json_t *list, weir_resource *first)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *with = json_object_get(json_array_get(list, i), "with");
        size_t before = path_push(c, name, i);
        int rc = WEIR_OK;

        first[i].index = first[i].number = c->next;
        c->req->order[c->next++] = &first[i];
        if (with)
            rc = compile_list(c, "with", with, &first[i]);
        if (rc != WEIR_OK)
            return rc;
        path_pop(c, before);
    }
    return WEIR_OK;
}

static int compile_list(struct compiler *c, const char *name, json_t *list, weir_resource *parent)
{
    weir_resource *first = c->req->pool + c->used;
    size_t n;
    int rc;

    n = json_array_size(list);
    c->used += (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        size_t before = path_push(c, name, i);
        first[i].parent = parent;
        rc = fill_resource(c, json_array_get(list, i), &first[i]);
        if (rc != WEIR_OK)
            return rc;
        path_pop(c, before);
    }
    if (parent) {
        parent->with = first;
        parent->nwith = (uint32_t)n;
    }
    rc = check_alternatives(c, list, first, n);
    if (rc != WEIR_OK)
        return rc;
    return descend(c, name, list, first);
}

/* Counts the resources of a list and below, as far as the lists are well formed, and enforces the limits of depth and
 * number. */
static int count_list(struct compiler *c, const json_t *list, uint32_t depth, uint32_t *total)
{
    if (depth >= WEIR_REQUEST_DEPTH)
        return fail_code(c, list, NULL, WEIR_ELIMIT, "resources are nested more than 32 deep");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *with = json_object_get(json_array_get(list, i), "with");
        int rc;
        if (++*total > WEIR_REQUEST_RESOURCES)
            return fail_code(c, json_array_get(list, i), NULL, WEIR_ELIMIT, "more than 4096 resources");
        if (!json_is_array(with) || json_array_size(with) == 0)
            continue;
        rc = count_list(c, with, depth + 1, total);
        if (rc != WEIR_OK)
            return rc;
    }
    return WEIR_OK;
}

/* Sets c->req->resources to `list` without slots within slots. */
static int resolve_nested(struct compiler *c, json_t *list)
{
    struct weir_nested nested = {.doc = c->doc, .labels = c->labels};
    int rc = weir_jobspec_resolve_nested(list, &nested);

    c->req->resources = nested.list;
    if (rc == WEIR_EINVAL)
        return FAIL(c, nested.fault, list, "resources: %s", nested.what);
    return rc == WEIR_OK ? rc : weir_fail_nomem(c->err);
}

static int compile_resources(struct compiler *c)
{
    json_t *list = json_object_get(c->doc->root, "resources");
    uint32_t total = 0;
    int rc;

    if (!list)
        return FAIL(c, c->doc->root, NULL, "no resources; a jobspec needs a list of them under the key resources");
    if (!json_is_array(list) || json_array_size(list) == 0)
        return FAIL(c, list, c->doc->root, "resources must be a list with a resource in it, not %s",
                    json_is_array(list) ? "an empty one" : weir_json_kind(list));
    rc = count_list(c, list, 0, &total);
    rc = rc ? rc : resolve_nested(c, list);
    if (rc != WEIR_OK)
        return rc;
    list = c->req->resources;
    c->req->pool = weir_mem_zalloc(total, sizeof *c->req->pool);
    c->req->order = weir_mem_zalloc(total, sizeof *c->req->order);
    if (!c->req->pool || !c->req->order)
        return weir_fail_nomem(c->err);
    c->req->count = total; /* so that weir_request_free() clears every count filled so far */
    rc = compile_list(c, "resources", list, NULL);
    c->req->count = c->used;
    c->req->top = (uint32_t)json_array_size(list);
    return rc;
}

/* ---- the rest of the jobspec ------------------------------------------------------------------------------- */

static int check_top(struct compiler *c)
{
    static const char *const wanted[] = {"version", "resources", "tasks", "attributes"};
    const json_t *root = c->doc->root, *version = json_object_get(root, "version");
    json_int_t n = json_integer_value(version);

    if (!json_is_object(root))
        return FAIL(c, root, NULL,
                    "a jobspec must be a dictionary with version, resources, tasks and attributes, not %s",
                    weir_json_kind(root));
    c->lenient = !version;
    if (!version)
        return WEIR_OK;
    if (!json_is_integer(version))
        return FAIL(c, version, root, "version must be an integer, not %s", weir_json_kind(version));
    if (n != 1 && n != 999 && n != 9999)
        return FAIL(c, version, root, "version %" JSON_INTEGER_FORMAT " is not known; 1, 999 and 9999 are", n);
    for (size_t i = 0; i < 4; i++)
        if (!json_object_get(root, wanted[i]))
            return FAIL(c, root, NULL, "the key %s is missing", wanted[i]);
    c->v1 = n == 1;
    return WEIR_OK;
}

/* Counts the slots of a list and below, and sets *unlabelled to a slot without a label. */
static uint32_t find_slots(json_t *list, uint32_t depth, json_t **unlabelled)
{
    uint32_t n = 0;

    for (size_t i = 0; depth < WEIR_REQUEST_DEPTH && i < json_array_size(list); i++) {
        json_t *vertex = json_array_get(list, i);
        const char *type = json_string_value(json_object_get(vertex, "type"));
        if (type && strcmp(type, "slot") == 0) {
            n++;
            if (!json_object_get(vertex, "label"))
                *unlabelled = vertex;
        }
        n += find_slots(json_object_get(vertex, "with"), depth + 1, unlabelled);
    }
    return n;
}

/* Labels the only slot of a document "default": RFC 46 allows such a slot to have no label. */
static int label_lone_slot(struct compiler *c)
{
    json_t *slot = NULL;

    if (!c->lenient || find_slots(json_object_get(c->doc->root, "resources"), 0, &slot) != 1 || !slot)
        return WEIR_OK;
    return json_object_set_new(slot, "label", json_string("default")) == 0 ? WEIR_OK : weir_fail_nomem(c->err);
}

static int read_tasks(struct compiler *c)
{
    const json_t *tasks = json_object_get(c->doc->root, "tasks");

    if (!tasks && c->lenient)
        return WEIR_OK;
    return weir_jobspec_check_tasks(c->doc, tasks, c->labels, c->v1, c->err);
}

static int compile(struct compiler *c)
{
    int rc = check_top(c);

    rc = rc ? rc : label_lone_slot(c);
    rc = rc ? rc : compile_resources(c);
    c->path_len = 0;
    c->path[0] = '\0';
    rc = rc ? rc : weir_jobspec_read_attributes(c->doc, &c->req->duration, &c->req->constraint, c->err);
    rc = rc ? rc : read_tasks(c);
    if (rc == WEIR_OK && weir_request_compute_needs(c->req) != WEIR_OK)
        rc = weir_fail_nomem(c->err);
    return rc;
}

/* Compiles a document without xor_slots. The request shares d->root. */
static int compile_plain(weir_json_document *d, weir_request **out, weir_err *err)
{
    struct compiler c = {.doc = d, .err = err, .labels = json_object(), .req = weir_mem_zalloc(1, sizeof *c.req)};
    int rc = c.req && c.labels ? compile(&c) : weir_fail_nomem(err);

    json_decref(c.labels);
    if (rc != WEIR_OK) {
        weir_request_free(c.req);
        return rc;
    }
    c.req->root = json_incref(d->root);
    c.req->queue = weir_request_attribute(c.req, "queue");
    *out = c.req;
    return WEIR_OK;
}

/* Compiles the document with `list` in place of its resources. */
static int compile_with(weir_json_document *d, json_t *list, weir_request **out, weir_err *err)
{
    json_t *whole = d->root;
    int rc;

    d->root = json_copy(whole);
    rc =
        d->root && json_object_set(d->root, "resources", list) == 0 ? compile_plain(d, out, err) : weir_fail_nomem(err);
    json_decref(d->root);
    d->root = whole;
    return rc;
}

/* Numbers the resources of all alternatives on. */
static void number_resources(weir_request *r)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < r->nalternatives; i++) {
        weir_request *one = r->alternatives[i];
        for (uint32_t k = 0; k < one->count; k++)
            one->pool[k].number += all;
        all += one->count;
    }
}

/* Compiles a document with xor_slots: into the request of the first alternative, with the requests of all alternatives
 * attached. */
static int compile_alternatives(weir_json_document *d, json_t *lists, weir_request **out, weir_err *err)
{
    size_t n = json_array_size(lists);
    weir_request *r = NULL;
    int rc = compile_with(d, json_array_get(lists, 0), &r, err);

    if (rc != WEIR_OK)
        return rc;
    json_decref(r->root);
    r->root = json_incref(d->root);
    r->alternatives = weir_mem_zalloc((uint32_t)n, sizeof *r->alternatives);
    if (!r->alternatives)
        rc = weir_fail_nomem(err);
    for (size_t i = 0; rc == WEIR_OK && i < n; i++) {
        rc = compile_with(d, json_array_get(lists, i), &r->alternatives[i], err);
        r->nalternatives += rc == WEIR_OK;
    }
    if (rc != WEIR_OK) {
        weir_request_free(r);
        return rc;
    }
    number_resources(r);
    *out = r;
    return WEIR_OK;
}

/* Whether the resource is dropped: the schema of RFC 25 allows a gpu with count 0, meaning no gpu. */
static bool is_dropped(const json_t *vertex)
{
    const json_t *count = json_object_get(vertex, "count");
    const char *type = json_string_value(json_object_get(vertex, "type"));

    return type && strcmp(type, "gpu") == 0 && json_is_integer(count) && json_integer_value(count) == 0;
}

/* Drops resources from a list and below, so that what is written reads back; a vertex that holds nothing else loses the
 * empty list. */
static void drop_unwanted(json_t *list, uint32_t depth)
{
    for (size_t i = json_array_size(list); depth < WEIR_REQUEST_DEPTH && i-- > 0;) {
        json_t *vertex = json_array_get(list, i), *with = json_object_get(vertex, "with");
        size_t before = json_array_size(with);
        drop_unwanted(with, depth + 1);
        if (before > 0 && json_array_size(with) == 0)
            json_object_del(vertex, "with");
        if (is_dropped(vertex))
            json_array_remove(list, i);
    }
}

int weir_jobspec_compile(weir_json_document *d, weir_request **out, weir_err *err)
{
    const json_t *version = json_object_get(d->root, "version");
    json_t *lists;
    int rc;

    if (json_is_integer(version) && json_integer_value(version) == 1)
        drop_unwanted(json_object_get(d->root, "resources"), 0);
    rc = weir_jobspec_expand(d, &lists, err);
    if (rc == WEIR_OK)
        rc = lists ? compile_alternatives(d, lists, out, err) : compile_plain(d, out, err);
    json_decref(lists);
    if (rc == WEIR_OK) {
        json_decref(d->root);
        d->root = NULL;
    }
    return rc;
}
