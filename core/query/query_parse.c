/* query_parse.c - compiles the text of a query in one pass. Tests are appended as read. The exits of a subexpression
 * whose targets are not known yet form a linked list through the `yes` and `no` fields to be set (backpatching).
 *
 *   any = all { "or" all }     all = one { "and" one }     one = "not" one | "(" any ")" | test
 *   test = FIELD op VALUE | property.KEY [op VALUE] | tag.KEY [op VALUE] | data.KEY [op VALUE] | FLAG
 *
 * Invariant: each exit of a test before the current subexpression has a later test as target, or is on a list of an
 * enclosing subexpression.
 */
#include "query/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "request/request.h"

#define NO_EXIT   UINT32_MAX
#define FIELD_MAX 10 /* length of the longest field name, plus 1 */

enum value_kind { PATTERN, TEXT, STATE, IDS, NUMBER, AMOUNT, FLAG, MAP };

struct named_field {
    const char *name;
    uint8_t field, kind;
};

static const struct named_field fields[] = {
    {"allocated", QUERY_ALLOCATED, AMOUNT},
    {"basename", QUERY_BASENAME, PATTERN},
    {"data", QUERY_DATA, MAP},
    {"exclusive", QUERY_EXCLUSIVE, FLAG},
    {"free", QUERY_FREE, AMOUNT},
    {"id", QUERY_ID, IDS},
    {"idle", QUERY_IDLE, AMOUNT},
    {"job", QUERY_JOB, IDS},
    {"leaf", QUERY_LEAF, FLAG},
    {"name", QUERY_NAME, PATTERN},
    {"path", QUERY_PATH, PATTERN},
    {"property", QUERY_PROPERTY, MAP},
    {"rank", QUERY_RANK, IDS},
    {"size", QUERY_SIZE, NUMBER},
    {"staged", QUERY_STAGED, FLAG},
    {"state", QUERY_STATE, STATE},
    {"tag", QUERY_TAG, MAP},
    {"type", QUERY_TYPE, PATTERN},
    {"unit", QUERY_UNIT, TEXT},
    {"uuid", QUERY_UUID, TEXT},
};
#define NFIELDS (sizeof fields / sizeof *fields)

enum token_kind { END, OPEN, CLOSE, OPERATOR, AND, OR, NOT, WORD };

struct token {
    enum token_kind kind;
    uint8_t op;
    bool unlike, quoted; /* unlike: the operator is != */
    size_t start, body;  /* offsets in the expression; body: after an opening quote */
    const char *text;
    size_t len;
};

struct query_reader {
    const char *text;
    size_t len, at;
    struct token token; /* the lookahead */
    char *next_word;    /* free space in q->text for the next word */
    weir_query *q;
    uint32_t depth;
    weir_err *err;
};

/* A list of exits without a target. Exit 2 * i is tests[i].yes, exit 2 * i + 1 is tests[i].no; an exit's field holds
 * the next exit. */
struct exits {
    uint32_t first, last; /* NO_EXIT: empty list */
};

struct branches {
    struct exits yes, no;
};

__attribute__((format(printf, 4, 5))) static int refuse(const struct query_reader *r, size_t at, int code,
                                                        const char *fmt, ...)
{
    char text[sizeof r->err->text];
    int line = 1, column = 1;
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < at; i++) {
        column = r->text[i] == '\n' ? 1 : column + 1;
        line += r->text[i] == '\n';
    }
    return weir_fail_at(r->err, code, NULL, line, column, "%s", text);
}

/* ---- words --------------------------------------------------------------------------------------------------- */

static char peek(const struct query_reader *r, size_t ahead)
{
    return r->at + ahead < r->len ? r->text[r->at + ahead] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool ends_word(const struct query_reader *r)
{
    char c = peek(r, 0);
    return c == '\0' || is_blank(c) || strchr("()=!<>\"'", c) || ((c == '&' || c == '|') && peek(r, 1) == c);
}

static int read_escape(struct query_reader *r, size_t quote)
{
    static const char known[] = "\\\"'ntr", meant[] = "\\\"'\n\t\r";
    const char *found = peek(r, 1) ? strchr(known, peek(r, 1)) : NULL;

    if (peek(r, 1) == '\0')
        return refuse(r, quote, WEIR_EPARSE, "this quote is not closed");
    if (!found)
        return refuse(r, r->at, WEIR_EPARSE, "expected one of \\ \" ' n t r after a backslash in quotes");
    *r->next_word++ = meant[found - known];
    r->at += 2;
    return WEIR_OK;
}

/* Appends a quoted text to the current word, without its quotes. */
static int read_quoted(struct query_reader *r)
{
    size_t start = r->at;
    char quote = r->text[r->at++];

    while (peek(r, 0) != quote) {
        int rc;
        if (r->at == r->len)
            return refuse(r, start, WEIR_EPARSE, "this quote is not closed");
        if (peek(r, 0) == '\\') {
            rc = read_escape(r, start);
            if (rc)
                return rc;
        } else {
            *r->next_word++ = r->text[r->at++];
        }
    }
    r->at++;
    return WEIR_OK;
}

static void read_bare(struct query_reader *r)
{
    while (!ends_word(r))
        *r->next_word++ = r->text[r->at++];
}

/* Reads a word, quoted or bare. A quoted key after a dot, as in property."a key", belongs to the bare word before. */
static int read_word(struct query_reader *r, struct token *t)
{
    char *start = r->next_word;
    int rc = WEIR_OK;

    t->kind = WORD;
    t->text = start;
    t->quoted = strchr("\"'", peek(r, 0)) != NULL;
    if (t->quoted) {
        t->body = t->start + 1;
        rc = read_quoted(r);
    } else {
        read_bare(r);
        if (r->next_word[-1] == '.' && r->at < r->len && strchr("\"'", peek(r, 0)))
            rc = read_quoted(r);
    }
    t->len = (size_t)(r->next_word - start);
    *r->next_word++ = '\0';
    return rc;
}

static void take_sign(struct query_reader *r, struct token *t, enum token_kind kind, const char *text)
{
    t->kind = kind;
    t->text = text;
    r->at += strlen(text);
}

static bool read_operator(struct query_reader *r, struct token *t)
{
    static const char *const signs[] = {"!=", "<=", ">=", "==", "=", "<", ">"};
    static const uint8_t ops[] = {QUERY_EQ, QUERY_LE, QUERY_GE, QUERY_EQ, QUERY_EQ, QUERY_LT, QUERY_GT};

    for (size_t i = 0; i < sizeof ops; i++) {
        const char *sign = signs[i];
        if (peek(r, 0) != sign[0] || (sign[1] && peek(r, 1) != sign[1]))
            continue;
        t->op = ops[i];
        t->unlike = i == 0;
        take_sign(r, t, OPERATOR, sign);
        return true;
    }
    return false;
}

/* Makes "and", "or" and "not" keywords. */
static void name_keyword(struct token *t)
{
    if (t->quoted)
        return;
    if (strcmp(t->text, "and") == 0)
        t->kind = AND;
    else if (strcmp(t->text, "or") == 0)
        t->kind = OR;
    else if (strcmp(t->text, "not") == 0)
        t->kind = NOT;
}

/* Reads the next token. `value`: a value is expected, so "and", "or" and "not" are plain words. */
static int next(struct query_reader *r, bool value)
{
    struct token *t = &r->token;
    int rc = WEIR_OK;

    while (r->at < r->len && is_blank(r->text[r->at]))
        r->at++;
    *t = (struct token){.start = r->at, .body = r->at, .text = ""};
    if (r->at == r->len)
        return WEIR_OK;
    if (read_operator(r, t))
        return WEIR_OK;
    if (peek(r, 0) == '(') {
        take_sign(r, t, OPEN, "(");
    } else if (peek(r, 0) == ')') {
        take_sign(r, t, CLOSE, ")");
    } else if (peek(r, 0) == '!') {
        take_sign(r, t, NOT, "!");
    } else if (peek(r, 0) == '&' && peek(r, 1) == '&') {
        take_sign(r, t, AND, "&&");
    } else if (peek(r, 0) == '|' && peek(r, 1) == '|') {
        take_sign(r, t, OR, "||");
    } else {
        rc = read_word(r, t);
        if (!rc && !value)
            name_keyword(t);
    }
    return rc;
}

/* ---- fields -------------------------------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The edit distance of two words, for at most FIELD_MAX letters of b. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[FIELD_MAX + 1];

    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t replaced = corner + ((a[i - 1] | 0x20) != b[j - 1]);
            corner = row[j];
            row[j] = smaller(replaced, smaller(corner, row[j - 1]) + 1);
        }
    }
    return row[nb];
}

/* The field name closest to a mistyped word; NULL if none is close. */
static const char *nearest(const char *word, size_t len)
{
    const char *best = NULL;
    size_t limit = (len / 3 > 1 ? len / 3 : 1) + 1;

    if (len > 2 * FIELD_MAX)
        return NULL;
    for (size_t i = 0; i < NFIELDS; i++) {
        size_t n = strlen(fields[i].name);
        size_t d = len >= 2 && len <= n && strncmp(word, fields[i].name, len) == 0
                       ? 1
                       : distance(word, len, fields[i].name, n);
        if (d < limit) {
            limit = d;
            best = fields[i].name;
        }
    }
    return best;
}

static int refuse_field(const struct query_reader *r, const struct token *t, size_t len)
{
    char quoted[WEIR_QUOTE], all[200];
    const char *near = nearest(t->text, len);
    int n = 0;

    weir_quote(t->text, quoted);
    if (near)
        return refuse(r, t->start, WEIR_EPARSE, "unknown field %s (did you mean \"%s\"?)", quoted, near);
    for (size_t i = 0; i < NFIELDS; i++)
        n += snprintf(all + n, sizeof all - (size_t)n, "%s%s", i ? ", " : "", fields[i].name);
    return refuse(r, t->start, WEIR_EPARSE, "unknown field %s: expected one of %s", quoted, all);
}

/* Returns the field of a name; NULL: no field has the name. */
static const struct named_field *find_field(const char *text, size_t len)
{
    for (size_t i = 0; i < NFIELDS; i++)
        if (strlen(fields[i].name) == len && memcmp(fields[i].name, text, len) == 0)
            return &fields[i];
    return NULL;
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

/* Appends a test. Both exits of the test become the exits of *out, exchanged if `unlike`. */
static int add_test(struct query_reader *r, const struct query_test *t, bool unlike, struct branches *out)
{
    weir_query *q = r->q;
    uint32_t yes = 2 * q->ntests, no = yes + 1;

    if (weir_array_reserve(&q->tests, &q->tests_cap, (size_t)q->ntests + 1, sizeof *q->tests))
        return weir_fail_nomem(r->err);
    q->tests[q->ntests] = *t;
    q->tests[q->ntests].yes = q->tests[q->ntests].no = NO_EXIT;
    q->ntests++;
    q->paths |= t->field == QUERY_PATH;
    out->yes = unlike ? (struct exits){no, no} : (struct exits){yes, yes};
    out->no = unlike ? (struct exits){yes, yes} : (struct exits){no, no};
    return WEIR_OK;
}

/* Compiles the current token as the value of a test. `sign` is the operator, for errors. */
static int read_value(struct query_reader *r, struct query_test *t, const char *field, const char *sign)
{
    const struct token *v = &r->token;
    struct query_value value = {v->text, v->len, v->quoted};
    weir_err why = {0};
    int rc;

    if (v->kind != WORD)
        return refuse(r, v->start, WEIR_EPARSE, "expected a value after \"%s\"", sign);
    rc = weir_query_value(r->q, t, field, &value, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc)
        return refuse(r, v->body + (size_t)why.column - 1, rc, "%s", why.text);
    return WEIR_OK;
}

/* Reads the key of property=KEY, tag=KEY or data=KEY, a test for the presence of the key. */
static int read_key(struct query_reader *r, struct query_test *t, const char *field)
{
    const struct token *v = &r->token;

    if (v->kind != WORD || v->len == 0)
        return refuse(r, v->start, WEIR_EPARSE, "expected a key after \"%s=\"", field);
    t->op = QUERY_HAS;
    t->key = v->text;
    return WEIR_OK;
}

static int read_flag(struct query_reader *r, struct query_test *t, const char *field, bool *unlike)
{
    const struct token *v = &r->token;
    char quoted[WEIR_QUOTE];
    bool yes = strcmp(v->text, "true") == 0;

    if (v->kind != WORD)
        return refuse(r, v->start, WEIR_EPARSE, "%s: expected true or false", field);
    if (!yes && strcmp(v->text, "false") != 0)
        return refuse(r, v->start, WEIR_EPARSE, "%s: expected true or false, not %s", field,
                      weir_quote(v->text, quoted));
    t->op = QUERY_HAS;
    *unlike ^= !yes;
    return WEIR_OK;
}

static int check_order(const struct query_reader *r, const struct named_field *f, const struct token *op, bool keyed)
{
    if (op->op == QUERY_EQ || f->kind == NUMBER || f->kind == AMOUNT || keyed ||
        (f->kind == IDS && f->field != QUERY_JOB))
        return WEIR_OK;
    if (f->kind == MAP)
        return refuse(r, op->start, WEIR_EPARSE,
                      "%s=KEY tests whether the key exists; to compare a value write %s.KEY%s...", f->name, f->name,
                      op->text);
    return refuse(r, op->start, WEIR_EPARSE, "\"%s\" cannot be put in order: expected = or !=, not %s", f->name,
                  op->text);
}

/* Reads an operator and a value after a field. */
static int read_comparison(struct query_reader *r, const struct named_field *f, struct query_test *t, bool *unlike)
{
    struct token op = r->token;
    int rc = check_order(r, f, &op, t->key != NULL);

    rc = rc ? rc : next(r, true);
    if (rc)
        return rc;
    t->op = op.op;
    *unlike = op.unlike;
    if (f->kind == FLAG)
        rc = read_flag(r, t, f->name, unlike);
    else if (f->kind == MAP && !t->key)
        rc = read_key(r, t, f->name);
    else
        rc = read_value(r, t, f->name, op.text);
    return rc ? rc : next(r, false);
}

/* Completes a test without operator: a flag, an amount above 0, or the presence of a key. */
static int complete_test(const struct query_reader *r, const struct named_field *f, struct query_test *t)
{
    t->op = QUERY_HAS;
    if (f->kind == AMOUNT) {
        t->op = QUERY_GE;
        t->lo = 1;
        t->hi = INT64_MAX;
    } else if (f->kind != FLAG && !t->key) {
        return refuse(r, r->token.start, WEIR_EPARSE, "expected a comparison such as = after \"%s\"", f->name);
    }
    return WEIR_OK;
}

static int split_field(const struct query_reader *r, const struct token *w, const struct named_field **f,
                       struct query_test *t)
{
    const char *dot = memchr(w->text, '.', w->len);
    size_t len = dot ? (size_t)(dot - w->text) : w->len;

    *f = find_field(w->text, len);
    if (!*f)
        return refuse_field(r, w, len);
    t->field = (*f)->field;
    if (!dot)
        return WEIR_OK;
    if ((*f)->kind != MAP)
        return refuse(r, w->start, WEIR_EPARSE, "\"%s\" has no keys; property.KEY, tag.KEY and data.KEY have",
                      (*f)->name);
    if (!dot[1])
        return refuse(r, w->start, WEIR_EPARSE, "expected a key after %s.", (*f)->name);
    t->key = dot + 1;
    return WEIR_OK;
}

static int read_test(struct query_reader *r, struct branches *out)
{
    struct query_test t = {0};
    struct token word = r->token;
    const struct named_field *f = NULL;
    bool unlike = false;
    char quoted[WEIR_QUOTE];
    int rc;

    if (word.kind == END)
        return refuse(r, word.start, WEIR_EPARSE, "the expression ends; expected a test such as type=node");
    if (word.kind != WORD || word.quoted)
        return refuse(r, word.start, WEIR_EPARSE, "expected a test such as type=node, not %s",
                      weir_quote(word.text, quoted));
    rc = split_field(r, &word, &f, &t);
    rc = rc ? rc : next(r, false);
    if (rc)
        return rc;
    rc = r->token.kind == OPERATOR ? read_comparison(r, f, &t, &unlike) : complete_test(r, f, &t);
    rc = rc ? rc : add_test(r, &t, unlike, out);
    if (rc)
        weir_idset_free(t.set);
    return rc;
}

/* ---- and, or, not -------------------------------------------------------------------------------------------- */

/* The field that holds the target of an exit. */
static uint32_t *exit_field(weir_query *q, uint32_t exit_number)
{
    return exit_number & 1 ? &q->tests[exit_number / 2].no : &q->tests[exit_number / 2].yes;
}

/* Sets the target of all exits on a list. */
static void patch(weir_query *q, struct exits w, uint32_t target)
{
    while (w.first != NO_EXIT) {
        uint32_t *place = exit_field(q, w.first);
        w.first = *place;
        *place = target;
    }
}

/* Appends list b to list a; neither may be empty. */
static struct exits join(weir_query *q, struct exits a, struct exits b)
{
    *exit_field(q, a.last) = b.first;
    return (struct exits){a.first, b.last};
}

static int read_any(struct query_reader *r, struct branches *out);

static int read_group(struct query_reader *r, struct branches *out)
{
    size_t open = r->token.start;
    int rc = next(r, false);

    rc = rc ? rc : read_any(r, out);
    if (rc)
        return rc;
    if (r->token.kind == END)
        return refuse(r, open, WEIR_EPARSE, "this \"(\" is not closed");
    if (r->token.kind != CLOSE) {
        char quoted[WEIR_QUOTE];
        return refuse(r, r->token.start, WEIR_EPARSE, "expected \"and\", \"or\" or \")\", not %s",
                      weir_quote(r->token.text, quoted));
    }
    return next(r, false);
}

static int read_not(struct query_reader *r, struct branches *out);

static int read_one(struct query_reader *r, struct branches *out)
{
    int rc;

    if (r->token.kind != NOT && r->token.kind != OPEN)
        return read_test(r, out);
    if (r->depth == QUERY_DEPTH)
        return refuse(r, r->token.start, WEIR_ELIMIT, "nested deeper than %d", QUERY_DEPTH);
    r->depth++;
    rc = r->token.kind == NOT ? read_not(r, out) : read_group(r, out);
    r->depth--;
    return rc;
}

static int read_not(struct query_reader *r, struct branches *out)
{
    struct branches inner;
    int rc = next(r, false);

    rc = rc ? rc : read_one(r, &inner);
    if (rc)
        return rc;
    out->yes = inner.no;
    out->no = inner.yes;
    return WEIR_OK;
}

static int read_all(struct query_reader *r, struct branches *out)
{
    struct branches right;
    int rc = read_one(r, out);

    while (!rc && r->token.kind == AND) {
        patch(r->q, out->yes, r->q->ntests);
        rc = next(r, false);
        rc = rc ? rc : read_one(r, &right);
        if (rc)
            break;
        out->yes = right.yes;
        out->no = join(r->q, out->no, right.no);
    }
    return rc;
}

static int read_any(struct query_reader *r, struct branches *out)
{
    struct branches right;
    int rc = read_all(r, out);

    while (!rc && r->token.kind == OR) {
        patch(r->q, out->no, r->q->ntests);
        rc = next(r, false);
        rc = rc ? rc : read_all(r, &right);
        if (rc)
            break;
        out->no = right.no;
        out->yes = join(r->q, out->yes, right.yes);
    }
    return rc;
}

static int read_expression(struct query_reader *r)
{
    struct branches whole;
    char quoted[WEIR_QUOTE];
    int rc = next(r, false);

    rc = rc ? rc : read_any(r, &whole);
    if (rc)
        return rc;
    if (r->token.kind != END)
        return refuse(r, r->token.start, WEIR_EPARSE, "expected \"and\" or \"or\", not %s",
                      weir_quote(r->token.text, quoted));
    patch(r->q, whole.yes, QUERY_YES);
    patch(r->q, whole.no, QUERY_NO);
    return WEIR_OK;
}

int weir_query_parse(const char *text, size_t len, weir_query **out, weir_err *err)
{
    struct query_reader r = {.text = text, .len = len, .err = err};
    const char *nul = len ? memchr(text, '\0', len) : NULL;
    int rc;

    if (len > QUERY_BYTES)
        return weir_fail(err, WEIR_ELIMIT, "the expression is longer than %d bytes", QUERY_BYTES);
    if (nul)
        return refuse(&r, (size_t)(nul - text), WEIR_EPARSE, "a byte 0 in the expression");
    r.q = weir_mem_zalloc(1, sizeof *r.q);
    if (!r.q)
        return weir_fail_nomem(err);
    r.next_word = r.q->text = weir_mem_alloc(2 * len + 1); /* a word needs a terminating NUL */
    rc = r.q->text ? read_expression(&r) : weir_fail_nomem(err);
    if (rc)
        weir_query_free(r.q);
    else
        *out = r.q;
    return rc;
}

void weir_query_free(weir_query *q)
{
    if (!q)
        return;
    for (uint32_t i = 0; i < q->ntests; i++)
        weir_idset_free(q->tests[i].set);
    WEIR_FREE(q->tests, q->pieces, q->runs, q->text, q);
}
