/* test_idset.c - sets of ids: rows made by hand, the tables of the test data, random runs against a bitmap, failing
 * allocations.
 */
#include "check.h"
#include "refused.h"
#include "table.h"

#include "idset/idset.h"

static weir_idset *parse(const char *text)
{
    weir_idset *s = NULL;
    weir_err err = {0};
    int rc = weir_idset_parse(text, text ? strlen(text) : 0, &s, &err);

    CHECK(rc == WEIR_OK ? err.code == WEIR_OK : err.code == rc && err.text[0] && !s, "parse fills err just on failure");
    return s;
}

static const char *format(const weir_idset *s, unsigned flags)
{
    static char text[4096];
    weir_buf b = {0};

    if (weir_idset_write(s, flags, &b) != WEIR_OK)
        return NULL;
    snprintf(text, sizeof text, "%s", b.data);
    weir_buf_free(&b);
    return text;
}

/* ---- rows ---- */

static const struct codec_row {
    const char *in;
    unsigned flags;
    const char *out; /* NULL: refused */
} codec_rows[] = {
    {"0", 0, "0"},
    {"", WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS, ""},
    {"[]", 0, ""},
    {"[5]", WEIR_IDSET_BRACKETS, "5"},
    {"1-3", WEIR_IDSET_BRACKETS, "[1,2,3]"},
    {"1-3,4", WEIR_IDSET_RANGES, "1-4"},
    {"1-3,5-5", WEIR_IDSET_RANGES, "1-3,5"},
    {"1-2", WEIR_IDSET_RANGES, "1-2"},
    {"0-4294967295", WEIR_IDSET_RANGES, "0-4294967295"},
    {"4294967295", 0, "4294967295"},
    {"[0-1,4294967294-4294967295]", WEIR_IDSET_RANGES, "0-1,4294967294-4294967295"},
};

static const struct refused_row refused_rows[] = {
    {"x", WEIR_EPARSE, 1},
    {"1,,2", WEIR_EPARSE, 3},
    {",1", WEIR_EPARSE, 1},
    {"1,", WEIR_EPARSE, 3},
    {"1 ", WEIR_EPARSE, 2},
    {" 1", WEIR_EPARSE, 1},
    {"1-02", WEIR_EPARSE, 3},
    {"007", WEIR_EPARSE, 1},
    {"1,03", WEIR_EPARSE, 3},
    {"3-1", WEIR_EPARSE, 3},
    {"5,3", WEIR_EPARSE, 3},
    {"1-5,5", WEIR_EPARSE, 5},
    {"[1", WEIR_EPARSE, 3},
    {"1]", WEIR_EPARSE, 2},
    {"[1]2", WEIR_EPARSE, 4},
    {"[1][2]", WEIR_EPARSE, 4},
    {"[", WEIR_EPARSE, 2},
    {"1--2", WEIR_EPARSE, 3},
    {"+1", WEIR_EPARSE, 1},
    {"0x1", WEIR_EPARSE, 2},
    {"1\n", WEIR_EPARSE, 2},
    {"\xc3\xa9", WEIR_EPARSE, 1},
    {"-", WEIR_EPARSE, 1},
    {"4294967296", WEIR_ELIMIT, 1},
    {"1-9999999999999999999999", WEIR_ELIMIT, 3},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof codec_rows / sizeof *codec_rows; i++) {
        const struct codec_row *r = &codec_rows[i];
        weir_idset *s = parse(r->in);
        CHECK(check_same(format(s, r->flags), r->out), "[I1] \"%s\" is written \"%s\"", r->in, r->out);
        weir_idset_free(s);
    }
    CHECK_REFUSED(refused_rows, weir_idset, weir_idset_parse, "[I1]");
}

static void test_limits(void)
{
    weir_idset *s = parse("0-4294967295");
    weir_buf b = {0};

    CHECK(weir_idset_count(s) == UINT64_C(4294967296), "[I1] all ids are counted");
    CHECK(weir_idset_write(s, 0, &b) == WEIR_ELIMIT && b.len == 0, "[I1] four thousand million ids are not listed");
    CHECK(weir_idset_write(s, 4, &b) == WEIR_EINVAL, "[I1] an unknown flag is refused");
    CHECK(weir_idset_write(NULL, 0, &b) == WEIR_EINVAL, "[I1] no set is refused");
    CHECK(weir_idset_last(s) == 4294967295 && weir_idset_next(s, 4294967294) == 4294967295, "[I1] the last id");
    CHECK(weir_idset_next(s, 4294967295) == -1 && weir_idset_prev(s, INT64_MAX) == 4294967295, "[I1] beyond the last");
    CHECK(weir_idset_remove_range(s, 1, UINT32_MAX) == WEIR_OK && weir_idset_count(s) == 1, "[I1] all but one removed");
    CHECK(weir_idset_add_range(s, 2, 1) == WEIR_EINVAL && weir_idset_remove_range(s, 2, 1) == WEIR_EINVAL,
          "[I1] a reversed range is refused");
    CHECK(weir_idset_remove_id(s, 7) == WEIR_OK, "[I1] what is not there can be removed");
    weir_idset_free(s);
    weir_idset_free(NULL);
}

static void test_nothing(void)
{
    weir_idset *out = NULL;
    weir_err err = {0};

    CHECK(weir_idset_parse(NULL, 0, &out, &err) == WEIR_EINVAL, "[I1] no text is refused");
    CHECK(weir_idset_count(NULL) == 0 && !weir_idset_test(NULL, 1), "[I1] no set has no ids");
    CHECK(weir_idset_first(NULL) == -1 && weir_idset_last(NULL) == -1, "[I1] nor a first or last one");
    CHECK(weir_idset_next(NULL, 0) == -1 && weir_idset_prev(NULL, 5) == -1, "[I1] nor a next one");
    CHECK(weir_idset_copy(NULL, &out) == WEIR_EINVAL, "[I1] it cannot be copied");
    CHECK(weir_idset_add_id(NULL, 1) == WEIR_EINVAL && weir_idset_remove_id(NULL, 1) == WEIR_EINVAL,
          "[I1] nor changed");
    CHECK(weir_idset_equal(NULL, NULL) && weir_idset_contains(NULL, NULL), "[I1] it is equal to itself");
}

static void test_ascending(void)
{
    weir_idset *s = weir_idset_new();
    uint32_t lo, hi;
    size_t runs = 0;
    int bad = 0;

    for (uint32_t i = 0; i < 1000000; i++)
        bad += weir_idset_add_id(s, i * 2) != WEIR_OK;
    while (weir_idset_run(s, runs, &lo, &hi))
        runs++;
    CHECK(bad == 0 && runs == 1000000 && weir_idset_count(s) == 1000000, "[I1] a million single ids, ascending");
    CHECK(weir_idset_next(s, 999998) == 1000000 && weir_idset_prev(s, 1000000) == 999998, "[I1] are found again");
    weir_idset_free(s);
}

static void test_text(void)
{
    weir_idset *s = parse("1-3,7");
    weir_err err = {0};
    char *text = weir_idset_format(s, WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS, &err);

    CHECK(check_same(text, "[1-3,7]"), "[I1] a text of its own");
    weir_free(text);
    CHECK(!weir_idset_format(s, 8, &err) && err.code == WEIR_EINVAL, "[I1] an unknown flag: %s", err.text);
    weir_err_clear(&err);
    CHECK(!weir_idset_format(NULL, 0, &err) && err.code == WEIR_EINVAL, "[I1] no set: %s", err.text);
    weir_err_clear(&err);
    CHECK(weir_idset_add_range(s, 0, 1u << 24) == WEIR_OK && !weir_idset_format(s, 0, &err) &&
              err.code == WEIR_ELIMIT && strstr(err.text, "16777217"),
          "[I1] too many: %s", err.text);
    weir_idset_free(s);
}

static void test_list(void)
{
    enum { N = 300000 };
    uint32_t *ids = weir_mem_alloc(N * sizeof *ids);
    weir_idset *s = parse("5-6");
    uint32_t x = 1;

    for (uint32_t i = 0; i < N; i++, x = x * 1664525 + 1013904223)
        ids[i] = x | 1;
    CHECK(weir_idset_add_list(s, ids, N) == WEIR_OK, "[I1] odd ids in any order");
    CHECK(weir_idset_test(s, 1 | 1) && weir_idset_test(s, 6) && !weir_idset_test(s, 8), "[I1] are there");
    CHECK(weir_idset_count(s) > N / 2 && weir_idset_count(s) <= N + 2, "[I1] once each");
    CHECK(weir_idset_bytes(s) > weir_idset_count(s) * 7 && weir_idset_bytes(s) < weir_idset_count(s) * 17,
          "[I1] 8 bytes a run, and room to grow");
    CHECK(weir_idset_add_list(s, NULL, 0) == WEIR_OK && weir_idset_add_list(s, NULL, 1) == WEIR_EINVAL &&
              weir_idset_add_list(NULL, ids, 1) == WEIR_EINVAL,
          "[I1] nothing to add");
    weir_mem_free(ids);
    weir_idset_free(s);
}

static const struct take_row {
    const char *from;
    uint64_t n;
    const char *taken, *left;
} take_rows[] = {
    {"1-3,7-9", 0, "", "1-3,7-9"},
    {"1-3,7-9", 2, "1-2", "3,7-9"},
    {"1-3,7-9", 3, "1-3", "7-9"},
    {"1-3,7-9", 4, "1-3,7", "8-9"},
    {"1-3,7-9", 6, "1-3,7-9", ""},
    {"1-3,7-9", UINT64_MAX, "1-3,7-9", ""},
    {"", 5, "", ""},
    {"0-4294967295", 4294967295u, "0-4294967294", "4294967295"},
};

static void test_take(void)
{
    weir_idset *none = NULL;

    for (size_t i = 0; i < sizeof take_rows / sizeof *take_rows; i++) {
        const struct take_row *r = &take_rows[i];
        weir_idset *s = parse(r->from);
        weir_idset *taken = NULL;
        CHECK(weir_idset_take(s, r->n, &taken) == WEIR_OK, "[I1] take from \"%s\"", r->from);
        CHECK(check_same(format(taken, WEIR_IDSET_RANGES), r->taken), "[I1] \"%s\" are taken", r->taken);
        CHECK(check_same(format(s, WEIR_IDSET_RANGES), r->left), "[I1] \"%s\" are left", r->left);
        weir_idset_free(s);
        weir_idset_free(taken);
    }
    CHECK(weir_idset_take(NULL, 1, &none) == WEIR_EINVAL && !none, "[I1] nothing to take from");
}

/* ---- tables ---- */

#ifdef TABLE_JSON
static void table_codec(const json_t *file)
{
    const json_t *row;

    for (size_t i = 0; (row = table_row(file, "test_inputs", i)); i++) {
        const char *in = table_text(row, 0);
        const char *out = table_text(row, 2);
        const char *expr = table_expr(row, 1);
        unsigned flags = (strstr(expr, "FLAG_RANGE") ? WEIR_IDSET_RANGES : 0) |
                         (strstr(expr, "FLAG_BRACKETS") ? WEIR_IDSET_BRACKETS : 0);
        weir_idset *s = parse(in);
        CHECK(check_same(s ? format(s, flags) : NULL, out), "[I1] table: \"%s\" is written \"%s\"", in ? in : "(null)",
              out ? out : "(refused)");
        weir_idset_free(s);
    }
    CHECK(json_array_size(json_object_get(json_object_get(file, "tables"), "test_inputs")) > 40, "[I1] rows were read");
}

static void table_operation(const json_t *row)
{
    const char *op = table_expr(row, 1);
    weir_idset *a = table_text(row, 0) ? parse(table_text(row, 0)) : NULL;
    weir_idset *b = table_text(row, 2) ? parse(table_text(row, 2)) : NULL;
    weir_idset *want = table_text(row, 3) ? parse(table_text(row, 3)) : NULL;
    weir_idset *out = NULL;
    const weir_idset *got;
    int rc = WEIR_EPOLICY;

    if (strcmp(op, "OP_UNION") == 0)
        rc = weir_idset_union(a, b, &out);
    else if (strcmp(op, "OP_DIFF") == 0)
        rc = weir_idset_difference(a, b, &out);
    else if (strcmp(op, "OP_INTER") == 0)
        rc = weir_idset_intersect(a, b, &out);
    else if (strcmp(op, "OP_ADD") == 0)
        rc = weir_idset_add(a, b);
    else if (strcmp(op, "OP_SUB") == 0)
        rc = weir_idset_subtract(a, b);
    got = strcmp(op, "OP_ADD") == 0 || strcmp(op, "OP_SUB") == 0 ? a : out;
    CHECK(rc == (want ? WEIR_OK : WEIR_EINVAL), "[I1] table: %s: status %s", op, weir_status_name(rc));
    CHECK(weir_idset_equal(got, want), "[I1] table: %s %s", op, want ? table_text(row, 3) : "fails");
    weir_idset_free(a);
    weir_idset_free(b);
    weir_idset_free(want);
    weir_idset_free(out);
}

static void test_tables(void)
{
    json_t *file = table_open("codec/libidset_idset.json");
    const json_t *row;

    if (!file)
        return;
    table_codec(file);
    for (size_t i = 0; (row = table_row(file, "optab", i)); i++)
        table_operation(row);
    for (size_t i = 0; (row = table_row(file, "idset_decode_empty", i)); i++) {
        const char *in = table_text(row, 0);
        bool fails = table_expr(row, 1)[0] != '\0';
        weir_idset *s = parse(in);
        CHECK(fails == !s, "[I1] table: \"%s\" is read or refused", in ? in : "(null)");
        CHECK(weir_idset_count(s) == (uint64_t)table_number(row, 2), "[I1] table: \"%s\": count", in ? in : "(null)");
        CHECK(fails || weir_idset_last(s) == (table_expr(row, 3)[0] ? -1 : table_number(row, 3)),
              "[I1] table: \"%s\": last", in ? in : "(null)");
        weir_idset_free(s);
    }
    json_decref(file);
}
#else
static void test_tables(void)
{
    printf("skipped: the rows of codec/libidset_idset.json (built without jansson)\n");
}
#endif

/* ---- random runs against a bitmap ---- */

#define IDS 120

struct model {
    weir_idset *s;
    bool has[IDS];
};

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % n);
}

static void compare(const struct model *m)
{
    uint64_t count = 0;
    int64_t last = -1;
    uint32_t lo, hi, before = 0;
    bool same = true, apart = true;

    for (uint32_t i = 0; i < IDS; i++) {
        same = same && weir_idset_test(m->s, i) == m->has[i];
        same = same && weir_idset_prev(m->s, i) == last;
        if (m->has[i]) {
            same = same && weir_idset_next(m->s, last) == i;
            last = i;
            count++;
        }
    }
    for (size_t i = 0; weir_idset_run(m->s, i, &lo, &hi); i++) {
        apart = apart && lo <= hi && (i == 0 || lo > before + 1);
        before = hi;
    }
    CHECK(same && weir_idset_last(m->s) == last && weir_idset_count(m->s) == count, "[I1] the set is as the bitmap");
    CHECK(apart, "[I1] runs ascend and stay apart");
}

static void random_change(struct model *m)
{
    uint32_t lo = dice(IDS);
    uint32_t hi = lo + dice(dice(3) ? 4 : IDS - lo);
    bool add = dice(2);

    if (hi >= IDS)
        hi = IDS - 1;
    if (add)
        CHECK(weir_idset_add_range(m->s, lo, hi) == WEIR_OK, "[I1] add %u-%u", lo, hi);
    else
        CHECK(weir_idset_remove_range(m->s, lo, hi) == WEIR_OK, "[I1] remove %u-%u", lo, hi);
    for (uint32_t i = lo; i <= hi; i++)
        m->has[i] = add;
    compare(m);
}

static void compare_made(weir_idset *s, const struct model *a, const struct model *b, int op)
{
    struct model m = {.s = s};

    for (uint32_t i = 0; i < IDS; i++)
        m.has[i] = op == 0 ? a->has[i] || b->has[i] : op == 1 ? a->has[i] && !b->has[i] : a->has[i] && b->has[i];
    compare(&m);
    CHECK(op != 0 || (weir_idset_contains(s, a->s) && weir_idset_contains(s, b->s)), "[I1] a union contains both");
    CHECK(op != 1 || !weir_idset_has_intersection(s, b->s), "[I1] a difference shares nothing");
    CHECK(op != 2 || weir_idset_has_intersection(a->s, b->s) == (weir_idset_count(s) > 0), "[I1] an intersection");
    CHECK(op != 2 || weir_idset_contains(a->s, b->s) == weir_idset_equal(s, b->s), "[I1] contains");
    weir_idset_free(s);
}

static void random_algebra(const struct model *a, const struct model *b)
{
    weir_idset *out, *back;
    const char *text;

    if (weir_idset_union(a->s, b->s, &out) == WEIR_OK)
        compare_made(out, a, b, 0);
    if (weir_idset_difference(a->s, b->s, &out) == WEIR_OK)
        compare_made(out, a, b, 1);
    if (weir_idset_intersect(a->s, b->s, &out) == WEIR_OK)
        compare_made(out, a, b, 2);
    if (weir_idset_copy(a->s, &out) == WEIR_OK && weir_idset_add(out, b->s) == WEIR_OK)
        compare_made(out, a, b, 0);
    if (weir_idset_copy(a->s, &out) == WEIR_OK && weir_idset_subtract(out, b->s) == WEIR_OK)
        compare_made(out, a, b, 1);
    text = format(a->s, dice(4));
    back = parse(text);
    CHECK(weir_idset_equal(a->s, back), "[I1] \"%s\" comes back", text ? text : "nothing");
    weir_idset_free(back);
}

static void test_random(void)
{
    for (uint64_t k = 1; k <= 60; k++) {
        struct model a = {.s = weir_idset_new()};
        struct model b = {.s = weir_idset_new()};
        seed = k * 0x9E3779B97F4A7C15u;
        for (int i = 0; i < 60; i++) {
            random_change(&a);
            random_change(&b);
            random_algebra(&a, &b);
        }
        CHECK(weir_idset_subtract(a.s, a.s) == WEIR_OK && weir_idset_count(a.s) == 0, "[I1] a set minus itself");
        weir_idset_free(a.s);
        weir_idset_free(b.s);
    }
}

/* ---- memory ---- */

static int nomem_algebra(const weir_idset *s, weir_idset *t)
{
    weir_idset *out = NULL;
    uint64_t count = weir_idset_count(t);
    int rc = weir_idset_union(s, t, &out);

    weir_idset_free(out);
    out = NULL;
    if (rc == WEIR_OK)
        rc = weir_idset_difference(s, t, &out);
    weir_idset_free(out);
    out = NULL;
    if (rc == WEIR_OK)
        rc = weir_idset_intersect(s, t, &out);
    weir_idset_free(out);
    if (rc == WEIR_OK)
        rc = weir_idset_add(t, s);
    CHECK(rc == WEIR_OK || weir_idset_count(t) == count, "[I1] a failed addition changes nothing");
    return rc;
}

static int nomem_list(weir_idset *t)
{
    uint32_t ids[20];
    weir_idset *low = NULL;
    uint64_t count = weir_idset_count(t);
    weir_err err = {0};
    char *text = weir_idset_format(t, 0, &err);
    int rc = text ? WEIR_OK : err.code;

    weir_free(text);
    for (uint32_t i = 0; i < 20; i++)
        ids[i] = 5000 - i * 3;
    if (rc == WEIR_OK)
        rc = weir_idset_add_list(t, ids, 20);
    if (rc == WEIR_OK)
        rc = weir_idset_take(t, count + 3, &low);
    CHECK(weir_idset_count(t) == (rc == WEIR_OK ? 17 : count) || weir_idset_count(t) == count + 20,
          "[I1] what fails changes nothing");
    weir_idset_free(low);
    return rc;
}

static int nomem_once(void *arg)
{
    weir_idset *s = NULL, *t = NULL;
    weir_buf b = {0};
    weir_err err = {0};
    int rc = weir_idset_parse("1,3,5,7,9,11,13,15,17,19-25", 27, &s, &err);

    (void)arg;
    CHECK(rc == err.code, "[I1] a failure to read is told");
    if (rc == WEIR_OK)
        rc = weir_idset_copy(s, &t);
    for (uint32_t i = 0; i < 100 && rc == WEIR_OK; i++) {
        uint64_t count = weir_idset_count(t);
        rc = weir_idset_add_id(t, 500 - i * 4);
        CHECK(weir_idset_count(t) == count + (rc == WEIR_OK), "[I1] a failed addition changes nothing");
    }
    if (rc == WEIR_OK)
        rc = weir_idset_remove_id(t, 21);
    if (rc == WEIR_OK)
        rc = nomem_algebra(s, t);
    if (rc == WEIR_OK)
        rc = nomem_list(t);
    if (rc == WEIR_OK)
        rc = weir_idset_write(t, WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS, &b);
    weir_buf_free(&b);
    weir_idset_free(s);
    weir_idset_free(t);
    return rc;
}

int main(void)
{
    test_rows();
    test_limits();
    test_nothing();
    test_ascending();
    test_text();
    test_list();
    test_take();
    test_tables();
    test_random();
    check_nomem(nomem_once, NULL, "[I1] idset");
    return check_report();
}
