/* fuzz_request.h - helpers of the fuzz targets of requests: a text of one form is read or refused with a reason; a
 * request is written in each form and read again without loss. */
#ifndef FUZZ_REQUEST_H
#define FUZZ_REQUEST_H

#include "fuzz.h"
#include "request/request.h"

/* Writes a request; NULL: the form cannot express the request, and the error says why. */
static inline char *fuzz_write(const weir_request *r, const char *format, bool must)
{
    weir_err err = {0};
    char *text = weir_request_format(r, format, &err);

    if (!text && (must || !err.text[0]))
        fuzz_fail("%s: status %d, \"%s\"", format, err.code, err.text);
    return text;
}

/* Reads a text written in a form; rewritten as `as`, the request must give the text `want`. */
static inline void fuzz_reads_as(const char *text, const char *format, const char *as, const char *wanted)
{
    weir_request *again = NULL;
    weir_err err = {0};
    char *got;

    if (weir_request_parse(text, strlen(text), "written", &again, &err) != WEIR_OK)
        fuzz_fail("%s was written, but: %s\n%s", format, err.text, text);
    got = fuzz_write(again, as, true);
    if (strcmp(got, wanted) != 0)
        fuzz_fail("%s\nis not\n%s\nafter %s\n%s", got, wanted, format, text);
    weir_free(got);
    weir_request_free(again);
}

static inline void fuzz_request(const weir_request *r)
{
    char *json = fuzz_write(r, "json", true), *yaml = fuzz_write(r, "yaml", true);
    char *shape = fuzz_write(r, "shape", false), *resources = fuzz_write(r, "resources", false);

    fuzz_reads_as(json, "json", "json", json);
    fuzz_reads_as(yaml, "yaml", "json", json);
    if (shape)
        fuzz_reads_as(shape, "shape", "shape", shape);
    if (resources)
        fuzz_reads_as(resources, "resources", "resources", resources);
    weir_free(json);
    weir_free(yaml);
    weir_free(shape);
    weir_free(resources);
}

typedef int (*fuzz_reader)(weir_json_document *, const char *, size_t, weir_err *);

/* Reads a text as the given form, whatever the text looks like. */
static inline int fuzz_document(fuzz_reader read, const uint8_t *data, size_t size)
{
    weir_json_document d = {.source = "input"};
    weir_request *r = NULL;
    weir_err err = {0};
    int rc = read(&d, (const char *)data, size, &err);

    if (rc == WEIR_OK)
        rc = weir_jobspec_compile(&d, &r, &err);
    if (rc == WEIR_OK ? !r : r || err.code != rc || !err.text[0])
        fuzz_fail("status %d, code %d, text \"%s\"", rc, err.code, err.text);
    weir_json_document_free(&d);
    if (r)
        fuzz_request(r);
    weir_request_free(r);
    return 0;
}

#endif
