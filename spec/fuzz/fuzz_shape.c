/* fuzz_shape.c - shape strings, and texts read by detecting the form from the content. */
#include "fuzz_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_request *r = NULL;

    if (weir_request_parse((const char *)data, size, "input", &r, NULL) == WEIR_OK)
        fuzz_request(r);
    weir_request_free(r);
    return fuzz_document(weir_json_document_read_shape, data, size);
}
