/* node_table.c - see node_table.h. Invariant: the table tells what the tree, the properties and the ranks of the nodes
 * tell, as every change drops the table.
 */
#include "index/node_table.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/rows.h"
#include "base/bisect.h"
#include "base/hash.h"
#include "graph/observer.h"

static void table_free(struct node_table *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nproperties; i++)
        weir_idset_free(r->properties[i].nodes);
    weir_mem_free(r->properties);
    weir_idset_free(r->all);
    weir_mem_free(r->nodes);
    weir_map32_free(&r->numbers);
    weir_mem_free(r->rows);
    weir_mem_free(r->outside);
    weir_mem_free(r->runs);
    weir_map32_free(&r->names);
    weir_mem_free(r->next);
    weir_mem_free(r);
}

static void drop(weir_graph *g)
{
    table_free(g->node_table);
    g->node_table = NULL;
    weir_observe_end(g, &weir_node_table_observer);
}

static size_t bytes(const weir_graph *g)
{
    const struct node_table *r = g->node_table;
    size_t n = sizeof *r + (size_t)r->cap * sizeof *r->nodes + (size_t)r->nrows * sizeof *r->rows + r->ntypes;

    n += weir_map32_bytes(&r->numbers) + weir_map32_bytes(&r->names) + (size_t)r->count * sizeof *r->next;
    n += (size_t)r->properties_cap * sizeof *r->properties + (size_t)r->runs_cap * sizeof *r->runs;
    n += weir_idset_bytes(r->all);
    for (uint32_t i = 0; i < r->nproperties; i++)
        n += weir_idset_bytes(r->properties[i].nodes);
    return n;
}

/* ---- numbers ---- */

static bool has_below(const weir_graph *g, const struct node_table *r, const struct inner *in)
{
    return in && in->cells && type_cell(schema_at(g, in->schema), r->type) != 0;
}

/* Records v, which is neither a node nor inside a node, in `outside`; where no node is below v, also the types
 * below. */
static void note_outside(const weir_graph *g, struct node_table *r, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    r->outside[kind_of(g, v)->type] = true;
    if (!in || !in->cells || has_below(g, r, in))
        return;
    for (weir_type t = 0; t < r->ntypes; t++)
        r->outside[t] = r->outside[t] || type_cell(schema_at(g, in->schema), t) != 0;
}

/* Adds v, the last node so far, to all rows over v. */
static void cover(const weir_graph *g, struct node_table *r, weir_vertex v)
{
    for (weir_vertex p; (p = vertex_at(g, v)->parent) != WEIR_NONE; v = p) {
        const struct inner *in = inner_of(g, p);
        struct levels lv;
        weir_levels_of(in->rows_cap, &lv);
        for (uint32_t l = 0; l <= lv.n; l++) {
            struct node_table_span *s = &r->rows[in->row + row_over(&lv, l, vertex_at(g, v)->pos)];
            s->lo = s->lo == s->hi ? r->count - 1 : s->lo;
            s->hi = r->count;
        }
    }
}

/* Numbers v, if a node, and the nodes below v, in preorder. The depth of the tree is bounded. */
static int number_nodes(const weir_graph *g, struct node_table *r, weir_vertex v, bool inside)
{
    const struct inner *in = inner_of(g, v);
    int rc = WEIR_OK;

    if (kind_of(g, v)->type == r->type) {
        if (weir_array_reserve(&r->nodes, &r->cap, (size_t)r->count + 1, sizeof *r->nodes) ||
            weir_map32_add(&r->numbers, v, r->count))
            return WEIR_ENOMEM;
        r->nodes[r->count++] = v;
        cover(g, r, v);
        inside = true;
    }
    if (!inside)
        note_outside(g, r, v);
    for (uint32_t i = 0; has_below(g, r, in) && !rc && i < in->nkids; i++)
        rc = in->kids[i] == WEIR_NONE ? WEIR_OK : number_nodes(g, r, in->kids[i], inside);
    return rc;
}

/* ---- properties ---- */

static int by_text(const void *a, const void *b, void *data)
{
    const struct node_table_property *x = a, *y = b;
    const weir_graph *g = data;

    return strcmp(weir_strtab_text(&g->names, x->key), weir_strtab_text(&g->names, y->key));
}

static int add_property(struct node_table *r, struct weir_map32 *known, weir_name key, uint32_t node)
{
    uint32_t at = weir_map32_get(known, key);

    if (at == WEIR_NONE) {
        weir_idset *nodes = weir_idset_new();
        if (!nodes || weir_map32_add(known, key, r->nproperties) ||
            weir_array_reserve(&r->properties, &r->properties_cap, (size_t)r->nproperties + 1, sizeof *r->properties)) {
            weir_idset_free(nodes);
            return WEIR_ENOMEM;
        }
        at = r->nproperties++;
        r->properties[at] = (struct node_table_property){key, nodes};
    }
    return weir_idset_add_id(r->properties[at].nodes, node);
}

static int read_properties(const weir_graph *g, struct node_table *r)
{
    struct weir_map32 known = {0};
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < r->count; i++) {
        const struct pool *p = pool_of(g, r->nodes[i]);
        const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;
        for (uint32_t k = 0; m && !rc && k < m->count; k++)
            rc = add_property(r, &known, m->entries[k].key, i);
    }
    weir_map32_free(&known);
    if (!rc && r->nproperties > 1)
        qsort_r(r->properties, r->nproperties, sizeof *r->properties, by_text, (void *)(uintptr_t)g);
    return rc;
}

/* The first property not before a text. */
static uint32_t property_from(const weir_graph *g, const struct node_table *r, const char *text)
{
    uint32_t at;

    WEIR_BISECT(at, 0, r->nproperties, strcmp(weir_strtab_text(&g->names, r->properties[at].key), text) < 0);
    return at;
}

int weir_node_table_add_property(const weir_graph *g, const struct node_table *r, const char *name, size_t len,
                                 weir_idset *out)
{
    int rc = WEIR_OK;

    for (uint32_t i = property_from(g, r, name); !rc && i < r->nproperties; i++) {
        const char *text = weir_strtab_text(&g->names, r->properties[i].key);
        if (strncmp(text, name, len) != 0 || text[len] > '@')
            break;
        if (text[len] == '\0' || text[len] == '@')
            rc = weir_idset_add(out, r->properties[i].nodes);
    }
    return rc;
}

/* ---- ranks ---- */

struct ranked {
    int64_t rank;
    uint32_t node;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int add_rank(struct node_table *r, struct ranked x)
{
    struct node_table_run *last = r->nruns ? &r->runs[r->nruns - 1] : NULL;

    if (last && x.rank == last->rank + last->count && x.node == last->node + last->count) {
        last->count++;
        return WEIR_OK;
    }
    if (weir_array_reserve(&r->runs, &r->runs_cap, (size_t)r->nruns + 1, sizeof *r->runs))
        return WEIR_ENOMEM;
    r->runs[r->nruns++] = (struct node_table_run){x.rank, x.node, 1};
    return WEIR_OK;
}

static int read_ranks(const weir_graph *g, struct node_table *r)
{
    struct ranked *list = weir_mem_alloc((size_t)r->count * sizeof *list + 1);
    uint32_t n = 0;
    int rc = list ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < r->count; i++) {
        int64_t rank = weir_vertex_rank(g, r->nodes[i]);
        if (rank != WEIR_NO_RANK)
            list[n++] = (struct ranked){rank, i};
    }
    if (n)
        qsort(list, n, sizeof *list, by_rank);
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = add_rank(r, list[i]);
    weir_mem_free(list);
    return rc;
}

/* The first run that does not end before a rank. */
static uint32_t run_from(const struct node_table *r, int64_t rank)
{
    uint32_t at;

    WEIR_BISECT(at, 0, r->nruns, r->runs[at].rank + r->runs[at].count <= rank);
    return at;
}

int weir_node_table_add_ranks(const struct node_table *r, const weir_idset *ranks, weir_idset *out)
{
    uint32_t lo, hi;
    int rc = WEIR_OK;

    for (size_t k = 0; !rc && weir_idset_run(ranks, k, &lo, &hi); k++)
        for (uint32_t i = run_from(r, lo); !rc && i < r->nruns && r->runs[i].rank <= hi; i++) {
            const struct node_table_run *x = &r->runs[i];
            uint32_t from = x->rank < lo ? (uint32_t)(lo - x->rank) : 0;
            uint32_t last = x->rank + x->count > hi ? (uint32_t)(hi - x->rank) : x->count - 1;
            rc = weir_idset_add_range(out, x->node + from, x->node + last);
        }
    return rc;
}

/* ---- names ---- */

static size_t name_of(const weir_graph *g, const struct node_table *r, uint32_t node, char name[NODE_TABLE_NAME])
{
    size_t len = weir_vertex_name(g, r->nodes[node], name, NODE_TABLE_NAME);
    return len < NODE_TABLE_NAME ? len : 0;
}

static uint32_t hash_of(const weir_graph *g, const char *name, size_t len)
{
    return (uint32_t)hash_text(g->names.seed, name, len);
}

static int read_names(const weir_graph *g, struct node_table *r)
{
    r->next = weir_mem_alloc((size_t)r->count * sizeof *r->next + 1);
    if (weir_map32_reserve(&r->names, r->count))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; r->next && i < r->count; i++) {
        char name[NODE_TABLE_NAME];
        size_t len = name_of(g, r, i, name);
        uint32_t hash = hash_of(g, name, len), first = len ? weir_map32_get(&r->names, hash) : WEIR_NONE;
        r->next[i] = first == WEIR_NONE ? WEIR_NONE : r->next[first];
        if (first != WEIR_NONE)
            r->next[first] = i;
        else if (len && weir_map32_add(&r->names, hash, i))
            return WEIR_ENOMEM;
    }
    return r->next ? WEIR_OK : WEIR_ENOMEM;
}

int weir_node_table_add_name(const weir_graph *g, const struct node_table *r, const char *name, size_t len,
                             weir_idset *out)
{
    char other[NODE_TABLE_NAME];
    int rc = WEIR_OK;

    if (len == 0 || len >= NODE_TABLE_NAME)
        return WEIR_OK;
    for (uint32_t i = weir_map32_get(&r->names, hash_of(g, name, len)); !rc && i != WEIR_NONE; i = r->next[i])
        if (name_of(g, r, i, other) == len && memcmp(name, other, len) == 0)
            rc = weir_idset_add_id(out, i);
    return rc;
}

/* Adds the nodes with a name in a list, by a pass over all nodes: for lists longer than the table. */
static int add_listed(const weir_graph *g, const struct node_table *r, const weir_hostlist *hosts, weir_idset *out)
{
    char name[NODE_TABLE_NAME];
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < r->count; i++) {
        size_t len = name_of(g, r, i, name);
        if (len && weir_hostlist_find(hosts, name, len) >= 0)
            rc = weir_idset_add_id(out, i);
    }
    return rc;
}

int weir_node_table_add_hosts(const weir_graph *g, const struct node_table *r, const weir_hostlist *hosts,
                              weir_idset *out)
{
    uint64_t n = weir_hostlist_count(hosts);
    char name[NODE_TABLE_NAME];
    int rc = WEIR_OK;

    if (n > r->count)
        return add_listed(g, r, hosts, out);
    for (uint64_t i = 0; !rc && i < n; i++) {
        size_t len = weir_hostlist_nth(hosts, i, name, sizeof name);
        rc = len < sizeof name ? weir_node_table_add_name(g, r, name, len, out) : WEIR_OK;
    }
    return rc;
}

/* ---- making and dropping ---- */

static int fill(const weir_graph *g, struct node_table *r)
{
    int rc = WEIR_OK;

    r->all = weir_idset_new();
    r->rows = weir_mem_zalloc((size_t)r->nrows + 1, sizeof *r->rows);
    r->outside = weir_mem_zalloc((size_t)r->ntypes + 1, sizeof *r->outside);
    if (!r->all || !r->rows || !r->outside)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = number_nodes(g, r, g->roots[i], false);
    if (!rc && r->count)
        rc = weir_idset_add_range(r->all, 0, r->count - 1);
    rc = rc ? rc : read_properties(g, r);
    rc = rc ? rc : read_ranks(g, r);
    return rc ? rc : read_names(g, r);
}

static int make(const weir_graph *g, weir_type node_type, struct node_table **out)
{
    struct node_table *r = weir_mem_zalloc(1, sizeof *r);

    if (!r)
        return WEIR_ENOMEM;
    r->type = node_type;
    r->nrows = g->aggregates->nrows;
    r->ntypes = g->ntypes;
    if (fill(g, r)) {
        table_free(r);
        return WEIR_ENOMEM;
    }
    *out = r;
    return WEIR_OK;
}

int weir_node_table_get(weir_graph *g, weir_type node_type, struct node_table **out)
{
    if (!g->node_table && make(g, node_type, &g->node_table))
        return WEIR_ENOMEM;
    weir_observe(g, &weir_node_table_observer);
    *out = g->node_table;
    return WEIR_OK;
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    (void)p, (void)pos, (void)count;
    drop(g);
}

static void unlinked(weir_graph *g, weir_vertex v)
{
    (void)v;
    drop(g);
}

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    const struct node_table *r = g->node_table;
    const struct inner *in = inner_of(g, v);
    struct node_table_span below = in && in->cells ? node_table_below(r, in, 0) : (struct node_table_span){0, 0};

    (void)key;
    /* nodes inherit ranks, and names may contain properties */
    if (map == WEIR_PROPERTIES && (kind_of(g, v)->type == r->type || below.lo < below.hi))
        drop(g);
}

static bool is_same_data(const void *a, const void *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

/* Whether two tables of a graph are equal. */
static bool is_same(const struct node_table *a, const struct node_table *b)
{
    bool same = a->count == b->count && a->nrows == b->nrows && a->ntypes == b->ntypes && a->nruns == b->nruns &&
                a->nproperties == b->nproperties;

    same = same && is_same_data(a->nodes, b->nodes, a->count * sizeof *a->nodes) &&
           is_same_data(a->rows, b->rows, a->nrows * sizeof *a->rows) &&
           is_same_data(a->outside, b->outside, a->ntypes) &&
           is_same_data(a->runs, b->runs, a->nruns * sizeof *a->runs) &&
           is_same_data(a->next, b->next, a->count * sizeof *a->next);
    for (uint32_t i = 0; same && i < a->nproperties; i++)
        same = a->properties[i].key == b->properties[i].key &&
               weir_idset_equal(a->properties[i].nodes, b->properties[i].nodes);
    for (uint32_t i = 0; same && i < a->names.wide; i++)
        same = a->names.slots[i].at == 0 ||
               weir_map32_get(&b->names, a->names.slots[i].key) == a->names.slots[i].at - 1;
    return same && a->names.count == b->names.count;
}

static int check(const weir_graph *g, weir_err *err)
{
    struct node_table *made;
    bool same;

    if (make(g, g->node_table->type, &made))
        return weir_fail_nomem(err);
    same = is_same(g->node_table, made);
    table_free(made);
    return same ? WEIR_OK : weir_fail(err, WEIR_EINVAL, "weir_check: the node table is not what the nodes say");
}

const struct weir_observer weir_node_table_observer = {
    .linked = linked,
    .unlinked = unlinked,
    .described = described,
    .described_many = drop,
    .rows_moved = unlinked,
    .reset = drop,
    .freed = drop,
    .bytes = bytes,
    .check = check,
};
