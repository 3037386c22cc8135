/* rack_table.c - reads the topology of RFC 49, and builds nodes with the topology.
 *
 * Domains are in one array in preorder, each with the index of the end of its subtree. Main invariant: within an entry,
 * each core and each gpu is in at most one domain, and domains of one type have different ids.
 */
#include "rset/rack_table.h"

#include "format/input.h"
#include "idset/idset.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPES 32 /* types of domains in one entry */

enum { CORES, GPUS, KINDS };
static const char *const id_keys[KINDS] = {"cores", "gpus"};
static const char *const id_types[KINDS] = {"core", "gpu"};

struct storage {
    const char *path, *unit;
    int64_t size;
};

/* A domain; the first domain of an entry is the node. */
struct domain {
    const char *type;
    uint32_t id, end;       /* end: index after the last domain of the subtree */
    int64_t memory;         /* GiB; -1: absent */
    weir_idset *own[KINDS]; /* NULL: absent */
    uint32_t storage, nstorage;
};

struct rack_entry {
    weir_idset *ranks;
    uint32_t top; /* index of the domain that is the node */
};

struct weir_rack_table {
    json_t *document; /* owns the texts of domains and storages */
    struct rack_entry *entries;
    uint32_t nentries;
    struct rset_runs runs; /* of ranks, with the index of the entry as class */
    struct domain *domains;
    uint32_t ndomains, domains_cap;
    struct storage *storages;
    uint32_t nstorages, storages_cap;
};

/* The number of domains of one type in an entry so far. */
struct counter {
    const char *type;
    uint32_t n;
};

struct rack_reader {
    weir_rack_table *t;
    const char *source;
    weir_err *err;
    weir_idset *ranks;           /* of all entries so far */
    weir_idset *seen[KINDS];     /* ids in this entry so far */
    struct counter types[TYPES]; /* of this entry */
    uint32_t ntypes;
    char path[512];
    size_t path_len;
};

#define BAD(r, ...) bad(r, WEIR_EINVAL, __VA_ARGS__)

/* Fails with an error at the current path of the document. */
__attribute__((format(printf, 3, 4))) static int bad(const struct rack_reader *r, int code, const char *fmt, ...)
{
    char text[320];
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(text, sizeof text, fmt, ap);
    va_end(ap);
    return weir_fail_at(r->err, code, r->source, 0, 0, "scheduling.children%s: %s", r->path, text);
}

__attribute__((format(printf, 2, 3))) static size_t enter(struct rack_reader *r, const char *fmt, ...)
{
    size_t before = r->path_len, cap = sizeof r->path - before;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = weir_vtext(r->path + before, cap, fmt, ap);
    va_end(ap);
    r->path_len += n > 0 && (size_t)n < cap ? (size_t)n : 0;
    return before;
}

static void leave(struct rack_reader *r, size_t before)
{
    r->path_len = before;
    r->path[before] = '\0';
}

static int read_idset(struct rack_reader *r, const char *key, const json_t *value, weir_idset **out)
{
    weir_err why = {0};
    int rc;

    if (!json_is_string(value))
        return BAD(r, "%s must be a string such as \"0-14\"", key);
    rc = weir_idset_parse(json_string_value(value), json_string_length(value), out, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    return rc < 0 ? bad(r, rc, "%s: \"%.64s\": %s", key, json_string_value(value), why.text) : WEIR_OK;
}

/* ---- domains -------------------------------------------------------------------------------------------------- */

/* Reads the cores or gpus of a domain. Fails if a further domain of the entry has some of the ids. */
static int read_own(struct rack_reader *r, uint32_t at, int kind, const json_t *value)
{
    weir_idset *ids = NULL;
    int rc = read_idset(r, id_keys[kind], value, &ids);

    if (rc < 0)
        return rc;
    r->t->domains[at].own[kind] = ids;
    if (weir_idset_has_intersection(r->seen[kind], ids))
        return BAD(r, "%s: \"%.64s\" has some that another domain has; each is in one", id_keys[kind],
                   json_string_value(value));
    return weir_idset_add(r->seen[kind], ids) < 0 ? weir_fail_nomem(r->err) : WEIR_OK;
}

static int read_memory(struct rack_reader *r, struct domain *d, const json_t *value)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > WEIR_TREEPOOL_CAPACITY)
        return BAD(r, "memory must be a number of GiB from 0 to 2^53, without a fraction");
    d->memory = json_integer_value(value);
    return WEIR_OK;
}

/* Returns the next smaller unit of the list in RFC 14, with the factor between the two, or NULL. */
static const char *smaller_unit(const char *unit, double *factor)
{
    static const char *const units[][6] = {{"PiB", "TiB", "GiB", "MiB", "KiB", "B"},
                                           {"PB", "TB", "GB", "MB", "kB", "B"}};

    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 5; k++)
            if (strcmp(units[i][k], unit) == 0) {
                *factor = i ? 1000 : 1024;
                return units[i][k + 1];
            }
    return NULL;
}

/* Reads a capacity. A capacity with a fraction is converted to smaller units until the fraction is gone. */
static int read_capacity(struct rack_reader *r, struct storage *s, const json_t *value)
{
    double capacity = json_number_value(value), factor = 1;
    const char *smaller;

    if (!json_is_number(value) || !(capacity >= 0) || capacity > (double)WEIR_TREEPOOL_CAPACITY)
        return BAD(r, "capacity must be a number from 0 to 2^53");
    while (capacity != floor(capacity) && (smaller = smaller_unit(s->unit, &factor))) {
        s->unit = smaller;
        capacity *= factor;
    }
    if (capacity > (double)WEIR_TREEPOOL_CAPACITY)
        return BAD(r, "capacity must be a number from 0 to 2^53");
    if (json_is_real(value) && capacity != floor(capacity) && strcmp(s->unit, "B") != 0)
        return BAD(r, "capacity %.17g has a fraction; the unit \"%.32s\" has no smaller one that is known", capacity,
                   s->unit);
    s->size = json_is_integer(value) ? json_integer_value(value) : (int64_t)floor(capacity);
    return WEIR_OK;
}

static int read_store(struct rack_reader *r, const json_t *value)
{
    const json_t *path = json_object_get(value, "path"), *unit = json_object_get(value, "unit");
    struct storage s = {.unit = "GiB"};
    const char *fault;
    int rc;

    if (!json_is_string(path))
        return BAD(r, "must be an object with path (a string), capacity (a number) and perhaps unit");
    if (unit && !json_is_string(unit))
        return BAD(r, "unit must be a string such as \"TiB\"");
    s.path = json_string_value(path);
    s.unit = unit ? json_string_value(unit) : s.unit;
    fault = *s.unit ? weir_text_fault(s.unit, false) : "is empty";
    if (fault)
        return BAD(r, "unit %s", fault);
    if (json_string_length(path) > WEIR_NAME_MAX)
        return BAD(r, "path must have at most %d bytes", WEIR_NAME_MAX);
    rc = read_capacity(r, &s, json_object_get(value, "capacity"));
    if (rc < 0)
        return rc;
    return WEIR_ARRAY_ADD(r->t->storages, r->t->nstorages, r->t->storages_cap, s) ? weir_fail_nomem(r->err) : WEIR_OK;
}

static int read_storage(struct rack_reader *r, struct domain *d, const json_t *list)
{
    if (!json_is_array(list))
        return BAD(r, "storage must be an array of {\"path\": ..., \"capacity\": ...}");
    d->storage = r->t->nstorages;
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t before = enter(r, ".storage[%zu]", i);
        int rc = read_store(r, json_array_get(list, i));
        if (rc < 0)
            return rc;
        leave(r, before);
    }
    d->nstorage = r->t->nstorages - d->storage;
    return WEIR_OK;
}

static int read_domain(struct rack_reader *r, const char *type, const json_t *value, uint32_t depth);

/* Returns the counter of a type, made if missing; NULL if there are too many types. */
static struct counter *counter_of(struct rack_reader *r, const char *type)
{
    uint32_t i = 0;

    while (i < r->ntypes && strcmp(r->types[i].type, type) != 0)
        i++;
    if (i == TYPES)
        return NULL;
    if (i == r->ntypes)
        r->types[r->ntypes++] = (struct counter){type, 0};
    return &r->types[i];
}

static int read_level(struct rack_reader *r, const char *type, const json_t *list, uint32_t depth)
{
    const char *fault = weir_text_fault(type, true);

    if (fault)
        return BAD(r, "the type of domains \"%.64s\" %s", type, fault);
    if (!json_is_array(list))
        return BAD(r, "%.64s must be an array of domains; other keys: cores, gpus, memory, storage", type);
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t before = enter(r, ".%.64s[%zu]", type, i);
        int rc = read_domain(r, type, json_array_get(list, i), depth + 1);
        if (rc < 0)
            return rc;
        leave(r, before);
    }
    return WEIR_OK;
}

static int read_member(struct rack_reader *r, uint32_t at, const char *key, const json_t *value, uint32_t depth)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (strcmp(key, id_keys[kind]) == 0)
            return read_own(r, at, kind, value);
    if (strcmp(key, "memory") == 0)
        return read_memory(r, &r->t->domains[at], value);
    if (strcmp(key, "storage") == 0)
        return read_storage(r, &r->t->domains[at], value);
    return read_level(r, key, value, depth);
}

static int read_domain(struct rack_reader *r, const char *type, const json_t *value, uint32_t depth)
{
    struct counter *counter = counter_of(r, type);
    uint32_t at = r->t->ndomains;
    const char *key;
    json_t *member;

    if (!json_is_object(value))
        return BAD(r, "must be an object such as {\"cores\": \"0-14\", \"gpus\": \"0\"}");
    if (depth > WEIR_TREEPOOL_DEPTH)
        return bad(r, WEIR_ELIMIT, "domains are nested more than %d deep", WEIR_TREEPOOL_DEPTH);
    if (!counter || at == WEIR_TREEPOOL_DOMAINS)
        return bad(r, WEIR_ELIMIT, "more than %d domains, or %d types of them", WEIR_TREEPOOL_DOMAINS, TYPES);
    if (weir_array_reserve(&r->t->domains, &r->t->domains_cap, (size_t)at + 1, sizeof *r->t->domains) < 0)
        return weir_fail_nomem(r->err);
    r->t->domains[at] = (struct domain){.type = type, .id = counter->n++, .memory = -1};
    r->t->ndomains++;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        int rc = read_member(r, at, key, member, depth);
        if (rc < 0)
            return rc;
    }
    r->t->domains[at].end = r->t->ndomains;
    return WEIR_OK;
}

/* ---- entries -------------------------------------------------------------------------------------------------- */

static void drop_seen(struct rack_reader *r)
{
    for (int kind = 0; kind < KINDS; kind++) {
        weir_idset_free(r->seen[kind]);
        r->seen[kind] = NULL;
    }
}

static int read_ranks(struct rack_reader *r, struct rack_entry *e, const json_t *value)
{
    int rc = read_idset(r, "ranks", value, &e->ranks);

    if (rc < 0)
        return rc;
    if (weir_idset_has_intersection(r->ranks, e->ranks))
        return BAD(r, "ranks: \"%.64s\" has a rank that an earlier entry has", json_string_value(value));
    return weir_idset_add(r->ranks, e->ranks) < 0 ? weir_fail_nomem(r->err) : WEIR_OK;
}

static int read_entry(struct rack_reader *r, const json_t *value)
{
    struct rack_entry *e = &r->t->entries[r->t->nentries++];
    size_t before;
    int rc;

    e->top = r->t->ndomains;
    r->ntypes = 0;
    if (!json_is_object(value))
        return BAD(r, "must be an object with ranks and topo");
    rc = read_ranks(r, e, json_object_get(value, "ranks"));
    if (rc < 0)
        return rc;
    for (int kind = 0; kind < KINDS; kind++)
        if (!(r->seen[kind] = weir_idset_new()))
            return weir_fail_nomem(r->err);
    before = enter(r, ".topo");
    rc = read_domain(r, "node", json_object_get(value, "topo"), 0);
    if (rc == WEIR_OK)
        leave(r, before);
    drop_seen(r);
    return rc;
}

static int read_entries(struct rack_reader *r, const json_t *list)
{
    size_t n = json_array_size(list);

    if (list && !json_is_array(list))
        return BAD(r, "must be an array of {\"ranks\": ..., \"topo\": ...}");
    r->t->entries = weir_mem_zalloc(n, sizeof *r->t->entries);
    r->ranks = weir_idset_new();
    if (!r->t->entries || !r->ranks)
        return weir_fail_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        size_t before = enter(r, "[%zu]", i);
        int rc = read_entry(r, json_array_get(list, i));
        if (rc < 0)
            return rc;
        leave(r, before);
    }
    return WEIR_OK;
}

static int list_runs(weir_rack_table *t)
{
    for (uint32_t i = 0; i < t->nentries; i++)
        if (weir_rset_runs_add(&t->runs, t->entries[i].ranks, i) < 0)
            return WEIR_ENOMEM;
    weir_rset_sort_runs(&t->runs);
    return WEIR_OK;
}

int weir_rack_table_read(json_t *scheduling, const char *source, weir_rack_table **out, weir_err *err)
{
    struct rack_reader r = {.source = source, .err = err, .t = weir_mem_zalloc(1, sizeof *r.t)};
    int rc = r.t ? read_entries(&r, json_object_get(scheduling, "children")) : weir_fail_nomem(err);

    if (r.t)
        r.t->document = json_incref(scheduling);
    if (rc == WEIR_OK && list_runs(r.t) < 0)
        rc = weir_fail_nomem(err);
    weir_idset_free(r.ranks);
    drop_seen(&r);
    if (rc < 0)
        weir_rack_table_free(r.t);
    else
        *out = r.t;
    return rc;
}

void weir_rack_table_free(weir_rack_table *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->nentries; i++)
        weir_idset_free(t->entries[i].ranks);
    for (uint32_t i = 0; i < t->ndomains; i++)
        for (int kind = 0; kind < KINDS; kind++)
            weir_idset_free(t->domains[i].own[kind]);
    WEIR_FREE(t->entries, t->runs.list, t->domains, t->storages);
    json_decref(t->document);
    weir_mem_free(t);
}

uint32_t weir_rack_table_extra(const weir_rack_table *t)
{
    uint64_t most = 0;

    for (uint32_t i = 0; t && i < t->nentries; i++) {
        const struct domain *top = &t->domains[t->entries[i].top];
        /* a vertex and its memory for each domain */
        uint64_t n = 2 * (uint64_t)(top->end - t->entries[i].top) + t->nstorages;
        most = n > most ? n : most;
    }
    return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

/* ---- building ------------------------------------------------------------------------------------------------- */

/* A node under construction. */
struct builder {
    const weir_rack_table *t;
    weir_graph *g;
    weir_err *err;
    const weir_idset *have[KINDS]; /* NULL: none */
    weir_idset *rest[KINDS];       /* not yet in a domain */
    int64_t memories, storages;    /* next ids */
};

static int add_ids(struct builder *b, weir_vertex parent, const char *type, const weir_idset *ids)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    uint32_t lo, hi;
    weir_vertex v;
    int rc = WEIR_OK;

    d.type = type;
    for (size_t k = 0; rc == WEIR_OK && weir_idset_run(ids, k, &lo, &hi); k++) {
        d.id = lo;
        rc = weir_graph_add_many(b->g, parent, &d, hi - lo + 1, 1, &v, b->err);
    }
    return rc;
}

/* Adds the ids of a domain, as far as R_lite has the ids, and removes the ids from the rest. */
static int add_own(struct builder *b, weir_vertex parent, const weir_idset *own, int kind)
{
    weir_idset *both = NULL;
    int rc;

    if (!own || !b->have[kind])
        return WEIR_OK;
    if (weir_idset_intersect(own, b->have[kind], &both) < 0 || weir_idset_subtract(b->rest[kind], both) < 0)
        rc = weir_fail_nomem(b->err);
    else
        rc = add_ids(b, parent, id_types[kind], both);
    weir_idset_free(both);
    return rc;
}

static int add_memory(struct builder *b, weir_vertex parent, int64_t size)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;

    d.type = "memory";
    d.unit = "GiB";
    d.size = size;
    d.id = b->memories++;
    return size > 0 ? weir_graph_add(b->g, parent, &d, &v, b->err) : WEIR_OK;
}

static int add_storage(struct builder *b, weir_vertex parent, const struct storage *s)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;
    int rc;

    d.type = "storage";
    d.unit = s->unit;
    d.size = s->size;
    d.id = b->storages++;
    rc = weir_graph_add(b->g, parent, &d, &v, b->err);
    return rc == WEIR_OK ? weir_vertex_set(b->g, v, WEIR_PROPERTIES, "path", s->path, b->err) : rc;
}

/* Returns true if R_lite has some core or gpu of the subtree of a domain, or if the subtree names no cores and no
 * gpus. */
static bool is_there(const struct builder *b, uint32_t at)
{
    bool found = false;

    for (uint32_t i = at; i < b->t->domains[at].end; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const weir_idset *own = b->t->domains[i].own[kind];
            found = found || weir_idset_count(own) > 0;
            if (own && b->have[kind] && weir_idset_has_intersection(own, b->have[kind]))
                return true;
        }
    return !found;
}

static int add_domain(struct builder *b, weir_vertex parent, uint32_t at);

/* Adds the content of a domain below the vertex of the domain. */
static int add_content(struct builder *b, weir_vertex v, uint32_t at)
{
    const struct domain *d = &b->t->domains[at];
    int rc = d->memory < 0 ? WEIR_OK : add_memory(b, v, d->memory);

    for (uint32_t i = 0; rc == WEIR_OK && i < d->nstorage; i++)
        rc = add_storage(b, v, &b->t->storages[d->storage + i]);
    for (int kind = 0; rc == WEIR_OK && kind < KINDS; kind++)
        rc = add_own(b, v, d->own[kind], kind);
    for (uint32_t i = at + 1; rc == WEIR_OK && i < d->end; i = b->t->domains[i].end)
        rc = add_domain(b, v, i);
    return rc;
}

static int add_domain(struct builder *b, weir_vertex parent, uint32_t at)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;
    int rc;

    if (!is_there(b, at))
        return WEIR_OK;
    d.type = b->t->domains[at].type;
    d.id = b->t->domains[at].id;
    rc = weir_graph_add(b->g, parent, &d, &v, b->err);
    return rc == WEIR_OK ? add_content(b, v, at) : rc;
}

static const struct rack_entry *entry_of(const weir_rack_table *t, uint32_t rank)
{
    const struct rset_run *run = t ? weir_rset_run_at(&t->runs, rank) : NULL;
    return run ? &t->entries[run->class] : NULL;
}

/* Adds the domains of an entry, and then the cores and gpus outside of domains. */
static int add_topology(struct builder *b, weir_vertex node, const struct rack_entry *e)
{
    int rc = WEIR_OK;

    for (int kind = 0; kind < KINDS; kind++)
        if (b->have[kind] && weir_idset_copy(b->have[kind], &b->rest[kind]) < 0)
            rc = weir_fail_nomem(b->err);
    rc = rc == WEIR_OK ? add_content(b, node, e->top) : rc;
    for (int kind = 0; rc == WEIR_OK && kind < KINDS; kind++)
        if (b->have[kind])
            rc = add_ids(b, node, id_types[kind], b->rest[kind]);
    for (int kind = 0; kind < KINDS; kind++)
        weir_idset_free(b->rest[kind]);
    return rc;
}

int weir_rack_table_add(const weir_rack_table *t, weir_graph *g, weir_vertex node, uint32_t rank,
                        const struct rset_class *has, weir_err *err)
{
    struct builder b = {.t = t, .g = g, .err = err};
    const struct rack_entry *e = entry_of(t, rank);
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < has->count; i++) {
        const struct rset_child *c = &has->children[i];
        int kind = 0;
        while (kind < KINDS && strcmp(c->type, id_types[kind]) != 0)
            kind++;
        if (e && kind < KINDS)
            b.have[kind] = c->ids;
        else
            rc = add_ids(&b, node, c->type, c->ids);
    }
    return rc == WEIR_OK && e ? add_topology(&b, node, e) : rc;
}
