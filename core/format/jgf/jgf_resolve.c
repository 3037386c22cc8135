/* jgf_resolve.c - resolves a JSON graph in an existing graph: finds the vertices of the document, and the picks among
 * the vertices. Vertices below an exclusive vertex may be missing in the document, as in the shorthand.
 *
 * Main invariant: no two items have a common vertex; the vertex of an item is found by path when the item is read.
 */
#include "format/jgf/jgf.h"
#include "format/output.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "job/job.h"

/* Position of the vertex found last: in a sorted document the next vertex is there, or soon after. */
struct resolve_step {
    weir_vertex parent;
    uint32_t pos;
};

/* The vertex of an item. */
struct resolved {
    weir_vertex v;
    bool implied; /* a vertex above is taken as a whole */
    bool leads;   /* items below depend on the item */
};

/* Units that the job has of the vertex of an item for a flow. */
struct item_share {
    uint32_t unit;      /* item */
    weir_name endpoint; /* id in the document of the vertex that the units flow to */
    int64_t amount;
};

struct jgf_resolver {
    struct jgf r;              /* first, as on_node gets its address */
    struct resolved *resolved; /* by item */
    uint32_t resolved_cap;
    const weir_graph *within;
    struct resolve_step steps[WEIR_PATH_DEPTH + 1];
    struct weir_map32 items;   /* by vertex */
    struct item_share *shares; /* in the order of items */
    uint32_t nshares, shares_cap;
};

/* ---- vertices by path ----------------------------------------------------------------------------------------- */

static bool is_named(const weir_graph *g, weir_vertex v, const char *name, size_t len)
{
    char digits[24] = "", buf[WEIR_NAME_MAX + 32];
    const struct pool *p = pool_of(g, v);
    const char *text;
    size_t n;

    if (p && p->name != WEIR_NO_NAME)
        return weir_vertex_name(g, v, buf, sizeof buf) == len && memcmp(buf, name, len) == 0;
    text = weir_vertex_basename(g, v);
    n = strlen(text);
    if (len < n || memcmp(text, name, n) != 0)
        return false;
    if (vertex_at(g, v)->id != WEIR_NO_ID)
        snprintf(digits, sizeof digits, "%" PRId64, vertex_at(g, v)->id);
    return strlen(digits) == len - n && memcmp(digits, name + n, len - n) == 0;
}

/* The child of `at` (WEIR_NONE: the root) of a name and, where both have a rank, of that rank. */
static weir_vertex step_down(const weir_graph *g, weir_vertex at, const char *name, size_t len, int64_t rank,
                             struct resolve_step *step)
{
    uint32_t n = g->nroots;
    const weir_vertex *kids = at == WEIR_NONE ? g->roots : kids_of(g, at, &n);

    if (step->parent != at)
        *step = (struct resolve_step){at, 0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pos = (uint32_t)(((uint64_t)step->pos + i) % n);
        weir_vertex v = kids[pos];
        if (v == WEIR_NONE || !is_named(g, v, name, len))
            continue;
        if (rank != WEIR_NO_RANK && own_rank(g, v) != WEIR_NO_RANK && own_rank(g, v) != rank)
            continue;
        step->pos = pos;
        return v;
    }
    return WEIR_NONE;
}

/* The vertex of a path; WEIR_NONE: no such vertex. */
static weir_vertex find_path(struct jgf_resolver *s, const char *path, int64_t rank)
{
    weir_vertex v = WEIR_NONE;

    for (uint32_t depth = 0; *path == '/' && depth <= WEIR_PATH_DEPTH; depth++) {
        size_t len = strcspn(++path, "/");
        v = step_down(s->within, v, path, len, rank, &s->steps[depth]);
        if (v == WEIR_NONE)
            return WEIR_NONE;
        path += len;
    }
    return *path ? WEIR_NONE : v;
}

static const char *path_text(const struct jgf *r, int field)
{
    return r->node.given & 1u << field ? r->node.texts.data + r->node.text[field] : NULL;
}

static int find_vertex(struct jgf *r, const struct jgf_item *it, weir_vertex *v)
{
    struct jgf_resolver *s = (struct jgf_resolver *)r;
    const char *path = path_text(r, JGF_PATH), *other = path_text(r, JGF_OTHER);

    *v = WEIR_NONE;
    if (!path && !other)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", it->at, ".metadata.paths",
                            "is missing; expected a path that identifies the vertex");
    if (path)
        *v = find_path(s, path, jgf_rank(it));
    else if (weir_graph_lookup(s->within, other, v, NULL) < 0)
        *v = WEIR_NONE;
    if (*v != WEIR_NONE)
        return WEIR_OK;
    if (!it->has_rank)
        return weir_jgf_bad(r, WEIR_ENOENT, "nodes", it->at, ".metadata.paths", "there is no vertex %.200s",
                            path ? path : other);
    return weir_jgf_bad(r, WEIR_ENOENT, "nodes", it->at, ".metadata.paths",
                        "there is no vertex %.200s of rank %" PRId64, path ? path : other, jgf_rank(it));
}

/* Notes the shares of an item that are for flows: {"JOB:VERTEX": amount, ...}. Other values are passed over. */
static int note_shares(struct jgf_resolver *s, uint32_t item)
{
    json_error_t what;
    json_t *value, *object = json_loadb(s->r.shares.data, s->r.shares.len, JSON_DECODE_ANY, &what);
    const char *key;
    int rc = !object && json_error_code(&what) == json_error_out_of_memory ? WEIR_ENOMEM : WEIR_OK;

    json_object_foreach(object, key, value)
    {
        const char *colon = strchr(key, ':');
        weir_name endpoint = colon ? weir_strtab_add(&s->r.g->names, colon + 1, strlen(colon + 1)) : WEIR_NO_NAME;
        if (!colon || json_integer_value(value) <= 0)
            continue;
        if (endpoint == WEIR_NO_NAME ||
            weir_array_reserve(&s->shares, &s->shares_cap, (size_t)s->nshares + 1, sizeof *s->shares) < 0) {
            rc = WEIR_ENOMEM;
            break;
        }
        s->shares[s->nshares++] = (struct item_share){item, endpoint, json_integer_value(value)};
    }
    json_decref(object);
    return rc == WEIR_OK ? WEIR_OK : weir_fail_nomem(s->r.err);
}

static int resolve_item(struct jgf *r, uint32_t item)
{
    struct jgf_resolver *s = (struct jgf_resolver *)r;
    const struct jgf_item *it = &r->items[item];
    const char *type = type_text(r->g, r->g->kinds[it->kind].type);
    weir_vertex v;
    uint32_t other;
    int rc = find_vertex(r, it, &v);

    if (rc < 0)
        return rc;
    if (strcmp(type, weir_vertex_type(s->within, v)) != 0)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", it->at, ".metadata.type",
                            "is \"%.60s\", but the vertex of this path is a \"%.60s\"", type,
                            weir_vertex_type(s->within, v));
    other = weir_map32_get(&s->items, v);
    if (other != WEIR_NONE)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", it->at, ".metadata.paths",
                            "is the same vertex as %s.nodes[%" PRIu32 "]", r->path, r->items[other].at);
    if (weir_array_reserve(&s->resolved, &s->resolved_cap, r->count, sizeof *s->resolved) < 0)
        return weir_fail_nomem(r->err);
    s->resolved[item] = (struct resolved){.v = v};
    if (weir_map32_add(&s->items, v, item) < 0)
        return weir_fail_nomem(r->err);
    return r->shares.len > 0 ? note_shares(s, item) : WEIR_OK;
}

/* ---- picks ------------------------------------------------------------------------------------------------------ */

/* Whether all of a vertex is taken. */
static bool is_whole(const struct jgf_resolver *s, uint32_t item)
{
    const struct jgf_item *it = &s->r.items[item];
    weir_vertex v = s->resolved[item].v;

    return it->exclusive &&
           (s->r.g->kinds[it->kind].size >= weir_vertex_size(s->within, v) || weir_vertex_children(s->within, v));
}

/* Looks at the items above an item. */
static void read_parents(struct jgf_resolver *s, struct resolved *x)
{
    weir_vertex v = x->v;
    uint32_t above;

    while (!x->implied && (v = weir_vertex_parent(s->within, v)) != WEIR_NONE)
        if ((above = weir_map32_get(&s->items, v)) != WEIR_NONE) {
            s->resolved[above].leads = true;
            x->implied = is_whole(s, above);
        }
}

/* Sets *out to the pick of an item. False: the item only leads to items below. */
static bool pick_item(const struct jgf_resolver *s, uint32_t item, weir_pick *out)
{
    const struct jgf_item *it = &s->r.items[item];
    const struct resolved *x = &s->resolved[item];
    int64_t size = weir_vertex_size(s->within, x->v), units = s->r.g->kinds[it->kind].size;

    *out = (weir_pick){.vertex = x->v, .exclusive = is_whole(s, item)};
    if (out->exclusive)
        out->amount = size;
    else if (it->exclusive || units < size)
        out->amount = units;
    return out->exclusive || out->amount > 0 || !x->leads;
}

static int pick_all(struct jgf_resolver *s, weir_pick **picks, uint32_t *n)
{
    weir_pick *list = weir_mem_zalloc(s->r.count, sizeof *list);

    if (!list)
        return weir_fail_nomem(s->r.err);
    for (uint32_t i = 0; i < s->r.count; i++)
        read_parents(s, &s->resolved[i]);
    *n = 0;
    for (uint32_t i = 0; i < s->r.count; i++)
        if (!s->resolved[i].implied && pick_item(s, i, &list[*n]))
            ++*n;
    *picks = list;
    return WEIR_OK;
}

/* Reads a document, and finds its vertices. resolve_end() is needed even on failure. */
static int resolve_begin(struct jgf_resolver *s, const char *text, size_t len)
{
    const struct weir_input in = {.text = text, .len = len};
    int rc;

    for (uint32_t i = 0; i <= WEIR_PATH_DEPTH; i++)
        s->steps[i].parent = WEIR_NONE;
    rc = weir_jgf_document(&s->r, &in);
    if (rc == WEIR_OK && !s->r.has_graph)
        rc = weir_fail_at(s->r.err, WEIR_EINVAL, s->r.source, 0, 0,
                          "there is no graph in it: expected graph or scheduling.graph");
    return rc;
}

static void resolve_end(struct jgf_resolver *s)
{
    weir_map32_free(&s->items);
    WEIR_FREE(s->resolved, s->shares);
    weir_jgf_free(&s->r);
}

int weir_graph_resolve(const weir_graph *g, const char *text, size_t len, const char *source, weir_pick **picks,
                       uint32_t *n, weir_err *err)
{
    struct jgf_resolver s = {.r = {.source = source, .err = err, .on_node = resolve_item}, .within = g};
    int rc = resolve_begin(&s, text, len);

    rc = rc ? rc : pick_all(&s, picks, n);
    resolve_end(&s);
    return rc;
}

/* ---- flows ------------------------------------------------------------------------------------------------------ */

/* Turns the shares into flows of job j, in `flows`, and returns their number. WEIR_EINVAL: the job has fewer units. */
static int64_t flows_of(const struct jgf_resolver *s, const struct job *j, struct flow_use *flows)
{
    int64_t left = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->nshares; i++) {
        const struct item_share *x = &s->shares[i];
        const char *id = jgf_text(&s->r, x->endpoint);
        uint32_t endpoint = weir_jgf_keys_find(&s->r.keys, id, strlen(id));
        const weir_pick *p = weir_job_pick(j, s->resolved[x->unit].v);
        if (i == 0 || x->unit != s->shares[i - 1].unit)
            left = p ? p->amount : 0;
        if (x->amount > left)
            return WEIR_EINVAL;
        left -= x->amount;
        if (endpoint != WEIR_NONE)
            flows[n++] = (struct flow_use){s->resolved[endpoint].v, s->resolved[x->unit].v, x->amount};
    }
    return n;
}

int weir_job_resolve_flows(weir_graph *g, int64_t job, const char *text, size_t len, const char *source, weir_err *err)
{
    struct jgf_resolver s = {.r = {.source = source, .err = err, .on_node = resolve_item, .keep_shares = true},
                             .within = g};
    uint32_t index = weir_job_index(g, job);
    struct flow_use *flows = NULL;
    int64_t n = 0;
    int rc = index == WEIR_NONE ? weir_fail(err, WEIR_ENOENT, "there is no job %" PRId64, job) : WEIR_OK;

    if (rc == WEIR_OK && jobs_in(g)->list[index].nflows > 0)
        rc = weir_fail(err, WEIR_EEXIST, "the flows of job %" PRId64 " are known already", job);
    rc = rc ? rc : resolve_begin(&s, text, len);
    flows = rc == WEIR_OK ? weir_mem_alloc(((size_t)s.nshares + 1) * sizeof *flows) : NULL;
    if (rc == WEIR_OK)
        n = flows ? flows_of(&s, &jobs_in(g)->list[index], flows) : WEIR_ENOMEM;
    if (n == WEIR_EINVAL)
        rc = weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "job %" PRId64 " has fewer units than `shares` state", job);
    if (rc == WEIR_OK && (n < 0 || weir_job_flow(g, index, flows, (uint32_t)n) < 0))
        rc = weir_fail_nomem(err);
    weir_mem_free(flows);
    resolve_end(&s);
    return rc;
}
