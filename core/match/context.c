/* context.c - services of a match for its parts: the listener, scores and failures of the policy, indexes. */
#include <math.h>
#include <string.h>

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

int weir_allocate_evaluate(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score)
{
    int rc;

    memset(score, 0, n * sizeof *score);
    if (!m->policy->evaluate || n == 0)
        return WEIR_OK;
    rc = m->policy->evaluate(m->policy->data, m->g, r, v, n, score);
    m->stats.callbacks += rc > 0 ? (size_t)rc : n;
    if (rc < 0)
        return weir_match_policy_failed(m, "evaluate");
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
