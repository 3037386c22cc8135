/* idset_set.c - sets of ids as sorted runs: creation, membership, order. The invariant is in idset_private.h. */
#include "idset/idset_private.h"

#include <string.h>

#include "base/bisect.h"

weir_idset *weir_idset_new(void)
{
    return weir_mem_zalloc(1, sizeof(weir_idset));
}

void weir_idset_free(weir_idset *s)
{
    if (!s)
        return;
    WEIR_FREE(s->runs, s);
}

int weir_idset_copy(const weir_idset *s, weir_idset **out)
{
    weir_idset *copy;

    if (!s)
        return WEIR_EINVAL;
    copy = weir_idset_new();
    if (!copy || weir_array_reserve(&copy->runs, &copy->cap, s->n, sizeof *copy->runs) != WEIR_OK) {
        weir_idset_free(copy);
        return WEIR_ENOMEM;
    }
    if (s->n)
        memcpy(copy->runs, s->runs, s->n * sizeof *s->runs);
    copy->n = s->n;
    copy->count = s->count;
    *out = copy;
    return WEIR_OK;
}

/* The first run with an end at or above id; s->n if none. O(log runs) */
static uint32_t run_ending_from(const weir_idset *s, uint64_t id)
{
    uint32_t at;

    if (s->n == 0 || s->runs[s->n - 1].hi < id)
        return s->n;
    WEIR_BISECT(at, 0, s->n, s->runs[at].hi < id);
    return at;
}

/* The first run with a start above id; s->n if none. O(log runs) */
static uint32_t run_starting_above(const weir_idset *s, uint64_t id)
{
    uint32_t at;

    if (s->n == 0 || s->runs[s->n - 1].lo <= id)
        return s->n;
    WEIR_BISECT(at, 0, s->n, s->runs[at].lo <= id);
    return at;
}

/* Replaces runs [i, j) by k runs. On failure nothing has changed. */
static int replace(weir_idset *s, uint32_t i, uint32_t j, const struct id_range *with, uint32_t k)
{
    if (weir_array_reserve(&s->runs, &s->cap, (size_t)s->n - (j - i) + k, sizeof *s->runs) != WEIR_OK)
        return WEIR_ENOMEM;
    for (uint32_t x = i; x < j; x++)
        s->count -= run_length(s->runs[x]);
    if (s->n > j && k != j - i)
        memmove(s->runs + i + k, s->runs + j, (s->n - j) * sizeof *s->runs);
    for (uint32_t x = 0; x < k; x++) {
        s->runs[i + x] = with[x];
        s->count += run_length(with[x]);
    }
    s->n = s->n - (j - i) + k;
    return WEIR_OK;
}

int weir_idset_add_range(weir_idset *s, uint32_t lo, uint32_t hi)
{
    struct id_range r = {lo, hi};
    uint32_t i, j;

    if (!s || lo > hi)
        return WEIR_EINVAL;
    i = run_ending_from(s, lo > 0 ? lo - 1 : 0); /* so that touching runs are joined, too */
    j = run_starting_above(s, (uint64_t)hi + 1);
    if (i < j) {
        r.lo = s->runs[i].lo < lo ? s->runs[i].lo : lo;
        r.hi = s->runs[j - 1].hi > hi ? s->runs[j - 1].hi : hi;
    }
    return replace(s, i, j, &r, 1);
}

int weir_idset_remove_range(weir_idset *s, uint32_t lo, uint32_t hi)
{
    struct id_range left[2];
    uint32_t i, j;
    uint32_t k = 0;

    if (!s || lo > hi)
        return WEIR_EINVAL;
    i = run_ending_from(s, lo);
    j = run_starting_above(s, hi);
    if (i >= j)
        return WEIR_OK;
    if (s->runs[i].lo < lo)
        left[k++] = (struct id_range){s->runs[i].lo, lo - 1};
    if (s->runs[j - 1].hi > hi)
        left[k++] = (struct id_range){hi + 1, s->runs[j - 1].hi};
    return replace(s, i, j, left, k);
}

int weir_idset_add_id(weir_idset *s, uint32_t id)
{
    return weir_idset_add_range(s, id, id);
}

int weir_idset_remove_id(weir_idset *s, uint32_t id)
{
    return weir_idset_remove_range(s, id, id);
}

int weir_idset_take(weir_idset *s, uint64_t n, weir_idset **out)
{
    weir_idset *low;
    int rc;

    if (!s)
        return WEIR_EINVAL;
    low = weir_idset_new();
    if (!low)
        return WEIR_ENOMEM;
    rc = WEIR_OK;
    for (uint32_t i = 0; i < s->n && low->count < n && rc == WEIR_OK; i++) {
        uint64_t wanted = n - low->count;
        struct id_range r = s->runs[i];
        if (wanted < run_length(r))
            r.hi = r.lo + (uint32_t)wanted - 1;
        rc = weir_idset_add_range(low, r.lo, r.hi);
    }
    if (rc == WEIR_OK && low->n > 0)
        rc = weir_idset_remove_range(s, 0, low->runs[low->n - 1].hi);
    if (rc != WEIR_OK) {
        weir_idset_free(low);
        return rc;
    }
    *out = low;
    return WEIR_OK;
}

bool weir_idset_test(const weir_idset *s, uint32_t id)
{
    uint32_t i = s ? run_ending_from(s, id) : 0;

    return s && i < s->n && s->runs[i].lo <= id;
}

uint64_t weir_idset_count(const weir_idset *s)
{
    return s ? s->count : 0;
}

int64_t weir_idset_first(const weir_idset *s)
{
    return s && s->n ? (int64_t)s->runs[0].lo : -1;
}

int64_t weir_idset_last(const weir_idset *s)
{
    return s && s->n ? (int64_t)s->runs[s->n - 1].hi : -1;
}

int64_t weir_idset_next(const weir_idset *s, int64_t id)
{
    int64_t want = id < 0 ? 0 : id;
    uint32_t i;

    if (!s || id >= (int64_t)WEIR_IDSET_MAX)
        return -1;
    want += id >= 0;
    i = run_ending_from(s, (uint64_t)want);
    if (i == s->n)
        return -1;
    return s->runs[i].lo > want ? (int64_t)s->runs[i].lo : want;
}

int64_t weir_idset_prev(const weir_idset *s, int64_t id)
{
    int64_t want;
    uint32_t i;

    if (!s || id <= 0)
        return -1;
    want = id > WEIR_IDSET_MAX ? (int64_t)WEIR_IDSET_MAX : id - 1;
    i = run_starting_above(s, (uint64_t)want);
    if (i == 0)
        return -1;
    return s->runs[i - 1].hi < want ? (int64_t)s->runs[i - 1].hi : want;
}

int64_t weir_idset_run_end(const weir_idset *s, int64_t id)
{
    uint32_t i = s && id >= 0 ? run_ending_from(s, (uint64_t)id) : 0;

    return s && id >= 0 && i < s->n && s->runs[i].lo <= id ? (int64_t)s->runs[i].hi : -1;
}

bool weir_idset_run(const weir_idset *s, size_t i, uint32_t *lo, uint32_t *hi)
{
    if (!s || i >= s->n)
        return false;
    *lo = s->runs[i].lo;
    *hi = s->runs[i].hi;
    return true;
}

size_t weir_idset_bytes(const weir_idset *s)
{
    return s ? sizeof *s + s->cap * sizeof *s->runs : 0;
}

bool weir_idset_equal(const weir_idset *a, const weir_idset *b)
{
    if (!a || !b)
        return a == b;
    if (a->n != b->n || a->count != b->count)
        return false;
    return a->n == 0 || memcmp(a->runs, b->runs, a->n * sizeof *a->runs) == 0;
}
