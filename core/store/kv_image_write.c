/* kv_image_write.c - writes a graph, or the changes since the last save, as texts under keys. Invariant: the text
 * under a key does not depend on earlier texts, so the pieces of a change, stored over the pieces of the last save,
 * are the pieces of the whole graph.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "job/job.h"
#include "store/kv_image.h"
#include "graph/vertex_range.h"
#include "format/output.h"
#include "rset/rset.h"

enum section { META, KINDS, BLOCK, DATA, EDGES, JOBS, NONE };

/* The sections of keys. An object is what a key names before the last number: rows of `each` consecutive keys, or all
 * rows of a save (0). `table`: the rows that weir_db_write() drops when an object is rewritten. */
static const struct {
    const char *name;
    int each, table;
} sections[] = {{"meta", 0, DB_TABLES}, {"kinds", 0, DB_KIND},           {"block", PIECE_BLOCK, DB_RUN},
                {"data", 1, DB_DATA},   {"edges", PIECE_BLOCK, DB_EDGE}, {"jobs", 1, DB_JOB}};
static const enum section section_of[DB_TABLES] = {
    [DB_META] = META,      [DB_SUBSYSTEM] = META, [DB_KIND] = KINDS, [DB_RUN] = BLOCK, [DB_NAME] = BLOCK,
    [DB_UUID] = BLOCK,     [DB_STATE] = BLOCK,    [DB_TAG] = BLOCK,  [DB_DATA] = DATA, [DB_EDGE] = EDGES,
    [DB_PROPERTY] = BLOCK, [DB_JOB] = JOBS,       [DB_PICK] = JOBS,  [DB_FEED] = JOBS};

struct image_writer {
    const weir_graph *g;
    struct weir_pieces *out;
    enum section section; /* of the object whose pieces are being written */
    int64_t number;       /* of the object in the section */
    uint32_t next;        /* number of the next piece of the object */
    weir_buf text;
};

/* ---- pieces ---- */

static int add(struct weir_pieces *p, const char *key, char *text, size_t len)
{
    char *name = weir_mem_strdup(key);

    if (!name || weir_array_reserve(&p->list, &p->cap, (size_t)p->n + 1, sizeof *p->list)) {
        weir_mem_free(name);
        return WEIR_ENOMEM;
    }
    p->list[p->n++] = (struct weir_piece){name, text, len};
    return WEIR_OK;
}

/* Makes a piece of the rows written so far. */
static int flush(struct image_writer *w)
{
    char key[64] = "meta";
    int rc;

    if (w->text.len == 0 && !w->text.failed)
        return WEIR_OK;
    weir_buf_puts(&w->text, "]");
    if (w->section != META)
        snprintf(key, sizeof key, "%s/%" PRId64 "/%" PRIu32, sections[w->section].name, w->number, w->next++);
    rc = w->text.failed ? WEIR_ENOMEM : add(w->out, key, w->text.data, w->text.len);
    if (rc)
        return rc;
    w->text = (weir_buf){0};
    return WEIR_OK;
}

/* Writes a job's R for other programs. A job without nodes has no R. */
static int write_rset(struct image_writer *w, int64_t id)
{
    const struct job *j = &jobs_in(w->g)->list[weir_job_index(w->g, id)];
    weir_err why = {0};
    char key[64], *text = weir_write_allocation(weir_rv1_write_nosched, w->g, &j->a, &why);

    if (!text)
        return why.code == WEIR_ENOMEM ? WEIR_ENOMEM : WEIR_OK;
    snprintf(key, sizeof key, "jobs/%" PRId64 "/R", id);
    if (!add(w->out, key, text, strlen(text)))
        return WEIR_OK;
    weir_mem_free(text);
    return WEIR_ENOMEM;
}

/* Completes the pieces of the present object. */
static int finish(struct image_writer *w)
{
    int rc = flush(w);
    return !rc && w->section == JOBS ? write_rset(w, w->number) : rc;
}

/* Makes the object with a row the present object. The rows of an object come without rows of other objects between. */
static int begin(struct image_writer *w, enum section section, int64_t key)
{
    int each = sections[section].each, rc;
    int64_t number = each ? key / each : key;

    if (w->section == section && (w->number == number || each == 0))
        return WEIR_OK;
    rc = finish(w);
    w->section = section;
    w->number = number;
    w->next = 0;
    return rc;
}

/* Adds a row to the text of the object's next piece; see struct weir_db_store. Each entry of extended data is a piece
 * of its own: entries can be long, and a service changes one at a time. */
static int put(void *data, int table, const struct weir_db_cell *cells)
{
    struct image_writer *w = data;
    weir_buf *b = &w->text;
    int rc = begin(w, section_of[table], cells[0].n);

    if (rc)
        return rc;
    weir_buf_puts(b, b->len ? ",\n[\"" : "[[\"");
    weir_buf_puts(b, weir_db_layout[table].name);
    weir_buf_puts(b, "\"");
    for (int i = 0; i < weir_db_layout[table].columns; i++) {
        weir_buf_puts(b, ",");
        if (cells[i].type == SQLITE_INTEGER)
            weir_write_int(b, cells[i].n);
        else if (cells[i].type == SQLITE_TEXT)
            weir_write_string(b, cells[i].text);
        else
            weir_buf_puts(b, "null");
    }
    weir_buf_puts(b, "]");
    if (b->failed)
        return WEIR_ENOMEM;
    return w->section == DATA || (b->len >= PIECE_FULL && w->section != META) ? flush(w) : WEIR_OK;
}

/* Declares an object, or a section, so that the store removes old pieces; see struct weir_db_store. */
static int drop(void *data, int table, int64_t key)
{
    const struct image_writer *w = data;
    enum section section = section_of[table];
    const char *name = sections[section].name;
    char prefix[40];

    if (sections[section].table != table)
        return WEIR_OK;
    if (key == DB_EVERY)
        snprintf(prefix, sizeof prefix, "%s/", name);
    else
        snprintf(prefix, sizeof prefix, "%s/%" PRId64 "/", name, key / sections[section].each);
    return add(w->out, prefix, NULL, 0);
}

/* The block of a vertex; see struct weir_db_store. */
static int span(void *data, const struct journal *j, uint32_t i, weir_vertex *first, weir_vertex *end)
{
    *first = (weir_vertex)(j->list[i] - j->list[i] % PIECE_BLOCK);
    *end = *first + PIECE_BLOCK;
    return drop(data, DB_RUN, *first);
}

static int write_graph(struct image_writer *w, bool all, weir_err *err)
{
    struct weir_db_store store = {w->g, w, PIECE_BLOCK, put, drop, span};
    char *stamp = w->out->stamp;
    int rc = weir_vertex_range_holes(w->g, err);

    rc = rc ? rc : weir_db_new_stamp(stamp, err);
    if (rc)
        return rc;
    w->out->next = weir_journal_new(w->g, NULL, stamp);
    rc = w->out->next ? weir_db_write(&store, all, stamp) : WEIR_ENOMEM;
    rc = rc ? rc : finish(w);
    return rc == WEIR_ENOMEM ? weir_fail_nomem(err) : rc;
}

int weir_graph_pieces(const weir_graph *g, const char *stamp, weir_pieces **out, weir_err *err)
{
    weir_pieces *p = weir_mem_zalloc(1, sizeof *p);
    struct image_writer w = {.g = g, .out = p, .section = NONE};
    int rc;

    if (!p)
        return weir_fail_nomem(err);
    p->revision = g->saves.revision;
    rc = write_graph(&w, !stamp || !g->saves.journal || strcmp(stamp, g->saves.journal->stamp) != 0, err);
    weir_buf_free(&w.text);
    if (rc)
        weir_pieces_free(p);
    else
        *out = p;
    return rc;
}

int weir_pieces_stored(weir_pieces *p, weir_graph *g, weir_err *err)
{
    if (!p->next || p->revision != g->saves.revision)
        return weir_fail(err, WEIR_EINVAL, "these pieces are not of the graph as it is");
    weir_journal_set(g, p->next);
    p->next = NULL;
    return WEIR_OK;
}

/* ---- as data ---- */

void weir_pieces_free(weir_pieces *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        WEIR_FREE(p->list[i].key, p->list[i].text);
    weir_mem_free(p->list);
    weir_journal_drop(p->next);
    weir_mem_free(p);
}

bool weir_pieces_at(const weir_pieces *p, uint32_t i, const char **key, const char **text, size_t *len)
{
    if (i >= p->n)
        return false;
    *key = p->list[i].key;
    *text = p->list[i].text;
    *len = p->list[i].len;
    return true;
}

const char *weir_pieces_stamp(const weir_pieces *p)
{
    return p->stamp;
}
