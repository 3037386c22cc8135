/* jobspec_alternatives.c - jobspecs with xor_slots, of which one alone serves. Such a jobspec expands to several lists
 * of resources without xor_slots: the siblings of type xor_slot, one after
 * the other, each as a slot behind all siblings of another type; a sibling whose own contents have alternatives is
 * there with each of these in turn. The choice is the same for all instances of a resource.
 *
 * Invariant: the document stays as it was given. A list shares all values but the changed ones, which are copies that
 * have the places of the originals in the text.
 */
#include "request/request.h"

#include <string.h>

#define LISTS 256 /* the most alternatives of a request */

struct xor_expander {
    weir_json_document *doc;
    struct weir_mark_list marks; /* of the copies */
};

static bool is_xor_slot(const json_t *vertex)
{
    const char *type = json_string_value(json_object_get(vertex, "type"));
    return type && strcmp(type, "xor_slot") == 0;
}

static bool has_xor_slot(const json_t *list, uint32_t depth)
{
    for (size_t i = 0; depth < WEIR_REQUEST_DEPTH && i < json_array_size(list); i++) {
        const json_t *vertex = json_array_get(list, i);
        if (is_xor_slot(vertex) || has_xor_slot(json_object_get(vertex, "with"), depth + 1))
            return true;
    }
    return false;
}

/* The first xor_slot without a label, in a list and below; NULL: there is none. The label names the tasks. */
static const json_t *find_unlabelled(const json_t *list, uint32_t depth)
{
    const json_t *found = NULL;

    for (size_t i = 0; !found && depth < WEIR_REQUEST_DEPTH && i < json_array_size(list); i++) {
        const json_t *vertex = json_array_get(list, i);
        found = is_xor_slot(vertex) && !json_object_get(vertex, "label")
                    ? vertex
                    : find_unlabelled(json_object_get(vertex, "with"), depth + 1);
    }
    return found;
}

/* Replaces *lists by all of its lists with each of `choices` added. A single choice is added in place. */
static int multiply(json_t **lists, const json_t *choices)
{
    size_t n = json_array_size(*lists), many = json_array_size(choices);
    json_t *out = many == 1 ? json_incref(*lists) : json_array();
    int rc = !out ? WEIR_ENOMEM : n * many > LISTS ? WEIR_ELIMIT : WEIR_OK;

    for (size_t i = 0; rc == WEIR_OK && i < n; i++)
        for (size_t k = 0; rc == WEIR_OK && k < many; k++) {
            json_t *list = json_array_get(*lists, i);
            json_t *longer = many == 1 ? json_incref(list) : json_copy(list);
            if (json_array_append(longer, json_array_get(choices, k)) != 0 ||
                (many > 1 && json_array_append(out, longer) != 0))
                rc = WEIR_ENOMEM;
            json_decref(longer);
        }
    json_decref(*lists);
    *lists = out;
    return rc;
}

/* Counts the resources of a list and below, until there are more than `most`. */
static uint32_t count_resources(const json_t *list, uint32_t depth, uint32_t most)
{
    uint32_t n = 0;

    for (size_t i = 0; depth < WEIR_REQUEST_DEPTH && n <= most && i < json_array_size(list); i++)
        n += 1 + count_resources(json_object_get(json_array_get(list, i), "with"), depth + 1, most - n);
    return n;
}

/* WEIR_ELIMIT: the alternatives have too many resources in all. */
static int check_size(const json_t *lists)
{
    uint32_t n = 0;

    for (size_t i = 0; n <= WEIR_REQUEST_ALL && i < json_array_size(lists); i++)
        n += count_resources(json_array_get(lists, i), 0, WEIR_REQUEST_ALL - n);
    return n <= WEIR_REQUEST_ALL ? WEIR_OK : WEIR_ELIMIT;
}

static int expand_list(struct xor_expander *x, json_t *list, uint32_t depth, json_t **out);

/* Appends to `choices` a copy of a vertex with the children `with`, or without children where `with` is NULL. */
static int add_copy(struct xor_expander *x, json_t *vertex, json_t *with, json_t *choices)
{
    json_t *copy = json_copy(vertex);

    if (json_array_append_new(choices, copy) != 0 || (with && json_object_set(copy, "with", with) != 0) ||
        (is_xor_slot(vertex) && json_object_set_new(copy, "type", json_string("slot")) != 0))
        return WEIR_ENOMEM;
    return weir_mark_list_add(&x->marks, x->doc, vertex, copy);
}

/* Appends to `choices` the vertex once for each alternative of its contents. */
static int expand_vertex(struct xor_expander *x, json_t *vertex, uint32_t depth, json_t *choices)
{
    json_t *with = json_object_get(vertex, "with"), *lists = NULL;
    int rc;

    if (!is_xor_slot(vertex) && !has_xor_slot(with, depth + 1))
        return json_array_append(choices, vertex) == 0 ? WEIR_OK : WEIR_ENOMEM;
    if (!json_is_array(with))
        return add_copy(x, vertex, NULL, choices);
    rc = expand_list(x, with, depth + 1, &lists);
    for (size_t i = 0; rc == WEIR_OK && i < json_array_size(lists); i++)
        rc = add_copy(x, vertex, json_array_get(lists, i), choices);
    json_decref(lists);
    return rc;
}

/* Sets *out to the lists without xor_slots that a list expands to, also where the result is not WEIR_OK. */
static int expand_list(struct xor_expander *x, json_t *list, uint32_t depth, json_t **out)
{
    json_t *slots = json_array();
    int rc = WEIR_OK;

    *out = json_pack("[[]]");
    if (!slots || !*out)
        rc = WEIR_ENOMEM;
    for (size_t i = 0; rc == WEIR_OK && i < json_array_size(list); i++) {
        json_t *vertex = json_array_get(list, i), *choices = json_array();
        rc = choices ? expand_vertex(x, vertex, depth, is_xor_slot(vertex) ? slots : choices) : WEIR_ENOMEM;
        if (rc == WEIR_OK && !is_xor_slot(vertex))
            rc = multiply(out, choices);
        json_decref(choices);
    }
    if (rc == WEIR_OK && json_array_size(slots) > 0)
        rc = multiply(out, slots);
    json_decref(slots);
    return rc;
}

int weir_jobspec_expand(weir_json_document *d, json_t **lists, weir_err *err)
{
    json_t *list = json_object_get(d->root, "resources");
    struct xor_expander x = {.doc = d};
    const json_t *bare;
    int rc;

    *lists = NULL;
    if (!has_xor_slot(list, 0))
        return WEIR_OK;
    bare = find_unlabelled(list, 0);
    if (bare)
        return weir_json_document_fail(d, (struct weir_spot){bare, list, "resources"}, err, WEIR_EINVAL,
                                       "an xor_slot must have a label");
    rc = expand_list(&x, list, 0, lists);
    rc = rc ? rc : check_size(*lists);
    if (rc == WEIR_OK)
        rc = weir_mark_list_apply(&x.marks, d);
    weir_mem_free(x.marks.list);
    if (rc == WEIR_OK)
        return rc;
    json_decref(*lists);
    *lists = NULL;
    if (rc != WEIR_ELIMIT)
        return weir_fail_nomem(err);
    return weir_json_document_fail(d, (struct weir_spot){list, d->root, "resources"}, err, WEIR_ELIMIT,
                                   "the xor_slots expand to more than %d alternatives, or %d resources in these", LISTS,
                                   WEIR_REQUEST_ALL);
}
