/* fuzz_jgf.c - JSON graphs, and R with a graph: read, saved, read again and compared; resolved on a machine, and
 * on the graph made from the input. */
#include "fuzz.h"

static void resolve(const weir_graph *g, const char *text, size_t size)
{
    weir_pick *picks = NULL;
    uint32_t n = 0;
    weir_err err = {0};
    int rc = weir_graph_resolve(g, text, size, "input", &picks, &n, &err);

    if (rc == WEIR_OK ? !picks : picks || err.code != rc || !err.text[0])
        fuzz_fail("status %d, code %d, text \"%s\"", rc, err.code, err.text);
    for (uint32_t i = 0; i < n; i++)
        if (!weir_vertex_live(g, picks[i].vertex) || picks[i].amount < 0 ||
            picks[i].amount > weir_vertex_size(g, picks[i].vertex))
            fuzz_fail("pick %u is none", i);
    weir_free(picks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char small[] = "cluster:1 node:2 core:2 memory:1(size=4)";
    static weir_graph *machine;
    const char *text = (const char *)data, *format = weir_format_guess(text, size);
    weir_graph *g = fuzz_parse(text, size, format && strcmp(format, "rv1") == 0 ? "rv1" : "jgf");

    if (!machine)
        machine = fuzz_parse(small, sizeof small - 1, "synthetic");
    resolve(machine, text, size);
    if (g) {
        resolve(g, text, size);
        fuzz_round_trip(g);
    }
    weir_graph_free(g);
    return 0;
}
