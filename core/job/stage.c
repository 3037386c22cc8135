/* stage.c - see stage.h. A stage with locks is a record in the table of jobs, with spans like a job; a stage without
 * locks (a claim) is a record of its own, without spans. Invariant: numbers of stages are never given twice; no stage
 * outlives its expiry, nor the end of its interval. */
#include "job/stage.h"

#include <inttypes.h>
#include <string.h>

#include "job/job.h"
#include "job/loss.h"
#include "job/start_queue.h"

/* A stage without locks. */
struct claim {
    struct job j; /* picks and flows belong to the claim */
};

/* ---- making ---- */

static void note_expiry(struct jobs *all, int64_t expires)
{
    all->first_expiry = expires < all->first_expiry ? expires : all->first_expiry;
}

int weir_stage_make(weir_graph *g, const struct job *found, const weir_allocation **out, weir_err *err)
{
    const weir_allocation *a = &found->a;
    uint32_t i = 0;
    int rc = weir_stage_book(g, a->expires, &(weir_booking){0, a->start, a->end, a->picks, a->npicks}, &i, err);

    if (rc)
        return rc;
    if (weir_job_flow(g, i, found->flows, found->nflows)) {
        weir_job_drop(g, i);
        return weir_fail_nomem(err);
    }
    note_expiry(jobs_in(g), a->expires);
    jobs_in(g)->list[i].policy = found->policy;
    jobs_in(g)->list[i].a.nslots = a->nslots;
    *out = &jobs_in(g)->list[i].a;
    return WEIR_OK;
}

static void claim_clear(struct claim *c)
{
    WEIR_FREE(c->j.picks, c->j.flows);
}

static int claim_fill(struct claim *c, const struct job *found)
{
    c->j = (struct job){.a = found->a, .policy = found->policy, .nflows = found->nflows};
    c->j.picks = weir_mem_alloc(((size_t)found->a.npicks + 1) * sizeof *c->j.picks);
    c->j.flows = weir_mem_alloc(((size_t)found->nflows + 1) * sizeof *c->j.flows);
    if (!c->j.picks || !c->j.flows)
        return WEIR_ENOMEM;
    if (found->a.npicks)
        memcpy(c->j.picks, found->a.picks, found->a.npicks * sizeof *c->j.picks);
    if (found->nflows)
        memcpy(c->j.flows, found->flows, found->nflows * sizeof *c->j.flows);
    c->j.a.picks = c->j.picks;
    c->j.a.state = WEIR_CLAIMED;
    return WEIR_OK;
}

int weir_claim_make(weir_graph *g, const struct job *found, const weir_allocation **out, weir_err *err)
{
    struct claim c;
    struct jobs *all;

    if (weir_jobs_make(g) || weir_array_reserve(&jobs_in(g)->claims, &jobs_in(g)->claims_cap,
                                                (size_t)jobs_in(g)->nclaims + 1, sizeof *jobs_in(g)->claims))
        return weir_fail_nomem(err);
    if (claim_fill(&c, found)) {
        claim_clear(&c);
        return weir_fail_nomem(err);
    }
    all = jobs_in(g);
    c.j.a.job = -++all->last_stage;
    note_expiry(all, c.j.a.expires);
    all->claims[all->nclaims] = c;
    *out = &all->claims[all->nclaims++].j.a;
    return WEIR_OK;
}

/* ---- asking ---- */

static struct claim *claim_find(const weir_graph *g, int64_t stage)
{
    for (uint32_t i = 0; jobs_in(g) && i < jobs_in(g)->nclaims; i++)
        if (jobs_in(g)->claims[i].j.a.job == -stage)
            return &jobs_in(g)->claims[i];
    return NULL;
}

uint32_t weir_stage_count(const weir_graph *g)
{
    return jobs_in(g) ? jobs_in(g)->stages + jobs_in(g)->nclaims : 0;
}

const weir_allocation *weir_stage_at(const weir_graph *g, uint32_t i)
{
    const struct jobs *all = jobs_in(g);

    if (i >= weir_stage_count(g))
        return NULL;
    return i < all->stages ? &all->list[all->order[all->live - all->stages + i]].a : &all->claims[i - all->stages].j.a;
}

const weir_allocation *weir_stage_get(const weir_graph *g, int64_t stage)
{
    uint32_t i = weir_stage_index(g, stage);
    const struct claim *c = i == WEIR_NONE && stage > 0 ? claim_find(g, stage) : NULL;

    return i != WEIR_NONE ? &jobs_in(g)->list[i].a : c ? &c->j.a : NULL;
}

/* ---- dropping ---- */

static void claim_drop(struct jobs *all, struct claim *c)
{
    claim_clear(c);
    *c = all->claims[--all->nclaims];
}

int weir_stage_drop(weir_graph *g, int64_t stage, weir_err *err)
{
    uint32_t i = weir_stage_index(g, stage);
    struct claim *c = i == WEIR_NONE ? claim_find(g, stage) : NULL;
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (i != WEIR_NONE)
        weir_job_drop(g, i);
    else if (c)
        claim_drop(jobs_in(g), c);
    else
        return weir_fail(err, WEIR_ENOENT, "there is no stage %" PRId64, stage);
    return WEIR_OK;
}

uint32_t weir_stages_due(const weir_graph *g, int64_t now)
{
    return jobs_in(g) && now >= jobs_in(g)->first_expiry ? weir_stage_count(g) : 0;
}

static void add_event(struct jobs *all, const weir_allocation *a)
{
    uint32_t at = all->nevents++;

    for (; at > 0 && all->events[at - 1].time > a->expires; at--)
        all->events[at] = all->events[at - 1];
    all->events[at] = (weir_clock_event){a->job, a->expires, WEIR_CLOCK_UNSTAGE};
}

void weir_stages_expire(weir_graph *g)
{
    struct jobs *all = jobs_in(g);

    if (g->now < all->first_expiry)
        return;
    all->first_expiry = WEIR_FOREVER;
    for (uint32_t i = weir_stage_count(g); i-- > 0;) {
        const weir_allocation *a = weir_stage_at(g, i);
        if (a->expires > g->now) {
            note_expiry(all, a->expires);
            continue;
        }
        add_event(all, a);
        if (i < all->stages)
            weir_job_drop(g, all->order[all->live - all->stages + i]);
        else
            claim_drop(all, &all->claims[i - all->stages]);
    }
}

void weir_stages_drop_at(weir_graph *g, weir_vertex v)
{
    struct jobs *all = jobs_in(g);

    for (uint32_t i = all ? all->stages : 0; i-- > 0;) {
        uint32_t job = all->order[all->live - all->stages + i];
        const weir_allocation *a = &all->list[job].a;
        bool touches = false;
        for (uint32_t k = 0; k < a->npicks && !touches; k++)
            touches = weir_vertex_within(g, a->picks[k].vertex, v) ||
                      (a->picks[k].exclusive && weir_vertex_within(g, v, a->picks[k].vertex));
        if (touches)
            weir_job_drop(g, job);
    }
}

/* ---- following the graph ---- */

static int64_t earlier_by(int64_t t, int64_t back)
{
    return t == WEIR_FOREVER ? t : t > back ? t - back : 0;
}

void weir_stages_retimed(weir_graph *g, int64_t back)
{
    struct jobs *all = jobs_in(g);

    all->first_expiry = earlier_by(all->first_expiry, back);
    for (uint32_t i = 0; i < all->nclaims; i++) {
        weir_allocation *a = &all->claims[i].j.a;
        a->start = earlier_by(a->start, back);
        a->end = earlier_by(a->end, back);
        a->expires = earlier_by(a->expires, back);
    }
}

void weir_stages_reclaimed(weir_graph *g, weir_vertex v)
{
    for (uint32_t i = 0; i < jobs_in(g)->nclaims; i++) {
        struct job *j = &jobs_in(g)->claims[i].j;
        for (uint32_t k = 0; k < j->a.npicks; k++)
            if (j->picks[k].vertex == v)
                j->picks[k].vertex = WEIR_NONE;
    }
}

void weir_stages_free(struct jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->nclaims; i++)
        claim_clear(&jobs->claims[i]);
    weir_mem_free(jobs->claims);
}

/* ---- committing ---- */

static int commit_locked(weir_graph *g, uint32_t i, int64_t job, weir_losses *lost, weir_err *err)
{
    const weir_allocation *a = &jobs_in(g)->list[i].a;
    int64_t id = job ? job : weir_job_next_id(g);
    int rc = weir_booking_check(g, &(weir_booking){job, a->start, a->end, a->picks, a->npicks}, true, lost, err);

    if (rc)
        return rc;
    if (weir_stage_rename(g, i, id))
        return weir_fail_nomem(err);
    if (job == 0)
        weir_job_id_given(g);
    return WEIR_OK;
}

/* Books the resources of a claim. */
static int commit_claim(weir_graph *g, struct claim *c, int64_t job, uint32_t *i, weir_losses *lost, weir_err *err)
{
    const weir_allocation *a = &c->j.a;
    weir_booking b = {job, a->start > g->now ? a->start : g->now, a->end, a->picks, a->npicks};
    int rc = weir_booking_check(g, &b, false, lost, err);

    rc = rc ? rc : weir_job_commit(g, &b, i, err);
    if (rc)
        return rc;
    if (weir_job_flow(g, *i, c->j.flows, c->j.nflows)) {
        weir_job_drop(g, *i);
        return weir_fail_nomem(err);
    }
    jobs_in(g)->list[*i].policy = c->j.policy;
    jobs_in(g)->list[*i].a.nslots = a->nslots;
    claim_drop(jobs_in(g), c);
    return WEIR_OK;
}

int weir_stage_commit(weir_graph *g, int64_t stage, int64_t job, const weir_allocation **out, weir_losses *lost,
                      weir_err *err)
{
    uint32_t i = weir_stage_index(g, stage);
    struct claim *c = i == WEIR_NONE ? claim_find(g, stage) : NULL;
    int rc = weir_graph_writable(g, err);

    *out = NULL;
    if (lost)
        *lost = (weir_losses){0};
    if (rc)
        return rc;
    if (i == WEIR_NONE && !c)
        return weir_fail(err, WEIR_ENOENT, "there is no stage %" PRId64, stage);
    if (job < 0)
        return weir_fail(err, WEIR_EINVAL, "job id %" PRId64 " is negative", job);
    if (weir_job_index(g, job) != WEIR_NONE)
        return weir_fail(err, WEIR_EEXIST, "job %" PRId64 " is there already", job);
    rc = c ? commit_claim(g, c, job, &i, lost, err) : commit_locked(g, i, job, lost, err);
    if (!rc)
        *out = &jobs_in(g)->list[i].a;
    return rc;
}
