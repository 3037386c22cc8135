/* document_view.c - the document of a graph with its parts, for differences. Invariant: the line of a vertex is found
 * without reading JSON, as a document has no line breaks but those between elements. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/difference.h"

static int find_lines(struct document_view *d, weir_err *err)
{
    static const char start[] = "\"nodes\":[\n"; /* no value in front ends a line behind such a key */
    const char *at = strstr(d->text, start), *next;

    if (!at)
        return weir_fail(err, WEIR_EINVAL, "a document has no vertices");
    at += sizeof start - 1;
    for (uint32_t i = 0; i < d->count; i++) {
        d->lines[i] = (size_t)(at - d->text);
        next = strchr(at, '\n');
        at = next ? next + 1 : at;
    }
    d->lines[d->count] = (size_t)(at - d->text);
    return WEIR_OK;
}

static int by_serial(const void *a, const void *b, void *graph)
{
    const weir_graph *g = graph;
    uint64_t x = g->edges[*(const uint32_t *)a].serial, y = g->edges[*(const uint32_t *)b].serial;

    return (x > y) - (x < y);
}

static void list_edges(struct document_view *d)
{
    for (uint32_t i = 0; i < d->g->nedges; i++)
        if (d->g->edges[i].source != WEIR_NONE)
            d->edges[d->nedges++] = i;
    if (d->nedges > 1)
        qsort_r(d->edges, d->nedges, sizeof *d->edges, by_serial, (void *)d->g);
}

int weir_document_view(const weir_graph *g, struct document_view *out, weir_err *err)
{
    struct document_view d = {.g = g, .count = g->live};
    int rc;

    d.text = weir_write_text(weir_jgf_write_document, &(struct weir_written){.g = g}, err);
    if (!d.text)
        return err && err->code ? err->code : WEIR_ENOMEM;
    d.numbers = weir_jgf_numbers(g);
    d.vertices = weir_mem_alloc(((size_t)g->live + 1) * sizeof *d.vertices);
    d.tops = weir_mem_alloc(((size_t)g->live + 1) * sizeof *d.tops);
    d.lines = weir_mem_alloc(((size_t)g->live + 1) * sizeof *d.lines);
    d.edges = weir_mem_alloc(((size_t)g->live_edges + 1) * sizeof *d.edges);
    rc = d.numbers && d.vertices && d.tops && d.lines && d.edges ? find_lines(&d, err) : weir_fail_nomem(err);
    if (rc < 0) {
        weir_document_view_free(&d);
        return rc;
    }
    for (weir_vertex v = 0; v < g->limit; v++)
        if (vertex_valid(g, v))
            d.vertices[d.numbers[v]] = v;
    for (uint32_t i = 0; i < d.count; i++)
        if (vertex_at(g, d.vertices[i])->parent == WEIR_NONE)
            d.tops[d.ntops++] = d.vertices[i];
    list_edges(&d);
    weir_document_hash(d.text, strlen(d.text), d.hash);
    *out = d;
    return WEIR_OK;
}

void weir_document_view_free(struct document_view *d)
{
    WEIR_FREE(d->text, d->numbers, d->vertices, d->tops, d->lines, d->edges);
    *d = (struct document_view){0};
}

const char *weir_document_metadata(const struct document_view *d, uint32_t i, size_t *len)
{
    const char *from = d->text + d->lines[i], *to = d->text + d->lines[i + 1] - 1;

    from = strchr(from, ',') + 1; /* behind the id, which has digits only */
    if (to[-1] == ',')
        to--;
    *len = (size_t)(to - from);
    return from;
}

void weir_document_hash(const char *text, size_t len, char out[DIFFERENCE_HASH])
{
    uint64_t a = hash_text(UINT64_C(0x243F6A8885A308D3), text, len);
    uint64_t b = hash_text(UINT64_C(0x13198A2E03707344), text, len);

    snprintf(out, DIFFERENCE_HASH, "%016" PRIx64 "%016" PRIx64, hash_add(a, len), hash_add(b, len));
}
