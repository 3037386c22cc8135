/* formats.h - the registry of formats: a row for each format, with functions of the folders below. Private to the
 * registry.
 *
 * Readers and writers include format/input.h and format/output.h, and know no further format. A new format is a row in
 * formats.c.
 */
#ifndef WEIR_FORMATS_H
#define WEIR_FORMATS_H

#include "format/input.h"
#include "format/output.h"

enum format_traits {
    STREAMED = 1u,        /* read() reads the rest of a file; without the trait, read() gets the whole text */
    TAKES_OPTION = 2u,    /* "NAME:OPTION" is read, too */
    FOR_GRAPHS = 4u,      /* write() takes graphs */
    FOR_ALLOCATIONS = 8u, /* write() takes allocations */
    TAKES_START = 16u     /* the option `start` has an effect on write() */
};

struct format {
    const char *name;
    unsigned traits;
    bool (*probe)(const char *text, size_t len); /* true if a text with such a start is in the format */
    weir_reader *read;
    weir_writer *write;
    /* Formats of files rather than texts: */
    const char *const *suffixes; /* of files saved in the format, up to NULL */
    int (*load)(const char *path, weir_graph **out, weir_err *err);
    int (*save)(weir_graph *g, const char *path, bool changed, weir_err *err);
};

/* The format called `name`, of `len` bytes, or NULL. */
const struct format *weir_format_find(const char *name, size_t len);
/* The format whose probe accepts the text, or NULL. */
const struct format *weir_format_probe(const char *text, size_t len);
/* The format of a file to be saved, by the suffix of its path: jgf where no format has the suffix. */
const struct format *weir_format_of_path(const char *path);
/* Lists the names of the formats that can be read (traits 0), or written for one of `traits`: "grug, jgf, ...". */
#define FORMAT_NAMES 160
void weir_format_names(unsigned traits, char names[FORMAT_NAMES]);

#endif
