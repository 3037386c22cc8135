/* registry.c - reading machines: which reader takes a text, and what the readers share. See input.h.
 *
 * Main invariant: *out is written only on success, with a graph that is whole.
 */
#include "format/input.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "request/request.h"
#include "store/sqlite.h"

/* ---- formats ------------------------------------------------------------------------------------------------- */

/* The name of the first element of an XML text: the first '<' followed by a letter. */
static const char *guess_xml(const char *s, const char *end)
{
    for (; s + 1 < end; s++) {
        if (*s != '<')
            continue;
        if (end - s > 4 && memcmp(s, "<!--", 4) == 0) {
            const char *close = memmem(s, (size_t)(end - s), "-->", 3);
            if (!close)
                return NULL;
            s = close + 2;
        } else if (isalpha((unsigned char)s[1])) {
            if (end - s > 8 && memcmp(s + 1, "graphml", 7) == 0)
                return "grug";
            return end - s > 9 && memcmp(s + 1, "topology", 8) == 0 ? "hwloc" : NULL;
        }
    }
    return NULL;
}

/* Whether the string from s to `past` is this one, and the key of something. */
static bool key_is(const char *s, const char *past, const char *end, const char *key)
{
    size_t n = strlen(key);

    if ((size_t)(past - s) != n || memcmp(s, key, n) != 0)
        return false;
    while (past < end && isspace((unsigned char)*past))
        past++;
    return past < end && *past == ':';
}

/* Past the string that starts at s, a '"'; or end. */
static const char *skip_string(const char *s, const char *end)
{
    for (s++; s < end && *s != '"'; s++)
        if (*s == '\\')
            s++;
    return s < end ? s + 1 : end;
}

/* Looks for the keys of the outermost object that tell an R from a graph. */
static const char *guess_json(const char *s, const char *end)
{
    int depth = 0;

    while (s < end) {
        const char *start = s;
        if (*s == '"') {
            s = skip_string(s, end);
            if (depth == 1 && key_is(start, s, end, "\"graph\""))
                return "jgf";
            if (depth == 1 && (key_is(start, s, end, "\"execution\"") || key_is(start, s, end, "\"scheduling\"")))
                return "rv1";
            continue;
        }
        if (*s == '{' || *s == '[')
            depth++;
        else if (*s == '}' || *s == ']')
            depth--;
        s++;
    }
    return NULL;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* A type and then a count, attributes or brackets. "key: value" is something else. */
static const char *guess_text(const char *s, const char *end)
{
    const char *start = s;

    while (s < end && word_char(*s))
        s++;
    if (s == start || !isalpha((unsigned char)*start) || end - s < 2 || *s != ':')
        return NULL;
    return isdigit((unsigned char)s[1]) || s[1] == '-' ? "synthetic" : NULL;
}

const char *weir_format_guess(const char *text, size_t len)
{
    const char *end = text + len;

    if (weir_sqlite_is(text, len))
        return "sqlite";
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    while (text < end && isspace((unsigned char)*text))
        text++;
    if (text == end)
        return NULL;
    if (*text == '<')
        return guess_xml(text, end);
    if (*text == '{')
        return guess_json(text, end);
    return guess_text(text, end);
}

static bool only_space(const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)*text))
        text++, len--;
    return len == 0;
}

static int parse_as(const char *text, size_t len, const char *source, const char *format, weir_graph **out,
                    weir_err *err)
{
    const struct weir_input in = {text, len, NULL};

    if (strcmp(format, "grug") == 0)
        return weir_grug_parse(text, len, source, out, err);
    if (strcmp(format, "synthetic") == 0)
        return weir_synthetic_parse(text, len, source, out, err);
    if (strcmp(format, "jgf") == 0)
        return weir_jgf_read(&in, source, out, err);
    if (strcmp(format, "rv1") == 0)
        return weir_rv1_read(&in, source, out, err);
    if (strcmp(format, "hwloc") == 0)
        return weir_hwloc_parse(text, len, source, "", out, err);
    if (strncmp(format, "hwloc:", 6) == 0)
        return weir_hwloc_parse(text, len, source, format + 6, out, err);
    if (strcmp(format, "sqlite") == 0)
        return weir_sqlite_parse(text, len, source, out, err);
    return weir_fail(err, WEIR_EINVAL, "unknown format \"%.64s\": one of grug, jgf, rv1, hwloc, sqlite, synthetic is wanted",
                     format);
}

int weir_graph_parse(const char *text, size_t len, const char *source, const char *format, weir_graph **out,
                     weir_err *err)
{
    int rc;

    if (!format)
        format = weir_format_guess(text, len);
    if (only_space(text, len))
        rc = weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "is empty, a machine is wanted");
    else if (!format)
        rc = weir_fail_at(
            err, WEIR_EPARSE, source, 0, 0,
            "is no machine in a known format (GraphML recipe, JSON graph, R, hwloc XML, SQLite, \"node:4 core:8\")");
    else
        rc = parse_as(text, len, source, format, out, err);
    if (rc < 0)
        weir_err_source(err, source);
    return rc;
}

/* Reads what is left of a file behind its first block, and then all of it. */
static int load_whole(FILE *f, weir_buf *text, const char *source, const char *format, weir_graph **out, weir_err *err)
{
    int rc = weir_file_rest(f, source, "a machine", WEIR_MACHINE_MAX, text, err);
    return rc < 0 ? rc : weir_graph_parse(text->data, text->len, source, format, out, err);
}

/* A graph in JSON may be large: it is read as it comes. The first block tells what a file is. */
static int load_file(FILE *f, const char *source, const char *format, weir_graph **out, weir_err *err)
{
    weir_buf first = {0};
    char block[16384];
    size_t n;
    int rc = weir_file_block(f, source, block, sizeof block, &n, err);

    if (rc < 0)
        return rc;
    if (!format)
        format = weir_format_guess(block, n);
    if (format && n > 0 && (strcmp(format, "jgf") == 0 || strcmp(format, "rv1") == 0)) {
        const struct weir_input in = {block, n, f};
        rc = *format == 'j' ? weir_jgf_read(&in, source, out, err) : weir_rv1_read(&in, source, out, err);
        if (rc < 0)
            weir_err_source(err, source);
        return rc;
    }
    weir_buf_add(&first, block, n);
    rc = load_whole(f, &first, source, format, out, err);
    weir_buf_free(&first);
    return rc;
}

int weir_graph_load(const char *path, const char *format, weir_graph **out, weir_err *err)
{
    FILE *f;
    int rc;

    if (weir_sqlite_at(path, format))
        return weir_sqlite_load(path, out, err);
    rc = weir_file_open(path, &f, err);
    if (rc < 0)
        return rc;
    rc = load_file(f, strcmp(path, "-") == 0 ? "<stdin>" : path, format, out, err);
    weir_file_close(f);
    return rc;
}

int weir_graph_discover(weir_graph **out, weir_err *err)
{
    return weir_hwloc_discover("", out, err);
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

const char *weir_text_fault(const char *s, bool part)
{
    size_t n = strlen(s);

    if (n == 0)
        return "is empty";
    if (n > WEIR_NAME_MAX)
        return "is longer than 65536 bytes";
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            return "has a control character in it";
        if (part && s[i] == '/')
            return "has a '/' in it";
    }
    return NULL;
}

void weir_host_describe(const char *name, char *basename, weir_pool_desc *d)
{
    size_t len = strlen(name), i = len;

    while (i > 0 && isdigit((unsigned char)name[i - 1]))
        i--;
    memcpy(basename, name, len + 1);
    d->basename = basename;
    d->id = WEIR_NO_ID;
    d->name = NULL;
    if (i == 0 || i == len || len - i > 18)
        return;
    basename[i] = '\0';
    d->id = strtoll(name + i, NULL, 10);
    if (name[i] == '0' && len - i > 1)
        d->name = name;
}

/* ---- pools ---------------------------------------------------------------------------------------------------- */

int weir_props_add(struct weir_props *p, const char *text, size_t len)
{
    const char *eq = memchr(text, '=', len);
    size_t key = eq ? (size_t)(eq - text) : len;
    struct weir_prop *prop;

    if (weir_array_reserve(&p->list, &p->cap, (size_t)p->count + 1, sizeof *p->list) < 0)
        return WEIR_ENOMEM;
    prop = &p->list[p->count];
    prop->key = weir_mem_strndup(text, key);
    prop->value = eq ? weir_mem_strndup(eq + 1, len - key - 1) : weir_mem_strdup("");
    if (!prop->key || !prop->value) {
        weir_mem_free(prop->key);
        weir_mem_free(prop->value);
        return WEIR_ENOMEM;
    }
    p->count++;
    return WEIR_OK;
}

void weir_props_free(struct weir_props *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        weir_mem_free(p->list[i].key);
        weir_mem_free(p->list[i].value);
    }
    weir_mem_free(p->list);
    memset(p, 0, sizeof *p);
}

int weir_siblings_add(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, const struct weir_props *props,
                      uint32_t count, int64_t stride, int64_t *next_rank, weir_vertex *first, weir_err *err)
{
    bool ranked = strcmp(d->type, "node") == 0;
    int rc = count == 1 ? weir_graph_add(g, parent, d, first, err)
                        : weir_graph_add_many(g, parent, d, count, stride, first, err);

    if (rc < 0 || (!ranked && props->count == 0))
        return rc;
    for (uint32_t i = 0; i < count; i++) {
        if (ranked)
            rc = weir_vertex_set_rank(g, *first + i, (*next_rank)++, err);
        for (uint32_t k = 0; rc == WEIR_OK && k < props->count; k++)
            rc = weir_vertex_set(g, *first + i, WEIR_PROPERTIES, props->list[k].key, props->list[k].value, err);
        if (rc < 0)
            return rc;
    }
    return WEIR_OK;
}

/* ---- XML and JSON --------------------------------------------------------------------------------------------- */

XML_Parser weir_xml_new(void)
{
    static const XML_Memory_Handling_Suite memory = {weir_mem_alloc, weir_mem_realloc, weir_mem_free};
    return XML_ParserCreate_MM(NULL, &memory, NULL);
}

int weir_xml_run(XML_Parser xml, const char *text, size_t len, const char *source, weir_err *err)
{
    enum XML_Error what;

    if (len > INT_MAX)
        return weir_fail_at(err, WEIR_ELIMIT, source, 0, 0, "XML of more than 2 GB");
    if (XML_Parse(xml, text, (int)len, 1) == XML_STATUS_OK)
        return WEIR_OK;
    what = XML_GetErrorCode(xml);
    if (what == XML_ERROR_NO_MEMORY)
        return weir_fail_nomem(err);
    return weir_fail_at(err, WEIR_EPARSE, source, (int)XML_GetCurrentLineNumber(xml),
                        (int)XML_GetCurrentColumnNumber(xml) + 1, "XML: %s", XML_ErrorString(what));
}

int weir_json_object(const char *text, size_t len, const char *source, json_t **out, weir_err *err)
{
    json_error_t what;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &what);

    if (!root && weir_json_starved(&what))
        return weir_fail_nomem(err);
    if (!root)
        return weir_fail_at(err, WEIR_EPARSE, source, what.line, what.column, "JSON: %s", what.text);
    if (!json_is_object(root)) {
        json_decref(root);
        return weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "an object is wanted, such as {\"graph\": ...}");
    }
    *out = root;
    return WEIR_OK;
}
