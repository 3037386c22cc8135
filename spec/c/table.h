/* table.h - rows of the JSON tables of the test data, for the C tests. Without jansson, or without the file,
 * table_open() prints one line and returns NULL, and the test continues with its own rows.
 */
#ifndef TABLE_H
#define TABLE_H

#include "check.h"

#if defined(__has_include)
#if __has_include(<jansson.h>)
#define TABLE_JSON 1
#include <jansson.h>
#endif
#endif

#ifdef TABLE_JSON
static inline json_t *table_open(const char *name)
{
    char path[4096];
    json_error_t error;
    json_t *file = json_load_file(check_data(name, path, sizeof path), 0, &error);

    if (!file)
        printf("skipped: the rows of %s (%s)\n", path, error.text);
    return file;
}

/* Row i of a table; NULL: no more. */
static inline const json_t *table_row(const json_t *file, const char *table, size_t i)
{
    return json_array_get(json_object_get(json_object_get(file, "tables"), table), i);
}

static inline const char *table_text(const json_t *row, size_t column)
{
    return json_string_value(json_array_get(row, column)); /* NULL for null */
}

static inline long table_number(const json_t *row, size_t column)
{
    return (long)json_integer_value(json_array_get(row, column));
}

/* A constant or an or of constants by name; "" for a number. */
static inline const char *table_expr(const json_t *row, size_t column)
{
    const char *text = json_string_value(json_object_get(json_array_get(row, column), "expr"));
    return text ? text : "";
}
#endif

#endif
