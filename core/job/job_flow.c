/* job_flow.c - gives back units of a distribution unit, used by a job for the flow to a vertex, on all ways through the
 * unit to the vertex. Invariant: steps that can fail come before any change. */
#include "job/job.h"

#include <string.h>

#include "flow/flow.h"
#include "time/schedule.h"
#include "time/usage_totals.h"

/* The uses of a job, some of which become smaller. */
struct trim {
    weir_graph *g;
    struct flow_use *uses;
    uint32_t n;
    weir_vertex endpoint, unit; /* of the flow to be made smaller */
    int64_t less;               /* units to be given back by `unit` */
};

/* Units that a unit passes on for the vertex. */
static int64_t capacity_of(void *context, weir_vertex v)
{
    const struct trim *t = context;
    int64_t n = v == t->unit ? -t->less : 0;

    for (uint32_t i = 0; i < t->n; i++)
        n += t->uses[i].endpoint == t->endpoint && t->uses[i].unit == v ? t->uses[i].amount : 0;
    return n > 0 ? n : 0;
}

/* The most that reaches the vertex over the units of a subsystem as they are, at most `want`, and the shares. */
static int most(struct trim *t, const struct flow_layout *l, int64_t want, int64_t *got, struct flow_share **shares,
                uint32_t *n)
{
    struct flow_network *w = weir_flow_network_new(t->g, l, WEIR_NONE, capacity_of, t);
    int rc = w ? weir_flow_serve(w, t->endpoint, want, true, got) : WEIR_ENOMEM;

    rc = rc ? rc : weir_flow_shares(w, shares, n);
    weir_flow_network_free(w);
    return rc;
}

/* Sets the uses of the vertex to the shares of a smaller flow; the unit itself gives back exactly the units requested,
 * even if the smaller flow needs fewer of the unit. */
static void use_shares(struct trim *t, const struct flow_layout *l, const struct flow_share *shares, uint32_t n)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct flow_use *u = &t->uses[i];
        if (u->endpoint != t->endpoint || weir_map32_get(&l->numbers, u->unit) == WEIR_NONE)
            continue;
        if (u->unit == t->unit) {
            u->amount -= t->less;
            continue;
        }
        u->amount = 0;
        for (uint32_t k = 0; k < n; k++)
            u->amount += shares[k].unit == u->unit ? shares[k].amount : 0;
    }
}

/* Makes the flow to the vertex smaller, in the subsystem of the flow. */
static int trim_flow(struct trim *t, int64_t less)
{
    for (uint32_t s = 1; s < t->g->nsubsystems; s++) {
        const struct flow_layout *l = weir_flow_layout(t->g, s);
        struct flow_share *shares = NULL;
        uint32_t n = 0;
        int64_t had = 0, left = 0;
        int rc = l ? WEIR_OK : WEIR_ENOMEM;
        if (l && weir_map32_get(&l->numbers, t->unit) == WEIR_NONE)
            continue;
        t->less = 0;
        rc = rc ? rc : most(t, l, INT64_MAX, &had, &shares, &n);
        weir_mem_free(shares);
        shares = NULL;
        if (rc || had < less) {
            if (rc)
                return rc;
            continue;
        }
        t->less = less;
        rc = most(t, l, had - less, &left, &shares, &n);
        if (!rc)
            use_shares(t, l, shares, n);
        weir_mem_free(shares);
        return rc;
    }
    for (uint32_t i = 0; i < t->n; i++) /* the edges have gone since */
        if (t->uses[i].endpoint == t->endpoint && t->uses[i].unit == t->unit)
            t->uses[i].amount -= less;
    return WEIR_OK;
}

static int64_t sum_of(const struct flow_use *uses, uint32_t n, weir_vertex unit)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += uses[i].unit == unit ? uses[i].amount : 0;
    return sum;
}

/* The remaining units of a pick. */
static int64_t left_of(const struct trim *t, const struct job *j, const weir_pick *p, int64_t direct)
{
    return p->amount - sum_of(j->flows, j->nflows, p->vertex) + sum_of(t->uses, t->n, p->vertex) -
           (p->vertex == t->unit ? direct : 0);
}

/* Reserves the memory for settle(). */
static int get_ready(const struct trim *t, uint32_t job, int64_t direct)
{
    const struct job *j = &jobs_in(t->g)->list[job];

    for (uint32_t i = 0; i < j->a.npicks; i++) {
        int64_t left = left_of(t, j, &j->picks[i], direct);
        if (left > 0 && left < j->picks[i].amount && weir_schedule_ready(t->g, j->picks[i].vertex))
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

/* Gives back the units by which the uses have become smaller, and `direct` units of the unit. Cannot fail. */
static void settle(const struct trim *t, uint32_t job, int64_t direct)
{
    struct job *j = &jobs_in(t->g)->list[job];
    uint32_t kept = 0;

    weir_usage_remove(t->g, job);
    for (uint32_t i = j->a.npicks; i-- > 0;) {
        weir_pick *p = &j->picks[i];
        int64_t left = left_of(t, j, p, direct);
        if (left == p->amount)
            continue;
        if (left > 0) {
            int rc = weir_pick_resize(t->g, job, p, left);
            (void)rc; /* get_ready() has been called */
            continue;
        }
        weir_span_remove(t->g, job, p->vertex);
        memmove(p, p + 1, (size_t)(j->picks + j->a.npicks - p - 1) * sizeof *p);
        j->a.npicks--;
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->uses[i].amount > 0)
            j->flows[kept++] = t->uses[i];
    j->nflows = kept;
    weir_usage_keep(t->g, job);
}

bool weir_job_has_flow(const struct job *j, weir_vertex unit)
{
    return sum_of(j->flows, j->nflows, unit) > 0;
}

int weir_job_flow_release(weir_graph *g, uint32_t job, weir_vertex unit, int64_t amount)
{
    struct job *j = &jobs_in(g)->list[job];
    struct trim t = {.g = g, .n = j->nflows, .unit = unit};
    int64_t had = weir_job_pick(j, unit)->amount - sum_of(j->flows, j->nflows, unit);
    int64_t direct = amount < had ? amount : had, left = amount - direct;
    int rc = WEIR_OK;

    t.uses = weir_mem_alloc((size_t)t.n * sizeof *t.uses);
    if (!t.uses)
        return WEIR_ENOMEM;
    memcpy(t.uses, j->flows, t.n * sizeof *t.uses);
    for (uint32_t i = t.n; !rc && left > 0 && i-- > 0;) {
        int64_t less = t.uses[i].amount < left ? t.uses[i].amount : left;
        if (t.uses[i].unit != unit || less == 0)
            continue;
        t.endpoint = t.uses[i].endpoint;
        rc = trim_flow(&t, less);
        left -= less;
    }
    rc = rc ? rc : get_ready(&t, job, direct);
    if (!rc)
        settle(&t, job, direct);
    weir_mem_free(t.uses);
    if (!rc && jobs_in(g)->list[job].a.npicks == 0)
        weir_job_drop(g, job);
    return rc;
}
