/* flow_choice.c - decides by one flow whether vertices exist that serve a request, where the choice in the order of the
 * policy has found too few: a survey lists all candidates (flow_survey.c), a choice in whole demands determines which
 * of them are served (core/flow/choice.c), and an attempt places the request on just these.
 *
 * Where no choice exists, no vertices serve the request: the survey has all candidates, each with at least the demands
 * it has room for. Where the attempt fails, or the request is not for one flow alone, nothing is known, and the search
 * of flow_search.c continues.
 */
#include <stdlib.h>

#include "flow/choice.h"
#include "match/candidate/flow_state.h"
#include "match/place/place.h"

/* The resource whose vertices each take the same number of demands, as the candidate `under` is below one of them;
 * NULL: there is no such resource. */
static const weir_resource *group_of(const struct match *m, const weir_resource *asker, weir_vertex under)
{
    const weir_resource *r = asker->parent;

    while (r && r->slot)
        r = r->parent;
    if (r && weir_match_type((struct match *)(uintptr_t)m, r) == kind_of(m->g, under)->type)
        r = r->parent;
    while (r && r->slot)
        r = r->parent;
    return r;
}

/* Numbers the groups of the ends by the vertices of a type above them. Returns WEIR_OK, WEIR_ENOENT where an end has
 * none, or WEIR_ENOMEM. */
static int number_groups(const struct match *m, const struct flow_survey *s, weir_type type, struct flow_choice *c)
{
    struct weir_map32 numbers = {0};
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < s->n; i++) {
        weir_vertex v = vertex_at_or_above(m->g, s->list[i].under, type);
        uint32_t number = v == WEIR_NONE ? 0 : weir_map32_get(&numbers, v);
        if (v == WEIR_NONE)
            rc = WEIR_ENOENT;
        else if (number == WEIR_NONE && !(rc = weir_map32_add(&numbers, v, number = c->ngroups)))
            c->ngroups++;
        c->ends[i].group = number;
    }
    weir_map32_free(&numbers);
    return rc;
}

/* Sets the groups of a choice. Returns WEIR_OK, WEIR_ENOENT where they are not known, or WEIR_ENOMEM. */
static int set_groups(struct match *m, const weir_resource *asker, const struct flow_survey *s, struct flow_choice *c)
{
    const weir_resource *group = group_of(m, asker, s->list[0].under);
    weir_type t = group ? weir_match_type(m, group) : WEIR_NO_TYPE;
    int64_t times = 1;
    int rc;

    if (!group)
        return WEIR_OK;
    if (t == WEIR_NO_TYPE || weir_type_above(m->g, t, t))
        return WEIR_ENOENT;
    for (const weir_resource *r = group; r; r = r->parent)
        times = saturating_mul(times, r->count.min);
    rc = number_groups(m, s, t, c);
    if (rc || times == 0 || c->want % times)
        return rc ? rc : WEIR_ENOENT;
    c->by_group = c->ngroups > 1 ? c->want / times : 0;
    return WEIR_OK;
}

/* The units that a resource requests in all, at least; 0: not known, as vertices above it may count several times. */
static int64_t units_in_all(struct match *m, const weir_resource *asker)
{
    int64_t units = asker->count.min;

    for (const weir_resource *r = asker->parent; r; r = r->parent) {
        weir_type t = r->slot ? WEIR_NO_TYPE : weir_match_type(m, r);
        if (!r->slot && (t == WEIR_NO_TYPE || (m->g->types[t].flags & TYPE_POOLED)))
            return 0;
        units = saturating_mul(units, r->count.min);
    }
    return units;
}

/* Chooses among the candidates of a survey. Returns 1 with c->ends, to be freed; 0; WEIR_ENOENT: it is no question for
 * one flow; WEIR_ELIMIT: too many steps; or WEIR_ENOMEM. */
static int choose(struct match *m, const weir_resource *asker, const struct flow_survey *s, struct flow_choice *c)
{
    const struct flow_net *f = weir_flow_net(m, weir_flow_find(m->g, asker->type), asker);
    int64_t needed = units_in_all(m, asker);
    int rc;

    if (!f)
        return WEIR_ENOMEM;
    if (s->odd || needed == 0)
        return WEIR_ENOENT;
    if (s->n == 0)
        return 0;
    if (needed % s->each || needed == WEIR_FOREVER)
        return WEIR_ENOENT;
    *c = (struct flow_choice){.w = f->w, .each = s->each, .want = needed / s->each, .n = s->n};
    c->steps_most = weir_flow_steps(0);
    c->ends = weir_mem_alloc(s->n * sizeof *c->ends);
    if (!c->ends)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        c->ends[i] = (struct flow_choice_end){.v = s->list[i].entry, .most = s->list[i].most};
    rc = set_groups(m, asker, s, c);
    rc = rc ? rc : weir_flow_choose(c);
    m->result.stats.visited += c->steps / 8;
    return rc;
}

/* Caps each vertex at what it gets in a choice. */
static int cap_chosen(struct match *m, const struct flow_choice *c)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < c->n; i++) {
        int64_t had = weir_flow_cap(m, c->ends[i].v, 0);
        if (c->ends[i].chosen > 0)
            rc = weir_flow_set_cap(m->progress.flow, c->ends[i].v, had + c->ends[i].chosen * c->each);
    }
    return rc;
}

/* Lists the candidates. Returns 0 or negative. */
static int survey(struct match *m, enum match_view view, int64_t t0, struct flow_survey *s)
{
    int rc;

    m->progress.flow->survey = s;
    rc = weir_place_request(m, view, t0);
    m->progress.flow->survey = NULL;
    s->odd |= rc == 1; /* it was to be refused */
    return rc < 0 ? rc : 0;
}

int weir_flow_choice(struct match *m, enum match_view view, int64_t t0)
{
    struct flow_state *state = m->progress.flow;
    const weir_resource *asker =
        state->mixed || state->shared || (state->nets && state->nets->next) ? NULL : weir_survey_asker(m);
    struct flow_survey s = {0};
    struct flow_choice c = {0};
    int rc;

    if (!asker)
        return WEIR_ENOENT;
    rc = survey(m, view, t0, &s);
    if (rc == 0 && (rc = choose(m, asker, &s, &c)) == WEIR_ELIMIT) {
        state->gave_up = true;
        rc = 0;
    }
    if (rc == 1) {
        state->chosen = true;
        rc = cap_chosen(m, &c) ? WEIR_ENOMEM : weir_place_request(m, view, t0);
        rc = weir_flow_drop_caps(state) ? WEIR_ENOMEM : rc ? rc : WEIR_ENOENT;
        state->chosen = false;
    }
    weir_mem_free(c.ends);
    weir_survey_end(&s);
    return rc;
}
