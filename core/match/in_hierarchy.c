/* in_hierarchy.c - matches of one alternative: in containment as match.c makes them, or in another hierarchy. Such a
 * match is made in the view of the hierarchy (hierarchy/hierarchy.h); what it finds is then booked in the graph.
 * Invariant: only the graph keeps jobs. A view has the job of a match until the match ends, and follows the graph
 * after that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/hierarchy.h"
#include "job/job.h"
#include "match/assign.h"
#include "match/match.h"
#include "time/availability.h"

/* A match in another hierarchy. */
struct in_hierarchy {
    weir_graph *g;
    struct hierarchy *h;
    weir_match_options o;   /* of the match in the view */
    weir_policy policy;     /* of the match in the view */
    const weir_policy *own; /* of the caller */
    weir_err *err;
};

/* Whether o->subsystem names a hierarchy other than the tree of g. */
static bool is_in_hierarchy(const weir_graph *g, const weir_match_options *o)
{
    return o->subsystem && weir_subsystem_find(g, o->subsystem) != 0;
}

static int begin(struct in_hierarchy *e, weir_graph *g, const weir_match_options *o, weir_err *err)
{
    static const weir_policy first_found = {.name = "first"};

    *e = (struct in_hierarchy){.g = g, .o = *o, .own = o->policy ? o->policy : &first_found, .err = err};
    e->policy = *e->own;
    e->policy.placed = NULL; /* notified when the graph gives the resources */
    e->o.policy = &e->policy;
    e->o.subsystem = NULL;
    e->o.stage = 0;
    e->o.unlocked = false;
    return weir_hierarchy_find(g, o->subsystem, &e->h, err);
}

/* Replaces the picks of a preview by those of the graph. */
static int give_preview(const struct in_hierarchy *e, const weir_allocation *a, const weir_allocation **out)
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
static int take_flows(const struct in_hierarchy *e, uint32_t i, uint32_t from, struct job *found)
{
    struct job *j = &jobs_in(e->h->view)->list[i];
    uint32_t n = j->nflows - from;

    found->flows = n ? weir_mem_alloc(n * sizeof *found->flows) : NULL;
    if (found->flows)
        memcpy(found->flows, j->flows + from, n * sizeof *found->flows);
    found->nflows = found->flows ? n : 0;
    weir_job_drop(e->h->view, i);
    return n && !found->flows ? WEIR_ENOMEM : WEIR_OK;
}

/* Books in the graph what the view has given to a job. */
static int book_result(const struct in_hierarchy *e, const weir_request *r, const weir_match_options *o,
                       const weir_allocation *a, const weir_allocation **out)
{
    struct pick_list picks = {0};
    struct job found = {.a = {.start = a->start, .end = a->end, .nslots = a->nslots}};
    int rc = weir_hierarchy_expand(e->g, e->h, a->picks, a->npicks, &picks);

    rc = take_flows(e, weir_job_index(e->h->view, a->job), 0, &found) ? WEIR_ENOMEM : rc;
    found.a.picks = found.picks = picks.list;
    found.a.npicks = picks.n;
    rc = rc ? weir_fail_nomem(e->err) : weir_match_book(e->g, r, o, e->own, &found, out, e->err);
    WEIR_FREE(picks.list, found.flows);
    return rc;
}

/* ---- shared vertices ---- */

enum {
    ASSIGN_TIMES = 64,           /* later starts at which shared vertices are assigned, at any cost */
    ASSIGN_LOOKS = 200000000,    /* vertices looked at for further ones */
    ASSIGN_MATCHES = 1000,       /* assignments tried for one start, */
    ASSIGN_MATCH_LOOKS = 4000000 /* and the vertices looked at for those behind the first */
};

static int undecided(const struct in_hierarchy *e)
{
    return weir_fail(e->err, WEIR_ELIMIT,
                     "vertices with several parents in the hierarchy '%.100s' can be assigned in too many ways "
                     "to decide whether the request fits",
                     e->h->name);
}

/* Whether this is more than the number of assignments tried for one start. */
static bool too_many(const struct in_hierarchy *e, uint32_t assignments)
{
    return assignments > ASSIGN_MATCHES || (uint64_t)assignments * e->g->limit > ASSIGN_MATCH_LOOKS;
}

/* Assigns parents to the shared vertices for a window. Returns 1 with *out, the view in which they are below the
 * parents chosen; 0: that serves nothing; or negative. *several: weir_assign_parents() */
static int assign(struct in_hierarchy *e, const weir_request *r, struct assign_window window, struct hierarchy **out,
                  bool *several)
{
    weir_vertex *choice;
    int rc;

    window.policy = e->own->prune || e->own->evaluate ? e->own : NULL;
    rc = weir_assign_parents(e->g, e->h, r, window, &choice, several);
    if (rc == WEIR_ELIMIT)
        return undecided(e);
    if (rc == WEIR_EPOLICY)
        return weir_fail(e->err, rc, "policy '%.100s' failed for a vertex with several parents", e->own->name);
    if (rc <= 0)
        return rc ? weir_fail_nomem(e->err) : 0;
    rc = weir_hierarchy_choose(e->g, e->h->name, choice, out, e->err);
    weir_mem_free(choice);
    return rc ? rc : 1;
}

/* Frees the nested picks of a match whose result is given up. */
static void drop_nested(const weir_match_options *o)
{
    if (o->inside)
        weir_mem_free(*o->inside);
    clear_nested(o);
}

/* Matches in a view in which shared vertices are assigned. Returns 1 with *a, and e->h the view; 0 or negative. */
static int match_in(struct in_hierarchy *e, const weir_request *r, struct assign_window window, struct hierarchy *h,
                    const weir_allocation **a)
{
    weir_match_options o = e->o;
    weir_err own = {0};
    int rc;

    o.mode = window.all ? WEIR_FEASIBLE : o.mode == WEIR_PREVIEW ? WEIR_PREVIEW : WEIR_NOW;
    o.at = window.all ? o.at : window.t0;
    rc = weir_match_here(h->view, r, &o, a, &own);
    if (rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE) {
        weir_err_clear(&own);
        return 0;
    }
    if (rc < 0 && e->err)
        *e->err = own;
    e->h = rc ? e->h : h;
    return rc ? rc : 1;
}

/* Matches with the shared vertices assigned for a start at t, or (`all`) for feasibility. Returns 1 with *a, and e->h
 * the view in which it was found; 0: that serves nothing; or negative. */
static int match_assigned(struct in_hierarchy *e, const weir_request *r, int64_t t, bool all, const weir_allocation **a)
{
    int64_t duration = e->o.duration ? e->o.duration : weir_request_duration(r);
    struct assign_window window = {t, time_add(t, duration), all, NULL, 0};
    struct hierarchy *h = NULL;
    bool several = true;
    int rc = 0, assigned = 1;

    for (; rc == 0 && assigned == 1 && several; window.skip++) {
        if (too_many(e, window.skip))
            return undecided(e);
        assigned = assign(e, r, window, &h, &several);
        rc = assigned == 1 ? match_in(e, r, window, h, a) : assigned;
    }
    return rc;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists `from` and the ends of jobs between the two times, each once. */
static int list_times(const weir_graph *view, int64_t from, int64_t to, int64_t **out, uint32_t *n)
{
    uint32_t all = live_jobs(view), kept = 0;
    int64_t *list = weir_mem_alloc(((size_t)all + 1) * sizeof *list);

    *out = list;
    if (!list)
        return WEIR_ENOMEM;
    list[0] = from;
    *n = 1;
    for (uint32_t i = 0; i < all; i++) {
        int64_t end = jobs_in(view)->list[jobs_in(view)->order[i]].a.end;
        if (end > from && end < to)
            list[(*n)++] = end;
    }
    qsort(list, *n, sizeof *list, by_time);
    for (uint32_t i = 1; i < *n; i++)
        if (list[i] != list[kept])
            list[++kept] = list[i];
    *n = kept + 1;
    return WEIR_OK;
}

/* Fails because `n` starts from t on have not been tried. `found`: a start that serves; WEIR_FOREVER: none is known. */
static int starts_left(const struct in_hierarchy *e, uint32_t n, int64_t t, int64_t found)
{
    if (found == WEIR_FOREVER)
        return weir_fail(e->err, WEIR_ELIMIT,
                         "vertices with several parents in the hierarchy '%.100s' were assigned for many starts; "
                         "the %u from %.15g s on were not tried",
                         e->h->name, n, (double)t / 1e6);
    return weir_fail(e->err, WEIR_ELIMIT,
                     "the request fits at %.15g s, but vertices with several parents in the hierarchy '%.100s' could "
                     "be assigned otherwise at %u earlier starts from %.15g s on, which were not tried",
                     (double)found / 1e6, e->h->name, n, (double)t / 1e6);
}

/* Looks for a start before the one found in the first view, if any: its job is dropped, and made again where there is
 * no earlier start. Returns 1 with *a, 0 (none was found at all) or negative. */
static int match_earlier(struct in_hierarchy *e, const weir_request *r, bool found, const weir_allocation **a)
{
    weir_graph *view = e->h->view;
    int64_t at = e->o.at > view->now ? e->o.at : view->now, to = found ? (*a)->start : WEIR_FOREVER, *times;
    uint32_t n;
    int rc = 0;

    if (found) {
        weir_job_drop(view, weir_job_index(view, (*a)->job));
        drop_nested(&e->o);
    }
    if (list_times(view, at, e->o.mode == WEIR_RESERVE ? to : at, &times, &n))
        return weir_fail_nomem(e->err);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = i < ASSIGN_TIMES || (uint64_t)i * view->limit < ASSIGN_LOOKS ? match_assigned(e, r, times[i], false, a)
                                                                          : starts_left(e, n - i, times[i], to);
    weir_mem_free(times);
    if (rc == 0 && found)
        rc = weir_match_here(view, r, &e->o, a, e->err) ? e->err->code : 1;
    return rc;
}

/* Takes the result of a match in the first view further, in which each shared vertex is below its first parent. */
static int match_by_assignment(struct in_hierarchy *e, const weir_request *r, int rc, const weir_allocation **a)
{
    bool found = rc == WEIR_OK && e->o.mode == WEIR_RESERVE && (*a)->start > e->o.at && (*a)->start > e->g->now;
    weir_err first = *e->err;
    int other = 0;

    if (!found && rc != WEIR_EBUSY && rc != WEIR_EINFEASIBLE && !(rc == WEIR_ELIMIT && e->o.mode != WEIR_RESERVE))
        return rc;
    weir_err_clear(e->err);
    if (e->o.mode != WEIR_FEASIBLE)
        other = match_earlier(e, r, found, a);
    if (other == 0 && (rc == WEIR_EINFEASIBLE || (rc == WEIR_ELIMIT && e->o.mode == WEIR_FEASIBLE))) {
        const weir_allocation *none;
        other = match_assigned(e, r, e->g->now, true, &none);
        if (other == 1 && e->o.mode != WEIR_FEASIBLE)
            return weir_fail(e->err, WEIR_EBUSY, "the resources that would do are in use, down or reserved");
    }
    if (other == 0)
        *e->err = first;
    return other == 0 ? rc : other < 0 ? other : WEIR_OK;
}

static int match_elsewhere(weir_graph *g, const weir_request *r, const weir_match_options *o,
                           const weir_allocation **out, weir_err *err)
{
    struct in_hierarchy e;
    const weir_allocation *a;
    int rc = begin(&e, g, o, err);

    if (rc)
        return rc;
    e.o.job = o->job ? o->job : weir_job_next_id(g);
    rc = weir_match_here(e.h->view, r, &e.o, &a, err);
    rc = e.h->nshared > 0 ? match_by_assignment(&e, r, rc, &a) : rc;
    if (rc || o->mode == WEIR_FEASIBLE)
        return rc;
    return o->mode == WEIR_PREVIEW ? give_preview(&e, a, out) : book_result(&e, r, o, a, out);
}

int weir_match_one(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
                   weir_err *err)
{
    weir_err own = {0};
    int rc;

    if (!is_in_hierarchy(g, o))
        return weir_match_here(g, r, o, out, err);
    *out = NULL;
    clear_nested(o);
    rc = weir_match_check(g, o, err);
    return rc ? rc : match_elsewhere(g, r, o, out, err ? err : &own);
}

int weir_match_start(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start, weir_err *err)
{
    struct in_hierarchy e;
    int rc;

    if (!is_in_hierarchy(g, o))
        return weir_match_look(g, r, o, start, err);
    rc = begin(&e, g, o, err);
    return rc ? rc : weir_match_look(e.h->view, r, &e.o, start, err);
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
static int book_more(const struct in_hierarchy *e, int64_t job, const struct pick_list *before, uint32_t nflows)
{
    weir_graph *view = e->h->view;
    uint32_t i = weir_job_index(view, job), k = weir_job_index(e->g, job);
    uint32_t slots = jobs_in(view)->list[i].a.nslots, *had = &jobs_in(e->g)->list[k].a.nslots;
    struct pick_list more = {0}, picks = {0};
    struct job found = {0};
    int rc = added_picks(&jobs_in(view)->list[i].a, before, &more);

    rc = rc ? rc : weir_hierarchy_expand(e->g, e->h, more.list, more.n, &picks);
    rc = take_flows(e, i, nflows, &found) ? WEIR_ENOMEM : rc;
    note_job(e->g, job); /* the view copies the job again */
    rc = rc ? weir_fail_nomem(e->err)
            : weir_match_tell_grown(e->own, e->g, &jobs_in(e->g)->list[k].a, picks.list, picks.n, e->err);
    if (!rc && weir_job_extend(e->g, k, picks.list, picks.n, found.flows, found.nflows))
        rc = weir_fail_nomem(e->err);
    if (!rc)
        *had = slots < UINT32_MAX - *had ? *had + slots : UINT32_MAX;
    WEIR_FREE(more.list, picks.list, found.flows);
    return rc;
}

/* Keeps the picks of a job of the view, and the number of flows, as they are before the job grows. */
static int keep_before(const struct in_hierarchy *e, int64_t job, struct pick_list *before, uint32_t *nflows)
{
    uint32_t i = weir_job_index(e->h->view, job);

    if (i == WEIR_NONE)
        return weir_fail(e->err, WEIR_ENOENT, "there is no job %" PRId64, job);
    *nflows = jobs_in(e->h->view)->list[i].nflows;
    return keep_picks(&jobs_in(e->h->view)->list[i].a, before) ? weir_fail_nomem(e->err) : WEIR_OK;
}

/* Grows the job in the view, and then in the graph. WEIR_EBUSY, WEIR_EINFEASIBLE: not with these parents. */
static int grow_in_view(const struct in_hierarchy *e, int64_t job, const weir_request *r)
{
    struct pick_list before = {0};
    uint32_t nflows = 0;
    int rc = keep_before(e, job, &before, &nflows);

    rc = rc ? rc : weir_grow_here(e->h->view, job, r, &e->o, NULL, e->err);
    rc = rc ? rc : book_more(e, job, &before, nflows);
    weir_mem_free(before.list);
    return rc;
}

/* Grows the job with the shared vertices assigned, where the first parents do not serve. `rc`: the result with those.
 */
static int grow_assigned(struct in_hierarchy *e, int64_t job, const weir_request *r, int rc)
{
    const weir_allocation *a = weir_job_get(e->g, job);
    int64_t start = a->start > e->g->now ? a->start : e->g->now;
    struct hierarchy *view = e->h, *h = NULL;
    struct assign_window window = {start, a->end, false, NULL, 0};
    weir_err first = *e->err;
    bool several = true;

    for (; several; window.skip++) {
        int assigned, grown;
        weir_err_clear(e->err);
        e->h = view;
        assigned = too_many(e, window.skip) ? undecided(e) : assign(e, r, window, &h, &several);
        if (assigned < 0)
            return assigned;
        if (assigned == 0)
            break;
        e->h = h;
        grown = grow_in_view(e, job, r);
        if (grown != WEIR_EBUSY && grown != WEIR_EINFEASIBLE)
            return grown;
    }
    *e->err = first;
    return rc;
}

static int grow_elsewhere(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                          const weir_allocation **out, weir_err *err)
{
    struct in_hierarchy e;
    int rc = begin(&e, g, o, err);

    rc = rc ? rc : grow_in_view(&e, job, r);
    if ((rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE) && e.h->nshared > 0)
        rc = grow_assigned(&e, job, r, rc);
    if (!rc && out)
        *out = weir_job_get(g, job);
    return rc;
}

int weir_grow_one(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                  const weir_allocation **out, weir_err *err)
{
    weir_err own = {0};

    if (!is_in_hierarchy(g, o))
        return weir_grow_here(g, job, r, o, out, err);
    if (out)
        *out = NULL;
    clear_nested(o);
    return grow_elsewhere(g, job, r, o, out, err ? err : &own);
}
