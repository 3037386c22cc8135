/* rset_faults.c - all faults of a text by the rules of RFC 20, each with its place. The reader takes what can be
 * understood and stops at the first error; here every SHALL and MUST of the text counts, and none hides another.
 * Invariant: only memory ends the search; a value of a wrong type is a fault, and nothing inside such a value is looked
 * at.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/strtab.h"
#include "request/request.h"
#include "rset/rset.h"

struct weir_faults {
    weir_fault *list;
    uint32_t n, cap, most;
    bool starved;
};

struct checking {
    struct weir_faults *f;
    weir_idset *ranks; /* of R_lite */
    uint64_t hosts;    /* in the nodelist */
    bool lite, nodes;  /* R_lite and nodelist have no fault that hides their numbers */
};

#define PLACE 200

/* Adds a fault; further faults than the most are left out. */
static void WEIR_PRINTF(3, 4) fault(struct checking *c, const char *place, const char *fmt, ...)
{
    struct weir_faults *f = c->f;
    va_list args;
    char text[300];

    if (f->n >= f->most || f->starved)
        return;
    if (weir_array_reserve(&f->list, &f->cap, (size_t)f->n + 1, sizeof *f->list)) {
        f->starved = true;
        return;
    }
    va_start(args, fmt);
    weir_vtext(text, sizeof text, fmt, args);
    va_end(args);
    f->list[f->n] = (weir_fault){weir_mem_strdup(place), weir_mem_strdup(text)};
    f->starved = !f->list[f->n].place || !f->list[f->n].text;
    f->n++;
}

/* Reports a key that is missing. Returns the value, NULL where missing. */
static const json_t *wanted(struct checking *c, const json_t *object, const char *place, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!value)
        fault(c, place, "the key \"%s\" is missing", key);
    return value;
}

static bool is_object(struct checking *c, const json_t *value, const char *place)
{
    if (value && !json_is_object(value))
        fault(c, place, "expected a dictionary");
    return json_is_object(value);
}

/* Reads an idset; NULL: the value is none, which is reported. */
static weir_idset *read_ids(struct checking *c, const json_t *value, const char *place)
{
    weir_idset *ids = NULL;
    weir_err why = {0};

    if (!value)
        return NULL;
    if (!json_is_string(value)) {
        fault(c, place, "expected a string with an idset, such as \"0-3,7\"");
        return NULL;
    }
    if (weir_idset_parse(json_string_value(value), json_string_length(value), &ids, &why) < 0) {
        c->f->starved |= why.code == WEIR_ENOMEM;
        fault(c, place, "\"%.64s\" is no idset: %s", json_string_value(value), why.text);
    }
    return ids;
}

/* ---- execution -------------------------------------------------------------------------------------------------- */

static void check_ranks(struct checking *c, weir_idset *ranks, const char *place)
{
    int64_t id = ranks ? weir_idset_first(ranks) : -1;

    if (!ranks)
        c->lite = false;
    else if (id < 0)
        fault(c, place, "names no rank");
    for (; id >= 0; id = weir_idset_next(ranks, id)) {
        if (weir_idset_count(c->ranks) >= WEIR_RSET_RANKS) {
            fault(c, place, "more than %u ranks", WEIR_RSET_RANKS);
            c->lite = false;
            return;
        }
        if (weir_idset_test(c->ranks, (uint32_t)id)) {
            fault(c, place, "rank %" PRId64 " is in an earlier entry, too", id);
            return;
        }
        c->f->starved |= weir_idset_add_id(c->ranks, (uint32_t)id) < 0;
    }
}

static void check_children(struct checking *c, const json_t *children, const char *entry)
{
    static const char *const types[] = {"core", "gpu"};
    char place[PLACE], below[PLACE + 8];

    snprintf(place, sizeof place, "%.150s.children", entry);
    if (!is_object(c, children, place))
        return;
    wanted(c, children, place, "core");
    for (size_t i = 0; i < 2; i++) {
        snprintf(below, sizeof below, "%s.%s", place, types[i]);
        weir_idset_free(read_ids(c, json_object_get(children, types[i]), below));
    }
}

static void check_rlite(struct checking *c, const json_t *list)
{
    char place[PLACE], rank[PLACE];

    c->lite = json_is_array(list);
    if (list && !c->lite)
        fault(c, "execution.R_lite", "expected a list of dictionaries");
    if (c->lite && json_array_size(list) == 0)
        fault(c, "execution.R_lite", "is empty");
    for (size_t i = 0; i < json_array_size(list) && !c->f->starved; i++) {
        const json_t *entry = json_array_get(list, i);
        weir_idset *ranks;
        snprintf(place, sizeof place, "execution.R_lite[%zu]", i);
        snprintf(rank, sizeof rank, "execution.R_lite[%zu].rank", i);
        if (!is_object(c, entry, place)) {
            c->lite = false;
            continue;
        }
        ranks = read_ids(c, wanted(c, entry, place, "rank"), rank);
        check_ranks(c, ranks, rank);
        weir_idset_free(ranks);
        check_children(c, wanted(c, entry, place, "children"), place);
    }
}

/* Reports the first host that a list has twice. */
static void check_twice(struct checking *c, weir_hostlist *hosts)
{
    char name[WEIR_NAME_MAX + 1];
    uint64_t n = weir_hostlist_count(hosts);

    c->f->starved |= weir_hostlist_index(hosts) < 0;
    for (uint64_t i = 0; i < n && n <= WEIR_RSET_RANKS && !c->f->starved; i++) {
        weir_hostlist_nth(hosts, i, name, sizeof name);
        if (weir_hostlist_find(hosts, name, strlen(name)) != (int64_t)i) {
            fault(c, "execution.nodelist", "the host \"%.64s\" is there twice", name);
            return;
        }
    }
}

static void check_nodelist(struct checking *c, const json_t *list)
{
    weir_hostlist *hosts = weir_hostlist_new();
    char place[PLACE];

    c->nodes = json_is_array(list);
    c->f->starved |= !hosts;
    if (list && !c->nodes)
        fault(c, "execution.nodelist", "expected a list of strings");
    for (size_t i = 0; i < json_array_size(list) && !c->f->starved; i++) {
        const json_t *text = json_array_get(list, i);
        weir_err why = {0};
        int rc = json_is_string(text)
                     ? weir_hostlist_append(hosts, json_string_value(text), json_string_length(text), &why)
                     : WEIR_EINVAL;
        snprintf(place, sizeof place, "execution.nodelist[%zu]", i);
        c->f->starved |= rc == WEIR_ENOMEM;
        c->nodes &= rc >= 0;
        if (!json_is_string(text))
            fault(c, place, "expected a string with hosts, such as \"node[0-3]\"");
        else if (rc < 0)
            fault(c, place, "\"%.64s\" is no hostlist: %s", json_string_value(text), why.text);
    }
    c->hosts = hosts ? weir_hostlist_count(hosts) : 0;
    if (hosts && c->nodes)
        check_twice(c, hosts);
    weir_hostlist_free(hosts);
}

static void check_properties(struct checking *c, const json_t *map)
{
    const char *name;
    const json_t *value;
    char place[PLACE], why[160];

    if (!is_object(c, map, "execution.properties"))
        return;
    json_object_foreach((json_t *)(uintptr_t)map, name, value)
    {
        weir_idset *ids;
        snprintf(place, sizeof place, "execution.properties.%.64s", name);
        if (weir_rset_name_fault(name, why))
            fault(c, "execution.properties", "%s", why);
        ids = read_ids(c, value, place);
        for (int64_t id = ids ? weir_idset_first(ids) : -1; id >= 0 && c->lite; id = weir_idset_next(ids, id))
            if (!weir_idset_test(c->ranks, (uint32_t)id)) {
                fault(c, place, "rank %" PRId64 " is not in R_lite", id);
                break;
            }
        weir_idset_free(ids);
    }
}

/* Reads a time in seconds; 0 where not set or no time. */
static double check_time(struct checking *c, const json_t *execution, const char *key)
{
    const json_t *value = json_object_get(execution, key);
    char place[PLACE];

    snprintf(place, sizeof place, "execution.%s", key);
    if (value && !json_is_number(value))
        fault(c, place, "expected a number of seconds since 1970");
    else if (value && json_number_value(value) < 0)
        fault(c, place, "is before 1970");
    return json_number_value(value) > 0 ? json_number_value(value) : 0;
}

static void check_execution(struct checking *c, const json_t *execution)
{
    double start, stop;

    if (!is_object(c, execution, "execution"))
        return;
    check_rlite(c, wanted(c, execution, "execution", "R_lite"));
    check_nodelist(c, wanted(c, execution, "execution", "nodelist"));
    if (c->lite && c->nodes && c->hosts != weir_idset_count(c->ranks))
        fault(c, "execution.nodelist", "names %" PRIu64 " hosts, but R_lite has %" PRIu64 " ranks", c->hosts,
              weir_idset_count(c->ranks));
    check_properties(c, json_object_get(execution, "properties"));
    start = check_time(c, execution, "starttime");
    stop = check_time(c, execution, "expiration");
    if (start > 0 && stop > 0 && stop <= start)
        fault(c, "execution.expiration", "is not after the starttime");
}

/* ---- scheduling ------------------------------------------------------------------------------------------------- */

/* The base data of a pool (RFC 4), which metadata of a vertex must have. */
static const struct {
    const char *key, *type;
} base_data[] = {{"type", "a string"}, {"uuid", "a string"},           {"basename", "a string"}, {"name", "a string"},
                 {"id", "an integer"}, {"properties", "a dictionary"}, {"size", "an integer"},   {"unit", "a string"}};

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(type, "a string") == 0     ? json_is_string(value)
           : strcmp(type, "an integer") == 0 ? json_is_integer(value)
                                             : json_is_object(value);
}

/* Whether an id is the id of an earlier vertex. */
static bool has_id(const struct weir_strtab *ids, const json_t *id)
{
    return weir_strtab_find(ids, json_string_value(id), json_string_length(id)) != WEIR_NO_NAME;
}

static void check_vertex(struct checking *c, const json_t *vertex, const char *place, struct weir_strtab *ids)
{
    char below[PLACE + 16];
    const json_t *id, *metadata;

    if (!is_object(c, vertex, place))
        return;
    id = wanted(c, vertex, place, "id");
    metadata = wanted(c, vertex, place, "metadata");
    snprintf(below, sizeof below, "%s.id", place);
    if (id && !json_is_string(id)) {
        fault(c, below, "expected a string");
    } else if (id) {
        if (has_id(ids, id))
            fault(c, below, "\"%.64s\" is the id of an earlier vertex, too", json_string_value(id));
        c->f->starved |= weir_strtab_add(ids, json_string_value(id), json_string_length(id)) == WEIR_NO_NAME;
    }
    snprintf(below, sizeof below, "%s.metadata", place);
    if (!is_object(c, metadata, below))
        return;
    for (size_t i = 0; i < sizeof base_data / sizeof *base_data; i++) {
        const json_t *value = wanted(c, metadata, below, base_data[i].key);
        if (value && !has_type(value, base_data[i].type))
            fault(c, below, "%s: expected %s", base_data[i].key, base_data[i].type);
    }
}

static void check_end(struct checking *c, const json_t *edge, const char *place, const char *key,
                      const struct weir_strtab *ids)
{
    const json_t *value = wanted(c, edge, place, key);

    if (value && !json_is_string(value))
        fault(c, place, "%s: expected a string", key);
    else if (value && !has_id(ids, value))
        fault(c, place, "%s: there is no vertex \"%.64s\"", key, json_string_value(value));
}

static void check_edge(struct checking *c, const json_t *edge, const char *place, const struct weir_strtab *ids)
{
    static const char *const keys[] = {"subsystem", "relationship"};
    const json_t *metadata;
    char below[PLACE + 16];

    if (!is_object(c, edge, place))
        return;
    check_end(c, edge, place, "source", ids);
    check_end(c, edge, place, "target", ids);
    metadata = wanted(c, edge, place, "metadata");
    snprintf(below, sizeof below, "%s.metadata", place);
    if (!is_object(c, metadata, below))
        return;
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = wanted(c, metadata, below, keys[i]);
        if (value && !json_is_string(value))
            fault(c, below, "%s: expected a string", keys[i]);
    }
}

/* Checks the lists of a graph. */
static void check_lists(struct checking *c, const json_t *graph)
{
    static const char *const keys[] = {"nodes", "edges"};
    struct weir_strtab ids = {0};
    char place[PLACE];

    for (int k = 0; k < 2; k++) {
        const json_t *list = wanted(c, graph, "scheduling.graph", keys[k]);
        snprintf(place, sizeof place, "scheduling.graph.%s", keys[k]);
        if (list && !json_is_array(list))
            fault(c, place, "expected a list");
        for (size_t i = 0; json_is_array(list) && i < json_array_size(list) && !c->f->starved; i++) {
            snprintf(place, sizeof place, "scheduling.graph.%s[%zu]", keys[k], i);
            if (k == 0)
                check_vertex(c, json_array_get(list, i), place, &ids);
            else
                check_edge(c, json_array_get(list, i), place, &ids);
        }
    }
    weir_strtab_clear(&ids);
}

static void check_scheduling(struct checking *c, const json_t *scheduling)
{
    const json_t *graph;

    if (!is_object(c, scheduling, "scheduling"))
        return;
    graph = wanted(c, scheduling, "scheduling", "graph");
    if (is_object(c, graph, "scheduling.graph"))
        check_lists(c, graph);
}

/* ---- the document ----------------------------------------------------------------------------------------------- */

static void check_attributes(struct checking *c, const json_t *attributes)
{
    const json_t *system;

    if (!is_object(c, attributes, "attributes"))
        return;
    system = wanted(c, attributes, "attributes", "system");
    if (is_object(c, system, "attributes.system"))
        is_object(c, json_object_get(system, "scheduler"), "attributes.system.scheduler");
}

static void check_document(struct checking *c, const json_t *root)
{
    static const char *const keys[] = {"version", "execution", "scheduling", "attributes"};
    const json_t *version, *value;
    const char *key;

    if (!is_object(c, root, ""))
        return;
    json_object_foreach((json_t *)(uintptr_t)root, key, value)
    {
        size_t i = 0;
        while (i < 4 && strcmp(keys[i], key) != 0)
            i++;
        if (i == 4)
            fault(c, "", "the key \"%.64s\" is none of version, execution, scheduling and attributes", key);
    }
    version = wanted(c, root, "", "version");
    if (version && !(json_is_integer(version) && json_integer_value(version) == 1))
        fault(c, "version", "expected 1");
    if (!json_object_get(root, "execution") && !json_object_get(root, "scheduling"))
        fault(c, "", "neither execution nor scheduling is there");
    check_execution(c, json_object_get(root, "execution"));
    check_scheduling(c, json_object_get(root, "scheduling"));
    check_attributes(c, json_object_get(root, "attributes"));
}

/* Reports the faults that the reader alone detects, such as a cycle, or a core of R_lite missing in the graph. */
static void check_reading(struct checking *c, const char *text, size_t len)
{
    weir_rset *r = NULL;
    weir_err why = {0};

    if (weir_rset_parse(text, len, NULL, &r, &why) < 0 || weir_rset_check_graph(r, &why) < 0) {
        c->f->starved |= why.code == WEIR_ENOMEM;
        fault(c, "", "%s", why.text);
    }
    weir_rset_free(r);
}

int weir_rset_check(const char *text, size_t len, uint32_t most, weir_faults **out, weir_err *err)
{
    weir_idset *ranks = weir_idset_new();
    struct checking c = {.f = weir_mem_zalloc(1, sizeof *c.f), .ranks = ranks};
    json_error_t what;
    json_t *root = NULL;

    if (c.f && ranks) {
        c.f->most = most;
        root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &what);
        c.f->starved = !root && weir_json_starved(&what);
        if (!root)
            fault(&c, "", "line %d, column %d: %s", what.line, what.column, what.text);
        else
            check_document(&c, root);
        json_decref(root);
        if (c.f->n == 0 && !c.f->starved)
            check_reading(&c, text, len);
    }
    weir_idset_free(ranks);
    if (!c.f || !ranks || c.f->starved) {
        weir_faults_free(c.f);
        return weir_fail_nomem(err);
    }
    *out = c.f;
    return WEIR_OK;
}

const weir_fault *weir_faults_list(const weir_faults *f, uint32_t *n)
{
    *n = f->n;
    return f->list;
}

void weir_faults_free(weir_faults *f)
{
    for (uint32_t i = 0; f && i < f->n; i++)
        WEIR_FREE((void *)(uintptr_t)f->list[i].place, (void *)(uintptr_t)f->list[i].text);
    if (f)
        weir_mem_free(f->list);
    weir_mem_free(f);
}
