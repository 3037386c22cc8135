/* hostlist_parse.c - reads hostlists (RFC 29) in one pass, appending names along the way. If the text is malformed,
 * the list is rolled back, so a failure changes nothing.
 *
 * Numbers in brackets keep the digits as written. Leading zeros of the first number apply to all numbers: [005,4] is
 * 005,004 (RFC 29).
 */
#include "hostlist/hostlist_private.h"

#include <string.h>

struct hostlist_reader {
    weir_hostlist *list;
    const char *text;
    size_t len;
    size_t at; /* offset of the next character */
    weir_err *err;
};

/* An expression prefix[ids]suffix, as in the text. */
struct expression {
    const char *prefix, *suffix;
    size_t prefix_len, suffix_len;
    size_t padding; /* number of digits of the first number, if written with leading zeros; else 0 */
};

struct parsed_range {
    uint64_t lo, hi;
    size_t width; /* fewest digits of the numbers */
};

static int peek(const struct hostlist_reader *r)
{
    return r->at < r->len ? (unsigned char)r->text[r->at] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int column_of(size_t at)
{
    return at < INT32_MAX ? (int)at + 1 : INT32_MAX;
}

/* Reports an error at offset `at`. `expected` is the end of the message. */
static int refuse(const struct hostlist_reader *r, size_t at, const char *expected)
{
    int column = column_of(at);
    int c = at < r->len ? (unsigned char)r->text[at] : -1;

    if (c < 0)
        return weir_fail_at(r->err, WEIR_EPARSE, NULL, 1, column, "hostlist: ends at column %d: %s", column, expected);
    if (c < ' ' || c > '~')
        return weir_fail_at(r->err, WEIR_EPARSE, NULL, 1, column, "hostlist: byte 0x%02x at column %d: %s", c, column,
                            expected);
    return weir_fail_at(r->err, WEIR_EPARSE, NULL, 1, column, "hostlist: '%c' at column %d: %s", c, column, expected);
}

static int exceeds(const struct hostlist_reader *r, size_t at, const char *what)
{
    return weir_fail_at(r->err, WEIR_ELIMIT, NULL, 1, column_of(at), "hostlist: at column %d: %s", column_of(at), what);
}

/* Reports the status of an operation on the list as an error at offset `at`. */
static int report(const struct hostlist_reader *r, size_t at, int rc)
{
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc == WEIR_ELIMIT)
        return exceeds(r, at, "the list gets more hosts than can be counted");
    return rc;
}

static uint32_t digits_of(uint64_t n)
{
    uint32_t digits = 1;

    while (n >= 10) {
        n /= 10;
        digits++;
    }
    return digits;
}

static uint64_t power_of_ten(uint32_t n)
{
    uint64_t power = 1;

    while (n-- > 0)
        power *= 10;
    return power;
}

/* Appends a single name with a suffix. A single name is split like any name without brackets. */
static int append_one(struct hostlist_reader *r, const struct expression *e, size_t prefix_len,
                      const struct host_range *run)
{
    char digits[WEIR_HOSTLIST_DIGITS];
    weir_buf b = {0};
    int rc = WEIR_ENOMEM;

    weir_name_number(digits, run->lo, run->digits);
    weir_buf_add(&b, e->prefix, prefix_len);
    weir_buf_add(&b, digits, run->digits);
    weir_buf_add(&b, e->suffix, e->suffix_len);
    if (!b.failed)
        rc = weir_hostlist_append_name(r->list, b.data, b.len, NULL);
    weir_buf_free(&b);
    return rc;
}

/* Appends prefix + number + suffix for lo to hi, all with `digits` digits. Digits at the end of the prefix become
 * part of the number. */
static int append_digits(struct hostlist_reader *r, const struct expression *e, uint64_t lo, uint64_t hi,
                         uint32_t digits)
{
    struct name prefix = weir_name_split(e->prefix, e->prefix_len);
    uint32_t take = WEIR_HOSTLIST_DIGITS - digits;
    uint64_t above;
    struct host_range run = {.suffix = WEIR_NO_NAME};

    if (take > prefix.digits)
        take = prefix.digits;
    above = prefix.number % power_of_ten(take) * power_of_ten(digits);
    run.lo = above + lo;
    run.hi = above + hi;
    run.digits = digits + take;
    if (e->suffix_len > 0 && lo == hi)
        return append_one(r, e, e->prefix_len - take, &run);
    if (hostlist_intern(&r->list->texts, e->prefix, e->prefix_len - take, &run.prefix) != WEIR_OK)
        return WEIR_ENOMEM;
    if (e->suffix_len > 0 && hostlist_intern(&r->list->texts, e->suffix, e->suffix_len, &run.suffix) != WEIR_OK)
        return WEIR_ENOMEM;
    return weir_hostlist_append_run(r->list, &run);
}

/* Appends a range with more digits than a number can have: the zeros in front become part of the prefix. */
static int append_wide(struct hostlist_reader *r, const struct expression *e, const struct parsed_range *range)
{
    size_t zeros = range->width - WEIR_HOSTLIST_DIGITS;
    struct expression wide = *e;
    char *prefix = weir_mem_alloc(e->prefix_len + zeros);
    int rc;

    if (!prefix)
        return WEIR_ENOMEM;
    memcpy(prefix, e->prefix, e->prefix_len);
    memset(prefix + e->prefix_len, '0', zeros);
    wide.prefix = prefix;
    wide.prefix_len += zeros;
    rc = append_digits(r, &wide, range->lo, range->hi, WEIR_HOSTLIST_DIGITS);
    weir_mem_free(prefix);
    return rc;
}

/* Appends the names of a range: one run for each number of digits. */
static int append_range(struct hostlist_reader *r, const struct expression *e, const struct parsed_range *range)
{
    uint64_t lo = range->lo;
    int rc = WEIR_OK;

    if (range->width > WEIR_HOSTLIST_DIGITS)
        return append_wide(r, e, range);
    while (rc == WEIR_OK && lo <= range->hi) {
        uint32_t digits = digits_of(lo);
        uint64_t hi;
        if (digits < range->width)
            digits = (uint32_t)range->width;
        hi = power_of_ten(digits) - 1;
        if (hi > range->hi)
            hi = range->hi;
        rc = append_digits(r, e, lo, hi, digits);
        lo = hi + 1;
    }
    return rc;
}

static int read_number(struct hostlist_reader *r, uint64_t *number, size_t *width)
{
    size_t start = r->at;
    uint32_t counted = 0;

    if (!is_digit(peek(r)))
        return refuse(r, r->at, "expected a number");
    *number = 0;
    for (; is_digit(peek(r)); r->at++) {
        counted += counted > 0 || peek(r) != '0';
        if (counted > WEIR_HOSTLIST_DIGITS)
            return exceeds(r, start, "a number in brackets has more than 18 digits");
        *number = *number * 10 + (uint64_t)(peek(r) - '0');
    }
    *width = r->at - start;
    return WEIR_OK;
}

/* Reads "7", "07" or "07-9". */
static int read_range(struct hostlist_reader *r, struct expression *e, struct parsed_range *range)
{
    size_t start = r->at;
    size_t written, ignored, end;
    bool first = r->text[start - 1] == '[';
    int rc = read_number(r, &range->lo, &written);

    if (rc != WEIR_OK)
        return rc;
    range->hi = range->lo;
    if (peek(r) == '-') {
        end = ++r->at;
        rc = read_number(r, &range->hi, &ignored);
        if (rc != WEIR_OK)
            return rc;
        if (range->hi < range->lo)
            return refuse(r, end, "a range must not end below its start");
    }
    range->width = written > 1 && r->text[start] == '0' ? written : 0;
    if (first)
        e->padding = range->width;
    if (range->width < e->padding)
        range->width = e->padding;
    if (e->prefix_len + e->suffix_len + range->width > WEIR_NAME_MAX - WEIR_HOSTLIST_DIGITS)
        return exceeds(r, start, "a host name is too long");
    return WEIR_OK;
}

/* Reads a bracket from '[' up to and including ']', and appends the names. */
static int read_bracket(struct hostlist_reader *r, struct expression *e)
{
    struct parsed_range range;
    size_t start;
    int rc;

    do {
        start = ++r->at;
        rc = read_range(r, e, &range);
        if (rc != WEIR_OK)
            return rc;
        rc = append_range(r, e, &range);
        if (rc != WEIR_OK)
            return report(r, start, rc);
    } while (peek(r) == ',');
    if (peek(r) != ']')
        return refuse(r, r->at, "expected ',', '-' or ']'");
    r->at++;
    return WEIR_OK;
}

/* The number of characters at offset `at` that may occur in a name. */
static size_t plain_length(const struct hostlist_reader *r, size_t at)
{
    size_t end = at;

    while (end < r->len && weir_name_char((unsigned char)r->text[end]))
        end++;
    return end - at;
}

static int read_expression(struct hostlist_reader *r)
{
    struct expression e = {.prefix = r->text + r->at, .prefix_len = plain_length(r, r->at)};
    const char *close;
    size_t start = r->at;
    int rc;

    r->at += e.prefix_len;
    if (peek(r) == '[') {
        close = memchr(r->text + r->at, ']', r->len - r->at);
        if (close) {
            e.suffix = close + 1;
            e.suffix_len = plain_length(r, (size_t)(e.suffix - r->text));
        }
        rc = read_bracket(r, &e);
        r->at += e.suffix_len;
    } else if (e.prefix_len > 0) {
        rc = weir_hostlist_append_name(r->list, e.prefix, e.prefix_len, r->err);
        rc = report(r, start, rc);
    } else {
        return refuse(r, r->at, "expected a host name");
    }
    return rc;
}

static void skip_blanks(struct hostlist_reader *r)
{
    while (is_blank(peek(r)))
        r->at++;
}

/* Reads expressions, separated by commas. An empty expression adds no host. */
static int read_all(struct hostlist_reader *r)
{
    int rc;

    for (;;) {
        skip_blanks(r);
        if (peek(r) >= 0 && peek(r) != ',') {
            rc = read_expression(r);
            if (rc != WEIR_OK)
                return rc;
            skip_blanks(r);
        }
        if (peek(r) < 0)
            return WEIR_OK;
        if (peek(r) != ',')
            return refuse(r, r->at, "expected ',' or the end");
        r->at++;
    }
}

int weir_hostlist_append(weir_hostlist *h, const char *text, size_t len, weir_err *err)
{
    struct hostlist_reader r = {.list = h, .text = text, .len = len, .err = err};
    struct mark before;
    int rc;

    if (!h || !text)
        return weir_fail(err, WEIR_EINVAL, "hostlist: there is no %s", text ? "list to append to" : "text to read");
    before = weir_hostlist_mark(h);
    rc = read_all(&r);
    if (rc != WEIR_OK)
        weir_hostlist_rollback(h, &before);
    return rc;
}

int weir_hostlist_parse(const char *text, size_t len, weir_hostlist **out, weir_err *err)
{
    weir_hostlist *h = weir_hostlist_new();
    int rc;

    if (!h)
        return weir_fail_nomem(err);
    rc = weir_hostlist_append(h, text, len, err);
    if (rc != WEIR_OK) {
        weir_hostlist_free(h);
        return rc;
    }
    *out = h;
    return WEIR_OK;
}
