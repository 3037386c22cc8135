/* slot_host.c - rules for slots: the vertices that contain slots, and the ways in which slots are taken. */
#include "aggregate/schema.h"
#include "match/match.h"

const weir_resource *weir_slot_first(const struct match *m, const weir_resource *slot)
{
    for (uint32_t i = 0; slot->nwith > 1 && i < slot->nwith; i++)
        if (weir_flow_find(m->g, slot->with[i].type) == WEIR_NONE && !weir_direct_is(m, &slot->with[i]))
            return &slot->with[i];
    for (uint32_t i = 0; slot->nwith > 1 && i < slot->nwith; i++)
        if (weir_flow_find(m->g, slot->with[i].type) == WEIR_NONE)
            return &slot->with[i];
    return slot->with;
}

bool weir_slot_whole_pools(struct match *m, const weir_resource *slot)
{
    for (uint32_t i = 0; strict(m, WEIR_STRICT_POOLS) && i < slot->nwith; i++) {
        weir_type t = weir_match_type(m, &slot->with[i]);
        if (t != WEIR_NO_TYPE && (m->g->types[t].flags & TYPE_POOLED))
            return true;
    }
    return false;
}

static bool is_within_type(const weir_graph *g, weir_vertex v, weir_type t)
{
    return vertex_at_or_above(g, v, t) != WEIR_NONE;
}

/* Whether all resources of a slot are inside vertices of a type. */
static bool is_inside(struct match *m, const weir_resource *slot, weir_type outer)
{
    for (uint32_t i = 0; i < slot->nwith; i++) {
        weir_type t = weir_match_type(m, &slot->with[i]);
        if (weir_flow_find(m->g, slot->with[i].type) == WEIR_NONE &&
            (t == WEIR_NO_TYPE || !weir_type_above(m->g, outer, t)))
            return false;
    }
    return true;
}

/* Whether v could hold a slot if nothing of v were in use. */
static bool could_hold(struct match *m, weir_vertex v, const weir_resource *slot)
{
    const struct inner *in = inner_of(m->g, v);
    uint32_t n;
    const struct weir_need *needs = weir_resource_needs(m->ask.request, slot->index, &n);

    m->result.stats.visited++;
    for (uint32_t i = 0; i < n; i++) {
        weir_type t = weir_match_type_named(m, needs[i].type);
        uint32_t cell =
            t == WEIR_NO_TYPE || !in || !in->cells ? 0 : type_cell(aggregates_in(m->g)->schemas[in->schema], t);
        if (weir_flow_find(m->g, needs[i].type) == WEIR_NONE &&
            (cell ? in->cells[cell + TYPE_TOTAL] : 0) < needs[i].amount)
            return false;
    }
    return true;
}

/* Whether a vertex of type t below v could hold a slot. */
static bool one_could_hold(struct match *m, weir_vertex v, weir_type t, const weir_resource *slot)
{
    const struct inner *in = inner_of(m->g, v);

    if (!in || !in->cells || !type_cell(aggregates_in(m->g)->schemas[in->schema], t))
        return false;
    for (uint32_t i = 0; i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid != WEIR_NONE &&
            ((kind_of(m->g, kid)->type == t && could_hold(m, kid, slot)) || one_could_hold(m, kid, t, slot)))
            return true;
    }
    return false;
}

/* The type of hosts by the policy's locality, below a vertex. */
static weir_type local_host(struct match *m, weir_vertex under, const weir_resource *slot)
{
    for (uint32_t i = 0; m->scope.view != VIEW_ALL && i < m->ask.policy->nlocality && under != WEIR_NONE; i++) {
        weir_type t = weir_type_find(m->g, m->ask.policy->locality[i]);
        if (t == WEIR_NO_TYPE)
            continue;
        if (is_within_type(m->g, under, t))
            return WEIR_NO_TYPE;
        if (is_inside(m, slot, t) && one_could_hold(m, under, t, slot))
            return t;
    }
    return WEIR_NO_TYPE;
}

/* Whether a slot is a single vertex, which then is the host. */
static bool is_single(const weir_resource *slot)
{
    return slot->nwith == 1 && slot->with->count.min == 1 && count_limit(&slot->with->count) == 1;
}

bool weir_slot_children_only(const struct match *m, const weir_resource *slot)
{
    return slot->any || (strict(m, WEIR_STRICT_SLOTS) && !is_single(slot));
}

bool weir_slot_is_parent(struct match *m, weir_vertex v, const weir_resource *slot)
{
    const struct inner *in = v == WEIR_NONE ? NULL : inner_of(m->g, v);
    uint32_t found = 0, wanted = 0;

    for (uint32_t i = 0; in && i < slot->nwith; i++) {
        weir_type t = weir_match_type(m, &slot->with[i]);
        uint32_t k = 0;
        if (weir_flow_find(m->g, slot->with[i].type) != WEIR_NONE)
            continue;
        wanted++;
        while (k < in->nkids && (in->kids[k] == WEIR_NONE || kind_of(m->g, in->kids[k])->type != t))
            k++;
        found += k < in->nkids;
    }
    return wanted > 0 && found == wanted;
}

weir_type weir_slot_host(struct match *m, weir_vertex under, const weir_resource *slot)
{
    const weir_resource *first = weir_slot_first(m, slot);

    if (is_single(slot) && (under == WEIR_NONE || !strict(m, WEIR_STRICT_LEVELS)))
        return WEIR_NO_TYPE;
    if (weir_flow_find(m->g, first->type) != WEIR_NONE)
        return WEIR_NO_TYPE;
    if (strict(m, WEIR_STRICT_SLOTS))
        return weir_slot_is_parent(m, under, slot) ? WEIR_NO_TYPE : SEARCH_PARENT;
    if (m->ask.node_type != WEIR_NO_TYPE && is_inside(m, slot, m->ask.node_type) &&
        !is_within_type(m->g, under, m->ask.node_type))
        return m->ask.node_type;
    return local_host(m, under, slot);
}

/* ---- slots with a part outside nodes ---- */

static bool lies_inside(struct match *m, const weir_resource *r)
{
    weir_type t = weir_match_type(m, r);

    return weir_flow_find(m->g, r->type) != WEIR_NONE ||
           (t != WEIR_NO_TYPE && weir_type_above(m->g, m->ask.node_type, t));
}

/* Whether r requests nodes, or what contains nodes. */
static bool holds_nodes(struct match *m, const weir_resource *r)
{
    weir_type t = weir_match_type(m, r);

    return t != WEIR_NO_TYPE && (t == m->ask.node_type || weir_type_above(m->g, t, m->ask.node_type));
}

static weir_resource part_of(const weir_resource *slot, const weir_resource *with, uint32_t n)
{
    weir_resource part = *slot;

    part.index = RESOURCE_NONE;
    part.with = with;
    part.nwith = n;
    part.count = (weir_count){.min = slot->count.min, .max = slot->count.min, .op = '+', .operand = 1};
    return part;
}

static struct divided_slot *divide(struct match *m, const weir_resource *slot, uint32_t ninside)
{
    struct divided_slot *d = weir_mem_alloc(sizeof *d + slot->nwith * sizeof *d->with);
    uint32_t n[2] = {0, ninside};

    if (!d)
        return NULL;
    for (uint32_t i = 0; i < slot->nwith; i++)
        d->with[n[!lies_inside(m, &slot->with[i])]++] = slot->with[i];
    d->slot = slot;
    d->inside = part_of(slot, d->with, ninside);
    d->outside = part_of(slot, d->with + ninside, slot->nwith - ninside);
    d->next = m->known.divided;
    m->known.divided = d;
    return d;
}

int weir_slot_divide(struct match *m, weir_vertex under, const weir_resource *slot, const struct divided_slot **out)
{
    struct divided_slot *d = m->known.divided;
    uint32_t ninside = 0;

    *out = NULL;
    if (slot->nwith < 2 || m->ask.node_type == WEIR_NO_TYPE || strict(m, WEIR_STRICT_SLOTS) ||
        is_within_type(m->g, under, m->ask.node_type))
        return WEIR_OK;
    for (uint32_t i = 0; i < slot->nwith; i++) {
        if (holds_nodes(m, &slot->with[i]))
            return WEIR_OK;
        ninside += lies_inside(m, &slot->with[i]);
    }
    if (ninside == 0 || ninside == slot->nwith)
        return WEIR_OK;
    while (d && d->slot != slot)
        d = d->next;
    *out = d ? d : divide(m, slot, ninside);
    if (!*out)
        return weir_fail_nomem(m->err);
    if (weir_slot_host(m, under, &(*out)->inside) == WEIR_NO_TYPE)
        *out = NULL; /* a single vertex per slot is in one node anyway */
    return WEIR_OK;
}

void weir_slots_undivide(struct match *m)
{
    while (m->known.divided) {
        struct divided_slot *d = m->known.divided;
        m->known.divided = d->next;
        weir_mem_free(d);
    }
}
