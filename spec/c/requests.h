/* requests.h - requests for C tests: whole jobspecs around a part, and how they are read. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "check.h"

#include "weir.h"

/* Whole jobspecs around a resource, a version, or attributes. */
#define RES(r) "{\"resources\":[" r "]}"
#define FULL(version, r, tasks, attributes)                                                                            \
    "{\"version\":" version ",\"resources\":[" r "],\"tasks\":[" tasks "],\"attributes\":" attributes "}"
#define V1(r)                                                                                                          \
    FULL("1", r, "{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}", "{\"system\":{\"duration\":1}}")
#define SLOT_CORE "{\"type\":\"slot\",\"count\":1,\"label\":\"s\",\"with\":[{\"type\":\"core\",\"count\":1}]}"
#define SYSTEM(s) "{\"resources\":[{\"type\":\"node\",\"count\":1}],\"attributes\":{\"system\":{" s "}}}"

/* Reads a request without a zero byte behind the text, so that a sanitizer sees a read past the end. */
static inline int read_request(const char *text, weir_request **out, weir_err *err)
{
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    char *tail = copy ? memcpy(copy + 1, text, len) : NULL;
    int rc;

    weir_err_clear(err);
    *out = NULL;
    rc = tail ? weir_request_parse(tail, len, NULL, out, err) : WEIR_ENOMEM;
    free(copy);
    return rc;
}

#endif
