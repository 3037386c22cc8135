/* rset_jgf.c - the scheduling of a resource set as a JSON graph: the part of the graph for a part of the set, and the
 * graph with new ranks. rset_jgf_join.c joins two graphs.
 *
 * The reader of machines (format/jgf/) reads the text once, when the first part is needed, and records where each
 * vertex and edge is in the text. The result is made of pieces of the text: vertices and edges that stay keep bytes and
 * order.
 *
 * A vertex has the rank of the nearest node at or above the vertex: the rank of the node's host in the set, or, if no
 * node has the name of a host, the node's own "rank". Cutting a graph to a part of a set removes
 *   - vertices on ranks that the whole set has and the part lacks,
 *   - pools, with their subtrees, whose type and id the whole set has on the rank and the part lacks,
 *   - vertices without any children left, except hosts of the part,
 *   - units of vertices that are for a flow to a removed vertex (rset_jgf_shares.c), and vertices without units left.
 * A graph that the reader refuses is kept unchanged: the error is for the caller of weir_rset_graph().
 *
 * Main invariant: one comma separates two nodes or edges, as texts of schedulings are compact.
 */
#include "rset/rset.h"

#include <stdlib.h>
#include <string.h>

#include "format/jgf/jgf.h"

enum { NODES, EDGES };

struct rset_reading {
    struct jgf_array marks[2]; /* nodes; edges, whose ends are positions in "nodes" */
    weir_graph *graph;         /* NULL: the reader of machines refuses the graph */
    uint32_t *positions;       /* by vertex: position in "nodes" */
};

static void reading_free(struct rset_reading *o)
{
    if (!o)
        return;
    weir_graph_free(o->graph);
    WEIR_FREE(o->positions, o->marks[NODES].elements, o->marks[EDGES].elements, o);
}

const struct weir_strtab *weir_rset_reading_names(const struct rset_reading *o)
{
    return &o->graph->names;
}

/* Reads a text. A graph that the reader refuses is no failure. */
static int read_text(struct rset_reading *o, const char *text)
{
    const struct weir_input in = {.text = text, .len = strlen(text)};
    struct jgf_array *edges = &o->marks[EDGES];
    weir_err why = {0};
    struct jgf r = {.err = &why, .is_scheduling = true, .marks = o->marks};
    int rc = weir_jgf_document(&r, &in);

    for (uint32_t i = 0; rc == WEIR_OK && i < edges->count; i++)
        for (int k = 0; k < 2; k++)
            edges->elements[i].ends[k] = r.items[edges->elements[i].ends[k]].at;
    if (rc == WEIR_OK && r.has_graph) {
        o->positions = weir_mem_alloc(r.count * sizeof *o->positions);
        r.positions = o->positions;
        rc = o->positions ? weir_jgf_make(&r, &o->graph) : WEIR_ENOMEM;
    }
    weir_jgf_free(&r);
    return rc == WEIR_ENOMEM ? rc : WEIR_OK;
}

/* Makes the reading of a text, if there is none. Returns 1, or 0 if the reader refuses the graph, or WEIR_ENOMEM. */
static int open_reading(struct rset_scheduling *s)
{
    struct rset_reading *o = s->reading ? s->reading : weir_mem_zalloc(1, sizeof *o);

    if (!o || (!s->reading && read_text(o, s->text) < 0)) {
        reading_free(o);
        return WEIR_ENOMEM;
    }
    s->reading = o;
    s->drop_reading = reading_free;
    return o->graph != NULL;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

/* Sets the ranks of nodes to the ranks of their hosts. Returns 1, or 0 if no node has the name of a host. */
static int rank_by_hosts(const weir_graph *g, const struct rset_hosts *h, int64_t *ranks)
{
    weir_vertex *nodes = weir_mem_alloc((size_t)(weir_idset_count(h->ranks) + 1) * sizeof *nodes);
    weir_hostlist *hosts = NULL;
    uint32_t lo, hi, i = 0;
    int rc = nodes ? weir_hostlist_copy(h->list, &hosts) : WEIR_ENOMEM, any = 0;

    rc = rc ? rc : weir_rset_find_hosts(g, hosts, nodes, NULL);
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
    const struct rset_run *run = weir_rset_run_at(&l->runs, rank);
    return run ? &l->classes->list[run->class] : NULL;
}

struct cutting {
    const weir_graph *g;
    struct lookup whole, subset;
    int64_t *ranks; /* by vertex */
    uint32_t *left; /* by vertex: children that stay */
    bool *gone;     /* by vertex */
};

/* Returns true if the whole set has the vertex and the part has not. */
static bool is_outside(const struct cutting *c, weir_vertex v)
{
    int64_t rank = c->ranks[v], id = vertex_at(c->g, v)->id;
    const struct rset_class *had = rank >= 0 ? look_up(&c->whole, rank) : NULL;
    const struct rset_class *has = had ? look_up(&c->subset, rank) : NULL;
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

    return c->ranks[v] >= 0 && (up == WEIR_NONE || c->ranks[up] != c->ranks[v]) && look_up(&c->subset, c->ranks[v]);
}

/* Decides which vertices go: the vertices outside with their subtrees, then, upwards, vertices without children. */
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

/* Decides which vertices belong to r. Sets gone[] by position in "nodes". */
static int mark(const weir_rset *r, const struct rset_reading *o, bool *gone)
{
    uint32_t n = o->graph->limit;
    struct cutting c = {o->graph, {&r->scheduling->whole, {0}}, {&r->classes, {0}}, NULL, NULL, NULL};
    int rc = weir_rset_runs_of(c.whole.classes, &c.whole.runs);

    c.ranks = weir_mem_alloc(n * sizeof *c.ranks);
    c.left = weir_mem_zalloc(n, sizeof *c.left);
    c.gone = weir_mem_zalloc(n, sizeof *c.gone);
    rc = rc ? rc : weir_rset_runs_of(c.subset.classes, &c.subset.runs);
    if (rc == WEIR_OK)
        rc = c.ranks && c.left && c.gone ? find_ranks(r, o->graph, c.ranks) : WEIR_ENOMEM;
    if (rc >= 0)
        choose(&c);
    for (weir_vertex v = 0; rc >= 0 && v < n; v++)
        gone[o->positions[v]] = c.gone[v];
    WEIR_FREE(c.ranks, c.left, c.gone, c.whole.runs.list, c.subset.runs.list);
    return rc < 0 ? rc : WEIR_OK;
}

/* Sets *out to the shares of a vertex that stay, or to NULL if all of them stay. */
static int shares_left(const struct rset_item *item, const struct weir_strtab *names, const bool *gone, json_t **out)
{
    json_t *shares = NULL, *value;
    void *next;
    const char *key;
    bool all = true;
    int rc = weir_rset_shares(item, &shares);

    json_object_foreach_safe(shares, next, key, value)
    {
        const char *id = strchr(key, ':');
        weir_name name = id ? weir_strtab_find(names, id + 1, strlen(id + 1)) : WEIR_NO_NAME;
        if (name == WEIR_NO_NAME || !gone[name])
            continue;
        json_object_del(shares, key);
        all = false;
    }
    if (all) {
        json_decref(shares);
        shares = NULL;
    }
    *out = shares;
    return rc;
}

/* Gives vertices the shares of the part: units whose flow leads to a vertex that is gone are gone, too, and a vertex
 * without units is removed. */
static int cut_shares(const weir_rset *r, bool *gone, struct rset_items *out)
{
    const struct weir_strtab *names = weir_rset_reading_names(r->scheduling->reading);
    const struct jgf_array *a = &r->scheduling->reading->marks[NODES];
    bool *by_name = weir_mem_zalloc((size_t)names->count + 1, sizeof *by_name);
    uint32_t kept = 0;
    int rc = by_name ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; by_name && i < a->count; i++)
        by_name[a->elements[i].names[0]] = gone[i];
    for (uint32_t i = 0; rc == WEIR_OK && i < out->count; i++) {
        struct rset_item item = out->list[i];
        json_t *left = NULL;
        if (item.element->shares)
            rc = shares_left(&item, names, by_name, &left);
        if (left && json_object_size(left) == 0)
            gone[item.at] = true;
        else if (left)
            rc = weir_rset_shares_give(out, &item, left);
        if (!gone[item.at])
            out->list[kept++] = item;
        json_decref(left);
    }
    out->count = rc == WEIR_OK ? kept : out->count;
    weir_mem_free(by_name);
    return rc;
}

/* Returns true if some vertex of a reading has shares. */
static bool has_shares(const struct rset_reading *o)
{
    for (uint32_t i = 0; i < o->marks[NODES].count; i++)
        if (o->marks[NODES].elements[i].shares)
            return true;
    return false;
}

/* Lists the elements of an array that stay. */
static int list_items(const weir_rset *r, int which, const bool *gone, struct rset_items *out)
{
    const struct jgf_array *a = &r->scheduling->reading->marks[which];

    out->list = weir_mem_alloc(((size_t)a->count + 1) * sizeof *out->list);
    if (!out->list)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct jgf_element *e = &a->elements[i];
        if (which == NODES ? !gone[i] : !gone[e->ends[0]] && !gone[e->ends[1]])
            out->list[out->count++] = (struct rset_item){r->scheduling->text, e, i, WEIR_NONE, -1};
    }
    return WEIR_OK;
}

int weir_rset_jgf_items(const weir_rset *r, struct rset_items items[2])
{
    int rc = open_reading(r->scheduling);
    bool *gone;

    if (rc != 1)
        return rc;
    gone = weir_mem_zalloc(r->scheduling->reading->graph->limit, sizeof *gone);
    rc = gone ? mark(r, r->scheduling->reading, gone) : WEIR_ENOMEM;
    rc = rc ? rc : list_items(r, NODES, gone, &items[NODES]);
    if (rc == WEIR_OK && has_shares(r->scheduling->reading))
        rc = cut_shares(r, gone, &items[NODES]);
    rc = rc ? rc : list_items(r, EDGES, gone, &items[EDGES]);
    weir_mem_free(gone);
    return rc < 0 ? rc : 1;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Writes an element; with `to`, the rank of a vertex becomes the rank in `to`. */
static void write_item(const struct rset_item *item, const weir_idset *ranks, const uint32_t *to, weir_buf *out)
{
    const struct jgf_element *e = item->element;
    struct weir_rank_place place = {ranks, 0, 0};
    const char *at = item->text + e->from;
    char *end = NULL;
    long long old = to && e->rank > 0 ? strtoll(item->text + e->rank, &end, 10) : -1;

    if (old >= 0 && old <= WEIR_IDSET_MAX && weir_idset_test(ranks, (uint32_t)old)) {
        weir_buf_add(out, at, e->rank - e->from);
        weir_buf_printf(out, "%lu", (unsigned long)to[weir_rank_place(&place, (uint32_t)old)]);
        at = end;
    }
    weir_buf_add(out, at, (size_t)(item->text + e->to - at));
}

void weir_rset_jgf_write(const weir_rset *r, const struct rset_items items[2], const uint32_t *to, weir_buf *out)
{
    const struct jgf_array *marks = r->scheduling->reading->marks;
    const char *text = r->scheduling->text;
    int first = marks[EDGES].from < marks[NODES].from ? EDGES : NODES;
    size_t at = 0;

    for (int k = 0; k < 2; k++) {
        const struct jgf_array *a = &marks[first ^ k];
        weir_buf_add(out, text + at, a->from - at);
        for (uint32_t i = 0; i < items[first ^ k].count; i++) {
            weir_buf_puts(out, i > 0 ? "," : "");
            write_item(&items[first ^ k].list[i], r->ranks, to, out);
        }
        at = a->count > 0 ? a->elements[a->count - 1].to : a->from;
    }
    weir_buf_puts(out, text + at);
}

int weir_rset_jgf_cut(const weir_rset *r, const uint32_t *to, weir_buf *out, weir_err *err)
{
    struct rset_items items[2] = {{0}};
    int rc = weir_rset_jgf_items(r, items);

    if (rc == 1)
        weir_rset_jgf_write(r, items, to, out);
    else if (rc == 0)
        weir_buf_puts(out, r->scheduling->text);
    weir_rset_items_free(items);
    return rc < 0 || out->failed ? weir_fail_nomem(err) : WEIR_OK;
}
