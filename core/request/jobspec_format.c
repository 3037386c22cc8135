/* jobspec_format.c - writes a request as a canonical jobspec: the whole document, with all keys required by RFC 14,
 * each count in canonical form. Invariant: reading the result back gives an equal request.
 */
#include "request/request.h"

#include <string.h>

/* Whether a count can be written; an amount converted to a smaller unit can be too large. */
static bool is_writable(const weir_count *c)
{
    return c->min <= WEIR_COUNT_MAX && (c->max <= WEIR_COUNT_MAX || c->max == WEIR_FOREVER);
}

/* Puts the counts and units of a list and below into canonical form. `list` is a copy of the list compiled into the
 * resources at `first`. */
static bool write_counts(json_t *list, const weir_resource *first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        json_t *vertex = json_array_get(list, i);
        if (is_writable(&first[i].count) &&
            (json_object_set_new(vertex, "count", weir_count_to_json(&first[i].count)) != 0 ||
             (first[i].unit[0] && json_object_set_new(vertex, "unit", json_string(first[i].unit)) != 0)))
            return false;
        if (!write_counts(json_object_get(vertex, "with"), first[i].with, first[i].nwith))
            return false;
    }
    return true;
}

/* Puts the counts of resources with xor_slots into canonical form; what is no count was dropped when it was read. */
static bool write_own_counts(json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *vertex = json_array_get(list, i);
        weir_count count = {0};
        int rc = weir_count_from_json(json_object_get(vertex, "count"), &count, NULL);
        if (rc == WEIR_OK && json_object_set_new(vertex, "count", weir_count_to_json(&count)) != 0)
            rc = WEIR_ENOMEM;
        weir_count_clear(&count);
        if (rc == WEIR_ENOMEM || !write_own_counts(json_object_get(vertex, "with")))
            return false;
    }
    return true;
}

/* Adds an empty dictionary under `key` unless a dictionary is present. Returns false if out of memory. */
static bool add_dictionary(json_t *container, const char *key)
{
    return json_is_object(json_object_get(container, key)) || json_object_set_new(container, key, json_object()) == 0;
}

/* Replaces resources with slots within slots by those that were compiled. The slots of the tasks may be gone then,
 * which version 1 would refuse. */
static bool replace_nested(json_t *root, const weir_request *r)
{
    if (r->nalternatives || r->resources == json_object_get(r->root, "resources"))
        return true;
    return json_object_set_new(root, "resources", json_deep_copy(r->resources)) == 0 &&
           json_object_set_new(root, "version", json_integer(9999)) == 0;
}

static bool complete(json_t *root, const weir_request *r)
{
    if (!replace_nested(root, r))
        return false;
    if (!json_object_get(root, "version") && json_object_set_new(root, "version", json_integer(9999)) != 0)
        return false;
    if (!json_object_get(root, "tasks") && json_object_set_new(root, "tasks", weir_jobspec_default_tasks(r)) != 0)
        return false;
    if (!add_dictionary(root, "attributes") || !add_dictionary(json_object_get(root, "attributes"), "system"))
        return false;
    return r->nalternatives ? write_own_counts(json_object_get(root, "resources"))
                            : write_counts(json_object_get(root, "resources"), r->pool, r->top);
}

/* Writes a canonical jobspec, as YAML or as JSON on one line. */
static int write_jobspec(const weir_request *r, bool yaml, weir_buf *b, weir_err *err)
{
    json_t *root = json_deep_copy(r->root);
    int rc = WEIR_OK;

    if (!root || !complete(root, r))
        rc = weir_fail_nomem(err);
    else if (yaml)
        rc = weir_jobspec_write_yaml(root, b, err);
    else
        weir_json_write(root, true, b);
    json_decref(root);
    return rc;
}

static int write_format(const weir_request *r, const char *format, weir_buf *b, weir_err *err)
{
    if (!format || strcmp(format, "json") == 0 || strcmp(format, "jobspec") == 0)
        return write_jobspec(r, false, b, err);
    if (strcmp(format, "yaml") == 0)
        return write_jobspec(r, true, b, err);
    if (strcmp(format, "shape") == 0)
        return weir_shape_write(r, false, b, err);
    if (strcmp(format, "resources") == 0)
        return weir_shape_write(r, true, b, err);
    return weir_fail(err, WEIR_EINVAL, "a request has no format '%.40s'; known: json (jobspec), yaml, shape, resources",
                     format);
}

char *weir_request_format(const weir_request *r, const char *format, weir_err *err)
{
    weir_buf b = {0};

    return weir_buf_result(&b, write_format(r, format, &b, err), err);
}

char *weir_request_format_for(const weir_request *r, const weir_graph *g, weir_err *err)
{
    const weir_request *bound;
    char *text;

    if (weir_request_bind(r, g, &bound)) {
        (void)weir_fail_nomem(err);
        return NULL;
    }
    text = weir_request_format(bound, "json", err);
    weir_request_unbind(r, bound);
    return text;
}
