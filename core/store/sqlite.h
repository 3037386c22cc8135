/* sqlite.h - a graph with its books in an SQLite database (L4, L7, L8). Private to the core.
 *
 * The schema is drawn in sqlite_schema.c, and in each file: `sqlite3 machine.db .schema` shows it with its comments.
 * Vertices keep their numbers. Siblings that are alike are one row of the table `run`; what single vertices have beyond
 * that is in tables of its own. What can be derived is not stored, but views show it.
 *
 * Invariant: a save is one transaction, in WAL mode. What changed since the last save is found by the journals of
 * journal.h, and is only written where the stamp in the file is that of the last save: then the file holds what the
 * graph was then.
 */
#ifndef WEIR_SQLITE_H
#define WEIR_SQLITE_H

#include <sqlite3.h>

#include "format/input.h"
#include "graph/journal.h"
#include "time/job_table.h"

#define DB_APPLICATION 0x57454952 /* "WEIR": application_id of the file */
#define DB_SCHEMA      1          /* user_version of the file */
#define DB_WAIT        5000       /* milliseconds to wait for another process that writes */
#define DB_ROW         (1 << 26)  /* bytes of a row: what is in one is short, but for a value of extended data */

/* The tables. The first column of each tells its rows apart, or those of one vertex or job. */
enum weir_db_table {
    DB_META,
    DB_KIND,
    DB_RUN,
    DB_NAME,
    DB_UUID,
    DB_STATE,
    DB_PROPERTY, /* then TAG and DATA, as in enum weir_map */
    DB_TAG,
    DB_DATA,
    DB_SUBSYSTEM,
    DB_EDGE,
    DB_JOB,
    DB_PICK,
    DB_FEED,
    DB_NUMBER,
    DB_TABLES
};

struct weir_db_layout {
    const char *name, *key; /* of the table, and of its first column */
    int columns;
    const char *sql;
};
extern const struct weir_db_layout weir_db_layout[DB_TABLES];

/* Opens a file, or with `bytes` a database in memory that is only read and that stays the caller's. */
int weir_db_open(const char *path, bool create, sqlite3 **out, weir_err *err) WEIR_CHECKED;
int weir_db_open_bytes(unsigned char *bytes, size_t len, sqlite3 **out, weir_err *err) WEIR_CHECKED;
/* What SQLite says went wrong last, as an error of ours. */
int weir_db_fail(sqlite3 *db, weir_err *err);
int weir_db_run(sqlite3 *db, const char *sql, weir_err *err) WEIR_CHECKED;
int weir_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, weir_err *err) WEIR_CHECKED;
/* Adds a row to a table. */
int weir_db_prepare_put(sqlite3 *db, int table, sqlite3_stmt **out, weir_err *err) WEIR_CHECKED;
/* 1: the file says that it holds a graph in our schema. 0: nothing. Something else, or another schema: `code`. */
int weir_db_identify(sqlite3 *db, int code, weir_err *err) WEIR_CHECKED;
/* The same, and its tables are those of our schema. */
int weir_db_examine(sqlite3 *db, int code, weir_err *err) WEIR_CHECKED;
int weir_db_create(sqlite3 *db, weir_err *err) WEIR_CHECKED;
/* Reads all that is in a database. path: what later saves are to find changed; NULL for one in memory. */
int weir_db_read(sqlite3 *db, const char *path, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* The stamp of the last save; "" where there is none. */
int weir_db_stamp(sqlite3 *db, char stamp[STAMP_SIZE], weir_err *err) WEIR_CHECKED;

int weir_db_new_stamp(char stamp[STAMP_SIZE], weir_err *err) WEIR_CHECKED;

/* What is stored of a graph, row by row: put() takes a cell for each column of a table. */
struct weir_db_cell {
    int type; /* SQLITE_INTEGER, SQLITE_TEXT, SQLITE_NULL */
    int64_t n;
    const char *text;
};
struct weir_db_rows {
    const weir_graph *g;
    void *data;
    int (*put)(void *data, int table, const struct weir_db_cell *cells);
};
int weir_db_put_meta(const struct weir_db_rows *s, const char *stamp) WEIR_CHECKED;
int weir_db_put_kinds(const struct weir_db_rows *s, uint32_t from) WEIR_CHECKED;
int weir_db_put_runs(const struct weir_db_rows *s, weir_vertex from, weir_vertex end) WEIR_CHECKED;
int weir_db_put_own(const struct weir_db_rows *s, weir_vertex v) WEIR_CHECKED; /* of a vertex, but its extended data */
int weir_db_put_map(const struct weir_db_rows *s, weir_vertex v, int map) WEIR_CHECKED;
int weir_db_put_subsystems(const struct weir_db_rows *s) WEIR_CHECKED;
int weir_db_put_edge(const struct weir_db_rows *s, const struct edge *e) WEIR_CHECKED;
int weir_db_put_job(const struct weir_db_rows *s, const struct job *j) WEIR_CHECKED;

int weir_sqlite_save(weir_graph *g, const char *path, bool changed, weir_err *err) WEIR_CHECKED;
int weir_sqlite_load(const char *path, weir_graph **out, weir_err *err) WEIR_CHECKED;
weir_reader weir_sqlite_read;
bool weir_sqlite_is(const char *bytes, size_t len); /* by the header of the file */

/* Reading one table, row by row. A value of the wrong type or range is noted in `wrong`. */
struct weir_db_reader {
    sqlite3 *db;
    weir_graph *g;
    weir_err *err;
    sqlite3_stmt *row;
    const char *table;
    int wrong;    /* column + 1 */
    weir_err why; /* what is wrong with this row */
    void *data;
};
/* Calls take() for each row of a query on a table; what it returns or puts into `why` is reported with the row. */
int weir_db_each(struct weir_db_reader *r, int table, const char *sql,
                 int (*take)(struct weir_db_reader *r)) WEIR_CHECKED;
int64_t weir_db_int(struct weir_db_reader *r, int column, int64_t lowest, int64_t highest);
bool weir_db_null(const struct weir_db_reader *r, int column);
const char *weir_db_text(struct weir_db_reader *r, int column);
weir_vertex weir_db_vertex(struct weir_db_reader *r, int column); /* one that is there */
/* Whether a value was wrong; then says so in `why`. */
bool weir_db_unfit(struct weir_db_reader *r);

/* The jobs and what they have. The graph is still between begin and end. */
int weir_db_read_jobs(struct weir_db_reader *r) WEIR_CHECKED;

#endif
