/* idset_ops.c - algebra on sets of ids. Each operation makes one pass over the runs of both sets in ascending order
 * and appends to a new set. Only a complete result is returned or replaces the old set, so a failure changes
 * nothing.
 */
#include "idset/idset_private.h"

#include <stdlib.h>

/* Appends the ids lo to hi to s; lo must be at or above the start of the last run. Touching and overlapping runs are
 * joined. */
static int append(weir_idset *s, uint32_t lo, uint32_t hi)
{
    struct id_range *last = s->n ? &s->runs[s->n - 1] : NULL;

    if (last && (uint64_t)last->hi + 1 >= lo) {
        if (hi > last->hi) {
            s->count += hi - last->hi;
            last->hi = hi;
        }
        return WEIR_OK;
    }
    return weir_idset_add_range(s, lo, hi);
}

static int merge(weir_idset *to, const weir_idset *a, const weir_idset *b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    while (i < a->n || j < b->n) {
        bool from_a = j == b->n || (i < a->n && a->runs[i].lo <= b->runs[j].lo);
        struct id_range r = from_a ? a->runs[i++] : b->runs[j++];
        if (append(to, r.lo, r.hi) != WEIR_OK)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static int common(weir_idset *to, const weir_idset *a, const weir_idset *b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    while (i < a->n && j < b->n) {
        struct id_range x = a->runs[i];
        struct id_range y = b->runs[j];
        uint32_t lo = x.lo > y.lo ? x.lo : y.lo;
        uint32_t hi = x.hi < y.hi ? x.hi : y.hi;
        if (lo <= hi && append(to, lo, hi) != WEIR_OK)
            return WEIR_ENOMEM;
        if (x.hi < y.hi)
            i++;
        else
            j++;
    }
    return WEIR_OK;
}

static int without(weir_idset *to, const weir_idset *a, const weir_idset *b)
{
    uint32_t j = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t lo = a->runs[i].lo; /* start of the part of the run not yet handled */
        uint64_t hi = a->runs[i].hi;
        while (j < b->n && b->runs[j].hi < lo)
            j++;
        for (uint32_t k = j; k < b->n && b->runs[k].lo <= hi && lo <= hi; k++) {
            if (b->runs[k].lo > lo && append(to, (uint32_t)lo, b->runs[k].lo - 1) != WEIR_OK)
                return WEIR_ENOMEM;
            lo = (uint64_t)b->runs[k].hi + 1;
            j = k;
        }
        if (lo <= hi && append(to, (uint32_t)lo, (uint32_t)hi) != WEIR_OK)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

typedef int operation(weir_idset *to, const weir_idset *a, const weir_idset *b);

static int make(operation *op, const weir_idset *a, const weir_idset *b, weir_idset **out)
{
    weir_idset *to = weir_idset_new();

    if (!to || op(to, a, b) != WEIR_OK) {
        weir_idset_free(to);
        return WEIR_ENOMEM;
    }
    *out = to;
    return WEIR_OK;
}

static int change(operation *op, weir_idset *a, const weir_idset *b)
{
    weir_idset *to, old;

    if (!a)
        return WEIR_EINVAL;
    if (!b || b->n == 0)
        return WEIR_OK;
    if (make(op, a, b, &to) != WEIR_OK)
        return WEIR_ENOMEM;
    old = *a;
    *a = *to;
    *to = old;
    weir_idset_free(to);
    return WEIR_OK;
}

int weir_idset_add(weir_idset *a, const weir_idset *b)
{
    return change(merge, a, b);
}

int weir_idset_subtract(weir_idset *a, const weir_idset *b)
{
    return change(without, a, b);
}

int weir_idset_union(const weir_idset *a, const weir_idset *b, weir_idset **out)
{
    if (!a || !b)
        return weir_idset_copy(a, out);
    return make(merge, a, b, out);
}

int weir_idset_difference(const weir_idset *a, const weir_idset *b, weir_idset **out)
{
    if (!a || !b)
        return weir_idset_copy(a, out);
    return make(without, a, b, out);
}

int weir_idset_intersect(const weir_idset *a, const weir_idset *b, weir_idset **out)
{
    if (!a || !b)
        return WEIR_EINVAL;
    return make(common, a, b, out);
}

bool weir_idset_has_intersection(const weir_idset *a, const weir_idset *b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    while (a && b && i < a->n && j < b->n) {
        if (a->runs[i].hi < b->runs[j].lo)
            i++;
        else if (b->runs[j].hi < a->runs[i].lo)
            j++;
        else
            return true;
    }
    return false;
}

bool weir_idset_contains(const weir_idset *a, const weir_idset *b)
{
    uint32_t i = 0;

    for (uint32_t j = 0; b && j < b->n; j++) {
        while (a && i < a->n && a->runs[i].hi < b->runs[j].lo)
            i++;
        if (!a || i == a->n || a->runs[i].lo > b->runs[j].lo || a->runs[i].hi < b->runs[j].hi)
            return false;
    }
    return true;
}

static int compare_ids(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x;
    uint32_t b = *(const uint32_t *)y;

    return a < b ? -1 : a > b;
}

static bool ascend(const uint32_t *ids, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (ids[i - 1] > ids[i])
            return false;
    return true;
}

/* Appends the ids to a new set in ascending order, at O(1) each, and adds the new set as a whole. */
int weir_idset_add_list(weir_idset *s, uint32_t *ids, size_t n)
{
    weir_idset *more;
    int rc = WEIR_OK;

    if (!s || (n > 0 && !ids))
        return WEIR_EINVAL;
    more = weir_idset_new();
    if (!more)
        return WEIR_ENOMEM;
    if (!ascend(ids, n))
        qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 0; i < n && rc == WEIR_OK; i++)
        rc = weir_idset_add_id(more, ids[i]);
    rc = rc ? rc : weir_idset_add(s, more);
    weir_idset_free(more);
    return rc;
}
