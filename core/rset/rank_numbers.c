/* rank_numbers.c - see rank_numbers.h. Invariant: the record of a graph is equal to a new record. */
#include "rset/rank_numbers.h"

#include "format/output.h"
#include "graph/observer.h"

static const struct weir_observer observer;

static void drop(weir_graph *g)
{
    if (rank_numbers_in(g))
        weir_map32_free(&rank_numbers_in(g)->ranks);
    weir_record_drop(g, RECORD_RANKS, &observer);
}

/* ---- making the numbers ----------------------------------------------------------------------------------------- */

struct numbering {
    const weir_graph *g;
    weir_type core, gpu, node;
    struct weir_map32 ranks;
};

static int add(struct numbering *w, weir_vertex host)
{
    return weir_map32_get(&w->ranks, host) == WEIR_NONE ? weir_map32_add(&w->ranks, host, w->ranks.count) : WEIR_OK;
}

/* Whether v, like the sibling in front, has no children and adds the same resources: neighbouring cores, say. */
static bool is_one_more(const struct numbering *w, const struct vertex *v, uint32_t elder_kind)
{
    return v->kind == elder_kind && v->inner == WEIR_NONE && w->g->kinds[v->kind].type != w->node;
}

static int number_below(struct numbering *w, weir_vertex v, weir_vertex root)
{
    weir_type type = kind_of(w->g, v)->type;
    uint32_t n, kind = WEIR_NONE;
    const weir_vertex *kids;
    int rc = WEIR_OK;

    if (type == w->node)
        return add(w, v);
    if (type == w->core || type == w->gpu)
        rc = add(w, root);
    kids = kids_of(w->g, v, &n);
    for (uint32_t i = 0; i < n && rc == WEIR_OK; i++) {
        if (kids[i] == WEIR_NONE || is_one_more(w, vertex_at(w->g, kids[i]), kind))
            continue;
        rc = number_below(w, kids[i], root);
        kind = vertex_at(w->g, kids[i])->inner == WEIR_NONE ? vertex_at(w->g, kids[i])->kind : WEIR_NONE;
    }
    return rc;
}

static bool has_rank(const weir_graph *g)
{
    for (uint32_t i = 0; i < g->npools; i++)
        if (g->pools[i].used && g->pools[i].rank != WEIR_NO_RANK)
            return true;
    return false;
}

static int make(const weir_graph *g, struct weir_rank_numbers *out)
{
    struct numbering w = {
        .g = g, .core = weir_type_find(g, "core"), .gpu = weir_type_find(g, "gpu"), .node = weir_type_find(g, "node")};
    int rc = WEIR_OK;

    out->ranked = has_rank(g);
    for (uint32_t i = 0; i < g->nroots && !out->ranked && rc == WEIR_OK; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = number_below(&w, g->roots[i], g->roots[i]);
    if (rc < 0)
        weir_map32_free(&w.ranks);
    else
        out->ranks = w.ranks;
    return rc;
}

/* The record belongs to the graph, and is no part of what a caller of a constant graph sees. */
const struct weir_rank_numbers *weir_rank_numbers(const weir_graph *constant)
{
    weir_graph *g = (weir_graph *)constant;
    struct weir_rank_numbers *x;

    if (rank_numbers_in(g))
        return rank_numbers_in(g);
    x = weir_record_make(g, RECORD_RANKS, sizeof *x, &observer);
    if (x && make(g, x) < 0) {
        drop(g);
        x = NULL;
    }
    return x;
}

/* ---- changes of the graph --------------------------------------------------------------------------------------- */

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
    (void)v, (void)map;
    if (key == WEIR_NO_NAME)
        drop(g);
}

static size_t bytes(const weir_graph *g)
{
    return sizeof *rank_numbers_in(g) + weir_map32_bytes(&rank_numbers_in(g)->ranks);
}

static int check(const weir_graph *g, weir_err *err)
{
    const struct weir_rank_numbers *is = rank_numbers_in(g);
    struct weir_rank_numbers anew = {0};
    int rc = make(g, &anew) < 0 ? weir_fail_nomem(err) : WEIR_OK;

    if (rc == WEIR_OK && (anew.ranked != is->ranked || anew.ranks.count != is->ranks.count))
        rc = weir_fail(err, WEIR_EINVAL, "weir_check: hosts have come or gone since they were given ranks");
    for (weir_vertex v = 0; rc == WEIR_OK && v < g->limit; v++)
        if (weir_map32_get(&anew.ranks, v) != weir_map32_get(&is->ranks, v))
            rc = weir_fail(err, WEIR_EINVAL, "weir_check: the rank given to vertex %u is out of date", (unsigned)v);
    weir_map32_free(&anew.ranks);
    return rc;
}

static const struct weir_observer observer = {
    .linked = linked,
    .unlinked = unlinked,
    .described = described,
    .described_many = drop,
    .reset = drop,
    .freed = drop,
    .bytes = bytes,
    .check = check,
};
