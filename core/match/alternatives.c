/* alternatives.c - the matches of weir.h. A request with xor_slots has several alternatives, of which the first that
 * fits serves; a reservation takes the first of those with the earliest start.
 *
 * Invariant: at most one alternative is booked.
 */
#include "match/match.h"
#include "request/request.h"

/* Whether a status is an answer, with which the next alternative is tried. */
static bool is_refusal(int rc)
{
    return rc == WEIR_EBUSY || rc == WEIR_EINFEASIBLE;
}

/* Notes the refusal of an alternative: busy takes precedence over never fitting, then the first counts. */
static void note_refusal(int rc, const weir_err *why, int *noted, weir_err *err)
{
    if (*noted == WEIR_OK || (*noted == WEIR_EINFEASIBLE && rc == WEIR_EBUSY)) {
        *noted = rc;
        if (err)
            *err = *why;
    }
}

/* Whether no other alternative is to be tried after one with the status rc. */
static bool is_settled(int rc, const weir_err *why, int *noted, weir_err *err)
{
    if (is_refusal(rc)) {
        note_refusal(rc, why, noted, err);
        return false;
    }
    if (rc < 0 && err)
        *err = *why;
    return true;
}

/* Matches the first alternative that fits in the mode of the options. */
static int match_first(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
                       weir_err *err)
{
    int noted = WEIR_OK;

    for (uint32_t i = 0; i < r->nalternatives; i++) {
        weir_err why = {0};
        int rc = weir_match_one(g, r->alternatives[i], o, out, &why);
        if (is_settled(rc, &why, &noted, err))
            return rc;
    }
    return noted;
}

/* Reserves the first of the alternatives with the earliest start. */
static int reserve_earliest(weir_graph *g, const weir_request *r, const weir_match_options *o,
                            const weir_allocation **out, weir_err *err)
{
    weir_match_options look = *o;
    const weir_request *best = NULL;
    int64_t earliest = WEIR_FOREVER;
    int noted = WEIR_OK;

    look.trace = NULL;
    for (uint32_t i = 0; i < r->nalternatives; i++) {
        weir_err why = {0};
        int64_t start;
        int rc = weir_match_start(g, r->alternatives[i], &look, &start, &why);
        if (is_settled(rc, &why, &noted, err) && rc != WEIR_OK)
            return rc;
        if (rc == WEIR_OK && (!best || start < earliest)) {
            best = r->alternatives[i];
            earliest = start;
        }
    }
    return best ? weir_match_one(g, best, o, out, err) : noted;
}

int weir_match(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
               weir_err *err)
{
    weir_match_options now = *o;
    weir_err why = {0};
    int rc;

    *out = NULL;
    if (!r->nalternatives)
        return weir_match_one(g, r, o, out, err);
    if (o->mode != WEIR_RESERVE)
        return match_first(g, r, o, out, err);
    now.mode = WEIR_NOW;
    rc = match_first(g, r, &now, out, &why);
    if (rc == WEIR_EBUSY)
        return reserve_earliest(g, r, o, out, err);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int weir_soonest(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start, weir_err *err)
{
    *start = WEIR_FOREVER;
    for (uint32_t i = 0; i < weir_request_alternatives(r); i++) {
        int64_t one;
        int rc = weir_match_soonest(g, weir_request_alternative(r, i), o, &one, err);
        if (rc < 0)
            return rc;
        *start = one < *start ? one : *start;
    }
    return WEIR_OK;
}

int weir_job_grow(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                  const weir_allocation **out, weir_err *err)
{
    int noted = WEIR_OK;

    if (!r->nalternatives)
        return weir_grow_one(g, job, r, o, out, err);
    for (uint32_t i = 0; i < r->nalternatives; i++) {
        weir_err why = {0};
        int rc = weir_grow_one(g, job, r->alternatives[i], o, out, &why);
        if (is_settled(rc, &why, &noted, err))
            return rc;
    }
    return noted;
}
