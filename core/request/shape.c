/* shape.c - reads RFC 46 shape strings such as "slot=4/node/core=8" into the list of resources of a jobspec, and the
 * duration of the job, which a resource may state: "slot=4{duration:1h}/node".
 *
 * Invariant: every value is attached to the document when made, so freeing the root frees all values. Values of keys
 * are checked by the compiler (jobspec.c), whose errors use the columns recorded here.
 */
#include "request/request.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

struct shape_reader {
    weir_json_document *doc;
    weir_err *err;
    const char *text, *end;
    const char *at;
    const char *line_start;
    int line;
    uint32_t vertices;
    int depth;
};

/* The 1-based column of `at`, in characters. */
static int column_of(const struct shape_reader *r, const char *at)
{
    int column = 1;

    for (const char *p = r->line_start; p < at; p++)
        column += ((unsigned char)*p & 0xc0) != 0x80;
    return column;
}

static int fail_here(struct shape_reader *r, const char *at, const char *what)
{
    return weir_fail_at(r->err, WEIR_EPARSE, r->doc->source, r->line, column_of(r, at), "shape: %s", what);
}

static char peek(const struct shape_reader *r)
{
    return r->at < r->end ? *r->at : '\0';
}

static bool take(struct shape_reader *r, char wanted)
{
    if (r->at == r->end || *r->at != wanted)
        return false;
    r->at++;
    return true;
}

static void skip_blanks(struct shape_reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t')
        r->at++;
}

/* Records the place of `value` and attaches it to `container`, a dictionary, or a list if `key` is NULL. Consumes
 * `value`. */
static int attach(struct shape_reader *r, json_t *container, const char *key, json_t *value, const char *at)
{
    int rc;

    if (!value)
        return weir_fail_nomem(r->err);
    if (weir_json_document_mark(r->doc, value, r->line, column_of(r, at)) != WEIR_OK) {
        json_decref(value);
        return weir_fail_nomem(r->err);
    }
    rc = key ? json_object_set_new(container, key, value) : json_array_append_new(container, value);
    return rc == 0 ? WEIR_OK : weir_fail_nomem(r->err);
}

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f && !strchr("[]{};=/,:\"", c);
}

static const char *plain_end(const struct shape_reader *r)
{
    const char *p = r->at;
    while (p < r->end && is_plain(*p))
        p++;
    return p;
}

/* The end of a quoted string that begins at the cursor, behind the closing quote; NULL if the string is not closed. */
static const char *quoted_end(const struct shape_reader *r)
{
    for (const char *p = r->at + 1; p < r->end; p++) {
        if (*p == '"')
            return p + 1;
        if (*p == '\\')
            p++;
    }
    return NULL;
}

static int read_json(struct shape_reader *r, const char *end, json_t **out)
{
    json_error_t e;

    *out = json_loadb(r->at, (size_t)(end - r->at), JSON_DECODE_ANY, &e);
    if (*out) {
        r->at = end;
        return WEIR_OK;
    }
    if (weir_json_starved(&e))
        return weir_fail_nomem(r->err);
    return fail_here(r, r->at, "not a valid JSON string");
}

/* Reads a type, label or key, quoted or not. `missing` is the error if there is none. */
static int read_string(struct shape_reader *r, const char *missing, json_t **out)
{
    const char *end;

    if (peek(r) == '"') {
        end = quoted_end(r);
        return end ? read_json(r, end, out) : fail_here(r, r->at, "the closing '\"' is missing");
    }
    end = plain_end(r);
    if (end == r->at)
        return fail_here(r, r->at, missing);
    if (!weir_text_utf8(r->at, (size_t)(end - r->at)))
        return fail_here(r, r->at, "not valid UTF-8");
    *out = json_stringn(r->at, (size_t)(end - r->at));
    if (!*out)
        return weir_fail_nomem(r->err);
    r->at = end;
    return WEIR_OK;
}

/* ---- dictionaries ------------------------------------------------------------------------------------------ */

static int read_items(struct shape_reader *r, json_t *dict, bool vertex, bool labelled);
static int read_value(struct shape_reader *r, json_t *container, const char *key);

static int enter(struct shape_reader *r, int limit, const char *what)
{
    if (r->depth++ < limit)
        return WEIR_OK;
    return weir_fail_at(r->err, WEIR_ELIMIT, r->doc->source, r->line, column_of(r, r->at), "shape: %s", what);
}

static int read_array(struct shape_reader *r, json_t *list)
{
    int rc = enter(r, WEIR_DOCUMENT_DEPTH, "nested more than 256 deep");

    r->at++;
    skip_blanks(r);
    if (rc == WEIR_OK && peek(r) != ']') {
        do {
            skip_blanks(r);
            rc = read_value(r, list, NULL);
            skip_blanks(r);
        } while (rc == WEIR_OK && take(r, ','));
    }
    if (rc == WEIR_OK && !take(r, ']'))
        rc = fail_here(r, r->at, "expected ',' or ']' here");
    r->depth--;
    return rc;
}

static int read_object(struct shape_reader *r, json_t *dict)
{
    int rc = enter(r, WEIR_DOCUMENT_DEPTH, "nested more than 256 deep");

    r->at++;
    rc = rc ? rc : read_items(r, dict, false, false);
    r->depth--;
    return rc;
}

/* Reads an unquoted word: a JSON literal or number if well formed as such, else a string. */
static int read_word(struct shape_reader *r, json_t **out)
{
    const char *end = plain_end(r);

    if (end == r->at)
        return fail_here(r, r->at, "expected a value here; quote it if it has any of []{};=/,:");
    *out = json_loadb(r->at, (size_t)(end - r->at), JSON_DECODE_ANY, NULL);
    if (!*out)
        return read_string(r, "", out);
    r->at = end;
    return WEIR_OK;
}

/* Reads a value and attaches the value to `container`, a dictionary, or a list if `key` is NULL. */
static int read_value(struct shape_reader *r, json_t *container, const char *key)
{
    const char *start = r->at;
    json_t *value = NULL;
    int rc = WEIR_OK;

    if (peek(r) == '[' || peek(r) == '{') {
        value = *start == '[' ? json_array() : json_object();
        rc = attach(r, container, key, value, start);
        if (rc != WEIR_OK)
            return rc;
        return *start == '[' ? read_array(r, value) : read_object(r, value);
    }
    rc = peek(r) == '"' ? read_string(r, "", &value) : read_word(r, &value);
    return rc == WEIR_OK ? attach(r, container, key, value, start) : rc;
}

/* Reads the rest of an item after its key: ":value" or nothing. `sign` is the key's prefix, '+', '-' or NUL. */
static int read_item_value(struct shape_reader *r, json_t *dict, const char *key, char sign, const char *start)
{
    if (json_object_get(dict, key))
        return fail_here(r, start, "this key is there twice");
    skip_blanks(r);
    if (peek(r) != ':') {
        if (json_object_set_new(dict, key, json_boolean(sign != '-')) != 0)
            return weir_fail_nomem(r->err);
        return WEIR_OK;
    }
    if (sign)
        return fail_here(r, r->at, "a key with '+' or '-' in front has no value");
    r->at++;
    skip_blanks(r);
    return read_value(r, dict, key);
}

/* Reads a duration: a number of seconds, or a number with the unit ms, s, m, h or d. */
static int read_seconds(struct shape_reader *r, json_t **out)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    const char *start = r->at, *end = plain_end(r), *unit = end;

    while (unit > start && isalpha((unsigned char)unit[-1]))
        unit--;
    *out = json_loadb(start, (size_t)(unit - start), JSON_DECODE_ANY, NULL);
    r->at = end;
    if (json_is_number(*out) && unit == end)
        return WEIR_OK;
    for (size_t i = 0; json_is_number(*out) && i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != (size_t)(end - unit) || memcmp(unit, units[i].name, (size_t)(end - unit)) != 0)
            continue;
        double seconds = json_number_value(*out) * units[i].seconds;
        json_decref(*out);
        *out =
            seconds == floor(seconds) && fabs(seconds) < 1e15 ? json_integer((json_int_t)seconds) : json_real(seconds);
        return *out ? WEIR_OK : weir_fail_nomem(r->err);
    }
    json_decref(*out);
    return fail_here(r, start, "expected a duration in seconds, or with a unit, as in 90m, 1.5h or 2d");
}

/* Reads the duration of the job, behind its key, into attributes.system. */
static int read_duration(struct shape_reader *r, const char *start)
{
    json_t *attributes, *value;
    int rc;

    skip_blanks(r);
    if (!take(r, ':'))
        return fail_here(r, r->at, "expected a value, as in {duration:1h}");
    skip_blanks(r);
    if (json_object_get(r->doc->root, "attributes"))
        return fail_here(r, start, "a job has one duration");
    attributes = json_pack("{s:{}}", "system");
    rc = attach(r, r->doc->root, "attributes", attributes, start);
    start = r->at;
    rc = rc ? rc : read_seconds(r, &value);
    return rc ? rc : attach(r, json_object_get(attributes, "system"), "duration", value, start);
}

/* Reads an item: key:value, key, +key or -key. In a vertex, x is short for exclusive, and duration is that of the job.
 */
static int read_item(struct shape_reader *r, json_t *dict, bool vertex)
{
    const char *start = r->at, *name;
    char sign = peek(r) == '+' || peek(r) == '-' ? *r->at++ : '\0';
    json_t *key;
    int rc = read_string(r, "expected a key here, as in {unit:GB} or {x}", &key);

    if (rc != WEIR_OK)
        return rc;
    name = json_string_value(key);
    if (vertex && strcmp(name, "x") == 0)
        name = "exclusive";
    if (vertex && strcmp(name, "with") == 0)
        rc = fail_here(r, start, "what is within a resource follows a '/', as in node/core");
    else if (vertex && !sign && strcmp(name, "duration") == 0)
        rc = read_duration(r, start);
    else
        rc = read_item_value(r, dict, name, sign, start);
    json_decref(key);
    return rc;
}

/* Reads the first entry of a slot's braces, the bare label. */
static int read_label(struct shape_reader *r, json_t *dict)
{
    const char *start = r->at;
    json_t *label;
    int rc;

    if (peek(r) == '+' || peek(r) == '-')
        return fail_here(r, start, "the first entry of a slot's braces is its label, as in slot{name,+x}");
    rc = read_string(r, "expected the label of the slot here, as in slot{name}", &label);
    if (rc != WEIR_OK)
        return rc;
    skip_blanks(r);
    if (peek(r) == ':') {
        json_decref(label);
        return fail_here(r, start, "the first entry of a slot's braces is its label alone, as in slot{name,unit:GB}");
    }
    return attach(r, dict, "label", label, start);
}

/* Whether the cursor is at "duration:", an item where the label of a slot is left out. */
static bool at_duration(const struct shape_reader *r)
{
    static const char key[] = "duration";
    const char *p = r->at + sizeof key - 1;

    if (r->end - r->at < (ptrdiff_t)sizeof key || memcmp(r->at, key, sizeof key - 1) != 0)
        return false;
    while (p < r->end && (*p == ' ' || *p == '\t'))
        p++;
    return p < r->end && *p == ':';
}

/* Reads the items after '{', up to and including '}'. `labelled`: the first entry is a label. */
static int read_items(struct shape_reader *r, json_t *dict, bool vertex, bool labelled)
{
    bool first = true;
    int rc = WEIR_OK;

    skip_blanks(r);
    if (!labelled && take(r, '}'))
        return WEIR_OK;
    do {
        skip_blanks(r);
        rc = labelled && first && !at_duration(r) ? read_label(r, dict) : read_item(r, dict, vertex);
        first = false;
        skip_blanks(r);
    } while (rc == WEIR_OK && take(r, ','));
    if (rc == WEIR_OK && !take(r, '}'))
        rc = fail_here(r, r->at, "expected ',' or '}' here");
    return rc;
}

/* ---- vertices ---------------------------------------------------------------------------------------------- */

static int read_list(struct shape_reader *r, json_t *list);

/* Reads the text of a count, up to the first character that cannot belong to a count. */
static int read_count_text(struct shape_reader *r, json_t *vertex)
{
    const char *start = r->at, *p = start;
    weir_err why = {0};
    weir_count count;
    json_t *value;
    int rc;

    while (p < r->end && !strchr("{/;", *p) && (unsigned char)*p > ' ' && (*p != ']' || *start == '['))
        if (*p++ == ']')
            break;
    rc = weir_count_parse(start, (size_t)(p - start), &count, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc != WEIR_OK)
        return weir_fail_at(r->err, rc == WEIR_ELIMIT ? rc : WEIR_EPARSE, r->doc->source, r->line,
                            column_of(r, start + why.column - 1), "shape: %s", why.text);
    r->at = p;
    value = weir_count_to_json(&count);
    weir_count_clear(&count);
    return attach(r, vertex, "count", value, start);
}

static int read_count(struct shape_reader *r, json_t *vertex)
{
    if (take(r, '='))
        return read_count_text(r, vertex);
    return attach(r, vertex, "count", json_integer(1), r->at);
}

static int read_children(struct shape_reader *r, json_t *vertex)
{
    json_t *list = json_array();
    int rc = attach(r, vertex, "with", list, r->at);

    if (rc != WEIR_OK)
        return rc;
    rc = enter(r, WEIR_REQUEST_DEPTH - 1, "resources are nested more than 32 deep");
    rc = rc ? rc : read_list(r, list);
    r->depth--;
    return rc;
}

static int read_vertex(struct shape_reader *r, json_t *list)
{
    const char *start = r->at;
    json_t *vertex = json_object(), *type;
    bool slot;
    int rc = attach(r, list, NULL, vertex, start);

    if (rc == WEIR_OK && ++r->vertices > WEIR_REQUEST_RESOURCES)
        rc = weir_fail_at(r->err, WEIR_ELIMIT, r->doc->source, r->line, column_of(r, start),
                          "shape: more than 4096 resources");
    rc = rc ? rc : read_string(r, "expected a resource type here, as in slot=4/node/core=8", &type);
    if (rc != WEIR_OK)
        return rc;
    slot = weir_is_slot_type(json_string_value(type));
    rc = attach(r, vertex, "type", type, start);
    rc = rc ? rc : read_count(r, vertex);
    if (rc == WEIR_OK && take(r, '{'))
        rc = read_items(r, vertex, true, slot);
    if (rc == WEIR_OK && take(r, '/'))
        rc = read_children(r, vertex);
    else if (rc == WEIR_OK && slot)
        rc = fail_here(r, r->at, "a slot needs resources in it, as in slot/node");
    return rc;
}

static int read_list(struct shape_reader *r, json_t *list)
{
    bool many = take(r, '[');
    int rc;

    do
        rc = read_vertex(r, list);
    while (rc == WEIR_OK && many && take(r, ';'));
    if (rc == WEIR_OK && many && !take(r, ']'))
        rc = fail_here(r, r->at, "expected ';', '/' or ']' here");
    return rc;
}

static void trim(struct shape_reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) {
        if (*r->at++ == '\n') {
            r->line++;
            r->line_start = r->at;
        }
    }
    while (r->end > r->at && isspace((unsigned char)r->end[-1]))
        r->end--;
}

int weir_json_document_read_shape(weir_json_document *d, const char *text, size_t len, weir_err *err)
{
    struct shape_reader r = {d, err, text, text + len, text, text, 1, 0, 0};
    json_t *list = json_array();
    int rc;

    d->kind = WEIR_DOCUMENT_SHAPE;
    trim(&r);
    d->root = json_object();
    if (json_object_set_new(d->root, "resources", list) != 0)
        return weir_fail_nomem(err);
    rc = read_list(&r, list);
    if (rc == WEIR_OK && r.at < r.end)
        rc = fail_here(&r, r.at, "unexpected here; resources side by side look like [node=2;switch]");
    return rc;
}
