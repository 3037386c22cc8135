/* group_totals.c - the totals that vertices of a type have of another type below (weir_groups_total()). A few results
 * are kept until the structure changes: most machines have few kinds of nodes. */
#include "index/group_index.h"

#include "aggregate/schema.h"
#include "graph/observer.h"

#define TOTALS 32

/* All amounts above `above`, up to `total`, have the result `total`. */
struct total {
    uint64_t serial; /* of the structure */
    weir_type of, need;
    int64_t above, total;
};

struct group_totals {
    struct total list[TOTALS];
    uint32_t n, next; /* entries; the entry to be replaced next */
};

static struct total compute(const weir_graph *g, weir_type t, weir_type need, int64_t amount)
{
    struct total found = {g->serial, t, need, -1, -1};

    for (uint32_t i = 0; i < g->ninners; i++) {
        const struct inner *in = &g->inners[i];
        uint32_t cell;
        int64_t total;
        if (in->vertex == WEIR_NONE || kind_of(g, in->vertex)->type != t || !in->cells)
            continue;
        cell = type_cell(schema_at(g, in->schema), need);
        total = cell ? in->cells[cell + TYPE_TOTAL] : 0;
        if (total < amount)
            found.above = total > found.above ? total : found.above;
        else if (found.total < 0 || total < found.total)
            found.total = total;
    }
    return found;
}

int64_t weir_groups_total(weir_graph *g, weir_type t, weir_type need, int64_t amount)
{
    struct group_indexes *all = weir_record_make(g, RECORD_GROUPS, sizeof *all, &weir_group_observer);
    struct group_totals *x = all ? all->totals : NULL;
    struct total found;

    for (uint32_t i = 0; x && i < x->n; i++) {
        const struct total *k = &x->list[i];
        if (k->serial == g->serial && k->of == t && k->need == need && amount > k->above && amount <= k->total)
            return k->total;
    }
    found = compute(g, t, need, amount);
    if (all && !x)
        all->totals = x = weir_mem_zalloc(1, sizeof *x);
    if (x && found.total >= 0) {
        x->list[x->next] = found;
        x->n = x->n < TOTALS ? x->n + 1 : x->n;
        x->next = (x->next + 1) % TOTALS;
    }
    return found.total;
}
