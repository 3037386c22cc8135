/* topk.c - the best vertices by score. Invariant: with a limit, the entries are a heap with the worst on top; among
 * equal scores an earlier entry is better. */
#include "base/base.h"
#include "base/heap.h"

#include <math.h>
#include <stdlib.h>

struct top_value {
    double score;
    uint64_t order;
    weir_vertex v;
};

struct weir_accum {
    struct top_value *list;
    uint32_t n, cap;
    size_t best;
    uint64_t added;
    bool sorted;
};

weir_accum *weir_accum_new(size_t best)
{
    weir_accum *a = weir_mem_zalloc(1, sizeof *a);
    if (a)
        a->best = best;
    return a;
}

void weir_accum_free(weir_accum *a)
{
    if (a)
        WEIR_FREE(a->list, a);
}

static bool worse(const struct top_value *a, const struct top_value *b)
{
    return a->score != b->score ? a->score < b->score : a->order > b->order;
}

static void make_heap(weir_accum *a)
{
    WEIR_HEAP_MAKE(a->list, a->n, x, y, worse(x, y));
    a->sorted = false;
}

int weir_accum_add(weir_accum *a, weir_vertex v, double score)
{
    struct top_value it = {score, a->added, v};

    if (isnan(score))
        return WEIR_EINVAL;
    if (a->best && a->n >= a->best) {
        if (a->sorted)
            make_heap(a);
        a->added++;
        if (!worse(&it, &a->list[0])) {
            a->list[0] = it;
            WEIR_HEAP_DOWN(a->list, a->n, 0, x, y, worse(x, y));
        }
        return WEIR_OK;
    }
    if (weir_array_reserve(&a->list, &a->cap, (size_t)a->n + 1, sizeof *a->list))
        return WEIR_ENOMEM;
    a->added++;
    a->list[a->n++] = it;
    a->sorted = false;
    if (a->best && a->n == a->best)
        make_heap(a);
    return WEIR_OK;
}

size_t weir_accum_count(const weir_accum *a)
{
    return a->n;
}

static int best_first(const void *x, const void *y)
{
    const struct top_value *a = x, *b = y;
    return worse(b, a) ? -1 : worse(a, b);
}

weir_vertex weir_accum_get(weir_accum *a, size_t i, double *score)
{
    if (i >= a->n)
        return WEIR_NONE;
    if (!a->sorted) {
        qsort(a->list, a->n, sizeof *a->list, best_first);
        a->sorted = true;
    }
    if (score)
        *score = a->list[i].score;
    return a->list[i].v;
}
