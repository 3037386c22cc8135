/* jobspec_nested.c - resolves slots within slots. RFC 14 says that slots do not nest, but plugins of
 * job managers write such jobspecs: a slot of a whole node with its tasks, and storage next to the node. All resources
 * of a slot are exclusive to the slot, so an inner slot adds nothing but a factor: n inner slots are n times the
 * resources in them.
 *
 * The document stays as it was given; the resolved list is a copy that shares all values but the changed ones, whose
 * places in the text are recorded again.
 */
#include "request/request.h"

#include <string.h>

static bool is_slot(const json_t *vertex)
{
    const char *type = json_string_value(json_object_get(vertex, "type"));
    return type && strcmp(type, "slot") == 0;
}

static bool has_nested(const json_t *list, bool inside, uint32_t depth)
{
    for (size_t i = 0; depth < WEIR_REQUEST_DEPTH && i < json_array_size(list); i++) {
        const json_t *vertex = json_array_get(list, i);
        bool slot = is_slot(vertex);
        if ((slot && inside) || has_nested(json_object_get(vertex, "with"), inside || slot, depth + 1))
            return true;
    }
    return false;
}

struct nested_resolver {
    struct weir_nested *out;
    struct weir_mark_list marks; /* of the copies */
};

static int resolve_list(struct nested_resolver *r, const json_t *list, bool inside, json_int_t times, json_t *into);

/* Appends a copy of `vertex`, `times` as many, with the resolved list under `with`. */
static int resolve_vertex(struct nested_resolver *r, json_t *vertex, bool inside, json_int_t times, json_t *into)
{
    json_t *with = json_object_get(vertex, "with"), *copy = json_copy(vertex), *below;
    json_int_t count = json_integer_value(json_object_get(vertex, "count"));

    if (json_array_append_new(into, copy) != 0 || weir_mark_list_add(&r->marks, r->out->doc, vertex, copy) != WEIR_OK ||
        (times != 1 && json_object_set_new(copy, "count", json_integer(count * times)) != 0))
        return WEIR_ENOMEM;
    if (!json_is_array(with))
        return WEIR_OK;
    below = json_array();
    if (json_object_set_new(copy, "with", below) != 0)
        return WEIR_ENOMEM;
    return resolve_list(r, with, inside || is_slot(vertex), 1, below);
}

static int refuse(struct nested_resolver *r, const json_t *vertex, const char *what)
{
    r->out->fault = vertex;
    r->out->what = what;
    return WEIR_EINVAL;
}

/* Whether `count` of these `times` over is an integer in the range of counts. */
static bool can_multiply(const json_t *count, json_int_t times)
{
    json_int_t n = json_integer_value(count);

    return json_is_integer(count) && n > 0 && n <= WEIR_COUNT_MAX / times;
}

/* Appends the contents of an inner slot. */
static int resolve_slot(struct nested_resolver *r, const json_t *slot, json_int_t times, json_t *into)
{
    const json_t *count = json_object_get(slot, "count"), *with = json_object_get(slot, "with");
    const char *label = json_string_value(json_object_get(slot, "label"));

    if (!can_multiply(count, times))
        return refuse(r, slot, "a slot within a slot, whose count is not an integer of 1 or more");
    if (json_array_size(with) == 0)
        return refuse(r, slot, "a slot must have resources in it (with)");
    if (label && json_object_get(r->out->labels, label))
        return refuse(r, slot, "a slot within a slot, whose label is there twice");
    if (label && json_object_set_new(r->out->labels, label, json_true()) != 0)
        return WEIR_ENOMEM;
    return resolve_list(r, with, true, json_integer_value(count) * times, into);
}

static int resolve_list(struct nested_resolver *r, const json_t *list, bool inside, json_int_t times, json_t *into)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *vertex = json_array_get(list, i);
        int rc;
        if (inside && is_slot(vertex))
            rc = resolve_slot(r, vertex, times, into);
        else if (!json_is_object(vertex))
            rc = json_array_append(into, vertex) == 0 ? WEIR_OK : WEIR_ENOMEM;
        else if (times != 1 && !can_multiply(json_object_get(vertex, "count"), times))
            rc = refuse(r, vertex, "a count within several slots of a slot must be an integer of 1 or more");
        else
            rc = resolve_vertex(r, vertex, inside, times, into);
        if (rc != WEIR_OK)
            return rc;
    }
    return WEIR_OK;
}

int weir_jobspec_resolve_nested(json_t *list, struct weir_nested *to)
{
    struct nested_resolver r = {.out = to};
    json_t *into;
    int rc;

    if (!has_nested(list, false, 0)) {
        to->list = json_incref(list);
        return WEIR_OK;
    }
    into = json_array();
    rc = into ? resolve_list(&r, list, false, 1, into) : WEIR_ENOMEM;
    rc = rc ? rc : weir_mark_list_apply(&r.marks, to->doc);
    weir_mem_free(r.marks.list);
    if (rc == WEIR_OK)
        to->list = into;
    else
        json_decref(into);
    return rc;
}
