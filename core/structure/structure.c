/* structure.c - makes and frees a graph; adds vertices to the containment tree, changes states, removes vertices.
 * Invariant: rows are up to date before observers are called. */
#include "graph/journal.h"
#include "graph/observer.h"
#include "graph/tree_order.h"
#include "aggregate/rows.h"

#include <string.h>

/* ---- the whole ---- */

weir_graph *weir_graph_new(void)
{
    weir_graph *g = weir_mem_zalloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->free.vertices = g->free.inners = g->free.pools = g->free.edges = WEIR_NONE;
    g->kind_index.last = WEIR_NONE;
    g->valid_until = WEIR_FOREVER;
    weir_uuid_begin(g);
    g->map_index = weir_map_index_new();
    if (!g->map_index || weir_strtab_init(&g->names) || weir_aggregates_make(g) ||
        weir_array_reserve(&g->subsystems, &g->cap.subsystems, 1, sizeof *g->subsystems)) {
        weir_graph_free(g);
        return NULL;
    }
    g->subsystems[0] = weir_strtab_add(&g->names, "containment", 11);
    if (g->subsystems[0] == WEIR_NO_NAME) {
        weir_graph_free(g);
        return NULL;
    }
    g->nsubsystems = 1;
    return g;
}

static void free_records(weir_graph *g)
{
    for (uint32_t i = 0; i < g->ninners; i++)
        WEIR_FREE(g->inners[i].kids, g->inners[i].cells);
    for (uint32_t i = 0; i < g->npools; i++)
        for (int m = 0; m < 3; m++)
            weir_map_clear(&g->pools[i].maps[m]);
}

void weir_graph_free(weir_graph *g)
{
    if (!g)
        return;
    WEIR_TELL(g, freed, g);
    if (g->viewed.owned)
        weir_graph_free(g->viewed.graph);
    weir_journal_set(g, NULL);
    weir_text_save_set(g, NULL);
    free_records(g);
    weir_aggregates_free(g);
    weir_strtab_clear(&g->names);
    WEIR_FREE(g->types, g->type_by_name.type, g->kinds);
    weir_map32_free(&g->kind_index.numbers);
    WEIR_FREE(g->vertices, g->inners, g->pools);
    weir_map_index_free(g->map_index);
    WEIR_FREE(g->edges, g->subsystems, g->roots, g->uuids.list);
    weir_map32_free(&g->uuids.vertices);
    weir_mem_free(g);
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
    WEIR_TELL(g, reset, g);
}

int weir_graph_end(weir_graph *g, weir_err *err)
{
    g->building = false;
    weir_tree_order_built(g);
    if (weir_rows_build(g))
        return weir_fail_nomem(err);
    WEIR_TELL(g, reset, g);
    weir_array_fit(&g->vertices, &g->cap.vertices, g->limit, sizeof *g->vertices);
    weir_array_fit(&g->inners, &g->cap.inners, g->ninners, sizeof *g->inners);
    weir_array_fit(&g->pools, &g->cap.pools, g->npools, sizeof *g->pools);
    weir_array_fit(&g->edges, &g->cap.edges, g->nedges, sizeof *g->edges);
    return WEIR_OK;
}

/* ---- adding ---- */

static weir_vertex *kids_of(const weir_graph *g, weir_vertex p)
{
    return p == WEIR_NONE ? g->roots : inner_of(g, p)->kids;
}

static uint32_t nkids_of(const weir_graph *g, weir_vertex p)
{
    return p == WEIR_NONE ? g->nroots : inner_of(g, p)->nkids;
}

/* Writes vertices [first, first + count) behind the children of p, not counted yet. */
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
        v->inner = v->pool = v->schedule = WEIR_NONE;
        v->state = WEIR_UP;
        v->flags = VERTEX_LIVE;
        kids[pos + i] = first + i;
    }
}

/* Takes `count` consecutive vertex records, for one vertex a free record if any. WEIR_NONE: out of memory or
 * numbers. */
static weir_vertex take_vertices(weir_graph *g, uint32_t count)
{
    weir_vertex first = g->free.vertices;

    if (count == 1 && first != WEIR_NONE) {
        g->free.vertices = vertex_at(g, first)->pos;
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
        if (v->generation == WEIR_GENERATION_MAX)
            continue; /* generations are used up: the number is never reused, as old references would match */
        v->generation++;
        g->uuids.generations = v->generation > g->uuids.generations ? v->generation : g->uuids.generations;
        v->pos = g->free.vertices;
        g->free.vertices = first + i;
    }
}

/* Writes name, UUID and rank of a pool, where given. */
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

/* Counts written vertices into the tree, and so makes the vertices visible. */
static int link_vertices(weir_graph *g, weir_vertex p, weir_vertex first, uint32_t count, int64_t size)
{
    uint32_t pos = nkids_of(g, p);

    if (p == WEIR_NONE)
        g->nroots += count;
    else if (g->building)
        inner_of(g, p)->nkids += count;
    else if (weir_rows_link(g, p, count))
        return WEIR_ENOMEM;
    g->live += count;
    g->kinds[vertex_at(g, first)->kind].count += count;
    g->units += size * (int64_t)count;
    weir_tree_changed(g);
    if (g->building)
        return WEIR_OK;
    weir_tree_order_added(g, first, count);
    WEIR_TELL(g, linked, g, p, pos, count);
    return WEIR_OK;
}

static int check_parent(const weir_graph *g, weir_vertex p, weir_err *err)
{
    const struct inner *in;
    const struct schedule *b;
    int rc = weir_graph_writable(g, err);

    if (rc || p == WEIR_NONE)
        return rc;
    rc = check_vertex(g, p, err);
    if (rc)
        return rc;
    if (vertex_depth(g, p) >= WEIR_PATH_DEPTH)
        return weir_fail(err, WEIR_ELIMIT, "the containment tree is deeper than %d levels", WEIR_PATH_DEPTH);
    if (vertex_detached(g, p))
        return weir_fail(err, WEIR_EINVAL, "vertex %u is in no containment: attach it before it gets children", p);
    b = schedule_of(g, p);
    in = inner_of(g, p);
    if (b && b->count && (!in || in->nkids == in->holes))
        return weir_fail(err, WEIR_EBUSY, "vertex %u cannot get children while jobs hold units of it", p);
    return WEIR_OK;
}

static int check_vertices(const weir_graph *g, uint32_t count, weir_err *err)
{
    uint32_t most = weir_vertices_limit(0), there = weir_graph_count(g);

    if (there < most && count <= most - there)
        return WEIR_OK;
    return weir_fail(err, WEIR_ELIMIT, "more than %u vertices (WEIR_VERTICES=N in the environment allows more)", most);
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
    rc = rc ? rc : check_vertices(g, count, err);
    if (rc)
        return rc;
    if (weir_kids_reserve(g, parent, count))
        return weir_fail_nomem(err);
    v = take_vertices(g, count);
    if (v == WEIR_NONE)
        return weir_fail_nomem(err);
    for (uint32_t i = 0; g->uuids.own && i < count; i++)
        weir_uuid_fresh(g, v + i);
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

/* ---- state ---- */

int weir_vertex_set_state(weir_graph *g, weir_vertex v, int state, weir_err *err)
{
    int rc = weir_graph_writable(g, err);
    struct vertex *x;

    if (rc)
        return rc;
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (state < 0 || state >= WEIR_STATES)
        return weir_fail(err, WEIR_EINVAL, "there is no state %d", state);
    x = vertex_at(g, v);
    weir_rows_before(g, v);
    g->unavailable += (uint32_t)!state_available(state) - (uint32_t)!state_available(x->state);
    x->state = (uint8_t)state;
    weir_rows_after(g, v);
    note_state(g, v);
    return WEIR_OK;
}

/* ---- removal ---- */

static void drop_inner(weir_graph *g, weir_vertex v)
{
    struct vertex *x = vertex_at(g, v);
    struct inner *in = inner_of(g, v);

    if (!in)
        return;
    weir_rows_spare(g, in);
    WEIR_FREE(in->kids, in->cells);
    memset(in, 0, sizeof *in);
    in->vertex = WEIR_NONE;
    in->schema = g->free.inners;
    g->free.inners = x->inner;
    x->inner = WEIR_NONE;
}

/* Reclaims a vertex without edges; vertices with edges stay (detach). */
static void reclaim_one(weir_graph *g, weir_vertex v)
{
    struct vertex *x = vertex_at(g, v);

    if (!state_available(x->state))
        g->unavailable--;
    g->detached -= vertex_detached(g, v);
    g->kinds[x->kind].count--;
    g->units -= kind_of(g, v)->size;
    WEIR_TELL(g, reclaimed, g, v);
    weir_pool_drop(g, v);
    weir_uuid_drop(g, v);
    drop_inner(g, v);
    g->shuffled -= (vertex_at(g, v)->flags & VERTEX_SHUFFLED) != 0;
    give_back(g, v, 1);
    g->live--;
    note_vertex(g, v);
}

/* Leaves a pool with edges of another subsystem as a detached vertex. */
static void detach(weir_graph *g, weir_vertex v)
{
    WEIR_TELL(g, reclaimed, g, v);
    drop_inner(g, v);
    g->detached += !vertex_detached(g, v);
    vertex_at(g, v)->parent = vertex_at(g, v)->pos = WEIR_NONE;
    note_vertex(g, v);
}

static void reclaim(weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    for (uint32_t i = 0; in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            reclaim(g, in->kids[i]);
    if (in_other_subsystem(g, v))
        detach(g, v);
    else
        reclaim_one(g, v);
}

/* Takes v out of the children of the parent, or out of the roots. */
static void cut(weir_graph *g, weir_vertex v)
{
    if (vertex_detached(g, v))
        return;
    if (vertex_at(g, v)->parent == WEIR_NONE)
        g->roots[vertex_at(g, v)->pos] = WEIR_NONE;
    else
        weir_rows_unlink(g, v);
    WEIR_TELL(g, unlinked, g, v);
}

void weir_vertex_detach(weir_graph *g, weir_vertex v)
{
    cut(g, v);
    detach(g, v);
    weir_tree_changed(g);
}

int weir_unlink_ready(weir_graph *g, weir_vertex v, weir_err *err)
{
    int rc = check_vertex(g, v, err);

    if (!rc && g->building)
        rc = weir_fail(err, WEIR_EINVAL, "nothing can be unlinked between begin and end");
    return rc;
}

int weir_unlink_refused(const weir_graph *g, weir_vertex v, weir_err *err)
{
    const struct weir_observer *o;
    int rc = WEIR_OK;

    WEIR_EACH_OBSERVER (g, refuse, o)
        rc = rc ? rc : o->refuse(g, v, err);
    return rc;
}

int weir_graph_unlink(weir_graph *g, weir_vertex v, weir_err *err)
{
    int rc = weir_unlink_ready(g, v, err);

    if (!rc && vertex_detached(g, v) && in_other_subsystem(g, v))
        rc = weir_fail(err, WEIR_ENOENT, "vertex %u is not in containment any more", v);
    rc = rc ? rc : weir_unlink_refused(g, v, err);
    if (rc)
        return rc;
    cut(g, v);
    reclaim(g, v);
    weir_tree_changed(g);
    return WEIR_OK;
}

bool weir_vertex_detached(const weir_graph *g, weir_vertex v)
{
    return vertex_valid(g, v) && vertex_detached(g, v);
}

int weir_graph_attach(weir_graph *g, weir_vertex v, weir_vertex parent, weir_err *err)
{
    uint32_t pos;
    int rc = weir_unlink_ready(g, v, err);

    rc = rc ? rc : check_parent(g, parent, err);
    if (rc)
        return rc;
    if (!vertex_detached(g, v))
        return weir_fail(err, WEIR_EEXIST, "vertex %u is in containment already", v);
    if (weir_kids_reserve(g, parent, 1))
        return weir_fail_nomem(err);
    pos = nkids_of(g, parent);
    vertex_at(g, v)->parent = parent;
    vertex_at(g, v)->pos = pos;
    kids_of(g, parent)[pos] = v;
    if (parent == WEIR_NONE)
        g->nroots++;
    else if (weir_rows_link(g, parent, 1)) {
        vertex_at(g, v)->parent = vertex_at(g, v)->pos = WEIR_NONE;
        return weir_fail_nomem(err);
    }
    g->detached--;
    weir_tree_changed(g);
    weir_tree_order_added(g, v, 1);
    WEIR_TELL(g, linked, g, parent, pos, 1);
    note_vertex(g, v);
    return WEIR_OK;
}

/* ---- size ---- */

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
                 (size_t)g->inners[i].nrows * schema_at(g, g->inners[i].schema)->stride * sizeof(int64_t);
    return n;
}

size_t weir_graph_bytes(const weir_graph *g)
{
    const struct weir_observer *o;
    size_t n = sizeof *g + sizeof *aggregates_in(g) + (size_t)g->limit * sizeof *g->vertices;

    n += g->viewed.owned ? weir_graph_bytes(g->viewed.graph) : 0;
    n += weir_strtab_bytes(&g->names);
    n += (size_t)g->uuids.cap * sizeof *g->uuids.list + weir_map32_bytes(&g->uuids.vertices);
    n += pools_bytes(g) + inners_bytes(g) + (size_t)g->nedges * sizeof *g->edges;
    WEIR_EACH_OBSERVER (g, bytes, o)
        n += o->bytes(g);
    if (g->saves.journal)
        n += sizeof *g->saves.journal +
             ((size_t)g->saves.journal->vertices.n + g->saves.journal->edges.n + g->saves.journal->jobs.n) *
                 sizeof(int64_t);
    return n;
}
