/* fuzz_document.c - documents: read, written, read again, with equal bytes; and differences: the input applied to a small
 * machine, and the difference between that machine and the input. */
#include "fuzz.h"

static char *document(const weir_graph *g)
{
    weir_err err = {0};
    char *text = weir_graph_format(g, "document", &err);

    if (!text && !err.text[0])
        fuzz_fail("no document, and no reason");
    return text;
}

/* Writes the document of g, reads the document, and compares. */
static void again(const weir_graph *g)
{
    char *text = document(g), *other;
    weir_graph *made;

    if (!text)
        return;
    made = fuzz_parse(text, strlen(text), "document");
    if (!made)
        fuzz_fail("a document cannot be read");
    other = document(made);
    if (!other || strcmp(text, other) != 0)
        fuzz_fail("two documents of a graph differ");
    weir_free(text);
    weir_free(other);
    weir_graph_free(made);
}

/* Makes b of a by their difference. */
static void lead(const weir_graph *a, const weir_graph *b)
{
    weir_err err = {0};
    weir_graph *made = NULL;
    char *text = weir_graph_diff(a, b, &err);

    if (text && weir_graph_apply(a, text, strlen(text), NULL, &made, &err) != WEIR_OK)
        fuzz_fail("a difference cannot be applied: %s", err.text);
    weir_graph_free(made);
    weir_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char small[] = "cluster:1 node:2 core:2 memory:1(size=4)";
    static weir_graph *machine;
    const char *text = (const char *)data;
    weir_graph *g = fuzz_parse(text, size, "document"), *made = NULL;
    weir_err err = {0};

    if (!machine)
        machine = fuzz_parse(small, sizeof small - 1, "synthetic");
    if (weir_graph_apply(machine, text, size, "input", &made, &err) != WEIR_OK && !err.text[0])
        fuzz_fail("no reason");
    weir_graph_free(made);
    if (g) {
        again(g);
        lead(machine, g);
        lead(g, machine);
    }
    weir_graph_free(g);
    return 0;
}
