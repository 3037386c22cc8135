/* vertex.c - reads and sets the base data of a pool. Invariant: derived data (name, path, rank of a vertex below a
 * node) is computed here and stored nowhere. */
#include "graph/observer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/journal.h"
#include "base/utf8.h"

static const char *const state_names[WEIR_STATES] = {"up",      "down", "degraded", "failing",
                                                     "unknown", "null", "draining"};

const char *weir_state_name(int state)
{
    return state >= 0 && state < WEIR_STATES ? state_names[state] : "?";
}

int weir_state_parse(const char *name)
{
    for (int i = 0; i < WEIR_STATES; i++)
        if (strcmp(name, state_names[i]) == 0)
            return i;
    return WEIR_ENOENT;
}

bool weir_vertex_is(const weir_graph *g, weir_vertex v, uint32_t generation)
{
    return vertex_valid(g, v) && (vertex_at(g, v)->generation & 1023) == generation;
}

const char *weir_vertex_type(const weir_graph *g, weir_vertex v)
{
    return type_text(g, kind_of(g, v)->type);
}

const char *weir_vertex_basename(const weir_graph *g, weir_vertex v)
{
    return weir_strtab_text(&g->names, kind_of(g, v)->basename);
}

const char *weir_vertex_unit(const weir_graph *g, weir_vertex v)
{
    return weir_strtab_text(&g->names, kind_of(g, v)->unit);
}

int64_t weir_vertex_id(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->id;
}

int64_t weir_vertex_size(const weir_graph *g, weir_vertex v)
{
    return kind_of(g, v)->size;
}

bool weir_vertex_exclusive(const weir_graph *g, weir_vertex v)
{
    return kind_of(g, v)->exclusive;
}

int64_t weir_vertex_rank(const weir_graph *g, weir_vertex v)
{
    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent) {
        const struct pool *p = pool_of(g, v);
        if (p && p->rank != WEIR_NO_RANK)
            return p->rank;
    }
    return WEIR_NO_RANK;
}

int weir_vertex_set_rank(weir_graph *g, weir_vertex v, int64_t rank, weir_err *err)
{
    struct pool *p;
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (rank < WEIR_NO_RANK || rank > UINT32_MAX)
        return weir_fail(err, WEIR_EINVAL, "rank %" PRId64 " is out of range", rank);
    p = weir_pool_get(g, v);
    if (!p)
        return weir_fail_nomem(err);
    p->rank = rank;
    note_vertex(g, v);
    WEIR_TELL(g, described, g, v, WEIR_PROPERTIES, WEIR_NO_NAME);
    return WEIR_OK;
}

/* ---- names ---- */

/* Appends n bytes to a buffer of `size` bytes, as snprintf would; *at is the length of the whole text. */
static void put(char *buf, size_t size, size_t *at, const char *s, size_t n)
{
    if (*at < size) {
        size_t cap = size - *at - 1, k = n < cap ? n : cap;
        memcpy(buf + *at, s, k);
        buf[*at + k] = '\0';
    }
    *at += n;
}

enum { VALUE_SIZE = 512 }; /* of a value that is computed */

/* Returns an attribute of the data that every pool has; NULL: no such attribute, or the pool has no value for the
 * attribute. */
static const char *base_attribute(const weir_graph *g, weir_vertex v, const char *key, char text[VALUE_SIZE])
{
    int64_t n;

    if (strcmp(key, "type") == 0)
        return weir_vertex_type(g, v);
    if (strcmp(key, "basename") == 0)
        return weir_vertex_basename(g, v);
    if (strcmp(key, "unit") == 0)
        return weir_vertex_unit(g, v)[0] ? weir_vertex_unit(g, v) : NULL;
    if (strcmp(key, "uuid") == 0) {
        weir_uuid_write(g, v, text);
        return text;
    }
    if (strcmp(key, "size") == 0)
        n = weir_vertex_size(g, v);
    else if (strcmp(key, "id") == 0 && weir_vertex_id(g, v) != WEIR_NO_ID)
        n = weir_vertex_id(g, v);
    else if (strcmp(key, "rank") == 0 && weir_vertex_rank(g, v) != WEIR_NO_RANK)
        n = weir_vertex_rank(g, v);
    else
        return NULL;
    snprintf(text, VALUE_SIZE, "%" PRId64, n);
    return text;
}

/* The value of KEY of v itself: an attribute, a property, or, by "tags.KEY", a tag. */
static const char *own_value(const weir_graph *g, weir_vertex v, const char *key, char text[VALUE_SIZE])
{
    const char *value = base_attribute(g, v, key, text);

    if (!value)
        value = weir_vertex_get(g, v, WEIR_PROPERTIES, key);
    if (!value && strncmp(key, "properties.", 11) == 0)
        value = weir_vertex_get(g, v, WEIR_PROPERTIES, key + 11);
    if (!value && strncmp(key, "tags.", 5) == 0)
        value = weir_vertex_get(g, v, WEIR_TAGS, key + 5);
    return value;
}

/* The value of ${key} in a name: of v, or, by "TYPE.KEY", of the nearest vertex of the type above v; NULL: neither. */
static const char *attribute(const weir_graph *g, weir_vertex v, const char *key, char text[VALUE_SIZE])
{
    const char *value = own_value(g, v, key, text), *dot = strchr(key, '.');
    weir_vertex up = vertex_at(g, v)->parent;

    if (value || !dot)
        return value;
    while (up != WEIR_NONE && (strncmp(weir_vertex_type(g, up), key, (size_t)(dot - key)) != 0 ||
                               weir_vertex_type(g, up)[dot - key] != '\0'))
        up = vertex_at(g, up)->parent;
    if (up == WEIR_NONE)
        return NULL;
    if (strcmp(dot + 1, "name") != 0)
        return own_value(g, up, dot + 1, text);
    weir_vertex_name(g, up, text, VALUE_SIZE);
    return text;
}

/* Appends a value, with "%2F" for each '/', which would end the name in a path. */
static void put_value(char *buf, size_t size, size_t *at, const char *value)
{
    for (size_t n; *value; value += n) {
        n = strcspn(value, "/");
        put(buf, size, at, value, n);
        if (value[n] == '/') {
            put(buf, size, at, "%2F", 3);
            n++;
        }
    }
}

/* Allocates no memory: a name never depends on free memory. */
static size_t expand_name(const weir_graph *g, weir_vertex v, const char *text, char *buf, size_t size)
{
    size_t n = 0;

    while (*text) {
        const char *open = strstr(text, "${"), *close = open ? strchr(open, '}') : NULL, *value;
        char key[256], computed[VALUE_SIZE];
        if (!close || (size_t)(close - open) - 2 >= sizeof key)
            break;
        snprintf(key, sizeof key, "%.*s", (int)(close - open - 2), open + 2);
        value = attribute(g, v, key, computed);
        put(buf, size, &n, text, (size_t)(open - text));
        if (value)
            put_value(buf, size, &n, value);
        else
            put(buf, size, &n, open, (size_t)(close - open) + 1);
        text = close + 1;
    }
    put(buf, size, &n, text, strlen(text));
    return n;
}

size_t weir_vertex_name(const weir_graph *g, weir_vertex v, char *buf, size_t size)
{
    const struct pool *p = pool_of(g, v);
    bool own = p && p->name != WEIR_NO_NAME;
    const char *text = own ? weir_strtab_text(&g->names, p->name) : weir_vertex_basename(g, v);
    char digits[WEIR_INT_MAX];
    size_t n = 0;

    if (own && strstr(text, "${"))
        return expand_name(g, v, text, buf, size);
    put(buf, size, &n, text, strlen(text));
    if (!own && vertex_at(g, v)->id != WEIR_NO_ID)
        put(buf, size, &n, digits, (size_t)(weir_put_int(digits, vertex_at(g, v)->id) - digits));
    return n;
}

size_t weir_vertex_path(const weir_graph *g, weir_vertex v, char *buf, size_t size)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2];
    size_t depth = 0, len = 0;

    for (; v != WEIR_NONE && depth < WEIR_PATH_DEPTH + 2; v = vertex_at(g, v)->parent)
        way[depth++] = v;
    if (size)
        buf[0] = '\0';
    while (depth-- > 0) {
        if (len + 1 < size) {
            buf[len] = '/';
            buf[len + 1] = '\0';
        }
        len++;
        len += weir_vertex_name(g, way[depth], len < size ? buf + len : NULL, len < size ? size - len : 0);
    }
    return len;
}

/* ---- state ---- */

int weir_vertex_state(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->state;
}

weir_vertex weir_vertex_unavailable(const weir_graph *g, weir_vertex from)
{
    for (weir_vertex v = from; g->unavailable > 0 && v < g->limit; v++)
        if (vertex_valid(g, v) && !state_available(vertex_at(g, v)->state))
            return v;
    return WEIR_NONE;
}

/* ---- containment ---- */

weir_vertex weir_vertex_parent(const weir_graph *g, weir_vertex v)
{
    return vertex_at(g, v)->parent;
}

uint32_t weir_vertex_children(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    return in ? in->nkids - in->holes : 0;
}

/* Position of child number i among the children and holes. The cursor of the last call makes steps to the next and
 * the previous child O(1), except for holes. */
static uint32_t place_of_kid(struct inner *in, uint32_t i)
{
    if (i < in->seen / 2)
        in->seen = in->seen_pos = 0;
    while (in->seen > i) {
        in->seen_pos--;
        in->seen -= in->kids[in->seen_pos] != WEIR_NONE;
    }
    while (in->seen < i || in->kids[in->seen_pos] == WEIR_NONE) {
        in->seen += in->kids[in->seen_pos] != WEIR_NONE;
        in->seen_pos++;
    }
    return in->seen_pos;
}

weir_vertex weir_vertex_child(const weir_graph *g, weir_vertex v, uint32_t i)
{
    struct inner *in = inner_of(g, v);

    if (!in || i >= in->nkids - in->holes)
        return WEIR_NONE;
    return in->kids[in->holes == 0 ? i : place_of_kid(in, i)];
}

uint32_t weir_vertex_place(const weir_graph *g, weir_vertex v)
{
    uint32_t pos = vertex_at(g, v)->pos, holes = 0;
    weir_vertex p = vertex_at(g, v)->parent;
    struct inner *in = p == WEIR_NONE ? NULL : inner_of(g, p);

    if (vertex_detached(g, v) || (in && in->holes == 0))
        return pos;
    if (!in) {
        for (uint32_t i = 0; i < pos; i++)
            holes += g->roots[i] == WEIR_NONE;
        return pos - holes;
    }
    for (; in->seen_pos < pos; in->seen_pos++)
        in->seen += in->kids[in->seen_pos] != WEIR_NONE;
    while (in->seen_pos > pos) {
        in->seen_pos--;
        in->seen -= in->kids[in->seen_pos] != WEIR_NONE;
    }
    return in->seen;
}

weir_vertex weir_vertex_ancestor(const weir_graph *g, weir_vertex v, const char *type)
{
    return vertex_at_or_above(g, v, weir_type_find(g, type));
}

bool weir_vertex_within(const weir_graph *g, weir_vertex v, weir_vertex top)
{
    while (v != WEIR_NONE && v != top)
        v = vertex_at(g, v)->parent;
    return v == top;
}
