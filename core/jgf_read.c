/* jgf_read.c - reads JSON Graph Format, as RFC 20 describes it and Fluxion writes it.
 *
 * Of a vertex this reads: id, and in metadata: type, basename, name, id, uniq_id, rank, status or state, unit, size,
 * uuid, properties, tags or ephemeral, extended, paths. `exclusive` says what a job has there, not what the pool is, so
 * it is checked and left alone; "whole": true is the pool's own wish to be allocated as a whole. Of an edge: source,
 * target, and in metadata: subsystem, relationship, back, or name: {SUBSYSTEM: RELATIONSHIP}.
 *
 * Main invariant: the containment edges are made a forest of items first, which proves that there are no cycles, second
 * parents or loose ends; only then vertices are added, in preorder. Nothing recurses.
 */
#include "format.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct item {
    const char *key; /* the vertex' id in the document */
    const json_t *data;
    uint32_t parent, first, last, next;
    int64_t rank; /* its own, or what it has from above */
    weir_vertex v;
};

struct reader {
    const char *source, *path; /* path: of the graph in the document */
    weir_err *err;
    const json_t *nodes, *edges;
    struct item *items;
    uint32_t count;
    uint32_t *slots; /* hash of the keys: item + 1 */
    uint32_t mask;
    weir_graph *g;
};

/* An error at "PATH.ARRAY[i]KEY". */
__attribute__((format(printf, 6, 7))) static int bad(const struct reader *r, int code, const char *array, uint32_t i,
                                                     const char *key, const char *fmt, ...)
{
    char what[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return weir_fail_at(r->err, code, r->source, 0, 0, "%s.%s[%" PRIu32 "]%.64s: %s", r->path, array, i, key, what);
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_NULL: return "null";
    default: return "a boolean";
    }
}

/* A value of metadata; NULL when it is not there or null. */
static const json_t *value_of(const json_t *data, const char *key)
{
    const json_t *value = json_object_get(data, key);
    return json_is_null(value) ? NULL : value;
}

/* A wrong value of metadata: "graph.nodes[3].metadata.size: ...". */
static int bad_value(const struct reader *r, const char *array, uint32_t i, const char *key, const json_t *value,
                     const char *wanted)
{
    char name[80];

    snprintf(name, sizeof name, ".metadata.%.60s", key);
    return bad(r, WEIR_EINVAL, array, i, name, "is %s, %s is wanted", type_name(value), wanted);
}

static int get_text(const struct reader *r, uint32_t i, const json_t *data, const char *key, bool part,
                    const char **out)
{
    const json_t *value = value_of(data, key);
    const char *fault;
    char name[80];

    *out = NULL;
    if (!value)
        return WEIR_OK;
    if (!json_is_string(value))
        return bad_value(r, "nodes", i, key, value, "a string");
    fault = weir_text_fault(json_string_value(value), part);
    snprintf(name, sizeof name, ".metadata.%s", key);
    if (fault && *json_string_value(value))
        return bad(r, WEIR_EINVAL, "nodes", i, name, "this text %s", fault);
    if (*json_string_value(value))
        *out = json_string_value(value);
    return WEIR_OK;
}

/* Leaves *out alone when the value is not there. */
static int get_integer(const struct reader *r, uint32_t i, const json_t *data, const char *key, int64_t min,
                       int64_t max, int64_t *out)
{
    const json_t *value = value_of(data, key);
    char name[80];

    if (!value)
        return WEIR_OK;
    if (!json_is_integer(value))
        return bad_value(r, "nodes", i, key, value, "an integer");
    snprintf(name, sizeof name, ".metadata.%s", key);
    if (json_integer_value(value) < min || json_integer_value(value) > max)
        return bad(r, WEIR_EINVAL, "nodes", i, name, "is %lld, it must be from %lld to %lld",
                   (long long)json_integer_value(value), (long long)min, (long long)max);
    *out = json_integer_value(value);
    return WEIR_OK;
}

static int get_bool(const struct reader *r, uint32_t i, const json_t *data, const char *key, bool *out)
{
    const json_t *value = value_of(data, key);

    if (value && !json_is_boolean(value))
        return bad_value(r, "nodes", i, key, value, "true or false");
    *out = json_is_true(value);
    return WEIR_OK;
}

/* ---- the forest ----------------------------------------------------------------------------------------------- */

static uint32_t hash_text(const char *s)
{
    uint32_t h = 2166136261u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h ^ h >> 15;
}

/* The slot of a key: where it is, or where it would go. */
static uint32_t find_slot(const struct reader *r, const char *key)
{
    uint32_t i = hash_text(key) & r->mask;

    while (r->slots[i] && strcmp(r->items[r->slots[i] - 1].key, key) != 0)
        i = (i + 1) & r->mask;
    return i;
}

static int read_item(struct reader *r, uint32_t i)
{
    const json_t *node = json_array_get(r->nodes, i), *key = json_object_get(node, "id");
    struct item *it = &r->items[i];
    uint32_t slot;

    if (!json_is_object(node))
        return bad(r, WEIR_EINVAL, "nodes", i, "", "is %s, an object is wanted", type_name(node));
    if (!json_is_string(key))
        return bad(r, WEIR_EINVAL, "nodes", i, ".id", "%s%s, a string is wanted", key ? "is " : "is missing",
                   key ? type_name(key) : "");
    it->key = json_string_value(key);
    it->data = json_object_get(node, "metadata");
    if (!json_is_object(it->data))
        return bad(r, WEIR_EINVAL, "nodes", i, ".metadata", "%s%s, an object is wanted",
                   it->data ? "is " : "is missing", it->data ? type_name(it->data) : "");
    it->parent = it->first = it->last = it->next = NONE;
    it->v = WEIR_NONE;
    slot = find_slot(r, it->key);
    if (r->slots[slot])
        return bad(r, WEIR_EINVAL, "nodes", i, ".id", "\"%.100s\" is taken by %s.nodes[%" PRIu32 "]", it->key, r->path,
                   r->slots[slot] - 1);
    r->slots[slot] = i + 1;
    return WEIR_OK;
}

static int read_items(struct reader *r)
{
    size_t n = json_array_size(r->nodes), size = 16;

    if (n >= WEIR_VERTICES_MAX)
        return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0, "%s.nodes: more than 2^31 vertices", r->path);
    while (size < 2 * n)
        size *= 2;
    r->items = weir_mem_zalloc(n, sizeof *r->items);
    r->slots = weir_mem_zalloc(size, sizeof *r->slots);
    if (!r->items || !r->slots)
        return weir_fail_nomem(r->err);
    r->mask = (uint32_t)(size - 1);
    for (r->count = 0; r->count < n; r->count++) {
        int rc = read_item(r, r->count);
        if (rc < 0)
            return rc;
    }
    return WEIR_OK;
}

/* One end of edge i. */
static int find_end(const struct reader *r, uint32_t i, const json_t *edge, const char *which, uint32_t *out)
{
    const json_t *key = json_object_get(edge, which);
    char name[16];

    snprintf(name, sizeof name, ".%s", which);
    if (!json_is_string(key))
        return bad(r, WEIR_EINVAL, "edges", i, name, "%s%s, the id of a vertex is wanted", key ? "is " : "is missing",
                   key ? type_name(key) : "");
    *out = r->slots[find_slot(r, json_string_value(key))];
    if (!*out)
        return bad(r, WEIR_EINVAL, "edges", i, name, "there is no vertex \"%.100s\"", json_string_value(key));
    --*out;
    return WEIR_OK;
}

static const char *containment_path(const struct item *it)
{
    return json_string_value(json_object_get(json_object_get(it->data, "paths"), "containment"));
}

/* Whether the paths say that `low` lies in `high`. */
static bool path_below(const struct item *low, const struct item *high)
{
    const char *l = containment_path(low), *h = containment_path(high);
    size_t n = h ? strlen(h) : 0;

    return l && h && strncmp(l, h, n) == 0 && l[n] == '/';
}

static int set_parent(struct reader *r, uint32_t i, uint32_t child, uint32_t parent)
{
    struct item *c = &r->items[child], *p = &r->items[parent];

    if (child == parent)
        return bad(r, WEIR_EINVAL, "edges", i, "", "vertex \"%.100s\" contains itself", c->key);
    if (c->parent == parent)
        return WEIR_OK;
    if (c->parent != NONE)
        return bad(r, WEIR_EINVAL, "edges", i, "", "vertex \"%.80s\" has two parents, \"%.80s\" and \"%.80s\"", c->key,
                   r->items[c->parent].key, p->key);
    c->parent = parent;
    if (p->last == NONE)
        p->first = child;
    else
        r->items[p->last].next = child;
    p->last = child;
    return WEIR_OK;
}

/* What one edge says in one subsystem; texts may be NULL. */
struct relation {
    uint32_t source, target;
    const char *subsystem, *type, *back;
};

typedef int edge_fn(struct reader *r, uint32_t i, const struct relation *e);

/* "in" is the way back of "contains", and so is an edge without a name that leads up along the paths. */
static int contain(struct reader *r, uint32_t i, const struct relation *e)
{
    bool up = e->type ? strcmp(e->type, "in") == 0 : path_below(&r->items[e->source], &r->items[e->target]);

    if (strcmp(e->subsystem, "containment") != 0)
        return WEIR_OK;
    return up ? set_parent(r, i, e->source, e->target) : set_parent(r, i, e->target, e->source);
}

static int add_edge(struct reader *r, uint32_t i, const struct relation *e)
{
    weir_err why = {0};
    int rc;

    if (strcmp(e->subsystem, "containment") == 0)
        return WEIR_OK;
    rc = weir_edge_add(r->g, r->items[e->source].v, r->items[e->target].v, e->subsystem, e->type ? e->type : "contains",
                       e->back, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    return rc < 0 ? bad(r, rc, "edges", i, "", "%s", why.text) : WEIR_OK;
}

static int edge_text(const struct reader *r, uint32_t i, const json_t *data, const char *key, const char **out)
{
    const json_t *value = value_of(data, key);

    if (!value)
        return WEIR_OK;
    if (!json_is_string(value))
        return bad_value(r, "edges", i, key, value, "a string");
    if (weir_text_fault(json_string_value(value), false))
        return bad(r, WEIR_EINVAL, "edges", i, ".metadata", "%s %s", key,
                   weir_text_fault(json_string_value(value), false));
    *out = json_string_value(value);
    return WEIR_OK;
}

/* metadata.name: {SUBSYSTEM: RELATIONSHIP, ...} */
static int each_name(struct reader *r, uint32_t i, const json_t *names, struct relation *e, edge_fn *fn)
{
    int rc = WEIR_OK;

    for (void *it = json_object_iter((json_t *)names); rc == WEIR_OK && it;
         it = json_object_iter_next((json_t *)names, it)) {
        const json_t *type = json_object_iter_value(it);
        if (!json_is_string(type))
            return bad_value(r, "edges", i, "name", type, "a relationship for each subsystem");
        e->subsystem = json_object_iter_key(it);
        if (weir_text_fault(e->subsystem, false) || weir_text_fault(json_string_value(type), false))
            return bad(r, WEIR_EINVAL, "edges", i, ".metadata.name", "an empty or unprintable text");
        e->type = json_string_value(type);
        rc = fn(r, i, e);
    }
    return rc;
}

/* Calls fn for each relation of edge i. */
static int each_relation(struct reader *r, uint32_t i, edge_fn *fn)
{
    const json_t *edge = json_array_get(r->edges, i), *data = value_of(edge, "metadata"), *names;
    struct relation e = {0, 0, "containment", NULL, NULL};
    int rc;

    if (!json_is_object(edge))
        return bad(r, WEIR_EINVAL, "edges", i, "", "is %s, an object is wanted", type_name(edge));
    if (data && !json_is_object(data))
        return bad(r, WEIR_EINVAL, "edges", i, ".metadata", "is %s, an object is wanted", type_name(data));
    rc = find_end(r, i, edge, "source", &e.source);
    if (rc == WEIR_OK)
        rc = find_end(r, i, edge, "target", &e.target);
    if (rc == WEIR_OK)
        rc = edge_text(r, i, data, "subsystem", &e.subsystem);
    if (rc == WEIR_OK)
        rc = edge_text(r, i, data, "relationship", &e.type);
    if (rc == WEIR_OK)
        rc = edge_text(r, i, data, "back", &e.back);
    if (rc < 0)
        return rc;
    names = value_of(data, "name");
    return json_is_object(names) && !value_of(data, "subsystem") ? each_name(r, i, names, &e, fn) : fn(r, i, &e);
}

static int each_edge(struct reader *r, edge_fn *fn)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < json_array_size(r->edges); i++)
        rc = each_relation(r, i, fn);
    return rc;
}

/* ---- pools ---------------------------------------------------------------------------------------------------- */

/* Whether a pool without a name of its own would have this one. */
static bool is_derived(const char *name, const char *basename, int64_t id)
{
    size_t n = strlen(basename);
    char digits[24] = "";

    if (id != WEIR_NO_ID)
        snprintf(digits, sizeof digits, "%" PRId64, id);
    return strncmp(name, basename, n) == 0 && strcmp(name + n, digits) == 0;
}

/* The number at the end of a name; what is before it must be `stem` unless that is NULL. */
static int64_t id_of_name(const char *name, const char *stem)
{
    size_t n = strlen(name), i = n;

    while (i > 0 && isdigit((unsigned char)name[i - 1]))
        i--;
    if (i == n || n - i > 18 || (stem && (strlen(stem) != i || memcmp(stem, name, i) != 0)))
        return WEIR_NO_ID;
    return strtoll(name + i, NULL, 10);
}

/* The number that a vertex without an id and a name goes by. */
static int64_t id_of_key(const struct reader *r, uint32_t i)
{
    const char *key = r->items[i].key;

    return *key && strspn(key, "0123456789") == strlen(key) ? id_of_name(key, NULL) : WEIR_NO_ID;
}

/* What is not given follows from the rest: the name from the path, the id from the name. */
static int name_item(const struct reader *r, uint32_t i, weir_pool_desc *d)
{
    const struct item *it = &r->items[i];
    const char *path = containment_path(it), *tail = path ? strrchr(path, '/') : NULL;
    int64_t uniq = id_of_key(r, i);
    bool given = value_of(it->data, "id") != NULL;
    int rc = get_integer(r, i, it->data, "id", -1, INT64_MAX / 4, &d->id);

    if (rc == WEIR_OK)
        rc = get_integer(r, i, it->data, "uniq_id", INT64_MIN, INT64_MAX, &uniq);
    if (rc == WEIR_OK)
        rc = get_text(r, i, it->data, "name", true, &d->name);
    if (rc < 0)
        return rc;
    if (d->id == -1)
        d->id = WEIR_NO_ID;
    if (!d->name && !given && tail && !weir_text_fault(tail + 1, true))
        d->name = tail + 1;
    if (!given && d->name)
        d->id = id_of_name(d->name, strcmp(d->type, "node") == 0 ? NULL : d->basename);
    else if (!given && uniq >= 0 && uniq <= INT64_MAX / 4)
        d->id = uniq;
    if (d->name && is_derived(d->name, d->basename, d->id))
        d->name = NULL;
    return WEIR_OK;
}

static int describe_item(const struct reader *r, uint32_t i, weir_pool_desc *d)
{
    const struct item *it = &r->items[i];
    bool unused;
    int rc = get_text(r, i, it->data, "type", false, &d->type);

    if (rc == WEIR_OK && !d->type)
        return bad(r, WEIR_EINVAL, "nodes", i, ".metadata.type", "is missing or empty");
    if (rc == WEIR_OK)
        rc = get_text(r, i, it->data, "basename", true, &d->basename);
    if (rc == WEIR_OK)
        rc = get_text(r, i, it->data, "unit", false, &d->unit);
    if (rc == WEIR_OK)
        rc = get_text(r, i, it->data, "uuid", false, &d->uuid);
    if (rc == WEIR_OK)
        rc = get_integer(r, i, it->data, "size", 0, INT64_MAX, &d->size);
    if (rc == WEIR_OK)
        rc = get_integer(r, i, it->data, "rank", -1, INT64_MAX, &d->rank);
    if (rc == WEIR_OK)
        rc = get_bool(r, i, it->data, "exclusive", &unused);
    if (rc == WEIR_OK)
        rc = get_bool(r, i, it->data, "whole", &d->exclusive);
    if (rc < 0)
        return rc;
    if (!d->basename)
        d->basename = d->type;
    return name_item(r, i, d);
}

static int set_state(const struct reader *r, uint32_t i)
{
    const struct item *it = &r->items[i];
    const json_t *state = value_of(it->data, "state");
    int64_t status = WEIR_UP;
    int rc = get_integer(r, i, it->data, "status", 0, 1, &status);

    if (rc < 0)
        return rc;
    if (json_is_string(state)) {
        status = weir_state_parse(json_string_value(state));
        if (status < 0)
            return bad(r, WEIR_EINVAL, "nodes", i, ".metadata.state", "\"%.64s\" is no state",
                       json_string_value(state));
    } else if (state) {
        return bad_value(r, "nodes", i, "state", state, "a string");
    }
    return status == WEIR_UP ? WEIR_OK : weir_vertex_set_state(r->g, it->v, (int)status, r->err);
}

/* What jansson allocates goes back where it came from. */
static void free_dump(char *text)
{
    json_free_t release;

    json_get_alloc_funcs(NULL, &release);
    if (text)
        release(text);
}

/* One entry of a map; the value may be NULL or null for none. */
static int set_entry(const struct reader *r, uint32_t i, int map, const char *field, const char *key,
                     const json_t *value)
{
    char *text = NULL, name[80];
    weir_err why = {0};
    int rc;

    if (map == WEIR_EXTENDED) {
        text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!text)
            return weir_fail_nomem(r->err);
    } else if (value && !json_is_null(value) && !json_is_string(value)) {
        snprintf(name, sizeof name, "%s.%.60s", field, key);
        return bad_value(r, "nodes", i, name, value, "a string");
    }
    rc = weir_vertex_set(r->g, r->items[i].v, map, key,
                         text                    ? text
                         : json_is_string(value) ? json_string_value(value)
                                                 : "",
                         &why);
    free_dump(text);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    snprintf(name, sizeof name, ".metadata.%s", field);
    return rc < 0 ? bad(r, rc, "nodes", i, name, "%s", why.text) : WEIR_OK;
}

/* A map: an object, or an array of keys without values. */
static int set_map(const struct reader *r, uint32_t i, int map, const char *field)
{
    json_t *entries = (json_t *)value_of(r->items[i].data, field);
    int rc = WEIR_OK;

    if (!entries)
        return WEIR_OK;
    if (!json_is_object(entries) && !(json_is_array(entries) && map != WEIR_EXTENDED))
        return bad_value(r, "nodes", i, field, entries, "an object");
    for (void *it = json_object_iter(entries); rc == WEIR_OK && it; it = json_object_iter_next(entries, it))
        rc = set_entry(r, i, map, field, json_object_iter_key(it), json_object_iter_value(it));
    for (size_t k = 0; rc == WEIR_OK && k < json_array_size(entries); k++) {
        const json_t *key = json_array_get(entries, k);
        if (!json_is_string(key))
            return bad_value(r, "nodes", i, field, key, "a name");
        rc = set_entry(r, i, map, field, json_string_value(key), NULL);
    }
    return rc;
}

static int add_item(struct reader *r, uint32_t i)
{
    struct item *it = &r->items[i];
    const struct item *above = it->parent == NONE ? NULL : &r->items[it->parent];
    int64_t inherited = above ? above->rank : WEIR_NO_RANK;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_err why = {0};
    int rc = describe_item(r, i, &d);

    if (rc < 0)
        return rc;
    it->rank = d.rank == WEIR_NO_RANK ? inherited : d.rank;
    if (d.rank == inherited)
        d.rank = WEIR_NO_RANK; /* a vertex has the rank of what it is in, for nothing */
    rc = weir_graph_add(r->g, above ? above->v : WEIR_NONE, &d, &it->v, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc < 0)
        return bad(r, rc, "nodes", i, "", "%s", why.text);
    rc = set_state(r, i);
    if (rc == WEIR_OK)
        rc = set_map(r, i, WEIR_PROPERTIES, "properties");
    if (rc == WEIR_OK)
        rc = set_map(r, i, WEIR_TAGS, "tags");
    if (rc == WEIR_OK)
        rc = set_map(r, i, WEIR_TAGS, "ephemeral");
    return rc < 0 ? rc : set_map(r, i, WEIR_EXTENDED, "extended");
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

/* Adds a root and all below it, counting them. */
static int add_tree(struct reader *r, uint32_t root, uint32_t *added)
{
    uint32_t at = root, depth = 1;
    int rc = add_item(r, root);

    for (++*added; rc == WEIR_OK; ++*added) {
        if (r->items[at].first != NONE) {
            at = r->items[at].first;
            if (++depth > WEIR_PATH_DEPTH)
                return bad(r, WEIR_ELIMIT, "nodes", at, "", "more than %d levels deep", WEIR_PATH_DEPTH);
        } else {
            for (; at != root && r->items[at].next == NONE; depth--)
                at = r->items[at].parent;
            if (at == root)
                return WEIR_OK;
            at = r->items[at].next;
        }
        rc = add_item(r, at);
    }
    return rc;
}

static int fail_cycle(const struct reader *r)
{
    uint32_t at = 0;

    while (r->items[at].v != WEIR_NONE)
        at++;
    for (uint32_t n = 0; n < r->count; n++)
        at = r->items[at].parent; /* onto the cycle, if `at` hangs below it */
    return bad(r, WEIR_EINVAL, "nodes", at, "", "vertex \"%.100s\" is below itself: the edges make a cycle",
               r->items[at].key);
}

static int build(struct reader *r)
{
    uint32_t added = 0;
    int rc = read_items(r);

    if (rc == WEIR_OK)
        rc = each_edge(r, contain);
    if (rc < 0)
        return rc;
    r->g = weir_graph_new();
    if (!r->g)
        return weir_fail_nomem(r->err);
    weir_graph_begin(r->g);
    if (weir_graph_reserve(r->g, r->count) < 0)
        return weir_fail_nomem(r->err);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->count; i++)
        if (r->items[i].parent == NONE)
            rc = add_tree(r, i, &added);
    if (rc == WEIR_OK && added < r->count)
        return fail_cycle(r);
    if (rc == WEIR_OK)
        rc = each_edge(r, add_edge);
    return rc < 0 ? rc : weir_graph_end(r->g, r->err);
}

int weir_jgf_build(const json_t *graph, const char *path, const char *source, weir_graph **out, weir_err *err)
{
    struct reader r = {.source = source, .path = path, .err = err};
    int rc;

    r.nodes = json_object_get(graph, "nodes");
    r.edges = json_object_get(graph, "edges");
    if (!json_is_object(graph))
        return weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "%s: an object with nodes and edges is wanted", path);
    if (!json_is_array(r.nodes) || json_array_size(r.nodes) == 0)
        return weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "%s.nodes: an array of vertices is wanted", path);
    if (!json_is_array(r.edges))
        return weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "%s.edges: an array of edges is wanted", path);
    rc = build(&r);
    weir_mem_free(r.items);
    weir_mem_free(r.slots);
    if (rc < 0)
        weir_graph_free(r.g);
    else
        *out = r.g;
    return rc;
}

int weir_jgf_parse(const char *text, size_t len, const char *source, weir_graph **out, weir_err *err)
{
    json_t *root, *graph;
    int rc = weir_json_object(text, len, source, &root, err);

    if (rc < 0)
        return rc;
    graph = json_object_get(root, "graph");
    if (graph)
        rc = weir_jgf_build(graph, "graph", source, out, err);
    else if ((graph = json_object_get(json_object_get(root, "scheduling"), "graph")))
        rc = weir_jgf_build(graph, "scheduling.graph", source, out, err);
    else
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "there is no \"graph\" in the outermost object");
    json_decref(root);
    return rc;
}
