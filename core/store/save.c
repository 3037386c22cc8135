/* save.c - which rows of which tables a save writes: all of a graph, or what changed since the last save. The tables
 * are in sqlite_schema.c. A store (struct weir_db_store) takes the rows: a database (sqlite_write.c), or texts under
 * keys (kv_image_write.c).
 */
#include "store/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/bisect.h"
#include "job/job.h"
#include "graph/vertex_range.h"

static struct weir_db_cell number(int64_t n)
{
    return (struct weir_db_cell){SQLITE_INTEGER, n, NULL};
}

/* A cell with n, or NULL if n equals `none`. */
static struct weir_db_cell number_or(int64_t n, int64_t none)
{
    return (struct weir_db_cell){n == none ? SQLITE_NULL : SQLITE_INTEGER, n, NULL};
}

static struct weir_db_cell text(const char *s)
{
    return (struct weir_db_cell){s ? SQLITE_TEXT : SQLITE_NULL, 0, s};
}

static int drop_tables(const struct weir_db_store *s, int from, int to, int64_t key)
{
    int rc = WEIR_OK;

    for (int t = from; !rc && t <= to; t++)
        rc = s->drop(s->data, t, key);
    return rc;
}

/* ---- vertices ---- */

/* Kinds from number `from` on. */
static int put_kinds(const struct weir_db_store *s, uint32_t from)
{
    const weir_graph *g = s->g;
    int rc = WEIR_OK;

    for (uint32_t i = from; !rc && i < g->nkinds; i++) {
        const struct kind *k = &g->kinds[i];
        struct weir_db_cell row[] = {number(i),
                                     text(type_text(g, k->type)),
                                     text(weir_strtab_text(&g->names, k->basename)),
                                     text(weir_strtab_text(&g->names, k->unit)),
                                     number(k->size),
                                     number(k->exclusive)};
        rc = s->put(s->data, DB_KIND, row);
    }
    return rc;
}

static int put_run(const struct weir_db_store *s, const struct weir_vertex_range *r)
{
    bool live = r->kind != WEIR_NONE;
    struct weir_db_cell row[] = {number(r->first),
                                 number(r->count),
                                 number_or(r->kind, WEIR_NONE),
                                 number_or(live ? r->parent : WEIR_NONE, WEIR_NONE),
                                 number_or(live && r->place != WEIR_NONE ? (int64_t)r->place : -1, -1),
                                 number_or(live ? r->id : WEIR_NO_ID, WEIR_NO_ID),
                                 number_or(live && r->id != WEIR_NO_ID ? r->step : INT64_MIN, INT64_MIN),
                                 number_or(live ? r->rank : WEIR_NO_RANK, WEIR_NO_RANK)};
    return s->put(s->data, DB_RUN, row);
}

/* Vertices [first, end) as runs. */
static int put_runs(const struct weir_db_store *s, weir_vertex first, weir_vertex end)
{
    struct weir_vertex_range r;
    int rc = WEIR_OK;

    for (weir_vertex v = first; !rc && v < end; v += r.count) {
        weir_vertex_range_at(s->g, v, end, &r);
        rc = put_run(s, &r);
    }
    return rc;
}

/* A map of a vertex (enum weir_map). */
static int put_map(const struct weir_db_store *s, weir_vertex v, int map)
{
    const char *key, *value;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && weir_vertex_entry(s->g, v, map, i, &key, &value); i++) {
        struct weir_db_cell row[] = {number(v), number(i), text(key), text(value)};
        rc = s->put(s->data, DB_PROPERTY + map, row);
    }
    return rc;
}

/* State, UUID, name, properties and tags of a vertex. */
static int put_own(const struct weir_db_store *s, weir_vertex v)
{
    const weir_graph *g = s->g;
    const struct pool *p = pool_of(g, v);
    char uuid[37];
    int rc = WEIR_OK;

    if (vertex_at(g, v)->state != WEIR_UP)
        rc = s->put(s->data, DB_STATE,
                    (struct weir_db_cell[]){number(v), text(weir_state_name(vertex_at(g, v)->state))});
    if (!rc && (weir_uuid_given(g, v) || vertex_at(g, v)->generation > 0)) {
        weir_vertex_uuid(g, v, uuid);
        rc = s->put(s->data, DB_UUID, (struct weir_db_cell[]){number(v), text(uuid)});
    }
    if (rc || !p)
        return rc;
    if (p->name != WEIR_NO_NAME)
        rc = s->put(s->data, DB_NAME, (struct weir_db_cell[]){number(v), text(weir_strtab_text(&g->names, p->name))});
    for (int map = 0; !rc && map < WEIR_EXTENDED; map++)
        rc = put_map(s, v, map);
    return rc;
}

/* The first vertex from v on, before `end`, in a sorted journal; `end`: there is none. *at is the number in the journal
 * from which to search. j NULL: every vertex is written. */
static weir_vertex next_changed(const struct journal *j, uint32_t *at, weir_vertex v, weir_vertex end)
{
    if (!j)
        return v;
    while (*at < j->n && j->list[*at] < v)
        ++*at;
    return *at < j->n && j->list[*at] < end ? (weir_vertex)j->list[*at] : end;
}

/* Writes vertices [first, end). Rows in tables of single vertices are written for the vertices of the journal, and in
 * blocks for all vertices; extended data is never part of a block, as entries can be long. `at`: the first number of
 * the journal in the span. */
static int write_span(const struct weir_db_store *s, weir_vertex first, weir_vertex end, const struct journal *j,
                      uint32_t at)
{
    const weir_graph *g = s->g;
    const struct journal *single = s->block > 1 ? NULL : j;
    uint32_t own = at, data = at;
    int rc = put_runs(s, first, end < g->limit ? end : g->limit);

    for (weir_vertex v = first; !rc && (v = next_changed(single, &own, v, end)) < end; v++) {
        rc = single ? drop_tables(s, DB_NAME, DB_TAG, v) : WEIR_OK;
        rc = !rc && vertex_valid(g, v) ? put_own(s, v) : rc;
    }
    for (weir_vertex v = first; !rc && (v = next_changed(j, &data, v, end)) < end; v++) {
        rc = j ? s->drop(s->data, DB_DATA, v) : WEIR_OK;
        rc = !rc && vertex_valid(g, v) && pool_of(g, v) ? put_map(s, v, WEIR_EXTENDED) : rc;
    }
    return rc;
}

static int write_all_vertices(const struct weir_db_store *s)
{
    weir_vertex limit = s->g->limit, end;
    int rc = drop_tables(s, DB_KIND, DB_DATA, DB_EVERY);

    rc = rc ? rc : put_kinds(s, 0);
    for (weir_vertex v = 0; !rc && v < limit; v = end) {
        end = s->block > 1 && limit - v > s->block ? v + s->block : limit;
        rc = write_span(s, v, end, NULL, 0);
    }
    return rc;
}

static int write_vertices(const struct weir_db_store *s, bool all)
{
    struct weir_journal *c = s->g->saves.journal;
    struct journal *j;
    weir_vertex first, end;
    int rc;

    if (all || c->vertices.all)
        return write_all_vertices(s);
    j = &c->vertices;
    weir_journal_sort(j);
    rc = put_kinds(s, c->nkinds);
    for (uint32_t i = 0; !rc && i < j->n;) {
        rc = s->span(s->data, j, i, &first, &end);
        rc = rc ? rc : write_span(s, first, end, j, i);
        while (i < j->n && j->list[i] < end)
            i++;
    }
    return rc;
}

/* ---- edges ---- */

static int put_edge(const struct weir_db_store *s, const struct edge *e)
{
    const weir_strtab *n = &s->g->names;
    struct weir_db_cell row[] = {number((int64_t)e->serial),
                                 number(e->source),
                                 number(e->target),
                                 text(weir_strtab_text(n, s->g->subsystems[e->subsystem])),
                                 text(weir_strtab_text(n, e->type)),
                                 text(e->back == WEIR_NO_NAME ? NULL : weir_strtab_text(n, e->back))};
    return s->put(s->data, DB_EDGE, row);
}

/* All subsystems but containment. */
static int put_subsystems(const struct weir_db_store *s)
{
    const weir_graph *g = s->g;
    int rc = WEIR_OK;

    for (uint32_t i = 1; !rc && i < g->nsubsystems; i++)
        rc = s->put(s->data, DB_SUBSYSTEM,
                    (struct weir_db_cell[]){number(i), text(weir_strtab_text(&g->names, g->subsystems[i]))});
    return rc;
}

static int by_serial(const void *a, const void *b)
{
    const struct edge *const *x = a, *const *y = b;
    return ((*x)->serial > (*y)->serial) - ((*x)->serial < (*y)->serial);
}

static bool is_listed(const int64_t *list, uint32_t n, int64_t number)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, n, list[lo] < number);
    return lo < n && list[lo] == number;
}

/* Writes the edges of blocks, by serial. `blocks` NULL: all edges. */
static int write_blocks(const struct weir_db_store *s, const int64_t *blocks, uint32_t nblocks)
{
    const weir_graph *g = s->g;
    const struct edge **list = weir_mem_alloc(((size_t)g->nedges + 1) * sizeof *list);
    uint32_t n = 0;
    int rc = list ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < g->nedges; i++) {
        const struct edge *e = &g->edges[i];
        if (e->source != WEIR_NONE && (!blocks || is_listed(blocks, nblocks, (int64_t)(e->serial / s->block))))
            list[n++] = e;
    }
    if (!rc)
        qsort(list, n, sizeof *list, by_serial);
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = put_edge(s, list[i]);
    weir_mem_free(list);
    return rc;
}

/* Writes the blocks in which edges were removed or added. The store has nothing of blocks after the last serial of
 * the last save. */
static int write_changed_edges(const struct weir_db_store *s)
{
    const weir_graph *g = s->g;
    const struct weir_journal *c = g->saves.journal;
    int64_t *blocks;
    uint32_t n = 0;
    int rc = WEIR_OK;

    if (c->edges.n == 0 && g->edge_serial == c->edge_serial)
        return WEIR_OK;
    blocks = weir_mem_alloc(((size_t)c->edges.n + g->nedges + 1) * sizeof *blocks);
    if (!blocks)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < c->edges.n; i++)
        blocks[n++] = c->edges.list[i] / s->block;
    for (uint32_t i = 0; i < g->nedges; i++)
        if (g->edges[i].source != WEIR_NONE && g->edges[i].serial > c->edge_serial)
            blocks[n++] = (int64_t)(g->edges[i].serial / s->block);
    n = weir_array_unique(blocks, n);
    for (uint32_t i = 0; !rc && i < n && (uint64_t)blocks[i] * s->block <= c->edge_serial; i++)
        rc = s->drop(s->data, DB_EDGE, blocks[i] * s->block);
    rc = rc ? rc : write_blocks(s, blocks, n);
    weir_mem_free(blocks);
    return rc;
}

static int write_edges(const struct weir_db_store *s, bool all)
{
    int rc;

    if (!all && !s->g->saves.journal->edges.all)
        return write_changed_edges(s);
    rc = s->drop(s->data, DB_EDGE, DB_EVERY);
    return rc ? rc : write_blocks(s, NULL, 0);
}

/* ---- jobs ---- */

/* A job with picks and flows. */
static int put_job(const struct weir_db_store *s, const struct job *j)
{
    const weir_allocation *a = &j->a;
    struct weir_db_cell head[] = {number(a->job), number(a->start), number_or(a->end, WEIR_FOREVER),
                                  number_or(a->nslots, 0), text(weir_strtab_text(&s->g->names, j->policy))};
    int rc = s->put(s->data, DB_JOB, head);

    for (uint32_t i = 0; !rc && i < a->npicks; i++) {
        const weir_pick *p = &a->picks[i];
        struct weir_db_cell row[] = {number(a->job),    number(i),
                                     number(p->vertex), number_or(p->resource, WEIR_NONE),
                                     number(p->amount), number(p->exclusive)};
        rc = s->put(s->data, DB_PICK, row);
    }
    for (uint32_t i = 0; !rc && i < j->nflows; i++) {
        const struct flow_use *f = &j->flows[i];
        if (!weir_job_pick(j, f->unit) || !vertex_valid(s->g, f->endpoint))
            continue; /* the job has given the units back */
        struct weir_db_cell row[] = {number(a->job), number(i), number(f->endpoint), number(f->unit),
                                     number(f->amount)};
        rc = s->put(s->data, DB_FEED, row);
    }
    return rc;
}

static int write_changed_jobs(const struct weir_db_store *s, struct journal *j)
{
    int rc = WEIR_OK;

    weir_journal_sort(j);
    for (uint32_t i = 0; !rc && i < j->n; i++) {
        uint32_t job = weir_job_index(s->g, j->list[i]);
        rc = drop_tables(s, DB_JOB, DB_FEED, j->list[i]);
        if (!rc && job != WEIR_NONE)
            rc = put_job(s, &jobs_in(s->g)->list[job]);
    }
    return rc;
}

static int write_jobs(const struct weir_db_store *s, bool all)
{
    const weir_graph *g = s->g;
    int rc;

    if (!all && !g->saves.journal->jobs.all)
        return write_changed_jobs(s, &g->saves.journal->jobs);
    rc = drop_tables(s, DB_JOB, DB_FEED, DB_EVERY);
    for (uint32_t i = 0; !rc && i < weir_job_count(g); i++)
        rc = put_job(s, &jobs_in(g)->list[jobs_in(g)->order[i]]);
    return rc;
}

/* ---- the whole ---- */

/* Table meta, except for `saves`; word_down and word_up, the relation from a parent to a child and back, only where
 * they are not contains and in. */
static int put_meta(const struct weir_db_store *s, const char *stamp)
{
    char uuid[37];
    const struct weir_db_cell rows[][2] = {{text("now"), number(s->g->now)},
                                           {text("uuid"), text(uuid)},
                                           {text("generations"), number(s->g->uuids.generations)},
                                           {text("next_job"), number(jobs_next_id(s->g))},
                                           {text("valid_from"), number(s->g->valid_from)},
                                           {text("valid_until"), number(s->g->valid_until)},
                                           {text("stamp"), text(stamp)},
                                           {text("weir"), text(WEIR_VERSION)}};
    int rc = WEIR_OK;

    const weir_name words[] = {s->g->words.down, s->g->words.up};

    weir_graph_uuid(s->g, uuid);
    for (size_t i = 0; !rc && i < sizeof rows / sizeof *rows; i++)
        rc = s->put(s->data, DB_META, rows[i]);
    for (int up = 0; !rc && up < 2; up++)
        if (words[up]) {
            const struct weir_db_cell row[] = {text(up ? "word_up" : "word_down"),
                                               text(weir_strtab_text(&s->g->names, words[up] - 1))};
            rc = s->put(s->data, DB_META, row);
        }
    return rc;
}

int weir_db_write(const struct weir_db_store *s, bool all, const char *stamp)
{
    int rc = write_vertices(s, all);

    rc = rc ? rc : write_edges(s, all);
    rc = rc ? rc : write_jobs(s, all);
    rc = rc ? rc : s->drop(s->data, DB_META, DB_EVERY);
    rc = rc ? rc : put_meta(s, stamp);
    rc = rc ? rc : s->drop(s->data, DB_SUBSYSTEM, DB_EVERY);
    return rc ? rc : put_subsystems(s);
}

int weir_db_new_stamp(char stamp[STAMP_SIZE], weir_err *err)
{
    unsigned char bytes[STAMP_SIZE / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return weir_fail(err, WEIR_EIO, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(stamp + 2 * i, 3, "%02x", bytes[i]);
    return WEIR_OK;
}
