/* difference_apply.c - weir_graph_apply(): makes a graph of a graph and a difference (difference.h). The document of
 * the new graph is put together of pieces of the old document and of the difference, and read as any document is.
 *
 * Main invariant: nothing of the difference is believed: the reader of documents checks vertices, edges and jobs, and
 * the hash of the result is compared with the hash that the difference names.
 */
#include "store/difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "store/document.h"

#define ROOT "weir_difference."

struct application {
    struct document_view a;
    weir_json *json;
    weir_err *err;
    const char *source;
    char from[DIFFERENCE_HASH], to[DIFFERENCE_HASH], uuid[37];
    int64_t version;
    bool has_state, has_nodes, has_edges, has_jobs;
    weir_buf state, nodes, contains, edges, jobs, value;
    weir_buf down, up;             /* the words of containment, as JSON; empty: the usual ones */
    uint32_t *moved;               /* by vertex of a: position in the new document, or WEIR_NONE */
    uint32_t at;                   /* vertices of a, or edges, passed so far */
    uint32_t made;                 /* vertices of the new document so far */
    uint32_t way[WEIR_PATH_DEPTH]; /* positions of the vertices above, by depth */
    uint32_t depth;                /* of the last vertex, + 1 */
    int64_t *gone;                 /* ids of jobs of a that go or change */
    uint32_t ngone, gone_cap;
    struct foreign_list foreign;
};

/* Fails because of the difference, with a literal format and its values. */
#define bad(p, ...) weir_fail_at((p)->err, WEIR_EINVAL, (p)->source, 0, 0, ROOT __VA_ARGS__)

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Reads the next event, which must be of a type. */
static int want(struct application *p, int type, const char *where)
{
    int got = weir_json_next(p->json);

    if (got < 0 || got == type)
        return got < 0 ? got : WEIR_OK;
    return bad(p, "%s: is %s, expected %s", where, weir_json_type_name(got), weir_json_type_name(type));
}

static int want_integer(struct application *p, const char *where, int64_t low, int64_t high, int64_t *out)
{
    int rc = want(p, WEIR_JSON_INTEGER, where);

    if (rc == WEIR_OK && (weir_json_integer(p->json, out) < 0 || *out < low || *out > high))
        return bad(p, "%s: expected an integer from %" PRId64 " to %" PRId64, where, low, high);
    return rc;
}

/* Reads the next event, which must be an element of a type or the end of the array. Returns 1, 0 or a status. */
static int next_element(struct application *p, int type, const char *where)
{
    int got = weir_json_next(p->json);

    if (got < 0 || got == WEIR_JSON_ARRAY_END)
        return got < 0 ? got : 0;
    return got == type ? 1 : bad(p, "%s: expected %s", where, weir_json_type_name(type));
}

/* Captures the value behind the current key. */
static int capture(struct application *p, weir_buf *out)
{
    int type = weir_json_capture(p->json, out);
    return type < 0 ? type : WEIR_OK;
}

/* Returns whether the next event is a key, with its text in *key; 0 at the end of the object, or a status. */
static int next_key(struct application *p, const char **key)
{
    int type = weir_json_next(p->json);

    *key = type == WEIR_JSON_KEY ? weir_json_text(p->json, NULL) : "";
    return type < 0 ? type : type == WEIR_JSON_KEY;
}

/* ---- vertices --------------------------------------------------------------------------------------------------- */

/* Adds an edge of containment between positions. */
static void contain(struct application *p, uint32_t source, uint32_t target)
{
    weir_buf *b = &p->contains;

    weir_buf_printf(b, "%s{\"source\":\"%" PRIu32 "\",\"target\":\"%" PRIu32 "\",\"metadata\":{\"relationship\":",
                    b->len ? ",\n" : "\n", source, target);
    weir_buf_puts(b, p->down.len ? p->down.data : "\"contains\"");
    if (p->up.len) {
        weir_buf_puts(b, ",\"back\":");
        weir_buf_puts(b, p->up.data);
    }
    weir_buf_puts(b, "}}");
}

/* Adds a vertex at a depth below the last vertices; its metadata, `"metadata":{...}}`, is to follow. */
static int begin_vertex(struct application *p, uint32_t depth)
{
    uint32_t at = p->made++;

    if (depth > p->depth || depth >= WEIR_PATH_DEPTH)
        return bad(p, "nodes: a vertex at depth %" PRIu32 " follows a vertex at depth %d", depth, (int)p->depth - 1);
    weir_buf_puts(&p->nodes, at > 0 ? ",\n{\"id\":\"" : "\n{\"id\":\"");
    weir_write_int(&p->nodes, at);
    weir_buf_puts(&p->nodes, "\",");
    if (depth > 0)
        contain(p, p->way[depth - 1], at);
    p->way[depth] = at;
    p->depth = depth + 1;
    return WEIR_OK;
}

/* Passes n vertices of a, which stay or go. */
static int pass_vertices(struct application *p, int64_t n, bool keep)
{
    int rc = WEIR_OK;

    if (n > p->a.count - p->at)
        return bad(p, "nodes: the steps go through more than %" PRIu32 " vertices", p->a.count);
    for (; rc == WEIR_OK && n > 0; n--, p->at++) {
        weir_vertex v = p->a.vertices[p->at];
        size_t len;
        const char *metadata = weir_document_metadata(&p->a, p->at, &len);
        if (!keep)
            continue;
        p->moved[v] = p->made;
        rc = begin_vertex(p, vertex_depth(p->a.g, v) - 1);
        weir_buf_add(&p->nodes, metadata, len);
    }
    return rc;
}

/* Reads {"depth":d,"metadata":{...}}. */
static int take_vertex(struct application *p)
{
    const char *key;
    int64_t depth = -1;
    int rc;

    p->value.len = 0;
    while ((rc = next_key(p, &key)) == 1) {
        if (strcmp(key, "depth") == 0)
            rc = want_integer(p, "nodes: depth", 0, WEIR_PATH_DEPTH - 1, &depth);
        else if (strcmp(key, "metadata") == 0 && p->value.len == 0)
            rc = capture(p, &p->value);
        else
            rc = bad(p, "nodes: \"%.40s\" is unknown, or given twice", key);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return rc;
    if (depth < 0 || p->value.len == 0)
        return bad(p, "nodes: a vertex needs depth and metadata");
    rc = begin_vertex(p, (uint32_t)depth);
    weir_buf_puts(&p->nodes, "\"metadata\":");
    weir_buf_add(&p->nodes, p->value.data, p->value.len);
    weir_buf_puts(&p->nodes, "}");
    return rc;
}

/* Reads the elements of "set", each instead of a vertex of a, or of "add". */
static int take_vertices(struct application *p, bool set)
{
    int rc = want(p, WEIR_JSON_ARRAY, "nodes");

    while (rc == WEIR_OK && (rc = next_element(p, WEIR_JSON_OBJECT, "nodes")) == 1) {
        if (set && p->at == p->a.count)
            return bad(p, "nodes: the steps go through more than %" PRIu32 " vertices", p->a.count);
        if (set)
            p->moved[p->a.vertices[p->at++]] = p->made;
        rc = take_vertex(p);
    }
    return rc;
}

static int take_node_step(struct application *p, const char *key)
{
    bool keep = strcmp(key, "keep") == 0, set = strcmp(key, "set") == 0;
    int64_t n = 0;
    int rc;

    if (set || strcmp(key, "add") == 0)
        return take_vertices(p, set);
    if (!keep && strcmp(key, "drop") != 0)
        return bad(p, "nodes: \"%.40s\" is none of keep, drop, set, add", key);
    rc = want_integer(p, "nodes: keep or drop", 1, UINT32_MAX, &n);
    return rc ? rc : pass_vertices(p, n, keep);
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static void begin_edge(struct application *p, int64_t source, int64_t target)
{
    weir_buf_puts(&p->edges, ",\n{\"source\":\"");
    weir_write_int(&p->edges, source);
    weir_buf_puts(&p->edges, "\",\"target\":\"");
    weir_write_int(&p->edges, target);
    weir_buf_puts(&p->edges, "\",\"metadata\":{");
}

static void add_text(weir_buf *b, const char *key, const char *text)
{
    weir_buf_puts(b, b->data[b->len - 1] == '{' ? "" : ",");
    weir_write_string(b, key);
    weir_buf_puts(b, ":");
    weir_write_string(b, text);
}

static int pass_edges(struct application *p, int64_t n, bool keep)
{
    weir_edge e;

    if (n > p->a.nedges - p->at)
        return bad(p, "edges: the steps go through more than %" PRIu32 " edges", p->a.nedges);
    for (; n > 0; n--, p->at++) {
        weir_edge_get(p->a.g, p->a.edges[p->at], &e);
        if (!keep)
            continue;
        if (p->moved[e.source] == WEIR_NONE || p->moved[e.target] == WEIR_NONE)
            return bad(p, "edges: an edge stays, but a vertex at its end is removed");
        begin_edge(p, p->moved[e.source], p->moved[e.target]);
        if (p->edges.failed)
            return weir_fail_nomem(p->err);
        add_text(&p->edges, "subsystem", e.subsystem);
        add_text(&p->edges, "relationship", e.type);
        if (e.back)
            add_text(&p->edges, "back", e.back);
        weir_buf_puts(&p->edges, "}}");
    }
    return WEIR_OK;
}

/* Reads an edge that is added. */
static int take_edge(struct application *p)
{
    static const char *const texts[] = {"subsystem", "relationship", "back"};
    const char *key;
    int64_t source = -1, target = -1;
    int rc;

    p->value.len = 0;
    weir_buf_puts(&p->value, "{");
    while ((rc = next_key(p, &key)) == 1) {
        int i = 0;
        while (i < 3 && strcmp(key, texts[i]) != 0)
            i++;
        if (i == 3) {
            bool to = strcmp(key, "target") == 0;
            if (!to && strcmp(key, "source") != 0)
                return bad(p, "edges: \"%.40s\" is unknown", key);
            rc = want_integer(p, "edges: source or target", 0, UINT32_MAX - 1, to ? &target : &source);
        } else {
            rc = want(p, WEIR_JSON_STRING, "edges: a text");
            if (rc == WEIR_OK && !p->value.failed)
                add_text(&p->value, texts[i], weir_json_text(p->json, NULL));
        }
        if (rc < 0)
            return rc;
    }
    if (rc < 0 || p->value.failed)
        return rc < 0 ? rc : weir_fail_nomem(p->err);
    if (source < 0 || target < 0)
        return bad(p, "edges: an edge needs source and target");
    begin_edge(p, source, target);
    weir_buf_add(&p->edges, p->value.data + 1, p->value.len - 1);
    weir_buf_puts(&p->edges, "}}");
    return WEIR_OK;
}

static int take_edges(struct application *p)
{
    int rc = want(p, WEIR_JSON_ARRAY, "edges");

    while (rc == WEIR_OK && (rc = next_element(p, WEIR_JSON_OBJECT, "edges")) == 1)
        rc = take_edge(p);
    return rc;
}

static int take_edge_step(struct application *p, const char *key)
{
    bool keep = strcmp(key, "keep") == 0;
    int64_t n = 0;
    int rc;

    if (strcmp(key, "add") == 0)
        return take_edges(p);
    if (!keep && strcmp(key, "drop") != 0)
        return bad(p, "edges: \"%.40s\" is none of keep, drop, add", key);
    rc = want_integer(p, "edges: keep or drop", 1, UINT32_MAX, &n);
    return rc ? rc : pass_edges(p, n, keep);
}

/* Reads an array of steps, objects with a key each, which go through `count` elements of a. */
static int take_steps(struct application *p, const char *where, uint32_t count,
                      int (*take)(struct application *p, const char *key))
{
    int rc = want(p, WEIR_JSON_ARRAY, where);
    const char *key;

    p->at = 0;
    while (rc == WEIR_OK && (rc = next_element(p, WEIR_JSON_OBJECT, where)) == 1) {
        while ((rc = next_key(p, &key)) == 1)
            if ((rc = take(p, key)) < 0)
                return rc;
    }
    if (rc == WEIR_OK && p->at < count)
        return bad(p, "%s: the steps end at %" PRIu32 " of %" PRIu32, where, p->at, count);
    return rc;
}

/* ---- foreign keys ----------------------------------------------------------------------------------------------- */

/* Reads {"KEY":"VALUE",...} of the vertex at a position. */
static int take_data(struct application *p, uint32_t at)
{
    int rc = want(p, WEIR_JSON_OBJECT, "foreign: data");
    const char *key;

    rc = rc == WEIR_OK && weir_foreign_add(&p->foreign, at, NULL, NULL) ? weir_fail_nomem(p->err) : rc;
    while (rc == WEIR_OK && (rc = next_key(p, &key)) == 1) {
        p->value.len = 0;
        weir_buf_puts(&p->value, key);
        WEIR_WRITE(&p->value, "\0");
        rc = want(p, WEIR_JSON_STRING, "foreign: data");
        if (rc == WEIR_OK &&
            (p->value.failed || weir_foreign_add(&p->foreign, at, p->value.data, weir_json_text(p->json, NULL))))
            rc = weir_fail_nomem(p->err);
    }
    return rc;
}

/* Reads [{"vertex":n,"data":{...}},...]. */
static int take_foreign(struct application *p)
{
    int rc = want(p, WEIR_JSON_ARRAY, "foreign");
    const char *key;

    while (rc == WEIR_OK && (rc = next_element(p, WEIR_JSON_OBJECT, "foreign")) == 1) {
        int64_t at = -1;
        while ((rc = next_key(p, &key)) == 1) {
            if (strcmp(key, "vertex") == 0)
                rc = want_integer(p, "foreign: vertex", 0, (int64_t)p->made - 1, &at);
            else if (strcmp(key, "data") == 0 && at >= 0)
                rc = take_data(p, (uint32_t)at);
            else
                rc = bad(p, "foreign: \"%.40s\" is unknown, or no vertex was named before", key);
            if (rc < 0)
                return rc;
        }
    }
    return rc;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static int note_gone(struct application *p, int64_t id)
{
    return WEIR_ARRAY_ADD(p->gone, p->ngone, p->gone_cap, id) ? weir_fail_nomem(p->err) : WEIR_OK;
}

static int take_drops(struct application *p)
{
    int rc = want(p, WEIR_JSON_ARRAY, "jobs.drop");
    int64_t id;

    while (rc == WEIR_OK && (rc = next_element(p, WEIR_JSON_INTEGER, "jobs.drop")) == 1)
        rc = weir_json_integer(p->json, &id) < 0 ? bad(p, "jobs.drop: no id of a job") : note_gone(p, id);
    return rc;
}

/* Reads {"id":n,"job":{...}}. */
static int take_set(struct application *p)
{
    const char *key;
    int64_t id = 0;
    int rc;

    p->value.len = 0;
    while ((rc = next_key(p, &key)) == 1) {
        if (strcmp(key, "id") == 0)
            rc = want_integer(p, "jobs.set: id", 1, INT64_MAX, &id);
        else if (strcmp(key, "job") == 0 && p->value.len == 0)
            rc = capture(p, &p->value);
        else
            rc = bad(p, "jobs.set: \"%.40s\" is unknown, or given twice", key);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        return rc;
    if (id == 0 || p->value.len == 0)
        return bad(p, "jobs.set: expected id and job");
    weir_buf_puts(&p->jobs, p->jobs.len ? ",\n" : "\n");
    weir_buf_add(&p->jobs, p->value.data, p->value.len);
    return note_gone(p, id);
}

static int take_jobs(struct application *p)
{
    int rc = want(p, WEIR_JSON_OBJECT, "jobs");
    const char *key;

    while (rc == WEIR_OK && (rc = next_key(p, &key)) == 1) {
        if (strcmp(key, "drop") == 0) {
            rc = take_drops(p);
        } else if (strcmp(key, "set") == 0) {
            rc = want(p, WEIR_JSON_ARRAY, "jobs.set");
            while (rc == WEIR_OK && (rc = next_element(p, WEIR_JSON_OBJECT, "jobs.set")) == 1)
                rc = take_set(p);
        } else {
            rc = bad(p, "jobs: \"%.40s\" is none of drop, set", key);
        }
    }
    return rc;
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns whether a job holds a vertex that is removed. */
static bool loses_vertex(const struct application *p, const struct job *j)
{
    for (uint32_t i = 0; i < j->a.npicks; i++)
        if (p->moved[j->picks[i].vertex] == WEIR_NONE)
            return true;
    for (uint32_t i = 0; i < j->nflows; i++)
        if (weir_job_pick(j, j->flows[i].unit) && vertex_valid(p->a.g, j->flows[i].endpoint) &&
            p->moved[j->flows[i].endpoint] == WEIR_NONE)
            return true;
    return false;
}

/* Adds the jobs of a that stay, with the new positions of their vertices. */
static int keep_jobs(struct application *p)
{
    const weir_graph *g = p->a.g;

    if (p->ngone > 1)
        qsort(p->gone, p->ngone, sizeof *p->gone, by_number);
    for (uint32_t i = 0; i < weir_job_count(g); i++) {
        const struct job *j = &jobs_in(g)->list[jobs_in(g)->order[i]];
        if (p->ngone > 0 && bsearch(&j->a.job, p->gone, p->ngone, sizeof *p->gone, by_number))
            continue;
        if (loses_vertex(p, j))
            return bad(p, "jobs: job %" PRId64 " stays, but a vertex of it is removed", j->a.job);
        weir_buf_puts(&p->jobs, p->jobs.len ? ",\n" : "\n");
        weir_jgf_write_job(g, j, p->moved, &p->jobs);
    }
    return WEIR_OK;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static int take_text(struct application *p, const char *where, char *out, size_t size)
{
    int rc = want(p, WEIR_JSON_STRING, where);

    if (rc == WEIR_OK)
        snprintf(out, size, "%s", weir_json_text(p->json, NULL));
    return rc;
}

/* Fails unless the difference is for the graph. */
static int check_from(const struct application *p)
{
    if (p->version == 0 || !p->from[0])
        return bad(p, "version: the difference must begin with version and from");
    if (strcmp(p->from, p->a.hash) != 0)
        return weir_fail_at(p->err, WEIR_EINVAL, p->source, 0, 0,
                            "the difference is for a different graph, or for "
                            "another state of the graph");
    return WEIR_OK;
}

/* Reads a word of containment, which the edges to the vertices that follow have. */
static int take_word(struct application *p, const char *key, weir_buf *word)
{
    int rc;

    if (p->has_nodes || word->len > 0)
        return bad(p, "%s: is given twice, or behind nodes", key);
    rc = capture(p, word);
    return rc < 0 || (word->len > 0 && word->data[0] == '"') ? rc : bad(p, "%s: expected a text", key);
}

static int read_member(struct application *p, const char *key)
{
    bool state = strcmp(key, "state") == 0, nodes = strcmp(key, "nodes") == 0, edges = strcmp(key, "edges") == 0;
    bool jobs = strcmp(key, "jobs") == 0, foreign = strcmp(key, "foreign") == 0;
    int rc;

    if (strcmp(key, "version") == 0)
        return want_integer(p, "version", DIFFERENCE_VERSION, DIFFERENCE_VERSION, &p->version);
    if (strcmp(key, "from") == 0)
        return take_text(p, "from", p->from, sizeof p->from);
    if (strcmp(key, "to") == 0)
        return take_text(p, "to", p->to, sizeof p->to);
    if (strcmp(key, "uuid") == 0)
        return take_text(p, "uuid", p->uuid, sizeof p->uuid);
    if (strcmp(key, "contains") == 0 || strcmp(key, "in") == 0)
        return take_word(p, key, strcmp(key, "in") == 0 ? &p->up : &p->down);
    if ((state && p->has_state) || (nodes && p->has_nodes) || (edges && (p->has_edges || !p->has_nodes)) ||
        (jobs && p->has_jobs) || (foreign && (p->foreign.n > 0 || !p->has_nodes)))
        return bad(p, "%s: is given twice, or before nodes", key);
    if (!state && !nodes && !edges && !jobs && !foreign)
        return bad(p, "%.40s: is unknown", key);
    rc = check_from(p);
    if (rc < 0)
        return rc;
    p->has_state |= state;
    p->has_nodes |= nodes;
    p->has_edges |= edges;
    p->has_jobs |= jobs;
    if (state)
        return capture(p, &p->state);
    if (jobs)
        return take_jobs(p);
    if (foreign)
        return take_foreign(p);
    return nodes ? take_steps(p, "nodes", p->a.count, take_node_step)
                 : take_steps(p, "edges", p->a.nedges, take_edge_step);
}

static int read_difference(struct application *p)
{
    const char *key = "";
    int rc = want(p, WEIR_JSON_OBJECT, "the whole");

    rc = rc ? rc : next_key(p, &key);
    if (rc >= 0 && strcmp(key, "weir_difference") != 0)
        return weir_fail_at(p->err, WEIR_EINVAL, p->source, 0, 0, "is not a difference: expected \"weir_difference\"");
    rc = rc < 0 ? rc : want(p, WEIR_JSON_OBJECT, "the whole");
    while (rc == WEIR_OK && (rc = next_key(p, &key)) == 1)
        rc = read_member(p, key);
    rc = rc ? rc : want(p, WEIR_JSON_OBJECT_END, "the whole");
    rc = rc ? rc : want(p, WEIR_JSON_END, "the whole");
    if (rc == WEIR_OK && !(p->has_state && p->has_nodes && p->has_edges && p->has_jobs && p->to[0]))
        return bad(p, "one of to, state, nodes, edges, jobs is missing");
    return rc;
}

/* Adds a text without its first `skip` bytes. */
static void add_buf(weir_buf *b, const weir_buf *text, size_t skip)
{
    if (text->len > skip)
        weir_buf_add(b, text->data + skip, text->len - skip);
}

/* Puts the new document together, in p->value. */
static int compose(struct application *p)
{
    weir_buf *b = &p->value;

    if (p->state.failed || p->nodes.failed || p->contains.failed || p->edges.failed || p->jobs.failed ||
        p->down.failed || p->up.failed)
        return weir_fail_nomem(p->err);
    if (p->state.len < 3 || p->state.data[0] != '{')
        return bad(p, "state: expected an object with fields");
    b->len = 0;
    weir_buf_puts(b, "{\"graph\":{\"metadata\":{\"uuid\":");
    weir_write_string(b, p->uuid);
    weir_buf_puts(b, ",\"weir\":");
    weir_buf_add(b, p->state.data, p->state.len - 1);
    weir_buf_puts(b, ",\"jobs\":[");
    add_buf(b, &p->jobs, 0);
    weir_buf_puts(b, "]}},\"nodes\":[");
    add_buf(b, &p->nodes, 0);
    weir_buf_puts(b, "],\"edges\":[");
    add_buf(b, &p->contains, 0);
    add_buf(b, &p->edges, p->contains.len == 0); /* each edge begins with a comma */
    weir_buf_puts(b, "]}}");
    return b->failed ? weir_fail_nomem(p->err) : WEIR_OK;
}

/* Fails unless the graph is the graph that the difference leads to. */
static int check_to(const struct application *p, const weir_graph *g)
{
    char *text = weir_write_text(weir_jgf_write_document, &(struct weir_written){.g = g}, p->err);
    char hash[DIFFERENCE_HASH];

    if (!text)
        return weir_fail_nomem(p->err);
    weir_document_hash(text, strlen(text), hash);
    weir_mem_free(text);
    return strcmp(hash, p->to) == 0 ? WEIR_OK : bad(p, "to: the steps lead to another graph");
}

static int apply(struct application *p, const struct weir_input *in, weir_graph **out)
{
    int rc;

    p->moved = weir_mem_alloc(((size_t)p->a.g->limit + 1) * sizeof *p->moved);
    p->json = p->moved ? weir_json_open(in, p->source, p->err) : NULL;
    if (!p->json)
        return weir_fail_nomem(p->err);
    memset(p->moved, 0xff, ((size_t)p->a.g->limit + 1) * sizeof *p->moved);
    rc = read_difference(p);
    rc = rc ? rc : keep_jobs(p);
    rc = rc ? rc : compose(p);
    if (rc < 0)
        return rc;
    rc = weir_document_read(&(struct weir_input){.text = p->value.data, .len = p->value.len}, p->source, out, p->err);
    return rc == WEIR_OK && weir_foreign_set(&p->foreign, &p->a, p->moved, *out) ? weir_fail_nomem(p->err) : rc;
}

int weir_graph_apply(const weir_graph *g, const char *text, size_t len, const char *source, weir_graph **out,
                     weir_err *err)
{
    struct application p = {.err = err, .source = source};
    weir_graph *made = NULL;
    int rc = weir_document_view(g, &p.a, err);

    rc = rc ? rc : apply(&p, &(struct weir_input){.text = text, .len = len}, &made);
    rc = rc ? rc : check_to(&p, made);
    if (rc == WEIR_OK)
        *out = made;
    else
        weir_graph_free(made);
    weir_json_close(p.json);
    weir_document_view_free(&p.a);
    weir_buf *const texts[] = {&p.state, &p.nodes, &p.contains, &p.edges, &p.jobs, &p.value, &p.down, &p.up};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        weir_buf_free(texts[i]);
    weir_foreign_free(&p.foreign);
    WEIR_FREE(p.moved, p.gone);
    return rc;
}
