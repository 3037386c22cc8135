/* hostlist_sweep.c - the sweep over runs; see hostlist_sweep.h. Invariant: every item of the first list that covers
 * the current stretch is in the heap, or was popped within the stretch.
 */
#include "hostlist/hostlist_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

static int compare_uint(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_starts(const struct sweep_item *a, const struct sweep_item *b)
{
    if (a->run.lo != b->run.lo)
        return compare_uint(a->run.lo, b->run.lo);
    if (a->remove != b->remove)
        return a->remove ? 1 : -1;
    return compare_uint(a->at, b->at);
}

static int compare_by_text(const void *x, const void *y)
{
    const struct sweep_item *a = x;
    const struct sweep_item *b = y;
    int order = a->prefix == b->prefix ? 0 : strcmp(a->prefix, b->prefix);

    if (order != 0)
        return order;
    if (a->run.digits != b->run.digits)
        return compare_uint(a->run.digits, b->run.digits);
    return compare_starts(a, b);
}

static int compare_by_number(const void *x, const void *y)
{
    const struct sweep_item *a = x;
    const struct sweep_item *b = y;

    if (a->run.prefix != b->run.prefix)
        return compare_uint(a->run.prefix, b->run.prefix);
    if (a->run.digits != b->run.digits)
        return compare_uint(a->run.digits, b->run.digits);
    if (a->run.suffix != b->run.suffix)
        return compare_uint(a->run.suffix, b->run.suffix);
    return compare_starts(a, b);
}

static int compare_ends(const void *x, const void *y)
{
    const struct sweep_item *a = *(struct sweep_item *const *)x;
    const struct sweep_item *b = *(struct sweep_item *const *)y;

    return compare_uint(a->run.hi, b->run.hi);
}

static bool same_kind(const struct sweep_item *a, const struct sweep_item *b)
{
    return a->run.digits == b->run.digits && a->run.suffix == b->run.suffix &&
           (a->prefix == b->prefix || strcmp(a->prefix, b->prefix) == 0);
}

/* ---- begin and end ---- */

static void items_add(struct hostlist_sweep *s, const weir_hostlist *h, bool remove)
{
    for (uint32_t i = 0; i < h->n; i++)
        s->items[s->n++] = (struct sweep_item){prefix_text(h, &h->runs[i]), h->runs[i], i, remove};
}

static int begin(struct hostlist_sweep *s, const weir_hostlist *h, const weir_hostlist *second,
                 int (*compare)(const void *, const void *))
{
    size_t n = (size_t)h->n + (second ? second->n : 0);

    s->items = n < UINT32_MAX ? weir_mem_zalloc(n, sizeof *s->items) : NULL;
    s->ends = s->items ? weir_mem_zalloc(n, sizeof *s->ends) : NULL;
    s->first = s->ends ? weir_mem_zalloc(n, sizeof *s->first) : NULL;
    if (!s->first) {
        weir_sweep_end(s);
        return WEIR_ENOMEM;
    }
    items_add(s, h, false);
    if (second)
        items_add(s, second, true);
    if (s->n > 1)
        qsort(s->items, s->n, sizeof *s->items, compare);
    return WEIR_OK;
}

int weir_sweep_by_text(struct hostlist_sweep *s, const weir_hostlist *h, const weir_hostlist *second)
{
    return begin(s, h, second, compare_by_text);
}

int weir_sweep_by_number(struct hostlist_sweep *s, const weir_hostlist *h)
{
    return begin(s, h, NULL, compare_by_number);
}

void weir_sweep_end(struct hostlist_sweep *s)
{
    WEIR_FREE(s->items, s->ends, s->first);
}

/* ---- the heap ---- */

void weir_sweep_push(struct hostlist_sweep *s, struct sweep_item *item)
{
    s->first[s->nfirst] = item;
    WEIR_HEAP_UP(s->first, s->nfirst, a, b, (*a)->at < (*b)->at);
    s->nfirst++;
}

static struct sweep_item *pop(struct hostlist_sweep *s)
{
    struct sweep_item *top = s->first[0];

    s->first[0] = s->first[--s->nfirst];
    WEIR_HEAP_DOWN(s->first, s->nfirst, 0, a, b, (*a)->at < (*b)->at);
    return top;
}

struct sweep_item *weir_sweep_pop(struct hostlist_sweep *s, uint64_t lo)
{
    while (s->nfirst > 0) {
        struct sweep_item *item = pop(s);
        if (item->run.hi >= lo)
            return item;
    }
    return NULL;
}

/* ---- the sweep ---- */

static void begins(struct hostlist_sweep *s, struct sweep_item *item)
{
    if (item->remove) {
        s->removing++;
    } else {
        s->own++;
        weir_sweep_push(s, item);
    }
}

static void ended(struct hostlist_sweep *s, const struct sweep_item *item)
{
    if (item->remove)
        s->removing--;
    else
        s->own--;
}

int weir_sweep_kind(struct hostlist_sweep *s, uint32_t i, uint32_t end)
{
    uint32_t n = end - i;
    uint32_t past = 0; /* number of ends passed */
    uint64_t lo = 0;
    int rc = WEIR_OK;

    s->own = s->removing = s->nfirst = 0;
    for (uint32_t k = 0; k < n; k++)
        s->ends[k] = &s->items[i + k];
    if (n > 1)
        qsort(s->ends, n, sizeof(struct sweep_item *), compare_ends);
    while (rc == WEIR_OK && past < n) {
        uint64_t hi;
        if (s->own + s->removing == 0)
            lo = s->items[i].run.lo;
        while (i < end && s->items[i].run.lo == lo)
            begins(s, &s->items[i++]);
        hi = s->ends[past]->run.hi;
        if (i < end && s->items[i].run.lo <= hi)
            hi = s->items[i].run.lo - 1;
        rc = s->stretch(s, lo, hi);
        lo = hi + 1;
        while (past < n && s->ends[past]->run.hi < lo)
            ended(s, s->ends[past++]);
    }
    return rc;
}

int weir_sweep_each(struct hostlist_sweep *s, int (*kind)(struct hostlist_sweep *, uint32_t, uint32_t))
{
    int rc = WEIR_OK;

    for (uint32_t i = 0, end; i < s->n && rc == WEIR_OK; i = end) {
        end = i + 1;
        while (end < s->n && same_kind(&s->items[i], &s->items[end]))
            end++;
        rc = kind(s, i, end);
    }
    return rc;
}
