/* check.c - weir_check(): recomputes every invariant from vertices and jobs. Tree and rows are checked here,
 * further records by observers. For tests. */
#include <inttypes.h>
#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"

static int broken(weir_err *err, const char *what, uint32_t v)
{
    return weir_fail(err, WEIR_EINVAL, "weir_check: %s (vertex or record %u)", what, v);
}

/* ---- the tree ---- */

static int check_vertex(const weir_graph *g, weir_vertex v, weir_err *err)
{
    const struct vertex *x = vertex_at(g, v);
    const struct inner *in = inner_of(g, v);

    if (x->kind >= g->nkinds)
        return broken(err, "kind out of range", v);
    if (vertex_detached(g, v)) {
        if (in || schedule_of(g, v))
            return broken(err, "a detached vertex has children or a schedule", v);
    } else if (x->parent == WEIR_NONE) {
        if (x->pos >= g->nroots || g->roots[x->pos] != v)
            return broken(err, "a root is not at its place", v);
    } else if (!vertex_valid(g, x->parent) || !inner_of(g, x->parent) || x->pos >= inner_of(g, x->parent)->nkids ||
               inner_of(g, x->parent)->kids[x->pos] != v) {
        return broken(err, "a child is not at its place", v);
    }
    if (in && in->vertex != v)
        return broken(err, "an inner record belongs to another vertex", v);
    return WEIR_OK;
}

static int check_kids(const weir_graph *g, const struct inner *in, weir_err *err)
{
    uint32_t holes = 0, seen = 0;

    for (uint32_t i = 0; i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        holes += kid == WEIR_NONE;
        seen += kid != WEIR_NONE && i < in->seen_pos;
        if (kid != WEIR_NONE && (!vertex_valid(g, kid) || vertex_at(g, kid)->parent != in->vertex))
            return broken(err, "a kid has another parent", in->vertex);
    }
    if (in->seen != seen || in->seen_pos > in->nkids)
        return broken(err, "the child requested last has another number", in->vertex);
    return holes == in->holes ? WEIR_OK : broken(err, "holes are miscounted", in->vertex);
}

/* Compares the number of vertices of each kind. */
static int check_kinds(const weir_graph *g, weir_err *err)
{
    uint32_t *count = weir_mem_zalloc((size_t)g->nkinds + 1, sizeof *count);
    int rc = count ? WEIR_OK : weir_fail_nomem(err);

    for (weir_vertex v = 0; !rc && v < g->limit; v++)
        if (vertex_valid(g, v))
            count[vertex_at(g, v)->kind]++;
    for (uint32_t i = 0; !rc && i < g->nkinds; i++)
        if (count[i] != g->kinds[i].count)
            rc = broken(err, "vertices of a kind are miscounted", i);
    weir_mem_free(count);
    return rc;
}

static int check_tree(const weir_graph *g, weir_err *err)
{
    uint32_t live = 0, unavailable = 0, detached = 0;

    for (weir_vertex v = 0; v < g->limit; v++) {
        int rc;
        if (!vertex_valid(g, v))
            continue;
        live++;
        unavailable += !state_available(vertex_at(g, v)->state);
        detached += vertex_detached(g, v);
        rc = check_vertex(g, v, err);
        if (!rc && inner_of(g, v))
            rc = check_kids(g, inner_of(g, v), err);
        if (rc)
            return rc;
    }
    if (live != g->live)
        return broken(err, "live vertices are miscounted", live);
    if (unavailable != g->unavailable)
        return broken(err, "unavailable vertices are miscounted", unavailable);
    if (detached != g->detached)
        return broken(err, "detached vertices are miscounted", detached);
    return check_kinds(g, err);
}

/* ---- room ---- */

/* Whether an array has room for its n elements. */
static bool has_room(const void *list, uint32_t n, size_t cap)
{
    return n == 0 || (list && n <= cap);
}

/* Arrays whose capacity is reserved in advance, when a record is made: later steps fill them and cannot fail. So a
 * copy, a load and a view of a hierarchy need the same room. Observers check theirs: job_check.c, rank_order.c and
 * score_reads.c. */
static int check_room(const weir_graph *g, weir_err *err)
{
    if (!has_room(g->vertices, g->limit, g->cap.vertices) || !has_room(g->inners, g->ninners, g->cap.inners) ||
        !has_room(g->pools, g->npools, g->cap.pools) || !has_room(g->edges, g->nedges, g->cap.edges) ||
        !has_room(g->roots, g->nroots, g->cap.roots) || !has_room(g->kinds, g->nkinds, g->cap.kinds) ||
        !has_room(g->types, g->ntypes, g->cap.types) || !has_room(g->subsystems, g->nsubsystems, g->cap.subsystems))
        return broken(err, "an array of the graph has more elements than room", 0);
    for (uint32_t i = 0; i < g->ninners; i++)
        if (g->inners[i].vertex != WEIR_NONE && !has_room(g->inners[i].kids, g->inners[i].nkids, g->inners[i].kids_cap))
            return broken(err, "there is no room for the children", g->inners[i].vertex);
    for (uint32_t i = 0; i < g->npools; i++)
        for (int m = 0; m < 3; m++)
            if (!has_room(g->pools[i].maps[m].entries, g->pools[i].maps[m].count, g->pools[i].maps[m].cap))
                return broken(err, "there is no room for the entries of a map", i);
    for (uint32_t i = 0; i < aggregates_in(g)->nschemas; i++)
        if (schema_at(g, i)->width > aggregates_in(g)->scratch_width || !aggregates_in(g)->scratch)
            return broken(err, "the scratch vectors are too short for a schema", i);
    return WEIR_OK;
}

/* ---- rows ---- */

static int check_row(const weir_graph *g, const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r,
                     int64_t *sum, int64_t *one, weir_err *err)
{
    const struct schema *s = schema_at(g, in->schema);
    uint32_t begin, end;
    bool kids = weir_row_entries(in, lv, l, r, &begin, &end);

    memset(sum, 0, s->width * sizeof *sum);
    for (uint32_t i = begin; i < end; i++) {
        if (kids && in->kids[i] == WEIR_NONE)
            continue;
        if (kids)
            weir_row_contribute(g, in->kids[i], in->schema, one);
        else
            memcpy(one, row_cells(g, in, i), s->width * sizeof *one);
        for (uint32_t c = 0; c < s->width; c++)
            if (!cell_is_max(s, c))
                sum[c] += one[c];
            else if (one[c] > sum[c])
                sum[c] = one[c];
    }
    return memcmp(sum, row_cells(g, in, r), s->width * sizeof *sum)
               ? broken(err, "a row is not what its entries make", in->vertex)
               : WEIR_OK;
}

static int check_rows(const weir_graph *g, int64_t *scratch, weir_err *err)
{
    for (uint32_t i = 0; i < g->ninners; i++) {
        const struct inner *in = &g->inners[i];
        struct levels lv;
        int rc;
        if (in->vertex == WEIR_NONE || !in->cells)
            continue;
        weir_levels_of(in->rows_cap, &lv);
        rc = check_row(g, in, &lv, 0, 0, scratch, scratch + aggregates_in(g)->scratch_width, err);
        for (uint32_t l = 1; !rc && l <= lv.n; l++)
            for (uint32_t r = lv.first[l]; !rc && r < lv.first[l] + lv.count[l]; r++)
                rc = check_row(g, in, &lv, l, r, scratch, scratch + aggregates_in(g)->scratch_width, err);
        if (rc)
            return rc;
    }
    return WEIR_OK;
}

int weir_check(const weir_graph *g, weir_err *err)
{
    const struct weir_observer *o;
    uint32_t width = aggregates_in(g)->scratch_width;
    int64_t *scratch;
    int rc = check_room(g, err);

    rc = rc ? rc : check_tree(g, err);
    if (rc || g->building)
        return rc;
    scratch = weir_mem_alloc((size_t)(width ? width : 1) * 2 * sizeof *scratch);
    if (!scratch)
        return weir_fail_nomem(err);
    rc = check_rows(g, scratch, err);
    weir_mem_free(scratch);
    WEIR_EACH_OBSERVER (g, check, o)
        rc = rc ? rc : o->check(g, err);
    return rc;
}
