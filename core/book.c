/* book.c - the spans of one vertex. Invariant: sorted by start, so those that have begun come first; `active`, `held`,
 * `shared`, `used` and `next` sum up the spans; the plan, where there is one, holds the amounts of all of them. */
#include "book.h"

#include <string.h>

static struct book *book_make(weir_graph *g, weir_vertex v)
{
    uint32_t i = g->free_books;
    struct book *b = book_of(g, v);

    if (b)
        return b;
    if (i != WEIR_NONE) {
        g->free_books = g->books[i].count;
    } else {
        if (weir_array_reserve(&g->books, &g->books_cap, g->nbooks + 1, sizeof *g->books))
            return NULL;
        i = g->nbooks++;
    }
    b = &g->books[i];
    memset(b, 0, sizeof *b);
    b->vertex = v;
    b->next = WEIR_FOREVER;
    vertex_at(g, v)->book = i;
    return b;
}

static void book_drop(weir_graph *g, struct book *b)
{
    vertex_at(g, b->vertex)->book = WEIR_NONE;
    weir_mem_free(b->spans);
    weir_plan_free(b->plan);
    memset(b, 0, sizeof *b);
    b->vertex = WEIR_NONE;
    b->count = g->free_books;
    g->free_books = (uint32_t)(b - g->books);
}

void weir_books_clear(weir_graph *g)
{
    for (uint32_t i = 0; i < g->nbooks; i++) {
        weir_mem_free(g->books[i].spans);
        weir_plan_free(g->books[i].plan);
    }
    weir_mem_free(g->books);
}

static struct span *spans_of(const struct book *b)
{
    return b->cap ? b->spans : (struct span *)&b->one;
}

/* What a span takes out of the pool while it lasts. */
static int64_t weight(const weir_graph *g, const struct book *b, const struct span *s)
{
    return s->exclusive ? kind_of(g, b->vertex)->size : s->amount;
}

/* Counts a span in (sign 1) or out (-1). */
static void count_span(const weir_graph *g, struct book *b, const struct span *s, int sign)
{
    b->shared += (uint32_t)(sign * !s->exclusive);
    if (s->active) {
        b->active += (uint32_t)sign;
        b->held += (uint32_t)(sign * s->exclusive);
        b->used += sign * weight(g, b, s);
    }
}

static int make_plan(const weir_graph *g, struct book *b)
{
    const struct span *s = spans_of(b);
    weir_plan *plan = weir_plan_new();

    for (uint32_t i = 0; plan && i < b->count; i++)
        if (weight(g, b, &s[i]) && weir_plan_add(plan, s[i].start, s[i].end, weight(g, b, &s[i]))) {
            weir_plan_free(plan);
            return WEIR_ENOMEM;
        }
    b->plan = plan;
    return plan ? WEIR_OK : WEIR_ENOMEM;
}

/* Room for one more span; the first needs none. */
static int reserve_spans(struct book *b)
{
    struct span *many;

    if (b->cap)
        return weir_array_reserve(&b->spans, &b->cap, b->count + 1, sizeof *b->spans);
    if (b->count == 0)
        return WEIR_OK;
    many = weir_mem_alloc(4 * sizeof *many);
    if (!many)
        return WEIR_ENOMEM;
    many[0] = b->one;
    b->spans = many;
    b->cap = 4;
    return WEIR_OK;
}

/* How many spans start at `start` or before. Looked for from the end on. O(log) */
static uint32_t place_of(const struct book *b, int64_t start)
{
    const struct span *s = spans_of(b);
    uint32_t lo = 0, hi = b->count;

    if (hi == 0 || b->last_start <= start)
        return hi;
    for (uint32_t step = 1; hi - lo >= step; step *= 2) {
        if (s[hi - step].start <= start) {
            lo = hi - step + 1;
            break;
        }
        hi -= step;
    }
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s[mid].start <= start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void set_last(struct book *b, const struct span *last)
{
    b->last_start = last->start;
    b->last_end = last->end;
}

/* Notes the start of the first span from number `at` on that has not begun. */
static void set_next(struct book *b, uint32_t at)
{
    const struct span *s = spans_of(b);

    while (at < b->count && s[at].active)
        at++;
    b->next = at < b->count ? s[at].start : WEIR_FOREVER;
}

/* A plan pays where amounts add up. */
static bool wants_plan(const struct book *b, const struct span *more)
{
    return b->count + 1 >= BOOK_PLAN && b->shared + !more->exclusive > 0;
}

int weir_book_add(weir_graph *g, weir_vertex v, const struct span *s)
{
    struct book *b = book_make(g, v);
    struct span *spans;
    uint32_t at;

    if (!b)
        return WEIR_ENOMEM;
    if (reserve_spans(b) || (wants_plan(b, s) && !b->plan && make_plan(g, b)) ||
        (b->plan && weight(g, b, s) && weir_plan_add(b->plan, s->start, s->end, weight(g, b, s)))) {
        if (b->count == 0)
            book_drop(g, b);
        return WEIR_ENOMEM;
    }
    at = place_of(b, s->start);
    spans = spans_of(b);
    if (at < b->count)
        memmove(spans + at + 1, spans + at, (b->count - at) * sizeof *spans);
    spans[at] = *s;
    b->count++;
    if (at + 1 == b->count)
        set_last(b, s);
    count_span(g, b, s, 1);
    if (!s->active && s->start < b->next)
        b->next = s->start;
    return WEIR_OK;
}

struct span *weir_book_find(const weir_graph *g, weir_vertex v, uint32_t job)
{
    const struct book *b = book_of(g, v);
    struct span *s = b ? spans_of(b) : NULL;
    int64_t start;
    uint32_t at;

    if (!b)
        return NULL;
    start = g->jobs[job].a.start;
    for (at = place_of(b, start); at-- > 0 && s[at].start == start;)
        if (s[at].job == job)
            return &s[at];
    return NULL;
}

/* Taking back what was added: when that fails for want of memory the plan goes, and is made again later. */
static void plan_take_back(struct book *b, const struct span *s, int64_t amount)
{
    if (b->plan && amount && weir_plan_add(b->plan, s->start, s->end, -amount)) {
        weir_plan_free(b->plan);
        b->plan = NULL;
    }
}

void weir_book_remove(weir_graph *g, weir_vertex v, uint32_t job)
{
    struct book *b = book_of(g, v);
    struct span *s = weir_book_find(g, v, job);
    bool first;
    uint32_t at;

    if (!s)
        return;
    first = !s->active && s->start == b->next;
    plan_take_back(b, s, weight(g, b, s));
    count_span(g, b, s, -1);
    at = (uint32_t)(s - spans_of(b));
    memmove(s, s + 1, (b->count - at - 1) * sizeof *s);
    b->count--;
    if (b->count == 0) {
        book_drop(g, b);
        return;
    }
    if (at == b->count)
        set_last(b, &spans_of(b)[at - 1]);
    if (first)
        set_next(b, b->active);
}

void weir_book_begin(weir_graph *g, weir_vertex v, uint32_t job)
{
    struct book *b = book_of(g, v);
    struct span *s = weir_book_find(g, v, job);

    if (s) {
        count_span(g, b, s, -1);
        s->active = true;
        count_span(g, b, s, 1);
        set_next(b, place_of(b, s->start - 1)); /* others that start with it may begin later */
    }
}

int weir_book_resize(weir_graph *g, weir_vertex v, uint32_t job, int64_t amount, bool exclusive)
{
    struct book *b = book_of(g, v);
    struct span *s = weir_book_find(g, v, job);
    int64_t more = (exclusive ? kind_of(g, v)->size : amount) - weight(g, b, s);

    if (more > 0 && b->plan && weir_plan_add(b->plan, s->start, s->end, more))
        return WEIR_ENOMEM;
    if (more < 0)
        plan_take_back(b, s, -more);
    count_span(g, b, s, -1);
    s->amount = amount;
    s->exclusive = exclusive;
    count_span(g, b, s, 1);
    return WEIR_OK;
}

/* Whether a span counts at some time in [t0, t1). */
static bool touches(const weir_graph *g, const struct span *s, int64_t t0, int64_t t1)
{
    return s->start < t1 && (s->end > t0 || (s->active && t0 <= g->now));
}

/* The same where no two spans touch: only the last one that starts before t1 can, or one that has begun. */
static bool touched_alone(const weir_graph *g, const struct book *b, int64_t t0, int64_t t1)
{
    uint32_t before = place_of(b, t1 - 1);

    if (before == 0 || (b->active && t0 <= g->now))
        return before > 0;
    return (before == b->count ? b->last_end : spans_of(b)[before - 1].end) > t0;
}

bool weir_book_touched(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1, bool exclusive_only)
{
    const struct book *b = book_of(g, v);
    const struct span *s = b ? spans_of(b) : NULL;

    if (b && b->shared == 0)
        return touched_alone(g, b, t0, t1);
    for (uint32_t i = 0; b && i < b->count && s[i].start < t1; i++)
        if (touches(g, &s[i], t0, t1) && (s[i].exclusive || !exclusive_only))
            return true;
    return false;
}

bool weir_book_others(const weir_graph *g, weir_vertex v, uint32_t job, int64_t t0, int64_t t1)
{
    const struct book *b = book_of(g, v);
    const struct span *s = b ? spans_of(b) : NULL;

    for (uint32_t i = 0; b && i < b->count && s[i].start < t1; i++)
        if (s[i].job != job && touches(g, &s[i], t0, t1))
            return true;
    return false;
}

/* The most that overlaps at the start of some span in [t0, t1), or at t0. */
static int64_t most_overlap(const weir_graph *g, const struct book *b, int64_t t0, int64_t t1)
{
    const struct span *s = spans_of(b);
    int64_t most = 0;

    for (uint32_t i = 0; i < b->count && s[i].start < t1; i++) {
        int64_t t = s[i].start > t0 ? s[i].start : t0, sum = 0;
        if (!touches(g, &s[i], t0, t1))
            continue;
        for (uint32_t k = 0; k < b->count && s[k].start <= t; k++)
            if (touches(g, &s[k], t, t + 1))
                sum += weight(g, b, &s[k]);
        if (sum > most)
            most = sum;
    }
    return most;
}

int64_t weir_book_used(const weir_graph *g, weir_vertex v, int64_t t0, int64_t t1)
{
    const struct book *b = book_of(g, v);
    int64_t size = kind_of(g, v)->size, used;

    if (!b)
        return 0;
    if (b->shared == 0)
        return touched_alone(g, b, t0, t1) ? size : 0;
    if (b->plan) {
        used = weir_plan_max(b->plan, t0, t1);
        if (t0 <= g->now && b->used > used)
            used = b->used;
    } else {
        used = most_overlap(g, b, t0, t1);
    }
    return used < size ? used : size;
}

bool weir_vertex_use(const weir_graph *g, weir_vertex v, uint32_t i, weir_use *out)
{
    const struct book *b = book_of(g, v);
    const struct span *s = b ? spans_of(b) : NULL;

    if (!b || i >= b->count)
        return false;
    *out = (weir_use){g->jobs[s[i].job].a.job, s[i].start, s[i].end, s[i].amount, s[i].exclusive};
    return true;
}
