/* jgf_foreign.c - keys of a JSON graph that weir does not know: read into extended data, and written where they stood.
 *
 * Extended data last through copies, merges and every store, so that a foreign key does, too. The keys of the data are
 *   jgf.vertex.KEY                                at the vertex: a key of its metadata
 *   jgf.contains.KEY                              at a child: a key of the metadata of the edge from its parent
 *   jgf.edge.SUBSYSTEM.RELATIONSHIP.UUID.KEY      at the target of any other edge, with the UUID of its source
 *   jgf.graph.KEY and jgf.graph-metadata.KEY      at the first root: a key of the graph, such as its label
 * Main invariant: a key is foreign if and only if the writer leaves it out of `extended`, as it writes the key at the
 * place that the name gives. So data of an edge that was removed remain extended data, and nothing is lost.
 */
#include "format/jgf/jgf.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "format/output.h"

#define DEPTH 8 /* nesting of a value in the document, and some more */

static const char *const places[] = {
    [JGF_OF_VERTEX] = "jgf.vertex.", [JGF_OF_CHILD] = "jgf.contains.",          [JGF_OF_EDGE] = "jgf.edge.",
    [JGF_OF_GRAPH] = "jgf.graph.",   [JGF_OF_METADATA] = "jgf.graph-metadata.",
};

/* Whether weir knows a key of a place, and reads and writes the key itself. */
static bool is_known(enum jgf_place place, const char *key)
{
    static const char *const edges[] = {"subsystem", "relationship", "back", "name", NULL};
    static const char *const graph[] = {"nodes", "edges", "metadata", "directed", NULL};
    static const char *const metadata[] = {"uuid", "weir", NULL};
    const char *const *known = place == JGF_OF_GRAPH ? graph : place == JGF_OF_METADATA ? metadata : edges;

    if (place == JGF_OF_VERTEX)
        return strcmp(key, "shares") == 0 || weir_jgf_is_field(key);
    while (*known && strcmp(*known, key) != 0)
        known++;
    return *known;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

int weir_jgf_take_foreign(struct jgf *r, enum jgf_place place, weir_name *key, weir_name *value)
{
    size_t len;
    const char *text = weir_json_text(r->json, &len);
    int type;

    r->value.len = 0;
    if (place != JGF_OF_EDGE)
        weir_buf_puts(&r->value, places[place]);
    weir_buf_add(&r->value, text, len);
    *key = r->value.failed ? WEIR_NO_NAME : weir_strtab_add(&r->g->names, r->value.data, r->value.len);
    r->value.len = 0;
    type = weir_json_capture(r->json, &r->value);
    if (type < 0)
        return type;
    weir_json_compact(&r->value);
    *value = r->value.failed ? WEIR_NO_NAME : weir_strtab_add(&r->g->names, r->value.data, r->value.len);
    return *key == WEIR_NO_NAME || *value == WEIR_NO_NAME ? weir_fail_nomem(r->err) : type;
}

int weir_jgf_keep_foreign(struct jgf *r, enum jgf_place place)
{
    struct jgf_foreign f = {.ends = {WEIR_NONE, WEIR_NONE}};
    int type;

    if (weir_array_reserve(&r->foreign, &r->foreign_cap, (size_t)r->nforeign + 1, sizeof f) < 0)
        return weir_fail_nomem(r->err);
    type = weir_jgf_take_foreign(r, place, &f.key, &f.value);
    if (type >= 0)
        r->foreign[r->nforeign++] = f;
    return type < 0 ? type : WEIR_OK;
}

int weir_jgf_place_foreign(struct jgf *r, uint32_t first, uint32_t count, const struct jgf_edge *e)
{
    for (uint32_t i = first; i < first + count; i++) {
        struct jgf_foreign f = r->foreign[i], placed = {{e->source, e->target}, e->subsystem, e->type, f.key, f.value};
        if (f.ends[0] == WEIR_NONE) {
            r->foreign[i] = placed;
            continue;
        }
        if (weir_array_reserve(&r->foreign, &r->foreign_cap, (size_t)r->nforeign + 1, sizeof f) < 0)
            return weir_fail_nomem(r->err);
        r->foreign[r->nforeign++] = placed; /* the edge is in a further subsystem */
    }
    return WEIR_OK;
}

/* Writes the key of extended data for the metadata of an edge, up to the last point, to b. */
static void put_edge_key(const weir_graph *g, const char *subsystem, const char *type, weir_vertex source, weir_buf *b)
{
    char uuid[37];

    weir_vertex_uuid(g, source, uuid);
    weir_buf_puts(b, places[JGF_OF_EDGE]);
    weir_buf_puts(b, subsystem);
    WEIR_WRITE(b, ".");
    weir_buf_puts(b, type);
    WEIR_WRITE(b, ".");
    weir_buf_puts(b, uuid);
    WEIR_WRITE(b, ".");
}

weir_vertex weir_jgf_first_root(const weir_graph *g)
{
    for (uint32_t i = 0; i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            return g->roots[i];
    return WEIR_NONE;
}

/* Sets one key. What extended data cannot hold (too long, or too many entries) is left out. */
static int set_foreign(weir_graph *g, const struct jgf_foreign *f, weir_buf *b, weir_err *err)
{
    const char *subsystem = weir_strtab_text(&g->names, f->subsystem);
    const char *type = f->type == WEIR_NO_NAME ? "contains" : weir_strtab_text(&g->names, f->type);
    weir_vertex v = f->ends[1];
    int rc;

    b->len = 0;
    if (f->ends[0] == WEIR_NONE)
        v = weir_jgf_first_root(g);
    else if (f->subsystem == g->subsystems[0]) {
        v = vertex_at(g, v)->parent == f->ends[0] ? v : f->ends[0];
        weir_buf_puts(b, places[JGF_OF_CHILD]);
    } else
        put_edge_key(g, subsystem, type, f->ends[0], b);
    weir_buf_puts(b, weir_strtab_text(&g->names, f->key));
    if (v == WEIR_NONE)
        return WEIR_OK;
    rc = b->failed ? WEIR_ENOMEM
                   : weir_vertex_set(g, v, WEIR_EXTENDED, b->data, weir_strtab_text(&g->names, f->value), NULL);
    return rc == WEIR_ENOMEM ? weir_fail_nomem(err) : WEIR_OK;
}

int weir_jgf_set_foreign(struct jgf *r)
{
    weir_buf b = {0};
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < r->nforeign; i++)
        rc = set_foreign(r->g, &r->foreign[i], &b, r->err);
    weir_buf_free(&b);
    return rc;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* Returns the rest of `key` behind `prefix`, a key that weir does not know at the place; NULL: there is none. */
static const char *rest_of(enum jgf_place place, const char *prefix, const char *key)
{
    size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 && !is_known(place, key + n) ? key + n : NULL;
}

/* Whether a key belongs to an edge, not of containment, that enters v. */
static bool is_of_edge(const weir_graph *g, weir_vertex v, const char *key)
{
    const struct pool *p = pool_of(g, v);
    bool is = false;
    weir_buf b = {0};
    weir_edge e;

    for (uint32_t i = p ? p->edges_in : WEIR_NONE; !is && i != WEIR_NONE; i = g->edges[i].next_in) {
        if (!weir_edge_get(g, i, &e))
            continue;
        b.len = 0;
        put_edge_key(g, e.subsystem, e.type, e.source, &b);
        is = !b.failed && rest_of(JGF_OF_EDGE, b.data, key);
    }
    weir_buf_free(&b);
    return is;
}

bool weir_jgf_is_foreign(const weir_graph *g, weir_vertex v, const char *key, const char *value)
{
    enum jgf_place place = JGF_OF_VERTEX;

    if (strncmp(key, "jgf.", 4) != 0 || strchr(value, '\n') || weir_json_valid(value, strlen(value), DEPTH) <= 0)
        return false;
    while (place <= JGF_OF_METADATA && strncmp(key, places[place], strlen(places[place])) != 0)
        place++;
    if (place == JGF_OF_EDGE)
        return is_of_edge(g, v, key);
    if (place > JGF_OF_METADATA || !rest_of(place, places[place], key))
        return false;
    return place == JGF_OF_VERTEX ||
           (place == JGF_OF_CHILD ? vertex_at(g, v)->parent != WEIR_NONE : v == weir_jgf_first_root(g));
}

bool weir_jgf_is_foreign_outside(const weir_graph *g, weir_vertex v, const char *key, const char *value)
{
    return strncmp(key, places[JGF_OF_VERTEX], strlen(places[JGF_OF_VERTEX])) != 0 &&
           weir_jgf_is_foreign(g, v, key, value);
}

/* Writes the foreign keys of v that begin with `prefix`, each with a comma in front or, with `behind`, behind. */
static void write_entries(const weir_graph *g, weir_vertex v, enum jgf_place place, const char *prefix, bool behind,
                          weir_buf *b)
{
    const char *(*found)[2] = NULL, *key, *value;
    uint32_t n = 0, cap = 0;

    for (uint32_t i = 0; !b->failed && weir_vertex_entry(g, v, WEIR_EXTENDED, i, &key, &value); i++) {
        const char *rest = rest_of(place, prefix, key);
        if (!rest || !weir_jgf_is_foreign(g, v, key, value))
            continue;
        if (weir_array_reserve(&found, &cap, (size_t)n + 1, sizeof *found) < 0) {
            b->failed = true;
            break;
        }
        found[n][0] = rest;
        found[n++][1] = value;
    }
    if (n > 1)
        qsort(found, n, sizeof *found, weir_compare_texts);
    for (uint32_t i = 0; i < n; i++) {
        weir_buf_puts(b, behind ? "" : ",");
        weir_write_string(b, found[i][0]);
        WEIR_WRITE(b, ":");
        weir_buf_puts(b, found[i][1]);
        weir_buf_puts(b, behind ? "," : "");
    }
    weir_mem_free(found);
}

void weir_jgf_write_foreign(const weir_graph *g, weir_vertex v, enum jgf_place place, weir_buf *b)
{
    if (v != WEIR_NONE && weir_vertex_count(g, v, WEIR_EXTENDED))
        write_entries(g, v, place, places[place], place == JGF_OF_GRAPH, b);
}

void weir_jgf_write_foreign_edge(const weir_graph *g, const weir_edge *e, weir_buf *b)
{
    weir_buf prefix = {0};

    if (!weir_vertex_count(g, e->target, WEIR_EXTENDED))
        return;
    put_edge_key(g, e->subsystem, e->type, e->source, &prefix);
    if (prefix.failed)
        b->failed = true;
    else
        write_entries(g, e->target, JGF_OF_EDGE, prefix.data, false, b);
    weir_buf_free(&prefix);
}
