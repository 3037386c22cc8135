/* jgf_write.c - writes JSON Graph Format, as RFC 20 describes it; jgf_read.c reads it back.
 *
 * Vertices come in preorder, then the containment edges in preorder, then, for a whole graph, the edges of the other
 * subsystems in the order in which they were added. The id of a vertex is its index, so that what is written of one
 * graph agrees. Beyond what RFC 20 asks for, metadata has
 *   rank        the execution target, -1 for none
 *   exclusive   true: an allocation has it, and all below it, alone
 *   whole       true: the pool is only ever allocated as a whole
 *   status      1: it cannot be given to jobs; left out otherwise
 *   state       the name of its state, left out for "up"
 *   tags        key to value; left out where there are none
 *   extended    key to JSON; left out where there is none. A value that is no JSON is written as a string
 *   paths       {"containment": path}
 * An id of -1 stands for none. In an allocation, `size` is what was taken, but the pool's size where nothing was.
 *
 * Main invariant: `path` holds the path of the vertex that is being written, fit for the inside of a JSON string.
 */
#include "write.h"

#include <jansson.h>
#include <string.h>

struct jgf {
    const weir_graph *g;
    const struct weir_parts *parts; /* NULL: the whole graph */
    weir_buf *b;
    weir_buf path;
    weir_err *err;
    int rc;
    bool first; /* of an array */
};

static void next_element(struct jgf *w)
{
    if (!w->first)
        WEIR_WRITE(w->b, ",");
    w->first = false;
}

/* ---- vertices ------------------------------------------------------------------------------------------------- */

/* 1: the text is JSON that the reader takes; 0: it is not; or WEIR_ENOMEM. */
static int is_json(const char *text)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);

    if (!value)
        return json_error_code(&why) == json_error_out_of_memory ? WEIR_ENOMEM : 0;
    json_decref(value);
    return 1;
}

static void write_extended(struct jgf *w, const char *text)
{
    int json = is_json(text);

    if (json < 0)
        w->rc = weir_fail_nomem(w->err);
    else if (json)
        weir_buf_puts(w->b, text);
    else
        weir_write_string(w->b, text);
}

static void write_entries(struct jgf *w, weir_vertex v, int map)
{
    const char *key, *value;

    for (uint32_t i = 0; weir_vertex_entry(w->g, v, map, i, &key, &value); i++) {
        if (i > 0)
            WEIR_WRITE(w->b, ",");
        weir_write_string(w->b, key);
        WEIR_WRITE(w->b, ":");
        if (map == WEIR_EXTENDED)
            write_extended(w, value);
        else
            weir_write_string(w->b, value);
    }
}

static void write_state(struct jgf *w, weir_vertex v)
{
    int state = vertex_at(w->g, v)->state;

    if (state == WEIR_UP)
        return;
    if (!state_available(state))
        WEIR_WRITE(w->b, ",\"status\":1");
    WEIR_WRITE(w->b, ",\"state\":\"");
    weir_buf_puts(w->b, weir_state_name(state));
    WEIR_WRITE(w->b, "\"");
}

/* What few vertices have. */
static void write_own(struct jgf *w, weir_vertex v)
{
    if (kind_of(w->g, v)->exclusive)
        WEIR_WRITE(w->b, ",\"whole\":true");
    write_state(w, v);
    if (weir_vertex_count(w->g, v, WEIR_TAGS)) {
        WEIR_WRITE(w->b, ",\"tags\":{");
        write_entries(w, v, WEIR_TAGS);
        WEIR_WRITE(w->b, "}");
    }
    if (weir_vertex_count(w->g, v, WEIR_EXTENDED)) {
        WEIR_WRITE(w->b, ",\"extended\":{");
        write_entries(w, v, WEIR_EXTENDED);
        WEIR_WRITE(w->b, "}");
    }
}

/* Adds the name of v to the path and returns where it begins there. */
static size_t push_name(struct jgf *w, weir_vertex v)
{
    char small[1024];
    weir_buf raw = {0};
    const struct pool *p = pool_of(w->g, v);
    size_t at;

    WEIR_WRITE(&w->path, "/");
    at = w->path.len;
    if (!p || p->name == WEIR_NO_NAME) {
        const char *basename = weir_vertex_basename(w->g, v);
        weir_write_escaped(&w->path, basename, strlen(basename));
        if (vertex_at(w->g, v)->id != WEIR_NO_ID)
            weir_write_int(&w->path, vertex_at(w->g, v)->id);
        return at;
    }
    if (weir_vertex_name(w->g, v, small, sizeof small) < sizeof small) {
        weir_write_escaped(&w->path, small, strlen(small));
        return at;
    }
    weir_write_name(&raw, w->g, v);
    if (raw.failed)
        w->path.failed = true;
    else
        weir_write_escaped(&w->path, raw.data, raw.len);
    weir_buf_free(&raw);
    return at;
}

static void write_base(struct jgf *w, weir_vertex v, size_t name, int64_t size)
{
    const struct vertex *x = vertex_at(w->g, v);
    weir_buf *b = w->b;
    char uuid[37];

    WEIR_WRITE(b, "{\"type\":");
    weir_write_string(b, weir_vertex_type(w->g, v));
    WEIR_WRITE(b, ",\"uuid\":\"");
    weir_vertex_uuid(w->g, v, uuid);
    weir_buf_add(b, uuid, 36);
    WEIR_WRITE(b, "\",\"basename\":");
    weir_write_string(b, weir_vertex_basename(w->g, v));
    WEIR_WRITE(b, ",\"name\":\"");
    weir_buf_add(b, w->path.data + name, w->path.len - name);
    WEIR_WRITE(b, "\",\"id\":");
    weir_write_int(b, x->id == WEIR_NO_ID ? -1 : x->id);
    WEIR_WRITE(b, ",\"properties\":{");
    write_entries(w, v, WEIR_PROPERTIES);
    WEIR_WRITE(b, "},\"size\":");
    weir_write_int(b, size);
    WEIR_WRITE(b, ",\"unit\":");
    weir_write_string(b, weir_vertex_unit(w->g, v));
}

/* Writes v, `name` being where its name is in the path. */
static void write_vertex(struct jgf *w, weir_vertex v, size_t name, int64_t rank, int64_t size, bool exclusive)
{
    weir_buf *b = w->b;

    next_element(w);
    WEIR_WRITE(b, "{\"id\":\"");
    weir_write_int(b, v);
    WEIR_WRITE(b, "\",\"metadata\":");
    if (w->path.failed) {
        b->failed = true;
        return;
    }
    write_base(w, v, name, size);
    WEIR_WRITE(b, ",\"rank\":");
    weir_write_int(b, rank);
    if (exclusive)
        WEIR_WRITE(b, ",\"exclusive\":true");
    write_own(w, v);
    WEIR_WRITE(b, ",\"paths\":{\"containment\":\"");
    weir_buf_add(b, w->path.data, w->path.len);
    WEIR_WRITE(b, "\"}}}");
}

static int64_t rank_of(const weir_graph *g, weir_vertex v, int64_t above)
{
    const struct pool *p = pool_of(g, v);
    return p && p->rank != WEIR_NO_RANK ? p->rank : above;
}

/* Writes v and all below it. */
static void write_all(struct jgf *w, weir_vertex v, int64_t rank, bool exclusive)
{
    size_t back = w->path.len, name = push_name(w, v);
    uint32_t n;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    rank = rank_of(w->g, v, rank);
    write_vertex(w, v, name, rank, kind_of(w->g, v)->size, exclusive);
    for (uint32_t i = 0; i < n && !w->b->failed && w->rc == WEIR_OK; i++)
        if (kids[i] != WEIR_NONE)
            write_all(w, kids[i], rank, exclusive);
    w->path.len = back;
}

static void write_part(struct jgf *w, const struct weir_part *p, int64_t rank)
{
    size_t back = w->path.len, name;

    if (p->whole) {
        write_all(w, p->v, rank, true);
        return;
    }
    name = push_name(w, p->v);
    rank = rank_of(w->g, p->v, rank);
    write_vertex(w, p->v, name, rank, p->amount > 0 ? p->amount : kind_of(w->g, p->v)->size, false);
    for (uint32_t i = p->first; i != WEIR_NONE && !w->b->failed && w->rc == WEIR_OK; i = w->parts->list[i].next)
        write_part(w, &w->parts->list[i], rank);
    w->path.len = back;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static void begin_edge(struct jgf *w, weir_vertex source, weir_vertex target)
{
    next_element(w);
    WEIR_WRITE(w->b, "{\"source\":\"");
    weir_write_int(w->b, source);
    WEIR_WRITE(w->b, "\",\"target\":\"");
    weir_write_int(w->b, target);
    WEIR_WRITE(w->b, "\",\"metadata\":{\"subsystem\":");
}

static void contain(struct jgf *w, weir_vertex source, weir_vertex target)
{
    begin_edge(w, source, target);
    WEIR_WRITE(w->b, "\"containment\",\"relationship\":\"contains\"}}");
}

static void contain_all(struct jgf *w, weir_vertex v)
{
    uint32_t n;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    for (uint32_t i = 0; i < n && !w->b->failed; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        contain(w, v, kids[i]);
        contain_all(w, kids[i]);
    }
}

static void contain_part(struct jgf *w, const struct weir_part *p)
{
    if (p->whole) {
        contain_all(w, p->v);
        return;
    }
    for (uint32_t i = p->first; i != WEIR_NONE && !w->b->failed; i = w->parts->list[i].next) {
        contain(w, p->v, w->parts->list[i].v);
        contain_part(w, &w->parts->list[i]);
    }
}

/* The edges of all subsystems but containment. */
static void write_others(struct jgf *w)
{
    uint32_t left = weir_edge_count(w->g);
    weir_edge e;

    for (uint32_t i = 0; left > 0 && !w->b->failed; i++) {
        if (!weir_edge_get(w->g, i, &e))
            continue;
        left--;
        begin_edge(w, e.source, e.target);
        weir_write_string(w->b, e.subsystem);
        WEIR_WRITE(w->b, ",\"relationship\":");
        weir_write_string(w->b, e.type);
        if (e.back) {
            WEIR_WRITE(w->b, ",\"back\":");
            weir_write_string(w->b, e.back);
        }
        WEIR_WRITE(w->b, "}}");
    }
}

/* ---- the document --------------------------------------------------------------------------------------------- */

static void write_graph(struct jgf *w)
{
    const weir_graph *g = w->g;

    WEIR_WRITE(w->b, "{\"nodes\":[");
    w->first = true;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            write_all(w, g->roots[i], WEIR_NO_RANK, false);
    WEIR_WRITE(w->b, "],\"edges\":[");
    w->first = true;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            contain_all(w, g->roots[i]);
    write_others(w);
    WEIR_WRITE(w->b, "]}");
}

static void write_allocation(struct jgf *w)
{
    const struct weir_parts *p = w->parts;

    WEIR_WRITE(w->b, "{\"nodes\":[");
    w->first = true;
    for (uint32_t i = p->first; i != WEIR_NONE; i = p->list[i].next)
        write_part(w, &p->list[i], WEIR_NO_RANK);
    WEIR_WRITE(w->b, "],\"edges\":[");
    w->first = true;
    for (uint32_t i = p->first; i != WEIR_NONE; i = p->list[i].next)
        contain_part(w, &p->list[i]);
    WEIR_WRITE(w->b, "]}");
}

int weir_jgf_write(const struct weir_written *w, weir_buf *b, weir_err *err)
{
    struct jgf jgf = {.g = w->g, .parts = w->parts, .b = b, .err = err};

    if (w->parts)
        write_allocation(&jgf);
    else
        write_graph(&jgf);
    weir_buf_free(&jgf.path);
    return jgf.rc;
}
