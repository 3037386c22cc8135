/* score_reads.c - the facts that remembered scores depend on: recorded while a policy computes a score, followed when
 * the graph changes. Invariant: a change of a fact marks all scores that depend on the fact as stale. Facts are never
 * taken from a score: a score that depends on too much is computed in vain, and not wrong. */
#include "index/score_reads.h"

#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"

#define BIT(what) (1u << (what))
/* The facts changed by a change of units, or of a state above a vertex. */
#define UNITS (BIT(WEIR_READ_FREE) | BIT(WEIR_READ_BELOW))

/* ---- recording ---- */

/* Records facts of a vertex; `bare` are the facts recorded without numbers. */
static void note(struct score_memories *all, weir_vertex v, unsigned what, unsigned bare)
{
    for (uint32_t i = 0; i < all->nnoted; i++)
        if (all->noted[i].v == v) {
            all->noted[i].what |= (uint8_t)what;
            all->noted[i].bare |= (uint8_t)bare;
            return;
        }
    if (all->nnoted == SCORE_READS_MAX) {
        all->trouble = "more than 256 vertices for one score";
        return;
    }
    all->noted[all->nnoted].v = v;
    all->noted[all->nnoted].bare = (uint8_t)bare;
    all->noted[all->nnoted++].what = (uint8_t)what;
}

/* Notes a fact, and reads its numbers. */
static void note_numbers(const weir_graph *g, weir_vertex v, enum weir_read what, weir_type type, int64_t limit)
{
    struct score_memories *all = scores_in(g);
    struct score_fact fact = {.v = v, .type = type, .what = (uint8_t)what, .limit = limit};

    note(all, v, BIT(what), 0);
    for (uint32_t i = 0; i < all->nfacts; i++)
        if (weir_score_fact_alike(&all->facts[i], &fact))
            return;
    all->many |= all->nfacts == SCORE_FACTS;
    if (all->many)
        return;
    weir_score_fact_read(g, &fact);
    all->facts[all->nfacts++] = fact;
}

void weir_read(const weir_graph *g, weir_vertex v, enum weir_read what)
{
    struct score_memories *all = scores_in(g);

    if (!all || !all->recording)
        return;
    switch (what) {
    case WEIR_READ_NOW: note_numbers(g, SCORE_SOURCE_NOW, what, WEIR_NO_TYPE, 0); return;
    case WEIR_READ_DURATION: note_numbers(g, SCORE_SOURCE_DURATION, what, WEIR_NO_TYPE, SCORE_NO_LIMIT); return;
    case WEIR_READ_RANK: /* a rank is inherited */
        for (; v != WEIR_NONE; v = vertex_at(g, v)->parent)
            note(all, v, BIT(WEIR_READ_RANK), BIT(WEIR_READ_RANK));
        return;
    default: break;
    }
    for (uint32_t i = 0; v == WEIR_NONE && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            note(all, g->roots[i], UNITS, UNITS);
    if (v == WEIR_NONE)
        return;
    if (what == WEIR_READ_FREE || what == WEIR_READ_STATE)
        note_numbers(g, v, what, WEIR_NO_TYPE, 0);
    else
        note(all, v, BIT(what), BIT(what));
}

void weir_read_below(const weir_graph *g, weir_vertex v, const char *type, weir_aggregate *out)
{
    weir_type t = weir_type_find(g, type);

    if (scores_in(g) && scores_in(g)->recording)
        note_numbers(g, v, WEIR_READ_BELOW, t, 0);
    weir_units_below(g, v, t, out);
    out->type = type;
}

void weir_read_limit(const weir_graph *g, int64_t limit)
{
    struct score_memories *all = scores_in(g);
    struct score_memory *x = all && all->recording ? all->into : NULL;
    uint32_t i = 0;

    if (!x)
        return;
    while (i < x->nlimits && x->limits[i].at != limit)
        i++;
    if (i == SCORE_LIMITS) {
        note_numbers(g, SCORE_SOURCE_DURATION, WEIR_READ_DURATION, WEIR_NO_TYPE, limit);
    } else if (i == x->nlimits) {
        x->limits[i].at = limit;
        x->limits[i].within = all->duration <= limit;
        x->nlimits++;
    }
}

void weir_read_other(const weir_graph *g, const char *what)
{
    if (scores_in(g) && scores_in(g)->recording)
        scores_in(g)->trouble = what;
}

const char *weir_read_trouble(const weir_graph *g)
{
    return scores_in(g) ? scores_in(g)->trouble : NULL;
}

/* The number of the source of a vertex, made where there is none; WEIR_NONE: out of memory. */
static uint32_t source_of(struct score_memory *x, weir_vertex v)
{
    uint32_t i = weir_map32_get(&x->source_of, v);

    if (i != WEIR_NONE)
        return i;
    if (weir_array_reserve(&x->sources, &x->sources_cap, (size_t)x->nsources + 1, sizeof *x->sources) ||
        weir_map32_add(&x->source_of, v, x->nsources))
        return WEIR_NONE;
    x->sources[x->nsources].reads = WEIR_NONE;
    x->sources[x->nsources].what = 0;
    return x->nsources++;
}

static void note_type(const weir_graph *g, struct score_memory *x, weir_vertex v)
{
    if (v < g->limit)
        x->types[kind_of(g, v)->type / 64 % 4] |= UINT64_C(1) << kind_of(g, v)->type % 64;
}

static int depend(const weir_graph *g, struct score_memory *x, uint32_t i, weir_vertex v, unsigned what, unsigned bare)
{
    uint32_t source = source_of(x, v), k;

    if (source == WEIR_NONE)
        return WEIR_ENOMEM;
    for (k = x->list[i].reads; k != WEIR_NONE && x->reads[k].source != source;)
        k = x->reads[k].own;
    if (k == WEIR_NONE) {
        if (weir_array_reserve(&x->reads, &x->reads_cap, (size_t)x->nreads + 1, sizeof *x->reads))
            return WEIR_ENOMEM;
        k = x->nreads++;
        x->reads[k] = (struct score_read){i, source, x->sources[source].reads, x->list[i].reads, 0, 0};
        x->sources[source].reads = x->list[i].reads = k;
        note_type(g, x, v);
    }
    x->sources[source].what |= (uint8_t)what;
    x->reads[k].what |= (uint8_t)what;
    x->reads[k].bare |= (uint8_t)bare;
    return WEIR_OK;
}

int weir_score_depend(const weir_graph *g, struct score_memory *x, uint32_t i)
{
    const struct score_memories *all = scores_in(g);
    int rc = WEIR_OK;

    for (uint32_t k = 0; !rc && k < all->nnoted; k++)
        rc = depend(g, x, i, all->noted[k].v, all->noted[k].what, all->noted[k].bare);
    return rc;
}

/* ---- changes ---- */

void weir_score_touch(struct score_memory *x, weir_vertex v, unsigned what)
{
    uint32_t source = weir_map32_get(&x->source_of, v);

    if (source == WEIR_NONE || !(x->sources[source].what & what))
        return;
    for (uint32_t k = x->sources[source].reads; k != WEIR_NONE; k = x->reads[k].next) {
        struct score *s = &x->list[x->reads[k].score];
        if (x->reads[k].bare & what)
            weir_score_versions_drop(x, s);
        if (!(x->reads[k].what & what) || s->stale)
            continue;
        s->stale = true;
        if (!s->queued)
            x->stale[x->nstale++] = x->reads[k].score;
        s->queued = true;
    }
}

/* Whether some fact is about a vertex with a type below an inner vertex. */
static bool reads_below(const weir_graph *g, const struct score_memory *x, const struct inner *in)
{
    const struct schema *sc = in && in->cells ? schema_at(g, in->schema) : NULL;

    for (uint32_t i = 0; sc && i < sc->ntypes; i++)
        if (x->types[sc->codes[i] / 64 % 4] & UINT64_C(1) << sc->codes[i] % 64)
            return true;
    return false;
}

/* A vertex that is down or held has no free units below. */
static void touch_below(const weir_graph *g, struct score_memory *x, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    if (!reads_below(g, x, in))
        return;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE) {
            weir_score_touch(x, in->kids[i], UNITS);
            touch_below(g, x, in->kids[i]);
        }
}

int weir_scores_look(weir_graph *g)
{
    struct score_memories *all = scores_in(g);

    if (all->closed)
        return WEIR_OK;
    all->closed = weir_mem_zalloc((size_t)g->ninners + 1, sizeof *all->closed);
    if (!all->closed)
        return WEIR_ENOMEM;
    all->nclosed = g->ninners;
    for (uint32_t i = 0; i < g->ninners; i++)
        all->closed[i] = g->inners[i].vertex != WEIR_NONE && !vertex_open(g, g->inners[i].vertex);
    return WEIR_OK;
}

/* Follows a change of v: of its units, or of its state, or of the rows over the vertices below. */
static void touch_vertex(const weir_graph *g, weir_vertex v)
{
    struct score_memories *all = scores_in(g);
    uint32_t inner = vertex_at(g, v)->inner;
    bool flips = inner < all->nclosed && all->closed[inner] == vertex_open(g, v);

    for (uint32_t i = 0; i < all->n; i++) {
        weir_score_touch(all->list[i], v, UNITS | BIT(WEIR_READ_STATE));
        if (flips)
            touch_below(g, all->list[i], v);
    }
    if (flips)
        all->closed[inner] = !all->closed[inner];
}

static void touch_up(const weir_graph *g, weir_vertex v)
{
    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        for (uint32_t i = 0; i < scores_in(g)->n; i++)
            weir_score_touch(scores_in(g)->list[i], v, BIT(WEIR_READ_BELOW));
}

static void used(weir_graph *g, weir_vertex v)
{
    touch_vertex(g, v);
    touch_up(g, vertex_at(g, v)->parent);
}

static void used_run(weir_graph *g, weir_vertex p, uint32_t from, uint32_t to)
{
    const struct inner *in = inner_of(g, p);

    for (uint32_t k = from; k <= to; k++)
        if (in->kids[k] != WEIR_NONE)
            touch_vertex(g, in->kids[k]);
    touch_up(g, p);
}

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    (void)map;
    for (uint32_t i = 0; i < scores_in(g)->n; i++)
        weir_score_touch(scores_in(g)->list[i], v, BIT(key == WEIR_NO_NAME ? WEIR_READ_RANK : WEIR_READ_MAPS));
}

static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    (void)p;
    (void)pos;
    (void)count;
    weir_scores_drop_all(g);
}

static void changed(weir_graph *g, weir_vertex v)
{
    (void)v;
    weir_scores_drop_all(g);
}

static void freed(weir_graph *g)
{
    weir_scores_drop_all(g);
    weir_record_drop(g, RECORD_SCORES, &weir_scores_observer);
}

static size_t bytes(const weir_graph *g)
{
    size_t n = sizeof *scores_in(g) + scores_in(g)->nclosed * sizeof *scores_in(g)->closed;

    for (uint32_t i = 0; i < scores_in(g)->n; i++)
        n += weir_score_bytes(scores_in(g)->list[i]);
    return n;
}

/* The own facts of each score lead back to the score, and each stale score is queued once. */
static int check(const weir_graph *g, weir_err *err)
{
    for (uint32_t i = 0; i < scores_in(g)->n; i++) {
        const struct score_memory *x = scores_in(g)->list[i];
        uint32_t queued = 0;
        for (uint32_t k = 0; k < x->n; k++) {
            queued += x->list[k].queued;
            if (x->list[k].stale && !x->list[k].queued)
                return weir_fail(err, WEIR_EINVAL, "weir_check: a stale score is not queued");
        }
        if (!weir_score_versions_check(x))
            return weir_fail(err, WEIR_EINVAL, "weir_check: the versions of a score are not well formed");
        if (x->stale_cap < x->n || x->cap < x->n)
            return weir_fail(err, WEIR_EINVAL, "weir_check: there is no room to queue each of %u scores", x->n);
        if (queued != x->nstale)
            return weir_fail(err, WEIR_EINVAL, "weir_check: %u scores are queued, %u marked", x->nstale, queued);
    }
    return WEIR_OK;
}

const struct weir_observer weir_scores_observer = {
    .linked = linked,
    .unlinked = changed,
    .promoted = changed,
    .described = described,
    .described_many = weir_scores_drop_all,
    .used = used,
    .used_run = used_run,
    .reset = freed,
    .freed = freed,
    .bytes = bytes,
    .check = check,
};
