/* jobspec_attributes.c - checks `attributes` of a jobspec (RFC 14) and reads the duration and the constraint, all
 * that matching needs of the attributes. The only keys are `user` and `system`. Keys of `system` unknown to RFC 14
 * are kept unchanged, so that a jobspec may carry attributes for other schedulers.
 */
#include "request/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DURATION_MAX 9e12 /* seconds; int64_t microseconds overflow above 9.2e12 */

struct attribute_checker {
    weir_json_document *doc;
    weir_err *err;
};

#define FAIL(c, value, around, ...) fail_code(c, value, around, WEIR_EINVAL, __VA_ARGS__)
#define fail_code(c, value, around, code, ...)                                                                         \
    weir_json_document_fail((c)->doc, (struct weir_spot){value, around, ""}, (c)->err, code, __VA_ARGS__)

/* Fails unless `value` is a number of 0 or more seconds. */
static int check_seconds(struct attribute_checker *c, const json_t *system, const char *key, const json_t *value)
{
    double seconds = json_number_value(value);

    if (!json_is_number(value))
        return FAIL(c, value, system, "attributes.system.%s must be a number of seconds, such as 3600, not %s", key,
                    weir_json_kind(value));
    if (!(seconds >= 0))
        return FAIL(c, value, system, "attributes.system.%s must be 0%s or more seconds, not %.17g", key,
                    strcmp(key, "duration") == 0 ? " (no end)" : "", seconds);
    return WEIR_OK;
}

static int check_dependencies(struct attribute_checker *c, const json_t *system, const json_t *list)
{
    static const char *const wanted[] = {"scheme", "value"};

    if (!json_is_array(list))
        return FAIL(c, list, system, "attributes.system.dependencies must be a list, not %s", weir_json_kind(list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        for (size_t k = 0; k < 2; k++)
            if (!json_is_string(json_object_get(one, wanted[k])))
                return FAIL(c, one, list,
                            "attributes.system.dependencies[%zu] must be a dictionary with a scheme and a value, "
                            "such as {scheme: afterok, value: f1}; %s is %s",
                            i, json_is_object(one) ? wanted[k] : "it",
                            weir_json_kind(json_is_object(one) ? json_object_get(one, wanted[k]) : one));
    }
    return WEIR_OK;
}

/* Fails unless every value of attributes.system.job is a string. */
static int check_job(struct attribute_checker *c, const json_t *job)
{
    char quoted[WEIR_QUOTE];
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)job, key, value)
    {
        if (!json_is_string(value))
            return FAIL(c, value, job, "attributes.system.job: %s must be a string, not %s; put it in quotes",
                        weir_quote(key, quoted), weir_json_kind(value));
    }
    return WEIR_OK;
}

static int check_type(struct attribute_checker *c, const json_t *system, const char *key, json_type type,
                      const char *wanted)
{
    const json_t *value = json_object_get(system, key);

    if (!value || json_typeof(value) == type)
        return WEIR_OK;
    return FAIL(c, value, system, "attributes.system.%s must be %s, not %s", key, wanted, weir_json_kind(value));
}

/* Checks the types of the keys that RFC 14 defines for attributes.system. */
static int check_known(struct attribute_checker *c, const json_t *system)
{
    static const struct {
        const char *key;
        json_type type;
        const char *wanted;
    } known[] = {{"cwd", JSON_STRING, "a string"},       {"queue", JSON_STRING, "a string"},
                 {"bank", JSON_STRING, "a string"},      {"project", JSON_STRING, "a string"},
                 {"job", JSON_OBJECT, "a dictionary"},   {"environment", JSON_OBJECT, "a dictionary"},
                 {"shell", JSON_OBJECT, "a dictionary"}, {"files", JSON_OBJECT, "a dictionary"}};
    const json_t *after = json_object_get(system, "preemptible-after");
    const json_t *dependencies = json_object_get(system, "dependencies");

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int rc = check_type(c, system, known[i].key, known[i].type, known[i].wanted);
        if (rc != WEIR_OK)
            return rc;
    }
    if (after && check_seconds(c, system, "preemptible-after", after) != WEIR_OK)
        return WEIR_EINVAL;
    if (dependencies && check_dependencies(c, system, dependencies) != WEIR_OK)
        return WEIR_EINVAL;
    return check_job(c, json_object_get(system, "job"));
}

static int read_duration(struct attribute_checker *c, const json_t *system, int64_t *duration)
{
    const json_t *value = json_object_get(system, "duration");
    double seconds = json_number_value(value);

    *duration = WEIR_FOREVER;
    if (!value)
        return WEIR_OK;
    if (check_seconds(c, system, "duration", value) != WEIR_OK)
        return WEIR_EINVAL;
    if (seconds > DURATION_MAX)
        return FAIL(c, value, system, "attributes.system.duration is more than 9e12 seconds; 0 means no end");
    if (seconds > 0) { /* a positive duration rounds to at least 1 microsecond, since 0 means no end */
        *duration = (int64_t)llround(seconds * 1e6);
        *duration += *duration == 0;
    }
    return WEIR_OK;
}

static int read_constraint(struct attribute_checker *c, const json_t *system, weir_constraint **out)
{
    const json_t *value = json_object_get(system, "constraints");
    weir_err why = {0};
    int rc;

    if (!value || json_is_null(value))
        return WEIR_OK;
    rc = weir_constraint_compile(value, out, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(c->err);
    return rc == WEIR_OK ? rc : fail_code(c, value, system, rc, "attributes.system.constraints: %s", why.text);
}

/* Fails unless the only keys are `user` and `system`, each a dictionary. */
static int check_parts(struct attribute_checker *c, const json_t *attributes)
{
    char quoted[WEIR_QUOTE];
    const char *key;
    json_t *part;

    if (attributes && !json_is_object(attributes) && !json_is_null(attributes))
        return FAIL(c, attributes, c->doc->root, "attributes must be a dictionary, not %s", weir_json_kind(attributes));
    json_object_foreach((json_t *)attributes, key, part)
    {
        if (strcmp(key, "user") != 0 && strcmp(key, "system") != 0)
            return FAIL(c, part, attributes, "unknown key %s in attributes; known: user, system",
                        weir_quote(key, quoted));
        if (!json_is_object(part))
            return FAIL(c, part, attributes, "attributes.%s must be a dictionary, not %s", key, weir_json_kind(part));
    }
    return WEIR_OK;
}

int weir_jobspec_read_attributes(weir_json_document *d, int64_t *duration, weir_constraint **constraint, weir_err *err)
{
    struct attribute_checker c = {d, err};
    const json_t *attributes = json_object_get(d->root, "attributes");
    const json_t *system = json_object_get(attributes, "system");
    int rc = check_parts(&c, attributes);

    rc = rc ? rc : read_duration(&c, system, duration);
    rc = rc ? rc : check_known(&c, system);
    return rc == WEIR_OK ? read_constraint(&c, system, constraint) : rc;
}
