/* backtrack_symmetry.c - what need not be tried, as it is like what was refused.
 *
 * Two vertices look alike if the same can be taken of them, and of what is below them, and the same was taken and is asked for
 * there. Two candidates of a demand are twins if they and what is above them look alike, level by level: with the branches of the
 * tree that they stand on changing places, nothing would be different. So once one of them has been refused the other one is, too:
 * a way with it is a way with the first one, under other names.
 *
 * And two ways lead to the same if the same was taken and the same is still to be met.
 *
 * A look is a hash of 64 bits; that two of them are the same by chance is left out of account.
 */
#include <string.h>

#include "time/schedule.h"
#include "match/backtrack.h"
#include "match/match.h"
#include "time/availability.h"

#define SYMMETRY_MAX (1u << 19) /* vertices of a graph in which they are looked for */

static uint64_t mix(uint64_t h, uint64_t n)
{
    h ^= n + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* ---- the table ---- */

static struct symmetry *slot_of(const struct symmetries *t, weir_vertex v)
{
    uint32_t i = (uint32_t)mix(0, v) & (t->size - 1);

    while (t->list[i].v != WEIR_NONE && t->list[i].v != v)
        i = (i + 1) & (t->size - 1);
    return &t->list[i];
}

static int grow(struct symmetries *t)
{
    struct symmetries old = *t;
    uint32_t size = t->size ? t->size * 2 : 64;
    struct symmetry *list = weir_mem_alloc(size * sizeof *list);

    if (!list)
        return WEIR_ENOMEM;
    t->list = list;
    t->size = size;
    for (uint32_t i = 0; i < size; i++)
        list[i] = (struct symmetry){.v = WEIR_NONE};
    for (uint32_t i = 0; i < old.size; i++)
        if (old.list[i].v != WEIR_NONE)
            *slot_of(t, old.list[i].v) = old.list[i];
    weir_mem_free(old.list);
    return WEIR_OK;
}

/* NULL: out of memory. It is good until the next call. */
static struct symmetry *twin_at(struct symmetries *t, weir_vertex v)
{
    struct symmetry *at = t->size ? slot_of(t, v) : NULL;

    if (at && at->v == v)
        return at;
    if (t->n >= t->size / 2 && grow(t))
        return NULL;
    at = slot_of(t, v);
    at->v = v;
    t->n++;
    return at;
}

const struct symmetry *weir_symmetry_find(const struct symmetries *t, weir_vertex v)
{
    const struct symmetry *at = t->size ? slot_of(t, v) : NULL;
    return at && at->v == v ? at : NULL;
}

/* ---- looks ---- */

static uint64_t look_itself(const struct match *m, weir_vertex v)
{
    const weir_constraint *constraint = weir_request_constraint(m->request);
    const weir_graph *g = m->g;
    uint64_t h = mix(1, vertex_at(g, v)->kind);
    weir_type t = kind_of(g, v)->type;

    if (m->view != VIEW_ALL)
        h = mix(h, state_available(vertex_at(g, v)->state));
    if (m->view <= VIEW_LATER && schedule_of(g, v)) {
        h = mix(h, (uint64_t)weir_availability_free(g, v, m->t0, m->t1));
        h = mix(h, weir_schedule_touched(g, v, m->t0, m->t1, false) + 2u * weir_schedule_touched(g, v, m->t0, m->t1, true));
        h = m->grows ? mix(h, v) : h;
    }
    if (constraint && (t == m->node_type || t == m->store_type))
        h = mix(h, weir_constraint_match(constraint, g, v));
    return h;
}

static uint64_t look_of(const struct symmetry *at)
{
    return mix(mix(mix(13, at->itself), at->kids), at->extra) | 1;
}

static bool has_kids(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    return in && in->nkids > in->holes;
}

/* Depth of the recursion: that of the graph. Leaves that nobody touched are not kept. */
static int look_at(struct symmetries *t, weir_vertex v, uint64_t *look)
{
    const struct inner *in = inner_of(t->m->g, v);
    const struct symmetry *known = weir_symmetry_find(t, v);
    struct symmetry fresh = {.v = v, .extra = known ? known->extra : 0}, *at;
    int rc = WEIR_OK;

    *look = known ? known->look : 0;
    if (*look)
        return WEIR_OK;
    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        uint64_t kid = 0;
        if (in->kids[i] != WEIR_NONE)
            rc = look_at(t, in->kids[i], &kid);
        fresh.kids += kid;
    }
    if (rc)
        return rc;
    fresh.itself = look_itself(t->m, v);
    *look = look_of(&fresh);
    if (!known && !has_kids(t->m->g, v))
        return WEIR_OK;
    at = twin_at(t, v);
    if (!at)
        return WEIR_ENOMEM;
    at->itself = fresh.itself;
    at->kids = fresh.kids;
    at->look = *look;
    return WEIR_OK;
}

/* What is at v changes by so much: so do the looks above it. */
static int change_look(struct symmetries *t, weir_vertex v, uint64_t by)
{
    uint64_t old = 0;
    int rc = t->known && !has_kids(t->m->g, v) ? look_at(t, v, &old) : WEIR_OK;
    struct symmetry *at = rc ? NULL : twin_at(t, v);

    if (!at)
        return WEIR_ENOMEM;
    old = at->look;
    at->extra += by;
    for (; old; at = slot_of(t, v)) {
        uint64_t look = look_of(at), was = old;
        at->look = look;
        v = vertex_at(t->m->g, v)->parent;
        old = v != WEIR_NONE && weir_symmetry_find(t, v) ? slot_of(t, v)->look : 0;
        if (!old)
            break;
        slot_of(t, v)->kids += look - was;
    }
    return WEIR_OK;
}

/* ---- twins ---- */

/* Where a policy says whom to leave out, or other edges matter, what a vertex is like is more than what is below it. */
void weir_symmetry_begin(struct symmetries *t, const struct match *m)
{
    bool known = !m->policy->prune && m->g->nsubsystems == 1 && m->links == WEIR_NONE && m->g->live <= SYMMETRY_MAX;
    *t = (struct symmetries){.m = m, .known = known};
}

void weir_symmetry_end(struct symmetries *t)
{
    weir_mem_free(t->list);
    *t = (struct symmetries){0};
}

static int touch(struct symmetries *t, weir_vertex v, bool whole, int by)
{
    for (; v != WEIR_NONE; v = vertex_at(t->m->g, v)->parent, whole = false) {
        struct symmetry *at = twin_at(t, v);
        if (!at)
            return WEIR_ENOMEM;
        at->touched += (uint32_t)by;
        at->wholes += whole ? (uint32_t)by : 0;
    }
    return WEIR_OK;
}

static uint64_t signed_hash(uint64_t h, int by)
{
    return by > 0 ? h : 0 - h;
}

int weir_symmetry_pick(struct symmetries *t, const weir_pick *p, int by)
{
    uint64_t h = mix(mix(17, (uint64_t)p->amount), p->exclusive);
    return touch(t, p->vertex, p->exclusive, by) ? WEIR_ENOMEM : change_look(t, p->vertex, signed_hash(h, by));
}

/* Where a demand has both vertices and pools it matters how far it got: then it is like no other. */
int weir_symmetry_demand(struct symmetries *t, const struct demand *d, uint32_t i, int by)
{
    uint64_t h = mix(mix(mix(mix(19, d->r->index), (uint64_t)d->times), d->host), (uint64_t)(demand_least(d) - d->units));

    if (d->under == WEIR_NONE)
        return WEIR_OK;
    if (d->n > 0 && d->npools > 0)
        h = mix(h, i);
    return touch(t, d->under, false, by) ? WEIR_ENOMEM : change_look(t, d->under, signed_hash(h, by));
}

int weir_symmetry_count(struct symmetries *t, weir_vertex v, int64_t units)
{
    for (; v != WEIR_NONE; v = vertex_at(t->m->g, v)->parent) {
        struct symmetry *at = twin_at(t, v);
        if (!at)
            return WEIR_ENOMEM;
        at->units = at->round == t->round ? at->units + units : units;
        at->round = t->round;
    }
    return WEIR_OK;
}

int weir_symmetry_key(struct symmetries *t, weir_vertex v, uint64_t *key)
{
    uint64_t h = t->known ? 3 : v, look;

    for (; t->known && v != WEIR_NONE; v = vertex_at(t->m->g, v)->parent) {
        if (look_at(t, v, &look))
            return WEIR_ENOMEM;
        h = mix(h, look);
    }
    *key = h;
    return WEIR_OK;
}

/* ---- states ---- */

/* What was taken: where no two vertices are alike, which ones. */
static int taken(struct backtrack *c, uint64_t *sum)
{
    const struct match *m = c->m;
    uint64_t look;

    for (uint32_t k = m->rivals; !c->twins.known && k < m->npicks; k++)
        *sum += mix(mix(mix(11, m->picks[k].vertex), (uint64_t)m->picks[k].amount), m->picks[k].exclusive);
    for (uint32_t k = 0; c->twins.known && k < m->g->nroots; k++) {
        if (m->g->roots[k] != WEIR_NONE && look_at(&c->twins, m->g->roots[k], &look))
            return WEIR_ENOMEM;
        *sum += m->g->roots[k] != WEIR_NONE ? mix(23, look) : 0;
    }
    return WEIR_OK;
}

/* The same in whatever order it came about: a sum. What is asked for below a vertex is part of the looks. */
int weir_backtrack_state(struct backtrack *c, uint32_t i, uint64_t *state)
{
    *state = mix(7, i < c->n ? c->demands[i].r->index : 0);
    for (uint32_t k = 0; k < c->n; k++) {
        const struct demand *d = &c->demands[k];
        int64_t missing = demand_least(d) - d->units;
        bool told = c->twins.known && d->under != WEIR_NONE;
        uint64_t h = mix(mix(mix(mix(k < i, d->r->index), told ? 0 : d->under), d->host), (uint64_t)d->times);
        if (d->subsystem != WEIR_NONE || k >= i || missing > 0)
            *state += mix(h, (uint64_t)missing);
    }
    if (taken(c, state))
        return WEIR_ENOMEM;
    *state += *state == 0;
    return WEIR_OK;
}

static uint64_t *state_at(const struct backtrack *c, uint64_t state)
{
    uint32_t i = (uint32_t)mix(0, state) & (c->states_size - 1);

    while (c->states[i] && c->states[i] != state)
        i = (i + 1) & (c->states_size - 1);
    return &c->states[i];
}

bool weir_backtrack_refused(const struct backtrack *c, uint64_t state)
{
    return c->states_size && *state_at(c, state) == state;
}

int weir_backtrack_refuse(struct backtrack *c, uint64_t state)
{
    if (c->nstates >= c->states_size / 2) {
        uint64_t *old = c->states;
        uint32_t had = c->states_size;
        uint64_t *states = weir_mem_zalloc(had ? (size_t)had * 2 : 64, sizeof *states);
        if (!states)
            return weir_fail_nomem(c->m->err);
        c->states = states;
        c->states_size = had ? had * 2 : 64;
        for (uint32_t i = 0; i < had; i++)
            if (old[i])
                *state_at(c, old[i]) = old[i];
        weir_mem_free(old);
    }
    *state_at(c, state) = state;
    c->nstates++;
    return WEIR_OK;
}
