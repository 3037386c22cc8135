/* difference.c - weir_graph_diff(): the difference of two graphs, as difference.h describes.
 *
 * Children of paired vertices are paired by type and name, in order: of the pairs, those of the longest common order
 * count. So a pair of vertices follows a pair in both preorders, and the steps go through both documents at once. Which
 * vertices are paired decides how long the difference is, never whether it is right.
 *
 * Main invariant: pairs[] ascends where it is not WEIR_NONE.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"
#include "base/compare.h"
#include "base/hash.h"
#include "job/job.h"
#include "store/difference.h"

/* An element of a sequence: vertices with a common parent, or edges. */
struct sequence_element {
    uint64_t key;
    uint32_t at;   /* number in the sequence */
    uint32_t pair; /* number of the paired element of the second sequence; WEIR_NONE */
};

struct difference {
    struct document_view a, b;
    uint32_t *pairs;                /* by position in a: position in b, or WEIR_NONE */
    struct sequence_element *x, *y; /* the sequences that are being paired */
    uint32_t x_cap, y_cap;
    uint32_t *tails, *back; /* of the longest common order */
    uint32_t tails_cap, back_cap;
    weir_buf out;
    weir_err *err;
};

/* ---- pairs of sequences ----------------------------------------------------------------------------------------- */

WEIR_COMPARE_BY2(by_key, struct sequence_element, key, at)

WEIR_COMPARE_BY(by_place, struct sequence_element, at)

/* Pairs elements of equal keys, the first with the first and so on. */
static void pair_keys(struct difference *d, uint32_t nx, uint32_t ny)
{
    uint32_t k = 0;

    if (nx > 1)
        qsort(d->x, nx, sizeof *d->x, by_key);
    if (ny > 1)
        qsort(d->y, ny, sizeof *d->y, by_key);
    for (uint32_t i = 0; i < nx; i++) {
        while (k < ny && d->y[k].key < d->x[i].key)
            k++;
        d->x[i].pair = k < ny && d->y[k].key == d->x[i].key ? d->y[k++].at : WEIR_NONE;
    }
    if (nx > 1)
        qsort(d->x, nx, sizeof *d->x, by_place);
}

/* Keeps the pairs of a longest common order, in O(n log n). */
static int keep_order(struct difference *d, uint32_t n)
{
    uint32_t length = 0, at;

    if (weir_array_reserve(&d->tails, &d->tails_cap, n, sizeof *d->tails) < 0 ||
        weir_array_reserve(&d->back, &d->back_cap, n, sizeof *d->back) < 0)
        return weir_fail_nomem(d->err);
    for (uint32_t i = 0; i < n; i++) {
        if (d->x[i].pair == WEIR_NONE)
            continue;
        WEIR_BISECT(at, 0, length, d->x[d->tails[at]].pair < d->x[i].pair);
        d->back[i] = at > 0 ? d->tails[at - 1] : WEIR_NONE;
        d->tails[at] = i;
        length = at == length ? length + 1 : length;
    }
    at = length > 0 ? d->tails[length - 1] : WEIR_NONE;
    for (uint32_t i = n; i-- > 0;) {
        if (i == at)
            at = d->back[i];
        else
            d->x[i].pair = WEIR_NONE;
    }
    return WEIR_OK;
}

static int pair_sequences(struct difference *d, uint32_t nx, uint32_t ny)
{
    pair_keys(d, nx, ny);
    return keep_order(d, nx);
}

/* ---- vertices --------------------------------------------------------------------------------------------------- */

static uint64_t vertex_key(const weir_graph *g, weir_vertex v)
{
    char name[256];
    const char *type = weir_vertex_type(g, v);
    size_t n = weir_vertex_name(g, v, name, sizeof name);

    return hash_text(hash_text(1, type, strlen(type) + 1), name, n < sizeof name ? n : sizeof name - 1);
}

/* Lists the children of v, or the vertices without a parent for WEIR_NONE, with their keys. */
static int list_children(const struct document_view *d, weir_vertex v, struct sequence_element **list, uint32_t *cap,
                         uint32_t *count)
{
    uint32_t n = d->ntops;
    const weir_vertex *kids = v == WEIR_NONE ? d->tops : kids_of(d->g, v, &n);

    *count = 0;
    if (weir_array_reserve(list, cap, (size_t)n + 1, sizeof **list) < 0)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (kids[i] != WEIR_NONE) {
            (*list)[*count] = (struct sequence_element){vertex_key(d->g, kids[i]), *count, WEIR_NONE};
            ++*count;
        }
    return WEIR_OK;
}

/* The next child of v from *at on, and the number behind. */
static weir_vertex next_child(const struct document_view *d, weir_vertex v, uint32_t *at)
{
    uint32_t n = d->ntops;
    const weir_vertex *kids = v == WEIR_NONE ? d->tops : kids_of(d->g, v, &n);

    while (*at < n && kids[*at] == WEIR_NONE)
        ++*at;
    return *at < n ? kids[(*at)++] : WEIR_NONE;
}

/* Pairs the children of two paired vertices. */
static int pair_level(struct difference *d, weir_vertex v, weir_vertex w)
{
    uint32_t nx = 0, ny = 0, i = 0, k = 0, at = 0;
    weir_vertex other = WEIR_NONE;
    int rc;

    if (list_children(&d->a, v, &d->x, &d->x_cap, &nx) < 0 || list_children(&d->b, w, &d->y, &d->y_cap, &ny) < 0)
        return weir_fail_nomem(d->err);
    rc = pair_sequences(d, nx, ny);
    for (uint32_t n = 0; rc == WEIR_OK && n < nx; n++) {
        weir_vertex child = next_child(&d->a, v, &i);
        while (d->x[n].pair != WEIR_NONE && at <= d->x[n].pair) {
            other = next_child(&d->b, w, &k);
            at++;
        }
        if (d->x[n].pair != WEIR_NONE)
            d->pairs[d->a.numbers[child]] = d->b.numbers[other];
    }
    return rc;
}

/* Pairs all vertices. Parents come before children, as positions are in preorder. */
static int pair_vertices(struct difference *d)
{
    int rc;

    d->pairs = weir_mem_alloc(((size_t)d->a.count + 1) * sizeof *d->pairs);
    if (!d->pairs)
        return weir_fail_nomem(d->err);
    memset(d->pairs, 0xff, ((size_t)d->a.count + 1) * sizeof *d->pairs);
    rc = pair_level(d, WEIR_NONE, WEIR_NONE);
    for (uint32_t i = 0; rc == WEIR_OK && i < d->a.count; i++)
        if (d->pairs[i] != WEIR_NONE && weir_vertex_children(d->a.g, d->a.vertices[i]))
            rc = pair_level(d, d->a.vertices[i], d->b.vertices[d->pairs[i]]);
    return rc;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

enum edit_step { NO_STEP, KEEP, DROP, SET, ADD };

/* A run of equal steps that is being written. */
struct steps {
    weir_buf *b;
    enum edit_step kind;
    uint32_t count;
    bool any;
};

static void end_steps(struct steps *s)
{
    if (s->kind == KEEP || s->kind == DROP)
        weir_write_int(s->b, s->count);
    if (s->kind == SET || s->kind == ADD)
        weir_buf_puts(s->b, "\n]");
    weir_buf_puts(s->b, s->kind == NO_STEP ? "" : "}");
    s->kind = NO_STEP;
    s->count = 0;
}

/* Adds a step; an element is to follow for SET and ADD. */
static void add_step(struct steps *s, enum edit_step kind)
{
    static const char *const begins[] = {
        [KEEP] = "{\"keep\":", [DROP] = "{\"drop\":", [SET] = "{\"set\":[", [ADD] = "{\"add\":["};

    if (s->kind != kind) {
        end_steps(s);
        weir_buf_puts(s->b, s->any ? ",\n" : "\n");
        weir_buf_puts(s->b, begins[kind]);
        s->kind = kind;
        s->any = true;
    }
    if (kind == SET || kind == ADD)
        weir_buf_puts(s->b, s->count > 0 ? ",\n" : "\n");
    s->count++;
}

static void write_vertex(struct difference *d, struct steps *s, enum edit_step kind, uint32_t i)
{
    size_t len;
    const char *metadata = weir_document_metadata(&d->b, i, &len);

    add_step(s, kind);
    weir_buf_puts(s->b, "{\"depth\":");
    weir_write_int(s->b, vertex_depth(d->b.g, d->b.vertices[i]) - 1);
    weir_buf_puts(s->b, ",");
    weir_buf_add(s->b, metadata, len);
}

static bool equal_metadata(const struct difference *d, uint32_t i, uint32_t k)
{
    size_t n, m;
    const char *x = weir_document_metadata(&d->a, i, &n), *y = weir_document_metadata(&d->b, k, &m);

    return n == m && memcmp(x, y, n) == 0;
}

static void write_vertices(struct difference *d)
{
    struct steps s = {.b = &d->out};
    uint32_t i = 0, k = 0;

    while (i < d->a.count || k < d->b.count) {
        uint32_t next = i;
        while (next < d->a.count && d->pairs[next] == WEIR_NONE)
            next++;
        for (; i < next; i++)
            add_step(&s, DROP);
        for (; k < (next < d->a.count ? d->pairs[next] : d->b.count); k++)
            write_vertex(d, &s, ADD, k);
        if (next == d->a.count)
            continue;
        if (equal_metadata(d, i, k))
            add_step(&s, KEEP);
        else
            write_vertex(d, &s, SET, k);
        i++;
        k++;
    }
    end_steps(&s);
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

/* The key of an edge by the positions in b; 0: an end is not in b. */
static uint64_t edge_key(const weir_edge *e, uint32_t source, uint32_t target)
{
    uint64_t h = hash_add(hash_add(7, source), target);

    if (source == WEIR_NONE || target == WEIR_NONE)
        return 0;
    h = hash_text(h, e->subsystem, strlen(e->subsystem) + 1);
    h = hash_text(h, e->type, strlen(e->type) + 1);
    h = e->back ? hash_add(hash_text(h, e->back, strlen(e->back)), 1) : h;
    return h ? h : 1;
}

static uint32_t pair_of(const struct difference *d, weir_vertex v)
{
    return d->pairs[d->a.numbers[v]];
}

static bool equal_edges(const struct difference *d, uint32_t i, uint32_t k)
{
    weir_edge x, y;

    weir_edge_get(d->a.g, d->a.edges[i], &x);
    weir_edge_get(d->b.g, d->b.edges[k], &y);
    return pair_of(d, x.source) == d->b.numbers[y.source] && pair_of(d, x.target) == d->b.numbers[y.target] &&
           strcmp(x.subsystem, y.subsystem) == 0 && strcmp(x.type, y.type) == 0 && !x.back == !y.back &&
           (!x.back || strcmp(x.back, y.back) == 0);
}

static int pair_edges(struct difference *d)
{
    weir_edge e;
    int rc;

    if (weir_array_reserve(&d->x, &d->x_cap, (size_t)d->a.nedges + 1, sizeof *d->x) < 0 ||
        weir_array_reserve(&d->y, &d->y_cap, (size_t)d->b.nedges + 1, sizeof *d->y) < 0)
        return weir_fail_nomem(d->err);
    for (uint32_t i = 0; i < d->a.nedges; i++) {
        weir_edge_get(d->a.g, d->a.edges[i], &e);
        d->x[i] = (struct sequence_element){edge_key(&e, pair_of(d, e.source), pair_of(d, e.target)), i, WEIR_NONE};
    }
    for (uint32_t i = 0; i < d->b.nedges; i++) {
        weir_edge_get(d->b.g, d->b.edges[i], &e);
        d->y[i] = (struct sequence_element){edge_key(&e, d->b.numbers[e.source], d->b.numbers[e.target]), i, WEIR_NONE};
    }
    rc = pair_sequences(d, d->a.nedges, d->b.nedges);
    for (uint32_t i = 0; rc == WEIR_OK && i < d->a.nedges; i++)
        if (d->x[i].pair != WEIR_NONE && !equal_edges(d, i, d->x[i].pair))
            d->x[i].pair = WEIR_NONE; /* different edges with equal hashes */
    return rc;
}

static void write_edge(struct difference *d, struct steps *s, uint32_t k)
{
    weir_edge e;

    weir_edge_get(d->b.g, d->b.edges[k], &e);
    add_step(s, ADD);
    weir_buf_puts(s->b, "{\"source\":");
    weir_write_int(s->b, d->b.numbers[e.source]);
    weir_buf_puts(s->b, ",\"target\":");
    weir_write_int(s->b, d->b.numbers[e.target]);
    weir_buf_puts(s->b, ",\"subsystem\":");
    weir_write_string(s->b, e.subsystem);
    weir_buf_puts(s->b, ",\"relationship\":");
    weir_write_string(s->b, e.type);
    if (e.back) {
        weir_buf_puts(s->b, ",\"back\":");
        weir_write_string(s->b, e.back);
    }
    weir_buf_puts(s->b, "}");
}

static int write_edges(struct difference *d)
{
    struct steps s = {.b = &d->out};
    uint32_t k = 0;
    int rc = pair_edges(d);

    for (uint32_t i = 0; rc == WEIR_OK && i < d->a.nedges; i++) {
        uint32_t pair = d->x[i].pair;
        for (; pair != WEIR_NONE && k < pair; k++)
            write_edge(d, &s, k);
        add_step(&s, pair == WEIR_NONE ? DROP : KEEP);
        k += pair != WEIR_NONE;
    }
    for (; rc == WEIR_OK && k < d->b.nedges; k++)
        write_edge(d, &s, k);
    end_steps(&s);
    return rc;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static void write_drops(struct difference *d, const struct job **list)
{
    bool any = false;

    for (uint32_t i = 0; i < weir_job_count(d->a.g); i++) {
        if (weir_job_index(d->b.g, list[i]->a.job) != WEIR_NONE)
            continue;
        weir_buf_puts(&d->out, any ? "," : "");
        weir_write_int(&d->out, list[i]->a.job);
        any = true;
    }
}

/* Writes the jobs of b that a does not have, or has otherwise. `moved` are the positions in b of the vertices of a. */
static void write_sets(struct difference *d, const struct job **list, const uint32_t *moved)
{
    weir_buf old = {0}, new = {0};
    bool any = false;

    for (uint32_t i = 0; i < weir_job_count(d->b.g); i++) {
        uint32_t had = weir_job_index(d->a.g, list[i]->a.job);
        old.len = new.len = 0;
        weir_jgf_write_job(d->b.g, list[i], d->b.numbers, &new);
        if (had != WEIR_NONE)
            weir_jgf_write_job(d->a.g, &jobs_in(d->a.g)->list[had], moved, &old);
        d->out.failed |= old.failed || new.failed;
        if (d->out.failed)
            break;
        if (had != WEIR_NONE && old.len == new.len &&memcmp(old.data, new.data, old.len) == 0)
            continue;
        weir_buf_puts(&d->out, any ? ",\n{\"id\":" : "\n{\"id\":");
        weir_write_int(&d->out, list[i]->a.job);
        weir_buf_puts(&d->out, ",\"job\":");
        weir_buf_add(&d->out, new.data, new.len);
        weir_buf_puts(&d->out, "}");
        any = true;
    }
    weir_buf_free(&old);
    weir_buf_free(&new);
}

static int write_jobs(struct difference *d)
{
    const struct job **a = weir_jgf_jobs(d->a.g), **b = weir_jgf_jobs(d->b.g);
    uint32_t *moved = weir_mem_alloc(((size_t)d->a.g->limit + 1) * sizeof *moved);
    int rc = a && b && moved ? WEIR_OK : weir_fail_nomem(d->err);

    for (weir_vertex v = 0; rc == WEIR_OK && v < d->a.g->limit; v++)
        moved[v] = vertex_valid(d->a.g, v) ? pair_of(d, v) : WEIR_NONE;
    weir_buf_puts(&d->out, "{\"drop\":[");
    if (rc == WEIR_OK)
        write_drops(d, a);
    weir_buf_puts(&d->out, "],\"set\":[");
    if (rc == WEIR_OK)
        write_sets(d, b, moved);
    weir_buf_puts(&d->out, "]}");
    WEIR_FREE(a, b, moved);
    return rc;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Writes the words of containment, unless they are the usual words. */
static void write_words(const weir_graph *g, weir_buf *b)
{
    if (!g->words.down)
        return;
    weir_buf_puts(b, "\"contains\":");
    weir_write_string(b, weir_word_down(g));
    if (g->words.up) {
        weir_buf_puts(b, ",\"in\":");
        weir_write_string(b, weir_strtab_text(&g->names, g->words.up - 1));
    }
    weir_buf_puts(b, ",\n");
}

/* Writes what foreign keys of edges and of the graph differ, if any. */
static int write_foreign(struct difference *d)
{
    weir_buf list = {0};
    int rc = weir_foreign_write(&d->a, &d->b, d->pairs, &list);

    if (list.failed || rc)
        rc = weir_fail_nomem(d->err);
    else if (list.len > 0) {
        weir_buf_puts(&d->out, "\"foreign\":[");
        weir_buf_add(&d->out, list.data, list.len);
        weir_buf_puts(&d->out, "],\n");
    }
    weir_buf_free(&list);
    return rc;
}

static int write_difference(struct difference *d)
{
    weir_buf *b = &d->out;
    char uuid[37];
    int rc;

    weir_graph_uuid(d->b.g, uuid);
    weir_buf_puts(b, "{\"weir_difference\":{\"version\":");
    weir_write_int(b, DIFFERENCE_VERSION);
    weir_buf_printf(b, ",\"from\":\"%s\",\"to\":\"%s\",\"uuid\":\"%s\",\n", d->a.hash, d->b.hash, uuid);
    write_words(d->b.g, b);
    weir_buf_puts(b, "\"state\":{");
    weir_jgf_write_clock(d->b.g, b);
    weir_buf_puts(b, "},\n\"nodes\":[");
    rc = pair_vertices(d);
    if (rc == WEIR_OK)
        write_vertices(d);
    weir_buf_puts(b, "],\n\"edges\":[");
    rc = rc ? rc : write_edges(d);
    weir_buf_puts(b, "],\n");
    rc = rc ? rc : write_foreign(d);
    weir_buf_puts(b, "\"jobs\":");
    rc = rc ? rc : write_jobs(d);
    weir_buf_puts(b, "}}\n");
    return rc;
}

char *weir_graph_diff(const weir_graph *a, const weir_graph *b, weir_err *err)
{
    struct difference d = {.err = err};
    int rc = weir_document_view(a, &d.a, err);

    rc = rc ? rc : weir_document_view(b, &d.b, err);
    rc = rc ? rc : write_difference(&d);
    weir_document_view_free(&d.a);
    weir_document_view_free(&d.b);
    WEIR_FREE(d.pairs, d.x, d.y, d.tails, d.back);
    return weir_buf_result(&d.out, rc, err);
}
