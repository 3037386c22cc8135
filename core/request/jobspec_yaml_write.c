/* jobspec_yaml_write.c - writes a JSON value as YAML for people: blocks, keys in the order of RFC 14, lists of plain
 * values on one line. libyaml formats the events; the code here chooses the style of each scalar. Invariant: a string
 * that a reader of YAML 1.1 or 1.2 could take for a value of a different type is quoted.
 */
#include "request/request.h"

#include <stdlib.h>
#include <string.h>

#include <yaml.h>

struct yaml_writer {
    yaml_emitter_t emitter;
    weir_buf *out;
    weir_err *err;
};

static int add_text(void *data, unsigned char *text, size_t len)
{
    weir_buf *b = data;

    weir_buf_add(b, (const char *)text, len);
    return !b->failed;
}

/* Passes event `e` to the emitter. `made` is the result of initializing `e`; 0 means out of memory. */
static int emit(struct yaml_writer *w, yaml_event_t *e, int made)
{
    if (!made)
        return weir_fail_nomem(w->err);
    if (yaml_emitter_emit(&w->emitter, e))
        return WEIR_OK;
    if (w->emitter.error == YAML_MEMORY_ERROR || w->out->failed)
        return weir_fail_nomem(w->err);
    return weir_fail(w->err, WEIR_EINVAL, "cannot be written as YAML: %s",
                     w->emitter.problem ? w->emitter.problem : "unknown reason");
}

/* ---- single values ----------------------------------------------------------------------------------------- */

/* Whether the text, unquoted, could be read as a number, a date, a boolean or null. */
static bool is_ambiguous(const char *s)
{
    static const char *const words[] = {"~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<"};

    if (!*s || strchr("0123456789+-.", *s))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(s, words[i]) == 0)
            return true;
    return false;
}

/* Whether the text reads well as a literal block: several lines of printable ASCII without trailing blanks, the first
 * line not indented, with at most one newline at the end. */
static bool is_script(const char *s)
{
    if (!strchr(s, '\n') || *s == ' ' || *s == '\n')
        return false;
    for (; *s; s++) {
        if (*s != '\n' && (*s < ' ' || *s > '~'))
            return false;
        if (*s == ' ' && (s[1] == '\n' || !s[1]))
            return false;
        if (*s == '\n' && s[1] == '\n' && !s[2])
            return false;
    }
    return true;
}

static int write_scalar(struct yaml_writer *w, const char *text, size_t len, yaml_scalar_style_t style)
{
    yaml_event_t e;
    int made = yaml_scalar_event_initialize(&e, NULL, NULL, (const yaml_char_t *)text, (int)len, 1, 1, style);

    return emit(w, &e, made);
}

static bool has_control(const char *s)
{
    while ((unsigned char)*s >= ' ')
        s++;
    return *s != '\0';
}

static int write_string(struct yaml_writer *w, const char *text, size_t len)
{
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;

    if (is_script(text))
        style = YAML_LITERAL_SCALAR_STYLE;
    else if (has_control(text))
        style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    else if (is_ambiguous(text))
        style = YAML_SINGLE_QUOTED_SCALAR_STYLE;
    return write_scalar(w, text, len, style);
}

/* Formats a fraction as YAML 1.1 requires, with a point and a signed exponent: 1.0e+22. */
static void write_fraction(double value, char out[48])
{
    char text[32], *e;

    weir_number_write(text, sizeof text, value);
    e = strchr(text, 'e');
    if (!e)
        snprintf(out, 48, "%s%s", text, strchr(text, '.') ? "" : ".0");
    else
        snprintf(out, 48, "%.*s%s%s", (int)(e - text), text, memchr(text, '.', (size_t)(e - text)) ? "" : ".0", e);
}

static int write_plain(struct yaml_writer *w, const json_t *value)
{
    char text[48];

    switch (json_typeof(value)) {
    case JSON_STRING: return write_string(w, json_string_value(value), json_string_length(value));
    case JSON_INTEGER: snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); break;
    case JSON_REAL: write_fraction(json_real_value(value), text); break;
    case JSON_TRUE: snprintf(text, sizeof text, "true"); break;
    case JSON_FALSE: snprintf(text, sizeof text, "false"); break;
    default: snprintf(text, sizeof text, "null"); break;
    }
    return write_scalar(w, text, strlen(text), YAML_PLAIN_SCALAR_STYLE);
}

/* ---- containers -------------------------------------------------------------------------------------------- */

static int write_value(struct yaml_writer *w, json_t *value);

static bool is_box(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

static int write_list(struct yaml_writer *w, json_t *list)
{
    yaml_sequence_style_t style = YAML_FLOW_SEQUENCE_STYLE;
    yaml_event_t e;
    int rc;

    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_box(json_array_get(list, i)))
            style = YAML_BLOCK_SEQUENCE_STYLE;
    rc = emit(w, &e, yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, style));
    for (size_t i = 0; rc == WEIR_OK && i < json_array_size(list); i++)
        rc = write_value(w, json_array_get(list, i));
    rc = rc ? rc : emit(w, &e, yaml_sequence_end_event_initialize(&e));
    return rc;
}

/* The position of `key` in the order of RFC 14. Unknown keys follow all known keys, in alphabetical order. */
static int place_of(const char *key)
{
    static const char *const order[] = {"version", "resources", "tasks",    "system",    "command", "slot",
                                        "type",    "count",     "unit",     "exclusive", "label",   "id",
                                        "min",     "max",       "operator", "operand"};
    int n = (int)(sizeof order / sizeof *order), i = 0;

    while (i < n && strcmp(key, order[i]) != 0)
        i++;
    return i;
}

static int compare_keys(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int p = place_of(x), q = place_of(y);

    return p != q ? p - q : strcmp(x, y);
}

static int write_entries(struct yaml_writer *w, json_t *dict, const char **keys)
{
    size_t n = 0;
    const char *key;
    json_t *value;
    int rc = WEIR_OK;

    json_object_foreach(dict, key, value) keys[n++] = key;
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; rc == WEIR_OK && i < n; i++) {
        rc = write_string(w, keys[i], strlen(keys[i]));
        rc = rc ? rc : write_value(w, json_object_get(dict, keys[i]));
    }
    return rc;
}

static int write_dictionary(struct yaml_writer *w, json_t *dict)
{
    const char **keys = weir_mem_zalloc(json_object_size(dict), sizeof *keys);
    yaml_event_t e;
    int rc;

    if (!keys)
        return weir_fail_nomem(w->err);
    rc = emit(w, &e, yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
    rc = rc ? rc : write_entries(w, dict, keys);
    weir_mem_free(keys);
    rc = rc ? rc : emit(w, &e, yaml_mapping_end_event_initialize(&e));
    return rc;
}

/* Writes any value. Recursion is at most WEIR_DOCUMENT_DEPTH deep. */
static int write_value(struct yaml_writer *w, json_t *value)
{
    if (json_is_object(value))
        return write_dictionary(w, value);
    return json_is_array(value) ? write_list(w, value) : write_plain(w, value);
}

static int write_document(struct yaml_writer *w, json_t *root)
{
    yaml_event_t e;
    int rc = emit(w, &e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));

    rc = rc ? rc : emit(w, &e, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
    rc = rc ? rc : write_value(w, root);
    rc = rc ? rc : emit(w, &e, yaml_document_end_event_initialize(&e, 1));
    return rc == WEIR_OK ? emit(w, &e, yaml_stream_end_event_initialize(&e)) : rc;
}

int weir_jobspec_write_yaml(json_t *root, weir_buf *out, weir_err *err)
{
    struct yaml_writer w = {.out = out, .err = err};
    int rc;

    if (!yaml_emitter_initialize(&w.emitter))
        return weir_fail_nomem(err);
    yaml_emitter_set_output(&w.emitter, add_text, out);
    yaml_emitter_set_unicode(&w.emitter, 1);
    yaml_emitter_set_width(&w.emitter, -1);
    rc = write_document(&w, root);
    yaml_emitter_delete(&w.emitter);
    return rc;
}
