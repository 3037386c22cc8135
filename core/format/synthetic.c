/* synthetic.c - reads machines of one line: "cluster:1 rack:4 node:16 socket:2 core:8 gpu:1". The grammar is in
 * input.h.
 *
 * The words become a small tree, checked for its size before anything is made; then the machine is grown from the tree
 * in preorder.
 *
 * Main invariant: words[0] is the cluster around the pools at the top, used only where these are several; the tree of
 * words is no deeper than WEIR_PATH_DEPTH, which bounds the recursion.
 */
#include "format/input.h"

#include <ctype.h>
#include <string.h>

#define WORDS_MAX 1024
#define NONE      UINT32_MAX

enum scope { LOCAL, IN_NODE, GLOBAL };

struct word {
    char *type, *basename, *unit; /* unit NULL: none */
    int64_t size, id;             /* id: of the first pool */
    uint32_t count;
    bool exclusive, scoped; /* scoped: the scope was given */
    enum scope scope;
    struct weir_props props;
    uint32_t parent, first, last, next; /* in the tree of words */
    uint32_t group;                     /* the words with a common count of ids */
    uint32_t depth;
    bool in_node;
};

struct synthetic_reader {
    const char *text, *s, *end, *source;
    weir_err *err;
    struct word *words;
    uint32_t nwords, cap;
    /* growing */
    weir_graph *g;
    int64_t *counts; /* ids given out, by group; then a copy for each level, see saved_counts() */
    int64_t rank;
};

static int fail_here(struct synthetic_reader *r, const char *at, int code, const char *what, const char *wanted)
{
    int line = 1, column = 1;

    for (const char *p = r->text; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return weir_fail_at(r->err, code, r->source, line, column, "%s%s%s", what, wanted ? ": " : "",
                        wanted ? wanted : "");
}

static void skip_space(struct synthetic_reader *r)
{
    while (r->s < r->end && isspace((unsigned char)*r->s))
        r->s++;
}

static bool at_char(const struct synthetic_reader *r, char c)
{
    return r->s < r->end && *r->s == c;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

/* Whether pools of a type contain nothing unless brackets follow. */
static bool is_leaf_type(const char *type)
{
    static const char *const leaves[] = {"core", "gpu", "memory", "storage", "pu", "ssd", "nic"};

    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        if (strcmp(type, leaves[i]) == 0)
            return true;
    return false;
}

static bool is_node(const struct word *w)
{
    return strcmp(w->type, "node") == 0;
}

/* Adds a word to `parent`, with the n bytes at s as its type. */
static int new_word(struct synthetic_reader *r, uint32_t parent, const char *s, size_t n, uint32_t *out)
{
    struct word *w;
    uint32_t i = r->nwords;

    if (i == WORDS_MAX)
        return fail_here(r, s, WEIR_ELIMIT, "more than 1024 words", NULL);
    if (weir_array_reserve(&r->words, &r->cap, (size_t)i + 1, sizeof *r->words) < 0)
        return weir_fail_nomem(r->err);
    w = &r->words[i];
    memset(w, 0, sizeof *w);
    w->parent = parent;
    w->first = w->last = w->next = NONE;
    w->size = w->count = 1;
    w->type = weir_mem_strndup(s, n);
    w->basename = weir_mem_strndup(s, n);
    r->nwords++;
    if (!w->type || !w->basename)
        return weir_fail_nomem(r->err);
    *out = i;
    if (parent == NONE)
        return WEIR_OK;
    w->depth = r->words[parent].depth + 1;
    w->in_node = r->words[parent].in_node || is_node(&r->words[parent]);
    if (w->depth >= WEIR_PATH_DEPTH)
        return fail_here(r, s, WEIR_ELIMIT, "more than 199 levels", NULL);
    if (r->words[parent].last == NONE)
        r->words[parent].first = i;
    else
        r->words[r->words[parent].last].next = i;
    r->words[parent].last = i;
    return WEIR_OK;
}

/* The integer written in all of the n bytes at s, from min to max; -1: the bytes are no such integer. */
static int64_t read_integer(const char *s, size_t n, int64_t min, int64_t max)
{
    int64_t value = 0;

    if (n == 0 || n > 19)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!isdigit((unsigned char)s[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s[i] - '0', &value))
            return -1;
    return value < min || value > max ? -1 : value;
}

static bool is_key(const char *key, const char *s, size_t n)
{
    return strlen(key) == n && memcmp(key, s, n) == 0;
}

static int set_text(struct synthetic_reader *r, char **slot, const char *s, size_t n, bool part)
{
    const char *fault;

    weir_mem_free(*slot);
    *slot = weir_mem_strndup(s, n);
    if (!*slot)
        return weir_fail_nomem(r->err);
    fault = weir_text_fault(*slot, part);
    return fault ? fail_here(r, s, WEIR_EINVAL, "this text", fault) : WEIR_OK;
}

static int set_integer(struct synthetic_reader *r, int64_t *slot, const char *s, size_t n)
{
    *slot = read_integer(s, n, 0, INT64_MAX / 4);
    return *slot < 0 ? fail_here(r, s, WEIR_EINVAL, "expected an integer from 0 to 2^61", NULL) : WEIR_OK;
}

/* Sets an attribute KEY=VALUE of a word; `key` bytes are before the '='. */
static int set_attribute(struct synthetic_reader *r, struct word *w, const char *s, size_t key, size_t n)
{
    const char *value = s + key + 1;
    size_t len = n - key - 1;

    if (is_key("size", s, key))
        return set_integer(r, &w->size, value, len);
    if (is_key("id", s, key))
        return set_integer(r, &w->id, value, len);
    if (is_key("unit", s, key))
        return set_text(r, &w->unit, value, len, false);
    if (is_key("basename", s, key))
        return set_text(r, &w->basename, value, len, true);
    if (is_key("scope", s, key) && (is_key("local", value, len) || is_key("global", value, len))) {
        w->scoped = true;
        w->scope = is_key("local", value, len) ? LOCAL : GLOBAL;
        return WEIR_OK;
    }
    if (is_key("scope", s, key))
        return fail_here(r, value, WEIR_EINVAL, "scope is local or global", NULL);
    if (is_key("property", s, key) && len > 0 && *value != '=')
        return weir_props_add(&w->props, value, len) < 0 ? weir_fail_nomem(r->err) : WEIR_OK;
    return fail_here(
        r, s, WEIR_EINVAL, "unknown attribute",
        "expected size=, unit=, basename=, id=, scope=, property=KEY=VALUE, exclusive, or a property's name");
}

static int parse_attribute(struct synthetic_reader *r, struct word *w)
{
    const char *s, *eq;
    size_t n;

    skip_space(r);
    s = r->s;
    while (r->s < r->end && *r->s != ',' && *r->s != ')')
        r->s++;
    if (r->s == r->end)
        return fail_here(r, r->end, WEIR_EPARSE, "the text ends inside \"(\"", "expected a \")\"");
    for (n = (size_t)(r->s - s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
        ;
    if (n == 0)
        return fail_here(r, s, WEIR_EPARSE, "expected an attribute, such as size=16", NULL);
    eq = memchr(s, '=', n);
    if (eq)
        return set_attribute(r, w, s, (size_t)(eq - s), n);
    if (is_key("exclusive", s, n))
        w->exclusive = true;
    else if (weir_props_add(&w->props, s, n) < 0)
        return weir_fail_nomem(r->err);
    return WEIR_OK;
}

static int parse_attributes(struct synthetic_reader *r, struct word *w)
{
    while (at_char(r, '(') || at_char(r, ',')) {
        int rc;
        r->s++;
        rc = parse_attribute(r, w);
        if (rc < 0)
            return rc;
    }
    r->s++; /* the ')' at which parse_attribute() stopped */
    return WEIR_OK;
}

static int parse_count(struct synthetic_reader *r, struct word *w)
{
    const char *s = ++r->s;
    int64_t count;

    while (r->s < r->end && (isalnum((unsigned char)*r->s) || *r->s == '-' || *r->s == '+' || *r->s == '.'))
        r->s++;
    count = read_integer(s, (size_t)(r->s - s), 1, WEIR_VERTICES_MAX - 1);
    if (count < 0)
        return fail_here(r, s, WEIR_EINVAL, "this count", "expected an integer from 1 to 67108863");
    w->count = (uint32_t)count;
    return WEIR_OK;
}

static bool type_char(char c)
{
    return !isspace((unsigned char)c) && !strchr(":()[],=/", c) && (unsigned char)c > 0x20 && c != 0x7f;
}

static int parse_word(struct synthetic_reader *r, uint32_t parent, uint32_t *out)
{
    const char *s = r->s;
    int rc;

    while (r->s < r->end && type_char(*r->s))
        r->s++;
    if (r->s == s)
        return fail_here(r, s, WEIR_EPARSE, "expected a type here, such as node:4", NULL);
    if (r->s - s > WEIR_NAME_MAX)
        return fail_here(r, s, WEIR_ELIMIT, "this type is longer than 65536 bytes", NULL);
    rc = new_word(r, parent, s, (size_t)(r->s - s), out);
    if (rc == WEIR_OK && at_char(r, ':'))
        rc = parse_count(r, &r->words[*out]);
    if (rc == WEIR_OK && at_char(r, '('))
        rc = parse_attributes(r, &r->words[*out]);
    if (rc == WEIR_OK && r->s < r->end && !isspace((unsigned char)*r->s) && !at_char(r, '[') && !at_char(r, ']'))
        rc = fail_here(r, r->s, WEIR_EPARSE, "expected a space, \"[\" or \"]\" here", NULL);
    return rc;
}

/* Parses words up to the end, or to the "]" of `owner`. */
static int parse_words(struct synthetic_reader *r, uint32_t owner)
{
    uint32_t into = owner, w;
    int rc;

    for (skip_space(r); r->s < r->end && *r->s != ']'; skip_space(r)) {
        rc = parse_word(r, into, &w);
        if (rc < 0)
            return rc;
        skip_space(r);
        if (at_char(r, '[')) {
            const char *open = r->s++;
            rc = parse_words(r, w);
            if (rc < 0)
                return rc;
            if (!at_char(r, ']'))
                return fail_here(r, open, WEIR_EPARSE, "this \"[\" is not closed", NULL);
            r->s++;
        } else if (!is_leaf_type(r->words[w].type)) {
            into = w;
        }
    }
    if (r->words[owner].first == NONE)
        return fail_here(r, r->s, WEIR_EPARSE, "expected a type here, such as node:4", NULL);
    return WEIR_OK;
}

static int parse_text(struct synthetic_reader *r)
{
    uint32_t top;
    int rc = new_word(r, NONE, "cluster", 7, &top);

    if (rc == WEIR_OK && !weir_text_utf8(r->text, (size_t)(r->end - r->text)))
        rc = weir_fail_at(r->err, WEIR_EPARSE, r->source, 0, 0, "is not UTF-8");
    rc = rc ? rc : parse_words(r, top);
    if (rc == WEIR_OK && r->s < r->end)
        rc = fail_here(r, r->s, WEIR_EPARSE, "this \"]\" closes nothing", NULL);
    return rc;
}

/* ---- growing -------------------------------------------------------------------------------------------------- */

static bool same_group(const struct word *a, const struct word *b)
{
    return a->scope == b->scope && a->id == b->id && strcmp(a->basename, b->basename) == 0;
}

/* Settles scopes and groups, and counts the pools. */
static int survey(struct synthetic_reader *r)
{
    uint64_t total = 0, entries = 0, *made = weir_mem_zalloc(r->nwords, sizeof *made);

    if (!made)
        return weir_fail_nomem(r->err);
    made[0] = 1;
    for (uint32_t i = 1; i < r->nwords; i++) {
        struct word *w = &r->words[i];
        if (!w->scoped)
            w->scope = w->in_node ? IN_NODE : GLOBAL;
        w->group = 1; /* number of the first equal word */
        while (w->group < i && !same_group(&r->words[w->group], w))
            w->group++;
        made[i] = made[w->parent] * w->count;
        total += made[i];
        entries += made[i] * w->props.count;
        if (total > weir_vertices_allowed() || entries > weir_vertices_allowed()) {
            weir_mem_free(made);
            weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0,
                         total > weir_vertices_allowed() ? WEIR_VERTICES_MANY ", with all of \"%.200s\""
                                                         : WEIR_ENTRIES_MANY ", with all of \"%.200s\"",
                         weir_vertices_allowed(), w->type);
            return WEIR_ELIMIT;
        }
    }
    weir_mem_free(made);
    return weir_graph_reserve(r->g, (uint32_t)total + 1) < 0 ? weir_fail_nomem(r->err) : WEIR_OK;
}

static int make(struct synthetic_reader *r, const struct word *w, weir_vertex parent, int64_t id, uint32_t count,
                weir_vertex *first)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = w->type;
    d.basename = w->basename;
    d.unit = w->unit;
    d.size = w->size;
    d.id = id;
    d.exclusive = w->exclusive;
    return weir_siblings_add(r->g, parent, &d, &w->props, count, 1, &r->rank, first, r->err);
}

/* Whether the ids of v start again in each pool of word i. */
static bool renewed(const struct synthetic_reader *r, uint32_t i, const struct word *v)
{
    return (v->scope == LOCAL && v->parent == i) || (v->scope == IN_NODE && is_node(&r->words[i]));
}

/* Memory for the counts of all groups while a pool of word w is being filled. */
static int64_t *saved_counts(const struct synthetic_reader *r, const struct word *w)
{
    return r->counts + (size_t)r->nwords * (w->depth + 1);
}

static void enter(struct synthetic_reader *r, uint32_t i)
{
    memcpy(saved_counts(r, &r->words[i]), r->counts, r->nwords * sizeof *r->counts);
    for (uint32_t k = 1; k < r->nwords; k++)
        if (renewed(r, i, &r->words[k]))
            r->counts[r->words[k].group] = 0;
}

static void leave(struct synthetic_reader *r, uint32_t i)
{
    const int64_t *before = saved_counts(r, &r->words[i]);

    for (uint32_t k = 1; k < r->nwords; k++)
        if (renewed(r, i, &r->words[k]))
            r->counts[r->words[k].group] = before[r->words[k].group];
}

/* Makes the pools of word i in `parent`, and the pools of all words below. */
static int grow(struct synthetic_reader *r, uint32_t i, weir_vertex parent)
{
    const struct word *w = &r->words[i];
    int64_t id = w->id + r->counts[w->group];
    weir_vertex v;
    int rc = WEIR_OK;

    r->counts[w->group] += w->count;
    if (w->first == NONE)
        return make(r, w, parent, id, w->count, &v);
    for (uint32_t n = 0; rc == WEIR_OK && n < w->count; n++) {
        rc = make(r, w, parent, id + n, 1, &v);
        enter(r, i);
        for (uint32_t k = w->first; rc == WEIR_OK && k != NONE; k = r->words[k].next)
            rc = grow(r, k, v);
        leave(r, i);
    }
    return rc;
}

static int build(struct synthetic_reader *r)
{
    const struct word *top = &r->words[r->words[0].first];
    uint32_t deepest = 0;
    int rc;

    for (uint32_t i = 0; i < r->nwords; i++)
        deepest = r->words[i].depth > deepest ? r->words[i].depth : deepest;
    r->counts = weir_mem_zalloc(((size_t)deepest + 2) * r->nwords, sizeof *r->counts);
    r->g = weir_graph_new();
    if (!r->counts || !r->g)
        return weir_fail_nomem(r->err);
    weir_graph_begin(r->g);
    rc = survey(r);
    if (rc == WEIR_OK)
        rc = grow(r, top->count == 1 && top->next == NONE ? r->words[0].first : 0, WEIR_NONE);
    return rc < 0 ? rc : weir_graph_end(r->g, r->err);
}

static void free_words(struct synthetic_reader *r)
{
    for (uint32_t i = 0; i < r->nwords; i++) {
        WEIR_FREE(r->words[i].type, r->words[i].basename, r->words[i].unit);
        weir_props_free(&r->words[i].props);
    }
    WEIR_FREE(r->words, r->counts);
}

int weir_synthetic_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err)
{
    struct synthetic_reader r = {
        .text = in->text, .s = in->text, .end = in->text + in->len, .source = source, .err = err};
    int rc = parse_text(&r);

    rc = rc ? rc : build(&r);
    free_words(&r);
    if (rc < 0)
        weir_graph_free(r.g);
    else
        *out = r.g;
    return rc;
}
