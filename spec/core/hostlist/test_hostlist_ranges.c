/* test_hostlist_ranges.c - long ranges with something behind the bracket, the same names split otherwise, and lists
 * made to be slow.
 */
#include "check.h"

#include <time.h>

#include "hostlist/hostlist.h"

static weir_hostlist *parse(const char *text)
{
    weir_hostlist *h = NULL;

    CHECK(weir_hostlist_parse(text, strlen(text), &h, NULL) == WEIR_OK, "[H1] \"%.60s\" is read", text);
    return h;
}

/* Whether h is written as `want`; frees h. */
static bool becomes(weir_hostlist *h, const char *want)
{
    char *text = weir_hostlist_format(h, NULL);
    bool same = check_same(text, want);

    if (!same)
        printf("    %s\n", text ? text : "(none)");
    weir_free(text);
    weir_hostlist_free(h);
    return same;
}

static int64_t find(const weir_hostlist *h, const char *name)
{
    return weir_hostlist_find(h, name, strlen(name));
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- ranges with a suffix ---- */

#define LONG "h[0-4294967295]-eth0"

static void test_long(void)
{
    weir_hostlist *h = parse(LONG);
    weir_hostlist *same = parse("h[0-9]-eth0,h[10-4294967295]-eth0");
    weir_hostlist *other = parse("h[0-9]-eth0,h[10-4294967296]-eth0");
    char name[32];

    CHECK(weir_hostlist_count(h) == UINT64_C(4294967296), "[H1] four thousand million names with a suffix");
    CHECK(weir_hostlist_bytes(h) < 1024, "[H1] are kept in %zu bytes", weir_hostlist_bytes(h));
    CHECK(weir_hostlist_nth(h, 123456, name, sizeof name) == 12 && check_same(name, "h123456-eth0"), "[H1] nth");
    CHECK(weir_hostlist_equal(h, same) && !weir_hostlist_equal(h, other), "[H1] and compared");
    CHECK(weir_hostlist_sort(h) == WEIR_ELIMIT && weir_hostlist_uniq(h) == WEIR_ELIMIT, "[H1] not sorted");
    CHECK(weir_hostlist_delete(h, "h7-eth0", 7, NULL, NULL) == WEIR_ELIMIT, "[H1] none deleted by name");
    CHECK(weir_hostlist_delete_at(h, 5) == WEIR_OK && find(h, "h6-eth0") == 5, "[H1] but by position");
    CHECK(weir_hostlist_delete_at(h, UINT64_C(4294967294)) == WEIR_OK, "[H1] also the last");
    weir_hostlist_free(same);
    weir_hostlist_free(other);
    CHECK(becomes(h, "h[0-4,6-4294967294]-eth0"), "[H1] and written");
}

static void test_text(void)
{
    CHECK(becomes(parse("x1,a[8-10]b,y1"), "x1,a8b,a9b,a10b,y1"), "[H1] a suffix goes with each name");
    CHECK(becomes(parse("a[1-2]-b7,a2-b8"), "a1-b7,a2-b[7-8]"), "[H1] that is split as if it came by itself");
    CHECK(becomes(parse("x1,a[08-4000000000]b,y[1-2]c,a[7-9]b"), "x1,a[08-4000000000]b,y[1-2]c,a[7-9]b"),
          "[H1] but not with more than can be written");
    CHECK(becomes(parse("a[1-2]b,a[3-9999999999]b,a[3-4]c"), "a[1-9999999999]b,a[3-4]c"), "[H1] then ranges join");
}

static void test_find(void)
{
    static const struct {
        const char *name;
        int at;
    } rows[] = {
        {"n3-eth0", 2},
        {"n03-eth0", -1},
        {"n3-eth00", -1},
        {"n3-eth", -1},
        {"n10-eth0", 9},
        {"n3", -1},
        {"a1b1c", 20},
        {"a1b2c", 21},
        {"a2b1c", -1},
        {"p9915", 26},
        {"p9925", 27},
        {"p99", -1},
        {"12345678901234567890-x", 31},
        {"12345678901234567892-x", 33},
        {"012345678901234567890-x", -1},
        {"", -1},
    };
    weir_hostlist *h = parse("n[1-20]-eth0,a1b[1-3]c,x[1-2]y,y,p99[1-4]5,1234567890123456789[0-3]-x,n[2-4]-eth0");

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            CHECK(find(h, rows[i].name) == rows[i].at - (rows[i].at >= 30), "[H1] find %s: %d", rows[i].name,
                  (int)find(h, rows[i].name));
        CHECK(weir_hostlist_index(h) == WEIR_OK, "[H1] the same by the index");
    }
    weir_hostlist_free(h);
}

/* Lists with equal names but different texts, and lists that differ. */
static void test_equal(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"", "", true},
        {"a[1-3]b", "a1b,a2b,a3b", true},
        {"a[1-3]b7", "a1b7,a2b7,a3b7", true},
        {"a[1-2]0", "a10,a20", true},
        {"a[8-11]x", "a8x,a[9-10]x,a11x", true},
        {"a1[0-9]x", "a[10-19]x", true},
        {"a[1-3]b,c", "a1b,a2b,a3b,d", false},
        {"a[1-3]b,c", "a1b,a2b,a4b,c", false},
        {"a[1-3]", "a[1-2],a3", true},
        {"a[1-3]", "a[1-2],a03", false},
        {"a[1-3]", "b[1-3]", false},
        {"a,b", "b,a", false},
        {"a[1-2],b", "a[1-2]", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_hostlist *a, *b;
        a = parse(rows[i].a);
        b = parse(rows[i].b);
        CHECK(weir_hostlist_equal(a, b) == rows[i].equal, "[H1] %s and %s", rows[i].a, rows[i].b);
        CHECK(weir_hostlist_equal(b, a) == rows[i].equal, "[H1] %s and %s", rows[i].b, rows[i].a);
        weir_hostlist_free(a);
        weir_hostlist_free(b);
    }
    CHECK(weir_hostlist_equal(NULL, NULL), "[H1] no lists");
}

static void test_changes(void)
{
    weir_hostlist *h = parse("b[1-2]x7,a[2-3]y");
    weir_hostlist *more = parse("b[3-4]x7");
    uint64_t gone = 0;

    CHECK(weir_hostlist_append_list(h, more, NULL) == WEIR_OK && weir_hostlist_append_list(h, h, NULL) == WEIR_OK,
          "[H1] append");
    CHECK(weir_hostlist_count(h) == 12, "[H1] twelve names");
    CHECK(weir_hostlist_delete_list(h, more, &gone, NULL) == WEIR_OK && gone == 2, "[H1] two are deleted");
    CHECK(weir_hostlist_uniq(h) == WEIR_OK && weir_hostlist_count(h) == 6, "[H1] six are left");
    CHECK(weir_hostlist_delete_list(h, h, &gone, NULL) == WEIR_OK && gone == 6, "[H1] a list deleted from itself");
    CHECK(weir_hostlist_delete_list(h, NULL, NULL, NULL) == WEIR_EINVAL &&
              weir_hostlist_append_list(NULL, more, NULL) == WEIR_EINVAL,
          "[H1] no list");
    weir_hostlist_free(more);
    CHECK(becomes(h, ""), "[H1] nothing is left");
    h = parse("b[1-2]x7,b2x8,a[1-3]y");
    CHECK(becomes(h, "b1x7,b2x[7-8],a1y,a2y,a3y"), "[H1] names are written as if each were given by itself");
}

/* ---- lists made to be slow ---- */

/* "h[0-R],h[1-R],..." with something behind each. */
static weir_hostlist *nested(int n, const char *suffix)
{
    weir_hostlist *h = weir_hostlist_new();
    char text[64];
    int bad = 0;

    for (int i = 0; i < n; i++) {
        int len = snprintf(text, sizeof text, "h[%07d-%d]%s", 1000000 + i, 9000000 - i, suffix);
        bad += weir_hostlist_append(h, text, (size_t)len, NULL) != WEIR_OK;
    }
    CHECK(bad == 0, "[H1] %d nested ranges", n);
    return h;
}

static void test_nested(void)
{
    enum { N = 100000 };
    weir_hostlist *h = nested(N, "");
    double start = seconds();
    uint64_t gone = 0;
    int64_t found = 0;

    CHECK(weir_hostlist_index(h) == WEIR_OK, "[H1] nested ranges: index");
    for (int i = 0; i < 10000; i++)
        found += find(h, "h5000000");
    CHECK(found == 10000 * INT64_C(4000000), "[H1] nested ranges: find");
    CHECK(weir_hostlist_sort(h) == WEIR_ELIMIT, "[H1] nested ranges: too many names to sort");
    CHECK(weir_hostlist_delete(h, "h[0000000-9999999]", 18, &gone, NULL) == WEIR_OK && gone == 8000001,
          "[H1] nested ranges: the first of each name goes");
    CHECK(weir_hostlist_delete_list(h, h, NULL, NULL) == WEIR_ELIMIT, "[H1] nested ranges: too many to be deleted");
    CHECK(weir_hostlist_uniq(h) == WEIR_OK, "[H1] nested ranges: uniq");
    printf("%d nested ranges: %.2f s\n", N, seconds() - start);
    CHECK(seconds() - start < 20, "[H1] nested ranges take no longer than others");
    CHECK(becomes(h, "h[1000001-8999999]"), "[H1] nested ranges: one is left");
}

static void test_many_suffixes(void)
{
    weir_hostlist *h = weir_hostlist_new();
    double start = seconds();
    char text[64];
    int bad = 0;

    for (int i = 0; i < 100000; i++) {
        int len = snprintf(text, sizeof text, "r%dn[0-99999]-ib", i);
        bad += weir_hostlist_append(h, text, (size_t)len, NULL) != WEIR_OK;
    }
    CHECK(bad == 0 && weir_hostlist_index(h) == WEIR_OK, "[H1] a hundred thousand prefixes with a suffix");
    for (int i = 0; i < 100000; i++) {
        int len = snprintf(text, sizeof text, "r%dn%d-ib", i, i);
        bad += weir_hostlist_find(h, text, (size_t)len) != (int64_t)i * 100000 + i;
    }
    CHECK(bad == 0 && seconds() - start < 10, "[H1] find by the index takes no longer for them");
    weir_hostlist_free(h);
}

/* A long name of many numbers. */
static void test_long_name(void)
{
    weir_hostlist *h = parse("a[1-5]x,a1[0-9]a1,[0-9]a");
    char name[60000];
    double start = seconds();

    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i % 2 ? '1' : 'a';
    CHECK(weir_hostlist_index(h) == WEIR_OK && weir_hostlist_find(h, name, sizeof name) == -1, "[H1] many numbers");
    memset(name, '1', sizeof name);
    CHECK(weir_hostlist_find(h, name, sizeof name) == -1 && seconds() - start < 5, "[H1] many digits");
    weir_hostlist_free(h);
}

/* ---- memory ---- */

static int nomem_once(void *arg)
{
    weir_hostlist *h = NULL, *copy = NULL;
    weir_err err = {0};
    char *text = NULL;
    int rc = weir_hostlist_parse("n[1-9]-e,a[1-3]b,q[7]c", 22, &h, &err);

    (void)arg;
    if (rc == WEIR_OK)
        rc = weir_hostlist_copy(h, &copy);
    if (rc == WEIR_OK)
        rc = weir_hostlist_index(h);
    if (rc == WEIR_OK)
        rc = weir_hostlist_delete_list(h, copy, NULL, &err);
    CHECK(rc == WEIR_OK || !copy || weir_hostlist_equal(h, copy), "[H1] what fails changes nothing");
    if (rc == WEIR_OK)
        rc = weir_hostlist_append_list(h, copy, &err);
    if (rc == WEIR_OK) {
        text = weir_hostlist_format(h, &err);
        rc = text ? WEIR_OK : err.code;
    }
    if (rc == WEIR_OK)
        rc = weir_hostlist_sort(h);
    weir_free(text);
    weir_hostlist_free(h);
    weir_hostlist_free(copy);
    return rc;
}

int main(void)
{
    test_long();
    test_text();
    test_find();
    test_equal();
    test_changes();
    test_nested();
    test_many_suffixes();
    test_long_name();
    check_nomem(nomem_once, NULL, "[H1] hostlist with suffixes");
    return check_report();
}
