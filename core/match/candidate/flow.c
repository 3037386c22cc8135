/* flow.c - flows (RFC 4): a resource of a request that names a subsystem, such as power=2 or pfs1=4, takes units of
 * distribution units on the ways from the sources of the subsystem to the vertex above the resource, or the vertex
 * does not fit. All demands of a match share one flow (core/flow): a vertex is refused only where no flow serves it
 * in addition to the vertices chosen so far.
 *
 * A demand is one pick without units, on a distribution unit next to the vertex, with a stamp. So the picks record
 * which demands hold; what the ways take follows at the end (weir_flow_place).
 *
 * Invariant: units of a distribution unit picked otherwise when the network first looks at the unit count as used.
 */
#include "match/candidate/flow_state.h"

#include <string.h>

#include "aggregate/schema.h"
#include "flow/reach.h"
#include "time/availability.h"

static bool contained(const weir_graph *g, weir_type t)
{
    for (uint32_t i = 0; i < g->nroots; i++) {
        weir_vertex v = g->roots[i];
        const struct inner *in = v == WEIR_NONE ? NULL : inner_of(g, v);
        if (in && (kind_of(g, v)->type == t || type_cell(schema_at(g, in->schema), t)))
            return true;
    }
    return false;
}

uint32_t weir_flow_find(const weir_graph *view, const char *name)
{
    const weir_graph *g = weir_graph_edges(view);
    uint32_t s = g->nsubsystems > 1 ? weir_subsystem_find(g, name) : WEIR_NONE;
    weir_type t = s == WEIR_NONE || s == 0 ? WEIR_NO_TYPE : weir_type_find(g, name);

    if (s == WEIR_NONE || s == 0 || (t != WEIR_NO_TYPE && contained(g, t)))
        return WEIR_NONE;
    return s;
}

/* ---- networks ---- */

/* Units of a distribution unit left to the match, those that it has picked not considered: none below a vertex that a
 * job has as a whole. */
static int64_t capacity_left(const struct match *m, const struct flow_net *f, weir_vertex v)
{
    if (!weir_candidate_unit(m, v, f->r) || (m->scope.view != VIEW_ALL && !state_available(vertex_at(m->g, v)->state)))
        return 0;
    if (m->scope.view > VIEW_RESERVED)
        return kind_of(m->g, v)->size;
    return weir_availability_above(m->g, v, m->window.t0, m->window.t1)
               ? weir_availability_free(m->g, v, m->window.t0, m->window.t1)
               : 0;
}

/* Whether each edge that leaves v leads to a vertex that only this edge serves, and that passes nothing on. */
static bool serves_alone(const struct match *m, const struct flow_net *f, weir_vertex v)
{
    const weir_graph *g = weir_graph_edges(m->g);
    struct weir_ends below = weir_ends(g, v, f->subsystem, true);

    for (weir_vertex end; (end = weir_ends_next(&below)) != WEIR_NONE;) {
        struct weir_ends above = weir_ends(g, end, f->subsystem, false);
        weir_ends_next(&above);
        if (weir_map32_get(&f->layout->numbers, end) != WEIR_NONE || weir_ends_next(&above) != WEIR_NONE)
            return false;
    }
    return true;
}

/* The capacity of a unit. The remainder of a unit that alone serves its vertices, beyond a multiple of the step,
 * is useless. */
static int64_t capacity_of(void *context, weir_vertex v)
{
    const struct flow_net *f = context;
    int64_t capacity = capacity_left(f->m, f, v);

    capacity = capacity > 0 ? capacity : 0;
    if (f->m->progress.flow && (f->m->progress.flow->mixed || f->m->progress.flow->shared))
        return capacity;
    return f->step > 1 && capacity % f->step && serves_alone(f->m, f, v) ? capacity - capacity % f->step : capacity;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A number that divides the units of each demand in a subsystem. */
static int64_t find_step(const struct match *m, uint32_t subsystem)
{
    int64_t step = 0;

    for (uint32_t i = 0; i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        if (r->slot || weir_flow_find(m->g, r->type) != subsystem)
            continue;
        if (count_varies(&r->count) && r->count.max < WEIR_FOREVER / 2)
            return 1;
        step = common_divisor(step, r->count.min);
    }
    return step;
}

/* Counts on the way down a request: all of them; those down to the last vertex but one, and down to the last one. */
struct flow_levels {
    int64_t all, outer, inner;
    const weir_resource *group, *last; /* the last vertex but one, and the last */
};

/* The resource whose vertices are the groups of demands in a subsystem (struct flow_net); NULL: there are none. */
static const weir_resource *find_group(const struct match *m, uint32_t subsystem, const weir_resource *list, uint32_t n,
                                       struct flow_levels at)
{
    const weir_resource *group = NULL;

    for (uint32_t i = 0; !group && i < n; i++) {
        const weir_resource *r = &list[i];
        struct flow_levels below = at;
        below.all = saturating_mul(at.all, count_limit(&r->count));
        if (!r->slot)
            below = (struct flow_levels){below.all, at.inner, below.all, at.last, r};
        if (!r->slot && weir_flow_find(m->g, r->type) == subsystem)
            group = at.outer > 1 ? at.group : NULL;
        else
            group = find_group(m, subsystem, r->with, r->nwith, below);
    }
    return group;
}

static weir_type group_type(const struct match *m, uint32_t subsystem)
{
    uint32_t n;
    const weir_resource *list = weir_request_resources(m->ask.request, &n);
    const weir_resource *group =
        find_group(m, subsystem, list, n, (struct flow_levels){.all = 1, .outer = 1, .inner = 1});

    return group ? weir_type_find(m->g, group->type) : WEIR_NO_TYPE;
}

static void net_free(struct flow_net *f)
{
    weir_flow_network_free(f->w);
    weir_mem_free(f->stack);
    weir_mem_free(f->refused);
    weir_mem_free(f->reserved);
    weir_mem_free(f);
}

static bool same_unit(const weir_resource *a, const weir_resource *b)
{
    return a == b || strcmp(a->unit ? a->unit : "", b->unit ? b->unit : "") == 0;
}

static struct flow_net *find_net(struct match *m, uint32_t subsystem, const weir_resource *r)
{
    struct flow_state *s = m->progress.flow;

    for (struct flow_net *f = s ? s->nets : NULL; f; f = f->next)
        if (f->subsystem == subsystem && same_unit(f->r, r))
            return f;
    return NULL;
}

struct flow_net *weir_flow_net(struct match *m, uint32_t subsystem, const weir_resource *r)
{
    struct flow_net *f = find_net(m, subsystem, r);

    if (f)
        return f;
    if (!m->progress.flow)
        m->progress.flow = weir_mem_zalloc(1, sizeof *m->progress.flow);
    f = m->progress.flow ? weir_mem_zalloc(1, sizeof *f) : NULL;
    if (!f)
        return NULL;
    *f = (struct flow_net){.m = m, .subsystem = subsystem, .r = r, .step = find_step(m, subsystem)};
    f->group = group_type(m, subsystem);
    f->layout = weir_flow_layout(weir_graph_edges(m->g), subsystem);
    if (f->layout)
        f->w = weir_flow_network_new(weir_graph_edges(m->g), f->layout, WEIR_NONE, capacity_of, f);
    if (f->w && m->progress.flow->shared)
        f->reserved = weir_mem_zalloc((size_t)f->layout->n + 1, sizeof *f->reserved);
    if (!f->w || (m->progress.flow->shared && !f->reserved)) {
        net_free(f);
        return NULL;
    }
    f->next = m->progress.flow->nets;
    return m->progress.flow->nets = f;
}

void weir_flow_reset(struct match *m)
{
    struct flow_state *s = m->progress.flow;

    while (s && s->nets) {
        struct flow_net *f = s->nets;
        s->nets = f->next;
        net_free(f);
    }
    if (s) {
        s->ndemands = s->nwaiting = 0;
        s->placing = false;
    }
}

void weir_flow_end(struct match *m)
{
    weir_flow_reset(m);
    if (m->progress.flow) {
        weir_mem_free(m->progress.flow->demands);
        weir_mem_free(m->progress.flow->direct);
        weir_mem_free(m->progress.flow->waiting);
        weir_mem_free(m->progress.flow->caps);
        weir_map32_free(&m->progress.flow->cap_numbers);
        weir_mem_free(m->progress.flow);
    }
    m->progress.flow = NULL;
}

/* ---- demands ---- */

static int push(struct match *m, struct flow_net *f, struct flow_applied a)
{
    const struct flow_applied *last;

    if (weir_array_reserve(&f->stack, &f->stack_cap, (size_t)f->nstack + 1, sizeof *f->stack))
        return weir_fail_nomem(m->err);
    last = f->nstack ? &f->stack[f->nstack - 1] : NULL;
    a.demands = last ? last->demands + (last->stamp != 0) : 0;
    f->stack[f->nstack++] = a;
    return WEIR_OK;
}

/* Applies the demand of pick number `pick`. Returns 1, 0 where it cannot be served, or negative. */
static int apply_demand(struct match *m, struct flow_net *f, uint32_t pick)
{
    const struct flow_demand *d = &m->progress.flow->demands[m->progress.details[pick].flow - 1];
    int64_t got;

    if (weir_flow_serve(f->w, d->endpoint, d->units, false, &got))
        return weir_fail_nomem(m->err);
    if (got < d->units)
        return 0;
    return push(m, f, (struct flow_applied){.pick = pick, .stamp = m->progress.details[pick].flow}) ? WEIR_ENOMEM : 1;
}

/* Whether a pick takes units of a distribution unit of the network otherwise than by a flow. */
static bool takes_directly(const struct match *m, const struct flow_net *f, uint32_t pick)
{
    const struct pick_detail *note = &m->progress.details[pick];

    return m->progress.flow->mixed && note->endpoint == WEIR_NONE && !note->nested &&
           m->progress.picks[pick].amount > 0 &&
           weir_map32_get(&f->layout->numbers, m->progress.picks[pick].vertex) != WEIR_NONE;
}

/* As apply_demand(), for a pick that takes units of a distribution unit otherwise. */
static int apply_direct(struct match *m, struct flow_net *f, uint32_t pick)
{
    const weir_pick *p = &m->progress.picks[pick];
    bool fits;

    if (!weir_candidate_unit(m, p->vertex, f->r)) /* flows of this unit do not pass there */
        return 1;
    if (weir_flow_reserve(f->w, p->vertex, p->amount, &fits))
        return weir_fail_nomem(m->err);
    if (!fits)
        return 0;
    return push(m, f, (struct flow_applied){.pick = pick, .unit = p->vertex, .amount = p->amount}) ? WEIR_ENOMEM : 1;
}

static bool holds(const struct match *m, const struct flow_applied *a)
{
    if (a->pick >= m->scope.npicks || m->progress.details[a->pick].flow != a->stamp)
        return false;
    return a->stamp || (m->progress.picks[a->pick].vertex == a->unit && m->progress.picks[a->pick].amount == a->amount);
}

/* Drops all entries of a network from number n on. */
static void drop_entries(struct flow_net *f, uint32_t n)
{
    if (n == f->nstack)
        return;
    weir_flow_drop(f->w, f->stack[n].demands);
    while (f->nstack > n) {
        const struct flow_applied *a = &f->stack[--f->nstack];
        if (a->stamp == 0)
            weir_flow_give_back(f->w, a->unit, a->amount);
    }
}

/* Takes from the units of a network what flows of other networks take of them, or gives it back. Returns 1, 0 where the
 * flows of this network have no other way, or negative. */
static int reserve_others(struct match *m, struct flow_net *f, bool none)
{
    bool fits = true;

    for (uint32_t i = 0; fits && i < f->layout->n; i++) {
        weir_vertex v = f->layout->units[i];
        int64_t sum = 0;
        for (struct flow_net *other = none ? NULL : m->progress.flow->nets; other; other = other->next) {
            int64_t through = other == f ? 0 : weir_flow_through(other->w, v);
            if (through < 0)
                return weir_fail_nomem(m->err);
            sum += through;
        }
        if (sum > f->reserved[i] && weir_flow_reserve(f->w, v, sum - f->reserved[i], &fits))
            return weir_fail_nomem(m->err);
        if (sum < f->reserved[i])
            weir_flow_give_back(f->w, v, f->reserved[i] - sum);
        f->reserved[i] = fits ? sum : f->reserved[i];
    }
    m->progress.flow->contended |= !fits;
    return fits;
}

/* Notes where `units` for v, just refused, would fit but for the flows of other networks. Returns 0 or negative. */
static int note_contended(struct match *m, struct flow_net *f, weir_vertex v, int64_t units)
{
    uint32_t demands = weir_flow_demands(f->w);
    int64_t got = 0;
    int rc = f->reserved && !m->progress.flow->contended ? reserve_others(m, f, true) : 0;

    if (rc <= 0)
        return rc;
    if (weir_flow_serve(f->w, v, units, false, &got))
        return weir_fail_nomem(m->err);
    weir_flow_drop(f->w, demands);
    m->progress.flow->contended |= got == units;
    rc = reserve_others(m, f, false);
    return rc < 0 ? rc : 0;
}

int weir_flow_follow(struct match *m, struct flow_net *f)
{
    uint32_t kept = f->nstack, from;
    int rc;

    while (kept > 0 && !holds(m, &f->stack[kept - 1]))
        kept--;
    drop_entries(f, kept);
    from = kept ? f->stack[kept - 1].pick + 1 : 0;
    rc = f->reserved && !m->progress.flow->placing ? reserve_others(m, f, false) : 1;
    for (uint32_t i = from; rc == 1 && i < m->scope.npicks; i++) {
        uint32_t stamp = m->progress.details[i].flow;
        if (stamp && m->progress.flow->demands[stamp - 1].net == f)
            rc = apply_demand(m, f, i);
        else if (!stamp && takes_directly(m, f, i))
            rc = apply_direct(m, f, i);
    }
    return rc;
}

/* Whether a vertex outside of the group of v has a flow. */
static bool other_group_served(const struct match *m, const struct flow_net *f, weir_vertex v)
{
    weir_vertex own = vertex_at_or_above(m->g, v, f->group);

    for (uint32_t i = 0; i < f->nstack; i++)
        if (f->stack[i].stamp &&
            vertex_at_or_above(m->g, m->progress.flow->demands[f->stack[i].stamp - 1].endpoint, f->group) != own)
            return true;
    return false;
}

/* Notes that a vertex got no flow, or less than it could use. Returns 0 or negative. */
static int note_refused(struct match *m, struct flow_net *f, weir_vertex v)
{
    if (weir_array_reserve(&f->refused, &f->refused_cap, (size_t)f->nrefused + 1, sizeof *f->refused))
        return weir_fail_nomem(m->err);
    f->refused[f->nrefused++] = v;
    if (f->group != WEIR_NO_TYPE && !f->crossed)
        f->crossed = other_group_served(m, f, v);
    return 0;
}

/* Records a demand that the network serves by now. Returns 1 or negative. */
static int add_demand(struct match *m, struct flow_net *f, weir_vertex v, const weir_resource *r, int64_t units)
{
    struct flow_state *s = m->progress.flow;
    struct weir_ends above = weir_ends(weir_graph_edges(m->g), v, f->subsystem, false);

    if (weir_array_reserve(&s->demands, &s->demands_cap, (size_t)s->ndemands + 1, sizeof *s->demands) ||
        push(m, f, (struct flow_applied){.pick = m->scope.npicks, .stamp = s->ndemands + 1}) ||
        weir_pick_add(m, weir_ends_next(&above), r, 0, false))
        return weir_fail_nomem(m->err);
    s->demands[s->ndemands++] = (struct flow_demand){f, v, units};
    m->progress.details[m->scope.npicks - 1].endpoint = v;
    m->progress.details[m->scope.npicks - 1].flow = s->ndemands;
    return 1;
}

int64_t weir_flow_cap(const struct match *m, uint32_t key, int64_t had)
{
    uint32_t i = m->progress.flow->ncaps ? weir_map32_get(&m->progress.flow->cap_numbers, key) : WEIR_NONE;

    return i == WEIR_NONE                         ? (m->progress.flow->chosen ? 0 : WEIR_FOREVER)
           : m->progress.flow->caps[i].most > had ? m->progress.flow->caps[i].most - had
                                                  : 0;
}

/* Units that v, which has a demand by now, may still be served. */
static int64_t cap_left(const struct match *m, weir_vertex v)
{
    int64_t had = 0;

    for (uint32_t i = 0; m->progress.flow->ncaps && i < m->scope.npicks; i++)
        if (m->progress.details[i].flow && m->progress.details[i].endpoint == v)
            had += m->progress.flow->demands[m->progress.details[i].flow - 1].units;
    return weir_flow_cap(m, v, had);
}

/* Requests units times the largest allowed count. Returns 1, 0 or negative. */
static int demand(struct match *m, struct flow_net *f, weir_vertex v, const weir_resource *r, int64_t times)
{
    int64_t n = count_most(m, &r->count), got, cap = cap_left(m, v);
    uint64_t visits = weir_flow_visits(f->w);

    if ((n > r->count.min && n >= WEIR_FOREVER / 2) || (m->progress.flow->search && n > r->count.min))
        n = r->count.min; /* "at least": no more than the minimum */
    while (n >= r->count.min && n > 0) {
        int64_t units = saturating_mul(n, times);
        got = cap;
        if (units <= cap && weir_flow_serve(f->w, v, units, false, &got))
            return weir_fail_nomem(m->err);
        m->result.stats.visited += 1 + (weir_flow_visits(f->w) - visits) / 2;
        visits = weir_flow_visits(f->w);
        if (got == units)
            return add_demand(m, f, v, r, units);
        if (n == r->count.min && note_contended(m, f, v, units))
            return WEIR_ENOMEM;
        n = weir_count_floor(&r->count, got / times < n ? got / times : n - 1);
    }
    if (n == 0 && r->count.min == 0)
        return 1;
    count_event(m, WEIR_EVENT_BUSY, v, r);
    return note_refused(m, f, v);
}

/* Resources inside a node draw from the way up from the node. */
weir_vertex weir_flow_entry(const struct match *m, weir_vertex under, uint32_t subsystem)
{
    while (under != WEIR_NONE && !weir_flow_enters(weir_graph_edges(m->g), under, subsystem))
        under = vertex_at(m->g, under)->parent;
    return under;
}

int64_t weir_flow_bound(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t most)
{
    weir_vertex v = weir_flow_entry(m, under, subsystem);
    struct flow_net *f;
    int64_t got = saturating_mul(most, r->count.min), want;
    uint32_t demands;
    int rc;

    if (v == WEIR_NONE || m->scope.view == VIEW_CAPACITY || r->count.min == 0 || most == 0)
        return most;
    f = weir_flow_net(m, subsystem, r);
    rc = f ? weir_flow_follow(m, f) : weir_fail_nomem(m->err);
    if (rc < 0)
        return rc;
    demands = weir_flow_demands(f->w);
    do { /* a refusal may report more than there is */
        want = got;
        if (weir_flow_serve(f->w, v, want, false, &got))
            return weir_fail_nomem(m->err);
    } while (got < want && got > 0);
    weir_flow_drop(f->w, demands);
    got = cap_left(m, v) < got ? cap_left(m, v) : got;
    f->hosted = true;
    return got / r->count.min < most && note_refused(m, f, v) ? WEIR_ENOMEM : got / r->count.min;
}

int64_t weir_flow_units(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r)
{
    weir_resource one = *r;

    one.count = (weir_count){.min = 1, .max = 1};
    if (m->scope.view == VIEW_CAPACITY)
        return WEIR_FOREVER / 2;
    if (weir_flow_entry(m, under, subsystem) == WEIR_NONE)
        return 0;
    if (!weir_flow_net(m, subsystem, r)) /* which keeps r, not `one` */
        return weir_fail_nomem(m->err);
    return weir_flow_bound(m, under, subsystem, &one, WEIR_FOREVER / 2);
}

int weir_flow_allocate(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t times)
{
    weir_vertex entry = weir_flow_entry(m, under, subsystem);
    struct flow_net *f;
    int rc;

    if (entry == WEIR_NONE)
        return 0;
    if (times == 0)
        return 1;
    f = weir_flow_net(m, subsystem, r);
    if (!f)
        return weir_fail_nomem(m->err);
    if (flow_surveys(m))
        return weir_survey_note(m, under, entry, saturating_mul(r->count.min, times), 1);
    m->progress.shared = true; /* a distribution unit may have several picks */
    rc = weir_flow_follow(m, f);
    return rc == 1 ? demand(m, f, entry, r, times) : rc;
}

int weir_flows_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times)
{
    int rc = 1;

    for (uint32_t i = 0; rc == 1 && i < n; i++) {
        uint32_t s = list[i].slot ? WEIR_NONE : weir_flow_find(m->g, list[i].type);
        if (list[i].slot)
            rc = weir_flows_allocate(m, under, list[i].with, list[i].nwith, saturating_mul(times, list[i].count.min));
        else if (s != WEIR_NONE)
            rc = weir_flow_allocate(m, under, s, &list[i], times);
    }
    return rc;
}

/* ---- the ways ---- */

/* Gives one pick of a demand the first share of the vertex served, and adds picks of the others. */
static int place_shares(struct match *m, uint32_t pick, const struct flow_share *shares, uint32_t n)
{
    weir_vertex endpoint = shares->endpoint;
    const weir_resource *r = weir_request_resource(m->ask.request, m->progress.picks[pick].resource);

    m->progress.picks[pick].vertex = shares->unit;
    m->progress.picks[pick].amount = shares->amount;
    for (uint32_t i = 1; i < n && shares[i].endpoint == endpoint; i++) {
        if (weir_pick_add(m, shares[i].unit, r, shares[i].amount, false))
            return WEIR_ENOMEM;
        m->progress.details[m->scope.npicks - 1].endpoint = endpoint;
    }
    return WEIR_OK;
}

/* Whether a unit has capacity for the picks that are no flow, in addition to the flow. */
static bool fits_beside(const struct match *m, const struct flow_net *f, uint32_t pick)
{
    weir_vertex v = m->progress.picks[pick].vertex;
    int64_t sum = 0;

    if (m->progress.details[pick].endpoint != WEIR_NONE || m->progress.details[pick].nested ||
        weir_map32_get(&f->layout->numbers, v) == WEIR_NONE)
        return true;
    for (uint32_t i = 0; i < m->scope.npicks; i++)
        sum += m->progress.picks[i].vertex == v ? m->progress.picks[i].amount : 0;
    return sum <= capacity_left(m, f, v);
}

/* Makes a network serve all demands among the picks. Returns 1, 0 or negative. */
static int complete(struct match *m, struct flow_net *f)
{
    int rc = weir_flow_follow(m, f);

    for (uint32_t i = 0; rc == 1 && i < f->nstack; i++)
        if (!holds(m, &f->stack[i])) { /* picks were moved: start again */
            drop_entries(f, 0);
            rc = weir_flow_follow(m, f);
        }
    return rc;
}

/* Replaces the picks of the demands of one network by picks of all ways. Returns 1, 0 or negative. */
static int place_net(struct match *m, struct flow_net *f)
{
    struct weir_map32 first = {0};
    struct flow_share *shares = NULL;
    uint32_t n = 0, npicks = m->scope.npicks;
    int rc = weir_flow_shares(f->w, &shares, &n);

    for (uint32_t i = 0; !rc && i < n; i++)
        if (i == 0 || shares[i].endpoint != shares[i - 1].endpoint)
            rc = weir_map32_add(&first, shares[i].endpoint, i);
    for (uint32_t i = 0; !rc && i < npicks; i++) {
        uint32_t at;
        if (!m->progress.details[i].flow || m->progress.flow->demands[m->progress.details[i].flow - 1].net != f)
            continue;
        at = weir_map32_get(&first, m->progress.details[i].endpoint);
        m->progress.picks[i].vertex = shares[at].unit;
        if (shares[at].amount > 0)
            rc = place_shares(m, i, &shares[at], n - at);
        shares[at].amount = 0; /* a further demand of the vertex has its units among these */
    }
    weir_mem_free(shares);
    weir_map32_free(&first);
    for (uint32_t i = 0; !rc && i < npicks; i++)
        if (!fits_beside(m, f, i))
            return 0;
    return rc ? weir_fail_nomem(m->err) : 1;
}

int64_t weir_flow_needed(const struct match *m, const struct flow_net *f)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(m->ask.request, &n);

    for (uint32_t i = 0; i < n; i++)
        if (weir_flow_find(m->g, needs[i].type) == f->subsystem)
            return needs[i].amount;
    return 0;
}

/* Adds to the needs by distance the units that the request takes directly of a type all of whose vertices are units at
 * distance `layer`. O(units) */
static void add_direct(struct match *m, const struct flow_net *f, weir_type t, uint32_t layer, int64_t *need)
{
    const struct flow_layout *l = f->layout;
    int64_t needed = weir_direct_needed(m, t), sum = 0;
    weir_aggregate a;

    for (uint32_t i = 0; needed > 0 && i < l->n; i++) {
        weir_vertex v = l->units[i];
        if (!vertex_valid(m->g, v) || kind_of(m->g, v)->type != t)
            continue;
        if (l->labels[2 * i] / 2 != layer || !weir_candidate_unit(m, v, f->r))
            return;
        sum += kind_of(m->g, v)->size;
    }
    if (needed > 0 && weir_graph_aggregate(m->g, WEIR_NONE, t, &a) && a.total == sum)
        *need += needed;
}

/* Adds the units taken directly to the needs by distance, of types of distribution units. */
static void add_all_direct(struct match *m, const struct flow_net *f, int64_t *needs, uint32_t n)
{
    for (uint32_t t = 0; m->progress.flow && m->progress.flow->mixed && t < m->g->ntypes; t++) {
        uint32_t i = 0;
        while (i < f->layout->n &&
               (!vertex_valid(m->g, f->layout->units[i]) || kind_of(m->g, f->layout->units[i])->type != t))
            i++;
        if (i < f->layout->n && f->layout->labels[2 * i] / 2 < n)
            add_direct(m, f, (weir_type)t, f->layout->labels[2 * i] / 2, &needs[f->layout->labels[2 * i] / 2]);
    }
}

/* The distance in l at which all units of `other` at distance k are; `n`: they are at several, or not below n. */
static uint32_t common_layer(const struct flow_layout *l, const struct flow_layout *other, uint32_t k, uint32_t n)
{
    uint32_t layer = n;

    for (uint32_t i = 0; i < other->n; i++) {
        uint32_t unit = weir_map32_get(&l->numbers, other->units[i]);
        if (other->labels[2 * i] / 2 != k)
            continue;
        if (unit == WEIR_NONE || l->labels[2 * unit] / 2 >= n || (layer != n && layer != l->labels[2 * unit] / 2))
            return n;
        layer = l->labels[2 * unit] / 2;
    }
    return layer;
}

/* Adds to the needs by distance those of other subsystems whose flows all lead through units at one distance.
 * WEIR_ENOMEM. O(units) for each distance */
static int add_other_flows(struct match *m, const struct flow_net *f, int64_t *needs, uint32_t n)
{
    for (uint32_t s = 1; m->progress.flow && m->progress.flow->shared && s < m->g->nsubsystems; s++) {
        struct flow_net other = {.m = m, .subsystem = s};
        int64_t needed = s == f->subsystem ? 0 : weir_flow_needed(m, &other);
        other.layout = needed ? weir_flow_layout(weir_graph_edges(m->g), s) : NULL;
        if (needed && !other.layout)
            return weir_fail_nomem(m->err);
        for (uint32_t k = 0; needed && k <= other.layout->depth && k < other.layout->n; k++) {
            uint32_t layer = common_layer(f->layout, other.layout, k, n);
            if (layer < n) {
                needs[layer] += needed;
                break;
            }
        }
    }
    return WEIR_OK;
}

/* Whether units at each distance from the sources have as much left as is needed: all ways lead through units of all
 * distances. Returns 1, 0 or negative. */
static int layers_are_enough(struct match *m, struct flow_net *f)
{
    const struct flow_layout *l = f->layout;
    uint32_t n = l->depth < FLOW_UNREACHED / 2 ? l->depth + 1 : 0;
    int64_t flow = weir_flow_needed(m, f), *left = weir_mem_zalloc(2 * ((size_t)n + 1), sizeof *left);
    int64_t *direct = left ? left + n : NULL; /* by distance, as `left` */
    int rc = n > 0 || flow == 0;

    if (!left)
        return weir_fail_nomem(m->err);
    add_all_direct(m, f, direct, n);
    if (add_other_flows(m, f, direct, n))
        rc = WEIR_ENOMEM;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->labels[2 * i] / 2 < n)
            left[l->labels[2 * i] / 2] += capacity_of(f, l->units[i]);
    for (uint32_t i = 0; i < n; i++)
        rc = rc == 1 ? left[i] - direct[i] >= flow : rc;
    weir_mem_free(left);
    return rc;
}

/* Whether the reach of vertices now bounds what they can get in the window. A view of a hierarchy has other rows. */
static bool has_reach(const struct match *m)
{
    return m->scope.view == VIEW_NOW && m->g == weir_graph_edges(m->g) && m->ask.links == WEIR_NONE &&
           !m->ask.options->trace;
}

const struct flow_reach *weir_flow_reach_known(const struct match *m, uint32_t subsystem)
{
    const struct flow_layout *l = has_reach(m) && m->g->matching ? weir_flow_layout(m->g, subsystem) : NULL;

    return l ? l->reach : NULL;
}

int weir_flow_enough(struct match *m)
{
    int rc = 1;

    for (uint32_t i = 0; rc == 1 && m->g->nsubsystems > 1 && i < m->ask.request->count; i++) {
        const weir_resource *r = weir_request_resource(m->ask.request, i);
        struct flow_layout *l;
        struct flow_net f = {.m = m, .r = r, .subsystem = r->slot ? WEIR_NONE : weir_flow_find(m->g, r->type)};
        if (f.subsystem == WEIR_NONE)
            continue;
        f.step = find_step(m, f.subsystem);
        f.layout = l = weir_flow_layout(weir_graph_edges(m->g), f.subsystem);
        rc = l ? layers_are_enough(m, &f) : weir_fail_nomem(m->err);
        if (rc == 1 && has_reach(m) && !(m->progress.flow && m->progress.flow->search) && !weir_flow_reach(m->g, l))
            rc = weir_fail_nomem(m->err);
    }
    return rc;
}

int weir_flow_place(struct match *m)
{
    int rc = 1;

    for (struct flow_net *f = m->progress.flow ? m->progress.flow->nets : NULL; f && rc == 1; f = f->next)
        rc = complete(m, f);
    if (m->progress.flow)
        m->progress.flow->placing = true;
    for (struct flow_net *f = m->progress.flow ? m->progress.flow->nets : NULL; f && rc == 1; f = f->next)
        rc = place_net(m, f);
    return rc;
}
