/* rfc14_count.c - counts: integers, ranges (RFC 14, RFC 45) and sets (RFC 22).
 *
 * Invariant: equal counts have one form. A single value has min == max, op '+' and operand 1; consecutive values are
 * a '+' range; any count not expressible as a range is a set, with min and max as its ends.
 */
#include "request/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bisect.h"

struct cursor {
    const char *text;
    size_t len, at;
    weir_err *err;
};

/* Reports an error at the cursor. */
static int bad(const struct cursor *c, int code, const char *what)
{
    char quoted[WEIR_QUOTE], copy[WEIR_QUOTE];
    size_t n = c->len < sizeof copy - 1 ? c->len : sizeof copy - 1;

    memcpy(copy, c->text, n);
    copy[n] = '\0';
    return weir_fail_at(c->err, code, NULL, 0, (int)c->at + 1, "count %s: %s", weir_quote(copy, quoted), what);
}

static char peek(const struct cursor *c)
{
    return c->at < c->len ? c->text[c->at] : '\0';
}

static bool take(struct cursor *c, char wanted)
{
    if (peek(c) != wanted || c->at >= c->len)
        return false;
    c->at++;
    return true;
}

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

/* Reads a decimal integer from 1 to WEIR_COUNT_MAX without leading zeros. */
static int read_integer(struct cursor *c, int64_t *out)
{
    size_t start = c->at;
    int64_t n = 0;

    if (!is_digit(peek(c)))
        return bad(c, WEIR_EINVAL, "expected a positive integer here");
    for (; is_digit(peek(c)); c->at++) {
        n = n * 10 + (peek(c) - '0');
        if (n > WEIR_COUNT_MAX) {
            c->at = start;
            return bad(c, WEIR_ELIMIT, "larger than 2^53, the largest count");
        }
    }
    if (c->text[start] == '0') {
        bool zero = c->at == start + 1;
        c->at = start;
        return bad(c, WEIR_EINVAL, zero ? "0 is no count, the least is 1" : "leading zeros are not allowed");
    }
    *out = n;
    return WEIR_OK;
}

static void set_range(weir_count *c, int64_t min, int64_t max, char op, int64_t operand)
{
    *c = (weir_count){min, max, op, operand, NULL, 0};
    if (min == max) {
        c->op = '+';
        c->operand = 1;
    }
}

/* The rule of RFC 14 that a range breaks, as text for an error; NULL if the range is valid. */
static const char *range_fault(int64_t min, int64_t max, char op, int64_t operand)
{
    if (op != '+' && op != '*' && op != '^')
        return "the operator must be '+', '*' or '^'";
    if (max < min)
        return "max is below min";
    if (op != '+' && operand < 2)
        return "operators '*' and '^' need an operand of 2 or more";
    if (op == '^' && min < 2)
        return "operator '^' needs a min of 2 or more";
    return NULL;
}

/* Reads [:operand[:operator]], the tail of a range after min and max. */
static int read_tail(struct cursor *c, int64_t min, int64_t max, weir_count *out)
{
    int64_t operand = 1;
    size_t start = c->at;
    const char *fault;
    char op = '+';

    if (take(c, ':')) {
        int rc = read_integer(c, &operand);
        if (rc != WEIR_OK)
            return rc;
        if (take(c, ':')) {
            op = peek(c);
            c->at += op != '\0';
        }
    }
    if (c->at < c->len)
        return bad(c, WEIR_EINVAL, "unexpected here; counts look like 4, 2-8, 2+, 2-16:2:* or 4,9,16");
    fault = range_fault(min, max, op, operand);
    if (fault) {
        c->at = start;
        return bad(c, WEIR_EINVAL, fault);
    }
    set_range(out, min, max, op, operand);
    return WEIR_OK;
}

/* Reads an item of a set, N or N-M, and fails unless the item is above *last. */
static int read_item(struct cursor *c, int64_t *last, int64_t *from, int64_t *to)
{
    size_t start = c->at;
    int rc = read_integer(c, from);

    if (rc != WEIR_OK)
        return rc;
    *to = *from;
    if (take(c, '-') && (rc = read_integer(c, to)) != WEIR_OK)
        return rc;
    if (*from <= *last || *to < *from) {
        c->at = start;
        return bad(c, WEIR_EINVAL, "values must ascend, each only once");
    }
    *last = *to;
    return WEIR_OK;
}

/* Reads the items of a set into `set`, or only counts the values if `set` is NULL. */
static int read_items(struct cursor *c, int64_t *set, uint32_t *n)
{
    int64_t last = 0, from = 0, to = 0, total = 0;

    do {
        int rc = read_item(c, &last, &from, &to);
        if (rc != WEIR_OK)
            return rc;
        if (to - from >= WEIR_COUNT_VALUES - total)
            return bad(c, WEIR_ELIMIT, "a set of more than 65536 values; give a range");
        if (set)
            for (int64_t i = from; i <= to; i++)
                set[total + i - from] = i;
        total += to - from + 1;
    } while (take(c, ','));
    if (c->at < c->len)
        return bad(c, WEIR_EINVAL, "unexpected here; a set looks like 4,9,16 or 1,7-9");
    *n = (uint32_t)total;
    return WEIR_OK;
}

static int read_set(struct cursor *c, weir_count *out)
{
    size_t start = c->at;
    int64_t *set;
    uint32_t n;
    int rc = read_items(c, NULL, &n);

    if (rc != WEIR_OK)
        return rc;
    set = weir_mem_zalloc(n, sizeof *set);
    if (!set)
        return weir_fail_nomem(c->err);
    c->at = start;
    rc = read_items(c, set, &n);
    if (rc != WEIR_OK || set[n - 1] - set[0] == n - 1) {
        if (rc == WEIR_OK)
            set_range(out, set[0], set[n - 1], '+', 1);
        weir_mem_free(set);
        return rc;
    }
    *out = (weir_count){set[0], set[n - 1], 0, 0, set, n};
    return WEIR_OK;
}

static int read_range(struct cursor *c, weir_count *out)
{
    int64_t min = 0, max;
    int rc = read_integer(c, &min);

    if (rc != WEIR_OK)
        return rc;
    max = min;
    if (take(c, '+'))
        max = WEIR_FOREVER;
    else if (take(c, '-'))
        rc = read_integer(c, &max);
    else if (c->at < c->len)
        return bad(c, WEIR_EINVAL, "unexpected here; counts look like 4, 2-8, 2+, 2-16:2:* or 4,9,16");
    return rc == WEIR_OK ? read_tail(c, min, max, out) : rc;
}

int weir_count_parse(const char *text, size_t len, weir_count *out, weir_err *err)
{
    struct cursor c = {text, len, 0, err};

    if (len == 0)
        return bad(&c, WEIR_EINVAL, "empty");
    if (take(&c, '[')) {
        if (text[len - 1] != ']') {
            c.at = len;
            return bad(&c, WEIR_EINVAL, "']' is missing");
        }
        c.len--;
    }
    return memchr(text, ',', c.len) ? read_set(&c, out) : read_range(&c, out);
}

/* ---- JSON -------------------------------------------------------------------------------------------------- */

/* Reads an integer from 1 to WEIR_COUNT_MAX. As in JSON Schema, 4.0 is an integer. `what` names the number in errors.
 */
static int read_number(const json_t *value, const char *what, int64_t *out, weir_err *err)
{
    double d = json_number_value(value);

    if (!json_is_number(value))
        return weir_fail(err, WEIR_EINVAL, "%s must be an integer, not %s", what, weir_json_kind(value));
    if (json_is_integer(value) ? json_integer_value(value) > WEIR_COUNT_MAX : d > (double)WEIR_COUNT_MAX)
        return weir_fail(err, WEIR_ELIMIT, "%s is larger than 2^53, the largest count", what);
    if (d < 1)
        return weir_fail(err, WEIR_EINVAL, "%s must be 1 or more, not %.17g", what, d);
    if (d != floor(d))
        return weir_fail(err, WEIR_EINVAL, "%s must be an integer, not %.17g", what, d);
    *out = (int64_t)d;
    return WEIR_OK;
}

/* Reads the integer under `key`; *out is unchanged if the key is absent. */
static int get_integer(const json_t *range, const char *key, int64_t *out, weir_err *err)
{
    const json_t *value = json_object_get(range, key);
    char what[32];

    snprintf(what, sizeof what, "%s of a count", key);
    return value ? read_number(value, what, out, err) : WEIR_OK;
}

static int get_operator(const json_t *range, char *op, weir_err *err)
{
    const json_t *value = json_object_get(range, "operator");
    const char *text = json_string_value(value);

    if (!value)
        return WEIR_OK;
    if (!text || strlen(text) != 1)
        return weir_fail(err, WEIR_EINVAL, "operator of a count must be \"+\", \"*\" or \"^\"");
    if (!json_object_get(range, "operand"))
        return weir_fail(err, WEIR_EINVAL, "operator of a count without an operand; both must be there");
    *op = text[0];
    return WEIR_OK;
}

static int check_range_keys(const json_t *range, weir_err *err)
{
    static const char *const known[] = {"min", "max", "operator", "operand", NULL};
    const char *key = weir_json_unknown(range, known);
    char quoted[WEIR_QUOTE];

    if (key)
        return weir_fail(err, WEIR_EINVAL, "unknown key %s in a count; known: min, max, operator, operand",
                         weir_quote(key, quoted));
    if (!json_object_get(range, "min"))
        return weir_fail(err, WEIR_EINVAL, "a count that is a dictionary needs min, such as {min: 2, max: 8}");
    return WEIR_OK;
}

static int from_range(const json_t *range, weir_count *out, weir_err *err)
{
    int64_t min = 1, max = WEIR_FOREVER, operand = 1;
    const char *fault;
    char op = '+';
    int rc = check_range_keys(range, err);

    rc = rc ? rc : get_integer(range, "min", &min, err);
    rc = rc ? rc : get_integer(range, "max", &max, err);
    rc = rc ? rc : get_integer(range, "operand", &operand, err);
    rc = rc ? rc : get_operator(range, &op, err);
    if (rc != WEIR_OK)
        return rc;
    fault = range_fault(min, max, op, operand);
    if (fault)
        return weir_fail(err, WEIR_EINVAL, "count: %s", fault);
    set_range(out, min, max, op, operand);
    return WEIR_OK;
}

static int from_number(const json_t *value, weir_count *out, weir_err *err)
{
    int64_t n = 0;
    int rc = read_number(value, "count", &n, err);

    if (rc == WEIR_OK)
        set_range(out, n, n, '+', 1);
    return rc;
}

int weir_count_from_json(const json_t *value, weir_count *out, weir_err *err)
{
    if (json_is_number(value))
        return from_number(value, out, err);
    if (json_is_object(value))
        return from_range(value, out, err);
    if (json_is_string(value))
        return weir_count_parse(json_string_value(value), json_string_length(value), out, err);
    return weir_fail(err, WEIR_EINVAL, "count must be an integer, a range or a set, not %s", weir_json_kind(value));
}

void weir_count_clear(weir_count *c)
{
    union {
        const int64_t *set;
        void *memory;
    } u = {c->set};

    weir_mem_free(u.memory);
    *c = (weir_count){0};
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

static void write_set(const weir_count *c, weir_buf *b)
{
    for (uint32_t i = 0, j; i < c->nset; i = j) {
        for (j = i + 1; j < c->nset && c->set[j] == c->set[j - 1] + 1;)
            j++;
        weir_buf_printf(b, "%s%lld", i ? "," : "", (long long)c->set[i]);
        if (j > i + 1)
            weir_buf_printf(b, "-%lld", (long long)c->set[j - 1]);
    }
}

void weir_count_write(const weir_count *c, weir_buf *b)
{
    if (c->op == 0) {
        write_set(c, b);
        return;
    }
    weir_buf_printf(b, "%lld", (long long)c->min);
    if (c->max == WEIR_FOREVER)
        weir_buf_puts(b, "+");
    else if (c->max != c->min)
        weir_buf_printf(b, "-%lld", (long long)c->max);
    if (c->op != '+' || c->operand != 1)
        weir_buf_printf(b, ":%lld", (long long)c->operand);
    if (c->op != '+')
        weir_buf_printf(b, ":%c", c->op);
}

static json_t *count_to_string(const weir_count *c)
{
    weir_buf b = {0};
    json_t *text;

    weir_count_write(c, &b);
    text = b.failed ? NULL : json_stringn(b.data, b.len);
    weir_buf_free(&b);
    return text;
}

json_t *weir_count_to_json(const weir_count *c)
{
    char op[2] = {c->op, '\0'};

    if (c->op == 0 || (c->max == WEIR_FOREVER && (c->op != '+' || c->operand != 1)))
        return count_to_string(c); /* RFC 14's schema has no dictionary for steps without an end */
    if (c->min == c->max)
        return json_integer(c->min);
    if (c->max != WEIR_FOREVER)
        return json_pack("{s:I, s:I, s:s, s:I}", "min", (json_int_t)c->min, "max", (json_int_t)c->max, "operator", op,
                         "operand", (json_int_t)c->operand);
    return json_pack("{s:I}", "min", (json_int_t)c->min);
}

/* ---- use --------------------------------------------------------------------------------------------------- */

/* The power v^e if at most `cap`, else a value that is above `cap` or negative. v must be 2 or more. */
static int64_t power_up_to(int64_t v, int64_t e, int64_t cap)
{
    int64_t result = 1;

    for (int64_t i = 0; i < e; i++) {
        if (result > cap / v)
            return cap == INT64_MAX ? -1 : cap + 1;
        result *= v;
    }
    return result;
}

static int64_t floor_set(const weir_count *c, int64_t n)
{
    uint32_t above;

    WEIR_BISECT(above, 1, c->nset, c->set[above] <= n);
    return c->set[above - 1];
}

int64_t weir_count_floor(const weir_count *c, int64_t n)
{
    int64_t cap = n < c->max ? n : c->max;
    int64_t v = c->min;

    if (n < c->min)
        return -1;
    switch (c->op) {
    case 0: return floor_set(c, n);
    case '+': return v + (cap - v) / c->operand * c->operand;
    case '*':
        while (v <= cap / c->operand)
            v *= c->operand;
        return v;
    default:
        for (int64_t next; (next = power_up_to(v, c->operand, cap)) > 0 && next <= cap;)
            v = next;
        return v;
    }
}
