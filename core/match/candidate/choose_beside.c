/* choose_beside.c - the choice of adjacent resources (WEIR_CHOOSE_BESIDE), such as the cores and
 * gpus of a slot: a domain gives as many candidates as the free units of all resources in the domain allow. Invariant:
 * all candidates are chosen in the end, those within the bounds of their domains first, each kind in the order of the
 * list.
 */
#include <stdio.h>
#include <string.h>

#include "aggregate/schema.h"
#include "base/map32.h"
#include "match/match.h"

/* The resources to be adjacent to r, r included: those of a slot, or of a vertex in a slot. */
static const weir_resource *beside(const weir_resource *r, uint32_t *n)
{
    *n = r->parent ? r->parent->nwith : 0;
    return r->parent ? r->parent->with : NULL;
}

bool weir_choice_besides(const weir_resource *r)
{
    const weir_resource *up = r->parent;
    uint32_t n;

    while (up && !up->slot)
        up = up->parent;
    beside(r, &n);
    return up && n > 1;
}

/* The nearest vertex above v of a type; WEIR_NONE: none. */
static weir_vertex above(const weir_graph *g, weir_vertex v, weir_type t)
{
    return vertex_at_or_above(g, vertex_at(g, v)->parent, t);
}

/* The domain of v: the ancestor of the first type named that has one, else the node; WEIR_NONE: none. */
static weir_vertex domain_of(const struct match *m, weir_vertex v)
{
    weir_vertex domain = WEIR_NONE;
    weir_type t;

    for (const char *at = m->ask.policy->choice->type; domain == WEIR_NONE && *at;) {
        char name[WEIR_NAME_MAX + 1];
        size_t len = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        t = weir_type_find(m->g, name);
        domain = t == WEIR_NO_TYPE ? WEIR_NONE : above(m->g, v, t);
        at += len + (at[len] == '+');
    }
    t = weir_type_find(m->g, "node");
    return domain == WEIR_NONE && t != WEIR_NO_TYPE ? above(m->g, v, t) : domain;
}

/* The number of candidates for r that a domain gives: for each set of the resources, the least number of r. */
static int64_t count_left(const struct match *m, weir_vertex domain, const weir_resource *r)
{
    const struct inner *in = domain == WEIR_NONE ? NULL : inner_of(m->g, domain);
    int64_t sets = WEIR_FOREVER;
    uint32_t n, kinds = 0;
    const weir_resource *list = beside(r, &n);

    for (uint32_t i = 0; in && in->cells && i < n; i++) {
        weir_type t = list[i].slot ? WEIR_NO_TYPE : weir_type_find(m->g, list[i].type);
        uint32_t cell = t == WEIR_NO_TYPE ? 0 : type_cell(schema_at(m->g, in->schema), t);
        int64_t need = list[i].count.min > 1 ? list[i].count.min : 1;
        if (!cell || in->cells[cell + TYPE_TOTAL] == 0)
            continue;
        kinds++;
        if (in->cells[cell + TYPE_FREE] / need < sets)
            sets = in->cells[cell + TYPE_FREE] / need;
    }
    return kinds > 1 ? saturating_mul(sets, r->count.min) : 0;
}

/* The candidates that domains may still give. */
struct domains {
    struct weir_map32 number; /* in `left`, by vertex */
    int64_t *left;
    uint32_t n, cap;
};

/* Takes one of those left in the domain of v. Returns 1; 0: none is left; or WEIR_ENOMEM. */
static int take_one(const struct match *m, struct domains *d, const weir_resource *r, weir_vertex v)
{
    weir_vertex domain = domain_of(m, v);
    uint32_t i = domain == WEIR_NONE ? WEIR_NONE : weir_map32_get(&d->number, domain);

    if (domain == WEIR_NONE)
        return 0;
    if (i == WEIR_NONE) {
        if (weir_array_reserve(&d->left, &d->cap, (size_t)d->n + 1, sizeof *d->left) ||
            weir_map32_add(&d->number, domain, d->n))
            return WEIR_ENOMEM;
        i = d->n++;
        d->left[i] = count_left(m, domain, r);
    }
    return d->left[i]-- > 0;
}

int64_t weir_choose_beside(struct match *m, const weir_resource *r, const weir_vertex *v, uint32_t n, uint32_t max,
                           uint32_t *chosen)
{
    uint32_t *rest = weir_mem_alloc((size_t)n * sizeof *rest), nrest = 0, count = 0;
    struct domains d = {0};
    int rc = rest ? 1 : WEIR_ENOMEM;

    for (uint32_t i = 0; rc >= 0 && i < n && count < max; i++) {
        rc = take_one(m, &d, r, v[i]);
        if (rc > 0)
            chosen[count++] = i;
        else
            rest[nrest++] = i;
    }
    for (uint32_t i = 0; rc >= 0 && i < nrest && count < max; i++)
        chosen[count++] = rest[i];
    weir_map32_free(&d.number);
    WEIR_FREE(d.left, rest);
    return rc < 0 ? weir_fail_nomem(m->err) : (int64_t)count;
}
