/* grug_read.c - reads GraphML recipes and checks them. See grug.h. Main invariant: once a handler of the parser failed,
 * `rc` is set and all further handlers do nothing.
 */
#include "format/grug/grug.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 4096 /* nodes, and edges, of a recipe */

/* The fields of a recipe, with the value of each field in absence of value and <default>. Texts have max = 0. */
static const struct field_rule {
    const char *name, *fallback;
    int64_t min, max;
} rules[FIELDS] = {
    [ROOT] = {"root", "0", 0, 1},
    [TYPE] = {"type", "", 0, 0},
    [BASENAME] = {"basename", "", 0, 0},
    [UNIT] = {"unit", "", 0, 0},
    [SIZE] = {"size", "1", 0, INT64_MAX},
    [SUBSYSTEM] = {"subsystem", "containment", 0, 0},
    [PROPERTIES] = {"properties", "", 0, 0}, /* "key=value,key" */
    [E_SUBSYSTEM] = {"e_subsystem", "containment", 0, 0},
    [RELATION] = {"relation", "contains", 0, 0},
    [RRELATION] = {"rrelation", "in", 0, 0},
    [GEN_METHOD] = {"gen_method", "MULTIPLY", 0, 0},
    [ID_SCOPE] = {"id_scope", "0", -1, INT32_MAX},
    [ID_START] = {"id_start", "0", 0, INT64_C(1) << 60},
    [ID_STRIDE] = {"id_stride", "1", 0, INT32_MAX / 2},
    [MULTI_SCALE] = {"multi_scale", "1", 1, WEIR_VERTICES_MAX - 1},
    [AS_TGT_SUBSYSTEM] = {"as_tgt_subsystem", "containment", 0, 0},
    [AS_TGT_UPLVL] = {"as_tgt_uplvl", "1", 0, INT32_MAX},
    [AS_SRC_UPLVL] = {"as_src_uplvl", "1", 0, INT32_MAX},
};

static const char *const methods[METHODS] = {"MULTIPLY", "ASSOCIATE_IN", "ASSOCIATE_BY_PATH_IN"};

static void free_element(struct grug_element *p)
{
    WEIR_FREE(p->id, p->source, p->target);
    for (int i = 0; i < FIELDS; i++)
        weir_mem_free(p->text[i]);
    weir_mem_free(p->pools.v);
    weir_props_free(&p->props);
}

void weir_recipe_free(struct recipe *r)
{
    for (uint32_t i = 0; i < r->nnodes; i++)
        free_element(&r->nodes[i]);
    for (uint32_t i = 0; i < r->nedges; i++)
        free_element(&r->edges[i]);
    for (uint32_t i = 0; i < r->nkeys; i++)
        WEIR_FREE(r->keys[i].id, r->keys[i].fallback);
    WEIR_FREE(r->nodes, r->edges, r->keys);
    weir_buf_free(&r->chars);
}

/* ---- reading the XML ------------------------------------------------------------------------------------------ */

/* Ends a failed handler: keeps the status, and stops the parser. */
static void stop(struct recipe *r, int rc)
{
    if (r->rc == WEIR_OK)
        r->rc = rc;
    XML_StopParser(r->xml, XML_FALSE);
}

static int line_of(const struct recipe *r)
{
    return (int)XML_GetCurrentLineNumber(r->xml);
}

#define STOP_AS(r, code, ...) stop(r, weir_fail_at((r)->err, code, (r)->source, line_of(r), 0, __VA_ARGS__))
#define STOP(r, ...)          STOP_AS(r, WEIR_EPARSE, __VA_ARGS__)

static const char *attribute(const char **attrs, const char *name)
{
    for (; *attrs; attrs += 2)
        if (strcmp(attrs[0], name) == 0)
            return attrs[1];
    return NULL;
}

/* A copy of a required attribute; NULL: missing, and the parser stopped. */
static char *take_attribute(struct recipe *r, const char *element, const char **attrs, const char *name)
{
    const char *value = attribute(attrs, name);
    char *copy;

    if (!value || !*value) {
        STOP(r, "<%s> has no %s=\"...\"", element, name);
        return NULL;
    }
    copy = weir_mem_strdup(value);
    if (!copy)
        stop(r, weir_fail_nomem(r->err));
    return copy;
}

static void start_key(struct recipe *r, const char **attrs)
{
    const char *name = attribute(attrs, "attr.name");
    struct grug_key *k;
    int field = 0;

    if (r->key) {
        STOP(r, "<key>: \"%s\" is inside a <key>", name ? name : "");
        return;
    }
    while (field < FIELDS && (!name || strcmp(rules[field].name, name) != 0))
        field++;
    if (field == FIELDS) {
        STOP(r, "<key>: attr.name \"%.200s\" is nothing that a recipe can say", name ? name : "");
        return;
    }
    for (uint32_t i = 0; i < r->nkeys; i++)
        if (r->keys[i].field == (enum field)field) {
            STOP(r, "<key>: \"%s\" is declared twice", name);
            return;
        }
    if (weir_array_reserve(&r->keys, &r->keys_cap, (size_t)r->nkeys + 1, sizeof *r->keys) < 0) {
        stop(r, weir_fail_nomem(r->err));
        return;
    }
    k = &r->keys[r->nkeys];
    k->field = (enum field)field;
    k->fallback = NULL;
    k->id = take_attribute(r, "key", attrs, "id");
    if (!k->id)
        return;
    r->nkeys++;
    r->key = k;
}

/* Adds an empty element; NULL: failed, and the parser stopped. */
static struct grug_element *new_element(struct recipe *r, bool edge)
{
    struct grug_element **array = edge ? &r->edges : &r->nodes, *p;
    uint32_t *count = edge ? &r->nedges : &r->nnodes, *cap = edge ? &r->edges_cap : &r->nodes_cap;

    if (*count == PARTS_MAX) {
        STOP_AS(r, WEIR_ELIMIT, "a recipe has at most %d %s", PARTS_MAX, edge ? "edges" : "nodes");
        return NULL;
    }
    if (weir_array_reserve(array, cap, (size_t)*count + 1, sizeof **array) < 0) {
        stop(r, weir_fail_nomem(r->err));
        return NULL;
    }
    p = &(*array)[(*count)++];
    memset(p, 0, sizeof *p);
    p->line = line_of(r);
    p->first_edge = p->last_edge = p->next = NONE;
    return p;
}

static void start_node(struct recipe *r, const char **attrs)
{
    struct grug_element *p = new_element(r, false);

    if (!p)
        return;
    p->id = take_attribute(r, "node", attrs, "id");
    if (!p->id)
        return;
    for (const struct grug_element *o = r->nodes; o < p; o++)
        if (strcmp(o->id, p->id) == 0) {
            STOP(r, "node \"%.200s\" is there already, on line %d", p->id, o->line);
            return;
        }
    r->element = p;
}

static void start_edge(struct recipe *r, const char **attrs)
{
    const char *id = attribute(attrs, "id");
    struct grug_element *p = new_element(r, true);

    if (!p)
        return;
    p->source = take_attribute(r, "edge", attrs, "source");
    p->target = p->source ? take_attribute(r, "edge", attrs, "target") : NULL;
    if (!p->target)
        return;
    p->id = weir_mem_strdup(id ? id : "");
    if (!p->id)
        stop(r, weir_fail_nomem(r->err));
    r->element = p;
}

static bool is_edge(const struct recipe *r)
{
    return r->element && r->element->source;
}

static void start_data(struct recipe *r, const char **attrs)
{
    const char *id = attribute(attrs, "key");

    if (!r->element)
        return; /* the <data> is about the graph */
    for (uint32_t i = 0; id && i < r->nkeys; i++)
        if (strcmp(r->keys[i].id, id) == 0) {
            r->data = i;
            if ((r->keys[i].field >= NODE_FIELDS) != is_edge(r))
                STOP(r, "\"%s\" does not belong to %s", id, is_edge(r) ? "an edge" : "a node");
            return;
        }
    STOP(r, "<data key=\"%.200s\">: no <key> has this id", id ? id : "");
}

static void XMLCALL on_start(void *user, const char *name, const char **attrs)
{
    struct recipe *r = user;

    r->chars.len = 0;
    if (r->rc < 0)
        return;
    r->rc = weir_xml_check_attributes(r->xml, name, attrs, r->source, r->err);
    if (r->rc < 0)
        XML_StopParser(r->xml, XML_FALSE);
    else if (r->element && (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0 || strcmp(name, "graph") == 0))
        STOP(r, "<%s> inside another node or edge", name);
    else if (strcmp(name, "key") == 0)
        start_key(r, attrs);
    else if (strcmp(name, "default") == 0)
        r->in_default = r->key != NULL;
    else if (strcmp(name, "graph") == 0 && r->graph)
        STOP(r, "a second <graph>: a recipe is one");
    else if (strcmp(name, "graph") == 0)
        r->graph = true;
    else if (strcmp(name, "node") == 0)
        start_node(r, attrs);
    else if (strcmp(name, "edge") == 0)
        start_edge(r, attrs);
    else if (strcmp(name, "data") == 0)
        start_data(r, attrs);
}

/* A copy of the characters since the last tag, without white space around; NULL: failed, and the parser stopped. */
static char *take_chars(struct recipe *r)
{
    const char *s = r->chars.data;
    size_t n = r->chars.len;
    char *copy = NULL;

    for (; n > 0 && isspace((unsigned char)*s); n--)
        s++;
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        n--;
    if (n > WEIR_NAME_MAX) {
        STOP_AS(r, WEIR_ELIMIT, "a text of %zu bytes, expected at most %d", n, WEIR_NAME_MAX);
        return NULL;
    }
    if (!r->chars.failed)
        copy = weir_mem_strndup(n ? s : "", n);
    if (!copy)
        stop(r, weir_fail_nomem(r->err));
    return copy;
}

static void end_data(struct recipe *r)
{
    char **text = &r->element->text[r->keys[r->data].field];

    if (*text)
        STOP(r, "\"%s\" is given twice", r->keys[r->data].id);
    else
        *text = take_chars(r);
    r->data = NONE;
}

static void XMLCALL on_end(void *user, const char *name)
{
    struct recipe *r = user;

    if (r->rc < 0)
        return;
    if (strcmp(name, "data") == 0 && r->data != NONE) {
        end_data(r);
    } else if (strcmp(name, "default") == 0 && r->in_default) {
        weir_mem_free(r->key->fallback);
        r->key->fallback = take_chars(r);
        r->in_default = false;
    } else if (strcmp(name, "key") == 0) {
        r->key = NULL;
    } else if (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0) {
        r->element = NULL;
    }
}

static void XMLCALL on_chars(void *user, const char *s, int n)
{
    struct recipe *r = user;

    if ((r->data != NONE || r->in_default) && n > 0 && r->chars.len <= 2 * WEIR_NAME_MAX)
        weir_buf_add(&r->chars, s, (size_t)n);
}

static int read_recipe(struct recipe *r, const char *text, size_t len)
{
    int rc;

    r->xml = weir_xml_new();
    if (!r->xml)
        return weir_fail_nomem(r->err);
    XML_SetUserData(r->xml, r);
    XML_SetElementHandler(r->xml, on_start, on_end);
    XML_SetCharacterDataHandler(r->xml, on_chars);
    rc = weir_xml_run(r->xml, text, len, r->source, r->err);
    XML_ParserFree(r->xml);
    if (r->rc < 0)
        return r->rc;
    if (rc == WEIR_OK && r->nnodes == 0)
        return weir_fail_at(r->err, WEIR_EPARSE, r->source, 0, 0, "the recipe has no <node>");
    return rc;
}

/* ---- checking ------------------------------------------------------------------------------------------------- */

static const char *fallback_of(const struct recipe *r, int field)
{
    for (uint32_t i = 0; i < r->nkeys; i++)
        if ((int)r->keys[i].field == field && r->keys[i].fallback)
            return r->keys[i].fallback;
    return rules[field].fallback;
}

static int read_number(struct recipe *r, struct grug_element *p, int field)
{
    const struct field_rule *rule = &rules[field];
    char *end;

    errno = 0;
    p->number[field] = strtoll(p->text[field], &end, 10);
    if (end == p->text[field] || *end || errno)
        return FAIL(r, p, WEIR_EPARSE, "\"%s\" of \"%.200s\" is \"%.64s\", expected an integer", rule->name, p->id,
                    p->text[field]);
    if (p->number[field] < rule->min || p->number[field] > rule->max)
        return FAIL(r, p, WEIR_EINVAL, "\"%s\" of \"%.200s\" is %lld, it must be from %lld to %lld", rule->name, p->id,
                    (long long)p->number[field], (long long)rule->min, (long long)rule->max);
    return WEIR_OK;
}

/* Fills in the fields missing in the recipe. */
static int complete(struct recipe *r, struct grug_element *p)
{
    int last = p->source ? FIELDS : NODE_FIELDS;

    for (int i = p->source ? NODE_FIELDS : 0; i < last; i++) {
        bool given = p->text[i] != NULL;
        int rc = WEIR_OK;
        if (!given)
            p->text[i] = weir_mem_strdup(fallback_of(r, i));
        if (!p->text[i])
            return weir_fail_nomem(r->err);
        if (rules[i].max)
            rc = read_number(r, p, i);
        if (rc < 0)
            return rc;
    }
    return WEIR_OK;
}

static int read_properties(struct recipe *r, struct grug_element *p)
{
    const char *s = p->text[PROPERTIES];

    while (*s) {
        size_t n = strcspn(s, ",");
        if (n == 0 || *s == '=')
            return FAIL(r, p, WEIR_EPARSE, "\"properties\" of \"%.200s\": expected \"key=value,key\"", p->id);
        if (weir_props_add(&p->props, s, n) < 0)
            return weir_fail_nomem(r->err);
        s += n + (s[n] == ',');
    }
    return WEIR_OK;
}

static int check_node(struct recipe *r, struct grug_element *p)
{
    static const enum field fields[] = {TYPE, BASENAME, SUBSYSTEM, UNIT};
    int rc = complete(r, p);

    if (rc < 0)
        return rc;
    if (!*p->text[BASENAME]) {
        weir_mem_free(p->text[BASENAME]);
        p->text[BASENAME] = weir_mem_strdup(p->text[TYPE]);
        if (!p->text[BASENAME])
            return weir_fail_nomem(r->err);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *text = p->text[fields[i]], *fault = weir_text_fault(text, fields[i] == BASENAME);
        if (fault && (fields[i] != UNIT || *text))
            return FAIL(r, p, WEIR_EINVAL, "\"%s\" of node \"%.200s\" %s", rules[fields[i]].name, p->id, fault);
    }
    return read_properties(r, p);
}

static uint32_t find_node(const struct recipe *r, const char *id)
{
    for (uint32_t i = 0; i < r->nnodes; i++)
        if (strcmp(r->nodes[i].id, id) == 0)
            return i;
    return NONE;
}

static bool in_containment(const struct grug_element *edge)
{
    return strcmp(edge->text[E_SUBSYSTEM], "containment") == 0;
}

static int read_method(struct recipe *r, struct grug_element *e)
{
    int m = 0;

    while (m < METHODS && strcmp(methods[m], e->text[GEN_METHOD]) != 0)
        m++;
    if (m == METHODS)
        return FAIL(r, e, WEIR_EINVAL,
                    "\"gen_method\" is \"%.64s\", expected MULTIPLY, ASSOCIATE_IN or ASSOCIATE_BY_PATH_IN",
                    e->text[GEN_METHOD]);
    e->method = (enum method)m;
    e->contains = m == MULTIPLY && in_containment(e);
    return WEIR_OK;
}

/* Resolves the nodes of an edge. */
static int link_edge(struct recipe *r, uint32_t i)
{
    struct grug_element *e = &r->edges[i], *from, *to;

    e->from = find_node(r, e->source);
    e->to = find_node(r, e->target);
    if (e->from == NONE || e->to == NONE)
        return FAIL(r, e, WEIR_EINVAL, "edge \"%.200s\" leads %s \"%.200s\", which is not a node", e->id,
                    e->from == NONE ? "from" : "to", e->from == NONE ? e->source : e->target);
    from = &r->nodes[e->from];
    to = &r->nodes[e->to];
    if (from->last_edge == NONE)
        from->first_edge = i;
    else
        r->edges[from->last_edge].next = i;
    from->last_edge = i;
    if (e->contains)
        from->leaf = false;
    else
        from->listed = true;
    if (e->method != MULTIPLY) {
        to->listed = true;
        return WEIR_OK;
    }
    if (to->by || to->number[ROOT])
        return FAIL(r, e, WEIR_EINVAL, "node \"%.200s\" is made twice: %s; give each parent a node of its own", to->id,
                    to->by ? "two edges lead to it" : "it is a root, and an edge leads to it");
    to->by = e;
    return WEIR_OK;
}

static int check_elements(struct recipe *r)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < r->nnodes; i++) {
        r->nodes[i].leaf = true;
        rc = check_node(r, &r->nodes[i]);
    }
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nedges; i++) {
        rc = complete(r, &r->edges[i]);
        rc = rc ? rc : read_method(r, &r->edges[i]);
        rc = rc ? rc : link_edge(r, i);
    }
    return rc;
}

/* Sets the wrap of an edge. Ids of scope s are consecutive over the source pools below an ancestor s levels above
 * the source. */
static void set_wrap(struct recipe *r, struct grug_element *e)
{
    const struct grug_element *above = r->nodes[e->from].by;

    e->wrap = 1;
    for (int64_t s = 0; s < e->number[ID_SCOPE] && s < WEIR_PATH_DEPTH && above; s++) {
        if (e->wrap > (int64_t)WEIR_VERTICES_MAX)
            return;
        e->wrap *= above->number[MULTI_SCALE];
        above = r->nodes[above->from].by;
    }
}

/* Follows the edges from node n, which gets `count` pools: finds cycles, depth, and the size of the machine. */
static int survey(struct recipe *r, uint32_t n, uint64_t count, int depth)
{
    struct grug_element *node = &r->nodes[n];
    int rc = WEIR_OK;

    if (node->open)
        return FAIL(r, node, WEIR_EINVAL, "node \"%.200s\" is below itself: the edges make a cycle", node->id);
    if (node->seen)
        return WEIR_OK;
    if (depth > WEIR_PATH_DEPTH)
        return FAIL(r, node, WEIR_ELIMIT, "node \"%.200s\" is more than %d levels deep", node->id, WEIR_PATH_DEPTH);
    r->total += count;
    if (r->total > weir_vertices_allowed())
        return FAIL(r, node, WEIR_ELIMIT, WEIR_VERTICES_MANY ", with %llu of \"%.200s\"", weir_vertices_allowed(),
                    (unsigned long long)count, node->id);
    r->entries += count * node->props.count;
    if (r->entries > weir_vertices_allowed())
        return FAIL(r, node, WEIR_ELIMIT, WEIR_ENTRIES_MANY ", with %u of \"%.200s\"", weir_vertices_allowed(),
                    node->props.count, node->id);
    node->seen = node->open = true;
    for (uint32_t i = node->first_edge; rc == WEIR_OK && i != NONE; i = r->edges[i].next) {
        struct grug_element *e = &r->edges[i];
        set_wrap(r, e);
        rc = survey(r, e->to, e->method == MULTIPLY ? count * (uint64_t)e->number[MULTI_SCALE] : 0, depth + 1);
    }
    node->open = false;
    return rc;
}

static int check_recipe(struct recipe *r)
{
    int rc = check_elements(r);
    bool root = false;

    for (uint32_t i = 0; rc == WEIR_OK && i < r->nnodes; i++)
        if (r->nodes[i].number[ROOT]) {
            root = true;
            rc = survey(r, i, 1, 1);
        }
    if (rc < 0)
        return rc;
    if (!root)
        return weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0,
                            "no node has \"root\" 1, so there is nothing to start from");
    for (uint32_t i = 0; i < r->nnodes; i++)
        if (!r->nodes[i].seen)
            return FAIL(r, &r->nodes[i], WEIR_EINVAL, "no edges lead from a root to node \"%.200s\"", r->nodes[i].id);
    return WEIR_OK;
}

int weir_recipe_read(struct recipe *r, const char *text, size_t len)
{
    int rc = read_recipe(r, text, len);
    return rc < 0 ? rc : check_recipe(r);
}
