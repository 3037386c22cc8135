/* host_usage.c - see host_usage.h. Invariant: the timeline of a host is the sum of what the jobs use. */
#include "time/host_usage.h"

#include "time/occupancy.h"
#include "time/usage_totals.h"

/* The bit of the host that a pick is a part of; WEIR_NONE: of no host, or a host as a whole. */
static inline uint32_t host_of(const weir_graph *g, const struct occupancy *c, const weir_pick *p)
{
    weir_vertex v = p->vertex;

    if (p->exclusive && kind_of(g, v)->type == c->type)
        return WEIR_NONE;
    v = vertex_at_or_above(g, v, c->type);
    return v != WEIR_NONE && occupancy_knows(g, c, v) ? vertex_at(g, v)->bit : WEIR_NONE;
}

bool weir_host_picks_next(const weir_graph *g, const struct occupancy *c, const weir_allocation *a,
                          struct host_picks *p)
{
    p->bit = WEIR_NONE;
    while (p->bit == WEIR_NONE && p->to < a->npicks) {
        p->from = p->to++;
        p->bit = host_of(g, c, &a->picks[p->from]);
    }
    while (p->bit != WEIR_NONE && p->to < a->npicks && host_of(g, c, &a->picks[p->to]) == p->bit)
        p->to++;
    return p->bit != WEIR_NONE;
}

int weir_host_usage_reserve(const struct occupancy *c, struct host_usage *u)
{
    if (!u->timelines)
        u->timelines = weir_mem_zalloc(occupancy_bits(c), sizeof(weir_timeline *));
    return u->timelines ? WEIR_OK : WEIR_ENOMEM;
}

int weir_host_usage_add(struct host_usage *u, uint32_t bit, const weir_allocation *a, int64_t amount)
{
    if (amount == 0)
        return WEIR_OK;
    if (!u->timelines[bit])
        u->timelines[bit] = weir_timeline_new();
    return u->timelines[bit] ? weir_timeline_add(u->timelines[bit], a->start, a->end, amount) : WEIR_ENOMEM;
}

int weir_host_usage_change(const weir_graph *g, const struct occupancy *c, struct host_usage *u,
                           const weir_allocation *a, uint32_t from, int sign)
{
    struct host_picks p = {.to = from};
    int rc = WEIR_OK;

    while (!rc && weir_host_picks_next(g, c, a, &p)) {
        int64_t sum = 0;
        for (uint32_t i = p.from; i < p.to; i++)
            sum += u->type == WEIR_NO_TYPE ? 1 : weir_usage_pick(g, &a->picks[i], u->type);
        rc = weir_host_usage_add(u, p.bit, a, sign * sum);
    }
    return rc;
}

void weir_host_usage_free(const struct occupancy *c, struct host_usage *u)
{
    for (uint32_t i = 0; u->timelines && i < occupancy_bits(c); i++)
        weir_timeline_free(u->timelines[i]);
    weir_mem_free(u->timelines);
    u->timelines = NULL;
}

size_t weir_host_usage_bytes(const struct occupancy *c, const struct host_usage *u)
{
    size_t n = 0;

    for (uint32_t i = 0; u->timelines && i < occupancy_bits(c); i++)
        n += sizeof(weir_timeline *) + (u->timelines[i] ? weir_timeline_bytes(u->timelines[i]) : 0);
    return n;
}
