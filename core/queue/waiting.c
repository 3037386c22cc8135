/* waiting.c - the waiting jobs, by their keys, submission and number. Invariant: jobs[i] of a waiting job
 * is at place i, and smallest[b] is at most the smallest units[i] of the block b. */
#include "queue/flat.h"

#include <stdlib.h>
#include <string.h>

static int compare_reals(double a, double b)
{
    return a < b ? -1 : a > b;
}

static double real_of(const struct number *n)
{
    return n->kind == FLAT_INTEGER ? (double)n->integer : n->real;
}

int flat_number_compare(const struct number *a, const struct number *b)
{
    if (a->kind == FLAT_INTEGER && b->kind == FLAT_INTEGER)
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    if (a->kind == FLAT_TEXT && b->kind == FLAT_TEXT)
        return strcoll(a->text, b->text); /* as Lua compares texts */
    if (a->kind == FLAT_TEXT || b->kind == FLAT_TEXT)
        return a->kind == FLAT_TEXT ? 1 : -1;
    return compare_reals(real_of(a), real_of(b));
}

/* Whether a comes after b in the queue. */
static bool behind(const struct flat_job *a, const struct flat_job *b)
{
    int order;

    for (int i = 0; i < FLAT_KEYS; i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] > b->keys[i];
    if (a->submit != b->submit)
        return a->submit > b->submit;
    order = flat_number_compare(&a->number, &b->number);
    return order != 0 ? order > 0 : a->made > b->made;
}

/* Moves all jobs to the front of the arrays, and computes the bounds of the blocks. */
static void squeeze(struct flat *s, struct queue *q)
{
    size_t n = 0, fresh = 0;

    for (size_t i = q->first; i < q->end; i++) {
        if (i == q->fresh)
            fresh = n;
        if (q->jobs[i] == FLAT_NONE)
            continue;
        q->jobs[n] = q->jobs[i];
        q->units[n] = q->units[i];
        q->estimates[n] = q->estimates[i];
        s->jobs[q->jobs[n]].place = (uint32_t)n;
        n++;
    }
    q->fresh = q->fresh >= q->end ? n : fresh;
    q->first = 0;
    q->end = n;
    for (size_t b = 0; b * QUEUE_BLOCK < n; b++)
        q->smallest[b] = 0;
}

static bool grow(struct queue *q)
{
    size_t cap = 2 * q->cap + 4 * QUEUE_BLOCK;
    uint32_t *jobs = realloc(q->jobs, cap * sizeof *jobs);
    int32_t *units, *smallest;
    int64_t *estimates;

    q->jobs = jobs ? jobs : q->jobs;
    units = realloc(q->units, cap * sizeof *units);
    q->units = units ? units : q->units;
    estimates = realloc(q->estimates, cap * sizeof *estimates);
    q->estimates = estimates ? estimates : q->estimates;
    smallest = realloc(q->smallest, cap / QUEUE_BLOCK * sizeof *smallest);
    q->smallest = smallest ? smallest : q->smallest;
    if (!jobs || !units || !estimates || !smallest)
        return false;
    q->cap = cap;
    return true;
}

/* Adds a job to the list in the order of submission: behind all others, but for a job that waits again. */
static void link_job(struct flat *s, uint32_t job)
{
    struct queue *q = &s->queue;
    uint32_t older = q->newest, newer = FLAT_NONE;

    for (; older != FLAT_NONE && s->jobs[older].made > s->jobs[job].made; older = s->jobs[older].older)
        newer = older;
    s->jobs[job].older = older;
    s->jobs[job].newer = newer;
    if (older == FLAT_NONE)
        q->oldest = job;
    else
        s->jobs[older].newer = job;
    if (newer == FLAT_NONE)
        q->newest = job;
    else
        s->jobs[newer].older = job;
}

static void unlink_job(struct flat *s, uint32_t job)
{
    struct queue *q = &s->queue;
    uint32_t older = s->jobs[job].older, newer = s->jobs[job].newer;

    if (older == FLAT_NONE)
        q->oldest = newer;
    else
        s->jobs[older].newer = newer;
    if (newer == FLAT_NONE)
        q->newest = older;
    else
        s->jobs[newer].older = older;
}

static void put(struct flat *s, size_t at, uint32_t job)
{
    struct queue *q = &s->queue;

    q->jobs[at] = job;
    q->estimates[at] = s->jobs[job].estimate;
    s->jobs[job].place = (uint32_t)at;
    flat_queue_offer(q, &s->jobs[job], s->jobs[job].reserved == FLAT_NEVER);
}

/* Returns the first place with a job that comes after a new job. */
static size_t place_of(const struct flat *s, const struct queue *q, uint32_t job)
{
    size_t low = q->first, high = q->end;

    while (low < high) {
        size_t middle = low + (high - low) / 2, at = middle;
        while (at < high && q->jobs[at] == FLAT_NONE)
            at++;
        if (at == high || behind(&s->jobs[q->jobs[at]], &s->jobs[job]))
            high = middle;
        else
            low = at + 1;
    }
    return low;
}

/* Moves the jobs from a place on by one, up to the next hole. */
static void move_up(struct flat *s, size_t low)
{
    struct queue *q = &s->queue;
    size_t hole = low;

    while (hole < q->end && q->jobs[hole] != FLAT_NONE)
        hole++;
    if (hole == q->end && q->end++ % QUEUE_BLOCK == 0)
        q->smallest[hole / QUEUE_BLOCK] = INT32_MAX;
    for (; hole > low; hole--)
        put(s, hole, q->jobs[hole - 1]);
}

/* Inserts a job in front of waiting jobs. Mostly a hole is in front of the position, left by a job that has started. */
static void insert(struct flat *s, uint32_t job)
{
    struct queue *q = &s->queue;
    size_t at = place_of(s, q, job);

    if (at == q->first && at > 0)
        q->first = --at;
    else if (at > q->first && q->jobs[at - 1] == FLAT_NONE)
        at--;
    else
        move_up(s, at);
    put(s, at, job);
}

bool flat_queue_add(struct flat *s, uint32_t job)
{
    struct queue *q = &s->queue;
    bool inserted = false;

    while (!s->passing && q->end > q->first && q->jobs[q->end - 1] == FLAT_NONE)
        q->end--;
    q->fresh = q->fresh < q->end ? q->fresh : q->end;
    if (q->end == q->cap && q->n < q->cap / 2 && !s->passing)
        squeeze(s, q);
    if (q->end == q->cap && !grow(q))
        return false;
    if (q->end > q->first && !s->passing && behind(&s->jobs[q->jobs[q->end - 1]], &s->jobs[job]))
        inserted = s->freed = true;
    if (inserted && !s->unsorted && !s->ordered) {
        insert(s, job);
    } else {
        if (q->end % QUEUE_BLOCK == 0)
            q->smallest[q->end / QUEUE_BLOCK] = INT32_MAX;
        put(s, q->end++, job);
    }
    link_job(s, job);
    s->jobs[job].waiting = true;
    q->n++;
    return true;
}

void flat_queue_remove(struct flat *s, uint32_t job)
{
    struct queue *q = &s->queue;
    size_t at = s->jobs[job].place;

    q->jobs[at] = FLAT_NONE;
    q->units[at] = INT32_MAX;
    s->jobs[job].waiting = false;
    q->n--;
    unlink_job(s, job);
}

void flat_queue_offer(struct queue *q, const struct flat_job *job, bool offered)
{
    size_t at = job->place;

    q->units[at] = offered ? job->units : INT32_MAX;
    if (offered && job->units < q->smallest[at / QUEUE_BLOCK])
        q->smallest[at / QUEUE_BLOCK] = job->units;
}

/* Computes the bound of a block, and returns it. */
static int32_t settle(struct queue *q, size_t block)
{
    size_t end = (block + 1) * QUEUE_BLOCK < q->end ? (block + 1) * QUEUE_BLOCK : q->end;
    int32_t smallest = INT32_MAX;

    for (size_t i = block * QUEUE_BLOCK; i < end; i++)
        smallest = q->units[i] < smallest ? q->units[i] : smallest;
    return q->smallest[block] = smallest;
}

size_t flat_queue_next(struct queue *q, size_t at, int32_t units)
{
    while (at < q->end) {
        size_t block = at / QUEUE_BLOCK, end = (block + 1) * QUEUE_BLOCK;
        if (q->smallest[block] <= units && (at % QUEUE_BLOCK != 0 || settle(q, block) <= units)) {
            end = end < q->end ? end : q->end;
            for (; at < end; at++)
                if (q->units[at] <= units)
                    return at;
        }
        at = end;
    }
    return q->end;
}

static int by_place(const void *a, const void *b, void *data)
{
    const struct flat *s = data;
    const struct flat_job *x = &s->jobs[*(const uint32_t *)a], *y = &s->jobs[*(const uint32_t *)b];

    return x == y ? 0 : behind(x, y) ? 1 : -1;
}

bool flat_queue_sort(struct flat *s)
{
    struct queue *q = &s->queue;
    size_t i = 1;

    squeeze(s, q);
    s->unsorted = false;
    while (i < q->end && !behind(&s->jobs[q->jobs[i - 1]], &s->jobs[q->jobs[i]]))
        i++;
    if (i >= q->end)
        return true;
    if (!flat_grow(&s->sorted, &s->sorted_cap, q->end, sizeof *s->sorted))
        return false;
    memcpy(s->sorted, q->jobs, q->end * sizeof *s->sorted);
    qsort_r(s->sorted, q->end, sizeof *s->sorted, by_place, s);
    for (i = 0; i < q->end; i++)
        put(s, i, s->sorted[i]);
    return true;
}

uint32_t flat_queue_head(struct queue *q)
{
    while (q->first < q->end && q->jobs[q->first] == FLAT_NONE)
        q->first++;
    return q->first < q->end ? q->jobs[q->first] : FLAT_NONE;
}

void flat_queue_tidy(struct flat *s)
{
    struct queue *q = &s->queue;

    flat_queue_head(q);
    if (q->first == q->end)
        q->first = q->end = 0;
    else if (q->end - q->first > 2 * q->n + QUEUE_BLOCK)
        squeeze(s, q);
    q->fresh = q->end;
}

void flat_queue_free(struct queue *q)
{
    free(q->jobs);
    free(q->units);
    free(q->estimates);
    free(q->smallest);
    *q = (struct queue){0};
}
