/* dot_write.c - writes a machine as a Graphviz digraph: a box for each vertex with its name and size, grey where jobs
 * cannot have it, and an arrow for each edge, dashed and in a colour of its own for each subsystem but containment.
 *
 * Main invariant: whatever a name has in it, it stays inside its quotes.
 */
#include "write.h"

#include <string.h>

/* Told apart also by those who do not see all colours. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};
enum { COLOURS = sizeof colours / sizeof *colours };

struct dot {
    const weir_graph *g;
    weir_buf *b;
    weir_buf name, plain; /* scratch */
};

/* Graphviz takes \N, \G and the like for what they stand for, so every backslash is doubled. */
static void write_label(struct dot *w, const char *s, size_t n)
{
    size_t at = 0;

    w->plain.len = 0;
    weir_write_plain(&w->plain, s, n);
    w->b->failed |= w->plain.failed;
    while (!w->b->failed && at < w->plain.len) {
        size_t k = 0;
        while (at + k < w->plain.len && w->plain.data[at + k] != '"' && w->plain.data[at + k] != '\\')
            k++;
        weir_buf_add(w->b, w->plain.data + at, k);
        at += k;
        if (at < w->plain.len) {
            WEIR_WRITE(w->b, "\\");
            weir_buf_add(w->b, w->plain.data + at++, 1);
        }
    }
}

static void write_vertex(struct dot *w, weir_vertex v)
{
    const struct kind *k = kind_of(w->g, v);
    const char *unit = weir_vertex_unit(w->g, v);
    weir_buf *b = w->b;

    w->name.len = 0;
    weir_write_name(&w->name, w->g, v);
    b->failed |= w->name.failed;
    if (b->failed)
        return;
    WEIR_WRITE(b, "  v");
    weir_write_int(b, v);
    WEIR_WRITE(b, " [label=\"");
    write_label(w, w->name.data, w->name.len);
    if (k->size != 1 || *unit) {
        WEIR_WRITE(b, "\\n");
        weir_write_int(b, k->size);
    }
    if (*unit) {
        WEIR_WRITE(b, " ");
        write_label(w, unit, strlen(unit));
    }
    WEIR_WRITE(b, "\"");
    if (!state_available(vertex_at(w->g, v)->state))
        WEIR_WRITE(b, " style=filled fillcolor=grey");
    WEIR_WRITE(b, "];\n");
}

static void begin_edge(weir_buf *b, weir_vertex source, weir_vertex target)
{
    WEIR_WRITE(b, "  v");
    weir_write_int(b, source);
    WEIR_WRITE(b, " -> v");
    weir_write_int(b, target);
}

static void write_below(struct dot *w, weir_vertex v)
{
    uint32_t n;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    write_vertex(w, v);
    for (uint32_t i = 0; i < n && !w->b->failed; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        begin_edge(w->b, v, kids[i]);
        WEIR_WRITE(w->b, ";\n");
        write_below(w, kids[i]);
    }
}

static uint32_t subsystem_number(const weir_graph *g, const char *name)
{
    uint32_t i = 0;

    while (i < weir_subsystem_count(g) && strcmp(weir_subsystem_name(g, i), name) != 0)
        i++;
    return i;
}

/* Subsystem 0 is containment and has no colour. */
static void write_others(struct dot *w)
{
    uint32_t left = weir_edge_count(w->g);
    weir_edge e;

    for (uint32_t i = 0; left > 0 && !w->b->failed; i++) {
        if (!weir_edge_get(w->g, i, &e))
            continue;
        left--;
        begin_edge(w->b, e.source, e.target);
        WEIR_WRITE(w->b, " [style=dashed color=\"");
        weir_buf_puts(w->b, colours[(subsystem_number(w->g, e.subsystem) + COLOURS - 1) % COLOURS]);
        WEIR_WRITE(w->b, "\" label=\"");
        write_label(w, e.subsystem, strlen(e.subsystem));
        WEIR_WRITE(w->b, ": ");
        write_label(w, e.type, strlen(e.type));
        WEIR_WRITE(w->b, "\"];\n");
    }
}

int weir_dot_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct dot w = {.g = in->g, .b = b};

    WEIR_WRITE(b, "digraph weir {\n  node [shape=box];\n");
    for (uint32_t i = 0; i < w.g->nroots; i++)
        if (w.g->roots[i] != WEIR_NONE)
            write_below(&w, w.g->roots[i]);
    write_others(&w);
    WEIR_WRITE(b, "}\n");
    weir_buf_free(&w.name);
    weir_buf_free(&w.plain);
    return b->failed ? weir_fail_nomem(err) : WEIR_OK;
}
