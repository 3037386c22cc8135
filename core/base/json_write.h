/* json_write.h - JSON text: strings, integers, values of jansson. Writers test `failed` of the buffer once, at the end.
 */
#ifndef WEIR_JSON_WRITE_H
#define WEIR_JSON_WRITE_H

#include "base/base.h"

#include <jansson.h>

#define WEIR_WRITE(b, literal) weir_buf_add((b), "" literal, sizeof(literal) - 1)

/* Adds a number. */
void weir_write_int(weir_buf *b, int64_t n);
/* Adds a text as the inside of a JSON string; bytes that are no UTF-8 become U+FFFD. */
void weir_write_escaped(weir_buf *b, const char *s, size_t n);
void weir_write_string(weir_buf *b, const char *s);
/* Adds a value, without white space, by ascending keys if `sorted`; numbers are as short as they can be to be read back
 * equal (jansson writes all 17 digits: 0.10000000000000001). O(length), O(n log n) for n sorted keys */
void weir_json_write(const json_t *value, bool sorted, weir_buf *b);
/* Adds the members of an object by ascending keys, each after a comma. */
void weir_json_write_members(const json_t *object, weir_buf *b);

#endif
