/* test_base.c - the structures of core/base against simple models: map32, strtab, heaps, binary search. */
#include "check.h"

#include "base/bisect.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/strtab.h"
#include "dice.h"

#define MOST 600

/* ---- map32 ---- */

struct entry {
    uint32_t key, number;
};

/* Whether the numbers of each key in the map are the numbers of the model. */
static bool agrees(const struct weir_map32 *m, const struct entry *list, uint32_t n, uint32_t keys, uint32_t step)
{
    uint32_t found = 0;

    for (uint32_t k = 0; k < keys; k++) {
        bool any = false;
        WEIR_MAP32_EACH (m, k * step, number) {
            bool there = false;
            for (uint32_t i = 0; i < n; i++)
                there = there || (list[i].key == k * step && list[i].number == number);
            if (!there)
                return false;
            found++;
            any = true;
        }
        if (any != (weir_map32_get(m, k * step) != WEIR_NONE))
            return false;
    }
    return found == n && m->count == n;
}

/* Adds and removes entries at random; `keys` different keys, `step` apart. */
static void test_map(uint32_t keys, uint32_t step)
{
    struct weir_map32 m = {0}, copy = {0};
    struct entry list[MOST] = {{0, 0}};
    uint32_t n = 0, made = 0;
    bool good = agrees(&m, list, 0, keys, step);

    for (uint32_t turn = 0; turn < 6000; turn++) {
        if (n == 0 || (n < MOST && dice(MOST) > n / 2)) {
            list[n] = (struct entry){dice(keys) * step, made++};
            good = good && weir_map32_add(&m, list[n].key, list[n].number) == WEIR_OK;
            n++;
        } else {
            uint32_t i = dice(n);
            weir_map32_remove(&m, list[i].key, list[i].number);
            list[i] = list[--n];
        }
        if (turn % 100 == 0)
            good = good && agrees(&m, list, n, keys, step);
    }
    CHECK(good && agrees(&m, list, n, keys, step), "%u keys %u apart: the map is the model", keys, step);
    CHECK(weir_map32_copy(&copy, &m) == WEIR_OK && agrees(&copy, list, n, keys, step), "a copy has all entries");
    weir_map32_free(&m);
    CHECK(agrees(&copy, list, n, keys, step) && agrees(&m, list, 0, keys, step), "the copy stays, the map is empty");
    weir_map32_free(&copy);
}

static int map_once(void *unused)
{
    struct weir_map32 m = {0}, copy = {0};
    int rc = WEIR_OK;

    (void)unused;
    for (uint32_t i = 0; !rc && i < 100; i++) {
        rc = weir_map32_add(&m, i, i);
        if (rc)
            CHECK(m.count == i && weir_map32_get(&m, i) == WEIR_NONE, "a failed addition changes nothing");
    }
    rc = rc ? rc : weir_map32_copy(&copy, &m);
    CHECK(rc == WEIR_OK || copy.count == 0, "a failed copy is empty");
    weir_map32_free(&m);
    weir_map32_free(&copy);
    return rc;
}

/* ---- strtab ---- */

static int strtab_once(void *unused)
{
    weir_strtab t = {0}, copy = {0};
    char text[24], large[3000];
    int rc = WEIR_OK;

    (void)unused;
    CHECK(weir_strtab_find(&t, "", 0) == WEIR_NO_NAME, "an empty table has no text");
    for (uint32_t i = 0; !rc && i < 300; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, "%u", i * 7);
        weir_name name = weir_strtab_add(&t, text, len);
        rc = name == WEIR_NO_NAME ? WEIR_ENOMEM : WEIR_OK;
        CHECK(rc ? t.count == i && weir_strtab_find(&t, text, len) == WEIR_NO_NAME
                 : name == i && weir_strtab_add(&t, text, len) == i && weir_strtab_find(&t, text, len) == i,
              "text %u is added once or not at all", i);
    }
    memset(large, 'x', sizeof large);
    if (!rc && weir_strtab_add(&t, large, sizeof large) == WEIR_NO_NAME)
        rc = WEIR_ENOMEM;
    rc = rc ? rc : weir_strtab_copy(&copy, &t);
    for (uint32_t i = 0; !rc && i < t.count; i++) {
        const char *s = weir_strtab_text(&t, i);
        CHECK(check_same(s, weir_strtab_text(&copy, i)) && weir_strtab_find(&copy, s, strlen(s)) == i,
              "the copy has text %u", i);
    }
    weir_strtab_clear(&t);
    weir_strtab_clear(&copy);
    return rc;
}

static void test_nul(void)
{
    weir_strtab t = {0};

    CHECK(weir_strtab_add(&t, "a", 1) == 0 && weir_strtab_find(&t, "a\0b", 3) == WEIR_NO_NAME,
          "a text with a NUL equals no text without");
    CHECK(hash_text(hash_text(7, "ab", 2), "cd", 2) == hash_text(7, "abcd", 4), "a hash is extended");
    weir_strtab_clear(&t);
}

/* ---- heaps and binary search ---- */

struct item {
    uint32_t key, place;
};

static void test_heap(uint32_t n, uint32_t keys)
{
    static struct item all[MOST];
    static struct item *heap[MOST];
    uint32_t count = 0, last = 0;
    bool good = true;

    for (uint32_t i = 0; i < n; i++) {
        all[i].key = dice(keys);
        heap[count] = &all[i];
        WEIR_HEAP_UP_MOVED(heap, count, a, b, (*a)->key < (*b)->key, heap[at_]->place = at_);
        count++;
    }
    for (uint32_t i = 0; i < n; i += 3) { /* keys change in place */
        all[i].key = dice(keys);
        WEIR_HEAP_UP_MOVED(heap, all[i].place, a, b, (*a)->key < (*b)->key, heap[at_]->place = at_);
        WEIR_HEAP_DOWN_MOVED(heap, count, all[i].place, a, b, (*a)->key < (*b)->key, heap[at_]->place = at_);
    }
    for (uint32_t i = 0; i < n; i++)
        good = good && heap[all[i].place] == &all[i];
    while (count > 0) {
        good = good && heap[0]->key >= last;
        last = heap[0]->key;
        heap[0] = heap[--count];
        WEIR_HEAP_DOWN(heap, count, 0, a, b, (*a)->key < (*b)->key);
    }
    CHECK(good, "%u elements with %u keys leave the heap in order", n, keys);
    for (uint32_t i = 0; i < n; i++)
        heap[i] = &all[i];
    WEIR_HEAP_MAKE(heap, n, a, b, (*a)->key < (*b)->key);
    for (uint32_t i = 1; i < n; i++)
        good = good && heap[i]->key >= heap[(i - 1) / 2]->key;
    CHECK(good, "%u elements are made a heap", n);
}

static void test_bisect(uint32_t n)
{
    uint32_t list[40], at, expected;
    bool good = true;

    for (uint32_t i = 0; i < n; i++)
        list[i] = 2 * (i / 2) + 1;
    for (uint32_t key = 0; key < n + 3; key++)
        for (uint32_t lo = 0; lo <= n; lo++) {
            for (expected = lo; expected < n && list[expected] < key;)
                expected++;
            WEIR_BISECT(at, lo, n, list[at] < key);
            good = good && at == expected;
        }
    CHECK(good, "%u elements: the first that is not before", n);
}

static void test_unique(void)
{
    int64_t list[200], lowest = INT64_MIN;
    uint32_t n, seen[50] = {0}, different = 0;
    bool good = true;

    for (uint32_t i = 0; i < 200; i++) {
        list[i] = dice(50);
        different += seen[list[i]]++ == 0;
    }
    n = weir_array_unique(list, 200);
    for (uint32_t i = 0; i < n; i++) {
        good = good && list[i] > lowest && seen[list[i]] > 0;
        lowest = list[i];
    }
    CHECK(good && n == different, "200 numbers are %u, ascending", different);
    CHECK(weir_array_unique(NULL, 0) == 0, "no numbers");
}

int main(void)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 7, 40};

    test_map(1, 1);
    test_map(7, 1);
    test_map(5000, 1);
    test_map(5000, 1u << 16);
    check_nomem(map_once, NULL, "map32");
    check_nomem(strtab_once, NULL, "strtab");
    test_nul();
    test_unique();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        test_heap(sizes[i], 10);
        test_bisect(sizes[i]);
    }
    test_heap(MOST, 50);
    test_heap(MOST, 1u << 30);
    return check_report();
}
