/* rset_jgf.c - the scheduling of a resource set as a JSON graph: the part of the graph that belongs to a part of the
 * set, and the graph with new ranks. rset_jgf_join.c joins two graphs.
 *
 * The reader of machines (format/jgf/) reads the text, and tells where each vertex and edge lies in the text. The
 * result is made of pieces of the text: what stays keeps its bytes and its order.
 *
 * A vertex has the rank of the nearest node at or above the vertex: the rank of the node's host in the set, or, if no
 * node has the name of a host, the node's own "rank". Cutting a graph to a part of a set removes
 *   - vertices on ranks that the whole set has and the part lacks,
 *   - pools whose type and id the whole set has on the rank and the part lacks, with their subtrees,
 *   - vertices that lost all of their children, except hosts of the part.
 * A graph that the reader refuses is kept unchanged: whoever makes the machine of the set gets the error.
 *
 * Main invariant: one comma stands between two nodes or edges, as texts of schedulings are compact.
 */
#include "rset/rset.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "format/jgf/jgf.h"

enum { NODES, EDGES };

/* A text as the reader of machines understands the text. */
struct reading {
    struct jgf_array marks[2]; /* nodes, edges */
    struct jgf r;
    weir_err why;
};

/* Reads a text. Returns 1, or 0 if the graph is malformed, or WEIR_ENOMEM. The caller always calls close_reading(). */
static int open_reading(struct reading *o, const char *text)
{
    const struct weir_input in = {.text = text, .len = strlen(text)};
    int rc;

    *o = (struct reading){0};
    o->r = (struct jgf){.err = &o->why, .is_scheduling = true, .marks = o->marks};
    rc = weir_jgf_document(&o->r, &in);
    if (rc == WEIR_OK)
        return o->r.has_graph;
    return rc == WEIR_ENOMEM ? rc : 0;
}

static void close_reading(struct reading *o)
{
    weir_jgf_free(&o->r);
    weir_mem_free(o->marks[NODES].elements);
    weir_mem_free(o->marks[EDGES].elements);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

/* Sets the ranks of nodes to the ranks of their hosts. Returns 1, or 0 if no node has the name of a host. */
static int rank_by_hosts(const weir_graph *g, const struct rset_hosts *h, int64_t *ranks)
{
    weir_vertex *nodes = weir_mem_alloc((size_t)(weir_idset_count(h->ranks) + 1) * sizeof *nodes);
    weir_hostlist *hosts = NULL;
    uint32_t lo, hi, i = 0;
    int rc = nodes ? weir_hostlist_copy(h->list, &hosts) : WEIR_ENOMEM, any = 0;

    if (rc == WEIR_OK)
        rc = weir_rset_find_hosts(g, hosts, nodes, NULL);
    for (size_t k = 0; rc == 1 && weir_idset_run(h->ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rank <= hi; rank++, i++)
            if (nodes[i] != WEIR_NONE) {
                ranks[nodes[i]] = (int64_t)rank;
                any = 1;
            }
    weir_hostlist_free(hosts);
    weir_mem_free(nodes);
    return rc < 0 ? rc : any;
}

/* Fills in the rank of each vertex, or WEIR_NO_RANK. Vertices are in preorder. */
static int find_ranks(const weir_rset *r, const weir_graph *g, int64_t *ranks)
{
    int rc;

    for (weir_vertex v = 0; v < g->limit; v++)
        ranks[v] = WEIR_NO_RANK;
    rc = r->hosts ? rank_by_hosts(g, r->hosts, ranks) : 0;
    for (weir_vertex v = 0; rc >= 0 && v < g->limit; v++) {
        weir_vertex up = vertex_at(g, v)->parent;
        if (rc == 0)
            ranks[v] = own_rank(g, v);
        if (ranks[v] == WEIR_NO_RANK && up != WEIR_NONE)
            ranks[v] = ranks[up];
    }
    return rc;
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

struct cutting {
    const weir_graph *g;
    struct lookup whole, part;
    int64_t *ranks; /* by vertex */
    uint32_t *left; /* by vertex: children that stay */
    bool *gone;     /* by vertex */
};

/* Returns true if the whole set has the vertex and the part has not. */
static bool is_outside(const struct cutting *c, weir_vertex v)
{
    int64_t rank = c->ranks[v], id = vertex_at(c->g, v)->id;
    const struct rset_class *had = rank >= 0 ? look_up(&c->whole, rank) : NULL;
    const struct rset_class *has = had ? look_up(&c->part, rank) : NULL;
    const char *type = weir_vertex_type(c->g, v);

    if (!had || !has)
        return had;
    return id >= 0 && id <= WEIR_IDSET_MAX && weir_idset_test(weir_rset_child(had, type), (uint32_t)id) &&
           !weir_idset_test(weir_rset_child(has, type), (uint32_t)id);
}

/* Returns true if v is the topmost vertex of a rank of the part. */
static bool is_host(const struct cutting *c, weir_vertex v)
{
    weir_vertex up = vertex_at(c->g, v)->parent;

    return c->ranks[v] >= 0 && (up == WEIR_NONE || c->ranks[up] != c->ranks[v]) && look_up(&c->part, c->ranks[v]);
}

/* Decides which vertices go: first the vertices outside with their subtrees, then, upwards, what lost its children. */
static void choose(struct cutting *c)
{
    for (weir_vertex v = 0; v < c->g->limit; v++) {
        weir_vertex up = vertex_at(c->g, v)->parent;
        c->gone[v] = (up != WEIR_NONE && c->gone[up]) || is_outside(c, v);
    }
    for (weir_vertex v = c->g->limit; v-- > 0;) {
        weir_vertex up = vertex_at(c->g, v)->parent;
        if (weir_vertex_children(c->g, v) > 0 && c->left[v] == 0 && !is_host(c, v))
            c->gone[v] = true;
        if (up != WEIR_NONE && !c->gone[v])
            c->left[up]++;
    }
}

/* Decides which vertices of a graph belong to r. Sets gone[] by position in "nodes"; `positions` is by vertex. */
static int mark(const weir_rset *r, const weir_graph *g, const uint32_t *positions, bool *gone)
{
    struct cutting c = {g, {&r->scheduling->whole, {0}}, {&r->classes, {0}}, NULL, NULL, NULL};
    int rc = weir_rset_runs_of(c.whole.classes, &c.whole.runs);

    c.ranks = weir_mem_alloc(g->limit * sizeof *c.ranks);
    c.left = weir_mem_zalloc(g->limit, sizeof *c.left);
    c.gone = weir_mem_zalloc(g->limit, sizeof *c.gone);
    if (rc == WEIR_OK)
        rc = weir_rset_runs_of(c.part.classes, &c.part.runs);
    if (rc == WEIR_OK)
        rc = c.ranks && c.left && c.gone ? find_ranks(r, g, c.ranks) : WEIR_ENOMEM;
    if (rc >= 0)
        choose(&c);
    for (weir_vertex v = 0; rc >= 0 && v < g->limit; v++)
        gone[positions[v]] = c.gone[v];
    weir_mem_free(c.ranks);
    weir_mem_free(c.left);
    weir_mem_free(c.gone);
    weir_mem_free(c.whole.runs.list);
    weir_mem_free(c.part.runs.list);
    return rc < 0 ? rc : 1;
}

/* Makes the graph that was read, and decides which of "nodes" go. Afterwards edges name positions in "nodes". */
static int make_and_mark(struct reading *o, const weir_rset *r, bool *gone)
{
    uint32_t *positions = weir_mem_alloc(o->r.count * sizeof *positions);
    weir_graph *g = NULL;
    int rc = positions ? 1 : WEIR_ENOMEM;

    for (uint32_t i = 0; i < o->marks[EDGES].count; i++)
        for (int k = 0; k < 2; k++)
            o->marks[EDGES].elements[i].ends[k] = o->r.items[o->marks[EDGES].elements[i].ends[k]].at;
    o->r.positions = positions;
    if (rc == 1)
        rc = weir_jgf_make(&o->r, &g);
    if (rc == WEIR_OK)
        rc = mark(r, g, positions, gone);
    else
        rc = rc == WEIR_ENOMEM ? rc : 0;
    weir_graph_free(g);
    weir_mem_free(positions);
    return rc;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct writing {
    const weir_rset *r;
    const char *text;
    const uint32_t *to; /* new ranks; NULL: ranks stay */
    bool *gone;         /* by position in "nodes" */
    weir_buf *out;
};

/* Writes an element; the rank of a vertex becomes the rank in `to`. */
static void write_element(const struct writing *w, const struct jgf_element *e)
{
    struct weir_rank_place place = {w->r->ranks, 0, 0};
    const char *at = w->text + e->from;
    char *end = NULL;
    long long old = w->to && e->rank > 0 ? strtoll(w->text + e->rank, &end, 10) : -1;

    if (old >= 0 && old <= WEIR_IDSET_MAX && weir_idset_test(w->r->ranks, (uint32_t)old)) {
        weir_buf_add(w->out, at, e->rank - e->from);
        weir_buf_printf(w->out, "%lu", (unsigned long)w->to[weir_rank_place(&place, (uint32_t)old)]);
        at = end;
    }
    weir_buf_add(w->out, at, (size_t)(w->text + e->to - at));
}

/* Writes the text from `at` up to the last element of an array, without the elements that go. Returns the end. */
static size_t write_array(const struct writing *w, const struct jgf_array *a, bool edges, size_t at)
{
    bool first = true;

    if (a->count == 0)
        return at;
    weir_buf_add(w->out, w->text + at, a->elements[0].from - at);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct jgf_element *e = &a->elements[i];
        if (edges ? w->gone[e->ends[0]] || w->gone[e->ends[1]] : w->gone[i])
            continue;
        weir_buf_puts(w->out, first ? "" : ",");
        write_element(w, e);
        first = false;
    }
    return a->elements[a->count - 1].to;
}

/* Writes the text, without the elements that go if the graph could be read. */
static void write_text(const struct writing *w, const struct jgf_array marks[2], bool read)
{
    size_t at = 0;

    if (read) {
        bool edges = marks[EDGES].count > 0 && marks[EDGES].elements[0].from < marks[NODES].elements[0].from;
        at = write_array(w, &marks[edges], edges, at);
        at = write_array(w, &marks[!edges], !edges, at);
    }
    weir_buf_puts(w->out, w->text + at);
}

int weir_rset_jgf_part(const weir_rset *r, const uint32_t *to, weir_buf *out, weir_err *err)
{
    struct writing w = {r, weir_rset_scheduling_text(r->scheduling), to, NULL, out};
    struct reading o;
    int rc;

    if (!w.text)
        return weir_fail_nomem(err);
    rc = open_reading(&o, w.text);
    if (rc == 1) {
        w.gone = weir_mem_zalloc(o.r.count, sizeof *w.gone);
        rc = w.gone ? make_and_mark(&o, r, w.gone) : WEIR_ENOMEM;
    }
    if (rc >= 0)
        write_text(&w, o.marks, rc == 1);
    close_reading(&o);
    weir_mem_free(w.gone);
    return rc < 0 || out->failed ? weir_fail_nomem(err) : WEIR_OK;
}
