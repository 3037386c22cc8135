/* difference_foreign.c - keys of edges and of the graph that weir does not know, in differences (difference.h). These
 * keys are extended data of vertices (format/jgf/jgf_foreign.c), and are in no element of a vertex.
 *
 * Invariant of a list: the entries of one vertex follow each other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/difference.h"

/* The i-th entry from *i on of the extended data of v that is written in another place; moves *i behind the entry. */
static bool next_entry(const weir_graph *g, weir_vertex v, uint32_t *i, const char **key, const char **value)
{
    while (weir_vertex_entry(g, v, WEIR_EXTENDED, *i, key, value)) {
        ++*i;
        if (weir_jgf_is_foreign_outside(g, v, *key, *value))
            return true;
    }
    return false;
}

/* Whether the vertices have the same entries. */
static bool equal_entries(const weir_graph *g, weir_vertex v, const weir_graph *h, weir_vertex w)
{
    const char *key, *value, *other;
    uint32_t n = 0, m = 0, i = 0;

    while (next_entry(g, v, &i, &key, &value)) {
        other = weir_vertex_get(h, w, WEIR_EXTENDED, key);
        if (!other || strcmp(other, value) != 0 || !weir_jgf_is_foreign_outside(h, w, key, other))
            return false;
        n++;
    }
    for (i = 0; next_entry(h, w, &i, &key, &value);)
        m++;
    return n == m;
}

static void write_entries(const weir_graph *g, weir_vertex v, weir_buf *b)
{
    const char *key, *value;
    bool any = false;

    for (uint32_t i = 0; next_entry(g, v, &i, &key, &value); any = true) {
        weir_buf_puts(b, any ? "," : "");
        weir_write_string(b, key);
        weir_buf_puts(b, ":");
        weir_write_string(b, value);
    }
}

int weir_foreign_write(const struct document_view *a, const struct document_view *b, const uint32_t *pairs,
                       weir_buf *out)
{
    uint32_t *back = weir_mem_alloc(((size_t)b->count + 1) * sizeof *back);
    bool any = false;

    if (!back)
        return WEIR_ENOMEM;
    memset(back, 0xff, ((size_t)b->count + 1) * sizeof *back);
    for (uint32_t i = 0; i < a->count; i++)
        if (pairs[i] != WEIR_NONE)
            back[pairs[i]] = i;
    for (uint32_t k = 0; k < b->count; k++) {
        weir_vertex v = b->vertices[k];
        const char *key, *value;
        uint32_t i = 0;
        if (back[k] == WEIR_NONE ? !next_entry(b->g, v, &i, &key, &value)
                                 : equal_entries(b->g, v, a->g, a->vertices[back[k]]))
            continue;
        weir_buf_puts(out, any ? ",\n{\"vertex\":" : "{\"vertex\":");
        weir_write_int(out, k);
        weir_buf_puts(out, ",\"data\":{");
        write_entries(b->g, v, out);
        weir_buf_puts(out, "}}");
        any = true;
    }
    weir_mem_free(back);
    return WEIR_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

void weir_foreign_free(struct foreign_list *l)
{
    weir_buf_free(&l->texts);
    WEIR_FREE(l->entries);
    *l = (struct foreign_list){0};
}

int weir_foreign_add(struct foreign_list *l, uint32_t at, const char *key, const char *value)
{
    struct foreign_entry e = {at, l->texts.len, 0, key != NULL};

    if (key)
        weir_buf_add(&l->texts, key, strlen(key) + 1);
    e.value = l->texts.len;
    if (key)
        weir_buf_add(&l->texts, value, strlen(value) + 1);
    return l->texts.failed || WEIR_ARRAY_ADD(l->entries, l->n, l->cap, e) ? WEIR_ENOMEM : WEIR_OK;
}

/* Copies the entries of v of g, unless the list has those of its vertex. */
static int keep_entries(const weir_graph *g, weir_vertex v, weir_graph *to, weir_vertex w)
{
    const char *key, *value;
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && next_entry(g, v, &i, &key, &value);)
        rc = weir_vertex_set(to, w, WEIR_EXTENDED, key, value, NULL);
    return rc == WEIR_ENOMEM ? rc : WEIR_OK;
}

int weir_foreign_set(const struct foreign_list *l, const struct document_view *a, const uint32_t *moved, weir_graph *g)
{
    uint32_t *numbers = weir_jgf_numbers(g);
    weir_vertex *at = weir_mem_alloc(((size_t)g->live + 1) * sizeof *at);
    bool *named = weir_mem_zalloc((size_t)g->live + 1, sizeof *named);
    int rc = numbers && at && named ? WEIR_OK : WEIR_ENOMEM;

    for (weir_vertex v = 0; !rc && v < g->limit; v++)
        if (vertex_valid(g, v))
            at[numbers[v]] = v;
    for (uint32_t i = 0; !rc && i < l->n; i++) {
        const struct foreign_entry *e = &l->entries[i];
        if (e->at >= g->live)
            continue; /* the hash of the result decides */
        named[e->at] = true;
        rc = e->any && weir_vertex_set(g, at[e->at], WEIR_EXTENDED, l->texts.data + e->key, l->texts.data + e->value,
                                       NULL) == WEIR_ENOMEM
                 ? WEIR_ENOMEM
                 : WEIR_OK;
    }
    for (uint32_t i = 0; !rc && i < a->count; i++) {
        weir_vertex v = a->vertices[i];
        if (moved[v] != WEIR_NONE && moved[v] < g->live && !named[moved[v]])
            rc = keep_entries(a->g, v, g, at[moved[v]]);
    }
    WEIR_FREE(numbers, at, named);
    return rc;
}
