/* sqlite.h - stores a graph with its jobs in an SQLite database. Private to the core.
 *
 * The tables are described in sqlite_schema.c, and in each file: `sqlite3 machine.db .schema` shows all comments.
 * Vertices keep their numbers. Equal siblings with consecutive numbers are one row of table `run`; data of single
 * vertices is in further tables. Derived data is not stored, but shown by views.
 *
 * Invariant: a save is one transaction, in WAL mode. Changes since the last save are found by the journals of
 * graph/journal.h, and are written alone only if the stamp in the file is the stamp of the last save, so that the file
 * is known to hold the graph of the last save.
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
#define DB_ROW         (1 << 26)  /* largest row in bytes; only extended data makes a row long */

/* The tables. The first column is the key of a row, or the vertex or job that the row belongs to. */
enum weir_db_table {
    DB_META,
    DB_KIND,
    DB_RUN,
    DB_NAME,
    DB_UUID,
    DB_STATE,
    DB_PROPERTY, /* PROPERTY, TAG, DATA: in the order of enum weir_map */
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
    const char *name, *key; /* name of the table; name of the first column */
    int columns;
    const char *sql; /* the CREATE TABLE statement */
};
extern const struct weir_db_layout weir_db_layout[DB_TABLES];

/* Open a database file. `create`: the file need not exist. Close with sqlite3_close(). */
int weir_db_open(const char *path, bool create, sqlite3 **out, weir_err *err) WEIR_CHECKED;
/* The size of a file of a database in bytes, with `suffix` "", "-wal" or "-journal". -1: there is no such file;
 * INT64_MAX: not known, as a stat that fails in another way does not say that the file is missing. */
int64_t weir_db_file_size(const char *path, const char *suffix);
/* Open the bytes of a database file as a read-only database in memory. `bytes` must stay unchanged until the close. */
int weir_db_open_bytes(unsigned char *bytes, size_t len, sqlite3 **out, weir_err *err) WEIR_CHECKED;
/* Report the last error of a database. Returns the corresponding weir_status. */
int weir_db_fail(sqlite3 *db, weir_err *err);
/* Run SQL statements without results. */
int weir_db_run(sqlite3 *db, const char *sql, weir_err *err) WEIR_CHECKED;
/* Prepare a statement. Free *out with sqlite3_finalize(). */
int weir_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, weir_err *err) WEIR_CHECKED;
/* Prepare the statement that inserts a row into a table. */
int weir_db_prepare_put(sqlite3 *db, int table, sqlite3_stmt **out, weir_err *err) WEIR_CHECKED;
/* Identify a database by application_id and user_version. Returns 1: a graph in the known schema; 0: an empty
 * database; `code`: any other database or schema; or a negative status. */
int weir_db_identify(sqlite3 *db, int code, weir_err *err) WEIR_CHECKED;
/* Identify a database as weir_db_identify() does, and fail with WEIR_EPARSE unless every table is as created by
 * weir_db_create(). */
int weir_db_examine(sqlite3 *db, int code, weir_err *err) WEIR_CHECKED;
/* Create tables and views in an empty database. */
int weir_db_create(sqlite3 *db, weir_err *err) WEIR_CHECKED;
/* Make a graph from a database. `path` becomes the place of the graph's last save; NULL for a database in memory. */
int weir_db_read(sqlite3 *db, const char *path, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* Read the stamp of the last save; "" if the database has none. */
int weir_db_stamp(sqlite3 *db, char stamp[STAMP_SIZE], weir_err *err) WEIR_CHECKED;

/* Make a random stamp for a save. WEIR_EIO: the kernel has no random bytes. */
int weir_db_new_stamp(char stamp[STAMP_SIZE], weir_err *err) WEIR_CHECKED;

/* A value in a row. */
struct weir_db_cell {
    int type; /* SQLITE_INTEGER, SQLITE_TEXT or SQLITE_NULL */
    int64_t n;
    const char *text;
};
#define DB_EVERY (-1) /* key of drop(): all rows of a table */

/* A store that takes the rows of a save. Each function returns a status. */
struct weir_db_store {
    const weir_graph *g;
    void *data;
    /* The store keeps vertices [n * block, (n + 1) * block) together, but for extended data, and edges likewise, by
     * serial: a block with a change is dropped, as DB_RUN or DB_EDGE, and put again as a whole. 1: single rows. */
    uint32_t block;
    /* Inserts a row, with a cell for each column of `table`. Cells live only during the call. */
    int (*put)(void *data, int table, const struct weir_db_cell *cells);
    /* Removes the rows of a table with `key` in the first column; of a block, all rows. DB_EVERY: the whole table. */
    int (*drop)(void *data, int table, int64_t key);
    /* Sets the vertices [*first, *end) whose runs are stored together with the vertex at number i of a sorted journal,
     * and removes the stored runs of these vertices. */
    int (*span)(void *data, const struct journal *j, uint32_t i, weir_vertex *first, weir_vertex *end);
};
/* Write the rows of a graph into a store: all rows, or only the rows of changes in the graph's journal. `all` false:
 * the store must hold the graph of the last save. Stops at the first status that is not WEIR_OK; WEIR_ENOMEM may have
 * no error text. */
int weir_db_write(const struct weir_db_store *s, bool all, const char *stamp) WEIR_CHECKED;

/* Save a graph into a file, created if missing. `changed`: write only changes since the last save, if the file holds
 * the last save; WEIR_EEXIST if a different process has saved to the file since. On failure graph and
 * file are unchanged; the file may have changed after WEIR_EUNSURE. */
int weir_sqlite_save(weir_graph *g, const char *path, bool changed, weir_err *err) WEIR_CHECKED;
/* Load a graph from a file. */
int weir_sqlite_load(const char *path, weir_graph **out, weir_err *err) WEIR_CHECKED;
/* Load a graph from the bytes of a file; see weir_reader. */
weir_reader weir_sqlite_read;
/* Whether the first bytes of a file are the header of an SQLite database. */
bool weir_sqlite_is(const char *bytes, size_t len);

/* Reads a table row by row. The functions for values set `wrong` if a value has the wrong type or range. */
struct weir_db_reader {
    bool redundant; /* a row of the table uuid has a UUID that is derived, and a save would leave out */
    sqlite3 *db;
    weir_graph *g;
    weir_err *err;
    sqlite3_stmt *row;
    enum weir_db_table table;
    int wrong;    /* column + 1 of the last wrong value in the row; 0: none */
    weir_err why; /* error in the current row */
    void *data;
};
/* Call take() for each row of a table, in the order of the key. A failure of take() is reported with table and row, and
 * the text of r->why. */
int weir_db_each(struct weir_db_reader *r, enum weir_db_table table,
                 int (*take)(struct weir_db_reader *r)) WEIR_CHECKED;
/* The integer in a column, from `lowest` to `highest`; `lowest` if wrong. */
int64_t weir_db_int(struct weir_db_reader *r, int column, int64_t lowest, int64_t highest);
/* Whether a column is NULL. */
bool weir_db_null(const struct weir_db_reader *r, int column);
/* The text in a column, valid during take(); "" if wrong. */
const char *weir_db_text(struct weir_db_reader *r, int column);
/* The existing vertex with the number in a column. */
weir_vertex weir_db_vertex(struct weir_db_reader *r, int column);
/* Whether a value in the row was wrong; if so, describes the value in r->why. */
bool weir_db_unfit(struct weir_db_reader *r);

/* Read all jobs with picks and flows, between weir_graph_begin() and weir_graph_end(). */
int weir_db_read_jobs(struct weir_db_reader *r) WEIR_CHECKED;

#endif
