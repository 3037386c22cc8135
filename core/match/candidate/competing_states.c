/* competing_states.c - candidates and states that are equivalent to refused candidates and states, and need not be
 * tried.
 *
 * The signature of a vertex covers everything that can be taken of the vertex and below, and for all picks and
 * demands there. Two candidates of a demand are interchangeable if both have equal signatures, and so have all vertices
 * above, level by level: exchanging the two branches of the tree changes nothing. So once a candidate has been refused,
 * any interchangeable candidate would be refused, too.
 *
 * Two states are equal if equal resources were taken and equal demands are still to be met.
 *
 * Signatures and states are hashes of 64 bits under a secret key, drawn at random for each search: no machine and no
 * request can be written for which two different vertices or states have equal hashes, but by chance (1 in 2^64 for a
 * pair).
 */
#include <string.h>

#include "base/hash.h"
#include "time/schedule.h"
#include "match/candidate/competing.h"
#include "match/match.h"
#include "time/availability.h"

#define SYMMETRY_MAX (1u << 19) /* vertices; larger graphs are searched without symmetries */

/* ---- the table ---- */

static struct symmetry *find_record(const struct symmetries *t, weir_vertex v)
{
    uint32_t i = weir_map32_get(&t->numbers, v);

    return i == WEIR_NONE ? NULL : &t->list[i];
}

/* The record of v, added where missing; NULL: out of memory. Valid until the next record is added. */
static struct symmetry *record_at(struct symmetries *t, weir_vertex v)
{
    struct symmetry *at = find_record(t, v);

    if (at)
        return at;
    if (weir_array_reserve(&t->list, &t->cap, (size_t)t->n + 1, sizeof *t->list) ||
        weir_map32_add(&t->numbers, v, t->n))
        return NULL;
    t->list[t->n] = (struct symmetry){.v = v};
    return &t->list[t->n++];
}

const struct symmetry *weir_symmetry_find(const struct symmetries *t, weir_vertex v)
{
    return find_record(t, v);
}

/* ---- signatures ---- */

static uint64_t own_hash_of(const struct symmetries *s, weir_vertex v)
{
    const struct match *m = s->m;
    const weir_constraint *constraint = weir_request_constraint(m->ask.request);
    const weir_graph *g = m->g;
    uint64_t h = hash_add(s->key + 1, vertex_at(g, v)->kind);
    weir_type t = kind_of(g, v)->type;

    if (m->scope.view != VIEW_ALL)
        h = hash_add(h, state_available(vertex_at(g, v)->state));
    if (m->scope.view <= VIEW_RESERVED && schedule_of(g, v)) {
        h = hash_add(h, (uint64_t)weir_availability_free(g, v, m->window.t0, m->window.t1));
        h = hash_add(h, weir_schedule_touched(g, v, m->window.t0, m->window.t1, false) +
                            2u * weir_schedule_touched(g, v, m->window.t0, m->window.t1, true));
        h = m->ask.growing ? hash_add(h, v) : h;
    }
    if (constraint && (t == m->ask.node_type || t == m->ask.store_type))
        h = hash_add(h, weir_constraint_match(constraint, g, v));
    return h;
}

static uint64_t signature_of(const struct symmetries *t, const struct symmetry *at)
{
    return hash_add(hash_add(hash_add(t->key + 13, at->own_hash), at->kids_hash), at->use_hash) | 1;
}

/* Computes the signature of v. Leaves without picks and demands get no record. The recursion is as deep as the
 * graph. */
static int find_signature(struct symmetries *t, weir_vertex v, uint64_t *signature)
{
    const struct inner *in = inner_of(t->m->g, v);
    const struct symmetry *known = weir_symmetry_find(t, v);
    struct symmetry fresh = {.v = v, .use_hash = known ? known->use_hash : 0}, *at;
    int rc = WEIR_OK;

    *signature = known ? known->signature : 0;
    if (*signature)
        return WEIR_OK;
    for (uint32_t i = 0; !rc && in && i < in->nkids; i++) {
        uint64_t kid = 0;
        if (in->kids[i] != WEIR_NONE)
            rc = find_signature(t, in->kids[i], &kid);
        fresh.kids_hash += kid;
    }
    if (rc)
        return rc;
    fresh.own_hash = own_hash_of(t, v);
    *signature = signature_of(t, &fresh);
    if (!known && !has_kids(t->m->g, v))
        return WEIR_OK;
    at = record_at(t, v);
    if (!at)
        return WEIR_ENOMEM;
    at->own_hash = fresh.own_hash;
    at->kids_hash = fresh.kids_hash;
    at->signature = *signature;
    return WEIR_OK;
}

/* Adds to the use hash of v, and updates the signatures of v and all vertices above. */
static int add_use_hash(struct symmetries *t, weir_vertex v, uint64_t by)
{
    uint64_t old = 0;
    int rc = t->known && !has_kids(t->m->g, v) ? find_signature(t, v, &old) : WEIR_OK;
    struct symmetry *at = rc ? NULL : record_at(t, v);

    if (!at)
        return WEIR_ENOMEM;
    old = at->signature;
    at->use_hash += by;
    while (old) {
        uint64_t signature = signature_of(t, at), was = old;
        at->signature = signature;
        v = vertex_at(t->m->g, v)->parent;
        at = v == WEIR_NONE ? NULL : find_record(t, v);
        old = at ? at->signature : 0;
        if (!old)
            break;
        at->kids_hash += signature - was;
    }
    return WEIR_OK;
}

/* ---- uses and keys ---- */

/* Begins with symmetries known, unless the policy prunes or edges of other subsystems matter: more than the
 * containment below then decides what a vertex can give. */
void weir_symmetry_begin(struct symmetries *t, const struct match *m)
{
    bool known =
        !m->ask.policy->prune && m->g->nsubsystems == 1 && m->ask.links == WEIR_NONE && m->g->live <= SYMMETRY_MAX;
    *t = (struct symmetries){.m = m, .known = known, .key = weir_hash_seed()};
}

void weir_symmetry_end(struct symmetries *t)
{
    weir_mem_free(t->list);
    weir_map32_free(&t->numbers);
    *t = (struct symmetries){0};
}

static int record_uses(struct symmetries *t, weir_vertex v, bool whole, int by)
{
    for (; v != WEIR_NONE; v = vertex_at(t->m->g, v)->parent, whole = false) {
        struct symmetry *at = record_at(t, v);
        if (!at)
            return WEIR_ENOMEM;
        at->uses += (uint32_t)by;
        at->whole_uses += whole ? (uint32_t)by : 0;
    }
    return WEIR_OK;
}

static uint64_t signed_hash(uint64_t h, int by)
{
    return by > 0 ? h : 0 - h;
}

int weir_symmetry_pick(struct symmetries *t, const weir_pick *p, int by)
{
    uint64_t h = hash_add(hash_add(t->key + 17, (uint64_t)p->amount), p->exclusive);
    return record_uses(t, p->vertex, p->exclusive, by) ? WEIR_ENOMEM : add_use_hash(t, p->vertex, signed_hash(h, by));
}

/* Adds a demand to the uses. A demand with both candidates and pools equals no other demand, as the candidates tried
 * so far matter. */
int weir_symmetry_demand(struct symmetries *t, const struct demand *d, uint32_t i, int by)
{
    uint64_t h = hash_add(hash_add(hash_add(hash_add(t->key + 19, d->r->index), (uint64_t)d->times), d->host),
                          (uint64_t)(demand_minimum(d) - d->units));

    if (d->under == WEIR_NONE)
        return WEIR_OK;
    if (d->n > 0 && d->npools > 0)
        h = hash_add(h, i);
    return record_uses(t, d->under, false, by) ? WEIR_ENOMEM : add_use_hash(t, d->under, signed_hash(h, by));
}

int weir_symmetry_key(struct symmetries *t, weir_vertex v, uint64_t *key)
{
    uint64_t h = t->known ? t->key + 3 : v, signature;

    for (; t->known && v != WEIR_NONE; v = vertex_at(t->m->g, v)->parent) {
        if (find_signature(t, v, &signature))
            return WEIR_ENOMEM;
        h = hash_add(h, signature);
    }
    *key = h;
    return WEIR_OK;
}

/* ---- states ---- */

/* Adds a hash of all picks: by signatures of the roots, or by vertex where no symmetries are known. */
static int hash_picks(struct competing *c, uint64_t *sum)
{
    const struct match *m = c->m;
    uint64_t signature;

    for (uint32_t k = m->scope.conflicts_from; !c->symmetries.known && k < m->scope.npicks; k++)
        *sum += hash_add(hash_add(hash_add(c->symmetries.key + 11, m->progress.picks[k].vertex),
                                  (uint64_t)m->progress.picks[k].amount),
                         m->progress.picks[k].exclusive);
    for (uint32_t k = 0; c->symmetries.known && k < m->g->nroots; k++) {
        if (m->g->roots[k] != WEIR_NONE && find_signature(&c->symmetries, m->g->roots[k], &signature))
            return WEIR_ENOMEM;
        *sum += m->g->roots[k] != WEIR_NONE ? hash_add(c->symmetries.key + 23, signature) : 0;
    }
    return WEIR_OK;
}

/* Computes the state as a sum, so that the order of picks does not matter. Signatures include the demands below a
 * vertex. */
int weir_competing_state(struct competing *c, uint32_t i, uint64_t *state)
{
    *state = hash_add(c->symmetries.key + 7, i < c->n ? c->demands[i].r->index : 0);
    for (uint32_t k = 0; k < c->n; k++) {
        const struct demand *d = &c->demands[k];
        int64_t missing = demand_minimum(d) - d->units;
        bool symmetric = c->symmetries.known && d->under != WEIR_NONE;
        uint64_t h = hash_add(c->symmetries.key + (k < i), d->r->index);
        h = hash_add(hash_add(hash_add(h, symmetric ? 0 : d->under), d->host), (uint64_t)d->times);
        if (d->subsystem != WEIR_NONE || k >= i || missing > 0)
            *state += hash_add(h, (uint64_t)missing);
    }
    if (hash_picks(c, state))
        return WEIR_ENOMEM;
    *state += *state == 0;
    return WEIR_OK;
}

bool weir_competing_refused(const struct competing *c, uint64_t state)
{
    WEIR_MAP32_EACH (&c->state_numbers, (uint32_t)state, i)
        if (c->states[i] == state)
            return true;
    return false;
}

int weir_competing_refuse(struct competing *c, uint64_t state)
{
    if (weir_array_reserve(&c->states, &c->states_cap, (size_t)c->nstates + 1, sizeof *c->states) ||
        weir_map32_add(&c->state_numbers, (uint32_t)state, c->nstates))
        return weir_fail_nomem(c->m->err);
    c->states[c->nstates++] = state;
    return WEIR_OK;
}
