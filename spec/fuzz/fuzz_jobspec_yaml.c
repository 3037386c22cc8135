/* fuzz_jobspec_yaml.c - jobspecs in YAML. */
#include "fuzz_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_document(weir_json_document_read_yaml, data, size);
}
