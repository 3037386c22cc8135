/* jgf_write.c - writes JSON Graph Format, as described by RFC 20; jgf_read.c reads it back without loss. Only a
 * document has the schedule.
 *
 * Vertices come in preorder, then the containment edges in preorder, then the edges of all other subsystems in the
 * order of adding. An allocation has the edges between its vertices: a flow through switches and power units remains a
 * flow, with the amounts of the job. The id of a vertex is its index, so that all documents of a graph agree. Beyond
 * RFC 20, metadata has
 *   rank           the execution target, -1 for none
 *   exclusive      true: the allocation has the vertex, and all vertices below, as a whole
 *   status         1: the vertex cannot be given to jobs; left out otherwise
 *   paths          by subsystem: {"containment": path}. Of several edges to a vertex, the first counts
 * and keys unknown to other readers, left out where empty:
 *   name_template  the template of the name, such as "node-${rack}"
 *   negative_id    true: an id of -1 is an id; otherwise -1 means none
 *   whole          true: the pool is only ever allocated as a whole
 *   state          the name of the state, unless "up"
 *   tags           key to value
 *   extended       key to JSON, as given
 *   extended_text  key to text: extended data given that is no JSON; in a document also JSON with line breaks
 *   own_rank       true: the rank is the vertex's own, although equal to the rank of the nearest ancestor with a rank
 * Extended data with keys that begin with "jgf." are foreign keys, and written where they stood (jgf_foreign.c).
 * In an allocation, `size` is the amount taken, or the size of the pool where none was. Units of which other jobs may
 * have some, too, have `shares`, whose sum is the size: {"JOB:VERTEX": units that the flow to a vertex takes, "JOB":
 * units for nothing else}, with the ids of the job and of the vertex. Parts and unions of sets add up by the shares.
 *
 * A document is the graph as a whole, with clock, jobs and all that a save keeps, and is canonical: equal states give
 * equal bytes. So vertices are numbered in preorder, regardless of their indices; keys of maps are sorted; vertices,
 * edges and jobs have lines of their own; and graph.metadata.weir, before the vertices, has the rest (jgf_metadata.c).
 *
 * The texts common to all vertices of a kind are escaped for JSON once, as a form.
 *
 * Main invariant: `path` holds the path of the vertex being written, escaped for the inside of a JSON string.
 */
#include "format/jgf/jgf.h"
#include "base/compare.h"
#include "base/utf8.h"
#include "format/output.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 8   /* nesting of extended data in the document, and some more */
#define FORMS 16  /* forms that are cached, by number of the kind */
#define SPACE 512 /* more than an element has in addition to form and path: punctuation, keys, five numbers, a UUID */

/* The pieces common to all vertices of a kind, in sequence; the fields are the ends of pieces: */
struct form {
    uint32_t kind; /* + 1 */
    weir_buf text;
    size_t type;     /* ","metadata":{"type":"core","uuid":" */
    size_t basename; /* ","basename":"core","name":" */
    size_t unit;     /* ,"unit":"","rank": */
};                   /* then the start of names */

struct jgf_writer {
    const struct weir_written *in;
    const weir_graph *g;
    const struct weir_pick_tree *tree; /* NULL: the whole graph */
    uint32_t *numbers;                 /* of a document: numbers by vertex; NULL: no document */
    struct named_value {
        const char *key, *value;
    } * entries; /* of a document: the entries of a map, sorted */
    uint32_t entries_cap;
    bool shorthand, cut; /* cut: some vertices were left out */
    weir_buf *b;
    weir_buf path;
    struct form forms[FORMS];
    weir_err *err;
    int rc;
    bool first; /* the next element is the first of its array */
};

static char *put(char *at, const char *s, size_t n)
{
    memcpy(at, s, n);
    return at + n;
}

#define PUT(at, literal) put((at), "" literal, sizeof(literal) - 1)

/* The number that names v in the text. */
static uint32_t number_of(const struct jgf_writer *w, weir_vertex v)
{
    return w->numbers ? w->numbers[v] : v;
}

/* Reserves n bytes and SPACE for the next element of an array; NULL: out of memory. */
static char *begin_element(struct jgf_writer *w, size_t n)
{
    char *at = weir_buf_space(w->b, n + SPACE);

    if (at && !w->first)
        at = PUT(at, ",");
    if (at && w->numbers)
        at = PUT(at, "\n");
    w->first = false;
    return at;
}

static void finish_element(struct jgf_writer *w, char *at)
{
    weir_buf_end(w->b, at);
    if (w->rc == WEIR_OK)
        w->rc = weir_write_flush(w->in, w->b, false, w->err);
}

/* ---- forms --------------------------------------------------------------------------------------------------- */

static void make_form(const weir_graph *g, uint32_t kind, struct form *s)
{
    const struct kind *k = &g->kinds[kind];
    const char *basename = weir_strtab_text(&g->names, k->basename);
    weir_buf *b = &s->text;

    b->len = 0;
    WEIR_WRITE(b, "\",\"metadata\":{\"type\":");
    weir_write_string(b, type_text(g, k->type));
    WEIR_WRITE(b, ",\"uuid\":\"");
    s->type = b->len;
    WEIR_WRITE(b, "\",\"basename\":");
    weir_write_string(b, basename);
    WEIR_WRITE(b, ",\"name\":\"");
    s->basename = b->len;
    WEIR_WRITE(b, ",\"unit\":");
    weir_write_string(b, weir_strtab_text(&g->names, k->unit));
    WEIR_WRITE(b, ",\"rank\":");
    s->unit = b->len;
    weir_write_escaped(b, basename, strlen(basename));
    s->kind = kind + 1;
}

/* The form of the kind of a vertex; NULL: out of memory. */
static const struct form *form_of(struct jgf_writer *w, weir_vertex v)
{
    uint32_t kind = vertex_at(w->g, v)->kind;
    struct form *s = &w->forms[kind % FORMS];

    if (s->kind != kind + 1)
        make_form(w->g, kind, s);
    if (!s->text.failed)
        return s;
    w->b->failed = true;
    return NULL;
}

/* ---- vertices ------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct named_value *x = a, *y = b;
    return strcmp(x->key, y->key);
}

/* Sorts the entries of a map of v, for a document. */
static void sort_entries(struct jgf_writer *w, weir_vertex v, int map)
{
    uint32_t n = w->numbers ? weir_vertex_count(w->g, v, map) : 0;

    if (weir_array_reserve(&w->entries, &w->entries_cap, n, sizeof *w->entries) < 0) {
        w->b->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        weir_vertex_entry(w->g, v, map, i, &w->entries[i].key, &w->entries[i].value);
    if (n > 1)
        qsort(w->entries, n, sizeof *w->entries, by_key);
}

/* Gives the i-th entry of a map, of a document after sort_entries(); false: no more. */
static bool next_entry(const struct jgf_writer *w, weir_vertex v, int map, uint32_t i, const char **key,
                       const char **value)
{
    bool there = !w->b->failed && weir_vertex_entry(w->g, v, map, i, key, value);

    if (there && w->numbers) {
        *key = w->entries[i].key;
        *value = w->entries[i].value;
    }
    return there;
}

static void write_entries(struct jgf_writer *w, weir_vertex v, int map)
{
    const char *key, *value;

    sort_entries(w, v, map);
    for (uint32_t i = 0; next_entry(w, v, map, i, &key, &value); i++) {
        if (i > 0)
            WEIR_WRITE(w->b, ",");
        weir_write_string(w->b, key);
        WEIR_WRITE(w->b, ":");
        weir_write_string(w->b, value);
    }
}

/* Whether a text is JSON that is read back unchanged. Returns 1, 0 or WEIR_ENOMEM. */
static int is_json(const char *text)
{
    static const char blank[] = " \t\r\n";
    size_t n = strlen(text);

    if (n == 0 || strchr(blank, text[0]) || strchr(blank, text[n - 1]))
        return 0;
    return weir_json_valid(text, n, DEPTH);
}

/* Returns whether a key stays out of documents about a part of the graph: the states that policies keep, which concern
 * the whole machine, would reach the users of jobs. */
static bool is_withheld(const struct jgf_writer *w, const char *key)
{
    static const char states[] = "weir.policy.";
    return w->tree && strncmp(key, states, sizeof states - 1) == 0;
}

/* Writes the extended data in JSON, or all others. */
static void write_extended(struct jgf_writer *w, weir_vertex v, bool json)
{
    const char *key, *value;
    bool any = false;

    sort_entries(w, v, WEIR_EXTENDED);
    for (uint32_t i = 0; next_entry(w, v, WEIR_EXTENDED, i, &key, &value); i++) {
        int is = is_json(value);
        if (is_withheld(w, key) || weir_jgf_is_foreign(w->g, v, key, value))
            continue;
        if (w->numbers && strchr(value, '\n'))
            is = 0; /* a document has line breaks between elements only */
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

static void write_state(struct jgf_writer *w, weir_vertex v)
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

/* Writes the metadata that few vertices have. */
static void write_own(struct jgf_writer *w, weir_vertex v)
{
    const struct pool *p = pool_of(w->g, v);
    const struct vertex *x = vertex_at(w->g, v);
    const char *name = p && p->name != WEIR_NO_NAME ? weir_strtab_text(&w->g->names, p->name) : "";

    if (strstr(name, "${")) {
        WEIR_WRITE(w->b, ",\"name_template\":");
        weir_write_string(w->b, name);
    }
    if (x->id == -1)
        WEIR_WRITE(w->b, ",\"negative_id\":true");
    if (kind_of(w->g, v)->exclusive)
        WEIR_WRITE(w->b, ",\"whole\":true");
    if (w->numbers && p && p->rank != WEIR_NO_RANK && x->parent != WEIR_NONE &&
        weir_vertex_rank(w->g, x->parent) == p->rank)
        WEIR_WRITE(w->b, ",\"own_rank\":true");
    if (vertex_detached(w->g, v))
        WEIR_WRITE(w->b, ",\"detached\":true");
    write_state(w, v);
    if (weir_vertex_count(w->g, v, WEIR_TAGS)) {
        WEIR_WRITE(w->b, ",\"tags\":{");
        write_entries(w, v, WEIR_TAGS);
        WEIR_WRITE(w->b, "}");
    }
    if (weir_vertex_count(w->g, v, WEIR_EXTENDED)) {
        write_extended(w, v, true);
        write_extended(w, v, false);
        weir_jgf_write_foreign(w->g, v, JGF_OF_VERTEX, w->b);
    }
}

/* Adds a name made of basename and id to the path. */
static void push_derived(struct jgf_writer *w, weir_vertex v)
{
    const struct form *s = form_of(w, v);
    size_t n = s ? s->text.len - s->unit : 0;
    char *at = s ? weir_buf_space(&w->path, n + WEIR_INT_MAX) : NULL;

    if (!at)
        return;
    at = put(at, s->text.data + s->unit, n);
    if (vertex_at(w->g, v)->id != WEIR_NO_ID)
        at = weir_put_int(at, vertex_at(w->g, v)->id);
    weir_buf_end(&w->path, at);
}

/* Adds the name of v to the path. Returns the offset of the name. */
static size_t push_name(struct jgf_writer *w, weir_vertex v)
{
    char small[1024];
    weir_buf raw = {0};
    const struct pool *p = pool_of(w->g, v);
    size_t at;

    WEIR_WRITE(&w->path, "/");
    at = w->path.len;
    if (!p || p->name == WEIR_NO_NAME) {
        push_derived(w, v);
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

/* Writes the path of v in a subsystem other than containment, if v is in the subsystem and the way to its source
 * ends. */
static void write_path_in(struct jgf_writer *w, weir_vertex v, uint32_t subsystem)
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

static void write_paths(struct jgf_writer *w, weir_vertex v)
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

/* Writes a vertex from its id to its properties. Returns the end. */
static char *put_base(struct jgf_writer *w, const struct form *s, weir_vertex v, size_t name, char *at)
{
    int64_t id = vertex_at(w->g, v)->id;

    at = PUT(at, "{\"id\":\"");
    at = weir_put_int(at, number_of(w, v));
    at = put(at, s->text.data, s->type);
    weir_uuid_write(w->g, v, at);
    at = put(at + 36, s->text.data + s->type, s->basename - s->type);
    at = put(at, w->path.data + name, w->path.len - name);
    at = PUT(at, "\",\"id\":");
    at = weir_put_int(at, id == WEIR_NO_ID ? -1 : id);
    return PUT(at, ",\"properties\":{");
}

/* Writes a vertex from its properties to `exclusive`. Returns the end. */
static char *put_use(const struct form *s, int64_t rank, int64_t size, bool exclusive, char *at)
{
    at = PUT(at, "},\"size\":");
    at = weir_put_int(at, size);
    at = put(at, s->text.data + s->basename, s->unit - s->basename);
    at = weir_put_int(at, rank);
    return exclusive ? PUT(at, ",\"exclusive\":true") : at;
}

/* Whether v has no metadata but those of every vertex. */
static bool is_bare(const weir_graph *g, weir_vertex v)
{
    const struct vertex *x = vertex_at(g, v);
    return x->pool == WEIR_NONE && x->state == WEIR_UP && x->id != -1 && !g->kinds[x->kind].exclusive &&
           !vertex_detached(g, v);
}

/* Writes the rest of v. Returns the end; NULL: out of memory. */
static char *write_end(struct jgf_writer *w, weir_vertex v, char *at)
{
    if (is_bare(w->g, v)) {
        at = PUT(at, ",\"paths\":{\"containment\":\"");
        at = put(at, w->path.data, w->path.len);
        return PUT(at, "\"}}}");
    }
    weir_buf_end(w->b, at);
    write_own(w, v);
    write_paths(w, v);
    at = weir_buf_space(w->b, SPACE);
    return at ? PUT(at, "}}") : NULL;
}

/* Writes v; `name` is the offset of its name in the path. `entry` is the entry of an allocation that has units of v, or
 * NULL. */
static void write_vertex(struct jgf_writer *w, weir_vertex v, size_t name, int64_t rank, int64_t size, bool exclusive,
                         const struct weir_pick_entry *entry)
{
    const struct form *s = form_of(w, v);
    char *at;

    w->b->failed |= w->path.failed;
    at = s ? begin_element(w, s->text.len + 2 * w->path.len) : NULL;
    if (!at)
        return;
    at = put_base(w, s, v, name, at);
    if (pool_of(w->g, v)) {
        weir_buf_end(w->b, at);
        write_entries(w, v, WEIR_PROPERTIES);
        at = weir_buf_space(w->b, s->text.len + w->path.len + SPACE);
    }
    at = at ? put_use(s, rank, size, exclusive, at) : NULL;
    if (at && entry) {
        weir_buf_end(w->b, at);
        weir_jgf_write_shares(w->in, entry, w->b);
        at = weir_buf_space(w->b, w->path.len + SPACE);
    }
    if (at)
        at = write_end(w, v, at);
    if (at)
        finish_element(w, at);
}

static int64_t rank_of(const weir_graph *g, weir_vertex v, int64_t above)
{
    const struct pool *p = pool_of(g, v);
    return p && p->rank != WEIR_NO_RANK ? p->rank : above;
}

/* Writes v and all vertices below. */
static void write_all(struct jgf_writer *w, weir_vertex v, int64_t rank, bool exclusive)
{
    size_t back = w->path.len, name = push_name(w, v);
    uint32_t n;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    rank = rank_of(w->g, v, rank);
    write_vertex(w, v, name, rank, kind_of(w->g, v)->size, exclusive, NULL);
    for (uint32_t i = 0; i < n && !w->b->failed && w->rc == WEIR_OK; i++)
        if (kids[i] != WEIR_NONE)
            write_all(w, kids[i], rank, exclusive);
    w->path.len = back;
}

static void write_entry(struct jgf_writer *w, const struct weir_pick_entry *p, int64_t rank)
{
    size_t back = w->path.len, name;

    if (p->whole && !w->shorthand && weir_vertex_children(w->g, p->v)) {
        write_all(w, p->v, rank, true);
        return;
    }
    name = push_name(w, p->v);
    rank = rank_of(w->g, p->v, rank);
    write_vertex(w, p->v, name, rank, p->amount > 0 ? p->amount : kind_of(w->g, p->v)->size, p->whole,
                 p->amount > 0 && !weir_vertex_children(w->g, p->v) ? p : NULL);
    w->cut |= p->whole && weir_vertex_children(w->g, p->v);
    for (uint32_t i = p->whole ? WEIR_NONE : p->first; i != WEIR_NONE && !w->b->failed && w->rc == WEIR_OK;
         i = w->tree->entries[i].next)
        write_entry(w, &w->tree->entries[i], rank);
    w->path.len = back;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

/* Writes an edge up to the subsystem. Returns the end. */
static char *put_edge(struct jgf_writer *w, weir_vertex source, weir_vertex target)
{
    char *at = begin_element(w, 0);

    if (!at)
        return NULL;
    at = PUT(at, "{\"source\":\"");
    at = weir_put_int(at, number_of(w, source));
    at = PUT(at, "\",\"target\":\"");
    at = weir_put_int(at, number_of(w, target));
    return PUT(at, "\",\"metadata\":{\"subsystem\":");
}

static void contain(struct jgf_writer *w, weir_vertex source, weir_vertex target)
{
    char *at = put_edge(w, source, target);

    if (!at)
        return;
    if (!w->g->words.down && !weir_vertex_count(w->g, target, WEIR_EXTENDED)) {
        finish_element(w, PUT(at, "\"containment\",\"relationship\":\"contains\"}}"));
        return;
    }
    weir_buf_end(w->b, PUT(at, "\"containment\",\"relationship\":"));
    weir_write_string(w->b, weir_word_down(w->g));
    if (w->g->words.up) {
        weir_edge e;
        WEIR_WRITE(w->b, ",\"back\":");
        if (weir_vertex_edge(w->g, target, "containment", false, 0, &e))
            weir_write_string(w->b, e.back);
    }
    weir_jgf_write_foreign(w->g, target, JGF_OF_CHILD, w->b);
    WEIR_WRITE(w->b, "}}");
}

static void contain_all(struct jgf_writer *w, weir_vertex v)
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

static void contain_entry(struct jgf_writer *w, const struct weir_pick_entry *p)
{
    if (p->whole) {
        if (!w->shorthand)
            contain_all(w, p->v);
        return;
    }
    for (uint32_t i = p->first; i != WEIR_NONE && !w->b->failed; i = w->tree->entries[i].next) {
        contain(w, p->v, w->tree->entries[i].v);
        contain_entry(w, &w->tree->entries[i]);
    }
}

/* Writes an edge of a subsystem other than containment. */
static void write_other(struct jgf_writer *w, uint32_t i)
{
    weir_edge e;
    char *at;

    if (!weir_edge_get(w->g, i, &e) || !(at = put_edge(w, e.source, e.target)))
        return;
    weir_buf_end(w->b, at);
    weir_write_string(w->b, e.subsystem);
    WEIR_WRITE(w->b, ",\"relationship\":");
    weir_write_string(w->b, e.type);
    if (e.back) {
        WEIR_WRITE(w->b, ",\"back\":");
        weir_write_string(w->b, e.back);
    }
    weir_jgf_write_foreign_edge(w->g, &e, w->b);
    WEIR_WRITE(w->b, "}}");
}

/* Edges by number, with their serials as keys. */
struct edge_list {
    struct numbered {
        uint64_t serial;
        uint32_t number;
    } * list;
    uint32_t count, cap;
};

WEIR_COMPARE_BY(by_serial, struct numbered, serial)

/* Writes the edges of a list in the order of adding, each edge once. */
static void write_list(struct jgf_writer *w, struct edge_list *edges)
{
    if (edges->count > 0)
        qsort(edges->list, edges->count, sizeof *edges->list, by_serial);
    for (uint32_t i = 0; i < edges->count && !w->b->failed; i++)
        if (i == 0 || edges->list[i].number != edges->list[i - 1].number)
            write_other(w, edges->list[i].number);
}

static void list_edge(struct jgf_writer *w, struct edge_list *edges, uint32_t number)
{
    if (weir_array_reserve(&edges->list, &edges->cap, (size_t)edges->count + 1, sizeof *edges->list) < 0)
        w->b->failed = true;
    else
        edges->list[edges->count++] = (struct numbered){w->g->edges[number].serial, number};
}

/* Writes the edges of all subsystems but containment. */
static void write_others(struct jgf_writer *w)
{
    struct edge_list edges = {0};

    for (uint32_t i = 0; i < w->g->nedges && !w->b->failed; i++)
        if (w->g->edges[i].source != WEIR_NONE)
            list_edge(w, &edges, i);
    write_list(w, &edges);
    weir_mem_free(edges.list);
}

/* Returns whether the allocation's document has v: as an entry, or below a vertex that is taken as a whole. */
static bool is_written(const struct jgf_writer *w, weir_vertex v)
{
    bool listed = weir_map32_get(&w->tree->numbers, v) != WEIR_NONE;

    for (v = vertex_at(w->g, v)->parent; v != WEIR_NONE; v = vertex_at(w->g, v)->parent) {
        uint32_t i = weir_map32_get(&w->tree->numbers, v);
        if (i != WEIR_NONE && w->tree->entries[i].whole)
            return !w->shorthand;
    }
    return listed;
}

/* Lists the edges that enter v from vertices of the document. */
static void list_entering(struct jgf_writer *w, weir_vertex v, struct edge_list *edges)
{
    const struct pool *p = pool_of(w->g, v);

    for (uint32_t i = p ? p->edges_in : WEIR_NONE; i != WEIR_NONE && !w->b->failed; i = w->g->edges[i].next_in)
        if (is_written(w, w->g->edges[i].source))
            list_edge(w, edges, i);
}

/* Lists the edges that enter vertices below v. */
static void list_below(struct jgf_writer *w, weir_vertex v, struct edge_list *edges)
{
    uint32_t n;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    for (uint32_t i = 0; i < n && !w->b->failed; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        list_entering(w, kids[i], edges);
        list_below(w, kids[i], edges);
    }
}

/* Writes the edges of other subsystems between the vertices of an allocation. */
static void write_others_between(struct jgf_writer *w)
{
    struct edge_list edges = {0};

    for (uint32_t i = 0; w->g->live_edges > 0 && i < w->tree->count && !w->b->failed; i++) {
        const struct weir_pick_entry *p = &w->tree->entries[i];
        if (!is_written(w, p->v))
            continue;
        list_entering(w, p->v, &edges);
        if (p->whole && !w->shorthand)
            list_below(w, p->v, &edges);
    }
    write_list(w, &edges);
    weir_mem_free(edges.list);
}

/* ---- the document --------------------------------------------------------------------------------------------- */

static void write_graph(struct jgf_writer *w)
{
    const weir_graph *g = w->g;
    char uuid[37];

    weir_graph_uuid(g, uuid);
    WEIR_WRITE(w->b, "{\"metadata\":{\"uuid\":\"");
    weir_buf_puts(w->b, uuid);
    WEIR_WRITE(w->b, "\"");
    weir_jgf_write_foreign(g, weir_jgf_first_root(g), JGF_OF_METADATA, w->b);
    if (w->numbers)
        w->rc = weir_jgf_write_metadata(w->in, w->numbers, w->b, w->err);
    else
        WEIR_WRITE(w->b, "},");
    weir_jgf_write_foreign(g, weir_jgf_first_root(g), JGF_OF_GRAPH, w->b);
    WEIR_WRITE(w->b, "\"nodes\":[");
    w->first = true;
    for (uint32_t i = 0; i < g->nroots && w->rc == WEIR_OK; i++)
        if (g->roots[i] != WEIR_NONE)
            write_all(w, g->roots[i], WEIR_NO_RANK, false);
    for (weir_vertex v = 0; g->detached > 0 && v < g->limit && !w->b->failed && w->rc == WEIR_OK; v++)
        if (vertex_valid(g, v) && vertex_detached(g, v))
            write_all(w, v, WEIR_NO_RANK, false);
    weir_buf_puts(w->b, w->numbers ? "\n],\n\"edges\":[" : "],\"edges\":[");
    w->first = true;
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            contain_all(w, g->roots[i]);
    write_others(w);
    weir_buf_puts(w->b, w->numbers ? "\n]}" : "]}");
}

static void write_allocation(struct jgf_writer *w)
{
    const struct weir_pick_tree *p = w->tree;
    weir_vertex root = weir_jgf_first_root(w->g);

    WEIR_WRITE(w->b, "{");
    if (root != WEIR_NONE && is_written(w, root))
        weir_jgf_write_foreign(w->g, root, JGF_OF_GRAPH, w->b);
    WEIR_WRITE(w->b, "\"nodes\":[");
    w->first = true;
    for (uint32_t i = p->first; i != WEIR_NONE; i = p->entries[i].next)
        write_entry(w, &p->entries[i], WEIR_NO_RANK);
    WEIR_WRITE(w->b, "],\"edges\":[");
    w->first = true;
    for (uint32_t i = p->first; i != WEIR_NONE; i = p->entries[i].next)
        contain_entry(w, &p->entries[i]);
    write_others_between(w);
    WEIR_WRITE(w->b, "]}");
}

static void free_writer(struct jgf_writer *w)
{
    for (size_t i = 0; i < FORMS; i++)
        weir_buf_free(&w->forms[i].text);
    weir_buf_free(&w->path);
    WEIR_FREE(w->numbers, w->entries);
}

int weir_jgf_write_document(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct jgf_writer w = {.in = in, .g = in->g, .numbers = weir_jgf_numbers(in->g), .b = b, .err = err};

    if (!w.numbers)
        return weir_fail_nomem(err);
    w.rc = weir_jgf_check_texts(in->g, err);
    if (w.rc < 0) {
        free_writer(&w);
        return w.rc;
    }
    WEIR_WRITE(b, "{\"graph\":");
    write_graph(&w);
    WEIR_WRITE(b, "}\n");
    free_writer(&w);
    return w.rc;
}

int weir_jgf_write(const struct weir_written *in, enum weir_detail detail, weir_buf *b, weir_err *err)
{
    struct jgf_writer w = {
        .in = in, .g = in->g, .tree = in->tree, .shorthand = detail == WEIR_SHORTHAND, .b = b, .err = err};

    WEIR_WRITE(b, "\"graph\":");
    if (w.tree)
        write_allocation(&w);
    else
        write_graph(&w);
    if (w.cut)
        WEIR_WRITE(b, ",\"writer\":\"" WEIR_JGF_SHORTHAND "\"");
    free_writer(&w);
    return w.rc;
}

static int write_object(const struct weir_written *in, enum weir_detail detail, weir_buf *b, weir_err *err)
{
    int rc;

    WEIR_WRITE(b, "{");
    rc = weir_jgf_write(in, detail, b, err);
    WEIR_WRITE(b, "}");
    return rc;
}

int weir_jgf_write_graph(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    return write_object(in, WEIR_FULL_GRAPH, b, err);
}

int weir_jgf_write_shorthand(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    return write_object(in, WEIR_SHORTHAND, b, err);
}
