/* rset_collect.c - makes the resource set of a graph or of an allocation.
 *
 * A host is a vertex with an execution rank of its own. The set has each host on which an allocation has resources,
 * with the ids of the cores and gpus taken there; resources of further types are left out.
 *   - In a graph without any ranks, the nodes are hosts, numbered from 0 in the order of the graph; cores and gpus
 *     outside of nodes belong to their root, which is then a host, too. In a graph with ranks, a node without a rank is
 *     an error, and cores and gpus outside of hosts are left out: an R can only name resources that a rank controls.
 *   - Duplicate ids on one host, such as ids of cores counted per socket, appear once; hosts with equal ranks become
 *     one host, with the name of the first.
 *   - The name of a host is the name of the nearest node at or above the host, or else its own name.
 *   - Of a property with a value only the key is kept. Keys that RFC 20 does not allow are left out; for allocations,
 *     so are keys of the containing instance, which begin with '+'.
 *
 * Main invariant: after settle(), hosts[] ascends by rank, and the runs of a host are consecutive, ascend by type and
 * id, and do not touch: equal sets have equal bytes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/compare.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "job/job.h"
#include "time/schedule.h"
#include "format/input.h"
#include "rset/rank_numbers.h"
#include "rset/rset.h"
#include "format/output.h"

enum { CORE, GPU };
static const char *const type_names[] = {"core", "gpu"};

/* Ids of one type on a host. */
struct id_run {
    uint32_t host; /* number of the host in the order of the walk; after settle(), index in hosts[] */
    uint32_t type;
    uint32_t lo, hi; /* both included */
};

struct rset_host {
    int64_t rank;
    weir_vertex v; /* the vertex with the rank */
    uint32_t number;
    uint32_t first, nruns; /* in runs[] */
};

struct prop {
    const char *key;
    weir_idset *ranks;
};

/* Hosts with equal runs: a raw class of the set. */
struct group {
    uint32_t first, nruns;
};

struct collecting {
    const weir_graph *g;
    const struct weir_pick_tree *tree; /* NULL: the whole graph */
    int what;                          /* enum weir_rset_what */
    weir_err *err;
    weir_rset *r;
    weir_type core, gpu, node;
    struct rset_host *hosts;
    uint32_t nhosts, hosts_cap;
    struct id_run *runs;
    uint32_t nruns, runs_cap;
    struct group *groups;
    uint32_t ngroups, groups_cap;
    struct weir_map32 group_numbers; /* by hash of the runs */
    struct prop *props;
    uint32_t nprops, props_cap;
    struct weir_map32 prop_numbers;          /* by name */
    const struct weir_rank_numbers *numbers; /* NULL until they are needed */
    struct weir_map32 roots;                 /* index in hosts[], by root */
    int rc;
};

/* The host at a point of the walk. `host` is WEIR_NONE until a resource of the host is taken. */
struct location {
    int64_t rank;
    weir_vertex v;
    uint32_t host;
};

static void no_memory(struct collecting *w)
{
    w->rc = weir_fail_nomem(w->err);
}

static int ids_of(const struct collecting *w, weir_vertex v)
{
    weir_type type = kind_of(w->g, v)->type;
    return type == w->core ? CORE : type == w->gpu ? GPU : -1;
}

/* ---- graphs without ranks --------------------------------------------------------------------------------------- */

/* The ranks of hosts of a graph without ranks; NULL: the graph has ranks, or memory is short. */
static const struct weir_map32 *numbers_of(struct collecting *w)
{
    if (!w->numbers && w->rc == WEIR_OK && !(w->numbers = weir_rank_numbers(w->g)))
        no_memory(w);
    return w->numbers && !w->numbers->ranked ? &w->numbers->ranks : NULL;
}

/* Returns the rank of a node without a rank of its own: the number of the host, or an error if the graph has ranks. */
static int64_t given_rank(struct collecting *w, weir_vertex node)
{
    const struct weir_map32 *numbers = numbers_of(w);
    char path[400];

    if (numbers || w->rc < 0)
        return numbers ? (int64_t)weir_map32_get(numbers, node) : WEIR_NO_RANK;
    weir_vertex_path(w->g, node, path, sizeof path);
    w->rc = weir_fail(w->err, WEIR_EINVAL, "R wants a rank for every node: %s has none, and others have one", path);
    return WEIR_NO_RANK;
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

static uint32_t add_host(struct collecting *w, int64_t rank, weir_vertex v)
{
    if (weir_array_reserve(&w->hosts, &w->hosts_cap, (size_t)w->nhosts + 1, sizeof *w->hosts) < 0) {
        no_memory(w);
        return WEIR_NONE;
    }
    w->hosts[w->nhosts] = (struct rset_host){rank, v, w->nhosts, 0, 0};
    return w->nhosts++;
}

/* Returns the index of the host at a spot, added if missing. */
static uint32_t host_at(struct collecting *w, struct location *s)
{
    if (s->host == WEIR_NONE && w->rc == WEIR_OK)
        s->host = add_host(w, s->rank, s->v);
    return s->host;
}

/* Returns the index of the root of v as a host, added if missing, or WEIR_NONE if the graph has ranks. */
static uint32_t root_host(struct collecting *w, weir_vertex v)
{
    const struct weir_map32 *numbers = numbers_of(w);
    uint32_t i;

    if (!numbers)
        return WEIR_NONE;
    while (vertex_at(w->g, v)->parent != WEIR_NONE)
        v = vertex_at(w->g, v)->parent;
    i = weir_map32_get(&w->roots, v);
    if (i != WEIR_NONE)
        return i;
    i = add_host(w, weir_map32_get(numbers, v), v);
    if (i != WEIR_NONE && weir_map32_add(&w->roots, v, i) < 0)
        no_memory(w);
    return i;
}

static int bad_id(struct collecting *w, weir_vertex v)
{
    char path[400];

    weir_vertex_path(w->g, v, path, sizeof path);
    return weir_fail(w->err, WEIR_EINVAL, "R has ids from 0 to %lu, and %s is outside: use another format",
                     (unsigned long)WEIR_IDSET_MAX, path);
}

/* Adds `count` cores or gpus from v on, with ascending ids, to the host of the spot. */
static void add_run(struct collecting *w, struct location *s, weir_vertex v, uint32_t type, uint32_t count)
{
    int64_t id = vertex_at(w->g, v)->id;
    uint32_t host = s->rank == WEIR_NO_RANK ? root_host(w, v) : host_at(w, s);

    if (w->rc < 0 || host == WEIR_NONE)
        return;
    if (id < 0 || id + count - 1 > (int64_t)WEIR_IDSET_MAX) {
        w->rc = bad_id(w, v);
        return;
    }
    if (weir_array_reserve(&w->runs, &w->runs_cap, (size_t)w->nruns + 1, sizeof *w->runs) < 0) {
        no_memory(w);
        return;
    }
    w->runs[w->nruns++] = (struct id_run){host, type, (uint32_t)id, (uint32_t)id + count - 1};
}

/* Returns the spot of v: `above`, or, if a host begins at v, `own`, filled in by the call. */
static struct location *enter(struct collecting *w, weir_vertex v, struct location *above, struct location *own)
{
    const struct pool *p = pool_of(w->g, v);

    if (p && p->rank != WEIR_NO_RANK && p->rank != above->rank)
        *own = (struct location){p->rank, v, WEIR_NONE};
    else if (above->rank == WEIR_NO_RANK && kind_of(w->g, v)->type == w->node)
        *own = (struct location){given_rank(w, v), v, WEIR_NONE};
    else
        return above;
    return own;
}

/* Returns true if v, by its own state or use, is counted with its subtree. */
static bool counts(const struct collecting *w, weir_vertex v)
{
    const struct schedule *b = w->what == WEIR_RSET_ALLOCATED ? schedule_of(w->g, v) : NULL;

    if (w->what == WEIR_RSET_ALLOCATED)
        return b && b->held > 0;
    return w->what == WEIR_RSET_ALL || !state_available(vertex_at(w->g, v)->state);
}

/* Returns true if v alone, even without cores, puts its rank into the set. `in`: v is counted. */
static bool shows_rank(const struct collecting *w, weir_vertex v, const struct location *s, bool in)
{
    const struct schedule *b = w->what == WEIR_RSET_ALLOCATED ? schedule_of(w->g, v) : NULL;

    if (s->rank == WEIR_NO_RANK)
        return false;
    return (in && (w->what != WEIR_RSET_DOWN || s->v == v)) || (b && b->active > 0);
}

/* Adds the cores or gpus of a run of siblings in use by jobs, even in part. */
static void add_allocated(struct collecting *w, struct location *s, const weir_vertex *kids, uint32_t n, uint32_t type)
{
    for (uint32_t i = 0; i < n && w->rc == WEIR_OK; i++) {
        const struct schedule *b = schedule_of(w->g, kids[i]);
        if (b && b->active > 0)
            add_run(w, s, kids[i], type, 1);
    }
}

/* Adds the resources below v: all of them if v is counted (`in`), or else by counts(). */
static void take_below(struct collecting *w, weir_vertex v, struct location *s, bool in)
{
    uint32_t n, end;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    for (uint32_t i = 0; i < n && w->rc == WEIR_OK; i = end) {
        struct location own, *at;
        bool inside;
        int type;
        end = i + 1;
        if (kids[i] == WEIR_NONE)
            continue;
        type = ids_of(w, kids[i]);
        if (type < 0 && is_plain(vertex_at(w->g, kids[i])) && w->what == WEIR_RSET_ALL)
            continue;
        inside = in || counts(w, kids[i]);
        at = enter(w, kids[i], s, &own);
        if (type >= 0) {
            end = run_of_kids(w->g, kids, n, i);
            if (in || (inside && w->what != WEIR_RSET_ALLOCATED))
                add_run(w, at, kids[i], (uint32_t)type, end - i);
            else if (w->what == WEIR_RSET_ALLOCATED)
                add_allocated(w, at, kids + i, end - i, (uint32_t)type);
            continue;
        }
        if (w->rc == WEIR_OK && shows_rank(w, kids[i], at, inside))
            host_at(w, at);
        take_below(w, kids[i], at, inside);
    }
}

static void collect_entry(struct collecting *w, const struct weir_pick_entry *p, struct location *above)
{
    int type = ids_of(w, p->v);
    struct location own, *s = enter(w, p->v, above, &own);
    bool in = p->picked && counts(w, p->v);

    if (w->rc < 0)
        return;
    if (p->picked && shows_rank(w, p->v, s, in))
        host_at(w, s);
    if (in && type >= 0)
        add_run(w, s, p->v, (uint32_t)type, 1);
    else if (p->whole)
        take_below(w, p->v, s, in);
    for (uint32_t i = p->first; i != WEIR_NONE && !p->whole && w->rc == WEIR_OK; i = w->tree->entries[i].next)
        collect_entry(w, &w->tree->entries[i], s);
}

/* Walks the picks of the allocation. A graph is walked as if all roots had been picked. */
static void take(struct collecting *w)
{
    const weir_graph *g = w->g;
    struct location none = {WEIR_NO_RANK, WEIR_NONE, WEIR_NONE};

    if (w->tree) {
        for (uint32_t i = w->tree->first; i != WEIR_NONE && w->rc == WEIR_OK; i = w->tree->entries[i].next)
            collect_entry(w, &w->tree->entries[i], &none);
        return;
    }
    for (uint32_t i = 0; i < g->nroots && w->rc == WEIR_OK; i++) {
        struct weir_pick_entry root = {g->roots[i], WEIR_NONE, WEIR_NONE, WEIR_NONE, WEIR_NONE, 0, true, true};
        if (g->roots[i] != WEIR_NONE)
            collect_entry(w, &root, &none);
    }
}

/* ---- hosts and their runs --------------------------------------------------------------------------------------- */

WEIR_COMPARE_BY2(compare_hosts, struct rset_host, rank, number)

WEIR_COMPARE_BY3(compare_runs, struct id_run, host, type, lo)

static bool sorted(const void *list, uint32_t n, size_t size, int (*compare)(const void *, const void *))
{
    const char *at = list;

    for (uint32_t i = 1; i < n; i++)
        if (compare(at + (i - 1) * size, at + i * size) > 0)
            return false;
    return true;
}

static void sort(void *list, uint32_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (!sorted(list, n, size, compare))
        qsort(list, n, size, compare);
}

/* Sorts the runs of one host. There are mostly a handful of runs, for which insertion beats qsort() by far. */
static void sort_runs(struct id_run *runs, uint32_t n)
{
    if (n > 32) {
        sort(runs, n, sizeof *runs, compare_runs);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct id_run r = runs[i];
        uint32_t k = i;
        for (; k > 0 && compare_runs(&runs[k - 1], &r) > 0; k--)
            runs[k] = runs[k - 1];
        runs[k] = r;
    }
}

/* Joins overlapping and adjacent runs of one host. The runs must be sorted. Returns the number of runs left. */
static uint32_t join_runs(struct id_run *runs, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 1; i < n; i++) {
        if (runs[i].type != runs[kept].type || runs[i].lo > (uint64_t)runs[kept].hi + 1)
            runs[++kept] = runs[i];
        else if (runs[i].hi > runs[kept].hi)
            runs[kept].hi = runs[i].hi;
    }
    return n ? kept + 1 : 0;
}

static bool by_host(const struct id_run *runs, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (runs[i].host < runs[i - 1].host)
            return false;
    return true;
}

/* Sorts the hosts, joins hosts with equal ranks, and renumbers the hosts of the runs. */
static int place_hosts(struct collecting *w)
{
    uint32_t *place = weir_mem_alloc(((size_t)w->nhosts + 1) * sizeof *place), kept = 0;

    if (!place)
        return weir_fail_nomem(w->err);
    sort(w->hosts, w->nhosts, sizeof *w->hosts, compare_hosts);
    for (uint32_t i = 0; i < w->nhosts; i++) {
        if (i > 0 && w->hosts[i].rank == w->hosts[kept - 1].rank) {
            place[w->hosts[i].number] = kept - 1;
            continue;
        }
        place[w->hosts[i].number] = kept;
        w->hosts[kept++] = w->hosts[i];
    }
    w->nhosts = kept;
    for (uint32_t i = 0; i < w->nruns; i++)
        w->runs[i].host = place[w->runs[i].host];
    weir_mem_free(place);
    return WEIR_OK;
}

/* Establishes the main invariant for hosts and runs. */
static int settle(struct collecting *w)
{
    uint32_t i = 0;
    int rc = place_hosts(w);

    if (rc < 0)
        return rc;
    if (!by_host(w->runs, w->nruns))
        qsort(w->runs, w->nruns, sizeof *w->runs, compare_runs);
    while (i < w->nruns) {
        uint32_t at = w->runs[i].host;
        struct rset_host *h = &w->hosts[at];
        h->first = i;
        while (i < w->nruns && w->runs[i].host == at)
            i++;
        sort_runs(w->runs + h->first, i - h->first);
        h->nruns = join_runs(w->runs + h->first, i - h->first);
    }
    return WEIR_OK;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

static bool same_runs(const struct collecting *w, const struct group *e, const struct rset_host *h)
{
    if (e->nruns != h->nruns)
        return false;
    for (uint32_t i = 0; i < e->nruns; i++) {
        const struct id_run *x = &w->runs[e->first + i], *y = &w->runs[h->first + i];
        if (x->type != y->type || x->lo != y->lo || x->hi != y->hi)
            return false;
    }
    return true;
}

static uint32_t hash_runs(const struct collecting *w, const struct rset_host *h)
{
    uint64_t hash = h->nruns;

    for (uint32_t i = h->first; i < h->first + h->nruns; i++)
        hash = hash_add(hash_add(hash, w->runs[i].type), w->runs[i].lo | (uint64_t)w->runs[i].hi << 32);
    return (uint32_t)hash;
}

/* Returns the group with the runs of a host, made if missing; `guess` is tried first. Returns WEIR_NONE if out of
 * memory. */
static uint32_t group_of(struct collecting *w, const struct rset_host *h, uint32_t guess)
{
    uint32_t hash;

    if (guess < w->ngroups && same_runs(w, &w->groups[guess], h))
        return guess;
    hash = hash_runs(w, h);
    WEIR_MAP32_EACH (&w->group_numbers, hash, i)
        if (same_runs(w, &w->groups[i], h))
            return i;
    if (weir_array_reserve(&w->groups, &w->groups_cap, (size_t)w->ngroups + 1, sizeof *w->groups) < 0 ||
        weir_map32_add(&w->group_numbers, hash, w->ngroups) < 0)
        return WEIR_NONE;
    w->groups[w->ngroups] = (struct group){h->first, h->nruns};
    return w->ngroups++;
}

static int make_class(const struct collecting *w, const struct group *e, struct rset_class *c)
{
    weir_idset *ids[2] = {NULL, NULL};
    int rc = WEIR_OK;

    for (uint32_t i = e->first; rc == WEIR_OK && i < e->first + e->nruns; i++) {
        const struct id_run *run = &w->runs[i];
        if (!ids[run->type])
            ids[run->type] = weir_idset_new();
        rc = ids[run->type] ? weir_idset_add_range(ids[run->type], run->lo, run->hi) : WEIR_ENOMEM;
    }
    for (uint32_t type = CORE; type <= GPU; type++) {
        if (rc == WEIR_OK && ids[type])
            rc = weir_rset_add_child(c, type_names[type], ids[type]);
        else
            weir_idset_free(ids[type]);
    }
    return rc;
}

/* Makes the runs of the set: consecutive ranks in one group form a run. */
static int list_runs(struct collecting *w, struct rset_runs *runs)
{
    uint32_t group = WEIR_NONE;

    for (uint32_t i = 0; i < w->nhosts; i++) {
        const struct rset_host *h = &w->hosts[i];
        struct rset_run *last = runs->count ? &runs->list[runs->count - 1] : NULL;
        if (h->rank > (int64_t)WEIR_IDSET_MAX)
            return weir_fail(w->err, WEIR_EINVAL, "R has ranks up to %lu, and %" PRId64 " is above: use another format",
                             (unsigned long)WEIR_IDSET_MAX, h->rank);
        group = group_of(w, h, group);
        if (group == WEIR_NONE)
            return weir_fail_nomem(w->err);
        if (last && last->class == group && (int64_t)last->hi + 1 == h->rank)
            last->hi++;
        else if (weir_rset_run_add(runs, (uint32_t)h->rank, (uint32_t)h->rank, group) < 0)
            return weir_fail_nomem(w->err);
    }
    return WEIR_OK;
}

static int make_classes(struct collecting *w)
{
    struct rset_classes raw = {0};
    struct rset_runs runs = {0};
    int rc = list_runs(w, &runs);

    if (rc == WEIR_OK && !(raw.list = weir_mem_zalloc((size_t)w->ngroups + 1, sizeof *raw.list)))
        rc = weir_fail_nomem(w->err);
    for (; rc == WEIR_OK && raw.count < w->ngroups; raw.count++)
        if (make_class(w, &w->groups[raw.count], &raw.list[raw.count]) < 0)
            rc = weir_fail_nomem(w->err);
    rc = rc ? rc : weir_rset_settle(w->r, &raw, &runs, w->err);
    weir_rset_classes_clear(&raw);
    weir_mem_free(runs.list);
    return rc;
}

/* ---- hosts and properties --------------------------------------------------------------------------------------- */

/* Returns the vertex with the name for a host. */
static weir_vertex namesake(const struct collecting *w, weir_vertex v)
{
    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(w->g, u)->parent)
        if (kind_of(w->g, u)->type == w->node)
            return u;
    return v;
}

static int list_hosts(const struct collecting *w, weir_hostlist *list)
{
    weir_buf name = {0};
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < w->nhosts && rc == WEIR_OK; i++) {
        name.len = 0;
        weir_write_name(&name, w->g, namesake(w, w->hosts[i].v));
        rc = name.failed ? weir_fail_nomem(w->err) : weir_hostlist_append_name(list, name.data, name.len, w->err);
    }
    weir_buf_free(&name);
    return rc == WEIR_ENOMEM ? weir_fail_nomem(w->err) : rc;
}

static int make_hosts(struct collecting *w)
{
    weir_hostlist *list;
    weir_idset *ranks = NULL;
    int rc;

    if (w->nhosts == 0)
        return WEIR_OK;
    list = weir_hostlist_new();
    rc = list ? list_hosts(w, list) : weir_fail_nomem(w->err);
    if (rc == WEIR_OK && weir_idset_copy(w->r->ranks, &ranks) < 0)
        rc = weir_fail_nomem(w->err);
    if (rc < 0) {
        weir_hostlist_free(list);
        return rc;
    }
    w->r->hosts = weir_rset_hosts_new(ranks, list);
    return w->r->hosts ? WEIR_OK : weir_fail_nomem(w->err);
}

static bool may_keep(const struct collecting *w, const char *key)
{
    char fault[160];
    return !weir_rset_name_fault(key, fault) && !(w->tree && key[0] == '+');
}

/* Returns the index of a property, added if missing, or WEIR_NONE if out of memory. */
static uint32_t prop_number(struct collecting *w, weir_name name)
{
    uint32_t i = weir_map32_get(&w->prop_numbers, name);

    if (i != WEIR_NONE)
        return i;
    i = w->nprops;
    if (weir_array_reserve(&w->props, &w->props_cap, (size_t)i + 1, sizeof *w->props) < 0 ||
        weir_map32_add(&w->prop_numbers, name, i) < 0)
        return WEIR_NONE;
    w->props[i].key = weir_strtab_text(&w->g->names, name);
    w->props[i].ranks = weir_idset_new();
    if (!w->props[i].ranks)
        return WEIR_NONE;
    w->nprops++;
    return i;
}

static int collect_props(struct collecting *w, weir_vertex v, uint32_t rank)
{
    const struct pool *p = pool_of(w->g, v);
    const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;

    for (uint32_t k = 0; m && k < m->count; k++) {
        uint32_t i;
        if (!may_keep(w, weir_strtab_text(&w->g->names, m->entries[k].key)))
            continue;
        i = prop_number(w, m->entries[k].key);
        if (i == WEIR_NONE || weir_idset_add_id(w->props[i].ranks, rank) < 0)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static int make_props(struct collecting *w)
{
    for (uint32_t i = 0; i < w->nhosts; i++)
        if (collect_props(w, namesake(w, w->hosts[i].v), (uint32_t)w->hosts[i].rank) < 0)
            return weir_fail_nomem(w->err);
    for (uint32_t i = 0; i < w->nprops; i++) {
        weir_idset *ranks = w->props[i].ranks;
        w->props[i].ranks = NULL;
        if (weir_rset_add_property(w->r, w->props[i].key, ranks) < 0)
            return weir_fail_nomem(w->err);
    }
    return WEIR_OK;
}

/* ---- the set ---------------------------------------------------------------------------------------------------- */

static void end_collecting(struct collecting *w)
{
    for (uint32_t i = 0; i < w->nprops; i++)
        weir_idset_free(w->props[i].ranks);
    WEIR_FREE(w->props, w->groups, w->hosts, w->runs);
    weir_map32_free(&w->group_numbers);
    weir_map32_free(&w->prop_numbers);
    weir_map32_free(&w->roots);
}

/* Gives the set both times, which readers of R expect. An expiration of 0 means that there is none. */
static void set_times(weir_rset *r, int64_t start, int64_t end)
{
    r->has_start = r->has_end = true;
    r->start = start;
    r->end = end != WEIR_FOREVER ? end : 0;
}

/* Gives the set the attributes that name the queue of a job, if any. */
static int set_queue(weir_rset *r, const weir_graph *g, int64_t job)
{
    size_t len;
    const char *queue = weir_job_queue(g, job, &len);

    if (!queue)
        return WEIR_OK;
    r->document = json_pack("{s:{s:{s:{s:s%}}}}", "attributes", "system", "scheduler", "queue", queue, len);
    return r->document || !weir_text_utf8(queue, len) ? WEIR_OK : WEIR_ENOMEM;
}

int weir_rset_collect(const struct weir_written *in, int what, bool names, weir_rset **out, weir_err *err)
{
    struct collecting w = {.g = in->g, .tree = in->tree, .what = what, .err = err, .r = weir_rset_new()};

    w.core = weir_type_find(in->g, "core");
    w.gpu = weir_type_find(in->g, "gpu");
    w.node = weir_type_find(in->g, "node");
    if (!w.r)
        return weir_fail_nomem(err);
    take(&w);
    if (w.rc == WEIR_OK)
        w.rc = settle(&w);
    if (w.rc == WEIR_OK)
        w.rc = make_classes(&w);
    if (w.rc == WEIR_OK && names)
        w.rc = make_hosts(&w);
    if (w.rc == WEIR_OK && names)
        w.rc = make_props(&w);
    end_collecting(&w);
    if (w.rc < 0) {
        weir_rset_free(w.r);
        return w.rc;
    }
    set_times(w.r, in->a ? in->a->start : in->g->valid_from, in->a ? in->a->end : in->g->valid_until);
    w.r->nslots = in->a ? in->a->nslots : 0;
    if (in->a && set_queue(w.r, in->g, in->a->job)) {
        weir_rset_free(w.r);
        return weir_fail_nomem(err);
    }
    *out = w.r;
    return WEIR_OK;
}

/* Gives the set the graph, or the allocation's part of the graph, as `scheduling`. */
static int attach_graph(const struct weir_written *in, weir_rset *r, weir_err *err)
{
    weir_buf b = {0};
    int rc;

    WEIR_WRITE(&b, "{");
    rc = weir_jgf_write(in, WEIR_FULL_GRAPH, &b, err);
    WEIR_WRITE(&b, "}");
    if (rc < 0 || b.failed)
        weir_buf_free(&b);
    if (rc < 0)
        return rc;
    r->scheduling = weir_rset_scheduling_new(&(struct rset_scheduling){.text = b.data, .graph = true}, &r->classes);
    return r->scheduling ? WEIR_OK : weir_fail_nomem(err);
}

static int make_rset(const struct weir_written *in, int what, bool scheduling, weir_rset **out, weir_err *err)
{
    weir_rset *r = NULL;
    int rc = weir_rset_collect(in, what, true, &r, err);

    if (rc == WEIR_OK && scheduling)
        rc = attach_graph(in, r, err);
    if (rc == WEIR_OK)
        *out = r;
    else
        weir_rset_free(r);
    return rc;
}

int weir_graph_rset(const weir_graph *g, enum weir_rset_what what, bool scheduling, weir_rset **out, weir_err *err)
{
    if (scheduling && what != WEIR_RSET_ALL)
        return weir_fail(err, WEIR_EINVAL, "only the set of a whole graph can have its graph as `scheduling`");
    return make_rset(&(struct weir_written){.g = g}, (int)what, scheduling, out, err);
}

int weir_allocation_rset(const weir_graph *g, const weir_allocation *a, bool scheduling, weir_rset **out, weir_err *err)
{
    struct weir_pick_tree tree = {0};
    int rc = weir_pick_tree_build(g, a, &tree, err);

    if (rc == WEIR_OK)
        rc = make_rset(&(struct weir_written){.g = g, .tree = &tree, .a = a}, WEIR_RSET_ALL, scheduling, out, err);
    weir_pick_tree_free(&tree);
    return rc;
}
