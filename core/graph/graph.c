/* graph.c - making and unmaking a graph and its containment tree. Layout and main invariant: graph.h. */
#include "graph/graph.h"

#include <string.h>

#include "job/job_annotation.h"
#include "time/reservation.h"
#include "time/occupancy.h"
#include "graph/journal.h"
#include "index/candidate_index.h"
#include "job/job.h"
#include "index/nogood.h"
#include "index/node_table.h"
#include "aggregate/rows.h"
#include "time/usage_totals.h"

weir_graph *weir_graph_new(void)
{
    weir_graph *g = weir_mem_zalloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->free_vertices = g->free_inners = g->free_pools = g->free_edges = g->free_books = WEIR_NONE;
    g->last_kind = WEIR_NONE;
    for (uint32_t i = 0; i < LATE_LEVELS; i++)
        g->late[i].vertex = WEIR_NONE;
    g->next_job = 1;
    g->map_index = weir_map_index_new();
    if (!g->map_index || weir_names_init(&g->names) || weir_schema_intern(g, NULL, 0) == WEIR_NONE ||
        weir_array_reserve(&g->subsystems, &g->subsystems_cap, 1, sizeof *g->subsystems)) {
        weir_graph_free(g);
        return NULL;
    }
    g->subsystems[0] = weir_names_add(&g->names, "containment", 11);
    if (g->subsystems[0] == WEIR_NO_NAME) {
        weir_graph_free(g);
        return NULL;
    }
    g->nsubsystems = 1;
    return g;
}

static void free_records(weir_graph *g)
{
    for (uint32_t i = 0; i < g->ninners; i++) {
        weir_mem_free(g->inners[i].kids);
        weir_mem_free(g->inners[i].cells);
    }
    for (uint32_t i = 0; i < g->npools; i++)
        for (int m = 0; m < 3; m++)
            weir_map_clear(&g->pools[i].maps[m]);
    weir_books_clear(g);
    weir_jobs_clear(g);
}

void weir_graph_free(weir_graph *g)
{
    if (!g)
        return;
    weir_indexes_drop(g);
    weir_changes_set(g, NULL);
    weir_text_save_set(g, NULL);
    free_records(g);
    weir_schemas_clear(g);
    weir_names_clear(&g->names);
    weir_mem_free(g->types);
    weir_mem_free(g->type_flags);
    weir_mem_free(g->type_of_name);
    weir_mem_free(g->kinds);
    weir_mem_free(g->kind_slots);
    weir_mem_free(g->vertices);
    weir_mem_free(g->inners);
    weir_mem_free(g->pools);
    weir_map_index_free(g->map_index);
    weir_mem_free(g->edges);
    weir_mem_free(g->subsystems);
    weir_mem_free(g->roots);
    weir_mem_free(g->spare_rows);
    weir_mem_free(g->indexes);
    weir_mem_free(g->uuids);
    weir_mem_free(g->uuid_slots);
    weir_mem_free(g);
}

int weir_graph_writable(const weir_graph *g, weir_err *err)
{
    if (g->matching)
        return weir_fail(err, WEIR_EINVAL, "the graph cannot be changed while a match runs on it");
    return WEIR_OK;
}

static int check_vertex(const weir_graph *g, weir_vertex v, weir_err *err)
{
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    return weir_graph_writable(g, err);
}

void weir_graph_begin(weir_graph *g)
{
    g->building = true;
    weir_indexes_drop(g);
    weir_taken_clear(g);
    weir_calendars_clear(g);
}

int weir_graph_end(weir_graph *g, weir_err *err)
{
    g->building = false;
    if (weir_rows_build(g))
        return weir_fail_nomem(err);
    weir_array_fit(&g->vertices, &g->vertices_cap, g->limit, sizeof *g->vertices);
    weir_array_fit(&g->inners, &g->inners_cap, g->ninners, sizeof *g->inners);
    weir_array_fit(&g->pools, &g->pools_cap, g->npools, sizeof *g->pools);
    weir_array_fit(&g->edges, &g->edges_cap, g->nedges, sizeof *g->edges);
    return WEIR_OK;
}

int weir_graph_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_reserve(&g->vertices, &g->vertices_cap, n, sizeof *g->vertices);
}

/* ---- types and kinds ---- */

weir_type weir_type_find(const weir_graph *g, const char *name)
{
    weir_name n = weir_names_find(&g->names, name, strlen(name));
    return n == WEIR_NO_NAME || n >= g->type_names_cap ? WEIR_NO_TYPE : g->type_of_name[n];
}

weir_type weir_type_add(weir_graph *g, const char *name, size_t len)
{
    weir_name n = weir_names_add(&g->names, name, len);
    uint32_t had = g->type_names_cap;

    if (n == WEIR_NO_NAME)
        return WEIR_NO_TYPE;
    if (n < had && g->type_of_name[n] != WEIR_NO_TYPE)
        return g->type_of_name[n];
    if (g->ntypes >= WEIR_TYPES_MAX ||
        weir_array_reserve(&g->type_of_name, &g->type_names_cap, (size_t)n + 1, sizeof *g->type_of_name))
        return WEIR_NO_TYPE;
    for (uint32_t i = had; i < g->type_names_cap; i++)
        g->type_of_name[i] = WEIR_NO_TYPE;
    if (weir_array_reserve(&g->types, &g->types_cap, g->ntypes + 1, sizeof *g->types) ||
        weir_array_reserve(&g->type_flags, &g->type_flags_cap, g->ntypes + 1, sizeof *g->type_flags))
        return WEIR_NO_TYPE;
    g->types[g->ntypes] = n;
    g->type_flags[g->ntypes] = 0;
    g->type_of_name[n] = (uint16_t)g->ntypes;
    return (weir_type)g->ntypes++;
}

static bool same_kind(const struct kind *a, const struct kind *b)
{
    return a->type == b->type && a->basename == b->basename && a->unit == b->unit && a->size == b->size &&
           a->exclusive == b->exclusive;
}

static uint32_t kind_hash(const struct kind *k)
{
    uint64_t h = (uint64_t)k->size * 0x9E3779B97F4A7C15u;
    h = (h ^ k->type ^ (uint64_t)k->basename << 16 ^ (uint64_t)k->unit << 40 ^ k->exclusive) * 0xD6E8FEB86659FD93u;
    return (uint32_t)(h >> 32);
}

static int grow_kind_slots(weir_graph *g)
{
    uint32_t wide = g->nkind_slots ? g->nkind_slots * 2 : 64;
    uint32_t *slots = weir_mem_zalloc(wide, sizeof *slots);

    if (!slots)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < g->nkinds; i++) {
        uint32_t at = kind_hash(&g->kinds[i]) & (wide - 1);
        while (slots[at])
            at = (at + 1) & (wide - 1);
        slots[at] = i + 1;
    }
    weir_mem_free(g->kind_slots);
    g->kind_slots = slots;
    g->nkind_slots = wide;
    return WEIR_OK;
}

/* The number of a kind, shared by all pools alike; WEIR_NONE: out of memory. */
static uint32_t kind_intern(weir_graph *g, const struct kind *k)
{
    uint32_t at;

    if (g->last_kind != WEIR_NONE && same_kind(&g->kinds[g->last_kind], k))
        return g->last_kind;
    if ((g->nkinds + 1) * 2 > g->nkind_slots && grow_kind_slots(g))
        return WEIR_NONE;
    at = kind_hash(k) & (g->nkind_slots - 1);
    while (g->kind_slots[at] && !same_kind(&g->kinds[g->kind_slots[at] - 1], k))
        at = (at + 1) & (g->nkind_slots - 1);
    if (!g->kind_slots[at]) {
        if (weir_array_reserve(&g->kinds, &g->kinds_cap, g->nkinds + 1, sizeof *g->kinds))
            return WEIR_NONE;
        g->kinds[g->nkinds] = *k;
        g->whole_kinds |= k->exclusive;
        if (k->size != 1)
            g->type_flags[k->type] |= TYPE_POOLED;
        g->kind_slots[at] = ++g->nkinds;
    }
    g->last_kind = g->kind_slots[at] - 1;
    return g->last_kind;
}

static int kind_from_desc(weir_graph *g, const weir_pool_desc *d, uint32_t *out, weir_err *err)
{
    struct kind k = {d->size, 0, 0, WEIR_NO_TYPE, d->exclusive, 0};
    const char *basename = d->basename ? d->basename : d->type;

    k.type = weir_type_add(g, d->type, strlen(d->type));
    k.basename = weir_names_add(&g->names, basename, strlen(basename));
    k.unit = d->unit ? weir_names_add(&g->names, d->unit, strlen(d->unit)) : 0;
    if (k.type == WEIR_NO_TYPE && g->ntypes >= WEIR_TYPES_MAX)
        return weir_fail(err, WEIR_ELIMIT, "more than %d types of pools", WEIR_TYPES_MAX);
    if (k.type == WEIR_NO_TYPE || k.basename == WEIR_NO_NAME || k.unit == WEIR_NO_NAME)
        return weir_fail_nomem(err);
    *out = kind_intern(g, &k);
    return *out == WEIR_NONE ? weir_fail_nomem(err) : WEIR_OK;
}

/* ---- vertices ---- */

static int check_text(const char *what, const char *text, weir_err *err)
{
    if (text && strlen(text) > WEIR_NAME_MAX)
        return weir_fail(err, WEIR_ELIMIT, "a %s is longer than %d bytes", what, WEIR_NAME_MAX);
    return WEIR_OK;
}

/* What becomes part of a path, on one line. */
static int check_name(const char *what, const char *text, weir_err *err)
{
    for (const char *c = text; c && *c; c++)
        if ((unsigned char)*c < 32 || *c == 127 || *c == '/')
            return weir_fail(err, WEIR_EINVAL, "a %s must not have a '/' or a control character in it", what);
    return check_text(what, text, err);
}

static int check_desc(const weir_pool_desc *d, weir_err *err)
{
    int rc;

    if (!d->type || !d->type[0])
        return weir_fail(err, WEIR_EINVAL, "a pool needs a type");
    if (d->size < 0)
        return weir_fail(err, WEIR_EINVAL, "a pool of type %.60s has size %lld; sizes are not negative", d->type,
                         (long long)d->size);
    if (d->rank < WEIR_NO_RANK || d->rank > UINT32_MAX)
        return weir_fail(err, WEIR_EINVAL, "rank %lld is out of range", (long long)d->rank);
    rc = check_name("type", d->type, err);
    rc = rc ? rc : check_name("basename", d->basename, err);
    rc = rc ? rc : check_name("name", d->name, err);
    return rc ? rc : check_text("unit", d->unit, err);
}

int weir_kind_add(weir_graph *g, const weir_pool_desc *d, uint32_t *out, weir_err *err)
{
    int rc = check_desc(d, err);
    return rc ? rc : kind_from_desc(g, d, out, err);
}

int weir_inner_make(weir_graph *g, weir_vertex v)
{
    uint32_t i = g->free_inners;

    if (vertex_at(g, v)->inner != WEIR_NONE)
        return WEIR_OK;
    if (i != WEIR_NONE) {
        g->free_inners = g->inners[i].schema;
    } else {
        if (weir_array_reserve(&g->inners, &g->inners_cap, g->ninners + 1, sizeof *g->inners))
            return WEIR_ENOMEM;
        i = g->ninners++;
    }
    memset(&g->inners[i], 0, sizeof g->inners[i]);
    g->inners[i].vertex = v;
    g->inners[i].lift = WEIR_NONE;
    vertex_at(g, v)->inner = i;
    g->type_flags[kind_of(g, v)->type] |= TYPE_HAS_KIDS;
    weir_indexes_promote(g, v);
    return WEIR_OK;
}

int weir_inners_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_exact(&g->inners, &g->inners_cap, (size_t)g->ninners + n, sizeof *g->inners);
}

/* Exact for those that get their kids at once, as most do, and a quarter more for those that get others. */
static int widen_kids(struct inner *in, size_t need)
{
    size_t cap = in->kids_cap ? need + need / 4 : need;
    weir_vertex *kids;

    if (need <= in->kids_cap)
        return WEIR_OK;
    cap = cap < 4 ? 4 : cap < UINT32_MAX ? cap : UINT32_MAX;
    kids = need > UINT32_MAX ? NULL : weir_mem_realloc(in->kids, cap * sizeof *kids);
    if (!kids)
        return WEIR_ENOMEM;
    in->kids = kids;
    in->kids_cap = (uint32_t)cap;
    return WEIR_OK;
}

int weir_kids_reserve(weir_graph *g, weir_vertex p, uint32_t more)
{
    struct inner *in;

    if (p == WEIR_NONE)
        return weir_array_reserve(&g->roots, &g->roots_cap, (size_t)g->nroots + more, sizeof *g->roots);
    if (weir_inner_make(g, p))
        return WEIR_ENOMEM;
    in = inner_of(g, p);
    return widen_kids(in, (size_t)in->nkids + more);
}

static weir_vertex *kids_of(const weir_graph *g, weir_vertex p)
{
    return p == WEIR_NONE ? g->roots : inner_of(g, p)->kids;
}

static uint32_t nkids_of(const weir_graph *g, weir_vertex p)
{
    return p == WEIR_NONE ? g->nroots : inner_of(g, p)->nkids;
}

/* Writes vertices [first, first + count) behind the kids of p, not counted in yet. */
static void write_vertices(weir_graph *g, weir_vertex p, const weir_pool_desc *d, uint32_t kind, uint32_t count,
                           int64_t stride, weir_vertex first)
{
    weir_vertex *kids = kids_of(g, p);
    uint32_t pos = nkids_of(g, p);

    for (uint32_t i = 0; i < count; i++) {
        struct vertex *v = vertex_at(g, first + i);
        v->id = d->id == WEIR_NO_ID ? WEIR_NO_ID : d->id + (int64_t)i * stride;
        v->kind = kind;
        v->parent = p;
        v->pos = pos + i;
        v->inner = v->pool = v->book = WEIR_NONE;
        v->state = WEIR_UP;
        v->flags = VERTEX_LIVE;
        kids[pos + i] = first + i;
    }
}

/* Takes `count` consecutive vertex records (one may come from the free ones); WEIR_NONE: no room. */
static weir_vertex take_vertices(weir_graph *g, uint32_t count)
{
    weir_vertex first = g->free_vertices;

    if (count == 1 && first != WEIR_NONE) {
        g->free_vertices = vertex_at(g, first)->pos;
        return first;
    }
    if (count > WEIR_NONE - 1 - g->limit || weir_graph_reserve(g, g->limit + count))
        return WEIR_NONE;
    first = g->limit;
    memset(g->vertices + first, 0, count * sizeof *g->vertices);
    g->limit += count;
    return first;
}

static void give_back(weir_graph *g, weir_vertex first, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        struct vertex *v = vertex_at(g, first + i);
        v->flags = 0;
        v->generation = (uint16_t)((v->generation + 1) & 1023);
        v->pos = g->free_vertices;
        g->free_vertices = first + i;
    }
}

int weir_name_set(weir_graph *g, weir_vertex v, const char *name, weir_err *err)
{
    int rc = check_name("name", name, err);
    weir_name n = rc ? WEIR_NO_NAME : weir_names_add(&g->names, name, strlen(name));
    struct pool *p = n == WEIR_NO_NAME ? NULL : weir_pool_get(g, v);

    if (!p)
        return rc ? rc : weir_fail_nomem(err);
    p->name = n;
    return WEIR_OK;
}

/* What one pool may have of its own beyond its kind. */
static int write_pool(weir_graph *g, weir_vertex v, const weir_pool_desc *d, weir_err *err)
{
    struct pool *p;
    int rc = d->uuid ? weir_uuid_set(g, v, d->uuid, err) : WEIR_OK;

    rc = !rc && d->name ? weir_name_set(g, v, d->name, err) : rc;
    if (rc || d->rank == WEIR_NO_RANK)
        return rc;
    p = weir_pool_get(g, v);
    if (!p)
        return weir_fail_nomem(err);
    p->rank = d->rank;
    return WEIR_OK;
}

/* Vertices below p are new: who has what over time has to know them. */
static void join_taken(weir_graph *g, weir_vertex p, weir_vertex first, uint32_t count)
{
    for (; p != WEIR_NONE; p = vertex_at(g, p)->parent)
        if (book_of(g, p) && book_of(g, p)->count > book_of(g, p)->shared) {
            weir_taken_clear(g); /* somebody has them already */
            weir_calendars_clear(g);
            return;
        }
    for (uint32_t i = 0; i < count; i++)
        weir_calendars_join(g, first + i);
}

/* Counts vertices that are written into the tree: nothing of it is seen before. */
static int link_vertices(weir_graph *g, weir_vertex p, weir_vertex first, uint32_t count, int64_t size)
{
    if (p == WEIR_NONE) {
        g->nroots += count;
        weir_indexes_link(g, p, g->nroots - count, count);
    } else if (g->building) {
        inner_of(g, p)->nkids += count;
    } else if (weir_rows_link(g, p, count)) {
        return WEIR_ENOMEM;
    }
    g->live += count;
    g->kinds[vertex_at(g, first)->kind].count += count;
    g->units += size * (int64_t)count;
    g->serial++;
    if (!g->building)
        join_taken(g, p, first, count);
    return WEIR_OK;
}

static int check_parent(const weir_graph *g, weir_vertex p, weir_err *err)
{
    const struct inner *in;
    const struct book *b;
    int rc = weir_graph_writable(g, err);

    if (rc || p == WEIR_NONE)
        return rc;
    rc = check_vertex(g, p, err);
    if (rc)
        return rc;
    if (vertex_depth(g, p) >= WEIR_PATH_DEPTH)
        return weir_fail(err, WEIR_ELIMIT, "the containment tree is deeper than %d levels", WEIR_PATH_DEPTH);
    b = book_of(g, p);
    in = inner_of(g, p);
    if (b && b->count && (!in || in->nkids == in->holes))
        return weir_fail(err, WEIR_EBUSY, "vertex %u cannot get children while jobs hold units of it", p);
    return WEIR_OK;
}

int weir_units_check(const weir_graph *g, int64_t size, uint32_t count, weir_err *err)
{
    if (size > (WEIR_UNITS_MAX - g->units) / (int64_t)count)
        return weir_fail(err, WEIR_ELIMIT, "the sizes of all pools add up to more than %lld", (long long)WEIR_UNITS_MAX);
    return WEIR_OK;
}

int weir_graph_add_many(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, uint32_t count, int64_t stride,
                        weir_vertex *first, weir_err *err)
{
    uint32_t kind;
    weir_vertex v;
    int rc = check_parent(g, parent, err);

    rc = rc ? rc : weir_kind_add(g, d, &kind, err);
    if (rc)
        return rc;
    if (count == 0)
        return weir_fail(err, WEIR_EINVAL, "0 vertices cannot be added");
    rc = weir_units_check(g, d->size, count, err);
    if (rc)
        return rc;
    if (weir_kids_reserve(g, parent, count))
        return weir_fail_nomem(err);
    v = take_vertices(g, count);
    if (v == WEIR_NONE)
        return weir_fail_nomem(err);
    write_vertices(g, parent, d, kind, count, stride, v);
    if (count == 1)
        rc = write_pool(g, v, d, err);
    if (!rc && link_vertices(g, parent, v, count, d->size))
        rc = weir_fail_nomem(err);
    if (rc) {
        weir_pool_drop(g, v);
        weir_uuid_drop(g, v);
        give_back(g, v, count);
        return rc;
    }
    note_vertices(g, v, count);
    if (first)
        *first = v;
    return WEIR_OK;
}

int weir_graph_add(weir_graph *g, weir_vertex parent, const weir_pool_desc *d, weir_vertex *out, weir_err *err)
{
    return weir_graph_add_many(g, parent, d, 1, 0, out, err);
}

/* ---- removal ---- */

static void drop_inner(weir_graph *g, weir_vertex v)
{
    struct vertex *x = vertex_at(g, v);
    struct inner *in = inner_of(g, v);

    if (!in)
        return;
    weir_rows_spare(g, in);
    weir_mem_free(in->kids);
    weir_mem_free(in->cells);
    memset(in, 0, sizeof *in);
    in->vertex = WEIR_NONE;
    in->schema = g->free_inners;
    g->free_inners = x->inner;
    x->inner = WEIR_NONE;
}

/* It has no edges: what is in another subsystem stays. */
static void reclaim_one(weir_graph *g, weir_vertex v)
{
    struct vertex *x = vertex_at(g, v);

    if (!state_available(x->state))
        g->unavailable--;
    g->kinds[x->kind].count--;
    g->units -= kind_of(g, v)->size;
    weir_calendars_leave(g, v);
    weir_pool_drop(g, v);
    weir_uuid_drop(g, v);
    drop_inner(g, v);
    give_back(g, v, 1);
    g->live--;
    note_vertex(g, v);
}

static uint32_t count_kept(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    uint32_t n = in_other_subsystem(g, v);

    for (uint32_t i = 0; in && i < in->nkids; i++)
        n += in->kids[i] == WEIR_NONE ? 0 : count_kept(g, in->kids[i]);
    return n;
}

/* A pool that is still in another subsystem stays, below nothing. There is room among the roots. */
static void keep_alone(weir_graph *g, weir_vertex v)
{
    drop_inner(g, v);
    vertex_at(g, v)->parent = WEIR_NONE;
    vertex_at(g, v)->pos = g->nroots;
    g->roots[g->nroots++] = v;
    weir_indexes_link(g, WEIR_NONE, g->nroots - 1, 1);
    note_vertex(g, v);
}

static void reclaim(weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    for (uint32_t i = 0; in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            reclaim(g, in->kids[i]);
    if (in_other_subsystem(g, v))
        keep_alone(g, v);
    else
        reclaim_one(g, v);
}

int weir_unlink_ready(weir_graph *g, weir_vertex v, weir_err *err)
{
    int rc = check_vertex(g, v, err);

    if (!rc && g->building)
        rc = weir_fail(err, WEIR_EINVAL, "nothing can be unlinked between begin and end");
    if (!rc && weir_array_reserve(&g->roots, &g->roots_cap, (size_t)g->nroots + count_kept(g, v), sizeof *g->roots))
        rc = weir_fail_nomem(err);
    return rc;
}

int weir_graph_unlink(weir_graph *g, weir_vertex v, weir_err *err)
{
    int rc = weir_unlink_ready(g, v, err);

    rc = rc ? rc : weir_refuse_used(g, v, err);
    if (rc)
        return rc;
    if (vertex_at(g, v)->parent == WEIR_NONE)
        g->roots[vertex_at(g, v)->pos] = WEIR_NONE;
    else
        weir_rows_unlink(g, v);
    weir_indexes_unlink(g, v);
    reclaim(g, v);
    g->serial++;
    return WEIR_OK;
}

/* ---- size ---- */

uint32_t weir_graph_count(const weir_graph *g)
{
    return g->live;
}

uint32_t weir_graph_limit(const weir_graph *g)
{
    return g->limit;
}

uint64_t weir_graph_serial(const weir_graph *g)
{
    return g->serial;
}

uint64_t weir_graph_revision(const weir_graph *g)
{
    return g->revision;
}

bool weir_vertex_live(const weir_graph *g, weir_vertex v)
{
    return vertex_valid(g, v);
}

uint32_t weir_vertex_generation(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->generation;
}

static size_t pools_bytes(const weir_graph *g)
{
    size_t n = (size_t)g->npools * sizeof *g->pools;

    for (uint32_t i = 0; i < g->npools; i++)
        for (int m = 0; m <= WEIR_EXTENDED; m++)
            n += (size_t)g->pools[i].maps[m].count * sizeof(struct entry);
    return n;
}

static size_t inners_bytes(const weir_graph *g)
{
    size_t n = (size_t)g->ninners * sizeof *g->inners;

    for (uint32_t i = 0; i < g->ninners; i++)
        if (g->inners[i].vertex != WEIR_NONE)
            n += (size_t)g->inners[i].nkids * sizeof(weir_vertex) +
                 (size_t)g->inners[i].nrows * g->schemas[g->inners[i].schema]->stride * sizeof(int64_t);
    return n;
}

size_t weir_graph_bytes(const weir_graph *g)
{
    size_t n = sizeof *g + g->names.bytes + (size_t)g->limit * sizeof *g->vertices;

    n += (size_t)g->names.nslots * 4 + (size_t)g->names.count * 12 + (size_t)g->uuids_cap * 16 +
         (size_t)g->nuuid_slots * 4;
    n += pools_bytes(g) + inners_bytes(g) + (size_t)g->nedges * sizeof *g->edges + weir_books_bytes(g);
    for (uint32_t i = 0; i < g->nindexes; i++)
        n += (size_t)g->indexes[i]->rows * sizeof(weir_vertex);
    n += weir_roster_bytes(g->roster) + weir_refusals_bytes(g) + weir_calendars_bytes(g);
    if (g->changes)
        n += sizeof *g->changes +
             ((size_t)g->changes->vertices.n + g->changes->edges.n + g->changes->jobs.n) * sizeof(int64_t);
    return n;
}

void weir_free(void *p)
{
    weir_mem_free(p);
}
