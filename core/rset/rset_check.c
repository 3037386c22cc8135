/* rset_check.c - validation of a set by rules of RFC 20 beyond the rules of the reader. Keys kept unchanged are not
 * checked, with two exceptions: attributes must have the shape of RFC 20, and a graph in scheduling must have all cores
 * and gpus of R_lite.
 */
#include <inttypes.h>

#include "rset/rset.h"

static int check_ranks(const weir_rset *r, weir_err *err)
{
    if (weir_idset_count(r->ranks) == 0)
        return weir_fail(err, WEIR_EINVAL, "execution.R_lite: is empty, expected a rank");
    if (!r->hosts)
        return weir_fail(err, WEIR_EINVAL, "execution.nodelist: is missing");
    for (uint32_t i = 0; i < r->classes.count; i++)
        if (!weir_rset_child(&r->classes.list[i], "core"))
            return weir_fail(err, WEIR_EINVAL, "execution.R_lite: rank %" PRId64 " has no core",
                             weir_idset_first(r->classes.list[i].ranks));
    return WEIR_OK;
}

static int check_attributes(const weir_rset *r, weir_err *err)
{
    const json_t *attributes = json_object_get(r->document, "attributes"), *system, *scheduler;

    if (!attributes)
        return WEIR_OK;
    system = json_object_get(attributes, "system");
    scheduler = json_object_get(system, "scheduler");
    if (!json_is_object(attributes))
        return weir_fail(err, WEIR_EINVAL, "attributes: expected an object");
    if (system && !json_is_object(system))
        return weir_fail(err, WEIR_EINVAL, "attributes.system: expected an object");
    if (scheduler && !json_is_object(scheduler))
        return weir_fail(err, WEIR_EINVAL, "attributes.system.scheduler: expected an object");
    return WEIR_OK;
}

/* Returns the first id of `ids` that `there` lacks, or -1. */
static int64_t missing(const weir_idset *ids, const weir_idset *there)
{
    int64_t id = weir_idset_first(ids);

    while (id >= 0 && weir_idset_test(there, (uint32_t)id))
        id = weir_idset_next(ids, id);
    return id;
}

static int compare_rank(const weir_rset *graph, const struct rset_class *c, uint32_t rank, weir_err *err)
{
    static const char *const types[] = {"core", "gpu"};

    if (!weir_idset_test(graph->ranks, rank))
        return weir_fail(err, WEIR_EINVAL, "scheduling.graph: has no rank %" PRIu32 ", which R_lite names", rank);
    for (size_t i = 0; i < 2; i++) {
        int64_t id = missing(weir_rset_child(c, types[i]), weir_rset_children(graph, rank, types[i]));
        if (id >= 0)
            return weir_fail(err, WEIR_EINVAL,
                             "scheduling.graph: rank %" PRIu32 " has no %s %" PRId64 ", which R_lite names", rank,
                             types[i], id);
    }
    return WEIR_OK;
}

static int compare_graph(const weir_rset *r, const weir_rset *graph, weir_err *err)
{
    uint32_t lo, hi;

    for (uint32_t i = 0; i < r->classes.count; i++)
        for (size_t k = 0; weir_idset_run(r->classes.list[i].ranks, k, &lo, &hi); k++)
            for (uint64_t rank = lo; rank <= hi; rank++) {
                int rc = compare_rank(graph, &r->classes.list[i], (uint32_t)rank, err);
                if (rc < 0)
                    return rc;
            }
    return WEIR_OK;
}

int weir_rset_check_graph(const weir_rset *r, weir_err *err)
{
    weir_rset *there = NULL;
    weir_graph *g = NULL;
    int rc;

    if (!r->scheduling || !weir_rset_known_writer(r) || !r->scheduling->graph)
        return WEIR_OK;
    rc = weir_rset_build(r, NULL, &g, err);
    rc = rc ? rc : weir_graph_rset(g, WEIR_RSET_ALL, false, &there, err);
    rc = rc ? rc : compare_graph(r, there, err);
    weir_rset_free(there);
    weir_graph_free(g);
    return rc;
}

int weir_rset_validate(const weir_rset *r, weir_err *err)
{
    int rc = check_ranks(r, err);

    rc = rc ? rc : check_attributes(r, err);
    return rc < 0 ? rc : weir_rset_check_graph(r, err);
}
