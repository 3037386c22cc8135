/* flow_survey.c - the candidates for units of a flow, listed without a flow: an attempt in which each vertex that
 * requests units is recorded with the demands that it has room for, and refused. So the attempt meets all candidates,
 * as far as they fit but for the flow.
 *
 * A survey is for requests in which one resource requests units of one subsystem, below a single line of resources:
 * everything else in the request is inside the candidates. Invariant: a candidate never serves more demands than noted.
 */
#include "match/candidate/flow_state.h"

/* ---- requests ---- */

const weir_resource *weir_survey_asker(const struct match *m)
{
    const weir_resource *asker = NULL;
    uint32_t n;

    (void)weir_request_resources(m->ask.request, &n);
    if (n != 1 || m->ask.links != WEIR_NONE)
        return NULL;
    for (uint32_t i = 0; i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        if (r->any)
            return NULL;
        if (r->slot || weir_flow_find(m->g, r->type) == WEIR_NONE)
            continue;
        if (asker || r->nwith > 0)
            return NULL;
        asker = r;
    }
    for (const weir_resource *r = asker ? asker->parent : NULL; r && r->parent; r = r->parent)
        if (r->parent->nwith != 1)
            return NULL;
    return asker && asker->parent && asker->count.min > 0 ? asker : NULL;
}

/* ---- notes ---- */

static struct flow_candidate *find_candidate(struct flow_survey *s, weir_vertex under)
{
    uint32_t i = weir_map32_get(&s->numbers, under);

    return i == WEIR_NONE ? NULL : &s->list[i];
}

int weir_survey_note(struct match *m, weir_vertex under, weir_vertex entry, int64_t units, int64_t most)
{
    struct flow_survey *s = m->progress.flow->survey;
    struct flow_candidate *c = find_candidate(s, under);

    if (s->each && s->each != units)
        s->odd = true;
    s->each = units;
    if (c) { /* met again */
        c->most = most > c->most ? most : c->most;
        return 0;
    }
    if (weir_array_reserve(&s->list, &s->cap, (size_t)s->n + 1, sizeof *s->list) ||
        weir_map32_add(&s->numbers, under, s->n))
        return weir_fail_nomem(m->err);
    s->list[s->n++] = (struct flow_candidate){under, entry, most};
    return 0;
}

int weir_survey_slots(struct match *m, weir_vertex under, const weir_resource *slot, int64_t most)
{
    for (uint32_t i = 0; most > 0 && i < slot->nwith; i++) {
        uint32_t subsystem = weir_flow_find(m->g, slot->with[i].type);
        weir_vertex entry = subsystem == WEIR_NONE ? WEIR_NONE : weir_flow_entry(m, under, subsystem);
        if (entry != WEIR_NONE)
            return weir_survey_note(m, under, entry, slot->with[i].count.min, most);
    }
    return 0;
}

void weir_survey_end(struct flow_survey *s)
{
    weir_mem_free(s->list);
    weir_map32_free(&s->numbers);
}
