/* rset.c - making and querying resource sets, and the canonical form. The main invariant is in rset.h.
 */
#include "format/input.h"
#include "base/bisect.h"
#include "base/compare.h"
#include "base/strtab.h"
#include "request/request.h"
#include "rset/rset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- children --------------------------------------------------------------------------------------------------- */

static int type_order(const char *type)
{
    return strcmp(type, "core") == 0 ? 0 : strcmp(type, "gpu") == 0 ? 1 : 2;
}

static int compare_types(const char *a, const char *b)
{
    int x = type_order(a), y = type_order(b);
    return x != y ? x - y : strcmp(a, b);
}

int weir_rset_add_child(struct rset_class *c, const char *type, weir_idset *ids)
{
    uint32_t at = c->count;
    char *name;

    while (at > 0 && compare_types(c->children[at - 1].type, type) > 0)
        at--;
    name = weir_mem_strdup(type);
    if (!name || weir_array_reserve(&c->children, &c->cap, (size_t)c->count + 1, sizeof *c->children) < 0) {
        weir_mem_free(name);
        weir_idset_free(ids);
        return WEIR_ENOMEM;
    }
    memmove(&c->children[at + 1], &c->children[at], (c->count - at) * sizeof *c->children);
    c->children[at] = (struct rset_child){name, ids};
    c->count++;
    return WEIR_OK;
}

const weir_idset *weir_rset_child(const struct rset_class *c, const char *type)
{
    for (uint32_t i = 0; c && i < c->count; i++)
        if (strcmp(c->children[i].type, type) == 0)
            return c->children[i].ids;
    return NULL;
}

bool weir_rset_same_children(const struct rset_class *a, const struct rset_class *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->children[i].type, b->children[i].type) != 0 ||
            !weir_idset_equal(a->children[i].ids, b->children[i].ids))
            return false;
    return true;
}

int weir_rset_class_copy(const struct rset_class *from, struct rset_class *to)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < from->count; i++) {
        weir_idset *ids = NULL;
        rc = weir_idset_copy(from->children[i].ids, &ids);
        rc = rc ? rc : weir_rset_add_child(to, from->children[i].type, ids);
    }
    return rc;
}

void weir_rset_class_clear(struct rset_class *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        weir_mem_free(c->children[i].type);
        weir_idset_free(c->children[i].ids);
    }
    weir_mem_free(c->children);
    weir_idset_free(c->ranks);
    memset(c, 0, sizeof *c);
}

void weir_rset_classes_clear(struct rset_classes *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        weir_rset_class_clear(&c->list[i]);
    weir_mem_free(c->list);
    memset(c, 0, sizeof *c);
}

static const struct rset_class *class_of(const struct rset_classes *c, int64_t rank)
{
    for (uint32_t i = 0; rank >= 0 && rank <= WEIR_IDSET_MAX && i < c->count; i++)
        if (weir_idset_test(c->list[i].ranks, (uint32_t)rank))
            return &c->list[i];
    return NULL;
}

static int copy_classes(const struct rset_classes *from, struct rset_classes *to)
{
    int rc = weir_array_reserve(&to->list, &to->cap, from->count, sizeof *to->list);

    for (uint32_t i = 0; rc == WEIR_OK && i < from->count; i++) {
        struct rset_class *c = &to->list[to->count++];
        memset(c, 0, sizeof *c);
        rc = weir_idset_copy(from->list[i].ranks, &c->ranks);
        rc = rc ? rc : weir_rset_class_copy(&from->list[i], c);
    }
    return rc;
}

/* ---- the canonical form ----------------------------------------------------------------------------------------- */

int weir_rset_run_add(struct rset_runs *runs, uint32_t lo, uint32_t hi, uint32_t class)
{
    return WEIR_ARRAY_ADD(runs->list, runs->count, runs->cap, (struct rset_run){lo, hi, class});
}

WEIR_COMPARE_BY2(compare_runs, struct rset_run, lo, class)

int weir_rset_runs_add(struct rset_runs *runs, const weir_idset *ranks, uint32_t class)
{
    uint32_t lo, hi;
    int rc = WEIR_OK;

    for (size_t k = 0; rc == WEIR_OK && weir_idset_run(ranks, k, &lo, &hi); k++)
        rc = weir_rset_run_add(runs, lo, hi, class);
    return rc;
}

const struct rset_run *weir_rset_run_at(const struct rset_runs *runs, int64_t rank)
{
    uint32_t at;

    WEIR_BISECT(at, 0, runs->count, runs->list[at].hi < rank);
    return at < runs->count && runs->list[at].lo <= rank ? &runs->list[at] : NULL;
}

void weir_rset_sort_runs(struct rset_runs *runs)
{
    bool sorted = true;

    for (uint32_t i = 1; i < runs->count && sorted; i++)
        sorted = compare_runs(&runs->list[i - 1], &runs->list[i]) < 0;
    if (!sorted)
        qsort(runs->list, runs->count, sizeof *runs->list, compare_runs);
}

int weir_rset_runs_of(const struct rset_classes *c, struct rset_runs *out)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (weir_rset_runs_add(out, c->list[i].ranks, i) < 0)
            return WEIR_ENOMEM;
    weir_rset_sort_runs(out);
    return WEIR_OK;
}

static uint32_t hash_children(const struct rset_class *c)
{
    uint64_t hash = 0x9E3779B97F4A7C15u;
    uint32_t lo, hi;

    for (uint32_t i = 0; i < c->count; i++) {
        hash = hash_text(hash, c->children[i].type, strlen(c->children[i].type));
        for (size_t k = 0; weir_idset_run(c->children[i].ids, k, &lo, &hi); k++) {
            hash = hash_add(hash, lo ^ (uint64_t)hi << 32);
        }
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* The conversion of raw classes to classes of r, found by the hash of their children. */
struct settling {
    weir_rset *r;
    struct rset_classes *raw;
    uint32_t *became;          /* by raw class: class of r + 1, or 0 */
    struct weir_map32 classes; /* of r, by hash of the children */
};

/* Returns the class of r with the children of a raw class. A missing class is made, and the children move from the raw
 * class. Returns WEIR_NONE if out of memory. */
static uint32_t settle_class(struct settling *s, uint32_t raw)
{
    struct rset_classes *to = &s->r->classes;
    struct rset_class *c = &s->raw->list[raw];
    uint32_t hash = hash_children(c);

    WEIR_MAP32_EACH (&s->classes, hash, i)
        if (weir_rset_same_children(&to->list[i], c))
            return i;
    if (weir_array_reserve(&to->list, &to->cap, (size_t)to->count + 1, sizeof *to->list) < 0 ||
        weir_map32_reserve(&s->classes, (size_t)to->count + 1) < 0)
        return WEIR_NONE;
    to->list[to->count] = (struct rset_class){weir_idset_new(), c->children, c->count, c->cap};
    if (!to->list[to->count].ranks || weir_map32_add(&s->classes, hash, to->count) < 0)
        return WEIR_NONE;
    c->children = NULL;
    c->count = c->cap = 0;
    return to->count++;
}

static int settle_runs(struct settling *s, const struct rset_runs *runs)
{
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct rset_run *run = &runs->list[i];
        if (!s->became[run->class]) {
            uint32_t class = settle_class(s, run->class);
            if (class == WEIR_NONE)
                return WEIR_ENOMEM;
            s->became[run->class] = class + 1;
        }
        if (weir_idset_add_range(s->r->classes.list[s->became[run->class] - 1].ranks, run->lo, run->hi) < 0 ||
            weir_idset_add_range(s->r->ranks, run->lo, run->hi) < 0)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

int weir_rset_settle(weir_rset *r, struct rset_classes *raw, const struct rset_runs *runs, weir_err *err)
{
    struct settling s = {.r = r, .raw = raw};
    int rc;

    s.became = weir_mem_zalloc((size_t)raw->count + 1, sizeof *s.became);
    rc = s.became && settle_runs(&s, runs) == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);
    weir_mem_free(s.became);
    weir_map32_free(&s.classes);
    if (rc == WEIR_OK && weir_idset_count(r->ranks) > WEIR_RSET_RANKS)
        return weir_fail(err, WEIR_ELIMIT, "R_lite: more than %u ranks", WEIR_RSET_RANKS);
    return rc;
}

int weir_rset_settle_all(weir_rset *r, struct rset_classes *raw, int rc, weir_err *err)
{
    struct rset_runs runs = {0};

    rc = rc ? rc : weir_rset_runs_of(raw, &runs);
    rc = rc < 0 ? weir_fail_nomem(err) : weir_rset_settle(r, raw, &runs, err);
    weir_rset_classes_clear(raw);
    weir_mem_free(runs.list);
    return rc;
}

/* ---- what is shared --------------------------------------------------------------------------------------------- */

struct rset_hosts *weir_rset_hosts_new(weir_idset *ranks, weir_hostlist *list)
{
    struct rset_hosts *h = weir_mem_alloc(sizeof *h);

    if (h) {
        *h = (struct rset_hosts){1, ranks, list};
        return h;
    }
    weir_idset_free(ranks);
    weir_hostlist_free(list);
    return NULL;
}

struct rset_hosts *weir_rset_hosts_ref(struct rset_hosts *h)
{
    if (h)
        h->refs++;
    return h;
}

void weir_rset_hosts_drop(struct rset_hosts *h)
{
    if (!h || --h->refs > 0)
        return;
    weir_idset_free(h->ranks);
    weir_hostlist_free(h->list);
    weir_mem_free(h);
}

static size_t bytes_of_classes(const struct rset_classes *list)
{
    size_t n = list->cap * sizeof *list->list;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct rset_class *c = &list->list[i];
        n += weir_idset_bytes(c->ranks) + c->cap * sizeof *c->children;
        for (uint32_t k = 0; k < c->count; k++)
            n += weir_idset_bytes(c->children[k].ids);
    }
    return n;
}

struct rset_scheduling *weir_rset_scheduling_new(const struct rset_scheduling *content,
                                                 const struct rset_classes *whole)
{
    struct rset_scheduling *s = content->text ? weir_mem_zalloc(1, sizeof *s) : NULL;

    if (!s) {
        weir_mem_free(content->text);
        return NULL;
    }
    *s = (struct rset_scheduling){.refs = 1, .text = content->text, .graph = content->graph};
    s->writer = content->writer ? weir_mem_strdup(content->writer) : NULL;
    if ((s->writer || !content->writer) && copy_classes(whole, &s->whole) == WEIR_OK) {
        s->bytes = sizeof *s + strlen(s->text) + 1 + bytes_of_classes(&s->whole);
        return s;
    }
    weir_rset_scheduling_drop(s);
    return NULL;
}

int weir_rset_scheduling_json(const struct rset_scheduling *s, const char *source, json_t **out, weir_err *err)
{
    json_error_t what;

    *out = json_loads(s->text, JSON_REJECT_DUPLICATES, &what);
    if (!*out && weir_json_starved(&what))
        return weir_fail_nomem(err);
    return *out ? WEIR_OK : weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "scheduling: %s", what.text);
}

struct rset_scheduling *weir_rset_scheduling_ref(struct rset_scheduling *s)
{
    if (s)
        s->refs++;
    return s;
}

void weir_rset_scheduling_drop(struct rset_scheduling *s)
{
    if (!s || --s->refs > 0)
        return;
    if (s->reading)
        s->drop_reading(s->reading);
    WEIR_FREE(s->text, s->writer);
    weir_rset_classes_clear(&s->whole);
    weir_mem_free(s);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

weir_rset *weir_rset_new(void)
{
    weir_rset *r = weir_mem_zalloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->ranks = weir_idset_new();
    if (r->ranks)
        return r;
    weir_mem_free(r);
    return NULL;
}

void weir_rset_free(weir_rset *r)
{
    if (!r)
        return;
    weir_rset_classes_clear(&r->classes);
    for (uint32_t i = 0; i < r->nprops; i++) {
        weir_mem_free(r->props[i].name);
        weir_idset_free(r->props[i].ranks);
    }
    weir_mem_free(r->props);
    weir_idset_free(r->ranks);
    weir_rset_hosts_drop(r->hosts);
    weir_rset_scheduling_drop(r->scheduling);
    json_decref(r->execution);
    json_decref(r->document);
    weir_mem_free(r);
}

/* ---- properties ------------------------------------------------------------------------------------------------- */

bool weir_rset_name_fault(const char *name, char text[160])
{
    static const char illegal[] = "!&'\"^`|()";
    const char *fault = weir_text_fault(name, false);
    char bad = name[strcspn(name, illegal)];

    if (fault)
        snprintf(text, 160, "the name \"%.64s\" %s", name, fault);
    else if (bad)
        snprintf(text, 160, "the name \"%.64s\" has a '%c' in it; none of %s may be", name, bad, illegal);
    return fault || bad;
}

int weir_rset_add_property(weir_rset *r, const char *name, weir_idset *ranks)
{
    char *own = weir_mem_strdup(name);

    if (own && weir_array_reserve(&r->props, &r->props_cap, (size_t)r->nprops + 1, sizeof *r->props) == WEIR_OK) {
        r->props[r->nprops++] = (struct weir_rank_property){own, ranks};
        return WEIR_OK;
    }
    weir_mem_free(own);
    weir_idset_free(ranks);
    return WEIR_ENOMEM;
}

static int give_property(weir_rset *r, const char *name, const weir_idset *ranks)
{
    weir_idset *own = NULL;

    for (uint32_t i = 0; i < r->nprops; i++)
        if (strcmp(r->props[i].name, name) == 0)
            return weir_idset_add(r->props[i].ranks, ranks);
    if (weir_idset_count(ranks) == 0)
        return WEIR_OK;
    return weir_idset_copy(ranks, &own) == WEIR_OK ? weir_rset_add_property(r, name, own) : WEIR_ENOMEM;
}

int weir_rset_set_property(weir_rset *r, const char *name, const weir_idset *ranks, weir_err *err)
{
    char fault[160];

    if (weir_rset_name_fault(name, fault))
        return weir_fail(err, WEIR_EINVAL, "properties: %s", fault);
    if (!weir_idset_contains(r->ranks, ranks))
        return weir_fail(err, WEIR_ENOENT, "properties.%.64s: names a rank that is not in the set", name);
    return give_property(r, name, ranks) == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

struct weir_rank_facts weir_rset_facts(const weir_rset *r)
{
    return (struct weir_rank_facts){.ranks = r->ranks,
                                    .hosts = r->hosts ? r->hosts->list : NULL,
                                    .host_ranks = r->hosts ? r->hosts->ranks : NULL,
                                    .properties = r->props,
                                    .nproperties = r->nprops};
}

const weir_idset *weir_rset_ranks(const weir_rset *r)
{
    return r->ranks;
}

int weir_rset_hosts(const weir_rset *r, weir_hostlist **out, weir_err *err)
{
    struct weir_rank_place place = {r->hosts ? r->hosts->ranks : NULL, 0, 0};
    weir_hostlist *list;
    char *name;
    uint32_t lo, hi;
    int rc = WEIR_OK;

    *out = NULL;
    if (!r->hosts)
        return weir_idset_count(r->ranks) ? weir_fail(err, WEIR_ENOENT, "the set has no nodelist") : WEIR_OK;
    if (weir_idset_equal(r->ranks, r->hosts->ranks))
        return weir_hostlist_copy(r->hosts->list, out) == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);
    list = weir_hostlist_new();
    name = weir_mem_alloc(WEIR_NAME_MAX + 1);
    for (size_t k = 0; list && name && rc == WEIR_OK && weir_idset_run(r->ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rc == WEIR_OK && rank <= hi; rank++) {
            size_t len =
                weir_hostlist_nth(r->hosts->list, weir_rank_place(&place, (uint32_t)rank), name, WEIR_NAME_MAX + 1);
            rc = weir_hostlist_append_name(list, name, len, NULL);
        }
    weir_mem_free(name);
    if (list && name && rc == WEIR_OK) {
        *out = list;
        return WEIR_OK;
    }
    weir_hostlist_free(list);
    return weir_fail_nomem(err);
}

uint64_t weir_rset_count(const weir_rset *r, const char *type)
{
    uint64_t n = 0;

    if (!type)
        return weir_idset_count(r->ranks);
    for (uint32_t i = 0; i < r->classes.count; i++)
        n += weir_idset_count(r->classes.list[i].ranks) * weir_idset_count(weir_rset_child(&r->classes.list[i], type));
    return n;
}

const weir_idset *weir_rset_children(const weir_rset *r, int64_t rank, const char *type)
{
    return weir_rset_child(class_of(&r->classes, rank), type);
}

bool weir_rset_entry(const weir_rset *r, uint32_t i, const weir_idset **ranks)
{
    if (i >= r->classes.count)
        return false;
    *ranks = r->classes.list[i].ranks;
    return true;
}

bool weir_rset_entry_child(const weir_rset *r, uint32_t i, uint32_t k, const char **type, const weir_idset **ids)
{
    if (i >= r->classes.count || k >= r->classes.list[i].count)
        return false;
    *type = r->classes.list[i].children[k].type;
    *ids = r->classes.list[i].children[k].ids;
    return true;
}

bool weir_rset_property(const weir_rset *r, uint32_t i, const char **name, const weir_idset **ranks)
{
    if (i >= r->nprops)
        return false;
    *name = r->props[i].name;
    *ranks = r->props[i].ranks;
    return true;
}

size_t weir_rset_bytes(const weir_rset *r)
{
    size_t n = sizeof *r + weir_idset_bytes(r->ranks) + bytes_of_classes(&r->classes) + r->props_cap * sizeof *r->props;

    for (uint32_t i = 0; i < r->nprops; i++)
        n += weir_idset_bytes(r->props[i].ranks);
    if (r->hosts)
        n += (weir_idset_bytes(r->hosts->ranks) + weir_hostlist_bytes(r->hosts->list)) / r->hosts->refs;
    if (r->scheduling)
        n += r->scheduling->bytes / r->scheduling->refs;
    return n;
}

uint32_t weir_rset_nslots(const weir_rset *r)
{
    return r->nslots;
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

int64_t weir_rset_start(const weir_rset *r)
{
    return r->start;
}

int64_t weir_rset_end(const weir_rset *r)
{
    return r->end == 0 ? WEIR_FOREVER : r->end;
}

int weir_rset_check_times(const weir_rset *r, const char *source, weir_err *err)
{
    if (r->end == 0 || r->start == 0 || r->end > r->start)
        return WEIR_OK;
    return weir_fail_at(err, WEIR_EINVAL, source, 0, 0, "execution.expiration: %.6f is not after the starttime, %.6f",
                        (double)r->end / 1e6, (double)r->start / 1e6);
}

int weir_rset_set_times(weir_rset *r, int64_t start, int64_t end, weir_err *err)
{
    weir_rset draft = {.start = start, .end = end == WEIR_FOREVER ? 0 : end};
    int rc;

    if (start == WEIR_FOREVER)
        return weir_fail(err, WEIR_EINVAL, "starttime: expected a finite time");
    rc = weir_rset_check_times(&draft, NULL, err);
    if (rc < 0)
        return rc;
    r->start = draft.start;
    r->end = draft.end;
    r->has_start = start != 0;
    r->has_end = draft.end != 0;
    return WEIR_OK;
}
