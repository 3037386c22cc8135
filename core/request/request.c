/* request.c - request objects: access to the parts, release.
 *
 * Invariant: a request is complete when returned; afterwards only the duration can change.
 */
#include "request/request.h"

#include <string.h>

bool weir_is_slot_type(const char *type)
{
    return strcmp(type, "slot") == 0 || strcmp(type, "or_slot") == 0 || strcmp(type, "xor_slot") == 0;
}

void weir_request_free(weir_request *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->count && r->pool; i++)
        weir_count_clear(&r->pool[i].count);
    WEIR_FREE(r->pool, r->order, r->needs, r->spans);
    weir_constraint_free(r->constraint);
    json_decref(r->resources);
    json_decref(r->root);
    for (uint32_t i = 0; i < r->nalternatives; i++)
        weir_request_free(r->alternatives[i]);
    weir_mem_free(r->alternatives);
    weir_mem_free(r);
}

const weir_resource *weir_request_resources(const weir_request *r, uint32_t *n)
{
    *n = r->top;
    return r->pool;
}

const weir_resource *weir_request_resource(const weir_request *r, uint32_t index)
{
    return r->order[index];
}

uint32_t weir_request_count(const weir_request *r)
{
    return r->count;
}

uint32_t weir_request_alternatives(const weir_request *r)
{
    return r->nalternatives ? r->nalternatives : 1;
}

const weir_request *weir_request_alternative(const weir_request *r, uint32_t i)
{
    return r->nalternatives ? r->alternatives[i] : r;
}

int64_t weir_request_duration(const weir_request *r)
{
    return r->duration;
}

bool weir_request_constrained(const weir_request *r)
{
    return r->constraint != NULL;
}

const weir_constraint *weir_request_constraint(const weir_request *r)
{
    return r->constraint;
}

static json_t *system_attributes(const json_t *root)
{
    return json_object_get(json_object_get(root, "attributes"), "system");
}

const char *weir_request_attribute(const weir_request *r, const char *key)
{
    return json_string_value(json_object_get(system_attributes(r->root), key));
}

/* The dictionary under `key`, added if absent or null. NULL: out of memory. */
static json_t *want_object(json_t *container, const char *key)
{
    json_t *value = json_object_get(container, key);

    if (json_is_object(value))
        return value;
    value = json_object();
    return json_object_set_new(container, key, value) == 0 ? value : NULL;
}

/* Sets the duration, in seconds, in a document. */
static int write_duration(json_t *root, const json_t *seconds)
{
    json_t *attributes = want_object(root, "attributes");
    json_t *system = attributes ? want_object(attributes, "system") : NULL;

    return system && json_object_set(system, "duration", (json_t *)seconds) == 0 ? WEIR_OK : WEIR_ENOMEM;
}

int weir_request_set_duration(weir_request *r, int64_t duration, weir_err *err)
{
    int64_t whole = duration == WEIR_FOREVER ? 0 : duration;
    json_t *value;
    int rc;

    if (duration <= 0)
        return weir_fail(err, WEIR_EINVAL, "a duration must be more than 0, not %lld microseconds",
                         (long long)duration);
    value = whole % 1000000 ? json_real((double)whole / 1e6) : json_integer(whole / 1000000);
    rc = value ? write_duration(r->root, value) : WEIR_ENOMEM;
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nalternatives; i++)
        rc = write_duration(r->alternatives[i]->root, value);
    json_decref(value);
    if (rc != WEIR_OK)
        return weir_fail_nomem(err);
    r->duration = duration;
    for (uint32_t i = 0; i < r->nalternatives; i++)
        r->alternatives[i]->duration = duration;
    return WEIR_OK;
}
