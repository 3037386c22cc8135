/* fuzz_sqlite.c - databases: the bytes of a file, or changes to the rows of a valid database. A graph that loads
 * passes weir_check, is equal after a save, and can be used. The first kind of input begins like a file of SQLite;
 * the second is a list of changes: operation (update, insert, delete) and table, row, column, type of the value,
 * value.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_NAME "/dev/shm/weir-fuzz-XXXXXX"

static char path[] = FILE_NAME;
static unsigned char *base;
static size_t base_len;

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void remove_file(void)
{
    remove(path);
}

/* Makes the database to be changed: a graph with every kind of row. */
static void make_base(void)
{
    static const char text[] = "cluster:1 rack:2 node:2 core:4 memory:1(size=8)";
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_graph *g = NULL;
    weir_vertex pdu;

    must(mkstemp(path) >= 0 && weir_graph_parse(text, sizeof text - 1, "base", "synthetic", &g, NULL) == WEIR_OK,
         "a machine");
    atexit(remove_file);
    d.type = "pdu";
    d.size = 9;
    d.uuid = "01234567-89ab-4def-8123-456789abcdef";
    d.name = "p-${id}";
    must(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    must(weir_edge_add(g, pdu, 2, "power", "supplies", "draws", NULL) == WEIR_OK, "an edge");
    must(weir_vertex_set(g, 2, WEIR_PROPERTIES, "gen", "3", NULL) == WEIR_OK, "a property");
    must(weir_vertex_set(g, 2, WEIR_TAGS, "t", "", NULL) == WEIR_OK, "a tag");
    must(weir_vertex_set(g, 2, WEIR_EXTENDED, "a", "[1]", NULL) == WEIR_OK, "extended data");
    must(weir_vertex_set_state(g, pdu, WEIR_DEGRADED, NULL) == WEIR_OK, "a state");
    must(weir_vertex_allocate(g, 2, 3, 1, 0, 50, NULL) == WEIR_OK, "job 3");
    must(weir_vertex_allocate(g, pdu, 3, 4, 0, 50, NULL) == WEIR_OK, "its power");
    must(weir_vertex_allocate(g, pdu, 5, 2, 40, WEIR_FOREVER, NULL) == WEIR_OK, "job 5");
    must(weir_graph_save(g, path, "sqlite", 0, NULL) == WEIR_OK, "a save");
    must(weir_file_read(path, "a database", WEIR_MACHINE_MAX, (char **)&base, &base_len, NULL) == WEIR_OK, "its bytes");
    base[18] = base[19] = 1; /* no WAL mode in memory */
    weir_graph_free(g);
}

/* ---- changes ---- */

struct input {
    const uint8_t *at, *end;
};

static uint8_t next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static int64_t next_int(struct input *in, int bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | next(in);
    return bytes == 1 ? (int8_t)n : (int64_t)n;
}

static void bind_next(struct input *in, sqlite3_stmt *s, int i)
{
    size_t len;

    switch (next(in) % 6) {
    case 0: sqlite3_bind_null(s, i); break;
    case 1: sqlite3_bind_int64(s, i, next_int(in, 1)); break;
    case 2: sqlite3_bind_int64(s, i, next_int(in, 4)); break;
    case 3: sqlite3_bind_int64(s, i, next_int(in, 8)); break;
    case 4: sqlite3_bind_double(s, i, (double)next_int(in, 1) / 4); break;
    default:
        len = next(in) % 40;
        len = len < (size_t)(in->end - in->at) ? len : (size_t)(in->end - in->at);
        sqlite3_bind_text(s, i, (const char *)in->at, (int)len, SQLITE_TRANSIENT);
        in->at += len;
    }
}

static const char *column_name(sqlite3 *db, const struct weir_db_layout *t, uint8_t which, char name[40])
{
    sqlite3_stmt *s;
    char sql[80];

    snprintf(sql, sizeof sql, "SELECT * FROM %s", t->name);
    must(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, sql);
    snprintf(name, 40, "%s", sqlite3_column_name(s, which % t->columns));
    sqlite3_finalize(s);
    return name;
}

static void change(sqlite3 *db, struct input *in)
{
    const struct weir_db_layout *t = &weir_db_layout[next(in) % DB_TABLES];
    uint8_t what = next(in), row = next(in);
    char sql[300], name[40];
    sqlite3_stmt *s;
    int values = 1;

    if (what % 4 == 0) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s = (SELECT %s FROM %s LIMIT 1 OFFSET %d)", t->name, t->key,
                 t->key, t->name, row);
        values = 0;
    } else if (what % 4 == 1) {
        snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s VALUES (%.*s)", t->name, 2 * t->columns - 1,
                 "?,?,?,?,?,?,?,?");
        values = t->columns;
    } else {
        snprintf(sql, sizeof sql, "UPDATE OR REPLACE %s SET %s = ? WHERE %s = (SELECT %s FROM %s LIMIT 1 OFFSET %d)",
                 t->name, column_name(db, t, next(in), name), t->key, t->key, t->name, row);
    }
    must(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, sql);
    for (int i = 1; i <= values; i++)
        bind_next(in, s, i);
    sqlite3_step(s);
    sqlite3_finalize(s);
}

/* The base with changes; to be freed with sqlite3_free. */
static unsigned char *changed(const uint8_t *data, size_t size, sqlite3_int64 *len)
{
    struct input in = {data, data + size};
    unsigned char *copy = sqlite3_malloc64(base_len), *out;
    sqlite3 *db;

    memcpy(copy, base, base_len);
    must(sqlite3_open(":memory:", &db) == SQLITE_OK &&
             sqlite3_deserialize(db, "main", copy, (sqlite3_int64)base_len, (sqlite3_int64)base_len,
                                 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK,
         "the base in memory");
    while (in.at < in.end)
        change(db, &in);
    out = sqlite3_serialize(db, "main", len, 0);
    sqlite3_close(db);
    return out;
}

/* the loaded graph */

static void use(weir_graph *g)
{
    weir_match_options o = {.mode = WEIR_RESERVE, .at = weir_graph_now(g)};
    const weir_allocation *a;
    weir_request *r = NULL;
    weir_err err = {0};

    must(weir_request_parse("slot=1/core=2", 13, "shape", &r, NULL) == WEIR_OK, "a request");
    (void)!weir_match(g, r, &o, &a, NULL);
    weir_request_free(r);
    must(weir_check(g, &err) == WEIR_OK, err.text);
    while (weir_job_count(g))
        must(weir_release(g, weir_job_at(g, 0)->job, NULL) == WEIR_OK, "a release");
    must(weir_check(g, &err) == WEIR_OK, err.text);
}

static void through_a_file(weir_graph *g)
{
    weir_graph *back = NULL;
    weir_err err = {0};

    must(weir_graph_save(g, path, "sqlite", 0, &err) == WEIR_OK, err.text);
    must(weir_graph_load(path, NULL, &back, &err) == WEIR_OK, err.text);
    must(weir_graph_compare(g, back, true, &err) == WEIR_OK, err.text);
    weir_graph_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_graph *g = NULL;
    weir_err err = {0};
    int rc;

    if (!base)
        make_base();
    if (weir_sqlite_is((const char *)data, size)) {
        rc = weir_graph_parse((const char *)data, size, "fuzz", NULL, &g, &err);
    } else {
        sqlite3_int64 len = 0;
        unsigned char *bytes = changed(data, size, &len);
        rc = bytes ? weir_graph_parse((const char *)bytes, (size_t)len, "fuzz", "sqlite", &g, &err) : WEIR_ENOMEM;
        sqlite3_free(bytes);
    }
    must(rc == WEIR_OK || err.text[0], "an error without a text");
    if (rc == WEIR_OK) {
        must(weir_check(g, &err) == WEIR_OK, err.text);
        if (weir_graph_limit(g) < 5000)
            through_a_file(g);
        use(g);
        weir_graph_free(g);
    }
    return 0;
}
