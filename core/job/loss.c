/* loss.c - see loss.h. Invariant: reads only; a pick has a loss exactly where weir_pick_free() or the state says no. */
#include "job/loss.h"

#include <inttypes.h>

#include "aggregate/rows.h"
#include "time/availability.h"
#include "time/schedule.h"

bool weir_pick_free(const weir_graph *g, const weir_pick *p, int64_t t0, int64_t t1, weir_vertex *open)
{
    bool known = *open != WEIR_NONE && vertex_at(g, *open)->parent == vertex_at(g, p->vertex)->parent;

    if ((!known && !weir_availability_above(g, p->vertex, t0, t1)) ||
        p->amount > weir_availability_free(g, p->vertex, t0, t1))
        return false;
    *open = p->vertex;
    if (p->exclusive)
        return weir_availability_unused(g, p->vertex, t0, t1);
    return !(schedule_of(g, p->vertex) && weir_schedule_touched(g, p->vertex, t0, t1, true));
}

struct finding {
    const weir_graph *g;
    int64_t t0, t1;
    uint32_t pick;
    weir_vertex vertex; /* of the pick */
    weir_losses found;
    uint32_t cap;
    bool failed;
};

static void add(struct finding *l, const weir_loss *x)
{
    if (l->failed || weir_array_reserve(&l->found.list, &l->cap, (size_t)l->found.n + 1, sizeof *l->found.list))
        l->failed = true;
    else
        l->found.list[l->found.n++] = *x;
}

/* Adds the holders of v within the interval, or the exclusive holders only. */
static void add_holders(struct finding *l, weir_vertex v, bool exclusive_only)
{
    weir_use u;

    for (uint32_t i = 0; weir_vertex_use(l->g, v, i, &u); i++) {
        bool over = (u.start < l->t1 && u.end > l->t0) || (u.active && l->t0 <= l->g->now);
        if (over && (u.exclusive || !exclusive_only))
            add(l, &(weir_loss){l->pick, l->vertex, v, u.job, u.start, u.end, u.amount, u.exclusive});
    }
}

static void add_below(struct finding *l, weir_vertex v)
{
    const struct inner *in = inner_of(l->g, v);

    if (!in || !in->cells || (in->cells[CELL_ACTIVE] == 0 && in->cells[CELL_SOON] == 0))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE) {
            add_holders(l, in->kids[i], false);
            add_below(l, in->kids[i]);
        }
}

static void add_losses(struct finding *l, const weir_pick *p)
{
    bool short_of = p->amount > weir_availability_free(l->g, p->vertex, l->t0, l->t1);

    for (weir_vertex up = vertex_at(l->g, p->vertex)->parent; up != WEIR_NONE; up = vertex_at(l->g, up)->parent)
        add_holders(l, up, true);
    add_holders(l, p->vertex, !p->exclusive && !short_of);
    if (p->exclusive)
        add_below(l, p->vertex);
}

/* Whether v and all ancestors are in containment and up. */
static bool is_available(const weir_graph *g, weir_vertex v)
{
    if (v == WEIR_NONE || !vertex_valid(g, v) || vertex_detached(g, v))
        return false;
    while (v != WEIR_NONE && state_available(vertex_at(g, v)->state))
        v = vertex_at(g, v)->parent;
    return v == WEIR_NONE;
}

/* Whether a pick is of all units where it is exclusive, else of a part: the pool may have changed since the match. */
static bool suits_pool(const weir_graph *g, const weir_pick *p)
{
    const struct kind *k = kind_of(g, p->vertex);

    return p->exclusive ? p->amount == k->size : (p->amount < k->size || p->amount == 0) && !k->exclusive;
}

static int refuse(const struct finding *l, uint32_t picks, uint32_t n, weir_err *err)
{
    const weir_loss *first = &l->found.list[0];
    char path[200] = "a vertex that was removed";

    if (first->vertex != WEIR_NONE)
        weir_vertex_path(l->g, first->vertex, path, sizeof path);
    if (first->job == 0)
        return weir_fail(err, WEIR_EBUSY, "%" PRIu32 " of %" PRIu32 " resources cannot be had: %s is not available",
                         picks, n, path);
    return weir_fail(err, WEIR_EBUSY, "%" PRIu32 " of %" PRIu32 " resources cannot be had: %s %" PRId64 " has %s",
                     picks, n, first->job > 0 ? "job" : "stage", first->job > 0 ? first->job : -first->job, path);
}

int weir_booking_check(const weir_graph *g, const weir_booking *b, bool held, weir_losses *lost, weir_err *err)
{
    struct finding l = {.g = g, .t0 = b->start, .t1 = b->end};
    weir_vertex open = WEIR_NONE;
    uint32_t bad = 0;
    int rc = WEIR_OK;

    for (l.pick = 0; l.pick < b->npicks; l.pick++) {
        const weir_pick *p = &b->picks[l.pick];
        bool there = is_available(g, p->vertex) && (held || suits_pool(g, p));
        if (there && (held || weir_pick_free(g, p, b->start, b->end, &open)))
            continue;
        bad++;
        l.vertex = p->vertex;
        if (there)
            add_losses(&l, p);
        else
            add(&l, &(weir_loss){.pick = l.pick, .vertex = p->vertex, .at = p->vertex, .amount = p->amount});
    }
    if (bad > 0)
        rc = l.failed || l.found.n == 0 ? weir_fail_nomem(err) : refuse(&l, bad, b->npicks, err);
    if (rc == WEIR_EBUSY && lost)
        *lost = l.found;
    else
        weir_mem_free(l.found.list);
    return rc;
}
