/* json_document.c - documents: the JSON value read from a jobspec, the line and column of its parts, and errors with
 * a place.
 *
 * Invariant: a mark is kept only for containers, strings and numbers, because jansson shares true, false and null: a
 * value's pointer identifies the value. No value of a document is freed before the last error is reported.
 */
#include "request/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void weir_json_document_free(weir_json_document *d)
{
    json_decref(d->root);
    weir_mem_free(d->marks);
    memset(d, 0, sizeof *d);
}

int weir_json_document_mark(weir_json_document *d, const json_t *value, int line, int column)
{
    if (json_is_boolean(value) || json_is_null(value) || d->nmarks == WEIR_DOCUMENT_MARKS)
        return WEIR_OK;
    if (WEIR_ARRAY_ADD(d->marks, d->nmarks, d->cap, (struct weir_mark){value, line, column}))
        return WEIR_ENOMEM;
    d->sorted = false;
    return WEIR_OK;
}

static int compare_marks(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct weir_mark *)a)->value, y = (uintptr_t)((const struct weir_mark *)b)->value;
    return (x > y) - (x < y);
}

void weir_json_document_find(weir_json_document *d, const json_t *value, int *line, int *column)
{
    struct weir_mark wanted = {value, 0, 0};
    const struct weir_mark *found = NULL;

    if (!d->sorted && d->nmarks)
        qsort(d->marks, d->nmarks, sizeof *d->marks, compare_marks);
    d->sorted = true;
    if (value && d->nmarks)
        found = bsearch(&wanted, d->marks, d->nmarks, sizeof *d->marks, compare_marks);
    *line = found ? found->line : 0;
    *column = found ? found->column : 0;
}

int weir_mark_list_add(struct weir_mark_list *m, weir_json_document *d, const json_t *value, const json_t *copy)
{
    struct weir_mark mark = {.value = copy};

    weir_json_document_find(d, value, &mark.line, &mark.column);
    if (mark.line == 0)
        return WEIR_OK;
    return WEIR_ARRAY_ADD(m->list, m->n, m->cap, mark);
}

int weir_mark_list_apply(const struct weir_mark_list *m, weir_json_document *d)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (weir_json_document_mark(d, m->list[i].value, m->list[i].line, m->list[i].column) != WEIR_OK)
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* The last 160 bytes of a long path, since the end of a path says more than the beginning. */
static const char *path_tail(const char *path, const char **dots)
{
    size_t n = strlen(path), room = 160;

    *dots = n > room ? "..." : "";
    return n > room ? path + n - room : path;
}

int weir_json_document_fail(weir_json_document *d, struct weir_spot at, weir_err *err, int code, const char *fmt, ...)
{
    char text[384];
    const char *dots, *path = path_tail(at.path, &dots);
    bool named = d->kind != WEIR_DOCUMENT_SHAPE && *path;
    int line, column;
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(text, sizeof text, fmt, ap);
    va_end(ap);
    weir_json_document_find(d, at.value, &line, &column);
    if (line == 0)
        weir_json_document_find(d, at.around, &line, &column);
    return weir_fail_at(err, code, d->source, line, column, "%s%s%s%s", named ? dots : "", named ? path : "",
                        named ? ": " : "", text);
}

const char *weir_quote(const char *s, char buf[WEIR_QUOTE])
{
    size_t room = WEIR_QUOTE - 6, n = 0; /* two quotes, three dots, NUL */
    char *out = buf;

    *out++ = '"';
    for (; n < room && s[n]; n++) {
        bool control = text_control(&s[n]);
        *out++ = control ? '?' : s[n];
        n += control && (unsigned char)s[n] == 0xc2; /* a control character of two bytes */
    }
    if (s[n]) {
        while (out > buf + 1 && (s[n] & 0xc0) == 0x80) { /* do not cut a UTF-8 sequence */
            out--;
            n--;
        }
        memcpy(out, "...", 3);
        out += 3;
    }
    *out++ = '"';
    *out = '\0';
    return buf;
}

const char *weir_json_unknown(const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(key, known[i]) != 0)
            i++;
        if (!known[i])
            return key;
    }
    return NULL;
}

const char *weir_json_kind(const json_t *value)
{
    if (!value)
        return "missing";
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "a dictionary";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a fraction";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    default: return "null";
    }
}

bool weir_json_starved(const json_error_t *e)
{
    return json_error_code(e) == json_error_out_of_memory || e->text[0] == '\0';
}

int weir_json_fail(weir_err *err, const char *source, const json_error_t *e)
{
    char text[sizeof e->text];
    int code = WEIR_EPARSE;

    if (weir_json_starved(e))
        return weir_fail_nomem(err);
    switch (json_error_code(e)) {
    case json_error_stack_overflow:
    case json_error_numeric_overflow: code = WEIR_ELIMIT; break;
    default: break;
    }
    snprintf(text, sizeof text, "%s", e->text);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    return weir_fail_at(err, code, source, e->line, e->column > 0 ? e->column : 1, "not valid JSON: %s", text);
}

/* Whether `value` is nested more than `room` levels deep. jansson itself refuses more than 2048 levels. */
static bool is_deeper(const json_t *value, int room)
{
    const char *key;
    json_t *inside;
    size_t i;

    if (!json_is_object(value) && !json_is_array(value))
        return false;
    if (room == 0)
        return true;
    json_object_foreach((json_t *)value, key, inside)
    {
        if (is_deeper(inside, room - 1))
            return true;
    }
    json_array_foreach(value, i, inside)
    {
        if (is_deeper(inside, room - 1))
            return true;
    }
    return false;
}

int weir_json_document_read_json(weir_json_document *d, const char *text, size_t len, weir_err *err)
{
    json_error_t e;

    d->kind = WEIR_DOCUMENT_JSON;
    d->root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!d->root)
        return weir_json_fail(err, d->source, &e);
    if (is_deeper(d->root, WEIR_DOCUMENT_DEPTH))
        return weir_fail_at(err, WEIR_ELIMIT, d->source, 0, 0, "nested more than %d deep", WEIR_DOCUMENT_DEPTH);
    return WEIR_OK;
}
