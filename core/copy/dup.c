/* dup.c - duplicates a whole graph. Invariant: every array of the copy is owned by the copy and counts only
 * initialised elements, so weir_graph_free() can free a partial copy. Derived records (indices, node table, nogoods,
 * usage totals, occupancies) are not copied, but rebuilt on demand.
 */
#include "copy/dup.h"

#include <string.h>

#include "graph/observer.h"
#include "time/schedule.h"
#include "aggregate/schema.h"
#include "job/job.h"
#include "time/timeline.h"

/* Sets *to to a copy of `bytes` bytes; NULL if `from` is NULL. */
static int copy_bytes(void *to, const void *from, size_t bytes)
{
    void *copy = NULL;

    if (from && bytes) {
        copy = weir_mem_alloc(bytes);
        if (!copy)
            return WEIR_ENOMEM;
        memcpy(copy, from, bytes);
    }
    memcpy(to, &copy, sizeof copy);
    return WEIR_OK;
}

/* Sets *to to a copy of n elements, with a capacity of n. */
static int copy_array(void *to, uint32_t *count, uint32_t *cap, const void *from, uint32_t n, size_t size)
{
    if (copy_bytes(to, from, (size_t)n * size))
        return WEIR_ENOMEM;
    *count = *cap = n;
    return WEIR_OK;
}

/* ---- names and schemas ---- */

static int copy_schema(const struct schema *from, struct schema **out)
{
    struct schema *s;

    if (copy_bytes(&s, from, sizeof *from))
        return WEIR_ENOMEM;
    s->codes = NULL;
    s->cols = NULL;
    if (copy_bytes(&s->codes, from->codes, ((size_t)from->ntypes + from->npairs) * sizeof *s->codes) ||
        copy_bytes(&s->cols, from->cols, from->ncols * sizeof *s->cols)) {
        WEIR_FREE(s->codes, s);
        return WEIR_ENOMEM;
    }
    *out = s;
    return WEIR_OK;
}

static int copy_row_map(const weir_graph *g, const struct row_map *from, struct row_map **out)
{
    size_t pairs = (size_t)schema_at(g, from->parent)->npairs * PAIR_CELLS;
    struct row_map *l;

    if (copy_bytes(&l, from, sizeof *from))
        return WEIR_ENOMEM;
    l->moves = NULL;
    l->sources = NULL;
    if (copy_bytes(&l->moves, from->moves, from->nmoves * sizeof *l->moves) ||
        copy_bytes(&l->sources, from->sources, pairs * sizeof *l->sources)) {
        WEIR_FREE(l->moves, l);
        return WEIR_ENOMEM;
    }
    *out = l;
    return WEIR_OK;
}

static int copy_aggregates(const weir_graph *g, weir_graph *c)
{
    const struct aggregates *from = aggregates_in(g);
    struct aggregates *to;

    if (copy_bytes(&to, from, sizeof *from))
        return WEIR_ENOMEM;
    c->records[RECORD_AGGREGATES] = to;
    to->schemas = NULL;
    to->row_maps = NULL;
    to->scratch = NULL;
    to->spare_rows = NULL;
    to->nschemas = to->schemas_cap = to->nrow_maps = to->row_maps_cap = to->nspare_rows = to->spare_rows_cap = 0;
    to->batch = false;
    if (weir_array_reserve(&to->schemas, &to->schemas_cap, from->nschemas, sizeof *to->schemas) ||
        weir_array_reserve(&to->row_maps, &to->row_maps_cap, from->nrow_maps, sizeof *to->row_maps) ||
        copy_bytes(&to->scratch, from->scratch, (size_t)from->scratch_width * SCRATCH_VECTORS * sizeof *from->scratch))
        return WEIR_ENOMEM;
    for (; to->nschemas < from->nschemas; to->nschemas++)
        if (copy_schema(from->schemas[to->nschemas], &to->schemas[to->nschemas]))
            return WEIR_ENOMEM;
    for (; to->nrow_maps < from->nrow_maps; to->nrow_maps++)
        if (copy_row_map(g, from->row_maps[to->nrow_maps], &to->row_maps[to->nrow_maps]))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* ---- records that own memory ---- */

static int copy_inners(const weir_graph *g, weir_graph *c)
{
    if (copy_array(&c->inners, &c->ninners, &c->cap.inners, g->inners, g->ninners, sizeof *g->inners))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < c->ninners; i++) {
        c->inners[i].kids = NULL;
        c->inners[i].cells = NULL;
        c->inners[i].kids_cap = 0;
    }
    for (uint32_t i = 0; i < c->ninners; i++) {
        const struct inner *from = &g->inners[i];
        struct inner *to = &c->inners[i];
        size_t row = from->cells ? schema_at(g, from->schema)->stride * sizeof *from->cells : 0;
        if (copy_array(&to->kids, &to->nkids, &to->kids_cap, from->kids, from->nkids, sizeof *from->kids) ||
            copy_bytes(&to->cells, from->cells, from->nrows * row))
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static int copy_pools(const weir_graph *g, weir_graph *c)
{
    if (copy_array(&c->pools, &c->npools, &c->cap.pools, g->pools, g->npools, sizeof *g->pools))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < c->npools; i++)
        memset(c->pools[i].maps, 0, sizeof c->pools[i].maps);
    for (uint32_t i = 0; i < c->npools; i++)
        for (int m = 0; m < 3; m++) {
            const struct map *from = &g->pools[i].maps[m];
            struct map *to = &c->pools[i].maps[m];
            if (copy_array(&to->entries, &to->count, &to->cap, from->entries, from->count, sizeof *from->entries))
                return WEIR_ENOMEM;
        }
    return WEIR_OK;
}

static int copy_detail(const struct schedule_detail *from, struct schedule_detail **out)
{
    struct schedule_detail *p;

    if (copy_bytes(&p, from, sizeof *from))
        return WEIR_ENOMEM;
    *out = p;
    p->amounts = NULL;
    p->timeline = from->timeline ? weir_timeline_copy(from->timeline) : NULL;
    return (from->timeline && !p->timeline) || copy_bytes(&p->amounts, from->amounts, from->cap * sizeof *from->amounts)
               ? WEIR_ENOMEM
               : WEIR_OK;
}

static int copy_schedules(const weir_graph *g, weir_graph *c)
{
    const struct schedules *all = schedules_in(g);
    struct schedules *own;
    uint32_t unused;

    if (!all)
        return WEIR_OK;
    if (weir_schedules_make(c))
        return WEIR_ENOMEM;
    own = schedules_in(c);
    own->free = all->free;
    own->users = all->users;
    if (copy_array(&own->list, &unused, &own->cap, all->list, all->n, sizeof *all->list))
        return WEIR_ENOMEM;
    for (; own->n < all->n; own->n++) {
        if (own->list[own->n].cap)
            own->list[own->n].jobs = NULL;
        own->list[own->n].detail = NULL;
    }
    if (weir_array_reserve(&own->list, &own->cap, own->users, sizeof *own->list))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < own->n; i++) {
        const struct schedule *from = &all->list[i];
        struct schedule *to = &own->list[i];
        if ((from->cap && copy_bytes(&to->jobs, from->jobs, from->cap * sizeof *from->jobs)) ||
            (from->detail && copy_detail(from->detail, &to->detail)))
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static int copy_job(const struct job *from, struct job *to)
{
    if (copy_array(&to->picks, &to->a.npicks, &to->cap, from->picks, from->a.npicks, sizeof *from->picks) ||
        copy_array(&to->flows, &to->nflows, &to->flows_cap, from->flows, from->nflows, sizeof *from->flows))
        return WEIR_ENOMEM;
    to->a.picks = to->picks;
    return WEIR_OK;
}

static int copy_jobs(const weir_graph *g, weir_graph *c)
{
    const struct jobs *all = jobs_in(g);
    struct jobs *own;
    uint32_t n;

    if (!all)
        return WEIR_OK;
    own = weir_record_make(c, RECORD_JOBS, sizeof *own, NULL);
    if (!own || copy_array(&own->list, &n, &own->cap, all->list, all->n, sizeof *all->list))
        return WEIR_ENOMEM;
    own->stages = all->stages;
    own->last_stage = all->last_stage;
    own->first_expiry = all->first_expiry;
    own->next_id = all->next_id;
    own->expire = all->expire;
    for (own->live = all->live, own->advances = all->advances; own->n < all->n; own->n++) {
        own->list[own->n].picks = NULL;
        own->list[own->n].flows = NULL;
    }
    if (copy_array(&own->starts, &n, &own->starts_cap, all->starts, all->n, sizeof *all->starts) ||
        copy_array(&own->order, &n, &own->order_cap, all->order, all->n, sizeof *all->order) ||
        weir_map32_copy(&own->ids, &all->ids) ||
        copy_array(&own->queue, &own->nqueue, &own->queue_cap, all->queue, all->nqueue, sizeof *all->queue) ||
        weir_array_reserve(&own->queue, &own->queue_cap, own->n, sizeof *own->queue))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < own->n; i++)
        if (copy_job(&all->list[i], &own->list[i]))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* ---- the graph ---- */

static int copy_types(const weir_graph *g, weir_graph *c)
{
    uint32_t n;

    if (copy_array(&c->types, &c->ntypes, &c->cap.types, g->types, g->ntypes, sizeof *g->types) ||
        copy_array(&c->type_by_name.type, &n, &c->type_by_name.n, g->type_by_name.type, g->type_by_name.n,
                   sizeof *g->type_by_name.type) ||
        copy_array(&c->kinds, &c->nkinds, &c->cap.kinds, g->kinds, g->nkinds, sizeof *g->kinds) ||
        weir_map32_copy(&c->kind_index.numbers, &g->kind_index.numbers))
        return WEIR_ENOMEM;
    return WEIR_OK;
}

/* Copies the arrays whose elements own no memory. */
static int copy_flat(const weir_graph *g, weir_graph *c)
{
    uint32_t n;

    if (copy_array(&c->vertices, &c->limit, &c->cap.vertices, g->vertices, g->limit, sizeof *g->vertices) ||
        copy_array(&c->edges, &c->nedges, &c->cap.edges, g->edges, g->nedges, sizeof *g->edges) ||
        copy_array(&c->subsystems, &c->nsubsystems, &c->cap.subsystems, g->subsystems, g->nsubsystems,
                   sizeof *g->subsystems) ||
        copy_array(&c->roots, &c->nroots, &c->cap.roots, g->roots, g->nroots, sizeof *g->roots) ||
        copy_array(&c->uuids.list, &n, &c->uuids.cap, g->uuids.list, g->uuids.cap, sizeof *g->uuids.list) ||
        weir_map32_copy(&c->uuids.vertices, &g->uuids.vertices))
        return WEIR_ENOMEM;
    return WEIR_OK;
}

/* Clears the pointers of a flat copy that belong to the original; plain values stay. */
static void forget_arrays(weir_graph *c)
{
    memset(&c->names, 0, sizeof c->names);
    c->types = NULL;
    c->type_by_name.type = NULL;
    c->kinds = NULL;
    memset(&c->kind_index.numbers, 0, sizeof c->kind_index.numbers);
    c->vertices = NULL;
    c->inners = NULL;
    c->pools = NULL;
    c->edges = NULL;
    c->subsystems = NULL;
    c->roots = NULL;
    memset(c->records, 0, sizeof c->records);
    c->uuids.list = NULL;
    memset(&c->uuids.vertices, 0, sizeof c->uuids.vertices);
    c->saves = (struct saves){.revision = c->saves.revision};
    c->map_index = NULL;
    c->viewed = (struct viewed){.serial = c->viewed.serial};
    c->ninners = c->npools = 0;
    memset(c->observers, 0, sizeof c->observers);
    memset(c->observed_by, 0, sizeof c->observed_by);
}

/* Makes a flat copy, without any array of the original. Returns NULL where out of memory. */
static weir_graph *begin_copy(const weir_graph *g)
{
    weir_graph *c = weir_mem_alloc(sizeof *c);

    if (!c)
        return NULL;
    *c = *g;
    c->matching = false;
    forget_arrays(c);
    return c;
}

/* Gives the duplicate of a view a graph to show. */
static int copy_viewed(const weir_graph *g, weir_graph *c)
{
    c->viewed.owned = weir_graph_edges(g) != g;
    return c->viewed.owned ? weir_graph_dup(g->viewed.graph, &c->viewed.graph, NULL) : WEIR_OK;
}

int weir_graph_dup(const weir_graph *g, weir_graph **out, weir_err *err)
{
    weir_graph *c = begin_copy(g);

    if (!c)
        return weir_fail_nomem(err);
    if (jobs_in(g))
        weir_jobs_observe(c);
    c->map_index = weir_map_index_new();
    if (!c->map_index || weir_strtab_copy(&c->names, &g->names) || copy_aggregates(g, c) || copy_types(g, c) ||
        copy_flat(g, c) || copy_inners(g, c) || copy_pools(g, c) || copy_schedules(g, c) || copy_jobs(g, c) ||
        copy_viewed(g, c)) {
        weir_graph_free(c);
        return weir_fail_nomem(err);
    }
    *out = c;
    return WEIR_OK;
}

int weir_dup_vertices(const weir_graph *g, weir_graph **out, weir_err *err)
{
    weir_graph *c = begin_copy(g);

    if (!c)
        return weir_fail_nomem(err);
    c->free.inners = WEIR_NONE;
    c->cap.inners = 0;
    c->map_index = weir_map_index_new();
    if (!c->map_index || weir_strtab_copy(&c->names, &g->names) || weir_aggregates_make(c) || copy_types(g, c) ||
        copy_flat(g, c) || copy_pools(g, c)) {
        weir_graph_free(c);
        return weir_fail_nomem(err);
    }
    c->nroots = 0;
    for (weir_vertex v = 0; v < c->limit; v++) {
        c->vertices[v].inner = 0; /* places for children, also of free records */
        c->vertices[v].schedule = WEIR_NONE;
    }
    *out = c;
    return WEIR_OK;
}
