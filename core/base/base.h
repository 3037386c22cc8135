/* base.h - the foundation of all other files of the core: memory, growing arrays, errors, byte buffers, reading
 * files.
 *
 * Invariant: all memory of the core is allocated by functions of this header, so that a test can make the n-th
 * allocation fail. No function aborts; a function that can fail returns NULL or a negative weir_status, and then
 * nothing has changed.
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
/* For the few functions that a match calls for each candidate. */
#define WEIR_INLINE       static inline __attribute__((always_inline))
#define WEIR_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* vsnprintf() with a decimal point in every locale (number.c). */
int weir_vtext(char *buf, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* Change the size of a block, as realloc() does. Returns NULL if out of memory; then p is unchanged. A size of 0 gives
 * a block of 1 byte, here and below. */
void *weir_mem_realloc(void *p, size_t size) WEIR_CHECKED;
/* Allocate `size` bytes, not cleared. Returns NULL if out of memory; release with weir_mem_free(). */
void *weir_mem_alloc(size_t size) WEIR_CHECKED;
/* Allocate a cleared array. Returns NULL if out of memory or if the product overflows. */
void *weir_mem_zalloc(size_t count, size_t size) WEIR_CHECKED;
/* Copy a string. Returns NULL if out of memory. */
char *weir_mem_strdup(const char *s) WEIR_CHECKED;
/* Copy n bytes and append a NUL. Returns NULL if out of memory. */
char *weir_mem_strndup(const char *s, size_t n) WEIR_CHECKED;
/* Release a block; a no-op for NULL. */
void weir_mem_free(void *p);
/* Release blocks, each as weir_mem_free() does: WEIR_FREE(r->list, r->index). */
static inline void weir_mem_free_all(void *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        weir_mem_free(list[i]);
}
#define WEIR_FREE(...)                                                                                                 \
    weir_mem_free_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Make the n-th allocation from now on fail, once; 1 is the next allocation. 0: none fails. For tests. */
void weir_mem_fail_after(long n);

/* Grow *array to a capacity of at least `need` elements of `size` bytes; *cap is the capacity. Capacities double:
 * amortised O(1) for each element. Returns WEIR_OK, or WEIR_ENOMEM with nothing changed. */
int weir_array_grow(void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;
WEIR_CHECKED static inline int weir_array_reserve(void *array, uint32_t *cap, size_t need, size_t size)
{
    return need <= *cap ? WEIR_OK : weir_array_grow(array, cap, need, size);
}
/* Append a value to a list of n elements and a capacity. WEIR_OK, or WEIR_ENOMEM with nothing changed; the value is
 * evaluated where there is room. Amortised O(1) */
#define WEIR_ARRAY_ADD(list, n, cap, ...)                                                                              \
    (weir_array_reserve(&(list), &(cap), (size_t)(n) + 1, sizeof *(list)) < 0                                          \
         ? WEIR_ENOMEM                                                                                                 \
         : ((list)[(n)++] = (__VA_ARGS__), WEIR_OK))
/* Grow *array to a capacity of exactly `need` elements, for arrays whose final size is known. Errors as
 * weir_array_grow(). */
int weir_array_exact(void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;
/* Return the memory behind the first `used` elements to the allocator, if large and at least an eighth of `used`.
 * Never fails. */
void weir_array_fit(void *array, uint32_t *cap, uint32_t used, size_t size);

/* Sort n numbers, and drop repetitions. Returns how many numbers are left. O(n log n) */
uint32_t weir_array_unique(int64_t *list, uint32_t n);

/* Grow a short-lived array, as weir_array_grow() does. Large arrays get pages of their own, which grow without a
 * copy and return to the system when freed, regardless of later allocations. Pages never written to use no memory.
 * An array grown by weir_scratch_grow() must only be grown and freed by weir_scratch functions. */
int weir_scratch_grow(void *array, uint32_t *cap, size_t need, size_t size) WEIR_CHECKED;
/* Free an array grown by weir_scratch_grow(), and set *array to NULL and *cap to 0. */
void weir_scratch_free(void *array, uint32_t *cap, size_t size);

/* Fill *err and return `code`, so that a caller can write `return weir_fail(err, WEIR_EINVAL, "...")`. `err` may be
 * NULL. An err with a code keeps its text (the first error wins); the return value is still `code`. */
int weir_fail(weir_err *err, int code, const char *fmt, ...) WEIR_PRINTF(3, 4);
/* weir_fail() with the place of the error: source (NULL: unknown), line and column (0: unknown). */
int weir_fail_at(weir_err *err, int code, const char *source, int line, int column, const char *fmt, ...)
    WEIR_PRINTF(6, 7);
/* weir_fail() with WEIR_ENOMEM and the text "out of memory". */
int weir_fail_nomem(weir_err *err);

/* Set the source (a file name, or "<string>") of an error without a source. */
void weir_err_source(weir_err *err, const char *source);

/* A growing byte string. Failure is sticky: check `failed` once, after the last addition. Zero-initialise; free with
 * weir_buf_free(). */
typedef struct weir_buf {
    char *data; /* NUL-terminated after the first addition; NULL before */
    size_t len;
    size_t cap;
    bool failed; /* an allocation failed, and later additions do nothing */
} weir_buf;

/* Append n bytes. Amortised O(n) */
void weir_buf_add(weir_buf *b, const char *s, size_t n);
/* Append a string. */
void weir_buf_puts(weir_buf *b, const char *s);
/* Append formatted text, with a decimal point in every locale. */
void weir_buf_printf(weir_buf *b, const char *fmt, ...) WEIR_PRINTF(2, 3);
/* Free the bytes and zero the buffer. */
void weir_buf_free(weir_buf *b);
/* The text of a buffer, for the caller to free. Where rc is a failure, or the buffer failed (then err says so), the
 * buffer is freed, and NULL returned. */
char *weir_buf_result(weir_buf *b, int rc, weir_err *err) WEIR_CHECKED;
/* Reserve n bytes at the end of the buffer and return the place to write to; NULL if out of memory. Call
 * weir_buf_end() afterwards. */
char *weir_buf_space(weir_buf *b, size_t n) WEIR_CHECKED;
/* Set the end of the bytes written to the place from weir_buf_space(). */
static inline void weir_buf_end(weir_buf *b, char *end)
{
    *end = '\0';
    b->len = (size_t)(end - b->data);
}

/* Open a file to be read ("-": standard input). Directories and endless devices are refused with WEIR_EIO. */
int weir_file_open(const char *path, FILE **out, weir_err *err) WEIR_CHECKED;
/* Append the rest of a file to `b`. Fails with WEIR_ELIMIT if `b` would exceed `max` bytes. Errors name the file by
 * `path` and the expected content by `what`. */
int weir_file_rest(FILE *f, const char *path, const char *what, size_t max, weir_buf *b, weir_err *err) WEIR_CHECKED;
/* Read up to `size` bytes into `block`; *n is the number read, 0 at the end of the file. */
int weir_file_block(FILE *f, const char *path, char *block, size_t size, size_t *n, weir_err *err) WEIR_CHECKED;
/* Close a file from weir_file_open(); a no-op for NULL and standard input. */
void weir_file_close(FILE *f);

#endif
