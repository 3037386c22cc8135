/* journal.c - see journal.h. */
#include "graph/journal.h"

#include <stdio.h>
#include <sys/stat.h>

void weir_journal_sort(struct journal *j)
{
    j->n = weir_array_unique(j->list, j->n);
}

static void give_up(struct journal *j)
{
    weir_mem_free(j->list);
    *j = (struct journal){.all = true};
}

void weir_journal_grow(struct journal *j)
{
    if (j->cap >= JOURNAL_MAX) {
        weir_journal_sort(j);
        if (j->n > JOURNAL_MAX / 4 * 3)
            give_up(j);
    } else if (weir_array_reserve(&j->list, &j->cap, (size_t)j->cap + 1, sizeof *j->list)) {
        give_up(j);
    }
}

struct weir_journal *weir_journal_new(const weir_graph *g, const char *path, const char *stamp)
{
    struct weir_journal *c = weir_mem_zalloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->file.path = weir_mem_strdup(path ? path : "");
    if (!c->file.path) {
        weir_mem_free(c);
        return NULL;
    }
    c->nkinds = g->nkinds;
    c->edge_serial = g->edge_serial;
    snprintf(c->stamp, sizeof c->stamp, "%s", stamp);
    return c;
}

void weir_journal_drop(struct weir_journal *c)
{
    if (!c)
        return;
    WEIR_FREE(c->vertices.list, c->edges.list, c->jobs.list, c->file.path, c);
}

void weir_journal_set(weir_graph *g, struct weir_journal *c)
{
    if (c)
        weir_file_look(c->file.path, &c->file);
    weir_journal_drop(g->saves.journal);
    g->saves.journal = c;
}

void weir_follow(weir_graph *g, struct weir_follower *f)
{
    *f = (struct weir_follower){.next = g->saves.followers};
    g->saves.followers = f;
}

void weir_follow_clear(struct weir_follower *f)
{
    f->vertices.n = f->jobs.n = 0;
    f->vertices.all = f->jobs.all = false;
}

void weir_follow_end(weir_graph *g, struct weir_follower *f)
{
    struct weir_follower **at = &g->saves.followers;

    while (*at && *at != f)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = f->next;
    WEIR_FREE(f->vertices.list, f->jobs.list);
}

void weir_text_save_set(weir_graph *g, struct weir_text_save *s)
{
    if (g->saves.text_save)
        weir_mem_free(g->saves.text_save->file.path);
    weir_mem_free(g->saves.text_save);
    g->saves.text_save = s;
}

bool weir_file_look(const char *path, struct weir_file_id *out)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return false;
    out->device = st.st_dev;
    out->inode = st.st_ino;
    out->size = (uint64_t)st.st_size;
    out->modified = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return true;
}

/* Lists the live vertices of a journal, or of the graph where j is NULL. */
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
    struct journal *j = g->saves.journal && !g->saves.journal->vertices.all ? &g->saves.journal->vertices : NULL;
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
