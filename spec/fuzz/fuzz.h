/* fuzz.h - helpers of the fuzz targets of machine formats: a graph that was read is sound, and JSON loses nothing. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                                                                                  \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            abort();                                                                                                   \
    } while (0)

__attribute__((format(printf, 1, 2))) static inline _Noreturn void fuzz_fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\n");
    abort();
}

/* Parses a text that may be no machine: on failure there is an error with a text, and no graph. */
static inline weir_graph *fuzz_parse(const char *text, size_t size, const char *format)
{
    weir_graph *g = NULL;
    weir_err err = {0};
    int rc = weir_graph_parse(text, size, "input", format, &g, &err);

    if (rc == WEIR_OK ? !g : g || err.code != rc || !err.text[0])
        fuzz_fail("status %d, code %d, text \"%s\"", rc, err.code, err.text);
    if (g && weir_check(g, &err) != WEIR_OK)
        fuzz_fail("%s", err.text);
    return g;
}

/* Saves a graph as JSON and loads the text; the result must equal the graph. */
static inline weir_graph *fuzz_reload(const weir_graph *g, char **text)
{
    weir_err err = {0};
    weir_graph *again = NULL;

    *text = weir_graph_format(g, "jgf", &err);
    if (!*text || weir_graph_parse(*text, strlen(*text), "saved", "jgf", &again, &err) != WEIR_OK)
        fuzz_fail("%s", err.text);
    if (weir_graph_compare(g, again, false, &err) != WEIR_OK || weir_check(again, &err) != WEIR_OK)
        fuzz_fail("%s\n%s", err.text, *text);
    return again;
}

/* Saved and loaded twice a graph stays equal, and the loaded graph is saved as an equal text. */
static inline void fuzz_round_trip(const weir_graph *g)
{
    char *texts[3];
    weir_graph *first = fuzz_reload(g, &texts[0]), *second = fuzz_reload(first, &texts[1]);
    weir_graph *third = fuzz_reload(second, &texts[2]);

    if (strcmp(texts[1], texts[2]) != 0)
        fuzz_fail("%s\nis not\n%s", texts[2], texts[1]);
    weir_graph_free(first);
    weir_graph_free(second);
    weir_graph_free(third);
    for (int i = 0; i < 3; i++)
        weir_free(texts[i]);
}

#endif
