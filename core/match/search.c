/* search.c - best-first search over rows. Invariant: each item's key is not before the key of any item taken earlier,
 * as long as the policy's order is kept by the index. */
#include "match/search.h"

#include <stdlib.h>
#include <string.h>

#include "time/schedule.h"
#include "match/match.h"
#include "aggregate/rows.h"
#include "time/availability.h"

/* ---- edges that are followed ---- */

/* Whether what r asks for may be what edges lead to from `under`. */
static bool follows(const struct match *m, weir_vertex under, const weir_resource *r)
{
    return m->links != WEIR_NONE && under != WEIR_NONE && r->parent && !r->parent->slot &&
           weir_candidate_passes(m, under, r->parent);
}

/* ---- what aggregates tell ---- */

/* Shared use needs no free units: only exclusive holds are in its way. */
static bool is_shared(const weir_resource *r)
{
    return r->exclusive == WEIR_EXCLUSIVE_NO && r->nwith == 0;
}

/* The cell of a type, and of a pair, that bounds what can be had in a view. */
static uint32_t cell_for(const struct search *s)
{
    if (s->m->view != VIEW_NOW || is_shared(s->r))
        return TYPE_TOTAL;
    return s->idle ? TYPE_IDLE : TYPE_FREE;
}

/* Notes what there is too little of; false. */
static bool lacks(struct search *s, const char *type, int64_t need, int64_t have)
{
    s->lack = (struct lack){type, need, have};
    return false;
}

static bool row_hopeful(struct search *s, const struct schema *sc, const int64_t *cells)
{
    uint32_t cell = type_cell(sc, s->type), pair_cell = s->m->view == VIEW_NOW ? PAIR_FREE : PAIR_TOTAL;

    if (!cell || cells[cell + cell_for(s)] <= 0)
        return lacks(s, s->r->type, 1, 0);
    for (uint32_t i = 0; i < s->nneeds; i++) {
        uint32_t pair = s->outer == SEARCH_PARENT ? 0 : weir_pair_cell(sc, s->outer, s->needs[i].type);
        if (pair && cells[pair + pair_cell] < s->needs[i].amount)
            return lacks(s, s->needs[i].name, s->needs[i].amount, cells[pair + pair_cell]);
    }
    return true;
}

static bool below_hopeful(struct search *s, weir_vertex v)
{
    const struct inner *in = inner_of(s->m->g, v);
    return in && in->cells && row_hopeful(s, s->m->g->aggregates->schemas[in->schema], in->cells);
}

/* Whether v itself, a vertex of the type, may do. */
static bool vertex_hopeful(struct search *s, weir_vertex v)
{
    const weir_graph *g = s->m->g;
    const struct inner *in = inner_of(g, v);
    const struct schema *sc;

    if (s->nneeds == 0)
        return true;
    if (!in || !in->cells)
        return lacks(s, s->needs[0].name, s->needs[0].amount, 0);
    sc = schema_at(g, in->schema);
    for (uint32_t i = 0; i < s->nneeds; i++) {
        uint32_t cell = type_cell(sc, s->needs[i].type);
        int64_t have = cell ? in->cells[cell + (s->m->view == VIEW_NOW ? TYPE_FREE : TYPE_TOTAL)] : 0;
        if (have < s->needs[i].amount)
            return lacks(s, s->needs[i].name, s->needs[i].amount, have);
    }
    return true;
}

/* ---- going down ---- */

/* Whether it is known that somebody has v at some time in the window, or that it is no use. */
static bool is_masked(const struct search *s, weir_vertex v)
{
    const struct match *m = s->m;
    return m->has_busy_mask && m->view <= VIEW_LATER && kind_of(m->g, v)->type == m->calendar->type &&
           (s->type == m->calendar->type || m->has_fit_index) && occupancy_busy(m->g, m->calendar, v);
}

/* The first candidate that v offers: itself or below it. In a view other than now the index holds every vertex. */
static int push_kid(struct search *s, weir_vertex v)
{
    bool typed = kind_of(s->m->g, v)->type == s->type;
    weir_vertex key = weir_index_offer(s->m->g, s->index, v);

    if (key == WEIR_NONE || is_masked(s, v))
        return WEIR_OK;
    if (s->bit.born && inner_of(s->m->g, v) && weir_nogood_row(s, inner_of(s->m->g, v)->row, &key)) {
        note(s->m, WEIR_EVENT_PRUNED, v, s->r);
        return WEIR_OK;
    }
    if (typed)
        return weir_search_push(s, (struct item){.key = key, .vertex = v, .kind = ITEM_VERTEX});
    return weir_search_push(s, (struct item){.key = key, .vertex = v, .kind = ITEM_BELOW});
}

/* Whether the nodes that the constraint allows are known, and tell where not to go. */
static bool is_fenced(struct search *s)
{
    if (!s->m->allowed)
        return false;
    if (s->filter == FILTER_UNKNOWN)
        s->filter = weir_filter_matters(s) ? FILTER_ACTIVE : FILTER_IDLE;
    return s->filter == FILTER_ACTIVE;
}

/* The kids of v, or the roots, from `begin` to `end`. */
static int push_kids(struct search *s, const weir_vertex *kids, uint32_t begin, uint32_t end)
{
    bool fenced = is_fenced(s);
    int rc = WEIR_OK;

    for (uint32_t i = begin; !rc && i < end; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        if (fenced && weir_filter_excludes(s->m, kids[i]))
            note(s->m, WEIR_EVENT_CONSTRAINT, kids[i], s->r);
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

    if (key == WEIR_NONE)
        return WEIR_OK;
    if (weir_nogood_row(s, in->row + row, &key))
        note(s->m, WEIR_EVENT_PRUNED, v, s->r);
    else if (!row_hopeful(s, schema_at(g, in->schema), row_cells(g, in, row)))
        note_lack(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->lack);
    else if (is_fenced(s) && weir_filter_excludes_row(s->m, in, row))
        note(s->m, WEIR_EVENT_CONSTRAINT, v, s->r);
    else
        return weir_search_push(s, (struct item){.key = key, .vertex = v, .row = row, .kind = ITEM_ROW, .level = level});
    return WEIR_OK;
}

static int push_entries(struct search *s, weir_vertex v, uint32_t level, uint32_t row)
{
    const struct inner *in = inner_of(s->m->g, v);
    struct levels lv;
    uint32_t begin, end;
    int rc = s->m->stats.constraint >= FILTER_AFTER && s->m->store_type == WEIR_NO_TYPE ? weir_filter_prepare(s->m) : WEIR_OK;

    weir_levels_of(in->rows_cap, &lv);
    if (rc)
        return rc;
    if (search_descends(s))
        return push_kids(s, in->kids, 0, in->nkids);
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
        s->gathers = true;
        rc = push_entries(s, v, level, row);
        rc = weir_search_gathered(s) && !rc ? WEIR_ENOMEM : rc;
    }
    if (rc)
        s->noted = false;
    else
        weir_nogood_opened(s);
    return rc;
}

/* Whether somebody has v as a whole, or anything of it where it is only given as a whole. */
static bool taken(const struct match *m, weir_vertex v)
{
    if (weir_candidate_whole(m, v))
        return !weir_availability_unused(m->g, v, m->t0, m->t1);
    return schedule_of(m->g, v) && weir_schedule_touched(m->g, v, m->t0, m->t1, true);
}

/* Whether constraints are about vertices such as v. */
static bool is_subject(const struct match *m, weir_vertex v)
{
    weir_type t = kind_of(m->g, v)->type;
    return t == m->node_type || t == m->store_type;
}

/* Whether the constraint refuses v, or all nodes that are below it. */
static bool refused(struct search *s, weir_vertex v)
{
    const struct match *m = s->m;
    const weir_constraint *c = weir_request_constraint(m->request);
    const struct inner *in = inner_of(m->g, v);

    if (!c)
        return false;
    if (is_subject(m, v))
        return !weir_constraint_match(c, m->g, v);
    return in && in->cells && is_fenced(s) && weir_filter_excludes_row(m, in, 0);
}

/* Whether the search may go to v at all: its state, who has it, the constraint, the policy. 1, 0 or negative. */
static int admit(struct search *s, weir_vertex v)
{
    struct match *m = s->m;
    const weir_graph *g = m->g;
    int go;

    if (m->view != VIEW_ALL && !state_available(vertex_at(g, v)->state)) {
        note(m, WEIR_EVENT_STATE, v, s->r);
        return 0;
    }
    if (m->view <= VIEW_LATER && taken(m, v)) {
        note(m, WEIR_EVENT_BUSY, v, s->r);
        return 0;
    }
    if (refused(s, v)) {
        note(m, WEIR_EVENT_CONSTRAINT, v, s->r);
        return 0;
    }
    if (!m->policy->prune)
        return 1;
    m->stats.callbacks++;
    go = m->policy->prune(m->policy->data, g, v, s->r);
    if (go < 0)
        return weir_match_policy_failed(m, "prune");
    if (go == 0)
        note(m, WEIR_EVENT_POLICY, v, s->r);
    return go > 0;
}

int weir_search_rejected(struct search *s, weir_vertex v)
{
    if (s->close || s->host != WEIR_NO_TYPE || !below_hopeful(s, v)) {
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
        if (weir_slot_stands(s->m, v, &s->slot[i]))
            return true;
    return false;
}

/* Whether a resource beside the one searched for is what v is there for. */
static bool is_beside(const struct search *s, weir_vertex v)
{
    const char *type = s->nbeside ? weir_vertex_type(s->m->g, v) : NULL;

    for (uint32_t i = 0; i < s->nbeside; i++) {
        const weir_resource *b = &s->beside[i];
        for (uint32_t k = 0; b->slot && k < b->nwith; k++)
            if (strcmp(b->with[k].type, type) == 0)
                return true;
        if (strcmp(b->type, type) == 0)
            return true;
    }
    return false;
}

/* Whether there is any. */
static bool has_beside(const struct search *s)
{
    return s->nbeside > 1 || (s->nbeside == 1 && s->beside->slot && s->beside->nwith > 1);
}

/* A vertex on the way down. */
static int open_vertex(struct search *s, weir_vertex v)
{
    bool host = is_host(s, v);
    int go;

    if (!host && (s->close || is_beside(s, v))) {
        weir_nogood_pass(s);
        return WEIR_OK;
    }
    if (host ? !vertex_hopeful(s, v) : !below_hopeful(s, v)) {
        note_lack(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->lack);
        weir_nogood_refuse(s, v);
        return WEIR_OK;
    }
    go = admit(s, v);
    if (go == 0)
        weir_nogood_pass(s);
    return go <= 0 || host ? go : open_row(s, v, 0, 0);
}

int weir_search_again(struct search *s, weir_vertex host, weir_vertex key, uint32_t tag)
{
    return weir_search_push(s, (struct item){.key = key, .vertex = host, .row = tag, .kind = ITEM_AGAIN});
}

/* A vertex of the type: 1 when it is to be looked at closely. */
static int weigh_vertex(struct search *s, weir_vertex v)
{
    int go;

    if (!vertex_hopeful(s, v)) {
        note_lack(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->lack);
        return weir_search_rejected(s, v);
    }
    go = admit(s, v);
    if (go == 0)
        weir_nogood_pass(s);
    return go;
}

/* Whether v, and all above it, can be come by at any time, as far as states and the constraint tell. */
static bool is_reachable(struct search *s, weir_vertex v)
{
    const struct match *m = s->m;
    const weir_constraint *c = weir_request_constraint(m->request);

    for (weir_vertex u = v; u != WEIR_NONE && u != s->open_parent; u = vertex_at(m->g, u)->parent)
        if (!state_available(vertex_at(m->g, u)->state)) {
            note(s->m, WEIR_EVENT_STATE, u, s->r);
            return false;
        } else if (c && is_subject(m, u) && !weir_constraint_match(c, m->g, u)) {
            note(s->m, WEIR_EVENT_CONSTRAINT, u, s->r);
            return false;
        }
    return true;
}

/* What is no use at one time is none at another: neither state nor constraint nor the totals below v depend on it. */
static bool is_useful(struct search *s, weir_vertex v)
{
    bool reachable = is_reachable(s, v), useful = reachable && vertex_hopeful(s, v);

    if (reachable && !useful)
        note_lack(s->m, WEIR_EVENT_PRUNED, v, s->r, &s->lack);
    if (!useful && (!reachable || s->m->single_resource))
        weir_occupancy_refuse(s->m->g, s->m->calendar, v);
    return useful;
}

/* Whether somebody has v, or what is above it: a list does not come by that on the way down. */
static bool taken_from_top(const struct search *s, weir_vertex v)
{
    if (s->idle) /* who takes a whole one looks for himself */
        v = vertex_at(s->m->g, v)->parent;
    while (v != WEIR_NONE && v != s->open_parent && !taken(s->m, v))
        v = vertex_at(s->m->g, v)->parent;
    return v != WEIR_NONE && v != s->open_parent;
}

static int next_listed(struct search *s, weir_vertex *v)
{
    struct match *m = s->m;
    weir_vertex next;

    while ((next = weir_free_list_next(&s->free_list)) != WEIR_NONE) {
        if (weir_interrupted())
            return weir_fail(m->err, WEIR_EINTERRUPTED, "interrupted");
        note(m, WEIR_EVENT_VISITED, next, s->r);
        if (!is_useful(s, next))
            continue;
        if (taken_from_top(s, next)) {
            note(m, WEIR_EVENT_BUSY, next, s->r);
            continue;
        }
        s->key = *v = next;
        s->tag = WEIR_NONE;
        s->open_parent = vertex_at(m->g, next)->parent;
        return 1;
    }
    return 0;
}

int weir_search_next(struct search *s, weir_vertex *v)
{
    if (s->free_list.calendar)
        return next_listed(s, v);
    weir_nogood_found(s);
    while (s->n > 0) {
        struct item it = weir_search_pop(s);
        int rc;
        s->from = it.from;
        note(s->m, WEIR_EVENT_VISITED, it.vertex, s->r);
        switch (weir_interrupted() ? -1 : it.kind) {
        case -1: rc = weir_fail(s->m->err, WEIR_EINTERRUPTED, "interrupted"); break;
        case ITEM_VERTEX: rc = weigh_vertex(s, it.vertex); break;
        case ITEM_BELOW: rc = open_vertex(s, it.vertex); break;
        case ITEM_AGAIN: rc = 1; break;
        default: rc = open_row(s, it.vertex, it.level, it.row); break;
        }
        s->tag = it.kind == ITEM_AGAIN ? it.row : WEIR_NONE;
        s->key = it.key;
        if (rc == 1) {
            *v = it.vertex;
            s->fits = it.from != WEIR_NONE ? it.key : WEIR_NONE;
        }
        s->noted = s->noted && rc >= 0;
        if (rc)
            return rc;
    }
    return 0;
}

void weir_search_end(struct search *s)
{
    weir_nogood_end(s);
    weir_mem_free(s->heap);
    weir_mem_free(s->behind);
    weir_mem_free(s->opened);
    s->heap = s->behind = NULL;
    s->opened = NULL;
}

/* ---- starting ---- */

static void read_needs(struct search *s, const weir_resource *r)
{
    uint32_t n;
    const struct weir_need *needs = weir_resource_needs(s->m->request, r->index, &n);

    if (s->m->links != WEIR_NONE) /* they may be met elsewhere */
        return;
    for (uint32_t i = 0; i < n && s->nneeds < SEARCH_NEEDS; i++)
        if (needs[i].amount > 0 && weir_flow_find(s->m->g, needs[i].type) == WEIR_NONE) {
            s->needs[s->nneeds].type = weir_type_find(s->m->g, needs[i].type);
            s->needs[s->nneeds].name = needs[i].type;
            s->needs[s->nneeds++].amount = needs[i].amount;
        }
}

static void read_spare(struct search *s, const char *text)
{
    if (strncmp(text, "tags.", 5) == 0) {
        s->by_tag = true;
        s->tag_key = weir_strtab_find(&s->m->g->names, text + 5, strlen(text + 5));
    }
    s->spare[s->nspare++] = weir_type_find(s->m->g, text);
}

static void prepare(struct search *s, struct match *m, const weir_resource *r, bool idle)
{
    memset(s, 0, sizeof *s);
    s->m = m;
    s->r = r;
    s->idle = idle;
    s->type = s->outer = weir_match_type(m, r);
    s->host = WEIR_NO_TYPE;
    s->open_parent = s->spare_behind = WEIR_NONE;
    for (uint32_t i = 0; view_ordered(m) && i < m->policy->ndescend && i < WEIR_DESCEND_TYPES; i++)
        read_spare(s, m->policy->descend[i]);
    if (reads(m, WEIR_STRICT_LEVELS) && (!r->parent || (r->parent->slot && !r->parent->parent)))
        s->beside = weir_request_resources(m->request, &s->nbeside);
}

/* What edges lead to from `under`, but for what is below it; as by another way, all above it has to admit that. */
static int push_linked(struct search *s, weir_vertex under)
{
    const weir_graph *g = s->m->g;
    int rc = 0;

    for (uint32_t i = weir_edge_first(g, under, s->m->links, true); rc >= 0 && i != WEIR_NONE; i = weir_edge_next(g, i, true)) {
        weir_vertex v = g->edges[i].target, up = v;
        if (kind_of(g, v)->type != s->type || weir_vertex_within(g, v, under))
            continue;
        rc = 1;
        while (rc > 0 && (up = vertex_at(g, up)->parent) != WEIR_NONE)
            rc = admit(s, up);
        weir_index_settle(g, s->index, v);
        rc = rc > 0 ? push_kid(s, v) : rc;
    }
    return rc < 0 ? rc : WEIR_OK;
}

/* Whether the candidates are all those of a calendar: these stand in order already. */
static bool is_listed(const struct search *s, weir_vertex under)
{
    const struct match *m = s->m;
    return m->has_busy_mask && m->view == VIEW_LATER && under == WEIR_NONE && s->type == m->calendar->type &&
           s->host == WEIR_NO_TYPE && !has_beside(s) && !search_descends(s) && !m->policy->prune;
}

static bool known_futile(const struct search *s, weir_vertex v)
{
    weir_vertex key = s->index->best[inner_of(s->m->g, v)->row];
    return key != WEIR_NONE && weir_nogood_row(s, inner_of(s->m->g, v)->row, &key);
}

/* Whether the candidates are few vertices that are known to have room. */
static bool is_roomy(const struct search *s, weir_vertex under)
{
    const struct match *m = s->m;
    uint64_t few = FIT_TIES;

    if (!m->has_busy_mask || !m->has_fit_index || m->view > VIEW_LATER || under != WEIR_NONE || has_beside(s) || search_descends(s) ||
        (s->host != m->calendar->type && s->type != m->calendar->type))
        return false;
    for (uint32_t i = 0; i < m->calendar->words; i++) {
        uint64_t n = (uint64_t)__builtin_popcountll(~m->calendar->busy[i]);
        if (n > few)
            return false;
        few -= n;
    }
    return true;
}

/* Puts them on the heap, where what is above them may be come by. */
static int push_roomy(struct search *s)
{
    const struct match *m = s->m;
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc >= 0 && i < m->calendar->words; i++)
        for (uint64_t left = ~m->calendar->busy[i]; rc >= 0 && left; left &= left - 1) {
            weir_vertex v = m->calendar->vertices[i * 64 + (uint32_t)__builtin_ctzll(left)], up = v;
            for (rc = 1; rc > 0 && (up = vertex_at(m->g, up)->parent) != WEIR_NONE;)
                rc = admit(s, up);
            rc = rc > 0 ? push_kid(s, v) : rc;
        }
    return rc < 0 ? rc : WEIR_OK;
}

static int begin(struct search *s, weir_vertex under)
{
    struct match *m = s->m;
    enum index_mode mode = m->view != VIEW_NOW || is_shared(s->r) ? INDEX_ANY : s->idle ? INDEX_IDLE : INDEX_FREE;
    struct index *index;
    int rc;

    if (s->type == WEIR_NO_TYPE)
        return WEIR_OK;
    rc = weir_match_index(m, view_ordered(m) && !search_descends(s), s->type, mode, &index);
    if (rc)
        return rc;
    s->index = index;
    weir_index_settle(m->g, index, under);
    if (is_listed(s, under))
        return weir_free_list_begin(&s->free_list, m->g, index, m->calendar) ? weir_fail_nomem(m->err) : WEIR_OK;
    if (is_roomy(s, under)) {
        rc = push_roomy(s);
        if (rc)
            weir_search_end(s);
        return rc;
    }
    weir_nogood_begin(s);
    if (under != WEIR_NONE)
        rc = below_hopeful(s, under) && !known_futile(s, under) ? open_row(s, under, 0, 0) : WEIR_OK;
    else if (!(rc = weir_nogood_open(s, WEIR_NONE)))
        rc = push_kids(s, m->g->roots, 0, m->g->nroots);
    if (!rc && follows(m, under, s->r))
        rc = push_linked(s, under);
    if (rc)
        weir_search_end(s);
    return rc;
}

/* Whether only the kids of `under` can serve r. */
static bool is_close(const struct match *m, weir_vertex under, const weir_resource *r)
{
    if (under == WEIR_NONE)
        return false;
    return reads(m, WEIR_STRICT_LEVELS) || (r->parent && r->parent->slot && weir_slot_close(m, r->parent));
}

int weir_search_begin(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle)
{
    prepare(s, m, r, idle);
    read_needs(s, r);
    s->close = is_close(m, under, r);
    return begin(s, under);
}

int weir_search_hosts(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                      const weir_resource *r, weir_type host)
{
    prepare(s, m, r, weir_candidate_idle(m, r));
    read_needs(s, slot);
    s->outer = s->host = host;
    s->slot = slot;
    s->nslots = 1;
    s->close = under != WEIR_NONE && reads(m, WEIR_STRICT_LEVELS);
    return begin(s, under);
}

/* Units in all of the type and of each need, below `under`. */
static int64_t units_below(const struct search *s, weir_vertex under, weir_type t, bool own)
{
    const weir_graph *g = s->m->g;
    uint32_t which = own ? cell_for(s) : s->m->view == VIEW_NOW ? TYPE_FREE : TYPE_TOTAL;
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

/* Whether there is enough below `under`; where not, s->lack tells. */
static bool enough(struct search *s, weir_vertex under, const weir_resource *r, int64_t times)
{
    int64_t have = s->type == WEIR_NO_TYPE ? 0 : units_below(s, under, s->type, true);

    if (follows(s->m, under, r))
        return true;
    if (s->type == WEIR_NO_TYPE || have < times)
        return lacks(s, s->r->type, times, have);
    for (uint32_t i = 0; i < s->nneeds; i++) {
        weir_type t = s->needs[i].type;
        int64_t need = saturating_mul(s->needs[i].amount, r->takes ? times : 1);
        have = t == WEIR_NO_TYPE ? 0 : units_below(s, under, t, false);
        if (t == WEIR_NO_TYPE || have < need)
            return lacks(s, s->needs[i].name, need, have);
    }
    return true;
}

bool weir_search_bound_ok(struct match *m, weir_vertex under, const weir_resource *r, int64_t times, bool idle)
{
    struct search s;

    prepare(&s, m, r, idle);
    read_needs(&s, r);
    note(m, WEIR_EVENT_VISITED, under, r);
    if (enough(&s, under, r, times))
        return true;
    note_lack(m, WEIR_EVENT_PRUNED, under, r, &s.lack);
    return false;
}
