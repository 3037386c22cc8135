/* elsewhere.c - the matches of weir.h: in containment as match.c makes them, or in another hierarchy. Such a match is
 * made in the view of the hierarchy (hierarchy/hierarchy.h); what it finds is then booked in the graph.
 * Invariant: only the graph keeps jobs. A view has the job of a match until the match ends, and follows the graph
 * after that. */
#include <inttypes.h>
#include <string.h>

#include "hierarchy/hierarchy.h"
#include "job/job.h"
#include "match/match.h"

/* A match elsewhere. */
struct errand {
    weir_graph *g;
    struct hierarchy *h;
    weir_match_options o;   /* of the match in the view */
    weir_policy policy;     /* of the match in the view */
    const weir_policy *own; /* of the caller */
    weir_err *err;
};

/* Whether o->subsystem names a hierarchy other than the tree of g. */
static bool is_elsewhere(const weir_graph *g, const weir_match_options *o)
{
    return o->subsystem && weir_subsystem_find(g, o->subsystem) != 0;
}

static int begin(struct errand *e, weir_graph *g, const weir_match_options *o, weir_err *err)
{
    static const weir_policy first_found = {.name = "first"};

    *e = (struct errand){.g = g, .o = *o, .own = o->policy ? o->policy : &first_found, .err = err};
    e->policy = *e->own;
    e->policy.placed = NULL; /* told when the graph gives the resources */
    e->o.policy = &e->policy;
    e->o.subsystem = NULL;
    e->o.stage = 0;
    e->o.unlocked = false;
    return weir_hierarchy_find(g, o->subsystem, &e->h, err);
}

/* Replaces the picks of a preview by those of the graph. */
static int give_preview(const struct errand *e, const weir_allocation *a, const weir_allocation **out)
{
    weir_allocation *own = (weir_allocation *)(uintptr_t)a;
    struct pick_list picks = {0};

    if (weir_hierarchy_expand(e->g, e->h, a->picks, a->npicks, &picks)) {
        weir_mem_free(picks.list);
        weir_allocation_free(a);
        return weir_fail_nomem(e->err);
    }
    weir_mem_free((void *)(uintptr_t)a->picks);
    own->picks = picks.list;
    own->npicks = picks.n;
    *out = own;
    return WEIR_OK;
}

/* Takes the flows of job i of the view, from number `from` on, and drops the job. */
static int take_flows(const struct errand *e, uint32_t i, uint32_t from, struct job *found)
{
    struct job *j = &e->h->view->jobs->list[i];
    uint32_t n = j->nflows - from;

    found->flows = n ? weir_mem_alloc(n * sizeof *found->flows) : NULL;
    if (found->flows)
        memcpy(found->flows, j->flows + from, n * sizeof *found->flows);
    found->nflows = found->flows ? n : 0;
    weir_job_drop(e->h->view, i);
    return n && !found->flows ? WEIR_ENOMEM : WEIR_OK;
}

/* Books in the graph what the view has given to a job. */
static int carry(const struct errand *e, const weir_request *r, const weir_match_options *o, const weir_allocation *a,
                 const weir_allocation **out)
{
    struct pick_list picks = {0};
    struct job found = {.a = {.start = a->start, .end = a->end, .nslots = a->nslots}};
    int rc = weir_hierarchy_expand(e->g, e->h, a->picks, a->npicks, &picks);

    rc = take_flows(e, weir_job_index(e->h->view, a->job), 0, &found) ? WEIR_ENOMEM : rc;
    found.a.picks = found.picks = picks.list;
    found.a.npicks = picks.n;
    rc = rc ? weir_fail_nomem(e->err) : weir_match_book(e->g, r, o, e->own, &found, out, e->err);
    weir_mem_free(picks.list);
    weir_mem_free(found.flows);
    return rc;
}

static int match_elsewhere(weir_graph *g, const weir_request *r, const weir_match_options *o,
                           const weir_allocation **out, weir_err *err)
{
    struct errand e;
    const weir_allocation *a;
    int rc = begin(&e, g, o, err);

    if (rc)
        return rc;
    e.o.job = o->job ? o->job : weir_job_next_id(g);
    rc = weir_match_here(e.h->view, r, &e.o, &a, err);
    if (rc || o->mode == WEIR_FEASIBLE)
        return rc;
    return o->mode == WEIR_PREVIEW ? give_preview(&e, a, out) : carry(&e, r, o, a, out);
}

static void clear_nested(const weir_match_options *o)
{
    if (o->inside) {
        *o->inside = NULL;
        *o->ninside = 0;
    }
}

int weir_match(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
               weir_err *err)
{
    weir_err own = {0};
    int rc;

    if (!is_elsewhere(g, o))
        return weir_match_here(g, r, o, out, err);
    *out = NULL;
    clear_nested(o);
    rc = weir_match_check(g, o, err);
    return rc ? rc : match_elsewhere(g, r, o, out, err ? err : &own);
}

/* ---- growing ---- */

/* The picks that job `now` of the view has and had not before. */
static int added_picks(const weir_allocation *now, const struct pick_list *before, struct pick_list *more)
{
    struct weir_map32 had = {0};
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < before->n; i++)
        rc = weir_map32_add(&had, before->list[i].vertex, i);
    for (uint32_t i = 0; !rc && i < now->npicks; i++) {
        weir_pick p = now->picks[i];
        uint32_t at = weir_map32_get(&had, p.vertex);
        p.amount -= at == WEIR_NONE ? 0 : before->list[at].amount;
        if (at != WEIR_NONE && p.amount <= 0)
            continue;
        rc = weir_array_reserve(&more->list, &more->cap, (size_t)more->n + 1, sizeof *more->list);
        if (!rc)
            more->list[more->n++] = p;
    }
    weir_map32_free(&had);
    return rc;
}

/* The picks of a job of the view, in memory of their own. */
static int keep_picks(const weir_allocation *a, struct pick_list *out)
{
    if (weir_array_reserve(&out->list, &out->cap, (size_t)a->npicks + 1, sizeof *out->list))
        return WEIR_ENOMEM;
    if (a->npicks)
        memcpy(out->list, a->picks, a->npicks * sizeof *out->list);
    out->n = a->npicks;
    return WEIR_OK;
}

/* Adds to the job of the graph what the view has added to its own. */
static int carry_more(const struct errand *e, int64_t job, const struct pick_list *before, uint32_t nflows)
{
    weir_graph *view = e->h->view;
    uint32_t i = weir_job_index(view, job), k = weir_job_index(e->g, job);
    uint32_t slots = view->jobs->list[i].a.nslots, *had = &e->g->jobs->list[k].a.nslots;
    struct pick_list more = {0}, picks = {0};
    struct job found = {0};
    int rc = added_picks(&view->jobs->list[i].a, before, &more);

    rc = rc ? rc : weir_hierarchy_expand(e->g, e->h, more.list, more.n, &picks);
    rc = take_flows(e, i, nflows, &found) ? WEIR_ENOMEM : rc;
    note_job(e->g, job); /* the view copies the job again */
    rc = rc ? weir_fail_nomem(e->err)
            : weir_match_tell_grown(e->own, e->g, &e->g->jobs->list[k].a, picks.list, picks.n, e->err);
    if (!rc && weir_job_extend(e->g, k, picks.list, picks.n, found.flows, found.nflows))
        rc = weir_fail_nomem(e->err);
    if (!rc)
        *had = slots < UINT32_MAX - *had ? *had + slots : UINT32_MAX;
    weir_mem_free(more.list);
    weir_mem_free(picks.list);
    weir_mem_free(found.flows);
    return rc;
}

static int grow_elsewhere(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                          const weir_allocation **out, weir_err *err)
{
    struct errand e;
    struct pick_list before = {0};
    uint32_t i, nflows;
    int rc = begin(&e, g, o, err);

    if (rc)
        return rc;
    i = weir_job_index(e.h->view, job);
    if (i == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job);
    nflows = e.h->view->jobs->list[i].nflows;
    rc = keep_picks(&e.h->view->jobs->list[i].a, &before) ? weir_fail_nomem(err) : WEIR_OK;
    rc = rc ? rc : weir_grow_here(e.h->view, job, r, &e.o, NULL, err);
    rc = rc ? rc : carry_more(&e, job, &before, nflows);
    weir_mem_free(before.list);
    if (!rc && out)
        *out = weir_job_get(g, job);
    return rc;
}

int weir_job_grow(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                  const weir_allocation **out, weir_err *err)
{
    weir_err own = {0};

    if (!is_elsewhere(g, o))
        return weir_grow_here(g, job, r, o, out, err);
    if (out)
        *out = NULL;
    clear_nested(o);
    return grow_elsewhere(g, job, r, o, out, err ? err : &own);
}
