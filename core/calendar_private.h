/* calendar_private.h - what the files of the calendar share: where its slots are. */
#ifndef WEIR_CALENDAR_PRIVATE_H
#define WEIR_CALENDAR_PRIVATE_H

#include "calendar.h"

enum { SET_ALL, SET_ANY, SET_SLOTS };

static inline uint64_t *set_of(const struct calendar *c, const struct page *p, uint32_t set)
{
    return p->sets + (size_t)set * c->words;
}

static inline uint64_t *slot_set(const struct calendar *c, const struct page *p, uint32_t slot)
{
    return set_of(c, p, SET_SLOTS + p->place[slot]);
}

static inline uint32_t count_bits(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}

struct spot {
    uint32_t page, slot;
};

/* The last page that begins at t or before. */
static inline uint32_t page_at(const struct calendar *c, int64_t t)
{
    uint32_t lo = 0, n = c->npages;

    while (n > 1) {
        uint32_t half = n / 2;
        if (c->pages[lo + half]->time[0] <= t)
            lo += half;
        n -= half;
    }
    return lo;
}

/* The last slot of a page that begins at t or before; the first one where none does. */
static inline uint32_t slot_at(const struct page *p, int64_t t)
{
    uint32_t lo = 0, n = p->n;

    while (n > 1) {
        uint32_t half = n / 2;
        if (p->time[lo + half] <= t)
            lo += half;
        n -= half;
    }
    return lo;
}

static inline struct spot spot_at(const struct calendar *c, int64_t t)
{
    uint32_t page = page_at(c, t);
    return (struct spot){page, slot_at(c->pages[page], t)};
}

/* The set of what is held at any time in a page besides what is all over it, right again if it was stale. */
const uint64_t *weir_calendar_any(const struct calendar *c, struct page *p);
/* What was held from `start` on is free again. */
void weir_calendar_forget(struct calendar *c, int64_t start);

#endif
