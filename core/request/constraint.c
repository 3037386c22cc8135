/* constraint.c - RFC 31 constraints: compiled once from JSON, then matched against any number of vertices.
 *
 * Invariant: a constraint of the compiled tree is either complete or zeroed, so a tree can be freed at any stage of
 * compiling. An object with several operators is the conjunction of all its operators.
 *
 * Decisions where RFC 31 leaves the meaning open: an empty list of properties matches every vertex; an empty list of
 * hosts or ranks matches no vertex. As RFC 20 allows, a vertex with property "a@something" also has property "a". The
 * name of a vertex counts as a property of the vertex.
 */
#include "request/constraint.h"
#include "request/request.h"

#include <stdio.h>
#include <string.h>

static const char *const operator_names[] = {"and", "or", "not", "properties", "hostlist", "ranks"};

static void clear(weir_constraint *c)
{
    for (uint32_t i = 0; i < c->nargs && c->args; i++)
        clear(&c->args[i]);
    WEIR_FREE(c->args, c->properties, c->text);
    weir_hostlist_free(c->hosts);
    weir_idset_free(c->ranks);
}

void weir_constraint_free(weir_constraint *c)
{
    if (!c)
        return;
    clear(c);
    weir_mem_free(c);
}

/* ---- compiling --------------------------------------------------------------------------------------------- */

static int compile_object(weir_constraint *c, const json_t *value, uint32_t depth, weir_err *err);

/* Fails unless every element of `values` is a string, as properties, hostlist and ranks require. */
static int check_strings(const json_t *values, const char *name, weir_err *err)
{
    for (size_t i = 0; i < json_array_size(values); i++)
        if (!json_is_string(json_array_get(values, i)))
            return weir_fail(err, WEIR_EINVAL, "%s value must be a list of strings; element %zu is %s", name, i,
                             weir_json_kind(json_array_get(values, i)));
    return WEIR_OK;
}

static int compile_property(struct weir_wanted_property *p, const char *text, weir_err *err)
{
    char quoted[WEIR_QUOTE];
    size_t bad;

    p->negated = text[0] == '^';
    p->name = text + p->negated;
    p->len = strlen(p->name);
    bad = strcspn(p->name, "!&'\"^`|()");
    if (p->name[bad])
        return weir_fail(err, WEIR_EINVAL, "invalid character '%c' in property %s", p->name[bad],
                         weir_quote(text, quoted));
    if (p->len == 0 || p->len > WEIR_NAME_MAX)
        return weir_fail(err, WEIR_EINVAL, "a property must have 1 to %d bytes, not %zu", WEIR_NAME_MAX, p->len);
    return WEIR_OK;
}

static int compile_properties(weir_constraint *c, const json_t *values, weir_err *err)
{
    size_t n = json_array_size(values), used = 0, bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += json_string_length(json_array_get(values, i)) + 1;
    c->properties = weir_mem_zalloc(n, sizeof *c->properties);
    c->text = weir_mem_alloc(bytes);
    if (!c->properties || !c->text)
        return weir_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(values, i);
        size_t size = json_string_length(value) + 1;
        char *text = memcpy(c->text + used, json_string_value(value), size);
        int rc = compile_property(&c->properties[i], text, err);
        if (rc != WEIR_OK)
            return rc;
        used += size;
    }
    c->nargs = (uint32_t)n;
    return WEIR_OK;
}

/* Reports `text`, an element of the list `values` that cannot be read. Returns the code of `why`, or WEIR_ENOMEM. */
static int fail_element(const char *what, const json_t *values, const char *text, const weir_err *why, weir_err *err)
{
    char quoted[WEIR_QUOTE], *list = json_dumps(values, JSON_COMPACT);

    if (!list || why->code == WEIR_ENOMEM) {
        free(list);
        return weir_fail_nomem(err);
    }
    weir_quote(text, quoted);
    weir_fail(err, why->code, "invalid %s '%.*s' in %.100s%s: %s", what, (int)strlen(quoted) - 2, quoted + 1, list,
              strlen(list) > 100 ? "..." : "", why->text);
    free(list);
    return why->code;
}

static int compile_hostlist(weir_constraint *c, const json_t *values, weir_err *err)
{
    c->hosts = weir_hostlist_new();
    if (!c->hosts)
        return weir_fail_nomem(err);
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        const char *text = json_string_value(value);
        weir_err why = {0};
        if (weir_hostlist_append(c->hosts, text, json_string_length(value), &why) != WEIR_OK)
            return fail_element("hostlist", values, text, &why, err);
    }
    return weir_hostlist_index(c->hosts) == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);
}

static int parse_ranks(const json_t *values, size_t i, weir_idset **out, weir_err *err)
{
    const json_t *value = json_array_get(values, i);
    weir_err why = {0};

    if (weir_idset_parse(json_string_value(value), json_string_length(value), out, &why) != WEIR_OK)
        return fail_element("idset", values, json_string_value(value), &why, err);
    return WEIR_OK;
}

/* Makes the union of the elements [from, to), at least one, by halves: O(n log n) for n ranges, in any order. */
static int join_ranks(const json_t *values, size_t from, size_t to, weir_idset **out, weir_err *err)
{
    size_t middle = from + (to - from) / 2;
    weir_idset *more = NULL;
    int rc;

    if (to - from == 1)
        return parse_ranks(values, from, out, err);
    rc = join_ranks(values, from, middle, out, err);
    rc = rc ? rc : join_ranks(values, middle, to, &more, err);
    if (rc == WEIR_OK && weir_idset_add(*out, more) != WEIR_OK)
        rc = weir_fail_nomem(err);
    weir_idset_free(more);
    return rc;
}

static int compile_ranks(weir_constraint *c, const json_t *values, weir_err *err)
{
    if (json_array_size(values) > 0)
        return join_ranks(values, 0, json_array_size(values), &c->ranks, err);
    c->ranks = weir_idset_new();
    return c->ranks ? WEIR_OK : weir_fail_nomem(err);
}

static int compile_arguments(weir_constraint *c, const json_t *values, uint32_t depth, weir_err *err)
{
    size_t n = json_array_size(values);

    c->args = weir_mem_zalloc(n, sizeof *c->args);
    if (!c->args)
        return weir_fail_nomem(err);
    c->nargs = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        int rc = compile_object(&c->args[i], json_array_get(values, i), depth + 1, err);
        if (rc != WEIR_OK)
            return rc;
    }
    return WEIR_OK;
}

static int find_operator(const char *name)
{
    int op = 0;
    while (op <= WEIR_IN_RANKS && strcmp(name, operator_names[op]) != 0)
        op++;
    return op;
}

/* Compiles one operator with its list of values; `depth` counts the enclosing operators. */
static int compile_operator(weir_constraint *c, const char *name, const json_t *values, uint32_t depth, weir_err *err)
{
    char quoted[WEIR_QUOTE];
    int rc;

    c->op = find_operator(name);
    if (c->op > WEIR_IN_RANKS)
        return weir_fail(err, WEIR_EINVAL,
                         "unknown constraint operator %s; known: and, or, not, properties, hostlist, ranks",
                         weir_quote(name, quoted));
    if (!json_is_array(values))
        return weir_fail(err, WEIR_EINVAL, "%s%s value must be an array, not %s", name,
                         c->op <= WEIR_NOT_ALL_OF ? " operator" : "", weir_json_kind(values));
    if (c->op <= WEIR_NOT_ALL_OF)
        return compile_arguments(c, values, depth, err);
    rc = check_strings(values, name, err);
    if (rc != WEIR_OK)
        return rc;
    if (c->op == WEIR_HAS_PROPERTIES)
        return compile_properties(c, values, err);
    return c->op == WEIR_IN_HOSTLIST ? compile_hostlist(c, values, err) : compile_ranks(c, values, err);
}

static int compile_object(weir_constraint *c, const json_t *value, uint32_t depth, weir_err *err)
{
    const char *name;
    json_t *values;
    uint32_t i = 0;

    if (!json_is_object(value))
        return weir_fail(err, WEIR_EINVAL,
                         "constraint must be JSON object, such as {\"properties\": [\"ssd\"]}, not %s",
                         weir_json_kind(value));
    if (depth >= WEIR_CONSTRAINT_DEPTH)
        return weir_fail(err, WEIR_ELIMIT, "operators are nested more than 64 deep");
    c->op = WEIR_ALL_OF;
    c->args = weir_mem_zalloc(json_object_size(value), sizeof *c->args);
    if (!c->args)
        return weir_fail_nomem(err);
    c->nargs = (uint32_t)json_object_size(value);
    json_object_foreach((json_t *)value, name, values)
    {
        int rc = compile_operator(&c->args[i++], name, values, depth, err);
        if (rc != WEIR_OK)
            return rc;
    }
    return WEIR_OK;
}

int weir_constraint_compile(const json_t *value, weir_constraint **out, weir_err *err)
{
    weir_constraint *c = weir_mem_zalloc(1, sizeof *c);
    int rc = c ? compile_object(c, value, 0, err) : weir_fail_nomem(err);

    if (rc != WEIR_OK)
        weir_constraint_free(c);
    else
        *out = c;
    return rc;
}

int weir_constraint_parse(const char *json, size_t len, weir_constraint **out, weir_err *err)
{
    json_error_t e;
    json_t *value = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    int rc = value ? weir_constraint_compile(value, out, err) : weir_json_fail(err, NULL, &e);

    json_decref(value);
    return rc;
}

/* ---- matching ---------------------------------------------------------------------------------------------- */

/* subject is the vertex being matched. Its name is formatted on first use; a name of 1 KB or more matches no host and
 * no property. */
struct subject {
    const weir_graph *graph;
    weir_vertex vertex;
    size_t name_len; /* 0: not yet formatted */
    char name[1024];
};

static bool fetch_name(struct subject *s)
{
    if (s->name_len == 0)
        s->name_len = weir_vertex_name(s->graph, s->vertex, s->name, sizeof s->name);
    return s->name_len > 0 && s->name_len < sizeof s->name;
}

/* Whether the vertex has a property "NAME@anything", where NAME is the property sought. */
static bool has_suffixed(const struct subject *s, const struct weir_wanted_property *p)
{
    const char *key, *value;

    for (uint32_t i = 0; weir_vertex_entry(s->graph, s->vertex, WEIR_PROPERTIES, i, &key, &value); i++)
        if (strncmp(key, p->name, p->len) == 0 && key[p->len] == '@')
            return true;
    return false;
}

static bool has_property(struct subject *s, const struct weir_wanted_property *p)
{
    if (weir_vertex_get(s->graph, s->vertex, WEIR_PROPERTIES, p->name) || has_suffixed(s, p))
        return true;
    return fetch_name(s) && strcmp(s->name, p->name) == 0;
}

static bool match_properties(const weir_constraint *c, struct subject *s)
{
    for (uint32_t i = 0; i < c->nargs; i++)
        if (has_property(s, &c->properties[i]) == c->properties[i].negated)
            return false;
    return true;
}

static bool match_ranks(const weir_constraint *c, const struct subject *s)
{
    int64_t rank = weir_vertex_rank(s->graph, s->vertex);
    return rank >= 0 && rank <= WEIR_IDSET_MAX && weir_idset_test(c->ranks, (uint32_t)rank);
}

static bool match(const weir_constraint *c, struct subject *s);

static bool match_all(const weir_constraint *c, struct subject *s)
{
    for (uint32_t i = 0; i < c->nargs; i++)
        if (!match(&c->args[i], s))
            return false;
    return true;
}

static bool match_any(const weir_constraint *c, struct subject *s)
{
    for (uint32_t i = 0; i < c->nargs; i++)
        if (match(&c->args[i], s))
            return true;
    return c->nargs == 0;
}

static bool match(const weir_constraint *c, struct subject *s)
{
    switch (c->op) {
    case WEIR_ALL_OF: return match_all(c, s);
    case WEIR_ANY_OF: return match_any(c, s);
    case WEIR_NOT_ALL_OF: return !match_all(c, s);
    case WEIR_HAS_PROPERTIES: return match_properties(c, s);
    case WEIR_IN_HOSTLIST: return fetch_name(s) && weir_hostlist_find(c->hosts, s->name, s->name_len) >= 0;
    default: return match_ranks(c, s);
    }
}

bool weir_constraint_match(const weir_constraint *c, const weir_graph *g, weir_vertex v)
{
    struct subject s;

    s.graph = g;
    s.vertex = v;
    s.name_len = 0;
    return match(c, &s);
}
