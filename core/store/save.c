/* save.c - a graph into a file (L4, L6 to L8): whole or not at all. Invariant: a file that is there is either what it
 * was or what was saved, however the save ended. */
#include "graph/journal.h"

#include <stdio.h>
#include <string.h>

#include "store/sqlite.h"

/* ---- texts ---- */

static int to_file(void *data, const char *text, size_t len)
{
    return weir_draft_write(data, text, len, NULL);
}

/* A full disk says more than the writer, which only knows that its text was not taken. */
static int write_text(const weir_graph *g, const char *path, const char *format, weir_err *err)
{
    weir_draft *d;
    weir_err why = {0};
    int rc = weir_draft_begin(path, 0, &d, err);

    if (rc)
        return rc;
    rc = weir_graph_write(g, format, NULL, to_file, d, &why);
    if (rc && weir_draft_write(d, "", 0, err) == WEIR_OK)
        rc = weir_fail(err, rc, "%s", why.text);
    return weir_draft_end(d, rc, err);
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
