/* write.c - writes machines and allocations: finds the format, checks the options, then runs the writer. */
#include "registry/formats.h"

#include <string.h>

static const struct format *find_writer(const char *name, unsigned what, weir_err *err)
{
    const struct format *f = name ? weir_format_find(name, strlen(name)) : NULL;
    char names[FORMAT_NAMES];

    if (f && f->traits & what)
        return f;
    weir_format_names(what, names);
    weir_fail(err, WEIR_EINVAL, "%s cannot be written as \"%.64s\": expected one of %s",
              what == FOR_GRAPHS ? "a graph" : "an allocation", name ? name : "", names);
    return NULL;
}

static int check_options(const weir_graph *g, const struct format *to, const weir_format_options *o, weir_err *err)
{
    if (o->start == WEIR_NONE)
        return WEIR_OK;
    if (!(to->traits & TAKES_START))
        return weir_fail(err, WEIR_EINVAL, "\"%s\" is written without the option `start`", to->name);
    if (!vertex_valid(g, o->start))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", o->start);
    return WEIR_OK;
}

char *weir_allocation_format(const weir_graph *g, const weir_allocation *a, const char *format, weir_err *err)
{
    const struct format *to = find_writer(format, FOR_ALLOCATIONS, err);
    return to ? weir_write_allocation(to->write, g, a, err) : NULL;
}

int weir_allocation_write(const weir_graph *g, const weir_allocation *a, const char *format, weir_sink sink, void *data,
                          weir_err *err)
{
    const struct format *to = find_writer(format, FOR_ALLOCATIONS, err);
    struct weir_pick_tree tree = {0};
    struct weir_written w = {.g = g, .tree = &tree, .a = a, .sink = sink, .sink_data = data};
    weir_buf b = {0};
    int rc = to ? weir_pick_tree_build(g, a, &tree, err) : WEIR_EINVAL;

    rc = rc ? rc : weir_write_run(to->write, &w, &b, err);
    weir_pick_tree_free(&tree);
    weir_buf_free(&b);
    return rc;
}

static const weir_format_options no_options = WEIR_FORMAT_OPTIONS_INIT;

char *weir_graph_format(const weir_graph *g, const char *format, weir_err *err)
{
    return weir_graph_format_with(g, format, &no_options, err);
}

char *weir_graph_format_with(const weir_graph *g, const char *format, const weir_format_options *o, weir_err *err)
{
    const struct format *to = find_writer(format, FOR_GRAPHS, err);

    if (!to || check_options(g, to, o, err) < 0)
        return NULL;
    return weir_write_text(to->write, &(struct weir_written){.g = g, .o = o}, err);
}

int weir_graph_write(const weir_graph *g, const char *format, const weir_format_options *o, weir_sink sink, void *data,
                     weir_err *err)
{
    const struct format *to = find_writer(format, FOR_GRAPHS, err);
    struct weir_written w = {.g = g, .o = o ? o : &no_options, .sink = sink, .sink_data = data};
    weir_buf b = {0};
    int rc = to ? check_options(g, to, w.o, err) : WEIR_EINVAL;

    rc = rc ? rc : weir_write_run(to->write, &w, &b, err);
    weir_buf_free(&b);
    return rc;
}
