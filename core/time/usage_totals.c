/* usage_totals.c - see usage_totals.h. Invariant: by_type[t] of a part is the sum over all jobs of the units of type t
 * in picks, units below an exclusive pick included, without those outside of the part, or NULL before the first query.
 * There are two timelines of ends of jobs, one of even and one of odd microseconds, so that neighbours do not merge:
 * each end is one unit for a microsecond. */
#include "time/usage_totals.h"

#include "time/occupancy.h"
#include "aggregate/rows.h"
#include "graph/observer.h"
#include "index/node_table.h"

/* ---- parts of the machine ---- */

/* Drops what depends on the vertices of a part. */
static void empty_part(weir_graph *g, struct usage_part *part)
{
    for (uint32_t t = 0; t < usage_in(g)->ntypes; t++) {
        weir_timeline_free(part->by_type[t]);
        part->by_type[t] = NULL;
    }
    WEIR_FREE(part->outside, part->above);
    part->outside = part->above = NULL;
    for (uint32_t i = 0; !part->allowed && i < job_records(g); i++)
        jobs_in(g)->list[i].counted = false;
}

static void free_part(weir_graph *g, struct usage_part *part)
{
    if (part->by_type)
        empty_part(g, part);
    weir_idset_free(part->allowed);
    WEIR_FREE(part->by_type, part->lost);
    *part = (struct usage_part){0};
}

static bool has_bit(const uint64_t *bits, const struct usage_part *part, weir_vertex v)
{
    return bits && v < part->limit && (bits[v / 64] >> (v % 64) & 1);
}

static void set_bit(uint64_t *bits, weir_vertex v)
{
    bits[v / 64] |= UINT64_C(1) << (v % 64);
}

/* Excludes v and what is below. The depth of the tree is bounded. */
static void exclude_below(const weir_graph *g, struct usage_part *part, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    set_bit(part->outside, v);
    for (uint32_t i = 0; in && i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && !has_bit(part->outside, part, in->kids[i]))
            exclude_below(g, part, in->kids[i]);
}

/* Excludes v from a part. Returns WEIR_ENOMEM. */
static int exclude(const weir_graph *g, struct usage_part *part, weir_vertex v)
{
    if (!part->outside) {
        part->limit = g->limit;
        part->outside = weir_mem_zalloc(part->limit / 64 + 1, sizeof *part->outside);
        part->above = weir_mem_zalloc(part->limit / 64 + 1, sizeof *part->above);
        if (!part->outside || !part->above)
            return WEIR_ENOMEM;
    }
    if (has_bit(part->outside, part, v))
        return WEIR_OK;
    exclude_below(g, part, v);
    for (v = vertex_at(g, v)->parent; v != WEIR_NONE && !has_bit(part->above, part, v); v = vertex_at(g, v)->parent)
        set_bit(part->above, v);
    return WEIR_OK;
}

/* Excludes the vertices that are not up, and the nodes that are not allowed. */
static int find_outside(const weir_graph *g, struct usage_part *part)
{
    const struct node_table *nodes = part->allowed ? node_table_in(g) : NULL;
    int rc = WEIR_OK;

    for (weir_vertex v = weir_vertex_unavailable(g, 0); !rc && v != WEIR_NONE; v = weir_vertex_unavailable(g, v + 1))
        rc = exclude(g, part, v);
    for (uint32_t i = 0; !rc && nodes && i < nodes->count; i++)
        if (nodes->nodes[i] != WEIR_NONE && !weir_idset_test(part->allowed, i))
            rc = exclude(g, part, nodes->nodes[i]);
    return rc;
}

/* The numbers of nodes in use by a part. A node table made again without a change of vertices has other numbers only
 * where there are fewer. */
static uint32_t node_numbers(const weir_graph *g, const struct usage_part *part)
{
    return part->allowed ? node_table_in(g)->count : 0;
}

/* Whether vertices and states are those for which the part was made. */
static bool is_current(const weir_graph *g, const struct usage_part *part)
{
    return part->serial == g->serial && part->state_changes == g->state_changes && part->nodes == node_numbers(g, part);
}

/* In a view of a hierarchy nothing is excluded: a vertex may be reached by several parents there. */
static int refresh_part(weir_graph *g, struct usage_part *part)
{
    int rc = WEIR_OK;

    if (is_current(g, part))
        return WEIR_OK;
    if (!g->viewed.graph && (part->outside || part->allowed || g->unavailable > 0)) {
        empty_part(g, part);
        rc = find_outside(g, part);
    }
    if (rc) {
        empty_part(g, part);
        return rc;
    }
    part->serial = g->serial;
    part->state_changes = g->state_changes;
    part->nodes = node_numbers(g, part);
    return WEIR_OK;
}

/* Adds a part, in place of the least recently used one where there are too many. */
static int add_part(weir_graph *g, const weir_idset *allowed, struct usage_part **out)
{
    struct usage_totals *x = usage_in(g);
    struct usage_part *part = &x->parts[x->nparts], *least = &x->parts[1];

    if (x->nparts == USAGE_PARTS) {
        for (uint32_t i = 2; i < x->nparts; i++)
            least = x->parts[i].last_use < least->last_use ? &x->parts[i] : least;
        free_part(g, least);
        *least = x->parts[--x->nparts];
        part--;
    }
    *part = (struct usage_part){.serial = g->serial - 1};
    part->by_type = weir_mem_zalloc(x->ntypes, sizeof *part->by_type);
    part->lost = weir_mem_zalloc(x->ntypes, sizeof *part->lost);
    if (!part->by_type || !part->lost || (allowed && weir_idset_copy(allowed, &part->allowed))) {
        free_part(g, part);
        return WEIR_ENOMEM;
    }
    x->nparts++;
    *out = part;
    return WEIR_OK;
}

int weir_usage_part(weir_graph *g, const weir_idset *allowed, struct usage_part **out)
{
    struct usage_totals *x = usage_in(g);
    uint32_t i = allowed ? 1 : 0;
    int rc = WEIR_OK;

    while (allowed && i < x->nparts && !weir_idset_equal(x->parts[i].allowed, allowed))
        i++;
    *out = &x->parts[i];
    if (i == x->nparts)
        rc = add_part(g, allowed, out);
    if (rc)
        return rc;
    (*out)->last_use = weir_next_use(g);
    return refresh_part(g, *out);
}

/* ---- all parts ---- */

void weir_usage_clear(weir_graph *g)
{
    struct usage_totals *x = usage_in(g);

    for (uint32_t i = 0; i < job_records(g); i++)
        jobs_in(g)->list[i].counted = false;
    if (!x)
        return;
    while (x->nparts > 0)
        free_part(g, &x->parts[--x->nparts]);
    weir_timeline_free(x->ends[0]);
    weir_timeline_free(x->ends[1]);
    weir_record_drop(g, RECORD_USAGE, &weir_usage_observer);
}

int64_t weir_usage_pick(const weir_graph *g, const weir_pick *p, weir_type t)
{
    const struct inner *in = p->exclusive ? inner_of(g, p->vertex) : NULL;
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;
    int64_t own = kind_of(g, p->vertex)->type != t ? 0 : p->exclusive ? kind_of(g, p->vertex)->size : p->amount;

    return own + (cell ? in->cells[cell + TYPE_TOTAL] : 0);
}

/* Units of type t of v and below that are outside of a part. O(vertices above the topmost vertices outside, and their
 * children) */
static int64_t units_outside(const weir_graph *g, const struct usage_part *part, weir_vertex v, weir_type t)
{
    const struct inner *in = inner_of(g, v);
    int64_t sum = 0;

    if (has_bit(part->outside, part, v))
        return weir_usage_pick(g, &(weir_pick){v, 0, 0, true}, t);
    if (!has_bit(part->above, part, v))
        return 0;
    for (uint32_t i = 0; i < in->nkids; i++)
        sum += in->kids[i] == WEIR_NONE ? 0 : units_outside(g, part, in->kids[i], t);
    return sum;
}

/* Units of type t in a part, in the picks of a job from number `from` on. */
static int64_t job_takes(const weir_graph *g, const struct usage_part *part, const struct job *j, uint32_t from,
                         weir_type t)
{
    int64_t sum = 0;

    for (uint32_t i = from; i < j->a.npicks; i++) {
        const weir_pick *p = &j->picks[i];
        if (has_bit(part->outside, part, p->vertex))
            continue;
        sum += weir_usage_pick(g, p, t);
        if (p->exclusive && has_bit(part->above, part, p->vertex))
            sum -= units_outside(g, part, p->vertex, t);
    }
    return sum;
}

/* Units of type t in all picks of a job, cached: a job is often added and removed again. */
static int64_t job_count(struct job *j, const weir_graph *g, const struct usage_part *part, weir_type t)
{
    if (part->allowed)
        return job_takes(g, part, j, 0, t);
    if (!j->counted || j->takes_type != t) {
        j->takes = job_takes(g, part, j, 0, t);
        j->takes_type = t;
        j->counted = true;
    }
    return j->takes;
}

/* Adds (sign 1) or subtracts (-1) the end of a job. */
static int change_ends(weir_graph *g, const struct job *j, int sign)
{
    return j->a.end == WEIR_FOREVER ? WEIR_OK
                                    : weir_timeline_add(usage_in(g)->ends[j->a.end & 1], j->a.end, j->a.end + 1, sign);
}

/* Adds or subtracts a job in the timeline of a type, if there is one. */
static int change(weir_graph *g, struct usage_part *part, uint32_t t, struct job *j, int sign)
{
    int64_t n = part->by_type[t] ? job_count(j, g, part, (weir_type)t) : 0;

    return n ? weir_timeline_add(part->by_type[t], j->a.start, j->a.end, sign * n) : WEIR_OK;
}

/* Number of the timelines of types in all parts. */
static uint32_t timelines(const weir_graph *g)
{
    return usage_in(g) ? usage_in(g)->nparts * usage_in(g)->ntypes : 0;
}

static int change_nth(weir_graph *g, uint32_t i, struct job *j, int sign)
{
    struct usage_totals *x = usage_in(g);

    return change(g, &x->parts[i / x->ntypes], i % x->ntypes, j, sign);
}

/* Subtracts a job in the first n timelines of types, and its end. */
static void take_back(weir_graph *g, struct job *j, uint32_t n)
{
    int rc = usage_in(g) ? change_ends(g, j, -1) : WEIR_OK;

    while (!rc && n-- > 0)
        rc = change_nth(g, n, j, -1);
    if (rc)
        weir_usage_clear(g); /* built again on the next query */
}

static int add_to_timelines(weir_graph *g, struct job *j)
{
    if (usage_in(g) && change_ends(g, j, 1))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < timelines(g); i++)
        if (change_nth(g, i, j, 1)) {
            take_back(g, j, i);
            return WEIR_ENOMEM;
        }
    return WEIR_OK;
}

int weir_usage_add(weir_graph *g, uint32_t job)
{
    int rc = add_to_timelines(g, &jobs_in(g)->list[job]);

    if (!rc)
        weir_occupancies_add(g, job, 0);
    return rc;
}

void weir_usage_keep(weir_graph *g, uint32_t job)
{
    jobs_in(g)->list[job].counted = false;
    if (add_to_timelines(g, &jobs_in(g)->list[job]))
        weir_usage_clear(g);
    weir_occupancies_add(g, job, 0);
}

void weir_usage_grow(weir_graph *g, uint32_t job, uint32_t from)
{
    struct job *j = &jobs_in(g)->list[job];
    int rc = WEIR_OK;

    if (from < j->a.npicks)
        weir_occupancies_add(g, job, from);
    j->counted = false;
    for (uint32_t i = 0; !rc && i < timelines(g); i++) {
        uint32_t t = i % usage_in(g)->ntypes;
        struct usage_part *part = &usage_in(g)->parts[i / usage_in(g)->ntypes];
        int64_t n = part->by_type[t] ? job_takes(g, part, j, from, (weir_type)t) : 0;
        rc = n ? weir_timeline_add(part->by_type[t], j->a.start, j->a.end, n) : WEIR_OK;
    }
    if (rc)
        weir_usage_clear(g);
}

void weir_usage_remove(weir_graph *g, uint32_t job)
{
    take_back(g, &jobs_in(g)->list[job], timelines(g));
    jobs_in(g)->list[job].counted = false; /* the picks mostly change now */
    weir_occupancies_remove(g, job);
}

void weir_usage_hide(weir_graph *g, uint32_t job)
{
    usage_in(g)->hidden = job + 1;
    take_back(g, &jobs_in(g)->list[job], timelines(g));
}

void weir_usage_show(weir_graph *g, uint32_t job)
{
    struct usage_totals *x = usage_in(g);

    if (!x)
        return;
    x->hidden = 0;
    if (add_to_timelines(g, &jobs_in(g)->list[job]))
        weir_usage_clear(g);
}

int64_t weir_usage_next_end(const weir_graph *g, int64_t t)
{
    int64_t first = WEIR_FOREVER;

    for (int i = 0; i < 2; i++) {
        const weir_timeline *ends = usage_in(g)->ends[i];
        int64_t at = t;
        if (t == g->now && weir_timeline_max(ends, INT64_MIN / 2, t + 1) > 0)
            return t + 1;
        do
            at = weir_timeline_next_change(ends, at);
        while (at != WEIR_FOREVER && weir_timeline_used_at(ends, at) == 0);
        first = at < first ? at : first;
    }
    return first;
}

/* Whether job number i counts. */
static bool counts(const weir_graph *g, uint32_t i)
{
    return jobs_in(g)->list[i].used && i + 1 != usage_in(g)->hidden;
}

int weir_usage_build(weir_graph *g)
{
    struct usage_totals *x = usage_in(g);
    struct usage_part *part;
    int rc;

    if (x && x->ntypes == g->ntypes)
        return WEIR_OK;
    weir_usage_clear(g);
    x = weir_record_make(g, RECORD_USAGE, sizeof *x, &weir_usage_observer);
    if (!x)
        return WEIR_ENOMEM;
    x->ntypes = g->ntypes;
    x->ends[0] = weir_timeline_new();
    x->ends[1] = weir_timeline_new();
    rc = x->ends[0] && x->ends[1] ? add_part(g, NULL, &part) : WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < job_records(g); i++)
        rc = counts(g, i) ? change_ends(g, &jobs_in(g)->list[i], 1) : WEIR_OK;
    if (rc)
        weir_usage_clear(g);
    return rc;
}

/* Builds the timeline of a type from all jobs but a hidden one. */
static int build_timeline(weir_graph *g, struct usage_part *part, weir_type t)
{
    int rc = WEIR_OK;

    part->by_type[t] = weir_timeline_new();
    if (!part->by_type[t])
        return WEIR_ENOMEM;
    part->lost[t] = 0;
    for (uint32_t i = 0; i < g->nroots; i++)
        part->lost[t] += g->roots[i] == WEIR_NONE ? 0 : units_outside(g, part, g->roots[i], t);
    for (uint32_t i = 0; !rc && i < job_records(g); i++)
        rc = counts(g, i) ? change(g, part, t, &jobs_in(g)->list[i], 1) : WEIR_OK;
    if (rc) {
        weir_timeline_free(part->by_type[t]);
        part->by_type[t] = NULL;
    }
    return rc;
}

int weir_usage_of(weir_graph *g, struct usage_part *part, weir_type t, const weir_timeline **out, int64_t *lost)
{
    int rc = part->by_type[t] ? WEIR_OK : build_timeline(g, part, t);

    *out = part->by_type[t];
    *lost = part->lost[t];
    return rc;
}

/* Compares with sums over all jobs, at the start of each job. O(jobs^2) */
static int check_part(const weir_graph *g, const struct usage_part *part, uint32_t t, weir_err *err)
{
    for (uint32_t i = 0; part->by_type[t] && i < job_records(g); i++) {
        int64_t at = jobs_in(g)->list[i].a.start, sum = 0;
        if (!jobs_in(g)->list[i].used)
            continue;
        for (uint32_t k = 0; k < job_records(g); k++)
            if (jobs_in(g)->list[k].used && jobs_in(g)->list[k].a.start <= at && at < jobs_in(g)->list[k].a.end)
                sum += job_takes(g, part, &jobs_in(g)->list[k], 0, (weir_type)t);
        if (sum != weir_timeline_used_at(part->by_type[t], at))
            return weir_fail(err, WEIR_EINVAL, "weir_check: the units of %s taken over time are wrong",
                             type_text(g, (weir_type)t));
    }
    return WEIR_OK;
}

static int check(const weir_graph *g, weir_err *err)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < timelines(g); i++)
        rc = check_part(g, &usage_in(g)->parts[i / usage_in(g)->ntypes], i % usage_in(g)->ntypes, err);
    return rc;
}

/* Drops the totals where new vertices are below an exclusive pick: the job of the pick uses the vertices, too. */
static void linked(weir_graph *g, weir_vertex p, uint32_t pos, uint32_t count)
{
    (void)pos, (void)count;
    for (; p != WEIR_NONE; p = vertex_at(g, p)->parent)
        if (schedule_of(g, p) && schedule_of(g, p)->count > schedule_of(g, p)->shared) {
            weir_usage_clear(g);
            return;
        }
}

const struct weir_observer weir_usage_observer = {
    .linked = linked,
    .reset = weir_usage_clear,
    .freed = weir_usage_clear,
    .check = check,
};
