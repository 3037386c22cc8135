/* kv_image_read.c - makes a graph from pieces. The rows of all pieces are put into a database in memory, which is
 * then read like a file, with all checks: nothing in a piece is trusted.
 */
#include <string.h>

#include "format/json_read.h"
#include "store/kv_image.h"

struct filler {
    sqlite3 *db;
    sqlite3_stmt *put[DB_TABLES];
    const char *key; /* of the current piece */
    weir_json *json;
    weir_err *err;
};

weir_pieces *weir_pieces_new(void)
{
    return weir_mem_zalloc(1, sizeof(weir_pieces));
}

int weir_pieces_put(weir_pieces *p, const char *key, const char *text, size_t len, weir_err *err)
{
    struct weir_piece piece = {.len = len};

    if (len > PIECES_TEXT || p->n >= PIECES_MAX)
        return weir_fail(err, WEIR_ELIMIT, "%.100s: %d bytes of a piece and %u pieces are possible", key, PIECES_TEXT,
                         PIECES_MAX);
    piece.key = weir_mem_strdup(key);
    piece.text = weir_mem_strndup(text, len);
    if (piece.key && piece.text && !weir_array_reserve(&p->list, &p->cap, (size_t)p->n + 1, sizeof piece)) {
        p->list[p->n++] = piece;
        return WEIR_OK;
    }
    WEIR_FREE(piece.key, piece.text);
    return weir_fail_nomem(err);
}

/* ---- rows ---- */

static int wrong(struct filler *f, const char *what)
{
    return weir_fail(f->err, WEIR_EPARSE, "%.100s: %s", f->key, what);
}

static int table_of(const char *name)
{
    for (int i = 0; i < DB_NUMBER; i++)
        if (strcmp(weir_db_layout[i].name, name) == 0)
            return i;
    return -1;
}

/* Binds a JSON value to a column. `type` is the value's event. */
static int bind(struct filler *f, sqlite3_stmt *row, int column, int type)
{
    size_t len;
    const char *text;
    int64_t n;
    int status;

    switch (type) {
    case WEIR_JSON_NULL: return WEIR_OK; /* cleared bindings are NULL */
    case WEIR_JSON_INTEGER:
        if (weir_json_integer(f->json, &n))
            return wrong(f, "a number has more than 64 bits");
        status = sqlite3_bind_int64(row, column, n);
        break;
    case WEIR_JSON_STRING:
        text = weir_json_text(f->json, &len);
        status = sqlite3_bind_text(row, column, text, (int)len, SQLITE_TRANSIENT);
        break;
    default: return type < 0 ? type : wrong(f, "a row has texts, whole numbers and null");
    }
    return status == SQLITE_OK ? WEIR_OK : weir_db_fail(f->db, f->err);
}

static int take_values(struct filler *f, int table)
{
    sqlite3_stmt *row = f->put[table];
    int columns = weir_db_layout[table].columns, rc = WEIR_OK, type;

    sqlite3_clear_bindings(row);
    for (int i = 1; !rc && i <= columns; i++)
        rc = bind(f, row, i, weir_json_next(f->json));
    if (rc)
        return rc;
    type = weir_json_next(f->json);
    if (type != WEIR_JSON_ARRAY_END)
        return type < 0 ? type : wrong(f, "a row is longer than its table");
    rc = sqlite3_step(row);
    sqlite3_reset(row);
    if (rc == SQLITE_DONE)
        return WEIR_OK;
    return (rc & 0xff) == SQLITE_CONSTRAINT ? wrong(f, "a row comes twice, or lacks something")
                                            : weir_db_fail(f->db, f->err);
}

/* Inserts the row ["table", value, ...], whose bracket has been read. */
static int take_row(struct filler *f)
{
    int type = weir_json_next(f->json), table, rc;
    size_t len;

    if (type != WEIR_JSON_STRING)
        return type < 0 ? type : wrong(f, "a row begins with the name of its table");
    table = table_of(weir_json_text(f->json, &len));
    if (table < 0)
        return wrong(f, "there is no such table");
    rc = f->put[table] ? WEIR_OK : weir_db_prepare_put(f->db, table, &f->put[table], f->err);
    return rc ? rc : take_values(f, table);
}

static int take_rows(struct filler *f)
{
    int type = weir_json_next(f->json), rc = WEIR_OK;

    if (type != WEIR_JSON_ARRAY)
        return type < 0 ? type : wrong(f, "expected a list of rows");
    while (!rc && (type = weir_json_next(f->json)) == WEIR_JSON_ARRAY)
        rc = take_row(f);
    if (rc || type < 0)
        return rc ? rc : type;
    if (type != WEIR_JSON_ARRAY_END)
        return wrong(f, "expected a list of rows");
    type = weir_json_next(f->json);
    return type == WEIR_JSON_END ? WEIR_OK : type < 0 ? type : wrong(f, "something comes after the rows");
}

static int take_piece(struct filler *f, const struct weir_piece *p)
{
    struct weir_input in = {.text = p->text, .len = p->len};
    int rc;

    f->key = p->key;
    f->json = weir_json_open(&in, p->key, f->err);
    rc = f->json ? take_rows(f) : weir_fail_nomem(f->err);
    weir_json_close(f->json);
    return rc;
}

/* ---- the whole ---- */

/* Whether a piece is part of the state. Pieces with a key ending in /R are for other programs. */
static bool is_state(const struct weir_piece *p)
{
    size_t n = strlen(p->key);
    return p->text && !(n > 2 && strcmp(p->key + n - 2, "/R") == 0);
}

static int fill(struct filler *f, const weir_pieces *p)
{
    int rc = weir_db_run(f->db, "BEGIN", f->err);

    rc = rc ? rc : weir_db_create(f->db, f->err);
    for (uint32_t i = 0; !rc && i < p->n; i++)
        if (is_state(&p->list[i]))
            rc = take_piece(f, &p->list[i]);
    for (int i = 0; i < DB_TABLES; i++)
        sqlite3_finalize(f->put[i]);
    return rc ? rc : weir_db_run(f->db, "COMMIT", f->err);
}

int weir_pieces_graph(const weir_pieces *p, weir_graph **out, weir_err *err)
{
    struct filler f = {.err = err};
    int rc = weir_db_open(":memory:", true, &f.db, err);

    rc = rc ? rc : fill(&f, p);
    rc = rc ? rc : weir_db_read(f.db, NULL, out, err);
    sqlite3_close(f.db);
    return rc;
}
