/* shape_write.c - writes the resources of a request as the shortest RFC 46 shape string. Invariant: a string is
 * unquoted only if every reader of shapes takes the word for the same string.
 */
#include "request/request.h"

#include <ctype.h>
#include <string.h>

#define NAMED 6 /* most keys named by an error */

/* ---- keys that a shape cannot express ---------------------------------------------------------------------- */

/* A list of key names for an error message, cut after NAMED names. */
struct names {
    char text[320];
    size_t len;
    uint32_t n;
};

static void name_part(struct names *s, const char *container, const char *key)
{
    char quoted[WEIR_QUOTE];
    int n;

    if (s->n++ >= NAMED)
        return;
    (void)weir_quote(key, quoted);
    n = snprintf(s->text + s->len, sizeof s->text - s->len, "%s%s%.*s", s->n > 1 ? ", " : "", container,
                 (int)strlen(quoted) - 2, quoted + 1);
    if (n > 0 && s->len + (size_t)n < sizeof s->text)
        s->len += (size_t)n;
    else
        s->text[s->len] = '\0';
}

static void name_attributes(struct names *s, const json_t *attributes)
{
    const char *key;
    json_t *part;

    json_object_foreach((json_t *)attributes, key, part)
    {
        if (strcmp(key, "system") != 0)
            name_part(s, "attributes.", key);
    }
    json_object_foreach(json_object_get(attributes, "system"), key, part)
    {
        if (strcmp(key, "duration") != 0)
            name_part(s, "attributes.system.", key);
    }
}

static int refuse_rest(const weir_request *r, weir_err *err)
{
    struct names s = {0};
    json_t *tasks = weir_jobspec_default_tasks(r), *value;
    const char *key;

    if (!tasks)
        return weir_fail_nomem(err);
    json_object_foreach(r->root, key, value)
    {
        if (strcmp(key, "resources") == 0 || strcmp(key, "attributes") == 0 ||
            (strcmp(key, "tasks") == 0 && json_equal(value, tasks)) ||
            (strcmp(key, "version") == 0 && json_integer_value(value) == 9999))
            continue;
        name_part(&s, "", key);
    }
    json_decref(tasks);
    name_attributes(&s, json_object_get(r->root, "attributes"));
    if (s.n == 0)
        return WEIR_OK;
    return weir_fail(
        err, WEIR_EINVAL,
        "a shape says resources and a duration only, not %s%s; format \"resources\" writes the resources alone", s.text,
        s.n > NAMED ? ", ..." : "");
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

/* Whether `s` needs no quotes: a letter first (in a type or label also a digit), and, as a value, not a JSON
 * literal. */
static bool is_word(const char *s, bool value)
{
    static const char *const literals[] = {"true", "false", "null"};

    if (!isalpha((unsigned char)*s) && *s != '_' && (value || !isdigit((unsigned char)*s)))
        return false;
    for (const char *p = s; *p; p++)
        if ((unsigned char)*p >= 0x80 || (!isalnum((unsigned char)*p) && !strchr("_-.+@%*", *p)))
            return false;
    for (size_t i = 0; value && i < 3; i++)
        if (strcasecmp(s, literals[i]) == 0)
            return false;
    return true;
}

static void write_string(const char *s, bool value, weir_buf *b)
{
    if (is_word(s, value))
        weir_buf_puts(b, s);
    else
        weir_write_string(b, s);
}

/* Writes the separator before an item in braces. */
static void begin_item(uint32_t *items, weir_buf *b)
{
    weir_buf_puts(b, (*items)++ ? "," : "{");
}

static void write_item(const char *key, const char *value, uint32_t *items, weir_buf *b)
{
    if (!value)
        return;
    begin_item(items, b);
    weir_buf_printf(b, "%s:", key);
    write_string(value, true, b);
}

/* The string under `key`; NULL if the key is absent. "" means the key is present and empty. */
static const char *given(const json_t *vertex, const char *key)
{
    return json_string_value(json_object_get(vertex, key));
}

/* lasts: the duration of the job, or NULL. */
static void write_items(const json_t *vertex, const weir_resource *r, bool named, const json_t *lasts, weir_buf *b)
{
    uint32_t items = 0;

    if (r->slot && named) {
        begin_item(&items, b);
        write_string(r->label, false, b);
    }
    if (r->exclusive != WEIR_EXCLUSIVE_UNSET) {
        begin_item(&items, b);
        weir_buf_puts(b, r->exclusive == WEIR_EXCLUSIVE_YES ? "x" : "-x");
    }
    write_item("unit", given(vertex, "unit"), &items, b);
    if (!r->slot)
        write_item("label", given(vertex, "label"), &items, b);
    write_item("id", given(vertex, "id"), &items, b);
    if (lasts) {
        begin_item(&items, b);
        weir_buf_puts(b, "duration:");
        weir_json_write(lasts, false, b);
    }
    weir_buf_puts(b, items ? "}" : "");
}

static uint32_t count_slots(const weir_request *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->count; i++)
        n += r->pool[i].slot;
    return n;
}

/* Whether the label of a slot must be written: the label is not the default of a single slot, or braces are needed
 * anyway. */
static bool must_name(const weir_request *r, const json_t *vertex, const weir_resource *slot)
{
    return count_slots(r) > 1 || strcmp(slot->label, "default") != 0 || slot->exclusive != WEIR_EXCLUSIVE_UNSET ||
           given(vertex, "unit") || given(vertex, "id");
}

/* Writes a resource without its children. */
static void write_head(const json_t *vertex, const weir_resource *r, bool named, const json_t *lasts, weir_buf *b)
{
    write_string(r->type, false, b);
    if (r->count.op == 0 || r->count.min != 1 || r->count.max != 1) {
        weir_buf_puts(b, "=");
        weir_count_write(&r->count, b);
    }
    write_items(vertex, r, named, lasts, b);
}

static void write_list(const weir_request *req, const json_t *list, const weir_resource *r, uint32_t n,
                       const json_t *lasts, weir_buf *b)
{
    weir_buf_puts(b, n > 1 ? "[" : "");
    for (uint32_t i = 0; i < n; i++) {
        const json_t *vertex = json_array_get(list, i);
        weir_buf_puts(b, i ? ";" : "");
        write_head(vertex, &r[i], r[i].slot && must_name(req, vertex, &r[i]), i ? NULL : lasts, b);
        if (r[i].nwith == 0)
            continue;
        weir_buf_puts(b, "/");
        write_list(req, json_object_get(vertex, "with"), r[i].with, r[i].nwith, NULL, b);
    }
    weir_buf_puts(b, n > 1 ? "]" : "");
}

/* Writes resources with xor_slots, as written: only the alternatives of these are compiled. */
static int write_alternatives(const json_t *list, const json_t *lasts, weir_buf *b, weir_err *err)
{
    size_t n = json_array_size(list);
    int rc = WEIR_OK;

    weir_buf_puts(b, n > 1 ? "[" : "");
    for (size_t i = 0; rc == WEIR_OK && i < n; i++) {
        const json_t *vertex = json_array_get(list, i), *with = json_object_get(vertex, "with");
        const json_t *exclusive = json_object_get(vertex, "exclusive");
        weir_resource r = {.type = given(vertex, "type"), .label = given(vertex, "label")};
        r.slot = weir_is_slot_type(r.type);
        r.exclusive = !exclusive                ? WEIR_EXCLUSIVE_UNSET
                      : json_is_true(exclusive) ? WEIR_EXCLUSIVE_YES
                                                : WEIR_EXCLUSIVE_NO;
        rc = weir_count_from_json(json_object_get(vertex, "count"), &r.count, err);
        if (rc == WEIR_OK && r.slot && !r.label && (exclusive || given(vertex, "unit") || given(vertex, "id")))
            rc = weir_fail(err, WEIR_EINVAL, "a shape cannot say more of a slot without a label than its count");
        weir_buf_puts(b, i ? ";" : "");
        if (rc == WEIR_OK)
            write_head(vertex, &r, r.slot && r.label, i ? NULL : lasts, b);
        weir_count_clear(&r.count);
        if (rc != WEIR_OK || json_array_size(with) == 0)
            continue;
        weir_buf_puts(b, "/");
        rc = write_alternatives(with, NULL, b, err);
    }
    weir_buf_puts(b, n > 1 ? "]" : "");
    return rc;
}

int weir_shape_write(const weir_request *r, bool resources_only, weir_buf *out, weir_err *err)
{
    const json_t *system = json_object_get(json_object_get(r->root, "attributes"), "system");
    const json_t *lasts = resources_only ? NULL : json_object_get(system, "duration");
    int rc = resources_only ? WEIR_OK : refuse_rest(r, err);

    if (rc == WEIR_OK && r->nalternatives)
        rc = write_alternatives(json_object_get(r->root, "resources"), lasts, out, err);
    else if (rc == WEIR_OK)
        write_list(r, r->resources, r->pool, r->top, lasts, out);
    return rc;
}
