/* input.c - services for readers of machines: texts, pools, XML and JSON. See input.h. */
#include "format/input.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "request/request.h"

/* ---- texts --------------------------------------------------------------------------------------------------- */

const char *weir_text_fault(const char *s, bool part)
{
    size_t n = strlen(s);

    if (n == 0)
        return "is empty";
    if (n > WEIR_NAME_MAX)
        return "is longer than 65536 bytes";
    for (size_t i = 0; i < n; i++) {
        if (text_control(&s[i]))
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
        WEIR_FREE(prop->key, prop->value);
        return WEIR_ENOMEM;
    }
    p->count++;
    return WEIR_OK;
}

void weir_props_free(struct weir_props *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        WEIR_FREE(p->list[i].key, p->list[i].value);
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

/* ---- XML ------------------------------------------------------------------------------------------------------ */

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

int weir_xml_check_attributes(XML_Parser xml, const char *element, const char **attrs, const char *source,
                              weir_err *err)
{
    for (size_t i = 0; i <= WEIR_XML_ATTRIBUTES; i++)
        if (!attrs[2 * i])
            return WEIR_OK;
    return weir_fail_at(err, WEIR_ELIMIT, source, (int)XML_GetCurrentLineNumber(xml), 0,
                        "<%.64s> has more than %d attributes", element, WEIR_XML_ATTRIBUTES);
}
