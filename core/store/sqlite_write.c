/* sqlite_write.c - saves a graph into an SQLite database, in full or only changes. Invariant: a save is one
 * transaction; the graph's journal is reset only after the commit.
 */
#include "store/sqlite.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "graph/vertex_range.h"

struct save {
    const weir_graph *g;
    sqlite3 *db;
    sqlite3_stmt *put[DB_TABLES], *drop[DB_TABLES], *find;
    bool all;       /* write all rows, not only changes */
    bool committed; /* the commit failed in a way that may have left it on the disk */
    weir_err *err;
};

/* ---- rows ---- */

static int step(struct save *s, sqlite3_stmt *st)
{
    int status = sqlite3_step(st);

    sqlite3_reset(st);
    return status == SQLITE_DONE ? WEIR_OK : weir_db_fail(s->db, s->err);
}

/* Inserts a row; see struct weir_db_store. */
static int put(void *data, int table, const struct weir_db_cell *cells)
{
    struct save *s = data;
    int rc = s->put[table] ? WEIR_OK : weir_db_prepare_put(s->db, table, &s->put[table], s->err), status = SQLITE_OK;

    for (int i = 0; !rc && status == SQLITE_OK && i < weir_db_layout[table].columns; i++) {
        if (cells[i].type == SQLITE_INTEGER)
            status = sqlite3_bind_int64(s->put[table], i + 1, cells[i].n);
        else
            /* a NULL text binds NULL */
            status = sqlite3_bind_text(s->put[table], i + 1, cells[i].text, -1, SQLITE_STATIC);
    }
    if (rc || status != SQLITE_OK)
        return rc ? rc : weir_db_fail(s->db, s->err);
    return step(s, s->put[table]);
}

/* Deletes rows; see struct weir_db_store. */
static int drop(void *data, int table, int64_t key)
{
    struct save *s = data;
    char sql[100];
    int rc = WEIR_OK;

    if (key == DB_EVERY) {
        snprintf(sql, sizeof sql, "DELETE FROM %s", weir_db_layout[table].name);
        return weir_db_run(s->db, sql, s->err);
    }
    if (!s->drop[table]) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s = ?", weir_db_layout[table].name, weir_db_layout[table].key);
        rc = weir_db_prepare(s->db, sql, &s->drop[table], s->err);
    }
    if (!rc && sqlite3_bind_int64(s->drop[table], 1, key) != SQLITE_OK)
        rc = weir_db_fail(s->db, s->err);
    return rc ? rc : step(s, s->drop[table]);
}

/* ---- runs ---- */

/* The vertices of the stored run that contains v; v alone if no run does. */
static int covering(struct save *s, weir_vertex v, weir_vertex *first, weir_vertex *end)
{
    static const char find[] = "SELECT first, count FROM run WHERE first <= ? ORDER BY first DESC LIMIT 1";
    int rc = s->find ? WEIR_OK : weir_db_prepare(s->db, find, &s->find, s->err), status;
    int64_t from, count;

    if (rc)
        return rc;
    *first = v;
    *end = v + 1;
    status = sqlite3_bind_int64(s->find, 1, v);
    status = status == SQLITE_OK ? sqlite3_step(s->find) : status;
    if (status == SQLITE_ROW) {
        from = sqlite3_column_int64(s->find, 0);
        count = sqlite3_column_int64(s->find, 1);
        if (from >= 0 && count > 0 && count <= RANGE_MAX && from + count > v) {
            *first = (weir_vertex)from;
            *end = from + count < s->g->limit ? (weir_vertex)(from + count) : s->g->limit;
        }
    }
    sqlite3_reset(s->find);
    return status == SQLITE_ROW || status == SQLITE_DONE ? WEIR_OK : weir_db_fail(s->db, s->err);
}

/* The stored runs of a vertex of the journal and of the vertices of the journal right behind; see struct
 * weir_db_store. New vertices have no stored run, and become runs together. */
static int span(void *data, const struct journal *j, uint32_t i, weir_vertex *first, weir_vertex *end)
{
    struct save *s = data;
    weir_vertex next;
    int rc = covering(s, (weir_vertex)j->list[i], first, end);

    rc = rc ? rc : drop(s, DB_RUN, *first);
    for (i++; !rc && i < j->n && j->list[i] <= *end; i++)
        if (j->list[i] == *end) {
            rc = covering(s, *end, &next, end);
            rc = rc ? rc : drop(s, DB_RUN, next);
        }
    return rc;
}

/* ---- the whole ---- */

static int count_saves(struct save *s, int64_t *saves)
{
    sqlite3_stmt *st;
    int rc = weir_db_prepare(s->db, "SELECT value FROM meta WHERE key = 'saves'", &st, s->err), status;

    *saves = 1;
    if (rc)
        return rc;
    status = sqlite3_step(st);
    if (status == SQLITE_ROW && sqlite3_column_int64(st, 0) < INT64_MAX)
        *saves += sqlite3_column_int64(st, 0);
    else if (status != SQLITE_ROW && status != SQLITE_DONE)
        rc = weir_db_fail(s->db, s->err);
    sqlite3_finalize(st);
    return rc;
}

static int write_rows(struct save *s, const char *stamp)
{
    struct weir_db_store store = {s->g, s, 1, put, drop, span};
    int64_t saves;
    int rc = count_saves(s, &saves);

    rc = rc ? rc : weir_db_write(&store, s->all, stamp);
    if (!rc)
        rc = put(s, DB_META, (struct weir_db_cell[]){{SQLITE_TEXT, 0, "saves"}, {SQLITE_INTEGER, saves, NULL}});
    return rc == WEIR_ENOMEM ? weir_fail_nomem(s->err) : rc;
}

static bool same_file(const struct weir_file_id *last, const char *path)
{
    struct weir_file_id now = {0};

    if (strcmp(last->path, path) == 0)
        return true;
    return last->inode && weir_file_look(path, &now) && now.inode == last->inode && now.device == last->device;
}

/* Decides between a full save and changes: changes require that the file holds the graph of the last save. Sets
 * s->all. */
static int choose(struct save *s, const char *path, bool changed, int found)
{
    const struct weir_journal *c = s->g->saves.journal;
    char stamp[STAMP_SIZE];
    int rc;

    s->all = true;
    if (!changed || found == 0 || !c)
        return WEIR_OK;
    rc = weir_db_stamp(s->db, stamp, s->err);
    if (rc)
        return rc;
    s->all = strcmp(stamp, c->stamp) != 0;
    if (s->all && strcmp(stamp, c->unsure) != 0 && same_file(&c->file, path))
        return weir_fail(s->err, WEIR_EEXIST,
                         "was saved to by another process since: the changes of this graph do not fit "
                         "on it. Load it, or save everything over it");
    return WEIR_OK;
}

static int write_graph(struct save *s, const char *path, bool changed, const char *stamp)
{
    int found = weir_db_examine(s->db, WEIR_EEXIST, s->err), rc;

    if (found < 0)
        return found;
    rc = choose(s, path, changed, found);
    if (!rc && found == 0)
        rc = weir_db_create(s->db, s->err);
    return rc ? rc : write_rows(s, stamp);
}

static void finalize(struct save *s)
{
    for (int t = 0; t < DB_TABLES; t++) {
        sqlite3_finalize(s->put[t]);
        sqlite3_finalize(s->drop[t]);
    }
    sqlite3_finalize(s->find);
}

/* Chooses WAL mode. Where there is none, for instance without shared memory, the rollback journal is used. A disk that
 * fails may leave a journal that the next process rolls back, with all that is written after it. */
static int use_wal(sqlite3 *db, weir_err *err)
{
    int status;

    if (sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK)
        return WEIR_OK;
    status = sqlite3_extended_errcode(db);
    return status == SQLITE_IOERR_DELETE || status == SQLITE_IOERR_FSYNC || status == SQLITE_IOERR_DIR_FSYNC ||
                   status == SQLITE_IOERR_WRITE || status == SQLITE_IOERR_TRUNCATE
               ? weir_db_fail(db, err)
               : WEIR_OK;
}

/* Writes the graph in one transaction. In WAL mode concurrent readers see the old state until the commit. */
static int transact(struct save *s, const char *path, bool changed, const char *stamp)
{
    weir_err why = {0};
    int rc = weir_db_identify(s->db, WEIR_EEXIST, &why);

    if (rc < 0 && (sqlite3_errcode(s->db) & 0xff) == SQLITE_NOTADB)
        return weir_fail(s->err, WEIR_EEXIST, "is a file of another kind: no database is written over it");
    if (rc < 0)
        return weir_fail(s->err, rc, "%s", why.text);
    rc = use_wal(s->db, s->err);
    rc = rc ? rc : weir_db_run(s->db, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", s->err);
    if (rc)
        return rc;
    rc = write_graph(s, path, changed, stamp);
    finalize(s);
    if (!rc) {
        rc = weir_db_run(s->db, "COMMIT", s->err);
        s->committed = rc && rc != WEIR_EBUSY;
    }
    if (rc)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

#define PAGE 4096 /* size of a database without tables */

/* Whether a new file has no data. If the disk is full, db may be NULL or unreadable; then the sizes of the files
 * decide. */
static bool is_empty(sqlite3 *db, const char *path)
{
    int found = db ? weir_db_identify(db, WEIR_EEXIST, NULL) : -1;

    return found == 0 || (found < 0 && weir_db_file_size(path, "-wal") <= 0 && weir_db_file_size(path, "") <= PAGE);
}

/* Closes the database after a failed save, and removes a new file without data. */
static void clean_up(sqlite3 *db, const char *path)
{
    static const char *const suffixes[] = {"-shm", "-wal", ""};
    char name[PATH_MAX];
    bool empty = is_empty(db, path);

    sqlite3_close(db);
    for (size_t i = 0; empty && i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* Opens the file as the next process will: the lock is exclusive, so SQLite takes the commits from the write-ahead log
 * itself and not from memory shared with other processes. Sets *done if the file has the save with the stamp; then all
 * of the save is on the disk. */
static int read_stamp(const char *path, const char *stamp, bool *done, weir_err *err)
{
    char found[STAMP_SIZE] = "";
    sqlite3 *db;
    int known, rc = weir_db_open(path, false, &db, err);

    if (rc)
        return rc;
    rc = weir_db_run(db, "PRAGMA locking_mode = EXCLUSIVE", err);
    known = rc ? rc : weir_db_identify(db, WEIR_EEXIST, err);
    rc = known > 0 ? weir_db_stamp(db, found, err) : known;
    *done = !rc && strcmp(found, stamp) == 0;
    if (*done)
        rc = weir_db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)", err);
    sqlite3_close(db);
    return rc;
}

/* A commit that fails may be on the disk: if the write-ahead log was written but not synchronized, the next process
 * that opens the file finds the commit there. Decides by reading the file. Returns WEIR_OK if the save is done; `rc` if
 * it is not; WEIR_EUNSURE if the file cannot be read. */
static int look_again(const struct save *s, const char *path, const char *stamp, int rc)
{
    weir_err why = {0};
    bool done = false;

    if (read_stamp(path, stamp, &done, &why)) {
        weir_err_clear(s->err);
        return weir_fail(s->err, WEIR_EUNSURE, "the commit failed, and so did reading it back: %s", why.text);
    }
    if (done)
        weir_err_clear(s->err);
    return done ? WEIR_OK : rc;
}

int weir_sqlite_save(weir_graph *g, const char *path, bool changed, weir_err *err)
{
    struct save s = {.g = g, .err = err};
    char stamp[STAMP_SIZE];
    struct weir_journal *next = NULL;
    bool existed = weir_db_file_size(path, "") >= 0;
    int rc = weir_vertex_range_holes(g, err);

    rc = rc ? rc : weir_db_new_stamp(stamp, err);
    if (!rc && !(next = weir_journal_new(g, path, stamp)))
        rc = weir_fail_nomem(err);
    rc = rc ? rc : weir_db_open(path, true, &s.db, err);
    rc = rc ? rc : transact(&s, path, changed, stamp);
    if (s.committed) {
        sqlite3_close(s.db);
        s.db = NULL;
        rc = look_again(&s, path, stamp, rc);
    }
    if (rc && rc != WEIR_EUNSURE && !existed)
        clean_up(s.db, path);
    else
        sqlite3_close(s.db);
    if (rc == WEIR_EUNSURE && g->saves.journal)
        memcpy(g->saves.journal->unsure, stamp, sizeof stamp);
    if (rc)
        weir_journal_drop(next);
    else
        weir_journal_set(g, next);
    return rc;
}
