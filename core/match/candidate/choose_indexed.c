/* choose_indexed.c - the choices that the engine makes for a policy (weir_choice), from a group index, without a list
 * of all candidates. Invariant: choose.c would choose exactly the same vertices, in the same order, from all
 * candidates.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "index/group_index.h"
#include "match/match.h"
#include "aggregate/schema.h"

struct indexed {
    struct match *m;
    struct search search; /* prepared, for the tests of vertices */
    struct group_index *index;
    uint32_t min, max;
    weir_vertex *chosen;
    uint32_t n;
};

/* ---- what it is for ---- */

static bool policy_interferes(const struct match *m, weir_type t)
{
    const weir_policy *p = m->ask.policy;

    for (uint32_t i = 0; i < p->nexclusive; i++)
        if (weir_type_find(m->g, p->exclusive[i]) != t)
            return true;
    return p->select || p->evaluate || p->prune || p->ndescend > 0 ||
           (p->candidates && p->choice->kind != WEIR_CHOOSE_ONE);
}

/* Whether the candidates for r are whole vertices, each unused and with units to meet the needs by itself. */
static bool is_plain(struct match *m, const weir_resource *r, weir_type t)
{
    uint8_t flags = t == WEIR_NO_TYPE ? TYPE_POOLED : m->g->types[t].flags;

    if ((flags & TYPE_POOLED) || m->g->whole_kinds || weir_type_above(m->g, t, t) || r->unit[0])
        return false;
    if (r->exclusive == WEIR_EXCLUSIVE_NO ||
        !(r->takes || r->exclusive == WEIR_EXCLUSIVE_YES || !(flags & TYPE_HAS_KIDS)))
        return false;
    if (r->parent && r->parent->slot && weir_slot_children_only(m, r->parent))
        return false;
    for (uint32_t i = 0; i < r->nwith; i++)
        if (weir_flow_find(m->g, r->with[i].type) != WEIR_NONE)
            return false;
    return r->nwith == 0 || weir_candidate_by_aggregates(m, r);
}

/* Whether a search would meet all vertices of the graph. */
static bool is_anywhere(const struct match *m, weir_vertex under)
{
    return under == WEIR_NONE || (m->g->nroots == 1 && under == m->g->roots[0]);
}

static bool applies(struct match *m, weir_vertex under, const weir_resource *r, int64_t want)
{
    weir_type t = weir_match_type(m, r);

    return m->ask.policy->choice && m->ask.policy->choice->kind != WEIR_CHOOSE_BESIDE && m->scope.view == VIEW_NOW &&
           m->window.t0 <= m->g->now && !m->scope.probing && want > 0 && want < UINT32_MAX / 2 &&
           is_anywhere(m, under) && !policy_interferes(m, t) && m->scope.conflicts_from == WEIR_NONE &&
           m->ask.links == WEIR_NONE && m->ask.options->strict == 0 && !m->ask.growing &&
           !weir_request_constrained(m->ask.request) && is_plain(m, r, t);
}

/* ---- candidates ---- */

/* Finds the index; *out is NULL where none exists. */
static int find_index(struct indexed *x, const weir_resource *r)
{
    struct match *m = x->m;
    struct group_question q = {.policy = m->ask.policy, .type = x->search.type};

    weir_search_prepare(&x->search, m, r, r, true);
    q.type = x->search.type;
    if (x->search.nneeds > GROUP_NEEDS)
        return WEIR_OK;
    for (uint32_t i = 0; i < x->search.nneeds; i++) {
        weir_type need = x->search.needs[i].type;
        int64_t total = need == WEIR_NO_TYPE ? -1 : weir_groups_total(m->g, q.type, need, x->search.needs[i].amount);
        if (total < 0)
            return WEIR_OK;
        q.needs[q.nneeds++] = (struct group_need){need, total};
    }
    return weir_groups_get(m->g, &q, &x->index, m->err);
}

/* Whether v, and all vertices above v, are free in the window. Returns 1, 0 or negative. */
static int is_free(struct indexed *x, weir_vertex v)
{
    struct match *m = x->m;
    struct scope mark = scope_mark(m);
    int64_t units;
    int go = weir_search_vertex_ok(&x->search, v);

    m->result.stats.visited++;
    for (weir_vertex u = v; go > 0 && u != WEIR_NONE; u = vertex_at(m->g, u)->parent)
        go = weir_search_admit(&x->search, u);
    if (go <= 0)
        return go;
    m->scope.probing = true;
    units = weir_candidate_take(m, v, x->search.r, WEIR_FOREVER);
    scope_undo(m, &mark);
    return units < 0 ? (int)units : units > 0;
}

/* Informs the index which of the doubtful members are free in the window. */
static int settle_doubts(struct indexed *x)
{
    struct group_index *g = x->index;

    for (uint32_t i = 0; i < g->ndoubts; i++) {
        int fits = is_free(x, g->list[g->doubts[i]]);
        if (fits < 0)
            return fits;
        weir_groups_set(g, g->doubts[i], fits);
    }
    return WEIR_OK;
}

/* ---- the choices ---- */

/* Adds members of the places [from, end), up to `max` in all. */
static void add_members(struct indexed *x, uint32_t from, uint32_t end)
{
    x->m->result.stats.visited++;
    for (uint32_t i = weir_groups_next(x->index, from, end); i < end && x->n < x->max;
         i = weir_groups_next(x->index, i + 1, end))
        x->chosen[x->n++] = x->index->list[i];
}

/* Adds the members of an element of the set: a run, or a group. */
static void add_element(struct indexed *x, uint32_t element)
{
    const struct group_index *g = x->index;

    if (choice_of_runs(g->rule.kind))
        add_members(x, element, element + (uint32_t)(g->set.keys[element] >> 32));
    else
        add_members(x, g->begin[element], g->begin[element + 1]);
}

/* Adds the elements of the set in descending size. */
static void add_largest(struct indexed *x)
{
    const struct weir_keyset *set = &x->index->set;
    uint32_t element = weir_keyset_below(set, KEYSET_OUT);

    while (x->n < x->max && element != WEIR_NONE) {
        uint64_t size = set->keys[element] >> 32;
        element = weir_keyset_from(set, size << 32);
        for (; x->n < x->max && element != WEIR_NONE && set->keys[element] >> 32 == size;
             element = weir_keyset_from(set, set->keys[element] + 1))
            add_element(x, element);
        element = weir_keyset_below(set, size << 32);
    }
}

static void choose_elements(struct indexed *x)
{
    const struct group_index *g = x->index;
    uint32_t element = WEIR_NONE;

    if (g->rule.kind != WEIR_CHOOSE_LONGEST)
        element = weir_keyset_from(&g->set, group_sized(x->max, 0));
    if (element != WEIR_NONE)
        add_element(x, element);
    else
        add_largest(x);
    if (x->n < x->max && g->none != WEIR_NONE)
        add_members(x, g->begin[g->none], g->begin[g->none + 1]);
}

static void choose_one(struct indexed *x)
{
    const struct weir_keyset *set = &x->index->set;
    uint32_t element = weir_keyset_from(set, group_sized(x->max, 0)), largest = weir_keyset_below(set, KEYSET_OUT);

    if (element == WEIR_NONE && largest != WEIR_NONE && set->keys[largest] >> 32 >= x->min)
        element = weir_keyset_from(set, set->keys[largest] >> 32 << 32);
    x->m->result.stats.visited++;
    if (element != WEIR_NONE)
        add_element(x, element);
}

/* The next candidate of a group, for a choice that takes one candidate of each group in each round. */
struct cursor {
    uint64_t key; /* the free units of the group, and the number of the candidate in the order */
    uint32_t place;
};

WEIR_COMPARE_BY(by_key, struct cursor, key)

/* Advances each cursor to the next candidate of its group, and drops the cursors at the end of a group. Returns the
 * number of cursors left. */
static uint32_t advance_cursors(const struct group_index *g, struct cursor *cursors, uint32_t n)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = g->begin[g->groups[cursors[i].place] + 1], next = weir_groups_next(g, cursors[i].place + 1, end);
        if (next < end)
            cursors[left++] = (struct cursor){cursors[i].key >> 32 << 32 | g->ranks[next], next};
    }
    if (left)
        qsort(cursors, left, sizeof *cursors, by_key);
    return left;
}

static int choose_each(struct indexed *x)
{
    const struct group_index *g = x->index;
    struct cursor *cursors = weir_mem_alloc((size_t)x->max * sizeof *cursors);
    uint32_t n = 0;

    if (!cursors)
        return weir_fail_nomem(x->m->err);
    for (uint32_t k = weir_keyset_from(&g->set, 0); n < x->max && k != WEIR_NONE;
         k = weir_keyset_from(&g->set, g->set.keys[k] + 1))
        cursors[n++] = (struct cursor){g->set.keys[k], weir_groups_next(g, g->begin[k], g->begin[k + 1])};
    for (; n > 0 && x->n < x->max; n = advance_cursors(g, cursors, n)) {
        x->m->result.stats.visited += n;
        for (uint32_t i = 0; i < n && x->n < x->max; i++)
            x->chosen[x->n++] = g->list[cursors[i].place];
    }
    weir_mem_free(cursors);
    return WEIR_OK;
}

/* Groups are values, in ascending order: a set that begins with the first member of a group differs least of all that
 * begin in the group. */
static void choose_closest(struct indexed *x)
{
    const struct group_index *g = x->index;
    uint32_t known = g->none == WEIR_NONE ? g->ngroups : g->none, best = 0, have = 0;
    double smallest = HUGE_VAL;

    for (uint32_t i = 0, k = 0; i < known; have -= g->counts[i++]) {
        while (k < known && have < x->max)
            have += g->counts[k++];
        if (have < x->max)
            break;
        if (g->counts[i] && g->values[k - 1] - g->values[i] < smallest) {
            smallest = g->values[k - 1] - g->values[i];
            best = i;
        }
    }
    add_members(x, g->begin[best], g->n);
}

static int choose(struct indexed *x)
{
    switch (x->index->rule.kind) {
    case WEIR_CHOOSE_EACH: return choose_each(x);
    case WEIR_CHOOSE_CLOSEST: choose_closest(x); break;
    case WEIR_CHOOSE_ONE: choose_one(x); break;
    default: choose_elements(x);
    }
    return WEIR_OK;
}

int weir_choose_indexed(struct match *m, weir_vertex under, const weir_resource *r, int64_t want, weir_vertex **chosen,
                        uint32_t *n)
{
    struct indexed x = {.m = m};
    struct group_index *g;
    bool fixed = count_most(m, &r->count) == r->count.min;
    int rc = applies(m, under, r, want) ? find_index(&x, r) : WEIR_OK;

    *chosen = NULL;
    *n = 0;
    g = x.index;
    if (rc || !g || g->uneven)
        return rc;
    weir_groups_settle(m->g, g);
    rc = settle_doubts(&x);
    weir_groups_rekey(m->g, g);
    if (rc || g->total < (fixed ? want : r->count.min) || g->total == 0)
        return rc;
    x.max = want < g->total ? (uint32_t)want : g->total;
    x.min = fixed || r->count.min > x.max ? x.max : (uint32_t)r->count.min;
    x.chosen = weir_mem_alloc((size_t)x.max * sizeof *x.chosen);
    rc = x.chosen ? choose(&x) : weir_fail_nomem(m->err);
    if (rc) {
        weir_mem_free(x.chosen);
        return rc;
    }
    *chosen = x.chosen;
    *n = x.n;
    return 1;
}
