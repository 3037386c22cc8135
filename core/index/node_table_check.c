/* node_table_check.c - compares a node table that followed changes with a new table. Invariant: both tables number
 * nodes in preorder, so counting gives the number of a node in either table.
 */
#include "index/node_table.h"

#include <string.h>

struct comparison {
    const weir_graph *g;
    struct node_table *kept, *made;
    const uint32_t *numbers; /* by number in `made`: the number in `kept` */
};

/* Whether a set of numbers of `made` is a set of numbers of `kept`. */
static bool is_same_set(const struct comparison *c, const weir_idset *made, const weir_idset *kept)
{
    bool same = weir_idset_count(made) == weir_idset_count(kept);

    for (int64_t i = -1; same && (i = weir_idset_next(made, i)) >= 0;)
        same = weir_idset_test(kept, c->numbers[i]);
    return same;
}

static bool is_same_row(const struct comparison *c, uint32_t row)
{
    struct node_table_span made = c->made->rows[row], kept = c->kept->rows[row];
    int64_t first = kept.lo < kept.hi ? weir_idset_next(c->kept->all, (int64_t)kept.lo - 1) : -1;

    if (made.lo == made.hi)
        return first < 0 || first >= kept.hi;
    return first == c->numbers[made.lo] && kept.hi > c->numbers[made.hi - 1] &&
           (made.hi == c->made->count || kept.hi <= c->numbers[made.hi]);
}

/* Compares the rows at and below v. The depth of the tree is bounded. */
static bool has_same_rows(const struct comparison *c, weir_vertex v)
{
    const struct inner *in = inner_of(c->g, v);
    bool same = true;

    for (uint32_t i = 0; in && in->cells && same && i < in->nrows; i++)
        same = is_same_row(c, in->row + i);
    for (uint32_t i = 0; in && same && i < in->nkids; i++)
        same = in->kids[i] == WEIR_NONE || has_same_rows(c, in->kids[i]);
    return same;
}

static bool is_same_tree(const struct comparison *c)
{
    bool same = c->kept->nrows == c->made->nrows;

    for (uint32_t i = 0; same && i < c->g->nroots; i++)
        same = c->g->roots[i] == WEIR_NONE || has_same_rows(c, c->g->roots[i]);
    for (uint32_t t = 0; same && t < c->made->ntypes; t++)
        same = t < c->kept->ntypes ? c->kept->outside[t] >= c->made->outside[t] : !c->made->outside[t];
    return same;
}

static bool has_same_properties(const struct comparison *c)
{
    uint32_t at = 0;
    bool same = true;

    for (uint32_t i = 0; same && i < c->kept->nproperties; i++) {
        const struct node_table_property *p = &c->kept->properties[i];
        if (weir_idset_count(p->nodes) == 0)
            continue;
        same = at < c->made->nproperties && c->made->properties[at].key == p->key &&
               is_same_set(c, c->made->properties[at].nodes, p->nodes);
        at++;
    }
    return same && at == c->made->nproperties;
}

/* Whether both tables know the node by a name, and the nodes with the node's rank. */
static int check_node(const struct comparison *c, uint32_t node, weir_idset *sets[3], bool *same)
{
    char name[NODE_TABLE_NAME];
    size_t len = weir_vertex_name(c->g, c->made->nodes[node], name, sizeof name);
    int64_t rank = weir_vertex_rank(c->g, c->made->nodes[node]);
    int rc = WEIR_OK;

    for (int i = 0; !rc && i < 3; i++)
        rc = weir_idset_remove_range(sets[i], 0, WEIR_IDSET_MAX);
    rc = rc ? rc : weir_node_table_add_name(c->g, c->made, name, len, sets[0]);
    rc = rc ? rc : weir_node_table_add_name(c->g, c->kept, name, len, sets[1]);
    *same = *same && (rc || is_same_set(c, sets[0], sets[1]));
    if (rc || !c->kept->ranked || rank < 0)
        return rc;
    rc = weir_idset_add_id(sets[2], (uint32_t)rank);
    rc = rc ? rc : weir_node_table_add_ranks(c->g, c->made, sets[2], sets[0]);
    rc = rc ? rc : weir_node_table_add_ranks(c->g, c->kept, sets[2], sets[1]);
    *same = *same && (rc || is_same_set(c, sets[0], sets[1]));
    return rc;
}

static int check_nodes(const struct comparison *c, bool *same)
{
    weir_idset *sets[3] = {weir_idset_new(), weir_idset_new(), weir_idset_new()};
    int rc = sets[0] && sets[1] && sets[2] ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && *same && i < c->made->count; i++) {
        *same = c->kept->nodes[c->numbers[i]] == c->made->nodes[i] &&
                weir_node_table_number(c->kept, c->made->nodes[i]) == c->numbers[i];
        rc = check_node(c, i, sets, same);
    }
    for (int i = 0; i < 3; i++)
        weir_idset_free(sets[i]);
    return rc;
}

int weir_node_table_check(const weir_graph *g, weir_err *err)
{
    struct comparison c = {.g = g, .kept = node_table_in(g)};
    uint32_t *numbers = NULL, n = 0;
    bool same = false;
    int rc = weir_node_table_make(g, c.kept->type, &c.made);

    if (rc)
        return weir_fail_nomem(err);
    numbers = weir_mem_alloc((size_t)c.made->count * sizeof *numbers + 1);
    rc = numbers ? WEIR_OK : WEIR_ENOMEM;
    if (!rc && weir_idset_count(c.kept->all) == c.made->count) {
        for (int64_t i = -1; (i = weir_idset_next(c.kept->all, i)) >= 0;)
            numbers[n++] = (uint32_t)i;
        c.numbers = numbers;
        same = is_same_tree(&c) && has_same_properties(&c);
        rc = same ? check_nodes(&c, &same) : WEIR_OK;
    }
    weir_mem_free(numbers);
    weir_node_table_free(c.made);
    if (rc)
        return weir_fail_nomem(err);
    return same ? WEIR_OK : weir_fail(err, WEIR_EINVAL, "weir_check: the node table is not what the nodes say");
}
