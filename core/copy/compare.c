/* compare.c - decides whether two graphs are equal, and reports the first difference. Invariant: the trees are
 * walked in parallel; for each visited vertex of the first graph, the map has the vertex at the corresponding
 * position of the second.
 */
#include "copy/extract.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

struct compare {
    const weir_graph *a, *b;
    weir_vertex *map;
    weir_err *err;
};

/* ---- two pools ---- */

static char *name_text(const weir_graph *g, weir_vertex v)
{
    size_t len = weir_vertex_name(g, v, NULL, 0);
    char *text = weir_mem_alloc(len + 1);

    if (text)
        weir_vertex_name(g, v, text, len + 1);
    return text;
}

/* The name as stored, possibly a template; "" if the name is derived from basename and id. */
static const char *given_name(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && p->name != WEIR_NO_NAME ? weir_strtab_text(&g->names, p->name) : "";
}

bool weir_strtab_agree(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb)
{
    char x[256], y[256], *long_x, *long_y;
    size_t nx, ny;
    bool agree;

    if (!given_name(a, va)[0] && !given_name(b, vb)[0] && vertex_at(a, va)->id == vertex_at(b, vb)->id)
        return strcmp(weir_vertex_basename(a, va), weir_vertex_basename(b, vb)) == 0;
    nx = weir_vertex_name(a, va, x, sizeof x);
    ny = weir_vertex_name(b, vb, y, sizeof y);
    if (nx != ny || strcmp(x, y) != 0 || nx < sizeof x)
        return nx == ny && strcmp(x, y) == 0;
    long_x = name_text(a, va);
    long_y = name_text(b, vb);
    agree = long_x && long_y && strcmp(long_x, long_y) == 0;
    WEIR_FREE(long_x, long_y);
    return agree;
}

static const char *id_text(int64_t id, char buf[24])
{
    if (id == WEIR_NO_ID)
        return "none";
    snprintf(buf, 24, "%" PRId64, id);
    return buf;
}

static bool texts_differ(const char *what, const char *a, const char *b, char *buf, size_t size)
{
    if (strcmp(a, b) == 0)
        return false;
    snprintf(buf, size, "the %s is '%.80s' against '%.80s'", what, a, b);
    return true;
}

static bool numbers_differ(const char *what, int64_t a, int64_t b, char *buf, size_t size)
{
    char x[24], y[24];
    return a != b && texts_differ(what, id_text(a, x), id_text(b, y), buf, size);
}

/* Whether basename, id or name differ, with the difference in buf. Rank and properties, used by templates of names,
 * are compared separately. */
static bool naming_differs(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb, char *buf,
                           size_t size)
{
    char x[128], y[128];

    if (texts_differ("basename", weir_vertex_basename(a, va), weir_vertex_basename(b, vb), buf, size) ||
        numbers_differ("id", vertex_at(a, va)->id, vertex_at(b, vb)->id, buf, size))
        return true;
    if (strcmp(given_name(a, va), given_name(b, vb)) == 0 || weir_strtab_agree(a, va, b, vb))
        return false;
    weir_vertex_name(a, va, x, sizeof x);
    weir_vertex_name(b, vb, y, sizeof y);
    if (!texts_differ("name", x, y, buf, size))
        snprintf(buf, size, "the names differ late");
    return true;
}

bool weir_bases_differ(const weir_graph *a, weir_vertex va, const weir_graph *b, weir_vertex vb, bool named, char *buf,
                       size_t size)
{
    const struct kind *x = kind_of(a, va), *y = kind_of(b, vb);

    if (texts_differ("type", weir_vertex_type(a, va), weir_vertex_type(b, vb), buf, size) ||
        numbers_differ("size", x->size, y->size, buf, size) ||
        texts_differ("unit", weir_vertex_unit(a, va), weir_vertex_unit(b, vb), buf, size) ||
        texts_differ("exclusive flag", x->exclusive ? "set" : "clear", y->exclusive ? "set" : "clear", buf, size))
        return true;
    return named && naming_differs(a, va, b, vb, buf, size);
}

static int differ(const struct compare *c, weir_vertex v, const char *what)
{
    char path[256];

    weir_vertex_path(c->a, v, path, sizeof path);
    return weir_fail(c->err, WEIR_EINVAL, "%s: %s", path, what);
}

static int compare_maps(const struct compare *c, weir_vertex v, weir_vertex w)
{
    static const char *const names[] = {"property", "tag", "extended data"};
    const char *key, *value, *other;
    char buf[400];

    for (int m = 0; m < 3; m++) {
        for (uint32_t i = 0; weir_vertex_entry(c->a, v, m, i, &key, &value); i++) {
            other = weir_vertex_get(c->b, w, m, key);
            if (other && strcmp(other, value) == 0)
                continue;
            snprintf(buf, sizeof buf, "%s '%.80s' is '%.80s' against %s%.80s%s", names[m], key, value, other ? "'" : "",
                     other ? other : "none", other ? "'" : "");
            return differ(c, v, buf);
        }
        if (weir_vertex_count(c->a, v, m) != weir_vertex_count(c->b, w, m)) {
            snprintf(buf, sizeof buf, "%s: %u entries against %u", names[m], weir_vertex_count(c->a, v, m),
                     weir_vertex_count(c->b, w, m));
            return differ(c, v, buf);
        }
    }
    return WEIR_OK;
}

/* State inherited from the ancestors. */
struct inherited {
    int64_t rank_a, rank_b;
};

/* Whether v and w are the vertex with one number in one graph, with the pool replaced on one side. */
static bool replaced(const struct compare *c, weir_vertex v, weir_vertex w)
{
    return v == w && memcmp(c->a->uuids.graph, c->b->uuids.graph, sizeof c->a->uuids.graph) == 0 &&
           vertex_at(c->a, v)->generation != vertex_at(c->b, w)->generation;
}

static int compare_pools(const struct compare *c, weir_vertex v, weir_vertex w, const struct inherited *up)
{
    char buf[300], m[37], n[37];

    if (weir_bases_differ(c->a, v, c->b, w, true, buf, sizeof buf))
        return differ(c, v, buf);
    if (texts_differ("state", weir_state_name(vertex_at(c->a, v)->state), weir_state_name(vertex_at(c->b, w)->state),
                     buf, sizeof buf) ||
        numbers_differ("rank", up->rank_a, up->rank_b, buf, sizeof buf))
        return differ(c, v, buf);
    if (weir_uuid_given(c->a, v) || weir_uuid_given(c->b, w) || replaced(c, v, w)) {
        weir_vertex_uuid(c->a, v, m);
        weir_vertex_uuid(c->b, w, n);
        if (texts_differ("UUID", m, n, buf, sizeof buf))
            return differ(c, v, buf);
    }
    return pool_of(c->a, v) || pool_of(c->b, w) ? compare_maps(c, v, w) : WEIR_OK;
}

/* ---- the trees ---- */

/* The next live vertex of a list of children, and the position behind; WEIR_NONE at the end. */
static weir_vertex next_there(const weir_vertex *kids, uint32_t n, uint32_t *at)
{
    while (*at < n && kids[*at] == WEIR_NONE)
        ++*at;
    return *at < n ? kids[(*at)++] : WEIR_NONE;
}

/* Reports the first surplus child if only one list is at its end. WEIR_NONE: the list is at its end. */
static int compare_ends(const struct compare *c, weir_vertex parent, weir_vertex v, weir_vertex w)
{
    const weir_graph *g = v != WEIR_NONE ? c->a : c->b;
    char name[128], buf[256];

    if (v == WEIR_NONE && w == WEIR_NONE)
        return WEIR_OK;
    weir_vertex_name(g, v != WEIR_NONE ? v : w, name, sizeof name);
    snprintf(buf, sizeof buf, "'%s' is in the %s graph only", name, v != WEIR_NONE ? "first" : "second");
    return parent == WEIR_NONE ? weir_fail(c->err, WEIR_EINVAL, "%s", buf) : differ(c, parent, buf);
}

static int compare_trees(const struct compare *c, weir_vertex v, weir_vertex w, const struct inherited *up)
{
    const struct inner *x = inner_of(c->a, v), *y = inner_of(c->b, w);
    struct inherited here = *up;
    weir_vertex kid = WEIR_NONE, other = WEIR_NONE;
    uint32_t i = 0, k = 0;
    int rc;

    here.rank_a = own_rank(c->a, v) != WEIR_NO_RANK ? own_rank(c->a, v) : up->rank_a;
    here.rank_b = own_rank(c->b, w) != WEIR_NO_RANK ? own_rank(c->b, w) : up->rank_b;
    rc = compare_pools(c, v, w, &here);
    c->map[v] = w;
    while (!rc) {
        kid = x ? next_there(x->kids, x->nkids, &i) : WEIR_NONE;
        other = y ? next_there(y->kids, y->nkids, &k) : WEIR_NONE;
        if (kid == WEIR_NONE || other == WEIR_NONE)
            return compare_ends(c, v, kid, other);
        rc = compare_trees(c, kid, other, &here);
    }
    return rc;
}

/* The next detached vertex of a graph from *at on, and the number behind; WEIR_NONE: no more. */
static weir_vertex next_detached(const weir_graph *g, uint32_t *at)
{
    for (; g->detached > 0 && *at < g->limit; ++*at)
        if (vertex_valid(g, *at) && vertex_detached(g, *at))
            return (*at)++;
    return WEIR_NONE;
}

static weir_vertex next_root(const weir_graph *g, uint32_t *at)
{
    return next_there(g->roots, g->nroots, at);
}

/* Compares the vertices without a parent that next() lists: the roots, or those outside of containment. */
static int compare_tops(const struct compare *c, weir_vertex (*next)(const weir_graph *g, uint32_t *at))
{
    const struct inherited none = {WEIR_NO_RANK, WEIR_NO_RANK};
    uint32_t i = 0, k = 0;

    for (;;) {
        weir_vertex v = next(c->a, &i), w = next(c->b, &k);
        int rc;
        if (v == WEIR_NONE || w == WEIR_NONE)
            return compare_ends(c, WEIR_NONE, v, w);
        rc = compare_trees(c, v, w, &none);
        if (rc)
            return rc;
    }
}

/* ---- edges ---- */

static int by_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_edge(const void *a, const void *b)
{
    const weir_edge *x = a, *y = b;
    int order;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    order = by_text(x->subsystem, y->subsystem);
    order = order ? order : by_text(x->type, y->type);
    return order ? order : by_text(x->back, y->back);
}

/* The edges of a graph, sorted, with sources and targets translated by `map` if not NULL. Returns NULL if out of
 * memory. */
static weir_edge *sorted_edges(const weir_graph *g, const weir_vertex *map)
{
    weir_edge *list = weir_mem_alloc(g->live_edges * sizeof *list), e;
    uint32_t n = 0;

    for (uint32_t i = 0; list && i < g->nedges; i++) {
        if (!weir_edge_get(g, i, &e))
            continue;
        e.source = map ? map[e.source] : e.source;
        e.target = map ? map[e.target] : e.target;
        list[n++] = e;
    }
    if (list)
        qsort(list, n, sizeof *list, by_edge);
    return list;
}

static int edge_differs(const struct compare *c, const weir_edge *e, bool first)
{
    char from[160], to[160];

    weir_vertex_path(c->b, e->source, from, sizeof from);
    weir_vertex_path(c->b, e->target, to, sizeof to);
    return weir_fail(c->err, WEIR_EINVAL, "the edge %.40s:%.40s from %s to %s is in the %s graph only", e->subsystem,
                     e->type, from, to, first ? "first" : "second");
}

static int compare_edges(const struct compare *c)
{
    uint32_t na = c->a->live_edges, nb = c->b->live_edges, i = 0;
    weir_edge *x = sorted_edges(c->a, c->map), *y = sorted_edges(c->b, NULL);
    int rc = WEIR_OK;

    if (!x || !y) {
        rc = weir_fail_nomem(c->err);
    } else {
        while (i < na && i < nb && by_edge(&x[i], &y[i]) == 0)
            i++;
        if (i < na && (i == nb || by_edge(&x[i], &y[i]) < 0))
            rc = edge_differs(c, &x[i], true);
        else if (i < nb)
            rc = edge_differs(c, &y[i], false);
    }
    WEIR_FREE(x, y);
    return rc;
}

/* ---- jobs ---- */

WEIR_COMPARE_BY(by_vertex, weir_pick, vertex)

static weir_pick *sorted_picks(const weir_allocation *a, const weir_vertex *map)
{
    weir_pick *list = weir_mem_alloc(a->npicks * sizeof *list);

    if (!list)
        return NULL;
    for (uint32_t i = 0; i < a->npicks; i++) {
        list[i] = a->picks[i];
        list[i].vertex = map ? map[list[i].vertex] : list[i].vertex;
    }
    qsort(list, a->npicks, sizeof *list, by_vertex);
    return list;
}

static bool same_picks(const weir_pick *x, const weir_pick *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].vertex != y[i].vertex || x[i].resource != y[i].resource || x[i].amount != y[i].amount ||
            x[i].exclusive != y[i].exclusive)
            return false;
    return true;
}

static int compare_job(const struct compare *c, const weir_allocation *a)
{
    const weir_allocation *b = weir_job_get(c->b, a->job);
    weir_pick *x, *y;
    int rc = WEIR_OK;

    if (!b)
        return weir_fail(c->err, WEIR_EINVAL, "job %" PRId64 " is in the first graph only", a->job);
    if (a->start != b->start || a->end != b->end || a->state != b->state)
        return weir_fail(c->err, WEIR_EINVAL,
                         "job %" PRId64 " has times [%" PRId64 ", %" PRId64 ") against [%" PRId64 ", %" PRId64
                         ") us, or another state",
                         a->job, a->start, a->end, b->start, b->end);
    if (a->npicks != b->npicks)
        return weir_fail(c->err, WEIR_EINVAL, "job %" PRId64 " has %u vertices against %u", a->job, a->npicks,
                         b->npicks);
    x = sorted_picks(a, c->map);
    y = sorted_picks(b, NULL);
    if (!x || !y)
        rc = weir_fail_nomem(c->err);
    else if (!same_picks(x, y, a->npicks))
        rc = weir_fail(c->err, WEIR_EINVAL, "job %" PRId64 " has other vertices or amounts", a->job);
    WEIR_FREE(x, y);
    return rc;
}

static int compare_jobs(const struct compare *c)
{
    int rc = WEIR_OK;

    if (c->a->valid_from != c->b->valid_from || c->a->valid_until != c->b->valid_until)
        return weir_fail(c->err, WEIR_EINVAL,
                         "valid over [%" PRId64 ", %" PRId64 ") against [%" PRId64 ", %" PRId64 ") us",
                         c->a->valid_from, c->a->valid_until, c->b->valid_from, c->b->valid_until);
    if (c->a->now != c->b->now)
        return weir_fail(c->err, WEIR_EINVAL, "the clock is at %" PRId64 " against %" PRId64 " us", c->a->now,
                         c->b->now);
    for (uint32_t i = 0; !rc && i < weir_job_count(c->a); i++)
        rc = compare_job(c, weir_job_at(c->a, i));
    for (uint32_t i = 0; !rc && i < weir_job_count(c->b); i++) {
        int64_t job = weir_job_at(c->b, i)->job;
        if (!weir_job_get(c->a, job))
            rc = weir_fail(c->err, WEIR_EINVAL, "job %" PRId64 " is in the second graph only", job);
    }
    return rc;
}

int weir_graph_compare(const weir_graph *a, const weir_graph *b, bool books, weir_err *err)
{
    struct compare c = {a, b, weir_mem_alloc(a->limit * sizeof *c.map), err};
    int rc;

    if (!c.map)
        return weir_fail_nomem(err);
    rc = compare_tops(&c, next_root);
    rc = rc ? rc : compare_tops(&c, next_detached);
    rc = rc ? rc : compare_edges(&c);
    if (!rc && books)
        rc = compare_jobs(&c);
    weir_mem_free(c.map);
    return rc;
}
