/* flow.c - the maximum flow to a set of vertices in a window. Invariant: the graph does not change. */
#include "flow/flow.h"

#include <inttypes.h>

#include "time/availability.h"

struct window {
    const weir_graph *g;
    int64_t t0, t1;
    bool capacity;
};

static int64_t capacity_in(void *context, weir_vertex v)
{
    const struct window *x = context;

    if (x->capacity)
        return kind_of(x->g, v)->size;
    if (!state_available(vertex_at(x->g, v)->state) || !weir_availability_above(x->g, v, x->t0, x->t1))
        return 0;
    return weir_availability_free(x->g, v, x->t0, x->t1);
}

static int check_options(const weir_graph *g, const weir_flow_options *o, uint32_t *subsystem, weir_err *err)
{
    *subsystem = o->subsystem ? weir_subsystem_find(weir_graph_edges(g), o->subsystem) : WEIR_NONE;
    if (!o->subsystem)
        return weir_fail(err, WEIR_EINVAL, "a flow needs a subsystem");
    if (*subsystem == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no subsystem '%.100s'", o->subsystem);
    if (*subsystem == 0)
        return weir_fail(err, WEIR_EINVAL, "nothing flows in containment");
    if (o->from != WEIR_NONE && !vertex_valid(g, o->from))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", o->from);
    for (uint32_t i = 0; i < o->nto; i++)
        if (!vertex_valid(g, o->to[i]))
            return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", o->to[i]);
    if (o->units < 0 || o->duration < 0)
        return weir_fail(err, WEIR_EINVAL, "units and duration of a flow are not negative");
    if (o->at < g->now)
        return weir_fail(err, WEIR_EINVAL, "the flow starts at %" PRId64 " us, before the clock (%" PRId64 " us)",
                         o->at, g->now);
    return WEIR_OK;
}

void weir_flow_free(weir_flow *f)
{
    if (f)
        WEIR_FREE((void *)(uintptr_t)f->served, (void *)(uintptr_t)f->shares, (void *)(uintptr_t)f->cut, f);
}

/* Serves all vertices. */
static int fill(struct flow_network *w, const weir_flow_options *o, weir_flow *f, int64_t *served)
{
    for (uint32_t i = 0; i < o->nto; i++) {
        if (weir_flow_serve(w, o->to[i], o->units ? o->units : INT64_MAX, true, &served[i]))
            return WEIR_ENOMEM;
        f->amount += served[i];
        f->all = f->all && served[i] == o->units;
    }
    return WEIR_OK;
}

static int give_cut(struct flow_network *w, struct window *x, weir_flow *f)
{
    weir_flow_limit *cut;
    weir_vertex *list;

    if (f->all)
        return WEIR_OK;
    if (weir_flow_cut(w, &list, &f->ncut))
        return WEIR_ENOMEM;
    cut = weir_mem_alloc(((size_t)f->ncut + 1) * sizeof *cut);
    for (uint32_t i = 0; cut && i < f->ncut; i++)
        cut[i] = (weir_flow_limit){list[i], capacity_in(x, list[i])};
    weir_mem_free(list);
    f->cut = cut;
    return cut ? WEIR_OK : WEIR_ENOMEM;
}

static int give_shares(struct flow_network *w, weir_flow *f)
{
    struct flow_share *list;
    weir_flow_share *shares;

    if (weir_flow_shares(w, &list, &f->nshares))
        return WEIR_ENOMEM;
    shares = weir_mem_alloc(((size_t)f->nshares + 1) * sizeof *shares);
    for (uint32_t i = 0; shares && i < f->nshares; i++)
        shares[i] = (weir_flow_share){list[i].endpoint, list[i].unit, list[i].amount};
    weir_mem_free(list);
    f->shares = shares;
    return shares ? WEIR_OK : WEIR_ENOMEM;
}

int weir_flow_most(weir_graph *g, const weir_flow_options *o, weir_flow **out, weir_err *err)
{
    struct window x = {g, o->at, o->duration ? time_add(o->at, o->duration) : WEIR_FOREVER, o->capacity};
    const struct flow_layout *l;
    struct flow_network *w;
    weir_flow *f;
    int64_t *served;
    uint32_t subsystem;
    int rc = check_options(g, o, &subsystem, err);

    *out = NULL;
    if (rc)
        return rc;
    l = weir_flow_layout(weir_graph_edges(g), subsystem);
    w = l ? weir_flow_network_new(weir_graph_edges(g), l, o->from, capacity_in, &x) : NULL;
    f = weir_mem_zalloc(1, sizeof *f);
    served = weir_mem_zalloc((size_t)o->nto + 1, sizeof *served);
    rc = w && f && served ? WEIR_OK : WEIR_ENOMEM;
    if (f) {
        f->served = served;
        f->all = o->units > 0;
    }
    rc = rc ? rc : fill(w, o, f, served);
    rc = rc ? rc : give_cut(w, &x, f);
    rc = rc ? rc : give_shares(w, f);
    if (rc) {
        if (!f)
            weir_mem_free(served);
        weir_flow_free(f);
        f = NULL;
    }
    weir_flow_network_free(w);
    *out = f;
    return rc ? weir_fail_nomem(err) : WEIR_OK;
}
