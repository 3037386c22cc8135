/* earliest_fit_private.h - what the files of earliest_fit.h share: earliest_fit.c, and earliest_fit_slots.c for starts of several slots. */
#ifndef WEIR_EARLIEST_FIT_PRIVATE_H
#define WEIR_EARLIEST_FIT_PRIVATE_H

#include "time/earliest_fit.h"

#define FIT_GROUP 32 /* hosts whose earliest time is kept */

struct fit_key { /* of a class: the least request in it */
    struct fit_need needs[FIT_NEEDS];
    int64_t duration;
};

struct fit_table {
    struct fit_key key;
    uint32_t n; /* needs */
    int64_t from;
    int64_t *times, *first; /* by bit; the least of each group */
    uint32_t seen;          /* entries of the list of hosts given back that it knows */
    uint64_t last_use, serial; /* serial: of the graph's structure */
};

struct fit_finder {
    const weir_graph *g;
    struct occupancy *c;
    const struct fit_request *q;
    struct fit_table *table;
    int64_t from;
};

static inline uint32_t fit_bits(const struct occupancy *c)
{
    return c->words * 64;
}

static inline void fit_free_bit(struct occupancy *c, uint32_t bit)
{
    c->busy[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

void weir_fit_set_time(struct fit_table *x, uint32_t bit, int64_t t);
/* Whether a host, and all above it, is up, and not refused. */
bool weir_fit_usable(const weir_graph *g, const struct occupancy *c, uint32_t bit);
/* A time before which a host has no room, as far as the plans tell. Noted where the search begins at the clock's time, as most
 * others will. */
int64_t weir_fit_raise(const struct fit_finder *f, uint32_t bit);
/* The earliest start from t on at which a host has room for a slot, and for how many; past `latest`, some time that is not after
 * it. */
int64_t weir_fit_fits(const struct fit_finder *f, uint32_t bit, int64_t t, int64_t latest, int64_t *slots);
/* The next time after t at which a job ends that has something below v. */
int64_t weir_fit_next_end(const weir_graph *g, weir_vertex v, int64_t t);
/* The earliest start up to `latest` of all slots; WEIR_FOREVER: there is none (earliest_fit_slots.c). Negative: out of memory, or interrupted. */
int weir_fit_many(const struct fit_finder *f, int64_t latest, int64_t *start) WEIR_CHECKED;

#endif
