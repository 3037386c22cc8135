/* context.c - services of a match for its parts: the listener, scores and failures of the policy, indexes. */
#include <math.h>
#include <string.h>

#include "index/group_rule.h"
#include "match/match.h"

void weir_match_tell(const struct match *m, int event, weir_vertex v, uint32_t resource,
                     const struct shortage *shortage, double score)
{
    weir_trace t = {.event = event, .vertex = v, .resource = resource, .score = score};

    if (shortage) {
        t.type = shortage->type;
        t.need = shortage->need;
        t.have = shortage->have;
    }
    m->options->trace(m->options->trace_data, &t);
}

int weir_match_policy_failed(struct match *m, const char *hook)
{
    return weir_fail(m->err, WEIR_EPOLICY, "policy %s: %s failed", m->policy->name ? m->policy->name : "?", hook);
}

/* Scores vertices by the room in their groups. */
static void score_room(const struct match *m, const weir_vertex *v, size_t n, double *score)
{
    struct group_rule rule;

    weir_group_rule_read(m->g, m->policy, &rule);
    for (size_t i = 0; i < n; i++) {
        bool sibling = i > 0 && vertex_at(m->g, v[i])->parent == vertex_at(m->g, v[i - 1])->parent;
        score[i] = sibling && rule.by == GROUP_BY_PARENT ? score[i - 1] : weir_group_room(m->g, &rule, v[i]);
    }
}

/* Asks the policy for scores. */
static int ask_scores(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score)
{
    int rc = m->policy->evaluate(m->policy->data, m->g, r, v, n, score);

    m->stats.callbacks += rc > 0 ? (size_t)rc : n;
    return rc < 0 ? weir_match_policy_failed(m, "evaluate") : WEIR_OK;
}

int weir_allocate_evaluate(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score)
{
    int rc = WEIR_OK;

    memset(score, 0, n * sizeof *score);
    if (!m->scored || n == 0)
        return WEIR_OK;
    if (m->policy->evaluate)
        rc = ask_scores(m, r, v, n, score);
    else
        score_room(m, v, n, score);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (isnan(score[i]))
            count_event(m, WEIR_EVENT_POLICY, v[i], r);
        else if (m->options->trace)
            weir_match_tell(m, WEIR_EVENT_SCORED, v[i], r->index, NULL, score[i]);
    return WEIR_OK;
}

int weir_match_index(struct match *m, bool ordered, weir_type t, enum index_mode mode, struct index **out)
{
    static const weir_policy unordered;

    return weir_index_get(m->g, ordered ? m->policy : &unordered, t, mode, out, m->err);
}
