/* score_versions.c - versions of remembered scores: the numbers that were read for a score, compared with what they are
 * now. Invariants: the facts of a version are in the sequence in which they were read; a version is dropped when a fact
 * without numbers changes that some version of the score was computed from. */
#include "index/score_reads.h"

#include <string.h>

#include "aggregate/rows.h"

/* Whether a job has a vertex above v as a whole now. */
static bool held_above(const weir_graph *g, weir_vertex v)
{
    for (v = vertex_at(g, v)->parent; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        if (schedule_of(g, v) && schedule_of(g, v)->held)
            return true;
    return false;
}

void weir_score_fact_read(const weir_graph *g, struct score_fact *f)
{
    weir_aggregate a;

    memset(f->n, 0, sizeof f->n);
    switch ((enum weir_read)f->what) {
    case WEIR_READ_FREE:
        f->n[0] = weir_vertex_free(g, f->v);
        f->n[1] = vertex_unallocated(g, f->v);
        f->n[2] = held_above(g, f->v);
        break;
    case WEIR_READ_STATE: f->n[0] = (int64_t)vertex_at(g, f->v)->state; break;
    case WEIR_READ_NOW: f->n[0] = g->now; break;
    case WEIR_READ_DURATION:
        f->n[0] = f->limit == SCORE_NO_LIMIT ? scores_in(g)->duration : scores_in(g)->duration <= f->limit;
        break;
    default:
        weir_units_below(g, f->v, f->type, &a);
        f->n[0] = a.total;
        f->n[1] = a.free;
        f->n[2] = a.idle;
    }
}

/* ---- blocks of facts, and versions ---- */

/* The first of n facts in a row; WEIR_NONE: out of memory. */
static uint32_t take_facts(struct score_memory *x, uint32_t n)
{
    uint32_t at = x->free_facts[n];

    if (n == 0)
        return 0;
    if (at != WEIR_NONE) {
        x->free_facts[n] = x->facts[at].v;
        return at;
    }
    if (weir_array_reserve(&x->facts, &x->facts_cap, (size_t)x->nfacts + n, sizeof *x->facts))
        return WEIR_NONE;
    at = x->nfacts;
    x->nfacts += n;
    return at;
}

static void give_facts(struct score_memory *x, uint32_t at, uint32_t n)
{
    if (n == 0)
        return;
    x->facts[at].v = x->free_facts[n];
    x->free_facts[n] = at;
}

static uint32_t take_version(struct score_memory *x)
{
    uint32_t i = x->free_version;

    if (i != WEIR_NONE) {
        x->free_version = x->versions[i].next;
        return i;
    }
    if (weir_array_reserve(&x->versions, &x->versions_cap, (size_t)x->nversions + 1, sizeof *x->versions))
        return WEIR_NONE;
    return x->nversions++;
}

/* Frees the versions from *first on. */
static void drop_from(struct score_memory *x, uint32_t *first)
{
    while (*first != WEIR_NONE) {
        uint32_t i = *first;
        *first = x->versions[i].next;
        give_facts(x, x->versions[i].facts, x->versions[i].nfacts);
        x->versions[i].next = x->free_version;
        x->free_version = i;
    }
}

void weir_score_versions_drop(struct score_memory *x, struct score *s)
{
    drop_from(x, &s->version);
}

int weir_score_version_add(const weir_graph *g, struct score_memory *x, uint32_t i, double value)
{
    const struct score_memories *all = scores_in(g);
    uint32_t version, facts, *last = &x->list[i].version;

    if (all->many || all->nfacts == 0)
        return WEIR_OK;
    for (uint32_t n = 1; n < SCORE_VERSIONS && *last != WEIR_NONE; n++)
        last = &x->versions[*last].next;
    drop_from(x, last);
    version = take_version(x);
    if (version == WEIR_NONE)
        return WEIR_ENOMEM;
    x->versions[version].next = WEIR_NONE;
    x->versions[version].nfacts = 0;
    facts = take_facts(x, all->nfacts);
    if (facts == WEIR_NONE) {
        drop_from(x, &version);
        return WEIR_ENOMEM;
    }
    memcpy(x->facts + facts, all->facts, all->nfacts * sizeof *x->facts);
    x->versions[version] = (struct score_version){value, facts, x->list[i].version, (uint8_t)all->nfacts};
    x->list[i].version = version;
    return WEIR_OK;
}

/* ---- comparison ---- */

const struct score_version *weir_score_version_find(const weir_graph *g, struct score_memory *x, struct score *s)
{
    struct score_fact now = {.v = WEIR_NONE};

    for (uint32_t *at = &s->version; *at != WEIR_NONE; at = &x->versions[*at].next) {
        struct score_version *version = &x->versions[*at];
        uint32_t k = 0;
        for (; k < version->nfacts; k++) {
            const struct score_fact *had = &x->facts[version->facts + k];
            if (!weir_score_fact_alike(&now, had)) {
                now = *had;
                weir_score_fact_read(g, &now);
            }
            if (memcmp(now.n, had->n, sizeof now.n) != 0)
                break;
        }
        if (k == version->nfacts) { /* put in front */
            uint32_t i = *at;
            *at = version->next;
            version->next = s->version;
            s->version = i;
            return version;
        }
    }
    return NULL;
}

bool weir_score_versions_check(const struct score_memory *x)
{
    for (uint32_t k = 0; k < x->n; k++) {
        uint32_t n = 0;
        for (uint32_t i = x->list[k].version; i != WEIR_NONE; i = x->versions[i].next) {
            const struct score_version *version = &x->versions[i];
            if (++n > SCORE_VERSIONS || version->nfacts == 0 || version->nfacts > SCORE_FACTS ||
                version->facts + version->nfacts > x->nfacts)
                return false;
        }
    }
    return true;
}
