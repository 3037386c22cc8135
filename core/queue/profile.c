/* profile.c - free units over time, as changes at the times at which bookings begin or end. Invariant: the times of the
 * steps ascend, all are after the present, and the sum of `now` and all changes is the number of all units. */
#include "queue/flat.h"

#include <stdlib.h>
#include <string.h>

bool flat_profile_reserve(struct profile *p)
{
    size_t n = p->end - p->first;

    if (p->end + 2 <= p->cap)
        return true;
    if (p->first > n + 2) { /* the steps that have passed make room */
        memmove(p->steps, p->steps + p->first, n * sizeof *p->steps);
        p->first = 0;
        p->end = n;
        return true;
    }
    return flat_grow(&p->steps, &p->cap, p->end + 2, sizeof *p->steps);
}

void flat_profile_end(struct profile *p)
{
    free(p->steps);
    *p = (struct profile){0};
}

/* Returns the first step that is not before a time. */
static size_t find(const struct profile *p, int64_t time)
{
    size_t low = p->first, high = p->end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->steps[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int32_t flat_profile_at(const struct profile *p, int64_t time)
{
    int32_t units = p->now;

    for (size_t i = p->first; i < p->end && p->steps[i].time <= time; i++)
        units += p->steps[i].change;
    return units;
}

/* Notes an end of a booking at a future time. */
static void add(struct profile *p, int64_t time, int32_t change)
{
    size_t i = find(p, time);

    if (i == p->end || p->steps[i].time != time) {
        memmove(p->steps + i + 1, p->steps + i, (p->end - i) * sizeof *p->steps);
        p->steps[i] = (struct step_change){time, 0, 0};
        p->end++;
    }
    p->steps[i].change += change;
    p->steps[i].ends++;
}

static void take_back(struct profile *p, int64_t time, int32_t change)
{
    size_t i = find(p, time);

    p->steps[i].change -= change;
    if (--p->steps[i].ends > 0)
        return;
    p->end--;
    memmove(p->steps + i, p->steps + i + 1, (p->end - i) * sizeof *p->steps);
}

void flat_profile_take(struct profile *p, int64_t now, int64_t from, int64_t to, int32_t units)
{
    if (from > now)
        add(p, from, -units);
    else
        p->now -= units;
    add(p, to, units);
}

void flat_profile_give(struct profile *p, int64_t now, int64_t from, int64_t to, int32_t units)
{
    if (from > now)
        take_back(p, from, -units);
    else
        p->now += units;
    take_back(p, to, units);
}

void flat_profile_advance(struct profile *p, int64_t now)
{
    while (p->first < p->end && p->steps[p->first].time <= now)
        p->now += p->steps[p->first++].change;
}

int64_t flat_profile_earliest(const struct profile *p, const struct wanted *w, int64_t now, int64_t limit)
{
    int64_t start = now, stop = flat_after(now, w->duration), time = now;
    int32_t units = p->now;

    for (size_t i = p->first;; i++) {
        int64_t next = i < p->end ? p->steps[i].time : FLAT_NEVER;
        if (start >= limit)
            return limit;
        if (units + (time >= w->from && time < w->to ? w->units : 0) < w->units) {
            start = next;
            stop = i < p->end ? flat_after(next, w->duration) : FLAT_NEVER;
        } else if (next >= stop) {
            return start;
        }
        if (i == p->end)
            return limit;
        units += p->steps[i].change;
        time = next;
    }
}
