/* request_needs.c - computes lower bounds: the fewest units of each type that a resource needs below itself.
 *
 * Invariant: a bound never exceeds the real need. Units taken by the job are summed over siblings, slots and
 * instances. Units that the job only shares may be the same pool for every instance, so only the largest single
 * demand counts.
 */
#include "request/request.h"

#include <string.h>

#include "base/compare.h"

struct type_demand {
    int64_t taken, shared;
};

struct needs_builder {
    weir_request *req;
    const char **types; /* all types except "slot", sorted, without duplicates */
    uint32_t ntypes;
    uint32_t *type_of;       /* index into `types`, by preorder number */
    struct type_demand *row; /* sums by type, for the resource being computed */
    uint32_t *touched;       /* the types with a sum in `row` */
    uint32_t ntouched;
    struct type_demand *demands; /* parallel to req->needs */
    uint32_t nneeds, needs_cap, demands_cap;
};

static uint32_t find_type(const struct needs_builder *s, const char *type)
{
    const char **found = bsearch(&type, s->types, s->ntypes, sizeof *s->types, weir_compare_texts);
    return (uint32_t)(found - s->types);
}

static void sort_types(struct needs_builder *s)
{
    const weir_request *r = s->req;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->count; i++)
        if (!r->pool[i].slot)
            s->types[n++] = r->pool[i].type;
    qsort(s->types, n, sizeof *s->types, weir_compare_texts);
    for (uint32_t i = 0; i < n; i++)
        if (s->ntypes == 0 || strcmp(s->types[i], s->types[s->ntypes - 1]) != 0)
            s->types[s->ntypes++] = s->types[i];
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->order[i]->slot)
            s->type_of[i] = find_type(s, r->order[i]->type);
}

static int64_t times(int64_t a, int64_t b)
{
    return a && b > INT64_MAX / a ? INT64_MAX : a * b;
}

static void demand(struct needs_builder *s, uint32_t type, int64_t taken, int64_t shared)
{
    struct type_demand *d = &s->row[type];

    if (d->taken == 0 && d->shared == 0)
        s->touched[s->ntouched++] = type;
    d->taken = d->taken > INT64_MAX - taken ? INT64_MAX : d->taken + taken;
    if (d->shared < shared)
        d->shared = shared;
}

/* Adds the needs of a child and of all resources below. The child's own needs must be known. */
static void add_child(struct needs_builder *s, const weir_resource *child)
{
    const struct weir_need_span *span = &s->req->spans[child->index];
    int64_t n = child->count.min;

    /* shared use needs no units */
    if (!child->slot && (child->exclusive != WEIR_EXCLUSIVE_NO || child->nwith > 0))
        demand(s, s->type_of[child->index], child->takes ? n : 0, child->takes ? 0 : n);
    for (uint32_t i = span->first; i < span->first + span->count; i++)
        demand(s, find_type(s, s->req->needs[i].type), times(s->demands[i].taken, n), s->demands[i].shared);
}

static int64_t taken_of(const struct needs_builder *s, const weir_resource *r, const char *type)
{
    const struct weir_need_span *span = &s->req->spans[r->index];

    for (uint32_t i = span->first; i < span->first + span->count; i++)
        if (strcmp(s->req->needs[i].type, type) == 0)
            return s->demands[i].taken;
    return 0;
}

/* Adds the needs of alternatives (or_slots): of each type the minimum over all alternatives, times the number of
 * slots. */
static void add_alternatives(struct needs_builder *s, const weir_resource *list, uint32_t n)
{
    const struct weir_need_span *first = &s->req->spans[list->index];
    int64_t times_all = list[n - 1].count.min;

    for (uint32_t i = first->first; i < first->first + first->count; i++) {
        const char *type = s->req->needs[i].type;
        int64_t smallest = s->demands[i].taken;
        for (uint32_t k = 1; k < n; k++) {
            int64_t taken = taken_of(s, &list[k], type);
            smallest = taken < smallest ? taken : smallest;
        }
        if (smallest > 0)
            demand(s, find_type(s, type), times(smallest, times_all), 0);
    }
}

static void add_children(struct needs_builder *s, const weir_resource *list, uint32_t n)
{
    if (n > 0 && list->any) {
        add_alternatives(s, list, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        add_child(s, &list[i]);
}

/* Stores `row` as the needs of one resource, and clears `row`. */
static int store(struct needs_builder *s, struct weir_need_span *span)
{
    size_t total = (size_t)s->nneeds + s->ntouched;

    if (weir_array_reserve(&s->req->needs, &s->needs_cap, total, sizeof *s->req->needs) != WEIR_OK ||
        weir_array_reserve(&s->demands, &s->demands_cap, total, sizeof *s->demands) != WEIR_OK)
        return WEIR_ENOMEM;
    span->first = s->nneeds;
    span->count = s->ntouched;
    for (uint32_t i = 0; i < s->ntouched; i++) {
        struct type_demand d = s->row[s->touched[i]];
        int64_t amount = d.taken > d.shared ? d.taken : d.shared;
        s->req->needs[s->nneeds] = (struct weir_need){s->types[s->touched[i]], amount};
        s->demands[s->nneeds++] = d;
        s->row[s->touched[i]] = (struct type_demand){0, 0};
    }
    s->ntouched = 0;
    return WEIR_OK;
}

static int sum_up(struct needs_builder *s)
{
    weir_request *r = s->req;

    sort_types(s);
    for (uint32_t i = r->count; i-- > 0;) { /* children have higher numbers than their parents */
        add_children(s, r->order[i]->with, r->order[i]->nwith);
        if (store(s, &r->spans[i]) != WEIR_OK)
            return WEIR_ENOMEM;
    }
    add_children(s, r->pool, r->top);
    return store(s, &r->spans[r->count]);
}

int weir_request_compute_needs(weir_request *r)
{
    struct needs_builder s = {.req = r};
    int rc = WEIR_ENOMEM;

    s.types = weir_mem_zalloc(r->count, sizeof *s.types);
    s.type_of = weir_mem_zalloc(r->count, sizeof *s.type_of);
    s.row = weir_mem_zalloc(r->count, sizeof *s.row);
    s.touched = weir_mem_zalloc(r->count, sizeof *s.touched);
    r->spans = weir_mem_zalloc((size_t)r->count + 1, sizeof *r->spans);
    if (s.types && s.type_of && s.row && s.touched && r->spans)
        rc = sum_up(&s);
    WEIR_FREE(s.types, s.type_of, s.row, s.touched, s.demands);
    return rc;
}

const struct weir_need *weir_resource_needs(const weir_request *r, uint32_t index, uint32_t *n)
{
    const struct weir_need_span *span;

    *n = 0;
    if (index == RESOURCE_NONE)
        return NULL;
    span = &r->spans[index];
    *n = span->count;
    return span->count ? r->needs + span->first : NULL;
}

const struct weir_need *weir_request_needs(const weir_request *r, uint32_t *n)
{
    return weir_resource_needs(r, r->count, n);
}
