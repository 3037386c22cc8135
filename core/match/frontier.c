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
        if (tags->entries[i].key == s->tag_key) {
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

    if (s->by_tag)
        return tagged(s, v);
    if (!used)
        return WEIR_FOREVER;
    for (uint32_t i = 0; in && in->cells && cell == 0 && i < s->nspare; i++)
        cell = type_cell(schema_at(g, in->schema), s->spare[i]);
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

static bool before(const struct search *s, const struct item *a, const struct item *b)
{
    if (search_descends(s))
        return descends_before(s, a->kind == ITEM_AGAIN ? a->key : a->vertex,
                               b->kind == ITEM_AGAIN ? b->key : b->vertex);
    if (a->key == b->key)
        return a->kind < b->kind;
    return weir_order_before(s->m->g, &s->index->order, a->key, b->key);
}

static int put(struct search *s, const struct item *it)
{
    if (weir_array_reserve(&s->heap, &s->cap, (size_t)s->n + 1, sizeof *s->heap))
        return weir_fail_nomem(s->m->err);
    s->heap[s->n] = *it;
    WEIR_HEAP_UP(s->heap, s->n, a, b, before(s, a, b));
    s->n++;
    return WEIR_OK;
}

struct item weir_search_pop(struct search *s)
{
    struct item top = s->heap[0];

    if (top.next != WEIR_NONE) {
        s->heap[0] = s->run_items[top.next];
        s->run_items[top.next].next = s->run_free;
        s->run_free = top.next;
    } else {
        s->heap[0] = s->heap[--s->n];
    }
    WEIR_HEAP_DOWN(s->heap, s->n, 0, a, b, before(s, a, b));
    return top;
}

/* ---- runs ---- */

/* Number of an unused entry of run_items; WEIR_NONE: out of memory. */
static uint32_t new_run_item(struct search *s)
{
    uint32_t i = s->run_free;

    if (i != WEIR_NONE) {
        s->run_free = s->run_items[i].next;
        return i;
    }
    if (weir_array_reserve(&s->run_items, &s->run_items_cap, (size_t)s->nrun_items + 1, sizeof *s->run_items))
        return WEIR_NONE;
    return s->nrun_items++;
}

/* Begins a run with one item. */
static void begin_run(struct search *s, const struct item *it)
{
    s->run_first = *it;
    s->run_last = WEIR_NONE;
    s->in_run = true;
}

/* Adds an item to the end or the start of the run under construction, where the order allows; otherwise begins a new
 * run. */
static int add_to_run(struct search *s, struct item *it)
{
    bool behind = !before(s, it, s->run_last == WEIR_NONE ? &s->run_first : &s->run_items[s->run_last]);
    uint32_t entry;

    if (!behind && !before(s, it, &s->run_first)) {
        int rc = put(s, &s->run_first);
        begin_run(s, it);
        return rc;
    }
    entry = new_run_item(s);
    if (entry == WEIR_NONE)
        return weir_fail_nomem(s->m->err);
    s->run_items[entry] = behind ? *it : s->run_first;
    if (!behind) {
        s->run_last = s->run_last == WEIR_NONE ? entry : s->run_last;
        it->next = entry;
        s->run_first = *it;
        return WEIR_OK;
    }
    *(s->run_last == WEIR_NONE ? &s->run_first.next : &s->run_items[s->run_last].next) = entry;
    s->run_last = entry;
    return WEIR_OK;
}

int weir_search_push(struct search *s, struct item it)
{
    it.next = WEIR_NONE;
    it.origin = s->learning && it.kind != ITEM_AGAIN ? s->pushed_from : WEIR_NONE;
    if (it.origin != WEIR_NONE)
        s->opened[it.origin].live++;
    if (!s->collecting)
        return put(s, &it);
    if (s->in_run)
        return add_to_run(s, &it);
    begin_run(s, &it);
    return WEIR_OK;
}

int weir_search_gathered(struct search *s)
{
    bool left = s->in_run;

    s->collecting = s->in_run = false;
    return left ? put(s, &s->run_first) : WEIR_OK;
}
