/* assign.c - see assign.h.
 *
 * The groups are the vertices of the innermost type of the request above shared vertices; what each group needs is an
 * amount of one type at or below the shared vertices. A shared vertex brings the free units of that type at or below
 * it; each goes to one group. Where all bring the same number of units, groups are served by augmenting paths, so a set
 * of groups is refused only where no assignment serves all of them. Where they do not, all assignments are tried, the
 * largest vertices first, with bounds by sums.
 *
 * Invariant: `at` of an item is WEIR_NONE, or the number of one of its ways.
 */
#include "match/assign.h"

#include <math.h>
#include <string.h>

#include "aggregate/schema.h"
#include "match/match.h"
#include "time/availability.h"
#include "time/schedule.h"

#define ASSIGN_VISITS 2000000 /* looks at ways before a search gives up */

struct assign_item {
    weir_vertex v;
    int64_t weight;
    uint32_t first, nways;
    uint32_t at; /* number of the way assigned; WEIR_NONE: none */
};

struct assign_way {
    uint32_t item, group;
    weir_vertex parent;
    uint32_t next; /* next way into the group */
};

struct assign_group {
    weir_vertex v;
    int64_t own;     /* units of vertices with one parent */
    int64_t all;     /* with those of all its ways */
    bool chosen;     /* while all assignments are tried */
    int64_t missing; /* of a group chosen; else 0 */
    int64_t open;    /* units of items not yet tried that have a way into the group */
    uint32_t ways;   /* the first */
    uint32_t seen;   /* round of the last visit */
    uint32_t takes;  /* way by which it takes an item from the group that was visited before */
};

struct assignment {
    const weir_graph *g;
    struct hierarchy *h;
    uint32_t subsystem; /* of the graph */
    struct assign_window window;
    const weir_request *request;
    weir_type group_type, need_type, node_type;
    const weir_resource *group, *need; /* the resources of these types */
    weir_vertex *choice;               /* by vertex: the parent chosen; WEIR_NONE: that of the tree */
    uint8_t *verdicts; /* by vertex, two bits a resource (enum verdict); NULL: nothing excludes vertices */
    bool whole;        /* what is needed must be unused */
    int64_t each;      /* needed by each group */
    int64_t wanted;    /* units of groups */
    bool nested; /* a further level above concerns shared vertices: an assignment may serve the groups and not that
                    level */
    struct assign_item *items;
    uint32_t nitems;
    struct assign_way *ways;
    uint32_t nways, ways_cap;
    struct assign_group *groups;
    uint32_t ngroups, groups_cap;
    struct weir_map32 item_numbers, group_numbers; /* by vertex */
    uint32_t *queue;
    uint32_t *order; /* items with ways, the largest first; NULL: all are equally large */
    uint32_t norder;
    bool every;    /* each item is assigned to a group chosen, even if the groups miss nothing */
    uint32_t skip; /* assignments still to be skipped */
    uint32_t round;
    uint64_t visits;
};

enum verdict { NOT_ASKED_YET, KEPT, EXCLUDED };

/* The vertex above v, by the parents chosen so far. */
static weir_vertex above(const struct assignment *d, weir_vertex v)
{
    return d->choice[v] != WEIR_NONE ? d->choice[v] : vertex_at(d->h->view, v)->parent;
}

/* ---- the question ---- */

/* Whether v has a vertex of a type above one of its parents. */
static bool has_above(const struct assignment *d, weir_vertex v, weir_type t)
{
    struct weir_ends parents = weir_ends(d->g, v, d->subsystem, false);

    for (weir_vertex up; (up = weir_ends_next(&parents)) != WEIR_NONE;)
        if (!vertex_detached(d->h->view, up) && vertex_at_or_above(d->h->view, up, t) != WEIR_NONE)
            return true;
    return false;
}

/* Whether some shared vertex has a vertex of a type above it, and is of the type `need` or has such below. */
static bool concerns(const struct assignment *d, weir_type above, weir_type need)
{
    const weir_graph *view = d->h->view;

    for (uint32_t i = 0; i < d->h->nshared; i++) {
        weir_vertex v = d->h->shared[i];
        const struct inner *in = inner_of(view, v);
        if ((kind_of(view, v)->type == need || (in && type_cell(schema_at(view, in->schema), need))) &&
            has_above(d, v, above))
            return true;
    }
    return false;
}

/* Whether a graph has several vertices of a type. */
static bool has_some(const weir_graph *g, weir_type t)
{
    uint32_t n = 0;

    for (weir_vertex v = 0; n < 2 && v < g->limit; v++)
        n += vertex_valid(g, v) && !vertex_detached(g, v) && kind_of(g, v)->type == t;
    return n > 1;
}

/* Whether groups, or vertices above groups, are shared. */
static bool has_shared_groups(const struct assignment *d)
{
    const weir_graph *view = d->h->view;

    for (uint32_t i = 0; i < d->h->nshared; i++) {
        const struct inner *in = inner_of(view, d->h->shared[i]);
        if (kind_of(view, d->h->shared[i])->type == d->group_type ||
            (in && type_cell(schema_at(view, in->schema), d->group_type)))
            return true;
    }
    return false;
}

/* The first resource of a type in a list, at any depth; NULL: none. */
static const weir_resource *find_resource(const weir_resource *list, uint32_t n, const char *type)
{
    const weir_resource *found = NULL;

    for (uint32_t i = 0; !found && i < n; i++)
        found = !list[i].slot && strcmp(list[i].type, type) == 0 ? &list[i]
                                                                 : find_resource(list[i].with, list[i].nwith, type);
    return found;
}

/* Finds the innermost level of a list whose vertices are groups. `times`: how often the list is requested. */
static void find_level(struct assignment *d, const weir_request *r, const weir_resource *list, uint32_t n,
                       int64_t times)
{
    for (uint32_t i = 0; i < n; i++) {
        const weir_resource *level = &list[i];
        int64_t all = saturating_mul(times, level->count.min);
        weir_type t = level->slot ? WEIR_NO_TYPE : weir_type_find(d->h->view, level->type);
        uint32_t nneeds = 0;
        const struct weir_need *needs = t == WEIR_NO_TYPE ? NULL : weir_resource_needs(r, level->index, &nneeds);
        for (uint32_t k = 0; k < nneeds; k++) {
            weir_type need = weir_type_find(d->h->view, needs[k].type);
            if (need == WEIR_NO_TYPE || needs[k].amount == 0 || !concerns(d, t, need))
                continue;
            d->nested |= d->group_type != WEIR_NO_TYPE && d->group_type != t && has_some(d->h->view, d->group_type);
            d->group_type = t;
            d->need_type = need;
            d->group = level;
            d->need = find_resource(level->with, level->nwith, needs[k].type);
            d->each = needs[k].amount;
            d->wanted = all;
            break;
        }
        find_level(d, r, level->with, level->nwith, all);
    }
}

/* Whether the request takes vertices of the needed type for itself. */
static bool takes_whole(const struct assignment *d, const weir_request *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const weir_resource *at = weir_request_resource(r, i);
        if (!at->slot && weir_type_find(d->h->view, at->type) == d->need_type)
            return at->takes || at->exclusive == WEIR_EXCLUSIVE_YES;
    }
    return false;
}

/* ---- exclusion ---- */

/* Whether neither the constraint nor the policy excludes v for r. Returns 1: v is kept, 0 or negative. */
static int ask(const struct assignment *d, weir_vertex v, const weir_resource *r)
{
    const weir_constraint *wanted = weir_request_constraint(d->request);
    const weir_policy *p = d->window.policy;
    const weir_graph *view = d->h->view;
    double score = 0;
    int rc = 1;

    if (wanted && kind_of(view, v)->type == d->node_type && !weir_constraint_match(wanted, view, v))
        return 0;
    if (p && p->prune)
        rc = p->prune(p->data, view, v, r);
    if (rc == 1 && p && p->evaluate && !d->window.all && strcmp(weir_vertex_type(view, v), r->type) == 0) {
        rc = p->evaluate(p->data, view, r, &v, 1, &score);
        rc = rc < 0 ? rc : !isnan(score);
    }
    return rc < 0 ? WEIR_EPOLICY : rc;
}

/* Whether v and what is above v, below `top`, are kept for r, the resource of the groups or of the need. Returns 1, 0
 * or negative. */
static int keeps(struct assignment *d, weir_vertex v, weir_vertex top, const weir_resource *r)
{
    unsigned shift = r == d->group ? 0 : 2;
    int rc = 1;

    for (; d->verdicts && r && rc == 1 && v != top && v != WEIR_NONE; v = above(d, v)) {
        unsigned known = d->verdicts[v] >> shift & 3;
        rc = known == NOT_ASKED_YET ? ask(d, v, r) : known == KEPT;
        if (rc >= 0 && known == NOT_ASKED_YET)
            d->verdicts[v] |= (uint8_t)((rc ? KEPT : EXCLUDED) << shift);
    }
    return rc;
}

/* ---- supply ---- */

static uint32_t group_number(struct assignment *d, weir_vertex v)
{
    uint32_t i = weir_map32_get(&d->group_numbers, v);

    if (i != WEIR_NONE)
        return i;
    if (weir_array_reserve(&d->groups, &d->groups_cap, (size_t)d->ngroups + 1, sizeof *d->groups) ||
        weir_map32_add(&d->group_numbers, v, d->ngroups))
        return WEIR_NONE;
    d->groups[d->ngroups] = (struct assign_group){.v = v, .ways = WEIR_NONE};
    return d->ngroups++;
}

/* Whether the vertices from v up, below `top`, are up, and no job has one of them as a whole in the window. */
static bool is_open(const struct assignment *d, weir_vertex v, weir_vertex top)
{
    const weir_graph *view = d->h->view;

    for (; !d->window.all && v != top && v != WEIR_NONE; v = above(d, v))
        if (!state_available(vertex_at(view, v)->state) ||
            (schedule_of(view, v) && weir_schedule_touched(view, v, d->window.t0, d->window.t1, true)))
            return false;
    return true;
}

/* Units of v that the window leaves, as far as v and the vertices above v and below `top` show. */
static int64_t units_of(const struct assignment *d, weir_vertex v, weir_vertex top)
{
    const weir_graph *view = d->h->view;

    if (d->window.all)
        return kind_of(view, v)->size;
    if (!state_available(vertex_at(view, v)->state) || !is_open(d, above(d, v), top) ||
        (d->whole && inner_of(view, v) && !weir_availability_unused(view, v, d->window.t0, d->window.t1)))
        return 0;
    return weir_availability_free(view, v, d->window.t0, d->window.t1);
}

/* The number of the group `v`, of a way or of units: WEIR_NONE where nothing is to be had in it. Returns 1, 0 or
 * negative. */
static int enter_group(struct assignment *d, weir_vertex v, uint32_t *number)
{
    int rc = is_open(d, v, WEIR_NONE) ? keeps(d, v, WEIR_NONE, d->group) : 0;

    *number = rc == 1 ? group_number(d, v) : WEIR_NONE;
    return rc == 1 && *number == WEIR_NONE ? WEIR_ENOMEM : rc;
}

/* Adds the units of v to the shared vertex at or above v, or to the group above. */
static int add_supply(struct assignment *d, weir_vertex v)
{
    const weir_graph *view = d->h->view;
    weir_vertex at = v, top;
    uint32_t item, group;
    int64_t units;
    int rc;

    while (at != WEIR_NONE && weir_map32_get(&d->item_numbers, at) == WEIR_NONE &&
           (at == v || kind_of(view, at)->type != d->group_type))
        at = above(d, at);
    if (at == WEIR_NONE)
        return WEIR_OK;
    /* a group may have several parents itself: it is assigned by its own level, if any */
    item = at != v && kind_of(view, at)->type == d->group_type ? WEIR_NONE : weir_map32_get(&d->item_numbers, at);
    top = item == WEIR_NONE ? at : above(d, at);
    units = units_of(d, v, top);
    rc = units > 0 ? keeps(d, v, top, d->need) : 0;
    if (rc == 1 && item != WEIR_NONE) {
        d->items[item].weight += units;
    } else if (rc == 1 && (rc = enter_group(d, at, &group)) == 1) {
        d->groups[group].own += units;
        d->groups[group].all += units;
    }
    return rc < 0 ? rc : WEIR_OK;
}

/* Adds the ways of an item: its parents with a group at or above them. */
static int add_ways(struct assignment *d, uint32_t number)
{
    const weir_graph *view = d->h->view;
    struct assign_item *it = &d->items[number];
    struct weir_ends parents = weir_ends(d->g, it->v, d->subsystem, false);
    uint32_t i;
    int rc;

    it->first = d->nways;
    for (weir_vertex up; (up = weir_ends_next(&parents)) != WEIR_NONE;) {
        weir_vertex group = up == it->v || vertex_detached(view, up) || weir_vertex_within(view, up, it->v)
                                ? WEIR_NONE
                                : vertex_at_or_above(view, up, d->group_type);
        rc = group == WEIR_NONE || !is_open(d, up, group) ? 0 : keeps(d, up, group, d->need);
        rc = rc == 1 ? enter_group(d, group, &i) : rc;
        if (rc < 0)
            return rc;
        if (rc == 0)
            continue;
        if (weir_array_reserve(&d->ways, &d->ways_cap, (size_t)d->nways + 1, sizeof *d->ways))
            return WEIR_ENOMEM;
        d->ways[d->nways] = (struct assign_way){number, i, up, d->groups[i].ways};
        d->groups[i].ways = d->nways++;
        d->groups[i].all += it->weight;
        it->nways++;
    }
    return WEIR_OK;
}

/* Lists the shared vertices, what they and the groups have, and the ways. */
static int list_supply(struct assignment *d)
{
    const weir_graph *view = d->h->view;
    int rc = WEIR_OK;

    d->items = weir_mem_zalloc((size_t)d->h->nshared + 1, sizeof *d->items);
    if (!d->items)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < d->h->nshared; i++) {
        d->items[i] = (struct assign_item){.v = d->h->shared[i], .at = WEIR_NONE};
        rc = weir_map32_add(&d->item_numbers, d->h->shared[i], i);
    }
    d->nitems = d->h->nshared;
    for (weir_vertex v = 0; !rc && v < view->limit; v++)
        if (vertex_valid(view, v) && !vertex_detached(view, v) && kind_of(view, v)->type == d->need_type)
            rc = add_supply(d, v);
    for (uint32_t i = d->nitems; !rc && i-- > 0;) /* so that the ways into a group are in the order of the items */
        rc = d->items[i].weight > 0 ? add_ways(d, i) : WEIR_OK;
    d->queue = rc ? NULL : weir_mem_alloc(((size_t)d->ngroups + 1) * sizeof *d->queue);
    return rc || d->queue ? rc : WEIR_ENOMEM;
}

/* ---- dealing ---- */

/* Assigns the item of the last way of a path to the group visited last, whose item moves to the group before. */
static void move_along(struct assignment *d, uint32_t way, uint32_t start)
{
    while (true) {
        uint32_t group = d->ways[way].group;
        d->items[d->ways[way].item].at = way;
        if (group == start)
            return;
        way = d->groups[group].takes;
    }
}

/* Finds an item for a group: one that is not assigned, or one of another group that finds a replacement. Returns the
 * weight, 0: there is none. */
static int64_t find_item(struct assignment *d, uint32_t start)
{
    uint32_t end = 0;

    d->round++;
    d->groups[start].seen = d->round;
    d->queue[end++] = start;
    for (uint32_t k = 0; k < end; k++)
        for (uint32_t w = d->groups[d->queue[k]].ways; w != WEIR_NONE; w = d->ways[w].next) {
            const struct assign_item *it = &d->items[d->ways[w].item];
            uint32_t holder = it->at == WEIR_NONE ? WEIR_NONE : d->ways[it->at].group;
            d->visits++;
            if (holder == WEIR_NONE) {
                move_along(d, w, start);
                return it->weight;
            }
            if (d->groups[holder].seen == d->round)
                continue;
            d->groups[holder].seen = d->round;
            d->groups[holder].takes = w; /* queue[k] takes this item from its holder */
            d->queue[end++] = holder;
        }
    return 0;
}

/* Assigns a group what it needs in addition to the groups served so far. */
static bool serve(struct assignment *d, uint32_t group)
{
    int64_t missing = d->each - d->groups[group].own;

    while (missing > 0) {
        int64_t units = find_item(d, group);
        if (units == 0)
            return false;
        missing -= units;
    }
    return true;
}

static void save(const struct assignment *d, uint32_t *at)
{
    for (uint32_t i = 0; i < d->nitems; i++)
        at[i] = d->items[i].at;
}

static void restore(struct assignment *d, const uint32_t *at)
{
    for (uint32_t i = 0; i < d->nitems; i++)
        d->items[i].at = at[i];
}

/* Skips an assignment that serves, while some are to be skipped. Returns 1 or 0. */
static int accept(struct assignment *d)
{
    if (d->skip == 0)
        return 1;
    d->skip--;
    return 0;
}

/* Whether each group may still get what it misses from the items from number k of the order on. */
static bool can_serve(const struct assignment *d, uint32_t k)
{
    int64_t missing = 0, left = 0;

    for (uint32_t i = 0; i < d->ngroups; i++) {
        missing += d->groups[i].missing > 0 ? d->groups[i].missing : 0;
        if (d->groups[i].missing > d->groups[i].open)
            return false;
    }
    for (; k < d->norder && left < missing; k++)
        left += d->items[d->order[k]].weight;
    return left >= missing;
}

/* Counts the units of an item in (by 1) or out of (by -1) what is open to its groups. */
static void open_item(struct assignment *d, const struct assign_item *it, int by)
{
    for (uint32_t w = it->first; w < it->first + it->nways; w++)
        d->groups[d->ways[w].group].open += by * it->weight;
}

/* Tries all assignments of the items from number k of the order on. Returns 1, 0 or negative. */
static int assign_all(struct assignment *d, uint32_t k)
{
    struct assign_item *it;
    bool missing = d->every && k < d->norder, assigned = false;
    int rc = 0;

    for (uint32_t i = 0; i < d->ngroups && !missing; i++)
        missing = d->groups[i].missing > 0;
    d->visits += d->ngroups;
    if (!missing)
        return accept(d);
    if (d->visits > ASSIGN_VISITS)
        return WEIR_ELIMIT;
    if (!can_serve(d, k))
        return 0;
    it = &d->items[d->order[k]];
    open_item(d, it, -1);
    for (uint32_t w = it->first; rc == 0 && w < it->first + it->nways; w++) {
        struct assign_group *group = &d->groups[d->ways[w].group];
        if (!group->chosen || (group->missing <= 0 && !d->every))
            continue;
        group->missing -= it->weight;
        it->at = w;
        assigned = true;
        rc = assign_all(d, k + 1);
        group->missing += it->weight;
    }
    if (rc == 0 && !(d->every && assigned)) {
        it->at = WEIR_NONE;
        rc = assign_all(d, k + 1);
    }
    open_item(d, it, 1);
    return rc;
}

/* Chooses `left` units of groups from number `from` on. Returns 1, 0 or negative. */
static int choose(struct assignment *d, uint32_t from, int64_t left)
{
    uint32_t *before;
    int rc = 0;

    if (left <= 0)
        return d->order ? assign_all(d, 0) : accept(d);
    before = weir_mem_alloc(((size_t)d->nitems + 1) * sizeof *before);
    if (!before)
        return WEIR_ENOMEM;
    save(d, before);
    for (uint32_t i = from; rc == 0 && i < d->ngroups; i++) {
        int64_t size = kind_of(d->g, d->groups[i].v)->size;
        if (d->groups[i].all < d->each)
            continue;
        d->groups[i].chosen = true;
        d->groups[i].missing = d->order ? d->each - d->groups[i].own : 0;
        rc = d->visits > ASSIGN_VISITS ? WEIR_ELIMIT : d->order || serve(d, i) ? choose(d, i + 1, left - size) : 0;
        d->groups[i].chosen = false;
        d->groups[i].missing = 0;
        if (rc == 0)
            restore(d, before);
        d->visits += d->nitems / 16;
    }
    weir_mem_free(before);
    return rc;
}

static int by_weight(const void *a, const void *b, void *data)
{
    const struct assign_item *items = data;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    if (items[i].weight != items[k].weight)
        return items[i].weight > items[k].weight ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* Makes d->order, where items bring different numbers of units, and counts what is open to groups. */
static int order_items(struct assignment *d, bool *several)
{
    bool differ = false;
    int64_t weight = 0;

    *several = false;
    for (uint32_t i = 0; i < d->nitems; i++) {
        const struct assign_item *it = &d->items[i];
        if (it->nways == 0)
            continue;
        differ |= weight && it->weight != weight;
        weight = it->weight;
        *several |= weight > 1;
    }
    d->every = d->window.skip > 0;
    d->skip = d->every ? d->window.skip - 1 : 0;
    if (!differ && !d->every)
        return WEIR_OK;
    d->order = weir_mem_alloc(((size_t)d->nitems + 1) * sizeof *d->order);
    if (!d->order)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < d->nitems; i++)
        if (d->items[i].nways) {
            d->order[d->norder++] = i;
            open_item(d, &d->items[i], 1);
        }
    qsort_r(d->order, d->norder, sizeof *d->order, by_weight, d->items);
    return WEIR_OK;
}

/* Whether there is enough for all groups together. */
static bool is_enough(const struct assignment *d)
{
    int64_t sum = 0, fit = 0, largest = 1;

    for (uint32_t i = 0; i < d->ngroups; i++) {
        int64_t size = kind_of(d->g, d->groups[i].v)->size;
        fit += d->groups[i].all >= d->each ? size : 0;
        sum += d->groups[i].own < d->each ? d->groups[i].own : d->each;
        largest = size > largest ? size : largest;
    }
    for (uint32_t i = 0; i < d->nitems; i++)
        sum += d->items[i].nways ? d->items[i].weight : 0;
    return fit >= d->wanted && sum >= saturating_mul(d->each, (d->wanted - 1) / largest + 1);
}

static void end(struct assignment *d)
{
    WEIR_FREE(d->items, d->ways, d->groups, d->queue, d->order, d->verdicts, d->choice);
    weir_map32_free(&d->item_numbers);
    weir_map32_free(&d->group_numbers);
}

/* ---- ways that are open ---- */

static int begin(struct assignment *d)
{
    size_t n = (size_t)d->g->limit + 1;
    bool asks = d->need && (d->window.policy || weir_request_constraint(d->request));

    d->choice = weir_mem_alloc(n * sizeof *d->choice);
    d->verdicts = asks ? weir_mem_zalloc(n, sizeof *d->verdicts) : NULL;
    if (!d->choice || (asks && !d->verdicts))
        return WEIR_ENOMEM;
    for (size_t i = 0; i < n; i++)
        d->choice[i] = WEIR_NONE;
    return WEIR_OK;
}

/* Whether nothing closes or excludes v, a vertex on a way. Returns 1, 0 or negative. */
static int passes(void *data, weir_vertex v)
{
    struct assignment *d = data;

    return is_open(d, v, above(d, v)) ? keeps(d, v, above(d, v), d->group ? d->group : d->need) : 0;
}

/* Adds the assigned parents to d->choice, and gives it to the caller. */
static void give_choice(struct assignment *d, weir_vertex **choice)
{
    for (uint32_t i = 0; i < d->nitems; i++)
        if (d->items[i].at != WEIR_NONE)
            d->choice[d->items[i].v] = d->ways[d->items[i].at].parent;
    *choice = d->choice;
    d->choice = NULL;
}

/* The size of the largest vertices of a type. */
static int64_t largest_of(const weir_graph *g, weir_type t)
{
    int64_t largest = 1;

    for (uint32_t i = 0; i < g->nkinds; i++)
        if (g->kinds[i].type == t && g->kinds[i].size > largest)
            largest = g->kinds[i].size;
    return largest;
}

/* Whether the sums of the view show that no assignment serves the groups: it moves units, and adds none where all ways
 * are open. */
static bool falls_short(const struct assignment *d)
{
    const weir_graph *view = d->h->view;
    int64_t needed = saturating_mul(d->each, (d->wanted - 1) / largest_of(view, d->group_type) + 1);
    weir_aggregate a;

    if (!d->window.all && (view->unavailable > 0 || d->window.t0 > view->now))
        return false;
    for (uint32_t i = 0; weir_graph_aggregate(view, WEIR_NONE, i, &a); i++)
        if (strcmp(a.type, type_text(view, d->need_type)) == 0)
            return (d->window.all ? a.total : a.free) < needed;
    return true;
}

/* Whether a way may be closed: by a vertex that is not up, or by what the policy or the constraint exclude. What a job
 * has as a whole takes with it the vertices below by their first parents, which no other parent makes free. */
static bool may_be_closed(const struct assignment *d)
{
    return d->window.policy || weir_request_constraint(d->request) || (!d->window.all && d->h->view->unavailable > 0);
}

/* The resource whose vertices are passed to a policy where no groups are requested. */
static const weir_resource *first_resource(const weir_request *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!weir_request_resource(r, i)->slot)
            return weir_request_resource(r, i);
    return NULL;
}

int weir_assign_parents(const weir_graph *g, struct hierarchy *h, const weir_request *r, struct assign_window at,
                        weir_vertex **choice, bool *several)
{
    struct assignment d = {.g = g,
                           .h = h,
                           .window = at,
                           .request = r,
                           .group_type = WEIR_NO_TYPE,
                           .node_type = weir_type_find(h->view, "node"),
                           .subsystem = weir_subsystem_find(g, h->name)};
    uint32_t n;
    const weir_resource *list = weir_request_resources(r, &n);
    bool groups;
    int rc;

    *choice = NULL;
    *several = false;
    find_level(&d, r, list, n, 1);
    groups = d.group_type != WEIR_NO_TYPE && d.wanted > 0;
    if (groups ? falls_short(&d) : !may_be_closed(&d))
        return 0;
    d.need = d.need ? d.need : first_resource(r);
    rc = begin(&d);
    rc = rc ? rc : weir_hierarchy_open(g, h, d.choice, passes, &d);
    if (rc >= 0 && groups) {
        d.whole = takes_whole(&d, r);
        rc = list_supply(&d);
        rc = rc ? rc : order_items(&d, several);
        rc = rc || !is_enough(&d) ? rc : choose(&d, 0, d.wanted);
        *several |= d.nested;
        if (rc == 0 && at.skip > 0 && d.nested && has_shared_groups(&d))
            rc = WEIR_ELIMIT; /* no group was assigned to a parent of its own */
    }
    if (rc == 1)
        give_choice(&d, choice);
    end(&d);
    return rc;
}
