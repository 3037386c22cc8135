/* json_read.c - JSON as a sequence of events, by YAJL. See json_read.h.
 *
 * YAJL gets slice by slice of the text, and its callbacks fill a queue of events, which is empty when the next slice
 * begins. YAJL does not check the results of its allocator. So a failed allocation leaves YAJL by a longjmp, past no
 * functions but those of YAJL.
 *
 * Main invariant: all memory of YAJL is in the list `blocks`, and freed from there.
 */
#include "format/json_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yajl/yajl_parse.h>

#include "format/input.h"

#define SLICE     16384
#define SLICE_MAX WEIR_JSON_TEXT_MAX
#define VALUE_MAX                                                                                                      \
    (1 << 28) /* bytes of a value to become a tree of jansson, which takes several times as much memory                \
               */

struct json_event {
    uint32_t end; /* offset in the slice, past the event */
    uint32_t text, len;
    uint8_t type;
};

/* Header of each block of YAJL's memory. */
union block {
    struct {
        union block *prev, *next;
    } in;
    max_align_t align;
};

struct weir_json {
    struct weir_input in;
    const char *source;
    weir_err *err, why; /* why: the error behind the events in the queue */
    int rc;
    bool done;
    yajl_handle yajl;
    union block *blocks;
    jmp_buf leave;
    struct json_event *events;
    uint32_t nevents, cap, at; /* at: the event after the current one */
    weir_buf texts;            /* texts of the events, each with a NUL */
    const char *slice;
    size_t slice_len, wanted; /* bytes needed of the next slice */
    uint64_t total, before;   /* total: bytes of the whole text, 0: not known; before: bytes before the slice */
    int line;                 /* number of the line with the start of the slice, from 0 on */
    size_t column;            /* bytes of that line before the slice */
    uint32_t depth;
    weir_buf *raw; /* receives captured text */
    size_t raw_from;
    char *slices; /* memory for slices of a file */
    uint32_t slices_cap;
};

/* ---- YAJL's memory -------------------------------------------------------------------------------------------- */

static void *leave(weir_json *j, int code)
{
    j->rc = code == WEIR_ENOMEM ? weir_fail_nomem(&j->why)
                                : weir_fail_at(&j->why, code, j->source, j->line + 1, (int)j->column + 1,
                                               "JSON: a text of more than %d bytes", WEIR_JSON_TEXT_MAX);
    longjmp(j->leave, 1);
}

static void *link_block(weir_json *j, union block *b)
{
    b->in.prev = NULL;
    b->in.next = j->blocks;
    if (j->blocks)
        j->blocks->in.prev = b;
    j->blocks = b;
    return b + 1;
}

static void unlink_block(weir_json *j, union block *b)
{
    *(b->in.prev ? &b->in.prev->in.next : &j->blocks) = b->in.next;
    if (b->in.next)
        b->in.next->in.prev = b->in.prev;
}

static void *take(void *data, size_t size)
{
    weir_json *j = data;
    union block *b = size > 2 * (size_t)WEIR_JSON_TEXT_MAX ? leave(j, WEIR_ELIMIT) : weir_mem_alloc(sizeof *b + size);

    return b ? link_block(j, b) : leave(j, WEIR_ENOMEM);
}

static void *take_more(void *data, void *p, size_t size)
{
    weir_json *j = data;
    union block *b = p, *grown;

    if (!p)
        return take(data, size);
    if (size > 2 * (size_t)WEIR_JSON_TEXT_MAX)
        return leave(j, WEIR_ELIMIT);
    unlink_block(j, --b);
    grown = weir_mem_realloc(b, sizeof *b + size);
    link_block(j, grown ? grown : b);
    return grown ? grown + 1 : leave(j, WEIR_ENOMEM);
}

static void give_back(void *data, void *p)
{
    if (!p)
        return;
    unlink_block(data, (union block *)p - 1);
    weir_mem_free((union block *)p - 1);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

/* Line and column of an offset in the slice. */
static void locate(const weir_json *j, size_t offset, int *line, int *column)
{
    const char *at = j->slice, *end = offset ? at + offset : at, *nl;
    size_t before = j->column;

    for (*line = j->line + 1; at < end && (nl = memchr(at, '\n', (size_t)(end - at))); at = nl + 1, before = 0)
        ++*line;
    before += (size_t)(end - at);
    *column = before < INT32_MAX ? (int)before : INT32_MAX;
}

/* Bytes of the slice that YAJL has read. At the end of the text YAJL adds a blank. */
static size_t consumed(const weir_json *j)
{
    size_t n = yajl_get_bytes_consumed(j->yajl);
    return n < j->slice_len ? n : j->slice_len;
}

/* Records an error, to be reported after the events in the queue. */
WEIR_PRINTF(3, 4) static int fail_here(weir_json *j, int code, const char *fmt, ...)
{
    char what[200];
    int line, column;
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(what, sizeof what, fmt, ap);
    va_end(ap);
    locate(j, consumed(j), &line, &column);
    j->rc = weir_fail_at(&j->why, code, j->source, line, column ? column : 1, "JSON: %s", what);
    return 0;
}

static int put(weir_json *j, int type, const char *text, size_t len)
{
    uint32_t at = (uint32_t)j->texts.len;

    if (len > WEIR_JSON_TEXT_MAX)
        return fail_here(j, WEIR_ELIMIT, "a text of more than %d bytes", WEIR_JSON_TEXT_MAX);
    if (text) {
        weir_buf_add(&j->texts, text, len);
        weir_buf_add(&j->texts, "", 1);
    }
    if (j->texts.failed || weir_array_reserve(&j->events, &j->cap, (size_t)j->nevents + 1, sizeof *j->events) < 0) {
        j->rc = weir_fail_nomem(&j->why);
        return 0;
    }
    j->events[j->nevents++] = (struct json_event){(uint32_t)consumed(j), at, (uint32_t)len, (uint8_t)type};
    return 1;
}

static int put_text(weir_json *j, int type, const char *text, size_t len)
{
    if (memchr(text, '\0', len))
        return fail_here(j, WEIR_EPARSE, "\\u0000 in a text, which no text here can have");
    if (!weir_text_utf8(text, len))
        return fail_here(j, WEIR_EPARSE, "a text that is not UTF-8");
    return put(j, type, text, len);
}

static int open_any(weir_json *j, int type)
{
    if (++j->depth > WEIR_JSON_DEPTH)
        return fail_here(j, WEIR_ELIMIT, "more than %d levels deep", WEIR_JSON_DEPTH);
    return put(j, type, NULL, 0);
}

static int close_any(weir_json *j, int type)
{
    j->depth--;
    return put(j, type, NULL, 0);
}

static int on_null(void *j)
{
    return put(j, WEIR_JSON_NULL, NULL, 0);
}

static int on_boolean(void *j, int value)
{
    return put(j, value ? WEIR_JSON_TRUE : WEIR_JSON_FALSE, NULL, 0);
}

static int on_number(void *j, const char *text, size_t len)
{
    bool real = memchr(text, '.', len) || memchr(text, 'e', len) || memchr(text, 'E', len);
    return put(j, real ? WEIR_JSON_REAL : WEIR_JSON_INTEGER, text, len);
}

static int on_string(void *j, const unsigned char *text, size_t len)
{
    return put_text(j, WEIR_JSON_STRING, (const char *)text, len);
}

static int on_key(void *j, const unsigned char *text, size_t len)
{
    return put_text(j, WEIR_JSON_KEY, (const char *)text, len);
}

static int on_object(void *j)
{
    return open_any(j, WEIR_JSON_OBJECT);
}

static int on_object_end(void *j)
{
    return close_any(j, WEIR_JSON_OBJECT_END);
}

static int on_array(void *j)
{
    return open_any(j, WEIR_JSON_ARRAY);
}

static int on_array_end(void *j)
{
    return close_any(j, WEIR_JSON_ARRAY_END);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* ---- slices --------------------------------------------------------------------------------------------------- */

/* The calls of YAJL that may allocate. */
enum step { START, FEED, FINISH, EXPLAIN };

static yajl_status run_yajl(weir_json *j, enum step step, const unsigned char **text)
{
    yajl_alloc_funcs memory = {take, take_more, give_back, j};

    if (setjmp(j->leave))
        return yajl_status_client_canceled;
    switch (step) {
    case START:
        j->yajl = yajl_alloc(&callbacks, &memory, j);
        /* Texts are checked in this file: YAJL accepts some sequences that only resemble UTF-8. */
        yajl_config(j->yajl, yajl_dont_validate_strings, 1);
        return yajl_status_ok;
    case FEED: return yajl_parse(j->yajl, (const unsigned char *)j->slice, j->slice_len);
    case FINISH: return yajl_complete_parse(j->yajl);
    default: *text = yajl_get_error(j->yajl, 0, NULL, 0); return yajl_status_ok;
    }
}

/* Records the error message of YAJL, such as "parse error: premature EOF\n". */
static void explain(weir_json *j)
{
    const unsigned char *text = NULL;

    if (run_yajl(j, EXPLAIN, &text) == yajl_status_ok)
        fail_here(j, WEIR_EPARSE, "%.*s", (int)strcspn((const char *)text, "\n"), (const char *)text);
}

static void count_lines(weir_json *j)
{
    const char *at = j->slice, *end = at + j->slice_len, *nl;

    for (; at < end && (nl = memchr(at, '\n', (size_t)(end - at))); at = nl + 1, j->column = 0)
        j->line++;
    j->column += (size_t)(end - at);
}

/* Chooses the length of the next slice. YAJL rescans a cut string from the beginning for every slice. So the next
 * slice is twice as large after a slice without the end of any value; otherwise a long string would cost the square
 * of its length. */
static void choose_length(weir_json *j)
{
    if (j->nevents > 0 || j->wanted == 0)
        j->wanted = SLICE;
    else if (j->wanted < SLICE_MAX)
        j->wanted *= 2;
}

/* Reads the next slice; slice_len is 0 at the end of the input. */
static int next_slice(weir_json *j)
{
    size_t n;

    if (j->slice_len > 0)
        count_lines(j);
    j->before += j->slice_len;
    choose_length(j);
    n = j->in.len < j->wanted ? j->in.len : j->wanted;
    j->slice = j->in.text;
    j->slice_len = n;
    j->in.text = n ? j->in.text + n : j->in.text;
    j->in.len -= n;
    if (n > 0 || !j->in.rest)
        return WEIR_OK;
    if (weir_array_reserve(&j->slices, &j->slices_cap, j->wanted, 1) < 0)
        return weir_fail_nomem(&j->why);
    j->slice = j->slices;
    return weir_file_block(j->in.rest, j->source, j->slices, j->wanted, &j->slice_len, &j->why);
}

static void refill(weir_json *j)
{
    yajl_status status;

    if (j->raw) {
        weir_buf_add(j->raw, j->slice + j->raw_from, j->slice_len - j->raw_from);
        j->raw_from = 0;
    }
    j->rc = next_slice(j);
    if (j->rc == WEIR_OK && j->raw && j->raw->len > VALUE_MAX)
        j->rc = weir_fail_at(&j->why, WEIR_ELIMIT, j->source, j->line + 1, 0, "JSON: a value of more than %d MiB",
                             VALUE_MAX >> 20);
    j->at = j->nevents = 0;
    j->texts.len = 0;
    if (j->rc < 0)
        return;
    j->done = j->slice_len == 0;
    status = run_yajl(j, j->done ? FINISH : FEED, NULL);
    if (status != yajl_status_ok && j->rc == WEIR_OK)
        explain(j);
}

/* ---- the row of events ---------------------------------------------------------------------------------------- */

static uint64_t length_of(const struct weir_input *in)
{
    struct stat st;
    off_t at = 0;

    if (in->rest && (fstat(fileno(in->rest), &st) < 0 || !S_ISREG(st.st_mode) || (at = ftello(in->rest)) < 0))
        return 0;
    return in->len + (in->rest && st.st_size > at ? (uint64_t)(st.st_size - at) : 0);
}

weir_json *weir_json_open(const struct weir_input *in, const char *source, weir_err *err)
{
    weir_json *j = weir_mem_zalloc(1, sizeof *j);

    if (!j)
        return NULL;
    j->in = *in;
    j->total = length_of(in);
    j->source = source;
    j->err = err;
    if (run_yajl(j, START, NULL) == yajl_status_ok)
        return j;
    weir_json_close(j);
    return NULL;
}

void weir_json_close(weir_json *j)
{
    union block *next;

    if (!j)
        return;
    for (union block *b = j->blocks; b; b = next) {
        next = b->in.next;
        weir_mem_free(b);
    }
    WEIR_FREE(j->events, j->slices);
    weir_buf_free(&j->texts);
    weir_mem_free(j);
}

int weir_json_next(weir_json *j)
{
    while (j->at == j->nevents) {
        if (j->rc < 0 && j->err && j->err->code == WEIR_OK)
            *j->err = j->why;
        if (j->rc < 0)
            return j->rc;
        if (j->done)
            return WEIR_JSON_END;
        refill(j);
    }
    return j->events[j->at++].type;
}

const char *weir_json_text(const weir_json *j, size_t *len)
{
    const struct json_event *e = &j->events[j->at - 1];

    if (len)
        *len = e->len;
    return j->texts.data + e->text;
}

int weir_json_integer(const weir_json *j, int64_t *out)
{
    errno = 0;
    *out = strtoll(weir_json_text(j, NULL), NULL, 10);
    return errno == ERANGE ? WEIR_ELIMIT : WEIR_OK;
}

int weir_json_skip(weir_json *j, int type)
{
    uint32_t depth = type == WEIR_JSON_OBJECT || type == WEIR_JSON_ARRAY;

    while (type >= 0 && depth > 0) {
        type = weir_json_next(j);
        if (type == WEIR_JSON_OBJECT || type == WEIR_JSON_ARRAY)
            depth++;
        else if (type == WEIR_JSON_OBJECT_END || type == WEIR_JSON_ARRAY_END)
            depth--;
    }
    return type < 0 ? type : WEIR_OK;
}

void weir_json_record(weir_json *j, weir_buf *out)
{
    j->raw = out;
    j->raw_from = j->events[j->at - 1].end;
}

int weir_json_recorded(weir_json *j, size_t start)
{
    weir_buf *out = j->raw;
    size_t skipped;

    j->raw = NULL;
    weir_buf_add(out, j->slice + j->raw_from, j->events[j->at - 1].end - j->raw_from);
    if (out->failed)
        return weir_fail_nomem(j->err);
    skipped = strspn(out->data + start, " \t\r\n:"); /* blanks and the colon between key and value */
    out->len -= skipped;
    memmove(out->data + start, out->data + start + skipped, out->len - start + 1);
    return WEIR_OK;
}

int weir_json_capture(weir_json *j, weir_buf *out)
{
    size_t start = out->len;
    int type, rc;

    weir_json_record(j, out);
    type = weir_json_next(j);
    rc = weir_json_skip(j, type);
    rc = rc ? rc : weir_json_recorded(j, start);
    return rc < 0 ? rc : type;
}

void weir_json_compact(weir_buf *b)
{
    bool inside = false; /* a string */
    size_t n = 0;

    for (size_t i = 0; i < b->len; i++) {
        char c = b->data[i];
        if (inside && c == '\\')
            b->data[n++] = b->data[i++];
        else if (c == '"')
            inside = !inside;
        else if (!inside && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
            continue;
        b->data[n++] = b->data[i];
    }
    b->len = n;
    b->data[n] = '\0';
}

uint64_t weir_json_offset(const weir_json *j)
{
    return j->before + (j->at > 0 ? j->events[j->at - 1].end : 0);
}

uint64_t weir_json_expect(const weir_json *j, uint64_t n)
{
    uint64_t seen = weir_json_offset(j);
    double all = seen > 0 ? (double)n * (double)j->total / (double)seen : 0;

    return all < (double)UINT32_MAX ? (uint64_t)all : UINT32_MAX;
}

const char *weir_json_type_name(int type)
{
    static const char *const names[] = {"nothing",       "null",     "a boolean", "a boolean", "an integer",
                                        "a real number", "a string", "an object", "an array"};
    return type > WEIR_JSON_END && type <= WEIR_JSON_ARRAY ? names[type] : names[WEIR_JSON_END];
}

int weir_json_valid(const char *text, size_t len, uint32_t depth)
{
    const struct weir_input in = {.text = text, .len = len};
    weir_json *j = weir_json_open(&in, NULL, NULL);
    int type = j ? WEIR_JSON_NULL : WEIR_ENOMEM;

    if (j)
        j->depth = depth;
    while (type > WEIR_JSON_END)
        type = weir_json_next(j);
    weir_json_close(j);
    return type == WEIR_ENOMEM ? type : type == WEIR_JSON_END;
}
