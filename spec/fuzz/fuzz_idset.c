/* fuzz_idset.c - idsets: the first line is read, written, read again and compared, and combined with the second
 * line; the bytes behind are changes to two small sets, which are compared with bitmaps. */
#include "fuzz.h"

#define IDS        256
#define LISTED_MAX 4096 /* the most ids written singly here */

/* ---- texts ---- */

static weir_idset *parse(const char *text, size_t len)
{
    weir_idset *s = NULL;
    weir_err err = {0};
    int rc = weir_idset_parse(text, len, &s, &err);

    REQUIRE(rc == err.code && (rc == WEIR_OK) == (s != NULL));
    REQUIRE(rc == WEIR_OK || (err.text[0] && err.line == 1 && err.column >= 1 && (size_t)err.column <= len + 1));
    return s;
}

static void there_and_back(const weir_idset *s, unsigned flags)
{
    char *text = weir_idset_format(s, flags, NULL);
    weir_idset *back;

    REQUIRE(text);
    back = parse(text, strlen(text));
    REQUIRE(weir_idset_equal(s, back));
    weir_idset_free(back);
    weir_free(text);
}

static void check_runs(const weir_idset *s)
{
    uint64_t count = 0;
    int64_t last = -2;
    uint32_t lo, hi;

    for (size_t i = 0; weir_idset_run(s, i, &lo, &hi); i++) {
        REQUIRE(lo <= hi && (int64_t)lo > last + 1);
        REQUIRE(weir_idset_next(s, last) == lo && weir_idset_run_end(s, lo) == hi);
        last = hi;
        count += (uint64_t)hi - lo + 1;
    }
    REQUIRE(count == weir_idset_count(s) && weir_idset_last(s) == (count > 0 ? last : -1));
}

static void text_alone(const weir_idset *s)
{
    check_runs(s);
    there_and_back(s, WEIR_IDSET_RANGES);
    there_and_back(s, WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS);
    if (weir_idset_count(s) <= LISTED_MAX)
        there_and_back(s, WEIR_IDSET_BRACKETS);
}

/* Checks the laws of sets for any two sets. */
static void text_pair(const weir_idset *a, const weir_idset *b)
{
    weir_idset *all, *both, *only, *sum;

    REQUIRE(weir_idset_union(a, b, &all) == WEIR_OK && weir_idset_intersect(a, b, &both) == WEIR_OK);
    REQUIRE(weir_idset_difference(a, b, &only) == WEIR_OK && weir_idset_copy(only, &sum) == WEIR_OK);
    check_runs(all);
    check_runs(both);
    check_runs(only);
    REQUIRE(weir_idset_count(all) + weir_idset_count(both) == weir_idset_count(a) + weir_idset_count(b));
    REQUIRE(weir_idset_contains(all, a) && weir_idset_contains(all, b));
    REQUIRE(weir_idset_contains(a, both) && weir_idset_contains(b, both));
    REQUIRE(weir_idset_has_intersection(a, b) == (weir_idset_count(both) > 0));
    REQUIRE(!weir_idset_has_intersection(only, b));
    REQUIRE(weir_idset_add(sum, both) == WEIR_OK && weir_idset_equal(sum, a));
    weir_idset_free(all);
    weir_idset_free(both);
    weir_idset_free(only);
    weir_idset_free(sum);
}

/* ---- changes ---- */

struct model {
    weir_idset *s;
    bool has[IDS];
};

static void compare(const struct model *m)
{
    uint64_t count = 0;
    int64_t last = -1;

    for (uint32_t i = 0; i < IDS; i++) {
        REQUIRE(weir_idset_test(m->s, i) == m->has[i] && weir_idset_prev(m->s, i) == last);
        if (!m->has[i])
            continue;
        REQUIRE(weir_idset_next(m->s, last) == i);
        last = i;
        count++;
    }
    REQUIRE(weir_idset_last(m->s) == last);
    REQUIRE(weir_idset_count(m->s) == count);
}

static void take(struct model *m, uint64_t n)
{
    weir_idset *low = NULL;

    REQUIRE(weir_idset_take(m->s, n, &low) == WEIR_OK && weir_idset_count(low) <= n);
    for (uint32_t i = 0; i < IDS && n > 0; i++) {
        n -= m->has[i];
        REQUIRE(!m->has[i] || weir_idset_test(low, i));
        m->has[i] = false;
    }
    weir_idset_free(low);
}

static void set_range(struct model *m, uint32_t lo, uint32_t hi, bool add)
{
    REQUIRE((add ? weir_idset_add_range : weir_idset_remove_range)(m->s, lo, hi) == (lo <= hi ? WEIR_OK : WEIR_EINVAL));
    for (uint32_t i = lo; i <= hi; i++)
        m->has[i] = add;
}

static void combine(struct model *m, const struct model *other, bool add)
{
    REQUIRE((add ? weir_idset_add : weir_idset_subtract)(m->s, other->s) == WEIR_OK);
    for (uint32_t i = 0; i < IDS; i++)
        m->has[i] = add ? m->has[i] || other->has[i] : m->has[i] && !other->has[i];
}

static void add_list(struct model *m, const uint8_t *ids, size_t n)
{
    uint32_t list[8];

    for (size_t i = 0; i < n; i++) {
        list[i] = ids[i];
        m->has[ids[i]] = true;
    }
    REQUIRE(weir_idset_add_list(m->s, list, n) == WEIR_OK);
}

static void changes(const uint8_t *data, size_t size)
{
    struct model models[2] = {{.s = weir_idset_new()}, {.s = weir_idset_new()}};

    for (; size >= 3; data += 3, size -= 3) {
        struct model *m = &models[data[0] & 1];
        switch (data[0] >> 1 & 7) {
        case 0: take(m, data[1]); break;
        case 1: combine(m, &models[data[1] & 1], true); break;
        case 2: combine(m, &models[data[1] & 1], false); break;
        case 3: add_list(m, data + 1, 2); break;
        case 4: set_range(m, data[1], data[2], false); break;
        default: set_range(m, data[1], data[2], true); break;
        }
        compare(m);
    }
    text_pair(models[0].s, models[1].s);
    weir_idset_free(models[0].s);
    weir_idset_free(models[1].s);
}

/* The length of the line at the start of data, without the line end. */
static size_t line_length(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;

    return end ? (size_t)(end - data) : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t first = line_length(data, size);
    size_t rest = first < size ? size - first - 1 : 0;
    const uint8_t *more = data + (size - rest);
    size_t second = line_length(more, rest);
    weir_idset *a = parse((const char *)data, first);
    weir_idset *b = parse((const char *)more, second);

    if (a)
        text_alone(a);
    if (a && b)
        text_pair(a, b);
    weir_idset_free(a);
    weir_idset_free(b);
    if (second < rest)
        changes(more + second + 1, rest - second - 1);
    return 0;
}
