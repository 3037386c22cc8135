/* base.c - memory, arrays, errors, buffers, files, interruption. */
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_SLACK 4096  /* least number of bytes worth returning to the allocator */
#define PAGES_FROM  65536 /* least size of a scratch array with its own pages */

static long fail_countdown; /* 0: allocations succeed. For single-threaded tests only */

void weir_mem_fail_after(long n)
{
    fail_countdown = n;
}

static bool must_fail(void)
{
    return fail_countdown > 0 && --fail_countdown == 0;
}

void *weir_mem_realloc(void *p, size_t size)
{
    if (must_fail())
        return NULL;
    return realloc(p, size ? size : 1);
}

void *weir_mem_alloc(size_t size)
{
    return weir_mem_realloc(NULL, size);
}

void *weir_mem_zalloc(size_t count, size_t size)
{
    if (must_fail())
        return NULL;
    return calloc(count ? count : 1, size ? size : 1);
}

char *weir_mem_strndup(const char *s, size_t n)
{
    char *copy = weir_mem_alloc(n + 1);
    if (copy) {
        memcpy(copy, s, n);
        copy[n] = '\0';
    }
    return copy;
}

char *weir_mem_strdup(const char *s)
{
    return weir_mem_strndup(s, strlen(s));
}

void weir_mem_free(void *p)
{
    free(p);
}

/* Sets the capacity of an array to `want` elements. */
static int resize(void *array, uint32_t *cap, size_t want, size_t size)
{
    void **slot = array;
    void *moved;

    if (want > UINT32_MAX || want > SIZE_MAX / size)
        return WEIR_ENOMEM;
    memcpy(&moved, slot, sizeof moved);
    moved = weir_mem_realloc(moved, want * size);
    if (!moved)
        return WEIR_ENOMEM;
    memcpy(slot, &moved, sizeof moved);
    *cap = (uint32_t)want;
    return WEIR_OK;
}

/* The new capacity of an array for `need` elements: the old capacity, doubled as often as necessary. */
static size_t doubled(uint32_t cap, size_t need)
{
    size_t want = cap ? cap : 8;

    while (want < need)
        want *= 2;
    return want > UINT32_MAX ? UINT32_MAX : want;
}

int weir_array_grow(void *array, uint32_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return WEIR_OK;
    return need > UINT32_MAX ? WEIR_ENOMEM : resize(array, cap, doubled(*cap, need), size);
}

int weir_array_exact(void *array, uint32_t *cap, size_t need, size_t size)
{
    return need <= *cap ? WEIR_OK : resize(array, cap, need, size);
}

void weir_array_fit(void *array, uint32_t *cap, uint32_t used, size_t size)
{
    if (used == 0 || *cap - used < used / 8 || (*cap - used) * size < LARGE_SLACK)
        return;
    if (resize(array, cap, used, size) < 0)
        return; /* keeping the memory does no harm */
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t weir_array_unique(int64_t *list, uint32_t n)
{
    uint32_t kept = 0;

    if (n)
        qsort(list, n, sizeof *list, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || list[kept - 1] != list[i])
            list[kept++] = list[i];
    return kept;
}

/* Maps `size` bytes, or grows the mapping at p from `had` bytes if `had` is not 0. Returns NULL if out of memory. */
static void *grow_pages(void *p, size_t had, size_t size)
{
    void *moved = had ? mremap(p, had, size, MREMAP_MAYMOVE)
                      : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return moved == MAP_FAILED ? NULL : moved;
}

static int scratch_resize(void *array, uint32_t *cap, size_t want, size_t size)
{
    size_t had = *cap * size;
    void *old, *moved;

    memcpy(&old, array, sizeof old);
    if (must_fail())
        return WEIR_ENOMEM;
    moved = grow_pages(old, had < PAGES_FROM ? 0 : had, want * size);
    if (!moved)
        return WEIR_ENOMEM;
    if (had > 0 && had < PAGES_FROM)
        memcpy(moved, old, had);
    if (had < PAGES_FROM)
        weir_mem_free(old);
    memcpy(array, &moved, sizeof moved);
    *cap = (uint32_t)want;
    return WEIR_OK;
}

int weir_scratch_grow(void *array, uint32_t *cap, size_t need, size_t size)
{
    size_t want;

    if (need <= *cap)
        return WEIR_OK;
    if (need > UINT32_MAX)
        return WEIR_ENOMEM;
    want = doubled(*cap, need);
    return want * size < PAGES_FROM ? resize(array, cap, want, size) : scratch_resize(array, cap, want, size);
}

void weir_scratch_free(void *array, uint32_t *cap, size_t size)
{
    void *p, *none = NULL;

    memcpy(&p, array, sizeof p);
    if (*cap * size < PAGES_FROM)
        weir_mem_free(p);
    else
        munmap(p, *cap * size);
    memcpy(array, &none, sizeof none);
    *cap = 0;
}

static void err_fill(weir_err *err, int code, const char *fmt, va_list ap)
{
    err->code = code;
    weir_vtext(err->text, sizeof err->text, fmt, ap);
}

int weir_fail(weir_err *err, int code, const char *fmt, ...)
{
    if (err && err->code == WEIR_OK) {
        va_list ap;
        va_start(ap, fmt);
        err_fill(err, code, fmt, ap);
        va_end(ap);
    }
    return code;
}

int weir_fail_at(weir_err *err, int code, const char *source, int line, int column, const char *fmt, ...)
{
    if (err && err->code == WEIR_OK) {
        va_list ap;
        va_start(ap, fmt);
        err_fill(err, code, fmt, ap);
        va_end(ap);
        err->line = line;
        err->column = column;
        weir_err_source(err, source);
    }
    return code;
}

int weir_fail_nomem(weir_err *err)
{
    return weir_fail(err, WEIR_ENOMEM, "out of memory");
}

void weir_err_source(weir_err *err, const char *source)
{
    if (err && source && !err->source[0])
        snprintf(err->source, sizeof err->source, "%s", source);
}

void weir_err_clear(weir_err *err)
{
    if (err)
        memset(err, 0, sizeof *err);
}

size_t weir_err_format(const weir_err *err, char *buf, size_t size)
{
    int n;
    if (err->source[0] && err->line > 0 && err->column > 0)
        n = snprintf(buf, size, "%s:%d:%d: %s", err->source, err->line, err->column, err->text);
    else if (err->source[0] && err->line > 0)
        n = snprintf(buf, size, "%s:%d: %s", err->source, err->line, err->text);
    else if (err->source[0])
        n = snprintf(buf, size, "%s: %s", err->source, err->text);
    else
        n = snprintf(buf, size, "%s", err->text);
    return n < 0 ? 0 : (size_t)n;
}

const char *weir_status_name(int code)
{
    switch (code) {
    case WEIR_OK: return "ok";
    case WEIR_ENOMEM: return "nomem";
    case WEIR_EINVAL: return "invalid";
    case WEIR_EPARSE: return "parse";
    case WEIR_EIO: return "io";
    case WEIR_ENOENT: return "unknown";
    case WEIR_EEXIST: return "exists";
    case WEIR_EBUSY: return "busy";
    case WEIR_EINFEASIBLE: return "infeasible";
    case WEIR_EPOLICY: return "policy";
    case WEIR_ELIMIT: return "limit";
    case WEIR_EREJECTED: return "rejected";
    case WEIR_EINTERRUPTED: return "interrupted";
    case WEIR_EUNSURE: return "unsure";
    default: return "error";
    }
}

static bool buf_reserve(weir_buf *b, size_t more)
{
    size_t want = b->cap ? b->cap : 256;
    char *grown;

    if (b->failed)
        return false;
    if (b->len + more + 1 <= b->cap)
        return true;
    while (want < b->len + more + 1)
        want *= 2;
    grown = weir_mem_realloc(b->data, want);
    if (!grown) {
        b->failed = true;
        return false;
    }
    b->data = grown;
    b->cap = want;
    return true;
}

char *weir_buf_space(weir_buf *b, size_t n)
{
    return buf_reserve(b, n) ? b->data + b->len : NULL;
}

void weir_buf_add(weir_buf *b, const char *s, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    memcpy(b->data + b->len, s, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void weir_buf_puts(weir_buf *b, const char *s)
{
    weir_buf_add(b, s, strlen(s));
}

void weir_buf_printf(weir_buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = weir_vtext(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < sizeof small) {
        weir_buf_add(b, small, (size_t)n);
    } else if (buf_reserve(b, (size_t)n)) {
        va_start(ap, fmt);
        weir_vtext(b->data + b->len, (size_t)n + 1, fmt, ap);
        va_end(ap);
        b->len += (size_t)n;
    }
}

void weir_buf_free(weir_buf *b)
{
    weir_mem_free(b->data);
    memset(b, 0, sizeof *b);
}

char *weir_buf_result(weir_buf *b, int rc, weir_err *err)
{
    if (rc == WEIR_OK && b->failed)
        rc = weir_fail_nomem(err);
    if (rc != WEIR_OK)
        weir_buf_free(b);
    return b->data;
}

/* The name of a file in errors. */
static const char *file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

void weir_file_close(FILE *f)
{
    if (f && f != stdin)
        fclose(f);
}

/* Whether f is a device without end, such as /dev/zero. Terminals have an end, and reading /dev/null is at the end
 * at once. */
static bool is_endless(FILE *f, const struct stat *st)
{
    return S_ISCHR(st->st_mode) && !isatty(fileno(f)) && fgetc(f) != EOF;
}

int weir_file_open(const char *path, FILE **out, weir_err *err)
{
    const char *what = NULL;
    struct stat st;
    FILE *f;
    bool known;

    if (weir_interrupted()) /* a pipe without a writer would block */
        return weir_fail_at(err, WEIR_EINTERRUPTED, file_name(path), 0, 0, "interrupted");
    f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!f)
        return weir_fail_at(err, WEIR_EIO, path, 0, 0, "cannot open: %s", strerror(errno));
    known = fstat(fileno(f), &st) == 0;
    if (known && S_ISDIR(st.st_mode))
        what = "is a directory, expected a file";
    else if (known && is_endless(f, &st))
        what = "is a device that has no end, expected a file";
    if (what) {
        weir_file_close(f);
        return weir_fail_at(err, WEIR_EIO, file_name(path), 0, 0, "%s", what);
    }
    *out = f;
    return WEIR_OK;
}

int weir_file_block(FILE *f, const char *path, char *block, size_t size, size_t *n, weir_err *err)
{
    /* A signal before the call is not going to wake a read that waits for a pipe or a terminal. */
    *n = weir_interrupted() ? 0 : fread(block, 1, size, f);
    if (weir_interrupted())
        return weir_fail_at(err, WEIR_EINTERRUPTED, file_name(path), 0, 0, "interrupted");
    if (ferror(f))
        return weir_fail_at(err, WEIR_EIO, file_name(path), 0, 0, "cannot read: %s", strerror(errno));
    return WEIR_OK;
}

static int fail_long(const char *path, const char *what, size_t max, weir_err *err)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t n = max, unit = 0;

    for (; unit < 3 && n > 0 && n % 1024 == 0; unit++)
        n /= 1024;
    return weir_fail_at(err, WEIR_ELIMIT, file_name(path), 0, 0, "is longer than %zu %s, the most that %s may have", n,
                        units[unit], what);
}

/* Whether a regular file is longer than `max` bytes, without reading the file. */
static bool is_long(FILE *f, size_t max)
{
    struct stat st;

    return fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && (uintmax_t)st.st_size > max;
}

int weir_file_rest(FILE *f, const char *path, const char *what, size_t max, weir_buf *b, weir_err *err)
{
    char block[65536];
    size_t n = 0;
    int rc = is_long(f, max) ? fail_long(path, what, max, err) : WEIR_OK;

    while (rc == WEIR_OK && (rc = weir_file_block(f, path, block, sizeof block, &n, err)) == WEIR_OK && n > 0 &&
           !b->failed) {
        weir_buf_add(b, block, n);
        if (b->len > max)
            rc = fail_long(path, what, max, err);
    }
    weir_buf_add(b, "", 0);
    return rc == WEIR_OK && b->failed ? weir_fail_nomem(err) : rc;
}

int weir_file_read(const char *path, const char *what, size_t max, char **text, size_t *len, weir_err *err)
{
    weir_buf b = {0};
    FILE *f = NULL;
    int rc = weir_file_open(path, &f, err);

    if (rc < 0)
        return rc;
    rc = weir_file_rest(f, path, what, max, &b, err);
    weir_file_close(f);
    if (rc < 0) {
        weir_buf_free(&b);
        return rc;
    }
    *text = b.data;
    *len = b.len;
    return WEIR_OK;
}

/* ---- interruption ---- */

/* Set by signal handlers and by threads, read by any thread. */
static atomic_int interruption;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets the flag");

void weir_interrupt(bool on)
{
    atomic_store_explicit(&interruption, on, memory_order_relaxed);
}

bool weir_interrupted(void)
{
    return atomic_load_explicit(&interruption, memory_order_relaxed) != 0;
}

/* ---- limits ---- */

static uint32_t vertices_most = WEIR_VERTICES_DEFAULT;

uint32_t weir_vertices_limit(uint32_t most)
{
    uint32_t was = vertices_most;

    vertices_most = most ? most : was;
    return was;
}

static uint64_t flow_steps_most = WEIR_FLOW_STEPS_DEFAULT;

uint64_t weir_flow_steps(uint64_t most)
{
    uint64_t was = flow_steps_most;

    flow_steps_most = most ? most : was;
    return was;
}
