/* stores.h - helpers of the tests of the database: a private file, saving and loading with checks, SQL by hand. */
#ifndef STORES_H
#define STORES_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "copies.h"

static char dir[64], file[80];

/* Puts the file in memory (/dev/shm) where possible, as a save waits for the disk. */
static inline void stores_begin(void)
{
    struct stat st;
    snprintf(dir, sizeof dir, "%s/weir-store-XXXXXX", stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(dir) != NULL, "a directory");
    snprintf(file, sizeof file, "%s/m.db", dir);
}

static inline bool there(const char *suffix)
{
    char path[100];
    struct stat st;

    snprintf(path, sizeof path, "%s%s", file, suffix);
    return stat(path, &st) == 0;
}

static inline void stores_clear(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", ".new"};
    char path[100];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s%s", file, suffixes[i]);
        remove(path);
    }
}

static inline void stores_end(void)
{
    stores_clear();
    CHECK(remove(dir) == 0, "no file is left behind");
}

static inline bool save(weir_graph *g, unsigned flags)
{
    weir_err err = {0};
    return CHECK(weir_graph_save(g, file, "sqlite", flags, &err) == WEIR_OK, "%s", err.text);
}

static inline weir_graph *load(void)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_load(file, NULL, &g, &err) == WEIR_OK && g, "%s", err.text);
    return g;
}

/* Runs SQL on the file, as somebody would by hand. */
static inline void by_hand(const char *sql)
{
    sqlite3 *db;
    char *why = NULL;

    CHECK(sqlite3_open(file, &db) == SQLITE_OK, "%s", sql);
    sqlite3_exec(db, sql, NULL, NULL, &why);
    CHECK(why == NULL, "%s: %s", sql, why ? why : "");
    sqlite3_free(why);
    sqlite3_close(db);
}

/* The first value that a query gives, or -1. `more`: a second database, attached as "whole", or NULL. */
static inline int64_t ask_with(const char *more, const char *sql)
{
    sqlite3_stmt *s = NULL;
    sqlite3 *db;
    char attach[200];
    int64_t n = -1;

    CHECK(sqlite3_open(file, &db) == SQLITE_OK, "%s", sql);
    snprintf(attach, sizeof attach, "ATTACH '%s' AS whole", more ? more : "");
    CHECK(!more || sqlite3_exec(db, attach, NULL, NULL, NULL) == SQLITE_OK, "%s", attach);
    CHECK(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(s) == SQLITE_ROW)
        n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

static inline int64_t ask(const char *sql)
{
    return ask_with(NULL, sql);
}

#endif
