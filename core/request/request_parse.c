/* request_parse.c - reads a request from text: recognizes JSON, YAML and shapes by content, then compiles the
 * document.
 */
#include "request/request.h"

#include <ctype.h>
#include <string.h>

/* ---- detecting the form ------------------------------------------------------------------------------------ */

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

/* Whether the text has "key:" and a blank at offset `at`, as a YAML dictionary does. */
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

/* Whether the text is YAML, not a shape: a shape is one line without the marks of a YAML dictionary, list or
 * comment. */
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

static int read_document(weir_json_document *d, const char *text, size_t len, weir_err *err)
{
    size_t at = starts_with(text, len, 0, "\xef\xbb\xbf") ? 3 : 0; /* skip a byte order mark */

    text += at;
    len -= at;
    at = skip_space(text, len, 0);
    if (at == len)
        return weir_fail_at(err, WEIR_EPARSE, d->source, 0, 0,
                            "empty; expected a jobspec (YAML or JSON) or a shape such as slot=4/node/core=8");
    switch (guess_kind(text, len, at)) {
    case WEIR_DOCUMENT_JSON: return weir_json_document_read_json(d, text, len, err);
    case WEIR_DOCUMENT_YAML: return weir_json_document_read_yaml(d, text, len, err);
    default: return weir_json_document_read_shape(d, text, len, err);
    }
}

int weir_request_parse(const char *text, size_t len, const char *source, weir_request **out, weir_err *err)
{
    weir_json_document d = {.source = source};
    int rc;

    if (len > WEIR_JOBSPEC_MAX)
        return weir_fail_at(err, WEIR_ELIMIT, source, 0, 0, "a jobspec of more than 64 MB");
    rc = read_document(&d, text, len, err);
    rc = rc ? rc : weir_jobspec_compile(&d, out, err);
    weir_json_document_free(&d);
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
