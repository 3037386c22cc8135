/* sqlite_rows.c - produces the rows that represent a graph, for the tables in sqlite_schema.c. The caller's put()
 * stores the rows in a database (sqlite_write.c) or in pieces of text (kv_image_write.c).
 */
#include "store/sqlite.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

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

/* ---- vertices ---- */

int weir_db_put_kinds(const struct weir_db_rows *s, uint32_t from)
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

static int write_run(const struct weir_db_rows *s, const struct weir_vertex_range *r)
{
    bool live = r->kind != WEIR_NONE;
    struct weir_db_cell row[] = {number(r->first),
                                 number(r->count),
                                 number_or(r->kind, WEIR_NONE),
                                 number_or(live ? r->parent : WEIR_NONE, WEIR_NONE),
                                 number_or(live ? (int64_t)r->place : -1, -1),
                                 number_or(live ? r->id : WEIR_NO_ID, WEIR_NO_ID),
                                 number_or(live && r->id != WEIR_NO_ID ? r->step : INT64_MIN, INT64_MIN),
                                 number_or(live ? r->rank : WEIR_NO_RANK, WEIR_NO_RANK)};
    return s->put(s->data, DB_RUN, row);
}

int weir_db_put_runs(const struct weir_db_rows *s, weir_vertex from, weir_vertex end)
{
    struct weir_vertex_range r;
    int rc = WEIR_OK;

    for (weir_vertex v = from; !rc && v < end; v += r.count) {
        weir_vertex_range_at(s->g, v, end, &r);
        rc = write_run(s, &r);
    }
    return rc;
}

int weir_db_put_map(const struct weir_db_rows *s, weir_vertex v, int map)
{
    const char *key, *value;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && weir_vertex_entry(s->g, v, map, i, &key, &value); i++) {
        struct weir_db_cell row[] = {number(v), number(i), text(key), text(value)};
        rc = s->put(s->data, DB_PROPERTY + map, row);
    }
    return rc;
}

int weir_db_put_own(const struct weir_db_rows *s, weir_vertex v)
{
    const weir_graph *g = s->g;
    const struct pool *p = pool_of(g, v);
    char uuid[37];
    int rc = WEIR_OK;

    if (vertex_at(g, v)->state != WEIR_UP)
        rc = s->put(s->data, DB_STATE,
                    (struct weir_db_cell[]){number(v), text(weir_state_name(vertex_at(g, v)->state))});
    if (!rc && weir_uuid_given(g, v)) {
        weir_vertex_uuid(g, v, uuid);
        rc = s->put(s->data, DB_UUID, (struct weir_db_cell[]){number(v), text(uuid)});
    }
    if (rc || !p)
        return rc;
    if (p->name != WEIR_NO_NAME)
        rc = s->put(s->data, DB_NAME, (struct weir_db_cell[]){number(v), text(weir_strtab_text(&g->names, p->name))});
    for (int map = 0; !rc && map < WEIR_EXTENDED; map++)
        rc = weir_db_put_map(s, v, map);
    return rc;
}

/* ---- edges ---- */

int weir_db_put_edge(const struct weir_db_rows *s, const struct edge *e)
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

int weir_db_put_subsystems(const struct weir_db_rows *s)
{
    const weir_graph *g = s->g;
    int rc = WEIR_OK;

    for (uint32_t i = 1; !rc && i < g->nsubsystems; i++)
        rc = s->put(s->data, DB_SUBSYSTEM,
                    (struct weir_db_cell[]){number(i), text(weir_strtab_text(&g->names, g->subsystems[i]))});
    return rc;
}

/* ---- jobs ---- */

int weir_db_put_job(const struct weir_db_rows *s, const struct job *j)
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

/* ---- the whole ---- */

int weir_db_put_meta(const struct weir_db_rows *s, const char *stamp)
{
    const struct weir_db_cell rows[][2] = {{text("now"), number(s->g->now)},
                                           {text("next_job"), number(s->g->next_job)},
                                           {text("stamp"), text(stamp)},
                                           {text("weir"), text(WEIR_VERSION)}};
    int rc = WEIR_OK;

    for (size_t i = 0; !rc && i < sizeof rows / sizeof *rows; i++)
        rc = s->put(s->data, DB_META, rows[i]);
    return rc;
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
