/* node_facts.c - properties, ranks and names of nodes by number. Invariant: complete for present nodes, empty for
 * removed nodes.
 */
#include "index/node_table_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

/* ---- properties ---- */

static int by_text(const weir_graph *g, weir_name a, const char *b)
{
    return strcmp(weir_strtab_text(&g->names, a), b);
}

/* The first property not before a text. */
static uint32_t property_from(const weir_graph *g, const struct node_table *r, const char *text)
{
    uint32_t at;

    WEIR_BISECT(at, 0, r->nproperties, by_text(g, r->properties[at].key, text) < 0);
    return at;
}

/* Inserts a property without nodes, at a position. */
static int insert_property(struct node_table *r, uint32_t at, weir_name key)
{
    weir_idset *nodes = weir_idset_new();

    if (!nodes ||
        weir_array_reserve(&r->properties, &r->properties_cap, (size_t)r->nproperties + 1, sizeof *r->properties)) {
        weir_idset_free(nodes);
        return WEIR_ENOMEM;
    }
    memmove(r->properties + at + 1, r->properties + at, (size_t)(r->nproperties - at) * sizeof *r->properties);
    r->properties[at] = (struct node_table_property){key, nodes};
    r->nproperties++;
    return WEIR_OK;
}

struct sorter {
    const weir_graph *g;
    struct node_table_property *list, *spare;
};

/* Merge sort: qsort has no argument for the graph of the texts. */
static void sort_properties(const struct sorter *s, uint32_t lo, uint32_t hi)
{
    uint32_t mid = lo + (hi - lo) / 2, a = lo, b = mid;

    if (hi - lo < 2)
        return;
    sort_properties(s, lo, mid);
    sort_properties(s, mid, hi);
    for (uint32_t i = lo; i < hi; i++) {
        bool left =
            b == hi || (a < mid && by_text(s->g, s->list[a].key, weir_strtab_text(&s->g->names, s->list[b].key)) < 0);
        s->spare[i] = s->list[left ? a++ : b++];
    }
    memcpy(s->list + lo, s->spare + lo, (size_t)(hi - lo) * sizeof *s->list);
}

static const struct map *properties_of(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p ? &p->maps[WEIR_PROPERTIES] : NULL;
}

/* Adds a node to the sets of its properties. `place` has, for each key, the position in the list plus 1. */
static int add_properties(const weir_graph *g, struct node_table *r, uint32_t node, uint32_t *place)
{
    const struct map *m = properties_of(g, r->nodes[node]);

    for (uint32_t i = 0; m && i < m->count; i++) {
        uint32_t *at = &place[m->entries[i].key];
        if (*at == 0 && insert_property(r, r->nproperties, m->entries[i].key))
            return WEIR_ENOMEM;
        *at = *at ? *at : r->nproperties;
        if (weir_idset_add_id(r->properties[*at - 1].nodes, node))
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

int weir_node_table_read_properties(const weir_graph *g, struct node_table *r)
{
    uint32_t *place = weir_mem_zalloc(g->names.count, sizeof *place);
    struct sorter s = {g, NULL, NULL};
    int rc = place ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < r->count; i++)
        rc = add_properties(g, r, i, place);
    weir_mem_free(place);
    if (rc || r->nproperties < 2)
        return rc;
    s.list = r->properties;
    s.spare = weir_mem_alloc((size_t)r->nproperties * sizeof *s.spare);
    if (!s.spare)
        return WEIR_ENOMEM;
    sort_properties(&s, 0, r->nproperties);
    weir_mem_free(s.spare);
    return WEIR_OK;
}

/* Adds a node to the set of a property, or removes the node. */
static int set_property(const weir_graph *g, struct node_table *r, uint32_t node, weir_name key, bool has)
{
    uint32_t at = property_from(g, r, weir_strtab_text(&g->names, key));
    bool known = at < r->nproperties && r->properties[at].key == key;

    if (!has)
        return known ? weir_idset_remove_id(r->properties[at].nodes, node) : WEIR_OK;
    if (!known && insert_property(r, at, key))
        return WEIR_ENOMEM;
    return weir_idset_add_id(r->properties[at].nodes, node);
}

static int set_properties(const weir_graph *g, struct node_table *r, uint32_t node, bool has)
{
    const struct map *m = properties_of(g, r->nodes[node]);
    int rc = WEIR_OK;

    for (uint32_t i = 0; m && !rc && i < m->count; i++)
        rc = set_property(g, r, node, m->entries[i].key, has);
    return rc;
}

int weir_node_table_move(const weir_graph *g, struct node_table *r, uint32_t node, weir_name key)
{
    const char *text = weir_strtab_text(&g->names, key);

    return set_property(g, r, node, key, weir_vertex_get(g, r->nodes[node], WEIR_PROPERTIES, text) != NULL);
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

int weir_node_table_read_ranks(const weir_graph *g, struct node_table *r)
{
    struct ranked *list = weir_mem_alloc((size_t)r->count * sizeof *list);
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
    r->ranks_known = rc == WEIR_OK;
    return rc;
}

static bool ends_before(const struct node_table_run *run, const struct ranked *x)
{
    struct ranked last = {run->rank + (run->count - 1), run->node + (run->count - 1)};

    return by_rank(&last, x) < 0;
}

/* The first run that does not end before a node with a rank. */
static uint32_t run_of(const struct node_table *r, struct ranked x)
{
    uint32_t at;

    WEIR_BISECT(at, 0, r->nruns, ends_before(&r->runs[at], &x));
    return at;
}

/* Replaces `gone` runs by n runs. */
static int replace_runs(struct node_table *r, uint32_t at, uint32_t gone, const struct node_table_run *with, uint32_t n)
{
    if (weir_array_reserve(&r->runs, &r->runs_cap, (size_t)r->nruns - gone + n, sizeof *r->runs))
        return WEIR_ENOMEM;
    memmove(r->runs + at + n, r->runs + at + gone, (size_t)(r->nruns - at - gone) * sizeof *r->runs);
    if (n)
        memcpy(r->runs + at, with, n * sizeof *with);
    r->nruns = r->nruns - gone + n;
    return WEIR_OK;
}

/* The first `count` elements of a run, and the rest. */
static struct node_table_run head_of(struct node_table_run x, uint32_t count)
{
    return (struct node_table_run){x.rank, x.node, count};
}

static struct node_table_run tail_of(struct node_table_run x, uint32_t count)
{
    return (struct node_table_run){x.rank + count, x.node + count, x.count - count};
}

static int insert_rank(struct node_table *r, struct ranked x)
{
    uint32_t at = run_of(r, x), n = 0, count;
    struct node_table_run with[3], *before = at ? &r->runs[at - 1] : NULL, *in = at < r->nruns ? &r->runs[at] : NULL;
    struct ranked first = in ? (struct ranked){in->rank, in->node} : x;

    if (!in || by_rank(&x, &first) <= 0) {
        if (before && before->rank + before->count == x.rank && before->node + before->count == x.node) {
            before->count++;
            return WEIR_OK;
        }
        with[0] = (struct node_table_run){x.rank, x.node, 1};
        return replace_runs(r, at, 0, with, 1);
    }
    /* elements of the run before x */
    count = (uint32_t)(x.rank - in->rank) + (x.node > in->node + (x.rank - in->rank));
    with[n++] = head_of(*in, count);
    with[n++] = (struct node_table_run){x.rank, x.node, 1};
    with[n++] = tail_of(*in, count);
    return replace_runs(r, at, 1, with, n);
}

/* Removes the i-th element of a run. */
static int remove_rank(struct node_table *r, uint32_t at, uint32_t i)
{
    struct node_table_run x = r->runs[at], with[2];
    uint32_t n = 0;

    if (i > 0)
        with[n++] = head_of(x, i);
    if (i + 1 < x.count)
        with[n++] = tail_of(x, i + 1);
    return replace_runs(r, at, 1, with, n);
}

static int add_own_rank(const weir_graph *g, struct node_table *r, uint32_t node)
{
    int64_t rank = weir_vertex_rank(g, r->nodes[node]);

    return rank == WEIR_NO_RANK ? WEIR_OK : insert_rank(r, (struct ranked){rank, node});
}

int weir_node_table_rerank(const weir_graph *g, struct node_table *r, uint32_t node)
{
    uint32_t at = 0;

    while (at < r->nruns && (node < r->runs[at].node || node - r->runs[at].node >= r->runs[at].count))
        at++;
    if (at < r->nruns && remove_rank(r, at, node - r->runs[at].node))
        return WEIR_ENOMEM;
    return add_own_rank(g, r, node);
}

static int leave_rank(const weir_graph *g, struct node_table *r, uint32_t node)
{
    struct ranked x = {weir_vertex_rank(g, r->nodes[node]), node};

    return x.rank == WEIR_NO_RANK ? WEIR_OK : remove_rank(r, run_of(r, x), node - r->runs[run_of(r, x)].node);
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

/* The first node of a name; WEIR_NONE if no node has the name. */
static uint32_t first_named(const weir_graph *g, const struct node_table *r, const char *name, size_t len)
{
    char other[NODE_TABLE_NAME];

    WEIR_MAP32_EACH(&r->named, hash_of(g, name, len), i)
        if (name_of(g, r, i, other) == len && memcmp(name, other, len) == 0)
            return i;
    return WEIR_NONE;
}

static bool is_template(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && p->name != WEIR_NO_NAME && strstr(weir_strtab_text(&g->names, p->name), "${");
}

/* Makes `node` the first of a name in place of `first` (WEIR_NONE: the name is new). */
static int set_first(const weir_graph *g, struct node_table *r, const char *name, size_t len, uint32_t first,
                     uint32_t node)
{
    uint32_t hash = hash_of(g, name, len);

    if (first != WEIR_NONE)
        weir_map32_remove(&r->named, hash, first);
    return node == WEIR_NONE ? WEIR_OK : weir_map32_add(&r->named, hash, node);
}

static int add_name(const weir_graph *g, struct node_table *r, uint32_t node)
{
    char name[NODE_TABLE_NAME];
    size_t len = name_of(g, r, node, name);
    uint32_t first = first_named(g, r, name, len);

    if (len == 0)
        return WEIR_OK;
    r->templates = r->templates || is_template(g, r->nodes[node]);
    r->next[node] = first + 1; /* WEIR_NONE + 1 == 0: the end */
    return set_first(g, r, name, len, first, node);
}

int weir_node_table_read_names(const weir_graph *g, struct node_table *r)
{
    int rc;

    weir_map32_free(&r->named);
    weir_mem_free(r->next);
    r->next = weir_mem_zalloc(r->cap, sizeof *r->next);
    r->templates = false;
    rc = r->next ? weir_map32_reserve(&r->named, r->count) : WEIR_ENOMEM;
    /* downward, so that nodes of equal names are chained in ascending order */
    for (uint32_t i = r->count; !rc && i-- > 0;)
        rc = add_name(g, r, i);
    r->names_known = !rc;
    return rc;
}

/* Removes a node as the first of a name. Further nodes stay in the chain after removal. */
static int leave_name(const weir_graph *g, struct node_table *r, uint32_t node)
{
    char name[NODE_TABLE_NAME];
    size_t len = name_of(g, r, node, name);
    uint32_t other = r->next[node];

    if (len == 0 || first_named(g, r, name, len) != node)
        return WEIR_OK;
    while (other && r->nodes[other - 1] == WEIR_NONE)
        other = r->next[other - 1];
    return set_first(g, r, name, len, node, other - 1);
}

/* ---- new and removed nodes ---- */

int weir_node_table_learn(const weir_graph *g, struct node_table *r, uint32_t node)
{
    int rc = set_properties(g, r, node, true);

    if (!rc && r->ranks_known)
        rc = add_own_rank(g, r, node);
    if (!rc && r->names_known)
        rc = add_name(g, r, node);
    return rc;
}

int weir_node_table_forget(const weir_graph *g, struct node_table *r, uint32_t node)
{
    int rc = set_properties(g, r, node, false);

    if (!rc && r->ranks_known)
        rc = leave_rank(g, r, node);
    if (!rc && r->names_known)
        rc = leave_name(g, r, node);
    return rc;
}

/* ---- queries ---- */

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

int weir_node_table_add_name(const weir_graph *g, const struct node_table *r, const char *name, size_t len,
                             weir_idset *out)
{
    int rc = WEIR_OK;

    if (len == 0 || len >= NODE_TABLE_NAME)
        return WEIR_OK;
    for (uint32_t i = first_named(g, r, name, len); !rc && i != WEIR_NONE; i = r->next[i] - 1)
        if (r->nodes[i] != WEIR_NONE)
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
