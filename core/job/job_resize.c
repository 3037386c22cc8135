/* job_resize.c - growing and shrinking a job that is there (A9). Invariant: what can fail is done first and undone when
 * something fails; giving back cannot fail. */
#include <inttypes.h>
#include <string.h>

#include "job/job.h"
#include "time/usage_totals.h"

/* Less of what a job has always fits. */
static void resize_down(weir_graph *g, uint32_t job, weir_pick *p, int64_t amount)
{
    int rc = weir_pick_resize(g, job, p, amount);
    (void)rc;
}

/* ---- growing ---- */

/* One pick more: a new vertex, or more units of one that the job has. */
static int extend_one(weir_graph *g, uint32_t job, const weir_pick *p)
{
    struct job *j = &g->jobs->list[job];
    weir_pick *had = weir_job_has(g, job, p->vertex) ? weir_job_pick(j, p->vertex) : NULL;

    if (had)
        return weir_pick_resize(g, job, had, had->amount + p->amount);
    if (weir_span_add(g, job, p))
        return WEIR_ENOMEM;
    j->picks[j->a.npicks++] = *p;
    return WEIR_OK;
}

/* Takes back the last of what extend_one did. */
static void retract_one(weir_graph *g, uint32_t job, const weir_pick *p)
{
    struct job *j = &g->jobs->list[job];
    weir_pick *had = weir_job_pick(j, p->vertex);

    if (had->amount > p->amount) {
        resize_down(g, job, had, had->amount - p->amount);
        return;
    }
    weir_span_remove(g, job, p->vertex);
    j->a.npicks--;
}

int weir_job_extend(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, const struct flow_use *feeds,
                    uint32_t nflows)
{
    struct job *j = &g->jobs->list[job];
    uint32_t done = 0, had = j->nflows, npicks = j->a.npicks;
    bool counted = true; /* the first npicks are in what all jobs take */
    int rc = weir_job_reserve(j, (size_t)j->a.npicks + n);

    rc = rc ? rc : weir_job_flow(g, job, feeds, nflows);
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

/* The picks that a job shall have afterwards, worked out before anything changes. */
struct plan {
    weir_pick *picks; /* those that go have no vertex until it is settled */
    uint32_t n, cap;
    struct weir_map64 places; /* of the vertices */
};

static int plan_add(struct plan *p, weir_pick pick)
{
    if (weir_array_reserve(&p->picks, &p->cap, (size_t)p->n + 1, sizeof *p->picks) ||
        (weir_map64_get(&p->places, pick.vertex) == WEIR_NONE && weir_map64_add(&p->places, pick.vertex, p->n)))
        return WEIR_ENOMEM;
    p->picks[p->n++] = pick;
    return WEIR_OK;
}

static weir_pick *plan_find(const struct plan *p, weir_vertex v)
{
    uint32_t at = weir_map64_get(&p->places, v);
    return at == WEIR_NONE || p->picks[at].vertex != v ? NULL : &p->picks[at];
}

static void plan_drop(weir_pick *pick)
{
    pick->vertex = WEIR_NONE;
}

/* Where the vertices of picks stand first. */
static int index_picks(struct weir_map64 *places, const weir_pick *picks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (weir_map64_get(places, picks[i].vertex) == WEIR_NONE && weir_map64_add(places, picks[i].vertex, i))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* Leaves only what stays. */
static int plan_settle(struct plan *p)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->picks[i].vertex != WEIR_NONE)
            p->picks[kept++] = p->picks[i];
    p->n = kept;
    weir_map64_clear(&p->places);
    return index_picks(&p->places, p->picks, p->n);
}

/* Instead of `held` as a whole, the job keeps everything beside the way from there down to v. */
static int split(const weir_graph *g, struct plan *p, weir_pick held, weir_vertex v)
{
    while (v != held.vertex) {
        weir_vertex parent = weir_vertex_parent(g, v);
        for (uint32_t i = 0; i < weir_vertex_children(g, parent); i++) {
            weir_vertex kid = weir_vertex_child(g, parent, i);
            weir_pick whole = {kid, held.resource, weir_vertex_size(g, kid), true};
            if (kid != v && whole.amount > 0 && plan_add(p, whole))
                return WEIR_ENOMEM;
        }
        v = parent;
    }
    return WEIR_OK;
}

/* How many picks there are below v, which go where `drop` says so. Looked for on the way down, at no more than *left vertices. */
static uint32_t walk_below(const weir_graph *g, const struct plan *p, weir_vertex v, bool drop, uint32_t *left)
{
    const struct inner *in = inner_of(g, v);
    uint32_t n = 0;

    for (uint32_t i = 0; in && i < in->nkids && *left > 0; i++) {
        weir_pick *pick = in->kids[i] == WEIR_NONE ? NULL : plan_find(p, in->kids[i]);
        --*left;
        n += pick != NULL;
        if (pick && drop)
            plan_drop(pick);
        if (in->kids[i] != WEIR_NONE)
            n += walk_below(g, p, in->kids[i], drop, left);
    }
    return n;
}

/* The same, whatever costs less: to look at what is below v, or at all picks. */
static uint32_t count_below(const weir_graph *g, const struct plan *p, weir_vertex v, bool drop)
{
    uint32_t left = p->n + 1, n = walk_below(g, p, v, drop, &left);

    for (uint32_t i = 0; left == 0 && i < p->n; i++) {
        weir_pick *pick = &p->picks[i];
        if (pick->vertex == WEIR_NONE || pick->vertex == v || !weir_vertex_within(g, pick->vertex, v))
            continue;
        n++;
        if (drop)
            plan_drop(pick);
    }
    return n;
}

/* Takes v and what is below it out of the plan. WEIR_ENOENT: there is nothing. */
static int plan_give_back(const weir_graph *g, struct plan *p, weir_vertex v)
{
    weir_pick *own = plan_find(p, v);

    if (own && own->exclusive) {
        plan_drop(own);
        return WEIR_OK;
    }
    if (count_below(g, p, v, true) + (own != NULL) > 0) {
        if (own)
            plan_drop(own);
        return WEIR_OK;
    }
    for (weir_vertex up = weir_vertex_parent(g, v); up != WEIR_NONE; up = weir_vertex_parent(g, up)) {
        weir_pick *above = plan_find(p, up);
        if (above && above->exclusive) {
            weir_pick held = *above;
            plan_drop(above);
            return split(g, p, held, v);
        }
    }
    return WEIR_ENOENT;
}

static int make_plan(const weir_graph *g, uint32_t job, const weir_vertex *list, uint32_t n, struct plan *p, weir_err *err)
{
    const weir_allocation *a = &g->jobs->list[job].a;

    for (uint32_t i = 0; i < a->npicks; i++)
        if (plan_add(p, a->picks[i]))
            return weir_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        char path[256];
        int rc;
        if (!vertex_valid(g, list[i]))
            return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", list[i]);
        rc = plan_give_back(g, p, list[i]);
        if (rc == WEIR_ENOMEM)
            return weir_fail_nomem(err);
        if (rc) {
            weir_vertex_path(g, list[i], path, sizeof path);
            return weir_fail(err, rc, "job %" PRId64 " has nothing at or below %s", a->job, path);
        }
    }
    return WEIR_OK;
}

/* Whether the job still has something of the vertex that units were taken for. */
static bool plan_feeds(const weir_graph *g, const struct plan *p, weir_vertex endpoint)
{
    for (weir_vertex up = endpoint; up != WEIR_NONE; up = weir_vertex_parent(g, up)) {
        const weir_pick *pick = plan_find(p, up);
        if (pick && (up == endpoint || pick->exclusive))
            return true;
    }
    return count_below(g, p, endpoint, false) > 0;
}

/* Takes the units of other subsystems out of the plan whose vertex is gone. */
static void plan_unfeed(const weir_graph *g, uint32_t job, struct plan *p)
{
    const struct job *j = &g->jobs->list[job];

    for (uint32_t i = 0; i < j->nflows; i++) {
        weir_pick *unit = plan_find(p, j->flows[i].unit);
        if (!unit || plan_feeds(g, p, j->flows[i].endpoint))
            continue;
        unit->exclusive = false;
        unit->amount -= j->flows[i].amount;
        if (unit->amount <= 0)
            plan_drop(unit);
    }
}

static void forget_feeds(struct job *j, const weir_graph *g, const struct plan *p)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < j->nflows; i++)
        if (plan_find(p, j->flows[i].unit) && plan_feeds(g, p, j->flows[i].endpoint))
            j->flows[kept++] = j->flows[i];
    j->nflows = kept;
}

/* Gives back what is not in the plan, or less of it there. This cannot fail. */
static void give_back(weir_graph *g, uint32_t job, const struct plan *p)
{
    struct job *j = &g->jobs->list[job];

    for (uint32_t i = 0; i < j->a.npicks; i++) {
        weir_pick *keep = plan_find(p, j->picks[i].vertex);
        if (!keep)
            weir_span_remove(g, job, j->picks[i].vertex);
        else if (keep->amount < j->picks[i].amount)
            resize_down(g, job, &j->picks[i], keep->amount);
    }
}

/* The slots that the job still has: as many as is left of what it took first. Of a slot that lost something, nothing. */
static uint32_t slots_left(const weir_allocation *a, const struct plan *p)
{
    int64_t had = 0, left = 0;

    for (uint32_t i = 0; i < a->npicks; i++) {
        const weir_pick *pick = &a->picks[i], *kept = plan_find(p, pick->vertex);
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

/* A job that gives something back. */
struct shrinking {
    uint32_t job;
    struct plan p;
    struct weir_map64 had; /* of the vertices that it has */
};

static void shrinking_clear(struct shrinking *s)
{
    weir_mem_free(s->p.picks);
    weir_map64_clear(&s->p.places);
    weir_map64_clear(&s->had);
}

/* Works out what the job shall have, and makes room for it. */
static int prepare(weir_graph *g, struct shrinking *s, const weir_vertex *list, uint32_t n, weir_err *err)
{
    struct job *j = &g->jobs->list[s->job];
    int rc = make_plan(g, s->job, list, n, &s->p, err);

    if (rc)
        return rc;
    plan_unfeed(g, s->job, &s->p);
    if (plan_settle(&s->p))
        return weir_fail_nomem(err);
    if (s->p.n == 0)
        return WEIR_OK;
    if (weir_job_reserve(j, s->p.n) || index_picks(&s->had, j->picks, j->a.npicks))
        return weir_fail_nomem(err);
    return WEIR_OK;
}

/* Takes back the first n that are new in the plan. */
static void unbook_new(weir_graph *g, const struct shrinking *s, uint32_t n)
{
    while (n-- > 0)
        if (weir_map64_get(&s->had, s->p.picks[n].vertex) == WEIR_NONE)
            weir_span_remove(g, s->job, s->p.picks[n].vertex);
}

/* Books what is new in the plan, as a whole or not at all. */
static int schedule_new(weir_graph *g, const struct shrinking *s)
{
    for (uint32_t i = 0; i < s->p.n; i++)
        if (weir_map64_get(&s->had, s->p.picks[i].vertex) == WEIR_NONE && weir_span_add(g, s->job, &s->p.picks[i])) {
            unbook_new(g, s, i);
            return WEIR_ENOMEM;
        }
    return WEIR_OK;
}

/* The plan becomes what the job has. This cannot fail. */
static void finish(weir_graph *g, const struct shrinking *s)
{
    struct job *j = &g->jobs->list[s->job];

    if (s->p.n == 0) {
        weir_job_drop(g, s->job);
        return;
    }
    j->a.nslots = slots_left(&j->a, &s->p);
    give_back(g, s->job, &s->p);
    forget_feeds(j, g, &s->p);
    memcpy(j->picks, s->p.picks, s->p.n * sizeof *s->p.picks);
    j->a.npicks = s->p.n;
}

/* Several jobs, prepared: all of them or none. */
static int shrink(weir_graph *g, const struct shrinking *list, uint32_t n, weir_err *err)
{
    uint32_t done = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < n; i++)
        if (list[i].p.n)
            weir_usage_remove(g, list[i].job);
    while (!rc && done < n) {
        rc = schedule_new(g, &list[done]);
        done += rc == WEIR_OK;
    }
    for (uint32_t i = done; rc && i-- > 0;)
        unbook_new(g, &list[i], list[i].p.n);
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
    return rc ? rc : weir_graph_unlink(g, v, err);
}
