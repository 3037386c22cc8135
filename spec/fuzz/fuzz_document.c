/* fuzz_document.c - documents: read, written, read again, with equal bytes; and differences: the input applied to a
 * small machine, and the difference between that machine and the input. */
#include "fuzz.h"

#define UUID "5eed5eed-0000-4000-8000-000000000001" /* of the machine, so that a difference may begin with its hash */

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

/* Whether a graph has foreign keys of edges or of the graph, which differences do not carry (store/difference.h). */
static bool has_foreign(const weir_graph *g)
{
    const char *key, *value;

    for (weir_vertex v = 0; v < weir_graph_limit(g); v++)
        for (uint32_t i = 0; weir_vertex_live(g, v) && weir_vertex_entry(g, v, WEIR_EXTENDED, i, &key, &value); i++)
            if (strncmp(key, "jgf.", 4) == 0)
                return true;
    return false;
}

/* Makes b of a by their difference. */
static void lead(const weir_graph *a, const weir_graph *b)
{
    weir_err err = {0};
    weir_graph *made = NULL;
    char *text = has_foreign(a) || has_foreign(b) ? NULL : weir_graph_diff(a, b, &err);

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

    if (!machine) {
        setenv("WEIR_UUID", UUID, 1);
        machine = fuzz_parse(small, sizeof small - 1, "synthetic");
    }
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
