/* extract.c - makes a graph from a part of a graph: the free part, or any subset. Invariant: the
 * original is only read; parents are added before children, children in the original order.
 */
#include "copy/extract.h"

#include <string.h>

#include "time/availability.h"

/* ---- one vertex ---- */

int weir_extract_begin(struct weir_extract *c, const weir_graph *from, weir_graph *to, weir_err *err)
{
    *c = (struct weir_extract){.from = from, .to = to};
    c->map = to ? weir_mem_alloc((size_t)from->limit * sizeof *c->map) : NULL;
    if (!c->map)
        return weir_fail_nomem(err);
    memset(c->map, 0xFF, (size_t)from->limit * sizeof *c->map);
    return WEIR_OK;
}

void weir_extract_end(struct weir_extract *c)
{
    weir_mem_free(c->map);
    c->map = NULL;
}

/* Sets *name to the stored name of v. A template naming the size is replaced by the formatted name if the size
 * changes. Free *made. */
static int extract_name(const struct weir_extract *c, weir_vertex v, int64_t size, const char **name, char **made)
{
    const struct pool *p = pool_of(c->from, v);
    size_t len;

    *name = NULL;
    *made = NULL;
    if (!p || p->name == WEIR_NO_NAME)
        return WEIR_OK;
    *name = weir_strtab_text(&c->from->names, p->name);
    if (size == kind_of(c->from, v)->size || !strstr(*name, "${size}"))
        return WEIR_OK;
    len = weir_vertex_name(c->from, v, NULL, 0);
    *made = weir_mem_alloc(len + 1);
    if (!*made)
        return WEIR_ENOMEM;
    weir_vertex_name(c->from, v, *made, len + 1);
    *name = *made;
    return WEIR_OK;
}

static int extract_base(const struct weir_extract *c, weir_vertex v, weir_vertex parent, int64_t size, weir_vertex *out,
                        weir_err *err)
{
    const weir_graph *g = c->from;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    char *made;
    int rc;

    d.type = weir_vertex_type(g, v);
    d.basename = weir_vertex_basename(g, v);
    d.unit = weir_vertex_unit(g, v);
    d.id = vertex_at(g, v)->id;
    d.size = size;
    d.rank = own_rank(g, v);
    d.exclusive = kind_of(g, v)->exclusive;
    if (extract_name(c, v, size, &d.name, &made))
        return weir_fail_nomem(err);
    rc = weir_graph_add(c->to, parent, &d, out, err);
    weir_mem_free(made);
    return rc;
}

static int extract_maps(const struct weir_extract *c, weir_vertex v, weir_vertex u, weir_err *err)
{
    const char *key, *value;
    int rc = WEIR_OK;

    if (!pool_of(c->from, v))
        return WEIR_OK;
    for (int m = 0; m < 3; m++)
        for (uint32_t i = 0; !rc && weir_vertex_entry(c->from, v, m, i, &key, &value); i++)
            rc = weir_vertex_set(c->to, u, m, key, value, err);
    return rc;
}

/* Gives the copy u the UUID of v. Where a pool of the graph has the UUID already, u keeps an own one if v was not given
 * the UUID, or with c->fresh. */
static int extract_uuid(const struct weir_extract *c, weir_vertex v, weir_vertex u, weir_err *err)
{
    uint8_t uuid[16];
    weir_vertex other;

    if (weir_uuid_index(c->to))
        return weir_fail_nomem(err);
    weir_uuid_get(c->from, v, uuid);
    other = weir_uuid_find(c->to, uuid);
    if (other == u || (other != WEIR_NONE && (c->fresh || !weir_uuid_given(c->from, v))))
        return WEIR_OK;
    return weir_uuid_put(c->to, u, uuid, err);
}

int weir_extract_vertex(struct weir_extract *c, weir_vertex v, weir_vertex parent, int64_t size, weir_err *err)
{
    int state = vertex_at(c->from, v)->state;
    weir_vertex u;
    int rc = extract_base(c, v, parent, size, &u, err);

    if (rc)
        return rc;
    c->map[v] = u;
    if (state != WEIR_UP)
        rc = weir_vertex_set_state(c->to, u, state, err);
    rc = rc ? rc : extract_maps(c, v, u, err);
    return rc ? rc : extract_uuid(c, v, u, err);
}

int weir_extract_edges(struct weir_extract *c, weir_err *err)
{
    weir_edge e;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < c->from->nedges; i++)
        if (weir_edge_get(c->from, i, &e) && c->map[e.source] != WEIR_NONE && c->map[e.target] != WEIR_NONE)
            rc = weir_edge_add(c->to, c->map[e.source], c->map[e.target], e.subsystem, e.type, e.back, err);
    return rc;
}

/* ---- the new graph ---- */

static int graph_begin(struct weir_extract *c, const weir_graph *g, weir_err *err)
{
    weir_graph *to = weir_graph_new();
    int rc = weir_extract_begin(c, g, to, err);

    if (!rc && weir_words_copy(to, g)) {
        weir_extract_end(c);
        rc = weir_fail_nomem(err);
    }
    if (rc)
        weir_graph_free(to);
    else
        weir_graph_begin(to);
    return rc;
}

/* Completes and returns the new graph, or frees the graph after a failure (in rc, or in a step here). */
static int graph_end(struct weir_extract *c, int rc, weir_graph **out, weir_err *err)
{
    rc = rc ? rc : weir_extract_edges(c, err);
    rc = rc ? rc : weir_graph_end(c->to, err);
    c->to->valid_from = c->from->valid_from;
    c->to->valid_until = c->from->valid_until;
    weir_extract_end(c);
    if (rc)
        weir_graph_free(c->to);
    else
        *out = c->to;
    return rc;
}

static int check_listed(const weir_graph *g, weir_vertex v, weir_err *err)
{
    return vertex_valid(g, v) ? WEIR_OK : weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
}

/* ---- copy ---- */

/* Copies v and all vertices below, with the units free now as size. Vertices without free units are left out with
 * all below. The ancestors of v must be available. */
static int copy_free(struct weir_extract *c, weir_vertex v, weir_vertex parent, weir_err *err)
{
    const weir_graph *g = c->from;
    const struct inner *in = inner_of(g, v);
    int64_t size = state_available(vertex_at(g, v)->state) ? weir_availability_free(g, v, g->now, g->now + 1) : 0;
    int rc;

    if (size <= 0)
        return WEIR_OK;
    rc = weir_extract_vertex(c, v, parent, size, err);
    for (uint32_t i = 0; !rc && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = copy_free(c, in->kids[i], c->map[v], err);
    return rc;
}

/* Fills `way` with the ancestors of v, root first. Returns the number of ancestors. */
static uint32_t way_to(const weir_graph *g, weir_vertex v, weir_vertex way[WEIR_PATH_DEPTH + 2])
{
    uint32_t depth = 0;

    for (weir_vertex u = vertex_at(g, v)->parent; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        depth++;
    v = vertex_at(g, v)->parent;
    for (uint32_t i = depth; i-- > 0; v = vertex_at(g, v)->parent)
        way[i] = v;
    return depth;
}

/* The units of v that a copy gets: those free now; none where v or a vertex above is unavailable. */
static int64_t units_to_copy(const weir_graph *g, weir_vertex v)
{
    if (!state_available(vertex_at(g, v)->state) || !weir_availability_above(g, v, g->now, g->now + 1))
        return 0;
    return weir_availability_free(g, v, g->now, g->now + 1);
}

static weir_vertex root_of(const weir_graph *g, weir_vertex v)
{
    while (vertex_at(g, v)->parent != WEIR_NONE)
        v = vertex_at(g, v)->parent;
    return v;
}

/* Copies a vertex of another subsystem, with the vertices above that are not copied yet. */
static int copy_source(struct weir_extract *c, weir_vertex v, int64_t size, weir_err *err)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2], parent = WEIR_NONE;
    int rc = WEIR_OK;

    for (uint32_t i = 0, n = way_to(c->from, v, way); !rc && i < n; i++) {
        if (c->map[way[i]] == WEIR_NONE)
            rc = weir_extract_vertex(c, way[i], parent, kind_of(c->from, way[i])->size, err);
        parent = c->map[way[i]];
    }
    return rc ? rc : weir_extract_vertex(c, v, parent, size, err);
}

/* Copies the source of an edge into what is copied, unless the source is in the tree `root`: a node is copied with
 * the switches that serve the node, not with its sibling nodes. Returns 1 (copied), 0 or negative. */
static int follow_edge(struct weir_extract *c, weir_vertex source, weir_vertex target, weir_vertex root, weir_err *err)
{
    int64_t size;
    int rc;

    if (c->map[target] == WEIR_NONE || c->map[source] != WEIR_NONE || vertex_detached(c->from, source) ||
        root_of(c->from, source) == root)
        return 0;
    size = units_to_copy(c->from, source);
    rc = size > 0 ? copy_source(c, source, size, err) : WEIR_OK;
    return rc ? rc : size > 0;
}

/* Copies the vertices of subsystems other than containment with a path of edges, of any length, to a copied vertex.
 * O(edges) for each edge of the longest path. */
static int copy_sources(struct weir_extract *c, weir_vertex root, weir_err *err)
{
    weir_edge e;
    int rc = 0;

    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; rc >= 0 && i < c->from->nedges; i++) {
            if (!weir_edge_get(c->from, i, &e))
                continue;
            rc = follow_edge(c, e.source, e.target, root, err);
            if (rc == 0 && e.back && e.type && strcmp(e.back, e.type) == 0)
                rc = follow_edge(c, e.target, e.source, root, err);
            more = more || rc > 0;
        }
        more = more && rc >= 0;
    }
    return rc < 0 ? rc : WEIR_OK;
}

int weir_graph_copy(const weir_graph *g, weir_vertex v, weir_graph **out, weir_err *err)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2], parent = WEIR_NONE;
    struct weir_extract c;
    bool open;
    int rc = check_listed(g, v, err);

    if (!rc && vertex_detached(g, v))
        rc = weir_fail(err, WEIR_ENOENT, "vertex %u is not in containment any more", v);
    rc = rc ? rc : graph_begin(&c, g, err);
    if (rc)
        return rc;
    open = weir_availability_above(g, v, g->now, g->now + 1);
    for (uint32_t i = 0, n = way_to(g, v, way); !rc && i < n; i++) {
        open = open && state_available(vertex_at(g, way[i])->state);
        rc = weir_extract_vertex(&c, way[i], parent, kind_of(g, way[i])->size, err);
        parent = c.map[way[i]];
    }
    if (!rc && open)
        rc = copy_free(&c, v, parent, err);
    if (!rc && g->nedges > 0)
        rc = copy_sources(&c, root_of(g, v), err);
    return graph_end(&c, rc, out, err);
}

/* ---- extract ---- */

enum { MARK_NONE, MARK_WAY, MARK_WHOLE };

static int mark_listed(const weir_graph *g, const weir_vertex *list, uint32_t n, uint8_t *marks, weir_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        int rc = check_listed(g, list[i], err);
        if (rc)
            return rc;
        marks[list[i]] = MARK_WHOLE;
        for (weir_vertex u = vertex_at(g, list[i])->parent; u != WEIR_NONE && !marks[u]; u = vertex_at(g, u)->parent)
            marks[u] = MARK_WAY;
    }
    return WEIR_OK;
}

/* Copies v, and the marked vertices below; all vertices below if v is marked as a whole, or `whole` is set. */
static int extract_marked(struct weir_extract *c, const uint8_t *marks, weir_vertex v, weir_vertex parent, bool whole,
                          weir_err *err)
{
    const struct inner *in = inner_of(c->from, v);
    int rc = weir_extract_vertex(c, v, parent, kind_of(c->from, v)->size, err);

    whole = whole || marks[v] == MARK_WHOLE;
    for (uint32_t i = 0; !rc && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && (whole || marks[in->kids[i]]))
            rc = extract_marked(c, marks, in->kids[i], c->map[v], whole, err);
    return rc;
}

int weir_extract_detached(struct weir_extract *c, weir_vertex v, weir_err *err)
{
    int rc = weir_extract_vertex(c, v, WEIR_NONE, kind_of(c->from, v)->size, err);

    if (rc)
        return rc;
    weir_vertex_detach(c->to, c->map[v]);
    c->to->nroots--;
    return WEIR_OK;
}

int weir_graph_extract(const weir_graph *g, const weir_vertex *list, uint32_t n, weir_graph **out, weir_err *err)
{
    uint8_t *marks = weir_mem_zalloc(g->limit, sizeof *marks);
    struct weir_extract c;
    int rc = marks ? mark_listed(g, list, n, marks, err) : weir_fail_nomem(err);

    rc = rc ? rc : graph_begin(&c, g, err);
    if (rc) {
        weir_mem_free(marks);
        return rc;
    }
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE && marks[g->roots[i]])
            rc = extract_marked(&c, marks, g->roots[i], WEIR_NONE, false, err);
    for (weir_vertex v = 0; !rc && g->detached > 0 && v < g->limit; v++)
        if (marks[v] && vertex_detached(g, v))
            rc = weir_extract_detached(&c, v, err);
    weir_mem_free(marks);
    return graph_end(&c, rc, out, err);
}
