/* request_units.c - converts amounts of memory and storage to the units of a graph's pools: 2 GB become 2000 units of
 * a pool in MB. A request is converted as a whole before matching, so the search handles one unit for each type.
 *
 * Invariant: a converted amount is never less than the amount requested; fractions are rounded up.
 */
#include "graph/graph.h"
#include "request/request.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define VALUES_MAX 4096 /* the most values of a range that are converted singly */
#define POWERS_MAX 64   /* a count by products or powers has fewer values up to WEIR_COUNT_MAX */

struct ratio {
    uint64_t num, den;
};

/* The number of bytes in a unit such as B, kB, MB, GiB; 0 if the unit is not of bytes. */
static uint64_t bytes_of(const char *unit)
{
    static const char prefixes[] = "KMGTPE";
    char first = unit[0] == 'k' ? 'K' : unit[0];
    const char *at = first && first != 'B' ? strchr(prefixes, first) : NULL;
    uint64_t base, bytes = 1;

    if (strcmp(unit, "B") == 0)
        return 1;
    if (!at || (strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0))
        return 0;
    base = unit[1] == 'i' ? 1024 : 1000;
    for (const char *p = prefixes; p <= at; p++)
        bytes *= base;
    return bytes;
}

static struct ratio ratio_of(uint64_t from, uint64_t to)
{
    uint64_t a = from, b = to;

    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (struct ratio){from / a, to / a};
}

/* Converts n, rounded up. Amounts above WEIR_UNITS_MAX become WEIR_FOREVER, which no machine can satisfy. */
static int64_t convert(int64_t n, struct ratio f)
{
    wide product = (wide)(uint64_t)n * f.num, units = product / f.den + (product % f.den != 0);

    return n == WEIR_FOREVER || units > (wide)WEIR_UNITS_MAX ? WEIR_FOREVER : (int64_t)units;
}

/* The number of values of a count, at most VALUES_MAX + 1. */
static uint32_t count_values(const weir_count *c)
{
    if (c->op == 0)
        return c->nset;
    if (c->op != '+')
        return POWERS_MAX;
    return (c->max - c->min) / c->operand < VALUES_MAX ? (uint32_t)((c->max - c->min) / c->operand) + 1
                                                       : VALUES_MAX + 1;
}

/* Converts each value of a count. Values that become equal are merged. */
static int convert_values(const weir_count *c, struct ratio f, weir_count *out)
{
    uint32_t cap = count_values(c), n = cap;
    int64_t *set = weir_mem_alloc(cap * sizeof *set);
    int64_t limit = c->max < WEIR_COUNT_MAX ? c->max : WEIR_COUNT_MAX;

    if (!set)
        return WEIR_ENOMEM;
    while (n > 0 && limit >= c->min) { /* from the largest value down */
        int64_t value = weir_count_floor(c, limit), units = convert(value, f);
        if (n == cap || units != set[n])
            set[--n] = units;
        limit = value - 1;
    }
    memmove(set, set + n, (cap - n) * sizeof *set);
    n = cap - n;
    *out = (weir_count){set[0], set[n - 1], 0, 0, set, n};
    if (out->max - out->min == n - 1) { /* canonical form of consecutive values is a range */
        *out = (weir_count){set[0], set[n - 1], '+', 1, NULL, 0};
        weir_mem_free(set);
    }
    return WEIR_OK;
}

/* Converts a range with steps by addition. If the units are not multiples, the result is every amount between the
 * ends. */
static void convert_range(const weir_count *c, struct ratio f, weir_count *out)
{
    int64_t last = c->max == WEIR_FOREVER ? WEIR_FOREVER : weir_count_floor(c, c->max);

    *out = (weir_count){convert(c->min, f), convert(last, f), '+', 1, NULL, 0};
    if (f.den == 1 && out->min != out->max)
        out->operand = convert(c->operand, f);
}

static int convert_count(const weir_count *c, struct ratio f, weir_count *out)
{
    bool fine = f.den == 1 || (wide)(uint64_t)c->operand * f.num <= f.den; /* a step is at most one unit of the pool */

    if (c->op != '+' || (!fine && c->min != c->max && count_values(c) <= VALUES_MAX))
        return convert_values(c, f, out);
    convert_range(c, f, out);
    return WEIR_OK;
}

/* Computes the conversion from r's unit to the unit of the graph's pools. False: no conversion is needed or possible.
 */
static bool is_converted(const weir_graph *g, const weir_resource *r, struct ratio *f, const char **unit)
{
    uint64_t from = r->unit[0] ? bytes_of(r->unit) : 0, to;

    *unit = from ? weir_type_unit(g, weir_type_find(g, r->type)) : "";
    to = bytes_of(*unit);
    if (!to || strcmp(*unit, r->unit) == 0)
        return false;
    *f = ratio_of(from, to);
    return true;
}

/* ---- a request once more --------------------------------------------------------------------------------------- */

static const weir_resource *moved(const weir_request *from, const weir_request *to, const weir_resource *r)
{
    return r ? to->pool + (r - from->pool) : NULL;
}

static int convert_resources(const weir_request *r, const weir_graph *g, weir_request *out)
{
    for (uint32_t i = 0; i < r->count; i++) {
        weir_resource *x = &out->pool[i];
        struct ratio f;
        const char *unit;
        if (!is_converted(g, x, &f, &unit))
            continue;
        if (convert_count(&r->pool[i].count, f, &x->count))
            return WEIR_ENOMEM;
        x->unit = unit;
    }
    return WEIR_OK;
}

void weir_request_unbind(const weir_request *from, const weir_request *bound)
{
    weir_request *r = (weir_request *)(uintptr_t)bound; /* the only reference to the copy */

    if (r == from)
        return;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->pool[i].count.set != from->pool[i].count.set)
            weir_count_clear(&r->pool[i].count);
    WEIR_FREE(r->pool, r->order, r->needs, r->spans, r);
}

static bool needs_binding(const weir_request *r, const weir_graph *g)
{
    struct ratio f;
    const char *unit;

    for (uint32_t i = 0; i < r->count; i++)
        if (is_converted(g, &r->pool[i], &f, &unit))
            return true;
    return false;
}

int weir_request_copy(const weir_request *r, weir_request **out)
{
    weir_request *x = weir_mem_alloc(sizeof *x);

    if (!x)
        return WEIR_ENOMEM;
    *x = *r;
    x->needs = NULL;
    x->spans = NULL;
    x->pool = weir_mem_alloc(r->count * sizeof *x->pool);
    x->order = weir_mem_alloc(r->count * sizeof *x->order);
    if (!x->pool || !x->order) {
        WEIR_FREE(x->pool, x->order, x);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        x->pool[i] = r->pool[i];
        x->pool[i].with = moved(r, x, r->pool[i].with);
        x->pool[i].parent = moved(r, x, r->pool[i].parent);
        x->order[i] = moved(r, x, r->order[i]);
    }
    *out = x;
    return WEIR_OK;
}

int weir_request_fix_count(weir_request *r, uint32_t index, int64_t n)
{
    r->pool[r->order[index] - r->pool].count = (weir_count){n, n, '+', 1, NULL, 0};
    WEIR_FREE(r->needs, r->spans);
    r->needs = NULL;
    r->spans = NULL;
    return weir_request_compute_needs(r);
}

int weir_request_bind(const weir_request *r, const weir_graph *g, const weir_request **out)
{
    weir_request *x;

    *out = r;
    if (!needs_binding(r, g))
        return WEIR_OK;
    if (weir_request_copy(r, &x))
        return WEIR_ENOMEM;
    if (convert_resources(r, g, x) || weir_request_compute_needs(x)) {
        weir_request_unbind(r, x);
        return WEIR_ENOMEM;
    }
    *out = x;
    return WEIR_OK;
}
