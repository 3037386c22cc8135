/* save.c - a graph into a file (L4, L6 to L8): whole or not at all. Invariant: a file that is there is either what it
 * was or what was saved, however the save ended. */
#include "changes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sqlite.h"

/* ---- texts ---- */

static int to_file(void *data, const char *text, size_t len)
{
    return fwrite(text, 1, len, data) == len ? WEIR_OK : WEIR_EIO;
}

static int fail_file(const char *path, weir_err *err)
{
    return weir_fail_at(err, WEIR_EIO, path, 0, 0, "cannot be written: %s", strerror(errno));
}

/* Writes into a draft beside the file, down to the disk. */
static int write_draft(const weir_graph *g, const char *draft, const char *path, const char *format, weir_err *err)
{
    FILE *f = fopen(draft, "wb");
    int rc;

    if (!f)
        return fail_file(path, err);
    errno = 0;
    rc = weir_graph_write(g, format, NULL, to_file, f, err);
    if (!rc && (fflush(f) != 0 || fsync(fileno(f)) != 0))
        rc = fail_file(path, err);
    if (fclose(f) != 0 && !rc)
        rc = fail_file(path, err);
    return rc;
}

static int write_text(const weir_graph *g, const char *path, const char *format, weir_err *err)
{
    size_t size = strlen(path) + 8;
    char *draft = weir_mem_alloc(size);
    int rc;

    if (!draft)
        return weir_fail_nomem(err);
    snprintf(draft, size, "%s.new", path);
    rc = write_draft(g, draft, path, format, err);
    if (!rc && rename(draft, path) != 0)
        rc = fail_file(path, err);
    if (rc)
        unlink(draft);
    weir_mem_free(draft);
    return rc;
}

/* Whether the file is still what this graph was saved as, and the graph is what it was then. */
static bool unchanged(const weir_graph *g, const char *path, const char *format)
{
    const struct weir_text_save *s = g->text_save;
    struct weir_file_id now = {0};

    return s && s->revision == g->revision && strcmp(s->format, format) == 0 && weir_file_look(path, &now) &&
           now.device == s->file.device && now.inode == s->file.inode && now.size == s->file.size &&
           now.modified == s->file.modified;
}

static int save_text(weir_graph *g, const char *path, const char *format, bool changed, weir_err *err)
{
    struct weir_text_save *s;
    int rc;

    if (changed && unchanged(g, path, format))
        return WEIR_OK;
    s = weir_mem_zalloc(1, sizeof *s);
    if (!s)
        return weir_fail_nomem(err);
    rc = write_text(g, path, format, err);
    if (rc || !weir_file_look(path, &s->file)) {
        weir_mem_free(s);
        return rc;
    }
    snprintf(s->format, sizeof s->format, "%s", format);
    s->revision = g->revision;
    weir_text_save_set(g, s);
    return WEIR_OK;
}

/* ---- any format ---- */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && strcmp(s + n - k, end) == 0;
}

static const char *format_of(const char *path)
{
    return ends_with(path, ".db") || ends_with(path, ".sqlite") || ends_with(path, ".sqlite3") ? "sqlite" : "jgf";
}

int weir_graph_save(weir_graph *g, const char *path, const char *format, unsigned flags, weir_err *err)
{
    bool changed = flags & WEIR_SAVE_CHANGED;
    int rc;

    if (g->building)
        return weir_fail(err, WEIR_EINVAL, "the graph is still being built");
    if (flags & ~WEIR_SAVE_CHANGED)
        return weir_fail(err, WEIR_EINVAL, "there is no such flag for saving: %u", flags);
    format = format ? format : format_of(path);
    if (strcmp(format, "sqlite") != 0)
        return save_text(g, path, format, changed, err);
    rc = weir_sqlite_save(g, path, changed, err);
    if (rc)
        weir_err_source(err, path);
    return rc;
}

/* ---- what changed ---- */

/* The vertices that are there, of a journal or all. */
static uint32_t list_live(const weir_graph *g, const struct journal *j, weir_vertex *list)
{
    uint32_t n = 0, count = j ? j->n : g->limit;

    for (uint32_t i = 0; i < count; i++) {
        weir_vertex v = j ? (weir_vertex)j->list[i] : i;
        if (vertex_valid(g, v))
            list[n++] = v;
    }
    return n;
}

int weir_graph_changed(const weir_graph *g, weir_vertex **list, uint32_t *n, weir_err *err)
{
    struct journal *j = g->changes && !g->changes->vertices.all ? &g->changes->vertices : NULL;
    weir_vertex *out;

    if (j)
        weir_journal_sort(j);
    out = weir_mem_alloc((j ? j->n : g->limit) * sizeof *out);
    if (!out)
        return weir_fail_nomem(err);
    *n = list_live(g, j, out);
    *list = out;
    return WEIR_OK;
}
