/* group_layout.c - the places of a group index. Invariant: places of a group are next to each other; without runs they
 * are in the order of the policy.
 */
#include "index/group_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/rows.h"
#include "index/candidate_index.h"

/* A vertex of the type, before all have places. */
struct seat {
    struct group_key group;
    int64_t position;
    double value;
    uint32_t rank;
    weir_vertex v;
};

static int by_place(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;

    if (x->group.space != y->group.space)
        return x->group.space < y->group.space ? -1 : 1;
    if (x->group.number != y->group.number && x->group.space != GROUP_NONE)
        return x->group.number < y->group.number ? -1 : 1;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool seat_joins(const struct seat *a, const struct seat *b)
{
    return group_same(a->group, b->group) && !(a->value < b->value || a->value > b->value);
}

static int read_seats(const weir_graph *g, const struct group_index *x, const struct index *order, struct seat *seats,
                      weir_err *err)
{
    for (uint32_t i = 0; i < order->nlist; i++) {
        struct seat *s = &seats[i];
        int rc = WEIR_OK;
        *s = (struct seat){.v = order->list[i], .rank = i};
        if (x->rule.kind == WEIR_CHOOSE_CLOSEST) {
            s->value = weir_group_value(g, &x->rule, s->v);
            s->group.space = s->value < HUGE_VAL ? GROUP_OF_VALUE : GROUP_NONE;
        } else {
            rc = weir_group_of(g, &x->rule, s->v, &s->group, err);
        }
        if (rc)
            return rc;
        if (choice_of_runs(x->rule.kind))
            s->position = weir_group_position(g, &x->rule, s->v);
    }
    return WEIR_OK;
}

static int reserve(const weir_graph *g, struct group_index *x, uint32_t n)
{
    size_t words = group_words(n);

    x->n = n;
    x->nplaces = g->limit;
    x->list = weir_mem_zalloc((size_t)n + 1, sizeof *x->list);
    x->ranks = weir_mem_zalloc((size_t)n + 1, sizeof *x->ranks);
    x->groups = weir_mem_zalloc((size_t)n + 1, sizeof *x->groups);
    x->places = weir_mem_alloc(((size_t)g->limit + 1) * sizeof *x->places);
    x->begin = weir_mem_zalloc((size_t)n + 2, sizeof *x->begin);
    x->values = weir_mem_zalloc((size_t)n + 1, sizeof *x->values);
    x->counts = weir_mem_zalloc((size_t)n + 1, sizeof *x->counts);
    x->changed = weir_mem_zalloc((size_t)n + 1, sizeof *x->changed);
    x->doubts = weir_mem_zalloc((size_t)n + 1, sizeof *x->doubts);
    x->stale = weir_mem_zalloc((size_t)n + 1, sizeof *x->stale);
    x->starts = weir_mem_zalloc(6 * words, sizeof *x->starts); /* all bits */
    if (weir_keyset_make(&x->set, n) || (x->emptiest && weir_keyset_make(&x->emptiest_first, n)))
        return WEIR_ENOMEM;
    if (!x->list || !x->ranks || !x->groups || !x->places || !x->begin || !x->values || !x->counts || !x->changed ||
        !x->doubts || !x->stale || !x->starts)
        return WEIR_ENOMEM;
    memset(x->places, 0xff, ((size_t)g->limit + 1) * sizeof *x->places); /* WEIR_NONE */
    x->members = x->starts + words;
    x->joins = x->members + words;
    x->changed_bits = x->joins + words;
    x->doubt_bits = x->changed_bits + words;
    x->stale_bits = x->doubt_bits + words;
    return WEIR_OK;
}

uint32_t weir_groups_status(const weir_graph *g, weir_vertex v)
{
    const struct schedule *b = schedule_of(g, v);

    return (vertex_open(g, v) ? ABOVE_OPEN : 0) | (b && b->next < WEIR_FOREVER ? ABOVE_RESERVED : 0);
}

/* Gives v's ancestors places, up to the first ancestor that has a place already. */
static void place_above(const weir_graph *g, struct group_index *x, weir_vertex v)
{
    while ((v = vertex_at(g, v)->parent) != WEIR_NONE && x->places[v] == WEIR_NONE)
        x->places[v] = PLACE_ABOVE + weir_groups_status(g, v);
}

static void place(const weir_graph *g, struct group_index *x, const struct seat *seats)
{
    bool runs = choice_of_runs(x->rule.kind);

    x->none = WEIR_NONE;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct seat *s = &seats[i];
        bool new = i == 0 || !seat_joins(s - 1, s);
        if (new) {
            x->begin[x->ngroups] = i;
            x->values[x->ngroups++] = s->value;
            x->none = !runs && s->group.space == GROUP_NONE ? x->ngroups - 1 : WEIR_NONE;
        }
        x->uneven = x->uneven || (runs && !new && s->position == s[-1].position);
        if (new || s->position - 1 != s[-1].position)
            x->starts[i / 64] |= UINT64_C(1) << (i % 64);
        x->list[i] = s->v;
        x->ranks[i] = s->rank;
        x->groups[i] = x->ngroups - 1;
        x->places[s->v] = i;
    }
    x->begin[x->ngroups] = x->n;
    for (uint32_t i = 0; i < x->n; i++)
        place_above(g, x, x->list[i]);
}

/* The common type of the vertices that are the groups, none inside another. */
static weir_type find_group_type(const weir_graph *g, const struct group_index *x)
{
    weir_type type = WEIR_NO_TYPE;

    for (uint32_t i = 0; i < x->ngroups; i++) {
        weir_vertex v = weir_group_vertex(g, &x->rule, x->list[x->begin[i]]);
        weir_type t = v == WEIR_NONE ? WEIR_NO_TYPE : kind_of(g, v)->type;
        if (t == WEIR_NO_TYPE || (i > 0 && t != type))
            return WEIR_NO_TYPE;
        type = t;
    }
    return type != WEIR_NO_TYPE && weir_type_above(g, type, type) ? WEIR_NO_TYPE : type;
}

int weir_groups_place(weir_graph *g, struct group_index *x, weir_err *err)
{
    struct index *order;
    struct seat *seats;
    int rc = weir_index_get(g, x->asked.policy, NULL, NULL, x->asked.type, INDEX_ANY, &order, err);

    if (rc)
        return rc;
    if (weir_index_list(g, order))
        return weir_fail_nomem(err);
    seats = weir_mem_alloc((size_t)order->nlist * sizeof *seats);
    rc = seats && !reserve(g, x, order->nlist) ? WEIR_OK : weir_fail_nomem(err);
    rc = rc ? rc : read_seats(g, x, order, seats, err);
    if (!rc) {
        if (order->nlist)
            qsort(seats, order->nlist, sizeof *seats, by_place);
        place(g, x, seats);
    }
    x->group_type = !rc && x->emptiest ? find_group_type(g, x) : WEIR_NO_TYPE;
    weir_mem_free(seats);
    return rc;
}

void weir_groups_free(struct group_index *x)
{
    if (!x)
        return;
    WEIR_FREE(x->list, x->ranks, x->groups, x->places, x->begin, x->values, x->counts, x->changed, x->doubts, x->stale,
              x->starts, x->wide);
    weir_keyset_free(&x->set);
    weir_keyset_free(&x->emptiest_first);
    weir_mem_free(x);
}

size_t weir_groups_bytes(const struct group_index *x)
{
    size_t keyset = sizeof *x->set.keys + 2 * sizeof *x->set.left;
    size_t place = sizeof *x->list + 7 * sizeof *x->ranks + sizeof *x->values + (x->emptiest ? 2 : 1) * keyset;

    return sizeof *x + place * x->n + 6 * group_words(x->n) * sizeof *x->starts + x->nplaces * sizeof *x->places +
           x->wide_cap * sizeof *x->wide;
}
