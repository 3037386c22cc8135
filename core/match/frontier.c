/* frontier.c - what a search has still to look at, best first: a heap of runs. Invariant: the items of a run are in order, its
 * first one is in the heap. What stands side by side mostly is in order, so that most of it never moves in the heap. */
#include <stdlib.h>
#include <string.h>

#include "time/schedule.h"
#include "match/match.h"
#include "aggregate/rows.h"

/* ---- depth first, to where most is free ---- */

/* The number in the tag that decides between siblings; WEIR_FOREVER: v has none. */
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

/* What decides between siblings: how much of the first spare type is free below v, most of all where nobody uses or has
 * reserved any of it. */
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

/* Whether a is come by before b: their ancestors that are siblings decide. O(d) */
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
        return descends_before(s, a->kind == ITEM_AGAIN ? a->key : a->vertex, b->kind == ITEM_AGAIN ? b->key : b->vertex);
    if (a->key == b->key)
        return a->kind < b->kind;
    return weir_order_before(s->m->g, &s->index->order, a->key, b->key);
}

static int put(struct search *s, const struct item *it)
{
    uint32_t at = s->n;

    if (weir_array_reserve(&s->heap, &s->cap, (size_t)s->n + 1, sizeof *s->heap))
        return weir_fail_nomem(s->m->err);
    s->n++;
    while (at > 0 && before(s, it, &s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = *it;
    return WEIR_OK;
}

struct item weir_search_pop(struct search *s)
{
    struct item top = s->heap[0], next;
    uint32_t at = 0;

    if (top.next != WEIR_NONE) {
        next = s->behind[top.next];
        s->behind[top.next].next = s->spare_behind;
        s->spare_behind = top.next;
    } else {
        next = s->heap[--s->n];
    }
    for (;;) {
        uint32_t kid = 2 * at + 1;
        if (kid + 1 < s->n && before(s, &s->heap[kid + 1], &s->heap[kid]))
            kid++;
        if (kid >= s->n || !before(s, &s->heap[kid], &next))
            break;
        s->heap[at] = s->heap[kid];
        at = kid;
    }
    s->heap[at] = next;
    return top;
}

/* ---- runs ---- */

/* A place behind the first of a run; WEIR_NONE: out of memory. */
static uint32_t place_behind(struct search *s)
{
    uint32_t i = s->spare_behind;

    if (i != WEIR_NONE) {
        s->spare_behind = s->behind[i].next;
        return i;
    }
    if (weir_array_reserve(&s->behind, &s->behind_cap, (size_t)s->nbehind + 1, sizeof *s->behind))
        return WEIR_NONE;
    return s->nbehind++;
}

/* The first of a run that nothing has been put behind yet. */
static void begin_run(struct search *s, const struct item *it)
{
    s->first = *it;
    s->last = WEIR_NONE;
    s->in_run = true;
}

/* Puts an item behind the run, or in front of it, where it belongs there; else that run is over. */
static int add_to_run(struct search *s, struct item *it)
{
    bool behind = !before(s, it, s->last == WEIR_NONE ? &s->first : &s->behind[s->last]);
    uint32_t place;

    if (!behind && !before(s, it, &s->first)) {
        int rc = put(s, &s->first);
        begin_run(s, it);
        return rc;
    }
    place = place_behind(s);
    if (place == WEIR_NONE)
        return weir_fail_nomem(s->m->err);
    s->behind[place] = behind ? *it : s->first;
    if (!behind) {
        s->last = s->last == WEIR_NONE ? place : s->last;
        it->next = place;
        s->first = *it;
        return WEIR_OK;
    }
    *(s->last == WEIR_NONE ? &s->first.next : &s->behind[s->last].next) = place;
    s->last = place;
    return WEIR_OK;
}

int weir_search_push(struct search *s, struct item it)
{
    it.next = WEIR_NONE;
    it.from = s->noted && it.kind != ITEM_AGAIN ? s->into : WEIR_NONE;
    if (it.from != WEIR_NONE)
        s->opened[it.from].items++;
    if (!s->gathers)
        return put(s, &it);
    if (s->in_run)
        return add_to_run(s, &it);
    begin_run(s, &it);
    return WEIR_OK;
}

int weir_search_gathered(struct search *s)
{
    bool left = s->in_run;

    s->gathers = s->in_run = false;
    return left ? put(s, &s->first) : WEIR_OK;
}
