/* fuzz_csv.c - tables of machines in any state. The input is a synthetic machine on its first line;
 * the bytes behind are changes: operation, vertex, job, amount, start. Every row of a table has as many columns as the
 * first. spec/weir/html/svg_spec.lua and spec/weir/view/dot_spec.lua do likewise with pictures.
 */
#include "fuzz.h"

#define VERTICES_MOST 2500 /* larger machines take too long here */

struct input {
    const uint8_t *at, *end;
};

static uint8_t next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* Applies one change; the graph refuses impossible changes. */
static void change(weir_graph *g, struct input *in)
{
    uint8_t what = next(in), where = next(in), who = next(in), how = next(in);
    weir_vertex v = (uint32_t)(where << 8 | who) % weir_graph_limit(g), top = WEIR_NONE;
    char key[2] = {(char)(1 + how % 127), '\0'}, value[3] = {(char)who, (char)how, '\0'};
    int rc = WEIR_OK;

    switch (what % 7) {
    case 0: rc = weir_vertex_set_state(g, v, how % WEIR_STATES, NULL); break;
    case 1:
        rc = weir_vertex_set(g, v, what & 8 ? WEIR_TAGS : WEIR_PROPERTIES, what & 16 ? "k" : key, value, NULL);
        break;
    case 2: rc = weir_vertex_allocate(g, v, 1 + how, weir_vertex_size(g, v), 0, WEIR_FOREVER, NULL); break;
    case 3: rc = weir_vertex_allocate(g, v, 1 + who, how % 5, 0, WEIR_FOREVER, NULL); break;
    case 4: rc = weir_vertex_allocate(g, v, 1 + how, weir_vertex_size(g, v), 10 + who, 500, NULL); break;
    case 5:
        rc = weir_edge_add(g, v, (v + how) % weir_graph_limit(g), "power", "feeds", what & 8 ? "fed" : NULL, NULL);
        break;
    default:
        if (weir_vertex_live(g, v))
            top = v;
        while (top != WEIR_NONE && weir_vertex_children(g, top) > 8)
            top = weir_vertex_child(g, top, how % 8);
        rc = top == WEIR_NONE || weir_vertex_parent(g, top) == WEIR_NONE ? rc : weir_graph_unlink(g, top, NULL);
    }
    (void)rc;
}

static char *format(const weir_graph *g, const char *name, const weir_format_options *o)
{
    weir_err err = {0};
    char *text = weir_graph_format_with(g, name, o, &err);

    if (!text)
        fuzz_fail("%s: %s", name, err.text);
    return text;
}

static uint32_t count_detached(const weir_graph *g)
{
    uint32_t n = 0;

    for (weir_vertex v = 0; v < weir_graph_limit(g); v++)
        n += weir_vertex_detached(g, v);
    return n;
}

/* Each row has 16 columns, and each vertex a row, apart from detached vertices. */
static void try_csv(const weir_graph *g, const weir_format_options *o)
{
    char *text = format(g, "csv", o);
    uint32_t rows = 0, columns = 1;
    bool quoted = false;

    for (const char *c = text; *c; c++) {
        quoted = *c == '"' ? !quoted : quoted;
        if (quoted)
            continue;
        columns += *c == ',';
        if (*c != '\n')
            continue;
        if (columns != 16)
            fuzz_fail("row %u has %u columns", rows, columns);
        rows++;
        columns = 1;
    }
    if (o->start == WEIR_NONE && rows != weir_graph_count(g) - count_detached(g) + 1)
        fuzz_fail("%u rows of %u vertices", rows, weir_graph_count(g));
    weir_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    struct input in = {line ? line + 1 : data + size, data + size};
    weir_graph *g = fuzz_parse((const char *)data, line ? (size_t)(line - data) : size, "synthetic");
    weir_format_options o = WEIR_FORMAT_OPTIONS_INIT;
    uint8_t how = next(&in);

    if (!g || weir_graph_count(g) > VERTICES_MOST) {
        weir_graph_free(g);
        return 0;
    }
    while (in.at < in.end)
        change(g, &in);
    if (how & 8 && weir_vertex_live(g, how % weir_graph_limit(g)))
        o.start = how % weir_graph_limit(g);
    try_csv(g, &o);
    weir_graph_free(g);
    return 0;
}
