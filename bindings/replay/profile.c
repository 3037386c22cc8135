/* profile.c - free units over time, as a step function. Invariant: times ascend, and a step behind the first exists
 * because refs[i] bookings begin or end there, so that every booking covers whole steps. */
#include "replay/flat.h"

#include <stdlib.h>
#include <string.h>

bool flat_profile_reserve(struct profile *p)
{
    size_t n = p->end - p->first, cap;
    int64_t *time;
    int32_t *free_units;
    uint32_t *refs;

    if (p->end + 2 <= p->cap)
        return true;
    if (p->first > n + 2) { /* the steps that have passed make room */
        memmove(p->time, p->time + p->first, n * sizeof *p->time);
        memmove(p->free, p->free + p->first, n * sizeof *p->free);
        memmove(p->refs, p->refs + p->first, n * sizeof *p->refs);
        p->first = 0;
        p->end = n;
        return true;
    }
    cap = 2 * p->cap + 64;
    time = realloc(p->time, cap * sizeof *time);
    p->time = time ? time : p->time;
    free_units = realloc(p->free, cap * sizeof *free_units);
    p->free = free_units ? free_units : p->free;
    refs = realloc(p->refs, cap * sizeof *refs);
    p->refs = refs ? refs : p->refs;
    if (!time || !free_units || !refs)
        return false;
    p->cap = cap;
    return true;
}

bool flat_profile_begin(struct profile *p, int32_t units)
{
    if (!flat_profile_reserve(p))
        return false;
    p->time[0] = 0;
    p->free[0] = units;
    p->refs[0] = 0;
    p->end = 1;
    return true;
}

void flat_profile_end(struct profile *p)
{
    free(p->time);
    free(p->free);
    free(p->refs);
    *p = (struct profile){0};
}

/* Returns the last step that begins by `time`, at least the first one. */
static size_t find(const struct profile *p, int64_t time)
{
    size_t low = p->first, high = p->end;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int32_t flat_profile_at(const struct profile *p, int64_t time)
{
    return p->free[find(p, time)];
}

/* Returns the step that begins at a future time, made where missing, with one more booking. */
static size_t cut(struct profile *p, int64_t time)
{
    size_t i = find(p, time);

    if (i > p->first && p->time[i] == time) {
        p->refs[i]++;
        return i;
    }
    i++;
    memmove(p->time + i + 1, p->time + i, (p->end - i) * sizeof *p->time);
    memmove(p->free + i + 1, p->free + i, (p->end - i) * sizeof *p->free);
    memmove(p->refs + i + 1, p->refs + i, (p->end - i) * sizeof *p->refs);
    p->time[i] = time;
    p->free[i] = p->free[i - 1];
    p->refs[i] = 1;
    p->end++;
    return i;
}

static void uncut(struct profile *p, size_t i)
{
    if (--p->refs[i] > 0)
        return;
    p->end--;
    memmove(p->time + i, p->time + i + 1, (p->end - i) * sizeof *p->time);
    memmove(p->free + i, p->free + i + 1, (p->end - i) * sizeof *p->free);
    memmove(p->refs + i, p->refs + i + 1, (p->end - i) * sizeof *p->refs);
}

void flat_profile_take(struct profile *p, int64_t now, int64_t from, int64_t to, int32_t units)
{
    size_t i = from > now ? cut(p, from) : p->first, end = cut(p, to);

    for (; i < end; i++)
        p->free[i] -= units;
}

void flat_profile_give(struct profile *p, int64_t now, int64_t from, int64_t to, int32_t units)
{
    size_t i = from > now ? find(p, from) : p->first, end = find(p, to);

    for (size_t k = i; k < end; k++)
        p->free[k] += units;
    uncut(p, end);
    if (from > now)
        uncut(p, i);
}

void flat_profile_advance(struct profile *p, int64_t now)
{
    while (p->first + 1 < p->end && p->time[p->first + 1] <= now)
        p->first++;
}

/* The free units of step i, with those that the wanted booking would give back. */
static inline int32_t level(const struct profile *p, const struct wanted *w, size_t i)
{
    return p->free[i] + (p->time[i] >= w->from && p->time[i] < w->to ? w->units : 0);
}

int64_t flat_profile_earliest(const struct profile *p, const struct wanted *w, int64_t now, int64_t limit)
{
    for (size_t i = p->first; i < p->end;) {
        int64_t start = i == p->first ? now : p->time[i], stop = flat_after(start, w->duration);
        size_t k = i;
        if (start >= limit)
            return limit;
        while (k < p->end && (k == i || p->time[k] < stop) && level(p, w, k) >= w->units)
            k++;
        if (k == p->end || (k > i && p->time[k] >= stop))
            return start;
        i = k + 1;
    }
    return limit;
}
