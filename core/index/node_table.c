/* node_table.c - see node_table.h. Invariant: the table agrees with the tree, the properties and the ranks of the nodes
 * A change that the table cannot follow, for order or for memory, drops the table.
 */
#include "index/node_table.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/rows.h"
#include "base/bisect.h"
#include "base/compare.h"
#include "base/hash.h"
#include "graph/observer.h"

void weir_node_table_free(struct node_table *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nproperties; i++)
        weir_idset_free(r->properties[i].nodes);
    weir_mem_free(r->properties);
    weir_idset_free(r->all);
    weir_mem_free(r->nodes);
    weir_map32_free(&r->numbers);
    WEIR_FREE(r->rows, r->outside, r->runs);
    weir_map32_free(&r->names);
    WEIR_FREE(r->next, r);
}

#define NODE_TABLE_UNUSED 64 /* unused numbers that a table of any size may have */

static void drop(weir_graph *g)
{
    weir_node_table_free(node_table_in(g));
    g->records[RECORD_NODES] = NULL;
    weir_observe_end(g, &weir_node_table_observer);
}

static size_t bytes(const weir_graph *g)
{
    const struct node_table *r = node_table_in(g);
    size_t n = sizeof *r + (size_t)r->cap * sizeof *r->nodes + (size_t)r->rows_cap * sizeof *r->rows + r->ntypes;

    n += weir_map32_bytes(&r->numbers) + weir_map32_bytes(&r->names) + (size_t)r->next_cap * sizeof *r->next;
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

/* Whether a span has nodes. */
static bool is_used(const struct node_table *r, struct node_table_span s)
{
    int64_t first = s.lo == s.hi ? -1 : r->unused ? weir_idset_next(r->all, (int64_t)s.lo - 1) : s.lo;

    return first >= 0 && first < s.hi;
}

/* Adds numbers to the rows of a vertex over the child at `pos`. The span of a row without nodes starts again: between
 * unused numbers and new ones may be nodes in other places. */
static void cover_rows(struct node_table *r, const struct inner *in, uint32_t pos, struct node_table_span x)
{
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t l = 0; l <= lv.n; l++) {
        struct node_table_span *s = &r->rows[in->row + row_over(&lv, l, pos)];
        if (!is_used(r, *s))
            *s = x;
        s->lo = x.lo < s->lo ? x.lo : s->lo;
        s->hi = s->hi < x.hi ? x.hi : s->hi;
    }
}

/* Adds v, the last node so far, to all rows over v. */
static void cover(const weir_graph *g, struct node_table *r, weir_vertex v)
{
    for (weir_vertex p; (p = vertex_at(g, v)->parent) != WEIR_NONE; v = p)
        cover_rows(r, inner_of(g, p), vertex_at(g, v)->pos, (struct node_table_span){r->count - 1, r->count});
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
        if (weir_idset_add_id(r->all, r->count - 1))
            return WEIR_ENOMEM;
        inside = true;
    }
    if (!inside)
        note_outside(g, r, v);
    for (uint32_t i = 0; has_below(g, r, in) && !rc && i < in->nkids; i++)
        rc = in->kids[i] == WEIR_NONE ? WEIR_OK : number_nodes(g, r, in->kids[i], inside);
    return rc;
}

bool weir_node_table_all_in(const struct node_table *r, struct node_table_span s, const weir_idset *nodes)
{
    int64_t i = weir_idset_next(r->all, (int64_t)s.lo - 1);

    while (i >= 0 && i < s.hi) {
        int64_t last = weir_idset_test(nodes, (uint32_t)i) ? weir_idset_run_end(nodes, i) : -1;
        if (last < 0)
            return false;
        i = weir_idset_next(r->all, last);
    }
    return true;
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

/* Adds a node to the set of a property, or removes the node. */
static int set_property(const weir_graph *g, struct node_table *r, uint32_t node, weir_name key, bool has)
{
    uint32_t at = property_from(g, r, weir_strtab_text(&g->names, key));
    bool known = at < r->nproperties && r->properties[at].key == key;
    weir_idset *nodes;

    if (!has)
        return known ? weir_idset_remove_id(r->properties[at].nodes, node) : WEIR_OK;
    if (!known) {
        nodes = weir_idset_new();
        if (!nodes ||
            weir_array_reserve(&r->properties, &r->properties_cap, (size_t)r->nproperties + 1, sizeof *r->properties)) {
            weir_idset_free(nodes);
            return WEIR_ENOMEM;
        }
        memmove(r->properties + at + 1, r->properties + at, (r->nproperties - at) * sizeof *r->properties);
        r->properties[at] = (struct node_table_property){key, nodes};
        r->nproperties++;
    }
    return weir_idset_add_id(r->properties[at].nodes, node);
}

static int set_properties(const weir_graph *g, struct node_table *r, uint32_t node, bool has)
{
    const struct pool *p = pool_of(g, r->nodes[node]);
    const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;
    int rc = WEIR_OK;

    for (uint32_t k = 0; m && !rc && k < m->count; k++)
        rc = set_property(g, r, node, m->entries[k].key, has);
    return rc;
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

WEIR_COMPARE_BY2(by_rank, struct ranked, rank, node)

static int add_rank(struct node_table *r, struct ranked x)
{
    struct node_table_run *last = r->nruns ? &r->runs[r->nruns - 1] : NULL;

    if (last && x.rank == last->rank + last->count && x.node == last->node + last->count) {
        last->count++;
        return WEIR_OK;
    }
    return WEIR_ARRAY_ADD(r->runs, r->nruns, r->runs_cap, (struct node_table_run){x.rank, x.node, 1});
}

static int read_ranks(const weir_graph *g, struct node_table *r)
{
    struct ranked *list = weir_mem_alloc((size_t)r->count * sizeof *list + 1);
    uint32_t n = 0;
    int rc = list ? WEIR_OK : WEIR_ENOMEM;

    r->nruns = 0;
    for (uint32_t i = 0; !rc && i < r->count; i++) {
        int64_t rank = r->nodes[i] == WEIR_NONE ? WEIR_NO_RANK : weir_vertex_rank(g, r->nodes[i]);
        if (rank != WEIR_NO_RANK)
            list[n++] = (struct ranked){rank, i};
    }
    if (n)
        qsort(list, n, sizeof *list, by_rank);
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = add_rank(r, list[i]);
    weir_mem_free(list);
    r->ranked = rc == WEIR_OK;
    return rc;
}

/* The first run that does not end before a rank. */
static uint32_t run_from(const struct node_table *r, int64_t rank)
{
    uint32_t at;

    WEIR_BISECT(at, 0, r->nruns, r->runs[at].rank + r->runs[at].count <= rank);
    return at;
}

int weir_node_table_add_ranks(const weir_graph *g, struct node_table *r, const weir_idset *ranks, weir_idset *out)
{
    uint32_t lo, hi;
    int rc = r->ranked ? WEIR_OK : read_ranks(g, r);

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
    size_t len = r->nodes[node] == WEIR_NONE ? 0 : weir_vertex_name(g, r->nodes[node], name, NODE_TABLE_NAME);
    return len < NODE_TABLE_NAME ? len : 0;
}

static uint32_t hash_of(const weir_graph *g, const char *name, size_t len)
{
    return (uint32_t)hash_text(g->names.seed, name, len);
}

static bool is_template(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && p->name != WEIR_NO_NAME && strstr(weir_strtab_text(&g->names, p->name), "${");
}

/* Records the name of a node, behind the first node with an equal hash. */
static int add_name(const weir_graph *g, struct node_table *r, uint32_t node)
{
    char name[NODE_TABLE_NAME];
    size_t len = name_of(g, r, node, name);
    uint32_t hash = hash_of(g, name, len), first = len ? weir_map32_get(&r->names, hash) : WEIR_NONE;

    if (weir_array_reserve(&r->next, &r->next_cap, (size_t)node + 1, sizeof *r->next))
        return WEIR_ENOMEM;
    r->templates = r->templates || is_template(g, r->nodes[node]);
    r->next[node] = first == WEIR_NONE ? WEIR_NONE : r->next[first];
    if (first != WEIR_NONE)
        r->next[first] = node;
    return first == WEIR_NONE && len ? weir_map32_add(&r->names, hash, node) : WEIR_OK;
}

/* Removes the name of a node. */
static int remove_name(const weir_graph *g, struct node_table *r, uint32_t node)
{
    char name[NODE_TABLE_NAME];
    size_t len = name_of(g, r, node, name);
    uint32_t hash = hash_of(g, name, len), before = len ? weir_map32_get(&r->names, hash) : WEIR_NONE;

    if (before == WEIR_NONE)
        return WEIR_OK;
    if (before == node) {
        weir_map32_remove(&r->names, hash, node);
        return r->next[node] == WEIR_NONE ? WEIR_OK : weir_map32_add(&r->names, hash, r->next[node]);
    }
    while (r->next[before] != node)
        before = r->next[before];
    r->next[before] = r->next[node];
    return WEIR_OK;
}

static int read_names(const weir_graph *g, struct node_table *r)
{
    int rc = weir_map32_reserve(&r->names, r->count);

    rc = rc ? rc : weir_array_reserve(&r->next, &r->next_cap, r->count, sizeof *r->next);
    for (uint32_t i = 0; !rc && i < r->count; i++)
        rc = add_name(g, r, i);
    return rc;
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

/* ---- making ---- */

static int fill(const weir_graph *g, struct node_table *r)
{
    int rc = WEIR_OK;

    r->all = weir_idset_new();
    r->rows = weir_mem_zalloc((size_t)r->nrows + 1, sizeof *r->rows);
    r->rows_cap = r->nrows + 1;
    r->outside = weir_mem_zalloc((size_t)r->ntypes + 1, sizeof *r->outside);
    if (!r->all || !r->rows || !r->outside)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = number_nodes(g, r, g->roots[i], false);
    rc = rc ? rc : read_properties(g, r);
    return rc ? rc : read_names(g, r);
}

int weir_node_table_make(const weir_graph *g, weir_type node_type, struct node_table **out)
{
    struct node_table *r = weir_mem_zalloc(1, sizeof *r);

    if (!r)
        return WEIR_ENOMEM;
    r->type = node_type;
    r->nrows = aggregates_in(g)->nrows;
    r->ntypes = g->ntypes;
    if (fill(g, r)) {
        weir_node_table_free(r);
        return WEIR_ENOMEM;
    }
    *out = r;
    return WEIR_OK;
}

int weir_node_table_get(weir_graph *g, weir_type node_type, struct node_table **out)
{
    if (node_table_in(g) && node_table_in(g)->type != node_type)
        drop(g);
    if (!node_table_in(g)) {
        struct node_table *r;
        if (weir_node_table_make(g, node_type, &r))
            return WEIR_ENOMEM;
        g->records[RECORD_NODES] = r;
    }
    weir_observe(g, &weir_node_table_observer);
    *out = node_table_in(g);
    return WEIR_OK;
}

/* ---- new vertices ---- */

static uint32_t depth_of(const weir_graph *g, weir_vertex v)
{
    uint32_t depth = 0;

    while ((v = vertex_at(g, v)->parent) != WEIR_NONE)
        depth++;
    return depth;
}

/* Whether v, below which is nothing of the table, comes after w in preorder. */
static bool is_after(const weir_graph *g, weir_vertex v, weir_vertex w)
{
    uint32_t a = depth_of(g, v), b = depth_of(g, w);

    for (; a > b; a--)
        v = vertex_at(g, v)->parent;
    for (; b > a; b--)
        w = vertex_at(g, w)->parent;
    if (v == w)
        return true;
    while (vertex_at(g, v)->parent != vertex_at(g, w)->parent) {
        v = vertex_at(g, v)->parent;
        w = vertex_at(g, w)->parent;
    }
    return vertex_at(g, v)->pos > vertex_at(g, w)->pos;
}

/* The last node in preorder; WEIR_NONE: there are no nodes. */
static weir_vertex last_node(const struct node_table *r)
{
    int64_t last = weir_idset_last(r->all);

    return last < 0 ? WEIR_NONE : r->nodes[last];
}

static bool is_inside(const weir_graph *g, const struct node_table *r, weir_vertex v)
{
    return vertex_at_or_above(g, v, r->type) != WEIR_NONE;
}

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

/* Numbers the nodes at and below a new vertex. WEIR_ELIMIT: the nodes do not come last in preorder. */
static int join(const weir_graph *g, struct node_table *r, weir_vertex v, bool inside)
{
    uint32_t from = r->count;
    weir_vertex last = last_node(r);
    int rc = number_nodes(g, r, v, inside);

    if (rc || from == r->count)
        return rc;
    if (last != WEIR_NONE && !is_after(g, v, last))
        return WEIR_ELIMIT;
    r->ranked = false;
    for (uint32_t i = from; !rc && i < r->count; i++) {
        rc = set_properties(g, r, i, true);
        rc = rc ? rc : add_name(g, r, i);
    }
    return rc;
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    struct node_table *r = node_table_in(g);
    const weir_vertex *kids = p == WEIR_NONE ? g->roots : inner_of(g, p)->kids;
    bool inside = is_inside(g, r, p);
    int rc = widen_types(g, r);

    for (uint32_t i = pos; !rc && i < pos + count; i++)
        rc = kids[i] == WEIR_NONE ? WEIR_OK : join(g, r, kids[i], inside);
    if (rc)
        drop(g);
}

/* ---- removed vertices ---- */

/* The numbers of v, if a node, and of the nodes below v; an empty span without. */
static struct node_table_span numbers_of(const weir_graph *g, const struct node_table *r, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    struct node_table_span s = in && in->cells ? node_table_below(r, in, 0) : (struct node_table_span){0, 0};
    uint32_t own = kind_of(g, v)->type == r->type ? weir_node_table_number(r, v) : WEIR_NONE;

    if (own != WEIR_NONE)
        s = (struct node_table_span){own, is_used(r, s) ? s.hi : own + 1};
    return is_used(r, s) ? s : (struct node_table_span){0, 0};
}

static int leave(const weir_graph *g, struct node_table *r, uint32_t node)
{
    int rc = set_properties(g, r, node, false);

    rc = rc ? rc : remove_name(g, r, node);
    rc = rc ? rc : weir_idset_remove_id(r->all, node);
    weir_map32_remove(&r->numbers, r->nodes[node], node);
    r->nodes[node] = WEIR_NONE;
    r->unused++;
    r->ranked = false;
    return rc;
}

static void unlinked(weir_graph *g, weir_vertex v)
{
    struct node_table *r = node_table_in(g);
    struct node_table_span s = numbers_of(g, r, v);
    int rc = s.lo < s.hi && r->templates ? WEIR_ELIMIT : WEIR_OK;

    for (uint32_t i = s.lo; !rc && i < s.hi; i++)
        if (r->nodes[i] != WEIR_NONE)
            rc = leave(g, r, i);
    if (rc || r->unused > NODE_TABLE_UNUSED + r->count / 2)
        drop(g);
}

/* ---- rows ---- */

static void rows_given(weir_graph *g, uint32_t first, uint32_t count)
{
    struct node_table *r = node_table_in(g);

    if (weir_array_reserve(&r->rows, &r->rows_cap, (size_t)first + count, sizeof *r->rows)) {
        drop(g);
        return;
    }
    if (first > r->nrows)
        memset(r->rows + r->nrows, 0, (first - r->nrows) * sizeof *r->rows);
    memset(r->rows + first, 0, count * sizeof *r->rows);
    r->nrows = first + count > r->nrows ? first + count : r->nrows;
}

static void rows_moved(weir_graph *g, weir_vertex v)
{
    struct node_table *r = node_table_in(g);
    const struct inner *in = inner_of(g, v);

    for (uint32_t i = 0; i < in->nkids; i++) {
        struct node_table_span s = {0, 0};
        if (in->kids[i] != WEIR_NONE)
            s = numbers_of(g, r, in->kids[i]);
        if (s.lo < s.hi)
            cover_rows(r, in, i, s);
    }
}

/* ---- properties and ranks of vertices ---- */

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    struct node_table *r = node_table_in(g);
    struct node_table_span s = numbers_of(g, r, v);
    int rc = WEIR_OK;

    if (s.lo == s.hi)
        return;
    if (r->templates && map == WEIR_TAGS) {
        drop(g); /* names may contain tags */
        return;
    }
    if (map != WEIR_PROPERTIES)
        return;
    if (key == WEIR_NO_NAME)
        r->ranked = false; /* nodes inherit ranks */
    else if (kind_of(g, v)->type == r->type)
        rc = set_property(g, r, s.lo, key, weir_vertex_get(g, v, map, weir_strtab_text(&g->names, key)) != NULL);
    if (rc || r->templates)
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
