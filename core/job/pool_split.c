/* pool_split.c - pools that are split and joined (RFC 4: a resource is promoted out of its pool). Invariant: units that
 * jobs have stay in the pool that they were taken from; steps that can fail come first, and are undone on failure. */
#include "job/pool_size.h"

#include <inttypes.h>
#include <string.h>

#include "aggregate/rows.h"
#include "graph/journal.h"
#include "graph/observer.h"
#include "time/availability.h"

/* ---- the size of a pool ---- */

weir_pool_desc weir_pool_describe(const weir_graph *g, weir_vertex v, int64_t size)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = weir_vertex_type(g, v);
    d.basename = weir_vertex_basename(g, v);
    d.unit = weir_vertex_unit(g, v);
    d.size = size;
    d.exclusive = kind_of(g, v)->exclusive;
    return d;
}

/* Whether a job has v as a whole, now or later. */
static bool has_whole(const weir_graph *g, weir_vertex v)
{
    weir_use u;

    for (uint32_t i = 0; weir_vertex_use(g, v, i, &u); i++)
        if (u.exclusive)
            return true;
    return false;
}

int weir_pool_check(const weir_graph *g, weir_vertex v, const char *change, weir_err *err)
{
    char path[200];
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    weir_vertex_path(g, v, path, sizeof path);
    if (g->building)
        return weir_fail(err, WEIR_EINVAL, "no pool can be %s between begin and end", change);
    if (vertex_detached(g, v))
        return weir_fail(err, WEIR_EINVAL, "%s was taken out of containment", path);
    if (inner_of(g, v) && inner_of(g, v)->nkids > inner_of(g, v)->holes)
        return weir_fail(err, WEIR_EINVAL, "%s has vertices below: only a pool without them can be %s", path, change);
    if (has_whole(g, v))
        return weir_fail(err, WEIR_EBUSY, "a job has %s as a whole", path);
    return WEIR_OK;
}

int weir_pool_ready(weir_graph *g, weir_vertex v, int64_t size, uint32_t *kind, weir_err *err)
{
    weir_pool_desc d = weir_pool_describe(g, v, size);
    int64_t more = size - kind_of(g, v)->size;
    int rc = more > 0 ? weir_units_check(g, more, 1, err) : WEIR_OK;

    return rc ? rc : weir_kind_add(g, &d, kind, err);
}

void weir_pool_resize(weir_graph *g, weir_vertex v, uint32_t kind)
{
    struct schedule *b = schedule_of(g, v);

    weir_rows_resize_before(g, v);
    g->units += g->kinds[kind].size - kind_of(g, v)->size;
    g->kinds[vertex_at(g, v)->kind].count--;
    g->kinds[kind].count++;
    vertex_at(g, v)->kind = kind;
    if (b) /* with shared spans only, and so not the schedule of any other vertex */
        b->kind = kind;
    weir_rows_resize_after(g, v);
    weir_tree_changed(g);
    note_vertex(g, v);
    WEIR_TELL(g, reset, g);
}

/* ---- splitting ---- */

/* The first id behind those of the siblings of v with the basename of v; WEIR_NO_ID where v has no id. */
static int64_t next_id(const weir_graph *g, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    int64_t id = vertex_at(g, v)->id;

    for (uint32_t i = 0; id != WEIR_NO_ID && p != WEIR_NONE && i < weir_vertex_children(g, p); i++) {
        weir_vertex kid = weir_vertex_child(g, p, i);
        if (kind_of(g, kid)->basename == kind_of(g, v)->basename && vertex_at(g, kid)->id > id)
            id = vertex_at(g, kid)->id;
    }
    for (uint32_t i = 0; id != WEIR_NO_ID && p == WEIR_NONE && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE && kind_of(g, g->roots[i])->basename == kind_of(g, v)->basename &&
            vertex_at(g, g->roots[i])->id > id)
            id = vertex_at(g, g->roots[i])->id;
    return id == WEIR_NO_ID ? id : id + 1;
}

/* Gives the part u the properties, tags, data and state of v. */
static int describe_part(weir_graph *g, weir_vertex v, weir_vertex u, weir_err *err)
{
    const char *key, *value;
    int rc = WEIR_OK;

    for (int m = 0; m < 3; m++)
        for (uint32_t i = 0; !rc && weir_vertex_entry(g, v, m, i, &key, &value); i++)
            rc = weir_vertex_set(g, u, m, key, value, err);
    if (!rc && vertex_at(g, v)->state != WEIR_UP)
        rc = weir_vertex_set_state(g, u, vertex_at(g, v)->state, err);
    return rc;
}

int weir_graph_split(weir_graph *g, weir_vertex v, int64_t units, weir_vertex *out, weir_err *err)
{
    weir_pool_desc d;
    weir_vertex u;
    uint32_t kind;
    int64_t size;
    int rc = weir_pool_check(g, v, "split", err);

    if (rc)
        return rc;
    size = kind_of(g, v)->size;
    if (units <= 0 || units >= size)
        return weir_fail(err, WEIR_EINVAL, "%" PRId64 " of %" PRId64 " units cannot be split off: 1 to %" PRId64 " can",
                         units, size, size - 1);
    if (weir_availability_free(g, v, g->now, WEIR_FOREVER) < units)
        return weir_fail(err, WEIR_EBUSY, "%" PRId64 " units are to be split off, and %" PRId64 " are free for ever",
                         units, weir_availability_free(g, v, g->now, WEIR_FOREVER));
    rc = weir_pool_ready(g, v, size - units, &kind, err);
    if (rc)
        return rc;
    d = weir_pool_describe(g, v, units);
    d.id = next_id(g, v);
    weir_pool_resize(g, v, kind);
    rc = weir_graph_add(g, vertex_at(g, v)->parent, &d, &u, err);
    if (!rc && (rc = describe_part(g, v, u, err)) && weir_graph_unlink(g, u, NULL))
        return rc;
    if (rc) { /* the kind of the former size is known: this takes no memory */
        weir_pool_desc former = weir_pool_describe(g, v, size);
        if (!weir_kind_add(g, &former, &kind, NULL))
            weir_pool_resize(g, v, kind);
        return rc;
    }
    *out = u;
    return WEIR_OK;
}

/* ---- joining ---- */

int weir_graph_join(weir_graph *g, weir_vertex v, weir_vertex part, weir_err *err)
{
    const struct kind *a, *b;
    uint32_t kind;
    int rc = weir_pool_check(g, v, "joined", err);

    rc = rc ? rc : weir_pool_check(g, part, "joined", err);
    if (rc)
        return rc;
    a = kind_of(g, v);
    b = kind_of(g, part);
    if (v == part || vertex_at(g, v)->parent != vertex_at(g, part)->parent || a->type != b->type ||
        a->unit != b->unit || a->exclusive != b->exclusive)
        return weir_fail(err, WEIR_EINVAL, "two pools are joined that have one parent, one type and one unit");
    rc = weir_unlink_refused(g, part, err);
    rc = rc ? rc : weir_pool_ready(g, v, a->size + b->size, &kind, err);
    rc = rc ? rc : weir_graph_unlink(g, part, err);
    if (!rc)
        weir_pool_resize(g, v, kind);
    return rc;
}
