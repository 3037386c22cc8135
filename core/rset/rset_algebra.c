/* rset_algebra.c - union, intersection and difference of resource sets, and parts of sets.
 *
 * The elements of a set are pools: ids of a type on a rank. A rank without children counts as one pool, as long as the
 * rank has no children. So the parts of a set add up to the set: (a - b) | (a & b) is a.
 *
 * Two sets are swept together, by segments of ranks over which each set has one class. Main invariant: a pair of
 * classes is combined only once, however many segments have the pair.
 */
#include "rset/rset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strtab.h"
#include "format/output.h"

#define NONE     UINT32_MAX
#define GONE     (UINT32_MAX - 1)    /* raw class of a pair that leaves no pools */
#define WORK_MAX (UINT64_C(1) << 32) /* limit for the bytes of ids read */
/* limit for the bytes of ids made, so that small documents cannot demand much memory */
#define BYTES_MAX (UINT64_C(1) << 28)

struct pairing {
    uint32_t a, b, raw; /* classes; NONE */
};

struct combining {
    enum weir_rset_op op;
    const weir_rset *a, *b;
    weir_rset *result;
    weir_err *err;
    struct rset_runs a_runs, b_runs, runs;
    struct rset_classes raw;
    struct pairing *pairs;
    uint32_t npairs, pairs_cap;
    struct weir_map32 numbers; /* of pairs, by hash */
    uint64_t work, bytes;
};

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* Combines the ids of one type, of which a or b may be NULL, but not both. *out is NULL if no ids are left. */
static int combine_ids(struct combining *c, const weir_idset *a, const weir_idset *b, weir_idset **out)
{
    int rc;

    c->work += weir_idset_bytes(a) + weir_idset_bytes(b);
    if (!a || !b) {
        bool keep = a ? c->op != WEIR_RSET_INTERSECT : c->op == WEIR_RSET_UNION || c->op == WEIR_RSET_APPEND;
        rc = keep ? weir_idset_copy(a ? a : b, out) : WEIR_OK;
    } else if (c->op == WEIR_RSET_INTERSECT) {
        rc = weir_idset_intersect(a, b, out);
    } else if (c->op == WEIR_RSET_DIFF) {
        rc = weir_idset_difference(a, b, out);
    } else {
        rc = weir_idset_union(a, b, out);
    }
    if (rc == WEIR_OK && weir_idset_count(*out) == 0) {
        weir_idset_free(*out);
        *out = NULL;
    }
    c->bytes += rc == WEIR_OK ? weir_idset_bytes(*out) : 0;
    return rc == WEIR_OK ? WEIR_OK : weir_fail_nomem(c->err);
}

static int combine_type(struct combining *c, const char *type, const weir_idset *a, const weir_idset *b,
                        struct rset_class *out)
{
    weir_idset *ids = NULL;
    int rc = combine_ids(c, a, b, &ids);

    if (rc == WEIR_OK && ids && weir_rset_add_child(out, type, ids) < 0)
        rc = weir_fail_nomem(c->err);
    return rc;
}

static int combine_children(struct combining *c, const struct rset_class *a, const struct rset_class *b,
                            struct rset_class *out)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && a && i < a->count; i++)
        rc = combine_type(c, a->children[i].type, a->children[i].ids, weir_rset_child(b, a->children[i].type), out);
    for (uint32_t i = 0; rc == WEIR_OK && b && i < b->count; i++)
        if (!weir_rset_child(a, b->children[i].type))
            rc = combine_type(c, b->children[i].type, NULL, b->children[i].ids, out);
    return rc;
}

/* Returns true if the rank of two classes is in the result, given the children that are left. */
static bool leaves_rank(enum weir_rset_op op, const struct rset_class *a, const struct rset_class *b,
                        const struct rset_class *left)
{
    if (left->count > 0)
        return true;
    if (op == WEIR_RSET_INTERSECT)
        return a && b && a->count == 0 && b->count == 0;
    if (op == WEIR_RSET_DIFF)
        return a && a->count == 0 && (!b || b->count > 0);
    return true;
}

static const struct rset_class *class_at(const weir_rset *r, uint32_t i)
{
    return i == NONE ? NULL : &r->classes.list[i];
}

/* Makes the raw class of a pair. *out is its index, or GONE. */
static int combine_pair(struct combining *c, uint32_t a, uint32_t b, uint32_t *out)
{
    const struct rset_class *x = class_at(c->a, a), *y = class_at(c->b, b);
    struct rset_class left = {0};
    int rc = combine_children(c, x, y, &left);

    if (rc == WEIR_OK && (c->work > WORK_MAX || c->bytes > BYTES_MAX))
        rc = weir_fail(c->err, WEIR_ELIMIT,
                       "the ids of the result are too many: their ranges would take more than 256 MB");
    if (rc == WEIR_OK && !leaves_rank(c->op, x, y, &left)) {
        *out = GONE;
        return WEIR_OK;
    }
    if (rc == WEIR_OK &&
        weir_array_reserve(&c->raw.list, &c->raw.cap, (size_t)c->raw.count + 1, sizeof *c->raw.list) < 0)
        rc = weir_fail_nomem(c->err);
    if (rc < 0) {
        weir_rset_class_clear(&left);
        return rc;
    }
    *out = c->raw.count;
    c->raw.list[c->raw.count++] = left;
    return WEIR_OK;
}

/* Finds the raw class of a pair, made on first use. */
static int find_pair(struct combining *c, uint32_t a, uint32_t b, uint32_t *out)
{
    uint32_t hash = (uint32_t)hash_add(a, b);
    int rc;

    WEIR_MAP32_EACH (&c->numbers, hash, i)
        if (c->pairs[i].a == a && c->pairs[i].b == b) {
            *out = c->pairs[i].raw;
            return WEIR_OK;
        }
    rc = combine_pair(c, a, b, out);
    if (rc < 0)
        return rc;
    if (weir_array_reserve(&c->pairs, &c->pairs_cap, (size_t)c->npairs + 1, sizeof *c->pairs) < 0 ||
        weir_map32_add(&c->numbers, hash, c->npairs) < 0)
        return weir_fail_nomem(c->err);
    c->pairs[c->npairs++] = (struct pairing){a, b, *out};
    return WEIR_OK;
}

/* ---- side by side ----------------------------------------------------------------------------------------------- */

static bool skips(enum weir_rset_op op, uint32_t a, uint32_t b)
{
    return (a == NONE && (b == NONE || op == WEIR_RSET_DIFF || op == WEIR_RSET_INTERSECT)) ||
           (b == NONE && op == WEIR_RSET_INTERSECT);
}

/* Returns a type of which both classes have some common ids, or NULL. */
static const char *shared_type(const struct rset_class *a, const struct rset_class *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (weir_idset_has_intersection(a->children[i].ids, weir_rset_child(b, a->children[i].type)))
            return a->children[i].type;
    return NULL;
}

static int add_segment(struct combining *c, uint32_t lo, uint32_t hi, uint32_t a, uint32_t b)
{
    uint32_t raw = GONE;
    int rc;

    if (skips(c->op, a, b))
        return WEIR_OK;
    if (c->op == WEIR_RSET_APPEND && a != NONE && b != NONE && shared_type(class_at(c->a, a), class_at(c->b, b)))
        return weir_fail(c->err, WEIR_EEXIST, "rank %" PRIu32 ": both sets have some %s of the same number", lo,
                         shared_type(class_at(c->a, a), class_at(c->b, b)));
    rc = find_pair(c, a, b, &raw);
    if (rc < 0 || raw == GONE)
        return rc;
    return weir_rset_run_add(&c->runs, lo, hi, raw) == WEIR_OK ? WEIR_OK : weir_fail_nomem(c->err);
}

/* Returns the class at `pos`, or NONE. `at` is the run at or after `pos`. Reduces *end to the end of the segment. */
static uint32_t class_here(const struct rset_runs *runs, uint32_t at, uint64_t pos, uint64_t *end)
{
    const struct rset_run *run = at < runs->count ? &runs->list[at] : NULL;

    if (!run)
        return NONE;
    if (run->lo > pos) {
        if (run->lo - UINT64_C(1) < *end)
            *end = run->lo - UINT64_C(1);
        return NONE;
    }
    if (run->hi < *end)
        *end = run->hi;
    return run->class;
}

static int sweep(struct combining *c)
{
    uint32_t i = 0, j = 0;
    uint64_t pos = 0;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (i < c->a_runs.count || j < c->b_runs.count)) {
        uint64_t end = UINT32_MAX;
        uint32_t a = class_here(&c->a_runs, i, pos, &end), b = class_here(&c->b_runs, j, pos, &end);
        rc = add_segment(c, (uint32_t)pos, (uint32_t)end, a, b);
        i += i < c->a_runs.count && c->a_runs.list[i].hi <= end;
        j += j < c->b_runs.count && c->b_runs.list[j].hi <= end;
        pos = end + 1;
    }
    return rc;
}

/* ---- hosts ------------------------------------------------------------------------------------------------------ */

/* The hosts of two sets, for queries in ascending order of ranks. */
struct two_lists {
    const struct rset_hosts *h[2];
    struct weir_rank_place place[2];
    char *name[2];
};

static int open_lists(struct two_lists *t, const struct rset_hosts *a, const struct rset_hosts *b)
{
    *t = (struct two_lists){.h = {a, b}};
    t->place[0].ranks = a->ranks;
    t->place[1].ranks = b->ranks;
    t->name[0] = weir_mem_alloc(2 * (WEIR_NAME_MAX + 1));
    t->name[1] = t->name[0] ? t->name[0] + WEIR_NAME_MAX + 1 : NULL;
    return t->name[0] ? WEIR_OK : WEIR_ENOMEM;
}

static size_t host_of(struct two_lists *t, int which, uint32_t rank)
{
    return weir_hostlist_nth(t->h[which]->list, weir_rank_place(&t->place[which], rank), t->name[which],
                             WEIR_NAME_MAX + 1);
}

/* Fails if the two lists have different names for one of the ranks. */
static int compare_hosts(struct two_lists *t, const weir_idset *ranks, weir_err *err)
{
    uint32_t lo, hi;

    for (size_t k = 0; weir_idset_run(ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rank <= hi; rank++) {
            size_t x = host_of(t, 0, (uint32_t)rank), y = host_of(t, 1, (uint32_t)rank);
            if (x != y || memcmp(t->name[0], t->name[1], x) != 0)
                return weir_fail(err, WEIR_EINVAL,
                                 "rank %" PRIu64 " is %.64s in one set and %.64s in the other: expected the same "
                                 "hosts for the same ranks",
                                 rank, t->name[0], t->name[1]);
        }
    return WEIR_OK;
}

/* Fails if a rank in both sets has different hosts. */
static int check_hosts(const weir_rset *a, const weir_rset *b, weir_err *err)
{
    weir_idset *common = NULL;
    struct two_lists t = {0};
    int rc;

    if (!a->hosts || !b->hosts || a->hosts == b->hosts)
        return WEIR_OK;
    if (weir_idset_equal(a->hosts->ranks, b->hosts->ranks) && weir_hostlist_equal(a->hosts->list, b->hosts->list))
        return WEIR_OK;
    rc = weir_idset_intersect(a->ranks, b->ranks, &common);
    rc = rc ? rc : open_lists(&t, a->hosts, b->hosts);
    rc = rc < 0 ? weir_fail_nomem(err) : compare_hosts(&t, common, err);
    weir_mem_free(t.name[0]);
    weir_idset_free(common);
    return rc;
}

/* Makes the list of hosts of a union from the lists of both sets. */
static int join_hosts(weir_rset *result, const weir_rset *a, const weir_rset *b)
{
    weir_hostlist *list = weir_hostlist_new();
    weir_idset *ranks = NULL;
    struct two_lists t = {0};
    uint32_t lo, hi;
    int rc = list ? open_lists(&t, a->hosts, b->hosts) : WEIR_ENOMEM;

    rc = rc ? rc : weir_idset_copy(result->ranks, &ranks);
    for (size_t k = 0; rc == WEIR_OK && weir_idset_run(ranks, k, &lo, &hi); k++)
        for (uint64_t rank = lo; rc == WEIR_OK && rank <= hi; rank++) {
            int which = weir_idset_test(a->ranks, (uint32_t)rank) ? 0 : 1;
            size_t len = host_of(&t, which, (uint32_t)rank);
            rc = weir_hostlist_append_name(list, t.name[which], len, NULL);
        }
    weir_mem_free(t.name[0]);
    if (rc == WEIR_OK) {
        result->hosts = weir_rset_hosts_new(ranks, list);
        return result->hosts ? WEIR_OK : WEIR_ENOMEM;
    }
    weir_idset_free(ranks);
    weir_hostlist_free(list);
    return WEIR_ENOMEM;
}

/* Returns true if the hosts of r are valid for the whole result. */
static bool names_all(const weir_rset *r, const weir_rset *other, const weir_rset *result)
{
    if (!r->hosts || !weir_idset_contains(r->hosts->ranks, result->ranks))
        return false;
    return !other->hosts || other->hosts == r->hosts || weir_idset_contains(r->ranks, other->ranks) ||
           (weir_idset_equal(r->hosts->ranks, other->hosts->ranks) &&
            weir_hostlist_equal(r->hosts->list, other->hosts->list));
}

static int union_hosts(struct combining *c)
{
    bool a = c->a->hosts && c->a->classes.count > 0, b = c->b->hosts && c->b->classes.count > 0;

    if (a && names_all(c->a, c->b, c->result))
        c->result->hosts = weir_rset_hosts_ref(c->a->hosts);
    else if (b && names_all(c->b, c->a, c->result))
        c->result->hosts = weir_rset_hosts_ref(c->b->hosts);
    else if (a && b)
        return join_hosts(c->result, c->a, c->b) == WEIR_OK ? WEIR_OK : weir_fail_nomem(c->err);
    else if (a || b)
        return weir_fail(c->err, WEIR_EINVAL,
                         "one set has a nodelist and the other has none: expected both or neither");
    return WEIR_OK;
}

/* ---- everything else -------------------------------------------------------------------------------------------- */

/* Adds the properties of a set to the result, restricted to the ranks of the result. */
static int restrict_properties(const weir_rset *from, weir_rset *result)
{
    for (uint32_t i = 0; i < from->nprops; i++) {
        weir_idset *ranks = NULL;
        int rc = weir_idset_intersect(from->props[i].ranks, result->ranks, &ranks);
        if (rc == WEIR_OK && weir_idset_count(ranks) > 0)
            rc = weir_rset_add_property(result, from->props[i].name, ranks);
        else
            weir_idset_free(ranks);
        if (rc < 0)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

/* Adds a property to a set. `names` has the names of the set's properties: no name is empty, so the i-th property has
 * the number i + 1. */
static int join_property(weir_rset *result, weir_strtab *names, const struct weir_rank_property *p)
{
    weir_name n = weir_strtab_add(names, p->name, strlen(p->name));
    weir_idset *ranks = NULL;

    if (n == WEIR_NO_NAME)
        return WEIR_ENOMEM;
    if (n <= result->nprops)
        return weir_idset_add(result->props[n - 1].ranks, p->ranks);
    return weir_idset_copy(p->ranks, &ranks) == WEIR_OK ? weir_rset_add_property(result, p->name, ranks) : WEIR_ENOMEM;
}

/* Adds the properties of a second set to the properties of the result. */
static int join_properties(weir_rset *result, const weir_rset *more)
{
    weir_strtab names;
    int rc;

    if (more->nprops == 0)
        return WEIR_OK;
    rc = weir_strtab_init(&names);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; rc == WEIR_OK && i < result->nprops; i++)
        if (weir_strtab_add(&names, result->props[i].name, strlen(result->props[i].name)) == WEIR_NO_NAME)
            rc = WEIR_ENOMEM;
    for (uint32_t i = 0; rc == WEIR_OK && i < more->nprops; i++)
        rc = join_property(result, &names, &more->props[i]);
    weir_strtab_clear(&names);
    return rc;
}

void weir_rset_inherit(weir_rset *result, const weir_rset *from)
{
    if (!result->has_start && !result->has_end && (from->has_start || from->has_end)) {
        result->has_start = from->has_start;
        result->has_end = from->has_end;
        result->start = from->start;
        result->end = from->end;
    }
    if (result->nslots == 0)
        result->nslots = from->nslots;
    if (!result->execution)
        result->execution = json_incref(from->execution);
    if (!result->document)
        result->document = json_incref(from->document);
}

static int finish(struct combining *c)
{
    bool both = c->op == WEIR_RSET_UNION || c->op == WEIR_RSET_APPEND;
    int rc = weir_rset_settle(c->result, &c->raw, &c->runs, c->err);

    if (rc < 0)
        return rc;
    if (restrict_properties(c->a, c->result) < 0 || (both && join_properties(c->result, c->b) < 0))
        return weir_fail_nomem(c->err);
    weir_rset_inherit(c->result, c->a);
    if (!both) {
        c->result->hosts = weir_rset_hosts_ref(c->a->hosts);
        c->result->scheduling = weir_rset_scheduling_ref(c->a->scheduling);
        return WEIR_OK;
    }
    weir_rset_inherit(c->result, c->b);
    rc = union_hosts(c);
    return rc < 0 ? rc : weir_rset_scheduling_join(c->result, c->a, c->b, c->err);
}

int weir_rset_combine(enum weir_rset_op op, const weir_rset *a, const weir_rset *b, weir_rset **out, weir_err *err)
{
    struct combining c = {.op = op, .a = a, .b = b, .err = err};
    int rc = check_hosts(a, b, err);

    if (rc < 0)
        return rc;
    c.result = weir_rset_new();
    if (!c.result || weir_rset_runs_of(&a->classes, &c.a_runs) < 0 || weir_rset_runs_of(&b->classes, &c.b_runs) < 0)
        rc = weir_fail_nomem(err);
    rc = rc ? rc : sweep(&c);
    rc = rc ? rc : finish(&c);
    weir_rset_classes_clear(&c.raw);
    WEIR_FREE(c.a_runs.list, c.b_runs.list, c.runs.list, c.pairs);
    weir_map32_free(&c.numbers);
    if (rc == WEIR_OK)
        *out = c.result;
    else
        weir_rset_free(c.result);
    return rc;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static int select_into(weir_rset *result, const weir_rset *r, const weir_idset *ranks, weir_err *err)
{
    struct rset_classes raw = {.list = weir_mem_zalloc((size_t)r->classes.count + 1, sizeof *raw.list)};
    int rc = raw.list ? WEIR_OK : WEIR_ENOMEM;

    for (; rc == WEIR_OK && raw.count < r->classes.count; raw.count++) {
        const struct rset_class *from = &r->classes.list[raw.count];
        struct rset_class *to = &raw.list[raw.count];
        rc = weir_idset_intersect(from->ranks, ranks, &to->ranks);
        if (rc == WEIR_OK && weir_idset_count(to->ranks) > 0)
            rc = weir_rset_class_copy(from, to);
    }
    rc = weir_rset_settle_all(result, &raw, rc, err);
    return rc == WEIR_OK && restrict_properties(r, result) < 0 ? weir_fail_nomem(err) : rc;
}

int weir_rset_select_ranks(const weir_rset *r, const weir_idset *ranks, weir_rset **out, weir_err *err)
{
    weir_idset *none = ranks ? NULL : weir_idset_new();
    weir_rset *result = weir_rset_new();
    int rc = result && (ranks || none) ? select_into(result, r, ranks ? ranks : none, err) : weir_fail_nomem(err);

    weir_idset_free(none);
    if (rc < 0) {
        weir_rset_free(result);
        return rc;
    }
    weir_rset_inherit(result, r);
    result->hosts = weir_rset_hosts_ref(r->hosts);
    result->scheduling = weir_rset_scheduling_ref(r->scheduling);
    *out = result;
    return WEIR_OK;
}

int weir_rset_copy(const weir_rset *r, weir_rset **out, weir_err *err)
{
    return weir_rset_select_ranks(r, r->ranks, out, err);
}

int weir_rset_select_hosts(const weir_rset *r, const weir_hostlist *hosts, weir_rset **out, weir_err *err)
{
    struct weir_rank_facts facts = weir_rset_facts(r);
    weir_idset *ranks = weir_idset_new();
    weir_hostlist *index = NULL;
    int rc = ranks ? WEIR_OK : WEIR_ENOMEM;

    if (rc == WEIR_OK && weir_hostlist_count(hosts) > 0)
        rc = weir_hostlist_copy(hosts, &index);
    if (rc == WEIR_OK && index)
        rc = weir_hostlist_index(index);
    rc = rc ? rc : weir_ranks_of_hosts(&facts, index, ranks);
    rc = rc < 0 ? weir_fail_nomem(err) : weir_rset_select_ranks(r, ranks, out, err);
    weir_hostlist_free(index);
    weir_idset_free(ranks);
    return rc;
}

int weir_rset_select(const weir_rset *r, const weir_constraint *c, weir_rset **out, weir_err *err)
{
    struct weir_rank_facts facts = weir_rset_facts(r);
    weir_idset *ranks = NULL;
    int rc = weir_constraint_select(c, &facts, &ranks);

    rc = rc < 0 ? weir_fail_nomem(err) : weir_rset_select_ranks(r, ranks, out, err);
    weir_idset_free(ranks);
    return rc;
}

bool weir_rset_equal(const weir_rset *a, const weir_rset *b)
{
    if (a->classes.count != b->classes.count || (a->classes.count > 0 && (a->hosts == NULL) != (b->hosts == NULL)))
        return false;
    for (uint32_t i = 0; i < a->classes.count; i++)
        if (!weir_idset_equal(a->classes.list[i].ranks, b->classes.list[i].ranks) ||
            !weir_rset_same_children(&a->classes.list[i], &b->classes.list[i]))
            return false;
    return check_hosts(a, b, NULL) == WEIR_OK;
}
