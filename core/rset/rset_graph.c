/* rset_graph.c - makes the graph of a resource set: the graph of its scheduling, fitted to R_lite. Without such a
 * graph, or if the writer left vertices out (WEIR_JGF_SHORTHAND), the graph is cluster0, below it a node for each rank
 * with the name of the host, and below each node the cores, gpus and so on with their ids.
 *
 * Fitting. R_lite decides which resources exist: a part of an R may carry the scheduling of the whole R, and the ranks
 * of a child instance differ from the ranks in the graph.
 *   - Nodes with names of hosts get the ranks of the hosts, if each rank of the set has a node.
 *   - Vertices on further ranks are removed, if each rank of the set has a vertex, and no such vertex is below a
 *     vertex with a rank.
 *   - Cores and gpus (and resources of further types in R_lite) that R_lite does not name are removed, by rank and
 *     type, if the graph has all ids that R_lite names: otherwise graph and R_lite number the resources differently.
 *   - Nodes get the properties of the set.
 *
 * Main invariant: nodes[] has the vertex of each rank of the set, in ascending order, or is not used.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/input.h"
#include "graph/graph.h"
#include "format/jgf/jgf.h"
#include "rset/rset.h"
#include "rset/rack_table.h"

/* ---- R_lite alone ----------------------------------------------------------------------------------------------- */

struct flat {
    const weir_rset *r;
    const char *source;
    weir_err *err;
    weir_graph *g;
    struct rset_runs runs;
    weir_hostlist *hosts;      /* NULL: not known */
    weir_rack_table *topology; /* NULL: none */
    weir_vertex *nodes;        /* by index of the rank */
    uint32_t n;
    char *name; /* buffer for two names */
};

/* Fails if the graph would be too large, and allocates arrays, before any vertex is added. */
static int reserve(struct flat *f)
{
    uint64_t total = 1;

    if (weir_idset_count(f->r->ranks) == 0)
        return weir_fail_at(f->err, WEIR_EINVAL, f->source, 0, 0, "execution.R_lite: is empty, expected a rank");
    for (uint32_t i = 0; i < f->r->classes.count; i++) {
        const struct rset_class *c = &f->r->classes.list[i];
        uint64_t each = 1 + (uint64_t)weir_rack_table_extra(f->topology), n = weir_idset_count(c->ranks);
        for (uint32_t k = 0; k < c->count && each < WEIR_VERTICES_MAX; k++)
            each += weir_idset_count(c->children[k].ids);
        if (each >= WEIR_VERTICES_MAX || (total += n * each) > weir_vertices_allowed())
            return weir_fail_at(f->err, WEIR_ELIMIT, f->source, 0, 0, "execution.R_lite: " WEIR_VERTICES_MANY,
                                weir_vertices_allowed());
    }
    f->nodes = weir_mem_alloc(weir_idset_count(f->r->ranks) * sizeof *f->nodes);
    f->name = weir_mem_alloc(2 * (WEIR_NAME_MAX + 1));
    if (!f->nodes || !f->name || weir_graph_reserve(f->g, (uint32_t)total) < 0 ||
        weir_rset_runs_of(&f->r->classes, &f->runs) < 0)
        return weir_fail_nomem(f->err);
    return f->r->hosts ? weir_rset_hosts(f->r, &f->hosts, f->err) : WEIR_OK;
}

static int add_node(struct flat *f, weir_vertex cluster, uint32_t rank)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    const char *fault;

    d.type = "node";
    d.rank = d.id = rank;
    if (!f->hosts)
        return weir_graph_add(f->g, cluster, &d, &f->nodes[f->n], f->err);
    weir_hostlist_nth(f->hosts, f->n, f->name, WEIR_NAME_MAX + 1);
    fault = weir_text_fault(f->name, true);
    if (fault)
        return weir_fail_at(f->err, WEIR_EINVAL, f->source, 0, 0, "execution.nodelist: the name of host %" PRIu32 " %s",
                            f->n, fault);
    weir_host_describe(f->name, f->name + WEIR_NAME_MAX + 1, &d);
    return weir_graph_add(f->g, cluster, &d, &f->nodes[f->n], f->err);
}

static int add_nodes(struct flat *f)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex cluster;
    int rc;

    d.type = "cluster";
    d.id = 0;
    rc = weir_graph_add(f->g, WEIR_NONE, &d, &cluster, f->err);
    for (uint32_t i = 0; rc == WEIR_OK && i < f->runs.count; i++)
        for (uint64_t rank = f->runs.list[i].lo; rc == WEIR_OK && rank <= f->runs.list[i].hi; rank++, f->n++) {
            rc = add_node(f, cluster, (uint32_t)rank);
            if (rc == WEIR_OK)
                rc = weir_rack_table_add(f->topology, f->g, f->nodes[f->n], (uint32_t)rank,
                                         &f->r->classes.list[f->runs.list[i].class], f->err);
        }
    return rc;
}

/* ---- properties ------------------------------------------------------------------------------------------------- */

/* Properties by node, as one node after another keeps the index of a pool's map (graph/pool.c): the numbers of the
 * properties of node i are list[first[i]] up to list[first[i + 1]]. */
struct by_node {
    size_t *first;
    uint32_t *list;
};

/* The properties that vertices of a graph are given. */
struct gift {
    const weir_rset *r;
    weir_graph *g;
    uint64_t entries; /* properties of vertices so far */
    weir_err *err;
};

static int count_entries(struct gift *f, uint64_t n)
{
    f->entries += n;
    if (f->entries <= weir_vertices_allowed())
        return WEIR_OK;
    return weir_fail(f->err, WEIR_ELIMIT, "execution.properties: " WEIR_ENTRIES_MANY, weir_vertices_allowed());
}

/* Writes the number of each property to list[at[i]] for each of its nodes i, and moves at[i] on. Without a list, the
 * function only counts. */
static void each_pair(const weir_rset *r, size_t *at, uint32_t *list)
{
    uint32_t lo, hi;

    for (uint32_t i = 0; i < r->nprops; i++) {
        struct weir_rank_place place = {r->ranks, 0, 0};
        for (size_t k = 0; weir_idset_run(r->props[i].ranks, k, &lo, &hi); k++)
            for (uint64_t rank = lo; rank <= hi; rank++) {
                size_t *end = &at[weir_rank_place(&place, (uint32_t)rank)];
                if (list)
                    list[*end] = i;
                ++*end;
            }
    }
}

/* Sorts the pairs of node and property by node. O(pairs) */
static int sort_by_node(struct gift *f, size_t n, struct by_node *out)
{
    const weir_rset *r = f->r;
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < r->nprops; i++)
        rc = count_entries(f, weir_idset_count(r->props[i].ranks));
    if (rc)
        return rc;
    out->first = weir_mem_zalloc(n + 2, sizeof *out->first);
    if (!out->first)
        return weir_fail_nomem(f->err);
    each_pair(r, out->first + 2, NULL);
    for (size_t i = 2; i < n + 2; i++)
        out->first[i] += out->first[i - 1];
    out->list = weir_mem_alloc((out->first[n + 1] + 1) * sizeof *out->list);
    if (!out->list)
        return weir_fail_nomem(f->err);
    each_pair(r, out->first + 1, out->list);
    return WEIR_OK;
}

/* Whether a vertex above v and below the node is of the type of v. */
static bool inside_its_type(const weir_graph *g, weir_vertex node, weir_vertex v)
{
    for (weir_vertex up = weir_vertex_parent(g, v); up != node; up = weir_vertex_parent(g, up))
        if (strcmp(weir_vertex_type(g, up), weir_vertex_type(g, v)) == 0)
            return true;
    return false;
}

/* Gives v the property NAME for each "NAME@TYPE" of a list where TYPE is the type of v. */
static int give_stems(struct gift *f, weir_vertex v, const uint32_t *list, size_t n)
{
    const char *type = weir_vertex_type(f->g, v);
    int rc = WEIR_OK;

    for (size_t i = 0; rc == WEIR_OK && i < n; i++) {
        const char *name = f->r->props[list[i]].name, *at = strchr(name, '@');
        char *stem;
        if (strcmp(at + 1, type) != 0)
            continue;
        rc = count_entries(f, 1);
        if (rc)
            return rc;
        stem = weir_mem_strndup(name, (size_t)(at - name));
        rc = stem ? weir_vertex_set(f->g, v, WEIR_PROPERTIES, stem, "", f->err) : weir_fail_nomem(f->err);
        weir_mem_free(stem);
    }
    return rc;
}

static int give_below(struct gift *f, weir_vertex node, weir_vertex top, const uint32_t *list, size_t n)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < weir_vertex_children(f->g, top); i++) {
        weir_vertex v = weir_vertex_child(f->g, top, i);
        if (!inside_its_type(f->g, node, v))
            rc = give_stems(f, v, list, n);
        rc = rc ? rc : give_below(f, node, v, list, n);
    }
    return rc;
}

/* "NAME@TYPE" is a property of the node itself, and NAME a property of the topmost vertices of the type below the
 * node. Only such properties stay in the list. */
static int give_to_children(struct gift *f, weir_vertex node, uint32_t *list, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const char *at = strchr(f->r->props[list[i]].name, '@');
        if (at && at != f->r->props[list[i]].name)
            list[kept++] = list[i];
    }
    return kept > 0 ? give_below(f, node, node, list, kept) : WEIR_OK;
}

static int give_node(struct gift *f, weir_vertex node, const uint32_t *list, size_t n)
{
    int rc = WEIR_OK;

    for (size_t i = 0; rc == WEIR_OK && i < n; i++)
        if (!weir_vertex_get(f->g, node, WEIR_PROPERTIES, f->r->props[list[i]].name))
            rc = weir_vertex_set(f->g, node, WEIR_PROPERTIES, f->r->props[list[i]].name, "", f->err);
    return rc;
}

/* Gives the nodes of a graph the properties of the set; with `children`, properties "NAME@TYPE" go to children, too. */
static int give_properties(const weir_rset *r, weir_graph *g, const weir_vertex *nodes, bool children, weir_err *err)
{
    size_t n = (size_t)weir_idset_count(r->ranks);
    struct by_node by = {NULL, NULL};
    struct gift f = {r, g, 0, err};
    int rc = r->nprops > 0 ? sort_by_node(&f, n, &by) : WEIR_OK;

    for (size_t i = 0; r->nprops > 0 && rc == WEIR_OK && i < n; i++) {
        uint32_t *list = by.list + by.first[i];
        size_t count = by.first[i + 1] - by.first[i];
        rc = give_node(&f, nodes[i], list, count);
        if (rc == WEIR_OK && children)
            rc = give_to_children(&f, nodes[i], list, count);
    }
    WEIR_FREE(by.first, by.list);
    return rc;
}

static int read_topology(struct flat *f)
{
    json_t *scheduling = NULL;
    int rc = weir_rset_scheduling_json(f->r->scheduling, f->source, &scheduling, f->err);

    rc = rc ? rc : weir_rack_table_read(scheduling, f->source, &f->topology, f->err);
    json_decref(scheduling);
    return rc;
}

int weir_rset_build_flat(const weir_rset *r, const char *source, weir_graph **out, weir_err *err)
{
    struct flat f = {.r = r, .source = source, .err = err, .g = weir_graph_new()};
    int rc = WEIR_OK;

    if (!f.g)
        return weir_fail_nomem(err);
    weir_graph_begin(f.g);
    if (weir_rset_has_topology(r))
        rc = read_topology(&f);
    rc = rc ? rc : reserve(&f);
    rc = rc ? rc : add_nodes(&f);
    rc = rc ? rc : give_properties(r, f.g, f.nodes, true, err);
    rc = rc ? rc : weir_graph_end(f.g, err);
    WEIR_FREE(f.nodes, f.name, f.runs.list);
    weir_hostlist_free(f.hosts);
    weir_rack_table_free(f.topology);
    if (rc == WEIR_OK)
        *out = f.g;
    else
        weir_graph_free(f.g);
    return rc;
}

/* ---- fitting: which vertex is which rank ------------------------------------------------------------------------ */

struct fit {
    const weir_rset *r;
    weir_graph *g;
    weir_err *err;
    uint32_t n;         /* number of ranks in the set */
    weir_vertex *nodes; /* vertex of each rank; WEIR_NONE */
    weir_vertex *drop;  /* vertices to remove */
    uint32_t ndrop, drop_cap;
    weir_vertex *left; /* vertices whose edges are to be removed */
    uint32_t nleft, left_cap;
};

static bool all_found(const struct fit *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->nodes[i] == WEIR_NONE)
            return false;
    return true;
}

static void forget(weir_vertex *nodes, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        nodes[i] = WEIR_NONE;
}

static bool may_be_host(const weir_graph *g, weir_vertex v)
{
    return weir_vertex_live(g, v) && !vertex_detached(g, v) &&
           (vertex_at(g, v)->parent == WEIR_NONE || strcmp(weir_vertex_type(g, v), "node") == 0);
}

int weir_rset_find_hosts(const weir_graph *g, weir_hostlist *hosts, weir_vertex *nodes, weir_err *err)
{
    char *name = weir_mem_alloc(WEIR_NAME_MAX + 1);
    bool sure = true;
    int rc = name ? weir_hostlist_index(hosts) : WEIR_ENOMEM;

    forget(nodes, weir_hostlist_count(hosts));
    for (weir_vertex v = 0; rc == WEIR_OK && sure && v < weir_graph_limit(g); v++) {
        size_t len = may_be_host(g, v) ? weir_vertex_name(g, v, name, WEIR_NAME_MAX + 1) : 0;
        int64_t at = len > 0 && len <= WEIR_NAME_MAX ? weir_hostlist_find(hosts, name, len) : -1;
        sure = at < 0 || nodes[at] == WEIR_NONE;
        if (at >= 0)
            nodes[at] = v;
    }
    if (!sure)
        forget(nodes, weir_hostlist_count(hosts));
    weir_mem_free(name);
    return rc < 0 ? weir_fail_nomem(err) : sure;
}

/* Finds the nodes by the names of the hosts. Returns 1 if all are found and unique, 0 if not, or a negative error. */
static int find_hosts(struct fit *f)
{
    weir_hostlist *hosts = NULL;
    int rc = weir_rset_hosts(f->r, &hosts, f->err);

    rc = rc ? rc : weir_rset_find_hosts(f->g, hosts, f->nodes, f->err);
    weir_hostlist_free(hosts);
    return rc < 0 ? rc : rc && all_found(f);
}

/* Gives each node the rank of its host in the set. */
static int set_ranks(struct fit *f)
{
    uint32_t lo, hi, i = 0;
    int rc = WEIR_OK;

    for (size_t k = 0; weir_idset_run(f->r->ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rc == WEIR_OK && rank <= hi; rank++, i++) {
            const struct pool *p = pool_of(f->g, f->nodes[i]);
            if (!p || p->rank != (int64_t)rank)
                rc = weir_vertex_set_rank(f->g, f->nodes[i], (int64_t)rank, f->err);
        }
    return rc;
}

/* The pool record of v; NULL: v is not in containment, or has none. */
static const struct pool *placed_pool(const weir_graph *g, weir_vertex v)
{
    return weir_vertex_live(g, v) && !vertex_detached(g, v) ? pool_of(g, v) : NULL;
}

/* Finds the vertex of each rank by the ranks of the graph. Returns 1 if each rank of the set has one vertex, or 0. */
static int find_ranks(struct fit *f)
{
    for (weir_vertex v = 0; v < weir_graph_limit(f->g); v++) {
        const struct pool *p = placed_pool(f->g, v);
        struct weir_rank_place place = {f->r->ranks, 0, 0};
        uint64_t at;
        if (!p || p->rank < 0 || p->rank > WEIR_IDSET_MAX || !weir_idset_test(f->r->ranks, (uint32_t)p->rank))
            continue;
        at = weir_rank_place(&place, (uint32_t)p->rank);
        if (f->nodes[at] != WEIR_NONE)
            return 0;
        f->nodes[at] = v;
    }
    return all_found(f);
}

static int find_nodes(struct fit *f)
{
    int rc = f->r->hosts ? find_hosts(f) : 0;

    if (rc < 0)
        return rc;
    if (rc == 1) {
        rc = set_ranks(f);
        return rc < 0 ? rc : 1;
    }
    forget(f->nodes, f->n);
    return find_ranks(f);
}

/* ---- fitting: what is removed ----------------------------------------------------------------------------------- */

static int drop(struct fit *f, weir_vertex v)
{
    return WEIR_ARRAY_ADD(f->drop, f->ndrop, f->drop_cap, v) ? weir_fail_nomem(f->err) : WEIR_OK;
}

/* Drops vertices on ranks that the set lacks. */
static int drop_ranks(struct fit *f)
{
    for (weir_vertex v = 0; v < weir_graph_limit(f->g); v++) {
        const struct pool *p = placed_pool(f->g, v);
        if (!p || p->rank < 0 || (p->rank <= WEIR_IDSET_MAX && weir_idset_test(f->r->ranks, (uint32_t)p->rank)))
            continue;
        if (drop(f, v) < 0)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

/* Calls fn for every vertex of a type below v, without descending into vertices with a rank of their own. */
static int each_of_type(struct fit *f, weir_vertex v, weir_type type, const weir_idset *ids, weir_idset *found,
                        int (*fn)(struct fit *f, weir_vertex v, const weir_idset *ids, weir_idset *found))
{
    const struct inner *in = inner_of(f->g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && in && i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        const struct pool *p = kid == WEIR_NONE ? NULL : pool_of(f->g, kid);
        if (kid == WEIR_NONE || (p && p->rank != WEIR_NO_RANK))
            continue;
        if (kind_of(f->g, kid)->type == type)
            rc = fn(f, kid, ids, found);
        else
            rc = each_of_type(f, kid, type, ids, found, fn);
    }
    return rc;
}

static bool is_named(const weir_graph *g, weir_vertex v, const weir_idset *ids)
{
    int64_t id = vertex_at(g, v)->id;
    return id >= 0 && id <= WEIR_IDSET_MAX && weir_idset_test(ids, (uint32_t)id);
}

static int note_named(struct fit *f, weir_vertex v, const weir_idset *ids, weir_idset *found)
{
    if (is_named(f->g, v, ids) && weir_idset_add_id(found, (uint32_t)vertex_at(f->g, v)->id) < 0)
        return weir_fail_nomem(f->err);
    return WEIR_OK;
}

static int drop_unnamed(struct fit *f, weir_vertex v, const weir_idset *ids, weir_idset *found)
{
    (void)found;
    return is_named(f->g, v, ids) ? WEIR_OK : drop(f, v);
}

/* Drops the vertices of a type on a rank that R_lite does not name, if the graph has all ids that R_lite names. */
static int fit_type(struct fit *f, weir_vertex node, const char *name, const weir_idset *ids)
{
    weir_type type = weir_type_find(f->g, name);
    weir_idset *found;
    int rc;

    if (type == WEIR_NO_TYPE)
        return WEIR_OK;
    found = weir_idset_new();
    if (!found)
        return weir_fail_nomem(f->err);
    rc = each_of_type(f, node, type, ids, found, note_named);
    if (rc == WEIR_OK && weir_idset_count(found) == weir_idset_count(ids))
        rc = each_of_type(f, node, type, ids, NULL, drop_unnamed);
    weir_idset_free(found);
    return rc;
}

/* Fits a rank for cores, gpus and all further types of its class. */
static int fit_rank(struct fit *f, weir_vertex node, const struct rset_class *c)
{
    int rc = fit_type(f, node, "core", weir_rset_child(c, "core"));

    rc = rc ? rc : fit_type(f, node, "gpu", weir_rset_child(c, "gpu"));
    for (uint32_t i = 0; rc == WEIR_OK && i < c->count; i++)
        if (strcmp(c->children[i].type, "core") != 0 && strcmp(c->children[i].type, "gpu") != 0)
            rc = fit_type(f, node, c->children[i].type, c->children[i].ids);
    return rc;
}

static int fit_ranks(struct fit *f)
{
    struct rset_runs runs = {0};
    uint32_t n = 0;
    int rc = weir_rset_runs_of(&f->r->classes, &runs) == WEIR_OK ? WEIR_OK : weir_fail_nomem(f->err);

    for (uint32_t i = 0; rc == WEIR_OK && i < runs.count; i++)
        for (uint64_t rank = runs.list[i].lo; rc == WEIR_OK && rank <= runs.list[i].hi; rank++)
            rc = fit_rank(f, f->nodes[n++], &f->r->classes.list[runs.list[i].class]);
    weir_mem_free(runs.list);
    return rc;
}

static bool is_host(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && p->rank != WEIR_NO_RANK;
}

/* Returns true if a node of the set is below a vertex with a rank. */
static bool is_nested(const struct fit *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        for (weir_vertex v = weir_vertex_parent(f->g, f->nodes[i]); v != WEIR_NONE; v = weir_vertex_parent(f->g, v))
            if (is_host(f->g, v))
                return true;
    return false;
}

/* Whether v is in other subsystems only, and leads to no vertex. */
static bool leads_nowhere(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && p->edges_out == WEIR_NONE && weir_vertex_parent(g, v) == WEIR_NONE && weir_vertex_children(g, v) == 0;
}

static int push(struct fit *f, weir_vertex v)
{
    return WEIR_ARRAY_ADD(f->left, f->nleft, f->left_cap, v) ? weir_fail_nomem(f->err) : WEIR_OK;
}

/* Removes the edges that enter v, and lists the sources that thereby lead nowhere. */
static int drop_entering(struct fit *f, weir_vertex v)
{
    const struct pool *p;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (p = pool_of(f->g, v)) != NULL && p->edges_in != WEIR_NONE) {
        weir_vertex source = f->g->edges[p->edges_in].source;
        weir_edge_drop(f->g, p->edges_in);
        if (source != v && leads_nowhere(f->g, source))
            rc = push(f, source);
    }
    return rc;
}

/* Removes the edges of v in all subsystems but containment, and the sources that thereby lead nowhere: a switch without
 * nodes is no part of a set. */
static int drop_edges(struct fit *f, weir_vertex v)
{
    int rc = push(f, v);

    while (rc == WEIR_OK && f->nleft > 0) {
        v = f->left[--f->nleft];
        while (pool_of(f->g, v)->edges_out != WEIR_NONE)
            weir_edge_drop(f->g, pool_of(f->g, v)->edges_out);
        rc = drop_entering(f, v);
        if (rc == WEIR_OK && leads_nowhere(f->g, v))
            rc = weir_graph_unlink(f->g, v, f->err);
    }
    return rc;
}

/* Removes the edges of v and of all vertices below. */
static int drop_edges_below(struct fit *f, weir_vertex v)
{
    const struct inner *in = inner_of(f->g, v);
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = drop_edges_below(f, in->kids[i]);
    return rc == WEIR_OK && in_other_subsystem(f->g, v) ? drop_edges(f, v) : rc;
}

/* Removes v, and each ancestor that has no children left, up to a host. */
static int unlink_empty(struct fit *f, weir_vertex v)
{
    int rc = WEIR_OK;

    while (rc == WEIR_OK && v != WEIR_NONE && weir_vertex_live(f->g, v)) {
        weir_vertex up = weir_vertex_parent(f->g, v);
        rc = drop_edges_below(f, v);
        rc = rc ? rc : weir_graph_unlink(f->g, v, f->err);
        if (up == WEIR_NONE || weir_vertex_children(f->g, up) > 0 || is_host(f->g, up))
            break;
        v = up;
    }
    return rc;
}

int weir_rset_fit(const weir_rset *r, weir_graph *g, weir_err *err)
{
    struct fit f = {.r = r, .g = g, .err = err, .n = (uint32_t)weir_idset_count(r->ranks)};
    int rc;

    if (f.n == 0)
        return WEIR_OK;
    f.nodes = weir_mem_alloc(f.n * sizeof *f.nodes);
    if (!f.nodes)
        return weir_fail_nomem(err);
    rc = find_nodes(&f);
    if (rc == 1) {
        rc = is_nested(&f) ? WEIR_OK : drop_ranks(&f);
        rc = rc ? rc : fit_ranks(&f);
        rc = rc ? rc : give_properties(r, g, f.nodes, false, err);
    }
    for (uint32_t i = 0; rc == WEIR_OK && i < f.ndrop; i++)
        rc = unlink_empty(&f, f.drop[i]);
    WEIR_FREE(f.nodes, f.drop, f.left);
    return rc;
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

void weir_rset_give_validity(const weir_rset *r, weir_graph *g)
{
    int64_t from = weir_rset_start(r), until = weir_rset_end(r);

    g->valid_from = from > 0 ? from : 0;
    g->valid_until = until > g->valid_from ? until : g->valid_from + 1;
}

/* Makes the graph of the scheduling, before the graph is fitted to R_lite. Where units have shares, the part that
 * belongs to the set is read, as a vertex of the full graph may have more units. */
static int read_scheduling(const weir_rset *r, const char *source, weir_graph **out, weir_err *err)
{
    weir_buf part = {0};
    int rc = WEIR_OK;

    if (!strstr(r->scheduling->text, "\"shares\":{"))
        return weir_jgf_read_scheduling(r->scheduling->text, source, out, err);
    rc = weir_rset_write_scheduling(r, NULL, &part, err);
    if (rc == WEIR_OK && part.failed)
        rc = weir_fail_nomem(err);
    if (rc == WEIR_OK)
        rc = weir_jgf_read_scheduling(part.data ? part.data : r->scheduling->text, source, out, err);
    weir_buf_free(&part);
    return rc;
}

int weir_rset_build(const weir_rset *r, const char *source, weir_graph **out, weir_err *err)
{
    bool graph = weir_rset_has_graph(r) && strcmp(weir_rset_writer(r), WEIR_JGF_SHORTHAND) != 0;
    weir_graph *g = NULL;
    int rc;

    if (graph)
        rc = read_scheduling(r, source, &g, err);
    else
        rc = weir_rset_build_flat(r, source, &g, err);
    if (rc == WEIR_OK && graph)
        rc = weir_rset_fit(r, g, err);
    if (rc == WEIR_OK)
        weir_rset_give_validity(r, *out = g);
    else
        weir_graph_free(g);
    return rc;
}

int weir_rset_graph(const weir_rset *r, weir_graph **out, weir_err *err)
{
    return weir_rset_build(r, NULL, out, err);
}
