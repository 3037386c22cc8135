/* rank_order.c - the static order of a policy. Invariant: before() is a strict total order over live vertices. */
#include "index/rank_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "index/score.h"

static int unknown_field(weir_err *err, const weir_policy *p, const char *text)
{
    return weir_fail(
        err, WEIR_EPOLICY,
        "policy %s: order field '%s' is not known; use id, index, size, rank, properties.KEY, or TYPE.FIELD "
        "of an ancestor, each with '-' in front for descending",
        p->name ? p->name : "?", text);
}

static bool plain_field(const char *text, enum order_what *what)
{
    static const struct {
        const char *text;
        enum order_what what;
    } known[] = {{"id", ORDER_ID}, {"index", ORDER_INDEX}, {"size", ORDER_SIZE}, {"rank", ORDER_RANK}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].text) == 0) {
            *what = known[i].what;
            return true;
        }
    return false;
}

/* Returns the type of "TYPE.FIELD"; `last`, or NULL, is the preceding field, which often has an equal type.
 * WEIR_NO_TYPE: no memory. */
static weir_type type_above(weir_graph *g, const char *name, size_t len, const struct order_field *last)
{
    if (last && last->of != WEIR_NO_TYPE) {
        const char *known = type_text(g, last->of);
        if (strncmp(known, name, len) == 0 && known[len] == '\0')
            return last->of;
    }
    return weir_type_add(g, name, len);
}

/* Reads a field; `last`: the field before, or NULL. Every match reads the order: no text is compared that cannot be
 * equal. */
static int read_field(weir_graph *g, const weir_policy *p, const char *text, const struct order_field *last,
                      struct order_field *f, weir_err *err)
{
    const char *at = text, *dot;

    *f = (struct order_field){ORDER_ID, WEIR_NO_TYPE, WEIR_NO_NAME, false};
    if (*at == '-') {
        f->descending = true;
        at++;
    }
    dot = strchr(at, '.');
    if (!dot && plain_field(at, &f->what))
        return WEIR_OK;
    if (dot && dot != at && strncmp(at, "properties.", 11) != 0) {
        f->of = type_above(g, at, (size_t)(dot - at), last);
        if (f->of == WEIR_NO_TYPE)
            return weir_fail_nomem(err);
        at = dot + 1;
        if (plain_field(at, &f->what))
            return WEIR_OK;
    }
    if (strncmp(at, "properties.", 11) != 0 || !at[11])
        return unknown_field(err, p, text);
    f->what = ORDER_PROPERTY;
    f->property = weir_strtab_add(&g->names, at + 11, strlen(at + 11));
    return f->property == WEIR_NO_NAME ? weir_fail_nomem(err) : WEIR_OK;
}

/* Whether a field is of the vertex itself. */
static bool is_plain(const struct order *o, uint32_t i, enum order_what what)
{
    return o->nkeys > i && o->fields[i].what == what && o->fields[i].of == WEIR_NO_TYPE;
}

/* Notes whether the order is compared by ids: see struct order. */
static void find_ids(struct order *o)
{
    o->above = o->nkeys ? o->fields[0].of : WEIR_NO_TYPE;
    while (o->above != WEIR_NO_TYPE && o->nabove < o->nkeys && o->fields[o->nabove].of == o->above &&
           (o->fields[o->nabove].what == ORDER_ID || o->fields[o->nabove].what == ORDER_INDEX))
        o->nabove++;
    o->by_id = is_plain(o, o->nabove, ORDER_ID) &&
               (o->nkeys == o->nabove + 1 || (o->nkeys == o->nabove + 2 && is_plain(o, o->nabove + 1, ORDER_INDEX)));
}

int weir_order_read(weir_graph *g, const weir_policy *p, struct order *o, weir_err *err)
{
    memset(o, 0, sizeof *o);
    if (p->keys) {
        o->serial = p->serial;
        o->nkeys = WEIR_ORDER_KEYS;
        o->reads_maps = o->numbers = true;
        return WEIR_OK;
    }
    if (p->norder > WEIR_ORDER_KEYS)
        return weir_fail(err, WEIR_EPOLICY, "policy %s: order has %u fields, at most %d are possible",
                         p->name ? p->name : "?", p->norder, WEIR_ORDER_KEYS);
    o->nkeys = p->norder;
    for (uint32_t i = 0; i < p->norder; i++) {
        int rc = read_field(g, p, p->order[i], i ? &o->fields[i - 1] : NULL, &o->fields[i], err);
        if (rc)
            return rc;
        o->reads_maps |= o->fields[i].what == ORDER_PROPERTY || o->fields[i].what == ORDER_RANK;
    }
    find_ids(o);
    return WEIR_OK;
}

int weir_order_of(weir_graph *g, const weir_policy *p, struct order *o, weir_err *err)
{
    return p->ndescend ? weir_order_descend(g, p, o) : weir_order_read(g, p, o, err);
}

void weir_order_of_type(struct order *o, weir_type t)
{
    bool inside = o->nabove > 0 && t != o->above;
    const struct order_field *f = &o->fields[t == o->above ? 0 : o->nabove];

    if (o->nkeys == 0 && !o->numbers)
        o->first = FIRST_NUMBERS;
    if (!o->by_id || f->what != ORDER_ID)
        return;
    o->first = inside ? FIRST_SIBLING_IDS : FIRST_IDS;
    o->ids_descending = f->descending;
}

void weir_order_score(struct order *o, const struct order_scores *by)
{
    o->scores = by->memory;
    o->scored = by->of;
    o->numbers = o->serial || o->scores;
    o->by_id = o->by_id && !o->scores;
}

bool weir_order_reads(const struct order *o, int map, weir_name key)
{
    if (o->descent.by_tag)
        return map == WEIR_TAGS && key == o->descent.tag;
    if (o->serial)
        return map != WEIR_EXTENDED;
    for (uint32_t i = 0; i < o->nkeys; i++) {
        const struct order_field *f = &o->fields[i];
        if (key == WEIR_NO_NAME ? f->what == ORDER_RANK
                                : map == WEIR_PROPERTIES && f->what == ORDER_PROPERTY && f->property == key)
            return true;
    }
    return false;
}

static bool same_field(const struct order_field *a, const struct order_field *b)
{
    return a->what == b->what && a->of == b->of && a->property == b->property && a->descending == b->descending;
}

static bool same_descent(const struct descent *a, const struct descent *b)
{
    return a->n == b->n && a->by_tag == b->by_tag && (!a->by_tag || a->tag == b->tag) &&
           memcmp(a->types, b->types, a->n * sizeof *a->types) == 0;
}

bool weir_order_same(const struct order *a, const struct order *b)
{
    if (a->serial != b->serial || a->nkeys != b->nkeys || a->scores != b->scores || a->scored != b->scored ||
        !same_descent(&a->descent, &b->descent))
        return false;
    for (uint32_t i = 0; a->serial == 0 && i < a->nkeys; i++)
        if (!same_field(&a->fields[i], &b->fields[i]))
            return false;
    return true;
}

int weir_order_keys(struct order *o, const struct order *other)
{
    if (o->serial == 0)
        return WEIR_OK;
    o->keys = other ? other->keys : weir_mem_zalloc(1, sizeof *o->keys);
    if (!o->keys)
        return WEIR_ENOMEM;
    o->keys->refs++;
    return WEIR_OK;
}

void weir_order_clear(struct order *o)
{
    struct order_keys *keys = o->keys;

    if (keys && --keys->refs == 0)
        WEIR_FREE(keys->leaf, keys->inner, keys->dirty.list, keys);
    memset(o, 0, sizeof *o);
}

size_t weir_order_bytes(const struct order *o)
{
    const struct order_keys *keys = o->keys;

    if (!keys)
        return 0;
    return sizeof *keys + ((size_t)keys->leaf_cap + keys->inner_cap) * o->nkeys * sizeof *keys->leaf +
           (size_t)keys->dirty.cap * sizeof *keys->dirty.list;
}

/* Reserves n vertices, exactly n the first time. */
static int keys_reserve(double **keys, uint32_t *cap, uint32_t n, uint32_t nkeys)
{
    uint32_t had = *cap;

    if (!*keys) {
        *keys = weir_mem_zalloc((size_t)n * nkeys + 1, sizeof **keys);
        *cap = *keys ? n : 0;
        return *keys ? WEIR_OK : WEIR_ENOMEM;
    }
    if (weir_array_reserve(keys, cap, n, nkeys * sizeof **keys))
        return WEIR_ENOMEM;
    memset(*keys + (size_t)had * nkeys, 0, (size_t)(*cap - had) * nkeys * sizeof **keys);
    return WEIR_OK;
}

int weir_order_reserve(const weir_graph *g, struct order *o)
{
    if (o->serial == 0)
        return WEIR_OK;
    if (keys_reserve(&o->keys->leaf, &o->keys->leaf_cap, g->limit, o->nkeys))
        return WEIR_ENOMEM;
    return keys_reserve(&o->keys->inner, &o->keys->inner_cap, g->ninners, o->nkeys);
}

bool weir_order_room(const weir_graph *g, const struct order *o)
{
    return o->serial == 0 || (o->keys->leaf_cap >= g->limit && o->keys->inner_cap >= g->ninners);
}

void weir_order_promote(const weir_graph *g, struct order *o, weir_vertex v)
{
    if (o->serial)
        memcpy(o->keys->inner + (size_t)vertex_at(g, v)->inner * o->nkeys, o->keys->leaf + (size_t)v * o->nkeys,
               o->nkeys * sizeof *o->keys->leaf);
}

static double *computed_keys(const weir_graph *g, const struct order *o, weir_vertex v)
{
    uint32_t inner = vertex_at(g, v)->inner;
    return inner == WEIR_NONE ? o->keys->leaf + (size_t)v * o->nkeys : o->keys->inner + (size_t)inner * o->nkeys;
}

/* Whether two vertices have a parent in common. */
static bool are_siblings(const weir_graph *g, weir_vertex a, weir_vertex b)
{
    return vertex_at(g, a)->parent == vertex_at(g, b)->parent && vertex_at(g, a)->parent != WEIR_NONE;
}

int weir_order_compute(const weir_graph *g, const weir_policy *p, struct order *o, weir_vertex v,
                       struct order_family *family, weir_err *err)
{
    double *keys = computed_keys(g, o, v);
    int n;

    if (family->member != WEIR_NONE && are_siblings(g, v, family->member)) {
        memmove(keys, computed_keys(g, o, family->member), o->nkeys * sizeof *keys);
        return WEIR_OK;
    }
    n = p->keys(p->data, g, v, keys);
    family->member = n >= WEIR_ORDER_SIBLINGS ? v : WEIR_NONE;
    n -= n >= WEIR_ORDER_SIBLINGS ? WEIR_ORDER_SIBLINGS : 0;
    if (n < 0 || n > WEIR_ORDER_KEYS)
        return weir_fail(err, WEIR_EPOLICY, "policy %s: order failed", p->name ? p->name : "?");
    for (int i = 0; i < n; i++)
        if (isnan(keys[i]))
            return weir_fail(err, WEIR_EPOLICY, "policy %s: order gave a key that is not a number",
                             p->name ? p->name : "?");
    for (int i = n; i < WEIR_ORDER_KEYS; i++)
        keys[i] = 0;
    return WEIR_OK;
}

static double property_value(const weir_graph *g, const struct pool *p, weir_name key)
{
    const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;
    char *end;
    double value;

    for (uint32_t i = 0; m && i < m->count; i++)
        if (m->entries[i].key == key) {
            const char *text = weir_strtab_text(&g->names, m->entries[i].value);
            value = weir_number_read(text, &end);
            return end == text || *end || isnan(value) ? HUGE_VAL : value;
        }
    return HUGE_VAL;
}

/* A field as a number; a missing value comes last in either direction. */
static double field_value(const weir_graph *g, const struct order_field *f, weir_vertex v)
{
    double value = HUGE_VAL;

    v = f->of == WEIR_NO_TYPE ? v : vertex_at_or_above(g, v, f->of);
    if (v == WEIR_NONE)
        return HUGE_VAL;
    switch (f->what) {
    case ORDER_ID: value = vertex_at(g, v)->id == WEIR_NO_ID ? -1 : (double)vertex_at(g, v)->id; break;
    case ORDER_INDEX: value = v; break;
    case ORDER_SIZE: value = (double)kind_of(g, v)->size; break;
    case ORDER_RANK: value = (double)weir_vertex_rank(g, v); break;
    case ORDER_PROPERTY: value = property_value(g, pool_of(g, v), f->property); break;
    }
    return f->descending && value < HUGE_VAL ? -value : value;
}

double weir_order_first(const weir_graph *g, const struct order *o, weir_vertex v)
{
    return field_value(g, &o->fields[0], v);
}

/* Whether a field is id, index, TYPE.id or TYPE.index. */
static bool may_turn(const char *text)
{
    const char *dot = strchr(text, '.'), *field = dot ? dot + 1 : text;

    return text[0] != '-' && (strcmp(field, "id") == 0 || strcmp(field, "index") == 0) &&
           (!dot || strncmp(text, "properties.", 11) != 0);
}

int weir_turn_check(const weir_policy *p, weir_err *err)
{
    if (!p->turn || (!p->keys && p->norder && may_turn(p->order[0]) && !p->evaluate && !p->select && !p->choice &&
                     p->ndescend == 0))
        return WEIR_OK;
    return weir_fail(err, WEIR_EINVAL,
                     "policy %s: a turn needs an order of fields that begins with id, index, TYPE.id or TYPE.index, "
                     "and no evaluate, select, choice and descend",
                     p->name ? p->name : "?");
}

/* Compares two vertices by a field that is an id or an index: negative, 0 or positive, smallest first. */
static inline int by_id_or_index(const weir_graph *g, const struct order_field *f, weir_vertex a, weir_vertex b)
{
    int64_t x, y;

    if (f->what == ORDER_INDEX)
        return a == b ? 0 : vertex_before(g, a, b) ? -1 : 1;
    x = order_id(vertex_at(g, a));
    y = order_id(vertex_at(g, b));
    return x < y ? -1 : x > y;
}

/* Compares two vertices by n fields that are ids or indexes: negative, 0 or positive. */
static inline int by_ids(const weir_graph *g, const struct order_field *f, uint32_t n, weir_vertex a, weir_vertex b)
{
    for (; n > 0; n--, f++) {
        int cmp = by_id_or_index(g, f, a, b);
        if (cmp)
            return f->descending ? -cmp : cmp;
    }
    return 0;
}

/* Compares two vertices by the ids of their ancestors of the type `above`: vertices without such an ancestor last. */
static inline int by_ids_above(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    weir_vertex x = vertex_at_or_above(g, a, o->above), y = vertex_at_or_above(g, b, o->above);

    if (x == y)
        return 0;
    return x == WEIR_NONE ? 1 : y == WEIR_NONE ? -1 : by_ids(g, o->fields, o->nabove, x, y);
}

static bool before_by_id(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    int cmp = o->nabove ? by_ids_above(g, o, a, b) : 0;

    cmp = cmp ? cmp : by_ids(g, o->fields + o->nabove, o->nkeys - o->nabove, a, b);
    return cmp ? cmp < 0 : vertex_before(g, a, b);
}

/* Whether a field of two siblings is the field of a common ancestor. */
static bool is_common(const weir_graph *g, const struct order_field *f, weir_vertex a, weir_vertex b)
{
    return f->of != WEIR_NO_TYPE && kind_of(g, a)->type != f->of && kind_of(g, b)->type != f->of;
}

/* Compares two vertices by a field that is the index of an ancestor that both have. */
static int by_index_above(const weir_graph *g, const struct order_field *f, weir_vertex a, weir_vertex b)
{
    weir_vertex x = f->of == WEIR_NO_TYPE ? a : vertex_at_or_above(g, a, f->of);
    weir_vertex y = f->of == WEIR_NO_TYPE ? b : vertex_at_or_above(g, b, f->of);
    int cmp = by_id_or_index(g, f, x, y);

    return f->descending ? -cmp : cmp;
}

static bool before_by_fields(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    bool siblings = vertex_at(g, a)->parent == vertex_at(g, b)->parent;

    for (uint32_t i = 0; i < o->nkeys; i++) {
        double x, y;
        if (siblings && is_common(g, &o->fields[i], a, b))
            continue;
        x = field_value(g, &o->fields[i], a);
        y = field_value(g, &o->fields[i], b);
        if (g->shuffled && o->fields[i].what == ORDER_INDEX && x < HUGE_VAL && y < HUGE_VAL) {
            int cmp = by_index_above(g, &o->fields[i], a, b);
            if (cmp)
                return cmp < 0;
        } else if (x < y || x > y) {
            return x < y;
        }
    }
    return vertex_before(g, a, b);
}

static bool before_by_keys(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    const double *x = computed_keys(g, o, a), *y = computed_keys(g, o, b);

    for (uint32_t i = 0; i < o->nkeys; i++)
        if (x[i] < y[i] || x[i] > y[i])
            return x[i] < y[i];
    return vertex_before(g, a, b);
}

double weir_order_score_of(const weir_graph *g, const struct order *o, weir_vertex v)
{
    if (o->scored != WEIR_NO_TYPE)
        v = vertex_at_or_above(g, v, o->scored);
    return v == WEIR_NONE ? (double)NAN : score_known(g, o->scores, v);
}

static bool before_by_numbers(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    double x, y;

    if (o->descent.n)
        return weir_descent_before(g, &o->descent, a, b);
    if (o->scores) {
        x = weir_order_score_of(g, o, a);
        y = weir_order_score_of(g, o, b);
        if (x > y || x < y)
            return x > y;
        if (isnan(x) != isnan(y))
            return isnan(y);
    }
    return o->serial ? before_by_keys(g, o, a, b) : before_by_fields(g, o, a, b);
}

bool weir_order_before(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    if (o->by_id)
        return before_by_id(g, o, a, b);
    return o->numbers ? before_by_numbers(g, o, a, b) : before_by_fields(g, o, a, b);
}

bool weir_order_before_inside(const weir_graph *g, const struct order *o, weir_vertex a, weir_vertex b)
{
    weir_vertex x = vertex_at_or_above(g, a, o->above), y = vertex_at_or_above(g, b, o->above);

    if (x != y && x != WEIR_NONE && y != WEIR_NONE && o->fields[0].what == ORDER_ID) {
        int64_t i = order_id(vertex_at(g, x)), j = order_id(vertex_at(g, y));
        if (i != j)
            return (i < j) != o->fields[0].descending;
    }
    return weir_order_before(g, o, a, b);
}
