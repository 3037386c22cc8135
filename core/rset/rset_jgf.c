/* rset_jgf.c - the scheduling of a resource set as a JSON graph: the part of the graph that belongs to a part of the
 * set, and the graph with new ranks. rset_jgf_join.c joins two graphs.
 *
 * A vertex has the rank of the nearest node at or above the vertex: the rank of the node's host in the set, or, if no
 * node has the name of a host, the node's own "rank". Cutting a graph to a part of a set removes
 *   - vertices on ranks that the whole set has and the part lacks,
 *   - pools whose type and id the whole set has on the rank and the part lacks, with their subtrees,
 *   - vertices that lost all of their children, except hosts of the part.
 * Remaining vertices keep their order. A malformed graph is kept unchanged: the reader of machines reports the error.
 *
 * Main invariant: input documents share values with the results, and are never changed.
 */
#include "rset/rset.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "format/input.h"
#include "base/strtab.h"
#include "base/bisect.h"

#define NONE UINT32_MAX

struct vertex {
    const char *key;
    const json_t *meta;
    uint32_t parent;
    int64_t own, rank; /* rank: own or inherited; -1: none */
    uint32_t kids, lost;
    bool known, gone, host; /* host: topmost vertex of its rank */
};

struct graph {
    const json_t *nodes, *edges;
    struct vertex *list;
    uint32_t count;
    struct weir_map32 numbers; /* index of the vertex, by hash of the key */
};

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const char *path_of(const json_t *meta)
{
    return text_of(json_object_get(meta, "paths"), "containment");
}

static uint32_t hash_of(const char *key)
{
    return (uint32_t)hash_text(0, key, strlen(key));
}

static uint32_t find(const struct graph *g, const char *key)
{
    if (key)
        WEIR_MAP32_EACH(&g->numbers, hash_of(key), i)
            if (strcmp(g->list[i].key, key) == 0)
                return i;
    return NONE;
}

/* Reads the nodes. Returns 1, or 0 if the graph is malformed, or WEIR_ENOMEM. */
static int read_nodes(struct graph *g)
{
    size_t n = json_array_size(g->nodes);

    g->list = weir_mem_zalloc(n + 1, sizeof *g->list);
    if (!g->list || weir_map32_reserve(&g->numbers, n) < 0)
        return WEIR_ENOMEM;
    for (; g->count < n; g->count++) {
        const json_t *node = json_array_get(g->nodes, g->count);
        struct vertex *v = &g->list[g->count];
        *v = (struct vertex){.key = text_of(node, "id"), .meta = json_object_get(node, "metadata"), .parent = NONE};
        v->own = v->rank = -1;
        if (!v->key || !json_is_object(v->meta))
            return 0;
        if (find(g, v->key) != NONE)
            return 0;
        if (weir_map32_add(&g->numbers, hash_of(v->key), g->count) < 0)
            return WEIR_ENOMEM;
    }
    return 1;
}

/* Returns true if the containment path of `low` lies below the path of `high`. */
static bool path_below(const json_t *low, const json_t *high)
{
    const char *l = path_of(low), *h = path_of(high);
    size_t n = h ? strlen(h) : 0;

    return l && h && strncmp(l, h, n) == 0 && l[n] == '/';
}

/* Returns the relationship of an edge of containment, "" if the relationship has no name, or NULL for an edge of a
 * different subsystem. */
static const char *containment(const json_t *edge)
{
    const json_t *meta = json_object_get(edge, "metadata"), *names = json_object_get(meta, "name");
    const char *subsystem = text_of(meta, "subsystem"), *type = text_of(meta, "relationship");

    if (subsystem && strcmp(subsystem, "containment") != 0)
        return NULL;
    if (!subsystem && json_is_object(names))
        return text_of(names, "containment");
    return type ? type : "";
}

static void read_edges(struct graph *g)
{
    for (size_t i = 0; i < json_array_size(g->edges); i++) {
        const json_t *edge = json_array_get(g->edges, i);
        uint32_t a = find(g, text_of(edge, "source")), b = find(g, text_of(edge, "target"));
        const char *type = containment(edge);
        if (!type || a == NONE || b == NONE || a == b)
            continue;
        if (strcmp(type, "in") == 0 || (!*type && path_below(g->list[a].meta, g->list[b].meta))) {
            uint32_t other = a;
            a = b;
            b = other;
        }
        if (g->list[b].parent == NONE)
            g->list[b].parent = a;
    }
}

static void close_graph(struct graph *g)
{
    weir_mem_free(g->list);
    weir_map32_free(&g->numbers);
}

/* Reads the graph of a scheduling. Returns 1, or 0 if the graph is malformed, or WEIR_ENOMEM. The caller always calls
 * close_graph(). */
static int open_graph(const json_t *scheduling, struct graph *g)
{
    const json_t *graph = json_object_get(scheduling, "graph");
    int rc;

    memset(g, 0, sizeof *g);
    g->nodes = json_object_get(graph, "nodes");
    g->edges = json_object_get(graph, "edges");
    if (!json_is_array(g->nodes) || !json_is_array(g->edges) || json_array_size(g->nodes) >= NONE / 2)
        return 0;
    rc = read_nodes(g);
    if (rc == 1)
        read_edges(g);
    return rc;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

static bool is_node(const struct vertex *v)
{
    const char *type = text_of(v->meta, "type");
    return type && strcmp(type, "node") == 0;
}

/* Returns the name of a vertex, or else the last part of its path; NULL: the document has neither. */
static const char *name_of(const struct vertex *v)
{
    const char *name = text_of(v->meta, "name"), *path = path_of(v->meta);

    if (name && *name)
        return name;
    path = path ? strrchr(path, '/') : NULL;
    return path ? path + 1 : NULL;
}

/* Lists the ranks of a set in ascending order. The caller frees the list; NULL: out of memory. */
static uint32_t *list_ranks(const weir_idset *ranks)
{
    uint32_t *list = weir_mem_alloc((size_t)weir_idset_count(ranks) * sizeof *list + 1), lo, hi, n = 0;

    for (size_t k = 0; list && weir_idset_run(ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rank <= hi; rank++)
            list[n++] = (uint32_t)rank;
    return list;
}

static void forget_ranks(struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        g->list[i].own = -1;
}

/* Gives the nodes the ranks of their hosts, and returns the number of nodes with a rank. If two nodes have one host, no
 * node gets a rank. */
static uint32_t rank_hosts(struct graph *g, const weir_hostlist *hosts, const uint32_t *ranks, bool *taken)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        const char *name = is_node(&g->list[i]) ? name_of(&g->list[i]) : NULL;
        int64_t at = name ? weir_hostlist_find(hosts, name, strlen(name)) : -1;
        if (at < 0)
            continue;
        if (taken[at]) {
            forget_ranks(g);
            return 0;
        }
        taken[at] = true;
        g->list[i].own = ranks[at];
        n++;
    }
    return n;
}

static int rank_by_hosts(struct graph *g, const struct rset_hosts *h, uint32_t *found)
{
    weir_hostlist *hosts = NULL;
    uint32_t *ranks = list_ranks(h->ranks);
    bool *taken = weir_mem_zalloc((size_t)weir_idset_count(h->ranks) + 1, sizeof *taken);
    int rc = ranks && taken ? weir_hostlist_copy(h->list, &hosts) : WEIR_ENOMEM;

    if (rc == WEIR_OK)
        rc = weir_hostlist_index(hosts);
    if (rc == WEIR_OK)
        *found = rank_hosts(g, hosts, ranks, taken);
    weir_hostlist_free(hosts);
    weir_mem_free(ranks);
    weir_mem_free(taken);
    return rc;
}

static void rank_by_numbers(struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const json_t *rank = json_object_get(g->list[i].meta, "rank");
        if (json_is_integer(rank) && json_integer_value(rank) >= 0)
            g->list[i].own = json_integer_value(rank);
    }
}

/* Finds the rank of v, inherited from the nearest ancestor with a rank, and caches the rank along the path: O(n) for
 * all vertices together. */
static void inherit(struct graph *g, uint32_t v)
{
    uint32_t u = v, steps = 0;
    int64_t rank;

    while (g->list[u].own < 0 && !g->list[u].known && g->list[u].parent != NONE && steps++ < g->count)
        u = g->list[u].parent;
    rank = g->list[u].known ? g->list[u].rank : g->list[u].own;
    for (steps = 0; steps <= g->count && !g->list[v].known; steps++) {
        g->list[v].known = true;
        g->list[v].rank = rank;
        if (v == u || g->list[v].parent == NONE)
            break;
        v = g->list[v].parent;
    }
}

static int find_ranks(struct graph *g, const weir_rset *r)
{
    uint32_t found = 0;

    if (r->hosts && rank_by_hosts(g, r->hosts, &found) < 0)
        return WEIR_ENOMEM;
    if (found == 0)
        rank_by_numbers(g);
    for (uint32_t i = 0; i < g->count; i++)
        inherit(g, i);
    for (uint32_t i = 0; i < g->count; i++) {
        struct vertex *v = &g->list[i];
        v->host = v->rank >= 0 && (v->parent == NONE || g->list[v->parent].rank != v->rank);
        if (v->parent != NONE)
            g->list[v->parent].kids++;
    }
    return WEIR_OK;
}

/* ---- cutting ---------------------------------------------------------------------------------------------------- */

/* Finds classes by rank in O(log runs). */
struct lookup {
    const struct rset_classes *classes;
    struct rset_runs runs;
};

static const struct rset_class *look_up(const struct lookup *l, int64_t rank)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, l->runs.count, l->runs.list[lo].hi < rank);
    return lo < l->runs.count && l->runs.list[lo].lo <= rank ? &l->classes->list[l->runs.list[lo].class] : NULL;
}

/* Returns the id of a pool, or else the number at the end of its name; -1: none. */
static int64_t id_of(const struct vertex *v)
{
    const json_t *id = json_object_get(v->meta, "id");
    const char *name = name_of(v);
    size_t n = name ? strlen(name) : 0, i = n;

    if (json_is_integer(id))
        return json_integer_value(id);
    while (i > 0 && isdigit((unsigned char)name[i - 1]))
        i--;
    return i < n && n - i <= 18 ? strtoll(name + i, NULL, 10) : -1;
}

/* Returns true if the whole set has the vertex and the part has not. */
static bool is_outside(const struct vertex *v, const struct lookup *whole, const struct lookup *part)
{
    const struct rset_class *had = v->rank >= 0 ? look_up(whole, v->rank) : NULL;
    const struct rset_class *has = had ? look_up(part, v->rank) : NULL;
    const char *type = text_of(v->meta, "type");
    int64_t id = had && has && type ? id_of(v) : -1;

    if (!had)
        return false;
    if (!has)
        return true;
    return id >= 0 && id <= WEIR_IDSET_MAX && weir_idset_test(weir_rset_child(had, type), (uint32_t)id) &&
           !weir_idset_test(weir_rset_child(has, type), (uint32_t)id);
}

/* Removes a vertex, and each ancestor that has no child left, up to a host of the part. */
static void take_out(struct graph *g, uint32_t v, const struct lookup *part)
{
    while (!g->list[v].gone) {
        uint32_t up = g->list[v].parent;
        g->list[v].gone = true;
        if (up == NONE || ++g->list[up].lost < g->list[up].kids)
            return;
        if (g->list[up].host && look_up(part, g->list[up].rank))
            return;
        v = up;
    }
}

/* Removes the subtrees of removed vertices. */
static void take_below(struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t u = i, v = i, steps = 0;
        while (!g->list[u].gone && g->list[u].parent != NONE && steps++ < g->count)
            u = g->list[u].parent;
        for (; g->list[u].gone && !g->list[v].gone; v = g->list[v].parent)
            g->list[v].gone = true;
    }
}

static int mark(struct graph *g, const weir_rset *r)
{
    struct lookup whole = {.classes = &r->scheduling->whole}, part = {.classes = &r->classes};
    int rc = find_ranks(g, r);

    if (rc == WEIR_OK)
        rc = weir_rset_runs_of(whole.classes, &whole.runs);
    if (rc == WEIR_OK)
        rc = weir_rset_runs_of(part.classes, &part.runs);
    for (uint32_t i = 0; rc == WEIR_OK && i < g->count; i++)
        if (is_outside(&g->list[i], &whole, &part))
            take_out(g, i, &part);
    if (rc == WEIR_OK)
        take_below(g);
    weir_mem_free(whole.runs.list);
    weir_mem_free(part.runs.list);
    return rc;
}

/* Copies the list of nodes or edges without removed vertices and their edges. Returns NULL if out of memory. */
static json_t *keep(const struct graph *g, const json_t *all, bool edges)
{
    json_t *kept = json_array();

    for (size_t i = 0; kept && i < json_array_size(all); i++) {
        json_t *item = json_array_get(all, i);
        uint32_t a = edges ? find(g, text_of(item, "source")) : (uint32_t)i;
        uint32_t b = edges ? find(g, text_of(item, "target")) : (uint32_t)i;
        if ((a != NONE && g->list[a].gone) || (b != NONE && g->list[b].gone))
            continue;
        if (json_array_append(kept, item) < 0) {
            json_decref(kept);
            return NULL;
        }
    }
    return kept;
}

/* Copies the value of `scheduling` with new nodes and edges, whose ownership is taken. Returns NULL if out of
 * memory. */
static json_t *with_graph(const json_t *scheduling, json_t *nodes, json_t *edges)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)scheduling);
    json_t *graph = json_copy(json_object_get(scheduling, "graph"));
    int rc = !copy || !graph || !nodes || !edges ? -1 : 0;

    if (rc == 0)
        rc = json_object_set(graph, "nodes", nodes);
    if (rc == 0)
        rc = json_object_set(graph, "edges", edges);
    if (rc == 0)
        rc = json_object_set(copy, "graph", graph);
    json_decref(nodes);
    json_decref(edges);
    json_decref(graph);
    if (rc == 0)
        return copy;
    json_decref(copy);
    return NULL;
}

int weir_rset_jgf_cut(const weir_rset *r, json_t **out, weir_err *err)
{
    struct graph g;
    int rc = open_graph(r->scheduling->value, &g);

    if (rc == 1)
        rc = mark(&g, r) == WEIR_OK ? 1 : WEIR_ENOMEM;
    if (rc == 1)
        *out = with_graph(r->scheduling->value, keep(&g, g.nodes, false), keep(&g, g.edges, true));
    else if (rc == 0)
        *out = json_incref(r->scheduling->value);
    close_graph(&g);
    return *out ? WEIR_OK : weir_fail_nomem(err);
}

/* ---- other ranks ------------------------------------------------------------------------------------------------ */

/* Copies a node with a new rank. Returns NULL if out of memory. */
static json_t *with_rank(json_t *node, json_int_t rank)
{
    json_t *copy = json_copy(node), *meta = json_copy(json_object_get(node, "metadata"));

    if (copy && meta && json_object_set_new(meta, "rank", json_integer(rank)) == 0 &&
        json_object_set(copy, "metadata", meta) == 0) {
        json_decref(meta);
        return copy;
    }
    json_decref(meta);
    json_decref(copy);
    return NULL;
}

static json_t *renumbered(json_t *node, const weir_idset *ranks, const uint32_t *to)
{
    const json_t *rank = json_object_get(json_object_get(node, "metadata"), "rank");
    struct weir_rank_place place = {ranks, 0, 0};
    json_int_t old = json_is_integer(rank) ? json_integer_value(rank) : -1;

    if (old < 0 || old > WEIR_IDSET_MAX || !weir_idset_test(ranks, (uint32_t)old))
        return json_incref(node);
    return with_rank(node, to[weir_rank_place(&place, (uint32_t)old)]);
}

int weir_rset_jgf_renumber(const json_t *scheduling, const weir_idset *ranks, const uint32_t *to, json_t **out,
                           weir_err *err)
{
    const json_t *graph = json_object_get(scheduling, "graph"), *nodes = json_object_get(graph, "nodes");
    json_t *list = json_array(), *edges = json_object_get(graph, "edges");

    if (!json_is_array(nodes) || !json_is_array(edges)) {
        json_decref(list);
        *out = json_incref((json_t *)(uintptr_t)scheduling);
        return WEIR_OK;
    }
    for (size_t i = 0; list && i < json_array_size(nodes); i++)
        if (json_array_append_new(list, renumbered(json_array_get(nodes, i), ranks, to)) < 0) {
            json_decref(list);
            list = NULL;
        }
    *out = with_graph(scheduling, list, json_incref(edges));
    return *out ? WEIR_OK : weir_fail_nomem(err);
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

int weir_rset_jgf_build(const json_t *scheduling, const char *source, weir_graph **out, weir_err *err)
{
    const json_t *graph = json_object_get(scheduling, "graph");

    if (!graph)
        return WEIR_OK;
    return weir_jgf_build(graph, "scheduling.graph", source, out, err);
}
