/* base.h - what every other file of the core stands on: memory, errors, growing
 * arrays.
 *
 * Invariant: all memory of the core comes from weir_mem_realloc(), so that a
 * test can make the n-th allocation fail. No function here aborts; each that can
 * fail returns NULL or a negative weir_status.
 */
#ifndef WEIR_BASE_H
#define WEIR_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weir.h"

#define WEIR_CHECKED __attribute__((warn_unused_result))
#define WEIR_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* vsnprintf() with a decimal point in every locale; number.c. */
int weir_vtext(char *buf, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* Memory. weir_mem_free(NULL) is fine. */
void *weir_mem_realloc(void *p, size_t size) WEIR_CHECKED;
void *weir_mem_alloc(size_t size) WEIR_CHECKED;                 /* not cleared */
void *weir_mem_zalloc(size_t count, size_t size) WEIR_CHECKED;  /* cleared, overflow-checked */
char *weir_mem_strdup(const char *s) WEIR_CHECKED;
char *weir_mem_strndup(const char *s, size_t n) WEIR_CHECKED;
void weir_mem_free(void *p);

/* Makes the n-th allocation from now on fail, once (1 = the next); 0 = never. */
void weir_mem_fail_after(long n);

/* Makes room for `need` elements of `size` bytes in *array, whose capacity is *cap.
 * Doubles; amortised O(1) an element. On failure nothing has changed. */
int weir_array_grow(void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;
WEIR_CHECKED static inline int weir_array_reserve(void *array, uint32_t *cap, size_t need, size_t size)
{
    return need <= *cap ? WEIR_OK : weir_array_grow(array, cap, need, size);
}
/* The same for what gets all of its elements at once: no room is left. */
int weir_array_exact(void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;
/* Gives back the room behind the first `used` elements where it is large, and an eighth of them or more. */
void weir_array_fit(void *array, uint32_t *cap, uint32_t used, size_t size);

/* Arrays that live for a moment, while something is read: weir_scratch_grow() is weir_array_grow(), but where they are large
 * they have pages of their own. They grow without a copy, and go back to the system with weir_scratch_free(), whatever was
 * allocated behind them meanwhile. Only the pages that are written to count. */
int weir_scratch_grow(void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;
void weir_scratch_free(void *array, uint32_t *cap, size_t size); /* sets both to 0 */

/* Errors: fill *err (NULL allowed) and return `code`, so that a caller can write
 * `return weir_fail(err, WEIR_EINVAL, "...")`. The first writer wins: an err that
 * is already filled keeps its text; its return value is still `code`. */
int weir_fail(weir_err *err, int code, const char *fmt, ...) WEIR_PRINTF(3, 4);
int weir_fail_at(weir_err *err, int code, const char *source, int line, int column, const char *fmt, ...)
    WEIR_PRINTF(6, 7);
int weir_fail_nomem(weir_err *err);

/* Names the source (a file, or "<string>") of an error that has none yet. */
void weir_err_source(weir_err *err, const char *source);

/* A growing byte string for writers. Errors stick: check `failed` once, at the end. */
typedef struct weir_buf {
    char *data;     /* NUL-terminated once anything was added */
    size_t len;
    size_t cap;
    bool failed;    /* an allocation failed; later additions do nothing */
} weir_buf;

void weir_buf_add(weir_buf *b, const char *s, size_t n);
void weir_buf_puts(weir_buf *b, const char *s);
void weir_buf_printf(weir_buf *b, const char *fmt, ...) WEIR_PRINTF(2, 3);
void weir_buf_free(weir_buf *b);
/* Room for n more bytes, and where they go; NULL: there is none. weir_buf_end() tells how far it was filled. */
char *weir_buf_space(weir_buf *b, size_t n) WEIR_CHECKED;
static inline void weir_buf_end(weir_buf *b, char *end)
{
    *end = '\0';
    b->len = (size_t)(end - b->data);
}

/* weir_file_read() by steps: opens a file, to be closed with weir_file_close(); adds what is left of it to a buffer, which then
 * has at most `max` bytes. `path` names it in errors, `what` says what it should be. */
int weir_file_open(const char *path, FILE **out, weir_err *err) WEIR_CHECKED;
int weir_file_rest(FILE *f, const char *path, const char *what, size_t max, weir_buf *b, weir_err *err) WEIR_CHECKED;
/* Reads up to `size` bytes; *n is 0 at the end. */
int weir_file_block(FILE *f, const char *path, char *block, size_t size, size_t *n, weir_err *err) WEIR_CHECKED;
void weir_file_close(FILE *f);

#endif
