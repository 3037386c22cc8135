/* probe.c - detects the format of a machine from the start of its text. Invariant: at most one probe accepts a text,
 * however much of its end is missing.
 */
#include "format/input.h"

#include <ctype.h>
#include <string.h>

/* The start of the content: behind a byte order mark and blanks. */
static const char *content(const char *text, const char *end)
{
    if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    while (text < end && isspace((unsigned char)*text))
        text++;
    return text;
}

/* True if an XML text has `name` as its first element: the first '<' followed by a letter. */
static bool first_element(const char *text, size_t len, const char *name)
{
    const char *end = text + len, *s = content(text, end);
    size_t n = strlen(name);

    if (s == end || *s != '<')
        return false;
    for (; s + 1 < end; s++) {
        if (*s != '<')
            continue;
        if (end - s > 4 && memcmp(s, "<!--", 4) == 0) {
            const char *close = memmem(s, (size_t)(end - s), "-->", 3);
            if (!close)
                return false;
            s = close + 2;
        } else if (isalpha((unsigned char)s[1])) {
            return (size_t)(end - s) > n + 1 && memcmp(s + 1, name, n) == 0;
        }
    }
    return false;
}

bool weir_probe_grug(const char *text, size_t len)
{
    return first_element(text, len, "graphml");
}

bool weir_probe_hwloc(const char *text, size_t len)
{
    return first_element(text, len, "topology");
}

/* True if the string from s to `past` equals `key` and a colon follows. */
static bool key_is(const char *s, const char *past, const char *end, const char *key)
{
    size_t n = strlen(key);

    if ((size_t)(past - s) != n || memcmp(s, key, n) != 0)
        return false;
    while (past < end && isspace((unsigned char)*past))
        past++;
    return past < end && *past == ':';
}

/* Returns the end of the string whose opening quote is at s, or `end`. */
static const char *skip_string(const char *s, const char *end)
{
    for (s++; s < end && *s != '"'; s++)
        if (*s == '\\')
            s++;
    return s < end ? s + 1 : end;
}

enum json_kind { JSON_UNKNOWN, JSON_JGF, JSON_RV1 };

/* Distinguishes a graph from an R by the first known key of the outermost object. */
static enum json_kind kind_of_json(const char *text, size_t len)
{
    const char *end = text + len, *s = content(text, end);
    int depth = 0;

    if (s == end || *s != '{')
        return JSON_UNKNOWN;

    while (s < end) {
        const char *start = s;
        if (*s == '"') {
            s = skip_string(s, end);
            if (depth == 1 && key_is(start, s, end, "\"graph\""))
                return JSON_JGF;
            if (depth == 1 && (key_is(start, s, end, "\"execution\"") || key_is(start, s, end, "\"scheduling\"")))
                return JSON_RV1;
            continue;
        }
        if (*s == '{' || *s == '[')
            depth++;
        else if (*s == '}' || *s == ']')
            depth--;
        s++;
    }
    return JSON_UNKNOWN;
}

bool weir_probe_jgf(const char *text, size_t len)
{
    return kind_of_json(text, len) == JSON_JGF;
}

bool weir_probe_rv1(const char *text, size_t len)
{
    return kind_of_json(text, len) == JSON_RV1;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* A synthetic string starts with a type and a count or attributes; "key: value" does not. */
bool weir_probe_synthetic(const char *text, size_t len)
{
    const char *end = text + len, *start = content(text, end), *s = start;

    while (s < end && word_char(*s))
        s++;
    if (s == start || !isalpha((unsigned char)*start) || end - s < 2 || *s != ':')
        return false;
    return isdigit((unsigned char)s[1]) || s[1] == '-';
}
