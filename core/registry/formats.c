/* formats.c - the table of formats, and searches in the table. See formats.h. */
#include "registry/formats.h"

#include <string.h>

#include "rset/rset.h"
#include "store/document.h"
#include "store/sqlite.h"

static const char *const document_suffixes[] = {".weir", NULL};
static const char *const sqlite_suffixes[] = {".db", ".sqlite", ".sqlite3", NULL};

enum { FOR_BOTH = FOR_GRAPHS | FOR_ALLOCATIONS };

static const struct format formats[] = {
    {.name = "grug", .probe = weir_probe_grug, .read = weir_grug_read},
    {.name = "jgf",
     .traits = STREAMED | FOR_BOTH,
     .probe = weir_probe_jgf,
     .read = weir_document_read,
     .write = weir_jgf_write_graph},
    {.name = "document",
     .traits = STREAMED | FOR_GRAPHS,
     .read = weir_document_read,
     .write = weir_jgf_write_document,
     .suffixes = document_suffixes},
    {.name = "jgf_shorthand", .traits = FOR_ALLOCATIONS, .write = weir_jgf_write_shorthand},
    {.name = "rv1",
     .traits = STREAMED | FOR_BOTH,
     .probe = weir_probe_rv1,
     .read = weir_rv1_read,
     .write = weir_rv1_write},
    {.name = "rv1_nosched", .traits = FOR_BOTH, .write = weir_rv1_write_nosched},
    {.name = "rv1_shorthand", .traits = FOR_ALLOCATIONS, .write = weir_rv1_write_shorthand},
    {.name = "rlite", .traits = FOR_BOTH, .write = weir_rlite_write},
    {.name = "hwloc", .traits = TAKES_OPTION, .probe = weir_probe_hwloc, .read = weir_hwloc_read},
    {.name = "sqlite",
     .probe = weir_sqlite_is,
     .read = weir_sqlite_read,
     .suffixes = sqlite_suffixes,
     .load = weir_sqlite_load,
     .save = weir_sqlite_save},
    {.name = "synthetic", .probe = weir_probe_synthetic, .read = weir_synthetic_read},
    {.name = "csv", .traits = FOR_GRAPHS | TAKES_START, .write = weir_csv_write},
};
enum { FORMATS = sizeof formats / sizeof *formats };

const struct format *weir_format_find(const char *name, size_t len)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strlen(formats[i].name) == len && memcmp(formats[i].name, name, len) == 0)
            return &formats[i];
    return NULL;
}

const struct format *weir_format_probe(const char *text, size_t len)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].probe && formats[i].probe(text, len))
            return &formats[i];
    return NULL;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && strcmp(s + n - k, end) == 0;
}

const struct format *weir_format_of_path(const char *path)
{
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *s = formats[i].suffixes; s && *s; s++)
            if (ends_with(path, *s))
                return &formats[i];
    return weir_format_find("jgf", 3);
}

void weir_format_names(unsigned traits, char names[FORMAT_NAMES])
{
    size_t n = 0;

    for (size_t i = 0; i < FORMATS; i++)
        if (traits ? formats[i].traits & traits : formats[i].read != NULL)
            n += (size_t)snprintf(names + n, FORMAT_NAMES - n, "%s%s", n ? ", " : "", formats[i].name);
}
