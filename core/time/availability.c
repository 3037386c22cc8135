/* availability.c - see availability.h. Invariant: reads only; an answer of "free" holds at every instant of the
 * interval. */
#include "time/availability.h"

#include "time/schedule.h"
#include "aggregate/rows.h"

bool weir_availability_above(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    for (v = vertex_at(g, v)->parent; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        if (schedule_of(g, v) && weir_schedule_touched(g, v, t0, t1, true))
            return false;
    return true;
}

/* Whether no job but `job` (WEIR_NONE: no job at all) has anything below v. */
static bool below_unused(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1)
{
    const struct inner *in = inner_of(g, v);

    if (!in || !in->cells)
        return true;
    if (in->cells[CELL_ACTIVE] == 0 && WEIR_FOREVER - in->cells[CELL_SOON] >= t1)
        return true;
    if (job == WEIR_NONE && in->cells[CELL_ACTIVE] > 0 && t0 <= g->now)
        return false;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && !weir_availability_only(g, in->kids[i], job, t0, t1))
            return false;
    return true;
}

bool weir_availability_unused(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    return !(schedule_of(g, v) && weir_schedule_touched(g, v, t0, t1, false)) && below_unused(g, v, WEIR_NONE, t0, t1);
}

bool weir_availability_only(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1)
{
    bool used = schedule_of(g, v) && (job == WEIR_NONE ? weir_schedule_touched(g, v, t0, t1, false)
                                                       : weir_schedule_others(g, v, job, t0, t1));
    return !used && below_unused(g, v, job, t0, t1);
}

int64_t weir_availability_free(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    if (vertex_detached(g, v))
        return 0;
    return kind_of(g, v)->size - (schedule_of(g, v) ? weir_schedule_used(g, v, t0, t1) : 0);
}

int64_t weir_vertex_allocated(const weir_graph *g, weir_vertex v)
{
    int64_t size = kind_of(g, v)->size;

    if (vertex_detached(g, v))
        return 0;
    return weir_availability_above(g, v, g->now, g->now + 1) ? size - weir_availability_free(g, v, g->now, g->now + 1)
                                                             : size;
}

int64_t weir_vertex_available(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    if (t0 >= t1 || !state_available(vertex_at(g, v)->state))
        return 0;
    for (weir_vertex u = vertex_at(g, v)->parent; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        if (!state_available(vertex_at(g, u)->state) ||
            (schedule_of(g, u) && weir_schedule_touched(g, u, t0, t1, true)))
            return 0;
    return weir_availability_free(g, v, t0, t1);
}
