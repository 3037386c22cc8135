/* score.c - score memories: found, made, filled, dropped. Invariant: a score that is not stale is the score that the
 * policy would compute now; each fact that the score was computed from leads to the score (score_reads.c). */
#include "index/score.h"

#include <stdlib.h>
#include <string.h>

#include "graph/observer.h"
#include "index/candidate_index.h"
#include "index/score_reads.h"

/* ---- memories ---- */

static void memory_free(struct score_memory *x)
{
    WEIR_FREE(x->key, x->list, x->leaf, x->inner, x->shared, x->common, x->reads, x->sources, x->stale, x->versions,
              x->facts);
    weir_map32_free(&x->source_of);
    weir_mem_free(x);
}

static void drop_at(weir_graph *g, uint32_t i)
{
    struct score_memories *all = scores_in(g);
    struct score_memory *x = all->list[i];

    weir_index_drop_scored(g, x);
    memory_free(x);
    all->list[i] = all->list[--all->n];
}

static void drop(weir_graph *g, const struct score_memory *x)
{
    uint32_t i = 0;

    while (scores_in(g)->list[i] != x)
        i++;
    drop_at(g, i);
}

void weir_scores_drop_all(weir_graph *g)
{
    while (scores_in(g)->n > 0)
        drop_at(g, scores_in(g)->n - 1);
    weir_mem_free(scores_in(g)->closed);
    scores_in(g)->closed = NULL;
    scores_in(g)->nclosed = 0;
}

size_t weir_score_bytes(const struct score_memory *x)
{
    return sizeof *x + x->key_len + x->cap * sizeof *x->list + x->leaf_cap * sizeof *x->leaf +
           x->inner_cap * (sizeof *x->inner + sizeof *x->shared + (x->common ? sizeof *x->common : 0)) +
           x->reads_cap * sizeof *x->reads + x->sources_cap * sizeof *x->sources + x->stale_cap * sizeof *x->stale +
           x->versions_cap * sizeof *x->versions + x->facts_cap * sizeof *x->facts + weir_map32_bytes(&x->source_of);
}

/* Drops memories, the least recently used first, until one more may be added. */
static void drop_oldest(weir_graph *g, const struct score_memory *keep)
{
    struct score_memories *all = scores_in(g);

    for (;;) {
        uint32_t oldest = WEIR_NONE;
        size_t bytes = 0;
        for (uint32_t i = 0; i < all->n; i++) {
            const struct score_memory *x = all->list[i];
            bytes += weir_score_bytes(x);
            if (x != keep && !x->busy && !weir_index_scored_in_use(g, x) &&
                (oldest == WEIR_NONE || x->last_use < all->list[oldest]->last_use))
                oldest = i;
        }
        if (oldest == WEIR_NONE || (all->n < SCORE_MEMORIES && bytes <= SCORE_BYTES))
            return;
        drop_at(g, oldest);
    }
}

int weir_scores_begin(weir_graph *g)
{
    struct score_memories *all = weir_record_make(g, RECORD_SCORES, sizeof *all, &weir_scores_observer);

    if (!all)
        return WEIR_ENOMEM;
    all->match++;
    return WEIR_OK;
}

#define KEY_MAX 1024 /* bytes of a key; longer keys are not remembered */

/* Whether the duration of the job is within the limits of a memory. */
static bool within_limits(const struct score_memory *x, int64_t duration)
{
    for (uint32_t i = 0; i < x->nlimits; i++)
        if ((duration <= x->limits[i].at) != x->limits[i].within)
            return false;
    return true;
}

static struct score_memory *find(const struct score_query *q, weir_type t, const uint8_t *key, size_t len)
{
    struct score_memories *all = scores_in(q->g);

    for (uint32_t i = 0; i < all->n; i++) {
        struct score_memory *x = all->list[i];
        if (x->type == t && x->kind == q->kind && x->serial == q->policy->serial && x->key_len == len &&
            memcmp(x->key, key, len) == 0 && within_limits(x, q->duration))
            return x;
    }
    return NULL;
}

static int set_key(struct score_memory *x, const uint8_t *key, size_t len)
{
    uint8_t *copy = weir_mem_alloc(len + 1);

    if (!copy)
        return WEIR_ENOMEM;
    memcpy(copy, key, len);
    weir_mem_free(x->key);
    x->key = copy;
    x->key_len = len;
    return WEIR_OK;
}

/* Whether siblings have a common score for the facts requested. */
static bool has_common(const struct score_query *q)
{
    return q->kind == KIND_SCORES && q->policy->score_siblings;
}

/* Calls the policy for the bytes that represent all facts but those of weir_read(). Returns 0 where nothing is to be
 * remembered. */
static size_t key_of(const struct score_query *q, uint8_t *key)
{
    const weir_policy *p = q->policy;
    size_t len = (q->kind == KIND_PRUNE ? p->judge_key : p->score_key)(p->data, q->r, (char *)key, KEY_MAX);

    return len > KEY_MAX ? 0 : len;
}

static struct score_memory *make(const struct score_query *q, weir_type t, const uint8_t *key, size_t len)
{
    weir_graph *g = q->g;
    struct score_memory *x;

    drop_oldest(g, NULL);
    x = scores_in(g)->n < SCORE_MEMORIES && !weir_scores_look(g) ? weir_mem_zalloc(1, sizeof *x) : NULL;
    if (!x)
        return NULL;
    *x = (struct score_memory){.serial = q->policy->serial,
                               .kind = q->kind,
                               .type = t,
                               .structure = g->serial,
                               .match = scores_in(g)->match,
                               .now = g->now,
                               .duration = q->duration,
                               .exact = true,
                               .free_version = WEIR_NONE};
    memset(x->free_facts, 0xff, sizeof x->free_facts);
    x->inner = weir_mem_zalloc((size_t)g->ninners + 1, sizeof *x->inner);
    x->shared = weir_mem_zalloc((size_t)g->ninners + 1, sizeof *x->shared);
    if (has_common(q))
        x->common = weir_mem_zalloc((size_t)g->ninners + 1, sizeof *x->common);
    if (!x->inner || !x->shared || (has_common(q) && !x->common) || set_key(x, key, len)) {
        memory_free(x);
        return NULL;
    }
    x->inner_cap = g->ninners;
    scores_in(g)->list[scores_in(g)->n++] = x;
    return x;
}

/* Marks the scores as stale that depend on the clock or on the duration, where these differ. */
static void follow_time(const struct score_query *q, struct score_memory *x)
{
    if (x->now != q->g->now)
        weir_score_touch(x, SCORE_SOURCE_NOW, UINT8_MAX);
    if (x->duration != q->duration)
        weir_score_touch(x, SCORE_SOURCE_DURATION, UINT8_MAX);
    x->now = q->g->now;
    x->duration = q->duration;
}

int weir_scores_of(const struct score_query *q, weir_type t, struct score_memory **out)
{
    uint8_t key[KEY_MAX];
    size_t len = key_of(q, key);
    struct score_memory *x;

    *out = NULL;
    if (len == 0)
        return WEIR_OK;
    x = find(q, t, key, len);
    if (x && x->structure != q->g->serial) {
        drop(q->g, x);
        x = NULL;
    }
    if (!x && scores_in(q->g)->n == SCORE_MEMORIES)
        drop_oldest(q->g, NULL);
    x = x ? x : make(q, t, key, len);
    scores_in(q->g)->duration = q->duration;
    if (!x)
        return scores_in(q->g)->n < SCORE_MEMORIES ? weir_fail_nomem(q->err) : WEIR_OK;
    x->last_use = weir_next_use(q->g);
    follow_time(q, x);
    *out = x;
    return WEIR_OK;
}

/* ---- scores ---- */

/* The place of the number of the score of v itself; NULL: out of memory. */
static uint32_t *place_of(const weir_graph *g, struct score_memory *x, weir_vertex v)
{
    uint32_t inner = vertex_at(g, v)->inner;

    if (inner != WEIR_NONE)
        return &x->inner[inner];
    if (!x->leaf) {
        x->leaf = weir_mem_zalloc((size_t)g->limit + 1, sizeof *x->leaf);
        x->leaf_cap = x->leaf ? g->limit : 0;
    }
    return x->leaf ? &x->leaf[v] : NULL;
}

static uint32_t *shared_place(const weir_graph *g, struct score_memory *x, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    return p == WEIR_NONE ? NULL : &x->shared[vertex_at(g, p)->inner];
}

/* The number of the score of v, of its own or shared; WEIR_NONE: v has none. */
static uint32_t number_of(const weir_graph *g, struct score_memory *x, weir_vertex v)
{
    uint32_t *own = place_of(g, x, v), *shared = shared_place(g, x, v);

    return own && *own ? *own - 1 : shared && *shared ? *shared - 1 : WEIR_NONE;
}

static bool same_value(double a, double b)
{
    return (a >= b && a <= b) || (isnan(a) && isnan(b));
}

static int reserve(struct score_memory *x)
{
    return weir_array_reserve(&x->list, &x->cap, (size_t)x->n + 1, sizeof *x->list) ||
           weir_array_reserve(&x->stale, &x->stale_cap, (size_t)x->cap, sizeof *x->stale);
}

/* The question. */
enum wanted { OWN_SCORE, SIBLINGS_COMMON };

/* The place of the number of the common score of v and its siblings; NULL: v has no parent, or the policy none. */
static uint32_t *common_place(const weir_graph *g, const struct score_memory *x, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    return p == WEIR_NONE || !x->common ? NULL : &x->common[vertex_at(g, p)->inner];
}

/* Calls the policy. The score of a root has both parts. */
static int call(const struct score_query *q, weir_vertex v, enum wanted what, double *score, bool *shared)
{
    const weir_policy *p = q->policy;
    double common = 0;
    bool keep = true;
    int rc;

    *shared = false;
    if (q->kind == KIND_PRUNE) {
        rc = p->judge(p->data, q->g, q->r, v, &keep);
        *score = keep ? 0 : (double)NAN;
        return rc;
    }
    if (what == SIBLINGS_COMMON)
        return p->score_siblings(p->data, q->g, q->r, v, score);
    rc = p->score(p->data, q->g, q->r, v, score, shared);
    if (rc <= 0 || !p->score_siblings || vertex_at(q->g, v)->parent != WEIR_NONE)
        return rc;
    rc = p->score_siblings(p->data, q->g, q->r, v, &common);
    *score += common;
    return rc;
}

static int evaluate_failed(const struct score_query *q)
{
    return weir_fail(q->err, WEIR_EPOLICY, "policy %s: %s failed", q->policy->name ? q->policy->name : "?",
                     q->kind == KIND_PRUNE ? "prune" : "evaluate");
}

/* Calls the policy, and records what the policy reads. Returns 1, 0: not to be remembered, or negative. */
static int ask(const struct score_query *q, struct score_memory *x, weir_vertex v, enum wanted what, double *score,
               bool *shared)
{
    struct score_memories *all = scores_in(q->g);
    int rc;

    all->recording = true;
    all->trouble = NULL;
    all->nnoted = all->nfacts = 0;
    all->many = false;
    all->into = x;
    x->busy = true;
    rc = call(q, v, what, score, shared);
    x->busy = false;
    all->recording = false;
    ++*q->calls;
    if (rc < 0)
        return evaluate_failed(q);
    return rc > 0 && !all->trouble;
}

/* The policy may have read more of the request than before: the key grows, and holds for all scores, as no earlier
 * score depends on the rest. Returns 1, 0: not to be remembered, or negative. */
static int renew_key(const struct score_query *q, struct score_memory *x)
{
    uint8_t key[KEY_MAX];
    size_t len = key_of(q, key);

    if (len == 0)
        return 0;
    if (len == x->key_len && memcmp(key, x->key, len) == 0)
        return 1;
    return set_key(x, key, len) ? weir_fail_nomem(q->err) : 1;
}

/* Adds a score, still stale. Returns the number; WEIR_NONE: out of memory. */
static uint32_t add_score(const weir_graph *g, struct score_memory *x, weir_vertex v, enum wanted what, bool shared)
{
    uint32_t *place = what == SIBLINGS_COMMON ? common_place(g, x, v) : shared ? shared_place(g, x, v) : NULL;

    shared = shared && place;
    place = place ? place : place_of(g, x, v);
    if (!place || reserve(x))
        return WEIR_NONE;
    x->own += !shared && what == OWN_SCORE;
    x->list[x->n] = (struct score){.value = (double)NAN,
                                   .v = v,
                                   .reads = WEIR_NONE,
                                   .version = WEIR_NONE,
                                   .stale = true,
                                   .shared = shared,
                                   .common = what == SIBLINGS_COMMON};
    *place = ++x->n;
    return x->n - 1;
}

/* Whether sums of values like `value` are exact: a multiple of 2^-30 that is not large. */
static bool is_exact(double value)
{
    return isnan(value) || (fabs(value) <= 0x1p21 && floor(value * 0x1p30) == value * 0x1p30);
}

/* Whether a change of the score that all siblings share, or of the common part, keeps the order among the siblings: all
 * scores change by the same amount, unless a sum is rounded, or some siblings have scores of their own. */
static bool moves_alike(const struct score_memory *x, const struct score *s, double value)
{
    return isnan(s->value) == isnan(value) && (x->own == 0 || (s->common && x->exact));
}

/* Sets the value of a score, which is not stale any more. */
static void set_value(const struct score_query *q, struct score_memory *x, weir_vertex v, uint32_t i, double value)
{
    struct score *s = &x->list[i];
    bool moved = !same_value(s->value, value), family = s->shared || s->common;

    x->exact = x->exact && is_exact(value);
    if (moved && x->indexed)
        weir_index_rescored(q->g, x, v,
                            !family                    ? RESCORED_VERTEX
                            : moves_alike(x, s, value) ? RESCORED_ALIKE
                                                       : RESCORED_SIBLINGS);
    s->value = value;
    s->stale = false;
}

/* Stores a score that was computed now. Returns 1 or WEIR_ENOMEM. */
static int store(const struct score_query *q, struct score_memory *x, weir_vertex v, uint32_t i, enum wanted what,
                 double value, bool shared)
{
    if (i == WEIR_NONE)
        i = add_score(q->g, x, v, what, shared);
    if (i == WEIR_NONE || weir_score_depend(q->g, x, i) || weir_score_version_add(q->g, x, i, value))
        return weir_fail_nomem(q->err);
    set_value(q, x, v, i, value);
    return 1;
}

/* Ends the sharing of a score: the policy says so no more. */
static void unshare(weir_graph *g, struct score_memory *x, uint32_t i)
{
    uint32_t *place = shared_place(g, x, x->list[i].v);

    if (place && *place == i + 1)
        *place = 0;
    weir_index_drop_scored(g, x);
    x->complete = false;
}

static int give_up(const struct score_query *q, struct score_memory *x, int rc)
{
    drop(q->g, x);
    return rc;
}

/* Computes the score of v, number i; WEIR_NONE: a new score. Returns as weir_score_get(). */
static int compute(const struct score_query *q, struct score_memory *x, weir_vertex v, uint32_t i, enum wanted what)
{
    const struct score_version *known = i == WEIR_NONE ? NULL : weir_score_version_find(q->g, x, &x->list[i]);
    double value = 0;
    bool shared;
    int rc;

    if (known) {
        set_value(q, x, v, i, known->value);
        return 1;
    }
    rc = ask(q, x, v, what, &value, &shared);
    if (rc == 1)
        rc = renew_key(q, x);
    if (rc <= 0)
        return give_up(q, x, rc);
    if (i != WEIR_NONE && x->list[i].shared && !shared) {
        unshare(q->g, x, i);
        i = WEIR_NONE;
    }
    rc = store(q, x, v, i, what, value, shared);
    return rc < 0 ? give_up(q, x, rc) : rc;
}

/* Compares a remembered score with a fresh one. Returns 1 or negative. */
static int check_score(const struct score_query *q, struct score_memory *x, weir_vertex v, uint32_t i)
{
    double value = 0, had = x->list[i].value;
    bool common = x->list[i].common, shared;
    char path[128];
    int rc;

    x->busy = true;
    rc = call(q, v, common ? SIBLINGS_COMMON : OWN_SCORE, &value, &shared);
    x->busy = false;
    if (rc == 0 || (rc > 0 && same_value(value, had)))
        return 1;
    weir_vertex_path(q->g, v, path, sizeof path);
    if (rc < 0)
        return evaluate_failed(q);
    if (q->kind == KIND_PRUNE)
        return weir_fail(q->err, WEIR_EINVAL, "prune %s %s, and a fresh call says otherwise: a bug of weir",
                         isnan(had) ? "left out" : "kept", path);
    return weir_fail(q->err, WEIR_EINVAL, "the remembered score of %s is %.17g, a fresh one %.17g: %s", path, had,
                     value,
                     common              ? "siblings have different results of evaluate_siblings, or a bug of weir"
                     : x->list[i].shared ? "evaluate says that siblings have equal scores, and they have not"
                                         : "a bug of weir");
}

/* Gets the common score of v and its siblings. Returns as weir_score_get(). */
static int get_common(const struct score_query *q, struct score_memory *x, weir_vertex v, double *common)
{
    const uint32_t *place = common_place(q->g, x, v);
    uint32_t i = *place ? *place - 1 : WEIR_NONE;
    int rc = 1;

    if (i == WEIR_NONE || x->list[i].stale)
        rc = compute(q, x, i == WEIR_NONE ? v : x->list[i].v, i, SIBLINGS_COMMON);
    else if (q->check)
        rc = check_score(q, x, v, i);
    if (rc == 1)
        *common = x->list[*common_place(q->g, x, v) - 1].value;
    return rc;
}

int weir_score_get(const struct score_query *q, struct score_memory *x, weir_vertex v, double *score)
{
    double common = 0;
    uint32_t i = number_of(q->g, x, v);
    int rc = 1;

    if (i == WEIR_NONE)
        rc = compute(q, x, v, i, OWN_SCORE);
    else if (x->list[i].stale)
        rc = compute(q, x, x->list[i].shared ? x->list[i].v : v, i, OWN_SCORE);
    else if (q->check)
        rc = check_score(q, x, v, i);
    if (rc == 1 && number_of(q->g, x, v) == WEIR_NONE) /* siblings share the score no more */
        rc = compute(q, x, v, WEIR_NONE, OWN_SCORE);
    if (rc == 1 && common_place(q->g, x, v))
        rc = get_common(q, x, v, &common);
    if (rc == 1)
        *score = x->list[number_of(q->g, x, v)].value + common;
    return rc;
}

/* Whether a memory was not dropped. */
static bool has_memory(const weir_graph *g, const struct score_memory *x)
{
    for (uint32_t i = 0; i < scores_in(g)->n; i++)
        if (scores_in(g)->list[i] == x)
            return true;
    return false;
}

/* Computes the scores of all vertices of the type that have none. Where siblings share a score no more, x->complete is
 * false afterwards. */
static int complete(const struct score_query *q, struct score_memory *x)
{
    const weir_graph *g = q->g;
    double score;
    int rc = 1;

    x->complete = true;
    for (weir_vertex v = 0; rc == 1 && v < g->limit; v++) {
        uint32_t i;
        if (!vertex_valid(g, v) || vertex_detached(g, v) || kind_of(g, v)->type != x->type)
            continue;
        i = number_of(g, x, v);
        if (i == WEIR_NONE || x->list[i].stale)
            rc = weir_interrupted() ? weir_fail(q->err, WEIR_EINTERRUPTED, "interrupted")
                                    : weir_score_get(q, x, v, &score);
    }
    if (rc < 0 && has_memory(g, x))
        x->complete = false;
    return rc;
}

/* Compares all scores with fresh ones. */
static int check_all(const struct score_query *q, struct score_memory *x)
{
    const weir_graph *g = q->g;
    int rc = 1;

    for (weir_vertex v = 0; rc == 1 && v < g->limit; v++) {
        const uint32_t *common;
        if (!vertex_valid(g, v) || vertex_detached(g, v) || kind_of(g, v)->type != x->type)
            continue;
        rc = check_score(q, x, v, number_of(g, x, v));
        common = common_place(g, x, v);
        if (rc == 1 && common)
            rc = check_score(q, x, v, *common - 1);
    }
    return rc;
}

/* Whether the score number i is one in use: an ended sharing leaves a score that is not. */
static bool in_use(const struct score_query *q, struct score_memory *x, uint32_t i)
{
    return x->list[i].common || number_of(q->g, x, x->list[i].v) == i;
}

int weir_scores_settle(const struct score_query *q, struct score_memory *x)
{
    double score;
    int rc = 1;

    while (rc == 1 && x->nstale > 0) {
        uint32_t i = x->stale[x->nstale - 1];
        if (x->list[i].stale && in_use(q, x, i))
            rc = weir_score_get(q, x, x->list[i].v, &score);
        if (rc == 1) {
            x->list[i].stale = false; /* also of a score that is in use no more */
            x->list[i].queued = false;
            x->nstale--;
        }
    }
    while (rc == 1 && !x->complete)
        rc = complete(q, x);
    return rc == 1 && q->check ? check_all(q, x) : rc;
}
