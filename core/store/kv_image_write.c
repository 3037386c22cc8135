/* kv_image_write.c - writes a graph, or the changes since the last save, as texts under keys. Invariant: the text
 * under a key does not depend on earlier texts, so the pieces of a change, stored over the pieces of the last save,
 * are the pieces of the whole graph.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "store/kv_image.h"
#include "graph/vertex_range.h"
#include "format/output.h"
#include "rset/rset.h"

struct writer {
    struct weir_pieces *out;
    struct weir_db_rows rows;
    char prefix[40];
    uint32_t next; /* number of the next piece under `prefix` */
    weir_buf text;
    weir_err *err;
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
static int flush(struct writer *w)
{
    char key[64];
    int rc;

    if (w->text.len == 0 && !w->text.failed)
        return WEIR_OK;
    weir_buf_puts(&w->text, "]");
    snprintf(key, sizeof key, "%s%" PRIu32, w->prefix, w->next++);
    rc = w->text.failed ? WEIR_ENOMEM : add(w->out, key, w->text.data, w->text.len);
    if (rc)
        return rc;
    w->text = (weir_buf){0};
    return WEIR_OK;
}

/* Starts a new prefix, after the removal of all old pieces under the prefix. */
WEIR_PRINTF(2, 3) static int begin(struct writer *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(w->prefix, sizeof w->prefix, fmt, ap);
    va_end(ap);
    w->next = 0;
    return add(w->out, w->prefix, NULL, 0);
}

static int put(void *data, int table, const struct weir_db_cell *cells)
{
    struct writer *w = data;
    weir_buf *b = &w->text;

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
    return b->len < PIECE_FULL ? WEIR_OK : flush(w);
}

/* ---- vertices ---- */

static int put_each(void *data, int table, const struct weir_db_cell *cells)
{
    int rc = put(data, table, cells);
    return rc ? rc : flush(data);
}

/* Writes each entry of extended data as a piece of its own: entries can be long, and a service changes one at a
 * time. */
static int write_data(struct writer *w, weir_vertex v)
{
    struct weir_db_rows each = {w->rows.g, w, put_each};
    int rc = begin(w, "data/%" PRIu32 "/", v);

    return !rc && vertex_valid(w->rows.g, v) ? weir_db_put_map(&each, v, WEIR_EXTENDED) : rc;
}

static int write_block(struct writer *w, weir_vertex block)
{
    const weir_graph *g = w->rows.g;
    weir_vertex from = block * PIECE_BLOCK, end = g->limit - from < PIECE_BLOCK ? g->limit : from + PIECE_BLOCK;
    int rc = begin(w, "block/%" PRIu32 "/", block);

    if (rc || from >= g->limit)
        return rc;
    rc = weir_db_put_runs(&w->rows, from, end);
    for (weir_vertex v = from; !rc && v < end; v++)
        if (vertex_valid(g, v))
            rc = weir_db_put_own(&w->rows, v);
    return rc ? rc : flush(w);
}

static int write_kinds(struct writer *w, uint32_t from)
{
    int rc;

    if (from == w->rows.g->nkinds)
        return WEIR_OK;
    rc = begin(w, "kinds/%" PRIu32 "/", from);
    rc = rc ? rc : weir_db_put_kinds(&w->rows, from);
    return rc ? rc : flush(w);
}

static int write_all_vertices(struct writer *w)
{
    const weir_graph *g = w->rows.g;
    const char *key, *value;
    int rc = begin(w, "kinds/");

    rc = rc ? rc : begin(w, "block/");
    rc = rc ? rc : begin(w, "data/");
    rc = rc ? rc : write_kinds(w, 0);
    for (weir_vertex b = 0; !rc && b * PIECE_BLOCK < g->limit; b++)
        rc = write_block(w, b);
    for (weir_vertex v = 0; !rc && v < g->limit; v++)
        if (vertex_valid(g, v) && weir_vertex_entry(g, v, WEIR_EXTENDED, 0, &key, &value))
            rc = write_data(w, v);
    return rc;
}

static int write_vertices(struct writer *w, bool all)
{
    struct weir_journal *c = w->rows.g->journal;
    struct journal *j;
    int64_t last = -1;
    int rc;

    if (all || c->vertices.all)
        return write_all_vertices(w);
    j = &c->vertices;
    weir_journal_sort(j);
    rc = write_kinds(w, c->nkinds);
    for (uint32_t i = 0; !rc && i < j->n; i++) {
        if (j->list[i] / PIECE_BLOCK != last) {
            last = j->list[i] / PIECE_BLOCK;
            rc = write_block(w, (weir_vertex)last);
        }
        rc = rc ? rc : write_data(w, (weir_vertex)j->list[i]);
    }
    return rc;
}

/* ---- edges ---- */

static int by_serial(const void *a, const void *b)
{
    const struct edge *const *x = a, *const *y = b;
    return ((*x)->serial > (*y)->serial) - ((*x)->serial < (*y)->serial);
}

/* Fills `list`, with room for g->nedges + 1 edges, with the live edges by serial. Returns the number of edges. */
static uint32_t list_edges(const weir_graph *g, const struct edge **list)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->nedges; i++)
        if (g->edges[i].source != WEIR_NONE)
            list[n++] = &g->edges[i];
    qsort(list, n, sizeof *list, by_serial);
    return n;
}

static int write_edge_block(struct writer *w, uint64_t block, const struct edge **list, uint32_t n, uint32_t *at)
{
    int rc = begin(w, "edges/%" PRIu64 "/", block);

    while (*at < n && list[*at]->serial / PIECE_BLOCK < block)
        ++*at;
    for (; !rc && *at < n && list[*at]->serial / PIECE_BLOCK == block; ++*at)
        rc = weir_db_put_edge(&w->rows, list[*at]);
    return rc ? rc : flush(w);
}

static int write_edge_blocks(struct writer *w, const struct journal *gone, const struct edge **list, uint32_t n)
{
    const weir_graph *g = w->rows.g;
    uint64_t there = gone ? g->journal->edge_serial : 0, block = UINT64_MAX;
    uint32_t at = 0, seen = 0;
    int rc = WEIR_OK;

    /* Removed edges have serials up to `there`, new edges have serials above. Both are visited in order of serials;
     * the last block of the removed edges may be the first block of the new ones. */
    for (uint32_t i = 0; !rc && gone && i < gone->n; i++)
        if ((uint64_t)gone->list[i] / PIECE_BLOCK != block) {
            block = (uint64_t)gone->list[i] / PIECE_BLOCK;
            rc = write_edge_block(w, block, list, n, &at);
        }
    for (; !rc && seen < n; seen++)
        if (list[seen]->serial > there && list[seen]->serial / PIECE_BLOCK != block) {
            block = list[seen]->serial / PIECE_BLOCK;
            rc = write_edge_block(w, block, list, n, &at);
        }
    return rc;
}

static int write_edges(struct writer *w, bool all)
{
    const weir_graph *g = w->rows.g;
    struct journal *gone = all || g->journal->edges.all ? NULL : &g->journal->edges;
    const struct edge **list;
    uint32_t n;
    int rc = WEIR_OK;

    if (gone && gone->n == 0 && g->edge_serial == g->journal->edge_serial)
        return WEIR_OK;
    list = weir_mem_alloc(((size_t)g->nedges + 1) * sizeof *list);
    if (!list)
        return WEIR_ENOMEM;
    n = list_edges(g, list);
    if (gone)
        weir_journal_sort(gone);
    else
        rc = begin(w, "edges/");
    rc = rc ? rc : write_edge_blocks(w, gone, list, n);
    weir_mem_free(list);
    return rc;
}

/* ---- jobs ---- */

/* Writes the job's R for other programs. A job without nodes has no R. */
static int write_rset(struct writer *w, const struct job *j)
{
    weir_err why = {0};
    char key[64], *text = weir_write_allocation(weir_rv1_write_nosched, w->rows.g, &j->a, &why);

    if (!text)
        return why.code == WEIR_ENOMEM ? WEIR_ENOMEM : WEIR_OK;
    snprintf(key, sizeof key, "%sR", w->prefix);
    if (!add(w->out, key, text, strlen(text)))
        return WEIR_OK;
    weir_mem_free(text);
    return WEIR_ENOMEM;
}

static int write_job(struct writer *w, int64_t id)
{
    uint32_t job = weir_job_index(w->rows.g, id);
    int rc = begin(w, "jobs/%" PRId64 "/", id);

    if (rc || job == WEIR_NONE)
        return rc;
    rc = weir_db_put_job(&w->rows, &w->rows.g->jobs->list[job]);
    rc = rc ? rc : flush(w);
    return rc ? rc : write_rset(w, &w->rows.g->jobs->list[job]);
}

static int write_jobs(struct writer *w, bool all)
{
    const weir_graph *g = w->rows.g;
    struct journal *j = all || g->journal->jobs.all ? NULL : &g->journal->jobs;
    int rc = WEIR_OK;

    if (j)
        weir_journal_sort(j);
    else
        rc = begin(w, "jobs/");
    for (uint32_t i = 0; !rc && j && i < j->n; i++)
        rc = write_job(w, j->list[i]);
    for (uint32_t i = 0; !rc && !j && i < live_jobs(g); i++)
        rc = write_job(w, g->jobs->list[g->jobs->order[i]].a.job);
    return rc;
}

/* ---- the whole ---- */

static int write_meta(struct writer *w)
{
    size_t len;
    int rc = weir_db_put_meta(&w->rows, w->out->stamp);

    rc = rc ? rc : weir_db_put_subsystems(&w->rows);
    weir_buf_puts(&w->text, "]");
    if (rc || w->text.failed)
        return WEIR_ENOMEM;
    len = w->text.len;
    rc = add(w->out, "meta", w->text.data, len);
    if (!rc)
        w->text = (weir_buf){0};
    return rc;
}

static int write_all(struct writer *w, bool all)
{
    int rc = weir_vertex_range_holes(w->rows.g, w->err);

    rc = rc ? rc : weir_db_new_stamp(w->out->stamp, w->err);
    if (rc)
        return rc;
    w->out->next = weir_journal_new(w->rows.g, NULL, w->out->stamp);
    rc = w->out->next ? write_vertices(w, all) : WEIR_ENOMEM;
    rc = rc ? rc : write_edges(w, all);
    rc = rc ? rc : write_jobs(w, all);
    rc = rc ? rc : write_meta(w);
    return rc == WEIR_ENOMEM ? weir_fail_nomem(w->err) : rc;
}

int weir_graph_pieces(const weir_graph *g, const char *stamp, weir_pieces **out, weir_err *err)
{
    weir_pieces *p = weir_mem_zalloc(1, sizeof *p);
    struct writer w = {.out = p, .err = err};
    int rc;

    if (!p)
        return weir_fail_nomem(err);
    w.rows = (struct weir_db_rows){g, &w, put};
    p->revision = g->revision;
    rc = write_all(&w, !stamp || !g->journal || strcmp(stamp, g->journal->stamp) != 0);
    weir_buf_free(&w.text);
    if (rc)
        weir_pieces_free(p);
    else
        *out = p;
    return rc;
}

int weir_pieces_stored(weir_pieces *p, weir_graph *g, weir_err *err)
{
    if (!p->next || p->revision != g->revision)
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
    for (uint32_t i = 0; i < p->n; i++) {
        weir_mem_free(p->list[i].key);
        weir_mem_free(p->list[i].text);
    }
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
