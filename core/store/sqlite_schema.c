/* sqlite_schema.c - the tables of the database; opening, identifying and creating a database. SQL comments are part
 * of the statements and so of each file: `.schema` shows them.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct weir_db_layout weir_db_layout[DB_TABLES] = {
    [DB_META] = {"meta", "key", 2,
                 "CREATE TABLE meta ( -- what holds for the whole graph:\n"
                 "  --   now       the clock, in microseconds\n"
                 "  --   next_job  the id that the next job gets\n"
                 "  --   valid_from, valid_until  when jobs may use the resources, in microseconds\n"
                 "  --   saves     how often this file was saved to\n"
                 "  --   stamp     of the last save: no two have the same\n"
                 "  --   weir      the version of weir that saved last\n"
                 "  key TEXT PRIMARY KEY,\n"
                 "  value\n"
                 ") WITHOUT ROWID"},
    [DB_KIND] = {"kind", "kind", 6,
                 "CREATE TABLE kind ( -- what pools that are alike have in common\n"
                 "  kind INTEGER PRIMARY KEY,  -- 0, 1, 2, ...\n"
                 "  type TEXT NOT NULL,\n"
                 "  basename TEXT NOT NULL,    -- a pool without a name of its own is called basename and id\n"
                 "  unit TEXT NOT NULL,        -- of the size; '' for none\n"
                 "  size INTEGER NOT NULL,\n"
                 "  exclusive INTEGER NOT NULL -- 1: only ever given to one job as a whole\n"
                 ")"},
    [DB_RUN] =
        {"run", "first", 8,
         "CREATE TABLE run ( -- vertices: siblings that are alike, up to 256 in a row. All runs together have\n"
         "                   -- each number from 0 on once. The view vertex shows them one by one.\n"
         "  first INTEGER PRIMARY KEY, -- vertices first, first + 1, ...\n"
         "  count INTEGER NOT NULL,    -- ... so many\n"
         "  kind INTEGER,              -- NULL: these numbers are not in use\n"
         "  parent INTEGER,            -- a vertex; NULL: a root\n"
         "  place INTEGER,             -- of the first among the children of the parent\n"
         "  id INTEGER,                -- of the first; NULL: none\n"
         "  step INTEGER,              -- from one id to the next\n"
         "  rank INTEGER               -- execution target of the first, then one more each; NULL: none of its own\n"
         ")"},
    [DB_NAME] = {"name", "vertex", 2,
                 "CREATE TABLE name ( -- names that were given; ${...} stands for a field or property of the vertex\n"
                 "  vertex INTEGER PRIMARY KEY,\n"
                 "  name TEXT NOT NULL\n"
                 ")"},
    [DB_UUID] = {"uuid", "vertex", 2,
                 "CREATE TABLE uuid ( -- UUIDs that were given; others follow from names and places\n"
                 "  vertex INTEGER PRIMARY KEY,\n"
                 "  uuid TEXT NOT NULL\n"
                 ")"},
    [DB_STATE] =
        {"state", "vertex", 2,
         "CREATE TABLE state ( -- of vertices that are not up: down, degraded, failing, unknown, null, draining.\n"
         "                     -- It counts for what is below them, too.\n"
         "  vertex INTEGER PRIMARY KEY,\n"
         "  state TEXT NOT NULL\n"
         ")"},
    [DB_PROPERTY] = {"property", "vertex", 4,
                     "CREATE TABLE property ( -- properties of vertices\n"
                     "  vertex INTEGER NOT NULL,\n"
                     "  place INTEGER NOT NULL,\n"
                     "  key TEXT NOT NULL,\n"
                     "  value TEXT NOT NULL, -- '' for none\n"
                     "  PRIMARY KEY (vertex, place)\n"
                     ") WITHOUT ROWID"},
    [DB_TAG] = {"tag", "vertex", 4,
                "CREATE TABLE tag ( -- tags of vertices\n"
                "  vertex INTEGER NOT NULL,\n"
                "  place INTEGER NOT NULL,\n"
                "  key TEXT NOT NULL,\n"
                "  value TEXT NOT NULL, -- '' for none\n"
                "  PRIMARY KEY (vertex, place)\n"
                ") WITHOUT ROWID"},
    [DB_DATA] = {"data", "vertex", 4,
                 "CREATE TABLE data ( -- extended data of vertices\n"
                 "  vertex INTEGER NOT NULL,\n"
                 "  place INTEGER NOT NULL,\n"
                 "  key TEXT NOT NULL,\n"
                 "  value TEXT NOT NULL, -- JSON\n"
                 "  PRIMARY KEY (vertex, place)\n"
                 ") WITHOUT ROWID"},
    [DB_SUBSYSTEM] = {"subsystem", "place", 2,
                      "CREATE TABLE subsystem ( -- hierarchies beside containment (which is run.parent)\n"
                      "  place INTEGER PRIMARY KEY,\n"
                      "  name TEXT NOT NULL\n"
                      ")"},
    [DB_EDGE] = {"edge", "edge", 6,
                 "CREATE TABLE edge ( -- edges of those subsystems\n"
                 "  edge INTEGER PRIMARY KEY, -- in the order in which they were added\n"
                 "  source INTEGER NOT NULL,  -- a vertex\n"
                 "  target INTEGER NOT NULL,  -- a vertex\n"
                 "  subsystem TEXT NOT NULL,\n"
                 "  type TEXT NOT NULL,       -- what the source is to the target\n"
                 "  back TEXT                 -- what the target is to the source, or NULL\n"
                 ")"},
    [DB_JOB] = {"job", "job", 5,
                "CREATE TABLE job ( -- who has something. The view jobs says it in seconds.\n"
                "  job INTEGER PRIMARY KEY,\n"
                "  starts INTEGER NOT NULL, -- microseconds; after meta.now: a reservation, else an allocation\n"
                "  ends INTEGER,            -- NULL: no end\n"
                "  slots INTEGER,           -- of the request that it serves; NULL: not known\n"
                "  policy TEXT NOT NULL     -- the policy that placed it; '' for none\n"
                ")"},
    [DB_PICK] = {"pick", "job", 6,
                 "CREATE TABLE pick ( -- what jobs have\n"
                 "  job INTEGER NOT NULL,\n"
                 "  place INTEGER NOT NULL,\n"
                 "  vertex INTEGER NOT NULL,\n"
                 "  resource INTEGER,       -- number of the resource in the request that it was taken for, or NULL\n"
                 "  amount INTEGER NOT NULL, -- units; 0: shared use\n"
                 "  whole INTEGER NOT NULL, -- 1: the vertex and all below it\n"
                 "  PRIMARY KEY (job, place)\n"
                 ") WITHOUT ROWID"},
    [DB_FEED] = {"feed", "job", 5,
                 "CREATE TABLE feed ( -- units of other subsystems, and what they were taken for\n"
                 "  job INTEGER NOT NULL,\n"
                 "  place INTEGER NOT NULL,\n"
                 "  endpoint INTEGER NOT NULL, -- the vertex that needs them\n"
                 "  unit INTEGER NOT NULL,     -- the vertex that gives them: one of the job's picks\n"
                 "  amount INTEGER NOT NULL,\n"
                 "  PRIMARY KEY (job, place)\n"
                 ") WITHOUT ROWID"},
    [DB_NUMBER] = {"number", "i", 1,
                   "CREATE TABLE number ( -- 0 to 255: turns runs into vertices\n"
                   "  i INTEGER PRIMARY KEY\n"
                   ")"},
};

/* Views for people; weir reads no view. In the view vertex, CAST and LIMIT make SQLite materialise the view and
 * index it by number in a join, instead of a scan of all vertices for each row of the joined table. */
static const char views[] =
    "CREATE INDEX run_parent ON run (parent -- for the views\n);\n"
    "CREATE VIEW vertex AS -- one row a vertex; rank is its own, name may be a template\n"
    "  SELECT CAST(run.first + i AS INTEGER) AS vertex, type,\n"
    "    coalesce(name, basename || coalesce(run.id + i * step, '')) AS name,\n"
    "    run.id + i * step AS id, size, unit, coalesce(state, 'up') AS state, rank + i AS rank,\n"
    "    parent, place + i AS place, exclusive\n"
    "  FROM run JOIN number ON i < count JOIN kind USING (kind)\n"
    "    LEFT JOIN name ON name.vertex = run.first + i LEFT JOIN state ON state.vertex = run.first + i\n"
    "  LIMIT -1;\n"
    "CREATE VIEW path AS -- where each vertex is\n"
    "  WITH RECURSIVE way(vertex, path) AS (\n"
    "    SELECT vertex, '/' || name FROM vertex WHERE parent IS NULL\n"
    "    UNION ALL\n"
    "    SELECT v.vertex, path || '/' || v.name FROM way JOIN vertex AS v ON v.parent = way.vertex)\n"
    "  SELECT vertex, path FROM way;\n"
    "CREATE VIEW jobs AS -- jobs, in seconds\n"
    "  SELECT job, CASE WHEN starts > (SELECT value FROM meta WHERE key = 'now') THEN 'reserved' ELSE 'allocated' END\n"
    "      AS state, starts / 1e6 AS starts, ends / 1e6 AS ends, slots, policy,\n"
    "    (SELECT count(*) FROM pick WHERE pick.job = job.job) AS picks\n"
    "  FROM job;\n"
    "CREATE VIEW job_nodes AS -- the nodes at, above or below which a job has something\n"
    "  WITH RECURSIVE up(job, vertex) AS (\n"
    "    SELECT job, vertex FROM pick\n"
    "    UNION\n"
    "    SELECT job, (SELECT parent FROM run WHERE first <= vertex ORDER BY first DESC LIMIT 1)\n"
    "    FROM up WHERE vertex IS NOT NULL),\n"
    "  down(job, vertex, type) AS (\n"
    "    SELECT job, vertex,\n"
    "      (SELECT type FROM run JOIN kind USING (kind) WHERE first <= vertex ORDER BY first DESC LIMIT 1)\n"
    "    FROM pick WHERE whole\n"
    "    UNION\n"
    "    SELECT job, run.first + i, kind.type FROM down JOIN run ON run.parent = vertex JOIN number ON i < count\n"
    "      JOIN kind USING (kind) WHERE down.type <> 'node'),\n"
    "  either(job, vertex) AS (SELECT job, vertex FROM up UNION SELECT job, vertex FROM down)\n"
    "  SELECT job, either.vertex,\n"
    "    coalesce(name, basename || coalesce(id + (either.vertex - first) * step, '')) AS name\n"
    "  FROM either JOIN run ON first = (SELECT max(first) FROM run WHERE first <= either.vertex) JOIN kind USING "
    "(kind)\n"
    "    LEFT JOIN name ON name.vertex = either.vertex\n"
    "  WHERE type = 'node';\n"
    "CREATE VIEW node_free AS -- nodes that are up, and of which no job has anything now\n"
    "  WITH RECURSIVE off(vertex, type) AS (\n"
    "    SELECT vertex, '' FROM state WHERE state NOT IN ('up', 'degraded')\n"
    "    UNION\n"
    "    SELECT run.first + i, kind.type FROM off JOIN run ON run.parent = vertex JOIN number ON i < count\n"
    "      JOIN kind USING (kind) WHERE off.type <> 'node')\n"
    "  SELECT vertex, name, rank FROM vertex WHERE type = 'node' AND vertex NOT IN (SELECT vertex FROM off)\n"
    "    AND vertex NOT IN (SELECT vertex FROM job_nodes JOIN job USING (job)\n"
    "      WHERE starts <= (SELECT value FROM meta WHERE key = 'now'));\n";

/* ---- errors ---- */

int weir_db_fail(sqlite3 *db, weir_err *err)
{
    const char *text = sqlite3_errmsg(db);

    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_NOMEM: return weir_fail_nomem(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return weir_fail(err, WEIR_EBUSY, "another process is writing to it");
    case SQLITE_NOTADB: return weir_fail(err, WEIR_EPARSE, "is no SQLite database");
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: return weir_fail(err, WEIR_EPARSE, "the database is damaged: %.200s", text);
    case SQLITE_READONLY: return weir_fail(err, WEIR_EIO, "cannot be written: it or its directory is read-only");
    case SQLITE_TOOBIG: return weir_fail(err, WEIR_ELIMIT, "a text is too long for SQLite");
    default: return weir_fail(err, WEIR_EIO, "SQLite: %.200s", text);
    }
}

int weir_db_run(sqlite3 *db, const char *sql, weir_err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? WEIR_OK : weir_db_fail(db, err);
}

int weir_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, weir_err *err)
{
    return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? WEIR_OK : weir_db_fail(db, err);
}

int weir_db_prepare_put(sqlite3 *db, int table, sqlite3_stmt **out, weir_err *err)
{
    static const char marks[] = "?,?,?,?,?,?,?,?";
    char sql[100];

    snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (%.*s)", weir_db_layout[table].name,
             2 * weir_db_layout[table].columns - 1, marks);
    return weir_db_prepare(db, sql, out, err);
}

/* ---- opening ---- */

/* Protects against files written by an attacker: no triggers are run, the schema is not trusted, and no value may be
 * larger than weir's own. */
static int configure(sqlite3 *db, weir_err *err)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, DB_ROW);
    sqlite3_busy_timeout(db, DB_WAIT);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return weir_db_run(db, "PRAGMA cell_size_check = ON", err);
}

static int opened(sqlite3 *db, int status, sqlite3 **out, weir_err *err)
{
    int rc;

    if (!db)
        return weir_fail_nomem(err);
    if (status == SQLITE_CANTOPEN)
        rc = weir_fail(err, WEIR_EIO, "cannot open: %.200s", sqlite3_errmsg(db));
    else
        rc = status == SQLITE_OK ? configure(db, err) : weir_db_fail(db, err);
    if (rc)
        sqlite3_close(db);
    else
        *out = db;
    return rc;
}

int weir_db_open(const char *path, bool create, sqlite3 **out, weir_err *err)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    int status = sqlite3_open_v2(path, &db, flags, NULL);

    return opened(db, status & 0xff, out, err);
}

int64_t weir_db_file_size(const char *path, const char *suffix)
{
    struct weir_file_id now = {0};
    char name[PATH_MAX];

    errno = 0;
    if (snprintf(name, sizeof name, "%s%s", path, suffix) >= (int)sizeof name)
        return INT64_MAX;
    if (weir_file_look(name, &now))
        return (int64_t)now.size;
    return errno == ENOENT ? -1 : INT64_MAX;
}

int weir_db_open_bytes(unsigned char *bytes, size_t len, sqlite3 **out, weir_err *err)
{
    sqlite3 *db = NULL;
    int status = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (status == SQLITE_OK)
        status =
            sqlite3_deserialize(db, "main", bytes, (sqlite3_int64)len, (sqlite3_int64)len, SQLITE_DESERIALIZE_READONLY);
    return opened(db, status, out, err);
}

/* ---- identifying, creating ---- */

static int query_int(sqlite3 *db, const char *sql, int64_t *out, weir_err *err)
{
    sqlite3_stmt *s;
    int rc = weir_db_prepare(db, sql, &s, err);

    if (rc)
        return rc;
    if (sqlite3_step(s) == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    else
        rc = weir_db_fail(db, err);
    sqlite3_finalize(s);
    return rc;
}

/* Returns what follows the white space and the comments that a part of a statement begins with. */
static const char *skip_space(const char *sql)
{
    for (;;) {
        sql += strspn(sql, " \t\r\n");
        if (sql[0] != '-' || sql[1] != '-')
            return sql;
        sql += strcspn(sql, "\n");
    }
}

/* Whether two statements are equal but for comments and the extent of white space. */
static bool same_statement(const char *a, const char *b)
{
    char quote = '\0'; /* the end of the quoted part that a and b are in */

    for (;; a++, b++) {
        const char *next = quote ? a : skip_space(a), *other = quote ? b : skip_space(b);
        if ((next == a) != (other == b) || *next != *other)
            return false;
        a = next;
        b = other;
        if (*a == '\0')
            return true;
        if (quote)
            quote = *a == quote ? '\0' : quote;
        else if (*a == '\'' || *a == '"' || *a == '`' || *a == '[')
            quote = *a == '[' ? ']' : *a;
    }
}

/* Fails unless the statement of a table is weir's own, but for comments. A view or a generated column in place of a
 * table could run any expression. */
static int check_table(sqlite3 *db, sqlite3_stmt *s, const struct weir_db_layout *t, weir_err *err)
{
    const char *sql;
    int rc = WEIR_OK, status;

    sqlite3_reset(s);
    if (sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC) != SQLITE_OK)
        return weir_db_fail(db, err);
    status = sqlite3_step(s);
    sql = status == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        rc = weir_db_fail(db, err);
    else if (!sql || !same_statement(sql, t->sql))
        rc = weir_fail(err, WEIR_EPARSE, "the table \"%s\" is %s", t->name, sql ? "not what weir makes" : "missing");
    sqlite3_reset(s);
    return rc;
}

static int check_tables(sqlite3 *db, weir_err *err)
{
    sqlite3_stmt *s;
    int rc = weir_db_prepare(db, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", &s, err);

    if (rc)
        return rc;
    for (int i = 0; !rc && i < DB_TABLES; i++)
        rc = check_table(db, s, &weir_db_layout[i], err);
    sqlite3_finalize(s);
    return rc;
}

int weir_db_identify(sqlite3 *db, int code, weir_err *err)
{
    int64_t application = 0, schema = 0, objects = 0;
    int rc = query_int(db, "PRAGMA application_id", &application, err);

    rc = rc ? rc : query_int(db, "PRAGMA user_version", &schema, err);
    rc = rc ? rc : query_int(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
    if (rc)
        return rc;
    if (application == 0 && schema == 0 && objects == 0)
        return 0;
    if (application != DB_APPLICATION)
        return weir_fail(err, code, "is an SQLite database of something else, not of weir");
    if (schema != DB_SCHEMA)
        return weir_fail(err, code, "has schema %lld; this weir knows schema %d", (long long)schema, DB_SCHEMA);
    return 1;
}

int weir_db_examine(sqlite3 *db, int code, weir_err *err)
{
    int found = weir_db_identify(db, code, err), rc = found > 0 ? check_tables(db, err) : WEIR_OK;
    return rc ? rc : found;
}

int weir_db_create(sqlite3 *db, weir_err *err)
{
    char pragmas[100];
    int rc = WEIR_OK;

    for (int i = 0; !rc && i < DB_TABLES; i++)
        rc = weir_db_run(db, weir_db_layout[i].sql, err);
    rc = rc ? rc : weir_db_run(db, views, err);
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d", DB_APPLICATION,
             DB_SCHEMA);
    rc = rc ? rc : weir_db_run(db, pragmas, err);
    return rc ? rc
              : weir_db_run(db,
                            "INSERT INTO number WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                            "WHERE i < 255) SELECT i FROM n",
                            err);
}

int weir_db_stamp(sqlite3 *db, char stamp[STAMP_SIZE], weir_err *err)
{
    sqlite3_stmt *s;
    int rc = weir_db_prepare(db, "SELECT value FROM meta WHERE key = 'stamp'", &s, err), status;

    stamp[0] = '\0';
    if (rc)
        return rc;
    status = sqlite3_step(s);
    if (status == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_TEXT)
        snprintf(stamp, STAMP_SIZE, "%s", (const char *)sqlite3_column_text(s, 0));
    else if (status != SQLITE_ROW && status != SQLITE_DONE)
        rc = weir_db_fail(db, err);
    sqlite3_finalize(s);
    return rc;
}
