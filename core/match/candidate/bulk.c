/* bulk.c - takes many whole vertices of a type at once. Where the order of the policy is that of the tree,
 * vertices are found row by row; where an occupancy knows the free vertices, in the order of its bits: without a heap,
 * each visited once. Invariant: a search would have taken exactly the same vertices, in the same order.
 */
#include "time/schedule.h"
#include "match/match.h"
#include "aggregate/rows.h"
#include "time/availability.h"

#define BULK_MIN 16 /* vertices; fewer are left to a search */
/* In VIEW_NOW, vertices tested in vain before a search takes over, as a search knows nogoods: BULK_WASTE, and
 * BULK_WASTE_EACH for each vertex requested. A vertex like the one before needs no test, and counts as a part of one.
 */
#define BULK_WASTE      1024
#define BULK_WASTE_EACH 16
#define BULK_ALIKE      64

struct bulk {
    struct match *m;
    struct search search; /* prepared, for the tests of rows and vertices, and for the free list */
    uint32_t want, have;
    uint64_t wasted; /* in parts of a test, BULK_ALIKE each */
    bool backward;   /* the tree is traversed from its end */
};

/* ---- what it is for ---- */

static bool policy_interferes(struct match *m, const weir_resource *r)
{
    const weir_policy *p = m->ask.policy;

    for (uint32_t i = 0; i < p->nexclusive; i++)
        if (weir_match_type_named(m, p->exclusive[i]) != weir_match_type(m, r))
            return true;
    if (p->prune || (p->turn && view_ordered(m)) || match_scored(m) || p->ndescend > 0)
        return true;
    if (m->scope.probing || !match_chooses(m))
        return false;
    return !p->choice || p->choice->kind != WEIR_CHOOSE_BESIDE || weir_choice_matters(m, WEIR_NONE, r, WEIR_FOREVER);
}

/* Whether each vertex can be tested without regard to all others taken. */
static bool applies(struct match *m, const weir_resource *r, int64_t want)
{
    weir_type t = weir_match_type(m, r);

    if (want < BULK_MIN || want > UINT32_MAX || m->scope.view == VIEW_CAPACITY || match_has_fits(m))
        return false;
    if (t == WEIR_NO_TYPE || (m->g->types[t].flags & TYPE_POOLED) || m->g->whole_kinds || weir_type_above(m->g, t, t))
        return false;
    if (m->known.masked && m->known.occupancy->type != t)
        return false;
    if (!(r->takes || r->exclusive == WEIR_EXCLUSIVE_YES) || r->unit[0] ||
        (r->nwith > 0 && !weir_candidate_by_aggregates(m, r)))
        return false;
    return !policy_interferes(m, r) && m->scope.conflicts_from == WEIR_NONE && m->ask.links == WEIR_NONE &&
           m->ask.options->strict == 0 && !m->ask.options->trace && !m->ask.options->inside &&
           (m->g->nsubsystems == 1 || r->nwith == 0) && !weir_request_constraint(m->ask.request);
}

/* ---- one vertex ---- */

enum bulk_verdict { IGNORED, BUSY, SMALL, FITS };

static inline enum bulk_verdict judge(struct bulk *b, weir_vertex v)
{
    const struct match *m = b->m;

    if (m->scope.view != VIEW_ALL) {
        if (!state_available(vertex_at(m->g, v)->state) || (m->scope.view == VIEW_NOW && !vertex_unused(m->g, v)))
            return IGNORED;
        if (!weir_candidate_unused(m, v))
            return BUSY;
    }
    return weir_search_vertex_ok(&b->search, v) ? FITS : SMALL;
}

/* Takes v where v fits, and counts the refusals. `waste`: the cost of the verdict, in parts of a test. */
static inline void look_at(struct bulk *b, weir_vertex v, enum bulk_verdict verdict, uint32_t waste)
{
    struct match *m = b->m;

    if (verdict == IGNORED)
        return;
    if (verdict == FITS) {
        m->progress.details[m->scope.npicks] = (struct pick_detail){.endpoint = WEIR_NONE};
        m->progress.picks[m->scope.npicks++] = (weir_pick){v, b->search.r->index, 1, true};
        b->have++;
        return;
    }
    b->wasted += waste;
    *(verdict == BUSY ? &m->result.stats.busy : &m->result.stats.pruned) += 1;
}

static bool is_complete(const struct bulk *b)
{
    uint64_t most =
        b->m->scope.view == VIEW_NOW ? ((uint64_t)b->want * BULK_WASTE_EACH + BULK_WASTE) * BULK_ALIKE : UINT64_MAX;

    return b->have == b->want || b->wasted > most;
}

static bool is_over(const struct bulk *b)
{
    return is_complete(b) || weir_interrupted();
}

/* ---- from an occupancy ---- */

static int take_free(struct bulk *b, struct index *x)
{
    weir_vertex v;
    int rc = 1;

    if (weir_free_list_begin(&b->search.free_list, b->m->g, x, b->m->known.occupancy))
        return weir_fail_nomem(b->m->err);
    while (!is_complete(b) && (rc = weir_search_next_free(&b->search, &v)) > 0)
        look_at(b, v, judge(b, v), BULK_ALIKE);
    return rc < 0 ? rc : WEIR_OK;
}

/* ---- row by row ---- */

static void sweep_row(struct bulk *b, weir_vertex v, const struct levels *lv, uint32_t l, uint32_t r);

/* Sweeps the children of v, a vertex of another type. */
static void sweep_below(struct bulk *b, weir_vertex v)
{
    const weir_graph *g = b->m->g;
    const struct inner *in = inner_of(g, v);
    struct levels lv;

    if (!in || !in->cells || !weir_search_row_ok(&b->search, schema_at(g, in->schema), in->cells) ||
        weir_search_admit(&b->search, v) != 1)
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
    enum bulk_verdict verdict = IGNORED;

    for (uint32_t i = 0; i < n && !is_over(b); i++) {
        weir_vertex v = kids[b->backward ? n - 1 - i : i];
        if (v == WEIR_NONE)
            continue;
        if (kind_of(g, v)->type != b->search.type) {
            sweep_below(b, v);
            continue;
        }
        bool alike = last && is_alike(last, vertex_at(g, v));
        if (!alike)
            verdict = judge(b, v);
        last = vertex_at(g, v);
        b->m->result.stats.visited += verdict != IGNORED;
        look_at(b, v, verdict, alike ? 1 : BULK_ALIKE);
    }
}

/* Sweeps a row. The recursion is as deep as the tree and the levels of its rows. */
static void sweep_row(struct bulk *b, weir_vertex v, const struct levels *lv, uint32_t l, uint32_t r)
{
    const weir_graph *g = b->m->g;
    const struct inner *in = inner_of(g, v);
    uint32_t begin, end;

    b->m->result.stats.visited++;
    if (weir_row_entries(in, lv, l, r, &begin, &end)) {
        sweep_kids(b, in->kids + begin, end - begin);
        return;
    }
    for (uint32_t i = begin; i < end && !is_over(b); i++) {
        uint32_t at = b->backward ? begin + end - 1 - i : i;
        if (weir_search_row_ok(&b->search, schema_at(g, in->schema), row_cells(g, in, at)))
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
    bool by_occupancy = m->known.masked && under == WEIR_NONE;
    struct index *x = NULL;
    int rc = WEIR_OK;

    if (m->scope.view == VIEW_NOW && m->ask.policy->keys) /* keys are not computed for one more index */
        return WEIR_OK;
    if (m->scope.view != VIEW_ALL)
        rc = weir_match_index(m, true, NULL, b->search.type, INDEX_ANY, &x);
    if (rc)
        return rc;
    if ((x && weir_index_list(m->g, x)) ||
        weir_array_reserve(&m->progress.picks, &m->progress.picks_cap, (size_t)m->scope.npicks + b->want,
                           sizeof *m->progress.picks) ||
        weir_array_reserve(&m->progress.details, &m->progress.details_cap, (size_t)m->scope.npicks + b->want,
                           sizeof *m->progress.details))
        return weir_fail_nomem(m->err);
    b->backward = x && x->straight < 0;
    if (x && by_occupancy)
        return take_free(b, x);
    if (!x || x->straight != 0)
        sweep_under(b, under);
    return WEIR_OK;
}

int weir_bulk_take(struct match *m, weir_vertex under, const weir_resource *r, int64_t want)
{
    struct bulk b = {.m = m};
    struct scope mark = scope_mark(m);
    int rc;

    if (!applies(m, r, want))
        return 0;
    weir_search_prepare(&b.search, m, r, r, true);
    b.want = (uint32_t)want;
    rc = take(&b, under);
    if (!rc && b.have == b.want)
        return 1;
    scope_undo(m, &mark);
    return rc;
}
