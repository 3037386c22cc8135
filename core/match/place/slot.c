/* slot.c - slots inside hosts. The tasks of a slot run on a node: resources found inside nodes come from a single node
 * for each slot. (Slots of whole nodes, or slots below a node, need no host: their resources are just multiplied.)
 *
 * A policy with a locality has slots inside a node come from smaller hosts, such as NUMA domains: hosts of the first
 * type of the locality large enough for a slot. A node then gives as many slots as its smaller hosts do.
 *
 * Hosts are taken in the order of the first resource of each slot, so that a policy that orders cores by id still
 * decides core by core; or by score. Invariant: a
 * host never gives more slots than fit inside.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/candidate/flow_state.h"
#include "match/place/place.h"
#include "index/rank_order.h"
#include "match/candidate/group_hosts.h"
#include "aggregate/schema.h"

struct host {
    weir_vertex v;
    int64_t most, given; /* slots */
    uint32_t first;      /* number of the first key of the host: a key is the first vertex of a slot */
    double score;
};

struct hosts {
    struct match *m;
    const weir_resource *slot, *first; /* first: weir_slot_first() */
    struct search search;
    struct host *list;
    uint32_t n, cap;
    weir_vertex *keys;
    uint32_t nkeys, keys_cap;
    uint32_t *order; /* by slot given: number of the host */
    uint32_t norder, order_cap;
    bool placed; /* the only slot requested is among the picks already */
};

/* Number of slots that the picks for r, from number `from` on, suffice for, if no two slots share a pick. */
static int64_t count_shares(const struct match *m, uint32_t from, const weir_resource *r)
{
    int64_t shares = 0, have = 0, each = r->count.min;

    for (uint32_t i = from; i < m->scope.npicks; i++) {
        if (m->progress.picks[i].resource != r->index)
            continue;
        have += m->progress.picks[i].amount;
        shares += have >= each;
        have = have >= each ? 0 : have;
    }
    return shares;
}

static bool has_flow(const struct match *m, const weir_resource *slot)
{
    for (uint32_t i = 0; m->g->nsubsystems > 1 && i < slot->nwith; i++)
        if (weir_flow_find(m->g, slot->with[i].type) != WEIR_NONE)
            return true;
    return false;
}

/* weir_slot_bound() by the resources of the slot but one (or NULL). */
static int64_t bound_without(struct match *m, weir_vertex under, const weir_resource *slot,
                             const weir_resource *without, int64_t most)
{
    bool apart = weir_slot_whole_pools(m, slot);

    for (uint32_t i = 0; i < slot->nwith && most > 0; i++) {
        const weir_resource *r = &slot->with[i];
        struct scope mark = scope_mark(m);
        uint32_t subsystem = weir_flow_find(m->g, r->type);
        int64_t units;
        if (r->count.min == 0 || r == without || (subsystem != WEIR_NONE && flow_surveys(m)))
            continue;
        if (subsystem != WEIR_NONE) {
            most = weir_flow_bound(m, under, subsystem, r, most);
            continue;
        }
        m->scope.probing = true;
        units = weir_place_some(m, under, r, apart ? WEIR_FOREVER : saturating_mul(most, r->count.min));
        if (units >= 0)
            units = apart ? count_shares(m, mark.npicks, r) : units / r->count.min;
        scope_undo(m, &mark);
        if (units < 0)
            return units;
        if (units < most)
            most = units;
    }
    return flow_surveys(m) && has_flow(m, slot) ? weir_survey_slots(m, under, slot, most) : most;
}

/* Whether `slots` slots fit below `under` in addition to the picks so far. Returns 1, 0 or negative. */
static int fits(struct match *m, weir_vertex under, const weir_resource *slot, int64_t slots)
{
    struct scope mark = scope_mark(m);
    int rc;

    m->scope.probing = true;
    rc = weir_place_list(m, under, slot->with, slot->nwith, slots);
    scope_undo(m, &mark);
    return rc;
}

/* As weir_slot_bound(), for a slot with direct resources: the bound of each resource alone is too high. */
static int64_t bound_together(struct match *m, weir_vertex under, const weir_resource *slot, int64_t most)
{
    int64_t least = 0;

    if (!weir_direct_within(m, slot) || m->scope.view == VIEW_CAPACITY || most >= WEIR_FOREVER / 2)
        return most;
    while (least < most) {
        int64_t middle = least + (most - least + 1) / 2;
        int rc = fits(m, under, slot, middle);
        if (rc < 0)
            return rc;
        if (rc)
            least = middle;
        else
            most = middle - 1;
    }
    return most;
}

int64_t weir_slot_bound(struct match *m, weir_vertex under, const weir_resource *slot, int64_t most)
{
    most = bound_without(m, under, slot, NULL, most);
    return bound_together(m, under, slot, most);
}

int weir_place_slots_in(struct match *m, weir_vertex under, const weir_resource *slot, int64_t slots)
{
    struct scope mark = scope_mark(m);
    int rc = 1;

    if (slots == 1 || !weir_slot_whole_pools(m, slot))
        return weir_place_list(m, under, slot->with, slot->nwith, slots);
    if (flow_surveys(m))
        return flow_survey_odd(m);
    scope_conflict(m);
    for (int64_t i = 0; rc == 1 && i < slots; i++)
        rc = weir_place_list(m, under, slot->with, slot->nwith, 1);
    return scope_end(m, &mark, rc);
}

/* The vertex of type t at or above v, the vertex of a pick; v where there is none. */
static weir_vertex served_by(const weir_graph *g, weir_type t, weir_vertex v)
{
    weir_vertex up = vertex_at_or_above(g, v, t);

    return up == WEIR_NONE ? v : up;
}

/* Lists the keys of a host, from the picks from number `from` on; `each`: units of a slot. */
static void list_keys(struct hosts *h, const struct host *host, uint32_t from, int64_t each)
{
    const weir_graph *g = h->m->g;
    weir_vertex last = WEIR_NONE;
    int64_t units = 0;

    for (uint32_t i = from; i < h->m->scope.npicks; i++) {
        const weir_pick *p = &h->m->progress.picks[i];
        weir_vertex v = served_by(g, h->search.type, p->vertex);
        if (h->m->progress.details[i].endpoint != WEIR_NONE || v == last)
            continue;
        last = v;
        units += v == p->vertex && p->amount ? p->amount : kind_of(g, v)->size;
        for (; h->nkeys - host->first < host->most && (h->nkeys - host->first) * each < units; h->nkeys++)
            h->keys[h->nkeys] = v;
    }
    for (; h->nkeys - host->first < host->most; h->nkeys++)
        h->keys[h->nkeys] = host->v;
}

static int fill(struct hosts *h, weir_vertex under, weir_type host, int64_t want);

static void free_hosts(struct hosts *h)
{
    WEIR_FREE(h->list, h->keys, h->order);
}

static int append_host(struct hosts *h, struct host host)
{
    if (weir_array_reserve(&h->list, &h->cap, (size_t)h->n + 1, sizeof *h->list) ||
        weir_array_reserve(&h->keys, &h->keys_cap, h->nkeys + (size_t)host.most, sizeof *h->keys))
        return weir_fail_nomem(h->m->err);
    h->list[h->n++] = host;
    return WEIR_OK;
}

static bool is_scored(const struct match *m)
{
    return m->scope.view <= VIEW_RESERVED && match_scored(m);
}

/* Number of the first key of the next host; where scores decide, without keys, the number of the host. */
static uint32_t next_first(const struct hosts *h)
{
    return is_scored(h->m) ? h->n : h->nkeys;
}

/* Adds v as a host with the slots of its smaller hosts of type `inner`. Returns 1, 0 or negative. */
static int add_outer_host(struct hosts *h, weir_vertex v, weir_type inner, int64_t want)
{
    struct hosts in = {.m = h->m, .slot = h->slot, .first = h->first};
    struct scope mark = scope_mark(h->m);
    int rc = fill(&in, v, inner, want);

    scope_undo(h->m, &mark);
    if (!rc && in.norder > 0)
        rc = append_host(h, (struct host){v, in.norder, 0, next_first(h), 0});
    for (uint32_t i = 0; !rc && i < in.n; i++)
        in.list[i].given = 0;
    for (uint32_t i = 0; !rc && i < in.norder && !is_scored(h->m); i++) {
        struct host *from = &in.list[in.order[i]];
        h->keys[h->nkeys++] = in.keys[from->first + from->given++];
    }
    free_hosts(&in);
    return rc ? rc : in.norder > 0;
}

/* Whether probing and placing take the same vertices for the first resource of a slot. */
static bool is_predictable(const struct hosts *h, weir_vertex host)
{
    struct match *m = h->m;

    return !match_scored(m) && (!match_chooses(m) || !weir_choice_matters(m, host, h->first, WEIR_FOREVER)) &&
           h->first->count.min > 0 && !weir_slot_whole_pools(m, h->slot);
}

/* Adds a host with a single search for the first resource of the slot, which bounds the slots and yields the keys;
 * the other resources are probed. Returns 1, 0 or negative. */
static int add_predictable(struct hosts *h, struct host host, int64_t want)
{
    struct match *m = h->m;
    const weir_resource *first = h->first;
    struct scope mark = scope_mark(m);
    int64_t units = weir_place_some(m, host.v, first, saturating_mul(want, first->count.min));
    int rc = WEIR_OK;

    host.most = units / first->count.min;
    if (units >= first->count.min && !(rc = append_host(h, host)))
        list_keys(h, &host, mark.npicks, first->count.min);
    scope_undo(m, &mark);
    if (rc || units < first->count.min)
        return rc ? rc : units < 0 ? (int)units : 0;
    host.most = bound_without(m, host.v, h->slot, first, host.most);
    host.most = bound_together(m, host.v, h->slot, host.most);
    if (host.most <= 0) {
        h->n--;
        h->nkeys = host.first;
        return (int)host.most;
    }
    h->list[h->n - 1].most = host.most;
    h->nkeys = host.first + (uint32_t)host.most;
    return 1;
}

/* Whether a single slot is requested, and the vertices of its first resource give the position of the slot in the
 * order. */
static bool is_only(const struct hosts *h, int64_t want)
{
    const weir_resource *first = h->first;

    return want == 1 && h->norder == 0 && !is_scored(h->m) && first->count.min > 0 &&
           count_most(h->m, &first->count) == first->count.min && weir_flow_find(h->m->g, first->type) == WEIR_NONE;
}

/* Adds a host and places the only slot at once, if the host is next in the order. Returns 1, 0 or negative. */
static int add_only(struct hosts *h, struct host host)
{
    struct match *m = h->m;
    struct scope mark = scope_mark(m);
    int rc = weir_place_slots_in(m, host.v, h->slot, 1);

    if (rc <= 0)
        return rc;
    host.most = 1;
    if (append_host(h, host))
        return WEIR_ENOMEM;
    list_keys(h, &host, mark.npicks, h->first->count.min);
    h->placed = h->keys[host.first] == h->search.found_key;
    if (!h->placed)
        scope_undo(m, &mark);
    return 1;
}

/* Adds v as a host with the number of its slots and, where an order decides, its keys. Returns 1, 0 (no slot fits)
 * or negative. */
static int add_host(struct hosts *h, weir_vertex v, int64_t want)
{
    struct match *m = h->m;
    const weir_resource *first = h->first;
    weir_type inner = weir_slot_host(m, v, h->slot);
    struct host host = {v, 0, 0, next_first(h), 0};
    struct scope mark = scope_mark(m);
    int64_t units = 0;

    if (inner == SEARCH_PARENT)
        return 0; /* the resources of the slot are below several vertices */
    if (inner != WEIR_NO_TYPE)
        return add_outer_host(h, v, inner, want);
    if (is_only(h, want))
        return add_only(h, host);
    if (is_predictable(h, v))
        return add_predictable(h, host, want);
    host.most = weir_slot_bound(m, v, h->slot, want);
    if (host.most <= 0)
        return (int)host.most;
    if (append_host(h, host))
        return WEIR_ENOMEM;
    if (is_scored(m))
        return 1;
    units = weir_place_some(m, v, first, host.most * first->count.min);
    if (units < 0)
        return (int)units;
    list_keys(h, &host, mark.npicks, first->count.min);
    scope_undo(m, &mark);
    return 1;
}

static int give_slot(struct hosts *h, uint32_t i)
{
    if (WEIR_ARRAY_ADD(h->order, h->norder, h->order_cap, i))
        return weir_fail_nomem(h->m->err);
    h->list[i].given++;
    return WEIR_OK;
}

/* Gives slots, each to the host with the first key in the order of the policy. */
static int fill_ordered(struct hosts *h, int64_t want)
{
    weir_vertex v;
    int rc = 1;

    while (h->norder < want && (rc = weir_search_next(&h->search, &v)) > 0) {
        uint32_t i = h->search.found_tag;
        if (i == WEIR_NONE) {
            rc = add_host(h, v, want - h->norder);
            if (rc == 0 && (rc = weir_search_rejected(&h->search, v)) == 0)
                continue;
            if (rc < 0)
                return rc;
            i = h->n - 1;
            if (h->keys[h->list[i].first] != h->search.found_key) { /* the first vertex below v does not fit */
                rc = weir_search_again(&h->search, v, h->keys[h->list[i].first], i);
                if (rc)
                    return rc;
                continue;
            }
        }
        rc = give_slot(h, i);
        if (!rc && h->list[i].given < h->list[i].most)
            rc = weir_search_again(&h->search, v, h->keys[h->list[i].first + h->list[i].given], i);
        if (rc)
            return rc;
    }
    return rc < 0 ? rc : WEIR_OK;
}

static int by_score(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Gives each host a score, and drops hosts without. */
static int score_hosts(struct hosts *h)
{
    weir_vertex *v = weir_mem_alloc((size_t)h->n * sizeof *v);
    double *score = weir_mem_alloc((size_t)h->n * sizeof *score);
    uint32_t n = 0;
    int rc;

    for (uint32_t i = 0; v && i < h->n; i++)
        v[i] = h->list[i].v;
    rc = v && score ? weir_match_scores(h->m, h->slot, v, h->n, score) : weir_fail_nomem(h->m->err);
    for (uint32_t i = 0; !rc && i < h->n; i++)
        if (!isnan(score[i])) {
            h->list[n] = h->list[i];
            h->list[n++].score = score[i];
        }
    h->n = n;
    WEIR_FREE(v, score);
    return rc;
}

/* Gives slots host by host, hosts of the emptiest groups first. */
static int fill_by_group(struct hosts *h, weir_type host, int64_t want)
{
    struct group_hosts by_group;
    weir_vertex v;
    int rc = weir_group_hosts_begin(&by_group, h->m, h->slot, host);

    if (rc)
        return rc;
    while (h->norder < want && (rc = weir_group_hosts_next(&by_group, &v)) > 0) {
        rc = add_host(h, v, want - h->norder);
        while (rc > 0 && h->norder < want && h->list[h->n - 1].given < h->list[h->n - 1].most)
            rc = give_slot(h, h->n - 1) ? WEIR_ENOMEM : 1;
        if (rc < 0)
            break;
    }
    weir_group_hosts_end(&by_group);
    return rc < 0 ? rc : WEIR_OK;
}

/* Gives slots host by host, best score first. */
static int fill_scored(struct hosts *h, int64_t want)
{
    weir_vertex v;
    int rc;

    while ((rc = weir_search_next(&h->search, &v)) > 0) {
        rc = add_host(h, v, want);
        if (rc < 0)
            return rc;
    }
    rc = rc ? rc : score_hosts(h);
    if (!rc && h->n)
        qsort(h->list, h->n, sizeof *h->list, by_score);
    for (uint32_t i = 0; !rc && i < h->n; i++)
        while (!rc && h->norder < want && h->list[i].given < h->list[i].most)
            rc = give_slot(h, i);
    return rc;
}

/* Gives slots host by host, as the search yields hosts in the order of scores. */
static int fill_ranked(struct hosts *h, int64_t want)
{
    weir_vertex v;
    int rc = 1;

    while (h->norder < want && (rc = weir_search_next(&h->search, &v)) > 0) {
        if (weir_search_unscored(&h->search, v)) {
            count_event(h->m, WEIR_EVENT_POLICY, v, h->slot);
            break;
        }
        rc = add_host(h, v, want - h->norder);
        for (uint32_t i = h->n - 1; rc == 1 && h->norder < want && h->list[i].given < h->list[i].most;)
            rc = give_slot(h, i) ? WEIR_ENOMEM : 1;
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : WEIR_OK;
}

/* ---- giving and placing slots ---- */

static int fill(struct hosts *h, weir_vertex under, weir_type host, int64_t want)
{
    struct order_scores by = {NULL, host};
    int rc;

    if (match_scored(h->m) && weir_group_hosts_apply(h->m, under, host))
        return fill_by_group(h, host, want);
    rc = is_scored(h->m) ? weir_match_rank(h->m, under, h->slot, host, &by)
                         : weir_match_rank_kept(h->m, under, h->first, host, &by);
    by.of = host;
    rc = rc ? rc : weir_search_hosts_by(&h->search, h->m, under, h->slot, h->first, host, &by);
    if (rc)
        return rc;
    rc = by.memory && is_scored(h->m) ? fill_ranked(h, want)
         : is_scored(h->m)            ? fill_scored(h, want)
                                      : fill_ordered(h, want);
    weir_search_end(&h->search);
    return rc;
}

static int place_given(struct hosts *h, int64_t count);

/* Places `count` slots in a host with room for them. Returns 1, 0 or negative. */
static int place_in(struct hosts *h, weir_vertex v, int64_t count)
{
    weir_type inner = weir_slot_host(h->m, v, h->slot);
    struct hosts in = {.m = h->m, .slot = h->slot, .first = h->first};
    int rc;

    if (inner == WEIR_NO_TYPE)
        return weir_place_slots_in(h->m, v, h->slot, count);
    rc = fill(&in, v, inner, count);
    if (!rc)
        rc = in.norder < count ? 0 : place_given(&in, count);
    free_hosts(&in);
    return rc;
}

/* Places the first `count` slots given. Returns 1, 0 or negative. */
static int place_given(struct hosts *h, int64_t count)
{
    struct scope mark = scope_mark(h->m);
    int rc = 1;

    if (h->placed)
        return 1;
    while (h->norder > count)
        h->list[h->order[--h->norder]].given--;
    for (uint32_t i = 0; rc == 1 && i < h->n; i++)
        if (h->list[i].given)
            rc = place_in(h, h->list[i].v, h->list[i].given);
    return scope_end(h->m, &mark, rc);
}

/* ---- slots with flows ---- */

/* Whether the policy wants v. Returns 1, 0 or negative. */
static int is_wanted(struct match *m, const weir_resource *slot, weir_vertex v)
{
    double score = 0;
    int rc = is_scored(m) ? weir_match_scores(m, slot, &v, 1, &score) : WEIR_OK;

    return rc ? rc : !isnan(score);
}

/* Places as many slots in v as fit in addition to those placed so far, at most `want`. Returns their number, or
 * negative. */
static int64_t place_most(struct match *m, weir_vertex v, const weir_resource *slot, int64_t want)
{
    int wanted = is_wanted(m, slot, v), rc = 0;
    int64_t n = wanted == 1 ? weir_slot_bound(m, v, slot, want) : wanted;

    while (n > 0 && (rc = weir_place_slots_in(m, v, slot, n)) == 0)
        n--;
    return rc < 0 ? rc : n;
}

/* Places slots host by host, each host with the slots before in place: what a flow leaves for a host depends on what
 * the hosts before got. Returns the number of slots placed, at most `want`, or negative. */
static int64_t place_in_turn(struct hosts *h, weir_vertex under, weir_type host, int64_t want)
{
    struct search s;
    weir_vertex v;
    int64_t placed = 0;
    int rc = weir_search_hosts(&s, h->m, under, h->slot, h->first, host);

    if (rc)
        return rc;
    while (placed < want && (rc = weir_search_next(&s, &v)) > 0) {
        weir_type inner = weir_slot_host(h->m, v, h->slot);
        int64_t n = inner == SEARCH_PARENT  ? 0
                    : inner != WEIR_NO_TYPE ? place_in_turn(h, v, inner, want - placed)
                                            : place_most(h->m, v, h->slot, want - placed);
        placed += n > 0 ? n : 0;
        rc = n < 0 ? (int)n : n == 0 ? weir_search_rejected(&s, v) : 0;
        if (rc)
            break;
    }
    weir_search_end(&s);
    return rc < 0 ? rc : placed;
}

/* Places an allowed number of slots host by host. Returns the number, negative where none is allowed; or sets *rc. */
static int64_t place_anew(struct hosts *h, weir_vertex under, weir_type host, int *rc)
{
    const weir_count *count = &h->slot->count;
    struct scope mark = scope_mark(h->m);
    int64_t want = count_most(h->m, count), placed;

    for (;; want = weir_count_floor(count, placed)) { /* between two allowed counts: place the lower */
        scope_undo(h->m, &mark);
        placed = want < 0 ? -1 : place_in_turn(h, under, host, want);
        *rc = want >= 0 && placed < 0 ? (int)placed : WEIR_OK;
        if (*rc || want < 0 || placed == want)
            return want;
    }
}

/* Whether aggregates allow so many slots in all. */
static bool bound_ok(struct match *m, weir_vertex under, const weir_resource *r, int64_t slots)
{
    if (weir_flow_find(m->g, r->type) != WEIR_NONE || r->count.min == 0)
        return true;
    return weir_search_bound_ok(m, under, r, saturating_mul(r->count.min, slots), weir_candidate_idle(m, r));
}

int weir_place_slots(struct match *m, weir_vertex under, const weir_resource *slot, weir_type host)
{
    struct hosts h = {.m = m, .slot = slot, .first = weir_slot_first(m, slot)};
    struct scope mark = scope_mark(m);
    int64_t count;
    int rc;

    for (uint32_t i = 0; i < slot->nwith; i++)
        if (!bound_ok(m, under, &slot->with[i], slot->count.min))
            return 0;
    rc = fill(&h, under, host, count_most(m, &slot->count));
    count = weir_count_floor(&slot->count, h.norder);
    if (!rc)
        rc = count < 0 ? 0 : place_given(&h, count);
    if (rc == 0 && has_flow(m, slot) && !flow_surveys(m)) {
        count = place_anew(&h, under, host, &rc);
        rc = rc ? rc : count >= 0;
    }
    if (rc == 1)
        weir_pick_slots(m, mark.npicks, count);
    free_hosts(&h);
    return scope_end(m, &mark, rc);
}
