/* test_keyset.c - a set of elements by key: after each change as a list that is searched from end to end. */
#include "base/keyset.h"
#include "check.h"
#include "dice.h"

#define ELEMENTS 200

static uint32_t from(const struct weir_keyset *s, uint64_t key)
{
    uint32_t found = WEIR_NONE;

    for (uint32_t i = 0; i < ELEMENTS; i++)
        if (s->keys[i] != KEYSET_OUT && s->keys[i] >= key && (found == WEIR_NONE || s->keys[i] < s->keys[found]))
            found = i;
    return found;
}

static uint32_t below(const struct weir_keyset *s, uint64_t key)
{
    uint32_t found = WEIR_NONE;

    for (uint32_t i = 0; i < ELEMENTS; i++)
        if (s->keys[i] < key && s->keys[i] != KEYSET_OUT && (found == WEIR_NONE || s->keys[i] > s->keys[found]))
            found = i;
    return found;
}

static void check_set(const struct weir_keyset *s, uint32_t step)
{
    uint32_t n = 0, seen = 0;

    for (int i = 0; i < 8; i++) {
        uint64_t key = i == 0 ? 0 : i == 1 ? KEYSET_OUT : (uint64_t)dice(60) << 32 | dice(ELEMENTS);
        CHECK(weir_keyset_from(s, key) == from(s, key), "step %u: from %llu on", step, (unsigned long long)key);
        CHECK(weir_keyset_below(s, key) == below(s, key), "step %u: below %llu", step, (unsigned long long)key);
    }
    for (uint32_t i = 0; i < ELEMENTS; i++)
        n += s->keys[i] != KEYSET_OUT;
    for (uint32_t i = weir_keyset_from(s, 0); i != WEIR_NONE; i = weir_keyset_from(s, s->keys[i] + 1))
        seen++;
    CHECK(seen == n, "step %u: %u elements of %u", step, seen, n);
}

int main(void)
{
    struct weir_keyset s;

    seed = 7;
    CHECK(weir_keyset_make(&s, ELEMENTS) == WEIR_OK, "made");
    check_set(&s, 0);
    for (uint32_t step = 1; step < 3000; step++) {
        uint32_t element = dice(ELEMENTS);
        weir_keyset_put(&s, element, dice(3) ? (uint64_t)dice(60) << 32 | element : KEYSET_OUT);
        check_set(&s, step);
    }
    weir_keyset_free(&s);
    for (long n = 1; n <= 3; n++) {
        weir_mem_fail_after(n);
        CHECK(weir_keyset_make(&s, ELEMENTS) == WEIR_ENOMEM, "allocation %ld fails", n);
        weir_mem_fail_after(0);
        weir_keyset_free(&s);
    }
    return check_report();
}
