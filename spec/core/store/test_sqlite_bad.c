/* test_sqlite_bad.c - databases made by no save: each row of a table is one change by hand and the expected text
 * of the error; then files cut short and files with flipped bytes. A graph that still loads is sound.
 */
#include "stores.h"

static weir_graph *machine(void)
{
    weir_graph *g = parse("cluster:1 rack:1 node:2 core:4 memory:1(size=8)", "synthetic");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex pdu, node = at(g, "/cluster0/rack0/node0"), memory = at(g, "/cluster0/rack0/node1/memory0");

    d.type = "pdu";
    d.name = "power-${id}";
    d.id = 7;
    d.uuid = "01234567-89ab-4def-8123-456789abcdef";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    CHECK(weir_edge_add(g, pdu, node, "power", "supplies", "draws", NULL) == WEIR_OK, "an edge");
    CHECK(weir_vertex_set(g, node, WEIR_PROPERTIES, "gen", "3", NULL) == WEIR_OK, "a property");
    CHECK(weir_vertex_set(g, node, WEIR_EXTENDED, "a", "[1]", NULL) == WEIR_OK, "extended data");
    CHECK(weir_vertex_set_state(g, pdu, WEIR_DEGRADED, NULL) == WEIR_OK, "a state");
    CHECK(weir_vertex_allocate(g, node, 3, 1, 0, 50, NULL) == WEIR_OK, "job 3");
    CHECK(weir_vertex_allocate(g, memory, 5, 6, 0, 40, NULL) == WEIR_OK, "job 5");
    CHECK(weir_vertex_allocate(g, memory, 6, 4, 40, WEIR_FOREVER, NULL) == WEIR_OK, "job 6");
    return g;
}

/* Vertices: 0 cluster, 1 rack, 2 node0, 3-6 its cores, 7 its memory, 8 node1, 9-12, 13, 14 pdu. */
static const struct {
    const char *sql, *text;
} cases[] = {
    {"PRAGMA application_id = 5", "an SQLite database of something else"},
    {"PRAGMA user_version = 2", "has schema 2; this weir knows schema 1"},
    {"DROP TABLE feed", "the table \"feed\" is missing"},
    {"DROP TABLE run; CREATE VIEW run AS SELECT 1", "the table \"run\" is missing"},
    {"ALTER TABLE job ADD COLUMN who", "the table \"job\" is not what weir makes"},
    {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'rank INTEGER', 'rank  TEXT')",
     "the table \"run\" is not what weir makes"},
    {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'INTEGER', 'INT--' || char(10) || "
     "'EGER')",
     "is not what weir makes"},
    {"UPDATE meta SET value = -1 WHERE key = 'now'", "table meta, key now: \"value\" has an invalid value"},
    {"UPDATE meta SET value = 'x' WHERE key = 'next_job'", "table meta, key next_job: \"value\""},
    {"UPDATE kind SET kind = 99 WHERE kind = 0", "kinds are numbered from 0 on"},
    {"INSERT INTO kind SELECT 50, type, basename, unit, size, exclusive FROM kind WHERE kind = 1", "no two are equal"},
    {"UPDATE kind SET type = '' WHERE kind = 1", "table kind, kind 1: a pool needs a type"},
    {"UPDATE kind SET type = x'00' WHERE kind = 1", "\"type\" has an invalid value"},
    {"UPDATE kind SET type = 'a' || char(0) || 'b' WHERE kind = 1", "\"type\" has an invalid value"},
    {"UPDATE kind SET basename = 'a/b' WHERE kind = 1", "must not have a '/'"},
    {"UPDATE kind SET size = -1 WHERE kind = 1", "\"size\" has an invalid value"},
    {"UPDATE kind SET size = 9000000000000000000 WHERE kind = 1", "table run, first 1: the sizes of all pools add up"},
    {"UPDATE kind SET exclusive = 2 WHERE kind = 1", "\"exclusive\" has an invalid value"},
    {"DELETE FROM run WHERE first = 1", "table run, first 2: vertex 2 found where vertex 1 is expected"},
    {"UPDATE run SET count = 257 WHERE first = 0", "\"count\" has an invalid value"},
    {"UPDATE run SET count = 0 WHERE first = 0", "\"count\" has an invalid value"},
    {"UPDATE run SET kind = 77 WHERE first = 1", "there is no such kind"},
    {"UPDATE run SET parent = 99 WHERE first = 1", "vertex 1: its parent 99 is not there"},
    {"UPDATE run SET parent = 1, place = 5 WHERE first = 1", "is deeper than 200 levels, or in a circle"},
    {"UPDATE run SET parent = 4 WHERE first = 1", "is deeper than 200 levels, or in a circle"},
    {"UPDATE run SET parent = 1.5 WHERE first = 2", "\"parent\" has an invalid value"},
    {"UPDATE run SET place = 4000000000 WHERE first = 8", "are empty"},
    {"UPDATE run SET place = 4294967294 WHERE first = 8", "are empty"},
    {"UPDATE run SET place = 0 WHERE first = 8", "another vertex is in its place"},
    {"UPDATE run SET place = NULL WHERE first = 8", "a vertex without a place has no parent"},
    {"UPDATE run SET place = NULL, parent = NULL WHERE first = 8", "vertex 8 is in no containment and has children"},
    {"UPDATE run SET step = 9223372036854775807 WHERE first = 3", "the ids grow too large"},
    {"UPDATE run SET rank = 4294967295 WHERE first = 3", "a rank is out of range"},
    {"UPDATE run SET kind = NULL WHERE first = 2", "is not there"},
    {"INSERT INTO name VALUES (99, 'x')", "table name, vertex 99: \"vertex\" has an invalid value"},
    {"UPDATE meta SET value = 'ffff' WHERE key = 'uuid'", "table meta, key uuid: \"value\" has an invalid value"},
    {"INSERT OR REPLACE INTO meta VALUES ('word_down', x'00')",
     "table meta, key word_down: \"value\" has an invalid value"},
    {"UPDATE name SET name = 'a/b'", "table name, vertex 14: a name must not have"},
    {"UPDATE uuid SET uuid = 'x'", "table uuid, vertex 14: 'x' is not a UUID"},
    {"INSERT INTO uuid SELECT 2, uuid FROM uuid", "another pool has the UUID"},
    {"UPDATE state SET state = 'sleepy'", "table state, vertex 14: there is no state 'sleepy'"},
    {"UPDATE property SET key = ''", "table property, vertex 2: a key must not be empty"},
    {"UPDATE data SET value = x'05'", "table data, vertex 2: \"value\" has an invalid value"},
    {"UPDATE subsystem SET name = ''", "table subsystem, place 1: \"name\" has an invalid value"},
    {"UPDATE edge SET source = 99", "table edge, edge 1: \"source\" has an invalid value"},
    {"UPDATE edge SET subsystem = 'containment'", "table edge, edge 1: containment is made by"},
    {"UPDATE edge SET edge = -4", "table edge, edge -4: \"edge\" has an invalid value"},
    {"UPDATE job SET ends = 0 WHERE job = 3", "table job, job 3: it ends at 0, not after its start at 0"},
    {"UPDATE job SET job = 0 WHERE job = 3", "table job, job 0: \"job\" has an invalid value"},
    {"UPDATE job SET starts = 'soon' WHERE job = 3", "table job, job 3: \"starts\" has an invalid value"},
    {"UPDATE job SET slots = 0 WHERE job = 3", "table job, job 3: \"slots\" has an invalid value"},
    {"UPDATE job SET policy = x'41' WHERE job = 3", "table job, job 3: \"policy\" has an invalid value"},
    {"DELETE FROM job WHERE job = 3", "table pick, job 3: \"job\" has an invalid value"},
    {"UPDATE pick SET amount = 9 WHERE job = 5", "jobs have more of it"},
    {"UPDATE pick SET amount = -1 WHERE job = 5", "table pick, job 5: \"amount\" has an invalid value"},
    {"UPDATE pick SET whole = 7 WHERE job = 5", "table pick, job 5: \"whole\" has an invalid value"},
    {"UPDATE pick SET amount = 3, whole = 1 WHERE job = 5", "are not the whole of it"},
    {"UPDATE job SET starts = 39 WHERE job = 6", "vertex 13 (/cluster0/rack0/node1/memory0): jobs have more of it"},
    {"UPDATE pick SET amount = 8, whole = 1 WHERE job = 5; UPDATE pick SET amount = 0 WHERE job = 6; "
     "UPDATE job SET starts = 1 WHERE job = 6",
     "a job has it as a whole, and another one"},
    {"INSERT INTO pick SELECT job, 1, vertex, resource, 1, 0 FROM pick WHERE job = 5", "a job has it twice"},
    {"INSERT INTO pick VALUES (5, 1, 4, 0, 1, 1)", "while one has all that is above it"},
    {"UPDATE run SET place = NULL, parent = NULL WHERE first = 13",
     "a job has something of it, but it is out of containment"},
    {"INSERT INTO feed VALUES (3, 0, 2, 14, 1)", "table feed, job 3: the job has nothing of vertex 14"},
    {"INSERT INTO feed VALUES (4, 0, 2, 14, 1)", "table feed, job 4: \"job\" has an invalid value"},
};

static void bad_rows(void)
{
    weir_graph *g = machine();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_graph *back = NULL;
        weir_err err = {0};
        int rc;

        stores_clear();
        save(g, 0);
        by_hand(cases[i].sql);
        rc = weir_graph_load(file, NULL, &back, &err);
        CHECK(rc == WEIR_EPARSE || rc == WEIR_ELIMIT, "%s: %s", cases[i].sql, weir_status_name(rc));
        CHECK(back == NULL && strstr(err.text, cases[i].text), "%s: \"%s\"", cases[i].sql, err.text);
        CHECK(strcmp(err.source, file) == 0, "%s: the error names the file", cases[i].sql);
        weir_graph_free(back);
    }
    weir_graph_free(g);
    stores_clear();
}

/* Definitions of tables whose comments and white space are not those of this weir are the same tables. */
static void other_comments(void)
{
    static const char *const changes[] = {
        "replace(sql, '-- vertices', '-- vertices, which is to say')",
        "replace(sql, char(10), char(13) || char(10) || '   ')",
        "replace(sql, ' -- ', '    --')",
        "replace(sql, 'CREATE TABLE ', 'CREATE TABLE -- of weir' || char(10))",
    };
    weir_graph *g = machine(), *back;
    char sql[300];

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        save(g, 0);
        snprintf(sql, sizeof sql, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = %s WHERE type = 'table'",
                 changes[i]);
        by_hand(sql);
        back = load();
        same(g, back, true, changes[i]);
        weir_graph_free(back);
        stores_clear();
    }
    weir_graph_free(g);
}

/* Additions of further programs to a file: triggers do not run, tables and indices stay. */
static void additions(void)
{
    weir_graph *g = machine(), *back;

    save(g, 0);
    by_hand("CREATE TABLE note (vertex, text); CREATE INDEX pick_vertex ON pick (vertex);"
            "CREATE TRIGGER t AFTER INSERT ON job BEGIN DELETE FROM pick; END; DROP VIEW node_free");
    back = load();
    same(g, back, true, "with a table, an index and a trigger of others");
    CHECK(weir_release(back, 5, NULL) == WEIR_OK, "job 5 ends");
    save(back, WEIR_SAVE_CHANGED);
    save(back, 0);
    CHECK(ask("SELECT count(*) FROM pick") == 2, "triggers of others are not run");
    CHECK(ask("SELECT count(*) FROM note") == 0, "and what they added is left alone");
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

/* A foreign index with a computed value of 900 MB for the next job. */
static void costly_index(void)
{
    weir_graph *g = machine();
    weir_err err = {0};

    save(g, 0);
    by_hand("CREATE INDEX costly ON job (CASE WHEN job > 6 THEN zeroblob(900000000) END)");
    CHECK(weir_vertex_allocate(g, 9, 7, 1, 0, 50, NULL) == WEIR_OK, "job 7");
    CHECK(weir_graph_save(g, file, NULL, WEIR_SAVE_CHANGED, &err) == WEIR_ELIMIT, "%s", err.text);
    CHECK(ask("SELECT count(*) FROM job") == 3, "the file is as it was");
    by_hand("DROP INDEX costly");
    save(g, WEIR_SAVE_CHANGED);
    CHECK(ask("SELECT count(*) FROM job") == 4, "and takes what changed without it");
    weir_graph_free(g);
    stores_clear();
}

static char *contents(size_t *len)
{
    char *bytes = NULL;

    CHECK(weir_file_read(file, "a database", WEIR_MACHINE_MAX, &bytes, len, NULL) == WEIR_OK, "the file is read");
    return bytes;
}

static void try_bytes(const char *bytes, size_t len, const char *what, size_t where)
{
    weir_graph *g = NULL;
    weir_err err = {0};
    int rc = weir_graph_parse(bytes, len, "bytes", "sqlite", &g, &err);

    if (rc == WEIR_OK)
        CHECK(weir_check(g, &err) == WEIR_OK, "%s at %zu: %s", what, where, err.text);
    else
        CHECK(!g && err.text[0] && rc != WEIR_ENOMEM, "%s at %zu: %s %s", what, where, weir_status_name(rc), err.text);
    weir_graph_free(g);
}

static void damage(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    int flips = (int)(4000 * (scale ? atof(scale) : 1));
    weir_graph *g = machine();
    size_t len;
    char *bytes;

    save(g, 0);
    bytes = contents(&len);
    for (size_t n = 0; n < len; n += n < 200 ? 7 : 509)
        try_bytes(bytes, n, "cut", n);
    seed = 7;
    for (int i = 0; i < flips; i++) {
        size_t where = dice(4) ? dice((uint32_t)len) : dice(100);
        char had = bytes[where];
        bytes[where] = (char)dice(256);
        try_bytes(bytes, len, "flipped", where);
        bytes[where] = had;
    }
    try_bytes(bytes, len, "whole", 0);
    weir_mem_free(bytes);
    weir_graph_free(g);
    stores_clear();
}

/* Files left untouched by a save. */
static void refused(void)
{
    static const struct {
        const char *sql;
        int64_t want;
        const char *text;
    } files[] = {{"CREATE TABLE a (x); INSERT INTO a VALUES (5)", 5, "an SQLite database of something else"},
                 {"CREATE TABLE a (x); INSERT INTO a VALUES (5); PRAGMA application_id = 1464158546; "
                  "PRAGMA user_version = 9",
                  5, "has schema 9"}};
    weir_graph *g = machine();

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        weir_err err = {0};
        by_hand(files[i].sql);
        CHECK(weir_graph_save(g, file, NULL, 0, &err) == WEIR_EEXIST, "%s", files[i].sql);
        CHECK(strstr(err.text, files[i].text) && ask("SELECT x FROM a") == files[i].want, "%s", err.text);
        stores_clear();
    }
    weir_graph_free(g);
}

static void refused_text(void)
{
    weir_graph *g = machine();
    weir_err err = {0};
    FILE *f = fopen(file, "w");
    size_t len;
    char *bytes;

    CHECK(f &&
              fputs("precious text, longer than the header of a database ........................................",
                    f) >= 0 &&
              fclose(f) == 0,
          "a text file");
    CHECK(weir_graph_save(g, file, NULL, 0, &err) == WEIR_EEXIST && strstr(err.text, "another kind"), "%s", err.text);
    bytes = contents(&len);
    CHECK(strncmp(bytes, "precious", 8) == 0, "it is left as it was");
    weir_mem_free(bytes);
    weir_graph_free(g);
    stores_clear();
}

int main(void)
{
    stores_begin();
    bad_rows();
    other_comments();
    additions();
    costly_index();
    damage();
    refused();
    refused_text();
    stores_end();
    return check_report();
}
