/* vertex_range.c - see vertex_range.h. Invariant of a restore: vertices below `limit` are written, and no vertex is in
 * a list of children. */
#include "graph/vertex_range.h"

#include <inttypes.h>
#include <string.h>

/* ---- finding ranges ---- */

static bool follows(const weir_graph *g, const struct weir_vertex_range *r, weir_vertex v)
{
    const struct vertex *a = vertex_at(g, r->first), *b = vertex_at(g, v);
    uint32_t i = v - r->first;

    if (a->pos == WEIR_NONE || b->pos == WEIR_NONE)
        return false;
    return b->kind == a->kind && b->parent == a->parent && b->pos == a->pos + i &&
           own_rank(g, v) == (r->rank == WEIR_NO_RANK ? WEIR_NO_RANK : r->rank + i) &&
           b->id == (r->id == WEIR_NO_ID ? WEIR_NO_ID : r->id + r->step * i);
}

/* The difference of the ids of v and v + 1; 0 where an id is missing or the difference is too large. */
static int64_t step_after(const weir_graph *g, weir_vertex v)
{
    int64_t a = vertex_at(g, v)->id, b = vertex_at(g, v + 1)->id, step;

    if (a == WEIR_NO_ID || b == WEIR_NO_ID || __builtin_sub_overflow(b, a, &step) || step > INT32_MAX ||
        step < INT32_MIN)
        return 0;
    return a > INT64_MAX - INT32_MAX * (int64_t)RANGE_MAX || a < INT64_MIN / 2 ? 0 : step;
}

void weir_vertex_range_at(const weir_graph *g, weir_vertex v, weir_vertex end, struct weir_vertex_range *out)
{
    const struct vertex *x = vertex_at(g, v);
    bool live = vertex_valid(g, v);

    end = end - v > RANGE_MAX ? v + RANGE_MAX : end;
    *out = (struct weir_vertex_range){.first = v, .count = 1, .kind = WEIR_NONE};
    if (live) {
        *out = (struct weir_vertex_range){v, 1, x->kind, x->parent, x->pos, x->id, 0, own_rank(g, v)};
        if (v + 1 < end)
            out->step = step_after(g, v);
    }
    for (weir_vertex next = v + 1; next < end && vertex_valid(g, next) == live; next++) {
        if (live && !follows(g, out, next))
            break;
        out->count++;
    }
    if (out->count == 1)
        out->step = 0;
}

int weir_vertex_range_holes(const weir_graph *g, weir_err *err)
{
    uint64_t holes = 0;

    for (uint32_t i = 0; i < g->ninners; i++)
        holes += g->inners[i].vertex == WEIR_NONE ? 0 : g->inners[i].holes;
    for (uint32_t i = 0; i < g->nroots; i++)
        holes += g->roots[i] == WEIR_NONE;
    return weir_build_holes(g, holes, err);
}

/* ---- restoring ranges ---- */

static int misplaced(const struct weir_restore *p, const struct weir_vertex_range *r, const char *what)
{
    return weir_fail(p->err, WEIR_EPARSE, "vertex %u: %s", r->first, what);
}

static int check_range(const struct weir_restore *p, const struct weir_vertex_range *r)
{
    const weir_graph *g = p->g;
    int64_t last;

    if (r->first != g->limit)
        return weir_fail(p->err, WEIR_EPARSE, "vertex %u found where vertex %u is expected", r->first, g->limit);
    if (r->count == 0 || r->count > RANGE_MAX)
        return misplaced(p, r, "a run has from 1 to 256 vertices");
    if (r->kind == WEIR_NONE)
        return WEIR_OK;
    if (r->kind >= g->nkinds)
        return misplaced(p, r, "there is no such kind");
    if (r->place == WEIR_NONE && (r->parent != WEIR_NONE || r->count > 1))
        return misplaced(p, r, "a vertex without a place has no parent");
    if (r->place != WEIR_NONE && (uint64_t)r->place + r->count > UINT32_MAX - 1)
        return weir_build_holes(g, UINT64_MAX, p->err);
    if (__builtin_mul_overflow(r->step, (int64_t)r->count, &last) || __builtin_add_overflow(r->id, last, &last))
        return misplaced(p, r, "the ids grow too large");
    if (r->rank != WEIR_NO_RANK && (r->rank < 0 || r->rank + r->count - 1 > UINT32_MAX))
        return misplaced(p, r, "a rank is out of range");
    if (g->kinds[r->kind].size > (WEIR_UNITS_MAX - g->units) / (int64_t)r->count)
        return weir_fail(p->err, WEIR_ELIMIT, "the sizes of all pools add up to more than %" PRId64, WEIR_UNITS_MAX);
    return WEIR_OK;
}

static int write_ranks(const struct weir_restore *p, const struct weir_vertex_range *r)
{
    for (uint32_t i = 0; r->rank != WEIR_NO_RANK && i < r->count; i++) {
        struct pool *pool = weir_pool_get(p->g, r->first + i);
        if (!pool)
            return weir_fail_nomem(p->err);
        pool->rank = r->rank + i;
    }
    return WEIR_OK;
}

/* Writes the vertices of a range at the end of the array. */
static int write_range(struct weir_restore *p, const struct weir_vertex_range *r)
{
    weir_graph *g = p->g;

    if (r->count > WEIR_NONE - 1 - g->limit || weir_graph_reserve(g, g->limit + r->count))
        return weir_fail_nomem(p->err);
    memset(g->vertices + g->limit, 0, r->count * sizeof *g->vertices);
    g->limit += r->count;
    if (r->kind == WEIR_NONE) {
        for (uint32_t i = 0; i < r->count; i++)
            vertex_at(g, r->first + i)->generation =
                g->uuids.generations; /* UUIDs of earlier vertices are not given again */
        p->spare = true;
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < r->count; i++)
        weir_build_vertex(g, r->first + i,
                          (struct vertex){.id = r->id == WEIR_NO_ID ? WEIR_NO_ID : r->id + (int64_t)i * r->step,
                                          .kind = r->kind,
                                          .parent = r->parent,
                                          .pos = r->place + i,
                                          .pool = WEIR_NONE,
                                          .state = WEIR_UP});
    return write_ranks(p, r);
}

int weir_restore_range(struct weir_restore *p, const struct weir_vertex_range *r)
{
    int rc = check_range(p, r);

    return rc ? rc : write_range(p, r);
}

/* Fails where the path from a vertex with children to the root is too long, or a cycle. */
static int check_depth(const struct weir_restore *p)
{
    const weir_graph *g = p->g;

    for (uint32_t i = 0; i < g->ninners; i++) {
        uint32_t depth = 0;
        for (weir_vertex v = g->inners[i].vertex; v != WEIR_NONE && depth < WEIR_PATH_DEPTH;
             v = vertex_at(g, v)->parent)
            depth++;
        if (depth == WEIR_PATH_DEPTH)
            return weir_fail(p->err, WEIR_ELIMIT, "vertex %u is deeper than %d levels, or in a circle",
                             g->inners[i].vertex, WEIR_PATH_DEPTH);
    }
    return WEIR_OK;
}

/* Puts the numbers not in use into the free chain, lowest first. */
static void chain_spare(weir_graph *g)
{
    for (weir_vertex v = g->limit; v-- > 0;)
        if (!vertex_valid(g, v)) {
            vertex_at(g, v)->pos = g->free.vertices;
            g->free.vertices = v;
        }
}

int weir_restore_end(struct weir_restore *p)
{
    int rc = weir_build_tree(p->g, p->err);

    rc = rc ? rc : check_depth(p);
    if (!rc && p->spare)
        chain_spare(p->g);
    p->g->serial++;
    return rc;
}
