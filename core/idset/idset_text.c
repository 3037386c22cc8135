/* idset_text.c - reads and writes the text of idsets (RFC 22). The reader makes one pass from left to right. Since
 * ids must ascend, each range is appended to the set.
 */
#include "idset/idset_private.h"

struct idset_reader {
    const char *text;
    size_t len;
    size_t at; /* offset of the next character */
    weir_err *err;
};

static int peek(const struct idset_reader *r)
{
    return r->at < r->len ? (unsigned char)r->text[r->at] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Reports an error at offset `at`. `expected` is the end of the message. */
static int refuse(const struct idset_reader *r, size_t at, const char *expected)
{
    int column = at < INT32_MAX ? (int)at + 1 : INT32_MAX;
    int c = at < r->len ? (unsigned char)r->text[at] : -1;

    if (c < 0)
        return weir_fail_at(r->err, WEIR_EPARSE, NULL, 1, column, "idset: ends at column %d: %s", column, expected);
    if (c < ' ' || c > '~')
        return weir_fail_at(r->err, WEIR_EPARSE, NULL, 1, column, "idset: byte 0x%02x at column %d: %s", c, column,
                            expected);
    return weir_fail_at(r->err, WEIR_EPARSE, NULL, 1, column, "idset: '%c' at column %d: %s", c, column, expected);
}

static int read_id(struct idset_reader *r, uint32_t *id)
{
    size_t start = r->at;
    int column = start < INT32_MAX ? (int)start + 1 : INT32_MAX;
    uint64_t value = 0;

    if (!is_digit(peek(r)))
        return refuse(r, r->at, "expected an id (decimal digits)");
    for (; is_digit(peek(r)); r->at++) {
        value = value * 10 + (uint64_t)(peek(r) - '0');
        if (value > WEIR_IDSET_MAX)
            return weir_fail_at(r->err, WEIR_ELIMIT, NULL, 1, column, "idset: the id at column %d is above %lu", column,
                                (unsigned long)WEIR_IDSET_MAX);
        if (r->at == start + 1 && r->text[start] == '0')
            return refuse(r, start, "an id must not begin with a zero");
    }
    *id = (uint32_t)value;
    return WEIR_OK;
}

/* Reads "7" or "7-9" and appends the ids. */
static int read_range(struct idset_reader *r, weir_idset *s)
{
    size_t start = r->at;
    uint32_t lo = 0, hi;
    int rc = read_id(r, &lo);

    if (rc != WEIR_OK)
        return rc;
    hi = lo;
    if (peek(r) == '-') {
        size_t end = ++r->at;
        rc = read_id(r, &hi);
        if (rc != WEIR_OK)
            return rc;
        if (hi < lo)
            return refuse(r, end, "a range must not end below its start");
    }
    if (s->n && lo <= s->runs[s->n - 1].hi)
        return refuse(r, start, "ids must ascend and none may come twice");
    return weir_idset_add_range(s, lo, hi) == WEIR_OK ? WEIR_OK : weir_fail_nomem(r->err);
}

/* Reads ranges up to `close`, ']' or -1 for the end of the text. */
static int read_ranges(struct idset_reader *r, weir_idset *s, int close)
{
    int rc;

    if (peek(r) == close)
        return WEIR_OK;
    for (;;) {
        rc = read_range(r, s);
        if (rc != WEIR_OK || peek(r) == close)
            return rc;
        if (peek(r) != ',')
            return refuse(r, r->at, close == ']' ? "expected ',', '-' or ']'" : "expected ',', '-' or the end");
        r->at++;
    }
}

static int read_all(struct idset_reader *r, weir_idset *s)
{
    bool brackets = peek(r) == '[';
    int rc;

    r->at += brackets;
    rc = read_ranges(r, s, brackets ? ']' : -1);
    r->at += brackets;
    if (rc == WEIR_OK && r->at < r->len)
        return refuse(r, r->at, "nothing may follow the closing bracket");
    return rc;
}

int weir_idset_parse(const char *text, size_t len, weir_idset **out, weir_err *err)
{
    struct idset_reader r = {text, len, 0, err};
    weir_idset *s;
    int rc;

    if (!text)
        return weir_fail(err, WEIR_EINVAL, "idset: there is no text to read");
    s = weir_idset_new();
    if (!s)
        return weir_fail_nomem(err);
    rc = read_all(&r, s);
    if (rc != WEIR_OK) {
        weir_idset_free(s);
        return rc;
    }
    *out = s;
    return WEIR_OK;
}

static void write_id(weir_buf *b, uint32_t id)
{
    char digits[10];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + id % 10);
        id /= 10;
    } while (id > 0);
    weir_buf_add(b, digits + at, sizeof digits - at);
}

static void write_run(weir_buf *b, struct id_range r, bool as_range)
{
    write_id(b, r.lo);
    if (as_range && r.hi > r.lo) {
        weir_buf_add(b, "-", 1);
        write_id(b, r.hi);
        return;
    }
    for (uint32_t id = r.lo; id < r.hi && !b->failed;) {
        weir_buf_add(b, ",", 1);
        write_id(b, ++id);
    }
}

int weir_idset_write(const weir_idset *s, unsigned flags, weir_buf *b)
{
    bool brackets = (flags & WEIR_IDSET_BRACKETS) && weir_idset_count(s) > 1;

    if (!s || (flags & ~(WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS)))
        return WEIR_EINVAL;
    if (!(flags & WEIR_IDSET_RANGES) && s->count > WEIR_IDSET_LIST_IDS)
        return WEIR_ELIMIT;
    weir_buf_puts(b, brackets ? "[" : ""); /* also allocates the text of an empty set */
    for (uint32_t i = 0; i < s->n; i++) {
        if (i > 0)
            weir_buf_add(b, ",", 1);
        write_run(b, s->runs[i], flags & WEIR_IDSET_RANGES);
    }
    weir_buf_puts(b, brackets ? "]" : "");
    return b->failed ? WEIR_ENOMEM : WEIR_OK;
}

char *weir_idset_format(const weir_idset *s, unsigned flags, weir_err *err)
{
    weir_buf b = {0};
    int rc = weir_idset_write(s, flags, &b);

    if (rc == WEIR_OK)
        return b.data;
    weir_buf_free(&b);
    if (rc == WEIR_ENOMEM)
        weir_fail_nomem(err);
    else if (rc == WEIR_ELIMIT)
        weir_fail(err, rc, "idset: %llu ids cannot be written one by one, %lu is the most",
                  (unsigned long long)weir_idset_count(s), (unsigned long)WEIR_IDSET_LIST_IDS);
    else
        weir_fail(err, rc, s ? "idset: there is no such flag" : "idset: there is no set to write");
    return NULL;
}
