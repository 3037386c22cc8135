/* hostlist_find.c - finds the position of a name, by going through the runs or by an index. Any change of the list
 * drops the index. Invariant of the index: entries are parts of the list's runs, no two entries have a common name
 * with equal prefix, digits and suffix, `first` is the position of the first occurrence, and entries ascend by
 * prefix, digits, suffix, lo.
 */
#include "hostlist/hostlist_sweep.h"

#include <string.h>

#include "base/bisect.h"

/* ---- the index ---- */

struct pieces {
    struct host_range *runs;
    uint32_t n, cap;
};

static int stretch_index(struct hostlist_sweep *s, uint64_t lo, uint64_t hi)
{
    struct pieces *p = s->result;
    struct sweep_item *item = weir_sweep_pop(s, lo);
    struct host_range *r;

    weir_sweep_push(s, item);
    if (weir_array_reserve(&p->runs, &p->cap, (size_t)p->n + 1, sizeof *p->runs) != WEIR_OK)
        return WEIR_ENOMEM;
    r = &p->runs[p->n++];
    *r = item->run;
    r->first += lo - r->lo;
    r->lo = lo;
    r->hi = hi;
    return WEIR_OK;
}

int weir_hostlist_index(weir_hostlist *h)
{
    struct pieces p = {0};
    struct hostlist_sweep s = {.stretch = stretch_index, .result = &p};
    int rc;

    if (!h)
        return WEIR_EINVAL;
    if (h->index || h->n == 0)
        return WEIR_OK;
    rc = weir_sweep_by_number(&s, h);
    if (rc != WEIR_OK)
        return rc;
    rc = weir_sweep_each(&s, weir_sweep_kind);
    weir_sweep_end(&s);
    if (rc != WEIR_OK) {
        weir_mem_free(p.runs);
        return rc;
    }
    h->index = p.runs;
    h->nindex = p.n;
    h->index_suffixed = weir_hostlist_suffixed(h);
    return WEIR_OK;
}

/* Whether a is behind b in the index. */
static bool is_after(const struct host_range *a, const struct host_range *b)
{
    if (a->prefix != b->prefix)
        return a->prefix > b->prefix;
    if (a->digits != b->digits)
        return a->digits > b->digits;
    if (a->suffix != b->suffix)
        return a->suffix > b->suffix;
    return a->lo > b->lo;
}

/* The position of `key` (a run of one name) in run r; -1 if absent. */
static int64_t position_in(const struct host_range *r, const struct host_range *key)
{
    if (r->prefix != key->prefix || r->suffix != key->suffix || r->digits != key->digits || r->lo > key->lo ||
        r->hi < key->lo)
        return -1;
    return (int64_t)(r->first + (key->lo - r->lo));
}

static int64_t find_indexed(const weir_hostlist *h, const struct host_range *key)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, h->nindex, !is_after(&h->index[lo], key));
    return lo > 0 ? position_in(&h->index[lo - 1], key) : -1;
}

/* ---- names that are split otherwise ---- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint64_t number_of(const char *s, uint32_t digits)
{
    uint64_t n = 0;

    while (digits-- > 0)
        n = n * 10 + (uint64_t)(*s++ - '0');
    return n;
}

/* Finds names with a suffix. Each digit with some text behind may be the last digit of a number; the number extends
 * to the left as far as a number can. The hash of the prefix is extended along the way, so each prefix costs O(1)
 * more. */
static int64_t find_suffixed(const weir_hostlist *h, const char *name, size_t len)
{
    const weir_strtab *t = &h->texts;
    uint64_t hash = t->seed;
    uint32_t prefix = WEIR_NO_NAME;
    size_t start = 0, hashed = 0;
    int64_t found = -1;

    for (size_t i = 0; i + 1 < len; i++) {
        struct host_range key;
        bool begins = is_digit(name[i]) && (i == 0 || !is_digit(name[i - 1]));
        if (!is_digit(name[i]))
            continue;
        if (begins || i - start == WEIR_HOSTLIST_DIGITS) {
            start = begins ? i : start + 1;
            hash = hash_text(hash, name + hashed, start - hashed);
            hashed = start;
            prefix = weir_strtab_find_hashed(t, name, start, hash);
        }
        if (prefix == WEIR_NO_NAME)
            continue;
        key = (struct host_range){.prefix = prefix, .digits = (uint32_t)(i + 1 - start)};
        key.lo = number_of(name + start, key.digits);
        key.suffix = hostlist_text(t, name + i + 1, len - i - 1);
        if (key.suffix != WEIR_NO_NAME)
            found = earlier(found, find_indexed(h, &key));
    }
    return found;
}

/* The position of a name in run r, by comparing text; -1 if absent. */
static int64_t position_by_text(const weir_hostlist *h, const struct host_range *r, const char *name, size_t len)
{
    const char *prefix = prefix_text(h, r);
    const char *suffix = suffix_text(h, r);
    size_t before = strlen(prefix);
    size_t behind = strlen(suffix);
    uint64_t number;

    if (len != before + r->digits + behind || memcmp(name, prefix, before) != 0 ||
        memcmp(name + len - behind, suffix, behind) != 0)
        return -1;
    for (size_t i = before; i < before + r->digits; i++)
        if (!is_digit(name[i]))
            return -1;
    number = number_of(name + before, r->digits);
    return number < r->lo || number > r->hi ? -1 : (int64_t)(r->first + (number - r->lo));
}

/* ---- find ---- */

int64_t weir_hostlist_find(const weir_hostlist *h, const char *name, size_t len)
{
    struct host_range key = {.suffix = WEIR_NO_NAME};
    struct name parts;

    if (!h || !name)
        return -1;
    parts = weir_name_split(name, len);
    key.digits = parts.digits;
    key.lo = key.hi = parts.number;
    key.prefix = hostlist_text(&h->texts, name, parts.prefix_len);
    if (h->index && h->index_suffixed)
        return earlier(find_indexed(h, &key), find_suffixed(h, name, len));
    if (h->index)
        return find_indexed(h, &key);
    for (uint32_t i = 0; i < h->n; i++) {
        const struct host_range *r = &h->runs[i];
        int64_t at = r->suffix == WEIR_NO_NAME ? position_in(r, &key) : position_by_text(h, r, name, len);
        if (at >= 0)
            return at;
    }
    return -1;
}
