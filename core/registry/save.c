/* save.c - saves a graph to a file. Invariant: however the save ends, the file holds either its old
 * content or the complete new content.
 */
#include "registry/formats.h"

#include <stdio.h>
#include <string.h>

#include "graph/journal.h"

/* ---- texts ---- */

static int to_file(void *data, const char *text, size_t len)
{
    return weir_draft_write(data, text, len, NULL);
}

/* Writes a text to a draft of the file. An error of the draft, such as a full disk, replaces the less exact error of
 * the writer. */
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

/* Whether neither file nor graph have changed since the last save. */
static bool unchanged(const weir_graph *g, const char *path, const char *format)
{
    const struct weir_text_save *s = g->saves.text_save;
    struct weir_file_id now = {0};

    return s && s->revision == g->saves.revision && strcmp(s->format, format) == 0 && weir_file_look(path, &now) &&
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
    s->revision = g->saves.revision;
    weir_text_save_set(g, s);
    return WEIR_OK;
}

int weir_graph_save(weir_graph *g, const char *path, const char *format, unsigned flags, weir_err *err)
{
    bool changed = flags & WEIR_SAVE_CHANGED;
    const struct format *f = format ? weir_format_find(format, strlen(format)) : weir_format_of_path(path);
    int rc;

    if (g->building)
        return weir_fail(err, WEIR_EINVAL, "the graph is still being built");
    if (flags & ~WEIR_SAVE_CHANGED)
        return weir_fail(err, WEIR_EINVAL, "there is no such flag for saving: %u", flags);
    if (!f || !f->save)
        return save_text(g, path, f ? f->name : format, changed, err);
    rc = f->save(g, path, changed, err);
    if (rc)
        weir_err_source(err, path);
    return rc;
}
