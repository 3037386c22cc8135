/* group_index.c - the members of groups and runs, as the graph changes. Invariant: except for places and vertices noted
 * as changed, and from doubts, a bit marks a member; each group, or run, with members is in the set, except for stale
 * groups and the group of vertices without a group.
 */
#include "index/group_index.h"

#include <string.h>

#include "aggregate/rows.h"
#include "graph/observer.h"
#include "index/group_layout.h"

static void drop_at(weir_graph *g, uint32_t i)
{
    struct group_indexes *all = g->records[RECORD_GROUPS];

    weir_groups_free(all->list[i]);
    all->list[i] = all->list[--all->n];
}

static void drop_all(weir_graph *g)
{
    while (groups_in(g)->n > 0)
        drop_at(g, groups_in(g)->n - 1);
    WEIR_FREE(groups_in(g)->list, groups_in(g)->totals);
    weir_record_drop(g, RECORD_GROUPS, &weir_group_observer);
}

/* ---- bits ---- */

static void write_bit(uint64_t *bits, uint32_t i, bool on)
{
    uint64_t bit = UINT64_C(1) << (i % 64);

    bits[i / 64] = on ? bits[i / 64] | bit : bits[i / 64] & ~bit;
}

/* Adds a number to a list whose numbers have bits, once. */
static void note(uint64_t *bits, uint32_t *list, uint32_t *n, uint32_t i)
{
    if (!group_bit(bits, i))
        list[(*n)++] = i;
    write_bit(bits, i, true);
}

uint32_t weir_groups_next(const struct group_index *x, uint32_t place, uint32_t end)
{
    while (place < end) {
        uint64_t left = x->members[place / 64] >> (place % 64);
        if (left) {
            place += (uint32_t)__builtin_ctzll(left);
            break;
        }
        place = (place / 64 + 1) * 64;
    }
    return place < end ? place : end;
}

/* The last place up to `place` that does not continue a run. */
static uint32_t run_start(const struct group_index *x, uint32_t place)
{
    uint32_t word = place / 64;
    uint64_t clear = ~x->joins[word] & (UINT64_MAX >> (63 - place % 64));

    while (!clear)
        clear = ~x->joins[--word]; /* place 0 continues none */
    return word * 64 + 63 - (uint32_t)__builtin_clzll(clear);
}

/* The first place from `place` on, at most n, that does not continue a run. */
static uint32_t run_end(const struct group_index *x, uint32_t place)
{
    while (place < x->n) {
        uint64_t clear = ~x->joins[place / 64] >> (place % 64);
        if (clear) {
            place += (uint32_t)__builtin_ctzll(clear);
            break;
        }
        place = (place / 64 + 1) * 64;
    }
    return place < x->n ? place : x->n;
}

/* ---- members ---- */

/* Puts the run of the places [from, end) into the set, or takes out the run that began at `from`. */
static void key_run(struct group_index *x, uint32_t from, uint32_t end)
{
    uint32_t rank = x->ranks[from];

    weir_keyset_put(&x->set, from, from < end ? group_sized(end - from, rank) : KEYSET_OUT);
}

/* Cuts or joins the runs around a place that begins or ceases to be a member. */
static void change_run(struct group_index *x, uint32_t i, bool on)
{
    bool left = i > 0 && !group_bit(x->starts, i) && group_bit(x->members, i - 1);
    bool right = i + 1 < x->n && !group_bit(x->starts, i + 1) && group_bit(x->members, i + 1);
    uint32_t from, end = run_end(x, i + 1);

    if (on) {
        write_bit(x->joins, i, left);
        if (right) {
            write_bit(x->joins, i + 1, true);
            key_run(x, i + 1, i + 1);
            end = run_end(x, i + 1);
        }
        key_run(x, run_start(x, i), end);
        return;
    }
    from = run_start(x, i);
    write_bit(x->joins, i, false);
    if (right)
        write_bit(x->joins, i + 1, false);
    key_run(x, from, i);
    if (right)
        key_run(x, i + 1, end);
}

void weir_groups_set(struct group_index *x, uint32_t place, bool fits)
{
    uint32_t group = x->groups[place];

    if (group_bit(x->members, place) == fits)
        return;
    x->counts[group] += fits ? 1U : -1U;
    x->total += fits ? 1U : -1U;
    if (choice_of_runs(x->rule.kind))
        change_run(x, place, fits);
    else
        note(x->stale_bits, x->stale, &x->nstale, group);
    write_bit(x->members, place, fits);
}

/* The less, the more free units a group has; equal for all groups where free units do not count. */
static uint32_t weight_of(const weir_graph *g, const struct group_index *x, uint32_t group)
{
    double units = x->emptiest ? weir_group_free(g, &x->rule, x->list[x->begin[group]]) + 1 : 0; /* 0: no group */

    return UINT32_MAX - 1 - (units < UINT32_MAX - 1 ? (uint32_t)units : UINT32_MAX - 1);
}

static uint64_t key_of(const weir_graph *g, const struct group_index *x, uint32_t group)
{
    uint32_t first = weir_groups_next(x, x->begin[group], x->begin[group + 1]), rank, size = x->counts[group];

    if (size == 0 || (group == x->none && x->rule.kind != WEIR_CHOOSE_EACH))
        return KEYSET_OUT;
    rank = x->ranks[first];
    return group_sized(x->rule.kind == WEIR_CHOOSE_EACH ? weight_of(g, x, group) : size, rank);
}

void weir_groups_rekey(const weir_graph *g, struct group_index *x)
{
    while (x->nstale > 0) {
        uint32_t group = x->stale[--x->nstale];
        write_bit(x->stale_bits, group, false);
        weir_keyset_put(&x->set, group, key_of(g, x, group));
        if (x->emptiest)
            weir_keyset_put(&x->emptiest_first, group, group_sized(weight_of(g, x, group), group));
    }
}

/* ---- looks at vertices ---- */

static int64_t units_below(const weir_graph *g, weir_vertex v, weir_type t, uint32_t which)
{
    const struct inner *in = inner_of(g, v);
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;

    return cell ? in->cells[cell + which] : 0;
}

/* Whether v is unused, reachable, and holds the needs. */
static bool fits_now(const weir_graph *g, const struct group_index *x, weir_vertex v)
{
    if (kind_of(g, v)->size == 0 || !vertex_unused(g, v))
        return false;
    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        if (!vertex_open(g, u))
            return false;
    for (uint32_t i = 0; i < x->asked.nneeds; i++)
        if (units_below(g, v, x->asked.needs[i].type, TYPE_TOTAL) < x->asked.needs[i].amount)
            return false;
    return true;
}

/* Whether reservations, or parts that are down, may prevent the use of v. */
static bool is_doubtful(const weir_graph *g, const struct group_index *x, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    if (in && in->cells && in->cells[CELL_SOON] > 0)
        return true;
    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        if (schedule_of(g, u) && schedule_of(g, u)->next < WEIR_FOREVER)
            return true;
    for (uint32_t i = 0; i < x->asked.nneeds; i++)
        if (units_below(g, v, x->asked.needs[i].type, TYPE_FREE) < x->asked.needs[i].amount)
            return true;
    return false;
}

static void look_at(const weir_graph *g, struct group_index *x, uint32_t place)
{
    weir_vertex v = x->list[place];
    bool fits = fits_now(g, x, v);

    weir_groups_set(x, place, fits);
    if (!choice_of_runs(x->rule.kind))
        note(x->stale_bits, x->stale, &x->nstale, x->groups[place]); /* the free units of the group may have changed */
    if (fits && is_doubtful(g, x, v))
        note(x->doubt_bits, x->doubts, &x->ndoubts, place);
}

static void note_below(const weir_graph *g, struct group_index *x, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    uint32_t place = x->places[v];

    if (place < x->n)
        note(x->changed_bits, x->changed, &x->nchanged, place);
    for (uint32_t i = 0; place >= PLACE_ABOVE && in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && x->places[in->kids[i]] != WEIR_NONE)
            note_below(g, x, in->kids[i]);
}

void weir_groups_settle(const weir_graph *g, struct group_index *x)
{
    uint32_t kept = 0;

    while (x->nwide > 0)
        note_below(g, x, x->wide[--x->nwide]);
    while (x->nchanged > 0) {
        uint32_t place = x->changed[--x->nchanged];
        write_bit(x->changed_bits, place, false);
        look_at(g, x, place);
    }
    for (uint32_t i = 0; i < x->ndoubts; i++) {
        uint32_t place = x->doubts[i];
        bool fits = fits_now(g, x, x->list[place]), doubtful = fits && is_doubtful(g, x, x->list[place]);
        weir_groups_set(x, place, fits);
        write_bit(x->doubt_bits, place, doubtful);
        if (doubtful)
            x->doubts[kept++] = place;
    }
    x->ndoubts = kept;
}

/* ---- finding and making ---- */

static bool same_rule(const struct group_rule *a, const struct group_rule *b)
{
    return a->kind == b->kind && a->by == b->by && a->typed == b->typed && a->type == b->type &&
           a->property == b->property && a->position == b->position && a->subsystem == b->subsystem;
}

static bool same_needs(const struct group_question *a, const struct group_question *b)
{
    bool same = a->nneeds == b->nneeds;

    for (uint32_t i = 0; same && i < a->nneeds; i++)
        same = a->needs[i].type == b->needs[i].type && a->needs[i].amount == b->needs[i].amount;
    return same;
}

static bool is_same(const struct group_index *a, const struct group_index *b)
{
    return a->asked.type == b->asked.type && a->hook == b->hook && a->emptiest == b->emptiest &&
           same_rule(&a->rule, &b->rule) && same_needs(&a->asked, &b->asked) && weir_order_same(&a->order, &b->order);
}

/* The index of an equal question; indexes of a former structure are dropped. */
static struct group_index *find(weir_graph *g, const struct group_index *like)
{
    struct group_index *found = NULL;

    for (uint32_t i = groups_in(g)->n; i-- > 0;)
        if (groups_in(g)->list[i]->serial != g->serial)
            drop_at(g, i);
        else if (is_same(groups_in(g)->list[i], like))
            found = groups_in(g)->list[i];
    return found;
}

static void drop_oldest(weir_graph *g)
{
    uint32_t oldest = 0;

    for (uint32_t i = 1; i < groups_in(g)->n; i++)
        if (groups_in(g)->list[i]->last_use < groups_in(g)->list[oldest]->last_use)
            oldest = i;
    if (groups_in(g)->n == GROUP_INDEXES)
        drop_at(g, oldest);
}

static int make(weir_graph *g, const struct group_index *like, struct group_index **out, weir_err *err)
{
    struct group_indexes *all = weir_record_make(g, RECORD_GROUPS, sizeof *all, &weir_group_observer);
    struct group_index *x = weir_mem_alloc(sizeof *x);
    int rc;

    if (!x || !all || weir_array_reserve(&all->list, &all->cap, GROUP_INDEXES, sizeof *all->list)) {
        weir_mem_free(x);
        return weir_fail_nomem(err);
    }
    *x = *like;
    rc = weir_groups_place(g, x, err);
    if (rc) {
        weir_groups_free(x);
        return rc;
    }
    drop_oldest(g);
    for (uint32_t i = 0; i < x->n; i++)
        note(x->changed_bits, x->changed, &x->nchanged, i);
    all->list[all->n++] = *out = x;
    return WEIR_OK;
}

int weir_groups_get(weir_graph *g, const struct group_question *q, struct group_index **out, weir_err *err)
{
    const weir_choice *c = q->policy->choice;
    struct group_index like = {.asked = *q,
                               .emptiest = c->emptiest,
                               .hook = c->group ? q->policy->serial : 0,
                               .serial = g->serial,
                               .set = {.root = WEIR_NONE},
                               .emptiest_first = {.root = WEIR_NONE}};
    int rc = weir_order_read(g, q->policy, &like.order, err);

    if (rc)
        return rc;
    weir_group_rule_read(g, q->policy, &like.rule);
    *out = find(g, &like);
    rc = *out ? WEIR_OK : make(g, &like, out, err);
    if (rc)
        return rc;
    (*out)->rule.policy = (*out)->asked.policy = q->policy;
    (*out)->last_use = weir_next_use(g);
    return WEIR_OK;
}

/* ---- changes ---- */

static void change(const weir_graph *g, struct group_index *x, weir_vertex v, bool *lost)
{
    uint32_t status;

    while (v != WEIR_NONE && v < x->nplaces && x->places[v] == WEIR_NONE)
        v = vertex_at(g, v)->parent;
    if (v == WEIR_NONE || v >= x->nplaces)
        return;
    if (x->places[v] < x->n) {
        note(x->changed_bits, x->changed, &x->nchanged, x->places[v]);
        return;
    }
    status = PLACE_ABOVE + weir_groups_status(g, v);
    if (x->places[v] == status)
        return;
    x->places[v] = status;
    if (weir_array_reserve(&x->wide, &x->wide_cap, (size_t)x->nwide + 1, sizeof *x->wide))
        *lost = true;
    else
        x->wide[x->nwide++] = v;
}

static void spans_changed(weir_graph *g, weir_vertex v, bool above)
{
    (void)above;
    for (uint32_t i = groups_in(g)->n; i-- > 0;) {
        bool lost = false;
        if (groups_in(g)->list[i]->serial == g->serial)
            change(g, groups_in(g)->list[i], v, &lost);
        if (lost)
            drop_at(g, i);
    }
}

static void described(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    (void)v;
    for (uint32_t i = groups_in(g)->n; i-- > 0;) {
        const struct group_index *x = groups_in(g)->list[i];
        if (weir_order_reads(&x->order, map, key) || weir_group_rule_reads(&x->rule, map, key))
            drop_at(g, i);
    }
}

static size_t bytes(const weir_graph *g)
{
    size_t n = 0;

    for (uint32_t i = 0; i < groups_in(g)->n; i++)
        n += weir_groups_bytes(groups_in(g)->list[i]);
    return n;
}

/* ---- checks ---- */

static bool group_right(const weir_graph *g, const struct group_index *x, uint32_t group)
{
    uint32_t count = 0, end = x->begin[group + 1];
    bool noted = group_bit(x->stale_bits, group) || (x->emptiest && x->nchanged + x->nwide > 0);

    for (uint32_t i = weir_groups_next(x, x->begin[group], end); i < end; i = weir_groups_next(x, i + 1, end))
        count++;
    if (x->emptiest && !noted && x->emptiest_first.keys[group] != group_sized(weight_of(g, x, group), group))
        return false;
    return count == x->counts[group] &&
           (choice_of_runs(x->rule.kind) || noted || x->set.keys[group] == key_of(g, x, group));
}

static bool place_right(const weir_graph *g, const struct group_index *x, uint32_t i)
{
    bool member = group_bit(x->members, i), runs = choice_of_runs(x->rule.kind);
    bool joins = runs && member && i > 0 && !group_bit(x->starts, i) && group_bit(x->members, i - 1);
    uint64_t key = member && !joins ? group_sized(run_end(x, i + 1) - i, x->ranks[i]) : KEYSET_OUT;

    if (group_bit(x->joins, i) != joins || (runs && x->set.keys[i] != key))
        return false;
    return group_bit(x->changed_bits, i) || group_bit(x->doubt_bits, i) || x->nwide > 0 ||
           member == fits_now(g, x, x->list[i]);
}

static int check(const weir_graph *g, weir_err *err)
{
    for (uint32_t k = 0; k < groups_in(g)->n; k++) {
        const struct group_index *x = groups_in(g)->list[k];
        bool right = true;
        if (x->serial != g->serial)
            continue;
        for (uint32_t i = 0; right && i < x->ngroups; i++)
            right = group_right(g, x, i);
        for (uint32_t i = 0; right && i < x->n; i++)
            right = place_right(g, x, i);
        if (!right)
            return weir_fail(err, WEIR_EINVAL, "weir_check: the groups of index %u are wrong", k);
    }
    return WEIR_OK;
}

const struct weir_observer weir_group_observer = {
    .described = described,
    .described_many = drop_all,
    .spans_changed = spans_changed,
    .reset = drop_all,
    .freed = drop_all,
    .bytes = bytes,
    .check = check,
};
