/* rset_read.c - reads R version 1 (RFC 20) into a resource set.
 *
 * Ranks may be spread over R_lite in any order; the hosts of nodelist belong to the ranks in ascending order. Some
 * rules of RFC 20 are not enforced: a nodelist, cores on every rank, at least one rank (see rset_check.c). Keys inside
 * the entries of R_lite other than rank and children are not kept.
 *
 * The document is split by the streaming reader of JSON: the text of `scheduling`, which may be large, never
 * becomes a tree.
 *
 * Main invariant: the i-th of the raw classes is the i-th entry of R_lite.
 */
#include "format/input.h"
#include "format/json_read.h"
#include "request/request.h"
#include "rset/rset.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_MAX 9e12 /* a little below the end of int64_t microseconds */

struct rset_reader {
    const char *source;
    weir_err *err;
    const json_t *execution;
    weir_rset *r;
    struct rset_classes raw;
    struct rset_runs runs;
};

#define BAD(r, ...) weir_fail_at((r)->err, WEIR_EINVAL, (r)->source, 0, 0, __VA_ARGS__)

/* Reads the idset at `path`, the printf format of a place in the document. */
__attribute__((format(printf, 4, 5))) static int read_idset(const struct rset_reader *r, const json_t *value,
                                                            weir_idset **out, const char *path, ...)
{
    weir_err why = {0};
    char where[160];
    va_list ap;
    int rc;

    va_start(ap, path);
    weir_vtext(where, sizeof where, path, ap);
    va_end(ap);
    if (!json_is_string(value))
        return BAD(r, "%s: expected a string such as \"0-3,7\"", where);
    rc = weir_idset_parse(json_string_value(value), json_string_length(value), out, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc < 0)
        return weir_fail_at(r->err, rc, r->source, 0, 0, "%s: \"%.64s\": %s", where, json_string_value(value),
                            why.text);
    return WEIR_OK;
}

/* ---- R_lite ----------------------------------------------------------------------------------------------------- */

static int read_child(struct rset_reader *r, uint32_t i, const char *type, const json_t *text)
{
    const char *fault = weir_text_fault(type, true);
    weir_idset *ids = NULL;
    int rc;

    if (fault)
        return BAD(r, "execution.R_lite[%" PRIu32 "].children: the type \"%.64s\" %s", i, type, fault);
    rc = read_idset(r, text, &ids, "execution.R_lite[%" PRIu32 "].children.%.64s", i, type);
    if (rc < 0)
        return rc;
    if (weir_idset_count(ids) > 0)
        return weir_rset_add_child(&r->raw.list[i], type, ids) == WEIR_OK ? WEIR_OK : weir_fail_nomem(r->err);
    weir_idset_free(ids);
    return WEIR_OK;
}

static int read_children(struct rset_reader *r, uint32_t i, json_t *children)
{
    int rc = WEIR_OK;

    if (!json_is_object(children))
        return BAD(r, "execution.R_lite[%" PRIu32 "].children: expected an object such as {\"core\": \"0-3\"}", i);
    if (json_object_size(children) > WEIR_RSET_TYPES)
        return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0,
                            "execution.R_lite[%" PRIu32 "].children: more than %d types", i, WEIR_RSET_TYPES);
    for (void *it = json_object_iter(children); rc == WEIR_OK && it; it = json_object_iter_next(children, it))
        rc = read_child(r, i, json_object_iter_key(it), json_object_iter_value(it));
    return rc;
}

static int read_entry(struct rset_reader *r, uint32_t i, const json_t *data)
{
    weir_idset *ranks = NULL;
    int rc;

    if (!json_is_object(data))
        return BAD(r, "execution.R_lite[%" PRIu32 "]: expected an object with rank and children", i);
    rc = read_idset(r, json_object_get(data, "rank"), &ranks, "execution.R_lite[%" PRIu32 "].rank", i);
    if (rc < 0)
        return rc;
    r->raw.list[i].ranks = ranks;
    if (weir_idset_count(ranks) == 0)
        return BAD(r, "execution.R_lite[%" PRIu32 "].rank: is empty, expected a rank", i);
    if (weir_rset_runs_add(&r->runs, ranks, i) < 0)
        return weir_fail_nomem(r->err);
    return read_children(r, i, json_object_get(data, "children"));
}

/* Fails if a rank is in two entries. */
static int check_ranks(const struct rset_reader *r, const json_t *list)
{
    for (uint32_t k = 1; k < r->runs.count; k++) {
        const struct rset_run *a = &r->runs.list[k - 1], *b = &r->runs.list[k];
        uint32_t i = a->class > b->class ? a->class : b->class;
        if (b->lo <= a->hi)
            return BAD(r, "execution.R_lite[%" PRIu32 "].rank: \"%.64s\" has a rank that an earlier entry has", i,
                       json_string_value(json_object_get(json_array_get(list, i), "rank")));
    }
    return WEIR_OK;
}

static int read_rlite(struct rset_reader *r)
{
    const json_t *list = json_object_get(r->execution, "R_lite");
    size_t n = json_array_size(list);
    int rc = WEIR_OK;

    if (!json_is_array(list))
        return BAD(r, "execution.R_lite: expected an array of {\"rank\": ..., \"children\": ...}");
    r->raw.list = weir_mem_zalloc(n + 1, sizeof *r->raw.list);
    if (!r->raw.list)
        return weir_fail_nomem(r->err);
    while (rc == WEIR_OK && r->raw.count < n) {
        uint32_t i = r->raw.count++;
        rc = read_entry(r, i, json_array_get(list, i));
    }
    if (rc < 0)
        return rc;
    weir_rset_sort_runs(&r->runs);
    rc = check_ranks(r, list);
    return rc < 0 ? rc : weir_rset_settle(r->r, &r->raw, &r->runs, r->err);
}

/* ---- hosts ------------------------------------------------------------------------------------------------------ */

static int append_hosts(struct rset_reader *r, weir_hostlist *hosts, size_t i, const json_t *text)
{
    weir_err why = {0};
    int rc;

    if (!json_is_string(text))
        return BAD(r, "execution.nodelist[%zu]: expected a string such as \"node[0-3]\"", i);
    rc = weir_hostlist_append(hosts, json_string_value(text), json_string_length(text), &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc < 0)
        return weir_fail_at(r->err, rc, r->source, 0, 0, "execution.nodelist[%zu]: \"%.64s\": %s", i,
                            json_string_value(text), why.text);
    return WEIR_OK;
}

/* Gives the set its hosts. Takes ownership of the hosts, also on failure. */
static int set_hosts(struct rset_reader *r, weir_hostlist *hosts)
{
    uint64_t nhosts = weir_hostlist_count(hosts), nranks = weir_idset_count(r->r->ranks);
    weir_idset *ranks = NULL;

    if (nhosts != nranks || nranks == 0 || weir_idset_copy(r->r->ranks, &ranks) < 0) {
        weir_hostlist_free(hosts);
        if (nhosts != nranks)
            return BAD(r, "execution.nodelist: names %" PRIu64 " hosts, but R_lite has %" PRIu64 " ranks", nhosts,
                       nranks);
        return nranks == 0 ? WEIR_OK : weir_fail_nomem(r->err);
    }
    r->r->hosts = weir_rset_hosts_new(ranks, hosts);
    return r->r->hosts ? WEIR_OK : weir_fail_nomem(r->err);
}

static int read_hosts(struct rset_reader *r)
{
    const json_t *list = json_object_get(r->execution, "nodelist");
    weir_hostlist *hosts;
    int rc = WEIR_OK;

    if (!list || json_is_null(list))
        return WEIR_OK;
    if (!json_is_array(list))
        return BAD(r, "execution.nodelist: expected an array of host lists");
    hosts = weir_hostlist_new();
    if (!hosts)
        return weir_fail_nomem(r->err);
    for (size_t i = 0; rc == WEIR_OK && i < json_array_size(list); i++)
        rc = append_hosts(r, hosts, i, json_array_get(list, i));
    if (rc == WEIR_OK)
        return set_hosts(r, hosts);
    weir_hostlist_free(hosts);
    return rc;
}

/* ---- properties ------------------------------------------------------------------------------------------------- */

static int read_property(struct rset_reader *r, const char *name, const json_t *value)
{
    weir_idset *ranks = NULL;
    char fault[160];
    int rc;

    if (weir_rset_name_fault(name, fault))
        return BAD(r, "execution.properties: %s", fault);
    rc = read_idset(r, value, &ranks, "execution.properties.%.64s", name);
    if (rc < 0)
        return rc;
    if (weir_idset_count(ranks) > 0 && weir_idset_contains(r->r->ranks, ranks))
        return weir_rset_add_property(r->r, name, ranks) == WEIR_OK ? WEIR_OK : weir_fail_nomem(r->err);
    if (weir_idset_count(ranks) > 0)
        rc = BAD(r, "execution.properties.%.64s: \"%.64s\" has a rank that R_lite does not have", name,
                 json_string_value(value));
    weir_idset_free(ranks);
    return rc;
}

static int read_properties(struct rset_reader *r)
{
    json_t *all = json_object_get(r->execution, "properties");
    int rc = WEIR_OK;

    if (all && !json_is_object(all) && !json_is_null(all))
        return BAD(r, "execution.properties: expected an object such as {\"big\": \"0-3\"}");
    for (void *it = json_object_iter(all); rc == WEIR_OK && it; it = json_object_iter_next(all, it))
        rc = read_property(r, json_object_iter_key(it), json_object_iter_value(it));
    return rc;
}

/* ---- times, slots, other keys ----------------------------------------------------------------------------------- */

static int read_time(struct rset_reader *r, const char *key, int64_t *us, bool *has)
{
    const json_t *value = json_object_get(r->execution, key);
    double seconds = json_number_value(value);

    if (!value || json_is_null(value))
        return WEIR_OK;
    if (!json_is_number(value))
        return BAD(r, "execution.%s: expected a number of seconds", key);
    if (!(fabs(seconds) <= SECONDS_MAX))
        return BAD(r, "execution.%s: %g seconds are more than 9e12", key, seconds);
    *us = json_is_integer(value) ? json_integer_value(value) * 1000000 : (int64_t)llround(seconds * 1e6);
    *has = true;
    return WEIR_OK;
}

static int read_times(struct rset_reader *r)
{
    int rc = read_time(r, "starttime", &r->r->start, &r->r->has_start);

    rc = rc ? rc : read_time(r, "expiration", &r->r->end, &r->r->has_end);
    return rc < 0 ? rc : weir_rset_check_times(r->r, r->source, r->err);
}

static int read_nslots(struct rset_reader *r)
{
    const json_t *value = json_object_get(r->execution, "nslots");

    if (!value || json_is_null(value))
        return WEIR_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > UINT32_MAX)
        return BAD(r, "execution.nslots: expected a number of slots from 1 on");
    r->r->nslots = (uint32_t)json_integer_value(value);
    return WEIR_OK;
}

/* Copies the keys of an object that are not in a list to a new object; *out is NULL if there are none. */
static int other_keys(const struct rset_reader *r, json_t *object, const char *const *known, json_t **out)
{
    for (void *it = json_object_iter(object); it; it = json_object_iter_next(object, it)) {
        const char *const *k = known;
        while (*k && strcmp(*k, json_object_iter_key(it)) != 0)
            k++;
        if (*k)
            continue;
        if (!*out && !(*out = json_object()))
            return weir_fail_nomem(r->err);
        if (json_object_set_nocheck(*out, json_object_iter_key(it), json_object_iter_value(it)) < 0)
            return weir_fail_nomem(r->err);
    }
    return WEIR_OK;
}

static int read_execution(struct rset_reader *r, json_t *execution)
{
    static const char *const known[] = {"R_lite", "nodelist", "properties", "nslots", "starttime", "expiration", NULL};
    int rc;

    r->execution = execution;
    rc = read_rlite(r);

    rc = rc ? rc : read_hosts(r);
    rc = rc ? rc : read_properties(r);
    rc = rc ? rc : read_nslots(r);
    rc = rc ? rc : read_times(r);
    return rc < 0 ? rc : other_keys(r, execution, known, &r->r->execution);
}

/* ---- the document ----------------------------------------------------------------------------------------------- */

/* A document split into parts: `scheduling`, which may be large, stays a text. */
struct rset_document {
    json_t *members; /* all further keys */
    int scheduling;  /* type of the value, an enum weir_json_type; WEIR_JSON_END: no such key */
    weir_buf text;   /* of the value of `scheduling` */
    weir_buf writer; /* scheduling.writer */
    int writer_type; /* likewise; WEIR_JSON_END: no such key */
    bool graph;      /* `scheduling` has the key `graph` */
    weir_json *json;
    const char *source;
    weir_err *err;
};

/* Reads `scheduling` for its writer, and records its text. */
static int open_scheduling(struct rset_document *d)
{
    int type, rc = WEIR_OK;

    weir_json_record(d->json, &d->text);
    type = d->scheduling = weir_json_next(d->json);
    if (type != WEIR_JSON_OBJECT)
        return weir_json_skip(d->json, type);
    while (rc == WEIR_OK && (type = weir_json_next(d->json)) == WEIR_JSON_KEY) {
        bool writer = strcmp(weir_json_text(d->json, NULL), "writer") == 0;
        d->graph |= strcmp(weir_json_text(d->json, NULL), "graph") == 0;
        type = weir_json_next(d->json);
        if (writer)
            d->writer_type = type;
        if (writer && type == WEIR_JSON_STRING)
            weir_buf_puts(&d->writer, weir_json_text(d->json, NULL));
        rc = weir_json_skip(d->json, type);
    }
    if (rc == WEIR_OK && type >= 0)
        rc = weir_json_recorded(d->json, 0);
    if (rc == WEIR_OK && type >= 0)
        weir_json_compact(&d->text);
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* Reads the value of a key other than `scheduling`. */
static int open_value(struct rset_document *d, const char *key)
{
    weir_buf text = {0};
    json_error_t what;
    json_t *value = NULL;
    int rc = weir_json_capture(d->json, &text);

    if (rc >= 0)
        value = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &what);
    if (rc >= 0 && !value && !weir_json_starved(&what))
        rc = weir_fail_at(d->err, WEIR_EPARSE, d->source, 0, 0, "%.64s: %s", key, what.text);
    else if (rc >= 0)
        rc = json_object_set_new(d->members, key, value) == 0 ? WEIR_OK : weir_fail_nomem(d->err);
    weir_buf_free(&text);
    return rc;
}

static int open_member(struct rset_document *d)
{
    char *key = weir_mem_strdup(weir_json_text(d->json, NULL));
    bool scheduling = key && strcmp(key, "scheduling") == 0;
    int rc;

    if (!key)
        return weir_fail_nomem(d->err);
    if (scheduling ? d->scheduling != WEIR_JSON_END : json_object_get(d->members, key) != NULL)
        rc = weir_fail_at(d->err, WEIR_EPARSE, d->source, 0, 0, "%.64s: is given twice", key);
    else
        rc = scheduling ? open_scheduling(d) : open_value(d, key);
    weir_mem_free(key);
    return rc;
}

/* Splits a text into parts. close_document() is needed even on failure. */
static int open_document(struct rset_document *d, const char *text, size_t len)
{
    const struct weir_input in = {.text = text, .len = len};
    int type, rc = WEIR_OK;

    d->members = json_object();
    d->json = weir_json_open(&in, d->source, d->err);
    if (!d->members || !d->json)
        return weir_fail_nomem(d->err);
    type = weir_json_next(d->json);
    if (type >= 0 && type != WEIR_JSON_OBJECT)
        return weir_fail_at(d->err, WEIR_EPARSE, d->source, 0, 0, "expected an object, such as {\"graph\": ...}");
    while (rc == WEIR_OK && type >= 0 && (type = weir_json_next(d->json)) == WEIR_JSON_KEY)
        rc = open_member(d);
    if (rc == WEIR_OK && type >= 0)
        type = weir_json_next(d->json); /* only the end may follow */
    return rc == WEIR_OK && type < 0 ? type : rc;
}

static void close_document(struct rset_document *d)
{
    weir_json_close(d->json);
    json_decref(d->members);
    weir_buf_free(&d->text);
    weir_buf_free(&d->writer);
}

/* Gives the set the text of `scheduling`. A value without a graph is checked: its operations need the value. */
static int read_scheduling(struct rset_reader *r, struct rset_document *d)
{
    struct rset_scheduling content = {.text = d->text.data, .writer = d->writer.data, .graph = d->graph};
    json_t *value = NULL;
    int rc;

    if (d->scheduling == WEIR_JSON_END || d->scheduling == WEIR_JSON_NULL)
        return WEIR_OK;
    if (d->scheduling != WEIR_JSON_OBJECT)
        return BAD(r, "scheduling: expected an object such as {\"graph\": ...}");
    if (d->writer_type != WEIR_JSON_END && d->writer_type != WEIR_JSON_STRING)
        return BAD(r, "scheduling.writer: expected a string, such as \"fluxion\"");
    if (d->writer.failed)
        return weir_fail_nomem(r->err);
    d->text = (weir_buf){0};
    r->r->scheduling = weir_rset_scheduling_new(&content, &r->r->classes);
    if (!r->r->scheduling)
        return weir_fail_nomem(r->err);
    rc = weir_rset_has_graph(r->r) ? WEIR_OK : weir_rset_scheduling_json(r->r->scheduling, r->source, &value, r->err);
    json_decref(value);
    return rc;
}

static int read_document(struct rset_reader *r, struct rset_document *d)
{
    static const char *const known[] = {"version", "execution", NULL};
    const json_t *version = json_object_get(d->members, "version");
    json_t *execution = json_object_get(d->members, "execution");
    int rc = WEIR_OK;

    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return BAD(r, "version: expected 1");
    if (execution && !json_is_object(execution))
        return BAD(r, "execution: expected an object with R_lite and nodelist");
    if (!execution && (d->scheduling == WEIR_JSON_END || d->scheduling == WEIR_JSON_NULL))
        return BAD(r, "neither execution nor scheduling.graph is there");
    if (execution)
        rc = read_execution(r, execution);
    rc = rc ? rc : read_scheduling(r, d);
    return rc < 0 ? rc : other_keys(r, d->members, known, &r->r->document);
}

/* Reads the document, or else the value of `execution`, and passes the set to the caller. */
static int read_set(struct rset_document *d, const json_t *execution, const char *source, weir_rset **out,
                    weir_err *err)
{
    struct rset_reader r = {.source = source, .err = err, .r = weir_rset_new()};
    int rc;

    if (!r.r)
        return weir_fail_nomem(err);
    rc = d ? read_document(&r, d) : read_execution(&r, (json_t *)(uintptr_t)execution);
    weir_rset_classes_clear(&r.raw);
    weir_mem_free(r.runs.list);
    if (rc == WEIR_OK)
        *out = r.r;
    else
        weir_rset_free(r.r);
    return rc;
}

int weir_rset_from_execution(const json_t *execution, const char *source, weir_rset **out, weir_err *err)
{
    return read_set(NULL, execution, source, out, err);
}

/* Makes the set of a document that has only scheduling: the graph of scheduling gives R_lite. */
static int derive(weir_rset *r, const char *source, weir_rset **out, weir_err *err)
{
    weir_graph *g = NULL;
    int rc = weir_rset_build(r, source, &g, err);

    rc = rc ? rc : weir_graph_rset(g, WEIR_RSET_ALL, false, out, err);
    weir_graph_free(g);
    if (rc < 0)
        return rc;
    (*out)->document = json_incref(r->document);
    rc = weir_rset_scheduling_give(*out, r, weir_mem_strdup(r->scheduling->text), err);
    if (rc == WEIR_OK)
        return WEIR_OK;
    weir_rset_free(*out);
    *out = NULL;
    return rc;
}

int weir_rset_parse(const char *text, size_t len, const char *source, weir_rset **out, weir_err *err)
{
    struct rset_document d = {.source = source, .err = err};
    weir_rset *r = NULL;
    int rc = open_document(&d, text, len);

    rc = rc ? rc : read_set(&d, NULL, source, &r, err);
    if (rc == WEIR_OK && !json_object_get(d.members, "execution")) {
        rc = derive(r, source, out, err);
        weir_rset_free(r);
    } else if (rc == WEIR_OK) {
        *out = r;
    }
    close_document(&d);
    if (rc < 0)
        weir_err_source(err, source);
    return rc;
}

int weir_rset_load(const char *path, weir_rset **out, weir_err *err)
{
    char *text;
    size_t len;
    int rc = weir_file_read(path, "an R", WEIR_MACHINE_MAX, &text, &len, err);

    if (rc < 0)
        return rc;
    rc = weir_rset_parse(text, len, strcmp(path, "-") == 0 ? "<stdin>" : path, out, err);
    weir_mem_free(text);
    return rc;
}
