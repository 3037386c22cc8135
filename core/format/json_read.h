/* json_read.h - JSON as a sequence of events, from a text or from a file. Private to the core.
 *
 * The text is read in slices, so memory grows with the longest string and not with the document. The text of an event
 * is valid until the next event. An error is reported after all events before it, with line and column.
 */
#ifndef WEIR_JSON_READ_H
#define WEIR_JSON_READ_H

#include "base/base.h"

#define WEIR_JSON_DEPTH    4096      /* arrays and objects in each other */
#define WEIR_JSON_TEXT_MAX (1 << 24) /* bytes of a string, key or number */

/* A text: `len` bytes, then the rest of a file unless `rest` is NULL. `option` is the part behind the colon of the
 * format's name. */
struct weir_input {
    const char *text;
    size_t len;
    FILE *rest;
    const char *option;
};

enum weir_json_type {
    WEIR_JSON_END, /* end of the text */
    WEIR_JSON_NULL,
    WEIR_JSON_FALSE,
    WEIR_JSON_TRUE,
    WEIR_JSON_INTEGER,
    WEIR_JSON_REAL,
    WEIR_JSON_STRING,
    WEIR_JSON_OBJECT,
    WEIR_JSON_ARRAY,
    WEIR_JSON_KEY,
    WEIR_JSON_OBJECT_END,
    WEIR_JSON_ARRAY_END
};

typedef struct weir_json weir_json;

/* Opens a text; NULL: out of memory. The input, the source's name and err must stay valid until weir_json_close(). */
weir_json *weir_json_open(const struct weir_input *in, const char *source, weir_err *err);
void weir_json_close(weir_json *j);

/* Reads the next event. Returns an enum weir_json_type, or a negative status. */
int weir_json_next(weir_json *j) WEIR_CHECKED;
/* The text of a string or key, without any NUL inside, or of a number as written. */
const char *weir_json_text(const weir_json *j, size_t *len);
/* Sets *out to the value of an integer. WEIR_ELIMIT: the integer needs more than 64 bits. */
int weir_json_integer(const weir_json *j, int64_t *out) WEIR_CHECKED;
/* Skips the rest of a value with `type` as its first event; a negative `type` is returned as it is. */
int weir_json_skip(weir_json *j, int type) WEIR_CHECKED;
/* After a key: adds the source text of its value to a buffer. Returns the type of the first event of the value. */
int weir_json_capture(weir_json *j, weir_buf *out) WEIR_CHECKED;
/* weir_json_capture() in two steps, for a value that is read meanwhile: weir_json_record() after the key, and
 * weir_json_recorded() after the last event of the value, with the length of the buffer before. */
void weir_json_record(weir_json *j, weir_buf *out);
int weir_json_recorded(weir_json *j, size_t start) WEIR_CHECKED;
/* Removes the blanks between the tokens of a JSON text, which must have no syntax error. */
void weir_json_compact(weir_buf *b);

/* Bytes of the text up to the end of the current event. */
uint64_t weir_json_offset(const weir_json *j);
/* Expected total of elements, if n were read so far and the rest of the text is similar; 0: the length of the text is
 * not known. */
uint64_t weir_json_expect(const weir_json *j, uint64_t n);

/* Name of a type with its article: "an object", "a string", ... */
const char *weir_json_type_name(int type);
/* Whether a text is JSON that can be nested `depth` levels deep in a document; or WEIR_ENOMEM. */
int weir_json_valid(const char *text, size_t len, uint32_t depth) WEIR_CHECKED;

#endif
