/* jgf_node.c - a vertex of a JSON graph: from its metadata to an item. See jgf.h, and jgf_read.c for the metadata.
 *
 * Main invariant: a described item has passed all checks possible without any other item.
 */
#include "format/jgf/jgf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(field) (1u << (field))

const char *const weir_jgf_fields[JGF_FIELDS] = {
    [JGF_TYPE] = "type",
    [JGF_BASENAME] = "basename",
    [JGF_NAME] = "name",
    [JGF_TEMPLATE] = "name_template",
    [JGF_UNIT] = "unit",
    [JGF_UUID] = "uuid",
    [JGF_STATE] = "state",
    [JGF_PATH] = "paths.containment", /* no key of metadata itself, nor is the next */
    [JGF_OTHER] = "paths.",
    [JGF_ID] = "id",
    [JGF_UNIQ_ID] = "uniq_id",
    [JGF_RANK] = "rank",
    [JGF_STATUS] = "status",
    [JGF_SIZE] = "size",
    [JGF_EXCLUSIVE] = "exclusive",
    [JGF_WHOLE] = "whole",
    [JGF_NEGATIVE] = "negative_id",
    [JGF_OWN_RANK] = "own_rank",
    [JGF_DETACHED] = "detached",
    [JGF_PROPERTIES] = "properties",
    [JGF_TAGS] = "tags",
    [JGF_EPHEMERAL] = "ephemeral",
    [JGF_EXTENDED] = "extended",
    [JGF_EXTENDED_TEXT] = "extended_text",
    [JGF_PATHS] = "paths",
};

static const struct {
    int64_t min, max;
} ranges[JGF_NUMBERS_END] = {
    [JGF_ID] = {INT64_MIN + 1, INT64_MAX}, [JGF_UNIQ_ID] = {INT64_MIN, INT64_MAX},
    [JGF_RANK] = {-1, UINT32_MAX},         [JGF_STATUS] = {0, 1},
    [JGF_SIZE] = {0, INT64_MAX},
};

/* ---- errors --------------------------------------------------------------------------------------------------- */

/* Writes ".metadata.FIELD" or ".metadata.FIELD.KEY" to buf. */
static const char *place(char *buf, size_t size, int field, const char *key)
{
    snprintf(buf, size, ".metadata.%s%s%.60s", weir_jgf_fields[field], key ? "." : "", key ? key : "");
    return buf;
}

static int bad_value(const struct jgf *r, int field, int type, const char *wanted)
{
    char name[96];
    return weir_jgf_bad_type(r, "nodes", r->nodes_seen, place(name, sizeof name, field, NULL), type, wanted);
}

WEIR_PRINTF(4, 5) static int bad_field(const struct jgf *r, int code, int field, const char *fmt, ...)
{
    char name[96], what[300];
    va_list ap;

    va_start(ap, fmt);
    weir_vtext(what, sizeof what, fmt, ap);
    va_end(ap);
    return weir_jgf_bad(r, code, "nodes", r->nodes_seen, place(name, sizeof name, field, NULL), "%s", what);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

/* Adds a text to the texts of the vertex; *at is its offset. */
static int keep_text(struct jgf *r, const char *text, size_t len, uint32_t *at)
{
    weir_buf *b = &r->node.texts;

    if (b->len + len >= UINT32_MAX)
        return weir_jgf_bad(r, WEIR_ELIMIT, "nodes", r->nodes_seen, "", "more than 4 GB of texts");
    *at = (uint32_t)b->len;
    weir_buf_add(b, text, len);
    weir_buf_add(b, "", 1);
    return b->failed ? weir_fail_nomem(r->err) : WEIR_OK;
}

static const char *text_of(const struct jgf *r, int field)
{
    return r->node.given & BIT(field) ? r->node.texts.data + r->node.text[field] : NULL;
}

/* Takes the text of the current event. An empty text counts as not given. */
static int take_text(struct jgf *r, int field, int type)
{
    size_t len;
    const char *text;

    if (type != WEIR_JSON_STRING)
        return bad_value(r, field, type, "a string");
    text = weir_json_text(r->json, &len);
    if (len == 0)
        return WEIR_OK;
    r->node.given |= BIT(field);
    return keep_text(r, text, len, &r->node.text[field]);
}

static int take_integer(struct jgf *r, int field, int type)
{
    int64_t min = ranges[field].min, max = ranges[field].max, *n = &r->node.number[field];
    size_t len;

    if (type != WEIR_JSON_INTEGER)
        return bad_value(r, field, type, "an integer");
    if (weir_json_integer(r->json, n) < 0 || *n < min || *n > max)
        return bad_field(r, WEIR_EINVAL, field, "is %.24s, it must be from %" PRId64 " to %" PRId64,
                         weir_json_text(r->json, NULL), min, max);
    r->node.given |= BIT(field);
    if (r->marks && (field == JGF_RANK || field == JGF_SIZE)) {
        weir_json_text(r->json, &len);
        *(field == JGF_RANK ? &r->mark.rank : &r->mark.size) = weir_json_offset(r->json) - len;
    }
    return WEIR_OK;
}

static int take_bool(struct jgf *r, int field, int type)
{
    if (type != WEIR_JSON_TRUE && type != WEIR_JSON_FALSE)
        return bad_value(r, field, type, "true or false");
    r->node.number[field] = type == WEIR_JSON_TRUE;
    return WEIR_OK;
}

/* ---- maps ----------------------------------------------------------------------------------------------------- */

static int map_of(int field)
{
    return field == JGF_PROPERTIES                       ? WEIR_PROPERTIES
           : field == JGF_TAGS || field == JGF_EPHEMERAL ? WEIR_TAGS
                                                         : WEIR_EXTENDED;
}

/* Hash of an entry without value. */
static uint32_t hash_of(int field, weir_name key)
{
    return key * (JGF_EPHEMERAL + 1u) + (uint32_t)field;
}

static int index_entries(struct jgf *r)
{
    struct jgf_node *n = &r->node;

    weir_map32_free(&n->places);
    for (uint32_t i = 0; i < n->nentries; i++)
        if (weir_map32_add(&n->places, hash_of(n->entries[i].field, n->entries[i].key), i))
            return weir_fail_nomem(r->err);
    return WEIR_OK;
}

static bool is_entry(const struct jgf_entry *e, int field, weir_name key)
{
    return e->field == field && e->key == key;
}

/* Whether the node has an entry of a key already. Returns 1, 0 or negative. */
static int has_entry(struct jgf *r, int field, weir_name key)
{
    const struct jgf_node *n = &r->node;

    if (n->nentries == JGF_ENTRIES_SHORT && index_entries(r))
        return WEIR_ENOMEM;
    if (n->nentries < JGF_ENTRIES_SHORT) {
        for (uint32_t i = 0; i < n->nentries; i++)
            if (is_entry(&n->entries[i], field, key))
                return 1;
        return 0;
    }
    WEIR_MAP32_EACH (&n->places, hash_of(field, key), i)
        if (is_entry(&n->entries[i], field, key))
            return 1;
    return 0;
}

static int push_entry(struct jgf *r, int field, weir_name key, size_t len)
{
    struct jgf_node *n = &r->node;

    if (weir_array_reserve(&n->entries, &n->entries_cap, (size_t)n->nentries + 1, sizeof *n->entries) ||
        (n->nentries >= JGF_ENTRIES_SHORT && weir_map32_add(&n->places, hash_of(field, key), n->nentries)))
        return weir_fail_nomem(r->err);
    n->entries[n->nentries++] =
        (struct jgf_entry){key, 0, (uint8_t)field, (uint8_t)weir_entry_fault(map_of(field), len, 0)};
    return WEIR_OK;
}

/* Begins an entry with the current event as key. */
static int add_key(struct jgf *r, int field)
{
    size_t len;
    const char *text = weir_json_text(r->json, &len);
    weir_name key = weir_strtab_add(&r->g->names, text, len);
    int rc = key == WEIR_NO_NAME ? weir_fail_nomem(r->err) : has_entry(r, field, key);

    if (rc > 0)
        return bad_field(r, WEIR_EINVAL, field, "\"%.100s\" is given twice", text);
    return rc ? rc : push_entry(r, field, key, len);
}

static int set_value(struct jgf *r, const char *text, size_t len)
{
    weir_name value = weir_strtab_add(&r->g->names, text, len);
    struct jgf_entry *e = &r->node.entries[r->node.nentries - 1];

    e->value = value;
    if (!e->fault)
        e->fault = (uint8_t)weir_entry_fault(map_of(e->field), 1, len);
    return value == WEIR_NO_NAME ? weir_fail_nomem(r->err) : WEIR_OK;
}

/* Takes the value behind a key: a text, a number as written, or true or null for none; any JSON for extended data. */
static int take_value(struct jgf *r, int field)
{
    char name[160];
    const char *text;
    size_t len;
    int type;

    if (field == JGF_EXTENDED) {
        r->value.len = 0;
        type = weir_json_capture(r->json, &r->value);
        return type < 0 ? type : set_value(r, r->value.data, r->value.len);
    }
    type = weir_json_next(r->json);
    if (type < 0 || type == WEIR_JSON_NULL || type == WEIR_JSON_TRUE)
        return type < 0 ? type : WEIR_OK;
    if (type == WEIR_JSON_STRING || type == WEIR_JSON_INTEGER || type == WEIR_JSON_REAL) {
        text = weir_json_text(r->json, &len);
        return set_value(r, text, len);
    }
    text = jgf_text(r, r->node.entries[r->node.nentries - 1].key);
    return weir_jgf_bad_type(r, "nodes", r->nodes_seen, place(name, sizeof name, field, text), type, "a string");
}

/* Takes an array of keys without values, repetitions allowed. */
static int take_keys(struct jgf *r, int field)
{
    int type = weir_json_next(r->json), rc = WEIR_OK;

    for (; rc == WEIR_OK && type == WEIR_JSON_STRING; type = weir_json_next(r->json)) {
        size_t len;
        const char *text = weir_json_text(r->json, &len);
        weir_name key = weir_strtab_find(&r->g->names, text, len);
        uint32_t i = 0;
        while (i < r->node.nentries && (r->node.entries[i].field != field || r->node.entries[i].key != key))
            i++;
        if (i == r->node.nentries)
            rc = add_key(r, field);
    }
    if (rc < 0 || type < 0)
        return rc < 0 ? rc : type;
    return type == WEIR_JSON_ARRAY_END ? WEIR_OK : bad_value(r, field, type, "a name");
}

static int take_map(struct jgf *r, int field, int type)
{
    bool extended = field == JGF_EXTENDED || field == JGF_EXTENDED_TEXT;
    int rc = WEIR_OK;

    if (type == WEIR_JSON_ARRAY && !extended)
        return take_keys(r, field);
    if (type != WEIR_JSON_OBJECT)
        return bad_value(r, field, type, "an object");
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY) {
        rc = add_key(r, field);
        rc = rc ? rc : take_value(r, field);
    }
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* Takes a path as "SUBSYSTEM:PATH". Values other than texts are ignored. */
static int take_path(struct jgf *r)
{
    bool containment = strcmp(weir_json_text(r->json, NULL), "containment") == 0;
    int field = containment ? JGF_PATH : JGF_OTHER, type;
    size_t len;
    const char *text;

    r->value.len = 0;
    weir_buf_puts(&r->value, weir_json_text(r->json, NULL));
    weir_buf_puts(&r->value, ":");
    type = weir_json_next(r->json);
    if (type != WEIR_JSON_STRING || (r->node.given & BIT(field)))
        return weir_json_skip(r->json, type);
    if (containment)
        return take_text(r, field, type);
    text = weir_json_text(r->json, &len);
    weir_buf_add(&r->value, text, len);
    if (r->value.failed)
        return weir_fail_nomem(r->err);
    r->node.given |= BIT(field);
    return keep_text(r, r->value.data, r->value.len, &r->node.text[field]);
}

static int take_paths(struct jgf *r, int type)
{
    int rc = WEIR_OK;

    if (type != WEIR_JSON_OBJECT)
        return weir_json_skip(r->json, type);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = take_path(r);
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* ---- the object ----------------------------------------------------------------------------------------------- */

static int find_field(const char *key)
{
    int i = JGF_TYPE;

    if (strncmp(key, "paths.", 6) == 0)
        return JGF_FIELDS;
    while (i < JGF_FIELDS && (weir_jgf_fields[i][0] != key[0] || strcmp(weir_jgf_fields[i], key) != 0))
        i++;
    return i;
}

bool weir_jgf_is_field(const char *key)
{
    return find_field(key) < JGF_FIELDS;
}

/* Takes a key of metadata that weir does not know. The first of several equal keys counts. */
static int take_foreign(struct jgf *r)
{
    weir_name key, value; /* the text of the value is in r->value, too */
    int type = weir_jgf_take_foreign(r, JGF_OF_VERTEX, &key, &value);
    int rc = type < 0 ? type : has_entry(r, JGF_FOREIGN, key);

    if (rc != 0)
        return rc < 0 ? rc : WEIR_OK;
    rc = push_entry(r, JGF_FOREIGN, key, strlen(jgf_text(r, key)));
    return rc ? rc : set_value(r, r->value.data, r->value.len);
}

static int take_field(struct jgf *r, int field, int type)
{
    if (type < 0 || type == WEIR_JSON_NULL)
        return type < 0 ? type : WEIR_OK;
    if (field < JGF_TEXTS)
        return take_text(r, field, type);
    if (field < JGF_NUMBERS_END)
        return take_integer(r, field, type);
    if (field < JGF_BOOLS_END)
        return take_bool(r, field, type);
    return field == JGF_PATHS ? take_paths(r, type) : take_map(r, field, type);
}

static int read_metadata(struct jgf *r)
{
    int type, rc = WEIR_OK;

    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY) {
        const char *key = weir_json_text(r->json, NULL);
        int field = find_field(key);
        bool shares = field == JGF_FIELDS && strcmp(key, "shares") == 0;
        if (field == JGF_FIELDS && !shares) {
            rc = take_foreign(r);
            continue;
        }
        if (shares && r->keep_shares) {
            r->shares.len = 0;
            type = weir_json_capture(r->json, &r->shares);
            rc = type < 0 ? type : WEIR_OK;
            continue;
        }
        if (field < JGF_FIELDS && (r->node.seen & BIT(field)))
            return bad_field(r, WEIR_EINVAL, field, "is given twice");
        r->node.seen |= field < JGF_FIELDS ? BIT(field) : 0;
        type = weir_json_next(r->json);
        if (shares && r->marks && type == WEIR_JSON_OBJECT)
            r->mark.shares = weir_json_offset(r->json) - 1;
        rc = field < JGF_FIELDS ? take_field(r, field, type) : weir_json_skip(r->json, type);
    }
    return rc == WEIR_OK && type < 0 ? type : rc;
}

static int take_key(struct jgf *r, int type)
{
    size_t len;
    const char *text;

    if (type != WEIR_JSON_STRING)
        return weir_jgf_bad_type(r, "nodes", r->nodes_seen, ".id", type, "a string");
    text = weir_json_text(r->json, &len);
    r->node.has_key = true;
    return keep_text(r, text, len, &r->node.key);
}

/* Reads the member of a vertex with the current event as key. */
static int read_member(struct jgf *r)
{
    const char *key = weir_json_text(r->json, NULL);
    bool is_key = strcmp(key, "id") == 0, is_data = strcmp(key, "metadata") == 0;
    int type;

    if ((is_key && r->node.has_key) || (is_data && r->node.has_data))
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", r->nodes_seen, is_key ? ".id" : ".metadata", "is given twice");
    type = weir_json_next(r->json);
    if (type < 0)
        return type;
    if (is_key)
        return take_key(r, type);
    if (!is_data)
        return weir_json_skip(r->json, type);
    if (type != WEIR_JSON_OBJECT)
        return weir_jgf_bad_type(r, "nodes", r->nodes_seen, ".metadata", type, "an object");
    r->node.has_data = true;
    return read_metadata(r);
}

/* ---- defaults ---------------------------------------------------------------------------------------------------- */

static int64_t number_or(const struct jgf *r, int field, int64_t otherwise)
{
    return r->node.given & BIT(field) ? r->node.number[field] : otherwise;
}

/* Whether a name is that of a pool without an own name. */
static bool is_derived(const char *name, const char *basename, int64_t id)
{
    size_t n = strlen(basename);
    char digits[24] = "";

    if (id != WEIR_NO_ID)
        snprintf(digits, sizeof digits, "%" PRId64, id);
    return strncmp(name, basename, n) == 0 && strcmp(name + n, digits) == 0;
}

/* The number at the end of a name; the part before must be `stem`, unless NULL. */
static int64_t id_of_name(const char *name, const char *stem)
{
    size_t n = strlen(name), i = n;

    while (i > 0 && isdigit((unsigned char)name[i - 1]))
        i--;
    if (i == n || n - i > 18 || (stem && (strlen(stem) != i || memcmp(stem, name, i) != 0)))
        return WEIR_NO_ID;
    return strtoll(name + i, NULL, 10);
}

/* The id of a vertex without id and name. */
static int64_t id_of_key(const struct jgf *r)
{
    const char *key = r->node.texts.data + r->node.key;
    return *key && strspn(key, "0123456789") == strlen(key) ? id_of_name(key, NULL) : WEIR_NO_ID;
}

/* The last part of the path; NULL: not allowed as a name. */
static const char *tail_of_path(const struct jgf *r)
{
    const char *path = text_of(r, JGF_PATH), *tail = path ? strrchr(path, '/') : NULL;
    return tail && !weir_text_fault(tail + 1, true) ? tail + 1 : NULL;
}

/* Derives the name from the path, and the id from the name. */
static int name_node(const struct jgf *r, weir_pool_desc *d)
{
    bool given = r->node.given & BIT(JGF_ID);
    int64_t uniq = number_or(r, JGF_UNIQ_ID, id_of_key(r));
    const char *name = text_of(r, JGF_NAME), *fault = name ? weir_text_fault(name, true) : NULL;

    d->name = text_of(r, JGF_TEMPLATE);
    if (fault && !d->name)
        return bad_field(r, WEIR_EINVAL, JGF_NAME, "this text %s", fault);
    if (!d->name)
        d->name = name || given ? name : tail_of_path(r);
    d->id = number_or(r, JGF_ID, WEIR_NO_ID);
    if (d->id == -1 && !r->node.number[JGF_NEGATIVE])
        d->id = WEIR_NO_ID;
    if (!given && d->name)
        d->id = id_of_name(d->name, strcmp(d->type, "node") == 0 ? NULL : d->basename);
    else if (!given && uniq >= 0)
        d->id = uniq;
    if (d->name && is_derived(d->name, d->basename, d->id))
        d->name = NULL;
    return WEIR_OK;
}

static int check_texts(const struct jgf *r)
{
    static const int names[] = {JGF_TYPE, JGF_BASENAME, JGF_TEMPLATE};

    if (!text_of(r, JGF_TYPE))
        return bad_field(r, WEIR_EINVAL, JGF_TYPE, "is missing or empty");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = text_of(r, names[i]), *fault = text ? weir_text_fault(text, true) : NULL;
        if (fault)
            return bad_field(r, WEIR_EINVAL, names[i], "this text %s", fault);
    }
    return WEIR_OK;
}

static int describe(const struct jgf *r, weir_pool_desc *d)
{
    int rc = check_texts(r);

    if (rc < 0)
        return rc;
    d->type = text_of(r, JGF_TYPE);
    d->basename = text_of(r, JGF_BASENAME);
    if (!d->basename)
        d->basename = d->type;
    d->unit = text_of(r, JGF_UNIT);
    d->size = number_or(r, JGF_SIZE, 1);
    d->rank = number_or(r, JGF_RANK, WEIR_NO_RANK);
    d->exclusive = r->node.number[JGF_WHOLE];
    return name_node(r, d);
}

/* ---- the item ------------------------------------------------------------------------------------------------- */

static int set_state(const struct jgf *r, struct jgf_item *it)
{
    const char *text = text_of(r, JGF_STATE);
    int state = text ? weir_state_parse(text) : (int)number_or(r, JGF_STATUS, WEIR_UP);

    if (state < 0)
        return bad_field(r, WEIR_EINVAL, JGF_STATE, "\"%.64s\" is no state", text);
    it->state = (uint8_t)state;
    return WEIR_OK;
}

int weir_jgf_reach_uuids(struct jgf *r, uint32_t n)
{
    if (n <= r->nuuids)
        return WEIR_OK;
    if (weir_jgf_reserve(r, &r->uuids, &r->uuids_cap, n, sizeof *r->uuids) < 0)
        return weir_fail_nomem(r->err);
    memset(r->uuids[r->nuuids], 0, (n - r->nuuids) * sizeof *r->uuids);
    r->nuuids = n;
    return WEIR_OK;
}

static int set_uuid(struct jgf *r, uint32_t item)
{
    const char *text = text_of(r, JGF_UUID);

    if (!text)
        return WEIR_OK;
    if (weir_jgf_reach_uuids(r, item + 1) < 0)
        return WEIR_ENOMEM;
    if (!weir_uuid_parse(text, r->uuids[item]))
        return bad_field(r, WEIR_EINVAL, JGF_UUID,
                         "\"%.60s\" is not a UUID: expected 8-4-4-4-12 hexadecimal digits, not all 0", text);
    return WEIR_OK;
}

static int set_path(struct jgf *r, uint32_t item)
{
    const char *path = text_of(r, JGF_PATH), *slash = path ? strrchr(path, '/') : NULL;
    uint64_t above;

    if (!path)
        return WEIR_OK;
    if (weir_scratch_grow(&r->paths, &r->paths_cap, (size_t)item + 1, sizeof *r->paths) < 0)
        return weir_fail_nomem(r->err);
    if (item >= r->npaths) {
        memset(&r->paths[r->npaths], 0, (item + 1 - r->npaths) * sizeof *r->paths);
        r->npaths = item + 1;
    }
    above = hash_text(r->g->names.seed, path, slash ? (size_t)(slash - path) : 0);
    r->paths[item].own =
        (slash ? hash_text(above, slash, strlen(slash)) : hash_text(above, path, strlen(path))) | 1; /* 0: no path */
    r->paths[item].above = slash && slash > path ? above | 1 : 0;
    return WEIR_OK;
}

/* The pool of an item, for its own names, properties and the like; NULL: out of memory. */
static struct pool *pool_of_item(struct jgf *r, struct jgf_item *it)
{
    if (it->pool == WEIR_NONE)
        it->pool = weir_pool_new(r->g);
    if (it->pool != WEIR_NONE)
        return &r->g->pools[it->pool];
    weir_fail_nomem(r->err);
    return NULL;
}

static int set_kind(struct jgf *r, struct jgf_item *it, const weir_pool_desc *d)
{
    weir_err why = {0};
    int rc = weir_kind_add(r->g, d, &it->kind, &why);
    struct pool *p = rc == WEIR_OK && d->name ? pool_of_item(r, it) : NULL;

    if (rc == WEIR_OK && d->name) {
        weir_name name = p ? weir_strtab_add(&r->g->names, d->name, strlen(d->name)) : WEIR_NO_NAME;
        if (p)
            p->name = name;
        rc = name == WEIR_NO_NAME ? WEIR_ENOMEM : WEIR_OK;
    }
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    return rc < 0 ? weir_jgf_bad(r, rc, "nodes", r->nodes_seen, "", "%s", why.text) : WEIR_OK;
}

/* Reserves memory for exactly all entries of the node. */
static int reserve_maps(struct jgf *r, struct pool *p)
{
    uint32_t wanted[WEIR_EXTENDED + 1] = {0};

    for (uint32_t i = 0; i < r->node.nentries; i++)
        wanted[map_of(r->node.entries[i].field)]++;
    for (int m = 0; m <= WEIR_EXTENDED; m++)
        if (wanted[m] && weir_map_reserve(&p->maps[m], wanted[m] < WEIR_ENTRIES_MAX ? wanted[m] : WEIR_ENTRIES_MAX))
            return weir_fail_nomem(r->err);
    return WEIR_OK;
}

static int note_fault(struct jgf *r, struct jgf_item *it, int field, int fault)
{
    if (WEIR_ARRAY_ADD(r->faults, r->nfaults, r->faults_cap,
                       (struct jgf_fault){r->nodes_seen, (uint8_t)field, (uint8_t)fault}))
        return weir_fail_nomem(r->err);
    it->faulty = true;
    return WEIR_OK;
}

/* Sets the entries of the vertex, up to the first faulty entry. */
static int set_entries(struct jgf *r, struct jgf_item *it)
{
    struct pool *p = r->node.nentries ? pool_of_item(r, it) : NULL;

    if (r->node.nentries == 0)
        return WEIR_OK;
    if (!p || reserve_maps(r, p) < 0)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < r->node.nentries; i++) {
        const struct jgf_entry *e = &r->node.entries[i];
        int fault = e->fault, rc;
        if (fault && e->field == JGF_FOREIGN)
            continue; /* too long to be kept */
        rc = fault ? WEIR_OK : weir_map_set(r->g, p, map_of(e->field), e->key, e->value);
        if (rc == WEIR_ENOMEM)
            return weir_fail_nomem(r->err);
        if (rc < 0)
            fault = ENTRY_MANY;
        if (fault && e->field != JGF_FOREIGN)
            return note_fault(r, it, e->field, fault);
    }
    return WEIR_OK;
}

static int fill_item(struct jgf *r, uint32_t item)
{
    struct jgf_item *it = &r->items[item];
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    int rc = describe(r, &d);

    rc = rc ? rc : set_kind(r, it, &d);
    rc = rc ? rc : set_state(r, it);
    rc = rc ? rc : set_uuid(r, item);
    rc = rc ? rc : set_path(r, item);
    rc = rc ? rc : set_entries(r, it);
    if (rc < 0)
        return rc;
    it->id = d.id;
    it->has_rank = d.rank != WEIR_NO_RANK;
    it->rank = it->has_rank ? (uint32_t)d.rank : 0;
    it->owns_rank = it->has_rank && r->node.number[JGF_OWN_RANK];
    it->exclusive = r->node.number[JGF_EXCLUSIVE];
    it->detached = r->node.number[JGF_DETACHED];
    it->at = r->nodes_seen;
    it->described = true;
    return WEIR_OK;
}

static int finish_node(struct jgf *r)
{
    const char *key;
    uint32_t item;
    bool found;
    int rc;

    if (!r->node.has_key)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", r->nodes_seen, ".id", "is missing, expected a string");
    if (!r->node.has_data)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", r->nodes_seen, ".metadata", "is missing, expected an object");
    key = r->node.texts.data + r->node.key;
    rc = weir_jgf_item(r, key, strlen(key), &item, &found);
    if (rc < 0)
        return rc;
    if (found && r->items[item].described)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", r->nodes_seen, ".id",
                            "\"%.100s\" is taken by %s.nodes[%" PRIu32 "]", key, r->path, r->items[item].at);
    rc = fill_item(r, item);
    if (r->marks && (r->mark.names[0] = weir_strtab_add(&r->g->names, key, strlen(key))) == WEIR_NO_NAME)
        return weir_fail_nomem(r->err);
    return rc == WEIR_OK && r->on_node ? r->on_node(r, item) : rc;
}

static void start_node(struct jgf *r)
{
    struct jgf_node *n = &r->node;

    n->texts.len = 0;
    r->shares.len = 0;
    *n =
        (struct jgf_node){.texts = n->texts, .places = n->places, .entries = n->entries, .entries_cap = n->entries_cap};
}

int weir_jgf_node(struct jgf *r, int type)
{
    int rc = WEIR_OK;

    if (type != WEIR_JSON_OBJECT)
        return weir_jgf_bad_type(r, "nodes", r->nodes_seen, "", type, "an object");
    start_node(r);
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = read_member(r);
    if (rc < 0 || type < 0)
        return rc < 0 ? rc : type;
    return finish_node(r);
}
