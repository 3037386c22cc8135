/* merge.c - merges a second graph into a graph. Invariant: every addition is recorded in order until the merge
 * is complete; undoing the additions in reverse order restores the graph, including the positions of children.
 */
#include "graph/observer.h"
#include "copy/extract.h"
#include "job/pool_size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"

enum { UNDO_RANK = 3 }; /* in addition to the values of enum weir_map */

/* An addition to a vertex of the graph before the merge: a property, tag, datum or rank. */
struct undo_step {
    weir_vertex v;
    int what;        /* enum weir_map, or UNDO_RANK */
    const char *key; /* owned by the second graph */
};

/* A pool that grew, and its kind before. */
struct grown {
    weir_vertex v;
    uint32_t kind;
};

struct merge {
    struct weir_extract extract; /* from the second graph; map: at first the vertices in both graphs, later all */
    weir_vertex moved;           /* the root of the second graph, if a URI gives it a different path; else WEIR_NONE */
    weir_vertex *tops;           /* vertices of the second graph added below old vertices */
    uint32_t ntops, tops_cap;
    struct undo_step *undo;
    uint32_t nundo, undo_cap;
    uint32_t *edges; /* numbers of the edges added */
    uint32_t nedges, edges_cap;
    uint32_t nsubsystems; /* before the merge */
    bool parts;           /* pools of both graphs are parts of one pool */
    struct grown *grown;  /* pools that got the units of a further part */
    uint32_t ngrown, grown_cap;
    weir_vertex under; /* a URI that no vertex has: the vertex that gets the root as a child, WEIR_NONE for a root */
    const char *as;    /* the last name of the URI then; else NULL */
    weir_err *err;
};

/* ---- matching; nothing is changed ---- */

/* A child of a vertex, or a root, for lookup by name. */
struct named {
    uint32_t hash; /* of the name */
    uint32_t pos;
    weir_vertex v;
    bool matched; /* already matched with a vertex of the second graph */
};

static uint32_t name_hash(const weir_graph *g, weir_vertex v)
{
    char name[256];

    weir_vertex_name(g, v, name, sizeof name);
    return (uint32_t)hash_text(0, name, strlen(name));
}

WEIR_COMPARE_BY2(by_hash, struct named, hash, pos)

/* The live vertices of a list sorted by hash of the name, *n of them. Returns NULL if out of memory. */
static struct named *list_named(const weir_graph *g, const weir_vertex *kids, uint32_t nkids, uint32_t *n)
{
    struct named *list = weir_mem_alloc(nkids * sizeof *list);

    *n = 0;
    for (uint32_t i = 0; list && i < nkids; i++)
        if (kids[i] != WEIR_NONE)
            list[(*n)++] = (struct named){name_hash(g, kids[i]), i, kids[i], false};
    if (list)
        qsort(list, *n, sizeof *list, by_hash);
    return list;
}

/* The first unmatched vertex with the name of o; WEIR_NONE if none. Siblings of equal names are matched in order. */
static weir_vertex match_named(const struct merge *m, weir_vertex o, struct named *list, uint32_t n)
{
    uint32_t hash = name_hash(m->extract.from, o), lo;

    WEIR_BISECT(lo, 0, n, list[lo].hash < hash);
    for (; lo < n && list[lo].hash == hash; lo++)
        if (!list[lo].matched && weir_strtab_agree(m->extract.from, o, m->extract.to, list[lo].v)) {
            list[lo].matched = true;
            return list[lo].v;
        }
    return WEIR_NONE;
}

/* Matches each vertex of `list` with a vertex of the list `there` by name, and records the match in the map. */
static int match_list(struct merge *m, const weir_vertex *list, uint32_t n, const weir_vertex *there, uint32_t nthere)
{
    uint32_t count;
    struct named *names = list_named(m->extract.to, there, nthere, &count);

    if (!names)
        return weir_fail_nomem(m->err);
    for (uint32_t i = 0; i < n; i++)
        if (list[i] != WEIR_NONE && m->extract.map[list[i]] == WEIR_NONE)
            m->extract.map[list[i]] = match_named(m, list[i], names, count);
    weir_mem_free(names);
    return WEIR_OK;
}

static int clash(const struct merge *m, weir_vertex v, const char *what)
{
    char path[200];

    weir_vertex_path(m->extract.to, v, path, sizeof path);
    return weir_fail(m->err, WEIR_EEXIST, "%s is there already, but %s", path, what);
}

/* Fails if a property differs. Properties belong to the identity of a pool; tags and data do not, so the graph's
 * values are kept. */
static int check_properties(const struct merge *m, weir_vertex o, weir_vertex v)
{
    const char *key, *value, *had;

    for (uint32_t i = 0; weir_vertex_entry(m->extract.from, o, WEIR_PROPERTIES, i, &key, &value); i++) {
        had = weir_vertex_get(m->extract.to, v, WEIR_PROPERTIES, key);
        if (had && strcmp(had, value) != 0) {
            weir_buf b = {0};
            int rc;
            weir_buf_printf(&b, "property '%.80s' is '%.80s', not '%.80s'", key, had, value);
            rc = b.failed ? weir_fail_nomem(m->err) : clash(m, v, b.data);
            weir_buf_free(&b);
            return rc;
        }
    }
    return WEIR_OK;
}

/* Whether o is a further part of the pool v. */
static bool is_part(const struct merge *m, weir_vertex o, weir_vertex v)
{
    const weir_graph *from = m->extract.from, *to = m->extract.to;
    const char *unit = weir_vertex_unit(from, o);

    return m->parts && !inner_of(from, o) && !inner_of(to, v) &&
           (kind_of(from, o)->size != 1 || kind_of(to, v)->size != 1 || unit[0]) &&
           strcmp(weir_vertex_type(from, o), weir_vertex_type(to, v)) == 0 &&
           strcmp(unit, weir_vertex_unit(to, v)) == 0 && kind_of(from, o)->exclusive == kind_of(to, v)->exclusive;
}

static int check_pair(const struct merge *m, weir_vertex o, weir_vertex v)
{
    int64_t rank = weir_vertex_rank(m->extract.from, o), had = weir_vertex_rank(m->extract.to, v);
    bool moved = o == m->moved;
    char buf[300];

    if (moved && strcmp(weir_vertex_type(m->extract.from, o), weir_vertex_type(m->extract.to, v)) != 0)
        return weir_fail(m->err, WEIR_EINVAL,
                         "the URI names a vertex of type %.80s; a root of type %.80s cannot be that one",
                         weir_vertex_type(m->extract.to, v), weir_vertex_type(m->extract.from, o));
    if (!is_part(m, o, v) && weir_bases_differ(m->extract.to, v, m->extract.from, o, !moved, buf, sizeof buf))
        return clash(m, v, buf);
    if (rank != WEIR_NO_RANK && had != WEIR_NO_RANK && rank != had)
        return clash(m, v, "its rank is another one");
    return pool_of(m->extract.from, o) ? check_properties(m, o, v) : WEIR_OK;
}

/* Checks whether the matched vertices o and v agree, and matches the vertices below. */
static int match_below(struct merge *m, weir_vertex o, weir_vertex v)
{
    const struct inner *in = inner_of(m->extract.from, o), *there = inner_of(m->extract.to, v);
    int rc = check_pair(m, o, v);

    if (rc || !in || !there)
        return rc;
    rc = match_list(m, in->kids, in->nkids, there->kids, there->nkids);
    for (uint32_t i = 0; !rc && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && m->extract.map[in->kids[i]] != WEIR_NONE)
            rc = match_below(m, in->kids[i], m->extract.map[in->kids[i]]);
    return rc;
}

/* Whether o and v have equal paths. */
static bool same_place(const struct merge *m, weir_vertex o, weir_vertex v)
{
    return vertex_at(m->extract.to, v)->parent == WEIR_NONE && weir_strtab_agree(m->extract.from, o, m->extract.to, v);
}

/* Finds the parent of a URI that no vertex has, of containment. `rc` and the error are those of a failed look-up. */
static int find_new_place(struct merge *m, const char *uri, int rc)
{
    const char *last = strrchr(uri, '/');
    size_t len = last ? (size_t)(last - uri) : 0;
    char *parent;
    weir_err err = {0};

    if (!last || !last[1] || (uri[0] != '/' && strncmp(uri, "containment:/", 13) != 0))
        return rc;
    if (len > 0 && uri[len - 1] != ':') {
        parent = weir_mem_strdup(uri);
        if (!parent)
            return weir_fail_nomem(m->err);
        parent[len] = '\0';
        len = weir_graph_lookup(m->extract.to, parent, &m->under, &err) ? SIZE_MAX : len;
        weir_mem_free(parent);
    }
    if (len == SIZE_MAX)
        return rc;
    m->as = last + 1;
    return WEIR_OK;
}

/* Matches the root of the second graph with the vertex named by a URI, or finds the place of a new URI. */
static int match_uri(struct merge *m, const char *uri)
{
    weir_vertex v, o = weir_graph_root(m->extract.from, NULL, 0);
    int rc = weir_graph_lookup(m->extract.to, uri, &v, m->err);

    if (rc == WEIR_ENOENT)
        rc = find_new_place(m, uri, rc);
    if (rc)
        return rc;
    if (o == WEIR_NONE || weir_graph_root(m->extract.from, NULL, 1) != WEIR_NONE)
        return weir_fail(m->err, WEIR_EINVAL, "a graph merged at a URI has one root, this one has %s",
                         o == WEIR_NONE ? "none" : "several");
    m->extract.map[o] = m->as ? WEIR_NONE : v;
    if (m->as || !same_place(m, o, v))
        m->moved = o;
    return WEIR_OK;
}

static int match_all(struct merge *m, const char *uri)
{
    const weir_graph *from = m->extract.from, *to = m->extract.to;
    int rc = uri ? match_uri(m, uri) : WEIR_OK;

    rc = rc || m->as ? rc : match_list(m, from->roots, from->nroots, to->roots, to->nroots);
    for (uint32_t i = 0; !rc && i < from->nroots; i++)
        if (from->roots[i] != WEIR_NONE && m->extract.map[from->roots[i]] != WEIR_NONE)
            rc = match_below(m, from->roots[i], m->extract.map[from->roots[i]]);
    return rc;
}

/* ---- adding ---- */

static int log_undo(struct merge *m, weir_vertex v, int what, const char *key)
{
    return WEIR_ARRAY_ADD(m->undo, m->nundo, m->undo_cap, (struct undo_step){v, what, key}) ? weir_fail_nomem(m->err)
                                                                                            : WEIR_OK;
}

/* Adds the units of o to those of v, where o is a further part of v. */
static int add_part(struct merge *m, weir_vertex o, weir_vertex v)
{
    weir_graph *g = m->extract.to;
    uint32_t kind;
    int rc;

    if (!is_part(m, o, v))
        return WEIR_OK;
    rc = weir_pool_check(g, v, "given further units", m->err);
    rc = rc ? rc : weir_pool_ready(g, v, kind_of(g, v)->size + kind_of(m->extract.from, o)->size, &kind, m->err);
    if (!rc && weir_array_reserve(&m->grown, &m->grown_cap, (size_t)m->ngrown + 1, sizeof *m->grown))
        rc = weir_fail_nomem(m->err);
    if (rc)
        return rc;
    m->grown[m->ngrown++] = (struct grown){v, vertex_at(g, v)->kind};
    weir_pool_resize(g, v, kind);
    return WEIR_OK;
}

/* Adds the data present in o and absent in the old vertex v. */
static int add_own(struct merge *m, weir_vertex o, weir_vertex v)
{
    weir_graph *g = m->extract.to;
    const char *key, *value;
    int64_t rank = own_rank(m->extract.from, o);
    int rc = WEIR_OK;

    if (!pool_of(m->extract.from, o))
        return WEIR_OK;
    for (int map = 0; map < 3; map++)
        for (uint32_t i = 0; !rc && weir_vertex_entry(m->extract.from, o, map, i, &key, &value); i++) {
            if (weir_vertex_get(g, v, map, key))
                continue;
            rc = weir_vertex_set(g, v, map, key, value, m->err);
            if (!rc && (rc = log_undo(m, v, map, key)))
                weir_vertex_unset(g, v, map, key);
        }
    if (rc || rank == WEIR_NO_RANK || weir_vertex_rank(g, v) == rank)
        return rc;
    rc = log_undo(m, v, UNDO_RANK, NULL);
    return rc ? rc : weir_vertex_set_rank(g, v, rank, m->err);
}

/* Adds a copy of o below `parent`. `top`: the parent is an old vertex, so undoing must remove the copy. */
static int add_vertex(struct merge *m, weir_vertex o, weir_vertex parent, bool top)
{
    if (top) {
        if (WEIR_ARRAY_ADD(m->tops, m->ntops, m->tops_cap, o))
            return weir_fail_nomem(m->err);
    }
    return weir_extract_vertex(&m->extract, o, parent, kind_of(m->extract.from, o)->size, m->err);
}

/* The detached vertex of the graph that corresponds to o: the vertex with the UUID of o, or else the only one with
 * type, name and rank of o. WEIR_NONE: none. O(vertices) with detached vertices */
static weir_vertex find_detached(const struct merge *m, weir_vertex o)
{
    const weir_graph *g = m->extract.to;
    int64_t rank = g->detached > 0 ? weir_vertex_rank(m->extract.from, o) : WEIR_NO_RANK;
    weir_vertex found = WEIR_NONE;
    uint8_t uuid[16];
    bool several = false;

    if (g->detached == 0)
        return WEIR_NONE;
    weir_uuid_get(m->extract.from, o, uuid);
    found = weir_uuid_find(g, uuid);
    if (found != WEIR_NONE && vertex_detached(g, found))
        return found;
    found = WEIR_NONE;
    for (weir_vertex v = 0; v < g->limit; v++)
        if (vertex_valid(g, v) && vertex_detached(g, v) && own_rank(g, v) == rank &&
            strcmp(weir_vertex_type(g, v), weir_vertex_type(m->extract.from, o)) == 0 &&
            weir_strtab_agree(m->extract.from, o, g, v)) {
            several = found != WEIR_NONE;
            found = v;
        }
    return several ? WEIR_NONE : found;
}

/* Attaches v, which corresponds to o, below `parent`. */
static int attach(struct merge *m, weir_vertex o, weir_vertex v, weir_vertex parent, bool top)
{
    int rc = check_pair(m, o, v);

    if (!rc && top && weir_array_reserve(&m->tops, &m->tops_cap, (size_t)m->ntops + 1, sizeof *m->tops))
        rc = weir_fail_nomem(m->err);
    rc = rc ? rc : weir_graph_attach(m->extract.to, v, parent, m->err);
    if (rc)
        return rc;
    m->extract.map[o] = v;
    if (top)
        m->tops[m->ntops++] = o;
    return pool_of(m->extract.from, o) ? add_own(m, o, v) : WEIR_OK;
}

/* Adds a copy of a detached vertex of the second graph, or finds the vertex in the graph. */
static int add_detached(struct merge *m, weir_vertex o)
{
    weir_vertex v = find_detached(m, o);
    int rc;

    if (v != WEIR_NONE) {
        m->extract.map[o] = v;
        rc = check_pair(m, o, v);
        return rc || !pool_of(m->extract.from, o) ? rc : add_own(m, o, v);
    }
    if (WEIR_ARRAY_ADD(m->tops, m->ntops, m->tops_cap, o))
        return weir_fail_nomem(m->err);
    return weir_extract_detached(&m->extract, o, m->err);
}

/* Adds o and all vertices below. `there`: the parent is an old vertex. */
static int add_below(struct merge *m, weir_vertex o, weir_vertex parent, bool there)
{
    const struct inner *in = inner_of(m->extract.from, o);
    weir_vertex v = m->extract.map[o];
    bool found = v != WEIR_NONE;
    int rc;

    if (found) {
        rc = add_own(m, o, v);
        rc = rc ? rc : add_part(m, o, v);
    } else if ((v = find_detached(m, o)) != WEIR_NONE) {
        rc = attach(m, o, v, parent, there);
    } else {
        rc = add_vertex(m, o, parent, there);
    }
    for (uint32_t i = 0; !rc && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = add_below(m, in->kids[i], m->extract.map[o], found);
    return rc;
}

static bool has_edge(const weir_graph *g, const weir_edge *e)
{
    uint32_t subsystem = weir_subsystem_find(g, e->subsystem);
    weir_name type = weir_strtab_find(&g->names, e->type, strlen(e->type));
    weir_name back = e->back ? weir_strtab_find(&g->names, e->back, strlen(e->back)) : WEIR_NO_NAME;

    if (subsystem == WEIR_NONE || type == WEIR_NO_NAME || (e->back && back == WEIR_NO_NAME))
        return false;
    for (uint32_t i = weir_edge_first(g, e->source, subsystem, true); i != WEIR_NONE; i = weir_edge_next(g, i, true))
        if (g->edges[i].target == e->target && g->edges[i].type == type && g->edges[i].back == back)
            return true;
    return false;
}

static int add_edge(struct merge *m, const weir_edge *e)
{
    weir_graph *g = m->extract.to;
    int rc;

    if (has_edge(g, e))
        return WEIR_OK;
    if (weir_array_reserve(&m->edges, &m->edges_cap, (size_t)m->nedges + 1, sizeof *m->edges))
        return weir_fail_nomem(m->err);
    rc = weir_edge_add(g, e->source, e->target, e->subsystem, e->type, e->back, m->err);
    if (!rc)
        m->edges[m->nedges++] = pool_of(g, e->source)->last_out;
    return rc;
}

static bool has_name(const weir_graph *g, weir_vertex v, const char *name)
{
    char own[256];

    return weir_vertex_name(g, v, own, sizeof own) < sizeof own && strcmp(own, name) == 0;
}

static int add_all(struct merge *m)
{
    const weir_graph *from = m->extract.from;
    weir_edge e;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < from->nroots; i++) {
        if (from->roots[i] == WEIR_NONE)
            continue;
        /* one definition may be merged at several places */
        m->extract.fresh = from->roots[i] == m->moved;
        rc = add_below(m, from->roots[i], m->as ? m->under : WEIR_NONE, true);
        if (!rc && m->as && !has_name(m->extract.to, m->extract.map[from->roots[i]], m->as))
            rc = weir_name_set(m->extract.to, m->extract.map[from->roots[i]], m->as, m->err);
    }
    m->extract.fresh = false;
    for (weir_vertex o = 0; !rc && from->detached > 0 && o < from->limit; o++)
        if (vertex_valid(from, o) && vertex_detached(from, o))
            rc = add_detached(m, o);
    for (uint32_t i = 0; !rc && i < from->nedges; i++)
        if (weir_edge_get(from, i, &e)) {
            e.source = m->extract.map[e.source];
            e.target = m->extract.map[e.target];
            rc = add_edge(m, &e);
        }
    return rc;
}

/* ---- undoing ---- */

/* Removes an added vertex and all vertices below, and the hole at the end of the list of children. */
static void take_back(weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    bool detached = vertex_detached(g, v);

    if (weir_graph_unlink(g, v, NULL) || detached)
        return;
    if (p == WEIR_NONE) {
        g->nroots--;
    } else {
        inner_of(g, p)->nkids--;
        inner_of(g, p)->holes--;
    }
}

static void undo(struct merge *m)
{
    weir_graph *g = m->extract.to;

    while (m->nedges > 0)
        weir_edge_drop(g, m->edges[--m->nedges]);
    while (m->ngrown > 0) {
        m->ngrown--;
        weir_pool_resize(g, m->grown[m->ngrown].v, m->grown[m->ngrown].kind);
    }
    while (m->ntops > 0)
        if (m->extract.map[m->tops[--m->ntops]] != WEIR_NONE)
            take_back(g, m->extract.map[m->tops[m->ntops]]);
    while (m->nundo > 0) {
        const struct undo_step *n = &m->undo[--m->nundo];
        if (n->what != UNDO_RANK)
            weir_vertex_unset(g, n->v, n->what, n->key);
        else if (pool_of(g, n->v))
            pool_of(g, n->v)->rank = WEIR_NO_RANK;
    }
    g->nsubsystems = m->nsubsystems;
    WEIR_TELL(g, described_many, g);
}

static int merge_graphs(weir_graph *g, const weir_graph *other, const char *uri, bool parts, weir_err *err)
{
    struct merge m = {.moved = WEIR_NONE, .under = WEIR_NONE, .parts = parts, .err = err};
    int rc = weir_graph_writable(g, err);
    bool empty = g->nroots == 0 && g->detached == 0;

    if (!rc && g == other)
        rc = weir_fail(err, WEIR_EINVAL, "a graph cannot be merged into itself");
    if (!rc && (g->building || other->building))
        rc = weir_fail(err, WEIR_EINVAL, "nothing can be merged between begin and end");
    rc = rc ? rc : weir_extract_begin(&m.extract, other, g, err);
    if (rc)
        return rc;
    m.nsubsystems = g->nsubsystems;
    rc = match_all(&m, uri);
    if (!rc && (rc = add_all(&m)))
        undo(&m);
    if (!rc && empty && weir_words_copy(g, other)) {
        undo(&m);
        rc = weir_fail_nomem(err);
    }
    weir_extract_end(&m.extract);
    WEIR_FREE(m.tops, m.undo, m.edges, m.grown);
    return rc;
}

int weir_graph_merge(weir_graph *g, const weir_graph *other, const char *uri, weir_err *err)
{
    return merge_graphs(g, other, uri, false, err);
}

int weir_graph_merge_parts(weir_graph *g, const weir_graph *other, const char *uri, weir_err *err)
{
    return merge_graphs(g, other, uri, true, err);
}
