/* query_value.c - compiles the values of tests: numbers, sets of ids, patterns of names. Invariant: a pattern is
 * never expanded: n[0-999999] is a few runs.
 */
#include "query/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "request/request.h"

#define SET_DIGITS 18 /* most digits of a number in brackets */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int fail_value(weir_err *err, const char *field, const char *wanted, const struct query_value *v, size_t at)
{
    char quoted[WEIR_QUOTE];
    return weir_fail_at(err, WEIR_EPARSE, NULL, 1, (int)at + 1, "%s: expected %s, not %s", field, wanted,
                        weir_quote(v->text, quoted));
}

/* ---- numbers ---- */

/* A number as digits * 10^exponent. */
struct decimal {
    uint64_t digits; /* at most 19 digits */
    int exponent;
    bool negative, inexact;
};

static void add_digit(struct decimal *d, char c, bool fraction)
{
    if (d->digits > (UINT64_C(10000000000000000000) - 1) / 10) {
        d->inexact |= c != '0';
        d->exponent += fraction ? 0 : 1;
        return;
    }
    d->digits = d->digits * 10 + (uint64_t)(c - '0');
    d->exponent -= fraction ? 1 : 0;
}

static const char *skip_sign(const char *s, const char *end, bool *negative)
{
    *negative = s < end && *s == '-';
    return s < end && (*s == '-' || *s == '+') ? s + 1 : s;
}

static bool read_exponent(const char *s, const char *end, struct decimal *d)
{
    bool negative;
    int value = 0;

    s = skip_sign(s, end, &negative);
    if (s == end)
        return false;
    for (; s < end; s++) {
        if (!is_digit(*s))
            return false;
        if (value < 100000)
            value = value * 10 + (*s - '0');
    }
    d->exponent += negative ? -value : value;
    return true;
}

static bool read_decimal(const char *s, size_t len, struct decimal *d)
{
    const char *end = s + len, *start;
    bool some;

    *d = (struct decimal){0};
    s = start = skip_sign(s, end, &d->negative);
    for (; s < end && is_digit(*s); s++)
        add_digit(d, *s, false);
    some = s > start;
    if (s < end && *s == '.') {
        start = ++s;
        for (; s < end && is_digit(*s); s++)
            add_digit(d, *s, true);
        some |= s > start;
    }
    if (!some)
        return false;
    if (s < end && (*s == 'e' || *s == 'E'))
        return read_exponent(s + 1, end, d);
    return s == end;
}

/* The value as a double, not always the nearest. Equal decimals without trailing zeros give equal doubles. */
static double decimal_value(const struct decimal *d)
{
    double power = 1;
    int n = d->exponent < 0 ? -d->exponent : d->exponent;

    for (int i = 0; i < n && i < 400; i++)
        power *= 10;
    power = d->digits == 0 ? 0 : d->exponent < 0 ? (double)d->digits / power : (double)d->digits * power;
    return d->negative ? -power : power;
}

bool weir_query_number(const char *s, size_t len, struct query_number *out)
{
    struct decimal d;

    if (!read_decimal(s, len, &d))
        return false;
    while (d.digits && d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    out->value = decimal_value(&d);
    if (d.digits == 0)
        d.exponent = 0;
    while (d.exponent > 0 && d.digits <= INT64_MAX / 10) {
        d.digits *= 10;
        d.exponent--;
    }
    out->whole = d.exponent == 0 && d.digits <= INT64_MAX && !d.inexact;
    out->integer = !out->whole ? 0 : d.negative ? -(int64_t)d.digits : (int64_t)d.digits;
    return true;
}

int weir_query_number_compare(const struct query_number *a, const struct query_number *b)
{
    if (a->whole && b->whole)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* The largest integer not above x, within int64_t. */
static int64_t floor_of(double x)
{
    int64_t n;

    if (x >= 9223372036854775808.0)
        return INT64_MAX;
    if (x < -9223372036854775808.0)
        return INT64_MIN;
    n = (int64_t)x;
    return (double)n > x && n > INT64_MIN ? n - 1 : n;
}

/* Sets t->lo and t->hi to the integers for which the comparison with n holds. INT64_MIN is excluded, because it
 * means "no id". */
static void set_interval(struct query_test *t, const struct query_number *n)
{
    int64_t below = n->whole ? n->integer : floor_of(n->value);

    t->lo = INT64_MIN + 1;
    t->hi = INT64_MAX;
    if (t->op == QUERY_EQ)
        t->lo = n->whole ? below : INT64_MAX;
    if (t->op == QUERY_EQ)
        t->hi = n->whole ? below : INT64_MIN;
    if (t->op == QUERY_LE || (t->op == QUERY_LT && !n->whole))
        t->hi = below;
    if (t->op == QUERY_LT && n->whole)
        t->hi = below - 1;
    if (t->op == QUERY_GE && n->whole)
        t->lo = below;
    if (t->op == QUERY_GT || (t->op == QUERY_GE && !n->whole)) {
        t->lo = below == INT64_MAX ? INT64_MAX : below + 1;
        t->hi = below == INT64_MAX ? INT64_MIN : INT64_MAX;
    }
    if (t->field == QUERY_RANK && t->lo < 0) /* negative means WEIR_NO_RANK */
        t->lo = 0;
}

static int number_value(struct query_test *t, const char *field, const struct query_value *v, weir_err *err)
{
    if (!weir_query_number(v->text, v->len, &t->number))
        return fail_value(err, field, "a number", v, 0);
    set_interval(t, &t->number);
    return WEIR_OK;
}

/* Compiles a number, or with "=" a set of numbers. */
static int ids_value(struct query_test *t, const char *field, const struct query_value *v, weir_err *err)
{
    struct query_number n;
    weir_err why = {0};
    int rc;

    if (t->op != QUERY_EQ || weir_query_number(v->text, v->len, &n))
        return number_value(t, field, v, err);
    rc = weir_idset_parse(v->text, v->len, &t->set, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(err);
    if (rc)
        return fail_value(err, field, "a number or a set such as 1-3,7", v,
                          why.column > 0 ? (size_t)why.column - 1 : 0);
    return WEIR_OK;
}

/* ---- patterns ---- */

enum { WITH_LISTS = 1, WITH_SETS = 2, WITH_GLOBS = 4 };

/* The state of reading a pattern. */
struct pattern_reader {
    weir_query *q;
    const char *text;
    size_t len, at;
    unsigned with;
    const char *field;
    weir_err *err;
};

static int refuse(const struct pattern_reader *m, size_t at, const char *what)
{
    return weir_fail_at(m->err, WEIR_EPARSE, NULL, 1, (int)at + 1, "%s: %s", m->field, what);
}

static int add_piece(struct pattern_reader *m, enum query_piece_kind kind, const char *text, size_t first, size_t len)
{
    weir_query *q = m->q;

    return WEIR_ARRAY_ADD(q->pieces, q->npieces, q->pieces_cap,
                          (struct query_piece){kind, (uint32_t)len, (uint32_t)first, text})
               ? weir_fail_nomem(m->err)
               : WEIR_OK;
}

static uint32_t digits_of(uint64_t n)
{
    uint32_t digits = 1;
    for (; n >= 10; n /= 10)
        digits++;
    return digits;
}

static uint64_t highest_of(uint32_t digits)
{
    uint64_t n = 0;
    while (digits-- > 0)
        n = n * 10 + 9;
    return n;
}

/* Appends the numbers lo to hi with at least `width` digits: one run for each number of digits. */
static int add_range(struct pattern_reader *m, uint64_t lo, uint64_t hi, uint32_t width)
{
    weir_query *q = m->q;

    while (lo <= hi) {
        uint32_t digits = digits_of(lo) < width ? width : digits_of(lo);
        uint64_t end = highest_of(digits) < hi ? highest_of(digits) : hi;
        if (WEIR_ARRAY_ADD(q->runs, q->nruns, q->runs_cap, (struct query_run){digits, lo, end}))
            return weir_fail_nomem(m->err);
        lo = end + 1;
    }
    return WEIR_OK;
}

static uint32_t read_digits(struct pattern_reader *m, uint64_t *n)
{
    uint32_t count = 0;

    *n = 0;
    for (; m->at < m->len && is_digit(m->text[m->at]); m->at++)
        if (count++ < SET_DIGITS)
            *n = *n * 10 + (uint64_t)(m->text[m->at] - '0');
    return count;
}

static int refuse_range(const struct pattern_reader *m, size_t start)
{
    char text[WEIR_QUOTE], quoted[WEIR_QUOTE];
    size_t n = strcspn(m->text + start, ",]");

    n = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, m->text + start, n);
    text[n] = '\0';
    return weir_fail_at(m->err, WEIR_EPARSE, NULL, 1, (int)start + 1, "%s: %s is no range of numbers such as 1-16",
                        m->field, weir_quote(text, quoted));
}

/* Reads "7", "07" or "07-9". Leading zeros of the first number in brackets set the width of all numbers. */
static int read_range(struct pattern_reader *m, bool first, uint32_t *padding)
{
    size_t start = m->at;
    uint64_t lo, hi;
    uint32_t written = read_digits(m, &lo), ending = written, width;

    hi = lo;
    if (m->text[m->at] == '-') {
        m->at++;
        ending = read_digits(m, &hi);
    }
    if (!written || !ending || hi < lo || !strchr(",]", m->text[m->at]))
        return refuse_range(m, start);
    if (written > SET_DIGITS || ending > SET_DIGITS)
        return refuse(m, start, "a number in brackets has more than 18 digits");
    width = written > 1 && m->text[start] == '0' ? written : 0;
    if (first)
        *padding = width;
    return add_range(m, lo, hi, width < *padding ? *padding : width);
}

WEIR_COMPARE_BY2(by_digits, struct query_run, digits, lo)

static void tidy_runs(weir_query *q, uint32_t first)
{
    uint32_t kept = first;

    qsort(q->runs + first, q->nruns - first, sizeof *q->runs, by_digits);
    for (uint32_t i = first + 1; i < q->nruns; i++) {
        struct query_run *last = &q->runs[kept], *run = &q->runs[i];
        if (run->digits != last->digits || run->lo > last->hi + 1)
            q->runs[++kept] = *run;
        else if (run->hi > last->hi)
            last->hi = run->hi;
    }
    q->nruns = kept + 1;
}

/* Reads a set from '[' up to and including ']'. */
static int read_set(struct pattern_reader *m)
{
    size_t open = m->at;
    uint32_t first = m->q->nruns, padding = 0;
    int rc;

    if (!memchr(m->text + open, ']', m->len - open))
        return refuse(m, open, "this \"[\" is not closed");
    do {
        m->at++;
        rc = read_range(m, m->at == open + 1, &padding);
        if (rc)
            return rc;
    } while (m->text[m->at] == ',');
    m->at++;
    tidy_runs(m->q, first);
    return add_piece(m, PIECE_SET, NULL, first, m->q->nruns - first);
}

static bool is_special(unsigned with, char c)
{
    return (c == ',' && (with & WITH_LISTS)) || ((c == '[' || c == ']') && (with & WITH_SETS)) ||
           ((c == '*' || c == '?') && (with & WITH_GLOBS));
}

static size_t plain_length(const struct pattern_reader *m)
{
    size_t end = m->at;
    while (end < m->len && !is_special(m->with, m->text[end]))
        end++;
    return end - m->at;
}

static int read_piece(struct pattern_reader *m)
{
    size_t n = plain_length(m);
    char c = m->text[m->at];

    m->at += n;
    if (n > 0)
        return add_piece(m, PIECE_TEXT, m->text + m->at - n, 0, n);
    if (c == ']')
        return refuse(m, m->at, "a \"]\" without a \"[\"");
    if (c == '[')
        return read_set(m);
    m->at++;
    return add_piece(m, c == '*' ? PIECE_ANY : PIECE_ONE, NULL, 0, 0);
}

/* Reads a list of patterns, separated by commas. */
static int read_list(struct pattern_reader *m)
{
    for (;;) {
        size_t start = m->at;
        while (m->at < m->len && !(m->text[m->at] == ',' && (m->with & WITH_LISTS))) {
            int rc = read_piece(m);
            if (rc)
                return rc;
        }
        if (m->at == start)
            return weir_fail_at(m->err, WEIR_EPARSE, NULL, 1, (int)start + 1, "%s: a %s is missing", m->field,
                                m->field);
        if (m->at == m->len)
            return WEIR_OK;
        m->at++;
        if (add_piece(m, PIECE_OR, NULL, 0, 0))
            return WEIR_ENOMEM;
    }
}

static unsigned special_of(const struct query_test *t, bool quoted)
{
    if (t->field == QUERY_NAME)
        return quoted ? WITH_LISTS | WITH_SETS : WITH_LISTS | WITH_SETS | WITH_GLOBS;
    if (quoted)
        return 0;
    return t->field == QUERY_TYPE ? WITH_LISTS | WITH_GLOBS : WITH_GLOBS;
}

/* Reads a quoted name, which matches as a list and also literally; if the name is not a valid list, only literally. */
static int read_quoted(struct pattern_reader *m)
{
    uint32_t npieces = m->q->npieces, nruns = m->q->nruns;
    weir_err why = {0}, *err = m->err;
    int rc;

    m->err = &why;
    rc = read_list(m);
    m->err = err;
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(err);
    if (rc) {
        m->q->npieces = npieces;
        m->q->nruns = nruns;
        return WEIR_OK;
    }
    if (add_piece(m, PIECE_OR, NULL, 0, 0))
        return WEIR_ENOMEM;
    return add_piece(m, PIECE_TEXT, m->text, 0, m->len);
}

static int pattern_value(weir_query *q, struct query_test *t, const char *field, const struct query_value *v,
                         weir_err *err)
{
    struct pattern_reader m = {q, v->text, v->len, 0, special_of(t, v->quoted), field, err};
    int rc;

    if (plain_length(&m) == v->len)
        return WEIR_OK;
    t->first_piece = q->npieces;
    rc = v->quoted ? read_quoted(&m) : read_list(&m);
    t->npieces = q->npieces - t->first_piece;
    return rc;
}

/* ---- all of them ---- */

static int state_value(struct query_test *t, const struct query_value *v, weir_err *err)
{
    char quoted[WEIR_QUOTE];
    int state = weir_state_parse(v->text);

    t->lo = t->hi = state;
    if (state < 0)
        return weir_fail_at(err, WEIR_EPARSE, NULL, 1, 1,
                            "no state %s: expected one of up, down, degraded, failing, unknown, null, draining",
                            weir_quote(v->text, quoted));
    return WEIR_OK;
}

static int map_value(struct query_test *t, const struct query_value *v, weir_err *err)
{
    static const char *const names[] = {"=", "<", "<=", ">", ">="};
    char quoted[WEIR_QUOTE];

    t->numeric = weir_query_number(v->text, v->len, &t->number);
    t->quoted = v->quoted;
    if (t->op == QUERY_EQ || t->numeric || t->quoted)
        return WEIR_OK;
    return weir_fail_at(err, WEIR_EPARSE, NULL, 1, 1, "expected a number after %s, not %s (or a text in quotes)",
                        names[t->op], weir_quote(v->text, quoted));
}

int weir_query_value(weir_query *q, struct query_test *t, const char *field, const struct query_value *v, weir_err *err)
{
    t->text = v->text;
    t->len = (uint32_t)v->len;
    switch (t->field) {
    case QUERY_TYPE:
    case QUERY_NAME:
    case QUERY_BASENAME:
    case QUERY_PATH: return pattern_value(q, t, field, v, err);
    case QUERY_STATE: return state_value(t, v, err);
    case QUERY_ID:
    case QUERY_RANK:
    case QUERY_JOB: return ids_value(t, field, v, err);
    case QUERY_SIZE:
    case QUERY_FREE:
    case QUERY_IDLE:
    case QUERY_ALLOCATED: return number_value(t, field, v, err);
    case QUERY_PROPERTY:
    case QUERY_TAG:
    case QUERY_DATA: return map_value(t, v, err);
    default: return WEIR_OK;
    }
}
