/* schema.c - schemas and row maps, each stored once. Invariant: schema 0 has no types. */
#include "aggregate/schema.h"
#include "graph/observer.h"

#include <string.h>

#include "base/bisect.h"

static void schema_free(struct schema *s)
{
    if (s)
        WEIR_FREE(s->codes, s->cols, s);
}

static void row_map_free(struct row_map *l)
{
    if (l)
        WEIR_FREE(l->moves, l->sources, l);
}

static uint32_t intern(weir_graph *g, const uint32_t *codes, uint32_t n);

int weir_aggregates_make(weir_graph *g)
{
    struct aggregates *a = weir_record_make(g, RECORD_AGGREGATES, sizeof *a, NULL);

    if (!a)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < DEFERRED_LEVELS; i++)
        a->deferred[i].vertex = WEIR_NONE;
    return intern(g, NULL, 0) == WEIR_NONE ? WEIR_ENOMEM : WEIR_OK;
}

void weir_aggregates_free(weir_graph *g)
{
    struct aggregates *a = aggregates_in(g);

    for (uint32_t i = 0; a && i < a->nschemas; i++)
        schema_free(a->schemas[i]);
    for (uint32_t i = 0; a && i < a->nrow_maps; i++)
        row_map_free(a->row_maps[i]);
    if (a)
        WEIR_FREE(a->schemas, a->row_maps, a->scratch, a->spare_rows);
    weir_record_drop(g, RECORD_AGGREGATES, NULL);
}

/* With many types the stride has room for a few more types. */
static uint32_t stride_of(const struct schema *s)
{
    uint32_t step = 1;

    while (s->ntypes > SCHEMA_PAIR_TYPES && step <= s->width / 16)
        step *= 2;
    return (s->width + step - 1) / step * step;
}

static struct schema *schema_new(const weir_graph *g, const uint32_t *codes, uint32_t n)
{
    struct schema *s = weir_mem_zalloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->ncols = g->ntypes;
    s->codes = weir_mem_alloc((n ? n : 1) * sizeof *s->codes);
    s->cols = weir_mem_zalloc(s->ncols, sizeof *s->cols);
    if (!s->codes || !s->cols) {
        schema_free(s);
        return NULL;
    }
    if (n)
        memcpy(s->codes, codes, n * sizeof *codes);
    while (s->ntypes < n && codes[s->ntypes] <= UINT16_MAX) {
        s->cols[codes[s->ntypes]] = (uint16_t)(CELL_TYPES + TYPE_CELLS * s->ntypes);
        s->ntypes++;
    }
    s->npairs = n - s->ntypes;
    s->width = CELL_TYPES + TYPE_CELLS * s->ntypes + PAIR_CELLS * s->npairs;
    s->stride = stride_of(s);
    return s;
}

static int widen_scratch(weir_graph *g, uint32_t width)
{
    int64_t *wide;
    if (width <= aggregates_in(g)->scratch_width)
        return WEIR_OK;
    wide = weir_mem_realloc(aggregates_in(g)->scratch, (size_t)width * SCRATCH_VECTORS * sizeof *wide);
    if (!wide)
        return WEIR_ENOMEM;
    aggregates_in(g)->scratch = wide;
    aggregates_in(g)->scratch_width = width;
    return WEIR_OK;
}

/* The schema of n ascending codes; WEIR_NONE: out of memory. */
static uint32_t intern(weir_graph *g, const uint32_t *codes, uint32_t n)
{
    struct schema *s;

    for (uint32_t i = aggregates_in(g)->nschemas; i-- > 0;) {
        s = aggregates_in(g)->schemas[i];
        if (s->ntypes + s->npairs == n && (n == 0 || memcmp(s->codes, codes, n * sizeof *codes) == 0))
            return i;
    }
    if (weir_array_reserve(&aggregates_in(g)->schemas, &aggregates_in(g)->schemas_cap, aggregates_in(g)->nschemas + 1,
                           sizeof *aggregates_in(g)->schemas))
        return WEIR_NONE;
    s = schema_new(g, codes, n);
    if (!s)
        return WEIR_NONE;
    if (widen_scratch(g, s->width)) {
        schema_free(s);
        return WEIR_NONE;
    }
    aggregates_in(g)->schemas[aggregates_in(g)->nschemas] = s;
    return aggregates_in(g)->nschemas++;
}

static uint32_t pair_code(uint32_t outer, uint32_t t)
{
    return (outer + 1) << 16 | t;
}

/* Writes the union of two ascending lists; returns the length. */
static uint32_t unite(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0, k = 0; i < na || k < nb;) {
        uint32_t x = k == nb || (i < na && a[i] <= b[k]) ? a[i] : b[k];
        i += i < na && a[i] == x;
        k += k < nb && b[k] == x;
        out[n++] = x;
    }
    return n;
}

/* Cuts off the pairs where there are too many types. */
static uint32_t drop_pairs(const uint32_t *codes, uint32_t n)
{
    uint32_t types = 0;

    while (types < n && codes[types] <= UINT16_MAX)
        types++;
    return types > SCHEMA_PAIR_TYPES ? types : n;
}

static uint32_t schema_with(weir_graph *g, uint32_t schema, weir_type kid_type, uint32_t kid_schema)
{
    const struct schema *s = aggregates_in(g)->schemas[schema], *k = aggregates_in(g)->schemas[kid_schema];
    uint32_t ns = s->ntypes + s->npairs, nk = k->ntypes + k->npairs, most = ns + nk + k->ntypes + 1;
    uint32_t *codes = weir_mem_alloc((size_t)most * 3 * sizeof *codes), *more, *pairs;
    uint32_t n, made = schema, type = kid_type;

    if (!codes)
        return WEIR_NONE;
    more = codes + most;
    pairs = more + most;
    for (uint32_t i = 0; i < k->ntypes; i++)
        pairs[i] = pair_code(kid_type, k->codes[i]);
    n = unite(s->codes, ns, k->codes, nk, codes);
    n = unite(codes, n, &type, 1, more);
    n = drop_pairs(codes, unite(more, n, pairs, k->ntypes, codes));
    if (n != ns || memcmp(codes, s->codes, n * sizeof *codes) != 0)
        made = intern(g, codes, n);
    weir_mem_free(codes);
    return made;
}

uint32_t weir_schema_with(weir_graph *g, uint32_t schema, weir_type kid_type, uint32_t kid_schema)
{
    uint32_t at = (kid_schema + kid_type) % SCHEMA_KNOWN, made = aggregates_in(g)->schemas[schema]->known[at].made;

    if (made && aggregates_in(g)->schemas[schema]->known[at].kid == kid_schema &&
        aggregates_in(g)->schemas[schema]->known[at].type == kid_type)
        return made - 1;
    made = schema_with(g, schema, kid_type, kid_schema);
    if (made == WEIR_NONE)
        return WEIR_NONE;
    aggregates_in(g)->schemas[schema]->known[at].kid = kid_schema;
    aggregates_in(g)->schemas[schema]->known[at].type = kid_type;
    aggregates_in(g)->schemas[schema]->known[at].made = made + 1;
    return made;
}

uint32_t weir_pair_cell(const struct schema *s, weir_type outer, weir_type t)
{
    uint32_t code = pair_code(outer, t), end = s->ntypes + s->npairs, at;

    WEIR_BISECT(at, s->ntypes, end, s->codes[at] < code);
    return at < end && s->codes[at] == code ? CELL_TYPES + TYPE_CELLS * s->ntypes + PAIR_CELLS * (at - s->ntypes) : 0;
}

static void add_move(struct row_map *l, uint32_t from, uint32_t to, bool max, bool gated)
{
    l->moves[l->nmoves++] = (struct move){(uint16_t)from, (uint16_t)to, max, gated};
}

/* Adds a cell of a pair, a maximum over at most two cells of a child: the child's own, and the same pair below the
 * child. */
static void add_source(struct row_map *l, const struct schema *p, uint32_t from, uint32_t to, bool gated)
{
    uint16_t *sources = l->sources[to - CELL_TYPES - TYPE_CELLS * p->ntypes];

    sources[sources[0] ? 1 : 0] = (uint16_t)from;
    add_move(l, from, to, true, gated);
}

static void map_type(struct row_map *l, const struct schema *p, const struct schema *k, weir_type t)
{
    uint32_t from = type_cell(k, t), to = type_cell(p, t), pair = weir_pair_cell(p, l->kid_type, t);

    add_move(l, from + TYPE_TOTAL, to + TYPE_TOTAL, false, false);
    add_move(l, from + TYPE_FREE, to + TYPE_FREE, false, true);
    add_move(l, from + TYPE_IDLE, to + TYPE_IDLE, false, true);
    if (pair) {
        add_source(l, p, from + TYPE_FREE, pair + PAIR_FREE, true);
        add_source(l, p, from + TYPE_TOTAL, pair + PAIR_TOTAL, false);
    }
}

static void map_pairs(struct row_map *l, const struct schema *p, const struct schema *k)
{
    for (uint32_t i = 0; i < k->npairs; i++) {
        uint32_t code = k->codes[k->ntypes + i];
        uint32_t from = CELL_TYPES + TYPE_CELLS * k->ntypes + PAIR_CELLS * i;
        uint32_t to = weir_pair_cell(p, (weir_type)((code >> 16) - 1), (weir_type)(code & UINT16_MAX));
        if (to) {
            add_source(l, p, from + PAIR_FREE, to + PAIR_FREE, true);
            add_source(l, p, from + PAIR_TOTAL, to + PAIR_TOTAL, false);
        }
    }
}

static void put_gated_first(struct row_map *l)
{
    for (uint32_t i = 0; i < l->nmoves; i++)
        if (l->moves[i].gated) {
            struct move m = l->moves[i];
            l->moves[i] = l->moves[l->ngated];
            l->moves[l->ngated++] = m;
        }
}

uint32_t weir_row_map_intern(weir_graph *g, uint32_t parent, uint32_t kid, weir_type kid_type)
{
    const struct schema *p = aggregates_in(g)->schemas[parent], *k = aggregates_in(g)->schemas[kid];
    struct row_map *l;

    for (uint32_t i = aggregates_in(g)->nrow_maps; i-- > 0;) {
        l = aggregates_in(g)->row_maps[i];
        if (l->parent == parent && l->kid == kid && l->kid_type == kid_type)
            return i;
    }
    if (weir_array_reserve(&aggregates_in(g)->row_maps, &aggregates_in(g)->row_maps_cap,
                           aggregates_in(g)->nrow_maps + 1, sizeof *aggregates_in(g)->row_maps))
        return WEIR_NONE;
    l = weir_mem_zalloc(1, sizeof *l);
    if (!l)
        return WEIR_NONE;
    l->moves = weir_mem_alloc(((size_t)k->ntypes * 5 + (size_t)k->npairs * 2 + 1) * sizeof *l->moves);
    l->sources = weir_mem_zalloc((size_t)p->npairs * PAIR_CELLS, sizeof *l->sources);
    if (!l->moves || !l->sources) {
        row_map_free(l);
        return WEIR_NONE;
    }
    l->parent = parent;
    l->kid = kid;
    l->kid_type = kid_type;
    l->own = (uint16_t)type_cell(p, kid_type);
    for (uint32_t i = 0; i < k->ntypes; i++)
        map_type(l, p, k, (weir_type)k->codes[i]);
    map_pairs(l, p, k);
    put_gated_first(l);
    aggregates_in(g)->row_maps[aggregates_in(g)->nrow_maps] = l;
    return aggregates_in(g)->nrow_maps++;
}

/* Whether units of a type are below a vertex. Schemas keep the types of removed vertices, rows do not. */
static bool has_below(const struct schema *s, const struct inner *in, weir_type t)
{
    uint32_t cell = type_cell(s, t);
    return cell && (!in->cells || in->cells[cell + TYPE_TOTAL] > 0);
}

/* Whether some vertex of type `outer` at or below v has units of t below. Opens only vertices with both types
 * below. */
static bool is_above(const weir_graph *g, weir_vertex v, weir_type outer, weir_type t)
{
    const struct inner *in = inner_of(g, v);
    const struct schema *s = in ? aggregates_in(g)->schemas[in->schema] : NULL;

    if (!s || !has_below(s, in, t))
        return false;
    if (kind_of(g, v)->type == outer)
        return true;
    if (s->ntypes <= SCHEMA_PAIR_TYPES) {
        uint32_t pair = weir_pair_cell(s, outer, t);
        return pair && (!in->cells || in->cells[pair + PAIR_TOTAL] > 0);
    }
    for (uint32_t i = 0; type_cell(s, outer) && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && is_above(g, in->kids[i], outer, t))
            return true;
    return false;
}

/* Whether vertices of a type are, or once were, below vertices of the same type. Never turns false again:
 * occupancies depend on the answer. */
static bool is_nested(const weir_graph *g, weir_vertex root, weir_type t)
{
    const struct inner *in = inner_of(g, root);
    const struct schema *s = in ? aggregates_in(g)->schemas[in->schema] : NULL;

    return s && (s->ntypes > SCHEMA_PAIR_TYPES || weir_pair_cell(s, t, t) ||
                 (kind_of(g, root)->type == t && type_cell(s, t)));
}

bool weir_type_above(const weir_graph *g, weir_type outer, weir_type t)
{
    for (uint32_t i = 0; i < g->nroots; i++) {
        weir_vertex root = g->roots[i];
        if (root != WEIR_NONE && (outer == t ? is_nested(g, root, t) : is_above(g, root, outer, t)))
            return true;
    }
    return false;
}
