/* test_hostlist.c - lists of host names: rows made by hand, the vectors of RFC 29, the tables of the test data, random
 * runs against an array of names, failing allocations.
 */
#include "check.h"
#include "refused.h"
#include "table.h"

#include <time.h>

#include "hostlist/hostlist.h"

static weir_hostlist *parse(const char *text)
{
    weir_hostlist *h = NULL;
    weir_err err = {0};
    int rc = weir_hostlist_parse(text, text ? strlen(text) : 0, &h, &err);

    CHECK(rc == WEIR_OK ? err.code == WEIR_OK : err.code == rc && err.text[0] && !h, "parse fills err just on failure");
    return h;
}

static const char *format(const weir_hostlist *h)
{
    static char text[65536];
    weir_buf b = {0};

    if (weir_hostlist_write(h, &b) != WEIR_OK)
        return NULL;
    snprintf(text, sizeof text, "%s", b.data);
    weir_buf_free(&b);
    return text;
}

static int64_t find(const weir_hostlist *h, const char *name)
{
    return weir_hostlist_find(h, name, strlen(name));
}

/* ---- rows ---- */

static const struct codec_row {
    const char *in, *out;
    int count;
} codec_rows[] = {
    /* the vectors of RFC 29 */
    {"", "", 0},
    {"foox,fooy,fooz", "foox,fooy,fooz", 3},
    {"1,2,3,5,6", "[1-3,5-6]", 5},
    {"foo1,foo2,foo3,foo4,foo5", "foo[1-5]", 5},
    {"foo0-eth2,foo1-eth2,foo2-eth2,foo3-eth2,foo4-eth2", "foo0-eth2,foo1-eth2,foo2-eth2,foo3-eth2,foo4-eth2", 5},
    {"foo[0-4]-eth2", "foo0-eth2,foo1-eth2,foo2-eth2,foo3-eth2,foo4-eth2", 5},
    {"foo1,foo1,foo1", "foo[1,1,1]", 3},
    {"[00-02]", "[00-02]", 3},
    {"[00-2]", "[00-02]", 3},
    {"foo[1,1,2,1]", "foo[1,1-2,1]", 4},
    {"a[005,4,11-13]", "a[005,004,011-013]", 5},
    /* more */
    {"foo0", "foo0", 1},
    {"foo[7]", "foo7", 1},
    {"n[8-12]", "n[8-12]", 5},
    {"n[098-102]", "n[098-102]", 5},
    {"n[998-1001]", "n[998-1001]", 4},
    {"n[0998-1001]", "n[0998-1001]", 4},
    {"n[08-102]", "n[08-102]", 95},
    {"n[8-9],n[010-011]", "n[8-9,010-011]", 4},
    {"n005,n4,n12,n1234", "n005,n[4,12,1234]", 4},
    {"n05,n005", "n[05,005]", 2},
    {"n1[08-12]", "n[108-112]", 5},
    {"n00[8-12]", "n[008-009,0010-0012]", 5},
    {"n[1-3]0", "n[10,20,30]", 3},
    {"a[1-2],b[1-2],a3", "a[1-2],b[1-2],a3", 5},
    {"a1 , a2\n", "a[1-2]", 2},
    {",,a,,", "a", 1},
    {"h123456789012345678901234", "h123456789012345678901234", 1},
    {"h[000000000000000000000007-9]", "h000000[000000000000000007-000000000000000009]", 3},
    {"h9[999999999999999998-999999999999999999]", "h9[999999999999999998-999999999999999999]", 2},
    {"node-[1-2].example.org", "node-1.example.org,node-2.example.org", 2},
};

static const struct refused_row refused_rows[] = {
    {"[]", WEIR_EPARSE, 2},
    {"foo[]", WEIR_EPARSE, 5},
    {"foo[", WEIR_EPARSE, 5},
    {"foo[1,3", WEIR_EPARSE, 8},
    {"foo[[1,3]", WEIR_EPARSE, 5},
    {"foo]", WEIR_EPARSE, 4},
    {"]", WEIR_EPARSE, 1},
    {"foo[x-y]", WEIR_EPARSE, 5},
    {"foo[0-1,2--5]", WEIR_EPARSE, 11},
    {"foo[5-1]", WEIR_EPARSE, 7},
    {"foo[1-]", WEIR_EPARSE, 7},
    {"foo[-1]", WEIR_EPARSE, 5},
    {"foo[1,]", WEIR_EPARSE, 7},
    {"foo[1, 2]", WEIR_EPARSE, 7},
    {"foo[1]a]", WEIR_EPARSE, 8},
    {"r[1-2]n[3-4]", WEIR_EPARSE, 8},
    {"a b", WEIR_EPARSE, 3},
    {"a1,\x01", WEIR_EPARSE, 4},
    {"h\xc3\xa9", WEIR_EPARSE, 2},
    {"h[1-1234567890123456789]", WEIR_ELIMIT, 5},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof codec_rows / sizeof *codec_rows; i++) {
        const struct codec_row *r = &codec_rows[i];
        weir_hostlist *h = parse(r->in);
        weir_hostlist *back;
        CHECK(check_same(format(h), r->out), "[H1] \"%s\" is written \"%s\", not \"%s\"", r->in, r->out, format(h));
        CHECK(weir_hostlist_count(h) == (uint64_t)r->count, "[H1] \"%s\" has %d names", r->in, r->count);
        back = parse(r->out);
        CHECK(check_same(format(back), r->out), "[H1] \"%s\" is a fixed point", r->out);
        weir_hostlist_free(h);
        weir_hostlist_free(back);
    }
    CHECK_REFUSED(refused_rows, weir_hostlist, weir_hostlist_parse, "[H1]");
}

static void test_append(void)
{
    weir_hostlist *h = parse("foo12");
    weir_err err = {0};

    CHECK(weir_hostlist_append(h, "foo[4,1-2]", 10, NULL) == WEIR_OK, "[H1] append");
    CHECK(check_same(format(h), "foo[12,4,1-2]"), "[H1] order is kept: %s", format(h));
    CHECK(weir_hostlist_append(h, "foo3,bar[1-2", 12, &err) == WEIR_EPARSE, "[H1] wrong text is not appended");
    CHECK(check_same(format(h), "foo[12,4,1-2]"), "[H1] and undone: %s", format(h));
    CHECK(weir_hostlist_append_name(h, "a,b", 3, NULL) == WEIR_EINVAL, "[H1] a name with a comma is refused");
    CHECK(weir_hostlist_append_name(h, "", 0, NULL) == WEIR_EINVAL, "[H1] an empty name is refused");
    CHECK(weir_hostlist_append_name(h, "a\nb", 3, NULL) == WEIR_EINVAL, "[H1] a name of two lines is refused");
    CHECK(weir_hostlist_append_name(h, "foo3", 4, NULL) == WEIR_OK, "[H1] a name is appended");
    CHECK(weir_hostlist_append_list(h, h, NULL) == WEIR_OK, "[H1] a list is appended to itself");
    CHECK(check_same(format(h), "foo[12,4,1-3,12,4,1-3]"), "[H1] and stands there twice: %s", format(h));
    weir_hostlist_free(h);
    h = parse("a1");
    CHECK(weir_hostlist_append(h, "a[2-3]", 6, NULL) == WEIR_OK && weir_hostlist_append_list(h, h, NULL) == WEIR_OK &&
              check_same(format(h), "a[1-3,1-3]"),
          "[H1] one run appended to itself: %s", format(h));
    weir_hostlist_free(h);
}

static void test_nth(void)
{
    weir_hostlist *h = parse("foo[1-2,4,5],bar,p[098-100]");
    static const char *const want[] = {"foo1", "foo2", "foo4", "foo5", "bar", "p098", "p099", "p100"};
    char name[8];

    for (uint64_t i = 0; i < 8; i++) {
        size_t n = weir_hostlist_nth(h, i, name, sizeof name);
        CHECK(n == strlen(want[i]) && check_same(name, want[i]), "[H1] name %d is %s", (int)i, name);
        CHECK(find(h, want[i]) == (int64_t)i, "[H1] %s is found", want[i]);
    }
    CHECK(weir_hostlist_nth(h, 8, name, sizeof name) == 0 && !name[0], "[H1] there is no ninth");
    CHECK(weir_hostlist_nth(h, 0, name, 3) == 4 && check_same(name, "fo"), "[H1] a short buffer is filled");
    weir_hostlist_free(h);
    CHECK(weir_hostlist_nth(NULL, 0, name, sizeof name) == 0 && weir_hostlist_count(NULL) == 0, "[H1] no list");
    CHECK(find(NULL, "a") == -1 && weir_hostlist_sort(NULL) == WEIR_EINVAL, "[H1] no list");
    weir_hostlist_free(NULL);
}

/* The list must neither take long nor much memory for long ranges. */
static void test_long_ranges(void)
{
    weir_hostlist *h = parse("h[0-4294967295],h[7-4294967295]");
    uint64_t deleted = 0;
    char name[32];

    CHECK(weir_hostlist_count(h) == UINT64_C(8589934585), "[H1] eight thousand million hosts");
    CHECK(check_same(format(h), "h[0-4294967295,7-4294967295]"), "[H1] are written shortly: %s", format(h));
    CHECK(weir_hostlist_nth(h, 4294967296, name, sizeof name) == 2 && check_same(name, "h7"), "[H1] nth: %s", name);
    CHECK(weir_hostlist_sort(h) == WEIR_ELIMIT && weir_hostlist_count(h) == UINT64_C(8589934585),
          "[H1] they are too many to sort");
    CHECK(weir_hostlist_delete(h, "h[3-4294967294]", 15, &deleted, NULL) == WEIR_OK && deleted == 4294967292,
          "[H1] some are deleted");
    CHECK(check_same(format(h), "h[0-2,4294967295,7-4294967295]"), "[H1] the first of each: %s", format(h));
    CHECK(weir_hostlist_uniq(h) == WEIR_OK, "[H1] uniq");
    CHECK(check_same(format(h), "h[0-2,7-4294967295]"), "[H1] each is left once: %s", format(h));
    weir_hostlist_free(h);
}

static void test_limits(void)
{
    weir_hostlist *h = parse("a1,a5,a2");
    size_t size = WEIR_NAME_MAX + 2;
    char *name = weir_mem_alloc(size);
    weir_err err = {0};

    CHECK(weir_hostlist_delete_at(h, 3) == WEIR_ENOENT, "[H1] there is no fourth name to delete");
    CHECK(weir_hostlist_delete_at(h, 1) == WEIR_OK && check_same(format(h), "a[1-2]"), "[H1] neighbours join");
    memset(name, 'x', size);
    CHECK(weir_hostlist_append_name(h, name, size, &err) == WEIR_ELIMIT, "[H1] a name is too long: %s", err.text);
    memcpy(name + size - 5, "[1-3]", 5);
    CHECK(weir_hostlist_append(h, name, size, NULL) == WEIR_ELIMIT, "[H1] names in brackets are too long");
    weir_err_clear(&err);
    CHECK(weir_hostlist_append(h, NULL, 0, &err) == WEIR_EINVAL, "[H1] no text: %s", err.text);
    for (int i = 0; i < 9; i++)
        CHECK(weir_hostlist_append(h, "h[0-999999999999999999]", 23, NULL) == WEIR_OK,
              "[H1] a million million million");
    weir_err_clear(&err);
    CHECK(weir_hostlist_append(h, "h[0-999999999999999999]", 23, &err) == WEIR_ELIMIT, "[H1] are enough: %s", err.text);
    CHECK(weir_hostlist_count(h) == UINT64_C(9000000000000000002), "[H1] the list is as it was");
    CHECK(weir_hostlist_uniq(h) == WEIR_OK && check_same(format(h), "a[1-2],h[0-999999999999999999]"), "[H1] uniq: %s",
          format(h));
    weir_mem_free(name);
    weir_hostlist_free(h);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_many(void)
{
    weir_hostlist *h = weir_hostlist_new();
    weir_buf b = {0};
    char name[32];
    double start = seconds();
    double middle;
    int bad = 0;

    for (int i = 0; i < 10000; i++) {
        int n = snprintf(name, sizeof name, "node%05d", i * 3);
        bad += weir_hostlist_append_name(h, name, (size_t)n, NULL) != WEIR_OK;
    }
    middle = seconds();
    CHECK(bad == 0 && weir_hostlist_write(h, &b) == WEIR_OK && weir_hostlist_count(h) == 10000, "[H1] 10,000 names");
    printf("10,000 names: append %.3f ms, format %.3f ms\n", (middle - start) * 1e3, (seconds() - middle) * 1e3);
    CHECK(find(h, "node29997") == 9999 && find(h, "node29998") == -1, "[H1] find");
    CHECK(weir_hostlist_index(h) == WEIR_OK && find(h, "node29997") == 9999 && find(h, "node29998") == -1,
          "[H1] find by the index");
    weir_buf_free(&b);
    weir_hostlist_free(h);
}

/* ---- tables ---- */

#ifdef TABLE_JSON
static void table_codec(const json_t *file)
{
    const json_t *row;

    for (size_t i = 0; table_text(row = table_row(file, "codec_tests", i), 0); i++) {
        weir_hostlist *h = parse(table_text(row, 0));
        weir_hostlist *copy = NULL;
        CHECK(check_same(format(h), table_text(row, 1)), "[H1] table: \"%s\" is written", table_text(row, 0));
        CHECK(weir_hostlist_count(h) == (uint64_t)table_number(row, 2), "[H1] table: \"%s\" count", table_text(row, 0));
        CHECK(weir_hostlist_copy(h, &copy) == WEIR_OK && check_same(format(copy), table_text(row, 1)),
              "[H1] table: \"%s\" is copied", table_text(row, 0));
        weir_hostlist_free(h);
        weir_hostlist_free(copy);
    }
    for (size_t i = 0; json_is_string(row = table_row(file, "input", i)); i++)
        CHECK(!parse(json_string_value(row)), "[H1] table: \"%s\" is refused", json_string_value(row));
}

static void table_find(const json_t *file)
{
    const json_t *row;

    for (size_t i = 0; table_text(row = table_row(file, "find_tests", i), 0); i++) {
        weir_hostlist *h = parse(table_text(row, 0));
        CHECK(find(h, table_text(row, 1)) == table_number(row, 2), "[H1] table: %s in \"%s\"", table_text(row, 1),
              table_text(row, 0));
        CHECK(weir_hostlist_index(h) == WEIR_OK && find(h, table_text(row, 1)) == table_number(row, 2),
              "[H1] table: %s in \"%s\", by the index", table_text(row, 1), table_text(row, 0));
        weir_hostlist_free(h);
    }
}

static void table_delete(const json_t *file)
{
    const json_t *row;

    for (size_t i = 0; table_text(row = table_row(file, "delete_tests", i), 0); i++) {
        weir_hostlist *h = parse(table_text(row, 0));
        const char *names = table_text(row, 1);
        uint64_t n = 99;
        CHECK(weir_hostlist_delete(h, names, strlen(names), &n, NULL) == WEIR_OK && (long)n == table_number(row, 2),
              "[H1] table: delete %s from \"%s\": %d", names, table_text(row, 0), (int)n);
        CHECK(check_same(format(h), table_text(row, 3)), "[H1] table: \"%s\" is left", table_text(row, 3));
        weir_hostlist_free(h);
    }
}

static void table_sort(const json_t *file)
{
    const json_t *row;

    for (size_t i = 0; table_text(row = table_row(file, "sortuniq_tests", i), 0); i++) {
        weir_hostlist *h = parse(table_text(row, 0));
        CHECK(weir_hostlist_sort(h) == WEIR_OK && check_same(format(h), table_text(row, 1)),
              "[H1] table: \"%s\" sorted is \"%s\"", table_text(row, 0), format(h));
        weir_hostlist_free(h);
        h = parse(table_text(row, 0));
        CHECK(weir_hostlist_uniq(h) == WEIR_OK && check_same(format(h), table_text(row, 2)),
              "[H1] table: \"%s\" uniq is \"%s\"", table_text(row, 0), format(h));
        weir_hostlist_free(h);
    }
}

/* Each list, rebuilt name by name, is written unchanged. */
static void table_iterate(const json_t *file)
{
    const json_t *row;
    char name[256];

    for (size_t i = 0; json_is_string(row = table_row(file, "iterator_inputs", i)); i++) {
        weir_hostlist *h = parse(json_string_value(row));
        weir_hostlist *copy = weir_hostlist_new();
        int bad = 0;
        for (uint64_t k = 0; k < weir_hostlist_count(h); k++) {
            size_t n = weir_hostlist_nth(h, k, name, sizeof name);
            bad += weir_hostlist_append_name(copy, name, n, NULL) != WEIR_OK;
        }
        CHECK(bad == 0 && check_same(format(copy), json_string_value(row)), "[H1] table: \"%s\" by name",
              json_string_value(row));
        weir_hostlist_free(h);
        weir_hostlist_free(copy);
    }
}

/* A name is deleted while a loop stands at position n: the loop continues with the name after it. */
static void table_next_delete(const json_t *file)
{
    const json_t *row;
    char name[256];

    for (size_t i = 0; table_text(row = table_row(file, "next_delete_tests", i), 0); i++) {
        weir_hostlist *h = parse(table_text(row, 1));
        int64_t at = table_number(row, 2);
        int64_t gone = table_text(row, 3) ? find(h, table_text(row, 3)) : at;
        CHECK(weir_hostlist_delete_at(h, (uint64_t)gone) == WEIR_OK, "[H1] table: %s", table_text(row, 0));
        weir_hostlist_nth(h, (uint64_t)(at + (gone > at)), name, sizeof name);
        CHECK(check_same(name, table_text(row, 4)), "[H1] table: %s: next is %s", table_text(row, 0), name);
        weir_hostlist_free(h);
    }
}

static void test_tables(void)
{
    json_t *file = table_open("codec/libhostlist_hostlist.json");

    if (!file)
        return;
    table_codec(file);
    table_find(file);
    table_delete(file);
    table_sort(file);
    table_iterate(file);
    table_next_delete(file);
    CHECK(json_array_size(json_object_get(json_object_get(file, "tables"), "codec_tests")) > 10, "[H1] rows were read");
    json_decref(file);
}
#else
static void test_tables(void)
{
    printf("skipped: the rows of codec/libhostlist_hostlist.json (built without jansson)\n");
}
#endif

/* Rows of the form - ``"a"`` = ``"b"``: both name equal hosts. */
static void test_vectors(void)
{
    char path[4096], line[1024], a[512], b[512], left[65536];
    FILE *f = fopen(check_data("codec/spec_29_test_vectors.rst", path, sizeof path), "r");
    int rows = 0;

    if (!f) {
        printf("skipped: the vectors of %s\n", path);
        return;
    }
    while (fgets(line, sizeof line, f)) {
        weir_hostlist *x, *y;
        if (strcmp(line, " - ``\"\"`` = ``\"\"``\n") == 0)
            a[0] = b[0] = '\0';
        else if (sscanf(line, " - ``\"%511[^\"]\"`` = ``\"%511[^\"]\"``", a, b) != 2)
            continue;
        rows++;
        x = parse(a);
        y = parse(b);
        snprintf(left, sizeof left, "%s", format(x));
        CHECK(check_same(left, format(y)), "[H1] vector: \"%s\" is \"%s\"", a, b);
        CHECK(weir_hostlist_count(x) == weir_hostlist_count(y), "[H1] vector: \"%s\" has as many names", a);
        weir_hostlist_free(x);
        weir_hostlist_free(y);
    }
    fclose(f);
    CHECK(rows == 9, "[H1] nine vectors");
}

/* ---- random runs against an array of names ---- */

#define NAMES 4000

struct model {
    weir_hostlist *h;
    char name[NAMES][24];
    int n;
};

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % n);
}

static const char *const heads[] = {"a", "a0", "b12", "", "foo-", "x9-"};
static const char *const tails[] = {"", "", "", "", "-e", "0", "7x"};

/* Makes a random expression, and the names in it. */
static void random_text(char *text, struct model *m)
{
    const char *head = heads[dice(6)];
    const char *tail = tails[dice(7)];
    int ranges = 1 + (int)dice(3);
    int first_width = 0;

    text += sprintf(text, "%s[", head);
    for (int k = 0; k < ranges; k++) {
        int width = dice(3) == 0 ? 1 + (int)dice(4) : 0;
        int lo = (int)(dice(2) ? dice(12) : dice(2) ? 95 + dice(10) : dice(1100));
        int hi = dice(2) ? lo : lo + (int)dice(12);
        int length = snprintf(NULL, 0, "%0*d", width, lo);
        if (length == snprintf(NULL, 0, "%d", lo))
            width = 0; /* no leading zero */
        text += sprintf(text, k ? ",%0*d" : "%0*d", width, lo);
        if (hi > lo)
            text += sprintf(text, "-%d", hi);
        first_width = k ? first_width : width;
        if (width < first_width)
            width = first_width;
        for (int i = lo; i <= hi; i++)
            snprintf(m->name[m->n++], sizeof m->name[0], "%s%0*d%s", head, width, i, tail);
    }
    sprintf(text, "]%s", tail);
}

static bool is_model(const struct model *m, const weir_hostlist *h)
{
    char name[32];
    int bad = 0;

    for (int i = 0; i < m->n; i++) {
        weir_hostlist_nth(h, (uint64_t)i, name, sizeof name);
        bad += strcmp(name, m->name[i]) != 0;
    }
    return bad == 0 && weir_hostlist_count(h) == (uint64_t)m->n;
}

/* The list has the model's names; its text reads as an equal list, and equals the text of the names appended one
 * by one. */
static void compare(const struct model *m, const char *what)
{
    static char text[65536];
    weir_hostlist *back, *again = weir_hostlist_new();
    int bad = 0;

    snprintf(text, sizeof text, "%s", format(m->h));
    CHECK(is_model(m, m->h), "[H1] %s: as the array: \"%s\"", what, text);
    back = parse(text);
    CHECK(is_model(m, back), "[H1] %s: \"%s\" comes back", what, text);
    for (int i = 0; i < m->n; i++)
        bad += weir_hostlist_append_name(again, m->name[i], strlen(m->name[i]), NULL) != WEIR_OK;
    CHECK(bad == 0 && check_same(format(again), text), "[H1] %s: \"%s\" is compact", what, text);
    CHECK(weir_hostlist_equal(m->h, again) && weir_hostlist_equal(back, m->h), "[H1] %s: equal to itself", what);
    CHECK(m->n == 0 ||
              (weir_hostlist_delete_at(again, (uint64_t)m->n / 2) == WEIR_OK &&
               weir_hostlist_append_name(again, "other", 5, NULL) == WEIR_OK && !weir_hostlist_equal(m->h, again)),
          "[H1] %s: not equal to another", what);
    weir_hostlist_free(back);
    weir_hostlist_free(again);
}

static int model_find(const struct model *m, const char *name)
{
    for (int i = 0; i < m->n; i++) {
        if (strcmp(m->name[i], name) == 0)
            return i;
    }
    return -1;
}

static void model_remove(struct model *m, int i)
{
    memmove(m->name[i], m->name[i + 1], (size_t)(--m->n - i) * sizeof m->name[0]);
}

static void random_delete(struct model *m, struct model *names)
{
    char text[512];
    uint64_t gone = 0;
    int want = 0;

    names->n = 0;
    random_text(text, names);
    for (int i = 0; i < names->n; i++) {
        int at = model_find(m, names->name[i]);
        if (at >= 0) {
            model_remove(m, at);
            want++;
        }
    }
    CHECK(weir_hostlist_delete(m->h, text, strlen(text), &gone, NULL) == WEIR_OK && gone == (uint64_t)want,
          "[H1] delete %s: %d of %d", text, (int)gone, want);
    compare(m, text);
}

static int by_order(const void *x, const void *y)
{
    const char *a = x;
    const char *b = y;
    size_t la = strlen(a), lb = strlen(b), pa = la, pb = lb, both;
    int order;

    while (pa > 0 && a[pa - 1] >= '0' && a[pa - 1] <= '9')
        pa--;
    while (pb > 0 && b[pb - 1] >= '0' && b[pb - 1] <= '9')
        pb--;
    both = pa < pb ? pa : pb;
    order = strncmp(a, b, both);
    if (order != 0 || pa != pb)
        return order != 0 ? order : pa < pb ? -1 : 1;
    if (la != lb)
        return la < lb ? -1 : 1;
    return strcmp(a, b);
}

static void random_sort(struct model *m, bool uniq)
{
    CHECK((uniq ? weir_hostlist_uniq : weir_hostlist_sort)(m->h) == WEIR_OK, "[H1] sort or uniq");
    qsort(m->name, (size_t)m->n, sizeof m->name[0], by_order);
    for (int i = 1; uniq && i < m->n;) {
        if (strcmp(m->name[i], m->name[i - 1]) == 0)
            model_remove(m, i);
        else
            i++;
    }
    compare(m, uniq ? "uniq" : "sort");
}

static void random_find(struct model *m, struct model *names)
{
    char text[512];

    names->n = 0;
    random_text(text, names);
    for (int i = 0; i < names->n; i++)
        CHECK(find(m->h, names->name[i]) == model_find(m, names->name[i]), "[H1] find %s", names->name[i]);
    CHECK(weir_hostlist_index(m->h) == WEIR_OK, "[H1] index");
    for (int i = 0; i < names->n; i++)
        CHECK(find(m->h, names->name[i]) == model_find(m, names->name[i]), "[H1] find %s by index", names->name[i]);
}

static void random_step(struct model *m, struct model *other)
{
    char text[512];
    uint32_t what = dice(12);

    if (what < 6 && m->n < NAMES - 100) {
        random_text(text, m);
        CHECK(weir_hostlist_append(m->h, text, strlen(text), NULL) == WEIR_OK, "[H1] append %s", text);
        compare(m, text);
    } else if (what < 8) {
        random_delete(m, other);
    } else if (what < 10 && m->n > 0) {
        int i = (int)dice((uint32_t)m->n);
        CHECK(weir_hostlist_delete_at(m->h, (uint64_t)i) == WEIR_OK, "[H1] delete name %d", i);
        model_remove(m, i);
        compare(m, "delete_at");
    } else if (dice(4) == 0) {
        random_sort(m, dice(2));
    }
    random_find(m, other);
}

static void test_random(void)
{
    static struct model m, other;

    for (uint64_t k = 1; k <= 60; k++) {
        seed = k * 0x9E3779B97F4A7C15u;
        m.h = weir_hostlist_new();
        m.n = 0;
        for (int i = 0; i < 40; i++)
            random_step(&m, &other);
        weir_hostlist_free(m.h);
    }
}

/* ---- memory ---- */

static int nomem_change(weir_hostlist *h)
{
    static const char text[] = "b[1-3]x,foo[3,9-12],c[01-30]";
    uint64_t count = weir_hostlist_count(h);
    weir_err err = {0};
    char name[16];
    int rc = weir_hostlist_append(h, text, sizeof text - 1, &err);

    CHECK(rc == err.code && (rc == WEIR_OK || weir_hostlist_count(h) == count), "[H1] a failed append is undone");
    for (int i = 0; i < 40 && rc == WEIR_OK; i++) {
        count = weir_hostlist_count(h);
        rc = weir_hostlist_append_name(h, name, (size_t)snprintf(name, sizeof name, "n%d-", i), NULL);
        CHECK(weir_hostlist_count(h) == count + (rc == WEIR_OK), "[H1] a failed name is not there");
    }
    if (rc == WEIR_OK)
        rc = weir_hostlist_delete(h, "c[03-09]", 8, NULL, &err);
    if (rc == WEIR_OK)
        rc = weir_hostlist_delete_at(h, 8);
    if (rc == WEIR_OK)
        rc = weir_hostlist_index(h);
    if (rc == WEIR_OK)
        rc = weir_hostlist_append_list(h, h, &err);
    if (rc == WEIR_OK)
        rc = weir_hostlist_sort(h);
    if (rc == WEIR_OK)
        rc = weir_hostlist_uniq(h);
    return rc;
}

static int nomem_once(void *arg)
{
    weir_hostlist *h = NULL, *copy = NULL;
    weir_buf b = {0};
    weir_err err = {0};
    int rc = weir_hostlist_parse("foo[1-5],a[001-003,7]z,h[00000000000000000000001-2]", 51, &h, &err);

    (void)arg;
    CHECK(rc == err.code, "[H1] a failure to read is told");
    if (rc == WEIR_OK)
        rc = weir_hostlist_copy(h, &copy);
    if (rc == WEIR_OK)
        rc = nomem_change(copy);
    if (rc == WEIR_OK)
        rc = weir_hostlist_write(copy, &b);
    weir_buf_free(&b);
    weir_hostlist_free(h);
    weir_hostlist_free(copy);
    return rc;
}

int main(void)
{
    test_rows();
    test_append();
    test_nth();
    test_long_ranges();
    test_limits();
    test_many();
    test_vectors();
    test_tables();
    test_random();
    check_nomem(nomem_once, NULL, "[H1] hostlist");
    return check_report();
}
