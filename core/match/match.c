/* match.c - from a request to an allocation: modes, the earliest start, the commit. Invariant: the graph changes
 * only in weir_job_commit(), and only when everything has been placed.
 */
#include "index/group_rule.h"
#include "match/match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index/score.h"
#include "job/job.h"
#include "job/stage.h"
#include "time/availability.h"
#include "time/usage_totals.h"

#define QUEUE_MAX 1024 /* bytes of the name of a queue */

static int by_vertex(const void *a, const void *b)
{
    const weir_pick *x = a, *y = b;
    return x->vertex != y->vertex ? (x->vertex < y->vertex ? -1 : 1) : (x->resource < y->resource ? -1 : 1);
}

static int add_nested(struct match *m, const weir_pick *p)
{
    if (!m->ask.options->inside)
        return WEIR_OK;
    return WEIR_ARRAY_ADD(m->result.nested.list, m->result.nested.n, m->result.nested.cap, *p) ? weir_fail_nomem(m->err)
                                                                                               : WEIR_OK;
}

/* Moves nested picks, which enter no schedule, from the picks to m->result.nested. */
static int split_nested(struct match *m)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; m->ask.options->inside && i < m->scope.npicks; i++) {
        if (m->progress.details[i].nested && add_nested(m, &m->progress.picks[i]))
            return WEIR_ENOMEM;
        if (!m->progress.details[i].nested) {
            m->progress.details[kept] = m->progress.details[i];
            m->progress.picks[kept++] = m->progress.picks[i];
        }
    }
    m->scope.npicks = m->ask.options->inside ? kept : m->scope.npicks;
    return WEIR_OK;
}

/* Widens a pick below a vertex only given as a whole to all of the vertex: the search has seen the vertex
 * unused. */
static int widen_picks(struct match *m)
{
    if (!m->g->whole_kinds && m->ask.policy->nexclusive == 0)
        return WEIR_OK;
    for (uint32_t i = 0; i < m->scope.npicks; i++) {
        weir_pick *p = &m->progress.picks[i];
        weir_vertex whole = WEIR_NONE;
        for (weir_vertex v = p->vertex; v != WEIR_NONE; v = vertex_at(m->g, v)->parent)
            if (weir_candidate_whole(m, v))
                whole = v;
        if (whole == WEIR_NONE || (whole == p->vertex && p->exclusive))
            continue;
        if (whole != p->vertex && add_nested(m, p))
            return WEIR_ENOMEM;
        *p = (weir_pick){whole, p->resource, kind_of(m->g, whole)->size, true};
        m->progress.shared = true;
    }
    return WEIR_OK;
}

/* Records in m->result.flows the vertex that each pick of a flow is for, before picks of a vertex are merged. */
static int record_flows(struct match *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->scope.npicks; i++)
        n += m->progress.details[i].endpoint != WEIR_NONE;
    if (n == 0)
        return WEIR_OK;
    m->result.flows = weir_mem_alloc(n * sizeof *m->result.flows);
    if (!m->result.flows)
        return weir_fail_nomem(m->err);
    for (uint32_t i = 0; i < m->scope.npicks; i++)
        if (m->progress.details[i].endpoint != WEIR_NONE && m->progress.picks[i].amount > 0)
            m->result.flows[m->result.nflows++] = (struct flow_use){
                m->progress.details[i].endpoint, m->progress.picks[i].vertex, m->progress.picks[i].amount};
    return WEIR_OK;
}

/* Whether v is below a vertex of the map. */
static bool is_below(const weir_graph *g, weir_vertex v, const struct weir_map32 *map)
{
    for (v = vertex_at(g, v)->parent; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        if (weir_map32_get(map, v) != WEIR_NONE)
            return true;
    return false;
}

/* Drops the units of flows that are below vertices picked as a whole: the job has these units with the vertex. */
static int drop_own_flows(struct match *m)
{
    struct weir_map32 whole = {0};
    uint32_t kept = 0, npicks = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && m->result.nflows > 0 && i < m->scope.npicks; i++)
        if (m->progress.picks[i].exclusive && weir_map32_get(&whole, m->progress.picks[i].vertex) == WEIR_NONE)
            rc = weir_map32_add(&whole, m->progress.picks[i].vertex, i);
    for (uint32_t i = 0; !rc && i < m->result.nflows; i++)
        if (!is_below(m->g, m->result.flows[i].unit, &whole))
            m->result.flows[kept++] = m->result.flows[i];
    for (uint32_t i = 0; !rc && kept < m->result.nflows && i < m->scope.npicks; i++) {
        if (m->progress.details[i].endpoint != WEIR_NONE && is_below(m->g, m->progress.picks[i].vertex, &whole))
            continue;
        m->progress.details[npicks] = m->progress.details[i];
        m->progress.picks[npicks++] = m->progress.picks[i];
    }
    m->scope.npicks = kept < m->result.nflows ? npicks : m->scope.npicks;
    m->result.nflows = kept;
    weir_map32_free(&whole);
    return rc;
}

/* Number of slots served by all picks; to be called before picks of a vertex are merged. */
static uint32_t count_slots(const struct match *m)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->scope.npicks; i++)
        n += m->progress.details[i].nested ? 0 : m->progress.details[i].slots;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Whether v has children, and units of v are picked for a flow: all units are not the vertices below. */
static bool passes_through(const struct match *m, weir_vertex v)
{
    bool flows = false;

    for (uint32_t i = 0; !flows && has_kids(m->g, v) && i < m->result.nflows; i++)
        flows = m->result.flows[i].unit == v;
    return flows;
}

/* Merges the picks of each vertex to a single pick: siblings that competed may each have units of a vertex. */
static int merge_picks(struct match *m)
{
    uint32_t kept = 0;

    if (split_nested(m) || record_flows(m) || widen_picks(m) || drop_own_flows(m))
        return WEIR_ENOMEM;
    if (!m->progress.shared || m->scope.npicks == 0)
        return weir_match_trim(m);
    qsort(m->progress.picks, m->scope.npicks, sizeof *m->progress.picks, by_vertex);
    for (uint32_t i = 1; i < m->scope.npicks; i++) {
        weir_pick *last = &m->progress.picks[kept];
        if (m->progress.picks[i].vertex == last->vertex) {
            last->amount += m->progress.picks[i].amount;
            last->exclusive |= m->progress.picks[i].exclusive;
        } else {
            m->progress.picks[++kept] = m->progress.picks[i];
        }
    }
    m->scope.npicks = kept + 1;
    for (uint32_t i = 0; i < m->scope.npicks; i++) {
        weir_pick *p = &m->progress.picks[i];
        int64_t size = kind_of(m->g, p->vertex)->size;
        p->exclusive |= p->amount > 0 && p->amount == size && !passes_through(m, p->vertex);
        p->amount = p->exclusive ? size : p->amount;
    }
    return weir_match_trim(m);
}

/* ---- validity ---- */

static double seconds(int64_t t)
{
    return (double)t / 1e6;
}

/* End of a job that starts at `start`: a job without a duration lasts as long as the resources are valid. */
static int64_t end_from(const struct match *m, int64_t start)
{
    int64_t end = time_add(start, m->window.duration), until = m->g->valid_until;
    return m->window.duration == WEIR_FOREVER && end > until ? until : end;
}

/* Moves *start to the time from which on the resources are valid. WEIR_EINFEASIBLE: a job from *start on would last
 * longer than the resources are valid. */
static int check_validity(struct match *m, int64_t *start)
{
    const weir_graph *g = m->g;

    *start = *start < g->valid_from ? g->valid_from : *start;
    m->window.latest = weir_match_latest(m);
    if (*start <= m->window.latest)
        return WEIR_OK;
    if (m->window.duration == WEIR_FOREVER || *start >= g->valid_until)
        return weir_fail(m->err, WEIR_EINFEASIBLE, "the resources are valid until %.15g s: no job can start at %.15g s",
                         seconds(g->valid_until), seconds(*start));
    return weir_fail(m->err, WEIR_EINFEASIBLE,
                     "the resources are valid until %.15g s: a job of %.15g s cannot start at %.15g s",
                     seconds(g->valid_until), seconds(m->window.duration), seconds(*start));
}

/* Fails where a job that is to start at o->at would start before the resources are valid. */
static int not_yet(struct match *m, int64_t start)
{
    int rc = m->ask.options->assume_feasible ? WEIR_OK : weir_match_feasible(m, start);
    return rc < 0 ? rc
                  : weir_fail(m->err, WEIR_EBUSY, "the resources are valid from %.15g s on", seconds(m->g->valid_from));
}

/* ---- modes ---- */

/* Whether jobs without an end are all that is in the way of a reservation for which no start was found: the request
 * fits what is up. Returns 1, 0 or negative. */
static int endless(struct match *m)
{
    const weir_match_options *o = m->ask.options;
    return o->mode == WEIR_RESERVE && !o->assume_feasible ? weir_match_attempt(m, VIEW_CAPACITY, m->g->now) : 0;
}

static int busy(struct match *m)
{
    int rc;

    if (m->window.undecided)
        return weir_fail(m->err, WEIR_ELIMIT,
                         "no start was found, but the search for a choice of vertices was cut off at %u of the starts, "
                         "the first at %.15g s%s",
                         m->window.undecided, seconds(m->window.undecided_at), weir_flow_hint(m));
    if (m->window.tried > m->window.latest)
        return weir_fail(m->err, WEIR_EBUSY,
                         "the resources that would do are in use, down or reserved, and valid until %.15g s only",
                         seconds(m->g->valid_until));
    rc = endless(m);
    if (rc == 1)
        return weir_fail(m->err, WEIR_EBUSY, "no start time can be predicted: jobs in the way have no end time");
    return rc < 0 ? rc : weir_fail(m->err, WEIR_EBUSY, "the resources that would do are in use, down or reserved");
}

static int not_now(struct match *m)
{
    int rc = m->ask.options->assume_feasible ? WEIR_OK : weir_match_feasible(m, m->g->now);
    return rc < 0 ? rc : busy(m);
}

static int run_mode(struct match *m, const weir_match_options *o, int64_t *start)
{
    int64_t at = o->at > m->g->now ? o->at : m->g->now;
    int rc;

    *start = at;
    rc = check_validity(m, start);
    if (rc)
        return rc;
    if (o->mode == WEIR_FEASIBLE)
        return weir_match_feasible(m, *start);
    if (*start > at && o->mode != WEIR_RESERVE)
        return not_yet(m, *start);
    rc = o->trace ? 1 : weir_match_bound_ok(m, *start);
    if (rc == 1)
        rc = weir_match_attempt(m, *start <= m->g->now ? VIEW_NOW : VIEW_RESERVED, *start);
    m->known.masked = false;
    if (rc < 0 && o->mode == WEIR_RESERVE)
        rc = weir_match_undecided(m, rc, *start);
    if (rc == 0 && o->mode == WEIR_RESERVE)
        rc = weir_match_reserve(m, *start, start);
    return rc == 0 ? not_now(m) : rc;
}

static void add_stats(weir_stats *to, const weir_stats *s)
{
    if (!to)
        return;
    to->visited += s->visited;
    to->pruned += s->pruned;
    to->state += s->state;
    to->constraint += s->constraint;
    to->busy += s->busy;
    to->policy += s->policy;
    to->callbacks += s->callbacks;
    to->starts += s->starts;
}

static int check_stage(const weir_graph *g, const weir_match_options *o, weir_err *err)
{
    if (o->stage == 0 && !o->unlocked)
        return WEIR_OK;
    if (o->stage <= g->now)
        return weir_fail(err, WEIR_EINVAL, "a stage expires after the clock, %" PRId64 " us", g->now);
    if (o->job != 0 || o->mode > WEIR_RESERVE)
        return weir_fail(err, WEIR_EINVAL, "a stage has a number of its own, and the mode now or reserve");
    return WEIR_OK;
}

int weir_match_check(const weir_graph *g, const weir_match_options *o, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (o->mode < WEIR_NOW || o->mode > WEIR_PREVIEW)
        return weir_fail(err, WEIR_EINVAL, "there is no match mode %d", o->mode);
    if (g->building)
        return weir_fail(err, WEIR_EINVAL, "the graph is still being built");
    if (o->at < g->now)
        return weir_fail(err, WEIR_EINVAL, "the start %" PRId64 " us is before the clock, %" PRId64 " us", o->at,
                         g->now);
    if (o->duration < 0)
        return weir_fail(err, WEIR_EINVAL, "a duration of %" PRId64 " us", o->duration);
    if (o->policy && o->policy->keys && o->policy->serial == 0)
        return weir_fail(err, WEIR_EINVAL, "a policy with an order function needs a serial number");
    if (o->policy && o->policy->choice && weir_choice_check(o->policy, err))
        return WEIR_EINVAL;
    if (o->policy && weir_turn_check(o->policy, err))
        return WEIR_EINVAL;
    if (o->job != 0 && weir_job_index(g, o->job) != WEIR_NONE)
        return weir_fail(err, WEIR_EEXIST, "job %" PRId64 " is there already", o->job);
    return check_stage(g, o, err);
}

/* Returns the picks as an allocation without a job, known to no schedule. */
static int give_preview(struct match *m, int64_t start, uint32_t nslots, const weir_allocation **out)
{
    weir_allocation *a = weir_mem_zalloc(1, sizeof *a);

    if (!a)
        return weir_fail_nomem(m->err);
    *a = (weir_allocation){0, start, end_from(m, start), WEIR_MATCHED, m->progress.picks, m->scope.npicks, nslots, 0};
    m->progress.picks = NULL;
    *out = a;
    return WEIR_OK;
}

static void tell_chosen(const struct match *m)
{
    for (uint32_t i = 0; m->ask.options->trace && i < m->scope.npicks; i++) {
        struct shortage amount = {NULL, 0, m->progress.picks[i].amount};
        weir_match_tell(m, WEIR_EVENT_CHOSEN, m->progress.picks[i].vertex, m->progress.picks[i].resource, &amount, 0);
    }
}

/* Name of a policy's label, the empty name where the policy has no label; of the queue and the label for a job with a
 * queue. A queue whose name could not be separated from the label counts as none. */
static weir_name label_of(weir_graph *g, const weir_policy *p, const char *queue)
{
    const char *label = p->label ? p->label : p->name ? p->name : "";
    weir_buf b = {0};
    weir_name name;

    if (!queue || !*queue || strlen(queue) > QUEUE_MAX || strchr(queue, JOB_QUEUE_END))
        return weir_strtab_add(&g->names, label, strlen(label));
    weir_buf_puts(&b, queue);
    weir_buf_add(&b, &(char){JOB_QUEUE_END}, 1);
    weir_buf_puts(&b, label);
    name = b.failed ? WEIR_NO_NAME : weir_strtab_add(&g->names, b.data, b.len);
    weir_buf_free(&b);
    return name;
}

/* Returns the nested picks, if the caller requests them. */
static void give_nested(struct match *m, const weir_match_options *o)
{
    if (!o->inside)
        return;
    *o->inside = m->result.nested.list;
    *o->ninside = m->result.nested.n;
    m->result.nested.list = NULL;
}

/* Notifies the policy of an allocation that is to be made. Returns a status. */
static int tell_placed(const weir_policy *p, weir_graph *g, const weir_allocation *a, weir_err *err)
{
    int rc = p->placed ? p->placed(p->data, g, a) : WEIR_OK;

    return rc == WEIR_ENOMEM ? weir_fail_nomem(err)
           : rc < 0          ? weir_fail(err, rc, "the hook 'placed' of the policy failed")
                             : WEIR_OK;
}

/* Makes a stage of what was found. */
static int book_stage(weir_graph *g, const weir_match_options *o, struct job *found, const weir_allocation **out,
                      weir_err *err)
{
    found->a.expires = o->stage < found->a.end ? o->stage : found->a.end;
    return o->unlocked ? weir_claim_make(g, found, out, err) : weir_stage_make(g, found, out, err);
}

int weir_match_book(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_policy *p,
                    struct job *found, const weir_allocation **out, weir_err *err)
{
    uint32_t job;
    int rc;

    found->policy = label_of(g, p, o->queue ? o->queue : r->queue);
    if (found->policy == WEIR_NO_NAME)
        return weir_fail_nomem(err);
    if (o->stage)
        return book_stage(g, o, found, out, err);
    found->a.job = o->job ? o->job : weir_job_next_id(g);
    found->a.state = found->a.start > g->now ? WEIR_RESERVED : WEIR_ALLOCATED;
    rc = tell_placed(p, g, &found->a, err);
    if (rc)
        return rc;
    rc = weir_job_commit(g, &(weir_booking){o->job, found->a.start, found->a.end, found->a.picks, found->a.npicks},
                         &job, err);
    if (!rc && weir_job_flow(g, job, found->flows, found->nflows)) {
        weir_job_drop(g, job);
        rc = weir_fail_nomem(err);
    }
    if (rc)
        return rc;
    jobs_in(g)->list[job].policy = found->policy;
    jobs_in(g)->list[job].a.nslots = found->a.nslots;
    *out = &jobs_in(g)->list[job].a;
    return WEIR_OK;
}

static int commit_result(struct match *m, const weir_match_options *o, int64_t start, const weir_allocation **out)
{
    uint32_t nslots = count_slots(m);
    struct job found;

    if (o->mode == WEIR_FEASIBLE)
        return WEIR_OK;
    if (merge_picks(m))
        return WEIR_ENOMEM;
    tell_chosen(m);
    if (o->mode == WEIR_PREVIEW)
        return give_preview(m, start, nslots, out);
    found = (struct job){.a = {.start = start,
                               .end = end_from(m, start),
                               .picks = m->progress.picks,
                               .npicks = m->scope.npicks,
                               .nslots = nslots},
                         .picks = m->progress.picks,
                         .flows = m->result.flows,
                         .nflows = m->result.nflows};
    return weir_match_book(m->g, m->ask.original, o, m->ask.policy, &found, out, m->err);
}

static void end_match(struct match *m)
{
    WEIR_FREE(m->progress.picks, m->progress.details, m->result.nested.list, m->result.flows, m->ask.whole,
              m->known.order);
    weir_slots_undivide(m);
    weir_flow_end(m);
    weir_idset_free(m->known.allowed);
    weir_request_unbind(m->ask.original, m->ask.request);
}

static void start_match(struct match *m, weir_graph *g, const weir_request *r, const weir_match_options *o,
                        weir_err *err)
{
    static const weir_policy first_found = {.name = "first"};
    const weir_policy *p = o->policy ? o->policy : &first_found;

    memset(m, 0, sizeof *m);
    m->g = g;
    m->ask.original = m->ask.request = r;
    m->ask.options = o;
    m->ask.policy = p;
    m->ask.node_type = weir_type_find(g, "node");
    m->ask.store_type = weir_request_constrained(r) ? weir_type_find(g, "storage_node") : WEIR_NO_TYPE;
    m->ask.links = o->follow ? weir_subsystem_find(g, o->follow) : WEIR_NONE;
    m->window.duration = o->duration ? o->duration : weir_request_duration(r);
    m->window.end = WEIR_NO_END;
    m->window.latest = WEIR_FOREVER;
    m->window.tried = INT64_MIN;
    m->err = err;
}

/* Whether the policy of a match that failed can be why: it cut candidates off, or demands more than the request. */
static bool policy_demands(const struct match *m)
{
    const weir_policy *p = m->ask.policy;

    return m->result.stats.policy > 0 || p->prune || p->judge || p->nexclusive > 0 || p->nlocality > 0 ||
           (p->choice && p->choice->kind == WEIR_CHOOSE_ONE);
}

/* Names the policy in the error of an infeasible request that is feasible without the policy. */
static void name_policy(weir_graph *g, const weir_request *r, const weir_match_options *o, weir_err *err)
{
    weir_match_options bare = *o;
    const weir_allocation *none;

    bare.mode = WEIR_FEASIBLE;
    bare.policy = NULL;
    bare.stats = NULL;
    bare.trace = NULL;
    bare.inside = NULL;
    bare.stage = bare.job = 0;
    bare.unlocked = false;
    if (weir_match_here(g, r, &bare, &none, NULL))
        return;
    *err = (weir_err){0};
    (void)weir_fail(err, WEIR_EINFEASIBLE, "the request can never be met on these resources under the policy %.100s",
                    o->policy->name ? o->policy->name : "in use");
}

/* Finds resources and, unless `first` is set, books these; else sets *first to the start found. */
static int match_or_look(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *first,
                         const weir_allocation **out, weir_err *err)
{
    weir_err own = {0};
    struct match m;
    int64_t start = 0;
    bool fresh = err && err->code == WEIR_OK; /* else the caller gets no text of this match */
    bool demanding;
    int rc = weir_match_check(g, o, err);

    clear_nested(o);
    start_match(&m, g, r, o, err ? err : &own);
    rc = rc ? rc : weir_match_whole(&m);
    if (!rc && (m.ask.policy->score || m.ask.policy->judge) && weir_scores_begin(g))
        rc = weir_fail_nomem(err);
    if (rc) {
        weir_mem_free(m.ask.whole);
        return rc;
    }
    rc = weir_request_bind(r, g, &m.ask.request) ? weir_fail_nomem(err) : run_mode(&m, o, &start);
    if (first && rc >= 0) {
        *first = start;
        rc = WEIR_OK;
    } else {
        rc = rc < 0 ? rc : commit_result(&m, o, start, out);
    }
    if (!rc && !first)
        give_nested(&m, o);
    demanding = policy_demands(&m);
    end_match(&m); /* frees the policy of a match that gives whole vertices */
    add_stats(o->stats, &m.result.stats);
    if (rc == WEIR_EINFEASIBLE && fresh && demanding)
        name_policy(g, r, o, err);
    return rc;
}

int weir_match_here(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
                    weir_err *err)
{
    *out = NULL;
    return match_or_look(g, r, o, NULL, out, err);
}

int weir_match_look(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start, weir_err *err)
{
    return match_or_look(g, r, o, start, NULL, err);
}

int weir_match_soonest(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start, weir_err *err)
{
    weir_match_options anew = {.at = o->at, .duration = o->duration};
    weir_err own = {0};
    struct match m;
    uint32_t job;
    int rc = weir_match_check(g, &anew, err);

    rc = !rc && o->subsystem ? weir_graph_hierarchy(g, o->subsystem, &g, err) : rc;
    if (rc)
        return rc;
    start_match(&m, g, r, &anew, err ? err : &own);
    job = weir_job_index(g, o->job);
    if (weir_request_bind(r, g, &m.ask.request) || weir_usage_build(g)) {
        end_match(&m);
        return weir_fail_nomem(err);
    }
    if (job != WEIR_NONE)
        weir_usage_hide(g, job);
    m.window.latest = weir_match_latest(&m);
    rc = weir_match_start_bound(&m, o->at > g->valid_from ? o->at : g->valid_from, start);
    *start = *start <= m.window.latest ? *start : WEIR_FOREVER;
    if (job != WEIR_NONE)
        weir_usage_show(g, job);
    end_match(&m);
    return rc;
}

int weir_match_tell_grown(const weir_policy *p, weir_graph *g, const weir_allocation *a, const weir_pick *picks,
                          uint32_t n, weir_err *err)
{
    weir_allocation more = *a;

    more.picks = picks;
    more.npicks = n;
    return tell_placed(p, g, &more, err);
}

/* Adds the picks to a job. */
static int extend_job(struct match *m, uint32_t job)
{
    uint32_t nslots = count_slots(m), *had = &jobs_in(m->g)->list[job].a.nslots;
    const weir_allocation *a = &jobs_in(m->g)->list[job].a;

    if (merge_picks(m))
        return weir_fail_nomem(m->err);
    if (weir_match_tell_grown(m->ask.policy, m->g, a, m->progress.picks, m->scope.npicks, m->err))
        return m->err->code;
    if (weir_job_extend(m->g, job, m->progress.picks, m->scope.npicks, m->result.flows, m->result.nflows))
        return weir_fail_nomem(m->err);
    *had = nslots < UINT32_MAX - *had ? *had + nslots : UINT32_MAX;
    return WEIR_OK;
}

int weir_grow_here(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                   const weir_allocation **out, weir_err *err)
{
    uint32_t i = weir_job_index(g, job);
    weir_err own = {0};
    struct match m;
    const weir_allocation *a = i == WEIR_NONE ? NULL : &jobs_in(g)->list[i].a;
    int rc = weir_graph_writable(g, err);

    if (out)
        *out = NULL;
    clear_nested(o);
    if (!rc && !a)
        rc = weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job);
    if (!rc && a->end <= g->now)
        rc = weir_fail(err, WEIR_EINVAL, "job %" PRId64 " has ended", job);
    if (rc)
        return rc;
    start_match(&m, g, r, o, err ? err : &own);
    rc = weir_match_whole(&m);
    if (!rc && (m.ask.policy->score || m.ask.policy->judge) && weir_scores_begin(g))
        rc = weir_fail_nomem(err);
    if (rc) {
        weir_mem_free(m.ask.whole);
        return rc;
    }
    m.window.end = a->end;
    m.ask.growing = &jobs_in(g)->list[i];
    rc = weir_request_bind(r, g, &m.ask.request) ? weir_fail_nomem(err)
                                                 : weir_match_attempt(&m, a->start <= g->now ? VIEW_NOW : VIEW_RESERVED,
                                                                      a->start > g->now ? a->start : g->now);
    rc = rc == 0 ? not_now(&m) : rc;
    if (rc == 1)
        rc = extend_job(&m, i);
    if (!rc)
        give_nested(&m, o);
    end_match(&m);
    add_stats(o->stats, &m.result.stats);
    if (!rc && out)
        *out = &jobs_in(g)->list[i].a;
    return rc;
}

void weir_allocation_free(const weir_allocation *a)
{
    if (a)
        WEIR_FREE((void *)(uintptr_t)a->picks, (void *)(uintptr_t)a);
}
