/* jgf_read.c - reads JSON Graph Format, as described by RFC 20: the document, its edges.
 *
 * Read of a vertex: id, and in metadata: type, basename, name, id, uniq_id, rank, status or state, unit, size, uuid,
 * properties, tags or ephemeral, extended, paths. `exclusive` is about the use by a job, not about the pool, so its
 * type is checked and its value ignored; "whole": true is the pool's own wish to be allocated as a whole. Read of an
 * edge: source, target, and in metadata: subsystem, relationship, back, or name: {SUBSYSTEM: RELATIONSHIP}. For further
 * keys of weir see jgf_write.c. All other keys of metadata and of the graph are kept as extended data (jgf_foreign.c);
 * `shares` and the keys next to metadata are skipped.
 *
 * Nodes and edges may come in any order. An edge to a vertex not read yet makes the item of the vertex; edges of
 * containment wait until all vertices are known, all other edges until the graph is there.
 */
#include "format/jgf/jgf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FEW 256 /* elements too few to predict the number of all */

/* ---- errors --------------------------------------------------------------------------------------------------- */

int weir_jgf_bad(const struct jgf *r, int code, const char *array, uint32_t i, const char *key, const char *fmt, ...)
{
    char what[400];
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(what, sizeof what, fmt, ap);
    va_end(ap);
    return weir_fail_at(r->err, code, r->source, 0, 0, "%s.%s[%" PRIu32 "]%.96s: %s", r->path, array, i, key, what);
}

int weir_jgf_bad_type(const struct jgf *r, const char *array, uint32_t i, const char *key, int type, const char *wanted)
{
    return weir_jgf_bad(r, WEIR_EINVAL, array, i, key, "is %s, expected %s", weir_json_type_name(type), wanted);
}

static int bad_edge(const struct jgf *r, const char *key, int type, const char *wanted)
{
    return weir_jgf_bad_type(r, "edges", r->edges_seen, key, type, wanted);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

int weir_jgf_reserve(const struct jgf *r, void *array, uint32_t *cap, size_t need, size_t size)
{
    uint64_t all;

    if (need <= *cap)
        return WEIR_OK;
    if (!r->json)
        return weir_array_exact(array, cap, need, size);
    all = need > FEW ? weir_json_expect(r->json, need) : 0;
    if (all > WEIR_VERTICES_MAX)
        all = WEIR_VERTICES_MAX;
    if (all < need)
        return weir_array_grow(array, cap, need, size);
    return weir_array_exact(array, cap, all + all / 16, size);
}

/* ---- items by key --------------------------------------------------------------------------------------------- */

static int fail_many(const struct jgf *r)
{
    return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0, "%s.nodes: more than 2^31 vertices, or 4 GB of ids",
                        r->path);
}

int weir_jgf_item(struct jgf *r, const char *key, size_t len, uint32_t *item, bool *found)
{
    int rc;

    *item = weir_jgf_keys_find(&r->keys, key, len);
    *found = *item != WEIR_NONE;
    if (*found)
        return WEIR_OK;
    if (r->count >= WEIR_VERTICES_MAX - 1)
        return fail_many(r);
    if (weir_jgf_reserve(r, &r->items, &r->cap, (size_t)r->count + 1, sizeof *r->items) < 0)
        return weir_fail_nomem(r->err);
    rc = weir_jgf_keys_add(&r->keys, key, len, r->count);
    if (rc < 0)
        return rc == WEIR_ENOMEM ? weir_fail_nomem(r->err) : fail_many(r);
    r->items[r->count] = (struct jgf_item){.pool = WEIR_NONE, .parent = WEIR_NONE, .last = WEIR_NONE};
    *item = r->count++;
    return WEIR_OK;
}

/* ---- edges that wait ------------------------------------------------------------------------------------------ */

static bool continues(const struct jgf_waiting *w, const struct jgf_edge *e)
{
    const struct jgf_span *s = w->nspans ? &w->spans[w->nspans - 1] : NULL;

    return s && e->at == s->at + (w->count - s->first) && e->subsystem == s->subsystem && e->type == s->type &&
           e->back == s->back;
}

static int keep_edge(struct jgf *r, const struct jgf_edge *e)
{
    struct jgf_waiting *w = &r->waiting;

    if (weir_scratch_grow(&w->ends, &w->cap, (size_t)w->count + 1, sizeof *w->ends) < 0 ||
        weir_array_reserve(&w->spans, &w->spans_cap, (size_t)w->nspans + 1, sizeof *w->spans) < 0)
        return weir_fail_nomem(r->err);
    if (!continues(w, e))
        w->spans[w->nspans++] = (struct jgf_span){w->count, e->at, e->subsystem, e->type, e->back};
    w->ends[w->count][0] = e->source;
    w->ends[w->count++][1] = e->target;
    return WEIR_OK;
}

struct jgf_edge weir_jgf_waiting(const struct jgf *r, uint32_t i, uint32_t *span)
{
    const struct jgf_waiting *w = &r->waiting;
    const struct jgf_span *s;

    while (*span + 1 < w->nspans && w->spans[*span + 1].first <= i)
        ++*span;
    s = &w->spans[*span];
    return (struct jgf_edge){w->ends[i][0], w->ends[i][1], s->at + (i - s->first), s->subsystem, s->type, s->back};
}

bool weir_jgf_contains(const struct jgf *r, const struct jgf_edge *e)
{
    return strcmp(jgf_text(r, e->subsystem), "containment") == 0;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

/* The edge that is being read. */
struct edge_draft {
    struct jgf_edge e;
    bool has_source, has_target, has_data;
    bool has_subsystem;
    bool undirected;  /* "directed" is false: the edge leads both ways */
    uint32_t foreign; /* its first foreign key, of r->foreign */
};

/* Takes the vertex at an end of the edge from the current event. */
static int take_end(struct jgf *r, bool target, int type, uint32_t *item)
{
    const char *which = target ? ".target" : ".source", *key;
    size_t len;
    bool found;
    int rc;

    if (type != WEIR_JSON_STRING)
        return bad_edge(r, which, type, "the id of a vertex");
    key = weir_json_text(r->json, &len);
    rc = weir_jgf_item(r, key, len, item, &found);
    if (rc < 0 || found)
        return rc;
    if (r->has_nodes)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", r->edges_seen, which, "there is no vertex \"%.100s\"", key);
    r->items[*item].at = r->edges_seen;
    r->items[*item].is_target = target;
    return WEIR_OK;
}

/* Takes a text of the metadata. `filled`: the text must not be empty. */
static int take_name(struct jgf *r, const char *key, int type, bool filled, weir_name *out)
{
    const char *text;
    size_t len;

    if (type != WEIR_JSON_STRING)
        return bad_edge(r, key, type, "a string");
    text = weir_json_text(r->json, &len);
    if ((filled && len == 0) || len > WEIR_NAME_MAX)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", r->edges_seen, key, "is %s",
                            len ? "longer than 65536 bytes" : "empty");
    *out = weir_strtab_add(&r->g->names, text, len);
    return *out == WEIR_NO_NAME ? weir_fail_nomem(r->err) : WEIR_OK;
}

/* Takes metadata.name: {SUBSYSTEM: RELATIONSHIP, ...}. Values of any other type are ignored. */
static int take_names(struct jgf *r, int type)
{
    static const char path[] = ".metadata.name";
    struct jgf_edge e = {.type = WEIR_NO_NAME, .back = WEIR_NO_NAME};
    int rc = WEIR_OK;

    if (type != WEIR_JSON_OBJECT)
        return weir_json_skip(r->json, type);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY) {
        rc = take_name(r, path, WEIR_JSON_STRING, true, &e.subsystem);
        for (uint32_t i = 0; rc == WEIR_OK && i < r->nnames; i++)
            if (r->names[i].subsystem == e.subsystem)
                return weir_jgf_bad(r, WEIR_EINVAL, "edges", r->edges_seen, path, "\"%.100s\" is given twice",
                                    jgf_text(r, e.subsystem));
        type = rc < 0 ? rc : weir_json_next(r->json);
        if (type < 0)
            return type;
        if (type != WEIR_JSON_STRING)
            return bad_edge(r, path, type, "a relationship for each subsystem");
        rc = take_name(r, path, type, true, &e.type);
        if (rc == WEIR_OK && weir_array_reserve(&r->names, &r->names_cap, (size_t)r->nnames + 1, sizeof e) < 0)
            rc = weir_fail_nomem(r->err);
        if (rc == WEIR_OK)
            r->names[r->nnames++] = e;
    }
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* Reads the member of metadata with the current event as key. */
static int read_data(struct jgf *r, struct edge_draft *d)
{
    const char *key = weir_json_text(r->json, NULL);
    weir_name *out = strcmp(key, "subsystem") == 0      ? &d->e.subsystem
                     : strcmp(key, "relationship") == 0 ? &d->e.type
                     : strcmp(key, "back") == 0         ? &d->e.back
                                                        : NULL;
    bool is_name = strcmp(key, "name") == 0;
    int type, rc;

    if (!out && !is_name)
        return weir_jgf_keep_foreign(r, JGF_OF_EDGE);
    type = weir_json_next(r->json);
    if (type < 0 || type == WEIR_JSON_NULL)
        return type < 0 ? type : WEIR_OK;
    if (is_name)
        return take_names(r, type);
    if (out == &d->e.back)
        return take_name(r, ".metadata.back", type, false, out);
    rc = take_name(r, out == &d->e.type ? ".metadata.relationship" : ".metadata.subsystem", type, true, out);
    d->has_subsystem |= out == &d->e.subsystem;
    return rc;
}

static int read_metadata(struct jgf *r, struct edge_draft *d, int type)
{
    int rc = WEIR_OK;

    if (type == WEIR_JSON_NULL)
        return WEIR_OK;
    if (type != WEIR_JSON_OBJECT)
        return bad_edge(r, ".metadata", type, "an object");
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = read_data(r, d);
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* Adds the edge of one subsystem to containment, or to the waiting edges; the foreign keys of the edge from number
 * `first` on. */
static int relate(struct jgf *r, const struct jgf_edge *e, uint32_t first, uint32_t count)
{
    int rc = weir_jgf_place_foreign(r, first, count, e);

    if (rc < 0)
        return rc;
    return r->has_nodes && weir_jgf_contains(r, e) ? weir_jgf_contain(r, e) : keep_edge(r, e);
}

static int finish_edge(struct jgf *r, struct edge_draft *d)
{
    uint32_t count = r->nforeign - d->foreign;
    int rc = WEIR_OK;

    if (!d->has_source || !d->has_target)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", r->edges_seen, d->has_source ? ".target" : ".source",
                            "is missing, expected the id of a vertex");
    r->mark = (struct jgf_element){.ends = {d->e.source, d->e.target}, .names = {d->e.subsystem, d->e.type}};
    if (d->undirected && d->e.back == WEIR_NO_NAME)
        d->e.back = d->e.type;
    if (r->nnames == 0 || d->has_subsystem)
        return relate(r, &d->e, d->foreign, count);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nnames; i++) {
        struct jgf_edge e = d->e;
        e.subsystem = r->names[i].subsystem;
        e.type = r->names[i].type;
        rc = relate(r, &e, d->foreign, count);
    }
    return rc;
}

/* Reads the member of an edge with the current event as key. */
static int read_member(struct jgf *r, struct edge_draft *d)
{
    const char *key = weir_json_text(r->json, NULL);
    bool *seen = strcmp(key, "source") == 0     ? &d->has_source
                 : strcmp(key, "target") == 0   ? &d->has_target
                 : strcmp(key, "metadata") == 0 ? &d->has_data
                                                : NULL;
    int type;

    if (seen && *seen)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", r->edges_seen, "", "\"%.16s\" is given twice", key);
    type = weir_json_next(r->json);
    d->undirected |= type == WEIR_JSON_FALSE && strcmp(key, "directed") == 0;
    if (type < 0 || !seen)
        return weir_json_skip(r->json, type);
    *seen = true;
    if (seen == &d->has_data)
        return read_metadata(r, d, type);
    return take_end(r, seen == &d->has_target, type, seen == &d->has_target ? &d->e.target : &d->e.source);
}

static int read_edge(struct jgf *r, int type)
{
    struct edge_draft d = {.e = {.at = r->edges_seen, .type = WEIR_NO_NAME, .back = WEIR_NO_NAME},
                           .foreign = r->nforeign};
    int rc = WEIR_OK;

    if (type != WEIR_JSON_OBJECT)
        return bad_edge(r, "", type, "an object");
    r->nnames = 0;
    d.e.subsystem = r->g->subsystems[0];
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = read_member(r, &d);
    if (rc < 0 || type < 0)
        return rc < 0 ? rc : type;
    return finish_edge(r, &d);
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

/* Notes the place in the text of the element that began at `from` and was read last. */
static int mark_element(const struct jgf *r, struct jgf_array *a, size_t from)
{
    if (weir_array_reserve(&a->elements, &a->cap, (size_t)a->count + 1, sizeof *a->elements) < 0)
        return weir_fail_nomem(r->err);
    a->elements[a->count] = r->mark;
    a->elements[a->count].from = from;
    a->elements[a->count++].to = weir_json_offset(r->json);
    return WEIR_OK;
}

/* Reads the elements of an array that was begun: calls fn for each element, and counts. */
static int read_array(struct jgf *r, int (*fn)(struct jgf *r, int type), uint32_t *count, struct jgf_array *marks)
{
    int type, rc = WEIR_OK;

    if (marks)
        marks->from = weir_json_offset(r->json);
    for (; rc == WEIR_OK && (type = weir_json_next(r->json)) != WEIR_JSON_ARRAY_END; ++*count) {
        r->mark = (struct jgf_element){0};
        size_t from = marks ? weir_json_offset(r->json) - 1 : 0; /* of the brace */
        if (type < 0)
            return type;
        if (*count == UINT32_MAX)
            return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0, "%s: more than 2^32 elements", r->path);
        rc = fn(r, type);
        if (rc == WEIR_OK && marks)
            rc = mark_element(r, marks, from);
    }
    return rc;
}

static int fail_array(const struct jgf *r, bool nodes)
{
    return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "%s.%s: expected an array of %s", r->path,
                        nodes ? "nodes" : "edges", nodes ? "vertices" : "edges");
}

/* Reads the metadata of the graph: its UUID, and the further metadata of a document. A text that is no UUID is ignored.
 */
static int read_graph_metadata(struct jgf *r, int type)
{
    int rc = WEIR_OK;

    if (type != WEIR_JSON_OBJECT)
        return weir_json_skip(r->json, type);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY) {
        const char *key = weir_json_text(r->json, NULL);
        bool weir = r->on_weir && strcmp(key, "weir") == 0, uuid = strcmp(key, "uuid") == 0;
        uint8_t given[16];
        if (weir && r->has_weir)
            return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "%s.metadata.weir: is given twice", r->path);
        r->has_weir |= weir;
        if (weir) {
            rc = r->on_weir(r);
            continue;
        }
        if (!uuid && strcmp(key, "weir") != 0) {
            rc = weir_jgf_keep_foreign(r, JGF_OF_METADATA);
            continue;
        }
        type = weir_json_next(r->json);
        if (uuid && type == WEIR_JSON_STRING && weir_uuid_parse(weir_json_text(r->json, NULL), given))
            memcpy(r->g->uuids.graph, given, 16);
        rc = weir_json_skip(r->json, type);
    }
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* Reads the member of a graph with the current event as key. */
static int read_part(struct jgf *r)
{
    const char *key = weir_json_text(r->json, NULL);
    bool nodes = strcmp(key, "nodes") == 0, edges = strcmp(key, "edges") == 0;
    bool directed = strcmp(key, "directed") == 0;
    int type, rc;

    if (strcmp(key, "metadata") == 0)
        return read_graph_metadata(r, weir_json_next(r->json));
    if ((nodes && r->has_nodes) || (edges && r->has_edges))
        return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "%s.%s: is given twice", r->path,
                            nodes ? "nodes" : "edges");
    if (!nodes && !edges && !directed)
        return weir_jgf_keep_foreign(r, JGF_OF_GRAPH);
    type = weir_json_next(r->json);
    r->undirected |= directed && type == WEIR_JSON_FALSE;
    if (type < 0 || directed)
        return weir_json_skip(r->json, type);
    if (type != WEIR_JSON_ARRAY)
        return fail_array(r, nodes);
    rc = nodes ? read_array(r, weir_jgf_node, &r->nodes_seen, r->marks)
               : read_array(r, read_edge, &r->edges_seen, r->marks ? r->marks + 1 : NULL);
    *(nodes ? &r->has_nodes : &r->has_edges) = true;
    return rc;
}

/* Checks that every vertex named by an edge is described. */
static int check_items(const struct jgf *r)
{
    char buf[16];

    for (uint32_t i = 0; i < r->count; i++)
        if (!r->items[i].described)
            return weir_jgf_bad(r, WEIR_EINVAL, "edges", r->items[i].at, r->items[i].is_target ? ".target" : ".source",
                                "there is no vertex \"%.100s\"", weir_jgf_keys_text(&r->keys, i, buf));
    return WEIR_OK;
}

static void drop_waiting(struct jgf_waiting *w)
{
    weir_scratch_free(&w->ends, &w->cap, sizeof *w->ends);
    weir_mem_free(w->spans);
    *w = (struct jgf_waiting){0};
}

/* Adds the waiting edges of containment. */
static int contain_waiting(struct jgf *r)
{
    bool others = false;
    int rc = WEIR_OK;

    for (uint32_t i = 0, span = 0; rc == WEIR_OK && i < r->waiting.count; i++) {
        struct jgf_edge e = weir_jgf_waiting(r, i, &span);
        if (weir_jgf_contains(r, &e))
            rc = weir_jgf_contain(r, &e);
        else
            others = true;
    }
    if (!others)
        drop_waiting(&r->waiting);
    return rc;
}

static int read_graph(struct jgf *r, const char *path, int type)
{
    int rc = WEIR_OK;

    if (r->has_graph)
        return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "%s: there is %s already; expected one graph", path,
                            r->path);
    r->path = path;
    r->has_graph = true;
    if (type != WEIR_JSON_OBJECT)
        return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "%s: expected an object with nodes and edges", path);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = read_part(r);
    if (rc < 0 || type < 0)
        return rc < 0 ? rc : type;
    if (r->nodes_seen == 0 || !r->has_edges)
        return fail_array(r, r->nodes_seen == 0);
    rc = check_items(r);
    return rc < 0 ? rc : contain_waiting(r);
}

/* ---- the document --------------------------------------------------------------------------------------------- */

/* Reads the writer, which marks graphs without the vertices below exclusive vertices. */
static int read_writer(struct jgf *r, int type)
{
    const char *writer = type == WEIR_JSON_STRING ? weir_json_text(r->json, NULL) : "";

    r->shorthand = r->shorthand || strcmp(writer, WEIR_JGF_SHORTHAND) == 0;
    r->treepool = r->treepool || strcmp(writer, WEIR_TREEPOOL) == 0;
    return weir_json_skip(r->json, type);
}

/* Keeps the text of the topology of an R, which is small. */
static int read_children(struct jgf *r)
{
    int type;

    if (r->children_text.len > 0)
        return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "scheduling.children: is given twice");
    type = weir_json_capture(r->json, &r->children_text);
    return type < 0 ? type : WEIR_OK;
}

static int read_scheduling(struct jgf *r, int type)
{
    int rc = WEIR_OK;

    if (type != WEIR_JSON_OBJECT)
        return weir_json_skip(r->json, type);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY) {
        const char *key = weir_json_text(r->json, NULL);
        bool graph = strcmp(key, "graph") == 0, writer = strcmp(key, "writer") == 0;
        if (r->is_r && strcmp(key, "children") == 0) {
            rc = read_children(r);
            continue;
        }
        type = weir_json_next(r->json);
        if (type < 0)
            return type;
        rc = graph    ? read_graph(r, "scheduling.graph", type)
             : writer ? read_writer(r, type)
                      : weir_json_skip(r->json, type);
    }
    return rc == WEIR_OK && type < 0 ? type : rc;
}

static int read_version(struct jgf *r, int type)
{
    int64_t version;

    r->version_1 = type == WEIR_JSON_INTEGER && weir_json_integer(r->json, &version) == WEIR_OK && version == 1;
    return weir_json_skip(r->json, type);
}

/* Keeps the text of the execution section of an R, which is small, for rv1_read.c. */
static int read_execution(struct jgf *r)
{
    if (r->execution != WEIR_JSON_END)
        return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "execution: is given twice");
    r->execution = weir_json_capture(r->json, &r->execution_text);
    return r->execution < 0 ? r->execution : WEIR_OK;
}

/* Reads the member of the outermost object with the current event as key. */
static int read_top(struct jgf *r)
{
    static const char *const known[] = {"graph", "scheduling", "writer", "version", "execution"};
    const char *key = weir_json_text(r->json, NULL);
    size_t which = 0;
    int type;

    while (which < 5 && strcmp(key, known[which]) != 0)
        which++;
    if (r->is_r && which == 4)
        return read_execution(r);
    type = weir_json_next(r->json);
    if (type < 0)
        return type;
    switch (which) {
    case 0: return read_graph(r, "graph", type);
    case 1: return read_scheduling(r, type);
    case 2: return read_writer(r, type);
    case 3: return read_version(r, type);
    default: return weir_json_skip(r->json, type);
    }
}

static int read_document(struct jgf *r)
{
    int type = weir_json_next(r->json), rc = WEIR_OK;

    if (type < 0)
        return type;
    if (type != WEIR_JSON_OBJECT)
        return weir_fail_at(r->err, WEIR_EPARSE, r->source, 0, 0, "expected an object, such as {\"graph\": ...}");
    if (r->is_scheduling)
        return read_scheduling(r, type);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = read_top(r);
    if (rc == WEIR_OK && type >= 0)
        type = weir_json_next(r->json); /* only the end may follow */
    return rc == WEIR_OK && type < 0 ? type : rc;
}

int weir_jgf_document(struct jgf *r, const struct weir_input *in)
{
    struct weir_input text = *in;
    int rc;

    if (text.len >= 3 && memcmp(text.text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        text.text += 3;
        text.len -= 3;
    }
    r->path = "graph";
    r->g = weir_graph_new();
    r->json = r->g ? weir_json_open(&text, r->source, r->err) : NULL;
    if (!r->json)
        return weir_fail_nomem(r->err);
    rc = read_document(r);
    weir_json_close(r->json);
    r->json = NULL;
    weir_scratch_free(&r->paths, &r->paths_cap, sizeof *r->paths);
    return rc;
}

void weir_jgf_free(struct jgf *r)
{
    weir_json_close(r->json);
    weir_graph_free(r->g);
    weir_mem_free(r->items);
    weir_jgf_keys_free(&r->keys);
    weir_scratch_free(&r->paths, &r->paths_cap, sizeof *r->paths);
    WEIR_FREE(r->uuids, r->faults);
    drop_waiting(&r->waiting);
    WEIR_FREE(r->foreign, r->names, r->node.entries);
    weir_map32_free(&r->node.places);
    weir_buf_free(&r->node.texts);
    weir_buf_free(&r->value);
    weir_buf_free(&r->shares);
    weir_buf_free(&r->execution_text);
    weir_buf_free(&r->children_text);
}

static int read_with(struct jgf *r, const struct weir_input *in, weir_graph **out)
{
    int rc = weir_jgf_document(r, in);

    if (rc == WEIR_OK && !r->has_graph)
        rc = weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "there is no \"graph\" in the outermost object");
    rc = rc ? rc : weir_jgf_make(r, out);
    weir_jgf_free(r);
    return rc;
}

int weir_jgf_read_scheduling(const char *text, const char *source, weir_graph **out, weir_err *err)
{
    const struct weir_input in = {.text = text, .len = strlen(text)};

    return read_with(&(struct jgf){.source = source, .err = err, .is_scheduling = true}, &in, out);
}
