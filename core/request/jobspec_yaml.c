/* jobspec_yaml.c - reads YAML text into a JSON document, through libyaml's events.
 *
 * Invariant: a container is attached to the document when opened, so freeing the root frees all values. Scalars
 * follow YAML 1.1 for null and booleans and JSON for numbers; any other plain scalar (0644, 1:30, .inf) stays a
 * string. Aliases are an error, because aliases allow a small text to expand without bound.
 */
#include "request/request.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <yaml.h>

struct yaml_frame {
    json_t *container; /* the open container, owned by the document */
    char *key;         /* in a dictionary: the key of the next value; NULL: a key comes next */
};

struct yaml_reader {
    yaml_parser_t parser;
    weir_json_document *doc;
    weir_err *err;
    const char *text;
    struct yaml_frame stack[WEIR_DOCUMENT_DEPTH];
    int depth;
};

static int fail_at(struct yaml_reader *r, int code, const yaml_mark_t *at, const char *text)
{
    return weir_fail_at(r->err, code, r->doc->source, (int)at->line + 1, (int)at->column + 1, "%s", text);
}

/* Reports bytes that are not UTF-8. libyaml gives only an offset for such bytes. */
static int fail_bytes(struct yaml_reader *r)
{
    int line = 1;

    for (size_t i = 0; i < r->parser.problem_offset; i++)
        line += r->text[i] == '\n';
    return weir_fail_at(r->err, WEIR_EPARSE, r->doc->source, line, 0, "not valid YAML: %s", r->parser.problem);
}

/* Reports the error of libyaml's parser. */
static int fail_parser(struct yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const yaml_mark_t *at = p->problem_mark.index ? &p->problem_mark : &p->mark;
    const char *context = p->context ? p->context : "", *problem = p->problem ? p->problem : "unreadable";

    if (p->error == YAML_MEMORY_ERROR)
        return weir_fail_nomem(r->err);
    if (p->error == YAML_READER_ERROR)
        return fail_bytes(r);
    return weir_fail_at(r->err, WEIR_EPARSE, r->doc->source, (int)at->line + 1, (int)at->column + 1,
                        "not valid YAML: %s%s%s", problem, *context ? " " : "", context);
}

static bool one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(s, *words) == 0)
            return true;
    return false;
}

static json_t *plain_word(const char *s)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL};

    if (one_of(s, nulls))
        return json_null();
    if (one_of(s, yes))
        return json_true();
    return one_of(s, no) ? json_false() : NULL;
}

/* Classifies [-+] digits [. digits] [e [-+] digits] without leading zeros: 1 for an integer, 2 for a fraction, 0 for
 * no number. */
static int number_form(const char *s)
{
    size_t whole, part = 0;
    int form = 1;

    s += *s == '-' || *s == '+';
    whole = strspn(s, "0123456789");
    if (whole > 1 && *s == '0')
        return 0;
    s += whole;
    if (*s == '.') {
        part = strspn(++s, "0123456789");
        s += part;
        form = 2;
    }
    if (whole + part == 0)
        return 0;
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        if (!*s)
            return 0;
        s += strspn(s, "0123456789");
        form = 2;
    }
    return *s ? 0 : form;
}

/* The number in `s`. NULL: out of memory, or, with *huge set, beyond the range of a double. */
static json_t *plain_number(const char *s, int form, bool *huge)
{
    double d;

    if (form == 1) {
        long long n;
        errno = 0;
        n = strtoll(s, NULL, 10);
        if (errno == 0)
            return json_integer(n);
    }
    d = weir_number_read(s, NULL);
    *huge = !isfinite(d);
    return *huge ? NULL : json_real(d);
}

/* 1: the scalar is a string; 0: its text decides the type; -1: the tag is unknown. */
static int tag_meaning(const yaml_event_t *e)
{
    static const char *const resolved[] = {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG, NULL};
    const char *tag = (const char *)e->data.scalar.tag;

    if (!tag)
        return e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (strcmp(tag, YAML_STR_TAG) == 0 || strcmp(tag, "!") == 0)
        return 1;
    return one_of(tag, resolved) ? 0 : -1;
}

static int scalar_value(struct yaml_reader *r, const yaml_event_t *e, json_t **out)
{
    const char *s = (const char *)e->data.scalar.value;
    int as_text = tag_meaning(e), form = number_form(s);
    bool huge = false;

    if (as_text < 0)
        return fail_at(r, WEIR_EPARSE, &e->start_mark, "unknown YAML tag; write the value without it");
    *out = as_text ? NULL : plain_word(s);
    if (!*out && !as_text && form)
        *out = plain_number(s, form, &huge);
    else if (!*out)
        *out = json_stringn(s, e->data.scalar.length);
    if (huge)
        return fail_at(r, WEIR_ELIMIT, &e->start_mark, "the number is too large");
    return *out ? WEIR_OK : weir_fail_nomem(r->err);
}

/* Attaches `value` to the open container, or makes `value` the root. Consumes `value`, also on failure. */
static int attach(struct yaml_reader *r, json_t *value, const yaml_mark_t *at)
{
    struct yaml_frame *f = r->depth ? &r->stack[r->depth - 1] : NULL;
    int rc = weir_json_document_mark(r->doc, value, (int)at->line + 1, (int)at->column + 1);

    if (rc != WEIR_OK) {
        json_decref(value);
    } else if (!f) {
        r->doc->root = value;
    } else if (json_is_array(f->container)) {
        rc = json_array_append_new(f->container, value);
    } else {
        rc = json_object_set_new(f->container, f->key, value);
        weir_mem_free(f->key);
        f->key = NULL;
    }
    return rc == 0 ? WEIR_OK : weir_fail_nomem(r->err);
}

static bool wants_key(const struct yaml_reader *r)
{
    const struct yaml_frame *f = r->depth ? &r->stack[r->depth - 1] : NULL;
    return f && json_is_object(f->container) && !f->key;
}

static int read_key(struct yaml_reader *r, const yaml_event_t *e)
{
    struct yaml_frame *f = &r->stack[r->depth - 1];
    const char *key = (const char *)e->data.scalar.value;
    char quoted[WEIR_QUOTE];

    if (json_object_get(f->container, key))
        return weir_fail_at(r->err, WEIR_EPARSE, r->doc->source, (int)e->start_mark.line + 1,
                            (int)e->start_mark.column + 1, "key %s is there twice", weir_quote(key, quoted));
    f->key = weir_mem_strndup(key, e->data.scalar.length);
    return f->key ? WEIR_OK : weir_fail_nomem(r->err);
}

static int read_scalar(struct yaml_reader *r, const yaml_event_t *e)
{
    json_t *value;
    int rc;

    if (memchr(e->data.scalar.value, 0, e->data.scalar.length))
        return fail_at(r, WEIR_EPARSE, &e->start_mark, "a NUL character is not allowed");
    if (wants_key(r))
        return read_key(r, e);
    rc = scalar_value(r, e, &value);
    return rc == WEIR_OK ? attach(r, value, &e->start_mark) : rc;
}

static int open_container(struct yaml_reader *r, json_t *container, const yaml_mark_t *at)
{
    int rc;

    if (!container)
        return weir_fail_nomem(r->err);
    if (wants_key(r) || r->depth == WEIR_DOCUMENT_DEPTH) {
        json_decref(container);
        if (r->depth == WEIR_DOCUMENT_DEPTH)
            return fail_at(r, WEIR_ELIMIT, at, "nested more than 256 deep");
        return fail_at(r, WEIR_EPARSE, at, "a key must be a string");
    }
    rc = attach(r, container, at);
    if (rc == WEIR_OK)
        r->stack[r->depth++] = (struct yaml_frame){container, NULL};
    return rc;
}

static int read_event(struct yaml_reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->doc->root)
            return fail_at(r, WEIR_EPARSE, &e->start_mark, "a second YAML document; a jobspec is a single one");
        return WEIR_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(r, WEIR_EPARSE, &e->start_mark, "YAML aliases are not supported; write the value out");
    case YAML_SCALAR_EVENT: return read_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT: return open_container(r, json_array(), &e->start_mark);
    case YAML_MAPPING_START_EVENT: return open_container(r, json_object(), &e->start_mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: r->depth--; return WEIR_OK;
    default: return WEIR_OK;
    }
}

static int read_events(struct yaml_reader *r)
{
    bool more = true;

    while (more) {
        yaml_event_t e;
        int rc;
        if (!yaml_parser_parse(&r->parser, &e))
            return fail_parser(r);
        rc = read_event(r, &e);
        more = e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
        if (rc != WEIR_OK)
            return rc;
    }
    if (!r->doc->root)
        return weir_fail_at(r->err, WEIR_EPARSE, r->doc->source, 1, 1, "no YAML document in it");
    return WEIR_OK;
}

int weir_json_document_read_yaml(weir_json_document *d, const char *text, size_t len, weir_err *err)
{
    struct yaml_reader *r = weir_mem_zalloc(1, sizeof *r);
    int rc;

    d->kind = WEIR_DOCUMENT_YAML;
    if (!r)
        return weir_fail_nomem(err);
    if (!yaml_parser_initialize(&r->parser)) {
        weir_mem_free(r);
        return weir_fail_nomem(err);
    }
    r->doc = d;
    r->err = err;
    r->text = text;
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
    rc = read_events(r);
    while (r->depth)
        weir_mem_free(r->stack[--r->depth].key);
    yaml_parser_delete(&r->parser);
    weir_mem_free(r);
    return rc;
}
