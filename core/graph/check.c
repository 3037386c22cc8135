/* check.c - weir_check(): every invariant, computed anew from the vertices and the jobs alone. For tests. */
#include <inttypes.h>
#include <string.h>

#include "time/reservation.h"
#include "time/occupancy.h"
#include "graph/graph.h"
#include "index/candidate_index.h"
#include "job/job.h"
#include "index/node_table.h"
#include "aggregate/rows.h"
#include "time/usage_totals.h"

static int broken(weir_err *err, const char *what, uint32_t v)
{
    return weir_fail(err, WEIR_EINVAL, "weir_check: %s (vertex or record %u)", what, v);
}

/* ---- the tree ---- */

static int check_vertex(const weir_graph *g, weir_vertex v, weir_err *err)
{
    const struct vertex *x = vertex_at(g, v);
    const struct inner *in = inner_of(g, v);

    if (x->kind >= g->nkinds)
        return broken(err, "kind out of range", v);
    if (x->parent == WEIR_NONE) {
        if (x->pos >= g->nroots || g->roots[x->pos] != v)
            return broken(err, "a root does not stand where it says", v);
    } else if (!vertex_valid(g, x->parent) || !inner_of(g, x->parent) || x->pos >= inner_of(g, x->parent)->nkids ||
               inner_of(g, x->parent)->kids[x->pos] != v) {
        return broken(err, "a child does not stand where it says", v);
    }
    if (in && in->vertex != v)
        return broken(err, "an inner record belongs to another vertex", v);
    if (book_of(g, v) && book_of(g, v)->kind != x->kind)
        return broken(err, "a book is of another kind", v);
    return WEIR_OK;
}

static int check_kids(const weir_graph *g, const struct inner *in, weir_err *err)
{
    uint32_t holes = 0;

    for (uint32_t i = 0; i < in->nkids; i++) {
        weir_vertex kid = in->kids[i];
        holes += kid == WEIR_NONE;
        if (kid != WEIR_NONE && (!vertex_valid(g, kid) || vertex_at(g, kid)->parent != in->vertex))
            return broken(err, "a kid has another parent", in->vertex);
    }
    return holes == in->holes ? WEIR_OK : broken(err, "holes are miscounted", in->vertex);
}

/* How many vertices there are of each kind. */
static int check_kinds(const weir_graph *g, weir_err *err)
{
    uint32_t *count = weir_mem_zalloc((size_t)g->nkinds + 1, sizeof *count);
    int rc = count ? WEIR_OK : weir_fail_nomem(err);

    for (weir_vertex v = 0; !rc && v < g->limit; v++)
        if (vertex_valid(g, v))
            count[vertex_at(g, v)->kind]++;
    for (uint32_t i = 0; !rc && i < g->nkinds; i++)
        if (count[i] != g->kinds[i].count)
            rc = broken(err, "vertices of a kind are miscounted", i);
    weir_mem_free(count);
    return rc;
}

static int check_tree(const weir_graph *g, weir_err *err)
{
    uint32_t live = 0, unavailable = 0;

    for (weir_vertex v = 0; v < g->limit; v++) {
        int rc;
        if (!vertex_valid(g, v))
            continue;
        live++;
        unavailable += !state_available(vertex_at(g, v)->state);
        rc = check_vertex(g, v, err);
        if (!rc && inner_of(g, v))
            rc = check_kids(g, inner_of(g, v), err);
        if (rc)
            return rc;
    }
    if (live != g->live)
        return broken(err, "live vertices are miscounted", live);
    if (unavailable != g->unavailable)
        return broken(err, "unavailable vertices are miscounted", unavailable);
    return check_kinds(g, err);
}

/* ---- rows and indices ---- */

static int check_row(const weir_graph *g, const struct inner *in, const struct levels *lv, uint32_t l, uint32_t r,
                     int64_t *sum, int64_t *one, weir_err *err)
{
    const struct schema *s = g->schemas[in->schema];
    uint32_t begin, end;
    bool kids = weir_row_entries(in, lv, l, r, &begin, &end);

    memset(sum, 0, s->width * sizeof *sum);
    for (uint32_t i = begin; i < end; i++) {
        if (kids && in->kids[i] == WEIR_NONE)
            continue;
        if (kids)
            weir_row_contribute(g, in->kids[i], in->schema, one);
        else
            memcpy(one, row_cells(g, in, i), s->width * sizeof *one);
        for (uint32_t c = 0; c < s->width; c++)
            if (!cell_is_max(s, c))
                sum[c] += one[c];
            else if (one[c] > sum[c])
                sum[c] = one[c];
    }
    return memcmp(sum, row_cells(g, in, r), s->width * sizeof *sum) ? broken(err, "a row is not what its entries make",
                                                                           in->vertex)
                                                                    : WEIR_OK;
}

static int check_rows(const weir_graph *g, int64_t *scratch, weir_err *err)
{
    bool same;

    for (uint32_t i = 0; i < g->ninners; i++) {
        const struct inner *in = &g->inners[i];
        struct levels lv;
        int rc;
        if (in->vertex == WEIR_NONE || !in->cells)
            continue;
        weir_levels_of(in->rows_cap, &lv);
        rc = check_row(g, in, &lv, 0, 0, scratch, scratch + g->scratch_width, err);
        for (uint32_t l = 1; !rc && l <= lv.n; l++)
            for (uint32_t r = lv.first[l]; !rc && r < lv.first[l] + lv.count[l]; r++)
                rc = check_row(g, in, &lv, l, r, scratch, scratch + g->scratch_width, err);
        if (rc)
            return rc;
    }
    for (uint32_t i = 0; i < g->nindexes; i++)
        if (!weir_index_check(g, g->indexes[i]))
            return broken(err, "an index does not name the best", i);
    if (weir_roster_check(g, &same))
        return weir_fail_nomem(err);
    return same ? WEIR_OK : broken(err, "the roster is not what the nodes say", 0);
}

/* ---- books ---- */

static int check_book_sums(const weir_graph *g, weir_vertex v, const struct book *b, weir_err *err)
{
    struct span s = {0}, last = {.start = INT64_MIN};
    uint32_t active = 0, held = 0, shared = 0;
    int64_t used = 0, next = WEIR_FOREVER;

    for (uint32_t i = 0; i < b->count; i++, last = s) {
        if (span_job(b, i) >= g->njobs || !g->jobs[span_job(b, i)].used)
            return broken(err, "a span is of no job", v);
        s = weir_book_span(g, b, i);
        if (s.start < last.start)
            return broken(err, "spans are not sorted", v);
        if (s.active != (s.start <= g->now))
            return broken(err, "a span has begun too early or too late", v);
        active += s.active;
        shared += !s.exclusive;
        held += s.active && s.exclusive;
        used += s.active ? s.amount : 0;
        if (!s.active && s.start < next)
            next = s.start;
    }
    if (active != b->active || held != b->held || shared != b->shared || used != book_used(g, b) || next != b->next ||
        b->count == 0 || (shared > 0 && !b->parts))
        return broken(err, "the sums of a book are wrong", v);
    if (b->last_start != last.start || b->last_end != last.end)
        return broken(err, "a book does not know its last span", v);
    return b->parts && b->parts->plan ? weir_plan_check(b->parts->plan, err) : WEIR_OK;
}

/* Never more than the size at any instant, and nobody beside an exclusive holder (A1, A2). */
static int check_overlaps(const weir_graph *g, weir_vertex v, const struct book *b, weir_err *err)
{
    int64_t size = kind_of(g, v)->size;

    for (uint32_t i = 0; i < b->count; i++) {
        struct span s = weir_book_span(g, b, i);
        int64_t sum = 0;
        for (uint32_t k = 0; k < b->count; k++) {
            struct span other = weir_book_span(g, b, k);
            if (other.start > s.start || other.end <= s.start)
                continue;
            sum += other.amount;
            if (k != i && (other.exclusive || s.exclusive))
                return broken(err, "two jobs at once where one is exclusive", v);
        }
        if (sum > size)
            return broken(err, "more is allocated than there is", v);
    }
    return WEIR_OK;
}

/* Nobody has anything below what somebody has as a whole (A3). */
static int check_ancestors(const weir_graph *g, weir_vertex v, const struct book *b, weir_err *err)
{
    for (weir_vertex u = vertex_at(g, v)->parent; u != WEIR_NONE; u = vertex_at(g, u)->parent) {
        const struct book *up = book_of(g, u);
        for (uint32_t i = 0; up && i < b->count; i++)
            for (uint32_t k = 0; k < up->count; k++) {
                struct span s = weir_book_span(g, b, i), x = weir_book_span(g, up, k);
                if (x.exclusive && x.start < s.end && s.start < x.end)
                    return broken(err, "something below a vertex that is held as a whole", v);
            }
    }
    return WEIR_OK;
}

static bool is_booked(const weir_graph *g, uint32_t job, const weir_pick *p)
{
    uint32_t at = weir_book_find(g, p->vertex, job);
    struct span s = at == WEIR_NONE ? (struct span){0} : weir_book_span(g, book_of(g, p->vertex), at);

    return at != WEIR_NONE && s.amount == p->amount && s.exclusive == p->exclusive;
}

/* The book of one vertex. */
static int check_book(const weir_graph *g, weir_vertex v, const struct book *b, weir_err *err)
{
    int rc = check_book_sums(g, v, b, err);

    if (!rc && b->refs > 1 && (b->cap > 0 || b->parts))
        rc = broken(err, "a book that vertices have together is too large", v);
    rc = rc ? rc : check_overlaps(g, v, b, err);
    return rc ? rc : check_ancestors(g, v, b, err);
}

/* Whether each book is of as many vertices as it says. */
static int check_refs(const weir_graph *g, weir_err *err)
{
    uint32_t *refs = weir_mem_zalloc((size_t)g->nbooks + 1, sizeof *refs), booked = 0;
    int rc = refs ? WEIR_OK : weir_fail_nomem(err);

    for (weir_vertex v = 0; !rc && v < g->limit; v++)
        if (vertex_valid(g, v) && vertex_at(g, v)->book != WEIR_NONE) {
            refs[vertex_at(g, v)->book]++;
            booked++;
        }
    for (uint32_t i = 0; !rc && i < g->nbooks; i++)
        if (refs[i] != g->books[i].refs)
            rc = broken(err, "a book is of more or fewer vertices than it says", i);
    if (!rc && (booked != g->booked || g->booked > g->books_cap))
        rc = broken(err, "the vertices with books are miscounted", booked);
    weir_mem_free(refs);
    return rc;
}

static int check_books(const weir_graph *g, weir_err *err)
{
    uint64_t spans = 0, picks = 0;
    int rc = check_refs(g, err);

    for (weir_vertex v = 0; !rc && v < g->limit; v++) {
        const struct book *b = vertex_valid(g, v) ? book_of(g, v) : NULL;
        spans += b ? b->count : 0;
        rc = b ? check_book(g, v, b, err) : WEIR_OK;
    }
    if (rc)
        return rc;
    for (uint32_t i = 0; i < g->njobs; i++)
        for (uint32_t k = 0; g->jobs[i].used && k < g->jobs[i].a.npicks; k++, picks++)
            if (!is_booked(g, i, &g->jobs[i].picks[k]))
                return broken(err, "a pick is in no book", g->jobs[i].picks[k].vertex);
    return spans == picks ? WEIR_OK : broken(err, "spans and picks differ in number", (uint32_t)spans);
}

static int check_jobs(const weir_graph *g, weir_err *err)
{
    uint32_t live = 0, pending = 0;

    for (uint32_t i = 0; i < g->njobs; i++) {
        const struct job *j = &g->jobs[i];
        if (!j->used)
            continue;
        live++;
        if (g->starts[i] != j->a.start)
            return broken(err, "a job does not start when it says", i);
        if (j->place >= g->live_jobs || g->job_list[j->place] != i)
            return broken(err, "a job does not stand in the list where it says", i);
        if (weir_job_index(g, j->a.job) != i)
            return broken(err, "a job is not found by its id", i);
        if ((j->pending != WEIR_NONE) != (j->a.start > g->now) || (j->a.state == WEIR_RESERVED) != (j->a.start > g->now))
            return broken(err, "a job is pending that has begun, or the other way round", i);
        if (j->pending != WEIR_NONE && (j->pending >= g->npending || g->pending[j->pending] != i))
            return broken(err, "a job does not stand in the heap where it says", i);
        pending += j->pending != WEIR_NONE;
    }
    for (uint32_t i = 1; i < g->npending; i++)
        if (g->jobs[g->pending[(i - 1) / 2]].a.start > g->jobs[g->pending[i]].a.start)
            return broken(err, "the heap of pending jobs is out of order", i);
    return live == g->live_jobs && pending == g->npending ? WEIR_OK : broken(err, "jobs are miscounted", live);
}

int weir_check(const weir_graph *g, weir_err *err)
{
    int64_t *scratch;
    int rc = check_tree(g, err);

    if (rc || g->building)
        return rc;
    scratch = weir_mem_alloc((size_t)(g->scratch_width ? g->scratch_width : 1) * 2 * sizeof *scratch);
    if (!scratch)
        return weir_fail_nomem(err);
    rc = check_rows(g, scratch, err);
    weir_mem_free(scratch);
    rc = rc ? rc : check_books(g, err);
    rc = rc ? rc : check_jobs(g, err);
    rc = rc ? rc : weir_taken_check(g, err);
    return rc ? rc : weir_calendars_check(g, err);
}
