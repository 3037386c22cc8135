/* fuzz_kv_image.c - the key-value image of a graph, in a single text. A loaded graph passes weir_check, and stays
 * equal when stored and loaded again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void again(const weir_graph *g)
{
    weir_pieces *p = NULL, *copy = weir_pieces_new();
    weir_graph *back = NULL;
    const char *key, *text;
    size_t len;
    weir_err err = {0};

    must(weir_graph_pieces(g, NULL, &p, &err) == WEIR_OK, err.text);
    for (uint32_t i = 0; weir_pieces_at(p, i, &key, &text, &len); i++)
        must(!text || weir_pieces_put(copy, key, text, len, NULL) == WEIR_OK, "a piece is put");
    must(weir_pieces_graph(copy, &back, &err) == WEIR_OK, err.text);
    must(weir_graph_compare(g, back, true, &err) == WEIR_OK, err.text);
    weir_graph_free(back);
    weir_pieces_free(copy);
    weir_pieces_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_pieces *p = weir_pieces_new();
    weir_graph *g = NULL;
    weir_err err = {0};

    must(weir_pieces_put(p, "block/0/0", (const char *)data, size, NULL) == WEIR_OK, "a piece is put");
    if (weir_pieces_graph(p, &g, &err) == WEIR_OK) {
        must(weir_check(g, &err) == WEIR_OK, err.text);
        again(g);
    } else {
        must(err.code < 0 && err.text[0], "an error says why");
    }
    weir_graph_free(g);
    weir_pieces_free(p);
    return 0;
}
