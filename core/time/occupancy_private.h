/* occupancy_private.h - shared by the files of the occupancy: access to pages and slices. */
#ifndef WEIR_OCCUPANCY_PRIVATE_H
#define WEIR_OCCUPANCY_PRIVATE_H

#include "time/occupancy.h"

enum { SET_ALL, SET_ANY, SET_SLICES };

/* A set of a page, by number. */
static inline uint64_t *set_of(const struct occupancy *c, const struct page *p, uint32_t set)
{
    return p->sets + (size_t)set * c->words;
}

/* The set of a slice. */
static inline uint64_t *slice_set(const struct occupancy *c, const struct page *p, uint32_t slice)
{
    return set_of(c, p, SET_SLICES + p->place[slice]);
}

/* Number of bits set. */
static inline uint32_t count_bits(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}

struct slice_position {
    uint32_t page, slice;
};

/* The last page that begins at or before t. */
static inline uint32_t page_at(const struct occupancy *c, int64_t t)
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

/* The last slice of a page that begins at or before t; the first slice where none does. */
static inline uint32_t slice_at(const struct page *p, int64_t t)
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

/* The last slice that begins at or before t. */
static inline struct slice_position spot_at(const struct occupancy *c, int64_t t)
{
    uint32_t page = page_at(c, t);
    return (struct slice_position){page, slice_at(c->pages[page], t)};
}

/* Number of slices of a page that begin before t. */
static inline uint32_t slices_before(const struct page *p, int64_t t)
{
    return p->time[p->n - 1] < t ? p->n : slice_at(p, t);
}

/* The set of vertices held at any time in a page in addition to SET_ALL, recomputed if stale. */
const uint64_t *weir_occupancy_any(const struct occupancy *c, struct page *p);
/* Marks in c->mask the vertices that a job has as a whole, or inside vertices that it has as a whole, by the picks from
 * number `from` on. */
void weir_occupancy_touch(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from);
/* Clears c->mask. */
void weir_occupancy_untouch(struct occupancy *c);
/* Adds the picks of a job, from number `from` on, to the pages, if any; whole vertices are marked in c->mask. Cannot
 * fail: out of memory, and past OCCUPANCY_BYTES, the pages are dropped, and made again later. */
void weir_occupancy_pages_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from);
/* Removes a job from the pages, if any; whole vertices are marked in c->mask. Cannot fail. */
void weir_occupancy_pages_remove(const weir_graph *g, struct occupancy *c, uint32_t job);
void weir_occupancy_close(struct occupancy *c); /* Frees all pages. */
/* Compares with the jobs, slice by slice: for weir_check(). O(slices * jobs) */
int weir_occupancies_check(const weir_graph *g, weir_err *err);
/* Notes a release of vertices from `start` on: lower bounds of starts are void beyond. */
void weir_occupancy_forget(struct occupancy *c, int64_t start);

#endif
