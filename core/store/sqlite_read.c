/* sqlite_read.c - loads a graph from an SQLite database. Invariant: nothing in the file is trusted: each value is
 * checked for type and range, each number for the record referred to, and the graph passes weir_check(). Memory is
 * proportional to the number of rows.
 */
#include "store/sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/vertex_range.h"
#include "job/job.h"

/* ---- the clock ---- */

/* Takes a word of containment, + 1. */
static int take_word(struct weir_db_reader *r, weir_name *word)
{
    const char *text = weir_db_text(r, 1);
    weir_name name = weir_db_unfit(r) ? WEIR_NO_NAME : weir_strtab_add(&r->g->names, text, strlen(text));

    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    *word = name + 1;
    return name == WEIR_NO_NAME ? WEIR_ENOMEM : WEIR_OK;
}

static int take_meta(struct weir_db_reader *r)
{
    const char *key = weir_db_text(r, 0);
    int rc = WEIR_OK;

    if (strcmp(key, "now") == 0)
        r->g->now = weir_db_int(r, 1, 0, WEIR_FOREVER - 1);
    else if (strcmp(key, "next_job") == 0)
        rc = weir_jobs_start_at(r->g, weir_db_int(r, 1, 1, WEIR_NEXT_JOB_MAX));
    else if (strcmp(key, "valid_from") == 0)
        r->g->valid_from = weir_db_int(r, 1, 0, WEIR_FOREVER - 1);
    else if (strcmp(key, "valid_until") == 0)
        r->g->valid_until = weir_db_int(r, 1, 1, WEIR_FOREVER);
    else if (strcmp(key, "word_down") == 0 || strcmp(key, "word_up") == 0)
        return take_word(r, strcmp(key, "word_up") == 0 ? &r->g->words.up : &r->g->words.down);
    else if (strcmp(key, "generations") == 0)
        r->g->uuids.generations = (uint16_t)weir_db_int(r, 1, 0, WEIR_GENERATION_MAX);
    else if (strcmp(key, "uuid") == 0 && !weir_uuid_parse(weir_db_text(r, 1), r->g->uuids.graph))
        r->wrong = 2;
    return weir_db_unfit(r) ? WEIR_EPARSE : rc;
}

/* ---- vertices ---- */

static int take_kind(struct weir_db_reader *r)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    uint32_t made, number = (uint32_t)weir_db_int(r, 0, 0, UINT32_MAX - 1);
    int rc;

    d.type = weir_db_text(r, 1);
    d.basename = weir_db_text(r, 2);
    d.unit = weir_db_text(r, 3);
    d.size = weir_db_int(r, 4, 0, INT64_MAX);
    d.exclusive = weir_db_int(r, 5, 0, 1);
    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    rc = weir_kind_add(r->g, &d, &made, &r->why);
    if (!rc && made != number)
        rc = weir_fail(&r->why, WEIR_EPARSE, "kinds are numbered from 0 on, and no two are equal");
    return rc;
}

static int take_run(struct weir_db_reader *r)
{
    struct weir_vertex_range run = {.parent = WEIR_NONE, .kind = WEIR_NONE, .id = WEIR_NO_ID, .rank = WEIR_NO_RANK};

    run.first = (weir_vertex)weir_db_int(r, 0, 0, UINT32_MAX - 1);
    run.count = (uint32_t)weir_db_int(r, 1, 1, RANGE_MAX);
    if (!weir_db_null(r, 2)) {
        run.kind = (uint32_t)weir_db_int(r, 2, 0, UINT32_MAX - 1);
        run.place = weir_db_null(r, 4) ? WEIR_NONE : (uint32_t)weir_db_int(r, 4, 0, UINT32_MAX - 1);
        if (!weir_db_null(r, 3))
            run.parent = (weir_vertex)weir_db_int(r, 3, 0, UINT32_MAX - 1);
        if (!weir_db_null(r, 5)) {
            run.id = weir_db_int(r, 5, INT64_MIN, INT64_MAX);
            run.step = weir_db_int(r, 6, INT64_MIN, INT64_MAX);
        }
        if (!weir_db_null(r, 7))
            run.rank = weir_db_int(r, 7, 0, UINT32_MAX);
    }
    return weir_db_unfit(r) ? WEIR_EPARSE : weir_restore_range(r->data, &run);
}

static int read_tree(struct weir_db_reader *r)
{
    struct weir_restore p = {.g = r->g, .err = &r->why};
    int rc = weir_db_each(r, DB_KIND, take_kind);

    r->data = &p;
    rc = rc ? rc : weir_db_each(r, DB_RUN, take_run);
    if (!rc && (rc = weir_restore_end(&p)))
        weir_fail(r->err, rc, "table run: %s", r->why.text);
    r->data = NULL;
    return rc;
}

/* ---- data of single vertices ---- */

static int take_name(struct weir_db_reader *r)
{
    weir_vertex v = weir_db_vertex(r, 0);
    const char *name = weir_db_text(r, 1);

    return weir_db_unfit(r) ? WEIR_EPARSE : weir_name_set(r->g, v, name, &r->why);
}

static int take_uuid(struct weir_db_reader *r)
{
    weir_vertex v = weir_db_vertex(r, 0);
    const char *uuid = weir_db_text(r, 1);

    int rc = weir_db_unfit(r) ? WEIR_EPARSE : weir_uuid_restore(r->g, v, uuid, &r->why);

    if (!rc)
        r->redundant |= !weir_uuid_given(r->g, v) && vertex_at(r->g, v)->generation == 0;
    return rc;
}

static int take_state(struct weir_db_reader *r)
{
    weir_vertex v = weir_db_vertex(r, 0);
    const char *name = weir_db_text(r, 1);
    int state = weir_state_parse(name);

    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    if (state < 0)
        return weir_fail(&r->why, WEIR_EPARSE, "there is no state '%.40s'", name);
    return weir_vertex_set_state(r->g, v, state, &r->why);
}

/* Reads a row of a map: properties, tags or extended data. */
static int take_entry(struct weir_db_reader *r)
{
    weir_vertex v = weir_db_vertex(r, 0);
    const char *key = weir_db_text(r, 2), *value = weir_db_text(r, 3);
    int map = (int)r->table - DB_PROPERTY;

    return weir_db_unfit(r) ? WEIR_EPARSE : weir_vertex_set(r->g, v, map, key, value, &r->why);
}

/* Checked after the last row: the UUID given in a row may equal the derived UUID of a pool until the row of the pool is
 * read. */
static int read_uuids(struct weir_db_reader *r)
{
    int rc = weir_db_each(r, DB_UUID, take_uuid);

    if (rc == WEIR_OK && weir_uuid_check(r->g, &r->why) != WEIR_OK)
        rc = weir_fail(r->err, WEIR_EPARSE, "table uuid: %s", r->why.text);
    return rc;
}

static int read_own(struct weir_db_reader *r)
{
    int rc = weir_db_each(r, DB_NAME, take_name);

    rc = rc ? rc : read_uuids(r);
    rc = rc ? rc : weir_db_each(r, DB_STATE, take_state);
    rc = rc ? rc : weir_db_each(r, DB_PROPERTY, take_entry);
    rc = rc ? rc : weir_db_each(r, DB_TAG, take_entry);
    return rc ? rc : weir_db_each(r, DB_DATA, take_entry);
}

/* ---- edges ---- */

static int take_subsystem(struct weir_db_reader *r)
{
    const char *name = weir_db_text(r, 1);

    if (!*name)
        r->wrong = 2;
    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    return weir_subsystem_add(r->g, name) == WEIR_NONE ? WEIR_ENOMEM : WEIR_OK;
}

static int take_edge(struct weir_db_reader *r)
{
    weir_graph *g = r->g;
    int64_t serial = weir_db_int(r, 0, 1, INT64_MAX / 2);
    weir_vertex source = weir_db_vertex(r, 1), target = weir_db_vertex(r, 2);
    const char *subsystem = weir_db_text(r, 3), *type = weir_db_text(r, 4);
    const char *back = weir_db_null(r, 5) ? NULL : weir_db_text(r, 5);

    if (weir_db_unfit(r))
        return WEIR_EPARSE;
    g->edge_serial = (uint64_t)serial - 1; /* rows are sorted by serial */
    return weir_edge_add(g, source, target, subsystem, type, back, &r->why);
}

static int read_edges(struct weir_db_reader *r)
{
    int rc = weir_db_each(r, DB_SUBSYSTEM, take_subsystem);
    return rc ? rc : weir_db_each(r, DB_EDGE, take_edge);
}

/* ---- the whole ---- */

static int fill(struct weir_db_reader *r)
{
    int rc;

    weir_graph_begin(r->g);
    rc = weir_db_each(r, DB_META, take_meta);
    rc = rc ? rc : read_tree(r);
    rc = rc ? rc : read_own(r);
    rc = rc ? rc : read_edges(r);
    rc = rc ? rc : weir_db_read_jobs(r);
    return rc ? rc : weir_graph_end(r->g, r->err);
}

/* Reads the whole database in one read transaction. */
int weir_db_read(sqlite3 *db, const char *path, weir_graph **out, weir_err *err)
{
    struct weir_db_reader r = {.db = db, .err = err};
    struct weir_journal *c = NULL;
    char stamp[STAMP_SIZE];
    int rc = weir_db_run(db, "BEGIN", err), found = rc ? rc : weir_db_examine(db, WEIR_EPARSE, err);

    if (found <= 0)
        return found < 0 ? found : weir_fail(err, WEIR_EPARSE, "holds nothing: no save to it was ever finished");
    r.g = weir_graph_new();
    rc = r.g ? fill(&r) : weir_fail_nomem(err);
    rc = rc ? rc : weir_db_stamp(db, stamp, err);
    if (!rc && !(c = weir_journal_new(r.g, path, stamp)))
        rc = weir_fail_nomem(err);
    if (rc) {
        weir_graph_free(r.g);
        return rc;
    }
    weir_journal_set(r.g, c);
    if (r.redundant)
        note_vertices(r.g, 0, r.g->limit);
    *out = r.g;
    return WEIR_OK;
}

bool weir_sqlite_is(const char *bytes, size_t len)
{
    return len >= 16 && memcmp(bytes, "SQLite format 3", 16) == 0;
}

int weir_sqlite_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err)
{
    /* offset of two header bytes with value 1, or 2 for WAL mode; databases in memory cannot use WAL mode */
    enum { VERSIONS = 18 };
    unsigned char *copy;
    sqlite3 *db = NULL;
    int rc;

    if (!weir_sqlite_is(in->text, in->len))
        return weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "is no SQLite database");
    copy = weir_mem_alloc(in->len);
    if (!copy)
        return weir_fail_nomem(err);
    memcpy(copy, in->text, in->len);
    if (in->len > VERSIONS + 1 && copy[VERSIONS] == 2)
        copy[VERSIONS] = copy[VERSIONS + 1] = 1;
    rc = weir_db_open_bytes(copy, in->len, &db, err);
    rc = rc ? rc : weir_db_read(db, NULL, out, err);
    sqlite3_close(db);
    weir_mem_free(copy);
    if (rc)
        weir_err_source(err, source);
    return rc;
}

/* Loads a file from a read-only directory, where SQLite cannot open WAL mode, by reading the file as a whole. Fails
 * if a WAL file with data shows an unfinished save. */
static int load_at_rest(const char *path, weir_graph **out, weir_err *err)
{
    struct weir_input in = {0};
    char *bytes;
    int rc;

    if (weir_db_file_size(path, "-wal") > 0)
        return weir_fail_at(err, WEIR_EIO, path, 0, 0,
                            "cannot be read: a save was not finished, and its directory cannot be written to");
    rc = weir_file_read(path, "a database that cannot be locked", WEIR_MACHINE_MAX, &bytes, &in.len, err);
    if (rc)
        return rc;
    in.text = bytes;
    rc = weir_sqlite_read(&in, path, out, err);
    weir_mem_free(bytes);
    return rc;
}

/* Loads a file. `alone`: lock the file exclusively, so that no shared-memory file is needed, which a full disk has
 * no space for. *status is SQLite's result code. */
static int load_with(const char *path, bool alone, weir_graph **out, int *status, weir_err *err)
{
    sqlite3 *db = NULL;
    int rc = weir_db_open(path, false, &db, err);

    *status = SQLITE_OK;
    if (rc)
        return rc;
    rc = alone ? weir_db_run(db, "PRAGMA locking_mode = EXCLUSIVE", err) : WEIR_OK;
    rc = rc ? rc : weir_db_read(db, path, out, err);
    *status = sqlite3_errcode(db) & 0xff;
    sqlite3_close(db);
    return rc;
}

int weir_sqlite_load(const char *path, weir_graph **out, weir_err *err)
{
    weir_err why = {0};
    int status, rc = load_with(path, false, out, &status, &why);

    if (rc && (status == SQLITE_IOERR || status == SQLITE_FULL)) {
        why = (weir_err){0};
        rc = load_with(path, true, out, &status, &why);
    }
    if (rc && (status == SQLITE_CANTOPEN || status == SQLITE_READONLY))
        return load_at_rest(path, out, err);
    if (rc) {
        weir_fail(err, why.code, "%s", why.text);
        weir_err_source(err, path);
    }
    return rc;
}
