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

/* ---- depth first, to where most is free ---- */

/* The number in the tag that decides between siblings; WEIR_FOREVER: v has no such tag. */
static int64_t tagged(const struct search *s, weir_vertex v)
{
    const struct pool *p = pool_of(s->m->g, v);
    const struct map *tags = p ? &p->maps[WEIR_TAGS] : NULL;

    for (uint32_t i = 0; tags && i < tags->count; i++)
        if (tags->entries[i].key == s->descent.tag) {
            const char *text = weir_strtab_text(&s->m->g->names, tags->entries[i].value);
            char *end;
            int64_t value = strtoll(text, &end, 10);
            return end == text || *end ? WEIR_FOREVER : value;
        }
    return WEIR_FOREVER;
}

/* The quantity that decides between siblings: free units of the first spare type below v; WEIR_FOREVER, most of all,
 * where v is neither used nor reserved. */
static int64_t slack(const struct search *s, weir_vertex v)
{
    const weir_graph *g = s->m->g;
    const struct inner *in = inner_of(g, v);
    const struct schedule *b = schedule_of(g, v);
    bool used = (b && b->count) || (in && in->cells && (in->cells[CELL_ACTIVE] || in->cells[CELL_SOON]));
    uint32_t cell = 0;

    if (s->descent.by_tag)
        return tagged(s, v);
    if (!used)
        return WEIR_FOREVER;
    for (uint32_t i = 0; in && in->cells && cell == 0 && i < s->descent.n; i++)
        cell = type_cell(schema_at(g, in->schema), s->descent.types[i]);
    return cell ? in->cells[cell + TYPE_FREE] : WEIR_FOREVER;
}

/* Whether a search that descends reaches a before b: the ancestors of both that are siblings decide. O(d) */
static bool descends_before(const struct search *s, weir_vertex a, weir_vertex b)
{
    const weir_graph *g = s->m->g;
    weir_vertex p = a, q = b;
    int64_t x, y;

    vertices_part(g, &p, &q);
    if (p == q)
        return p == a && a != b;
    x = slack(s, p);
    y = slack(s, q);
    return x != y ? x > y : vertex_at(g, p)->pos > vertex_at(g, q)->pos;
}

/* ---- the heap ---- */

static inline bool before(const struct search *s, const struct item *a, const struct item *b)
{
    if (search_descends(s))
        return descends_before(s, a->kind == ITEM_AGAIN ? a->key : a->vertex,
                               b->kind == ITEM_AGAIN ? b->key : b->vertex);
    if (a->key == b->key)
        return a->kind < b->kind;
    return order_before(s->m->g, &s->index->order, a->key, b->key);
}

static int put(struct search *s, const struct item *it)
{
    struct frontier *f = &s->frontier;

    if (weir_array_reserve(&f->heap, &f->cap, (size_t)f->n + 1, sizeof *f->heap))
        return weir_fail_nomem(s->m->err);
    f->heap[f->n] = *it;
    WEIR_HEAP_UP(f->heap, f->n, a, b, before(s, a, b));
    f->n++;
    return WEIR_OK;
}

struct item weir_search_pop(struct search *s)
{
    struct frontier *f = &s->frontier;
    struct item top = f->heap[0];

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
static void begin_run(struct search *s, const struct item *it)
{
    struct frontier *f = &s->frontier;

    f->run_first = *it;
    f->run_last = WEIR_NONE;
    f->push = PUSH_IN_RUN;
}

/* Adds an item to the end or the start of the run under construction, where the order allows; otherwise begins a new
 * run. */
static int add_to_run(struct search *s, struct item *it)
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

int weir_search_push(struct search *s, struct item it)
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
