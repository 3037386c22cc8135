/* frontier.c - the items left for a search to look at, best first: a heap of runs. Invariant: the items of a run are in
 * order, and the first item of each run is in the heap. Siblings mostly are in order, so most items never move in the
 * heap.
 */
#include <stdlib.h>
#include <string.h>

#include "time/schedule.h"
#include "match/match.h"
#include "aggregate/rows.h"
#include "base/heap.h"

/* ---- the heap ---- */

static inline bool before(const struct search *s, const struct frontier_item *a, const struct frontier_item *b)
{
    if (a->key == b->key)
        return a->kind < b->kind;
    return order_before(s->m->g, &s->index->order, a->key, b->key);
}

static int put(struct search *s, const struct frontier_item *it)
{
    struct frontier *f = &s->frontier;

    if (weir_array_reserve(&f->heap, &f->cap, (size_t)f->n + 1, sizeof *f->heap))
        return weir_fail_nomem(s->m->err);
    f->heap[f->n] = *it;
    WEIR_HEAP_UP(f->heap, f->n, a, b, before(s, a, b));
    f->n++;
    return WEIR_OK;
}

struct frontier_item weir_search_pop(struct search *s)
{
    struct frontier *f = &s->frontier;
    struct frontier_item top = f->heap[0];

    if (top.next != WEIR_NONE) {
        f->heap[0] = f->run_items[top.next];
        f->run_items[top.next].next = f->run_free;
        f->run_free = top.next;
    } else {
        f->heap[0] = f->heap[--f->n];
    }
    WEIR_HEAP_DOWN(f->heap, f->n, 0, a, b, before(s, a, b));
    return top;
}

/* ---- runs ---- */

/* Number of an unused entry of run_items; WEIR_NONE: out of memory. */
static uint32_t new_run_item(struct search *s)
{
    struct frontier *f = &s->frontier;
    uint32_t i = f->run_free;

    if (i != WEIR_NONE) {
        f->run_free = f->run_items[i].next;
        return i;
    }
    if (weir_array_reserve(&f->run_items, &f->run_items_cap, (size_t)f->nrun_items + 1, sizeof *f->run_items))
        return WEIR_NONE;
    return f->nrun_items++;
}

/* Begins a run with one item. */
static void begin_run(struct search *s, const struct frontier_item *it)
{
    struct frontier *f = &s->frontier;

    f->run_first = *it;
    f->run_last = WEIR_NONE;
    f->push = PUSH_IN_RUN;
}

/* Adds an item to the end or the start of the run under construction, where the order allows; otherwise begins a new
 * run. */
static int add_to_run(struct search *s, struct frontier_item *it)
{
    struct frontier *f = &s->frontier;
    bool behind = !before(s, it, f->run_last == WEIR_NONE ? &f->run_first : &f->run_items[f->run_last]);
    uint32_t entry;

    if (!behind && !before(s, it, &f->run_first)) {
        int rc = put(s, &f->run_first);
        begin_run(s, it);
        return rc;
    }
    entry = new_run_item(s);
    if (entry == WEIR_NONE)
        return weir_fail_nomem(s->m->err);
    f->run_items[entry] = behind ? *it : f->run_first;
    if (!behind) {
        f->run_last = f->run_last == WEIR_NONE ? entry : f->run_last;
        it->next = entry;
        f->run_first = *it;
        return WEIR_OK;
    }
    *(f->run_last == WEIR_NONE ? &f->run_first.next : &f->run_items[f->run_last].next) = entry;
    f->run_last = entry;
    return WEIR_OK;
}

int weir_search_push(struct search *s, struct frontier_item it)
{
    it.next = WEIR_NONE;
    it.origin = s->learner.active && it.kind != ITEM_AGAIN ? s->learner.pushed_from : WEIR_NONE;
    if (it.origin != WEIR_NONE)
        s->learner.opened[it.origin].live++;
    switch (s->frontier.push) {
    case PUSH_ITEM: return put(s, &it);
    case PUSH_IN_RUN: return add_to_run(s, &it);
    case PUSH_NEW_RUN: begin_run(s, &it); break;
    }
    return WEIR_OK;
}

int weir_search_gathered(struct search *s)
{
    struct frontier *f = &s->frontier;
    bool left = f->push == PUSH_IN_RUN;

    f->push = PUSH_ITEM;
    return left ? put(s, &f->run_first) : WEIR_OK;
}
