/* output.c - services for writers of machines and allocations: the tree of an allocation, names, the run of a writer.
 * See output.h.
 *
 * Main invariant: a tree has an entry for the parent of each of its vertices, and a chain of entries is in the order of
 * the graph, regardless of the order of the picks.
 */
#include "format/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/utf8.h"

/* ---- the tree of an allocation -------------------------------------------------------------------------------- */

/* Appends entry i to the chain of its parent, or to the roots. */
static void chain_entry(const weir_graph *g, struct weir_pick_tree *p, uint32_t i)
{
    struct weir_pick_entry *entry = &p->entries[i];
    uint32_t *first = entry->above == WEIR_NONE ? &p->first : &p->entries[entry->above].first;
    uint32_t *last = entry->above == WEIR_NONE ? &p->last : &p->entries[entry->above].last;

    entry->next = WEIR_NONE;
    if (*last == WEIR_NONE) {
        *first = i;
    } else {
        p->entries[*last].next = i;
        if (vertex_at(g, p->entries[*last].v)->pos > vertex_at(g, entry->v)->pos)
            p->unsorted = true;
    }
    *last = i;
}

/* Returns the number of the entry of v, and makes the missing entries of v and of all above v. WEIR_NONE: out of
 * memory. */
static uint32_t get_entry(const weir_graph *g, struct weir_pick_tree *p, weir_vertex v)
{
    uint32_t i = weir_map32_get(&p->numbers, v), above = WEIR_NONE;

    if (i != WEIR_NONE)
        return i;
    if (vertex_at(g, v)->parent != WEIR_NONE) {
        above = get_entry(g, p, vertex_at(g, v)->parent);
        if (above == WEIR_NONE)
            return WEIR_NONE;
    }
    i = p->count;
    if (weir_array_reserve(&p->entries, &p->cap, (size_t)i + 1, sizeof *p->entries) < 0 ||
        weir_map32_add(&p->numbers, v, i) < 0)
        return WEIR_NONE;
    p->entries[i] = (struct weir_pick_entry){v, above, WEIR_NONE, WEIR_NONE, WEIR_NONE, 0, false, false};
    p->count++;
    chain_entry(g, p, i);
    return i;
}

struct sibling_position {
    uint32_t above, pos, entry;
};

WEIR_COMPARE_BY2(compare_positions, struct sibling_position, above, pos)

/* Rebuilds all chains in the order of the graph. */
static int sort_entries(const weir_graph *g, struct weir_pick_tree *p)
{
    struct sibling_position *positions = weir_mem_alloc(p->count * sizeof *positions);

    if (!positions)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < p->count; i++) {
        positions[i] = (struct sibling_position){p->entries[i].above, vertex_at(g, p->entries[i].v)->pos, i};
        p->entries[i].first = p->entries[i].last = WEIR_NONE;
    }
    p->first = p->last = WEIR_NONE;
    qsort(positions, p->count, sizeof *positions, compare_positions);
    for (uint32_t i = 0; i < p->count; i++)
        chain_entry(g, p, positions[i].entry);
    weir_mem_free(positions);
    return WEIR_OK;
}

static int add_pick(const weir_graph *g, struct weir_pick_tree *p, const weir_pick *pick, weir_err *err)
{
    struct weir_pick_entry *entry;
    uint32_t i;

    if (!vertex_valid(g, pick->vertex))
        return weir_fail(err, WEIR_EINVAL, "the allocation has vertex %u, which is not in the graph (any more)",
                         pick->vertex);
    i = get_entry(g, p, pick->vertex);
    if (i == WEIR_NONE)
        return weir_fail_nomem(err);
    entry = &p->entries[i];
    entry->picked = true;
    entry->whole |= pick->exclusive;
    if (entry->whole || pick->amount > kind_of(g, entry->v)->size - entry->amount)
        entry->amount = kind_of(g, entry->v)->size;
    else
        entry->amount += pick->amount;
    return WEIR_OK;
}

int weir_pick_tree_build(const weir_graph *g, const weir_allocation *a, struct weir_pick_tree *out, weir_err *err)
{
    struct weir_pick_tree p = {.first = WEIR_NONE, .last = WEIR_NONE};
    int rc = WEIR_OK;

    if (weir_array_reserve(&p.entries, &p.cap, a->npicks, sizeof *p.entries) < 0 ||
        weir_map32_reserve(&p.numbers, a->npicks) < 0)
        rc = weir_fail_nomem(err);
    for (uint32_t i = 0; rc == WEIR_OK && i < a->npicks; i++)
        rc = add_pick(g, &p, &a->picks[i], err);
    if (rc == WEIR_OK && p.unsorted && sort_entries(g, &p) < 0)
        rc = weir_fail_nomem(err);
    if (rc == WEIR_OK)
        *out = p;
    else
        weir_pick_tree_free(&p);
    return rc;
}

void weir_pick_tree_free(struct weir_pick_tree *p)
{
    weir_mem_free(p->entries);
    weir_map32_free(&p->numbers);
    memset(p, 0, sizeof *p);
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* Adds the own name of a pool, of any length, possibly with values of other pools inside. */
static void write_own_name(weir_buf *b, const weir_graph *g, weir_vertex v)
{
    char small[256], *large;
    size_t n = weir_vertex_name(g, v, small, sizeof small);

    if (n < sizeof small) {
        weir_buf_add(b, small, n);
        return;
    }
    large = weir_mem_alloc(n + 1);
    if (!large) {
        b->failed = true;
        return;
    }
    weir_vertex_name(g, v, large, n + 1);
    weir_buf_add(b, large, n);
    weir_mem_free(large);
}

void weir_write_name(weir_buf *b, const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);

    if (p && p->name != WEIR_NO_NAME) {
        write_own_name(b, g, v);
        return;
    }
    weir_buf_puts(b, weir_strtab_text(&g->names, kind_of(g, v)->basename));
    if (vertex_at(g, v)->id != WEIR_NO_ID)
        weir_write_int(b, vertex_at(g, v)->id);
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

const weir_vertex *weir_write_tops(const weir_graph *g, const weir_format_options *o, uint32_t *n)
{
    *n = o->start == WEIR_NONE ? g->nroots : 1;
    return o->start == WEIR_NONE ? g->roots : &o->start;
}

int weir_write_flush(const struct weir_written *w, weir_buf *b, bool all, weir_err *err)
{
    if (!w->sink || b->failed || b->len == 0 || (b->len < WEIR_FLUSH && !all))
        return WEIR_OK;
    if (weir_interrupted())
        return weir_fail(err, WEIR_EINTERRUPTED, "interrupted");
    if (w->sink(w->sink_data, b->data, b->len) < 0)
        return weir_fail(err, WEIR_EIO, "the text cannot be written");
    b->len = 0;
    return WEIR_OK;
}

int weir_write_run(weir_writer *writer, const struct weir_written *w, weir_buf *b, weir_err *err)
{
    int rc;

    weir_buf_add(b, "", 0);
    rc = writer(w, b, err);
    if (rc == WEIR_OK && b->failed)
        rc = weir_fail_nomem(err);
    rc = rc ? rc : weir_write_flush(w, b, true, err);
    return rc;
}

char *weir_write_text(weir_writer *writer, const struct weir_written *w, weir_err *err)
{
    weir_buf b = {0};

    return weir_buf_result(&b, weir_write_run(writer, w, &b, err), err);
}

char *weir_write_allocation(weir_writer *writer, const weir_graph *g, const weir_allocation *a, weir_err *err)
{
    struct weir_pick_tree tree = {0};
    char *text;

    if (weir_pick_tree_build(g, a, &tree, err) < 0)
        return NULL;
    text = weir_write_text(writer, &(struct weir_written){.g = g, .tree = &tree, .a = a}, err);
    weir_pick_tree_free(&tree);
    return text;
}
