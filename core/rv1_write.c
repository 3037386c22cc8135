/* rv1_write.c - writes R version 1 (RFC 20): rv1, rv1_nosched, and rlite, which is the array R_lite alone.
 *
 * A host is what has an execution rank: a vertex with a rank of its own, or a node where there is no rank above it.
 * Each host where an allocation has something stands in R_lite, with the ids of the cores and gpus taken there; other
 * types do not. Hosts with the same cores and gpus share an entry, and entries are in the order of their lowest rank.
 *   - Ids that come twice on one host, such as those of cores counted in each socket, are written once.
 *   - Cores and gpus without a rank are put under rank "-1"; other things without one are left out.
 *   - A host is called by the node that it is or is in, otherwise by its own name; the cores of no host have no name.
 *   - Of a property with a value only the key is written. Keys that RFC 20 does not allow are left out, and so are, for
 *     allocations, those of the containing instance, which begin with '+'.
 *   - starttime and expiration are in seconds; a time that is not known is left out.
 *
 * Main invariant: after settle(), hosts[] is sorted by rank, and the runs of a host are consecutive, ascend by type and
 * id, and cannot be joined: equal sets are equal bytes.
 */
#include "write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hostlist.h"
#include "idset.h"

enum { CORE, GPU };

/* Ids of one type that a host has. */
struct run {
    uint32_t host; /* its number in the order of the walk */
    uint32_t type;
    uint32_t lo, hi; /* both inside */
};

struct host {
    int64_t rank;
    weir_vertex v; /* what bears the rank; WEIR_NONE: nothing does */
    uint32_t number;
    uint32_t first, nruns; /* in runs[] */
};

/* Hosts with the same runs: an entry of R_lite. */
struct group {
    uint32_t first, nruns;
    weir_idset *ranks; /* NULL: rank -1 */
};

struct prop {
    const char *key;
    weir_idset *ranks;
};

struct rv1 {
    const weir_graph *g;
    const struct weir_parts *parts;
    weir_err *err;
    weir_type core, gpu, node;
    struct host *hosts;
    uint32_t nhosts, hosts_cap;
    struct run *runs;
    uint32_t nruns, runs_cap;
    struct group *groups;
    uint32_t ngroups, groups_cap;
    struct weir_map32 group_numbers; /* by hash of the runs */
    struct prop *props;
    uint32_t nprops, props_cap;
    struct weir_map32 prop_numbers; /* by name */
    int rc;
};

/* Where the walk is: the host, and its number once something is known to be taken there. */
struct spot {
    int64_t rank;
    weir_vertex v;
    uint32_t host;
};

static void no_memory(struct rv1 *w)
{
    w->rc = weir_fail_nomem(w->err);
}

/* ---- the walk ------------------------------------------------------------------------------------------------- */

/* The number of the host at a spot. */
static uint32_t host_at(struct rv1 *w, struct spot *s)
{
    if (s->host != WEIR_NONE || w->rc < 0)
        return s->host;
    if (weir_array_reserve(&w->hosts, &w->hosts_cap, (size_t)w->nhosts + 1, sizeof *w->hosts) < 0) {
        no_memory(w);
        return WEIR_NONE;
    }
    s->host = w->nhosts++;
    w->hosts[s->host] = (struct host){s->rank, s->v, s->host, 0, 0};
    return s->host;
}

static int bad_id(struct rv1 *w, weir_vertex v)
{
    char path[400];

    weir_vertex_path(w->g, v, path, sizeof path);
    return weir_fail(w->err, WEIR_EINVAL, "R has ids from 0 to %lu, which %s has not: another format is wanted",
                     (unsigned long)WEIR_IDSET_MAX, path);
}

/* Counts in the cores or gpus from v on, whose ids go up by one. */
static void add_run(struct rv1 *w, struct spot *s, weir_vertex v, uint32_t type, uint32_t count)
{
    int64_t id = vertex_at(w->g, v)->id;
    uint32_t host = host_at(w, s);

    if (w->rc < 0)
        return;
    if (id < 0 || id + count - 1 > (int64_t)WEIR_IDSET_MAX) {
        w->rc = bad_id(w, v);
        return;
    }
    if (weir_array_reserve(&w->runs, &w->runs_cap, (size_t)w->nruns + 1, sizeof *w->runs) < 0) {
        no_memory(w);
        return;
    }
    w->runs[w->nruns++] = (struct run){host, type, (uint32_t)id, (uint32_t)id + count - 1};
}

/* The spot of v: that of what is above it, unless a host begins here, for which `own` is filled. */
static struct spot *enter(const struct rv1 *w, weir_vertex v, struct spot *above, struct spot *own)
{
    const struct pool *p = pool_of(w->g, v);

    if (p && p->rank != WEIR_NO_RANK && p->rank != above->rank)
        *own = (struct spot){p->rank, v, WEIR_NONE};
    else if (above->rank == WEIR_NO_RANK && kind_of(w->g, v)->type == w->node)
        *own = (struct spot){WEIR_NO_RANK, v, WEIR_NONE};
    else
        return above;
    return own;
}

/* Counts in what is below v, all of which is taken. */
static void take_below(struct rv1 *w, weir_vertex v, struct spot *s)
{
    uint32_t n, end;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    for (uint32_t i = 0; i < n && w->rc == WEIR_OK; i = end) {
        weir_type type;
        struct spot own, *at;
        end = i + 1;
        if (kids[i] == WEIR_NONE)
            continue;
        type = kind_of(w->g, kids[i])->type;
        if (type == w->core || type == w->gpu) {
            end = run_of_kids(w->g, kids, n, i);
            add_run(w, enter(w, kids[i], s, &own), kids[i], type == w->core ? CORE : GPU, end - i);
        } else if (!is_plain(vertex_at(w->g, kids[i]))) {
            at = enter(w, kids[i], s, &own);
            if (at->rank != WEIR_NO_RANK)
                host_at(w, at);
            take_below(w, kids[i], at);
        }
    }
}

static void take_part(struct rv1 *w, const struct weir_part *p, struct spot *above)
{
    weir_type type = kind_of(w->g, p->v)->type;
    struct spot own, *s = enter(w, p->v, above, &own);

    if (p->picked && s->rank != WEIR_NO_RANK)
        host_at(w, s);
    if (p->picked && (type == w->core || type == w->gpu))
        add_run(w, s, p->v, type == w->core ? CORE : GPU, 1);
    else if (p->whole)
        take_below(w, p->v, s);
    for (uint32_t i = p->first; i != WEIR_NONE && !p->whole && w->rc == WEIR_OK; i = w->parts->list[i].next)
        take_part(w, &w->parts->list[i], s);
}

/* A graph is taken as if all its roots had been picked. */
static void take(struct rv1 *w)
{
    const weir_graph *g = w->g;
    struct spot none = {WEIR_NO_RANK, WEIR_NONE, WEIR_NONE};

    if (w->parts) {
        for (uint32_t i = w->parts->first; i != WEIR_NONE && w->rc == WEIR_OK; i = w->parts->list[i].next)
            take_part(w, &w->parts->list[i], &none);
        return;
    }
    for (uint32_t i = 0; i < g->nroots && w->rc == WEIR_OK; i++) {
        struct weir_part root = {g->roots[i], WEIR_NONE, WEIR_NONE, WEIR_NONE, WEIR_NONE, 0, true, true};
        if (g->roots[i] != WEIR_NONE)
            take_part(w, &root, &none);
    }
}

/* ---- hosts and entries ---------------------------------------------------------------------------------------- */

static int compare_hosts(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

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

/* Sorts the runs of one host, mostly a handful: qsort() would take longer than all the rest. */
static void sort_runs(struct run *runs, uint32_t n)
{
    if (n > 32) {
        sort(runs, n, sizeof *runs, compare_runs);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct run r = runs[i];
        uint32_t k = i;
        for (; k > 0 && compare_runs(&runs[k - 1], &r) > 0; k--)
            runs[k] = runs[k - 1];
        runs[k] = r;
    }
}

/* Joins what can be joined among the runs of one host, which are sorted, and returns how many are left. */
static uint32_t join_runs(struct run *runs, uint32_t n)
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

static bool by_host(const struct run *runs, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (runs[i].host < runs[i - 1].host)
            return false;
    return true;
}

/* Brings hosts and runs into the order that the main invariant asks for. */
static void settle(struct rv1 *w)
{
    uint32_t i = 0;

    if (!by_host(w->runs, w->nruns))
        qsort(w->runs, w->nruns, sizeof *w->runs, compare_runs);
    while (i < w->nruns) {
        struct host *h = &w->hosts[w->runs[i].host];
        h->first = i;
        while (i < w->nruns && w->runs[i].host == h->number)
            i++;
        sort_runs(w->runs + h->first, i - h->first);
        h->nruns = join_runs(w->runs + h->first, i - h->first);
    }
    sort(w->hosts, w->nhosts, sizeof *w->hosts, compare_hosts);
}

static bool same_runs(const struct rv1 *w, const struct group *e, const struct host *h)
{
    const struct run *x = w->runs + e->first, *y = w->runs + h->first;

    if (e->nruns != h->nruns || (e->ranks == NULL) != (h->rank == WEIR_NO_RANK))
        return false;
    for (uint32_t i = 0; i < e->nruns; i++)
        if (x[i].type != y[i].type || x[i].lo != y[i].lo || x[i].hi != y[i].hi)
            return false;
    return true;
}

static uint32_t hash_runs(const struct rv1 *w, const struct host *h)
{
    uint64_t hash = h->nruns + (h->rank == WEIR_NO_RANK ? 1 : 0);

    for (uint32_t i = h->first; i < h->first + h->nruns; i++) {
        hash = (hash ^ w->runs[i].lo ^ (uint64_t)w->runs[i].hi << 32) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32 ^ w->runs[i].type;
    }
    return (uint32_t)hash;
}

/* The group of a host, made if none has its runs; NULL: out of memory. */
static struct group *group_of(struct rv1 *w, const struct host *h, uint32_t *guess)
{
    uint32_t key, i = *guess;
    struct group *e;

    if (i < w->ngroups && same_runs(w, &w->groups[i], h))
        return &w->groups[i];
    key = hash_runs(w, h);
    while ((i = weir_map32_get(&w->group_numbers, key)) != WEIR_NONE && !same_runs(w, &w->groups[i], h))
        key++;
    *guess = i == WEIR_NONE ? w->ngroups : i;
    if (i != WEIR_NONE)
        return &w->groups[i];
    if (weir_array_reserve(&w->groups, &w->groups_cap, (size_t)w->ngroups + 1, sizeof *w->groups) < 0 ||
        weir_map32_add(&w->group_numbers, key, w->ngroups) < 0)
        return NULL;
    e = &w->groups[w->ngroups];
    *e = (struct group){h->first, h->nruns, h->rank == WEIR_NO_RANK ? NULL : weir_idset_new()};
    if (!e->ranks && h->rank != WEIR_NO_RANK)
        return NULL;
    w->ngroups++;
    return e;
}

static void group_hosts(struct rv1 *w)
{
    uint32_t guess = 0;

    for (uint32_t i = 0; i < w->nhosts && w->rc == WEIR_OK; i++) {
        const struct host *h = &w->hosts[i];
        struct group *e;
        if (h->rank > (int64_t)WEIR_IDSET_MAX) {
            w->rc = weir_fail(w->err, WEIR_EINVAL, "R has ranks up to %lu, and %" PRId64 " is above: another is wanted",
                              (unsigned long)WEIR_IDSET_MAX, h->rank);
            return;
        }
        e = group_of(w, h, &guess);
        if (!e || (e->ranks && weir_idset_add_id(e->ranks, (uint32_t)h->rank) < 0))
            no_memory(w);
    }
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static void write_ids(weir_buf *b, const struct run *runs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            WEIR_WRITE(b, ",");
        weir_write_int(b, runs[i].lo);
        if (runs[i].hi > runs[i].lo) {
            WEIR_WRITE(b, "-");
            weir_write_int(b, runs[i].hi);
        }
    }
}

static void write_idset(struct rv1 *w, weir_buf *b, const weir_idset *s)
{
    if (weir_idset_format(s, WEIR_IDSET_RANGES, b) < 0)
        no_memory(w);
}

static void write_group(struct rv1 *w, weir_buf *b, const struct group *e)
{
    const struct run *runs = w->runs + e->first;
    uint32_t cores = 0;

    while (cores < e->nruns && runs[cores].type == CORE)
        cores++;
    WEIR_WRITE(b, "{\"rank\":\"");
    if (e->ranks)
        write_idset(w, b, e->ranks);
    else
        WEIR_WRITE(b, "-1");
    WEIR_WRITE(b, "\",\"children\":{\"core\":\"");
    write_ids(b, runs, cores);
    if (cores < e->nruns) {
        WEIR_WRITE(b, "\",\"gpu\":\"");
        write_ids(b, runs + cores, e->nruns - cores);
    }
    WEIR_WRITE(b, "\"}}");
}

static void write_rlite(struct rv1 *w, weir_buf *b)
{
    WEIR_WRITE(b, "[");
    for (uint32_t i = 0; i < w->ngroups; i++) {
        if (i > 0)
            WEIR_WRITE(b, ",");
        write_group(w, b, &w->groups[i]);
    }
    WEIR_WRITE(b, "]");
}

/* What gives a host its name. */
static weir_vertex namesake(const struct rv1 *w, weir_vertex v)
{
    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(w->g, u)->parent)
        if (kind_of(w->g, u)->type == w->node)
            return u;
    return v;
}

static void write_nodelist(struct rv1 *w, weir_buf *b)
{
    weir_hostlist *list = weir_hostlist_new();
    weir_buf name = {0}, text = {0};

    if (!list)
        no_memory(w);
    for (uint32_t i = 0; i < w->nhosts && w->rc == WEIR_OK; i++) {
        if (w->hosts[i].v == WEIR_NONE)
            continue;
        name.len = 0;
        weir_write_name(&name, w->g, namesake(w, w->hosts[i].v));
        if (name.failed)
            no_memory(w);
        else
            w->rc = weir_hostlist_append_name(list, name.data, name.len, w->err);
    }
    if (w->rc == WEIR_OK && weir_hostlist_format(list, &text) < 0)
        no_memory(w);
    WEIR_WRITE(b, "\"nodelist\":[");
    if (w->rc == WEIR_OK && text.len > 0)
        weir_write_string(b, text.data);
    WEIR_WRITE(b, "]");
    weir_buf_free(&name);
    weir_buf_free(&text);
    weir_hostlist_free(list);
}

/* ---- properties ----------------------------------------------------------------------------------------------- */

static bool may_write(const struct rv1 *w, const char *key)
{
    return !key[strcspn(key, "!&'\"^`|()")] && !(w->parts && key[0] == '+');
}

/* The number of a property, made if it is new; WEIR_NONE: out of memory. */
static uint32_t prop_number(struct rv1 *w, weir_name name)
{
    uint32_t i = weir_map32_get(&w->prop_numbers, name);

    if (i != WEIR_NONE)
        return i;
    i = w->nprops;
    if (weir_array_reserve(&w->props, &w->props_cap, (size_t)i + 1, sizeof *w->props) < 0 ||
        weir_map32_add(&w->prop_numbers, name, i) < 0)
        return WEIR_NONE;
    w->props[i].key = weir_names_text(&w->g->names, name);
    w->props[i].ranks = weir_idset_new();
    if (!w->props[i].ranks)
        return WEIR_NONE;
    w->nprops++;
    return i;
}

static void collect_props(struct rv1 *w, weir_vertex v, int64_t rank)
{
    const struct pool *p = pool_of(w->g, v);
    const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;

    for (uint32_t k = 0; m && k < m->count && w->rc == WEIR_OK; k++) {
        uint32_t i;
        if (!may_write(w, weir_names_text(&w->g->names, m->entries[k].key)))
            continue;
        i = prop_number(w, m->entries[k].key);
        if (i == WEIR_NONE || weir_idset_add_id(w->props[i].ranks, (uint32_t)rank) < 0)
            no_memory(w);
    }
}

static int compare_props(const void *a, const void *b)
{
    return strcmp(((const struct prop *)a)->key, ((const struct prop *)b)->key);
}

static void write_props(struct rv1 *w, weir_buf *b)
{
    for (uint32_t i = 0; i < w->nhosts && w->rc == WEIR_OK; i++)
        if (w->hosts[i].rank != WEIR_NO_RANK)
            collect_props(w, namesake(w, w->hosts[i].v), w->hosts[i].rank);
    if (w->nprops == 0 || w->rc < 0)
        return;
    sort(w->props, w->nprops, sizeof *w->props, compare_props);
    WEIR_WRITE(b, ",\"properties\":{");
    for (uint32_t i = 0; i < w->nprops; i++) {
        if (i > 0)
            WEIR_WRITE(b, ",");
        weir_write_string(b, w->props[i].key);
        WEIR_WRITE(b, ":\"");
        write_idset(w, b, w->props[i].ranks);
        WEIR_WRITE(b, "\"");
    }
    WEIR_WRITE(b, "}");
}

/* ---- the document --------------------------------------------------------------------------------------------- */

/* Microseconds as seconds. */
static void write_time(weir_buf *b, int64_t t)
{
    uint64_t us = t < 0 ? 0 - (uint64_t)t : (uint64_t)t, part = us % 1000000;
    int digits = 6;

    if (t < 0)
        WEIR_WRITE(b, "-");
    weir_write_int(b, (int64_t)(us / 1000000));
    if (part == 0)
        return;
    for (; part % 10 == 0; digits--)
        part /= 10;
    weir_buf_printf(b, ".%0*" PRIu64, digits, part);
}

static void write_times(const weir_allocation *a, weir_buf *b)
{
    if (!a)
        return;
    WEIR_WRITE(b, ",\"starttime\":");
    write_time(b, a->start);
    if (a->end == WEIR_FOREVER)
        return;
    WEIR_WRITE(b, ",\"expiration\":");
    write_time(b, a->end);
}

static void free_rv1(struct rv1 *w)
{
    for (uint32_t i = 0; i < w->ngroups; i++)
        weir_idset_free(w->groups[i].ranks);
    for (uint32_t i = 0; i < w->nprops; i++)
        weir_idset_free(w->props[i].ranks);
    weir_mem_free(w->groups);
    weir_mem_free(w->props);
    weir_mem_free(w->hosts);
    weir_mem_free(w->runs);
    weir_map32_free(&w->group_numbers);
    weir_map32_free(&w->prop_numbers);
}

static struct rv1 collect(const struct weir_written *in, weir_err *err)
{
    struct rv1 w = {.g = in->g, .parts = in->parts, .err = err};

    w.core = weir_type_find(in->g, "core");
    w.gpu = weir_type_find(in->g, "gpu");
    w.node = weir_type_find(in->g, "node");
    take(&w);
    if (w.rc == WEIR_OK) {
        settle(&w);
        group_hosts(&w);
    }
    return w;
}

int weir_rlite_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct rv1 w = collect(in, err);

    if (w.rc == WEIR_OK)
        write_rlite(&w, b);
    free_rv1(&w);
    return w.rc;
}

int weir_rv1_write(const struct weir_written *in, bool scheduling, weir_buf *b, weir_err *err)
{
    struct rv1 w = collect(in, err);

    if (w.rc == WEIR_OK) {
        WEIR_WRITE(b, "{\"version\":1,\"execution\":{\"R_lite\":");
        write_rlite(&w, b);
        WEIR_WRITE(b, ",");
        write_nodelist(&w, b);
        write_props(&w, b);
        write_times(in->a, b);
        WEIR_WRITE(b, "}");
    }
    free_rv1(&w);
    if (w.rc == WEIR_OK && scheduling) {
        WEIR_WRITE(b, ",\"scheduling\":{\"graph\":");
        w.rc = weir_jgf_write(in, b, err);
        WEIR_WRITE(b, "}");
    }
    WEIR_WRITE(b, "}");
    return w.rc;
}
