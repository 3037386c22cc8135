/* allocate_bulk.c - takes many whole vertices of a type at once. Where the order of the policy is that of the tree,
 * vertices are found row by row; where an occupancy knows the free vertices, in the order of its bits: without a heap,
 * each visited once. Invariant: a search would have taken exactly the same vertices, in the same order.
 */
#include "time/schedule.h"
#include "match/match.h"
#include "aggregate/rows.h"
#include "time/availability.h"

#define BULK_MIN       16 /* vertices; fewer are left to a search */
/* In VIEW_NOW, vertices tested in vain before a search takes over, as a search knows nogoods: BULK_WASTE, and
 * BULK_WASTE_EACH for each vertex wanted. */
#define BULK_WASTE      1024
#define BULK_WASTE_EACH 16

struct bulk_need {
    weir_type type;
    int64_t amount;
};

struct bulk {
    struct match *m;
    const weir_resource *r;
    weir_type type;
    struct bulk_need needs[SEARCH_NEEDS]; /* units below each vertex */
    uint32_t nneeds;
    uint32_t want, have, wasted;
    bool backward;               /* the tree is traversed from its end */
    weir_vertex open; /* this vertex and all vertices above are open */
};

/* ---- what it is for ---- */

static bool policy_interferes(struct match *m, const weir_resource *r)
{
    const weir_policy *p = m->policy;

    for (uint32_t i = 0; i < p->nexclusive; i++)
        if (weir_type_find(m->g, p->exclusive[i]) != weir_match_type(m, r))
            return true;
    return p->prune || p->evaluate || (!m->probing && (p->select || p->runs)) || p->ndescend > 0;
}

/* Whether each vertex can be tested without regard to all others taken. */
static bool applies(struct match *m, const weir_resource *r, int64_t want)
{
    weir_type t = weir_match_type(m, r);

    if (want < BULK_MIN || want > UINT32_MAX || m->view == VIEW_CAPACITY || m->has_fit_index)
        return false;
    if (t == WEIR_NO_TYPE || (m->g->types[t].flags & TYPE_POOLED) || m->g->whole_kinds || weir_type_above(m->g, t, t))
        return false;
    if (m->has_busy_mask && m->occupancy->type != t)
        return false;
    if (!(r->takes || r->exclusive == WEIR_EXCLUSIVE_YES) || r->unit[0] ||
        (r->nwith > 0 && !weir_candidate_by_aggregates(m, r)))
        return false;
    return !policy_interferes(m, r) && m->conflicts_from == WEIR_NONE && m->links == WEIR_NONE &&
           m->options->reading == 0 && !m->options->trace && !m->options->inside &&
           (m->g->nsubsystems == 1 || r->nwith == 0) && !weir_request_constraint(m->request);
}

static bool read_needs(struct bulk *b)
{
    uint32_t n;
    const struct weir_need *needs = weir_resource_needs(b->m->request, b->r->index, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (needs[i].amount == 0)
            continue;
        if (b->nneeds == SEARCH_NEEDS || weir_flow_find(b->m->g, needs[i].type) != WEIR_NONE)
            return false;
        b->needs[b->nneeds++] = (struct bulk_need){weir_type_find(b->m->g, needs[i].type), needs[i].amount};
    }
    return true;
}

/* ---- one vertex ---- */

/* Whether v holds the needs. */
static bool is_large(const struct bulk *b, weir_vertex v)
{
    const struct inner *in = inner_of(b->m->g, v);
    uint32_t which = b->m->view == VIEW_NOW ? TYPE_FREE : TYPE_TOTAL;

    for (uint32_t i = 0; i < b->nneeds; i++) {
        uint32_t cell = in && in->cells ? type_cell(b->m->g->aggregates->schemas[in->schema], b->needs[i].type) : 0;
        if (!cell || in->cells[cell + which] < b->needs[i].amount)
            return false;
    }
    return true;
}

/* Whether no job has any part of v, or of vertices below v, in the window. */
static bool is_unused(const struct match *m, weir_vertex v)
{
    const struct schedule *b = schedule_of(m->g, v);
    const struct inner *in = inner_of(m->g, v);

    if (m->view == VIEW_ALL)
        return true;
    if (m->view == VIEW_RESERVED)
        return (m->has_busy_mask && occupancy_alone(m->g, m->occupancy, v)) ||
               weir_availability_unused(m->g, v, m->t0, m->t1);
    if (b && (b->active > 0 || b->next < m->t1))
        return false;
    return !in || !in->cells || (in->cells[CELL_ACTIVE] == 0 && WEIR_FOREVER - in->cells[CELL_SOON] >= m->t1);
}

/* Whether v is up, and no job holds v as a whole in the window. */
static bool is_open(const struct match *m, weir_vertex v)
{
    return m->view == VIEW_ALL || (state_available(vertex_at(m->g, v)->state) &&
                                   !(schedule_of(m->g, v) && weir_schedule_touched(m->g, v, m->t0, m->t1, true)));
}

/* Whether all vertices above v are open. */
static bool is_open_above(struct bulk *b, weir_vertex v)
{
    const weir_graph *g = b->m->g;

    for (weir_vertex u = vertex_at(g, v)->parent; u != WEIR_NONE && u != b->open; u = vertex_at(g, u)->parent)
        if (!is_open(b->m, u))
            return false;
    b->open = vertex_at(g, v)->parent;
    return true;
}

enum verdict { IGNORED, BUSY, SMALL, FITS };

static enum verdict judge(const struct bulk *b, weir_vertex v)
{
    const struct match *m = b->m;

    if (m->view != VIEW_ALL && !state_available(vertex_at(m->g, v)->state))
        return IGNORED;
    if (m->view == VIEW_NOW && !vertex_unused(m->g, v))
        return IGNORED;
    if (!is_unused(m, v))
        return BUSY;
    return is_large(b, v) ? FITS : SMALL;
}

/* Counts a tested vertex, and takes v where v fits. */
static void look_at(struct bulk *b, weir_vertex v, enum verdict verdict)
{
    struct match *m = b->m;

    if (verdict == IGNORED)
        return;
    m->stats.visited++;
    if (verdict == FITS) {
        m->notes[m->npicks] = (struct pick_note){WEIR_NONE, 0, false};
        m->picks[m->npicks++] = (weir_pick){v, b->r->index, 1, true};
        b->have++;
        return;
    }
    b->wasted++;
    *(verdict == BUSY ? &m->stats.busy : &m->stats.pruned) += 1;
}

static bool is_over(const struct bulk *b)
{
    uint64_t most = b->m->view == VIEW_NOW ? (uint64_t)b->want * BULK_WASTE_EACH + BULK_WASTE : UINT64_MAX;

    return b->have == b->want || b->wasted > most || weir_interrupted();
}

/* ---- from a occupancy ---- */

/* Whether v can serve at any time. A useless vertex is refused for the rest of the match. */
static bool is_useful(struct bulk *b, weir_vertex v)
{
    const weir_graph *g = b->m->g;
    bool up = state_available(vertex_at(g, v)->state);

    for (weir_vertex u = vertex_at(g, v)->parent; up && u != WEIR_NONE && u != b->open; u = vertex_at(g, u)->parent)
        up = state_available(vertex_at(g, u)->state);
    if (up && (b->m->view == VIEW_NOW || is_large(b, v)))
        return true;
    b->m->stats.state += !up;
    b->m->stats.visited++;
    b->wasted++;
    if (!up || b->m->single_resource)
        weir_occupancy_refuse(g, b->m->occupancy, v);
    return false;
}

static int take_free(struct bulk *b, struct index *x)
{
    struct free_list l;
    weir_vertex v;

    if (weir_free_list_begin(&l, b->m->g, x, b->m->occupancy))
        return weir_fail_nomem(b->m->err);
    while (!is_over(b) && (v = weir_free_list_next(&l)) != WEIR_NONE)
        if (is_useful(b, v) && is_open_above(b, v))
            look_at(b, v, judge(b, v));
    return WEIR_OK;
}

/* ---- row by row ---- */

/* Whether the aggregates of a row allow a vertex with the needs. */
static bool row_bound_ok(const struct bulk *b, const struct schema *s, const int64_t *cells)
{
    bool now = b->m->view == VIEW_NOW;
    uint32_t cell = type_cell(s, b->type);

    if (!cell || cells[cell + (now ? TYPE_IDLE : TYPE_TOTAL)] == 0)
        return false;
    for (uint32_t i = 0; i < b->nneeds; i++) {
        uint32_t pair = weir_pair_cell(s, b->type, b->needs[i].type);
        if (pair && cells[pair + (now ? PAIR_FREE : PAIR_TOTAL)] < b->needs[i].amount)
            return false;
    }
    return true;
}

static void sweep_row(struct bulk *b, weir_vertex v, const struct levels *lv, uint32_t l, uint32_t r);

/* Sweeps the children of v, a vertex of another type. */
static void sweep_below(struct bulk *b, weir_vertex v)
{
    const weir_graph *g = b->m->g;
    const struct inner *in = inner_of(g, v);
    struct levels lv;

    if (!in || !in->cells || !row_bound_ok(b, schema_at(g, in->schema), in->cells) || !is_open(b->m, v))
        return;
    weir_levels_of(in->rows_cap, &lv);
    sweep_row(b, v, &lv, 0, 0);
}

/* Whether two vertices get the same verdict: leaves of equal kind and state with a common schedule, or without any. */
static bool is_alike(const struct vertex *a, const struct vertex *b)
{
    return a->schedule == b->schedule && a->kind == b->kind && a->state == b->state && a->inner == WEIR_NONE &&
           b->inner == WEIR_NONE;
}

static void sweep_kids(struct bulk *b, const weir_vertex *kids, uint32_t n)
{
    const weir_graph *g = b->m->g;
    const struct vertex *last = NULL;
    enum verdict verdict = IGNORED;

    for (uint32_t i = 0; i < n && !is_over(b); i++) {
        weir_vertex v = kids[b->backward ? n - 1 - i : i];
        if (v == WEIR_NONE)
            continue;
        if (kind_of(g, v)->type != b->type) {
            sweep_below(b, v);
            continue;
        }
        if (!last || !is_alike(last, vertex_at(g, v)))
            verdict = judge(b, v);
        last = vertex_at(g, v);
        look_at(b, v, verdict);
    }
}

/* Sweeps a row. The recursion is as deep as the tree and the levels of its rows. */
static void sweep_row(struct bulk *b, weir_vertex v, const struct levels *lv, uint32_t l, uint32_t r)
{
    const weir_graph *g = b->m->g;
    const struct inner *in = inner_of(g, v);
    uint32_t begin, end;

    b->m->stats.visited++;
    if (weir_row_entries(in, lv, l, r, &begin, &end)) {
        sweep_kids(b, in->kids + begin, end - begin);
        return;
    }
    for (uint32_t i = begin; i < end && !is_over(b); i++) {
        uint32_t at = b->backward ? begin + end - 1 - i : i;
        if (row_bound_ok(b, schema_at(g, in->schema), row_cells(g, in, at)))
            sweep_row(b, v, lv, l == 0 ? lv->n : l - 1, at);
    }
}

static void sweep_under(struct bulk *b, weir_vertex under)
{
    const weir_graph *g = b->m->g;
    const struct inner *in = under == WEIR_NONE ? NULL : inner_of(g, under);
    struct levels lv;

    if (under == WEIR_NONE)
        sweep_kids(b, g->roots, g->nroots);
    if (!in || !in->cells)
        return;
    weir_levels_of(in->rows_cap, &lv);
    sweep_row(b, under, &lv, 0, 0);
}

/* ---- both ---- */

static int take(struct bulk *b, weir_vertex under)
{
    struct match *m = b->m;
    bool by_occupancy = m->has_busy_mask && under == WEIR_NONE;
    struct index *x = NULL;
    int rc = WEIR_OK;

    if (m->view == VIEW_NOW && m->policy->keys) /* keys are not computed for one more index */
        return WEIR_OK;
    if (m->view != VIEW_ALL)
        rc = weir_match_index(m, true, b->type, INDEX_ANY, &x);
    if (rc)
        return rc;
    if ((x && weir_index_list(m->g, x)) ||
        weir_array_reserve(&m->picks, &m->picks_cap, (size_t)m->npicks + b->want, sizeof *m->picks) ||
        weir_array_reserve(&m->notes, &m->notes_cap, (size_t)m->npicks + b->want, sizeof *m->notes))
        return weir_fail_nomem(m->err);
    b->backward = x && x->straight < 0;
    if (x && by_occupancy)
        return take_free(b, x);
    if (!x || x->straight != 0)
        sweep_under(b, under);
    return WEIR_OK;
}

int weir_allocate_bulk(struct match *m, weir_vertex under, const weir_resource *r, int64_t want)
{
    struct bulk b = {.m = m, .r = r, .type = weir_match_type(m, r), .open = WEIR_NONE};
    uint32_t npicks = m->npicks;
    int rc;

    if (!applies(m, r, want) || !read_needs(&b))
        return 0;
    b.want = (uint32_t)want;
    rc = take(&b, under);
    if (!rc && b.have == b.want)
        return 1;
    m->npicks = npicks;
    return rc;
}
