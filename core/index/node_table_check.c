/* node_table_check.c - compares the node table with a table made anew. Numbers differ, so vertices are compared. */
#include "index/node_table_private.h"

#include <string.h>

#include "aggregate/rows.h"

struct both {
    const weir_graph *g;
    const struct node_table *kept, *made;
};

/* Translates a set of numbers of the new table into numbers of the kept table. */
static int renumber(const struct both *b, const weir_idset *set, weir_idset **out)
{
    int rc = WEIR_OK;

    *out = weir_idset_new();
    for (int64_t i = weir_idset_first(set); *out && !rc && i >= 0; i = weir_idset_next(set, i)) {
        uint32_t node = weir_node_table_number(b->kept, b->made->nodes[i]);
        rc = node == WEIR_NONE ? WEIR_OK : weir_idset_add_id(*out, node);
    }
    return *out ? rc : WEIR_ENOMEM;
}

static int same_set(const struct both *b, const weir_idset *kept, const weir_idset *made, bool *same)
{
    weir_idset *set;
    int rc = renumber(b, made, &set);

    *same = *same && !rc && weir_idset_equal(kept, set);
    weir_idset_free(set);
    return rc;
}

static bool is_within(struct node_table_span s, uint32_t node)
{
    return s.lo <= node && node < s.hi;
}

/* Whether the bounds of all rows over a node include the node. */
static bool is_covered(const struct both *b, uint32_t node)
{
    weir_vertex v = b->kept->nodes[node], p;

    for (; (p = vertex_at(b->g, v)->parent) != WEIR_NONE; v = p) {
        const struct inner *in = inner_of(b->g, p);
        struct levels lv;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t l = 0; l <= lv.n; l++) {
            struct node_table_row row = node_table_below(b->kept, in, row_over(&lv, l, vertex_at(b->g, v)->pos));
            if (!is_within(node < b->kept->base ? row.first : row.added, node))
                return false;
        }
    }
    return true;
}

static int check_numbers(const struct both *b, bool *same)
{
    int rc = same_set(b, b->kept->live, b->made->live, same);

    for (int64_t i = weir_idset_first(b->kept->live); *same && i >= 0; i = weir_idset_next(b->kept->live, i))
        *same = is_covered(b, (uint32_t)i);
    for (weir_type t = 0; t < b->made->ntypes; t++)
        *same = *same && (!b->made->outside[t] || t >= b->kept->ntypes || b->kept->outside[t]);
    return rc;
}

static int check_properties(const struct both *b, bool *same)
{
    uint32_t k = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; *same && !rc && i < b->kept->nproperties; i++) { /* properties without nodes are kept */
        const struct node_table_property *p = &b->kept->properties[i];
        if (weir_idset_count(p->nodes) == 0)
            continue;
        *same = k < b->made->nproperties && p->key == b->made->properties[k].key;
        rc = *same ? same_set(b, p->nodes, b->made->properties[k].nodes, same) : WEIR_OK;
        k++;
    }
    *same = *same && k == b->made->nproperties;
    return rc;
}

static uint64_t ranked(const struct node_table *r)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < r->nruns; i++)
        n += r->runs[i].count;
    return n;
}

static bool has_rank(const struct node_table *r, int64_t rank, uint32_t node)
{
    for (uint32_t i = 0; i < r->nruns; i++)
        if (rank >= r->runs[i].rank && rank - r->runs[i].rank < r->runs[i].count &&
            node - r->runs[i].node == rank - r->runs[i].rank)
            return true;
    return false;
}

/* Whether all of run a is before run b, by rank and number. */
static bool is_before(struct node_table_run a, struct node_table_run b)
{
    int64_t last = a.rank + a.count - 1;
    return last < b.rank || (last == b.rank && a.node + a.count - 1 < b.node);
}

static void check_ranks(const struct both *b, bool *same)
{
    const struct node_table *kept = b->kept;

    *same = *same && ranked(kept) == ranked(b->made);
    for (uint32_t i = 1; *same && i < kept->nruns; i++)
        *same = is_before(kept->runs[i - 1], kept->runs[i]);
    for (int64_t i = weir_idset_first(kept->live); *same && i >= 0; i = weir_idset_next(kept->live, i)) {
        int64_t rank = weir_vertex_rank(b->g, kept->nodes[i]);
        *same = rank == WEIR_NO_RANK || has_rank(kept, rank, (uint32_t)i);
    }
}

/* Compares the nodes with the name of a node of the new table. */
static int check_name(const struct both *b, uint32_t node, bool *same)
{
    char name[NODE_TABLE_NAME];
    size_t len = weir_vertex_name(b->g, b->made->nodes[node], name, sizeof name);
    weir_idset *kept = weir_idset_new(), *made = weir_idset_new();
    int rc = kept && made ? WEIR_OK : WEIR_ENOMEM;

    rc = rc ? rc : weir_node_table_add_name(b->g, b->kept, name, len, kept);
    rc = rc ? rc : weir_node_table_add_name(b->g, b->made, name, len, made);
    rc = rc ? rc : same_set(b, kept, made, same);
    weir_idset_free(kept);
    weir_idset_free(made);
    return rc;
}

static int compare(const struct both *b, bool *same)
{
    int rc = check_numbers(b, same);

    rc = rc ? rc : check_properties(b, same);
    if (b->kept->ranks_known)
        check_ranks(b, same);
    for (uint32_t i = 0; b->kept->names_known && *same && !rc && i < b->made->count; i++)
        rc = check_name(b, i, same);
    return rc;
}

int weir_node_table_check(const weir_graph *g, weir_err *err)
{
    struct both b = {g, g->node_table, NULL};
    struct node_table *made;
    bool same = true;
    int rc = weir_node_table_make(g, b.kept->type, &made);

    if (rc)
        return weir_fail_nomem(err);
    b.made = made;
    rc = weir_node_table_read_ranks(g, made);
    rc = rc ? rc : weir_node_table_read_names(g, made);
    rc = rc ? rc : compare(&b, &same);
    weir_node_table_free(made);
    if (rc)
        return weir_fail_nomem(err);
    return same ? WEIR_OK : weir_fail(err, WEIR_EINVAL, "weir_check: the node table is not what the nodes say");
}
