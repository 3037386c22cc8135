/* whole.c - matches that give some type as a whole (weir_match_options.whole): the type joins the exclusive types of
 * the policy, and of the vertices given, the parts that are not up are left out. Invariant: what is left out of a
 * vertex that a job has is given to no further job, as no part of a vertex with a user is.
 */
#include <string.h>

#include "match/match.h"

/* ---- the type ---- */

struct whole_policy {
    weir_policy policy;
    const char *types[]; /* the exclusive types of the caller's policy, and o->whole */
};

int weir_match_whole(struct match *m)
{
    const weir_policy *p = m->ask.policy;
    const char *type = m->ask.options->whole;
    struct whole_policy *w;

    if (!type)
        return WEIR_OK;
    if (weir_type_find(m->g, type) == WEIR_NO_TYPE)
        return weir_fail(m->err, WEIR_ENOENT, "there is no type '%.100s' to be given as a whole", type);
    w = weir_mem_alloc(sizeof *w + ((size_t)p->nexclusive + 1) * sizeof *w->types);
    if (!w)
        return weir_fail_nomem(m->err);
    if (p->nexclusive)
        memcpy(w->types, p->exclusive, p->nexclusive * sizeof *w->types);
    w->types[p->nexclusive] = type;
    w->policy = *p;
    w->policy.exclusive = w->types;
    w->policy.nexclusive = p->nexclusive + 1;
    m->ask.whole = w;
    m->ask.policy = &w->policy;
    return WEIR_OK;
}

/* ---- parts that are not up ---- */

struct picks {
    weir_pick *list;
    uint32_t n, cap;
};

/* Whether v and all below are up. O(types) where nothing below is in use, else O(vertices below) */
static bool all_up(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    weir_aggregate a;
    bool free = true;

    if (!state_available(vertex_at(g, v)->state))
        return false;
    for (uint32_t i = 0; free && in && weir_graph_aggregate(g, v, i, &a); i++)
        free = a.free == a.total;
    for (uint32_t i = 0; !free && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && !all_up(g, in->kids[i]))
            return false;
    return true;
}

static int add(struct picks *out, const weir_pick *p)
{
    return WEIR_ARRAY_ADD(out->list, out->n, out->cap, *p);
}

/* Adds the parts of v that are up, as few picks as possible. */
static int add_up(struct match *m, weir_vertex v, uint32_t resource, struct picks *out)
{
    int64_t size = kind_of(m->g, v)->size;
    const struct inner *in = inner_of(m->g, v);
    int rc;

    if (!state_available(vertex_at(m->g, v)->state))
        return WEIR_OK;
    if (all_up(m->g, v))
        return add(out, &(weir_pick){v, resource, size, true});
    rc = add(out, &(weir_pick){v, resource, size > 1 ? size : 0, false});
    for (uint32_t i = 0; !rc && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE)
            rc = add_up(m, in->kids[i], resource, out);
    return rc;
}

int weir_match_trim(struct match *m)
{
    weir_type t = m->ask.options->whole ? weir_type_find(m->g, m->ask.options->whole) : WEIR_NO_TYPE;
    struct picks out = {0};
    int rc = WEIR_OK;

    if (t == WEIR_NO_TYPE || m->g->unavailable == 0)
        return WEIR_OK;
    for (uint32_t i = 0; !rc && i < m->scope.npicks; i++) {
        const weir_pick *p = &m->progress.picks[i];
        bool trim = p->exclusive && kind_of(m->g, p->vertex)->type == t && !all_up(m->g, p->vertex);
        rc = trim ? add_up(m, p->vertex, p->resource, &out) : add(&out, p);
    }
    if (rc) {
        weir_mem_free(out.list);
        return weir_fail_nomem(m->err);
    }
    weir_mem_free(m->progress.picks);
    m->progress.picks = out.list;
    m->scope.npicks = out.n;
    return WEIR_OK;
}
