/* search.c - best-first search over rows. Invariant: no item's key is before the key of an item popped earlier, as long
 * as the index keeps the order of the policy.
 */
#include "match/candidate/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/reach.h"
#include "match/match.h"
#include "time/schedule.h"
#include "aggregate/rows.h"
#include "time/availability.h"

/* ---- links ---- */

/* Whether edges from `under` may lead to vertices that serve r. */
static bool follows_links(const struct match *m, weir_vertex under, const weir_resource *r)
{
    return m->ask.links != WEIR_NONE && under != WEIR_NONE && r->parent && !r->parent->slot &&
           weir_candidate_passes(m, under, r->parent);
}

/* ---- tests by aggregates ---- */

/* Shared use needs no free units: only exclusive holders are in the way. */
static bool is_shared(const weir_resource *r)
{
    return r->exclusive == WEIR_EXCLUSIVE_NO && r->nwith == 0;
}

/* Offset of the cell that bounds the units to be had in the current view, within the cells of a type. */
static uint32_t cell_for(const struct search *s)
{
    if (s->m->scope.view != VIEW_NOW || is_shared(s->r))
        return TYPE_TOTAL;
    return s->idle_only ? TYPE_IDLE : TYPE_FREE;
}

/* Records a shortage. Returns false. */
static bool falls_short(struct search *s, const char *type, int64_t need, int64_t have)
{
    s->shortage = (struct shortage){type, need, have};
    return false;
}

/* Whether v may be a group with the units that the search is for, or is no group. */
static bool may_be_group(const struct search *s, weir_vertex v)
{
    const struct inner *in = inner_of(s->m->g, v);
    uint32_t cell;

    if (!s->groups.units || !in || !in->cells || kind_of(s->m->g, v)->type != s->groups.type)
        return true;
    cell = type_cell(schema_at(s->m->g, in->schema), s->groups.of);
    return cell && in->cells[cell + TYPE_FREE] == s->groups.units;
}

bool weir_search_row_ok(struct search *s, const struct schema *sc, const int64_t *cells)
{
    uint32_t cell = type_cell(sc, s->type), pair_cell = s->m->scope.view == VIEW_NOW ? PAIR_FREE : PAIR_TOTAL;
    uint32_t group = s->groups.units ? weir_pair_cell(sc, s->groups.type, s->groups.of) : 0;

    if (group && cells[group + PAIR_FREE] < s->groups.units)
        return falls_short(s, type_text(s->m->g, s->groups.of), s->groups.units, cells[group + PAIR_FREE]);
    if (!cell || cells[cell + cell_for(s)] <= 0)
        return falls_short(s, s->r->type, 1, 0);
    for (uint32_t i = 0; i < s->nneeds; i++) {
        uint32_t pair = s->needs_type == SEARCH_PARENT ? 0 : weir_pair_cell(sc, s->needs_type, s->needs[i].type);
        if (pair && cells[pair + pair_cell] < s->needs[i].amount)
            return falls_short(s, s->needs[i].name, s->needs[i].amount, cells[pair + pair_cell]);
    }
    return true;
}

static bool below_bound_ok(struct search *s, weir_vertex v)
{
    const struct inner *in = inner_of(s->m->g, v);
    return in && in->cells && weir_search_row_ok(s, aggregates_in(s->m->g)->schemas[in->schema], in->cells);
}

bool weir_search_vertex_ok(struct search *s, weir_vertex v)
{
    const weir_graph *g = s->m->g;
    const struct inner *in = inner_of(g, v);
    const struct schema *sc;

    if (s->nneeds == 0)
        return true;
    if (!in || !in->cells)
        return falls_short(s, s->needs[0].name, s->needs[0].amount, 0);
    sc = schema_at(g, in->schema);
    for (uint32_t i = 0; i < s->nneeds; i++) {
        uint32_t cell = type_cell(sc, s->needs[i].type);
        int64_t have = cell ? in->cells[cell + (s->m->scope.view == VIEW_NOW ? TYPE_FREE : TYPE_TOTAL)] : 0;
        if (have < s->needs[i].amount)
            return falls_short(s, s->needs[i].name, s->needs[i].amount, have);
    }
    return true;
}

/* ---- tests by flows ---- */

/* Whether v, or a vertex below v, may get the units that a candidate needs. */
static bool is_reached(const struct search *s, weir_vertex v)
{
    for (uint32_t i = 0; i < s->nflows; i++)
        if (!weir_flow_reaches(s->m->g, s->flows[i].reach, v, s->flows[i].least))
            return false;
    return true;
}

/* Whether an entry of a row of the children of v, or a vertex below, may get the units that a candidate needs. */
static bool is_row_reached(const struct search *s, weir_vertex v, uint32_t row)
{
    for (uint32_t i = 0; i < s->nflows; i++)
        if (!weir_flow_reaches_row(s->m->g, s->flows[i].reach, v, row, s->flows[i].least))
            return false;
    return true;
}

/* ---- going down ---- */

/* Whether the occupancy knows v, or a host, to be held at some time in the window, or to be useless. */
static bool is_known_busy(const struct search *s, weir_vertex v)
{
    const struct match *m = s->m;
    return m->known.masked && m->scope.view <= VIEW_RESERVED && kind_of(m->g, v)->type == m->known.occupancy->type &&
           (s->type == m->known.occupancy->type || match_has_fits(m)) && occupancy_busy(m->g, m->known.occupancy, v);
}

/* Whether an item belongs to the segment of the order that is searched. A row, or a vertex above candidates, may
 * belong to both segments; a candidate belongs to one, and a host to that of the last vertex below. `key`: the first
 * candidate; `last`: the last key of the item. Where vertex numbers are not in the order of the tree, the first
 * candidate need not have the lowest one, so what is not whole may belong to the segment before the turn. */
static bool in_segment(const struct search *s, weir_vertex key, double last, bool whole)
{
    double turn = *s->m->ask.policy->turn;

    if (s->segment == FROM_TURN)
        return last >= turn;
    return whole ? last < turn : s->m->g->shuffled || weir_order_first(s->m->g, &s->index->order, key) < turn;
}

static bool is_host(const struct search *s, weir_vertex v);

/* Whether v belongs to the segment. */
static bool kid_in_segment(const struct search *s, weir_vertex v, weir_vertex key, bool typed)
{
    const struct inner *in = inner_of(s->m->g, v);

    if (typed)
        return in_segment(s, v, weir_order_first(s->m->g, &s->index->order, v), true);
    return in_segment(s, key, s->index->last[in->row], s->slot && is_host(s, v));
}

/* Pushes v with the first candidate at or below v as key. In views other than VIEW_NOW the index holds every vertex. */
static int push_kid(struct search *s, weir_vertex v)
{
    bool typed = kind_of(s->m->g, v)->type == s->type;
    weir_vertex key = weir_index_offer(s->m->g, s->index, v);

    if (key == WEIR_NONE || is_known_busy(s, v) || !may_be_group(s, v) ||
        (s->segment && !kid_in_segment(s, v, key, typed)))
        return WEIR_OK;
    if (s->learner.bit.born && inner_of(s->m->g, v) && weir_nogood_row(s, inner_of(s->m->g, v)->row, &key)) {
        count_event(s->m, WEIR_EVENT_PRUNED, v, s->r);
        return WEIR_OK;
    }
    if (s->nflows && !is_reached(s, v)) {
        count_event(s->m, WEIR_EVENT_PRUNED, v, s->r);
        return WEIR_OK;
    }
    if (typed)
        return weir_search_push(s, (struct frontier_item){.key = key, .vertex = v, .kind = ITEM_VERTEX});
    return weir_search_push(s, (struct frontier_item){.key = key, .vertex = v, .kind = ITEM_BELOW});
}

/* Whether the allowed nodes are known, and can exclude rows for this search. */
static bool is_filtered(struct search *s)
{
    if (!s->m->known.allowed)
        return false;
    if (s->filter == FILTER_UNKNOWN)
        s->filter = weir_filter_matters(s) ? FILTER_ACTIVE : FILTER_IDLE;
    return s->filter == FILTER_ACTIVE;
}

/* Pushes the children, or roots, number `begin` to `end`. */
static int push_kids(struct search *s, const weir_vertex *kids, uint32_t begin, uint32_t end)
{
    bool filtered = is_filtered(s);
    int rc = WEIR_OK;

    for (uint32_t i = begin; !rc && i < end; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        if (filtered && weir_filter_excludes(s->m, kids[i]))
            count_event(s->m, WEIR_EVENT_CONSTRAINT, kids[i], s->r);
        else
            rc = push_kid(s, kids[i]);
    }
    return rc;
}

static int push_row(struct search *s, weir_vertex v, uint32_t row, uint8_t level)
{
    const weir_graph *g = s->m->g;
    const struct inner *in = inner_of(g, v);
    weir_vertex key = s->index->best[in->row + row];

    if (key == WEIR_NONE || (s->segment && !in_segment(s, key, s->index->last[in->row + row], false)))
        return WEIR_OK;
    if (weir_nogood_row(s, in->row + row, &key))
        count_event(s->m, WEIR_EVENT_PRUNED, v, s->r);
    else if (!weir_search_row_ok(s, schema_at(g, in->schema), row_cells(g, in, row)))
        count_shortage(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->shortage);
    else if (is_filtered(s) && weir_filter_excludes_row(s->m, in, row))
        count_event(s->m, WEIR_EVENT_CONSTRAINT, v, s->r);
    else if (s->nflows && !is_row_reached(s, v, in->row + row))
        count_event(s->m, WEIR_EVENT_PRUNED, v, s->r);
    else
        return weir_search_push(
            s, (struct frontier_item){.key = key, .vertex = v, .row = row, .kind = ITEM_ROW, .level = level});
    return WEIR_OK;
}

static int push_entries(struct search *s, weir_vertex v, uint32_t level, uint32_t row)
{
    const struct inner *in = inner_of(s->m->g, v);
    struct levels lv;
    uint32_t begin, end;
    bool filter = s->m->result.stats.constraint >= FILTER_AFTER && s->m->ask.store_type == WEIR_NO_TYPE;
    int rc = filter ? weir_filter_prepare(s->m) : WEIR_OK;

    weir_levels_of(in->rows_cap, &lv);
    if (rc)
        return rc;
    if (weir_row_entries(in, &lv, level, row, &begin, &end))
        return push_kids(s, in->kids, begin, end);
    for (uint32_t i = begin; !rc && i < end; i++)
        rc = push_row(s, v, i, (uint8_t)(level == 0 ? lv.n : level - 1));
    return rc;
}

static int open_row(struct search *s, weir_vertex v, uint32_t level, uint32_t row)
{
    int rc = weir_nogood_open(s, inner_of(s->m->g, v)->row + row);

    if (!rc) {
        s->frontier.push = PUSH_NEW_RUN;
        rc = push_entries(s, v, level, row);
        rc = weir_search_gathered(s) && !rc ? WEIR_ENOMEM : rc;
    }
    if (rc)
        s->learner.active = false;
    else
        weir_nogood_opened(s);
    return rc;
}

/* Whether a job holds v as a whole in the window, or holds any part of a vertex that is only given as a whole. */
static bool is_held(const struct match *m, weir_vertex v)
{
    if (weir_candidate_whole(m, v))
        return !weir_availability_unused(m->g, v, m->window.t0, m->window.t1);
    return schedule_of(m->g, v) && weir_schedule_touched(m->g, v, m->window.t0, m->window.t1, true);
}

/* Whether constraints are about vertices of the type of v. */
static bool is_constrained(const struct match *m, weir_vertex v)
{
    weir_type t = kind_of(m->g, v)->type;
    return t == m->ask.node_type || t == m->ask.store_type;
}

/* Whether the constraint refuses v, or all nodes below v. */
static bool is_refused(struct search *s, weir_vertex v)
{
    const struct match *m = s->m;
    const weir_constraint *c = weir_request_constraint(m->ask.request);
    const struct inner *in = inner_of(m->g, v);

    if (!c)
        return false;
    if (is_constrained(m, v))
        return !weir_constraint_match(c, m->g, v);
    return in && in->cells && is_filtered(s) && weir_filter_excludes_row(m, in, 0);
}

int weir_search_admit(struct search *s, weir_vertex v)
{
    struct match *m = s->m;
    const weir_graph *g = m->g;
    int go;

    if (m->scope.view != VIEW_ALL && !state_available(vertex_at(g, v)->state)) {
        count_event(m, WEIR_EVENT_STATE, v, s->r);
        return 0;
    }
    if (m->scope.view <= VIEW_RESERVED && is_held(m, v)) {
        count_event(m, WEIR_EVENT_BUSY, v, s->r);
        return 0;
    }
    if (is_refused(s, v)) {
        count_event(m, WEIR_EVENT_CONSTRAINT, v, s->r);
        return 0;
    }
    if (!m->ask.policy->prune)
        return 1;
    go = weir_match_prune(m, s->r, v);
    if (go < 0)
        return go;
    if (go == 0)
        count_event(m, WEIR_EVENT_POLICY, v, s->r);
    return go > 0;
}

int weir_search_rejected(struct search *s, weir_vertex v)
{
    if (s->kids_only || s->host != WEIR_NO_TYPE || !below_bound_ok(s, v)) {
        weir_nogood_refuse(s, v);
        return WEIR_OK;
    }
    return open_row(s, v, 0, 0);
}

static bool is_host(const struct search *s, weir_vertex v)
{
    if (s->host != SEARCH_PARENT)
        return kind_of(s->m->g, v)->type == s->host;
    for (uint32_t i = 0; i < s->nslots; i++)
        if (weir_slot_is_parent(s->m, v, &s->slot[i]))
            return true;
    return false;
}

/* Whether the search must not enter v, as v has the type of a barred resource. */
static bool is_barred(const struct search *s, weir_vertex v)
{
    const char *type = s->nbarred ? weir_vertex_type(s->m->g, v) : NULL;

    for (uint32_t i = 0; i < s->nbarred; i++) {
        const weir_resource *b = &s->barred[i];
        for (uint32_t k = 0; b->slot && k < b->nwith; k++)
            if (strcmp(b->with[k].type, type) == 0)
                return true;
        if (strcmp(b->type, type) == 0)
            return true;
    }
    return false;
}

/* Whether any resources other than the resource searched for are barred. */
static bool has_barred(const struct search *s)
{
    return s->nbarred > 1 || (s->nbarred == 1 && s->barred->slot && s->barred->nwith > 1);
}

/* Tests a vertex above candidates, and opens its row. Returns 1 for a host to be tried, else 0 or negative. */
static int open_vertex(struct search *s, weir_vertex v)
{
    bool host = is_host(s, v);
    int go;

    if (!host && (s->kids_only || is_barred(s, v))) {
        weir_nogood_pass(s);
        return WEIR_OK;
    }
    if (host ? !weir_search_vertex_ok(s, v) : !below_bound_ok(s, v)) {
        count_shortage(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->shortage);
        weir_nogood_refuse(s, v);
        return WEIR_OK;
    }
    go = weir_search_admit(s, v);
    if (go == 0)
        weir_nogood_pass(s);
    return go <= 0 || host ? go : open_row(s, v, 0, 0);
}

int weir_search_again(struct search *s, weir_vertex host, weir_vertex key, uint32_t tag)
{
    return weir_search_push(s, (struct frontier_item){.key = key, .vertex = host, .row = tag, .kind = ITEM_AGAIN});
}

/* Tests a vertex of the type. Returns 1 for a candidate, 0 or negative. */
static int test_vertex(struct search *s, weir_vertex v)
{
    int go;

    if (!weir_search_vertex_ok(s, v)) {
        count_shortage(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->shortage);
        return weir_search_rejected(s, v);
    }
    go = weir_search_admit(s, v);
    if (go == 0)
        weir_nogood_pass(s);
    return go;
}

/* Whether states and the constraint allow v and all vertices above v at any time. */
static bool is_reachable(struct search *s, weir_vertex v)
{
    const struct match *m = s->m;
    const weir_constraint *c = weir_request_constraint(m->ask.request);

    for (weir_vertex u = v; u != WEIR_NONE && u != s->admitted; u = vertex_at(m->g, u)->parent)
        if (!state_available(vertex_at(m->g, u)->state)) {
            count_event(s->m, WEIR_EVENT_STATE, u, s->r);
            return false;
        } else if (c && is_constrained(m, u) && !weir_constraint_match(c, m->g, u)) {
            count_event(s->m, WEIR_EVENT_CONSTRAINT, u, s->r);
            return false;
        }
    return true;
}

/* Whether v can serve at any time: states, the constraint and the totals below v do not depend on time. A vertex
 * that cannot is refused for the rest of the match. Free units do depend on time, so that VIEW_NOW leaves them to the
 * caller. */
static bool is_ever_usable(struct search *s, weir_vertex v)
{
    bool reachable = is_reachable(s, v);
    bool useful = reachable && (s->m->scope.view == VIEW_NOW || weir_search_vertex_ok(s, v));

    if (reachable && !useful)
        count_shortage(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->shortage);
    if (!useful && (!reachable || s->m->known.occupancy_askers == 1))
        weir_occupancy_refuse(s->m->g, s->m->known.occupancy, v);
    return useful;
}

/* Whether v, or a vertex above v, is held: a free list does not visit the vertices on the way down. */
static bool is_held_above(const struct search *s, weir_vertex v)
{
    if (s->idle_only) /* a taker of whole vertices tests v itself */
        v = vertex_at(s->m->g, v)->parent;
    while (v != WEIR_NONE && v != s->admitted && !is_held(s->m, v))
        v = vertex_at(s->m->g, v)->parent;
    return v != WEIR_NONE && v != s->admitted;
}

int weir_search_next_free(struct search *s, weir_vertex *v)
{
    struct match *m = s->m;
    weir_vertex next;

    while ((next = weir_free_list_next(&s->free_list)) != WEIR_NONE) {
        if (weir_interrupted())
            return weir_fail(m->err, WEIR_EINTERRUPTED, "interrupted");
        count_event(m, WEIR_EVENT_VISITED, next, s->r);
        if (!is_ever_usable(s, next))
            continue;
        if (is_held_above(s, next)) {
            count_event(m, WEIR_EVENT_BUSY, next, s->r);
            continue;
        }
        s->found_key = *v = next;
        s->found_tag = WEIR_NONE;
        s->admitted = vertex_at(m->g, next)->parent;
        return 1;
    }
    return 0;
}

static int push_first(struct search *s, weir_vertex under);

/* Begins the segment of the order before the turn, once all from the turn on is searched. */
static int next_segment(struct search *s)
{
    if (s->segment != FROM_TURN || s->frontier.n > 0)
        return WEIR_OK;
    s->segment = BEFORE_TURN;
    return push_first(s, s->under);
}

int weir_search_next(struct search *s, weir_vertex *v)
{
    if (s->free_list.occupancy)
        return weir_search_next_free(s, v);
    weir_nogood_found(s);
    for (;;) {
        struct frontier_item it;
        int rc = next_segment(s);
        if (rc || s->frontier.n == 0)
            return rc;
        it = weir_search_pop(s);
        s->learner.popped_from = it.origin;
        count_event(s->m, WEIR_EVENT_VISITED, it.vertex, s->r);
        switch (weir_interrupted() ? -1 : it.kind) {
        case -1: rc = weir_fail(s->m->err, WEIR_EINTERRUPTED, "interrupted"); break;
        case ITEM_VERTEX: rc = test_vertex(s, it.vertex); break;
        case ITEM_BELOW: rc = open_vertex(s, it.vertex); break;
        case ITEM_AGAIN: rc = 1; break;
        default: rc = open_row(s, it.vertex, it.level, it.row); break;
        }
        s->found_tag = it.kind == ITEM_AGAIN ? it.row : WEIR_NONE;
        s->found_key = it.key;
        if (rc == 1) {
            *v = it.vertex;
            s->accepted_key = it.origin != WEIR_NONE ? it.key : WEIR_NONE;
        }
        s->learner.active = s->learner.active && rc >= 0;
        if (rc)
            return rc;
    }
}

void weir_search_end(struct search *s)
{
    weir_nogood_end(s);
    WEIR_FREE(s->frontier.heap, s->frontier.run_items, s->learner.opened);
    s->frontier.heap = s->frontier.run_items = NULL;
    s->learner.opened = NULL;
    if (s->index)
        s->index->searches--;
    s->index = NULL;
}

/* ---- starting ---- */

static void read_needs(struct search *s, const weir_resource *r)
{
    uint32_t n;
    const struct weir_need *needs = weir_resource_needs(s->m->ask.request, r->index, &n);

    if (s->m->ask.links != WEIR_NONE) /* linked vertices may meet the needs */
        return;
    for (uint32_t i = 0; i < n && s->nneeds < SEARCH_NEEDS; i++)
        if (needs[i].amount > 0 && weir_flow_find(s->m->g, needs[i].type) == WEIR_NONE) {
            s->needs[s->nneeds].type = weir_match_type_named(s->m, needs[i].type);
            s->needs[s->nneeds].name = needs[i].type;
            s->needs[s->nneeds++].amount = needs[i].amount;
        }
}

/* Reads the units of other subsystems that each candidate needs. A candidate that serves nothing of a resource needs
 * none for it. */
static void read_flows(struct search *s, const weir_resource *r)
{
    const struct match *m = s->m;
    uint32_t subsystem = r->slot ? WEIR_NONE : weir_flow_find(m->g, r->type), i = 0;

    if (r->any || r->count.min == 0)
        return;
    for (uint32_t k = 0; subsystem == WEIR_NONE && k < r->nwith; k++)
        read_flows(s, &r->with[k]);
    while (i < s->nflows && s->flows[i].subsystem != subsystem)
        i++;
    if (subsystem == WEIR_NONE || i == SEARCH_FLOWS)
        return;
    if (i == s->nflows && !(s->flows[i].reach = weir_flow_reach_known(m, subsystem)))
        return;
    s->nflows = i == s->nflows ? i + 1 : s->nflows;
    s->flows[i].subsystem = subsystem;
    s->flows[i].least = r->count.min > s->flows[i].least ? r->count.min : s->flows[i].least;
}

void weir_search_prepare(struct search *s, struct match *m, const weir_resource *whole, const weir_resource *r,
                         bool idle)
{
    memset(s, 0, sizeof *s);
    s->m = m;
    s->r = r;
    s->idle_only = idle;
    s->type = s->needs_type = weir_match_type(m, r);
    s->host = WEIR_NO_TYPE;
    s->admitted = s->frontier.run_free = WEIR_NONE;
    s->descends = view_ordered(m) && m->ask.policy->ndescend > 0;
    if (strict(m, WEIR_STRICT_LEVELS) && (!r->parent || (r->parent->slot && !r->parent->parent)))
        s->barred = weir_request_resources(m->ask.request, &s->nbarred);
    read_needs(s, whole);
    for (uint32_t i = 0; m->g->nsubsystems > 1 && i < whole->nwith && !whole->any; i++)
        read_flows(s, &whole->with[i]);
}

/* Pushes the vertices that edges from `under` lead to, unless they are below `under`; all vertices above each must
 * be admissible. */
static int push_linked(struct search *s, weir_vertex under)
{
    const weir_graph *g = s->m->g;
    int rc = 0;

    for (uint32_t i = weir_edge_first(g, under, s->m->ask.links, true); rc >= 0 && i != WEIR_NONE;
         i = weir_edge_next(g, i, true)) {
        weir_vertex v = g->edges[i].target, up = v;
        if (kind_of(g, v)->type != s->type || weir_vertex_within(g, v, under))
            continue;
        rc = 1;
        while (rc > 0 && (up = vertex_at(g, up)->parent) != WEIR_NONE)
            rc = weir_search_admit(s, up);
        weir_index_settle(g, s->index, v);
        rc = rc > 0 ? push_kid(s, v) : rc;
    }
    return rc < 0 ? rc : WEIR_OK;
}

/* Whether the candidates are all vertices of the occupancy, which a free list yields in order. */
static bool uses_free_list(const struct search *s, weir_vertex under)
{
    const struct match *m = s->m;
    return m->known.masked && m->scope.view == VIEW_RESERVED && under == WEIR_NONE &&
           s->type == m->known.occupancy->type && s->host == WEIR_NO_TYPE && !has_barred(s) && !search_descends(s) &&
           !m->ask.policy->prune && !s->segment;
}

static bool is_nogood(const struct search *s, weir_vertex v)
{
    weir_vertex key = s->index->best[inner_of(s->m->g, v)->row];
    return key != WEIR_NONE && weir_nogood_row(s, inner_of(s->m->g, v)->row, &key);
}

/* Whether the candidates, or hosts, are the few vertices that the fit index has left in the mask. */
static bool has_few_fits(const struct search *s, weir_vertex under)
{
    const struct match *m = s->m;
    uint64_t few = FIT_TIES;

    if (!m->known.masked || !match_has_fits(m) || m->scope.view > VIEW_RESERVED || under != WEIR_NONE ||
        has_barred(s) || search_descends(s) ||
        (s->host != m->known.occupancy->type && s->type != m->known.occupancy->type))
        return false;
    for (uint32_t i = 0; i < m->known.occupancy->words; i++) {
        uint64_t n = (uint64_t)__builtin_popcountll(~m->known.occupancy->busy[i]);
        if (n > few)
            return false;
        few -= n;
    }
    return true;
}

/* Pushes the vertices left in the mask, where all vertices above are admissible. */
static int push_fits(struct search *s)
{
    const struct match *m = s->m;
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc >= 0 && i < m->known.occupancy->words; i++)
        for (uint64_t left = ~m->known.occupancy->busy[i]; rc >= 0 && left; left &= left - 1) {
            weir_vertex v = m->known.occupancy->vertices[i * 64 + (uint32_t)__builtin_ctzll(left)], up = v;
            for (rc = 1; rc > 0 && (up = vertex_at(m->g, up)->parent) != WEIR_NONE;)
                rc = weir_search_admit(s, up);
            rc = rc > 0 ? push_kid(s, v) : rc;
        }
    return rc < 0 ? rc : WEIR_OK;
}

/* Pushes the first items, or begins the free list. */
static int push_first(struct search *s, weir_vertex under)
{
    struct match *m = s->m;
    int rc;

    if (uses_free_list(s, under))
        return weir_free_list_begin(&s->free_list, m->g, s->index, m->known.occupancy) ? weir_fail_nomem(m->err)
                                                                                       : WEIR_OK;
    if (has_few_fits(s, under))
        return push_fits(s);
    if (!s->segment) /* items outside of the segment are not pushed, and may yet serve */
        weir_nogood_begin(s);
    if (under != WEIR_NONE)
        rc = below_bound_ok(s, under) && !is_nogood(s, under) ? open_row(s, under, 0, 0) : WEIR_OK;
    else if (!(rc = weir_nogood_open(s, WEIR_NONE)))
        rc = push_kids(s, m->g->roots, 0, m->g->nroots);
    return rc || !follows_links(m, under, s->r) ? rc : push_linked(s, under);
}

/* Begins with the segment of the order from the turn of the policy on, if any. Types nested in one another have no
 * turn: a candidate and the candidates below may belong to different segments. */
static int begin_turn(struct search *s, weir_vertex under)
{
    const struct match *m = s->m;
    const weir_policy *p = m->ask.policy;

    s->under = under;
    if (!p->turn || !view_ordered(m) || weir_type_above(m->g, s->type, s->type))
        return WEIR_OK;
    if (weir_turn_check(p, m->err))
        return WEIR_EINVAL;
    s->segment = FROM_TURN;
    return weir_index_last(m->g, s->index) ? weir_fail_nomem(m->err) : WEIR_OK;
}

static int begin(struct search *s, weir_vertex under)
{
    struct match *m = s->m;
    enum index_mode mode = m->scope.view != VIEW_NOW || is_shared(s->r) ? INDEX_ANY
                           : s->idle_only                               ? INDEX_IDLE
                                                                        : INDEX_FREE;
    int rc;

    if (s->type == WEIR_NO_TYPE)
        return WEIR_OK;
    rc = weir_match_index(m, view_ordered(m), s->by.memory ? &s->by : NULL, s->type, mode, &s->index);
    if (rc)
        return rc;
    rc = begin_turn(s, under);
    if (rc)
        return rc;
    s->index->searches++;
    weir_index_settle(m->g, s->index, under);
    rc = push_first(s, under);
    if (rc)
        weir_search_end(s);
    return rc;
}

/* Whether only children of `under` can serve r. */
static bool is_close(const struct match *m, weir_vertex under, const weir_resource *r)
{
    if (under == WEIR_NONE)
        return false;
    return strict(m, WEIR_STRICT_LEVELS) || (r->parent && r->parent->slot && weir_slot_children_only(m, r->parent));
}

static const struct order_scores no_scores;

int weir_search_begin_by(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle,
                         const struct order_scores *by)
{
    weir_search_prepare(s, m, r, r, idle);
    s->by = *by;
    s->kids_only = is_close(m, under, r);
    return begin(s, under);
}

int weir_search_begin(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle)
{
    return weir_search_begin_by(s, m, under, r, idle, &no_scores);
}

bool weir_search_unscored(const struct search *s, weir_vertex v)
{
    return s->by.memory && isnan(weir_order_score_of(s->m->g, &s->index->order, v));
}

int weir_search_hosts(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                      const weir_resource *r, weir_type host)
{
    return weir_search_hosts_by(s, m, under, slot, r, host, &no_scores);
}

int weir_search_hosts_by(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                         const weir_resource *r, weir_type host, const struct order_scores *by)
{
    weir_search_prepare(s, m, slot, r, weir_candidate_idle(m, r));
    s->by = *by;
    s->needs_type = s->host = host;
    s->slot = slot;
    s->nslots = 1;
    s->kids_only = under != WEIR_NONE && strict(m, WEIR_STRICT_LEVELS);
    return begin(s, under);
}

/* Units of a type below `under` (WEIR_NONE: in all); `own`: units that the current view can give, rather than free
 * units or totals. */
static int64_t units_below(const struct search *s, weir_vertex under, weir_type t, bool own)
{
    const weir_graph *g = s->m->g;
    uint32_t which = own ? cell_for(s) : s->m->scope.view == VIEW_NOW ? TYPE_FREE : TYPE_TOTAL;
    int64_t sum = 0;

    for (uint32_t i = 0; i < (under == WEIR_NONE ? g->nroots : 1); i++) {
        weir_vertex v = under == WEIR_NONE ? g->roots[i] : under;
        const struct inner *in = v == WEIR_NONE ? NULL : inner_of(g, v);
        uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;
        sum += cell ? in->cells[cell + which] : 0;
        if (under == WEIR_NONE && v != WEIR_NONE && kind_of(g, v)->type == t)
            sum += kind_of(g, v)->size;
    }
    return sum;
}

/* Whether there are enough units below `under`; otherwise s->shortage is the reason. */
static bool enough(struct search *s, weir_vertex under, const weir_resource *r, int64_t times)
{
    int64_t have = s->type == WEIR_NO_TYPE ? 0 : units_below(s, under, s->type, true);

    if (follows_links(s->m, under, r))
        return true;
    if (s->type == WEIR_NO_TYPE || have < times)
        return falls_short(s, s->r->type, times, have);
    for (uint32_t i = 0; i < s->nneeds; i++) {
        weir_type t = s->needs[i].type;
        int64_t need = saturating_mul(s->needs[i].amount, r->takes ? times : 1);
        have = t == WEIR_NO_TYPE ? 0 : units_below(s, under, t, false);
        if (t == WEIR_NO_TYPE || have < need)
            return falls_short(s, s->needs[i].name, need, have);
    }
    return true;
}

bool weir_search_bound_ok(struct match *m, weir_vertex under, const weir_resource *r, int64_t times, bool idle)
{
    struct search s;

    weir_search_prepare(&s, m, r, r, idle);
    count_event(m, WEIR_EVENT_VISITED, under, r);
    if (enough(&s, under, r, times))
        return true;
    count_shortage(m, WEIR_EVENT_PRUNED, under, r, &s.shortage);
    return false;
}
