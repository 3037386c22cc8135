/* layout.c - the distribution units of a subsystem. Invariant: a layout whose serial is the serial of the graph lists
 * the edges of the graph.
 */
#include "flow/reach.h"

#include <string.h>

#include "graph/observer.h"

static void layout_clear(struct flow_layout *l)
{
    weir_mem_free(l->units);
    weir_map32_free(&l->numbers);
    weir_flow_reach_free(l->reach);
    WEIR_FREE(l->source, l->entering, l->from, l->to, l->labels);
    *l = (struct flow_layout){.subsystem = l->subsystem};
}

/* ---- units ---- */

static int add_unit(struct flow_layout *l, uint32_t *cap, weir_vertex v)
{
    if (weir_map32_get(&l->numbers, v) != WEIR_NONE)
        return WEIR_OK;
    if (weir_array_reserve(&l->units, cap, (size_t)l->n + 1, sizeof *l->units) || weir_map32_add(&l->numbers, v, l->n))
        return WEIR_ENOMEM;
    l->units[l->n++] = v;
    return WEIR_OK;
}

static int list_units(const weir_graph *g, struct flow_layout *l)
{
    uint32_t cap = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < g->nedges; i++) {
        const struct edge *e = &g->edges[i];
        if (e->source == WEIR_NONE || e->subsystem != l->subsystem)
            continue;
        rc = add_unit(l, &cap, e->source);
        if (!rc && edge_both_ways(e)) {
            rc = add_unit(l, &cap, e->target);
            l->narcs += 2;
        } else if (!rc) {
            l->narcs++;
        }
    }
    return rc;
}

bool weir_flow_enters(const weir_graph *g, weir_vertex v, uint32_t subsystem)
{
    struct weir_ends ends = weir_ends(g, v, subsystem, false);
    return weir_ends_next(&ends) != WEIR_NONE;
}

static void list_arcs(const weir_graph *g, struct flow_layout *l)
{
    uint32_t narcs = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        struct weir_ends ends = weir_ends(g, l->units[i], l->subsystem, false);
        l->entering[i] = narcs;
        for (weir_vertex v; (v = weir_ends_next(&ends)) != WEIR_NONE; narcs++) {
            l->from[narcs] = weir_map32_get(&l->numbers, v);
            l->to[narcs] = i;
        }
    }
    l->entering[l->n] = l->narcs = narcs;
}

/* ---- sources ---- */

static bool contained(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->parent != WEIR_NONE || inner_of(g, v);
}

static bool only_both_ways(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool out)
{
    for (uint32_t i = weir_edge_first(g, v, subsystem, out); i != WEIR_NONE; i = weir_edge_next(g, i, out))
        if (!edge_both_ways(&g->edges[i]))
            return false;
    return true;
}

/* A flow begins where edges are written from, and to which no edge is written. Where all edges of a subsystem go both
 * ways and are written towards the source (`turned`), the source is a pool outside of containment from which no edge
 * is written. */
static bool is_source(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool turned)
{
    if (weir_edge_first(g, v, subsystem, turned) != WEIR_NONE)
        return false;
    if (turned)
        return !contained(g, v) && only_both_ways(g, v, subsystem, false);
    return !contained(g, v) || !only_both_ways(g, v, subsystem, true);
}

static void find_sources(const weir_graph *g, struct flow_layout *l)
{
    uint32_t n = 0;

    for (int turned = 0; n == 0 && turned < 2; turned++)
        for (uint32_t i = 0; i < l->n; i++) {
            l->source[i] = is_source(g, l->units[i], l->subsystem, turned);
            n += l->source[i];
        }
}

/* Labels units by rounds over the arcs, as many as the longest of the shortest ways; `queue` has room for all units. */
static void label_units(struct flow_layout *l, uint32_t *queue, const uint32_t *leaving, const uint32_t *targets)
{
    uint32_t head = 0, n = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        l->labels[2 * i] = l->labels[2 * i + 1] = FLOW_UNREACHED;
        if (l->source[i]) {
            l->labels[2 * i] = 0;
            queue[n++] = i;
        }
    }
    while (head < n) {
        uint32_t u = queue[head++];
        l->labels[2 * u + 1] = l->labels[2 * u] + 1;
        for (uint32_t k = leaving[u]; k < leaving[u + 1]; k++)
            if (l->labels[2 * targets[k]] == FLOW_UNREACHED) {
                l->labels[2 * targets[k]] = l->labels[2 * u] + 2;
                queue[n++] = targets[k];
            }
    }
}

/* The least distance from a source of a unit from which an edge leads to a vertex that may be served: one that is no
 * unit, or is contained. */
static void find_depth(const weir_graph *g, struct flow_layout *l)
{
    l->depth = FLOW_UNREACHED;
    for (uint32_t i = 0; i < l->n; i++) {
        struct weir_ends ends = weir_ends(g, l->units[i], l->subsystem, true);
        for (weir_vertex v; l->labels[2 * i] / 2 < l->depth && (v = weir_ends_next(&ends)) != WEIR_NONE;)
            if (contained(g, v) || weir_map32_get(&l->numbers, v) == WEIR_NONE)
                l->depth = l->labels[2 * i] / 2;
    }
}

/* Sorts the arcs by the unit that each leaves, and labels the units. */
static int find_labels(struct flow_layout *l)
{
    uint32_t *leaving = weir_mem_zalloc((size_t)l->n + 2, sizeof *leaving);
    uint32_t *targets = weir_mem_alloc(((size_t)l->narcs + 1) * sizeof *targets);
    uint32_t *queue = weir_mem_alloc(((size_t)l->n + 1) * sizeof *queue);
    bool enough = leaving && targets && queue;

    if (enough) {
        for (uint32_t a = 0; a < l->narcs; a++)
            leaving[l->from[a] + 2]++;
        for (uint32_t i = 2; i < l->n + 2; i++)
            leaving[i] += leaving[i - 1];
        for (uint32_t a = 0; a < l->narcs; a++)
            targets[leaving[l->from[a] + 1]++] = l->to[a];
        label_units(l, queue, leaving, targets);
    }
    WEIR_FREE(leaving, targets, queue);
    return enough ? WEIR_OK : WEIR_ENOMEM;
}

static int layout_make(const weir_graph *g, struct flow_layout *l)
{
    if (list_units(g, l))
        return WEIR_ENOMEM;
    l->source = weir_mem_zalloc((size_t)l->n + 1, sizeof *l->source);
    l->entering = weir_mem_alloc(((size_t)l->n + 1) * sizeof *l->entering);
    l->from = weir_mem_alloc(((size_t)l->narcs + 1) * sizeof *l->from);
    l->to = weir_mem_alloc(((size_t)l->narcs + 1) * sizeof *l->to);
    l->labels = weir_mem_alloc((2 * (size_t)l->n + 1) * sizeof *l->labels);
    if (!l->source || !l->entering || !l->from || !l->to || !l->labels)
        return WEIR_ENOMEM;
    list_arcs(g, l);
    find_sources(g, l);
    if (find_labels(l))
        return WEIR_ENOMEM;
    find_depth(g, l);
    return WEIR_OK;
}

/* ---- layouts of a graph ---- */

static void free_all(weir_graph *g)
{
    struct flow_layouts *all = flows_in(g);

    for (uint32_t i = 0; all && i < all->n; i++) {
        layout_clear(all->list[i]);
        weir_mem_free(all->list[i]);
    }
    if (all)
        weir_mem_free(all->list);
    weir_record_drop(g, RECORD_FLOWS, NULL);
}

static size_t bytes(const weir_graph *g)
{
    size_t n = sizeof *flows_in(g) + flows_in(g)->cap * sizeof *flows_in(g)->list;

    for (uint32_t i = 0; i < flows_in(g)->n; i++) {
        const struct flow_layout *l = flows_in(g)->list[i];
        n += sizeof *l + l->n * (2 * sizeof *l->units + 3 * sizeof *l->labels + sizeof *l->source) +
             2 * l->narcs * sizeof *l->from + l->numbers.wide * sizeof *l->numbers.slots +
             weir_flow_reach_bytes(l->reach);
    }
    return n;
}

/* Rebuilds all layouts on their next use. */
static void void_all(weir_graph *g)
{
    for (uint32_t i = 0; i < flows_in(g)->n; i++)
        layout_clear(flows_in(g)->list[i]);
}

static int check(const weir_graph *g, weir_err *err)
{
    for (uint32_t i = 0; i < flows_in(g)->n; i++) {
        const struct flow_layout *l = flows_in(g)->list[i];
        if (l->reach && l->serial == g->serial && !weir_flow_reach_right(g, l))
            return weir_fail(err, WEIR_EINVAL, "the reach of subsystem %s is wrong",
                             weir_subsystem_name(g, l->subsystem));
    }
    return WEIR_OK;
}

static const struct weir_observer flow_observer = {
    .reset = void_all, .freed = free_all, .bytes = bytes, .check = check};

static struct flow_layout *find_or_add(weir_graph *g, uint32_t subsystem)
{
    struct flow_layouts *all = weir_record_make(g, RECORD_FLOWS, sizeof *all, &flow_observer);
    struct flow_layout *l;

    for (uint32_t i = 0; all && i < all->n; i++)
        if (all->list[i]->subsystem == subsystem)
            return all->list[i];
    if (!all || weir_array_reserve(&all->list, &all->cap, (size_t)all->n + 1, sizeof *all->list))
        return NULL;
    l = weir_mem_zalloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->subsystem = subsystem;
    l->serial = g->serial - 1;
    return all->list[all->n++] = l;
}

struct flow_layout *weir_flow_layout(weir_graph *g, uint32_t subsystem)
{
    struct flow_layout *l = find_or_add(g, subsystem);

    if (!l || (l->units && l->serial == g->serial))
        return l;
    layout_clear(l);
    if (layout_make(g, l)) {
        layout_clear(l);
        l->serial = g->serial - 1;
        return NULL;
    }
    l->serial = g->serial;
    return l;
}
