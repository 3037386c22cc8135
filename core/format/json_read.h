/* json_read.h - JSON as a row of events, from a text or from a file. Private to the core.
 *
 * The text is read in slices, so memory grows with the longest string and not with the document. What an event says
 * lives until the next one. Errors are kept until the events before them are through; they have line and column.
 */
#ifndef WEIR_JSON_READ_H
#define WEIR_JSON_READ_H

#include "base/base.h"

#define WEIR_JSON_DEPTH    4096      /* arrays and objects in each other */
#define WEIR_JSON_TEXT_MAX (1 << 24) /* bytes of a string, key or number */

/* A text: `len` bytes, then the rest of a file unless `rest` is NULL. `option` stood behind the name of the format. */
struct weir_input {
    const char *text;
    size_t len;
    FILE *rest;
    const char *option;
};

enum weir_json_type {
    WEIR_JSON_END, /* of the text */
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

/* NULL: out of memory. The input, the source's name and err are used until the end. */
weir_json *weir_json_open(const struct weir_input *in, const char *source, weir_err *err);
void weir_json_close(weir_json *j);

/* The next event, an enum weir_json_type, or a status. */
int weir_json_next(weir_json *j) WEIR_CHECKED;
/* The text of a string or key, in which there is no NUL, or of a number as it is written. */
const char *weir_json_text(const weir_json *j, size_t *len);
/* The value of an integer. WEIR_ELIMIT: it has more than 64 bits. */
int weir_json_integer(const weir_json *j, int64_t *out) WEIR_CHECKED;
/* Goes to the end of the value whose first event was `type`; a status is handed back. */
int weir_json_skip(weir_json *j, int type) WEIR_CHECKED;
/* After a key: adds the text of its value to a buffer, as it stands there. Returns the type of its first event. */
int weir_json_capture(weir_json *j, weir_buf *out) WEIR_CHECKED;

/* How many there will be of what there were n of so far, if the rest of the text is like it; 0: its length is not known. */
uint64_t weir_json_expect(const weir_json *j, uint64_t n);

/* "an object", "a string", ... */
const char *weir_json_type_name(int type);
/* Whether a text is JSON that can stand `depth` levels deep in a document; or WEIR_ENOMEM. */
int weir_json_valid(const char *text, size_t len, uint32_t depth) WEIR_CHECKED;

#endif
