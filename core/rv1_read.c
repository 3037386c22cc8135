/* rv1_read.c - reads R version 1 (RFC 20). With scheduling.graph the machine is that graph; otherwise it is
 * cluster0 -> a node for each rank, named by nodelist -> its core, gpu, ... with their ids.
 *
 * Ranks may be spread over R_lite in any order; the hosts of nodelist go to them in ascending order of the ranks.
 *
 * Main invariant: ranks[] is sorted, has every rank once, and `all` is the same set.
 */
#include "format.h"
#include "hostlist.h"
#include "idset.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct child {
    const char *type;
    weir_idset *ids;
};

/* An entry of R_lite. */
struct entry {
    weir_idset *ranks;
    struct child *children;
    uint32_t count, cap;
};

struct rank {
    uint32_t rank, entry;
    weir_vertex v;
};

struct reader {
    const char *source;
    weir_err *err;
    const json_t *execution;
    struct entry *entries;
    uint32_t count;
    weir_idset *all;
    struct rank *ranks;
    uint32_t nranks;
    weir_hostlist *hosts; /* NULL: no nodelist */
    weir_graph *g;
};

#define BAD(r, ...) weir_fail_at((r)->err, WEIR_EINVAL, (r)->source, 0, 0, __VA_ARGS__)

/* Reads the idset at `path`, the printf format of a place in the document. */
__attribute__((format(printf, 4, 5))) static int read_idset(const struct reader *r, const json_t *value,
                                                            weir_idset **out, const char *path, ...)
{
    weir_err why = {0};
    char where[160];
    va_list ap;
    int rc;

    va_start(ap, path);
    vsnprintf(where, sizeof where, path, ap);
    va_end(ap);
    if (!json_is_string(value))
        return BAD(r, "%s: a string such as \"0-3,7\" is wanted", where);
    rc = weir_idset_parse(json_string_value(value), json_string_length(value), out, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc < 0)
        return weir_fail_at(r->err, rc, r->source, 0, 0, "%s: \"%.64s\": %s", where, json_string_value(value),
                            why.text);
    return WEIR_OK;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static int read_child(struct reader *r, uint32_t i, const char *type, const json_t *ids)
{
    struct entry *e = &r->entries[i];
    const char *fault = weir_text_fault(type, true);
    struct child *c;

    if (fault)
        return BAD(r, "execution.R_lite[%" PRIu32 "].children: the type \"%.64s\" %s", i, type, fault);
    if (weir_array_reserve(&e->children, &e->cap, (size_t)e->count + 1, sizeof *e->children) < 0)
        return weir_fail_nomem(r->err);
    c = &e->children[e->count++];
    c->type = type;
    c->ids = NULL;
    return read_idset(r, ids, &c->ids, "execution.R_lite[%" PRIu32 "].children.%.64s", i, type);
}

static int read_entry(struct reader *r, uint32_t i, const json_t *data)
{
    struct entry *e = &r->entries[i];
    json_t *children = json_object_get(data, "children");
    int rc;

    if (!json_is_object(data))
        return BAD(r, "execution.R_lite[%" PRIu32 "]: an object with rank and children is wanted", i);
    rc = read_idset(r, json_object_get(data, "rank"), &e->ranks, "execution.R_lite[%" PRIu32 "].rank", i);
    if (rc < 0)
        return rc;
    if (weir_idset_count(e->ranks) == 0)
        return BAD(r, "execution.R_lite[%" PRIu32 "].rank: is empty, a rank is wanted", i);
    if (weir_idset_has_intersection(r->all, e->ranks))
        return BAD(r, "execution.R_lite[%" PRIu32 "].rank: \"%.64s\" has a rank that an earlier entry has", i,
                   json_string_value(json_object_get(data, "rank")));
    if (weir_idset_add(r->all, e->ranks) < 0)
        return weir_fail_nomem(r->err);
    if (!json_is_object(children))
        return BAD(r, "execution.R_lite[%" PRIu32 "].children: an object such as {\"core\": \"0-3\"} is wanted", i);
    for (void *it = json_object_iter(children); rc == WEIR_OK && it; it = json_object_iter_next(children, it))
        rc = read_child(r, i, json_object_iter_key(it), json_object_iter_value(it));
    return rc;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t x = ((const struct rank *)a)->rank, y = ((const struct rank *)b)->rank;
    return x < y ? -1 : x > y;
}

/* Refuses what is too large, then writes every rank down. */
static int list_ranks(struct reader *r)
{
    uint64_t total = 1;

    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t each = 1, n = weir_idset_count(r->entries[i].ranks);
        for (uint32_t k = 0; k < r->entries[i].count && each < WEIR_VERTICES_MAX; k++)
            each += weir_idset_count(r->entries[i].children[k].ids);
        if (each >= WEIR_VERTICES_MAX || n >= WEIR_VERTICES_MAX || (total += n * each) >= WEIR_VERTICES_MAX)
            return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0,
                                "execution.R_lite[%" PRIu32 "]: more than 2^31 pools", i);
    }
    r->ranks = weir_mem_zalloc((size_t)weir_idset_count(r->all), sizeof *r->ranks);
    if (!r->ranks || weir_graph_reserve(r->g, (uint32_t)total) < 0)
        return weir_fail_nomem(r->err);
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t lo, hi;
        for (size_t k = 0; weir_idset_run(r->entries[i].ranks, k, &lo, &hi); k++)
            for (uint64_t rank = lo; rank <= hi; rank++)
                r->ranks[r->nranks++] = (struct rank){(uint32_t)rank, i, WEIR_NONE};
    }
    qsort(r->ranks, r->nranks, sizeof *r->ranks, compare_ranks);
    return WEIR_OK;
}

static int read_rlite(struct reader *r)
{
    const json_t *list = json_object_get(r->execution, "R_lite");
    size_t n = json_array_size(list);

    if (!json_is_array(list) || n == 0)
        return BAD(r, "execution.R_lite: an array of {\"rank\": ..., \"children\": ...} is wanted");
    r->entries = weir_mem_zalloc(n, sizeof *r->entries);
    r->all = weir_idset_new();
    if (!r->entries || !r->all)
        return weir_fail_nomem(r->err);
    for (r->count = 0; r->count < n;) {
        uint32_t i = r->count++;
        int rc = read_entry(r, i, json_array_get(list, i));
        if (rc < 0)
            return rc;
    }
    return list_ranks(r);
}

static int read_hosts(struct reader *r)
{
    const json_t *list = json_object_get(r->execution, "nodelist");

    if (!list || json_is_null(list))
        return WEIR_OK;
    if (!json_is_array(list))
        return BAD(r, "execution.nodelist: an array of host lists is wanted");
    r->hosts = weir_hostlist_new();
    if (!r->hosts)
        return weir_fail_nomem(r->err);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *text = json_array_get(list, i);
        weir_err why = {0};
        int rc;
        if (!json_is_string(text))
            return BAD(r, "execution.nodelist[%zu]: a string such as \"node[0-3]\" is wanted", i);
        rc = weir_hostlist_append(r->hosts, json_string_value(text), json_string_length(text), &why);
        if (rc == WEIR_ENOMEM)
            return weir_fail_nomem(r->err);
        if (rc < 0)
            return weir_fail_at(r->err, rc, r->source, 0, 0, "execution.nodelist[%zu]: \"%.64s\": %s", i,
                                json_string_value(text), why.text);
    }
    if (weir_hostlist_count(r->hosts) != r->nranks)
        return BAD(r, "execution.nodelist: names %" PRIu64 " hosts, but R_lite has %" PRIu32 " ranks",
                   weir_hostlist_count(r->hosts), r->nranks);
    return WEIR_OK;
}

/* ---- building ------------------------------------------------------------------------------------------------- */

/* Adds node i, called by the host's name, for which there is room twice. */
static int add_node(struct reader *r, uint32_t i, weir_vertex cluster, char *name, size_t size)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    const char *fault;

    d.type = "node";
    d.rank = r->ranks[i].rank;
    d.id = d.rank;
    if (!r->hosts)
        return weir_graph_add(r->g, cluster, &d, &r->ranks[i].v, r->err);
    weir_hostlist_nth(r->hosts, i, name, size);
    fault = weir_text_fault(name, true);
    if (fault)
        return BAD(r, "execution.nodelist: the name of host %" PRIu32 " %s", i, fault);
    weir_host_describe(name, name + size, &d);
    return weir_graph_add(r->g, cluster, &d, &r->ranks[i].v, r->err);
}

static int add_children(struct reader *r, const struct rank *node)
{
    const struct entry *e = &r->entries[node->entry];
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < e->count; i++) {
        weir_pool_desc d = WEIR_POOL_DESC_INIT;
        uint32_t lo, hi;
        weir_vertex v;
        d.type = e->children[i].type;
        for (size_t k = 0; rc == WEIR_OK && weir_idset_run(e->children[i].ids, k, &lo, &hi); k++) {
            d.id = lo;
            rc = weir_graph_add_many(r->g, node->v, &d, hi - lo + 1, 1, &v, r->err);
        }
    }
    return rc;
}

static int add_nodes(struct reader *r)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    char *name = weir_mem_alloc(2 * (WEIR_NAME_MAX + 1));
    weir_vertex cluster;
    int rc;

    d.type = "cluster";
    d.id = 0;
    if (!name)
        return weir_fail_nomem(r->err);
    rc = weir_graph_add(r->g, WEIR_NONE, &d, &cluster, r->err);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nranks; i++) {
        rc = add_node(r, i, cluster, name, WEIR_NAME_MAX + 1);
        if (rc == WEIR_OK)
            rc = add_children(r, &r->ranks[i]);
    }
    weir_mem_free(name);
    return rc;
}

/* "NAME@TYPE" is a property of the node as it stands, and NAME one of what the node has of that type. */
static int set_property(struct reader *r, weir_vertex node, const char *name)
{
    const char *at = strchr(name, '@');
    char *stem;
    int rc = weir_vertex_set(r->g, node, WEIR_PROPERTIES, name, "", r->err);

    if (rc < 0 || !at || at == name)
        return rc;
    stem = weir_mem_strndup(name, (size_t)(at - name));
    if (!stem)
        return weir_fail_nomem(r->err);
    for (uint32_t i = 0; rc == WEIR_OK && i < weir_vertex_children(r->g, node); i++) {
        weir_vertex v = weir_vertex_child(r->g, node, i);
        if (strcmp(weir_vertex_type(r->g, v), at + 1) == 0)
            rc = weir_vertex_set(r->g, v, WEIR_PROPERTIES, stem, "", r->err);
    }
    weir_mem_free(stem);
    return rc;
}

static int set_on_ranks(struct reader *r, const char *name, const weir_idset *ranks)
{
    uint32_t lo, hi, i = 0;
    int rc = WEIR_OK;

    for (size_t k = 0; rc == WEIR_OK && weir_idset_run(ranks, k, &lo, &hi); k++) {
        struct rank key = {lo, 0, 0};
        const struct rank *first = bsearch(&key, r->ranks, r->nranks, sizeof key, compare_ranks);
        for (i = (uint32_t)(first - r->ranks); rc == WEIR_OK && i < r->nranks && r->ranks[i].rank <= hi; i++)
            rc = set_property(r, r->ranks[i].v, name);
    }
    return rc;
}

static int read_property(struct reader *r, const char *name, const json_t *value)
{
    static const char illegal[] = "!&'\"^`|()";
    const char *fault = weir_text_fault(name, false);
    weir_idset *ranks = NULL;
    int rc;

    if (fault)
        return BAD(r, "execution.properties: the name \"%.64s\" %s", name, fault);
    if (name[strcspn(name, illegal)])
        return BAD(r, "execution.properties: the name \"%.64s\" has a '%c' in it; none of %s may be", name,
                   name[strcspn(name, illegal)], illegal);
    rc = read_idset(r, value, &ranks, "execution.properties.%.64s", name);
    if (rc < 0)
        return rc;
    if (!weir_idset_contains(r->all, ranks))
        rc = BAD(r, "execution.properties.%.64s: \"%.64s\" has a rank that R_lite does not have", name,
                 json_string_value(value));
    else
        rc = set_on_ranks(r, name, ranks);
    weir_idset_free(ranks);
    return rc;
}

static int read_properties(struct reader *r)
{
    json_t *all = json_object_get(r->execution, "properties");
    int rc = WEIR_OK;

    if (all && !json_is_object(all) && !json_is_null(all))
        return BAD(r, "execution.properties: an object such as {\"big\": \"0-3\"} is wanted");
    for (void *it = json_object_iter(all); rc == WEIR_OK && it; it = json_object_iter_next(all, it))
        rc = read_property(r, json_object_iter_key(it), json_object_iter_value(it));
    return rc;
}

static int build(struct reader *r)
{
    int rc;

    r->g = weir_graph_new();
    if (!r->g)
        return weir_fail_nomem(r->err);
    weir_graph_begin(r->g);
    rc = read_rlite(r);
    if (rc == WEIR_OK)
        rc = read_hosts(r);
    if (rc == WEIR_OK)
        rc = add_nodes(r);
    if (rc == WEIR_OK)
        rc = read_properties(r);
    return rc < 0 ? rc : weir_graph_end(r->g, r->err);
}

static void free_reader(struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t k = 0; k < r->entries[i].count; k++)
            weir_idset_free(r->entries[i].children[k].ids);
        weir_mem_free(r->entries[i].children);
        weir_idset_free(r->entries[i].ranks);
    }
    weir_mem_free(r->entries);
    weir_mem_free(r->ranks);
    weir_idset_free(r->all);
    weir_hostlist_free(r->hosts);
}

static int build_rlite(const json_t *execution, const char *source, weir_graph **out, weir_err *err)
{
    struct reader r = {.source = source, .err = err, .execution = execution};
    int rc = build(&r);

    free_reader(&r);
    if (rc < 0)
        weir_graph_free(r.g);
    else
        *out = r.g;
    return rc;
}

int weir_rv1_parse(const char *text, size_t len, const char *source, weir_graph **out, weir_err *err)
{
    json_t *root, *version, *graph, *execution;
    int rc = weir_json_object(text, len, source, &root, err);

    if (rc < 0)
        return rc;
    version = json_object_get(root, "version");
    execution = json_object_get(root, "execution");
    graph = json_object_get(json_object_get(root, "scheduling"), "graph");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "version: 1 is wanted");
    else if (execution && !json_is_object(execution))
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "execution: an object with R_lite and nodelist is wanted");
    else if (graph)
        rc = weir_jgf_build(graph, "scheduling.graph", source, out, err);
    else if (execution)
        rc = build_rlite(execution, source, out, err);
    else
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "neither execution nor scheduling.graph is there");
    json_decref(root);
    return rc;
}
