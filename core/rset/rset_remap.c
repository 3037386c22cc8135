/* rset_remap.c - a resource set with new ranks, as a child instance numbers the resources of its parent: 0, 1, 2, ...
 * in the order of the old ranks, or in the order of a list of hosts. Main invariant: to[] has each number below the
 * count of ranks once.
 */
#include "rset/rset.h"

#include <stdlib.h>
#include <string.h>

struct remap {
    const weir_rset *r;
    weir_rset *result;
    weir_err *err;
    uint32_t n;
    uint32_t *to; /* new rank of the i-th old rank */
};

/* ---- the new ranks ---------------------------------------------------------------------------------------------- */

/* Fills to[] by finding each host of the new order among the set's hosts. Fails if a host is unknown or ambiguous. */
static int order_by_hosts(struct remap *m, const weir_hostlist *own, const weir_hostlist *hosts, char *name)
{
    for (uint32_t i = 0; i < m->n; i++)
        m->to[i] = UINT32_MAX;
    for (uint32_t i = 0; i < m->n; i++) {
        size_t len = weir_hostlist_nth(hosts, i, name, WEIR_NAME_MAX + 1);
        int64_t at = weir_hostlist_find(own, name, len);
        if (at < 0)
            return weir_fail(m->err, WEIR_ENOENT, "the set has no host %.64s", name);
        if (m->to[at] != UINT32_MAX)
            return weir_fail(m->err, WEIR_EINVAL, "host %.64s occurs twice: its ranks cannot be distinguished", name);
        m->to[at] = i;
    }
    return WEIR_OK;
}

static int follow_hosts(struct remap *m, const weir_hostlist *hosts)
{
    weir_hostlist *own = NULL;
    char *name = weir_mem_alloc(WEIR_NAME_MAX + 1);
    int rc = name ? WEIR_OK : weir_fail_nomem(m->err);

    if (rc == WEIR_OK && weir_hostlist_count(hosts) != m->n)
        rc = weir_fail(m->err, WEIR_EINVAL, "%llu hosts are listed, and the set has %u ranks",
                       (unsigned long long)weir_hostlist_count(hosts), (unsigned)m->n);
    rc = rc ? rc : weir_rset_hosts(m->r, &own, m->err);
    if (rc == WEIR_OK && own && weir_hostlist_index(own) < 0)
        rc = weir_fail_nomem(m->err);
    rc = rc ? rc : order_by_hosts(m, own, hosts, name);
    weir_hostlist_free(own);
    weir_mem_free(name);
    return rc;
}

static int number_ranks(struct remap *m, const weir_hostlist *hosts)
{
    m->n = (uint32_t)weir_idset_count(m->r->ranks);
    m->to = weir_mem_alloc(((size_t)m->n + 1) * sizeof *m->to);
    if (!m->to)
        return weir_fail_nomem(m->err);
    if (hosts)
        return follow_hosts(m, hosts);
    for (uint32_t i = 0; i < m->n; i++)
        m->to[i] = i;
    return WEIR_OK;
}

int weir_rset_map_ranks(const weir_idset *old, const uint32_t *to, const weir_idset *ranks, weir_idset **out)
{
    struct weir_rank_place place = {old, 0, 0};
    uint32_t *list = weir_mem_alloc((size_t)(weir_idset_count(ranks) + 1) * sizeof *list), lo, hi;
    weir_idset *mapped = weir_idset_new();
    size_t n = 0;

    for (size_t k = 0; list && weir_idset_run(ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rank <= hi; rank++)
            list[n++] = to[weir_rank_place(&place, (uint32_t)rank)];
    if (list && mapped && weir_idset_add_list(mapped, list, n) == WEIR_OK) {
        weir_mem_free(list);
        *out = mapped;
        return WEIR_OK;
    }
    weir_mem_free(list);
    weir_idset_free(mapped);
    return WEIR_ENOMEM;
}

/* ---- the new set ------------------------------------------------------------------------------------------------ */

/* Replaces ids by 0, 1, 2, ... in each type but gpu: ids of gpus belong to the hardware. */
static int renumber_ids(struct rset_class *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t n = weir_idset_count(c->children[i].ids);
        weir_idset *ids;
        if (strcmp(c->children[i].type, "gpu") == 0)
            continue;
        ids = weir_idset_new();
        if (!ids || weir_idset_add_range(ids, 0, (uint32_t)(n - 1)) < 0) {
            weir_idset_free(ids);
            return WEIR_ENOMEM;
        }
        weir_idset_free(c->children[i].ids);
        c->children[i].ids = ids;
    }
    return WEIR_OK;
}

static int map_classes(struct remap *m, bool ids)
{
    const struct rset_classes *from = &m->r->classes;
    struct rset_classes raw = {.list = weir_mem_zalloc((size_t)from->count + 1, sizeof *raw.list)};
    int rc = raw.list ? WEIR_OK : WEIR_ENOMEM;

    for (; rc == WEIR_OK && raw.count < from->count; raw.count++) {
        struct rset_class *to = &raw.list[raw.count];
        rc = weir_rset_class_copy(&from->list[raw.count], to);
        if (rc == WEIR_OK && ids)
            rc = renumber_ids(to);
        rc = rc ? rc : weir_rset_map_ranks(m->r->ranks, m->to, from->list[raw.count].ranks, &to->ranks);
    }
    return weir_rset_settle_all(m->result, &raw, rc, m->err);
}

static int map_properties(struct remap *m)
{
    for (uint32_t i = 0; i < m->r->nprops; i++) {
        weir_idset *ranks = NULL;
        if (weir_rset_map_ranks(m->r->ranks, m->to, m->r->props[i].ranks, &ranks) < 0 ||
            weir_rset_add_property(m->result, m->r->props[i].name, ranks) < 0)
            return weir_fail_nomem(m->err);
    }
    return WEIR_OK;
}

/* Gives the result its hosts in the order of the new ranks. */
static int map_hosts(struct remap *m, const weir_hostlist *hosts)
{
    weir_hostlist *list = NULL;
    weir_idset *ranks = NULL;
    int rc = WEIR_OK;

    if (!m->r->hosts || m->n == 0)
        return WEIR_OK;
    if (hosts)
        rc = weir_hostlist_copy(hosts, &list) == WEIR_OK ? WEIR_OK : weir_fail_nomem(m->err);
    else
        rc = weir_rset_hosts(m->r, &list, m->err);
    if (rc < 0)
        return rc;
    if (weir_idset_copy(m->result->ranks, &ranks) < 0) {
        weir_hostlist_free(list);
        return weir_fail_nomem(m->err);
    }
    m->result->hosts = weir_rset_hosts_new(ranks, list);
    return m->result->hosts ? WEIR_OK : weir_fail_nomem(m->err);
}

/* Gives the result the scheduling with new ranks. With new ids (`ids`), the scheduling is dropped, as its graph has the
 * old ids. */
static int map_scheduling(struct remap *m, bool ids)
{
    weir_buf scheduling = {0};
    int rc = ids ? WEIR_OK : weir_rset_write_scheduling(m->r, m->to, &scheduling, m->err);

    if (rc == WEIR_OK && scheduling.len > 0 && !scheduling.failed)
        return weir_rset_scheduling_give(m->result, m->r, scheduling.data, m->err);
    if (rc == WEIR_OK && scheduling.failed)
        rc = weir_fail_nomem(m->err);
    weir_buf_free(&scheduling);
    return rc;
}

int weir_rset_remap(const weir_rset *r, const weir_hostlist *hosts, bool ids, weir_rset **out, weir_err *err)
{
    struct remap m = {.r = r, .result = weir_rset_new(), .err = err};
    int rc = m.result ? number_ranks(&m, hosts) : weir_fail_nomem(err);

    rc = rc ? rc : map_classes(&m, ids);
    rc = rc ? rc : map_properties(&m);
    rc = rc ? rc : map_hosts(&m, hosts);
    rc = rc ? rc : map_scheduling(&m, ids);
    if (rc == WEIR_OK)
        weir_rset_inherit(m.result, r);
    weir_mem_free(m.to);
    if (rc == WEIR_OK)
        *out = m.result;
    else
        weir_rset_free(m.result);
    return rc;
}
