/* job_change.c - growing and shrinking a job that is there (A9). Invariant: what can fail is done first and undone when
 * something fails; giving back cannot fail. */
#include <inttypes.h>
#include <string.h>

#include "job.h"
#include "taken.h"

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
    struct job *j = &g->jobs[job];
    weir_pick *had = weir_job_pick(j, p->vertex);

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
    struct job *j = &g->jobs[job];
    weir_pick *had = weir_job_pick(j, p->vertex);

    if (had->amount > p->amount) {
        resize_down(g, job, had, had->amount - p->amount);
        return;
    }
    weir_span_remove(g, job, p->vertex);
    j->a.npicks--;
}

int weir_job_extend(weir_graph *g, uint32_t job, const weir_pick *picks, uint32_t n, const struct feed *feeds,
                    uint32_t nfeeds)
{
    struct job *j = &g->jobs[job];
    uint32_t done = 0, had = j->nfeeds;
    int rc = weir_job_reserve(j, (size_t)j->a.npicks + n);

    rc = rc ? rc : weir_job_feed(g, job, feeds, nfeeds);
    if (rc)
        return rc;
    weir_taken_remove(g, job);
    while (!rc && done < n) {
        rc = extend_one(g, job, &picks[done]);
        done += rc == WEIR_OK;
    }
    while (rc && done-- > 0)
        retract_one(g, job, &picks[done]);
    if (rc)
        j->nfeeds = had;
    weir_taken_keep(g, job);
    return rc;
}

/* ---- shrinking ---- */

/* The picks that a job shall have afterwards, worked out before anything changes. */
struct plan {
    weir_pick *picks;
    uint32_t n, cap;
    struct weir_places places; /* of the vertices, once it is final */
};

static int plan_add(struct plan *p, weir_pick pick)
{
    if (weir_array_reserve(&p->picks, &p->cap, (size_t)p->n + 1, sizeof *p->picks))
        return WEIR_ENOMEM;
    p->picks[p->n++] = pick;
    return WEIR_OK;
}

static void plan_drop(struct plan *p, uint32_t i)
{
    memmove(&p->picks[i], &p->picks[i + 1], (p->n - i - 1) * sizeof *p->picks);
    p->n--;
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

/* Takes v and what is below it out of the plan. WEIR_ENOENT: there is nothing. */
static int plan_give_back(const weir_graph *g, struct plan *p, weir_vertex v)
{
    int rc = WEIR_ENOENT;

    for (uint32_t i = p->n; i-- > 0;)
        if (weir_vertex_within(g, p->picks[i].vertex, v)) {
            plan_drop(p, i);
            rc = WEIR_OK;
        }
    for (uint32_t i = 0; rc && i < p->n; i++)
        if (p->picks[i].exclusive && weir_vertex_within(g, v, p->picks[i].vertex)) {
            weir_pick held = p->picks[i];
            plan_drop(p, i);
            return split(g, p, held, v);
        }
    return rc;
}

static int make_plan(const weir_graph *g, uint32_t job, const weir_vertex *list, uint32_t n, struct plan *p, weir_err *err)
{
    const weir_allocation *a = &g->jobs[job].a;

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

/* Where the vertices of picks stand first. */
static int index_picks(struct weir_places *places, const weir_pick *picks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (weir_places_get(places, picks[i].vertex) == WEIR_NONE && weir_places_add(places, picks[i].vertex, i))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

static weir_pick *plan_find(const struct plan *p, weir_vertex v)
{
    uint32_t at = weir_places_get(&p->places, v);

    if (p->places.count > 0)
        return at == WEIR_NONE ? NULL : &p->picks[at];
    for (uint32_t i = 0; i < p->n; i++)
        if (p->picks[i].vertex == v)
            return &p->picks[i];
    return NULL;
}

/* Whether the job still has something of the vertex that units were taken for. */
static bool plan_feeds(const weir_graph *g, const struct plan *p, weir_vertex endpoint)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (weir_vertex_within(g, p->picks[i].vertex, endpoint) ||
            (p->picks[i].exclusive && weir_vertex_within(g, endpoint, p->picks[i].vertex)))
            return true;
    return false;
}

/* Takes the units of other subsystems out of the plan whose vertex is gone. */
static void plan_unfeed(const weir_graph *g, uint32_t job, struct plan *p)
{
    const struct job *j = &g->jobs[job];

    for (uint32_t i = 0; i < j->nfeeds; i++) {
        weir_pick *unit = plan_find(p, j->feeds[i].unit);
        if (!unit || plan_feeds(g, p, j->feeds[i].endpoint))
            continue;
        unit->exclusive = false;
        unit->amount -= j->feeds[i].amount;
        if (unit->amount <= 0)
            plan_drop(p, (uint32_t)(unit - p->picks));
    }
}

static void forget_feeds(struct job *j, const weir_graph *g, const struct plan *p)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < j->nfeeds; i++)
        if (plan_find(p, j->feeds[i].unit) && plan_feeds(g, p, j->feeds[i].endpoint))
            j->feeds[kept++] = j->feeds[i];
    j->nfeeds = kept;
}

/* Gives back what is not in the plan, or less of it there. This cannot fail. */
static void give_back(weir_graph *g, uint32_t job, const struct plan *p)
{
    struct job *j = &g->jobs[job];

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

/* Books what is new in the plan, as a whole or not at all. */
static int book_new(weir_graph *g, uint32_t job, const struct plan *p, const struct weir_places *had)
{
    uint32_t i;

    for (i = 0; i < p->n; i++)
        if (weir_places_get(had, p->picks[i].vertex) == WEIR_NONE && weir_span_add(g, job, &p->picks[i]))
            break;
    if (i == p->n)
        return WEIR_OK;
    while (i-- > 0)
        if (weir_places_get(had, p->picks[i].vertex) == WEIR_NONE)
            weir_span_remove(g, job, p->picks[i].vertex);
    return WEIR_ENOMEM;
}

/* Books what is new in the plan; then, which cannot fail, takes what is not in it out of the books. */
static int apply(weir_graph *g, uint32_t job, struct plan *p)
{
    struct job *j = &g->jobs[job];
    struct weir_places had = {0};
    int rc = index_picks(&had, j->picks, j->a.npicks);

    rc = rc ? rc : index_picks(&p->places, p->picks, p->n);
    rc = rc ? rc : book_new(g, job, p, &had);
    weir_places_clear(&had);
    if (rc)
        return rc;
    j->a.nslots = slots_left(&j->a, p);
    give_back(g, job, p);
    forget_feeds(j, g, p);
    memcpy(j->picks, p->picks, p->n * sizeof *p->picks);
    j->a.npicks = p->n;
    return WEIR_OK;
}

int weir_job_shrink(weir_graph *g, int64_t id, const weir_vertex *list, uint32_t n, weir_err *err)
{
    uint32_t job = weir_job_index(g, id);
    struct plan p = {0};
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (job == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, id);
    rc = make_plan(g, job, list, n, &p, err);
    if (!rc)
        plan_unfeed(g, job, &p);
    if (!rc && p.n == 0) {
        weir_job_drop(g, job);
    } else if (!rc) {
        weir_taken_remove(g, job);
        rc = weir_job_reserve(&g->jobs[job], p.n) || apply(g, job, &p) ? weir_fail_nomem(err) : WEIR_OK;
        weir_taken_keep(g, job);
    }
    weir_mem_free(p.picks);
    weir_places_clear(&p.places);
    return rc;
}
