/* tree_write.c - writes machines and allocations as an indented tree for people.
 *
 *   cluster0
 *     rack0
 *       node3  whole: core[0-39] gpu[0-3] memory[0-7] 128 GB
 *       node4
 *         socket0
 *           core[0-3]
 *           memory0  24 of 64 GB
 *
 * Neighbours alike with nothing below on the page share a line: "node[5-9]  each whole: ...". A size is shown with a
 * unit or other than 1, a state other than "up". Behind "whole" follow the nodes and leaves below, by name, with the
 * sum of their sizes; leaves that ids do not distinguish are counted.
 *
 * Main invariant: `line` describes the vertices read last and not written yet; the line is flushed before anything else
 * is written or the depth changes.
 */
#include "format/output.h"

#include <string.h>

#include "idset/idset.h"

/* Vertices alike, at a common depth, that share a line. */
struct line {
    uint32_t count; /* 0: the line is empty */
    uint32_t depth;
    weir_name basename; /* WEIR_NO_NAME: the line cannot be shared */
    weir_idset *ids;
    weir_buf name; /* name of the first vertex */
    weir_buf text; /* text behind the name */
};

/* Leaves of one basename and unit below a whole vertex. */
struct item {
    weir_name basename, unit;
    weir_idset *ids;
    uint64_t count;
    int64_t size; /* the sum */
    bool named;   /* the ids distinguish the leaves */
};

struct tree {
    const weir_graph *g;
    const struct weir_parts *parts;
    weir_buf *b;
    weir_type node;
    struct line line;
    weir_buf text; /* text behind the name of the current vertex */
    struct item *items;
    uint32_t nitems, made_items, items_cap; /* made_items: items with an idset */
    bool failed;
};

static bool keep_on(const struct tree *w)
{
    return !w->failed && !w->b->failed;
}

static void clear_ids(struct tree *w, weir_idset *ids)
{
    if (weir_idset_remove_range(ids, 0, WEIR_IDSET_MAX) < 0)
        w->failed = true;
}

static void write_ids(struct tree *w, weir_buf *b, const weir_idset *ids)
{
    bool many = weir_idset_count(ids) > 1;

    WEIR_WRITE(b, "");
    if (many)
        WEIR_WRITE(b, "[");
    if (weir_idset_write(ids, WEIR_IDSET_RANGES, b) < 0)
        w->failed = true;
    if (many)
        WEIR_WRITE(b, "]");
}

static const char *text_of(const struct tree *w, weir_name name)
{
    return weir_strtab_text(&w->g->names, name);
}

static void write_unit(const struct tree *w, weir_buf *b, weir_name unit)
{
    const char *text = text_of(w, unit);

    if (!*text)
        return;
    WEIR_WRITE(b, " ");
    weir_write_plain(b, text, strlen(text));
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */

static void flush(struct tree *w)
{
    struct line *l = &w->line;
    const char *basename;

    if (l->count == 0 || !keep_on(w))
        return;
    for (uint32_t i = 0; i < l->depth; i++)
        WEIR_WRITE(w->b, "  ");
    if (l->count == 1) {
        weir_write_plain(w->b, l->name.data, l->name.len);
    } else {
        basename = text_of(w, l->basename);
        weir_write_plain(w->b, basename, strlen(basename));
        write_ids(w, w->b, l->ids);
    }
    if (l->text.len) {
        weir_buf_puts(w->b, l->count == 1 ? "  " : "  each ");
        weir_buf_add(w->b, l->text.data, l->text.len);
    }
    WEIR_WRITE(w->b, "\n");
    l->count = 0;
}

/* The basename of a vertex on a shared line; WEIR_NO_NAME: the vertex has an own name, or no suitable id. */
static weir_name shared_name(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    int64_t id = vertex_at(g, v)->id;

    if (id < 0 || id > (int64_t)WEIR_IDSET_MAX || (p && p->name != WEIR_NO_NAME))
        return WEIR_NO_NAME;
    return kind_of(g, v)->basename;
}

/* Whether the line under construction can include v, with `text` behind its name. */
static bool joins(const struct tree *w, weir_vertex v, uint32_t depth)
{
    const struct line *l = &w->line;
    weir_name basename = shared_name(w->g, v);

    return l->count > 0 && l->depth == depth && basename != WEIR_NO_NAME && l->basename == basename &&
           l->text.len == w->text.len && (l->text.len == 0 || memcmp(l->text.data, w->text.data, l->text.len) == 0) &&
           !weir_idset_test(l->ids, (uint32_t)vertex_at(w->g, v)->id);
}

static void set_text(struct tree *w, weir_buf *to, const weir_buf *from)
{
    to->len = 0;
    weir_buf_add(to, from->data ? from->data : "", from->len);
    w->failed |= to->failed || from->failed;
}

static void begin_line(struct tree *w, weir_vertex v, uint32_t depth)
{
    struct line *l = &w->line;

    flush(w);
    l->depth = depth;
    l->basename = shared_name(w->g, v);
    l->name.len = 0;
    weir_write_name(&l->name, w->g, v);
    set_text(w, &l->text, &w->text);
    clear_ids(w, l->ids);
    w->failed |= l->name.failed;
}

/* Adds v, and the count - 1 leaves with consecutive ids behind v, with w->text. */
static void add_line(struct tree *w, weir_vertex v, uint32_t count, uint32_t depth)
{
    struct line *l = &w->line;
    uint32_t id = (uint32_t)vertex_at(w->g, v)->id;

    if (!joins(w, v, depth))
        begin_line(w, v, depth);
    if (!keep_on(w))
        return;
    l->count += count;
    if (l->basename != WEIR_NO_NAME && weir_idset_add_range(l->ids, id, id + count - 1) < 0)
        w->failed = true;
}

/* ---- the text behind a name -------------------------------------------------------------------------------------- */

static void add_word(struct tree *w, const char *word)
{
    if (w->text.len)
        WEIR_WRITE(&w->text, ", ");
    weir_buf_puts(&w->text, word);
}

static void add_state(struct tree *w, weir_vertex v)
{
    int state = vertex_at(w->g, v)->state;

    if (state != WEIR_UP)
        add_word(w, weir_state_name(state));
}

static void add_size(struct tree *w, weir_vertex v)
{
    const struct kind *k = kind_of(w->g, v);

    if (k->size == 1 && !*text_of(w, k->unit))
        return;
    weir_write_int(&w->text, k->size);
    write_unit(w, &w->text, k->unit);
}

static void tell_vertex(struct tree *w, weir_vertex v)
{
    w->text.len = 0;
    add_size(w, v);
    add_state(w, v);
}

/* ---- leaves below a whole vertex --------------------------------------------------------------------------------- */

/* The item of a kind, made where missing; NULL: out of memory. */
static struct item *item_of(struct tree *w, const struct kind *k)
{
    struct item *it;

    for (uint32_t i = 0; i < w->nitems; i++)
        if (w->items[i].basename == k->basename && w->items[i].unit == k->unit)
            return &w->items[i];
    if (weir_array_reserve(&w->items, &w->items_cap, (size_t)w->nitems + 1, sizeof *w->items) < 0)
        return NULL;
    it = &w->items[w->nitems];
    if (w->nitems == w->made_items) {
        it->ids = weir_idset_new();
        if (!it->ids)
            return NULL;
        w->made_items++;
    }
    clear_ids(w, it->ids);
    *it = (struct item){k->basename, k->unit, it->ids, 0, 0, true};
    w->nitems++;
    return it;
}

/* Counts v, and the count - 1 leaves with consecutive ids behind v. */
static void count_item(struct tree *w, weir_vertex v, uint32_t count)
{
    const struct kind *k = kind_of(w->g, v);
    struct item *it = item_of(w, k);
    uint32_t id = (uint32_t)vertex_at(w->g, v)->id;
    int64_t sum;

    if (!it) {
        w->failed = true;
        return;
    }
    it->count += count;
    if (__builtin_mul_overflow(k->size, (int64_t)count, &sum) || __builtin_add_overflow(it->size, sum, &it->size))
        it->size = INT64_MAX;
    it->named = it->named && shared_name(w->g, v) != WEIR_NO_NAME;
    if (it->named && weir_idset_add_range(it->ids, id, id + count - 1) < 0)
        w->failed = true;
}

static void count_below(struct tree *w, weir_vertex v)
{
    uint32_t n, end;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    for (uint32_t i = 0; i < n && keep_on(w); i = end) {
        end = i + 1;
        if (kids[i] == WEIR_NONE)
            continue;
        end = run_of_kids(w->g, kids, n, i);
        if (weir_vertex_children(w->g, kids[i]) == 0 || kind_of(w->g, kids[i])->type == w->node)
            count_item(w, kids[i], end - i);
        count_below(w, kids[i]);
    }
}

static void write_item(struct tree *w, weir_buf *b, const struct item *it)
{
    const char *basename = text_of(w, it->basename);
    bool named = it->named && weir_idset_count(it->ids) == it->count;

    WEIR_WRITE(b, " ");
    if (!named) {
        weir_write_int(b, (int64_t)it->count);
        WEIR_WRITE(b, " ");
    }
    weir_write_plain(b, basename, strlen(basename));
    if (named)
        write_ids(w, b, it->ids);
    if (!*text_of(w, it->unit) && it->size == (int64_t)it->count)
        return;
    WEIR_WRITE(b, " ");
    weir_write_int(b, it->size);
    write_unit(w, b, it->unit);
}

static void tell_whole(struct tree *w, weir_vertex v)
{
    tell_vertex(w, v);
    if (weir_vertex_children(w->g, v) == 0)
        return;
    w->nitems = 0;
    count_below(w, v);
    add_word(w, "whole:");
    for (uint32_t i = 0; i < w->nitems; i++)
        write_item(w, &w->text, &w->items[i]);
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

static void tell_part(struct tree *w, const struct weir_part *p)
{
    const struct kind *k = kind_of(w->g, p->v);

    w->text.len = 0;
    if (p->picked && p->amount == 0) {
        add_word(w, "shared");
    } else if (p->picked && p->amount < k->size) {
        weir_write_int(&w->text, p->amount);
        WEIR_WRITE(&w->text, " of ");
        weir_write_int(&w->text, k->size);
        write_unit(w, &w->text, k->unit);
    } else if (p->picked) {
        add_size(w, p->v);
    }
    add_state(w, p->v);
}

static void write_part(struct tree *w, const struct weir_part *p, uint32_t depth)
{
    if (p->whole) {
        tell_whole(w, p->v);
        add_line(w, p->v, 1, depth);
        return;
    }
    tell_part(w, p);
    if (p->first == WEIR_NONE) {
        add_line(w, p->v, 1, depth);
        return;
    }
    begin_line(w, p->v, depth);
    w->line.count = 1;
    flush(w);
    for (uint32_t i = p->first; i != WEIR_NONE && keep_on(w); i = w->parts->list[i].next)
        write_part(w, &w->parts->list[i], depth + 1);
    flush(w);
}

/* Writes v, or `count` leaves alike from v on, and all vertices below. */
static void write_vertex(struct tree *w, weir_vertex v, uint32_t count, uint32_t depth)
{
    uint32_t n, end;
    const weir_vertex *kids = kids_of(w->g, v, &n);

    tell_vertex(w, v);
    if (weir_vertex_children(w->g, v) == 0) {
        add_line(w, v, count, depth);
        return;
    }
    begin_line(w, v, depth);
    w->line.count = 1;
    flush(w);
    for (uint32_t i = 0; i < n && keep_on(w); i = end) {
        end = i + 1;
        if (kids[i] == WEIR_NONE)
            continue;
        end = run_of_kids(w->g, kids, n, i);
        write_vertex(w, kids[i], end - i, depth + 1);
    }
    flush(w);
}

static void free_tree(struct tree *w)
{
    for (uint32_t i = 0; i < w->made_items; i++)
        weir_idset_free(w->items[i].ids);
    weir_mem_free(w->items);
    weir_idset_free(w->line.ids);
    weir_buf_free(&w->line.name);
    weir_buf_free(&w->line.text);
    weir_buf_free(&w->text);
}

int weir_tree_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct tree w = {.g = in->g, .parts = in->parts, .b = b, .node = weir_type_find(in->g, "node")};
    bool failed;

    w.line.ids = weir_idset_new();
    w.failed = !w.line.ids;
    if (in->parts) {
        for (uint32_t i = in->parts->first; i != WEIR_NONE && keep_on(&w); i = in->parts->list[i].next)
            write_part(&w, &in->parts->list[i], 0);
    } else {
        for (uint32_t i = 0; i < in->g->nroots && keep_on(&w); i++)
            if (in->g->roots[i] != WEIR_NONE)
                write_vertex(&w, in->g->roots[i], 1, 0);
    }
    flush(&w);
    failed = w.failed || w.text.failed;
    free_tree(&w);
    return failed ? weir_fail_nomem(err) : WEIR_OK;
}
