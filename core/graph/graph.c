/* graph.c - types, kinds, inner records and names of a graph. Layout and main invariant: graph.h. */
#include "graph/observer.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

int64_t weir_graph_now(const weir_graph *g)
{
    return g->now;
}

int weir_graph_writable(const weir_graph *g, weir_err *err)
{
    if (g->matching)
        return weir_fail(err, WEIR_EINVAL, "the graph cannot be changed while a match runs on it");
    return WEIR_OK;
}

int weir_graph_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_reserve(&g->vertices, &g->cap.vertices, n, sizeof *g->vertices);
}

/* ---- types and kinds ---- */

weir_type weir_type_find(const weir_graph *g, const char *name)
{
    weir_name n = weir_strtab_find(&g->names, name, strlen(name));
    return n == WEIR_NO_NAME || n >= g->type_by_name.n ? WEIR_NO_TYPE : g->type_by_name.type[n];
}

const char *weir_type_unit(const weir_graph *g, weir_type t)
{
    weir_name unit = WEIR_NO_NAME;

    for (uint32_t i = 0; t != WEIR_NO_TYPE && i < g->nkinds; i++) {
        if (g->kinds[i].type != t || g->kinds[i].count == 0)
            continue;
        if (unit != WEIR_NO_NAME && unit != g->kinds[i].unit)
            return "";
        unit = g->kinds[i].unit;
    }
    return unit == WEIR_NO_NAME ? "" : weir_strtab_text(&g->names, unit);
}

weir_type weir_type_add(weir_graph *g, const char *name, size_t len)
{
    weir_name n = weir_strtab_add(&g->names, name, len);
    uint32_t had = g->type_by_name.n;

    if (n == WEIR_NO_NAME)
        return WEIR_NO_TYPE;
    if (n < had && g->type_by_name.type[n] != WEIR_NO_TYPE)
        return g->type_by_name.type[n];
    if (g->ntypes >= WEIR_TYPES_MAX ||
        weir_array_reserve(&g->type_by_name.type, &g->type_by_name.n, (size_t)n + 1, sizeof *g->type_by_name.type))
        return WEIR_NO_TYPE;
    for (uint32_t i = had; i < g->type_by_name.n; i++)
        g->type_by_name.type[i] = WEIR_NO_TYPE;
    if (weir_array_reserve(&g->types, &g->cap.types, g->ntypes + 1, sizeof *g->types))
        return WEIR_NO_TYPE;
    g->types[g->ntypes] = (struct type){n, 0};
    g->type_by_name.type[n] = (uint16_t)g->ntypes;
    return (weir_type)g->ntypes++;
}

static bool same_kind(const struct kind *a, const struct kind *b)
{
    return a->type == b->type && a->basename == b->basename && a->unit == b->unit && a->size == b->size &&
           a->exclusive == b->exclusive;
}

static uint32_t kind_hash(const struct kind *k)
{
    uint64_t names = (uint64_t)k->basename << 40 ^ (uint64_t)k->unit << 20 ^ k->type * 2u ^ k->exclusive;

    return (uint32_t)hash_add((uint64_t)k->size, names);
}

/* Finds or adds a kind. Returns the number, WEIR_NONE where out of memory. */
static uint32_t kind_intern(weir_graph *g, const struct kind *k)
{
    uint32_t hash;

    if (g->kind_index.last != WEIR_NONE && same_kind(&g->kinds[g->kind_index.last], k))
        return g->kind_index.last;
    hash = kind_hash(k);
    WEIR_MAP32_EACH (&g->kind_index.numbers, hash, i)
        if (same_kind(&g->kinds[i], k))
            return g->kind_index.last = i;
    if (weir_array_reserve(&g->kinds, &g->cap.kinds, g->nkinds + 1, sizeof *g->kinds) ||
        weir_map32_add(&g->kind_index.numbers, hash, g->nkinds))
        return WEIR_NONE;
    g->kinds[g->nkinds] = *k;
    g->whole_kinds |= k->exclusive;
    if (k->size != 1)
        g->types[k->type].flags |= TYPE_POOLED;
    return g->kind_index.last = g->nkinds++;
}

static int kind_from_desc(weir_graph *g, const weir_pool_desc *d, uint32_t *out, weir_err *err)
{
    struct kind k = {d->size, 0, 0, WEIR_NO_TYPE, d->exclusive, 0};

    k.type = weir_type_add(g, d->type, strlen(d->type));
    if (d->basename)
        k.basename = weir_strtab_add(&g->names, d->basename, strlen(d->basename));
    else if (k.type != WEIR_NO_TYPE)
        k.basename = g->types[k.type].name;
    k.unit = d->unit ? weir_strtab_add(&g->names, d->unit, strlen(d->unit)) : 0;
    if (k.type == WEIR_NO_TYPE && g->ntypes >= WEIR_TYPES_MAX)
        return weir_fail(err, WEIR_ELIMIT, "more than %d types of pools", WEIR_TYPES_MAX);
    if (k.type == WEIR_NO_TYPE || k.basename == WEIR_NO_NAME || k.unit == WEIR_NO_NAME)
        return weir_fail_nomem(err);
    *out = kind_intern(g, &k);
    return *out == WEIR_NONE ? weir_fail_nomem(err) : WEIR_OK;
}

/* ---- vertices ---- */

static int check_text(const char *what, const char *text, weir_err *err)
{
    if (text && strlen(text) > WEIR_NAME_MAX)
        return weir_fail(err, WEIR_ELIMIT, "a %s is longer than %d bytes", what, WEIR_NAME_MAX);
    return WEIR_OK;
}

/* Refuses texts that would break a path or a line. */
static int check_name(const char *what, const char *text, weir_err *err)
{
    for (const char *c = text; c && *c; c++)
        if (text_control(c) || *c == '/')
            return weir_fail(err, WEIR_EINVAL, "a %s must not have a '/' or a control character in it", what);
    return check_text(what, text, err);
}

static int check_desc(const weir_pool_desc *d, weir_err *err)
{
    int rc;

    if (!d->type || !d->type[0])
        return weir_fail(err, WEIR_EINVAL, "a pool needs a type");
    if (d->size < 0)
        return weir_fail(err, WEIR_EINVAL, "a pool of type %.60s has size %lld; sizes are not negative", d->type,
                         (long long)d->size);
    if (d->rank < WEIR_NO_RANK || d->rank > UINT32_MAX)
        return weir_fail(err, WEIR_EINVAL, "rank %lld is out of range", (long long)d->rank);
    rc = check_name("type", d->type, err);
    rc = rc ? rc : check_name("basename", d->basename, err);
    rc = rc ? rc : check_name("name", d->name, err);
    return rc ? rc : check_text("unit", d->unit, err);
}

int weir_kind_add(weir_graph *g, const weir_pool_desc *d, uint32_t *out, weir_err *err)
{
    int rc = check_desc(d, err);
    return rc ? rc : kind_from_desc(g, d, out, err);
}

/* Gives v an inner record, unless v has one. */
static int make_inner(weir_graph *g, weir_vertex v)
{
    uint32_t i = g->free.inners;

    if (vertex_at(g, v)->inner != WEIR_NONE)
        return WEIR_OK;
    if (i != WEIR_NONE) {
        g->free.inners = g->inners[i].schema;
    } else {
        if (weir_array_reserve(&g->inners, &g->cap.inners, g->ninners + 1, sizeof *g->inners))
            return WEIR_ENOMEM;
        i = g->ninners++;
    }
    memset(&g->inners[i], 0, sizeof g->inners[i]);
    g->inners[i].vertex = v;
    g->inners[i].row_map = WEIR_NONE;
    vertex_at(g, v)->inner = i;
    g->types[kind_of(g, v)->type].flags |= TYPE_HAS_KIDS;
    WEIR_TELL(g, promoted, g, v);
    return WEIR_OK;
}

int weir_inners_reserve(weir_graph *g, uint32_t n)
{
    return weir_array_exact(&g->inners, &g->cap.inners, (size_t)g->ninners + n, sizeof *g->inners);
}

/* Widens the list of children: exactly to `need` the first time, by a quarter more later. */
static int widen_kids(struct inner *in, size_t need)
{
    size_t cap = in->kids_cap ? need + need / 4 : need;

    if (need <= in->kids_cap)
        return WEIR_OK;
    cap = cap < 4 ? 4 : cap < UINT32_MAX || need > UINT32_MAX ? cap : UINT32_MAX;
    return weir_array_exact(&in->kids, &in->kids_cap, cap, sizeof *in->kids);
}

int weir_kids_reserve(weir_graph *g, weir_vertex p, uint32_t more)
{
    struct inner *in;

    if (p == WEIR_NONE)
        return weir_array_reserve(&g->roots, &g->cap.roots, (size_t)g->nroots + more, sizeof *g->roots);
    if (make_inner(g, p))
        return WEIR_ENOMEM;
    in = inner_of(g, p);
    return widen_kids(in, (size_t)in->nkids + more);
}

int weir_name_set(weir_graph *g, weir_vertex v, const char *name, weir_err *err)
{
    int rc = check_name("name", name, err);
    weir_name n = rc ? WEIR_NO_NAME : weir_strtab_add(&g->names, name, strlen(name));
    struct pool *p = n == WEIR_NO_NAME ? NULL : weir_pool_get(g, v);

    if (!p)
        return rc ? rc : weir_fail_nomem(err);
    p->name = n;
    return WEIR_OK;
}

int weir_units_check(const weir_graph *g, int64_t size, uint32_t count, weir_err *err)
{
    if (size > (WEIR_UNITS_MAX - g->units) / (int64_t)count)
        return weir_fail(err, WEIR_ELIMIT, "the sizes of all pools add up to more than %lld",
                         (long long)WEIR_UNITS_MAX);
    return WEIR_OK;
}

/* ---- size ---- */

uint32_t weir_graph_count(const weir_graph *g)
{
    return g->live;
}

uint32_t weir_graph_limit(const weir_graph *g)
{
    return g->limit;
}

uint64_t weir_graph_serial(const weir_graph *g)
{
    return g->serial;
}

uint64_t weir_graph_revision(const weir_graph *g)
{
    return g->saves.revision;
}

int weir_graph_set_validity(weir_graph *g, int64_t from, int64_t until, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (from < 0 || from == WEIR_FOREVER)
        return weir_fail(err, WEIR_EINVAL, "validity: expected a start of at least 0, not %" PRId64 " us", from);
    if (until <= from)
        return weir_fail(err, WEIR_EINVAL, "validity: the end, %" PRId64 " us, is not after the start, %" PRId64 " us",
                         until, from);
    g->saves.revision += from != g->valid_from || until != g->valid_until;
    g->valid_from = from;
    g->valid_until = until;
    return WEIR_OK;
}

void weir_graph_validity(const weir_graph *g, int64_t *from, int64_t *until)
{
    *from = g->valid_from;
    *until = g->valid_until;
}

bool weir_vertex_live(const weir_graph *g, weir_vertex v)
{
    return vertex_valid(g, v);
}

uint32_t weir_vertex_generation(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->generation;
}

void weir_free(void *p)
{
    weir_mem_free(p);
}
