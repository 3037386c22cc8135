/* jgf_write.c - writes JSON Graph Format, as RFC 20 describes it; jgf_read.c reads it back without loss. Books are no
 * part of it.
 *
 * Vertices come in preorder, then the containment edges in preorder, then, for a whole graph, the edges of the other
 * subsystems in the order in which they were added. The id of a vertex is its index, so that what is written of one
 * graph agrees. Beyond what RFC 20 asks for, metadata has
 *   rank           the execution target, -1 for none
 *   exclusive      true: an allocation has it, and all below it, alone
 *   status         1: it cannot be given to jobs; left out otherwise
 *   paths          by subsystem: {"containment": path}. Where several edges enter a vertex, the first one counts
 * and what other readers do not know, left out where there is nothing to say:
 *   name_template  what the name is made from, such as "node-${rack}"
 *   negative_id    true: the id of -1 is one; otherwise it stands for none
 *   whole          true: the pool is only ever allocated as a whole
 *   state          the name of its state, unless that is "up"
 *   tags           key to value
 *   extended       key to JSON, as it was given
 *   extended_text  key to text: what was given as extended data and is no JSON
 * In an allocation, `size` is what was taken, but the pool's size where nothing was.
 *
 * Main invariant: `path` holds the path of the vertex that is being written, fit for the inside of a JSON string.
 */
#include "jgf.h"
#include "write.h"

#include <string.h>

#define DEPTH 8 /* of extended data in the document, and some more */

struct writer {
    const struct weir_written *in;
    const weir_graph *g;
    const struct weir_parts *parts; /* NULL: the whole graph */
    bool shorthand, cut;            /* cut: something was left out */
    weir_buf *b;
    weir_buf path;
    weir_err *err;
    int rc;
    bool first; /* of an array */
};

static void next_element(struct writer *w)
{
    if (!w->first)
        WEIR_WRITE(w->b, ",");
    w->first = false;
}

/* ---- vertices ------------------------------------------------------------------------------------------------- */

static void write_entries(struct writer *w, weir_vertex v, int map)
{
    const char *key, *value;

    for (uint32_t i = 0; weir_vertex_entry(w->g, v, map, i, &key, &value); i++) {
        if (i > 0)
            WEIR_WRITE(w->b, ",");
        weir_write_string(w->b, key);
        WEIR_WRITE(w->b, ":");
        weir_write_string(w->b, value);
    }
}

/* 1: the text is JSON that comes back as it is; 0: it is not; or WEIR_ENOMEM. */
static int is_json(const char *text)
{
    static const char blank[] = " \t\r\n";
    size_t n = strlen(text);

    if (n == 0 || strchr(blank, text[0]) || strchr(blank, text[n - 1]))
        return 0;
    return weir_json_valid(text, n, DEPTH);
}

/* The extended data that is JSON, or that which is not. */
static void write_extended(struct writer *w, weir_vertex v, bool json)
{
    const char *key, *value;
    bool any = false;

    for (uint32_t i = 0; weir_vertex_entry(w->g, v, WEIR_EXTENDED, i, &key, &value); i++) {
        int is = is_json(value);
        if (is < 0)
            w->rc = weir_fail_nomem(w->err);
        if (is != json)
            continue;
        weir_buf_puts(w->b, any ? "," : json ? ",\"extended\":{" : ",\"extended_text\":{");
        any = true;
        weir_write_string(w->b, key);
        WEIR_WRITE(w->b, ":");
        if (json)
            weir_buf_puts(w->b, value);
        else
            weir_write_string(w->b, value);
    }
    if (any)
        WEIR_WRITE(w->b, "}");
}

static void write_state(struct writer *w, weir_vertex v)
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
static void write_own(struct writer *w, weir_vertex v)
{
    const struct pool *p = pool_of(w->g, v);
    const char *name = p && p->name != WEIR_NO_NAME ? weir_names_text(&w->g->names, p->name) : "";

    if (strstr(name, "${")) {
        WEIR_WRITE(w->b, ",\"name_template\":");
        weir_write_string(w->b, name);
    }
    if (vertex_at(w->g, v)->id == -1)
        WEIR_WRITE(w->b, ",\"negative_id\":true");
    if (kind_of(w->g, v)->exclusive)
        WEIR_WRITE(w->b, ",\"whole\":true");
    write_state(w, v);
    if (weir_vertex_count(w->g, v, WEIR_TAGS)) {
        WEIR_WRITE(w->b, ",\"tags\":{");
        write_entries(w, v, WEIR_TAGS);
        WEIR_WRITE(w->b, "}");
    }
    if (weir_vertex_count(w->g, v, WEIR_EXTENDED)) {
        write_extended(w, v, true);
        write_extended(w, v, false);
    }
}

/* Adds the name of v to the path and returns where it begins there. */
static size_t push_name(struct writer *w, weir_vertex v)
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

/* Writes the path in a subsystem other than containment, if v is in it and the way to its source is not endless. */
static void write_path_in(struct writer *w, weir_vertex v, uint32_t subsystem)
{
    weir_vertex way[WEIR_PATH_DEPTH];
    size_t depth = 0, from = w->path.len;
    uint32_t in;

    if (weir_edge_first(w->g, v, subsystem, true) == WEIR_NONE &&
        weir_edge_first(w->g, v, subsystem, false) == WEIR_NONE)
        return;
    for (; v != WEIR_NONE; v = in == WEIR_NONE ? WEIR_NONE : w->g->edges[in].source) {
        if (depth == WEIR_PATH_DEPTH)
            return;
        way[depth++] = v;
        in = weir_edge_first(w->g, v, subsystem, false);
    }
    while (depth > 0)
        push_name(w, way[--depth]);
    weir_buf_puts(w->b, w->b->data[w->b->len - 1] == '{' ? "" : ",");
    weir_write_string(w->b, weir_subsystem_name(w->g, subsystem));
    WEIR_WRITE(w->b, ":\"");
    if (w->path.failed)
        w->b->failed = true;
    else
        weir_buf_add(w->b, w->path.data + from, w->path.len - from);
    WEIR_WRITE(w->b, "\"");
    w->path.len = from;
}

static void write_paths(struct writer *w, weir_vertex v)
{
    bool others = in_other_subsystem(w->g, v);

    WEIR_WRITE(w->b, ",\"paths\":{");
    if (!others || vertex_at(w->g, v)->parent != WEIR_NONE || weir_vertex_children(w->g, v)) {
        WEIR_WRITE(w->b, "\"containment\":\"");
        weir_buf_add(w->b, w->path.data, w->path.len);
        WEIR_WRITE(w->b, "\"");
    }
    for (uint32_t s = 1; others && s < w->g->nsubsystems && !w->b->failed; s++)
        write_path_in(w, v, s);
    WEIR_WRITE(w->b, "}");
}

static void write_base(struct writer *w, weir_vertex v, size_t name, int64_t size)
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
static void write_vertex(struct writer *w, weir_vertex v, size_t name, int64_t rank, int64_t size, bool exclusive)
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
    write_paths(w, v);
    WEIR_WRITE(b, "}}");
    if (w->rc == WEIR_OK)
        w->rc = weir_write_flush(w->in, b, false, w->err);
}

static int64_t rank_of(const weir_graph *g, weir_vertex v, int64_t above)
{
    const struct pool *p = pool_of(g, v);
    return p && p->rank != WEIR_NO_RANK ? p->rank : above;
}

/* Writes v and all below it. */
static void write_all(struct writer *w, weir_vertex v, int64_t rank, bool exclusive)
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

static void write_part(struct writer *w, const struct weir_part *p, int64_t rank)
{
    size_t back = w->path.len, name;

    if (p->whole && !w->shorthand) {
        write_all(w, p->v, rank, true);
        return;
    }
    name = push_name(w, p->v);
    rank = rank_of(w->g, p->v, rank);
    write_vertex(w, p->v, name, rank, p->amount > 0 ? p->amount : kind_of(w->g, p->v)->size, p->whole);
    w->cut |= p->whole && weir_vertex_children(w->g, p->v);
    for (uint32_t i = p->whole ? WEIR_NONE : p->first; i != WEIR_NONE && !w->b->failed && w->rc == WEIR_OK;
         i = w->parts->list[i].next)
        write_part(w, &w->parts->list[i], rank);
    w->path.len = back;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static void begin_edge(struct writer *w, weir_vertex source, weir_vertex target)
{
    next_element(w);
    WEIR_WRITE(w->b, "{\"source\":\"");
    weir_write_int(w->b, source);
    WEIR_WRITE(w->b, "\",\"target\":\"");
    weir_write_int(w->b, target);
    WEIR_WRITE(w->b, "\",\"metadata\":{\"subsystem\":");
}

static void contain(struct writer *w, weir_vertex source, weir_vertex target)
{
    begin_edge(w, source, target);
    WEIR_WRITE(w->b, "\"containment\",\"relationship\":\"contains\"}}");
    if (w->rc == WEIR_OK)
        w->rc = weir_write_flush(w->in, w->b, false, w->err);
}

static void contain_all(struct writer *w, weir_vertex v)
{
    uint32_t n;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    for (uint32_t i = 0; i < n && !w->b->failed && w->rc == WEIR_OK; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        contain(w, v, kids[i]);
        contain_all(w, kids[i]);
    }
}

static void contain_part(struct writer *w, const struct weir_part *p)
{
    if (p->whole) {
        if (!w->shorthand)
            contain_all(w, p->v);
        return;
    }
    for (uint32_t i = p->first; i != WEIR_NONE && !w->b->failed; i = w->parts->list[i].next) {
        contain(w, p->v, w->parts->list[i].v);
        contain_part(w, &w->parts->list[i]);
    }
}

/* The edges of all subsystems but containment. */
static void write_others(struct writer *w)
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

static void write_graph(struct writer *w)
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

static void write_allocation(struct writer *w)
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

int weir_jgf_write(const struct weir_written *in, enum weir_detail detail, weir_buf *b, weir_err *err)
{
    struct writer w = {
        .in = in, .g = in->g, .parts = in->parts, .shorthand = detail == WEIR_SHORTHAND, .b = b, .err = err};

    WEIR_WRITE(b, "\"graph\":");
    if (w.parts)
        write_allocation(&w);
    else
        write_graph(&w);
    if (w.cut)
        WEIR_WRITE(b, ",\"writer\":\"" WEIR_JGF_SHORTHAND "\"");
    weir_buf_free(&w.path);
    return w.rc;
}
