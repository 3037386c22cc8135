/* hostlist_find.c - the position of a name: by going through the runs, or by an index that is dropped when the list
 * changes. Invariant of the index: entries ascend by prefix, digits, lo.
 */
#include "hostlist_private.h"

#include <stdlib.h>

static int compare_keys(const struct run *a, const struct run *b)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    if (a->digits != b->digits)
        return a->digits < b->digits ? -1 : 1;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    return compare_keys(&((const struct entry *)a)->run, &((const struct entry *)b)->run);
}

int weir_hostlist_index(weir_hostlist *h)
{
    struct entry *index;

    if (!h)
        return WEIR_EINVAL;
    if (h->index || h->n == 0)
        return WEIR_OK;
    index = weir_mem_alloc(h->n * sizeof *index);
    if (!index)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < h->n; i++)
        index[i].run = h->runs[i];
    qsort(index, h->n, sizeof *index, compare_entries);
    for (uint32_t i = 0; i < h->n; i++) {
        struct entry *e = &index[i];
        e->reach = e->run.hi;
        if (i > 0 && e[-1].run.prefix == e->run.prefix && e[-1].run.digits == e->run.digits && e[-1].reach > e->reach)
            e->reach = e[-1].reach;
    }
    h->index = index;
    return WEIR_OK;
}

/* Position of `key` (a run of one name) in run r, or -1. */
static int64_t position_in(const struct run *r, const struct run *key)
{
    if (r->prefix != key->prefix || r->digits != key->digits || r->lo > key->lo || r->hi < key->lo)
        return -1;
    return (int64_t)(r->first + (key->lo - r->lo));
}

static int64_t find_indexed(const weir_hostlist *h, const struct run *key)
{
    uint32_t lo = 0;
    uint32_t hi = h->n;
    int64_t found = -1;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (compare_keys(&h->index[mid].run, key) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0) { /* of the runs that overlap, the first in the list counts */
        const struct entry *e = &h->index[lo];
        int64_t at = position_in(&e->run, key);
        if (e->run.prefix != key->prefix || e->run.digits != key->digits || e->reach < key->lo)
            break;
        if (at >= 0 && (found < 0 || at < found))
            found = at;
    }
    return found;
}

int64_t weir_hostlist_find(const weir_hostlist *h, const char *name, size_t len)
{
    struct run key = {0};
    struct name parts;

    if (!h || !name)
        return -1;
    parts = weir_name_split(name, len);
    key.digits = parts.digits;
    key.lo = key.hi = parts.number;
    key.prefix = weir_prefix_find(&h->prefixes, name, parts.prefix_len);
    if (key.prefix == NO_PREFIX)
        return -1;
    if (h->index)
        return find_indexed(h, &key);
    for (uint32_t i = 0; i < h->n; i++) {
        int64_t at = position_in(&h->runs[i], &key);
        if (at >= 0)
            return at;
    }
    return -1;
}
