/* request.c - the request object: reading it from text of any form, and what it says.
 *
 * Invariant: a request is complete once it is out; only its duration can change after that.
 */
#include "request/request.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- telling the forms apart ------------------------------------------------------------------------------- */

static size_t skip_space(const char *text, size_t len, size_t at)
{
    while (at < len && isspace((unsigned char)text[at]))
        at++;
    return at;
}

static bool starts_with(const char *text, size_t len, size_t at, const char *prefix)
{
    size_t n = strlen(prefix);
    return len - at >= n && memcmp(text + at, prefix, n) == 0;
}

/* Whether the text goes on, at `at`, with "key:" and a blank: a dictionary in YAML. */
static bool is_yaml_key(const char *text, size_t len, size_t at)
{
    char quote = text[at] == '"' || text[at] == '\'' ? text[at] : '\0';

    at += quote != '\0';
    while (at < len && (isalnum((unsigned char)text[at]) || strchr("_-.", text[at])) && text[at])
        at++;
    if (quote && (at >= len || text[at++] != quote))
        return false;
    while (at < len && text[at] == ' ')
        at++;
    return at < len && text[at] == ':' && (at + 1 == len || isspace((unsigned char)text[at + 1]));
}

/* A shape is one line that is no YAML dictionary, list or comment. */
static bool is_yaml(const char *text, size_t len, size_t at)
{
    const char *newline = memchr(text + at, '\n', len - at);

    if (newline && skip_space(text, len, (size_t)(newline - text)) < len)
        return true;
    return text[at] == '#' || text[at] == '%' || starts_with(text, len, at, "---") ||
           starts_with(text, len, at, "- ") || is_yaml_key(text, len, at);
}

static int guess_kind(const char *text, size_t len, size_t at)
{
    bool brace = text[at] == '{';

    if (brace || text[at] == '[') {
        size_t next = skip_space(text, len, at + 1);
        char c = next < len ? text[next] : '\0';
        if (brace)
            return c == '"' || c == '}' || c == '\0' ? WEIR_DOCUMENT_JSON : WEIR_DOCUMENT_YAML;
        if (c == '{')
            return WEIR_DOCUMENT_JSON;
    }
    return is_yaml(text, len, at) ? WEIR_DOCUMENT_YAML : WEIR_DOCUMENT_SHAPE;
}

static int read_document(weir_document *d, const char *text, size_t len, weir_err *err)
{
    size_t at = starts_with(text, len, 0, "\xef\xbb\xbf") ? 3 : 0; /* a byte order mark */

    text += at;
    len -= at;
    at = skip_space(text, len, 0);
    if (at == len)
        return weir_fail_at(err, WEIR_EPARSE, d->source, 0, 0,
                            "empty; a jobspec (YAML or JSON) or a shape such as slot=4/node/core=8 is wanted");
    switch (guess_kind(text, len, at)) {
    case WEIR_DOCUMENT_JSON: return weir_document_read_json(d, text, len, err);
    case WEIR_DOCUMENT_YAML: return weir_document_read_yaml(d, text, len, err);
    default: return weir_document_read_shape(d, text, len, err);
    }
}

int weir_request_parse(const char *text, size_t len, const char *source, weir_request **out, weir_err *err)
{
    weir_document d = {.source = source};
    int rc;

    if (len > WEIR_JOBSPEC_MAX)
        return weir_fail_at(err, WEIR_ELIMIT, source, 0, 0, "a jobspec of more than 64 MB");
    rc = read_document(&d, text, len, err);
    if (rc == WEIR_OK)
        rc = weir_jobspec_compile(&d, out, err);
    weir_document_free(&d);
    return rc;
}

int weir_request_load(const char *path, weir_request **out, weir_err *err)
{
    char *text;
    size_t len;
    int rc = weir_file_read(path, "a jobspec", WEIR_JOBSPEC_MAX, &text, &len, err);

    if (rc != WEIR_OK)
        return rc;
    rc = weir_request_parse(text, len, path, out, err);
    weir_mem_free(text);
    return rc;
}

void weir_request_free(weir_request *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->count && r->pool; i++)
        weir_count_clear(&r->pool[i].count);
    weir_mem_free(r->pool);
    weir_mem_free(r->order);
    weir_mem_free(r->needs);
    weir_mem_free(r->spans);
    weir_constraint_free(r->constraint);
    json_decref(r->root);
    weir_mem_free(r);
}

/* ---- what it says ------------------------------------------------------------------------------------------ */

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

/* The dictionary under a key, made where it is not there (or null). NULL: out of memory. */
static json_t *want_object(json_t *box, const char *key)
{
    json_t *value = json_object_get(box, key);

    if (json_is_object(value))
        return value;
    value = json_object();
    return json_object_set_new(box, key, value) == 0 ? value : NULL;
}

int weir_request_set_duration(weir_request *r, int64_t duration, weir_err *err)
{
    int64_t whole = duration == WEIR_FOREVER ? 0 : duration;
    json_t *attributes, *system, *value;

    if (duration <= 0)
        return weir_fail(err, WEIR_EINVAL, "a duration must be more than 0, not %lld microseconds",
                         (long long)duration);
    value = whole % 1000000 ? json_real((double)whole / 1e6) : json_integer(whole / 1000000);
    attributes = value ? want_object(r->root, "attributes") : NULL;
    system = attributes ? want_object(attributes, "system") : NULL;
    if (!system) {
        json_decref(value);
        return weir_fail_nomem(err);
    }
    if (json_object_set_new(system, "duration", value) != 0)
        return weir_fail_nomem(err);
    r->duration = duration;
    return WEIR_OK;
}
