/* node_table.c - numbers of nodes: makes the table, follows the tree, and bounds the nodes below each row.
 * Invariant: the number of each node below a row is within the bounds of the row.
 */
#include "index/node_table_private.h"

#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"

void weir_node_table_free(struct node_table *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nproperties; i++)
        weir_idset_free(r->properties[i].nodes);
    weir_mem_free(r->properties);
    weir_idset_free(r->live);
    weir_mem_free(r->nodes);
    weir_map32_free(&r->numbers);
    weir_mem_free(r->first);
    weir_mem_free(r->added);
    weir_mem_free(r->outside);
    weir_mem_free(r->runs);
    weir_map32_free(&r->named);
    weir_mem_free(r->next);
    weir_mem_free(r);
}

static void drop(weir_graph *g)
{
    weir_node_table_free(g->node_table);
    g->node_table = NULL;
    weir_observe_end(g, &weir_node_table_observer);
}

static size_t bytes(const weir_graph *g)
{
    const struct node_table *r = g->node_table;
    size_t n = sizeof *r + (size_t)r->cap * sizeof *r->nodes + weir_map32_bytes(&r->numbers) +
               (size_t)r->rows_cap * sizeof *r->first * (r->added ? 2 : 1) + r->ntypes;

    n += (size_t)r->properties_cap * sizeof *r->properties + (size_t)r->runs_cap * sizeof *r->runs;
    n += weir_map32_bytes(&r->named) + (r->next ? (size_t)r->cap * 4 : 0) + weir_idset_bytes(r->live);
    for (uint32_t i = 0; i < r->nproperties; i++)
        n += weir_idset_bytes(r->properties[i].nodes);
    return n;
}

/* ---- numbers ---- */

uint32_t weir_node_table_number(const struct node_table *r, weir_vertex v)
{
    return weir_map32_get(&r->numbers, v);
}

static void cover(struct node_table_span *s, uint32_t lo, uint32_t hi)
{
    if (lo == hi)
        return;
    if (s->lo == s->hi)
        *s = (struct node_table_span){lo, hi};
    s->lo = s->lo < lo ? s->lo : lo;
    s->hi = s->hi > hi ? s->hi : hi;
}

/* Widens the bounds of all rows over a node. */
static void cover_up(const weir_graph *g, struct node_table *r, uint32_t node)
{
    weir_vertex v = r->nodes[node], p;

    for (; (p = vertex_at(g, v)->parent) != WEIR_NONE; v = p) {
        const struct inner *in = inner_of(g, p);
        struct levels lv;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t l = 0; l <= lv.n; l++) {
            uint32_t row = in->row + row_over(&lv, l, vertex_at(g, v)->pos);
            cover(node < r->base ? &r->first[row] : &r->added[row], node, node + 1);
        }
    }
}

/* ---- making ---- */

bool weir_node_table_has_below(const weir_graph *g, const struct node_table *r, const struct inner *in)
{
    return in && in->cells && type_cell(schema_at(g, in->schema), r->type) != 0;
}

/* Records v, which is neither a node nor inside a node, in `outside`; where no node is below v, also the types
 * below. */
static void note_outside(const weir_graph *g, struct node_table *r, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    r->outside[kind_of(g, v)->type] = true;
    if (!in || !in->cells || weir_node_table_has_below(g, r, in))
        return;
    for (weir_type t = 0; t < r->ntypes; t++)
        r->outside[t] = r->outside[t] || type_cell(schema_at(g, in->schema), t) != 0;
}

/* Lists v, if a node, and the nodes below v, in preorder. The depth of the tree is bounded. */
static int list_nodes(const weir_graph *g, struct node_table *r, weir_vertex v, bool inside)
{
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    if (kind_of(g, v)->type == r->type) {
        if (weir_array_reserve(&r->nodes, &r->cap, (size_t)r->count + 1, sizeof *r->nodes))
            return WEIR_ENOMEM;
        r->nodes[r->count++] = v;
        inside = true;
    }
    if (!inside)
        note_outside(g, r, v);
    for (uint32_t i = 0; weir_node_table_has_below(g, r, in) && !rc && i < in->nkids; i++)
        rc = in->kids[i] == WEIR_NONE ? WEIR_OK : list_nodes(g, r, in->kids[i], inside);
    return rc;
}

/* Reserves the numbers for later nodes, and inserts the nodes listed. */
static int settle(const weir_graph *g, struct node_table *r)
{
    size_t most = (size_t)r->count + r->count / 8 + NODE_TABLE_ADDED;

    r->live = weir_idset_new();
    if (!r->live || weir_map32_reserve(&r->numbers, r->count) ||
        weir_array_reserve(&r->nodes, &r->cap, most, sizeof *r->nodes))
        return WEIR_ENOMEM;
    r->base = r->count;
    r->cap = (uint32_t)most;
    for (uint32_t i = 0; i < r->count; i++) {
        if (weir_map32_add(&r->numbers, r->nodes[i], i))
            return WEIR_ENOMEM;
        cover_up(g, r, i);
    }
    return r->count ? weir_idset_add_range(r->live, 0, r->count - 1) : WEIR_OK;
}

static int fill(const weir_graph *g, struct node_table *r)
{
    int rc = WEIR_OK;

    r->nrows = g->aggregates->nrows;
    r->rows_cap = g->aggregates->nrows + 1;
    r->ntypes = g->ntypes;
    r->first = weir_mem_zalloc(r->rows_cap, sizeof *r->first);
    r->outside = weir_mem_zalloc((size_t)g->ntypes + 1, sizeof *r->outside);
    if (!r->first || !r->outside)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = list_nodes(g, r, g->roots[i], false);
    rc = rc ? rc : settle(g, r);
    return rc ? rc : weir_node_table_read_properties(g, r);
}

int weir_node_table_make(const weir_graph *g, weir_type node_type, struct node_table **out)
{
    struct node_table *r = weir_mem_zalloc(1, sizeof *r);

    if (!r)
        return WEIR_ENOMEM;
    r->type = node_type;
    if (fill(g, r)) {
        weir_node_table_free(r);
        return WEIR_ENOMEM;
    }
    *out = r;
    return WEIR_OK;
}

int weir_node_table_get(weir_graph *g, weir_type node_type, struct node_table **out)
{
    struct node_table *r;

    if (g->node_table && g->node_table->type != node_type)
        drop(g);
    if (!g->node_table && weir_node_table_make(g, node_type, &g->node_table))
        return WEIR_ENOMEM;
    weir_observe(g, &weir_node_table_observer);
    r = g->node_table;
    if ((!r->ranks_known && weir_node_table_read_ranks(g, r)) || (!r->names_known && weir_node_table_read_names(g, r)))
        return WEIR_ENOMEM;
    *out = r;
    return WEIR_OK;
}

/* ---- new nodes ---- */

static int widen_types(const weir_graph *g, struct node_table *r)
{
    bool *wider;

    if (g->ntypes <= r->ntypes)
        return WEIR_OK;
    wider = weir_mem_realloc(r->outside, g->ntypes * sizeof *wider);
    if (!wider)
        return WEIR_ENOMEM;
    memset(wider + r->ntypes, 0, (g->ntypes - r->ntypes) * sizeof *wider);
    r->outside = wider;
    r->ntypes = g->ntypes;
    return WEIR_OK;
}

static int join(const weir_graph *g, struct node_table *r, weir_vertex v)
{
    uint32_t node = r->count;

    if (node == r->cap)
        return WEIR_ELIMIT;
    if (!r->added)
        r->added = weir_mem_zalloc(r->rows_cap, sizeof *r->added);
    if (!r->added || weir_map32_add(&r->numbers, v, node))
        return WEIR_ENOMEM;
    r->nodes[r->count++] = v;
    cover_up(g, r, node);
    return weir_idset_add_id(r->live, node) ? WEIR_ENOMEM : weir_node_table_learn(g, r, node);
}

static int join_below(const weir_graph *g, struct node_table *r, weir_vertex v, bool inside)
{
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    if (kind_of(g, v)->type == r->type) {
        rc = join(g, r, v);
        inside = true;
    } else if (!inside) {
        note_outside(g, r, v);
    }
    for (uint32_t i = 0; weir_node_table_has_below(g, r, in) && !rc && i < in->nkids; i++)
        rc = in->kids[i] == WEIR_NONE ? WEIR_OK : join_below(g, r, in->kids[i], inside);
    return rc;
}

static bool is_inside(const weir_graph *g, const struct node_table *r, weir_vertex v)
{
    while (v != WEIR_NONE && kind_of(g, v)->type != r->type)
        v = vertex_at(g, v)->parent;
    return v != WEIR_NONE;
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    struct node_table *r = g->node_table;
    const weir_vertex *kids = p == WEIR_NONE ? g->roots : inner_of(g, p)->kids;
    bool inside;
    int rc;

    inside = is_inside(g, r, p);
    rc = widen_types(g, r);
    for (uint32_t i = pos; !rc && i < pos + count; i++)
        rc = join_below(g, r, kids[i], inside);
    if (rc)
        drop(g);
}

/* ---- removed nodes ---- */

static int leave_below(const weir_graph *g, struct node_table *r, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    uint32_t node = kind_of(g, v)->type == r->type ? weir_node_table_number(r, v) : WEIR_NONE;
    int rc = WEIR_OK;

    if (node != WEIR_NONE) {
        rc = weir_node_table_forget(g, r, node);
        rc = rc ? rc : weir_idset_remove_id(r->live, node);
        weir_map32_remove(&r->numbers, v, node);
        r->nodes[node] = WEIR_NONE;
    }
    for (uint32_t i = 0; weir_node_table_has_below(g, r, in) && !rc && i < in->nkids; i++)
        rc = in->kids[i] == WEIR_NONE ? WEIR_OK : leave_below(g, r, in->kids[i]);
    return rc;
}

static void unlinked(weir_graph *g, weir_vertex v)
{
    if (leave_below(g, g->node_table, v))
        drop(g);
}

/* ---- rows ---- */

static int widen_rows(struct node_table *r, uint32_t rows)
{
    uint32_t had = r->rows_cap;

    if (r->added && weir_array_reserve(&r->added, &had, rows, sizeof *r->added))
        return WEIR_ENOMEM;
    return weir_array_reserve(&r->first, &r->rows_cap, rows, sizeof *r->first);
}

static void rows_given(weir_graph *g, uint32_t first, uint32_t count)
{
    struct node_table *r = g->node_table;

    if (widen_rows(r, first + count)) {
        drop(g);
        return;
    }
    r->nrows = first + count > r->nrows ? first + count : r->nrows;
    memset(r->first + first, 0, count * sizeof *r->first);
    if (r->added)
        memset(r->added + first, 0, count * sizeof *r->added);
}

static void rows_moved(weir_graph *g, weir_vertex v)
{
    struct node_table *r = g->node_table;
    const struct inner *in = inner_of(g, v);
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t i = 0; i < in->nkids; i++) {
        const struct inner *kid = in->kids[i] == WEIR_NONE ? NULL : inner_of(g, in->kids[i]);
        uint32_t node = in->kids[i] == WEIR_NONE ? WEIR_NONE : weir_node_table_number(r, in->kids[i]);
        struct node_table_row below =
            kid && kid->cells ? node_table_below(r, kid, 0) : (struct node_table_row){{0, 0}, {0, 0}};
        if (node != WEIR_NONE)
            cover(node < r->base ? &below.first : &below.added, node, node + 1);
        for (uint32_t l = 0; l <= lv.n; l++) {
            uint32_t row = in->row + row_over(&lv, l, i);
            cover(&r->first[row], below.first.lo, below.first.hi);
            if (r->added)
                cover(&r->added[row], below.added.lo, below.added.hi);
        }
    }
}

/* ---- changed pools ---- */

static bool is_empty(struct node_table_row row)
{
    return row.first.lo == row.first.hi && row.added.lo == row.added.hi;
}

static int rerank(const weir_graph *g, struct node_table *r, weir_vertex v, uint32_t node)
{
    const struct inner *in = inner_of(g, v);

    if (in && in->cells && !is_empty(node_table_below(r, in, 0))) /* nodes below may inherit the rank of v */
        r->ranks_known = false;
    return r->ranks_known && node != WEIR_NONE ? weir_node_table_rerank(g, r, node) : WEIR_OK;
}

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    struct node_table *r = g->node_table;
    uint32_t node;
    int rc = WEIR_OK;

    if (map != WEIR_PROPERTIES)
        return;
    node = kind_of(g, v)->type == r->type ? weir_node_table_number(r, v) : WEIR_NONE;
    r->names_known = r->names_known && !r->templates;
    if (key == WEIR_NO_NAME)
        rc = rerank(g, r, v, node);
    else if (node != WEIR_NONE)
        rc = weir_node_table_move(g, r, node, key);
    if (rc)
        drop(g);
}

const struct weir_observer weir_node_table_observer = {
    .linked = linked,
    .unlinked = unlinked,
    .described = described,
    .described_many = drop,
    .rows_given = rows_given,
    .rows_moved = rows_moved,
    .reset = drop,
    .freed = drop,
    .bytes = bytes,
    .check = weir_node_table_check,
};
