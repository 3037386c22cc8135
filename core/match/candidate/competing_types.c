/* competing_types.c - whether siblings of a request compete for the same vertices. */
#include "match/candidate/competing.h"
#include "match/match.h"
#include "aggregate/schema.h"

static bool types_compete(const struct match *m, const char *a, const char *b)
{
    const weir_graph *g = m->g;
    weir_type x = weir_type_find(g, a), y = weir_type_find(g, b);

    if (x == WEIR_NO_TYPE || y == WEIR_NO_TYPE)
        return false;
    if (strict(m, WEIR_STRICT_LEVELS)) /* neither type is searched for inside the other */
        return x == y;
    return x == y || weir_type_above(g, x, y) || weir_type_above(g, y, x);
}

/* Lists the resources of a list, each slot replaced by its resources. Writes at most `max`, and returns the number
 * of all. */
static uint32_t flatten(const weir_resource *list, uint32_t n, const weir_resource **out, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        const weir_resource *in = list[i].slot ? list[i].with : &list[i];
        uint32_t k = list[i].slot ? list[i].nwith : 1;
        for (uint32_t j = 0; j < k; j++, count++)
            if (count < max)
                out[count] = &in[j];
    }
    return count;
}

/* Whether r may take a vertex needed by b, or by a resource nested in b. */
static bool takes_from(struct match *m, const weir_resource *r, const weir_resource *b)
{
    weir_type x = r->slot ? WEIR_NO_TYPE : weir_type_find(m->g, r->type);
    weir_type y = b->slot ? WEIR_NO_TYPE : weir_type_find(m->g, b->type);

    if (x != WEIR_NO_TYPE && y != WEIR_NO_TYPE &&
        (x == y || (weir_candidate_idle(m, r) && weir_type_above(m->g, x, y)) ||
         (weir_candidate_idle(m, b) && weir_type_above(m->g, y, x))))
        return true;
    for (uint32_t i = 0; i < b->nwith; i++)
        if (takes_from(m, r, &b->with[i]))
            return true;
    return false;
}

/* Whether a or a resource nested in a may take a vertex of b. Matters where edges are followed: a vertex may then
 * have several parents. */
static bool conflict(struct match *m, const weir_resource *a, const weir_resource *b)
{
    if (takes_from(m, a, b))
        return true;
    for (uint32_t i = 0; i < a->nwith; i++)
        if (conflict(m, &a->with[i], b))
            return true;
    return false;
}

static bool some_conflict(struct match *m, const weir_resource *list, uint32_t n)
{
    for (uint32_t i = 0; m->ask.links != WEIR_NONE && i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (conflict(m, &list[i], &list[k]))
                return true;
    return false;
}

bool weir_siblings_compete(struct match *m, const weir_resource *list, uint32_t n)
{
    const weir_resource *flat[COMPETING_DEMANDS];
    uint32_t count;

    if (some_conflict(m, list, n))
        return true;
    if (n == 1 && (!list->slot || list->nwith == 1))
        return false;
    count = flatten(list, n, flat, COMPETING_DEMANDS);
    if (count > COMPETING_DEMANDS)
        return true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (types_compete(m, flat[i]->type, flat[k]->type))
                return true;
    return false;
}

bool weir_siblings_nest(struct match *m, const weir_resource *list, uint32_t n, int64_t times)
{
    for (uint32_t i = 0; i < n; i++) {
        weir_type t = list[i].slot ? WEIR_NO_TYPE : weir_match_type(m, &list[i]);
        if (t != WEIR_NO_TYPE && saturating_mul(list[i].count.min, times) > 1 && weir_type_above(m->g, t, t))
            return true;
    }
    return false;
}

bool weir_competing_within(struct match *m, const weir_resource *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (weir_siblings_compete(m, list[i].with, list[i].nwith) ||
            weir_competing_within(m, list[i].with, list[i].nwith))
            return true;
    return false;
}
