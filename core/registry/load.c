/* load.c - reads machines: finds the format, then runs its reader. Invariant: *out is written on success only, with a
 * complete graph. */
#include "registry/formats.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char *weir_format_guess(const char *text, size_t len)
{
    const struct format *f = weir_format_probe(text, len);
    return f ? f->name : NULL;
}

static bool only_space(const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)*text))
        text++, len--;
    return len == 0;
}

/* Finds the reader of "NAME" or "NAME:OPTION" and sets *option, "" for a name alone. NULL: unknown name. */
static const struct format *find_reader(const char *name, const char **option)
{
    const char *colon = strchr(name, ':');
    const struct format *f = weir_format_find(name, colon ? (size_t)(colon - name) : strlen(name));

    *option = colon ? colon + 1 : "";
    return f && f->read && (!colon || f->traits & TAKES_OPTION) ? f : NULL;
}

static int fail_format(const char *format, weir_err *err)
{
    char names[FORMAT_NAMES];

    weir_format_names(0, names);
    return weir_fail(err, WEIR_EINVAL, "unknown format \"%.64s\": expected one of %s", format, names);
}

/* Reads all of the text; `format` is NULL or the name of the format. */
static int parse(struct weir_input in, const char *source, const char *format, weir_graph **out, weir_err *err)
{
    const struct format *f = format ? find_reader(format, &in.option) : weir_format_probe(in.text, in.len);

    if (only_space(in.text, in.len))
        return weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "is empty, expected a machine");
    if (!f && format)
        return fail_format(format, err);
    if (!f)
        return weir_fail_at(
            err, WEIR_EPARSE, source, 0, 0,
            "is no machine in a known format (GraphML recipe, JSON graph, R, hwloc XML, SQLite, \"node:4 core:8\")");
    return f->read(&in, source, out, err);
}

int weir_graph_parse(const char *text, size_t len, const char *source, const char *format, weir_graph **out,
                     weir_err *err)
{
    int rc = parse((struct weir_input){.text = text, .len = len, .option = ""}, source, format, out, err);

    if (rc < 0)
        weir_err_source(err, source);
    return rc;
}

/* Reads the rest of a file behind the first block, then parses the whole text. */
static int load_whole(FILE *file, weir_buf *text, const char *source, const char *format, weir_graph **out,
                      weir_err *err)
{
    int rc = weir_file_rest(file, source, "a machine", WEIR_MACHINE_MAX, text, err);
    return rc < 0 ? rc : weir_graph_parse(text->data, text->len, source, format, out, err);
}

/* Whether a format's own loader takes the file, as further files belong to the format. Pipes are read as a text. If
 * that cannot be known, nothing is read: the bytes of the file alone may be an older state. */
static int is_loaded_by_path(const struct format *f, FILE *file, const char *source, weir_err *err)
{
    struct stat st;

    if (!f || !f->load)
        return 0;
    if (fstat(fileno(file), &st) != 0)
        return weir_fail_at(err, WEIR_EIO, source, 0, 0, "cannot read: %s", strerror(errno));
    return S_ISREG(st.st_mode);
}

/* Reads an open file. A format's own loader gets the path, a reader that streams the first block and the file, others
 * the whole text. */
static int load_file(FILE *file, const char *path, const char *format, weir_graph **out, weir_err *err)
{
    const char *source = strcmp(path, "-") == 0 ? "<stdin>" : path;
    struct weir_input in = {.rest = file, .option = ""};
    weir_buf first = {0};
    const struct format *f;
    char block[16384];
    int rc = weir_file_block(file, source, block, sizeof block, &in.len, err);

    if (rc < 0)
        return rc;
    in.text = block;
    f = format ? find_reader(format, &in.option) : weir_format_probe(block, in.len);
    rc = is_loaded_by_path(f, file, source, err);
    if (rc != 0)
        return rc < 0 ? rc : f->load(path, out, err);
    if (f && in.len > 0 && f->traits & STREAMED) {
        rc = f->read(&in, source, out, err);
        if (rc < 0)
            weir_err_source(err, source);
        return rc;
    }
    weir_buf_add(&first, block, in.len);
    rc = load_whole(file, &first, source, format, out, err);
    weir_buf_free(&first);
    return rc;
}

int weir_graph_load(const char *path, const char *format, weir_graph **out, weir_err *err)
{
    FILE *file;
    int rc = weir_file_open(path, &file, err);

    if (rc < 0)
        return rc;
    rc = load_file(file, path, format, out, err);
    weir_file_close(file);
    return rc;
}

int weir_graph_discover(weir_graph **out, weir_err *err)
{
    return weir_hwloc_discover("", out, err);
}
