/* sqlite_values.c - runs queries and checks values for type and range. See struct weir_db_reader. */
#include "store/sqlite.h"

#include <string.h>

static int complain(struct weir_db_reader *r, int rc)
{
    const char *column = sqlite3_column_name(r->row, 0), *value = (const char *)sqlite3_column_text(r->row, 0);

    if (rc == WEIR_ENOMEM || !column)
        return weir_fail_nomem(r->err);
    return weir_fail(r->err, r->why.code == WEIR_ELIMIT ? WEIR_ELIMIT : WEIR_EPARSE, "table %s, %s %.40s: %s",
                     weir_db_layout[r->table].name, column, value ? value : "NULL",
                     r->why.text[0] ? r->why.text : "makes no sense");
}

int weir_db_each(struct weir_db_reader *r, enum weir_db_table table, int (*take)(struct weir_db_reader *r))
{
    char sql[100];
    int status = SQLITE_DONE, rc;

    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2", weir_db_layout[table].name);
    rc = weir_db_prepare(r->db, sql, &r->row, r->err);
    r->table = table;
    if (rc)
        return rc;
    while (!rc && (status = sqlite3_step(r->row)) == SQLITE_ROW) {
        r->wrong = 0;
        rc = take(r);
    }
    if (rc)
        rc = complain(r, rc);
    else if (status != SQLITE_DONE)
        rc = weir_db_fail(r->db, r->err);
    sqlite3_finalize(r->row);
    return rc;
}

int64_t weir_db_int(struct weir_db_reader *r, int column, int64_t lowest, int64_t highest)
{
    int64_t n = sqlite3_column_int64(r->row, column);

    if (sqlite3_column_type(r->row, column) != SQLITE_INTEGER || n < lowest || n > highest) {
        r->wrong = column + 1;
        return lowest;
    }
    return n;
}

bool weir_db_null(const struct weir_db_reader *r, int column)
{
    return sqlite3_column_type(r->row, column) == SQLITE_NULL;
}

const char *weir_db_text(struct weir_db_reader *r, int column)
{
    bool fits = sqlite3_column_type(r->row, column) == SQLITE_TEXT;
    const char *s = fits ? (const char *)sqlite3_column_text(r->row, column) : NULL;
    size_t len = s ? (size_t)sqlite3_column_bytes(r->row, column) : 0;

    if (s && strlen(s) == len)
        return s;
    r->wrong = column + 1;
    return "";
}

weir_vertex weir_db_vertex(struct weir_db_reader *r, int column)
{
    weir_vertex v = (weir_vertex)weir_db_int(r, column, 0, UINT32_MAX - 1);

    if (!r->wrong && !vertex_valid(r->g, v))
        r->wrong = column + 1;
    return v;
}

bool weir_db_unfit(struct weir_db_reader *r)
{
    const char *column = r->wrong ? sqlite3_column_name(r->row, r->wrong - 1) : NULL;

    if (r->wrong)
        weir_fail(&r->why, WEIR_EPARSE, "\"%s\" has an invalid value", column ? column : "");
    return r->wrong != 0;
}
