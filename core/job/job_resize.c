/* job_resize.c - grows and shrinks jobs. Invariant: steps that can fail come first, and are undone on failure;
 * a release cannot fail. */
#include <inttypes.h>
#include <string.h>

#include "job/job.h"
#include "job/stage.h"
#include "time/schedule.h"
#include "time/usage_totals.h"

/* Reduces a pick: cannot fail. */
static void resize_down(weir_graph *g, uint32_t job, weir_pick *p, int64_t amount)
{
    int rc = weir_pick_resize(g, job, p, amount);
    (void)rc;
}

/* ---- growing ---- */

/* Adds one pick: a new vertex, or more units of a vertex that the job has. */
static int extend_one(weir_graph *g, uint32_t job, const weir_pick *p)
{
    struct job *j = &jobs_in(g)->list[job];
    weir_pick *had = weir_job_has(g, job, p->vertex) ? weir_job_pick(j, p->vertex) : NULL;

    if (had)
        return weir_pick_resize(g, job, had, had->amount + p->amount);
    if (weir_span_add(g, job, p))
        return WEIR_ENOMEM;
    j->picks[j->a.npicks++] = *p;
    return WEIR_OK;
}

/* Undoes the last extend_one. */
static void retract_one(weir_graph *g, uint32_t job, const weir_pick *p)
{
    struct job *j = &jobs_in(g)->list[job];
    weir_pick *had = weir_job_pick(j, p->vertex);

    if (had->amount > p->amount) {
        resize_down(g, job, had, had->amount - p->amount);
        return;
    }
    weir_span_remove(g, job, p->vertex);
    j->a.npicks--;
}

int weir_job_extend(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, const struct flow_use *flows,
                    uint32_t nflows)
{
    struct job *j = &jobs_in(g)->list[job];
    uint32_t done = 0, had = j->nflows, npicks = j->a.npicks;
    bool counted = true; /* the first npicks picks are in the usage totals */
    int rc = weir_job_reserve(j, (size_t)j->a.npicks + n);

    rc = rc ? rc : weir_job_flow(g, job, flows, nflows);
    if (rc)
        return rc;
    while (!rc && done < n) {
        if (counted && weir_job_has(g, job, picks[done].vertex)) {
            weir_usage_grow(g, job, npicks);
            weir_usage_remove(g, job);
            counted = false;
        }
        rc = extend_one(g, job, &picks[done]);
        done += rc == WEIR_OK;
    }
    while (rc && done-- > 0)
        retract_one(g, job, &picks[done]);
    if (rc)
        j->nflows = had;
    if (counted)
        weir_usage_grow(g, job, npicks);
    else
        weir_usage_keep(g, job);
    return rc;
}

/* ---- shrinking ---- */

/* The picks of a job after a release, computed before any change. */
struct remainder {
    weir_pick *picks; /* dropped picks have vertex WEIR_NONE until remainder_settle() */
    uint32_t n, cap;
    struct weir_map32 places; /* index into picks, by vertex */
};

static int remainder_add(struct remainder *p, weir_pick pick)
{
    if (weir_array_reserve(&p->picks, &p->cap, (size_t)p->n + 1, sizeof *p->picks) ||
        (weir_map32_get(&p->places, pick.vertex) == WEIR_NONE && weir_map32_add(&p->places, pick.vertex, p->n)))
        return WEIR_ENOMEM;
    p->picks[p->n++] = pick;
    return WEIR_OK;
}

static weir_pick *remainder_find(const struct remainder *p, weir_vertex v)
{
    uint32_t at = weir_map32_get(&p->places, v);
    return at == WEIR_NONE || p->picks[at].vertex != v ? NULL : &p->picks[at];
}

static void remainder_drop(weir_pick *pick)
{
    pick->vertex = WEIR_NONE;
}

/* Maps vertices to the first pick of each vertex. */
static int index_picks(struct weir_map32 *places, const weir_pick *picks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (weir_map32_get(places, picks[i].vertex) == WEIR_NONE && weir_map32_add(places, picks[i].vertex, i))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* Removes dropped picks from the list. */
static int remainder_settle(struct remainder *p)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->picks[i].vertex != WEIR_NONE)
            p->picks[kept++] = p->picks[i];
    p->n = kept;
    weir_map32_free(&p->places);
    return index_picks(&p->places, p->picks, p->n);
}

/* Replaces an exclusive pick by exclusive picks of all siblings on the path from the picked vertex down to v. */
static int split(const weir_graph *g, struct remainder *p, weir_pick held, weir_vertex v)
{
    while (v != held.vertex) {
        weir_vertex parent = weir_vertex_parent(g, v);
        for (uint32_t i = 0; i < weir_vertex_children(g, parent); i++) {
            weir_vertex kid = weir_vertex_child(g, parent, i);
            weir_pick whole = {kid, held.resource, weir_vertex_size(g, kid), true};
            if (kid != v && whole.amount > 0 && remainder_add(p, whole))
                return WEIR_ENOMEM;
        }
        v = parent;
    }
    return WEIR_OK;
}

/* Counts picks below v, by descent through at most *left vertices; drops the picks where `drop` is set. */
static uint32_t walk_below(const weir_graph *g, const struct remainder *p, weir_vertex v, bool drop, uint32_t *left)
{
    const struct inner *in = inner_of(g, v);
    uint32_t n = 0;

    for (uint32_t i = 0; in && i<in->nkids && * left> 0; i++) {
        weir_pick *pick = in->kids[i] == WEIR_NONE ? NULL : remainder_find(p, in->kids[i]);
        --*left;
        n += pick != NULL;
        if (pick && drop)
            remainder_drop(pick);
        if (in->kids[i] != WEIR_NONE)
            n += walk_below(g, p, in->kids[i], drop, left);
    }
    return n;
}

/* Counts, or drops, picks below v by the cheaper way: through the subtree of v, or through all picks. */
static uint32_t count_below(const weir_graph *g, const struct remainder *p, weir_vertex v, bool drop)
{
    uint32_t left = p->n + 1, n = walk_below(g, p, v, drop, &left);

    for (uint32_t i = 0; left == 0 && i < p->n; i++) {
        weir_pick *pick = &p->picks[i];
        if (pick->vertex == WEIR_NONE || pick->vertex == v || !weir_vertex_within(g, pick->vertex, v))
            continue;
        n++;
        if (drop)
            remainder_drop(pick);
    }
    return n;
}

/* Drops v and picks below v. WEIR_ENOENT: none. */
static int remainder_give_back(const weir_graph *g, struct remainder *p, weir_vertex v)
{
    weir_pick *own = remainder_find(p, v);

    if (own && own->exclusive) {
        remainder_drop(own);
        return WEIR_OK;
    }
    if (count_below(g, p, v, true) + (own != NULL) > 0) {
        if (own)
            remainder_drop(own);
        return WEIR_OK;
    }
    for (weir_vertex up = weir_vertex_parent(g, v); up != WEIR_NONE; up = weir_vertex_parent(g, up)) {
        weir_pick *above = remainder_find(p, up);
        if (above && above->exclusive) {
            weir_pick held = *above;
            remainder_drop(above);
            return split(g, p, held, v);
        }
    }
    return WEIR_ENOENT;
}

static int remainder_make(const weir_graph *g, uint32_t job, const weir_vertex *list, uint32_t n, struct remainder *p,
                          weir_err *err)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;

    for (uint32_t i = 0; i < a->npicks; i++)
        if (remainder_add(p, a->picks[i]))
            return weir_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        char path[256];
        int rc;
        if (!vertex_valid(g, list[i]))
            return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", list[i]);
        rc = remainder_give_back(g, p, list[i]);
        if (rc == WEIR_ENOMEM)
            return weir_fail_nomem(err);
        if (rc) {
            weir_vertex_path(g, list[i], path, sizeof path);
            return weir_fail(err, rc, "job %" PRId64 " has nothing at or below %s", a->job, path);
        }
    }
    return WEIR_OK;
}

/* Whether the job keeps anything of the vertex that a flow is for. */
static bool keeps_endpoint(const weir_graph *g, const struct remainder *p, weir_vertex endpoint)
{
    for (weir_vertex up = endpoint; up != WEIR_NONE; up = weir_vertex_parent(g, up)) {
        const weir_pick *pick = remainder_find(p, up);
        if (pick && (up == endpoint || pick->exclusive))
            return true;
    }
    return count_below(g, p, endpoint, false) > 0;
}

/* Drops units of flows for vertices that the job gives up. */
static void drop_flows(const weir_graph *g, uint32_t job, struct remainder *p)
{
    const struct job *j = &jobs_in(g)->list[job];

    for (uint32_t i = 0; i < j->nflows; i++) {
        weir_pick *unit = remainder_find(p, j->flows[i].unit);
        if (!unit || keeps_endpoint(g, p, j->flows[i].endpoint))
            continue;
        unit->exclusive = false;
        unit->amount -= j->flows[i].amount;
        if (unit->amount <= 0)
            remainder_drop(unit);
    }
}

static void forget_flows(struct job *j, const weir_graph *g, const struct remainder *p)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < j->nflows; i++)
        if (remainder_find(p, j->flows[i].unit) && keeps_endpoint(g, p, j->flows[i].endpoint))
            j->flows[kept++] = j->flows[i];
    j->nflows = kept;
}

/* Releases picks, and units of picks, outside the remainder. Cannot fail. */
static void give_back(weir_graph *g, uint32_t job, const struct remainder *p)
{
    struct job *j = &jobs_in(g)->list[job];

    for (uint32_t i = 0; i < j->a.npicks; i++) {
        weir_pick *keep = remainder_find(p, j->picks[i].vertex);
        if (!keep)
            weir_span_remove(g, job, j->picks[i].vertex);
        else if (keep->amount < j->picks[i].amount)
            resize_down(g, job, &j->picks[i], keep->amount);
    }
}

/* Slots that the job keeps, in proportion to the picks of the first resource. A slot that lost anything does not
 * count. */
static uint32_t slots_left(const weir_allocation *a, const struct remainder *p)
{
    int64_t had = 0, left = 0;

    for (uint32_t i = 0; i < a->npicks; i++) {
        const weir_pick *pick = &a->picks[i], *kept = remainder_find(p, pick->vertex);
        if (pick->resource != a->picks[0].resource)
            continue;
        had += pick->amount;
        left += kept && kept->resource == pick->resource ? kept->amount : 0;
    }
    if (a->nslots == 0 || had == 0)
        return a->nslots;
    left = (int64_t)((double)left / (double)had * a->nslots + 1e-9);
    return left > 0 ? (uint32_t)left : 1;
}

/* A job that releases vertices. */
struct shrinking {
    uint32_t job;
    struct remainder p;
    struct weir_map32 had; /* index into the job's picks, by vertex */
};

static void shrinking_clear(struct shrinking *s)
{
    weir_mem_free(s->p.picks);
    weir_map32_free(&s->p.places);
    weir_map32_free(&s->had);
}

/* Computes the remainder, and reserves memory. */
static int prepare(weir_graph *g, struct shrinking *s, const weir_vertex *list, uint32_t n, weir_err *err)
{
    struct job *j = &jobs_in(g)->list[s->job];
    int rc = remainder_make(g, s->job, list, n, &s->p, err);

    if (rc)
        return rc;
    drop_flows(g, s->job, &s->p);
    if (remainder_settle(&s->p))
        return weir_fail_nomem(err);
    if (s->p.n == 0)
        return WEIR_OK;
    if (weir_job_reserve(j, s->p.n) || index_picks(&s->had, j->picks, j->a.npicks))
        return weir_fail_nomem(err);
    for (uint32_t i = 0; i < j->a.npicks; i++) {
        const weir_pick *keep = remainder_find(&s->p, j->picks[i].vertex);
        if (keep && keep->amount < j->picks[i].amount && weir_schedule_ready(g, keep->vertex))
            return weir_fail_nomem(err);
    }
    return WEIR_OK;
}

/* Removes the new spans among the first n picks. */
static void remove_new(weir_graph *g, const struct shrinking *s, uint32_t n)
{
    while (n-- > 0)
        if (weir_map32_get(&s->had, s->p.picks[n].vertex) == WEIR_NONE)
            weir_span_remove(g, s->job, s->p.picks[n].vertex);
}

/* Adds the new picks of the remainder, all or none. */
static int add_new(weir_graph *g, const struct shrinking *s)
{
    for (uint32_t i = 0; i < s->p.n; i++)
        if (weir_map32_get(&s->had, s->p.picks[i].vertex) == WEIR_NONE && weir_span_add(g, s->job, &s->p.picks[i])) {
            remove_new(g, s, i);
            return WEIR_ENOMEM;
        }
    return WEIR_OK;
}

/* Makes the remainder the picks of the job. Cannot fail. */
static void finish(weir_graph *g, const struct shrinking *s)
{
    struct job *j = &jobs_in(g)->list[s->job];

    if (s->p.n == 0) {
        weir_job_drop(g, s->job);
        return;
    }
    j->a.nslots = slots_left(&j->a, &s->p);
    give_back(g, s->job, &s->p);
    forget_flows(j, g, &s->p);
    memcpy(j->picks, s->p.picks, s->p.n * sizeof *s->p.picks);
    j->a.npicks = s->p.n;
}

/* Releases vertices of several prepared jobs: all or none. */
static int shrink(weir_graph *g, const struct shrinking *list, uint32_t n, weir_err *err)
{
    uint32_t done = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < n; i++)
        if (list[i].p.n)
            weir_usage_remove(g, list[i].job);
    while (!rc && done < n) {
        rc = add_new(g, &list[done]);
        done += rc == WEIR_OK;
    }
    for (uint32_t i = done; rc && i-- > 0;)
        remove_new(g, &list[i], list[i].p.n);
    for (uint32_t i = 0; i < n; i++) {
        if (!rc)
            finish(g, &list[i]);
        if (list[i].p.n)
            weir_usage_keep(g, list[i].job);
    }
    return rc ? weir_fail_nomem(err) : WEIR_OK;
}

int weir_job_shrink(weir_graph *g, int64_t id, const weir_vertex *list, uint32_t n, weir_err *err)
{
    struct shrinking s = {.job = weir_job_index(g, id)};
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (s.job == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, id);
    rc = prepare(g, &s, list, n, err);
    rc = rc ? rc : shrink(g, &s, 1, err);
    shrinking_clear(&s);
    return rc;
}

int weir_graph_unlink_forced(weir_graph *g, weir_vertex v, const int64_t *jobs, uint32_t n, weir_err *err)
{
    struct shrinking *list = weir_mem_zalloc((size_t)n + 1, sizeof *list);
    uint32_t i;
    int rc = list ? weir_graph_writable(g, err) : weir_fail_nomem(err);

    rc = rc ? rc : weir_unlink_ready(g, v, err);
    for (i = 0; !rc && i < n; i++) {
        list[i].job = weir_job_index(g, jobs[i]);
        rc = list[i].job == WEIR_NONE ? weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, jobs[i])
                                      : prepare(g, &list[i], &v, 1, err);
    }
    rc = rc ? rc : shrink(g, list, n, err);
    while (i-- > 0)
        shrinking_clear(&list[i]);
    weir_mem_free(list);
    if (!rc)
        weir_stages_drop_at(g, v);
    return rc ? rc : weir_graph_unlink(g, v, err);
}
