/* shares.c - decomposes a flow into paths, and finds the minimum cut. Invariant: a path of the decomposition meets no
 * unit twice; flow along a cycle serves no vertex, and is dropped.
 */
#include <string.h>

#include "flow/network.h"

/* ---- shares ---- */

struct decomposition {
    struct flow_network *w;
    uint32_t *path, npath;       /* arcs from the vertex served upward */
    uint32_t *position;          /* by unit: number on the path + 1; 0: not on the path */
    int64_t *amounts;            /* by unit: for the vertex whose flow is decomposed */
    uint32_t *touched, ntouched; /* units with an amount, in the order of the paths */
    struct flow_share *list;
    uint32_t n, cap;
};

static uint32_t arc_from(const struct flow_network *w, uint32_t arc)
{
    return arc < w->l->narcs ? w->l->from[arc] : w->arcs[arc].from;
}

/* Units that begin at a unit: what passes, less what enters. */
static int64_t begun(const struct flow_network *w, uint32_t unit)
{
    int64_t n = w->units[unit].through;

    for (uint32_t a = w->l->entering[unit]; a < w->l->entering[unit + 1]; a++)
        n -= w->arcs[a].flow;
    return n;
}

/* The arc with a flow into a unit. */
static uint32_t arc_into(const struct flow_network *w, uint32_t unit)
{
    uint32_t a = w->l->entering[unit];

    while (w->arcs[a].flow == 0)
        a++;
    return a;
}

/* Drops the cycle that the last arc of the path has closed at a unit. */
static void drop_cycle(struct decomposition *p, uint32_t unit)
{
    struct flow_network *w = p->w;
    uint32_t first = p->position[unit]; /* the arcs behind lead from the unit around to the unit */
    int64_t smallest = INT64_MAX;

    for (uint32_t i = first; i < p->npath; i++)
        if (w->arcs[p->path[i]].flow < smallest)
            smallest = w->arcs[p->path[i]].flow;
    while (p->npath > first) {
        uint32_t arc = p->path[--p->npath], from = arc_from(w, arc);
        w->arcs[arc].flow -= smallest;
        w->units[from].through -= smallest;
        if (from != unit)
            p->position[from] = 0;
    }
}

/* Follows one path up from a vertex served, and subtracts the path from the flow. Returns the amount, at most
 * `most`. */
static int64_t take_path(struct decomposition *p, const struct flow_end *e, int64_t most)
{
    struct flow_network *w = p->w;
    uint32_t arc = e->first, unit;

    while (w->arcs[arc].flow == 0)
        arc++;
    p->npath = 0;
    for (;;) {
        unit = arc_from(w, arc);
        p->path[p->npath++] = arc;
        if (p->position[unit])
            drop_cycle(p, unit);
        else
            p->position[unit] = p->npath;
        if (weir_flow_begins(w, unit) && begun(w, unit) > 0)
            break;
        arc = arc_into(w, unit);
    }
    most = begun(w, unit) < most ? begun(w, unit) : most;
    for (uint32_t i = 0; i < p->npath; i++)
        if (w->arcs[p->path[i]].flow < most)
            most = w->arcs[p->path[i]].flow;
    for (uint32_t i = 0; i < p->npath; i++) {
        unit = arc_from(w, p->path[i]);
        w->arcs[p->path[i]].flow -= most;
        w->units[unit].through -= most;
        p->position[unit] = 0;
        if (p->amounts[unit] == 0)
            p->touched[p->ntouched++] = unit;
        p->amounts[unit] += most;
    }
    return most;
}

static int decompose_end(struct decomposition *p, const struct flow_end *e)
{
    p->ntouched = 0;
    for (int64_t left = e->got; left > 0;)
        left -= take_path(p, e, left);
    if (weir_array_reserve(&p->list, &p->cap, (size_t)p->n + p->ntouched, sizeof *p->list))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < p->ntouched; i++) {
        uint32_t unit = p->touched[i];
        p->list[p->n++] = (struct flow_share){e->v, p->w->l->units[unit], p->amounts[unit]};
        p->amounts[unit] = 0;
    }
    return WEIR_OK;
}

int weir_flow_shares(struct flow_network *w, struct flow_share **out, uint32_t *n)
{
    size_t units = (size_t)w->l->n + 1;
    struct decomposition p = {.w = w};
    int rc = WEIR_ENOMEM;

    p.path = weir_mem_alloc((units + 1) * sizeof *p.path);
    p.position = weir_mem_zalloc(units, sizeof *p.position);
    p.amounts = weir_mem_zalloc(units, sizeof *p.amounts);
    p.touched = weir_mem_alloc(units * sizeof *p.touched);
    if (p.path && p.position && p.amounts && p.touched && weir_flow_settle(w) == 1)
        rc = WEIR_OK;
    for (uint32_t k = 0; !rc && k < w->nends; k++)
        if (w->ends[k].got > 0)
            rc = decompose_end(&p, &w->ends[k]);
    WEIR_FREE(p.path, p.position, p.amounts, p.touched);
    if (rc)
        weir_mem_free(p.list);
    *out = rc ? NULL : p.list;
    *n = rc ? 0 : p.n;
    return rc;
}

/* ---- the minimum cut ---- */

struct reach {
    struct flow_network *w;
    bool *met; /* by node */
    uint32_t *queue, n;
};

static void reach(struct reach *r, uint32_t node)
{
    if (!r->met[node]) {
        r->met[node] = true;
        r->queue[r->n++] = node;
    }
}

/* Marks what can get more from a node. `leaving` has the arcs between units by the unit that they leave. */
static void reach_from(struct reach *r, uint32_t node, const uint32_t *first, const uint32_t *leaving)
{
    struct flow_network *w = r->w;
    uint32_t unit = node / 2, n = w->l->n;

    if (node >= 2 * n || node % 2 == 0) { /* back along arcs with a flow */
        uint32_t a = node < 2 * n ? w->l->entering[unit] : w->ends[node - 2 * n].first;
        uint32_t end = node < 2 * n ? w->l->entering[unit + 1] : a + w->ends[node - 2 * n].narcs;
        for (; a < end; a++)
            if (w->arcs[a].flow > 0)
                reach(r, 2 * arc_from(w, a) + 1);
        if (node < 2 * n && weir_flow_unit_capacity(w, unit) > w->units[unit].through)
            reach(r, node + 1);
        return;
    }
    if (w->units[unit].through > 0)
        reach(r, node - 1);
    for (uint32_t k = first[unit]; k < first[unit + 1]; k++) {
        uint32_t a = leaving[k];
        reach(r, a < w->l->narcs ? 2 * w->l->to[a] : w->arcs[a].to);
    }
}

/* Sorts all arcs by the unit that each leaves: first[u] to first[u + 1] - 1 of `leaving`. */
static void sort_arcs(const struct flow_network *w, uint32_t *first, uint32_t *leaving)
{
    for (uint32_t a = 0; a < w->arcs_n; a++)
        first[arc_from(w, a) + 2]++;
    for (uint32_t i = 2; i < w->l->n + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t a = 0; a < w->arcs_n; a++)
        leaving[first[arc_from(w, a) + 1]++] = a;
}

int weir_flow_cut(struct flow_network *w, weir_vertex **out, uint32_t *n)
{
    uint32_t nodes = 2 * w->l->n + w->nends;
    uint32_t *first = weir_mem_zalloc((size_t)w->l->n + 2, sizeof *first);
    uint32_t *leaving = weir_mem_alloc(((size_t)w->arcs_n + 1) * sizeof *leaving);
    struct reach r = {w, weir_mem_zalloc((size_t)nodes + 1, sizeof *r.met),
                      weir_mem_alloc(((size_t)nodes + 1) * sizeof *r.queue), 0};
    bool enough = first && leaving && r.met && r.queue;

    *n = 0;
    *out = enough ? weir_mem_alloc(((size_t)w->l->n + 1) * sizeof **out) : NULL;
    if (*out) {
        sort_arcs(w, first, leaving);
        for (uint32_t i = 0; i < w->l->n; i++)
            if (weir_flow_begins(w, i))
                reach(&r, 2 * i);
        for (uint32_t head = 0; head < r.n; head++)
            reach_from(&r, r.queue[head], first, leaving);
        for (uint32_t i = 0; i < w->l->n; i++)
            if (r.met[2 * i] && !r.met[2 * i + 1])
                (*out)[(*n)++] = w->l->units[i];
    }
    WEIR_FREE(first, leaving, r.met, r.queue);
    return *out ? WEIR_OK : WEIR_ENOMEM;
}
