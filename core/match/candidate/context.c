/* context.c - services of a match for its parts: the listener, scores and failures of the policy, indexes. */
#include <math.h>
#include <string.h>

#include "index/group_rule.h"
#include "match/match.h"
#include "index/score.h"

void weir_match_tell(const struct match *m, int event, weir_vertex v, uint32_t resource,
                     const struct shortage *shortage, double score)
{
    weir_trace t = {.event = event, .vertex = v, .resource = resource, .score = score};

    if (shortage) {
        t.type = shortage->type;
        t.need = shortage->need;
        t.have = shortage->have;
    }
    m->ask.options->trace(m->ask.options->trace_data, &t);
}

int weir_match_policy_failed(struct match *m, const char *hook)
{
    return weir_fail(m->err, WEIR_EPOLICY, "policy %s: %s failed", m->ask.policy->name ? m->ask.policy->name : "?",
                     hook);
}

/* Scores vertices by the free units in their groups. */
static void score_groups(const struct match *m, const weir_vertex *v, size_t n, double *score)
{
    struct group_rule rule;

    weir_group_rule_read(m->g, m->ask.policy, &rule);
    for (size_t i = 0; i < n; i++) {
        bool sibling = i > 0 && vertex_at(m->g, v[i])->parent == vertex_at(m->g, v[i - 1])->parent;
        score[i] = sibling && rule.by == GROUP_BY_PARENT ? score[i - 1] : weir_group_free(m->g, &rule, v[i]);
    }
}

/* Calls the policy for scores. */
static int ask_scores(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score)
{
    int rc = m->ask.policy->evaluate(m->ask.policy->data, m->g, r, v, n, score);

    m->result.stats.callbacks += rc > 0 ? (size_t)rc : n;
    return rc < 0 ? weir_match_policy_failed(m, "evaluate") : WEIR_OK;
}

/* ---- scores ---- */

static struct score_query query_of(struct match *m, const weir_resource *r)
{
    return (struct score_query){.g = m->g,
                                .policy = m->ask.policy,
                                .kind = KIND_SCORES,
                                .r = r,
                                .duration = m->ask.options->duration ? m->ask.options->duration
                                                                     : weir_request_duration(m->ask.request),
                                .check = m->ask.options->check_scores,
                                .calls = &m->result.stats.callbacks,
                                .err = m->err};
}

/* Fills scores from what is remembered, and calls the policy for the rest. Returns 1, 0: the policy cannot be
 * remembered, or negative. */
static int recall(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score)
{
    struct score_query q = query_of(m, r);
    struct score_memory *x = NULL;
    int rc = 1;

    for (size_t i = 0; rc == 1 && i < n; i++) {
        weir_type t = kind_of(m->g, v[i])->type;
        if (!x || x->type != t)
            rc = weir_scores_of(&q, t, &x) ? WEIR_ENOMEM : x != NULL;
        if (rc == 1)
            rc = weir_score_get(&q, x, v[i], &score[i]);
    }
    return rc;
}

int weir_match_scores(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score)
{
    int rc = WEIR_OK;

    memset(score, 0, n * sizeof *score);
    if (!match_scored(m) || n == 0)
        return WEIR_OK;
    rc = m->ask.policy->score ? recall(m, r, v, n, score) : 0;
    if (rc < 0)
        return rc;
    if (rc == 0 && m->ask.policy->evaluate)
        rc = ask_scores(m, r, v, n, score);
    else if (rc == 0)
        score_groups(m, v, n, score);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (isnan(score[i]))
            count_event(m, WEIR_EVENT_POLICY, v[i], r);
        else if (m->ask.options->trace)
            weir_match_tell(m, WEIR_EVENT_SCORED, v[i], r->index, NULL, score[i]);
    return WEIR_OK;
}

/* Vertices below `under` from which on an order by score pays: fewer are scored one by one. */
#define MANY_BELOW 256

/* Whether candidates of a type below `under` may be searched in the order of scores: not where types nest, where the
 * search has no index, or where a listener wants to hear of each candidate. */
static bool may_rank(struct match *m, weir_vertex under, weir_type t)
{
    weir_aggregate a;

    if (m->scope.view > VIEW_RESERVED || m->ask.options->trace || m->ask.policy->ndescend ||
        m->ask.links != WEIR_NONE || t >= SEARCH_PARENT || weir_type_above(m->g, t, t) ||
        (m->scope.view == VIEW_RESERVED && m->known.masked))
        return false;
    for (uint32_t i = 0; under != WEIR_NONE && weir_graph_aggregate(m->g, under, i, &a); i++)
        if (strcmp(a.type, type_text(m->g, t)) == 0)
            return a.total >= MANY_BELOW;
    return under == WEIR_NONE;
}

/* Puts candidates in the order of what is remembered, where that pays. */
static int rank(struct match *m, weir_vertex under, const struct score_query *q, weir_type t, struct order_scores *by)
{
    struct score_memory *x;
    int rc;

    *by = (struct order_scores){NULL, WEIR_NO_TYPE};
    if (!may_rank(m, under, t))
        return WEIR_OK;
    if (weir_scores_of(q, t, &x))
        return WEIR_ENOMEM;
    if (!x || x->match == scores_in(m->g)->match)
        return WEIR_OK;
    rc = weir_scores_settle(q, x);
    if (rc == 1) {
        x->indexed = true;
        by->memory = x;
    }
    return rc < 0 ? rc : WEIR_OK;
}

int weir_match_rank(struct match *m, weir_vertex under, const weir_resource *r, weir_type t, struct order_scores *by)
{
    struct score_query q = query_of(m, r);

    *by = (struct order_scores){NULL, WEIR_NO_TYPE};
    return m->ask.policy->score ? rank(m, under, &q, t, by) : WEIR_OK;
}

/* ---- prune ---- */

int weir_match_rank_kept(struct match *m, weir_vertex under, const weir_resource *r, weir_type t,
                         struct order_scores *by)
{
    struct score_query q = query_of(m, r);

    *by = (struct order_scores){NULL, WEIR_NO_TYPE};
    q.kind = KIND_PRUNE;
    return m->ask.policy->judge && !m->ask.policy->turn ? rank(m, under, &q, t, by) : WEIR_OK;
}

int weir_match_prune(struct match *m, const weir_resource *r, weir_vertex v)
{
    struct score_query q = query_of(m, r);
    struct score_memory *x = NULL;
    double answer = 0;
    int rc = 0;

    q.kind = KIND_PRUNE;
    if (m->ask.policy->judge && weir_scores_of(&q, kind_of(m->g, v)->type, &x))
        return WEIR_ENOMEM;
    if (x)
        rc = weir_score_get(&q, x, v, &answer);
    if (rc)
        return rc < 0 ? rc : !isnan(answer);
    m->result.stats.callbacks++;
    rc = m->ask.policy->prune(m->ask.policy->data, m->g, v, r);
    return rc < 0 ? weir_match_policy_failed(m, "prune") : rc > 0;
}

/* ---- indexes ---- */

static int read_order(struct match *m)
{
    int rc;

    m->known.order = weir_mem_alloc(sizeof *m->known.order);
    if (!m->known.order)
        return weir_fail_nomem(m->err);
    rc = weir_order_of(m->g, m->ask.policy, m->known.order, m->err);
    if (rc)
        WEIR_FREE(m->known.order);
    m->known.order = rc ? NULL : m->known.order;
    return rc;
}

int weir_match_index(struct match *m, bool ordered, const struct order_scores *by, weir_type t, enum index_mode mode,
                     struct index **out)
{
    static const weir_policy unordered;
    int rc;

    if (!ordered)
        return weir_index_get(m->g, &unordered, NULL, by, t, mode, out, m->err);
    rc = m->known.order ? WEIR_OK : read_order(m);
    return rc ? rc : weir_index_get(m->g, m->ask.policy, m->known.order, by, t, mode, out, m->err);
}
