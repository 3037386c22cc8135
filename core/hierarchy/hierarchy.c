/* hierarchy.c - see hierarchy.h. The views of a graph, and how they follow its changes: states and maps of vertices,
 * jobs, the clock. A change of the tree or of edges rebuilds a view. */
#include "hierarchy/hierarchy.h"

#include <string.h>

#include "graph/observer.h"
#include "job/job.h"

bool weir_hierarchy_has(const struct hierarchy *h, weir_vertex v)
{
    return !vertex_detached(h->view, v);
}

int weir_hierarchy_state(const weir_graph *g, const struct hierarchy *h, weir_vertex v)
{
    int state = vertex_at(g, v)->state;

    if (!(h->flags[v] & VIEW_MOVED))
        return state;
    for (weir_vertex up = vertex_at(g, v)->parent; state_available(state) && up != WEIR_NONE;
         up = vertex_at(g, up)->parent)
        if (!state_available(vertex_at(g, up)->state))
            state = vertex_at(g, up)->state;
    return state;
}

/* ---- following vertices ---- */

/* Whether the view has v as the graph has, except for state, rank and maps. */
static bool same_pool(const weir_graph *g, const weir_graph *view, weir_vertex v)
{
    const struct kind *a = kind_of(g, v), *b = kind_of(view, v);
    const struct pool *p = pool_of(g, v), *q = pool_of(view, v);
    const char *name = p && p->name != WEIR_NO_NAME ? weir_strtab_text(&g->names, p->name) : "";
    const char *seen = q && q->name != WEIR_NO_NAME ? weir_strtab_text(&view->names, q->name) : "";

    return a->type == b->type && a->size == b->size && a->exclusive == b->exclusive &&
           vertex_at(g, v)->id == vertex_at(view, v)->id &&
           vertex_at(g, v)->generation == vertex_at(view, v)->generation &&
           weir_uuid_given(g, v) == weir_uuid_given(view, v) && strcmp(name, seen) == 0;
}

static int copy_maps(const weir_graph *g, weir_graph *view, weir_vertex v, weir_err *err)
{
    const char *key, *value, *had;
    int rc = WEIR_OK;

    for (int m = 0; m < 3; m++) {
        for (uint32_t i = 0; weir_vertex_entry(view, v, m, i, &key, &had);)
            if (weir_vertex_get(g, v, m, key))
                i++;
            else
                rc = weir_vertex_unset(view, v, m, key);
        for (uint32_t i = 0; !rc && weir_vertex_entry(g, v, m, i, &key, &value); i++) {
            had = weir_vertex_get(view, v, m, key);
            if (!had || strcmp(had, value) != 0)
                rc = weir_vertex_set(view, v, m, key, value, err);
        }
    }
    return rc;
}

/* Brings the state of v up to date, and the states of the vertices that have moved away from below v. */
static int follow_state(const weir_graph *g, const struct hierarchy *h, weir_vertex v, weir_err *err)
{
    const struct inner *in = h->flags[v] & VIEW_OVER ? inner_of(g, v) : NULL;
    int state = weir_hierarchy_state(g, h, v), rc = WEIR_OK;

    if (state != vertex_at(h->view, v)->state)
        rc = weir_vertex_set_state(h->view, v, state, err);
    for (uint32_t i = 0; !rc && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = follow_state(g, h, in->kids[i], err);
    return rc;
}

static int follow_vertex(const weir_graph *g, const struct hierarchy *h, weir_vertex v, weir_err *err)
{
    int rc = follow_state(g, h, v, err);

    rc = rc ? rc : copy_maps(g, h->view, v, err);
    if (!rc && own_rank(g, v) != own_rank(h->view, v))
        rc = weir_vertex_set_rank(h->view, v, own_rank(g, v), err);
    return rc;
}

/* ---- following jobs ---- */

/* The number in the view of a job, or of a stage (a negative number) of the graph. */
static int64_t number_in_view(int64_t job)
{
    return job > 0 ? job : INT64_MAX + job;
}

static void drop_job(weir_graph *view, int64_t job)
{
    uint32_t i = weir_job_index(view, number_in_view(job));

    if (i != WEIR_NONE)
        weir_job_drop(view, i);
}

static int copy_job(const weir_graph *g, const struct hierarchy *h, const struct job *j, weir_err *err)
{
    struct pick_list picks = {0};
    uint32_t i;
    int rc = weir_hierarchy_project(g, h, j->picks, j->a.npicks, &picks) ? weir_fail_nomem(err) : WEIR_OK;
    weir_booking b = {number_in_view(j->a.job), j->a.start, j->a.end, picks.list, picks.n};

    rc = rc ? rc : weir_job_commit(h->view, &b, &i, err);
    weir_mem_free(picks.list);
    return rc;
}

static const struct job *find_job(const weir_graph *g, int64_t job)
{
    uint32_t i = job > 0 ? weir_job_index(g, job) : weir_stage_index(g, -job);
    return i == WEIR_NONE ? NULL : &jobs_in(g)->list[i];
}

/* Drops the jobs that changed, and the reservations that have begun by the clock of the graph, which are copied again
 * as begun. */
static void drop_changed(const weir_graph *g, struct hierarchy *h)
{
    struct journal *jobs = &h->changes.jobs;

    for (uint32_t i = live_jobs(h->view); i-- > 0;) {
        const weir_allocation *a = &jobs_in(h->view)->list[jobs_in(h->view)->order[i]].a;
        int64_t job = a->job;
        if (a->state == WEIR_RESERVED && a->start <= g->now)
            journal_note(jobs, job < INT64_MAX / 2 ? job : job - INT64_MAX);
    }
    if (jobs->all) {
        while (live_jobs(h->view) > 0)
            weir_job_drop(h->view, jobs_in(h->view)->order[live_jobs(h->view) - 1]);
        return;
    }
    weir_journal_sort(jobs);
    for (uint32_t i = 0; i < jobs->n; i++)
        drop_job(h->view, jobs->list[i]);
}

static int follow_jobs(const weir_graph *g, struct hierarchy *h, weir_err *err)
{
    const struct journal *jobs = &h->changes.jobs;
    int rc = WEIR_OK;

    drop_changed(g, h);
    if (g->now > h->view->now)
        rc = weir_graph_advance(h->view, g->now, err);
    for (uint32_t i = 0; !rc && jobs->all && i < live_jobs(g); i++)
        rc = copy_job(g, h, &jobs_in(g)->list[jobs_in(g)->order[i]], err);
    for (uint32_t i = 0; !rc && i < jobs->n; i++) {
        const struct job *j = find_job(g, jobs->list[i]);
        rc = j ? copy_job(g, h, j, err) : WEIR_OK;
    }
    return rc;
}

/* ---- views ---- */

static void clear(weir_graph *g, struct hierarchy *h)
{
    weir_follow_end(g, &h->changes);
    weir_graph_free(h->view);
    WEIR_FREE(h->flags, h->shared);
    h->view = NULL;
    h->flags = NULL;
    h->shared = NULL;
    h->nshared = 0;
}

static void free_one(weir_graph *g, struct hierarchy *h)
{
    clear(g, h);
    WEIR_FREE(h->choice, h->name, h);
}

static void free_all(weir_graph *g)
{
    while (hierarchies_in(g) && hierarchies_in(g)->first) {
        struct hierarchy *h = hierarchies_in(g)->first;
        hierarchies_in(g)->first = h->next;
        free_one(g, h);
    }
    weir_record_drop(g, RECORD_HIERARCHIES, NULL);
}

static size_t bytes(const weir_graph *g)
{
    size_t n = 0;

    for (const struct hierarchy *h = hierarchies_in(g) ? hierarchies_in(g)->first : NULL; h; h = h->next)
        n += sizeof *h + strlen(h->name) + 1 + (h->view ? weir_graph_bytes(h->view) + h->view->limit : 0) +
             h->nshared * sizeof *h->shared + (h->choice && h->view ? h->view->limit * sizeof *h->choice : 0);
    return n;
}

/* Checks the views of the tree as it is now: an older view is made again before it is used. */
static int check_views(const weir_graph *g, weir_err *err)
{
    int rc = WEIR_OK;

    for (const struct hierarchy *h = hierarchies_in(g) ? hierarchies_in(g)->first : NULL; !rc && h; h = h->next)
        rc = h->view && h->serial == g->serial ? weir_check(h->view, err) : WEIR_OK;
    return rc;
}

static const struct weir_observer hierarchy_observer = {.freed = free_all, .bytes = bytes, .check = check_views};

/* Whether the view has the tree, the edges and the pools of the graph. */
static bool is_current(const weir_graph *g, struct hierarchy *h)
{
    const struct journal *vertices = &h->changes.vertices;

    if (!h->view || h->serial != g->serial || vertices->all || h->view->now > g->now)
        return false;
    weir_journal_sort(&h->changes.vertices);
    for (uint32_t i = 0; i < vertices->n; i++) {
        weir_vertex v = (weir_vertex)vertices->list[i];
        if (v >= h->view->limit || vertex_valid(g, v) != vertex_valid(h->view, v))
            return false;
        if (vertex_valid(g, v) && !same_pool(g, h->view, v))
            return false;
    }
    return true;
}

static int follow(weir_graph *g, struct hierarchy *h, weir_err *err)
{
    const struct journal *vertices = &h->changes.vertices;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < vertices->n; i++)
        if (vertex_valid(g, (weir_vertex)vertices->list[i]))
            rc = follow_vertex(g, h, (weir_vertex)vertices->list[i], err);
    h->view->valid_from = g->valid_from;
    h->view->valid_until = g->valid_until;
    return rc ? rc : follow_jobs(g, h, err);
}

/* Builds or rebuilds the view. */
static int make_view(weir_graph *g, uint32_t s, struct hierarchy *h, weir_err *err)
{
    int rc;

    clear(g, h);
    rc = weir_hierarchy_link(g, s, h, err);
    if (rc)
        return rc;
    h->view->viewed.graph = g;
    h->view->shuffled = g->shuffled;
    h->view->viewed.serial = h->view->serial;
    h->serial = g->serial;
    weir_follow(g, &h->changes);
    h->changes.jobs.all = true;
    return WEIR_OK;
}

static struct hierarchy *find_or_add(weir_graph *g, const char *name, bool chosen)
{
    struct hierarchy *h = hierarchies_in(g) ? hierarchies_in(g)->first : NULL;

    while (h && (strcmp(h->name, name) != 0 || (h->choice != NULL) != chosen))
        h = h->next;
    if (h)
        return h;
    if (!weir_record_make(g, RECORD_HIERARCHIES, sizeof(struct hierarchies), &hierarchy_observer))
        return NULL;
    h = weir_mem_zalloc(1, sizeof *h);
    if (!h || !(h->name = weir_mem_strdup(name))) {
        weir_mem_free(h);
        return NULL;
    }
    h->next = hierarchies_in(g)->first;
    hierarchies_in(g)->first = h;
    return h;
}

/* Brings a view up to date. */
static int refresh(weir_graph *g, uint32_t s, struct hierarchy *h, weir_err *err)
{
    int rc = is_current(g, h) ? WEIR_OK : make_view(g, s, h, err);

    rc = rc ? rc : follow(g, h, err);
    if (rc)
        clear(g, h);
    else
        weir_follow_clear(&h->changes);
    return rc;
}

int weir_hierarchy_find(weir_graph *g, const char *name, struct hierarchy **out, weir_err *err)
{
    uint32_t s = weir_subsystem_find(g, name);
    struct hierarchy *h;
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (s == WEIR_NONE || s == 0)
        return weir_fail(err, WEIR_ENOENT, "there is no hierarchy '%.100s' other than containment", name);
    if (g->building)
        return weir_fail(err, WEIR_EINVAL, "the graph is still being built");
    h = find_or_add(g, name, false);
    *out = h;
    return h ? refresh(g, s, h, err) : weir_fail_nomem(err);
}

int weir_hierarchy_choose(weir_graph *g, const char *name, const weir_vertex *choice, struct hierarchy **out,
                          weir_err *err)
{
    size_t size = ((size_t)g->limit + 1) * sizeof *choice;
    struct hierarchy *h = find_or_add(g, name, true);
    weir_vertex *own = weir_mem_alloc(size);

    if (!own || !h) {
        weir_mem_free(own);
        return weir_fail_nomem(err);
    }
    memcpy(own, choice, size);
    if (!h->view || h->serial != g->serial || memcmp(h->choice, own, size) != 0)
        clear(g, h);
    weir_mem_free(h->choice);
    h->choice = own;
    *out = h;
    return refresh(g, weir_subsystem_find(g, name), h, err);
}

int weir_graph_hierarchy(weir_graph *g, const char *name, weir_graph **out, weir_err *err)
{
    struct hierarchy *h;
    int rc;

    if (weir_subsystem_find(g, name) == 0) {
        *out = g;
        return WEIR_OK;
    }
    rc = weir_hierarchy_find(g, name, &h, err);
    *out = rc ? NULL : h->view;
    return rc;
}

/* ---- below one vertex ---- */

struct below {
    weir_graph *g;
    const weir_graph *view;
    uint32_t s, n;
    weir_vertex top, *list, *choice;
    bool *seen, any;
};

/* Visits w, which u leads to. */
static void reach(struct below *b, weir_vertex u, weir_vertex w)
{
    if (b->seen[w] || vertex_detached(b->view, w) || weir_vertex_within(b->view, b->top, w))
        return;
    b->seen[w] = true;
    b->list[b->n++] = w;
    if (vertex_at(b->view, w)->parent == u)
        return;
    b->choice[w] = u;
    b->any = true;
}

/* Visits all that edges lead to from the top, breadth first, with what is inside. */
static void reach_all(struct below *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        weir_vertex u = b->list[i];
        struct weir_ends ends = weir_ends(b->g, u, b->s, true);
        const struct inner *in = inner_of(b->view, u);
        for (weir_vertex w; (w = weir_ends_next(&ends)) != WEIR_NONE;)
            reach(b, u, w);
        for (uint32_t k = 0; in && k < in->nkids; k++)
            if (in->kids[k] != WEIR_NONE)
                reach(b, u, in->kids[k]);
    }
}

/* Gives the view in which everything that edges lead to from b->top is below it. */
static int view_below(struct below *b, struct hierarchy *first, weir_graph **out, weir_err *err)
{
    size_t n = (size_t)b->g->limit + 1;
    struct hierarchy *h = first;
    int rc = WEIR_OK;

    b->list = weir_mem_alloc(n * sizeof *b->list);
    b->choice = weir_mem_alloc(n * sizeof *b->choice);
    b->seen = weir_mem_zalloc(n, sizeof *b->seen);
    if (!b->list || !b->choice || !b->seen)
        rc = weir_fail_nomem(err);
    for (size_t i = 0; !rc && i < n; i++)
        b->choice[i] = WEIR_NONE;
    if (!rc) {
        b->list[b->n++] = b->top;
        reach_all(b);
        rc = b->any ? weir_hierarchy_choose(b->g, first->name, b->choice, &h, err) : WEIR_OK;
    }
    WEIR_FREE(b->list, b->choice, b->seen);
    *out = rc ? NULL : h->view;
    return rc;
}

static int is_up(void *data, weir_vertex v)
{
    const struct hierarchy *h = data;
    return state_available(vertex_at(h->view, v)->state);
}

/* Gives the view in which shared vertices are below parents that are up, where they have such. */
static int view_up(weir_graph *g, struct hierarchy *first, weir_graph **out, weir_err *err)
{
    weir_vertex *choice = weir_mem_alloc(((size_t)g->limit + 1) * sizeof *choice);
    struct hierarchy *h = first;
    int rc = choice ? WEIR_OK : weir_fail_nomem(err);

    for (size_t i = 0; !rc && i <= g->limit; i++)
        choice[i] = WEIR_NONE;
    rc = rc ? rc : weir_hierarchy_open(g, first, choice, is_up, first);
    if (rc == 1)
        rc = weir_hierarchy_choose(g, first->name, choice, &h, err);
    weir_mem_free(choice);
    *out = rc ? NULL : h->view;
    return rc;
}

int weir_graph_hierarchy_below(weir_graph *g, const char *name, weir_vertex v, weir_graph **out, weir_err *err)
{
    struct hierarchy *h;
    struct below b = {.g = g, .s = weir_subsystem_find(g, name), .top = v};
    int rc = b.s == 0 ? WEIR_OK : weir_hierarchy_find(g, name, &h, err);

    *out = rc ? NULL : b.s == 0 ? g : h->view;
    if (rc || b.s == 0 || h->nshared == 0)
        return rc;
    if (v == WEIR_NONE)
        return view_up(g, h, out, err);
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (vertex_detached(h->view, v))
        return WEIR_OK;
    b.view = h->view;
    return view_below(&b, h, out, err);
}
