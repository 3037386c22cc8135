/* fuzz_rset.c - resource sets: a set read and written again is equal; sets obey the laws of sets; the parts of an
 * R add up to the R; a remapped R has as many resources as before; its machine is sound. The input is an R, or two
 * with a form feed between them; a single R is compared with a part of itself.
 */
#include "fuzz.h"

#define RANKS 4096 /* a set with more ranks is read and queried, but not written: hosts are written one by one */
#define POOLS 20000

static weir_rset *read_set(const char *text, size_t size)
{
    weir_rset *r = NULL;
    weir_err err = {0};
    int rc = weir_rset_parse(text, size, "input", &r, &err);

    if (rc == WEIR_OK ? !r : r || err.code != rc || !err.text[0])
        fuzz_fail("status %d, code %d, text \"%s\"", rc, err.code, err.text);
    return r;
}

static char *write_set(const weir_rset *r, const char *format)
{
    weir_err err = {0};
    char *text = weir_rset_format(r, format, &err);

    if (!text)
        fuzz_fail("%s: %s", format, err.text);
    return text;
}

/* Written, read and written again: both texts are equal. */
static void check_round_trip(const weir_rset *r)
{
    char *first = write_set(r, "rv1"), *second;
    weir_rset *copy = read_set(first, strlen(first));

    if (!copy)
        fuzz_fail("what was written cannot be read: %s", first);
    second = write_set(copy, "rv1");
    if (strcmp(first, second) != 0 || !weir_rset_equal(r, copy))
        fuzz_fail("%s\n%s", first, second);
    weir_free(second);
    weir_free(first);
    weir_free(write_set(r, "rlist"));
    weir_rset_free(copy);
}

/* NULL: the two do not belong together. */
static weir_rset *combine(enum weir_rset_op op, const weir_rset *a, const weir_rset *b)
{
    weir_rset *r = NULL;
    weir_err err = {0};
    int rc = weir_rset_combine(op, a, b, &r, &err);

    if (rc == WEIR_OK ? !r : r || err.code != rc || !err.text[0])
        fuzz_fail("operation %d: status %d, code %d, text \"%s\"", (int)op, rc, err.code, err.text);
    return r;
}

static void check_counts(const weir_rset *a, const weir_rset *b, const weir_rset *both, const weir_rset *common)
{
    static const char *const types[] = {"core", "gpu"};

    for (size_t i = 0; both && i < 2; i++)
        if (weir_rset_count(a, types[i]) + weir_rset_count(b, types[i]) !=
            weir_rset_count(both, types[i]) + weir_rset_count(common, types[i]))
            fuzz_fail("%s: the sum of a and b is not that of a | b and a & b", types[i]);
}

/* [R8] */
static void check_sum(const weir_rset *a, const weir_rset *rest, const weir_rset *common)
{
    weir_rset *sum = combine(WEIR_RSET_UNION, rest, common);
    char *whole, *text;

    if (!sum || !weir_rset_equal(a, sum))
        fuzz_fail("the parts do not add up");
    if (weir_rset_count(a, NULL) <= RANKS) {
        whole = write_set(a, "rv1");
        text = write_set(sum, "rv1");
        if (strcmp(whole, text) != 0)
            fuzz_fail("%s\n%s", whole, text);
        weir_free(whole);
        weir_free(text);
    }
    weir_rset_free(sum);
}

static void check_algebra(const weir_rset *a, const weir_rset *b)
{
    weir_rset *both = combine(WEIR_RSET_UNION, a, b), *common = combine(WEIR_RSET_INTERSECT, a, b);
    weir_rset *rest = combine(WEIR_RSET_DIFF, a, b), *none;

    if (common && rest) {
        check_counts(a, b, both, common);
        check_sum(a, rest, common);
        none = combine(WEIR_RSET_INTERSECT, rest, b);
        if (!none || weir_rset_count(none, "core") + weir_rset_count(none, "gpu") > 0)
            fuzz_fail("a - b has something of b");
        weir_rset_free(none);
    }
    if (both && weir_rset_count(both, NULL) <= RANKS)
        check_round_trip(both);
    if (rest && weir_rset_count(rest, NULL) <= RANKS)
        check_round_trip(rest);
    weir_rset_free(both);
    weir_rset_free(common);
    weir_rset_free(rest);
}

/* Checks remapped ranks and ids. */
static void check_remap(const weir_rset *r)
{
    for (int ids = 0; ids < 2; ids++) {
        weir_rset *low = NULL;
        weir_err err = {0};
        if (weir_rset_remap(r, NULL, ids, &low, &err) != WEIR_OK)
            fuzz_fail("%s", err.text);
        if (weir_rset_count(low, NULL) != weir_rset_count(r, NULL) ||
            weir_rset_count(low, "core") != weir_rset_count(r, "core") ||
            weir_idset_last(weir_rset_ranks(low)) != (int64_t)weir_rset_count(r, NULL) - 1)
            fuzz_fail("other ranks, other things");
        check_round_trip(low);
        weir_rset_free(low);
    }
}

/* Every second rank of a set, without core 0. */
static weir_rset *some_of(const weir_rset *r)
{
    static const char core[] =
        "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-4096\",\"children\":{\"core\":\"0\"}}]}}";
    const weir_idset *all = weir_rset_ranks(r);
    weir_idset *half = weir_idset_new();
    weir_rset *part = NULL, *zero = read_set(core, sizeof core - 1), *result;
    int64_t rank = weir_idset_first(all);

    for (int i = 0; half && rank >= 0 && i < 1000; i++, rank = weir_idset_next(all, rank))
        if (i % 2 == 0 && weir_idset_add_id(half, (uint32_t)rank) < 0)
            break;
    if (!half || !zero || weir_rset_select_ranks(r, half, &part, NULL) < 0)
        fuzz_fail("out of memory");
    result = combine(WEIR_RSET_DIFF, part, zero);
    weir_idset_free(half);
    weir_rset_free(part);
    weir_rset_free(zero);
    return result;
}

static void check_machine(const weir_rset *r)
{
    uint64_t pools = weir_rset_count(r, NULL);
    const weir_idset *ranks, *ids;
    const char *type;
    weir_graph *g = NULL;
    weir_err err = {0};

    for (uint32_t i = 0; weir_rset_entry(r, i, &ranks); i++)
        for (uint32_t k = 0; weir_rset_entry_child(r, i, k, &type, &ids); k++)
            if (weir_idset_count(ids) < POOLS)
                pools += weir_idset_count(ids) * weir_idset_count(ranks);
            else
                pools = UINT64_MAX / 2;
    if (pools > POOLS)
        return;
    if (weir_rset_graph(r, &g, &err) == WEIR_OK && weir_check(g, &err) != WEIR_OK)
        fuzz_fail("%s", err.text);
    weir_graph_free(g);
    (void)weir_rset_validate(r, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *feed = size ? memchr(text, '\f', size) : NULL;
    size_t first = feed ? (size_t)(feed - text) : size;
    weir_rset *a = read_set(text, first), *b = NULL;

    if (!a)
        return 0;
    b = feed ? read_set(feed + 1, size - first - 1) : some_of(a);
    if (weir_rset_count(a, NULL) <= RANKS) {
        check_round_trip(a);
        check_remap(a);
    }
    check_machine(a);
    if (b)
        check_algebra(a, b);
    weir_rset_free(a);
    weir_rset_free(b);
    return 0;
}
