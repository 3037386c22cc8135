/* explain_parts.c - finds the smallest part of a request that does not fit. Steps simplify the request while the
 * rest still does not fit: remove a resource, reduce a count to 1, replace a level by its contents. Each step asks
 * for less, so the part left over is the subject of the shortage.
 */
#include "explain/explain.h"

#include <string.h>

#define PART_STEPS 300 /* most simplified requests tried */

/* ---- requests as JSON ---- */

static bool part_below(json_t *list, json_t *parent, uint32_t *n, struct part *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *value = json_array_get(list, i);
        if ((*n)-- == 0) {
            *out = (struct part){value, list, parent, i};
            return true;
        }
        if (part_below(json_object_get(value, "with"), value, n, out))
            return true;
    }
    return false;
}

bool weir_part_at(json_t *list, uint32_t n, struct part *out)
{
    return part_below(list, NULL, &n, out);
}

const char *weir_part_type(const json_t *resource)
{
    const char *type = json_string_value(json_object_get(resource, "type"));
    return type ? type : "";
}

bool weir_part_is_slot(const json_t *resource)
{
    const char *type = weir_part_type(resource);
    return strcmp(type, "slot") == 0 || strcmp(type, "or_slot") == 0;
}

int64_t weir_part_count(const json_t *resource)
{
    const json_t *value = json_object_get(resource, "count");
    weir_count c = {0};
    int64_t least = 1;

    if (value && weir_count_from_json(value, &c, NULL) == WEIR_OK) {
        least = c.min;
        weir_count_clear(&c);
    }
    return least;
}

/* ---- steps: each returns whether there was anything to do; -1: out of memory ---- */

static int step_remove(struct part *p)
{
    bool last = json_array_size(p->holder) == 1;

    if (last && (!p->parent || weir_part_is_slot(p->parent)))
        return 0;
    if (last)
        return json_object_del(p->parent, "with") ? -1 : 1;
    return json_array_remove(p->holder, p->at) ? -1 : 1;
}

static int set_count(json_t *resource, int64_t n)
{
    return json_object_set_new(resource, "count", json_integer(n)) ? -1 : 1;
}

static int step_least(struct part *p)
{
    const json_t *count = json_object_get(p->value, "count");
    return !count || json_is_integer(count) ? 0 : set_count(p->value, weir_part_count(p->value));
}

static int step_one(struct part *p)
{
    return weir_part_count(p->value) <= 1 ? 0 : set_count(p->value, 1);
}

/* Replaces a level by its children, each with its count multiplied by the level's count. */
static int step_unwrap(struct part *p)
{
    json_t *with = json_object_get(p->value, "with");
    int64_t times = weir_part_count(p->value);
    int rc = 0;

    if (json_array_size(with) == 0 || weir_part_is_slot(p->value) || times < 1 ||
        json_object_get(p->value, "exclusive"))
        return 0;
    with = json_deep_copy(with);
    for (size_t i = json_array_size(with); with && !rc && i-- > 0;) {
        json_t *kid = json_array_get(with, i);
        int64_t n = weir_part_count(kid);
        if (n > WEIR_COUNT_MAX / times || set_count(kid, n * times) < 0 || json_array_insert(p->holder, p->at + 1, kid))
            rc = -1;
    }
    if (!with || rc || json_array_remove(p->holder, p->at))
        rc = -1;
    json_decref(with);
    return rc < 0 ? -1 : 1;
}

/* The steps in order of preference. step_unwrap comes last, because "a node" says more than "a core somewhere". */
static int (*const steps[])(struct part *) = {step_least, step_remove, step_one, step_unwrap};
#define STEPS (sizeof steps / sizeof *steps)

/* Whether x->resources do not fit. An undecided match counts as fitting. Returns 1, 0 or a negative status. */
static int is_short(struct explain *x)
{
    int rc = weir_explain_exhausted(x) ? 1 : weir_explain_try(x, TRY_PLAIN);

    if (rc == WEIR_ELIMIT || rc == WEIR_EINVAL || rc == WEIR_EPARSE) {
        if (x->err)
            weir_err_clear(x->err);
        return 0;
    }
    return rc < 0 ? rc : rc == 0;
}

/* Tries a step at resource n. Returns 1: done, and the rest does not fit; 0: undone; 2: there is no resource n; or a
 * negative status. */
static int try_step(struct explain *x, uint32_t n, int (*step)(struct part *))
{
    json_t *before = json_deep_copy(x->resources);
    struct part p;
    int rc;

    if (!before)
        return weir_fail_nomem(x->err);
    if (!weir_part_at(x->resources, n, &p)) {
        json_decref(before);
        return 2;
    }
    rc = step(&p);
    if (rc <= 0) {
        json_decref(before);
        return rc ? weir_fail_nomem(x->err) : 0;
    }
    weir_explain_changed(x);
    rc = is_short(x);
    if (rc == 1) {
        json_decref(before);
        return 1;
    }
    json_decref(x->resources);
    x->resources = before;
    weir_explain_changed(x);
    return rc;
}

/* Tries the first nsteps steps at every resource. Returns 1 if some step succeeded. *left counts down the tries. */
static int reduce_round(struct explain *x, size_t nsteps, uint32_t *left)
{
    int changed = 0;

    for (uint32_t n = 0; *left > 0; n++) {
        int rc = 0;
        for (size_t s = 0; s < nsteps && rc == 0 && *left > 0; s++, (*left)--)
            rc = try_step(x, n, steps[s]);
        if (rc < 0)
            return rc;
        if (rc == 2)
            break;
        if (rc == 1) {
            changed = 1;
            n--; /* look at the resource now in position n */
        }
    }
    return changed;
}

int weir_explain_part(struct explain *x)
{
    uint32_t left = PART_STEPS;
    int rc = is_short(x);

    if (rc <= 0)
        return rc;
    for (size_t nsteps = STEPS - 1; rc >= 0 && nsteps <= STEPS; nsteps++)
        do
            rc = reduce_round(x, nsteps, &left);
        while (rc == 1 && left > 0);
    return rc < 0 ? rc : 1;
}
