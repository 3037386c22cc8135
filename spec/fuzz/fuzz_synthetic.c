/* fuzz_synthetic.c - machines of one line. The build for fuzzing makes no graph of more than WEIR_VERTICES_MAX
 * vertices. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_graph *g = fuzz_parse((const char *)data, size, "synthetic");

    if (g)
        fuzz_round_trip(g);
    weir_graph_free(g);
    return 0;
}
