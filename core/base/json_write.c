/* json_write.c - JSON text: strings, integers, values of jansson. */
#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/utf8.h"

void weir_write_int(weir_buf *b, int64_t n)
{
    char digits[WEIR_INT_MAX];
    weir_buf_add(b, digits, (size_t)(weir_put_int(digits, n) - digits));
}

/* Bytes at the start of s that need no escapes. */
static size_t count_safe(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

static void escape_char(weir_buf *b, const char *s, size_t n)
{
    unsigned char c = (unsigned char)*s;

    if (c == '"' || c == '\\') {
        WEIR_WRITE(b, "\\");
        weir_buf_add(b, s, 1);
    } else if (c == '\n') {
        WEIR_WRITE(b, "\\n");
    } else if (c == '\t') {
        WEIR_WRITE(b, "\\t");
    } else if (c < ' ' || c == 0x7f) {
        weir_buf_printf(b, "\\u%04x", c);
    } else {
        weir_buf_add(b, s, n);
    }
}

void weir_write_escaped(weir_buf *b, const char *s, size_t n)
{
    for (;;) {
        size_t k = count_safe(s, n);
        weir_buf_add(b, s, k);
        s += k;
        n -= k;
        if (n == 0)
            return;
        k = weir_text_char(s, n);
        if (k == 0)
            WEIR_WRITE(b, "\xef\xbf\xbd");
        else
            escape_char(b, s, k);
        s += k ? k : 1;
        n -= k ? k : 1;
    }
}

void weir_write_string(weir_buf *b, const char *s)
{
    WEIR_WRITE(b, "\"");
    weir_write_escaped(b, s, strlen(s));
    WEIR_WRITE(b, "\"");
}

static void write_member(const char *key, const json_t *value, bool comma, bool sorted, weir_buf *b)
{
    if (comma)
        WEIR_WRITE(b, ",");
    weir_write_string(b, key);
    WEIR_WRITE(b, ":");
    weir_json_write(value, sorted, b);
}

/* Adds members by ascending keys. comma: before the first, too; sorted: objects within, too. */
static void write_by_key(json_t *object, bool comma, bool sorted, weir_buf *b)
{
    size_t n = json_object_size(object), i = 0;
    const char **keys = weir_mem_alloc((n + 1) * sizeof *keys);

    b->failed |= !keys;
    for (void *it = json_object_iter(object); keys && it; it = json_object_iter_next(object, it))
        keys[i++] = json_object_iter_key(it);
    if (i > 1)
        qsort(keys, i, sizeof *keys, weir_compare_texts);
    for (i = 0; keys && i < n; i++)
        write_member(keys[i], json_object_get(object, keys[i]), comma || i, sorted, b);
    weir_mem_free(keys);
}

void weir_json_write_members(const json_t *object, weir_buf *b)
{
    write_by_key((json_t *)object, true, false, b);
}

static void write_object(json_t *object, bool sorted, weir_buf *b)
{
    WEIR_WRITE(b, "{");
    if (sorted)
        write_by_key(object, false, true, b);
    for (void *it = sorted ? NULL : json_object_iter(object), *first = it; it; it = json_object_iter_next(object, it))
        write_member(json_object_iter_key(it), json_object_iter_value(it), it != first, false, b);
    WEIR_WRITE(b, "}");
}

static void write_array(const json_t *array, bool sorted, weir_buf *b)
{
    WEIR_WRITE(b, "[");
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i)
            WEIR_WRITE(b, ",");
        weir_json_write(json_array_get(array, i), sorted, b);
    }
    WEIR_WRITE(b, "]");
}

void weir_json_write(const json_t *value, bool sorted, weir_buf *b)
{
    char number[WEIR_NUMBER_MAX];

    switch (json_typeof(value)) {
    case JSON_OBJECT: write_object((json_t *)value, sorted, b); break; /* jansson's iterators take no const */
    case JSON_ARRAY: write_array(value, sorted, b); break;
    case JSON_STRING:
        WEIR_WRITE(b, "\"");
        weir_write_escaped(b, json_string_value(value), json_string_length(value));
        WEIR_WRITE(b, "\"");
        break;
    case JSON_INTEGER: weir_write_int(b, json_integer_value(value)); break;
    case JSON_REAL:
        weir_buf_add(b, number, (size_t)weir_number_write_json(number, sizeof number, json_real_value(value)));
        break;
    case JSON_TRUE: WEIR_WRITE(b, "true"); break;
    case JSON_FALSE: WEIR_WRITE(b, "false"); break;
    case JSON_NULL: WEIR_WRITE(b, "null"); break;
    }
}
