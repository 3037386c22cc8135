/* pool_set.c - changes of the size and the unit of a pool, and of whether jobs get the pool as a whole only. Invariant:
 * units that jobs have fit the new size; steps that can fail come first, so that a failure changes nothing. */
#include "job/pool_size.h"

#include <inttypes.h>

#include "time/availability.h"

/* The units that must stay: as many as jobs have at once, now or later. Of a pool that is not up, what all uses have
 * together is an upper bound. */
static int64_t units_in_use(const weir_graph *g, weir_vertex v)
{
    int64_t sum = 0;
    weir_use u;

    if (state_available(vertex_at(g, v)->state))
        return kind_of(g, v)->size - weir_availability_free(g, v, g->now, WEIR_FOREVER);
    for (uint32_t i = 0; weir_vertex_use(g, v, i, &u); i++)
        sum += u.amount;
    return sum;
}

static int change(weir_graph *g, weir_vertex v, const weir_pool_desc *d, weir_err *err)
{
    int64_t more = d->size - kind_of(g, v)->size;
    uint32_t kind;
    int rc = more > 0 ? weir_units_check(g, more, 1, err) : WEIR_OK;

    rc = rc ? rc : weir_kind_add(g, d, &kind, err);
    if (!rc && kind != vertex_at(g, v)->kind)
        weir_pool_resize(g, v, kind);
    return rc;
}

int weir_vertex_set_size(weir_graph *g, weir_vertex v, int64_t size, weir_err *err)
{
    weir_pool_desc d;
    int rc = weir_pool_check(g, v, "given another size", err);

    if (rc)
        return rc;
    if (size < 0)
        return weir_fail(err, WEIR_EINVAL, "a size is 0 or more, not %" PRId64, size);
    if (size < units_in_use(g, v))
        return weir_fail(err, WEIR_EBUSY, "jobs have %" PRId64 " units: the size cannot become %" PRId64,
                         units_in_use(g, v), size);
    d = weir_pool_describe(g, v, size);
    return change(g, v, &d, err);
}

int weir_vertex_set_unit(weir_graph *g, weir_vertex v, const char *unit, weir_err *err)
{
    weir_pool_desc d;
    int rc = weir_pool_check(g, v, "given another unit", err);

    if (rc)
        return rc;
    d = weir_pool_describe(g, v, kind_of(g, v)->size);
    d.unit = unit;
    return change(g, v, &d, err);
}

int weir_vertex_set_exclusive(weir_graph *g, weir_vertex v, bool exclusive, weir_err *err)
{
    weir_pool_desc d;
    weir_use u;
    int rc = weir_pool_check(g, v, exclusive ? "made exclusive" : "made shared", err);

    if (rc)
        return rc;
    if (exclusive && weir_vertex_use(g, v, 0, &u))
        return weir_fail(err, WEIR_EBUSY,
                         "job %" PRId64 " has a part of the pool, which can be given as a whole once "
                         "the job has ended",
                         u.job);
    d = weir_pool_describe(g, v, kind_of(g, v)->size);
    d.exclusive = exclusive;
    return change(g, v, &d, err);
}
