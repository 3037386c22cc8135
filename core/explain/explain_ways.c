/* explain_ways.c - finds obstacles to be removed for a request to fit. First by kinds: the minimal sets of kinds
 * that suffice if all obstacles of the kinds are lifted. Then singly: a placement among the fewest obstacles tells
 * which obstacles may matter, and every unnecessary obstacle is restored. Invariant: each way has been tried by a
 * match, and every obstacle in a way is necessary.
 */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "job/job.h"

#define SINGLES 128 /* most obstacles of a kind to be tried singly */
#define FEW     4   /* most obstacles to be reduced without a placement */

/* ---- collecting ---- */

static int add(struct explain *x, struct obstacle ob)
{
    if (weir_array_reserve(&x->list, &x->cap, (size_t)x->n + 1, sizeof *x->list))
        return weir_fail_nomem(x->err);
    x->list[x->n++] = ob;
    return WEIR_OK;
}

static int add_part(struct explain *x, unsigned part)
{
    return add(x, (struct obstacle){.kind = WEIR_BY_POLICY, .part = part});
}

static int seen_policy(void *data, const weir_policy *p)
{
    struct explain *x = data;
    int rc = WEIR_OK;

    if (p->prune)
        rc = add_part(x, PART_PRUNE);
    if (!rc && p->evaluate)
        rc = add_part(x, PART_EVALUATE);
    if (!rc && p->nexclusive)
        rc = add_part(x, PART_EXCLUSIVE);
    if (!rc && p->nlocality)
        rc = add_part(x, PART_LOCALITY);
    return rc;
}

/* Splits a constraint into conjuncts and appends the conjuncts to `atoms`. Returns -1 if out of memory. */
static int split(json_t *atoms, const json_t *constraint)
{
    const char *key;
    json_t *value;
    int rc = 0;

    json_object_foreach((json_t *)(uintptr_t)constraint, key, value) {
        bool all = strcmp(key, "and") == 0, each = strcmp(key, "properties") == 0;
        for (size_t i = 0; (all || each) && !rc && i < json_array_size(value); i++) {
            const json_t *one = json_array_get(value, i);
            rc = all ? split(atoms, one) : json_array_append_new(atoms, json_pack("{s:[O]}", key, one));
        }
        if (!all && !each && !rc)
            rc = json_array_append_new(atoms, json_pack("{s:O}", key, value));
    }
    return rc;
}

static int collect_constraint(struct explain *x)
{
    const json_t *system = json_object_get(json_object_get(x->asked->root, "attributes"), "system");
    const json_t *constraint = json_object_get(system, "constraints");
    int rc = WEIR_OK;

    x->atoms = json_array();
    if (!x->atoms || (constraint && split(x->atoms, constraint)))
        return weir_fail_nomem(x->err);
    for (size_t i = 0; !rc && i < json_array_size(x->atoms); i++)
        rc = add(x, (struct obstacle){.kind = WEIR_BY_CONSTRAINT, .atom = json_array_get(x->atoms, i)});
    return rc;
}

static int collect_states(struct explain *x)
{
    int rc = WEIR_OK;

    for (weir_vertex v = 0; x->g->unavailable && !rc && v < x->g->limit; v++)
        if (vertex_valid(x->g, v) && !state_available(vertex_at(x->g, v)->state))
            rc = add(x, (struct obstacle){.kind = WEIR_BY_STATE, .vertex = {v, vertex_at(x->g, v)->state}});
    return rc;
}

/* Orders jobs by end, last first, because obstacles early in the list are restored first. */
static int by_end(const void *a, const void *b)
{
    const struct obstacle *p = a, *q = b;

    if (p->job.end != q->job.end)
        return p->job.end > q->job.end ? -1 : 1;
    return p->job.id > q->job.id ? -1 : p->job.id < q->job.id;
}

static int collect_jobs(struct explain *x)
{
    uint32_t first = x->n, n = weir_job_count(x->g);
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < n; i++) {
        const weir_allocation *a = weir_job_at(x->g, i);
        rc = add(x, (struct obstacle){.kind = WEIR_BY_JOB, .job = {a->job, a->start, a->end, NULL, 0}});
    }
    if (!rc && x->n > first)
        qsort(x->list + first, x->n - first, sizeof *x->list, by_end);
    return rc;
}

/* Counts obstacle number `stamp` at v and at every ancestor, once for each vertex. */
static void count_obstacle(struct explain *x, uint32_t *stamps, weir_vertex v, uint32_t stamp)
{
    if (stamps[v] != stamp)
        x->own[v]++;
    for (; v != WEIR_NONE && stamps[v] != stamp; v = vertex_at(x->g, v)->parent) {
        stamps[v] = stamp;
        x->weight[v]++;
    }
}

static int collect_weights(struct explain *x)
{
    uint32_t *stamps = weir_mem_zalloc(x->g->limit + 1u, sizeof *stamps);

    x->weight = weir_mem_zalloc(x->g->limit + 1u, sizeof *x->weight);
    x->own = weir_mem_zalloc(x->g->limit + 1u, sizeof *x->own);
    for (uint32_t i = 0; stamps && x->weight && x->own && i < x->n; i++) {
        const weir_allocation *a = x->list[i].kind == WEIR_BY_JOB ? weir_job_get(x->g, x->list[i].job.id) : NULL;
        for (uint32_t k = 0; a && k < a->npicks; k++)
            count_obstacle(x, stamps, a->picks[k].vertex, i + 1);
        if (x->list[i].kind == WEIR_BY_STATE)
            count_obstacle(x, stamps, x->list[i].vertex.v, i + 1);
    }
    weir_mem_free(stamps);
    return stamps && x->weight && x->own ? WEIR_OK : weir_fail_nomem(x->err);
}

int weir_explain_collect(struct explain *x)
{
    int rc;

    x->first[WEIR_BY_POLICY] = 0;
    rc = weir_explain_with_policy(x, false, seen_policy, x);
    x->first[WEIR_BY_CONSTRAINT] = x->n;
    weir_explain_changed(x);
    rc = rc ? rc : collect_constraint(x);
    x->first[WEIR_BY_STATE] = x->n;
    rc = rc ? rc : collect_states(x);
    x->first[WEIR_BY_JOB] = x->n;
    rc = rc ? rc : collect_jobs(x);
    x->first[WEIR_OBSTACLES] = x->n;
    return rc;
}

void weir_explain_forget(struct explain *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->list[i].kind == WEIR_BY_JOB)
            weir_mem_free(x->list[i].job.picks);
    weir_mem_free(x->list);
    weir_mem_free(x->weight);
    weir_mem_free(x->own);
    json_decref(x->atoms);
}

/* ---- lifting ---- */

static int release(struct explain *x, struct obstacle *ob)
{
    uint32_t i = weir_job_index(x->g, ob->job.id);
    const weir_allocation *a = &x->g->jobs->list[i].a;
    weir_pick *picks = weir_mem_alloc((a->npicks + 1) * sizeof *picks);

    if (!picks)
        return weir_fail_nomem(x->err);
    memcpy(picks, a->picks, a->npicks * sizeof *picks);
    ob->job.picks = picks;
    ob->job.npicks = a->npicks;
    weir_job_drop(x->g, i);
    return WEIR_OK;
}

static int put_back(struct explain *x, struct obstacle *ob)
{
    uint32_t i;
    int rc = weir_job_commit(x->g, ob->job.id, ob->job.start, ob->job.end, ob->job.picks, ob->job.npicks, &i, x->err);

    if (rc)
        return rc;
    weir_mem_free(ob->job.picks);
    ob->job.picks = NULL;
    return WEIR_OK;
}

int weir_explain_lift(struct explain *x, struct obstacle *ob, bool on)
{
    int rc = WEIR_OK;

    if (ob->lifted == on)
        return WEIR_OK;
    if (ob->kind == WEIR_BY_JOB)
        rc = on ? release(x, ob) : put_back(x, ob);
    else if (ob->kind == WEIR_BY_STATE)
        rc = weir_vertex_set_state(x->g, ob->vertex.v, on ? WEIR_UP : ob->vertex.state, x->err);
    else if (ob->kind == WEIR_BY_CONSTRAINT)
        weir_explain_changed(x);
    if (!rc)
        ob->lifted = on;
    return rc;
}

int weir_explain_lift_kinds(struct explain *x, unsigned kinds)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < x->n; i++)
        rc = weir_explain_lift(x, &x->list[i], kinds >> x->list[i].kind & 1);
    return rc;
}

/* ---- minimal sets of obstacles ---- */

/* A list of obstacles, all lifted at first, to be reduced. */
struct choice {
    struct obstacle **list;
    uint32_t n;
    bool cut;
};

/* Whether the request fits now. An undecided match counts as no. Returns 1, 0 or a negative status. */
static int fits(struct explain *x, struct choice *c)
{
    int rc;

    if (weir_explain_exhausted(x)) {
        c->cut = true;
        return 0;
    }
    rc = weir_explain_try(x, TRY_PLAIN);
    if (rc != WEIR_ELIMIT)
        return rc;
    c->cut = true;
    if (x->err)
        weir_err_clear(x->err);
    return 0;
}

static int lift_range(struct explain *x, struct choice *c, uint32_t lo, uint32_t hi, bool on)
{
    int rc = WEIR_OK;

    for (uint32_t i = lo; !rc && i < hi; i++)
        rc = weir_explain_lift(x, c->list[i], on);
    return rc;
}

/* Restores every unnecessary obstacle of [lo, hi), by bisection. All of the range must be lifted. */
static int minimize(struct explain *x, struct choice *c, uint32_t lo, uint32_t hi)
{
    uint32_t mid = lo + (hi - lo) / 2;
    int rc;

    if (lo == hi || c->cut)
        return WEIR_OK;
    rc = lift_range(x, c, lo, hi, false);
    rc = rc ? rc : fits(x, c);
    if (rc != 0)
        return rc < 0 ? rc : WEIR_OK;
    rc = lift_range(x, c, lo, hi, true);
    if (rc || hi - lo == 1)
        return rc;
    rc = minimize(x, c, lo, mid);
    return rc ? rc : minimize(x, c, mid, hi);
}

/* Looks for a single sufficient obstacle in `all`. Returns 1: c has just the obstacle found, lifted; 0: none, all
 * are restored; or a negative status. */
static int find_single(struct explain *x, struct choice *c, struct obstacle *const *all, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        int rc = weir_explain_lift(x, all[i], true);
        rc = rc ? rc : fits(x, c);
        if (rc == 1) {
            c->list[0] = all[i];
            c->n = 1;
        }
        if (rc)
            return rc;
        rc = weir_explain_lift(x, all[i], false);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- obstacles near a placement ---- */

/* The relation of a vertex to the picks of a placement: picked, or an ancestor of a pick (a pick included). */
enum { MARK_PICK = 1, MARK_ABOVE = 2 };

static uint8_t *mark_picks(struct explain *x, const weir_pick *picks, uint32_t n)
{
    uint8_t *marks = weir_mem_zalloc(x->g->limit + 1u, 1);

    for (uint32_t i = 0; marks && i < n; i++) {
        weir_vertex v = picks[i].vertex;
        marks[v] |= MARK_PICK;
        for (; v != WEIR_NONE && !(marks[v] & MARK_ABOVE); v = vertex_at(x->g, v)->parent)
            marks[v] |= MARK_ABOVE;
    }
    if (!marks)
        weir_fail_nomem(x->err);
    return marks;
}

static bool near_picks(const struct explain *x, const uint8_t *marks, weir_vertex v)
{
    if (marks[v])
        return true;
    for (; v != WEIR_NONE; v = vertex_at(x->g, v)->parent)
        if (marks[v] & MARK_PICK)
            return true;
    return false;
}

/* Whether an obstacle concerns a pick's vertex, an ancestor or a descendant. A job must be lifted to be asked about. */
static bool obstacle_near_picks(const struct explain *x, const uint8_t *marks, const struct obstacle *ob)
{
    if (ob->kind == WEIR_BY_STATE)
        return near_picks(x, marks, ob->vertex.v);
    for (uint32_t i = 0; ob->kind == WEIR_BY_JOB && i < ob->job.npicks; i++)
        if (near_picks(x, marks, ob->job.picks[i].vertex))
            return true;
    return ob->kind != WEIR_BY_JOB;
}

/* Restores the obstacles far from the picks. Returns 1: the request still fits, and c has the obstacles left; 0: the
 * request does not fit, and all are lifted again; or a negative status. */
static int keep_near_picks(struct explain *x, struct choice *c, const weir_pick *picks, uint32_t npicks)
{
    uint8_t *marks = mark_picks(x, picks, npicks);
    struct obstacle **list = c->list;
    uint32_t n = 0;
    int rc = marks ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < c->n; i++) {
        struct obstacle *ob = list[i];
        if (obstacle_near_picks(x, marks, ob)) {
            list[i] = list[n];
            list[n++] = ob;
        } else {
            rc = weir_explain_lift(x, ob, false);
        }
    }
    weir_mem_free(marks);
    rc = rc ? rc : fits(x, c);
    if (rc == 1)
        c->n = n;
    return rc ? rc : lift_range(x, c, 0, c->n, true);
}

static int by_position(const void *a, const void *b)
{
    const struct obstacle *p = *(struct obstacle *const *)a, *q = *(struct obstacle *const *)b;
    return p < q ? -1 : p > q;
}

/* Restores every unnecessary obstacle. All of the list must be lifted, and the request must fit. */
static int reduce(struct explain *x, struct choice *c)
{
    int rc = WEIR_OK;

    if (c->n > FEW) {
        rc = weir_explain_try(x, TRY_LEAST);
        rc = rc == 1 ? keep_near_picks(x, c, x->picks, x->npicks) : rc == WEIR_ELIMIT ? WEIR_OK : rc;
    }
    if (rc < 0)
        return rc;
    if (c->n)
        qsort(c->list, c->n, sizeof *c->list, by_position);
    return minimize(x, c, 0, c->n);
}

static void drop_restored(struct choice *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->list[i]->lifted)
            c->list[n++] = c->list[i];
    c->n = n;
}

/* ---- ways ---- */

static int describe(struct explain *x, const struct obstacle *ob, weir_obstacle *to)
{
    static const char *const parts[] = {[PART_PRUNE] = "prune",
                                        [PART_EVALUATE] = "evaluate",
                                        [PART_EXCLUSIVE] = "exclusive",
                                        [PART_LOCALITY] = "locality"};
    char *text, *copy;

    *to = (weir_obstacle){.kind = ob->kind, .vertex = WEIR_NONE};
    if (ob->kind == WEIR_BY_JOB) {
        to->job = ob->job.id;
        to->end = ob->job.end;
    } else if (ob->kind == WEIR_BY_STATE) {
        to->vertex = ob->vertex.v;
    } else if (ob->kind == WEIR_BY_POLICY) {
        to->text = parts[ob->part];
    } else {
        text = json_dumps(ob->atom, JSON_COMPACT | JSON_SORT_KEYS);
        to->text = copy = text ? weir_mem_strdup(text) : NULL;
        free(text);
        return copy ? WEIR_OK : weir_fail_nomem(x->err);
    }
    return WEIR_OK;
}

static int make_way(struct explain *x, const struct choice *c, weir_way *way)
{
    weir_obstacle *list = weir_mem_zalloc(c->n + 1u, sizeof *list);
    int rc = list ? WEIR_OK : weir_fail_nomem(x->err);

    *way = (weir_way){list, c->n, c->cut};
    for (uint32_t i = 0; !rc && i < c->n; i++)
        rc = describe(x, c->list[c->n - 1 - i], &list[i]);
    return rc;
}

static int add_way(struct explain *x, const struct choice *c)
{
    weir_way *ways = weir_mem_realloc((void *)(uintptr_t)x->out->ways, (x->out->nways + 1u) * sizeof *ways);

    if (!ways)
        return weir_fail_nomem(x->err);
    x->out->ways = ways;
    ways[x->out->nways++] = (weir_way){0};
    return make_way(x, c, &ways[x->out->nways - 1]);
}

static struct obstacle **choose(struct explain *x, unsigned kinds, uint32_t *n)
{
    struct obstacle **list = weir_mem_alloc((x->n + 1u) * sizeof *list);

    *n = 0;
    for (uint32_t i = 0; list && i < x->n; i++)
        if (kinds >> x->list[i].kind & 1)
            list[(*n)++] = &x->list[i];
    if (!list)
        weir_fail_nomem(x->err);
    return list;
}

/* Adds the way for a set of kinds. The kinds must be lifted, and the request must fit. */
static int find_way(struct explain *x, unsigned kinds)
{
    uint32_t n, all;
    struct obstacle **list = choose(x, kinds, &n), **rest = choose(x, kinds, &all);
    struct choice c = {list, n, false};
    int rc = list && rest ? reduce(x, &c) : WEIR_ENOMEM;

    if (!rc)
        drop_restored(&c);
    if (!rc && c.n > 1 && all <= SINGLES) {
        struct choice one = {list, 0, false};
        rc = weir_explain_lift_kinds(x, 0);
        rc = rc ? rc : find_single(x, &one, rest, all);
        c = rc == 1 ? one : c;
        rc = rc == 1 ? WEIR_OK : rc;
    }
    rc = rc ? rc : add_way(x, &c);
    weir_mem_free(list);
    weir_mem_free(rest);
    return rc;
}

/* Whether a proper subset of the kinds is known to suffice. */
static bool covered(const bool *known, unsigned kinds)
{
    for (unsigned k = 1; k < kinds; k++)
        if (known[k] && (k & kinds) == k)
            return true;
    return false;
}

/* The set of kinds with at least one obstacle. */
static unsigned kinds_here(const struct explain *x)
{
    unsigned kinds = 0;

    for (uint32_t i = 0; i < x->n; i++)
        kinds |= 1u << x->list[i].kind;
    return kinds;
}

/* Whether the request fits with the given kinds lifted. Returns 1, 0 or a negative status. */
static int fits_without(struct explain *x, unsigned kinds)
{
    struct choice c = {NULL, 0, false};
    int rc = weir_explain_lift_kinds(x, kinds);

    return rc ? rc : fits(x, &c);
}

int weir_explain_ways(struct explain *x)
{
    bool known[1 << WEIR_OBSTACLES] = {false};
    unsigned here = kinds_here(x);
    int rc = collect_weights(x);

    rc = rc ? rc : fits_without(x, here);

    for (unsigned kinds = 1; rc == 1 && kinds <= here; kinds++) {
        if ((kinds & here) != kinds || covered(known, kinds))
            continue;
        rc = fits_without(x, kinds);
        known[kinds] = rc == 1;
        rc = rc == 1 ? find_way(x, kinds) : rc;
        rc = rc ? rc : 1;
    }
    if (rc < 0)
        return rc;
    return weir_explain_lift_kinds(x, 0);
}

/* ---- jobs to wait for ---- */

int weir_explain_after(struct explain *x, int64_t start, const weir_pick *picks, uint32_t npicks, weir_way *out)
{
    uint32_t n, kept = 0;
    struct obstacle **list = choose(x, 1u << WEIR_BY_JOB, &n);
    struct choice c = {list, 0, false};
    int rc = list ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < n; i++)
        if (list[i]->job.end <= start)
            list[kept++] = list[i];
    c.n = kept;
    rc = rc ? rc : lift_range(x, &c, 0, kept, true);
    rc = rc ? rc : keep_near_picks(x, &c, picks, npicks);
    if (rc >= 0 && c.n)
        qsort(c.list, c.n, sizeof *c.list, by_position);
    rc = rc < 0 ? rc : minimize(x, &c, 0, c.n);
    if (!rc) {
        drop_restored(&c);
        rc = make_way(x, &c, out);
    }
    weir_mem_free(list);
    return rc ? rc : weir_explain_lift_kinds(x, 0);
}
