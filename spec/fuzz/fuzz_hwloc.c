/* fuzz_hwloc.c - XML of hwloc: weir's own checks before the library, and the list of objects. The library is not
 * instrumented: its faults show only as a crash, a hang or excessive memory. */
#include "fuzz.h"

/* The library leaks parts of some documents that fail. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhwloc.so";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"hwloc", "hwloc:all,pu,numanode,L1cache,L2cache,L3cache,group"};
    const char *text = (const char *)data;
    weir_err err = {0};
    char *objects = weir_text_to_json(text, size, "input", "hwloc", &err);

    if (objects ? err.code != WEIR_OK : err.code == WEIR_OK || !err.text[0])
        fuzz_fail("code %d, text \"%s\"", err.code, err.text);
    weir_free(objects);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        weir_graph *g = fuzz_parse(text, size, formats[i]);
        if (g)
            fuzz_round_trip(g);
        weir_graph_free(g);
    }
    return 0;
}
