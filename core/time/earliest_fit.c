/* earliest_fit.c - see earliest_fit.h. Invariant: the timeline of a host is the sum of the units of jobs below the
 * host; between `from` of a table and the bound of a host, no request of the class fits on the host, except for
 * releases not applied yet. */
#include "time/earliest_fit_private.h"

#include <string.h>

#include "time/schedule.h"
#include "aggregate/rows.h"
#include "time/usage_totals.h"
#include "time/availability.h"

/* A release of units of a host, from `start` on. */
struct release {
    uint32_t bit;
    int64_t start;
};

struct fits {
    struct host_usage *units; /* by type of unit */
    uint32_t nunits, units_cap;
    struct fit_table *tables;
    uint32_t ntables, tables_cap;
    struct release *releases;
    uint32_t nreleases, releases_cap;
    uint64_t uses;
};

/* ---- timelines ---- */

void weir_fits_free(struct occupancy *c)
{
    struct fits *r = c->fits;

    if (!r)
        return;
    for (uint32_t i = 0; i < r->nunits; i++)
        weir_host_usage_free(c, &r->units[i]);
    for (uint32_t i = 0; i < r->ntables; i++)
        weir_mem_free(r->tables[i].times);
    WEIR_FREE(r->units, r->tables, r->releases, r);
    c->fits = NULL;
}

size_t weir_fits_bytes(const struct occupancy *c)
{
    const struct fits *r = c->fits;
    size_t n = r ? sizeof *r + r->tables_cap * sizeof *r->tables + r->releases_cap * sizeof *r->releases : 0;

    for (uint32_t i = 0; r && i < r->nunits; i++)
        n += weir_host_usage_bytes(c, &r->units[i]);
    return r ? n + (size_t)r->ntables * (occupancy_bits(c) + occupancy_bits(c) / FIT_GROUP) * sizeof(int64_t) : 0;
}

void weir_fits_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from)
{
    for (uint32_t i = 0; c->fits && i < c->fits->nunits; i++)
        if (weir_host_usage_change(g, c, &c->fits->units[i], &jobs_in(g)->list[job].a, from, 1))
            weir_fits_free(c);
}

/* Records a release. After many releases the tables are rebuilt. */
static int note_release(struct occupancy *c, uint32_t bit, int64_t start)
{
    struct fits *r = c->fits;

    if (r->nreleases > occupancy_bits(c) * 4) {
        for (uint32_t i = 0; i < r->ntables; i++)
            r->tables[i].serial = 0;
        r->nreleases = 0;
    }
    return WEIR_ARRAY_ADD(r->releases, r->nreleases, r->releases_cap, (struct release){bit, start});
}

/* Records a release of every host of a job; exclusive hosts are marked in c->mask. */
static int note_hosts(const weir_graph *g, struct occupancy *c, uint32_t job)
{
    const weir_allocation *a = &jobs_in(g)->list[job].a;
    struct host_picks p = {.to = 0};
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < c->ntouched; i++)
        for (uint64_t left = c->mask[c->touched[i]]; !rc && left; left &= left - 1)
            rc = note_release(c, c->touched[i] * 64 + (uint32_t)__builtin_ctzll(left), a->start);
    while (!rc && weir_host_picks_next(g, c, a, &p))
        rc = note_release(c, p.bit, a->start);
    return rc;
}

void weir_fits_remove(const weir_graph *g, struct occupancy *c, uint32_t job)
{
    for (uint32_t i = 0; c->fits && i < c->fits->nunits; i++)
        if (weir_host_usage_change(g, c, &c->fits->units[i], &jobs_in(g)->list[job].a, 0, -1))
            weir_fits_free(c);
    if (c->fits && c->fits->ntables > 0 && note_hosts(g, c, job))
        weir_fits_free(c);
}

static struct host_usage *units_of(const struct occupancy *c, weir_type t)
{
    for (uint32_t i = 0; c->fits && i < c->fits->nunits; i++)
        if (c->fits->units[i].type == t)
            return &c->fits->units[i];
    return NULL;
}

/* Adds all jobs to empty timelines. */
static int add_jobs(const weir_graph *g, const struct occupancy *c, struct host_usage *u)
{
    int rc = weir_host_usage_reserve(c, u);

    for (uint32_t i = 0; !rc && i < job_records(g); i++)
        if (jobs_in(g)->list[i].used)
            rc = weir_host_usage_change(g, c, u, &jobs_in(g)->list[i].a, 0, 1);
    return rc;
}

/* Makes the timelines of a type of units, from all jobs. */
static int make_units(const weir_graph *g, struct occupancy *c, weir_type t)
{
    struct fits *r = c->fits;
    struct host_usage u = {t, NULL};
    int rc = weir_array_reserve(&r->units, &r->units_cap, (size_t)r->nunits + 1, sizeof *r->units);

    rc = rc ? rc : add_jobs(g, c, &u);
    if (rc)
        weir_host_usage_free(c, &u);
    else
        r->units[r->nunits++] = u;
    return rc;
}

int weir_fits_get(const weir_graph *g, struct occupancy *c, const struct fit_request *q, bool make, bool *made)
{
    *made = true;
    if (!c->fits && make && !(c->fits = weir_mem_zalloc(1, sizeof *c->fits)))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < q->n; i++) {
        *made = *made && units_of(c, q->needs[i].type);
        if (make && !units_of(c, q->needs[i].type) && make_units(g, c, q->needs[i].type))
            return WEIR_ENOMEM;
    }
    *made = *made || make;
    return WEIR_OK;
}

/* ---- one host ---- */

static int64_t total_of(const weir_graph *g, weir_vertex host, weir_type t)
{
    const struct inner *in = inner_of(g, host);
    uint32_t cell = in && in->cells && t != WEIR_NO_TYPE ? type_cell(schema_at(g, in->schema), t) : 0;

    return t == WEIR_NO_TYPE ? 1 : cell ? in->cells[cell + TYPE_TOTAL] : 0;
}

static int64_t after_holders(const weir_graph *g, weir_vertex v, int64_t t, int64_t duration)
{
    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        if (schedule_of(g, v))
            t = weir_schedule_gap(g, v, t, duration);
    return t;
}

/* The earliest start at or after t of an interval with the needed units on a host at each instant, by the
 * timelines. */
static int64_t timelines_fit(const weir_graph *g, const struct occupancy *c, uint32_t bit, const struct fit_need *needs,
                             uint32_t n, int64_t duration, int64_t t)
{
    int64_t before;

    do {
        before = t;
        for (uint32_t i = 0; i < n && t != WEIR_FOREVER; i++) {
            int64_t limit = total_of(g, c->vertices[bit], needs[i].type) - needs[i].amount;
            const weir_timeline *timeline = units_of(c, needs[i].type)->timelines[bit];
            if (limit < 0)
                return WEIR_FOREVER;
            t = timeline ? weir_timeline_first_fit(timeline, t, duration, limit) : t;
        }
        t = t == WEIR_FOREVER ? t : after_holders(g, c->vertices[bit], t, duration);
    } while (t != before && t != WEIR_FOREVER);
    return t;
}

/* Units of a type below v that are up and free throughout [t0, t1). The depth of the tree is bounded. */
static int64_t free_below(const weir_graph *g, weir_vertex v, weir_type t, int64_t t0, int64_t t1)
{
    const struct inner *in = inner_of(g, v);
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;
    int64_t sum = 0;

    if (!cell)
        return 0;
    if (in->cells[CELL_ACTIVE] == 0 && WEIR_FOREVER - in->cells[CELL_SOON] >= t1 && g->unavailable == 0)
        return in->cells[cell + TYPE_TOTAL];
    for (uint32_t i = 0; i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        if (kid == WEIR_NONE || !state_available(vertex_at(g, kid)->state))
            continue;
        if (kind_of(g, kid)->type == t)
            sum += weir_availability_free(g, kid, t0, t1);
        if (inner_of(g, kid) && !(schedule_of(g, kid) && weir_schedule_touched(g, kid, t0, t1, true)))
            sum += free_below(g, kid, t, t0, t1);
    }
    return sum;
}

/* Upper bound of the slots on a host throughout an interval from t on, by each need alone. */
static int64_t slots_at(const weir_graph *g, const struct occupancy *c, uint32_t bit, const struct fit_request *q,
                        int64_t t)
{
    weir_vertex host = c->vertices[bit];
    int64_t end = time_add(t, q->duration), most = q->slots;

    if (!weir_availability_above(g, host, t, end) ||
        (schedule_of(g, host) && weir_schedule_touched(g, host, t, end, true)))
        return 0;
    for (uint32_t i = 0; i < q->n && most > 0; i++) {
        struct fit_need need = q->needs[i];
        int64_t n = need.type == WEIR_NO_TYPE ? weir_availability_unused(g, host, t, end)
                                              : free_below(g, host, need.type, t, end) / need.amount;
        most = n < most ? n : most;
    }
    return q->once && most > 1 ? 1 : most;
}

/* The first end after t of a job with units below v. A timeline is not enough: where one job ends as a second begins
 * the level stays, but different units become free. The depth of the tree is bounded. */
int64_t weir_fit_next_end(const weir_graph *g, weir_vertex v, int64_t t)
{
    const struct inner *in = inner_of(g, v);
    int64_t next = t <= g->now ? g->now + 1 : WEIR_FOREVER; /* jobs past the end of the interval are in the way now */

    if (!in || !in->cells || (in->cells[CELL_ACTIVE] == 0 && in->cells[CELL_SOON] == 0))
        return next;
    for (uint32_t i = 0; i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        int64_t end = kid != WEIR_NONE && schedule_of(g, kid) ? weir_schedule_next_end(g, kid, t) : WEIR_FOREVER;
        next = end < next ? end : next;
        end = kid != WEIR_NONE && inner_of(g, kid) ? weir_fit_next_end(g, kid, t) : WEIR_FOREVER;
        next = end < next ? end : next;
    }
    return next;
}

int64_t weir_fit_fits(const struct fit_finder *f, uint32_t bit, int64_t t, int64_t latest, int64_t *slots)
{
    const struct fit_request *q = f->q;

    for (;;) {
        t = timelines_fit(f->g, f->c, bit, q->needs, q->n, q->duration, t);
        if (t > latest || t == WEIR_FOREVER || (*slots = slots_at(f->g, f->c, bit, q, t)) > 0)
            return t;
        t = weir_fit_next_end(f->g, f->c->vertices[bit], t);
    }
}

/* Whether v and all ancestors are up. */
static bool is_up(const weir_graph *g, weir_vertex v)
{
    while (g->unavailable > 0 && v != WEIR_NONE) {
        if (!state_available(vertex_at(g, v)->state))
            return false;
        v = vertex_at(g, v)->parent;
    }
    return true;
}

bool weir_fit_usable(const weir_graph *g, const struct occupancy *c, uint32_t bit)
{
    return !(c->refused[bit / 64] >> (bit % 64) & 1) && is_up(g, c->vertices[bit]);
}

/* ---- classes ---- */

/* x with the two highest bits only. */
static int64_t round_down(int64_t x)
{
    uint32_t log = x > 0 ? 63 - (uint32_t)__builtin_clzll((uint64_t)x) : 0;
    return log < 2 ? x : x >> (log - 1) << (log - 1);
}

static struct fit_key key_of(const struct fit_request *q)
{
    struct fit_key k;

    memset(&k, 0, sizeof k); /* padding included */
    k.duration = round_down(q->duration);
    for (uint32_t i = 0; i < q->n; i++) {
        k.needs[i].type = q->needs[i].type;
        k.needs[i].amount = round_down(q->needs[i].amount);
    }
    return k;
}

void weir_fit_set_time(struct fit_table *x, uint32_t bit, int64_t t)
{
    uint32_t begin = bit / FIT_GROUP * FIT_GROUP;
    int64_t was = x->times[bit], smallest = t;

    x->times[bit] = t;
    if (t < x->first[bit / FIT_GROUP])
        x->first[bit / FIT_GROUP] = t;
    if (was > x->first[bit / FIT_GROUP] || t <= was)
        return;
    for (uint32_t i = begin; i < begin + FIT_GROUP; i++)
        smallest = x->times[i] < smallest ? x->times[i] : smallest;
    x->first[bit / FIT_GROUP] = smallest;
}

static void clear_table(const weir_graph *g, const struct occupancy *c, struct fit_table *x)
{
    for (uint32_t i = 0; i < occupancy_bits(c); i++)
        x->times[i] = i < c->count && c->vertices[i] != WEIR_NONE ? INT64_MIN : WEIR_FOREVER;
    for (uint32_t i = 0; i < occupancy_bits(c); i++)
        x->first[i / FIT_GROUP] =
            i % FIT_GROUP && x->first[i / FIT_GROUP] < x->times[i] ? x->first[i / FIT_GROUP] : x->times[i];
    x->from = INT64_MIN;
    x->serial = g->serial;
    x->seen = c->fits->nreleases;
}

/* Applies releases: an interval may begin earlier by at most the duration. */
static void catch_up(struct fits *r, struct fit_table *x)
{
    for (; x->seen < r->nreleases; x->seen++) {
        const struct release *b = &r->releases[x->seen];
        int64_t t = b->start < INT64_MIN + x->key.duration ? INT64_MIN : b->start - x->key.duration;
        if (t < x->times[b->bit])
            weir_fit_set_time(x, b->bit, t);
    }
}

/* Takes a table, the least recently used where all are in use; NULL: out of memory. */
static struct fit_table *table_take(const struct occupancy *c, struct fits *r)
{
    size_t n = (size_t)occupancy_bits(c) + occupancy_bits(c) / FIT_GROUP;
    struct fit_table *x = r->tables;

    if (r->ntables == FIT_TABLES) {
        for (uint32_t i = 1; i < r->ntables; i++)
            x = r->tables[i].last_use < x->last_use ? &r->tables[i] : x;
        return x;
    }
    if (weir_array_reserve(&r->tables, &r->tables_cap, (size_t)r->ntables + 1, sizeof *r->tables))
        return NULL;
    x = &r->tables[r->ntables];
    x->times = weir_mem_alloc(n * sizeof *x->times);
    x->first = x->times + occupancy_bits(c);
    r->ntables += x->times != NULL;
    return x->times ? x : NULL;
}

static struct fit_table *table_of(const weir_graph *g, struct occupancy *c, const struct fit_request *q)
{
    struct fits *r = c->fits;
    struct fit_key k = key_of(q);
    struct fit_table *x = NULL;

    for (uint32_t i = 0; !x && i < r->ntables; i++)
        if (r->tables[i].n == q->n && memcmp(&r->tables[i].key, &k, sizeof k) == 0)
            x = &r->tables[i];
    if (!x) {
        x = table_take(c, r);
        if (!x)
            return NULL;
        x->key = k;
        x->n = q->n;
        clear_table(g, c, x);
    }
    if (x->serial != g->serial)
        clear_table(g, c, x);
    catch_up(r, x);
    x->last_use = ++r->uses;
    return x;
}

/* ---- finding ---- */

int64_t weir_fit_raise(const struct fit_finder *f, uint32_t bit)
{
    struct fit_table *x = f->table;
    int64_t t = x->times[bit] > f->from ? x->times[bit] : f->from;

    t = timelines_fit(f->g, f->c, bit, x->key.needs, x->n, x->key.duration, t);
    if (f->from <= f->g->now)
        weir_fit_set_time(x, bit, t);
    return t;
}

/* The host with the lowest bound. */
static uint32_t earliest(const struct fit_finder *f)
{
    const struct fit_table *x = f->table;
    uint32_t group = 0, bit;

    for (uint32_t i = 1; i < occupancy_bits(f->c) / FIT_GROUP; i++)
        group = x->first[i] < x->first[group] ? i : group;
    bit = group * FIT_GROUP;
    for (uint32_t i = bit + 1; i < group * FIT_GROUP + FIT_GROUP; i++)
        bit = x->times[i] < x->times[bit] ? i : bit;
    return bit;
}

/* The best start so far, and the number of hosts found free then. */
struct best {
    int64_t start;
    uint32_t n;
};

static void try_host(const struct fit_finder *f, uint32_t bit, struct best *b)
{
    int64_t t, slots;

    if (!weir_fit_usable(f->g, f->c, bit))
        return;
    t = weir_fit_raise(f, bit);
    if (t < b->start || (t == b->start && b->n < FIT_TIES))
        t = weir_fit_fits(f, bit, t, b->start, &slots);
    if (t > b->start || t == WEIR_FOREVER)
        return;
    if (t < b->start) {
        memset(f->c->busy, 0xff, f->c->words * sizeof *f->c->busy);
        *b = (struct best){t, 0};
    }
    b->n++;
    fit_free_bit(f->c, bit);
}

static int64_t find_one(const struct fit_finder *f, int64_t latest)
{
    const struct fit_table *x = f->table;
    struct best b = {latest, 0};
    uint32_t first = earliest(f);

    memset(f->c->busy, 0xff, f->c->words * sizeof *f->c->busy);
    if (x->times[first] <= latest && x->times[first] != WEIR_FOREVER)
        try_host(f, first, &b);
    for (uint32_t i = 0; i < occupancy_bits(f->c) / FIT_GROUP; i++)
        for (uint32_t bit = i * FIT_GROUP; x->first[i] <= b.start && bit < i * FIT_GROUP + FIT_GROUP; bit++)
            if (bit != first && x->times[bit] <= b.start && x->times[bit] != WEIR_FOREVER)
                try_host(f, bit, &b);
    return b.n > 0 ? b.start : WEIR_FOREVER;
}

int weir_fits_find(const weir_graph *g, struct occupancy *c, const struct fit_request *q, int64_t from, int64_t latest,
                   int64_t *start)
{
    struct fit_finder f = {g, c, q, table_of(g, c, q), from};

    if (!f.table)
        return WEIR_ENOMEM;
    if (from < f.table->from)
        clear_table(g, c, f.table);
    if (from <= g->now)
        f.table->from = from;
    if (q->slots > 1 || q->outers > 1)
        return weir_fit_many(&f, latest, start);
    *start = find_one(&f, latest);
    return WEIR_OK;
}

/* ---- checking ---- */

static int check_units(const weir_graph *g, const struct occupancy *c, const struct host_usage *u)
{
    struct host_usage anew = {u->type, NULL};
    int rc = add_jobs(g, c, &anew);
    bool same = true;

    for (uint32_t bit = 0; !rc && same && bit < occupancy_bits(c); bit++)
        for (uint32_t i = 0; same && i < job_records(g); i++) {
            int64_t t = jobs_in(g)->list[i].a.start;
            int64_t a = anew.timelines[bit] ? weir_timeline_used_at(anew.timelines[bit], t) : 0;
            same = (u->timelines[bit] ? weir_timeline_used_at(u->timelines[bit], t) : 0) == a;
        }
    weir_host_usage_free(c, &anew);
    return rc ? rc : same ? WEIR_OK : WEIR_EINVAL;
}

static bool check_table(const weir_graph *g, struct occupancy *c, struct fit_table *x)
{
    if (x->serial != g->serial)
        return true;
    catch_up(c->fits, x);
    for (uint32_t bit = 0; bit < c->count; bit++) {
        int64_t from = x->from > g->now ? x->from : g->now;
        if (x->first[bit / FIT_GROUP] > x->times[bit])
            return false;
        if (c->vertices[bit] != WEIR_NONE && x->times[bit] > from &&
            timelines_fit(g, c, bit, x->key.needs, x->n, x->key.duration, from) < x->times[bit])
            return false;
    }
    return true;
}

int weir_fits_check(const weir_graph *g, struct occupancy *c)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && c->fits && i < c->fits->nunits; i++)
        rc = check_units(g, c, &c->fits->units[i]);
    for (uint32_t i = 0; !rc && c->fits && i < c->fits->ntables; i++)
        rc = check_table(g, c, &c->fits->tables[i]) ? WEIR_OK : WEIR_EINVAL;
    return rc;
}
