/* descent.c - orders that go level by level to where most is free. Invariant: an index in such an order has the rows
 * above a vertex marked as unknown after each change of the spans of the vertex, and of the free units below. */
#include <stdlib.h>
#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"
#include "index/candidate_index.h"

int weir_order_descend(const weir_graph *g, const weir_policy *p, struct order *o)
{
    struct descent *d = &o->descent;

    memset(o, 0, sizeof *o);
    o->numbers = true;
    for (uint32_t i = 0; i < p->ndescend && i < WEIR_DESCEND_TYPES; i++) {
        const char *text = p->descend[i];
        if (strncmp(text, "tags.", 5) == 0) {
            d->by_tag = true;
            d->tag = weir_strtab_find(&g->names, text + 5, strlen(text + 5));
        }
        d->types[d->n++] = weir_type_find(g, text);
    }
    return WEIR_OK;
}

/* The number in the tag that decides between siblings; WEIR_FOREVER: v has no such tag. */
static int64_t tagged(const weir_graph *g, const struct descent *d, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    const struct map *tags = p ? &p->maps[WEIR_TAGS] : NULL;

    for (uint32_t i = 0; tags && i < tags->count; i++)
        if (tags->entries[i].key == d->tag) {
            const char *text = weir_strtab_text(&g->names, tags->entries[i].value);
            char *end;
            int64_t value = strtoll(text, &end, 10);
            return end == text || *end ? WEIR_FOREVER : value;
        }
    return WEIR_FOREVER;
}

/* The quantity that decides between siblings: free units of the first type below v; WEIR_FOREVER, most of all, where v
 * is neither used nor reserved. */
static int64_t slack(const weir_graph *g, const struct descent *d, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    const struct schedule *b = schedule_of(g, v);
    bool used = (b && b->count) || (in && in->cells && (in->cells[CELL_ACTIVE] || in->cells[CELL_SOON]));
    uint32_t cell = 0;

    if (d->by_tag)
        return tagged(g, d, v);
    if (!used)
        return WEIR_FOREVER;
    for (uint32_t i = 0; in && in->cells && cell == 0 && i < d->n; i++)
        cell = type_cell(schema_at(g, in->schema), d->types[i]);
    return cell ? in->cells[cell + TYPE_FREE] : WEIR_FOREVER;
}

bool weir_descent_before(const weir_graph *g, const struct descent *d, weir_vertex a, weir_vertex b)
{
    weir_vertex p = a, q = b;
    int64_t x, y;

    vertices_part(g, &p, &q);
    if (p == q)
        return p == a && a != b;
    x = slack(g, d, p);
    y = slack(g, d, q);
    return x != y ? x > y : vertex_at(g, p)->pos > vertex_at(g, q)->pos;
}

/* ---- changes ---- */

static void changed(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < indexes_in(g)->n; i++)
        if (indexes_in(g)->list[i]->order.descent.n)
            weir_index_forget(g, indexes_in(g)->list[i], v);
}

static void changed_run(weir_graph *g, weir_vertex p, uint32_t from, uint32_t to)
{
    const struct inner *in = inner_of(g, p);

    for (uint32_t k = from; k <= to; k++)
        if (in->kids[k] != WEIR_NONE)
            changed(g, in->kids[k]);
}

static void spans_changed(weir_graph *g, weir_vertex v, bool above)
{
    (void)above;
    changed(g, v);
}

static void ended(weir_graph *g)
{
    weir_observe_end(g, &weir_descent_observer);
}

const struct weir_observer weir_descent_observer = {
    .used = changed,
    .used_run = changed_run,
    .spans_changed = spans_changed,
    .reset = ended,
    .freed = ended,
};
